"""What commands about vectors share: options, and the vectors that are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from softbleu.cli import options as opt

if TYPE_CHECKING:
    from softbleu.embeddings import VectorCase, VectorSource

DIGITS = 4
_DTYPES = ("float16", "float32", "int8")

DType = Annotated[
    str,
    opt.option(
        "Keep values as float32, float16 or int8: 4, 2 or 1 bytes each (default: float16).",
        "--dtype",
        panel="Store",
        metavar="NAME",
        complete=_DTYPES,
    ),
]
SetName = Annotated[
    str | None,
    opt.option("What to call the set (default: as the folder).", "--name", panel="Store", metavar="NAME"),
]
SetSource = Annotated[
    str | None,
    opt.option("Where it comes from (default: the file names).", "--source", panel="Store", metavar="TEXT"),
]
SetLicence = Annotated[
    str, opt.option("Its licence (default: not stated).", "--licence", panel="Store", metavar="TEXT")
]
Force = Annotated[bool, opt.option("Replace a store that is there already.", "--force", panel="Store")]
SearchLimit = Annotated[
    int | None,
    opt.option(
        "Look only through the first, most frequent, words of the set (default: all).",
        "--limit",
        panel=opt.MATCHING,
        metavar="N",
    ),
]


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
