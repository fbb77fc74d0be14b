"""Labels of segments, such as their documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from softbleu.corpora.files import open_text
from softbleu.errors import InputError, counted
from softbleu.io.arguments import listed
from softbleu.io.reading import check_columns, read_rows, whole_number

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents of the segments of a corpus: samples draw whole documents, and contexts end at their borders."""

    names: tuple[str, ...]  # Names of the documents, in order of appearance
    numbers: Integers  # Document of each segment, from 0
    location: str  # File, as the user named it; empty without one
    fingerprint: str  # Hex SHA-256 of the labels

    @classmethod
    def of(cls, labels: Sequence[object], location: str = "") -> Self:
        """Make documents of labels, one per segment.

        >>> Documents.of(["news", "talk", "news"]).numbers.tolist()
        [0, 1, 0]
        """
        texts = [str(label) for label in listed("documents", labels, "a label per segment")]
        if not texts:
            raise InputError("documents need a label per segment: the list is empty")
        digest = sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        return cls(tuple(places), np.array([places[text] for text in texts]), location, digest)

    @classmethod
    def read(cls, place: str, encoding: str = "utf-8") -> Self:
        """Read documents from the lines of a file or, as ``FILE:COLUMN``, a column of a table; see `read_labels`."""
        return cls.of(read_labels(place, encoding=encoding), place)

    @property
    def count(self) -> int:
        """Number of documents."""
        return len(self.names)

    def __str__(self) -> str:
        return f"{Path(self.location).name or 'documents'}#{self.fingerprint[:12]}"

    def lines_before(self, start: int, stop: int) -> tuple[int, ...]:
        """Count, for each segment from `start` to `stop`, the adjacent lines before it in its document."""
        numbers = self.numbers[:stop]
        begun = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1])[: len(numbers)])
        places = np.arange(start, stop)
        return tuple((places - begun[np.searchsorted(begun, places, "right") - 1]).tolist())

    def fitting(self, segments: int) -> Integers:
        """Return the document of each segment; raise InputError unless the number of labels is `segments`."""
        if len(self.numbers) != segments:
            where = self.location or "documents"
            raise InputError(f"{where} has {counted(len(self.numbers), 'label')} for {counted(segments, 'segment')}")
        return self.numbers


def intraclass_correlation(scores: Floats, documents: Integers) -> float:
    """Compute the intraclass correlation of scores in documents, averaged over systems; at most 1.

    One-way random effects (Shrout and Fleiss 1979, ICC(1)): the share of variance between documents. `scores` has the
    shape (systems, segments).

    >>> intraclass_correlation(np.array([[1.0, 1.0, 3.0, 3.0]]), np.array([0, 0, 1, 1]))
    1.0
    """
    sizes = np.bincount(documents)
    count, total = len(sizes), len(documents)
    if not 1 < count < total:
        return 0.0
    size = (total - (sizes**2).sum() / total) / (count - 1)
    shares = []
    for row in scores:
        means = np.bincount(documents, row) / sizes
        between = float((sizes * (means - row.mean()) ** 2).sum()) / (count - 1)
        within = float(((row - means[documents]) ** 2).sum()) / (total - count)
        if between + within > 0:
            shares.append((between - within) / (between + (size - 1) * within))
    return float(np.mean(shares)) if shares else 0.0


def read_labels(place: str, segments: int | None = None, encoding: str = "utf-8") -> list[str]:
    """Read a label per segment: the lines of a file, or a column of a table, as ``FILE:COLUMN``.

    Columns are separated by commas in files ``*.csv``, by tabs in others. Name a column as in the header, or by its
    number, from 1, in a table without a header. In a table with the columns `system` and `segment`, such as scores,
    the label of a segment is in the row of each system. Raises `InputError`: a segment without a label, or a table
    of several columns without a column name.
    """
    name, _, column = (place, "", "") if Path(place).exists() else place.rpartition(":")
    if not name:
        raise InputError(f"{place}: no such file")
    lines = list(open_text(name, encoding))
    delimiter = "," if name.lower().endswith(".csv") else "\t"
    if column:
        rows = [row for _, row in read_rows(lines, name, delimiter)]
        header = rows[0] if rows else []
        numbered = column not in header and column.isdecimal() and 0 < int(column) <= len(header)
        if column not in header and not (numbered and segments in (None, len(rows))):
            raise InputError(f"{name}: no column {column!r}; the first line has: {', '.join(header)}")
        check_columns(f"{name}, line 1", [cell if cell == column else "" for cell in header], header)
        number = int(column) - 1 if numbered else header.index(column)
        short = next((at for at, row in enumerate(rows, start=1) if len(row) <= number), None)
        if short is not None:
            raise InputError(f"{name}, line {short}: no column {column!r}")
        names = [cell.lower() for cell in header]
        if numbered or not {"system", "segment"} <= {*names}:
            lines = [row[number] for row in (rows if numbered else rows[1:])]
        else:
            lines = _of_segments(name, [(row[names.index("segment")], row[number]) for row in rows[1:]])
    elif segments in (None, len(lines), len(lines) - 1) and lines and all(delimiter in line for line in lines):
        raise InputError(f"{name} has several columns: name one by {name}:COLUMN, or by its number {name}:1")
    labels = [line.rstrip("\n") for line in lines]
    if segments is not None and len(labels) != segments:
        raise InputError(f"{name} has {counted(len(labels), 'label')} for {counted(segments, 'segment')}")
    return labels


def _of_segments(name: str, rows: Sequence[tuple[str, str]]) -> list[str]:
    """Return the labels of segments, by number, from rows of (segment, label), one or more per segment."""
    labels: dict[int, str] = {}
    for line, (segment, label) in enumerate(rows, start=2):
        where = f"{name}, line {line}"
        other = labels.setdefault(whole_number(where, "the number of a segment", segment), label)
        if label != other:
            raise InputError(f"{where}: segment {segment} has the label {label!r}, and {other!r} above")
    return [labels[number] for number in sorted(labels)]
