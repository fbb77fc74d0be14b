"""One segment at a time: a corpus of one segment each, for which the plan and the vectors stay open."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.corpora.corpus import Segments
from softbleu.embeddings import open_vectors
from softbleu.embeddings.memory import KeptVectors
from softbleu.engine.encode import CodedBlock, LineCoder
from softbleu.engine.plan import check_requirements, make_plan
from softbleu.engine.prepare import prepare_segment
from softbleu.io.executors import single_threaded_blas
from softbleu.kernels import choose_kernels
from softbleu.metrics.base import checked_rows

if TYPE_CHECKING:
    from softbleu.corpora.edits import GoldSegment
    from softbleu.metrics.base import Metric
    from softbleu.metrics.result import Score


class SentenceScorer:
    """Scores segments by a metric, each as a corpus of its own; plans it and opens vectors once."""

    def __init__(self, metric: Metric) -> None:
        (metric,) = make_plan([metric]).metrics
        self._metric, self._kernels = metric.at_level("segment"), choose_kernels("numpy")
        self._requires, self._aggregation = self._metric.requires, self._metric.aggregation
        choice = metric.vector_choice
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
        metric, requires = self._metric, self._requires
        if self._words and self._vectors is None:
            choice = metric.vector_choice
            self._vectors = KeptVectors(open_vectors(choice.vectors), choice.vector_case)
        sources = None if source is None else [source]
        if gold is None:
            referred: Any = None if references is None and source is not None else [references]
            corpus = Segments.of([candidate], referred, sources)
        else:
            corpus = Segments.of_gold([candidate], [gold], sources)
        inputs = corpus.source is None, corpus.gold is None, corpus.has_references
        if inputs not in self._checked:
            check_requirements(corpus, metric)
            self._checked.add(inputs)
        if requires.table:
            prepared, block = prepare_segment(corpus, metric.tokenizer, requires, self._vectors)
            words = prepared.table(metric.vector_choice, requires).words
        else:
            block, words = CodedBlock.of(corpus, LineCoder(metric.tokenizer), requires), None
        (chunk,) = block.chunks(gold=requires.by_annotator)
        # Several threads of a library may round otherwise than those of a corpus, and do not bear forks.
        with nullcontext() if words is None else single_threaded_blas():
            rows = checked_rows(metric, chunk, words, self._kernels)
        score: Score = self._aggregation.segment_scores(rows, np.array([0, len(rows)]))[0]
        return score
