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
    """

    def __init__(self, kind: str, name: str, valid: Iterable[str]) -> None:
        choices = list(valid)
        near = get_close_matches(name, choices, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        super().__init__(f"unknown {kind} {name!r}{hint}; valid: {', '.join(choices)}")
        self._arguments = (kind, name, choices)

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, str, list[str]]]:
        # Errors come back from worker processes pickled.
        return type(self), self._arguments
