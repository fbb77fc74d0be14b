"""Examples of each command; this module is loaded when help is shown."""

from __future__ import annotations

import tomllib
from pathlib import Path

import typer

EXAMPLES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Commands by what they do, by the name of the command."""


def show_examples(app: typer.Typer, group: str = "") -> None:
    """Put the examples below the options of every command of an application."""
    for info in app.registered_commands:
        name = info.name or getattr(info.callback, "__name__", "")
        lines = [f"# {what}\n[bold]{line}[/bold]" for what, line in EXAMPLES[f"{group}{name}"].items()]
        info.epilog = "\n\n".join(("Examples:", *lines))
    for each in app.registered_groups:
        if each.typer_instance is not None:
            show_examples(each.typer_instance, f"{each.typer_instance.info.name} ")
