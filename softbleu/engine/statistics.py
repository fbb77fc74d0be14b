"""Statistics of a corpus, and the results that are made of them."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, get_args

import numpy as np

from softbleu.errors import UnknownNameError
from softbleu.io.executors import single_threaded_blas
from softbleu.metrics.base import Level
from softbleu.metrics.result import Coverage, Result

if TYPE_CHECKING:
    from softbleu.engine.streaming import StreamingAggregation
    from softbleu.metrics.base import Metric
    from softbleu.types import Integers


@dataclass(frozen=True)
class Statistics:
    """What a metric needs to know of a corpus, for every system."""

    systems: tuple[str, ...]
    metric: Metric
    rows: Integers
    """(systems, rows, k); one row a segment, one for each reference of each segment, or a single sum."""
    counts: Integers
    """Rows of each segment; a sum counts as one segment."""
    references: tuple[int, int]
    """Fewest and most references of a segment."""
    vectors: str | None = None
    """Name and content of the vectors; None when no similarity was looked at."""
    coverage: tuple[Coverage, ...] | None = None
    """None when no similarity was looked at."""
    streamed: StreamingAggregation | None = None
    """What became of the rows, where they were not kept."""

    @cached_property
    def offsets(self) -> Integers:
        """Segment s has the rows ``offsets[s]`` to ``offsets[s + 1]``."""
        return np.concatenate(([0], np.cumsum(self.counts)))

    def signature(self, level: Level = "corpus", *, short: bool = False, **more: object) -> str:
        """Everything that a score at that level depends on, and further settings."""
        fewest, most = self.references
        counted: dict[str, object] = {}
        if self.metric.requires.references:
            counted["nrefs"] = fewest if fewest == most else "var"
        metric = self.metric.at_level(level)
        return metric.signature(short=short, vectors=self.vectors, level=level, **counted, **more)


def make_results(statistics: Statistics, level: Level = "corpus") -> list[Result]:
    """Score the statistics of every system; for levels see `softbleu.score`."""
    check_level(level)
    # All numbers of a run are scored alike, and signed once: those of segments, where there are any, say how.
    scorer, offsets = statistics.metric.at_level(level), statistics.offsets
    signature, short = (statistics.signature(level, short=short) for short in (False, True))
    aggregation = scorer.aggregation
    macro = level == "macro" or (level != "corpus" and not aggregation.has_corpus_score)
    label = f"{scorer.label} (macro)" if level == "macro" else scorer.label
    streamed = None if statistics.streamed is None else statistics.streamed.scores()
    results = []
    for number, system in enumerate(statistics.systems):
        rows = statistics.rows[number]
        coverage = None if statistics.coverage is None else statistics.coverage[number]
        if streamed is not None:
            score = streamed[number]
        elif macro:
            scores = [each.score for each in aggregation.segment_scores(rows, offsets)]
            score = replace(aggregation.pooled(rows, offsets), score=float(np.mean(scores)))
        else:
            with nullcontext() if aggregation.sum_is_enough else single_threaded_blas():
                score = aggregation.score(rows, offsets)
        result = Result(
            system, score, str(statistics.metric), label, signature, short, scorer.higher_is_better, coverage
        )
        if level == "segment" and statistics.streamed is not None:
            result = replace(result, segments=statistics.streamed.segments(number))
        elif level == "segment":
            result = replace(result, segments=tuple(aggregation.segment_scores(rows, offsets)))
        elif level == "reference":
            result = replace(result, references=tuple(aggregation.reference_scores(rows, offsets)))
        results.append(result)
    return results


def check_level(level: str) -> None:
    """See that there is such a level."""
    if level not in get_args(Level):
        raise UnknownNameError("level", level, get_args(Level))
