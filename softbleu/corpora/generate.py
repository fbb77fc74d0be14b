"""Artificial corpora: sentences of a grammar, alone or in pairs, all of them or drawn by a seed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from softbleu.config.declare import Declared, setting
from softbleu.corpora.aligned import AlignedPair, Seen, distinct_numbers, pair_halves
from softbleu.corpora.derivations import Chance, Derivation, Derivations
from softbleu.corpora.grammar import read_grammar
from softbleu.corpora.paraphrase import Paraphraser, ParaphraseSettings
from softbleu.corpora.records import SEPARATOR
from softbleu.errors import InputError, Parameter, known_name
from softbleu.types import Progress

Pairing = Literal["none", "halves", "paraphrase"]
DerivationSampling = Literal["weights", "uniform"]
Item = TypeVar("Item")
_Line = dict[str, Any]  # What a line has, by name

FRUITLESS = 100_000  # Repetitions in a row after which there is probably nothing new to find
_STEP = 1000
_MOST = 10**15


@dataclass(frozen=True)
class GenerationSettings(Declared):
    """Settings of an artificial corpus; together with the version of the package it determines every byte."""

    grammar: str = setting("morgan2014", "Name or file of a grammar, see `read_grammar`")
    pairing: Pairing = setting("none", "Sentences alone, paired at random without repetition, or with paraphrases")
    seed: int = setting(0, "The same seed gives the same corpus", least=0, most=_MOST)
    count: int | None = setting(None, "How many sentences or pairs", least=1, most=_MOST)
    every: bool = setting(False, "All sentences of the grammar, in their order, instead of a count")
    max_depth: int | None = setting(None, "Greatest height of a derivation, words counted", least=1, most=_MOST)
    sampling: DerivationSampling = setting("weights", "Draw by the weights of the rules, or all equally likely")
    distinct: bool = setting(False, "Draw nothing twice")
    paraphrase: ParaphraseSettings = setting(factory=ParaphraseSettings)
    encoding: str = setting("utf-8", "Of the grammar's file")

    def check(self) -> None:
        """See that the settings go together."""
        if self.count is not None and self.every:
            raise InputError(Parameter("count"), " and ", Parameter("every"), " exclude each other")
        if self.count is None and not self.every and self.pairing != "halves":
            raise InputError("how many? give ", Parameter("count"), ", or ", Parameter("every"))


@dataclass(frozen=True)
class Generated:
    """A corpus that can be made: as often as wanted, each time the same. Make it with `generate`."""

    settings: GenerationSettings
    derivations: Derivations
    total: int  # Sentences or pairs there will be
    numbers: NDArray[np.int64] | None = None  # Of all sentences, one derivation each; None if they are drawn

    def sentences(self) -> Iterator[str]:
        """Make the sentences of the pairing `none`."""
        _check_pairing(self.settings.pairing == "none", "sentences")
        sentences = (
            " ".join(self.derivations.sentence(derivation))
            for derivation in self._derivations(Chance(self.settings.seed))
        )
        return self._limit(sentences, str)

    def pairs(self) -> Iterator[AlignedPair]:
        """Make the pairs of the other pairings."""
        _check_pairing(self.settings.pairing != "none", "pairs")
        if self.numbers is not None and self.settings.pairing == "halves":
            return islice(pair_halves(self.derivations, self.settings.seed, self.numbers), self.total)
        chance = Chance(self.settings.seed)
        paraphraser = Paraphraser(self.derivations, self.settings.paraphrase, chance)
        return self._limit(map(paraphraser.pair, self._derivations(chance)), _key)

    def lines(self, file_format: str | None = None, progress: Progress | None = None) -> Iterator[str]:
        """Write the lines of a file: plain, tsv or jsonl for sentences, pairs, tsv or jsonl for pairs."""
        what = "sentences" if self.settings.pairing == "none" else "pairs"
        write = FORMATS[known_name(f"format of {what}", file_format or FORMAT_NAMES[what][0], FORMAT_NAMES[what])]
        if what == "sentences":
            rows: Iterator[_Line] = ({"sentence": sentence} for sentence in self.sentences())
        else:
            rows = (
                {
                    "candidate": " ".join(pair.candidate),
                    "reference": " ".join(pair.reference),
                    "alignment": pair.alignment,
                    "label": pair.label,
                }
                for pair in self.pairs()
            )
        return write(_watch(rows, self.total, progress), self.derivations.grammar.name)

    def _derivations(self, chance: Chance) -> Iterator[Derivation]:
        """Those of all sentences, in their order; or random ones without end."""
        if self.numbers is not None:
            yield from map(self.derivations.at, map(int, self.numbers))
            return
        draw = self.derivations.draw if self.settings.sampling == "weights" else self.derivations.draw_uniformly
        while True:
            yield draw(chance)

    def _limit(self, items: Iterator[Item], key: Callable[[Item], str]) -> Iterator[Item]:
        if self.settings.every:
            return items
        if self.settings.distinct:
            items = _drop_repeated(items, key)
        return islice(items, self.total)


def generate(settings: GenerationSettings) -> Generated:
    r"""Prepare an artificial corpus: read the grammar and see that it has as many sentences as are wanted.

    The corpus makes its sentences, pairs and lines as they are asked for. Drawing remembers nothing unless it is to
    be `distinct`. Raises `InputError`: the grammar cannot be used, or does not have that many sentences.

    >>> halves = generate(GenerationSettings(pairing="halves"))
    >>> halves.total
    504
    >>> next(halves.lines("pairs"))
    'a boy walked around the store ||| the person went to a supermarket\n'
    >>> print(*generate(GenerationSettings(grammar="modifiers", count=2, seed=2)).sentences(), sep="\n")
    that sailor helped the little attorney rapidly
    one quick small attorney visited one neighbour who quickly helped that sad sailor
    """
    halves = settings.pairing == "halves"
    grammar = read_grammar(settings.grammar, settings.encoding)
    derivations = Derivations.of(grammar, settings.max_depth, exhaustive=settings.every or halves)
    numbers = distinct_numbers(derivations) if halves or settings.every else None
    if numbers is not None:
        available = len(numbers) // 2 if halves else len(numbers)
    else:
        derivations.check_drawing(uniform=settings.sampling == "uniform")
        bounded = settings.distinct and settings.pairing == "none"
        available = derivations.capped_count if bounded else settings.count or 0
    if available == 0:
        raise InputError(f"{grammar.name} has one sentence only: nothing to pair it with")
    if settings.count is not None and settings.count > available:
        what = "pairs without repetition" if halves else "sentences"
        raise InputError(f"{grammar.name} has {available:,} {what}: lower ", Parameter("count", settings.count))
    return Generated(settings, derivations, settings.count or available, numbers)


def _key(pair: AlignedPair) -> str:
    return f"{' '.join(pair.candidate)} {SEPARATOR} {' '.join(pair.reference)}"


def _check_pairing(fits: bool, what: str) -> None:
    if not fits:
        raise InputError(f"this pairing gives no {what}")


def _tab_separated(rows: Iterator[_Line], grammar: str) -> Iterator[str]:
    """Write rows under a line of names; an alignment as ``0-0 1-2``."""
    for number, row in enumerate(rows):
        if not number:
            yield "\t".join(row) + "\n"
        cells = (
            " ".join(f"{left}-{right}" for left, right in value) if name == "alignment" else value
            for name, value in row.items()
        )
        yield "\t".join(cells) + "\n"


_encode = json.JSONEncoder(ensure_ascii=False).encode
FORMATS: dict[str, Callable[[Iterator[_Line], str], Iterator[str]]] = {
    "plain": lambda rows, grammar: (f"{row['sentence']}\n" for row in rows),
    "pairs": lambda rows, grammar: (f"{row['candidate']} {SEPARATOR} {row['reference']}\n" for row in rows),
    "tsv": _tab_separated,
    "jsonl": lambda rows, grammar: (_encode({**row, "grammar": grammar}) + "\n" for row in rows),
}
FORMAT_NAMES = {"sentences": ("plain", "tsv", "jsonl"), "pairs": ("pairs", "tsv", "jsonl")}
"""Formats of sentences and of pairs, the default first."""


def _drop_repeated(items: Iterator[Item], key: Callable[[Item], str]) -> Iterator[Item]:
    seen = Seen()
    repeated = different = 0
    for item in items:
        if seen.add(key(item)):
            repeated = 0
            different += 1
            yield item
        elif (repeated := repeated + 1) >= FRUITLESS:
            said = f"only {different:,} different ones different, then none in {FRUITLESS:,} draws: lower "
            raise InputError(said, Parameter("count"))


def _watch(items: Iterator[Item], total: int, progress: Progress | None) -> Iterator[Item]:
    for number, item in enumerate(items):
        if progress is not None and number % _STEP == 0:
            progress(number, total)
        yield item
    if progress is not None:
        progress(total, total)


def format_for(output: str | None) -> str | None:
    """Format that the suffix of a file asks for; None for the default.

    >>> format_for("pairs.jsonl"), format_for("pairs.txt"), format_for(None)
    ('jsonl', None, None)
    """
    suffix = "" if output is None else output.removesuffix(".gz").rpartition(".")[2].lower()
    return suffix if suffix in ("tsv", "jsonl") else None
