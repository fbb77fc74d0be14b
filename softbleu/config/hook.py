"""Engine that runs metrics: the layer above sets it, so that a metric scores without importing that layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_ENGINES: list[Callable[[], Any]] = []


def put_in(engine: Callable[[], Any]) -> None:
    """Say what loads the engine, a module with `score` and `SentenceScorer`."""
    _ENGINES[:] = [engine]


def engine() -> Any:
    """The engine, loaded when it is first asked for."""
    return _ENGINES[0]()
