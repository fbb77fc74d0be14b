"""What METEOR asks of single words, and all possible matches of candidates with references, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.kernels.scale import SCALE
from softbleu.matching.similarity import round_millionths, threshold_in_millionths
from softbleu.text.tokens import Tokens
from softbleu.thesaurus.resources import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.similarity import Vectors, WordTable
    from softbleu.thesaurus.resources import MeteorData, MeteorTables
    from softbleu.types import Flags, Integers

_WORDS = """
    's 't a about after all also an and are as at be been but by can could first for from had has have he her his i if
    in into is it its last more new no not of on one or other out over people s said she so some than that the their
    there they this time to two up was we were what when which who will with would year years you
    , . " ' ’ ” “ : ? $ ( ) - -- — -lrb- -rrb-
"""
METEOR_FUNCTION_WORDS = frozenset(_WORDS.split())  # In any case; what METEOR 1.5 was seen to take for such


@dataclass(frozen=True)
class MeteorWords:
    """Features of words: `meteor_word`, `meteor_function`, `meteor_stem`, `meteor_synsets`, `meteor_phrase_word`."""

    stages: tuple[str, ...]
    data: MeteorData | None
    lowercase: bool = False  # Whether words are looked up in lower case, not as they are written

    def of(self, words: Sequence[str]) -> Mapping[str, NDArray[Any]]:
        """Compute the features of these words."""
        words = [word.lower() for word in words] if self.lowercase else words
        found: dict[str, NDArray[Any]] = {
            "meteor_function": np.array([w.lower() in METEOR_FUNCTION_WORDS for w in words], bool)
        }
        found["meteor_word"] = np.array([code(word) for word in words], np.int64)
        if "stem" in self.stages:
            found["meteor_stem"] = np.array([code(stem(word)) for word in words], np.int64)
        if self.data is None:
            return found
        tables = self.data.open()
        if "synonym" in self.stages:
            parts = tables.synsets(words)
            found["meteor_synsets"] = np.concatenate([np.zeros(0, np.int64), *parts])
            found["meteor_synsets_bounds"] = np.cumsum([0, *map(len, parts)])
        if "paraphrase" in self.stages:
            found["meteor_phrase_word"] = tables.word_numbers(words)
        return found


def code(word: str) -> int:
    """Hash of a word as Java has it: to the program words, and stems, of equal hashes are equal, such as d' and be.

    >>> code("d'") == code("be"), code("cat") == code("act")
    (True, False)
    """
    found = 0
    units = word.encode("utf-16-le", "surrogatepass")
    for low, high in zip(units[::2], units[1::2], strict=True):
        found = (31 * found + low + 256 * high) & 0xFFFFFFFF
    return found


STAGES = ("exact", "stem", "synonym", "paraphrase")


@dataclass(frozen=True)
class WordMatches:
    """WordMatches of many segments; positions count the words of all lines of a text."""

    segment: Integers
    place: Integers  # Where each starts in the references
    size: Integers  # How many words of the reference it covers
    start: Integers
    width: Integers  # The same in the candidates
    stage: Integers

    def chosen(self, which: Flags | Integers) -> WordMatches:
        """Some of them."""
        return WordMatches(*(each[which] for each in vars(self).values()))


@dataclass(frozen=True)
class _Side:
    """A text: its words' codes, what the program takes for the same word, the line of each, and where that ends."""

    codes: Integers
    same: Integers
    line: Integers
    ends: Integers

    @classmethod
    def of(cls, tokens: Tokens, words: WordTable) -> _Side:
        line = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)
        return cls(
            tokens.codes.astype(np.int64), words.feature("meteor_word")[tokens.codes], line, tokens.offsets[1:][line]
        )


def find_matches(
    candidates: Tokens,
    references: Tokens,
    stages: tuple[str, ...],
    words: WordTable,
    tables: MeteorTables | None,
    similar: tuple[Integers, Integers] | None = None,
) -> WordMatches:
    """Find the matches of all stages, those of a segment in the order in which the search tries them.

    Equal lines are matched exactly only. Where two words are equal, they match by no other stage. Paraphrases stand
    in the table either way round; one that does both ways is found twice. Words that are `similar`, given as
    positions, come last, where they match by no other stage.
    """
    left, right = _Side.of(candidates, words), _Side.of(references, words)
    differ = ~_equal_lines(Tokens(left.same, candidates.offsets), Tokens(right.same, references.offsets))  # type: ignore[arg-type]
    found: list[WordMatches] = []
    orders: list[tuple[Integers, Integers, Integers, Integers]] = []
    for number, stage in enumerate(STAGES[:3]):
        if stage not in stages:
            continue
        ours, theirs = _pairs(stage, left, right, words)
        if number:
            kept = differ[left.line[ours]] & (left.same[ours] != right.same[theirs])
            ours, theirs = ours[kept], theirs[kept]
        one = np.ones(len(ours), np.int64)
        found.append(WordMatches(left.line[ours], theirs, one, ours, one, number * one))
        orders.append((number * one, ours, one, one))
    if "paraphrase" in stages and tables is not None:
        for number, (own, rank) in enumerate(_paraphrases(left, right, differ, words, tables)):
            by_reference = (own.size, rank, own.start)
            by_candidate = (own.start, own.width, rank)
            found.append(own)
            orders.append((own.stage + number, *(by_candidate if number else by_reference)))
    if similar is not None:
        ours, theirs = similar
        kept = differ[left.line[ours]] & (left.same[ours] != right.same[theirs])
        kept &= ~np.isin(ours * len(right.codes) + theirs, _single_pairs(found, len(right.codes)))
        ours, theirs = ours[kept], theirs[kept]
        one = np.ones(len(ours), np.int64)
        found.append(WordMatches(left.line[ours], theirs, one, ours, one, len(STAGES) * one))
        orders.append(((len(STAGES) + 1) * one, ours, one, one))
    together = WordMatches(
        *(np.concatenate(each) for each in zip(*(vars(own).values() for own in found), strict=True))
    )
    kind, first, second, third = (np.concatenate(each) for each in zip(*orders, strict=True))
    return together.chosen(np.lexsort((third, second, first, kind, together.place, together.segment)))


def _single_pairs(found: list[WordMatches], words: int) -> Integers:
    """Numbers of the pairs of single words that match already."""
    single = [each.chosen(each.size * each.width == 1) for each in found]
    pairs = [each.start * words + each.place for each in single]
    return np.concatenate([np.zeros(0, np.int64), *pairs])


def similar_pairs(chunk: Chunk, vectors: Vectors, threshold: float) -> tuple[Integers, Integers]:
    """Positions of the words of candidates and of their references that are more alike than a threshold."""
    unit, places = vectors.unit(chunk, by_frequency=False)
    split, least = len(chunk.candidates.codes), threshold_in_millionths(threshold)
    ours, theirs = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    lines = (pairwise(text.offsets.tolist()) for text in (chunk.candidates, chunk.references))
    for (start, end), (first, last) in zip(*lines, strict=True):
        if start < end and first < last:
            _, products = unit.products(places[start:end][None], places[split + first : split + last][None])
            row, column = np.nonzero(round_millionths(SCALE * products[0]) > least)
            ours.append(row + start)
            theirs.append(column + first)
    return np.concatenate(ours), np.concatenate(theirs)


def _equal_lines(candidates: Tokens, references: Tokens) -> Flags:
    """Which lines have the same words."""
    equal: Flags = candidates.lengths == references.lengths
    compared = np.flatnonzero(equal)
    one, other = candidates.chosen(compared), references.chosen(compared)
    wrong = np.flatnonzero(one.codes != other.codes)
    equal[compared[np.searchsorted(one.offsets, wrong, side="right") - 1]] = False
    return equal


def _pairs(stage: str, left: _Side, right: _Side, words: WordTable) -> tuple[Integers, Integers]:
    """Positions of the words that match by a stage."""
    if stage == "synonym":
        # Words may share several sets.
        parts = words.parts("meteor_synsets")
        sides = []
        for side in (left, right):
            spread = Tokens(side.codes, np.arange(len(side.codes) + 1)).spread(parts)  # type: ignore[arg-type]
            position = np.repeat(np.arange(len(side.codes)), spread.lengths)
            sides.append((side.line[position], spread.codes.astype(np.int64), position))
        ours, theirs = _joined(*sides[0][:2], *sides[1][:2])
        pairs = np.unique(sides[0][2][ours] * len(right.codes) + sides[1][2][theirs])
        return np.divmod(pairs, max(len(right.codes), 1))
    values = [side.same if stage == "exact" else words.feature("meteor_stem")[side.codes] for side in (left, right)]
    return _joined(left.line, values[0], right.line, values[1])


def _joined(
    line: Integers, value: Integers, other_line: Integers, other_value: Integers
) -> tuple[Integers, Integers]:
    """Places of equal values in equal lines."""
    count = 1 + max(int(value.max(initial=0)), int(other_value.max(initial=0)))
    keys, others = line * count + value, other_line * count + other_value
    order = np.argsort(others, kind="stable")
    ranked = others[order]
    first, last = (np.searchsorted(ranked, keys, side) for side in ("left", "right"))
    counts = last - first
    ours = np.repeat(np.arange(len(keys)), counts)
    places = np.arange(len(ours)) + np.repeat(first - (np.cumsum(counts) - counts), counts)
    return ours, order[places]


def _paraphrases(
    left: _Side, right: _Side, differ: Flags, words: WordTable, tables: MeteorTables
) -> list[tuple[WordMatches, Integers]]:
    """WordMatches of phrases from the reference to the candidate, then the other way, with their ranks."""
    numbers = words.feature("meteor_phrase_word")
    sides = []
    for side in (left, right):
        starts, lengths, nodes = tables.phrases(numbers[side.codes], side.ends)
        kept = differ[side.line[starts]]
        starts, lengths, nodes = starts[kept], lengths[kept], nodes[kept]
        sides.append((side.line[starts], starts, lengths, nodes))
    found = []
    for swapped in (True, False):
        (line, starts, lengths, nodes), (other_line, other_starts, other_lengths, other_nodes) = (
            sides[::-1] if swapped else sides
        )
        wanted = np.zeros(tables.nodes, bool)
        wanted[other_nodes] = True
        distinct, which = np.unique(nodes, return_inverse=True)
        # Each phrase is looked up once, then what was found is spread over the places where it stands.
        owner, targets, ranks = tables.paraphrases(distinct, wanted)
        bounds = np.searchsorted(owner, np.arange(len(distinct) + 1))
        counts = np.diff(bounds)[which]
        place = np.repeat(np.arange(len(nodes)), counts)
        entry = np.arange(len(place)) + np.repeat(bounds[which] - (np.cumsum(counts) - counts), counts)
        ours, theirs = _joined(line[place], targets[entry], other_line, other_nodes)
        place, rank = place[ours], ranks[entry[ours]]
        one = (starts[place], lengths[place])
        other = (other_starts[theirs], other_lengths[theirs])
        stage = np.full(len(place), 3)
        in_reference, in_candidate = (one, other) if swapped else (other, one)
        found.append((WordMatches(line[place], *in_reference, *in_candidate, stage), rank))
    return found
