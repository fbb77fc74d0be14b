"""Vectors and encoders that are named by URLs: copied once into the cache of whoever needs them."""

from __future__ import annotations

import hashlib
import shutil
from functools import lru_cache
from pathlib import Path, PurePosixPath

from softbleu.cache import cache_folder, keep_folder
from softbleu.errors import VectorError
from softbleu.urls import find_urls, is_url, open_url, url_state


def local_place(location: str) -> str:
    """Path of what a URL names, copied here unless that was done before; anything else stays as it is.

    >>> local_place("glove-6b-100d")
    'glove-6b-100d'
    """
    # Several sets, joined by +, are opened one by one.
    return _copied(location) if is_url(location) and "+" not in location else location


@lru_cache(maxsize=16)
def _copied(url: str) -> str:
    found = find_urls(url)
    folder = cache_folder()
    if not found:
        raise VectorError(f"{url}: there is no such file, folder or bucket")
    if folder is None:
        raise VectorError(f"{url}: no place to keep a copy: name a folder by SOFTBLEU_CACHE")
    content = repr([(name, url_state(name)) for name in found])
    target = folder / "remote" / hashlib.sha256(content.encode()).hexdigest()[:32]
    name = PurePosixPath(url).name

    def copy_all(place: Path) -> None:
        for each in found:
            with open_url(each) as stream, Path(place, PurePosixPath(each).name).open("wb") as copy:
                shutil.copyfileobj(stream, copy)

    keep_folder(target, copy_all)
    return str(target / name if len(found) == 1 and PurePosixPath(found[0]).name == name else target)
