"""Sums of the matches at every threshold, of the segments that a page does not show; executors can share the work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from softbleu.corpora.segments import BLOCK
from softbleu.io.executors import run_in_order
from softbleu.metrics.base import Metric, Requirements
from softbleu.scoring.blocks import TaskBatch, task_batches
from softbleu.scoring.coding import BlockCoder
from softbleu.scoring.run import Runner, segments_at_once

if TYPE_CHECKING:
    from softbleu.analysis.page_matches import Matching
    from softbleu.scoring.vectors import CorpusWords, PlacedVocabulary, PlacedWords
    from softbleu.tokens import Tokenizer
    from softbleu.types import Integers, Progress

_Part = TypeVar("_Part", bound=Sized)


@dataclass(frozen=True)
class _Work:
    """What a worker does; small enough to travel with every batch."""

    matching: Matching
    tokenizer: Tokenizer
    words: PlacedVocabulary
    table: PlacedWords

    def __call__(self, task: tuple[TaskBatch, int]) -> Integers:
        batch, skip = task
        needed = Requirements(references=True)
        coder = BlockCoder(self.tokenizer, needed, self.matching.kernels, self.words.load())
        matching = replace(self.matching, vectors=self.table.load().vectors)
        return matching.sums_beyond(batch.coded(coder), skip)


def beyond(
    runner: Runner, matching: Matching, measure: Metric, table: CorpusWords, shown: int, progress: Progress | None
) -> Any:
    """Sum the matches of each system at every threshold, but for those of the first segments.

    Returns
    -------
    In millionths: (systems, thresholds, orders); 0 where all segments are shown.
    """
    total: Any = 0
    done, prepared = shown, runner.prepared(measure.tokenizer)
    for found, segments in _parts(runner, matching, measure, table, shown):
        total = total + found
        done += segments
        if progress is not None:
            progress(done, len(prepared))
    return total


def _parts(
    runner: Runner, matching: Matching, measure: Metric, table: CorpusWords, shown: int
) -> Iterator[tuple[Integers, int]]:
    """Sums of parts of the corpus, and how many segments these have."""
    prepared, executor = runner.prepared(measure.tokenizer), runner.executor
    if executor is None:
        for block, skip in _beyond(prepared.blocks(), shown):
            yield matching.sums_beyond([block], skip), len(block) - skip
        return
    step = segments_at_once([measure])
    todo = list(_beyond(task_batches(runner.corpus, executor, step if step < BLOCK else None), shown))
    with prepared.counts.placed(executor) as (words, sent), table.placed(executor) as (place, more):
        work = _Work(replace(matching, vectors=None), measure.tokenizer, words, place)
        found = run_in_order(work, todo, executor, {**sent, **more}, together=False)
        for (batch, skip), sums in zip(todo, found, strict=True):
            yield sums, len(batch) - skip


def _beyond(parts: Iterable[_Part], shown: int) -> Iterator[tuple[_Part, int]]:
    """Parts of a corpus that are not among its first segments as a whole, and how much of them is."""
    for part in parts:
        skip = min(shown, len(part))
        shown -= skip
        if skip < len(part):
            yield part, skip
