"""BLEU and its soft variants: geometric mean of clipped n-gram precisions, times a brevity penalty."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from softbleu.config.declare import own_settings, setting
from softbleu.errors import InputError
from softbleu.kernels import SCALE, Kernels
from softbleu.kernels.letters import LetteredTexts
from softbleu.kernels.numpy_backend import SHORT
from softbleu.matching.matchers import Exact, SleuMatcher, VleuMatcher, XleuMatcher
from softbleu.matching.ngrams import Chunk, WordTable, ngram_totals, shared_counts
from softbleu.metrics.base import GivenMatcher, Level, MatcherMetric
from softbleu.metrics.guards import rows_of_pairs
from softbleu.metrics.score import Score, ScoreColumns, column
from softbleu.metrics.settings import UNCORRECTED, order_setting, tokenizer_setting
from softbleu.text.coded import Tokens
from softbleu.text.tokens import Tokenizer, Tokenizer13a

if TYPE_CHECKING:
    from softbleu.types import Array, Floats, Integers

Smoothing = Literal["none", "floor", "add-k", "exp"]
Denominator = Literal["order", "all", "reference"]
_SMOOTHING_VALUES = {"floor": 0.1, "add-k": 1.0}
_LOG_OF_ZERO = -9999999999.0
_MANY = 1 << 12  # Rows among which equal ones are scored once
_MATCHER = (
    "How n-grams match: exact (BLEU), sleu (similar words), vleu (similar n-grams), xleu (n-grams of any orders), or "
    "that of a plug-in"
)


@dataclass(frozen=True)
class BleuScore(Score):
    """A BLEU score and its parts; lists have an entry per order."""

    matches: list[float] = column("", "matches", "count")
    totals: list[int] = column("", "of", "count")
    precisions: list[float] = column("P", "precision %", "per cent")  # Matches over totals after smoothing
    brevity_penalty: float = column("BP", "brevity penalty", "ratio")
    candidate_length: int = column("length", "length", "tokens")
    reference_length: int = column("ref. length", "references", "tokens")


@dataclass(frozen=True, repr=False, eq=False)
class Bleu(MatcherMetric):
    """Corpus or segment BLEU over any matcher (Papineni et al. 2002; Morgan 2014 for SLEU, VLEU, XLEU).

    The score is 100 BP exp(mean of ln P over the orders). P is the share of the candidate's n-grams that match, each
    at most as often as in a reference; a similar n-gram counts its similarity. BP is exp(1 - r/c) for c candidate
    tokens, fewer than the r of the closest reference, else 1. By exact matches every digit is sacrebleu's.

    Parameters
    ----------
    matcher
        How n-grams match.
    order
        Greatest n-gram order.
    smooth
        `none`, `floor`, `add-k` or `exp`, as sacrebleu's.
    smooth_value
        Its value: 0.1 for `floor` and 1 for `add-k`, unless given.
    effective_order
        Use only the orders that the text is long enough for.
    denominator
        Precision over the candidate's n-grams of the `order`, of `all` the orders that the matcher compares, or over
        the `reference`'s (the tables of Morgan 2014).
    """

    matcher: GivenMatcher = setting(factory=Exact, help=_MATCHER, common=True)
    order: int = order_setting(4)
    smooth: Smoothing = setting("exp", "Smoothing: none, floor, add-k or exp")
    smooth_value: float | None = setting(
        None, "Value of the smoothing", least=0, most=1e6, unset="0.1 for floor, 1 for add-k"
    )
    effective_order: bool | None = setting(
        None, "Use only the orders that the text is long enough for", unset="for segments only", always_signed=True
    )
    denominator: Denominator = setting(
        "order", "Precision over the n-grams of the order, of all orders, or of the reference"
    )
    tokenizer: Tokenizer = tokenizer_setting(Tokenizer13a())
    name: ClassVar[str] = "bleu"
    also_rewards: ClassVar[str] = UNCORRECTED
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "morgan2014": {
            "assignment": "sequential",
            "vector_case": "exact",
            "smooth": "none",
            "denominator": "reference",
            "threshold": 0.0,
            "tokenize": "none",
        }
    }

    def check(self) -> None:
        """Check that the settings are compatible."""
        if self.smooth_value is not None and self.smooth not in _SMOOTHING_VALUES:
            raise InputError(f"smoothing {self.smooth!r} takes no value; 'floor' and 'add-k' do")

    def __eq__(self, other: object) -> bool:
        """Compare by settings, so that `Vleu() == Bleu(matcher="vleu")`."""
        if not isinstance(other, Bleu) or self.name != other.name:
            return NotImplemented
        return all(getattr(self, setting.field) == getattr(other, setting.field) for setting in own_settings(Bleu))

    def __hash__(self) -> int:
        return hash((self.name, *(getattr(self, setting.field) for setting in own_settings(Bleu))))

    @property
    def label(self) -> str:
        """BLEU, or its name over the matcher."""
        return "BLEU" if self.matching.name == "exact" else self.matching.name.upper()

    @property
    def _head(self) -> str:
        """The matcher's name where it is a soft one."""
        soft = self.name == "bleu" and self.matching.name != "exact"
        return self.matching.name if soft else self.name

    def at_level(self, level: Level) -> Self:
        """Return the metric with effective order for segments only, unless it is given."""
        if self.effective_order is not None:
            return self
        return replace(self, effective_order=level != "corpus")

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Statistics of each segment: candidate length, reference length, matches in millionths, totals."""
        return self.statistics_of(
            chunk, self.matching.matched(chunk, None if words is None else words.vectors, self.order, kernels)
        )

    def statistics_of(self, chunk: Chunk, matched: Integers) -> Integers:
        """Statistics of each segment, its matches by order being known."""
        return self._rows_of(chunk.candidates.lengths, chunk.closest_reference_lengths(), matched)

    def pair_statistics(
        self, candidates: Tokens, references: Tokens, words: WordTable | None, kernels: Kernels
    ) -> Integers:
        """Statistics of every candidate with every reference; exact matches are found in each line's counts."""
        if self.matching.name != "exact":
            return rows_of_pairs(self, candidates, references, words, kernels)
        matched = np.stack([*shared_counts(candidates, references, self.order)], axis=-1) * SCALE
        shape = matched.shape[:2]
        lengths = np.broadcast_to(candidates.lengths[:, None], shape).reshape(-1)
        others = np.broadcast_to(references.lengths, shape).reshape(-1)
        return self._rows_of(lengths, others, matched.reshape(-1, self.order)).reshape(*shape, -1)

    @property
    def counts_texts(self) -> bool:
        """Whether words match if they are equal."""
        return type(self.matching) is Exact

    def known_texts(self, references: Sequence[Sequence[str]], source: Sequence[str]) -> LetteredTexts:
        """Prepare references."""
        return LetteredTexts(references)

    def text_rows(self, candidate: Sequence[str], known: LetteredTexts) -> list[list[int]] | None:
        """Count the numbers of a segment; see `statistics`."""
        length = len(candidate)
        if length + sum(known.lengths) >= SHORT:
            return None
        closest = min(known.lengths, key=lambda other: (abs(other - length), other))
        matched = [SCALE * count for count in known.clipped_counts(candidate, self.order)]
        whole = closest if self.denominator == "reference" else length
        return [[length, closest, *matched, *[max(whole - n, 0) for n in range(self.order)]]]

    def score(self, row: Integers | Floats | Sequence[int]) -> BleuScore:
        """Score one row, by the steps of `columns`."""
        row, n = row.tolist() if isinstance(row, np.ndarray) else row, self.order
        matches, totals = [count / SCALE for count in row[2 : 2 + n]], [*row[2 + n :]]
        precisions, orders, missed, value = [0.0] * n, 0, 0, self._smoothing
        for place, (above, below) in enumerate(zip(matches, totals, strict=True) if any(matches) else ()):
            added = value if place and self.smooth == "add-k" else 0
            if below + added <= 0:
                break
            orders += 1
            precisions[place] = 100.0 * (above + added) / (below + added)
            if above == 0 and self.smooth == "exp":
                missed += 1
                precisions[place] = 100.0 / (2.0**missed * below)
            elif above == 0 and self.smooth == "floor":
                precisions[place] = 100.0 * value / below
        orders = max(orders, 1) if self.effective_order else n
        mean = sum([math.log(each) if each > 0 else _LOG_OF_ZERO for each in precisions[:orders]]) / orders
        long = row[0] >= row[1]
        penalty = 1.0 if long else math.exp(1 - row[1] / row[0]) if row[0] else 0.0
        score = penalty * math.exp(mean) if any(matches) else 0.0
        return BleuScore(score, matches, totals, precisions, penalty, row[0], row[1])

    def parts_of(self, rows: Integers) -> tuple[Integers, Integers]:
        """Take rows (…, k) apart: clipped matches by order, and both lengths with the totals by order."""
        totals = 2 + self.order
        return rows[..., 2:totals], np.concatenate((rows[..., :2], rows[..., totals:]), axis=-1)

    def _rows_of(self, lengths: Integers, closest: Integers, matched: Integers) -> Array:
        return np.column_stack((lengths, closest, matched, self._totals(lengths, closest)))

    def _totals(self, candidate: Integers, reference: Integers) -> Integers:
        totals = ngram_totals(reference if self.denominator == "reference" else candidate, self.order)
        if self.denominator == "order":
            return totals
        summed = totals.copy()
        for order in range(1, self.order + 1):
            orders = sorted({order, *self.matching.pool_orders(order, self.order)})
            if len(orders) == 1:
                continue
            if self.denominator == "reference":
                # The tables of Morgan 2014 leave the greatest order out of XLEU's totals.
                orders = list(range(1, self.order))
            present = totals[:, order - 1] > 0
            summed[:, order - 1] = np.where(present, totals[:, [n - 1 for n in orders]].sum(axis=1), 0)
        return summed

    def columns(self, rows: Integers | Floats) -> ScoreColumns[BleuScore]:
        """Score rows of statistics, or sums of rows."""
        distinct, places = _distinct_rows(rows)
        precisions, orders = self._precisions(distinct)
        scores, penalties = self._scores(distinct, precisions, orders)
        return ScoreColumns(
            BleuScore,
            scores[places],
            matches=lambda: rows[:, 2 : 2 + self.order] / SCALE,
            totals=rows[:, 2 + self.order :],
            precisions=lambda: precisions.T[places],
            brevity_penalty=lambda: penalties[places],
            candidate_length=rows[:, 0],
            reference_length=rows[:, 1],
        )

    def _scores(self, rows: Integers | Floats, precisions: Floats, orders: Integers) -> tuple[Floats, Floats]:
        """Score and brevity penalty of each row, given the smoothed precisions, and how many of them count."""
        counted, positive = np.arange(self.order)[:, None] < orders, precisions > 0
        # By math, number by number, as sacrebleu: the digits are the same to the last.
        logs = _each(math.log, np.where(counted & positive, precisions, 1))
        logs[counted & ~positive] = _LOG_OF_ZERO
        means = np.array(list(map(sum, logs.T.tolist()))) / orders
        candidate, reference = np.asarray(rows[:, :2], np.float64).T
        with np.errstate(divide="ignore", invalid="ignore"):
            penalties = _each(math.exp, np.where(candidate >= reference, 0, 1 - reference / candidate))
        return np.where(rows[:, 2 : 2 + self.order].any(axis=1), penalties * _each(math.exp, means), 0), penalties

    def score_counts(
        self, matches: Sequence[float], totals: Sequence[int], candidate_length: int, reference_length: int
    ) -> BleuScore:
        """Score matches and totals, one a order, as published tables give them.

        `candidate_length` and `reference_length` are corpus lengths, in tokens, of which the brevity penalty is
        made.

        Examples
        --------
        The VLEU of Morgan 2014, Table 5, which the paper prints as 0.1957:

        >>> bleu = Bleu(smooth="none")
        >>> matches, totals = [27938.0, 13489.3, 7151.3, 3912.4], [56089, 53089, 50105, 47138]
        >>> round(bleu.score_counts(matches, totals, 55786, 56089).score, 2)
        19.57
        """
        if not len(matches) == len(totals) == self.order:
            raise InputError(f"{self.order} matches and totals are needed, not {len(matches)} and {len(totals)}")
        counts = (round(SCALE * count) for count in matches)
        return self.columns(np.array([[candidate_length, reference_length, *counts, *totals]]))[0]

    @property
    def _smoothing(self) -> float:
        """Value of the smoothing."""
        return _SMOOTHING_VALUES.get(self.smooth, 0.0) if self.smooth_value is None else self.smooth_value

    def _precisions(self, rows: Integers | Floats) -> tuple[Floats, Integers]:
        """Smoothed precisions in percent, (order, rows), and how many of them each score averages, (rows,)."""
        # Orders first, for each step takes a whole one.
        numbers = np.ascontiguousarray(rows[:, 2:].T, np.float64)
        matches, totals = numbers[: self.order] / SCALE, numbers[self.order :]
        value = self._smoothing
        added = np.zeros((self.order, 1))
        if self.smooth == "add-k":
            added[1:] = value
        above, below = matches + added, totals + added
        orders = np.broadcast_to(self.order, matches.shape[1])
        if (above > 0).all() and (below > 0).all() and (matches[0] > 0).all():
            return 100.0 * above / below, orders
        # Orders beyond the first that has no n-grams do not count.
        present = np.logical_and.accumulate(below > 0, axis=0)
        safe = np.where(present, below, 1)
        precisions = 100.0 * above / safe
        missed = present & (above == 0)
        if self.smooth == "exp":
            precisions = np.where(missed, 100.0 / (2.0 ** np.cumsum(missed, axis=0) * safe), precisions)
        elif self.smooth == "floor":
            precisions = np.where(missed, 100.0 * value / safe, precisions)
        precisions = np.where(present & matches.any(axis=0), precisions, 0.0)
        return precisions, np.maximum(present.sum(axis=0), 1) if self.effective_order else orders


@dataclass(frozen=True, repr=False, eq=False)
class Sleu(Bleu):
    """BLEU over similar words (Morgan 2014): a candidate's word may match a similar one.

    Examples
    --------
    >>> vectors = {"dog": [0.9, 0.3], "cat": [1.0, 0.2]}
    >>> round(float(Sleu(order=1, vectors=vectors).corpus_score(["a dog"], ["a cat"])), 2)
    99.61
    """

    matcher: GivenMatcher = setting(factory=SleuMatcher, help=_MATCHER, common=True)


@dataclass(frozen=True, repr=False, eq=False)
class Vleu(Bleu):
    """BLEU over similar n-grams of the same order (Morgan 2014), compared by their mean vectors.

    Examples
    --------
    >>> vectors = {"dog": [0.9, 0.3], "cat": [1.0, 0.2], "mat": [0.0, 1.0]}
    >>> metric = Vleu(threshold=0.8, vectors=vectors)
    >>> round(float(metric.corpus_score(["a dog sat on a mat"], ["a cat sat on a mat"])), 2)
    99.86
    """

    matcher: GivenMatcher = setting(factory=VleuMatcher, help=_MATCHER, common=True)


@dataclass(frozen=True, repr=False, eq=False)
class Xleu(Bleu):
    """BLEU over similar n-grams of every order (Morgan 2014).

    Examples
    --------
    >>> vectors = {"dog": [0.9, 0.3], "cat": [1.0, 0.2]}
    >>> round(float(Xleu(order=2, vectors=vectors).corpus_score(["a dog"], ["a cat"])), 2)
    99.61
    """

    matcher: GivenMatcher = setting(factory=XleuMatcher, help=_MATCHER, common=True)


def _each(function: Callable[[float], float], values: Floats) -> Floats:
    """Apply a function of `math` to each value: NumPy's own may differ in the last bit."""
    return np.fromiter(map(function, values.ravel().tolist()), np.float64, values.size).reshape(values.shape)


def _distinct_rows(rows: Integers | Floats) -> tuple[Integers | Floats, Integers | slice]:
    """Distinct rows among many of whole numbers, and the place of each row among them; or just the rows.

    >>> [part.tolist() for part in _distinct_rows(np.repeat([[7, 0], [2, 5]], _MANY, axis=0))][0]
    [[2, 5], [7, 0]]
    """
    if len(rows) < _MANY or rows.dtype.kind != "i":
        return rows, slice(None)
    digits = rows - rows.min(axis=0)
    digits //= np.maximum(np.gcd.reduce(digits, axis=0), 1)
    spans = (digits.max(axis=0) + 1).tolist()
    if math.prod(spans) > np.iinfo(np.int64).max:
        return rows, slice(None)
    # Each row as one number, of which its columns are the digits.
    keys = digits @ np.array([math.prod(spans[place + 1 :]) for place in range(len(spans))])
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], places
