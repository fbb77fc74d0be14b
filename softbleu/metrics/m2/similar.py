"""Credit for edits that are similar to gold edits: of the same or overlapping words, with similar corrections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING

import numpy as np

from softbleu.kernels.pairs import TokenPairs
from softbleu.kernels.scale import SCALE
from softbleu.matching.ngrams import Chunk
from softbleu.matching.similarity import WordTable, products_of_pairs
from softbleu.metrics.edits.judged import placed
from softbleu.text.tokens import Tokens

if TYPE_CHECKING:
    from softbleu.corpora.edits import Coded, CodedEdit
    from softbleu.kernels import Kernels
    from softbleu.types import Words

Span = tuple[int, int]
EditCredit = Callable[[int, Span, Span], int]
"""Credit of an edit of the source words of the first span, for candidate words of the second, for a gold edit, by its
number: in millionths."""


@dataclass(frozen=True)
class SimilarEdits:
    """How similar edits of one candidate are to those of one annotator."""

    candidate: Words
    gold: Coded
    places: Sequence[Sequence[Span]]  # Where each correction of each gold edit stands in the line of corrections
    after: Sequence[Sequence[float]]  # Similarities of the candidate's words with those of that line
    before: Sequence[Sequence[float]]  # Of the source's words
    threshold: int  # In millionths; a similarity must exceed it

    def credit(self, number: int, replaced: Span, words: Span) -> int:
        """Similarity of the corrections times the share of replaced words that both edits have; see `EditCredit`.

        The correction must be nearer to the gold one than what it replaces.

        `number` is that of the gold edit, `replaced` the span of source words, `words` that of candidate words.
        """
        start, end, corrections = self.gold[number]
        shared = min(end, replaced[1]) - max(start, replaced[0])
        if (start, end) != replaced and shared <= 0:
            return 0
        best = 0
        for text, place in zip(corrections, self.places[number], strict=True):
            if self.candidate[slice(*words)] == text:
                best = SCALE
            elif (similarity := align_words(self.after, words, place)) > max(self.threshold, best):
                best = similarity if similarity > align_words(self.before, replaced, place) else best
        return (
            best if (start, end) == replaced else best * shared // (max(end, replaced[1]) - min(start, replaced[0]))
        )

    def links(self, edits: Sequence[CodedEdit], hits: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
        """Numbers of edits and gold edits that belong together, and credit.

        Those that are equal (`hits`) come first; the others are assigned one to one.
        """
        taken = [{pair[side] for pair in hits} for side in (0, 1)]
        left = [number for number in range(len(self.gold)) if number not in taken[1]]
        others = [(place, spans) for place, spans in enumerate(placed(edits)) if place not in taken[0]]
        table = [[self.credit(number, spans[:2], spans[2:]) for number in left] for _, spans in others]
        more = [(others[row][0], left[column], table[row][column]) for row, column in assigned(table)]
        return [*((*pair, SCALE) for pair in hits), *more]


def assigned(table: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Places above 0, no two in a row or a column, whose entries have the greatest sum.

    >>> assigned([[5, 4], [4, 0]]), assigned([[]]), assigned([])
    ([(0, 1), (1, 0)], [], [])
    """
    if not any(map(any, table)):
        return []
    from scipy.optimize import linear_sum_assignment

    values = np.array(table, np.int64)
    pairs = zip(*(side.tolist() for side in linear_sum_assignment(values, maximize=True)), strict=True)
    return [(row, column) for row, column in pairs if table[row][column]]


def align_words(table: Sequence[Sequence[float]], rows: Span, columns: Span) -> int:
    """Similarity of two texts: twice the greatest sum of words paired in order, by the words of both.

    `table` has the similarities of words; the texts are its `rows` and `columns` from the first number up to the
    second.

    In millionths, rounded; 0 where one is empty.

    >>> align_words([[1.0, 0.5], [0.5, 0.0]], (0, 2), (0, 2)), align_words([[0.9]], (0, 1), (0, 0))
    (500000, 0)
    """
    best = [0.0] * (columns[1] - columns[0] + 1)
    for row in table[slice(*rows)]:
        diagonal = 0.0
        for place, value in enumerate(row[slice(*columns)], start=1):
            above = best[place]
            best[place] = max(above, best[place - 1], diagonal + value)
            diagonal = above
    return round(2 * SCALE * best[-1] / max(rows[1] - rows[0] + columns[1] - columns[0], 1))


def similar_edits(
    chunk: Chunk, words: WordTable, kernels: Kernels, threshold: int, characters: float
) -> Iterator[list[SimilarEdits]]:
    """Compare the words of each candidate of a chunk, and of its source, with each annotator's corrections.

    Yields for each candidate the edits towards each annotator. Vectors are those of `words`, products are made by
    `kernels`; similarities must exceed the `threshold`, in millionths; `characters` is the weight of spellings.
    """
    context = words.vectors.in_context
    texts = [text.by_line() for text in (chunk.candidates, chunk.source) if text is not None]
    segments = list(zip(*texts, [annotated.edits for annotated in chunk.gold or ()], strict=True))
    lines = [
        (candidate, source, *corrections_of(source, edits, whole=context))
        for candidate, source, gold in segments
        for edits in (gold if candidate != source else ())
        if edits
    ]
    ours = _tokens([*(line[0] for line in lines), *(line[1] for line in lines)])
    theirs = _tokens([line[2] for line in lines] * 2)
    pairs = TokenPairs(ours.offsets, theirs.offsets)
    both = Chunk(ours, theirs, np.arange(2 * len(lines) + 1))
    similarities = np.clip(products_of_pairs(words.vectors, both, pairs, kernels), 0, 1)
    if characters > 0:
        kernels.raise_to_spellings(similarities, pairs, ours.codes, theirs.codes, words.parts("spelling"), characters)
    tables = [pairs.block(similarities, line).tolist() for line in range(2 * len(lines))]
    compared = iter(zip(lines, tables[: len(lines)], tables[len(lines) :], strict=True))
    for candidate, source, gold in segments:
        similar = []
        for edits in gold:
            differs = edits and candidate != source
            line, after, before = next(compared) if differs else ((None, None, None, []), [], [])
            similar.append(SimilarEdits(candidate, edits, line[3], after, before, threshold))
        yield similar


def corrections_of(source: Words, edits: Coded, *, whole: bool) -> tuple[list[int], list[list[Span]]]:
    """Write the corrections of all edits in a line, and say where each stands.

    In a `whole` line they stand where they are made, between the other words of the source; of several for one edit
    the first does, and others follow at the end.

    >>> corrections_of((1, 2, 3), ((1, 2, ((7, 8), (9,))),), whole=True)
    ([1, 7, 8, 3, 9], [[(1, 3), (4, 5)]])
    """
    line: list[int] = []
    places: list[list[Span]] = [[] for _ in edits]
    between, done = source if whole else (), 0
    for rank in (slice(1), slice(1, None)):
        for place, (start, end, texts) in zip(places, edits, strict=True):
            line += between[done:start]
            done = max(done, end)
            for text in texts[rank]:
                place.append((len(line), len(line) + len(text)))
                line += text
        line += between[done:]
        between = ()
    return line, places


def _tokens(lines: Sequence[Sequence[int]]) -> Tokens:
    return Tokens(np.fromiter(chain.from_iterable(lines), np.int32), np.array([0, *accumulate(map(len, lines))]))
