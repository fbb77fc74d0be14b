"""Checks of arguments, and limits on inputs whose cost grows faster than their size."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, MappingView, Sequence, Set
from dataclasses import dataclass
from math import prod
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from softbleu.errors import InputError, Parameter

if TYPE_CHECKING:
    from softbleu.types import Integers

MOST_JOBS = 1024
FACTOR = "SOFTBLEU_LIMITS"  # Environment variable with the factor of all limits
_MOST_FACTOR = 1_000_000
_V = TypeVar("_V")
_ENTRIES = "a list with an entry per segment, or a column of a data frame"


def read_number(kind: Callable[[Any], _V], text: object) -> _V:
    """Read a number by its kind, such as `float`. ValueError: it is none, or has underscores, which Python allows.

    >>> read_number(float, "1e3")
    1000.0
    >>> read_number(int, "1_0")
    Traceback (most recent call last):
    ValueError: 1_0 is no number
    """
    if "_" in repr(text):
        raise ValueError(f"{text} is no number")
    return kind(text)


def is_whole_number(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number, of Python or numpy, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_run(jobs: object, executor: object, progress: object) -> None:
    """Check the number of jobs, the executor and the progress function."""
    if not is_whole_number(jobs) or not 1 <= jobs <= MOST_JOBS:
        raise InputError(Parameter("jobs"), f" must be a whole number from 1 to {MOST_JOBS}, not {jobs!r}")
    if executor is not None and (isinstance(executor, type) or not callable(getattr(executor, "submit", None))):
        said = "executor must have submit and map, as those of concurrent.futures have, not be"
        raise InputError(f"{said} {executor!r}")
    check_progress(progress)


def check_progress(progress: object) -> None:
    """Check that progress is a function of two numbers, or None."""
    if progress is not None and not callable(progress):
        said = "progress must be a function of what is done and of all, True (a bar, where that is said) or None"
        raise InputError(f"{said}, not {progress!r}")


def listed(what: str, values: object, of: str = _ENTRIES) -> Sequence[Any]:
    """Take values that have an order as a sequence: a list, or anything else that can be gone through once.

    >>> listed("candidates", {"a cat", "a dog"})
    Traceback (most recent call last):
    softbleu.errors.InputError: candidates are a list with an entry per segment, or a column of a data frame, not a \
set, which has no order
    """
    if type(values) is list or type(values) is tuple:
        return values
    unordered = isinstance(values, Set) and not isinstance(values, MappingView)
    single = (
        isinstance(values, str | bytes | Mapping) or hasattr(values, "columns") or getattr(values, "ndim", 1) == 0
    )
    if unordered or single or not isinstance(values, Iterable):
        kind = "one text" if isinstance(values, str) else type(values).__name__
        raise InputError(f"{what} are {of}, not {f'a {kind}, which has no order' if unordered else kind}")
    # pyarrow's arrays hold objects of its own.
    python_values = getattr(values, "to_pylist", None)
    if python_values is not None:
        return list(python_values())
    return values if isinstance(values, Sequence) else list(values)


def check_texts(what: str, texts: Iterable[object]) -> None:
    """Check that all values are texts."""
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise InputError(f"{what}, number {number}: text is needed, not {type(text).__name__}")


def several(values: Any) -> Any:
    """Return a list: of one value, such as a file name, or of none for None."""
    if values is None:
        return []
    return [values] if isinstance(values, str) or not isinstance(values, Iterable) else values


def by_text(what: str, values: Mapping[Any, _V]) -> dict[str, _V]:
    """Convert the names of values to text. Raises InputError if two names are the same text.

    >>> by_text("systems", {1: "a", 2.5: "b"})
    {'1': 'a', '2.5': 'b'}
    """
    names: dict[str, object] = {}
    for name in values:
        other = names.setdefault(str(name), name)
        if other is not name:
            raise InputError(f"two {what} are called {str(name)!r}: {other!r} and {name!r} are the same text")
    return {name: values[called] for name, called in names.items()}


@dataclass(frozen=True)
class Limit:
    """A limit on the size of one thing, such as a segment: at least ten times ordinary use, if 2 GB hold it.

    >>> limit = Limit("meteor", "pairs of words", 100, "a segment of 3 words: 9")
    >>> limit.check(250, "a segment of 5 candidate and 50 reference words")
    Traceback (most recent call last):
    softbleu.errors.InputError: a segment of 5 candidate and 50 reference words is too much for meteor (250 pairs of
    words, 100 are allowed): split it, or allow more by SOFTBLEU_LIMITS=3
    """

    user: str  # What the limit applies to, such as a metric
    counted: str  # What is counted, in the plural
    most: int  # Unless the environment variable is set
    ordinary: str  # The nearest ordinary use, and its count
    remedy: str = "split it"

    @property
    def allowed(self) -> int:
        """The limit times the factor of the environment variable.

        >>> from unittest.mock import patch
        >>> with patch.dict(os.environ, {"SOFTBLEU_LIMITS": "3"}):
        ...     Limit("meteor", "pairs of words", 100, "a segment of 3 words: 9").allowed
        300
        """
        return self.most * number_from(FACTOR, 1, _MOST_FACTOR)

    def check(self, count: int, thing: str) -> None:
        """Raise InputError if `count` is above the limit; `thing` is `a segment of 9 words`, or `x.json, line 3`."""
        if count <= self.most or count <= self.allowed:
            return
        factor = -(-count // self.most)
        more = (", or allow more by ", Parameter("limits", factor, f"{FACTOR}={factor}"))
        raise InputError(
            f"{thing} is too much for {self.user} ({count:,} {self.counted}, {self.allowed:,} are allowed): "
            f"{self.remedy}",
            *more[: 2 * (factor <= _MOST_FACTOR)],
        )

    def check_sum(self, **words: Integers) -> None:
        """Check the sum of the words of each segment; `words` has their numbers by text."""
        self._check_segments(sum(words.values()), words)

    def check_pairs(self, **words: Integers) -> None:
        """Check the product of the words of each segment; `words` has the numbers of words of its texts."""
        self._check_segments(prod(words.values()), words)

    def _check_segments(self, counts: Any, words: Mapping[str, Integers]) -> None:
        if counts.max(initial=0) > self.most:
            place = int(counts.argmax())
            sizes = [f"{int(lengths[place]):,} {name}" for name, lengths in words.items()]
            self.check(int(counts[place]), f"a segment of {', '.join(sizes[:-1])} and {sizes[-1]} words")


def allow(factor: str) -> None:
    """Let limits grow by a factor, also in processes that are started from now on."""
    os.environ[FACTOR] = factor
    number_from(FACTOR, 1, _MOST_FACTOR, Parameter("limits"))


def number_from(variable: str, unset: int, most: int, said_by: Parameter | None = None) -> int:
    """Read a whole number from 1 from an environment variable; `unset` without one."""
    text = os.environ.get(variable)
    if not text:
        return unset
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(most)) and 1 <= int(text) <= most):
        raise InputError(said_by or variable, f" must be a whole number from 1 to {most}, not {text[:40]!r}")
    return int(text)
