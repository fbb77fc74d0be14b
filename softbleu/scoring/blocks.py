"""What a worker does: one block of segments in, rows of statistics out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np

from softbleu.corpora.parallel import FileBlock
from softbleu.kernels import KernelName, Kernels, choose_kernels
from softbleu.ngrams import Chunk
from softbleu.tokens import Tokenizer, Tokens, Vocabulary, distinct_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.corpora.segments import Segments
    from softbleu.metrics import Metric
    from softbleu.scoring.vectors import CorpusVectors, StoredVectors

    Integers = NDArray[np.int64]

Level = Literal["corpus", "segment"]
PIECE = 256
"""Segments that are matched together: few enough for the cache. Results do not depend on it."""


@dataclass(frozen=True)
class BlockWork:
    """Everything a worker needs to know; small enough to travel with every block."""

    metric: Metric
    tokenizer: Tokenizer
    vectors: CorpusVectors | StoredVectors | None
    kernels: KernelName
    level: Level

    def __call__(self, block: Segments | FileBlock) -> Integers:
        """Compute the statistics of a block.

        Returns
        -------
        Of shape (systems, rows, k): one row a segment, or at corpus level one row, their sum. The last four
        numbers of a row count tokens: the candidates', those of them with a vector, the references', those of
        them with a vector.
        """
        kernels = choose_kernels(self.kernels)
        rows = [self._rows(chunk, kernels) for chunk in self._chunks(block, kernels)]
        return np.stack(rows)

    def _rows(self, chunk: Chunk, kernels: Kernels) -> Integers:
        if self.vectors is None:
            statistics = self.metric.statistics(chunk, None, kernels)
            rows = np.column_stack((statistics, np.zeros((len(chunk), 4), np.int64)))
        else:
            vectors = self.vectors.load().vectors
            pieces = (
                np.column_stack((self.metric.statistics(piece, vectors, kernels), coverage(piece, vectors.known)))
                for piece in chunk.pieces(PIECE)
            )
            rows = np.concatenate(list(pieces))
        return rows.sum(axis=0, keepdims=True) if self.level == "corpus" else rows

    def _chunks(self, block: Segments | FileBlock, kernels: Kernels) -> Iterator[Chunk]:
        """The block once for each system, references coded once."""
        if isinstance(block, FileBlock) and self.tokenizer.splits_at_whitespace and self.vectors is None:
            return _chunks_of_texts(block, kernels)
        vocabulary = Vocabulary() if self.vectors is None else self.vectors.load().vocabulary
        return self._chunks_of_lines(block.load(), vocabulary)

    def _chunks_of_lines(self, segments: Segments, vocabulary: Vocabulary) -> Iterator[Chunk]:
        split = self.tokenizer.split
        references = vocabulary.encode([split(text) for text in chain.from_iterable(segments.references)])
        offsets = np.zeros(len(segments) + 1, np.int64)
        np.cumsum([len(texts) for texts in segments.references], out=offsets[1:])
        for texts in segments.candidates.values():
            yield Chunk(vocabulary.encode([split(text) for text in texts]), references, offsets)


def _chunks_of_texts(block: FileBlock, kernels: Kernels) -> Iterator[Chunk]:
    references, candidates = block.texts()
    tokens = Tokens(*kernels.code_lines(b"".join((*references, *candidates))))
    count, segments = len(references), len(block)
    # The files stand one behind the other; the references of a segment must.
    lines = np.arange(count * segments).reshape(count, segments).T.reshape(-1)
    by_segment = tokens.lines(0, segments) if count == 1 else tokens.chosen(lines)
    offsets = np.arange(segments + 1) * count
    for system in range(len(candidates)):
        start = (count + system) * segments
        yield Chunk(tokens.lines(start, start + segments), by_segment, offsets)


def coverage(chunk: Chunk, known: NDArray[np.bool_]) -> Integers:
    """Count the tokens of each segment, and those with a vector: candidate, known, references, known."""
    columns = []
    for tokens, bounds in (
        (chunk.candidates, chunk.candidates.offsets),
        (chunk.references, chunk.references.offsets[chunk.segment_offsets]),
    ):
        counted = np.zeros(len(tokens.codes) + 1, np.int64)
        np.cumsum(known[tokens.codes], out=counted[1:])
        columns += [np.diff(bounds), np.diff(counted[bounds])]
    return np.column_stack(columns)


@dataclass(frozen=True)
class WordWork:
    """What a worker does beforehand when vectors are needed: the words that occur."""

    tokenizer: Tokenizer

    def __call__(self, block: Segments | FileBlock) -> set[str]:
        """Words of a block."""
        segments = block.load()
        texts = chain(chain.from_iterable(segments.references), *segments.candidates.values())
        return distinct_words(texts, self.tokenizer)
