"""I-measure: how much better, or worse, a candidate is than the text that was to be corrected."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from softbleu.config.declare import setting
from softbleu.errors import InputError
from softbleu.metrics.aggregation import BestReference, best_rows
from softbleu.metrics.base import Metric, Requirements
from softbleu.metrics.imeasure.alignment import COLUMNS, FALSE_NEGATIVE, TRUE_NEGATIVE, count_alignment
from softbleu.metrics.score import Score, column

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.similarity import WordTable
    from softbleu.text.tokens import Tokens
    from softbleu.types import Floats, Integers


@dataclass(frozen=True)
class IMeasureScore(Score):
    """An I-measure (-100 to 100) and what it is made of; ratios in percent."""

    true_positives: int = column("TP", "true positives", "count")  # Columns changed as in the reference
    true_negatives: int = column("TN", "true negatives", "count")  # Rightly left as they were
    false_positives: int = column("FP", "false positives", "count")  # Changed to anything else
    false_negatives: int = column("FN", "false negatives", "count")  # Wrong, and not corrected
    both: int = column("FPN", "counted as both", "count")  # False positives and negatives
    precision: float = column("P", "precision", "per cent")  # 100 where nothing is changed
    recall: float = column("R", "recall", "per cent")  # 100 where nothing is to be corrected
    f1: float = column("", "F1", "per cent")
    accuracy: float = column("", "accuracy", "per cent")
    weighted_accuracy: float = column("WAcc", "weighted accuracy", "per cent")
    baseline_weighted_accuracy: float = column("WAcc source", "that of the source", "per cent")


@dataclass(frozen=True, repr=False)
class IMeasure(Metric):
    """Improvement over the source (Felice & Briscoe 2015), with the numbers of the official program (`-nomix`).

    Source, candidate and reference are aligned word by word. The weighted accuracy of the candidate, in which
    changes weigh more than what is left as it is, is compared with that of the source: the improvement is the share
    of what is missing to 1 that is gained, or the share of what the source has that is lost; for equal accuracies 1
    where they are 1, else 0.

    The best reference of each segment counts: the one with the greatest weighted accuracy; ties by I, by
    accuracy, then by the same three of mere detection; then the first.

    Parameters
    ----------
    weight
        Of changes, beside 1 for what is left.
    """

    weight: float = setting(2.0, "How much changes weigh", least=1e-6, most=1e6, flags=("--lambda",))
    name: ClassVar[str] = "imeasure"
    requires: ClassVar[Requirements] = Requirements(source=True)
    label: ClassVar[str] = "I-measure"

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Count columns, as `count_alignment`; then true and false negatives of the source as candidate."""
        if chunk.source is None:
            raise InputError("the I-measure needs the source text: name it with --source (or --gold), or source=[…]")
        owners = np.repeat(np.arange(len(chunk)), np.diff(chunk.segment_offsets)).tolist()
        sources, candidates = _lines(chunk.source), _lines(chunk.candidates)
        references = tuple(_lines(chunk.references))
        unchanged = _unchanged_rows(tuple(sources[owner] for owner in owners), references)
        rows = np.column_stack((unchanged, unchanged[:, (TRUE_NEGATIVE, FALSE_NEGATIVE)]))
        changed = [place for place, owner in enumerate(owners) if candidates[owner] != sources[owner]]
        for place in changed:
            owner = owners[place]
            rows[place, :COLUMNS] = count_alignment((sources[owner], candidates[owner], references[place]))
        return rows

    def score(self, row: Integers | Floats) -> IMeasureScore:
        """Score one row of counts, or a sum of rows."""
        right, kept, wrong, missed, both = (int(number) for number in row[:5])
        precision = right / (right + wrong) if right + wrong else 1.0
        recall = right / (right + missed) if right + missed else 1.0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        improvement, weighted, accuracy, baseline = (
            float(ratio[0]) for ratio in self.ratios(np.asarray(row, np.float64)[None])
        )
        shares = (100 * share for share in (precision, recall, f1, accuracy, weighted, baseline))
        return IMeasureScore(100 * improvement, right, kept, wrong, missed, both, *shares)

    def scores(self, rows: Integers | Floats) -> Floats:
        """Scores of many rows at once, -100 to 100."""
        return 100 * self.ratios(np.asarray(rows, np.float64))[0]

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

    @property
    def aggregation(self) -> BestReference:
        """The best references."""
        return _BestAccuracy(self)


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


def _lines(tokens: Tokens) -> list[tuple[int, ...]]:
    codes = tokens.codes.tolist()
    return [tuple(codes[start:stop]) for start, stop in pairwise(tokens.offsets.tolist())]


@lru_cache(maxsize=2)
def _unchanged_rows(sources: tuple[tuple[int, ...], ...], references: tuple[tuple[int, ...], ...]) -> Integers:
    """Counts of the sources as their own candidates, which all systems share."""
    rows = [count_alignment((source, source, other)) for source, other in zip(sources, references, strict=True)]
    return np.array(rows, np.int64).reshape(-1, COLUMNS)


def _share(part: Floats, whole: Floats) -> Floats:
    """Divide; nothing at all is all right."""
    return np.where(whole == 0, 1, part / np.where(whole == 0, 1, whole))
