"""WMT25: JSON lines of a document each, with lists of its segments' scores by metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from softbleu.corpora.judgements.tables import TableRow, Values, meanings
from softbleu.errors import InputError


def document_rows(values: Values, system: str) -> Iterator[TableRow]:
    """Read `metric_scores` of each document: lists of its segments' scores by metric."""
    counts: Counter[tuple[str, str]] = Counter()
    for where, value in values:
        scores = value.get("metric_scores") if isinstance(value, dict) else None
        if not isinstance(scores, dict) or not all(isinstance(listed, list) for listed in scores.values()):
            raise InputError(f"{where}: no 'metric_scores' with a list of scores by metric")
        said = dict(zip(meanings(list(value)), value.values(), strict=True))
        direction = str(said.get("lp", ""))
        named = {"system": str(said.get("system", system.removeprefix(f"{direction}.")))}
        named |= {"document": said.get("document", "")} | ({"lp": direction} if direction else {})
        for metric, listed in scores.items():
            for score in listed:
                key = named["system"], metric
                yield where, {**named, "metric": metric, "segment": counts[key], "score": score}
                counts[key] += 1
