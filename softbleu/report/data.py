"""Results for programs, in full precision: JSON, JSON lines, tab-separated values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from softbleu.report.layout import one_line
from softbleu.report.table import has_parts, parts_of, rows_of

if TYPE_CHECKING:
    from softbleu.report.layout import Layout
    from softbleu.scoring import Result

SCHEMA = 1


def dump(value: object) -> str:
    """Write JSON on one line; a number that JSON cannot express is an error, never `NaN`."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def write_json(results: Sequence[Result], layout: Layout) -> Iterator[str]:
    """Write one JSON object, a system or a segment a line."""
    signature = dump(results[0].signature) if results else '""'
    yield f'{{"schema": {SCHEMA}, "signature": {signature}, "systems": ['
    for number, result in enumerate(results):
        yield ",\n" if number else "\n"
        system = dump({"name": result.name, **_numbers_of(result)})
        if not has_parts(result):
            yield system
            continue
        yield system.removesuffix("}") + f', "{"segments" if result.segments is not None else "references"}": ['
        for place, (labels, score) in enumerate(parts_of(result)):
            yield ",\n" if place else "\n"
            yield dump({**labels, **score.as_dict()})
        yield "\n]}"
    yield "\n]}\n"


def write_jsonl(results: Sequence[Result], layout: Layout) -> Iterator[str]:
    """Write one JSON object a system, or a segment and system."""
    for result in results:
        if not has_parts(result):
            yield dump({"system": result.name, **_numbers_of(result)}) + "\n"
    for labels, score in rows_of(results):
        yield dump({**labels, **score.as_dict()}) + "\n"


def write_tsv(results: Sequence[Result], layout: Layout) -> Iterator[str]:
    """Write a line of column names, and a line a system, or a segment and system."""
    rows: Iterator[dict[str, Any]] = (
        {
            "system": result.name,
            **result.score.as_dict(),
            **_coverage_of(result),
            "signature": result.signature,
        }
        for result in results
        if not has_parts(result)
    )
    if results and has_parts(results[0]):
        rows = ({**labels, **score.as_dict()} for labels, score in rows_of(results))
    for number, row in enumerate(rows):
        columns = list(_columns(row))
        if number == 0:
            yield "\t".join(name for name, _ in columns) + "\n"
        yield "\t".join(one_line(cell) if isinstance(cell, str) else dump(cell) for _, cell in columns) + "\n"


def _numbers_of(result: Result) -> dict[str, Any]:
    coverage = None if result.coverage is None else result.coverage.as_dict()
    return {**result.score.as_dict(), "vector_coverage": coverage}


def _coverage_of(result: Result) -> dict[str, int]:
    if result.coverage is None:
        return {}
    return {
        "candidate_tokens_with_vector": result.coverage.candidate_known,
        "reference_tokens": result.coverage.reference_tokens,
        "reference_tokens_with_vector": result.coverage.reference_known,
    }


def _columns(row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Spread lists over columns, `matches_1`, `matches_2` and so on."""
    for name, value in row.items():
        if isinstance(value, (list, tuple)):
            yield from ((f"{name}_{number}", entry) for number, entry in enumerate(value, start=1))
        else:
            yield name, value
