"""References that are lattices, coded: their surface forms as tokens, and their arcs as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from softbleu.kernels.lattices import Lattices
from softbleu.lattices.lattice import WordNetwork
from softbleu.lattices.rules import NetworkRules
from softbleu.text.tokens import ChangedTokenizer, Tokenizer, Tokens


@dataclass(frozen=True)
class NetworkTokenizer(ChangedTokenizer):
    """Splits lines into words, and makes networks of references.

    >>> tokenizer = NetworkTokenizer(rules=NetworkRules("brackets"))
    >>> tokenizer.split("a (dog|hound)"), tokenizer.network("a (dog|hound)").words
    (['a', '(dog|hound)'], ('a', 'dog', 'hound', '', ''))
    """

    rules: NetworkRules = field(default_factory=NetworkRules)

    def network(self, line: str) -> WordNetwork:
        """Make the network of a reference."""
        return self.rules.network(line, self.splitter, "reference")

    def coded_references(self, texts: Sequence[str], coder: Any) -> LatticeLines:
        """Code references as lattices; each network is made once."""
        return LatticeLines.coded([coder.once(text, self.network) for text in texts], coder.vocabulary)


def network_tokenizer(tokenizer: Tokenizer, rules: NetworkRules) -> Tokenizer:
    """Let a tokenizer make networks of references, where rules make any: text by itself stays a line."""
    if rules.notation == "text" and not rules.active:
        return tokenizer.plain
    return NetworkTokenizer(tokenizer, rules)


@dataclass(frozen=True)
class LatticeLines(Tokens):
    """References that are lattices, beside lines of tokens: the words of the references that they were made of."""

    lattices: Lattices
    arc_words: NDArray[Any]  # The words of the arcs, as text

    @classmethod
    def coded(cls, networks: Sequence[WordNetwork], codes: Mapping[str, int]) -> LatticeLines:
        """Code networks; a word that is no token and has no code gets -1."""
        lines = [_own_words(network) for network in networks]
        tokens = np.array([codes[word] for line in lines for word in line], np.int32)
        words = [word for network in networks for word in network.words]
        numbers = np.array([codes.get(word, -1) if word else -2 for word in words], np.int32)
        states = np.array([network.states for network in networks], np.int64)

        def joined(name: str) -> NDArray[np.int64]:
            return np.concatenate([np.zeros(0, np.int64), *(getattr(network, name) for network in networks)])

        lattices = Lattices(
            np.cumsum([0, *map(len, networks)]),
            states,
            joined("sources"),
            joined("targets"),
            numbers,
            joined("costs"),
            joined("kinds"),
        )
        return cls(tokens, np.cumsum([0, *map(len, lines)]), lattices, np.array(words, object))

    def lines(self, start: int, stop: int) -> Self:
        """Lines start to stop - 1."""
        return self.chosen(np.arange(start, stop))

    def _with(self, codes: NDArray[np.int32], offsets: NDArray[np.int64], lines: NDArray[np.int64]) -> Self:
        lattices, arcs = self.lattices.chosen(lines)
        return type(self)(codes, offsets, lattices, self.arc_words[arcs])


def _own_words(network: WordNetwork) -> list[str]:
    """Words of the reference that a network was made of.

    >>> _own_words(WordNetwork.chain(["dog"], [(0, 1, ["hound"], 0.2, "synonym")]))
    ['dog']
    """
    own = ((network.costs == 0) & (network.kinds == 0)).tolist()
    return [word for word, known in zip(network.words, own, strict=True) if word and known]


def lattices_of(references: Tokens) -> Lattices:
    """Lattices of references: one a line, whose words are its only path, unless they are lattices."""
    if isinstance(references, LatticeLines):
        return references.lattices
    lengths = references.lengths
    sources = np.arange(len(references.codes)) - np.repeat(references.offsets[:-1], lengths)
    nothing = np.zeros(len(references.codes), np.int64)
    return Lattices(references.offsets, lengths + 1, sources, sources + 1, references.codes, nothing, nothing)


def arc_words(references: Tokens, surface_forms: Sequence[str]) -> list[str]:
    """Words of the arcs that `lattices_of` finds, in order, `surface_forms` being those of the codes."""
    if isinstance(references, LatticeLines):
        return list(references.arc_words)
    return [surface_forms[code] for code in references.codes.tolist()]
