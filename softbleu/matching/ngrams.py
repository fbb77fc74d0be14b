"""N-grams of a chunk of segments: positions, equality, the pool of reference n-grams, and similarities.

Similarities of a candidate and its references are computed from one token-by-token matrix, in batches of segments.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from softbleu.errors import InputError
from softbleu.io.platform import cached_property
from softbleu.kernels import SCALE, ZERO_NORM, Kernels, WordArrays
from softbleu.kernels.numpy_backend import Positions, first_places, ngram_ids, reference_counts, spelling_similarity
from softbleu.text.coded import TokenPairs, Tokens, WordParts, chosen_places, lines_before

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.corpora.edits import CodedGold, EditedSegment
    from softbleu.encoders.torch_rows import DeviceRows
    from softbleu.types import Array, Flags, Floats, Integers


_CELLS = 1 << 23  # Pairs of pieces that are compared together: few enough for the memory
_PRODUCTS = 1 << 12  # Token pairs of a segment above which it pays to multiply distinct words once
_TOKENS_AT_ONCE = 1 << 10  # Tokens whose vectors are processed together: few enough for the cache
_NO_PIECES = "vectors of words have no pieces in context: name an encoder, e.g. vectors='minilm-l6'"
SIF = 1e-3  # The a of a / (a + p), from Arora et al. (2017)
_DENSE = 1 << 20  # Entries of a table of lines and n-grams above which it is sparse


@dataclass(frozen=True)
class Ngrams:
    """The n-grams of one order in a chunk, of candidates and pool; equal ids are equal n-grams of a segment."""

    starts: Integers  # Candidate positions at which an n-gram starts, ascending
    ids: Integers  # Id of the n-gram at each of `starts`
    occurrence: Integers  # Number of equal n-grams to the left of each of `starts` in the candidate
    systems: Integers  # System of the candidate at each of `starts`
    pool_starts: Integers  # Positions of the pool n-grams: their first appearance in the segment
    pool_ids: Integers  # Id of each pool n-gram
    counts: Integers  # Greatest count in one reference, by id (Papineni's clipping)
    exact: Flags  # Which of `starts` have an exact match in the pool; leftmost occurrences come first
    capacity: Integers  # Number of instances of each pool n-gram
    ranks: Integers | None = None
    """Number of equal pool n-grams before each, if every instance has its own entry; None if equal ones share one."""

    def left(self, systems: int) -> Integers:
        """Subtract the exact matches of each system from the counts of the pool: (systems, pool n-grams)."""
        # First pool n-gram of each id
        numbers = np.empty(len(self.counts), np.int64)
        numbers[self.pool_ids[::-1]] = np.arange(len(self.pool_ids))[::-1]
        taken = self.systems[self.exact] * len(self.pool_ids) + numbers[self.ids[self.exact]]
        used = np.bincount(taken, minlength=systems * len(self.pool_ids)).reshape(systems, -1)
        if self.ranks is None:
            return self.capacity - used
        return (self.ranks >= used[:, numbers[self.pool_ids]]).astype(np.int64)


@dataclass(frozen=True)
class Chunk:
    """Consecutive segments as coded tokens.

    The references of segment s are the lines ``segment_offsets[s]`` to ``segment_offsets[s + 1]`` of
    `references`. Positions count the tokens of all candidates first, then those of all references.
    """

    candidates: Tokens  # One line per segment, system by system
    references: Tokens
    segment_offsets: Integers
    source: Tokens | None = None  # One line per segment
    gold: Sequence[CodedGold] | None = None  # Gold edits of each segment, in the codes of the tokens
    edits: Sequence[EditedSegment] | None = None  # Edits of each segment, if a metric needs them
    whole: tuple[Tokens, Tokens, Integers] | None = None
    """Whole candidates and references of a chunk of prefixes, and their number for each of its references."""

    def __len__(self) -> int:
        return len(self.segment_offsets) - 1

    @property
    def systems(self) -> int:
        """Number of candidates per segment."""
        return (len(self.candidates.offsets) - 1) // max(len(self), 1)

    @classmethod
    def together(cls, chunks: Sequence[Chunk]) -> Chunk:
        """Join the chunks of several systems with the same references, so that these are prepared once."""
        if len(chunks) == 1:
            return chunks[0]
        first = chunks[0]
        return cls(Tokens.joined([chunk.candidates for chunk in chunks]), first.references, first.segment_offsets)

    def pieces(self, size: int) -> Iterator[Chunk]:
        """Split into chunks of `size` segments."""
        for start in range(0, len(self), size):
            yield self.part(start, min(start + size, len(self)))

    def part(self, start: int, end: int) -> Chunk:
        """Return the segments from `start` up to `end`."""
        bounds = self.segment_offsets[start : end + 1]
        return Chunk(
            self.candidates.lines(start, end),
            self.references.lines(int(bounds[0]), int(bounds[-1])),
            bounds - bounds[0],
            self.source and self.source.lines(start, end),
            self.gold and self.gold[start:end],
            self.edits and self.edits[start:end],
        )

    def by_reference(self) -> Chunk:
        """Return a chunk with a segment for each candidate and reference."""
        owner = np.repeat(np.arange(len(self)), self.reference_numbers)
        return Chunk(
            self.candidates.chosen(owner),
            self.references,
            np.arange(len(owner) + 1),
            self.source and self.source.chosen(owner),
        )

    @property
    def reference_numbers(self) -> Integers:
        """Number of references of each segment."""
        return self.segment_offsets[1:] - self.segment_offsets[:-1]

    def in_order(self) -> tuple[Chunk, Integers]:
        """Sort the references of each segment by their words; return the original position of each position, too.

        Sorting makes ties between n-grams independent of the order of references. Words are compared by their codes,
        which are in alphabetical order if words have vectors.
        """
        split = len(self.candidates.codes)
        places, bounds = np.arange(split + len(self.references.codes)), pairwise(self.segment_offsets.tolist())
        several = [(start, end) for start, end in bounds if end - start > 1]
        if not several:
            return self, places
        lines, codes = np.arange(len(self.references.lengths)), self.references.codes.astype(">i4").tobytes()
        words = [codes[4 * start : 4 * end] for start, end in pairwise(self.references.offsets.tolist())]
        before = lines_before(self.references)
        texts = getattr(self.references, "texts", None)
        written = [""] * len(lines) if texts is None else texts.tolist()
        for start, end in several:
            lines[start:end] = sorted(range(start, end), key=lambda line: (words[line], before[line], written[line]))
        places[split:] = split + chosen_places(self.references.offsets, lines)[0]
        return replace(self, references=self.references.chosen(lines)), places

    @cached_property
    def positions(self) -> Positions:
        """Segment, line and reference of each token."""
        return Positions.of(
            self.candidates.codes,
            self.candidates.lengths,
            self.references.codes,
            self.references.lengths,
            self.reference_numbers,
        )

    @cached_property
    def reference_positions(self) -> Integers:
        """Bounds of each segment's references among the positions, (segments + 1,)."""
        return len(self.candidates.codes) + self.references.offsets[self.segment_offsets]

    @property
    def sizes(self) -> dict[str, Integers]:
        """Number of words of each candidate, and of its references and source, by role."""
        texts = {"reference": np.diff(self.reference_positions)}
        if self.source is not None:
            texts["source"] = self.source.lengths
        return {"candidate": self.candidates.lengths, **{k: np.tile(v, self.systems) for k, v in texts.items()}}

    def ngrams(self, order: int, *, instances: bool = False) -> Iterator[Ngrams]:
        """Yield the n-grams of orders 1…order; with `instances`, each pool n-gram has its own entry."""
        size = len(self.positions.codes)
        for starts, ids in ngram_ids(self.positions, order):
            cut = int(np.searchsorted(starts, self.positions.split))
            pool_starts, pool_ids = starts[cut:], ids[cut:]
            counts = reference_counts(self.positions, pool_starts, pool_ids)
            ranks = None
            if instances:
                chosen, ranks = self._instances(pool_starts, pool_ids, counts)
            else:
                first = np.empty(size, np.int64)
                first[pool_ids[::-1]] = pool_starts[::-1]
                chosen = first[pool_ids] == pool_starts
            systems = self.positions.line[starts[:cut]] // max(len(self), 1)
            occurrence = occurrence_numbers(systems * size + ids[:cut], self.systems * size)
            yield Ngrams(
                starts=starts[:cut],
                ids=ids[:cut],
                occurrence=occurrence,
                systems=systems,
                pool_starts=pool_starts[chosen],
                pool_ids=pool_ids[chosen],
                counts=counts,
                exact=occurrence < counts[ids[:cut]],
                capacity=counts[pool_ids[chosen]] if ranks is None else np.ones(len(ranks), np.int64),
                ranks=ranks,
            )

    def first_of_equals(self, order: int) -> Integers:
        """Find, for each order and position, the first position with the same n-gram in its references.

        The shape is (order + 1, positions); positions without an n-gram of a reference are kept.
        """
        first = np.tile(np.arange(len(self.positions.codes)), (order + 1, 1))
        for n, (starts, ids) in enumerate(ngram_ids(self.positions, order), start=1):
            cut = int(np.searchsorted(starts, self.positions.split))
            places = np.empty(first.shape[1], np.int64)
            places[ids[cut:][::-1]] = starts[cut:][::-1]
            first[n, starts[cut:]] = places[ids[cut:]]
        return first

    def _instances(self, starts: Integers, ids: Integers, counts: Integers) -> tuple[Flags, Integers]:
        """Select the n-grams of the reference that has the most of their kind; return a mask and their ranks."""
        lines = self.positions.line[starts]
        keys = ids * (int(lines.max(initial=0)) + 1) + lines
        _, place, inverse, count = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        most = place[count == counts[ids[place]]]
        line_of = np.empty(len(counts), np.int64)
        line_of[ids[most][::-1]] = lines[most][::-1]
        chosen = lines == line_of[ids]
        ranks = occurrence_numbers(inverse.astype(np.int64), len(count))
        return chosen, ranks[chosen]

    def sums(self, starts: Integers, values: Integers) -> Integers:
        """Sum values of candidate n-grams, which begin at the positions `starts`: one number per candidate."""
        lines = self.positions.line[starts]
        return np.bincount(lines, values, len(self.candidates.lengths)).astype(np.int64)

    def closest_reference_lengths(self) -> Integers:
        """Length of each segment's closest reference; ties go to the shorter (as sacrebleu)."""
        lengths = self.references.lengths
        owner = np.repeat(np.arange(len(self)), self.reference_numbers)
        distance = np.abs(lengths - self.candidates.lengths[owner])
        return lengths[np.lexsort((lengths, distance, owner))[self.segment_offsets[:-1]]]


def shared_counts(candidates: Tokens, references: Tokens, order: int) -> Iterator[Integers]:
    """Count the n-grams that two lines share, clipped, for all pairs: (candidates, references), n = 1…order.

    >>> tokens = Tokens(np.array([1, 1, 2, 1, 2, 2], np.int32), np.array([0, 3, 6]))
    >>> [counts.tolist() for counts in shared_counts(tokens, tokens, 2)]
    [[[3, 2], [2, 3]], [[2, 1], [1, 2]]]
    """
    same = references is candidates
    others = Tokens(references.codes[:0], references.offsets[:1]) if same else references
    sides = (candidates.codes, candidates.lengths, others.codes, others.lengths)
    positions = Positions.of(*sides, np.array([len(others.lengths)]))
    size, split, lines = len(positions.codes), len(candidates.lengths), len(candidates.lengths) + len(others.lengths)
    for starts, ids in ngram_ids(positions, order):
        # One column for the k-th of equal n-grams of a line, so that it pairs with the k-th of the other.
        line = positions.line[starts]
        rank = occurrence_numbers(ids * lines + line, size * lines)
        _, column = np.unique(rank * size + ids, return_inverse=True)
        shape = lines, int(column.max(initial=-1)) + 1
        if lines * shape[1] <= _DENSE:
            table = np.zeros(shape, np.float32)
            table[line, column] = 1
            yield (table[:split] @ table[0 if same else split :].T).astype(np.int64)
        else:
            from scipy.sparse import csr_array

            sparse = csr_array((np.ones(len(ids), np.int64), (line, column)), shape)
            yield (sparse[:split] @ sparse[0 if same else split :].T).toarray()


def check_order(order: int) -> int:
    """Return the n-gram order, or raise InputError unless it is from 1 to 16."""
    if not isinstance(order, int) or not 1 <= order <= 16:
        raise InputError(f"n-gram order must be between 1 and 16, not {order!r}")
    return order


def occurrence_numbers(ids: Integers, bound: int) -> Integers:
    """Number equal ids, all below `bound`, 0, 1, 2, … from left to right.

    >>> occurrence_numbers(np.array([7, 3, 7, 7, 3]), 8).tolist()
    [0, 0, 1, 2, 1]
    """
    numbers = np.zeros(len(ids), np.int64)
    places = np.arange(len(ids))
    # Few n-grams recur, so sort only these.
    again = np.flatnonzero(first_places(ids, places, bound) != places)
    if not len(again):
        return numbers
    ranked = again[np.argsort(ids[again], kind="stable")]
    new = np.diff(ids[ranked], prepend=-1) != 0
    order = np.arange(1, len(ranked) + 1)
    numbers[ranked] = order - np.maximum.accumulate(np.where(new, order - 1, 0))
    return numbers


def ngram_totals(lengths: Integers, order: int) -> Integers:
    """Count the n-grams of lines by their lengths, n = 1…order: max(0, length - n + 1).

    >>> ngram_totals(np.array([5, 2, 0]), 3).tolist()
    [[5, 4, 3], [2, 1, 0], [0, 0, 0]]
    """
    totals: Integers = np.maximum(lengths[:, None] - np.arange(order), 0)
    return totals


class Vectors(ABC):
    """Vectors of tokens: by word, or in context; only the latter have pieces."""

    in_context: ClassVar[bool] = False
    equal_is_one: bool  # Whether equal words have similarity 1, whatever their vectors

    @abstractmethod
    def known(self, tokens: Tokens) -> Flags:
        """Return a mask of the tokens that have a vector."""

    @abstractmethod
    def unit(self, chunk: Chunk, *, by_frequency: bool) -> tuple[UnitVectors, Integers]:
        """Return unit vectors of a chunk's tokens, weighted if `by_frequency`, and the row of each position."""

    def pieces(self, tokens: Tokens) -> PieceVectors:
        """Return unit vectors of the pieces of lines."""
        return self.pieces_of(())

    def weigh(self, pieces: PieceVectors) -> PieceVectors:
        """Give pieces the weights that a map of the vectors has learned; without one they stay as they are."""
        return pieces

    def pieces_of(self, lines: Sequence[Sequence[str]]) -> PieceVectors:
        """Return unit vectors of the pieces of any lines, given as words."""
        raise InputError(_NO_PIECES)

    def means_of(self, lines: Sequence[Sequence[str]]) -> Floats:
        """Return the mean hidden state of the pieces of each line, given as words: (lines, dimension)."""
        raise InputError(_NO_PIECES)


@dataclass(frozen=True)
class TokenVectors(Vectors):
    """Static vectors of coded words, as in their file."""

    rows: NDArray[np.float32]  # (words, dimension); a zero row for a word without a vector
    norms: Floats  # Euclidean norm of each row; 0 for a word without a vector
    weights: Floats | None = None  # Weight of each word in an n-gram; None: equal weights
    allowed_pairs: Integers | None = None  # Ascending `one * words + other` of pairs that may match; None: any
    self_only: Flags | None = None  # Words that match only themselves, whatever their vectors
    frequencies: Floats | None = None  # Share of each word among the references' tokens, if needed
    equal_is_one = True

    def known(self, tokens: Tokens) -> Flags:
        """Return a mask of the tokens that have a vector."""
        return self.norms[tokens.codes] > 0

    def weighted(self) -> TokenVectors:
        """Weight words by a / (a + p), where p is a word's relative frequency."""
        weights = frequency_weights(self.frequencies)
        return replace(self, weights=weights if self.weights is None else weights * self.weights)

    @property
    def arrays(self) -> WordArrays:
        """Arrays for kernels, which do not support `allowed_pairs`."""
        return WordArrays(self.rows, self.norms, self.weights, self.self_only)

    def unit(self, chunk: Chunk, *, by_frequency: bool) -> tuple[UnitVectors, Integers]:
        """Return unit vectors of the distinct words of a chunk, and the row of each position."""
        distinct, places = np.unique(chunk.positions.codes, return_inverse=True)
        rows, norms = self.rows[distinct].astype(np.float64), self.norms[distinct]
        rows *= np.divide(1, norms, out=np.zeros(len(norms)), where=norms > 0)[:, None]
        weights = self.weighted().weights if by_frequency else self.weights
        weights = None if weights is None else weights[distinct]
        self_only = None if self.self_only is None else self.self_only[distinct]
        return UnitVectors(rows, distinct, weights, self_only, self.allowed_pairs, len(self.norms)), places


@dataclass(frozen=True)
class ComparedWords(Vectors):
    """Coded words compared without vectors: by stems, spellings, or a list of similar words."""

    words: int  # Number of words
    parts: Integers | None = None  # Parts of all words, concatenated; None: spellings are not compared
    bounds: Integers | None = None  # Word w has ``parts[bounds[w]:bounds[w + 1]]``
    stems: Integers | None = None  # Number of each word's stem; None: stems are not compared
    listed: Integers | None = None  # Ascending `one * words + other` of listed pairs, in both directions
    similarities: Floats | None = None  # Similarity of each listed pair
    frequencies: Floats | None = None  # Share of each word among the references' tokens, if needed
    equal_is_one = True

    def known(self, tokens: Tokens) -> Flags:
        """Return a mask that is true for all tokens."""
        return np.ones(len(tokens.codes), bool)

    def unit(self, chunk: Chunk, *, by_frequency: bool) -> tuple[UnitVectors, Integers]:
        """Return the distinct words of a chunk, and the row of each position."""
        distinct, places = np.unique(chunk.positions.codes, return_inverse=True)
        weights = frequency_weights(self.frequencies)[distinct] if by_frequency else None
        return ComparedTokens(np.zeros((len(distinct), 0)), distinct, weights, source=self), places

    def table(self, left: Array, right: Array) -> Floats:
        """Compute the similarities of all pairs of different words: (left, right)."""
        similarities = np.zeros((len(left), len(right)))
        if self.parts is not None and self.bounds is not None:
            similarities = spelling_similarity(left, right, WordParts(self.parts, self.bounds))
        self._raise_to_known(similarities, left[:, None], right[None, :])
        return similarities

    def of_pairs(
        self, pairs: TokenPairs, left: NDArray[np.int32], right: NDArray[np.int32], kernels: Kernels
    ) -> Floats:
        """Compute the similarities of pairs of words: one number for each of `pairs`, in their order.

        `left` and `right` are the codes of all tokens of candidates and of references; `kernels` compare spellings.
        """
        one, other = (codes[places] for codes, places in zip((left, right), pairs.tokens, strict=True))
        similarities = np.zeros(len(one))
        if self.parts is not None and self.bounds is not None:
            kernels.raise_to_spellings(similarities, pairs, left, right, WordParts(self.parts, self.bounds), 1.0)
        self._raise_to_known(similarities, one, other)
        np.copyto(similarities, 1.0, where=one == other)
        return similarities

    def _raise_to_known(self, values: Floats, one: Array, other: Array) -> None:
        if self.stems is not None:
            np.copyto(values, 1.0, where=self.stems[one] == self.stems[other])
        if self.listed is not None and self.similarities is not None and len(self.listed):
            pairs = one.astype(np.int64) * self.words + other
            places = np.minimum(np.searchsorted(self.listed, pairs), len(self.listed) - 1)
            np.maximum(values, np.where(self.listed[places] == pairs, self.similarities[places], 0), out=values)


def frequency_weights(frequencies: Floats | None) -> Floats:
    """Compute weights a / (a + p), where p is a word's share of all tokens."""
    if frequencies is None:
        raise InputError("this composition weights words by their frequencies, which these vectors lack")
    return SIF / (SIF + frequencies)


@dataclass(frozen=True)
class PieceVectors:
    """Unit vectors of the pieces of lines, in context."""

    rows: Floats | DeviceRows  # (pieces, dimension)
    ids: Integers  # (pieces,) numbers in the encoder's vocabulary
    words: Integers  # (pieces,) number of the word in its line, from 0; -1 for special pieces at the ends
    offsets: Integers  # Line i has the pieces ``offsets[i]`` to ``offsets[i + 1]``
    weights: Floats | None = None  # (pieces,); None: equal ones

    @cached_property
    def inner(self) -> Flags:
        """Mask of the pieces that belong to the text."""
        return self.words >= 0

    def greatest(self, other: PieceVectors, lines: Integers, others: Integers) -> Iterable[tuple[Floats, Floats]]:
        """Find the greatest product of each piece of a line with any piece of another one's, and the other way round.

        Line ``lines[i]`` is compared with line ``others[i]`` of `other`. Without any piece there products are 0.
        """
        if isinstance(self.rows, np.ndarray) or isinstance(other.rows, np.ndarray):
            bounds = zip(lines.tolist(), others.tolist(), strict=True)
            return (_greatest(self.rows[self.line(one)], other.rows[other.line(two)]) for one, two in bounds)
        sides = ((part.offsets[some], np.diff(part.offsets)[some]) for part, some in ((self, lines), (other, others)))
        return self.rows.greatest(other.rows, *sides)

    def line(self, number: int) -> slice:
        """Return the places of the pieces of a line."""
        return slice(*self.offsets[[number, number + 1]].tolist())


def _greatest(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Find the greatest product of each row of either with any of the other; some rows at a time."""
    if not (len(one) and len(other)):
        return np.zeros(len(one)), np.zeros(len(other))
    step = max(1, _CELLS // len(other))
    rows, columns = np.empty(len(one)), np.full(len(other), -np.inf)
    for start in range(0, len(one), step):
        products = one[start : start + step] @ other.T
        products.max(axis=1, out=rows[start : start + step])
        np.maximum(columns, products.max(axis=0), out=columns)
    return rows, columns


@dataclass(frozen=True)
class WordTable:
    """Vectors and other features of the words of a prepared corpus."""

    vectors: Vectors
    features: Mapping[str, Array] = field(default_factory=dict)
    """Features by name: `rarity` of each word among segments; parts of words (`softbleu.text.parts.WORD_PARTS`), such
    as `spelling`, as numbers word by word, and their bounds, `spelling_bounds` (words + 1)."""

    def feature(self, name: str) -> Any:
        """Return a feature, which the metric must have requested (`Requirements`)."""
        if name not in self.features:
            raise InputError(f"the metric needs the {name.partition('_')[0]} of words, which this table lacks")
        return self.features[name]

    def parts(self, name: str) -> WordParts:
        """Return the parts of words; see `feature`."""
        return WordParts(self.feature(name), self.feature(f"{name}_bounds"))


@dataclass(frozen=True)
class UnitVectors:
    """Unit vectors of tokens, one per row; zero for tokens without a vector."""

    rows: Floats
    words: NDArray[np.int32]  # Word of each row
    weights: Floats | None = None
    self_only: Flags | None = None  # Rows of words that match only themselves; None: no word does
    allowed_pairs: Integers | None = None  # Ascending `one * vocabulary + other` of pairs that may match; None: any
    vocabulary: int = 0  # Number of words
    equal_is_one: bool = True  # Whether equal words have product 1, whatever their vectors

    def products(self, left: Integers, right: Integers) -> tuple[Floats, Floats]:
        """Multiply all pairs of tokens of two texts; return weighted and plain products.

        `left` and `right` are rows, (batch, tokens); both results have shape (batch, left tokens, right tokens).
        """
        if len(left) == 1 and left.size * right.size > _PRODUCTS:
            # In one long pair, rows recur: multiply each pair of distinct rows once.
            left_rows, left_places = np.unique(left[0], return_inverse=True)
            right_rows, right_places = np.unique(right[0], return_inverse=True)
            products = self._table(left_rows, right_rows)
            self._relate(products, left_rows[:, None], right_rows[None, :])
            plain = products[np.ix_(left_places, right_places)][None]
        else:
            plain = self._tables(left, right)
            self._relate(plain, left[:, :, None], right[:, None, :])
        if self.weights is None:
            return plain, plain
        return plain * self.weights[left][:, :, None] * self.weights[right][:, None, :], plain

    def _relate(self, products: Floats, left: Integers, right: Integers) -> None:
        """Convert cosines of rows to similarities of words in place (rows are broadcast)."""
        one, other = self.words[left], self.words[right]
        if (allowed := self.allowed_pairs) is not None:
            pairs = one.astype(np.int64) * self.vocabulary + other
            places = np.minimum(np.searchsorted(allowed, pairs), max(len(allowed) - 1, 0))
            listed = allowed[places] == pairs if len(allowed) else np.zeros(pairs.shape, bool)
            np.copyto(products, 0.0, where=~listed)
        if self.self_only is not None:
            alone = self.self_only[left] | self.self_only[right]
            np.copyto(products, 0.0, where=alone & (one != other))
        if self.equal_is_one:
            np.copyto(products, 1.0, where=one == other)

    def _table(self, left: Integers, right: Integers) -> Floats:
        """Compute the cosines of all pairs of rows: (left, right)."""
        return self.rows[left] @ self.rows[right].T

    def _tables(self, left: Integers, right: Integers) -> Floats:
        """Compute the cosines of all pairs of rows of each text: (batch, left, right)."""
        return self.rows[left] @ self.rows[right].transpose(0, 2, 1)

    def _neighbours(self, rows: Floats, distance: int, codes: Integers) -> Floats:
        """Compute the cosines of tokens at a distance in a text: (tokens - distance,)."""
        # A stack of dot products is faster than einsum.
        return (rows[: len(codes) - distance, None, :] @ rows[distance:, :, None])[:, 0, 0]

    def of_pairs(self, pairs: TokenPairs, left: Integers, right: Integers) -> Floats:
        """Multiply pairs of tokens, unweighted: one number for each of `pairs`, in their order.

        `left` and `right` are the rows of all tokens of candidates and of references.
        """
        products = self._pairs(pairs, left, right)
        bounds = zip(pairs.rows.tolist(), pairs.columns.tolist(), strict=True)
        for segment, ((row, column), (row_end, column_end)) in enumerate(pairwise(bounds)):
            block = pairs.block(products, segment)
            self._relate(block, left[row:row_end, None], right[None, column:column_end])
        return products

    def _pairs(self, pairs: TokenPairs, left: Integers, right: Integers) -> Floats:
        """Compute the cosines of pairs of rows: one number for each of `pairs`, in their order."""
        ours, others = self.rows[left], self.rows[right]
        products = np.empty(int(pairs.cells[-1]))
        bounds = zip(pairs.rows.tolist(), pairs.columns.tolist(), strict=True)
        for segment, ((row, column), (row_end, column_end)) in enumerate(pairwise(bounds)):
            np.matmul(ours[row:row_end], others[column:column_end].T, out=pairs.block(products, segment))
        return products

    def text_norms(self, codes: Integers, order: int) -> list[Floats]:
        """Compute 1 / norm (or 0) of the summed vectors of the n-gram at each token, n = 1…order.

        `codes`, (tokens,), are rows of vectors. Results have tokens + 1 entries, 0 where no n-gram starts.
        """
        by_order, squares = [np.zeros(len(codes) + 1) for _ in range(order)], np.zeros(0)
        for start in range(0, len(codes), _TOKENS_AT_ONCE):
            some = codes[start : start + _TOKENS_AT_ONCE + order - 1]
            rows = self.rows[some]
            bands: list[Floats] = []  # Weighted products of tokens at distances 0, 1, …
            for n, norms in enumerate(by_order[: len(some)], start=1):
                left, right = some[: len(some) - n + 1], some[n - 1 :]
                band = np.ones(len(left))
                if n > 1:
                    band = self._neighbours(rows, n - 1, some)
                    self._relate(band, left, right)
                bands.append(band if self.weights is None else band * self.weights[left] * self.weights[right])
                # Norm of the n-gram without its last word, plus the products of that word
                squares = bands[0] if n == 1 else squares[:-1] + bands[0][n - 1 :]
                for distance in range(1, n):
                    squares += 2 * bands[distance][n - 1 - distance :]
                inverse = norms[start : start + len(squares)]
                inverse[:] = 0
                np.divide(1, np.sqrt(np.maximum(squares, 0)), out=inverse, where=squares > ZERO_NORM)
        return by_order


@dataclass(frozen=True)
class ComparedTokens(UnitVectors):
    """Rows of words that are compared without vectors."""

    source: ComparedWords = field(kw_only=True)

    def _table(self, left: Integers, right: Integers) -> Floats:
        return self.source.table(self.words[left], self.words[right])

    def _tables(self, left: Integers, right: Integers) -> Floats:
        return np.stack([self._table(*rows) for rows in zip(left, right, strict=True)])

    def _neighbours(self, rows: Floats, distance: int, codes: Integers) -> Floats:
        """Compute the similarities of tokens at a distance, by a table of the distinct words."""
        distinct, places = np.unique(codes, return_inverse=True)
        return self._table(distinct, distinct)[places[: len(codes) - distance], places[distance:]]


@dataclass(frozen=True)
class DeviceTokens(UnitVectors):
    """Rows of tokens on a device."""

    source: DeviceRows = field(kw_only=True)

    def _table(self, left: Integers, right: Integers) -> Floats:
        products: Floats = self.source.tables(left[None], right[None])[0]
        return products

    def _tables(self, left: Integers, right: Integers) -> Floats:
        return self.source.tables(left, right)

    def _neighbours(self, rows: Floats, distance: int, codes: Integers) -> Floats:
        products: Floats = self.source.neighbours(codes[: len(codes) - distance], codes[distance:])
        return products

    def _pairs(self, pairs: TokenPairs, left: Integers, right: Integers) -> Floats:
        return self.source.of_pairs(left, np.diff(pairs.rows), right, np.diff(pairs.columns))


def products_of_pairs(vectors: Vectors, chunk: Chunk, pairs: TokenPairs, kernels: Kernels) -> Floats:
    """Multiply words of each candidate with words of its only reference, unweighted, by kernels where possible.

    Returns one number for each of `pairs`, in their order.
    """
    if isinstance(vectors, ComparedWords):
        return vectors.of_pairs(pairs, chunk.candidates.codes, chunk.references.codes, kernels)
    if kernels.multiply_pairs and isinstance(vectors, TokenVectors) and vectors.allowed_pairs is None:
        return kernels.multiply_pairs(vectors.arrays, pairs, chunk.candidates.codes, chunk.references.codes)
    unit, places = vectors.unit(chunk, by_frequency=False)
    split = len(chunk.candidates.codes)
    return unit.of_pairs(pairs, places[:split], places[split:])


@dataclass(frozen=True)
class TokenProducts:
    """Token products g of a batch of segments (metrics page, section 3) and their box sums.

    g(a, b) is 1 for equal words (for vectors in context, their cosine), the cosine for words with vectors that may
    match, else 0. Padding holds arbitrary values: callers know which n-grams exist.
    """

    cross: Floats  # Weighted products of candidate and reference tokens, (batch, candidate tokens, reference tokens)
    plain: Floats  # The same products without weights
    candidate_norms: Sequence[Floats]  # 1 / norm of the summed vectors of n-grams: (batch, tokens - n + 1) each
    reference_norms: Sequence[Floats]
    _boxes: dict[tuple[int, int], Floats] = field(default_factory=dict, repr=False)

    def boxes(self, candidate_order: int, reference_order: int) -> Floats:
        """Sum the products of all pairs of n-grams: B(x, y), (batch, candidate starts, reference starts)."""
        key = candidate_order, reference_order
        if key not in self._boxes:
            if candidate_order > 1:
                more = self.boxes(1, reference_order)[:, candidate_order - 1 :]
                self._boxes[key] = self.boxes(candidate_order - 1, reference_order)[:, :-1] + more
            elif reference_order > 1:
                more = self.cross[..., reference_order - 1 :]
                self._boxes[key] = self.boxes(1, reference_order - 1)[..., :-1] + more
            else:
                self._boxes[key] = self.cross
        return self._boxes[key]


@dataclass(frozen=True)
class Composition:
    """A formula for the similarity of two n-grams from the products of their tokens.

    Either the cosine of averaged vectors (Morgan 2014), B(x, y) / sqrt(B(x, x) B(y, y)), which ignores word order, or
    the mean of the products position by position, for n-grams of the same order only.
    """

    aligned: bool = False  # Whether words are compared position by position
    by_frequency: bool = False  # Whether rare words get more weight

    def similarities(
        self, products: TokenProducts, candidate_order: int, reference_order: int, rows: Floats, columns: Floats
    ) -> Floats | None:
        """Compute similarities of n-grams of two orders, times the factors of both n-grams.

        `products` are the token products of a batch. `rows` and `columns` are factors of candidate and reference
        n-grams, 0 for n-grams that may not match. The shape is (batch, candidate starts, reference starts); None if
        no n-grams of these orders are similar.
        """
        if not self.aligned:
            rows = products.candidate_norms[candidate_order - 1] * rows
            columns = products.reference_norms[reference_order - 1] * columns
            similarities = products.boxes(candidate_order, reference_order) * rows[:, :, None]
            similarities *= columns[:, None, :]
            return similarities
        if candidate_order != reference_order:
            return None
        order, plain = candidate_order, products.plain
        height, width = plain.shape[1] - order + 1, plain.shape[2] - order + 1
        total = np.zeros((plain.shape[0], height, width))
        for place in range(order):
            total += plain[:, place : place + height, place : place + width]
        total *= rows[:, :, None]
        total *= (columns / order)[:, None, :]
        return total


COMPOSITIONS = {
    "mean": Composition(),
    "aligned": Composition(aligned=True),
    # Smooth inverse frequency (Arora et al. 2017): a mean with little weight for frequent words
    "sif": Composition(by_frequency=True),
}


def round_millionths(similarities: Floats) -> NDArray[np.int32]:
    """Round similarities in millionths to integers, at most 1, so that ties are the same on any machine.

    Overwrites its argument.

    >>> round_millionths(np.array([123456.7, 1000000.0002, -500000])).tolist()
    [123457, 1000000, -500000]
    """
    # Norms near 0 give quotients far above 1 if a mean was subtracted from the vectors.
    np.clip(similarities, -SCALE, SCALE, out=similarities)
    return np.rint(similarities, out=similarities).astype(np.int32)


def threshold_in_millionths(threshold: float | str) -> int:
    """Return the greatest similarity, in millionths, that does not exceed a threshold.

    >>> threshold_in_millionths(0.29), threshold_in_millionths(0.1234567)
    (290000, 123456)
    """
    if isinstance(threshold, str):
        raise InputError(f"the threshold {threshold} is a quantile: find its number first")
    return int(np.floor(threshold * SCALE + 1e-6))
