"""Where data lies: what travels with the package, inside the wheel or in a checkout; what other packages bring."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from softbleu.errors import InputError

_PACKAGE = Path(__file__).resolve().parents[1]
_ROOTS = (_PACKAGE / "_resources", _PACKAGE.parent)


def find_resource(*parts: str) -> Path | None:
    """Path of a resource such as ``("corpora", "samples")``, or None when this installation lacks it.

    >>> find_resource("embeddings", "no-such-set") is None
    True
    """
    return next((path for root in _ROOTS if os.path.lexists(path := root.joinpath(*parts))), None)


def required_resource(*parts: str) -> Path:
    """Path of a resource that every installation has."""
    if (path := find_resource(*parts)) is None:
        raise InputError(f"this installation lacks {'/'.join(parts)}: install softbleu again")
    return path


def resource_names(folder: str, file: str) -> tuple[str, ...]:
    """Names of the folders in a folder of resources that have a file, sorted.

    >>> "glove-6b-100d" in resource_names("embeddings", "vectors.npy")
    True
    """
    place = find_resource(folder)
    return tuple(sorted(path.parent.name for path in place.glob(f"*/{file}"))) if place else ()


def package_folder(name: str) -> Path | None:
    """Folder of an installed package, which is neither imported nor run; None when it is not installed.

    >>> package_folder("no_such_package") is None
    True
    """
    package = find_spec(name)
    places = package.submodule_search_locations if package is not None else None
    return Path(next(iter(places))) if places else None


@cache
def entry_points_of(group: str) -> tuple[Any, ...]:
    """Entry points that packages offer to a group."""
    from importlib.metadata import distributions, entry_points

    try:
        return tuple(entry_points(group=group))
    except Exception:
        # What one package says of itself is damaged, in any way: those of the others count.
        offered: dict[str, Any] = {}
        for distribution in distributions():
            with suppress(Exception):
                for entry in distribution.entry_points.select(group=group):
                    offered.setdefault(entry.name, entry)
        return tuple(offered.values())
