"""The commands put together, and run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, cast

import typer
import typer.completion
import typer.main
from typer.core import TyperGroup, TyperOption

from softbleu.cli.command import (
    Command,
    Options,
    PlainCommand,
    brief,
    declared_options,
    in_order,
    named_help,
    spelt_for,
    without_type,
)
from softbleu.cli.settings import by_spelling, identifier
from softbleu.cli.words import HELP, HELP_ALL, NAMING, habit, meant, spread_values, values_of
from softbleu.errors import (
    REMOVAL,
    REMOVED,
    InputError,
    SoftbleuError,
    UnknownNameError,
    known_name,
    spelt,
    without_secrets,
)
from softbleu.io.platform import drop_output, tell
from softbleu.version import __version__

PROGRAM = "softbleu"
BAD_INPUT, BROKEN_PIPE, INTERRUPTED = 2, 1, 130
FEW = 14  # Options that help shows, all of them; of more only the common ones
FIRST_EXAMPLES = 3
MORE_HELP = "All options: softbleu {} --help-all"
METRIC_HELP = "Of a metric: softbleu {} -m gleu --help. Metrics: softbleu metrics"
GROUPS = {  # Groups of commands, and the help of each
    PROGRAM: "",
    "corpora": "Generate artificial corpora from grammars.",
    "embeddings": "Convert, describe, search and train word vectors.",
    "experiments": "Run experiments; separate deserved from spurious credit.",
    "networks": "Make and show reference networks: many references in one.",
}
PANELS = {  # Where the help of the program has its commands, in its order
    "Score": ("score", "compare", "directions", "matrix", "metrics", "matchers", "tokenizers"),
    "Understand": ("explain", "spans", "diff", "edits"),
    "Check": ("check", "align"),
    "Research": ("sweep", "metaeval", "embeddings", "networks", "corpora", "experiments"),
}
# Commands in the order of the help: module and function, and a line of help. This is where a command has its name.
COMMANDS = {
    "score": ("score:score", "Score translations or corrections: BLEU, chrF, TER, GLEU, M2."),
    "compare": ("compare:compare", "Compare systems: scores with intervals, ranks, tests."),
    "directions": ("directions:directions", "Score many language pairs at once, with averages."),
    "explain": ("explain:explain", "Show what a metric matched: n-grams, words, edits, paths."),
    "spans": ("spans:spans", "List words that a metric matches with no reference, as spans."),
    "sweep": ("sweep:sweep", "Score a grid of metrics, matchers, thresholds and settings."),
    "metaeval": ("metaeval:metaeval", "Measure how well metrics agree with human judgements."),
    "matrix": ("matrix:matrix", "Score every candidate with every reference or other candidate."),
    "diff": ("diff:diff", "Show the differences between two runs of 'softbleu score'."),
    "edits": ("edits:edits", "Find the edits from a source to corrected texts; write .m2."),
    "check": ("check:check", "Find bad outputs: empty lines, refusals, wrong language."),
    "align": ("align:align", "Cut an output with other line breaks into segments."),
    "metrics": ("metrics:metrics", "List the metrics."),
    "matchers": ("metrics:matchers", "List the matchers."),
    "tokenizers": ("metrics:tokenizers", "List the tokenizers."),
    "corpora generate": ("corpora:generate_text", "Generate sentences, or aligned pairs, from a grammar."),
    "embeddings convert": ("embeddings:convert", "Convert vectors, or a model for vectors in context, into a store."),
    "embeddings info": ("embeddings:info", "Describe a set of vectors: size, source, licence, hash, similarities."),
    "embeddings similarity": ("embeddings:similarity", "Compare two words as the matchers do."),
    "embeddings neighbours": ("embeddings:neighbours", "Show the words nearest to a word."),
    "embeddings install": ("embeddings:install", "Keep a store under a name, by which --vectors finds it."),
    "embeddings train": ("embeddings:train", "Train word vectors on text of your own."),
    "embeddings list": ("embeddings:list_sets", "List known sets of word vectors, and encoders."),
    "experiments run": ("experiments:run_experiment", "Run an experiment: table, picture and manifest."),
    "experiments spurious": ("experiments:spurious", "Separate deserved from spurious credit of matchers."),
    "networks make": ("networks:make_networks", "Make networks of references by rules, or convert them."),
    "networks show": ("networks:show_network", "Draw a network, or show its path closest to a candidate."),
}
REMOVED_COMMANDS = {  # Commands that version 0.4 removed, and their successors
    "train": "python heads/recipe/train.py trains heads, in a checkout",
    "embeddings evaluate": "gensim does its work: KeyedVectors.evaluate_word_pairs",
    "corpora challenge": "experiments/challenges/challenges.py has its rules, in a checkout",
    "experiments fetch": "experiments/fetch.py fetches the data of the studies, in a checkout",
    "networks info": "",
    "networks sample": "",
    "select": "softbleu matrix --lists has the scores of all pairs of a list",
}


class Group(TyperGroup):
    """Commands of the program or of a group; each is made when it is called, with the options named behind it."""

    whole = False  # Whether commands have all options, and examples

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """Make the option `--help`."""
        return named_help(super().get_help_option(ctx))

    def whole_name(self, name: str) -> str:
        """Return the name of a command with that of its group."""
        return name if self.name == PROGRAM else f"{self.name} {name}"

    def list_commands(self, ctx: Any) -> list[str]:
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
        """Make the command that the first word names; to complete words it has all options."""
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
        if not {*HELP}.isdisjoint(words):
            # Beside help nothing counts.
            return name, _command_for_help(whole, words), [HELP[0]]
        return name, *_command_for(whole, words)


def _in_panel(command: Any, panel: str | None) -> Any:
    """Return a command after saying where lists have it."""
    command.rich_help_panel = panel
    return command


def find_command(name: str) -> Command[Options]:
    """Import the module of a command, and return the command."""
    module, _, function = COMMANDS[name][0].partition(":")
    found: Command[Options] = getattr(import_module(f"softbleu.cli.{module}"), function)
    return found


def whole_command(name: str, *, plug_ins: bool = False) -> PlainCommand:
    """Make a command with all its options, and examples."""
    command = find_command(name)
    settings = command.options.help_options(None, plug_ins=plug_ins)
    return command.typer_command(
        name.split()[-1], declared_options(command.options), settings, epilog=_examples(name)
    )


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
    options = [brief(option) for option in (options if named else in_order([*options, *settings]))]
    more = [MORE_HELP.format(name), *[METRIC_HELP.format(name)] * bool(naming and not named)]
    about = _examples(name, FIRST_EXAMPLES)
    return command.typer_command(
        name.split()[-1], [*options, *settings * bool(named)], about=about, epilog="\n".join(more)
    )


def _command_for(name: str, words: Sequence[str]) -> tuple[PlainCommand, list[str]]:
    """Make a command with the options that words name, and the words as its parser takes them."""
    command, values = find_command(name), values_of(words)
    declared = declared_options(command.options)
    known = by_spelling(declared)
    with spelt_for(command.options):
        settings = command.options.setting_options(values, values.keys() - known.keys())
    known |= by_spelling(option.shown for option in settings)
    renamed = [(word, f"--{known[word].key}") for word in values if word in known and word in known[word].earlier]
    spread = [*spread_values(known, words, partial(_unknown_option, name, command.options))]
    flags = (word.partition("=")[0] if word.startswith("--") else word[:2] for word in spread)
    named = {known[flag].field for flag in flags if flag in known}
    made = command.typer_command(
        name.split()[-1],
        [option for option in declared if option.field in named or option.argument or option.default is MISSING],
        [option for option in settings if option.shown.field in named],
        notes=[f"{earlier} is called {now} now" for earlier, now in renamed],
    )
    return made, spread


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


def _takers(flag: str) -> list[str]:
    """Return the commands of no group that take an option."""
    commands = [name for name in COMMANDS if " " not in name]
    return [name for name in commands if flag in by_spelling(declared_options(find_command(name).options))]


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
        # The reader of the output has seen enough.
        drop_output()
        return BROKEN_PIPE
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except (SoftbleuError, OSError, MemoryError, ModuleNotFoundError, typer.TyperException) as error:
        if "--debug" in arguments:
            from traceback import format_exc

            tell(without_secrets(format_exc()).rstrip("\n"))
        drop_output()
        tell(f"softbleu: error: {spelt([' '.join(_describe(error))])}")
        return BAD_INPUT
    return code if isinstance(code, int) else 0


def _unknown_option(command: str, options: type[Options], name: str) -> InputError:
    """Make the error for an option that a command lacks: it names the option here, or the commands that have it."""
    said = f"No such option: {name}"
    settings = (spelling for option in options.help_options(None) for spelling in option.spellings)
    near = meant(name, [*by_spelling(declared_options(options)), *settings])
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


def _describe(error: Any) -> Iterator[str]:
    if isinstance(error, typer.TyperException):
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
        yield error.spelt(Options.spell)
