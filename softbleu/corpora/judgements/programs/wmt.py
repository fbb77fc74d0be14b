"""WMT: judgements of WMT25 as published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from softbleu.corpora.judgements.tables import TableRow, Values
from softbleu.errors import InputError
from softbleu.types import JsonObject


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
