"""What metrics say of themselves: how rows reduce to scores, what they must be given, and what they offer."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from softbleu.metrics import M2, METRICS, Bleu, Cleme, Gleu, IMeasure
from softbleu.metrics.cleme import Cleme2
from softbleu.metrics.protocols import matcher_of, shares_matches
from softbleu.metrics.result import BestReference


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
