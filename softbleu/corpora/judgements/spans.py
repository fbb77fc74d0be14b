"""Spans of outputs that judges, or other programs, mark as errors: ESA of WMT24 and Pearmut, MQM, xCOMET."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from softbleu.corpora.judgements import converters
from softbleu.corpora.judgements.formats import rows_in_format
from softbleu.corpora.judgements.numbering import LinesBySystem
from softbleu.corpora.judgements.tables import (
    LinesOrRows,
    TableRow,
    content_of,
    is_json,
    json_values,
    of_direction,
    place_rows,
    plain_names,
    table_rows,
)
from softbleu.errors import InputError
from softbleu.io.reading import whole_number, without_packing
from softbleu.types import Json

MINOR, MAJOR = "minor", "major"
_SEVERITIES = {MINOR: MINOR, MAJOR: MAJOR, "critical": MAJOR}
_PLACED = ("system", "segment", "start", "end")


class MarkedSpan(NamedTuple):
    """Characters of an output, from 0; the end is behind the last."""

    start: int
    end: int
    severity: str  # `minor` or `major`; empty if unknown


class MarkedOutput(NamedTuple):
    """An output as one judge, or one program, marks it."""

    location: str  # File and line
    spans: tuple[MarkedSpan, ...]


@dataclass(frozen=True, eq=False)
class SpanTable:
    """Spans that are marked in outputs, by judges or by a metric."""

    name: str
    outputs: Mapping[str, Mapping[int, Sequence[MarkedOutput]]]
    """Marked outputs of each system by segment number from 0, one for each annotation."""
    missing: int = 0  # Marks of omissions, which have no position

    def __len__(self) -> int:
        return sum(len(marked) for segments in self.outputs.values() for marked in segments.values())

    def check(self, texts: Mapping[str, Sequence[str]], first: int | None = None) -> None:
        """Check that all spans lie within the texts of the systems. Raises InputError otherwise.

        Of longer texts, `texts` may have so many `first` segments.
        """
        for system in self.outputs.keys() & texts.keys():
            lines = texts[system]
            for number, marked in self.outputs[system].items():
                if number >= len(lines) and first is None:
                    raise InputError(f"{marked[0].location}: segment {number + 1}, {system} has {len(lines):,}")
                for output in marked if number < len(lines) else ():
                    self.check_output(output, lines[number], system, number + 1)

    @staticmethod
    def check_output(output: MarkedOutput, text: str, system: str, segment: int) -> None:
        """Check that all spans lie within the text of a segment, numbered from 1. Raises InputError otherwise."""
        end = max((span.end for span in output.spans), default=0)
        # Tools let people mark the end of a line as well.
        if end > len(text) + 1:
            said = f"a span ends at character {end} of segment {segment} of {system}, which has {len(text)}"
            raise InputError(f"{output.location}: {said}")


def read_spans(
    name: str,
    *,
    label: str | None = None,
    direction: str | None = None,
    encoding: str = "utf-8",
    texts: LinesBySystem | None = None,
) -> SpanTable:
    """Read spans: Error Span Annotation (WMT24, Pearmut), MQM, xCOMET's JSON, and the output of `softbleu spans`.

    Ends follow the format: in WMT24 and Pearmut an end is the last character. A row of `softbleu spans` without
    start and end is an output without spans.

    Parameters
    ----------
    name
        The file, packed or not.
    label
        Name of the table (default: that of the file).
    direction
        Take rows of this direction (column `lp`) only.
    encoding
        Of the file.
    texts
        Lines of the systems, among which outputs are looked for that the file does not number.

    Raises
    ------
    InputError
        There are no spans, or a row is not valid.
    """
    text = content_of(name, encoding)
    found = rows_in_format(name, text, texts=texts, judged=True)
    judged = of_direction(name, found.rows, direction) if found else _by_output(_span_rows(name, text))
    places, _ = place_rows(name, judged)
    names = plain_names({system for system, _ in places})
    outputs: dict[str, dict[int, list[MarkedOutput]]] = {}
    missing = 0
    for (system, segment), (where, row) in zip(places, judged, strict=True):
        if not isinstance(row["spans"], list):
            raise InputError(f"{where}: spans are a list, not {row['spans']!r}")
        read = [_span(where, span) for span in row["spans"]]
        missing += read.count(None)
        marks = outputs.setdefault(names[system], {}).setdefault(segment, [])
        marks.append(MarkedOutput(where, tuple(span for span in read if span is not None)))
    if not outputs:
        raise InputError(f"{name}: there are no spans")
    return SpanTable(label or Path(without_packing(name)).stem, outputs, missing)


def _by_output(rows: Iterable[TableRow]) -> list[TableRow]:
    """Collect the spans of each output, separately for each annotator."""
    outputs: dict[tuple[str, str, str], TableRow] = {}
    for where, row in rows:
        if not isinstance(row.get("system"), str):
            raise InputError(f"{where}: a system's name is needed, not {row.get('system')!r}")
        key = row["system"], str(row.get("segment")), str(row.get("annotator", ""))
        _, output = outputs.setdefault(key, (where, {**row, "spans": []}))
        if row.get("start") not in ("", None):
            output["spans"].append((row["start"], row["end"], row.get("severity")))
    return list(outputs.values())


def _span_rows(name: str, text: LinesOrRows) -> Iterator[TableRow]:
    """Yield rows of a table with the columns `_PLACED`, or of JSON: objects with these keys, or of xCOMET."""
    if not is_json(text):
        columns, rows = table_rows(name, text)
        if not {*_PLACED} <= {*columns}:
            raise InputError(
                f"{name}, line 1: no spans: they need columns {' '.join(_PLACED)}, or a format with spans"
            )
        yield from rows
        return
    values = json_values(name, text)
    whole = values[0][1]
    if len(values) == 1 and isinstance(whole, dict) and not {*_PLACED} <= whole.keys():
        if not isinstance(whole.get("rows"), list):
            yield from converters.xcomet_rows(name, whole)
            return
        values = [(name, row) for row in whole["rows"]]
    for where, row in values:
        if not isinstance(row, dict) or not {*_PLACED} <= row.keys():
            raise InputError(f"{where}: no spans: objects with {', '.join(_PLACED)} are needed")
        yield where, row


def _span(where: str, marked: Json) -> MarkedSpan | None:
    inclusive = isinstance(marked, dict)
    cells = [marked.get(key) for key in ("start_i", "end_i", "severity")] if inclusive else marked
    if not isinstance(cells, list | tuple) or len(cells) < 3:
        raise InputError(f"{where}: a span has a start, an end and a severity, not {marked!r}")
    if "missing" in cells[:2]:
        return None
    start, end = (whole_number(where, "the character where a span begins or ends", cell) for cell in cells[:2])
    if not 0 <= start <= end:
        raise InputError(f"{where}: a span cannot be from character {start} to {end}")
    return MarkedSpan(start, end + inclusive, _SEVERITIES.get(str(cells[2]).lower(), ""))
