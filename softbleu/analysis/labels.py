"""Into which bucket segments and words fall."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from softbleu.corpora.files import open_text
from softbleu.errors import InputError
from softbleu.io.data_files import read_rows

if TYPE_CHECKING:
    from softbleu.types import Integers

LENGTHS = (0, 10, 20, 30, 40, 50, 60)
"""Tokens of a segment from which each bucket starts."""
FREQUENCIES = (0, 1, 2, 3, 5, 10, 100, 1000)
"""Occurrences of a word in the references from which each bucket starts."""
MOST_LABELS = 200
"""More buckets than these say nothing."""


def numbered(values: Integers, starts: Sequence[int]) -> tuple[Integers, list[str]]:
    """The bucket of each number, and what the buckets are called.

    >>> buckets, names = numbered(np.array([0, 9, 10, 75]), LENGTHS)
    >>> buckets.tolist(), names[0], names[1], names[-1]
    ([0, 0, 1, 6], '0–9', '10–19', '60+')
    """
    names = [str(low) if high == low + 1 else f"{low}–{high - 1}" for low, high in pairwise(starts)]
    return np.searchsorted(starts, values, side="right") - 1, [*names, f"{starts[-1]}+"]


def read_labels(place: str, segments: int, encoding: str = "utf-8") -> list[str]:
    """Read a label a segment: the lines of a file, or a column of a table with a header, as ``FILE:COLUMN``.

    A name that ends in ``.csv`` has commas between its columns, any other tabs.

    Raises
    ------
    InputError
        It cannot be read, lacks the column, has another number of labels, or too many different ones.
    """
    name, _, column = (place, "", "") if Path(place).is_file() else place.rpartition(":")
    if not name:
        raise InputError(f"{place}: no such file, nor one of length, rarity, coverage, order")
    lines = list(open_text(name, encoding))
    if column:
        delimiter = "," if name.lower().endswith(".csv") else "\t"
        rows = [row for _, row in read_rows(lines, name, delimiter)]
        header = rows[0] if rows else []
        if column not in header:
            raise InputError(f"{name}: no column {column!r}; it has: {', '.join(header)}")
        number = header.index(column)
        short = next((at for at, row in enumerate(rows, start=1) if len(row) <= number), None)
        if short is not None:
            raise InputError(f"{name}, line {short}: no column {column!r}")
        lines = [row[number] for row in rows[1:]]
    labels = [line.rstrip("\n") for line in lines]
    if len(labels) != segments:
        raise InputError(f"{name} has {len(labels)} labels for {segments} segments")
    if len(set(labels)) > MOST_LABELS:
        raise InputError(f"{place} has {len(set(labels))} different labels: at most {MOST_LABELS} make a table")
    return labels
