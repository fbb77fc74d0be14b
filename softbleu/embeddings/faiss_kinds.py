"""The kinds of FAISS index there are, how each is set up, and what FAISS must be told when it is used."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

IndexKind = Literal["exact", "hnsw", "ivfpq"]
INDEX_KINDS: tuple[IndexKind, ...] = get_args(IndexKind)

_SEED = 20_140_917
_LINKS, _BUILD_BREADTH, _SEARCH_BREADTH = 16, 100, 128
_POINTS_A_CENTROID = 39
"""Fewer training points than these a centroid make a poor quantiser, says FAISS."""
_MOST_BITS, _FEWEST_BITS = 8, 4
_VALUES_A_CODE = 5
_FEWEST_CELLS = 16
_ROUNDS = 15
MINIMUM_FOR_IVFPQ = _POINTS_A_CENTROID << _FEWEST_BITS
"""Vectors without which the coarsest quantiser cannot be trained."""


@cache
def import_faiss() -> Any:
    """Import FAISS, whose bindings warn on some versions of Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import faiss
    return faiss


def stored_units(index: Any) -> NDArray[np.float32] | None:
    """View the vectors that an index stores, without a copy; None if it keeps none as they were."""
    faiss = import_faiss()
    core = core_of(index)
    store = faiss.downcast_index(core.storage) if hasattr(core, "storage") else core
    if not isinstance(store, faiss.IndexFlat) or not store.ntotal:
        return None
    units: NDArray[np.float32] = faiss.rev_swig_ptr(store.get_xb(), store.ntotal * store.d)
    return units.reshape(store.ntotal, store.d)


def core_of(index: Any) -> Any:
    """Look below the layer that knows which row each vector was."""
    return import_faiss().downcast_index(index.index)


def _exact(faiss: Any, count: int, dimension: int) -> Any:
    return faiss.IndexFlat(dimension, faiss.METRIC_INNER_PRODUCT)


def _hnsw(faiss: Any, count: int, dimension: int) -> Any:
    core = faiss.IndexHNSWFlat(dimension, _LINKS, faiss.METRIC_INNER_PRODUCT)
    core.hnsw.efConstruction, core.hnsw.efSearch = _BUILD_BREADTH, _SEARCH_BREADTH
    return core


def _ivfpq(faiss: Any, count: int, dimension: int) -> Any:
    """Choose about four square roots of the number of vectors as cells, of which an eighth is searched."""
    cells = max(1, min(round(4 * count**0.5), count // _POINTS_A_CENTROID))
    bits = min(_MOST_BITS, (count // _POINTS_A_CENTROID).bit_length() - 1)
    quantiser = faiss.IndexFlat(dimension, faiss.METRIC_INNER_PRODUCT)
    codes = code_count(dimension)
    core = faiss.IndexIVFPQ(quantiser, dimension, cells, codes, bits, faiss.METRIC_INNER_PRODUCT)
    core.nprobe = min(cells, max(_FEWEST_CELLS, cells // 8))
    for clustering in (core.cp, core.pq.cp):
        clustering.seed, clustering.niter = _SEED, _ROUNDS
        # Enough of them are made sure of here; FAISS would write a warning of its own.
        clustering.min_points_per_centroid = 1
    return core


MAKERS = {"exact": _exact, "hnsw": _hnsw, "ivfpq": _ivfpq}
"""What sets up an empty index, given FAISS, the number of vectors and their dimension."""
FAISS_CLASSES = {"exact": "IndexFlat", "hnsw": "IndexHNSWFlat", "ivfpq": "IndexIVFPQ"}


def code_count(dimension: int) -> int:
    """Choose into how many parts a vector is cut for quantisation: even ones, of about five values.

    >>> code_count(300), code_count(100), code_count(7), code_count(1)
    (60, 20, 7, 1)
    """
    widths = (width for width in range(1, _VALUES_A_CODE + 1) if dimension % width == 0)
    return dimension // max(widths)


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


@contextmanager
def one_thread(faiss: Any, kind: IndexKind) -> Iterator[None]:
    """Link an ``hnsw`` by one thread: with several, the links depend on which comes first."""
    former = faiss.omp_get_max_threads()
    if kind == "hnsw":
        faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(former)
