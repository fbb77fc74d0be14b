"""COMET: the JSON of `comet-score --to_json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from softbleu.corpora.files import name_files
from softbleu.corpora.judgements.tables import TableRow
from softbleu.errors import InputError
from softbleu.types import Fields


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
