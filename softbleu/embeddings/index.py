"""Which vectors are near a vector: FAISS indexes over unit vectors, whose inner products are cosines; graphs."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softbleu.errors import InputError, UnknownNameError, VectorError
from softbleu.io.cache import kept_arrays
from softbleu.io.files import drafts_of, hash_files
from softbleu.io.limits import Limit

if TYPE_CHECKING:
    from softbleu.embeddings.vectors import VectorCase
    from softbleu.types import Integers

    Singles: TypeAlias = NDArray[np.float32]
    QueryPairs: TypeAlias = tuple[Integers, Integers]
    """Number of the query and slot of the vector, for each pair."""

IndexKind = Literal["exact", "hnsw"]
INDEX_KINDS: tuple[IndexKind, ...] = get_args(IndexKind)

_LINKS, _BUILD_BREADTH, _SEARCH_BREADTH = 16, 100, 128
"""Of ``hnsw``: links of each vector, and candidates looked at while it is built and searched."""
_LIMIT = Limit(
    "neighbour graphs",
    "pairs found",
    50_000_000,
    "20,000 words with 50 neighbours each: 1,000,000",
    "raise the threshold, or ask about fewer words",
)
_QUERIES_AT_ONCE = 1024
_WIDE_QUERIES_AT_ONCE = 256
_RESULTS_AT_ONCE = 1 << 24
_ROWS_AT_ONCE = 16_384
_PAIRS_AT_ONCE = 4096
_SEAL = b"softbleu"
_SPARE = 8  # Candidates beyond those asked for: all of them are compared again in double precision
GRAPH_FORMAT = 2  # To be raised whenever the same words would give another graph


@dataclass(frozen=True, eq=False)
class NeighbourIndex:
    """Vectors made ready for search; `build_index` makes one, `load_index` reads one."""

    kind: IndexKind  # How it searches: ``exact``, or ``hnsw`` (a graph of neighbours), which may miss some
    faiss_index: Any  # A FAISS ``IndexIDMap`` over unit vectors, whose metric is the inner product
    places: Integers  # Shape (indexed,): which row each indexed vector was, ascending; all-zero rows are not indexed
    units: Singles  # Shape (indexed, dimension): the unit vectors, to compare candidates again

    def __len__(self) -> int:
        return len(self.places)

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return int(self.faiss_index.d)

    def search(self, queries: ArrayLike, count: int) -> tuple[Integers, Singles]:
        """Find the `count` nearest rows of each query, by cosine, the nearest first and ties by row.

        Both results have shape (queries, count): rows as numbered when the index was built, -1 where there are no
        more, and their cosines, -inf there. An all-zero query has no neighbours. Raises `InputError`: a count below
        1; `VectorError`: queries of another dimension, or not finite.

        >>> index = build_index([[3.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
        >>> ids, similarities = index.search([[2.0, 0.0]], 3)
        >>> print(ids, similarities.round(4))
        [[ 0  2 -1]] [[1.     0.7071   -inf]]
        """
        if count < 1:
            raise InputError(f"the number of neighbours must be at least 1, not {count}")
        units, known = self._units_of(queries)
        ids = np.full((len(units), count), -1, dtype=np.int64)
        similarities = np.full((len(units), count), -np.inf, dtype=np.float32)
        fetch = min(count + _SPARE, len(self))
        for part in _parts(known, min(_QUERIES_AT_ONCE, _RESULTS_AT_ONCE // max(fetch, 1))):
            owners, slots, values = self._ranked(units[part], self._nearest(units[part], count, fetch))
            ranks = np.arange(len(owners)) - np.searchsorted(owners, owners)
            kept = ranks < count
            cells = part[owners[kept]], ranks[kept]
            ids[cells], similarities[cells] = self.places[slots[kept]], values[kept]
        return ids, similarities

    def above(self, queries: ArrayLike, threshold: float) -> tuple[Integers, Integers, Singles]:
        """Find all rows whose cosine with a query is greater than the threshold.

        The neighbours of query q lie from ``bounds[q]`` to ``bounds[q + 1]`` of the rows and cosines, the nearest
        first and ties by row. The index must be exact: others cannot tell that they have found all. Raises
        `InputError`: the index is not exact, or the threshold is NaN; `VectorError`: as `search`.

        >>> index = build_index([[3.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> bounds, ids, similarities = index.above([[2.0, 0.0], [1.0, 1.0]], 0.5)
        >>> bounds.tolist(), ids.tolist()
        ([0, 2, 5], [0, 2, 2, 0, 1])
        """
        if self.kind != "exact":
            raise InputError(f"all neighbours above a threshold need an exact index, not {self.kind}")
        if np.isnan(threshold):
            raise InputError("the threshold is no number: give one from -1 to 1")
        units, known = self._units_of(queries)
        counts = np.zeros(len(units), dtype=np.int64)
        found: list[tuple[Integers, Singles]] = []
        for part in _parts(known, max(1, min(_WIDE_QUERIES_AT_ONCE, _RESULTS_AT_ONCE // max(len(self), 1)))):
            pairs = self._within(units[part], threshold - self._slack)
            _LIMIT.check(int(counts.sum()) + len(pairs[0]), f"a search for {len(units):,} words")
            owners, slots, values = self._ranked(units[part], pairs)
            kept = values > np.float32(threshold)
            counts[part] = np.bincount(owners[kept], minlength=len(part))
            found.append((self.places[slots[kept]], values[kept]))
        bounds = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
        ids = np.concatenate([np.empty(0, dtype=np.int64), *(ids for ids, _ in found)])
        similarities = np.concatenate([np.empty(0, dtype=np.float32), *(values for _, values in found)])
        return bounds, ids, similarities

    @property
    def _slack(self) -> float:
        """How far two single-precision inner products of unit vectors may err, taken together."""
        return (self.dimension + 8) * float(np.finfo(np.float32).eps)

    def _units_of(self, queries: ArrayLike) -> tuple[Singles, Integers]:
        rows = as_rows(queries, "queries")
        if rows.shape[1] != self.dimension:
            raise VectorError(f"queries of dimension {rows.shape[1]}, but the index has {self.dimension}")
        units, norms = units_and_norms(rows)
        return units, np.flatnonzero(norms) if len(self) else np.empty(0, dtype=np.int64)

    def _nearest(self, units: Singles, count: int, fetch: int) -> QueryPairs:
        """Find pairs among which are the nearest: with certainty if exact."""
        with matrix_products() as faiss:
            core, effort = core_of(self.faiss_index), None
            if self.kind == "hnsw":
                effort = faiss.SearchParametersHNSW(efSearch=max(core.hnsw.efSearch, 2 * fetch))
            values, slots = core.search(units, fetch, params=effort)
        owners = np.repeat(np.arange(len(units)), fetch)
        close = np.zeros(len(units), dtype=np.bool_)
        if self.kind == "exact" and fetch < len(self):
            # As near as the last one wanted, but for rounding: there may be more of them than were fetched.
            close = values[:, -1] >= values[:, count - 1] - self._slack
        kept = (slots.ravel() >= 0) & ~close[owners]
        pairs = [(owners[kept], slots.ravel()[kept])]
        for query in np.flatnonzero(close):
            _, more = self._within(units[query : query + 1], float(values[query, count - 1]) - self._slack)
            pairs.append((np.full(len(more), query), more))
        return np.concatenate([owner for owner, _ in pairs]), np.concatenate([slot for _, slot in pairs])

    def _within(self, units: Singles, radius: float) -> QueryPairs:
        with matrix_products():
            limits, _, slots = core_of(self.faiss_index).range_search(units, radius)
        return np.repeat(np.arange(len(units)), np.diff(limits.astype(np.int64))), slots

    def _ranked(self, units: Singles, pairs: QueryPairs) -> tuple[Integers, Integers, Singles]:
        """Compare the pairs again, in double precision, and put them in order."""
        owners, slots = pairs
        values = np.empty(len(owners), dtype=np.float32)
        for start in range(0, len(owners), _PAIRS_AT_ONCE):
            part = slice(start, start + _PAIRS_AT_ONCE)
            values[part] = np.einsum(
                "ij,ij->i", units[owners[part]].astype(np.float64), self.units[slots[part]].astype(np.float64)
            )
        order = np.lexsort((slots, -values, owners))
        return owners[order], slots[order], values[order]


def build_index(rows: ArrayLike, kind: IndexKind = "exact") -> NeighbourIndex:
    """Build an index over vectors, which stay as they are: it has its own copy, of unit length.

    All-zero rows are nobody's neighbours. ``hnsw`` makes a graph (Malkov and Yashunin 2018), the same every time.
    Raises `UnknownNameError`: no such kind; `VectorError`: rows that are no such array, or not finite.

    >>> index = build_index([[3.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    >>> len(index), index.dimension, index.places.tolist()
    (2, 2, [0, 2])
    """
    if kind not in INDEX_KINDS:
        raise UnknownNameError("index", kind, INDEX_KINDS)
    units, norms = units_and_norms(as_rows(rows, "rows"))
    places = np.flatnonzero(norms)
    if len(places) < len(units):
        units = units[places]
    faiss = import_faiss()
    core = faiss.IndexFlat(units.shape[1], faiss.METRIC_INNER_PRODUCT)
    if kind == "hnsw":
        core = faiss.IndexHNSWFlat(units.shape[1], _LINKS, faiss.METRIC_INNER_PRODUCT)
        core.hnsw.efConstruction, core.hnsw.efSearch = _BUILD_BREADTH, _SEARCH_BREADTH
    index = faiss.IndexIDMap(core)
    # Linked by one thread: with several, the links of hnsw depend on which comes first.
    former = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1 if kind == "hnsw" else former)
    try:
        index.add_with_ids(units, places)
    finally:
        faiss.omp_set_num_threads(former)
    return NeighbourIndex(kind, index, places, _stored_units(index, units.shape[1]))


def save_index(index: NeighbourIndex, store: str | os.PathLike[str], fingerprint: str) -> Path:
    """Write an index beside the store whose vectors it holds, complete or not at all.

    It is over all rows of the store, in their order. The store's content hash is part of the file's name, so that an
    index of other vectors is never taken. The file is what FAISS writes, and a SHA-256 of that. Raises `VectorError`:
    the file cannot be written.
    """
    path = index_path(store, index.kind, fingerprint)
    try:
        with drafts_of([path]) as (draft,):
            import_faiss().write_index(index.faiss_index, str(draft))
            seal = bytes.fromhex(hash_files(draft)) + _SEAL
            with draft.open("ab") as stream:
                stream.write(seal)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no permission or no space"
        raise VectorError(f"{path}: the index cannot be written ({reason})") from error
    return path


def load_index(
    store: str | os.PathLike[str], kind: IndexKind, fingerprint: str, rows: ArrayLike | None = None
) -> NeighbourIndex | None:
    """Read the index of that kind that lies beside a store, memory-mapped where FAISS can; None without one.

    The store's rows are given to see that the index is of so many, and as long. Raises `VectorError`: the file is
    damaged or does not belong to these rows.
    """
    path = index_path(store, kind, fingerprint)
    if not path.is_file():
        return None
    faiss = import_faiss()
    remedy = "build it again with 'softbleu embeddings index'"
    try:
        if not _is_sealed(path):
            raise VectorError(f"{path}: damaged; {remedy}")
        index = faiss.read_index(str(path), getattr(faiss, "IO_FLAG_MMAP_IFC", 0))
        core = core_of(index)
    except (OSError, RuntimeError, MemoryError, AttributeError) as error:
        raise VectorError(f"{path}: cannot be read; {remedy}") from error
    places = faiss.vector_to_array(index.id_map)
    given = None if rows is None else as_rows(rows, "rows")
    fits = given is None or (given.shape[1] == index.d and len(given) > places.max(initial=-1))
    if not isinstance(core, faiss.IndexFlat if kind == "exact" else faiss.IndexHNSWFlat) or not fits:
        raise VectorError(f"{path}: an index of other vectors, or of another kind; {remedy}")
    return NeighbourIndex(kind, index, places, _stored_units(index, int(index.d)))


def index_path(store: str | os.PathLike[str], kind: IndexKind, fingerprint: str) -> Path:
    """Name the file beside a store that holds its index of a kind.

    >>> index_path("my-vectors", "hnsw", "0123456789abcdef").name
    'neighbours-hnsw-0123456789ab.faiss'
    """
    return Path(store, f"neighbours-{kind}-{fingerprint[:12]}.faiss")


def _is_sealed(path: Path) -> bool:
    """Whether a file ends in the SHA-256 of what stands before: FAISS may crash on what is damaged."""
    digest = hashlib.sha256()
    left = path.stat().st_size - 32 - len(_SEAL)
    with path.open("rb") as stream:
        while left > 0 and (block := stream.read(min(left, 1 << 20))):
            digest.update(block)
            left -= len(block)
        return stream.read() == digest.digest() + _SEAL


def units_and_norms(rows: NDArray[Any]) -> tuple[Singles, NDArray[np.float64]]:
    """Copy rows to unit length, all-zero rows as they are; and their lengths.

    >>> units_and_norms(np.array([[3.0, 4.0], [0.0, 0.0]]))[1].tolist()
    [5.0, 0.0]
    """
    units = np.empty(rows.shape, dtype=np.float32)
    norms = np.empty(len(rows), dtype=np.float64)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        norms[part] = np.sqrt(np.einsum("ij,ij->i", rows[part], rows[part], dtype=np.float64))
        if not (finite := np.isfinite(norms[part])).all():
            raise VectorError(f"row {start + int(np.argmin(finite))}: NaN or infinite; mend or drop that vector")
        scale = np.where(norms[part] > 0, norms[part], 1.0)[:, None]
        np.divide(rows[part], scale, out=units[part], casting="same_kind")
    return units, norms


def as_rows(rows: ArrayLike, what: str) -> NDArray[Any]:
    """See that these are rows of numbers; the message calls them `what`."""
    array = np.asarray(rows)
    if array.ndim != 2 or array.shape[1] == 0 or not np.issubdtype(array.dtype, np.number):
        raise VectorError(f"{what} must be numbers of shape (words, dimension), not {array.dtype} of {array.shape}")
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)


def _parts(places: Integers, size: int) -> list[Integers]:
    """Cut into even parts, for a small last one would take FAISS a slower way."""
    return np.array_split(places, -(-len(places) // max(size, 1))) if len(places) else []


@cache
def import_faiss() -> Any:
    """Import FAISS, whose bindings warn on some versions of Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import faiss
    return faiss


def _stored_units(index: Any, dimension: int) -> Singles:
    """View the vectors that an index stores, without a copy."""
    faiss = import_faiss()
    core = core_of(index)
    store = faiss.downcast_index(core.storage) if hasattr(core, "storage") else core
    if not store.ntotal:
        return np.zeros((0, dimension), np.float32)
    units: Singles = faiss.rev_swig_ptr(store.get_xb(), store.ntotal * store.d)
    return units.reshape(store.ntotal, store.d)


def core_of(index: Any) -> Any:
    """Look below the layer that knows which row each vector was."""
    return import_faiss().downcast_index(index.index)


@contextmanager
def matrix_products() -> Iterator[Any]:
    """Have FAISS compare by matrix products from 20 queries on: newer versions go vector by vector up to 400."""
    faiss = import_faiss()
    former = faiss.cvar.distance_compute_blas_threshold
    faiss.cvar.distance_compute_blas_threshold = 20
    try:
        yield faiss
    finally:
        faiss.cvar.distance_compute_blas_threshold = former


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
    targets: NDArray[np.int64]  # Shape (pairs,), int64: places of the neighbours in the scope
    similarities: NDArray[np.float32]  # Shape (pairs,), float32: their cosines with the query

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
    graph = NeighbourGraph(*_indexed(scope).above(queries, threshold))
    return graph if exclude is None else graph.without(exclude)


def nearest_graph(
    queries: ArrayLike, scope: ArrayLike | NeighbourIndex, count: int, exclude: ArrayLike | None = None
) -> NeighbourGraph:
    """Find the `count` rows of the scope nearest to each query, itself left out; all there are if fewer.

    See `range_graph`; an index may be of any kind.

    >>> rows = [[1.0, 0.0], [3.0, 3.0], [0.0, 1.0]]
    >>> nearest_graph(rows, rows, 1, exclude=[0, 1, 2]).targets.tolist()
    [1, 0, 1]
    """
    if count < 1:
        raise InputError(f"the number of neighbours must be at least 1, not {count}")
    # One more, in case the query itself is among them.
    index = _indexed(scope)
    ids, similarities = index.search(queries, min(count, len(index)) + (exclude is not None))
    found = ids >= 0
    graph = NeighbourGraph(_bounds(found.sum(axis=1)), ids[found], similarities[found])
    return graph if exclude is None else graph.without(exclude).first(count)


def cached_graph(
    compute: Callable[[], NeighbourGraph],
    fingerprint: str,
    words: Sequence[str],
    scope: int,
    case: VectorCase = "exact",
    processing: str = "",
    **rule: float,
) -> NeighbourGraph:
    """Take a graph from the cache, or compute and keep it; see `cache.cache_folder` for the place.

    It depends on the content hash of the vectors, on the words asked about, in order, on how many words of the set,
    from its first, are looked through, on how words are looked up, on what was done to the vectors before they were
    compared, and on which neighbours are kept, such as ``threshold=0.8`` or ``count=10``.
    """
    key = [GRAPH_FORMAT, fingerprint, list(words), scope, case, processing, sorted(rule.items())]
    digest = hashlib.sha256(json.dumps(key).encode("ascii")).hexdigest()
    return NeighbourGraph(**kept_arrays(f"graphs/{digest}", lambda: vars(compute())))


def _indexed(scope: ArrayLike | NeighbourIndex) -> NeighbourIndex:
    return scope if isinstance(scope, NeighbourIndex) else build_index(scope)


def _bounds(counts: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)])
