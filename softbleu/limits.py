"""How much work one segment may be where work grows faster than text, and what allows more."""

from __future__ import annotations

import os
from typing import NoReturn

from softbleu.errors import InputError

FACTOR = "SOFTBLEU_LIMITS"
"""The environment variable that says by how much limits grow."""
_MOST = 1_000_000


def allowed(limit: int) -> int:
    """A limit, times what the environment says.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {"SOFTBLEU_LIMITS": "3"}):
    ...     allowed(100)
    300

    Raises
    ------
    InputError
        It says no whole number from 1.
    """
    return limit * number_from(FACTOR, 1, _MOST)


def number_from(variable: str, unset: int, most: int) -> int:
    """A whole number from 1 that an environment variable says.

    Raises
    ------
    InputError
        It says something else.
    """
    text = os.environ.get(variable)
    if not text:
        return unset
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(most)) and 1 <= int(text) <= most):
        raise InputError(f"{variable} must be a whole number from 1 to {most}, not {text[:40]!r}")
    return int(text)


def refuse_segment(segment: str, metric: str) -> NoReturn:
    """Say that a segment is too much work, and what allows it.

    Raises
    ------
    InputError
        Always.
    """
    raise InputError(f"{segment} is too long for {metric}: split it, or set {FACTOR} (2 allows twice the work)")
