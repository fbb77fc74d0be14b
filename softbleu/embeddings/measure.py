"""Similarity of words: the cosine, common parts removed or not, among all words or near neighbours only.

Whatever needs a neighbourhood looks for it among the first `SCOPE` words of the set, the most frequent ones in most
sets, and never in the corpus: a similarity does not depend on what else is scored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from softbleu.config.declare import Declared, setting
from softbleu.embeddings.function_words import is_function_word
from softbleu.embeddings.vectors import VectorCase, VectorSource, WordVectors
from softbleu.errors import InputError, Parameter, VectorError
from softbleu.io.platform import cached_property

if TYPE_CHECKING:
    from softbleu.types import Flags, Floats, Integers

_PARTS = re.compile(r"none|(mean)|pc:(?P<only>[1-9]\d?)|(mean),pc:(?P<also>[1-9]\d?)", re.ASCII)
FunctionWords = Literal["soft", "exact"]
SCOPE = 50_000  # Words of a set among which neighbours are looked for and common parts and quantiles are estimated
PAIRS, SEED = 1_000_000, 2014  # Random pairs of words for the quantiles of their similarity
PERCENTILES = (50.0, 75.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.9, 99.95, 99.99)
"""Kept with every store; others are computed when asked for."""
QUANTILES = "similarity_quantiles"
_BLOCK = 1 << 11
_NOTHING = 1e-6
_PERCENTILE = re.compile(r"p(\d{1,3}(?:\.\d+)?)", re.ASCII)
_DRAWN: dict[tuple[str, WordMeasure], NDArray[np.float64]] = {}
"""Similarities of the last draws, 8 MB each: all quantiles of one set of vectors are of one draw."""
MOST_DRAWN = 4


def unit_rows(rows: NDArray[np.floating]) -> Floats:
    """Scale each row to length 1; a zero row stays zero.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    exact = rows.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    exact /= np.where(lengths > 0, lengths, 1.0)
    return exact


@dataclass(frozen=True, eq=False)
class CommonParts:
    """All-but-the-top (Mu and Viswanath 2018): subtract a mean, project out the leading components."""

    mean: Floats  # Shape (dimension,)
    components: Floats  # Shape (components, dimension), orthonormal

    @classmethod
    def estimate(cls, rows: Floats, components: int, *, subtract_mean: bool = True) -> CommonParts:
        """Take mean and leading principal components of these rows; without the mean, or rows, about 0."""
        mean = rows.mean(axis=0) if subtract_mean and len(rows) else np.zeros(rows.shape[1])
        centred = rows - mean
        _, directions = np.linalg.eigh(centred.T @ centred)
        return cls(mean, directions[:, ::-1][:, :components].T)

    def remove_from(self, rows: Floats) -> Floats:
        """Floats without the mean and the components; not normalised."""
        centred = rows - self.mean
        centred -= (centred @ self.components.T) @ self.components
        return centred


@dataclass(frozen=True)
class Postprocess:
    """Parts to remove from vectors, as text: `none`, `mean`, `pc:2` (two components), or `mean,pc:2`.

    >>> Postprocess.parse("mean,pc:2")
    Postprocess(subtract_mean=True, components=2)
    >>> str(Postprocess.parse("pc:1")), str(Postprocess())
    ('pc:1', 'none')
    """

    subtract_mean: bool = False
    components: int = 0

    @classmethod
    def parse(cls, text: str) -> Postprocess:
        """Read the text."""
        match = _PARTS.fullmatch(text)
        if match is None:
            raise InputError(
                f"vectors-postprocess must be 'none', 'mean', 'pc:N' or 'mean,pc:N' with N from 1 to 99, not {text!r}"
            )
        return cls(text.startswith("mean"), int(match["only"] or match["also"] or 0))

    def __str__(self) -> str:
        parts = ["mean"] * self.subtract_mean + [f"pc:{self.components}"] * (self.components > 0)
        return ",".join(parts) or "none"

    def __bool__(self) -> bool:
        return self.subtract_mean or self.components > 0

    def estimate(self, rows: Floats) -> CommonParts:
        """Find in these unit rows what is to be removed."""
        if self.components >= rows.shape[1]:
            raise InputError(f"vectors-postprocess {self}: these vectors have {rows.shape[1]} dimensions only")
        return CommonParts.estimate(rows, self.components, subtract_mean=self.subtract_mean)


@dataclass(frozen=True)
class WordMeasure(Declared):
    """How the similarity of two words follows from their vectors.

    For what is removed from the vectors first see `Postprocess`; tokens without a letter count as function words.
    """

    vectors_postprocess: str = setting(
        "none",
        "Remove common components from the vectors: mean, pc:N (N components) or mean,pc:N",
        metavar="LIST",
        earlier=("postprocess",),
    )
    neighbours: int | None = setting(
        None,
        "Let words match only if one is among the K nearest of the other",
        least=1,
        most=50_000,
        metavar="K",
        unset="any",
    )
    function_words: FunctionWords = setting(
        "soft", "English function words match similar words (soft), or only themselves (exact)"
    )

    def check(self) -> None:
        """Spell what is removed in one way, for signatures."""
        object.__setattr__(self, "vectors_postprocess", str(Postprocess.parse(self.vectors_postprocess)))

    @property
    def removal(self) -> Postprocess:
        """Parts that are removed from the vectors first."""
        return Postprocess.parse(self.vectors_postprocess)

    def self_only(self, words: Sequence[str]) -> Flags | None:
        """Which words match only themselves; None where function words match others."""
        return np.array([is_function_word(word) for word in words], bool) if self.function_words == "exact" else None


@dataclass(frozen=True)
class MeasuredWords:
    """Words and what their similarity follows from."""

    selected: WordVectors  # Their vectors as the set has them
    rows: NDArray[np.float32]
    """Shape (words, dimension): their directions, common parts removed; zero for a word without a vector."""
    allowed_pairs: Integers | None = None
    """Ascending numbers `one * words + other` of the words that may match; None: any may."""
    self_only: Flags | None = None  # Shape (words,): words that meet nothing but themselves


@dataclass(frozen=True)
class Scope:
    """The first words of a set, common parts removed: where neighbours are looked for."""

    source: VectorSource
    measure: WordMeasure

    @cached_property
    def _head(self) -> tuple[list[str], NDArray[np.float32]]:
        return self.source.head(SCOPE)

    @cached_property
    def places(self) -> dict[str, int]:
        """Place of each word."""
        return {word: place for place, word in enumerate(self._head[0])}

    @cached_property
    def common(self) -> CommonParts | None:
        """Common parts to remove; None if none are."""
        if not self.measure.removal:
            return None
        rows = self._head[1]
        return self.measure.removal.estimate(unit_rows(rows[rows.any(axis=1)]))

    @cached_property
    def rows(self) -> NDArray[np.float32]:
        """Unit rows, common parts removed."""
        return self.treated(self._head[1])

    def treated(self, rows: NDArray[np.floating]) -> NDArray[np.float32]:
        """Floats as directions, common parts removed; zero rows stay zero."""
        treated = np.empty(rows.shape, np.float32)
        for start in range(0, len(rows), _BLOCK):
            part = rows[start : start + _BLOCK]
            directions = unit_rows(part)
            if self.common is not None:
                directions = self.common.remove_from(directions)
                # What is left of a vector that was nothing but common parts is rounding.
                directions[(np.abs(directions).max(axis=1) < _NOTHING) | ~part.any(axis=1)] = 0
                directions = unit_rows(directions)
            treated[start : start + _BLOCK] = directions
        return treated

    def nearest(self, words: Sequence[str], rows: NDArray[np.float32], count: int) -> tuple[Integers, Integers]:
        """Find the nearest other words of each word: pairs of its number and a place, the nearest first."""
        from softbleu.embeddings.index import NeighbourIndex, cached_graph

        itself = np.array([self.places.get(word, -1) for word in words], np.int64)
        graph = cached_graph(
            lambda: NeighbourIndex(self.rows).nearest(rows, count, itself),
            self.source.fingerprint,
            words,
            len(self.places),
            processing=self.measure.vectors_postprocess,
            count=count,
        )
        return graph.owners, graph.targets


def pair_products(rows: NDArray[np.floating], one: Integers, others: NDArray[np.floating], other: Integers) -> Floats:
    """Inner products of pairs of rows, given by number, in double precision."""
    products = np.empty(len(one))
    for start in range(0, len(one), _BLOCK):
        part = slice(start, start + _BLOCK)
        left, right = rows[one[part]].astype(np.float64), others[other[part]].astype(np.float64)
        np.einsum("ij,ij->i", left, right, out=products[part])
    return products


def measure_words(
    source: VectorSource, words: Sequence[str], case: VectorCase, measure: WordMeasure
) -> MeasuredWords:
    """Take the vectors of these words and all that their similarity depends on."""
    selected = source.select(words, case)
    self_only = measure.self_only(words)
    if not measure.removal and measure.neighbours is None:
        return MeasuredWords(selected, selected.rows, self_only=self_only)
    scope = Scope(source, measure)
    rows = scope.treated(selected.rows)
    allowed_pairs = None
    if measure.neighbours is not None:
        spellings = spellings_of(source, words, case, scope.places, selected)
        allowed_pairs = _allowed_pairs(scope, spellings, rows, measure.neighbours)
    return MeasuredWords(selected, rows, allowed_pairs, self_only)


def spellings_of(
    source: VectorSource, words: Sequence[str], case: VectorCase, scope: Collection[str], selected: WordVectors
) -> list[str]:
    """Spellings that the words were found under: as written if the set has that, else in lower case."""
    if case == "exact":
        return list(words)
    # A word found as written keeps its row even if that is zero.
    unsure = [
        word
        for word, known in zip(words, selected.known, strict=True)
        if known and word not in scope and word != word.lower()
    ]
    as_written = source.select(unsure, "exact").known if unsure else ()
    lowered = {word for word, known in zip(unsure, as_written, strict=True) if not known}
    return [word.lower() if word in lowered else word for word in words]


def _allowed_pairs(scope: Scope, words: Sequence[str], rows: NDArray[np.float32], count: int) -> Integers:
    """Number the pairs of words that may match; words found under one spelling always may."""
    owners, places = scope.nearest(words, rows, count)
    # Numbers of spellings: places in the scope, and negative ones beyond it.
    beyond: dict[str, int] = {}
    spellings = np.array([scope.places.get(word, -1 - beyond.setdefault(word, len(beyond))) for word in words], int)
    pairs, near = _equal_pairs(places, spellings)
    one, other = _equal_pairs(spellings, spellings)
    one, other = np.concatenate([one, owners[pairs], near]), np.concatenate([other, near, owners[pairs]])
    return np.unique(one * len(words) + other)


def _equal_pairs(left: Integers, right: Integers) -> tuple[Integers, Integers]:
    """Places of equal values, in `left` and in `right`, all with all.

    >>> [places.tolist() for places in _equal_pairs(np.array([7, 5]), np.array([5, 7, 5]))]
    [[0, 1, 1], [1, 0, 2]]
    """
    order = np.argsort(right, kind="stable")
    first, end = (np.searchsorted(right[order], left, side) for side in ("left", "right"))
    one = np.repeat(np.arange(len(left)), end - first)
    rank = np.arange(len(one)) - np.searchsorted(one, one)
    return one, order[first[one] + rank]


def parse_percentile(text: str) -> float:
    """Read a quantile of random pairs, such as `p99.9`.

    >>> parse_percentile("p99.9")
    99.9
    """
    match = _PERCENTILE.fullmatch(text)
    percentile = float(match[1]) if match else math.inf
    if percentile > 100:
        raise InputError(f"threshold must be a number from 0 to 1, or a quantile such as p99.9, not {text!r}")
    return percentile


def similarity_quantile(source: VectorSource, percentile: float, measure: WordMeasure | None = None) -> float:
    """Similarity that so many percent of random pairs of words do not exceed, to 6 decimals.

    Drawn are `PAIRS` pairs of different words among the first `SCOPE`, with a fixed seed. A store knows the usual
    ones of its plain cosines.

    >>> from softbleu.embeddings import open_vectors
    >>> similarity_quantile(open_vectors("glove-6b-100d"), 50.0)
    -0.0...
    """
    measure = measure or WordMeasure()
    if not measure.removal:
        stored = getattr(source, "quantiles", {})
        if _key(percentile) in stored:
            return float(stored[_key(percentile)])
    similarities = random_similarities(source, measure)
    return round(float(np.percentile(similarities, percentile)), 6)


def measure_quantiles(source: VectorSource) -> dict[str, Any]:
    """Quantiles of the plain cosine as they are kept with a store, and how they were found."""
    cosine = percentiles_of(random_similarities(source, WordMeasure()))
    return {"pairs": PAIRS, "seed": SEED, "scope": SCOPE, "cosine": cosine}


def percentiles_of(similarities: Floats) -> dict[str, float]:
    """Find the quantiles of similarities that are kept."""
    values = np.percentile(similarities, PERCENTILES)
    return {_key(p): round(float(value), 6) for p, value in zip(PERCENTILES, values, strict=True)}


def kept_quantiles(meta: dict[str, Any]) -> dict[str, float]:
    """Quantiles that a store knows, if they were found as they would be now."""
    stored = meta.get(QUANTILES)
    if not isinstance(stored, dict):
        return {}
    if (stored.get("pairs"), stored.get("seed"), stored.get("scope")) != (PAIRS, SEED, SCOPE):
        return {}
    cosine = stored.get("cosine")
    return dict(cosine) if isinstance(cosine, dict) else {}


def _key(percentile: float) -> str:
    return f"p{percentile:g}"


def random_similarities(source: VectorSource, measure: WordMeasure) -> Floats:
    """Similarities of `PAIRS` random pairs of different words among the first `SCOPE`, the same ones every time."""
    key = source.fingerprint, measure
    if key not in _DRAWN:
        if len(_DRAWN) >= MOST_DRAWN:
            del _DRAWN[next(iter(_DRAWN))]
        _DRAWN[key] = _draw_similarities(source, measure)
    return _DRAWN[key]


def _draw_similarities(source: VectorSource, measure: WordMeasure) -> NDArray[np.float64]:
    scope = Scope(source, measure)
    rows = scope.rows
    known = np.flatnonzero(rows.any(axis=1))
    if len(known) < 2:
        said = f"{source.name}: too few words with a vector for random pairs; give a number as "
        raise VectorError(said, Parameter("threshold"))
    generator = np.random.default_rng(SEED)
    rows = rows[known]
    one = generator.integers(len(rows), size=PAIRS)
    # Any word but the same.
    other = (one + generator.integers(1, len(rows), size=PAIRS)) % len(rows)
    similarities = pair_products(rows, one, rows, other)
    similarities.setflags(write=False)
    return similarities
