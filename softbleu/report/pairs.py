"""Scores of all pairs of texts as tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from softbleu.tabular import Records

if TYPE_CHECKING:
    from softbleu.scoring.pairs import PairScores


def matrix_records(found: PairScores) -> Records:
    """Make a row a candidate and a column a reference."""
    rows = [[name, *row] for name, row in zip(found.candidates, found.scores.tolist(), strict=True)]
    return Records(["candidate", *found.references], rows, found.described())


def text_pair_records(lists: Iterable[PairScores]) -> Records:
    """Make a row a pair of each list."""
    listed = list(lists)
    rows = [
        [number, one, other, score]
        for number, each in enumerate(listed, start=1)
        for one, row in zip(each.candidates, each.scores.tolist(), strict=True)
        for other, score in zip(each.references, row, strict=True)
    ]
    return Records(["segment", "candidate", "reference", "score"], rows, listed[0].described())
