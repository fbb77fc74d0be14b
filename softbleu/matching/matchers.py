"""Matchers: the reference n-grams that a candidate n-gram may match, and the assignment of matches.

A chunk is matched by the kernels, or on whole arrays: candidates of similar size in batches, a long candidate by
itself in stripes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from softbleu.config.declare import Declared, Registry, setting
from softbleu.embeddings.measure import parse_percentile
from softbleu.errors import InputError
from softbleu.io.arguments import Limit, read_number
from softbleu.kernels import SCALE, Kernels
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
    from numpy.typing import NDArray

    from softbleu.types import Array, Flags, Floats, Integers


Assignment = Literal["exact-first", "sequential", "optimal"]
Consumption = Literal["unit", "similarity"]
DEFAULT_THRESHOLD = 0.8  # Used if neither the user nor the vectors set a threshold
NAMED = 0.5  # Share of the threshold above which an n-gram is named as the closest of one without a match
BATCH_CELLS = 1 << 15  # Entries of a batch's token-by-token matrices: small enough to stay in the cache
LONG_CELLS = 1 << 21  # A segment with a larger matrix is matched by itself, in stripes
EXACT = 2 * SCALE  # Similarity of exact matches, above any approximate match, even of similarity 1
OPTIMAL = Limit(
    "assignment 'optimal'",
    "pairs of n-grams that may match",
    1 << 25,
    "a document of 3,000 words, at threshold 0.8: 100,000",
    "raise the threshold, or use 'exact-first'",
)
"""Limit per order and segment (2 GB)."""
STRIPE_CELLS = 1 << 20  # Pairs of n-grams of an order that are held in memory
_LIMIT = Limit(
    "soft matching", "pairs of words", 1 << 31, "a document of 3,000 words with 20 references: 180,000,000"
)
"""Limit per segment, of which one stripe is held in memory."""
MATCHED_WORDS = Limit("soft matching", "words", 1 << 20, "a document of 3,000 words with 20 references: 63,000")
"""Limit for a candidate with its references, whose n-grams take memory before any comparison."""


@dataclass(frozen=True)
class Rules:
    """Rules of a soft matcher for n-grams of several orders; see `SoftMatcher`."""

    pool_orders: tuple[tuple[int, ...], ...]  # For each order, the reference orders that may match approximately
    columns: tuple[tuple[int, ...], ...]  # The same with the order itself, ascending
    deepest: int  # Greatest order of an n-gram whose similarity is computed
    threshold: int  # In millionths; a similarity must exceed it
    assignment: Assignment
    unit: int  # Millionths of a pool n-gram that a match consumes; 0: its similarity
    composition: Composition
    equal_is_one: bool  # Whether equal n-grams have similarity 1 in any context
    exact_first: bool  # Whether equal n-grams are matched before others
    in_context: bool  # Whether the vectors of equal n-grams differ by context


@dataclass(frozen=True)
class Matches:
    """Matches of the candidate n-grams of one order; each array has an entry per n-gram."""

    starts: Integers  # Candidate positions at which the n-grams start
    matched: Integers  # Matched share in millionths: 1,000,000 for an exact match, 0 for none
    partner_starts: Integers  # Position at which the matched reference n-gram first appears; -1 for none
    partner_orders: Integers  # Order of the matched reference n-gram; 0 for none

    @classmethod
    def first(cls, ngrams: Ngrams, order: int, rules: Rules | None = None) -> Matches:
        """Make the matches of an order that precede approximate ones: exact matches, if the rules say so."""
        exact = ngrams.exact
        if rules is not None and rules.pool_orders[order - 1] and not rules.exact_first:
            exact = np.zeros(len(exact), bool)
        first = np.empty(len(ngrams.counts), np.int64)
        first[ngrams.pool_ids[::-1]] = ngrams.pool_starts[::-1]
        partners = np.where(exact, first[ngrams.ids], -1)
        return cls(ngrams.starts, exact * SCALE, partners, np.where(exact, order, 0))


def read_threshold(text: str) -> float | str | None:
    """Parse a threshold: a number, a quantile (kept as text), or `none` for the default.

    >>> read_threshold("0.8"), read_threshold("p99.9")
    (0.8, 'p99.9')
    """
    if text == "none":
        return None
    try:
        return read_number(float, text)
    except ValueError:
        parse_percentile(text)
        return text


def threshold_setting(help: str, unset: str) -> float | str | None:
    """Declare a threshold of similarities: a number, a quantile, or None, whose meaning is described by `unset`."""
    kinds: dict[str, object] = {"read": read_threshold, "unset": unset, "always_signed": True, "common": True}
    return setting(None, help, least=0, most=1, metavar="0..1|pX", flags=("-t",), **kinds)


@dataclass(frozen=True)
class Matcher(Declared):
    """Base class of matchers: values whose fields are their identity and their part of the signature."""

    kind: ClassVar[str] = "matcher"

    @abstractmethod
    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """Return the orders, up to `max_order`, of reference n-grams that n-grams of `order` may match softly."""

    def matches(self, chunk: Chunk, vectors: Vectors | None, max_order: int) -> list[Matches]:
        """Match the candidate n-grams of a chunk; return `Matches` for each of the orders 1…`max_order`.

        `vectors` are the vectors of the words of the corpus, or None unless `needs_vectors`. All systems of a chunk
        share its references.
        """
        return [Matches.first(ngrams, n) for n, ngrams in enumerate(chunk.ngrams(max_order), start=1)]

    def matched(self, chunk: Chunk, vectors: Vectors | None, max_order: int, kernels: Kernels) -> Integers:
        """Sum the matches of each candidate and order, in millionths of an n-gram: (lines, `max_order`).

        See `matches` for `chunk` and `vectors`. `kernels` are used where possible, and change no digit.
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
        """Whether words are weighted by their frequency."""
        return False


@dataclass(frozen=True)
class SoftMatcher(Matcher):
    """A matcher that credits similar n-grams; subclasses choose the orders that may match (`pool_orders`).

    Parameters
    ----------
    threshold
        Threshold from 0 to 1 that a similarity must exceed to count; a quantile of random pairs of words, such as
        `p99.9`; or None for the threshold recommended by the vectors, or else 0.8.
    assignment
        Order of matching: `exact-first` (exact matches, then left to right), `sequential` (Morgan 2014: one pass,
        left to right) or `optimal` (greatest sum of matches).
    consumption
        Amount of a reference n-gram used up by an approximate match: one instance (`unit`), or the similarity
        (`similarity`).
    composition
        Similarity of n-grams: `mean`, `aligned` or `sif`.
    """

    threshold: float | str | None = threshold_setting(
        "Similarity that a match must exceed: 0 to 1, or a percentile of random word pairs such as p99.9",
        f"{DEFAULT_THRESHOLD:g}, or the vectors' recommendation",
    )
    assignment: Assignment = setting("exact-first", "Order of matching: exact-first, sequential or optimal")
    consumption: Consumption = setting(
        "unit", "Amount that a soft match uses up: one instance (unit) or its similarity"
    )
    composition: str = setting(
        "mean",
        "Similarity of n-grams: by mean vectors (mean), the same with more weight for rare words (sif), or word by "
        "word (aligned)",
        choices=COMPOSITIONS,
    )

    def check(self) -> None:
        """Check that the settings are compatible."""
        if self.assignment == "optimal" and self.consumption != "unit":
            raise InputError("assignment 'optimal' needs consumption 'unit'")

    def needs_vectors(self, max_order: int) -> bool:
        """Whether any n-gram up to that order may match approximately."""
        soft = isinstance(self.threshold, str) or threshold_in_millionths(self.least_similarity) < SCALE
        return soft and super().needs_vectors(max_order)

    @property
    def least_similarity(self) -> float:
        """The threshold as a number."""
        if isinstance(self.threshold, str):
            raise InputError(f"threshold {self.threshold!r} is a quantile: resolve the metric, or give a number")
        return DEFAULT_THRESHOLD if self.threshold is None else self.threshold

    def needs_frequencies(self, max_order: int) -> bool:
        """Whether words are weighted by their frequency."""
        return COMPOSITIONS[self.composition].by_frequency and self.needs_vectors(max_order)

    def rules(self, max_order: int, vectors: Vectors) -> Rules:
        """Return the rules for n-grams of orders 1…`max_order`, compared by `vectors`."""
        soft = tuple(tuple(self.pool_orders(order, max_order)) for order in range(1, max_order + 1))
        columns = tuple(tuple(sorted({order, *others})) for order, others in enumerate(soft, start=1))
        return Rules(
            soft,
            columns,
            max((row[-1] for row, others in zip(columns, soft, strict=True) if others), default=0),
            threshold_in_millionths(self.least_similarity),
            self.assignment,
            SCALE if self.consumption == "unit" else 0,
            COMPOSITIONS[self.composition],
            vectors.equal_is_one,
            vectors.equal_is_one and self.assignment == "exact-first",
            vectors.in_context,
        )

    def matches(self, chunk: Chunk, vectors: Vectors | None, max_order: int) -> list[Matches]:
        """Match the candidate n-grams of orders 1…max_order of every segment of a chunk."""
        if vectors is None or not self.needs_vectors(max_order):
            return super().matches(chunk, vectors, max_order)
        return self._assigned(chunk, vectors, max_order, Tables.assign)

    def closest(self, chunk: Chunk, vectors: Vectors, max_order: int) -> list[Matches]:
        """Find the most similar n-gram that no match has taken, for n-grams without a match; see `Tables.closest`."""
        return self._assigned(chunk, vectors, max_order, Tables.closest)

    def _assigned(
        self, chunk: Chunk, vectors: Vectors, max_order: int, assign: Callable[[Tables], tuple[Integers, Integers]]
    ) -> list[Matches]:
        MATCHED_WORDS.check_sum(**chunk.sizes)
        rules, given, (chunk, places) = self.rules(max_order, vectors), chunk, chunk.in_order()
        pools = [Pool.of(ngrams, chunk, rules) for ngrams in chunk.ngrams(max_order, instances=rules.in_context)]
        matches = [Matches.first(pool.ngrams, order, rules) for order, pool in enumerate(pools, start=1)]
        text = WeighedText.of(chunk, vectors, rules.composition.by_frequency, rules.deepest)
        for batch in batches(chunk):
            if batch.is_long:
                match_long_segment(rules, pools, batch, text, matches)
            elif (tables := Tables.of(rules, pools, batch, text.products(batch))) is not None:
                tables.note(*assign(tables), matches)
        if chunk is given:
            return matches
        first = None if rules.in_context else given.first_of_equals(max_order)
        return [
            replace(made, partner_starts=places_in(places, first, made.partner_starts, made.partner_orders))
            for made in matches
        ]

    def matched(self, chunk: Chunk, vectors: Vectors | None, max_order: int, kernels: Kernels) -> Integers:
        """Sum the matches, by kernels where possible; see `Matcher.matched`."""
        sums = None
        if kernels.sum_matches and vectors is not None and self.is_plain(max_order):
            sums = soft_sums(self.rules(max_order, vectors), chunk, vectors, kernels)
        return super().matched(chunk, vectors, max_order, kernels) if sums is None else sums

    def is_plain(self, max_order: int) -> bool:
        """Whether n-grams may match approximately, and no subclass overrides the matching."""
        kind = type(self)
        plain = kind.matches is SoftMatcher.matches and kind.matched is SoftMatcher.matched
        return plain and self.needs_vectors(max_order)


@dataclass(frozen=True)
class Exact(Matcher):
    """Only equal n-grams match (BLEU: Papineni et al. 2002)."""

    name: ClassVar[str] = "exact"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """Return no orders: only exact matches count."""
        return ()


@dataclass(frozen=True)
class SleuMatcher(SoftMatcher):
    """Words may match similar words (SLEU: Morgan 2014)."""

    name: ClassVar[str] = "sleu"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """Return order 1 for words, none for longer n-grams."""
        return (1,) if order == 1 else ()


@dataclass(frozen=True)
class VleuMatcher(SoftMatcher):
    """N-grams may match n-grams of their own order (VLEU: Morgan 2014)."""

    name: ClassVar[str] = "vleu"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """Return the n-gram's own order."""
        return (order,)


@dataclass(frozen=True)
class XleuMatcher(SoftMatcher):
    """N-grams may match n-grams of every order (XLEU: Morgan 2014)."""

    name: ClassVar[str] = "xleu"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """Return all orders."""
        return range(1, max_order + 1)


MATCHERS = Registry("matcher", "softbleu.matching", Matcher)  # type: ignore[type-abstract]  # none is made of it


def make_matcher(name: str, **options: object) -> Matcher:
    """Make a matcher by its name; options that are None keep their defaults.

    Examples
    --------
    >>> make_matcher("vleu", threshold=0.8, assignment=None)
    VleuMatcher(threshold=0.8, assignment='exact-first', consumption='unit', composition='mean')
    >>> make_matcher("exact", threshold=0.8)
    Traceback (most recent call last):
    softbleu.errors.InputError: matcher 'exact' has no option 'threshold'; it has: none
    """
    return MATCHERS.make(name, **options)


def places_in(places: Integers, first: Integers | None, starts: Integers, orders: Integers) -> Integers:
    """Convert start positions of partners from `Chunk.in_order` to the original chunk.

    `places` comes from `Chunk.in_order`, `first` from `Chunk.first_of_equals`, or is None if equal n-grams differ by
    context. Starts of -1, for no partner, are kept; `orders` are the partners' orders.
    """
    found = places[starts]
    return np.where(starts < 0, -1, found if first is None else first[orders, found])


def soft_sums(rules: Rules, chunk: Chunk, vectors: Vectors, kernels: Kernels) -> Integers | None:
    """Sum the matches of each candidate and order by kernels, in millionths: (lines, orders).

    Returns None if the kernels do not support these rules and vectors.
    """
    plain = rules.exact_first and not rules.composition.aligned
    if kernels.sum_matches is None or not plain or not isinstance(vectors, TokenVectors):
        return None
    if vectors.allowed_pairs is not None:
        return None
    chunk, _ = chunk.in_order()
    orders = range(1, len(rules.pool_orders) + 1)
    return kernels.sum_matches(
        chunk.candidates,
        chunk.references,
        chunk.segment_offsets,
        (vectors.weighted() if rules.composition.by_frequency else vectors).arrays,
        np.array([[m in pool_orders for m in orders] for pool_orders in rules.pool_orders]),
        rules.threshold,
        rules.unit,
    )


def match_long_segment(
    rules: Rules, pools: list[Pool], batch: Batch, text: WeighedText, matches: list[Matches]
) -> None:
    """Match a candidate, alone in its batch, whose token-by-token matrix would not fit into memory.

    `pools` are the reference n-grams of each order, `text` the weighted vectors of the chunk. Results are written to
    `matches`, one entry per order.
    """
    words = words_of(batch)
    if rules.assignment == "optimal":
        # One order at a time, since all its candidate pairs are held in memory.
        for order in np.flatnonzero([bool(soft) for soft in rules.pool_orders]).tolist():
            one = replace(rules, pool_orders=tuple(s if n == order else () for n, s in enumerate(rules.pool_orders)))
            _match_optimally(one, batch, stripes_of(one, pools, batch, text), matches, words)
    else:
        _match_greedily(rules, stripes_of(rules, pools, batch, text), matches)


def words_of(batch: Batch) -> str:
    """Describe the length of a segment that is alone in its batch; raise `InputError` if it is too long."""
    height, width = batch.candidate.shape[1], batch.reference.shape[1]
    words = f"a segment of {height:,} candidate and {width:,} reference words"
    _LIMIT.check(height * width, words)
    return words


def stripes_of(rules: Rules, pools: list[Pool], batch: Batch, text: WeighedText) -> Iterator[tuple[int, Tables]]:
    """Compare the n-grams of a candidate, alone in its batch, with the pools, stripe by stripe.

    Yields the first token of each stripe and its tables. See `match_long_segment` for the parameters.
    """
    stripe = max(1, STRIPE_CELLS // (batch.reference.shape[1] * max(map(len, rules.columns))))
    for start in range(0, batch.candidate.shape[1], stripe):
        # N-grams that begin in the stripe may end after it; n-grams that begin after it come next.
        end = start + stripe + len(pools) - 1
        part = replace(batch, candidate=batch.candidate[:, start:end])
        tables = Tables.of(rules, pools, part, text.products(part))
        if tables is not None:
            tables.similarities[:, stripe:] = 0
            yield start, tables


def _match_greedily(rules: Rules, stripes: Iterator[tuple[int, Tables]], matches: list[Matches]) -> None:
    """Match n-grams from left to right; each stripe uses the capacity that earlier stripes left."""
    left: dict[int, Integers] = {}
    for _, tables in stripes:
        for capacity, order in zip(tables.capacity, tables.orders, strict=True):
            if order in left:
                capacity[:] = left[order][: len(capacity)]
            left[order] = capacity
        partner, value = tables.assign()
        tables.note(partner, value, matches)
        for order, columns, similarities in zip(tables.orders, partner, value, strict=True):
            matched = columns >= 0
            np.subtract.at(left[order], columns[matched], rules.unit or np.minimum(similarities[matched], SCALE))
        # Free the memory before the next stripe.
        del tables


def _match_optimally(
    rules: Rules,
    batch: Batch,
    stripes: Iterator[tuple[int, Tables]],
    matches: list[Matches],
    words: str,
) -> None:
    """Collect the pairs of a single order that may match, stripe by stripe, and assign them together."""
    links: list[tuple[Array, ...]] = []
    whole: Tables | None = None
    for start, tables in stripes:
        whole = whole or replace(tables, batch=batch)
        similarities = tables.similarities[0]
        row, column = np.nonzero(similarities > max(rules.threshold, 0))
        links.append(((row + start).astype(np.int32), column.astype(np.int32), similarities[row, column]))
        OPTIMAL.check(sum(len(link[0]) for link in links), words)
        del tables
    if whole is not None:
        rows, columns, values = map(np.concatenate, zip(*links, strict=True))
        links.clear()
        partner, value = assign_links(rows, columns, values, whole.capacity[0], batch.candidate.shape[1])
        whole.note(partner[None], value[None], matches)


@dataclass(frozen=True)
class Batch:
    """Candidates of similar size, with the references of their segments."""

    systems: Integers  # System of each candidate
    lines: Integers  # Line of each candidate
    candidate: Integers  # Token positions of candidates: (batch, most tokens), padded with the chunk's size
    reference: Integers  # Token positions of references, likewise
    is_long: bool  # Whether it is a single candidate whose token-by-token matrix is too large to hold


def batches(chunk: Chunk, most_cells: int | None = None) -> Iterator[Batch]:
    """Group candidates by size into batches of at most `most_cells` pairs of tokens, or one long candidate.

    Candidates without tokens, or without tokens in their references, are left out.
    """
    candidate, reference = chunk.candidates.offsets, chunk.reference_positions
    height, width = candidate[1:] - candidate[:-1], np.tile(reference[1:] - reference[:-1], chunk.systems)
    ranked = np.lexsort((height, width))
    ranked = ranked[(height[ranked] > 0) & (width[ranked] > 0)]
    start, most = 0, most_cells or BATCH_CELLS
    while start < len(ranked):
        # Widths ascend, and so do the cells: take as many candidates as fit, at least one.
        some = ranked[start : start + most]
        cells = np.maximum.accumulate(height[some]) * width[some] * np.arange(1, len(some) + 1)
        lines = some[: max(1, int(np.searchsorted(cells, most, side="right")))]
        systems, segments = np.divmod(lines, len(chunk))
        yield Batch(
            systems,
            lines,
            _padded(candidate[lines], height[lines], int(reference[-1])),
            _padded(reference[segments], width[lines], int(reference[-1])),
            is_long=bool(height[lines].max() * width[lines].max() > LONG_CELLS),
        )
        start += len(lines)


def _padded(starts: Integers, lengths: Integers, padding: int) -> Integers:
    places = np.arange(lengths.max())
    return np.where(places < lengths[:, None], starts[:, None] + places, padding)


@dataclass(frozen=True)
class WeighedText:
    """Vectors of a chunk's tokens, from which similarities of its n-grams are computed."""

    vectors: UnitVectors
    rows: Integers  # Row of the vectors for each position; any row for padding
    norms: list[Floats]  # 1 / norm of the n-gram that starts at each position, n = 1, 2, …; 0 for padding

    @classmethod
    def of(cls, chunk: Chunk, vectors: Vectors, by_frequency: bool, order: int) -> WeighedText:
        """Look up the vectors of a chunk."""
        unit_vectors, rows = vectors.unit(chunk, by_frequency=by_frequency)
        return cls(unit_vectors, np.append(rows, 0), unit_vectors.text_norms(rows, order))

    def products(self, batch: Batch) -> TokenProducts:
        """Compute the products of the tokens of a batch."""
        cross, plain = self.vectors.products(self.rows[batch.candidate], self.rows[batch.reference])
        ours, others = (
            [norms[places[:, : places.shape[1] - n]] for n, norms in enumerate(self.norms[: places.shape[1]])]
            for places in (batch.candidate, batch.reference)
        )
        return TokenProducts(cross, plain, ours, others)


@dataclass(frozen=True)
class Pool:
    """Clipped counts of reference n-grams of one order, indexed by the positions of a chunk and one for padding."""

    ngrams: Ngrams
    index: Integers  # Number of the candidate n-gram at each position, -1 for none
    waiting: Flags  # Whether an unmatched candidate n-gram starts at each position
    pool_index: Integers  # Number of the pool n-gram at each position, the last for none
    counts: Integers  # Count of each pool n-gram, then 0 for none
    left: Integers
    """Counts less the exact matches of each system, (systems, pool n-grams + 1); equal to `counts` unless exact
    matches come first."""

    @classmethod
    def of(cls, ngrams: Ngrams, chunk: Chunk, rules: Rules) -> Pool:
        """Index the n-grams of a chunk by position."""
        starts, pool_starts, size = ngrams.starts, ngrams.pool_starts, len(chunk.positions.codes) + 1
        index, pool_index, waiting = np.full(size, -1), np.full(size, len(pool_starts)), np.zeros(size, bool)
        index[starts], pool_index[pool_starts] = np.arange(len(starts)), np.arange(len(pool_starts))
        waiting[starts] = ~ngrams.exact if rules.exact_first else True
        counts, left = (np.zeros((*systems, len(pool_starts) + 1), np.int64) for systems in ((), (chunk.systems,)))
        counts[:-1] = ngrams.capacity
        left[:, :-1] = ngrams.left(chunk.systems) if rules.exact_first else ngrams.capacity
        return cls(ngrams, index, waiting, pool_index, counts, left)

    def equal(self, candidate: Integers, reference: Integers) -> Flags:
        """Compare n-grams at all pairs of positions for equality: (batch, candidate starts, reference starts)."""
        ids = np.append(self.ngrams.ids, -1)[self.index[candidate]]
        pool_ids = np.append(self.ngrams.pool_ids, -2)[self.pool_index[reference]]
        same: Flags = ids[:, :, None] == pool_ids[:, None, :]
        return same


@dataclass(frozen=True)
class Tables:
    """Similarities of the n-grams of a batch, and capacities of the pool n-grams before matching."""

    rules: Rules
    pools: list[Pool]  # One per order
    batch: Batch
    orders: list[int]  # Orders that may match approximately
    pool_orders: list[list[int]]  # For each of `orders`, the orders of the pool n-grams in its columns
    similarities: NDArray[np.int32]
    """Similarities in millionths, `EXACT` for equal n-grams, 0 or less where no match is allowed.

    The shape is (orders * batch, candidate n-grams, pool n-grams): row o * batch + s is candidate s in order o."""
    capacity: Integers  # Instances of the pool n-grams, in millionths: (orders * batch, pool n-grams)

    @classmethod
    def of(cls, rules: Rules, pools: list[Pool], batch: Batch, products: TokenProducts) -> Tables | None:
        """Compute the similarities of all allowed matches, and the capacities; None if no match is allowed."""
        (size, height), width = batch.candidate.shape, batch.reference.shape[1]
        orders = [order for order, soft in enumerate(rules.pool_orders, start=1) if soft and order <= height]
        # Columns in pool order: the starts of 1-grams, of 2-grams, …
        pool_orders = [[k for k in rules.columns[n - 1] if k <= width] for n in orders]
        columns = width * max(map(len, pool_orders), default=0)
        if not columns:
            return None
        similarities = np.zeros((len(orders) * size, height, columns), np.int32)
        capacity = np.zeros((len(orders) * size, columns), np.int64)
        for layer, (order, blocks) in enumerate(zip(orders, pool_orders, strict=True)):
            candidate, pool = batch.candidate[:, : height - order + 1], pools[order - 1]
            rows, waiting = slice(layer * size, (layer + 1) * size), pool.waiting[candidate].astype(np.float64)
            for place, pool_order in enumerate(blocks):
                reference = batch.reference[:, : width - pool_order + 1]
                numbers = pools[pool_order - 1].pool_index[reference]
                # Exact matches have used instances of their own order.
                offered = (
                    pool.left[batch.systems[:, None], numbers]
                    if pool_order == order
                    else pools[pool_order - 1].counts[numbers]
                )
                some = slice(place * width, place * width + reference.shape[1])
                capacity[rows, some] = SCALE * offered
                block = similarities[rows, : candidate.shape[1], some]
                if pool_order in rules.pool_orders[order - 1]:
                    served = np.where(offered > 0, float(SCALE), 0.0)
                    compared = rules.composition.similarities(products, order, pool_order, waiting, served)
                    if compared is not None:
                        block[...] = round_millionths(compared)
                if pool_order == order and rules.equal_is_one and not rules.exact_first:
                    block[pool.equal(candidate, reference)] = EXACT
        return cls(rules, pools, batch, orders, pool_orders, similarities, capacity)

    def assign(self) -> tuple[Integers, Integers]:
        """Assign pool n-grams to candidate n-grams by the rules.

        Returns the pool n-gram of each candidate n-gram, -1 for none, and the similarity of the match. Overwrites the
        similarities.
        """
        if self.rules.assignment == "optimal":
            self.similarities[self.similarities <= self.rules.threshold] = 0
            return _assign_optimally(self.similarities, self.capacity)
        return assign_greedily(self.similarities, self.capacity, self.rules.unit, self.rules.threshold)

    def closest(self) -> tuple[Integers, Integers]:
        """Find for each candidate n-gram that `assign` leaves without a pool n-gram the most similar one left.

        Several may have the same. What is less similar than half the threshold is none. Returns the same as `assign`.
        """
        similarities, left = self.similarities.copy(), self.capacity.copy()
        partner, value = self.assign()
        row, start = np.nonzero(partner >= 0)
        used = self.rules.unit or np.minimum(value[row, start], SCALE)
        np.subtract.at(left, (row, partner[row, start]), used)
        similarities[np.broadcast_to((left <= 0)[:, None], similarities.shape)] = 0
        nearest, most = similarities.argmax(axis=2), similarities.max(axis=2).astype(np.int64)
        named = (partner < 0) & (most > self.rules.threshold * NAMED)
        return np.where(named, nearest, -1), np.where(named, most, 0)

    def note(self, partner: Integers, value: Integers, matches: list[Matches]) -> None:
        """Write the results of `assign`, `partner` and `value`, into `matches`, order by order."""
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
        # A column needs no more instances than rows.
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
    rows: Array, columns: Array, values: Array, capacity: Integers, height: int
) -> tuple[Integers, Integers]:
    """Assign pairs that may match by the greatest total similarity, each connected group by itself.

    Pair i has candidate n-gram ``rows[i]``, out of `height`, pool n-gram ``columns[i]`` and similarity ``values[i]``;
    `capacity`, (pool n-grams,), is in millionths of an instance.

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
    row_of, column_of = np.zeros(height, np.int32), np.zeros(len(capacity), np.int32)  # Numbers within a group
    for pairs in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        ours, theirs = np.unique(rows[pairs]), np.unique(columns[pairs])
        row_of[ours], column_of[theirs] = np.arange(len(ours)), np.arange(len(theirs))
        size = f"a group of {len(ours):,} candidate and {len(theirs):,} reference n-grams"
        OPTIMAL.check(len(ours) * len(theirs), size)
        weights = np.zeros((1, len(ours), len(theirs)), np.int32)
        weights[0, row_of[rows[pairs]], column_of[columns[pairs]]] = values[pairs]
        chosen, value[ours] = (first[0] for first in _assign_optimally(weights, capacity[None, theirs]))
        partner[ours] = np.where(chosen >= 0, theirs[chosen], -1)
    return partner, value
