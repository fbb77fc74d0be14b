"""M2 and I-measure on CoNLL-2014 equal the official programs' numbers and the published ones."""

from __future__ import annotations

import csv
import gzip
import json
import os
import resource
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from complete import complete
from shared_data import shared

from softbleu.cli.app import run
from softbleu.corpora import ParallelFiles, read_m2
from softbleu.metrics import M2, IMeasure
from softbleu.results import Result, Statistics, collect_statistics, make_results

SYSTEMS = ("AMU", "CAMB", "IITB", "INPUT")
SEGMENTS = 1312
METRICS = {"m2": M2(), "imeasure": IMeasure()}
CPU_SECONDS = {"m2": 5, "imeasure": 10}
SLACK = 3
"""Test machines are slower, and shared."""


def files() -> tuple[list[str], str]:
    folder = shared("data", "conll14")
    return [str(path) for path in sorted((folder / "systems").iterdir())], str(folder / "gold.m2")


def table(path: Path) -> list[dict[str, str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))


@cache
def statistics(name: str) -> Statistics:
    systems, gold = files()
    with ParallelFiles.open(systems, [], gold=gold) as corpus:
        return collect_statistics(corpus, [complete(METRICS[name])], keep_rows=True)[0]


@cache
def results(name: str, annotators: str = "running") -> dict[str, Result]:
    metric = METRICS[name] if name == "imeasure" else M2(annotators=annotators)
    found = replace(statistics(name), measure=complete(metric))
    return {result.name: result for result in make_results(found, "segment")}


def published(name: str, kind: str) -> list[list[str]]:
    path = shared("data", "conll14", "published", f"{name}.{kind}.tsv{'.gz' if kind == 'sentence' else ''}")
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [line.split("\t")[3:] for line in data.decode().splitlines()]


# M2


def test_m2_counts_and_ratios_are_those_of_the_official_scorer():
    rows = table(shared("expected", "conll14", "m2.tsv"))
    assert [row["system"] for row in rows] == list(SYSTEMS)
    for row in rows:
        score = results("m2")[row["system"]].numbers
        assert [score.correct, score.proposed, score.gold] == [int(row[k]) for k in ("correct", "proposed", "gold")]
        expected = [100 * float(row[key]) for key in ("F0.5", "P", "R")]
        assert [score.score, score.precision, score.recall] == pytest.approx(expected, rel=0, abs=1e-10)


def test_m2_counts_of_every_segment_and_its_annotator_are_those_of_the_official_scorer():
    rows = table(shared("expected", "conll14", "m2.segments.tsv"))
    assert len(rows) == SEGMENTS
    for system in SYSTEMS:
        segments = results("m2")[system].segments
        found = [f"{one.annotator},{one.correct},{one.proposed},{one.gold}" for one in segments]
        assert found == [row[system] for row in rows]


def test_all_thirteen_published_m2_scores():
    found = {name: f"{result.score / 100:.4f}" for name, result in results("m2").items()}
    assert len(found) == 13
    assert found == {system: f"{float(score):.4f}" for system, score in published("m2score", "system")}


def test_published_m2_scores_of_segments_are_those_of_the_last_annotators():
    """Not of those that are best for the segment, though for each segment the scorer was run by itself."""
    rows = published("m2score", "sentence")
    assert len(rows) == 13 * SEGMENTS
    found = {name: result.segments for name, result in results("m2", "last").items()}
    different = [
        (system, segment, score, found[system][int(segment)].score)
        for system, segment, score in rows
        if abs(found[system][int(segment)].score / 100 - float(score)) > 0.5e-4
    ]
    assert different == []


def test_the_order_free_choice_is_close_to_the_running_one_but_not_the_same():
    running, best = results("m2"), results("m2", "best")
    differences = [running[name].score - best[name].score for name in running]
    assert 1 <= sum(abs(difference) > 1e-9 for difference in differences) < 13
    assert max(map(abs, differences)) < 0.5


# I-measure


def test_imeasure_counts_and_ratios_are_those_of_the_official_program():
    rows = table(shared("expected", "conll14", "imeasure.tsv"))
    assert [row["system"] for row in rows] == list(SYSTEMS)
    for row in rows:
        score = results("imeasure")[row["system"]].numbers
        counts = [
            score.true_positives,
            score.true_negatives,
            score.false_positives,
            score.false_negatives,
            score.both,
        ]
        assert counts == [int(row[key]) for key in ("tp", "tn", "fp", "fn", "fpn")]
        found = [score.score, score.precision, score.recall, score.f1, score.accuracy, score.weighted_accuracy]
        found.append(score.baseline_weighted_accuracy)
        expected = [100 * float(row[key]) for key in ("I", "P", "R", "F1", "Acc", "WAcc", "WAcc_base")]
        assert found == pytest.approx(expected, rel=0, abs=1e-10)


def test_imeasure_of_every_segment_is_that_of_the_official_program():
    rows = table(shared("expected", "conll14", "imeasure.segments.tsv"))
    assert len(rows) == SEGMENTS
    for system in SYSTEMS:
        found = [one.score for one in results("imeasure")[system].segments]
        assert found == pytest.approx([float(row[system]) for row in rows], rel=0, abs=0.5e-2 + 1e-9)


def test_all_thirteen_published_imeasures():
    found = {name: round(result.score, 2) for name, result in results("imeasure").items()}
    assert len(found) == 13
    assert found == {system: float(score) for system, score in published("imeasure", "system")}


def test_all_published_imeasures_of_segments():
    rows = published("imeasure", "sentence")
    assert len(rows) == 13 * SEGMENTS
    found = {name: result.segments for name, result in results("imeasure").items()}
    different = [
        (system, segment, score, found[system][int(segment)].score)
        for system, segment, score in rows
        if abs(found[system][int(segment)].score - float(score)) > 0.5e-2 + 1e-9
    ]
    assert different == []


def test_what_the_sources_references_say_is_the_same_for_all_systems():
    """The system that changes nothing has the counts of every baseline."""
    score = results("imeasure")["INPUT"].numbers
    assert (score.true_negatives, score.false_negatives, score.score) == (28164, 2528, 0.0)
    assert score.weighted_accuracy == score.baseline_weighted_accuracy == pytest.approx(91.7633259481298, abs=1e-9)


# the whole program


def run_program(*arguments: str, **environment: str) -> tuple[Any, float]:
    """Run the command line; what it writes as JSON, and the processor time that it takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "softbleu", *arguments, "--format", "json"]
    done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, **environment})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout), spent


@pytest.mark.parametrize("name", METRICS)
def test_all_systems_on_the_command_line_in_seconds(name: str):
    systems, gold = files()
    arguments = [word for path in systems for word in ("-c", path)]
    found, spent = run_program("score", "--metric", name, "--gold", gold, *arguments, "--quiet")
    expected = {system: result.numbers.as_dict() for system, result in results(name).items()}
    for system in found["systems"]:
        assert {key: system[key] for key in expected[system["name"]]} == expected[system["name"]]
    assert len(found["systems"]) == 13
    assert spent < SLACK * CPU_SECONDS[name]


@pytest.mark.parametrize("name", METRICS)
def test_jobs_do_not_change_a_digit(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    count = 250
    for module in ("corpora.segments", "corpora.parallel", "engine.runner"):
        monkeypatch.setattr(f"softbleu.{module}.BLOCK", 100)
    systems, gold = files()
    entries = Path(gold).read_text(encoding="utf-8").split("\n\n")
    (tmp_path / "gold.m2").write_text("\n\n".join(entries[:count]) + "\n", encoding="utf-8")
    arguments = ["score", "--metric", name, "--gold", str(tmp_path / "gold.m2"), "--level", "segment", "-f", "json"]
    for place in map(Path, (systems[0], systems[9])):
        (tmp_path / place.name).write_bytes(b"".join(place.read_bytes().splitlines(keepends=True)[:count]))
        arguments += ["-c", str(tmp_path / place.name)]

    def scored(*more: str) -> Any:
        assert run([*arguments, *more]) == 0
        return json.loads(capsys.readouterr().out)

    alone = scored()
    assert scored("--jobs", "2") == alone
    for system in alone["systems"]:
        whole = [segment.score for segment in results(name)[system["name"]].segments]
        assert [segment["score"] for segment in system["segments"]] == whole[:count]


def test_compare_on_the_command_line():
    systems, gold = files()
    arguments = ["compare", "--metric", "m2", "--gold", gold, "-c", systems[0], "-c", systems[1], "--samples", "200"]
    found, _ = run_program(*arguments)
    first, second = found["systems"]
    assert (first["name"], second["name"]) == ("AMU", "CAMB")
    assert first["score"] == results("m2")["AMU"].score
    for system in (first, second):
        low, high = system["interval"]
        assert low < system["score"] < high
        assert high - low < 8
    assert second["p_value"] < 0.1


def test_gold_edits_make_the_published_references_where_there_are_two():
    """Elsewhere the published files have the source for an annotator who has no line."""
    _, gold = files()
    published = [
        (shared("data", "conll14", f"ref{number}.txt").read_text(encoding="utf-8").splitlines())
        for number in range(2)
    ]
    segments = read_m2(gold)
    both = [number for number, segment in enumerate(segments) if len(segment.annotations) == 2]
    assert (len(segments), len(both)) == (SEGMENTS, 1088)
    same = [
        segments[number].references()[annotator].split() == published[annotator][number].split()
        for number in both
        for annotator in range(2)
    ]
    assert np.mean(same) > 0.97
