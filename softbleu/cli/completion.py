"""Names that the shell can complete; each function imports what it needs only when the shell asks."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import get_args


def _names(module: str, name: str) -> Callable[[], list[str]]:
    """Names that a table of the library has, or that a literal type allows."""

    def found() -> list[str]:
        table = getattr(import_module(f"softbleu.{module}"), name)
        return list(get_args(table) or table)

    return found


tokenizers = _names("tokens", "TOKENIZERS")
levels = _names("metrics.base", "Level")
formats = _names("report", "WRITERS")
compare_formats = _names("report", "COMPARERS")
explain_formats = _names("report", "EXPLAINERS")


def score_formats() -> list[str]:
    """Names of the formats of scores."""
    from softbleu.report import PAGES, WRITERS

    return [*WRITERS, *PAGES]


def matchers() -> list[str]:
    """Names of matchers, those of plug-ins too."""
    from softbleu.matchers import MATCHERS

    return MATCHERS.names()


def metrics() -> list[str]:
    """Names of metrics and matchers, those of plug-ins too."""
    from softbleu.metrics.base import METRICS

    return [*METRICS.names(), *matchers()]


def presets() -> list[str]:
    """Names of presets."""
    from softbleu.metrics.base import METRICS

    return [name for each in METRICS.classes() for name in each.presets]  # type: ignore[attr-defined]


def vectors() -> list[str]:
    """Names of bundled vectors."""
    from softbleu.embeddings import bundled_names

    return list(bundled_names())


def grammars() -> list[str]:
    """Names of the grammars that travel with the package."""
    from softbleu.corpora.grammar import grammar_names

    return grammar_names()
