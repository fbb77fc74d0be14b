"""Options of commands: `options.txt` declares them, one a line; what completes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from softbleu.errors import InputError


def find(place: str) -> Any:
    """Find what a module of the package has: `report:WRITERS`."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"softbleu.{module}"), name)


def completion_of(what: str) -> Callable[[], list[str]]:
    """Find names that complete an option: `a,b,c`, or by place a table, a registry, a function or a literal type."""

    def names() -> list[str]:
        if ":" not in what:
            return what.split(",")
        table = getattr(find(what), "names", find(what))
        return list(get_args(table) or (table() if callable(table) else table))

    return names


def score_formats() -> list[str]:
    """Names of the formats of scores."""
    from softbleu.report import PAGES, WRITERS

    return [*WRITERS, *PAGES]


def metric_names() -> list[str]:
    """Names of metrics and matchers, those of plug-ins too."""
    from softbleu.matching import MATCHERS
    from softbleu.metrics.base import METRICS

    return [*METRICS.names(), *MATCHERS.names()]


MATCHING, METRIC = "Matching", "Score"
_KINDS = {None: bool, "N": int, "0|1": int, "X": float, "0..1": float}
_NUMBERS = {int: "a whole number", float: "a number"}
_DEFAULT = "(default: ="
Complete = Callable[[], list[str]]


@dataclass(frozen=True)
class OptionLine:
    """An option or an argument, as a line of a table declares it."""

    name: str  # Of the value in a command
    flags: Sequence[str]  # Spellings; an argument has none
    metavar: str | None  # What the value is: text, a number or a list, unless `kind` says more; a flag has none
    help: str
    panel: str | None = None
    default: str | None = None  # As text
    complete: Complete | None = None
    required: bool = False
    kind: type | None = None

    @property
    def parameter(self) -> inspect.Parameter:
        """The parameter of a command."""
        several = (self.metavar or "").endswith(("…", "..."))
        kind: Any = self.kind or (list[str] if several else _KINDS.get(self.metavar, str))
        default: Any = self.default if self.default is None or kind is bool else kind(self.default)
        if kind is bool and self.kind is None:
            default = self.default == "yes"
        # The text is plain: markup would take `softbleu[plots]` for a style.
        text = self.help.replace(_DEFAULT, f"{_DEFAULT[:-1]}{self.default}").replace("[", "\\[")
        made: Any = typer.Argument(metavar=self.metavar, help=text)
        if self.flags:
            more: dict[str, Any] = {"metavar": self.metavar, "autocompletion": self.complete}
            if kind in _NUMBERS:
                more["parser"] = partial(_number, kind)
            made = typer.Option(*self.flags, help=text, rich_help_panel=self.panel, show_default=False, **more)
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if self.required else default,
            annotation=Annotated[kind if self.required or default is not None else kind | None, made],
        )

    def check(self, value: Any) -> None:
        """See that no name of a file or folder is empty: it would stand for this folder, or for no option at all."""
        named = any(place in (self.metavar or "") for place in ("FILE", "FOLDER", "PATH"))
        if named and "" in (value if isinstance(value, list) else [value]):
            raise InputError(f"{(self.flags or [self.name])[0]}: the name of a file or folder is empty")


def _number(kind: type, value: Any) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise InputError(f"{value!r} is not {_NUMBERS[kind]}") from None


def read_options(text: str) -> dict[str, OptionLine]:
    """Read options that a table of `options.txt` declares, by the name under which commands ask for them.

    Its first table has what commands share, the others what a command has of its own, whose name stands above. A line
    says what the option is, and its help; one without a colon begins a panel. Before the colon stand its
    spellings; what its value is; `=` and the default, which `(default: =)` in the help repeats; what completes it,
    between angle brackets (see `completion_of`); `!` if it must be given. An argument has a name instead of
    spellings. An option may have one as well, by which commands ask for it.
    """
    lines, panel = {}, None
    for entry in text.strip().replace("\n    ", " ").splitlines():
        head, colon, what = entry.strip().partition(": ")
        if not colon:
            panel = head
            continue
        words = head.split()
        marked = {word[0]: word[1:].removesuffix(">") for word in words if word[0] in "=<!"}
        flags = tuple(word for word in words if word.startswith("-"))
        rest = [word for word in words if word[0] not in "-=<!"]
        name = flags[0].partition("/")[0].strip("-").replace("-", "_") if flags else rest[0]
        asked = rest.pop(0) if rest and rest[0].isidentifier() and rest[0].islower() else name
        metavar = rest[0] if rest else None
        complete = completion_of(marked["<"]) if "<" in marked else None
        lines[asked] = OptionLine(name, flags, metavar, what, panel, marked.get("="), complete, "!" in marked)
    return lines


def choose_options(names: str, command: str, declared: str = "") -> list[OptionLine]:
    """Find options by name among a command's own, else among those of all; `name=default` gives another default."""
    known = _SHARED | read_options(_OWN.get(command, "") + declared)
    chosen = []
    for asked in names.split():
        name, equals, default = asked.partition("=")
        chosen.append(replace(known[name], default=default) if equals else known[name])
    return chosen


_FORMATS = "Output format: text, json, jsonl, tsv, csv, markdown (or md), latex (or tex) or parquet (to a file)"
_TABLES = Path(__file__).with_suffix(".txt").read_text("utf-8").replace("{formats}", _FORMATS).split("\n\n[")
_SHARED = read_options(_TABLES[0])
_OWN = dict(table.split("]\n", 1) for table in _TABLES[1:])  # Tables of commands by their names
