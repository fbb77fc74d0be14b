"""One segment at a time: a corpus of one segment each, for which the plan and the vectors stay open."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.corpora.segments import Segments
from softbleu.embeddings import open_vectors
from softbleu.embeddings.memory import KeptVectors
from softbleu.engine.plan import check_requirements, make_plan
from softbleu.engine.prepare import prepare_segment
from softbleu.engine.worker import Task, Worker
from softbleu.io.executors import single_threaded_blas
from softbleu.kernels import choose_kernels

if TYPE_CHECKING:
    from softbleu.corpora.edits import GoldSegment
    from softbleu.metrics.base import Metric
    from softbleu.metrics.result import Score


class SentenceScorer:
    """Scores segments by a metric, each as a corpus of its own; plans it and opens vectors once."""

    def __init__(self, metric: Metric) -> None:
        (self._metric,) = make_plan([metric]).metrics
        at_level = self._metric.at_level("segment")
        self._requires, self._aggregation = at_level.requires, at_level.aggregation
        task = Task(at_level, 0 if self._requires.table else None, keep_rows=True)
        self._worker = Worker((task,), metric.tokenizer, self._requires, "numpy")
        choice = self._metric.vector_choice
        self._choice = choice
        self._words = self._requires.vectors and not (choice.in_context or choice.without_vectors)
        self._vectors: KeptVectors | None = None
        self._checked: set[tuple[bool, ...]] = set()  # Which inputs together have been seen to do

    def score(
        self,
        candidate: str,
        references: str | Sequence[str] | None,
        source: str | None = None,
        gold: GoldSegment | None = None,
    ) -> Score:
        """Score a segment."""
        choice, requires = self._choice, self._requires
        if self._words and self._vectors is None:
            self._vectors = KeptVectors(open_vectors(choice.vectors), choice.vector_case)
        sources = None if source is None else [source]
        if gold is None:
            referred: Any = None if references is None and source is not None else [references]
            corpus = Segments.of([candidate], referred, sources)
        else:
            corpus = Segments.of_gold([candidate], [gold], sources)
        inputs = corpus.source is None, corpus.gold is None, corpus.has_references
        if inputs not in self._checked:
            check_requirements(corpus, self._metric)
            self._checked.add(inputs)
        prepared, block = prepare_segment(corpus, self._worker.tokenizer, requires, self._vectors)
        tables = [prepared.table(choice, requires).words] if requires.table else []
        chunks = list(block.chunks(0, 1, gold=requires.by_annotator))
        # Several threads of a library may round otherwise than those of a corpus, and do not bear forks.
        with single_threaded_blas() if tables else nullcontext():
            ((_, (rows,)),) = self._worker.rows(chunks, tables, choose_kernels("numpy"), chunks)
        score: Score = self._aggregation.segment_scores(rows, np.array([0, len(rows)]))[0]
        return score
