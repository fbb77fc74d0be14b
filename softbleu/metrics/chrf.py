"""chrF and chrF++: F of the precision and recall of character n-grams, and of word n-grams."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from softbleu.config.declare import setting
from softbleu.io.platform import cached_property
from softbleu.kernels.characters import clipped_counts_of_characters
from softbleu.kernels.letters import LetteredTexts
from softbleu.kernels.numpy_backend import SHORT
from softbleu.kernels.prefixes import counts_of_prefixes
from softbleu.matching.ngrams import Chunk, WordTable, shared_counts
from softbleu.metrics.aggregation import keep_best
from softbleu.metrics.base import SpelledMetric
from softbleu.metrics.requirements import Requirements, needed
from softbleu.metrics.score import Score, ScoreColumns, column
from softbleu.metrics.settings import MAX_ORDER, UNCORRECTED
from softbleu.text.coded import Tokens
from softbleu.text.parts import without_punctuation
from softbleu.text.tokens import ChangedTokenizer, Whitespace

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.types import Flags, Floats, Integers

_EPSILON = 1e-16
_PIECES = re.compile(r"\s+|\S+")


@dataclass(frozen=True)
class ChrfScore(Score):
    """A chrF score; lists have an entry per order, characters first."""

    precisions: list[float] = column("", "precision %", "per cent")
    recalls: list[float] = column("", "recall %", "per cent")


@dataclass(frozen=True, repr=False)
class Chrf(SpelledMetric):
    """Mean precision and recall of character n-grams, as F (Popović 2015, 2016, 2017).

    The score is 100 (1 + beta²) P R / (beta² P + R). P and R are the shares of the candidate's and the reference's
    n-grams that the other has, averaged over the orders. The score is sacrebleu's, within 1e-12. Of several
    references each segment takes the best.

    Parameters
    ----------
    char_order, word_order
        Greatest n of characters and of words; punctuation is split from the ends of words.
    beta
        How much more recall weighs than precision.
    whitespace
        White space counts as characters; else it is left out.
    eps_smoothing
        Average F over all orders, as chrF++.py does, not precision and recall over the orders with n-grams.

    Examples
    --------
    >>> Chrf(char_order=2).score(np.array([3, 4, 3, 2, 3, 1])).recalls
    [75.0, 33.33333333333333]
    """

    char_order: int = setting(6, "Longest character n-grams", least=1, most=MAX_ORDER)
    word_order: int = setting(0, "Longest word n-grams; 2 is chrF++", least=0, most=MAX_ORDER)
    beta: float = setting(2.0, "Weight of recall beside precision", least=0, most=1e6)
    whitespace: bool = setting(False, "Count white space as characters")
    eps_smoothing: bool = setting(False, "Average F over all orders, as chrF++.py, Moses and NLTK do")
    name: ClassVar[str] = "chrf"
    also_rewards: ClassVar[str] = UNCORRECTED

    @property
    def label(self) -> str:
        """Name chrF, chrF+ or chrF++, and beta unless it is 2."""
        return f"chrF{min(self.word_order, 2) * '+'}" + ("" if self.beta == 2 else f" (beta {self.beta:g})")

    @cached_property
    def requires(self) -> Requirements:
        """The characters of words, and words without their punctuation."""
        return Requirements(words=False, parts=("characters", *(["punctuation"] if self.word_order else [])))

    def complete(self) -> None:
        """White space is among the tokens where it counts."""
        super().complete()
        plain = self.tokenizer.plain
        object.__setattr__(self, "tokenizer", _BlanksToo(plain) if self.whitespace else plain)

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Count for each order n-grams of the candidate, of the reference and of both: (segments, 3 orders)."""
        single = chunk.by_reference()
        columns: list[Integers] = []
        whole = None if chunk.whole is None else self._sides(*chunk.whole[:2], words)
        for candidates, references, order in self._sides(single.candidates, single.references, words):
            sides = candidates.lengths, references.lengths
            if whole is None or chunk.whole is None:
                matches = kernels.clipped_counts(candidates, references, single.segment_offsets, order)
            else:
                matches = counts_of_prefixes(*next(whole)[:2], chunk.whole[2], *sides, order)
            for n in range(order):
                proposed, other = (np.maximum(lengths - n, 0) for lengths in sides)
                # As in sacrebleu, a candidate's n-grams do not count where the reference has none.
                columns += [np.where(other > 0, proposed, 0), other, matches[:, n]]
        rows = np.column_stack(columns)
        return keep_best(rows, chunk.segment_offsets, self)

    @property
    def counts_texts(self) -> bool:
        """Always."""
        return True

    def known_texts(
        self, references: Sequence[Sequence[str]], source: Sequence[str]
    ) -> list[tuple[str, LetteredTexts]]:
        """Prepare references: the characters of each, and its words."""
        return [("".join(tokens), LetteredTexts([self._words(tokens)])) for tokens in references]

    def text_rows(self, candidate: Sequence[str], known: list[tuple[str, LetteredTexts]]) -> list[list[int]] | None:
        """Count the numbers of the best reference; see `statistics`."""
        text, words, rows = "".join(candidate), self._words(candidate), list[list[int]]()
        for reference, others in known:
            both = clipped_counts_of_characters(text, reference, self.char_order)
            (length,) = others.lengths
            if both is None or len(words) + length >= SHORT:
                return None
            row = _triples(len(text), len(reference), both)
            rows.append(row + _triples(len(words), length, others.clipped_counts(words, self.word_order)))
        # The first of equal ones
        return rows if len(rows) == 1 else [max(rows, key=lambda row: self.score(row).score)]

    def _words(self, tokens: Sequence[str]) -> Sequence[str]:
        """Return the words of tokens as chrF++ counts them, where these are counted."""
        return [*chain.from_iterable(map(without_punctuation, tokens))] if self.word_order else ()

    def score(self, row: Integers | Floats | Sequence[int]) -> ChrfScore:
        """Score one row, by the steps of `columns`."""
        row = row.tolist() if isinstance(row, np.ndarray) else row
        factor, precisions, recalls = self.beta**2, [], []
        # Added up one by one: `sum` may correct its rounding.
        orders, precision_sum, recall_sum, f_sum = 0, 0.0, 0.0, 0.0
        for proposed, other, both in zip(row[0::3], row[1::3], row[2::3], strict=True):
            precision = both / proposed if proposed else _EPSILON
            recall = both / other if other else _EPSILON
            precisions.append(100 * precision)
            recalls.append(100 * recall)
            if self.eps_smoothing:
                below = factor * precision + recall
                f_sum += (1 + factor) * precision * recall / below if below > 0 else _EPSILON
            elif proposed and other:
                orders += 1
                precision_sum += precision
                recall_sum += recall
        if self.eps_smoothing:
            return ChrfScore(100 * (f_sum / len(recalls)), precisions, recalls)
        precision, recall = precision_sum / max(orders, 1), recall_sum / max(orders, 1)
        below = factor * precision + recall
        score = 100 * (1 + factor) * precision * recall / below if below > 0 else 0.0
        return ChrfScore(score, precisions, recalls)

    def pair_statistics(
        self, candidates: Tokens, references: Tokens, words: WordTable | None, kernels: Kernels
    ) -> Integers:
        """Statistics of every candidate with every reference, each line's n-grams counted once."""
        columns: list[Integers] = []
        for one, other, order in self._sides(candidates, references, words):
            for n, matches in enumerate(shared_counts(one, other, order)):
                proposed, others = np.maximum(one.lengths - n, 0)[:, None], np.maximum(other.lengths - n, 0)
                columns += np.broadcast_arrays(np.where(others > 0, proposed, 0), others, matches)
        return np.stack(columns, axis=-1)

    def _sides(
        self, candidates: Tokens, references: Tokens, words: WordTable | None
    ) -> Iterator[tuple[Tokens, Tokens, int]]:
        """Lines as characters, then as words, with the order of each; the same lines are the same object."""
        words = needed(words, self.name, "words")
        for part, order in (("characters", self.char_order), ("punctuation", self.word_order)):
            if order:
                one = candidates.spread(words.parts(part))
                yield one, one if references is candidates else references.spread(words.parts(part)), order

    def columns(self, rows: Integers | Floats) -> ScoreColumns[ChrfScore]:
        """Score rows of statistics, or sums of rows."""
        precisions, recalls = self._parts(rows)
        factor = self.beta**2
        if self.eps_smoothing:
            below = factor * precisions + recalls
            f = np.where(below > 0, (1 + factor) * precisions * recalls / np.where(below > 0, below, 1), _EPSILON)
            scores = 100 * _mean(f, np.ones(f.shape, bool))
        else:
            counted = (rows[:, 0::3] > 0) & (rows[:, 1::3] > 0)
            precision, recall = _mean(precisions, counted), _mean(recalls, counted)
            below = factor * precision + recall
            scores = 100 * (1 + factor) * precision * recall / np.where(below > 0, below, 1)
        return ScoreColumns(ChrfScore, scores, precisions=lambda: 100 * precisions, recalls=lambda: 100 * recalls)

    def _parts(self, rows: Integers | Floats) -> tuple[Floats, Floats]:
        """Compute precision and recall of each order, nearly 0 without n-grams: (rows, orders) each."""
        proposed, other, both = (np.asarray(rows[:, index::3], np.float64) for index in range(3))
        precision, recall = (
            np.divide(both, total, out=np.full(total.shape, _EPSILON), where=total > 0) for total in (proposed, other)
        )
        return precision, recall


@dataclass(frozen=True)
class _BlanksToo(ChangedTokenizer):
    """Words, and the white space between them as it stands; a blank between tokens of other tokenizers."""

    def tokens(self, line: str) -> list[str]:
        """Tokens of one line."""
        if isinstance(self.inner, Whitespace):
            return _PIECES.findall(line)
        return [piece for token in self.inner.tokens(line) for piece in (token, " ")][:-1]


@dataclass(frozen=True, repr=False)
class ChrfWords(Chrf):
    """chrF++: chrF with word n-grams up to 2 (Popović 2017)."""

    word_order: int = setting(2, "Longest word n-grams; 2 is chrF++", least=0, most=MAX_ORDER)
    name: ClassVar[str] = "chrf++"


def _triples(proposed: int, other: int, both: Sequence[int]) -> list[int]:
    """Return the numbers of each order of two lines of so many characters or words, see `Chrf.statistics`."""
    row: list[int] = []
    for n, count in enumerate(both):
        row += (max(proposed - n, 0) if other > n else 0, max(other - n, 0), count)
    return row


def _mean(values: Floats, counted: Flags) -> Floats:
    """Compute the mean of each row over the values that count, added up from left to right as sacrebleu does."""
    total = np.zeros(len(values))
    for index in range(values.shape[1]):
        total += np.where(counted[:, index], values[:, index], 0)
    mean: Floats = total / np.maximum(counted.sum(axis=1), 1)
    return mean
