"""Data sets of the studies: where they come from, on what terms, their hashes, and how to get them."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from softbleu.corpora.files import hash_file, open_text
from softbleu.errors import InputError
from softbleu.io.data_files import read_toml
from softbleu.io.files import write_whole
from softbleu.io.resources import required_resource
from softbleu.io.urls import is_url, open_url, read_range, url_size

_STEP = 1 << 22  # Bytes that are asked for at once


@dataclass(frozen=True)
class DataSet:
    """A data set, as ``experiments/data.toml`` describes it."""

    name: str
    title: str
    source: str
    licence: str
    base: str = ""
    steps: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    sums: Mapping[str, str] = field(default_factory=dict)  # SHA-256 of its files by their path

    def __post_init__(self) -> None:
        values = (self.title, self.source, self.licence, self.base, self.steps, *self.files.values())
        if not all(isinstance(each, str) for each in values):
            raise TypeError(f"{self.name}: all but the table of files is text")

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

        Raises `InputError` for a file with another hash, which is not kept.
        """
        archives: dict[str, bytes] = {}
        wanted = [path for path in self.lacking(folder) if self.url(path)]
        for path in wanted:
            url, _, member = self.url(path).partition("#")
            if (target := folder / path).exists():
                raise InputError(f"{target}: is there, with another hash than in the studies: move it away")
            target.parent.mkdir(parents=True, exist_ok=True)
            if url not in archives:
                archives = {url: _download(url, target.with_name(f"{PurePosixPath(url).name}.part"))}
            packed = member or (url.endswith(".gz") and not path.endswith(".gz"))
            try:
                content = _unpack(archives[url], member) if packed else archives[url]
            except (KeyError, tarfile.TarError, OSError, EOFError) as error:
                raise InputError(f"{url}: no archive with {path} ({error})") from error
            if hashlib.sha256(content).hexdigest() != self.sums[path]:
                raise InputError(f"{url}: another hash than that of {self.name}/{path} in the studies: not kept")
            write_whole(target, content)
        return len(wanted)


def read_datasets(path: Path | None = None) -> dict[str, DataSet]:
    """Read a list of data sets by name, by default that of the studies; ``.sha256`` beside it has the hashes."""
    path = path or required_resource("experiments", "data.toml")
    sums: dict[str, dict[str, str]] = {}
    for line in open_text(str(path.with_suffix(".sha256"))):
        known, _, file = line.partition("  ")
        name, _, inside = file.partition("/")
        if not inside or ".." in PurePosixPath(inside).parts:
            raise InputError(f"{path.with_suffix('.sha256')}: {line[:80]!r} is no hash and file of a data set")
        sums.setdefault(name, {})[inside] = known
    tables = read_toml(path)
    try:
        return {name: DataSet(name, **table, sums=sums.get(name, {})) for name, table in tables.items()}
    except (TypeError, AttributeError) as error:
        raise InputError(f"{path}: no list of data sets ({error}): describe them as those of the studies") from error


def _download(url: str, part: Path) -> bytes:
    """Read a file, range by range where that can be done; what is there of an earlier attempt is not read again."""
    size = url_size(url)
    if size is None:
        with open_url(url) as stream:
            return stream.read()
    with part.open("ab") as stream:
        for start in range(stream.tell(), size, _STEP):
            stream.write(read_range(url, start, min(start + _STEP, size)))
            stream.flush()
    content = part.read_bytes()
    part.unlink()
    return content


def _unpack(content: bytes, member: str) -> bytes:
    if not member:
        return gzip.decompress(content)
    with tarfile.open(fileobj=io.BytesIO(content)) as opened:
        found = opened.extractfile(member)
        return found.read() if found is not None else b""
