"""The commands put together, and run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from itertools import takewhile
from typing import Annotated, Any

import typer
import typer.main

from softbleu.cli.coercion import coerce_plainly
from softbleu.cli.compare import compare
from softbleu.cli.corpora import corpora_app
from softbleu.cli.diff import diff
from softbleu.cli.embeddings import embeddings_app
from softbleu.cli.errors import guarded
from softbleu.cli.experiments import experiments_app
from softbleu.cli.explain import explain
from softbleu.cli.language import language_app
from softbleu.cli.matrix import matrix
from softbleu.cli.metaeval import metaeval
from softbleu.cli.networks import networks_app
from softbleu.cli.score import score
from softbleu.cli.select import select
from softbleu.cli.settings import FindOptions, options_of, setting_options, spread_settings
from softbleu.cli.several import HELP, asks_for_help, has_options, spread_values, values_behind
from softbleu.cli.sweep import sweep
from softbleu.version import __version__

PROGRAM = "softbleu"
MORE_HELP = "More options: name a metric or a matcher, as in softbleu score --metric gleu --help"

app = typer.Typer(
    name=PROGRAM,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
for each in (score, compare, explain, sweep, metaeval, matrix, select, diff):
    app.command()(each)
for group in (corpora_app, embeddings_app, experiments_app, language_app, networks_app):
    app.add_typer(group)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True, context_settings={"help_option_names": list(HELP)})
def softbleu(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Score generated text against references, softly: an n-gram that means the same counts too.

    [bold]softbleu score -c system.txt -r reference.txt[/bold] computes BLEU;
    [bold]--matcher vleu --threshold 0.8[/bold] lets n-grams match whose word vectors are alike.
    Without any input, a small sample corpus is scored.
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def command(arguments: Sequence[str]) -> Callable[..., Any]:
    """Make the command; of its subcommands those that the arguments name get the options of settings.

    Help shows what the metrics and matchers that it is asked for have, or else what is common. Nothing is made that
    the arguments do not name, for making it all takes longer than many a run.
    """
    if any(name.endswith("_COMPLETE") for name in os.environ):
        return _made(app, lambda name: True, setting_options)
    if arguments[:1] in (["--install-completion"], ["--show-completion"]) and len(arguments) > 1:
        # Unless told so, typer finds out itself what shell this is, and does not listen to what is named.
        os.environ["_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION"] = "1"
    if asks_for_help(arguments):
        from softbleu.cli.examples import show_examples

        named = values_behind(arguments, "-m", "--metric"), values_behind(arguments, "--matcher")
        show_examples(app, "" if any(named) else MORE_HELP)
        return _made(app, arguments.__contains__, partial(options_of, *named))
    few = copy(app)
    few.registered_commands = [each for each in app.registered_commands if _is_named(each.callback, arguments)]
    few.registered_groups = [each for each in app.registered_groups if _is_named(each.typer_instance, arguments)]
    if not few.registered_commands and not few.registered_groups:
        few = app
    made = _made(few, arguments.__contains__, partial(setting_options, bleu_only=True))
    return made if has_options(made, arguments) else _made(few, arguments.__contains__, setting_options)


def _is_named(one: Any, arguments: Sequence[str]) -> bool:
    """Whether a command, or a group of them, is what comes first."""
    return [one.info.name if isinstance(one, typer.Typer) else one.__name__] == list(arguments[:1])


def _made(some: typer.Typer, wanted: Callable[[str], bool], found: FindOptions) -> Callable[..., Any]:
    spread_settings(some, wanted, found)
    made = typer.main.get_command(some)
    coerce_plainly(made)
    return made


def run(arguments: Sequence[str]) -> int:
    """Run with these arguments and return the exit code: 0, or 2 for anything the user can mend."""

    def work() -> object:
        call, given = command(arguments), list(arguments)
        if asks_for_help(given):
            # Beside it nothing counts but the name of the command.
            given = [*takewhile(lambda word: not word.startswith("-"), given), HELP[0]]
        return call(list(spread_values(call, given)), prog_name=PROGRAM, standalone_mode=False)

    return guarded(work, debug="--debug" in arguments)
