"""sacrebleu: objects of corpus or sentence scores, its table of several systems, and the lines that it prints."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from softbleu.corpora.files import name_files
from softbleu.corpora.judgements.tables import TableRow, Values, meanings
from softbleu.errors import InputError
from softbleu.types import Fields

_PRINTED = re.compile(r"([A-Za-z][\w-]*\+{0,2})([|+]\S*)? = (-?\d+(?:\.\d+)?)(?=\s|$).*")
_NUMBER = re.compile(r"\s*(-?\d+(?:\.\d+)?)(?:\s.*)?", re.DOTALL)
_BASELINE = "Baseline: "


def is_score(row: Fields) -> bool:
    """Whether an object is a score that sacrebleu wrote."""
    return row.keys() >= {"name", "score", "signature"} and not {"system", "segments"} & row.keys()


def listed_rows(values: Values, system: str) -> Iterator[TableRow]:
    """Read scores of a corpus, or of its sentences where a metric has several."""
    return _placed([(where, str(row["name"]), row["score"], str(row["signature"])) for where, row in values], system)


def is_printed(line: str) -> bool:
    """Whether a line is a score as sacrebleu prints it: ``BLEU|nrefs:1|… = 48.2 …``."""
    return _PRINTED.fullmatch(line.strip()) is not None


def printed_rows(name: str, text: Sequence[str], system: str) -> Iterator[TableRow]:
    """Read printed scores of a corpus, or of its sentences where a metric has several. InputError: another line."""
    listed = []
    for number, line in enumerate(text, start=1):
        match = _PRINTED.fullmatch(line.strip())
        if match is None and line.strip():
            raise InputError(f"{name}, line {number}: no score as in the lines above: 'BLEU|nrefs:1|… = 48.2'")
        if match is not None:
            listed.append((f"{name}, line {number}", match[1], match[3], (match[2] or "")[1:]))
    return _placed(listed, system)


def _placed(scores: Sequence[tuple[str, str, object, str]], system: str) -> Iterator[TableRow]:
    totals, counts = Counter(metric for _, metric, _, _ in scores), Counter[str]()
    for where, metric, score, signature in scores:
        segment = {"segment": counts[metric]} if totals[metric] > 1 else {}
        counts[metric] += 1
        yield where, {"system": system, "metric": metric, "score": score, "signature": signature, **segment}


def is_row(row: Fields) -> bool:
    """Whether an object is the row of a system in the table of several, its scores texts or objects."""
    system = row.get("system", row.get("System"))
    scores = [value for key, value in row.items() if key not in ("system", "System")]
    if {"score", "segment"} & {*meanings(list(row))}:
        return False
    return isinstance(system, str) and bool(scores) and all(_score_in(score) is not None for score in scores)


def system_rows(values: Values) -> Iterator[TableRow]:
    """Read the corpus scores of several systems, which are called as their files."""
    files = [str(row.get("system", row.get("System"))).removeprefix(_BASELINE) for _, row in values]
    systems = {path: system for system, path in name_files(files).items()}
    for (where, row), file in zip(values, files, strict=True):
        for key, value in row.items():
            if key not in ("system", "System"):
                yield where, {"system": systems[file], "metric": key.partition(" (")[0], "score": _score_in(value)}


def _score_in(value: object) -> object:
    """Find the score in a cell: a text that begins with it, or an object that has it."""
    if isinstance(value, dict):
        return value.get("score")
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return None if match is None else match[1]
