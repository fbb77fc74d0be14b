"""Lists of texts as a corpus: every candidate of a list with every reference of it, as segments of one reference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from softbleu.corpora.records import TextList
from softbleu.matching.ngrams import Chunk

if TYPE_CHECKING:
    from softbleu.text.tokens import Tokens
    from softbleu.types import Integers

PAIRS_TOGETHER = 1024  # Pairs of small lists, or candidates of a large one, that are compared at once


@dataclass(frozen=True)
class ListBlock:
    """Some lists."""

    lists: Sequence[TextList]
    mean_reference: bool

    def __len__(self) -> int:
        return len(self.lists)

    @property
    def candidates(self) -> list[str]:
        """Those of all lists, one list behind the other."""
        return list(chain.from_iterable(texts.candidates for texts in self.lists))

    @property
    def references(self) -> list[str]:
        """Those of all lists."""
        return list(chain.from_iterable(texts.references for texts in self.lists))

    @property
    def bounds(self) -> tuple[Integers, Integers]:
        """Where the candidates of each list begin and end, and the references."""
        return _ends(texts.candidates for texts in self.lists), _ends(texts.references for texts in self.lists)


@dataclass(frozen=True)
class ListCorpus:
    """Lists whose texts are compared: a corpus of no systems, whose segments are lists."""

    lists: Sequence[TextList]
    mean_reference: bool = False
    """Compare each candidate with the mean of the references of its list, not with each of them."""
    systems: ClassVar[tuple[str, ...]] = ()
    source: ClassVar[None] = None
    gold: ClassVar[None] = None
    has_references: ClassVar[bool] = True

    def __len__(self) -> int:
        return len(self.lists)

    def blocks(self) -> Iterator[ListBlock]:
        """Small lists together, a large one alone."""
        some, pairs = list[TextList](), 0
        for texts in self.lists:
            some.append(texts)
            pairs += len(texts.candidates) * len(texts.references)
            if pairs >= PAIRS_TOGETHER:
                yield ListBlock(some, self.mean_reference)
                some, pairs = [], 0
        if some:
            yield ListBlock(some, self.mean_reference)


@dataclass(frozen=True)
class CodedLists:
    """Some lists as coded lines, one list behind the other."""

    candidates: Tokens
    references: Tokens
    bounds: Integers  # List s has the candidates ``bounds[s]`` to ``bounds[s + 1]``
    offsets: Integers  # And the references ``offsets[s]`` to ``offsets[s + 1]``
    mean_reference: bool

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> tuple[Integers, Integers]:
        """How many candidates and how many references each list has."""
        return np.diff(self.bounds), np.diff(self.offsets)

    def texts(self, place: int) -> tuple[Tokens, Tokens]:
        """Candidates and references of a list; the same object where they are the same."""
        candidates = self.candidates.lines(*self.bounds[place : place + 2].tolist())
        references = self.references.lines(*self.offsets[place : place + 2].tolist())
        same = type(candidates) is type(references) and np.array_equal(candidates.codes, references.codes)
        same = same and np.array_equal(candidates.offsets, references.offsets)
        return candidates, candidates if same else references

    def pairs(self, chosen: Integers) -> Chunk:
        """All pairs of texts of some lists, each pair a segment."""
        candidates, references = (sizes[chosen] for sizes in self.sizes)
        owner = np.repeat(np.arange(len(chosen)), candidates * references)
        within = np.arange(len(owner)) - (np.cumsum(candidates * references) - candidates * references)[owner]
        one = self.bounds[chosen][owner] + within // references[owner]
        other = self.offsets[chosen][owner] + within % references[owner]
        return Chunk(self.candidates.chosen(one), self.references.chosen(other), np.arange(len(owner) + 1))


def in_parts(lines: Tokens) -> Iterator[Tokens]:
    """Some lines at a time."""
    return (lines.lines(start, start + PAIRS_TOGETHER) for start in range(0, len(lines.lengths), PAIRS_TOGETHER))


def _ends(texts: Iterable[Sequence[str]]) -> Integers:
    return np.cumsum([0, *map(len, texts)])
