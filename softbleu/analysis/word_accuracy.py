"""Words and n-grams that one system gets right and another misses."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.engine.prepare import PreparedCorpus, prepare_corpus
from softbleu.errors import InputError, UnknownNameError
from softbleu.io.tabular import Tabular
from softbleu.matching.ngrams import Chunk, check_order
from softbleu.metrics.base import Requirements
from softbleu.text.tokens import Tokenizer

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus

LONGEST_SHOWN = 4  # Longest n-grams that are looked for unless told
_AT_ONCE = 256  # Segments whose n-grams are counted together


@dataclass(frozen=True)
class NgramDifference:
    """An n-gram that one system matches more often than another, clipped as in BLEU."""

    better: str
    worse: str
    ngram: tuple[str, ...]
    matches: int  # How often the better one has it right
    other_matches: int
    offered: int  # How often the references have it


class NgramDifferences(list[NgramDifference], Tabular):
    """N-grams of pairs of systems: a list that can be looked at as a table."""

    def records(self) -> list[dict[str, Any]]:
        """A row an n-gram."""
        return [{**vars(each), "ngram": " ".join(each.ngram), "order": len(each.ngram)} for each in self]


def ngram_differences(
    corpus: Corpus,
    *,
    baseline: str | None = None,
    order: int = LONGEST_SHOWN,
    top: int = 20,
    tokenizer: Tokenizer | None = None,
) -> NgramDifferences:
    """Find the n-grams that the baseline gets and another system misses, and the other way round.

    Parameters
    ----------
    baseline
        The first system unless named; every other is put beside it.
    order
        Longest n-grams to look for.
    top
        So many each way, those with the greatest difference first.
    tokenizer
        How text is cut, as BLEU does unless given.

    Raises
    ------
    InputError
        One system only, or none of that name.

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
        raise InputError("n-grams are right where references have them, and there are none")
    baseline = corpus.systems[0] if baseline is None else baseline
    if baseline not in corpus.systems:
        raise UnknownNameError("system", baseline, corpus.systems)
    check_order(order)
    prepared = prepare_corpus(corpus, Tokenizer("13a") if tokenizer is None else tokenizer, Requirements())
    return differences_in(prepared, baseline, order=order, top=top)


def differences_in(
    prepared: PreparedCorpus, baseline: str, *, order: int = LONGEST_SHOWN, top: int = 20
) -> NgramDifferences:
    """Do what `ngram_differences` does, of a corpus whose words are known."""
    matched: list[Counter[tuple[int, ...]]] = [Counter() for _ in prepared.systems]
    offered: Counter[tuple[int, ...]] = Counter()
    for block in prepared.blocks():
        for number, chunk in enumerate(block.chunks(0, len(block))):
            for piece in chunk.pieces(_AT_ONCE):
                _count(piece, order, matched[number], None if number else offered)
    place = prepared.systems.index(baseline)
    found = NgramDifferences()
    for other, name in enumerate(prepared.systems):
        for one, two in ((place, other), (other, place)) if name != baseline else ():
            apart = [(count - matched[two][ngram], ngram) for ngram, count in matched[one].items()]
            texts = [
                (-gain, tuple(prepared.words[code] for code in ngram), ngram) for gain, ngram in apart if gain > 0
            ]
            for _, ngram, codes in sorted(texts)[:top]:
                counts = matched[one][codes], matched[two][codes], offered[codes]
                found.append(NgramDifference(prepared.systems[one], prepared.systems[two], ngram, *counts))
    return found


def _count(
    chunk: Chunk, order: int, matched: Counter[tuple[int, ...]], offered: Counter[tuple[int, ...]] | None
) -> None:
    """Add up how often each n-gram is matched, and how often references offer it."""
    codes = chunk.positions.codes
    for n, ngrams in enumerate(chunk.ngrams(order), start=1):
        starts = ngrams.starts[ngrams.exact]
        matched.update(_counts(codes[starts[:, None] + np.arange(n)], np.ones(len(starts), np.int64)))
        if offered is not None:
            offered.update(_counts(codes[ngrams.pool_starts[:, None] + np.arange(n)], ngrams.capacity))


def _counts(rows: Any, weights: Any) -> dict[tuple[int, ...], int]:
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    counts = np.bincount(inverse.reshape(-1), weights, len(distinct)).astype(np.int64)
    return dict(zip(map(tuple, distinct.tolist()), counts.tolist(), strict=True))
