"""Notes from Python: the warnings that calls give, what results keep of them, and the lines of the command."""

import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pandas as pd
import pytest
from refusing import refused

import softbleu
from softbleu import SoftbleuWarning, compare, metaeval, score
from softbleu.corpora.gates import Gate
from softbleu.corpora.judgements import ScoreTable
from softbleu.results.api import Accumulator
from softbleu.results.significance import SignificanceSettings

pytestmark = pytest.mark.usefixtures("few_lines_tested")
ENGLISH = [f"The cat number {number} sat on the mat beside a dog of {number + 3} years" for number in range(40)]
GERMAN = [f"Die Katze {number} saß über der Matte neben einem Hund, der {number + 3} war" for number in range(40)]
CHINESE = ["这个系统很好今天下雨"] * 40
TOKENISED = [f"{line} ." for line in ENGLISH]
SHIFTED = ["", *ENGLISH[:-1]]
VECTORS = {word: [1.0, 0.5] for word in ENGLISH[0].split()}
FEW = {"significance": SignificanceSettings(trials=9)}
JUDGES = {"judges": {"A": 0.6, "B": 0.5, "C": 0.3, "E": 0.1}}
SCORES = [ScoreTable("new", {"A": 31.0, "B": 32.5, "C": 20.0, "D": 12.0})]
COLUMN = pd.Series(ENGLISH)


KINDS: dict[str, tuple[str, Callable[[], Any]]] = {
    "odd outputs": ("fits the segment above", lambda: score(SHIFTED, ENGLISH)),
    "tokenised again": ("are tokenised again (13a)", lambda: score(TOKENISED, ENGLISH)),
    "blank": ("no text in the first 40 segments", lambda: score([" "] * 40, ENGLISH)),
    "normal forms": ("normalize_unicode", lambda: score([normalize("NFD", line) for line in GERMAN], GERMAN)),
    "language of data": ("data of VLEU is English", lambda: score(GERMAN, GERMAN, metrics="vleu", threshold=0.8)),
    "language of rules": ("by rules for English", lambda: score(GERMAN, GERMAN, GERMAN, metrics="errant")),
    "no blanks": ("at which BLEU would split", lambda: score(CHINESE, CHINESE)),
    "coverage": (
        "tokens have a vector",
        lambda: score(GERMAN, GERMAN, metrics="vleu", threshold=0.8, vectors=VECTORS),
    ),
    "threshold": ("threshold 0.8 (the default", lambda: score(ENGLISH, ENGLISH, metrics="vleu", vectors=VECTORS)),
    "blank references": ("blank_references", lambda: score(["a cat", "a dog"], [["a cat", ""], ["a dog", "dogs"]])),
    "whole outputs": ("no effect on", lambda: score(ENGLISH, ENGLISH, metrics=["chrf", "hyter"], partial=True)),
    "no effect": ("no effect without", lambda: score(ENGLISH, ENGLISH, metrics="ter", asian_support=True)),
    "unknown language": ("no settings for language 'xx'", lambda: score(ENGLISH, ENGLISH, language="xx")),
    "transposed": ("look transposed", lambda: score(["a b", "c d", "e f"], [["a b", "c d", "e f"]] * 3)),
    "other order": ("brought into the order", lambda: score(COLUMN[::-1], COLUMN)),
    "comparison": ("fits the segment above", lambda: compare({"one": SHIFTED, "two": ENGLISH}, ENGLISH)),
    "too few draws": ("no p can be below", lambda: compare({"one": ENGLISH, "two": GERMAN}, ENGLISH, **FEW)),
    "corpus score": ("fits the segment above", lambda: softbleu.Chrf().corpus_score(SHIFTED, ENGLISH)),
    "sums": ("at which BLEU would split", lambda: accumulated("bleu", CHINESE)),
    "text": ("fits the segment above", lambda: accumulated("softbleu(vectors=glove-6b-100d)", SHIFTED)),
    "left out": ("E has no scores by new", lambda: metaeval(scores=SCORES, human=JUDGES, samples=100)),
}
"""Kinds of notes: a part of what is said, and a call that says it."""


def accumulated(metric: str, texts: list[str]) -> Any:
    accumulator = Accumulator(metric)
    for place in (0, 20):
        accumulator.update(texts[place : place + 20], ENGLISH[place : place + 20])
    return accumulator.compute()


@contextmanager
def recorded() -> Iterator[list[str]]:
    """Collect the notes that are given as warnings, each of which names a line of this file."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        yield said
    assert {(warning.category, Path(warning.filename)) for warning in given} <= {(SoftbleuWarning, Path(__file__))}
    said += [str(warning.message) for warning in given]


@pytest.mark.parametrize("kind", KINDS)
def test_python_is_told_each_kind_of_note_once_and_results_keep_it(kind: str, capsys: Any) -> None:
    part, call = KINDS[kind]
    with recorded() as said:
        result = call()
    assert sum(part in note for note in said) == 1
    assert len({*said}) == len(said)
    assert [*result.notes] == said
    assert not capsys.readouterr().err


def test_the_command_tells_the_same(command: Any, files: Any) -> None:
    files.write("shifted.txt", SHIFTED)
    files.write("reference.txt", ENGLISH)
    with recorded() as said:
        result = score({"shifted": SHIFTED}, ENGLISH, metrics=["bleu", "chrf"])
    done = command("score", "-c", "shifted.txt", "-r", "reference.txt", "-m", "bleu", "chrf")
    assert done.err.splitlines() == [f"softbleu: note: {note}" for note in said]
    assert result.notes == tuple(said)
    assert result[1].notes == result.notes


def test_warnings_are_filtered_as_any_other() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", SoftbleuWarning)
        refused(SoftbleuWarning, "fits the segment above", score, SHIFTED, ENGLISH)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("default", SoftbleuWarning)
        results = [score(SHIFTED[: len(SHIFTED) - fewer], ENGLISH[: len(SHIFTED) - fewer]) for fewer in (0, 0, 9)]
    assert [str(one.message) for one in given] == [*results[0].notes]  # Once, though its figures differ
    assert len({result.notes for result in results}) == 2
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", SoftbleuWarning)
        for _ in range(2):
            score(SHIFTED, ENGLISH)
    assert len(given) == 2
    with recorded() as said:
        assert score(ENGLISH, ENGLISH).notes == ()
    assert not said


@pytest.mark.parametrize("progress", [True, False])
def test_notes_are_lines_beside_a_bar_and_warnings_without(progress: bool, capsys: Any) -> None:
    with recorded() as said:
        result = compare({"one": SHIFTED, "two": ENGLISH}, ENGLISH, progress=progress)
    (note,) = result.notes
    assert capsys.readouterr().err.count(f"softbleu: note: {note}") == progress
    assert said == [note] * (not progress)


def test_columns_are_brought_into_the_order_of_the_first_index() -> None:
    mixed = COLUMN.sample(frac=1, random_state=1)
    labels = pd.Series([str(number // 4) for number in range(40)])
    found = score({"A": mixed, "B": COLUMN}, COLUMN, documents=labels, level="document", metrics="chrf")
    assert [result.score for result in found] == [100, 100]
    assert [part.document for part in found[0].documents] == [*dict.fromkeys(labels[mixed.index])]
    assert found[0].documents[0].segments == 4
    assert score(mixed, COLUMN.tolist()).score < 100
    assert score(mixed, mixed.tolist(), metrics="chrf").score == score(mixed, mixed[:], metrics="chrf").score == 100
    refused(
        softbleu.InputError,
        "^references: the index of this column has other labels",
        score,
        mixed,
        COLUMN[::-1].set_axis(range(1, 41)),
    )
    refused(
        softbleu.InputError,
        "^source texts: the index",
        score,
        mixed,
        ENGLISH,
        COLUMN.set_axis([0] * 40),
        metrics="gleu",
    )
    twice = COLUMN.set_axis([*range(20)] * 2)
    refused(softbleu.InputError, "another order, with labels twice", score, twice, twice[::-1])
    passed = Gate.of("empty").apply(pd.Series(["", "a"]), pd.Series(["b", ""], index=[1, 0]))
    assert [one.rules for one in passed] == [(), ()]


def test_an_accumulator_has_the_text_of_its_first_segments_for_notes() -> None:
    one, other = Accumulator("bleu"), Accumulator("bleu")
    for _ in range(5):
        one.update(CHINESE, CHINESE)
        other.update(CHINESE, CHINESE)
    one.merge(other)
    assert (one.kept, len(one), len(one._segments)) == ("sums", 400, 128)
    said = one.compute().notes
    assert "at which BLEU would split" in said[0]
    again = pickle.loads(pickle.dumps(one))
    assert CHINESE[0].encode() not in pickle.dumps(one)
    assert again.compute().notes == said
