"""`compare --scores` of human judgements: the table of a campaign, annotators, gaps, and which way is better."""

import csv
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from cli.conftest import Command
from shared_data import shared

ESA = "system\tsegment\tannotator\tesa\n"
TWO = ["A\t1\tann\t80", "A\t1\tbob\t60", "A\t2\tann\t50", "B\t1\tann\t40", "B\t1\tbob\t10", "B\t2\tann\t20"]
DA = "LP SYSTEM SID HUMAN\nx-y A+B 1 50\nx-y C 1 20\nx-y A 2 30\nx-y B+C 2 10\nx-y A 3 9\n"
MQM = "system\tseg_id\trater\ttarget\tcategory\tseverity\nA\t1\tr\tt\tx\tMinor\nB\t1\tr\tt\tx\tMajor\n"


def compared(command: Command, *arguments: object) -> tuple[dict[str, tuple[float, int, list[int]]], str]:
    """Score, rank and range of ranks of each system, and notes."""
    found = command("compare", "--scores", *arguments, "-f", "json")
    assert found.code == 0, found.err
    return {
        row["name"]: (row["score"], row["rank"], row["ranks"]) for row in json.loads(found.out)["systems"]
    }, found.err


def test_the_table_of_a_campaign_is_that_of_a_literal_twin(command: Command) -> None:
    path = shared("data", "wmt24-esa", "en-cs", "published.csv")
    judged = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for _, system, line, kind, _, _, score, document, *_ in csv.reader(file):
            if kind == "TGT" and not any(mark in document for mark in ("#bad", "#dup", "#incomplete", "-tutorial")):
                judged[system, int(line)].append(float(score))
    systems = list(dict.fromkeys(system for system, _ in judged))
    lines = [line for line in range(998) if all((system, line) in judged for system in systems)]
    scores = np.array([[sum(some) / len(some) for line in lines for some in [judged[s, line]]] for s in systems])
    means = scores.mean(axis=1)
    samples = np.random.default_rng(12345).integers(len(lines), size=(1000, len(lines)))
    drawn = np.array([scores[:, sample].mean(axis=1) for sample in samples])
    ranks = np.sort(1 + (drawn[:, None, :] > drawn[:, :, None]).sum(axis=2), axis=0)
    found, said = compared(command, path)
    assert list(found) == systems
    np.testing.assert_allclose([score for score, *_ in found.values()], means, rtol=1e-12)
    assert [rank for _, rank, _ in found.values()] == [1 + int((means > mean).sum()) for mean in means]
    assert [own for *_, own in found.values()] == ranks[[25, 974]].T.tolist()
    assert (len(systems), len(lines)) == (16, 297)
    assert "compared are the 297 segments that are judged of every system" in said
    assert "14 of 4,752 outputs have several judgements: the mean of each is taken; farthest apart are GPT-4 " in said
    assert "57 scores lie over 4 standard deviations from what system and segment lead to expect, farthest" in said


@pytest.mark.parametrize(
    ("name", "text", "scores", "best", "notes"),
    [
        ("esa.tsv", ESA + "\n".join(TWO), {"A": 60, "B": 22.5}, "A", "farthest apart are B segment 1 (10 and 40), A"),
        ("da.csv", DA, {"A": 40, "B": 30, "C": 15}, "A", "the 2 segments that are judged of every system, 1 more"),
        ("mqm.tsv", MQM, {"A": -1, "B": -5}, "A", ""),
        ("signed.tsv", "system segment mqm\nA 1 -5\nA 2 -1\nB 1 0\nB 2 -2\n", {"A": -3, "B": -1}, "B", ""),
        ("costs.tsv", "system segment mqm\nA 1 5\nA 2 0\nB 1 0\nB 2 0\n", {"A": 2.5, "B": 0}, "B", "lower is better"),
    ],
)
def test_means_of_annotators_gaps_and_directions(
    command: Command, tmp_path: Path, name: str, text: str, scores: dict[str, float], best: str, notes: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    found, said = compared(command, tmp_path / name)
    assert {system: score for system, (score, *_) in found.items()} == scores
    assert [system for system, (_, rank, _) in found.items() if rank == 1] == [best]
    assert notes in said
    assert "assuming" not in said


def test_annotators_are_kept_apart_where_each_judged_all_systems(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "esa.tsv"
    path.write_text(ESA + "\n".join([*TWO, "A\t3\teve\t1"]), encoding="utf-8")
    found = command("compare", "--scores", path, "--annotators", "apart", "-f", "jsonl")
    rows = [json.loads(line) for line in found.out.splitlines()]
    shown = [(row["metric"][-31:-21], row["system"], row["score"]) for row in rows if "score" in row]
    assert shown == [
        ("esa by ann", "A", 65),
        ("esa by ann", "B", 30),
        ("esa by bob", "A", 60),
        ("esa by bob", "B", 10),
    ]
    assert "1 of 3 annotators judged no segment of every system: left out" in found.err
    path.write_text(ESA + "A\t1\tann\t80\nB\t1\tbob\t60\n", encoding="utf-8")
    found = command("compare", "--scores", path, "--annotators", "apart")
    assert found.code == 2
    assert "esa.tsv: none of 2 annotators judged a segment of every system: leave out --annotators apart" in found.err
    path.write_text("system segment score\nA 1 2\nB 1 3\n", encoding="utf-8")
    found = command("compare", "--scores", path, "--annotators", "apart")
    assert found.code == 2
    assert "who made a judgement is not said, so there is no --annotators apart" in found.err


def test_systems_without_a_common_segment_are_refused_with_the_one_that_has_fewest(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "esa.tsv").write_text(ESA + "A\t1\tann\t8\nA\t2\tann\t8\nB\t3\tann\t6\n", encoding="utf-8")
    found = command("compare", "--scores", tmp_path / "esa.tsv")
    assert found.code == 2
    assert "no segment has a score of every system: leave out systems with few (the fewest, 1, are of B)" in found.err


def test_documents_are_drawn_that_go_beyond_the_judged_segments(command: Command, tmp_path: Path) -> None:
    (tmp_path / "esa.tsv").write_text(ESA + "\n".join(TWO), encoding="utf-8")
    (tmp_path / "documents.txt").write_text("x\ny\nz\n", encoding="utf-8")
    found, _ = compared(command, tmp_path / "esa.tsv", "--documents", tmp_path / "documents.txt")
    assert [score for score, *_ in found.values()] == [60, 22.5]


def test_texts_of_references_beside_scores_are_no_numbers_of_references(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "judged.tsv"
    rows = ["A\t1\ta dog\t80", "A\t2\t7\t50", "B\t1\ta dog\t40", "B\t2\t7\t20"]
    path.write_text("\n".join(["system\tsegment\treference\tscore", *rows]), encoding="utf-8")
    scores, _ = compared(command, path)
    assert {name: score for name, (score, *_) in scores.items()} == {"A": 65, "B": 30}
