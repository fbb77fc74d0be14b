"""`softbleu metaeval`: how well metrics agree with people."""

from __future__ import annotations

from typing import Annotated

from softbleu.cli import options as opt

PEOPLE = "What people said"
METRICS = "What metrics said"


def _tables() -> list[str]:
    from softbleu.experiments.metaeval import QUESTIONS

    return list(QUESTIONS)


def _ways() -> list[str]:
    from softbleu.experiments.evidence import WAYS

    return list(WAYS)


Scores = Annotated[
    list[str] | None,
    opt.option(
        "Scores of a metric: JSON or TSV of 'softbleu score' at corpus or segment level, or a table of "
        "systems (or systems and segments) and scores. Repeat it for several.",
        "--scores",
        panel=METRICS,
        metavar="[NAME=]FILE",
    ),
]
MetricTexts = Annotated[
    list[str] | None,
    opt.option(
        "Compute a metric: gleu, vleu(threshold=0.8), or a signature; of -c and -r, or of the texts of --da. "
        "Repeat it.",
        "--metric",
        "--metric-settings",
        panel=METRICS,
        metavar="[NAME=]METRIC",
    ),
]
Unescape = Annotated[
    bool, opt.option("Turn entities such as &apos; in texts into characters.", "--unescape", panel=METRICS)
]
Rankings = Annotated[
    str | None,
    opt.option(
        "Rankings: Appraise XML, or WMT's CSV of two or five systems a line.",
        "--rankings",
        panel=PEOPLE,
        metavar="FILE",
    ),
]
RankingsStart = Annotated[
    int | None,
    opt.option(
        "Number of the first segment in the rankings (default: 0 in XML and CSV of pairs, 1 in CSV of five).",
        "--rankings-start",
        panel=PEOPLE,
        metavar="0|1",
    ),
]
Unexpanded = Annotated[
    bool,
    opt.option(
        "Count systems that were shown as one, for their outputs were the same, once.", "--unexpanded", panel=PEOPLE
    ),
]
RankBy = Annotated[
    list[str] | None,
    opt.option(
        "Make scores of systems from the rankings: expected-wins or trueskill (default: expected-wins).",
        "--rank-by",
        panel=PEOPLE,
        metavar="NAME",
        complete=_ways,
    ),
]
Human = Annotated[
    list[str] | None,
    opt.option(
        "Human scores of systems, as a table of systems and scores. Repeat it for several.",
        "--human",
        panel=PEOPLE,
        metavar="[NAME=]FILE",
    ),
]
DirectAssessment = Annotated[
    str | None,
    opt.option(
        "Direct assessment: LP SYSTEM SID HUMAN, or LP source translation reference HUMAN_score.",
        "--da",
        panel=PEOPLE,
        metavar="FILE",
    ),
]
Direction = Annotated[
    str | None,
    opt.option(
        "Take rows of this direction (column LP) only, e.g. cs-en.", "--direction", panel=PEOPLE, metavar="NAME"
    ),
]
TableName = Annotated[
    str | None,
    opt.option(
        "systems, outputs (direct assessment), preferences (tau), williams, left-out, ranking or annotators "
        "(default: systems, or what the input allows).",
        "--table",
        panel=opt.OUTPUT,
        metavar="NAME",
        complete=_tables,
    ),
]
Samples = Annotated[int, opt.option("Bootstrap samples (default: 1000).", "--samples", panel=opt.TEST, metavar="N")]
Runs = Annotated[int, opt.option("Runs of TrueSkill (default: 100).", "--runs", panel=opt.TEST, metavar="N")]
Digits = Annotated[
    int,
    opt.option(
        "Decimals in text, markdown and latex (default: 3); other formats have them all.",
        "--digits",
        panel=opt.OUTPUT,
        metavar="N",
    ),
]
Plot = Annotated[
    str | None,
    opt.option(
        "Also draw scores of metrics and people (or the p-values of williams) into this .svg or .png file "
        "(needs softbleu[plots]).",
        "--plot",
        panel=opt.OUTPUT,
        metavar="FILE",
    ),
]


def metaeval(
    scores: Scores = None,
    metric: MetricTexts = None,
    candidate: opt.Candidates = None,
    reference: opt.References = None,
    source: opt.Source = None,
    encoding: opt.Encoding = "utf-8",
    unescape: Unescape = False,
    rankings: Rankings = None,
    rankings_start: RankingsStart = None,
    unexpanded: Unexpanded = False,
    rank_by: RankBy = None,
    human: Human = None,
    da: DirectAssessment = None,
    direction: Direction = None,
    table: TableName = None,
    samples: Samples = 1000,
    runs: Runs = 100,
    seed: opt.TestSeed = 12345,
    output_format: opt.RecordFormat = "text",
    digits: Digits = 3,
    output: opt.Output = None,
    plot: Plot = None,
    jobs: opt.Jobs = 1,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Measure how well metrics agree with people: about systems, about outputs, and about pairs of outputs.

    Metrics are read (--scores) or computed (--metric); people speak by --rankings, --human or --da.
    """
    from softbleu.cli.errors import say
    from softbleu.cli.inputs import check_name
    from softbleu.cli.output import Output
    from softbleu.cli.progress import ProgressBar
    from softbleu.errors import InputError
    from softbleu.experiments.evidence import split_name
    from softbleu.experiments.metaeval import default_question
    from softbleu.experiments.metaeval import metaeval as evaluate
    from softbleu.report import RECORD_WRITERS, Layout
    from softbleu.report.metaeval import check_picture, draw_metaeval, records_of
    from softbleu.report.plots import check_plots

    question = table or default_question(scores or metric, human or rankings, da)
    check_name("table", question, _tables())
    write = RECORD_WRITERS.find(output_format)
    named = [split_name(text)[1] for text in (*(scores or ()), *(human or ()))]
    inputs = [*named, *(candidate or ()), *(reference or ()), *(name for name in (rankings, da, source) if name)]
    if not inputs:
        raise InputError("no input: give --rankings, --human or --da, and metrics by --scores or --metric")
    target = Output.of(output, inputs)
    picture = None if plot is None else Output.of_picture(plot, inputs)
    if picture is not None:
        check_picture(question)
        check_plots()
    layout = Layout(digits, target.colours)
    with ProgressBar(quiet=quiet, what="meta-evaluation") as progress:
        found = evaluate(
            question,
            scores=scores or (),
            metrics=metric or (),
            candidates=candidate or (),
            references=reference or (),
            source=source,
            rankings=rankings,
            rankings_start=rankings_start,
            expand=not unexpanded,
            rank_by=rank_by or (),
            human=human or (),
            assessments=da,
            direction=direction,
            unescape=unescape,
            encoding=encoding,
            samples=samples,
            runs=runs,
            seed=seed,
            jobs=jobs,
            progress=progress,
        )
    for note in () if quiet else found.notes:
        say(f"note: {note}")
    drawn = None if picture is None else draw_metaeval(found, picture.suffix)
    target.write(write(records_of(found.table, digits), layout))
    if picture is not None and drawn is not None:
        picture.write(drawn)
