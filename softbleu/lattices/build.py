"""Networks of several references, and of a meaning of a grammar of ours: all that it says in other words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from softbleu.corpora.grammar import alternations_of
from softbleu.lattices.lattice import NetworkBuilder, WordNetwork

if TYPE_CHECKING:
    from softbleu.corpora.grammar import Derivation, Derivations


def merge_references(references: Sequence[Sequence[str]], shared: int) -> tuple[NetworkBuilder, list[list[int]]]:
    """Lay references along the first: where they share enough words in a row, their paths join, and may change.

    `shared` says how many are enough. Gives their network, and of each reference the states before, between and
    behind its words.

    >>> made, (_, states) = merge_references(["it is late now".split(), "it is too late now".split()], 2)
    >>> states, [(arc.source, arc.target, arc.word) for arc in made.arcs[4:]]
    ([0, 1, 2, 5, 3, 4], [(2, 5, 'too'), (5, 3, 'late')])
    """
    first = references[0]
    made = NetworkBuilder()
    paths = [[0]]
    for word in first:
        paths[0].append(made.step(paths[0][-1], [word], "reference"))
    for reference in references[1:]:
        path = [0]
        for start, end, words, same in _spans(first, reference, shared):
            if same:
                path += range(start + 1, end + 1)
                continue
            states = made.phrase(start, end, words, 0.0, "reference")
            path += states[1:] if words else []
        paths.append(path)
    return made, paths


def _spans(first: Sequence[str], other: Sequence[str], shared: int) -> Iterator[tuple[int, int, Sequence[str], bool]]:
    """Places of the first text, and the words of the other there; whether they are the same."""
    matcher = SequenceMatcher(None, first, other, autojunk=False)
    blocks = [tuple(block) for block in matcher.get_matching_blocks() if block.size >= shared]
    if blocks:
        here, there, size = blocks[-1]
        if here + size == len(first) and there + size < len(other):
            # A word goes along with what is put in behind it, for a path cannot end where it begins.
            blocks[-1:] = [(here, there, size - 1)] if size > 1 else []
    place = other_place = 0
    for here, there, size in [*blocks, (len(first), len(other), 0)]:
        if here == place and there > other_place:
            here, there, size = here + 1, there + 1, size - 1
        if here > place:
            yield place, here, other[other_place:there], False
        if size:
            yield here, here + size, other[there : there + size], True
        place, other_place = here + size, there + size


def meaning_network(derivations: Derivations, derivation: Derivation) -> WordNetwork:
    """All that a grammar of ours says with the meaning of a derivation: synonyms, and other orders where declared.

    >>> from softbleu.corpora.grammar import Derivations
    >>> from softbleu.corpora.grammar import read_grammar
    >>> derivations = Derivations.of(read_grammar("alternations"))
    >>> sorted(set(meaning_network(derivations, derivations.at(0)).words))
    ['', 'by', 'doctor', 'lauded', 'physician', 'praised', 'the', 'was']
    """
    return _Meaning(derivations).network(derivation)


class _Meaning:
    """Puts networks together from those of the parts."""

    def __init__(self, derivations: Derivations) -> None:
        self._words = derivations.words
        grammar = derivations.grammar
        self._forms = alternations_of(grammar)
        mates: dict[object, list[str]] = {}
        keys = []
        for rule in grammar.rules:
            keys.append((rule.symbol, grammar.synonyms.get(rule.word or "", frozenset((rule.word,)))))
            if rule.word is not None:
                mates.setdefault(keys[-1], []).append(rule.word)
        self._mates = [mates.get(key, []) for key in keys]
        self._made = NetworkBuilder()

    def network(self, derivation: Derivation) -> WordNetwork:
        """Make the network of a derivation."""
        end = self._add(derivation, 0)
        return WordNetwork.of(self._made.arcs, 0, [end])

    def _add(self, derivation: Derivation, state: int) -> int:
        number, inner = derivation
        if not inner and self._mates[number]:
            return self._made.step(state, self._mates[number], "grammar")
        below = iter(inner)
        parts = [next(below) if word is None else None for word in self._words[number]]
        forms = [(number, {place: place for place in range(len(parts))}), *self._forms.get(number, [])]
        ends = [self._form(self._words[form], origins, parts, state) for form, origins in forms]
        return ends[0] if len(ends) == 1 else self._made.join(ends, "grammar")

    def _form(
        self, words: Sequence[str | None], origins: dict[int, int], parts: Sequence[Derivation | None], state: int
    ) -> int:
        for place, word in enumerate(words):
            part = parts[origins[place]] if word is None else None
            state = self._made.step(state, [word or ""], "grammar") if part is None else self._add(part, state)
        return state
