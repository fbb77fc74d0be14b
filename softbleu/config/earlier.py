"""Second and earlier names of the public interface.

A release accepts the names that it changes, with a DeprecationWarning. Later ones refuse them by a message that says
what took their place.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial, wraps
from importlib import import_module
from typing import ParamSpec, TypeVar

from softbleu import version
from softbleu.errors import InputError

_P = ParamSpec("_P")
_R = TypeVar("_R")


def is_accepted(since: str) -> bool:
    """Whether this version still accepts names that were earlier than release `since`, such as "0.6"."""
    now, then = ([int(part) for part in release.split(".")[:2]] for release in (version.__version__, since))
    return now <= then


def warn_renamed(earlier: str, later: str) -> None:
    """Warn the caller's caller that a name has changed."""
    warnings.warn(f"{earlier} is now {later}; the earlier name goes in the next release", DeprecationWarning, 3)


def warn_unused(function: str, **parameters: object) -> None:
    """Warn the caller's caller of parameters of a function that change nothing any more, where they are given."""
    for name, value in parameters.items():
        if value is not None:
            said = f"{name} of {function} changes nothing any more, and goes in the next release"
            warnings.warn(said, DeprecationWarning, 3)


def also_named(**second: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Let a function be called with second names of its parameters: `second="first"`.

    >>> @also_named(metric="metrics")
    ... def score(*, metrics="bleu"):
    ...     return metrics
    >>> score(metric="chrf"), score(metrics="ter")
    ('chrf', 'ter')
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(function)
        def call(*given: _P.args, **named: _P.kwargs) -> _R:
            for name in second.keys() & named.keys():
                if second[name] in named:
                    raise InputError(f"{name} and {second[name]} are one parameter: leave out {name}")
                named[second[name]] = named.pop(name)
            return function(*given, **named)

        return call

    return decorate


def moved_methods(since: str, moved: Mapping[str, str]) -> Callable[[object, str], object]:
    """Make the `__getattr__` of a class for methods that are functions since a release, each given with its place."""

    def find(value: object, name: str) -> object:
        if name not in moved or not is_accepted(since):
            later = f"; take {moved[name]}" if name in moved else ""
            raise AttributeError(f"{type(value).__name__!r} object has no attribute {name!r}{later}")
        warn_renamed(f"method {name}", moved[name])
        module, _, there = moved[name].rpartition(".")
        return partial(getattr(import_module(module), there), value)

    return find


def moved_names(since: str, module: str, moved: Mapping[str, str]) -> Callable[[str], object]:
    """Make the `__getattr__` of a module for names that have moved elsewhere in a release, each given with its place.

    It raises `ImportError` in later releases, so that the message is shown for an import as well.
    """

    def find(name: str) -> object:
        if name not in moved:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        place, _, there = moved[name].partition(":")
        earlier, later = f"{module}.{name}", f"{place}.{there or name}"
        if not is_accepted(since):
            raise ImportError(f"{earlier} was renamed in {since}: take {later}")
        warn_renamed(earlier, later)
        return getattr(import_module(place), there or name)

    return find
