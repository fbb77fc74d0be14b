"""The commands put together, and run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.completion
import typer.main
from typer.core import TyperGroup

from softbleu.cli.command import DECLARATIONS, Declaration, option_of
from softbleu.cli.options import HELP, CommandLine, habit, identifier, meant, setting_options, spread_values
from softbleu.errors import (
    REMOVAL,
    REMOVED,
    InputError,
    SoftbleuError,
    UnknownNameError,
    known_name,
    one_line,
    without_secrets,
)
from softbleu.io.platform import drop_output, tell
from softbleu.version import __version__

PROGRAM = "softbleu"
BAD_INPUT, BROKEN_PIPE, INTERRUPTED = 2, 1, 130
MORE_HELP = (
    "Metrics, and what each measures: softbleu metrics\n"
    "More options: name a metric or a matcher, as in softbleu score --metric gleu --help"
)
GROUPS = {  # Groups of commands: what they are for, and the names of the commands
    PROGRAM: (
        "",
        "score compare directions explain spans sweep metaeval matrix diff edits check align metrics "
        "matchers tokenizers corpora embeddings experiments networks",
    ),
    "corpora": ("Corpora: generate artificial ones from grammars.", "generate"),
    "embeddings": (
        "Word vectors: convert them, look into them, find neighbours, train your own.",
        "convert info similarity neighbours train list",
    ),
    "experiments": ("Experiments: from a file that defines them, and spurious credit.", "run spurious"),
    "networks": ("Reference networks: many alternative references in one network.", "make show"),
}
# Modules of commands; others stand in that of their name or group
MODULES = {"matchers": "metrics", "tokenizers": "metrics"}
REMOVED_COMMANDS = {  # Commands that version 0.4 removed: what does their work now, if anything does
    "train": "python heads/recipe/train.py trains heads, in a checkout",
    "embeddings evaluate": "gensim does its work: KeyedVectors.evaluate_word_pairs",
    "corpora challenge": "experiments/challenges/challenges.py has its rules, in a checkout",
    "experiments fetch": "experiments/fetch.py fetches the data of the studies, in a checkout",
    "networks info": "",
    "networks sample": "",
    "select": "softbleu matrix --lists has the scores of all pairs of a list",
}


class Group(TyperGroup):
    """Commands that stand together; each is made when it is asked for, with the options that are named behind it."""

    whole = False  # Whether commands have the options of all settings, and examples

    def whole_name(self, name: str) -> str:
        """Name of a command with that of its group."""
        return name if self.name == PROGRAM else f"{self.name} {name}"

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the commands."""
        return GROUPS[str(self.name)][1].split()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Make a command as lists show it: without options of settings, unless it is made whole."""
        return self._made(cmd_name, None if self.whole else CommandLine())

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str, Any, list[str]]:
        """Make the command that the first word names; to complete words it has all options."""
        name, *words = args
        if name not in self.list_commands(ctx):
            whole = self.whole_name(name)
            if (instead := REMOVED_COMMANDS.get(whole)) is not None:
                raise InputError(f"command {whole!r} {REMOVAL}{instead and f'; {instead}'}")
            raise UnknownNameError("command", name, self.list_commands(ctx))
        made = self._made(name, None if ctx.resilient_parsing else CommandLine.of(words))
        if name not in GROUPS:
            # Beside help nothing counts.
            words = [HELP[0]] if any(word in HELP for word in words) else [*spread_values(made.params, words)]
        return name, made, words

    def _made(self, name: str, words: CommandLine | None) -> Any:
        if name in GROUPS:
            return make_program(name, whole=self.whole)
        declared = _declared(self.whole_name(name))
        epilog = None
        if self.whole or (words and words.ask_for_help):
            epilog = _examples(self.whole_name(name))
            if words and declared.takes and not (words.metrics or words.matchers):
                epilog = f"{MORE_HELP}\n\n{epilog}"
        return declared.command(name, declared.settings(words, plug_ins=not self.whole), epilog)


def _declared(name: str) -> Declaration:
    """What a command declares, with that of its group in its name; its module is imported for it."""
    import_module(f"softbleu.cli.{MODULES.get(name) or name.partition(' ')[0]}")
    return DECLARATIONS[name]


def _examples(name: str) -> str:
    """Examples of a command, for the end of its help."""
    import tomllib

    examples = tomllib.loads(Path(__file__).with_name("examples.toml").read_text("utf-8"))
    return "\n\n".join(("Examples:", *(f"# {what}\n[bold]{line}[/bold]" for what, line in examples[name].items())))


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit


def softbleu(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Score generated text against references; soft metrics count similar n-grams, too.

    [bold]softbleu score -c system.txt -r reference.txt[/bold] computes BLEU;
    [bold]--matcher vleu --threshold 0.8[/bold] also matches n-grams with similar word vectors.
    Without any input, a small sample corpus is scored.
    """
    _show_help(ctx)


def _show_help(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def make_program(name: str = PROGRAM, *, whole: bool = False) -> Any:
    """Make the command line, or a group of it; if `whole`, commands have options of all settings, and examples."""
    first = name == PROGRAM
    app = typer.Typer(name=name, cls=Group, rich_markup_mode="rich", add_completion=first)
    more = {"context_settings": {"help_option_names": list(HELP)}} if first else {"help": GROUPS[name][0]}
    app.callback(invoke_without_command=True, **more)(softbleu if first else _show_help)
    group: Any = typer.main.get_command(app)
    group.whole = whole
    return group


def _complete(option: str, shell: str) -> None:
    """Show or install completion for a shell; unless one is named, typer finds out itself which this is."""
    program = make_program()
    known = known_name("shell", shell, ("bash", "zsh", "fish", "powershell", "pwsh"))
    act = typer.completion.show_callback if option.startswith("--show") else typer.completion.install_callback
    with typer.Context(program, info_name=PROGRAM) as context:
        act(context, program.params[0], known)


def _takers(flag: str) -> list[str]:
    """Commands that take an option."""
    commands = (name for name in GROUPS[PROGRAM][1].split() if name not in GROUPS)
    return [name for name in commands if any(flag in option.flags for option in _declared(name).options)]


def run(arguments: Sequence[str]) -> int:
    """Run with these arguments and return the exit code: 0, or 2 for anything the user can mend, in one line.

    Only debugging, or a fault of this program, shows a traceback.
    """
    try:
        if arguments[:1] in (["--install-completion"], ["--show-completion"]) and len(arguments) > 1:
            _complete(*arguments[:2])
        code = make_program()(list(arguments), prog_name=PROGRAM, standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        drop_output()
        return BROKEN_PIPE
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except (SoftbleuError, OSError, MemoryError, ModuleNotFoundError, typer.TyperException) as error:
        if "--debug" in arguments:
            from traceback import format_exc

            tell(without_secrets(format_exc()).rstrip("\n"))
        drop_output()
        tell(f"softbleu: error: {one_line(without_secrets(' '.join(_describe(error))))}")
        return BAD_INPUT
    return code if isinstance(code, int) else 0


def _unknown_option(error: Any) -> str:
    """Say of an option that a command lacks what stands for it here, or which commands have it."""
    name = str(error.option_name)
    if name.strip("-") in REMOVED:
        return f"{name} {REMOVAL}"
    said = f"No such option: {name}"
    params = error.ctx.command.params if error.ctx is not None else ()
    near = meant(name, (flag for param in params for flag in (*param.opts, *param.secondary_opts)))
    if near and near[0] == name.replace("_", "-"):
        return f"{said} (did you mean {near[0]}?)"
    if (other := setting_options().get(identifier(name.strip("-")))) is not None:
        return f"{said} (a setting of {', '.join(other.owners)}, which this command does not take)"
    if hint := habit(name):
        return f"{said}; {hint}"
    if others := _takers(name):
        return f"{said} (an option of {', '.join(others)})"
    return f"{said} (did you mean {near[0]}?)" if near else said


def _describe(error: Any) -> Iterator[str]:
    if isinstance(error, typer.TyperException):
        if hasattr(error, "possibilities"):
            yield _unknown_option(error)
        else:
            yield " ".join(error.format_message().replace("Value error, ", "").split())
        if (context := getattr(error, "ctx", None)) is not None:
            yield f"(see '{context.command_path} --help')"
    elif isinstance(error, OSError) and not isinstance(error, SoftbleuError):
        yield f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}"
    elif isinstance(error, ModuleNotFoundError) and not isinstance(error, SoftbleuError):
        yield f"the package {error.name!r} is not installed: pip install it, or softbleu again with all that it needs"
    elif isinstance(error, MemoryError):
        yield f"not enough memory ({error}): ask for less at a time"
    else:
        yield error.spelt(option_of)
