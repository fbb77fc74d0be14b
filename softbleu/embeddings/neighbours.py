"""Nearest neighbours of words, by a flat FAISS index over unit vectors, whose inner products are cosines."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.vectors import VectorCase, VectorSource, pair_products, spellings_of
from softbleu.errors import InputError, optional
from softbleu.io.arguments import Limit
from softbleu.io.files import kept_arrays

if TYPE_CHECKING:
    from softbleu.types import Integers


_LIMIT = Limit(
    "neighbour graphs",
    "pairs found",
    50_000_000,
    "20,000 words with 50 neighbours each: 1,000,000",
    "raise the threshold, or ask about fewer words",
)
_QUERIES_AT_ONCE = 4096  # With fewer than 128,000 numbers in total, FAISS 1.15 is four to five times slower
_RESULTS_AT_ONCE = 1 << 24
_ROWS_AT_ONCE = 16_384
_SPARE = 8  # Extra candidates; all candidates are compared again in double precision
DEFAULT_COUNT = 10
_NAMED = 10
GRAPH_FORMAT = 2  # Raise it whenever the same words give another graph


@dataclass(frozen=True, eq=False)
class NeighbourGraph:
    """Neighbours of each query, as compressed rows: the nearest first, ties by position."""

    bounds: NDArray[np.int64]  # Query q has the pairs ``bounds[q]`` to ``bounds[q + 1]``: (queries + 1,)
    targets: NDArray[np.int64]  # Positions of the neighbours in the scope: (pairs,)
    similarities: NDArray[np.float32]  # Cosines of the neighbours with the query: (pairs,)

    @property
    def owners(self) -> NDArray[np.int64]:
        """Query of each neighbour: (pairs,)."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    def neighbours(self, query: int) -> list[tuple[int, float]]:
        """Return the positions and cosines of the neighbours of one query."""
        part = slice(int(self.bounds[query]), int(self.bounds[query + 1]))
        return list(zip(self.targets[part].tolist(), self.similarities[part].tolist(), strict=True))


class NeighbourIndex:
    """A searchable index over the scope, rows of shape (words, dimension); all-zero rows are never neighbours.

    Queries have shape (queries, dimension); all-zero queries have no neighbours. `itself`, (queries,), holds the
    position of each query in the scope, which is left out of its neighbours, or -1.

    >>> index = NeighbourIndex(np.array([[3.0, 0.0], [0.0, 0.0], [1.0, 1.0]]))
    >>> index.nearest(np.array([[2.0, 0.0]]), 3, np.array([-1])).neighbours(0)
    [(0, 1.0), (2, 0.7071...)]
    >>> index.nearest(np.array([[2.0, 0.0]]), 3, np.array([0])).targets.tolist()
    [2]
    >>> index.above(np.array([[2.0, 0.0], [1.0, 1.0]]), 0.8, np.array([-1, -1])).bounds.tolist()
    [0, 1, 2]
    """

    def __init__(self, rows: NDArray[np.floating]) -> None:
        units, self._places = _units(rows)
        faiss = import_faiss()
        self._core = faiss.IndexFlatIP(units.shape[1])
        self._core.add(units if len(self._places) == len(units) else units[self._places])
        # A view of the vectors stored by FAISS
        stored = (
            faiss.rev_swig_ptr(self._core.get_xb(), self._core.ntotal * self._core.d)
            if len(self._places)
            else units[:0]
        )
        self._units: NDArray[np.float32] = stored.reshape(-1, self._core.d)

    def nearest(self, queries: NDArray[np.floating], count: int, itself: Integers) -> NeighbourGraph:
        """Find the `count` rows with the greatest cosine to each query, or all if fewer exist."""
        # One more, in case the query itself is found.
        wanted = min(count + 1, len(self._places))
        fetch = min(wanted + _SPARE, len(self._places))
        return self._graph(queries, itself, lambda units: self._first(units, wanted, fetch), fetch, count=count)

    def above(self, queries: NDArray[np.floating], threshold: float, itself: Integers) -> NeighbourGraph:
        """Find all rows whose cosine with a query is greater than the threshold."""
        if np.isnan(threshold):
            raise InputError("the threshold is not a number: give one from -1 to 1")
        radius, results = threshold - self._slack, len(self._places)
        return self._graph(queries, itself, lambda units: self._within(units, radius), results, threshold=threshold)

    def _graph(
        self,
        queries: NDArray[np.floating],
        itself: Integers,
        find: Callable[[NDArray[np.float32]], tuple[Integers, Integers]],
        results: int,
        *,
        count: int | None = None,
        threshold: float = -np.inf,
    ) -> NeighbourGraph:
        """Find pairs, at most `results` per query, and keep the requested ones."""
        units, known = _units(queries)
        known = known if len(self._places) else known[:0]
        counts = np.zeros(len(units), np.int64)
        graphs = [(np.empty(0, np.int64), np.empty(0, np.float32))]
        at_once = max(1, min(_QUERIES_AT_ONCE, _RESULTS_AT_ONCE // max(results, 1)))
        # Even parts, since FAISS is slower with few queries.
        for part in np.array_split(known, -(-len(known) // at_once)) if len(known) else ():
            owners, slots = find(units[part])
            _LIMIT.check(int(counts.sum()) + len(slots), f"a search for {len(units):,} words")
            owners, slots, values = self._ranked(units[part], owners, slots)
            keep = (values > np.float32(threshold)) & (self._places[slots] != itself[part[owners]])
            owners, slots, values = owners[keep], slots[keep], values[keep]
            if count is not None:
                keep = np.arange(len(owners)) - np.searchsorted(owners, owners) < count
                owners, slots, values = owners[keep], slots[keep], values[keep]
            counts[part] = np.bincount(owners, minlength=len(part))
            graphs.append((self._places[slots], values))
        targets, similarities = (np.concatenate(arrays) for arrays in zip(*graphs, strict=True))
        return NeighbourGraph(np.concatenate([[0], np.cumsum(counts)]), targets, similarities)

    @property
    def _slack(self) -> float:
        """Greatest error of the difference of two single-precision inner products of unit vectors."""
        return float((self._core.d + 8) * np.finfo(np.float32).eps)

    def _first(self, units: NDArray[np.float32], wanted: int, fetch: int) -> tuple[Integers, Integers]:
        """Find pairs, as queries and slots, that include all of the nearest."""
        values, slots = self._core.search(units, fetch)
        owners = np.repeat(np.arange(len(units)), fetch)
        if fetch == len(self._places):
            return owners, slots.ravel()
        # Up to rounding, as near as the last one wanted: more of these may exist than were fetched.
        close = values[:, -1] >= values[:, wanted - 1] - self._slack
        pairs = [(owners[~close[owners]], slots.ravel()[~close[owners]])]
        for query in np.flatnonzero(close):
            _, more = self._within(units[query : query + 1], float(values[query, wanted - 1]) - self._slack)
            pairs.append((np.full(len(more), query), more))
        owners, candidates = (np.concatenate(arrays) for arrays in zip(*pairs, strict=True))
        return owners, candidates

    def _within(self, units: NDArray[np.float32], radius: float) -> tuple[Integers, Integers]:
        limits, _, slots = self._core.range_search(units, radius)
        return np.repeat(np.arange(len(units)), np.diff(limits.astype(np.int64))), slots

    def _ranked(
        self, units: NDArray[np.float32], owners: Integers, slots: Integers
    ) -> tuple[Integers, Integers, NDArray[np.float32]]:
        """Recompute the similarities of pairs in double precision, and sort the pairs."""
        values = pair_products(units, owners, self._units, slots).astype(np.float32)
        order = np.lexsort((slots, -values, owners))
        return owners[order], slots[order], values[order]


def _units(rows: NDArray[np.floating]) -> tuple[NDArray[np.float32], Integers]:
    """Scale a copy of the rows to length 1; also return the positions of rows that are not 0."""
    units, norms = np.empty(rows.shape, np.float32), np.empty(len(rows))
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        norms[part] = np.sqrt(np.einsum("ij,ij->i", rows[part], rows[part], dtype=np.float64))
        np.divide(rows[part], np.where(norms[part] > 0, norms[part], 1.0)[:, None], units[part], casting="same_kind")
    return units, np.flatnonzero(norms)


@cache
def import_faiss() -> Any:
    """Import FAISS, whose bindings warn on some versions of Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with optional("neighbours", "A search for neighbours"):
            import faiss
    return faiss


def cached_graph(
    compute: Callable[[], NeighbourGraph],
    fingerprint: str,
    words: Sequence[str],
    scope: int,
    processing: str = "",
    *,
    count: int,
) -> NeighbourGraph:
    """Load a graph of nearest words from the cache, or compute and cache it; see `files.cache_folder`.

    The key consists of the hash of the vectors, the query words in order, the number of words in the scope, the
    processing of the vectors, and the number of neighbours.
    """
    key = [GRAPH_FORMAT, fingerprint, list(words), scope, "exact", processing, [("count", count)]]
    digest = hashlib.sha256(json.dumps(key).encode("ascii")).hexdigest()
    return NeighbourGraph(**kept_arrays(f"graphs/{digest}", lambda: vars(compute())))


def nearest_words(
    source: VectorSource,
    words: Sequence[str],
    count: int | None = None,
    *,
    threshold: float | None = None,
    limit: int | None = None,
    case: VectorCase = "fallback",
) -> list[tuple[str, int, str, float]]:
    """Find the nearest neighbours of each word, by the cosine of vectors.

    Parameters
    ----------
    source
        Set of vectors.
    words
        Words to look up.
    count
        Neighbours per word; by default 10, or all above the threshold if one is given.
    threshold
        Cosine that neighbours must exceed.
    limit
        Number of words, from the first and most frequent, that are searched.
    case
        Lookup of words; see `VectorSource.select`.

    Returns
    -------
    list
        Word, rank from 1, neighbour, cosine.

    Raises
    ------
    InputError, VectorError
        Words without a vector, which are named; a count or limit below 1; damaged vectors.

    Examples
    --------
    >>> from softbleu.embeddings import open_vectors
    >>> source = open_vectors({"cat": [1.0, 0.1], "kitten": [0.9, 0.2], "tax": [0.0, 1.0]})
    >>> [(word, round(similarity, 3)) for _, _, word, similarity in nearest_words(source, ["Cat"])]
    [('kitten', 0.993), ('tax', 0.1)]
    """
    for name, value in (("count", count), ("limit", limit)):
        if value is not None and value < 1:
            raise InputError(f"the {name} must be at least 1, not {value}")
    scope, rows = source.head(limit)
    places = {word: place for place, word in enumerate(scope)}
    selected = source.select(words, case)
    if unknown := [word for word, known in zip(words, selected.known, strict=True) if not known]:
        more = f" and {len(unknown) - _NAMED:,} more" if len(unknown) > _NAMED else ""
        message = ", ".join(map(repr, unknown[:_NAMED])) + more
        raise InputError(f"no vector in {source.name} for {message}: leave out or respell")
    itself = np.array([places.get(word, -1) for word in spellings_of(source, words, case, places, selected)], int)
    index = NeighbourIndex(rows)
    if threshold is None:
        graph = index.nearest(selected.rows, count or DEFAULT_COUNT, itself)
    else:
        graph = index.above(selected.rows, threshold, itself)
    return [
        (word, rank, scope[place], similarity)
        for query, word in enumerate(words)
        for rank, (place, similarity) in enumerate(graph.neighbours(query)[:count], start=1)
    ]
