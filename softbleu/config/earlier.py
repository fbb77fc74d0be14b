"""Earlier names of the public interface, which are accepted for one release with a DeprecationWarning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

from softbleu.errors import InputError

_Function = TypeVar("_Function", bound=Callable[..., object])


def warn_renamed(earlier: str, later: str) -> None:
    """Warn the caller's caller that a name has changed."""
    warnings.warn(f"{earlier} is now {later}; the earlier name goes in the next release", DeprecationWarning, 3)


def renamed_parameters(**later: str) -> Callable[[_Function], _Function]:
    """Let a function be called with the earlier names of its parameters, too: `earlier="later"`.

    >>> @renamed_parameters(metric="metrics")
    ... def score(*, metrics="bleu"):
    ...     return metrics
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     score(metric="chrf")
    'chrf'
    >>> print(caught[0].message)
    score(metric=…) is now score(metrics=…); the earlier name goes in the next release
    """

    def decorate(function: _Function) -> _Function:
        @wraps(function)
        def call(*given: object, **named: object) -> object:
            for earlier in later.keys() & named.keys():
                name, shown = later[earlier], function.__name__
                if name in named:
                    raise InputError(f"{earlier} and {name} are one parameter: leave out {earlier}")
                warn_renamed(f"{shown}({earlier}=…)", f"{shown}({name}=…)")
                named[name] = named.pop(earlier)
            return function(*given, **named)

        return call  # type: ignore[return-value]

    return decorate


def moved_names(module: str, moved: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the `__getattr__` of a module for names that have moved elsewhere, each given with its place."""

    def find(name: str) -> object:
        if name not in moved:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        place, _, there = moved[name].partition(":")
        warn_renamed(f"{module}.{name}", f"{place}.{there or name}")
        return getattr(import_module(place), there or name)

    return find
