"""The Python interface, which stands above metrics: it sets itself, so that a metric scores without importing it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_LOADING: list[Callable[[], Any]] = []


def set_interface(load: Callable[[], Any]) -> None:
    """Say what loads the interface, a module with `score` and `SentenceScorer`."""
    _LOADING[:] = [load]


def interface() -> Any:
    """The interface, loaded when it is first asked for."""
    return _LOADING[0]()
