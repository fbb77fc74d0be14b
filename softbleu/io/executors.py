"""Executors of this machine: threads for compiled work, or processes; and how many cores linear algebra takes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from softbleu.io.arguments import check_run
from softbleu.io.platform import end_processes, lock
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
    thread = threading.get_ident()
    with _LIMITING:
        for key, libraries in zip((_SHARED, thread), _libraries(len(sys.modules)), strict=True):
            entered, before = _limits.get(key) or (0, _limit(libraries))
            _limits[key] = entered + 1, before
    try:
        yield
    finally:
        with _LIMITING:
            if thread in _limits:  # In a forked process it may be gone
                _leave(_SHARED)
                _leave(thread)


@lru_cache(1)
def _libraries(modules: int) -> tuple[list[Any], list[Any]]:
    """Libraries of linear algebra whose limit threads share, and those that each thread limits.

    They are looked for again once there are more modules, which may have brought some.
    """
    from threadpoolctl import ThreadpoolController

    libraries = ThreadpoolController().select(user_api="blas")
    separate = libraries.select(internal_api="openblas").select(threading_layer="openmp").lib_controllers
    return [library for library in libraries.lib_controllers if library not in separate], separate


def _limit(libraries: Sequence[Any]) -> list[tuple[Any, int]]:
    """Keep libraries to one core, and say how many each had."""
    before = [(library, library.get_num_threads()) for library in libraries]
    _set_cores([(library, 1) for library, cores in before if cores != 1])
    return before


def _set_cores(cores: Iterable[tuple[Any, int]]) -> None:
    """Set how many cores libraries take, in any thread: threadpoolctl 3.8 heeds the first that did, until it ends."""
    for library, count in cores:
        let_go = getattr(library, "clear_controlling_thread", lambda **_: None)
        let_go(force=True)
        library.set_num_threads(count)
        let_go(force=True)


def _leave(key: int) -> None:
    entered, before = _limits.pop(key)
    if entered > 1:
        _limits[key] = entered - 1, before
    elif key in (_SHARED, threading.get_ident()):
        _set_cores(before)


def _keep_one_thread() -> None:
    """Forget, in a forked process, the limits of threads that it lacks."""
    thread = threading.get_ident()
    (_, before), entered = _limits.pop(_SHARED, (0, [])), _limits.get(thread, (0, []))
    _limits.clear()
    if entered[0]:
        _limits.update({thread: entered, _SHARED: (entered[0], before)})
    else:
        _set_cores(before)


_LIMITING = lock()
_SHARED = 0  # No thread has this number
_limits: dict[int, tuple[int, list[tuple[Any, int]]]] = {}
"""How often each thread has entered, and all together, and how many cores libraries had before."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_one_thread)
