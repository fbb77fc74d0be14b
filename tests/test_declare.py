"""A setting is declared once: keyword, option, expression, signature, default and complaint follow from that."""

import pickle
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from declarations import base_of, every_setting, refusal, setting_id, values_of, wrong_values
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refused
from tables import TESTS

from softbleu.cli.parts import setting_options
from softbleu.cli.settings import flags_of, identifier
from softbleu.config import declare
from softbleu.config.declare import Declared, Setting, format_value, own_settings, parse_signature, setting
from softbleu.embeddings.measure import WordMeasure
from softbleu.errors import InputError, UnknownNameError
from softbleu.matching import MATCHERS, SoftMatcher
from softbleu.metrics import METRICS, Metric
from softbleu.metrics import declared as measures
from softbleu.metrics.bleu import Bleu
from softbleu.metrics.chrf import Chrf
from softbleu.metrics.reading import read_metric
from softbleu.metrics.signatures import metric_from_signature
from softbleu.metrics.ter import Ter
from softbleu.text.tokens import TOKENIZERS, Tokenizer
from softbleu.version import __version__

# Handed out together: one by one, so many take longer.
pytestmark = pytest.mark.xdist_group("declarations")

each_setting = pytest.mark.parametrize(("owner", "setting"), every_setting(), ids=setting_id)


def settings_of(measure: Metric) -> dict[str, Any]:
    return {each.name: value for each, value in measure.settings()}


def default_of(setting: Setting) -> str:
    """Write a default, and its bounds in brackets."""
    default = setting.default.name if setting.part is not None else format_value(setting.default)
    bounds = ["" if bound is None else f"{bound:.12g}" for bound in (setting.least, setting.most)]
    return default + (f" ({'..'.join(bounds)})" if any(bounds) else "")


def test_defaults_and_bounds() -> None:
    assert {each.name for _, each in every_setting()} == set(measures.every_setting())
    found: dict[str, dict[str, dict[str, str]]] = {}
    for owner, each in every_setting():
        # An owner without a name has the settings that all of its kind share.
        kind, name = (owner.kind, owner.name) if owner.name else ("shared", owner.__name__)
        found.setdefault(kind, {}).setdefault(name, {})[each.name] = default_of(each)
    expected = tomllib.loads((TESTS / "defaults.toml").read_text(encoding="utf-8"))
    assert __version__.startswith(f"{expected.pop('version')}."), "see the first line of tests/defaults.toml"
    # Settings may be given by their places, so that their order counts.
    one, other = (
        {f"{kind}.{name}": [*own.items()] for kind, owners in each.items() for name, own in owners.items()}
        for each in (found, expected)
    )
    assert one == other, "write the new default in tests/defaults.toml if it is meant"


@each_setting
def test_every_surface_has_it(owner: type[Declared], setting: Setting) -> None:
    """The keyword, the expression, signatures, also with earlier keys, say the value, and are read back."""

    @given(value=values_of(setting))
    @settings(max_examples=10)
    def check(value: Any) -> None:
        measure = base_of(owner, setting, **{setting.name: value})
        assert settings_of(measure)[setting.name] == value
        assert_expression(owner, setting, measure, value)
        for short in (False, True):
            signature = measure.signature(short=short, vectors=f"{measure.vector_choice.vectors}#0123456789ab")
            pairs = parse_signature(signature)
            if setting.name == "vectors":
                assert pairs["vectors"] == f"{value}#0123456789ab"
            elif not setting.signed:
                assert setting.key not in pairs
            elif value != setting.default or not (short or setting.signed_if_set):
                assert pairs[setting.key] == format_value(value)
            assert metric_from_signature(signature) == measure
            for earlier in setting.earlier:
                older = signature.replace(f"|{setting.key}:", f"|{earlier}:")
                assert short or older != signature
                assert metric_from_signature(older) == measure

    check()


def assert_expression(owner: type[Declared], setting: Setting, measure: Metric, value: Any) -> None:
    of_vectors = own_settings(type(measure.vector_choice)) == own_settings(owner)
    if measure.requires.vectors or not of_vectors:
        assert read_metric(str(measure)) == measure
    default = settings_of(base_of(owner, setting))[setting.name]
    if value != default and setting.name != "matcher" and measure.requires.vectors:
        assert (f"{setting.name}=" in str(measure)) == setting.signed


@each_setting
def test_it_is_an_option_that_allows_what_any_owner_does(owner: type[Declared], setting: Setting) -> None:
    every = measures.every_setting()[setting.name]
    assert every.least is None or (setting.least is not None and every.least <= setting.least)
    assert every.most is None or (setting.most is not None and setting.most <= every.most)
    assert not every.choices or {*setting.choices} <= {*every.choices}
    assert 0 < len(setting.help) < 200
    assert "\n" not in setting.help
    options = setting_options()
    if setting.name in ("quantile", "table"):
        assert setting.name not in options
        return
    made = options[identifier(setting.name)]
    assert made.name == setting.key
    flags = flags_of(made.shown)
    assert flags[0] == (f"--{setting.key}/--no-{setting.key}" if setting.kind == "yes or no" else f"--{setting.key}")
    assert {*setting.flags} <= {*flags}
    if owner is Tokenizer:
        # Its defaults are those of the metrics.
        assert replace(made.owners["gleu"], default=setting.default) == setting
    elif owner is not WordMeasure and owner.name:
        # That of the metric and of the tokenizer meteor is signed always, and if it is set.
        assert replace(made.owners[owner.name], signed_if_set=setting.signed_if_set) == setting
    assert setting.part is not None or setting.help[1:] in made.help
    default = setting.unset or (f"{setting.default:g}" if isinstance(setting.default, float) else setting.default)
    if isinstance(default, str | int) and not isinstance(default, bool) and default != "":
        assert f"{default}" in made.help
    assert all(choice in made.help for choice in setting.names)


@pytest.mark.parametrize(
    ("owner", "setting", "value"),
    [(owner, each, value) for owner, each in every_setting() for value in wrong_values(each)],
    ids=lambda value: setting_id(value) if isinstance(value, Setting | type) else repr(value),
)
def test_a_wrong_value_is_refused_by_the_name_of_its_setting(
    owner: type[Declared], setting: Setting, value: Any
) -> None:
    """And what no text can mean: in a signature as in an expression."""
    calls: list[list[Any]] = [[partial(base_of, owner, setting, **{setting.name: value})]]
    if not (isinstance(value, list) or (setting.choices and not isinstance(value, str)) or value in ("yes", 5)):
        text = "maybe" if setting.kind == "yes or no" else str(value)
        pairs = parse_signature(base_of(owner, setting).signature(vectors="glove-6b-100d#0"))
        signature = "|".join(f"{key}:{entry}" for key, entry in {**pairs, setting.key: text}.items())
        calls.append([metric_from_signature, signature])
    for call in calls:
        assert setting.name.replace("_", " ") in refused(InputError, "", *call).replace("_", " ")


@dataclass(frozen=True)
class Part(Declared):
    depth: int = setting(3, "How deep", least=1, most=9)
    note: str | None = setting(None, "What to say")


@dataclass(frozen=True)
class Whole(Declared):
    share: float = setting(0.5, "How much", least=0)
    part: Part = setting(factory=Part)
    open: bool = setting(False, "Whether it is open")


def test_values_are_kept_in_one_type_and_parts_in_their_place() -> None:
    whole, part = Whole(share=2), Part(depth=np.int64(4))  # type: ignore[arg-type]
    assert (whole, type(whole.share)) == (Whole(share=2.0), float)
    assert (hash(part), type(part.depth)) == (hash(Part(4)), int)
    assert [each.name for each, _ in whole.settings()] == ["share", "depth", "note", "open"]


@dataclass(frozen=True)
class Pairs(SoftMatcher):
    """A matcher of another package."""

    name: ClassVar[str] = "pairs"

    def pool_orders(self, order: int, max_order: int) -> tuple[int, ...]:
        return (2,) if order == 2 else ()


@dataclass(frozen=True)
class Steep(Bleu):
    """A metric of another package, with a setting of its own."""

    slope: float = setting(1.5, "How steep", least=0, most=2)
    name: ClassVar[str] = "steep"


@dataclass(frozen=True)
class Halves(Tokenizer):
    """A tokenizer of another package, with a setting of its own."""

    at: float = setting(0.5, "Where to cut", least=0, most=1)
    name: ClassVar[str] = "halves"

    def tokens(self, line: str) -> list[str]:
        cut = round(self.at * len(line))
        return [line[:cut], line[cut:]]


@pytest.fixture
def plugins(offer: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    return offer(metrics=[Steep], matchers=[Pairs], tokenizers=[Halves])


def test_other_packages_add_names_and_settings(plugins: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert METRICS.names()[-1] == "steep"
    assert MATCHERS.names()[-1] == "pairs"
    assert TOKENIZERS.names()[-1] == "halves"
    assert {"slope", "at"} <= measures.every_setting().keys()
    measure = read_metric("steep", matcher="pairs", slope=0.25, threshold=0.5)
    assert measure == Steep(Pairs(0.5), slope=0.25)
    cut = read_metric("steep", tokenize="halves", at=0.25, lowercase=True)
    assert cut == Steep(tokenizer=Halves(0.25, lowercase=True)) != Steep(tokenize=Halves(0.75))
    assert (cut.tokenizer.split("ABCD"), cut.tokenize) == (["a", "bcd"], "halves")
    others = [Ter(tokenize="halves", at=0.75, normalized=True), Chrf(whitespace=True, tokenize="intl")]
    for each in (measure, cut, *others):
        assert read_metric(str(each)) == pickle.loads(pickle.dumps(each)) == each
        assert metric_from_signature(each.signature()) == each
    refused(InputError, r"^slope must lie between 0 and 2, not 3$", read_metric, "steep", slope=3)
    message = r"unknown metric 'step' \(did you mean 'steep'\?\); valid: .*steep"
    refused(UnknownNameError, message, METRICS.find, "step")
    monkeypatch.setattr(Steep, "presets", {"alpine": {"slope": 0.5}}, raising=False)
    assert read_metric("steep", preset="alpine") == Steep(slope=0.5)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (ImportError("no module named 'nothing'"), "cannot be loaded: ImportError: no module named 'nothing'"),
        (RuntimeError("at work"), "cannot be loaded: RuntimeError: at work"),
        (SystemExit(7), "cannot be loaded: SystemExit: 7"),
        (int, "is no Metric of that name"),
        (Bleu, "is no Metric of that name"),
        (len, "cannot be loaded"),
    ],
)
def test_a_broken_one_spoils_nothing_but_itself(plugins: dict[str, Any], broken: Any, message: str) -> None:
    plugins["steep"] = broken
    assert Bleu in METRICS.classes()
    assert METRICS.names()[-1] == "steep"
    assert "threshold" in measures.every_setting()
    assert read_metric("bleu", order=2) == Bleu(order=2)
    assert message in refused(InputError, "^metric 'steep' of elsewhere:steep ", read_metric, "steep")


@given(name=st.text())
def test_any_name_is_found_or_refused(name: str) -> None:
    for registry in (METRICS, MATCHERS, TOKENIZERS):
        said = refusal(lambda registry=registry: registry.find(name))  # type: ignore[misc]
        assert "\n" not in said
        assert said or registry.find(name).name == name.lower()


def test_damaged_metadata_of_a_package_spoils_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {"good": b"[softbleu.metrics]\nsteeper = elsewhere:steeper\n", "bad": b"[softbleu.metrics]\n\xff = a\n"}
    for name, text in entries.items():
        (folder := tmp_path / f"{name}-1.0.dist-info").mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_bytes(text)
    monkeypatch.syspath_prepend(tmp_path)
    assert "steeper" in declare.entry_points_of.__wrapped__("softbleu.metrics")
