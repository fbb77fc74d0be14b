"""`softbleu embeddings info`: what a set of vectors is."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt


def info(
    vectors: Annotated[
        str,
        typer.Argument(
            metavar="PATH|NAME", help="A store, a vector file, a bundled or installed set, or an encoder."
        ),
    ] = "glove-6b-100d",
    verify: Annotated[bool, opt.option("Read all of it, to see that it is whole and unchanged.", "--verify")] = False,
    output_format: opt.RecordFormat = "text",
    output: opt.Output = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Show what a set of vectors is: size, source, licence, content hash, how alike random words are."""
    from softbleu.cli.output import table_output
    from softbleu.embeddings import open_vectors
    from softbleu.embeddings.encoders import is_encoder, open_encoder
    from softbleu.embeddings.inspection import describe_encoder, describe_vectors
    from softbleu.report import Records

    write = table_output(output_format, output, [vectors])
    if is_encoder(vectors):
        facts = describe_encoder(open_encoder(vectors), verify=verify)
    else:
        facts = describe_vectors(open_vectors(vectors), verify=verify)
    write(Records((), (), facts, digits=6))
