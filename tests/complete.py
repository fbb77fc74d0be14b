"""Metrics with other tokenizers and vectors than their own."""

from dataclasses import replace
from typing import Any, TypeVar

from softbleu.metrics import Metric

M = TypeVar("M", bound=Metric)


def complete(metric: M, tokenizer: Any = None, vectors: Any = None) -> M:
    """The metric with these parts, where they are given."""
    given = {"tokenizer": tokenizer, "vector_choice": vectors}
    return replace(metric, **{name: part for name, part in given.items() if part is not None})
