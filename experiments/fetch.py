"""Fetch data of the studies from where they are published, and check the hash of each file.

Without a name it is shown which data sets there are, and how much of each is there. Files that are there are left
alone, and an interrupted download goes on. What is not published as it was used is named, with how to make it. Needs
softbleu[remote].
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import re
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, cast

from softbleu.corpora.files import open_text
from softbleu.errors import InputError, SoftbleuError, VectorError, known_name, one_line
from softbleu.io.files import draft_file, hash_files, open_own
from softbleu.io.reading import file_name, is_url, open_stream, open_url, read_toml
from softbleu.tables import Table

LIST = Path(__file__).with_name("data.toml")
_Blocks = Iterator[bytes]
_STEP = 1 << 22  # Bytes that are read at once
_AS_IT_IS = {"Accept-Encoding": "identity"}
_MOST = 1 << 28  # Bytes of a file, as it comes and unpacked, unless the list allows other sizes


@dataclass(frozen=True)
class DataSet:
    """A data set, as ``experiments/data.toml`` describes it."""

    name: str
    title: str
    source: str
    licence: str
    base: str = ""
    steps: str = ""
    bytes: int = _MOST  # Of its largest file, as it comes and unpacked: longer ones are not read to their end
    files: Mapping[str, str] = field(default_factory=dict)
    sums: Mapping[str, str] = field(default_factory=dict)  # SHA-256 of its files by their path

    def __post_init__(self) -> None:
        values = (self.title, self.source, self.licence, self.base, self.steps, *self.files.values())
        if not all(isinstance(value, str) for value in values) or type(self.bytes) is not int:
            raise TypeError(f"{self.name}: all but bytes and the table of files is text")

    def url(self, path: str) -> str:
        """Where a file is published as it is; empty where it is not.

        >>> DataSet("x", "", "", "", "http://host/", files={"ref.*": "references/*.txt"}).url("ref.en")
        'http://host/references/en.txt'
        """
        for pattern, url in self.files.items():
            before, star, after = pattern.partition("*")
            if path == pattern or (star and path.startswith(before) and path.endswith(after)):
                member = url.replace("*", path[len(before) : len(path) - len(after)])
                return member if is_url(member) else self.base + member
        return ""

    def lacking(self, folder: Path) -> list[str]:
        """List files that a folder lacks, or has with other content."""
        sums = self.sums.items()
        return [path for path, known in sums if not (folder / path).is_file() or hash_files(folder / path) != known]

    def fetch(self, folder: Path) -> int:
        """Get the files that a folder lacks and that are published as they are, and count them.

        Raises `InputError` for a file with another hash, which is not kept, for one that is longer than the list
        says, and for links in the place of folders or files.
        """
        by_url: dict[str, list[tuple[str, str]]] = {}
        for path in self.sums:
            url, _, member = self.url(path).partition("#")
            if url:
                by_url.setdefault(url, []).append((path, member))
        lacking, count = set(self.lacking(folder)), 0
        for path in lacking.intersection(path for paths in by_url.values() for path, _ in paths):
            _check_target(folder, path)
        for url, listed in by_url.items():
            part = (folder / listed[0][0]).with_name(f"{file_name(url)[:200]}.part")
            paths = [(path, member) for path, member in listed if path in lacking]
            if not paths:
                # Of a run that was ended once all was kept.
                part.unlink(missing_ok=True)
                continue
            count += len(paths)
            for path, _ in [*paths, listed[0]]:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
            _download(url, part, self.bytes)
            try:
                for path, member in paths:
                    self._keep(url, _unpacked(part, url, path, member, self.bytes), path, folder / path)
            finally:
                part.unlink()
        return count

    def _keep(self, url: str, blocks: _Blocks, path: str, target: Path) -> None:
        """Write a file block by block, if it is the one that is meant."""
        digest, size = hashlib.sha256(), 0
        with draft_file(target) as draft, open_own(draft, "wb") as stream:
            for block in blocks:
                digest.update(block)
                if (size := size + len(block)) > self.bytes:
                    raise _too_long(url, self.bytes)
                stream.write(block)
            if digest.hexdigest() != self.sums[path]:
                raise InputError(f"{url}: another hash than that of {self.name}/{path} in the studies: not kept")


def read_datasets(path: Path) -> dict[str, DataSet]:
    """Read a list of data sets by name; ``.sha256`` beside it has the hashes.

    Raises `InputError` for names that lead out of the folder of the data.
    """
    sums: dict[str, dict[str, str]] = {}
    for line in open_text(str(path.with_suffix(".sha256"))):
        known, _, file = line.partition("  ")
        name, _, inside = file.partition("/")
        if not re.fullmatch("[0-9a-f]{64}", known) or not _leads_inside(file) or not inside:
            raise InputError(f"{path.with_suffix('.sha256')}: {line[:80]!r} is no hash and file of a data set")
        sums.setdefault(name, {})[inside] = known
    tables = read_toml(path)
    for name in tables:
        if not _leads_inside(name) or "/" in name:
            raise InputError(f"{path}: {name[:80]!r} is no name of a data set: it would be no folder of its own")
    try:
        return {name: DataSet(name, **table, sums=sums.get(name, {})) for name, table in tables.items()}
    except (TypeError, AttributeError) as error:
        raise InputError(f"{path}: no list of data sets ({error}): describe them as those of the studies") from error


def _leads_inside(name: str) -> bool:
    """Whether a path is relative, normalised and printable, so that it names something inside a folder.

    >>> [_leads_inside(name) for name in ("a/b.txt", "../b", "/b", "a//b", "a/./b", "C:/b", "")]
    [True, False, False, False, False, False, False]
    """
    apart = {"", ".", ".."}.isdisjoint(name.split("/"))
    return apart and name.isprintable() and "\\" not in name and not PureWindowsPath(name).anchor


def _check_target(folder: Path, path: str) -> None:
    """See that a file can be written inside a folder, in the place of nothing."""
    for place in (folder, *(folder / parent for parent in PurePosixPath(path).parents)):
        if place.is_symlink():
            raise InputError(f"{place}: a link is in the place of a folder: move it away")
    if os.path.lexists(folder / path):
        raise InputError(f"{folder / path}: is there, with another hash than in the studies: move it away")


def _download(url: str, part: Path, most: int) -> None:
    """Copy a file; what is there of an earlier attempt is not read again, if the server can leave it out."""
    if part.is_symlink():
        part.unlink()
    with open_own(part, "ab") as file:
        rest = _rest(url, file.tell()) if file.tell() else None
        if rest is None:
            file.truncate(0)
        with rest or open_url(url) as stream:
            for block in _blocks_of(url, stream):
                file.write(block)
                file.flush()
                if file.tell() > most:
                    part.unlink()
                    raise _too_long(url, most)


def _blocks_of(url: str, stream: IO[bytes]) -> _Blocks:
    try:
        yield from iter(lambda: stream.read(_STEP), b"")
    except InputError:
        raise
    # Every kind of file system has its own errors.
    except Exception as error:
        raise InputError(f"{url}: cannot be read ({one_line(str(error))})") from error


def _rest(url: str, start: int) -> IO[bytes] | None:
    """Open a file from a byte on; None if its server gives it as a whole only, or not at all."""
    import fsspec

    files, path = fsspec.url_to_fs(url)
    with suppress(Exception):
        stream = files.open(path, block_size=0, size=1, headers={**_AS_IT_IS, "Range": f"bytes={start}-"})
        if stream.r.status == HTTPStatus.PARTIAL_CONTENT:
            return cast("IO[bytes]", stream)
        stream.close()
    return None


def _unpacked(part: Path, url: str, path: str, member: str, most: int) -> Iterator[bytes]:
    """Read a file out of what was downloaded: a member of an archive, what was packed, or the whole."""
    try:
        if not member and not (url.endswith(".gz") and not path.endswith(".gz")):
            with open_own(part, "rb") as plain:
                yield from iter(lambda: plain.read(_STEP), b"")
            return
        with open_stream(part) as packed:
            if not member:
                yield from iter(lambda: packed.content.read(_STEP), b"")
                return
            with tarfile.open(fileobj=_Bounded(packed.content, url, most), mode="r|") as archive:
                while (info := archive.next()) is not None and info.name != member:
                    # They would all be remembered.
                    vars(archive)["members"].clear()
                inside = info and archive.extractfile(info)
                if not inside:
                    raise KeyError(f"it has no file {member}")
                yield from iter(lambda: inside.read(_STEP), b"")
    except InputError:
        raise
    except (KeyError, tarfile.TarError, OSError, EOFError, VectorError, ValueError) as error:
        raise InputError(f"{url}: no archive with {path} ({error})") from error


class _Bounded(io.RawIOBase):
    """The content of an archive, up to so many bytes."""

    def __init__(self, content: io.BufferedIOBase, url: str, most: int) -> None:
        self._content, self._url, self._left, self._most = content, url, most, most

    def read(self, size: int = -1, /) -> bytes:
        block = self._content.read(size)
        self._left -= len(block)
        if self._left < 0:
            raise _too_long(self._url, self._most)
        return block


def _too_long(url: str, most: int) -> InputError:
    return InputError(f"{url}: more than the {most:,} bytes that the list of data sets allows (bytes = …)")


def main(words: Sequence[str] | None = None) -> None:
    """Show which data sets there are, or fetch those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets to fetch")
    parser.add_argument("-d", "--output-folder", type=Path, default=Path("../shared/data"), metavar="DIR")
    parser.add_argument("--list", type=Path, default=LIST, metavar="FILE", help="data sets of your own, described so")
    given = parser.parse_args(words)
    known, folder = read_datasets(given.list), given.output_folder
    if not given.names:
        there = {name: len(data_set.sums) - len(data_set.lacking(folder / name)) for name, data_set in known.items()}
        rows = [(name, len(data_set.sums), there[name], data_set.licence) for name, data_set in known.items()]
        sys.stdout.write(f"{Table(('name', 'files', 'there', 'licence'), rows)}\n")
    for data_set in [known[known_name("data set", name, known)] for name in given.names]:
        count = data_set.fetch(folder / data_set.name)
        sys.stderr.write(f"{data_set.name}: {count} files fetched, {data_set.licence}; {data_set.source}\n")
        if left := data_set.lacking(folder / data_set.name):
            raise InputError(
                f"{folder / data_set.name} lacks {left[0]} ({len(left)} files by hand): {data_set.steps}"
            )


if __name__ == "__main__":
    try:
        main()
    except SoftbleuError as error:
        sys.exit(one_line(str(error)))
