"""Marks in the lines of a page: tokens of a candidate, of its references or its source, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from softbleu.matching.ngrams import Chunk
    from softbleu.metrics.word_pairs import WordPair

CANDIDATE, REFERENCE, SOURCE = range(3)


class Mark(NamedTuple):
    """Some tokens of a text in a row."""

    text: int  # `CANDIDATE`, `REFERENCE` (those of a segment count as one text) or `SOURCE`
    start: int  # First token, from 0
    length: int
    kind: str  # What they are coloured by
    link: int  # Number that marks which belong together share
    said: str


def marks_of_pairs(chunk: Chunk, pairs: Iterable[Iterable[WordPair]]) -> Iterator[list[Mark]]:
    """Mark the words of each candidate of a chunk, and of its references, that `pairs` align."""
    offsets = chunk.references.offsets
    for first, aligned in zip(chunk.segment_offsets.tolist(), pairs, strict=False):
        marks: list[Mark] = []
        for link, pair in enumerate(aligned):
            other = int(offsets[first + pair.reference] - offsets[first]) + pair.reference_start
            marks.append(Mark(CANDIDATE, pair.start, pair.length, pair.kind, link, pair.kind))
            marks.append(Mark(REFERENCE, other, pair.reference_length, pair.kind, link, pair.kind))
        yield marks
