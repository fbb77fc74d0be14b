"""`softbleu embeddings similarity`: how alike two words are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from softbleu.cli import options as opt
from softbleu.cli.settings import takes_settings_of

if TYPE_CHECKING:
    from softbleu.declare import Declared


def _choice() -> type[Declared]:
    from softbleu.embeddings.choice import VectorChoice

    return VectorChoice


@takes_settings_of(_choice, opt.MATCHING, without=("normalize", "layers", "exact_words"))
def similarity(
    ctx: typer.Context,
    one: Annotated[str, typer.Argument(metavar="A", help="A word.")],
    other: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    output_format: opt.RecordFormat = "text",
    output: opt.Output = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Compare two words as the matchers do, and with random pairs of words of the same set."""
    from softbleu.cli.output import table_output
    from softbleu.embeddings import open_vectors
    from softbleu.embeddings.choice import VectorChoice
    from softbleu.report import Records
    from softbleu.scoring.words import compare_words

    write = table_output(output_format, output, [ctx.params["vectors"]])
    choice = VectorChoice().revised({name: value for name, value in ctx.params.items() if value is not None})
    source = open_vectors(choice.vectors)
    found = compare_words(source, one, other, choice.measure, choice.vector_case)
    columns = ("one", "other", "similarity", "percentile")
    row = (found.one, found.other, found.similarity, found.percentile)
    write(Records(columns, [row], {"vectors": source.name}, digits=4))
