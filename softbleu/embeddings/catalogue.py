"""Catalogue of published vectors and encoders, and facts about opened ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from softbleu.embeddings.choice import bundled_names, open_vectors
from softbleu.embeddings.files import FileSource
from softbleu.embeddings.installed import find_installed, installed_names
from softbleu.embeddings.maps import VectorMap, map_names
from softbleu.embeddings.measure import kept_quantiles
from softbleu.embeddings.vectors import StoreSource, VectorSource, read_store_meta, store_fingerprint
from softbleu.encoders import encoder_names, is_encoder, open_encoder
from softbleu.encoders.base import Encoder
from softbleu.encoders.packaged import is_ready, packaged_place
from softbleu.encoders.store import ENCODER_FILES, STORED_SUM, encoder_fingerprint
from softbleu.encoders.stored import StoredEncoder
from softbleu.errors import UnknownNameError, VectorError
from softbleu.io.files import find_resource, required_resource
from softbleu.io.reading import read_toml
from softbleu.tables import Table

Fact = str | int | float | None


@dataclass(frozen=True)
class CatalogueEntry:
    """A known vector set; None for facts that its publisher does not state reliably."""

    name: str  # Name, by which bundled sets are opened
    dimension: int
    trained_on: str  # Training text
    licence: str  # Terms, by their SPDX name if any
    address: str  # Page of the publisher
    get: tuple[str, ...]  # Commands that fetch and convert it, in order
    words: int | None = None
    download_megabytes: float | None = None  # Size of the download stated by the publisher, in millions of bytes
    note: str | None = None  # Advice for users
    language: str | None = None  # ISO 639-1 code of the language
    kind: str = "words"  # Vectors of words, or an encoder
    extra: str | None = None  # Extra that brings it

    @property
    def state(self) -> str:
        """Availability: bundled, installed, of an extra (ready if that is installed), or for download."""
        if self.name in (*bundled_names(), *encoder_names()):
            return "bundled"
        if find_installed(self.name) is not None:
            return "installed"
        return "download" if self.extra is None else "ready" if is_ready(self.name) else "extra"

    @property
    def size(self) -> float | None:
        """Millions of bytes on disk, if it is there."""
        place = find_resource("embeddings", self.name) or find_installed(self.name)
        if place is None and self.extra is not None:
            place = packaged_place(self.name)
        return None if place is None or not place.is_dir() else _bytes_in(place) / 1e6


def read_catalogue() -> tuple[CatalogueEntry, ...]:
    """Read the bundled catalogue.

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


def describe_catalogue(name: str | None = None) -> Table:
    """Make a table of the known sets, or of the facts about one, and of the steps to get it.

    >>> describe_catalogue("glove-6b-100d").facts["state"]
    'bundled'
    """
    if name is None:
        fields = ("name", "kind", "language", "state", "licence", "words", "dimension", "size", "download_megabytes")
        entries = read_catalogue()
        listed = {entry.name for entry in entries}
        own = ((each, find_installed(each)) for each in installed_names() if each not in listed)
        entries += tuple(_installed_entry(each, place) for each, place in own if place is not None)
        rows = [[getattr(entry, field) for field in fields] for entry in entries]
        return Table((*fields[:-2], "MB", "download_MB"), rows, digits=0)
    if find_installed(name) is not None:
        return describe_set(name)
    entry = find_entry(name)
    known = {field: value for field, value in asdict(entry).items() if field != "get" and value is not None}
    steps = {f"step_{number}": command for number, command in enumerate(entry.get, start=1)}
    return Table((), (), {**known, "state": entry.state, **steps}, digits=0)


def _installed_entry(name: str, place: Path) -> CatalogueEntry:
    """Describe a store of the user by its ``meta.json``."""
    meta = read_store_meta(place)

    def text(key: str) -> str | None:
        return meta[key] if isinstance(meta.get(key), str) else None

    return CatalogueEntry(
        name,
        dimension=meta.get("dimension", 0),
        trained_on=text("source") or "not stated",
        licence=text("licence") or "not stated",
        address="",
        get=(),
        words=meta.get("count"),
        language=text("language"),
        kind=text("kind") or "words",
    )


def _bytes_in(place: Path) -> int:
    return _size_of([path for path in place.iterdir() if path.is_file()])


def describe_set(location: str, *, verify: bool = False) -> Table:
    """Make a table of facts about vectors or an encoder, and about the bundled map of these vectors, if any.

    See `describe_vectors`.
    """
    if is_encoder(location):
        facts = describe_encoder(open_encoder(location), verify=verify)
    else:
        facts = describe_vectors(open_vectors(location), verify=verify)
    if location in map_names():
        facts |= VectorMap.of(location).described()
    return Table((), (), facts, digits=6)


def describe_vectors(source: VectorSource, *, verify: bool = False) -> dict[str, Fact]:
    """Collect facts about a set, by name.

    `verify` reads the whole set and compares its hash. Raises `VectorError` if the set is damaged.

    >>> from softbleu.embeddings import open_vectors
    >>> facts = describe_vectors(open_vectors("glove-6b-100d"), verify=True)
    >>> facts["words"], facts["dimension"], facts["dtype"], facts["verified"]
    (79500, 100, 'int8', 'yes')
    """
    facts: dict[str, Fact] = {"name": source.name}
    if isinstance(source, StoreSource):
        if verify:
            _check_content(
                source.directory, source.fingerprint, store_fingerprint(source.directory), "write the store again"
            )
        facts |= {"kind": "store", "words": source.count, "dimension": source.dimension, "dtype": source.dtype}
        facts |= {"bytes": _bytes_in(source.directory), **_origin(source.meta), "sha256": source.fingerprint}
        facts |= _of_pairs(kept_quantiles(source))
    elif isinstance(source, FileSource):
        layout = source.layout
        facts |= {"kind": f"{layout.kind} file", "words": layout.count, "dimension": layout.dimension}
        facts["bytes"] = _size_of([source.path])
        if verify:
            source.select([])
            facts["sha256"] = source.fingerprint
    else:
        facts |= {"kind": type(source).__name__, "dimension": source.dimension, "sha256": source.fingerprint}
    return {**facts, "verified": "yes" if verify else "no"}


def describe_encoder(encoder: Encoder, *, verify: bool = False) -> dict[str, Fact]:
    """Collect facts about an encoder, by name; see `describe_vectors`.

    >>> from softbleu.encoders import open_encoder
    >>> facts = describe_encoder(open_encoder("minilm-l6"), verify=True)
    >>> facts["layers"], facts["dimension"], facts["dtype"], facts["verified"]
    (6, 384, 'int8', 'yes')
    """
    facts: dict[str, Fact] = {"name": encoder.name, "kind": "encoder"}
    facts |= {"layers": encoder.depth, "dimension": encoder.dimension, "pieces": encoder.vocabulary}
    if isinstance(encoder, StoredEncoder):
        folder, architecture, meta = encoder.directory, encoder.architecture, encoder.meta
        if verify:
            expected = str(meta.get(STORED_SUM, encoder.fingerprint))
            _check_content(folder, expected, encoder_fingerprint(folder, architecture), "convert the model again")
        facts |= {"positions": architecture.positions, "dtype": meta["dtype"]}
        facts |= {"bytes": _size_of([folder / name for name in ENCODER_FILES]), **_origin(meta)}
    facts |= {"sha256": encoder.fingerprint, "recommended layers": ",".join(map(str, encoder.layers))}
    facts |= {"recommended threshold": encoder.threshold, **_of_pairs(encoder.quantiles)}
    return {**facts, "verified": "yes" if verify else "no"}


def _check_content(folder: Path, expected: str, actual: str, advice: str) -> None:
    if actual != expected:
        raise VectorError(
            f"{folder}: its content has the SHA-256 {actual}, meta.json says {expected}: it was damaged or edited; "
            f"{advice}"
        )


def _size_of(files: list[Path]) -> int:
    return sum(path.stat().st_size for path in files)


def _origin(meta: Mapping[str, object]) -> dict[str, Fact]:
    names = ("family", "source", "licence", "normalisation", "source_sha256")
    return {name: value for name in names if isinstance(value := meta.get(name), str)}


def _of_pairs(quantiles: Mapping[str, float]) -> dict[str, Fact]:
    return {f"similarity {key} of random pairs": value for key, value in quantiles.items()}
