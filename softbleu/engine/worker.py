"""Score batches of a corpus in a worker, and join or sum the rows of its chunks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.engine.encode import CodedBlock, Coder, TaskBatch, in_parts
from softbleu.engine.statistics import Rows, check_widths
from softbleu.io.executors import Held
from softbleu.io.platform import cached_property
from softbleu.kernels import KernelName, Kernels, choose_kernels
from softbleu.matching.ngrams import Chunk, Vectors, WordTable
from softbleu.matching.sweep import matched_by_all
from softbleu.metrics.base import Metric
from softbleu.metrics.guards import checked_rows, rows_of_pairs
from softbleu.metrics.protocols import ComparesPairs, shares_matches
from softbleu.metrics.requirements import Requirements
from softbleu.text.coded import Vocabulary
from softbleu.text.tokens import Tokenizer

if TYPE_CHECKING:
    from softbleu.types import Integers


MINI_BATCH = 512  # Candidates that are matched together: few enough for the cache. Results do not depend on it.
LEAST = 32  # Segments that are matched together, at least, for any number of systems
MOST_TOGETHER = 1 << 18  # Tokens that are looked at together, unless a segment alone has more
SMALL_LIST = 32  # Pairs of a small list


@dataclass(frozen=True)
class Task:
    """A metric to compute, the number of its table of words, and whether the rows of all segments are wanted."""

    metric: Metric
    table: int | None  # -1: that of the coder, with parts of words
    keep_rows: bool


_mine = threading.local()  # What a thread of a worker keeps from one task to the next


@dataclass(frozen=True)
class Worker:
    """Counts what all metrics of a tokenizer look at; small enough to travel with every batch."""

    tasks: tuple[Task, ...]
    tokenizer: Tokenizer
    needed: Requirements  # What all metrics together look at
    kernels: KernelName
    tables: tuple[Held[WordTable], ...] = ()
    words: Held[Vocabulary] | None = None  # Words that tables count, for workers that do not know them
    coder: Coder | None = None  # Knows lines and words that it coded before; it does not travel

    def __call__(self, batch: TaskBatch) -> list[Rows]:
        """Count the segments of a batch, by every metric."""
        coder = self.coder or self.own_coder()
        parts = [*self.of_block(batch.coded(coder), batch.first, self.loaded(coder))]
        return parts[0] if len(parts) == 1 else joined_rows(self.tasks, parts)

    def compare(self, batch: TaskBatch) -> list[Integers]:
        """Compute the statistics of all pairs of texts of each list of a batch, by the first metric.

        They have the shape (candidates, references, k).
        """
        kernels, coder = choose_kernels(self.kernels), self.coder or self.own_coder()
        return self._of_lists(batch.coded(coder), self.loaded(coder), kernels)

    def loaded(self, coder: Coder) -> list[WordTable]:
        """Load the tables; the last has parts of the words that the coder knows, where metrics take no others."""
        tables: list[WordTable] = [table.value() for table in self.tables]
        parts: list[Any] = [part for task in self.tasks if task.table == -1 for part in task.metric.requires.parts]
        return [*tables, coder.table(dict.fromkeys(parts))] if parts else tables

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
            seen = gold if gold and task.metric.requires.by_annotator else chunks
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

    def own_coder(self) -> Coder:
        """Return the coder of this thread, which is kept from batch to batch."""
        key = self.tokenizer, self.needed, self.kernels, self.words
        if getattr(_mine, "key", None) != key:
            vocabulary = None if self.words is None else self.words.value()
            _mine.coder, _mine.key = Coder(self.tokenizer, self.needed, self.kernels, vocabulary), key
        coder: Coder = _mine.coder
        return coder

    def of_block(self, block: CodedBlock, first: int, tables: Sequence[WordTable]) -> Iterator[list[Rows]]:
        """Count a block in mini-batches, each of which has a chunk for every system: by every metric."""
        together = len(block.candidates) if self._families[1] else 1
        size = max(MINI_BATCH // max(together, 1), LEAST) if tables else max(len(block), 1)
        kernels = choose_kernels(self.kernels)
        for start, end in block.cuts(size, MOST_TOGETHER):
            chunks = list(block.chunks(start, end))
            gold = list(block.chunks(start, end, gold=True)) if self.needed.by_annotator else []
            made = dict(self.rows(chunks, tables, kernels, gold, first + start))
            seen = (gold if task.metric.requires.by_annotator else chunks for task in self.tasks)
            parts = (made[number] for number in range(len(self.tasks)))
            yield [*map(partial(_rows_of_chunks, tables), self.tasks, parts, seen)]

    def _of_lists(self, lists: CodedBlock, tables: Sequence[WordTable], kernels: Kernels) -> list[Integers]:
        """Go through lists: the pairs of small ones together, for there much time goes by for each list."""
        metric, words = self.tasks[0].metric, None if self.tasks[0].table is None else tables[self.tasks[0].table]
        candidates, references = lists.sizes
        pairs = candidates * references
        by_list: dict[int, Integers] = {}
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


def _rows_of_chunks(
    tables: Sequence[WordTable], task: Task, by_system: Sequence[Integers], chunks: Sequence[Chunk]
) -> Rows:
    """Put the rows of a chunk of each system together, or their sums where rows are not kept."""
    if len(by_system) > 1:
        check_widths(task.metric, by_system)
    references = np.diff(chunks[0].segment_offsets)
    counts = references if len(by_system[0]) != len(references) else np.ones(len(references), np.int64)
    if not task.keep_rows:
        by_system, counts = [rows.sum(axis=0, keepdims=True) for rows in by_system], np.ones(1, np.int64)
    coverage = np.zeros((len(chunks), 4), np.int64)
    if task.table is not None and task.metric.requires.vectors:
        coverage = np.stack([count_known(chunk, tables[task.table].vectors) for chunk in chunks])
    fewest, most = int(references.min()), int(references.max())
    return Rows(np.stack(by_system), counts, len(references), coverage, (fewest, most))


def joined_rows(tasks: Sequence[Task], parts: Iterable[Sequence[Rows]]) -> list[Rows]:
    """Put consecutive parts together, by every task."""
    by_task = zip(tasks, zip(*parts, strict=True), strict=True)
    return [Rows.joined(task.metric, some, keep=task.keep_rows) for task, some in by_task]


def count_known(chunk: Chunk, vectors: Vectors) -> Integers:
    """Count the tokens of a chunk, and tokens with a vector: (candidates, known, references, known)."""
    counts = [
        count
        for tokens in (chunk.candidates, chunk.references)
        for count in (len(tokens.codes), int(vectors.known(tokens).sum()))
    ]
    return np.array(counts, np.int64)
