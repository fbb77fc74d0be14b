"""Word vectors in files, stores and bundled sets; only the rows of a vocabulary are loaded."""

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
