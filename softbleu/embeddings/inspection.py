"""What a set of vectors is, and how alike two of its words are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from softbleu.embeddings.files import FileSource
from softbleu.embeddings.measure import WordMeasure, measure_words, random_similarities
from softbleu.embeddings.store import INDEX_SUFFIX, store_fingerprint
from softbleu.embeddings.store_source import StoreSource
from softbleu.embeddings.vectors import VectorCase, VectorSource
from softbleu.errors import VectorError

Fact = str | int | float | None
_FROM_META = ("source", "licence", "normalisation", "source_sha256")


def describe_vectors(source: VectorSource, *, verify: bool = False) -> dict[str, Fact]:
    """Facts about a set, by name.

    Parameters
    ----------
    source
        The set.
    verify
        Read all of it, to see that it is whole and as it was written.

    Raises
    ------
    VectorError
        It is not.

    Examples
    --------
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


@dataclass(frozen=True)
class WordSimilarity:
    """How alike two words are.

    Attributes
    ----------
    similarity
        Under the measure; 0 if they may not meet.
    percentile
        Percentage of random pairs of words of the set that are less alike.
    """

    one: str
    other: str
    similarity: float
    percentile: float


def compare_words(
    source: VectorSource,
    one: str,
    other: str,
    measure: WordMeasure | None = None,
    case: VectorCase = "fallback",
) -> WordSimilarity:
    """Compare two words as the matchers do.

    Raises
    ------
    VectorError
        One of them has no vector.

    Examples
    --------
    >>> from softbleu.embeddings import open_vectors
    >>> found = compare_words(open_vectors("glove-6b-100d"), "car", "truck")
    >>> round(found.similarity, 2), found.percentile > 99.9
    (0.83, True)
    """
    measure = measure or WordMeasure()
    measured = measure_words(source, [one, other], case, measure)
    for word, known in zip((one, other), measured.selected.known, strict=True):
        if not known:
            raise VectorError(f"{source.name}: no vector for the word {word!r}; try another spelling")
    left, right = measured.rows.astype(np.float64)
    similarity = float(left @ right / np.linalg.norm(left) / np.linalg.norm(right))
    if measured.density is not None:
        similarity = float(np.clip(2 * similarity - measured.density.sum(), -1, 1))
    if one == other:
        similarity = 1.0
    elif (measured.links is not None and 1 not in measured.links) or (
        measured.lone is not None and measured.lone.any()
    ):
        similarity = 0.0
    random = random_similarities(source, measure)
    return WordSimilarity(one, other, similarity, float((random < similarity).mean() * 100))
