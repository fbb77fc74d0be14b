"""`softbleu embeddings similarity`: how alike two words are."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt

One = Annotated[str, typer.Argument(metavar="A", help="A word.")]
Other = Annotated[str, typer.Argument(metavar="B", help="Another.")]


def similarity(
    ctx: typer.Context,
    one: One,
    other: Other,
    vectors: opt.Vectors = None,
    vector_case: opt.VectorCase = None,
    similarity: opt.Similarity = None,
    vectors_postprocess: opt.Postprocess = None,
    neighbours: opt.Neighbours = None,
    mutual: opt.Mutual = None,
    function_words: opt.FunctionWords = None,
    output_format: opt.RecordFormat = "text",
    output: opt.Output = None,
    debug: opt.Debug = False,
) -> None:
    """Compare two words as the matchers do, and with random pairs of words of the same set."""
    from softbleu.cli.output import Output
    from softbleu.embeddings import open_vectors
    from softbleu.report import RECORD_WRITERS, Layout, Records
    from softbleu.scoring import VectorChoice
    from softbleu.scoring.words import compare_words

    write = RECORD_WRITERS.find(output_format)
    target = Output.of(output, [vectors])
    given = {name: value for name, value in ctx.params.items() if value is not None}
    choice = VectorChoice().revised(given)
    source = open_vectors(choice.vectors)
    found = compare_words(source, one, other, choice.measure, choice.vector_case)
    columns = ("one", "other", "similarity", "percentile")
    row = (found.one, found.other, found.similarity, found.percentile)
    target.write(write(Records(columns, [row], {"vectors": source.name}, digits=4), Layout()))
