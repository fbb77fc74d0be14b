"""References that are networks, as tokens: a line's words, and marks between them that say how arcs go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from softbleu.kernels.lattices import Lattices
from softbleu.networks.lattice import WordNetwork
from softbleu.networks.rules import NetworkRules
from softbleu.tokens import Split, Tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.similarity import WordTable
    from softbleu.tokens import Tokens

_MARK = "\x02"
"""No word begins with it: it is no letter."""
_NEXT = f"{_MARK}>"
"""Mark: on to the next state."""
_PLAIN = f"{_MARK}1{_MARK}0{_MARK}0"
"""What is not said of the arc of the next word."""
_WORD, _ARC, _ON, _NEXT_WORD = range(4)


@dataclass(frozen=True)
class NetworkTokenizer(Tokenizer):
    """Words of candidates, and of references that are networks.

    Examples
    --------
    >>> tokenizer = NetworkTokenizer(rules=NetworkRules("brackets"))
    >>> tokenizer.split(tokenizer.reference("a dog")) == tokenizer.split("a dog")
    False
    """

    rules: NetworkRules = field(default_factory=NetworkRules)
    spelt: ClassVar[bool] = False
    """Whether all words of networks are tokens, so that their vectors can be looked up."""

    @property
    def splits_at_whitespace(self) -> bool:
        """Not if references are networks."""
        return False

    @property
    def by_word(self) -> bool:
        """Never: what references say hangs on their phrases."""
        return False

    def reference(self, line: str) -> str:
        """A line that is marked as a reference."""
        return _MARK + line

    @property
    def splitter(self) -> Split:
        """The function that splits a line."""
        plain = Tokenizer(self.tokenize, self.lowercase).splitter
        rules, spelt = self.rules, self.spelt

        def split(line: str) -> list[str]:
            if not line.startswith(_MARK):
                return plain(line)
            line = line[1:]
            if rules.notation == "text" and not rules.active:
                return plain(line)
            return tokens_of(rules.network(line, plain, "reference"), spelt=spelt)

        return split


@dataclass(frozen=True)
class SpeltNetworkTokenizer(NetworkTokenizer):
    """The same with all words of networks as tokens."""

    spelt: ClassVar[bool] = True


def tokens_of(network: WordNetwork, *, spelt: bool = False) -> list[str]:
    """Tokens of a network: of each state what leaves it, then a mark. Words that are no reference's are in marks.

    >>> network = WordNetwork.chain(["dog"], [(0, 1, ["hound"], 0.2, "synonym")])
    >>> [token.replace(_MARK, "^") for token in tokens_of(network)]
    ['dog', '^1^20^2^hound', '^>']
    """
    tokens: list[str] = []
    state = 0
    columns = (network.sources, network.targets, network.costs, network.kinds)
    for word, source, target, cost, kind in zip(network.words, *(each.tolist() for each in columns), strict=True):
        tokens += [_NEXT] * (source - state)
        state = source
        mark = f"{_MARK}{target - source}{_MARK}{cost}{_MARK}{kind}"
        if word and (spelt or not (cost or kind)):
            tokens += [word] if mark == _PLAIN else [mark, word]
        else:
            tokens.append(f"{mark}{_MARK}{word}")
    return tokens + [_NEXT] * (network.states - 1 - state)


@dataclass(frozen=True)
class NetworkMarks:
    """Features of tokens: what each is in a network, and the steps, cost, kind and word of arcs."""

    def of(self, words: Sequence[str]) -> Mapping[str, NDArray[Any]]:
        """Read the marks."""
        codes = {word: code for code, word in enumerate(words) if not word.startswith(_MARK)}
        codes[""] = -2
        rows = np.zeros((len(words), 5), np.int64)
        rows[:, 1] = 1
        rows[:, 4] = np.arange(len(words))
        for number, word in enumerate(words):
            if word.startswith(_MARK):
                rows[number] = _read_mark(word, codes)
        names = ("role", "steps", "cost", "kind", "word")
        return {f"network_{name}": rows[:, place] for place, name in enumerate(names)}


def _read_mark(mark: str, codes: Mapping[str, int]) -> tuple[int, ...]:
    if mark == _NEXT:
        return _ON, 1, 0, 0, -2
    steps, cost, kind, *word = mark[1:].split(_MARK, 3)
    if not word:
        return _NEXT_WORD, int(steps), int(cost), int(kind), -2
    return _ARC, int(steps), int(cost), int(kind), codes.get(word[0], -1)


def lattices_of(references: Tokens, words: WordTable) -> Lattices:
    """Lattices of references, one a line; a line without marks is its words."""
    codes = references.codes
    role, steps, cost, kind, word = (
        words.feature(f"network_{name}")[codes] for name in ("role", "steps", "cost", "kind", "word")
    )
    line = np.repeat(np.arange(len(references.lengths)), references.lengths)
    marked = np.bincount(line, role == _ON, len(references.lengths)) > 0
    on = (role == _ON) | ((role == _WORD) & ~marked[line])
    state = np.cumsum(on) - on
    first = np.concatenate((state, [int(on.sum())]))[references.offsets[:-1]]
    state = state - first[line]
    marks = np.flatnonzero(role == _NEXT_WORD)
    for values in (steps, cost, kind):
        values[marks + 1] = values[marks]
    arcs = role <= _ARC
    counts = np.bincount(line[arcs], minlength=len(references.lengths))
    states = np.bincount(line, on, len(references.lengths)).astype(np.int64) + 1
    return Lattices(
        np.concatenate(([0], np.cumsum(counts))),
        states,
        states - 1,
        state[arcs],
        (state + steps)[arcs],
        word[arcs].astype(np.int32),
        cost[arcs],
        kind[arcs],
    )


def spelt_arcs(references: Tokens, spelt: Sequence[str]) -> list[str]:
    """Words of the arcs that `lattices_of` finds, in order, `spelt` having the words of the codes."""
    tokens = (spelt[code] for code in references.codes.tolist())
    marked = (token[1:].split(_MARK, 3) if token.startswith(_MARK) else ["", "", "", token] for token in tokens)
    return [parts[3] for parts in marked if len(parts) > 3]
