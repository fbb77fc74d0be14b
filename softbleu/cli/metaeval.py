"""`softbleu metaeval`: how well metrics agree with people."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softbleu.cli import options as opt

if TYPE_CHECKING:
    from softbleu.corpora.judgements import Comparisons, ScoreTable
    from softbleu.experiments.evidence import Evidence, Sampling

PEOPLE = "What people said"
METRICS = "What metrics said"
EXPECTED_WINS = "expected-wins"
RANKED = ("ranking", "systems", "williams", "left-out")
"""Tables that need systems to be ranked."""


def _tables() -> list[str]:
    from softbleu.report.metaeval import TABLES

    return list(TABLES)


def _ways() -> list[str]:
    from softbleu.experiments.evidence import WAYS

    return list(WAYS)


Scores = Annotated[
    list[str] | None,
    typer.Option(
        "--scores",
        metavar="[NAME=]FILE",
        help="Scores of a metric: JSON or TSV of 'softbleu score' at corpus or segment level, or a table of systems "
        "(or systems and segments) and scores. Repeat it for several.",
        rich_help_panel=METRICS,
    ),
]
MetricSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--metric-settings",
        metavar="[NAME=]SIGNATURE",
        help="Compute a metric: bleu, gleu, or a signature; of -c and -r, or of the texts of --da. Repeat it.",
        rich_help_panel=METRICS,
    ),
]
Unescape = Annotated[
    bool,
    typer.Option(
        "--unescape", help="Turn entities such as &apos; in texts into characters.", rich_help_panel=METRICS
    ),
]
Rankings = Annotated[
    str | None,
    typer.Option(
        "--rankings",
        metavar="FILE",
        help="Rankings: Appraise XML, or WMT's CSV of two or five systems a line.",
        rich_help_panel=PEOPLE,
    ),
]
RankingsStart = Annotated[
    int | None,
    typer.Option(
        "--rankings-start",
        metavar="0|1",
        help="Number of the first segment in the rankings (default: 0 in XML and CSV of pairs, 1 in CSV of five).",
        rich_help_panel=PEOPLE,
    ),
]
Unexpanded = Annotated[
    bool,
    typer.Option(
        "--unexpanded",
        help="Count systems that were shown as one, for their outputs were the same, once.",
        rich_help_panel=PEOPLE,
    ),
]
RankBy = Annotated[
    list[str] | None,
    typer.Option(
        "--rank-by",
        metavar="NAME",
        help="Make scores of systems from the rankings: expected-wins or trueskill (default: expected-wins).",
        show_default=False,
        autocompletion=_ways,
        rich_help_panel=PEOPLE,
    ),
]
Human = Annotated[
    list[str] | None,
    typer.Option(
        "--human",
        metavar="[NAME=]FILE",
        help="Human scores of systems, as a table of systems and scores. Repeat it for several.",
        rich_help_panel=PEOPLE,
    ),
]
DirectAssessment = Annotated[
    str | None,
    typer.Option(
        "--da",
        metavar="FILE",
        help="Direct assessment: LP SYSTEM SID HUMAN, or LP source translation reference HUMAN_score.",
        rich_help_panel=PEOPLE,
    ),
]
Direction = Annotated[
    str | None,
    typer.Option(
        "--direction",
        metavar="NAME",
        help="Take rows of this direction (column LP) only, e.g. cs-en.",
        rich_help_panel=PEOPLE,
    ),
]
TableName = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="NAME",
        help="systems, outputs (direct assessment), preferences (tau), williams, left-out, ranking or annotators "
        "(default: systems, or what the input allows).",
        show_default=False,
        autocompletion=_tables,
        rich_help_panel=opt.OUTPUT,
    ),
]
Samples = Annotated[
    int,
    typer.Option(
        "--samples",
        metavar="N",
        help="Bootstrap samples (default: 1000).",
        show_default=False,
        rich_help_panel=opt.TEST,
    ),
]
Runs = Annotated[
    int,
    typer.Option(
        "--runs", metavar="N", help="Runs of TrueSkill (default: 100).", show_default=False, rich_help_panel=opt.TEST
    ),
]
Digits = Annotated[
    int,
    typer.Option(
        "--digits",
        metavar="N",
        help="Decimals in text, markdown and latex (default: 3); other formats have them all.",
        show_default=False,
        rich_help_panel=opt.OUTPUT,
    ),
]
Plot = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Also draw scores of metrics and people (or the p-values of williams) into this .svg or .png file "
        "(needs softbleu[plots]).",
        rich_help_panel=opt.OUTPUT,
    ),
]


def metaeval(
    ctx: typer.Context,
    scores: Scores = None,
    metric_settings: MetricSettings = None,
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

    Metrics are read (--scores) or computed (--metric-settings); people speak by --rankings, --human or --da.
    """
    from softbleu.cli.errors import say
    from softbleu.cli.inputs import check_name
    from softbleu.cli.output import Output
    from softbleu.errors import InputError
    from softbleu.experiments.evidence import Sampling
    from softbleu.experiments.rankings import check_samples
    from softbleu.report import RECORD_WRITERS, Layout
    from softbleu.report.metaeval import TABLES, check_picture, draw_metaeval, make_metaeval
    from softbleu.report.plots import check_plots

    name = table or _default_table(ctx.params)
    check_name("table", name, list(TABLES))
    write = RECORD_WRITERS.find(output_format)
    inputs = _files(ctx.params)
    if not inputs:
        raise InputError("no input: give --rankings, --human or --da, and metrics by --scores or --metric-settings")
    target = Output.of(output, inputs)
    picture = None if plot is None else Output.of_picture(plot, inputs)
    if picture is not None:
        check_picture(name)
        check_plots()
    check_samples(samples, seed)
    check_samples(runs, seed)
    layout = Layout(digits, target.colours)
    sampling = Sampling(samples, runs, seed)
    evidence, facts = _gather(ctx.params, name, sampling)
    if not quiet:
        for note in _notes(evidence, name):
            say(f"note: {note}")
    records = make_metaeval(name, evidence, sampling, facts, digits)
    drawn = None if picture is None else draw_metaeval(name, evidence, picture.suffix)
    target.write(write(records, layout))
    if picture is not None and drawn is not None:
        picture.write(drawn)


def _default_table(params: dict[str, Any]) -> str:
    if not (params["scores"] or params["metric_settings"]):
        return "ranking"
    return "outputs" if params["da"] and not (params["human"] or params["rankings"]) else "systems"


def _files(params: dict[str, Any]) -> list[str]:
    from softbleu.experiments.evidence import split_name

    named = [split_name(text)[1] for text in (*(params["scores"] or ()), *(params["human"] or ()))]
    texts = [*(params["candidate"] or ()), *(params["reference"] or ())]
    return [*named, *texts, *(params[key] for key in ("rankings", "da", "source") if params[key])]


def _gather(params: dict[str, Any], table: str, sampling: Sampling) -> tuple[Evidence, dict[str, str]]:
    """Read, compute and rank what the table needs."""
    from softbleu.cli.progress import ProgressBar
    from softbleu.corpora.judgements import merge_scores, read_assessments, read_scores
    from softbleu.errors import InputError
    from softbleu.experiments.evidence import Evidence, rank_systems, split_name

    encoding, direction = params["encoding"], params["direction"]
    human = {}
    for label, file in map(split_name, params["human"] or ()):
        for made in read_scores(file, label=label, direction=direction, encoding=encoding):
            name = label or _stem(file)
            if name in human:
                raise InputError(f"two human scores are called {name!r}: name one by NAME=FILE")
            human[name] = made.systems
    comparisons = _comparisons(params)
    assessments = None
    if params["da"]:
        assessments = read_assessments(
            params["da"], direction=direction, unescape=params["unescape"], encoding=encoding
        )
    metrics = merge_scores(
        made
        for label, file in map(split_name, params["scores"] or ())
        for made in read_scores(file, label=label, direction=direction, encoding=encoding)
    )
    draft = Evidence((), human, comparisons, assessments)
    computed, signatures = _compute(params, draft, table)
    metrics = merge_scores([*metrics, *computed])
    ranked = {}
    if comparisons is not None and table in RANKED:
        with ProgressBar(quiet=params["quiet"], what="matches") as progress:
            ranked = rank_systems(comparisons, params["rank_by"] or [EXPECTED_WINS], sampling, progress)
    return Evidence(metrics, human, comparisons, assessments, ranked), signatures


def _comparisons(params: dict[str, Any]) -> Comparisons | None:
    from softbleu.corpora.judgements import read_rankings
    from softbleu.errors import InputError

    start = params["rankings_start"]
    if start not in (None, 0, 1):
        raise InputError(f"--rankings-start is 0 or 1, not {start}")
    if params["rankings"] is None:
        given = [name for name in ("rankings_start", "rank_by", "unexpanded") if params[name]]
        if given:
            raise InputError(f"--{given[0].replace('_', '-')} is about --rankings: give a file of them")
        return None
    expand = not params["unexpanded"]
    return read_rankings(params["rankings"], start=start, expand=expand, encoding=params["encoding"])


def _compute(params: dict[str, Any], evidence: Evidence, table: str) -> tuple[list[ScoreTable], dict[str, str]]:
    """Score the corpus that the options name, or the assessed texts."""
    from softbleu.corpora import ParallelFiles
    from softbleu.errors import InputError
    from softbleu.experiments.evidence import name_outputs, read_metrics, score_metrics, unescaped

    settings = read_metrics(params["metric_settings"] or ())
    files = list(params["candidate"] or ())
    if not settings:
        if files or params["reference"]:
            raise InputError("-c and -r are there to compute metrics: name some with --metric-settings")
        return [], {}
    by_output = table == "outputs" or (table == "williams" and not (evidence.human or evidence.comparisons))
    segments = by_output or table == "preferences"
    texts = None if evidence.assessments is None else evidence.assessments.texts
    if texts is not None and not files:
        return score_metrics(texts, settings, segments=True, jobs=params["jobs"])
    if not files:
        raise InputError("--metric-settings needs a corpus to score: name it with -c and -r")
    with ExitStack() as stack:
        corpus = stack.enter_context(
            ParallelFiles.open(
                name_outputs(files), params["reference"] or (), params["source"], encoding=params["encoding"]
            )
        )
        chosen = unescaped(corpus) if params["unescape"] else corpus
        return score_metrics(chosen, settings, segments=segments, jobs=params["jobs"])


def _notes(evidence: Evidence, table: str) -> list[str]:
    """Say what was left out, and where no correlation is defined."""
    if not evidence.metrics or table in ("ranking", "annotators"):
        return []
    if table == "preferences":
        if evidence.comparisons is None:
            return []
        ranked = evidence.comparisons.systems
        lacking = {each.name: [name for name in ranked if name not in each.segments] for each in evidence.metrics}
        return [f"{name} lacks {', '.join(names)}: skipped" for name, names in lacking.items() if names]
    columns = {
        "outputs": evidence.of_outputs,
        "williams": evidence.columns,
    }.get(table, evidence.of_systems)()
    found = [
        f"{side} lacks {', '.join(names)}: left out" for each in columns for side, names in each.left_out.items()
    ]
    found += [
        f"{name} gives the same score to all {len(each.people)}: no correlation with it is defined"
        for each in columns
        for name in each.constant
    ]
    return list(dict.fromkeys(found))


def _stem(file: str) -> str:
    from pathlib import Path

    return Path(file.removesuffix(".gz")).stem
