"""Measure words by vectors: common components to remove, the pairs that may match, and quantiles of similarities.

Neighbours are searched among the first `SCOPE` words of the set (in most sets the most frequent words), never in the
corpus, so that a similarity does not depend on the other texts scored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from softbleu.config.declare import Declared, setting
from softbleu.embeddings.function_words import is_function_word
from softbleu.embeddings.vectors import (
    PAIRS,
    QUANTILES,
    SEED,
    MeasuredWords,
    VectorCase,
    VectorSource,
    pair_products,
    percentiles_of,
    spellings_of,
    unit_rows,
)
from softbleu.errors import InputError, Parameter, VectorError
from softbleu.io.platform import cached_property

if TYPE_CHECKING:
    from softbleu.types import Flags, Floats, Integers


_PARTS = re.compile(r"none|(mean)|pc:(?P<only>[1-9]\d?)|(mean),pc:(?P<also>[1-9]\d?)", re.ASCII)
FunctionWords = Literal["soft", "exact"]
SCOPE = 50_000  # Words of a set that are used for neighbours, common components and quantiles
_BLOCK = 1 << 11
_NOTHING = 1e-6
_PERCENTILE = re.compile(r"p(\d{1,3}(?:\.\d+)?)", re.ASCII)
_DRAWN: dict[tuple[str, WordMeasure], NDArray[np.float64]] = {}
"""Similarities of the last draws, 8 MB each; all quantiles of a set use the same draw."""
MOST_DRAWN = 4


@dataclass(frozen=True, eq=False)
class CommonParts:
    """All-but-the-top (Mu and Viswanath 2018): subtract a mean, project out the leading components."""

    mean: Floats  # (dimension,)
    components: Floats  # Orthonormal: (components, dimension)

    def remove_from(self, rows: Floats) -> Floats:
        """Remove the mean and the components from rows, without normalising them."""
        centred = rows - self.mean
        centred -= (centred @ self.components.T) @ self.components
        return centred


@dataclass(frozen=True)
class Postprocess:
    """Components to remove from vectors, written as `none`, `mean`, `pc:2` (two components), or `mean,pc:2`.

    >>> Postprocess.parse("mean,pc:2")
    Postprocess(subtract_mean=True, components=2)
    >>> str(Postprocess.parse("pc:1")), str(Postprocess())
    ('pc:1', 'none')
    """

    subtract_mean: bool = False
    components: int = 0

    @classmethod
    def parse(cls, text: str) -> Postprocess:
        """Parse the text form."""
        match = _PARTS.fullmatch(text)
        if match is None:
            raise InputError(
                f"vectors-postprocess must be 'none', 'mean', 'pc:N' or 'mean,pc:N' with N from 1 to 99, not {text!r}"
            )
        return cls(text.startswith("mean"), int(match["only"] or match["also"] or 0))

    def __str__(self) -> str:
        parts = ["mean"] * self.subtract_mean + [f"pc:{self.components}"] * (self.components > 0)
        return ",".join(parts) or "none"

    def estimate(self, rows: Floats) -> CommonParts:
        """Estimate the mean, or 0, and the leading principal components of unit rows."""
        if self.components >= rows.shape[1]:
            raise InputError(f"vectors-postprocess {self}: these vectors have only {rows.shape[1]} dimensions")
        mean = rows.mean(axis=0) if self.subtract_mean and len(rows) else np.zeros(rows.shape[1])
        centred = rows - mean
        _, directions = np.linalg.eigh(centred.T @ centred)
        return CommonParts(mean, directions[:, ::-1][:, : self.components].T)


@dataclass(frozen=True)
class WordMeasure(Declared):
    """Settings of the similarity of two words by their vectors.

    See `Postprocess` for the components to remove; tokens without a letter count as function words.
    """

    vectors_postprocess: str = setting(
        "none",
        "Remove common components from the vectors: mean, pc:N (N components) or mean,pc:N",
        metavar="LIST",
        earlier=("postprocess",),
    )
    neighbours: int | None = setting(
        None,
        "Let words match only if one is among the K nearest neighbours of the other",
        least=1,
        most=50_000,
        metavar="K",
        unset="any",
    )
    function_words: FunctionWords = setting(
        "soft", "English function words match similar words (soft), or only themselves (exact)"
    )

    def check(self) -> None:
        """Normalise the spelling of components to remove, for signatures."""
        if self.vectors_postprocess != "none":
            object.__setattr__(self, "vectors_postprocess", str(Postprocess.parse(self.vectors_postprocess)))

    @property
    def removes(self) -> bool:
        """Whether components are removed from the vectors."""
        return self.vectors_postprocess != "none"

    def self_only(self, words: Sequence[str]) -> Flags | None:
        """Return a mask of the words that match only themselves, or None if function words match others."""
        return np.array([is_function_word(word) for word in words], bool) if self.function_words == "exact" else None


@dataclass(frozen=True)
class Scope:
    """The first words of a set, without common components; neighbours are searched here."""

    source: VectorSource
    measure: WordMeasure

    @cached_property
    def _head(self) -> tuple[list[str], NDArray[np.float32]]:
        return self.source.head(SCOPE)

    @cached_property
    def places(self) -> dict[str, int]:
        """Position of each word."""
        return {word: place for place, word in enumerate(self._head[0])}

    @cached_property
    def common(self) -> CommonParts | None:
        """Common components to remove, if any."""
        if not self.measure.removes:
            return None
        rows = self._head[1]
        return Postprocess.parse(self.measure.vectors_postprocess).estimate(unit_rows(rows[rows.any(axis=1)]))

    @cached_property
    def rows(self) -> NDArray[np.float32]:
        """Unit rows without common components."""
        return self.treated(self._head[1])

    def treated(self, rows: NDArray[np.floating]) -> NDArray[np.float32]:
        """Remove common components from rows, and scale them to length 1; zero rows stay zero."""
        treated = np.empty(rows.shape, np.float32)
        for start in range(0, len(rows), _BLOCK):
            part = rows[start : start + _BLOCK]
            directions = unit_rows(part)
            if self.common is not None:
                directions = self.common.remove_from(directions)
                # The rest of a vector that consisted of common components is rounding error.
                directions[(np.abs(directions).max(axis=1) < _NOTHING) | ~part.any(axis=1)] = 0
                directions = unit_rows(directions)
            treated[start : start + _BLOCK] = directions
        return treated

    def nearest(self, words: Sequence[str], rows: NDArray[np.float32], count: int) -> tuple[Integers, Integers]:
        """Find the nearest neighbours of each word: pairs of its number and a position, the nearest first."""
        from softbleu.embeddings.neighbours import NeighbourIndex, cached_graph

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


def measure_words(
    source: VectorSource, words: Sequence[str], case: VectorCase, measure: WordMeasure
) -> MeasuredWords:
    """Return the vectors of words and the other data of their similarity."""
    selected = source.select(words, case)
    self_only = measure.self_only(words)
    if not measure.removes and measure.neighbours is None:
        return MeasuredWords(selected, selected.rows, self_only=self_only)
    scope = Scope(source, measure)
    rows = scope.treated(selected.rows)
    allowed_pairs = None
    if measure.neighbours is not None:
        spellings = spellings_of(source, words, case, scope.places, selected)
        allowed_pairs = _allowed_pairs(scope, spellings, rows, measure.neighbours)
    return MeasuredWords(selected, rows, allowed_pairs, self_only)


def _allowed_pairs(scope: Scope, words: Sequence[str], rows: NDArray[np.float32], count: int) -> Integers:
    """Return numbers of the pairs of words that may match; words found under one spelling always may."""
    owners, places = scope.nearest(words, rows, count)
    # Numbers of spellings: positions in the scope, or negative numbers outside it
    beyond: dict[str, int] = {}
    spellings = np.array([scope.places.get(word, -1 - beyond.setdefault(word, len(beyond))) for word in words], int)
    pairs, near = _equal_pairs(places, spellings)
    one, other = _equal_pairs(spellings, spellings)
    one, other = np.concatenate([one, owners[pairs], near]), np.concatenate([other, near, owners[pairs]])
    return np.unique(one * len(words) + other)


def _equal_pairs(left: Integers, right: Integers) -> tuple[Integers, Integers]:
    """Return the positions of all pairs of equal values in `left` and `right`.

    >>> [places.tolist() for places in _equal_pairs(np.array([7, 5]), np.array([5, 7, 5]))]
    [[0, 1, 1], [1, 0, 2]]
    """
    order = np.argsort(right, kind="stable")
    first, end = (np.searchsorted(right[order], left, side) for side in ("left", "right"))
    one = np.repeat(np.arange(len(left)), end - first)
    rank = np.arange(len(one)) - np.searchsorted(one, one)
    return one, order[first[one] + rank]


def parse_percentile(text: str) -> float:
    """Parse a quantile of random pairs, such as `p99.9`.

    >>> parse_percentile("p99.9")
    99.9
    """
    match = _PERCENTILE.fullmatch(text)
    percentile = float(match[1]) if match else math.inf
    if percentile > 100:
        raise InputError(f"threshold must be a number from 0 to 1, or a quantile such as p99.9, not {text!r}")
    return percentile


def similarity_quantile(source: VectorSource, percentile: float, measure: WordMeasure | None = None) -> float:
    """Compute a percentile of the similarities of random pairs of words, to 6 decimals.

    `PAIRS` pairs of different words are drawn among the first `SCOPE` with a fixed seed. Stores contain the usual
    percentiles of their cosines.

    >>> from softbleu.embeddings import open_vectors
    >>> similarity_quantile(open_vectors("glove-6b-100d"), 50.0)
    -0.0...
    """
    measure = measure or WordMeasure()
    known = None if measure.removes else kept_quantiles(source).get(f"p{percentile:g}")
    if known is None:
        known = round(float(np.percentile(random_similarities(source, measure), percentile)), 6)
    return known


def measure_quantiles(source: VectorSource) -> dict[str, object]:
    """Compute the quantiles of the cosine for `meta.json` of a store, with the parameters of the draw."""
    cosine = percentiles_of(random_similarities(source, WordMeasure()))
    return {QUANTILES: {"pairs": PAIRS, "seed": SEED, "scope": SCOPE, "cosine": cosine}}


def kept_quantiles(source: VectorSource) -> dict[str, float]:
    """Return the quantiles in a store, if they were computed with the current parameters."""
    stored = getattr(source, "meta", {}).get(QUANTILES)
    if not isinstance(stored, dict):
        return {}
    if (stored.get("pairs"), stored.get("seed"), stored.get("scope")) != (PAIRS, SEED, SCOPE):
        return {}
    cosine = stored.get("cosine")
    return dict(cosine) if isinstance(cosine, dict) else {}


def random_similarities(source: VectorSource, measure: WordMeasure) -> Floats:
    """Compute similarities of `PAIRS` random pairs of different words among the first `SCOPE`, with a fixed seed."""
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
        message = f"{source.name}: too few words with a vector for random pairs; give a number as "
        raise VectorError(message, Parameter("threshold"))
    generator = np.random.default_rng(SEED)
    rows = rows[known]
    one = generator.integers(len(rows), size=PAIRS)
    # All words except the same
    other = (one + generator.integers(1, len(rows), size=PAIRS)) % len(rows)
    similarities = pair_products(rows, one, rows, other)
    similarities.setflags(write=False)
    return similarities
