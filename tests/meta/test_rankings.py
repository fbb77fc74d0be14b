"""Rankings by people's comparisons, against literal versions and the package trueskill."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import metaeval as oracle
from refusing import refused

from softbleu.corpora.judgements import Comparisons
from softbleu.errors import InputError
from softbleu.meta import rankings
from softbleu.meta.agreement import annotator_agreement, mean_agreement
from softbleu.meta.rankings import cut_clusters, expected_wins, rank_by_skill, rank_by_wins
from softbleu.results.significance import rank_ranges

NAMES = st.sampled_from("ABCD")
ROW = st.tuples(st.integers(0, 3), NAMES, NAMES, st.integers(-1, 1), st.sampled_from("xyz"))
ROWS = st.lists(ROW.filter(lambda row: row[1] != row[2]), min_size=1, max_size=60)
CLEAR = [(n, *pair, 1, "x") for n in range(30) for pair in (("A", "B"), ("B", "C"), ("A", "C"))]


@given(ROWS)
def test_expected_wins(rows: list[oracle.Row]) -> None:
    literal = oracle.expected_wins(rows)
    comparisons = Comparisons.of(rows)
    if any(np.isnan(score) for score in literal.values()):
        with pytest.raises(InputError, match="has ties only"):
            expected_wins(comparisons)
    else:
        assert expected_wins(comparisons) == pytest.approx(literal, abs=1e-12)


@given(ROWS)
def test_kappa(rows: list[oracle.Row]) -> None:
    found = {(each.one, each.other): each for each in annotator_agreement(Comparisons.of(rows))}
    for one, other in (("x", "x"), ("x", "y"), ("y", "z")):
        literal = oracle.kappa(rows, one, other)
        if literal is None:
            assert (one, other) not in found
            continue
        each = found[one, other]
        assert (each.observed, each.expected) == pytest.approx(literal, abs=1e-12)
        if each.kappa is None:
            assert literal[1] == 1
        else:
            assert each.kappa == pytest.approx((literal[0] - literal[1]) / (1 - literal[1]))


def test_clear_order() -> None:
    ranked = rank_by_wins(Comparisons.of(CLEAR), samples=200)
    found = [(each.name, each.best, each.worst, each.cluster) for each in ranked]
    assert found == [("A", 1, 1, 1), ("B", 2, 2, 2), ("C", 3, 3, 3)]
    assert [(each.wins, each.ties, each.losses) for each in ranked] == [(60, 0, 0), (30, 0, 30), (0, 0, 60)]


def test_samples_are_of_segments() -> None:
    rows = [(n // 3, *pair, (n * 7) % 3 - 1, "x") for n in range(40) for pair in (("A", "B"), ("B", "C"), ("A", "C"))]
    comparisons = Comparisons.of(rows)
    drawn = np.random.default_rng(5).integers(14, size=(20, 14))
    found = rankings.redraw_tallies(comparisons, 20, 5)
    for each, tallies in zip(drawn, found, strict=True):
        chosen = np.concatenate([np.flatnonzero(comparisons.segment == number) for number in each])
        assert (comparisons.at(chosen).tallies() == tallies).all()
    # All that is said of a segment is said once: the ranges of ranks are as wide as those of one comparison each.
    ten = Comparisons.of([row for row in rows for _ in range(10)])
    ranges = [[(each.best, each.worst) for each in rank_by_wins(of, samples=300)] for of in (comparisons, ten)]
    assert ranges[0] == ranges[1]


def test_ranges_leave_out_what_is_rare() -> None:
    usual, rare = [[2.0, 1.0]] * 98, [[1.0, 2.0]] * 2
    assert [ends.tolist() for ends in rank_ranges(np.array(usual + rare))] == [[1, 2], [1, 2]]
    often = [[1.0, 2.0]] * 6
    assert [ends.tolist() for ends in rank_ranges(np.array(usual[:94] + often))] == [[1, 1], [2, 2]]
    # Clusters do not overlap.
    assert cut_clusters([1, 1, 2, 4], [1, 4, 3, 4]) == [1, 1, 1, 1]
    assert cut_clusters([1, 2, 3], [1, 2, 3]) == [1, 2, 3]


@pytest.mark.parametrize("beta", [0.3, 5.0, 1000.0])
def test_matches_are_rated_as_by_the_package(beta: float) -> None:
    pytest.importorskip("trueskill", reason="trueskill is not installed")
    generator = np.random.default_rng(0)
    runs = np.arange(60)
    one, other = (runs, np.zeros(60, np.int64)), (runs, np.full(60, 2))
    start = (generator.normal(0, 0.4, (60, 3)), generator.uniform(0.05, 0.3, (60, 3)))
    rated = []
    for make_rating in (rankings.make_rating, oracle.make_rating):
        mean, variance = (part.copy() for part in start)
        make_rating(beta, rankings.DRAWS)(mean, variance, one, other, runs % 3 - 1)
        rated.append((mean, variance))
    # The package approximates the error function to 7 digits.
    for mine, package, before in zip(*rated, start, strict=True):
        assert np.abs(mine - package).max() < 1e-6
        assert (mine[:, 1] == before[:, 1]).all()
        assert np.abs(mine - before).max() > 1e-8


def test_skill_is_seeded_and_meets_only_whom_it_was_compared_with() -> None:
    comparisons = Comparisons.of(CLEAR)
    one, same, other = (rank_by_skill(comparisons, runs=5, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one != other
    assert [each.name for each in one] == ["A", "B", "C"]
    apart = Comparisons.of([(0, "A", "B", 1, "x"), (0, "C", "D", -1, "x")])
    assert np.isfinite(rankings.play_matches(apart, runs=4)).all()


def test_bad_settings_and_too_few_judgements() -> None:
    refused(InputError, "number of samples", rank_by_skill, Comparisons.of(CLEAR), 0)
    found = annotator_agreement(Comparisons.of([(0, "A", "B", 1, "x"), (0, "A", "B", 1, "y")]))
    assert mean_agreement(found, within=False) is None
