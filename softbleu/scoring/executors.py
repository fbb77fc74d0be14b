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

Task = TypeVar("Task")
Done = TypeVar("Done")


def run_in_order(
    work: Callable[[Task], Done], tasks: Iterable[Task], executor: Executor | None, window: int
) -> Iterator[Done]:
    """Do the tasks and give their results in order, with only so many of them waiting at a time.

    >>> list(run_in_order(len, ["a", "bc"], None, 2))
    [1, 2]
    """
    if executor is None:
        yield from map(work, tasks)
        return
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
