"""Options that take several values: to the parser `-c A B C` is `-c A -c B -c C`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from softbleu.errors import InputError

HELP = ("-h", "--help")
EARLIER = {"--long-signature": "--long", "--test-seed": "--seed"}
"""Spellings of earlier versions, which help does not show."""


def asks_for_help(arguments: Sequence[str]) -> bool:
    """Whether help is asked for, not work."""
    return any(name in arguments for name in HELP)


def spread_values(command: Any, arguments: Sequence[str]) -> Iterator[str]:
    """Repeat an option before each of its values, which go up to the next option, if it takes several.

    The options are those of the command that the arguments name; `--` ends it all. A number below 0 is a value, and
    so is `-`, standard input.

    Raises
    ------
    InputError
        A word behind no option, where a system or a reference may be meant.
    """
    options, behind, awaited = _options(command), "", False
    for place, word in enumerate(arguments):
        if awaited:
            # The parser takes whatever stands there.
            awaited = False
            yield word
        elif word == "--":
            yield from arguments[place:]
            return
        elif _is_value(word):
            if behind:
                yield behind
            elif word in getattr(command, "commands", {}):
                command = command.commands[word]
                options = _options(command)
            elif "--candidate" in options:
                raise InputError(
                    f"{word!r} is behind no option: systems go behind -c and references behind -r, as in "
                    "-c SYSTEM1 SYSTEM2 -r REFERENCE"
                )
            yield word
        else:
            name, equals, value = _split(word)
            name = EARLIER.get(name, name) if EARLIER.get(name, name) in options else name
            option = options.get(name)
            if option is None:
                # The parser names it; what is behind it is not looked at.
                yield from arguments[place:]
                return
            behind = name if option.multiple else ""
            awaited = not option.is_flag and not equals
            yield f"{name}={value}" if equals and word.startswith("--") else name + value


def has_options(command: Any, arguments: Sequence[str]) -> bool:
    """Whether the command that the arguments name has all the options that they name."""
    options = _options(command)
    for word in arguments:
        if word in getattr(command, "commands", {}):
            command = command.commands[word]
            options = _options(command)
        elif not _is_value(word) and _split(word)[0] not in options:
            return False
    return True


def values_behind(arguments: Sequence[str], *names: str) -> list[str]:
    """Values of the options of these names, before anything is parsed."""
    found, behind = [], False
    for word in arguments:
        name, equals, value = word.partition("=")
        if not _is_value(word):
            behind = name in names
            found += [value] if behind and equals else []
        elif behind:
            found.append(word)
    return found


def _split(word: str) -> tuple[str, str, str]:
    """Name of an option, what shows that its value follows at once, and that value."""
    return word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])


def _options(command: Any) -> dict[str, Any]:
    params = [each for each in command.params if hasattr(each, "is_flag")]
    return {name: each for each in params for name in (*each.opts, *each.secondary_opts)}


def _is_value(word: str) -> bool:
    if not word.startswith("-") or word == "-":
        return True
    try:
        float(word)
    except ValueError:
        return False
    return True
