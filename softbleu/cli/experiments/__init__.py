"""`softbleu experiments`: a command a file; each does its work by one call to the library."""

from __future__ import annotations

import typer

from softbleu.cli.examples import RUN, SPURIOUS, as_epilog
from softbleu.cli.experiments.run import run_experiment
from softbleu.cli.experiments.spurious import spurious

experiments_app = typer.Typer(name="experiments", rich_markup_mode="rich")


@experiments_app.callback(invoke_without_command=True)
def experiments(ctx: typer.Context) -> None:
    """Experiments: from a file that defines them, and which credit is spurious."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


experiments_app.command("run", epilog=as_epilog(RUN))(run_experiment)
experiments_app.command(epilog=as_epilog(SPURIOUS))(spurious)
