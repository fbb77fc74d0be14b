"""The commands put together, and run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
import typer.main

from softbleu.cli.coercion import coerce_plainly
from softbleu.cli.compare import compare
from softbleu.cli.corpora import corpora_app
from softbleu.cli.embeddings import embeddings_app
from softbleu.cli.errors import guarded
from softbleu.cli.experiments import experiments_app
from softbleu.cli.explain import explain
from softbleu.cli.metaeval import metaeval
from softbleu.cli.score import score
from softbleu.cli.settings import spread_settings
from softbleu.cli.sweep import sweep
from softbleu.version import __version__

PROGRAM = "softbleu"

app = typer.Typer(
    name=PROGRAM,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
for each in (score, compare, explain, sweep, metaeval):
    app.command()(each)
for group in (corpora_app, embeddings_app, experiments_app):
    app.add_typer(group)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def softbleu(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Score generated text against references, softly: an n-gram that means the same counts too.

    [bold]softbleu score -c system.txt -r reference.txt[/bold] computes BLEU;
    [bold]--matcher vleu --threshold 0.8[/bold] lets n-grams match whose word vectors are alike.
    Without any input, a small sample corpus is scored.
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def command(arguments: Sequence[str]) -> Callable[..., Any]:
    """Make the command; of its subcommands those that the arguments name get the options of settings."""
    completing = any(name.endswith("_COMPLETE") for name in os.environ)
    spread_settings(app, lambda name: completing or name in arguments)
    if "--help" in arguments:
        from softbleu.cli.examples import show_examples

        show_examples(app)
    made = typer.main.get_command(app)
    coerce_plainly(made)
    return made


def run(arguments: Sequence[str]) -> int:
    """Run with these arguments and return the exit code: 0, or 2 for anything the user can mend."""
    call = command(arguments)
    return guarded(
        lambda: call(list(arguments), prog_name=PROGRAM, standalone_mode=False), debug="--debug" in arguments
    )
