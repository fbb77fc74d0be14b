"""I-measure: how much better, or worse, a candidate is than the uncorrected text."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from softbleu.config.declare import setting
from softbleu.io.arguments import Limit
from softbleu.kernels import Kernels, choose_kernels
from softbleu.metrics.aggregation import BestReference, best_rows
from softbleu.metrics.base import WholeMetric
from softbleu.metrics.edits import common_ends
from softbleu.metrics.protocols import CANDIDATE, REFERENCE, SOURCE, Mark
from softbleu.metrics.requirements import Requirements, needed
from softbleu.metrics.score import Score, ScoreColumns, column
from softbleu.types import Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.matching.ngrams import Chunk, WordTable
    from softbleu.types import Floats, Integers


_COUNTS = ("true_positives", "true_negatives", "false_positives", "false_negatives", "both")


@dataclass(frozen=True)
class IMeasureScore(Score):
    """An I-measure (-100 to 100) and its parts; ratios in percent."""

    true_positives: int = column("TP", "true positives", "count")  # Columns changed as in the reference
    true_negatives: int = column("TN", "true negatives", "count")  # Rightly left as they were
    false_positives: int = column("FP", "false positives", "count")  # Changed to anything else
    false_negatives: int = column("FN", "false negatives", "count")  # Wrong, and not corrected
    both: int = column("FPN", "counted as both", "count")  # False positives and negatives
    precision: float = column("P", "precision", "per cent")  # 100 where nothing is changed
    recall: float = column("R", "recall", "per cent")  # 100 where nothing must be corrected
    f1: float = column("", "F1", "per cent")
    accuracy: float = column("", "accuracy", "per cent")
    weighted_accuracy: float = column("WAcc", "weighted accuracy", "per cent")
    baseline_weighted_accuracy: float = column("WAcc source", "that of the source", "per cent")


@dataclass(frozen=True, repr=False)
class IMeasure(WholeMetric):
    """Improvement over the source (Felice & Briscoe 2015), with the numbers of the official program (`-nomix`).

    Source, candidate and reference are aligned word by word. The weighted accuracy of the candidate, in which
    changes weigh more than unchanged words, is compared with that of the source. A gain is divided by the greatest
    possible gain (1 minus the source's accuracy), a loss by the source's accuracy. For equal accuracies I is 1 if
    they are 1, else 0.

    The best reference of each segment counts: the one with the greatest weighted accuracy; ties by I, by
    accuracy, then by the same three of mere detection; then the first.

    Parameters
    ----------
    weight
        Weight of changes; unchanged words have weight 1.
    """

    weight: float = setting(2.0, "Weight of changed tokens", least=1e-6, most=1e6, flags=("--lambda",))
    name: ClassVar[str] = "imeasure"
    also_rewards: ClassVar[str] = "the source left as it is"
    requires: ClassVar[Requirements] = Requirements(source=True)
    label: ClassVar[str] = "I-measure"

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Count columns, as `count_alignment`; then true and false negatives of the source as candidate."""
        owners = np.repeat(np.arange(len(chunk)), np.diff(chunk.segment_offsets)).tolist()
        sources = needed(chunk.source, self.name, "source").by_line()
        candidates = chunk.candidates.by_line()
        references = tuple(chunk.references.by_line())
        unchanged = _unchanged_rows(tuple(sources[owner] for owner in owners), references)
        rows = np.column_stack((unchanged, unchanged[:, (TRUE_NEGATIVE, FALSE_NEGATIVE)]))
        changed = [index for index, owner in enumerate(owners) if candidates[owner] != sources[owner]]
        for index in changed:
            owner = owners[index]
            rows[index, :COLUMNS] = count_alignment((sources[owner], candidates[owner], references[index]))
        return rows

    def columns(self, rows: Integers | Floats) -> ScoreColumns[IMeasureScore]:
        """Score rows of counts, or sums of rows, from -100 to 100."""
        numbers = np.asarray(rows, np.float64)
        right, _, wrong, missed, _ = numbers.T[:5]
        precision, recall = _share(right, right + wrong), _share(right, right + missed)
        below = precision + recall
        f1 = np.divide(2 * precision * recall, below, out=np.zeros(len(below)), where=below > 0)
        improvement, weighted, accuracy, baseline = self.ratios(numbers)
        return ScoreColumns(
            IMeasureScore,
            100 * improvement,
            **dict(zip(_COUNTS, numbers.T[:5].astype(np.int64), strict=True)),
            precision=100 * precision,
            recall=100 * recall,
            f1=100 * f1,
            accuracy=100 * accuracy,
            weighted_accuracy=100 * weighted,
            baseline_weighted_accuracy=100 * baseline,
        )

    def ratios(self, rows: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Improvement, weighted accuracy, accuracy, and weighted accuracy of the source."""
        right, kept, wrong, missed, both, base_kept, base_missed = rows.T
        columns = right + kept + wrong + missed - both
        weight = self.weight
        below = weight * (right + wrong) + kept + missed - (weight + 1) * (both / 2)
        weighted = _share(weight * right + kept, below)
        baseline = _share(base_kept, base_kept + base_missed)
        gained = (weighted - baseline) / np.where(baseline == 1, 1, 1 - baseline)
        lost = weighted / np.where(baseline == 0, 1, baseline) - 1
        improvement = np.where(weighted > baseline, gained, lost)
        improvement = np.where(weighted == baseline, np.floor(weighted), improvement)
        return improvement, weighted, _share(right + kept, columns), baseline

    def marks(self, chunk: Chunk, words: WordTable | None) -> Iterator[list[Mark]]:
        """Columns of each alignment with the reference that counts, but for unchanged words."""
        rows = self.statistics(chunk, words, choose_kernels("numpy"))
        chosen = self.aggregation.chosen(rows, chunk.segment_offsets).tolist()
        sources, candidates, references = (
            tokens.by_line() for tokens in (chunk.source or chunk.candidates, chunk.candidates, chunk.references)
        )
        offsets = chunk.references.offsets
        first = offsets[chunk.segment_offsets[:-1]]
        for segment, line in enumerate(chosen):
            columns = align_columns((sources[segment], candidates[segment], references[line]))
            yield list(_column_marks(columns, int(offsets[line] - first[segment])))

    @property
    def aggregation(self) -> BestReference:
        """The best references."""
        return _BestAccuracy(self)


def _column_marks(columns: Sequence[AlignedColumn], shift: int) -> Iterator[Mark]:
    verdicts = {
        FALSE_POSITIVE: ("wrong", "changed wrongly"),
        TRUE_POSITIVE: ("right", "changed as in the reference"),
        FALSE_NEGATIVE: ("missed", "should be changed"),
    }
    for link, ((source, candidate, reference), kinds) in enumerate(columns):
        verdict = next((said for kind, said in verdicts.items() if kind in kinds), None)
        if verdict is not None:
            for text, at in ((CANDIDATE, candidate), (REFERENCE, reference), (SOURCE, source)):
                if at is not None:
                    yield Mark(text, at + shift * (text == REFERENCE), 1, verdict[0], link, verdict[1])


@dataclass(frozen=True)
class _BestAccuracy(BestReference):
    metric: IMeasure

    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """Choose the row of the best reference of each segment."""
        correction = np.asarray(rows, np.float64)
        # Detection asks only whether the right places are changed.
        detection = correction.copy()
        detection[:, 0] += detection[:, 4]
        detection[:, 2:5] -= detection[:, 4:5]
        keys = []
        for counts in (correction, detection):
            improvement, weighted, accuracy, _ = self.metric.ratios(counts)
            keys += [weighted, improvement, accuracy]
        return best_rows(offsets, *keys)


@lru_cache(maxsize=2)
def _unchanged_rows(sources: tuple[tuple[int, ...], ...], references: tuple[tuple[int, ...], ...]) -> Integers:
    """Counts of the sources as their own candidates, which all systems share."""
    rows = [count_alignment((source, source, other)) for source, other in zip(sources, references, strict=True)]
    return np.array(rows, np.int64).reshape(-1, COLUMNS)


def _share(part: Floats, whole: Floats) -> Floats:
    """Divide; nothing at all is all right."""
    return np.where(whole == 0, 1, part / np.where(whole == 0, 1, whole))


COLUMNS = 5
TRUE_POSITIVE, TRUE_NEGATIVE, FALSE_POSITIVE, FALSE_NEGATIVE, BOTH = range(COLUMNS)

AlignedColumn = tuple[tuple[int | None, ...], tuple[int, ...]]  # Places of its words, and what it counts as
_NO_WORD = -9
_MARGIN = 2


def count_alignment(triple: Triple) -> list[int]:
    """Align source, candidate and reference, and count the columns by kind.

    The sum over all pairs of texts is least (Felice & Briscoe 2015); of several such alignments the one that the
    official program finds is taken. Counted are true positives (changed as in the reference), true negatives
    (rightly left), false positives, false negatives, and columns that are both of these.

    >>> count_alignment(((0, 1, 2), (0, 3, 2), (0, 4, 2, 5)))
    [0, 2, 1, 2, 1]
    """
    columns, ends = _aligned(triple)
    counts = [0] * COLUMNS
    counts[TRUE_NEGATIVE] = sum(ends)
    for _, kinds in columns:
        for kind in kinds:
            counts[kind] += 1
    return counts


def align_columns(triple: Triple) -> list[AlignedColumn]:
    """Write out the columns that `count_alignment` counts, from left to right.

    >>> align_columns(((0, 1, 2), (0, 3, 2), (0, 4, 2, 5)))[1:]
    [((1, 1, 1), (2, 3, 4)), ((2, 2, 2), (1,)), ((None, None, 3), (3,))]
    """
    middle, (prefix, suffix) = _aligned(triple)
    moved = [
        (tuple(None if index is None else prefix + index for index in indices), kinds) for indices, kinds in middle
    ]
    before = [((index,) * 3, (TRUE_NEGATIVE,)) for index in range(prefix)]
    after = [(tuple(len(text) - suffix + index for text in triple), (TRUE_NEGATIVE,)) for index in range(suffix)]
    return [*before, *moved[::-1], *after]


def _aligned(triple: Triple) -> tuple[list[AlignedColumn], tuple[int, int]]:
    """Find the columns between the common ends, the last first, and how long these are."""
    suffix, prefix = common_ends(*(text[::-1] for text in triple))
    # The common end is aligned with itself by the way that is taken; the common beginning mostly.
    for start in (max(0, prefix - _MARGIN), 0):
        source, candidate, reference = (text[start : len(text) - suffix] for text in triple)
        columns = _follow((source, candidate, reference), begun=start > 0)
        if columns is not None:
            break
    return columns or [], (start, suffix)


def _follow(triple: Triple, *, begun: bool) -> list[AlignedColumn] | None:
    """Follow the first of equally cheap ways from the end; None where the cut parts might matter.

    The ways are I-measure's own: three texts are aligned at once, and the official program decides ties by the order
    of `MOVES`.
    """
    costs = find_costs(triple)
    cost_at: Callable[[Node], int | None] = Band(triple).cost if costs is None else costs.get
    columns: list[AlignedColumn] = []
    source, candidate, reference = triple
    cell = (len(source), len(candidate), len(reference))
    here = cost_at(cell) or 0
    while any(cell):
        i, j, k = cell
        if begun and not (i and j and k):
            return None
        one = source[i - 1] if i else _NONE[0]
        other = candidate[j - 1] if j else _NONE[1]
        third = reference[k - 1] if k else _NONE[2]
        unlike = (one != other, one != third, other != third)
        for down, across, onward, price in _STEPS[(i > 0, j > 0, k > 0), unlike]:
            cell = (i - down, j - across, k - onward)
            if cost_at(cell) == here - price:
                break
        here -= price
        kinds = _kinds_of(one if down else _NO_WORD, other if across else _NO_WORD, third if onward else _NO_WORD)
        indices = cell[0] if down else None, cell[1] if across else None, cell[2] if onward else None
        columns.append((indices, kinds))
    return columns


def _kinds_of(source: int, candidate: int, reference: int) -> tuple[int, ...]:
    """Classify a column; a gap equals a gap, and no word."""
    if candidate == reference:
        return (TRUE_NEGATIVE if source == candidate else TRUE_POSITIVE,)
    if source == candidate:
        return (FALSE_NEGATIVE,)
    return (FALSE_POSITIVE,) if source == reference else (FALSE_POSITIVE, FALSE_NEGATIVE, BOTH)


Triple = tuple[Words, Words, Words]  # Source, candidate and reference
Node = tuple[int, int, int]  # How many words of each lie behind

GAP, MISMATCH = 2, 3  # Costs of a pair of texts in a column: a word beside none, and beside another; equal words: 0
PAIRS = ((0, 1), (0, 2), (1, 2))
MOVES = tuple(  # Which texts have a word in a column, what its gaps cost, and which pairs of words meet in it
    (move, GAP * sum(move[a] != move[b] for a, b in PAIRS), tuple(bool(move[a] and move[b]) for a, b in PAIRS))
    for move in ((1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1))
)
# Moves and their costs, where these texts have words left and these pairs of their next words differ
_STEPS = {
    (have, unlike): tuple(
        (*move, gaps + MISMATCH * sum(map(operator.and_, meet, unlike)))
        for move, gaps, meet in MOVES
        if all(map(operator.le, move, have))
    )
    for have in product((False, True), repeat=3)
    for unlike in product((False, True), repeat=3)
}
_NONE = (-1, -2, -3)
_FAR = 1 << 60
_STRAY = 3
_MOST_CELLS, _CELLS_A_WORD = 20_000, 150  # Of all texts, or so many more a word (1 GB for 25,000 words)
MOST_PAIRS = 1 << 25  # Words of two texts, each with each; their tables have so many entries (0.3 GB)


def find_costs(triple: Triple) -> dict[Node, int] | None:
    """Find the costs up to all cells of all cheapest alignments; costs of other cells may be missing or too great.

    A search ahead (A*): what the rest of the three pairs of texts costs, each pair aligned by itself, is never more
    than the rest of the alignment of all three. None where too many cells would have to be looked at.

    >>> find_costs(((0, 1), (0, 2), (0, 1)))[2, 2, 2]
    6
    """
    source, candidate, reference = triple
    end = (len(source), len(candidate), len(reference))
    if max(end[a] * end[b] for a, b in PAIRS) > MOST_PAIRS:
        return None
    first, second, third = (_rest_costs(triple[a], triple[b]) for a, b in PAIRS)
    costs = {(0, 0, 0): 0}
    most = max(_MOST_CELLS, _CELLS_A_WORD * sum(end))
    waiting = {first[0][0] + second[0][0] + third[0][0]: [(0, 0, 0)]}
    done: set[Node] = set()
    while end not in done:
        estimate = min(waiting)
        cells = waiting.pop(estimate)
        # All of the same estimate, the end's too: ties are decided when all equally cheap ways are known.
        while cells:
            cell = cells.pop()
            if cell in done:
                continue
            done.add(cell)
            here = costs[cell]
            i, j, k = cell
            word = source[i] if i < end[0] else _NONE[0]
            other = candidate[j] if j < end[1] else _NONE[1]
            beyond = reference[k] if k < end[2] else _NONE[2]
            have = (i < end[0], j < end[1], k < end[2])
            for down, across, onward, price in _STEPS[have, (word != other, word != beyond, other != beyond)]:
                cost, there = here + price, (i + down, j + across, k + onward)
                if cost < costs.get(there, _FAR):
                    costs[there] = cost
                    ahead = cost + first[i + down][j + across]
                    ahead += second[i + down][k + onward] + third[j + across][k + onward]
                    if ahead == estimate:
                        cells.append(there)
                    else:
                        waiting.setdefault(ahead, []).append(there)
            if len(done) > most:
                return None
    return costs


def _rest_costs(one: Words, other: Words) -> list[list[int]]:
    """Bound the costs of aligning the rest of two texts; exact near the cheapest way, elsewhere by gaps."""
    shift, stray = abs(len(one) - len(other)), _STRAY
    while True:
        table = _rest_costs_near(one, other, stray)
        # A way that strays further costs two gaps for each word, there and back.
        if table[0][0] < GAP * (shift + 2 * stray):
            return table
        stray *= 2


def _rest_costs_near(one: Words, other: Words, stray: int) -> list[list[int]]:
    rows, columns = len(one), len(other)
    # Everything backwards, from the ends of both.
    gaps = [GAP * abs(number - rows) for number in range(rows + columns + 1)]
    below = gaps[rows : rows + columns + 1]
    table = [below]
    backwards = other[::-1]
    lowest, highest = min(0, columns - rows) - stray, max(0, columns - rows) + stray
    for number, word in enumerate(reversed(one), start=1):
        row = gaps[rows - number : rows - number + columns + 1]
        start, stop = max(1, number + lowest), min(columns, number + highest) + 1
        left = row[start - 1]
        for at in range(start, stop):
            up, cost = below[at], below[at - 1]
            if backwards[at - 1] != word:
                cost += MISMATCH
            left = (left if left < up else up) + GAP
            if cost < left:
                left = cost
            row[at] = left
        table.append(row)
        below = row
    for row in table:
        row.reverse()
    table.reverse()
    return table


if TYPE_CHECKING:
    Codes = NDArray[np.int32]
    Costs = NDArray[np.signedinteger]

_LIMIT = Limit(  # Of 2 or 4 bytes each
    "imeasure", "cells of a table", 1 << 29, "three texts of 250 words that have nothing in common: 16,000,000"
)
_NO_WAY, _VERY_FAR = 1 << 14, 1 << 29  # What stands for no way at all, in tables of 16 and of 32 bits
_ROUNDS = 4


class Band:
    """Find least costs up to cells near the diagonal, all cells of cheapest alignments included."""

    def __init__(self, triple: Triple) -> None:
        self.triple = triple
        lengths = [len(text) for text in triple]
        least = _least_costs(triple)
        half_width = _half_width(sum(least), lengths, least)
        while True:
            self._set_bounds(lengths, half_width)
            self._fill()
            # What is found in too narrow a band tells how wide it must be.
            needed = _half_width(self.cost((lengths[0], lengths[1], lengths[2])), lengths, least)
            if needed <= half_width:
                return
            half_width = needed

    def _set_bounds(self, lengths: list[int], half_width: int) -> None:
        """Entry (i, a, b) stands for i source, ``i + low[0] + a`` candidate, ``i + low[1] + b`` reference words."""
        shifts = [length - lengths[0] for length in lengths[1:]]
        # Beyond all words of a text there is nothing.
        self.low = [max(min(shift, 0) - half_width, -lengths[0]) for shift in shifts]
        high = [min(max(shift, 0) + half_width, most) for shift, most in zip(shifts, lengths[1:], strict=True)]
        self.width = [top - bottom + 1 for top, bottom in zip(high, self.low, strict=True)]
        words = "{:,} source, {:,} candidate and {:,} reference words".format(*lengths)
        _LIMIT.check((lengths[0] + 1) * self.width[0] * self.width[1], f"a segment of {words}, so changed,")

    def cost(self, cell: tuple[int, int, int]) -> int:
        """Least cost up to a cell; one outside of the band is far."""
        one, other = cell[1] - cell[0] - self.low[0], cell[2] - cell[0] - self.low[1]
        if 0 <= one < self.width[0] and 0 <= other < self.width[1]:
            return int(self.costs[cell[0], one, other])
        return _VERY_FAR

    def _padded(self, number: int) -> Codes:
        """Make a text an array whose entry ``row + a`` is the word that entry `a` in the row has last."""
        before = 1 - self.low[number - 1]
        text = self.triple[number]
        # Fillers of its own: nothing is equal beyond the words of a text.
        padded = np.full(max(len(self.triple[0]) + self.width[number - 1], before + len(text)), -1 - number, np.int32)
        padded[before : before + len(text)] = text
        return padded

    def _fill(self) -> None:
        source = self.triple[0]
        candidate, reference = self._padded(1), self._padded(2)
        first, second = self.width
        # As many gaps as there can be.
        small = 2 * GAP * sum(map(len, self.triple)) < _NO_WAY
        far, kind = (_NO_WAY, np.int16) if small else (_VERY_FAR, np.int32)
        # With a border, for moves from outside.
        self.costs: Costs = np.full((len(source) + 1, first + 1, second + 1), far, kind)
        two_gaps, prices = kind(2 * GAP), np.array([0, MISMATCH], kind)
        for row in range(len(source) + 1):
            here = self.costs[row, :first, :second]
            ours, theirs = candidate[row : row + first], reference[row : row + second]
            between = prices[(ours[:, None] != theirs).view(np.int8)]
            if row:
                above, word = self.costs[row - 1], source[row - 1]
                to_candidate = prices[(ours != word).view(np.int8)][:, None]
                to_reference = prices[(theirs != word).view(np.int8)]
                np.add(above[:first, :second], between, out=here)
                here += to_candidate
                here += to_reference
                np.minimum(here, above[:first, 1:] + (to_candidate + two_gaps), out=here)
                np.minimum(here, above[1:, :second] + (to_reference + two_gaps), out=here)
                np.minimum(here, above[1:, 1:] + two_gaps, out=here)
            else:
                here[-self.low[0], -self.low[1]] = 0
            # Entries for fewer words than none are part of no alignment.
            unused = [max(0, -row - low) for low in self.low]
            here[: unused[0]] = far
            here[:, : unused[1]] = far
            _spread(here[unused[0] :, unused[1] :], between[unused[0] :, unused[1] :])
            np.minimum(here, kind(far), out=here)


def _spread(here: Costs, between: Costs) -> None:
    """Lower the costs of a row by the ways within it, which take no source word."""
    two_gaps = here.dtype.type(2 * GAP)
    across = two_gaps * np.arange(here.shape[1], dtype=here.dtype)
    down = two_gaps * np.arange(here.shape[0], dtype=here.dtype)[:, None]
    both = between[1:, 1:] + two_gaps
    # A word or two at a place is the rule; only longer insertions need the way word by word.
    for _ in range(_ROUNDS):
        for steps, axis in ((across, 1), (down, 0)):
            here -= steps
            np.minimum.accumulate(here, axis=axis, out=here)
            here += steps
        before = here[:-1, :-1] + both
        if (before >= here[1:, 1:]).all():
            return
        np.minimum(here[1:, 1:], before, out=here[1:, 1:])
    for index, line in enumerate(here):
        if index:
            np.minimum(line, here[index - 1] + two_gaps, out=line)
            np.minimum(line[1:], here[index - 1, :-1] + both[index - 1], out=line[1:])
        line -= across
        np.minimum.accumulate(line, out=line)
        line += across


def _least_costs(triple: Triple) -> list[int]:
    """Find the least cost of each pair of texts: words that only one has are aligned with another or a gap."""
    least = []
    words = [Counter(text) for text in triple]
    for one, other in PAIRS:
        only = (words[one] - words[other]).total(), (words[other] - words[one]).total()
        least.append(MISMATCH * min(only) + GAP * abs(only[0] - only[1]))
    return least


def _half_width(cost: int, lengths: list[int], least: list[int]) -> int:
    """Find the width of a band that only alignments of greater cost leave.

    A path that strays by one word more than the difference in length needs two more gaps in that pair of texts. The
    other two pairs have their least costs (Carrillo & Lipman 1988), or those gaps count in the third pair as well.
    """
    needed = 0
    for text, others in ((1, (1, 2)), (2, (0, 2))):
        shift = abs(lengths[text] - lengths[0])
        one = (cost - 2 * shift - sum(least[pair] for pair in others)) // 4
        needed = max(needed, min(one, (cost - 4 * shift) // 8))
    return needed
