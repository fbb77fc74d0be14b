"""The runner: executors, progress, errors, coverage and signatures."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from complete import complete

from softbleu import InputError, __version__
from softbleu.config.signature import parse_signature
from softbleu.corpora import ParallelFiles, Segments
from softbleu.embeddings import DEFAULT_VECTORS
from softbleu.io.executors import run_in_order
from softbleu.language import train_ngrams, write_arpa
from softbleu.matching import make_matcher
from softbleu.metrics import Bleu, Metric
from softbleu.metrics.making import make_metric
from softbleu.results import VectorChoice, score_corpus
from softbleu.text.tokens import Tokenizer

WORDS = ["cat", "dog", "Dog", "mat", "naïve", "the", "日本", "oov", "nil", "it's"]
VECTORS = {word: [float(number), 1.0, -2.0] for number, word in enumerate(WORDS[:-3])} | {"nil": [0.0] * 3}
CHOICE = VectorChoice(VECTORS)
SEGMENTS = 50


class Inline(Executor):
    """An executor of one's own: does the work at once, and counts it."""

    def __init__(self) -> None:
        self.tasks = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.tasks += 1
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("corpora.segments", "corpora.parallel", "engine.runner"):
        monkeypatch.setattr(f"softbleu.{module}.BLOCK", 8)


def lines(seed: int) -> list[str]:
    choose = random.Random(seed)
    return [" ".join(choose.choices(WORDS, k=choose.randint(0, 12))) for _ in range(SEGMENTS)]


def in_memory() -> Segments:
    return Segments.of({"one": lines(1), "two": lines(2)}, list(zip(lines(3), lines(4), strict=True)))


def measure_of(metric: Bleu, choice: VectorChoice = CHOICE) -> Metric:
    return complete(metric, Tokenizer(), choice)


METRICS = [
    Bleu(),
    Bleu(make_matcher("vleu", threshold=0.3)),
    Bleu(make_matcher("xleu", assignment="sequential", consumption="similarity"), denominator="reference"),
]
each_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.matcher.name)


@each_metric
def test_an_executor_does_all_blocks(metric: Bleu) -> None:
    expected = score_corpus(in_memory(), measure_of(metric))
    # A worker that has not been sent the words yet asks for them, and is given the same again.
    assert score_corpus(in_memory(), measure_of(metric), executor=Inline()) == expected
    executor = Inline()
    assert score_corpus(in_memory(), measure_of(metric), executor=executor) == expected
    # A worker is first given a quarter of what there is, in whole blocks.
    batches = len([16, 8, 8, 8, 8, 2])
    # With vectors there is a pass before, for the words.
    assert executor.tasks == (2 * batches if metric.requires.vectors else batches)
    assert executor.submit(len, "still open").result() == 10


def test_a_tokenizer_that_was_used_before_still_travels() -> None:
    tokenizer = Tokenizer("13a")
    tokenizer.split("it's used")
    # And so does what cannot be encoded.
    corpus = Segments.of(["it's \ud800", "x|y"] * 20, ["it \ud800", "x|y z"] * 20)
    expected = score_corpus(corpus, complete(METRICS[1], Tokenizer("13a"), CHOICE))
    assert score_corpus(corpus, complete(METRICS[1], tokenizer, CHOICE), jobs=2) == expected


def test_errors_of_workers_arrive(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"a\n" * 20 + b"\xff\n")
    with (
        ParallelFiles.open([str(path)], [str(path)]) as corpus,
        pytest.raises(InputError, match=r"bad\.txt, line 21, byte 1: not UTF-8"),
    ):
        score_corpus(corpus, Bleu(), jobs=2)


@pytest.mark.parametrize("workers", [None, 2])
@each_metric
def test_progress(metric: Bleu, workers: int | None) -> None:
    seen: list[tuple[int, int]] = []
    with ThreadPoolExecutor(workers) as executor:
        score_corpus(
            in_memory(),
            measure_of(metric),
            executor=executor if workers else None,
            progress=lambda *step: seen.append(step),
        )
    # With two workers the first batch has two blocks.
    assert seen == [(done, SEGMENTS) for done in (8, 16, 24, 32, 40, 48, 50)][1 if workers else 0 :]


# executors


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_every_worker_of_an_executor_has_a_task(workers: int) -> None:
    """Each task waits until as many are under way as there are workers: with fewer it would break."""
    together = Barrier(workers)

    def work(number: int) -> int:
        together.wait(timeout=20)
        return number

    with ThreadPoolExecutor(workers) as executor:
        assert list(run_in_order(work, range(3 * workers), executor)) == list(range(3 * workers))


def test_tasks_left_over_are_cancelled_when_the_reader_stops() -> None:
    class Idle(Executor):
        _max_workers = 1
        futures: list[Future[Any]] = []  # noqa: RUF012

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            if not self.futures:
                # Several tasks make one batch.
                future.set_result([7])
            self.futures.append(future)
            return future

    executor = Idle()
    results = run_in_order(len, ["a"] * 9, executor)
    assert next(results) == 7
    results.close()  # type: ignore[attr-defined]
    assert len(executor.futures) == 2
    assert executor.futures[1].cancelled()


# coverage


def test_a_soft_matcher_without_vectors_takes_the_usual_ones() -> None:
    """It must not turn into an exact one in silence."""
    result = score_corpus(in_memory(), METRICS[1])[0]
    assert parse_signature(result.signature)["vectors"].startswith(f"{DEFAULT_VECTORS}#")
    assert result.coverage is not None


def test_coverage_counts_tokens_with_a_vector() -> None:
    corpus = Segments.of(["cat oov DOG", "", "nil cat"], [["cat cat", "x"], [""], ["nil dog"]])
    result = score_corpus(corpus, measure_of(METRICS[1]))[0]
    assert result.coverage is not None
    assert result.coverage.as_dict() == {
        "candidate": {"tokens": 5, "known": 3},
        "reference": {"tokens": 5, "known": 3},
        "zero_words": 1,
    }
    exact_case = score_corpus(corpus, measure_of(METRICS[1], replace(CHOICE, vector_case="exact")))[0].coverage
    assert exact_case is not None
    assert exact_case.candidate_known == 2


def test_coverage_is_that_of_the_texts() -> None:
    corpus = in_memory()
    known = {word for word, vector in VECTORS.items() if any(vector)}
    references = [word for texts in corpus.references for text in texts for word in text.split()]
    for result in score_corpus(corpus, measure_of(METRICS[1])):
        tokens = [word for text in corpus.candidates[result.name] for word in text.split()]
        assert result.coverage is not None
        assert result.coverage.as_dict() == {
            "candidate": {"tokens": len(tokens), "known": sum(word in known for word in tokens)},
            "reference": {"tokens": len(references), "known": sum(word in known for word in references)},
            "zero_words": 1,
        }


def test_no_coverage_where_no_vector_was_looked_at() -> None:
    for matcher in (make_matcher("exact"), make_matcher("vleu", threshold=1.0)):
        assert score_corpus(in_memory(), measure_of(Bleu(matcher)))[0].coverage is None


def test_raw_norms_of_one_system_do_not_weigh_in_another() -> None:
    """The mean norm that words without a vector get must not depend on what else is scored in the same call."""
    vectors = {"cat": [3.0, 0.0], "dog": [1.0, 1.0], "far": [50.0, 50.0]}
    raw = measure_of(METRICS[1], VectorChoice(vectors, normalize=False))
    alone = score_corpus(Segments.of({"A": ["cat u"]}, ["dog u"]), raw)
    beside = score_corpus(Segments.of({"A": ["cat u"], "B": ["far"]}, ["dog u"]), raw)
    assert beside[0].score == alone[0].score


# signatures of results; of settings: tests/test_declare.py


def signature(metric: Bleu, tokenizer: Tokenizer = Tokenizer(), choice: VectorChoice = CHOICE) -> str:  # noqa: B008
    return score_corpus(in_memory(), complete(metric, tokenizer, choice))[0].signature


def test_the_signature_by_its_keys() -> None:
    metric = Bleu(make_matcher("vleu", threshold=0.25), smooth="floor", smooth_value=0.5)
    pairs = parse_signature(signature(metric, Tokenizer("13a")))
    name, _, digits = pairs["vectors"].partition("#")
    assert (name, len(digits), set(digits) <= set("0123456789abcdef")) == ("mapping", 12, True)
    keys = [each.key for each, _ in complete(metric, Tokenizer("13a"), CHOICE).settings()]
    assert list(pairs) == ["metric", *keys, "level", "nrefs", "version"]
    assert (pairs["level"], pairs["nrefs"], pairs["version"]) == ("corpus", "2", __version__)
    assert (pairs["smooth-value"], pairs["normalize"], pairs["neighbours"]) == ("0.5", "yes", "none")


def test_the_content_of_vectors_is_in_the_signature(tmp_path: Path) -> None:
    found = []
    for content in ("cat 1 2\ndog 2 1\n", "cat 1 2\ndog 2 3\n"):
        path = tmp_path / "vectors.txt"
        path.write_text(content, encoding="utf-8")
        found.append(parse_signature(signature(METRICS[1], choice=VectorChoice(path)))["vectors"])
    assert found[0] != found[1]
    assert all(text.startswith("vectors.txt#") for text in found)


def test_the_content_of_a_language_model_is_in_the_signature(tmp_path: Path) -> None:
    write_arpa(train_ngrams([["a", "cat"], ["a", "dog"]], 2), tmp_path / "m.arpa")
    given = make_metric("refless", language_model=str(tmp_path / "m.arpa"))
    assert "m.arpa#" in given.signature()
    assert given.signature() != make_metric("refless").signature()


def test_segment_scores_are_covered_by_the_signature() -> None:
    """Segments are scored with effective order, the corpus without: one signature cannot be silent about that."""
    corpus, segment = (score_corpus(in_memory(), level=level)[0] for level in ("corpus", "segment"))
    assert segment.signature != corpus.signature
