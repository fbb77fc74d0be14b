"""Data sets of the studies: where they come from, on what terms, their hashes, and how to get them."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path, PurePosixPath
from typing import Any

from softbleu.corpora.files import hash_file, open_text
from softbleu.errors import InputError
from softbleu.io.data_files import read_toml
from softbleu.io.files import write_whole
from softbleu.io.resources import required_resource
from softbleu.io.urls import is_url, open_url, read_range, url_size

_STEP = 1 << 22  # Bytes that are asked for at once


@dataclass(frozen=True)
class DataSet:
    """A data set, as ``data.toml`` says it."""

    name: str
    title: str
    source: str  # Where its publisher describes it
    licence: str
    base: str = ""  # Where the URLs of `files` begin that are none by themselves
    steps: str = ""  # How a person makes what is not published as it is
    files: Mapping[str, str] = field(default_factory=dict)
    """URLs by file, each maybe with a ``*``; behind ``#`` the name inside a tar archive."""
    sums: Mapping[str, str] = field(default_factory=dict)  # SHA-256 of its files by their path

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

        A download that was interrupted goes on where it was. InputError: a file has another hash than that of the
        studies; it is not kept.
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
            content = _member(archives[url], url, member) if member else archives[url]
            if url.endswith(".gz") and not member and not path.endswith(".gz"):
                content = gzip.decompress(content)
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
    return {name: _read(path, name, table, sums.get(name, {})) for name, table in read_toml(path).items()}


def _read(path: Path, name: str, table: Any, sums: Mapping[str, str]) -> DataSet:
    valid = [each.name for each in fields(DataSet)[1:-1]]
    given = table if isinstance(table, dict) else {}
    right = all(isinstance(given[key], dict if key == "files" else str) for key in given.keys() & set(valid))
    if not right or given.keys() - set(valid) or set(valid[:3]) - given.keys():
        raise InputError(f"{path}, [{name}]: a data set has texts {', '.join(valid[:-1])} and a table of files")
    return DataSet(name, **given, sums=sums)


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


def _member(archive: bytes, url: str, name: str) -> bytes:
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
            found = opened.extractfile(name)
            return found.read() if found is not None else b""
    except (KeyError, tarfile.TarError, OSError, EOFError) as error:
        raise InputError(f"{url}: no archive with {name} ({error})") from error
