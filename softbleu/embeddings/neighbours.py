"""Neighbours of words, by name: from a set of vectors to a table of words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.index import (
    INDEX_KINDS,
    IndexKind,
    NeighbourGraph,
    NeighbourIndex,
    build_index,
    cached_graph,
    load_index,
    nearest_graph,
    range_graph,
    save_index,
)
from softbleu.embeddings.store import StoreSource, open_store
from softbleu.embeddings.vectors import VectorCase, VectorSource
from softbleu.errors import InputError, UnknownNameError

CASES = get_args(VectorCase)
DEFAULT_COUNT = 10
_NAMED = 10


@dataclass(frozen=True, eq=False)
class WordGraph:
    """A neighbour graph and the words it is about."""

    words: Sequence[str]  # The words asked about that have a vector, one for each query of the graph
    scope: Sequence[str]  # The words that were looked through
    graph: NeighbourGraph  # Places in the scope, and similarities
    unknown: Sequence[str] = ()  # The words asked about that have no vector

    def pairs(self) -> Iterator[tuple[str, int, str, float]]:
        """Go through word, rank from 1, neighbour and similarity."""
        for query, word in enumerate(self.words):
            targets, similarities = self.graph.neighbours(query)
            for rank, (target, similarity) in enumerate(zip(targets, similarities, strict=True), start=1):
                yield word, rank, self.scope[target], float(similarity)


@dataclass(frozen=True, eq=False)
class _Located:
    """Words asked about, and where they are found."""

    words: list[str]
    unknown: list[str]
    rows: NDArray[np.float32]
    places: NDArray[np.int64]
    scope: list[str]
    scope_rows: NDArray[np.float32]


def nearest_words(
    source: VectorSource,
    words: Sequence[str],
    count: int | None = None,
    *,
    threshold: float | None = None,
    kind: IndexKind = "exact",
    limit: int | None = None,
    case: VectorCase = "fallback",
) -> WordGraph:
    """Find the nearest other words of each word, by the cosine of their vectors.

    An index of that kind saved beside the store is used if the whole set is looked through. 10 each if neither a
    count nor a threshold is given; a threshold needs the exact kind. `limit` looks only through the first, most
    frequent, words of the set. Raises `InputError`: words without a vector, all of which it names, or a count or
    limit below 1; `VectorError`: damaged vectors, or a damaged index.

    >>> from softbleu.embeddings import open_vectors
    >>> source = open_vectors({"cat": [1.0, 0.1], "kitten": [0.9, 0.2], "tax": [0.0, 1.0]})
    >>> [(word, round(similarity, 3)) for _, _, word, similarity in nearest_words(source, ["Cat"]).pairs()]
    [('kitten', 0.993), ('tax', 0.1)]
    """
    _check(kind, case, count=count, limit=limit)
    located = _locate(source, words, limit, case)
    if located.unknown:
        raise InputError(f"no vector in {source.name} for {_listed(located.unknown)}: leave out or respell")
    index = _index_of(source, located.scope_rows, kind, limit)
    if threshold is None:
        graph = nearest_graph(located.rows, index, count or DEFAULT_COUNT, located.places)
    else:
        graph = range_graph(located.rows, index, threshold, located.places)
        graph = graph if count is None else graph.first(count)
    return WordGraph(located.words, located.scope, graph)


def word_graph(
    source: VectorSource,
    vocabulary: Sequence[str],
    threshold: float,
    *,
    limit: int | None = None,
    case: VectorCase = "fallback",
) -> WordGraph:
    """Find all other words of the set nearer to each word of a vocabulary than a threshold; kept in the cache.

    Words of the vocabulary without a vector are listed in the result; repeated ones count once. Raises `InputError`
    where no word has a vector.
    """
    _check("exact", case, limit=limit)
    located = _locate(source, list(dict.fromkeys(vocabulary)), limit, case)
    if not located.words:
        raise InputError(f"no word of the vocabulary has a vector in {source.name}: give words, one a line")
    graph = cached_graph(
        lambda: range_graph(located.rows, located.scope_rows, threshold, located.places),
        source.fingerprint,
        located.words,
        len(located.scope),
        case,
        threshold=threshold,
    )
    return WordGraph(located.words, located.scope, graph, located.unknown)


def index_store(directory: Path, kind: IndexKind) -> tuple[Path, int]:
    """Build an index over all words of a store and save it there; return its file and how many words it has.

    Raises `VectorError`: no store, or a folder that cannot be written.
    """
    _check(kind, "exact")
    source = open_store(directory)
    index = build_index(source.head()[1], kind)
    return save_index(index, directory, source.fingerprint), len(index)


def _locate(source: VectorSource, words: Sequence[str], limit: int | None, case: VectorCase) -> _Located:
    scope, scope_rows = source.head(limit)
    place_of = {word: place for place, word in enumerate(scope)}
    if limit is None:
        # The whole set is here: no second pass over it.
        spare = {} if case == "exact" else place_of
        places = np.fromiter((place_of.get(word, spare.get(word.lower(), -1)) for word in words), np.int64)
        known = places >= 0
        known[known] = np.any(scope_rows[places[known]], axis=1)
        rows = scope_rows[places[known]]
    else:
        selected = source.select(words, case)
        known = selected.known
        rows = selected.rows[known]
        written = known if case == "exact" else source.select(words, "exact").known
        forms = (word if found else word.lower() for word, found in zip(words, written, strict=True))
        places = np.fromiter((place_of.get(form, -1) for form in forms), np.int64)
    found = np.flatnonzero(known)
    unknown = [word for word, has in zip(words, known, strict=True) if not has]
    return _Located([words[place] for place in found.tolist()], unknown, rows, places[found], scope, scope_rows)


def _index_of(source: VectorSource, rows: NDArray[Any], kind: IndexKind, limit: int | None) -> NeighbourIndex:
    saved = None
    if limit is None and isinstance(source, StoreSource):
        saved = load_index(source.directory, kind, source.fingerprint, rows)
    return build_index(rows, kind) if saved is None else saved


def _check(kind: str, case: str, **numbers: int | None) -> None:
    if kind not in INDEX_KINDS:
        raise UnknownNameError("index", kind, INDEX_KINDS)
    if case not in CASES:
        raise UnknownNameError("vector case", case, CASES)
    for name, value in numbers.items():
        if value is not None and value < 1:
            raise InputError(f"the {name} must be at least 1, not {value}")


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - _NAMED:,} more" if len(words) > _NAMED else ""
    return ", ".join(map(repr, words[:_NAMED])) + more
