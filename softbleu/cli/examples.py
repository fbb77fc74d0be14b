"""Examples of each command; this module is loaded when help is shown."""

import tomllib
from pathlib import Path

from softbleu.config.declare import documented

EXAMPLES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Commands by what they do, by the name of the command."""


def examples_of(name: str, above: str = "") -> str:
    """Text that help shows below the options of a command, with its examples."""
    lines = [f"# {what}\n[bold]{line}[/bold]" for what, line in EXAMPLES[name].items()]
    return "\n\n".join((*([above] if above else []), "Examples:", *lines))


def metric_lines() -> str:
    """Lines that help shows of metrics."""
    about = sorted(documented(Path(__file__).parents[1] / "metrics").items())
    return "\n".join(["Metrics:", *(f"[bold]{name}[/bold] {line}" for name, line in about)])
