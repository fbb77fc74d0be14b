"""Grids of thresholds as text."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from softbleu.errors import InputError

MOST_STEPS = 10_001


def read_thresholds(texts: Sequence[str]) -> list[float | str]:
    """Read thresholds: numbers, ranges `from:to:step` (the end included) and quantiles, several joined by commas.

    Examples
    --------
    >>> read_thresholds(["0:0.3:0.1", "0.75,p99.9"])
    [0.0, 0.1, 0.2, 0.3, 0.75, 'p99.9']

    Raises
    ------
    InputError
        Anything else.
    """
    found: list[float | str] = []
    for part in (part.strip() for text in texts for part in text.split(",")):
        if part.startswith("p"):
            found.append(part)
        elif ":" in part:
            found += _range(part)
        else:
            found.append(float(_number(part, part)))
    return list(dict.fromkeys(found))


def _range(text: str) -> list[float]:
    parts = text.split(":")
    if len(parts) != 3:
        raise InputError(f"a range of thresholds is 'from:to:step', such as 0:1:0.02, not {text!r}")
    # In decimals, so that 0.1 three times is 0.3.
    start, end, step = (_number(part, text) for part in parts)
    if step <= 0 or end < start or end - start >= step * MOST_STEPS:
        raise InputError(f"a range of thresholds goes up, in at most {MOST_STEPS:,} steps, not {text!r}")
    return [float(start + step * number) for number in range(int((end - start) / step) + 1)]


def _number(text: str, whole: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise InputError(f"thresholds are numbers, ranges such as 0:1:0.02 or quantiles such as p99.9, not {whole!r}")
    return number
