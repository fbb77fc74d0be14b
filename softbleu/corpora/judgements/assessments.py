"""Direct assessment: human scores of single outputs, on a scale."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from softbleu.corpora.files import open_text
from softbleu.corpora.judgements.comparisons import Comparisons, plain_names, read_rankings
from softbleu.corpora.judgements.scores import note_repeated, read_scores
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

        >>> won = Assessments.of_comparisons(Comparisons.of([(0, "A", "B", 1, "ann"), (0, "A", "B", 0, "bob")]))
        >>> list(zip(won.systems, won.segments, won.scores.tolist()))
        [(['A'], 0, 0.5), (['B'], 0, -0.5)]
        """
        segments, systems = np.tile(judged.segment, 2), np.concatenate((judged.first, judged.second))
        keys, places = np.unique(segments * len(judged.systems) + systems, return_inverse=True)
        won = np.bincount(places, np.concatenate((judged.outcome, -judged.outcome))) / np.bincount(places)
        numbers, owners = np.divmod(keys, len(judged.systems))
        return cls(won, [[judged.systems[owner]] for owner in owners.tolist()], numbers.tolist())

    def with_texts(self, corpus: Segments) -> Assessments:
        """Put the outputs of a corpus in the place of systems and segments; each of several references makes a pair.

        InputError: the corpus has none of the systems, or too few segments.
        """
        rows = []
        for score, systems, segment in self._outputs():
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
        for score, systems, segment in self._outputs():
            system = next((name for name in systems if name in scored), None)
            if system is not None:
                rows.append((score, _score_of(scored, system, segment, metric), segment))
        if not rows:
            raise InputError(f"{metric} has scores of none of the assessed systems")
        judges, values, segments = np.array(rows).T
        known = ~np.isnan(values)
        return judges[known], values[known], segments[known].astype(np.int64)

    def tables(self, scored: Mapping[str, Floats], metric: str) -> tuple[Floats, Floats]:
        """Put the scores of judges and of a metric into tables (systems, segments), NaN where either has none.

        Assessed texts are of no systems.
        """
        assessed = {name for systems in self.systems for name in systems}
        places = {name: number for number, name in enumerate(name for name in scored if name in assessed)}
        judges = np.full((len(places), 1 + max(self.segments, default=0)), np.nan)
        values = judges.copy()
        for score, systems, segment in self._outputs():
            for name in systems:
                if name in places:
                    judges[places[name], segment] = score
                    values[places[name], segment] = _score_of(scored, name, segment, metric)
        judges[np.isnan(values)] = np.nan
        return judges, values

    def one_sided(self, scored: Collection[str]) -> tuple[list[str], list[str]]:
        """Name systems that were assessed and not scored, nor any with the same output; and those only scored."""
        unscored = {name for systems in self.systems if not set(systems) & set(scored) for name in systems}
        assessed = {name for systems in self.systems for name in systems}
        return sorted(unscored), [name for name in scored if self.systems and name not in assessed]

    def _outputs(self) -> Iterator[tuple[float, Sequence[str], int]]:
        """Go through assessed outputs of systems: score, systems, segment."""
        if self.texts is None:
            yield from zip(self.scores.tolist(), self.systems, self.segments, strict=True)


def _score_of(scored: Mapping[str, Floats], system: str, segment: int, metric: str) -> float:
    if segment >= len(scored[system]):
        raise InputError(
            f"the assessments name segment {segment + 1}, {metric} has {len(scored[system])} of {system}"
        )
    return float(scored[system][segment])


def read_judged(name: str, *, unescape: bool = False, encoding: str = "utf-8") -> Mapping[str, Assessments]:
    """Read judged texts by their groups: tab-separated columns, of which others are passed over.

    `score` (or `human`, `human_score`), `candidate` (or `translation`, `hypothesis`), `reference`, and maybe
    `source`, `annotator`, and `group` (or `lp`); rows that name no group are of one that is called as the file. With
    annotators each output has the mean of their scores.

    Raises
    ------
    InputError
        A column is missing, a score is no number, or a row has too many or too few cells.
    """
    columns, rows = _cells(name, encoding, _JUDGED)
    if not {"human_score", "translation", "reference"} <= set(columns):
        raise InputError(f"{name}, line 1: judgements need columns score, candidate and reference, tab-separated")
    stem = Path(name.removesuffix(".gz")).stem
    groups: dict[str, list[_Row]] = {}
    for where, row in rows:
        groups.setdefault(row.get("group", row.get("lp", stem)), []).append((where, {"source": "", **row}))
    if not groups:
        raise InputError(f"{name}: there are no judgements")
    return {group: _judged_texts(name, members, unescape) for group, members in groups.items()}


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
    assessments = read_assessments(name, direction=direction, column=column, encoding=encoding)
    if assessments.texts is not None:
        raise InputError(f"{name}: these judgements have their own texts: leave out candidates and references")
    return assessments


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
    source translation reference HUMAN_score`; others are passed over. Or scores of segments for `read_scores`. Of
    several directions one must be given. An output that several annotators scored has the mean of their scores, and a
    note says so; of texts, where there is a column `annotator`. `unescape` turns entities such as ``&apos;`` in texts
    into characters.
    """
    columns, cells = _cells(name, encoding, {})
    kind = next((kind for kind in (_BY_TEXT, _BY_NUMBER) if set(kind) <= set(columns)), None)
    if kind is None and ({"system", "segment"} <= set(columns) or ".seg.score" in name):
        return _graded(name, direction, column, encoding)
    if kind is None:
        raise InputError(f"{name}, line 1: assessments need columns {' '.join(_BY_NUMBER)}, or {' '.join(_BY_TEXT)}")
    rows = _of_direction(name, list(cells), direction)
    return _judged_texts(name, rows, unescape) if kind is _BY_TEXT else _numbered(name, rows)


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
    tables = read_scores(name, direction=direction, column=column, repeated=True, encoding=encoding)
    if len(tables) > 1 or not tables[0].segments:
        raise InputError(f"{name}: assessments are scores of segments by one kind of judges")
    outputs = [
        (score, [system], segment)
        for system, scores in tables[0].segments.items()
        for segment, score in enumerate(scores.tolist())
        if not np.isnan(score)
    ]
    if not outputs:
        raise InputError(f"{name}: there are no assessments")
    scores, systems, segments = zip(*outputs, strict=True)
    return Assessments(np.array(scores), systems, segments)


def _means(
    name: str, rows: Sequence[_Row], columns: Sequence[str], scored: str
) -> tuple[Sequence[Mapping[str, str]], Floats]:
    """Find the outputs, which differ in these columns (none: each row is one), and the mean of each one's scores."""
    outputs: dict[object, Mapping[str, str]] = {}
    scores: dict[object, list[float]] = {}
    for where, row in rows:
        key = tuple(row[column] for column in columns) or where
        outputs.setdefault(key, row)
        scores.setdefault(key, []).append(_number(where, row[scored]))
    note_repeated(name, sum(len(values) > 1 for values in scores.values()), len(outputs))
    return list(outputs.values()), np.array([sum(values) / len(values) for values in scores.values()])


def _judged_texts(name: str, rows: Sequence[_Row], unescape: bool) -> Assessments:
    clean = html.unescape if unescape else str
    columns = ("source", "translation", "reference")
    outputs, scores = _means(name, rows, columns if "annotator" in rows[0][1] else (), "human_score")
    source, candidate, reference = ([clean(row[column]) for row in outputs] for column in columns)
    return Assessments(scores, texts=Segments.of({CANDIDATE: candidate}, reference, source))


def _numbered(name: str, rows: Sequence[_Row]) -> Assessments:
    for where, row in rows:
        sid = row["sid"]
        if not (sid.isdecimal() and len(sid) <= MOST_PLACES and int(sid)):
            raise InputError(f"{where}: SID is the number of a segment, from 1, not {sid!r}")
    outputs, scores = _means(name, rows, ("system", "sid"), "human")
    systems = [row["system"].split("+") for row in outputs]
    names = plain_names({system for members in systems for system in members})
    return Assessments(
        scores,
        [[names[system] for system in members] for members in systems],
        [int(row["sid"]) - 1 for row in outputs],
    )


def _number(where: str, text: str) -> float:
    try:
        return parse_score(text)
    except ValueError as error:
        raise InputError(f"{where}: {text!r} is no assessment: {error}") from None
