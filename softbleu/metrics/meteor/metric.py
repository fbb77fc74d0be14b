"""METEOR 1.5: a mean of precision and recall over aligned words, less a penalty for scattered ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from softbleu.config.declare import setting
from softbleu.errors import InputError
from softbleu.io.limits import Limit
from softbleu.kernels.scale import SCALE
from softbleu.matching.similarity import threshold_in_millionths
from softbleu.metrics.aggregation import best_rows
from softbleu.metrics.base import Metric, Requirements, tokenizer_setting
from softbleu.metrics.meteor.matches import STAGES, MeteorWords, WordMatches, find_matches, similar_pairs
from softbleu.metrics.meteor.search import best_matches
from softbleu.metrics.result import Score, column
from softbleu.text.tokens import Tokenizer
from softbleu.thesaurus.resources import MeteorData, data_setting, needed_data

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.similarity import WordTable
    from softbleu.types import Flags, Floats, Integers

_LIMIT = Limit("meteor", "pairs of words", 1 << 27, "a document of 3,000 words: 9,000,000")  # Of one reference
_CHOICES = tuple("+".join(("exact", *more)) for n in range(4) for more in combinations(STAGES[1:], n))


@dataclass(frozen=True)
class _Task:
    """Parameters that were fitted to judgements of one kind (Denkowski & Lavie 2014, table 4)."""

    alpha: float
    beta: float
    gamma: float
    delta: float
    weights: tuple[float, float, float, float]


_TASKS = {
    "rank": _Task(0.85, 0.2, 0.6, 0.75, (1.0, 0.6, 0.8, 0.6)),
    "adq": _Task(0.75, 1.4, 0.45, 0.7, (1.0, 1.0, 0.6, 0.8)),
}


@dataclass(frozen=True)
class MeteorScore(Score):
    """A METEOR score and what it is made of, in per cent."""

    precision: float = column("P", "precision %", "per cent")
    recall: float = column("R", "recall %", "per cent")
    penalty: float = column("penalty", "penalty %", "per cent")


@dataclass(frozen=True, repr=False)
class Meteor(Metric):
    """METEOR 1.5 (Denkowski & Lavie 2014) for English, in the digits of its program.

    Words of the candidate are aligned one to one with those of the reference: equal ones, those with the same stem,
    synonyms, paraphrases. Precision and recall weigh matches by stage, and content words more than function words; a
    penalty grows with the number of chunks of words that stand in the same order. Of several references each segment
    takes the best.

    A row has the program's 23 statistics: words of the candidate and of the reference, function words of both; by
    stage the matched content words of candidate and reference, then the function words of both; chunks; matched words
    of both. The last number is the chunks that count: none where a single one is the whole segment.

    Parameters
    ----------
    task
        What the parameters were fitted to: rankings, or judgements of adequacy.
    stages
        How words may match.
    soft
        Words whose vectors are more alike than this match as well, a stage of its own; 1 lets none.
    soft_weight
        Of such matches, beside 1 of exact ones.
    meteor_data
        Where synonyms and paraphrases are from.

    Examples
    --------
    >>> Meteor().score(np.array([2, 4, 1, 2, *(1, 1, 1, 1), *(0,) * 12, 1, 2, 2, 1])).recall
    50.0
    """

    task: str = setting("rank", "What the parameters were fitted to: rank or adq (adequacy)", choices=tuple(_TASKS))
    stages: str = setting(_CHOICES[-1], "How words may match", choices=_CHOICES)
    soft: float = setting(
        1.0, "Words whose vectors are more alike than this match, too; 1: none do", least=0, most=1, metavar="0..1"
    )
    soft_weight: float = setting(0.6, "What matches by vectors weigh", least=0, most=1, metavar="0..1")
    meteor_data: MeteorData | None = data_setting()
    tokenizer: Tokenizer = tokenizer_setting("blanks")
    name: ClassVar[str] = "meteor"

    @property
    def requires(self) -> Requirements:
        """What is known of the words."""
        parts = (MeteorWords(tuple(self.stages.split("+")), self.meteor_data),)
        return Requirements(vectors=self._is_soft, parts=parts)

    @property
    def _is_soft(self) -> bool:
        return threshold_in_millionths(self.soft) < SCALE

    def resolved(self) -> Self:
        """With the data of the package where none is named, and none where no stage looks at it."""
        data = needed_data(self.stages.split("+"), self.meteor_data)
        return self if data == self.meteor_data else replace(self, meteor_data=data)

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Count words, matches and chunks, of each segment with its best reference: (segments, 24)."""
        _, rows, best = self._matched(chunk, words)
        return rows[best]

    def alignments(self, chunk: Chunk, words: WordTable | None) -> tuple[WordMatches, Integers]:
        """The matches that hold of each candidate with each of its references, and the line of the best of these."""
        matches, _, best = self._matched(chunk, words)
        return matches, best

    def _matched(self, chunk: Chunk, words: WordTable | None) -> tuple[WordMatches, Integers, Integers]:
        """Matches of each candidate with each of its references, their statistics, and the best rows."""
        if words is None:
            raise InputError("METEOR looks at what is known of words: the table of words is missing")
        single = chunk.by_reference()
        _LIMIT.check_pairs(candidate=single.candidates.lengths, reference=single.references.lengths)
        tables = None if self.meteor_data is None else self.meteor_data.open()
        similar = similar_pairs(single, words.vectors, self.soft) if self._is_soft else None
        stages = tuple(self.stages.split("+"))
        matches = find_matches(single.candidates, single.references, stages, words, tables, similar)
        matches = _aligned(single, matches)
        kinds = len(STAGES) + self._is_soft
        rows = _counted(single, matches, words.feature("meteor_function"), kinds)
        return matches, rows, best_rows(chunk.segment_offsets, self.scores(rows))

    def score(self, row: Integers) -> MeteorScore:
        """Score one row of statistics, or a sum of rows."""
        precision, recall, penalty, score = (float(each[0]) for each in self._parts(np.asarray(row)[None]))
        return MeteorScore(100 * score, 100 * precision, 100 * recall, 100 * penalty)

    def scores(self, rows: Integers | Floats) -> Floats:
        """Scores of many rows at once, as `score` gives them."""
        found: Floats = 100 * self._parts(rows)[3]
        return found

    def _parts(self, rows: Integers | Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Precision, recall, penalty and score of each row."""
        task = _TASKS[self.task]
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
    found: Floats = np.divide(above, below, out=np.zeros(len(above)), where=below > 0)
    return found


def _aligned(chunk: Chunk, matches: WordMatches) -> WordMatches:
    """The matches that hold, in the order of the references."""
    alone = _alone(matches.place, matches.size, len(chunk.references.codes))
    alone &= _alone(matches.start, matches.width, len(chunk.candidates.codes))
    kept = alone.copy()
    segments = np.unique(matches.segment[~alone])
    bounds = np.searchsorted(matches.segment, np.stack((segments, segments + 1)))
    lengths = chunk.references.lengths.tolist()
    places = matches.place - chunk.references.offsets[matches.segment]
    columns = (
        places,
        matches.size,
        matches.start - chunk.candidates.offsets[matches.segment],
        matches.width,
        alone,
        # Names in the search: exact matches have the least.
        np.arange(len(places)) + len(places) * (matches.stage > 0),
    )
    for segment, first, end in zip(segments.tolist(), *bounds.tolist(), strict=True):
        fixed: dict[int, tuple[int, int, int]] = {}
        choices: dict[int, list[tuple[int, int, int, int]]] = {}
        for place, size, start, width, only, name in zip(
            *(each[first:end].tolist() for each in columns), strict=True
        ):
            if only:
                fixed[place] = size, start, width
            else:
                choices.setdefault(place, []).append((size, start, width, name))
        for name in best_matches(lengths[segment], fixed, choices, len(places)):
            kept[name % len(places)] = True
    return matches.chosen(kept)


def _alone(starts: Integers, lengths: Integers, words: int) -> Flags:
    """Which stretches of words no other overlaps."""
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
