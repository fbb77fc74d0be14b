"""Intervals and paired tests: the same numbers as literal loops, the same verdicts as sacrebleu."""

import math
import random
import statistics as statistics_module
import tracemalloc
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from complete import complete
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refused
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from shared_data import shared

from softbleu import resample
from softbleu.corpora import Segments
from softbleu.engine.runner import collect_statistics
from softbleu.engine.statistics import Statistics
from softbleu.errors import InputError
from softbleu.matching.ngrams import SCALE
from softbleu.metrics import Metric, resampling
from softbleu.metrics.bleu import Bleu
from softbleu.metrics.gleu import Gleu
from softbleu.metrics.reading import read_metric
from softbleu.results import comparison as engine
from softbleu.results.api import compare_corpus, score_corpus
from softbleu.results.comparison import Comparison, SliceFamily
from softbleu.results.significance import SignificanceSettings
from softbleu.results.slices import compare_systems, outputs_family, segment_numbers
from softbleu.text.tokens import Whitespace

pytestmark = pytest.mark.usefixtures("few_lines_tested")
# The baseline first; two systems close to it, one between, one far off.
NAMES = ("uedin-wmt13.2636", "KIT_primary.2653", "uedin-syntax.2605", "RWTH-Jane-primary.2615", "rbmt-1")
CLEAR = 0.03
SOURCE = ["she go to the school", "he have a cats", "it rain", "i am here", "we was late again"]
REFERENCES = [("she goes to the school", "she goes to school"), ("he has cats", "he has a cat")]
REFERENCES += [("it rains", "it rained"), ("I am here",)]
REFERENCES += [("we were late again", "we were late", "we came late again")]
SYSTEMS = {
    "copy": SOURCE,
    "good": ["she goes to school", "he has a cat", "it rains", "I am here", "we were late"],
    "half": ["she goes to the school", "he have a cat", "it rain", "i am here", "we was late"],
}
UNTOKENIZED = complete(Bleu(), Whitespace())


def family_of(statistics: Statistics, metric: Metric, **how: Any) -> SliceFamily:
    """One slice, of whole outputs."""
    return outputs_family(statistics, statistics.systems[0], SignificanceSettings(**how), metric=metric)


def bootstrap_scores(statistics: Statistics, metric: Metric, samples: int, seed: int) -> Any:
    return engine.bootstrap_scores(family_of(statistics, metric, samples=samples, seed=seed))[0][:, 0]


def approximate_randomization(
    statistics: Statistics, metric: Metric, trials: int, seed: int, as_sacrebleu: bool = False
) -> Any:
    how = {"compatible": "sacrebleu" if as_sacrebleu else "none", "trials": trials, "seed": seed}
    return engine.approximate_randomization(family_of(statistics, metric, **how))[..., 0]


def compared(statistics: Statistics, baseline: str, how: SignificanceSettings, progress: Any = None) -> Comparison:
    return compare_systems([statistics], baseline, how, progress)


def statistics_of(rows: Any, metric: Metric | None = None) -> Statistics:
    """Make statistics by hand: (systems, rows, columns)."""
    table = np.asarray(rows, np.int64)
    names = tuple(f"s{k}" for k in range(len(table)))
    return Statistics(names, complete(metric or Bleu()), table, np.ones(table.shape[1], np.int64), (1, 1))


def collected(metric: Metric, systems: dict[str, list[str]] | None = None) -> Statistics:
    corpus = Segments.of(systems or SYSTEMS, REFERENCES, SOURCE)
    return collect_statistics(corpus, [complete(metric)], keep_rows=True)[0]


@st.composite
def rows_of(draw: st.DrawFn, order: int, *, penalties: bool = False) -> np.ndarray:
    """Rows as sums of segments have them; zeros are frequent, short texts too."""
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        length = draw(st.sampled_from([0, 1, 2, 3, 5, 9, 40, 1000]))
        totals = [max(0, length - n) for n in range(order)]
        matches = [draw(st.integers(0, total * SCALE)) if draw(st.booleans()) else 0 for total in totals]
        lost = [draw(st.sampled_from([0, SCALE, match, 2 * SCALE])) for match in matches] if penalties else []
        rows.append([length, draw(st.sampled_from([0, 1, 4, 9, 50, 900])), *matches, *lost, *totals])
    return np.array(rows, np.int64)


SMOOTHING = [("none", None), ("floor", None), ("floor", 0.0), ("floor", 0.5), ("exp", None)]
SMOOTHING += [("add-k", None), ("add-k", 0.0), ("add-k", 2.5)]


@st.composite
def metrics(draw: st.DrawFn) -> Bleu | Gleu:
    order, yes, other = draw(st.integers(1, 6)), draw(st.booleans()), draw(st.booleans())
    if draw(st.booleans()):
        return Gleu(order=order, segment_smoothing=yes, swapped_bp=other)
    smooth, value = draw(st.sampled_from(SMOOTHING))
    return Bleu(order=order, smooth=smooth, smooth_value=value, effective_order=yes)


@given(data=st.data(), metric=metrics())
@settings(max_examples=100)
def test_scores_are_those_of_single_rows(data: Any, metric: Bleu | Gleu) -> None:
    rows = data.draw(rows_of(metric.order, penalties=isinstance(metric, Gleu)))
    expected = [metric.score(row).score for row in rows]
    for each in (rows, rows.astype(np.float64)):
        assert metric.columns(each).score.tolist() == pytest.approx(expected, rel=0, abs=1e-10)


def literal_bootstrap(statistics: Statistics, metric: Metric, samples: int, seed: int) -> list[list[float]]:
    """Draw one sample after the other with the same generator, add the rows up in Python, score each."""
    segments = len(statistics.offsets) - 1
    generator = np.random.default_rng(seed)
    scores: list[list[float]] = [[] for _ in statistics.systems]
    for sample in range(samples):
        drawn = generator.integers(segments, size=segments).tolist()
        for system, rows in enumerate(statistics.rows.tolist()):
            total = [0] * len(rows[0])
            for segment in drawn:
                row = chosen_row(statistics, metric, system, segment, sample)
                total = [a + b for a, b in zip(total, rows[row], strict=True)]
            scores[system].append(metric.score(np.array(total)).score)
    return scores


def chosen_row(statistics: Statistics, metric: Metric, system: int, segment: int, sample: int) -> int:
    """Row of the reference that counts for a segment in a bootstrap sample."""
    start, stop = statistics.offsets[segment : segment + 2].tolist()
    if not isinstance(metric, Gleu) or stop - start == 1:
        return start
    if metric.multi == "max":
        scores = [metric.score(row) for row in statistics.rows[system, start:stop]]
        keys = [[score.score, *reversed(score.order_scores)] for score in scores]
        return start + keys.index(max(keys))
    random.seed(metric.seed + 101 * (sample % metric.iterations))
    counts = np.diff(statistics.offsets).tolist()
    return start + [int(random.random() * count) for count in counts][segment]


@pytest.mark.parametrize(
    "metric", [Bleu(order=2), Gleu(order=2, iterations=7), Gleu(order=2, multi="max")], ids=["bleu", "sample", "max"]
)
@pytest.mark.parametrize(("samples", "seed"), [(1, 0), (200, 12345)])
def test_bootstrap_is_a_literal_loop(metric: Metric, samples: int, seed: int) -> None:
    """Of GLEU it chooses references, too."""
    rows = collected(metric)
    found = bootstrap_scores(rows, metric, samples, seed)
    expected = literal_bootstrap(rows, metric, samples, seed)
    assert found.tolist() == [pytest.approx(scores, rel=0, abs=1e-9) for scores in expected]
    if samples > 1:
        assert len({round(score, 9) for scores in expected for score in scores}) > 12


def test_seeds_reproduce_and_leave_the_global_state_alone() -> None:
    np.random.seed(4)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # type: ignore[index,union-attr] # noqa: NPY002
    statistics = collected(Gleu(order=2, iterations=5))
    for test in ("bootstrap", "randomization"):
        how = SignificanceSettings(test, samples=50, trials=60, seed=9)  # type: ignore[arg-type]
        one, same = (compared(statistics, "copy", how) for _ in range(2))
        assert one.comparisons == same.comparisons
        assert np.array_equal(one.resampled, same.resampled)
        other = compared(statistics, "copy", replace(how, seed=10))
        assert not np.array_equal(one.resampled, other.resampled)
        assert "test-seed:9|" in one.signature
        assert f"test-test:{test}|test-samples:50|test-trials:60" in one.signature
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index,union-attr] # noqa: NPY002


def test_counts_beyond_single_precision_are_exact() -> None:
    """2^24 + 1 is the first whole number that single precision cannot hold."""
    big, metric = 2**24 + 1, Bleu(order=1, smooth="none")
    rows = [[[big, big, (big - 1) * SCALE, big], [big, big, (big - 2) * SCALE, big]]] * 2
    found = bootstrap_scores(statistics_of(rows), metric, 40, 1)
    possible = {100 * (2 * big - lost) / (2 * big) for lost in (2, 3, 4)}
    for score in found[0]:
        assert min(abs(score - value) for value in possible) < 1e-12
    assert len({float(score) for score in found[0]}) == 3
    # In a trial both systems keep their segment or exchange it: every difference equals the observed one.
    statistics = statistics_of([[[big, big, big * SCALE, big]], [[big, big, (big - 1) * SCALE, big]]])
    for as_sacrebleu, expected in ((False, 1.0), (True, 1 / 51)):
        p = approximate_randomization(statistics, metric, 50, 1, as_sacrebleu=as_sacrebleu)
        assert p[0, 1] == pytest.approx(expected)


def test_paired_bootstrap_is_a_literal_count() -> None:
    generator = np.random.default_rng(8)
    resampled = generator.normal([[30], [30.4], [35]], 1, size=(3, 200))
    scores = np.array([30.0, 30.4, 35.0])
    for as_sacrebleu in (False, True):
        found = resample.bootstrap_p_values(resampled - resampled[0], scores - scores[0], as_sacrebleu=as_sacrebleu)
        for system in (1, 2):
            differences = [a - b for a, b in zip(resampled[system].tolist(), resampled[0].tolist(), strict=True)]
            if as_sacrebleu:
                differences = [abs(each) for each in differences]
            apart = [each - sum(differences) / 200 for each in differences]
            observed = abs(scores[system] - scores[0])
            count = sum((each if as_sacrebleu else abs(each)) > observed for each in apart)
            assert found[system] == pytest.approx((count + 1) / 201)
        assert found[1] > 0.2
        assert found[2] == pytest.approx(1 / 201)


def test_randomization_is_a_literal_loop() -> None:
    metric, trials = Bleu(order=2), 300
    statistics = collected(metric)
    rows = statistics.rows
    found = approximate_randomization(statistics, metric, trials, 6)
    theirs = approximate_randomization(statistics, metric, trials, 6, as_sacrebleu=True)
    for system, other in ((0, 1), (0, 2), (1, 2)):
        flips, count, greater = np.random.default_rng(6), 0, 0
        observed = abs(metric.score(rows[other].sum(axis=0)).score - metric.score(rows[system].sum(axis=0)).score)
        for _ in range(trials):
            swapped = flips.integers(2, size=5).astype(bool)[:, None]
            both = np.where(swapped, rows[system], rows[other]), np.where(swapped, rows[other], rows[system])
            one, two = (metric.score(each.sum(axis=0)).score for each in both)
            count += abs(one - two) >= observed - 1e-9
            greater += abs(one - two) > observed + 1e-12
        assert found[system, other] == pytest.approx((count + 1) / (trials + 1), abs=1e-12)
        assert theirs[system, other] == pytest.approx((greater + 1) / (trials + 1), abs=1e-12)
    assert 0.02 < found[0, 2] < 0.98


def null_rows(generator: np.random.Generator, systems: int, segments: int) -> Any:
    """Rows of equally good systems: the same segments are hard for all, and each has its luck."""
    hard, length = generator.normal(0, 0.8, segments), generator.integers(8, 40, segments)
    rows = []
    for _ in range(systems):
        own = np.maximum(4, length + generator.integers(-3, 4, segments))
        chance = 1 / (1 + np.exp(-hard - generator.normal(0, 0.8, segments)))
        matched = [generator.binomial(own, chance)]
        for _ in range(3):
            matched.append(generator.binomial(np.maximum(matched[-1] - 1, 0), chance))
        matches, totals = (np.stack(matched) * SCALE, [own - order for order in range(4)])
        rows.append(np.column_stack([own, length, *matches, *totals]))
    return rows


def null_p_values(test: str, compatible: bool, systems: int, seed: int) -> Any:
    """p-values of all pairs of equally good systems of 100 segments."""
    statistics, metric = statistics_of(null_rows(np.random.default_rng(seed), systems, 100)), Bleu()
    if test == "randomization":
        return approximate_randomization(statistics, metric, 400, seed, as_sacrebleu=compatible)
    resampled = bootstrap_scores(statistics, metric, 400, seed)
    scores = np.array([metric.score(rows.sum(axis=0)).score for rows in statistics.rows])
    apart = resampled[:, None] - resampled, scores[:, None] - scores
    return resample.bootstrap_p_values(*apart, as_sacrebleu=compatible)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "compatible", "low", "high"),
    [("randomization", False, 0.03, 0.07), ("bootstrap", False, 0.03, 0.07), ("bootstrap", True, 0.1, 0.16)],
)
def test_false_alarms_between_equal_systems(test: str, compatible: bool, low: float, high: float) -> None:
    """Of 1,000 pairs at .05, and of 300 families of 10 pairs after Holm; sacrebleu's bootstrap raises more."""
    found = np.array([null_p_values(test, compatible, 2, seed)[0, 1] for seed in range(1000)])
    assert low <= (found < 0.05).mean() <= high
    families = [null_p_values(test, compatible, 5, seed)[np.triu_indices(5, 1)].tolist() for seed in range(300)]
    alarms = np.mean([min(resample.correct(each, "holm")) < 0.05 for each in families])
    assert compatible or alarms <= 0.07


@cache
def wmt13() -> tuple[dict[str, list[str]], list[str]]:
    folder = shared("data", "wmt13-de-en")
    files = [*(f"system-outputs/{name}.txt" for name in NAMES), "reference.en"]
    *systems, reference = ((folder / name).read_text(encoding="utf-8").split("\n")[:-1] for name in files)
    return dict(zip(NAMES, systems, strict=True)), reference


@pytest.mark.slow
def test_verdicts_are_those_of_sacrebleu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    (systems, reference), samples = wmt13(), 2000
    theirs = {"BLEU": BLEU(tokenize="none", force=True)}
    _, scores = PairedTest(list(systems.items()), theirs, [reference], test_type="ar", n_samples=samples)()
    how = SignificanceSettings("randomization", trials=samples, seed=11)
    table = compare_corpus(Segments.of(systems, reference), UNTOKENIZED, baseline=NAMES[0], significance=how)
    assert scores["System"] == [row.name for row in table.comparisons]
    verdicts = set()
    for their, ours in zip(scores["BLEU"], table.comparisons, strict=True):
        assert ours.score == pytest.approx(their.score, rel=0, abs=1e-9)
        if ours.name == NAMES[0]:
            assert ours.p_value is None
            continue
        p = their.p_value
        assert abs(ours.p_value - p) <= 4 * math.sqrt(p * (1 - p) / samples) + 0.01
        if abs(p - 0.05) > CLEAR:
            assert (ours.p_value < 0.05) == (p < 0.05)
            verdicts.add(p < 0.05)
    assert verdicts == {True, False}


def test_same_seed_draws_the_bootstrap_of_sacrebleu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    systems, reference = wmt13()
    few = {name: systems[name] for name in NAMES[:3]}
    theirs = {"BLEU": BLEU(tokenize="none", force=True)}
    _, scores = PairedTest(list(few.items()), theirs, [reference], "bs", n_samples=200)()
    how = SignificanceSettings("bootstrap", samples=200, compatible="sacrebleu")
    table = compare_corpus(Segments.of(few, reference), UNTOKENIZED, significance=how)
    for their, ours in zip(scores["BLEU"], table.comparisons, strict=True):
        assert ours.mean == pytest.approx(their.mean, rel=0, abs=1e-4)
        assert ours is table.comparisons[0] or ours.p_value == pytest.approx(their.p_value, abs=1.5 / 201)


@pytest.mark.parametrize("metric", [Bleu(), Gleu(order=2, iterations=20), Gleu(order=2, multi="max")])
@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_identical_systems_are_no_different(metric: Metric, test: Any) -> None:
    systems = {"one": SYSTEMS["half"], "twin": SYSTEMS["half"], "good": SYSTEMS["good"]}
    statistics = collected(metric, systems)
    table = compared(statistics, "one", SignificanceSettings(test, 200, 200))
    one, twin, good = table.comparisons
    assert (one.p_value, twin.p_value) == (None, 1.0)
    assert (one.rank, twin.rank, good.rank) == (2, 2, 1)
    assert (one.score, one.mean, one.interval) == (twin.score, twin.mean, twin.interval)
    assert np.array_equal(table.resampled[0], table.resampled[1])


@pytest.mark.parametrize(("metric", "sign"), [("bleu", 1), ("ter", -1)])
def test_pairs_are_what_segments_and_samples_say(metric: str, sign: int) -> None:
    """All that is said of a pair, word by word from the definitions; less is better for TER."""
    systems, reference = wmt13()
    few = {name: systems[name][:60] for name in NAMES[:4]}
    corpus = Segments.of(few, reference[:60])
    table = compare_corpus(corpus, metric, significance=SignificanceSettings(samples=150))
    results = score_corpus(corpus, metric, level="segment")
    segments = {each.name: [one.score for one in each.segments] for each in results}
    scores = {row.name: row.score for row in table.comparisons}
    ranks = [1 + sum(sign * other > sign * own for other in scores.values()) for own in scores.values()]
    assert [row.rank for row in table.comparisons] == ranks
    resampled = dict(zip(few, table.resampled.tolist(), strict=True))
    names = [(one, other) for place, one in enumerate(few) for other in list(few)[:place]]
    assert [(pair.name, pair.other) for pair in table.pairs] == names
    for pair in table.pairs:
        apart = [a - b for a, b in zip(segments[pair.name], segments[pair.other], strict=True)]
        assert pair.wins == sum(sign * each > 1e-9 for each in apart)
        assert pair.losses == sum(sign * each < -1e-9 for each in apart)
        assert pair.wins + pair.ties + pair.losses == 60
        assert pair.effect == pytest.approx(statistics_module.mean(apart) / statistics_module.stdev(apart))
        assert pair.difference == scores[pair.name] - scores[pair.other]
        drawn = [a - b for a, b in zip(resampled[pair.name], resampled[pair.other], strict=True)]
        assert pair.interval == tuple(np.percentile(drawn, [2.5, 97.5]))
        assert table.pair(pair.other, pair.name).wins == pair.losses
        assert table.pair(pair.other, pair.name).interval == (-pair.interval[1], -pair.interval[0])
    for row in table.comparisons[1:]:
        pair = table.pair(row.name, NAMES[0])
        assert row.p_value == pair.p_value
        assert {**row.beside, "corrected": 0} == {**pair, "corrected": 0}
    # Step by step: the least p-value of m counts m times, the next m - 1 times, none less than the one before.
    for tests in (table.pairs, [row.beside for row in table.comparisons[1:]]):
        least = 0.0
        for left, pair in zip(range(len(tests), 0, -1), sorted(tests, key=lambda pair: pair.p_value), strict=True):
            least = max(least, min(1.0, left * pair.p_value))
            assert pair.corrected == pytest.approx(least)


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_pairs_of_many_systems_are_tested_when_asked(test: Any) -> None:
    """Otherwise those with the baseline, of which nothing changes but what they are corrected for.

    Ranges of ranks are those of the samples; two of the systems are the same.
    """
    statistics, steps = random_statistics(Bleu(order=2), 15, [1] * 40), list[tuple[int, int]]()
    statistics = replace(statistics, rows=statistics.rows[[0, 0, *range(2, 15)], :, : 2 + 2 * 2])
    how = SignificanceSettings(test, samples=300, trials=300)
    few = compared(statistics, "s3", how, lambda *step: steps.append(step))
    every = compared(statistics, "s3", replace(how, all_pairs=True))
    assert few.comparisons == every.comparisons
    assert few.signature == every.signature
    samples = few.resampled.T.tolist()
    for place, row in enumerate(few.comparisons):
        ranks = sorted(1 + sum(other > each[place] for other in each) for each in samples)
        assert row.ranks == (ranks[8], ranks[291])
    assert (few.pairs, len(every.pairs)) == ([row.beside for row in few.comparisons if row.beside], 105)
    assert few.pair("s3", "s9").difference == every.pair("s3", "s9").difference
    refused(InputError, "all_pairs=True", lambda: few.pair("s4", "s9"))
    assert {total for _, total in steps} == {300}
    assert steps.count((300, 300)) == (1 if test == "bootstrap" else 2)


def test_false_discovery_rate() -> None:
    """The k-th of m p-values times m / k, none greater than one that comes later."""
    values = [0.01, 0.04, 0.03, 0.5]
    assert resample.correct(values, "fdr") == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])
    assert resample.correct([], "fdr") == []


@pytest.mark.parametrize(
    "measure",
    ["bleu", "chrf", "ter", "gleu(multi=max)", "gleu(multi=mean)", "gleu", "gleu(variant=gleu0)", "imeasure"],
)
def test_numbers_of_segments_are_their_scores(measure: str) -> None:
    corpus = Segments.of(SYSTEMS, REFERENCES, SOURCE)
    (statistics,) = collect_statistics(corpus, [read_metric(measure)], keep_rows=True)
    expected = [[each.score for each in one.segments] for one in score_corpus(corpus, measure, level="segment")]
    assert segment_numbers(statistics) == pytest.approx(np.array(expected), rel=1e-12)


def random_statistics(metric: Any, systems: int, counts: list[int]) -> Statistics:
    """Random rows, lengths first."""
    rows = np.random.default_rng(4).integers(1, 40, size=(systems, sum(counts), 2 + 3 * metric.order))
    statistics = statistics_of(rows, metric)
    return replace(statistics, counts=np.array(counts), references=(min(counts), max(counts)))


@pytest.mark.parametrize("multi", ["sample", "max"])
def test_pieces_change_no_digit(monkeypatch: pytest.MonkeyPatch, multi: Any) -> None:
    """Whether draws and rows are kept or made anew, and however many are looked at together."""
    metric = Gleu(order=2, iterations=7, multi=multi)
    statistics = random_statistics(metric, 3, [2, 2, 1, 3, 2] * 5)
    statistics.rows[:, :, 2:4] *= 1_000_000

    def numbers() -> list[Any]:
        resampling.ReferenceDraws.shared.cache_clear()
        return [
            [metric.aggregation.score(rows, statistics.offsets) for rows in statistics.rows],
            bootstrap_scores(statistics, metric, 30, 3).tolist(),
            approximate_randomization(statistics, metric, 40, 3)[0].tolist(),
        ]

    whole = numbers()
    assert len(set(whole[1][0])) == 30
    for limit, small in (("_MOST_KEPT", 0), ("_MOST_CONVERTED", 0), ("_SEGMENTS", 8), ("_ITERATIONS", 3)):
        monkeypatch.setattr(resampling, limit, small)
        assert numbers() == whole
    monkeypatch.setattr(resample, "_CELLS", 60)
    assert numbers() == whole


@pytest.mark.slow
def test_draws_take_a_bit_each_and_memory_of_a_great_corpus_is_that_of_its_rows() -> None:
    counts, metric = np.full(100_000, 2), Gleu()
    statistics = random_statistics(metric, 1, [2] * 30_000)
    resampling.ReferenceDraws.shared.cache_clear()
    tracemalloc.start()
    kept, endless = (resampling.ReferenceDraws(counts, iterations, 0) for iterations in (100, 1_000_000))
    held = tracemalloc.get_traced_memory()[0]
    metric.aggregation.score(statistics.rows[0], statistics.offsets)
    peak = tracemalloc.get_traced_memory()[1] - held
    tracemalloc.stop()
    assert held < 100_000 * 100 / 8 + 10_000
    assert peak < 20e6
    assert np.array_equal(kept.bits(5, 9), endless.bits(5, 9))
    assert np.array_equal(kept.bits(105, 109), kept.bits(5, 9))


def test_seeds_of_all_draws_fit_the_generator() -> None:
    most = (1 << 32) - 101 * 5
    assert Gleu(iterations=5, seed=most - 1).seed == most - 1
    refused(InputError, f"not {most}$", Gleu, iterations=5, seed=most)


@pytest.mark.parametrize("systems", [3, 14])
def test_the_truly_best_is_seldom_told_apart_from_the_best(systems: int) -> None:
    """Of systems of which one is better by half an error than the others, tested beside the one that scores best."""
    generator, left_out = np.random.default_rng(7), 0
    for scores in generator.normal([0.5] + [0.0] * (systems - 1), size=(2000, systems)):
        others = np.delete(scores, scores.argmax())
        p_values = [math.erfc((scores.max() - other) / 2) for other in others]  # Of z, whose errors are √2
        left_out += scores[0] < scores.max() and resample.correct(p_values, "holm")[0] < 0.05
    assert 0 < left_out / 2000 < 0.05
