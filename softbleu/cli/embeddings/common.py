"""What commands about vectors share: options, and the vectors that are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from softbleu.cli import options as opt

if TYPE_CHECKING:
    from softbleu.embeddings import VectorCase, VectorSource

DIGITS = 4
_of = opt.OptionTable("""
Store
  --dtype NAME: Keep values as float32, float16 or int8: 4, 2 or 1 bytes each (default: float16).
  --name NAME: What to call the set (default: as the folder).
  --source TEXT: Where it comes from (default: the file names).
  --licence TEXT: Its licence (default: not stated).
  --force: Replace a store that is there already.
Matching
  --limit N: Look only through the first, most frequent, words of the set (default: all).
""")
DType = Annotated[str, _of("--dtype", ("float16", "float32", "int8"))]
SetName = Annotated[str | None, _of("--name")]
SetSource = Annotated[str | None, _of("--source")]
SetLicence = Annotated[str, _of("--licence")]
Force = Annotated[bool, _of("--force")]
SearchLimit = Annotated[int | None, _of("--limit")]


def open_chosen(vectors: str | None, vector_case: str | None) -> tuple[VectorSource, VectorCase]:
    """Open the vectors that are named, or the default ones; and say how words are looked up.

    Raises
    ------
    UnknownNameError, VectorError
        There is no such way, or nothing such.
    """
    from softbleu.embeddings import open_vectors
    from softbleu.embeddings.choice import VectorChoice

    given = {"vectors": vectors, "vector_case": vector_case}
    choice = VectorChoice().revised({name: value for name, value in given.items() if value is not None})
    return open_vectors(choice.vectors), choice.vector_case
