"""Results for people."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from softbleu.report.layout import align, one_line
from softbleu.report.table import Table, has_parts, label_of, share, shown_signature, table_of

if TYPE_CHECKING:
    from softbleu.report.layout import Layout
    from softbleu.scoring import Coverage, Result

_ENTRIES = {
    "correct": "correct edits",
    "proposed": "proposed edits",
    "gold": "gold edits",
    "true_positives": "true positives",
    "true_negatives": "true negatives",
    "false_positives": "false positives",
    "false_negatives": "false negatives",
    "both": "counted as both",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "accuracy": "accuracy",
    "weighted_accuracy": "weighted accuracy",
    "baseline_weighted_accuracy": "that of the source",
}
_LISTS = {
    "order_scores": "score",
    "precisions": "precision %",
    "recalls": "recall %",
    "matches": "matches",
    "penalties": "penalties",
    "numerators": "numerator",
    "totals": "of",
}
_WIDEST = 10_000


def write_text(results: Sequence[Result], layout: Layout) -> Iterator[str]:
    """Write one system as a card, several as one table; at segment level a row a segment before that."""
    if not results:
        return
    if has_parts(results[0]):
        table = table_of(results, layout.digits)
        rows = [table.header, *([one_line(cell) for cell in row] for row in table.rows)]
        right = [number >= table.text_columns for number in range(len(table.header))]
        yield from (line + "\n" for line in align(rows, right))
        yield "\nAll segments together:\n\n"
        results = [_without_segments(result) for result in results]
    yield from _card(results[0], layout) if len(results) == 1 else _systems(results, layout)
    yield f"\nsignature: {one_line(shown_signature(results[0], layout))}\n"


def _without_segments(result: Result) -> Result:
    from dataclasses import replace

    return replace(result, segments=None, references=None)


def _card(result: Result, layout: Layout) -> Iterator[str]:
    """All there is to know about one system."""
    label = label_of(result.signature)
    numbers = result.score.as_dict()
    yield f"{label} {result.score.score:.{layout.digits}f}  {one_line(result.name)}\n\n"
    rows = [
        [title, *(_number(entry, layout.digits, name) for entry in numbers[name])]
        for name, title in _LISTS.items()
        if name in numbers
    ]
    if rows and label.endswith("(macro)"):
        yield "The score is the mean of the segments' scores; these are the numbers of all segments together:\n\n"
    if rows:
        header = ["n-grams of order", *(str(n) for n in range(1, len(rows[0])))]
        right = [number > 0 for number in range(len(header))]
        yield from (line + "\n" for line in align([header, *rows], right, gap="   "))
        yield "\n"
    for name, title in _ENTRIES.items():
        if name in numbers:
            whole = isinstance(numbers[name], int)
            yield f"{title:<19}" + (f"{numbers[name]:,}\n" if whole else f"{numbers[name]:.{layout.digits}f}%\n")
    if "brevity_penalty" in numbers:
        candidate, reference = numbers["candidate_length"], numbers["reference_length"]
        yield (
            f"brevity penalty    {numbers['brevity_penalty']:.{layout.digits + 2}f}\n"
            f"length             {_number(candidate, 1)} tokens, references {_number(reference, 1)}\n"
        )
    if numbers.get("interval") is not None:
        low, high = numbers["interval"]
        deviation = numbers["standard_deviation"]
        yield (
            f"95% interval       {low:.{layout.digits}f} to {high:.{layout.digits}f}"
            f" (standard deviation {deviation:.{layout.digits + 2}f})\n"
        )
    if result.coverage is not None:
        coverage = result.coverage
        candidate = share(coverage.candidate_known, coverage.candidate_tokens)
        yield f"with a vector      {candidate}, {_reference_coverage(coverage)}\n"


def _reference_coverage(coverage: Coverage) -> str:
    """How many of the references' tokens have a vector, and how many words a useless one."""
    zero = f"; words whose vector is zero: {coverage.zero_words:,}" if coverage.zero_words else ""
    return f"references {share(coverage.reference_known, coverage.reference_tokens)}{zero}"


def _number(value: Any, digits: int, name: str = "") -> str:
    # Exact matches are whole numbers, and read better so.
    if name not in ("precisions", "recalls", "order_scores") and float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.{digits}f}"


def _systems(results: Sequence[Result], layout: Layout) -> Iterator[str]:
    """One table; the best score stands out on a terminal."""
    best = max(result.score.score for result in results)
    bold = [result.score.score == best for result in results]
    yield from draw_table(table_of(results, layout.digits), bold, layout)
    if results[0].coverage is not None:
        yield f"\nwith a vector: {_reference_coverage(results[0].coverage)}\n"


def draw_table(table: Table, bold: Sequence[bool], layout: Layout) -> Iterator[str]:
    """Let rich draw a table; the rows that `bold` marks stand out on a terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, name in enumerate(table.header):
        drawn.add_column(name, justify="left" if number < table.text_columns else "right", no_wrap=True)
    for marked, row in zip(bold, table.rows, strict=True):
        # Names are no markup.
        drawn.add_row(*(Text(one_line(cell)) for cell in row), style="bold" if marked else "")
    out = io.StringIO()
    console = Console(
        file=out,
        width=_WIDEST,
        force_terminal=layout.colour,
        color_system="standard" if layout.colour else None,
        legacy_windows=False,
    )
    console.print(drawn)
    yield from (line.rstrip() + "\n" for line in out.getvalue().split("\n")[:-1])
