"""JSON and JSON lines of `softbleu score`: systems, each with its segments or references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from softbleu.corpora.judgements.tables import TableRow, Values, json_values, meanings
from softbleu.errors import InputError


def scored_rows(name: str, text: Sequence[str]) -> Iterator[TableRow]:
    """Read JSON or JSON lines of `softbleu score`: systems, each with its segments or references.

    InputError: the text is no JSON, or has no scores.
    """
    return own_rows(name, json_values(name, text))


def own_rows(name: str, values: Values) -> Iterator[TableRow]:
    """Read objects of a system and a score each, or an object of all systems."""
    for where, row in ((where, row) for where, value in values for row in _flat(name, value)):
        if isinstance(row, dict):
            row = dict(zip(meanings(list(row)), row.values(), strict=True))
        if not isinstance(row, dict) or not {"system", "score"} <= row.keys():
            raise InputError(f"{where}: no scores; JSON is read as softbleu's scores are written in json or jsonl")
        yield where, row


def _flat(name: str, whole: object) -> Iterator[object]:
    if not isinstance(whole, dict) or not isinstance(whole.get("systems"), list):
        yield whole
        return
    for entry in whole["systems"]:
        system = entry if isinstance(entry, dict) else {}
        labels = {key: value for key, value in {**whole, **system}.items() if key in ("metric", "signature")}
        labels |= {"system": system["name"]} if "name" in system else {}
        yield {**system, **labels}
        parts = system.get("segments") or system.get("references") or []
        if not isinstance(parts, list):
            raise InputError(f"{name}: segments and references of a system are lists, not {str(parts)[:30]!r}")
        yield from ({**part, **labels} if isinstance(part, dict) else {} for part in parts)
