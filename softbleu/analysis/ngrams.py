"""N-grams by which systems differ: one has them in common with the references, another has not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.engine.prepare import PreparedCorpus, prepare_corpus
from softbleu.errors import InputError, UnknownNameError
from softbleu.matching.ngrams import Chunk, check_order
from softbleu.metrics.requirements import Requirements
from softbleu.tables import ResultList
from softbleu.text.tokens import Tokenizer, Tokenizer13a

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.types import Cells

LONGEST_SHOWN = 4  # Greatest order of n-grams by default
_AT_ONCE = 256  # Segments whose n-grams are counted at once


@dataclass(frozen=True)
class NgramDifference:
    """An n-gram that one system matches more often than another, clipped as in BLEU."""

    better: str
    worse: str
    ngram: tuple[str, ...]
    matches: int  # Matches of the better system
    other_matches: int
    offered: int  # Occurrences in the references

    def records(self) -> list[Cells]:
        """Return the row, the n-gram as text."""
        return [{**vars(self), "ngram": " ".join(self.ngram), "order": len(self.ngram)}]


def ngram_differences(
    corpus: Corpus,
    *,
    baseline: str | None = None,
    order: int = LONGEST_SHOWN,
    top: int = 20,
    tokenizer: Tokenizer | None = None,
) -> ResultList[NgramDifference]:
    """Find the n-grams that the baseline matches and another system misses, and vice versa.

    Parameters
    ----------
    baseline
        System with which every other is compared (default: the first).
    order
        Greatest order of n-grams.
    top
        Number of n-grams each way, the greatest difference first.
    tokenizer
        Tokenizer of the text (default: as for BLEU).

    Raises
    ------
    InputError
        Only one system, or an unknown baseline.

    Examples
    --------
    >>> from softbleu.corpora import Segments
    >>> corpus = Segments.of({"A": ["a cat sat"], "B": ["the cat slept"]}, ["the cat sat"])
    >>> [(each.better, " ".join(each.ngram)) for each in ngram_differences(corpus, order=2)]
    [('A', 'cat sat'), ('A', 'sat'), ('B', 'the'), ('B', 'the cat')]
    """
    if len(corpus.systems) < 2:
        raise InputError("one system has nothing to differ from: name two or more")
    if not corpus.has_references:
        raise InputError("n-grams are compared with references: give some")
    baseline = corpus.systems[0] if baseline is None else baseline
    if baseline not in corpus.systems:
        raise UnknownNameError("system", baseline, corpus.systems)
    check_order(order)
    prepared = prepare_corpus(corpus, tokenizer or Tokenizer13a(), Requirements())
    return differences_in(prepared, baseline, order=order, top=top)


def differences_in(
    prepared: PreparedCorpus, baseline: str, *, order: int = LONGEST_SHOWN, top: int = 20
) -> ResultList[NgramDifference]:
    """Find the n-grams that distinguish systems from a baseline, as `ngram_differences` does.

    N-grams have orders 1 to `order`; for each other system than `baseline` there are `top` each way, by the
    difference of clipped counts.
    """
    matched: list[Counter[tuple[int, ...]]] = [Counter() for _ in prepared.systems]
    offered: Counter[tuple[int, ...]] = Counter()
    for block in prepared.blocks():
        for number, chunk in enumerate(block.chunks()):
            for piece in chunk.pieces(_AT_ONCE):
                _count(piece, order, matched[number], None if number else offered)
    index = prepared.systems.index(baseline)
    differences = ResultList[NgramDifference]()
    for other, name in enumerate(prepared.systems):
        for one, two in ((index, other), (other, index)) if name != baseline else ():
            gains = (matched[one] - matched[two]).items()
            texts = [(-gain, tuple(prepared.words[code] for code in ngram), ngram) for ngram, gain in gains]
            for _, ngram, codes in sorted(texts)[:top]:
                counts = matched[one][codes], matched[two][codes], offered[codes]
                differences.append(NgramDifference(prepared.systems[one], prepared.systems[two], ngram, *counts))
    return differences


def _count(
    chunk: Chunk, order: int, matched: Counter[tuple[int, ...]], offered: Counter[tuple[int, ...]] | None
) -> None:
    """Add the matches of each n-gram, and its occurrences in the references."""
    for n, ngrams in enumerate(chunk.ngrams(order), start=1):
        starts = ngrams.starts[ngrams.exact], np.repeat(ngrams.pool_starts, ngrams.capacity)
        for counts, places in zip((matched, offered), starts, strict=True):
            if counts is not None:
                counts.update(map(tuple, chunk.positions.codes[places[:, None] + np.arange(n)].tolist()))
