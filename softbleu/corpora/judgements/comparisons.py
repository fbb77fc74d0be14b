"""Which of two systems people preferred, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Self

import numpy as np

from softbleu.errors import InputError
from softbleu.limits import Limit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.types import Integers

_LIMIT = Limit("rankings", "systems", 200, "leave some out")
Row = tuple[int, str, str, int, str]
"""Segment, two systems, the outcome for the first, annotator."""


@dataclass(frozen=True)
class Ranking:
    """One judgement of an annotator: the outputs of several systems for a segment, ranked."""

    segment: int
    """From 0."""
    annotator: str
    """Who judged."""
    groups: Sequence[tuple[Sequence[str], int]]
    """Systems whose outputs are the same, shown as one, and their rank; 1 is best, equal ranks are ties."""

    def rows(self, *, expand: bool) -> Iterator[Row]:
        """Compare all pairs of systems; systems of one group are tied with one another.

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
    annotators: tuple[str, ...]
    """Names, in order; the arrays have their places."""
    segment: Integers
    """From 0."""
    first: Integers
    second: Integers
    """The systems; ``first < second``."""
    outcome: Integers
    """1 where the first is better, -1 where the second is, 0 for a tie."""
    annotator: Integers
    """Who judged."""

    def __len__(self) -> int:
        return len(self.outcome)

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Self:
        """Put comparisons together.

        Raises `InputError` where there are none.

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
        )

    @classmethod
    def of_rankings(cls, rankings: Iterable[Ranking], *, expand: bool = True) -> Self:
        """Compare all pairs of every ranking; see `Ranking.rows`."""
        return cls.of(row for ranking in rankings for row in ranking.rows(expand=expand))

    def at(self, chosen: Integers | NDArray[np.bool_]) -> Self:
        """Take some of the comparisons."""
        names = ("segment", "first", "second", "outcome", "annotator")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})

    def only(self, systems: Iterable[str]) -> Self:
        """Take the comparisons of which both systems are among these.

        Raises `InputError` where there are none.
        """
        wanted = set(systems)
        kept = np.array([name in wanted for name in self.systems])
        chosen = kept[self.first] & kept[self.second]
        if not chosen.any():
            raise InputError(f"no comparison is between two of the systems {', '.join(sorted(wanted))}")
        new = np.cumsum(kept) - 1
        taken = self.at(chosen)
        names = tuple(name for name in self.systems if name in wanted)
        return replace(taken, systems=names, first=new[taken.first], second=new[taken.second])

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
