"""Outcomes of experiments: their manifests and pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from softbleu.report.plots import draw
from softbleu.report.sweeps import sweep_lines

if TYPE_CHECKING:
    from softbleu.experiments.definition import Outcome


def manifest_json(outcome: Outcome) -> Iterator[str]:
    """Write the manifest."""
    yield json.dumps(outcome.manifest(), indent=2, ensure_ascii=False) + "\n"


def outcome_pictures(outcome: Outcome) -> Iterator[tuple[str, bytes]]:
    """Draw what there is to draw; each picture with the end of its file name."""
    if outcome.sweep:
        yield ".svg", draw(sweep_lines(outcome.sweep), "svg")
