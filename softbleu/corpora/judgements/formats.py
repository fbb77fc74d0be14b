"""Files of other programs as rows of system, segment and so on: tables of `formats.toml`, and readers of JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from softbleu.corpora.files import name_files
from softbleu.corpora.judgements import converters, pearmut
from softbleu.corpora.judgements.numbering import LinesBySystem
from softbleu.corpora.judgements.tables import (
    LinesOrRows,
    ParquetRows,
    TableRow,
    Values,
    head_of,
    is_json,
    json_values,
    meanings,
    table_rows,
)
from softbleu.errors import InputError
from softbleu.io.platform import cached_property
from softbleu.io.reading import parse_json, read_toml, whole_number
from softbleu.types import Fields, Json, JsonObject

_USUAL = ("system", "file", "segment", "document", "lp", "metric", "annotator", "score", "signature")
"""Columns that are found by all their names."""


class FormatRows(NamedTuple):
    """Rows of a file that is no table of columns, or whose columns have names of their own."""

    rows: Iterable[TableRow]
    unnamed: bool  # Whether the file has one system and does not name it


@dataclass(frozen=True)
class _File:
    name: str
    content: LinesOrRows
    system: str  # Name of the system if the file does not name one
    texts: LinesBySystem | None

    @cached_property
    def values(self) -> Values:
        """Values of JSON; none of other files."""
        values = json_values(self.name, self.content) if is_json(self.content) else ()
        return pearmut.entries_of(self.name, values)

    @cached_property
    def head(self) -> list[str]:
        """Cells of the first row of a table."""
        return [] if self.values else head_of(self.name, self.content)


_READERS: dict[str, Callable[[_File], Iterator[TableRow]]] = {
    "mqm": lambda file: converters.mqm_rows(file.name, file.content),
    "pearmut": lambda file: pearmut.pearmut_rows(file.name, file.values, file.texts),
    "humeval": lambda file: converters.humeval_rows(file.values),
}


def _all_objects(fits: Callable[[Fields], bool]) -> Callable[[Sequence[Json]], bool]:
    return lambda values: all(isinstance(value, dict) and fits(value) for value in values)


_JSON: list[tuple[Callable[[Sequence[Json]], bool], Callable[[_File], Iterator[TableRow]]]] = [
    (_all_objects(converters.is_of_system), lambda file: converters.system_rows(file.values)),
    (_all_objects(converters.is_sample), lambda file: converters.sample_rows(file.values)),
    (converters.is_by_file, lambda file: converters.file_rows(file.name, file.values[0][1])),
    (converters.is_by_system, lambda file: converters.rows_by_system(file.name, file.values[0][1])),
    (
        converters.are_gaps_or_numbers,
        lambda file: converters.segment_rows(file.name, file.system, [value for _, value in file.values]),
    ),
    (lambda _: True, lambda file: converters.own_rows(file.name, file.values)),
]
"""Readers of other JSON, and whether its values are theirs."""


@cache
def formats() -> Mapping[str, Fields]:
    """Read the table of formats."""
    return read_toml(Path(__file__).with_name("formats.toml"))


def rows_in_format(
    name: str, content: LinesOrRows, system: str = "", texts: LinesBySystem | None = None, *, judged: bool = False
) -> FormatRows | None:
    """Read scores of metrics or human judges in a format of another program; None if the file is a table.

    Judgements are rows of `system`, `segment` (from 1), `annotator`, `score`, `spans` and `document`, without control
    items; MQM's scores are the negated sums of the published weights.

    Parameters
    ----------
    name
        Name of the file, for errors.
    content
        Content of the file.
    system
        Name of the system if the file does not name one.
    texts
        Lines of the systems, among which outputs are looked for that the file does not number.
    judged
        Whether to look for judgements alone.
    """
    file = _File(name, content, system, texts)
    for form in formats().values():
        of_judges = form.get("judged", False)
        if (of_judges or not judged) and (rows := _rows_in(form, file)) is not None:
            if "refuse" in form:
                raise InputError(f"{name}, line 1: {form['refuse']}")
            if "order" in form:
                rows = _in_order([*_mapped(form, rows)], single=form["order"] == "all")
            elif "rows" not in form:
                rows = _mapped(form, rows)
            return _named(
                ((where, {"better": "higher", **row}) for where, row in rows) if of_judges else rows, system
            )
    if not file.values or judged:
        return None
    return _named(next(read(file) for fits, read in _JSON if fits([value for _, value in file.values])), system)


def _named(rows: Iterable[TableRow], system: str) -> FormatRows:
    """Name systems after their files, or else as `system`, without the direction."""
    listed = list(rows)
    files = dict.fromkeys(row["file"] for _, row in listed if row.get("file"))
    names: dict[object, str] = {path: called for called, path in name_files([*files]).items()}
    made: list[TableRow] = []
    for where, row in listed:
        if "system" not in row:
            usual = names.get(row.get("file")) or system.removeprefix(f"{row.get('lp')}.")
            row = {"system": usual, **row}
        made.append((where, row))
    return FormatRows(made, not files and not any("system" in row for _, row in listed))


def _rows_in(form: Fields, file: _File) -> Iterable[TableRow] | None:
    """Split a file into rows by the names that a format has; None if it is of another."""
    if "lines" in form:
        return None if isinstance(file.content, ParquetRows) else _matching(form, file.name, file.content)
    if "keys" in form:
        first, keys = file.values[0][1] if file.values else None, {*form["keys"]}
        if not isinstance(first, dict) or not keys <= first.keys() - {*form.get("lacks", ())}:
            return None
        return _READERS[form["rows"]](file) if "rows" in form else _objects(form, file.values)
    if "header" in form:
        same = len(file.head) == len(form["header"])
        if not same or not _is_kept({"keep": form["keep"]}, dict(zip(form["header"], file.head, strict=True))):
            return None
        return table_rows(file.name, file.content, lambda _: (form["header"], False))[1]
    if not {*form["needs"]} <= {cell.lower() for cell in file.head}:
        return None
    if "rows" in form:
        return _READERS[form["rows"]](file)
    return table_rows(file.name, file.content, wanted=form["needs"])[1]


def _matching(form: Fields, name: str, lines: Iterable[str]) -> list[TableRow] | None:
    """Find the lines that a format's patterns match, with their groups; None if they are lines of something else."""
    patterns = [re.compile(pattern) for pattern in form["lines"]]
    known, strict = [line for line in lines if line.strip()], "example" in form
    if not any(map(patterns[0].fullmatch, known[:1] if strict else known)) and not (
        known and all(any(one.fullmatch(line) for one in patterns) for line in known)
    ):
        return None
    found: list[TableRow] = []
    for number, line in enumerate(lines, start=1):
        where, match = f"{name}, line {number}", next(filter(None, (one.fullmatch(line) for one in patterns)), None)
        if match is not None:
            found.append((where, match.groupdict()))
        elif strict and line.strip():
            raise InputError(f"{where}: no score as in the lines above: {form['example']!r}")
    return found


def _objects(form: Fields, values: Values) -> Iterator[TableRow]:
    """Take objects for rows; of lists of scores by metric a row a score."""
    key = form.get("lists")
    for where, value in values:
        if key is not None:
            listed = value.get(key) if isinstance(value, dict) else None
            if not isinstance(listed, dict) or not all(isinstance(some, list) for some in listed.values()):
                raise InputError(f"{where}: no {key!r} with a list of scores by metric")
            about = {name: cell for name, cell in value.items() if name != key}
            yield from (
                (where, {**about, "metric": name, "score": one}) for name, some in listed.items() for one in some
            )
        elif not isinstance(value, dict) or not {*form["keys"]} <= value.keys():
            raise InputError(f"{where}: an object with {', '.join(form['keys'])} is needed")
        else:
            yield where, value


def _is_kept(form: Fields, cells: Fields) -> bool:
    """Whether a format keeps a row."""
    kept = all(cells[column] in values for column, values in form.get("keep", {}).items())
    return kept and not any(part in cells[column] for column, parts in form.get("drop", {}).items() for part in parts)


def _mapped(form: Fields, rows: Iterable[TableRow]) -> Iterator[tuple[str, JsonObject]]:
    """Give columns our names."""
    columns: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    chooses, says, first = "keep" in form or "drop" in form, form.get("says", {}), form.get("first")
    empty: JsonObject = {"annotator": "", "spans": []} if form.get("judged") else {}
    for where, cells in rows:
        if chooses and not _is_kept(form, cells):
            continue
        keys = tuple(cells)
        if keys not in columns:
            columns[keys] = _columns(form, keys)
        row = dict(empty)
        for ours, theirs in columns[keys]:
            if (cell := cells[theirs]) is not None or ours == "score":
                row[ours] = cell
        for ours, text in says.items():
            row[ours] = text.format_map(cells)
        if first is not None:
            row["segment"] = whole_number(where, "the number of a segment", row.get("segment")) + 1 - first
        if isinstance(row.get("spans"), str):
            row["spans"] = parse_json(row["spans"], where)
        yield where, row


def _in_order(rows: Sequence[tuple[str, JsonObject]], *, single: bool) -> Iterator[TableRow]:
    """Number segments by their order; a `single` one, too, is no score of a system."""
    keys = [(row.get("system"), row.get("file"), row.get("metric")) for _, row in rows]
    totals, counts = Counter(keys), Counter[object]()
    for key, (where, row) in zip(keys, rows, strict=True):
        if single or totals[key] > 1:
            row["segment"] = counts[key]
        counts[key] += 1
        yield where, row


def _columns(form: Fields, keys: Sequence[str]) -> list[tuple[str, str]]:
    """Pair our names of columns with the names in a row: the usual ones, and the format's own."""
    usual = zip(meanings(keys), keys, strict=True)
    named = {ours: theirs for ours, theirs in form.get("columns", {}).items() if theirs in keys}
    found = {ours: theirs for ours, theirs in usual if ours in _USUAL and theirs not in named.values()}
    return [*(found | named).items()]
