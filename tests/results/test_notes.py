"""Notes on text that does not fit what a metric stands on."""

from __future__ import annotations

from typing import Any

import pytest
from shared_data import shared

import softbleu
from softbleu import Segments, read_metric
from softbleu.embeddings.function_words import LEAST_ENGLISH, english_share
from softbleu.metrics.optional import language_of
from softbleu.results.samples import notes_on

ENGLISH = ["The cat sat on the mat and it was not at all what they had been told about"] * 6
JAPANESE = ["猫はマットの上に座っていたが、言われていたものとは違った"] * 6
GERMAN = ["Die Katze saß auf der Matte und war gar nicht das, wovon man ihnen erzählt hatte"] * 6


@pytest.mark.parametrize(
    ("metric", "language"),
    [("bleu", None), ("vleu", "en"), ("bertscore", "en"), ("meteor(stages=exact)", "en"), ("refless", "en")],
)
def test_metrics_say_the_language_of_their_data(metric: str, language: str | None) -> None:
    assert language_of(read_metric(metric)) == language


@pytest.mark.parametrize(
    ("metric", "candidates", "references", "named"),
    [
        ("vleu", GERMAN, ENGLISH, ["sys: 0%", "VLEU"]),
        ("vleu", ENGLISH, GERMAN, ["the references: 0%", "VLEU"]),
        ("vleu", JAPANESE, ENGLISH, ["sys: 0%", "VLEU"]),
        ("vleu", ENGLISH, ENGLISH, []),
        ("vleu", GERMAN[:1], GERMAN[:1], []),
        ("bleu(tokenize=none)", GERMAN, GERMAN, []),
        ("bleu", [" "] * 6, ENGLISH, ["sys: all of the first 6 lines are blank"]),
        ("bleu", ENGLISH, [""] * 6, ["the references", "blank"]),
    ],
)
def test_text_of_another_language_is_noted(metric: str, candidates: Any, references: Any, named: list[str]) -> None:
    notes = list(notes_on(Segments.of({"sys": candidates}, references), [read_metric(metric)]))
    assert len(notes) == bool(named)
    assert all(part in note for note in notes for part in named)


def test_low_coverage_is_noted_once(capsys: pytest.CaptureFixture[str]) -> None:
    vectors = {word: [1.0, 0.5] for word in ENGLISH[0].split()}
    systems, settings = {"one": GERMAN, "two": GERMAN[:1] * 6}, {"metrics": "vleu", "vectors": vectors}
    said = "one, VLEU: 0% of the candidate's tokens have a vector (below 80% in 1 more)"
    softbleu.score({"one": ENGLISH}, ENGLISH, metric="vleu", vectors=vectors, progress=True)
    softbleu.score(systems, ENGLISH, metric="vleu", vectors=vectors)
    assert not capsys.readouterr().err
    for work in (
        lambda: softbleu.score(systems, ENGLISH, metric="vleu", vectors=vectors, progress=True),
        lambda: softbleu.compare(systems, ENGLISH, **settings, progress=True),
        lambda: softbleu.sweep(systems, ENGLISH, **settings, vary={"threshold": [0.5, 0.8]}, progress=True),
    ):
        work()
        error = capsys.readouterr().err
        assert error.lower().count(said.lower()) == error.count("\n") == 1


def shares(*parts: str) -> list[float]:
    lines = shared("data", *parts).read_text(encoding="utf-8").splitlines()
    return [english_share(lines[start : start + 20])[0] for start in range(0, len(lines) - 19, 20)]


@pytest.mark.parametrize("language", ["cs", "de", "zh"])
def test_real_text_is_told_apart(language: str) -> None:
    pair = f"{language}-en"
    assert min(shares("wmt21-into-en", pair, "reference-A.en")) > LEAST_ENGLISH
    assert max(shares("wmt21-into-en", pair, f"source.{language}")) < LEAST_ENGLISH
    # That of learners is English.
    assert min(shares("conll14", "source.txt")) > LEAST_ENGLISH
