"""The prepared corpus and the runner: each line once, enough at a time, many measures as one by one; signatures."""

import os
import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from inspect import unwrap
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from complete import complete
from declarations import every_measure
from made_up_executor import Strangers
from refusing import refused

from softbleu import InputError, __version__
from softbleu.config.declare import parse_signature
from softbleu.corpora import ParallelFiles, Segments
from softbleu.corpora.edits import Annotation, Edit, GoldSegment
from softbleu.embeddings import DEFAULT_VECTORS
from softbleu.embeddings.choice import VectorChoice
from softbleu.engine import encode
from softbleu.io.executors import run_in_order
from softbleu.matching import make_matcher
from softbleu.meta.sweep import sweep_corpus, sweep_points
from softbleu.metrics import Bleu, Metric
from softbleu.metrics.reading import read_metric
from softbleu.report.pages import make_page
from softbleu.results.api import compare_corpus, score_corpus
from softbleu.results.explain import explain_corpus
from softbleu.text import tokens
from softbleu.text.tokens import TOKENIZERS, Tokenizer13a

WORDS = ["cat", "dog", "Dog", "mat", "naïve", "the", "日本", "oov", "it's", "sat"]
VECTORS = {word: [float(number), 1.0, -2.0] for number, word in enumerate(WORDS[:-2])}
SEGMENTS = 20


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("corpora.corpus", "engine.runner"):
        monkeypatch.setattr(f"softbleu.{module}.BLOCK", 2)


def lines(seed: int) -> list[str]:
    choose = random.Random(seed)
    return [" ".join(choose.choices(WORDS, k=choose.randint(0, 7))) for _ in range(SEGMENTS)]


def make_corpus() -> Segments:
    """Three systems and two references; many lines come again, in other places too."""
    one, two, references, half = lines(1), lines(2), list(zip(lines(3), lines(4), strict=True)), SEGMENTS // 2
    three = [*one[:half], *(texts[0] for texts in references[half:])]
    return Segments.of({"one": one, "two": two, "three": three}, references, [*lines(5)[:half], *two[half:]])


def all_lines(corpus: Segments, *, source: bool) -> list[str]:
    """Every line of a corpus, as often as it is there."""
    texts = [*corpus.candidates.values(), *corpus.references, *([corpus.source or ()] if source else ())]
    return [line for each in texts for line in each]


VLEU = read_metric("vleu", threshold=0.3, vectors=VECTORS, tokenize="none")
XLEU = read_metric("xleu", threshold=0.0, vectors=VECTORS, tokenize="none")
SOFTBLEU = read_metric("softbleu", vectors=VECTORS, tokenize="none")
BLEU, GLEU = read_metric("bleu", tokenize="none"), read_metric("gleu", iterations=20)
SOFT_GLEU = read_metric("gleu", matcher="vleu", threshold=0.0, vectors=VECTORS, iterations=20)


@pytest.fixture(params=["none"])
def split(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Lines, or words as white space has them, that were tokenised, and how often."""
    counted: Counter[str] = Counter()

    def count(line: str) -> list[str]:
        counted[line] += 1
        return line.split()

    monkeypatch.setattr(TOKENIZERS.find(request.param), "tokens", staticmethod(count))
    # Splitters are kept for the life of the process.
    monkeypatch.setattr("softbleu.text.tokens._word_splitter", unwrap(tokens._word_splitter))
    return counted


TOGETHER = {
    "exact": [BLEU, read_metric(order=2, tokenize="none")],
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
        assert len(make_page(corpus, metric).matches.thresholds.values) == (0 if metric is BLEU else 101)

    return make


OPERATIONS: dict[str, tuple[bool, Callable[[Segments], object]]] = {
    "comparison": (False, lambda corpus: compare_corpus(corpus, VLEU)),
    "sweep": (False, sweep_all),
    # A page shows the source, whether a metric looks at it or not.
    "exact page": (True, page_of(BLEU)),
    "soft page": (True, page_of(VLEU)),
}
for _name, _metrics in TOGETHER.items():
    OPERATIONS[_name] = any(each.requires.source for each in _metrics), partial(score_corpus, metrics=_metrics)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_line_is_tokenised_once(split: Counter[str], operation: str, tmp_path: Path) -> None:
    source, run = OPERATIONS[operation]
    texts = all_lines(make_corpus(), source=source)
    assert len(set(texts)) < len(texts), "some line must come again"
    # Metrics with a source and without take blank references in different ways, unless one is named.
    run(replace(make_corpus(), blank_references="empty"))
    assert split == Counter(set(texts))
    if operation == "soft and exact":
        # Files, too.
        split.clear()
        with opened(tmp_path, make_corpus()) as files:
            run(files)
        assert split == Counter(set(texts))


def test_explanations_tokenise_what_they_show(split: Counter[str]) -> None:
    explain_corpus(make_corpus(), VLEU, [2])
    corpus = make_corpus()
    assert set(split) == {*(texts[1] for texts in corpus.candidates.values()), *corpus.references[1]}
    assert set(split.values()) == {1}


@pytest.mark.parametrize("split", ["13a"], indirect=True)
@pytest.mark.parametrize("lowercase", [False, True])
def test_13a_tokenises_each_word_once(split: Counter[str], lowercase: bool) -> None:
    """A word that was seen in one line is not split again in another, nor is a word of letters and digits at all."""
    score_corpus(make_corpus(), [read_metric("bleu", lowercase=lowercase, order=order) for order in (4, 2)])
    words = {word for text in all_lines(make_corpus(), source=False) for word in text.split()}
    assert words == set(WORDS)
    assert split == Counter(word.lower() if lowercase else word for word in words if lowercase or not word.isalnum())


@pytest.mark.parametrize("measures", TOGETHER.values(), ids=TOGETHER)
def test_a_corpus_beyond_memory_has_the_same_digits(measures: Any, monkeypatch: Any, split: Any) -> None:
    expected = score_corpus(make_corpus(), measures, level="segment")
    monkeypatch.setattr(encode, "MOST_KEPT", 50)
    assert score_corpus(make_corpus(), measures, level="segment") == expected
    with ThreadPoolExecutor(2) as executor:
        assert score_corpus(make_corpus(), measures, level="segment", executor=executor) == expected
    # Lines are forgotten then.
    split.clear()
    score_corpus(make_corpus(), VLEU)
    counted = Counter(all_lines(make_corpus(), source=False))
    # Once to find the words, and once to count them, where a line was not said again soon after.
    assert set(split) == set(counted)
    assert len(counted) < split.total() <= 2 * counted.total()


@pytest.mark.parametrize("measure", [BLEU, VLEU, XLEU, GLEU], ids=str)
@pytest.mark.parametrize("workers", [None, 1, 4])
def test_all_workers_have_work(measure: Metric, workers: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    executor = Strangers(workers, monkeypatch.setattr)
    found = score_corpus(make_corpus(), measure, executor=executor)
    assert (workers or 1) <= executor.most <= 2 * (workers or os.cpu_count() or 1)
    assert executor.waiting == []
    assert found == score_corpus(make_corpus(), measure)


def opened(folder: Path, corpus: Segments) -> ParallelFiles:
    def written(name: str, texts: Any) -> str:
        (folder / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return str(folder / name)

    candidates = {name: written(name, texts) for name, texts in corpus.candidates.items()}
    references = [written(f"r{number}", texts) for number, texts in enumerate(zip(*corpus.references, strict=True))]
    return ParallelFiles.open(candidates, references, written("source", corpus.source))


@pytest.mark.parametrize("level", ["corpus", pytest.param("segment", marks=pytest.mark.slow)])
def test_measures_in_one_run_are_those_one_by_one(level: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("softbleu.corpora.corpus.BLOCK", 8)
    corpus, gold = make_corpus(), []
    for text in corpus.source or ():
        # One of three annotators changes the first word, and the others nothing.
        edits = (Edit(0, 1, "Word", ("sat",)),) if text.split() else ()
        gold.append(GoldSegment(text, (Annotation(0, edits), Annotation(1, ()), Annotation(2, ()))))
    corpus = replace(corpus, gold=gold)
    # Of refless: tests/test_refless.py; of scores: tests/results/test_outside_scores.py.
    every = [VLEU, XLEU, *(each for each in every_measure(VECTORS) if each.name != "refless")]
    single = [result for measure in every for result in score_corpus(corpus, measure, level=level)]
    assert score_corpus(corpus, every, level=level) == single
    assert len({result.score for result in single}) > len(every)


@pytest.mark.parametrize("workers", [None, 2])
@pytest.mark.parametrize("measures", [[BLEU], [VLEU], [XLEU], [BLEU, read_metric("bleu", tokenize="13a")]], ids=str)
def test_progress_goes_through_all_passes(measures: list[Metric], workers: int | None) -> None:
    seen: list[tuple[int, int]] = []
    with ThreadPoolExecutor(workers) as pool:
        executor = pool if workers else None
        score_corpus(make_corpus(), measures, executor=executor, progress=lambda *step: seen.append(step))
    total = SEGMENTS * len(measures)
    assert seen[-1] == (total, total)
    assert seen == sorted(set(seen))
    assert workers or seen == [(done, total) for done in range(2, total + 1, 2)]


def test_a_tokenizer_that_was_used_before_still_travels() -> None:
    tokenizer = Tokenizer13a()
    tokenizer.split("it's used")
    # And so does what cannot be encoded.
    corpus = Segments.of(["it's \ud800", "x|y"] * 20, ["it \ud800", "x|y z"] * 20)
    expected = score_corpus(corpus, complete(VLEU, Tokenizer13a()))
    assert score_corpus(corpus, complete(VLEU, tokenizer), jobs=2) == expected


def test_errors_of_workers_arrive(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"a\n" * 20 + b"\xff\n")
    with ParallelFiles.open([str(tmp_path / "bad.txt")], [str(tmp_path / "bad.txt")]) as corpus:
        refused(InputError, r"bad\.txt, line 21, byte 1: not UTF-8", score_corpus, corpus, BLEU, jobs=2)


def test_tasks_left_over_are_cancelled_when_the_reader_stops() -> None:
    first, second = Future[Any](), Future[Any]()
    first.set_result(7)
    executor = Mock(Executor, _max_workers=1, submit=Mock(side_effect=[first, second]))
    results = run_in_order(len, ["a"] * 9, executor)
    assert next(results) == 7
    results.close()  # type: ignore[attr-defined]
    assert second.cancelled()


def test_coverage_counts_tokens_with_a_vector_where_vectors_were_looked_at() -> None:
    """It must not turn into an exact one in silence."""
    result = score_corpus(make_corpus(), Bleu(make_matcher("vleu", threshold=0.3)))[0]
    assert parse_signature(result.signature)["vectors"].startswith(f"{DEFAULT_VECTORS}#")
    assert result.coverage is not None
    for measure in (BLEU, read_metric("vleu", threshold=1.0, vectors=VECTORS)):
        assert score_corpus(make_corpus(), measure)[0].coverage is None
    corpus = Segments.of(["cat oov DOG", "", "nil cat"], [["cat cat", "x"], [""], ["nil dog"]])
    vectors = {"cat": [1.0, 1.0], "dog": [2.0, 1.0], "nil": [0.0, 0.0]}
    choices = [VectorChoice(vectors, case) for case in ("fallback", "exact")]
    found, exact = (score_corpus(corpus, replace(VLEU, vector_choice=each))[0].coverage for each in choices)
    sides = {"candidate": {"tokens": 5, "known": 3}, "reference": {"tokens": 5, "known": 3}}
    assert found is not None
    assert found.as_dict() == {**sides, "zero_words": 1}
    assert exact is not None
    assert exact.candidate_known == 2


def test_raw_norms_of_one_system_do_not_weigh_in_another() -> None:
    """The mean norm that words without a vector get must not depend on what else is scored in the same call."""
    vectors = {"cat": [3.0, 0.0], "dog": [1.0, 1.0], "far": [50.0, 50.0]}
    raw = replace(VLEU, vector_choice=VectorChoice(vectors, normalize=False))
    alone = score_corpus(Segments.of({"A": ["cat u"]}, ["dog u"]), raw)
    beside = score_corpus(Segments.of({"A": ["cat u"], "B": ["far"]}, ["dog u"]), raw)
    assert beside[0].score == alone[0].score


def test_the_signature_by_its_keys() -> None:
    metric = replace(VLEU, smooth="floor", smooth_value=0.5)
    corpus, segment = (score_corpus(make_corpus(), metric, level=level)[0] for level in ("corpus", "segment"))
    pairs = parse_signature(corpus.signature)
    name, _, digits = pairs["vectors"].partition("#")
    assert (name, len(digits), set(digits) <= set("0123456789abcdef")) == ("mapping", 12, True)
    settings = [(one, value) for one, value in metric.settings() if one.signed]
    signed = [one.key for one, value in settings if value != one.default or not one.signed_if_set]
    assert list(pairs) == ["metric", *signed, "level", "nrefs", "version"]
    assert (pairs["level"], pairs["nrefs"], pairs["version"]) == ("corpus", "2", __version__)
    # Segments are scored with effective order, the corpus without: one signature cannot be silent about that.
    assert segment.signature != corpus.signature


def test_contents_of_models_are_in_the_signature(tmp_path: Path) -> None:
    (tmp_path / "m.arpa").write_text("\\data\\\nngram 1=3\n\n\\1-grams:\n-99 <s>\n-1 </s>\n-1 a\n\n\\end\\\n")
    given = read_metric("refless", language_model=str(tmp_path / "m.arpa"))
    assert "m.arpa#" in given.signature()
    assert given.signature() != read_metric("refless").signature()
