"""Rows of statistics, seen to be what they must be: a metric may come from anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.errors import InputError, SoftbleuError

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.similarity import WordTable
    from softbleu.metrics.result import Score, Scorer
    from softbleu.types import Integers

_MOST = float(1 << 63)


def checked_rows(
    metric: Any,
    chunk: Chunk,
    words: WordTable | None,
    kernels: Kernels,
    *,
    matched: Integers | None = None,
    first: int | None = None,
) -> Integers:
    """Compute the rows of a chunk, and see that there is one for each segment or reference, of numbers that add up.

    Parameters
    ----------
    metric
        Gives the rows; asked again for single segments where those of all are wrong.
    chunk, words, kernels
        What `Metric.statistics` is given.
    matched
        The matches of the chunk, where these are known.
    first
        Segments of the corpus before the chunk; None where segments have no numbers.

    Raises
    ------
    InputError
        The rows are others, or a metric of another package fails: the message says where.
    """

    def compute(some: Chunk) -> Integers:
        known = some is chunk and matched is not None
        rows: Integers = metric.statistics_of(some, matched) if known else metric.statistics(some, words, kernels)
        return rows

    rows, wrong, cause = _tried(metric, chunk, compute)
    if not wrong:
        return rows
    where = ""
    if first is not None:
        where = f" in segments {first + 1} to {first + len(chunk)}"
        for place in range(len(chunk)):
            _, alone, error = _tried(metric, chunk.part(place, place + 1), compute)
            if alone:
                where, wrong, cause = f" in segment {first + 1 + place}", alone, error
                break
    raise _failure(metric, wrong, where) from cause


def check_widths(metric: Scorer, parts: Sequence[Integers]) -> None:
    """See that the rows of a metric have as many numbers in all parts. Raises an error that names the metric."""
    widths = sorted({rows.shape[-1] for rows in parts})
    if len(widths) > 1:
        raise _failure(metric, f"{widths[0]} numbers in one row of statistics, and {widths[1]} in another")


def scored(metric: Scorer, row: Integers) -> Score:
    """Score a row; an `InputError` says of which row a metric of another package cannot tell the score."""
    try:
        return metric.score(row)
    except (SoftbleuError, MemoryError):
        raise
    except Exception as error:
        if _is_ours(metric):
            raise
        raise _failure(metric, f"{type(error).__name__}: {error}", f" at score({row.tolist()})") from error


def _is_ours(metric: Scorer) -> bool:
    return type(metric).__module__.startswith("softbleu.")


def _failure(metric: Scorer, wrong: str, where: str = "") -> InputError:
    return InputError(f"metric {metric.name!r} of {type(metric).__module__} fails{where}: {wrong}")


def _tried(
    metric: Scorer, chunk: Chunk, compute: Callable[[Chunk], Integers]
) -> tuple[Integers, str, Exception | None]:
    """Rows of a chunk, what is wrong with them, and what made them fail."""
    try:
        rows = compute(chunk)
    except (SoftbleuError, MemoryError):
        raise
    except Exception as error:
        if _is_ours(metric):
            raise
        return np.zeros((0, 0), np.int64), f"{type(error).__name__}: {error}", error
    return rows, _wrong(rows, chunk), None


def _wrong(rows: Any, chunk: Chunk) -> str:
    """Say what is wrong with rows; nothing if they are as they must be."""
    if not isinstance(rows, np.ndarray) or rows.ndim != 2:
        shape = f"an array of shape {rows.shape}" if isinstance(rows, np.ndarray) else type(rows).__name__
        return f"statistics must be an array (segments, numbers), not {shape}"
    if len(rows) not in (len(chunk), int(chunk.segment_offsets[-1])):
        return f"{len(rows):,} rows of statistics for {len(chunk):,} segments"
    kind = rows.dtype.kind
    if kind in "iub" or (kind == "f" and np.abs(rows).max(initial=0) < _MOST):
        return ""
    value = next(value for value in rows.ravel().tolist() if not _is_number(value))
    return f"statistics must be numbers that add up, not {value!r}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < _MOST
