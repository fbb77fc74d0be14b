"""Where results that take a while are kept for the next run, and copies of what URLs name.

Losing the cache loses time only: what cannot be read is computed again, what cannot be written is not kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbleu.errors import InputError, VectorError
from softbleu.io.files import draft_folder, open_own, put_in_place
from softbleu.io.reading import file_name, find_urls, is_url, map_array, open_url, read_json, url_state

VARIABLE = "SOFTBLEU_CACHE"
_PROGRAM = "softbleu"
_SUMS = "sums.json"
_MOST_SUMMED = 1 << 30


def cache_folder() -> Path | None:
    """Name the cache folder: ``$SOFTBLEU_CACHE``, else ``$XDG_CACHE_HOME/softbleu``, else ``~/.cache/softbleu``.

    It need not exist yet; None where there is no home folder either.
    """
    if named := os.environ.get(VARIABLE):
        return Path(named)
    # The XDG base directory specification wants relative paths ignored.
    if (base := os.environ.get("XDG_CACHE_HOME")) and Path(base).is_absolute():
        return Path(base, _PROGRAM)
    try:
        return Path.home() / ".cache" / _PROGRAM
    except RuntimeError:
        return None


def make_cache_folder(folder: Path) -> None:
    """Make a folder of the cache, for its owner alone, where there is none."""
    for place in (*reversed(folder.parents), folder):
        if not place.exists():
            place.mkdir(0o700, exist_ok=True)


def kept_arrays(name: str, make: Callable[[], Mapping[str, NDArray[Any]]]) -> Mapping[str, NDArray[Any]]:
    """Map arrays kept under a name, such as ``graphs/<key>``; they are made where there are none, or damaged ones."""
    folder = cache_folder()
    arrays: dict[str, NDArray[Any]] = {}

    def save_all(place: Path) -> None:
        arrays.update(make())
        for key, array in arrays.items():
            np.save(place / f"{key}.npy", array, allow_pickle=False)

    if folder is not None:
        with suppress(OSError):
            keep_folder(folder / name, save_all)
            return {path.stem: map_array(path) for path in (folder / name).glob("*.npy")}
    return arrays or make()


def keep_folder(target: Path, make: Callable[[Path], object]) -> None:
    """See that a folder of the cache is there, each file with its contents; made where it is not, or damaged.

    `make` writes the files into an empty folder, which is then put in its place. Raises `OSError` if it cannot be
    written.
    """
    if _is_whole(target):
        return
    try:
        make_cache_folder(target.parent)
        with draft_folder(target) as draft:
            make(draft)
            sums = {path.name: _file_sum(path) for path in draft.iterdir()}
            (draft / _SUMS).write_text(json.dumps(sums), encoding="utf-8")
            put_in_place(draft, target)
    except OSError:
        # Another process that makes it, too, may have come first.
        if not _is_whole(target):
            raise


def _is_whole(target: Path) -> bool:
    try:
        sums = read_json(target / _SUMS).items()
        return not target.is_symlink() and all(
            Path(name).name == name and _file_sum(target / name) == known for name, known in sums
        )
    except (OSError, InputError, AttributeError, ValueError):
        return False


def _file_sum(path: Path) -> list[int]:
    """Size and checksum; very large files have their size only, for they are looked at in every run."""
    checksum = 0
    with open_own(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size <= _MOST_SUMMED:
            while block := stream.read(1 << 20):
                checksum = zlib.crc32(block, checksum)
    return [size, checksum]


def local_place(location: str) -> str:
    """Path of what a URL names, copied here unless that was done before; anything else stays as it is.

    >>> local_place("glove-6b-100d")
    'glove-6b-100d'
    """
    # Several sets, joined by +, are opened one by one.
    return _copied(location) if is_url(location) and "+" not in location else location


@lru_cache(maxsize=16)
def _copied(url: str) -> str:
    urls = find_urls(url)
    folder = cache_folder()
    if not urls:
        raise VectorError(f"{url}: there is no such file, folder or bucket")
    if folder is None:
        raise VectorError(f"{url}: no place to keep a copy: name a folder by SOFTBLEU_CACHE")
    content = repr([(name, url_state(name)) for name in urls])
    target = folder / "remote" / hashlib.sha256(content.encode()).hexdigest()[:32]
    name = file_name(url)

    def copy_all(place: Path) -> None:
        for file in urls:
            with open_url(file) as stream, Path(place, file_name(file)).open("wb") as copy:
                shutil.copyfileobj(stream, copy)

    keep_folder(target, copy_all)
    return str(target / name if len(urls) == 1 and file_name(urls[0]) == name else target)
