"""What systems differ in, as text and as data: buckets, n-grams, lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from softbleu.io.tabular import Records
from softbleu.report.layout import BOLD, align, one_line
from softbleu.report.records import RECORD_WRITERS, Formats, Written

if TYPE_CHECKING:
    from softbleu.analysis import ChosenLine, ChosenLines
    from softbleu.io.tabular import Tabular
    from softbleu.report.layout import Layout


def _table(name: str) -> Callable[[Tabular, Layout], Written]:
    def write(found: Tabular, layout: Layout) -> Written:
        table = replace(Records.of(found), verbatim=getattr(found, "systems", ()))
        return RECORD_WRITERS[name](table, layout)

    return write


VIEWS: Formats[Callable[[Tabular, Layout], Written]] = Formats({name: _table(name) for name in RECORD_WRITERS})
"""Writers of buckets and n-grams."""


def lines_text(lines: ChosenLines, layout: Layout) -> Iterator[str]:
    """Write each line with its scores, its candidates, references and source."""
    for number, line in enumerate(lines):
        yield "\n" if number else ""
        yield layout.styled(f"segment {line.segment}, {_by(lines.kind, line, layout.digits)}", BOLD) + "\n"
        rows = [
            [one_line(system), *(f"{score:.{layout.digits}f}" for score in scores), one_line(text)]
            for system, scores, text in zip(line.systems, line.scores, line.candidates, strict=True)
        ]
        blank = [""] * len(lines.metrics)
        rows += [["reference", *blank, one_line(text)] for text in line.references]
        rows += [] if line.source is None else [["source", *blank, one_line(line.source)]]
        yield from (f"{row}\n" for row in align(rows, [False, *[True] * len(blank), False]))
    yield f"\nscores: {', '.join(lines.metrics)}\n" if lines else "nothing found\n"


def _by(kind: str, line: ChosenLine, digits: int) -> str:
    if kind == "worst":
        return f"{line.by:.{digits}f}"
    return f"difference {line.by:+.{digits}f}" if kind == "different" else f"ranks {line.by:+.0%} apart"


LINE_WRITERS: Formats[Callable[[ChosenLines, Layout], Written]] = Formats({**VIEWS, "text": lines_text})
