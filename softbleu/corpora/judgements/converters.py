"""Readers beyond `formats.toml`: JSON of COMET, MetricX, sacrebleu; WMT25's rounds, MQM's weights."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from softbleu.corpora.files import name_files
from softbleu.corpora.judgements.tables import (
    PLACES,
    LinesOrRows,
    TableRow,
    Values,
    may_be_score,
    meanings,
    table_rows,
)
from softbleu.errors import InputError, Parameter, counted
from softbleu.io.progress import note
from softbleu.types import Fields, JsonObject


def is_by_file(values: Sequence[object]) -> bool:
    """Whether the only value is an object of lists of segments by file, each an object."""
    lists = _lists_in(values)
    own = isinstance(values[0], dict) and "systems" in values[0]
    return bool(lists) and not own and all(isinstance(row, dict) for row in chain.from_iterable(lists))


def _lists_in(values: Sequence[object]) -> list[Sequence[object]]:
    """Return the lists of an object that has nothing else, none of them empty; else none."""
    lists = list(values[0].values()) if len(values) == 1 and isinstance(values[0], dict) else []
    return lists if all(isinstance(rows, list) and rows for rows in lists) else []


def file_rows(name: str, files: Fields) -> Iterator[TableRow]:
    """Read lists of segments by file, whose numbers are scores by metric."""
    for path, segments in files.items():
        numbers = (key for segment in segments for key, value in segment.items() if isinstance(value, int | float))
        metrics = list(dict.fromkeys(numbers))
        if not metrics:
            raise InputError(f"{name}: segments of {path!r} have no score that is a number")
        for number, segment in enumerate(segments):
            where = f"{name}, {path}, segment {number + 1}"
            for metric in metrics:
                score = segment.get(metric)
                placed = {"file": path, "metric": metric, "segment": number}
                yield where, {**placed, "score": score, "translation": segment.get("mt")}


def xcomet_rows(name: str, files: Mapping[str, object]) -> Iterator[TableRow]:
    """Read xCOMET's `errors` of the segments of each file."""
    systems = {path: system for system, path in name_files(list(files)).items()}
    for path, segments in files.items():
        for number, segment in enumerate(segments if isinstance(segments, list) else [None], start=1):
            where = f"{name}, {path}, segment {number}"
            errors = segment.get("errors") if isinstance(segment, dict) else None
            if not isinstance(errors, list) or not all(isinstance(error, dict) for error in errors):
                raise InputError(f"{where}: no list of 'errors' as in files of xCOMET")
            row = {"system": systems[path], "segment": number}
            yield where, {**row, "start": None, "end": None}
            for error in errors:
                yield where, {**row, **{key: error.get(key) for key in ("start", "end", "severity")}}


_METRIC = re.compile(
    r"(?i)(sacre)?bleu|chrf(\+\+)?|ter|meteor|[gt]leu|comet|metricx|bert_?score|bleurt|(pt-?)?(errant|m2)|green|impara"
    r"|some|scribendi|cleme2?|rouge\w*|f1|precision|recall|accuracy|scores?"
)
"""Names of metrics, which no system has."""


def is_by_system(values: Sequence[object]) -> bool:
    """Whether the only value is an object with a list of the scores of segments per system.

    >>> is_by_system([{"A": [0.1, None], "B": [0.2, 0.3]}]), is_by_system([{"A": 0.5}]), is_by_system([{"A": ["x"]}])
    (True, False, False)
    """
    lists = _lists_in(values)
    return bool(lists) and all(map(are_gaps_or_numbers, lists))


def are_gaps_or_numbers(values: Sequence[object]) -> bool:
    """Whether values of JSON are numbers or missing."""
    known = (value for value in values if value is not None)
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in known)


def rows_by_system(name: str, systems: Mapping[str, Sequence[object]]) -> Iterator[TableRow]:
    """Read lists of the scores of segments by system. Raises `InputError`: a system has the name of a metric."""
    if metrics := [system for system in systems if _METRIC.fullmatch(system)]:
        said = f"{name}: lists of scores by metric ({', '.join(metrics[:3])}), not by system"
        raise InputError(f"{said}: write a file for each metric, with the systems as keys")
    for system, scores in systems.items():
        yield from ((where, {"system": system, **row}) for where, row in segment_rows(name, system, scores))


def segment_rows(name: str, system: str, scores: Sequence[object]) -> Iterator[TableRow]:
    """Read the scores of the segments of a system, in order."""
    for number, score in enumerate(scores):
        yield f"{name}, {system}, segment {number + 1}", {"segment": number, "score": score}


def are_numbers(text: Sequence[str]) -> bool:
    """Whether each line is a score, or says that it is missing.

    >>> are_numbers(["0.364", "None", ""]), are_numbers(["0.5 0.6"]), are_numbers([])
    (True, False, False)
    """
    lines = [line.strip() for line in text if line.strip()]
    return bool(lines) and all(len(line.split()) == 1 and may_be_score(line) for line in lines)


def number_rows(
    name: str, text: Sequence[str], names: Sequence[str] | None, system: str, metric: str
) -> Iterator[TableRow]:
    """Read numbers alone, as in SEEDA: of the systems `names`, in order, or of the segments of one of them.

    A file has the scores of segments if `names` is None or has `system`, the name of the file; `metric` then names
    the scores. Raises `InputError`: no names, or another number of scores.
    """
    written = "\n".join(text).rstrip().split("\n")  # A blank line between others is a missing score
    lines = [(f"{name}, line {number}", line) for number, line in enumerate(written, start=1)]
    if names is None or system in names:
        for number, (where, score) in enumerate(lines):
            yield where, {"system": system, "segment": number, "score": score, "metric": metric}
        return
    if len(lines) != len(names):
        wanted = f" for {counted(len(names), 'name')}" if names else ""
        said = f"{name}: {counted(len(lines), 'score')} without names{wanted}: name the systems, in order, with "
        raise InputError(said, Parameter("names"))
    for (where, score), one in zip(lines, names, strict=True):
        yield where, {"system": one, "score": score}


_SAMPLE = ("doc_id", "target")  # Keys of a sample of lm-evaluation-harness
_PREDICTED = {"prediction", "hypothesis"}  # Keys of a segment of MetricX
_ASIDE = ("doc", "doc_id", "filter", "version", "target", "better")
"""Keys with numbers that are no scores."""


def is_sample(row: Fields) -> bool:
    """Whether an object is a segment with scores by the names of its keys."""
    if {*_SAMPLE} <= row.keys() or row.keys() >= _PREDICTED:
        return True
    return "score" not in row and "segment" in meanings(list(row)) and bool(_scores_in(row))


def sample_rows(values: Values) -> Iterator[TableRow]:
    """Read segments with scores; segments without numbers are in order."""
    counts: Counter[tuple[str, str]] = Counter()
    numbered = _documents_are_segments([value for _, value in values])
    metrics = list(dict.fromkeys(key for _, row in values for key in _scores_in(row)))
    for where, row in values:
        placed = _placed(row)
        if "system" in placed and (placed["system"] is None or isinstance(placed["system"], int | float)):
            placed["system"] = str(placed["system"])
        chosen = row.get("filter") not in (None, "none")
        scores = {"MetricX": row["prediction"]} if "prediction" in row else {key: row.get(key) for key in metrics}
        if row.keys() >= _PREDICTED and not may_be_score(row["prediction"]):
            raise InputError(f"{where}: the prediction is no score, but {str(row['prediction'])[:30]!r}")
        for metric, score in scores.items():
            named = f"{metric},{row['filter']}" if chosen else metric
            better = {"better": "lower"} if "prediction" in row else {}
            key = str(placed.get("system")), named
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


def _scores_in(row: Fields) -> JsonObject:
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


_NUMBER = re.compile(r"\s*(-?\d+(?:\.\d+)?)(?:\s.*)?", re.DOTALL)


def is_of_system(row: Fields) -> bool:
    """Whether an object is the row of a system in the table of several, its scores texts or objects."""
    system = row.get("system", row.get("System"))
    scores = [value for key, value in row.items() if key not in ("system", "System")]
    if {"score", "segment"} & {*meanings(list(row))}:
        return False
    return isinstance(system, str) and bool(scores) and all(_score_in(score) is not None for score in scores)


def system_rows(values: Values) -> Iterator[TableRow]:
    """Read the corpus scores of several systems, which are called as their files."""
    for where, row in values:
        file = str(row.get("system", row.get("System"))).removeprefix("Baseline: ")
        for key, value in row.items():
            if key not in ("system", "System"):
                yield where, {"file": file, "metric": key.partition(" (")[0], "score": _score_in(value)}


def _score_in(value: object) -> object:
    """Find the score in a cell: a text that begins with it, or an object that has it."""
    if isinstance(value, dict):
        return value.get("score")
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return None if match is None else match[1]


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
