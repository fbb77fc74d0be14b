"""Score corpora: the one place where blocks are handed out, rows summed and scores made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from softbleu.corpora.corpus import BLOCK
from softbleu.corpora.labels import Documents
from softbleu.embeddings.choice import NO_VECTORS, VectorChoice
from softbleu.engine.checkpoint import EVERY, Checkpoint
from softbleu.engine.encode import BlockCoder
from softbleu.engine.lists import ListCorpus
from softbleu.engine.plan import Plan, by_tokenizer, make_plan
from softbleu.engine.prepare import PreparedCorpus, prepare_corpus
from softbleu.engine.statistics import SegmentRows, Statistics
from softbleu.engine.vectors import CorpusWords, broadcast
from softbleu.engine.worker import BlockStatistics, Sums, Task, Worker, count_known, task_batches
from softbleu.errors import Parameter
from softbleu.io.arguments import check_run
from softbleu.io.executors import chosen_executor, run_in_order, single_threaded_blas
from softbleu.io.progress import note
from softbleu.kernels import KernelName, choose_kernels
from softbleu.matching.ngrams import Chunk
from softbleu.metrics.protocols import ReadsRows
from softbleu.metrics.result import Coverage
from softbleu.version import __version__

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.worker import Rows
    from softbleu.metrics.base import Level, Metric
    from softbleu.text.tokens import Tokenizer
    from softbleu.types import Progress


SLOW_BLOCK = 64  # Segments of a block where lines are encoded
_ORDINARY = 400  # Bytes of a segment up to which a block is done at once


@dataclass(frozen=True)
class RunOptions:
    """How a run is done; no digit of a score depends on it."""

    jobs: int = 1  # Processes to use (threads, where compiled kernels do the work)
    executor: Executor | None = None  # Any other executor to use instead, e.g. that of a cluster.
    kernels: KernelName = "auto"  # `numpy`, `numba`, or `auto`: whichever is faster for the size of the text
    checkpoint: str | Path | None = None
    """Folder, by path or URL, where what is done is kept, and found again by another run of the same; the caller
    removes it by `remove_checkpoint`."""
    progress: Progress | None = None  # Called with the number of segments done and of all

    def __post_init__(self) -> None:
        """See that they are such."""
        check_run(self.jobs, self.executor, self.progress)


@dataclass
class Runner:
    """Runs a plan over one corpus (`running` makes it); what was prepared for one metric is there for the others."""

    corpus: Corpus
    plan: Plan
    executor: Executor | None
    kernels: KernelName
    checkpoint: Checkpoint | None = field(repr=False)
    progress: Progress | None = field(repr=False)
    _stack: ExitStack = field(repr=False)
    _prepared: dict[Tokenizer, PreparedCorpus] = field(default_factory=dict, repr=False)
    _sent: dict[int, tuple[Any, dict[str, bytes]]] = field(default_factory=dict, repr=False)

    def prepared(self, tokenizer: Tokenizer) -> PreparedCorpus:
        """The corpus in the tokens of a tokenizer, with all that any metric of it needs."""
        if tokenizer not in self._prepared:
            needed = self.plan.needed[tokenizer]
            self._prepared[tokenizer] = prepare_corpus(self.corpus, tokenizer, needed, self.executor, self.kernels)
        return self._prepared[tokenizer]

    def collect(
        self, metrics: Sequence[Metric], *, system: str | None = None, keep_rows: bool | None = None
    ) -> list[Statistics]:
        """Compute statistics of the corpus, or of one `system`, by metrics that need no more than those of the plan.

        Those of one tokenizer go in one pass. Rows are kept as the plan says, or `keep_rows`; if they are not, they
        are reduced as they come, but for metrics that must see all at once.
        """
        keep_rows = self.plan.keep_rows if keep_rows is None else keep_rows
        systems = self.corpus.systems if system is None else (system,)
        once = np.ones(len(self.corpus), np.int64)
        statistics = {
            number: Statistics(
                systems, metric, metric.read_rows(systems, len(once)), once, (0, 0), documents=self.corpus.documents
            )
            for number, metric in enumerate(metrics)
            if isinstance(metric, ReadsRows)
        }
        groups = by_tokenizer(metrics, without=statistics)
        for group, members in enumerate(groups.values()):
            together = [metrics[number] for number in members]
            made = self._collect(together, system, keep_rows, _part_of(self.progress, group, len(groups)))
            statistics.update(zip(members, made, strict=True))
        return [statistics[number] for number in range(len(metrics))]

    def _collect(
        self, metrics: Sequence[Metric], system: str | None, keep_rows: bool, progress: Progress | None
    ) -> list[Statistics]:
        corpus = self.corpus if system is None else self.corpus.only(system)
        level = self.plan.level
        streams = [None if keep_rows else _streaming(metric, level) for metric in metrics]
        keeps = [
            keep_rows or stream is not None or not metric.aggregation.sum_is_enough or level != "corpus"
            for metric, stream in zip(metrics, streams, strict=True)
        ]
        work = self._work(metrics, keeps)
        identities = [table.identity for table in work.tables]
        identities += [corpus.documents.fingerprint] if corpus.documents is not None and self.plan.context else []
        key = (__version__, metrics[0].tokenizer, corpus.systems, *zip(metrics, keeps, strict=True), *identities)
        with (
            single_threaded_blas() if work.tables or any(stream is not None for stream in streams) else nullcontext()
        ):
            totals = self._add_up(work, streams, corpus, segments_at_once(metrics, corpus), progress, key)
        return [
            _statistics(corpus.systems, metric, total, work.table_of(number), streams[number], corpus)
            for number, (metric, total) in enumerate(zip(metrics, totals, strict=True))
        ]

    def compare(self) -> tuple[Statistics, Iterator[list[Rows]]]:
        """Compute the statistics of all pairs of texts of each list, by the one metric of the plan; see `Worker`.

        Of all lists together there is what a signature says, but no rows; statistics come some lists at a time.
        """
        (metric,) = self.plan.metrics
        work = self._work([metric], [True])
        none, coverage = np.zeros((0, 0, 0), np.int64), np.zeros((1, 4), np.int64)
        if metric.requires.vectors and (table := work.table_of(0)) is not None:
            for block in self.prepared(metric.tokenizer).blocks():
                lists = Chunk(block.candidates[0], block.references, block.offsets)
                coverage += count_known(lists, table.words.vectors)
        no_rows = BlockStatistics(none, none, coverage, (1, 1))
        return _statistics((), metric, no_rows, work.table_of(0), None), self._compared(work)

    def _compared(self, work: _Work) -> Iterator[list[Rows]]:
        done, compare = 0, partial(work.worker.compare, coder=work.coder)
        with single_threaded_blas():
            for rows in run_in_order(compare, task_batches(self.corpus), self.executor, work.sent):
                yield rows
                done += len(rows)
                if self.progress is not None:
                    self.progress(done, len(self.corpus))

    def _work(self, metrics: Sequence[Metric], keeps: Sequence[bool]) -> _Work:
        """Make the worker that computes metrics of one tokenizer, and send workers elsewhere what it looks at."""
        tokenizer = metrics[0].tokenizer
        needed = self.plan.needed[tokenizer]
        tables: list[CorpusWords] = []
        tasks = []
        for metric, keep in zip(metrics, keeps, strict=True):
            number = None
            if metric.requires.table:
                table = self.prepared(tokenizer).table(metric.vector_choice, metric.requires)
                number = next((index for index, other in enumerate(tables) if other is table), len(tables))
                tables += [table] if number == len(tables) else []
            # Workers are given tables of vectors: those of the metric need not travel.
            tasks.append(Task(replace(metric, vector_choice=VectorChoice()), number, keep))
        prepared = self._prepared.get(tokenizer)
        sent: list[tuple[Any, dict[str, bytes]]] = [self._broadcast(table.words) for table in tables]
        words = None
        if prepared is not None and tables and self.executor is not None:
            sent.append(self._broadcast(prepared.counts.vocabulary))
            words = sent[-1][0]
        places = tuple(where for where, _ in sent[: len(tables)])
        worker = Worker(tuple(tasks), tokenizer, needed, self.kernels, places, words)
        coder = None
        if self.executor is None:
            coder = BlockCoder(tokenizer, needed, self.kernels) if prepared is None else prepared.coder
        return _Work(
            worker, tables, {key: content for _, contents in sent for key, content in contents.items()}, coder
        )

    def _broadcast(self, value: Any) -> tuple[Any, dict[str, bytes]]:
        """Where workers find a table or the words of the corpus, and what they must be sent."""
        if id(value) not in self._sent:
            self._sent[id(value)] = self._stack.enter_context(broadcast(value, self.executor))
        return self._sent[id(value)]

    def _add_up(
        self,
        work: _Work,
        streams: Sequence[SegmentRows | None],
        corpus: Corpus,
        step: int,
        progress: Progress | None,
        key: Sequence[object],
    ) -> list[BlockStatistics]:
        tasks, checkpoint = work.worker.tasks, self.checkpoint
        done_before, name, since = 0, "", Sums(tasks)
        total = Sums(
            [
                replace(task, keep_rows=task.keep_rows and stream is None)
                for task, stream in zip(tasks, streams, strict=True)
            ]
        )

        def add(parts: Sequence[BlockStatistics]) -> None:
            pairs = zip(parts, streams, strict=True)
            total.add([part if stream is None else stream.take(part) for part, stream in pairs])

        if checkpoint is not None:
            name = checkpoint.key(*key)
            done_before, known = checkpoint.read(name, tasks, corpus, step)
            for parts in known:
                add(parts)
        begun = done = written = done_before
        todo, lengths = tee(task_batches(corpus, self.executor, step if step < BLOCK else None, skip=done))
        results = run_in_order(partial(work.worker, coder=work.coder), todo, self.executor, work.sent, together=False)
        for batch, parts in zip(lengths, results, strict=True):
            add(parts)
            done += len(batch)
            if checkpoint is not None:
                since.add(parts)
                if done - written >= EVERY * step:
                    checkpoint.write(name, written, done, since.taken())
                    written = done
            if progress is not None:
                progress(done, len(corpus))
        if checkpoint is not None and done > written:
            checkpoint.write(name, written, done, since.taken())
        if progress is not None and begun and done == begun:
            progress(done, len(corpus))
        return total.taken()


@dataclass(frozen=True)
class _Work:
    """A worker, and the tables and the coder that it uses."""

    worker: Worker
    tables: list[CorpusWords]
    sent: dict[str, bytes]  # What workers elsewhere are sent
    coder: BlockCoder | None  # Knows what was coded before; None where the work is done elsewhere

    def table_of(self, number: int) -> CorpusWords | None:
        """The table of a metric, where it looks at one."""
        table = self.worker.tasks[number].table
        return None if table is None else self.tables[table]


@contextmanager
def running(
    corpus: Corpus | ListCorpus,
    plan: Plan,
    options: RunOptions = RunOptions(),  # it is frozen
) -> Iterator[Runner]:
    """Run a plan over a corpus, with the jobs, executor, kernels, checkpoint and progress of `options`.

    The plan has all metrics, because these say which inputs to read. Raises `InputError` and `VectorError` for
    settings and vectors that cannot be used.
    """
    lists, metrics = isinstance(corpus, ListCorpus), plan.metrics
    # What compares words takes longer: being compiled pays for less text.
    slowness = 4 if any(metric.requires.vectors for metric in metrics) else 1
    name = choose_kernels(options.kernels, slowness * corpus.bytes).NAME
    threads = name == "numba" and all(metric.tokenizer.by_word and not metric.requires.table for metric in metrics)
    tasks = len(corpus) if lists else -(-len(corpus) // segments_at_once(metrics, cast("Corpus", corpus)))
    with ExitStack() as stack:
        chosen = stack.enter_context(chosen_executor(options.executor, options.jobs, tasks, threads=threads))
        whole = cast("Corpus", corpus)  # lists have no systems to take one of
        if plan.context and whole.documents is None:
            whole = replace(cast("Any", whole), documents=Documents.of([""] * len(whole)))
        checkpoint = None if options.checkpoint is None else Checkpoint(options.checkpoint, whole)
        if not lists and any(metric.requires.references or metric.requires.edits for metric in metrics):
            _note_blank(whole)
        yield Runner(whole, plan, chosen, name, checkpoint, options.progress, stack)


def _note_blank(corpus: Corpus) -> None:
    """Say as what blank references beside others count, if there are some."""
    if not corpus.blank:
        return
    other = Parameter("blank_references", "missing" if corpus.blank_references == "empty" else "empty")
    counted = "empty texts" if corpus.blank_references == "empty" else "missing, as left out by an annotator"
    many = f"{corpus.blank:,} references are" if corpus.blank > 1 else "1 reference is"
    note(f"{many} blank beside others with text, and taken as {counted} (the other way: ", other, ")")


def _streaming(metric: Metric, level: Level) -> SegmentRows | None:
    """Make what takes the rows of a metric whose score needs more than their sum but not all rows at once."""
    aggregation, segments = metric.at_level(level).aggregation, level == "segment"
    streams = aggregation.by_segment if segments else not aggregation.sum_is_enough
    return SegmentRows(aggregation, segments=segments) if streams and aggregation.has_corpus_score else None


def segments_at_once(metrics: Sequence[Metric], corpus: Corpus) -> int:
    """Count the segments of a batch: fewer where metrics encode them, or where the corpus has documents."""
    slow = any(metric.requires.vectors and metric.vector_choice.in_context for metric in metrics)
    most = SLOW_BLOCK if slow else BLOCK
    if slow and any(metric.requires.edits and metric.requires.pieces for metric in metrics):
        most //= 16  # A line is encoded for every edit.
    length = corpus.bytes // max(len(corpus) * (len(corpus.systems) + 1), 1)
    # Time grows with the square of the length.
    return max(1, min(most, most * _ORDINARY**2 // max(length, 1) ** 2))


def collect_statistics(
    corpus: Corpus,
    metrics: Iterable[Metric] | Plan,
    options: RunOptions = RunOptions(),  # it is frozen
    *,
    keep_rows: bool = False,
    level: Level = "corpus",
) -> list[Statistics]:
    """Compute the statistics of a corpus by metrics, or by a plan of them; see `Plan.over` and `Runner.collect`.

    `options` are those of `running`; `level` and `keep_rows` are those of `Plan.over`.
    """
    plan = make_plan(metrics).over(corpus, level=level, keep_rows=keep_rows)
    with running(corpus, plan, options) as runner:
        return runner.collect(plan.metrics)


def _statistics(
    systems: tuple[str, ...],
    metric: Metric,
    total: BlockStatistics,
    table: CorpusWords | None,
    stream: SegmentRows | None,
    corpus: Corpus | None = None,
) -> Statistics:
    identity, coverage = None, None
    if table is not None and metric.requires.vectors:
        identity, zero = table.identity, table.zero_words
        if identity != NO_VECTORS:
            coverage = tuple(Coverage(a, b, c, d, zero) for a, b, c, d in total.coverage.tolist())
    made = Statistics(systems, metric, total.rows, total.counts, total.references, identity, coverage, stream)
    if corpus is None:
        return made
    without_blank = corpus.blank > 0 and corpus.blank_references == "missing"
    return replace(
        made,
        resegmented=corpus.resegmented,
        documents=corpus.documents,
        without_blank=without_blank,
        against=corpus.against,
    )


def _part_of(progress: Progress | None, part: int, parts: int) -> Progress | None:
    """Progress of one of several passes."""
    if progress is None or parts == 1:
        return progress
    return lambda done, total: progress(done + part * total, total * parts)
