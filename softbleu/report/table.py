"""The table that text, Markdown and LaTeX show: a row a system, or a segment and system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softbleu.metrics import Score
    from softbleu.report.layout import Layout
    from softbleu.scoring import ComparisonTable, Result

_STARS = {True: "*", False: ""}
_NAMES = {"imeasure": "I-measure"}
_SHARES = {"precision": "P", "recall": "R", "weighted_accuracy": "WAcc", "baseline_weighted_accuracy": "WAcc source"}
_COUNTS = {
    "correct": "correct",
    "proposed": "proposed",
    "gold": "gold",
    "true_positives": "TP",
    "true_negatives": "TN",
    "false_positives": "FP",
    "false_negatives": "FN",
    "both": "FPN",
}
_LENGTHS = {"candidate_length": "length", "reference_length": "ref. length"}


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
    >>> label_of("metric:gleu|matcher:vleu|threshold:0.8"), label_of("metric:bleu|matcher:exact|level:macro")
    ('GLEU (vleu)', 'BLEU (macro)')
    """
    parts = dict(part.partition(":")[::2] for part in signature.split("|"))
    matcher = parts.get("matcher", "exact")
    metric = parts.get("metric", "score")
    label = _NAMES.get(metric, metric.upper())
    if matcher != "exact":
        label = matcher.upper() if metric == "bleu" else f"{label} ({matcher})"
    return f"{label} (macro)" if parts.get("level") == "macro" else label


def table_of(results: Sequence[Result], digits: int) -> Table:
    """Make the table of all results, which must be of one level."""
    label = label_of(results[0].signature)
    rows = []
    if not has_parts(results[0]):
        for result in results:
            cells = {"system": result.name, **_cells(result.score, label, digits)}
            if result.coverage is not None:
                cells["vectors"] = percent(result.coverage.candidate_known, result.coverage.candidate_tokens)
            rows.append(cells)
        return Table(list(rows[0]), [list(row.values()) for row in rows])
    for labels, score in rows_of(results):
        texts = {name: _STARS[value] if isinstance(value, bool) else str(value) for name, value in labels.items()}
        rows.append({**texts, **_cells(score, label, digits)})
    return Table(list(rows[0]), [list(cells.values()) for cells in rows])


def shown_signature(result: Result | ComparisonTable, layout: Layout) -> str:
    """The signature that people are shown."""
    return result.signature if layout.long_signature else result.short_signature


def has_parts(result: Result) -> bool:
    """Whether there are scores of segments, or of single references, too."""
    return result.segments is not None or result.references is not None


def parts_of(result: Result) -> Iterator[tuple[dict[str, Any], Score]]:
    """Scores of segments or references, each with what tells it from others."""
    for segment, score in enumerate(result.segments or (), start=1):
        yield {"segment": segment}, score
    for part in result.references or ():
        yield {"segment": part.segment, "reference": part.reference, "chosen": part.chosen}, part.score


def rows_of(results: Sequence[Result]) -> Iterator[tuple[dict[str, Any], Score]]:
    """Go through the parts of all results, the systems side by side."""
    for row in zip(*map(parts_of, results), strict=True):
        for result, (labels, score) in zip(results, row, strict=True):
            yield {"system": result.name, **labels}, score


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
    cells |= {short: f"{numbers[name]:.{digits}f}" for name, short in _SHARES.items() if name in numbers}
    cells |= {short: str(numbers[name]) for name, short in _COUNTS.items() if name in numbers}
    if numbers.get("annotator") is not None:
        cells["annotator"] = str(numbers["annotator"])
    if "brevity_penalty" in numbers:
        cells["BP"] = f"{numbers['brevity_penalty']:.{digits + 2}f}"
    for name, short in _LENGTHS.items():
        if name in numbers:
            cells[short] = str(int(numbers[name])) if float(numbers[name]).is_integer() else f"{numbers[name]:.1f}"
    if numbers.get("standard_deviation") is not None:
        cells["std"] = f"{numbers['standard_deviation']:.{digits}f}"
    return cells
