"""Rankings of systems by judges' comparisons: Expected Wins and TrueSkill, with ranges of ranks and clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.meta.measures import divide
from softbleu.resample import bootstrap, check_samples, rank_ranges

if TYPE_CHECKING:
    from softbleu.corpora.judgements import Comparisons
    from softbleu.types import Floats, Integers, Progress


@dataclass(frozen=True)
class RankedSystem:
    """Rank of a system by judges' comparisons."""

    name: str
    score: float  # Expected wins, or mean TrueSkill
    mean: float  # Mean score of the samples
    best: int
    worst: int  # Range of its ranks in 95% of the samples
    cluster: int  # Number from 1; ranges of systems in different clusters do not overlap
    wins: int
    ties: int
    losses: int


def expected_wins(comparisons: Comparisons) -> dict[str, float]:
    """Estimate the probability that each system wins against another (Bojar et al. 2014, section 3.3).

    The mean over the others of wins / (wins + losses); ties are left out, and so are pairs that only ever tied.

    >>> from softbleu.corpora.judgements import Comparisons
    >>> rows = [(0, "A", "B", 1, "x"), (1, "A", "B", 1, "x"), (2, "A", "B", -1, "x"), (2, "B", "C", 0, "x")]
    >>> expected_wins(Comparisons.of([*rows, (3, "A", "C", 1, "x")]))
    {'A': 0.8333333333333333, 'B': 0.3333333333333333, 'C': 0.0}
    """
    scores = win_shares(comparisons.tallies().astype(np.float64), np.nan)
    for name, score in zip(comparisons.systems, scores, strict=True):
        if np.isnan(score):
            raise InputError(f"system {name!r} has ties only: its expected wins are not defined")
    return dict(zip(comparisons.systems, scores.tolist(), strict=True))


def rank_by_wins(comparisons: Comparisons, samples: int = 1000, seed: int = 12345) -> list[RankedSystem]:
    """Rank systems by Expected Wins, the best first, with ranges of ranks in samples of the segments.

    Parameters
    ----------
    comparisons
        Pairwise judgements of the systems.
    samples, seed
        Bootstrap samples of segments, and their seed.
    """
    check_samples(samples, seed)
    scores = np.array(list(expected_wins(comparisons).values()))
    return make_ranking(comparisons, scores, win_shares(redraw_tallies(comparisons, samples, seed)))


def win_shares(tallies: Floats, undecided: float = 0.5) -> Floats:
    """Expected wins from tallies, (…, 3, systems, systems); a system that only ties has the share `undecided`."""
    wins, decided = tallies[..., 0, :, :], tallies[..., 0, :, :] + tallies[..., 2, :, :]
    shares = np.divide(wins, decided, out=np.zeros_like(wins), where=decided > 0)
    return np.nan_to_num(divide(shares.sum(axis=-1), (decided > 0).sum(axis=-1)), nan=undecided)


def redraw_tallies(comparisons: Comparisons, samples: int, seed: int) -> Floats:
    """Count as `Comparisons.tallies` in samples of segments: (samples, 3, systems, systems).

    `comparisons` are drawn by a generator of that `seed`.
    """
    size = len(comparisons.systems)
    kinds = ((1 - comparisons.outcome) * size + comparisons.first) * size + comparisons.second
    units = np.unique(comparisons.cluster, return_inverse=True)[1]
    keys, counted = np.unique(units * 3 * size**2 + kinds, return_counts=True)
    unit, kind = np.divmod(keys, 3 * size**2)
    batches = chain.from_iterable(bootstrap(int(units.max()) + 1, samples, seed))
    drawn = [np.bincount(kind, counts[unit] * counted, 3 * size**2) for counts in batches]
    tallies = np.array(drawn, np.float64).reshape(samples, 3, size, size)
    return tallies + tallies[:, ::-1].swapaxes(2, 3)


def make_ranking(comparisons: Comparisons, scores: Floats, resampled: Floats) -> list[RankedSystem]:
    """Sort systems, the best first, with the range of each rank, and cut the order into clusters.

    A cluster ends where all that come later have better ranks nowhere than the worst of those before (Bojar et al.
    2014; Sakaguchi et al. 2014). `resampled` has the scores of samples and systems, (samples, systems).

    Parameters
    ----------
    comparisons
        Pairwise judgements of the systems.
    scores
        Score of each system, (systems,).
    resampled
        Scores of the samples, (samples, systems).
    """
    best, worst = rank_ranges(resampled)
    order = np.argsort(-scores, kind="stable")
    clusters = cut_clusters(best[order], worst[order])
    outcomes = comparisons.tallies().sum(axis=2)
    columns = [column[order].tolist() for column in (scores, resampled.mean(axis=0), best, worst)]
    counts = [column[order].tolist() for column in outcomes]
    names = [comparisons.systems[index] for index in order]
    return [RankedSystem(*row) for row in zip(names, *columns, clusters, *counts, strict=True)]


def cut_clusters(best: Sequence[int] | Integers, worst: Sequence[int] | Integers) -> list[int]:
    """Number the clusters of systems in order, from the ranges of their ranks.

    Parameters
    ----------
    best, worst
        Range of ranks of each system, in the order of their scores, (systems,).

    Examples
    --------
    >>> cut_clusters([1, 2, 2, 4], [1, 3, 3, 4])
    [1, 2, 2, 3]
    """
    apart = np.maximum.accumulate(worst)[:-1] < np.minimum.accumulate(best[::-1])[::-1][1:]
    clusters: list[int] = np.cumsum([1, *apart]).tolist()
    return clusters


_PIECE = 4096  # Matches whose random numbers are drawn at once


DEVIATION = 0.5  # Standard deviation of a system's skill before its first match
DRAWS = 0.25  # Share of matches that are expected to end in a draw
_PACE = 40.0  # The performance of a system varies by ``DEVIATION * matches / _PACE`` from match to match


def rank_by_skill(
    comparisons: Comparisons,
    runs: int = 100,
    seed: int = 12345,
    progress: Progress | None = None,
    *,
    matches: int | None = None,
) -> list[RankedSystem]:
    """Rank systems by their mean TrueSkill over several runs, the best first, with ranges of ranks and clusters.

    The ranges are of as many runs more, each with the comparisons of a sample of segments.

    Parameters
    ----------
    comparisons
        Pairwise judgements of the systems.
    runs, seed
        Runs on all comparisons, and as many on samples; the seed of both.
    progress
        Told how many matches of a run are played.
    matches
        Matches of a run; None: one for each comparison and one more.
    """
    skills = play_matches(comparisons, runs, seed, progress, matches=matches, resampled=True)
    return make_ranking(comparisons, skills[:runs].mean(axis=0), skills[runs:])


def play_matches(
    comparisons: Comparisons,
    runs: int = 100,
    seed: int = 12345,
    progress: Progress | None = None,
    *,
    matches: int | None = None,
    resampled: bool = False,
) -> Floats:
    """Play matches, each a random comparison of two systems, and rate the systems.

    In every match the system whose skill is least certain plays one drawn with weight exp(-|difference of skills|)
    among those it was ever compared with. Mean skill of each system after each run: (runs, systems); with `resampled`
    as many runs follow, each of them on a sample of the segments. A run has one match for each comparison and one
    more, as in the published program, unless `matches` says how many.

    `seed` is that of the generator, one for all runs; `progress` is called with the matches done and all.

    >>> from softbleu.corpora.judgements import Comparisons
    >>> made = Comparisons.of([(n, *pair, 1, "x") for n in range(50) for pair in (("A", "B"), ("B", "C"))])
    >>> skills = play_matches(made, runs=20).mean(axis=0)
    >>> bool(skills[0] > skills[1] > skills[2])
    True
    """
    check_samples(runs, seed)
    matches = matches or len(comparisons) + 1
    systems, generators = len(comparisons.systems), [np.random.default_rng(seed)]
    tallies = np.broadcast_to(comparisons.tallies().astype(np.float64), (runs, 3, systems, systems))
    if resampled:
        generators.append(np.random.default_rng([seed, 1]))
        tallies = np.concatenate([tallies, redraw_tallies(comparisons, runs, seed)])
    compared, numbers = tallies.sum(axis=1), np.arange(len(tallies))
    shares = tallies.cumsum(axis=1) / np.maximum(compared, 1)[:, None]
    # A system that a sample compares with nobody plays no match.
    mean, variance = np.zeros((len(numbers), systems)), DEVIATION**2 * (compared.sum(axis=2) > 0)
    rate = make_rating(DEVIATION * matches / _PACE, DRAWS)
    for match in range(matches):
        number = match % _PIECE
        if number == 0:
            shape = (min(_PIECE, matches - match), 2, runs)
            drawn = np.concatenate([generator.random(shape) for generator in generators], axis=2)
            if progress is not None:
                progress(match, matches)
        one = variance.argmax(axis=1)
        weights = np.exp(-np.abs(mean - mean[numbers, one][:, None])) * (compared[numbers, one] > 0)
        weights = weights.cumsum(axis=1)
        other = (weights <= drawn[number, 0][:, None] * weights[:, -1:]).sum(axis=1)
        outcome = (drawn[number, 1] >= shares[numbers, :, one, other].T).sum(axis=0)
        rate(mean, variance, (numbers, one), (numbers, other), 1 - outcome)
    return mean


Pick = tuple["Integers", "Integers"]
Rate = Callable[["Floats", "Floats", Pick, Pick, "Integers"], None]


def make_rating(beta: float, draws: float) -> Rate:
    """Make the rating of two systems per run: for two players TrueSkill's message passing has a closed form.

    `beta` is the deviation of a performance from a skill, `draws` the share of matches that end in a draw.
    """
    from scipy.special import ndtr, ndtri

    margin = float(ndtri((draws + 1) / 2)) * np.sqrt(2) * beta

    def density(x: Floats) -> Floats:
        heights: Floats = np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
        return heights

    def rate(mean: Floats, variance: Floats, one: Pick, other: Pick, outcome: Integers) -> None:
        total = 2 * beta**2 + variance[one] + variance[other]
        scale = np.sqrt(total)
        sign = np.where(outcome == 0, 1, outcome)
        ahead, edge = sign * (mean[one] - mean[other]) / scale, margin / scale
        # The truncated normal: above the margin for a win, within it for a draw.
        low, high = edge - ahead, -edge - ahead
        tied = outcome == 0
        mass = np.where(tied, ndtr(low) - ndtr(high), ndtr(-low))
        shift = np.where(tied, density(high) - density(low), density(low)) / mass
        spread = np.where(tied, low * density(low) - high * density(high), -low * density(low)) / mass
        for pick, direction in ((one, sign), (other, -sign)):
            share = variance[pick] / total
            mean[pick] += direction * share * scale * shift
            variance[pick] *= 1 - share * (shift**2 + spread)

    return rate
