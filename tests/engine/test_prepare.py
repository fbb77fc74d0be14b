"""The prepared corpus and the runner: each line once, enough at a time, and many measures as one by one."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from inspect import unwrap
from pathlib import Path
from typing import Any

import pytest
from made_up_encoder import MadeUpEncoder, vectors_for

from softbleu.analysis.pages import make_page
from softbleu.corpora import ParallelFiles, Segments
from softbleu.corpora.m2 import Annotation, GoldEdit, GoldSegment
from softbleu.engine import encode
from softbleu.meta.sweep import sweep_corpus, sweep_points
from softbleu.metrics import METRICS, Metric
from softbleu.metrics.making import make_metric
from softbleu.results import compare_corpus, explain_corpus, score_corpus
from softbleu.text import tokens

WORDS = ["cat", "dog", "Dog", "mat", "naïve", "the", "日本", "oov", "it's", "sat"]
VECTORS = {word: [float(number), 1.0, -2.0] for number, word in enumerate(WORDS[:-2])}
SEGMENTS = 20


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("corpora.segments", "corpora.parallel", "engine.runner"):
        monkeypatch.setattr(f"softbleu.{module}.BLOCK", 2)


def lines(seed: int) -> list[str]:
    choose = random.Random(seed)
    return [" ".join(choose.choices(WORDS, k=choose.randint(0, 7))) for _ in range(SEGMENTS)]


def gold_of(text: str) -> GoldSegment:
    """A text of which one of three annotators changes the first word, and the others nothing."""
    edits = (GoldEdit(0, 1, "Word", ("sat",)),) if text.split() else ()
    return GoldSegment(text, (Annotation(0, edits), Annotation(1, ()), Annotation(2, ())))


def make_corpus() -> Segments:
    """Three systems and two references; many lines come again, in other places too."""
    one, two, references = lines(1), lines(2), list(zip(lines(3), lines(4), strict=True))
    three = [*one[: SEGMENTS // 2], *(texts[0] for texts in references[SEGMENTS // 2 :])]
    source = [*lines(5)[: SEGMENTS // 2], *two[SEGMENTS // 2 :]]
    return Segments.of({"one": one, "two": two, "three": three}, references, source)


def with_gold(corpus: Segments) -> Segments:
    assert corpus.source is not None
    return replace(corpus, gold=[gold_of(text) for text in corpus.source])


def all_lines(corpus: Segments, *, source: bool) -> list[str]:
    """Every line of a corpus, as often as it is there."""
    found = [text for texts in (*corpus.candidates.values(), *corpus.references) for text in texts]
    return [*found, *(corpus.source or ())] if source else found


VLEU = make_metric("vleu", threshold=0.3, vectors=VECTORS, tokenize="none")
XLEU = make_metric("xleu", threshold=0.0, vectors=VECTORS, tokenize="none")
SOFTBLEU = make_metric("softbleu", vectors=VECTORS, tokenize="none")
BLEU, GLEU = make_metric("bleu", tokenize="none"), make_metric("gleu", iterations=20)
SOFT_GLEU = make_metric("gleu", matcher="vleu", threshold=0.0, vectors=VECTORS, iterations=20)

# each line once


@pytest.fixture
def split(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Lines that were tokenised, and how often."""
    counted: Counter[str] = Counter()

    def splitter(name: str) -> Callable[[str], list[str]]:
        assert name == "none"

        def count(line: str) -> list[str]:
            counted[line] += 1
            return line.split()

        return count

    monkeypatch.setattr("softbleu.text.tokens._splitter", splitter)
    return counted


def once(texts: list[str]) -> Counter[str]:
    assert len(set(texts)) < len(texts), "some line must come again"
    return Counter(set(texts))


TOGETHER = {
    "exact": [BLEU, make_metric(order=2, tokenize="none")],
    "exact and source": [BLEU, GLEU],
    "one table": [VLEU, XLEU],
    "features": [VLEU, SOFTBLEU],
    "soft and exact": [BLEU, VLEU],
    "soft and source": [VLEU, SOFT_GLEU],
}


def sweep_all(corpus: Segments) -> None:
    fixed = {"vectors": VECTORS, "tokenize": "none"}
    points = sweep_points(fixed, {"matcher": ["exact", "vleu", "xleu"], "threshold": [0.2, 0.5, 0.8]})
    assert (len(points), len(list(sweep_corpus(corpus, points)))) == (7, 21)


def page_of(metric: Metric) -> Callable[[Segments], None]:
    def make(corpus: Segments) -> None:
        assert len(make_page(corpus, metric).thresholds) == (0 if metric is BLEU else 101)

    return make


OPERATIONS: dict[str, tuple[bool, Callable[[Segments], object]]] = {
    **{
        name: (any(each.requires.source for each in metrics), partial(score_corpus, metrics=metrics))
        for name, metrics in TOGETHER.items()
    },
    "comparison": (False, lambda corpus: compare_corpus(corpus, VLEU)),
    "sweep": (False, sweep_all),
    # A page shows the source, whether a metric looks at it or not.
    "exact page": (True, page_of(BLEU)),
    "soft page": (True, page_of(VLEU)),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_line_is_tokenised_once(split: Counter[str], operation: str) -> None:
    source, run = OPERATIONS[operation]
    run(make_corpus())
    assert split == once(all_lines(make_corpus(), source=source))


def test_files_too(split: Counter[str], tmp_path: Path) -> None:
    with opened(tmp_path, make_corpus()) as files:
        score_corpus(files, [BLEU, VLEU])
    assert split == once(all_lines(make_corpus(), source=False))


def test_explanations_tokenise_what_they_show(split: Counter[str]) -> None:
    explain_corpus(make_corpus(), VLEU, [2])
    corpus = make_corpus()
    assert set(split) == {*(texts[1] for texts in corpus.candidates.values()), *corpus.references[1]}
    assert set(split.values()) == {1}


@pytest.mark.parametrize("lowercase", [False, True])
def test_13a_tokenises_each_word_once(monkeypatch: pytest.MonkeyPatch, lowercase: bool) -> None:
    """A word, as white space has it, that was seen in one line, is not looked at again in another."""
    counted: Counter[str] = Counter()

    def splitter(name: str) -> Callable[[str], list[str]]:
        assert name == "13a"

        def count(word: str) -> list[str]:
            counted[word] += 1
            return [word]

        return count

    monkeypatch.setattr("softbleu.text.tokens._splitter", splitter)
    # Splitters are kept for the life of the process.
    monkeypatch.setattr("softbleu.text.tokens._word_splitter", unwrap(tokens._word_splitter))
    corpus = make_corpus()
    score_corpus(
        corpus, [make_metric("bleu", lowercase=lowercase), make_metric("bleu", order=2, lowercase=lowercase)]
    )
    words = {word for text in all_lines(corpus, source=False) for word in text.split()}
    assert words == set(WORDS)
    assert counted == Counter(word.lower() if lowercase else word for word in words)


@pytest.mark.parametrize("measures", TOGETHER.values(), ids=TOGETHER)
def test_what_does_not_fit_into_memory_has_the_same_digits(
    monkeypatch: pytest.MonkeyPatch, measures: list[Metric]
) -> None:
    expected = score_corpus(make_corpus(), measures, level="segment")
    monkeypatch.setattr(encode, "MOST_KEPT", 50)
    assert score_corpus(make_corpus(), measures, level="segment") == expected
    with ThreadPoolExecutor(2) as executor:
        assert score_corpus(make_corpus(), measures, level="segment", executor=executor) == expected


def test_lines_are_forgotten_then(monkeypatch: pytest.MonkeyPatch, split: Counter[str]) -> None:
    """Guards the test above."""
    monkeypatch.setattr(encode, "MOST_KEPT", 50)
    score_corpus(make_corpus(), VLEU)
    counted = Counter(all_lines(make_corpus(), source=False))
    # Once to find the words, and once to count them, where a line was not said again soon after.
    assert set(split) == set(counted)
    assert len(counted) < split.total() <= 2 * counted.total()


# enough at a time


class Late(Future[Any]):
    """Does its work when the result is asked for, and not before."""

    def __init__(self, work: Callable[[], Any], done: Callable[[], None]) -> None:
        super().__init__()
        self.work, self.finished = work, done

    def result(self, timeout: float | None = None) -> Any:
        if not self.done():
            self.set_result(self.work())
            self.finished()
        return super().result(timeout)


class Waiting(Executor):
    """An executor of so many workers, whose tasks wait until their results are asked for."""

    def __init__(self, workers: int) -> None:
        self._max_workers = workers
        self.waiting = self.most = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        return Late(lambda: fn(*args, **kwargs), self._finished)

    def _finished(self) -> None:
        self.waiting -= 1


@pytest.mark.parametrize("measure", [BLEU, VLEU, GLEU], ids=str)
@pytest.mark.parametrize("workers", [1, 4])
def test_all_workers_have_work(measure: Metric, workers: int) -> None:
    executor = Waiting(workers)
    found = score_corpus(make_corpus(), measure, executor=executor)
    assert workers <= executor.most <= 2 * workers
    assert executor.waiting == 0
    assert found == score_corpus(make_corpus(), measure)


def opened(folder: Path, corpus: Segments) -> ParallelFiles:
    def written(name: str, texts: Any) -> str:
        path = folder / name
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return str(path)

    candidates = {name: written(name, texts) for name, texts in corpus.candidates.items()}
    references = [written(f"r{number}", texts) for number, texts in enumerate(zip(*corpus.references, strict=True))]
    source = None if corpus.source is None else written("source", corpus.source)
    return ParallelFiles.open(candidates, references, source)


# many measures


# Of refless: tests/test_refless.py.
EVERY = [
    *(
        make_metric(x, vectors=vectors_for(METRICS.find(x)(), VECTORS))
        for x in METRICS.names()
        if x not in ("meteor", "refless")
    ),
    make_metric("meteor", stages="exact+stem"),
    VLEU,
    XLEU,
    SOFT_GLEU,
    make_metric("bleu", order=2, tokenize="13a"),
    make_metric("vleu", order=2, vectors=VECTORS, vector_case="exact"),
    make_metric("xleu", threshold=0.3, vectors=MadeUpEncoder()),
    make_metric("softbleu", vectors=MadeUpEncoder(), layers="1,3", function_words="exact"),
    make_metric("vleu", composition="sif", vectors=VECTORS),
    make_metric("xleu", assignment="optimal", vectors=VECTORS, lowercase=True),
    make_metric("gleu", variant="gleu0"),
    make_metric("gleu", multi="max"),
    make_metric("m2", annotators="best"),
    make_metric("softbleu", rarity=0.0, credit="greedy", vectors=VECTORS),
]


@pytest.mark.parametrize("level", ["corpus", "segment"])
def test_measures_in_one_run_are_those_one_by_one(level: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("softbleu.corpora.segments.BLOCK", 8)
    corpus = with_gold(make_corpus())
    single = [result for measure in EVERY for result in score_corpus(corpus, measure, level=level)]
    assert score_corpus(corpus, EVERY, level=level) == single
    assert len({result.score for result in single}) > len(EVERY)


def test_progress_goes_through_all_passes() -> None:
    seen: list[tuple[int, int]] = []
    measures = [BLEU, make_metric("bleu", tokenize="13a")]
    score_corpus(make_corpus(), measures, progress=lambda *step: seen.append(step))
    assert seen[-1] == (2 * SEGMENTS, 2 * SEGMENTS)
    assert seen == sorted(set(seen))
    assert len(seen) == SEGMENTS
