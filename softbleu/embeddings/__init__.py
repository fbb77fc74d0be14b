"""Word vectors: files, stores and bundled sets, of which only the rows of a vocabulary are kept."""

from __future__ import annotations

from softbleu.embeddings.locate import DEFAULT_VECTORS, VectorLocation, bundled_names, open_vectors
from softbleu.embeddings.store import write_store
from softbleu.embeddings.vectors import VectorCase, VectorSource, WordVectors

__all__ = [
    "DEFAULT_VECTORS",
    "VectorCase",
    "VectorLocation",
    "VectorSource",
    "WordVectors",
    "bundled_names",
    "open_vectors",
    "write_store",
]
