"""Whole segments in one file: `candidate ||| reference` lines, TSV with named columns, JSONL."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from softbleu.corpora.files import open_text
from softbleu.corpora.segments import Segments
from softbleu.errors import InputError, UnknownNameError

SEPARATOR = "|||"


@dataclass(frozen=True)
class Record:
    """One segment as a file has it."""

    candidates: Mapping[str, str]
    references: Sequence[str]
    source: str | None = None


Parse = Callable[[Iterator[tuple[str, str]]], Iterator[Record]]


def parse_pairs(lines: Iterator[tuple[str, str]]) -> Iterator[Record]:
    """Read lines of `candidate ||| reference`, with more references behind further `|||`."""
    for where, line in lines:
        candidate, *references = (part.strip() for part in line.split(SEPARATOR))
        if not references:
            raise InputError(f"{where}: no reference; write 'candidate {SEPARATOR} reference'")
        yield Record({"candidate": candidate}, references)


def parse_tsv(lines: Iterator[tuple[str, str]]) -> Iterator[Record]:
    """Read tab-separated values under a line of column names.

    Columns: `candidate` or, for several systems, `candidate:NAME`; `reference`, `reference2` or whatever begins
    with "reference"; `source`. Others are passed over. An empty cell is an empty text; a line may end before its
    last references, which are then missing.
    """
    where, header = next(lines, ("", ""))
    if not where:
        return
    names = header.split("\t")
    if len(set(names)) < len(names):
        raise InputError(f"{where}: two columns have the same name, {_repeated(names)!r}")
    kinds = [(name.partition(":")[0], name.partition(":")[2] or "candidate") for name in names]
    if not {"candidate", "reference"} <= {kind[:9] for kind, _ in kinds}:
        raise InputError(f"{where}: the first line must name columns 'candidate' and 'reference', not {names}")
    for where, line in lines:
        cells = line.split("\t")
        if len(cells) > len(names):
            raise InputError(f"{where}: {len(cells)} cells under {len(names)} column names")
        candidates, references, source = {}, [], None
        for (kind, system), cell in zip(kinds, cells, strict=False):
            if kind == "candidate":
                candidates[system] = cell
            elif kind.startswith("reference"):
                references.append(cell)
            elif kind == "source":
                source = cell
        yield Record(candidates, references, source)


def _repeated(names: Sequence[str]) -> str:
    return next(name for name in names if names.count(name) > 1)


def parse_jsonl(lines: Iterator[tuple[str, str]]) -> Iterator[Record]:
    """Read one JSON object a line: `candidate` (text, or an object of texts by system), `reference` or
    `references` (text or a list of texts; null for one that is missing), `source`.
    """  # noqa: D205
    for where, line in lines:
        try:
            entry = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(f"{where}, column {error.colno}: not JSON ({error.msg})") from None
        except RecursionError:
            raise InputError(f"{where}: JSON nested too deeply") from None
        if not isinstance(entry, dict) or "candidate" not in entry:
            raise InputError(f"{where}: an object with 'candidate' and 'references' is needed")
        candidate = entry["candidate"]
        candidates = candidate if isinstance(candidate, dict) else {"candidate": candidate}
        references = entry.get("references", entry.get("reference"))
        references = [references] if isinstance(references, str) or references is None else references
        if not isinstance(references, list):
            raise InputError(f"{where}: references are a text or a list of texts, not {json.dumps(references)[:40]}")
        present = [text for text in references if text is not None]
        for text in (*candidates.values(), *present):
            if not isinstance(text, str):
                raise InputError(f"{where}: text is needed, not {json.dumps(text)[:40]}")
        yield Record(candidates, present, entry.get("source"))


_FORMATS: dict[str, Parse] = {"pairs": parse_pairs, "tsv": parse_tsv, "jsonl": parse_jsonl}


def format_of(name: str) -> str:
    """Format of a file by its suffix; `pairs` for all others.

    >>> format_of("test.jsonl.gz"), format_of("artificial.pairs.txt")
    ('jsonl', 'pairs')
    """
    suffix = Path(name.removesuffix(".gz")).suffix.lower().lstrip(".")
    return suffix if suffix in _FORMATS else "pairs"


def read_segments(name: str, *, file_format: str | None = None, encoding: str = "utf-8") -> Segments:
    """Read a file of whole segments into memory.

    Raises
    ------
    InputError
        A segment has no reference, lacks a system that others have, or cannot be read; the line is named.
    """
    file_format = file_format or format_of(name)
    if file_format not in _FORMATS:
        raise UnknownNameError("file format", file_format, _FORMATS)
    candidates: dict[str, list[str]] = {}
    references: list[Sequence[str]] = []
    sources: list[str | None] = []
    first_line = 2 if file_format == "tsv" else 1
    with closing(open_text(name, encoding)) as text:
        lines = ((f"{name}, line {number}", line) for number, line in enumerate(text, start=1))
        for number, record in enumerate(_FORMATS[file_format](lines), start=first_line):
            if not record.references:
                raise InputError(f"{name}, line {number}: the segment has no reference")
            if not references:
                candidates = {system: [] for system in record.candidates}
            if record.candidates.keys() != candidates.keys():
                odd = sorted(record.candidates.keys() ^ candidates.keys())
                raise InputError(f"{name}, line {number}: system {odd[0]!r} is not in every segment")
            for system, candidate in record.candidates.items():
                candidates[system].append(candidate)
            references.append(record.references)
            sources.append(record.source)
    if not references:
        raise InputError(f"an empty corpus: {name} has no segments")
    source = [text for text in sources if text is not None]
    return Segments.of(candidates, references, source if len(source) == len(references) else None)
