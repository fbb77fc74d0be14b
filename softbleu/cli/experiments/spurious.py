"""`softbleu experiments spurious`: which soft credit is deserved, which is not, and what helps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from softbleu.cli import options as opt
from softbleu.cli.completion import grammars, matchers

if TYPE_CHECKING:
    from softbleu.corpora.generate import GenerationSettings, Pairing
    from softbleu.experiments.text import MatchedText
    from softbleu.scoring import Settings

GENERATED = "Artificial text"
GRAMMAR = "modifiers"
COUNT = 2000


def _remedies() -> list[str]:
    from softbleu.experiments.remedies import REMEDIES

    return list(REMEDIES)


def _tables() -> list[str]:
    from softbleu.report.spurious import TABLES

    return list(TABLES)


Pairs = Annotated[
    str | None,
    typer.Option(
        "--pairs",
        metavar="FILE",
        help="Aligned pairs, as 'softbleu corpora generate' writes them in jsonl.",
        rich_help_panel=opt.INPUT,
    ),
]
Grammar = Annotated[
    str | None,
    typer.Option(
        "--grammar",
        "-g",
        metavar="NAME|FILE",
        help="Generate aligned pairs from this grammar (default, without any input: modifiers).",
        show_default=False,
        autocompletion=grammars,
        rich_help_panel=GENERATED,
    ),
]
PairingOption = Annotated[
    str | None,
    typer.Option(
        "--pairing",
        metavar="NAME",
        help="paraphrase, or halves: random sentences in pairs (default: paraphrase).",
        autocompletion=lambda: ["paraphrase", "halves"],
        rich_help_panel=GENERATED,
    ),
]
Count = Annotated[
    int | None,
    typer.Option(
        "--count", metavar="N", help="How many pairs (default: 2000; halves: all).", rich_help_panel=GENERATED
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", help="Seed of the generator (default: 0).", rich_help_panel=GENERATED),
]
Matchers = Annotated[
    list[str] | None,
    typer.Option(
        "--matcher",
        "-m",
        metavar="NAME",
        help="Matcher with approximate matches; repeat it for several (default: vleu and xleu).",
        show_default=False,
        autocompletion=matchers,
        rich_help_panel=opt.MATCHING,
    ),
]
Remedies = Annotated[
    list[str] | None,
    typer.Option(
        "--remedy",
        metavar="NAME",
        help="plain, optimal, aligned, sif, neighbours, mutual, csls, centred, function-words, or several joined by "
        "+; repeat it to compare (default: plain).",
        show_default=False,
        autocompletion=_remedies,
        rich_help_panel=opt.MATCHING,
    ),
]
AllRemedies = Annotated[
    bool,
    typer.Option("--all-remedies", help="Every remedy, and some combinations.", rich_help_panel=opt.MATCHING),
]
Threshold = Annotated[
    float,
    typer.Option(
        "--threshold",
        "-t",
        metavar="0..1",
        help="Threshold at which to report, and to collect partners (default: 0.8).",
        show_default=False,
        rich_help_panel=opt.MATCHING,
    ),
]
Thresholds = Annotated[
    list[str] | None,
    typer.Option(
        "--thresholds",
        metavar="LIST",
        help="Thresholds to find the best among: 0.7,0.8 or 0:1:0.02 or quantiles such as p99.9 "
        "(default: 0:0.95:0.05).",
        show_default=False,
        rich_help_panel=opt.MATCHING,
    ),
]
TableName = Annotated[
    str,
    typer.Option(
        "--table",
        metavar="NAME",
        help="summary, thresholds, orders, partners or offenders (default: summary).",
        show_default=False,
        autocompletion=_tables,
        rich_help_panel=opt.OUTPUT,
    ),
]
Most = Annotated[
    int,
    typer.Option(
        "--most",
        metavar="N",
        help="Partners or offenders to list of each matcher and remedy (default: 20).",
        show_default=False,
        rich_help_panel=opt.OUTPUT,
    ),
]
Plot = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Also draw spurious shares and precision against recall (without alignments: a histogram of partners) "
        "into this .svg or .png file (needs softbleu[plots]).",
        rich_help_panel=opt.OUTPUT,
    ),
]


def spurious(
    ctx: typer.Context,
    pairs: Pairs = None,
    candidate: opt.Candidates = None,
    reference: opt.References = None,
    encoding: opt.Encoding = "utf-8",
    grammar: Grammar = None,
    pairing: PairingOption = None,
    count: Count = None,
    seed: Seed = None,
    matchers: Matchers = None,
    remedies: Remedies = None,
    all_remedies: AllRemedies = False,
    threshold: Threshold = 0.8,
    thresholds: Thresholds = None,
    vectors: opt.Vectors = None,
    vector_case: opt.VectorCase = None,
    order: opt.Order = None,
    tokenize: opt.Tokenize = None,
    lowercase: opt.Lowercase = None,
    table: TableName = "summary",
    most: Most = 20,
    output_format: opt.TableFormat = None,
    digits: opt.Digits = 2,
    output: opt.Output = None,
    plot: Plot = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Tell deserved from spurious credit by gold alignments, for each matcher, remedy and threshold.

    Give aligned pairs, or a grammar to generate them from. Of text without alignments (-c and -r) it counts the
    partners of approximate matches and lists the worst.
    """
    from softbleu.cli.errors import say
    from softbleu.cli.inputs import check_name
    from softbleu.cli.output import Output, find_table_format
    from softbleu.cli.progress import ProgressBar
    from softbleu.errors import InputError
    from softbleu.experiments.grids import read_thresholds
    from softbleu.experiments.remedies import COMBINATIONS, PLAIN, REMEDIES, make_variants
    from softbleu.experiments.spurious import find_spurious
    from softbleu.report import Layout
    from softbleu.report.plots import check_plots
    from softbleu.report.spurious import TABLES, draw_spurious, make_table

    check_name("table", table, list(TABLES))
    if most < 1:
        raise InputError(f"--most is 1 or greater, not {most}")
    inputs = [name for name in (pairs, grammar, vectors, *(candidate or ()), *(reference or ())) if name]
    target = Output.of(output, inputs)
    write = find_table_format(output_format, target)
    picture = None if plot is None else Output.of_picture(plot, inputs)
    names = [*(remedies or ()), *((*REMEDIES, *COMBINATIONS) if all_remedies else ())] or [PLAIN]
    if picture is not None:
        check_plots()
    variants = make_variants(_settings(ctx.params), matchers or ["vleu", "xleu"], names)
    grid = read_thresholds(thresholds or ["0:0.95:0.05"])
    with _open_text(ctx.params) as (text, facts), ProgressBar(quiet=quiet, what="matching") as progress:
        found = find_spurious(text, variants, grid, at=threshold, order=order or 4, progress=progress)
    facts["vectors"] = found[0].vectors
    records = make_table(table, found, most, facts)
    if not quiet and all(each.is_empty for each in found):
        say("note: no approximate matches at any threshold: there is no credit to judge")
    target.write(write(records, Layout(digits, target.colours)))
    if picture is not None:
        picture.write(draw_spurious(found, picture.suffix))


def _settings(params: dict[str, Any]) -> Settings:
    from softbleu.cli.inputs import make_settings

    names = ("vectors", "vector_case", "tokenize", "lowercase", "order")
    given = {name: params[name] for name in names}
    return make_settings({**given, "matcher": "vleu", "quiet": True})


@contextmanager
def _open_text(params: dict[str, Any]) -> Iterator[tuple[MatchedText, dict[str, str]]]:
    """Open the text that the options name, and say what it is."""
    from softbleu.cli.errors import say
    from softbleu.cli.inputs import open_corpus
    from softbleu.corpora.aligned import read_aligned
    from softbleu.corpora.generate import generate
    from softbleu.errors import InputError
    from softbleu.experiments.text import MatchedText
    from softbleu.tokens import Tokenizer

    plain = bool(params["candidate"] or params["reference"])
    generated = any(params[name] is not None for name in ("grammar", "pairing", "count", "seed"))
    if plain + generated + (params["pairs"] is not None) > 1:
        raise InputError("one text at a time: --pairs, or --grammar with its options, or -c and -r")
    if not plain and (params["tokenize"] or params["lowercase"]):
        raise InputError("aligned pairs have their tokens: leave out --tokenize and --lowercase")
    if plain:
        tokenizer = Tokenizer(params["tokenize"] or "none", bool(params["lowercase"]))
        with open_corpus({**params, "input_format": None}) as corpus:
            yield (
                MatchedText.of_corpus(corpus, tokenizer),
                {"text": corpus.systems[0], "segments": f"{len(corpus):,}"},
            )
        return
    if params["pairs"] is not None:
        try:
            text = MatchedText.of_pairs(read_aligned(params["pairs"], params["encoding"]))
        except InputError as error:
            raise InputError(f"{error}; text without alignments goes by -c and -r") from None
        yield text, {"text": params["pairs"], "pairs": f"{len(text.corpus):,}"}
        return
    settings = _generation(params)
    text = MatchedText.of_pairs(generate(settings).pairs())
    what = f"{settings.grammar}, {settings.pairing}, seed {settings.seed}"
    yield text, {"text": what, "pairs": f"{len(text.corpus):,}"}
    if not generated and not params["quiet"]:
        say(f"note: no input given (see --help), so this generates pairs of the grammar {settings.grammar}")


def _generation(params: dict[str, Any]) -> GenerationSettings:
    from softbleu.cli.inputs import check_name
    from softbleu.corpora.generate import GenerationSettings

    pairing = params["pairing"] or "paraphrase"
    check_name("pairing", pairing, ("paraphrase", "halves"))
    return GenerationSettings(
        grammar=params["grammar"] or GRAMMAR,
        pairing=cast("Pairing", pairing),
        seed=params["seed"] or 0,
        count=COUNT if params["count"] is None and pairing == "paraphrase" else params["count"],
        encoding=params["encoding"],
    )
