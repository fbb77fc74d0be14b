"""Signatures hold everything a score depends on, and can be run again; of single settings: tests/test_declare.py."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from refusing import refused

from softbleu import InputError, score
from softbleu.cli.app import run
from softbleu.config.declare import all_settings
from softbleu.config.signature import parse_signature, signature_of
from softbleu.matching import MATCHERS
from softbleu.metrics import Bleu, Gleu
from softbleu.metrics.base import METRICS
from softbleu.metrics.making import make_metric, metric_from_signature
from softbleu.metrics.softbleu import Softbleu
from softbleu.results import read_metric
from softbleu.version import __version__

CANDIDATES = ["she go to the school", "he have a Cat", "it rain"]
FIRST, SECOND = (
    ["she goes to the school", "he has a cat", "it rains"],
    ["She goes to school", "He has cats", "it rained"],
)
SOURCE = ["she go to school", "he have a cats", "it rain"]
WORDS = {"go": [1.0, 0.1], "goes": [1.0, 0.2], "cat": [0.1, 1.0], "cats": [0.2, 1.0], "rain": [0.7, 0.7]}
PARTS = ["tokenize", "lowercase", "vectors"]


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        (Bleu(), ["metric", "matcher", "effective-order", *PARTS, "version"]),
        (Gleu(iterations=20), ["metric", "matcher", "iterations", *PARTS, "version"]),
        (Softbleu(beta=2.0), ["metric", "beta", *PARTS, "version"]),
    ],
    ids=str,
)
def test_short_form_leaves_out_defaults_only(value: Any, keys: list[str]) -> None:
    short, long = (parse_signature(signature_of(value, short=each)) for each in (True, False))
    assert list(short) == keys
    assert short.items() <= long.items()


@pytest.mark.parametrize("given_order", [False, True])
@pytest.mark.parametrize("level", ["corpus", "segment"])
def test_an_effective_order_that_was_given_is_read_back(given_order: bool, level: Any) -> None:
    result = score(["a b"], [["a b c"]], level=level, effective_order=given_order)
    for signature in (result.short_signature, result.signature):
        assert metric_from_signature(signature).at_level(level).effective_order is given_order  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("signature", "message"),
    [
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
        ("metric:bleu|lowercase:maybe", "lowercase must be yes or no, not 'maybe'"),
        ("metric:bleu|tok:elsewhere", "elsewhere"),
        ("metric:softbleu|idf:nowhere.txt#0123456789ab", "nowhere.txt: cannot be read"),
    ],
)
def test_broken_signatures_are_refused(signature: str, message: str) -> None:
    assert message in refused(InputError, r"^[^\n]+$", metric_from_signature, signature)


def test_the_version_rises_with_the_keys_of_signatures() -> None:
    owners = [each for each in (*MATCHERS.classes(), *METRICS.classes()) if each.__module__.startswith("softbleu.")]
    keys = sorted({setting.name for each in owners for setting in all_settings(each, shared=True)})
    known = {"0.2.0": "f7121cd21478"}
    assert known.get(__version__) == hashlib.sha256("|".join(keys).encode()).hexdigest()[:12], (
        "keys of signatures are others than those of this version: raise softbleu.version and note its keys here"
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


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Score the files of a folder by the command."""
    texts = {
        "c.txt": CANDIDATES,
        "r0.txt": FIRST,
        "r1.txt": SECOND,
        "s.txt": SOURCE,
        "idf.txt": ["she has the cat", "the school", "it"],
        "words.txt": [f"{word} {' '.join(map(str, numbers))}" for word, numbers in WORDS.items()],
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    corpus = [tmp_path / name for name in ("c.txt", "r0.txt", "r1.txt", "s.txt")]

    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        named = [part for pair in zip(("-c", "-r", "-r", "--source"), corpus, strict=True) for part in pair]
        code = run(["score", *map(str, [*named, *arguments])])
        caught = capsys.readouterr()
        return code, caught.out, caught.err

    return call


@pytest.mark.parametrize(
    "options",
    [
        "--order 2 --smooth add-k --smooth-value 0.5",
        "--tokenize char --order 6",
        "--matcher xleu --vectors words.txt --threshold 0.25 --composition aligned",
        "--matcher vleu --vectors words.txt --preset morgan2014 --order 2",
        "--metric gleu --order 2 --iterations 9 --seed 4",
        "--metric gleu --variant gleu0 --lambda 0.25 --swapped-bp --order 2",
        "--metric gleu --matcher vleu --vectors words.txt --threshold 0 --penalty soft --order 2",
        "--metric softbleu --vectors words.txt --idf idf.txt --level segment",
        "--level segment --no-effective-order --order 2",
        "--metric gleu --level macro --multi mean --order 3",
    ],
)
def test_a_signature_runs_again(command: Command, options: str) -> None:
    """The very same JSON; the signature alone says what to compute, at which level."""
    code, out, err = command(*options.split(), "--format", "json")
    assert (code, err) == (0, "")
    first = json.loads(out)
    code, again, err = command("--signature", first["signature"], "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(again) == first
    plain = command("--format", "json")[1]
    assert json.loads(plain)["systems"][0] != first["systems"][0]


def test_options_go_before_the_signature_and_what_differs_is_noted(command: Command) -> None:
    signature = "metric:bleu|matcher:exact|order:2|smooth:none|tok:none|level:corpus"
    code, out, err = command("--signature", signature, "--order", 3, "--format", "json")
    assert code == 0
    assert err.splitlines() == ["softbleu: note: order is 3 here, 2 in the signature"]
    assert len(json.loads(out)["systems"][0]["totals"]) == 3
    assert command("--signature", signature, "--order", 3, "--quiet")[2] == ""
    code, _, err = command("--signature", f"{signature}|version:0.0.1")
    assert (code, err) == (0, f"softbleu: note: version is {__version__} here, 0.0.1 in the signature\n")


def test_vectors_are_those_of_the_signature_wherever_they_lie(command: Any, tmp_path: Path, monkeypatch: Any) -> None:
    code, out, _ = command("--matcher", "vleu", "--vectors", "words.txt", "--format", "json")
    assert code == 0
    signature = json.loads(out)["signature"]
    promised = parse_signature(signature)["vectors"]
    assert promised.startswith("words.txt#")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    code, _, err = command("--signature", signature)
    assert (code, err.count("\n")) == (2, 1)
    assert "words.txt" in err
    words = tmp_path / "words.txt"
    code, again, err = command("--signature", signature, "--vectors", words, "--format", "json")
    assert (code, err, json.loads(again)) == (0, "", json.loads(out))
    words.write_text("cat 1 2\ncats 2 1\n", encoding="utf-8")
    code, out, err = command("--signature", signature, "--vectors", words, "--output", tmp_path / "out.json")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert promised in err
    assert not (tmp_path / "out.json").exists()
