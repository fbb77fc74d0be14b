"""Score corpora: the one place where blocks are handed out, chunks scored, and rows kept or summed."""

from __future__ import annotations

import tempfile
import threading
from bisect import bisect_right
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import islice, tee
from operator import or_
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast, overload
from weakref import finalize

import numpy as np

from softbleu.corpora.corpus import BLOCK
from softbleu.corpora.labels import Documents
from softbleu.corpora.validation import usual_blank
from softbleu.embeddings.choice import NO_VECTORS, VectorChoice
from softbleu.engine.checkpoint import EVERY, BlockStatistics, Checkpoint
from softbleu.engine.encode import BlockCoder, CodedBlock, ListCorpus, TaskBatch, in_parts, task_batches
from softbleu.engine.notes import note_delays, note_text
from softbleu.engine.plan import GivenMetrics, Plan, make_plan, requirements_of
from softbleu.engine.prepare import Broadcast, CorpusWords, PreparedCorpus, broadcast, prepare_corpus
from softbleu.errors import Parameter
from softbleu.io.arguments import check_run
from softbleu.io.executors import Done, chosen_executor, run_in_order
from softbleu.io.platform import cached_property, single_threaded_blas
from softbleu.io.progress import note
from softbleu.kernels import KernelName, Kernels, choose_kernels
from softbleu.matching.ngrams import Chunk
from softbleu.matching.sweep import matched_by_all
from softbleu.metrics.base import Level, Metric
from softbleu.metrics.guards import checked_rows, failure_of, rows_of_pairs
from softbleu.metrics.protocols import ComparesPairs, ReadsRows, at_level, in_percent, shares_matches
from softbleu.metrics.requirements import Requirements
from softbleu.metrics.result import Coverage, Result
from softbleu.metrics.score import DocumentScore, Score
from softbleu.text.coded import Vocabulary
from softbleu.text.tokens import Tokenizer
from softbleu.version import __version__

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Against, Corpus
    from softbleu.corpora.gating import Gating
    from softbleu.corpora.validation import Blank
    from softbleu.matching.ngrams import Vectors, WordTable
    from softbleu.metrics.aggregation import Aggregation
    from softbleu.types import Array, Integers, Keywords, Progress

    Rows = Array


MINI_BATCH = 512  # Candidates that are matched together: few enough for the cache. Results do not depend on it.
LEAST = 32  # Segments that are matched together, at least, for any number of systems
MOST_TOGETHER = 1 << 18  # Tokens that are looked at together, unless a segment alone has more
SMALL_LIST = 32  # Pairs of a small list
SLOW_BLOCK = 64  # Segments of a block where lines are encoded
_ORDINARY = 400  # Bytes of a segment up to which a block is done at once
_MOST_KEPT = 1 << 18  # Numbers that are kept in memory; more are in a file that goes with them


class SegmentRows:
    """Rows of one metric, block by block: reduced as they come; kept, too, where `segments` are asked for."""

    def __init__(self, aggregation: Aggregation, *, segments: bool) -> None:
        self._aggregation, self._stream, self._segments = aggregation, aggregation.stream(), segments
        self._parts: list[tuple[Integers, Integers] | int] = []
        self._stops: list[int] = []
        self._size = 0
        self._file: IO[bytes] | None = None

    def __len__(self) -> int:
        return self._stops[-1] if self._stops else 0

    def take(self, part: BlockStatistics) -> BlockStatistics:
        """Consume the rows of `part`; return `part` without its rows."""
        self._stream.add(part.rows, part.counts)
        if self._segments:
            self.keep(part.rows, part.counts)
        return replace(part, rows=part.rows[:, :0], counts=part.counts[:0])

    def scores(self) -> Sequence[Score]:
        """Score the corpus, for each system."""
        return self._stream.scores()

    def segments(self, system: int) -> Sequence[Score]:
        """Score the segments of a system; scores of a long text are computed on access."""
        scores = SegmentScores(self, self._aggregation, system)
        return tuple(scores) if self._file is None else scores

    def statistics(self, system: int) -> ChosenRows | None:
        """Rows that the corpus score of a system is made of, one a segment; None where there is more to it."""
        chosen = ChosenRows(self, self._aggregation, system)
        return None if next(iter(chosen), None) is None else chosen

    def keep(self, rows: Integers, counts: Integers) -> None:
        """Keep the next segments: (systems, rows, k), and how many rows each segment has."""
        self._stops.append(len(self) + len(counts))
        self._size += rows.size
        if self._size <= _MOST_KEPT:
            self._parts.append((rows, counts))
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="softbleu-")  # noqa: SIM115
            finalize(self, self._file.close)
        self._parts.append(self._file.seek(0, 2))
        for array in (rows, counts):
            np.save(self._file, array, allow_pickle=False)

    def blocks(self, first: int = 0) -> Iterator[tuple[int, Integers, Integers]]:
        """The blocks from that of segment `first`: the number of the first segment, rows and counts."""
        for number in range(bisect_right(self._stops, first), len(self._parts)):
            part: Any = self._parts[number]
            if self._file is not None and isinstance(part, int):
                self._file.seek(part)
                part = [np.load(self._file, allow_pickle=False) for _ in range(2)]
            yield self._stops[number - 1] if number else 0, *part


@dataclass(frozen=True)
class ChosenRows:
    """Rows of the segments of a system, read again each time that they are gone through."""

    rows: SegmentRows
    aggregation: Aggregation
    system: int

    def __iter__(self) -> Iterator[Integers]:
        for _, rows, counts in self.rows.blocks():
            chosen = self.aggregation.counts(rows[self.system], np.concatenate(([0], np.cumsum(counts))))
            yield from () if chosen is None else chosen


class SegmentScores(Sequence[Score]):
    """Scores of the segments of a system, computed when they are looked at."""

    def __init__(self, rows: SegmentRows, aggregation: Aggregation, system: int) -> None:
        self._rows, self._aggregation, self._system = rows, aggregation, system

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Score]:
        return self._from(0)

    @overload
    def __getitem__(self, place: int) -> Score: ...
    @overload
    def __getitem__(self, place: slice) -> list[Score]: ...
    def __getitem__(self, place: int | slice) -> Score | list[Score]:
        numbers = range(len(self))[place]
        if isinstance(numbers, int):
            return next(self._from(numbers))
        if numbers.step == 1:
            return list(islice(self._from(numbers.start), len(numbers))) if numbers else []
        return [self[number] for number in numbers]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(Score.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def _from(self, first: int) -> Iterator[Score]:
        for start, rows, counts in self._rows.blocks(first):
            offsets = np.concatenate(([0], np.cumsum(counts)))
            yield from self._aggregation.segment_scores(rows[self._system], offsets)[max(first - start, 0) :]


@dataclass(frozen=True)
class Statistics:
    """Statistics of a corpus by one metric, for every system."""

    systems: tuple[str, ...]
    metric: Metric
    rows: Integers  # (systems, rows, k); one row per segment, one for each reference of each segment, or a single sum
    counts: Integers  # Rows of each segment; a sum counts as one segment
    references: tuple[int, int]  # Fewest and most references of a segment
    vectors: str | None = None  # Name and content of the vectors; None when no similarity was looked at
    coverage: tuple[Coverage, ...] | None = None  # None when no similarity was looked at
    streamed: SegmentRows | None = None  # What became of the rows, where they were not kept
    resegmented: bool = False  # Whether candidates were cut into the segments of the references
    documents: Documents | None = None  # Those of the segments, where they are known
    without_blank: bool = False  # Whether there are blank references that are missing
    against: Against = "references"  # Or the source, in their place
    edits: Mapping[str, str] = field(default_factory=dict)  # Which edits were counted, by key of the signature
    gating: Gating | None = None  # What a gate did to the candidates

    @cached_property
    def offsets(self) -> Integers:
        """Segment s has the rows ``offsets[s]`` to ``offsets[s + 1]``."""
        return np.concatenate(([0], np.cumsum(self.counts)))

    def scores_of_parts(self, numbers: Integers) -> Iterator[tuple[int, int, list[Score]]]:
        """Score parts of the corpus, each as a corpus of its own; `numbers` say which each segment is of.

        Yields the number of a part, how many segments it has, and the score of each system.
        """
        metric = at_level(self.metric, "corpus")
        of_rows = np.repeat(numbers, self.counts)
        for number, size in enumerate(np.bincount(numbers).tolist()):
            if size:
                offsets = np.concatenate(([0], np.cumsum(self.counts[numbers == number])))
                yield number, size, [metric.aggregation.score(rows[of_rows == number], offsets) for rows in self.rows]

    def signature(self, level: Level = "corpus", *, short: bool = False, **more: object) -> str:
        """Write the signature of scores at a level, the short or the long one, with `more` keys."""
        fewest, most = self.references
        counted: dict[str, object] = {}
        if self.metric.requires.references:
            counted["nrefs"] = fewest if fewest == most else "var"
        if self.metric.requires.references or self.metric.requires.edits:
            counted |= {"blank": "missing"} if self.without_blank else {}
            counted |= {"against": "source"} if self.against == "source" else {}
        counted |= self.edits
        if self.resegmented:
            counted["resegment"] = "yes"
        counted |= {} if self.gating is None else self.gating.signed()
        in_context = self.metric.requires.vectors and self.metric.vector_choice.context
        if self.documents is not None and self.documents.count > 1 and (in_context or level == "document"):
            counted["documents"] = str(self.documents)
        metric = self._scorer(level)
        return metric.signature(short=short, vectors=self.vectors, level=level, **counted, **more)

    def _scorer(self, level: Level) -> Metric:
        """The metric as it scores at a level; documents are scored as corpora."""
        return at_level(self.metric, "corpus" if level == "document" else level)

    def results(self, level: Level = "corpus") -> list[Result]:
        """Score every system; for levels see `softbleu.score`."""
        # All numbers of a run are scored alike, and signed once: if segments have numbers, by their signature.
        scorer, offsets = self._scorer(level), self.offsets
        signature, short = (self.signature(level, short=short) for short in (False, True))
        aggregation = scorer.aggregation
        documents = self._document_scores() if level == "document" else None
        macro = level == "macro" or (level in ("segment", "reference") and not aggregation.has_corpus_score)
        label = (scorer.called or scorer.label) + " (macro)" * (level == "macro")
        streamed = None if self.streamed is None else self.streamed.scores()
        named = str(self.metric), label, signature, short, scorer.higher_is_better
        results = []
        for number, system in enumerate(self.systems):
            rows = self.rows[number]
            coverage = None if self.coverage is None else self.coverage[number]
            if streamed is not None:
                score = streamed[number]
            elif macro:
                scores = [score.score for score in aggregation.segment_scores(rows, offsets)]
                score = replace(aggregation.pooled(rows, offsets), score=_mean(scores))
            else:
                with nullcontext() if aggregation.sum_is_enough else single_threaded_blas():
                    score = aggregation.score(rows, offsets)
            parts: Keywords = {"in_percent": in_percent(scorer)}
            parts["gated"] = None if self.gating is None else self.gating.of(system)
            if level == "segment" and self.streamed is not None:
                parts["segments"] = self.streamed.segments(number)
                parts["statistics"] = self.streamed.statistics(number)
            elif level == "segment":
                parts["statistics"] = aggregation.counts(rows, offsets)
                parts["segments"] = tuple(aggregation.segment_scores(rows, offsets))
            elif level == "reference":
                parts["references"] = tuple(aggregation.reference_scores(rows, offsets))
            elif documents is not None:
                parts["documents"] = documents[number]
            results.append(Result(system, score, *named, coverage, **parts))
        return results

    def _document_scores(self) -> list[tuple[DocumentScore, ...]]:
        """Score the documents, for each system."""
        documents: Any = self.documents  # There are some: `Plan.over` asks for them
        parts = list(self.scores_of_parts(documents.fitting(len(self.counts))))
        return [
            tuple(DocumentScore(documents.names[number], size, scores[system]) for number, size, scores in parts)
            for system in range(len(self.systems))
        ]


def _mean(scores: Sequence[float]) -> float:
    """Compute the mean of scores of segments, of those that have one."""
    there = [score for score in scores if score == score]
    return float(np.mean(there)) if there else np.nan


@dataclass(frozen=True)
class Task:
    """A metric to compute, the number of its table of words, and whether the rows of all segments are wanted."""

    metric: Metric
    table: int | None
    keep_rows: bool

    @property
    def by_annotator(self) -> bool:
        """Whether it looks at edits, not at references."""
        return self.metric.requires.by_annotator


_mine = threading.local()  # What a thread of a worker keeps from one task to the next


@dataclass(frozen=True)
class Worker:
    """Scores coded chunks by all metrics of a tokenizer; small enough to travel with every batch."""

    tasks: tuple[Task, ...]
    tokenizer: Tokenizer
    needed: Requirements  # What all metrics together look at
    kernels: KernelName
    tables: tuple[Broadcast, ...] = ()
    words: Broadcast | None = None  # Those that tables count, where whoever does the work does not know them

    def __call__(self, batch: TaskBatch, coder: BlockCoder | None = None) -> list[BlockStatistics]:
        """Compute the statistics of a batch, by every metric; a coder knows lines from batches before."""
        sums, first = Sums(self.tasks), batch.first
        for block in batch.coded(coder or self.own_coder()):
            sums.add(self.of_block(block, first))
            first += len(block)
        return sums.taken()

    def compare(self, batch: TaskBatch, coder: BlockCoder | None = None) -> list[Rows]:
        """Compute the statistics of all pairs of texts of each list of a batch, by the first metric.

        `coder` codes the texts; the worker has its own unless one is given.

        They have the shape (candidates, references, k).
        """
        tables, kernels = [table.load() for table in self.tables], choose_kernels(self.kernels)
        coded = batch.coded(coder or self.own_coder())
        return [rows for lists in coded for rows in self._of_lists(lists, tables, kernels)]

    def rows(
        self,
        chunks: Sequence[Chunk],
        tables: Sequence[WordTable],
        kernels: Kernels,
        gold: Sequence[Chunk] | None = None,
        first: int | None = None,
    ) -> Iterator[tuple[int, list[Integers]]]:
        """Compute the rows of each chunk by every metric, by these kernels, and yield them with its number.

        `chunks` are the same segments of each system, `gold` too, for metrics that look at edits; `tables` have what
        is known of words. There are `first` segments of the corpus before them, if they have numbers.
        """
        alone, families = self._families
        for number in alone:
            task = self.tasks[number]
            words = None if task.table is None else tables[task.table]
            seen = gold if gold and task.by_annotator else chunks
            yield number, [checked_rows(task.metric, chunk, words, kernels, first=first) for chunk in seen]
        for (order, table), numbers in families.items():
            members: list[Any] = [self.tasks[number].metric for number in numbers]
            if len(members) == len(chunks) == 1:
                yield numbers[0], [checked_rows(members[0], chunks[0], tables[table], kernels, first=first)]
                continue
            matchers = [metric.matching for metric in members]
            matched = matched_by_all(matchers, chunks, tables[table].vectors, order, kernels)
            for number, metric, by_system in zip(numbers, members, matched, strict=True):
                known = partial(checked_rows, metric, words=tables[table], kernels=kernels, first=first)
                pairs = zip(chunks, by_system, strict=True)
                yield number, [known(chunk, matched=of_chunk) for chunk, of_chunk in pairs]

    @cached_property
    def _families(self) -> tuple[list[int], dict[tuple[int, int], list[int]]]:
        """Number the metrics that share nothing, and the metrics that share matches, by their order and table."""
        alone: list[int] = []
        families: dict[tuple[int, int], list[int]] = {}
        for number, task in enumerate(self.tasks):
            if task.table is not None and shares_matches(task.metric):
                families.setdefault((task.metric.order, task.table), []).append(number)
            else:
                alone.append(number)
        return alone, families

    def own_coder(self) -> BlockCoder:
        """Return the coder of this worker, which is kept from batch to batch."""
        key = self.tokenizer, self.needed, self.kernels, self.words
        if getattr(_mine, "key", None) != key:
            vocabulary = None if self.words is None else self.words.load()
            _mine.coder, _mine.key = BlockCoder(self.tokenizer, self.needed, self.kernels, vocabulary), key
        coder: BlockCoder = _mine.coder
        return coder

    def of_block(self, block: CodedBlock, first: int) -> list[BlockStatistics]:
        """Go through a block in mini-batches, each of which has a chunk for every system."""
        together = len(block.candidates) if self._families[1] else 1
        size = max(MINI_BATCH // max(together, 1), LEAST) if self.tables else max(len(block), 1)
        tables, kernels = [table.load() for table in self.tables], choose_kernels(self.kernels)
        sums = Sums(self.tasks)
        for start, end in block.cuts(size, MOST_TOGETHER):
            chunks = list(block.chunks(start, end))
            gold = list(block.chunks(start, end, gold=True)) if self.needed.by_annotator else []
            made = dict(self.rows(chunks, tables, kernels, gold, first + start))
            parts = enumerate(self.tasks)
            sums.add(
                [
                    _statistics_of_chunks(task, made[n], gold if task.by_annotator else chunks, tables)
                    for n, task in parts
                ]
            )
        return sums.taken()

    def _of_lists(self, lists: CodedBlock, tables: Sequence[WordTable], kernels: Kernels) -> list[Rows]:
        """Go through lists: the pairs of small ones together, for there much time goes by for each list."""
        metric, words = self.tasks[0].metric, None if self.tasks[0].table is None else tables[self.tasks[0].table]
        candidates, references = lists.sizes
        pairs = candidates * references
        by_list: dict[int, Rows] = {}
        small = np.flatnonzero(pairs <= SMALL_LIST)
        if len(small):
            ((_, (rows,)),) = self.rows([lists.pairs(small)], tables, kernels)
            for number, pair_rows in zip(small.tolist(), np.split(rows, np.cumsum(pairs[small])[:-1]), strict=True):
                by_list[number] = pair_rows.reshape(candidates[number], references[number], -1)
        for number in np.flatnonzero(pairs > SMALL_LIST).tolist():
            one, other = lists.texts(number)
            # The same texts are prepared once; of many candidates only some are compared at a time.
            parts = [one] if one is other else in_parts(one)
            # With `partial`, references end elsewhere for each candidate.
            compare: Callable[..., Integers] = partial(rows_of_pairs, metric)
            if isinstance(metric, ComparesPairs) and not metric.partial:
                compare = metric.pair_statistics
            by_list[number] = np.concatenate([compare(part, other, words, kernels) for part in parts])
        return [by_list[number] for number in range(len(lists))]


def _statistics_of_chunks(
    task: Task, by_system: Sequence[Integers], chunks: Sequence[Chunk], tables: Sequence[WordTable]
) -> BlockStatistics:
    """Put the rows of a chunk of each system together, or their sums where rows are not kept."""
    check_widths(task.metric, by_system)
    references = np.diff(chunks[0].segment_offsets)
    counts = references if len(by_system[0]) != len(references) else np.ones(len(references), np.int64)
    if not task.keep_rows:
        by_system, counts = [rows.sum(axis=0, keepdims=True) for rows in by_system], np.ones(1, np.int64)
    coverage = np.zeros((len(chunks), 4), np.int64)
    if task.table is not None:
        coverage = np.stack([count_known(chunk, tables[task.table].vectors) for chunk in chunks])
    return BlockStatistics(np.stack(by_system), counts, coverage, (int(references.min()), int(references.max())))


def check_widths(metric: Metric, parts: Sequence[Integers]) -> None:
    """Check that the rows of a metric have as many numbers in all parts; the error names the metric."""
    widths = sorted({rows.shape[-1] for rows in parts})
    if len(widths) > 1:
        raise failure_of(metric, f"{widths[0]} numbers in one row of statistics, and {widths[1]} in another")


def _joined(parts: Sequence[BlockStatistics]) -> BlockStatistics:
    """Put the rows of consecutive blocks together."""
    return BlockStatistics(
        np.concatenate([part.rows for part in parts], axis=1),
        np.concatenate([part.counts for part in parts]),
        sum((part.coverage for part in parts[1:]), start=parts[0].coverage),
        (min(part.references[0] for part in parts), max(part.references[1] for part in parts)),
    )


class Sums:
    """Statistics added up, or put one behind the other where rows are kept."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self._parts: list[list[BlockStatistics]] = [[] for _ in tasks]

    def add(self, parts: Sequence[BlockStatistics]) -> None:
        """Add the statistics of the next blocks, by every task."""
        for task, before, part in zip(self._tasks, self._parts, parts, strict=True):
            check_widths(task.metric, [part.rows, *(last.rows for last in before[-1:])])
            if task.keep_rows or not before:
                before.append(part)
            else:
                before[0] = replace(_joined([before[0], part]), rows=before[0].rows + part.rows, counts=part.counts)

    def taken(self) -> list[BlockStatistics]:
        """Return the accumulated statistics and reset."""
        taken = [_joined(parts) for parts in self._parts]
        self._parts = [[] for _ in self._tasks]
        return taken


def count_known(chunk: Chunk, vectors: Vectors) -> Integers:
    """Count the tokens of a chunk, and tokens with a vector: (candidates, known, references, known)."""
    counts = [
        count
        for tokens in (chunk.candidates, chunk.references)
        for count in (len(tokens.codes), int(vectors.known(tokens).sum()))
    ]
    return np.array(counts, np.int64)


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
        plan = self.plan
        more = [] if plan.prepared is None else [plan.prepared]
        if plan.context:
            more.append(Requirements(references=False, context=plan.context))
        return {
            tokenizer: reduce(or_, (*(requirements_of(plan.metrics[number]) for number in numbers), *more))
            for tokenizer, numbers in by_tokenizer(plan.metrics).items()
        }

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

        Metrics of one tokenizer share a pass. Rows are kept as the plan says, or `keep_rows`; if they are not, they
        are reduced as they come, but for metrics that must see all at once.
        """
        keep_rows = self.plan.keep_rows if keep_rows is None else keep_rows
        systems = self.corpus.systems if system is None else (system,)
        statistics = {
            number: self._read(metric, systems)
            for number, metric in enumerate(metrics)
            if isinstance(metric, ReadsRows)
        }
        groups = by_tokenizer(metrics, without=statistics)
        parts = [part for members in groups.values() for part in self._by_blank(metrics, members)]
        for group, members in enumerate(parts):
            together = [metrics[number] for number in members]
            made = self._collect(together, system, keep_rows, _part_of(self.progress, group, len(parts)))
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

    def _by_blank(self, metrics: Sequence[Metric], members: Sequence[int]) -> list[list[int]]:
        """Part the numbers of metrics for which blank references count in different ways."""
        ways: dict[Blank, list[int]] = {}
        for number in members:
            ways.setdefault(self._blank(metrics[number]), []).append(number)
        return list(ways.values())

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
            if metric.requires.table:
                table = self.prepared(metric).table(metric.vector_choice, metric.requires)
                number = next((index for index, other in enumerate(tables) if other is table), len(tables))
                tables += [table] if number == len(tables) else []
            # Workers are given tables of vectors: those of the metric need not travel.
            tasks.append(Task(replace(metric, vector_choice=VectorChoice()), number, keep))
        prepared, coder = self._prepared.get((tokenizer, self._blank(metrics[0]))), None
        values: list[WordTable | Vocabulary] = [table.words for table in tables]
        if self.executor is None:
            coder = BlockCoder(tokenizer, needed, self.kernels) if prepared is None else prepared.coder
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
        since = Sums(tasks)
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


def by_tokenizer(metrics: Sequence[Metric], without: Container[int] = ()) -> dict[Tokenizer, list[int]]:
    """Number the metrics of each tokenizer, which are computed together; numbers in `without` are left out."""
    groups: dict[Tokenizer, list[int]] = {}
    for number, metric in enumerate(metrics):
        if number not in without:
            groups.setdefault(metric.tokenizer, []).append(number)
    return groups


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
        asked = None if lists else whole.blank_references
        if not lists and whole.blank:
            compared = [metric for metric in metrics if metric.requires.references or metric.requires.edits]
            for way in sorted({asked or blank_for([metric], whole) for metric in compared}):
                names = [metric.label for metric in compared if (asked or blank_for([metric], whole)) == way]
                _note_blank(whole.blank, way, names if len(names) < len(compared) else ())
            whole = replace(cast("Any", whole), blank_references=asked or blank_for(metrics, whole))
        if not lists and options.notes:
            note_text(whole, [metric for metric in metrics if not isinstance(metric, ReadsRows)])
            note_delays(whole, metrics)
        yield Runner(whole, plan, chosen, name, checkpoint, options.progress, stack, _asked=asked)


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
    slow = any(metric.requires.vectors and metric.vector_choice.in_context for metric in metrics)
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
    )


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
