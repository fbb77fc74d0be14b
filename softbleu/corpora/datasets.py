"""Data sets of the studies: where they come from, on what terms, their hashes, and how to get them."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from softbleu.corpora.files import hash_file, open_text
from softbleu.errors import InputError
from softbleu.io.data_files import read_toml
from softbleu.io.files import leads_inside, open_own, write_whole
from softbleu.io.resources import required_resource
from softbleu.io.urls import file_name, is_url, open_url, read_range, url_size

_STEP = 1 << 22  # Bytes that are asked for at once
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
                found = url.replace("*", path[len(before) : len(path) - len(after)])
                return found if is_url(found) else self.base + found
        return ""

    def lacking(self, folder: Path) -> list[str]:
        """List files that a folder lacks, or has with other content."""
        sums = self.sums.items()
        return [path for path, known in sums if not (folder / path).is_file() or hash_file(folder / path) != known]

    def fetch(self, folder: Path) -> int:
        """Get the files that a folder lacks and that are published as they are, and count them.

        Raises `InputError` for a file with another hash, which is not kept, for one that is longer than the list
        says, and for links in the place of folders or files.
        """
        archives: dict[str, bytes] = {}
        wanted = [path for path in self.lacking(folder) if self.url(path)]
        for path in wanted:
            url, _, member = self.url(path).partition("#")
            target = folder / path
            for place in (folder, *(folder / parent for parent in PurePosixPath(path).parents)):
                if place.is_symlink():
                    raise InputError(f"{place}: a link is in the place of a folder: move it away")
            if os.path.lexists(target):
                raise InputError(f"{target}: is there, with another hash than in the studies: move it away")
            target.parent.mkdir(parents=True, exist_ok=True)
            if url not in archives:
                part = target.with_name(f"{file_name(url)}.part")
                archives = {url: _download(url, part, self.bytes)}
            packed = member or (url.endswith(".gz") and not path.endswith(".gz"))
            try:
                content = _unpack(archives[url], member, url, self.bytes) if packed else archives[url]
            except (KeyError, tarfile.TarError, OSError, EOFError) as error:
                raise InputError(f"{url}: no archive with {path} ({error})") from error
            if hashlib.sha256(content).hexdigest() != self.sums[path]:
                raise InputError(f"{url}: another hash than that of {self.name}/{path} in the studies: not kept")
            write_whole(target, content)
        return len(wanted)


def read_datasets(path: Path | None = None) -> dict[str, DataSet]:
    """Read a list of data sets by name, by default that of the studies; ``.sha256`` beside it has the hashes.

    Raises `InputError` for names that lead out of the folder of the data.
    """
    path = path or required_resource("experiments", "data.toml")
    sums: dict[str, dict[str, str]] = {}
    for line in open_text(str(path.with_suffix(".sha256"))):
        known, _, file = line.partition("  ")
        name, _, inside = file.partition("/")
        if not leads_inside(file) or not inside:
            raise InputError(f"{path.with_suffix('.sha256')}: {line[:80]!r} is no hash and file of a data set")
        sums.setdefault(name, {})[inside] = known
    tables = read_toml(path)
    for name in tables:
        if not leads_inside(name) or "/" in name:
            raise InputError(f"{path}: {name[:80]!r} is no name of a data set: it would be no folder of its own")
    try:
        return {name: DataSet(name, **table, sums=sums.get(name, {})) for name, table in tables.items()}
    except (TypeError, AttributeError) as error:
        raise InputError(f"{path}: no list of data sets ({error}): describe them as those of the studies") from error


def _download(url: str, part: Path, most: int) -> bytes:
    """Read a file, range by range where that can be done; what is there of an earlier attempt is not read again."""
    size = url_size(url)
    if size is None:
        with open_url(url) as stream:
            return _bounded(stream, url, most)
    if size > most:
        raise _too_long(url, most)
    with open_own(part, "ab") as file:
        for start in range(file.tell(), size, _STEP):
            file.write(read_range(url, start, min(start + _STEP, size)))
            file.flush()
    with open_own(part, "rb") as file:
        content = file.read(most)
    part.unlink()
    return content


def _unpack(content: bytes, member: str, url: str, most: int) -> bytes:
    """Unpack a file, or one of an archive."""
    if not member:
        with gzip.open(io.BytesIO(content)) as stream:
            return _bounded(stream, url, most)
    with gzip.open(io.BytesIO(content)) as whole:
        # An archive is unpacked up to its member, once.
        packed = io.BytesIO(_bounded(whole, url, most)) if content[:2] == b"\x1f\x8b" else io.BytesIO(content)
    with tarfile.open(fileobj=packed, mode="r:") as archive:
        file = archive.extractfile(member)
        return file.read() if file is not None else b""


def _bounded(stream: IO[bytes] | gzip.GzipFile, url: str, most: int) -> bytes:
    """Read a stream to its end, which must come soon enough."""
    content = bytearray()
    while part := stream.read(_STEP):
        content += part
        if len(content) > most:
            raise _too_long(url, most)
    return bytes(content)


def _too_long(url: str, most: int) -> InputError:
    return InputError(f"{url}: more than the {most:,} bytes that the list of data sets allows (bytes = …)")
