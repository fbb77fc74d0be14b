"""Every setting there is, and values for it: what is declared once is tested once."""

import math
from collections.abc import Callable
from typing import Any

from complete import complete
from hypothesis import reject
from hypothesis import strategies as st
from made_up_encoder import MadeUpEncoder, vectors_for
from tables import read_rows

from softbleu.config.declare import Declared, Setting, own_settings
from softbleu.embeddings.choice import Similarity, VectorChoice
from softbleu.embeddings.measure import WordMeasure
from softbleu.errors import InputError, VectorError
from softbleu.lattices.rules import NetworkRules
from softbleu.matching import MATCHERS
from softbleu.metrics import METRICS
from softbleu.metrics.base import Metric
from softbleu.metrics.reading import read_metric
from softbleu.text.tokens import TOKENIZERS, Tokenizer

NAMES = st.text(st.characters(exclude_categories=()), min_size=1).filter(
    lambda text: not any("\ud800" <= char < "\udc80" for char in text)
)
"""Of files: any characters, and bytes that are none as Python has them."""
FILES = ("meteor_data", "network_vectors", "language_model", "coefficients", "head", "spm_model", "table", "map")
TEXTS: dict[str, st.SearchStrategy[Any]] = {
    "vectors": NAMES,
    "vectors_postprocess": st.sampled_from(["none", "mean", "pc:2", "mean,pc:1"]),
    "quantile": st.sampled_from(["p50", "p99.9"]),
    "threshold": st.sampled_from(["p50", "p99.9"]) | st.floats(0, 1),
    "idf": st.just("references"),
    "similarity": st.sampled_from(list(map(Similarity.of, ("spelling", "stems:de", "spelling+stems:fi")))),
    "layers": st.sampled_from(["0", "4", "4,6"]),
    "penalty": st.sampled_from(["exact", "soft", "progress"]),
    "neighbour_quantile": st.sampled_from(["p50", "p99.9"]),
    "notation": st.just("text"),
    "language": st.sampled_from(["cs", "de"]),
    "without_types": st.sampled_from(["R:SPELL", "R:SPELL, U:DET"]),
    **dict.fromkeys(FILES, st.none()),
}
"""Values of settings that say less about themselves than they mean."""
TOKENIZE = next(each for each in own_settings(Metric) if each.part is Tokenizer)
"""The setting that names the tokenizer."""
GOES_WITH: dict[str, dict[str, Any]] = {
    "smooth_value": {"smooth": "floor"},
    "asian_support": {"normalized": True},
    "penalty": {"matcher": "vleu"},
    "m2 characters": {"threshold": 0.5},
    "uot language": {"vectors": "none"},
    "merging": {"language": "zh"},
    "uot merging": {"vectors": "none"},
}
"""What must be given beside a setting, or a setting of one metric."""


def every_setting() -> list[tuple[type[Declared], Setting]]:
    """The fields of all metrics, matchers, tokenizers and vectors, each with the class that has it."""
    owners: list[type[Declared]] = [*METRICS.classes(), *MATCHERS.classes(), Tokenizer, *TOKENIZERS.classes()]
    owners += [VectorChoice, WordMeasure]
    return [(owner, each) for owner in owners for each in _spread(owner) if each.name != "measure"]


def _spread(owner: type[Declared]) -> list[Setting]:
    """Settings of a class; of rules for networks, which have no name, each by itself."""
    found: list[Setting] = [TOKENIZE] if owner is Tokenizer else []
    for each in own_settings(owner):
        if each.part not in (Tokenizer, VectorChoice) and not (
            owner.kind == "tokenizer" and owner.name and each.shared
        ):
            found += own_settings(NetworkRules) if each.part is NetworkRules else [each]
    return found


def setting_id(value: Any) -> str:
    """What such a pair is called in the names of tests."""
    return value.name if isinstance(value, Setting) else (value.name or value.__name__)


def base_of(owner: type[Declared], setting: Setting, **more: Any) -> Metric:
    """A measure that has a setting, with what must be given beside it."""
    head = owner.name if owner.name else "vleu"
    given = {**GOES_WITH.get(setting.name, {}), **GOES_WITH.get(f"{head} {setting.name}", {}), **more}
    if owner.kind == "matcher":
        return read_metric("bleu", **given, matcher=owner.name)
    if owner.kind == "tokenizer" and owner.name:
        return read_metric("vleu", **given, tokenize=owner.name)
    return read_metric(head, **given)


def values_of(setting: Setting) -> st.SearchStrategy[Any]:
    """Values that a setting may have."""
    least = -1000 if setting.least is None else setting.least
    most = 1000 if setting.most is None else setting.most
    found: st.SearchStrategy[Any]
    if setting.name in TEXTS:
        found = TEXTS[setting.name]
    elif setting.names:
        found = st.sampled_from([name for name in setting.names if not name.endswith("mecab")])
    elif setting.kind == "yes or no":
        found = st.booleans()
    elif setting.kind == "a whole number":
        found = st.integers(math.ceil(least), math.floor(most))
    else:
        found = st.floats(least, most)
    return found | st.none() if setting.optional and setting.name not in ("penalty", "merging") else found


def wrong_values(setting: Setting) -> list[Any]:
    """Values that a setting may not have."""
    if setting.name in (*FILES, "vectors", "idf", "quantile"):
        return []
    if setting.names:
        return ["nonesuch", 3.5]
    kinds: dict[str, list[Any]] = {
        "yes or no": ["yes", 1],
        "a whole number": ["four", 2.5, True],
        "a number": ["much", True, math.nan, math.inf],
        "text": [5],
        "anything": [[]],
    }
    bounds = [(setting.least, -1), (setting.most, 1)]
    beyond = (bound + step * max(1, abs(bound)) for bound, step in bounds if bound is not None)
    return [*kinds[setting.kind], *(round(value) if setting.kind == "a whole number" else value for value in beyond)]


def every_measure(vectors: Any) -> list[Metric]:
    """Return all metrics of texts, and those of measures.toml: with these vectors, or with an encoder."""
    # Meteor's own stages need data that may not be installed.
    plain = [{"metric": name} for name in METRICS.names() if name not in ("meteor", "scores")]
    found = []
    for row in [*plain, *read_rows("measures.toml")]:
        made = read_metric(row["metric"])
        if made.requires.delays:
            continue
        own = MadeUpEncoder() if "encoder" in row else vectors_for(made, vectors)
        found.append(read_metric(str(made), vectors=own) if made.requires.vectors else made)
    return found


def refusal(call: Callable[[], object]) -> str:
    """What a call is refused with; nothing if it is not."""
    try:
        call()
    except InputError as error:
        return str(error)
    return ""


@st.composite
def measures(draw: st.DrawFn) -> Metric:
    """Metrics and matchers with any of their settings; no vectors where none are looked at.

    Settings that need vectors which are not there, or are of another language, are drawn anew.
    """
    metric = METRICS.find(draw(st.sampled_from(METRICS.names())))
    start: dict[str, Any] = {}
    owners: list[type[Declared]] = [metric, Tokenizer, VectorChoice, WordMeasure]
    if any(each.name == "matcher" for each in own_settings(metric)):
        start["matcher"] = draw(st.sampled_from(MATCHERS.names()))
        owners.append(MATCHERS.find(start["matcher"]))
    for owner in owners:
        for each in _spread(owner):
            if each.name not in ("matcher", "measure") and draw(st.booleans()):
                start[each.name] = draw(values_of(each))
    foreign = start.get("language") not in (None, "en")
    if foreign:
        start |= GOES_WITH.get(f"{metric.name} language", {})
    lacking = {
        "smooth_value": start.get("smooth") not in ("floor", "add-k"),
        "merging": start.get("language") != "zh",
        "characters": metric.name == "m2" and start.get("threshold") is None,
        **dict.fromkeys(("stages", "task", "weights"), foreign),
        "vectors": start.get("similarity") is not None,
        "consumption": start.get("assignment") == "optimal",
        **dict.fromkeys(("idf", "extra", "replacing"), start.get("shifts")),
        **dict.fromkeys(metric().unread(start), True),
        # Signatures with both, but without `reads`, are of earlier versions.
        "exact_words": metric.name == "trained" and "layers" in start and not start.get("reads"),
    }
    try:
        made = read_metric(metric.name, **{name: value for name, value in start.items() if not lacking.get(name)})
        return made if made.requires.vectors else complete(made, vectors=type(made)().vector_choice)
    except (InputError, VectorError) as error:
        if isinstance(error, VectorError) or "the text is" in str(error):
            reject()
        raise
