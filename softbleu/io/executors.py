"""Executors on this machine, and tasks that are given to these or any others in order."""

from __future__ import annotations

import hashlib
import mmap
import os
import pickle
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from softbleu.errors import WorkerError
from softbleu.io.arguments import check_run
from softbleu.io.files import TemporaryFolder
from softbleu.io.platform import count_workers, end_processes, processes_of, runs_again, single_threaded_blas
from softbleu.io.progress import hush, note_wait
from softbleu.version import __version__

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized
    from multiprocessing.synchronize import Lock


LOST_AFTER = 1.0  # Seconds after which a dead worker counts as lost, even if its executor does not report it
_MOST_HELD = 8
_ALIGNED = 64  # Bytes at whose multiples arrays begin in a file

_Task = TypeVar("_Task")
_Value = TypeVar("_Value")
Done = TypeVar("Done")
_number = 0  # Of this worker
_no_forks = False  # Whether a device is in use, which forked processes could not use
_held: dict[str, object] = {}
"""Large values that this process has received, by the keys of `Held`; the last used are kept."""
_sent: dict[str, list[bytes]] = {}  # Pickled values that are held for workers elsewhere, as often as they are held


@contextmanager
def chosen_executor(
    executor: Executor | None, jobs: int, tasks: int, *, threads: bool = False
) -> Iterator[Executor | None]:
    """Yield the given executor, or one with `jobs` workers on this machine, or None to work in this process.

    No more workers are started than tasks, and no processes where these cannot be started safely.
    """
    check_run(jobs, executor, None)
    if executor is not None or min(jobs, tasks) <= 1 or not (threads or _can_start()):
        yield executor
        return
    with local_executor(min(jobs, tasks), threads=threads) as local:
        yield local


@contextmanager
def local_executor(jobs: int, *, threads: bool) -> Iterator[Executor]:
    """Make an executor on this machine: threads for compiled work (which releases the interpreter), or processes."""
    if threads:
        with ThreadPoolExecutor(jobs) as executor:
            yield executor
        return
    # Not loaded where nothing is handed out, for it takes a while.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("fork" if _forks() else "spawn")
    begin = (_begin_worker, (context.Lock(), context.Value("i", 0)))
    with warnings.catch_warnings(), ProcessPoolExecutor(jobs, context, *begin) as executor:
        # Python cannot know that the only other threads are idle threads of the linear algebra library.
        warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)
        try:
            yield executor
        finally:
            end_processes(executor)


def _forks() -> bool:
    """Whether to fork: workers then start fast and need no importable main module, but it is unsafe with threads."""
    return sys.platform.startswith("linux") and threading.active_count() == 1 and not _no_forks


def stop_forking() -> None:
    """Start new processes otherwise from now on: a card, and the threads of torch, do not survive a fork."""
    global _no_forks
    _no_forks = True


def _can_start() -> bool:
    """Whether processes can be started from here; if not, print a note."""
    import multiprocessing

    why = ""
    if multiprocessing.current_process().daemon:
        why = "a worker process starts no others"
    elif not _forks() and runs_again(sys.modules["__main__"]):
        why = "new ones would run this script again: call softbleu under if __name__ == '__main__'"
    if why:
        note_wait("one process is used: ", why)
    return not why


def _begin_worker(speaks: Lock, begun: Synchronized[int]) -> None:
    """Set up a worker: one core, no notes but from the first worker, and an end with the parent process.

    The first worker takes the lock, keeps it, and writes the notes.
    """
    from threadpoolctl import threadpool_limits

    global _number
    with begun.get_lock():
        _number = begun.value
        begun.value += 1
    hush(unless_shown=speaks.acquire(block=False))
    threadpool_limits(limits=1, user_api="blas")
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def worker_number() -> int:
    """Return the number of this process among the workers of its machine, from 0; 0 where it is none."""
    return _number


def _end_with_parent() -> None:
    import multiprocessing
    from multiprocessing.connection import wait

    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def shares_memory(executor: Executor) -> bool:
    """Whether workers are threads or children of this process."""
    from concurrent.futures import ProcessPoolExecutor

    return isinstance(executor, ThreadPoolExecutor | ProcessPoolExecutor)


@dataclass(frozen=True)
class Held(Generic[_Value]):
    """A large value in tasks, or a stand-in for it: each worker loads it once."""

    given: _Value | None = None
    key: str = ""  # Path of its file on this machine, or hex SHA-256 of it where it is sent

    def value(self) -> _Value:
        """The value itself."""
        if self.given is not None:
            return self.given
        if self.key not in _held:
            if not Path(self.key).is_absolute():
                raise _MissingError
            _held[self.key] = _read(Path(self.key))
            _forget(_MOST_HELD)
        # Move it to the end, as the last used.
        _held[self.key] = value = _held.pop(self.key)
        return cast("_Value", value)


def _forget(most: int) -> None:
    """Let go of the values that were used longest ago, beyond so many."""
    while len(_held) > most:
        _held.pop(next(iter(_held)), None)


class _MissingError(Exception):
    """A value is wanted that has not arrived here; work that misses one answers so."""


@contextmanager
def hold(value: _Value, executor: Executor | None) -> Iterator[Held[_Value]]:
    """Make a large value available to the workers of an executor: in a file that they map, or sent on demand."""
    if executor is None or isinstance(executor, ThreadPoolExecutor):
        yield Held(value)
    elif shares_memory(executor):
        with TemporaryFolder() as folder:
            yield Held(key=str(_write(value, Path(folder, "value").resolve())))
    else:
        content = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        key = hashlib.sha256(content).hexdigest()
        _sent.setdefault(key, []).append(content)
        try:
            yield Held(key=key)
        finally:
            _sent[key].pop()


def _write(value: object, path: Path) -> Path:
    """Write a value to a file, its arrays behind one another."""
    arrays: list[memoryview] = []
    content = pickle.dumps(value, protocol=5, buffer_callback=lambda array: arrays.append(array.raw()))
    with path.open("wb") as file:
        pickle.dump((content, [array.nbytes for array in arrays]), file)
        for array in arrays:
            file.seek(-(-file.tell() // _ALIGNED) * _ALIGNED)
            file.write(array)
        file.write(b"\n")
    return path


def _read(path: Path) -> object:
    """Read what `_write` wrote, without its arrays: the file is mapped, as memory that could be written to."""
    with path.open("rb") as file:
        content, sizes = pickle.load(file)
        place, arrays = file.tell(), list[memoryview]()
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    for size in sizes:
        start = -(-place // _ALIGNED) * _ALIGNED
        place = start + size
        arrays.append(mapped[start:place])
    return pickle.loads(content, buffers=arrays)


@dataclass(frozen=True)
class _RemoteTask(Generic[_Task, Done]):
    """A task on another machine, which returns `_MissingError` if a value is missing."""

    work: Callable[[_Task], Done]
    version: str = __version__

    def __call__(self, task: _Task, contents: Mapping[str, bytes] = {}) -> Done | _MissingError:
        if self.version != __version__:
            raise WorkerError(f"a worker has softbleu {__version__}, and here is {self.version}: install the same")
        for key, sent in contents.items():
            _held[key] = pickle.loads(sent)
        _forget(max(_MOST_HELD, len(contents)))
        try:
            with single_threaded_blas():
                return self.work(task)
        except _MissingError as error:
            return error


def run_in_order(work: Callable[[_Task], Done], tasks: Iterable[_Task], executor: Executor | None) -> Iterator[Done]:
    """Do tasks and yield their results in order; twice as many tasks are in progress as there are workers.

    Tasks may refer to values by `hold`. Raises `WorkerError` if workers or the executor are lost.

    >>> list(run_in_order(len, ["a", "bc"], None))
    [1, 2]
    """
    return map(work, tasks) if executor is None else _in_progress(work, tasks, executor)


def _in_progress(work: Callable[[_Task], Done], tasks: Iterable[_Task], executor: Executor) -> Iterator[Done]:
    """Do tasks, of which several are in progress; yield their results in order."""
    waiting: deque[tuple[_Task, Future[Done | _MissingError]]] = deque()
    sent: Callable[..., Done | _MissingError] = work if shares_memory(executor) else _RemoteTask(work)
    most = 2 * count_workers(executor)
    try:
        for task in tasks:
            if len(waiting) >= most:
                yield _first(waiting, executor, sent)
            waiting.append((task, executor.submit(sent, task)))
        while waiting:
            yield _first(waiting, executor, sent)
    except BrokenExecutor as error:
        raise WorkerError(
            "a worker process ended before its work was done (killed, or out of memory): run again with fewer jobs"
        ) from error
    except CancelledError as error:
        raise WorkerError("the executor cancelled the work: see its scheduler, and run again") from error
    finally:
        # A broken process pool fails on cancelled tasks and never ends.
        if processes_of(executor) is None:
            for _, future in waiting:
                future.cancel()


def _first(
    waiting: deque[tuple[_Task, Future[Done | _MissingError]]],
    executor: Executor,
    work: Callable[..., Done | _MissingError],
) -> Done:
    """Wait for the result of the first of the tasks that are waited for, and take it off."""
    while isinstance(result := _result(executor, waiting[0][1]), _MissingError):
        # What else is held may be missing, too, and other tasks may miss the same.
        contents = {key: several[0] for key, several in [*_sent.items()] if several}
        for place, (task, future) in enumerate(waiting):
            if future.done() and isinstance(_result(executor, future), _MissingError):
                waiting[place] = task, executor.submit(work, task, contents)
    waiting.popleft()
    return result


def _result(executor: Executor, future: Future[_Value]) -> _Value:
    """Wait for a result; raise BrokenExecutor if a process has ended before it gave one."""
    while processes := processes_of(executor):
        with suppress(TimeoutError):
            return future.result(LOST_AFTER)
        if future.done():
            break
        # One that is killed while it hands over a result leaves its executor waiting for the rest of it.
        if not all(process.is_alive() for process in processes) and not future.done():
            raise BrokenExecutor
    return future.result()
