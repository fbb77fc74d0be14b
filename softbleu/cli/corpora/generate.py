"""`softbleu corpora generate`: a grammar in, sentences or aligned pairs out."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from softbleu.cli import options as opt
from softbleu.cli.completion import grammars

GENERATION = "Generation"
PARAPHRASE = "Paraphrases"


def generate(
    ctx: typer.Context,
    grammar: Annotated[
        str,
        typer.Option(
            "--grammar",
            "-g",
            metavar="FILE|NAME",
            help="File in NLTK's notation, or morgan2014, agreement, modifiers, alternations (default: morgan2014).",
            show_default=False,
            autocompletion=grammars,
            rich_help_panel=opt.INPUT,
        ),
    ] = "morgan2014",
    encoding: Annotated[
        str,
        typer.Option(
            "--encoding",
            metavar="NAME",
            help="Encoding of the grammar file (default: utf-8).",
            show_default=False,
            rich_help_panel=opt.INPUT,
        ),
    ] = "utf-8",
    pairing: Annotated[
        str,
        typer.Option(
            "--pairing",
            metavar="NAME",
            help="none: sentences; halves: all sentences, shuffled and paired; paraphrase: each and a way to say the "
            "same (default: none).",
            show_default=False,
            autocompletion=lambda: ["none", "halves", "paraphrase"],
            rich_help_panel=GENERATION,
        ),
    ] = "none",
    count: Annotated[
        int | None,
        typer.Option("--count", metavar="N", help="How many sentences or pairs.", rich_help_panel=GENERATION),
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="All sentences of the grammar instead, in order.", rich_help_panel=GENERATION),
    ] = False,
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            metavar="N",
            help="The same seed gives the same corpus (default: 0).",
            show_default=False,
            rich_help_panel=GENERATION,
        ),
    ] = 0,
    max_depth: Annotated[
        int | None,
        typer.Option(
            "--max-depth",
            metavar="N",
            help="Greatest depth of a derivation, words counted (default: none, or 20 for recursive grammars).",
            rich_help_panel=GENERATION,
        ),
    ] = None,
    sampling: Annotated[
        str,
        typer.Option(
            "--sampling",
            metavar="NAME",
            help="Draw by the weights of the rules, or each derivation equally likely: uniform (default: weights).",
            show_default=False,
            autocompletion=lambda: ["weights", "uniform"],
            rich_help_panel=GENERATION,
        ),
    ] = "weights",
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Draw nothing twice.", rich_help_panel=GENERATION)
    ] = False,
    synonyms: Annotated[
        float | None,
        typer.Option(
            "--synonyms",
            metavar="0..1",
            help="How likely a word becomes a synonym (default: 0.5).",
            rich_help_panel=PARAPHRASE,
        ),
    ] = None,
    category: Annotated[
        float | None,
        typer.Option(
            "--category",
            metavar="0..1",
            help="How likely it becomes another word of its category (default: 0).",
            rich_help_panel=PARAPHRASE,
        ),
    ] = None,
    alternate: Annotated[
        float | None,
        typer.Option(
            "--alternate",
            metavar="0..1",
            help="How likely a declared alternation is taken (default: 0.5).",
            rich_help_panel=PARAPHRASE,
        ),
    ] = None,
    noise: Annotated[
        list[str] | None,
        typer.Option(
            "--noise",
            metavar="NAME=0..1",
            help="Noise at each token: swap, drop, insert, substitute or function. Repeat it for several.",
            autocompletion=lambda: ["swap=", "drop=", "insert=", "substitute=", "function="],
            rich_help_panel=PARAPHRASE,
        ),
    ] = None,
    output_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="NAME",
            help="plain (sentences), pairs ('candidate ||| reference'), tsv or jsonl (default: by the suffix).",
            autocompletion=lambda: ["plain", "pairs", "tsv", "jsonl"],
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    output: opt.Output = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Generate a corpus from a grammar: sentences, or pairs with gold alignments and labels."""
    from softbleu.cli.output import Output
    from softbleu.cli.progress import ProgressBar
    from softbleu.corpora.generate import DerivationSampling, GenerationSettings, Pairing, format_for
    from softbleu.corpora.generate import generate as generate_corpus

    target = Output.of(output, [grammar])
    settings = GenerationSettings(
        grammar=grammar,
        pairing=cast("Pairing", pairing),
        seed=seed,
        count=count,
        every=every,
        max_depth=max_depth,
        sampling=cast("DerivationSampling", sampling),
        distinct=distinct,
        paraphrase=_paraphrase_settings(ctx.params),
        encoding=encoding,
    )
    with ProgressBar(quiet=quiet, what="generating") as progress:
        target.write(generate_corpus(settings).lines(output_format or format_for(output), progress))


def _paraphrase_settings(params: dict[str, Any]) -> Any:
    """Settings of paraphrases from the options that were given."""
    from softbleu.corpora.paraphrase import ParaphraseSettings
    from softbleu.errors import InputError

    given = {name: params[name] for name in ("synonyms", "category", "alternate") if params[name] is not None}
    if params["noise"]:
        given["noise"] = tuple(_parse_noise(text) for text in params["noise"])
    if given and params["pairing"] != "paraphrase":
        raise InputError(f"--{next(iter(given))} needs --pairing paraphrase")
    return ParaphraseSettings(**given)


def _parse_noise(text: str) -> tuple[str, float]:
    from softbleu.errors import InputError

    name, _, rate = text.partition("=")
    try:
        return name, float(rate)
    except ValueError:
        raise InputError(f"--noise {text!r} is not NAME=RATE, e.g. drop=0.1") from None
