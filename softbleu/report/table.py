"""The table that text, Markdown and LaTeX show: a row a system, or a segment and system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from softbleu.metrics import Score
    from softbleu.scoring import Result

_LENGTHS = {"candidate_length": "length", "reference_length": "reference"}


@dataclass(frozen=True)
class Table:
    """Cells as text; the names of the columns say which are numbers."""

    header: list[str]
    rows: list[list[str]]
    text_columns: int = 1
    """How many of the first columns are no numbers."""


def label_of(signature: str) -> str:
    """Name that people give to the score.

    >>> label_of("metric:bleu|matcher:exact|order:4"), label_of("metric:bleu|matcher:vleu|threshold:0.8")
    ('BLEU', 'VLEU')
    """
    parts = dict(part.partition(":")[::2] for part in signature.split("|"))
    matcher = parts.get("matcher", "exact")
    return (parts.get("metric", "score") if matcher == "exact" else matcher).upper()


def table_of(results: Sequence[Result], digits: int) -> Table:
    """Make the table of all results, which must be of one level."""
    label = label_of(results[0].signature)
    rows = []
    if results[0].segments is None:
        for result in results:
            cells = {"system": result.name, **_cells(result.score, label, digits)}
            if result.coverage is not None:
                cells["vectors"] = percent(result.coverage.candidate_known, result.coverage.candidate_tokens)
            rows.append(cells)
        return Table(list(rows[0]), [list(row.values()) for row in rows])
    scores = zip(*(result.segments or () for result in results), strict=True)
    for segment, row in enumerate(scores, start=1):
        for result, score in zip(results, row, strict=True):
            rows.append({"system": result.name, "segment": str(segment), **_cells(score, label, digits)})
    return Table(list(rows[0]), [list(cells.values()) for cells in rows])


def percent(part: int, whole: int) -> str:
    """Write a share.

    >>> percent(1, 3), percent(0, 0)
    ('33.3%', '-')
    """
    return f"{100 * part / whole:.1f}%" if whole else "-"


def share(part: int, whole: int) -> str:
    """Write a share with its numbers.

    >>> share(588, 1200)
    '588 of 1,200 tokens (49.0%)'
    """
    return f"{part:,} of {whole:,} tokens ({percent(part, whole)})"


def _cells(score: Score, label: str, digits: int) -> dict[str, str]:
    numbers = score.as_dict()
    cells = {label: f"{score.score:.{digits}f}"}
    for n, precision in enumerate(numbers.get("precisions", []), start=1):
        cells[f"P{n}"] = f"{precision:.{digits}f}"
    if "brevity_penalty" in numbers:
        cells["BP"] = f"{numbers['brevity_penalty']:.{digits + 2}f}"
    cells.update({short: str(numbers[name]) for name, short in _LENGTHS.items() if name in numbers})
    return cells
