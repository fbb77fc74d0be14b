"""Words that a metric leaves unmatched, as spans of the outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.corpora.judgements.spans import MAJOR, MINOR, MarkedOutput, MarkedSpan, SpanTable
from softbleu.engine.prepare import prepare_corpus
from softbleu.engine.runner import MINI_BATCH
from softbleu.errors import InputError, known_name
from softbleu.io.executors import single_threaded_blas
from softbleu.io.tabular import Tabular
from softbleu.metrics.protocols import ShowsPairs, matcher_of
from softbleu.results.api import GivenMetric, plan_metrics
from softbleu.text.tokens import token_places

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.plan import Plan
    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.similarity import WordTable
    from softbleu.metrics.base import Metric
    from softbleu.types import Flags

LEAST_SIMILARITY = 0.8
_UNMATCHED = ("substituted", "deleted")  # Edits of TER that leave a word of the candidate without its like


@dataclass(frozen=True)
class UnmatchedSpans(Tabular):
    """Spans of the words that a metric leaves unmatched."""

    metric: str
    table: SpanTable
    texts: Mapping[str, Sequence[str]]  # Of each system

    def records(self) -> list[dict[str, Any]]:
        """A row per span, segments from 1, characters from 0."""
        return [
            {
                "system": system,
                "segment": number + 1,
                "start": start,
                "end": end,
                "severity": severity,
                "text": self.texts[system][number][start:end],
            }
            for system, segments in self.table.outputs.items()
            for number, (output,) in segments.items()
            for start, end, severity in output.spans
        ]

    def described(self) -> Mapping[str, Any]:
        """The metric."""
        return {"metric": self.metric}


def unmatched_spans(
    corpus: Corpus,
    metric: GivenMetric | Plan,
    *,
    severity: str = MINOR,
    least_similarity: float = LEAST_SIMILARITY,
    name: str = "",
) -> UnmatchedSpans:
    """Find the words of each output that a metric matches with none of a reference; words in a row are one span.

    Metrics over n-grams match single words. Of metrics that compare every word with every other one, such as
    `softbleu`, a word is matched where its greatest similarity exceeds `least_similarity`.

    Parameters
    ----------
    corpus
        Outputs and their references.
    metric
        Any metric that shows its matches, or aligns words.
    severity
        Of all spans: `minor` or `major`.
    least_similarity
        From 0 to 1.
    name
        What the spans are called; the metric's expression unless given.

    Raises
    ------
    InputError
        The metric matches no words.
    """
    plan = plan_metrics(metric)
    metric = plan.only
    known_name("severity", severity, (MINOR, MAJOR))
    if not 0 <= least_similarity <= 1:
        raise InputError(f"the least similarity is a number from 0 to 1, not {least_similarity}")
    if not isinstance(metric, ShowsPairs) and matcher_of(metric) is None:
        raise InputError(
            f"metric {metric.name!r} matches no words: take one that does, such as bleu, vleu, ter or meteor"
        )
    requires = metric.requires
    prepared = prepare_corpus(corpus, metric.tokenizer, requires)
    words = prepared.table(metric.vector_choice, requires).words if requires.table else None
    parts = [block.load().candidates for block in corpus.blocks()]
    texts = {system: [*chain.from_iterable(part[system] for part in parts)] for system in corpus.systems}
    outputs: dict[str, dict[int, list[MarkedOutput]]] = {system: {} for system in corpus.systems}
    first = 0
    with single_threaded_blas():
        for block in prepared.blocks():
            for system, chunk in zip(corpus.systems, block.chunks(), strict=True):
                lines = chunk.candidates.surface_forms(prepared.words)
                pairs = zip(lines, _matched(metric, chunk, words, least_similarity), strict=True)
                for number, (tokens, matched) in enumerate(pairs, start=first):
                    spans = _spans(tokens, matched.tolist(), texts[system][number], severity)
                    outputs[system][number] = [MarkedOutput(str(metric), tuple(spans))]
            first += len(block)
    return UnmatchedSpans(str(metric), SpanTable(name or str(metric), outputs), texts)


def _matched(metric: Metric, chunk: Chunk, words: WordTable | None, least: float) -> Iterator[Flags]:
    """Whether each word of each candidate is matched."""
    for start in range(0, len(chunk), MINI_BATCH):
        piece = chunk.part(start, min(start + MINI_BATCH, len(chunk)))
        lengths = piece.candidates.lengths
        matched = np.zeros(int(lengths.sum()), bool)
        ends = np.cumsum(lengths)
        if isinstance(metric, ShowsPairs):
            for first, pairs in zip((ends - lengths).tolist(), metric.pairs(piece, words), strict=True):
                for pair in pairs:
                    like = pair.kind not in _UNMATCHED if pair.similarity is None else pair.similarity > least
                    matched[first + pair.start : first + pair.start + pair.length] |= like
        elif (matcher := matcher_of(metric)) is not None:
            vectors = None if words is None else words.vectors
            single = matcher.matches(piece, vectors, 1)[0]
            matched[single.starts] = single.matched > 0
        yield from np.split(matched, ends[:-1])


def _spans(tokens: Sequence[str], matched: Sequence[bool], line: str, severity: str) -> Iterator[MarkedSpan]:
    """Spans of the tokens that are not matched, where the line has them.

    >>> list(_spans(["a", "b", "c"], [True, False, False], "a b c", "minor"))
    [MarkedSpan(start=2, end=5, severity='minor')]
    """
    start = end = -1
    for (first, last), like in zip(token_places(tokens, line), matched, strict=True):
        if like and start >= 0:
            yield MarkedSpan(start, end, severity)
            start = -1
        elif not like and first < last:
            start, end = first if start < 0 else start, last
    if start >= 0:
        yield MarkedSpan(start, end, severity)
