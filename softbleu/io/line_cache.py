"""A cache of results about lines of text: one file, shared by all processes.

Losing it only costs time: unreadable entries are made again, and entries that cannot be written are not cached.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from softbleu.errors import InputError
from softbleu.io.files import cache_folder, make_cache_folder, open_own
from softbleu.io.platform import lock
from softbleu.io.progress import note

LIMIT = "SOFTBLEU_CACHE_LIMIT"
DEFAULT_LIMIT = 4096  # Megabytes
_FILE = "lines.sqlite"
_DAY = 86_400
_AT_ONCE = 500
_PATIENCE = 10.0  # Seconds to wait, once, for another process to finish writing
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
"""Error codes of damaged files; other errors mean a busy, full or protected file."""
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_given_up: set[Path] = set()  # Files that another process did not free
_KEEPING: ContextVar[bool] = ContextVar("softbleu_keeps_lines", default=True)
_USING = lock()  # SQLite in a child has its locks as they were, and no open file of its parent
_TABLE = """
CREATE TABLE IF NOT EXISTS lines (key BLOB PRIMARY KEY, day INTEGER, checksum INTEGER, content BLOB);
CREATE INDEX IF NOT EXISTS by_day ON lines (day);
"""


@contextmanager
def without_cache() -> Iterator[None]:
    """Neither read nor write the cache in this block; other threads are not affected."""
    token = _KEEPING.set(False)
    try:
        yield
    finally:
        _KEEPING.reset(token)


def is_cached() -> bool:
    """Whether results are cached here; see `without_cache`."""
    return _KEEPING.get()


def cache_limit() -> int:
    """Most bytes that are kept: ``$SOFTBLEU_CACHE_LIMIT`` megabytes, else 4096; 0 keeps nothing.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {"SOFTBLEU_CACHE_LIMIT": "10"}):
    ...     cache_limit()
    10000000
    """
    text = os.environ.get(LIMIT, str(DEFAULT_LIMIT))
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise InputError(f"{LIMIT} must be a whole number of megabytes from 0, not {text!r}")
    return int(text) * 1_000_000


def read_lines(keys: Sequence[bytes]) -> dict[bytes, bytes]:
    """Read the entries of some keys; damaged entries count as missing."""
    path = _path()
    contents: dict[bytes, bytes] = {}
    if path is None or path.is_symlink() or not path.is_file():
        return contents
    today = int(time.time()) // _DAY
    with suppress(sqlite3.Error), _opened(path) as file:
        stale = []
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            rows = file.execute(f"SELECT key, day, checksum, content FROM lines WHERE key IN ({marks})", some)
            for key, day, checksum, content in rows:
                if isinstance(content, bytes) and _checksum(key, content) == checksum:
                    contents[key] = content
                    stale += [key] if day != today else []
        with file:
            file.executemany("UPDATE lines SET day = ? WHERE key = ?", ((today, key) for key in stale))
    return contents


def write_lines(entries: Mapping[bytes, bytes]) -> None:
    """Store entries; if the cache is full, the least recently used entries are removed."""
    path, limit = _path(), cache_limit()
    if path is None or not entries or not limit:
        return
    today = int(time.time()) // _DAY
    rows = [(key, today, _checksum(key, content), content) for key, content in entries.items()]
    with suppress(OSError):
        make_cache_folder(path.parent)
        for _ in range(2):
            try:
                _open_for_one(path)
                _write(path, rows, limit)
                return
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode & 0xFF not in _DAMAGED:
                    return
                # Damaged: start again.
                path.unlink(missing_ok=True)


def kept_lines(
    judge: str,
    lines: Sequence[str],
    make: Callable[[Sequence[str]], Iterator[Mapping[str, bytes]]],
    fits: Callable[[str, bytes], bool] = lambda line, content: True,
) -> dict[str, bytes]:
    """Return the entries of lines; missing entries are made and stored part by part.

    `judge` identifies the maker with all that it depends on; `make` yields entries of lines in parts. Entries for
    which `fits` is false are made again.
    """
    keys = {line: _key(judge, line) for line in lines}
    stored = read_lines(list(keys.values()))
    by_line = {line: stored[key] for line, key in keys.items() if key in stored and fits(line, stored[key])}
    for part in make([line for line in keys if line not in by_line]):
        by_line |= part
        write_lines({keys[line]: content for line, content in part.items()})
    return by_line


def _checksum(key: bytes, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(key))


def _open_for_one(path: Path) -> None:
    """Ensure that the file is a plain file and not readable by others; a link is removed."""
    if path.is_symlink():
        path.unlink()
    with open_own(path, "ab") as stream:
        if (mode := stat.S_IMODE(os.fstat(stream.fileno()).st_mode)) & 0o007:
            path.chmod(mode & 0o770)


def _key(judge: str, line: str) -> bytes:
    return hashlib.blake2b(f"{judge} {line}".encode("utf-8", "surrogatepass"), digest_size=20).digest()


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file; if it stays locked, this process leaves it alone from then on."""
    with _USING, closing(sqlite3.connect(path, timeout=0 if path in _given_up else _PATIENCE)) as file:
        try:
            yield file
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in _BUSY:
                _given_up.add(path)
                note(f"{path} is locked by another process: this run caches no lines")
            raise


def _write(path: Path, rows: Sequence[tuple[bytes, int, int, bytes]], limit: int) -> None:
    with _opened(path) as file:
        # Entries that a power cut damages are made again.
        file.execute("PRAGMA synchronous = OFF")
        file.executescript(_TABLE)
        with file:
            file.executemany("INSERT OR REPLACE INTO lines VALUES (?, ?, ?, ?)", rows)
            # Freed pages are reused, so the file does not grow.
            pages, free, size = (
                file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
            )
            if (excess := (pages - free) * size - limit) > 0:
                _make_room(file, excess + limit // 10)


def _make_room(file: sqlite3.Connection, wanted: int) -> None:
    freed, gone = 0, []
    for number, size in file.execute("SELECT rowid, ifnull(length(content), 0) FROM lines ORDER BY day, rowid"):
        if freed >= wanted:
            break
        freed += size
        gone.append((number,))
    file.executemany("DELETE FROM lines WHERE rowid = ?", gone)


def _path() -> Path | None:
    folder = cache_folder() if is_cached() else None
    path = folder / _FILE if folder else None
    return None if path in _given_up else path
