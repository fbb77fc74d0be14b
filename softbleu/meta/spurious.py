"""Deserved and spurious soft credit of matchers and their variants, over aligned text."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from softbleu.engine.plan import make_plan, threshold_of, with_threshold
from softbleu.engine.prepare import prepare_corpus, whole_chunk
from softbleu.engine.vectors import Broadcast, broadcast
from softbleu.engine.worker import MINI_BATCH
from softbleu.errors import InputError, Parameter
from softbleu.io.arguments import check_run, several
from softbleu.io.executors import chosen_executor, single_threaded_blas
from softbleu.io.tabular import Records, Tabular
from softbleu.io.tasks import run_in_order
from softbleu.matching.ngrams import Chunk, check_order
from softbleu.matching.sweep import MatchIntervals, match_intervals
from softbleu.meta.credit import DESERVED, CreditTally, Judge, approximate
from softbleu.meta.credit_tables import Analysis, credit_table
from softbleu.meta.matched_text import MatchedText, read_matched_text
from softbleu.meta.matcher_variants import PLAIN, MatcherVariant, make_variants
from softbleu.meta.sweep import read_thresholds
from softbleu.metrics.base import Metric, Requirements

if TYPE_CHECKING:
    from softbleu.corpora.aligned import AlignedPair
    from softbleu.matching.base import SoftMatcher
    from softbleu.matching.similarity import Vectors
    from softbleu.metrics.keywords import MatchSettings
    from softbleu.types import Integers, Progress


@dataclass(frozen=True, eq=False, repr=False)
class SpuriousCredit(Tabular):
    """Analyses of a text, one for each matcher and variant."""

    analyses: list[Analysis]
    facts: dict[str, str]

    def records(self) -> list[dict[str, Any]]:
        """Rows of the summary."""
        return self.table().records()

    def described(self) -> dict[str, str]:
        """Describe the text, and name the vectors."""
        return self.facts

    def table(self, name: str = "summary") -> Records:
        """Make a table of `CREDIT_TABLES`; see `credit_table`."""
        return credit_table(name, self.analyses, self.facts)


def spurious(
    *,
    grammar: str | None = None,
    pairing: str | None = None,
    count: int | None = None,
    seed: int | None = None,
    pairs: str | Sequence[AlignedPair] | None = None,
    encoding: str = "utf-8",
    matchers: Sequence[str] = ("vleu", "xleu"),
    variants: Sequence[str] = (PLAIN,),
    thresholds: Sequence[float | str] = ("0:0.95:0.05",),
    at: float = 0.8,
    order: int = 4,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **settings: Unpack[MatchSettings],
) -> SpuriousCredit:
    """Separate deserved from spurious credit, for each matcher, variant and threshold.

    Parameters
    ----------
    grammar
        Grammar that generates aligned pairs.
    pairing
        How its sentences are paired: `paraphrase` or `halves`.
    count
        Number of pairs.
    seed
        Seed of the draws.
    pairs
        Aligned pairs, or a file of them.
    matchers
        Each of them is tried with every variant.
    variants
        Names of settings against spurious matches, such as `aligned`.
    thresholds
        Numbers, ranges such as ``0:1:0.02`` and quantiles such as ``p99.9``.
    at
        Threshold that is reported.
    order
        Greatest n-gram order.
    jobs
        Processes to use; the digits do not depend on it.
    executor
        Any other executor to use instead.
    settings
        Those of the matchers and the vectors.
    encoding
        Of the files.
    progress
        True for a bar, in notebooks too; or a function of the pairs done and of all.

    Raises
    ------
    InputError, VectorError
        Not exactly one text, or an unknown or invalid setting.

    Examples
    --------
    >>> credit = spurious(grammar="alternations", count=20, matchers=["vleu"])
    >>> credit.facts["text"], credit.table("orders").columns[:4]
    ('alternations, paraphrase, seed 0', ['matcher', 'variant', 'order', 'threshold'])
    """
    check_run(jobs, executor, progress)
    made = make_variants({**settings, "order": order}, several(matchers), several(variants))
    grid = read_thresholds([f"{threshold}" for threshold in several(thresholds)])
    generated = {"grammar": grammar, "pairing": pairing, "count": count, "seed": seed}
    text, facts = read_matched_text(generated, pairs, encoding)
    analyses = find_spurious(text, made, grid, at=at, order=order, jobs=jobs, executor=executor, progress=progress)
    return SpuriousCredit(analyses, {**facts, "vectors": analyses[0].vectors})


def find_spurious(
    text: MatchedText,
    variants: Sequence[MatcherVariant],
    thresholds: Sequence[float | str],
    *,
    at: float = 0.8,
    order: int = 4,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[Analysis]:
    """Match aligned text in several ways, and judge what was matched approximately, at all thresholds at once.

    Quantiles among the thresholds are looked up for each variant. In memory are the coded text and the vectors of its
    words.

    Parameters
    ----------
    text
        Text of one system, aligned to its reference.
    variants
        Ways to match it.
    thresholds
        Numbers from 0 to 1, and quantiles such as `p99.9`.
    at
        Threshold that is reported.
    order
        Greatest n-gram order.
    jobs, executor
        Processes, or what runs the work instead; the digits do not depend on them.
    progress
        Told how much is done.

    Examples
    --------
    >>> from softbleu.corpora.aligned import AlignedPair
    >>> from softbleu.meta.matcher_variants import make_variants
    >>> from softbleu.meta.matched_text import MatchedText
    >>> pair = AlignedPair(("small", "dog"), ("little", "cat"), ((0, 0),), "related")
    >>> vectors = {"small": [1.0, 0.1], "little": [1.0, 0.2], "dog": [0.1, 1.0], "cat": [0.2, 1.0]}
    >>> variants = make_variants({"vectors": vectors}, ["vleu"], ["plain"])
    >>> credit = find_spurious(MatchedText.of_pairs([pair]), variants, [0.5])[0].curve[0]
    >>> credit.matches, round(credit.deserved, 2), round(credit.spurious, 2), credit.recall
    (3, 1.0, 2.0, 1.0)
    """
    check_order(order)
    plan = make_plan(variant.metric for variant in variants)
    if plan.context:
        raise InputError("spurious matches are looked for in single lines: leave out ", Parameter("context"))
    resolved = plan.metrics
    grids = _read_grids(variants, thresholds, at)
    prepared = prepare_corpus(text.corpus, text.tokenizer, Requirements())
    chunk = whole_chunk(prepared)
    vectors = [
        prepared.table(metric.vector_choice, Requirements(vectors=True, frequency=True)) for metric in resolved
    ]
    tables = {id(table): table for table in vectors}
    analyses = [
        Analysis(
            variant,
            grid,
            grid.index(float(at)),
            CreditTally(len(grid), order),
            table.identity,
        )
        for variant, grid, table in zip(variants, grids, vectors, strict=True)
    ]
    tasks = tuple(
        _Task(analysis.variant.make_matcher(), list(tables).index(id(table)), analysis.thresholds)
        for analysis, table in zip(analyses, vectors, strict=True)
    )
    starts = range(0, len(chunk), MINI_BATCH)
    with ExitStack() as stack:
        stack.enter_context(single_threaded_blas())
        workers = stack.enter_context(chosen_executor(executor, jobs, len(starts)))
        sent = [stack.enter_context(broadcast(table.words, workers)) for table in tables.values()]
        work = _MatchWork(tasks, tuple(table for table, _ in sent), order)
        contents = {key: content for _, named in sent for key, content in named.items()}
        batches = (_mini_batch(text, chunk, start) for start in starts)
        for start, results in zip(starts, run_in_order(work, batches, workers, contents), strict=True):
            for analysis, tally in zip(analyses, results, strict=True):
                analysis.tally.merge(tally)
            if progress is not None:
                progress(min(start + MINI_BATCH, len(chunk)), len(chunk))
    return analyses


def _read_grids(
    variants: Sequence[MatcherVariant], thresholds: Sequence[float | str], at: float
) -> list[tuple[float, ...]]:
    """Thresholds of each variant, ascending; quantiles are looked up once for each choice of vectors."""
    asked: dict[tuple[object, float | str], Metric] = {}
    for variant in variants:
        for threshold in (at, *thresholds):
            key = variant.metric.vector_choice.key, threshold
            asked[key] = asked.get(key) or with_threshold(variant.metric, threshold)
    resolved = make_plan(asked.values()).metrics
    known = {key: float(threshold_of(metric) or 0.0) for key, metric in zip(asked, resolved, strict=True)}
    return [
        tuple(sorted({known[variant.metric.vector_choice.key, threshold] for threshold in (at, *thresholds)}))
        for variant in variants
    ]


def _mini_batch(text: MatchedText, chunk: Chunk, start: int) -> tuple[Chunk, Integers]:
    end = min(start + MINI_BATCH, len(chunk))
    offsets = chunk.candidates.offsets
    return chunk.part(start, end), text.aligned[offsets[start] : offsets[end]]


@dataclass(frozen=True)
class _Task:
    matcher: SoftMatcher
    table: int
    thresholds: tuple[float, ...]


@dataclass(frozen=True)
class _MatchWork:
    """Everything a worker needs to know to match a mini-batch in every way."""

    tasks: tuple[_Task, ...]
    tables: tuple[Broadcast, ...]
    order: int

    def __call__(self, batch: tuple[Chunk, Integers]) -> list[CreditTally]:
        chunk, aligned = batch
        judge = Judge(chunk, aligned, self.order)
        deserving = judge.deserving()
        tables = [table.load() for table in self.tables]
        return [self._match(task, chunk, judge, deserving, tables[task.table].vectors) for task in self.tasks]

    def _match(
        self, task: _Task, chunk: Chunk, judge: Judge, deserving: Sequence[Integers], vectors: Vectors
    ) -> CreditTally:
        tally = CreditTally(len(task.thresholds), self.order)
        intervals = match_intervals(task.matcher, task.thresholds, chunk, vectors, self.order)
        which = approximate(chunk, intervals) & (intervals.matched > 0)
        intervals = MatchIntervals(*(column[which] for column in vars(intervals).values()))
        classes = judge.classes(intervals)
        # Which matches reward a deserving n-gram.
        rewarded = np.zeros(len(intervals.order), bool)
        for order, starts in enumerate(deserving, start=1):
            tally.deserving[order - 1] += len(starts)
            rewarded |= (classes == DESERVED) & (intervals.order == order) & np.isin(intervals.starts, starts)
        tally.add(intervals, classes, rewarded)
        return tally
