"""Lists of texts as a corpus: every candidate of a list with every reference of it, as segments of one reference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from softbleu.corpora.records import TextList

if TYPE_CHECKING:
    from softbleu.text.tokens import Tokens
    from softbleu.types import Integers

PAIRS_TOGETHER = 1024  # Pairs of small lists, or candidates of a large one, that are compared at once


@dataclass(frozen=True)
class ListCorpus:
    """Lists whose texts are compared: a corpus of no systems, whose segments are lists, or a block of it."""

    lists: Sequence[TextList]
    mean_reference: bool = False
    """Compare each candidate with the mean of the references of its list, not with each of them."""
    systems: ClassVar[tuple[str, ...]] = ()
    source: ClassVar[None] = None
    gold: ClassVar[None] = None
    has_references: ClassVar[bool] = True
    bytes: ClassVar[int] = 0

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

    def blocks(self) -> Iterator[ListCorpus]:
        """Small lists together, a large one alone."""
        some, pairs = list[TextList](), 0
        for texts in self.lists:
            some.append(texts)
            pairs += len(texts.candidates) * len(texts.references)
            if pairs >= PAIRS_TOGETHER:
                yield ListCorpus(some, self.mean_reference)
                some, pairs = [], 0
        if some:
            yield ListCorpus(some, self.mean_reference)


def in_parts(lines: Tokens) -> Iterator[Tokens]:
    """Some lines at a time."""
    return (lines.lines(start, start + PAIRS_TOGETHER) for start in range(0, len(lines.lengths), PAIRS_TOGETHER))


def _ends(texts: Iterable[Sequence[str]]) -> Integers:
    return np.cumsum([0, *map(len, texts)])
