"""Explanations as text and as data: which n-gram met which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING

from softbleu.report.data import SCHEMA, dump
from softbleu.report.layout import align, one_line

if TYPE_CHECKING:
    from softbleu.report.layout import Layout
    from softbleu.scoring import Explanation, NgramMatch

_STYLES = {"=": "green", "~": "yellow", "-": "bright_black"}


def explain_json(explanations: Sequence[Explanation], layout: Layout) -> Iterator[str]:
    """Write one JSON object, an explained segment a line; positions count from 0, segments from 1."""
    yield f'{{"schema": {SCHEMA}, "segments": ['
    for number, explanation in enumerate(explanations):
        yield (",\n" if number else "\n") + dump(asdict(explanation))
    yield "\n]}\n"


def explain_jsonl(explanations: Sequence[Explanation], layout: Layout) -> Iterator[str]:
    """Write one JSON object an explained segment."""
    for explanation in explanations:
        yield dump(asdict(explanation)) + "\n"


def explain_text(explanations: Sequence[Explanation], layout: Layout) -> Iterator[str]:
    """Write the n-grams of each segment, `=` an exact match, `~` an approximate one, `-` none."""
    for number, explanation in enumerate(explanations):
        lines = _explain(explanation, layout.digits)
        text = "".join(line + "\n" for _, line in lines) if not layout.colour else _coloured(lines)
        yield ("\n" if number else "") + text


def _explain(explanation: Explanation, digits: int) -> list[tuple[str, str]]:
    """Lines and their styles."""
    several = len(explanation.references) > 1
    heads = [["candidate", _words(explanation.candidate)]]
    for number, reference in enumerate(explanation.references, start=1):
        heads.append([f"reference {number}" if several else "reference", _words(reference)])
    lines = [("bold", f"segment {explanation.segment}, {one_line(explanation.system)}")]
    lines += [("", line) for line in align(heads, [False, False])]
    for order, group in groupby(explanation.matches, key=lambda match: match.order):
        matches = list(group)
        mass = sum(match.similarity for match in matches)
        lines.append(("bold", f"{order}-grams: {mass:.{digits}f} of {len(matches)}"))
        rows = [_row(match, digits, several) for match in matches]
        right = [False, False, True, False, *([False] if several else [])]
        lines += [(_STYLES[row[1]], f"  {line}") for row, line in zip(rows, align(rows, right), strict=True)]
    return lines


def _row(match: NgramMatch, digits: int, several: bool) -> list[str]:
    if match.reference is None:
        cells = [_words(match.candidate), "-", f"{0:.{digits}f}", ""]
        return [*cells, ""] if several else cells
    number = 0 if match.reference_number is None else match.reference_number
    cells = [
        _words(match.candidate),
        "=" if match.exact else "~",
        f"{match.similarity:.{digits}f}",
        _words(match.reference),
    ]
    return [*cells, f"reference {number + 1}"] if several else cells


def _words(words: Sequence[str]) -> str:
    return one_line(" ".join(words))


def _coloured(lines: Sequence[tuple[str, str]]) -> str:
    from rich.console import Console
    from rich.text import Text

    console = Console(force_terminal=True, color_system="standard", legacy_windows=False)
    with console.capture() as capture:
        for style, line in lines:
            console.print(Text(line, style=style), soft_wrap=True)
    return capture.get()
