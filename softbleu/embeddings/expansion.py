"""More references from fewer: words replaced by their near neighbours, the most probable variants first."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from softbleu.embeddings.alternatives import Alternatives, find_alternatives
from softbleu.embeddings.vectors import VectorCase, VectorSource
from softbleu.errors import InputError

Segment = Sequence[Sequence[str]]
"""References of a segment, each as its tokens."""
Blocks = Callable[[], Iterable[Sequence[Segment]]]
"""Gives the segments of a corpus block by block, as often as it is called."""
Progress = Callable[[int], None]

MOST_NEIGHBOURS, LARGEST_BUDGET = 100, 1000


@dataclass(frozen=True)
class Replacement:
    """A word of a variant that the reference does not have: its place from 0, what it replaces, how similar."""

    position: int
    word: str
    by: str
    similarity: float


@dataclass(frozen=True)
class Variant:
    """A reference with words replaced; its probability is the product of their similarities."""

    tokens: tuple[str, ...]
    probability: float
    replacements: tuple[Replacement, ...]
    reference: int = 0
    """Which of a segment's references it was made from."""


@dataclass(frozen=True)
class Expansion:
    """How references are expanded.

    Parameters
    ----------
    threshold
        A neighbour must be more similar than this, cosine 0 to 1.
    neighbours
        At most so many neighbours of a word, the nearest ones.
    budget
        At most so many variants of a segment, the most probable ones of all its references.
    max_replacements
        At most so many words of a variant are replaced; any number if None.
    content_words
        Leave function words alone, and put none in.

    Raises
    ------
    InputError
        Any other value.
    """

    threshold: float = 0.7
    neighbours: int = 5
    budget: int = 4
    max_replacements: int | None = None
    content_words: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise InputError(f"threshold must lie between 0 and 1, not {self.threshold}")
        if not 1 <= self.neighbours <= MOST_NEIGHBOURS:
            raise InputError(
                f"the number of neighbours must lie between 1 and {MOST_NEIGHBOURS}, not {self.neighbours}"
            )
        if not 1 <= self.budget <= LARGEST_BUDGET:
            raise InputError(f"the budget must lie between 1 and {LARGEST_BUDGET} variants, not {self.budget}")
        _check_replacements(self.max_replacements)

    def expand(self, segment: Segment, alternatives: Alternatives) -> list[Variant]:
        """Give the most probable variants of all references of a segment, none of them one of the references.

        Equally probable ones: those with fewer replacements first, then those of earlier references.
        """
        seen = {tuple(reference) for reference in segment}
        streams = [
            iterate_variants(reference, alternatives, self.max_replacements, number)
            for number, reference in enumerate(segment)
        ]
        found: list[Variant] = []
        for variant in heapq.merge(*streams, key=lambda variant: _rank(variant.probability, variant.replacements)):
            if variant.tokens not in seen:
                seen.add(variant.tokens)
                found.append(variant)
                if len(found) == self.budget:
                    break
        return found


def expand_tokens(
    tokens: Sequence[str], alternatives: Alternatives, budget: int, max_replacements: int | None = None
) -> list[Variant]:
    """Give the most probable variants of a text, other than itself.

    Every word may be replaced by one of its alternatives; the probability of a variant is the product of the
    similarities of its replacements. Found by best-first search, exactly: time grows with the budget and with the
    length of the text, not with the number of variants there are.

    Parameters
    ----------
    tokens
        The text.
    alternatives
        Of a word, those that may replace it and their similarities, greater than 0 and at most 1. The word itself
        and repeated ones are passed over.
    budget
        At most so many variants.
    max_replacements
        At most so many replacements in each; any number if None.

    Returns
    -------
    Most probable first. Ties, to 12 digits: fewest replacements, then leftmost, then the nearer neighbour.

    Raises
    ------
    InputError
        A similarity that is no probability, or a number that is not positive.

    Examples
    --------
    >>> near = {"car": [("vehicle", 0.9), ("truck", 0.8)], "fast": [("quick", 0.85)]}
    >>> for variant in expand_tokens("a fast car".split(), near, budget=4):
    ...     print(round(variant.probability, 3), *variant.tokens)
    0.9 a fast vehicle
    0.85 a quick car
    0.8 a fast truck
    0.765 a quick vehicle
    """
    if budget < 1:
        raise InputError(f"the budget must be at least 1 variant, not {budget}")
    return list(islice(iterate_variants(tokens, alternatives, max_replacements), budget))


def iterate_variants(
    tokens: Sequence[str], alternatives: Alternatives, max_replacements: int | None = None, reference: int = 0
) -> Iterator[Variant]:
    """Give all variants of a text one after the other, as `expand_tokens` orders them."""
    _check_replacements(max_replacements)
    ranked = {word: _ranked(word, alternatives[word]) for word in dict.fromkeys(tokens) if word in alternatives}
    places = [place for place, word in enumerate(tokens) if ranked.get(word)]
    choices = [ranked[tokens[place]] for place in places]
    most = len(places) if max_replacements is None else max_replacements
    # A state: its rank, then which choices are made at which places, and the probability without the last of them.
    waiting: list[tuple[tuple[float, int], tuple[int, ...], tuple[int, ...], float]] = []

    def push(slots: tuple[int, ...], ranks: tuple[int, ...], before: float) -> None:
        probability = before * choices[slots[-1]][ranks[-1]][1]
        heapq.heappush(waiting, (_rank(probability, slots), slots, ranks, before))

    for slot in range(len(places)):
        push((slot,), (0,), 1.0)
    while waiting:
        _, slots, ranks, before = heapq.heappop(waiting)
        last = choices[slots[-1]]
        probability = before * last[ranks[-1]][1]
        made = [choices[slot][rank] for slot, rank in zip(slots, ranks, strict=True)]
        yield _variant(tokens, [places[slot] for slot in slots], made, probability, reference)
        # Every state has one parent, which is no less probable: the next choice at the last place, or one more place.
        if ranks[-1] + 1 < len(last):
            push(slots, (*ranks[:-1], ranks[-1] + 1), before)
        if len(slots) < most:
            for slot in range(slots[-1] + 1, len(places)):
                push((*slots, slot), (*ranks, 0), probability)


def expand_corpus(
    blocks: Blocks,
    source: VectorSource,
    expansion: Expansion | None = None,
    case: VectorCase = "fallback",
    progress: Progress | None = None,
) -> Iterator[list[Variant]]:
    """Expand a corpus in two passes: its words first, then segment after segment.

    Memory holds a block, the vocabulary with its alternatives, and the vectors of the first words of the set.

    Parameters
    ----------
    blocks
        Gives the corpus anew whenever it is called.
    source
        Where neighbours come from.
    expansion
        What is asked for.
    case
        How words are looked up; see `VectorSource.select`.
    progress
        Called with the number of segments expanded.

    Examples
    --------
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


def _check_replacements(most: int | None) -> None:
    if most is not None and most < 1:
        raise InputError(f"at least 1 replacement must be allowed, not {most}")


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
    tokens: Sequence[str],
    places: Sequence[int],
    made: Sequence[tuple[str, float]],
    probability: float,
    reference: int,
) -> Variant:
    changed = list(tokens)
    replacements = []
    for place, (name, similarity) in zip(places, made, strict=True):
        replacements.append(Replacement(place, tokens[place], name, similarity))
        changed[place] = name
    return Variant(tuple(changed), probability, tuple(replacements), reference)
