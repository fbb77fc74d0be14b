"""`softbleu sweep`: scores for a grid of metrics, matchers, thresholds and systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from softbleu.cli import options as opt
from softbleu.cli.completion import matchers as complete_matchers
from softbleu.cli.settings import SettingOption, takes_settings
from softbleu.errors import InputError

if TYPE_CHECKING:
    from softbleu.cli.inputs import Options
    from softbleu.experiments import SweepPoint

SWEPT = ("exact", "sleu", "vleu", "xleu")
GRID = "0:0.95:0.05"


_of = opt.OptionTable(f"""
Matching
  --matcher NAME…: Matchers (default: {", ".join(SWEPT)}).
  --thresholds -t LIST…: Thresholds: 0.7,0.8 or 0:1:0.02 (the end included) or quantiles such as p99.9 (default:
    {GRID}).
Score
  --vary NAME=V1,V2…: Values of any other setting, such as order=2,4, each with each.
Output
  --plot-ranks FILE: Also draw the ranks of several systems by threshold into this .svg, .png or .pdf file (needs
    softbleu[plots]).
""")


def _not_varied(option: SettingOption) -> bool:
    return option.setting.name not in ("matcher", "threshold")


@takes_settings(_not_varied)
def sweep(
    ctx: typer.Context,
    candidate: opt.Candidates = None,
    reference: opt.References = None,
    source: opt.Source = None,
    gold: opt.Gold = None,
    pairs: opt.Pairs = None,
    input_format: opt.InputFormat = None,
    encoding: opt.Encoding = "utf-8",
    metric: opt.Metrics = None,
    matchers: Annotated[list[str] | None, _of("--matcher", complete_matchers)] = None,
    thresholds: Annotated[list[str] | None, _of("--thresholds")] = None,
    vary: Annotated[list[str] | None, _of("--vary")] = None,
    preset: opt.Preset = None,
    output_format: opt.TableFormat = None,
    long_signature: opt.LongSignature = False,
    digits: opt.Digits = 2,
    output: opt.Output = None,
    plot: opt.Plot = None,
    plot_ranks: Annotated[str | None, _of("--plot-ranks")] = None,
    jobs: opt.Jobs = 1,
    cluster: opt.Cluster = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Score every system with every matcher at every threshold, in one similarity pass for each system.

    With --output, an interrupted sweep goes on where it was when it is run again.
    """
    from softbleu.cli.inputs import input_files, open_corpus
    from softbleu.cli.output import Output, find_table_format
    from softbleu.experiments import sweep_corpus
    from softbleu.experiments.sweep import table_of
    from softbleu.io.executors import cluster_executor
    from softbleu.io.progress import ProgressBar
    from softbleu.report.plots import check_plots
    from softbleu.report.sweeps import check_ranks, draw_ranks, draw_sweep

    inputs = input_files(ctx.params)
    target = Output.of(output, inputs)
    write = find_table_format(output_format, target)
    layout = target.layout(digits, long_signature=long_signature)
    wanted = ((plot, draw_sweep), (plot_ranks, draw_ranks))
    pictures = [(Output.of_picture(name, inputs), draw) for name, draw in wanted if name is not None]
    if pictures:
        check_plots()
    points = _points(ctx.params)
    journal = target.beside(".sweep")
    executor = ctx.with_resource(cluster_executor(cluster, jobs))
    with (
        open_corpus(ctx.params, [point.measure for point in points], executor) as corpus,
        ProgressBar(quiet=quiet, what="systems", many=1) as progress,
    ):
        if plot_ranks is not None:
            check_ranks(corpus.systems)
        rows = sweep_corpus(corpus, points, jobs=jobs, executor=executor, journal=journal, progress=progress)
    target.write(write(table_of(rows), layout))
    for picture, draw in pictures:
        picture.write(draw(rows, picture.suffix))
    target.drop(journal)


def _points(options: Options) -> list[SweepPoint]:
    """Every metric with every matcher, or with that of its expression, at every threshold, and all else."""
    from softbleu.cli.settings import given_settings
    from softbleu.experiments import sweep_points
    from softbleu.experiments.grids import read_thresholds, read_variations
    from softbleu.metrics.making import read_settings

    grid, more = read_thresholds(options["thresholds"] or [GRID]), read_variations(options["vary"] or ())
    points: list[SweepPoint] = []
    for metric in options["metric"] or ["bleu"]:
        head, own = read_settings(metric)
        names = options["matchers"] or ([own["matcher"]] if "matcher" in own else SWEPT)
        given = given_settings(options, (head, *names))
        for name in more:
            if name in own or name in given:
                raise InputError(f"{name} has one value already: leave it out, or --vary {name}")
        points += sweep_points({"metric": metric, **given}, {"matcher": names, "threshold": grid, **more})
    for name in more:
        if not any(each.name == name for point in points for each, _ in point.measure.settings()):
            raise InputError(f"--vary {name}: no metric and no matcher here has that setting")
    return points
