"""Statistics of text that comes batch by batch: what is kept of it to score all of it at any time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Literal

import numpy as np

from softbleu.corpora.validation import Blank, usual_blank
from softbleu.embeddings.choice import NO_VECTORS, VectorChoice
from softbleu.engine.plan import requirements_of
from softbleu.engine.prepare import CorpusWords, PreparedCorpus
from softbleu.engine.scorer import SegmentScorer
from softbleu.engine.statistics import Rows, Statistics
from softbleu.engine.worker import Task, Worker, joined_rows
from softbleu.io.platform import single_threaded_blas
from softbleu.metrics.aggregation import RowStream
from softbleu.metrics.protocols import ReadsRows
from softbleu.metrics.result import Coverage

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Segments
    from softbleu.metrics.base import Metric

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


class Totals:
    """Statistics of all segments so far by a metric that needs no text of them; see `reason_for_text`.

    Where rows add up, a sum is kept. References that are drawn at random, and choices that hang on the segments
    before, need the row of each segment, of integers.
    """

    def __init__(self, metric: Metric, *, keep_rows: bool) -> None:
        self.metric, self.keep_rows = metric, keep_rows
        self.segments = self.blank = 0
        self._parts: dict[Blank, list[Rows]] = {"empty": []}
        self._identity: str | None = None
        self._zero_words: set[str] = set()
        self._scorer: SegmentScorer | None = None

    def __getstate__(self) -> dict[str, object]:
        """Leave out the metric, which the owner has, and what is open, such as vectors."""
        return {**vars(self), "metric": None, "_scorer": None}

    @property
    def kept(self) -> Kept:
        """Kind of data kept of the segments so far."""
        return "sums" if all(map(_is_sum, self._of(self._way))) else "rows"

    def add(self, batch: Segments) -> None:
        """Add a batch of segments of one system."""
        ways: list[Blank] = ["empty"]
        if self.metric.requires.source and (batch.blank or "missing" in self._parts):
            # Which of the two counts is known at the end.
            ways.append("missing")
        made = {way: list(self._computed(replace(batch, blank_references=way))) for way in ways}
        self._parts = {
            way: self._joined([*self._of(way), *(part for some, *_ in found for part in some)])
            for way, found in made.items()
        }
        for _, prepared, table in made["empty"]:
            self._know(prepared, table)
        self.segments += len(batch)
        self.blank += batch.blank

    def merge(self, other: Totals) -> None:
        """Add the segments of another after one's own."""
        ways = {**self._parts, **other._parts}
        self._parts = {way: self._joined([*self._of(way), *other._of(way)]) for way in ways}
        self.segments += other.segments
        self.blank += other.blank
        self._identity = self._identity or other._identity
        self._zero_words |= other._zero_words

    def collected(self) -> Statistics:
        """Return the statistics of all segments, of one system, for `Statistics.results`."""
        parts, identity = self._of(self._way), self._identity
        if self.kept == "rows":
            parts = [*map(_spread, parts)]
        whole = Rows.joined(self.metric, parts, keep=True)
        counts = whole.counts if self.kept == "rows" else np.ones(1, np.int64)
        coverage = None
        if identity not in (None, NO_VECTORS):
            known = reduce(np.add, [part.coverage for part in self._parts["empty"]])
            coverage = tuple(Coverage(a, b, c, d, len(self._zero_words)) for a, b, c, d in known.tolist())
        without_blank = self.blank > 0 and self._way == "missing"
        more = whole.references, identity, coverage
        return Statistics(("candidate",), self.metric, whole.rows, counts, *more, without_blank=without_blank)

    @property
    def _way(self) -> Blank:
        """Way in which blank references count, for all segments so far."""
        return usual_blank(self.blank, self.segments, source=self.metric.requires.source)

    def _of(self, way: Blank) -> list[Rows]:
        """Return the segments whose blank references count in a way; without any, all ways are one."""
        return self._parts.get(way, self._parts["empty"])

    def _computed(self, batch: Segments) -> Iterator[tuple[list[Rows], PreparedCorpus | None, CorpusWords | None]]:
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
            tables = [one for one in (table and table.words, words) if one]
            with nullcontext() if table is None else single_threaded_blas():
                made = joined_rows([task], worker.of_block(block, 0, tables))
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

    def _joined(self, parts: Sequence[Rows]) -> list[Rows]:
        """Add up consecutive segments wherever a corpus takes no more than their sum."""
        made: list[Rows] = []
        for part in map(self._reduced, parts):
            before = made.pop() if made and _is_sum(made[-1]) and _is_sum(part) else None
            made.append(part if before is None else Rows.joined(self.metric, [before, part], keep=False))
        return made

    def _reduced(self, part: Rows) -> Rows:
        """Add up the rows of segments, unless they are needed."""
        aggregation, rows = self.metric.aggregation, part.rows[0]
        if _is_sum(part) or self.keep_rows or rows.dtype.kind not in "iu":
            return part
        if not (aggregation.adds_up and part.counts.max() == 1):
            if not aggregation.by_segment or type(aggregation.stream()) is not RowStream:
                return part  # References are drawn at random, or chosen after the segments before
            rows = rows[aggregation.chosen(rows, np.concatenate(([0], np.cumsum(part.counts))))]
        return replace(part, rows=rows.sum(axis=0)[None, None], counts=np.zeros(0, np.int64))


def _is_sum(part: Rows) -> bool:
    """Whether rows are a sum, which has no counts here."""
    return not len(part.counts)


def _spread(part: Rows) -> Rows:
    """Return rows of each segment; those of a sum are 0 but for one."""
    if not _is_sum(part):
        return part
    rows = np.zeros((1, part.segments, part.rows.shape[2]), part.rows.dtype)
    rows[0, 0] = part.rows[0, 0]
    return replace(part, rows=rows, counts=np.ones(part.segments, np.int64))
