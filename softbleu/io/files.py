"""softbleu's own files: resources, outputs, and the cache.

Writing is atomic, and never replaces an input file: files and folders are written beside their place, and moved there
in one step. Only paths of users may be links; links and devices in folders of softbleu are never followed. Losing the
cache only costs time: unreadable entries are computed again, and entries that cannot be written are not cached.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from softbleu.errors import InputError, VectorError
from softbleu.io.platform import cached_property, exchange, lock
from softbleu.io.reading import (
    check_plain,
    file_name,
    find_urls,
    is_url,
    map_array,
    open_url,
    read_json,
    readable,
    url_state,
)

if TYPE_CHECKING:
    from softbleu.types import Array

_PACKAGE = Path(__file__).resolve().parents[1]
_ROOTS = (_PACKAGE / "_resources", _PACKAGE.parent)
# Process numbers mean nothing to other machines or containers that use the same folder.
_HOST = re.sub(r"\W", "", os.uname().nodename if hasattr(os, "uname") else "")
# Drafts and folders of this process; others with its number were left by an earlier process.
_mine: set[Path] = set()
_guard = lock()
_FOLDS = sys.platform in ("win32", "darwin")  # Whether a name in capital letters is the same file, as a rule
CACHE_VARIABLE = "SOFTBLEU_CACHE"  # The environment variable that names the folder of the cache
_PROGRAM = "softbleu"  # Name of the folder in a user's cache
_SUMS = "sums.json"  # Sizes and checksums of the files in a cached folder
_MOST_SUMMED = 1 << 30  # Bytes of a file up to which its checksum is computed


def find_resource(*parts: str) -> Path | None:
    """Return the path of a resource such as ``("corpora", "samples")``; None if this installation lacks it.

    >>> find_resource("embeddings", "no-such-set") is None
    True
    """
    return next((path for root in _ROOTS if os.path.lexists(path := root.joinpath(*parts))), None)


def required_resource(*parts: str) -> Path:
    """Return the path of a resource that every installation has."""
    if (path := find_resource(*parts)) is None:
        raise InputError(f"this installation lacks {'/'.join(parts)}: install softbleu again")
    return path


def resource_names(folder: str, file: str) -> tuple[str, ...]:
    """List the folders in a folder of resources that contain a file, sorted.

    >>> "glove-6b-100d" in resource_names("embeddings", "vectors.npy")
    True
    """
    place = find_resource(folder)
    return tuple(sorted(path.parent.name for path in place.glob(f"*/{file}"))) if place else ()


def package_folder(name: str) -> Path | None:
    """Return the folder of an installed package, without importing it; None if it is not installed.

    >>> package_folder("no_such_package") is None
    True
    """
    package = find_spec(name)
    places = package.submodule_search_locations if package is not None else None
    return Path(next(iter(places))) if places else None


def matching_files(place: Path) -> list[Path]:
    """List the files that match the name of `place` if it contains a ``*``; otherwise `place`, if it exists.

    Raises `OSError` if the folder cannot be read.
    """
    if "*" not in place.name:
        return [place] * os.path.lexists(place)
    names = (path.name for path in (place.parent.iterdir() if place.parent.is_dir() else ()))
    return [place.with_name(name) for name in sorted(names) if fnmatchcase(name, place.name)]


def check_apart(target: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Check that a file or folder to be written is no input and contains none, whatever the names and links.

    >>> check_apart("vectors/vocab.txt", ["vectors/meta.json"])
    >>> check_apart("vectors", ["vectors/meta.json"])
    Traceback (most recent call last):
    softbleu.errors.InputError: vectors holds the input vectors/meta.json: write elsewhere
    """
    place = Path(os.path.realpath(target))
    for entry in inputs:
        source = Path(os.path.realpath(entry))
        if place == source or (place.exists() and source.exists() and place.samefile(source)):
            raise InputError(f"{target} is an input: write to another file")
        if place in source.parents:
            raise InputError(f"{target} holds the input {entry}: write elsewhere")


def check_different(targets: Iterable[str | None]) -> None:
    """Check that files to be written have different names, ignoring case where the system does.

    >>> check_different(["scores.csv", "scores.svg", None])
    """
    known: set[str] = set()
    for target in filter(None, targets):
        # A terminal or a pipe takes all output.
        if Path(target).exists() and not Path(target).is_file():
            continue
        name = os.path.realpath(target)
        name = name.casefold() if _FOLDS else name
        if name in known:
            raise InputError(f"{target} would be written twice: name different files")
        known.add(name)


def hash_files(*paths: Path) -> str:
    """Return the hex SHA-256 of the bytes of files. Raises InputError if one cannot be read, or is no plain file."""
    digest = hashlib.sha256()
    for path in paths:
        check_plain(path)
        with readable(path), path.open("rb") as handle:
            hashlib.file_digest(handle, lambda: digest)
    return digest.hexdigest()


@dataclass(frozen=True)
class Content:
    """A file that a setting names; its content is its identity."""

    location: str  # As given by the user
    fingerprint: str  # Hex SHA-256 of its files

    @classmethod
    def files_of(cls, location: str) -> Sequence[Path]:
        """List the files at a location."""
        return [Path(location)]

    @classmethod
    def of(cls, location: str) -> Self:
        """Hash the files at a location."""
        return cls(location, hash_files(*cls.files_of(location)))

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Hash the files at a location; `none` gives None."""
        return None if text == "none" else cls.of(text)

    def __str__(self) -> str:
        return f"{Path(self.location).name}#{self.fingerprint[:12]}"


def write_output(path: Path, content: bytes | memoryview | Iterable[str]) -> None:
    """Write an output file, bytes or text; the target of a link is replaced, pipes and devices are written to."""
    place = Path(os.path.realpath(path))
    if not is_special(place):
        write_whole(place, content)
        return
    with place.open("wb") as stream:
        stream.writelines(encoded(content))


def is_special(path: Path) -> bool:
    """Whether the path is a pipe or a device, which cannot be replaced."""
    return path.exists() and not path.is_file()


def write_whole(path: Path, content: bytes | memoryview | Iterable[str]) -> None:
    """Write a file, bytes or text; a link is replaced, not its target.

    Raises `OSError` if it cannot be written; then nothing is left behind.
    """
    with draft_file(path) as draft, open_own(draft, "wb") as stream:
        stream.writelines(encoded(content))


def encoded(content: bytes | memoryview | Iterable[str]) -> Iterable[bytes | memoryview]:
    """Encode text as UTF-8; other characters, such as bytes of file names, are escaped."""
    if isinstance(content, bytes | memoryview):
        return [content]
    return (text.encode(errors="backslashreplace") for text in content)


def open_own(path: Path, mode: str) -> IO[bytes]:
    """Open a file in a folder of softbleu; raise `OSError` for links, pipes and devices."""

    def opened(name: str, flags: int) -> int:
        handle = os.open(name, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o600)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise OSError(errno.EINVAL, "no plain file", name)
        return handle

    return open(path, mode, opener=opened)


@contextmanager
def draft_file(path: Path) -> Iterator[Path]:
    """Yield an empty file beside a path, which replaces it at the end, or is removed on errors.

    Drafts of killed processes are removed first.
    """
    begin = f".{path.name[:100]}."
    with _guard:
        for left, _ in _left_behind(path.parent, rf"{re.escape(begin)}(\d{{1,9}})\.[^.]+\.draft"):
            left.unlink(missing_ok=True)
        handle, name = tempfile.mkstemp(prefix=f"{begin}{os.getpid()}.", suffix=".draft", dir=path.parent)
        _mine.add(draft := Path(name))
    try:
        os.close(handle)
        yield draft
        # The mask of new files can be read only by setting it.
        os.umask(mask := os.umask(0o077))
        there = path.lstat().st_mode if os.path.lexists(path) else stat.S_IFLNK
        if not (stat.S_ISREG(there) or stat.S_ISLNK(there)):
            raise OSError(errno.EEXIST, "a folder, a pipe or a device is there", str(path))
        draft.chmod(there & 0o777 if stat.S_ISREG(there) else 0o666 & ~mask)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
        _mine.discard(draft)


def _left_behind(folder: Path, names: str) -> Iterator[tuple[Path, re.Match[str]]]:
    """Yield files that dead processes left in a folder, by a pattern with their process number; see `_mine`.

    Yields nothing if the folder cannot be listed.
    """
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        for left in sorted(folder.iterdir()):
            match = re.fullmatch(names, left.name, re.DOTALL)
            if match and left not in _mine and (int(match[1]) == os.getpid() or not _lives(int(match[1]))):
                yield left, match


class TemporaryFolder:
    """A temporary folder, made when first asked for; those that killed processes of this user left go before."""

    _made: tempfile.TemporaryDirectory[str] | None = None

    @cached_property
    def path(self) -> Path:
        """Place of the folder."""
        with _guard:
            for left, _ in _left_behind(Path(tempfile.gettempdir()), rf"softbleu-{_HOST}-(\d{{1,9}})-.*"):
                # Anyone may put a link or a folder of this name there.
                with suppress(OSError):
                    if not left.is_symlink() and (os.name == "nt" or left.stat().st_uid == os.getuid()):
                        shutil.rmtree(left, ignore_errors=True)
            self._made = tempfile.TemporaryDirectory(prefix=f"softbleu-{_HOST}-{os.getpid()}-")
            _mine.add(path := Path(self._made.name))
        return path

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.cleanup()

    def cleanup(self) -> None:
        """Remove the folder, if it was made."""
        if self._made is not None:
            self._made.cleanup()
            _mine.discard(self.path)


def remove_unfinished() -> None:
    """Remove unfinished drafts and temporary folders of this process."""
    for path in list(_mine):
        with suppress(OSError):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


@contextmanager
def draft_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder beside a path; it is removed at the end unless `put_in_place` moved it.

    Drafts of killed processes are removed first. A target that is itself such a draft is yielded unchanged.
    """
    if target in _mine:
        yield target
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    mend_folder(target)
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    _mine.add(draft)
    draft.mkdir()
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        _mine.discard(draft)


def put_in_place(draft: Path, target: Path) -> None:
    """Move a finished draft to its place; an old folder is replaced in the same step if the system can."""
    for path in draft.iterdir():
        _flush(path)
    if draft == target:
        return
    if target.is_symlink():
        target.unlink()
    if not target.exists():
        draft.rename(target)
    elif exchange(draft, target):
        shutil.rmtree(draft)
    else:
        former = target.with_name(f".{target.name}.{os.getpid()}.former")
        target.rename(former)
        try:
            draft.rename(target)
        except BaseException:
            # Windows cannot rename open files.
            former.rename(target)
            raise
        shutil.rmtree(former)
    _flush(target.parent)


def _flush(path: Path) -> None:
    """Flush a file or folder to disk: otherwise a rename may survive a crash, but not the content."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def mend_folder(target: Path) -> None:
    """Remove drafts of dead processes, and restore a folder that one of them had moved away."""
    for left, match in _left_behind(target.parent, rf"\.{re.escape(target.name)}\.(\d{{1,9}})\.(draft|former)"):
        if match[2] == "former" and not target.exists():
            left.rename(target)
        else:
            shutil.rmtree(left, ignore_errors=True)


def _lives(process: int) -> bool:
    if os.name == "nt":
        # No signal is harmless here: number 0 is Ctrl-C.
        return True
    try:
        os.kill(process, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


def cache_folder() -> Path | None:
    """Return the cache folder: ``$SOFTBLEU_CACHE``, else ``$XDG_CACHE_HOME/softbleu``, else ``~/.cache/softbleu``.

    It may not exist yet; None without a home folder.
    """
    if named := os.environ.get(CACHE_VARIABLE):
        return Path(named)
    # The XDG base directory specification ignores relative paths.
    if (base := os.environ.get("XDG_CACHE_HOME")) and Path(base).is_absolute():
        return Path(base, _PROGRAM)
    try:
        return Path.home() / ".cache" / _PROGRAM
    except RuntimeError:
        return None


def make_cache_folder(folder: Path) -> None:
    """Make a folder of the cache, readable only by its owner, if it does not exist."""
    for place in (*reversed(folder.parents), folder):
        if not place.exists():
            place.mkdir(0o700, exist_ok=True)


def kept_arrays(name: str, make: Callable[[], Mapping[str, Array]]) -> Mapping[str, Array]:
    """Map cached arrays by name, such as ``graphs/<key>``; missing or damaged arrays are made."""
    folder = cache_folder()
    arrays: dict[str, Array] = {}

    def save_all(place: Path) -> None:
        import numpy as np

        arrays.update(make())
        for key, array in arrays.items():
            np.save(place / f"{key}.npy", array, allow_pickle=False)

    if folder is not None:
        with suppress(OSError):
            keep_folder(folder / name, save_all)
            return {path.stem: map_array(path) for path in (folder / name).glob("*.npy")}
    return arrays or make()


def keep_folder(target: Path, make: Callable[[Path], object]) -> None:
    """Ensure that a folder of the cache exists with whole files; otherwise make it.

    `make` writes the files into an empty folder, which is then moved to its place. Raises `OSError` if it cannot be
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
    """Return size and checksum of a file; of very large files only the size, since every run checks them."""
    checksum = 0
    with open_own(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size <= _MOST_SUMMED:
            while block := stream.read(1 << 20):
                checksum = zlib.crc32(block, checksum)
    return [size, checksum]


def local_place(location: str) -> str:
    """Return the path of a copy of the files at a URL; other locations are returned unchanged.

    >>> local_place("glove-6b-100d")
    'glove-6b-100d'
    """
    # Joined sets (+) are opened one by one.
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
