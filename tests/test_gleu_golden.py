"""GLEU on CoNLL-2014 equals the official programs' numbers and the published ones."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from complete import complete
from shared_data import expected_rows, published_rows, shared

from softbleu.corpora import ParallelFiles
from softbleu.engine.runner import collect_statistics
from softbleu.engine.statistics import Statistics, make_results
from softbleu.metrics import Level
from softbleu.metrics.gleu import Gleu, GleuScore
from softbleu.metrics.result import Result

# What one test counts, the next looks at.
pytestmark = pytest.mark.xdist_group("corrections")
FOUR = ("AMU", "CAMB", "IITB", "INPUT")
"""What the official programs were run on; two of the files end lines with CR LF, some with blanks."""
SEGMENTS = 1312
TEN_DECIMALS = 0.5e-10
GOLDEN = json.loads((Path(__file__).parent / "golden" / "gleu.json").read_text(encoding="utf-8"))


def files(*names: str) -> tuple[list[str], list[str], str]:
    folder = shared("data", "conll14")
    systems = [str(path) for path in sorted((folder / "systems").iterdir()) if not names or path.stem in names]
    return systems, [str(folder / "ref0.txt"), str(folder / "ref1.txt")], str(folder / "source.txt")


@cache
def statistics(*names: str) -> Statistics:
    """What every score here is made of."""
    with ParallelFiles.open(*files(*names)) as corpus:
        return collect_statistics(corpus, [complete(Gleu())], keep_rows=True)[0]


@cache
def results(metric: Gleu, level: Level = "corpus", names: tuple[str, ...] = FOUR) -> dict[str, Result]:
    found = make_results(replace(statistics(*names), metric=complete(metric)), level)
    return {result.name: result for result in found}


def numbers(metric: Gleu, name: str = "AMU") -> GleuScore:
    found = results(metric)[name].numbers
    assert isinstance(found, GleuScore)
    return found


def segments(metric: Gleu, name: str, names: tuple[str, ...] = FOUR) -> list[float]:
    return [score.score for score in results(metric, "segment", names)[name].segments or ()]


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
    for name in FOUR:
        expected = [float(row[name]) for row in rows]
        assert segments(Gleu(multi=multi), name) == pytest.approx(expected, rel=0, abs=TEN_DECIMALS)


@pytest.mark.parametrize("names", [("AMU",), pytest.param((), marks=pytest.mark.slow)], ids=["AMU", "all"])
def test_published_segment_scores(names: tuple[str, ...]) -> None:
    """They have the official segment smoothing and are the means over both references."""
    rows = published_rows("gleu")
    smoothed, plain = (Gleu(multi="mean", segment_smoothing=each) for each in (True, False))
    count, unlike = 0, 0
    for name in results(smoothed, "segment", names):
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
    rows, offsets = statistics(*FOUR).rows[0], statistics(*FOUR).offsets
    pooled = Gleu(multi="mean").aggregation.pooled(rows, offsets)
    assert official.matches == pytest.approx(pooled.matches, rel=2e-3)
    assert official.score == pytest.approx(pooled.score, rel=0, abs=0.1)
