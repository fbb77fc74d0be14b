"""Executors on this machine and on Dask clusters, and tasks that are given to them in order."""

from __future__ import annotations

import hashlib
import logging
import mmap
import os
import pickle
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from softbleu.errors import InputError, Parameter, WorkerError, optional
from softbleu.io.arguments import MOST_JOBS, check_run
from softbleu.io.files import TemporaryFolder
from softbleu.io.platform import client_of, end_processes, processes_of, runs_again, single_threaded_blas
from softbleu.io.progress import hush, note_wait
from softbleu.version import __version__

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized
    from multiprocessing.synchronize import Lock
    from types import ModuleType


_LOCAL = "local:"
_RETRIES = 3
_CONNECT = 10  # Seconds in which a scheduler must answer
_JOIN = 60  # Seconds in which a first worker must be there
_SPAWNED = "distributed.nanny.pre-spawn-environ"
_LOCAL_SETTINGS = {
    # By default Dask returns memory to the system at once, and the arrays of the next block allocate it again.
    **{f"{_SPAWNED}.MALLOC_{name}_THRESHOLD_": 1 << 28 for name in ("TRIM", "MMAP")},
    # Profiling and monitoring would take 4% of a core.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "2s",
}
LOST_AFTER = 1.0  # Seconds after which a dead worker counts as lost, even if its executor does not report it
_MOST_HELD = 8
_EACH, _MOST_TOGETHER = 16, 8  # Tasks that each worker gets singly; greatest number of tasks sent at once
_RECOUNT = 5.0  # Seconds between counts of workers, as some may join

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
    """Return the number of this process among the workers of its machine, from 0; 0 where it is none.

    Workers of a cluster on this machine have numbers as names.
    """
    with suppress(Exception):
        # Without a worker of Dask here it raises.
        return int(sys.modules["distributed"].get_worker().name)
    return _number


def _end_with_parent() -> None:
    import multiprocessing
    from multiprocessing.connection import wait

    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@contextmanager
def cluster_executor(address: str, jobs: int = 1) -> Iterator[Executor]:
    """Make the executor of a Dask cluster: the scheduler at an address, or N workers on this machine for ``local:N``.

    Workers on this machine start when there are tasks for them.
    """
    if jobs != 1:
        raise InputError(Parameter("cluster"), " says where the work is done: leave out ", Parameter("jobs"))
    with optional("dask", "A cluster"):
        distributed = import_module("distributed")
    # Failures are reported in one line.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    workers, named = _workers_here(address), Parameter("cluster", address)
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        # Tables of words are sent by value, once a worker.
        warnings.filterwarnings("ignore", message="Sending large graph")
        place: Any = address
        if workers:
            stack.enter_context(import_module("dask").config.set(_LOCAL_SETTINGS))
            how = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
            place = stack.enter_context(distributed.LocalCluster(n_workers=0, **how))
            # The first worker starts while text is found.
            place.scale(1)
        with _told(named, ": no scheduler answers there"):
            if not workers:
                # A client that something else answers cannot be closed again.
                _greet(distributed, address)
            client = stack.enter_context(distributed.Client(place, timeout=_CONNECT, set_as_default=False))
        if not workers:
            with _told(named, f": no workers: start some by 'dask worker {address}'"):
                client.wait_for_workers(1, timeout=_JOIN)
            for worker, versions in client.get_versions(packages=["softbleu"])["workers"].items():
                if (version := versions["packages"]["softbleu"]) != __version__:
                    raise InputError(named, f": the worker {worker} has {_other_version(version)}")
        executor = client.get_executor(retries=_RETRIES, pure=False)
        if workers:
            executor._max_workers = workers
        yield executor


def _workers_here(address: str) -> int:
    """Return the number of workers for ``local:N``; 0 for the address of a scheduler."""
    if not address.startswith(_LOCAL):
        return 0
    workers = address.removeprefix(_LOCAL)
    if not (workers.isascii() and workers.isdecimal() and 1 <= int(workers[:9]) <= MOST_JOBS):
        said = f": {_LOCAL}N needs a number from 1 to {MOST_JOBS}, not {workers!r}"
        raise InputError(Parameter("cluster", address), said)
    return int(workers)


def _greet(distributed: ModuleType, address: str) -> None:
    """Check that a scheduler answers."""
    # Imported here because it is slow, and needed only with a cluster.
    import asyncio

    async def connect() -> None:
        secured = distributed.Security().get_connection_args("client")
        opened = distributed.comm.connect(address, timeout=_CONNECT, **secured)
        connection = await asyncio.wait_for(opened, 2 * _CONNECT)
        await connection.close()

    asyncio.run(connect())


@contextmanager
def _told(*what: str | Parameter) -> Iterator[None]:
    try:
        yield
    # Another program may answer in any way, so any error is possible.
    except Exception as error:
        raise InputError(*what, f" ({_reason_of(error)})") from error


def shares_memory(executor: Executor) -> bool:
    """Whether workers are threads or children of this process."""
    from concurrent.futures import ProcessPoolExecutor

    return isinstance(executor, ThreadPoolExecutor | ProcessPoolExecutor)


def count_workers(executor: Executor) -> int:
    """Return the number of workers of an executor, if it tells; else the number of cores.

    >>> count_workers(ThreadPoolExecutor(8))
    8
    """
    workers = getattr(executor, "_max_workers", None)
    if isinstance(workers, int) and workers > 0:
        return workers
    client = client_of(executor)
    if client is not None and hasattr(client, "ncores"):
        return max(1, int(sum(client.ncores().values())))
    return os.cpu_count() or 1


def _other_version(theirs: str | None, ours: str = __version__) -> str:
    """Describe a difference of versions."""
    return f"{f'softbleu {theirs}' if theirs else 'no softbleu'}, and here is {ours}: install the same there"


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
            raise WorkerError(f"a worker has {_other_version(__version__, self.version)}")
        for key, sent in contents.items():
            _held[key] = pickle.loads(sent)
        _forget(max(_MOST_HELD, len(contents)))
        try:
            with single_threaded_blas():
                return self.work(task)
        except _MissingError as error:
            return error


def run_in_order(
    work: Callable[[_Task], Done],
    tasks: Iterable[_Task],
    executor: Executor | None,
    *,
    together: bool = True,
) -> Iterator[Done]:
    """Do tasks and yield their results in order; twice as many tasks are in progress as there are workers.

    Tasks may refer to values by `hold`. With `together`, tasks are sent in groups if sending takes long. Raises
    `WorkerError` if workers or the cluster are lost.

    >>> list(run_in_order(len, ["a", "bc"], None))
    [1, 2]
    """
    if executor is None:
        yield from map(work, tasks)
    elif together and not shares_memory(executor):
        several = _together(tasks, count_workers(executor))
        yield from chain.from_iterable(_in_progress(partial(_do_several, work), several, executor))
    else:
        yield from _in_progress(work, tasks, executor)


@contextmanager
def _losses() -> Iterator[None]:
    """Raise WorkerError where workers or the cluster are lost."""
    try:
        yield
    except BrokenExecutor as error:
        raise WorkerError(
            "a worker process ended before its work was done (killed, or out of memory): run again with fewer jobs"
        ) from error
    except Exception as error:
        if isinstance(error, CancelledError) or type(error).__module__.startswith("distributed"):
            raise WorkerError(
                f"the cluster gave up ({_reason_of(error)}): see its scheduler, and run again"
            ) from error
        raise


def _in_progress(work: Callable[[_Task], Done], tasks: Iterable[_Task], executor: Executor) -> Iterator[Done]:
    """Do tasks, of which several are in progress; yield their results in order."""
    waiting: deque[tuple[_Task, Future[Any]]] = deque()
    sent: Callable[..., Any] = work if shares_memory(executor) else _RemoteTask(work)
    most, counted = 0, -_RECOUNT
    try:
        with _losses():
            for task in tasks:
                if monotonic() - counted > _RECOUNT:
                    most, counted = 2 * count_workers(executor), monotonic()
                if len(waiting) >= most:
                    yield _first(waiting, executor, sent)
                waiting.append((task, executor.submit(sent, task)))
                _start_workers(executor, len(waiting))
            while waiting:
                yield _first(waiting, executor, sent)
    finally:
        # A broken process pool fails on cancelled tasks and never ends.
        if processes_of(executor) is None:
            for _, future in waiting:
                future.cancel()


def _do_several(work: Callable[[_Task], Done], tasks: Sequence[_Task]) -> list[Done]:
    return [work(task) for task in tasks]


def _together(tasks: Iterable[_Task], workers: int) -> Iterator[list[_Task]]:
    """Group tasks; groups grow with the number of tasks that were sent."""
    rest, sent = iter(tasks), 0
    while some := list(islice(rest, min(1 + sent // (_EACH * workers), _MOST_TOGETHER))):
        sent += len(some)
        yield some


def _first(waiting: deque[tuple[_Task, Future[Any]]], executor: Executor, work: Callable[..., Any]) -> Any:
    """Wait for the result of the first of the tasks that are waited for, and take it off."""
    while isinstance(result := _result(executor, waiting[0][1]), _MissingError):
        # What else is held may be missing, too, and other tasks may miss the same.
        contents = {key: several[0] for key, several in [*_sent.items()] if several}
        for place, (task, future) in enumerate(waiting):
            if future.done() and isinstance(_result(executor, future), _MissingError):
                waiting[place] = task, executor.submit(work, task, contents)
    waiting.popleft()
    return result


def _result(executor: Executor, future: Future[Any]) -> Any:
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


def _start_workers(executor: Executor, tasks: int) -> None:
    """Start as many workers of ``local:N`` as there are tasks, as Python's own pools do."""
    cluster = getattr(client_of(executor), "cluster", None)
    most = min(tasks, getattr(executor, "_max_workers", 0))
    if cluster is not None and len(cluster.plan) < most:
        cluster.scale(most)


def _reason_of(error: Exception) -> str:
    """Return the first line of an error's message, or its class."""
    return str(error).partition("\n")[0] or type(error).__name__
