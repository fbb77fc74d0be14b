"""`softbleu train`, and what explains the scores of its heads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from judged_pairs import judged

import softbleu
from softbleu.corpora.judgements import read_judged
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


def test_explanations_say_what_cost_points(command: Any, tmp_path: Path) -> None:
    for name, line in (("c", "the cat sat"), ("r", "the dogs never sat down")):
        (tmp_path / name).write_text(f"{line}\n")
    texts = ("-c", tmp_path / "c", "-r", tmp_path / "r")
    (segment,) = json.loads(command("explain", *texts, "-m", "trained(head=static)", "-f", "json").out)["segments"]
    values = [found["value"] for found in segment["findings"]]
    assert values == sorted(values, reverse=True)
    assert segment["score"] == pytest.approx(max(0, 100 - sum(values)), abs=1e-4)
    assert {"negations", "softbleu"} <= {found["text"] for found in segment["findings"]}
