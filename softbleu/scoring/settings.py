"""Settings by name, and what is made of them: metric, tokenizer, vectors."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from softbleu.embeddings import DEFAULT_VECTORS
from softbleu.errors import InputError, UnknownNameError
from softbleu.matchers.registry import make_matcher, matcher_class
from softbleu.metrics.bleu import Bleu
from softbleu.metrics.gleu import Gleu
from softbleu.metrics.imeasure import IMeasure
from softbleu.metrics.m2 import M2
from softbleu.metrics.softbleu import IdfCorpus, Softbleu
from softbleu.scoring.vectors import VectorChoice
from softbleu.signature import parse_signature
from softbleu.tokens import Tokenizer

if TYPE_CHECKING:
    from softbleu.embeddings import VectorCase, VectorLocation
    from softbleu.embeddings.measure import FunctionWords, Similarity
    from softbleu.scoring.blocks import Level

PRESETS: dict[str, dict[str, object]] = {
    "morgan2014": {
        "assignment": "sequential",
        "consumption": "similarity",
        "smooth": "none",
        "denominator": "reference",
    }
}
"""Settings by name; whatever is given beside a preset goes before it."""


_MATCHER_OPTIONS = ("threshold", "assignment", "consumption", "composition")
_METRIC_OPTIONS = {
    "bleu": ("order", "smooth", "smooth_value", "denominator"),
    "gleu": (
        "order",
        "variant",
        "penalty",
        "weight",
        "swapped_bp",
        "multi",
        "iterations",
        "seed",
        "segment_smoothing",
    ),
    "softbleu": ("order", "beta", "power", "rarity", "position", "characters", "credit", "idf"),
    "m2": ("beta", "max_unchanged_words", "annotators"),
    "imeasure": ("weight",),
}
_EXACT: dict[str, type[M2 | IMeasure]] = {"m2": M2, "imeasure": IMeasure}
"""Metrics of edits: words are the same or they are not."""
_UNMATCHED = {*_EXACT, "softbleu"}
"""Metrics without a matcher."""


_SIGNATURE_NAMES = {"tok": "tokenize", "case": "vector_case", "postprocess": "vectors_postprocess"}


def _read_value(kind: str, key: str, value: str) -> object:
    """Read a signature's value as what a setting of that (annotated) kind needs."""
    if value == "none" and key not in ("tok", "smooth", "postprocess"):
        return None
    try:
        if "bool" in kind:
            return {"yes": True, "no": False}[value]
        if "int" in kind:
            return int(value)
        return float(value) if "float" in kind else value
    except (KeyError, ValueError):
        raise InputError(f"the signature's {key} cannot be {value!r}") from None


@dataclass(frozen=True)
class Settings:
    """Everything a score depends on, by name; None takes the preset's choice or else the default.

    A `threshold` such as `p99.9` is a quantile of the similarity of random pairs of words, in the vectors at hand;
    `quantile` says where a threshold came from, and changes nothing.

    >>> Settings(matcher="vleu", threshold=0.8).make_metric().matcher
    Vleu(threshold=0.8, assignment='exact-first', consumption='unit', composition='mean')
    >>> Settings(preset="morgan2014").make_metric().denominator
    'reference'
    """

    metric: str = "bleu"
    matcher: str = "exact"
    threshold: float | str | None = None
    assignment: str | None = None
    consumption: str | None = None
    composition: str | None = None
    order: int | None = None
    smooth: str | None = None
    smooth_value: float | None = None
    effective_order: bool | None = None
    denominator: str | None = None
    variant: str | None = None
    penalty: str | None = None
    weight: float | None = None
    swapped_bp: bool | None = None
    multi: str | None = None
    iterations: int | None = None
    seed: int | None = None
    segment_smoothing: bool | None = None
    beta: float | None = None
    power: float | None = None
    rarity: float | None = None
    position: float | None = None
    characters: float | None = None
    credit: str | None = None
    idf: str | None = None
    max_unchanged_words: int | None = None
    annotators: str | None = None
    preset: str | None = None
    tokenize: str = "none"
    lowercase: bool = False
    vectors: VectorLocation = DEFAULT_VECTORS
    vector_case: VectorCase = "fallback"
    normalize: bool = True
    similarity: Similarity = "cosine"
    vectors_postprocess: str = "none"
    neighbours: int | None = None
    mutual: bool = False
    function_words: FunctionWords = "soft"
    quantile: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.matcher, str):
            raise InputError(
                "settings name the matcher; to pass one, use softbleu.score_corpus with softbleu.Bleu(matcher)"
            )
        if self.metric not in _METRIC_OPTIONS:
            raise UnknownNameError("metric", self.metric, _METRIC_OPTIONS)
        if self.preset is not None and self.preset not in PRESETS:
            raise UnknownNameError("preset", self.preset, PRESETS)
        if isinstance(self.threshold, str):
            from softbleu.embeddings.measure import parse_percentile

            parse_percentile(self.threshold)
        elif self.threshold is not None and not 0 <= self.threshold <= 1:
            raise InputError(f"threshold must lie between 0 and 1, not {self.threshold}")

    @classmethod
    def from_signature(cls, signature: str) -> Settings:
        """Read the settings of a published signature, to run them again.

        >>> Settings.from_signature("metric:bleu|matcher:vleu|threshold:0.8|tok:13a|level:corpus").tokenize
        '13a'

        Raises
        ------
        InputError
            The signature cannot be read, or names what this version does not know.
        """
        given: dict[str, Any] = {}
        for key, value in parse_signature(signature).items():
            if key in ("version", "level") or key.startswith("test-"):
                continue
            name = _SIGNATURE_NAMES.get(key, key.replace("-", "_"))
            if name not in cls.__annotations__:
                raise UnknownNameError("signature key", key, sorted(cls.__annotations__))
            given[name] = _read_value(cls.__annotations__[name], key, value)
        for name in ("vectors", "idf"):
            if isinstance(given.get(name), str):
                given[name] = given[name].rpartition("#")[0] or given[name]
        if given.get("metric") == "gleu" and "smooth" in given:
            given["segment_smoothing"] = given.pop("smooth") == "yes"
        return cls(**given)

    def make_metric(self, level: Level = "corpus") -> Bleu | Gleu | Softbleu | M2 | IMeasure:
        """Make the metric for a whole corpus, or for single segments.

        BLEU's segment scores use effective order unless told; GLEU's average over references unless told.
        """
        if self.metric == "softbleu":
            return self._softbleu()
        if self.metric in _EXACT:
            return _EXACT[self.metric](**self._given(*_METRIC_OPTIONS[self.metric]))
        return self.make_matching_metric(level)

    def make_matching_metric(self, level: Level = "corpus") -> Bleu | Gleu:
        """Make the metric as `make_metric` does, where it must be one over a matcher.

        Raises
        ------
        InputError
            It is not: there are no single matches to show.
        """
        if self.metric in _UNMATCHED:
            raise InputError(f"metric {self.metric!r} has no matcher, so there are no matches to show")
        if isinstance(self.threshold, str):
            return self.resolved().make_matching_metric(level)
        matcher = make_matcher(self.matcher, **self._matcher_options())
        given = self._given(*_METRIC_OPTIONS[self.metric])
        if self.metric == "gleu":
            given["smooth"] = given.pop("segment_smoothing", False) and level != "corpus"
            return Gleu(matcher, **given)
        effective = (level != "corpus") if self.effective_order is None else self.effective_order
        return Bleu(matcher, **given, effective_order=effective)

    def _softbleu(self) -> Softbleu:
        given = self._given(*_METRIC_OPTIONS["softbleu"])
        if given.get("idf", "references") != "references":
            given["idf"] = IdfCorpus.of(given["idf"])
        return Softbleu(**given)

    def resolved(self) -> Settings:
        """Put the number in the place of a threshold that is given as a quantile, if there is a use for it.

        Raises
        ------
        VectorError
            The vectors cannot be read.
        """
        if not isinstance(self.threshold, str):
            return self
        if self.metric in _UNMATCHED or "threshold" not in self.matcher_fields():
            return replace(self, threshold=None)
        choice = replace(self.vector_choice(), quantile=self.threshold)
        return replace(self, threshold=choice.threshold(), quantile=self.threshold)

    def idle_options(self) -> list[str]:
        """Options that were given but have no effect on this metric and matcher."""
        matcher_fields = [] if self.metric in _UNMATCHED else self.matcher_fields()
        known = {*matcher_fields, *_METRIC_OPTIONS[self.metric]}
        if self.metric == "bleu":
            known.add("effective_order")
        every = (
            *_MATCHER_OPTIONS,
            "effective_order",
            *(name for names in _METRIC_OPTIONS.values() for name in names),
        )
        idle = [name for name in dict.fromkeys(every) if getattr(self, name) is not None and name not in known]
        if self.metric not in _UNMATCHED:
            return idle
        return [name for name in ("matcher", "preset") if getattr(self, name) not in ("exact", None)] + idle

    def tokenizer(self) -> Tokenizer:
        """Make the tokenizer."""
        return Tokenizer(self.tokenize, self.lowercase)

    def vector_choice(self) -> VectorChoice:
        """Say which vectors to use."""
        return VectorChoice(
            self.vectors,
            self.vector_case,
            self.normalize,
            self.similarity,
            self.vectors_postprocess,
            self.neighbours,
            self.mutual,
            self.function_words,
            self.quantile,
        )

    def matcher_fields(self) -> list[str]:
        """Names of the matcher's options."""
        return [field.name for field in fields(matcher_class(self.matcher))]

    def _matcher_options(self) -> dict[str, object]:
        known = self.matcher_fields()
        return {name: value for name, value in self._given(*_MATCHER_OPTIONS).items() if name in known}

    def _given(self, *names: str) -> dict[str, Any]:
        chosen = dict(PRESETS.get(self.preset or "", {}))
        chosen.update({name: value for name in names if (value := getattr(self, name)) is not None})
        return {name: chosen[name] for name in names if name in chosen}
