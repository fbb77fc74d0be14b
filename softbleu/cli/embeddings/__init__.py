"""`softbleu embeddings`: a command a file; each does its work by one call to the library."""

from __future__ import annotations

import typer

from softbleu.cli import examples
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

embeddings_app = typer.Typer(name="embeddings", rich_markup_mode="rich")


@embeddings_app.callback(invoke_without_command=True)
def embeddings(ctx: typer.Context) -> None:
    """Word vectors: convert them, look into them, find neighbours, train your own."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


embeddings_app.command(epilog=examples.as_epilog(examples.CONVERT))(convert)
embeddings_app.command(epilog=examples.as_epilog(examples.INFO))(info)
embeddings_app.command(epilog=examples.as_epilog(examples.SIMILARITY))(similarity)
embeddings_app.command(epilog=examples.as_epilog(examples.EXPAND))(expand)
embeddings_app.command(epilog=examples.as_epilog(examples.NEIGHBOURS))(neighbours)
embeddings_app.command(epilog=examples.as_epilog(examples.INDEX))(index)
embeddings_app.command(epilog=examples.as_epilog(examples.GRAPH))(graph)
embeddings_app.command(epilog=examples.as_epilog(examples.TRAIN))(train)
embeddings_app.command(epilog=examples.as_epilog(examples.EVALUATE))(evaluate)
embeddings_app.command("list", epilog=examples.as_epilog(examples.LIST))(list_sets)
