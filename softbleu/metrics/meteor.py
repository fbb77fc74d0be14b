"""METEOR 1.5: a mean of precision and recall over aligned words, less a penalty for scattered ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from softbleu.config.declare import setting
from softbleu.config.languages import language_of_data
from softbleu.errors import InputError, Parameter
from softbleu.io.arguments import Limit
from softbleu.kernels import SCALE, Kernels
from softbleu.kernels.beam import best_matches
from softbleu.matching.ngrams import Chunk, Vectors, WordTable, round_millionths, threshold_in_millionths
from softbleu.metrics.aggregation import best_rows
from softbleu.metrics.base import Metric
from softbleu.metrics.protocols import Mark, WordPair, marks_of_pairs
from softbleu.metrics.requirements import Requirements, needed
from softbleu.metrics.score import Score, ScoreColumns, column
from softbleu.metrics.settings import tokenizer_setting
from softbleu.text.coded import Tokens
from softbleu.text.meteor import MeteorData, needed_data
from softbleu.text.tokens import Blanks, Tokenizer, data_setting, meteor_language
from softbleu.thesaurus.resources import MeteorTables, open_tables, stem

if TYPE_CHECKING:
    from softbleu.types import Array, Flags, Floats, Integers

_WORDS = """
    's 't a about after all also an and are as at be been but by can could first for from had has have he her his i if
    in into is it its last more new no not of on one or other out over people s said she so some than that the their
    there they this time to two up was we were what when which who will with would year years you
    , . " ' ’ ” “ : ? $ ( ) - -- — -lrb- -rrb-
"""
METEOR_FUNCTION_WORDS = frozenset(_WORDS.split())  # In any case; as METEOR 1.5 takes them


@dataclass(frozen=True)
class MeteorWords:
    """Features of words: `meteor_word`, `meteor_function`, `meteor_stem`, `meteor_synsets`, `meteor_phrase_word`."""

    stages: tuple[str, ...]
    data: MeteorData | None
    language: str = "en"
    lowercase: bool = False  # Whether words are looked up in lower case, not as they are written

    def of(self, words: Sequence[str]) -> Mapping[str, Array]:
        """Compute the features of these words."""
        words = [word.lower() for word in words] if self.lowercase else words
        # Of any language: the program has lists of other languages, but was seen to look at this one only.
        features: dict[str, Array] = {
            "meteor_function": np.array([w.lower() in METEOR_FUNCTION_WORDS for w in words], bool)
        }
        features["meteor_word"] = np.array([code(word) for word in words], np.int64)
        if "stem" in self.stages:
            features["meteor_stem"] = np.array([code(stem(word, self.language)) for word in words], np.int64)
        if self.data is None:
            return features
        tables = open_tables(self.data)
        if "synonym" in self.stages:
            parts = tables.synsets(words)
            features["meteor_synsets"] = np.concatenate([np.zeros(0, np.int64), *parts])
            features["meteor_synsets_bounds"] = np.cumsum([0, *map(len, parts)])
        if "paraphrase" in self.stages:
            features["meteor_phrase_word"] = tables.word_numbers(words)
        return features


def code(word: str) -> int:
    """Compute Java's hash of a word: to the program words, and stems, of equal hashes are equal, such as d' and be.

    >>> code("d'") == code("be"), code("cat") == code("act")
    (True, False)
    """
    number = 0
    units = word.encode("utf-16-le", "surrogatepass")
    for low, high in zip(units[::2], units[1::2], strict=True):
        number = (31 * number + low + 256 * high) & 0xFFFFFFFF
    return number


_LIMIT = Limit("meteor", "pairs of words", 1 << 27, "a document of 3,000 words: 9,000,000")  # Of one reference
_MATCHES = Limit("meteor", "pairs of equal words", 1 << 22, "a document of 3,000 words: 100,000")
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
        """Return the matches selected by `mask`."""
        return WordMatches(*(columns[which] for columns in vars(self).values()))


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
    """Find the matches of all stages, for a segment in the order in which the search tries them.

    `candidates` and `references` are the same segments. `tables` have the data of synonyms and paraphrases, for
    `stages` that need some.

    Equal lines are matched exactly only. Where two words are equal, they match by no other stage. Paraphrases stand
    in the table either way round; one that does both ways is found twice. Words that are `similar`, given as
    positions, come last, where they match by no other stage.
    """
    left, right = _Side.of(candidates, words), _Side.of(references, words)
    one, other = (side.same.astype(np.int32) for side in (left, right))
    differ = ~equal_lines(Tokens(one, candidates.offsets), Tokens(other, references.offsets))
    by_stage: list[WordMatches] = []
    orders: list[tuple[Integers, Integers, Integers, Integers]] = []

    def take(stage: int, kind: int, ours: Integers, theirs: Integers) -> None:
        """Take pairs of single words, which stand at these places."""
        if stage:
            differing = differ[left.line[ours]] & (left.same[ours] != right.same[theirs])
            ours, theirs = ours[differing], theirs[differing]
        one = np.ones(len(ours), np.int64)
        by_stage.append(WordMatches(left.line[ours], theirs, one, ours, one, stage * one))
        orders.append((kind * one, ours, one, one))

    for number, stage in enumerate(STAGES[:3]):
        if stage in stages:
            take(number, number, *_pairs(stage, left, right, words))
    if "paraphrase" in stages and tables is not None:
        for number, (paraphrases, rank) in enumerate(_paraphrases(left, right, differ, words, tables)):
            by_reference = (paraphrases.size, rank, paraphrases.start)
            by_candidate = (paraphrases.start, paraphrases.width, rank)
            by_stage.append(paraphrases)
            orders.append((paraphrases.stage + number, *(by_candidate if number else by_reference)))
    if similar is not None:
        ours, theirs = similar
        new = ~np.isin(ours * len(right.codes) + theirs, _single_pairs(by_stage, len(right.codes)))
        take(len(STAGES), len(STAGES) + 1, ours[new], theirs[new])
    together = WordMatches(
        *(np.concatenate(row) for row in zip(*(vars(matches).values() for matches in by_stage), strict=True))
    )
    kind, first, second, third = (np.concatenate(row) for row in zip(*orders, strict=True))
    return together.chosen(np.lexsort((third, second, first, kind, together.place, together.segment)))


def _single_pairs(stages: list[WordMatches], words: int) -> Integers:
    """Numbers of the pairs of single words that match already."""
    single = [matches.chosen(matches.size * matches.width == 1) for matches in stages]
    pairs = [matches.start * words + matches.place for matches in single]
    return np.concatenate([np.zeros(0, np.int64), *pairs])


def similar_pairs(chunk: Chunk, vectors: Vectors, threshold: float) -> tuple[Integers, Integers]:
    """Find the words of candidates and of their references that are more similar than a threshold: their positions.

    `chunk` has one reference for each candidate; `vectors` has vectors of its words.
    """
    unit, indices = vectors.unit(chunk, by_frequency=False)
    split, least = len(chunk.candidates.codes), threshold_in_millionths(threshold)
    ours, theirs = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    lines = (pairwise(text.offsets.tolist()) for text in (chunk.candidates, chunk.references))
    for (start, end), (first, last) in zip(*lines, strict=True):
        if start < end and first < last:
            _, products = unit.products(indices[start:end][None], indices[split + first : split + last][None])
            row, column = np.nonzero(round_millionths(SCALE * products[0]) > least)
            ours.append(row + start)
            theirs.append(column + first)
    return np.concatenate(ours), np.concatenate(theirs)


def equal_lines(candidates: Tokens, references: Tokens) -> Flags:
    """Tell which lines of two texts of equal length have the same words."""
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
            spread = Tokens(side.codes.astype(np.int32), np.arange(len(side.codes) + 1)).spread(parts)
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
    _MATCHES.check(int(np.bincount(line, counts).max(initial=0)), "a segment that repeats the same words")
    ours = np.repeat(np.arange(len(keys)), counts)
    indices = np.arange(len(ours)) + np.repeat(first - (np.cumsum(counts) - counts), counts)
    return ours, order[indices]


def _paraphrases(
    left: _Side, right: _Side, differ: Flags, words: WordTable, tables: MeteorTables
) -> list[tuple[WordMatches, Integers]]:
    """WordMatches of phrases from the reference to the candidate, then the other way, with their ranks."""
    numbers = words.feature("meteor_phrase_word")
    sides = []
    for side in (left, right):
        starts, lengths, nodes = tables.phrases(numbers[side.codes], side.ends)
        differing = differ[side.line[starts]]
        starts, lengths, nodes = starts[differing], lengths[differing], nodes[differing]
        sides.append((side.line[starts], starts, lengths, nodes))
    paraphrases = []
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
        index = np.repeat(np.arange(len(nodes)), counts)
        entry = np.arange(len(index)) + np.repeat(bounds[which] - (np.cumsum(counts) - counts), counts)
        ours, theirs = _joined(line[index], targets[entry], other_line, other_nodes)
        index, rank = index[ours], ranks[entry[ours]]
        one = (starts[index], lengths[index])
        other = (other_starts[theirs], other_lengths[theirs])
        stage = np.full(len(index), 3)
        in_reference, in_candidate = (one, other) if swapped else (other, one)
        paraphrases.append((WordMatches(line[index], *in_reference, *in_candidate, stage), rank))
    return paraphrases


_CHOICES = tuple("+".join(("exact", *more)) for n in range(4) for more in combinations(STAGES[1:], n))


@dataclass(frozen=True)
class _Task:
    """Parameters that were fitted to judgements of one kind (Denkowski & Lavie 2014, table 4)."""

    alpha: float
    beta: float
    gamma: float
    delta: float
    weights: tuple[float, float, float, float]


_OTHERS = {
    "cs": _Task(0.95, 0.2, 0.6, 0.8, (1.0, 0.0, 0.0, 0.0)),
    "de": _Task(0.95, 1.0, 0.55, 0.55, (1.0, 0.8, 0.0, 0.0)),
    "es": _Task(0.65, 1.3, 0.5, 0.8, (1.0, 0.8, 0.0, 0.0)),
    "fr": _Task(0.9, 1.4, 0.6, 0.65, (1.0, 0.2, 0.0, 0.0)),
    "ru": _Task(0.75, 1.4, 0.7, 0.5, (1.0, 0.5, 0.0, 0.0)),
}
"""Parameters of other languages: the program matches equal words there, and stems but for Czech."""
_TASKS = {
    "rank": _Task(0.85, 0.2, 0.6, 0.75, (1.0, 0.6, 0.8, 0.6)),
    "adq": _Task(0.75, 1.4, 0.45, 0.7, (1.0, 1.0, 0.6, 0.8)),
}


@dataclass(frozen=True)
class MeteorScore(Score):
    """A METEOR score and its parts, in per cent."""

    precision: float = column("P", "precision %", "per cent")
    recall: float = column("R", "recall %", "per cent")
    penalty: float = column("penalty", "penalty %", "per cent")


@dataclass(frozen=True, repr=False)
class Meteor(Metric):
    """METEOR 1.5 (Denkowski & Lavie 2014), in the digits of its program, for English and some other languages.

    Words of the candidate are aligned one to one with words of the reference: equal ones, those with the same stem,
    synonyms, paraphrases. Precision and recall weigh matches by stage, and content words more than function words; a
    penalty grows with the number of chunks of words that stand in the same order. Of several references each segment
    takes the best.

    A row has the program's 23 statistics: words of the candidate and of the reference, function words of both; by
    stage the matched content words of candidate and reference, then the function words of both; chunks; matched words
    of both. The last number is the chunks that count: none where a single one is the whole segment.

    Parameters
    ----------
    language
        Whose stems and parameters are taken. Of others than English words match if they are equal, or their stems,
        which Czech has not; synonyms and paraphrases are English, and so are the function words in its program.
    task
        Judgements that the parameters were fitted to: rankings, or judgements of adequacy.
    stages
        How words may match.
    soft
        Words whose vectors are more similar than this match as well, a stage of its own; 1 lets none.
    soft_weight
        Of such matches, beside 1 of exact ones.
    meteor_data
        Where synonyms and paraphrases are from.

    Examples
    --------
    >>> Meteor().score(np.array([2, 4, 1, 2, *(1, 1, 1, 1), *(0,) * 12, 1, 2, 2, 1])).recall
    50.0
    """

    task: str = setting("rank", "Human judgements the parameters fit: rank or adq (adequacy)", choices=tuple(_TASKS))
    stages: str = setting(_CHOICES[-1], "How words may match", choices=_CHOICES)
    soft: float = setting(
        1.0, "Words whose vectors are more similar than this match, too; 1: none do", least=0, most=1, metavar="0..1"
    )
    soft_weight: float = setting(0.6, "Weight of matches by vectors", least=0, most=1, metavar="0..1")
    meteor_data: MeteorData | None = data_setting()
    language: str = meteor_language()
    tokenizer: Tokenizer = tokenizer_setting(Blanks())
    name: ClassVar[str] = "meteor"

    def check(self) -> None:
        """Check that the language has the stages, the default of which are all that it has."""
        if self.language == "en":
            return
        there = "exact" if self.language == "cs" else "exact+stem"
        if self.stages == _CHOICES[-1]:
            object.__setattr__(self, "stages", there)
        name = language_of_data(self.language).name
        if not {*self.stages.split("+")} <= {*there.split("+")}:
            raise InputError(Parameter("stages"), f" {self.stages}: for {name} METEOR has {there} only")
        if self.task != "rank":
            raise InputError(Parameter("task"), f" {self.task}: for {name} METEOR has parameters of rank only")

    @property
    def requires(self) -> Requirements:
        """Table of the words: their stems, synonyms and functions."""
        parts = (MeteorWords(tuple(self.stages.split("+")), self.meteor_data, self.language),)
        return Requirements(vectors=self._is_soft, parts=parts)

    @property
    def _is_soft(self) -> bool:
        return threshold_in_millionths(self.soft) < SCALE

    def resolved(self) -> Self:
        """Return the metric with the data of the package by default, and without data if no stage reads it."""
        return replace(self, meteor_data=needed_data(self.stages.split("+"), self.meteor_data))

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Count words, matches and chunks, of each segment with its best reference: (segments, 24)."""
        _, rows, best = self._matched(chunk, words)
        return rows[best]

    def marks(self, chunk: Chunk, words: WordTable | None) -> Iterator[list[Mark]]:
        """The alignment of each candidate with its best reference, and the stage at which words match."""
        return marks_of_pairs(chunk, self.pairs(chunk, words))

    def pairs(self, chunk: Chunk, words: WordTable | None) -> Iterator[tuple[WordPair, ...]]:
        """The pairs of each candidate with its best reference, by their place in the candidate."""
        names = [*STAGES, "soft"]
        matches, _, best = self._matched(chunk, words)
        single = chunk.by_reference()
        starts = matches.start - single.candidates.offsets[matches.segment]
        places = matches.place - single.references.offsets[matches.segment]
        columns = np.stack((matches.stage, starts, matches.width, places, matches.size), axis=1)
        order = np.lexsort((matches.start, matches.segment))
        bounds = np.searchsorted(matches.segment[order], np.stack((best, best + 1)))
        numbers = (best - chunk.segment_offsets[:-1]).tolist()
        for number, first, end in zip(numbers, *bounds.tolist(), strict=True):
            chosen = columns[order[first:end]].tolist()
            yield tuple(
                WordPair(names[stage], start, width, number, place, size)
                for stage, start, width, place, size in chosen
            )

    def _matched(self, chunk: Chunk, words: WordTable | None) -> tuple[WordMatches, Integers, Integers]:
        """Matches of each candidate with each of its references, their statistics, and the best rows."""
        words = needed(words, self.name, "words")
        single = chunk.by_reference()
        _LIMIT.check_pairs(candidate=single.candidates.lengths, reference=single.references.lengths)
        tables = None if self.meteor_data is None else open_tables(self.meteor_data)
        similar = similar_pairs(single, words.vectors, self.soft) if self._is_soft else None
        stages = tuple(self.stages.split("+"))
        matches = find_matches(single.candidates, single.references, stages, words, tables, similar)
        matches = _aligned(single, matches)
        kinds = len(STAGES) + self._is_soft
        rows = _counted(single, matches, words.feature("meteor_function"), kinds)
        return matches, rows, best_rows(chunk.segment_offsets, self.columns(rows).score)

    def columns(self, rows: Integers | Floats) -> ScoreColumns[MeteorScore]:
        """Score rows of statistics, or sums of rows."""
        precision, recall, penalty, score = (100 * part for part in self._parts(rows))
        return ScoreColumns(MeteorScore, score, precision=precision, recall=recall, penalty=penalty)

    def _parts(self, rows: Integers | Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Precision, recall, penalty and score of each row."""
        task = _OTHERS.get(self.language) or _TASKS[self.task]
        counts = np.asarray(rows, np.float64)
        stages = counts[:, 4:-4].reshape(len(counts), -1, 2, 2)
        kinds = np.array([task.delta, 1 - task.delta])
        weights = np.array([*task.weights, *([self.soft_weight] if self._is_soft else [])])
        shares = []
        for side in range(2):
            matched = (stages[:, :, :, side] @ kinds) @ weights
            function = counts[:, 2 + side]
            shares.append(_ratio(matched, task.delta * (counts[:, side] - function) + (1 - task.delta) * function))
        precision, recall = shares
        mean = _ratio(precision * recall, task.alpha * precision + (1 - task.alpha) * recall)
        fragmentation = _ratio(counts[:, -1], (counts[:, -3] + counts[:, -2]) / 2)
        penalty = task.gamma * fragmentation**task.beta
        return precision, recall, penalty, mean * (1 - penalty)


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros(len(above)), where=below > 0)


def _aligned(chunk: Chunk, matches: WordMatches) -> WordMatches:
    """The matches that hold, in the order of the references."""
    alone = _alone(matches.place, matches.size, len(chunk.references.codes))
    alone &= _alone(matches.start, matches.width, len(chunk.candidates.codes))
    holding = alone.copy()
    segments = np.unique(matches.segment[~alone])
    bounds = np.searchsorted(matches.segment, np.stack((segments, segments + 1)))
    lengths = chunk.references.lengths.tolist()
    gains = np.where(matches.stage > 0, matches.size // 2 + matches.width // 2, matches.size + matches.width)
    columns = (
        matches.place - chunk.references.offsets[matches.segment],
        matches.size,
        matches.start - chunk.candidates.offsets[matches.segment],
        matches.width,
        gains,
    )
    for segment, first, end in zip(segments.tolist(), *bounds.tolist(), strict=True):
        only = first + np.flatnonzero(alone[first:end])
        others = first + np.flatnonzero(~alone[first:end])
        fixed = {index: rest for index, *rest in zip(*(values[only].tolist() for values in columns[:4]), strict=True)}
        chosen = best_matches(lengths[segment], fixed, *(values[others] for values in columns))
        holding[others[chosen]] = True
    return matches.chosen(holding)


def _alone(starts: Integers, lengths: Integers, words: int) -> Flags:
    """Tell which spans of words no other overlaps."""
    changes = np.bincount(starts, minlength=words + 1) - np.bincount(starts + lengths, minlength=words + 1)
    covered = np.concatenate(([0], np.cumsum(np.cumsum(changes))))
    alone: Flags = covered[starts + lengths] - covered[starts] == lengths
    return alone


def _counted(chunk: Chunk, matches: WordMatches, function: Flags, kinds: int) -> Integers:
    """Statistics of each segment, of so many kinds of matches."""
    rows = np.zeros((len(chunk), 4 + 4 * kinds + 4), np.int64)
    sides = ((chunk.candidates, matches.start, matches.width), (chunk.references, matches.place, matches.size))
    new = np.ones(len(matches.segment), bool)
    new[1:] = matches.segment[1:] != matches.segment[:-1]
    for side, (tokens, starts, lengths) in enumerate(sides):
        functions = np.concatenate(([0], np.cumsum(function[tokens.codes])))
        matched = functions[starts + lengths] - functions[starts]
        rows[:, side] = tokens.lengths
        rows[:, 2 + side] = np.diff(functions[tokens.offsets])
        np.add.at(rows, (matches.segment, 4 + 4 * matches.stage + side), lengths - matched)
        np.add.at(rows, (matches.segment, 6 + 4 * matches.stage + side), matched)
        rows[:, side - 3] = np.bincount(matches.segment, lengths, len(chunk))
        new[1:] |= starts[1:] != (starts + lengths)[:-1]
    rows[:, -4] = np.bincount(matches.segment, new, len(chunk))
    whole = (rows[:, -4] == 1) & (rows[:, -3] == rows[:, 0]) & (rows[:, -2] == rows[:, 1])
    rows[:, -1] = np.where(whole, 0, rows[:, -4])
    return rows
