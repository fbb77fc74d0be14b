"""Batches of segments that are scored at once, each as a corpus of its own; whole, or prefix by prefix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import repeat, starmap, takewhile
from typing import TYPE_CHECKING

import numpy as np

from softbleu.corpora.corpus import Segments
from softbleu.corpora.validation import count_blank, usual_blank
from softbleu.engine.prefixes import EveryTokens
from softbleu.engine.prepare import SentenceScorer
from softbleu.engine.streams import check_partial
from softbleu.engine.worker import MINI_BATCH, MOST_TOGETHER
from softbleu.io.platform import single_threaded_blas
from softbleu.kernels import choose_kernels
from softbleu.matching.partial import prefixes
from softbleu.metrics.guards import checked_rows, compared

if TYPE_CHECKING:
    from softbleu.matching.ngrams import Chunk, WordTable
    from softbleu.metrics.base import Metric
    from softbleu.text.tokens import Tokenizer
    from softbleu.types import Floats, Integers

_PREFIXES = 1 << 18  # Tokens of prefixes that are compared together, unless an output alone has more


@dataclass(frozen=True)
class SegmentBatch:
    """Checked texts of some segments, to be scored one by one."""

    candidates: Sequence[str]
    references: Sequence[Sequence[str]]
    source: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.candidates)

    def part(self, start: int, stop: int) -> SegmentBatch:
        """Return the segments from `start` up to `stop`."""
        texts = self.candidates[start:stop], self.references[start:stop]
        return SegmentBatch(*texts, None if self.source is None else self.source[start:stop])

    def segments(self, *, source: bool) -> Segments:
        """Make a corpus, in which blank references count as in a corpus of one segment.

        `source` tells whether the metric looks at the source.
        """
        blank = count_blank(self.references)
        way = usual_blank(1, 1, source=source) if blank else None
        return Segments({"": self.candidates}, self.references, self.source, blank=blank, blank_references=way)


class BatchScorer:
    """Scores batches of segments by a metric, with the digits of `Metric.sentence_score`; opens vectors once.

    Segments are scored together unless words weigh by how rare they are in the corpus, which is each segment alone.
    Of the text, tokens of references are kept for the next batches, and what encoders and vectors cache.
    """

    def __init__(self, metric: Metric) -> None:
        self._scorer = SentenceScorer(metric)
        self.metric, self._kernels = self._scorer.metric, choose_kernels("numpy")
        # Its references are cut here.
        self._whole = replace(self.metric, partial=False) if self.metric.partial else self.metric
        requires = self.metric.requires
        self._alone = requires.frequency or requires.idf == "references" or requires.by_annotator

    def scores(self, batch: SegmentBatch) -> Floats:
        """Score whole segments: (segments,)."""
        sources = batch.source or repeat(None)
        score, segments = self._scorer.direct.score, zip(batch.candidates, batch.references, sources, strict=False)
        direct = [*takewhile(lambda one: one is not None, starmap(score, segments))]
        if len(direct) == len(batch):
            return np.array(direct, np.float64)
        chunks = ((compared(self.metric, chunk), words) for chunk, words in self._chunks(batch))
        found = [self._numbers(chunk, words) for chunk, words in chunks]
        return np.concatenate([np.zeros(0), *found])

    def prefix_scores(self, batch: SegmentBatch, every: int = 1) -> Iterator[tuple[Integers, Floats]]:
        """Score the prefixes of each output of `every` so many tokens, and the whole, by `partial` scores.

        Yields for each output the tokens of its prefixes, and their scores.
        """
        check_partial(self.metric)
        cuts = EveryTokens(every)
        for chunk, words in self._chunks(batch):
            owner, sizes = cuts.cut(chunk.candidates.lengths)
            numbers = [self._numbers(some, words) for some in _prefixes(chunk, owner, sizes, self.metric.tokenizer)]
            bounds = np.searchsorted(owner, np.arange(1, len(chunk)))
            yield from zip(np.split(sizes, bounds), np.split(np.concatenate(numbers), bounds), strict=True)

    def _chunks(self, batch: SegmentBatch) -> Iterator[tuple[Chunk, WordTable | None]]:
        """Code a batch: chunks of segments that are compared together, with the table of their words."""
        step = 1 if self._alone else MINI_BATCH
        for start in range(0, len(batch), step):
            segments = batch.part(start, start + step).segments(source=self.metric.requires.source)
            block, words = self._scorer.block(segments)
            for first, end in block.cuts(step, MOST_TOGETHER):
                for chunk in block.chunks(first, end, gold=self.metric.requires.by_annotator):
                    yield chunk, words

    def _numbers(self, chunk: Chunk, words: WordTable | None) -> Floats:
        """Score the segments of a chunk, whose references are cut already where the metric would cut them."""
        with nullcontext() if words is None else single_threaded_blas():
            rows = checked_rows(self._whole, chunk, words, self._kernels)
        offsets = np.arange(len(chunk) + 1) if len(rows) == len(chunk) else chunk.segment_offsets
        return self.metric.aggregation.segment_numbers(rows, offsets)


def _prefixes(chunk: Chunk, owner: Integers, sizes: Integers, tokenizer: Tokenizer) -> Iterator[Chunk]:
    """Make segments of prefixes, see `softbleu.matching.partial.prefixes`: few enough at once for the memory."""
    of_references = chunk.references.offsets[chunk.segment_offsets]
    before = np.cumsum(sizes + np.diff(of_references)[owner])
    start = 0
    while start < len(owner):
        fitting = int(np.searchsorted(before, _PREFIXES + (before[start - 1] if start else 0), side="right"))
        stop = max(fitting, start + 1)
        first, last = int(owner[start]), int(owner[stop - 1]) + 1
        yield prefixes(chunk.part(first, last), owner[start:stop] - first, sizes[start:stop], tokenizer)
        start = stop
