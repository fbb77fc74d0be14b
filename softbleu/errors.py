"""Errors a user can cause and mend: one line that says what, where and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class SoftbleuError(Exception):
    """Base of every error that softbleu raises on purpose; the command line turns it into exit code 2."""


class InputError(SoftbleuError, ValueError):
    """Text, references or options that cannot be scored."""


class VectorError(SoftbleuError, ValueError):
    """A word-vector file that cannot be read or trusted."""


class MissingExtraError(SoftbleuError, ImportError):
    """A feature whose optional dependency is not installed; the message names the extra."""


class WorkerError(SoftbleuError, RuntimeError):
    """A process or machine that did part of the work is gone."""


class UnknownNameError(InputError):
    """A name that no registry knows; the message lists those that are valid.

    >>> raise UnknownNameError("matcher", "vlue", ["exact", "vleu"])
    Traceback (most recent call last):
    softbleu.errors.UnknownNameError: unknown matcher 'vlue' (did you mean 'vleu'?); valid: exact, vleu

    Where the name stands, such as a file, comes first.

    >>> print(UnknownNameError("key", "count", ["kind"], place="small.toml, [sweep]"))
    small.toml, [sweep]: unknown key 'count'; valid: kind
    """

    def __init__(self, kind: str, name: str, valid: Iterable[str], place: str = "") -> None:
        choices = list(valid)
        where = f"{place}: " if place else ""
        super().__init__(f"{where}unknown {kind} {name!r}{did_you_mean(name, choices)}; valid: {', '.join(choices)}")
        self._arguments = (kind, name, choices, place)

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, str, list[str], str]]:
        # Errors come back from worker processes pickled.
        return type(self), self._arguments


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """What to add to a name that is unknown, where one of the choices has a similar spelling.

    >>> did_you_mean("vlue", ["exact", "vleu"])
    " (did you mean 'vleu'?)"
    """
    near = get_close_matches(name, list(choices), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def known_name(kind: str, name: str, valid: Iterable[str]) -> str:
    """Find a name among the valid ones, in upper or lower case.

    Raises `UnknownNameError`: it is none of them.

    >>> known_name("tokenizer", "13A", ["none", "13a"])
    '13a'
    """
    choices = list(valid)
    if name in choices:
        return name
    for each in choices:
        if each.lower() == name.lower():
            return each
    raise UnknownNameError(kind, name, choices)
