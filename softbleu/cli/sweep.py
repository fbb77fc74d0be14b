"""`softbleu sweep`: scores for a grid of thresholds, matchers and systems."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt
from softbleu.cli.completion import matchers

Matchers = Annotated[
    list[str] | None,
    typer.Option(
        "--matcher",
        "-m",
        metavar="NAME",
        help="Matcher; repeat it for several (default: exact, sleu, vleu and xleu).",
        show_default=False,
        autocompletion=matchers,
        rich_help_panel=opt.MATCHING,
    ),
]
Thresholds = Annotated[
    list[str] | None,
    typer.Option(
        "--thresholds",
        "-t",
        metavar="LIST",
        help="Thresholds: 0.7,0.8 or 0:1:0.02 (the end included) or quantiles such as p99.9 (default: 0:0.95:0.05).",
        show_default=False,
        rich_help_panel=opt.MATCHING,
    ),
]
Plot = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Also draw score against threshold into this .svg or .png file (needs softbleu[plots]).",
        rich_help_panel=opt.OUTPUT,
    ),
]


def sweep(
    ctx: typer.Context,
    candidate: opt.Candidates = None,
    reference: opt.References = None,
    source: opt.Source = None,
    pairs: opt.Pairs = None,
    input_format: opt.InputFormat = None,
    encoding: opt.Encoding = "utf-8",
    metric: opt.Metric = None,
    matchers: Matchers = None,
    thresholds: Thresholds = None,
    vectors: opt.Vectors = None,
    vector_case: opt.VectorCase = None,
    similarity: opt.Similarity = None,
    vectors_postprocess: opt.Postprocess = None,
    neighbours: opt.Neighbours = None,
    mutual: opt.Mutual = None,
    function_words: opt.FunctionWords = None,
    assignment: opt.Assignment = None,
    consumption: opt.Consumption = None,
    composition: opt.Composition = None,
    order: opt.Order = None,
    tokenize: opt.Tokenize = None,
    lowercase: opt.Lowercase = None,
    smooth: opt.Smooth = None,
    denominator: opt.Denominator = None,
    variant: opt.Variant = None,
    penalty: opt.Penalty = None,
    multi: opt.Multi = None,
    preset: opt.Preset = None,
    output_format: opt.TableFormat = None,
    digits: opt.Digits = 2,
    output: opt.Output = None,
    plot: Plot = None,
    jobs: opt.Jobs = 1,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Score every system with every matcher at every threshold, in one similarity pass for each system.

    With --output, an interrupted sweep goes on where it was when it is run again.
    """
    from softbleu.cli.inputs import input_files, make_settings, open_corpus
    from softbleu.cli.output import Output, find_table_format
    from softbleu.cli.progress import ProgressBar
    from softbleu.experiments import sweep_corpus, sweep_points
    from softbleu.experiments.grids import read_thresholds
    from softbleu.experiments.sweep import table_of
    from softbleu.report import Layout, Records
    from softbleu.report.plots import check_plots
    from softbleu.report.sweeps import draw_sweep

    inputs = input_files(ctx.params)
    target = Output.of(output, inputs)
    write = find_table_format(output_format, target)
    layout = Layout(digits, target.colours)
    picture = None if plot is None else Output.of_picture(plot, inputs)
    if picture is not None:
        check_plots()
    base = make_settings({**ctx.params, "threshold": None, "matcher": None, "quiet": True})
    names = matchers or ["exact", "sleu", "vleu", "xleu"]
    points = sweep_points(base, names, read_thresholds(thresholds or ["0:0.95:0.05"]))
    journal = target.beside(".sweep")
    with (
        open_corpus(ctx.params, needs_source=base.metric == "gleu") as corpus,
        ProgressBar(quiet=quiet, what="systems", many=1) as progress,
    ):
        rows = sweep_corpus(corpus, points, jobs=jobs, journal=journal, progress=progress)
    target.write(write(Records(*table_of(rows)), layout))
    if picture is not None:
        picture.write(draw_sweep(rows, picture.suffix))
    if journal is not None:
        journal.unlink(missing_ok=True)
