"""Results: the scores of systems with their names and signatures, and tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import TYPE_CHECKING, SupportsIndex, overload

from softbleu.config.earlier import moved_names
from softbleu.errors import UnknownNameError
from softbleu.metrics.score import DocumentScore, NumberLike, ReferenceScore, Score
from softbleu.tables import ResultList, Table, TableColumn, Tabular, decimals_of

if TYPE_CHECKING:
    from softbleu.corpora.gating import GatedLines
    from softbleu.types import Cells, Integers


@dataclass(frozen=True)
class Coverage:
    """Numbers of tokens with a vector, and of words with only a zero vector."""

    candidate_tokens: int
    candidate_known: int
    reference_tokens: int
    reference_known: int
    zero_words: int

    def as_dict(self) -> Cells:
        """Counts by name."""
        return {
            "candidate": {"tokens": self.candidate_tokens, "known": self.candidate_known},
            "reference": {"tokens": self.reference_tokens, "known": self.reference_known},
            "zero_words": self.zero_words,
        }


@dataclass(frozen=True, repr=False)
class Result(Tabular, NumberLike):
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
        Whether scores are known to be on a scale to 100, as with built-in metrics.
    gated
        Lines that a gate changed before they were scored; None without a gate.
    empty
        Outputs without text, with which nothing is compared; None unless the score is partial.
    notes
        Notes of the call on its texts and settings, which it also gave as warnings (`softbleu.SoftbleuWarning`).
    causes
        Names of the distances of which a list of numbers says the points lost; empty without such a list.

    Examples
    --------
    >>> from softbleu import Chrf
    >>> one, other = (Chrf().corpus_score([text], ["the cat sat"]) for text in ("the cat sat", "the cat"))
    >>> f"{one:.1f}", round(other, 1), one > 99, min(one, other) == other, round(one - other, 1)
    ('100.0', 55.8, True, True, 44.2)
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
    statistics: Iterable[Integers] | None = field(default=None, repr=False, compare=False)
    in_percent: bool = True
    gated: GatedLines | None = field(default=None, repr=False)
    empty: int | None = None
    notes: tuple[str, ...] = field(default=(), repr=False, compare=False)
    causes: tuple[str, ...] = field(default=(), repr=False, compare=False)

    @property
    def parts_of(self) -> str | None:
        """Name of the field that has scores of parts; None without."""
        return next(
            (name for name in ("segments", "references", "documents") if getattr(self, name) is not None), None
        )

    def parts(self) -> Iterator[tuple[Cells, Score]]:
        """Scores of segments, references or documents, each with its labels."""
        for segment, score in enumerate(self.segments or (), start=1):
            yield {"segment": segment}, score
        for part in self.references or ():
            yield {"segment": part.segment, "reference": part.reference, "chosen": part.chosen}, part.score
        for document in self.documents or ():
            yield {"document": document.document, "segments": document.segments}, document.score

    def counted_parts(self) -> Iterator[tuple[Cells, Score, Cells]]:
        """Parts, each with its row of statistics where it has one, and the rules of a gate that changed the segment.

        A reader adds rows of statistics up to the corpus score.
        """
        rows = repeat(None) if self.statistics is None else self.statistics
        for number, ((labels, score), row) in enumerate(zip(self.parts(), rows, strict=False)):
            counts: Cells = {} if row is None else {"statistics": row.tolist()}
            if self.gated is not None and self.parts_of == "segments":
                counts["gated"] = "+".join(self.gated.rules.get(number, ())) or None
            yield labels, score, counts

    @property
    def score(self) -> float:
        """The score itself."""
        return self.numbers.score

    def __float__(self) -> float:
        return self.score

    def __str__(self) -> str:
        """Show the score in a line, and the signature."""
        return f"{self.label} = {self.score:.2f} | {self.short_signature}"

    def records(self) -> list[Cells]:
        """Make one row, or a row per segment, reference or document if these have scores."""
        named = {"system": self.name, "metric": self.metric}
        if self.parts_of is None:
            return [{**named, **self.numbers.as_dict()}]
        # A table of references has no column for the chosen one.
        rows = [{**named, **labels, **score.as_dict()} for labels, score in self.parts()]
        return [{name: value for name, value in row.items() if name != "chosen"} for row in rows]

    def described(self) -> Cells:
        """The signature."""
        return {"signature": self.signature}

    def to_dict(self) -> Cells:
        """Make plain data: every number by name, and and `segments`, `references` or `documents` if any."""
        content = {"system": self.name, "metric": self.metric, **self.numbers.as_dict(), "signature": self.signature}
        if self.gated is not None:
            content["gated"] = self.gated.as_dict()
        if self.empty is not None:
            content["empty"] = self.empty
        if self.coverage is not None:
            content["vector_coverage"] = self.coverage.as_dict()
        if self.parts_of is not None:
            content[self.parts_of] = self.records()
        return content


class Results(ResultList[Result]):
    """The scores of several systems, or by several metrics: a list that can be looked at as a table.

    ``results["A"]`` is the (first) result of system A.
    """

    @overload
    def __getitem__(self, key: str | SupportsIndex) -> Result: ...
    @overload
    def __getitem__(self, key: slice) -> list[Result]: ...
    def __getitem__(self, key: str | SupportsIndex | slice) -> Result | list[Result]:
        if not isinstance(key, str):
            return super().__getitem__(key)
        for result in self:
            if result.name == key:
                return result
        raise UnknownNameError("system", key, list(dict.fromkeys(result.name for result in self)))

    def described(self) -> Cells:
        """Signatures by metric."""
        return {f"signature of {result.metric}": result.short_signature for result in self}

    def to_dict(self) -> Cells:
        """Make plain data: `systems`, a list of `Result.to_dict`."""
        return {"systems": [result.to_dict() for result in self]}

    def as_table(self) -> Table:
        """Make a row per system, with a column per metric; the best score of each stands out."""
        rows: dict[str, Cells] = {}
        columns = {"system": TableColumn("system")}
        for result in self:
            rows.setdefault(result.name, {"system": result.name})[result.metric] = result.score
            scores = (one.score for one in self if one.metric == result.metric)
            digits = decimals_of(scores, in_percent=result.in_percent)
            better = 1 if result.higher_is_better else -1
            columns[result.metric] = TableColumn(result.metric, result.metric, digits=digits, better=better)
        shown = [replace(column, better=column.better * (len(rows) > 1)) for column in columns.values()]
        return Table.of(rows.values(), [*columns], shown=shown).with_facts_below(self.described())


_AGGREGATION, _SCORE = "softbleu.metrics.aggregation", "softbleu.metrics.score"
_WAYS = ("SumOfRows", "BestReference", "MeanOfReferences", "SampledReferences")
__getattr__ = moved_names("0.6", __name__, dict.fromkeys(_WAYS, _AGGREGATION) | {"column": _SCORE})
