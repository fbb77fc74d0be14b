"""Judgements with marked spans as rows: Error Span Annotation of WMT24 and Pearmut, and MQM."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from softbleu.corpora.judgements.rows import TableRow, json_values, table_rows
from softbleu.errors import InputError
from softbleu.io.data_files import parse_json, parse_whole

_PUBLISHED = 12  # Cells of a row of WMT24's published file
_CONTROLS = (
    "#bad",
    "#dup",
    "#incomplete",
    "-tutorial",
)  # Documents that have one of these in their name are left out
_MQM = ("system", "seg_id", "rater", "target", "category", "severity")
_WEIGHTS = {"major": 5.0, "minor": 1.0}
_HEAVY, _LIGHT = "non-translation", "fluency/punctuation"
"""Categories that cost 25 points where they are major, and .1 where they are minor (Freitag et al. 2021)."""


def annotated_rows(name: str, text: Sequence[str]) -> Iterator[TableRow] | None:
    """Read judgements with spans as rows of `system`, `segment` (from 1), `annotator`, `score`, `spans`, `document`.

    Read are WMT24's CSV and JSON lines, what Pearmut exports, and MQM's table of errors, whose scores are the negated
    sums of the published weights. Control items are left out. None: the file is none of these.

    Parameters
    ----------
    name
        Name of the file, for errors.
    text
        Its lines, those of CSV with tabs.
    """
    first = next((line for line in text if line.strip()), "")
    if first.lstrip()[:1] in ("{", "["):
        return _json_rows(name, text)
    if {*_MQM} <= {cell.lower() for cell in first.split("\t")}:
        return _mqm_rows(name, text)
    cells = first.split("\t")
    return _published_rows(name, text) if len(cells) == _PUBLISHED and cells[3] in ("TGT", "BAD") else None


def _published_rows(name: str, text: Sequence[str]) -> Iterator[TableRow]:
    """WMT24, as published: annotator, system, line from 0, kind, languages, score, document, …, spans, times."""
    lines = (
        (f"{name}, line {number}", line.split("\t")) for number, line in enumerate(text, start=1) if line.strip()
    )
    for where, cells in lines:
        if len(cells) != _PUBLISHED:
            raise InputError(f"{where}: {len(cells)} cells, the first line has {_PUBLISHED}")
        annotator, system, line, kind, source, target, score, document, _, spans, *_ = cells
        if kind != "BAD" and not any(mark in document for mark in _CONTROLS):
            judged = {"system": system, "segment": _after(where, line), "annotator": annotator, "score": score}
            placed = {"document": document, "lp": f"{source}-{target}", "spans": parse_json(spans, where)}
            yield where, {**judged, **placed}


def _after(where: str, line: object) -> int:
    """Number a line from 1 that is numbered from 0."""
    try:
        return parse_whole(str(line)) + 1
    except ValueError:
        raise InputError(f"{where}: the number of a line is needed, not {line!r}") from None


def _json_rows(name: str, text: Sequence[str]) -> Iterator[TableRow] | None:
    values = json_values(name, text)
    if len(values) == 1 and isinstance(values[0][1], list):
        values = [(f"{name}, entry {number}", value) for number, value in enumerate(values[0][1], start=1)]
    keys = set(values[0][1]) if values and isinstance(values[0][1], dict) else set()
    if {"esa_score", "line_id", "system"} <= keys:
        return (_compiled_row(where, value) for where, value in values)
    if {"annotation", "item"} <= keys:
        return _pearmut_rows(values)
    return None


def _compiled_row(where: str, value: Any) -> TableRow:
    """WMT24, compiled: an object per judgement."""
    if not isinstance(value, dict) or not {"esa_score", "line_id", "system"} <= value.keys():
        raise InputError(f"{where}: an object with esa_score, line_id and system is needed")
    judged = {"system": value["system"], "segment": _after(where, value["line_id"]), "score": value["esa_score"]}
    placed = {"annotator": str(value.get("annotator", "")), "document": str(value.get("doc_id", ""))}
    more = {"lp": str(value["langs"])} if "langs" in value else {}
    return where, {**judged, **placed, **more, "spans": value.get("esa_spans") or []}


def _pearmut_rows(values: Sequence[tuple[str, Any]]) -> Iterator[TableRow]:
    """Pearmut: pages of a user, with items and, of each item, what was said of every system.

    Segments are numbered as their items first appear.
    """
    numbers: dict[str, int] = {}
    for where, value in values:
        items, said = (value.get(key) if isinstance(value, dict) else None for key in ("item", "annotation"))
        if not isinstance(items, list) or not isinstance(said, list) or len(items) != len(said):
            raise InputError(f"{where}: as many items as annotations are needed, both lists")
        for item, by_system in zip(items, said, strict=True):
            if not isinstance(item, dict) or not isinstance(by_system, dict):
                raise InputError(f"{where}: items and annotations are objects, by system")
            key = str(item.get("item_id", item.get("src")))
            segment = numbers.setdefault(key, len(numbers) + 1)
            for system, judged in by_system.items():
                if isinstance(judged, dict) and judged.get("score") is not None and "validation" not in item:
                    placed = {"annotator": str(value.get("user_id", "")), "document": key.rpartition("#")[0] or key}
                    spans = judged.get("error_spans") or []
                    yield (
                        where,
                        {"system": system, "segment": segment, "score": judged["score"], **placed, "spans": spans},
                    )


def _mqm_rows(name: str, text: Sequence[str]) -> Iterator[TableRow]:
    """MQM, as published: an error per row, its span between ``<v>`` and ``</v>``; a row per output and rater."""
    _, rows = table_rows(name, text, lambda cells: ([cell.lower() for cell in cells], True))
    judged: dict[tuple[str, str, str], tuple[str, str, list[float], list[Any]]] = {}
    for where, row in rows:
        key = row["system"], row["seg_id"], row["rater"]
        _, _, costs, spans = judged.setdefault(key, (where, row.get("doc", ""), [], []))
        severity, category = row["severity"].lower(), row["category"].lower()
        costs.append(_cost(category, severity))
        if severity in _WEIGHTS:
            spans += [[*places, severity] for places in marked_spans(row["target"])]
    for (system, segment, rater), (where, document, costs, spans) in judged.items():
        placed: Mapping[str, Any] = {"annotator": rater, "document": document, "spans": spans}
        yield where, {"system": system, "segment": segment, "score": 0.0 - sum(costs), **placed}


def _cost(category: str, severity: str) -> float:
    if severity == "major" and category.startswith(_HEAVY):
        return 25.0
    if severity == "minor" and category.startswith(_LIGHT):
        return 0.1
    return _WEIGHTS.get(severity, 0.0)


def marked_spans(text: str) -> list[tuple[int, int]]:
    """Find what stands between ``<v>`` and ``</v>``: start and end, in characters of the text without marks.

    >>> marked_spans("I want <v>to</v> go")
    [(7, 9)]
    """
    # Published files have marks without their other half, which mark nothing.
    starts = [match.start() for match in re.finditer("<v>(?=(?:(?!<v>).)*?</v>)", text, re.DOTALL)]
    spans = []
    for start in starts:
        before = re.sub("</?v>", "", text[:start])
        marked = text[start + len("<v>") : text.index("</v>", start)]
        spans.append((len(before), len(before) + len(marked)))
    return spans
