"""Sweeps: every row is what a run for itself gives, however often interrupted; experiments as TOML files."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused
from tables import each_row

from softbleu.corpora import Segments
from softbleu.embeddings import choice
from softbleu.engine.checkpoint import remove_checkpoint
from softbleu.engine.plan import threshold_of
from softbleu.errors import InputError, VectorError
from softbleu.meta import SweepPoint, SweepRow, sweep_corpus, sweep_points
from softbleu.meta.sweep import MOST_STEPS, rank_by_score, read_thresholds, read_variations, sweep, table_of
from softbleu.metrics.bleu import Bleu
from softbleu.metrics.protocols import matcher_of
from softbleu.metrics.scores import Scores
from softbleu.results.api import score_corpus

WORDS = ("the", "The", "cat", "dog", "hound", "mat", "rug", "sat", "lay", "on", "oov")


def vectors_of(seed: int) -> dict[str, list[float]]:
    rows = np.random.default_rng(seed).normal(size=(len(WORDS), 4)) + 0.6
    return dict(zip(WORDS, rows.round(3).tolist(), strict=True)) | {"oov": [0.0] * 4}


def lines(number: int) -> list[str]:
    return [" ".join(CHOOSE.choice(WORDS, int(CHOOSE.integers(0, 8)))) for _ in range(number)]


BASE: dict[str, Any] = {"vectors": vectors_of(5)}
CHOOSE = np.random.default_rng(1)
REFERENCES = [lines(int(CHOOSE.integers(1, 4))) for _ in range(12)]
CORPUS = Segments.of({system: lines(12) for system in "ABC"}, REFERENCES, lines(12))


def assert_as_alone(rows: Sequence[SweepRow], points: Sequence[SweepPoint]) -> None:
    """Compare with a run for each system and point: score, numbers and signature, to the last digit."""
    expected = [
        (system, point.label, result.score, result.numbers.as_dict(), result.signature)
        for system in CORPUS.systems
        for point in points
        for result in score_corpus(CORPUS.only(system), point.metric)
    ]
    found = [(row.system, row.label, row.score, {**row.numbers, "score": row.score}, row.signature) for row in rows]
    assert found == expected


VARIANTS = tomllib.loads(Path(__file__).with_name("variants.toml").read_text(encoding="utf-8"))
VARIANTS["other vectors"] = {"vectors": vectors_of(6)}


def test_all_variants_at_once() -> None:
    points = sweep_points(BASE, {"matcher": ["exact", "vleu"], "threshold": [0.4, 0.9]}, VARIANTS)
    rows = sweep_corpus(CORPUS, points)
    assert_as_alone(rows, points)
    scores = {name: [row.score for row in rows if row.label == name] for name in VARIANTS}
    assert [name for name in VARIANTS if scores[name] == scores["plain"]] == ["plain"]


def test_quantiles_are_swept_as_thresholds_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    variants = {"": {}, "centred": {"vectors_postprocess": "mean"}}
    matchers = ["exact", "sleu", "vleu", "xleu"]
    points = sweep_points(BASE, {"matcher": matchers, "threshold": ["p90", 0.5, "p99"]}, variants)
    assert len(points) == 2 * (1 + 3 * 3)
    rows = sweep_corpus(CORPUS, points)
    assert_as_alone(rows, points)
    by_point = {(row.label, row.varied.get("quantile")): row for row in rows if row.varied["matcher"] == "vleu"}
    assert 0 < (by_point["", "p99"].threshold or 0) <= 1
    assert by_point["", "p99"].threshold != by_point["centred", "p99"].threshold
    assert by_point["", None].threshold == 0.5
    assert "|quantile:p99|" in by_point["", "p99"].signature
    assert "|quantile:none|" in by_point["", None].signature
    settings = ["metric", "matcher", "vectors_postprocess", "quantile"]
    assert table_of(rows).columns == ["system", "variant", *settings, "threshold", "score", "signature"]
    asked: list[float] = []
    original = choice.similarity_quantile
    monkeypatch.setattr(choice, "similarity_quantile", lambda *given: asked.append(given[1]) or original(*given))
    sweep_corpus(CORPUS, sweep_points(BASE, {"matcher": ["sleu", "vleu", "xleu"], "threshold": ["p90", "p99"]}))
    assert asked == [90.0, 99.0]


def test_points_of_a_sweep_keep_their_order() -> None:
    values = {"matcher": ["vleu", "exact", "vleu"], "threshold": [0.9, 0.1, 0.9]}
    found = [
        (point.label, matcher_of(point.metric).name, threshold_of(point.metric), point.metric.order)  # type: ignore[attr-defined, union-attr]
        for point in sweep_points(BASE, values, {"b": {}, "a": {"order": 2}})
    ]
    expected = [("vleu", 0.9), ("vleu", 0.1), ("exact", None)]
    assert found == [(label, *each, order) for label, order in (("b", 4), ("a", 2)) for each in expected]
    assert sweep_points(BASE, values, {}) == sweep_points(BASE, values)


def test_points_and_values_that_are_none() -> None:
    said = "takes values with commas between them, in one line"
    for values in ("2\n3", "2\r3", "9" * 140_000):
        refused(InputError, said, read_variations, [f"order={values}"])
    vary: Any
    for vary in ({"matcher": [], "threshold": [0.5]}, {"matcher": ["vleu"], "threshold": []}):
        refused(InputError, "at least one value of everything that varies", sweep_points, BASE, vary)
    said = "unknown setting 'colour'.*valid: .*assignment, .*beta"
    refused(InputError, said, sweep_points, BASE, {"matcher": ["vleu"], "threshold": [0.5]}, {"x": {"colour": 1}})


@dataclass(frozen=True)
class Errors(Bleu):
    """A toy whose lower scores are better."""

    name = "errors"
    higher_is_better = False


@pytest.mark.parametrize(("metric", "ranks"), [(Bleu(), {"poor": 2, "good": 1}), (Errors(), {"poor": 1, "good": 2})])
def test_ranks_follow_what_is_better(metric: Bleu, ranks: dict[str, int]) -> None:
    systems = {"poor": ["a dog sat there now"], "good": ["a cat sat there now"]}
    rows = sweep(systems, ["a cat sat there now"], metrics=metric, tokenize="none", vary={"order": [2, 3]})
    assert len(rows) == 4
    for order in ("2", "3"):
        assert rank_by_score([row for row in rows if row.varied["order"] == order]) == ranks


POINTS = sweep_points(BASE, {"matcher": ["exact", "vleu"], "threshold": [0.5, "p90"]})


def test_checkpoints_are_of_sweeps_that_begin_and_are_not_begun_anew_once_removed(tmp_path: Path) -> None:
    """Progress counts systems, whether they are scored or kept."""
    journal = tmp_path / "journal"
    points = sweep_points({"vectors": str(tmp_path / "none.txt")}, {"matcher": ["vleu"], "threshold": [0.5]})
    refused(VectorError, "", sweep_corpus, CORPUS, points, checkpoint=journal)
    rows = sweep_corpus(CORPUS, POINTS, checkpoint=journal, progress=lambda *_: remove_checkpoint(journal))
    assert rows == sweep_corpus(CORPUS, POINTS)
    assert list(tmp_path.iterdir()) == []
    calls: list[tuple[int, int]] = []
    for _ in range(2):
        sweep_corpus(CORPUS, POINTS, checkpoint=journal, progress=lambda *found: calls.append(found))
    assert calls == [(1, 3), (2, 3), (3, 3)] * 2


@each_row("meta/thresholds.toml", "typed", "read")
def test_thresholds_are_read_as_typed(typed: list[str], read: list[float | str]) -> None:
    assert list(map(repr, read_thresholds(typed))) == list(map(repr, read))


def test_a_range_has_no_more_steps_than_are_allowed() -> None:
    assert len(read_thresholds(["0:1:0.0001"])) == MOST_STEPS == 10_001


@given(st.integers(0, 100), st.integers(0, 100), st.integers(1, 50), st.integers(0, 6))
def test_ranges_are_exact_decimals(start: int, more: int, step: int, digits: int) -> None:
    found = read_thresholds([f"{start}e-{digits}:{start + more}e-{digits}:{step}e-{digits}"])
    scale = Fraction(1, 10**digits)
    assert found == [float(number * scale) for number in range(start, start + more + 1, step)]


def test_scores_of_other_programs_have_a_row_each() -> None:
    corpus = Segments.of({"A": ["a cat", "b"], "B": ["a dog", "b"]}, ["a cat", "b"])
    outside = SweepPoint("", Scores("COMET", {"A": [0.5, 1.0], "B": [0.25, 0.25]}))
    rows = sweep_corpus(corpus, [outside, *sweep_points({"metric": "chrf"}, {})])
    shown = [(row["system"], row["metric"], row["score"]) for row in table_of(rows).records()]
    chrf = [result.score for result in score_corpus(corpus, "chrf")]
    assert shown == [("A", "COMET", 0.75), ("A", "chrf", chrf[0]), ("B", "COMET", 0.25), ("B", "chrf", chrf[1])]
    assert "tokenize" not in table_of(rows).columns
