"""`softbleu sweep`: scores for a grid of metrics, matchers, thresholds and systems."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from softbleu import report
from softbleu.cli.command import command, setting
from softbleu.cli.inputs import Scoring
from softbleu.cli.options import page_format
from softbleu.engine.plan import Plan
from softbleu.matching import MATCHERS
from softbleu.meta import SweepPoint, sweep_corpus
from softbleu.meta.sweep import USUAL_MATCHERS, read_points, table_of
from softbleu.metrics.scores import read_outside
from softbleu.report.plots import MOST_SYSTEMS, check_ranks, sweep_lines, sweep_ranks

GRID = "0:0.95:0.05"


class SweepOptions(
    Scoring,
    shared="candidates references source gold metrics language preset encoding pairs input_format against scores "
    "lower documents output format title long digits jobs",
):
    """Options of `sweep`.

    Attributes
    ----------
    matchers
        Matchers
    thresholds
        Thresholds: 0.7,0.8 or 0:1:0.02 (the end included) or quantiles such as p99.9
    vary
        Values of another setting, such as order=2,4; all combinations are scored
    plot
        Also draw score against threshold into this .svg, .png or .pdf file (needs softbleu[plots])
    plot_ranks
        Also draw the ranks of several systems by threshold into this .svg, .png or .pdf file (needs softbleu[plots])
    """

    matchers: tuple[str, ...] = setting(
        (), name="matcher", unset=", ".join(USUAL_MATCHERS), complete=MATCHERS.names, panel="Matching", common=True
    )
    thresholds: tuple[str, ...] = setting(
        (), unset=GRID, flags=("-t",), metavar="LIST", panel="Matching", common=True
    )
    vary: tuple[str, ...] = setting((), metavar="NAME=V1,V2", panel="Score", common=True)
    format: str | None = page_format()
    plot: str | None = setting(None, file="written", common=True)
    plot_ranks: str | None = setting(None, file="written", common=True)
    without = ("matcher", "threshold")


@command
def sweep(options: SweepOptions) -> None:
    """Score every system with every matcher at every threshold, in one similarity pass for each system.

    With --output, an interrupted sweep goes on where it was when it is run again.
    """
    output = options.open_output(checkpoint=".sweep", always=True, pages=True)
    plot, plot_ranks = map(options.open_picture, (options.plot, options.plot_ranks))
    outside = read_outside(options.scores, options.lower, options.encoding) if options.scores else []
    points = [SweepPoint("", metric) for metric in outside]
    points += read_points(
        options.metrics or ["bleu"], options.matchers, options.thresholds or [GRID], options.vary, options.settings_of
    )
    with ExitStack() as opened:
        corpus = opened.enter_context(options.open_corpus(Plan(tuple(point.metric for point in points))))
        several: dict[str, Any] = {"what": "systems", "many": 1} if len(corpus.systems) > 1 else {}
        progress = opened.enter_context(options.progress(**several))
        if options.plot_ranks is not None:
            check_ranks(corpus.systems)
        run: dict[str, Any] = {"checkpoint": output.checkpoint, "progress": progress, "jobs": options.jobs}
        intervals = (options.page_wanted or options.plot is not None) and len(corpus.systems) <= MOST_SYSTEMS
        rows = sweep_corpus(corpus, points, intervals=intervals, **run)
    plot(sweep_lines, rows)
    plot_ranks(sweep_ranks, rows)
    output.write(report.answers.make_sweep_page(rows, options.title) if options.page_wanted else table_of(rows))
