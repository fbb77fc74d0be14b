"""One segment at a time: vectors stay open, and what is known of words is kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.corpora.segments import Segments
from softbleu.embeddings import open_vectors
from softbleu.embeddings.memory import KeptVectors
from softbleu.engine.plan import resolve_metric
from softbleu.engine.runner import check_requirements, collect_statistics
from softbleu.engine.statistics import make_results
from softbleu.kernels import small_backend
from softbleu.lattices.coding import LatticeLines, NetworkTokenizer
from softbleu.matching.ngrams import Chunk
from softbleu.matching.similarity import TokenVectors, WordTable
from softbleu.metrics.idf import rarity_of
from softbleu.text.tokens import Tokens, word_features

if TYPE_CHECKING:
    from softbleu.lattices.lattice import WordNetwork
    from softbleu.metrics.base import Metric
    from softbleu.metrics.score import Score


class SentenceScorer:
    """Scores segments by a metric, each as a corpus of its own; resolves it and opens vectors once."""

    def __init__(self, metric: Metric) -> None:
        self._complete = resolve_metric(metric)
        self._metric: Metric = self._complete.at_level("segment")
        tokenizer, requires, choice = self._complete.tokenizer, self._metric.requires, self._complete.vector_choice
        self._tokenizer = tokenizer
        self._by_word, self._words = tokenizer.by_word, tokenizer.words
        self._split = tokenizer.word_splitter if tokenizer.by_word else tokenizer.splitter
        # What looks at more than the words of the segment is prepared as a corpus is.
        self._plain = not (
            requires.gold
            or requires.frequency
            or requires.idf not in (None, "references")
            or (requires.vectors and (choice.in_context or choice.measure.needs_scope or not choice.normalize))
        )

    def score(self, candidate: str, references: str | Sequence[str], source: str | None = None) -> Score:
        """Score a segment."""
        references = check_segment(self._complete, candidate, references, source)
        if not self._plain:
            return self._as_corpus(candidate, references, source)
        networks: list[WordNetwork] = []
        if isinstance(self._tokenizer, NetworkTokenizer):
            networks = [self._tokenizer.network(text) for text in references]
            referred = [self._tokenizer.words_of(network) for network in networks]
        else:
            referred = [self._tokens(self._tokenizer.reference(text)) for text in references]
        lines = [self._tokens(candidate), *referred, *([] if source is None else [self._tokens(source)])]
        count = 1 + len(references)
        # As in a corpus, the words of the references come first, and words are sorted.
        known = sorted({word for line in lines[1:count] for word in line})
        words = [*known, *sorted({word for line in (*lines[:1], *lines[count:]) for word in line}.difference(known))]
        codes = {word: code for code, word in enumerate(words)}
        coded = [[codes[word] for word in line] for line in lines]
        chunk = Chunk(
            _joined(coded[:1]),
            LatticeLines.coded(networks, self._tokenizer, codes)
            if isinstance(self._tokenizer, NetworkTokenizer)
            else _joined(coded[1:count]),
            np.array([0, len(references)]),
            None if source is None else _joined(coded[count:]),
        )
        table = self._table(words, coded[1:count]) if self._metric.requires.table else None
        rows = self._metric.statistics(chunk, table, small_backend)
        found: Score = self._metric.aggregation.segment_scores(rows, np.array([0, len(rows)]))[0]
        return found

    def _as_corpus(self, candidate: str, references: Sequence[str], source: str | None) -> Score:
        corpus = Segments.of([candidate], [references], None if source is None else [source])
        (statistics,) = collect_statistics(corpus, [self._complete], level="segment")
        segments: Any = make_results(statistics, "segment")[0].segments
        found: Score = segments[0]
        return found

    def _tokens(self, text: str) -> list[str]:
        if self._by_word:
            return [token for word in self._words(text) for token in self._split(word)]
        return list(self._split(text))

    @cached_property
    def _vectors(self) -> KeptVectors:
        choice = self._complete.vector_choice
        return KeptVectors(open_vectors(choice.vectors), choice.vector_case)

    def _table(self, words: Sequence[str], references: Sequence[Sequence[int]]) -> WordTable:
        requires = self._metric.requires
        features: dict[str, Any] = {}
        for part in requires.parts:
            features |= word_features(part, words)
        if requires.idf is not None:
            counts = np.zeros(len(words), np.int64)
            for line in references:
                counts[list(set(line))] += 1
            features["rarity"] = rarity_of(counts, len(references))
        if not requires.vectors:
            return WordTable(TokenVectors(np.zeros((len(words), 0), np.float32), np.zeros(len(words))), features)
        rows = self._vectors.rows(words)
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
        alone = self._complete.vector_choice.measure.self_only(words)
        return WordTable(TokenVectors(rows, norms, self_only=alone), features)


def check_segment(metric: Metric, candidate: object, references: object, source: object) -> list[str]:
    """See that a segment is text and has what the metric needs; return its references."""
    listed = [references] if isinstance(references, str) else references
    given: Any = None if listed is None and source is not None else [listed]
    corpus = Segments.of([candidate], given, None if source is None else [source])  # type: ignore[list-item]
    check_requirements(corpus, metric)
    return list(corpus.references[0])


def _joined(lines: Sequence[Sequence[int]]) -> Tokens:
    offsets = np.zeros(len(lines) + 1, np.int64)
    np.cumsum([len(line) for line in lines], out=offsets[1:])
    return Tokens(np.array([code for line in lines for code in line], np.int32), offsets)
