"""`softbleu corpora generate`: a grammar in, sentences or aligned pairs out."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from softbleu.cli import options as opt
from softbleu.cli.completion import grammars

GENERATION = "Generation"
PARAPHRASE = "Paraphrases"


def _generation(text: str, *names: str, metavar: str | None = None, complete: opt.Completion = None) -> Any:
    return opt.option(text, *names, panel=GENERATION, metavar=metavar, complete=complete)


def _paraphrase(text: str, *names: str, metavar: str = "0..1", complete: opt.Completion = None) -> Any:
    return opt.option(text, *names, panel=PARAPHRASE, metavar=metavar, complete=complete)


def generate_text(
    ctx: typer.Context,
    grammar: Annotated[
        str,
        opt.option(
            "File in NLTK's notation, or morgan2014, agreement, modifiers, alternations (default: morgan2014).",
            "--grammar",
            "-g",
            panel=opt.INPUT,
            metavar="FILE|NAME",
            complete=grammars,
        ),
    ] = "morgan2014",
    encoding: Annotated[
        str,
        opt.option("Encoding of the grammar file (default: utf-8).", "--encoding", panel=opt.INPUT, metavar="NAME"),
    ] = "utf-8",
    pairing: Annotated[
        str,
        _generation(
            "none: sentences; halves: all sentences, shuffled and paired; paraphrase: each and a way to say the same "
            "(default: none).",
            "--pairing",
            metavar="NAME",
            complete=("none", "halves", "paraphrase"),
        ),
    ] = "none",
    count: Annotated[int | None, _generation("How many sentences or pairs.", "--count", metavar="N")] = None,
    every: Annotated[bool, _generation("All sentences of the grammar instead, in order.", "--all")] = False,
    seed: Annotated[int, _generation("The same seed gives the same corpus (default: 0).", "--seed", metavar="N")] = 0,
    max_depth: Annotated[
        int | None,
        _generation(
            "Greatest depth of a derivation, words counted (default: none, or 20 for recursive grammars).",
            "--max-depth",
            metavar="N",
        ),
    ] = None,
    sampling: Annotated[
        str,
        _generation(
            "Draw by the weights of the rules, or each derivation equally likely: uniform (default: weights).",
            "--sampling",
            metavar="NAME",
            complete=("weights", "uniform"),
        ),
    ] = "weights",
    distinct: Annotated[bool, _generation("Draw nothing twice.", "--distinct")] = False,
    synonyms: Annotated[
        float | None, _paraphrase("How likely a word becomes a synonym (default: 0.5).", "--synonyms")
    ] = None,
    category: Annotated[
        float | None,
        _paraphrase("How likely it becomes another word of its category (default: 0).", "--category"),
    ] = None,
    alternate: Annotated[
        float | None, _paraphrase("How likely a declared alternation is taken (default: 0.5).", "--alternate")
    ] = None,
    noise: Annotated[
        list[str] | None,
        _paraphrase(
            "Noise at each token: swap, drop, insert, substitute or function. Repeat it for several.",
            "--noise",
            metavar="NAME=0..1",
            complete=("swap=", "drop=", "insert=", "substitute=", "function="),
        ),
    ] = None,
    output_format: Annotated[
        str | None,
        opt.format_option(
            "plain (sentences), pairs ('candidate ||| reference'), tsv or jsonl (default: by the suffix).",
            ("plain", "pairs", "tsv", "jsonl"),
        ),
    ] = None,
    output: opt.Output = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Generate a corpus from a grammar: sentences, or pairs with gold alignments and labels."""
    from softbleu.cli.output import Output
    from softbleu.cli.progress import ProgressBar
    from softbleu.corpora.generate import DerivationSampling, GenerationSettings, Pairing, format_for, generate

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
        target.write(generate(settings).lines(output_format or format_for(output), progress))


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
