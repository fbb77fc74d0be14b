"""The form of the bundled n-gram models: a file of small whole numbers, which is read without parsing text.

Models of the same words share a file. Words are in the order of their probability, n-grams in the order of their
words. The last word of an n-gram is stored as its distance from that of the n-gram before it, if both begin with the
same words. Logarithms are hundredths. The two bytes of a number are stored apart, since the upper ones are mostly 0.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from softbleu.errors import InputError
from softbleu.io.files import write_output
from softbleu.language.ngrams import NgramModel, NgramTable

if TYPE_CHECKING:
    from softbleu.types import Array, Integers

_STEPS = 100  # Steps of a logarithm per unit


def write_packed(models: Sequence[NgramModel], path: Path) -> None:
    """Write models of the same words, whose logarithms have two decimals at most.

    Raises `InputError` if they cannot be stored exactly.
    """
    words = models[0].words
    if any(model.words != words for model in models):
        raise InputError(f"{path}: models of different words cannot be packed into one file")
    order = np.argsort(-models[0].tables[0].log_probabilities, kind="stable")
    text = "\n".join(words[code] for code in order.tolist())
    arrays: dict[str, Array] = {"words": np.frombuffer(text.encode(), np.uint8)}
    try:
        for place, model in enumerate(models):
            arrays |= {f"{place}/{name}": _planes(values) for name, values in _packed(model, order).items()}
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # NumPy before 2.1 has no other parameter
    write_output(path, buffer.getvalue())


def read_packed(path: Path) -> list[NgramModel]:
    """Read the models of a file from `write_packed`. Raises `InputError` if it is damaged."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            arrays = dict(stored)
        words = tuple(arrays.pop("words").tobytes().decode().split("\n"))
        models: list[dict[str, Integers]] = [{} for _ in {name.partition("/")[0] for name in arrays}]
        for name, (low, high) in arrays.items():
            place, _, kind = name.partition("/")
            models[int(place)][kind] = low.astype(np.int64) + (high.astype(np.int64) << 8)
        return [NgramModel(words, _unpacked(model, len(words))) for model in models]
    except (OSError, ValueError, LookupError, zipfile.BadZipFile, EOFError) as error:
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())
        raise InputError(f"{path}: damaged ({reason}); install softbleu again") from error


def _packed(model: NgramModel, order: Integers) -> dict[str, Integers]:
    """Return the numbers to store for a model whose words come in a new order."""
    numbers: dict[str, Integers] = {}
    rank = places = np.argsort(order)
    for n, table in enumerate(model.tables, start=1):
        if n > 1:
            heads, last = places[table.keys // len(rank)], rank[table.keys % len(rank)]
            order = np.lexsort((last, heads))
            heads, last = heads[order], last[order]
            numbers[f"counts{n}"] = np.bincount(heads, minlength=len(places))
            numbers[f"gaps{n}"] = np.where(_begins(heads), last, np.diff(last, prepend=0))
            places = np.argsort(order)
        numbers[f"logs{n}"] = _hundredths(table.log_probabilities[order])
        numbers[f"backoffs{n}"] = _hundredths(table.backoffs[order])
    return numbers


def _unpacked(numbers: Mapping[str, Integers], words: int) -> list[NgramTable]:
    """Restore the tables from `_packed`."""
    tables: list[NgramTable] = []
    keys = np.arange(words)
    while (n := len(tables) + 1) == 1 or f"gaps{n}" in numbers:
        if n > 1:
            counts, gaps = numbers[f"counts{n}"], numbers[f"gaps{n}"]
            heads, sums = np.repeat(np.arange(len(counts)), counts), np.cumsum(gaps)
            before = (sums - gaps)[_begins(heads)]
            keys = heads * words + sums - np.repeat(before, counts[counts > 0])
        logs, backoffs = (numbers[f"{name}{n}"] / -_STEPS for name in ("logs", "backoffs"))
        tables.append(NgramTable(keys, logs.astype(np.float32), backoffs.astype(np.float32)))
    return tables


def _begins(heads: Integers) -> NDArray[np.bool_]:
    """Whether each n-gram is the first with its head."""
    return np.diff(heads, prepend=-1) > 0


def _hundredths(logs: NDArray[np.float32]) -> Integers:
    numbers = np.rint(logs.astype(np.float64) * -_STEPS).astype(np.int64)
    if ((numbers / -_STEPS).astype(np.float32) != logs).any():
        raise ValueError("logarithms with more than two decimals cannot be packed")
    return numbers


def _planes(numbers: Integers) -> NDArray[np.uint8]:
    """Store whole numbers as lower and upper bytes: (2, numbers)."""
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < 1 << 16:
        raise ValueError(f"numbers from {numbers.min()} to {numbers.max()} cannot be packed in two bytes")
    return np.stack([numbers & 255, numbers >> 8]).astype(np.uint8)
