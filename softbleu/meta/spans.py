"""How well predicted spans are those that judges mark: precision, recall and F1 in characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.corpora.judgements import drawn_with
from softbleu.corpora.judgements.spans import MAJOR, MINOR, MarkedSpan, SpanTable
from softbleu.errors import InputError
from softbleu.meta.correlation import Estimate, divide, draw_batches

if TYPE_CHECKING:
    from softbleu.corpora.labels import Documents
    from softbleu.types import Integers

_BITS = {MINOR: 1, MAJOR: 2, "": 3}
_CREDIT = np.array([[0, 0, 0, 0], [0, 1, 0.5, 1], [0, 0.5, 1, 1], [0, 1, 1, 1]])
"""Of a character that judges mark (rows: no, minor, major, both) and that is predicted (columns)."""


@dataclass(frozen=True, eq=False)
class Marks:
    """Spans that judges marked, and those of metrics."""

    judged: SpanTable
    predicted: Sequence[SpanTable]
    texts: Mapping[str, Sequence[str]] | None = None  # Of each system, where they are known
    documents: Documents | None = None  # Of the segments, where samples draw these


@dataclass(frozen=True, eq=False)
class SpanAgreement:
    """How well a metric's spans are those of judges, micro-averaged over judgements."""

    metric: str
    precision: float | None
    recall: float | None
    f1: Estimate
    random: Estimate  # F1 of as many random characters of the same outputs, by expectation
    predicted: int  # Characters
    marked: int
    judgements: int


def span_agreements(marks: Marks, samples: int = 1000, seed: int = 12345) -> list[SpanAgreement]:
    """Compare the spans of each metric with those of judges, as WMT does (Blain et al. 2023; Alves et al. 2024).

    A character that both mark counts 1, or 1/2 where one says minor and the other major. Precision divides the sum by
    the characters predicted, recall by those marked. An empty span has one character. Each judgement of an output
    counts by itself; what a metric did not look at has no spans. Random characters are those that are no blanks, and
    need the texts. Samples draw segments, or their documents.

    Parameters
    ----------
    marks
        Spans of judges and of metrics.
    samples, seed
        Bootstrap samples, 0 or more, and the seed of the draws.

    Examples
    --------
    >>> from softbleu.corpora.judgements import MarkedOutput
    >>> judges = SpanTable("judges", {"A": {0: [MarkedOutput("", (MarkedSpan(0, 4, "major"),))]}})
    >>> metric = SpanTable("m", {"A": {0: [MarkedOutput("", (MarkedSpan(2, 6, "minor"),))]}})
    >>> (agreement,) = span_agreements(Marks(judges, [metric]), samples=0)
    >>> agreement.precision, agreement.recall, agreement.f1.value
    (0.25, 0.25, 0.25)
    """
    for table in (marks.judged, *marks.predicted) if marks.texts is not None else ():
        table.check(marks.texts or {})
    return [_agreement(marks, predicted, samples, seed) for predicted in marks.predicted]


def _agreement(marks: Marks, predicted: SpanTable, samples: int, seed: int) -> SpanAgreement:
    judged = marks.judged.outputs
    if not judged.keys() & predicted.outputs.keys():
        raise InputError(f"{predicted.name} has spans of none of the judged systems {', '.join(judged)}")
    rows, places = [], list[int]()
    for system in judged.keys() & predicted.outputs.keys():
        lines = (marks.texts or {}).get(system)
        for segment, outputs in judged[system].items():
            said = [output.spans for output in predicted.outputs[system].get(segment, ())]
            line = None if lines is None else lines[segment]
            rows += [_counts(output.spans, said[0] if said else (), line) for output in outputs]
            places += [segment] * len(outputs)
    numbers = np.unique(
        drawn_with(np.array(places), None if marks.documents is None else marks.documents.numbers),
        return_inverse=True,
    )[1]
    sums = np.stack([np.bincount(numbers, column) for column in np.array(rows).T], axis=1)
    drawn = np.concatenate([sums.sum(axis=0)[None], *(c @ sums for c in draw_batches(len(sums), samples, seed))])
    right, guessed, marked, by_chance, spread = drawn.T
    chance = divide(2 * by_chance, (spread + marked) * (marks.texts is not None))
    shares = [divide(right, guessed), divide(right, marked), divide(2 * right, guessed + marked), chance]
    precision, recall, f1, random = (Estimate(None if np.isnan(v[0]) else float(v[0]), v[1:]) for v in shares)
    counts = int(guessed[0]), int(marked[0]), len(rows)
    return SpanAgreement(predicted.name, precision.value, recall.value, f1, random, *counts)


def _counts(judged: Sequence[MarkedSpan], predicted: Sequence[MarkedSpan], line: str | None) -> tuple[float, ...]:
    """Characters: credit, predicted, marked; and credit and number of as many random ones, by expectation."""
    length = max([len(line or "") + 1, *(span.end + 1 for span in (*judged, *predicted) if line is None)])
    marks, guessed = (_flags(spans, length, line is not None) for spans in (judged, predicted))
    right = float(_CREDIT[marks, guessed].sum())
    sizes = float((guessed > 0).sum()), float((marks > 0).sum())
    if line is None or not guessed.any():
        return right, *sizes, 0.0, 0.0
    visible = np.array([not char.isspace() for char in line] + [False])
    shares = np.bincount(guessed[visible], minlength=4) / max(int(visible.sum()), 1)
    shares[0] = 0
    return right, *sizes, float((_CREDIT[marks[visible]] @ shares).sum()), float(shares.sum() * visible.sum())


def _flags(spans: Sequence[MarkedSpan], length: int, cut: bool) -> Integers:
    """Bits of minor and major at each place of a line and at its end."""
    flags = np.zeros(length, np.int64)
    for start, end, severity in spans:
        if cut:
            start, end = min(start, length - 1), min(end, max(length - 1, start))
        flags[start : max(end, start + 1)] |= _BITS[severity]
    return flags
