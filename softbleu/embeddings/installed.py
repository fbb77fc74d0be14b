"""Stores of the user: vectors and encoders that were installed under a name."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from softbleu.config.languages import find_language
from softbleu.embeddings.vectors import META, new_place, read_store_meta, replace_store, store_draft, write_meta
from softbleu.errors import Parameter, VectorError
from softbleu.io.files import find_resource

PLACE = "SOFTBLEU_STORES"  # The environment variable that names the folder of the user's stores
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{,99}", re.ASCII)
_PROGRAM = "softbleu"
_OTHER = Parameter("name")


def stores_folder() -> Path | None:
    """Return the folder of the user's stores, which may not exist yet; None without a home folder.

    It is ``$SOFTBLEU_STORES``, else ``$XDG_DATA_HOME/softbleu/stores``, else ``~/.local/share/softbleu/stores``.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {"SOFTBLEU_STORES": "stores"}):
    ...     stores_folder().name
    'stores'
    """
    if named := os.environ.get(PLACE):
        return Path(named)
    # The XDG base directory specification ignores relative paths.
    if (base := os.environ.get("XDG_DATA_HOME")) and Path(base).is_absolute():
        return Path(base, _PROGRAM, "stores")
    try:
        return Path.home() / ".local" / "share" / _PROGRAM / "stores"
    except RuntimeError:
        return None


def find_installed(name: str) -> Path | None:
    """Return the folder of an installed store; None if there is none of this name."""
    folder = stores_folder()
    if folder is None or not _NAME.fullmatch(name):
        return None
    return folder / name if (folder / name / META).is_file() else None


def installed_names() -> tuple[str, ...]:
    """List the names of installed stores, sorted."""
    folder = stores_folder()
    places = folder.glob(f"*/{META}") if folder is not None and folder.is_dir() else ()
    return tuple(sorted(path.parent.name for path in places if _NAME.fullmatch(path.parent.name)))


def install_store(
    store: str | os.PathLike[str], name: str | None = None, *, language: str | None = None, force: bool = False
) -> Path:
    """Copy a store to the user's stores, atomically, and return its new place.

    `name` is by default that of its folder; vectors are then named so. `language` is the code of the only language
    that it is for. Raises `VectorError`: not a store, a name that is taken or is no name, or a place that cannot be
    written; `InputError`: no known language.
    """
    from softbleu.encoders.packaged import PACKAGED

    source = Path(store)
    meta = read_store_meta(source)
    if language is not None:
        meta = {**meta, "language": find_language(language).code}
    name = source.resolve().name if name is None else name
    folder = stores_folder()
    if folder is None:
        raise VectorError(f"there is no home folder: name a folder for stores by {PLACE}")
    if not _NAME.fullmatch(name):
        raise VectorError(f"{name!r}: a name has up to 100 letters, digits, '.', '_' and '-'; give another ", _OTHER)
    if find_resource("embeddings", name) is not None or name in PACKAGED:
        raise VectorError(f"{name!r} is the name of a set or an encoder of softbleu; give another ", _OTHER)
    target = new_place(folder / name, [source / META], force=force).absolute()
    files = [path for path in sorted(source.iterdir()) if not path.is_dir()]
    with store_draft(target) as draft:
        for path in files:
            shutil.copyfile(path, draft / path.name)
        write_meta(draft, meta)
        replace_store(draft, target, [path.name for path in files])
    return target
