"""`softbleu corpora generate`: a grammar in, sentences or aligned pairs out."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from softbleu.cli import options as opt
from softbleu.cli.completion import grammars

_of = opt.OptionTable("""
Input
  --grammar -g FILE|NAME: File in NLTK's notation, or morgan2014, agreement, modifiers, alternations (default:
    morgan2014).
  --encoding NAME: Encoding of the grammar file (default: utf-8).
Generation
  --pairing NAME: none: sentences; halves: all sentences, shuffled and paired; paraphrase: each and a way to say the
    same (default: none).
  --count N: How many sentences or pairs.
  --all: All sentences of the grammar instead, in order.
  --seed N: The same seed gives the same corpus (default: 0).
  --max-depth N: Greatest depth of a derivation, words counted (default: none, or 20 for recursive grammars).
  --sampling NAME: Draw by the weights of the rules, or each derivation equally likely: uniform (default: weights).
  --distinct: Draw nothing twice.
Paraphrases
  --synonyms 0..1: How likely a word becomes a synonym (default: 0.5).
  --category 0..1: How likely it becomes another word of its category (default: 0).
  --alternate 0..1: How likely a declared alternation is taken (default: 0.5).
  --noise NAME=0..1…: Noise at each token: swap, drop, insert, substitute or function.
""")
_NOISE = ("swap=", "drop=", "insert=", "substitute=", "function=")


def generate_text(
    ctx: typer.Context,
    grammar: Annotated[str, _of("--grammar", grammars)] = "morgan2014",
    encoding: Annotated[str, _of("--encoding")] = "utf-8",
    pairing: Annotated[str, _of("--pairing", ("none", "halves", "paraphrase"))] = "none",
    count: Annotated[int | None, _of("--count")] = None,
    every: Annotated[bool, _of("--all")] = False,
    seed: Annotated[int, _of("--seed")] = 0,
    max_depth: Annotated[int | None, _of("--max-depth")] = None,
    sampling: Annotated[str, _of("--sampling", ("weights", "uniform"))] = "weights",
    distinct: Annotated[bool, _of("--distinct")] = False,
    synonyms: Annotated[float | None, _of("--synonyms")] = None,
    category: Annotated[float | None, _of("--category")] = None,
    alternate: Annotated[float | None, _of("--alternate")] = None,
    noise: Annotated[list[str] | None, _of("--noise", _NOISE)] = None,
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
    from softbleu.corpora.generate import GenerationSettings, format_for, generate
    from softbleu.io.progress import ProgressBar

    target = Output.of(output, [grammar])
    own = ("grammar", "pairing", "seed", "count", "every", "max_depth", "sampling", "distinct", "encoding")
    given = {name: ctx.params[name] for name in own}
    settings = GenerationSettings(**given, paraphrase=_paraphrase_settings(ctx.params))
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
