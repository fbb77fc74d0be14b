"""Examples of each command; this module is loaded when help is shown."""

from __future__ import annotations

import tomllib
from pathlib import Path

import typer

from softbleu.cli.settings import has_settings

EXAMPLES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Commands by what they do, by the name of the command."""


def show_examples(app: typer.Typer, more: str = "", group: str = "") -> None:
    """Put the examples below the options of every command of an application, and `more` where there are settings."""
    for info in app.registered_commands:
        name = info.name or getattr(info.callback, "__name__", "")
        lines = [f"# {what}\n[bold]{line}[/bold]" for what, line in EXAMPLES[f"{group}{name}"].items()]
        above = [more] if more and has_settings(info.callback) else []
        info.epilog = "\n\n".join((*above, "Examples:", *lines))
    for each in app.registered_groups:
        if each.typer_instance is not None:
            show_examples(each.typer_instance, more, f"{each.typer_instance.info.name} ")
