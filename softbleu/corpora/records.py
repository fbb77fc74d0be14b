"""Whole segments in one file: `candidate ||| reference` lines, TSV, CSV, JSONL."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from softbleu.corpora.corpus import Segments
from softbleu.corpora.files import numbered_lines
from softbleu.errors import InputError, UnknownNameError
from softbleu.io.arguments import listed
from softbleu.io.progress import note
from softbleu.io.reading import check_columns, parse_json, read_rows, without_packing

SEPARATOR = "|||"
_COLUMNS = {
    "candidate": re.compile("(?i)hyp|hypothesis|mt|translation|output|prediction"),
    "reference": re.compile(r"(?i)gold|ref[-_ ]?\w{0,3}"),
    "source": re.compile("(?i)src|source|input"),
}
"""Names of columns in other programs (COMET, MetricX, WMT's tables)."""
_TRIED = 100  # Lines of CSV that decide on its delimiter
_NAME = re.compile(r"[a-z][a-z0-9_.:-]*")


@dataclass(frozen=True)
class Record:
    """One segment of a file."""

    candidates: Mapping[str, str]
    references: Sequence[str]
    source: str | None = None
    where: str = ""  # File and line, for errors


Parse = Callable[[Iterator[tuple[str, str]]], Iterator[Record]]


def parse_pairs(lines: Iterator[tuple[str, str]]) -> Iterator[Record]:
    """Read lines of `candidate ||| reference`, with more references behind further `|||`."""
    for where, line in lines:
        candidate, *references = (part.strip() for part in line.split(SEPARATOR))
        if not references:
            raise InputError(f"{where}: no reference; write 'candidate {SEPARATOR} reference'")
        yield Record({"candidate": candidate}, references, None, where)


def parse_tsv(lines: Iterator[tuple[str, str]]) -> Iterator[Record]:
    """Read tab-separated values, under a line of column names or without one.

    Columns: `candidate` or, for several systems, `candidate:NAME`; names that begin with `reference`; `source`; or
    their names in other programs (`_COLUMNS`). Other columns are ignored. References, a source, or both are needed.
    An empty cell is an empty text; a line may end before its last references, which are then missing. Without column
    names, the first column has candidates and the others have references.
    """
    return _of_rows((where, line.split("\t")) for where, line in lines)


def parse_csv(lines: Iterator[tuple[str, str]]) -> Iterator[Record]:
    """Read values separated by commas, semicolons or tabs, as written by spreadsheets; see `parse_tsv`."""
    numbered = list(lines)
    if not numbered:
        return iter(())
    name = numbered[0][0].rpartition(", line ")[0]
    ended = [f"{line}\n" for _, line in numbered]
    mark = max(",;\t", key=lambda mark: _fit(ended[:_TRIED], name, mark))
    return _of_rows((f"{name}, line {number}", cells) for number, cells in read_rows(ended, name, mark) if cells)


def _fit(lines: Sequence[str], name: str, mark: str) -> tuple[int, int]:
    """Rate a delimiter: number of known columns, and of rows with as many cells as the first."""
    rows = [cells for _, cells in read_rows(lines, name, mark)]
    return sum(map(bool, _kinds_of(rows[0]))), sum(len(cells) == len(rows[0]) > 1 for cells in rows)


def _of_rows(rows: Iterator[tuple[str, list[str]]]) -> Iterator[Record]:
    where, names = next(rows, ("", []))
    if not where:
        return
    kinds = _kinds_of(names)
    if len(names) > 1 and not any(kinds):
        rows, names = _without_header(where, names, rows)
        kinds = _kinds_of(names)
    known = [kind for kind in kinds if kind is not None]
    same = [
        "" if kind is None else kind[1] if kind[0] == "reference" else ":".join(filter(None, kind)) for kind in kinds
    ]
    check_columns(where, same, names)
    kinds_known = {kind for kind, _ in known}
    if "candidate" not in kinds_known or not kinds_known & {"reference", "source"}:
        raise InputError(f"{where}: the first line must name columns 'candidate' and 'reference', not {names}")
    for where, cells in rows:
        if len(cells) > len(names):
            raise InputError(f"{where}: {len(cells)} cells under {len(names)} column names")
        named = [(kind, cell) for kind, cell in zip(kinds, cells, strict=False) if kind is not None]
        candidates = {name or kind: cell for (kind, name), cell in named if kind == "candidate"}
        missing = [name or kind for kind, name in known if kind == "candidate" and (name or kind) not in candidates]
        if missing:
            raise InputError(f"{where}: no candidate of system {missing[0]!r}, the line ends before it")
        references = [cell for (kind, _), cell in named if kind == "reference"]
        source = next((cell for (kind, _), cell in named if kind == "source"), None)
        yield Record(candidates, references, source, where)


def _kinds_of(names: Sequence[str]) -> list[tuple[str, str] | None]:
    """Return the kind and name of each column, None for ignored ones.

    Names of other programs are accepted if no column is called `candidate`.
    """
    kinds: list[tuple[str, str] | None] = []
    for column in names:
        kind: str | None
        kind, _, name = column.partition(":")
        kind, name = ("reference", column) if kind.startswith("reference") else (kind, name)
        kinds.append((kind, name * (name != kind)) if kind in _COLUMNS else None)
    if any(kind is not None and kind[0] == "candidate" for kind in kinds):
        return kinds
    for number, column in enumerate(names):
        kind = next((kind for kind, name in _COLUMNS.items() if name.fullmatch(column.strip())), None)
        if kind is not None and kinds[number] is None:
            kinds[number] = (kind, column * (kind == "reference"))
    return kinds


def _without_header(
    where: str, first: list[str], rows: Iterator[tuple[str, list[str]]]
) -> tuple[Iterator[tuple[str, list[str]]], list[str]]:
    """Treat a first line without known column names as a segment; return all rows, and names for their columns.

    Raises `InputError` if the first line, and no other, looks like column names.
    """
    others = list(rows)
    if _names_columns(first) and not any(_names_columns(cells) for _, cells in others) and others:
        message = "are they the columns 'candidate', 'reference' and 'source'? Name them so"
        raise InputError(f"{where}: unknown columns {', '.join(first)}: {message}")
    note(f"{where} names no columns: the first has candidates, the other{'s' * (len(first) > 2)} references")
    return iter([(where, first), *others]), ["candidate", *(f"reference{number}" for number in range(1, len(first)))]


def _names_columns(cells: Sequence[str]) -> bool:
    """Whether all cells may be column names: distinct single words in lower case."""
    return len(set(cells)) == len(cells) and all(_NAME.fullmatch(cell) for cell in cells)


def parse_jsonl(lines: Iterator[tuple[str, str]]) -> Iterator[Record]:
    """Read one JSON object a line: `candidate` (text, or an object of texts by system), `reference` or
    `references` (text or a list of texts; null for one that is missing), `source`.
    """  # noqa: D205
    for where, line in lines:
        entry = parse_json(line, where)
        if not isinstance(entry, dict) or "candidate" not in entry:
            raise InputError(f"{where}: an object with 'candidate' and 'references' is needed")
        candidate = entry["candidate"]
        candidates = candidate if isinstance(candidate, dict) else {"candidate": candidate}
        references = entry.get("references", entry.get("reference"))
        references = [references] if isinstance(references, str) or references is None else references
        if not isinstance(references, list):
            raise InputError(f"{where}: references are a text or a list of texts, not {json.dumps(references)[:40]}")
        present = [text for text in references if text is not None]
        if not candidates:
            raise InputError(f"{where}: no candidate at all")
        source = [] if entry.get("source") is None else [entry["source"]]
        for text in (*candidates.values(), *present, *source):
            if not isinstance(text, str):
                raise InputError(f"{where}: text is needed, not {json.dumps(text)[:40]}")
        yield Record(candidates, present, entry.get("source"), where)


PAIR_FORMATS: dict[str, Parse] = {"pairs": parse_pairs, "tsv": parse_tsv, "csv": parse_csv, "jsonl": parse_jsonl}


def read_segments(name: str, *, file_format: str | None = None, encoding: str = "utf-8") -> Segments:
    """Read a file of whole segments into memory.

    Raises `InputError`, which names the line, if a segment cannot be read, has neither reference nor source, or lacks
    a reference or a system that others have.

    Parameters
    ----------
    name
        The file, packed or not; `-` is standard input.
    file_format
        `pairs`, `tsv`, `csv` or `jsonl`; None: by the suffix, or else `pairs`.
    encoding
        Encoding of the file.
    """
    suffix = Path(without_packing(name)).suffix.lower().lstrip(".")
    file_format = file_format or (suffix if suffix in PAIR_FORMATS else "pairs")
    if file_format not in PAIR_FORMATS:
        raise UnknownNameError("file format", file_format, PAIR_FORMATS)
    candidates: dict[str, list[str]] = {}
    references: list[Sequence[str]] = []
    sources: list[str] = []
    first: Record | None = None
    for record in PAIR_FORMATS[file_format](numbered_lines(name, encoding)):
        where = record.where or name
        first = first or record
        if not record.references and (record.source is None or first.references):
            raise InputError(f"{where}: the segment has no reference")
        if record.references and not first.references:
            raise InputError(f"{where}: the segment has a reference, though others have none")
        if odd := sorted(record.candidates.keys() ^ first.candidates.keys()):
            raise InputError(f"{where}: system {odd[0]!r} is not in every segment")
        if (record.source is None) != (first.source is None):
            where = where if record.source is None else first.where or name
            raise InputError(f"{where}: no source, though other segments have one")
        for system, candidate in record.candidates.items():
            candidates.setdefault(system, []).append(candidate)
        references.append(record.references)
        sources += [] if record.source is None else [record.source]
    if first is None:
        raise InputError(f"an empty corpus: {name} has no segments")
    return Segments.of(candidates, references if first.references else None, sources or None)


@dataclass(frozen=True)
class TextList:
    """Candidates of one segment, and the texts that they are compared with."""

    candidates: Sequence[str]
    references: Sequence[str]  # By default the candidates themselves
    scores: Sequence[float] | None = None  # Of the candidates, by the program that made them

    @property
    def has_references(self) -> bool:
        """Whether the candidates are compared with other texts than themselves."""
        return self.references is not self.candidates

    @classmethod
    def of(cls, candidates: Iterable[str], references: Iterable[str] | None = None, where: str = "") -> Self:
        """Check that both are lists of at least one text.

        Parameters
        ----------
        candidates
            Texts of one segment.
        references
            Texts to compare each candidate with; None: the candidates themselves.
        where
            File and line, for errors.
        """
        place = f"{where}: " * bool(where)
        lists: list[Sequence[str]] = []
        for what, texts in (("candidates", candidates), ("references", references)):
            if texts is None and what == "references":
                continue
            lists.append(listed(f"{place}{what}", texts, "a list of texts"))
            if not lists[-1]:
                advice = "or leave the list out" if what == "references" else '"" where a segment has no output'
                raise InputError(f"{place}no {what}: give one at least, {advice}")
            for text in lists[-1]:
                if not isinstance(text, str):
                    raise InputError(f"{place}{what} are texts, not {json.dumps(text, default=str)[:40]}")
        return cls(lists[0], lists[-1])


def read_lists(name: str, encoding: str = "utf-8") -> list[TextList]:
    """Read n-best lists: of Moses, or lines of JSON.

    A line of JSON is a list of candidates, or an object with `candidates` and optional `references` and `scores`. A
    line of Moses is ``segment ||| candidate``, maybe with features and a score in its last column; segments are
    numbered without a gap, from 0 or 1.
    """
    lists: list[TextList] = []
    lines = list(numbered_lines(name, encoding))
    if lines and re.match(rf"\s*\d+ *{re.escape(SEPARATOR)}", lines[0][1]):
        return _moses_lists(lines)
    for where, line in lines:
        entry = parse_json(line, where)
        entry = {"candidates": entry} if isinstance(entry, list) else entry
        if not isinstance(entry, dict) or "candidates" not in entry:
            raise InputError(f"{where}: a list of candidates, or an object with 'candidates', is needed")
        made = TextList.of(entry["candidates"], entry.get("references"), where)
        lists.append(replace(made, scores=entry.get("scores")))
    if not lists:
        raise InputError(f"{name}: no lists of candidates")
    return lists


def _moses_lists(lines: Sequence[tuple[str, str]]) -> list[TextList]:
    """Read the n-best list of Moses: lines of a segment stand together."""
    lists: list[tuple[list[str], list[float]]] = []
    last = -1
    for where, line in lines:
        segment, *columns = (part.strip() for part in line.split(SEPARATOR))
        number = int(segment) if segment.isdecimal() else -1
        if number not in ((last, last + 1) if lists else (0, 1)) or not columns:
            raise InputError(f"{where}: 'segment {SEPARATOR} candidate' is needed, of segments without a gap")
        if not lists or number > last:
            lists.append(([], []))
        last = number
        lists[-1][0].append(columns[0])
        with suppress(ValueError):  # Features alone are no score
            lists[-1][1].append(float(columns[-1] if len(columns) > 1 else ""))
    return [TextList(texts, texts, scores or None) for texts, scores in lists]
