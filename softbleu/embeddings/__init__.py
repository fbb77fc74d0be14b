"""Word vectors: files, stores and bundled sets, of which only the rows of a vocabulary are kept."""

from softbleu.embeddings.locate import VectorLocation, bundled_names, open_vectors
from softbleu.embeddings.vectors import VectorCase, VectorSource

DEFAULT_VECTORS = "glove-6b-100d"

__all__ = [
    "DEFAULT_VECTORS",
    "VectorCase",
    "VectorLocation",
    "VectorSource",
    "bundled_names",
    "open_vectors",
]
