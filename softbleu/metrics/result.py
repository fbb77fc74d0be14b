"""From rows of statistics to scores and results: how rows of segments reduce, and what is said of systems."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from functools import cache, lru_cache
from itertools import pairwise, repeat
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, SupportsFloat, overload

import numpy as np

from softbleu.errors import InputError, SoftbleuError, UnknownNameError
from softbleu.io.tabular import Tabular, format_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.types import Floats, Integers

Unit = Literal["score", "per cent", "ratio", "count", "tokens", "text"]
_COLUMN = "column"


@dataclass(frozen=True)
class Column:
    """How a number of a score is shown."""

    name: str
    short: str  # Header in tables (a list has P1, P2, …); empty where tables leave it out
    title: str  # What it is called where a score stands alone; empty where that leaves it out
    unit: Unit


def column(short: str = "", title: str = "", unit: Unit = "score", default: Any = MISSING) -> Any:
    """Declare how a field of a `Score` is shown, by a short and a full title and the unit; see `Column`.

    `default` is the value of a field that is not given.
    """
    return field(default=default, metadata={_COLUMN: (short, title, unit)})


@dataclass(frozen=True)
class Score:
    """A score and the numbers it is made of."""

    score: float = column(unit="score")  # 0 to 100, unless the metric says otherwise

    def __float__(self) -> float:
        return self.score

    def as_dict(self) -> dict[str, Any]:
        """Fields by name, in full precision; None for a score that there is not."""
        return {name: None if value != value else value for name, value in asdict(self).items()}

    @classmethod
    @cache
    def columns(cls) -> list[Column]:
        """Columns that are shown beside the score, in order; fields that say nothing of it go by their names."""
        shown = []
        for declared in fields(cls)[1:]:
            name = declared.name.replace("_", " ")
            plain: tuple[str, str, Unit] = (name, name, "count" if declared.type in ("int", int) else "score")
            shown.append(Column(declared.name, *declared.metadata.get(_COLUMN, plain)))
        return shown

    def shown(self) -> dict[str, Any]:
        """Numbers beside the score by their headers in tables; of a list there is one an order."""
        entries: dict[str, Any] = {}
        for shown_column in self.columns():
            value = getattr(self, shown_column.name)
            if shown_column.short and isinstance(value, list):
                entries |= {f"{shown_column.short}{order}": entry for order, entry in enumerate(value, start=1)}
            elif shown_column.short:
                entries[shown_column.short] = value
        return entries


@dataclass(frozen=True)
class ReferenceScore:
    """The score of a candidate against one of its references."""

    segment: int  # From 1
    reference: int  # From 1
    chosen: bool  # Whether it is the best of its segment
    score: Score


@dataclass(frozen=True)
class DocumentScore:
    """The score of a document: of its segments together."""

    document: str
    segments: int  # How many it has
    score: Score


class Scorer(Protocol):
    """A metric, as far as it scores rows of statistics."""

    name: ClassVar[str]
    higher_is_better: ClassVar[bool]

    def score(self, row: Integers) -> Score:
        """Score the statistics of one segment, or the sum of the statistics of many."""

    def score_rows(self, rows: Integers | Floats) -> Sequence[Score]:
        """Score each row, as `score` does."""

    def scores(self, rows: Integers | Floats) -> Floats:
        """Scores of many rows at once, as numbers."""


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


@dataclass(frozen=True, repr=False)
class Result(Tabular):
    """The score of one system by one metric, which formats, rounds, compares and averages as its `score` does.

    Order is that of the numbers, also for metrics whose lower scores are better. Equality is that of all fields.

    Attributes
    ----------
    name
        Name of the system.
    numbers
        The score and its components, such as precisions.
    metric
        The metric as an expression.
    label
        Usual name of the score.
    signature
        Everything the score depends on.
    short_signature
        The signature without default settings.
    higher_is_better
        Whether higher scores are better.
    coverage
        Tokens with a vector; None if no similarity was computed.
    segments
        Scores of segments, at segment level; scores of many segments are computed on access.
    references
        Scores against single references, at reference level.
    documents
        Scores of documents, at document level.
    statistics
        Rows of counts that segments are scored from, where a corpus is scored from their sum; at segment level.
    in_percent
        Whether scores are known to be on a scale to 100, as those of built-in metrics are.

    Examples
    --------
    >>> from softbleu import Chrf
    >>> one, other = (Chrf().corpus_score([text], ["the cat sat"]) for text in ("the cat sat", "the cat"))
    >>> f"{one:.1f}", round(other, 1), one > 99, min(one, other) == other
    ('100.0', 55.8, True, True)
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
    documents: tuple[DocumentScore, ...] | None = None
    statistics: Iterable[Any] | None = field(default=None, repr=False, compare=False)
    in_percent: bool = True

    @property
    def parts_of(self) -> str | None:
        """Name of the field that has scores of parts; None without."""
        return next(
            (name for name in ("segments", "references", "documents") if getattr(self, name) is not None), None
        )

    def parts(self) -> Iterator[tuple[dict[str, Any], Score]]:
        """Scores of segments, references or documents, each with what tells it from others."""
        for segment, score in enumerate(self.segments or (), start=1):
            yield {"segment": segment}, score
        for part in self.references or ():
            yield {"segment": part.segment, "reference": part.reference, "chosen": part.chosen}, part.score
        for document in self.documents or ():
            yield {"document": document.document, "segments": document.segments}, document.score

    def counted_parts(self) -> Iterator[tuple[dict[str, Any], Score, dict[str, Any]]]:
        """Parts, each with its row of statistics where it has one: a reader adds these up to the corpus score."""
        rows = repeat(None) if self.statistics is None else self.statistics
        for (labels, score), row in zip(self.parts(), rows, strict=False):
            yield labels, score, {} if row is None else {"statistics": row.tolist()}

    @property
    def score(self) -> float:
        """The score itself."""
        return self.numbers.score

    def __float__(self) -> float:
        return self.score

    def __format__(self, spec: str) -> str:
        """Format the score; without a specification, show what `str` does."""
        return format(self.score, spec) if spec else str(self)

    @overload
    def __round__(self, digits: None = None) -> int: ...
    @overload
    def __round__(self, digits: int) -> float: ...
    def __round__(self, digits: int | None = None) -> float:
        return round(self.score, digits)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Make an array of the score, so that NumPy computes with results."""
        return np.asarray(self.score, dtype=dtype)

    def __lt__(self, other: SupportsFloat) -> bool:
        return self.score < float(other)

    def __le__(self, other: SupportsFloat) -> bool:
        return self.score <= float(other)

    def __gt__(self, other: SupportsFloat) -> bool:
        return self.score > float(other)

    def __ge__(self, other: SupportsFloat) -> bool:
        return self.score >= float(other)

    def __str__(self) -> str:
        """Show the score in a line, and the signature."""
        return f"{self.label} = {self.score:.2f} | {self.short_signature}"

    def records(self) -> list[dict[str, Any]]:
        """Make one row, or one a segment, reference or document where there are scores of these."""
        named = {"system": self.name, "metric": self.metric}
        if self.parts_of is None:
            return [{**named, **self.numbers.as_dict()}]
        # A table of references has no column for what was chosen.
        rows = [{**named, **labels, **score.as_dict()} for labels, score in self.parts()]
        return [{name: value for name, value in row.items() if name != "chosen"} for row in rows]

    def described(self) -> dict[str, Any]:
        """The signature."""
        return {"signature": self.signature}

    def to_dict(self) -> dict[str, Any]:
        """Plain data: every number by name, and `segments`, `references` or `documents` where there are any."""
        content = {"system": self.name, "metric": self.metric, **self.numbers.as_dict(), "signature": self.signature}
        if self.coverage is not None:
            content["vector_coverage"] = self.coverage.as_dict()
        if self.parts_of is not None:
            content[self.parts_of] = self.records()
        return content


class Results(Tabular, list[Result]):
    """The scores of several systems, or by several metrics: a list that can be looked at as a table.

    ``results["A"]`` is the (first) result of system A.
    """

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        for result in self:
            if result.name == key:
                return result
        raise UnknownNameError("system", key, list(dict.fromkeys(result.name for result in self)))

    def records(self) -> list[dict[str, Any]]:
        """Rows of all results, as `Result.records` has them."""
        return [row for result in self for row in result.records()]

    def described(self) -> dict[str, Any]:
        """Signatures by metric."""
        return {f"signature of {result.metric}": result.short_signature for result in self}

    def to_dict(self) -> dict[str, Any]:
        """Plain data: `systems`, a list of what `Result.to_dict` makes."""
        return {"systems": [result.to_dict() for result in self]}

    def _table(self, form: str) -> str:
        """Show systems as rows and metrics as columns."""
        rows: dict[str, dict[str, Any]] = {}
        for result in self:
            rows.setdefault(result.name, {"system": result.name})[result.metric] = result.score
        return format_rows(list(rows.values()), form, 2 if all(result.in_percent for result in self) else 4)


_NORMAL_95 = 1.959963984540054
_MOST_STREAMS = 4096  # Samples whose generators are held at once, of 2.5 KB each


def scored(metric: Scorer, row: Integers) -> Score:
    """Score a row; an `InputError` says of which row a metric of another package cannot tell the score."""
    try:
        return metric.score(row)
    except (SoftbleuError, MemoryError):
        raise
    except Exception as error:
        if is_ours(metric):
            raise
        raise failure_of(metric, f"{type(error).__name__}: {error}", f" at score({row.tolist()})") from error


def is_ours(metric: Scorer) -> bool:
    """Whether a metric is none of another package."""
    return type(metric).__module__.startswith("softbleu.")


def failure_of(metric: Scorer, wrong: str, where: str = "") -> InputError:
    """Make the error of a metric of another package that does what it must not."""
    return InputError(f"metric {metric.name!r} of {type(metric).__module__} fails{where}: {wrong}")


@dataclass(frozen=True)
class Aggregation(ABC):
    """How the rows of a metric's segments reduce to scores; segment s has rows ``offsets[s]:offsets[s + 1]``."""

    metric: Scorer
    sum_is_enough: ClassVar[bool] = False  # Whether a corpus score takes no more than the sum of all rows
    has_corpus_score: ClassVar[bool] = True  # Whether a corpus has a score that is not a mean of segment scores

    @property
    def is_mean(self) -> bool:
        """Whether a row is a score and a weight, which is the same for all systems, and a corpus has their mean."""
        return False

    @property
    def by_segment(self) -> bool:
        """Whether the score of a segment is independent of the segments before it."""
        return True

    @abstractmethod
    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """Choose one row of each segment: their places among the rows, (segments,).

        `rows`, (rows, k), are statistics of one system; those of segment s are ``rows[offsets[s]:offsets[s + 1]]``.
        Both are the same in all methods.
        """

    def summed(self, rows: Integers, offsets: Integers) -> Any:
        """Add up the rows that count, to a row for `Metric.score`; for `rows` and `offsets` see `chosen`."""
        total: Integers = rows[self.chosen(rows, offsets)].sum(axis=0)
        return total

    def pooled(self, rows: Integers, offsets: Integers) -> Score:
        """Score the sum of all segments, whatever a corpus score is; for `rows` and `offsets` see `chosen`."""
        return scored(self.metric, self.summed(rows, offsets))

    def score(self, rows: Integers, offsets: Integers) -> Score:
        """Score a corpus, all of whose rows are there."""
        return self.pooled(rows, offsets)

    def stream(self) -> RowStream:
        """Score a corpus whose rows come block by block, with the same digits."""
        return RowStream(self)

    def singles(self, rows: Integers) -> Sequence[Score]:
        """Score each row; there may be more to say of it than of a sum."""
        return self.metric.score_rows(rows)

    def segment_scores(self, rows: Integers, offsets: Integers) -> Sequence[Any]:
        """Score each segment by its chosen row; for `rows` and `offsets` see `chosen`."""
        return self.singles(rows[self.chosen(rows, offsets)])

    def segment_numbers(self, rows: Integers, offsets: Integers) -> Floats:
        """Score each segment as `segment_scores` does, but as numbers; for `rows` and `offsets` see `chosen`."""
        return self.metric.scores(rows[self.chosen(rows, offsets)])

    def reference_scores(self, rows: Integers, offsets: Integers) -> list[ReferenceScore]:
        """Score each candidate against each of its references; for `rows` and `offsets` see `chosen`."""
        chosen, scores = set(self.chosen(rows, offsets).tolist()), self.singles(rows)
        return [
            ReferenceScore(segment, index - start + 1, index in chosen, scores[index])
            for segment, (start, stop) in enumerate(pairwise(offsets.tolist()), start=1)
            for index in range(start, stop)
        ]

    def counted(self, rows: Any, offsets: Integers) -> Integers:
        """Number the segments that count, the same of all systems; for `rows` and `offsets` see `chosen`."""
        return np.arange(len(offsets) - 1)

    def counts(self, rows: Integers, offsets: Integers) -> Integers | None:
        """Choose the rows whose sum a corpus is scored from; None where there is more to it. See `chosen`."""
        return rows[self.chosen(rows, offsets)]

    def drawn(self, systems: Sequence[Any], offsets: Integers) -> Any:
        """Prepare the rows of each of some systems for resampling; `offsets` divides them into segments.

        Returns `ChosenSums`, or an object with its methods that is made of other numbers.
        """
        return ChosenSums(systems, [[self.chosen(rows, offsets)] for rows in systems])


@dataclass(frozen=True)
class SumOfRows(Aggregation):
    """A row per segment; a corpus is scored from their sum."""

    sum_is_enough: ClassVar[bool] = True

    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """All rows."""
        return np.arange(len(rows))

    def reference_scores(self, rows: Integers, offsets: Integers) -> list[ReferenceScore]:
        """There are none."""
        raise InputError(f"metric {self.metric.name!r} has no scores of single references: use level 'segment'")


@dataclass(frozen=True)
class BestReference(Aggregation):
    """A row for each reference of each segment, of which one counts: the best by its score, the first of equals.

    >>> from softbleu.metrics import Bleu
    >>> best = BestReference(Bleu(order=1))
    >>> rows = np.array([[2, 2, 0, 2], [2, 2, 1_000_000, 2], [1, 1, 1_000_000, 1]])
    >>> best.chosen(rows, np.array([0, 2, 3])).tolist()
    [1, 2]
    """

    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """Choose the row of each segment's best reference."""
        scores = self.metric.scores(rows)
        return best_rows(offsets, scores if self.metric.higher_is_better else -scores)


def running_choice(
    sums: Sequence[Sequence[float]],
    offsets: Integers,
    key: Callable[[Sequence[float], Sequence[float]], tuple[float, ...]],
    *,
    running: bool,
) -> Integers:
    """Choose of each segment the row with the greatest key, the first of equal ones.

    A key is made of a row and, if `running`, of its sum with all rows that are chosen before, else of the row twice.
    The rows of segment s are those from ``offsets[s]`` up to ``offsets[s + 1]``.

    >>> rows, offsets = [[3, 1], [2, 0], [0, 5], [9, 9]], np.array([0, 2, 4])
    >>> running_choice(rows, offsets, lambda row, total: (-total[1],), running=True)
    array([1, 2])
    """
    before: Iterable[float] = repeat(0.0)
    chosen: list[int] = []
    for start, stop in pairwise(offsets.tolist()):
        totals = [list(map(add, before, row)) for row in sums[start:stop]]
        keys = [key(row, total) for row, total in zip(sums[start:stop], totals, strict=True)]
        best = keys.index(max(keys))
        chosen.append(start + best)
        before = totals[best] if running else before
    return np.array(chosen, np.int64)


@dataclass(frozen=True)
class MeanOfReferences(Aggregation):
    """A row for each reference of each segment, whose scores have a mean; a corpus has the mean of its segments."""

    best: BestReference
    has_corpus_score: ClassVar[bool] = False

    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """Choose the row of each segment's best reference."""
        return self.best.chosen(rows, offsets)

    def summed(self, rows: Integers, offsets: Integers) -> Floats:
        """Add up the means over references."""
        counts = np.repeat(np.diff(offsets), np.diff(offsets))
        total: Floats = (rows / counts[:, None]).sum(axis=0)
        return total

    def score(self, rows: Integers, offsets: Integers) -> Score:
        """Score the sum of segments that have one reference each."""
        if len(rows) == len(offsets) - 1:
            return self.metric.score(rows.sum(axis=0))
        raise InputError(
            f"metric {self.metric.name!r} has no corpus score by the 'mean' over references: use level 'segment' or "
            "'macro', or sampled ('sample') or best ('max') references"
        )

    def counts(self, rows: Integers, offsets: Integers) -> Integers | None:
        """All rows, of segments with one reference each."""
        return rows if len(rows) == len(offsets) - 1 else None

    def segment_scores(self, rows: Integers, offsets: Integers) -> Sequence[Any]:
        """Score each segment: the mean over its references."""
        means = self.metric.score_rows(np.add.reduceat(rows, offsets[:-1]) / np.diff(offsets)[:, None])
        scores, bounds = self.metric.scores(rows), pairwise(offsets.tolist())
        pairs = zip(means, bounds, strict=True)
        return [replace(score, score=float(scores[start:stop].mean())) for score, (start, stop) in pairs]

    def segment_numbers(self, rows: Integers, offsets: Integers) -> Floats:
        """Means of the scores alone."""
        scores = self.metric.scores(rows)
        if len(rows) == len(offsets) - 1:
            return scores
        means: Floats = np.add.reduceat(scores, offsets[:-1]) / np.diff(offsets)
        return means


@dataclass(frozen=True)
class SampledReferences(MeanOfReferences):
    """A corpus has the mean score of random samples, each of which draws one reference per segment."""

    samples: int
    seed: int  # sample k is seeded with this + 101 k
    sampling: Sampling = "python2"
    has_corpus_score: ClassVar[bool] = True

    def score(self, rows: Integers, offsets: Integers) -> Score:
        """Score the sums of all samples; draws are shared by systems that have the same references."""
        if len(rows) == len(offsets) - 1:
            return self.metric.score(rows.sum(axis=0))
        (sums,) = self.drawn([rows], offsets).drawn(self.samples)
        return self.mean_score(sums)

    def mean_score(self, sums: Floats) -> Score:
        """Mean score of the sums of samples, with their standard deviation and interval."""
        scores = self.metric.scores(sums)
        mean, deviation = float(scores.mean()), float(scores.std())
        more: dict[str, Any] = {"standard_deviation": deviation, "interval": normal_interval(mean, deviation)}
        return replace(self.metric.score(sums.mean(axis=0)), score=mean, **more)

    def stream(self) -> RowStream:
        """Draw as rows come."""
        return DrawnRows(self)

    def drawn(self, systems: Sequence[Any], offsets: Integers) -> ChosenSums:
        """Prepare rows of every reference, and which of them each sample draws."""
        counts = np.diff(offsets)
        if counts.max() == 1:
            return ChosenSums(systems, [[offsets[:-1]]] * len(systems))
        draws = ReferenceDraws.shared(counts.astype(np.int64).tobytes(), self.samples, self.seed, self.sampling)
        return ChosenSums(systems, [_by_reference(counts)] * len(systems), draws)


class RowStream:
    """Corpus scores of rows that come block by block: sums are held, or all rows where a score takes them at once."""

    def __init__(self, aggregation: Aggregation) -> None:
        self._aggregation = aggregation
        self._sums: Any = 0
        self._held: list[tuple[Integers, Integers]] = []

    def add(self, rows: Integers, counts: Integers) -> None:
        """Add the next segments: (systems, rows, k), and how many rows each segment has."""
        if self._aggregation.by_segment:
            offsets = _offsets(counts)
            self._sums = self._sums + np.stack([self._aggregation.summed(system, offsets) for system in rows])
        else:
            self._held.append((rows, counts))

    def scores(self) -> Sequence[Score]:
        """Score each system."""
        if not self._held:
            return [scored(self._aggregation.metric, row) for row in self._sums]
        rows, counts = zip(*self._held, strict=True)
        offsets = _offsets(np.concatenate(counts))
        return [self._aggregation.score(system, offsets) for system in np.concatenate(rows, axis=1)]


class DrawnRows(RowStream):
    """Sums of the rows that random samples draw. One block is scored as a whole; of more none is held.

    Of very many samples all rows are held.
    """

    def __init__(self, aggregation: SampledReferences) -> None:
        super().__init__(aggregation)
        self._samples, self._seed, self._score = aggregation.samples, aggregation.seed, aggregation.mean_score
        self._sampling = aggregation.sampling
        self._streams: list[Callable[[Integers], Integers]] = []
        self._passed = 0

    def add(self, rows: Integers, counts: Integers) -> None:
        """Add what each sample draws of the next segments."""
        self._held.append((rows, counts))
        if self._samples <= _MOST_STREAMS and (len(self._held) > 1 or self._passed or self._streams):
            for block in self._held:
                self._draw(*block)
            self._held.clear()

    def _draw(self, rows: Integers, counts: Integers) -> None:
        if not self._streams and counts.max() == 1:
            # Before any segment has several references, all samples draw the same.
            self._passed += len(counts)
            self._sums = self._sums + rows.sum(axis=1)
            return
        if not self._streams:
            self._begin()
        draws = ReferenceDraws(counts, self._samples, self._seed, self._streams)
        places = [_by_reference(counts)] * len(rows)
        self._sums = self._sums + ChosenSums([*rows], places, draws).drawn(self._samples)

    def _begin(self) -> None:
        """Draw for the segments that were passed over."""
        self._streams = [_stream(self._seed + 101 * k, self._sampling) for k in range(self._samples)]
        for draw in self._streams:
            for start in range(0, self._passed, 1 << 16):
                draw(np.ones(min(1 << 16, self._passed - start), np.int64))
        self._sums = np.expand_dims(self._sums, -2) if self._passed else 0

    def scores(self) -> Sequence[Score]:
        """Score each system."""
        return [self._score(sums) for sums in self._sums] if self._streams else super().scores()


def shares_of(hits: float, wrong: float, missed: float, beta: float = 1.0) -> tuple[float, float, float]:
    """Compute F, precision and recall: what is right of what is proposed, and of what is wanted; 1 of nothing.

    `beta` is the weight of recall beside precision.

    >>> shares_of(3, 1, 3, beta=0.5), shares_of(0, 0, 2)[1:]
    ((0.6818181818181818, 0.75, 0.5), (1.0, 0.0))
    """
    precision = hits / (hits + wrong) if hits + wrong else 1.0
    recall = hits / (hits + missed) if hits + missed else 1.0
    return f_of(precision, recall, beta), precision, recall


def f_of(precision: float, recall: float, beta: float = 1.0) -> float:
    """F of precision and recall, 0 where both are; `beta` as in `shares_of`."""
    weight = beta**2
    return (1 + weight) * precision * recall / (weight * precision + recall) if precision + recall else 0.0


def best_rows(offsets: Integers, *scores: Floats | Integers) -> Integers:
    """Row of each segment's greatest score; ties go by the next scores, …, then the first row.

    The rows of segment s are those from ``offsets[s]`` up to ``offsets[s + 1]``; each of `scores` has shape (rows,).

    >>> best_rows(np.array([0, 2, 4]), np.array([1.0, 2.0, 3.0, 3.0])).tolist()
    [1, 2]
    """
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    ranked = np.lexsort((np.arange(len(owner)), *(-score for score in reversed(scores)), owner))
    return ranked[offsets[:-1]]


def keep_best(rows: Integers, offsets: Integers, scores: Callable[[Integers], Floats]) -> Integers:
    """Keep of each segment the row that scores best, the first of equal ones; for offsets see `best_rows`."""
    return rows if len(rows) == len(offsets) - 1 else rows[best_rows(offsets, scores(rows))]


def _offsets(counts: Integers) -> Integers:
    return np.concatenate(([0], np.cumsum(counts)))


def _by_reference(counts: Integers) -> list[Integers]:
    """Rows of each segment's reference 1, 2, …; of those that have no more, their last."""
    first = _offsets(counts)[:-1]
    return [first + np.minimum(number, counts - 1) for number in range(int(counts.max()))]


def normal_interval(mean: float, deviation: float) -> tuple[float, float]:
    """Central 95% of a normal distribution of that mean and standard deviation.

    >>> [round(bound, 4) for bound in normal_interval(50.0, 1.0)]
    [48.04, 51.96]
    """
    return mean - _NORMAL_95 * deviation, mean + _NORMAL_95 * deviation


_MOST_KEPT = 1 << 25  # Bytes of draws that are kept for the next system; more are drawn anew
_SEGMENTS = 2048  # Segments added up together: few enough for the cache, and, for draws are bits, a multiple of 8
_ITERATIONS = 128  # Iterations that are added up together
_MOST_CONVERTED = 1 << 22  # Entries of rows that are kept as floating point; more are converted anew


Sampling = Literal["python2", "python3"]


def draw_references(
    counts: Integers, iterations: Iterable[int], seed: int = 0, sampling: Sampling = "python2"
) -> Iterator[Integers]:
    """Draw one reference of each segment, which has `counts` of them, in each iteration, as the official GLEU+ does.

    Iteration k takes the stream of Python's ``random.seed(seed + 101 * k)`` and, of a segment's R references, what
    ``randint(0, R - 1)`` of that version of Python gives.

    >>> [drawn.tolist() for drawn in draw_references(np.array([2, 2, 3, 1]), range(2))]
    [[1, 1, 1, 0], [1, 0, 2, 0]]
    >>> [drawn.tolist() for drawn in draw_references(np.array([2, 2, 3, 1]), range(2), sampling="python3")]
    [[1, 1, 0, 0], [0, 1, 1, 0]]
    """
    return (_stream(seed + 101 * k, sampling)(counts) for k in iterations)


def _stream(seed: int, sampling: Sampling) -> Callable[[Integers], Integers]:
    """Make what draws a number below each count, one after the other."""
    if sampling == "python3":
        draw = random.Random(seed).randrange
        return lambda counts: np.fromiter(map(draw, counts.tolist()), np.int64, len(counts))
    # Seeded with a list of one number, this generator gives Python's own stream.
    share = np.random.RandomState([seed]).random_sample
    return lambda counts: (share(len(counts)) * counts).astype(np.int64)


class ReferenceDraws:
    """The references of all iterations, a bit each; see `draw_references`."""

    def __init__(
        self,
        counts: Integers,
        iterations: int,
        seed: int,
        streams: Sequence[Callable[[Integers], Integers]] = (),
        sampling: Sampling = "python2",
    ) -> None:
        self._counts, self._iterations, self._seed, self._sampling = counts, iterations, seed, sampling
        self._streams = streams  # Of every iteration, where the segments follow others; then they are drawn once
        self._others = int(counts.max(initial=1)) - 1
        held = bool(streams) or self._others * iterations * (len(counts) // 8 + 1) <= _MOST_KEPT
        self._kept = self._drawn(range(iterations)) if held else None

    @classmethod
    @lru_cache(maxsize=1)
    def shared(cls, counts: bytes, iterations: int, seed: int, sampling: Sampling) -> ReferenceDraws:
        """Share the draws of systems with the same references, of which `counts` has the numbers, as bytes.

        There are as many draws as `iterations`, by a generator of that `seed`.
        """
        return cls(np.frombuffer(counts, np.int64), iterations, seed, sampling=sampling)

    def bits(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Whether samples `start` to `stop` have reference 1, 2, …, as bits: (references - 1, samples, segments)."""
        iterations = np.arange(start, stop) % self._iterations
        return self._drawn(iterations.tolist()) if self._kept is None else self._kept[:, iterations]

    def _drawn(self, iterations: Sequence[int]) -> NDArray[np.uint8]:
        bits = np.empty((self._others, len(iterations), (len(self._counts) + 7) // 8), np.uint8)
        draws = (draw(self._counts) for draw in self._streams)
        for index, drawn in enumerate(
            draws if self._streams else draw_references(self._counts, iterations, self._seed, self._sampling)
        ):
            for other in range(self._others):
                bits[other, index] = np.packbits(drawn == other + 1)
        return bits


class ChosenSums:
    """Sums of systems' chosen rows, which have the same draws: exact whole numbers, (systems, samples, columns).

    Rows are one per segment or, where references are drawn, one for each possible draw: entry r of a system's places
    has the row of each segment's reference r, and `draws` says which of them each iteration draws.
    """

    adds_up: ClassVar[bool] = True  # Whether those of two parts of a sample make that of the whole

    def __init__(
        self, rows: Sequence[Integers], places: Sequence[list[Integers]], draws: ReferenceDraws | None = None
    ) -> None:
        self._rows, self._places, self._draws = rows, places, draws
        self._segments, self._columns = len(places[0][0]), len(rows) * rows[0].shape[1]
        size = len(places[0]) * self._segments * self._columns
        self._kept = [*self._parts()] if size <= _MOST_CONVERTED else None

    def drawn(self, iterations: int) -> Floats:
        """Add up what each iteration draws."""
        starts = range(0, iterations, _ITERATIONS)
        return np.concatenate([self.plain(k, min(k + _ITERATIONS, iterations)) for k in starts], axis=1)

    def plain(self, start: int, stop: int) -> Floats:
        """Add up all segments in the samples `start` to `stop`."""
        return self._sums(start, stop, None)

    def weighted(self, weights: Integers, start: int) -> Floats:
        """Add up segments times weights, (samples, segments); the first sample is number `start`."""
        return self._sums(start, start + len(weights), weights)

    def _sums(self, start: int, stop: int, weights: Integers | None) -> Floats:
        bits = () if self._draws is None else self._draws.bits(start, stop)
        sums = np.zeros((stop - start, self._columns))
        for part, first, more in self._kept or self._parts():
            weight = None if weights is None else weights[:, part].astype(np.float64)
            sums += first.sum(axis=0) if weight is None else weight @ first
            for packed, gain in zip(bits, more, strict=True):
                octets = packed[:, part.start // 8 : -(-part.stop // 8)]
                chose = np.unpackbits(octets, axis=1, count=part.stop - part.start)
                sums += (chose.astype(np.float64) if weight is None else weight * chose) @ gain
        return sums.reshape(stop - start, len(self._rows), -1).swapaxes(0, 1)

    def _parts(self) -> Iterator[tuple[slice, Floats, list[Floats]]]:
        """Segments, the first reference's rows of all systems, and by how much those of the others are greater."""
        for low in range(0, self._segments, _SEGMENTS):
            part = slice(low, min(low + _SEGMENTS, self._segments))
            first, *others = (
                np.concatenate([row[indices[part]] for row, indices in zip(self._rows, layer, strict=True)], axis=1)
                for layer in zip(*self._places, strict=True)
            )
            yield part, first.astype(np.float64), [(other - first).astype(np.float64) for other in others]
