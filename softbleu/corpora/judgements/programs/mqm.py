"""MQM's tables of errors, with published weights."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from softbleu.corpora.judgements.tables import LinesOrRows, TableRow, table_rows
from softbleu.errors import InputError
from softbleu.io.progress import note
from softbleu.types import Fields

MQM_COLUMNS = ("system", "rater", "target", "category", "severity")


_MQM_SEGMENTS = ("seg_id", "globalsegid", "segment", "segment_id")  # Documents of a whole test set
_WEIGHTS = {"critical": 5.0, "major": 5.0, "minor": 1.0}
_FREE = ("neutral", "no-error", "no error", "none", "")  # Severities that cost nothing
_HEAVY, _LIGHT = "non-translation", ("fluency/punctuation", "linguistic conventions/punctuation")
"""Categories that cost 25 points where they are major, and .1 where they are minor (Freitag et al. 2021)."""


def mqm_rows(name: str, text: LinesOrRows) -> Iterator[TableRow]:
    """MQM, as published: an error per row, its span between ``<v>`` and ``</v>``; a row per output and rater."""
    columns, rows = table_rows(name, text)
    number = next((column for column in _MQM_SEGMENTS if column in columns), None)
    if number is None:
        needed = "seg_id or globalSegId, the number of a segment in the whole test set"
        raise InputError(f"{name}, line 1: MQM needs a column {needed} (docSegId counts within documents)")
    judged: dict[tuple[str, str, str], tuple[str, str, list[float], list[object]]] = {}
    unknown: Counter[str] = Counter()
    for where, row in rows:
        key = row["system"], row[number], row["rater"]
        _, _, costs, spans = judged.setdefault(key, (where, row.get("doc", ""), [], []))
        severity, category = row["severity"].lower(), row["category"].lower()
        costs.append(mqm_cost(category, severity))
        if severity in _WEIGHTS:
            spans += [[*places, severity] for places in marked_spans(row["target"])]
        elif severity not in _FREE:
            unknown[row["severity"]] += 1
    for severity, count in unknown.items():
        note(f"{name}: severity {severity!r} is none of {', '.join(_WEIGHTS)}, and costs nothing (errors: {count:,})")
    for (system, segment, rater), (where, document, costs, spans) in judged.items():
        placed: Fields = {"annotator": rater, "document": document, "spans": spans}
        yield where, {"system": system, "segment": segment, "score": 0.0 - sum(costs), **placed}


def mqm_cost(category: str, severity: str) -> float:
    """Return the published weight of an error (Freitag et al. 2021)."""
    if severity == "major" and category.startswith(_HEAVY):
        return 25.0
    if severity == "minor" and category.startswith(_LIGHT):
        return 0.1
    return _WEIGHTS.get(severity, 0.0)


def marked_spans(text: str) -> list[tuple[int, int]]:
    """Find the span between ``<v>`` and ``</v>``: start and end, in characters of the unmarked text.

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
