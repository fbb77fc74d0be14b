"""Score corpora: hand out blocks to workers, and collect their statistics."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from softbleu.corpora.corpus import BLOCK, Corpus
from softbleu.corpora.labels import Documents
from softbleu.corpora.validation import Blank, usual_blank
from softbleu.embeddings.choice import VectorChoice
from softbleu.encoders.opened import note_memory
from softbleu.engine.checkpoint import Checkpoint
from softbleu.engine.encode import Coder, ListCorpus, TaskBatch, task_batches
from softbleu.engine.notes import note_corpus, note_threshold
from softbleu.engine.plan import GivenMetrics, Plan, make_plan, requirements_of
from softbleu.engine.prepare import CorpusWords, PreparedCorpus, prepare_corpus
from softbleu.engine.statistics import Rows, RowTotals, Statistics
from softbleu.engine.worker import Task, Worker, count_known
from softbleu.errors import Parameter
from softbleu.io.arguments import check_run
from softbleu.io.executors import Done, Held, chosen_executor, hold, run_in_order
from softbleu.io.platform import cached_property, single_threaded_blas
from softbleu.io.progress import note
from softbleu.kernels import KernelName, choose_kernels
from softbleu.matching.ngrams import Chunk
from softbleu.metrics.base import Level, Metric
from softbleu.metrics.protocols import ReadsRows
from softbleu.metrics.requirements import Requirements
from softbleu.text.tokens import Tokenizer
from softbleu.version import __version__

if TYPE_CHECKING:
    from softbleu.types import Integers, Progress


SLOW_BLOCK = 64  # Segments of a block where lines are encoded
_ORDINARY = 400  # Bytes of a segment up to which a block is done at once


@dataclass(frozen=True)
class RunOptions:
    """Options of a run; no digit of a score depends on them."""

    jobs: int = 1  # Processes to use (threads, where compiled kernels do the work)
    executor: Executor | None = None  # Another executor to use instead, such as that of a Dask or MPI cluster
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
    _asked: Blank | None = field(repr=False)  # As what blank references count, where that is said
    _prepared: dict[tuple[Tokenizer, Blank], PreparedCorpus] = field(default_factory=dict, repr=False)
    _held: dict[int, Held[Any]] = field(default_factory=dict, repr=False)

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

    def _blank(self, *metrics: Metric) -> Blank:
        """Decide whether blank references are empty texts or missing: one that takes the source decides for all."""
        source = any(metric.requires.source for metric in metrics)
        return self._asked or usual_blank(self.corpus.blank, len(self.corpus), source=source)

    def decide_blank(self) -> None:
        """Decide as what blank references of the corpus count, and note it."""
        names: dict[Blank, list[str]] = {}
        for metric in self.plan.metrics:
            if metric.requires.references or metric.requires.edits:
                names.setdefault(self._blank(metric), []).append(metric.label)
        for way, some in sorted(names.items()):
            _note_blank(self.corpus.blank, way, some if len(names) > 1 else ())
        self.corpus = replace(self.corpus, blank_references=self._blank(*self.plan.metrics))

    def collect(
        self, metrics: Sequence[Metric], *, system: str | None = None, keep_rows: bool | None = None
    ) -> list[Statistics]:
        """Compute statistics of the corpus, or of one `system`, by metrics that need no more than the plan's.

        Metrics of one tokenizer share a pass, unless blank references count otherwise. Rows are kept as the plan
        says, or `keep_rows`; if they are not, they are reduced as they come, but for metrics that must see all.
        """
        corpus = self.corpus if system is None else self.corpus.only(system)
        keep_rows = self.plan.keep_rows if keep_rows is None else keep_rows
        found: dict[int, Statistics] = {}
        groups: dict[tuple[Tokenizer, Blank], list[int]] = {}
        for number, metric in enumerate(metrics):
            if isinstance(metric, ReadsRows):
                found[number] = _read_statistics(self.corpus, metric, corpus.systems)
            else:
                groups.setdefault((metric.tokenizer, self._blank(metric)), []).append(number)
        for group, ((_, blank), members) in enumerate(groups.items()):
            progress = part_of(self.progress, group, len(groups)) if len(groups) > 1 else self.progress
            together = [metrics[number] for number in members]
            texts = replace(corpus, blank_references=blank) if corpus.blank else corpus
            found |= zip(members, self._collect(together, texts, progress, keep_rows=keep_rows), strict=True)
        return [found[number] for number in range(len(metrics))]

    def _collect(
        self, metrics: Sequence[Metric], corpus: Corpus, progress: Progress | None, *, keep_rows: bool
    ) -> Iterator[Statistics]:
        """Go through a corpus once, for metrics of one tokenizer."""
        totals = [
            RowTotals(metric, self.plan.level, keep_rows=keep_rows, small=self.plan.small_rows) for metric in metrics
        ]
        worker, tables = self._work(metrics, [total.needs_rows for total in totals])
        step = segments_at_once(metrics, corpus)
        quiet = bool(tables) or any(total.stream is not None for total in totals)
        count = partial(self._mapped, worker, corpus, step, progress, quiet=quiet)
        if self.checkpoint is None:
            counted: Iterable[Sequence[Rows]] = count()
        else:
            identities = [table.identity for table in tables]
            identities += [corpus.documents.fingerprint] if corpus.documents is not None and self.plan.context else []
            identities += [str(corpus.blank_references)] if corpus.blank else []
            keeps = [task.keep_rows for task in worker.tasks]
            work = worker.tokenizer, corpus.systems, *zip(metrics, keeps, strict=True), *identities
            counted = self.checkpoint.resumed((__version__, *work), worker.tasks, corpus, step, count)
        for made in counted:
            for total, part in zip(totals, made, strict=True):
                total.add(part)
        for task, metric, total in zip(worker.tasks, metrics, totals, strict=True):
            rows = total.taken()
            table = None if task.table is None or not metric.requires.vectors else tables[task.table]
            vectors, coverage = (None, None) if table is None else table.covered(rows.coverage)
            yield Statistics(
                corpus.systems,
                metric,
                rows.rows,
                rows.counts,
                rows.references,
                vectors,
                coverage,
                None if total.stream is None else total.stream.scores(),
                total.kept,
                resegmented=corpus.resegmented,
                documents=corpus.documents,
                without_blank=corpus.blank > 0 and corpus.blank_references == "missing",
                against=corpus.against,
                edits=_edits_counted(corpus, metric),
                gating=corpus.gating,
                empty=_empty_outputs(corpus) if metric.partial else None,
            )

    def compare(self) -> tuple[Statistics, Iterator[list[Integers]]]:
        """Compute the statistics of all pairs of texts of each list, by the one metric of the plan; see `Worker`.

        All lists together have a signature, but no rows; statistics come some lists at a time.
        """
        (metric,) = self.plan.metrics
        worker, tables = self._work([metric], [True])
        none, coverage = np.zeros((0, 0, 0), np.int64), np.zeros((1, 4), np.int64)
        table = tables[0] if tables and metric.requires.vectors else None
        if table is not None:
            for block in self.prepared(metric).blocks():
                lists = Chunk(block.candidates[0], block.references, block.offsets)
                coverage += count_known(lists, table.words.vectors)
        known = (None, None) if table is None else table.covered(coverage)
        statistics = Statistics((), metric, none, np.zeros(0, np.int64), (1, 1), *known)
        return statistics, self._mapped(worker.compare, self.corpus, BLOCK, self.progress)

    def mapped(self, metric: Metric, make: Callable[[Worker], Callable[[TaskBatch], Done]]) -> Iterator[Done]:
        """Apply the function that is made of a worker of one metric to each batch of the corpus, in order."""
        corpus = replace(self.corpus, blank_references=self._blank(metric))
        worker, _ = self._work([metric], [True])
        return self._mapped(make(worker), corpus, segments_at_once([metric], corpus), self.progress)

    def _mapped(
        self,
        work: Callable[[TaskBatch], Done],
        corpus: Corpus | ListCorpus,
        step: int,
        progress: Progress | None,
        done: int = 0,
        *,
        quiet: bool = True,
    ) -> Iterator[Done]:
        """Do the work for each batch of a corpus behind what is done, in order, and tell the progress.

        With `quiet`, matrix products take one core meanwhile.
        """
        if progress is not None and done == len(corpus):
            progress(done, done)
        sizes = deque[int]()  # Of batches that are taken; `tee` would keep their texts

        def noted() -> Iterator[TaskBatch]:
            for batch in task_batches(corpus, self.executor, step if step < BLOCK else None, skip=done):
                sizes.append(len(batch))
                yield batch

        results = run_in_order(work, noted(), self.executor)
        with single_threaded_blas() if quiet else nullcontext():
            for result in results:
                yield result
                done += sizes.popleft()
                if progress is not None:
                    progress(done, len(corpus))

    def _work(self, metrics: Sequence[Metric], keeps: Sequence[bool]) -> tuple[Worker, list[CorpusWords]]:
        """Make the worker of metrics of one tokenizer; return the tables of words that it looks at, too."""
        tokenizer, executor = metrics[0].tokenizer, self.executor
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
        prepared, needed = self._prepared.get((tokenizer, self._blank(metrics[0]))), self.needed[tokenizer]
        coder = None if prepared is None else prepared.coder
        if executor is None and coder is None:
            coder = Coder(tokenizer, needed, self.kernels)
        words = None if prepared is None or executor is None or not tables else prepared.counts.vocabulary
        for value in (*(table.words for table in tables), words):
            if value is not None and id(value) not in self._held:
                self._held[id(value)] = self._stack.enter_context(hold(value, executor))
        held = tuple(self._held[id(table.words)] for table in tables)
        coded = {"coder": coder} if executor is None else {"words": self._held.get(id(words))}
        return Worker(tuple(tasks), tokenizer, needed, self.kernels, held, **coded), tables


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
    at_once = 1 if isinstance(corpus, ListCorpus) else segments_at_once(metrics, corpus)
    tasks = -(-len(corpus) // at_once)
    with ExitStack() as stack:
        chosen = stack.enter_context(chosen_executor(options.executor, options.jobs, tasks, threads=threads))
        whole = cast("Corpus", corpus)  # lists have no systems to take one of
        if plan.context and whole.documents is None:
            whole = replace(whole, documents=Documents.of([""] * len(whole)))
        checkpoint = None if options.checkpoint is None else Checkpoint(options.checkpoint, whole)
        asked = None if lists else whole.blank_references
        runner = Runner(whole, plan, chosen, name, checkpoint, options.progress, stack, asked)
        if whole.blank:
            runner.decide_blank()
        if not lists and options.notes:
            note_corpus(whole, plan)
        if any(metric.requires.vectors and metric.vector_choice.in_context for metric in metrics):
            stack.callback(note_memory)
        yield runner
        if not lists and options.notes:
            for threshold in plan.recommended:  # Beside scores, not beside an error
                note_threshold(threshold)


def _note_blank(blank: int, way: Blank, names: Sequence[str]) -> None:
    """Note whether blank references beside others are empty or missing, for all metrics or the named ones."""
    other = Parameter("blank_references", "missing" if way == "empty" else "empty")
    many = f"{blank:,} blank references were" if blank > 1 else "1 blank reference was"
    by = f"by {', '.join(names)} " * bool(names)
    note(
        f"{many} {f'scored {by}as empty text' if way == 'empty' else f'treated {by}as missing'} (the other way: ",
        other,
        ")",
    )


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


def _read_statistics(corpus: Corpus, metric: Metric, systems: Sequence[str]) -> Statistics:
    """Read the statistics of a metric that looks at no text."""
    rows = cast("ReadsRows", metric).read_rows(corpus, systems)
    unit = next((log.unit for log in corpus.logs.values() if metric.requires.delays), "word")  # The same in all
    return Statistics(
        tuple(systems),
        metric,
        cast("Integers", rows),
        np.ones(len(corpus), np.int64),
        (0, 0),
        resegmented=corpus.resegmented and metric.requires.delays,
        documents=corpus.documents,
        edits={} if unit == "word" else {"unit": unit},
    )


def _empty_outputs(corpus: Corpus) -> list[int]:
    """Count outputs without text, of each system."""
    empty = np.zeros(len(corpus.systems), np.int64)
    for block in corpus.blocks():
        texts = block.load().candidates
        empty += [sum(not line.strip() for line in texts[system]) for system in corpus.systems]
    return empty.tolist()


def _edits_counted(corpus: Corpus, metric: Metric) -> dict[str, str]:
    """Name the origin of edits that were not found in texts, chosen annotators, and whether absent ones count."""
    counted, gold = {"kept-annotators": corpus.annotators} if corpus.annotators else {}, corpus.gold or ()
    if metric.requires.edits and (corpus.gold is not None or corpus.edits):
        given = "given" if len(corpus.edits) == len(corpus.systems) else "mixed" if corpus.edits else ""
        counted["edits"] = "+".join(filter(None, ("gold" if corpus.gold is not None else "", given)))
    if any(one.absent and len(segment.annotations) > 1 for segment in gold for one in segment.annotations):
        counted["absent"] = "unchanged"
    return counted


def part_of(progress: Progress | None, part: int, parts: int) -> Progress | None:
    """Return the progress of one of several passes."""
    if progress is None:
        return None
    return lambda done, total: progress(done + part * total, parts * total)
