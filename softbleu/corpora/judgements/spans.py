"""Spans of outputs that judges, or other programs, mark as errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from softbleu.corpora.files import name_files
from softbleu.corpora.judgements.scores import (
    TableRow,
    first_segment,
    is_json,
    json_values,
    of_direction,
    plain_names,
    segment_number,
    table_rows,
    text_of,
)
from softbleu.corpora.judgements.spans import LinesBySystem, annotated_rows
from softbleu.errors import InputError
from softbleu.io.reading import whole_number

MINOR, MAJOR = "minor", "major"
_SEVERITIES = {MINOR: MINOR, MAJOR: MAJOR, "critical": MAJOR}
_PLACED = ("system", "segment", "start", "end")


class MarkedSpan(NamedTuple):
    """Characters of an output, from 0; the end is behind the last."""

    start: int
    end: int
    severity: str  # `minor` or `major`; empty where neither is said


class MarkedOutput(NamedTuple):
    """An output as one judge, or one program, marks it."""

    location: str  # File and line
    spans: tuple[MarkedSpan, ...]


@dataclass(frozen=True, eq=False)
class SpanTable:
    """Spans that are marked in outputs, by judges or by a metric."""

    name: str
    outputs: Mapping[str, Mapping[int, Sequence[MarkedOutput]]]
    """Of each system, by the number of the segment from 0: an entry for each time that the output was looked at."""
    missing: int = 0  # Marks of what an output leaves out: they stand at no place

    def __len__(self) -> int:
        return sum(len(marked) for segments in self.outputs.values() for marked in segments.values())

    def check(self, texts: Mapping[str, Sequence[str]], first: int | None = None) -> None:
        """See that all spans lie within the texts of the systems. InputError: one does not, or has no text.

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
        """See that all spans lie within a text, of a segment from 1. InputError: one does not."""
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
    """Read spans: Error MarkedSpan Annotation (WMT24, Pearmut), MQM, xCOMET's JSON, and what `softbleu spans` writes.

    Ends are those of the format: WMT24's and Pearmut's are of the last character. A row of `softbleu spans` without
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
    text = text_of(name, encoding)
    rows = annotated_rows(name, text, texts)
    judged = _by_output(_span_rows(name, text)) if rows is None else of_direction(name, rows, direction)
    places = [(row["system"], segment_number(where, row["segment"])) for where, row in judged]
    names = plain_names({system for system, _ in places})
    first = first_segment(name, (segment for _, segment in places))
    outputs: dict[str, dict[int, list[MarkedOutput]]] = {}
    missing = 0
    for (system, segment), (where, row) in zip(places, judged, strict=True):
        read = [_span(where, marked) for marked in row["spans"]]
        missing += read.count(None)
        marks = outputs.setdefault(names[system], {}).setdefault(segment - first, [])
        marks.append(MarkedOutput(where, tuple(span for span in read if span is not None)))
    if not outputs:
        raise InputError(f"{name}: there are no spans")
    return SpanTable(label or Path(name.removesuffix(".gz")).stem, outputs, missing)


def _by_output(rows: Iterable[TableRow]) -> list[TableRow]:
    """Put the spans of each output together, those of each annotator by themselves."""
    outputs: dict[tuple[str, str, str], TableRow] = {}
    for where, row in rows:
        if not isinstance(row.get("system"), str):
            raise InputError(f"{where}: a system's name is needed, not {row.get('system')!r}")
        key = row["system"], str(row.get("segment")), str(row.get("annotator", ""))
        _, output = outputs.setdefault(key, (where, {**row, "spans": []}))
        if row.get("start") not in ("", None):
            output["spans"].append((row["start"], row["end"], row.get("severity")))
    return list(outputs.values())


def _span_rows(name: str, text: Sequence[str]) -> Iterator[TableRow]:
    """Rows of a table with the columns `_PLACED`, or of JSON: objects with these keys, or what xCOMET writes."""
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
            yield from _xcomet_rows(name, whole)
            return
        whole = whole["rows"]
    listed = [(name, row) for row in whole] if isinstance(whole, list) else values
    for where, row in listed:
        if not isinstance(row, dict) or not {*_PLACED} <= row.keys():
            raise InputError(f"{where}: no spans: objects with {', '.join(_PLACED)} are needed")
        yield where, row


def _xcomet_rows(name: str, files: Mapping[str, Any]) -> Iterator[TableRow]:
    systems = {path: system for system, path in name_files(list(files)).items()}
    for path, segments in files.items():
        for number, segment in enumerate(segments if isinstance(segments, list) else [None], start=1):
            where = f"{name}, {path}, segment {number}"
            errors = segment.get("errors") if isinstance(segment, dict) else None
            if not isinstance(errors, list) or not all(isinstance(error, dict) for error in errors):
                raise InputError(f"{where}: there are no 'errors', as xCOMET writes them")
            row = {"system": systems[path], "segment": number}
            yield where, {**row, "start": None, "end": None}
            for error in errors:
                yield where, {**row, **{key: error.get(key) for key in ("start", "end", "severity")}}


def _span(where: str, marked: Any) -> MarkedSpan | None:
    """Read a span; None of what is missing, and stands nowhere. InputError: it is none."""
    inclusive = isinstance(marked, dict)
    cells = [marked.get(key) for key in ("start_i", "end_i", "severity")] if inclusive else list(marked)
    if "missing" in cells[:2]:
        return None
    start, end = (whole_number(where, "the character where a span begins or ends", cell) for cell in cells[:2])
    if not 0 <= start <= end:
        raise InputError(f"{where}: a span cannot be from character {start} to {end}")
    return MarkedSpan(start, end + inclusive, _SEVERITIES.get(str(cells[2]).lower(), ""))
