"""The history of several runs: a table of their scores, and a picture over the runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import compress

from softbleu import report
from softbleu.formats import Layout
from softbleu.tables import Table


def history_table(history: Table, layout: Layout) -> Table:
    """Make a row per run, with a column per metric and system: the score, and its difference from the run before."""
    rows = history.records()
    series = list(dict.fromkeys((row["metric"], row["system"]) for row in rows))
    several = [len(set(names)) > 1 for names in zip(*series, strict=True)]
    heads = [" ".join(compress(names, several)) or " ".join(names) for names in series]
    scores: dict[str, list[float]] = {}
    for row in rows:
        scores.setdefault(row["metric"], []).append(row["score"])
    decimals = {metric: layout.decimals(some, in_percent=False) for metric, some in scores.items()}
    cells: dict[str, dict[object, str]] = {}
    changed: dict[str, list[str]] = {}
    for row in rows:
        places, difference = decimals[row["metric"]], row["difference"]
        apart = "" if difference is None else f" ({difference:+z.{places}f})"
        cells.setdefault(row["run"], {})[row["metric"], row["system"]] = f"{row['score']:z.{places}f}{apart}"
        changed.setdefault(row["run"], []).append(row["changed"])
    told = {run: " · ".join(filter(None, dict.fromkeys(said))) for run, said in changed.items()}
    shown = [[run, *(by_series.get(one, "") for one in series), told[run]] for run, by_series in cells.items()]
    columns = ["run", *heads, "changed"]
    notes = ["in brackets: the difference from the run before; none where settings or resources changed"]
    return Table(columns, shown, notes=notes, verbatim=columns)


def history_lines(history: Table) -> list[Sequence[report.plots.Lines]]:
    """Plot the scores of systems over the runs, a panel per metric; a dotted line is where settings changed."""
    rows = history.records()
    numbers = {run: number for number, run in enumerate(dict.fromkeys(row["run"] for row in rows), start=1)}
    panels = []
    for metric in dict.fromkeys(row["metric"] for row in rows):
        of_metric = [row for row in rows if row["metric"] == metric]
        lines: dict[str, list[tuple[float, float]]] = {}
        for row in of_metric:
            place, points = float(numbers[row["run"]]), lines.setdefault(row["system"], [])
            # A line breaks where scores cannot be compared.
            points += [(place - 0.5, math.nan)] * (row["difference"] is None and bool(points))
            points.append((place, row["score"]))
        marked = {
            f"{row['run']}: {row['changed']}": float(numbers[row["run"]]) for row in of_metric if row["changed"]
        }
        panels.append(report.plots.Lines(metric, "", metric, lines, marked=marked, ticks=[*numbers]))
    return report.plots.in_rows(panels, 2)
