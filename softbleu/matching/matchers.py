"""Matchers: which reference n-grams a candidate n-gram may match, and which of them it gets.

A chunk is matched by the kernels, or on whole arrays: candidates of about one size together, a long one by itself, a
stripe at a time.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from softbleu.config.declare import Declared, Registry, setting
from softbleu.embeddings.choice import parse_percentile
from softbleu.errors import InputError
from softbleu.io.arguments import Limit
from softbleu.kernels import SCALE, Intervals, Kernels
from softbleu.kernels.numpy_backend import assign_greedily
from softbleu.matching.ngrams import (
    COMPOSITIONS,
    Chunk,
    Composition,
    Ngrams,
    TokenProducts,
    TokenVectors,
    UnitVectors,
    Vectors,
    round_millionths,
    threshold_in_millionths,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from softbleu.types import Flags, Floats, Integers


Assignment = Literal["exact-first", "sequential", "optimal"]
Consumption = Literal["unit", "similarity"]
DEFAULT_THRESHOLD = 0.8  # What a similarity must exceed where neither a person nor the vectors say
BATCH_CELLS = 1 << 15  # Entries of a batch's token-by-token matrices: small enough to stay in the cache
LONG_CELLS = 1 << 21  # A segment with a greater matrix is matched by itself, a stripe at a time
EXACT = 2 * SCALE  # Stands for an exact match among similarities: before every approximate one, even of similarity 1
OPTIMAL = Limit(
    "assignment 'optimal'",
    "pairs of n-grams that may match",
    1 << 25,
    "a document of 3,000 words, at threshold 0.8: 100,000",
    "raise the threshold, or use 'exact-first'",
)
"""Of one order in one segment (2 GB)."""
STRIPE_CELLS = 1 << 20  # Pairs of n-grams of an order that are held at a time
_LIMIT = Limit(
    "soft matching", "pairs of words", 1 << 31, "a document of 3,000 words with 20 references: 180,000,000"
)
"""Of one segment, of which a stripe is held at a time."""
MATCHED_WORDS = Limit("soft matching", "words", 1 << 20, "a document of 3,000 words with 20 references: 63,000")
"""Of a candidate and its references together: what is known of their n-grams takes memory before any comparison."""


@dataclass(frozen=True)
class Rules:
    """How a soft matcher matches n-grams up to some order; see `SoftMatcher`."""

    pool_orders: tuple[tuple[int, ...], ...]  # Of each order, those that may match approximately
    threshold: int  # In millionths: a similarity must exceed it
    assignment: Assignment
    consumption: Consumption
    composition: Composition
    equal_is_one: bool = True  # Whether equal n-grams match as such, not by what their similarity is where they stand
    in_context: bool = False  # Whether equal n-grams differ by where they stand

    @property
    def exact_first(self) -> bool:
        """Whether equal n-grams are matched before others."""
        return self.equal_is_one and self.assignment == "exact-first"

    @property
    def unit(self) -> int:
        """Millionths of a pool n-gram that a match uses; 0: as many as its similarity has."""
        return SCALE if self.consumption == "unit" else 0

    @property
    def max_order(self) -> int:
        """Greatest order."""
        return len(self.pool_orders)

    def columns(self, order: int) -> list[int]:
        """Orders of the pool n-grams that n-grams of an order may match, their own among them, ascending."""
        return sorted({order, *self.pool_orders[order - 1]})

    @property
    def deepest(self) -> int:
        """Greatest order of an n-gram whose similarity is looked at."""
        return max((max(n, *orders) for n, orders in enumerate(self.pool_orders, start=1) if orders), default=0)


@dataclass(frozen=True)
class Matches:
    """Matches of the candidate n-grams of one order, an entry per n-gram in each array."""

    starts: Integers  # Candidate positions at which the n-grams start
    matched: Integers  # How much of each is matched, in millionths: 1,000,000 for an exact match, 0 for none
    partner_starts: Integers  # Position at which the matched reference n-gram first appears; -1 for none
    partner_orders: Integers  # Order of the matched reference n-gram; 0 for none

    @classmethod
    def none(cls, ngrams: Ngrams) -> Matches:
        """No matches yet."""
        empty = np.zeros(len(ngrams.starts), np.int64)
        return cls(ngrams.starts, empty, empty - 1, empty.copy())

    @classmethod
    def exact(cls, ngrams: Ngrams, order: int) -> Matches:
        """Make the exact matches alone of `ngrams` of an order."""
        first = np.empty(len(ngrams.counts), np.int64)
        first[ngrams.pool_ids[::-1]] = ngrams.pool_starts[::-1]
        partners = np.where(ngrams.exact, first[ngrams.ids], -1)
        return cls(ngrams.starts, ngrams.exact * SCALE, partners, np.where(ngrams.exact, order, 0))


def read_threshold(text: str) -> float | str | None:
    """Read a threshold: a number, a quantile as it is written, or `none` for the default.

    >>> read_threshold("0.8"), read_threshold("p99.9")
    (0.8, 'p99.9')
    """
    if text == "none":
        return None
    try:
        return float(text)
    except ValueError:
        parse_percentile(text)
        return text


def threshold_setting(help: str, unset: str) -> Any:
    """Declare the threshold of similarities: a number, a quantile, or None for what is `unset`.

    `help` is the line of help of the setting.
    """
    kinds: dict[str, Any] = {"read": read_threshold, "unset": unset, "always_signed": True, "common": True}
    return setting(None, help, least=0, most=1, metavar="0..1|pX", flags=("-t",), **kinds)


@dataclass(frozen=True)
class Matcher(Declared):
    """A matcher is a value: its fields are its identity and its part of the signature."""

    kind: ClassVar[str] = "matcher"

    @abstractmethod
    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """Orders, up to `max_order`, of reference n-grams that a candidate n-gram of `order` may match softly."""

    def matches(self, chunk: Chunk, vectors: Vectors | None, max_order: int) -> list[Matches]:
        """Match the candidate n-grams of orders 1…`max_order` of every line of a chunk: `Matches` for each order.

        `vectors` are those of the words of the corpus, None where `needs_vectors` says so. All systems of a chunk
        share its references.
        """
        return [Matches.exact(ngrams, n) for n, ngrams in enumerate(chunk.ngrams(max_order), start=1)]

    def matched(self, chunk: Chunk, vectors: Vectors | None, max_order: int, kernels: Kernels) -> Integers:
        """Sum the matches of each candidate and order, in millionths of an n-gram: (lines, `max_order`).

        `chunk` has the segments, `vectors` are as for `matches`. `kernels` match in one go where they can; digits do
        not depend on them.
        """
        if vectors is None or not self.needs_vectors(max_order):
            return SCALE * kernels.clipped_counts(
                chunk.candidates, chunk.references, chunk.segment_offsets, max_order
            )
        matches = self.matches(chunk, vectors, max_order)
        return np.column_stack([chunk.sums(some.starts, some.matched) for some in matches])

    def needs_vectors(self, max_order: int) -> bool:
        """Whether any n-gram up to that order may match approximately."""
        return any(self.pool_orders(order, max_order) for order in range(1, max_order + 1))

    def needs_frequencies(self, max_order: int) -> bool:
        """Whether words are weighed by how frequent they are."""
        return False


@dataclass(frozen=True)
class SoftMatcher(Matcher):
    """A matcher that lets similar n-grams stand for one another; subclasses say which (`pool_orders`).

    Parameters
    ----------
    threshold
        A similarity must exceed it to count, 0 to 1. A quantile such as `p99.9` is one of random pairs of words. None
        is the threshold that the vectors recommend, or 0.8.
    assignment
        Order in which matches are made: `exact-first` (exact ones, then left to right), `sequential` (Morgan 2014:
        one pass, left to right) or `optimal` (greatest sum of matches).
    consumption
        How much of a reference n-gram an approximate match uses: one instance (`unit`), or the similarity
        (`similarity`).
    composition
        How n-grams are compared: `mean`, `aligned` or `sif`.
    """

    threshold: float | str | None = threshold_setting(
        "A similarity must be greater than this to count, or than X percent of random pairs of words reach with "
        "these vectors, e.g. p99.9",
        f"{DEFAULT_THRESHOLD:g}, or what the vectors recommend",
    )
    assignment: Assignment = setting(
        "exact-first", "Order in which matches are made: exact-first, sequential or optimal"
    )
    consumption: Consumption = setting(
        "unit", "What an approximate match consumes: one instance (unit) or its similarity"
    )
    composition: str = setting(
        "mean",
        "How n-grams are compared: by mean vectors (mean), the same with rare words weighing more (sif), or word by "
        "word (aligned)",
        choices=COMPOSITIONS,
    )

    def check(self) -> None:
        """See that the settings go together."""
        if self.assignment == "optimal" and self.consumption != "unit":
            raise InputError("assignment 'optimal' gives out whole instances: use consumption 'unit' with it")

    def needs_vectors(self, max_order: int) -> bool:
        """Whether any n-gram up to that order may match approximately."""
        soft = isinstance(self.threshold, str) or threshold_in_millionths(self.least_similarity) < SCALE
        return soft and super().needs_vectors(max_order)

    @property
    def least_similarity(self) -> float:
        """The threshold as a number."""
        if isinstance(self.threshold, str):
            raise InputError(f"threshold {self.threshold!r} is a quantile: resolve the measure, or give a number")
        return DEFAULT_THRESHOLD if self.threshold is None else self.threshold

    def needs_frequencies(self, max_order: int) -> bool:
        """Whether words are weighed by how frequent they are."""
        return COMPOSITIONS[self.composition].by_frequency and self.needs_vectors(max_order)

    def rules(self, max_order: int, vectors: Vectors) -> Rules:
        """Make the rules for n-grams of orders 1…`max_order`, compared by `vectors`."""
        return Rules(
            tuple(tuple(self.pool_orders(order, max_order)) for order in range(1, max_order + 1)),
            threshold_in_millionths(self.least_similarity),
            self.assignment,
            self.consumption,
            COMPOSITIONS[self.composition],
            vectors.equal_is_one,
            vectors.in_context,
        )

    def matches(self, chunk: Chunk, vectors: Vectors | None, max_order: int) -> list[Matches]:
        """Match the candidate n-grams of orders 1…max_order of every segment of a chunk."""
        if vectors is None or not self.needs_vectors(max_order):
            return super().matches(chunk, vectors, max_order)
        return soft_matches(self.rules(max_order, vectors), chunk, vectors)

    def matched(self, chunk: Chunk, vectors: Vectors | None, max_order: int, kernels: Kernels) -> Integers:
        """Do what `Matcher.matched` does, by kernels where these can, with the same digits."""
        sums = None
        if kernels.sum_matches and vectors is not None and self.is_plain(max_order):
            sums = soft_sums(self.rules(max_order, vectors), chunk, vectors, kernels)
        return super().matched(chunk, vectors, max_order, kernels) if sums is None else sums

    def is_plain(self, max_order: int) -> bool:
        """Whether n-grams may match approximately, and no subclass makes the matches in a way of its own."""
        kind = type(self)
        plain = kind.matches is SoftMatcher.matches and kind.matched is SoftMatcher.matched
        return plain and self.needs_vectors(max_order)


@dataclass(frozen=True)
class Exact(Matcher):
    """Only equal n-grams match (BLEU: Papineni et al. 2002)."""

    name: ClassVar[str] = "exact"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """None: nothing matches approximately."""
        return ()


@dataclass(frozen=True)
class SleuMatcher(SoftMatcher):
    """Words may match similar words (SLEU: Morgan 2014)."""

    name: ClassVar[str] = "sleu"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """Reference words for a word; nothing for longer n-grams."""
        return (1,) if order == 1 else ()


@dataclass(frozen=True)
class VleuMatcher(SoftMatcher):
    """N-grams may match n-grams of their own order (VLEU: Morgan 2014)."""

    name: ClassVar[str] = "vleu"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """The n-gram's own order."""
        return (order,)


@dataclass(frozen=True)
class XleuMatcher(SoftMatcher):
    """N-grams may match n-grams of every order (XLEU: Morgan 2014)."""

    name: ClassVar[str] = "xleu"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """Every order."""
        return range(1, max_order + 1)


MATCHERS = Registry("matcher", "softbleu.matching", Matcher)


def make_matcher(name: str, **options: object) -> Matcher:
    """Make a matcher from its name and its options; options that are None keep their defaults.

    Examples
    --------
    >>> make_matcher("vleu", threshold=0.8, assignment=None)
    VleuMatcher(threshold=0.8, assignment='exact-first', consumption='unit', composition='mean')
    >>> make_matcher("exact", threshold=0.8)
    Traceback (most recent call last):
    softbleu.errors.InputError: matcher 'exact' has no option 'threshold'; it has: none
    """
    matcher: Matcher = MATCHERS.make(name, **options)
    return matcher


def soft_matches(rules: Rules, chunk: Chunk, vectors: Vectors) -> list[Matches]:
    """Match the n-grams of every candidate of a chunk, approximately where the rules allow: `Matches` for each order.

    `vectors` are those of the words of the corpus.
    """
    MATCHED_WORDS.check_sum(**chunk.sizes)
    given, (chunk, places) = chunk, chunk.in_order
    pools = [Pool.of(ngrams, chunk, rules) for ngrams in chunk.ngrams(rules.max_order, instances=rules.in_context)]
    matches = [pool.start(order, rules) for order, pool in enumerate(pools, start=1)]
    text = WeighedText.of(chunk, vectors, rules.composition.by_frequency, rules.deepest)
    for batch in batches(chunk):
        if batch.is_long:
            match_long_segment(rules, pools, batch, text, matches)
        elif (tables := Tables.of(rules, pools, batch, text.products(batch))) is not None:
            tables.note(*tables.assign(), matches)
    if chunk is given:
        return matches
    first = None if rules.in_context else given.first_of_equals(rules.max_order)
    return [
        replace(made, partner_starts=places_in(places, first, made.partner_starts, made.partner_orders))
        for made in matches
    ]


def places_in(places: Integers, first: Integers | None, starts: Integers, orders: Integers) -> Integers:
    """Find partners of a chunk `in_order`, by where they start and their orders, in the chunk as it was given.

    `places` are those of `Chunk.in_order`, `first` is of `Chunk.first_of_equals`, or None where equal n-grams differ
    by where they stand; -1, for no partner, stays.
    """
    found = places[starts]
    return np.where(starts < 0, -1, found if first is None else first[orders, found])


def soft_sums(rules: Rules, chunk: Chunk, vectors: Vectors, kernels: Kernels) -> Integers | None:
    """Sum the matches of each candidate of a chunk and order in one go, in millionths: (lines, orders).

    Parameters are those of `soft_matches`; None where `kernels` cannot do so with these rules and vectors.
    """
    plain = rules.exact_first and not rules.composition.aligned
    if kernels.sum_matches is None or not plain or not isinstance(vectors, TokenVectors):
        return None
    if vectors.allowed_pairs is not None:
        return None
    chunk, _ = chunk.in_order
    orders = range(1, rules.max_order + 1)
    return kernels.sum_matches(
        chunk.candidates,
        chunk.references,
        chunk.segment_offsets,
        vectors.weighted(by_frequency=rules.composition.by_frequency).arrays,
        np.array([[m in pool_orders for m in orders] for pool_orders in rules.pool_orders]),
        rules.threshold,
        rules.unit,
    )


def match_long_segment(
    rules: Rules, pools: list[Pool], batch: Batch, text: WeighedText, matches: list[Matches]
) -> None:
    """Match the n-grams of a candidate, alone in its batch, whose token-by-token matrix would not fit into memory.

    `pools` are the reference n-grams of each order, `text` the vectors of the chunk, weighted as the rules want;
    `matches`, of each order, are written.
    """
    words = words_of(batch)
    if rules.assignment == "optimal":
        # An order at a time, as all its pairs that may match are held.
        for order in np.flatnonzero([bool(soft) for soft in rules.pool_orders]).tolist():
            one = replace(rules, pool_orders=tuple(s if n == order else () for n, s in enumerate(rules.pool_orders)))
            _match_optimally(one, batch, stripes_of(one, pools, batch, text), matches, words)
    else:
        _match_greedily(rules, stripes_of(rules, pools, batch, text), matches)


def words_of(batch: Batch) -> str:
    """Say how long a segment is that is alone in its batch; raise `InputError` if it is too long."""
    height, width = batch.candidate.shape[1], batch.reference.shape[1]
    words = f"a segment of {height:,} candidate and {width:,} reference words"
    _LIMIT.check(height * width, words)
    return words


def stripes_of(rules: Rules, pools: list[Pool], batch: Batch, text: WeighedText) -> Iterator[tuple[int, Tables]]:
    """Compare some n-grams of a candidate, alone in its batch, with the pools, then the next.

    Yields the token at which the first of them begins, and their tables. Parameters are as for `match_long_segment`.
    """
    pools_of_each = max(len(rules.columns(order)) for order in range(1, rules.max_order + 1))
    stripe = max(1, STRIPE_CELLS // (batch.reference.shape[1] * pools_of_each))
    for start in range(0, batch.candidate.shape[1], stripe):
        # N-grams that begin here may end beyond, and those that begin there are not to be matched yet.
        end = start + stripe + rules.max_order - 1
        part = replace(batch, candidate=batch.candidate[:, start:end])
        tables = Tables.of(rules, pools, part, text.products(part))
        if tables is not None:
            tables.similarities[:, :, stripe:] = 0
            yield start, tables


def _match_greedily(rules: Rules, stripes: Iterator[tuple[int, Tables]], matches: list[Matches]) -> None:
    """Match the n-grams from left to right: each stripe takes from what those before it have left."""
    left: dict[int, Integers] = {}
    for _, tables in stripes:
        for capacity, order in zip(tables.capacity[:, 0], tables.orders, strict=True):
            if order in left:
                capacity[:] = left[order][: len(capacity)]
            left[order] = capacity
        partner, value = tables.assign()
        tables.note(partner, value, matches)
        for order, columns, similarities in zip(tables.orders, partner, value, strict=True):
            matched = columns >= 0
            np.subtract.at(left[order], columns[matched], rules.unit or np.minimum(similarities[matched], SCALE))
        # Memory is for the next.
        del tables


def _match_optimally(
    rules: Rules,
    batch: Batch,
    stripes: Iterator[tuple[int, Tables]],
    matches: list[Matches],
    words: str,
) -> None:
    """Gather the pairs of a single order that may match, stripe by stripe, and match them together."""
    links: list[tuple[NDArray[Any], ...]] = []
    whole: Tables | None = None
    for start, tables in stripes:
        whole = whole or replace(tables, batch=batch)
        similarities = tables.similarities[0, 0]
        row, column = np.nonzero(similarities > max(rules.threshold, 0))
        links.append(((row + start).astype(np.int32), column.astype(np.int32), similarities[row, column]))
        OPTIMAL.check(sum(len(link[0]) for link in links), words)
        del tables
    if whole is not None:
        rows, columns, values = map(np.concatenate, zip(*links, strict=True))
        links.clear()
        partner, value = assign_links(rows, columns, values, whole.capacity[0, 0], batch.candidate.shape[1])
        whole.note(partner[None], value[None], matches)


@dataclass(frozen=True)
class Batch:
    """Candidates of about one size, and the references of their segments."""

    systems: Integers  # System of each candidate
    lines: Integers  # Line of each candidate
    candidate: Integers  # Positions of the candidates' tokens: (batch, most tokens), padded with the chunk's size
    reference: Integers  # Positions of the references' tokens, likewise

    @property
    def is_long(self) -> bool:
        """Whether it is a single candidate whose token-by-token matrix is too large to be made at once."""
        return bool(self.candidate.shape[1] * self.reference.shape[1] > LONG_CELLS)


def batches(chunk: Chunk, most_cells: int | None = None) -> Iterator[Batch]:
    """Group the candidates of a chunk that have tokens on both sides by size; a long one is a batch of its own.

    A batch has at most `most_cells` pairs of tokens, or one candidate.
    """
    candidate, reference = chunk.candidates.offsets, chunk.reference_positions
    height, width = candidate[1:] - candidate[:-1], np.tile(reference[1:] - reference[:-1], chunk.systems)
    ranked = np.lexsort((height, width))
    ranked = ranked[(height[ranked] > 0) & (width[ranked] > 0)]
    start, most = 0, most_cells or BATCH_CELLS
    while start < len(ranked):
        # Widths ascend, so the cells do: as many candidates as fit, but at least one.
        some = ranked[start : start + most]
        cells = np.maximum.accumulate(height[some]) * width[some] * np.arange(1, len(some) + 1)
        lines = some[: max(1, int(np.searchsorted(cells, most, side="right")))]
        systems, segments = np.divmod(lines, len(chunk))
        yield Batch(
            systems,
            lines,
            _padded(candidate[lines], height[lines], chunk.size),
            _padded(reference[segments], width[lines], chunk.size),
        )
        start += len(lines)


def _padded(starts: Integers, lengths: Integers, padding: int) -> Integers:
    places = np.arange(lengths.max())
    return np.where(places < lengths[:, None], starts[:, None] + places, padding)


@dataclass(frozen=True)
class WeighedText:
    """A chunk's tokens as vectors: what the similarity of its n-grams follows from."""

    vectors: UnitVectors
    rows: Integers  # Row of the vectors of each position, and any for padding
    norms: list[Floats]  # 1 / norm of the n-gram that starts at each position, n = 1, 2, …; 0 for padding

    @classmethod
    def of(cls, chunk: Chunk, vectors: Vectors, by_frequency: bool, order: int) -> WeighedText:
        """Look up the vectors of a chunk."""
        unit_vectors, rows = vectors.unit(chunk, by_frequency=by_frequency)
        return cls(unit_vectors, np.append(rows, 0), unit_vectors.text_norms(rows, order))

    def products(self, batch: Batch) -> TokenProducts:
        """Products of the tokens of a batch."""
        cross, plain = self.vectors.products(self.rows[batch.candidate], self.rows[batch.reference])
        return TokenProducts(cross, plain, self._norms(batch.candidate), self._norms(batch.reference))

    def _norms(self, places: Integers) -> list[Floats]:
        width = places.shape[1]
        return [norms[places[:, : width - n]] for n, norms in enumerate(self.norms[:width])]


@dataclass(frozen=True)
class Pool:
    """Clipped counts of references' n-grams, of one order, spread over a chunk's positions and one for padding."""

    ngrams: Ngrams
    index: Integers  # Number of the candidate n-gram that starts here, -1 for none
    waiting: Flags  # Whether a candidate n-gram starts here that is still to be matched
    pool_index: Integers  # Number of the pool n-gram that starts here, that of none being the last
    counts: Integers  # Count of each pool n-gram, and 0 for none
    left: Integers
    """Counts less the exact matches of each system, (systems, pool n-grams and none); the counts themselves
    unless exact matches come first."""

    @classmethod
    def of(cls, ngrams: Ngrams, chunk: Chunk, rules: Rules) -> Pool:
        """Spread the n-grams of a chunk."""
        starts, pool_starts, size = ngrams.starts, ngrams.pool_starts, chunk.size + 1
        index, pool_index, waiting = np.full(size, -1), np.full(size, len(pool_starts)), np.zeros(size, bool)
        index[starts], pool_index[pool_starts] = np.arange(len(starts)), np.arange(len(pool_starts))
        waiting[starts] = ~ngrams.exact if rules.exact_first else True
        counts, left = (np.zeros((*systems, len(pool_starts) + 1), np.int64) for systems in ((), (chunk.systems,)))
        counts[:-1] = ngrams.capacity
        left[:, :-1] = ngrams.left(chunk.systems) if rules.exact_first else ngrams.capacity
        return cls(ngrams, index, waiting, pool_index, counts, left)

    def capacity(self, less_exact: bool, systems: Integers, starts: Integers) -> Integers:
        """Count the instances of pool n-grams that begin at `starts`, (batch, starts), for candidates of `systems`.

        With `less_exact` those that exact matches take are subtracted.
        """
        numbers = self.pool_index[starts]
        return self.left[systems[:, None], numbers] if less_exact else self.counts[numbers]

    def equal(self, candidate: Integers, reference: Integers) -> Flags:
        """Whether n-grams at two positions are equal: (batch, candidate starts, reference starts)."""
        ids = np.append(self.ngrams.ids, -1)[self.index[candidate]]
        pool_ids = np.append(self.ngrams.pool_ids, -2)[self.pool_index[reference]]
        same: Flags = ids[:, :, None] == pool_ids[:, None, :]
        return same

    def start(self, order: int, rules: Rules) -> Matches:
        """Make the matches of an order that precede approximate ones: exact ones, if the rules match these first."""
        if rules.exact_first or not rules.pool_orders[order - 1]:
            return Matches.exact(self.ngrams, order)
        return Matches.none(self.ngrams)


@dataclass(frozen=True)
class Tables:
    """Similarities of the n-grams of a batch and capacities of the pool n-grams, before any match is made."""

    rules: Rules
    pools: list[Pool]  # Of each order
    batch: Batch
    orders: list[int]  # Orders that may match approximately
    pool_orders: list[list[int]]  # Of each, the orders of the pool n-grams in its columns, in pool order
    similarities: NDArray[np.int32]
    """In millionths, `EXACT` for equal n-grams, 0 or less where no match is allowed.

    The shape is (orders, batch, candidate n-grams, pool n-grams)."""
    capacity: Integers  # Instances of the pool n-grams, in millionths: (orders, batch, pool n-grams)

    @classmethod
    def of(cls, rules: Rules, pools: list[Pool], batch: Batch, products: TokenProducts) -> Tables | None:
        """Similarities of all matches that are allowed, and what the pool offers; None if no match is."""
        (size, height), width = batch.candidate.shape, batch.reference.shape[1]
        orders = [order for order, soft in enumerate(rules.pool_orders, start=1) if soft and order <= height]
        # Columns in pool order: the starts of 1-grams, then those of 2-grams, …
        pool_orders = [[k for k in rules.columns(n) if k <= width] for n in orders]
        columns = width * max(map(len, pool_orders), default=0)
        if not columns:
            return None
        similarities = np.zeros((len(orders), size, height, columns), np.int32)
        capacity = np.zeros((len(orders), size, columns), np.int64)
        tables = cls(rules, pools, batch, orders, pool_orders, similarities, capacity)
        for layer, blocks in enumerate(pool_orders):
            for place in range(len(blocks)):
                tables._fill(layer, place, products)
        return tables

    def _fill(self, layer: int, place: int, products: TokenProducts) -> None:
        """Write what the pool n-grams of one order offer to those of another, and how similar they are."""
        order, pool_order = self.orders[layer], self.pool_orders[layer][place]
        height, width = self.batch.candidate.shape[1], self.batch.reference.shape[1]
        candidate = self.batch.candidate[:, : height - order + 1]
        reference = self.batch.reference[:, : width - pool_order + 1]
        columns = slice(place * width, place * width + reference.shape[1])
        pool = self.pools[order - 1]
        offered = self.pools[pool_order - 1].capacity(pool_order == order, self.batch.systems, reference)
        self.capacity[layer, :, columns] = SCALE * offered
        block = self.similarities[layer, :, : candidate.shape[1], columns]
        if pool_order in self.rules.pool_orders[order - 1]:
            rows, served = pool.waiting[candidate].astype(np.float64), np.where(offered > 0, float(SCALE), 0.0)
            similarities = self.rules.composition.similarities(products, order, pool_order, rows, served)
            if similarities is not None:
                block[...] = round_millionths(similarities)
        if pool_order == order and self.rules.equal_is_one and not self.rules.exact_first:
            block[pool.equal(candidate, reference)] = EXACT

    def assign(self) -> tuple[Integers, Integers]:
        """Give pool n-grams to candidate n-grams by the rules; order o's candidate s has the number o * batch + s.

        Found are the pool n-gram of each candidate n-gram, -1 for none, and the similarity of that match.
        Similarities are overwritten.
        """
        similarities, capacity = self._stacked()
        if self.rules.assignment == "optimal":
            similarities[similarities <= self.rules.threshold] = 0
            return _assign_optimally(similarities, capacity)
        return assign_greedily(similarities, capacity, self.rules.unit, self.rules.threshold)

    def sweep(self, thresholds: Integers, kernels: Kernels) -> Intervals:
        """Match at every threshold (in millionths) by `kernels`; candidates are numbered as `assign` does."""
        return kernels.sweep_greedily(*self._stacked(), thresholds)

    def _stacked(self) -> tuple[NDArray[np.int32], Integers]:
        height, columns = self.similarities.shape[2:]
        return self.similarities.reshape(-1, height, columns), self.capacity.reshape(-1, columns)

    def note(self, partner: Integers, value: Integers, matches: list[Matches]) -> None:
        """Write into `matches`, order by order, the matches that `assign` made.

        `partner` has the pool n-gram of each candidate n-gram, -1 for none, `value` the similarity in millionths:
        (batch, candidate n-grams).
        """
        row, start = np.nonzero(partner >= 0)
        layer, line = np.divmod(row, len(self.batch.lines))
        block, place = np.divmod(partner[row, start], self.batch.reference.shape[1])
        positions, partners = self.batch.candidate[line, start], self.batch.reference[line, place]
        values = np.minimum(value[row, start], SCALE)
        bounds = pairwise(np.searchsorted(layer, np.arange(len(self.orders) + 1)).tolist())
        for order, pool_orders, ends in zip(self.orders, self.pool_orders, bounds, strict=True):
            some, made = slice(*ends), matches[order - 1]
            entries = self.pools[order - 1].index[positions[some]]
            made.matched[entries] = values[some]
            made.partner_starts[entries] = partners[some]
            made.partner_orders[entries] = np.array(pool_orders)[block[some]]


def _assign_optimally(similarities: NDArray[np.int32], capacity: Integers) -> tuple[Integers, Integers]:
    from scipy.optimize import linear_sum_assignment

    batch, rows, _ = similarities.shape
    partner = np.full((batch, rows), -1)
    value = np.zeros((batch, rows), np.int64)
    for segment, weights in enumerate(similarities):
        matchable = np.flatnonzero((weights > 0).any(axis=1))
        useful = np.flatnonzero((weights > 0).any(axis=0))
        # No column can serve more rows than there are.
        instances = np.repeat(useful, np.minimum(capacity[segment, useful] // SCALE, len(matchable)))
        size = len(matchable) * len(instances)
        OPTIMAL.check(size, f"a group of {len(matchable):,} candidate and {len(instances):,} reference n-grams")
        gain = np.clip(weights[np.ix_(matchable, instances)], 0, SCALE)
        chosen, column = linear_sum_assignment(gain, maximize=True)
        paid = gain[chosen, column] > 0
        row, column = matchable[chosen[paid]], instances[column[paid]]
        partner[segment, row] = column
        value[segment, row] = weights[row, column]
    return partner, value


def assign_links(
    rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], capacity: Integers, height: int
) -> tuple[Integers, Integers]:
    """Match the few pairs that may match at all by the greatest total, each connected group by itself.

    Each pair that may match has a candidate n-gram, of which there are `height`, a pool n-gram and a similarity.

    Pair i has candidate n-gram ``rows[i]``, pool n-gram ``columns[i]`` and similarity ``values[i]``; `capacity`,
    (pool n-grams,), is in millionths of an instance.

    >>> links = np.array([0, 1, 1]), np.array([0, 0, 2]), np.array([900_000, 800_000, 700_000])
    >>> assign_links(*links, np.full(3, SCALE), 3)
    (array([ 0,  2, -1]), array([900000, 700000,      0]))
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nodes = height + len(capacity)
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns + height)), shape=(nodes, nodes))
    group = connected_components(graph, directed=False)[1][rows]
    order = np.argsort(group, kind="stable")
    partner, value = np.full(height, -1), np.zeros(height, np.int64)
    row_of, column_of = np.zeros(height, np.int32), np.zeros(len(capacity), np.int32)  # In a group
    for some in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        taken, others = np.unique(rows[some]), np.unique(columns[some])
        row_of[taken], column_of[others] = np.arange(len(taken)), np.arange(len(others))
        OPTIMAL.check(
            len(taken) * len(others), f"a group of {len(taken):,} candidate and {len(others):,} reference n-grams"
        )
        weights = np.zeros((1, len(taken), len(others)), np.int32)
        weights[0, row_of[rows[some]], column_of[columns[some]]] = values[some]
        chosen, value[taken] = (first[0] for first in _assign_optimally(weights, capacity[None, others]))
        partner[taken] = np.where(chosen >= 0, others[chosen], -1)
    return partner, value
