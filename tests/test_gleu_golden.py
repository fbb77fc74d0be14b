"""GLEU on CoNLL-2014 equals the official programs' numbers and the published ones."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from complete import complete
from shared_data import shared

from softbleu.cli.app import run
from softbleu.corpora import ParallelFiles
from softbleu.metrics import Level
from softbleu.metrics.gleu import Gleu, GleuScore
from softbleu.metrics.making import make_metric
from softbleu.results import Result, Statistics, collect_statistics, make_results, score_corpus

CORPUS = ("data", "conll14")
EXPECTED = ("expected", "conll14")
SYSTEMS = ("AMU", "CAMB", "IITB", "INPUT")
SEGMENTS = 1312
TEN_DECIMALS = 0.5e-10
GOLDEN = json.loads((Path(__file__).parent / "golden" / "gleu.json").read_text(encoding="utf-8"))


def rows_of(path: Path) -> list[dict[str, str]]:
    """Rows of a table whose first lines may be comments."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))


def expected_scores(name: str) -> dict[str, float]:
    return {row["system"]: float(row["score"]) for row in rows_of(shared(*EXPECTED, name))}


def expected_segments(name: str) -> dict[str, list[float]]:
    rows = rows_of(shared(*EXPECTED, name))
    return {system: [float(row[system]) for row in rows] for system in SYSTEMS}


def all_files() -> tuple[list[Path], list[Path], Path]:
    folder = shared(*CORPUS)
    systems = sorted((folder / "systems").iterdir())
    return systems, [folder / "ref0.txt", folder / "ref1.txt"], folder / "source.txt"


@cache
def statistics() -> Statistics:
    """Statistics of all 13 systems, which every score here is made of."""
    systems, references, source = all_files()
    with ParallelFiles.open(list(map(str, systems)), list(map(str, references)), str(source)) as corpus:
        return collect_statistics(corpus, [complete(Gleu())], keep_rows=True)[0]


def results_of(metric: Gleu, level: Level = "corpus") -> list[Result]:
    return make_results(replace(statistics(), measure=complete(metric)), level)


@cache
def corpus_scores(multi: str) -> dict[str, GleuScore]:
    results = results_of(Gleu(multi=multi))
    return {result.name: result.numbers for result in results if isinstance(result.numbers, GleuScore)}


@cache
def macro_scores(multi: str) -> dict[str, float]:
    return {result.name: result.score for result in results_of(Gleu(multi=multi), "macro")}


@cache
def segment_scores(multi: str, *, smooth: bool = False) -> dict[str, list[float]]:
    results = results_of(Gleu(multi=multi, segment_smoothing=smooth), "segment")
    return {result.name: [score.score for score in result.segments or ()] for result in results}


def test_sampled_scores_to_ten_decimals():
    expected = expected_scores("gleu.sample500.tsv")
    assert set(expected) == set(SYSTEMS)
    found = {name: corpus_scores("sample")[name].score for name in SYSTEMS}
    assert found == pytest.approx(expected, rel=0, abs=TEN_DECIMALS)


def test_sampled_means_and_deviations_are_those_of_the_official_program():
    rows = rows_of(shared(*EXPECTED, "gleu.sample500.std.tsv"))
    assert {row["system"] for row in rows} == set(SYSTEMS)
    for row in rows:
        score = corpus_scores("sample")[row["system"]]
        assert score.score == pytest.approx(100 * float(row["mean"]), rel=0, abs=TEN_DECIMALS)
        assert score.standard_deviation == pytest.approx(100 * float(row["std"]), rel=0, abs=TEN_DECIMALS)
        margin = 1.959963984540054 * 100 * float(row["std"])
        expected = (100 * float(row["mean"]) - margin, 100 * float(row["mean"]) + margin)
        assert score.interval == pytest.approx(expected, rel=0, abs=1e-9)


@pytest.mark.parametrize(
    ("file", "scores"),
    [
        ("gleu.max.tsv", lambda: {name: score.score for name, score in corpus_scores("max").items()}),
        ("gleu.macro.mean.tsv", lambda: macro_scores("mean")),
        ("gleu.macro.max.tsv", lambda: macro_scores("max")),
    ],
    ids=["max", "macro mean", "macro max"],
)
def test_other_scores_to_ten_decimals(file: str, scores: Callable[[], dict[str, float]]):
    expected = expected_scores(file)
    assert set(expected) == set(SYSTEMS)
    found = {name: scores()[name] for name in SYSTEMS}
    assert found == pytest.approx(expected, rel=0, abs=TEN_DECIMALS)


@pytest.mark.parametrize("multi", ["mean", "max"])
def test_every_segment_to_ten_decimals(multi: str):
    expected = expected_segments(f"gleu.segment.{multi}.tsv")
    for system in SYSTEMS:
        assert len(expected[system]) == SEGMENTS
        assert segment_scores(multi)[system] == pytest.approx(expected[system], rel=0, abs=TEN_DECIMALS)


def test_all_thirteen_published_system_scores():
    lines = shared(*CORPUS, "published", "gleu.system.tsv").read_text(encoding="utf-8").splitlines()
    published = {system: score for _, _, _, system, score in (line.split("\t") for line in lines)}
    assert len(published) == 13
    found = {name: f"{score.score / 100:.4f}" for name, score in corpus_scores("sample").items()}
    assert found == published


def test_all_published_segment_scores():
    """They have the official segment smoothing and are the means over both references."""
    path = shared(*CORPUS, "published", "gleu.sentence.tsv.gz")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        published = [(row[3], int(row[4]), row[5]) for row in csv.reader(file, delimiter="\t")]
    assert len(published) == 13 * SEGMENTS
    found = segment_scores("mean", smooth=True)
    different = [
        (system, segment, score, found[system][segment])
        for system, segment, score in published
        if f"{found[system][segment] / 100:.4f}" != score
    ]
    assert different == []
    assert {(system, segment) for system, segment, _ in published} == {
        (system, segment) for system in found for segment in range(SEGMENTS)
    }


def test_smoothing_is_what_the_published_segments_need():
    plain, smoothed = segment_scores("mean")["INPUT"], segment_scores("mean", smooth=True)["INPUT"]
    assert sum(f"{a:.2f}" != f"{b:.2f}" for a, b in zip(plain, smoothed, strict=True)) > 100


def test_counts_of_the_best_references():
    score = corpus_scores("max")["AMU"]
    golden = GOLDEN["best_reference"]["AMU"]
    assert score.numerators == golden["numerators"]
    assert score.totals == golden["totals"]
    assert [match - penalty for match, penalty in zip(score.matches, score.penalties, strict=True)] == (
        golden["numerators"]
    )


def test_other_samples_give_other_scores():
    """The official seeds are what makes the digits the same."""
    other = results_of(Gleu(seed=1))[0].numbers
    assert isinstance(other, GleuScore)
    official = corpus_scores("sample")["AMU"]
    assert 1e-6 < abs(other.score - official.score) < 0.1
    fewer = results_of(Gleu(iterations=20))[0].numbers
    assert 1e-6 < abs(fewer.score - official.score) < 0.5


def test_expected_sample_is_near_the_exact_expectation_of_its_counts():
    """Over very many samples the mean counts are the means over the references."""
    rows, offsets = statistics().rows[0], statistics().offsets
    pooled = Gleu(multi="mean").aggregation.pooled(rows, offsets)
    sampled = corpus_scores("sample")["AMU"]
    assert sampled.matches == pytest.approx(pooled.matches, rel=2e-3)
    assert sampled.score == pytest.approx(pooled.score, rel=0, abs=0.1)


def test_copying_the_input_scores_far_above_zero():
    """Table 4 of Chollampatt & Ng (2018): GLEU does, where M2 gives 0."""
    scores = {name: score.score for name, score in corpus_scores("sample").items()}
    assert scores["INPUT"] > 57
    assert sum(score < scores["INPUT"] for score in scores.values()) >= 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_command_line_prints_the_same_numbers(capsys: pytest.CaptureFixture[str], jobs: int):
    systems, references, source = all_files()
    arguments = ["score", "--metric", "gleu", "--source", str(source), "--format", "json", "--jobs", str(jobs)]
    arguments += [word for path in systems for word in ("-c", str(path))]
    arguments += [word for path in references for word in ("-r", str(path))]
    assert run(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert [system["name"] for system in found["systems"]] == [path.stem for path in systems]
    for system in found["systems"]:
        expected = corpus_scores("sample")[system["name"]].as_dict()
        expected["interval"] = list(expected["interval"])
        assert {name: system[name] for name in expected} == expected
    official = expected_scores("gleu.sample500.tsv")
    scores = {system["name"]: system["score"] for system in found["systems"]}
    assert {name: scores[name] for name in SYSTEMS} == pytest.approx(official, rel=0, abs=TEN_DECIMALS)


def test_command_line_has_the_published_segments(capsys: pytest.CaptureFixture[str]):
    systems, references, source = all_files()
    arguments = ["score", "--metric", "gleu", "--source", str(source), "--format", "jsonl", "--level", "segment"]
    arguments += ["--segment-smoothing", "-c", str(systems[0])]
    arguments += [word for path in references for word in ("-r", str(path))]
    assert run(arguments) == 0
    entries = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [entry["segment"] for entry in entries] == list(range(1, SEGMENTS + 1))
    assert [entry["score"] for entry in entries] == segment_scores("mean", smooth=True)[systems[0].stem]


def test_other_variants_stay_what_they_were():
    """Not published anywhere: the oracle of this suite gave these numbers."""
    systems, references, source = all_files()
    for entry in GOLDEN["variants"]:
        with ParallelFiles.open([str(systems[0])], list(map(str, references)), str(source)) as corpus:
            (result,) = score_corpus(corpus, make_metric("gleu", **entry["settings"]))
        assert result.name == entry["system"]
        assert result.score == pytest.approx(entry["score"], rel=0, abs=TEN_DECIMALS)


def test_real_files_have_carriage_returns_and_blanks():
    """Two of the systems end lines with CR LF, some with blanks: their numbers are above all the same."""
    systems, _, _ = all_files()
    assert any(b"\r\n" in path.read_bytes() for path in systems)
    assert any(b" \n" in path.read_bytes() for path in systems)
    lengths = statistics().rows[:, :, 0]
    assert lengths.shape == (13, 2 * SEGMENTS)
    assert np.array_equal(lengths[:, ::2], lengths[:, 1::2])
