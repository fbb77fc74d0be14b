"""What the shell completes an option by; the library is loaded only when the shell asks."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, get_args


def find(place: str) -> Any:
    """Find what a module of the package has: `report:WRITERS`."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"softbleu.{module}"), name)


def completion_of(what: str) -> Callable[[], list[str]]:
    """Find names that complete an option: `a,b,c`, or by place a table, a registry, a function or a literal type."""

    def found() -> list[str]:
        if ":" not in what:
            return what.split(",")
        table = find(what)
        table = getattr(table, "names", table)
        return list(get_args(table) or (table() if callable(table) else table))

    return found


def score_formats() -> list[str]:
    """Names of the formats of scores."""
    from softbleu.report import PAGES, WRITERS

    return [*WRITERS, *PAGES]


def metric_names() -> list[str]:
    """Names of metrics and matchers, those of plug-ins too."""
    from softbleu.matching import MATCHERS
    from softbleu.metrics.base import METRICS

    return [*METRICS.names(), *MATCHERS.names()]
