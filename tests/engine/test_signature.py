"""Signatures hold everything a score depends on, and can be run again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from complete import complete
from hypothesis import given, settings
from hypothesis import strategies as st

from softbleu import InputError, score
from softbleu.cli.app import run
from softbleu.config.declare import Declared
from softbleu.config.signature import format_value, parse_signature, signature_of
from softbleu.embeddings.measure import WordMeasure
from softbleu.matching import MATCHERS as MATCHER_CLASSES
from softbleu.matching import make_matcher
from softbleu.metrics import M2, Bleu, Gleu, IMeasure, Metric
from softbleu.metrics.idf import IdfCorpus
from softbleu.metrics.making import make_metric, metric_from_signature
from softbleu.metrics.softbleu import Softbleu
from softbleu.results import VectorChoice, read_metric
from softbleu.text.tokens import Tokenizer
from softbleu.thesaurus.resources import MeteorData
from softbleu.version import __version__

MATCHERS = ("exact", "sleu", "vleu", "xleu")
CANDIDATES = ["she go to the school", "he have a Cat", "it rain"]
REFERENCES = [
    ["she goes to the school", "She goes to school"],
    ["he has a cat", "He has cats"],
    ["it rains", "it rained"],
]
SOURCE = ["she go to school", "he have a cats", "it rain"]
WORDS = {"go": [1.0, 0.1], "goes": [1.0, 0.2], "cat": [0.1, 1.0], "cats": [0.2, 1.0], "rain": [0.7, 0.7]}

# A value for every field that is not its default; a new field needs a line here.
OTHER: dict[type, dict[str, Any]] = {
    Bleu: {
        "matcher": make_matcher("vleu"),
        "order": 3,
        "smooth": "floor",
        "smooth_value": 0.25,
        "effective_order": True,
        "denominator": "all",
    },
    Gleu: {
        "matcher": make_matcher("vleu"),
        "variant": "gleu0",
        "order": 3,
        "penalty": "soft",
        "weight": 0.25,
        "swapped_bp": True,
        "multi": "max",
        "iterations": 7,
        "seed": 5,
        "segment_smoothing": True,
    },
    Softbleu: {
        "order": 3,
        "beta": 2.0,
        "power": 0.5,
        "rarity": 1.0,
        "position": 0.5,
        "characters": 0.25,
        "synonyms": 0.5,
        "paraphrases": 0.5,
        "meteor_data": MeteorData("folder", "0123456789abcdef"),
        "credit": "greedy",
        "idf": IdfCorpus("folder/idf.txt", "0123456789abcdef"),
    },
    M2: {"beta": 2.0, "max_unchanged_words": 1, "annotators": "best"},
    IMeasure: {"weight": 3.0},
    MATCHER_CLASSES.find("exact"): {},
    **{
        MATCHER_CLASSES.find(name): {
            "threshold": 0.25,
            "assignment": "sequential",
            "consumption": "similarity",
            "composition": "aligned",
        }
        for name in MATCHERS[1:]
    },
    Tokenizer: {"tokenize": "13a", "lowercase": True},
}
KEYS_OF_VECTORS = {
    each.name.replace("_", "-") for each in (*fields(VectorChoice), *fields(WordMeasure)) if each.name != "measure"
}


def signed(value: Declared, *, short: bool = False) -> dict[str, str]:
    return parse_signature(signature_of(value, short=short))


@pytest.mark.parametrize("kind", OTHER, ids=lambda kind: kind.__name__)
def test_every_field_is_in_the_signature(kind: type[Declared]) -> None:
    names = {field.name for field in fields(kind)} - {"tokenizer", "vector_choice"}  # type: ignore[arg-type]
    assert names == set(OTHER[kind]), "a new field needs a value above"
    found = signed(kind())
    assert set(found) >= {name.replace("_", "-") for name in names}
    assert found["version"] == __version__
    if kind.name:
        assert found[kind.kind] == kind.name


@pytest.mark.parametrize("short", [False, True], ids=["long", "short"])
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, given in OTHER.items() for name in given], ids=str)
def test_a_changed_field_changes_the_signature(kind: type, name: str, short: bool) -> None:
    # A smoothing value needs a smoothing that takes one.
    base = kind(smooth="floor") if name == "smooth_value" else kind()
    changed = replace(base, **{name: OTHER[kind][name]})
    assert changed != base
    assert signed(changed, short=short) != signed(base, short=short)
    if name != "matcher":
        assert signed(changed, short=short)[name.replace("_", "-")] == format_value(OTHER[kind][name])


@pytest.mark.parametrize("matcher", MATCHERS)
@pytest.mark.parametrize("kind", [Bleu, Gleu])
def test_no_field_hides_another(kind: Any, matcher: str) -> None:
    """Metric, matcher and tokenizer share one line: their keys must differ."""
    metric = kind(make_matcher(matcher))
    found = parse_signature(metric.signature())
    # The metric's name and fields, the matcher's fields, the tokenizer's, and the version.
    expected = 1 + len(fields(metric)) - 2 + len(fields(metric.matcher)) + len(fields(Tokenizer)) + 1
    assert len(found) == expected


def test_no_field_of_softbleu_hides_another() -> None:
    found = parse_signature(complete(Softbleu(), Tokenizer(), VectorChoice(WORDS)).signature(vectors="x"))
    assert len(found) == 1 + len(fields(Softbleu)) - 2 + len(fields(Tokenizer)) + len(KEYS_OF_VECTORS) + 1


@pytest.mark.parametrize("short", [False, True])
def test_choice_of_vectors_is_in_the_signature(short: bool) -> None:
    def signature(**changed: Any) -> dict[str, str]:
        result = score(CANDIDATES, REFERENCES, matcher="vleu", **{"vectors": WORDS, **changed})
        return parse_signature(result.short_signature if short else result.signature)

    plain = signature()
    assert set(plain) & KEYS_OF_VECTORS == ({"vectors"} if short else KEYS_OF_VECTORS)
    if not short:
        assert plain["vector-case"] == "fallback"
        assert plain["normalize"] == "yes"
    assert signature(vector_case="exact")["vector-case"] == "exact"
    assert signature(normalize=False)["normalize"] == "no"
    other = signature(vectors={**WORDS, "cat": [0.1, 0.9]})
    assert other["vectors"] != plain["vectors"]
    assert len(plain["vectors"].partition("#")[2]) == 12


PARTS = ["tokenize", "lowercase", "vectors"]


def test_short_form_leaves_out_defaults_only() -> None:
    assert list(signed(Bleu(), short=True)) == ["metric", "matcher", "effective-order", *PARTS, "version"]
    assert list(signed(Gleu(iterations=20), short=True)) == ["metric", "matcher", "iterations", *PARTS, "version"]
    assert list(signed(Softbleu(beta=2.0), short=True)) == ["metric", "beta", *PARTS, "version"]
    assert set(signed(Gleu(iterations=20), short=True).items()) <= set(signed(Gleu(iterations=20)).items())


# there and back


MATCHING = {
    "threshold": st.none() | st.floats(0, 1),
    "assignment": st.sampled_from([None, "exact-first", "sequential"]),
    "consumption": st.sampled_from([None, "unit", "similarity"]),
    "composition": st.sampled_from([None, "mean", "aligned"]),
}
OF_BLEU = {
    "order": st.none() | st.integers(1, 6),
    "effective_order": st.none() | st.booleans(),
    "denominator": st.sampled_from([None, "order", "all", "reference"]),
    "preset": st.sampled_from([None, "morgan2014"]),
}
OF_GLEU = {
    "order": st.none() | st.integers(1, 6),
    "variant": st.sampled_from([None, "gleu+", "gleu+paper", "gleu0"]),
    "penalty": st.sampled_from([None, "exact", "soft"]),
    "weight": st.none() | st.floats(0, 1e3),
    "swapped_bp": st.none() | st.booleans(),
    "multi": st.sampled_from([None, "sample", "max", "mean"]),
    "iterations": st.none() | st.integers(1, 10_000),
    "seed": st.none() | st.integers(0, 10**6),
    "segment_smoothing": st.none() | st.booleans(),
}
OF_SOFTBLEU = {
    "order": st.none() | st.integers(1, 6),
    "beta": st.none() | st.floats(0, 10),
    "power": st.none() | st.floats(0.01, 10),
    "rarity": st.none() | st.floats(0, 3),
    "position": st.none() | st.floats(0, 10),
    "characters": st.none() | st.floats(0, 1),
    "credit": st.sampled_from([None, "greedy", "clipped", "both"]),
}
OF_METRICS = {"bleu": OF_BLEU, "gleu": OF_GLEU, "softbleu": OF_SOFTBLEU}
OF_TEXT = {
    "tokenize": st.sampled_from(["none", "char", "13a", "intl"]),
    "lowercase": st.booleans(),
    "vector_case": st.sampled_from(["fallback", "exact"]),
    "normalize": st.booleans(),
    "vectors_postprocess": st.sampled_from(["none", "mean", "pc:1", "mean,pc:1"]),
    "similarity": st.sampled_from(["cosine", "csls"]),
    "neighbours": st.none() | st.integers(1, 3),
    "mutual": st.just(False),
}


@st.composite
def all_measures(draw: st.DrawFn) -> Metric:
    metric = draw(st.sampled_from(list(OF_METRICS)))
    given = draw(st.fixed_dictionaries({**OF_METRICS[metric], **OF_TEXT}))
    matcher = "exact" if metric == "softbleu" else draw(st.sampled_from(MATCHERS))
    if matcher != "exact":
        given.update(draw(st.fixed_dictionaries(MATCHING)))
    if metric == "bleu":
        given["smooth"] = draw(st.sampled_from([None, "none", "exp", "floor", "add-k"]))
        if given["smooth"] in ("floor", "add-k"):
            given["smooth_value"] = draw(st.none() | st.floats(0, 10))
    if metric != "softbleu":
        given["matcher"] = matcher
    return make_metric(metric, unused=[], **{name: value for name, value in given.items() if value is not None})


@given(chosen=all_measures(), short=st.booleans(), level=st.sampled_from(["corpus", "segment", "macro"]))
@settings(max_examples=400, deadline=None)
def test_signatures_are_read_back_as_what_they_sign(chosen: Metric, short: bool, level: Any) -> None:
    measure = chosen.at_level(level)
    signature = measure.signature(short=short, vectors=f"{measure.vector_choice.vectors}#0123456789ab", level=level)
    assert metric_from_signature(signature) == measure


@pytest.mark.parametrize("short", [False, True], ids=["long", "short"])
@pytest.mark.parametrize("given_order", [False, True])
@pytest.mark.parametrize("level", ["corpus", "segment"])
def test_an_effective_order_that_was_given_is_read_back(short: bool, given_order: bool, level: Any) -> None:
    result = score(["a b"], [["a b c"]], level=level, effective_order=given_order)
    signature = result.short_signature if short else result.signature
    assert metric_from_signature(signature).at_level(level).effective_order is given_order  # type: ignore[attr-defined]


BROKEN = [
    ("", "not a signature"),
    ("nonsense", "not a signature at 'nonsense'"),
    ("metric:bleu|matcher", "not a signature at 'matcher'"),
    ("metric:bleu|:exact", "not a signature at ':exact'"),
    ("metric:bleu||tok:none", "not a signature at ''"),
    ("metric:bleu|metric:gleu", "not a signature at 'metric:gleu'"),
    ("metric:bleu|vectors:%FF", "not a signature at 'vectors:%FF'"),
    ("metric:bleu|colour:red", "colour"),
    ("metric:mover", "mover"),
    ("metric:bleu|matcher:mleu", "mleu"),
    ("metric:bleu|order:four", "order must be a whole number, not 'four'"),
    ("metric:bleu|lowercase:maybe", "lowercase must be yes or no, not 'maybe'"),
    ("metric:gleu|swapped-bp:1", "swapped_bp must be yes or no, not '1'"),
    ("metric:gleu|weight:much", "weight must be a number, not 'much'"),
    ("metric:gleu|weight:nan", "nan"),
    ("metric:gleu|variant:gleu9", "gleu9"),
    ("metric:bleu|matcher:vleu|threshold:7", "7"),
    ("metric:bleu|tok:elsewhere", "elsewhere"),
    ("metric:softbleu|beta:much", "beta must be a number, not 'much'"),
    ("metric:softbleu|power:0", "power must lie between"),
    ("metric:softbleu|credit:all", "unknown credit 'all'"),
    ("metric:softbleu|idf:nowhere.txt#0123456789ab", "nowhere.txt: cannot be read"),
]


@pytest.mark.parametrize(("signature", "message"), BROKEN)
def test_broken_signatures_are_refused(signature: str, message: str) -> None:
    with pytest.raises(InputError, match=r"^[^\n]+$") as caught:
        metric_from_signature(signature)
    assert message in str(caught.value)


@pytest.mark.parametrize(("signature", "message"), BROKEN[1:])
def test_the_command_refuses_broken_signatures(
    command: Callable[..., tuple[int, str, str]], files: dict[str, Path], signature: str, message: str
) -> None:
    code, out, err = command(*files_of(files), "--signature", signature)
    assert (code, out) == (2, "")
    assert err.startswith("softbleu: error: ")
    assert err.count("\n") == 1
    assert message in err


def test_keys_of_earlier_versions_are_read() -> None:
    old = "metric:gleu|matcher:vleu|smooth:yes|tok:13a|lowercase:no|vectors:x.txt#00|case:exact|postprocess:mean"
    assert metric_from_signature(f"{old}|level:segment|version:0.1.0") == make_metric(
        "gleu",
        matcher="vleu",
        threshold=0.0,
        segment_smoothing=True,
        tokenize="13a",
        vectors="x.txt",
        vector_case="exact",
        vectors_postprocess="mean",
    )


HOSTILE_NAME = 'a|b:c%7C,d=(e)#f "g".txt'


def test_a_file_of_any_name_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As words' rarities and as vectors, in signatures and in expressions."""
    monkeypatch.chdir(tmp_path)
    Path(HOSTILE_NAME).write_text("cat 1 2\ndog 2 1\n", encoding="utf-8")
    given = make_metric("softbleu", idf=HOSTILE_NAME, vectors=HOSTILE_NAME)
    assert read_metric(str(given)) == given
    result = score(["a cat"], ["a dog"], metric=given)
    for signature in (result.signature, result.short_signature):
        assert metric_from_signature(signature) == given
        assert parse_signature(signature)["idf"].startswith(f"{HOSTILE_NAME}#")


# runs from a signature


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["score", *map(str, arguments)])
        caught = capsys.readouterr()
        return code, caught.out, caught.err

    return call


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    texts = {
        "c.txt": CANDIDATES,
        "r0.txt": [first for first, _ in REFERENCES],
        "r1.txt": [second for _, second in REFERENCES],
        "s.txt": SOURCE,
        "idf.txt": ["she has the cat", "the school", "it"],
        "words.txt": [f"{word} {' '.join(map(str, numbers))}" for word, numbers in WORDS.items()],
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return {name: tmp_path / name for name in texts}


def files_of(files: dict[str, Path]) -> list[object]:
    return ["-c", files["c.txt"], "-r", files["r0.txt"], "-r", files["r1.txt"], "--source", files["s.txt"]]


RUNS = {
    "bleu": ["--order", 2, "--smooth", "add-k", "--smooth-value", 0.5],
    "bleu, tokenizer": ["--tokenize", "char", "--order", 6],
    "lower case": ["--lowercase", "--order", 2],
    "soft bleu": ["--matcher", "xleu", "--vectors", "words.txt", "--threshold", 0.25, "--composition", "aligned"],
    "vectors as written": ["--matcher", "sleu", "--vectors", "words.txt", "--vector-case", "exact", "-t", 0],
    "preset": ["--matcher", "vleu", "--vectors", "words.txt", "--preset", "morgan2014", "--order", 2],
    "gleu": ["--metric", "gleu", "--order", 2, "--iterations", 9, "--seed", 4],
    "gleu, best": ["--metric", "gleu", "--order", 2, "--multi", "max", "--variant", "gleu+paper"],
    "gleu0": ["--metric", "gleu", "--variant", "gleu0", "--lambda", 0.25, "--swapped-bp", "--order", 2],
    "soft gleu": [
        "--metric",
        "gleu",
        "--matcher",
        "vleu",
        "--vectors",
        "words.txt",
        "--threshold",
        0,
        "--penalty",
        "soft",
        "--order",
        2,
    ],
    "softbleu": ["--metric", "softbleu", "--vectors", "words.txt", "--power", 0.5, "--credit", "clipped"],
    "softbleu, text": ["--metric", "softbleu", "--vectors", "words.txt", "--idf", "idf.txt", "--level", "segment"],
    "segments": ["--level", "segment", "--no-effective-order", "--order", 2],
    "gleu segments": ["--metric", "gleu", "--level", "segment", "--segment-smoothing", "--multi", "max"],
    "gleu macro": ["--metric", "gleu", "--level", "macro", "--multi", "mean", "--order", 3],
}


@pytest.mark.parametrize("name", RUNS)
def test_a_signature_runs_again(
    command: Callable[..., tuple[int, str, str]], files: dict[str, Path], name: str
) -> None:
    """The very same JSON; the signature alone says what to compute, at which level."""
    code, out, err = command(*files_of(files), *RUNS[name], "--format", "json")
    assert (code, err) == (0, "")
    first = json.loads(out)
    code, again, err = command(*files_of(files), "--signature", first["signature"], "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(again) == first
    plain = command(*files_of(files), "--format", "json")[1]
    assert json.loads(plain)["systems"][0] != first["systems"][0]


def test_the_short_form_runs_again(command: Callable[..., tuple[int, str, str]], files: dict[str, Path]) -> None:
    options = {"order": 2, "iterations": 9, "multi": "max", "lowercase": True}
    result = score(CANDIDATES, REFERENCES, SOURCE, metric="gleu", **options)
    assert len(result.short_signature) < len(result.signature)
    code, out, err = command(*files_of(files), "--signature", result.short_signature, "--format", "json")
    assert (code, err) == (0, "")
    again = json.loads(out)
    assert again["systems"][0]["score"] == result.score
    assert again["signature"] == result.signature


def test_options_go_before_the_signature_and_what_differs_is_noted(
    command: Callable[..., tuple[int, str, str]], files: dict[str, Path]
) -> None:
    signature = "metric:bleu|matcher:exact|order:2|smooth:none|tok:none|level:corpus"
    code, out, err = command(*files_of(files), "--signature", signature, "--order", 3, "--format", "json")
    assert code == 0
    assert err.splitlines() == ["softbleu: note: order is 3 here, 2 in the signature"]
    assert len(json.loads(out)["systems"][0]["totals"]) == 3
    assert command(*files_of(files), "--signature", signature, "--order", 3, "--quiet")[2] == ""


def test_other_versions_are_noted(command: Callable[..., tuple[int, str, str]], files: dict[str, Path]) -> None:
    signature = "metric:bleu|matcher:exact|tok:none|level:corpus|version:0.0.1"
    code, _, err = command(*files_of(files), "--signature", signature)
    assert code == 0
    assert err == f"softbleu: note: version is {__version__} here, 0.0.1 in the signature\n"


def test_other_vectors_of_that_name_are_an_error(
    command: Callable[..., tuple[int, str, str]], files: dict[str, Path]
) -> None:
    code, out, _ = command(*files_of(files), "--matcher", "vleu", "--vectors", "words.txt", "--format", "json")
    assert code == 0
    signature = json.loads(out)["signature"]
    promised = parse_signature(signature)["vectors"]
    assert promised.startswith("words.txt#")
    files["words.txt"].write_text("cat 1 2\ncats 2 1\n", encoding="utf-8")
    output = files["words.txt"].parent / "out.json"
    code, out, err = command(*files_of(files), "--signature", signature, "--output", output)
    assert (code, out) == (2, "")
    assert err.startswith("softbleu: error: ")
    assert err.count("\n") == 1
    assert promised in err
    assert not output.exists()


def test_vectors_may_lie_elsewhere(
    command: Callable[..., tuple[int, str, str]], files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signature has the file's name, its folder is no part of what a score depends on."""
    code, out, _ = command(*files_of(files), "--matcher", "vleu", "--vectors", files["words.txt"], "--format", "json")
    assert code == 0
    signature = json.loads(out)["signature"]
    elsewhere = files["words.txt"].parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    code, _, err = command(*files_of(files), "--signature", signature)
    assert code == 2
    assert err.count("\n") == 1
    assert "words.txt" in err
    given = ["--vectors", files["words.txt"], "--format", "json"]
    code, again, err = command(*files_of(files), "--signature", signature, *given)
    assert (code, err, json.loads(again)) == (0, "", json.loads(out))
