"""Score corpora: the one place where blocks are handed out, rows summed and scores made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from softbleu.corpora.segments import BLOCK
from softbleu.errors import InputError
from softbleu.kernels import KernelName, choose_kernels
from softbleu.scoring.blocks import BlockWork, Level, WordWork
from softbleu.scoring.executors import local_executor, run_in_order, single_threaded_blas
from softbleu.scoring.vectors import CorpusVectors
from softbleu.signature import signature_of
from softbleu.tokens import Tokenizer, Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.corpora.parallel import FileBlock
    from softbleu.corpora.segments import Segments
    from softbleu.metrics import Metric, Score
    from softbleu.scoring.vectors import VectorChoice

    Integers = NDArray[np.int64]

Progress = Callable[[int, int], None]


class Corpus(Protocol):
    """What can be scored: `Segments` in memory, or `ParallelFiles`."""

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""

    def __len__(self) -> int: ...

    def blocks(self) -> Iterator[Segments | FileBlock]:
        """Blocks of consecutive segments."""


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
    coverage: Coverage | None = None
    """None when no similarity was looked at."""
    segments: tuple[Score, ...] | None = None
    """Scores of the segments, at segment level."""


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
    level : `segment` gives the score of each segment, too
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
    if jobs < 1:
        raise InputError(f"the number of jobs must be at least 1, not {jobs}")
    runner = _Runner(corpus, metric, tokenizer or Tokenizer(), level, jobs, executor, progress)
    rows, signature, zero_words = runner.run(vectors, kernels)
    return [
        _result(system, metric, segment_metric or metric, rows[number], signature, level, zero_words)
        for number, system in enumerate(corpus.systems)
    ]


@dataclass(frozen=True)
class _Runner:
    corpus: Corpus
    metric: Metric
    tokenizer: Tokenizer
    level: Level
    jobs: int
    executor: Executor | None
    progress: Progress | None

    def run(self, vectors: VectorChoice | None, kernels: KernelName) -> tuple[Integers, str, int | None]:
        """Rows of statistics (systems, rows, k), the signature, and the number of zero vectors met."""
        size = int(getattr(self.corpus, "bytes", 0))
        twin = choose_kernels(kernels, size).NAME
        compiled = twin == "numba" and self.tokenizer.splits_at_whitespace and not self.metric.needs_vectors
        work = BlockWork(self.metric, self.tokenizer, None, twin, self.level)
        with ExitStack() as stack:
            executor = self.executor
            if executor is None and self.jobs > 1:
                executor = stack.enter_context(local_executor(self.jobs, threads=compiled))
            if not self.metric.needs_vectors:
                return self._rows(work, executor), signature_of(self.metric, self.tokenizer), None
            if vectors is None:
                raise InputError("this matcher compares words by vectors: name some, e.g. vectors='glove-6b-100d'")
            prepared = prepare_vectors(self.corpus, self.tokenizer, vectors, executor, 2 * self.jobs)
            stack.enter_context(single_threaded_blas())
            shared = prepared if executor is None else stack.enter_context(prepared.stored())
            rows = self._rows(replace(work, vectors=shared), executor)
        signature = signature_of(
            self.metric,
            self.tokenizer,
            vectors=prepared.identity,
            case=vectors.case,
            normalize=vectors.normalize,
        )
        return rows, signature, prepared.zero_words

    def _rows(self, work: BlockWork, executor: Executor | None) -> Integers:
        kept: list[Integers] = []
        done = 0
        for rows in run_in_order(work, self.corpus.blocks(), executor, 2 * self.jobs):
            if self.level == "segment" or not kept:
                kept.append(rows)
            else:
                kept[0] = kept[0] + rows
            done = min(done + BLOCK, len(self.corpus))
            if self.progress is not None:
                self.progress(done, len(self.corpus))
        return np.concatenate(kept, axis=1)


def prepare_vectors(
    corpus: Corpus,
    tokenizer: Tokenizer,
    vectors: VectorChoice,
    executor: Executor | None = None,
    window: int = 2,
) -> CorpusVectors:
    """Find the words of a corpus, in one pass over it, and read their vectors."""
    words: set[str] = set()
    for some in run_in_order(WordWork(tokenizer), corpus.blocks(), executor, window):
        words |= some
    vocabulary = Vocabulary((word, code) for code, word in enumerate(sorted(words)))
    return CorpusVectors.of(vocabulary, vectors.select(list(vocabulary)), normalize=vectors.normalize)


def _result(
    system: str,
    metric: Metric,
    segment_metric: Metric,
    rows: Integers,
    signature: str,
    level: Level,
    zero_words: int | None,
) -> Result:
    total = rows.sum(axis=0)
    counts = [int(count) for count in total[-4:]]
    coverage = None if zero_words is None else Coverage(counts[0], counts[1], counts[2], counts[3], zero_words)
    segments = tuple(segment_metric.score(row[:-4]) for row in rows) if level == "segment" else None
    return Result(system, metric.score(total[:-4]), signature, coverage, segments)
