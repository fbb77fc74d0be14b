"""Pearmut's logs: pages of users with items, and annotations of every system."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from softbleu.corpora.judgements.converters import mqm_cost
from softbleu.corpora.judgements.numbering import LinesBySystem
from softbleu.corpora.judgements.tables import TableRow, Values
from softbleu.errors import InputError
from softbleu.io.progress import note
from softbleu.types import Fields, Json, JsonObject

_ASIDE = ("welcome_", "random_", "goodbye_")  # Pages of Pearmut that are no part of the data
_TAKEN_BACK = "__RESET__"


def entries_of(name: str, values: Values) -> Values:
    """Return the entries of all campaigns, if JSON has a list of them for each; else the values as they are."""
    whole = values[0][1] if len(values) == 1 else None
    if not isinstance(whole, dict) or not whole or not all(map(_is_log, whole.values())):
        return values
    several = len(whole) > 1
    return [
        (f"{name}, {campaign}, entry {number}", {**entry, "lp": campaign} if several else entry)
        for campaign, log in whole.items()
        for number, entry in enumerate(log, start=1)
    ]


def _is_log(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) and "annotation" in row for row in value)


def pearmut_rows(name: str, values: Values, texts: LinesBySystem | None) -> Iterator[TableRow]:
    """Read a log of Pearmut: pages of users with items, and annotations of every system.

    The last entry of a page counts, unless it was taken back. Tutorials, attention checks and forms are left out.
    Without scores, MQM's are used. A segment is the line that has the outputs of an item, or else
    its number.
    """
    pages: dict[tuple[str, str, str], tuple[str, Json]] = {}
    for where, value in values:
        if not isinstance(value, dict):
            raise InputError(f"{where}: an object with items and annotations is needed")
        page = str(value.get("item_i", where))
        key = str(value.get("lp", "")), str(value.get("user_id", "")), page
        if value.get("annotation") == _TAKEN_BACK:
            pages.pop(key, None)
        elif not page.startswith(_ASIDE):
            pages[key] = where, value
    judged = [part for where, value in pages.values() for part in _judged_items(where, value)]
    number = _numbering(name, [item for _, _, item, _ in judged], texts)
    score_in = _scores_of([(where, said) for where, *_, by_system in judged for said in by_system.values()])
    segments = [number(where, item) for where, _, item, _ in judged]
    if judged and not any(segments):
        systems = sorted({system for *_, by_system in judged for system in by_system})
        raise InputError(f"{name}: judged are {', '.join(systems)}, of which no outputs are given")
    placed = zip(segments, judged, strict=True)
    _note_lost(name, [by_system for segment, (*_, by_system) in placed if segment is None])
    if any("\n" in text for _, _, item, _ in judged for text in _outputs(item).values()):
        note(f"{name}: outputs have line breaks, which spans count, as in Pearmut since 1.1.5 (not before)")
    for segment, (where, value, item, by_system) in zip(segments, judged, strict=True):
        place = {"annotator": str(value.get("user_id", "")), "segment": segment}
        place |= {"lp": value["lp"]} if "lp" in value else {}
        item_id = _item_id(item)
        for system, said in by_system.items() if place["segment"] is not None else ():
            spans = _in_text(where, said.get("error_spans") or [], _outputs(item).get(system, ""))
            costs = [mqm_cost(str(span[3]).lower(), str(span[2]).lower()) for span in spans]
            score = score_in(said) if score_in else 0.0 - sum(costs)
            if score is not None:
                document = item_id.rpartition("#")[0] or item_id
                marked = [span[:3] for span in spans]
                yield where, {"system": system, **place, "score": score, "document": document, "spans": marked}


def _note_lost(name: str, lost: Sequence[Mapping[str, object]]) -> None:
    """Print a note about judged items whose systems have no outputs."""
    if lost:
        systems = ", ".join(sorted({system for by_system in lost for system in by_system}))
        note(f"{name}: no outputs are given of {systems}: left out (items: {len(lost):,})")


def _judged_items(where: str, value: Json) -> Iterator[tuple[str, Json, Json, dict[str, JsonObject]]]:
    """Yield the judged items of a page, with annotations by system."""
    items, said = value.get("item"), value.get("annotation")
    if not isinstance(items, list) or not isinstance(said, list) or len(items) != len(said):
        raise InputError(f"{where}: as many items as annotations are needed, both lists")
    for item, by_system in zip(items, said, strict=True):
        if not isinstance(item, dict) or not ("form" in item or isinstance(by_system, dict | None)):
            raise InputError(f"{where}: items and annotations are objects, by system")
        if "form" not in item and not isinstance(item.get("tgt"), dict | None):
            raise InputError(f"{where}: the outputs of an item (tgt) are an object, by system, not {item['tgt']!r}")
        if isinstance(by_system, dict) and not {"form", "validation"} & item.keys():
            yield where, value, item, {name: one for name, one in by_system.items() if isinstance(one, dict)}


def _scores_of(judged: Sequence[tuple[str, JsonObject]]) -> Callable[[JsonObject], Json] | None:
    """Return the scores, which may be in the only slider; None if nobody scored."""
    if any(said.get("score") is not None for _, said in judged):
        return lambda said: said.get("score")
    places = {name: where for where, said in judged for name in _sliders(where, said)}
    if len(places) > 1:
        said, where = ", ".join(map(repr, places)), next(iter(places.values()))
        raise InputError(f"{where}: sliders {said} but no score: write that of one slider as the score")
    return (lambda said: (said.get("sliders") or {}).get(*places)) if places else None


def _sliders(where: str, said: Mapping[str, object]) -> Mapping[str, object]:
    sliders = said.get("sliders") or {}
    if not isinstance(sliders, dict):
        raise InputError(f"{where}: sliders are an object of numbers by name, not {sliders!r}")
    return sliders


def _outputs(item: Fields) -> dict[str, str]:
    """Texts of an item, by system."""
    return {system: str(text) for system, text in (item.get("tgt") or {}).items()}


def _item_id(item: Fields) -> str:
    return str(item.get("item_id", item.get("src")))


def _numbering(
    name: str, items: Sequence[Fields], texts: LinesBySystem | None
) -> Callable[[str, Mapping[str, object]], int | None]:
    """Find numbers of the segments of items, from 1: lines with their outputs, or else their ids, or their order."""
    ids = list(dict.fromkeys(map(_item_id, items)))
    ends = [match and int(match[0]) for match in (re.search(r"[0-9]{1,9}$", one) for one in ids)]
    if texts is None or not all(isinstance(item.get("tgt"), dict) for item in items):
        if None in ends or len(set(ends)) < len(ids):
            note(f"{name}: segments are numbered as their items first appear, {ids[0]!r} is the first")
            ends = list(range(1, len(ids) + 1))
        elif 0 in ends:
            ends = [end + 1 for end in ends if end is not None]
        numbers = dict(zip(ids, ends, strict=True))
        return lambda where, item: numbers[_item_id(item)]
    places: dict[tuple[str, str], list[int]] = {}
    for system, lines in texts().items():
        for number, line in enumerate(lines, start=1):
            places.setdefault((system, " ".join(line.split())), []).append(number)
    systems = {system for system, _ in places}

    def line_of(where: str, item: Mapping[str, object]) -> int | None:
        said = {system: " ".join(text.split()) for system, text in _outputs(item).items()}
        outputs = {(system, text) for system, text in said.items() if system in systems}
        if not outputs:
            return None
        shared = set.intersection(*(set(places.get(output, ())) for output in outputs))
        if not shared:
            raise InputError(f"{where}: no line has these outputs of {', '.join(sorted(one for one, _ in outputs))}")
        return min(shared)

    return line_of


def _in_text(where: str, spans: Sequence[Json], text: str) -> list[tuple[Json, Json, Json, Json]]:
    """Convert the spans of a page to characters of the text: start, end, severity, category.

    A page counts units of UTF-16, and positions after the text for omissions.
    """
    if not isinstance(spans, list):
        raise InputError(f"{where}: error_spans is a list, not {spans!r}")
    units = [place for place, char in enumerate(text) for _ in range(1 + (char > "\uffff"))]
    placed = []
    for span in spans:
        if not isinstance(span, dict):
            raise InputError(f"{where}: spans are objects with start_i, end_i and severity")
        start, end = span.get("start_i"), span.get("end_i")
        if units and isinstance(start, int) and isinstance(end, int) and 0 <= start <= end:
            start = end = "missing"
            if span["start_i"] < len(units):
                start, end = units[span["start_i"]], units[min(span["end_i"], len(units) - 1)]
        end = end + 1 if isinstance(end, int) else end
        placed.append((start, end, span.get("severity"), span.get("category") or ""))
    return placed
