"""Direct assessment: human scores of single outputs, on a scale."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.corpora.files import open_text
from softbleu.corpora.judgements.comparisons import plain_names
from softbleu.corpora.segments import Segments
from softbleu.errors import InputError
from softbleu.io.data_files import MOST_PLACES, parse_score

if TYPE_CHECKING:
    from softbleu.types import Floats


_BY_NUMBER = ("lp", "system", "sid", "human")
_BY_TEXT = ("lp", "source", "translation", "reference", "human_score")
CANDIDATE = "translation"  # What the one system of assessed texts is called


@dataclass(frozen=True, eq=False)
class Assessments:
    """Assessed outputs, either by system and segment, or as texts of their own."""

    scores: Floats  # Of people, of shape (outputs,)
    systems: Sequence[Sequence[str]] = ()
    """Of each output the systems that produced it, all the same; empty with texts."""
    segments: Sequence[int] = ()  # Of each output its segment, from 0; empty with texts
    texts: Segments | None = None  # The outputs themselves with their references, as a corpus of one system

    def __len__(self) -> int:
        return len(self.scores)

    def pick(self, scored: Mapping[str, Floats], metric: str) -> tuple[Floats, Floats]:
        """Find the scores of judges and of a metric, of the assessed outputs of which a system was scored."""
        if self.texts is not None:
            values = next(iter(scored.values()), np.zeros(0))
            if len(values) != len(self):
                raise InputError(f"{metric} has {len(values)} segments, {len(self)} texts were assessed")
            return self.scores, values
        people, found = [], []
        for score, systems, segment in zip(self.scores, self.systems, self.segments, strict=True):
            system = next((name for name in systems if name in scored), None)
            if system is None:
                continue
            if segment >= len(scored[system]):
                raise InputError(
                    f"the assessments name segment {segment + 1}, {metric} has {len(scored[system])} of {system}"
                )
            people.append(score)
            found.append(scored[system][segment])
        if not found:
            raise InputError(f"{metric} has scores of none of the assessed systems")
        return np.array(people), np.array(found)


def read_assessments(
    name: str, *, direction: str | None = None, unescape: bool = False, encoding: str = "utf-8"
) -> Assessments:
    """Read direct assessment as it is published for WMT17.

    Either columns `LP SYSTEM SID HUMAN` (SID from 1; `a+b`: systems with the same output) or, tab-separated, `LP
    source translation reference HUMAN_score`; others are passed over. Of several directions one must be given.
    `unescape` turns entities such as ``&apos;`` in texts into characters.
    """
    with closing(open_text(name, encoding)) as lines:
        text = list(lines)
    tabs = bool(text) and "\t" in text[0]
    columns = [cell.lower() for cell in (text[0].split("\t") if tabs else text[0].split())] if text else []
    kind = next((kind for kind in (_BY_TEXT, _BY_NUMBER) if set(kind) <= set(columns)), None)
    if kind is None:
        raise InputError(f"{name}, line 1: assessments need columns {' '.join(_BY_NUMBER)}, or {' '.join(_BY_TEXT)}")
    rows: list[tuple[str, dict[str, str]]] = []
    for number, line in enumerate(text[1:], start=2):
        cells = line.split("\t") if tabs else line.split()
        if not cells or cells == [""]:
            continue
        if len(cells) != len(columns):
            raise InputError(f"{name}, line {number}: {len(cells)} cells under {len(columns)} column names")
        rows.append((f"{name}, line {number}", dict(zip(columns, cells, strict=True))))
    rows = _of_direction(name, rows, direction)
    scores = np.array([_number(where, row[kind[-1]]) for where, row in rows])
    return Assessments(scores, texts=_texts(rows, unescape)) if kind is _BY_TEXT else _numbered(rows, scores)


def _of_direction(
    name: str, rows: Sequence[tuple[str, dict[str, str]]], direction: str | None
) -> list[tuple[str, dict[str, str]]]:
    there = sorted({row["lp"] for _, row in rows})
    if not there:
        raise InputError(f"{name}: there are no assessments")
    if (direction is None and len(there) > 1) or (direction is not None and direction not in there):
        raise InputError(f"{name}: name one direction of {', '.join(there)}")
    return [(where, row) for where, row in rows if direction in (None, row["lp"])]


def _texts(rows: Sequence[tuple[str, dict[str, str]]], unescape: bool) -> Segments:
    clean = html.unescape if unescape else str
    source, candidate, reference = (
        [clean(row[column]) for _, row in rows] for column in ("source", "translation", "reference")
    )
    return Segments.of({CANDIDATE: candidate}, reference, source)


def _numbered(rows: Sequence[tuple[str, dict[str, str]]], scores: Floats) -> Assessments:
    systems = [row["system"].split("+") for _, row in rows]
    names = plain_names({system for each in systems for system in each})
    segments = []
    for where, row in rows:
        sid = int(row["sid"]) if row["sid"].isdecimal() and len(row["sid"]) <= MOST_PLACES else 0
        if sid < 1:
            raise InputError(f"{where}: SID is the number of a segment, from 1, not {row['sid']!r}")
        segments.append(sid - 1)
    return Assessments(scores, [[names[system] for system in each] for each in systems], segments)


def _number(where: str, text: str) -> float:
    try:
        return parse_score(text)
    except ValueError as error:
        raise InputError(f"{where}: {text!r} is no assessment: {error}") from None
