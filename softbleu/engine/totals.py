"""Statistics of text that comes batch by batch: what is kept of it to score all of it at any time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from softbleu.corpora.validation import Blank, usual_blank
from softbleu.embeddings.choice import NO_VECTORS, VectorChoice
from softbleu.engine.plan import requirements_of
from softbleu.engine.prepare import CorpusWords, PreparedCorpus
from softbleu.engine.scorer import SegmentScorer
from softbleu.engine.statistics import Statistics
from softbleu.engine.worker import Task, Worker
from softbleu.io.platform import single_threaded_blas
from softbleu.metrics.aggregation import RowStream
from softbleu.metrics.protocols import ReadsRows
from softbleu.metrics.result import Coverage

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Segments
    from softbleu.engine.checkpoint import BlockStatistics
    from softbleu.metrics.base import Metric
    from softbleu.types import Integers

Kept = Literal["sums", "rows", "text"]


def reason_for_text(metric: Metric) -> str | None:
    """Explain why a metric needs the text of all segments at once; None if their statistics are enough."""
    requires, choice = metric.requires, metric.vector_choice
    if requires.idf == "references":
        return "the rarity of a word depends on all references"
    if requires.frequency:
        return "the weight of a word depends on its frequency in all references"
    if requires.vectors and not choice.normalize:
        return "words without a vector weigh as much as those of all references do on average"
    if requires.vectors and choice.context:
        return "an encoder reads the lines before each line"
    if isinstance(metric, ReadsRows) or requires.delays or requires.gold:
        return "it scores more than outputs and references"
    return None


@dataclass(frozen=True)
class _Run:
    """Consecutive segments, by their rows or by the sum of these."""

    segments: int
    rows: Integers  # (rows, k)
    counts: Integers | None  # Rows of each segment; None of a sum
    references: tuple[int, int]  # Fewest and most references of a segment

    def spread(self) -> tuple[Integers, Integers]:
        """Return rows and counts of all segments; those of a sum are 0 but for one."""
        if self.counts is not None:
            return self.rows, self.counts
        rows = np.zeros((self.segments, self.rows.shape[1]), self.rows.dtype)
        rows[0] = self.rows[0]
        return rows, np.ones(self.segments, np.int64)


class Totals:
    """Statistics of all segments so far by a metric that needs no text of them; see `reason_for_text`.

    Where rows add up, a sum is kept. References that are drawn at random, and choices that hang on the segments
    before, need the row of each segment, of integers.
    """

    def __init__(self, metric: Metric, *, keep_rows: bool) -> None:
        self.metric, self.keep_rows = metric, keep_rows
        self.segments = self.blank = 0
        self._runs: dict[Blank, list[_Run]] = {"empty": []}
        self._coverage = np.zeros(4, np.int64)
        self._identity: str | None = None
        self._zero_words: set[str] = set()
        self._scorer: SegmentScorer | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the metric, which the owner has, and what is open, such as vectors."""
        return {**vars(self), "metric": None, "_scorer": None}

    @property
    def kept(self) -> Kept:
        """Kind of data kept of the segments so far."""
        return "rows" if any(run.counts is not None for run in self._of(self._way)) else "sums"

    def add(self, batch: Segments) -> None:
        """Add a batch of segments of one system."""
        ways: list[Blank] = ["empty"]
        if self.metric.requires.source and (batch.blank or "missing" in self._runs):
            # Which of the two counts is known at the end.
            ways.append("missing")
        made = {way: list(self._computed(replace(batch, blank_references=way))) for way in ways}
        runs = {
            way: [_Run(len(part.counts), part.rows[0], part.counts, part.references) for part, _, _ in parts]
            for way, parts in made.items()
        }
        self._runs = {way: self._joined([*self._of(way), *added]) for way, added in runs.items()}
        for part, prepared, table in made["empty"]:
            self._coverage = self._coverage + part.coverage[0]
            self._know(prepared, table)
        self.segments += len(batch)
        self.blank += batch.blank

    def merge(self, other: Totals) -> None:
        """Add the segments of another after one's own."""
        ways = {**self._runs, **other._runs}
        self._runs = {way: self._joined([*self._of(way), *other._of(way)]) for way in ways}
        self.segments += other.segments
        self.blank += other.blank
        self._identity = self._identity or other._identity
        self._zero_words |= other._zero_words
        self._coverage = self._coverage + other._coverage

    def collected(self) -> Statistics:
        """Return the statistics of all segments, of one system, for `Statistics.results`."""
        runs = self._of(self._way)
        if any(run.counts is not None for run in runs):
            rows, counts = (np.concatenate(parts) for parts in zip(*(run.spread() for run in runs), strict=True))
        else:
            rows, counts = runs[0].rows, np.ones(1, np.int64)
        without_blank = self.blank > 0 and self._way == "missing"
        coverage = None
        if self._identity not in (None, NO_VECTORS):
            candidates, known, references, known_references = self._coverage.tolist()
            zero = len(self._zero_words)
            coverage = (Coverage(candidates, known, references, known_references, zero),)
        return Statistics(
            ("candidate",),
            self.metric,
            rows[None],
            counts,
            _range(runs),
            self._identity,
            coverage,
            without_blank=without_blank,
        )

    @property
    def _way(self) -> Blank:
        """Way in which blank references count, for all segments so far."""
        return usual_blank(self.blank, self.segments, source=self.metric.requires.source)

    def _of(self, way: Blank) -> list[_Run]:
        """Return the segments whose blank references count in a way; without any, all ways are one."""
        return self._runs.get(way, self._runs["empty"])

    def _computed(
        self, batch: Segments
    ) -> Iterator[tuple[BlockStatistics, PreparedCorpus | None, CorpusWords | None]]:
        """Compute the statistics of a batch, block by block, with the words of each."""
        if self._scorer is None:
            self._scorer = SegmentScorer(self.metric, "corpus")
        # As in a run, whose workers are given tables of vectors.
        task = Task(
            replace(self.metric, vector_choice=VectorChoice()),
            0 if self.metric.requires.table else None,
            keep_rows=True,
        )
        for part in batch.blocks():
            prepared, block, words = self._scorer.prepared(replace(part, blank_references=batch.blank_references))
            table = None if prepared is None else prepared.table(self.metric.vector_choice, self.metric.requires)
            worker = Worker((task,), self.metric.tokenizer, requirements_of(self.metric), "auto")
            with nullcontext() if table is None else single_threaded_blas():
                (made,) = worker.of_block(block, 0, [one for one in (table and table.words, words) if one])
            yield made, prepared, table

    def _know(self, prepared: PreparedCorpus | None, table: CorpusWords | None) -> None:
        """Keep the name of the vectors, and words whose vector is zero."""
        if prepared is None or table is None or not self.metric.requires.vectors:
            return
        self._identity = table.identity
        if table.zero_words and prepared.select is not None:
            select = prepared.select
            unknown = [word for word in prepared.words if word not in self._zero_words]
            self._zero_words.update(word for word in unknown if select([word]).selected.zero_words)

    def _joined(self, runs: Sequence[_Run]) -> list[_Run]:
        """Add up consecutive segments wherever a corpus takes no more than their sum."""
        made: list[_Run] = []
        for run in runs:
            reduced = self._reduced(run)
            if made and made[-1].counts is None and reduced.counts is None:
                last = made.pop()
                segments, rows = last.segments + reduced.segments, last.rows + reduced.rows
                made.append(_Run(segments, rows, None, _range([last, reduced])))
            else:
                made.append(reduced)
        return made

    def _reduced(self, run: _Run) -> _Run:
        """Add up the rows of segments, unless they are needed."""
        aggregation = self.metric.aggregation
        if run.counts is None or self.keep_rows or run.rows.dtype.kind not in "iu":
            return run
        if aggregation.adds_up and run.counts.max() == 1:
            return replace(run, rows=run.rows.sum(axis=0, keepdims=True), counts=None)
        if not aggregation.by_segment or type(aggregation.stream()) is not RowStream:
            return run  # References are drawn at random, or chosen after the segments before
        chosen = aggregation.chosen(run.rows, np.concatenate(([0], np.cumsum(run.counts))))
        return replace(run, rows=run.rows[chosen].sum(axis=0, keepdims=True), counts=None)


def _range(runs: Sequence[_Run]) -> tuple[int, int]:
    """Return the fewest and most references of a segment."""
    return min(run.references[0] for run in runs), max(run.references[1] for run in runs)
