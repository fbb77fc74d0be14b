"""The bundled samples: a corpus for who gives none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from softbleu.corpora import ParallelFiles
from softbleu.errors import InputError, Parameter
from softbleu.io.files import find_resource

if TYPE_CHECKING:
    from softbleu.metrics.base import Metric

TRANSLATION = {"candidates": ["candidate.en"], "references": ["reference.en", "reference2.en"]}
CORRECTION = {"candidates": ["corrected.en"], "references": [], "gold": "gold.m2"}
"""For metrics that need no more than references, and for those that need a source or edits."""


def open_sample(metrics: Sequence[Metric] = ()) -> ParallelFiles:
    """Open the sample that has what all metrics need."""
    folder = find_resource("corpora", "samples")
    if folder is None:
        raise InputError(
            "no input given, and this installation lacks the sample corpus: give ",
            Parameter("candidates"),
            " and ",
            Parameter("references"),
        )
    needs = [metric.requires for metric in metrics]
    sample = CORRECTION if any(need.source or need.gold for need in needs) else TRANSLATION
    files: dict[str, Any] = {
        role: str(folder / names) if isinstance(names, str) else [str(folder / name) for name in names]
        for role, names in sample.items()
    }
    return ParallelFiles.open(**files)
