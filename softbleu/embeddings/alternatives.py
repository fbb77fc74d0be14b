"""What may stand in the place of a word: its near neighbours, spelt as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from softbleu.embeddings.function_words import is_function_word
from softbleu.embeddings.measure import SCOPE
from softbleu.embeddings.postprocess import unit_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.embeddings.expansion import Expansion
    from softbleu.embeddings.vectors import VectorCase, VectorSource

Alternatives = Mapping[str, Sequence[tuple[str, float]]]
"""Of a word what may stand in its place, and how similar that is."""
_WORDS_AT_ONCE = 512
# Beyond as many as are wanted: other spellings of the word are dropped, and near ties are ranked exactly.
_RESERVE = 16


def find_alternatives(
    source: VectorSource, words: Sequence[str], expansion: Expansion, case: VectorCase = "fallback"
) -> dict[str, list[tuple[str, float]]]:
    """Find what may replace each word: its nearest neighbours above the threshold, nearest first.

    Words and neighbours are of letters only, so that neither punctuation nor a number is swapped. A neighbour is
    looked for among the first `SCOPE` words of the set, and is never the word itself in another case. A word
    without a capital takes neighbours as the set spells them; one all in capitals (more than one) takes them in
    capitals; any other that begins with a capital takes them with their first letter made one. Similarities are
    cosines, to 6 decimals.

    Returns
    -------
    Words that have any.

    Examples
    --------
    >>> from softbleu.embeddings import open_vectors
    >>> from softbleu.embeddings.expansion import Expansion
    >>> vectors = open_vectors({"car": [1.0, 0.1], "vehicle": [1.0, 0.2], "2": [1.0, 0.1]})
    >>> find_alternatives(vectors, ["Car", "CAR", "2", "sky"], Expansion())
    {'Car': [('Vehicle', 0.995229)], 'CAR': [('VEHICLE', 0.995229)]}
    """

    def fits(word: str) -> bool:
        return word.isalpha() and not (expansion.content_words and is_function_word(word))

    asked = [word for word in words if fits(word)]
    head, values = source.head(SCOPE)
    usable = [place for place, word in enumerate(head) if fits(word) and values[place].any()]
    if not (asked and usable):
        return {}
    names, pool = [head[place] for place in usable], unit_rows(values[usable])
    selected = source.select(asked, case)
    rows = unit_rows(selected.rows)
    found: dict[str, list[tuple[str, float]]] = {}
    for word, known, near in zip(asked, selected.known, _nearest(rows, pool, expansion.neighbours), strict=True):
        if known and (fitting := _fit(word, [(names[place], similarity) for place, similarity in near], expansion)):
            found[word] = fitting
    return found


def _nearest(rows: NDArray[np.float64], pool: NDArray[np.float64], count: int) -> Iterator[list[tuple[int, float]]]:
    """Places of the nearest rows of the pool and their similarities, nearest first, some more than `count`."""
    from softbleu.embeddings.graph import nearest_graph
    from softbleu.embeddings.index import build_index

    index = build_index(pool)
    for start in range(0, len(rows), _WORDS_AT_ONCE):
        block = rows[start : start + _WORDS_AT_ONCE]
        graph = nearest_graph(block, index, min(count + _RESERVE, len(pool)))
        exact = np.einsum("pd,pd->p", block[graph.owners], pool[graph.targets]).round(6).clip(-1, 1)
        order = np.lexsort((graph.targets, -exact, graph.owners))
        found = list(zip(graph.targets[order].tolist(), exact[order].tolist(), strict=True))
        bounds = graph.bounds.tolist()
        yield from (found[first:last] for first, last in pairwise(bounds))


def _fit(word: str, near: Iterable[tuple[str, float]], expansion: Expansion) -> list[tuple[str, float]]:
    """Take the neighbours that may replace a word, spelt as it is."""
    fitting: dict[str, float] = {}
    for name, similarity in near:
        if similarity > expansion.threshold and name.casefold() != word.casefold():
            fitting.setdefault(_spell_like(word, name), similarity)
    return list(fitting.items())[: expansion.neighbours]


def _spell_like(word: str, name: str) -> str:
    if word.isupper() and len(word) > 1:
        return name.upper()
    return name[0].upper() + name[1:] if word[0].isupper() else name
