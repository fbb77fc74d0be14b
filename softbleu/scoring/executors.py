"""Where work is done: here, in other processes or threads, or wherever an executor sends it."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from softbleu.errors import InputError

_Task = TypeVar("_Task")
Done = TypeVar("Done")


def run_in_order(work: Callable[[_Task], Done], tasks: Iterable[_Task], executor: Executor | None) -> Iterator[Done]:
    """Do the tasks and give their results in order; twice as many are under way as there are workers.

    >>> list(run_in_order(len, ["a", "bc"], None))
    [1, 2]
    """
    if executor is None:
        yield from map(work, tasks)
        return
    window = 2 * count_workers(executor)
    waiting: deque[Future[Done]] = deque()
    try:
        for task in tasks:
            if len(waiting) >= window:
                yield waiting.popleft().result()
            waiting.append(executor.submit(work, task))
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def count_workers(executor: Executor) -> int:
    """How many workers an executor has, as Python's own and those of clusters tell; else those of this machine.

    >>> count_workers(ThreadPoolExecutor(8))
    8
    """
    workers = getattr(executor, "_max_workers", None)
    if isinstance(workers, int) and workers > 0:
        return workers
    client = getattr(executor, "_client", None)
    if client is not None and hasattr(client, "ncores"):
        return max(1, int(sum(client.ncores().values())))
    return os.cpu_count() or 1


@contextmanager
def chosen_executor(executor: Executor | None, jobs: int, *, threads: bool = False) -> Iterator[Executor | None]:
    """The executor that was given, else one of so many jobs on this machine; None does the work here.

    Raises
    ------
    InputError
        Fewer jobs than 1.
    """
    if jobs < 1:
        raise InputError(f"the number of jobs must be at least 1, not {jobs}")
    if executor is not None or jobs == 1:
        yield executor
        return
    with local_executor(jobs, threads=threads) as local:
        yield local


@contextmanager
def local_executor(jobs: int, *, threads: bool) -> Iterator[Executor]:
    """An executor on this machine: threads for compiled work, which lets go of the interpreter, else processes."""
    if threads:
        with ThreadPoolExecutor(jobs) as executor:
            yield executor
        return
    # Forked workers start at once and need no importable main module; forking beside other threads is unsafe.
    fork = sys.platform.startswith("linux") and threading.active_count() == 1
    context = multiprocessing.get_context("fork" if fork else "spawn")
    with warnings.catch_warnings(), ProcessPoolExecutor(jobs, context, _keep_to_one_core) as executor:
        # Python cannot know that the only other threads are those of the linear algebra library, at rest.
        warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)
        yield executor


def _keep_to_one_core() -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="blas")


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep matrix products on one core: they are small, and waiting threads cost more than they bring."""
    if os.environ.get("OPENBLAS_NUM_THREADS") == "1":
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
