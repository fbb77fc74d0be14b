"""What a worker is given at once: some blocks of a corpus, more where there are many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from softbleu.corpora.parallel import FileBlock, read_together
from softbleu.corpora.segments import BLOCK
from softbleu.io.executors import count_workers, shares_files

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from softbleu.corpora.segments import Segments
    from softbleu.scoring.coding import BlockCoder, CodedBlock
    from softbleu.scoring.run import Corpus

_SHARE, _LEAST = 2, 64
"""Each worker is given this part of its share of what is left, and of the whole at least that: all end at about the
same time, after few errands."""
_PLACES, _TEXTS = 128 * BLOCK, 16 * BLOCK
"""Lines of all texts together that are given at once, by where they lie or as they are."""
_SLOW = 8
"""The same, in steps, where segments take long."""


@dataclass(frozen=True)
class Stretch:
    """Consecutive blocks, or some segments of one."""

    blocks: Sequence[Segments | FileBlock]
    part: tuple[int, int] | None = None
    """First and last segment, of the one block that there is."""

    def __len__(self) -> int:
        return sum(map(len, self.blocks)) if self.part is None else self.part[1] - self.part[0]

    def coded(self, coder: BlockCoder) -> Iterator[CodedBlock]:
        """Read the blocks and code them, one after the other."""
        for block in read_together(self.blocks):
            coded = coder.code(block)
            yield coded if self.part is None else coded.part(*self.part)


def stretches(
    corpus: Corpus, executor: Executor | None = None, step: int | None = None, skip: int = 0
) -> Iterator[Stretch]:
    """Cut a corpus into what the workers of an executor are given; a block each where there is none.

    Parameters
    ----------
    step : segments that are given at least, where less than a block is enough
    skip : segments that are done, whole steps of them
    """
    left, by_place = len(corpus) - skip, executor is None or shares_files(executor)
    workers = 0 if executor is None else count_workers(executor)
    some: list[Segments | FileBlock] = []
    for whole in corpus.blocks():
        block = whole if by_place or not isinstance(whole, FileBlock) else whole.carried()
        if skip >= len(block):
            skip -= len(block)
            continue
        texts = len(corpus.systems) + 1
        most = (_PLACES if by_place and isinstance(block, FileBlock) else _TEXTS) // texts
        aim = min(most, max(left // _SHARE, len(corpus) // _LEAST) // workers) if workers else 1
        if step is None:
            some.append(block)
            if sum(map(len, some)) >= aim:
                yield Stretch(some)
                left -= sum(map(len, some))
                some = []
            continue
        size = step * max(1, min(aim // step, _SLOW))
        for start in range(skip, len(block), size):
            yield Stretch([block], (start, min(start + size, len(block))))
        left -= len(block) - skip
        skip = 0
    if some:
        yield Stretch(some)
