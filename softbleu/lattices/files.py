"""Corpora of networks: read from files in any notation, or drawn from grammars with their paraphrases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from softbleu.corpora.files import open_text
from softbleu.corpora.grammar import Chance, Derivation, Derivations, alternations_of, read_grammar
from softbleu.errors import InputError, Parameter
from softbleu.lattices.lattice import PARSERS, NetworkBuilder, WordNetwork
from softbleu.lattices.rules import NetworkRules


def read_network(name: str, number: int, notation: str = "network", encoding: str = "utf-8") -> WordNetwork:
    """Read the network in a line of a file, counted from 1; an `InputError` names file and line."""
    count = 0
    for count, line in enumerate(open_text(name, encoding), start=1):
        if count == number:
            return PARSERS[notation](line, f"{name}, line {number}")
    raise InputError(f"{name}: no network {number}: it has {count}")


def networks_of(
    names: Sequence[str], rules: NetworkRules, split: Callable[[str], Sequence[str]], shared: int, encoding: str
) -> Iterator[WordNetwork]:
    """Read or make a network for each line of a file, or of several parallel files.

    Texts of several files are merged where they share `shared` consecutive words or more.
    """
    if len(names) > 1 and rules.notation != "text":
        message = f"one file of notation {rules.notation!r} at a time: leave out all "
        raise InputError(message, Parameter("references"), " but one")
    for number, texts in enumerate(parallel_lines(names, encoding), start=1):
        if len(texts) == 1:
            yield rules.network(texts[0], split, f"{names[0]}, line {number}")
        else:
            yield rules.merged([split(text) for text in texts], shared)


def draw_meanings(grammar: str, count: int, seed: int = 0) -> Iterator[WordNetwork]:
    """Draw sentences of a grammar, and yield the networks of all their paraphrases."""
    derivations = Derivations.of(read_grammar(grammar))
    derivations.check_drawing(uniform=False)
    chance = Chance(seed)
    for _ in range(count):
        yield meaning_network(derivations, derivations.draw(chance))


def parallel_lines(names: Sequence[str], encoding: str = "utf-8") -> Iterator[tuple[str, ...]]:
    """Yield the lines of parallel files; raise InputError if their numbers of lines differ."""
    try:
        yield from zip(*(open_text(name, encoding) for name in names), strict=True)
    except ValueError:
        raise InputError(f"different numbers of lines: {', '.join(names)} must have as many each") from None


def meaning_network(derivations: Derivations, derivation: Derivation) -> WordNetwork:
    """Make the network of all paraphrases of a derivation: synonyms, and declared alternations.

    >>> from softbleu.corpora.grammar import Derivations, read_grammar
    >>> derivations = Derivations.of(read_grammar("alternations"))
    >>> sorted(set(meaning_network(derivations, derivations.at(0)).words))
    ['', 'by', 'doctor', 'lauded', 'physician', 'praised', 'the', 'was']
    """
    return _Meaning(derivations).network(derivation)


class _Meaning:
    """Builder of the network of a derivation from the networks of its parts."""

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
