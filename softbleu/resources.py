"""Where the data that travels with the package lies: inside the wheel, or in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_ROOTS = (_PACKAGE / "_resources", _PACKAGE.parent)


def find_resource(*parts: str) -> Path | None:
    """Path of a resource such as ``("corpora", "samples")``, or None when this installation lacks it.

    >>> find_resource("embeddings", "no-such-set") is None
    True
    """
    return next((path for root in _ROOTS if (path := root.joinpath(*parts)).exists()), None)
