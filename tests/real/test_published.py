"""Figures that others published, segment by segment: WMT25's challenge set SSA-MTE, into two languages."""

import csv

import pytest
from shared_data import shared

import softbleu
from softbleu.corpora.judgements import read_scores

FOLDER = "data", "wmt25-mteval"


def lines(name: str) -> list[str]:
    return shared(*FOLDER, name).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(("metric", "name"), [("bleu", "BLEU"), ("chrf", "chrF")])
@pytest.mark.parametrize(("target", "segments"), [("amh", 1166), ("yor", 1206)])
def test_scores_of_segments_equal_all_that_wmt25_published(metric, name, target, segments) -> None:
    texts = lines(f"en-{target}.hyp1.txt"), lines(f"en-{target}.ref.txt")
    result = softbleu.score(*texts, metrics=metric, level="segment")
    rows = csv.DictReader(lines(f"{name}.tsv"), delimiter="\t")
    published = [row["overall"] for row in rows if row["target_lang"] == target]
    assert [f"{score.score:.4f}" for score in result.segments or ()] == published
    assert len(published) == segments


@pytest.mark.parametrize("target", ["amh", "yor"])
def test_published_files_are_read_by_direction_as_they_are(target: str) -> None:
    for name in ("BLEU", "chrF", "spBLEU", "BERTScore", "COMET22", "MetricX-25"):
        (table,) = read_scores(str(shared(*FOLDER, f"{name}.tsv")), direction=f"en-{target}")
        rows = csv.DictReader(lines(f"{name}.tsv"), delimiter="\t")
        expected = [float(row["overall"]) for row in rows if row["target_lang"] == target]
        assert (table.name, table.segments["hyp1"].tolist()) == (name, expected)
