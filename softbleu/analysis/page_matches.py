"""The text that a page shows, and its matches at every threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from softbleu.engine.encode import CodedBlock
from softbleu.engine.runner import MINI_BATCH
from softbleu.io.arguments import Limit
from softbleu.kernels import KernelName, choose_kernels
from softbleu.matching.matchers import LONG_CELLS, SoftMatcher
from softbleu.matching.ngrams import Chunk
from softbleu.matching.sweep import MatchIntervals, match_each, match_intervals

if TYPE_CHECKING:
    from softbleu.engine.prepare import PreparedCorpus
    from softbleu.matching import Matcher
    from softbleu.matching.similarity import Vectors
    from softbleu.types import Integers

_LIMIT = Limit(  # That are shown, of all texts (0.7 GB): more segments are not shown
    "a page",
    "words",
    1 << 21,
    "a segment of 3,000 words with 20 references: 63,000",
    "score shorter segments, or fewer systems",
)
_MOST_PAIRS = 1 << 26  # Of words whose similarities are shown, a byte each


def narrowed(column: Integers) -> Integers:
    """Return whole numbers from 0 in as few bytes as hold them.

    >>> narrowed(np.array([1, 256])).dtype
    dtype('uint16')
    """
    return column.astype(np.min_scalar_type(int(column.max(initial=0))))


@dataclass(frozen=True)
class ShownMatches:
    """The matches of the candidates shown, sorted by row, order, start and threshold; one entry a match each."""

    row: Integers  # Number of the candidate: system * segments shown + segment
    order: Integers
    start: Integers  # Token of the candidate at which the n-gram starts
    matched: Integers  # The clipped matches of it, in millionths
    partner: Integers  # Token at which the reference n-gram starts; the references of a segment count as one text
    partner_order: Integers
    first: Integers  # Number of the lowest threshold at which the match is made
    end: Integers  # Number of the first threshold above it at which it is not

    @classmethod
    def joined(cls, parts: Sequence[Sequence[Integers]]) -> ShownMatches:
        """Put columns of consecutive rows together; there may be none."""
        none = [narrowed(np.zeros(0, np.int64)) for _ in fields(cls)]
        return cls(*(np.concatenate(columns) for columns in zip(*(parts or [none]), strict=True)))


def shown_text(prepared: PreparedCorpus, shown: int) -> CodedBlock:
    """Take the texts of the first `shown` segments of a `prepared` corpus, with the words of the whole corpus."""
    parts: list[CodedBlock] = []
    left = shown
    for block in prepared.blocks():
        parts.append(block.part(0, min(left, len(block))))
        left -= len(parts[-1])
        if not left:
            break
    return replace(CodedBlock.joined(parts), words=prepared.words)


def shown_segments(prepared: PreparedCorpus, most: int, *, tables: bool = False) -> int:
    """Count the first segments that a page shows: at least one and at most `most`, fewer if their texts are long.

    With `tables` of the similarities of words, the pairs of words of the `prepared` corpus are limited, too. Raises
    `InputError` if the first segment alone is too long.

    With `tables` of the similarities of words, these must not be too many, either.
    """
    shown = words = pairs = 0
    for block in prepared.blocks():
        references = sizes = np.diff(block.references.offsets[block.offsets])
        for text in (*block.candidates, *([] if block.source is None else [block.source])):
            sizes = sizes + text.lengths
        proposed = sum(text.lengths for text in block.candidates) if tables else np.zeros(len(block), np.int64)
        cells = proposed * (references // np.maximum(np.diff(block.offsets), 1))
        for size, more in zip(sizes[: most - shown].tolist(), cells.tolist(), strict=False):
            words += size
            pairs += more
            if not shown:
                _LIMIT.check(words, "the first segment")
            elif words > _LIMIT.allowed or pairs > _MOST_PAIRS:
                return shown
            shown += 1
        if shown == most:
            break
    return shown


def match_text(
    text: CodedBlock,
    matcher: Matcher,
    order: int,
    thresholds: tuple[float, ...],
    run: int,
    vectors: Vectors | None,
    kernels: KernelName,
) -> tuple[ShownMatches, Integers, list[int]]:
    """Match all rows of the text of a page at every threshold, of which `run` is the number of the run's own.

    Also their sums at every threshold, in millionths, (systems, thresholds, orders), and which rows are too long
    for more than the run's threshold; these are not in the sums.
    """
    parts: list[list[Integers]] = []
    clipped = np.zeros((len(text.candidates), len(thresholds), order), np.int64)
    too_long: list[int] = []
    for system, chunk in enumerate(text.chunks()):
        for start, stop, long in _pieces(chunk):
            row, piece = system * len(text) + start, chunk.part(start, stop)
            if long or not thresholds or vectors is None or not isinstance(matcher, SoftMatcher):
                intervals = MatchIntervals.joined(match_each([matcher], piece, vectors, order, run))
            else:
                intervals = match_intervals(matcher, thresholds, piece, vectors, order, choose_kernels(kernels))
            parts.append([narrowed(column) for column in _merged(_by_row(intervals, piece, row))])
            if long and thresholds:
                too_long.append(row)
            elif thresholds:
                # What begins at each threshold, less what has ended before.
                changes = np.zeros((len(thresholds) + 1, order), np.int64)
                np.add.at(changes, (intervals.first, intervals.order - 1), intervals.matched)
                np.subtract.at(changes, (intervals.end, intervals.order - 1), intervals.matched)
                clipped[system] += np.cumsum(changes[:-1], axis=0)
    return ShownMatches.joined(parts), clipped, too_long


def _pieces(chunk: Chunk) -> Iterator[tuple[int, int, bool]]:
    """Bounds of the pieces to match; a segment that is too long for a sweep comes alone, and is marked."""
    pairs = chunk.candidates.lengths * np.diff(chunk.reference_positions)
    start = 0
    for long in [*np.flatnonzero(pairs > LONG_CELLS).tolist(), len(chunk)]:
        for first in range(start, long, MINI_BATCH):
            yield first, min(first + MINI_BATCH, long), False
        if long < len(chunk):
            yield long, long + 1, True
        start = long + 1


def _by_row(intervals: MatchIntervals, piece: Chunk, row: int) -> tuple[Integers, ...]:
    """Columns of `ShownMatches`, places counted within the row's texts."""
    segment = piece.positions.segment[intervals.starts]
    return (
        row + segment,
        intervals.order,
        intervals.starts - piece.candidates.offsets[segment],
        intervals.matched,
        intervals.partner_starts - piece.reference_positions[segment],
        intervals.partner_orders,
        intervals.first,
        intervals.end,
    )


def _merged(columns: Sequence[Integers]) -> Integers:
    """Sort, and make one match of those that go on at the next threshold."""
    # Six columns say what is matched; then come the first threshold, by number, and the end.
    made = np.stack(columns)
    made = made[:, np.lexsort(made[6::-1])]
    goes_on = (made[:6, 1:] == made[:6, :-1]).all(axis=0) & (made[6, 1:] == made[7, :-1])
    begins = np.flatnonzero(np.append(True, ~goes_on)[: made.shape[1]])
    last = np.append(begins[1:], made.shape[1])[: len(begins)] - 1
    merged = np.concatenate([made[:7, begins], made[7:, last]])
    return merged[:, np.lexsort(merged[[6, 2, 1, 0]])]
