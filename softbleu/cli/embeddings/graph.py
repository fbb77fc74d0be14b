"""`softbleu embeddings graph`: all words near those of a vocabulary."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt
from softbleu.cli.embeddings.neighbours import DIGITS, Limit
from softbleu.embeddings import DEFAULT_VECTORS

Vocabulary = Annotated[
    str,
    typer.Option(
        "--vocabulary",
        metavar="FILE",
        help="The words to find neighbours of, one a line; - is standard input.",
        rich_help_panel=opt.INPUT,
    ),
]
Threshold = Annotated[
    float,
    typer.Option(
        "--threshold",
        "-t",
        metavar="X",
        help="Pairs must be more similar than this.",
        rich_help_panel=opt.MATCHING,
    ),
]


def graph(
    vocabulary: Vocabulary,
    threshold: Threshold,
    vectors: opt.Vectors = None,
    limit: Limit = None,
    vector_case: opt.VectorCase = None,
    encoding: opt.Encoding = "utf-8",
    output_format: opt.RecordFormat = "tsv",
    digits: opt.Digits = DIGITS,
    output: opt.Output = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Write all pairs of a vocabulary's words and other words more similar than a threshold."""
    from softbleu.cli.errors import say
    from softbleu.cli.output import Output
    from softbleu.corpora import read_words
    from softbleu.embeddings import open_vectors
    from softbleu.embeddings.neighbours import word_graph
    from softbleu.report import RECORD_WRITERS, Layout, Records

    write = RECORD_WRITERS.find(output_format)
    target = Output.of(output, [vocabulary, vectors])
    layout = Layout(digits, target.colours)
    words = read_words(vocabulary, encoding)
    found = word_graph(
        open_vectors(vectors or DEFAULT_VECTORS),
        words,
        threshold,
        limit=limit,
        case=vector_case or "fallback",  # type: ignore[arg-type]
    )
    if found.unknown and not quiet:
        say(f"{len(found.unknown):,} of {len(found.unknown) + len(found.words):,} words have no vector")
    rows = [(word, neighbour, similarity) for word, _, neighbour, similarity in found.pairs()]
    target.write(write(Records(["word", "neighbour", "similarity"], rows, digits=digits), layout))
