"""Word vectors: files, stores and bundled sets, of which only the rows of a vocabulary are kept."""

from softbleu.embeddings.choice import DEFAULT_VECTORS, VectorLocation, bundled_names, open_vectors
from softbleu.embeddings.vectors import VectorCase, VectorSource

__all__ = [
    "DEFAULT_VECTORS",
    "VectorCase",
    "VectorLocation",
    "VectorSource",
    "bundled_names",
    "open_vectors",
]
