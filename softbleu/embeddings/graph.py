"""The neighbour graph: for each of some words, those near it; kept in the cache, for it takes a while."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softbleu.cache import read_cached, write_cached
from softbleu.embeddings.index import IndexKind, NeighbourIndex, build_index
from softbleu.errors import InputError

GRAPH_FORMAT = 1
"""To be raised whenever the same key would give another graph."""


@dataclass(frozen=True, eq=False)
class NeighbourGraph:
    """Neighbours of each query, as compressed rows: the nearest first, ties by place.

    >>> graph = range_graph([[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [3.0, 3.0]], 0.5)
    >>> len(graph), graph.owners.tolist(), graph.targets.tolist()
    (2, [0, 0, 1], [0, 1, 1])
    >>> graph.above(0.9).bounds.tolist()
    [0, 1, 1]
    """

    bounds: NDArray[np.int64]
    """Shape (queries + 1,), int64: the neighbours of query q lie from ``bounds[q]`` to ``bounds[q + 1]``."""
    targets: NDArray[np.int64]
    """Shape (pairs,), int64: places of the neighbours in the scope."""
    similarities: NDArray[np.float32]
    """Shape (pairs,), float32: their cosines with the query."""

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def owners(self) -> NDArray[np.int64]:
        """Shape (pairs,): the query of each neighbour."""
        return np.repeat(np.arange(len(self)), np.diff(self.bounds))

    def neighbours(self, query: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Places and similarities of the neighbours of one query."""
        part = slice(int(self.bounds[query]), int(self.bounds[query + 1]))
        return self.targets[part], self.similarities[part]

    def above(self, threshold: float) -> NeighbourGraph:
        """Keep the neighbours whose similarity is greater: one search serves any number of thresholds."""
        return self._keep(self.similarities > np.float32(threshold))

    def without(self, places: ArrayLike) -> NeighbourGraph:
        """Drop from the neighbours of each query one place, its own; -1 drops none."""
        return self._keep(self.targets != np.asarray(places, dtype=np.int64)[self.owners])

    def first(self, count: int) -> NeighbourGraph:
        """Keep the nearest `count` neighbours of each query."""
        return self._keep(np.arange(len(self.targets)) - self.bounds[self.owners] < count)

    def _keep(self, kept: NDArray[np.bool_]) -> NeighbourGraph:
        counts = np.bincount(self.owners[kept], minlength=len(self))
        return NeighbourGraph(_bounds(counts), self.targets[kept], self.similarities[kept])


def range_graph(
    queries: ArrayLike, scope: ArrayLike | NeighbourIndex, threshold: float, exclude: ArrayLike | None = None
) -> NeighbourGraph:
    """Find all rows of the scope whose cosine with a query is greater than the threshold.

    The scope has shape (words, dimension), or is an exact index over such rows; all-zero rows have no neighbours.
    `exclude` has the place of each query itself in the scope, which is left out, or -1.
    """
    graph = NeighbourGraph(*_indexed(scope, "exact").above(queries, threshold))
    return graph if exclude is None else graph.without(exclude)


def nearest_graph(
    queries: ArrayLike,
    scope: ArrayLike | NeighbourIndex,
    count: int,
    exclude: ArrayLike | None = None,
    kind: IndexKind = "exact",
) -> NeighbourGraph:
    """Find the `count` rows of the scope nearest to each query, itself left out; all there are if fewer.

    See `range_graph`; an index may be of any kind, and `kind` says how to search a scope that is none yet.

    >>> rows = [[1.0, 0.0], [3.0, 3.0], [0.0, 1.0]]
    >>> nearest_graph(rows, rows, 1, exclude=[0, 1, 2]).targets.tolist()
    [1, 0, 1]
    """
    if count < 1:
        raise InputError(f"the number of neighbours must be at least 1, not {count}")
    # One more, in case the query itself is among them.
    index = _indexed(scope, kind)
    ids, similarities = index.search(queries, min(count, len(index)) + (exclude is not None))
    found = ids >= 0
    graph = NeighbourGraph(_bounds(found.sum(axis=1)), ids[found], similarities[found])
    return graph if exclude is None else graph.without(exclude).first(count)


@dataclass(frozen=True)
class GraphKey:
    """All that a graph depends on."""

    fingerprint: str
    """Content hash of the vectors."""
    words: Sequence[str]
    """The words asked about, in order."""
    scope: int
    """How many words of the set, from its first, are looked through."""
    rule: Mapping[str, float]
    """Which neighbours are kept, such as ``{"threshold": 0.8}`` or ``{"count": 10}``."""
    case: str = "fallback"
    """How words are looked up."""
    processing: str = ""
    """What was done to the vectors before they were compared."""
    kind: IndexKind = "exact"
    """How they were searched."""

    def digest(self) -> str:
        """Hex SHA-256 over all fields and the number of the format.

        >>> one, other = (GraphKey("0" * 64, ["cat"], 10, {"threshold": x}) for x in (0.5, 0.6))
        >>> len(one.digest()), one.digest() == other.digest()
        (64, False)
        """
        fields = asdict(self) | {"words": list(self.words), "rule": sorted(self.rule.items()), "format": GRAPH_FORMAT}
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode("ascii")).hexdigest()


def cached_graph(key: GraphKey, compute: Callable[[], NeighbourGraph]) -> NeighbourGraph:
    """Take a graph from the cache, or compute and keep it; see `cache.cache_folder` for the place.

    A damaged file is computed again; where nothing can be written, nothing is kept.
    """
    name = f"graphs/{key.digest()}"
    graph = _read_graph(read_cached(name), len(key.words), key.scope)
    if graph is None:
        graph = compute()
        write_cached(name, {"bounds": graph.bounds, "targets": graph.targets, "similarities": graph.similarities})
    return graph


def _read_graph(arrays: Mapping[str, NDArray[Any]] | None, queries: int, scope: int) -> NeighbourGraph | None:
    """Check that these arrays are such a graph."""
    if arrays is None or arrays.keys() != {"bounds", "targets", "similarities"}:
        return None
    bounds, targets, similarities = arrays["bounds"], arrays["targets"], arrays["similarities"]
    shapes = (bounds.shape, targets.shape) == ((queries + 1,), similarities.shape) and targets.ndim == 1
    kinds = [array.dtype.name for array in (bounds, targets, similarities)]
    types = kinds == ["int64", "int64", "float32"]
    if not (shapes and types) or bounds[0] != 0 or bounds[-1] != len(targets) or (np.diff(bounds) < 0).any():
        return None
    if targets.size and not 0 <= targets.min() <= targets.max() < scope:
        return None
    return NeighbourGraph(bounds, targets, similarities)


def _indexed(scope: ArrayLike | NeighbourIndex, kind: IndexKind) -> NeighbourIndex:
    return scope if isinstance(scope, NeighbourIndex) else build_index(scope, kind)


def _bounds(counts: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)])
