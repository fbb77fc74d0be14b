"""How much there may be of what takes more time or memory than its size warrants, and what allows more."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from softbleu.errors import InputError, Parameter

if TYPE_CHECKING:
    from softbleu.types import Integers

FACTOR = "SOFTBLEU_LIMITS"  # The environment variable that says by how much limits grow
_MOST = 1_000_000


@dataclass(frozen=True)
class Limit:
    """How much one thing, such as a segment, may be: at least ten times ordinary use, if 2 GB hold it.

    >>> limit = Limit("meteor", "pairs of words", 100, "a segment of 3 words: 9")
    >>> limit.check(250, "a segment of 5 candidate and 50 reference words")
    Traceback (most recent call last):
    softbleu.errors.InputError: a segment of 5 candidate and 50 reference words is too much for meteor (250 pairs of
    words, 100 are allowed): split it, or allow more by SOFTBLEU_LIMITS=3
    """

    user: str  # What has the limit, such as a metric
    counted: str  # What there are so many of, in the plural
    most: int  # Unless the environment allows more
    ordinary: str  # The use that people have which comes nearest, and how many it counts
    remedy: str = "split it"

    @property
    def allowed(self) -> int:
        """The limit, times what the environment says.

        >>> from unittest.mock import patch
        >>> with patch.dict(os.environ, {"SOFTBLEU_LIMITS": "3"}):
        ...     Limit("meteor", "pairs of words", 100, "a segment of 3 words: 9").allowed
        300
        """
        return self.most * number_from(FACTOR, 1, _MOST)

    def check(self, count: int, thing: str) -> None:
        """See that there are not more; the thing is `a segment of 9 words`, or `x.json, line 3`."""
        if count <= self.most or count <= self.allowed:
            return
        factor = -(-count // self.most)
        more = (", or allow more by ", Parameter("limits", factor, f"{FACTOR}={factor}"))
        raise InputError(
            f"{thing} is too much for {self.user} ({count:,} {self.counted}, {self.allowed:,} are allowed): "
            f"{self.remedy}",
            *more[: 2 * (factor <= _MOST)],
        )

    def check_sum(self, **words: Integers) -> None:
        """See that no segment has more words, of which candidates, references and so on have these numbers."""
        self._check_segments(sum(words.values()), words)

    def check_pairs(self, **words: Integers) -> None:
        """See that no segment has more pairs of words, of which its texts have these numbers."""
        self._check_segments(prod(words.values()), words)

    def _check_segments(self, counts: Any, words: Mapping[str, Integers]) -> None:
        if counts.max(initial=0) > self.most:
            place = int(counts.argmax())
            sizes = [f"{int(lengths[place]):,} {name}" for name, lengths in words.items()]
            self.check(int(counts[place]), f"a segment of {', '.join(sizes[:-1])} and {sizes[-1]} words")


def allow(factor: str) -> None:
    """Let limits grow by a factor, also in processes that are started from now on."""
    os.environ[FACTOR] = factor
    number_from(FACTOR, 1, _MOST, Parameter("limits"))


def number_from(variable: str, unset: int, most: int, said_by: Parameter | None = None) -> int:
    """A whole number from 1 that an environment variable says, unless something else has said it."""
    text = os.environ.get(variable)
    if not text:
        return unset
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(most)) and 1 <= int(text) <= most):
        raise InputError(said_by or variable, f" must be a whole number from 1 to {most}, not {text[:40]!r}")
    return int(text)
