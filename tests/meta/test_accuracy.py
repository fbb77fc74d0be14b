"""Accuracies of pairs: literal versions, laws, what the command shows, and levels of tests of differences."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import metaeval as oracle

import softbleu
from softbleu.corpora.judgements import Assessments, Comparisons, ScoreTable
from softbleu.errors import InputError
from softbleu.meta import agreement
from softbleu.meta.measures import (
    COEFFICIENTS,
    Estimate,
    JudgedPairs,
    correlate,
    correlate_within,
    difference,
    output_accuracies,
    preference_taus,
    segment_accuracies,
    soft_accuracy,
    williams,
)

POINTS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=2, max_size=9)
PAIRS = st.tuples(st.integers(0, 3), st.sampled_from(["AB", "BC", "AC"]), st.integers(-1, 1))
ROWS = st.lists(PAIRS.map(lambda row: (row[0], *row[1], row[2], "x")), min_size=1, max_size=30)
GRID = st.lists(st.integers(0, 3), min_size=12, max_size=12)


def scored(grid: list[int]) -> dict[str, np.ndarray]:
    return {name: np.array(grid[4 * k : 4 * k + 4], np.float64) for k, name in enumerate("ABC")}


def assessed(points: Iterable[tuple[float, str, int]]) -> Assessments:
    """Scores by people of the outputs of systems for segments."""
    scores, systems, segments = zip(*points, strict=True)
    return Assessments(np.array(scores, np.float64), [[name] for name in systems], segments)


def sign(number: float) -> int:
    return int(np.sign(number))


@given(POINTS)
def test_accuracy_of_assessed_outputs(points: list[tuple[int, int]]) -> None:
    people, scores = np.array(points, np.float64).T
    group = [(sign(one[0] - other[0]), float(one[1] - other[1])) for one, other in combinations(points, 2)]
    table = ScoreTable("m", {}, {"A": scores})
    alone = assessed((score, "A", n) for n, score in enumerate(people))
    (found,) = output_accuracies(table, alone, samples=30).values()
    segments = np.arange(len(people)) // 3
    grouped = assessed((score, "ABC"[n % 3], n // 3) for n, score in enumerate(people))
    apart = {name: np.append(scores[n::3], np.nan) for n, name in enumerate("ABC")}
    by_segment = output_accuracies(ScoreTable("m", {}, apart), grouped, samples=30)["outputs by segment"]
    rows = [list(zip(people[segments == n], scores[segments == n], strict=True)) for n in range(segments[-1] + 1)]
    assert (by_segment.value, by_segment.facts["epsilon"]) == pytest.approx(oracle.optimized_accuracy(rows))
    assert (found.value, found.facts["epsilon"]) == pytest.approx(oracle.calibrated_accuracy([group]))
    assert (found.facts["pairs"], found.facts["ties"]) == (len(group), sum(said == 0 for said, _ in group))
    assert found.value >= found.facts["chance"] - 0.5
    plain = JudgedPairs.among(people, scores).accuracy(calibrated=False)
    assert plain == (pytest.approx(sum(said == sign(by) for said, by in group) / len(group)), 0.0)


def test_samples_are_of_whole_segments() -> None:
    """As mt-metrics-eval has accuracy grouped by item, and correlations of outputs and of their differences."""
    judged, scores = np.random.default_rng(3).integers(0, 9, (2, 12, 3)).astype(np.float64)
    people = assessed((judged[n, k], name, n) for n in range(12) for k, name in enumerate("ABC"))
    table = ScoreTable("m", {}, dict(zip("ABC", scores.T, strict=True)))
    segments = [list(zip(*each, strict=True)) for each in zip(judged.tolist(), scores.tolist(), strict=True)]
    drawn = np.random.default_rng(7).integers(12, size=(6, 12))
    (_, found) = output_accuracies(table, people, samples=6, seed=7).values()
    values = [oracle.optimized_accuracy([segments[n] for n in each])[0] for each in drawn]
    assert found.drawn == pytest.approx(values)
    assert found.interval == pytest.approx(tuple(np.percentile(values, (2.5, 97.5))))
    joined = agreement.join_assessments([table], "people", people)
    each = agreement.agreements(joined, samples=6, seed=7)["m"]
    for name, pairs in (("pearson", list), ("pearson_within", differences)):
        points = [np.array([pair for n in some for pair in pairs(segments[n])]) for some in drawn]
        assert each[name].drawn == pytest.approx([np.corrcoef(some.T)[0, 1] for some in points])


def differences(row: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(a[0] - b[0], a[1] - b[1]) for a, b in permutations(row, 2)]


@given(ROWS, GRID)
def test_accuracy_of_compared_outputs(rows: list[oracle.Row], grid: list[int]) -> None:
    segments = scored(grid)
    found = output_accuracies(ScoreTable("m", {}, segments), Comparisons.of(rows), samples=30)
    together, apart = found.values()
    groups: dict[int, list[tuple[int, float]]] = {}
    for segment, one, other, outcome, _ in rows:
        groups.setdefault(segment, []).append((outcome, segments[one][segment] - segments[other][segment]))
    everything = [pair for group in groups.values() for pair in group]
    assert (together.value, together.facts["epsilon"]) == pytest.approx(oracle.calibrated_accuracy([everything]))
    assert (apart.value, apart.facts["epsilon"]) == pytest.approx(oracle.calibrated_accuracy([*groups.values()]))
    if len(groups) == 1:
        assert apart.interval == (apart.value, apart.value)


@given(GRID, GRID, st.integers(0, 9))
def test_soft_pairwise_accuracy(people: list[int], metric: list[int], seed: int) -> None:
    """People who compare all outputs of a segment say as much as scores, where their differences are signs."""
    said, scores = scored([number % 2 for number in people]), scored(metric)
    pairs = [(segment, *pair) for segment in range(4) for pair in combinations("ABC", 2)]
    rows = [(n, one, other, sign(said[one][n] - said[other][n]), "x") for n, one, other in pairs]
    given = (Comparisons.of(rows), 50, seed)
    found = soft_accuracy(ScoreTable("m", {}, scores), *given)
    flips = (np.rint(np.random.default_rng(seed).random((50, 4), np.float32)) == 0).tolist()
    literal = oracle.soft_pairwise_accuracy([*said.values()], [*scores.values()], flips)
    assert found.value == pytest.approx(literal)
    turned = {name: -column for name, column in scores.items()}
    assert soft_accuracy(ScoreTable("m", {}, turned), *given).facts == found.facts
    # The same from scores, of which a system lacks one and a metric another.
    graded = assessed((said[name][n], name, n) for name in "ABC" for n in range(4) if (name, n) != ("B", 2))
    lacking = {name: np.where((np.arange(4) == 1) & (name == "C"), np.nan, column) for name, column in scores.items()}
    soft = soft_accuracy(ScoreTable("m", {}, lacking), graded, 50, seed)
    shared = {"AB": [0, 1, 3], "AC": [0, 2, 3], "BC": [0, 3]}
    errors = []
    for (one, other), segments in shared.items():
        own = [[flip[n] for n in segments] for flip in flips]
        both = [[[side[name][n] for n in segments] for name in (one, other)] for side in (said, scores)]
        errors.append(abs(oracle.flip_p_value(*both[0], own) - oracle.flip_p_value(*both[1], own)))
    assert soft.value == pytest.approx(1 - np.mean(errors))
    # No name comes first, and a constant is as good as chance.
    renamed, flat = dict(zip("CAB", scores.values(), strict=True)), dict.fromkeys("ABC", np.zeros(4))
    graded = assessed((said[name][n], "CAB"["ABC".index(name)], n) for name in "ABC" for n in range(4))
    other = soft_accuracy(ScoreTable("m", {}, renamed), graded, 50, seed)
    graded = assessed((said[name][n], name, n) for name in "ABC" for n in range(4))
    assert other.value == soft_accuracy(ScoreTable("m", {}, scores), graded, 50, seed).value
    blind = soft_accuracy(ScoreTable("m", {}, flat), graded, 50, seed)
    assert blind.value == pytest.approx(blind.facts["chance"])


@given(GRID, GRID, st.integers(0, 9))
def test_accuracies_between_segments(people: list[int], metric: list[int], seed: int) -> None:
    """Soft accuracy of segments is that of systems with systems as segments; ties are those of means."""
    said, scores = (np.stack([*scored(grid).values()]) for grid in (people, metric))
    graded = assessed((said[k, n], name, n) for k, name in enumerate("ABC") for n in range(4))
    table = ScoreTable("m", {}, dict(zip("ABC", scores, strict=True)))
    means, soft = segment_accuracies(table, graded, 50, seed).values()
    flips = (np.rint(np.random.default_rng(seed).random((50, 3), np.float32)) == 0).tolist()
    assert soft.value == pytest.approx(oracle.soft_pairwise_accuracy(said.T.tolist(), scores.T.tolist(), flips))
    counts = [np.bincount(drawn, minlength=4) for drawn in np.random.default_rng(seed).integers(4, size=(50, 4))]
    pairs = list(combinations(range(4), 2))
    both = [(said.T[[*pair]].tolist(), scores.T[[*pair]].tolist()) for pair in pairs]
    errors = [1 - oracle.soft_pairwise_accuracy(*sides, flips) for sides in both]
    for drawn, count in zip(soft.drawn, counts, strict=True):
        weights = [count[one] * count[other] for one, other in pairs]
        expected = 1 - np.average(errors, weights=weights) if any(weights) else np.nan
        assert drawn == pytest.approx(expected, nan_ok=True)
    human, said_by = said.mean(axis=0), scores.mean(axis=0)
    group = [(sign(human[a] - human[b]), float(said_by[a] - said_by[b])) for a, b in pairs]
    assert (means.value, means.facts["epsilon"]) == pytest.approx(oracle.calibrated_accuracy([group]))
    plain = JudgedPairs.among(human, said_by).samples(9, seed, calibrated=False)
    for *drawn, count in zip(means.drawn[:9], plain, counts[:9], strict=True):
        sample = [pair for pair, (a, b) in zip(group, pairs, strict=True) for _ in range(count[a] * count[b])]
        right = np.mean([said == sign(by) for said, by in sample]) if sample else np.nan
        expected = (oracle.calibrated_accuracy([sample])[0] if sample else np.nan, right)
        assert drawn == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("tied", [0.1, 0.6])
def test_chance_is_what_a_blind_metric_has(tied: float) -> None:
    generator, numbers = np.random.default_rng(3), np.arange(4000)
    people = np.where(generator.random(4000) < tied, 0, np.sign(generator.random(4000) - 0.5)).astype(np.int64)
    pairs = JudgedPairs(people, generator.standard_normal(4000), numbers, numbers, np.ones(4000))
    found, _ = pairs.accuracy(calibrated=True) or (0, 0)
    assert found == pytest.approx(pairs.chance, abs=0.03)
    low, high = np.percentile(pairs.samples(100, 1, calibrated=True), (2.5, 97.5))
    assert low <= found <= high


def test_notes_say_what_was_left_out_and_what_says_nothing() -> None:
    """Judges tie nearly all, the metrics know nothing; one system has no output, another no judgement."""
    generator = np.random.default_rng(2)
    people = assessed((float(n == 3), name, n) for n in range(30) for name in ("A", "B", "ref"))
    tables = [ScoreTable(metric, {}, {name: generator.random(30) for name in "ABC"}) for metric in ("m", "n")]
    left_out = ["ref has no scores by m, n: left out", "C has no scores by direct assessment: left out"]
    tied = "direct assessment, outputs{}: not above chance: m, n"
    given = {"scores": tables, "assessments": people}
    found = softbleu.metaeval("accuracy", **given, samples=2)
    kinds = [
        tied.format(""),
        tied.format(" by segment"),
        *(tied.replace("outputs{}", f"segments{soft}") for soft in ("", " softly")),
    ]
    assert found.notes[:6] == (*left_out, *kinds)
    few = softbleu.metaeval("differences", **given, samples=39).notes[-1]
    assert few == "with 39 samples and 1 test of a measure no corrected p can be below 0.05: take 40 or more"
    more = softbleu.metaeval("differences", **given, samples=40).notes[-1]
    assert more == "direct assessment, pearson_within: defined for fewer than two metrics, left out"
    assert list(softbleu.metaeval("outputs", **given, samples=2).notes) == left_out


def test_metaeval_answers_by_what_there_is() -> None:
    rows = [(n, one, other, 1, "x") for n in range(3) for one, other in combinations("ABC", 2)]
    table = ScoreTable("m", {"A": 3.0, "B": 2.0, "C": 1.0}, {name: np.full(3, -ord(name)) for name in "ABC"})
    human, given = {"wmt": {"A": 1, "B": 3, "C": 2}}, {"rankings": Comparisons.of(rows), "samples": 40}
    found = softbleu.metaeval("accuracy", scores=[table], human=human, **given)
    listed = [(row["human"], row["of"], round(row["accuracy"], 6)) for row in found.records()]
    outputs = [("rankings", of, 1.0) for of in ("outputs", "outputs by segment", "systems softly")]
    assert listed == [("expected-wins", "systems", 1.0), *outputs, ("wmt", "systems", 0.333333)]
    with pytest.raises(InputError, match="an accuracy needs judgements"):
        softbleu.metaeval("accuracy", scores=[table])


SYSTEMS, SEGMENTS, TRIALS, SAMPLES = "ABC", 80, 500, 199
SEGMENT_OF_POINTS = np.tile(np.arange(SEGMENTS), len(SYSTEMS))  # The segment of each output
MEASURES = ("tau", "accuracies", "pearson within", *COEFFICIENTS)


@cache
def made_up() -> list[tuple[np.ndarray, list[np.ndarray]]]:
    """Human scores and two metrics of the same worth; what is hard in a segment is hard for all systems and both."""
    generator = np.random.default_rng(11)
    found = []
    for _ in range(TRIALS):
        hard = generator.standard_normal((3, 1, SEGMENTS))
        noise = generator.standard_normal((3, len(SYSTEMS), SEGMENTS))
        people = hard[0] + noise[0] + np.arange(len(SYSTEMS))[:, None] / 3
        found.append((people.reshape(-1), [(people + hard[k] + noise[k]).reshape(-1) for k in (1, 2)]))
    return found


def measure(name: str, people: np.ndarray, scores: np.ndarray, seed: int) -> Sequence[Estimate]:
    said, found = (dict(zip(SYSTEMS, side.reshape(len(SYSTEMS), -1), strict=True)) for side in (people, scores))
    comparisons, table = Comparisons.of_scores(said), ScoreTable("m", {}, found)
    if name == "tau":
        return [preference_taus(comparisons, table, SAMPLES, seed)["noties"]]
    if name == "accuracies":
        return [*output_accuracies(table, comparisons, SAMPLES, seed).values()]
    if name == "pearson within":
        return [correlate_within(scores, people, SAMPLES, seed, SEGMENT_OF_POINTS)]
    return [correlate(scores, people, name, SAMPLES, seed, SEGMENT_OF_POINTS)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["williams", *MEASURES])
def test_tests_reject_as_often_as_their_level_says(name: str) -> None:
    p_values = []
    for seed, (people, metrics) in enumerate(made_up()[: 300 if name == "kendall" else TRIALS]):
        if name == "williams":
            # Of means of systems, which are alone: the first 20 points are of as many segments.
            r = np.corrcoef(np.stack([people, *metrics])[:, :20])
            p_values.append([williams(r[0, 1], r[0, 2], r[1, 2], 20).p_value])
        else:
            pairs = zip(*(measure(name, people, scores, seed) for scores in metrics), strict=True)
            p_values.append([difference(*pair).p_value or 0.0 for pair in pairs])
    levels = np.mean(np.array(p_values) < 0.05 + 1e-9, axis=0)
    assert (levels >= 0.03).all()
    assert (levels <= 0.07).all()
