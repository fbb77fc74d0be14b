"""Texts of help below the options of a command; this module is loaded when help is shown."""

import tomllib
from pathlib import Path

from softbleu.cli.words import CommandLine

EXAMPLES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Commands by what they do, by the name of the command."""
MORE_HELP = (
    "Metrics, and what each measures: softbleu metrics\n"
    "More options: name a metric or a matcher, as in softbleu score --metric gleu --help"
)


def examples_of(name: str, words: CommandLine | None = None) -> str:
    """Examples of a command; of one that takes metrics, unless `words` name some, what else there is."""
    above = [] if words is None or words.metrics or words.matchers else [MORE_HELP]
    lines = (f"# {what}\n[bold]{line}[/bold]" for what, line in EXAMPLES[name].items())
    return "\n\n".join((*above, "Examples:", *lines))
