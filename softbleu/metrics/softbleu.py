"""softbleu: soft precision and recall of n-grams, rare words weighing more, as an F-score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from softbleu.config.declare import setting
from softbleu.io.arguments import Limit
from softbleu.kernels import Kernels, choose_kernels
from softbleu.matching.ngrams import Chunk, WordTable, products_of_pairs
from softbleu.metrics.aggregation import keep_best
from softbleu.metrics.base import Metric
from softbleu.metrics.declared import IN_CONTEXT, WITHOUT_VECTORS
from softbleu.metrics.guards import rows_of_pairs
from softbleu.metrics.meteor import MeteorWords, find_matches
from softbleu.metrics.protocols import SimilarityTable, WordPair, best_references, pairs_of
from softbleu.metrics.requirements import Requirements, needed
from softbleu.metrics.score import Score, ScoreColumns, column
from softbleu.metrics.settings import UNCORRECTED, IdfCorpus, order_setting, read_idf, tokenizer_setting
from softbleu.text.coded import TokenPairs, Tokens
from softbleu.text.meteor import MeteorData, needed_data
from softbleu.text.tokens import Tokenizer, Tokenizer13a, data_setting
from softbleu.thesaurus.resources import open_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.types import Array, Floats, Integers

Credit = Literal["greedy", "clipped", "both"]
_GREEDY: dict[Credit, float] = {"greedy": 1.0, "clipped": 0.0, "both": 0.5}  # Share of greedy credit
_LIMIT = Limit("softbleu", "pairs of words", 1 << 25, "a document of 3,000 words: 9,000,000")
"""Limit for a candidate and a reference; more would not fit into 2 GB."""


@dataclass(frozen=True)
class SoftbleuScore(Score):
    """A score and its parts, by order, in per cent."""

    precisions: list[float] = column("P", "precision %", "per cent")
    recalls: list[float] = column("R", "recall %", "per cent")
    order_scores: list[float] = column("F", "F", "score")


@dataclass(frozen=True, repr=False)
class Softbleu(Metric):
    """Precision and recall of n-grams by similarity, as F, averaged over orders 1…N.

    Two words are as similar as their token product g (metrics page, section 3), but at least `characters` times the
    Dice coefficient of their character 2- to 4-grams (of the word between marks of its ends), to the given `power`,
    times exp(-position |i/c - j/r|) for the middles of the i-th of c and the j-th of r tokens. n-grams of order n are
    as similar as their words position by position, on average. An n-gram weighs the sum of its words' rarities, each
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
        Power of the rarity of words; 0 gives all equal weights.
    position
        How fast similarity decays with distance in the segment; 0 not at all.
    characters
        Weight of the similarity of spellings; 0 looks at vectors only.
    synonyms, paraphrases
        Least similarity of words that share a synonym set of WordNet, or whose phrases METEOR's table of
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
    rarity: float = setting(1.5, "Power of the words' idf weights; 0 gives all the same weight", least=0, most=4)
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
        "Text whose lines give the words' document frequencies",
        metavar="FILE",
        unset="the references",
        read=read_idf,
        hashed=True,
    )
    tokenizer: Tokenizer = tokenizer_setting(Tokenizer13a())
    name: ClassVar[str] = "softbleu"
    also_rewards: ClassVar[str] = UNCORRECTED
    label: ClassVar[str] = "softbleu"
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "paraphrases": {"synonyms": 0.8, "paraphrases": 0.7, "power": 1.0, "rarity": 2.0},
        IN_CONTEXT: {"power": 1.0, "characters": 0.0},
        WITHOUT_VECTORS: {"beta": 1.25, "rarity": 1.0, "position": 0.0, "characters": 0.0, "credit": "clipped"},
    }

    @property
    def requires(self) -> Requirements:
        """Vectors, and the needs of weights and spellings."""
        spelling = ("spelling",) if self.characters > 0 else ()
        known = (MeteorWords(self._stages, self.meteor_data, lowercase=True),) if self._stages else ()
        return Requirements(vectors=True, idf=self.idf if self.rarity > 0 else None, parts=(*spelling, *known))

    @property
    def _stages(self) -> tuple[str, ...]:
        """Stages of METEOR that the metric uses."""
        least = {"synonym": self.synonyms, "paraphrase": self.paraphrases}
        return tuple(stage for stage, similarity in least.items() if similarity > 0)

    def resolved(self) -> Self:
        """Return the metric with the data of the package by default, and without data if no stage reads it."""
        return replace(self, meteor_data=needed_data(self._stages, self.meteor_data))

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Weights in millionths, (segments, 4 order): by order matched and all of candidate and of reference."""
        words = needed(words, self.name, "words")
        single = chunk.by_reference()
        rows = np.zeros((len(single), 4 * self.order), np.int64)
        for start, end in _pieces(single, kernels.PAIRS_AT_ONCE):
            piece = single.part(start, end)
            pairs = _pairs(piece)
            if pairs.cells[-1] > kernels.PAIRS_AT_ONCE and not words.vectors.in_context:
                # A document, in which words recur.
                mine, theirs, known = self._distinct(piece.candidates, piece.references, words, kernels)
                plain = known[np.ix_(mine, theirs)].reshape(-1)
            else:
                plain = self._similarities(piece, pairs, words, kernels)
            similarities = self._raised(plain, pairs, piece, words)
            rows[start:end] = self._rows(similarities, pairs, piece, words, kernels)
        return keep_best(rows, chunk.segment_offsets, self)

    def pair_statistics(
        self, candidates: Tokens, references: Tokens, words: WordTable | None, kernels: Kernels
    ) -> Integers:
        """Weights of every candidate with every reference; distinct words are compared once."""
        kinds = [len(np.unique(text.codes)) for text in (candidates, references)]
        cells = max(prod(kinds), len(references.codes) * int(candidates.lengths.max(initial=0)))
        if words is None or self._stages or words.vectors.in_context or cells > _LIMIT.most:
            return rows_of_pairs(self, candidates, references, words, kernels)
        mine, theirs, known = self._distinct(candidates, references, words, kernels)
        count = len(references.lengths)
        rows = []
        for line, (start, end) in enumerate(pairwise(candidates.offsets.tolist())):
            piece = Chunk(candidates.chosen(np.full(count, line)), references, np.arange(count + 1))
            pairs = _pairs(piece)
            left, right = pairs.tokens
            similarities = known[np.tile(mine[start:end], count)[left], theirs[right]]
            rows.append(self._rows(self._raised(similarities, pairs, piece, words), pairs, piece, words, kernels))
        return np.stack(rows)

    def tables(self, chunk: Chunk, words: WordTable | None) -> Iterator[SimilarityTable]:
        """Similarities of the words of each candidate with the words of its best reference, where they stand."""
        assert words is not None
        single, best = chunk.by_reference(), best_references(self, chunk, words)
        chosen = Chunk(single.candidates.chosen(best), single.references.chosen(best), np.arange(len(chunk) + 1))
        pairs = _pairs(chosen)
        plain = self._similarities(chosen, pairs, words, choose_kernels("numpy"))
        similarities = self._raised(plain, pairs, chosen, words)
        for segment, number in enumerate((best - chunk.segment_offsets[:-1]).tolist()):
            table = pairs.block(similarities, segment)
            yield SimilarityTable(table, number, *(np.arange(size) for size in table.shape))

    def pairs(self, chunk: Chunk, words: WordTable | None) -> Iterator[tuple[WordPair, ...]]:
        """Pair each word of a candidate with the most similar word of its best reference, if any is similar."""
        return pairs_of(chunk, self.tables(chunk, words))

    def _distinct(
        self, candidates: Tokens, references: Tokens, words: WordTable, kernels: Kernels
    ) -> tuple[Integers, Integers, Floats]:
        """Similarities of the distinct words of two texts, wherever they stand; the row and column of each token."""
        (ours, mine), (others, theirs) = (
            np.unique(text.codes, return_inverse=True) for text in (candidates, references)
        )
        both = Chunk(_line(ours), _line(others), np.array([0, 1]))
        known = self._similarities(both, _pairs(both), words, kernels)
        return mine, theirs, known.reshape(len(ours), len(others))

    def _similarities(self, piece: Chunk, pairs: TokenPairs, words: WordTable, kernels: Kernels) -> Floats:
        """Similarities of the words of each pair, wherever they stand."""
        similarities = products_of_pairs(words.vectors, piece, pairs, kernels)
        np.clip(similarities, 0, 1, out=similarities)
        if self.characters > 0:
            codes = piece.candidates.codes, piece.references.codes
            kernels.raise_to_spellings(similarities, pairs, *codes, words.parts("spelling"), self.characters)
        np.power(similarities, self.power, out=similarities)
        return similarities

    def _raised(self, similarities: Floats, pairs: TokenPairs, piece: Chunk, words: WordTable) -> Floats:
        """Raise similarities, in place, to values of synonyms and paraphrases, and let them decay with distance."""
        if self._stages:
            tables = None if self.meteor_data is None else open_tables(self.meteor_data)
            matches = find_matches(piece.candidates, piece.references, self._stages, words, tables)
            starts = matches.start - piece.candidates.offsets[matches.segment]
            indices = matches.place - piece.references.offsets[matches.segment]
            least = np.array([0.0, 0.0, self.synonyms, self.paraphrases])[matches.stage] ** self.power
            columns = (matches.segment, starts, starts + matches.width, indices, indices + matches.size, least)
            for segment, start, end, index, stop, similarity in zip(
                *(part.tolist() for part in columns), strict=True
            ):
                block = pairs.block(similarities, segment)[start:end, index:stop]
                np.maximum(block, similarity, out=block)
        if self.position:
            similarities *= pairs.decays(self.position)
        return similarities

    def _rows(
        self, similarities: Floats, pairs: TokenPairs, piece: Chunk, words: WordTable, kernels: Kernels
    ) -> Integers:
        ours, others = (self._weights(text.codes, words) for text in (piece.candidates, piece.references))
        sums = kernels.matched_weights(similarities, pairs, ours, others, self.order, _GREEDY[self.credit])
        return sums.reshape(len(piece), -1)

    def _weights(self, codes: NDArray[np.int32], words: WordTable) -> Floats:
        if not self.rarity:
            return np.ones(len(codes))
        weights: Floats = words.feature("rarity")[codes] ** self.rarity
        return weights

    def columns(self, rows: Integers | Floats) -> ScoreColumns[SoftbleuScore]:
        """Score rows of statistics, or sums of rows."""
        precisions, recalls, scores, counted = self._parts(rows)
        means = scores.sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
        return ScoreColumns(SoftbleuScore, means, precisions=precisions, recalls=recalls, order_scores=scores)

    def _parts(self, rows: Array) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
        """Precision, recall and F of each order in per cent, and whether it counts: (rows, order) each."""
        by_order = rows.reshape(len(rows), self.order, 4).astype(float)
        matched, proposed, recalled, wanted = np.moveaxis(by_order, 2, 0)
        counted = (proposed > 0) & (wanted > 0)
        precision = 100 * matched / np.where(proposed > 0, proposed, 1)
        recall = 100 * recalled / np.where(wanted > 0, wanted, 1)
        below = self.beta**2 * precision + recall
        score = (1 + self.beta**2) * precision * recall / np.where(below > 0, below, 1)
        return precision, recall, np.where(counted, score, 0.0), counted


def _pairs(chunk: Chunk) -> TokenPairs:
    return TokenPairs(chunk.candidates.offsets, chunk.references.offsets)


def _line(codes: NDArray[np.int32]) -> Tokens:
    return Tokens(codes, np.array([0, len(codes)]))


def _pieces(chunk: Chunk, most: int) -> Iterator[tuple[int, int]]:
    """Bounds of segments whose words are compared together: few enough for the cache, but at least one."""
    cells = chunk.candidates.lengths * chunk.references.lengths
    _LIMIT.check_pairs(candidate=chunk.candidates.lengths, reference=chunk.references.lengths)
    ends, start = np.cumsum(cells), 0
    while start < len(cells):
        before = int(ends[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield start, end
        start = end
