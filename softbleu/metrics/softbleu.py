"""softbleu: soft precision and recall of n-grams, rare words weighing more, as an F-score."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from softbleu.declare import setting
from softbleu.errors import InputError
from softbleu.kernels.scale import SCALE
from softbleu.metrics.base import Metric, Requirements, Score, column, order_setting
from softbleu.metrics.meteor.stages import find_matches
from softbleu.metrics.meteor.words import MeteorWords
from softbleu.ngrams import Chunk
from softbleu.thesaurus.resources import MeteorData, data_setting, needed_data
from softbleu.tokens import Tokenizer, Tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.kernels import Kernels
    from softbleu.similarity import UnitVectors, WordTable
    from softbleu.types import Floats, Integers


Credit = Literal["greedy", "clipped", "both"]
_Known = tuple[slice, slice, float]
"""Words of a candidate and of its reference that are known to be alike, and how much at least."""
_PIECE = 64
"""Segments whose words are compared at a time."""
MOST_SIMILARITIES = 1 << 26
"""Entries of the greatest table of words, or of n-grams of one segment (0.5 GB)."""
TIE = 1e-10
"""How much weights decide among equal totals: too little to change others, in segments below 10,000 tokens."""


@dataclass(frozen=True)
class IdfCorpus:
    """A text whose lines say how rare words are; what it holds is its identity.

    Attributes
    ----------
    location
        Path of the file, a segment a line.
    fingerprint
        Hex SHA-256 of the file.
    """

    location: str
    fingerprint: str

    @classmethod
    def of(cls, location: str) -> IdfCorpus:
        """Take a file.

        Raises
        ------
        InputError
            It cannot be read.
        """
        from softbleu.corpora.files import hash_file

        return cls(location, hash_file(Path(location)))

    def __str__(self) -> str:
        return f"{Path(self.location).name}#{self.fingerprint[:12]}"


def read_idf(text: str) -> IdfCorpus | Literal["references"]:
    """Read where rarity comes from: `references`, or a file, which is hashed.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    return "references" if text == "references" else IdfCorpus.of(text)


@dataclass(frozen=True)
class SoftbleuScore(Score):
    """A score and what it is made of, order by order, in per cent."""

    precisions: list[float] = column("P", "precision %", "per cent")
    recalls: list[float] = column("R", "recall %", "per cent")
    order_scores: list[float] = column("F", "F", "score")


@dataclass(frozen=True)
class Softbleu(Metric):
    """Precision and recall of n-grams by similarity, as F, averaged over orders 1…N.

    Two words are as alike as their token product g (metrics page, section 3), but at least `characters` times the
    Dice coefficient of their character 2- to 4-grams (of the word between marks of its ends), to the given `power`,
    times exp(-position |i/c - j/r|) for the middles of the i-th of c and the j-th of r tokens. n-grams of order n are
    as alike as their words position by position, on average. An n-gram weighs the sum of its words' rarities, each
    ln((D + 2) / (d + 1)) to the power `rarity`: d of D lines (references, each of several a line) have the word.

    Precision is the share of the candidate n-grams' weight that is matched, recall that of the reference's. The score
    is the mean over orders of F = (1 + beta²) P R / (beta² P + R); orders that a side is too short for do not count.
    Of several references each segment takes the best. A corpus is scored from the sums of its segments, those of
    which a side is empty or short included: what they lack is missed.

    Parameters
    ----------
    order
        Greatest n.
    beta
        How much more recall weighs than precision.
    power
        Of similarities; below 1, weak ones count more.
    rarity
        Power of the rarity of words; 0 weighs all alike.
    position
        How fast similarity decays with distance in the segment; 0 not at all.
    characters
        Weight of the similarity of spellings; 0 looks at vectors only.
    synonyms, paraphrases
        How alike words are, at least, that share a synonym set of WordNet, or whose phrases METEOR's table of
        paraphrases has (all words of the one with all of the other); 0 looks at none.
    meteor_data
        Where synonyms and paraphrases are from.
    credit
        Every n-gram takes the most similar one of the other side (`greedy`), or they are given out one to one, the
        greatest total similarity (`clipped`), or the mean of `both`.
    idf
        `references`, or the corpus that says how rare words are.

    Examples
    --------
    >>> Softbleu().order, Softbleu().credit
    (2, 'both')
    """

    order: int = order_setting(2)
    beta: float = setting(1.0, "Weight of recall beside precision", least=0, most=1e6)
    power: float = setting(0.7, "Power of similarities; below 1 weak ones count more", least=1e-6, most=1e6)
    # The weights of a corpus must add up to less than 2**63 millionths.
    rarity: float = setting(1.5, "Power of the words' idf weights; 0 weighs all alike", least=0, most=4)
    position: float = setting(0.2, "How fast similarity decays with distance in the segment", least=0, most=1e6)
    characters: float = setting(0.8, "Weight of the similarity of spellings", least=0, most=1, metavar="0..1")
    synonyms: float = setting(0.0, "Least similarity of synonyms; 0 looks at none", least=0, most=1, metavar="0..1")
    paraphrases: float = setting(
        0.0, "Least similarity of the words of paraphrases; 0 looks at none", least=0, most=1, metavar="0..1"
    )
    meteor_data: MeteorData | None = data_setting()
    credit: Credit = setting(
        "both", "Match the best of the other side (greedy), one to one (clipped), or the mean of both"
    )
    idf: IdfCorpus | Literal["references"] = setting(
        "references",
        "Text whose lines say how rare words are",
        metavar="FILE",
        unset="the references",
        read=read_idf,
        hashed=True,
    )
    name: ClassVar[str] = "softbleu"
    default_tokenizer: ClassVar[Tokenizer] = Tokenizer("13a")
    in_context: ClassVar[Mapping[str, object]] = {"power": 1.0, "characters": 0.0}
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "paraphrases": {"synonyms": 0.8, "paraphrases": 0.7, "power": 1.0, "rarity": 2.0}
    }

    @property
    def label(self) -> str:
        """Its name, as it is written."""
        return self.name

    @property
    def requires(self) -> Requirements:
        """Vectors, and what weights and spellings need."""
        spelling = ("spelling",) if self.characters > 0 else ()
        known = (MeteorWords(self._stages, self.meteor_data, lowercase=True),) if self._stages else ()
        return Requirements(vectors=True, idf=self.idf if self.rarity > 0 else None, parts=(*spelling, *known))

    @property
    def _stages(self) -> tuple[str, ...]:
        """Of METEOR, those that are looked at."""
        least = {"synonym": self.synonyms, "paraphrase": self.paraphrases}
        return tuple(stage for stage, similarity in least.items() if similarity > 0)

    def resolved(self) -> Self:
        """With the data of the package where none is named, and none where nothing looks at it."""
        data = needed_data(self._stages, self.meteor_data)
        return self if data == self.meteor_data else replace(self, meteor_data=data)

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Weights in millionths of each segment: for each order matched and all of candidate and of reference.

        Returns
        -------
        Integers
            Shape (segments, 4 order).
        """
        if words is None:
            raise InputError("softbleu compares words by vectors: name some, e.g. vectors='glove-6b-100d'")
        single = chunk.by_reference()
        rows = np.zeros((len(single), 4 * self.order), np.int64)
        for start in range(0, len(single), _PIECE):
            piece = single.part(start, min(start + _PIECE, len(single)))
            for number, row in enumerate(self._rows(piece, words), start=start):
                rows[number] = row
        # The reference against which a candidate scores best, the first of equals.
        scores = self.scores(rows)
        best = [first + int(scores[first:end].argmax()) for first, end in pairwise(chunk.segment_offsets.tolist())]
        return rows[best]

    def _rows(self, piece: Chunk, words: WordTable) -> Iterator[list[int]]:
        unit, places = words.vectors.unit(piece, by_frequency=False)
        split = len(piece.candidates.codes)
        yield from self._rows_of(piece, places[:split], places[split:], unit, words, self._known(piece, words))

    def pair_statistics(
        self, candidates: Tokens, references: Tokens, words: WordTable | None, kernels: Kernels
    ) -> Integers:
        """Weights of every candidate with every reference; distinct words are compared once."""
        sides = Chunk(candidates, references, np.array([0, len(references.lengths)]))
        if words is None or self._stages:
            return super().pair_statistics(candidates, references, words, kernels)
        unit, places = words.vectors.unit(sides, by_frequency=False)
        split = len(candidates.codes)
        left, candidate = np.unique(places[:split], return_inverse=True)
        right, reference = np.unique(places[split:], return_inverse=True)
        longest = candidates.lengths.max() * references.lengths.max()
        if max(len(left) * len(right), longest) > MOST_SIMILARITIES:
            return super().pair_statistics(candidates, references, words, kernels)
        table = self._table(unit, left, right, words)
        own, others = (self._weights(unit.words[rows], words) for rows in (left, right))
        theirs = [reference[start:end] for start, end in pairwise(references.offsets.tolist())]
        weights = [others[line] for line in theirs]
        rows = []
        for start, end in pairwise(candidates.offsets.tolist()):
            mine = candidate[start:end]
            alike, weight = table[mine], own[mine]
            rows.append(
                [self._row(alike[:, line], weight, other, ()) for line, other in zip(theirs, weights, strict=True)]
            )
        return np.array(rows, np.int64)

    def _known(self, piece: Chunk, words: WordTable) -> list[list[_Known]]:
        """Words of each segment that are known to be alike."""
        found: list[list[_Known]] = [[] for _ in range(len(piece))]
        if not self._stages:
            return found
        tables = None if self.meteor_data is None else self.meteor_data.open()
        matches = find_matches(piece.candidates, piece.references, self._stages, words, tables)
        starts = matches.start - piece.candidates.offsets[matches.segment]
        places = matches.place - piece.references.offsets[matches.segment]
        least = np.array([0.0, 0.0, self.synonyms, self.paraphrases])[matches.stage] ** self.power
        columns = (matches.segment, starts, starts + matches.width, places, places + matches.size, least)
        for segment, start, end, place, stop, similarity in zip(*(each.tolist() for each in columns), strict=True):
            found[segment].append((slice(start, end), slice(place, stop), similarity))
        return found

    def _rows_of(
        self,
        piece: Chunk,
        candidates: Integers,
        references: Integers,
        unit: UnitVectors,
        words: WordTable,
        known: Sequence[Sequence[_Known]],
    ) -> Iterator[list[int]]:
        left, candidate = np.unique(candidates, return_inverse=True)
        right, reference = np.unique(references, return_inverse=True)
        # What stands in context recurs in no other segment.
        if len(piece) > 1 and (unit.in_context or len(left) * len(right) > MOST_SIMILARITIES):
            step = 1 if unit.in_context else len(piece) // 2
            for start, end in pairwise([*range(0, len(piece), step), len(piece)]):
                one, other = (slice(*text.offsets[[start, end]]) for text in (piece.candidates, piece.references))
                yield from self._rows_of(
                    piece.part(start, end), candidates[one], references[other], unit, words, known[start:end]
                )
            return
        table = self._table(unit, left, right, words)
        own, others = (self._weights(unit.words[rows], words) for rows in (left, right))
        ends = zip(piece.candidates.offsets[1:], piece.references.offsets[1:], strict=True)
        starts = zip(piece.candidates.offsets[:-1], piece.references.offsets[:-1], strict=True)
        for (start, other_start), (end, other_end), alike in zip(starts, ends, known, strict=True):
            mine, theirs = candidate[start:end], reference[other_start:other_end]
            if len(mine) * len(theirs) > MOST_SIMILARITIES:
                raise InputError(
                    f"a segment of {len(mine)} candidate and {len(theirs)} reference tokens is too long for softbleu"
                )
            yield self._row(table[np.ix_(mine, theirs)], own[mine], others[theirs], alike)

    def _weights(self, codes: NDArray[np.int32], words: WordTable) -> Floats:
        if not self.rarity:
            return np.ones(len(codes))
        weights: Floats = words.feature("rarity")[codes] ** self.rarity
        return weights

    def _table(self, unit: UnitVectors, left: Integers, right: Integers, words: WordTable) -> Floats:
        """Similarity of every candidate word and every reference word, by the rows of their vectors."""
        if len(left) * len(right) > MOST_SIMILARITIES:
            raise InputError(
                f"a segment with {len(left)} different candidate and {len(right)} reference words is too long for "
                "softbleu: split it"
            )
        _, table = unit.products(left[None], right[None])
        found: Floats = np.clip(table[0], 0, 1)
        own, others = unit.words[left], unit.words[right]
        if self.characters > 0:
            np.maximum(found, self.characters * spelling_similarity(own, others, words), out=found)
        if unit.equal_is_one:
            found[own[:, None] == others[None, :]] = 1
        np.power(found, self.power, out=found)
        return found

    def _row(self, similarities: Floats, weight: Floats, other_weight: Floats, known: Sequence[_Known]) -> list[int]:
        """Weights of two lines, from the similarities of their words, which are overwritten."""
        similarities = self._placed(similarities, known)
        row: list[int] = []
        for n in range(1, self.order + 1):
            height, width = (max(size - n + 1, 0) for size in similarities.shape)
            alike, own, others = np.zeros((height, width)), np.zeros(height), np.zeros(width)
            for k in range(n):
                own += weight[k : k + height]
                others += other_weight[k : k + width]
                alike += similarities[k : k + height, k : k + width]
            if not alike.size:
                # Nothing is matched, but in a corpus what a side has is missed on the other.
                row += [0, round(SCALE * float(own.sum())), 0, round(SCALE * float(others.sum()))]
                continue
            # Rounded, so that ties are ties on every machine.
            alike = np.rint(alike * (SCALE / n)) / SCALE
            matched, found = self._matched(alike, own[:, None] + others[None, :])
            row += [round(SCALE * float(total)) for total in (matched @ own, own.sum(), found @ others, others.sum())]
        return row

    def word_similarities(self, chunk: Chunk, words: WordTable) -> list[Floats]:
        """How alike the words of each candidate and of its only reference are, where they stand: a table each."""
        unit, places = words.vectors.unit(chunk, by_frequency=False)
        split = len(chunk.candidates.codes)
        found = []
        for line, known in enumerate(self._known(chunk, words)):
            own, other = (slice(*text.offsets[[line, line + 1]]) for text in (chunk.candidates, chunk.references))
            (left, one), (right, two) = (
                np.unique(side, return_inverse=True) for side in (places[:split][own], places[split:][other])
            )
            found.append(self._placed(self._table(unit, left, right, words)[np.ix_(one, two)], known))
        return found

    def _placed(self, similarities: Floats, known: Sequence[_Known]) -> Floats:
        """Similarities of the words of two lines where they stand, written over those of the words alone."""
        for here, there, least in known:
            np.maximum(similarities[here, there], least, out=similarities[here, there])
        if self.position and similarities.size:
            middle, other_middle = ((np.arange(size) + 0.5) / size for size in similarities.shape)
            similarities *= np.exp(-self.position * np.abs(middle[:, None] - other_middle[None, :]))
        return similarities

    def _matched(self, alike: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """How much of each candidate n-gram, and of each reference n-gram, is matched."""
        greedy = alike.max(axis=1), alike.max(axis=0)
        if self.credit == "greedy":
            return greedy
        from scipy.optimize import linear_sum_assignment

        # Of equal totals that with the greatest weight: which, must not hang on the last bits of the machine.
        ranked = alike * (1 + TIE * weights / max(float(weights.max()), 1e-300))
        rows, columns = linear_sum_assignment(ranked, maximize=True)
        matched, found = np.zeros(alike.shape[0]), np.zeros(alike.shape[1])
        matched[rows] = found[columns] = alike[rows, columns]
        if self.credit == "clipped":
            return matched, found
        return (matched + greedy[0]) / 2, (found + greedy[1]) / 2

    def score(self, row: Integers) -> SoftbleuScore:
        """Score one row of statistics, or a sum of rows."""
        precision, recall, scores, counted = self._parts(np.asarray(row)[None])
        mean = float(scores[0].sum() / max(counted[0].sum(), 1))
        return SoftbleuScore(mean, precision[0].tolist(), recall[0].tolist(), scores[0].tolist())

    def scores(self, rows: Integers | Floats) -> Floats:
        """Scores of many rows at once, as `score` gives them."""
        _, _, scores, counted = self._parts(np.asarray(rows))
        found: Floats = scores.sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
        return found

    def _parts(self, rows: NDArray[Any]) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
        """Precision, recall and F of each order in per cent, and whether it counts: (rows, order) each."""
        matched, all_own, found, all_others = np.moveaxis(rows.reshape(len(rows), self.order, 4), 2, 0).astype(float)
        counted = (all_own > 0) & (all_others > 0)
        precision = 100 * matched / np.where(all_own > 0, all_own, 1)
        recall = 100 * found / np.where(all_others > 0, all_others, 1)
        below = self.beta**2 * precision + recall
        score = (1 + self.beta**2) * precision * recall / np.where(below > 0, below, 1)
        return precision, recall, np.where(counted, score, 0.0), counted


def spelling_similarity(left: NDArray[Any], right: NDArray[Any], words: WordTable) -> Floats:
    """Dice coefficient of the character n-grams of words, given by their codes: (left, right).

    Raises
    ------
    InputError
        The table lacks the spellings.
    """
    from scipy.sparse import csr_array

    grams, gram_bounds = words.feature("spelling"), words.feature("spelling_bounds")
    width = int(grams.max(initial=-1)) + 1

    def incidence(codes: NDArray[Any]) -> csr_array:
        starts, ends = gram_bounds[codes], gram_bounds[codes + 1]
        counts = ends - starts
        bounds = np.concatenate(([0], np.cumsum(counts)))
        places = np.arange(bounds[-1]) + np.repeat(starts - bounds[:-1], counts)
        ids = grams[places]
        return csr_array((np.ones(len(ids), np.float32), ids, bounds), shape=(len(codes), width))

    one, other = incidence(left), incidence(right)
    shared = (one @ other.T).toarray().astype(np.float64)
    sizes = np.diff(one.indptr)[:, None] + np.diff(other.indptr)[None, :]
    return np.asarray(2 * shared / np.maximum(sizes, 1))


def rarity_of(documents: Integers, total: int) -> Floats:
    """Rarity of words that so many of all segments have.

    >>> rarity_of(np.array([0, 9]), 9).round(3).tolist()
    [2.398, 0.095]
    """
    # Above 0 even for a word that all have: a corpus of one segment has no other words.
    found: Floats = math.log(total + 2) - np.log(documents + 1)
    return found
