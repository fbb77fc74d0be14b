"""Files of softbleu's own: those that travel with it, those that it writes, and those that it keeps for later runs.

Writing is atomic, and never replaces an input file: files and folders are written beside their place, and put there
in one step. Only what a user named is reached through a link; links and devices in folders that softbleu keeps lead
nowhere. Losing the cache loses time only: what cannot be read is computed again, what cannot be written is not kept.
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
from typing import IO, TYPE_CHECKING, Any, Self

from softbleu.errors import InputError, VectorError
from softbleu.io.platform import exchange, lock
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
    from numpy.typing import NDArray

_PACKAGE = Path(__file__).resolve().parents[1]
_ROOTS = (_PACKAGE / "_resources", _PACKAGE.parent)
# Numbers of processes mean nothing on another machine, or in another container, that uses the same folder.
_HOST = re.sub(r"\W", "", os.uname().nodename if hasattr(os, "uname") else "")
# Drafts and folders of this process; others that bear its number are of an earlier one.
_mine: set[Path] = set()
_guard = lock()
_FOLDS = sys.platform in ("win32", "darwin")  # Whether a name in capital letters is the same file, as a rule
CACHE_VARIABLE = "SOFTBLEU_CACHE"  # The environment variable that names the folder of the cache
_PROGRAM = "softbleu"  # Whose folder it is, in the caches of a user
_SUMS = "sums.json"  # Sizes and checksums of the files of a folder that is kept
_MOST_SUMMED = 1 << 30  # Bytes of a file whose checksum is looked at


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


def matching_files(place: Path) -> list[Path]:
    """Files whose names match that of `place`, which has a ``*``, sorted; a name without one, where it is there.

    Raises `OSError` where the folder cannot be read.
    """
    if "*" not in place.name:
        return [place] * os.path.lexists(place)
    names = (path.name for path in (place.parent.iterdir() if place.parent.is_dir() else ()))
    return [place.with_name(name) for name in sorted(names) if fnmatchcase(name, place.name)]


def check_apart(target: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """See that a file or folder to be written is no input, and holds none, by whatever name or link.

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
    """See that files to be written have different names; where the system takes A for a, names differ by more.

    >>> check_different(["scores.csv", "scores.svg", None])
    """
    known: set[str] = set()
    for target in filter(None, targets):
        # A terminal or a pipe takes all, one after the other.
        if Path(target).exists() and not Path(target).is_file():
            continue
        name = os.path.realpath(target)
        name = name.casefold() if _FOLDS else name
        if name in known:
            raise InputError(f"{target} would be written twice: name different files")
        known.add(name)


def hash_files(*paths: Path) -> str:
    """Hex SHA-256 over the bytes of files, one after the other. InputError: one cannot be read."""
    digest = hashlib.sha256()
    for path in paths:
        with readable(path), path.open("rb") as handle:
            hashlib.file_digest(handle, lambda: digest)
    return digest.hexdigest()


@dataclass(frozen=True)
class Content:
    """File that a setting names by its place; its content is its identity."""

    location: str  # As the user gave it
    fingerprint: str  # Hex SHA-256 of its files

    @classmethod
    def files_of(cls, location: str) -> Sequence[Path]:
        """Files that lie there."""
        return [Path(location)]

    @classmethod
    def of(cls, location: str) -> Self:
        """Take what lies at a place; it is not opened."""
        files = cls.files_of(location)
        for path in files:
            check_plain(path)
        return cls(location, hash_files(*files))

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Take what lies at a place; `none` stands for what is meant where nothing is named."""
        return None if text == "none" else cls.of(text)

    def __str__(self) -> str:
        return f"{Path(self.location).name}#{self.fingerprint[:12]}"


def write_output(path: Path, content: bytes | memoryview | Iterable[str]) -> None:
    """Write what a user named, bytes or text: what a link leads to is replaced; pipes and devices are written to."""
    place = Path(os.path.realpath(path))
    if not is_special(place):
        write_whole(place, content)
        return
    with place.open("wb") as stream:
        stream.writelines(encoded(content))


def is_special(path: Path) -> bool:
    """Whether it is a pipe or a device, which cannot be replaced."""
    return path.exists() and not path.is_file()


def write_whole(path: Path, content: bytes | memoryview | Iterable[str]) -> None:
    """Write a file, bytes or text; a link in its place is replaced, not what that leads to.

    Raises `OSError` if it cannot be written; then nothing of it is left behind.
    """
    with draft_file(path) as draft, open_own(draft, "wb") as stream:
        stream.writelines(encoded(content))


def encoded(content: bytes | memoryview | Iterable[str]) -> Iterable[bytes | memoryview]:
    """Encode text as UTF-8; what is none, as file names may hold, is escaped."""
    if isinstance(content, bytes | memoryview):
        return [content]
    return (text.encode(errors="backslashreplace") for text in content)


def open_own(path: Path, mode: str) -> IO[bytes]:
    """Open a file of a folder that softbleu keeps; `OSError` if it is a link, a pipe or a device."""

    def opened(name: str, flags: int) -> int:
        handle = os.open(name, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o600)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise OSError(errno.EINVAL, "no plain file", name)
        return handle

    return open(path, mode, opener=opened)


@contextmanager
def draft_file(path: Path) -> Iterator[Path]:
    """Give an empty file beside a place, to be put there at the end, or else to go.

    What killed processes left there is removed first.
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
        # What new files may not have can be read only by setting it.
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
    """What processes that are no more left in a folder, by a pattern of names with their number; see `_mine`.

    There is nothing where the folder may be written, but not read.
    """
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        for left in sorted(folder.iterdir()):
            match = re.fullmatch(names, left.name, re.DOTALL)
            if match and left not in _mine and (int(match[1]) == os.getpid() or not _lives(int(match[1]))):
                yield left, match


class TemporaryFolder(tempfile.TemporaryDirectory[str]):
    """A folder for as long as it is wanted; those that killed processes of this user left are removed first."""

    def __init__(self) -> None:
        with _guard:
            for left, _ in _left_behind(Path(tempfile.gettempdir()), rf"softbleu-{_HOST}-(\d{{1,9}})-.*"):
                # Whoever may write there may lay a link or a folder of that name.
                with suppress(OSError):
                    if not left.is_symlink() and (os.name == "nt" or left.stat().st_uid == os.getuid()):
                        shutil.rmtree(left, ignore_errors=True)
            super().__init__(prefix=f"softbleu-{_HOST}-{os.getpid()}-")
            _mine.add(Path(self.name))

    def cleanup(self) -> None:
        """Remove it."""
        super().cleanup()
        _mine.discard(Path(self.name))


def remove_unfinished() -> None:
    """Remove at once what this process has not put in its place yet, and its temporary folders."""
    for path in list(_mine):
        with suppress(OSError):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


@contextmanager
def draft_folder(target: Path) -> Iterator[Path]:
    """Give an empty folder beside a place; it is gone afterwards unless `put_in_place` moved it.

    What a killed process left there is removed first. A place that is itself such a draft is given as it is: nobody
    would look for a draft of a draft.
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
    """Move a finished draft to its place; what lay there before goes, in the same step if the system can."""
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
            # On Windows what is open cannot be renamed.
            former.rename(target)
            raise
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


def mend_folder(target: Path) -> None:
    """Remove drafts of processes that are no more, and put back what one of them had moved away."""
    for left, match in _left_behind(target.parent, rf"\.{re.escape(target.name)}\.(\d{{1,9}})\.(draft|former)"):
        if match[2] == "former" and not target.exists():
            left.rename(target)
        else:
            shutil.rmtree(left, ignore_errors=True)


def _lives(process: int) -> bool:
    if os.name == "nt":
        # There is no harmless signal: number 0 is Ctrl-C.
        return True
    try:
        os.kill(process, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


def cache_folder() -> Path | None:
    """Name the cache folder: ``$SOFTBLEU_CACHE``, else ``$XDG_CACHE_HOME/softbleu``, else ``~/.cache/softbleu``.

    It need not exist yet; None where there is no home folder either.
    """
    if named := os.environ.get(CACHE_VARIABLE):
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
