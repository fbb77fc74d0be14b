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
    """Documents of the segments of a corpus, which samples draw as wholes, and contexts do not leave."""

    names: tuple[str, ...]  # Of the documents, in the order in which they first appear
    numbers: Integers  # Of each segment that of its document, from 0
    location: str  # File, as the user named it; empty where there is none
    fingerprint: str  # Hex SHA-256 of the labels

    @classmethod
    def of(cls, labels: Sequence[object], location: str = "") -> Self:
        """Take a label per segment; those of one document are the same.

        >>> Documents.of(["news", "talk", "news"]).numbers.tolist()
        [0, 1, 0]
        """
        texts = [str(label) for label in listed("documents", labels, "a label per segment")]
        if not texts:
            raise InputError("documents need a label per segment, and there is none")
        digest = sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        return cls(tuple(places), np.array([places[text] for text in texts]), location, digest)

    @classmethod
    def read(cls, place: str, encoding: str = "utf-8") -> Self:
        """Read a label per line, or from a column of a table, as ``FILE:COLUMN``; see `read_labels`."""
        return cls.of(read_labels(place, encoding=encoding), place)

    @property
    def count(self) -> int:
        """How many documents there are."""
        return len(self.names)

    def __str__(self) -> str:
        return f"{Path(self.location).name or 'documents'}#{self.fingerprint[:12]}"

    def lines_before(self, start: int, stop: int) -> tuple[int, ...]:
        """How many lines before each of some segments are of its document and stand with it."""
        numbers = self.numbers[:stop]
        begun = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1])[: len(numbers)])
        places = np.arange(start, stop)
        return tuple((places - begun[np.searchsorted(begun, places, "right") - 1]).tolist())

    def fitting(self, segments: int) -> Integers:
        """Numbers of the documents of so many segments. InputError: there are labels for more, or for fewer."""
        if len(self.numbers) != segments:
            where = self.location or "documents"
            raise InputError(f"{where} has {counted(len(self.numbers), 'label')} for {counted(segments, 'segment')}")
        return self.numbers


def intraclass_correlation(scores: Floats, documents: Integers) -> float:
    """How much of the variance of scores lies between documents, 1 at most; of several systems the mean.

    One-way random effects (Shrout and Fleiss 1979, ICC(1)), of documents of any sizes. `scores` are of systems and
    segments, (systems, segments).

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

    A name that ends in ``.csv`` has commas between its columns, any other tabs. The column is named as in the header;
    of a table without a header it is a number, from 1. A table with the columns `system` and `segment`, as of scores,
    has the label of a segment in the row of each system. Raises `InputError`: no label for each segment, or a table
    of several columns of which none is named.
    """
    name, _, column = (place, "", "") if Path(place).is_file() else place.rpartition(":")
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
    """Labels of the segments of a table, which has a row for each system, in the order of their numbers."""
    labels: dict[int, str] = {}
    for line, (segment, label) in enumerate(rows, start=2):
        where = f"{name}, line {line}"
        other = labels.setdefault(whole_number(where, "the number of a segment", segment), label)
        if label != other:
            raise InputError(f"{where}: segment {segment} has the label {label!r}, and {other!r} above")
    return [labels[number] for number in sorted(labels)]
