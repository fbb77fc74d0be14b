"""Option values from text, without the help of a validation library.

Newer versions of typer turn text into values by pydantic, whose import takes longer than scoring a small corpus
does. The options here are texts, numbers and flags only, so each is given a converter of a few lines instead.
Where typer has no such place for one, its own way is left alone.
"""

from __future__ import annotations

from typing import Any, get_args, get_origin

import typer

from softbleu.cli.several import HELP

_PLACE = "_runtime_param"
_KINDS: dict[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "yes or no"}


def coerce_plainly(command: Any) -> None:
    """Give the options of a command and of its subcommands their converters."""
    # The option for help is among these, but not among `command.params`.
    for param in command.get_params(typer.Context(command, help_option_names=list(HELP))):
        kind = _kind_of(param)
        if hasattr(param, _PLACE) and kind in _KINDS:
            setattr(param, _PLACE, PlainValues(kind))
    for inner in getattr(command, "commands", {}).values():
        coerce_plainly(inner)


def _kind_of(param: Any) -> Any:
    annotation = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    return get_args(annotation)[0] if get_origin(annotation) is list else annotation


class PlainValues:
    """Converter of the values of one option."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert what the command line has, or one of several."""
        # Options that are repeated, and arguments of any number.
        several = getattr(param, "multiple", False) or param.nargs == -1
        if value is None:
            return () if several else None
        if several:
            return [self._convert(entry, param, ctx) for entry in value]
        return self._convert(value, param, ctx)

    def _convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if isinstance(value, self.kind):
            return value
        try:
            return self.kind(value)
        except ValueError:
            raise typer.BadParameter(f"{value!r} is not {_KINDS[self.kind]}", ctx=ctx, param=param) from None
