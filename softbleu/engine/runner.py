"""Score corpora: hand out blocks to workers, and collect their statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import tee
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from softbleu.corpora.corpus import BLOCK
from softbleu.corpora.labels import Documents
from softbleu.corpora.validation import usual_blank
from softbleu.embeddings.choice import NO_VECTORS, VectorChoice
from softbleu.encoders.opened import note_memory
from softbleu.engine.checkpoint import EVERY, BlockStatistics, Checkpoint
from softbleu.engine.encode import Coder, ListCorpus, task_batches
from softbleu.engine.notes import note_corpus, note_thresholds
from softbleu.engine.plan import GivenMetrics, Plan, make_plan, requirements_of
from softbleu.engine.prepare import Broadcast, CorpusWords, PreparedCorpus, broadcast, prepare_corpus
from softbleu.engine.statistics import SegmentRows, Statistics
from softbleu.engine.worker import Sums, Task, Worker, count_known
from softbleu.errors import Parameter, SoftbleuError
from softbleu.io.arguments import check_run
from softbleu.io.executors import Done, chosen_executor, run_in_order
from softbleu.io.platform import cached_property, single_threaded_blas
from softbleu.io.progress import note
from softbleu.kernels import KernelName, choose_kernels
from softbleu.matching.ngrams import Chunk
from softbleu.metrics.base import Level, Metric
from softbleu.metrics.protocols import ReadsRows, at_level
from softbleu.metrics.requirements import Requirements
from softbleu.metrics.result import Coverage
from softbleu.text.coded import Vocabulary
from softbleu.text.tokens import Tokenizer
from softbleu.version import __version__

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.corpora.validation import Blank
    from softbleu.engine.worker import Rows
    from softbleu.matching.ngrams import WordTable
    from softbleu.types import Integers, Progress


SLOW_BLOCK = 64  # Segments of a block where lines are encoded
_ORDINARY = 400  # Bytes of a segment up to which a block is done at once


@dataclass(frozen=True)
class RunOptions:
    """Options of a run; no digit of a score depends on them."""

    jobs: int = 1  # Processes to use (threads, where compiled kernels do the work)
    executor: Executor | None = None  # Another executor to use instead, e.g. that of a cluster.
    kernels: KernelName = "auto"  # `numpy`, `numba`, or `auto`: whichever is faster for the size of the text
    checkpoint: str | Path | None = None
    """Folder, by path or URL, where finished parts are kept, and found again by another run of the same; the caller
    removes it by `remove_checkpoint`."""
    progress: Progress | None = None  # Called with the number of segments done and of all
    notes: bool = True  # Whether to note what the text shows, if anybody reads notes

    def __post_init__(self) -> None:
        """Validate jobs, executor and progress."""
        check_run(self.jobs, self.executor, self.progress)


@dataclass
class Runner:
    """Runs a plan over one corpus (`running` makes it); metrics share prepared words and vectors."""

    corpus: Corpus
    plan: Plan
    executor: Executor | None
    kernels: KernelName
    checkpoint: Checkpoint | None = field(repr=False)
    progress: Progress | None = field(repr=False)
    _stack: ExitStack = field(repr=False)
    _prepared: dict[tuple[Tokenizer, Blank], PreparedCorpus] = field(default_factory=dict, repr=False)
    _sent: dict[int, tuple[Broadcast, dict[str, bytes]]] = field(default_factory=dict, repr=False)
    _asked: Blank | None = field(default=None, repr=False)  # As what blank references count, where that is said

    @cached_property
    def needed(self) -> Mapping[Tokenizer, Requirements]:
        """Join the requirements of the metrics of each tokenizer."""
        plan, needed = self.plan, dict[Tokenizer, list[Requirements]]()
        more = [] if plan.prepared is None else [plan.prepared]
        if plan.context:
            more.append(Requirements(references=False, context=plan.context))
        for metric in plan.metrics:
            needed.setdefault(metric.tokenizer, []).append(requirements_of(metric))
        return {tokenizer: reduce(or_, (*several, *more)) for tokenizer, several in needed.items()}

    def prepared(self, metric: Metric) -> PreparedCorpus:
        """The corpus in the tokens of a metric, blank references as it takes them, with all that is needed."""
        key = metric.tokenizer, self._blank(metric)
        if key not in self._prepared:
            corpus = replace(self.corpus, blank_references=key[1]) if self.corpus.blank else self.corpus
            needed = self.needed[metric.tokenizer]
            self._prepared[key] = prepare_corpus(corpus, metric.tokenizer, needed, self.executor, self.kernels)
        return self._prepared[key]

    def _blank(self, metric: Metric) -> Blank:
        """Decide whether blank references are empty texts or missing for a metric."""
        return self._asked or blank_for([metric], self.corpus)

    def collect(
        self, metrics: Sequence[Metric], *, system: str | None = None, keep_rows: bool | None = None
    ) -> list[Statistics]:
        """Compute statistics of the corpus, or of one `system`, by metrics that need no more than the plan's.

        Metrics of one tokenizer share a pass, unless blank references count otherwise. Rows are kept as the plan
        says, or `keep_rows`; if they are not, they are reduced as they come, but for metrics that must see all.
        """
        keep_rows = self.plan.keep_rows if keep_rows is None else keep_rows
        systems = self.corpus.systems if system is None else (system,)
        statistics = {
            number: self._read(metric, systems)
            for number, metric in enumerate(metrics)
            if isinstance(metric, ReadsRows)
        }
        groups: dict[tuple[Tokenizer, Blank], list[int]] = {}
        for number, metric in enumerate(metrics):
            if number not in statistics:
                groups.setdefault((metric.tokenizer, self._blank(metric)), []).append(number)
        for group, members in enumerate(groups.values()):
            together = [metrics[number] for number in members]
            made = self._collect(together, system, keep_rows, _part_of(self.progress, group, len(groups)))
            statistics.update(zip(members, made, strict=True))
        return [statistics[number] for number in range(len(metrics))]

    def _read(self, metric: Metric, systems: Sequence[str]) -> Statistics:
        """Read the statistics of a metric that looks at no text."""
        corpus = self.corpus
        rows = cast("ReadsRows", metric).read_rows(corpus, systems)
        by_character = metric.requires.delays and any(log.unit == "char" for log in corpus.logs.values())
        return Statistics(
            tuple(systems),
            metric,
            cast("Integers", rows),
            np.ones(len(corpus), np.int64),
            (0, 0),
            resegmented=corpus.resegmented and metric.requires.delays,
            documents=corpus.documents,
            edits={"unit": "char"} if by_character else {},
        )

    def _collect(
        self, metrics: Sequence[Metric], system: str | None, keep_rows: bool, progress: Progress | None
    ) -> list[Statistics]:
        corpus = self.corpus if system is None else self.corpus.only(system)
        corpus = replace(corpus, blank_references=self._blank(metrics[0]))
        level = self.plan.level
        streams = [None if keep_rows else _streaming(metric, level) for metric in metrics]
        keeps = [
            keep_rows or stream is not None or not metric.aggregation.sum_is_enough or level != "corpus"
            for metric, stream in zip(metrics, streams, strict=True)
        ]
        work = self._work(metrics, keeps)
        identities = [table.identity for table in work.tables]
        identities += [corpus.documents.fingerprint] if corpus.documents is not None and self.plan.context else []
        identities += [str(corpus.blank_references)] if corpus.blank else []
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

        All lists together have a signature, but no rows; statistics come some lists at a time.
        """
        (metric,) = self.plan.metrics
        work = self._work([metric], [True])
        none, coverage = np.zeros((0, 0, 0), np.int64), np.zeros((1, 4), np.int64)
        if metric.requires.vectors and (table := work.table_of(0)) is not None:
            for block in self.prepared(metric).blocks():
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

    def mapped(self, metric: Metric, make: Callable[[Worker], Callable[..., Done]]) -> Iterator[Done]:
        """Apply the function that is made of a worker of one metric to each batch of the corpus, in order."""
        corpus = replace(self.corpus, blank_references=self._blank(metric))
        work, step = self._work([metric], [True]), segments_at_once([metric], corpus)
        apply = partial(make(work.worker), coder=work.coder)
        todo, lengths = tee(task_batches(corpus, self.executor, step if step < BLOCK else None))
        results = run_in_order(apply, todo, self.executor, work.sent, together=False)
        done = 0
        with single_threaded_blas():
            for batch, result in zip(lengths, results, strict=True):
                yield result
                done += len(batch)
                if self.progress is not None:
                    self.progress(done, len(corpus))

    def _work(self, metrics: Sequence[Metric], keeps: Sequence[bool]) -> _Work:
        """Make the worker that computes metrics of one tokenizer, and send workers elsewhere its values."""
        tokenizer = metrics[0].tokenizer
        needed = self.needed[tokenizer]
        tables: list[CorpusWords] = []
        tasks = []
        for metric, keep in zip(metrics, keeps, strict=True):
            number = None
            if metric.requires.all_words:
                table = self.prepared(metric).table(metric.vector_choice, metric.requires)
                number = next((index for index, other in enumerate(tables) if other is table), len(tables))
                tables += [table] if number == len(tables) else []
            elif metric.requires.parts:
                number = -1  # Made by the coder
            # Workers are given tables of vectors: those of the metric need not travel.
            tasks.append(Task(replace(metric, vector_choice=VectorChoice()), number, keep))
        prepared, coder = self._prepared.get((tokenizer, self._blank(metrics[0]))), None
        values: list[WordTable | Vocabulary] = [table.words for table in tables]
        if self.executor is None:
            coder = Coder(tokenizer, needed, self.kernels) if prepared is None else prepared.coder
        elif prepared is not None and tables:
            values.append(prepared.counts.vocabulary)
        sent: dict[str, bytes] = {}
        for value in values:
            if id(value) not in self._sent:
                self._sent[id(value)] = self._stack.enter_context(broadcast(value, self.executor))
            sent |= self._sent[id(value)][1]
        places = tuple(self._sent[id(value)][0] for value in values)
        words = places[-1] if len(places) > len(tables) else None
        worker = Worker(tuple(tasks), tokenizer, needed, self.kernels, places[: len(tables)], words)
        return _Work(worker, tables, sent, coder)

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
        done_before, name = 0, ""
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
            done_before, known = checkpoint.read(name, [task.keep_rows for task in tasks], corpus, step)
            for parts in known:
                add(parts)
        journal = _Journal(checkpoint, name, Sums(tasks), EVERY * step, done_before, done_before)
        todo, lengths = tee(task_batches(corpus, self.executor, step if step < BLOCK else None, skip=done_before))
        results = run_in_order(partial(work.worker, coder=work.coder), todo, self.executor, work.sent, together=False)
        try:
            for batch, parts in zip(lengths, results, strict=True):
                add(parts)
                journal.add(parts, len(batch))
                if progress is not None:
                    progress(journal.done, len(corpus))
        except SoftbleuError:
            # Such as a worker that is lost, or a device that fails.
            journal.write()
            raise
        journal.write()
        if progress is not None and done_before and journal.done == done_before:
            progress(done_before, len(corpus))
        return total.taken()


@dataclass
class _Journal:
    """Statistics that a run has made since it last wrote to its checkpoint, if it has one."""

    checkpoint: Checkpoint | None
    name: str  # Key of the work
    since: Sums
    every: int  # Segments that are written together
    written: int  # Segments in the checkpoint
    done: int

    def add(self, parts: Sequence[BlockStatistics], segments: int) -> None:
        """Add the statistics of the next segments."""
        self.done += segments
        if self.checkpoint is not None:
            self.since.add(parts)
            if self.done - self.written >= self.every:
                self.write()

    def write(self) -> None:
        """Write what is new."""
        if self.checkpoint is not None and self.done > self.written:
            self.checkpoint.write(self.name, self.written, self.done, self.since.taken())
            self.written = self.done


@dataclass(frozen=True)
class _Work:
    """A worker, and the tables and the coder that it uses."""

    worker: Worker
    tables: list[CorpusWords]
    sent: dict[str, bytes]  # What workers elsewhere are sent
    coder: Coder | None  # Knows what was coded before; None where the work is done elsewhere

    def table_of(self, number: int) -> CorpusWords | None:
        """The table of a metric, where it looks at one."""
        table = self.worker.tasks[number].table
        return None if table in (None, -1) else self.tables[table]


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
        asked = None if lists else whole.blank_references
        if not lists and whole.blank:
            compared = [metric for metric in metrics if metric.requires.references or metric.requires.edits]
            for way in sorted({asked or blank_for([metric], whole) for metric in compared}):
                names = [metric.label for metric in compared if (asked or blank_for([metric], whole)) == way]
                _note_blank(whole.blank, way, names if len(names) < len(compared) else ())
            whole = replace(cast("Any", whole), blank_references=asked or blank_for(metrics, whole))
        if not lists and options.notes:
            note_corpus(cast("Corpus", corpus), plan)
        stack.callback(note_memory)
        yield Runner(whole, plan, chosen, name, checkpoint, options.progress, stack, _asked=asked)
        if not lists and options.notes:
            note_thresholds(plan)  # Beside scores, not beside an error


def blank_for(metrics: Sequence[Metric], corpus: Corpus) -> Blank:
    """Decide whether blank references are empty or missing by default: a metric that takes the source decides."""
    return usual_blank(corpus.blank, len(corpus), source=any(metric.requires.source for metric in metrics))


def _note_blank(blank: int, way: Blank, names: Sequence[str]) -> None:
    """Note whether blank references beside others are empty or missing, for all metrics or the named ones."""
    other = Parameter("blank_references", "missing" if way == "empty" else "empty")
    counted = "empty texts" if way == "empty" else "missing, as left out by an annotator"
    many = f"{blank:,} references are" if blank > 1 else "1 reference is"
    by = f"by {', '.join(names)} " * bool(names)
    note(f"{many} blank beside others with text, and taken {by}as {counted} (the other way: ", other, ")")


def _streaming(metric: Metric, level: Level) -> SegmentRows | None:
    """Make a collector of the rows of a metric whose score needs more than their sum but not all rows at once."""
    aggregation, segments = at_level(metric, level).aggregation, level == "segment"
    streams = aggregation.by_segment if segments else not aggregation.sum_is_enough
    return SegmentRows(aggregation, segments=segments) if streams and aggregation.has_corpus_score else None


def segments_at_once(metrics: Sequence[Metric], corpus: Corpus) -> int:
    """Count the segments of a batch: fewer where metrics encode them, or where the corpus has documents."""
    choices = [
        metric.vector_choice for metric in metrics if metric.requires.vectors and metric.vector_choice.in_context
    ]
    # A card has more to do at once.
    slow = any(choice.computes_on is None or choice.computes_on.name == "cpu" for choice in choices)
    most = SLOW_BLOCK if slow else BLOCK
    if slow and any(metric.requires.edits and metric.requires.pieces for metric in metrics):
        most //= 16  # A line is encoded for every edit.
    length = corpus.bytes // max(len(corpus) * (len(corpus.systems) + 1), 1)
    # Time grows with the square of the length.
    return max(1, min(most, most * _ORDINARY**2 // max(length, 1) ** 2))


def collect_statistics(
    corpus: Corpus,
    metrics: GivenMetrics,
    options: RunOptions = RunOptions(),  # it is frozen
    *,
    keep_rows: bool = False,
    level: Level = "corpus",
) -> list[Statistics]:
    """Compute the statistics of a corpus by metrics, see `make_plan`, `Plan.over` and `Runner.collect`.

    `options` are as in `running`; `level` and `keep_rows` are as in `Plan.over`.
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
        edits=_edits_counted(corpus, metric),
        gating=corpus.gating,
        empty=_empty_outputs(corpus, systems) if metric.partial else None,
    )


def _empty_outputs(corpus: Corpus, systems: Sequence[str]) -> list[int]:
    """Count outputs without text, of each system."""
    empty = np.zeros(len(systems), np.int64)
    for block in corpus.blocks():
        texts = block.load().candidates
        empty += [sum(not line.strip() for line in texts[system]) for system in systems]
    return empty.tolist()


def _edits_counted(corpus: Corpus, metric: Metric) -> dict[str, str]:
    """Name the origin of edits that were not found in texts, and whether absent annotators count."""
    counted, gold = {}, corpus.gold or ()
    if metric.requires.edits and (corpus.gold is not None or corpus.edits):
        given = "given" if len(corpus.edits) == len(corpus.systems) else "mixed" if corpus.edits else ""
        counted["edits"] = "+".join(filter(None, ("gold" if corpus.gold is not None else "", given)))
    if any(one.absent for segment in gold for one in segment.annotations):
        counted["absent"] = "unchanged"
    return counted


def _part_of(progress: Progress | None, part: int, parts: int) -> Progress | None:
    """Progress of one of several passes."""
    if progress is None or parts == 1:
        return progress
    return lambda done, total: progress(done + part * total, total * parts)
