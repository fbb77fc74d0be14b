"""One segment at a time: vectors stay open, and what is known of words is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.corpora.segments import Segments
from softbleu.embeddings import open_vectors
from softbleu.embeddings.memory import KeptVectors
from softbleu.engine.plan import check_requirements, make_plan
from softbleu.engine.runner import collect_statistics
from softbleu.engine.statistics import make_results
from softbleu.engine.worker import Task, Worker
from softbleu.kernels import small_backend
from softbleu.lattices.coding import LatticeLines, NetworkTokenizer
from softbleu.matching.ngrams import Chunk
from softbleu.matching.similarity import TokenVectors, WordTable
from softbleu.metrics.idf import rarity_of
from softbleu.text.tokens import Tokens, word_features

if TYPE_CHECKING:
    from softbleu.metrics.base import Metric
    from softbleu.metrics.result import Score


class SentenceScorer:
    """Scores segments by a metric, each as a corpus of its own; plans it and opens vectors once."""

    def __init__(self, metric: Metric) -> None:
        (self._metric,) = make_plan([metric]).metrics
        at_level = self._metric.at_level("segment")
        tokenizer, choice = self._metric.tokenizer, self._metric.vector_choice
        self._requires = requires = at_level.requires
        task = Task(at_level, 0 if requires.table else None, keep_rows=True)
        self._worker = Worker((task,), tokenizer, requires, "numpy")
        self._aggregation = at_level.aggregation
        self._tokenizer = tokenizer
        self._by_word, self._words = tokenizer.by_word, tokenizer.words
        self._split = tokenizer.word_splitter if tokenizer.by_word else tokenizer.splitter
        # Which words meet nothing but themselves, where there are any.
        measure = choice.measure
        self._self_only = None if measure.self_only([]) is None else measure.self_only
        # What looks at more than the words of the segment is prepared as a corpus is.
        self._plain = not (
            requires.by_annotator
            or requires.frequency
            or requires.idf not in (None, "references")
            or (requires.vectors and (choice.in_context or measure.needs_scope or not choice.normalize))
        )

    def score(self, candidate: str, references: str | Sequence[str], source: str | None = None) -> Score:
        """Score a segment."""
        texts = [references] if isinstance(references, str) else references
        if not self._is_fine(candidate, texts, source):
            texts = self._checked(candidate, texts, source)
        if not self._plain:
            return self._as_corpus(candidate, texts, source)
        chunk, words = self._chunk(candidate, texts, source)
        tables = [self._table(words, chunk.references)] if self._requires.table else []
        ((_, (rows,)),) = self._worker.rows([chunk], tables, small_backend)
        found: Score = self._aggregation.segment_scores(rows, np.array([0, len(rows)]))[0]
        return found

    def _is_fine(self, candidate: object, references: object, source: object) -> bool:
        """Whether there is nothing to look at more closely: texts, and all that is needed."""
        if self._requires.gold or self._requires.pieces or type(candidate) is not str:
            return False
        if not isinstance(references, list | tuple) or not references:
            return False
        if source is None:
            return not self._requires.source and all(type(text) is str for text in references)
        return type(source) is str and all(type(text) is str for text in references)

    def _checked(self, candidate: str, references: Any, source: str | None) -> list[str]:
        """See that a segment is text and has what the metric needs; return its references."""
        given = None if references is None and source is not None else [references]
        corpus = Segments.of([candidate], given, None if source is None else [source])
        check_requirements(corpus, self._metric)
        return list(corpus.references[0])

    def _chunk(self, candidate: str, references: Sequence[str], source: str | None) -> tuple[Chunk, list[str]]:
        """Code a segment; also its words, by their codes."""
        tokenizer, networks = self._tokenizer, []
        if isinstance(tokenizer, NetworkTokenizer):
            networks = [tokenizer.network(text) for text in references]
            referred = [tokenizer.words_of(network) for network in networks]
        else:
            referred = [self._tokens(tokenizer.reference(text)) for text in references]
        own, other = self._tokens(candidate), None if source is None else self._tokens(source)
        # As in a corpus, the words of the references come first, and words are sorted.
        known = set().union(*referred)
        words = [*sorted(known), *sorted({*own, *(other or ())} - known)]
        codes = {word: code for code, word in enumerate(words)}
        lines = _coded(referred, codes)
        if isinstance(tokenizer, NetworkTokenizer):
            lines = LatticeLines.coded(networks, tokenizer, codes)
        offsets = np.array([0, len(references)])
        return Chunk(_coded([own], codes), lines, offsets, None if other is None else _coded([other], codes)), words

    def _tokens(self, text: str) -> list[str]:
        if self._by_word:
            return [token for word in self._words(text) for token in self._split(word)]
        return list(self._split(text))

    @cached_property
    def _vectors(self) -> KeptVectors:
        choice = self._metric.vector_choice
        return KeptVectors(open_vectors(choice.vectors), choice.vector_case)

    def _table(self, words: Sequence[str], references: Tokens) -> WordTable:
        requires = self._requires
        features: dict[str, Any] = {}
        for part in requires.parts:
            features |= word_features(part, words)
        if requires.idf is not None:
            counts, bounds = np.zeros(len(words), np.int64), references.offsets.tolist()
            for start, stop in pairwise(bounds):
                # A word that a line has twice counts once.
                counts[references.codes[start:stop]] += 1
            features["rarity"] = rarity_of(counts, len(bounds) - 1)
        if not requires.vectors:
            return WordTable(TokenVectors(np.zeros((len(words), 0), np.float32), np.zeros(len(words))), features)
        rows = self._vectors.rows(words)
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
        alone = self._self_only(words) if self._self_only else None
        return WordTable(TokenVectors(rows, norms, self_only=alone), features)

    def _as_corpus(self, candidate: str, references: Sequence[str], source: str | None) -> Score:
        corpus = Segments.of([candidate], [references], None if source is None else [source])
        (statistics,) = collect_statistics(corpus, [self._metric], level="segment")
        segments: Any = make_results(statistics, "segment")[0].segments
        found: Score = segments[0]
        return found


def _coded(lines: Sequence[Sequence[str]], codes: Mapping[str, int]) -> Tokens:
    numbers = [codes[word] for line in lines for word in line]
    return Tokens(np.array(numbers, np.int32), np.array([0, *accumulate(map(len, lines))], np.int64))
