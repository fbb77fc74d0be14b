"""What a set of vectors is."""

from __future__ import annotations

from pathlib import Path

from softbleu.embeddings.files import FileSource
from softbleu.embeddings.store import INDEX_SUFFIX, StoreSource, store_fingerprint
from softbleu.embeddings.vectors import VectorSource
from softbleu.errors import VectorError

Fact = str | int | float | None
_FROM_META = ("source", "licence", "normalisation", "source_sha256")


def describe_vectors(source: VectorSource, *, verify: bool = False) -> dict[str, Fact]:
    """Facts about a set, by name.

    `verify` reads all of it, to see that it is whole and as it was written. Raises `VectorError` where it is not.

    >>> from softbleu.embeddings import open_vectors
    >>> facts = describe_vectors(open_vectors("glove-6b-100d"), verify=True)
    >>> facts["words"], facts["dimension"], facts["dtype"], facts["verified"]
    (79500, 100, 'int8', 'yes')
    """
    facts: dict[str, Fact] = {"name": source.name}
    if isinstance(source, StoreSource):
        facts |= _describe_store(source, verify)
    elif isinstance(source, FileSource):
        layout = source.layout
        facts |= {
            "kind": f"{layout.kind} file",
            "words": layout.count,
            "dimension": layout.dimension,
            "bytes": source.path.stat().st_size,
        }
        if verify:
            source.select([])
            facts["sha256"] = source.fingerprint
    else:
        facts |= {"kind": type(source).__name__, "dimension": source.dimension, "sha256": source.fingerprint}
    return {**facts, "verified": "yes" if verify else "no"}


def _describe_store(source: StoreSource, verify: bool) -> dict[str, Fact]:
    if verify and (found := store_fingerprint(source.directory)) != source.fingerprint:
        raise VectorError(
            f"{source.directory}: its content has the SHA-256 {found}, meta.json says {source.fingerprint}: it was "
            "damaged or edited; write the store again"
        )
    meta = source.meta
    files: list[Path] = sorted(path for path in source.directory.iterdir() if path.is_file())
    return {
        "kind": "store",
        "words": source.count,
        "dimension": source.dimension,
        "dtype": source.dtype,
        "bytes": sum(path.stat().st_size for path in files),
        **{key: meta[key] for key in _FROM_META if isinstance(meta.get(key), str)},
        "sha256": source.fingerprint,
        "indexes": ", ".join(path.name for path in files if path.suffix == INDEX_SUFFIX) or "none",
        **{f"similarity {key} of random pairs": value for key, value in source.quantiles.items()},
    }
