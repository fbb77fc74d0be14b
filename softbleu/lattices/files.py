"""Corpora of networks: read from files in any notation, drawn from grammars."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from softbleu.corpora.files import open_text
from softbleu.corpora.grammar import Chance, Derivations, read_grammar
from softbleu.errors import InputError, Parameter
from softbleu.lattices.build import meaning_network
from softbleu.lattices.lattice import WordNetwork
from softbleu.lattices.rules import NetworkRules
from softbleu.lattices.texts import PARSERS


def read_network(name: str, number: int, notation: str = "network", encoding: str = "utf-8") -> WordNetwork:
    """Read the network in a line of a file, from 1; an `InputError` names file and line."""
    count = 0
    for count, line in enumerate(open_text(name, encoding), start=1):
        if count == number:
            return PARSERS[notation](line, f"{name}, line {number}")
    raise InputError(f"{name}: no network {number}: it has {count}")


def networks_of(
    names: Sequence[str], rules: NetworkRules, split: Callable[[str], Sequence[str]], shared: int, encoding: str
) -> Iterator[WordNetwork]:
    """Read or make the network of each line of a file, or of the texts in each line of several files.

    Paths of these join where they share so many consecutive words.
    """
    if len(names) > 1 and rules.notation != "text":
        said = f"one file of notation {rules.notation!r} at a time: leave out all "
        raise InputError(said, Parameter("references"), " but one")
    for number, texts in enumerate(parallel_lines(names, encoding), start=1):
        if len(texts) == 1:
            yield rules.network(texts[0], split, f"{names[0]}, line {number}")
        else:
            yield rules.merged([split(text) for text in texts], shared)


def draw_meanings(grammar: str, count: int, seed: int = 0) -> Iterator[WordNetwork]:
    """Draw sentences of a grammar, and give the networks of all that says the same."""
    derivations = Derivations.of(read_grammar(grammar))
    derivations.check_drawing(uniform=False)
    chance = Chance(seed)
    for _ in range(count):
        yield meaning_network(derivations, derivations.draw(chance))


def parallel_lines(names: Sequence[str], encoding: str = "utf-8") -> Iterator[tuple[str, ...]]:
    """Lines of files that stand side by side; an `InputError` where one has fewer."""
    try:
        yield from zip(*(open_text(name, encoding) for name in names), strict=True)
    except ValueError:
        raise InputError(f"different numbers of lines: {', '.join(names)} must have as many each") from None
