"""JSON lines with a segment each: samples of lm-evaluation-harness, MetricX, and lines that name their system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from softbleu.corpora.judgements.tables import PLACES, TableRow, Values, may_be_score, meanings
from softbleu.errors import InputError
from softbleu.types import Fields, JsonObject

_SAMPLE = ("doc_id", "target")  # Keys of a sample of lm-evaluation-harness
_PREDICTED = {"prediction", "hypothesis"}  # Keys of a segment of MetricX
_ASIDE = ("doc", "doc_id", "filter", "version", "target", "better")
"""Keys with numbers that are no scores."""


def is_sample(row: Fields) -> bool:
    """Whether an object is a segment with scores by the names of its keys."""
    if {*_SAMPLE} <= row.keys() or row.keys() >= _PREDICTED:
        return True
    return "score" not in row and "segment" in meanings(list(row)) and bool(_numbers(row))


def is_unnamed(rows: Sequence[Fields]) -> bool:
    """Whether no row names its system."""
    return not any("system" in _placed(row) for row in rows)


def sample_rows(values: Values, system: str) -> Iterator[TableRow]:
    """Read segments with scores; segments without numbers are in order."""
    counts: Counter[tuple[str, str]] = Counter()
    numbered = _documents_are_segments([value for _, value in values])
    metrics = list(dict.fromkeys(key for _, row in values for key in _numbers(row)))
    for where, row in values:
        placed = {"system": system, **_placed(row)}
        if placed["system"] is None or isinstance(placed["system"], int | float):
            placed["system"] = str(placed["system"])
        chosen = row.get("filter") not in (None, "none")
        scores = {"MetricX": row["prediction"]} if "prediction" in row else {key: row.get(key) for key in metrics}
        if row.keys() >= _PREDICTED and not may_be_score(row["prediction"]):
            raise InputError(f"{where}: the prediction is no score, but {str(row['prediction'])[:30]!r}")
        for metric, score in scores.items():
            named = f"{metric},{row['filter']}" if chosen else metric
            better = {"better": "lower"} if "prediction" in row else {}
            key = str(placed["system"]), named
            segment = placed.get("document") if numbered else placed.get("segment", counts[key])
            counts[key] += 1
            about = {name: value for name, value in placed.items() if not (numbered and name == "document")}
            text = {"translation": row.get("hypothesis")}
            yield where, {**about, "metric": named, "segment": segment, "score": score, **better, **text}


def _placed(row: Fields) -> JsonObject:
    """Return the system, segment and so on that a row names."""
    if {*_SAMPLE} <= row.keys():
        return {"segment": row["doc_id"]}
    return {name: row[key] for key, name in zip(row, meanings(list(row)), strict=True) if name in PLACES}


def _numbers(row: Fields) -> JsonObject:
    """Return the scores of a row: numbers other than the segment and so on."""
    names = dict(zip(row, meanings(list(row)), strict=True))
    known = {key: value for key, value in row.items() if isinstance(value, int | float) and key not in _ASIDE}
    return {key: value for key, value in known.items() if names[key] not in PLACES}


def _documents_are_segments(rows: Sequence[Fields]) -> bool:
    """Whether documents number the segments of each system, all from 0 or 1, where nothing else does."""
    placed = [_placed(row) for row in rows]
    if any("segment" in one or not isinstance(one.get("document"), int) for one in placed):
        return False
    listed: dict[object, list[int]] = {}
    for one in placed:
        listed.setdefault(one.get("system"), []).append(one["document"])
    return all(sorted(some) in ([*range(len(some))], [*range(1, 1 + len(some))]) for some in listed.values())
