"""`softbleu networks make`: references in, networks out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softbleu.cli import options as opt
from softbleu.cli.settings import takes_settings_of

if TYPE_CHECKING:
    from softbleu.declare import Declared
    from softbleu.networks import WordNetwork

_of = opt.OptionTable("""
Input
  --reference -r FILE…: Reference text, a segment a line, or several, whose networks are merged.
  --shared N: Where several references have so many words in a row in common, their paths meet (default: 2).
  --grammar NAME: Instead: the networks of all that says the same as sentences drawn from a grammar.
  --count N: With --grammar: how many (default: 100).
  --seed N: With --grammar: of the draws (default: 0).
Output
  --format -f NAME: network (one a line), att (OpenFst's text) (default: network).
""")


def _settings() -> type[Declared]:
    from softbleu.networks.rules import NetworkRules

    return NetworkRules


@takes_settings_of(_settings)
def make_networks(
    ctx: typer.Context,
    reference: Annotated[list[str] | None, _of("--reference")] = None,
    shared: Annotated[int, _of("--shared")] = 2,
    grammar: Annotated[str | None, _of("--grammar")] = None,
    count: Annotated[int, _of("--count")] = 100,
    seed: Annotated[int, _of("--seed")] = 0,
    output: opt.Output = None,
    output_format: Annotated[str, _of("--format", ("network", "att"))] = "network",
    tokenize: opt.Tokenize = None,
    lowercase: opt.Lowercase = None,
    encoding: opt.Encoding = "utf-8",
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Make networks of references by rules, each with a cost, or convert those that are written in brackets.

    They are scored as references: softbleu score -m hyter --notation network -r NETWORKS -c FILE.
    """
    from softbleu.cli.output import Output
    from softbleu.errors import InputError, known_name
    from softbleu.io.progress import ProgressBar
    from softbleu.networks.files import draw_meanings, parallel_lines
    from softbleu.networks.rules import NetworkRules
    from softbleu.networks.texts import format_att, format_line
    from softbleu.tokens import Tokenizer

    known_name("format", output_format, ("network", "att"))
    if (grammar is None) == (not reference):
        raise InputError("name references with --reference, or a grammar with --grammar")
    given: dict[str, Any] = {name: value for name, value in ctx.params.items() if value is not None}
    rules = NetworkRules().revised(given).resolved()
    split = Tokenizer(tokenize or "none", bool(lowercase)).splitter
    names = list(reference or ())
    if len(names) > 1 and rules.notation != "text":
        raise InputError(f"one file of notation {rules.notation!r} at a time: leave out all --reference but one")

    def made() -> Iterator[WordNetwork]:
        if grammar is not None:
            yield from draw_meanings(grammar, count, seed)
            return
        for number, texts in enumerate(parallel_lines(names, encoding), start=1):
            if len(texts) == 1:
                yield rules.network(texts[0], split, f"{names[0]}, line {number}")
            else:
                yield rules.merged([split(text) for text in texts], shared)

    write, end = (format_att, "\n\n") if output_format == "att" else (format_line, "\n")
    with ProgressBar(quiet=quiet):
        Output.of(output, names).write(write(network) + end for network in made())
