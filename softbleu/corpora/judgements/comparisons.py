"""Comparisons of two systems by judges, as arrays; readers of published rankings: Appraise XML, and CSV of WMT."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Self
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from softbleu.corpora.files import open_text
from softbleu.corpora.judgements.numbering import KnownOutputs, find_start
from softbleu.corpora.judgements.tables import first_line, plain_names, table_rows
from softbleu.errors import InputError, Parameter
from softbleu.io.arguments import Limit
from softbleu.io.progress import note
from softbleu.io.reading import whole_number

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers, Keywords

_LIMIT = Limit("rankings", "systems", 1000, "100 systems", "leave some out")
Row = tuple[int, str, str, int, str]  # Segment, two systems, the outcome for the first, annotator
_SYSTEM = re.compile(r"system(\d+)id")
_RANKED = re.compile(r"(?i)\b(?:system\d+(?:id|rank)|srcindex|judgeid)\b")  # Columns that are read
_NOT_JUDGED = -1
_MOST = 1 << 31
_PAIR = 2


@dataclass(frozen=True)
class Ranking:
    """One judgement of an annotator: the outputs of several systems for a segment, ranked."""

    segment: int  # As the file numbers it
    annotator: str
    groups: Sequence[tuple[Sequence[str], int]]
    """Systems with the same output, shown as one, and their rank; 1 is best, equal ranks are ties."""

    def rows(self, *, expand: bool) -> Iterator[Row]:
        """Compare all pairs of systems; systems of one group are tied.

        Without `expand`, the first system of a group (in the order of their names) stands for all of it.
        """
        _LIMIT.check(sum(len(names) for names, _ in self.groups), f"a ranking of segment {self.segment + 1}")
        taken = [sorted(names) if expand else [min(names)] for names, _ in self.groups]
        ranked = [(name, rank) for names, (_, rank) in zip(taken, self.groups, strict=True) for name in names]
        for (one, rank), (other, other_rank) in combinations(ranked, 2):
            yield self.segment, one, other, (other_rank > rank) - (other_rank < rank), self.annotator


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Pairwise judgements, of shape (comparisons,) each; build one with `of`, which puts pairs in order."""

    systems: tuple[str, ...]
    annotators: tuple[str, ...]  # Names, in order; the arrays have their places
    segment: Integers  # From 0
    first: Integers
    second: Integers  # The systems; ``first < second``
    outcome: Integers  # 1 where the first is better, -1 where the second is, 0 for a tie
    annotator: Integers
    cluster: Integers
    """Comparisons of one number hang together, and samples draw them together: their segment, or its document."""
    documents: Integers | None = None  # Document of each segment, if samples draw documents

    def __len__(self) -> int:
        return len(self.outcome)

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Self:
        """Put comparisons together.

        >>> made = Comparisons.of([(0, "B", "A", 1, "ann"), (3, "A", "C", 0, "bob")])
        >>> made.systems, made.first.tolist(), made.second.tolist(), made.outcome.tolist()
        (('A', 'B', 'C'), [0, 0], [1, 2], [-1, 0])
        """
        columns = list(zip(*rows, strict=True))
        if not columns:
            raise InputError("there are no comparisons of systems")
        systems, annotators = sorted({*columns[1], *columns[2]}), sorted(set(columns[4]))
        place = {name: number for number, name in enumerate(systems)}
        who = {name: number for number, name in enumerate(annotators)}
        one, other = (np.array([place[name] for name in columns[number]], np.int64) for number in (1, 2))
        outcome = np.array(columns[3], np.int64)
        return cls(
            tuple(systems),
            tuple(annotators),
            np.array(columns[0], np.int64),
            np.minimum(one, other),
            np.maximum(one, other),
            np.where(one <= other, outcome, -outcome),
            np.array([who[name] for name in columns[4]], np.int64),
            np.array(columns[0], np.int64),
        )

    @classmethod
    def of_scores(cls, segments: Mapping[str, Floats], judge: str = "") -> Self:
        """Compare all pairs of systems on each segment by its scores: the greater wins, NaN is not compared.

        Parameters
        ----------
        segments
            Scores of the segments of each system, in order.
        judge
            Name of the annotator that the comparisons have.

        Examples
        --------
        >>> made = Comparisons.of_scores({"A": np.array([3.0, 1.0]), "B": np.array([2.0, 1.0])})
        >>> made.segment.tolist(), made.outcome.tolist()
        ([0, 1], [1, 0])
        """
        systems = tuple(sorted(segments))
        scores = np.stack([segments[name] for name in systems])
        one, other = np.triu_indices(len(systems), 1)
        apart = scores[one] - scores[other]
        segment, pair = np.nonzero(~np.isnan(apart.T))
        outcome = np.sign(apart[pair, segment]).astype(np.int64)
        judges = np.zeros(len(pair), np.int64)
        return cls(systems, (judge,), segment, one[pair], other[pair], outcome, judges, segment)

    def at(self, chosen: Integers | NDArray[np.bool_]) -> Self:
        """Select comparisons."""
        names = ("segment", "first", "second", "outcome", "annotator", "cluster")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})

    def only(self, systems: Iterable[str]) -> Self:
        """Select the comparisons of two of these systems."""
        wanted = set(systems)
        wanted_ones = np.array([name in wanted for name in self.systems])
        chosen = wanted_ones[self.first] & wanted_ones[self.second]
        if not chosen.any():
            raise InputError(f"no comparison is between two of the systems {', '.join(sorted(wanted))}")
        new = np.cumsum(wanted_ones) - 1
        taken = self.at(chosen)
        names = tuple(name for name in self.systems if name in wanted)
        return replace(taken, systems=names, first=new[taken.first], second=new[taken.second])

    def beside_others(self) -> tuple[Self, Integers]:
        """Select comparisons that other annotators made, too; also return the outcome for most of the others."""
        _, pair = np.unique([self.segment, self.first, self.second], axis=1, return_inverse=True)
        _, own = np.unique([pair.ravel(), self.annotator], axis=1, return_inverse=True)
        wins, counts = (
            np.bincount(pair.ravel(), column)[pair.ravel()] - np.bincount(own.ravel(), column)[own.ravel()]
            for column in (self.outcome, np.ones(len(self)))
        )
        return self.at(counts > 0), np.sign(wins[counts > 0]).astype(np.int64)

    def one_sided(self, scored: Collection[str]) -> tuple[list[str], list[str]]:
        """List systems that were compared but not scored, and systems that were only scored."""
        return [name for name in self.systems if name not in scored], [
            name for name in scored if name not in self.systems
        ]

    def tallies(self) -> Integers:
        """Count the outcomes of each pair of systems.

        Of shape (3, systems, systems): ``[0, i, j]`` how often i won against j, ``[1]`` how often they tied, ``[2]``
        how often i lost.
        """
        systems = len(self.systems)
        _LIMIT.check(systems, "a ranking")
        counts = np.zeros((3, systems, systems), np.int64)
        np.add.at(counts, (1 - self.outcome, self.first, self.second), 1)
        np.add.at(counts, (1 + self.outcome, self.second, self.first), 1)
        return counts


def read_rankings(
    name: str,
    *,
    start: int | None = None,
    expand: bool = True,
    encoding: str = "utf-8",
    outputs: KnownOutputs | None = None,
) -> Comparisons:
    """Read a file of rankings, packed or not: Appraise XML, or CSV with columns `system1Id`, `system1rank`, ….

    `start` is the number of the first segment in the file; by default the one that fits the `outputs`, see
    `find_start`. Where these do not tell, it is 0 in XML and in CSV of pairs (as the judgements of CoNLL-2014 have
    it), 1 in CSV of more systems a line (as WMT's). `expand` says whether systems whose outputs were the same, and
    were shown as one, count each (as in WMT), or once.

    Parameters
    ----------
    name
        The file, packed or not; `-` is standard input.
    start
        Number of the first segment, 0 or 1.
    expand
        Whether systems with equal outputs count each.
    encoding
        Of the file.
    outputs
        Lines of the judged systems, or scores of their segments.
    """
    if start not in (None, 0, 1):
        raise InputError(Parameter("rankings_start"), f" is 0 or 1, not {start}")
    lines = list(open_text(name, encoding))
    read = _read_xml if first_line(lines).lstrip().startswith("<") else _read_csv
    usual, rankings = read(name, lines, 0 if start is None and outputs is not None else start)
    names = plain_names({system for ranking in rankings for group, _ in ranking.groups for system in group})
    groups = [[([names[system] for system in group], rank) for group, rank in one.groups] for one in rankings]
    first = usual if start is None else start
    if outputs is not None:
        judged = [(one.segment, shown) for one, shown in zip(rankings, groups, strict=True)]
        how: Keywords = {"usual": usual, "given": start, "switch": Parameter("rankings_start")}
        first = find_start(name, judged, outputs, **how)
    plain = (
        replace(one, segment=one.segment - first, groups=shown) for one, shown in zip(rankings, groups, strict=True)
    )
    try:
        return Comparisons.of(row for ranking in plain for row in ranking.rows(expand=expand))
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _read_csv(name: str, lines: Sequence[str], least: int | None) -> tuple[int, list[Ranking]]:
    """The usual number of the first segment, and the rankings; their segments are numbered as in the file."""
    wanted = [column.lower() for column in _RANKED.findall(first_line(lines))]
    columns, rows = table_rows(name, lines, wanted=wanted, delimiter=",")
    numbers = [match[1] for column in columns if (match := _SYSTEM.fullmatch(column))]
    if len(numbers) < _PAIR:
        raise InputError(f"{name}, line 1: rankings need columns system1Id, system1rank, system2Id, system2rank, …")
    for column in (*(f"system{number}rank" for number in numbers), "srcindex", "judgeid"):
        if column not in columns:
            raise InputError(f"{name}, line 1: rankings need a column {column}")
    usual, rankings = int(len(numbers) > _PAIR), list[Ranking]()
    for where, row in rows:
        ranked = [((row[f"system{n}id"],), _whole(where, "rank", row[f"system{n}rank"])) for n in numbers]
        judged = [(group, rank) for group, rank in ranked if rank != _NOT_JUDGED]
        first = usual if least is None else least
        rankings.append(_ranking(where, row["srcindex"], first, row["judgeid"], judged))
    return usual, rankings


class _Items:
    """Collects ranking items while the parser, which knows the lines, goes through them."""

    def __init__(self, name: str, start: int) -> None:
        self.rankings: list[Ranking] = []
        self.number: str | None = None  # Column that numbers the segments
        self._name, self._start = name, start
        self._item: tuple[str, dict[str, str]] | None = None
        self._groups: list[tuple[Sequence[str], int]] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._open
        self.parser.EndElementHandler = self._close

    def _open(self, tag: str, attributes: dict[str, str]) -> None:
        where = f"{self._name}, line {self.parser.CurrentLineNumber}"
        if tag == "ranking-item":
            self._item, self._groups = (where, attributes), []
        elif tag == "translation" and self._item is not None:
            systems = _attribute(where, attributes, tag, "system").split()
            if not systems:
                raise InputError(f"{where}: <translation> names no system")
            rank = _whole(where, "rank", _attribute(where, attributes, tag, "rank"))
            if rank != _NOT_JUDGED:
                self._groups.append((systems, rank))

    def _close(self, tag: str) -> None:
        if tag != "ranking-item" or self._item is None:
            return
        where, attributes = self._item
        # The judgements of Napoles et al. (2016) number items by their segment.
        number = "id" if "src-id" not in attributes and "id" in attributes else "src-id"
        segment, user = (_attribute(where, attributes, tag, key) for key in (number, "user"))
        if self.number not in (None, number):
            raise InputError(f"{where}: {number} numbers this segment, {self.number} those above: give all a src-id")
        self.number = number
        self.rankings.append(_ranking(where, segment, self._start, user, self._groups))
        self._item = None


def _read_xml(name: str, lines: Iterable[str], least: int | None) -> tuple[int, list[Ranking]]:
    items = _Items(name, least or 0)
    try:
        for line in lines:
            items.parser.Parse(line + "\n", False)
        items.parser.Parse("", True)
    except expat.ExpatError as error:
        raise InputError(f"{name}, line {error.lineno}: not XML ({expat.ErrorString(error.code)})") from None
    if items.number == "id":
        note(f"{name}: no item has a src-id, so segments are numbered by id: is that the line of the source?")
    return 0, items.rankings


def _attribute(where: str, attributes: dict[str, str], tag: str, key: str) -> str:
    if key not in attributes:
        raise InputError(f"{where}: <{tag}> lacks {key}")
    return attributes[key]


def _whole(where: str, what: str, text: str) -> int:
    number = whole_number(where, f"a whole number as {what}", text)
    if abs(number) > _MOST:
        raise InputError(f"{where}: {what} cannot be {number}")
    return number


def _ranking(
    where: str, segment: str, start: int, annotator: str, groups: Sequence[tuple[Sequence[str], int]]
) -> Ranking:
    number = _whole(where, "the segment", segment)
    if number < start:
        raise InputError(f"{where}: segment {number}, though the first is {start}: say which it is (start)")
    systems = [system for group, _ in groups for system in group]
    if len(set(systems)) < len(systems):
        twice = next(system for system in systems if systems.count(system) > 1)
        raise InputError(f"{where}: system {twice!r} is ranked twice")
    return Ranking(number, annotator, groups)
