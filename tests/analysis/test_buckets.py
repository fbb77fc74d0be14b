"""Buckets: each is a corpus of its own, and words are counted one by one."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import softbleu
from softbleu.analysis import bucket_scores
from softbleu.analysis.buckets import FREQUENCIES, LENGTHS
from softbleu.corpora import Segments
from softbleu.corpora.labels import Documents
from softbleu.errors import InputError
from softbleu.metrics.making import make_metric

REFERENCES = [
    ("the cat sat on the mat", "a cat was on the mat"),
    ("it rained",),
    ("a dog barked at the old man who walked by the river",),
    ("it rained on the mat",),
]
SYSTEMS = {
    "A": ["the cat sat on a mat", "it rained", "a dog barked at an old man who went by the river", "the the mat"],
    "B": ["the the the cat", "rain", "dogs bark at people that walk by the river", "it rained on the mat mat"],
}
CORPUS = Segments.of(SYSTEMS, REFERENCES)
TEXT = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=5).map(" ".join)


@pytest.mark.parametrize("metric", ["bleu(order=2)", "chrf", "ter"])
def test_a_bucket_of_segments_scores_as_a_corpus(metric: str) -> None:
    rows = bucket_scores(CORPUS, metric).records()
    lengths = [len(references[0].split()) for references in REFERENCES]
    expected = []
    for low, high in pairwise([*LENGTHS, 1000]):
        if chosen := [number for number, length in enumerate(lengths) if low <= length < high]:
            systems = {name: [texts[number] for number in chosen] for name, texts in SYSTEMS.items()}
            found = softbleu.score(systems, [REFERENCES[number] for number in chosen], metric=metric)
            expected.append((len(chosen), *(each.score for each in found)))
    assert [(row["segments"], row["A"], row["B"]) for row in rows] == expected
    assert len(expected) == 2
    assert [row["length"] for row in rows] == ["0–9", "10–19"]
    assert rows[0]["difference"] == rows[0]["B"] - rows[0]["A"]


@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=6))
def test_words_are_counted_one_by_one(lines: list[tuple[str, str, str]]) -> None:
    corpus = Segments.of([line[0] for line in lines], [line[1:] for line in lines])
    frequency = Counter(word for line in lines for text in line[1:] for word in text.split())
    matched, own, offered = (Counter[int]() for _ in range(3))
    for candidate, *references in lines:
        counts = [Counter(reference.split()) for reference in references]
        most = counts[0] | counts[1]
        for word in {*candidate.split(), *most}:
            bucket = max(number for number, start in enumerate(FREQUENCIES) if start <= frequency[word])
            matched[bucket] += min(candidate.split().count(word), most[word])
            own[bucket] += candidate.split().count(word)
            offered[bucket] += most[word]
    expected: list[tuple[Any, ...]] = []
    for bucket in range(len(FREQUENCIES)):
        right, size, all_own = matched[bucket], offered[bucket], own[bucket]
        if all_own or size:
            expected.append(("precision", size, 100 * right / all_own if all_own else None))
            expected.append(("recall", size, 100 * right / size if size else None))
            expected.append(("F1", size, 200 * right / (all_own + size)))
    found = bucket_scores(corpus, "bleu(tokenize=none)", by="rarity").records()
    assert [(row["metric"], row["words"], row["candidate"]) for row in found] == expected


def test_words_with_a_vector_and_orders() -> None:
    vectors = {"cat": [1.0, 0.0], "mat": [0.0, 1.0], "the": [1.0, 1.0]}
    corpus = Segments.of(["the dog sat"], ["the cat sat"])
    rows = bucket_scores(corpus, make_metric("vleu", vectors=vectors, tokenize="none"), by="coverage")
    found = {(row["coverage"], row["metric"]): (row["words"], row["candidate"]) for row in rows.records()}
    assert [found["with a vector", name] for name in ("recall", "precision")] == [(2, 50.0), (2, 100.0)]
    assert [found["without", name] for name in ("recall", "precision")] == [(1, 100.0), (1, 50.0)]
    (result,) = softbleu.score({"A": SYSTEMS["A"]}, REFERENCES)
    rows = bucket_scores(CORPUS.only("A"), by="order")
    assert [(row["metric"], row["order"], row["A"]) for row in rows.records()] == [
        ("bleu P", str(number), value) for number, value in enumerate(result.numbers.precisions, start=1)
    ]


def test_labels_of_a_file_and_of_a_column(tmp_path: Path) -> None:
    plain, table, commas = (tmp_path / name for name in ("labels.txt", "labels.tsv", "labels.csv"))
    plain.write_text("b\na\nb\na\n")
    table.write_text("doc\tdomain\n1\tb\n1\ta\n2\tb\n2\ta\n")
    commas.write_text('domain,x\n"b",1\na,1\nb,1\na,1\n')
    expected = bucket_scores(CORPUS, by=str(plain)).records()
    assert [(row["labels.txt"], row["segments"]) for row in expected] == [("a", 2), ("b", 2)]
    parts = {name: [texts[0], texts[2]] for name, texts in SYSTEMS.items()}
    assert expected[1]["B"] == softbleu.score(parts, [REFERENCES[0], REFERENCES[2]])["B"].score
    for place in (f"{table}:domain", f"{commas}:domain"):
        rows = bucket_scores(CORPUS, by=place).records()
        assert [(row["domain"], row["A"]) for row in rows] == [(row["labels.txt"], row["A"]) for row in expected]
    # Documents come in the order of the text, and level `document` has the same scores.
    placed = replace(CORPUS, documents=Documents.of(["b", "a", "b", "a"]))
    documents = bucket_scores(placed, by="document").records()
    assert [{"labels.txt": row.pop("document"), **row} for row in documents][::-1] == expected
    scored = softbleu.score(SYSTEMS, REFERENCES, documents=["b", "a", "b", "a"], level="document")
    assert [(part.document, part.segments) for part in scored["B"].documents] == [("b", 2), ("a", 2)]
    assert [row["score"] for row in scored["B"].records()] == [row["B"] for row in documents]
    assert scored["B"].score == softbleu.score(SYSTEMS, REFERENCES)["B"].score
    plain.write_text("".join(f"{number}\n" for number in range(201)))
    with pytest.raises(InputError, match="201 different labels"):
        bucket_scores(Segments.of(["a"] * 201, ["a"] * 201), by=str(plain))
