"""Systems ranked by people's comparisons of them: Expected Wins, ranges of ranks, clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.meta.resampling import redraw
from softbleu.results.significance import rank_ranges

if TYPE_CHECKING:
    from softbleu.corpora.judgements import Comparisons
    from softbleu.types import Floats, Integers


@dataclass(frozen=True)
class RankedSystem:
    """Where people's comparisons put a system."""

    name: str
    score: float  # Expected wins, or mean TrueSkill
    mean: float  # Of the scores of the samples
    best: int
    worst: int  # The range of its ranks in 95% of the samples
    cluster: int  # From 1; systems of different clusters have ranges that do not overlap
    wins: int
    ties: int
    losses: int


def expected_wins(comparisons: Comparisons) -> dict[str, float]:
    """How likely each system is to win against another one (Bojar et al. 2014, section 3.3).

    The mean over the others of wins / (wins + losses); ties are left out, and so are pairs that only ever tied.

    >>> from softbleu.corpora.judgements import Comparisons
    >>> rows = [(0, "A", "B", 1, "x"), (1, "A", "B", 1, "x"), (2, "A", "B", -1, "x"), (2, "B", "C", 0, "x")]
    >>> expected_wins(Comparisons.of([*rows, (3, "A", "C", 1, "x")]))
    {'A': 0.8333333333333333, 'B': 0.3333333333333333, 'C': 0.0}
    """
    scores = _expected_wins(comparisons.tallies()[None].astype(np.float64))[0]
    for name, score in zip(comparisons.systems, scores, strict=True):
        if np.isnan(score):
            raise InputError(f"system {name!r} has ties only: its expected wins are not defined")
    return dict(zip(comparisons.systems, scores.tolist(), strict=True))


def rank_by_wins(comparisons: Comparisons, samples: int = 1000, seed: int = 12345) -> list[RankedSystem]:
    """Rank systems by Expected Wins, the best first, with ranges of ranks in samples of the comparisons."""
    scores = np.array(list(expected_wins(comparisons).values()))
    systems = len(scores)
    tallies = comparisons.tallies()
    upper = np.triu_indices(systems, 1)
    cells = tallies[:, upper[0], upper[1]]
    # Comparisons are drawn by drawing how many there are of each pair and outcome.
    drawn = redraw(cells, samples, seed)
    resampled = np.zeros((samples, 3, systems, systems))
    resampled[:, :, upper[0], upper[1]] = drawn
    resampled[:, :, upper[1], upper[0]] = drawn[:, ::-1]
    # A system that only ties in a sample is likely to win as often as not.
    return make_ranking(comparisons, scores, np.nan_to_num(_expected_wins(resampled), nan=0.5))


def make_ranking(comparisons: Comparisons, scores: Floats, resampled: Floats) -> list[RankedSystem]:
    """Put systems in order, the best first, with the range of each one's ranks, and cut the order into clusters.

    A cluster ends where all that come later have better ranks nowhere than the worst of those before (Bojar et al.
    2014; Sakaguchi et al. 2014). `resampled` has the scores of samples and systems, (samples, systems).
    """
    best, worst = rank_ranges(resampled)
    order = np.argsort(-scores, kind="stable")
    clusters = cut_clusters(best[order], worst[order])
    outcomes = comparisons.tallies().sum(axis=2)
    columns = [column[order].tolist() for column in (scores, resampled.mean(axis=0), best, worst)]
    counts = [column[order].tolist() for column in outcomes]
    names = [comparisons.systems[place] for place in order]
    return [RankedSystem(*each) for each in zip(names, *columns, clusters, *counts, strict=True)]


def cut_clusters(best: Sequence[int] | Integers, worst: Sequence[int] | Integers) -> list[int]:
    """Number the clusters of systems in order, from the ranges of their ranks.

    >>> cut_clusters([1, 2, 2, 4], [1, 3, 3, 4])
    [1, 2, 2, 3]
    """
    clusters = [1]
    for place in range(1, len(best)):
        apart = max(worst[:place]) < min(best[place:])
        clusters.append(clusters[-1] + apart)
    return [int(cluster) for cluster in clusters]


def _expected_wins(tallies: Floats) -> Floats:
    """Expected wins from wins, ties and losses, (…, 3, systems, systems); NaN with ties only."""
    wins, decided = tallies[..., 0, :, :], tallies[..., 0, :, :] + tallies[..., 2, :, :]
    shares = np.divide(wins, decided, out=np.zeros_like(wins), where=decided > 0)
    opponents = (decided > 0).sum(axis=-1)
    sums: Floats = shares.sum(axis=-1)
    means: Floats = np.divide(sums, opponents, out=np.full_like(sums, np.nan), where=opponents > 0)
    return means
