"""`softbleu embeddings`: a command a file; each does its work by one call to the library."""

from __future__ import annotations

import typer

from softbleu.cli.embeddings.convert import convert
from softbleu.cli.examples import CONVERT, as_epilog

app = typer.Typer(name="embeddings", rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def embeddings(ctx: typer.Context) -> None:
    """Word vectors: convert them, look into them, find neighbours, train your own."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


app.command(epilog=as_epilog(CONVERT))(convert)
