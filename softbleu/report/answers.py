"""Pages that answer one question: a sentence, charts, and the tables behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from softbleu.formats import Layout
from softbleu.meta.sweep import rank_by_score, table_of
from softbleu.report.charts import Chart, draw_chart
from softbleu.report.html import page_section, page_table, static_page, visible_html
from softbleu.report.plots import answer_panels, readable_measure, spurious_lines, sweep_lines
from softbleu.tables import SIGNIFICANT, Table

if TYPE_CHECKING:
    from softbleu.meta import SweepRow
    from softbleu.meta.questions import MetaEvaluation
    from softbleu.meta.spurious import SpuriousCredit

_MOST_NAMED = 4  # Names in a sentence


@dataclass(frozen=True)
class AnswerPage:
    """Content of a page that answers one question."""

    title: str
    verdict: str  # The answer in one sentence
    charts: Sequence[Chart]
    tables: Mapping[str, Table]  # By their headings
    folded: Mapping[str, Table] = field(default_factory=dict)  # Shown when their headings are clicked
    notes: Sequence[str] = ()


def write_answer(page: AnswerPage, layout: Layout) -> Iterator[str]:
    """Write a page without scripts that needs no other file and no network."""
    return static_page(page.title, "", _content(page, layout))


def _content(page: AnswerPage, layout: Layout) -> Iterator[str]:
    yield f'<p id="verdict">{visible_html(page.verdict)}</p>\n'
    yield '<div class="columns">\n'
    for chart in page.charts:
        yield from draw_chart(chart)
    yield "</div>\n"
    for heading, table in page.tables.items():
        yield from page_section(heading, page_table(table, layout))
    for heading, table in page.folded.items():
        yield f"<details><summary>{visible_html(heading)}</summary>\n"
        yield from page_table(table, layout)
        yield "</details>\n"
    facts = (f"{name}: {fact}" for table in page.tables.values() for name, fact in table.facts.items())
    notes = (note for table in page.tables.values() for note in table.notes)
    for note in dict.fromkeys([*page.notes, *notes, *facts]):
        yield f'<p class="note">{visible_html(note)}</p>\n'


def list_names(names: Sequence[str]) -> str:
    """Write names as a list in a sentence; of many, the first and the number of the others.

    >>> list_names(["bleu"]), list_names(["bleu", "ter", "chrf"]), list_names([*"abcdef"])
    ('bleu', 'bleu, ter and chrf', 'a, b, c, d and 2 others')
    """
    shown, left = [*names[:_MOST_NAMED]], len(names) - _MOST_NAMED
    shown += [f"{left} other{'s' * (left > 1)}"] * (left > 0)
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def make_sweep_page(rows: Sequence[SweepRow], title: str = "") -> AnswerPage:
    """Make the page of a sweep: which system is best at how many settings, and the scores by threshold.

    Parameters
    ----------
    rows
        Scores of `softbleu.meta.sweep_corpus`.
    title
        Title of the page.
    """
    by_setting: dict[tuple[object, ...], dict[str, SweepRow]] = {}
    for row in rows:
        by_setting.setdefault((row.label, *row.varied.values(), row.threshold), {})[row.system] = row
    systems = list(dict.fromkeys(row.system for row in rows))
    ranks = [rank_by_score([*scores.values()]) for scores in by_setting.values()]
    best = Counter(system for places in ranks for system, rank in places.items() if rank == 1).most_common()
    if len(systems) == 1:
        least, most = min(rows, key=lambda row: row.score), max(rows, key=lambda row: row.score)
        verdict = f"{systems[0]} scores from {_scored(least)} to {_scored(most)}."
    elif all(places == ranks[0] for places in ranks):
        verdict = f"The order of the systems is the same at all {len(ranks)} settings: {best[0][0]} is best."
    else:
        shown = [f"{system} is best at {times} of {len(ranks)} settings" for system, times in best]
        always = f"{best[0][0]} is best at all {len(ranks)} settings"
        verdict = f"{always if best[0][1] == len(ranks) else list_names(shown)}; the order of the others changes."
    settings = [name for name in ("variant", *rows[0].varied) if name == "variant" or name in rows[0].varied]
    cells = [
        [*key, *(scores[name].score if name in scores else None for name in systems)]
        for key, scores in by_setting.items()
    ]
    table = Table([*settings, "threshold", *systems], cells, verbatim=systems)
    varied = [len({row[place] for row in cells}) > 1 for place in range(len(settings) + 1)]
    keep = [place for place in range(len(table.columns)) if place >= len(varied) or varied[place]]
    table = replace(table, columns=[table.columns[n] for n in keep], rows=[[row[n] for n in keep] for row in cells])
    panels = [panel for row in sweep_lines(rows) for panel in row if isinstance(panel, Chart)]
    every = replace(table_of(rows), background=())
    title = title or f"Scores of {len(systems)} system{'s' * (len(systems) > 1)} at {len(ranks)} settings"
    return AnswerPage(
        title, verdict, panels, {"Scores by setting": table}, {"All scores with their signatures": every}
    )


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
    panels = [panel for row in spurious_lines(credit.analyses) for panel in row if isinstance(panel, Chart)]
    return AnswerPage(
        title or "Deserved and spurious credit", verdict, panels, {table.capitalize(): credit.table(table)}
    )


def make_evaluation_page(evaluation: MetaEvaluation) -> AnswerPage:
    """Make the page of a table of `softbleu metaeval`, with the metric that leads in most of its panels."""
    panels, question = answer_panels(evaluation), evaluation.question
    leaders = Counter(panel.names[panel.values.index(max(panel.values))] for panel in panels if panel.values)
    verdict = "No value is defined."
    if question == "differences":
        rows = evaluation.records()
        apart = [row for row in rows if row["corrected"] is not None and row["corrected"] < SIGNIFICANT]
        pairs = Counter(f"{row['better']} agrees better than {row['worse']}" for row in apart)
        shown = [f"{pair} by {times} of {len(panels)} measures" for pair, times in pairs.most_common()]
        verdict = f"{list_names(shown)}." if shown else "No two metrics can be told apart."
    elif leaders:
        first, times = leaders.most_common(1)[0]
        panel = f" in {times} of {len(panels)} comparisons" if len(panels) > 1 else ""
        verdict = f"{first} has the highest {panels[0].x_label.partition(',')[0]}{panel}."
    table = evaluation.as_table()
    cells = [[readable_measure(cell) if isinstance(cell, str) else cell for cell in row] for row in table.rows]
    title = f"Agreement with human judgements: {question}"
    return AnswerPage(title, verdict, panels, {"Table": replace(table, rows=cells)}, notes=evaluation.notes)
