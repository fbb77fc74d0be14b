"""Pairs of sentences whose tokens are aligned by meaning: labelled, written, read; paired as in Morgan (2014)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from softbleu.corpora.derivations import Derivation, Derivations
from softbleu.corpora.files import numbered_lines
from softbleu.corpora.grammar import Grammar, Links
from softbleu.errors import InputError, Parameter
from softbleu.io.data_files import parse_json

Label = Literal["identical", "paraphrase", "related", "unrelated"]
LABELS: tuple[Label, ...] = get_args(Label)
Alignment = tuple[tuple[int, int], ...]
GREATEST_LANGUAGE = 10_000_000  # Sentences that are taken at most when all are; each takes some hundred bytes


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """A candidate, its reference, and which token of one means which token of the other."""

    candidate: tuple[str, ...]
    reference: tuple[str, ...]
    alignment: Alignment  # Places (candidate, reference), from 0, in order; each place at most once
    label: Label


def label_pair(
    candidate: Collection[str], reference: Collection[str], alignment: Alignment, function_words: Collection[str]
) -> Label:
    """Say how much two sentences have in common, from their alignment.

    It is "identical" for the same tokens; "paraphrase" if every content token of both sides is aligned; "related" if
    some content token is; "unrelated" if none is. Different sentences without any content word are unrelated.

    Parameters
    ----------
    candidate, reference
        Tokens of the sentences.
    alignment
        Places of candidate and reference tokens that mean the same.
    function_words
        Words without a meaning of their own.

    Examples
    --------
    >>> alignment = ((0, 0), (1, 1), (4, 4))
    >>> label_pair("he ran to the mall".split(), "he ran to a store".split(), alignment, {"to", "the", "a"})
    'paraphrase'
    >>> label_pair(["he", "ran"], ["he", "drove"], ((0, 0),), ())
    'related'
    """
    if candidate == reference:
        return "identical"
    places = {place for place, _ in alignment}, {place for _, place in alignment}
    aligned = {
        place in covered
        for side, covered in zip((candidate, reference), places, strict=True)
        for place, word in enumerate(side)
        if word not in function_words
    }
    if True not in aligned:
        return "unrelated"
    return "related" if False in aligned else "paraphrase"


def read_aligned(path: str, encoding: str = "utf-8") -> Iterator[AlignedPair]:
    """Read the JSON lines that the generator writes, one by one.

    They are objects with `candidate`, `reference` (tokens between blanks), `alignment` (a list of places `[candidate,
    reference]`, from 0) and `label`; `.gz` and `-` are understood.
    """
    for where, line in numbered_lines(path, encoding):
        yield _parse(where, line)


def _parse(where: str, line: str) -> AlignedPair:
    entry = parse_json(line, where)
    entry = entry if isinstance(entry, dict) else {}
    sides = [side for name in ("candidate", "reference") if isinstance(side := entry.get(name), str)]
    if len(sides) < 2:
        raise InputError(f"{where}: an object with the texts 'candidate' and 'reference' is needed")
    candidate, reference = (tuple(side.split()) for side in sides)
    if entry.get("label") not in LABELS:
        raise InputError(f"{where}: 'label' is needed, one of {', '.join(LABELS)}")
    places = entry.get("alignment")
    if not isinstance(places, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(type(place) is int for place in pair) for pair in places
    ):
        raise InputError(f"{where}: 'alignment' is needed, a list of places [candidate, reference]")
    return AlignedPair(candidate, reference, check_alignment(where, candidate, reference, places), entry["label"])


def check_alignment(
    where: str, candidate: Sequence[str], reference: Sequence[str], places: Iterable[Sequence[int]]
) -> Alignment:
    """See that an alignment names tokens that are there, each once.

    Parameters
    ----------
    where
        Where the pair stands, for errors.
    candidate, reference
        Tokens of the sentences.
    places
        Places of candidate and reference tokens, from 0.
    """
    alignment = tuple((left, right) for left, right in places)
    for left, right in alignment:
        if not (0 <= left < len(candidate) and 0 <= right < len(reference)):
            sizes = f"{len(candidate)} and {len(reference)}"
            raise InputError(f"{where}: [{left}, {right}] aligns tokens that are not there, of {sizes}")
    if any(len(set(side)) < len(alignment) for side in zip(*alignment, strict=True)):
        raise InputError(f"{where}: a token is aligned twice")
    return alignment


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

    Parameters
    ----------
    grammar
        The grammar of the rules.
    first, second
        Numbers of two rules of a symbol.
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
            same = grammar.synonymous(part.text, counterpart.text) if part.is_word else part == counterpart
            if other not in taken and part.is_word == counterpart.is_word and same:
                links.append((place, other))
                taken.add(other)
                break
    return tuple(sorted(links))


def alternations_of(grammar: Grammar) -> dict[int, list[tuple[int, dict[int, int]]]]:
    """Of each rule those that say the same in another order; and of their parts the places in this one."""
    forms: dict[int, list[tuple[int, dict[int, int]]]] = {}
    for first, second in grammar.alternations:
        origins = {other: place for place, other in link_rules(grammar, first, second)}
        forms.setdefault(first, []).append((second, origins))
    return forms


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
    """Numbers of derivations, one for each sentence."""
    total = derivations.count()
    if total > GREATEST_LANGUAGE:
        number = f"{total:,}" if total < 10**15 else f"some 10^{len(str(total)) - 1}"
        raise InputError(
            f"{derivations.grammar.name} has {number} derivations, too many to take them all: lower ",
            Parameter("max_depth"),
            ", or draw some of the sentences or paraphrases by ",
            Parameter("count"),
        )
    seen = Seen()
    new = (index for index in range(total) if seen.add(" ".join(derivations.sentence(derivations.at(index)))))
    return np.fromiter(new, np.int64)


def pair_halves(derivations: Derivations, seed: int, numbers: NDArray[np.int64]) -> Iterator[AlignedPair]:
    """Pair the sentences at random, so that none is in two pairs (Morgan 2014).

    Numbers are of derivations of distinct sentences; of an odd number, one is left over.

    Parameters
    ----------
    derivations
        Those of the grammar.
    seed
        Seed of the order of the sentences.
    numbers
        Numbers of derivations of distinct sentences.
    """
    shuffled = np.random.default_rng(seed).permutation(numbers)
    half = len(shuffled) // 2
    aligner = Aligner(derivations)
    for left, right in zip(shuffled[:half], shuffled[half : 2 * half], strict=True):
        first, second = derivations.at(int(left)), derivations.at(int(right))
        candidate, reference = tuple(derivations.sentence(first)), tuple(derivations.sentence(second))
        alignment = aligner.align(first, second)
        label = label_pair(candidate, reference, alignment, derivations.grammar.function_words)
        yield AlignedPair(candidate, reference, alignment, label)
