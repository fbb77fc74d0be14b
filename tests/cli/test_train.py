"""`softbleu train`, and what explains the scores of its heads."""

import json
from pathlib import Path
from typing import Any

import pytest
from judged_pairs import judged
from refusing import refused

import softbleu
from softbleu import InputError, Segments
from softbleu.corpora.judgements import Assessments, read_judged, read_rankings
from softbleu.metrics.heads import read_head


def test_train_writes_a_head_that_scores(command: Any, tmp_path: Path) -> None:
    rows = judged(40, 2)
    texts = next(iter(rows.texts.candidates.values()))
    cells = zip(rows.scores.tolist(), texts, (each[0] for each in rows.texts.references), "ab" * 20, strict=True)
    file, head = tmp_path / "judged.tsv", tmp_path / "head.json"
    rows_of_file = [("human", "candidate", "reference", "group"), *cells]
    file.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows_of_file))
    assert sorted(read_judged(str(file))) == ["a", "b"]
    given = ["--vectors", "glove-6b-100d", "-m", "chrf", "--samples", "50", "-f", "json"]
    done = command("train", "--judgements", file, "-o", head, *given)
    assert [row["group"] for row in json.loads(done.out)["rows"]] == ["a", "b", "mean"]
    card = json.loads(head.read_text())["card"]
    assert (card["judgements"], card["groups"]) == (40, ["a", "b"])
    found = softbleu.score(texts, [each[0] for each in rows.texts.references], metric="trained", head=str(head))
    assert 0 < found.score < 100
    assert f"head:head.json#{read_head(str(head)).fingerprint[:12]}" in found.signature


def test_train_reads_rankings_and_scores_of_systems(command: Any, tmp_path: Path) -> None:
    """Of texts that the command names; each output has the mean of its comparisons, once with each reference."""
    rows, others = judged(30, 3), judged(30, 4)
    outputs = {"A": rows.texts.candidates["A"], "B": others.texts.candidates["A"]}
    for name, lines in {**outputs, "r1": [each[0] for each in rows.texts.references], "r2": ["a b"] * 30}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    ranks = [("srcIndex", "judgeID", "system1Id", "system1rank", "system2Id", "system2rank")]
    ranks += [(number + 1, "ann", "A", 1, "B", 1 + number % 2) for number in range(30)]
    scores = [("system", "segment", "score"), *(("A", number + 1, number % 7) for number in range(30))]
    files = {"ranks.csv": (",", ranks), "scores.tsv": ("\t", scores)}
    for name, (mark, lines) in files.items():
        (tmp_path / name).write_text("".join(mark.join(map(str, line)) + "\n" for line in lines))
    texts = ["-c", tmp_path / "A", "-c", tmp_path / "B", "-r", tmp_path / "r1", "-r", tmp_path / "r2"]
    more = ["-o", tmp_path / "head.json", "--vectors", "glove-6b-100d", "--samples", 10, "-f", "json"]
    done = command(
        "train", "--judgements", tmp_path / "ranks.csv", tmp_path / "scores.tsv", "--rankings-start", 1, *texts, *more
    )
    assert [(row["group"], row["judgements"]) for row in json.loads(done.out)["rows"]] == [
        ("ranks", 120),
        ("scores", 60),
        ("mean", 180),
    ]
    found = Assessments.of_comparisons(read_rankings(str(tmp_path / "ranks.csv"), start=1))
    corpus = Segments.of(outputs, [each[0] for each in rows.texts.references])
    texts = found.with_texts(corpus)
    assert list(zip(texts.scores, texts.texts.candidates["translation"], strict=True))[:4] == [
        (0, outputs["A"][0]),
        (0, outputs["B"][0]),
        (1, outputs["A"][1]),
        (-1, outputs["B"][1]),
    ]
    short = Segments.of({"A": ["a"]}, ["a"])
    refused(InputError, "name segment 2, there are 1", found.with_texts, short)
    refused(InputError, "none of the systems C", found.with_texts, Segments.of({"C": ["a"]}, ["a"]))


def test_explanations_say_what_cost_points(command: Any, tmp_path: Path) -> None:
    for name, line in (("c", "the cat sat"), ("r", "the dogs never sat down")):
        (tmp_path / name).write_text(f"{line}\n")
    texts = ("-c", tmp_path / "c", "-r", tmp_path / "r")
    (segment,) = json.loads(command("explain", *texts, "-m", "trained(head=static)", "-f", "json").out)["segments"]
    values = [found["value"] for found in segment["findings"]]
    assert values == sorted(values, reverse=True)
    assert segment["score"] == pytest.approx(max(0, 100 - sum(values)), abs=1e-4)
    assert {"negations", "softbleu"} <= {found["text"] for found in segment["findings"]}
