"""Neighbours of words: from words to the nearest other words of a set of vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from softbleu.embeddings.index import NeighbourIndex
from softbleu.embeddings.measure import spellings_of
from softbleu.embeddings.vectors import VectorCase, VectorSource
from softbleu.errors import InputError

DEFAULT_COUNT = 10
_NAMED = 10


def nearest_words(
    source: VectorSource,
    words: Sequence[str],
    count: int | None = None,
    *,
    threshold: float | None = None,
    limit: int | None = None,
    case: VectorCase = "fallback",
) -> list[tuple[str, int, str, float]]:
    """Find the nearest other words of each word, by the cosine of their vectors.

    Parameters
    ----------
    source
        The set of vectors.
    words
        What to look up.
    count
        Neighbours of each word; 10 if neither a count nor a threshold is given, all above the threshold otherwise.
    threshold
        Only neighbours with a greater cosine.
    limit
        Look only through the first, most frequent, words of the set.
    case
        How words are looked up; see `VectorSource.select`.

    Returns
    -------
    list
        Word, rank from 1, neighbour, cosine.

    Raises
    ------
    InputError, VectorError
        Words without a vector, all of which it names; a count or limit below 1; damaged vectors.

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
        said = ", ".join(map(repr, unknown[:_NAMED])) + more
        raise InputError(f"no vector in {source.name} for {said}: leave out or respell")
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
