"""Grids as text: thresholds, and values of settings."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from decimal import Context, Decimal, InvalidOperation, localcontext
from typing import Any

from softbleu.errors import InputError, Parameter, UnknownNameError
from softbleu.metrics.base import every_setting

MOST_STEPS = 10_001
_SWEPT = ("metric", "matcher", "threshold")


def read_thresholds(texts: Sequence[str]) -> list[float | str]:
    """Read thresholds: numbers, ranges `from:to:step` (the end included) and quantiles, several joined by commas.

    >>> read_thresholds(["0:0.3:0.1", "0.75,p99.9"])
    [0.0, 0.1, 0.2, 0.3, 0.75, 'p99.9']
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


def read_variations(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Read values of settings, each text `NAME=V1,V2`; a value that has a comma stands in quotes.

    >>> read_variations(["order=2,4", 'vectors-postprocess=none,"mean,pc:2"'])
    {'order': [2, 4], 'vectors_postprocess': ['none', 'mean,pc:2']}
    """
    found: dict[str, list[Any]] = {}
    known = every_setting()
    for text in texts:
        key, equals, values = text.partition("=")
        name = key.replace("-", "_")
        if not equals or name in _SWEPT:
            said = f" takes NAME=V1,V2 of a setting other than {', '.join(_SWEPT)}, not {text!r}"
            raise InputError(Parameter("vary"), said)
        if name not in known:
            raise UnknownNameError("setting", key, sorted(each.key for each in known.values()))
        try:
            row = next(csv.reader([values], skipinitialspace=True))
        except csv.Error as error:
            said = f" takes values with commas between them, in one line ({error})"
            raise InputError(Parameter("vary", key), said) from None
        found.setdefault(name, []).extend(known[name].parse(each) for each in row)
    return found


def _range(text: str) -> list[float]:
    parts = text.split(":")
    if len(parts) != 3:
        raise InputError(f"a range of thresholds is 'from:to:step', such as 0:1:0.02, not {text!r}")
    # In decimals, so that 0.1 three times is 0.3.
    start, end, step = (_number(part, text) for part in parts)
    # What is too large for them is infinite, no exception.
    with localcontext(Context(traps=[])):
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
