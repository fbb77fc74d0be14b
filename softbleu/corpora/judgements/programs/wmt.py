"""WMT: judgements of WMT24 and WMT25 as published, and JSON lines of scores of WMT25, a document each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from softbleu.corpora.judgements.tables import LinesOrRows, TableRow, Values, meanings, table_rows
from softbleu.errors import InputError
from softbleu.io.reading import parse_json, whole_number
from softbleu.types import JsonObject


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


_JUDGED = ["annotator", "system", "line", "kind", "from", "to", "score", "document", "", "spans"]
WMT24_COLUMNS = [*_JUDGED, "begun", "ended"]
"""Columns of WMT24's published file, which has no names for them."""


APPRAISE_COLUMNS = 11
"""Columns of an export of Appraise without spans, which numbers segments of a document or of its own tasks."""


WMT24_KINDS = ("TGT", "BAD", "CHK", "REF")


_CONTROLS = ("#bad", "#dup", "#incomplete", "-tutorial")
"""Skipped documents: names that contain one of these."""


def published_rows(name: str, text: LinesOrRows) -> Iterator[TableRow]:
    """WMT24, as published, with lines from 0; see `WMT24_COLUMNS`."""
    _, rows = table_rows(name, text, lambda cells: (WMT24_COLUMNS, False))
    for where, row in rows:
        if row["kind"] == "TGT" and not any(mark in row["document"] for mark in _CONTROLS):
            placed = {"segment": _after(where, row["line"]), "lp": f"{row['from']}-{row['to']}"}
            kept = {name: row[name] for name in ("system", "annotator", "score", "document")}
            yield where, {**kept, **placed, "spans": parse_json(row["spans"], where)}


def _after(where: str, line: object) -> int:
    """Number a line from 1 that is numbered from 0."""
    return whole_number(where, "the number of a line", line) + 1


def compiled_row(where: str, value: object) -> TableRow:
    """WMT24, compiled: an object per judgement."""
    if not isinstance(value, dict) or not {"esa_score", "line_id", "system"} <= value.keys():
        raise InputError(f"{where}: an object with esa_score, line_id and system is needed")
    judged = {"system": value["system"], "segment": _after(where, value["line_id"]), "score": value["esa_score"]}
    placed = {"annotator": str(value.get("annotator", "")), "document": str(value.get("doc_id", ""))}
    more = {"lp": str(value["langs"])} if "langs" in value else {}
    return where, {**judged, **placed, **more, "spans": value.get("esa_spans") or []}


def humeval_rows(values: Values) -> Iterator[TableRow]:
    """Read WMT25 as published: a segment per line, with one or two annotations of each system.

    A direction's segments are numbered in order, including segments that nobody judged.
    """
    counts: Counter[str] = Counter()
    for where, value in values:
        if not isinstance(value, dict) or not isinstance(value.get("scores"), dict):
            raise InputError(f"{where}: an object with doc_id and scores by system is needed")
        direction, _, document = str(value.get("doc_id", "")).partition("_#_")
        counts[direction] += 1
        place = {"segment": counts[direction], "lp": direction, "document": document.rpartition("_#_")[0]}
        for system, said in value["scores"].items():
            for judged in said if isinstance(said, list) else _rounds(where, said):
                if not isinstance(judged, dict) or "human" not in judged:
                    raise InputError(f"{where}: no score ('human') of {system}")
                annotator = {"annotator": str(judged.get("annotator", ""))}
                spans = judged.get("errors") or []
                yield where, {"system": system, **place, **annotator, "score": judged["human"], "spans": spans}


def _rounds(where: str, said: object) -> Iterator[JsonObject]:
    """Split annotations of an output into rounds: keys such as `human1`, `annotator1` and `errors1`, then 2."""
    if not isinstance(said, dict):
        raise InputError(f"{where}: annotations of a system are an object, not {said!r}")
    for number in sorted(key.removeprefix("human") for key in said if key.startswith("human")):
        yield {key: said.get(f"{key}{number}") for key in ("human", "annotator", "errors")}
