"""softbleu as the other metrics are run: levels, jobs, signatures, comparisons, and what changes the vectors."""

import random
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusing import refused

from softbleu import InputError, score
from softbleu.corpora import Segments
from softbleu.errors import MissingExtraError
from softbleu.metrics.reading import read_metric
from softbleu.metrics.settings import rarity_of
from softbleu.metrics.softbleu import Softbleu
from softbleu.results.api import score_corpus
from softbleu.thesaurus.resources import _lemmatizer

WORDS = ["cat", "dog", "mat", "the", "of", "naïve", "sat", "日本", "Dog", "oov", "cats", "it's"]
ROWS = np.random.default_rng(5).normal(0.5, 1, (8, 6)).round(3).tolist()
VECTORS = dict(zip(WORDS[:8], ROWS, strict=True))


def lines(seed: int, shortest: int = 0) -> list[str]:
    choose = random.Random(seed)
    return [" ".join(choose.choices(WORDS, k=choose.randint(shortest, 12))) for _ in range(40)]


CORPUS = Segments.of({"one": lines(1), "two": lines(2, 6)}, list(zip(lines(3), lines(4), strict=True)))


def scored(**settings: Any) -> float:
    return score_corpus(CORPUS, read_metric("softbleu", vectors=VECTORS, **settings))[0].score


def test_the_references_say_it_unless_another_text_does(tmp_path: Path) -> None:
    """A file of all reference lines that are not left out is the references."""
    path = tmp_path / "idf.txt"
    texts = [line for pair in CORPUS.present() for line in pair]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    assert scored(idf=str(path)) == scored(idf="references") == scored()
    path.write_text("the\nthe cat\nof\n", encoding="utf-8")
    assert scored(idf=str(path)) != scored()
    assert scored(idf=str(path), rarity=0.0) == scored(rarity=0.0)


@pytest.mark.parametrize("total", [1, 2, 560, 94_868, 102_326, 136_084, 287_548])
def test_a_word_that_all_segments_have_weighs_a_little(total: int) -> None:
    """At some of these sizes the logarithms of the platform and of NumPy differ in their last bits."""
    every, none = rarity_of(np.array([total, 0]), total)
    assert 0 < every < none


def test_the_text_is_split_as_the_corpus_is(tmp_path: Path) -> None:
    found = []
    for text in ("The cat.\nA dog\nA mat\n", "the cat .\na dog\na mat\n"):
        (path := tmp_path / "idf.txt").write_text(text, encoding="utf-8")
        options: dict[str, Any] = {"metrics": "softbleu", "vectors": VECTORS, "idf": str(path)}
        for how in ({}, {"lowercase": True, "tokenize": "13a"}):
            found.append(score(["the cat ."], ["a cat ."], **how, **options).score)
    assert found[0] != found[1] == found[2]


def test_lengths_of_vectors_do_not_matter_great_weights_add_up_and_a_millionth_is_one() -> None:
    assert scored(normalize=False) == scored()
    texts = [f"w{number}" for number in range(2000)]
    assert score(texts, texts, metrics="softbleu", vectors=VECTORS, rarity=4.0).score == 100
    assert Softbleu(order=1).columns(np.array([[1, 10**6, 1, 10**6]])).score == pytest.approx([1e-4])


def test_words_are_as_similar_as_a_list_says(tmp_path: Path) -> None:
    """Either way round, in any case; without vectors there is no coverage, and the list is hashed."""
    path = tmp_path / "words.tsv"
    path.write_text("cat\tdog\t0.5\nauto\tcar\n", encoding="utf-8")
    options: dict[str, Any] = {"metrics": "softbleu", "order": 1, "power": 1.0, "beta": 1.0, "similarity": str(path)}
    result = score(["Dog"], ["cat"], **options)
    assert result.score == pytest.approx(50, abs=1e-3)
    assert score(["car"], ["Auto"], **options).score == 100
    assert (result.coverage, score(["car"], ["cat"], **options).score) == (None, 0)
    assert re.search(r"\|vectors:none\|.*similarity:.*words\.tsv#[0-9a-f]{12}\|", result.signature)
    for text in ("cat\n", "cat\tdog\t2\n", "cat\tdog\tmuch\n", "\tdog\n"):
        path.write_text(f"a\tb\n{text}", encoding="utf-8")
        refused(InputError, r"words\.tsv, line 2: two words are needed", score, ["a"], ["b"], **options)


def test_words_of_one_lemma_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of simplemma's list: no letters of *went* are in *go*. A mark alone is its own lemma."""
    for settings in ({"similarity": "lemmas:en"}, {"similarity": "spelling+lemmas:en"}):
        found = score(["They went \u200b ."], ["they go \u200b ."], metrics="softbleu", tokenize="none", **settings)
        assert found.score == 100
    _lemmatizer.cache_clear()
    monkeypatch.setitem(sys.modules, "simplemma", None)
    said = r"pip install '\.\[lemmas\]' in a clone"
    refused(MissingExtraError, said, score, ["b"], ["c"], metrics="softbleu", **settings)


@pytest.mark.parametrize("metric", ["softbleu", "vleu(threshold=0.4)", "sleu(composition=sif)"])
def test_workers_get_what_compares_words(metric: str) -> None:
    run: dict[str, Any] = {"metrics": metric, "similarity": "spelling+stems:en", "tokenize": "none"}
    texts = lines(1), [*zip(lines(3), lines(4), strict=True)]
    assert score(*texts, **run, jobs=2).score == score(*texts, **run).score  # type: ignore[arg-type]
