"""More references from fewer: words replaced by their near neighbours, the most probable variants first."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbleu.config.declare import Declared, setting
from softbleu.embeddings.function_words import is_function_word
from softbleu.embeddings.measure import SCOPE, pair_products, unit_rows
from softbleu.embeddings.vectors import VectorCase, VectorSource
from softbleu.errors import InputError
from softbleu.io.files import drafts_of, open_draft

Segment = Sequence[Sequence[str]]  # References of a segment, each as its tokens
Blocks = Callable[[], Iterable[Sequence[Segment]]]
"""Gives the segments of a corpus block by block, as often as it is called."""
Alternatives = Mapping[str, Sequence[tuple[str, float]]]
"""Of a word what may stand in its place, and how similar that is."""
# Beyond as many as are wanted: other spellings of the word are dropped, and near ties are ranked exactly.
_RESERVE = 16


@dataclass(frozen=True)
class Replacement:
    """A word of a variant that the reference does not have: its place from 0, what it replaces, how similar."""

    position: int
    word: str
    by: str
    similarity: float


@dataclass(frozen=True)
class ExpandedReference:
    """A reference with words replaced; its probability is the product of their similarities."""

    tokens: tuple[str, ...]
    probability: float
    replacements: tuple[Replacement, ...]
    reference: int = 0  # Which of a segment's references it was made from


@dataclass(frozen=True)
class Expansion(Declared):
    """How references are expanded."""

    threshold: float = setting(
        0.7, "A neighbour must be more similar than this, by cosine", least=0, most=1, flags=("-t",)
    )
    neighbours: int = setting(5, "Most neighbours per word", least=1, most=100)
    budget: int = setting(4, "Most new references per segment; the most probable are kept", least=1, most=1000)
    max_replacements: int | None = setting(
        None, "Most words to replace per reference", least=1, metavar="N", unset="any number"
    )
    content_words: bool = setting(False, "Do not replace function words, such as 'the' and 'over'")

    def expand(self, segment: Segment, alternatives: Alternatives) -> list[ExpandedReference]:
        """Give the most probable variants of all references of a segment, none of them one of the references.

        Equally probable ones: those with fewer replacements first, then those of earlier references.
        """
        seen = {tuple(reference) for reference in segment}
        streams = [
            iterate_variants(reference, alternatives, self.max_replacements, number)
            for number, reference in enumerate(segment)
        ]
        variants: list[ExpandedReference] = []
        for variant in heapq.merge(*streams, key=lambda variant: _rank(variant.probability, variant.replacements)):
            if variant.tokens not in seen:
                seen.add(variant.tokens)
                variants.append(variant)
                if len(variants) == self.budget:
                    break
        return variants


def find_alternatives(
    source: VectorSource, words: Sequence[str], expansion: Expansion, case: VectorCase = "fallback"
) -> dict[str, list[tuple[str, float]]]:
    """Find what may replace each word: its nearest neighbours above the threshold, nearest first.

    Words and neighbours are of letters only, so that neither punctuation nor a number is swapped. A neighbour is
    looked for among the first `SCOPE` words of the set, and is never the word itself in another case. A word without
    a capital takes neighbours as the set spells them; one all in capitals (more than one) takes them in capitals; any
    other that begins with a capital takes them with their first letter made one. Similarities are cosines, to 6
    decimals. Words without any are left out.

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
    near = _nearest(unit_rows(selected.rows), pool, min(expansion.neighbours + _RESERVE, len(pool)))
    alternatives = {
        word: _fit(word, [(names[place], similarity) for place, similarity in places], expansion)
        for word, known, places in zip(asked, selected.known, near, strict=True)
        if known
    }
    return {word: fitting for word, fitting in alternatives.items() if fitting}


def _nearest(rows: NDArray[np.float64], pool: NDArray[np.float64], count: int) -> Iterator[list[tuple[int, float]]]:
    """Places of the nearest rows of the pool and their cosines to 6 decimals, the nearest first."""
    from softbleu.embeddings.index import NeighbourIndex

    graph = NeighbourIndex(pool).nearest(rows, count)
    cosines = pair_products(rows, graph.owners, pool, graph.targets).round(6).clip(-1, 1)
    order = np.lexsort((graph.targets, -cosines, graph.owners))
    pairs = list(zip(graph.targets[order].tolist(), cosines[order].tolist(), strict=True))
    return (pairs[first:last] for first, last in pairwise(graph.bounds.tolist()))


def _fit(word: str, near: Iterable[tuple[str, float]], expansion: Expansion) -> list[tuple[str, float]]:
    """Take the neighbours that may replace a word, with its capitals."""
    fitting: dict[str, float] = {}
    for name, similarity in near:
        if similarity > expansion.threshold and name.casefold() != word.casefold():
            fitting.setdefault(spell_like(word, name), similarity)
    return list(fitting.items())[: expansion.neighbours]


def spell_like(word: str, name: str) -> str:
    """Spell a name as a word is: with a capital, or in capitals."""
    if word.isupper() and len(word) > 1:
        return name.upper()
    return name[0].upper() + name[1:] if word[0].isupper() else name


def iterate_variants(
    tokens: Sequence[str], alternatives: Alternatives, max_replacements: int | None = None, reference: int = 0
) -> Iterator[ExpandedReference]:
    """Give the variants of a text, other than itself, the most probable ones first.

    Every word may be replaced by one of its alternatives; the probability of a variant is the product of the
    similarities of its replacements. Found by best-first search, exactly: time grows with how many are taken and with
    the length of the text, not with the number of variants there are. Ties, to 12 digits: fewest replacements, then
    leftmost, then the nearer neighbour. Similarities are above 0 and at most 1; the word itself and repeated
    alternatives are passed over. `reference` is the number of the text among the references of a segment. Raises
    `InputError`: a similarity that is no probability, or a number that is not positive.

    >>> from itertools import islice
    >>> near = {"car": [("vehicle", 0.9), ("truck", 0.8)], "fast": [("quick", 0.85)]}
    >>> for variant in islice(iterate_variants("a fast car".split(), near), 4):
    ...     print(round(variant.probability, 3), *variant.tokens)
    0.9 a fast vehicle
    0.85 a quick car
    0.8 a fast truck
    0.765 a quick vehicle
    """
    if max_replacements is not None and max_replacements < 1:
        raise InputError(f"at least 1 replacement must be allowed, not {max_replacements}")
    ranked = {word: _ranked(word, alternatives[word]) for word in dict.fromkeys(tokens) if word in alternatives}
    places = [place for place, word in enumerate(tokens) if ranked.get(word)]
    # Those with the nearest first choice come first, of equals the leftmost.
    places.sort(key=lambda place: -ranked[tokens[place]][0][1])
    choices = [ranked[tokens[place]] for place in places]
    # States: pairs of a slot, the number of a place in this order, and a rank among its choices; slots ascend.
    waiting: list[tuple[Any, tuple[tuple[int, int], ...], float]] = []

    def push(*state: tuple[int, int]) -> None:
        chosen = sorted((places[slot], rank) for slot, rank in state)
        probability = prod(ranked[tokens[place]][rank][1] for place, rank in chosen)
        order = (*_rank(probability, state), [place for place, _ in chosen], [rank for _, rank in chosen])
        heapq.heappush(waiting, (order, state, probability))

    if choices:
        push((0, 0))
    while waiting:
        _, state, probability = heapq.heappop(waiting)
        yield _variant(
            tokens, sorted((places[slot], *choices[slot][rank]) for slot, rank in state), probability, reference
        )
        # Every state has one parent, which comes before it: the next choice at the last slot, one more slot, or
        # another last slot.
        *others, (slot, rank) = state
        if rank + 1 < len(choices[slot]):
            push(*others, (slot, rank + 1))
        if slot + 1 < len(choices):
            if max_replacements is None or len(state) < max_replacements:
                push(*state, (slot + 1, 0))
            if rank == 0:
                push(*others, (slot + 1, 0))


def expand_corpus(
    blocks: Blocks,
    source: VectorSource,
    expansion: Expansion | None = None,
    case: VectorCase = "fallback",
    progress: Callable[[int], None] | None = None,
) -> Iterator[list[ExpandedReference]]:
    """Expand a corpus in two passes: its words first, then segment after segment.

    Memory holds a block, the vocabulary with its alternatives, and the vectors of the first words of the set.
    `progress` is told how many segments are expanded.

    >>> from softbleu.embeddings import open_vectors
    >>> vectors = open_vectors({"car": [1.0, 0.1], "vehicle": [1.0, 0.2], "sky": [0.0, 1.0]})
    >>> corpus = [[["The", "Car", "!"]]], [[["blue"], ["Sky"]]]
    >>> [[" ".join(variant.tokens) for variant in found] for found in expand_corpus(lambda: corpus, vectors)]
    [['The Vehicle !'], []]
    """
    expansion = expansion or Expansion()
    words = {word for block in blocks() for segment in block for reference in segment for word in reference}
    alternatives = find_alternatives(source, sorted(words), expansion, case)
    done = 0
    for block in blocks():
        for segment in block:
            yield expansion.expand(segment, alternatives)
        done += len(block)
        if progress is not None:
            progress(done)


def _ranked(word: str, alternatives: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Alternatives other than the word, each once, nearest first."""
    for name, similarity in alternatives:
        if not 0 < similarity <= 1:
            raise InputError(
                f"the similarity of {word!r} and {name!r} must be above 0 and at most 1, not {similarity}"
            )
    nearest_first = sorted(alternatives, key=lambda alternative: -alternative[1])
    fresh: dict[str, float] = {}
    for name, similarity in nearest_first:
        if name != word:
            fresh.setdefault(name, similarity)
    return list(fresh.items())


def _rank(probability: float, replacements: Sequence[object]) -> tuple[float, int]:
    # To 12 digits, lest the order of a product decide between equals.
    return -float(f"{probability:.12g}"), len(replacements)


def _variant(
    tokens: Sequence[str], chosen: Iterable[tuple[int, str, float]], probability: float, reference: int
) -> ExpandedReference:
    replacements = tuple(Replacement(place, tokens[place], name, similarity) for place, name, similarity in chosen)
    changed = list(tokens)
    for replacement in replacements:
        changed[replacement.position] = replacement.by
    return ExpandedReference(tuple(changed), probability, replacements, reference)


def write_parallel(
    paths: Sequence[Path], segments: Iterable[Sequence[str]], expansions: Iterable[Sequence[ExpandedReference]]
) -> list[int]:
    """Write all files and rename them when all are complete; returns how many segments have 0, 1, … variants."""
    counts = [0] * (len(paths) + 1)
    try:
        with drafts_of(paths) as drafts, ExitStack() as stack:
            streams = [stack.enter_context(open_draft(draft)) for draft in drafts]
            for texts, variants in zip(segments, expansions, strict=True):
                counts[len(variants)] += 1
                # A reference once more adds no n-gram and no length.
                lines = [" ".join(variant.tokens) for variant in variants]
                lines += [texts[0]] * (len(paths) - len(lines))
                for stream, line in zip(streams, lines, strict=True):
                    stream.write(line + "\n")
    except OSError as error:
        raise InputError(f"cannot write {paths[0]}: {error.strerror or error}; nothing was changed") from error
    return counts
