"""Commands that stand together under one name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer


def make_group(name: str, text: str, *commands: Callable[..., Any]) -> typer.Typer:
    """Make an application of commands, each named by the first word of its function; alone it shows its help."""
    group = typer.Typer(name=name, rich_markup_mode="rich")

    @group.callback(help=text, invoke_without_command=True)
    def show_help(ctx: typer.Context) -> None:
        if ctx.invoked_subcommand is None:
            typer.echo(ctx.get_help())

    for each in commands:
        group.command(each.__name__.partition("_")[0])(each)
    return group
