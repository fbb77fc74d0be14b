"""Direct assessment: human scores of single outputs, on a scale."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from softbleu.corpora.files import open_text
from softbleu.corpora.judgements.comparisons import Comparisons, plain_names, read_rankings
from softbleu.corpora.judgements.scores import read_scores
from softbleu.corpora.segments import Segments
from softbleu.errors import InputError
from softbleu.io.data_files import MOST_PLACES, parse_score

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

_BY_NUMBER = ("lp", "system", "sid", "human")
_BY_TEXT = ("lp", "source", "translation", "reference", "human_score")
_JUDGED = {"candidate": "translation", "hypothesis": "translation", "score": "human_score", "human": "human_score"}
"""Other names of columns of judged texts."""
_Row = tuple[str, dict[str, str]]  # Where it stands, and its cells by columns
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

    @classmethod
    def of_comparisons(cls, judged: Comparisons) -> Self:
        """Score each output that was compared: the mean of its comparisons, 1 won, 0 tied, -1 lost.

        >>> found = Assessments.of_comparisons(Comparisons.of([(0, "A", "B", 1, "ann"), (0, "A", "B", 0, "bob")]))
        >>> list(zip(found.systems, found.segments, found.scores.tolist()))
        [(['A'], 0, 0.5), (['B'], 0, -0.5)]
        """
        segments, systems = np.tile(judged.segment, 2), np.concatenate((judged.first, judged.second))
        keys, places = np.unique(segments * len(judged.systems) + systems, return_inverse=True)
        won = np.bincount(places, np.concatenate((judged.outcome, -judged.outcome))) / np.bincount(places)
        numbers, owners = np.divmod(keys, len(judged.systems))
        return cls(won, [[judged.systems[each]] for each in owners.tolist()], numbers.tolist())

    def with_texts(self, corpus: Segments) -> Assessments:
        """Put the outputs of a corpus in the place of systems and segments; each of several references makes a pair.

        InputError: the corpus has none of the systems, or too few segments.
        """
        rows = []
        for score, systems, segment in zip(self.scores.tolist(), self.systems, self.segments, strict=True):
            system = next((name for name in systems if name in corpus.candidates), None)
            if system is not None and segment >= len(corpus):
                raise InputError(f"the judgements name segment {segment + 1}, there are {len(corpus)}")
            if system is not None:
                text = corpus.candidates[system][segment]
                rows += [(score, text, reference) for reference in corpus.references[segment]]
        if not rows:
            raise InputError(f"the judgements name none of the systems {', '.join(corpus.systems)}")
        scores, texts, references = zip(*rows, strict=True)
        return Assessments(np.array(scores), texts=Segments.of({CANDIDATE: texts}, references))

    def pick(self, scored: Mapping[str, Floats], metric: str) -> tuple[Floats, Floats, Integers]:
        """Find the scores of judges and of a metric, of the assessed outputs of which a system was scored.

        And what each is drawn with: its segment; of texts, those of the same source.
        """
        if self.texts is not None:
            values = next(iter(scored.values()), np.zeros(0))
            if len(values) != len(self):
                raise InputError(f"{metric} has {len(values)} segments, {len(self)} texts were assessed")
            return self.scores, values, np.unique(self.texts.source or (), return_inverse=True)[1]
        rows: list[tuple[float, float, int]] = []
        for score, systems, segment in zip(self.scores, self.systems, self.segments, strict=True):
            system = next((name for name in systems if name in scored), None)
            if system is not None:
                rows.append((score, self._scored(scored, system, segment, metric), segment))
        if not rows:
            raise InputError(f"{metric} has scores of none of the assessed systems")
        people, found, segments = np.array(rows).T
        kept = ~np.isnan(found)
        return people[kept], found[kept], segments[kept].astype(np.int64)

    def tables(self, scored: Mapping[str, Floats], metric: str) -> tuple[Floats, Floats]:
        """Put the scores of judges and of a metric into tables (systems, segments), NaN where either has none.

        Assessed texts are of no systems.
        """
        names = [name for name in scored if any(name in each for each in self.systems)]
        places = {name: number for number, name in enumerate(names)}
        people = np.full((len(names), 1 + max(self.segments, default=0)), np.nan)
        found = people.copy()
        for score, systems, segment in zip(
            self.scores[: len(self.systems)], self.systems, self.segments, strict=True
        ):
            for name in systems:
                if name in places:
                    people[places[name], segment] = score
                    found[places[name], segment] = self._scored(scored, name, segment, metric)
        people[np.isnan(found)] = np.nan
        return people, found

    def _scored(self, scored: Mapping[str, Floats], system: str, segment: int, metric: str) -> float:
        if segment >= len(scored[system]):
            raise InputError(
                f"the assessments name segment {segment + 1}, {metric} has {len(scored[system])} of {system}"
            )
        return float(scored[system][segment])


def read_judged(name: str, *, unescape: bool = False, encoding: str = "utf-8") -> Mapping[str, Assessments]:
    """Read judged texts by their groups: tab-separated columns, of which others are passed over.

    `score` (or `human`, `human_score`), `candidate` (or `translation`, `hypothesis`), `reference`, and maybe `source`
    and `group` (or `lp`); rows that name no group are of one that is called as the file.

    Raises
    ------
    InputError
        A column is missing, a score is no number, or a row has too many or too few cells.
    """
    columns, rows = _cells(name, encoding, _JUDGED)
    lacking = [each for each in ("human_score", "translation", "reference") if each not in columns]
    if lacking:
        raise InputError(f"{name}, line 1: judgements need columns score, candidate and reference, tab-separated")
    plain = {"source": "", "group": Path(name.removesuffix(".gz")).stem}
    groups: dict[str, list[_Row]] = {}
    for where, row in rows:
        group = row.get("group", row.get("lp", plain["group"]))
        groups.setdefault(group, []).append((where, {**plain, **row}))
    if not groups:
        raise InputError(f"{name}: there are no judgements")
    scores = {
        group: np.array([_number(where, row["human_score"]) for where, row in own]) for group, own in groups.items()
    }
    return {group: Assessments(scores[group], texts=_texts(own, unescape)) for group, own in groups.items()}


def read_outputs(
    name: str,
    *,
    start: int | None = None,
    direction: str | None = None,
    column: str | None = None,
    encoding: str = "utf-8",
) -> Assessments:
    """Read judgements that name systems and segments: rankings as `read_rankings` has them, or `read_assessments`."""
    with closing(open_text(name, encoding)) as lines:
        first = next((line.strip().lower() for line in lines if line.strip()), "")
    if first.startswith("<") or "system1id" in first:
        return Assessments.of_comparisons(read_rankings(name, start=start, encoding=encoding))
    found = read_assessments(name, direction=direction, column=column, encoding=encoding)
    if found.texts is not None:
        raise InputError(f"{name}: these judgements have their own texts: leave out candidates and references")
    return found


def read_assessments(
    name: str,
    *,
    direction: str | None = None,
    column: str | None = None,
    unescape: bool = False,
    encoding: str = "utf-8",
) -> Assessments:
    """Read direct assessment as it is published for WMT17, or any other scores of segments.

    Either columns `LP SYSTEM SID HUMAN` (SID from 1; `a+b`: systems with the same output) or, tab-separated, `LP
    source translation reference HUMAN_score`; others are passed over. Of several directions one must be given.
    `unescape` turns entities such as ``&apos;`` in texts into characters. Or scores of segments for `read_scores`.
    """
    columns, cells = _cells(name, encoding, {})
    kind = next((kind for kind in (_BY_TEXT, _BY_NUMBER) if set(kind) <= set(columns)), None)
    if kind is None and ({"system", "segment"} <= set(columns) or ".seg.score" in name):
        return _graded(name, direction, column, encoding)
    if kind is None:
        raise InputError(f"{name}, line 1: assessments need columns {' '.join(_BY_NUMBER)}, or {' '.join(_BY_TEXT)}")
    rows = _of_direction(name, list(cells), direction)
    scores = np.array([_number(where, row[kind[-1]]) for where, row in rows])
    return Assessments(scores, texts=_texts(rows, unescape)) if kind is _BY_TEXT else _numbered(rows, scores)


def _cells(name: str, encoding: str, aliases: Mapping[str, str]) -> tuple[list[str], Iterator[_Row]]:
    """Names of columns in lower case, and where each row stands with its cells by these names."""
    with closing(open_text(name, encoding)) as lines:
        text = list(lines)
    tabs = bool(text) and "\t" in text[0]
    columns = [cell.lower() for cell in (text[0].split("\t") if tabs else text[0].split())] if text else []
    columns = [aliases.get(column, column) for column in columns]

    def rows() -> Iterator[_Row]:
        for number, line in enumerate(text[1:], start=2):
            cells = line.split("\t") if tabs else line.split()
            if not cells or cells == [""]:
                continue
            if len(cells) != len(columns):
                raise InputError(f"{name}, line {number}: {len(cells)} cells under {len(columns)} column names")
            yield f"{name}, line {number}", dict(zip(columns, cells, strict=True))

    return columns, rows()


def _of_direction(name: str, rows: Sequence[_Row], direction: str | None) -> list[_Row]:
    there = sorted({row["lp"] for _, row in rows})
    if not there:
        raise InputError(f"{name}: there are no assessments")
    if (direction is None and len(there) > 1) or (direction is not None and direction not in there):
        raise InputError(f"{name}: name one direction of {', '.join(there)}")
    return [(where, row) for where, row in rows if direction in (None, row["lp"])]


def _graded(name: str, direction: str | None, column: str | None, encoding: str) -> Assessments:
    tables = read_scores(name, direction=direction, column=column, encoding=encoding)
    if len(tables) > 1 or not tables[0].segments:
        raise InputError(f"{name}: assessments are scores of segments by one kind of judges")
    given = [
        (score, [system], segment)
        for system, scores in tables[0].segments.items()
        for segment, score in enumerate(scores.tolist())
        if not np.isnan(score)
    ]
    if not given:
        raise InputError(f"{name}: there are no assessments")
    scores, systems, segments = zip(*given, strict=True)
    return Assessments(np.array(scores), systems, segments)


def _texts(rows: Sequence[_Row], unescape: bool) -> Segments:
    clean = html.unescape if unescape else str
    source, candidate, reference = (
        [clean(row[column]) for _, row in rows] for column in ("source", "translation", "reference")
    )
    return Segments.of({CANDIDATE: candidate}, reference, source)


def _numbered(rows: Sequence[_Row], scores: Floats) -> Assessments:
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
