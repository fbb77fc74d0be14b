"""Where work is done: here, in other processes or threads, or wherever an executor sends it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from softbleu.errors import InputError, WorkerError

MOST_JOBS = 1024

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
    except BrokenExecutor as error:
        raise WorkerError(
            "a worker process ended before its work was done (killed, or out of memory): run again with fewer jobs"
        ) from error
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
def chosen_executor(
    executor: Executor | None, jobs: int, tasks: int, *, threads: bool = False
) -> Iterator[Executor | None]:
    """The executor that was given, else one of so many jobs on this machine; None does the work here.

    No more workers are started than there are tasks.

    Raises
    ------
    InputError
        Fewer jobs than 1, or more than `MOST_JOBS`.
    """
    if not 1 <= jobs <= MOST_JOBS:
        raise InputError(f"the number of jobs must lie between 1 and {MOST_JOBS}, not {jobs}")
    if executor is not None or min(jobs, tasks) <= 1:
        yield executor
        return
    with local_executor(min(jobs, tasks), threads=threads) as local:
        yield local


@contextmanager
def local_executor(jobs: int, *, threads: bool) -> Iterator[Executor]:
    """An executor on this machine: threads for compiled work, which lets go of the interpreter, else processes."""
    if threads:
        with ThreadPoolExecutor(jobs) as executor:
            yield executor
        return
    # Not loaded where nothing is handed out, for it takes a while.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Forked workers start at once and need no importable main module; forking beside other threads is unsafe.
    fork = sys.platform.startswith("linux") and threading.active_count() == 1
    context = multiprocessing.get_context("fork" if fork else "spawn")
    with warnings.catch_warnings(), ProcessPoolExecutor(jobs, context, _begin_worker) as executor:
        # Python cannot know that the only other threads are those of the linear algebra library, at rest.
        warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)
        try:
            yield executor
        finally:
            # Nobody waits for what they are doing. They are not asked to end: one that was killed at rest may have
            # taken with it the lock of the queue that the others would hear it from.
            for process in list((executor._processes or {}).values()):
                process.terminate()


def _begin_worker() -> None:
    """Keep a worker to one core and to its parent: it ends by itself where that was killed, and as that says."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="blas")
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    import multiprocessing
    from multiprocessing.connection import wait

    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep matrix products on one core: they are small, and waiting threads cost more than they bring."""
    if os.environ.get("OPENBLAS_NUM_THREADS") == "1":
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
