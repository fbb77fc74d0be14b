"""`softbleu experiments spurious`: which soft credit is deserved, which is not, and what helps."""

from __future__ import annotations

from typing import Annotated, Any

from softbleu.cli import options as opt
from softbleu.cli.completion import grammars, matchers

GENERATED = "Artificial text"


def _remedies() -> list[str]:
    from softbleu.experiments.remedies import REMEDIES

    return list(REMEDIES)


def _tables() -> list[str]:
    from softbleu.experiments.credit_tables import CREDIT_TABLES

    return list(CREDIT_TABLES)


Pairs = Annotated[
    str | None,
    opt.option(
        "Aligned pairs, as 'softbleu corpora generate' writes them in jsonl.",
        "--pairs",
        panel=opt.INPUT,
        metavar="FILE",
    ),
]
Grammar = Annotated[
    str | None,
    opt.option(
        "Generate aligned pairs from this grammar (default, without any input: modifiers).",
        "--grammar",
        "-g",
        panel=GENERATED,
        metavar="NAME|FILE",
        complete=grammars,
    ),
]
PairingOption = Annotated[
    str | None,
    opt.option(
        "paraphrase, or halves: random sentences in pairs (default: paraphrase).",
        "--pairing",
        panel=GENERATED,
        metavar="NAME",
        complete=["paraphrase", "halves"],
    ),
]
Count = Annotated[
    int | None, opt.option("How many pairs (default: 2000; halves: all).", "--count", panel=GENERATED, metavar="N")
]
Seed = Annotated[
    int | None, opt.option("Seed of the generator (default: 0).", "--seed", panel=GENERATED, metavar="N")
]
Matchers = Annotated[
    list[str] | None,
    opt.option(
        "Matcher with approximate matches; repeat it for several (default: vleu and xleu).",
        "--matcher",
        "-m",
        panel=opt.MATCHING,
        metavar="NAME",
        complete=matchers,
    ),
]
Remedies = Annotated[
    list[str] | None,
    opt.option(
        "plain, optimal, aligned, sif, neighbours, mutual, csls, centred, function-words, or several joined "
        "by +; repeat it to compare (default: plain).",
        "--remedy",
        panel=opt.MATCHING,
        metavar="NAME",
        complete=_remedies,
    ),
]
AllRemedies = Annotated[
    bool, opt.option("Every remedy, and some combinations.", "--all-remedies", panel=opt.MATCHING)
]
Threshold = Annotated[
    float,
    opt.option(
        "Threshold at which to report, and to collect partners (default: 0.8).",
        "--threshold",
        "-t",
        panel=opt.MATCHING,
        metavar="0..1",
    ),
]
Thresholds = Annotated[
    list[str] | None,
    opt.option(
        "Thresholds to find the best among: 0.7,0.8 or 0:1:0.02 or quantiles such as p99.9 (default: 0:0.95:0.05).",
        "--thresholds",
        panel=opt.MATCHING,
        metavar="LIST",
    ),
]
TableName = Annotated[
    str,
    opt.option(
        "summary, thresholds, orders, partners or offenders (default: summary).",
        "--table",
        panel=opt.OUTPUT,
        metavar="NAME",
        complete=_tables,
    ),
]
Most = Annotated[
    int,
    opt.option(
        "Partners or offenders to list of each matcher and remedy (default: 20).",
        "--most",
        panel=opt.OUTPUT,
        metavar="N",
    ),
]
Plot = Annotated[
    str | None,
    opt.option(
        "Also draw spurious shares and precision against recall (without alignments: a histogram of "
        "partners) into this .svg or .png file (needs softbleu[plots]).",
        "--plot",
        panel=opt.OUTPUT,
        metavar="FILE",
    ),
]


def spurious(
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
    vector_case: opt.WordLookup = None,
    order: opt.Order = None,
    tokenize: opt.Tokenize = None,
    lowercase: opt.Lowercase = None,
    table: TableName = "summary",
    most: Most = 20,
    output_format: opt.TableFormat = None,
    digits: opt.Digits = 2,
    output: opt.Output = None,
    plot: Plot = None,
    jobs: opt.Jobs = 1,
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
    from softbleu.experiments.remedies import COMBINATIONS, PLAIN, REMEDIES
    from softbleu.experiments.spurious import spurious as analyse
    from softbleu.experiments.text import GRAMMAR
    from softbleu.report import Layout
    from softbleu.report.metaeval import records_of
    from softbleu.report.plots import check_plots
    from softbleu.report.spurious import draw_spurious

    check_name("table", table, _tables())
    if most < 1:
        raise InputError(f"--most is 1 or greater, not {most}")
    inputs = [name for name in (pairs, grammar, vectors, *(candidate or ()), *(reference or ())) if name]
    target = Output.of(output, inputs)
    write = find_table_format(output_format, target)
    picture = None if plot is None else Output.of_picture(plot, inputs)
    names = [*(remedies or ()), *((*REMEDIES, *COMBINATIONS) if all_remedies else ())] or [PLAIN]
    if picture is not None:
        check_plots()
    settings: dict[str, Any] = {
        "vectors": vectors,
        "vector_case": vector_case,
        "tokenize": tokenize,
        "lowercase": lowercase or None,
        "order": order,
    }
    with ProgressBar(quiet=quiet, what="matching") as progress:
        found = analyse(
            grammar=grammar,
            pairing=pairing,
            count=count,
            seed=seed,
            pairs=pairs,
            candidates=candidate or (),
            references=reference or (),
            encoding=encoding,
            matchers=matchers or ("vleu", "xleu"),
            remedies=names,
            thresholds=thresholds or ("0:0.95:0.05",),
            at=threshold,
            jobs=jobs,
            progress=progress,
            **{name: value for name, value in settings.items() if value is not None},
        )
    given = (pairs, candidate, reference, grammar, pairing, count, seed)
    if not quiet and not any(value is not None for value in given):
        say(f"note: no input given (see --help), so this generates pairs of the grammar {GRAMMAR}")
    if not quiet and all(each.is_empty for each in found.analyses):
        say("note: no approximate matches at any threshold: there is no credit to judge")
    target.write(write(records_of(found.table(table, most)), Layout(digits, target.colours)))
    if picture is not None:
        picture.write(draw_spurious(found.analyses, picture.suffix))
