"""Spans of outputs that judges, or other programs, mark as errors: ESA of WMT24 and Pearmut, MQM, xCOMET."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from softbleu.corpora.files import name_files
from softbleu.corpora.judgements.numbering import LinesBySystem
from softbleu.corpora.judgements.tables import (
    LinesOrRows,
    TableRow,
    Values,
    content_of,
    head_of,
    is_json,
    json_values,
    of_direction,
    place_rows,
    plain_names,
    table_rows,
)
from softbleu.errors import InputError
from softbleu.io.progress import note
from softbleu.io.reading import parse_json, whole_number, without_packing

_PUBLISHED = ("annotator", "system", "line", "kind", "from", "to", "score", "document", "", "spans", "begun", "ended")
"""Columns of WMT24's published file, which has no names for them."""
_EXPORTED = 11
"""Columns of an export of Appraise without spans, which numbers segments of a document or of its own tasks."""
_KINDS = ("TGT", "BAD", "CHK", "REF")
_CONTROLS = ("#bad", "#dup", "#incomplete", "-tutorial")
"""Skipped documents: names that contain one of these."""
_ASIDE = ("welcome_", "random_", "goodbye_")  # Pages of Pearmut that are no part of the data
_TAKEN_BACK = "__RESET__"
_MQM = ("system", "rater", "target", "category", "severity")
_MQM_SEGMENTS = ("seg_id", "globalsegid", "segment", "segment_id")  # Documents of a whole test set
_WEIGHTS = {"critical": 5.0, "major": 5.0, "minor": 1.0}
_FREE = ("neutral", "no-error", "no error", "none", "")  # Severities that cost nothing
_HEAVY, _LIGHT = "non-translation", ("fluency/punctuation", "linguistic conventions/punctuation")
"""Categories that cost 25 points where they are major, and .1 where they are minor (Freitag et al. 2021)."""
MINOR, MAJOR = "minor", "major"
_SEVERITIES = {MINOR: MINOR, MAJOR: MAJOR, "critical": MAJOR}
_PLACED = ("system", "segment", "start", "end")


class MarkedSpan(NamedTuple):
    """Characters of an output, from 0; the end is behind the last."""

    start: int
    end: int
    severity: str  # `minor` or `major`; empty if unknown


class MarkedOutput(NamedTuple):
    """An output as one judge, or one program, marks it."""

    location: str  # File and line
    spans: tuple[MarkedSpan, ...]


@dataclass(frozen=True, eq=False)
class SpanTable:
    """Spans that are marked in outputs, by judges or by a metric."""

    name: str
    outputs: Mapping[str, Mapping[int, Sequence[MarkedOutput]]]
    """Marked outputs of each system by segment number from 0, one for each annotation."""
    missing: int = 0  # Marks of omissions, which have no position

    def __len__(self) -> int:
        return sum(len(marked) for segments in self.outputs.values() for marked in segments.values())

    def check(self, texts: Mapping[str, Sequence[str]], first: int | None = None) -> None:
        """Check that all spans lie within the texts of the systems. Raises InputError otherwise.

        Of longer texts, `texts` may have so many `first` segments.
        """
        for system in self.outputs.keys() & texts.keys():
            lines = texts[system]
            for number, marked in self.outputs[system].items():
                if number >= len(lines) and first is None:
                    raise InputError(f"{marked[0].location}: segment {number + 1}, {system} has {len(lines):,}")
                for output in marked if number < len(lines) else ():
                    self.check_output(output, lines[number], system, number + 1)

    @staticmethod
    def check_output(output: MarkedOutput, text: str, system: str, segment: int) -> None:
        """Check that all spans lie within the text of a segment, numbered from 1. Raises InputError otherwise."""
        end = max((span.end for span in output.spans), default=0)
        # Tools let people mark the end of a line as well.
        if end > len(text) + 1:
            said = f"a span ends at character {end} of segment {segment} of {system}, which has {len(text)}"
            raise InputError(f"{output.location}: {said}")


def read_spans(
    name: str,
    *,
    label: str | None = None,
    direction: str | None = None,
    encoding: str = "utf-8",
    texts: LinesBySystem | None = None,
) -> SpanTable:
    """Read spans: Error Span Annotation (WMT24, Pearmut), MQM, xCOMET's JSON, and the output of `softbleu spans`.

    Ends follow the format: in WMT24 and Pearmut an end is the last character. A row of `softbleu spans` without
    start and end is an output without spans.

    Parameters
    ----------
    name
        The file, packed or not.
    label
        Name of the table (default: that of the file).
    direction
        Take rows of this direction (column `lp`) only.
    encoding
        Of the file.
    texts
        Lines of the systems, among which outputs are looked for that the file does not number.

    Raises
    ------
    InputError
        There are no spans, or a row is not valid.
    """
    text = content_of(name, encoding)
    rows = annotated_rows(name, text, texts)
    judged = _by_output(_span_rows(name, text)) if rows is None else of_direction(name, rows, direction)
    places, _ = place_rows(name, judged)
    names = plain_names({system for system, _ in places})
    outputs: dict[str, dict[int, list[MarkedOutput]]] = {}
    missing = 0
    for (system, segment), (where, row) in zip(places, judged, strict=True):
        read = [_span(where, marked) for marked in row["spans"]]
        missing += read.count(None)
        marks = outputs.setdefault(names[system], {}).setdefault(segment, [])
        marks.append(MarkedOutput(where, tuple(span for span in read if span is not None)))
    if not outputs:
        raise InputError(f"{name}: there are no spans")
    return SpanTable(label or Path(without_packing(name)).stem, outputs, missing)


def _by_output(rows: Iterable[TableRow]) -> list[TableRow]:
    """Collect the spans of each output, separately for each annotator."""
    outputs: dict[tuple[str, str, str], TableRow] = {}
    for where, row in rows:
        if not isinstance(row.get("system"), str):
            raise InputError(f"{where}: a system's name is needed, not {row.get('system')!r}")
        key = row["system"], str(row.get("segment")), str(row.get("annotator", ""))
        _, output = outputs.setdefault(key, (where, {**row, "spans": []}))
        if row.get("start") not in ("", None):
            output["spans"].append((row["start"], row["end"], row.get("severity")))
    return list(outputs.values())


def _span_rows(name: str, text: LinesOrRows) -> Iterator[TableRow]:
    """Yield rows of a table with the columns `_PLACED`, or of JSON: objects with these keys, or of xCOMET."""
    if not is_json(text):
        columns, rows = table_rows(name, text)
        if not {*_PLACED} <= {*columns}:
            raise InputError(
                f"{name}, line 1: no spans: they need columns {' '.join(_PLACED)}, or a format with spans"
            )
        yield from rows
        return
    values = json_values(name, text)
    whole = values[0][1]
    if len(values) == 1 and isinstance(whole, dict) and not {*_PLACED} <= whole.keys():
        if not isinstance(whole.get("rows"), list):
            yield from _xcomet_rows(name, whole)
            return
        values = [(name, row) for row in whole["rows"]]
    for where, row in values:
        if not isinstance(row, dict) or not {*_PLACED} <= row.keys():
            raise InputError(f"{where}: no spans: objects with {', '.join(_PLACED)} are needed")
        yield where, row


def _xcomet_rows(name: str, files: Mapping[str, Any]) -> Iterator[TableRow]:
    systems = {path: system for system, path in name_files(list(files)).items()}
    for path, segments in files.items():
        for number, segment in enumerate(segments if isinstance(segments, list) else [None], start=1):
            where = f"{name}, {path}, segment {number}"
            errors = segment.get("errors") if isinstance(segment, dict) else None
            if not isinstance(errors, list) or not all(isinstance(error, dict) for error in errors):
                raise InputError(f"{where}: there are no 'errors', as xCOMET writes them")
            row = {"system": systems[path], "segment": number}
            yield where, {**row, "start": None, "end": None}
            for error in errors:
                yield where, {**row, **{key: error.get(key) for key in ("start", "end", "severity")}}


def _span(where: str, marked: Any) -> MarkedSpan | None:
    """Read a span; None for omissions. Raises InputError for other values."""
    inclusive = isinstance(marked, dict)
    cells = [marked.get(key) for key in ("start_i", "end_i", "severity")] if inclusive else list(marked)
    if "missing" in cells[:2]:
        return None
    start, end = (whole_number(where, "the character where a span begins or ends", cell) for cell in cells[:2])
    if not 0 <= start <= end:
        raise InputError(f"{where}: a span cannot be from character {start} to {end}")
    return MarkedSpan(start, end + inclusive, _SEVERITIES.get(str(cells[2]).lower(), ""))


def annotated_rows(name: str, text: LinesOrRows, texts: LinesBySystem | None = None) -> Iterator[TableRow] | None:
    """Read judgements with spans as rows of `system`, `segment` (from 1), `annotator`, `score`, `spans`, `document`.

    Formats are WMT24's CSV and JSON lines, WMT25's JSON lines, exports of Pearmut, and MQM's table of errors, whose
    scores are the negated sums of the published weights. Control items are left out. None: the file is none of these.

    Parameters
    ----------
    name
        Name of the file, for errors.
    text
        Content of the file.
    texts
        Lines of the systems, among which outputs of Pearmut's items are looked for.
    """
    if is_json(text):
        return _json_rows(name, text, texts)
    cells = head_of(name, text)
    if {*_MQM} <= {cell.lower() for cell in cells}:
        return _mqm_rows(name, text)
    if len(cells) == _EXPORTED and cells[3] in _KINDS:
        raise InputError(
            f"{name}, line 1: an export of Appraise without spans, which does not say of which line a segment is: "
            "write a table with the columns system, segment and score"
        )
    return _published_rows(name, text) if len(cells) == len(_PUBLISHED) and cells[3] in _KINDS else None


def _published_rows(name: str, text: LinesOrRows) -> Iterator[TableRow]:
    """WMT24, as published, with lines from 0; see `_PUBLISHED`."""
    _, rows = table_rows(name, text, lambda cells: (_PUBLISHED, False))
    for where, row in rows:
        if row["kind"] == "TGT" and not any(mark in row["document"] for mark in _CONTROLS):
            placed = {"segment": _after(where, row["line"]), "lp": f"{row['from']}-{row['to']}"}
            kept = {name: row[name] for name in ("system", "annotator", "score", "document")}
            yield where, {**kept, **placed, "spans": parse_json(row["spans"], where)}


def _after(where: str, line: object) -> int:
    """Number a line from 1 that is numbered from 0."""
    return whole_number(where, "the number of a line", line) + 1


def _json_rows(name: str, text: LinesOrRows, texts: LinesBySystem | None) -> Iterator[TableRow] | None:
    values = json_values(name, text)
    whole = values[0][1] if len(values) == 1 else None
    if isinstance(whole, dict) and whole and all(map(_is_log, whole.values())):
        several = len(whole) > 1
        values = [
            (f"{name}, {campaign}, entry {number}", {**entry, "lp": campaign} if several else entry)
            for campaign, log in whole.items()
            for number, entry in enumerate(log, start=1)
        ]
    keys = set(values[0][1]) if values and isinstance(values[0][1], dict) else set()
    if {"doc_id", "scores", "tgt_text"} <= keys:
        return _humeval_rows(values)
    if {"esa_score", "line_id", "system"} <= keys:
        return (_compiled_row(where, value) for where, value in values)
    return _pearmut_rows(name, values, texts) if "annotation" in keys and keys & {"item", "user_id"} else None


def _is_log(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) and "annotation" in row for row in value)


def _compiled_row(where: str, value: Any) -> TableRow:
    """WMT24, compiled: an object per judgement."""
    if not isinstance(value, dict) or not {"esa_score", "line_id", "system"} <= value.keys():
        raise InputError(f"{where}: an object with esa_score, line_id and system is needed")
    judged = {"system": value["system"], "segment": _after(where, value["line_id"]), "score": value["esa_score"]}
    placed = {"annotator": str(value.get("annotator", "")), "document": str(value.get("doc_id", ""))}
    more = {"lp": str(value["langs"])} if "langs" in value else {}
    return where, {**judged, **placed, **more, "spans": value.get("esa_spans") or []}


def _humeval_rows(values: Values) -> Iterator[TableRow]:
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


def _rounds(where: str, said: Any) -> Iterator[dict[str, Any]]:
    """Split annotations of an output into rounds: keys such as `human1`, `annotator1` and `errors1`, then 2."""
    if not isinstance(said, dict):
        raise InputError(f"{where}: annotations of a system are an object, not {said!r}")
    for number in sorted(key.removeprefix("human") for key in said if key.startswith("human")):
        yield {key: said.get(f"{key}{number}") for key in ("human", "annotator", "errors")}


def _pearmut_rows(name: str, values: Values, texts: LinesBySystem | None) -> Iterator[TableRow]:
    """Read a log of Pearmut: pages of users with items, and annotations of every system.

    The last entry of a page counts, unless it was taken back. Tutorials, attention checks and forms are left out.
    Without scores, MQM's are used. A segment is the line that has the outputs of an item, or else
    its number.
    """
    pages: dict[tuple[str, str, str], tuple[str, Any]] = {}
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
            costs = [_cost(str(span[3]).lower(), str(span[2]).lower()) for span in spans]
            score = score_in(said) if score_in else 0.0 - sum(costs)
            if score is not None:
                document = item_id.rpartition("#")[0] or item_id
                marked = [span[:3] for span in spans]
                yield where, {"system": system, **place, "score": score, "document": document, "spans": marked}


def _note_lost(name: str, lost: Sequence[Mapping[str, Any]]) -> None:
    """Print a note about judged items whose systems have no outputs."""
    if lost:
        systems = ", ".join(sorted({system for by_system in lost for system in by_system}))
        note(f"{name}: no outputs are given of {systems}: left out (items: {len(lost):,})")


def _judged_items(where: str, value: Any) -> Iterator[tuple[str, Any, Any, dict[str, dict[str, Any]]]]:
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


def _scores_of(judged: Sequence[tuple[str, dict[str, Any]]]) -> Callable[[dict[str, Any]], Any] | None:
    """Return the scores, which may be in the only slider; None if nobody scored."""
    if any(said.get("score") is not None for _, said in judged):
        return lambda said: said.get("score")
    places = {name: where for where, said in judged for name in _sliders(where, said)}
    if len(places) > 1:
        said, where = ", ".join(map(repr, places)), next(iter(places.values()))
        raise InputError(f"{where}: sliders {said} but no score: write that of one slider as the score")
    return (lambda said: (said.get("sliders") or {}).get(*places)) if places else None


def _sliders(where: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
    sliders = said.get("sliders") or {}
    if not isinstance(sliders, dict):
        raise InputError(f"{where}: sliders are an object of numbers by name, not {sliders!r}")
    return sliders


def _outputs(item: Mapping[str, Any]) -> dict[str, str]:
    """Texts of an item, by system."""
    return {system: str(text) for system, text in (item.get("tgt") or {}).items()}


def _item_id(item: Mapping[str, Any]) -> str:
    return str(item.get("item_id", item.get("src")))


def _numbering(
    name: str, items: Sequence[Mapping[str, Any]], texts: LinesBySystem | None
) -> Callable[[str, Mapping[str, Any]], int | None]:
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

    def line_of(where: str, item: Mapping[str, Any]) -> int | None:
        said = {system: " ".join(text.split()) for system, text in _outputs(item).items()}
        outputs = {(system, text) for system, text in said.items() if system in systems}
        if not outputs:
            return None
        shared = set.intersection(*(set(places.get(output, ())) for output in outputs))
        if not shared:
            raise InputError(f"{where}: no line has these outputs of {', '.join(sorted(one for one, _ in outputs))}")
        return min(shared)

    return line_of


def _in_text(where: str, spans: Sequence[Any], text: str) -> list[tuple[Any, Any, Any, Any]]:
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


def _mqm_rows(name: str, text: LinesOrRows) -> Iterator[TableRow]:
    """MQM, as published: an error per row, its span between ``<v>`` and ``</v>``; a row per output and rater."""
    columns, rows = table_rows(name, text)
    number = next((column for column in _MQM_SEGMENTS if column in columns), None)
    if number is None:
        needed = "seg_id or globalSegId, the number of a segment in the whole test set"
        raise InputError(f"{name}, line 1: MQM needs a column {needed} (docSegId counts within documents)")
    judged: dict[tuple[str, str, str], tuple[str, str, list[float], list[Any]]] = {}
    unknown: Counter[str] = Counter()
    for where, row in rows:
        key = row["system"], row[number], row["rater"]
        _, _, costs, spans = judged.setdefault(key, (where, row.get("doc", ""), [], []))
        severity, category = row["severity"].lower(), row["category"].lower()
        costs.append(_cost(category, severity))
        if severity in _WEIGHTS:
            spans += [[*places, severity] for places in marked_spans(row["target"])]
        elif severity not in _FREE:
            unknown[row["severity"]] += 1
    for severity, count in unknown.items():
        note(f"{name}: severity {severity!r} is none of {', '.join(_WEIGHTS)}, and costs nothing (errors: {count:,})")
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
