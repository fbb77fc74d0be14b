"""Score corpora: the one place where blocks are handed out, rows summed and scores made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, Self, get_args

import numpy as np

from softbleu.corpora.files import open_text
from softbleu.corpora.segments import BLOCK
from softbleu.errors import InputError, UnknownNameError
from softbleu.kernels import KernelName, choose_kernels
from softbleu.metrics.softbleu import IdfCorpus, rarity_of
from softbleu.scoring.blocks import BlockStatistics, BlockWork, Level, WordWork, count_documents
from softbleu.scoring.executors import local_executor, run_in_order, single_threaded_blas
from softbleu.scoring.vectors import OPTIONAL, CorpusVectors
from softbleu.signature import signature_of
from softbleu.tokens import Tokenizer, Vocabulary, character_grams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.corpora.parallel import FileBlock
    from softbleu.corpora.segments import Segments
    from softbleu.metrics import Metric, Score
    from softbleu.metrics.base import ReferenceScore
    from softbleu.scoring.vectors import VectorChoice
    from softbleu.types import Integers, Progress


NO_VECTORS = "this matcher compares words by vectors: name some, e.g. vectors='glove-6b-100d'"


class Corpus(Protocol):
    """What can be scored: `Segments` in memory, or `ParallelFiles`."""

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""

    def __len__(self) -> int: ...

    def blocks(self) -> Iterator[Segments | FileBlock]:
        """Blocks of consecutive segments."""

    def only(self, system: str) -> Self:
        """The same corpus with one of its systems."""


@dataclass(frozen=True)
class Coverage:
    """How many tokens had a vector, and how many words only a zero one."""

    candidate_tokens: int
    candidate_known: int
    reference_tokens: int
    reference_known: int
    zero_words: int

    def as_dict(self) -> dict[str, Any]:
        """Counts by name."""
        return {
            "candidate": {"tokens": self.candidate_tokens, "known": self.candidate_known},
            "reference": {"tokens": self.reference_tokens, "known": self.reference_known},
            "zero_words": self.zero_words,
        }


@dataclass(frozen=True)
class Result:
    """The score of one system."""

    name: str
    score: Score
    signature: str
    """Everything the score depends on."""
    short_signature: str = ""
    """The same without what has its default."""
    coverage: Coverage | None = None
    """None when no similarity was looked at."""
    segments: tuple[Score, ...] | None = None
    """Scores of the segments, at segment level."""
    references: tuple[ReferenceScore, ...] | None = None
    """Scores against single references, at reference level."""


def score_corpus(
    corpus: Corpus,
    metric: Metric,
    tokenizer: Tokenizer | None = None,
    vectors: VectorChoice | None = None,
    *,
    level: Level = "corpus",
    segment_metric: Metric | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    kernels: KernelName = "auto",
    progress: Progress | None = None,
) -> list[Result]:
    """Score every system of a corpus.

    Parameters
    ----------
    corpus : `Segments`, or files opened by `ParallelFiles.open`
    metric : what to compute
    tokenizer : how lines become tokens; at whitespace unless given
    vectors : word vectors, for metrics that look at similarities
    level : `segment` gives the score of each segment, too; `macro` averages the segment scores;
        `reference` gives the score against each reference
    segment_metric : scores the segments' statistics, where that differs from `metric` (smoothing, say)
    jobs : processes to use (threads, where compiled kernels do the work); the digits do not depend on it
    executor : any other executor to use instead, e.g. that of a cluster
    kernels : `numpy`, `numba`, or `auto`: whichever is faster for the size of the text
    progress : called with the number of segments done and of all

    Returns
    -------
    One result a system, in the order of the corpus.

    Raises
    ------
    InputError, VectorError
        What cannot be scored, and vectors that cannot be read.
    """
    if level not in get_args(Level):
        raise UnknownNameError("level", level, get_args(Level))
    statistics = collect_statistics(
        corpus,
        metric,
        tokenizer,
        vectors,
        keep_rows=level != "corpus",
        jobs=jobs,
        executor=executor,
        kernels=kernels,
        progress=progress,
    )
    return make_results(statistics, metric, level, segment_metric)


def make_results(
    statistics: Statistics, metric: Metric, level: Level = "corpus", segment_metric: Metric | None = None
) -> list[Result]:
    """Score the statistics of every system; see `score_corpus`."""
    # All numbers of a run are scored alike, and signed once: those of segments, where there are any, say how.
    scorer = metric if level == "corpus" else segment_metric or metric
    signature, short = (statistics.signature(scorer, level, short=short) for short in (False, True))
    results = []
    for number, system in enumerate(statistics.systems):
        rows, offsets = statistics.rows[number], statistics.offsets
        coverage = None if statistics.coverage is None else statistics.coverage[number]
        if level == "macro" or (level != "corpus" and not scorer.has_corpus_score):
            scores = [each.score for each in scorer.segment_scores(rows, offsets)]
            score = replace(scorer.pooled(rows, offsets), score=float(np.mean(scores)))
        else:
            score = scorer.summarise(rows, offsets)
        result = Result(system, score, signature, short, coverage)
        if level == "segment":
            result = replace(result, segments=tuple(scorer.segment_scores(rows, offsets)))
        elif level == "reference":
            result = replace(result, references=tuple(scorer.reference_scores(rows, offsets)))
        results.append(result)
    return results


@dataclass(frozen=True)
class Statistics:
    """What a metric needs to know of a corpus, for every system."""

    systems: tuple[str, ...]
    rows: Integers
    """(systems, rows, k); one row a segment, one for each reference of each segment, or a single sum."""
    offsets: Integers
    """Segment s has the rows ``offsets[s]`` to ``offsets[s + 1]``; a sum counts as one segment."""
    tokenizer: Tokenizer
    vectors: dict[str, object]
    """The vectors' part of the signature; empty when no similarity was looked at."""
    coverage: tuple[Coverage, ...] | None = None
    """None when no similarity was looked at."""

    def signature(self, metric: Metric, level: Level = "corpus", *, short: bool = False, **more: object) -> str:
        """Everything that a score by this metric depends on, and further settings."""
        vectors = {key: v for key, v in self.vectors.items() if not (short and OPTIONAL.get(key, self) == v)}
        return signature_of(metric, self.tokenizer, short=short, **vectors, level=level, **more)


def collect_statistics(
    corpus: Corpus,
    metric: Metric,
    tokenizer: Tokenizer | None = None,
    vectors: VectorChoice | None = None,
    *,
    keep_rows: bool = False,
    jobs: int = 1,
    executor: Executor | None = None,
    kernels: KernelName = "auto",
    progress: Progress | None = None,
) -> Statistics:
    """Compute the statistics of a corpus, in one pass over it.

    Without `keep_rows` only their sum is kept, unless the metric's corpus score needs more: memory does not grow
    with the corpus. The other parameters are those of `score_corpus`.
    """
    if jobs < 1:
        raise InputError(f"the number of jobs must be at least 1, not {jobs}")
    if metric.needs_vectors and vectors is None:
        raise InputError(NO_VECTORS)
    tokenizer = tokenizer or Tokenizer()
    if metric.needs_gold and tokenizer.name != "none":
        raise InputError(f"metric {metric.name!r} counts words as the gold file does: leave out --tokenize")
    size = int(getattr(corpus, "bytes", 0))
    twin = choose_kernels(kernels, size).NAME
    compiled = twin == "numba" and tokenizer.splits_at_whitespace and not metric.needs_vectors
    work = BlockWork(metric, tokenizer, None, twin, keep_rows=keep_rows or metric.needs_rows)
    with ExitStack() as stack:
        if executor is None and jobs > 1:
            executor = stack.enter_context(local_executor(jobs, threads=compiled))
        if vectors is None or not metric.needs_vectors:
            total = _add_up(work, corpus, executor, 2 * jobs, progress)
            return Statistics(corpus.systems, total.rows, total.offsets, tokenizer, {})
        prepared = prepare_vectors(corpus, tokenizer, vectors, executor, 2 * jobs, **word_needs(metric))
        stack.enter_context(single_threaded_blas())
        shared = prepared if executor is None else stack.enter_context(prepared.stored())
        total = _add_up(replace(work, vectors=shared), corpus, executor, 2 * jobs, progress)
    identity = vectors.identity(prepared.identity)
    coverage = tuple(Coverage(a, b, c, d, prepared.zero_words) for a, b, c, d in total.coverage.tolist())
    return Statistics(corpus.systems, total.rows, total.offsets, tokenizer, identity, coverage)


def _add_up(
    work: BlockWork, corpus: Corpus, executor: Executor | None, window: int, progress: Progress | None
) -> BlockStatistics:
    parts: list[BlockStatistics] = []
    done = 0
    for part in run_in_order(work, corpus.blocks(), executor, window):
        if work.keep_rows or not parts:
            parts.append(part)
        else:
            parts[0] = BlockStatistics(parts[0].rows + part.rows, parts[0].counts, parts[0].coverage + part.coverage)
        done = min(done + BLOCK, len(corpus))
        if progress is not None:
            progress(done, len(corpus))
    return BlockStatistics(
        np.concatenate([part.rows for part in parts], axis=1),
        np.concatenate([part.counts for part in parts]),
        sum((part.coverage for part in parts[1:]), start=parts[0].coverage),
    )


def prepare_vectors(
    corpus: Corpus,
    tokenizer: Tokenizer,
    vectors: VectorChoice,
    executor: Executor | None = None,
    window: int = 2,
    *,
    frequencies: bool = False,
    idf: IdfCorpus | str | None = None,
    spelling: bool = False,
) -> CorpusVectors:
    """Find the words of a corpus, in one pass over it, and read their vectors.

    Parameters
    ----------
    corpus, tokenizer, vectors : what is to be scored, and how its words are compared
    executor, window : where the work is done
    frequencies : take down how frequent words are among the references' tokens
    idf : take down how rare words are among the `references`, or in another corpus
    spelling : take down the words' character n-grams
    """
    in_references: set[str] = set()
    words: set[str] = set()
    counts: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    lines = 0
    work = WordWork(tokenizer, frequencies, idf == "references")
    for found in run_in_order(work, corpus.blocks(), executor, window):
        in_references |= found.of_references
        words |= found.of_references | found.of_candidates
        counts.update(found.frequencies)
        documents.update(found.documents)
        lines += found.lines
    # The references' words come first: what is taken from them does not depend on the systems.
    ordered = [*sorted(in_references), *sorted(words - in_references)]
    vocabulary = Vocabulary((word, code) for code, word in enumerate(ordered))
    prepared = CorpusVectors.of(vocabulary, vectors.select(ordered), len(in_references), normalize=vectors.normalize)
    more: dict[str, NDArray[Any]] = {}
    if frequencies:
        more["frequencies"] = np.array([counts[word] for word in ordered]) / max(counts.total(), 1)
    if isinstance(idf, IdfCorpus):
        texts = list(open_text(idf.location))
        if not texts:
            raise InputError(f"{idf.location}: an empty text cannot say how rare words are")
        documents, lines = count_documents(texts, tokenizer), len(texts)
    if idf is not None:
        more["rarity"] = rarity_of(np.array([documents[word] for word in ordered], np.int64), lines)
    if spelling:
        more["grams"], more["gram_bounds"] = character_grams(ordered)
    return replace(prepared, vectors=replace(prepared.vectors, **more))


def word_needs(metric: Metric) -> dict[str, Any]:
    """What `prepare_vectors` shall take down for a metric."""
    return {
        "frequencies": metric.needs_frequencies,
        "idf": metric.rarity_source,
        "spelling": metric.needs_spelling,
    }
