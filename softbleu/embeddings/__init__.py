"""Word vectors: files, stores and bundled sets, of which only the rows of a vocabulary are kept."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from softbleu.embeddings.locate import VectorLocation as VectorLocation
    from softbleu.embeddings.locate import open_vectors as open_vectors
    from softbleu.embeddings.vectors import VectorCase as VectorCase
    from softbleu.embeddings.vectors import VectorSource as VectorSource

DEFAULT_VECTORS = "glove-6b-100d"
# Loaded when first asked for: most runs need no vectors.
_HOMES = {
    "VectorCase": "vectors",
    "VectorLocation": "locate",
    "VectorSource": "vectors",
    "bundled_names": "locate",
    "open_vectors": "locate",
    "write_store": "store",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'softbleu.embeddings' has no attribute {name!r}")
    return getattr(import_module(f"softbleu.embeddings.{_HOMES[name]}"), name)
