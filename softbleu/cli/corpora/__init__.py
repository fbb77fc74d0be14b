"""`softbleu corpora`: a command a file; each does its work by one call to the library."""

from __future__ import annotations

import typer

from softbleu.cli.corpora.generate import generate_text
from softbleu.cli.examples import CORPORA_GENERATE, as_epilog

corpora_app = typer.Typer(name="corpora", rich_markup_mode="rich")
corpora_app.command("generate", epilog=as_epilog(CORPORA_GENERATE))(generate_text)


@corpora_app.callback(invoke_without_command=True)
def corpora(ctx: typer.Context) -> None:
    """Corpora: generate artificial ones from grammars."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
