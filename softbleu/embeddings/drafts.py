"""Folders that are complete or not there at all: written beside their place, then put there in one step."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from softbleu.errors import VectorError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
# Of this process; others that bear its number are of an earlier one.
_mine: set[Path] = set()


@contextmanager
def draft_of(target: Path) -> Iterator[Path]:
    """Give an empty folder beside a place; it is gone afterwards unless `put_in_place` moved it.

    What a killed process left there is removed first.

    Raises
    ------
    VectorError
        Within the ``with`` block too: the folder cannot be written, or the disk is full.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mend(target)
        draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
        draft.mkdir()
        _mine.add(draft)
    except OSError as error:
        raise VectorError(f"{target}: cannot be written ({error.strerror or error})") from error
    try:
        yield draft
    except OSError as error:
        if error.errno in _FULL:
            raise VectorError(
                f"{target}: the disk is full ({error.strerror}); make room, or keep fewer words or smaller values; "
                "nothing was changed"
            ) from error
        raise VectorError(f"{target}: cannot be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        _mine.discard(draft)


def put_in_place(draft: Path, target: Path) -> None:
    """Move a finished draft to its place; what lay there before goes, in the same step if the system can."""
    for path in draft.iterdir():
        _flush(path)
    if not target.exists():
        draft.rename(target)
    elif _exchange(draft, target):
        shutil.rmtree(draft)
    else:
        former = target.with_name(f".{target.name}.{os.getpid()}.former")
        target.rename(former)
        draft.rename(target)
        shutil.rmtree(former)
    _flush(target.parent)


def _flush(path: Path) -> None:
    """Have the disk keep a file or folder: a rename may else outlive what it renames."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step, where the system knows how (Linux)."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    done: int = rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return done == 0


def mend(target: Path) -> None:
    """Remove drafts of processes that are no more, and put back what one of them had moved away."""
    prefix = f".{target.name}."
    for left in sorted(target.parent.iterdir()) if target.parent.is_dir() else ():
        process, _, kind = left.name.removeprefix(prefix).partition(".")
        if not left.name.startswith(prefix) or kind not in ("draft", "former") or not process.isdigit():
            continue
        if left in _mine or (int(process) != os.getpid() and _lives(int(process))):
            continue
        if kind == "former" and not target.exists():
            left.rename(target)
        else:
            shutil.rmtree(left, ignore_errors=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
