"""Hold the statistics of a corpus: rows of segments kept or summed, and the results that they give."""

from __future__ import annotations

import tempfile
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, overload
from weakref import finalize

import numpy as np

from softbleu.corpora.labels import Documents
from softbleu.io.platform import cached_property, single_threaded_blas
from softbleu.metrics.base import Level, Metric
from softbleu.metrics.guards import failure_of
from softbleu.metrics.protocols import NamesCauses, at_level, in_percent
from softbleu.metrics.result import Coverage, Result
from softbleu.metrics.score import DocumentScore, Score

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Against
    from softbleu.corpora.gating import Gating
    from softbleu.metrics.aggregation import Aggregation
    from softbleu.types import Integers, Keywords


_MOST_KEPT = 1 << 18  # Numbers that are kept in memory; more are in a file that goes with them


@dataclass(frozen=True)
class Rows:
    """Statistics of consecutive segments by one metric, for every system."""

    rows: Integers  # (systems, rows, k); a single row each where only the sum is kept
    counts: Integers  # Rows of each segment: 1, or as many as it has references; a sum counts as one segment
    segments: int
    coverage: Integers
    """(systems, 4): tokens of candidates, with a vector; tokens of references, with a vector."""
    references: tuple[int, int]  # Fewest and most references of a segment

    @classmethod
    def joined(cls, metric: Metric, parts: Sequence[Rows], *, keep: bool) -> Rows:
        """Put parts one behind the other with `keep`, else add them up, in their order."""
        rows, counts = [part.rows for part in parts], parts[0].counts
        check_widths(metric, rows)
        if keep:
            counts = np.concatenate([part.counts for part in parts])
        return cls(
            np.concatenate(rows, axis=1) if keep else reduce(np.add, rows),
            counts,
            sum(part.segments for part in parts),
            reduce(np.add, [part.coverage for part in parts]),
            (min(part.references[0] for part in parts), max(part.references[1] for part in parts)),
        )


def check_widths(metric: Metric, parts: Sequence[Integers]) -> None:
    """Check that the rows of a metric have as many numbers in all parts; the error names the metric."""
    widths = sorted({rows.shape[-1] for rows in parts})
    if len(widths) > 1:
        raise failure_of(metric, f"{widths[0]} numbers in one row of statistics, and {widths[1]} in another")


class RowTotals:
    """Statistics of a metric so far, reduced as they come to no more than its scores at a level need."""

    def __init__(self, metric: Metric, level: Level, *, keep_rows: bool, small: bool = False) -> None:
        aggregation, segments = at_level(metric, level).aggregation, level == "segment"
        # A score may need more than the sum of rows, but not all of them at once.
        reduces = aggregation.by_segment if segments else not aggregation.sum_is_enough
        reduces = reduces and aggregation.has_corpus_score and not keep_rows
        self.stream = aggregation.stream() if reduces else None
        self.kept = KeptRows(aggregation) if reduces and segments else None
        self._keep = keep_rows or not metric.aggregation.sum_is_enough or level != "corpus"
        self.needs_rows = reduces or self._keep  # Whether it must be given the rows of segments, not their sum
        self._metric, self._parts = metric, list[Rows]()
        self._small = small and metric.aggregation.sum_is_enough

    def add(self, part: Rows) -> None:
        """Add the next segments."""
        if self.stream is not None:
            self.stream.add(part.rows, part.counts)
            if self.kept is not None:
                self.kept.add(part.rows, part.counts)
            part = replace(part, rows=part.rows[:, :0], counts=part.counts[:0])
        self._parts.append(replace(part, rows=small_numbers(part.rows)) if self._small else part)
        if len(self._parts) > 1 and (self.stream is not None or not self._keep):
            self._parts = [Rows.joined(self._metric, self._parts, keep=False)]

    def taken(self) -> Rows:
        """Put all together."""
        return self._parts[0] if len(self._parts) == 1 else Rows.joined(self._metric, self._parts, keep=True)


def small_numbers(rows: Integers) -> Integers:
    """Make whole numbers of 16 or 32 bits where these are enough; others stay as they are."""
    if rows.dtype.kind != "i" or not rows.size:
        return rows
    ends = np.iinfo(np.int16), np.iinfo(np.int32)
    least, most = int(rows.min()), int(rows.max())
    return rows.astype(next((end.dtype for end in ends if end.min < least and most <= end.max), rows.dtype))


class KeptRows:
    """Rows of the segments of every system, block by block; many are in a file."""

    def __init__(self, aggregation: Aggregation) -> None:
        self.aggregation = aggregation
        self._parts: list[tuple[Integers, Integers] | int] = []
        self._stops: list[int] = []
        self._size = 0
        self._file: IO[bytes] | None = None

    def __len__(self) -> int:
        return self._stops[-1] if self._stops else 0

    def segments(self, system: int) -> Sequence[Score]:
        """Score the segments of a system; scores of a long text are computed on access."""
        scores = SegmentScores(self, system)
        return tuple(scores) if self._file is None else scores

    def chosen(self, system: int) -> ChosenRows | None:
        """Rows that the corpus score of a system is made of, one a segment; None where there is more to it."""
        chosen = ChosenRows(self, system)
        return None if next(iter(chosen), None) is None else chosen

    def add(self, rows: Integers, counts: Integers) -> None:
        """Keep the next segments: (systems, rows, k), and how many rows each segment has."""
        self._stops.append(len(self) + len(counts))
        self._size += rows.size
        if self._size <= _MOST_KEPT:
            self._parts.append((rows, counts))
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="softbleu-")  # noqa: SIM115
            finalize(self, self._file.close)
        self._parts.append(self._file.seek(0, 2))
        for array in (rows, counts):
            np.save(self._file, array, allow_pickle=False)

    def blocks(self, first: int = 0) -> Iterator[tuple[int, Integers, Integers]]:
        """The blocks from that of segment `first`: the number of the first segment, rows and counts."""
        for number in range(bisect_right(self._stops, first), len(self._parts)):
            part: Any = self._parts[number]
            if self._file is not None and isinstance(part, int):
                self._file.seek(part)
                part = [np.load(self._file, allow_pickle=False) for _ in range(2)]
            yield self._stops[number - 1] if number else 0, *part


@dataclass(frozen=True)
class ChosenRows:
    """Rows of the segments of a system, read again each time that they are gone through."""

    rows: KeptRows
    system: int

    def __iter__(self) -> Iterator[Integers]:
        for _, rows, counts in self.rows.blocks():
            chosen = self.rows.aggregation.counts(rows[self.system], np.concatenate(([0], np.cumsum(counts))))
            yield from () if chosen is None else chosen


class SegmentScores(Sequence[Score]):
    """Scores of the segments of a system, computed when they are looked at."""

    def __init__(self, rows: KeptRows, system: int) -> None:
        self._rows, self._system = rows, system

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Score]:
        return self._from(0)

    @overload
    def __getitem__(self, place: int) -> Score: ...
    @overload
    def __getitem__(self, place: slice) -> list[Score]: ...
    def __getitem__(self, place: int | slice) -> Score | list[Score]:
        numbers = range(len(self))[place]
        if isinstance(numbers, int):
            return next(self._from(numbers))
        if numbers.step == 1:
            return list(islice(self._from(numbers.start), len(numbers))) if numbers else []
        return [self[number] for number in numbers]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(Score.__eq__, self, other))

    def _from(self, first: int) -> Iterator[Score]:
        for start, rows, counts in self._rows.blocks(first):
            offsets = np.concatenate(([0], np.cumsum(counts)))
            yield from self._rows.aggregation.segment_scores(rows[self._system], offsets)[max(first - start, 0) :]


@dataclass(frozen=True)
class Statistics:
    """Statistics of a corpus by one metric, for every system."""

    systems: tuple[str, ...]
    metric: Metric
    rows: Integers  # (systems, rows, k); one row per segment, one for each reference of each segment, or a single sum
    counts: Integers  # Rows of each segment; a sum counts as one segment
    references: tuple[int, int]  # Fewest and most references of a segment
    vectors: str | None = None  # Name and content of the vectors; None when no similarity was looked at
    coverage: tuple[Coverage, ...] | None = None  # None when no similarity was looked at
    scores: Sequence[Score] | None = None  # Of the systems, at the level of the plan, where rows came as a stream
    kept: KeptRows | None = None  # Those, where segments have scores
    resegmented: bool = False  # Whether candidates were cut into the segments of the references
    documents: Documents | None = None  # Those of the segments, where they are known
    without_blank: bool = False  # Whether there are blank references that are missing
    against: Against = "references"  # Or the source, in their place
    edits: Mapping[str, str] = field(default_factory=dict)  # Which edits were counted, by key of the signature
    gating: Gating | None = None  # What a gate did to the candidates
    empty: Sequence[int] | None = None  # Outputs without text, of each system, for partial scores

    @cached_property
    def offsets(self) -> Integers:
        """Segment s has the rows ``offsets[s]`` to ``offsets[s + 1]``."""
        return np.concatenate(([0], np.cumsum(self.counts)))

    def scores_of_parts(self, numbers: Integers) -> Iterator[tuple[int, int, list[Score]]]:
        """Score parts of the corpus, each as a corpus of its own; `numbers` say which each segment is of.

        Yields the number of a part, how many segments it has, and the score of each system.
        """
        aggregation = at_level(self.metric, "corpus").aggregation
        for number, part in self.parts(numbers):
            yield number, len(part.counts), [aggregation.score(rows, part.offsets) for rows in part.rows]

    def parts(self, numbers: Integers) -> Iterator[tuple[int, Statistics]]:
        """Yield the number and the rows of each part that has segments; `numbers` say which each segment is of."""
        of_rows = np.repeat(numbers, self.counts)
        for number in np.unique(numbers).tolist():
            counts = self.counts[numbers == number]
            yield (
                number,
                replace(self, rows=self.rows[:, of_rows == number], counts=counts, coverage=None, gating=None),
            )

    def signature(self, level: Level = "corpus", *, short: bool = False, **more: object) -> str:
        """Write the signature of scores at a level, the short or the long one, with `more` keys."""
        fewest, most = self.references
        counted: dict[str, object] = {}
        if self.metric.requires.references:
            counted["nrefs"] = fewest if fewest == most else "var"
        if self.metric.requires.references or self.metric.requires.edits:
            counted |= {"blank": "missing"} if self.without_blank else {}
            counted |= {"against": "source"} if self.against == "source" else {}
        counted |= self.edits
        if self.resegmented:
            counted["resegment"] = "yes"
        counted |= {} if self.gating is None else self.gating.signed()
        in_context = self.metric.requires.vectors and self.metric.vector_choice.context
        if self.documents is not None and self.documents.count > 1 and (in_context or level == "document"):
            counted["documents"] = str(self.documents)
        metric = at_level(self.metric, "corpus" if level == "document" else level)
        return metric.signature(short=short, vectors=self.vectors, level=level, **counted, **more)

    def results(self, level: Level = "corpus") -> list[Result]:
        """Score every system; for levels see `softbleu.score`."""
        # All numbers of a run are scored alike, and signed once: if segments have numbers, by their signature.
        scorer, offsets = at_level(self.metric, "corpus" if level == "document" else level), self.offsets
        signature, short = (self.signature(level, short=short) for short in (False, True))
        aggregation = scorer.aggregation
        documents = self._document_scores() if level == "document" else None
        macro = level == "macro" or (level in ("segment", "reference") and not aggregation.has_corpus_score)
        label = (scorer.called or scorer.label) + " (partial)" * scorer.partial + " (macro)" * (level == "macro")
        named = str(self.metric), label, signature, short, scorer.higher_is_better
        results = []
        for number, system in enumerate(self.systems):
            rows = self.rows[number]
            coverage = None if self.coverage is None else self.coverage[number]
            if self.scores is not None:
                score = self.scores[number]
            elif macro:
                scores = [score.score for score in aggregation.segment_scores(rows, offsets)]
                score = replace(aggregation.metric.score(aggregation.summed(rows, offsets)), score=_mean(scores))
            else:
                with nullcontext() if aggregation.sum_is_enough else single_threaded_blas():
                    score = aggregation.score(rows, offsets)
            parts: Keywords = {"in_percent": in_percent(scorer)}
            parts["gated"] = None if self.gating is None else self.gating.of(system)
            parts["causes"] = scorer.cause_names if isinstance(scorer, NamesCauses) else ()
            parts["empty"] = None if self.empty is None else self.empty[number]
            if level == "segment" and self.kept is not None:
                parts["segments"] = self.kept.segments(number)
                parts["statistics"] = self.kept.chosen(number)
            elif level == "segment":
                parts["statistics"] = aggregation.counts(rows, offsets)
                parts["segments"] = tuple(aggregation.segment_scores(rows, offsets))
            elif level == "reference":
                parts["references"] = tuple(aggregation.reference_scores(rows, offsets))
            elif documents is not None:
                parts["documents"] = documents[number]
            results.append(Result(system, score, *named, coverage, **parts))
        return results

    def _document_scores(self) -> list[tuple[DocumentScore, ...]]:
        """Score the documents, for each system."""
        documents: Any = self.documents  # There are some: `Plan.over` asks for them
        parts = list(self.scores_of_parts(documents.fitting(len(self.counts))))
        return [
            tuple(DocumentScore(documents.names[number], size, scores[system]) for number, size, scores in parts)
            for system in range(len(self.systems))
        ]


def _mean(scores: Sequence[float]) -> float:
    """Compute the mean of the scores that segments have."""
    there = [score for score in scores if score == score]
    return float(np.mean(there)) if there else np.nan
