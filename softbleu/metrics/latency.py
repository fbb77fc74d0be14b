"""Latency of simultaneous translation: how far the words of an output lag behind its source.

Each function takes the delays of one segment, that is how much of the source was read before each word was given,
and the lengths of source and reference. Delays and the length of the source have one unit: milliseconds of speech, or
words of a source text. A lag is that behind an ideal translator that gives its words evenly as the source goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from softbleu.types import Floats


def average_lagging(delays: ArrayLike, source_length: float, reference_length: int) -> float:
    """Compute Average Lagging (AL; Ma et al. 2019: STACL, section 4.2).

    AL = 1/τ Σ dᵢ − (i − 1)·|x| / |y*|, with i from 1 to τ, where dᵢ are the delays, |x| and |y*| the lengths of
    source and reference, and τ is the first word that was given when the whole source was read. SimulEval (Ma et al.
    2020) took the length of the reference instead of the output's. A first word after the end of the source has its
    delay as AL. Empty outputs have none (NaN).

    >>> average_lagging([1, 2, 3, 4], source_length=4, reference_length=4)
    1.0
    """
    return _lagging(delays, source_length, reference_length)


def length_adaptive_average_lagging(delays: ArrayLike, source_length: float, reference_length: int) -> float:
    """Compute Length-Adaptive Average Lagging (LAAL; Papi et al. 2022: Over-Generation Cannot Be Rewarded).

    It is AL with max(|y|, |y*|) in the place of |y*|: words beyond the reference's length do not lower it (see also
    Polák et al. 2022).

    >>> average_lagging([2, 2, 4, 4], 4, 2), length_adaptive_average_lagging([2, 2, 4, 4], 4, 2)
    (0.666..., 1.666...)
    """
    return _lagging(delays, source_length, max(reference_length, np.size(delays)))


def average_proportion(delays: ArrayLike, source_length: float, reference_length: int) -> float:
    """Compute Average Proportion (AP; Cho & Esipova 2016: Can NMT Do Simultaneous Translation).

    AP = Σ dᵢ / (|x|·|y*|) is the share of the source that is read, on average, before a word is given.

    >>> average_proportion([1, 2, 3, 4], source_length=4, reference_length=4)
    0.625
    """
    times = np.asarray(delays, np.float64)
    return float(times.sum() / (source_length * reference_length)) if len(times) else np.nan


def differentiable_average_lagging(delays: ArrayLike, source_length: float, reference_length: int = 0) -> float:
    """Compute Differentiable Average Lagging (DAL; Cherry & Foster 2019: Thinking Slow about Latency).

    DAL = 1/|y| Σ gᵢ − (i − 1)·|x| / |y|, where g₁ = d₁ and gᵢ = max(dᵢ, gᵢ₋₁ + |x| / |y|): each word takes its time,
    so that a lag once made remains. The length of the reference does not count.

    >>> differentiable_average_lagging([4, 4, 4, 4], source_length=4)
    4.0
    """
    times = np.asarray(delays, np.float64)
    if not len(times):
        return np.nan
    # With gᵢ − (i − 1)·|x| / |y| as lag of a word, no lag is less than the one before.
    return float(np.maximum.accumulate(times - _ideal(len(times), source_length / len(times))).mean())


def yet_another_average_lagging(
    delays: ArrayLike, source_length: float, reference_length: int, recording_end: float | None = None
) -> float:
    """Compute Yet Another Average Lagging (YAAL; Polák et al. 2025: Better Late Than Never).

    It is LAAL of the words that were given before the end of the source alone. Of a segment of a longer recording
    these are the words before `recording_end`, which counts from the beginning of the segment (LongYAAL). Outputs
    without these words have none (NaN).

    >>> yet_another_average_lagging([2, 2, 4, 4], 4, 4), yet_another_average_lagging([4, 4], 4, 2)
    (1.5, nan)
    """
    times = np.asarray(delays, np.float64)
    given = _words_before(times, source_length if recording_end is None else recording_end)
    length = max(reference_length, len(times))
    return _mean_lag(times[:given], source_length / length) if given else np.nan


def _words_before(delays: Floats, end: float) -> int:
    """Count the words before the first one at the end or later."""
    late = np.flatnonzero(delays >= end)
    return int(late[0]) if len(late) else len(delays)


def _lagging(delays: ArrayLike, source_length: float, length: int) -> float:
    """Compute AL with this length of the ideal translation."""
    times = np.asarray(delays, np.float64)
    if not len(times):
        return np.nan
    if times[0] > source_length:
        return float(times[0])
    tau = min(_words_before(times, source_length) + 1, len(times))
    return _mean_lag(times[:tau], source_length / length)


def _mean_lag(delays: Floats, step: float) -> float:
    """Compute the mean lag behind an ideal translator that gives a word in each step."""
    return float((delays - _ideal(len(delays), step)).mean())


def _ideal(count: int, step: float) -> Floats:
    return np.arange(count, dtype=np.float64) * step
