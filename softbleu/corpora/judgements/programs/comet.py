"""COMET: the JSON of `comet-score --to_json`, and the lines that `comet-score` prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from softbleu.corpora.files import name_files
from softbleu.corpora.judgements.tables import TableRow
from softbleu.errors import InputError
from softbleu.types import Fields

METRIC = "COMET"
# Since version 1.1 the file is named, and tabs replace blanks.
_SEGMENT = re.compile(r"(?:(\S.*?)[\t ]+)?[Ss]egment[\t ]+(\d+)[\t ]+[Ss]core: *(\S+)(?:[\t ]+variance: *\S+)?\s*")
_SYSTEM = re.compile(r"(?:(?![Ss]ystem score)(\S.*?)[\t ]+)?(?:[Ss]ystem )?[Ss]core: *(\S+)\s*")


def is_log(text: Sequence[str]) -> bool:
    """Whether lines are printed by `comet-score`, also with other lines, or only its scores of systems."""
    known = [line for line in text if line.strip()]
    return any(map(_SEGMENT.fullmatch, known)) or (bool(known) and all(map(_SYSTEM.fullmatch, known)))


def log_rows(name: str, text: Sequence[str], system: str) -> tuple[Iterator[TableRow], bool]:
    """Read the lines that `comet-score` prints; and whether no system is named in them."""
    found: list[tuple[str, str, str | None, str]] = []
    for number, line in enumerate(text, start=1):
        where = f"{name}, line {number}"
        if match := _SEGMENT.fullmatch(line):
            found.append((where, match[1] or "", match[2], match[3]))
        elif match := _SYSTEM.fullmatch(line):
            found.append((where, match[1] or "", None, match[2]))
    files = [path for path in dict.fromkeys(path for _, path, _, _ in found) if path]
    names = {path: called for called, path in name_files(files).items()} if files else {}

    def rows() -> Iterator[TableRow]:
        for where, path, segment, score in found:
            placed = {} if segment is None else {"segment": segment}
            yield where, {"system": names.get(path, system), "metric": METRIC, "score": score, **placed}

    return rows(), not files


def is_by_file(value: object) -> bool:
    """Whether a value is an object of lists of segments by file, each an object or a number."""
    return (
        isinstance(value, dict)
        and "systems" not in value
        and bool(value)
        and all(isinstance(rows, list) and rows for rows in value.values())
        and all(isinstance(row, dict) for row in chain.from_iterable(value.values()))
    )


def file_rows(name: str, files: Fields) -> Iterator[TableRow]:
    """Read lists of segments by file, whose numbers are scores by metric."""
    systems = {path: system for system, path in name_files(list(files)).items()}
    for path, segments in files.items():
        numbers = (key for segment in segments for key, value in segment.items() if isinstance(value, int | float))
        metrics = list(dict.fromkeys(numbers))
        if not metrics:
            raise InputError(f"{name}: segments of {path!r} have no score that is a number")
        for number, segment in enumerate(segments):
            where = f"{name}, {path}, segment {number + 1}"
            for metric in metrics:
                score = segment.get(metric)
                placed = {"system": systems[path], "metric": metric, "segment": number}
                yield where, {**placed, "score": score, "translation": segment.get("mt")}


def xcomet_rows(name: str, files: Mapping[str, object]) -> Iterator[TableRow]:
    """Read xCOMET's `errors` of the segments of each file."""
    systems = {path: system for system, path in name_files(list(files)).items()}
    for path, segments in files.items():
        for number, segment in enumerate(segments if isinstance(segments, list) else [None], start=1):
            where = f"{name}, {path}, segment {number}"
            errors = segment.get("errors") if isinstance(segment, dict) else None
            if not isinstance(errors, list) or not all(isinstance(error, dict) for error in errors):
                raise InputError(f"{where}: no list of 'errors' as in files of xCOMET")
            row = {"system": systems[path], "segment": number}
            yield where, {**row, "start": None, "end": None}
            for error in errors:
                yield where, {**row, **{key: error.get(key) for key in ("start", "end", "severity")}}
