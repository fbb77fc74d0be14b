"""Independent sentences paired, as in Morgan (2014), and aligned by their derivations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

from softbleu.corpora.aligned import AlignedPair, Alignment, label_pair
from softbleu.corpora.derivations import Derivation, Derivations
from softbleu.corpora.grammar import Grammar, Links
from softbleu.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GREATEST_LANGUAGE = 10_000_000
"""Sentences that are taken at most when all are; each takes some hundred bytes."""


class Seen:
    """Texts seen before, remembered by digests so short that a million take a hundred megabytes or less."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def add(self, text: str) -> bool:
        """Remember a text, and tell whether it is new."""
        before = len(self._digests)
        self._digests.add(blake2b(text.encode(), digest_size=12).digest())
        return len(self._digests) > before


def link_rules(grammar: Grammar, first: int, second: int) -> Links:
    """Find the parts of two rules of a symbol that correspond.

    Those of the same rule one by one; symbols of declared alternations as declared; other symbols by name, in order.
    Words if they are equal or synonyms, in order.
    """
    left, right = (grammar.rules[number].parts for number in (first, second))
    if first == second:
        return tuple((place, place) for place in range(len(left)))
    declared = grammar.alternations.get((first, second))
    links = list(declared or ())
    taken = {place for _, place in links}
    for place, part in enumerate(left):
        if declared is not None and not part.is_word:
            continue
        for other, counterpart in enumerate(right):
            same = grammar.alike(part.text, counterpart.text) if part.is_word else part == counterpart
            if other not in taken and part.is_word == counterpart.is_word and same:
                links.append((place, other))
                taken.add(other)
                break
    return tuple(sorted(links))


@dataclass(frozen=True)
class Aligner:
    """Aligns the words of two derivations that stand in corresponding places and mean the same."""

    derivations: Derivations
    _links: dict[tuple[int, int], Links] = field(default_factory=dict, repr=False, compare=False)

    def align(self, candidate: Derivation, reference: Derivation) -> Alignment:
        """Places (candidate, reference) of the words that mean the same.

        Both derivations are walked together from their start: see `link_rules` for what corresponds. So "man" in "the
        man saw a dog" is not aligned with "man" in "a dog saw the man".

        >>> from softbleu.corpora.grammar import read_grammar
        >>> derivations = Derivations.of(read_grammar("morgan2014"))
        >>> first, second = derivations.at(0), derivations.at(79)
        >>> " ".join(derivations.sentence(first)), " ".join(derivations.sentence(second))
        ('the man went to the store', 'the boy went by the supermarket')
        >>> Aligner(derivations).align(first, second)
        ((0, 0), (1, 1), (2, 2), (4, 4), (5, 5))
        """
        places: list[tuple[int, int]] = []
        self._walk(candidate, 0, reference, 0, places)
        return tuple(sorted(places))

    def _walk(
        self, first: Derivation, start: int, second: Derivation, other_start: int, places: list[tuple[int, int]]
    ) -> None:
        key = (first[0], second[0])
        links = self._links.get(key)
        if links is None:
            links = self._links[key] = link_rules(self.derivations.grammar, *key)
        left, right = self._parts(first, start), self._parts(second, other_start)
        for place, other in links:
            (below, begin), (other_below, other_begin) = left[place], right[other]
            if below is None or other_below is None:
                places.append((begin, other_begin))
            else:
                self._walk(below, begin, other_below, other_begin, places)

    def _parts(self, derivation: Derivation, start: int) -> list[tuple[Derivation | None, int]]:
        """Of each part of a rule, its derivation (None for a word) and the place at which it begins."""
        parts: list[tuple[Derivation | None, int]] = []
        ahead = iter(derivation[1])
        for word in self.derivations.words[derivation[0]]:
            below = next(ahead) if word is None else None
            parts.append((below, start))
            start += 1 if below is None else self._length(below)
        return parts

    def _length(self, derivation: Derivation) -> int:
        number, inner = derivation
        return len(self.derivations.words[number]) - len(inner) + sum(map(self._length, inner))


def distinct_numbers(derivations: Derivations) -> NDArray[np.int64]:
    """Numbers of derivations, one for each sentence.

    Raises `InputError` for more than ten million.
    """
    import numpy as np

    total = derivations.count()
    if total > GREATEST_LANGUAGE:
        number = f"{total:,}" if total < 10**15 else f"some 10^{len(str(total)) - 1}"
        raise InputError(
            f"{derivations.grammar.name} has {number} derivations, too many to take them all: lower --max-depth, "
            "or draw a --count of sentences or paraphrases"
        )
    seen = Seen()
    new = (index for index in range(total) if seen.add(" ".join(derivations.sentence(derivations.at(index)))))
    return np.fromiter(new, np.int64)


def pair_halves(derivations: Derivations, seed: int, numbers: NDArray[np.int64]) -> Iterator[AlignedPair]:
    """Pair the sentences at random, so that none is in two pairs (Morgan 2014).

    Numbers are of derivations of distinct sentences; of an odd number, one is left over.
    """
    import numpy as np

    shuffled = np.random.default_rng(seed).permutation(numbers)
    half = len(shuffled) // 2
    aligner = Aligner(derivations)
    for left, right in zip(shuffled[:half], shuffled[half : 2 * half], strict=True):
        first, second = derivations.at(int(left)), derivations.at(int(right))
        candidate, reference = tuple(derivations.sentence(first)), tuple(derivations.sentence(second))
        alignment = aligner.align(first, second)
        label = label_pair(candidate, reference, alignment, derivations.grammar.function_words)
        yield AlignedPair(candidate, reference, alignment, label)
