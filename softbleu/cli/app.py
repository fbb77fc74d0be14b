"""Commands run with the words of a command line."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable, Sequence

from softbleu.cli.command import Options, offered_options, spelt_for
from softbleu.cli.commands import COMMANDS, GROUPS, PROGRAM, find_command
from softbleu.cli.settings import SettingOption, by_spelling, identifier
from softbleu.cli.words import HELP, habit, meant, option_values, parse_words, values_of
from softbleu.config.declare import Setting
from softbleu.errors import REMOVAL, REMOVED, InputError, SoftbleuError, spelt, without_secrets
from softbleu.io.platform import drop_output, tell

BAD_INPUT, BROKEN_PIPE, INTERRUPTED = 2, 1, 130


def _called(arguments: Sequence[str]) -> tuple[str, Sequence[str]] | None:
    """Split off the name of a command; None where help is wanted, or no command is named."""
    name = ""
    for place, word in enumerate(arguments):
        name = name if word == "--" else f"{name} {word}".strip()
        words = arguments[place + 1 :]
        if name in COMMANDS:
            return (name, words) if {*HELP}.isdisjoint(words) else None
        if name and name not in GROUPS:
            break
    return None


def _run_command(name: str, words: Sequence[str]) -> None:
    """Run a command with its words."""
    command = find_command(name)
    if not gc.isenabled():  # As `main` begins; what is loaded stays, and is never looked through
        gc.freeze()
        gc.enable()
    options = command.options
    known, settings = by_spelling(offered_options(options).values()), list[SettingOption]()

    def find(spelling: str) -> Setting:
        """Find an option of a setting; they are looked for once, where no other option has a spelling."""
        values = values_of(words)
        if not settings and (wanted := values.keys() - known.keys()):
            with spelt_for(options):
                settings.extend(options.setting_options(values, wanted))
            known.update(by_spelling(option.shown for option in settings) | known)
        if spelling not in known:
            raise _unknown_option(name, options, spelling)
        return known[spelling]

    read = [*parse_words(known, words, find)]
    given = option_values(offered_options(options).values(), read, f" (see '{PROGRAM} {name} --help')")
    chosen = tuple((option, given.pop(field)) for option in settings if (field := option.shown.field) in given)
    earlier = {word: option for word, option, _ in read if option is not None and word in option.earlier}
    notes = [f"{word} is called --{option.key} now" for word, option in earlier.items()]
    command.run(given, chosen, notes)


def run(arguments: Sequence[str]) -> int:
    """Run with these arguments and return the exit code: 0, or 2 for anything the user can mend, in one line.

    Only debugging, or a fault of this program, shows a traceback.
    """
    code: object = 0
    try:
        called = None if f"_{PROGRAM.upper()}_COMPLETE" in os.environ else _called(arguments)
        if called is not None:
            _run_command(*called)
        else:
            from softbleu.cli.help import show

            code = show(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has seen enough.
        drop_output()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        code = end.code
    except (SoftbleuError, OSError, MemoryError, ModuleNotFoundError) as error:
        if "--debug" in arguments:
            from traceback import format_exc

            tell(without_secrets(format_exc()).rstrip("\n"))
        drop_output()
        tell(f"softbleu: error: {spelt([_describe(error)])}")
        return BAD_INPUT
    return code if isinstance(code, int) else 0


def _takers(flag: str) -> list[str]:
    """Return the commands of no group that take an option."""
    commands = [name for name in COMMANDS if " " not in name]
    return [name for name in commands if flag in by_spelling(offered_options(find_command(name).options).values())]


def _unknown_option(command: str, options: type[Options], name: str) -> InputError:
    """Make the error for an option that a command lacks: it names the option here, or the commands that have it."""
    said = f"No such option: {name}"
    settings = (spelling for option in options.help_options(None) for spelling in option.spellings)
    near = meant(name, [*by_spelling(offered_options(options).values()), *settings])
    if name.strip("-") in REMOVED:
        said = f"{name} {REMOVAL}"
    elif near and near[0] == name.replace("_", "-"):
        said += f" (did you mean {near[0]}?)"
    elif owners := _owners_of(name):
        said += f" (a setting of {', '.join(owners)}, which this command does not take)"
    elif hint := habit(name):
        said += f"; {hint}"
    elif others := _takers(name):
        said += f" (an option of {', '.join(others)})"
    elif near:
        said += f" (did you mean {near[0]}?)"
    return InputError(f"{said} (see '{PROGRAM} {command} --help')")


def _owners_of(name: str) -> Iterable[str]:
    """Return the metrics and their parts that have a setting, by the name of its option."""
    from softbleu.cli.parts import setting_options

    option = setting_options().get(identifier(name.strip("-")))
    return option.owners if option else ()


def _describe(error: Exception) -> str:
    if isinstance(error, SoftbleuError):
        return error.spelt(Options.spell)
    if isinstance(error, OSError):
        return f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}"
    if isinstance(error, ModuleNotFoundError):
        return (
            f"the package {error.name!r} is not installed: pip install it, or softbleu again with all that it needs"
        )
    return f"not enough memory ({error}): ask for less at a time"
