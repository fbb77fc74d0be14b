"""What metrics say of themselves: how rows reduce to scores, what they must be given, and what they offer."""

from dataclasses import dataclass, fields
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
import pytest

from softbleu.metrics import METRICS, Requirements
from softbleu.metrics.bleu import Bleu
from softbleu.metrics.cleme import Cleme, Cleme2
from softbleu.metrics.gleu import Gleu
from softbleu.metrics.imeasure import IMeasure
from softbleu.metrics.m2.metric import M2
from softbleu.metrics.protocols import matcher_of, shares_matches
from softbleu.metrics.result import BestReference

SET: dict[str, Any] = {"idf": "references", "parts": ("spelling",)}


@dataclass(frozen=True)
class Louder(Bleu):
    """Scores otherwise, over the same statistics."""

    name = "louder"


@dataclass(frozen=True)
class Counting(Bleu):
    """Has statistics of its own."""

    name = "counting"

    def statistics(self, *given: Any) -> Any:
        return super().statistics(*given)


@pytest.mark.parametrize("name", [each.name for each in fields(Requirements)])
def test_what_one_metric_needs_is_needed_together(name: str) -> None:
    wanted = SET.get(name, True)
    needing, plain = (Requirements(**{"references": False, name: value}) for value in (wanted, type(wanted)()))
    assert getattr(needing | plain, name) == getattr(plain | needing, name) == wanted
    assert needing | needing == needing


def test_parts_of_all_metrics_are_needed_once() -> None:
    chrf, softbleu = (METRICS.find(name)().requires for name in ("chrf++", "softbleu"))
    assert reduce(or_, (chrf, softbleu, chrf)) == Requirements(
        vectors=True, idf="references", parts=("characters", "punctuation", "spelling")
    )
    assert METRICS.find("softbleu")(rarity=0.0).requires.idf is None  # type: ignore[call-arg]
    assert (Requirements(idf="a text") | Requirements(idf="references")).idf == "references"
    assert (Requirements(idf="references") | Requirements(idf="a text")).idf == "references"


def test_matches_are_shared_where_statistics_follow_from_them() -> None:
    assert [shares_matches(each) for each in (Bleu(), Louder(), Counting(), Gleu())] == [True, True, False, False]
    assert matcher_of(Louder()) == matcher_of(Gleu()) == Bleu().matcher
    assert matcher_of(M2()) is None


WIDTHS = {"m2": 4, "imeasure": 7, "gleu": 14, "cleme": 5, "cleme2": 5, "errant": 5, "cleme(weights=length)": 162}


@pytest.mark.parametrize(
    "metric",
    [
        *(M2(), M2(annotators="best"), IMeasure(), Gleu(multi="max"), Gleu(iterations=5000), Gleu(iterations=5)),
        *(Cleme(), Cleme2(annotators="best"), Cleme(weights="length")),
    ],
)
def test_blocks_score_as_the_whole(metric: Any) -> None:
    draw = np.random.default_rng(2)
    # Segments with one reference stand before those with up to three.
    counts = np.concatenate([np.ones(9, np.int64), draw.integers(1, 4, 51)])
    offsets = np.concatenate(([0], np.cumsum(counts)))
    rows = draw.integers(1, 9, (2, offsets[-1], WIDTHS.get(str(metric), WIDTHS[metric.name])))
    stream = metric.aggregation.stream()
    for start, stop in ((0, 7), (7, 8), (8, 60)):
        stream.add(rows[:, offsets[start] : offsets[stop]], counts[start:stop])
    whole = [metric.aggregation.score(own, offsets) for own in rows]
    assert list(stream.scores()) == whole
    assert whole[0] != whole[1]


def test_the_best_of_a_metric_whose_lower_scores_are_better() -> None:
    rows, offsets = np.array([[3, 400], [1, 400], [1, 400], [2, 400]]), np.array([0, 3, 4])
    assert BestReference(METRICS.find("ter")()).chosen(rows, offsets).tolist() == [1, 3]


@pytest.mark.parametrize("average", ["segments", "pieces"])
def test_many_rows_of_bertscore_score_as_each_of_them(average: str) -> None:
    metric: Any = METRICS.find("bertscore")(average=average)  # type: ignore[call-arg]
    rows = np.random.default_rng(3).integers(2, 9, (5, 8))
    assert metric.scores(rows).tolist() == pytest.approx([metric.score(row).score for row in rows])
