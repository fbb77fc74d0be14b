"""Statistics of a corpus, and the results that are made of them."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from softbleu.errors import UnknownNameError
from softbleu.io.executors import single_threaded_blas
from softbleu.metrics.base import Level
from softbleu.tabular import Tabular, format_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softbleu.metrics.base import ReferenceScore, Score
    from softbleu.scoring.gathering import Gathering
    from softbleu.scoring.measure import Measure
    from softbleu.types import Integers


@dataclass(frozen=True)
class Coverage:
    """How many tokens had a vector, and how many words only a zero one."""

    candidate_tokens: int
    candidate_known: int
    reference_tokens: int
    reference_known: int
    zero_words: int

    def as_dict(self) -> dict[str, Any]:
        """Counts by name."""
        return {
            "candidate": {"tokens": self.candidate_tokens, "known": self.candidate_known},
            "reference": {"tokens": self.reference_tokens, "known": self.reference_known},
            "zero_words": self.zero_words,
        }


@dataclass(frozen=True)
class Result(Tabular):
    """The score of one system by one measure; ``float(result)`` is its `score`.

    Attributes
    ----------
    name
        Of the system.
    numbers
        The score and what it is made of.
    metric
        The measure, as an expression.
    label
        What people call the score.
    signature
        Everything the score depends on.
    short_signature
        The same without what has its default.
    higher_is_better
        Which way is up.
    coverage
        None when no similarity was looked at.
    segments
        Scores of the segments, at segment level; of many segments they are computed when they are looked at.
    references
        Scores against single references, at reference level.
    """

    name: str
    numbers: Score
    metric: str
    label: str
    signature: str
    short_signature: str
    higher_is_better: bool = True
    coverage: Coverage | None = None
    segments: Sequence[Score] | None = None
    references: tuple[ReferenceScore, ...] | None = None

    @property
    def score(self) -> float:
        """The score itself."""
        return self.numbers.score

    def __float__(self) -> float:
        return self.score

    def __str__(self) -> str:
        """Show the score in a line, and the signature."""
        return f"{self.label} = {self.score:.2f} | {self.short_signature}"

    def records(self) -> list[dict[str, Any]]:
        """Make one row, or one a segment or reference where there are scores of these."""
        named = {"system": self.name, "metric": self.metric}
        if self.segments is not None:
            return [
                {**named, "segment": number, **each.as_dict()} for number, each in enumerate(self.segments, start=1)
            ]
        if self.references is not None:
            return [
                {**named, "segment": each.segment, "reference": each.reference, **each.score.as_dict()}
                for each in self.references
            ]
        return [{**named, **self.numbers.as_dict()}]

    def described(self) -> dict[str, Any]:
        """The signature."""
        return {"signature": self.signature}

    def to_dict(self) -> dict[str, Any]:
        """Plain data: every number by name, and `segments` or `references` where there are any."""
        found = {"system": self.name, "metric": self.metric, **self.numbers.as_dict(), "signature": self.signature}
        if self.coverage is not None:
            found["vector_coverage"] = self.coverage.as_dict()
        if self.segments is not None or self.references is not None:
            found["references" if self.segments is None else "segments"] = self.records()
        return found


class Results(list[Result], Tabular):
    """The scores of several systems, or by several measures: a list that can be looked at as a table.

    ``results["A"]`` is the (first) result of system A.
    """

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        for each in self:
            if each.name == key:
                return each
        raise UnknownNameError("system", key, list(dict.fromkeys(each.name for each in self)))

    def records(self) -> list[dict[str, Any]]:
        """Rows of all results, as `Result.records` has them."""
        return [row for each in self for row in each.records()]

    def described(self) -> dict[str, Any]:
        """Signatures by metric."""
        return {f"signature of {each.metric}": each.short_signature for each in self}

    def to_dict(self) -> dict[str, Any]:
        """Plain data: `systems`, a list of what `Result.to_dict` makes."""
        return {"systems": [each.to_dict() for each in self]}

    def _table(self, form: str) -> str:
        """Show systems as rows and metrics as columns."""
        rows: dict[str, dict[str, Any]] = {}
        for each in self:
            rows.setdefault(each.name, {"system": each.name})[each.metric] = each.score
        return format_rows(list(rows.values()), form)


@dataclass(frozen=True)
class Statistics:
    """What a metric needs to know of a corpus, for every system."""

    systems: tuple[str, ...]
    measure: Measure
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
    gathered: Gathering | None = None
    """What became of the rows, where they were not kept."""

    @cached_property
    def offsets(self) -> Integers:
        """Segment s has the rows ``offsets[s]`` to ``offsets[s + 1]``."""
        return np.concatenate(([0], np.cumsum(self.counts)))

    def signature(self, level: Level = "corpus", *, short: bool = False, **more: object) -> str:
        """Everything that a score at that level depends on, and further settings."""
        fewest, most = self.references
        counted: dict[str, object] = {}
        if self.measure.metric.requires.references:
            counted["nrefs"] = fewest if fewest == most else "var"
        measure = self.measure.at_level(level)
        return measure.signature(short=short, vectors=self.vectors, level=level, **counted, **more)


def make_results(statistics: Statistics, level: Level = "corpus") -> list[Result]:
    """Score the statistics of every system.

    Parameters
    ----------
    level : `segment` gives the score of each segment, too; `macro` averages the segment scores; `reference` gives
        the score against each reference

    Raises
    ------
    UnknownNameError
        Another level.
    """
    check_level(level)
    # All numbers of a run are scored alike, and signed once: those of segments, where there are any, say how.
    measure = statistics.measure.at_level(level)
    scorer, offsets = measure.metric, statistics.offsets
    signature, short = (statistics.signature(level, short=short) for short in (False, True))
    macro = level == "macro" or (level != "corpus" and not scorer.has_corpus_score)
    label = f"{scorer.label} (macro)" if level == "macro" else scorer.label
    gathered = None if statistics.gathered is None else statistics.gathered.scores()
    results = []
    for number, system in enumerate(statistics.systems):
        rows = statistics.rows[number]
        coverage = None if statistics.coverage is None else statistics.coverage[number]
        if gathered is not None:
            score = gathered[number]
        elif macro:
            scores = [each.score for each in scorer.segment_scores(rows, offsets)]
            score = replace(scorer.pooled(rows, offsets), score=float(np.mean(scores)))
        else:
            with single_threaded_blas() if scorer.requires.rows else nullcontext():
                score = scorer.summarise(rows, offsets)
        result = Result(
            system, score, str(statistics.measure), label, signature, short, scorer.higher_is_better, coverage
        )
        if level == "segment" and statistics.gathered is not None:
            result = replace(result, segments=statistics.gathered.segments(number))
        elif level == "segment":
            result = replace(result, segments=tuple(scorer.segment_scores(rows, offsets)))
        elif level == "reference":
            result = replace(result, references=tuple(scorer.reference_scores(rows, offsets)))
        results.append(result)
    return results


def check_level(level: str) -> None:
    """See that there is such a level.

    Raises
    ------
    UnknownNameError
        There is not.
    """
    if level not in get_args(Level):
        raise UnknownNameError("level", level, get_args(Level))
