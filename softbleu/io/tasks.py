"""Tasks handed to an executor, in order, wherever it does the work: threads, processes, or other machines."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from time import monotonic
from typing import Any, Generic, TypeVar, cast
from urllib.parse import urlsplit

from softbleu.errors import WorkerError
from softbleu.io.executors import single_threaded_blas
from softbleu.io.platform import client_of, processes_of
from softbleu.version import __version__

LOST_AFTER = 1.0  # Seconds after which a worker that is gone counts as lost, though its executor has not said so
_MOST_HELD = 8
_EACH, _MOST_TOGETHER = 16, 8  # Tasks that each worker does singly, and those that are sent together in the end
_RECOUNT = 5.0  # Seconds after which workers are counted anew, for some may have joined
_HERE = (None, "127.0.0.1", "localhost", "::1")

_Task = TypeVar("_Task")
Done = TypeVar("Done")
_held: dict[str, Any] = {}
"""Large values that this process was sent, by the hash of their content; the last ones used stay."""


@dataclass(frozen=True)
class Held:
    """Stands for a large value in work that travels: whoever does the work is sent the value once."""

    key: str  # Hex SHA-256 of it, pickled

    def value(self) -> Any:
        """The value itself, where it has arrived."""
        if self.key not in _held:
            raise _MissingError(self.key)
        # The last used stand last.
        _held[self.key] = value = _held.pop(self.key)
        return value


class _MissingError(Exception):
    """A value is wanted that has not arrived here."""


class _Wanted:
    """Answer of work that misses a value."""


def hold(value: object) -> tuple[Held, bytes]:
    """Stand-in for a value, and the value as it is sent."""
    sent = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return Held(hashlib.sha256(sent).hexdigest()), sent


@dataclass(frozen=True)
class _RemoteTask(Generic[_Task, Done]):
    """Work that goes to another machine, where it may say that it wants something first."""

    work: Callable[[_Task], Done]
    values: int  # How many values it needs at most
    version: str = __version__

    def __call__(self, task: _Task, contents: Mapping[str, bytes]) -> Done | _Wanted:
        if self.version != __version__:
            raise WorkerError(f"a worker has {other_version(__version__, self.version)}")
        for key, sent in contents.items():
            _held[key] = pickle.loads(sent)
        while len(_held) > max(_MOST_HELD, self.values):
            _held.pop(next(iter(_held)), None)
        try:
            with single_threaded_blas():
                return self.work(task)
        except _MissingError:
            return _Wanted()


def run_in_order(
    work: Callable[[_Task], Done],
    tasks: Iterable[_Task],
    executor: Executor | None,
    contents: Mapping[str, bytes] | None = None,
    *,
    together: bool = True,
) -> Iterator[Done]:
    """Do the tasks and give their results in order; twice as many are under way as there are workers.

    The work may refer to values that `hold` gave by the keys of `contents`. Tasks travel `together` where sending
    each takes longer. Raises `WorkerError` where workers, or what sends them work, are gone.

    >>> list(run_in_order(len, ["a", "bc"], None))
    [1, 2]
    """
    if executor is None:
        yield from map(work, tasks)
        return
    if together and not shares_memory(executor):
        several = _together(tasks, count_workers(executor))
        for results in run_in_order(partial(_do_several, work), several, executor, contents, together=False):
            yield from results
        return
    queue = _Queue(work, executor, contents or {})
    try:
        for task in tasks:
            if queue.is_full:
                yield queue.first()
            queue.add(task)
        while queue.waiting:
            yield queue.first()
    except BrokenExecutor as error:
        raise WorkerError(
            "a worker process ended before its work was done (killed, or out of memory): run again with fewer jobs"
        ) from error
    except Exception as error:
        if isinstance(error, CancelledError) or type(error).__module__.startswith("distributed"):
            raise WorkerError(
                f"the cluster gave up ({reason_of(error)}): see its scheduler, and run again"
            ) from error
        raise
    finally:
        queue.cancel()


def _do_several(work: Callable[[_Task], Done], tasks: Sequence[_Task]) -> list[Done]:
    return [work(task) for task in tasks]


def _together(tasks: Iterable[_Task], workers: int) -> Iterator[list[_Task]]:
    """Put more and more tasks together where there are many: sending takes time, whatever the size."""
    rest, sent = iter(tasks), 0
    while some := list(islice(rest, min(1 + sent // (_EACH * workers), _MOST_TOGETHER))):
        sent += len(some)
        yield some


class _Queue(Generic[_Task, Done]):
    """Tasks that are under way, in order."""

    def __init__(self, work: Callable[[_Task], Done], executor: Executor, contents: Mapping[str, bytes]) -> None:
        self.waiting: deque[tuple[_Task, Future[Any]]] = deque()
        self._executor, self._contents = executor, contents
        self._work: Any = work if shares_memory(executor) else _RemoteTask(work, len(contents))
        self._counted = -_RECOUNT

    @property
    def is_full(self) -> bool:
        """Whether twice as many are under way as there are workers now."""
        if monotonic() - self._counted > _RECOUNT:
            self._most, self._counted = 2 * count_workers(self._executor), monotonic()
        return len(self.waiting) >= self._most

    def add(self, task: _Task) -> None:
        """Send a task."""
        self.waiting.append((task, self._submit(task, {})))
        _start_workers(self._executor, len(self.waiting))

    def _submit(self, task: _Task, contents: Mapping[str, bytes]) -> Future[Any]:
        sent = (task, contents) if isinstance(self._work, _RemoteTask) else (task,)
        return self._executor.submit(self._work, *sent)

    def first(self) -> Done:
        """Take the result of the first, once it is there."""
        while isinstance(result := self._result(self.waiting[0][1]), _Wanted):
            # Others may have come to the same worker, or to one that lacks the same.
            for place, (task, future) in enumerate(self.waiting):
                if future.done() and isinstance(self._result(future), _Wanted):
                    self.waiting[place] = task, self._submit(task, self._contents)
        self.waiting.popleft()
        return cast("Done", result)

    def cancel(self) -> None:
        """Let go of what is under way."""
        # Where a process pool breaks, it fails over what was cancelled, and waits for ever at its end.
        if processes_of(self._executor) is None:
            for _, future in self.waiting:
                future.cancel()

    def _result(self, future: Future[Any]) -> Any:
        while processes := processes_of(self._executor):
            with suppress(TimeoutError):
                return future.result(LOST_AFTER)
            if future.done():
                break
            # One that is killed while it hands over a result leaves its executor waiting for the rest of it.
            if not all(process.is_alive() for process in processes) and not future.done():
                raise BrokenExecutor
        return future.result()


def _start_workers(executor: Executor, tasks: int) -> None:
    """Have as many workers of ``local:N`` as there are tasks, which is as Python's own pools do."""
    cluster = getattr(client_of(executor), "cluster", None)
    most = min(tasks, getattr(executor, "_max_workers", 0))
    if cluster is not None and len(cluster.plan) < most:
        cluster.scale(most)


def shares_memory(executor: Executor) -> bool:
    """Whether workers are threads or children of this process, on this machine and with its files."""
    from concurrent.futures import ProcessPoolExecutor

    return isinstance(executor, ThreadPoolExecutor | ProcessPoolExecutor)


def shares_files(executor: Executor) -> bool:
    """Whether workers surely see the files of this machine: they are all on it."""
    if shares_memory(executor):
        return True
    client = client_of(executor)
    if client is None or not hasattr(client, "scheduler_info"):
        return False
    workers = client.scheduler_info(n_workers=-1)["workers"]
    return all(urlsplit(place).hostname in _HERE for place in (client.scheduler.address, *workers))


def reason_of(error: Exception) -> str:
    """The first line of what an error says, or its kind."""
    return str(error).partition("\n")[0] or type(error).__name__


def count_workers(executor: Executor) -> int:
    """How many workers an executor has, as Python's own and those of clusters tell; else those of this machine.

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


def other_version(theirs: str | None, ours: str = __version__) -> str:
    """Say that another version is there than here."""
    return f"{f'softbleu {theirs}' if theirs else 'no softbleu'}, and here is {ours}: install the same there"
