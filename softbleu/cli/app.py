"""The commands put together, and run."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from itertools import takewhile
from typing import Annotated, Any

import typer
import typer.completion
import typer.main

from softbleu.cli.command import DECLARATIONS, HELP, Command, Group
from softbleu.cli.errors import guarded
from softbleu.cli.settings import FindOptions, options_of, setting_options
from softbleu.errors import known_name
from softbleu.version import __version__

PROGRAM = "softbleu"
MORE_HELP = "More options: name a metric or a matcher, as in softbleu score --metric gleu --help"
GROUPS = {  # Groups of commands: what they are for, and the modules that declare them
    "": ("", "score compare explain sweep metaeval train matrix select diff edits check metrics matchers tokenizers"),
    "corpora": (
        "Corpora: generate artificial ones from grammars, and challenge sets from texts.",
        "generate challenge",
    ),
    "embeddings": (
        "Word vectors: convert them, look into them, find neighbours, train your own.",
        "convert info similarity neighbours train evaluate list_sets",
    ),
    "experiments": ("Experiments: from a file that defines them, their data, spurious credit.", "run fetch spurious"),
    "networks": ("Reference networks: many alternative references in one network.", "make info sample show"),
}


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


def make_program(
    named: Sequence[str] | None = None, found: FindOptions = setting_options, examples: str | None = None
) -> Any:
    """Make the command line, or as much of it as is needed, with the options of settings that are found.

    `named` are the words that say which command is run: it alone gets options of settings, for making them takes
    longer than many a run, and unless help is shown no other command is made; None stands for all of them. With
    `examples`, help shows examples, and above those of commands that take settings this text.
    """
    app = typer.Typer(name=PROGRAM, cls=Group, rich_markup_mode="rich", pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True, context_settings={"help_option_names": list(HELP)})(softbleu)
    words = tuple(named or ())[:2]
    known = words[:1] and (words[0] in GROUPS or words[0] in GROUPS[""][1].split())
    for name, (text, modules) in GROUPS.items():
        group = typer.Typer(name=name, cls=Group, rich_markup_mode="rich") if name else app
        if name:
            group.callback(help=text, invoke_without_command=True)(_show_help)
        for module in modules.split():
            place = (name, module) if name else (module,)
            if examples is not None or not known or place[0] == words[0]:
                declared = DECLARATIONS[import_module(".".join(("softbleu.cli", *place))).__name__]
                spelt = [part.partition("_")[0] for part in place]
                make = found if named is None or list(words[: len(spelt)]) == spelt else None
                epilog = None
                if examples is not None:
                    from softbleu.cli.examples import examples_of, metric_lines

                    above = examples if declared.of_metrics else ""
                    above = f"{metric_lines()}\n\n{above}" if above and words == ("score",) else above
                    epilog = examples_of(" ".join(spelt), above)
                group.command(spelt[-1], cls=Command, epilog=epilog)(declared.callback(make))
        if name and group.registered_commands:
            app.add_typer(group)
    return typer.main.get_command(app)


def make_help(names: Sequence[str], arguments: Sequence[str]) -> Any:
    """Make the command line with what help shows: what the metrics and matchers named have, or what is common."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-m", "--metric", nargs="*", action="extend", default=[])
    parser.add_argument("--matcher", nargs="*", action="extend", default=[])
    parser.add_argument("--tokenize", nargs=1, action="extend", default=[])
    said = parser.parse_known_args(list(arguments))[0]
    more = "" if said.metric or said.matcher else MORE_HELP
    return make_program(names, partial(options_of, said.metric, said.matcher, said.tokenize), more)


def _complete(option: str, shell: str) -> None:
    """Show or install completion for a shell; unless one is named, typer finds out itself which this is."""
    program = make_program(["score"])
    known = known_name("shell", shell, ("bash", "zsh", "fish", "powershell", "pwsh"))
    act = typer.completion.show_callback if option.startswith("--show") else typer.completion.install_callback
    with typer.Context(program, info_name=PROGRAM) as context:
        act(context, program.params[0], known)


def run(arguments: Sequence[str]) -> int:
    """Run with these arguments and return the exit code: 0, or 2 for anything the user can mend."""

    def work() -> object:
        names = list(takewhile(lambda word: not word.startswith("-"), arguments))
        if any(name.endswith("_COMPLETE") for name in os.environ):
            return call(make_program(), arguments)
        if any(word in HELP for word in arguments):
            # Beside it nothing counts but the name of the command.
            return call(make_help(names, arguments), [*names, HELP[0]])
        if arguments[:1] in (["--install-completion"], ["--show-completion"]) and len(arguments) > 1:
            _complete(*arguments[:2])
        try:
            return call(make_program(names, partial(setting_options, bleu_only=True)), arguments)
        except typer.TyperException:
            # Nothing is done as long as options are not understood: they may be those of another metric.
            return call(make_program(names), arguments)

    def call(program: Any, given: Sequence[str]) -> object:
        return program(list(given), prog_name=PROGRAM, standalone_mode=False)

    return guarded(work, debug="--debug" in arguments)
