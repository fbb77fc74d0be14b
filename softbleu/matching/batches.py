"""Candidates of about one size are padded to one size and matched together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.matching.similarity import TokenProducts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.similarity import UnitVectors, Vectors
    from softbleu.types import Floats, Integers

BATCH_CELLS = 1 << 15  # Entries of a batch's token-by-token matrices: small enough to stay in the cache
LONG_CELLS = 1 << 21  # A segment with a greater matrix is matched by itself, a stripe at a time


@dataclass(frozen=True)
class Batch:
    """Candidates of about one size, and the references of their segments."""

    systems: Integers  # System of each candidate
    lines: Integers  # Line of each candidate
    candidate: Integers  # Positions of the candidates' tokens: (batch, most tokens), padded with the chunk's size
    reference: Integers  # Positions of the references' tokens, likewise

    @property
    def is_long(self) -> bool:
        """Whether it is a single candidate whose token-by-token matrix is too large to be made at once."""
        return bool(self.candidate.shape[1] * self.reference.shape[1] > LONG_CELLS)


def batches(chunk: Chunk, most_cells: int | None = None) -> Iterator[Batch]:
    """Group the candidates that have tokens on both sides by size; one that is too long for company comes alone."""
    candidate, reference = chunk.candidate_positions, chunk.reference_positions
    height, width = candidate[1:] - candidate[:-1], np.tile(reference[1:] - reference[:-1], chunk.systems)
    ranked = np.lexsort((height, width))
    ranked = ranked[(height[ranked] > 0) & (width[ranked] > 0)]
    start, most = 0, most_cells or BATCH_CELLS
    while start < len(ranked):
        # Widths ascend, so the cells do: as many candidates as fit, but at least one.
        some = ranked[start : start + most]
        cells = np.maximum.accumulate(height[some]) * width[some] * np.arange(1, len(some) + 1)
        lines = some[: max(1, int(np.searchsorted(cells, most, side="right")))]
        systems, segments = np.divmod(lines, len(chunk))
        yield Batch(
            systems,
            lines,
            _padded(candidate[lines], height[lines], chunk.size),
            _padded(reference[segments], width[lines], chunk.size),
        )
        start += len(lines)


def _padded(starts: Integers, lengths: Integers, padding: int) -> Integers:
    places = np.arange(lengths.max())
    return np.where(places < lengths[:, None], starts[:, None] + places, padding)


@dataclass(frozen=True)
class WeighedText:
    """A chunk's tokens as vectors: what the similarity of its n-grams follows from."""

    vectors: UnitVectors
    rows: Integers  # Row of the vectors of each position, and any for padding
    norms: list[Floats]  # 1 / norm of the n-gram that starts at each position, n = 1, 2, …; 0 for padding

    @classmethod
    def of(cls, chunk: Chunk, vectors: Vectors, by_frequency: bool, order: int) -> WeighedText:
        """Look up the vectors of a chunk."""
        unit_vectors, rows = vectors.unit(chunk, by_frequency=by_frequency)
        norms = [np.append(each, 0.0) for each in unit_vectors.text_norms(rows, order)]
        return cls(unit_vectors, np.append(rows, 0), norms)

    def products(self, batch: Batch) -> TokenProducts:
        """Products of the tokens of a batch."""
        cross, plain = self.vectors.products(self.rows[batch.candidate], self.rows[batch.reference])
        return TokenProducts(cross, plain, self._norms(batch.candidate), self._norms(batch.reference))

    def _norms(self, places: Integers) -> list[Floats]:
        width = places.shape[1]
        return [norms[places[:, : width - n]] for n, norms in enumerate(self.norms[:width])]
