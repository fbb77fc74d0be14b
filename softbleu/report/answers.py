"""Pages that answer one question: a sentence, charts, and the tables behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

from softbleu.errors import counted
from softbleu.formats import Layout, with_columns
from softbleu.meta.sweep import rank_by_score, table_of
from softbleu.report.charts import Chart, draw_chart
from softbleu.report.credit import credit_lines
from softbleu.report.html import page_fold, page_section, page_table, static_page
from softbleu.report.plots import IntervalRow, answer_panels, readable_measure, spurious_lines, sweep_lines
from softbleu.results.verdicts import join_names
from softbleu.tables import SIGNIFICANT, Table

if TYPE_CHECKING:
    from softbleu.analysis.credit import SoftCredit
    from softbleu.meta import SweepRow
    from softbleu.meta.questions import MetaEvaluation
    from softbleu.meta.spurious import SpuriousCredit

_MOST_NAMED = 4  # Names in a sentence


@dataclass(frozen=True)
class AnswerPage:
    """Content of a page that answers one question."""

    title: str
    verdict: str  # The answer in one sentence
    charts: Sequence[Sequence[Chart]]  # By row of a picture
    tables: Mapping[str, Table]  # By their headings
    folded: Mapping[str, Table] = field(default_factory=dict)  # Shown when their headings are clicked
    notes: Sequence[str] = ()


def write_answer(page: AnswerPage, layout: Layout) -> Iterator[str]:
    """Write a page without scripts that needs no other file and no network."""
    facts = (f"{name}: {fact}" for table in page.tables.values() for name, fact in table.facts.items())
    notes = (note for table in page.tables.values() for note in table.notes)
    every = dict.fromkeys([*page.notes, *notes, *facts])
    return static_page(page.title, "", _content(page, layout), verdict=page.verdict, notes=every)


def _content(page: AnswerPage, layout: Layout) -> Iterator[str]:
    yield '<div class="columns">\n'
    for chart in chain(*page.charts):
        yield from draw_chart(chart)
    yield "</div>\n"
    for heading, table in page.tables.items():
        yield from page_section(heading, page_table(table, layout))
    for heading, table in page.folded.items():
        yield from page_fold(heading, page_table(table, layout))


def list_names(names: Sequence[str]) -> str:
    """Write names as a list in a sentence; of many, the first and the number of the others.

    >>> list_names(["bleu"]), list_names(["bleu", "ter", "chrf"]), list_names([*"abcdef"])
    ('bleu', 'bleu, ter and chrf', 'a, b, c, d and 2 others')
    """
    left = len(names) - _MOST_NAMED
    return join_names([*names[:_MOST_NAMED], *[counted(left, "other")] * (left > 0)])


def make_sweep_page(rows: Sequence[SweepRow], title: str = "") -> AnswerPage:
    """Make the page of a sweep: which system is best at how many settings, and the scores by threshold.

    Parameters
    ----------
    rows
        Scores of `softbleu.meta.sweep_corpus`.
    title
        Title of the page.
    """
    varied = list(dict.fromkeys(name for row in rows for name in row.varied))
    by_setting: dict[tuple[object, ...], dict[str, SweepRow]] = {}
    for row in rows:
        by_setting.setdefault((row.label, *map(row.varied.get, varied), row.threshold), {})[row.system] = row
    systems = list(dict.fromkeys(row.system for row in rows))
    ranks = [rank_by_score([*scores.values()]) for scores in by_setting.values()]
    best = Counter(system for places in ranks for system, rank in places.items() if rank == 1).most_common()
    if len(systems) == 1:
        least, most = min(rows, key=lambda row: row.score), max(rows, key=lambda row: row.score)
        verdict = f"{systems[0]} scores from {_scored(least)} to {_scored(most)}."
    elif all(places == ranks[0] for places in ranks):
        verdict = f"The order of the systems is the same at all {len(ranks)} settings: {best[0][0]} is best."
    else:
        often = [f"{times} of" if times < len(ranks) else "all" for _, times in best]
        leaders = [f"{best[n][0]} is best at {at} {len(ranks)} settings" for n, at in enumerate(often)]
        verdict = f"{list_names(leaders)}; the order of the systems changes."
    settings = ["variant", *varied, "threshold"]
    cells = [[*key, *(scores[name].score for name in systems)] for key, scores in by_setting.items()]
    differ = [place for place in range(len(settings)) if len({row[place] for row in cells}) > 1]
    shown = [*differ, *range(len(settings), len(settings) + len(systems))]
    table = with_columns(Table([*settings, *systems], cells, verbatim=systems), shown)
    every = {"All scores with their signatures": replace(table_of(rows), background=())}
    title = title or f"Scores of {counted(len(systems), 'system')} at {len(ranks)} settings"
    return AnswerPage(title, verdict, sweep_lines(rows), {"Scores by setting": table}, every)


def _scored(row: SweepRow) -> str:
    at = "" if row.threshold is None else f" at {row.threshold:g}"
    return f"{row.score:.2f} ({row.varied.get('matcher') or row.varied['metric']}{at})"


def make_spurious_page(credit: SpuriousCredit, table: str = "summary", title: str = "") -> AnswerPage:
    """Make the page of spurious credit: its share for each matcher and variant, and by threshold.

    Parameters
    ----------
    credit
        Analyses of a text.
    table
        Name of the table.
    title
        Title of the page.
    """
    found = [(one.tally.credit(one.at).spurious_share, one) for one in credit.analyses]
    shares = sorted(
        (share, f"{one.variant.matcher} ({one.variant.name}) {100 * share:.1f}%")
        for share, one in found
        if share is not None
    )
    verdict = "No soft credit at this threshold."
    if shares:
        at = credit.analyses[0].thresholds[credit.analyses[0].at]
        verdict = (
            f"Spurious share of the soft credit at threshold {at:g}: {list_names([name for _, name in shares])}."
        )
    title, tables = title or "Deserved and spurious credit", {table.capitalize(): credit.table(table)}
    return AnswerPage(title, verdict, spurious_lines(credit.analyses), tables)


def make_credit_page(credit: SoftCredit, top: int | None = None, title: str = "") -> AnswerPage:
    """Make the page of soft credit: the kinds of matches that earn it, and their credit by threshold.

    Parameters
    ----------
    credit
        Soft credit of systems.
    top
        How many pairs of n-grams of each system to list; none by default.
    title
        Title of the page.
    """
    said = []
    for system in credit.systems:
        shares = [f"{part.kind} {part.share:.0f}%" for part in credit.points_by_kind(system, 0)]
        said.append(f"{system}: {list_names(shares)}" if shares else f"{system}: none")
    verdict = f"Soft credit of {'; '.join(said)}."
    title = title or f"Where soft credit of {credit.metric} comes from"
    tables = {"Kinds": credit.kinds_table()} | ({} if top is None else {"Pairs": credit.pairs_table(top)})
    return AnswerPage(title, verdict, credit_lines(credit), tables)


def make_evaluation_page(evaluation: MetaEvaluation) -> AnswerPage:
    """Make the page of a table of `softbleu metaeval`, with the metric that leads in most of its panels."""
    panels, rows = answer_panels(evaluation), evaluation.records()
    title = f"Agreement with human judgements: {evaluation.question}"
    if "worse" in evaluation.table.columns:
        tests = Counter(frozenset((row["better"], row["worse"])) for row in rows)
        found = Counter(
            (row["better"], row["worse"]) for row in rows if _is_low(row.get("corrected", row["p_value"]))
        )
        shown = [
            f"{a} agrees better than {b} in {n} of {tests[frozenset((a, b))]} tests"
            for (a, b), n in found.most_common()
        ]
        verdict = f"{list_names(shown)}." if shown else "No two metrics can be told apart."
    elif evaluation.question == "differences":
        ends = [
            (name, interval) for panel in panels for name, interval in zip(panel.names, panel.intervals, strict=True)
        ]
        apart = list(dict.fromkeys(name for name, of in ends if of is not None and (of[0] > 0 or of[1] < 0)))
        verdict = f"{list_names(apart) if apart else 'No two metrics'} can be told apart over all directions."
    else:
        each = ([row for row in panel.rows if row[0] not in evaluation.judges] for panel in panels)
        metrics = [group for group in each if group]
        leaders = Counter(max(group, key=lambda row: row[1])[0] for group in metrics)
        first, times = leaders.most_common(1)[0] if leaders else ("", 0)
        said = f" in {times} of {len(metrics)} comparisons" * (len(metrics) > 1)
        if len(metrics) == 1 and (near := _overlapping(metrics[0], first)):
            said = f"; the 95% intervals of {list_names(near)} overlap with its own"
        verdict = f"{first} has the highest {panels[0].x_label.partition(',')[0]}{said}." if panels else f"{title}."
    table = evaluation.as_table()
    cells = [[readable_measure(cell) if isinstance(cell, str) else cell for cell in row] for row in table.rows]
    return AnswerPage(title, verdict, [panels], {"Table": replace(table, rows=cells)}, notes=evaluation.notes)


def _overlapping(rows: Sequence[IntervalRow], first: str) -> list[str]:
    """List the metrics whose interval reaches into that of the first."""
    intervals = {name: interval for name, _, interval, _ in rows}
    own = intervals.pop(first)
    return [name for name, of in intervals.items() if own is not None and of is not None and of[1] >= own[0]]


def _is_low(p_value: object) -> bool:
    return isinstance(p_value, float) and p_value < SIGNIFICANT
