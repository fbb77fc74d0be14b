"""Check arguments of the functions of the package, each kind in one way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MappingView, Sequence, Set
from numbers import Integral
from typing import Any, TypeVar

from softbleu.errors import InputError, Parameter

MOST_JOBS = 1024
_V = TypeVar("_V")
_ENTRIES = "a list with an entry per segment, or a column of a data frame"


def is_whole_number(value: object) -> bool:
    """Whether a value is a whole number, of Python or numpy, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_run(jobs: object, executor: object, progress: object) -> None:
    """See that these say how work is done: so many jobs, or an executor; and what is called with the progress."""
    if not is_whole_number(jobs) or not 1 <= jobs <= MOST_JOBS:  # type: ignore[operator]
        raise InputError(Parameter("jobs"), f" must be a whole number from 1 to {MOST_JOBS}, not {jobs!r}")
    if executor is not None and (isinstance(executor, type) or not callable(getattr(executor, "submit", None))):
        said = "executor must have submit and map, as those of concurrent.futures have, not be"
        raise InputError(f"{said} {executor!r}")
    check_progress(progress)


def check_progress(progress: object) -> None:
    """See that this can be called with how much is done and how much there is."""
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
    return values if isinstance(values, Sequence) else list(values)


def check_texts(what: str, texts: Iterable[object]) -> None:
    """See that all are texts."""
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise InputError(f"{what}, number {number}: text is needed, not {type(text).__name__}")


def several(values: Any) -> Any:
    """Take one thing, such as the name of a file, for a list of it, and None for none."""
    if values is None:
        return []
    return [values] if isinstance(values, str) or not isinstance(values, Iterable) else values


def by_text(what: str, values: Mapping[Any, _V]) -> dict[str, _V]:
    """Name values by text, whatever the names are; two that are equal as text are an InputError.

    >>> by_text("systems", {1: "a", 2.5: "b"})
    {'1': 'a', '2.5': 'b'}
    """
    names: dict[str, Any] = {}
    for name in values:
        other = names.setdefault(str(name), name)
        if other is not name:
            raise InputError(f"two {what} are called {str(name)!r}: {other!r} and {name!r} are the same text")
    return {name: values[called] for name, called in names.items()}
