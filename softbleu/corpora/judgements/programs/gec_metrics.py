"""gec-metrics: the lists of its Python as JSON; files of numbers alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from softbleu.corpora.judgements.tables import TableRow, may_be_score
from softbleu.errors import InputError, Parameter, counted

_METRIC = re.compile(
    r"(?i)(sacre)?bleu|chrf(\+\+)?|ter|meteor|[gt]leu|comet|metricx|bert_?score|bleurt|(pt-?)?(errant|m2)|green|impara"
    r"|some|scribendi|cleme2?|rouge\w*|f1|precision|recall|accuracy|scores?"
)
"""Names of metrics, which no system has."""


def is_by_system(value: object) -> bool:
    """Whether a value is an object with a list of the scores of segments per system.

    >>> is_by_system({"A": [0.1, None], "B": [0.2, 0.3]}), is_by_system({"A": 0.5}), is_by_system({"A": ["x"]})
    (True, False, False)
    """
    lists = list(value.values()) if isinstance(value, dict) else []
    return bool(lists) and all(isinstance(one, list) and one and all(map(is_gap_or_number, one)) for one in lists)


def is_gap_or_number(value: object) -> bool:
    """Whether a value of JSON is a number or missing."""
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def rows_by_system(name: str, systems: Mapping[str, Sequence[object]]) -> Iterator[TableRow]:
    """Read lists of the scores of segments by system. Raises `InputError`: a system has the name of a metric."""
    if metrics := [system for system in systems if _METRIC.fullmatch(system)]:
        said = f"{name}: lists of scores by metric ({', '.join(metrics[:3])}), not by system"
        raise InputError(f"{said}: write a file for each metric, with the systems as keys")
    for system, scores in systems.items():
        yield from segment_rows(name, system, scores)


def segment_rows(name: str, system: str, scores: Sequence[object]) -> Iterator[TableRow]:
    """Read the scores of the segments of a system, in order."""
    for number, score in enumerate(scores):
        yield f"{name}, {system}, segment {number + 1}", {"system": system, "segment": number, "score": score}


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
