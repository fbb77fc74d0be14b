"""Score corpora: the one place where blocks are handed out, rows summed and scores made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import tee
from operator import or_
from typing import TYPE_CHECKING, Any

from softbleu.corpora.segments import BLOCK
from softbleu.engine.checkpoint import EVERY, Checkpoint
from softbleu.engine.encode import BlockCoder
from softbleu.engine.plan import resolve_metric, without_vectors
from softbleu.engine.prepare import CodedCorpus, PreparedCorpus, prepare_corpus
from softbleu.engine.statistics import Statistics, check_level, make_results
from softbleu.engine.streaming import StreamingAggregation
from softbleu.engine.worker import BlockStatistics, BlockWork, Sums, Task, task_batches
from softbleu.errors import InputError
from softbleu.io.executors import chosen_executor, run_in_order, single_threaded_blas
from softbleu.kernels import KernelName, choose_kernels
from softbleu.metrics.base import DEFAULT_ENCODER
from softbleu.metrics.result import Coverage, Results
from softbleu.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.vectors import CorpusWords
    from softbleu.metrics.base import Level, Metric, Requirements
    from softbleu.text.tokens import Tokenizer
    from softbleu.types import Progress


SLOW_BLOCK = 64
"""Segments of a block where lines are encoded."""


@dataclass(frozen=True)
class RunOptions:
    """How a run is done; no digit of a score depends on it."""

    jobs: int = 1
    """Processes to use (threads, where compiled kernels do the work)."""
    executor: Executor | None = None
    """Any other executor to use instead, e.g. that of a cluster."""
    kernels: KernelName = "auto"
    """`numpy`, `numba`, or `auto`: whichever is faster for the size of the text."""
    checkpoint: str | Path | None = None
    """Folder, by path or URL, where what is done is kept, and found again by another run of the same; the caller
    removes it by `remove_checkpoint`."""
    progress: Progress | None = None
    """Called with the number of segments done and of all."""


def check_requirements(corpus: Corpus, metric: Metric) -> None:
    """See that a corpus has what a metric needs."""
    requires = metric.requires
    if requires.gold and corpus.gold is None:
        raise InputError(f"metric {metric.name!r} needs gold edits: name a .m2 file with --gold, or gold=read_m2(…)")
    if requires.references and not corpus.has_references:
        raise InputError(f"metric {metric.name!r} needs references: name them with --reference, or references=[…]")
    if requires.source and corpus.source is None and corpus.gold is None:
        raise InputError(
            f"metric {metric.name!r} needs the source text: name it with --source or a file of edits with --gold "
            "(in --pairs files: a 'source' column or key), or source=[…]"
        )
    if requires.pieces and not metric.vector_choice.in_context:
        raise InputError(
            f"metric {metric.name!r} needs vectors in context: name an encoder, such as {DEFAULT_ENCODER}"
        )
    if requires.gold and metric.tokenizer.tokenize != "none":
        raise InputError(f"metric {metric.name!r} counts words as the gold file does: leave out --tokenize")


@dataclass
class Runner:
    """Scores one corpus by any metrics (`running` makes it); what was prepared for one is there for the others."""

    corpus: Corpus
    executor: Executor | None
    kernels: KernelName
    checkpoint: Checkpoint | None = field(repr=False)
    progress: Progress | None = field(repr=False)
    _needed: dict[Tokenizer, Requirements] = field(repr=False)
    _stack: ExitStack = field(repr=False)
    _prepared: dict[Tokenizer, PreparedCorpus] = field(default_factory=dict, repr=False)
    _sent: dict[int, tuple[Any, dict[str, bytes]]] = field(default_factory=dict, repr=False)

    def prepared(self, tokenizer: Tokenizer) -> PreparedCorpus:
        """The corpus in the tokens of a tokenizer, with all that any metric of it needs."""
        if tokenizer not in self._prepared:
            needed = self._needed[tokenizer]
            self._prepared[tokenizer] = prepare_corpus(self.corpus, tokenizer, needed, self.executor, self.kernels)
        return self._prepared[tokenizer]

    def collect(
        self,
        metrics: Sequence[Metric],
        *,
        keep_rows: bool = False,
        level: Level = "corpus",
        system: str | None = None,
    ) -> list[Statistics]:
        """Compute the statistics of the corpus by every metric.

        Parameters
        ----------
        metrics : what to compute, among what the runner was made for; those of one tokenizer in one pass
        keep_rows : whether the rows of all segments are kept, not only their sum
        level : of the scores that will be made where rows are not kept, `corpus` or `segment`; what these take of
            rows is taken as they come, but for metrics that must see all at once, whose rows are kept
        system : one system only
        """
        groups: dict[Tokenizer, list[int]] = {}
        for number, metric in enumerate(metrics):
            groups.setdefault(metric.tokenizer, []).append(number)
        found: dict[int, Statistics] = {}
        for place, members in enumerate(groups.values()):
            own = [metrics[number] for number in members]
            made = self._collect(own, keep_rows, level, system, _part_of(self.progress, place, len(groups)))
            found.update(zip(members, made, strict=True))
        return [found[number] for number in range(len(metrics))]

    def _collect(
        self,
        metrics: Sequence[Metric],
        keep_rows: bool,
        level: Level,
        system: str | None,
        progress: Progress | None,
    ) -> list[Statistics]:
        tokenizer = metrics[0].tokenizer
        needed = self._needed[tokenizer]
        tables: list[CorpusWords] = []
        streams = [None if keep_rows else _streaming(metric, level) for metric in metrics]
        kept = [
            keep_rows or streamed is not None or not metric.aggregation.sum_is_enough or level != "corpus"
            for metric, streamed in zip(metrics, streams, strict=True)
        ]
        tasks = []
        for metric, keep in zip(metrics, kept, strict=True):
            number = None
            if metric.requires.table:
                table = self.prepared(tokenizer).table(metric.vector_choice, metric.requires)
                number = next((place for place, each in enumerate(tables) if each is table), len(tables))
                tables += [table] if number == len(tables) else []
            tasks.append(Task(without_vectors(metric), number, keep))
        prepared = self._prepared.get(tokenizer)
        broadcast: list[tuple[Any, dict[str, bytes]]] = [self._broadcast(table) for table in tables]
        words = None
        if prepared is not None and tables and self.executor is not None:
            broadcast.append(self._broadcast(prepared.counts))
            words = broadcast[-1][0]
        sent = {key: content for _, each in broadcast for key, content in each.items()}
        tables_sent = tuple(place for place, _ in broadcast[: len(tables)])
        work: Any = BlockWork(tuple(tasks), tokenizer, needed, self.kernels, tables_sent, words)
        if self.executor is None:
            known = None if prepared is None else prepared.coded
            coder = known.coder if isinstance(known, CodedCorpus) else BlockCoder(tokenizer, needed, self.kernels)
            work = partial(work, coder=coder)
        systems = self.corpus.systems if system is None else (system,)
        corpus = self.corpus if system is None else self.corpus.only(system)
        key = (
            __version__,
            tokenizer,
            systems,
            *zip(metrics, kept, strict=True),
            *(each.identity for each in tables),
        )
        step = segments_at_once(metrics)
        with single_threaded_blas() if tables or any(streams) else nullcontext():
            totals = self._add_up(work, tasks, streams, corpus, step, sent, progress, key)
        return [
            _statistics(systems, metric, total, None if task.table is None else tables[task.table], streamed)
            for metric, task, total, streamed in zip(metrics, tasks, totals, streams, strict=True)
        ]

    def _broadcast(self, value: Any) -> tuple[Any, dict[str, bytes]]:
        """Where workers find a table or the words of the corpus, and what they must be sent."""
        if id(value) not in self._sent:
            self._sent[id(value)] = self._stack.enter_context(value.broadcast(self.executor))
        return self._sent[id(value)]

    def _add_up(
        self,
        work: Any,
        tasks: Sequence[Task],
        streams: Sequence[StreamingAggregation | None],
        corpus: Corpus,
        step: int,
        sent: Mapping[str, bytes],
        progress: Progress | None,
        key: Sequence[object],
    ) -> list[BlockStatistics]:
        noted, name, since = 0, "", Sums(tasks)
        total = Sums(
            [replace(task, keep_rows=task.keep_rows and not own) for task, own in zip(tasks, streams, strict=True)]
        )

        def add(found: Sequence[BlockStatistics]) -> None:
            parts = zip(found, streams, strict=True)
            total.add([part if own is None else own.take(part) for part, own in parts])

        if self.checkpoint is not None:
            name = self.checkpoint.key(*key)
            noted, known = self.checkpoint.read(name, len(tasks))
            for found in known:
                add(found)
        begun = done = noted
        todo, lengths = tee(task_batches(corpus, self.executor, step if step < BLOCK else None, skip=noted))
        results = run_in_order(work, todo, self.executor, sent, together=False)
        for batch, found in zip(lengths, results, strict=True):
            add(found)
            done += len(batch)
            if self.checkpoint is not None:
                since.add(found)
                if done - noted >= EVERY * step:
                    self.checkpoint.write(name, noted, done, since.taken())
                    noted = done
            if progress is not None:
                progress(done, len(corpus))
        if self.checkpoint is not None and done > noted:
            self.checkpoint.write(name, noted, done, since.taken())
        if progress is not None and begun and done == begun:
            progress(done, len(corpus))
        return total.taken()


@contextmanager
def running(
    corpus: Corpus,
    metrics: Sequence[Metric],
    options: RunOptions = RunOptions(),  # it is frozen
    *,
    whole: bool = False,
) -> Iterator[Runner]:
    """Run resolved metrics over a corpus: all that will be computed, for they say what is read.

    With `whole`, references and source are prepared even where no metric needs them.
    """
    # What compares words takes longer: being compiled pays for less text.
    slowness = 4 if any(metric.requires.vectors for metric in metrics) else 1
    name = choose_kernels(options.kernels, slowness * int(getattr(corpus, "bytes", 0))).NAME
    threads = name == "numba" and all(metric.tokenizer.by_word and not metric.requires.table for metric in metrics)
    by_tokenizer: dict[Tokenizer, list[Metric]] = {}
    for metric in metrics:
        check_requirements(corpus, metric)
        by_tokenizer.setdefault(metric.tokenizer, []).append(metric)
    needed = {tokenizer: reduce(or_, (each.requires for each in own)) for tokenizer, own in by_tokenizer.items()}
    if whole:
        source = corpus.source is not None or corpus.gold is not None
        for tokenizer, need in needed.items():
            needed[tokenizer] = replace(need, references=corpus.has_references, source=source)
    tasks = -(-len(corpus) // segments_at_once(metrics))
    with ExitStack() as stack:
        chosen = stack.enter_context(chosen_executor(options.executor, options.jobs, tasks, threads=threads))
        kept = None if options.checkpoint is None else Checkpoint(options.checkpoint, corpus)
        yield Runner(corpus, chosen, name, kept, options.progress, needed, stack)


def _streaming(metric: Metric, level: Level) -> StreamingAggregation | None:
    """What takes the rows of a metric, where a score takes more of them than their sum but not all at once."""
    aggregation, segments = metric.at_level(level).aggregation, level == "segment"
    streams = aggregation.by_segment if segments else not aggregation.sum_is_enough
    return StreamingAggregation(aggregation, segments=segments) if streams and aggregation.has_corpus_score else None


def segments_at_once(metrics: Sequence[Metric]) -> int:
    """Segments of a block: fewer where each takes long."""
    slow = any(metric.requires.vectors and metric.vector_choice.in_context for metric in metrics)
    return SLOW_BLOCK if slow else BLOCK


def collect_statistics(
    corpus: Corpus,
    metrics: Sequence[Metric],
    options: RunOptions = RunOptions(),  # it is frozen
    *,
    keep_rows: bool = False,
    level: Level = "corpus",
) -> list[Statistics]:
    """Compute the statistics of a corpus by every resolved metric; see `running` and `Runner.collect`."""
    with running(corpus, metrics, options) as runner:
        return runner.collect(metrics, keep_rows=keep_rows, level=level)


def score_metrics(
    corpus: Corpus,
    metrics: Sequence[Metric],
    level: Level = "corpus",
    options: RunOptions = RunOptions(),  # it is frozen
) -> Results:
    """Score every system of a corpus by every metric: all systems by the first, then by the next."""
    check_level(level)
    resolved = [resolve_metric(metric) for metric in metrics]
    keep_rows = level in ("macro", "reference")
    statistics = collect_statistics(corpus, resolved, options, keep_rows=keep_rows, level=level)
    return Results(result for each in statistics for result in make_results(each, level))


def _statistics(
    systems: tuple[str, ...],
    metric: Metric,
    total: BlockStatistics,
    table: CorpusWords | None,
    streamed: StreamingAggregation | None,
) -> Statistics:
    identity, coverage = None, None
    if table is not None and metric.requires.vectors:
        identity, zero = table.identity, table.zero_words
        coverage = tuple(Coverage(a, b, c, d, zero) for a, b, c, d in total.coverage.tolist())
    return Statistics(systems, metric, total.rows, total.counts, total.references, identity, coverage, streamed)


def _part_of(progress: Progress | None, place: int, parts: int) -> Progress | None:
    """Progress of one of several passes."""
    if progress is None or parts == 1:
        return progress
    return lambda done, total: progress(done + place * total, total * parts)
