"""`softbleu metaeval`: how well metrics agree with people."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt
from softbleu.cli.completion import names

_of = opt.OptionTable("""
What metrics said
  --scores [NAME=]FILE…: Scores of metrics: JSON or TSV of 'softbleu score' at corpus or segment level, or a table of
    systems (or systems and segments) and scores.
  --metric -m --metric-settings [NAME=]METRIC…: Compute metrics: gleu, vleu(threshold=0.8), or a signature; of -c and
    -r, or of the texts of --da.
  --unescape: Turn entities such as &apos; in texts into characters.
What people said
  --rankings FILE: Rankings: Appraise XML, or WMT's CSV of two or five systems a line.
  --rankings-start 0|1: Number of the first segment in the rankings (default: 0 in XML and CSV of pairs, 1 in CSV of
    five).
  --unexpanded: Count systems that were shown as one, for their outputs were the same, once.
  --rank-by NAME…: Make scores of systems from the rankings: expected-wins or trueskill (default: expected-wins).
  --human [NAME=]FILE…: Human scores of systems, as a table of systems and scores.
  --da FILE: Direct assessment: LP SYSTEM SID HUMAN, or LP source translation reference HUMAN_score.
  --direction NAME: Take rows of this direction (column LP) only, e.g. cs-en.
Significance
  --samples N: Bootstrap samples (default: 1000).
  --runs N: Runs of TrueSkill (default: 100).
  --seed N: Seed of samples and runs (default: 12345).
Output
  --against NAME: With --table williams, only tests with this metric.
  --table NAME: systems, outputs (direct assessment), preferences (tau), accuracy (of pairs), williams, left-out,
    ranking or annotators (default: systems, or what the input allows).
  --digits N: Decimals in text, markdown and latex (default: 3); other formats have them all.
  --plot FILE: Also draw scores of metrics and people (or the p-values of williams) into this .svg, .png or .pdf file
    (needs softbleu[plots]).
""")


_tables = names("experiments.metaeval", "QUESTIONS")


def metaeval(
    ctx: typer.Context,
    scores: Annotated[list[str] | None, _of("--scores")] = None,
    metric: Annotated[list[str] | None, _of("--metric")] = None,
    candidate: opt.Candidates = None,
    reference: opt.References = None,
    source: opt.Source = None,
    gold: opt.Gold = None,
    encoding: opt.Encoding = "utf-8",
    unescape: Annotated[bool, _of("--unescape")] = False,
    rankings: Annotated[str | None, _of("--rankings")] = None,
    rankings_start: Annotated[int | None, _of("--rankings-start")] = None,
    unexpanded: Annotated[bool, _of("--unexpanded")] = False,
    rank_by: Annotated[list[str] | None, _of("--rank-by", names("experiments.evidence", "WAYS"))] = None,
    human: Annotated[list[str] | None, _of("--human")] = None,
    da: Annotated[str | None, _of("--da")] = None,
    direction: Annotated[str | None, _of("--direction")] = None,
    table: Annotated[str | None, _of("--table", _tables)] = None,
    against: Annotated[str | None, _of("--against")] = None,
    samples: Annotated[int, _of("--samples")] = 1000,
    runs: Annotated[int, _of("--runs")] = 100,
    seed: Annotated[int, _of("--seed")] = 12345,
    output_format: opt.RecordFormat = "text",
    digits: Annotated[int, _of("--digits")] = 3,
    output: opt.Output = None,
    plot: Annotated[str | None, _of("--plot")] = None,
    jobs: opt.Jobs = 1,
    cluster: opt.Cluster = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Measure how well metrics agree with people: about systems, about outputs, and about pairs of outputs.

    Metrics are read (--scores) or computed (--metric); people speak by --rankings, --human or --da.
    """
    from softbleu.cli.errors import say
    from softbleu.cli.inputs import system_files
    from softbleu.cli.output import Output
    from softbleu.corpora import split_name
    from softbleu.errors import InputError, known_name
    from softbleu.experiments.metaeval import default_question
    from softbleu.experiments.metaeval import metaeval as evaluate
    from softbleu.io.executors import cluster_executor
    from softbleu.io.progress import ProgressBar
    from softbleu.report import RECORD_WRITERS
    from softbleu.report.metaeval import check_picture, draw_metaeval
    from softbleu.report.plots import check_plots

    question = known_name("table", table or default_question(scores or metric, human or rankings, da), _tables())
    write = RECORD_WRITERS.find(output_format)
    named = [split_name(text)[1] for text in (*(scores or ()), *(human or ()))]
    inputs = [
        *named,
        *system_files(ctx.params).values(),
        *(reference or ()),
        *(name for name in (rankings, da, source, gold) if name),
    ]
    if not inputs:
        raise InputError("no input: give --rankings, --human or --da, and metrics by --scores or --metric")
    target = Output.of(output, inputs)
    picture = None if plot is None else Output.of_picture(plot, inputs)
    if picture is not None:
        check_picture(question)
        check_plots()
    target.check_format(output_format)
    layout = target.layout(digits)
    with ProgressBar(quiet=quiet, what="meta-evaluation") as progress:
        found = evaluate(
            question,
            scores=scores or (),
            metrics=metric or (),
            candidates=candidate or (),
            references=reference or (),
            source=source,
            gold=gold,
            rankings=rankings,
            rankings_start=rankings_start,
            expand=not unexpanded,
            rank_by=rank_by or (),
            human=human or (),
            assessments=da,
            direction=direction,
            unescape=unescape,
            encoding=encoding,
            against=against,
            samples=samples,
            runs=runs,
            seed=seed,
            jobs=jobs,
            executor=ctx.with_resource(cluster_executor(cluster, jobs)),
            progress=progress,
        )
    for note in () if quiet else found.notes:
        say(f"note: {note}")
    drawn = None if picture is None else draw_metaeval(found, picture.suffix)
    target.write(write(found.table, layout))
    if picture is not None and drawn is not None:
        picture.write(drawn)
