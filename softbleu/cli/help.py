"""Help and completion of the commands, by typer, which is loaded for these alone."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, cast

import typer
import typer.completion
import typer.main
from typer.core import TyperCommand, TyperGroup, TyperOption

from softbleu.cli.command import Command, Options, offered_options, spelt_for
from softbleu.cli.commands import COMMANDS, GROUPS, PANELS, PROGRAM, REMOVED_COMMANDS, find_command
from softbleu.cli.settings import by_spelling, flags_of, metavar_of
from softbleu.cli.words import HELP, HELP_ALL, NAMING, values_of
from softbleu.config.declare import Setting, format_value
from softbleu.errors import REMOVAL, InputError, UnknownNameError, known_name
from softbleu.version import __version__

FEW = 14  # Options that help shows, all of them; of more only the common ones
FIRST_EXAMPLES = 3
MORE_HELP = "All options: softbleu {} --help-all"
METRIC_HELP = "Of a metric: softbleu {} -m gleu --help. Metrics: softbleu metrics"
_SHORT = 12  # Characters of a default that short help shows


@cache
def declared_options(kind: type[Options]) -> tuple[Setting, ...]:
    """Return the options of a class in the order of the help, options of every command last."""
    described: dict[str, Setting] = {}
    for name, option in offered_options(kind).items():
        homes = [base for base in kind.__mro__ if name in vars(base).get("__annotations__", ())]
        text = next(filter(None, (_texts_of(base).get(name) for base in homes)), "")
        described[name] = replace(option, panel=option.panel or vars(homes[0])["panel"], help=text)
    common = [described.pop(name) for name in Options.offered]
    panels = [*dict.fromkeys(option.panel for option in described.values() if option.panel != Options.panel)]
    return (*sorted(described.values(), key=lambda option: [*panels, Options.panel].index(option.panel)), *common)


@cache
def _texts_of(group: type) -> dict[str, str]:
    """Read the texts of options in the docstring of their class."""
    _, _, listed = inspect.cleandoc(group.__doc__ or "").partition("Attributes\n----------\n")
    texts: dict[str, list[str]] = {}
    name = ""
    for line in listed.splitlines():
        if line.startswith(" "):
            texts[name].append(line.strip())
        else:
            name, texts[line] = line, []
    return {name: " ".join(lines) for name, lines in texts.items()}


def _describe(option: Setting) -> str:
    """Write the help of an option, with its default."""
    default = option.unset
    if not default and not isinstance(option.default, bool) and option.default not in (None, (), MISSING):
        default = format_value(option.default)
    # Plain text: markup would take `softbleu[plots]` for a style.
    text = option.help
    if option.complete is not None and "{names}" in text:
        text = text.replace("{names}", ", ".join(option.complete()))
    return f"{text}{f' (default: {default})' if default else ''}.".replace("[", "\\[")


def brief(option: Setting) -> Setting:
    """Return an option as short help shows it: the first clause of its text, and a short default.

    >>> brief(Setting("x", None, help="Text to score, a line each; - is standard input", unset="none")).help
    'Text to score, a line each'
    """
    text = re.split(r"[;:.] | \(", option.help, maxsplit=1)[0]
    return replace(option, help=text, panel="", unset=option.unset if len(option.unset) <= _SHORT else "")


def in_order(options: Iterable[Setting]) -> list[Setting]:
    """Sort options for help: options of the output come last."""
    return sorted(options, key=lambda option: option.panel == Options.panel)


def _parameter(option: Setting) -> inspect.Parameter:
    """Declare an option by typer's means."""
    required = option.default is MISSING
    kind: Any = bool if option.types == (bool,) else str
    made = typer.Argument(metavar=metavar_of(option), help=_describe(option))
    if not option.argument:
        complete = option.complete
        made = typer.Option(
            *flags_of(option),
            metavar=metavar_of(option),
            help=_describe(option),
            rich_help_panel=option.panel or None,
            show_default=False,
            autocompletion=(lambda: [*complete()]) if complete else (lambda: [*option.choices]),
        )
    kind = list[kind] if option.several else kind
    return inspect.Parameter(
        option.field,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else None,
        annotation=Annotated[kind if required else kind | None, made],
    )


def without_type(flag: TyperOption | None) -> TyperOption | None:
    """Let help show no type for a flag, which takes no value."""
    if flag is not None:
        flag.metavar = ""
    return flag


def named_help(flag: TyperOption | None) -> TyperOption | None:
    """Let the option for help say that there is more of it."""
    if flag is not None:
        flag.opts.sort(key=len)  # Typer keeps them in a set
        flag.help = "Show common options, or all."
    return without_type(flag)


class PlainCommand(TyperCommand):
    """A command whose flag for help has no type."""

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """Make the option `--help`."""
        return named_help(super().get_help_option(ctx))


def _typer_command(
    name: str,
    command: Command[Options],
    options: Iterable[Setting],
    *,
    about: str = "",
    epilog: str | None = None,
) -> PlainCommand:
    """Make a command with these options by typer's public interface, to show its help.

    With `about`, help has this behind the first sentences of the docstring.
    """

    def call(**_: object) -> None:
        raise AssertionError

    # Typer reads the parameters of a function: these are the options.
    parameters = [_parameter(option) for option in in_order(options)]
    text = inspect.cleandoc(command.work.__doc__ or "")
    call.__name__ = command.work.__name__
    call.__doc__ = "\n\n".join((text.partition("\n\n")[0], about)) if about else text
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    app = typer.Typer(rich_markup_mode="rich", add_completion=False)
    app.command(name, epilog=epilog, cls=PlainCommand)(call)
    return cast("PlainCommand", typer.main.get_command(app))


class Group(TyperGroup):
    """Commands of the program or of a group; each is made when it is called, with the options named behind it."""

    whole = False  # Whether commands have all options, and examples

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """Make the option `--help`."""
        return named_help(super().get_help_option(ctx))

    def whole_name(self, name: str) -> str:
        """Return the name of a command with that of its group."""
        return name if self.name == PROGRAM else f"{self.name} {name}"

    def list_commands(self, ctx: object) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        if self.name == PROGRAM:
            return [name for names in PANELS.values() for name in names]
        return [name.removeprefix(f"{self.name} ") for name in COMMANDS if name.startswith(f"{self.name} ")]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Make a command as lists show it, by its name and a line of help; if `whole`, with all options."""
        panel = next((panel for panel, names in PANELS.items() if cmd_name in names), None)
        if cmd_name in GROUPS:
            return _in_panel(make_program(cmd_name, whole=self.whole), panel)
        if self.whole:
            return whole_command(self.whole_name(cmd_name))
        app = typer.Typer(add_completion=False)
        app.command(cmd_name)(lambda: None)
        listed = typer.main.get_command(app)
        listed.help = COMMANDS[self.whole_name(cmd_name)][1]
        return _in_panel(listed, panel if self.name == PROGRAM else None)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str, Any, list[str]]:
        """Make the command that the first word names, to show its help; to complete words it has all options."""
        name, *words = args
        whole = self.whole_name(name)
        if name not in self.list_commands(ctx):
            if (instead := REMOVED_COMMANDS.get(whole)) is not None:
                raise InputError(f"command {whole!r} {REMOVAL}{instead and f'; {instead}'}")
            raise UnknownNameError("command", name, self.list_commands(ctx))
        if name in GROUPS:
            return name, make_program(name), words
        if ctx.resilient_parsing:
            return name, whole_command(whole, plug_ins=True), words
        # Beside help nothing counts.
        return name, _command_for_help(whole, words), [HELP[0]]


def _in_panel(command: Any, panel: str | None) -> object:
    """Return a command after saying where lists have it."""
    command.rich_help_panel = panel
    return command


def whole_command(name: str, *, plug_ins: bool = False) -> PlainCommand:
    """Make a command with all its options, and examples."""
    command = find_command(name)
    settings = [option.shown for option in command.options.help_options(None, plug_ins=plug_ins)]
    options = _with_settings(declared_options(command.options), settings)
    return _typer_command(name.split()[-1], command, options, epilog=_examples(name))


def _with_settings(options: Iterable[Setting], settings: Iterable[Setting]) -> list[Setting]:
    """Return options and options of settings, but for those that are options of the command, such as a language."""
    own = {option.name: option for option in options}
    return [*own.values(), *(option for option in settings if option.name not in own)]


def _command_for_help(name: str, words: Sequence[str]) -> PlainCommand:
    """Make a command that shows its common options, options of the named metrics, or (`--help-all`) all."""
    command, values = find_command(name), values_of(words)
    if HELP_ALL in values or any("all" in values.get(word, ()) for word in HELP):
        return whole_command(name, plug_ins=True)
    with spelt_for(command.options):
        settings = [option.shown for option in command.options.help_options(values)]
    options = [option for option in declared_options(command.options) if not option.hidden]
    naming = {spelling for option in options for spelling in by_spelling([option])} & {*NAMING}
    named = naming & values.keys()
    if len(options) + len(settings) > FEW:
        options = [option for option in options if option.common or option.argument]
        settings = [option for option in settings if named or option.common]
    listed = _with_settings(map(brief, options) if named else options, settings)
    listed = listed if named else [brief(option) for option in in_order(listed)]
    more = [MORE_HELP.format(name), *[METRIC_HELP.format(name)] * bool(naming and not named)]
    about = _examples(name, FIRST_EXAMPLES)
    return _typer_command(name.split()[-1], command, listed, about=about, epilog="\n".join(more))


def _examples(name: str, most: int | None = None) -> str:
    """Format examples of a command, all or the first, for its help."""
    import tomllib

    examples = tomllib.loads(Path(__file__).with_name("examples.toml").read_text("utf-8"))
    shown = [f"# {what}\n[bold]{line}[/bold]" for what, line in islice(examples[name].items(), most)]
    return "\n".join(shown) if most else "\n\n".join(("Examples:", *shown))


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


def make_program(name: str = PROGRAM, *, whole: bool = False) -> Group:
    """Make the command line, or a group of it; if `whole`, commands have options of all settings, and examples."""
    first = name == PROGRAM
    app = typer.Typer(name=name, cls=Group, rich_markup_mode="rich", add_completion=first)
    more = {"context_settings": {"help_option_names": list(HELP)}} if first else {"help": GROUPS[name]}
    app.callback(invoke_without_command=True, **more)(softbleu if first else _show_help)
    group = cast("Group", typer.main.get_command(app))
    group.whole = whole
    for param in group.params:
        without_type(cast("TyperOption", param))
    return group


def _complete(option: str, shell: str) -> None:
    """Show or install completion for a shell; unless one is named, typer finds out itself which this is."""
    program = make_program()
    known = known_name("shell", shell, ("bash", "zsh", "fish", "powershell", "pwsh"))
    act = typer.completion.show_callback if option.startswith("--show") else typer.completion.install_callback
    with typer.Context(program, info_name=PROGRAM) as context:
        act(context, program.params[0], known)


def show(arguments: Sequence[str]) -> object:
    """Show help, the version, or what completes words; raise the error for words that name no command."""
    if arguments[:1] in (["--install-completion"], ["--show-completion"]) and len(arguments) > 1:
        _complete(*arguments[:2])
    try:
        return make_program()([*arguments], prog_name=PROGRAM, standalone_mode=False)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        where = "" if context is None else f" (see '{context.command_path} --help')"
        raise InputError(" ".join(error.format_message().split()) + where) from error
