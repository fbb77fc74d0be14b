"""Errors become one line on standard error and an exit code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import typer

from softbleu.errors import REMOVAL, REMOVED, Parameter, SoftbleuError, one_line, without_secrets
from softbleu.io.platform import drop_output

BAD_INPUT, BROKEN_PIPE, INTERRUPTED = 2, 1, 130
# Options whose name is not that of the parameter
_OPTIONS = {
    "assessments": "da",
    "candidates": "candidate",
    "every": "all",
    "expand": "unexpanded",
    "metrics": "metric",
    "references": "reference",
}


def guarded(
    work: Callable[[], object], *, debug: bool, takers: Callable[[str], Sequence[str]] = lambda flag: ()
) -> int:
    """Do the work and return an exit code; only debugging, or a fault of this program, shows a traceback.

    `takers` are the commands that take an option, of which an error speaks.
    """
    try:
        code = work()
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        drop_output()
        return BROKEN_PIPE
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except (SoftbleuError, OSError, MemoryError, typer.TyperException) as error:
        if debug:
            typer.echo(without_secrets(traceback.format_exc()), err=True, nl=False)
        drop_output()
        say(f"error: {' '.join(_describe(error, takers))}")
        return BAD_INPUT
    return code if isinstance(code, int) else 0


def say(message: str) -> None:
    """Write one line to standard error."""
    if sys.stderr is not None:
        typer.echo(f"softbleu: {one_line(without_secrets(message))}", err=True)


def _describe(error: Any, takers: Callable[[str], Sequence[str]]) -> Iterator[str]:
    from softbleu.cli.settings import identifier, setting_options

    if isinstance(error, typer.TyperException):
        unknown = getattr(error, "option_name", "") if hasattr(error, "possibilities") else ""
        gone = unknown.strip("-") in REMOVED
        yield (
            f"{unknown} {REMOVAL}" if gone else " ".join(error.format_message().replace("Value error, ", "").split())
        )
        if (other := setting_options().get(identifier(unknown.strip("-")))) is not None:
            yield f"(a setting of {', '.join(other.owners)}, which this command does not take)"
        elif unknown and (others := takers(unknown)):
            yield f"(an option of {', '.join(others)})"
        if (context := getattr(error, "ctx", None)) is not None:
            yield f"(see '{context.command_path} --help')"
    elif isinstance(error, OSError) and not isinstance(error, SoftbleuError):
        yield f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}"
    elif isinstance(error, MemoryError):
        yield f"not enough memory ({error}): ask for less at a time"
    else:
        yield error.spelt(option_of)


def option_of(parameter: Parameter) -> str:
    """Spell a parameter as the option of a command.

    >>> [*map(option_of, (Parameter("references"), Parameter("max_depth", 200), Parameter("normalize", False)))]
    ['--reference', '--max-depth 200', '--no-normalize']
    """
    name = _OPTIONS.get(parameter.name, parameter.name).replace("_", "-")
    if parameter.value is None or isinstance(parameter.value, bool):
        return f"--{'no-' * (parameter.value is False)}{name}"
    return f"--{name} {parameter.value}"
