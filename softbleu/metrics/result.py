"""Scores, and the results of scoring: of one system by one metric, and of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from softbleu.errors import UnknownNameError
from softbleu.io.tabular import Tabular, format_rows

if TYPE_CHECKING:
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

    def scores(self, rows: Integers | Floats) -> Floats:
        """Scores of many rows at once."""


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
    """The score of one system by one metric; ``float(result)`` is its `score`.

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


class Results(list[Result], Tabular):
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
        return format_rows(list(rows.values()), form)
