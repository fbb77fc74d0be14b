"""Options that commands about vectors share, and the vectors that are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softbleu.cli.command import Given
    from softbleu.embeddings import VectorCase, VectorSource

DIGITS = 4
VECTOR_OPTIONS = """
Matching
  --limit N: Look only through the first, most frequent, words of the set (default: all).
"""
STORE_OPTIONS = """
Store
  --dtype NAME =float16 <float16,float32,int8>: Keep values as float32, float16 or int8: 4, 2 or 1 bytes each
    (default: =).
  --name NAME: What to call the set (default: as the folder).
  --source TEXT: Where it comes from (default: the file names).
  --licence TEXT: Its licence (default: not stated).
  --force: Replace a store that is there already.
"""


def open_chosen(given: Given) -> tuple[VectorSource, VectorCase]:
    """Open the vectors that are named, or the default ones; and say how words are looked up."""
    from softbleu.embeddings import open_vectors
    from softbleu.embeddings.choice import VectorChoice

    choice = given.declared(VectorChoice)
    return open_vectors(choice.vectors), choice.vector_case


def store_settings(given: Given) -> dict[str, Any]:
    """Entries about the store to be written, without those that have their defaults."""
    said = given.values("dtype name source licence force")
    return {name: value for name, value in said.items() if value is not None}
