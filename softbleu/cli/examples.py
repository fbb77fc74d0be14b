"""Examples of each command; this module is loaded when help is shown."""

import re
import tomllib
from pathlib import Path

EXAMPLES: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Commands by what they do, by the name of the command."""
_METRIC = re.compile(
    r'^class .*\n    """(.+?)(?:"""|$)(?:\n(?!class ).*)*?\n    name: ClassVar\[str\] = "(.+?)"$', re.MULTILINE
)


def examples_of(name: str, above: str = "") -> str:
    """What help shows below the options of a command: something, and its examples."""
    lines = [f"# {what}\n[bold]{line}[/bold]" for what, line in EXAMPLES[name].items()]
    return "\n\n".join((*([above] if above else []), "Examples:", *lines))


def metric_lines() -> str:
    """What help shows of metrics, a line each, read from the sources: to load all metrics would take longer."""
    found: dict[str, str] = {}
    for path in Path(__file__).parents[1].joinpath("metrics").rglob("*.py"):
        found |= {name: about for about, name in _METRIC.findall(path.read_text("utf-8"))}
    return "\n".join(["Metrics:", *(f"[bold]{name}[/bold] {found[name]}" for name in sorted(found))])
