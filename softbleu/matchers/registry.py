"""Matchers by name: the built-in ones, and those that other packages offer as entry points."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING

from softbleu.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from softbleu.matchers.base import Matcher

ENTRY_POINT_GROUP = "softbleu.matchers"
_BUILT_IN = {"exact": "Exact", "sleu": "Sleu", "vleu": "Vleu", "xleu": "Xleu"}


def matcher_names() -> list[str]:
    """Names of all matchers, the built-in ones first.

    >>> matcher_names()[:4]
    ['exact', 'sleu', 'vleu', 'xleu']
    """
    from importlib.metadata import entry_points

    others = {entry.name for entry in entry_points(group=ENTRY_POINT_GROUP)}
    return [*_BUILT_IN, *sorted(others.difference(_BUILT_IN))]


def matcher_class(name: str) -> type[Matcher]:
    """Find the class of a matcher.

    Raises
    ------
    UnknownNameError
        No such matcher; the message lists those there are.
    """
    if name in _BUILT_IN:
        found: type[Matcher] = getattr(import_module(f"softbleu.matchers.{name}"), _BUILT_IN[name])
        return found
    from importlib.metadata import entry_points

    for entry in entry_points(group=ENTRY_POINT_GROUP, name=name):
        loaded: type[Matcher] = entry.load()
        return loaded
    raise UnknownNameError("matcher", name, matcher_names())


def make_matcher(name: str, **options: object) -> Matcher:
    """Make a matcher from its name and its options; options that are None keep their defaults.

    >>> make_matcher("vleu", threshold=0.8, assignment=None)
    Vleu(threshold=0.8, assignment='exact-first', consumption='unit', composition='mean')
    >>> make_matcher("exact", threshold=0.8)
    Traceback (most recent call last):
    softbleu.errors.InputError: matcher 'exact' has no option 'threshold'; it has: none
    """
    kind = matcher_class(name)
    known = [field.name for field in fields(kind)]
    given = {key: value for key, value in options.items() if value is not None}
    for key in given:
        if key not in known:
            raise InputError(f"matcher {name!r} has no option {key!r}; it has: {', '.join(known) or 'none'}")
    return kind(**given)
