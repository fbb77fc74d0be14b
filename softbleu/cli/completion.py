"""Names that the shell can complete; each function imports what it needs only when the shell asks."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import get_args


def names(module: str, name: str) -> Callable[[], list[str]]:
    """Names that a table of the library has, that a function of it finds, or that a literal type allows."""

    def found() -> list[str]:
        table = getattr(import_module(f"softbleu.{module}"), name)
        return list(get_args(table) or (table() if callable(table) else table))

    return found


tokenizers = names("tokens", "TOKENIZERS")
levels = names("metrics.base", "Level")
formats = names("report", "WRITERS")
vectors = names("embeddings", "bundled_names")
grammars = names("corpora.grammar", "grammar_names")


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
    from softbleu.metrics.base import preset_names

    return preset_names()
