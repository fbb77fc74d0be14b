"""sacrebleu: its table of several systems as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from softbleu.corpora.files import name_files
from softbleu.corpora.judgements.tables import TableRow, Values, meanings
from softbleu.types import Fields

_NUMBER = re.compile(r"\s*(-?\d+(?:\.\d+)?)(?:\s.*)?", re.DOTALL)
_BASELINE = "Baseline: "


def is_row(row: Fields) -> bool:
    """Whether an object is the row of a system in the table of several, its scores texts or objects."""
    system = row.get("system", row.get("System"))
    scores = [value for key, value in row.items() if key not in ("system", "System")]
    if {"score", "segment"} & {*meanings(list(row))}:
        return False
    return isinstance(system, str) and bool(scores) and all(_score_in(score) is not None for score in scores)


def system_rows(values: Values) -> Iterator[TableRow]:
    """Read the corpus scores of several systems, which are called as their files."""
    files = [str(row.get("system", row.get("System"))).removeprefix(_BASELINE) for _, row in values]
    systems = {path: system for system, path in name_files(files).items()}
    for (where, row), file in zip(values, files, strict=True):
        for key, value in row.items():
            if key not in ("system", "System"):
                yield where, {"system": systems[file], "metric": key.partition(" (")[0], "score": _score_in(value)}


def _score_in(value: object) -> object:
    """Find the score in a cell: a text that begins with it, or an object that has it."""
    if isinstance(value, dict):
        return value.get("score")
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return None if match is None else match[1]
