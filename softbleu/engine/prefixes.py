"""Statistics of the prefixes of outputs, against the beginnings of references that they have come to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.engine.worker import MINI_BATCH, MOST_TOGETHER, Worker
from softbleu.errors import InputError
from softbleu.io.arguments import is_whole_number, read_number
from softbleu.kernels import choose_kernels
from softbleu.matching.partial import prefixes
from softbleu.metrics.guards import aligned_parts, checked_rows

if TYPE_CHECKING:
    from softbleu.engine.encode import TaskBatch
    from softbleu.engine.runner import Runner
    from softbleu.metrics.base import Metric
    from softbleu.types import Integers

_TOGETHER = MINI_BATCH // 8  # Segments whose prefixes are compared together


@dataclass(frozen=True)
class EveryTokens:
    """Prefixes of every so many tokens, and the whole output."""

    step: int

    def __post_init__(self) -> None:
        if not is_whole_number(self.step) or self.step < 1:
            raise InputError(f"prefixes end after a whole number of tokens, at least 1, not {self.step!r}")

    def cut(self, lengths: Integers) -> tuple[Integers, Integers]:
        """Return the number of the output of each prefix, and its tokens; `lengths` are those of outputs."""
        step = min(self.step, int(lengths.max(initial=1)))
        counts = np.maximum(-(-lengths // step), 1)
        owner = np.repeat(np.arange(len(lengths)), counts)
        numbers = np.arange(1, len(owner) + 1) - np.repeat(np.cumsum(counts) - counts, counts)
        return owner, np.minimum(step * numbers, lengths[owner])


@dataclass(frozen=True)
class AtFractions:
    """Prefixes of shares of an output's tokens, rounded up."""

    fractions: tuple[float, ...]

    @classmethod
    def of(cls, fractions: Iterable[float | str]) -> AtFractions:
        """Read shares from numbers or texts."""
        try:
            shares = tuple(read_number(float, share) for share in fractions)
        except (TypeError, ValueError):
            said = fractions if isinstance(fractions, str | float) else [*fractions]
            raise InputError(f"fractions of outputs are a list of numbers such as 0.5, not {said!r}") from None
        return cls(shares)

    def __post_init__(self) -> None:
        if not self.fractions or not all(0 < share <= 1 for share in self.fractions):
            said = list(self.fractions)
            raise InputError(f"fractions of outputs are greater than 0 and at most 1, not {said}")

    def cut(self, lengths: Integers) -> tuple[Integers, Integers]:
        """Return the number of the output of each prefix, and its tokens; `lengths` are those of outputs."""
        owner = np.repeat(np.arange(len(lengths)), len(self.fractions))
        # 0.28 × 25 is a little more than 7.
        sizes = np.ceil(np.round(np.multiply.outer(lengths, self.fractions), 9))
        return owner, sizes.astype(np.int64).reshape(-1)


Cuts = EveryTokens | AtFractions


@dataclass(frozen=True)
class PrefixRows:
    """Statistics of prefixes of some segments of a system."""

    system: int  # From 0
    first: int  # Segments of the corpus before these
    owner: Integers  # Number of the segment of each prefix, from 0
    tokens: Integers  # Tokens of each prefix
    lengths: Integers  # Tokens of the whole output of each prefix
    rows: Integers  # (prefixes, k), or a row for each reference of each prefix
    offsets: Integers  # Prefix p has the rows ``offsets[p]`` to ``offsets[p + 1]``


@dataclass(frozen=True)
class _PrefixWorker:
    """Computes the statistics of prefixes by one metric; small enough to travel with every batch."""

    worker: Worker
    cuts: Cuts

    def __call__(self, batch: TaskBatch) -> list[PrefixRows]:
        """Compute the statistics of a batch."""
        (task,) = self.worker.tasks
        metric = task.metric.whole  # Its references are cut here
        worker, parts = self.worker, list[PrefixRows]()
        kernels, coder = choose_kernels(worker.kernels), worker.coder or worker.own_coder()
        block = batch.coded(coder)
        words = None if task.table is None else worker.loaded(coder)[task.table]
        for start, end in block.cuts(_TOGETHER, MOST_TOGETHER):
            for system, chunk in enumerate(block.chunks(start, end)):
                owner, tokens = self.cuts.cut(chunk.candidates.lengths)
                some = prefixes(chunk, owner, tokens, metric.tokenizer, aligned_parts(task.metric, words))
                rows = checked_rows(metric, some, words, kernels)
                offsets = np.arange(len(some) + 1) if len(rows) == len(some) else some.segment_offsets
                lengths = chunk.candidates.lengths[owner]
                parts.append(PrefixRows(system, batch.first + start, owner, tokens, lengths, rows, offsets))
        return parts


def prefix_rows(runner: Runner, metric: Metric, cuts: Cuts) -> Iterator[Sequence[PrefixRows]]:
    """Compute the statistics of prefixes by a metric of the runner's plan: some segments of all systems at a time.

    All prefixes of an output are aligned in one pass.
    """
    yield from runner.mapped(metric, lambda worker: _PrefixWorker(worker, cuts))
