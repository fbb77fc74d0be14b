"""HyTER: the least edit cost to any path of a network of references, over the length of that path."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from softbleu.config.declare import setting
from softbleu.errors import InputError
from softbleu.io.arguments import Limit
from softbleu.kernels import Kernels
from softbleu.kernels.lattices import HUNDRED, CandidateTexts, EditPrices, PathSearch
from softbleu.lattices.lattice import ARC_KINDS, WordNetwork
from softbleu.lattices.rules import LatticeLines, NetworkRules, arc_words, lattices_of, network_tokenizer
from softbleu.matching.ngrams import Chunk, WordTable
from softbleu.metrics.aggregation import best_rows, keep_best
from softbleu.metrics.base import WholeMetric
from softbleu.metrics.protocols import ClosestPath, EditStep
from softbleu.metrics.requirements import Requirements
from softbleu.metrics.score import Score, ScoreColumns, column
from softbleu.metrics.settings import IdfCorpus, idf_setting, tokenizer_setting
from softbleu.metrics.ter import fewest_edits
from softbleu.text.coded import Tokens, Vocabulary
from softbleu.text.tokens import Tokenizer, Tokenizer13a

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

Replacing = Literal["greater", "both"]
MOST_REFERENCES = Limit("hyter", "references", 20_000, "20 references", "leave some out")
_FULL = HUNDRED * HUNDRED
_RARE = math.log(1000)  # Rarity of a word of full weight: about that of one which none of 1,000 lines has
_MOST_BITS = 60
_LIMIT = Limit("hyter", "pairs of words and states", 1 << 27, "a document of 3,000 words: 9,000,000")
"""Limit for a segment (1.1 GB)."""


@dataclass(frozen=True)
class HyterScore(Score):
    """Edits per word of the network's path, in per cent; less is better."""

    edits: float = column("edits", "edits", "count")
    length: float = column("path length", "path length", "tokens")


@dataclass(frozen=True, repr=False)
class Hyter(WholeMetric):
    """HyTER (Dreyer & Marcu 2012) over networks of references, given or made by rules.

    The score is the least ratio, over all paths, of the cost of edits (insertions, deletions, substitutions) from the
    candidate to a path and the number of words of that path. Arcs may have costs, too. The search is exact for any
    number of paths. Against a plain reference it is TER without shifts. Of several networks of a segment the best
    counts.

    Parameters
    ----------
    extra
        Cost of a candidate word that the path does not have, where one of the path that the candidate lacks costs 1.
    replacing
        A word in the place of another costs the `greater` of the two prices, or `both`.
    shifts
        Shift phrases of the candidate to where the best path has them, as TER does (TERp, Snover et al. 2009): each
        costs a word, and the path stays.
    idf
        Source of the rarity of words, which they then weigh and cost: ln((D + 2) / (d + 1)), d of D lines having it,
        over ln 1000.
    rarity
        Power of these weights.
    rules
        How references become networks.

    Examples
    --------
    >>> Hyter().score(np.array([20_000, 800]))
    HyterScore(score=25.0, edits=2.0, length=8.0)
    """

    extra: float = setting(1.0, "Cost of a candidate word that the path does not have", least=0, most=10)
    replacing: Replacing = setting(
        "greater", "Cost of a substitution: the greater of the two words' costs, or both (deletion and insertion)"
    )
    shifts: bool = setting(False, "Let phrases of the candidate be shifted, as TER does, to match the best path")
    idf: IdfCorpus | Literal["references"] | None = idf_setting("words")
    rarity: float = setting(1.0, "Power of the words' idf weights; 0 gives all the same weight", least=0, most=4)
    rules: NetworkRules = setting(factory=NetworkRules)
    tokenizer: Tokenizer = tokenizer_setting(Tokenizer13a(lowercase=True))
    name: ClassVar[str] = "hyter"
    label: ClassVar[str] = "HyTER"
    higher_is_better: ClassVar[bool] = False
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "terp": {"shifts": True, "stem_cost": 0.2, "synonym_cost": 0.4, "paraphrase_cost": 0.4},
        "networks": {
            "idf": "references",
            "extra": 0.25,
            "replacing": "both",
            "stem_cost": 0.2,
            "synonym_cost": 0.4,
            "paraphrase_cost": 0.4,
            "neighbour_cost": 1.0,
        },
    }

    def check(self) -> None:
        """Check that the settings are compatible."""
        plain = self.idf is None and (self.extra, self.replacing) == (1.0, "greater")
        if self.shifts and not plain:
            raise InputError("shifts are counted in words of equal weight: leave out idf, extra and replacing")

    @property
    def requires(self) -> Requirements:
        """Rarity of words, if they are weighed by it."""
        return Requirements(idf=self.idf)

    def complete(self) -> None:
        """Take a tokenizer that makes networks of references."""
        object.__setattr__(self, "tokenizer", network_tokenizer(self.tokenizer, self.rules))

    def resolved(self) -> Self:
        """Return the metric with the resources of its rules named."""
        rules = self.rules.resolved()
        return self if rules is self.rules else replace(self, rules=rules)

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Cost, in ten thousandths of a word, and length, in hundredths, by the best network: (segments, 2)."""
        MOST_REFERENCES.check(int(chunk.reference_numbers.max(initial=0)), "a segment")
        single = chunk.by_reference()
        search = self._search(single, words)
        costs, lengths = search.least_ratios()
        rows = HUNDRED // search.edits.full * np.column_stack((costs, lengths))
        if self.shifts:
            ways = search.closest_ways(costs, lengths)
            rows[:, 0] = np.minimum(rows[:, 0], _shifted_costs(search, single.candidates, ways))
        return keep_best(rows, chunk.segment_offsets, self)

    def paths(self, chunk: Chunk, words: WordTable | None, forms: Sequence[str]) -> list[ClosestPath]:
        """Show the path behind the statistics of each segment; `forms` are the words of the codes.

        Raises
        ------
        InputError
            Words are not taken in their order.
        """
        if self.shifts:
            raise InputError("the best path is shown for words in their order: leave out shifts")
        single = chunk.by_reference()
        search = self._search(single, words)
        costs, lengths = search.least_ratios()
        rows = HUNDRED // search.edits.full * np.column_stack((costs, lengths))
        arcs = arc_words(single.references, forms)
        texts = single.candidates.surface_forms(forms)
        ways = search.closest_ways(costs, lengths)
        return [
            _path(number, texts[number], arcs, search, ways[number], rows[number])
            for number in best_rows(chunk.segment_offsets, -self.columns(rows).score)
        ]

    def _search(self, single: Chunk, words: WordTable | None) -> PathSearch:
        """The search: a network per segment."""
        lattices = lattices_of(single.references)
        for states, length in zip(lattices.states.tolist(), single.candidates.lengths.tolist(), strict=True):
            what = f"a segment of {length:,} candidate words and a network of {states:,} states"
            _LIMIT.check(states * length, what)
        texts = self._texts(single.candidates, words)
        weights = np.where(lattices.empty, 0, self._word_weights(words, lattices.words.astype(np.int64)))
        full = 1 if self._weighs_equally else HUNDRED
        edits = EditPrices(round(HUNDRED * self.extra), self.replacing == "both", full)
        search = PathSearch(lattices, texts, weights, edits)
        if search.bits > _MOST_BITS:
            most = int(max(texts.lengths.max(), lattices.states.max()))
            raise InputError(f"a segment of some {most:,} words is too long for hyter's whole numbers: split it")
        return search

    def _texts(self, candidates: Tokens, words: WordTable | None) -> CandidateTexts:
        lengths = candidates.lengths
        table = np.full((len(lengths), int(lengths.max(initial=0))), -3, np.int32)
        there = np.arange(table.shape[1]) < lengths[:, None]
        table[there] = candidates.codes
        weights = np.zeros(table.shape, np.int64)
        weights[there] = self._word_weights(words, candidates.codes.astype(np.int64))
        return CandidateTexts(table, lengths, weights)

    @property
    def _weighs_equally(self) -> bool:
        """Whether all words have full weight, of which whole hundredths are counted."""
        return self.idf is None or not self.rarity

    def _word_weights(self, words: WordTable | None, codes: Integers) -> Integers:
        """Weights of words in hundredths; words that no text has are of full weight."""
        if words is None or self._weighs_equally:
            return np.full(len(codes), 1 if self._weighs_equally else HUNDRED)
        rarity = np.maximum(words.feature("rarity") / _RARE, 0) ** self.rarity
        by_word = np.maximum(np.rint(HUNDRED * rarity).astype(np.int64), 1)
        return np.where(codes >= 0, by_word[codes], HUNDRED)

    def columns(self, rows: Integers | Floats) -> ScoreColumns[HyterScore]:
        """Score rows of statistics, or sums of rows."""
        edits, length = rows[:, 0] / _FULL, rows[:, 1] / HUNDRED
        rates = np.divide(edits, length, out=(edits > 0) * 1.0, where=length != 0)
        return ScoreColumns(HyterScore, 100 * rates, edits=edits, length=length)


def _shifted_costs(search: PathSearch, candidates: Tokens, ways: Sequence[Sequence[tuple[int, int]]]) -> Integers:
    """Costs of TER's edits and shifts between candidates and the paths of ways, with the costs of their arcs."""
    lattices, costs = search.lattices, []
    for candidate, way in zip(candidates.by_line(), ways, strict=True):
        arcs = [arc for arc, _ in way if arc >= 0]
        path = tuple(int(lattices.words[arc]) for arc in arcs if not lattices.empty[arc])
        edits = fewest_edits(candidate, path)
        costs.append(_FULL * edits + HUNDRED * int(lattices.costs[arcs].sum()))
    return np.array(costs, np.int64)


def closest_path(network: WordNetwork, candidate: Sequence[str], metric: Hyter | None = None) -> ClosestPath:
    """Find the path of a network that is closest to a candidate; words have equal weights and are taken in order.

    Prices are as in `metric` (default: `Hyter()`).

    >>> network = WordNetwork.chain(["a", "dog"], [(1, 2, ["hound"], 0.2, "synonym")])
    >>> for step in closest_path(network, ["a", "hound", "barks"]).steps:
    ...     print(step)
    EditStep(candidate='a', word='a', kind='reference', cost=0.0)
    EditStep(candidate='hound', word='hound', kind='synonym', cost=0.2)
    EditStep(candidate='barks', word='', kind='', cost=1.0)
    """
    codes = Vocabulary()
    text = codes.encode([candidate])
    references = LatticeLines.coded([network], codes)
    (path,) = (metric or Hyter()).paths(Chunk(text, references, np.array([0, 1])), None, list(codes))
    return path


def _path(
    number: int,
    candidate: Sequence[str],
    arc_words: Sequence[str],
    search: PathSearch,
    way: Sequence[tuple[int, int]],
    row: Integers,
) -> ClosestPath:
    """Spell the way through a lattice, with the cost of each step; empty arcs that cost nothing are no steps."""
    edits = search.edits
    whole = HUNDRED * edits.full
    steps = []
    for arc, index in way:
        proposed = candidate[index] if index >= 0 else ""
        inserted = edits.extra * int(search.texts.weights[number, index]) if index >= 0 else 0
        word, kind, lost, arc_cost = "", "", 0, 0
        if arc >= 0:
            word, kind = arc_words[arc], ARC_KINDS[search.lattices.kinds[arc]]
            lost, arc_cost = HUNDRED * int(search.weights[arc]), int(search.arc_costs[arc])
        price = 0 if proposed == word else inserted + lost if edits.both else max(inserted, lost)
        if proposed or word or arc_cost or kind == "optional":
            steps.append(EditStep(proposed, word, kind, (price + arc_cost) / whole))
    return ClosestPath(tuple(steps), float(row[0]) / _FULL, float(row[1]) / HUNDRED)
