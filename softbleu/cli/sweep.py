"""`softbleu sweep`: scores for a grid of metrics, matchers, thresholds and systems."""

from typing import Any

from softbleu.cli.command import Given, command
from softbleu.errors import InputError

SWEPT = ("exact", "sleu", "vleu", "xleu")
GRID = "0:0.95:0.05"


@command(
    "sweep",
    "candidate reference source gold pairs input_format against documents encoding metric scores lower matcher "
    "thresholds vary preset language table_format long digits output plot plot_ranks jobs cluster",
    settings=lambda option: option.setting.name not in ("matcher", "threshold"),
)
def sweep(given: Given) -> None:
    """Score every system with every matcher at every threshold, in one similarity pass for each system.

    With --output, an interrupted sweep goes on where it was when it is run again.
    """
    from softbleu.engine.plan import Plan
    from softbleu.meta import sweep_corpus
    from softbleu.meta.sweep import table_of
    from softbleu.report.plots import check_ranks, draw_ranks, draw_sweep

    inputs = given.input_files()
    output = given.open_output(inputs, checkpoint=".sweep")
    plot, plot_ranks = (given.open_picture(name, inputs) for name in ("plot", "plot_ranks"))
    points = _points(given)
    with (
        given.open_corpus(Plan(tuple(point.metric for point in points))) as corpus,
        given.progress("systems", many=1) as progress,
    ):
        if given.plot_ranks is not None:
            check_ranks(corpus.systems)
        run = given.values("jobs executor")
        rows = sweep_corpus(corpus, points, checkpoint=output.checkpoint, progress=progress, **run)
    plot(draw_sweep, rows)
    plot_ranks(draw_ranks, rows)
    output.write(table_of(rows))


def _points(given: Given) -> list[Any]:
    """Every metric with every matcher, or with that of its expression, at every threshold, and all else."""
    from softbleu.meta import sweep_points
    from softbleu.meta.sweep import SweepPoint, read_thresholds, read_variations
    from softbleu.metrics.reading import read_settings
    from softbleu.metrics.scores import read_outside

    grid, more = read_thresholds(given.thresholds or [GRID]), read_variations(given.vary)
    points: list[Any] = []
    for metric in given.metric or ["bleu"]:
        head, texts = read_settings(metric)
        names = given.matcher or ([texts["matcher"]] if "matcher" in texts else SWEPT)
        settings = given.settings_of((head, *names))
        for name in more:
            if name in texts or name in settings:
                raise InputError(f"{name} has one value already: leave it out, or --vary {name}")
        points += sweep_points({"metric": metric, **settings}, {"matcher": names, "threshold": grid, **more})
    if given.scores:
        points = [SweepPoint("", one) for one in read_outside(given.scores, given.lower, given.encoding)] + points
    for name in more:
        if not any(setting.name == name for point in points for setting, _ in point.metric.settings()):
            raise InputError(f"--vary {name}: no metric and no matcher here has that setting")
    return points
