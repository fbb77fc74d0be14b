"""Executors whose workers are elsewhere give the digits of one process, or one line."""

from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_executor import Strangers
from refusing import refused

import softbleu
from softbleu.corpora import ParallelFiles
from softbleu.errors import WorkerError
from softbleu.io import executors
from softbleu.results.api import score_corpus

MEASURES = ["bleu", "vleu(threshold=0.6)", "chrf", "softbleu"]
WORDS = ["dog", "cat", "horse", "house", "home", "car", "red", "blue", "small", "little", "the", "a", "runs", "walks"]


@pytest.fixture(scope="module")
def corpus() -> list[list[str]]:
    """Five blocks of text."""
    draws = [np.random.default_rng(seed).choice(WORDS, (4500, 8)).tolist() for seed in (1, 2)]
    return [list(map(" ".join, lines)) for lines in draws]


@pytest.fixture(scope="module")
def alone(corpus: Any) -> Any:
    return softbleu.score(*corpus, metrics=MEASURES)


@pytest.mark.parametrize(
    ("workers", "kernels"),
    [(8, "numpy"), *(pytest.param(*row, marks=pytest.mark.slow) for row in ((1, "numpy"), (2, "numba")))],
)
def test_any_executor_and_any_order_give_the_same_digits(workers, kernels, corpus, alone, tmp_path, monkeypatch):
    pytest.importorskip(kernels)
    candidate, reference = (str(tmp_path / name) for name in "cr")
    for name, lines in zip((candidate, reference), corpus, strict=True):
        Path(name).write_text("\n".join(lines))
    executor = Strangers(workers, monkeypatch.setattr)
    with ParallelFiles.open({"candidate": candidate}, [reference]) as texts:
        assert score_corpus(texts, MEASURES, executor=executor, kernels=kernels) == alone
    tables = set(executor.sent)
    # The words, and what VLEU and softbleu know of them. Each worker is sent them,
    # at most twice in each of two passes, and none with every block.
    assert len(tables) == 3
    assert all(executor.sent.count(key) <= 4 * workers for key in tables)


def test_a_worker_that_forgets_is_sent_the_table_again(corpus: Any, alone: Any, monkeypatch: Any) -> None:
    class Forgetful(Strangers):
        def submit(self, fn: Any, /, *args: Any, **_: Any) -> Future[Any]:
            if len(self.sent) in (6, 12):
                self.memories[0].clear()
            return super().submit(fn, *args)

    executor = Forgetful(1, monkeypatch.setattr)
    assert softbleu.score(*corpus, metrics=MEASURES, executor=executor) == alone
    assert len(executor.sent) > 6


class Failing(Executor):
    """Every task fails by an error."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(self.error)
        return future


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (CancelledError("lost"), "the executor cancelled the work: see its scheduler, and run again"),
        (BrokenExecutor(), r"a worker process ended before its work was done \(killed, or out of memory\)"),
    ],
)
def test_lost_work_is_an_error_of_one_line(corpus: Any, error: Exception, said: str) -> None:
    refused(WorkerError, f"^{said}", softbleu.score, *corpus, metrics="bleu", executor=Failing(error))


def test_a_worker_with_another_version_is_an_error_of_one_line() -> None:
    with pytest.raises(WorkerError, match=r"a worker has softbleu .*, and here is 0\.0\.1: install the same"):
        executors._RemoteTask(len, "0.0.1")("a")
