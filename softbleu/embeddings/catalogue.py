"""The catalogue of known vector sets: how large they are, under which licence, and how to get them."""

from __future__ import annotations

from dataclasses import dataclass

from softbleu.embeddings.locate import bundled_names
from softbleu.encoders.locate import encoder_names
from softbleu.errors import UnknownNameError
from softbleu.io.reading import read_toml
from softbleu.io.resources import required_resource


@dataclass(frozen=True)
class CatalogueEntry:
    """A known vector set; None where its publisher says nothing, or nothing certain."""

    name: str  # What it is called; bundled sets open by it
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
        """How it stands here: bundled, or for download."""
        return "bundled" if self.name in (*bundled_names(), *encoder_names()) else "download"


def read_catalogue() -> tuple[CatalogueEntry, ...]:
    """Read the catalogue of this package.

    >>> read_catalogue()[0].name
    'glove-6b-100d'
    """
    tables = read_toml(required_resource("embeddings", "catalogue.toml"))
    return tuple(CatalogueEntry(name, **{**table, "get": tuple(table["get"])}) for name, table in tables.items())


def find_entry(name: str) -> CatalogueEntry:
    """Find a set of the catalogue.

    >>> find_entry("glove-6b-100d").licence
    'PDDL-1.0'
    """
    entries = {entry.name: entry for entry in read_catalogue()}
    if name not in entries:
        raise UnknownNameError("vector set", name, entries)
    return entries[name]
