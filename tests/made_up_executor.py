"""An executor as strange as any that people may have."""

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from softbleu.io import executors


class _Lazy(Future[Any]):
    executor: "Strangers"

    def result(self, timeout: float | None = None) -> Any:
        self.executor.work(self)
        return super().result(timeout)


class Strangers(Executor):
    """So many workers that share nothing, not even code in memory; what was sent last is done first.

    Nothing is done before a result is asked for, and nothing else if it knows not how many workers it has.
    """

    def __init__(self, workers: int | None, patch: Callable[[Any, str, Any], None]) -> None:
        if workers:
            self._max_workers = workers
        self.memories: list[dict[str, Any]] = [{} for _ in range(workers or 1)]
        self.sent: list[str] = []
        self.waiting: list[tuple[_Lazy, bytes]] = []
        self.most = 0
        self._patch, self._next = patch, 0

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> Future[Any]:
        future = _Lazy()
        future.executor = self
        self.waiting.append((future, pickle.dumps((fn, *args))))
        self.most = max(self.most, len(self.waiting))
        self.sent += [key for contents in args[1:] for key in contents]
        return future

    def work(self, asked: _Lazy) -> None:
        chosen = [each for each in self.waiting if hasattr(self, "_max_workers") or each[0] is asked]
        self.waiting = [each for each in self.waiting if each not in chosen]
        for future, packed in reversed(chosen):
            self._patch(executors, "_held", self.memories[self._next % len(self.memories)])
            self._next += 1
            fn, *args = pickle.loads(packed)
            future.set_result(fn(*args))
