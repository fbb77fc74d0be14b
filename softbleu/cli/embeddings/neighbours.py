"""`softbleu embeddings neighbours`: the words nearest to a word."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt
from softbleu.embeddings import DEFAULT_VECTORS

DIGITS = 4
STDIN = "-"

Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="WORD…", help="Words to look up; - or none: read them from standard input, one a line."),
]
Count = Annotated[
    int | None,
    typer.Option(
        "--count",
        "-k",
        metavar="N",
        help="Neighbours of each word (default: 10, or all above the threshold).",
        rich_help_panel=opt.MATCHING,
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        "-t",
        metavar="X",
        help="Only neighbours with a greater similarity.",
        rich_help_panel=opt.MATCHING,
    ),
]
Kind = Annotated[
    str,
    typer.Option(
        "--index",
        metavar="NAME",
        help="How to search: exact, or by an approximate index, hnsw or ivfpq (default: exact).",
        show_default=False,
        autocompletion=lambda: ["exact", "hnsw", "ivfpq"],
        rich_help_panel=opt.MATCHING,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        help="Look only through the first, most frequent, words of the set (default: all).",
        rich_help_panel=opt.MATCHING,
    ),
]


def neighbours(
    words: Words = None,
    vectors: opt.Vectors = None,
    count: Count = None,
    threshold: Threshold = None,
    index: Kind = "exact",
    limit: Limit = None,
    vector_case: opt.VectorCase = None,
    encoding: opt.Encoding = "utf-8",
    output_format: opt.RecordFormat = "text",
    digits: opt.Digits = DIGITS,
    output: opt.Output = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Show the words nearest to a word, by the cosine of their vectors."""
    from softbleu.cli.output import Output
    from softbleu.corpora import read_words
    from softbleu.embeddings import open_vectors
    from softbleu.embeddings.neighbours import nearest_words
    from softbleu.report import RECORD_WRITERS, Layout, Records

    write = RECORD_WRITERS.find(output_format)
    target = Output.of(output, [vectors])
    layout = Layout(digits, target.colours)
    asked = words if words and words != [STDIN] else read_words(STDIN, encoding)
    found = nearest_words(
        open_vectors(vectors or DEFAULT_VECTORS),
        asked,
        count,
        threshold=threshold,
        kind=index,  # type: ignore[arg-type]
        limit=limit,
        case=vector_case or "fallback",  # type: ignore[arg-type]
    )
    rows = list(found.pairs())
    target.write(write(Records(["query", "rank", "word", "similarity"], rows, digits=digits), layout))
