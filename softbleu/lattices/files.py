"""Corpora of networks: read from files in any notation, drawn from grammars, described."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from softbleu.corpora.derivations import Chance, Derivations
from softbleu.corpora.files import open_text
from softbleu.corpora.grammar import read_grammar
from softbleu.errors import InputError
from softbleu.lattices.build import meaning_network
from softbleu.lattices.lattice import ARC_KINDS, WordNetwork
from softbleu.lattices.paths import count_texts
from softbleu.lattices.texts import parse_brackets, parse_line

FileNotation = Literal["network", "brackets"]
FILE_NOTATIONS = get_args(FileNotation)


def read_networks(name: str, notation: FileNotation = "network", encoding: str = "utf-8") -> Iterator[WordNetwork]:
    """Read the networks of a file, one a line; an `InputError` names file and line."""
    lines = open_text(name, encoding)
    parse = parse_brackets if notation == "brackets" else parse_line
    for number, line in enumerate(lines, start=1):
        yield parse(line, f"{name}, line {number}")


def pick_network(networks: Iterable[WordNetwork], number: int, name: str) -> WordNetwork:
    """Take the network of a number, from 1."""
    seen = 0
    for seen, network in enumerate(networks, start=1):
        if seen == number:
            return network
    raise InputError(f"{name}: no network {number}: it has {seen}")


def draw_meanings(grammar: str, count: int, seed: int = 0) -> Iterator[WordNetwork]:
    """Draw sentences of a grammar, and give the networks of all that says the same."""
    derivations = Derivations.of(read_grammar(grammar))
    derivations.check_drawing(uniform=False)
    chance = Chance(seed)
    for _ in range(count):
        yield meaning_network(derivations, derivations.draw(chance))


@dataclass(frozen=True)
class NetworkFacts:
    """How large the networks of a corpus are."""

    networks: int
    states: int  # Of all together
    arcs: int
    references: tuple[int, int, int]  # Different ones: the fewest, the median and the most of a network
    kinds: dict[str, tuple[int, float]]  # Arcs of each kind that there is, and their mean cost


def describe_networks(networks: Iterable[WordNetwork]) -> NetworkFacts:
    """Count what networks have.

    >>> describe_networks([parse_brackets("a [big] (dog|hound)")]).references
    (4, 4, 4)
    """
    counts: list[int] = []
    states = 0
    kinds: Counter[str] = Counter()
    costs: Counter[str] = Counter()
    for network in networks:
        counts.append(count_texts(network))
        states += network.states
        numbers = np.bincount(network.kinds, minlength=len(ARC_KINDS)).tolist()
        sums = np.bincount(network.kinds, network.costs, len(ARC_KINDS)).tolist()
        kinds.update(dict(zip(ARC_KINDS, numbers, strict=True)))
        costs.update({kind: round(cost) for kind, cost in zip(ARC_KINDS, sums, strict=True)})
    if not counts:
        raise InputError("no networks are in it: write one a line")
    ranked = sorted(counts)
    return NetworkFacts(
        len(counts),
        states,
        sum(kinds.values()),
        (ranked[0], ranked[len(ranked) // 2], ranked[-1]),
        {kind: (number, costs[kind] / number / 100) for kind, number in kinds.items() if number},
    )


def plain_count(references: int) -> str:
    """Write how many there are; Python writes numbers of up to 4,300 digits.

    >>> plain_count(2**20), plain_count(2**20_000)
    ('1048576', 'at least 2^20000')
    """
    power = references.bit_length() - 1
    return str(references) if power < 10_000 else f"at least 2^{power}"


def parallel_lines(names: Sequence[str], encoding: str = "utf-8") -> Iterator[tuple[str, ...]]:
    """Lines of files that stand side by side; an `InputError` where one has fewer."""
    try:
        yield from zip(*(open_text(name, encoding) for name in names), strict=True)
    except ValueError:
        raise InputError(f"different numbers of lines: {', '.join(names)} must have as many each") from None
