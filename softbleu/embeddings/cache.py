"""Where results that take a while are kept for the next run, and how they are written there.

Losing the cache loses time only: what cannot be read is computed again, what cannot be written is not kept.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbleu.files import write_whole

VARIABLE = "SOFTBLEU_CACHE"
_PROGRAM = "softbleu"


def cache_folder() -> Path | None:
    """Name the cache folder: ``$SOFTBLEU_CACHE``, else ``$XDG_CACHE_HOME/softbleu``, else ``~/.cache/softbleu``.

    Returns
    -------
    Path or None
        The folder, which need not exist yet; None where there is no home folder either.

    Examples
    --------
    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {"SOFTBLEU_CACHE": "/var/tmp/mine"}):
    ...     print(cache_folder().as_posix())
    /var/tmp/mine
    """
    if own := os.environ.get(VARIABLE):
        return Path(own)
    # The XDG base directory specification wants relative paths ignored.
    if (base := os.environ.get("XDG_CACHE_HOME")) and Path(base).is_absolute():
        return Path(base, _PROGRAM)
    try:
        return Path.home() / ".cache" / _PROGRAM
    except RuntimeError:
        return None


def read_cached(name: str) -> dict[str, NDArray[Any]] | None:
    """Read the arrays kept under a name such as ``graphs/<key>``; None if there are none, or damaged ones.

    Examples
    --------
    >>> import tempfile
    >>> from unittest.mock import patch
    >>> with tempfile.TemporaryDirectory() as place, patch.dict(os.environ, {"SOFTBLEU_CACHE": place}):
    ...     before = read_cached("numbers/one")
    ...     kept = write_cached("numbers/one", {"values": np.arange(3)})
    ...     print(before, kept, read_cached("numbers/one")["values"].tolist())
    None True [0, 1, 2]
    """
    path = _path(name)
    if path is None:
        return None
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    # A damaged archive fails in many ways: as a zip file, as an array in it whose header is read as program text.
    except Exception:
        return None


def write_cached(name: str, arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Keep arrays under a name, complete or not at all; tell whether they were kept."""
    path = _path(name)
    if path is None:
        return False
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **dict(arrays))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content.getbuffer())
    except OSError:
        return False
    return True


def _path(name: str) -> Path | None:
    folder = cache_folder()
    return folder / f"{name}.npz" if folder else None
