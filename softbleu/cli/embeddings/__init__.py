"""`softbleu embeddings`: a command a file; each does its work by one call to the library."""

from __future__ import annotations

import typer

from softbleu.cli.embeddings.convert import convert
from softbleu.cli.embeddings.evaluate import evaluate
from softbleu.cli.embeddings.expand import expand
from softbleu.cli.embeddings.graph import graph
from softbleu.cli.embeddings.index import index
from softbleu.cli.embeddings.info import info
from softbleu.cli.embeddings.list_sets import list_sets
from softbleu.cli.embeddings.neighbours import neighbours
from softbleu.cli.embeddings.similarity import similarity
from softbleu.cli.embeddings.train import train
from softbleu.cli.examples import (
    CONVERT,
    EVALUATE,
    EXPAND,
    GRAPH,
    INDEX,
    INFO,
    LIST,
    NEIGHBOURS,
    SIMILARITY,
    TRAIN,
    as_epilog,
)

app = typer.Typer(name="embeddings", rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def embeddings(ctx: typer.Context) -> None:
    """Word vectors: convert them, look into them, find neighbours, train your own."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


app.command(epilog=as_epilog(CONVERT))(convert)
app.command(epilog=as_epilog(INFO))(info)
app.command(epilog=as_epilog(SIMILARITY))(similarity)
app.command(epilog=as_epilog(EXPAND))(expand)
app.command(epilog=as_epilog(NEIGHBOURS))(neighbours)
app.command(epilog=as_epilog(INDEX))(index)
app.command(epilog=as_epilog(GRAPH))(graph)
app.command(epilog=as_epilog(TRAIN))(train)
app.command(epilog=as_epilog(EVALUATE))(evaluate)
app.command("list", epilog=as_epilog(LIST))(list_sets)
