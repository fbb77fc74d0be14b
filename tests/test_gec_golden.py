"""M2, I-measure and GLEU on CoNLL-2014 equal the official programs' numbers and the published ones."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from complete import complete
from shared_data import expected_rows, published_rows, shared

from softbleu.corpora import ParallelFiles, Segments, read_m2
from softbleu.engine.runner import collect_statistics
from softbleu.engine.statistics import Statistics
from softbleu.metrics import Level
from softbleu.metrics.gleu import Gleu, GleuScore
from softbleu.metrics.imeasure import IMeasure
from softbleu.metrics.m2.metric import M2
from softbleu.metrics.result import Result

# What one test counts, the next looks at.
pytestmark = pytest.mark.xdist_group("corrections")
SYSTEMS = ("AMU", "CAMB", "IITB", "INPUT")
"""What the official programs were run on; two of the files end lines with CR LF, some with blanks."""
SEGMENTS = 1312
TEN_DECIMALS = 0.5e-10
GOLDEN = json.loads((Path(__file__).parent / "golden" / "gleu.json").read_text(encoding="utf-8"))
METRICS = {"m2": M2(), "m2, last": M2(annotators="last"), "imeasure": IMeasure()}
COUNTS = pytest.mark.parametrize("count", [30, pytest.param(SEGMENTS, marks=pytest.mark.slow)])


def outputs() -> dict[str, Path]:
    return {path.stem: path for path in sorted(shared("data", "conll14", "systems").iterdir())}


@cache
def statistics(name: str, count: int) -> Statistics:
    """Statistics of the first segments of all 13 systems."""
    texts = {system: path.read_bytes().decode().split("\n")[:count] for system, path in outputs().items()}
    systems = {system: [line.rstrip("\r") for line in text] for system, text in texts.items()}
    corpus = Segments.of_gold(systems, read_m2(str(shared("data", "conll14", "gold.m2")))[:count])
    return collect_statistics(corpus, [complete(METRICS[name])], keep_rows=True)[0]


@cache
def results(name: str, count: int) -> dict[str, Result]:
    found = replace(statistics(name.partition(",")[0], count), metric=complete(METRICS[name]))
    return {result.name: result for result in found.results("segment")}


def published_segments(name: str, count: int) -> Iterator[tuple[str, int, float]]:
    rows = published_rows(name)
    assert len(rows) == 13 * SEGMENTS
    return ((system, place, float(score)) for system, place, score in rows if place < count)


@COUNTS
def test_m2_counts_of_every_segment_and_its_annotator_are_those_of_the_official_scorer(count: int) -> None:
    rows = expected_rows("conll14", "m2.segments.tsv")
    assert len(rows) == SEGMENTS
    for system in SYSTEMS:
        segments = results("m2", count)[system].segments
        found = [f"{one.annotator},{one.correct},{one.proposed},{one.gold}" for one in segments]
        assert found == [row[system] for row in rows[:count]]


@COUNTS
def test_published_m2_scores_of_segments_are_those_of_the_last_annotators(count: int) -> None:
    """Not of those that are best for the segment, though for each segment the scorer was run by itself."""
    found = results("m2, last", count)
    for system, place, score in published_segments("m2score", count):
        assert found[system].segments[place].score / 100 == pytest.approx(score, abs=0.5e-4), (system, place)


@COUNTS
def test_imeasure_of_every_segment_is_that_of_the_official_program_and_the_published_one(count: int) -> None:
    rows, found = expected_rows("conll14", "imeasure.segments.tsv"), results("imeasure", count)
    for system in SYSTEMS:
        scores = [one.score for one in found[system].segments]
        assert scores == pytest.approx([float(row[system]) for row in rows[:count]], rel=0, abs=0.5e-2 + 1e-9)
    for system, place, score in published_segments("imeasure", count):
        assert found[system].segments[place].score == pytest.approx(score, abs=0.5e-2 + 1e-9), (system, place)


def test_ratios_are_those_of_the_official_programs() -> None:
    for row in expected_rows("conll14", "m2.tsv"):
        score = M2().score(np.array([int(row[name]) for name in ("correct", "proposed", "gold")]))
        expected = [100 * float(row[name]) for name in ("F0.5", "P", "R")]
        assert [score.score, score.precision, score.recall] == pytest.approx(expected, rel=0, abs=1e-10)
    rows = {row["system"]: row for row in expected_rows("conll14", "imeasure.tsv")}
    unchanged = [int(rows["INPUT"][name]) for name in ("tn", "fn")]
    for row in rows.values():
        counts = [int(row[name]) for name in ("tp", "tn", "fp", "fn", "fpn")]
        score = IMeasure().score(np.array([*counts, *unchanged]))
        found = [score.precision, score.recall, score.f1, score.accuracy, score.weighted_accuracy]
        expected = [100 * float(row[name]) for name in ("P", "R", "F1", "Acc", "WAcc")]
        assert found == pytest.approx(expected, rel=0, abs=1e-10)
        # What the source is worth is that of the best references, which differ by system.
        assert (row["system"] == "INPUT") == (score.score == 0 == float(row["I"]))


def test_gold_edits_make_the_published_references_where_there_are_two() -> None:
    """Elsewhere the published files have the source for an annotator who has no line."""
    texts = [shared("data", "conll14", f"ref{n}.txt").read_text(encoding="utf-8").splitlines() for n in range(2)]
    segments = read_m2(str(shared("data", "conll14", "gold.m2")))
    both = [number for number, segment in enumerate(segments) if len(segment.annotations) == 2]
    assert (len(segments), len(both)) == (SEGMENTS, 1088)
    made = [[text.split() for text in segments[number].references()] for number in both]
    published = [[text[number].split() for text in texts] for number in both]
    same = [one == other for pairs in zip(made, published, strict=True) for one, other in zip(*pairs, strict=True)]
    assert np.mean(same) > 0.97


@cache
def gleu_statistics(*names: str) -> Statistics:
    """What every score here is made of."""
    systems = [str(path) for system, path in outputs().items() if not names or system in names]
    *references, source = (str(shared("data", "conll14", f"{name}.txt")) for name in ("ref0", "ref1", "source"))
    with ParallelFiles.open(systems, references, source) as corpus:
        return collect_statistics(corpus, [complete(Gleu())], keep_rows=True)[0]


@cache
def gleu_results(metric: Gleu, level: Level = "corpus", names: tuple[str, ...] = SYSTEMS) -> dict[str, Result]:
    found = replace(gleu_statistics(*names), metric=complete(metric)).results(level)
    return {result.name: result for result in found}


def numbers(metric: Gleu, name: str = "AMU") -> GleuScore:
    found = gleu_results(metric)[name].numbers
    assert isinstance(found, GleuScore)
    return found


def segments(metric: Gleu, name: str, names: tuple[str, ...] = SYSTEMS) -> list[float]:
    return [score.score for score in gleu_results(metric, "segment", names)[name].segments or ()]


def test_sampled_means_and_deviations_are_those_of_the_official_program_under_both_pythons() -> None:
    for row in expected_rows("conll14", "gleu.sample500.std.tsv"):
        score, mean, deviation = numbers(Gleu(), row["system"]), 100 * float(row["mean"]), 100 * float(row["std"])
        assert (score.score, score.standard_deviation) == pytest.approx((mean, deviation), rel=0, abs=TEN_DECIMALS)
        margin = 1.959963984540054 * deviation
        assert score.interval == pytest.approx((mean - margin, mean + margin), rel=0, abs=1e-9)
    for name, expected in GOLDEN["sampled_python3"].items():
        assert numbers(Gleu(sampling="python3"), name).score == pytest.approx(expected, rel=0, abs=TEN_DECIMALS)


@pytest.mark.parametrize("multi", ["mean", "max"])
def test_every_segment_to_ten_decimals(multi: Any) -> None:
    rows = expected_rows("conll14", f"gleu.segment.{multi}.tsv")
    assert len(rows) == SEGMENTS
    for name in SYSTEMS:
        expected = [float(row[name]) for row in rows]
        assert segments(Gleu(multi=multi), name) == pytest.approx(expected, rel=0, abs=TEN_DECIMALS)


@pytest.mark.parametrize("names", [("AMU",), pytest.param((), marks=pytest.mark.slow)], ids=["AMU", "all"])
def test_published_segment_scores(names: tuple[str, ...]) -> None:
    """They have the official segment smoothing and are the means over both references."""
    rows = published_rows("gleu")
    smoothed, plain = (Gleu(multi="mean", segment_smoothing=each) for each in (True, False))
    count, unlike = 0, 0
    for name in gleu_results(smoothed, "segment", names):
        published = {place: score for system, place, score in rows if system == name}
        found = [f"{score / 100:.4f}" for score in segments(smoothed, name, names)]
        assert dict(enumerate(found)) == published
        count += len(found)
        unlike += sum(f"{score / 100:.4f}" != published[n] for n, score in enumerate(segments(plain, name, names)))
    assert count == SEGMENTS * (len(names) or 13)
    assert unlike > 100


def test_counts_of_the_best_references() -> None:
    score, golden = numbers(Gleu(multi="max")), GOLDEN["best_reference"]["AMU"]
    assert (score.numerators, score.totals) == (golden["numerators"], golden["totals"])
    left = [match - penalty for match, penalty in zip(score.matches, score.penalties, strict=True)]
    assert left == golden["numerators"]


def test_samples_are_those_of_the_official_seeds_and_near_the_expectation() -> None:
    """Over very many samples the mean counts are the means over the references."""
    official = numbers(Gleu())
    assert 1e-6 < abs(numbers(Gleu(seed=1)).score - official.score) < 0.1
    assert 1e-6 < abs(numbers(Gleu(iterations=20)).score - official.score) < 0.5
    rows, offsets = gleu_statistics(*SYSTEMS).rows[0], gleu_statistics(*SYSTEMS).offsets
    pooled = Gleu().score(Gleu(multi="mean").aggregation.summed(rows, offsets))
    assert official.matches == pytest.approx(pooled.matches, rel=2e-3)
    assert official.score == pytest.approx(pooled.score, rel=0, abs=0.1)
