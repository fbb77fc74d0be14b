"""Edits by transport: changes of meaning by a candidate's edits are moved to changes by a reference's edits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from softbleu.config.declare import setting
from softbleu.corpora.edits import EditedSegment, TextEdit, apply_edits
from softbleu.embeddings.choice import VectorChoice
from softbleu.io.arguments import Limit
from softbleu.io.progress import note_wait
from softbleu.kernels.transport import transport
from softbleu.metrics.aggregation import BestReference
from softbleu.metrics.base import EditMetric
from softbleu.metrics.bertscore import PARTS
from softbleu.metrics.chinese import Merging
from softbleu.metrics.edits import JudgedEdits, judge_by_links
from softbleu.metrics.requirements import Requirements, needed
from softbleu.metrics.score import Score, ScoreColumns, column
from softbleu.metrics.settings import DEFAULT_ENCODER, edit_language, edit_merging

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk, Vectors, WordTable
    from softbleu.metrics.protocols import EditPlan
    from softbleu.types import Floats, Integers

_LIMIT = Limit("uot", "pairs of edits", 1 << 25, "an essay of 1,000 words with 200 edits in each text: 40,000")
_CELLS = 1 << 20  # Pairs of edits whose plans are made together
_WHOLE = 256  # Words of a source up to which edits are seen in all of it
_PART = 32  # Words of a part of a longer one
_MANY_WORDS = 30_000  # Words to encode that take some twenty seconds
_LEAST = 0.01  # Mass of an edit that the encoder does not see, such as of case for one without case
_SHOWN = 0.01  # Least share of an edit whose way is shown
Effect = Literal["removed", "added"]
Cost = Literal["cosine", "euclidean"]
Line = tuple[str, ...]


@dataclass(frozen=True)
class UotScore(Score):
    """F of the mass of edits that is moved, and its parts."""

    moved: float = column("TP", "mass moved to reference edits", "count")
    left: float = column("FP", "mass of candidate edits left", "count")
    missed: float = column("FN", "mass of reference edits not reached", "count")
    precision: float = column("P", "precision", "per cent")  # 100 where nothing is changed
    recall: float = column("R", "recall", "per cent")  # 100 where nothing must be changed


@dataclass(frozen=True, repr=False)
class Uot(EditMetric):
    """Edits by optimal transport (Goto et al. 2026): edits that do the same to a sentence's vector count as the same.

    The vector of an edit is its addition to the mean of the vectors of a sentence's pieces. A source of more than 256
    words is taken for several sentences of 32 words. The edit's mass is the length of
    that vector. Unbalanced transport with entropy moves the mass of the candidate's edits to that of a reference's:
    moved mass is true positive, mass left of a candidate's edit false positive, mass not reached of a
    reference's false negative. Some mass is left even of equal edits. Of several references each segment takes the
    one with the greatest F.

    Parameters
    ----------
    beta
        Weight of recall in F; below 1 precision weighs more.
    effect
        An edit's vector is the corrected sentence less the same without the edit (`removed`), or the source with the
        edit less the source (`added`).
    cost
        Cost of moving mass: 1 less the cosine of two edits' vectors, or their distance (`euclidean`).
    entropy, marginal
        Weights of the plan's entropy, and of mass that is left: the greater `marginal`, the more is moved.
    language
        Code of the language by whose rules edits are found where none are given; None: English.
    merging
        Rules by which changes in a row are one edit: ERRANT's, or in Chinese ChERRANT's, the default there.

    Examples
    --------
    >>> round(Uot().score(np.array([3, 1, 1])).precision, 1)
    75.0
    """

    beta: float = setting(0.5, "Weight of recall beside precision", least=0, most=1e6)
    effect: Effect = setting("added", "An edit's effect: on the correction without it, or on the source")
    cost: Cost = setting("cosine", "Cost of moving mass from edit to edit")
    entropy: float = setting(0.1, "Weight of the plan's entropy", least=1e-3, most=1e3)
    marginal: float = setting(0.1, "Weight of mass that is left", least=1e-3, most=1e3)
    language: str | None = edit_language()
    merging: Merging | None = edit_merging()
    vector_choice: VectorChoice = setting(VectorChoice(DEFAULT_ENCODER), kw_only=True)
    name: ClassVar[str] = "uot"
    needs_errors: ClassVar[bool] = True
    also_rewards: ClassVar[str] = (
        "errors added to the source (65% of sentences); with beta 4 all edits of all systems, above the best"
    )

    @property
    def requires(self) -> Requirements:
        """The source, edits, and vectors of pieces."""
        return replace(super().requires, vectors=True, pieces=True)

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Mass that is moved, left and missed, in billionths: a row for each reference of each segment."""
        vectors = needed(words, self.name, "words").vectors
        return self.rows_of(self.plans(needed(chunk.edits, self.name, "edits"), vectors))

    def rows_of(self, plans: Sequence[EditPlan]) -> Integers:
        """Statistics of segments, by the plans of all their references; see `statistics`."""
        rows = []
        for one, other, plan in plans:
            left, missed = (np.maximum(mass - plan.sum(axis=axis), 0).sum() for mass, axis in ((one, 1), (other, 0)))
            rows.append([round(PARTS * float(mass)) for mass in (plan.sum(), left, missed)])
        return np.array(rows, np.int64).reshape(-1, 3)

    def judge_edits(
        self, chunk: Chunk, chosen: Sequence[int], words: WordTable | None, forms: Sequence[str]
    ) -> list[JudgedEdits]:
        """Edits of each segment, linked by the mass that is moved between them.

        The shares are those of what would be moved between two edits that are both the heavier one of these.
        """
        if chunk.edits is None or words is None:
            return []
        return self.judged_by(self.plans(chunk.edits, words.vectors), chunk.edits, chosen)

    def judged_by(
        self, plans: Sequence[EditPlan], segments: Sequence[EditedSegment], chosen: Sequence[int]
    ) -> list[JudgedEdits]:
        """Judge the edits of segments by the plans of all their references; see `judge_edits`."""
        by_reference, judged = iter(plans), list[JudgedEdits]()
        for segment, number in zip(segments, chosen, strict=True):
            one, other, plan = [next(by_reference) for _ in segment.references][number]
            heavier = np.maximum(np.maximum(one[:, None], other), _LEAST).reshape(-1, 1)
            free = np.zeros((len(heavier), 1, 1))
            most = transport(heavier, heavier, free, self.entropy, self.marginal).reshape(plan.shape)
            shares = np.minimum(plan / most, 1)
            links = [
                (row, column, float(shares[row, column])) for row, column in np.argwhere(shares >= _SHOWN).tolist()
            ]
            gold = segment.references[number]
            judged.append(judge_by_links(segment.source, segment.candidate, gold, links, number))
        return judged

    def plans(self, segments: Sequence[EditedSegment], vectors: Vectors) -> list[EditPlan]:
        """Transport the masses of a candidate's edits to the edits of each reference, of some segments.

        `vectors` has vectors of the words. For each reference in order: the masses of the candidate's edits, those of
        the reference's, and the plan between them.
        """
        for segment in segments:
            edits, most = len(segment.candidate), max(map(len, segment.references))
            _LIMIT.check(edits * most, f"a segment with {edits:,} candidate and {most:,} reference edits")
        texts = [
            (segment.source, edits) for segment in segments for edits in (segment.candidate, *segment.references)
        ]
        effects = iter(self._effects(texts, vectors))
        pairs: list[tuple[Floats, Floats]] = []
        for segment in segments:
            candidate = next(effects)
            pairs += [(candidate, next(effects)) for _ in segment.references]
        plans = [np.zeros((len(candidate), len(reference))) for candidate, reference in pairs]
        together: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for number, plan in enumerate(plans):
            if plan.size:
                together[plan.shape].append(number)
        for shape, numbers in together.items():
            size = max(1, _CELLS // prod(shape))
            for some in (numbers[start : start + size] for start in range(0, len(numbers), size)):
                solved = self._moved(*(np.stack([pairs[number][side] for number in some]) for side in (0, 1)))
                for number, plan in zip(some, solved, strict=True):
                    plans[number] = plan
        return [(_masses(one), _masses(other), plan) for (one, other), plan in zip(pairs, plans, strict=True)]

    def _moved(self, one: Floats, other: Floats) -> Floats:
        """Plans of problems of one size: (problems, edits, reference edits)."""
        masses, others = map(_masses, (one, other))
        products = one @ other.transpose(0, 2, 1)
        if self.cost == "cosine":
            costs = 1 - products / masses[:, :, None] / others[:, None, :]
        else:
            squares = (masses**2)[:, :, None] + (others**2)[:, None, :] - 2 * products
            costs = np.sqrt(np.maximum(squares, 0))
        # Edits that the encoder does not see are the same for it.
        costs[(masses <= _LEAST)[:, :, None] & (others <= _LEAST)[:, None, :]] = 0
        return transport(masses, others, costs, self.entropy, self.marginal)

    def _effects(self, texts: Sequence[tuple[Line, tuple[TextEdit, ...]]], vectors: Vectors) -> list[Floats]:
        """Vectors of the edits of each text: (edits, dimension)."""
        views = [self._views(*text) for text in texts]
        numbers: dict[Line, int] = {}
        for line in chain.from_iterable((after, before) for view in views for after, before in view):
            numbers.setdefault(line, len(numbers))
        if sum(map(len, numbers)) > _MANY_WORDS:
            note_wait("uot encodes a sentence anew for every edit, which takes a while")
        means = vectors.means_of(list(numbers))
        return [
            np.array([means[numbers[after]] - means[numbers[before]] for after, before in view]).reshape(
                -1, means.shape[1]
            )
            for view in views
        ]

    def _views(self, source: Line, edits: tuple[TextEdit, ...]) -> list[tuple[Line, Line]]:
        """Each edit's part of a text, with the edit and without it.

        The part is the whole of a source of up to `_WHOLE` words, else the `_PART` words, or some such parts in a
        row, in which the edit lies. It depends on nothing else, so that equal edits have equal vectors.
        """
        views, size = list[tuple[Line, Line]](), len(source)
        for number, (start, end, _) in enumerate(edits):
            low, high = 0, size
            if size > _WHOLE:
                low = min(start, size - 1) // _PART * _PART
                high = min(size, -(-max(end, start + 1) // _PART) * _PART)
            part, chosen = source[low:high], [number]
            if self.effect == "removed":
                chosen = [place for place, edit in enumerate(edits) if low <= edit[0] and edit[1] <= high]
            inside = {place: (edits[place][0] - low, edits[place][1] - low, edits[place][2]) for place in chosen}
            after = apply_edits(part, [*inside.values()])
            del inside[number]
            views.append((after, apply_edits(part, [*inside.values()])))
        return views

    def columns(self, rows: Integers | Floats) -> ScoreColumns[UotScore]:
        """Score rows of masses, or sums of rows."""
        moved, left, missed = np.asarray(rows, np.float64).T
        weight = self.beta**2
        ones = np.ones(len(moved))
        below = (1 + weight) * moved + weight * missed + left
        scores = 100 * np.divide((1 + weight) * moved, below, out=ones.copy(), where=below > 0)
        precision, recall = (
            100 * np.divide(moved, moved + other, out=ones.copy(), where=moved + other > 0)
            for other in (left, missed)
        )
        masses = {"moved": moved / PARTS, "left": left / PARTS, "missed": missed / PARTS}
        return ScoreColumns(UotScore, scores, **masses, precision=precision, recall=recall)

    @property
    def aggregation(self) -> BestReference:
        """The best reference."""
        return BestReference(self)


def _masses(effects: Floats) -> Floats:
    """Lengths of edits' vectors."""
    lengths: Floats = np.linalg.norm(effects, axis=-1)
    return np.maximum(lengths, _LEAST)
