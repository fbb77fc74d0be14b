"""Checks of the rows and scores that a metric gives, so that an error names the metric of another package."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from softbleu.errors import InputError, SoftbleuError
from softbleu.matching.ngrams import Chunk, WordTable
from softbleu.matching.partial import begun
from softbleu.metrics.requirements import needed
from softbleu.metrics.score import Score, ScoreColumns

if TYPE_CHECKING:
    from softbleu.config.declare import Declared
    from softbleu.kernels import Kernels
    from softbleu.text.coded import Tokens, WordParts
    from softbleu.types import Floats, Integers

_Made = TypeVar("_Made")
_MOST = float(1 << 63)  # Of numbers in rows, which add up


def is_ours(kind: type) -> bool:
    """Tell whether a class of metrics is of this package, not of another one."""
    return kind.__module__.startswith("softbleu.")


def failure_of(metric: Declared, wrong: str, where: str = "") -> InputError:
    """Make the error of a metric of another package that breaks its contract."""
    return InputError(f"metric {metric.name!r} of {type(metric).__module__} fails{where}: {wrong}")


def scored_by_row(score: Callable[..., Score]) -> Callable[..., ScoreColumns[Score]]:
    """Make the method `columns` of a metric that has a method `score` of single rows."""
    return lambda metric, rows: ScoreColumns.of([score(metric, row) for row in rows])


def checked(method: Callable[..., _Made]) -> Callable[..., _Made]:
    """Make a method of rows whose errors name the metric."""

    @wraps(method)
    def compute(metric: Declared, rows: Integers | Floats) -> _Made:
        try:
            return method(metric, rows)
        except (SoftbleuError, MemoryError, KeyboardInterrupt):
            raise
        except BaseException as error:
            where = f" at {method.__name__}({np.asarray(rows).tolist()})"
            raise failure_of(metric, f"{type(error).__name__}: {error}", where if len(where) < 200 else "") from error

    return compute


def rows_of_pairs(
    metric: object, candidates: Tokens, references: Tokens, words: WordTable | None, kernels: Kernels
) -> Integers:
    """Compute the statistics of every candidate with every reference: (candidates, references, k).

    One candidate is compared after the other. `words` and `kernels` are the parameters of `Metric.statistics`.
    """
    bounds = np.arange(len(references.lengths) + 1)
    again = np.zeros(len(bounds) - 1, np.int64)
    chunks = (Chunk(candidates.chosen(again + line), references, bounds) for line in range(len(candidates.lengths)))
    return np.stack([checked_rows(metric, chunk, words, kernels) for chunk in chunks])


def seen_chunk(metric: Any, chunk: Chunk, words: WordTable | None) -> Chunk:
    """Return the chunk as the metric sees it: references end where unfinished outputs have come to."""
    return begun(chunk, metric.tokenizer, aligned_parts(metric, words)) if metric.partial else chunk


def aligned_parts(metric: Any, words: WordTable | None) -> WordParts | None:
    """Return the parts of words by which the metric aligns unfinished outputs; None: words."""
    name = metric.aligned_parts
    return None if name is None else needed(words, metric.name, "words").parts(name)


def checked_rows(
    metric: Any,
    chunk: Chunk,
    words: WordTable | None,
    kernels: Kernels,
    *,
    matched: Integers | None = None,
    first: int | None = None,
    where: str = "",
) -> Integers:
    """Compute the rows of a chunk; check that each segment or reference has a row, of numbers that add up.

    Parameters
    ----------
    metric
        Computes the rows, again for single segments if they are wrong.
    chunk, words, kernels
        Arguments of `Metric.statistics`.
    matched
        The matches of the chunk, where these are known.
    first
        Segments of the corpus before the chunk; None where segments have no numbers.
    where
        Where the chunk is, for errors.

    Raises
    ------
    InputError
        The rows are others, or a metric of another package fails: the message says where.
    """
    ours, cause = is_ours(type(metric)), None
    try:
        if matched is None:
            # References of unfinished outputs end where these have come to.
            rows: Integers = metric.statistics(seen_chunk(metric, chunk, words), words, kernels)
        else:
            rows = metric.statistics_of(chunk, matched)
        wrong = "" if ours else _wrong(rows, chunk)
    except (SoftbleuError, MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        if ours:
            raise
        wrong, cause = f"{type(error).__name__}: {error}", error
    if not wrong:
        return rows
    if first is not None:
        for place in range(len(chunk)):
            single = f" in segment {first + 1 + place}"
            checked_rows(metric, chunk.part(place, place + 1), words, kernels, where=single)
        where = f" in segments {first + 1} to {first + len(chunk)}"
    raise failure_of(metric, wrong, where) from cause


def _wrong(rows: object, chunk: Chunk) -> str:
    """Name the fault of rows; an empty text if they are valid."""
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
