"""Workarounds for systems and libraries, each with the measurement that justifies it."""

from __future__ import annotations

import ast
import functools
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from tempfile import TemporaryFile
from threading import RLock, get_ident, main_thread
from typing import TYPE_CHECKING, Any, TextIO

if sys.version_info >= (3, 12) or TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801
        """A property that is computed once, without the lock that Python 3.11 has for all objects of a class.

        A process that is forked while another thread computes it never waits for that thread.
        """

        def __get__(self, instance: object, owner: object = None) -> object:
            if instance is None:
                return self
            # Where two threads compute it, both get the value of the first.
            return instance.__dict__.setdefault(self.attrname, self.func(instance))


if TYPE_CHECKING:
    from concurrent.futures import Executor
    from multiprocessing.process import BaseProcess

    from threadpoolctl import LibController

_ALL_CORES: ContextVar[bool] = ContextVar("softbleu_all_cores", default=False)
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def free_at_forks(held: Any) -> None:
    """Fork the process only while no other thread has a lock; it is free in parent and child."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=held.acquire, after_in_parent=held.release, after_in_child=held.release)


def lock() -> RLock:
    """Make a lock that no other thread holds when the process is forked.

    >>> with lock():
    ...     pass
    """
    made = RLock()
    free_at_forks(made)
    return made


_PRINTING = lock()
_LIMITING = lock()
_SHARED = 0  # No thread has this number
_limits: dict[int, tuple[int, list[tuple[LibController, int]]]] = {}
"""Number of entries of each thread, and of all, with the cores that libraries had before."""


@contextmanager
def without_prints(beginning: bytes) -> Iterator[None]:
    """Keep lines that a library prints, and that begin so, from standard output; others printed meanwhile follow.

    harper-py 0.2.0 prints `gerund_form: -hearing- -- verb: -hear-` of every "looking forward to hear", amid results.
    """
    with _PRINTING, TemporaryFile() as printed:
        shown = os.dup(1)
        os.dup2(printed.fileno(), 1)
        try:
            yield
        finally:
            os.dup2(shown, 1)
            os.close(shown)
            printed.seek(0)
            os.write(1, b"".join(line for line in printed if not line.startswith(beginning)))


def exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step, if the system can (Linux).

    While a store was replaced 3,000 times, another process found it in all of 261,463 attempts; with two renames, as
    on other systems, it found nothing in 6,488 of 306,841.
    """
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    done: int = rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return done == 0


def processes_of(executor: Executor) -> list[BaseProcess] | None:
    """Worker processes of an executor; None of one of threads, or elsewhere.

    A worker that is killed while it hands over a result leaves its executor waiting for the rest. Without a look at
    the processes `test_a_worker_killed_while_it_hands_over_holds_up_nobody` hangs for ever.
    """
    processes = getattr(executor, "_processes", None)
    return None if processes is None else list(processes.values())


def count_workers(executor: Executor) -> int:
    """Return the number of workers of an executor, if it tells; else the number of cores.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> count_workers(ThreadPoolExecutor(8))
    8
    """
    workers = getattr(executor, "_max_workers", None)
    return workers if isinstance(workers, int) and workers > 0 else count_cores()


def count_cores() -> int:
    """Count the cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def on_all_cores() -> Iterator[None]:
    """Let `own_cores` tell all cores in this block; other threads are not affected."""
    token = _ALL_CORES.set(True)
    try:
        yield
    finally:
        _ALL_CORES.reset(token)


def own_cores() -> int:
    """Return how many cores may be used without processes: one outside `on_all_cores`, or in a worker process.

    It is one, too, where the user limits linear algebra to one.
    """
    worker = getattr(sys.modules.get("multiprocessing.process"), "parent_process", lambda: None)()
    limited = "1" in (os.environ.get("OMP_NUM_THREADS"), os.environ.get("OPENBLAS_NUM_THREADS"))
    return 1 if worker or limited or not _ALL_CORES.get() else count_cores()


def runs_again(main: object) -> bool:
    """Whether a started process that imports the main module would run its code again, because it is not guarded.

    A script of five lines whose thread called `score(jobs=2)` ran three times, and then failed.
    """
    path = getattr(main, "__file__", None)
    named = getattr(getattr(main, "__spec__", None), "name", "")
    if path is None or named.rpartition(".")[2] == "__main__":
        return False  # Then none is imported
    if getattr(import_module("multiprocessing").current_process(), "_inheriting", False):
        return True
    try:
        tree = ast.parse(Path(path).read_bytes())
    except OSError:
        return True  # From standard input, so that it cannot even be imported
    except (SyntaxError, ValueError):
        return False
    guards = [node for node in tree.body if isinstance(node, ast.If) and "__name__" in ast.dump(node.test)]
    frame = sys._current_frames().get(main_thread().ident or 0)
    while frame is not None and (frame.f_globals is not vars(main) or frame.f_code.co_name != "<module>"):
        frame = frame.f_back
    if frame is None:
        return not guards
    return not any(guard.lineno <= frame.f_lineno <= (guard.end_lineno or 0) for guard in guards)


def end_processes(executor: Executor) -> None:
    """End the workers of a pool at once.

    A killed worker may hold the lock of the queue from which the others would read the request to end, so they are
    terminated. Unfinished results and tasks are neither awaited nor sent, as the pool might hang on them.
    """
    for process in processes_of(executor) or ():
        process.terminate()
    results = vars(executor)["_result_queue"]
    results._writer.close()
    if sys.version_info < (3, 11, 5):  # Later ones do so themselves
        tasks = vars(executor)["_call_queue"]
        with suppress(OSError):
            tasks._reader.close()


@cache
def load_njit() -> Any:
    """Load numba's compiler without parts that softbleu's kernels do not use: 0.49 s of CPU time instead of 0.67 s.

    It would load SciPy's linear algebra only to check that it exists; functions that multiply matrices still load it.
    """
    linalg: Any = import_module("numba.np.linalg")
    ensure_blas = getattr(linalg, "ensure_blas", None)
    linalg.ensure_blas = lambda: None
    try:
        import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ensure_blas
    return import_module("numba").njit


@cache
def sacrebleu_tokenizers() -> str:
    """Package of sacrebleu's tokenizers, without the rest of sacrebleu: 1 ms of CPU time in place of 82 ms.

    They import one another only, by names relative to their package, which may be called anything.
    """
    whole = find_spec("sacrebleu")
    if whole is None or not whole.submodule_search_locations:
        return "sacrebleu.tokenizers"
    spec = ModuleSpec("softbleu_sacrebleu_tokenizers", None, is_package=True)
    spec.submodule_search_locations = [str(Path(whole.submodule_search_locations[0]) / "tokenizers")]
    sys.modules[spec.name] = module_from_spec(spec)
    return spec.name


def drop_output(stream: TextIO | None = None) -> None:
    """Discard output that standard output, or another stream, cannot write, so that Python does not fail at exit."""
    stream = stream or sys.stdout
    if stream is None:
        return
    try:
        stream.flush()
    except (OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def tell(line: str) -> None:
    """Write a line to standard error; failures are ignored."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        drop_output(sys.stderr)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep matrix products on one core: they are small, and waiting threads cost more than they bring."""
    if os.environ.get("OPENBLAS_NUM_THREADS") == "1":
        yield
        return
    # Where threads share the limit, the first one that comes sets it, and the last one that leaves lifts it.
    # OpenMP has a limit for each thread.
    thread = get_ident()
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
def _libraries(modules: int) -> tuple[list[LibController], list[LibController]]:
    """Find the linear algebra libraries whose limit threads share, and those with a limit per thread.

    They are searched again when there are more modules, which may have loaded some.
    """
    from threadpoolctl import ThreadpoolController

    libraries = ThreadpoolController().select(user_api="blas")
    separate = libraries.select(internal_api="openblas").select(threading_layer="openmp").lib_controllers
    return [library for library in libraries.lib_controllers if library not in separate], separate


def _limit(libraries: Sequence[LibController]) -> list[tuple[LibController, int]]:
    """Limit libraries to one core, and return their numbers before."""
    before = [(library, library.get_num_threads()) for library in libraries]
    _set_cores([(library, 1) for library, cores in before if cores != 1])
    return before


def _set_cores(cores: Iterable[tuple[LibController, int]]) -> None:
    """Set the cores of libraries from any thread; threadpoolctl 3.8 obeys only the first that set them."""
    for library, count in cores:
        let_go = getattr(library, "clear_controlling_thread", lambda **_: None)
        let_go(force=True)
        library.set_num_threads(count)
        let_go(force=True)


def _leave(key: int) -> None:
    entered, before = _limits.pop(key)
    if entered > 1:
        _limits[key] = entered - 1, before
    elif key in (_SHARED, get_ident()):
        _set_cores(before)


def _keep_one_thread() -> None:
    """Forget, in a forked process, the limits of threads that it lacks."""
    thread = get_ident()
    (_, before), entered = _limits.pop(_SHARED, (0, [])), _limits.get(thread, (0, []))
    _limits.clear()
    if entered[0]:
        _limits.update({thread: entered, _SHARED: (entered[0], before)})
    else:
        _set_cores(before)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_one_thread)
