"""`softbleu embeddings info`: what a set of vectors is."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt

Verify = Annotated[bool, typer.Option("--verify", help="Read everything, to see that it is whole and unchanged.")]
VectorSet = Annotated[
    str, typer.Argument(metavar="PATH|NAME", help="A store, a vector file, or a bundled or installed set.")
]


def info(
    vectors: VectorSet = "glove-6b-100d",
    verify: Verify = False,
    output_format: opt.RecordFormat = "text",
    output: opt.Output = None,
    debug: opt.Debug = False,
) -> None:
    """Show what a set of vectors is: size, source, licence, content hash, how alike random words are."""
    from softbleu.cli.output import Output
    from softbleu.embeddings import open_vectors
    from softbleu.embeddings.inspection import describe_vectors
    from softbleu.report import RECORD_WRITERS, Layout, Records

    write = RECORD_WRITERS.find(output_format)
    target = Output.of(output, [vectors])
    facts = describe_vectors(open_vectors(vectors), verify=verify)
    target.write(write(Records((), (), facts, digits=6), Layout()))
