"""What a worker does: one block of segments in, rows of statistics out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np

from softbleu.corpora.parallel import FileBlock
from softbleu.errors import InputError
from softbleu.kernels import KernelName, Kernels, choose_kernels
from softbleu.matchers.sweep import matched_by_all
from softbleu.metrics.bleu import Bleu
from softbleu.ngrams import Chunk
from softbleu.tokens import Tokenizer, Tokens, Vocabulary, distinct_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.corpora.segments import Segments
    from softbleu.metrics import Metric
    from softbleu.scoring.vectors import CorpusVectors, StoredVectors
    from softbleu.types import Integers


Level = Literal["corpus", "segment", "macro", "reference"]
PIECE = 512
"""Candidates that are matched together: few enough for the cache. Results do not depend on it."""
LEAST = 32
"""Segments that are matched together, at least, however many systems there are."""


@dataclass(frozen=True)
class BlockStatistics:
    """Statistics of a block, for every system."""

    rows: Integers
    """(systems, rows, k); a single row each where only the sum is kept."""
    counts: Integers
    """Rows of each segment: 1, or as many as it has references."""
    coverage: Integers
    """(systems, 4): tokens of the candidates, those with a vector, tokens of the references, those with a vector."""

    @property
    def offsets(self) -> Integers:
        """Bounds of the segments among the rows."""
        return np.concatenate(([0], np.cumsum(self.counts)))


@dataclass(frozen=True)
class BlockWork:
    """Everything a worker needs to know; small enough to travel with every block."""

    metric: Metric
    tokenizer: Tokenizer
    vectors: CorpusVectors | StoredVectors | None
    kernels: KernelName
    keep_rows: bool

    def __call__(self, block: Segments | FileBlock) -> BlockStatistics:
        """Compute the statistics of a block."""
        kernels = choose_kernels(self.kernels)
        rows, covered, counts = [], [], np.ones(1, np.int64)
        chunks = list(self._chunks(block, kernels))
        for chunk, computed in zip(chunks, self._rows(chunks, kernels), strict=True):
            known = None if self.vectors is None else self.vectors.load().vectors.known
            covered.append(np.zeros(4, np.int64) if known is None else coverage(chunk, known))
            if self.keep_rows:
                references = np.diff(chunk.segment_offsets)
                counts = np.ones(len(chunk), np.int64) if len(computed) == len(chunk) else references
                rows.append(computed)
            else:
                rows.append(computed.sum(axis=0, keepdims=True))
        return BlockStatistics(np.stack(rows), counts, np.stack(covered))

    def _rows(self, chunks: list[Chunk], kernels: Kernels) -> list[Integers]:
        """Rows of statistics of each system."""
        if self.vectors is None:
            return [self.metric.statistics(chunk, None, kernels) for chunk in chunks]
        vectors = self.vectors.load().vectors
        pieces = []
        size = max(PIECE // len(chunks), LEAST)
        for systems in zip(*(chunk.pieces(size) for chunk in chunks), strict=True):
            if isinstance(self.metric, Bleu):
                (matched,) = matched_by_all([self.metric.matcher], systems, vectors, self.metric.order, kernels)
                pieces.append([self.metric.statistics_of(*each) for each in zip(systems, matched, strict=True)])
            else:
                pieces.append([self.metric.statistics(chunk, vectors, kernels) for chunk in systems])
        return [np.concatenate(parts) for parts in zip(*pieces, strict=True)]

    def _chunks(self, block: Segments | FileBlock, kernels: Kernels) -> Iterator[Chunk]:
        """The block once for each system, references coded once."""
        plain = self.tokenizer.splits_at_whitespace and self.vectors is None
        if isinstance(block, FileBlock) and block.gold is None and plain and not self.metric.needs_gold:
            return _chunks_of_texts(block, kernels)
        vocabulary = Vocabulary() if self.vectors is None else self.vectors.load().vocabulary
        return self._chunks_of_lines(block.load(), vocabulary)

    def _chunks_of_lines(self, segments: Segments, vocabulary: Vocabulary) -> Iterator[Chunk]:
        split = self.tokenizer.splitter
        if self.metric.needs_gold:
            yield from self._chunks_of_gold(segments, vocabulary)
            return
        references = vocabulary.encode([split(text) for text in chain.from_iterable(segments.references)])
        offsets = np.zeros(len(segments) + 1, np.int64)
        np.cumsum([len(texts) for texts in segments.references], out=offsets[1:])
        source = None
        if self.metric.needs_source and segments.source is not None:
            source = vocabulary.encode([split(text) for text in segments.source])
        for texts in segments.candidates.values():
            yield Chunk(vocabulary.encode([split(text) for text in texts]), references, offsets, source)

    def _chunks_of_gold(self, segments: Segments, vocabulary: Vocabulary) -> Iterator[Chunk]:
        """Chunks with gold edits; instead of references they have an empty line for each annotator."""
        if segments.gold is None:
            raise InputError(
                f"metric {self.metric.name!r} needs gold edits: name a .m2 file with --gold, or gold=read_m2(…)"
            )
        split = self.tokenizer.splitter

        def code(text: str) -> tuple[int, ...]:
            return tuple(map(vocabulary.__getitem__, split(text)))

        gold = [segment.coded(code) for segment in segments.gold]
        source = vocabulary.encode([split(segment.source) for segment in segments.gold])
        offsets = np.zeros(len(segments) + 1, np.int64)
        np.cumsum([len(segment.annotators) for segment in gold], out=offsets[1:])
        references = vocabulary.encode([()] * int(offsets[-1]))
        for texts in segments.candidates.values():
            yield Chunk(vocabulary.encode([split(text) for text in texts]), references, offsets, source, gold)


def _chunks_of_texts(block: FileBlock, kernels: Kernels) -> Iterator[Chunk]:
    references, candidates, source = block.texts()
    tokens = Tokens(*kernels.code_lines(b"".join((*references, *candidates, *source))))
    count, segments = len(references), len(block)

    def text(number: int) -> Tokens:
        return tokens.lines(number * segments, (number + 1) * segments)

    # The files stand one behind the other; the references of a segment must.
    lines = np.arange(count * segments).reshape(count, segments).T.reshape(-1)
    by_segment = text(0) if count == 1 else tokens.chosen(lines)
    offsets = np.arange(segments + 1) * count
    source_tokens = text(count + len(candidates)) if source else None
    for system in range(len(candidates)):
        yield Chunk(text(count + system), by_segment, offsets, source_tokens)


def coverage(chunk: Chunk, known: NDArray[np.bool_]) -> Integers:
    """Count tokens, and those with a vector: candidates, known, references, known."""
    counts = [
        count
        for tokens in (chunk.candidates, chunk.references)
        for count in (len(tokens.codes), int(known[tokens.codes].sum()))
    ]
    return np.array(counts, np.int64)


@dataclass(frozen=True)
class BlockWords:
    """Words of a block."""

    of_references: set[str]
    of_candidates: set[str]
    frequencies: Counter[str]
    """How often the references have each word, if that was asked for."""
    documents: Counter[str]
    """How many reference lines have each word, if that was asked for."""
    lines: int
    """Reference lines."""


def count_documents(lines: Iterable[str], tokenizer: Tokenizer) -> Counter[str]:
    """Count the lines that have each word.

    >>> sorted(count_documents(["a b a", "b"], Tokenizer()).items())
    [('a', 1), ('b', 2)]
    """
    split = tokenizer.splitter
    return Counter(word for line in lines for word in set(split(line)))


@dataclass(frozen=True)
class WordWork:
    """What a worker does beforehand when vectors are needed: the words that occur."""

    tokenizer: Tokenizer
    frequencies: bool = False
    rarity: bool = False

    def __call__(self, block: Segments | FileBlock) -> BlockWords:
        """Collect and count the words of a block."""
        segments = block.load()
        split = self.tokenizer.splitter
        references = [*chain.from_iterable(segments.references)]
        return BlockWords(
            distinct_words(references, self.tokenizer),
            distinct_words(chain.from_iterable(segments.candidates.values()), self.tokenizer),
            Counter(chain.from_iterable(map(split, references)) if self.frequencies else ()),
            count_documents(references, self.tokenizer) if self.rarity else Counter(),
            len(references),
        )
