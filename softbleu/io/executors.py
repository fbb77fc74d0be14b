"""Executors of this machine: threads for compiled work, or processes; and how many cores linear algebra takes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from softbleu.io.arguments import check_run
from softbleu.io.forks import lock
from softbleu.io.platform import end_processes
from softbleu.io.progress import hush

if TYPE_CHECKING:
    from multiprocessing.synchronize import Lock


@contextmanager
def chosen_executor(
    executor: Executor | None, jobs: int, tasks: int, *, threads: bool = False
) -> Iterator[Executor | None]:
    """The executor that was given, else one of so many jobs on this machine; None does the work here.

    No more workers are started than there are tasks.
    """
    check_run(jobs, executor, None)
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
    begin = (_begin_worker, (context.Lock(),))
    with warnings.catch_warnings(), ProcessPoolExecutor(jobs, context, *begin) as executor:
        # Python cannot know that the only other threads are those of the linear algebra library, at rest.
        warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)
        try:
            yield executor
        finally:
            end_processes(executor)


def _begin_worker(speaks: Lock) -> None:
    """Keep a worker to one core and to its parent: it ends by itself where that was killed, and as that says.

    All do the same; the first, which takes the lock and keeps it, writes the notes.
    """
    from threadpoolctl import threadpool_limits

    if not speaks.acquire(block=False):
        hush()
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
    # Where threads share the limit, the first one that comes sets it, and the last one that leaves lifts it.
    # OpenMP has a limit for each thread.
    with _LIMITING, _in_charge() as (shared, separate):
        if not _limits:
            _limits.append(shared.limit(limits=1, user_api="blas"))
        _limits.append(threading.get_ident())
        limit = separate.limit(limits=1, user_api="blas") if separate.lib_controllers else None
    try:
        yield
    finally:
        with _LIMITING, _in_charge():
            if limit is not None:
                limit.restore_original_limits()
            _limits.remove(threading.get_ident())
            _lift()


@lru_cache(1)
def _libraries(modules: int) -> tuple[Any, Any, list[Any]]:
    """Libraries whose limit threads share, those that each thread limits, and what lets go of the thread in charge.

    They are looked for again once there are more modules, which may have brought some.
    """
    from threadpoolctl import ThreadpoolController

    libraries = ThreadpoolController()
    separate = libraries.select(internal_api="openblas").select(threading_layer="openmp")
    paths = {library.filepath for library in libraries.lib_controllers}
    shared = libraries.select(filepath=list(paths - {library.filepath for library in separate.lib_controllers}))
    lets_go = (getattr(library, "clear_controlling_thread", None) for library in libraries.lib_controllers)
    return shared, separate, [let_go for let_go in lets_go if let_go]


@contextmanager
def _in_charge() -> Iterator[tuple[Any, Any]]:
    """Let this thread set limits: from threadpoolctl 3.8 on, only the first that set one may, until it ends."""
    shared, separate, lets_go = _libraries(len(sys.modules))
    for let_go in lets_go:
        let_go(force=True)
    yield shared, separate
    for let_go in lets_go:
        let_go(force=True)


def _lift() -> None:
    if len(_limits) == 1:
        with _in_charge():
            _limits.pop().restore_original_limits()


def _keep_one_thread() -> None:
    """Forget, in a forked process, the limits of threads that it lacks."""
    _limits[1:] = [thread for thread in _limits[1:] if thread == threading.get_ident()]
    _lift()


_LIMITING = lock()
_limits: list[Any] = []
"""The limit, which can be lifted, then the number of each thread that has entered."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_one_thread)
