"""Word error rate as a metric of softbleu: what one metric takes, and all that it takes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from softbleu.declare import setting
from softbleu.metrics import Metric, Score, column


@dataclass(frozen=True)
class WordErrors(Score):
    """Word error rate in per cent, and the edits that it counts."""

    substitutions: int = column("S", "substitutions", "count")
    deletions: int = column("D", "deletions", "count")
    insertions: int = column("I", "insertions", "count")
    reference_length: int = column("words", "reference words", "tokens")


@dataclass(frozen=True)
class WordErrorRate(Metric):
    """Least cost of edits that make the candidate of its best reference, per word of that reference."""

    substitution_cost: float = setting(1.0, "Cost of a substitution beside an insertion's", least=0, most=1e6)
    name: ClassVar[str] = "wer"
    higher_is_better: ClassVar[bool] = False

    def statistics(self, chunk, words, kernels):
        """Count substitutions, deletions, insertions and reference words of each segment: (segments, 4)."""
        texts = (np.split(tokens.codes, tokens.offsets[1:-1]) for tokens in (chunk.candidates, chunk.references))
        candidates, references = ([line.tolist() for line in text] for text in texts)
        rows = []
        for candidate, (start, stop) in zip(candidates, pairwise(chunk.segment_offsets.tolist()), strict=True):
            found = [self._count(candidate, reference) for reference in references[start:stop]]
            rows.append(min(found, key=lambda row: self.score(row).score))
        return np.array(rows, np.int64)

    def _count(self, candidate, reference):
        """Fill the table of edit distances row by row; a cell is the least cost, and its substitutions."""
        row = [(float(place), 0) for place in range(len(reference) + 1)]
        for number, word in enumerate(candidate, start=1):
            above, row = row, [(float(number), 0)]
            for place, other in enumerate(reference):
                (kept, same), (up, inserted), (left, deleted) = above[place], above[place + 1], row[place]
                change = (kept, same) if word == other else (kept + self.substitution_cost, same + 1)
                row.append(min(change, (up + 1, inserted), (left + 1, deleted)))
        cost, substitutions = row[-1]
        both, more = round(cost - self.substitution_cost * substitutions), len(reference) - len(candidate)
        return [substitutions, (both + more) // 2, (both - more) // 2, len(reference)]

    def score(self, row):
        """Score a row of counts, or a sum of rows: 100 (cost S + D + I) / words."""
        s, d, i, words = (int(number) for number in row)
        return WordErrors(100 * (self.substitution_cost * s + d + i) / max(words, 1), s, d, i, words)
