"""A cluster gives the digits of one process, whatever happens to its workers, or one line."""

from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.conftest import TEXTS
from distributed import Client, LocalCluster
from made_up_executor import Strangers
from refusing import refused

import softbleu
from softbleu.corpora import ParallelFiles
from softbleu.errors import InputError, WorkerError
from softbleu.io import executors
from softbleu.io.executors import cluster_executor, count_workers, run_in_order
from softbleu.results.api import score_corpus

pytestmark = pytest.mark.xdist_group("cluster")
on_a_cluster = pytest.mark.slow
MEASURES = ["bleu", "vleu(threshold=0.6)", "chrf", "softbleu"]
WORDS = ["dog", "cat", "horse", "house", "home", "car", "red", "blue", "small", "little", "the", "a", "runs", "walks"]
HOW: dict[str, Any] = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}


@pytest.fixture(scope="module")
def corpus() -> list[list[str]]:
    """Five blocks of text."""
    draws = [np.random.default_rng(seed).choice(WORDS, (4500, 8)).tolist() for seed in (1, 2)]
    return [list(map(" ".join, lines)) for lines in draws]


@pytest.fixture(scope="module")
def alone(corpus: Any) -> Any:
    return softbleu.score(*corpus, metrics=MEASURES)


@pytest.fixture(scope="module")
def threads() -> Iterator[Client]:
    """A cluster whose workers are threads of this process."""
    with LocalCluster(threads_per_worker=2, **HOW) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def processes() -> Iterator[Any]:
    """The executor of a cluster of two processes."""
    with cluster_executor("local:2") as executor:
        yield executor


@on_a_cluster
def test_no_more_workers_are_started_than_there_is_work_for(command: Any, files: Any, monkeypatch: Any) -> None:
    started: list[int] = []
    scale = LocalCluster.scale
    monkeypatch.setattr(LocalCluster, "scale", lambda self, n: (started.append(n), scale(self, n)))
    done = command("score", "-b", *TEXTS, "--cluster", "local:200")
    assert (done.code, done.out, max(started)) == (0, command("score", "-b", *TEXTS).out, 1)


@pytest.mark.parametrize(
    ("workers", "kernels"), [(1, "numpy"), (8, "numpy"), pytest.param(2, "numba", marks=pytest.mark.slow)]
)
def test_any_executor_and_any_order_give_the_same_digits(workers, kernels, corpus, alone, files, monkeypatch):
    pytest.importorskip(kernels)
    candidate, reference = (str(files.write(name, lines)) for name, lines in zip("cr", corpus, strict=True))
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


@on_a_cluster
def test_a_worker_may_join_late(threads: Client, corpus: Any, alone: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_RECOUNT", 0.0)
    executor, seen = threads.get_executor(), set()

    def join(done: int, _: int) -> None:
        threads.cluster.scale(2)
        threads.wait_for_workers(2)
        seen.add(count_workers(executor))

    try:
        assert softbleu.score(*corpus, metrics=MEASURES, executor=executor, progress=join) == alone
        assert seen == {4}
    finally:
        threads.cluster.scale(1)


def _fails_twice(folder: Path, number: int) -> int:
    """Work on a number that cannot be done the first two times."""
    for attempt in range(2):
        mark = folder / f"{number}.{attempt}"
        if not mark.exists():
            mark.touch()
            raise OSError("the line is busy")
    return number


@on_a_cluster
def test_a_task_that_fails_twice_is_tried_again(threads: Client, tmp_path: Path) -> None:
    with cluster_executor(threads.scheduler.address) as executor:
        assert list(run_in_order(partial(_fails_twice, tmp_path), range(3), executor)) == [0, 1, 2]
    assert len(list(tmp_path.iterdir())) == 6


@on_a_cluster
def test_a_lost_scheduler_is_an_error_of_one_line(corpus: Any) -> None:
    with LocalCluster(threads_per_worker=1, **HOW) as cluster, Client(cluster, set_as_default=False) as client:
        how = {"executor": client.get_executor(), "progress": lambda *_: cluster.close()}
        refused(WorkerError, r"^the cluster gave up \(.*\): .*", softbleu.score, *corpus, metrics="bleu", **how)


@on_a_cluster
@pytest.mark.parametrize(("version", "said"), [(None, "no softbleu"), ("0.0.1", r"softbleu 0\.0\.1")])
def test_a_cluster_without_this_version_is_refused(threads: Any, version: Any, said: str, monkeypatch: Any) -> None:
    other = executors._RemoteTask(len, "0.0.1")
    with pytest.raises(WorkerError, match=r"a worker has softbleu .*, and here is 0\.0\.1"):
        threads.get_executor().submit(other, "a").result()
    found = {"workers": {"tcp://10.0.0.7:1": {"packages": {"softbleu": version}}}}
    monkeypatch.setattr(Client, "get_versions", lambda *_, **__: found)
    line = rf"the worker tcp://10\.0\.0\.7:1 has {said}, and here is .*: install the same there"
    with pytest.raises(InputError, match=line), cluster_executor(threads.scheduler.address):
        pass
