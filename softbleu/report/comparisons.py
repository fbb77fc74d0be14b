"""Comparisons of systems: for readers a table with the best first, for programs rows in the given order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from softbleu import report
from softbleu.corpora.gates import RULES
from softbleu.formats import (
    Layout,
    Writers,
    is_for_readers,
    json_document,
    table_writers,
    with_columns,
    write_tsv,
)
from softbleu.io.progress import note
from softbleu.report.scores import COVERAGE_COUNTS, coverage_columns, coverage_counts, gate_columns, signature_note
from softbleu.tables import LEAST_P, SIGNIFICANT, Table, Value, best_places, p_text

if TYPE_CHECKING:
    from softbleu.report.plots import Scatter
    from softbleu.results.comparison import Comparison, Row
    from softbleu.results.runs import RunDifference
    from softbleu.results.significance import SignificanceSettings

_DISAGREE = "for some systems the corpus score and the average line disagree (d has the opposite sign)"
_OF_RUNS = ("kind", "metric", "system", "name", "one", "two", "difference")
_CORRECTIONS = {"holm": "Holm-corrected", "fdr": "corrected by Benjamini-Hochberg"}
_COUNTED = ("effect", "wins", "ties", "losses")
_OF_PAIRS = (
    "system",
    "other",
    "difference",
    "difference_lower",
    "difference_upper",
    "p_value",
    "corrected",
    *_COUNTED,
)
COMPARISON_COLUMNS: dict[str, Sequence[str]] = {
    "rank": ["rank"],
    "ranks": ["best_rank", "worst_rank"],
    "score": ["score"],
    "mean": ["mean"],
    "interval": ["lower", "upper"],
    "margin": ["lower", "upper"],
    "difference": ["difference"],
    "difference-interval": ["difference_lower", "difference_upper"],
    "effect": ["effect"],
    "segments": ["wins", "ties", "losses"],
    "p": ["p_value", "corrected"],
    "vectors": list(COVERAGE_COUNTS),
    "gated": ["gated_lines", *(f"gated_{rule}" for rule in RULES)],
}
"""Columns by the names that users choose, and their columns in formats for programs."""
_JOINED = {
    ("score", "interval"): "[95% CI]",
    ("score", "margin"): "± 95% CI",
    ("difference", "difference-interval"): "[95% CI]",
}
"""Columns that join the one before, and what its head then says, too."""
_IF_CHOSEN = ("mean", "margin")  # Columns that tables show only by their names
_MARGIN = "±: half the width of the 95% interval"


def comparison_tables(tables: Sequence[Comparison], layout: Layout) -> list[Table]:
    """Make a table: a row per metric and system, the best first; stars mark significant differences."""
    if len(tables) == 1:
        return [_comparison_table(tables[0], layout, [signature_note(tables[0], layout)])]
    made = [_comparison_table(table, layout) for table in tables]
    names = [_name_in(tables, table) for table in tables]
    rows: list[dict[str, Value]] = []
    marked: list[tuple[int, int]] = []
    for name, table, part in zip(names, tables, made, strict=True):
        marked += [(row + len(rows), column + 1) for row, column in part.marked]
        heads = [
            head.replace(table.label, "score", 1) if head.startswith(table.label) else head for head in part.columns
        ]
        rows += [{"metric": name, **dict(zip(heads, row, strict=True))} for row in part.rows]
    columns = list(dict.fromkeys(head for row in rows for head in row))
    notes = [note for part in made for note in part.notes]
    notes = [
        *dict.fromkeys(notes),
        *(f"{name} {signature_note(table, layout)}" for name, table in zip(names, tables, strict=True)),
    ]
    cells = [[row.get(head, "") for head in columns] for row in rows]
    return [Table(columns, cells, notes=notes, text_columns=2, marked=marked, verbatim=columns)]


def _by_system(head: str, systems: Sequence[str], cells: Sequence[str]) -> str:
    """Write a column as one line."""
    return f"{head}: {', '.join(map(' '.join, zip(systems, cells, strict=True)))}"


def _name_in(tables: Sequence[Comparison], table: Comparison) -> str:
    """Name the metric of one of several tables: by its label, or in full where another has the same."""
    return table.label if [other.label for other in tables].count(table.label) == 1 else table.metric


def matrix_tables(tables: Sequence[Comparison], layout: Layout) -> list[Table]:
    """Make the tables of `comparison_tables`, each followed by a matrix of all pairs."""
    return [made for table in tables for made in (_comparison_table(table, layout), _matrix(table, layout))]


def _comparison_table(table: Comparison, layout: Layout, notes: Sequence[str] = ()) -> Table:
    chosen = layout.columns or [name for name in COMPARISON_COLUMNS if name not in _IF_CHOSEN]
    made = _table([table], chosen, layout)
    marked = [*made.marked, *((row, 0) for row, _ in made.marked)]
    return replace(made, notes=[*_baseline_notes(table, chosen), *made.notes, *notes], marked=marked)


def summary_tables(tables: Sequence[Comparison], layout: Layout) -> list[Table]:
    """Make one table for a paper: systems × metrics, the best of each metric highlighted, stars for significance."""
    first, chosen = tables[0], layout.columns or ("score",)
    made, notes = _table(tables, chosen, layout, starred="p" not in chosen), list[str]()
    tests = len(first.comparisons) - 1
    if tests and {"score", "p"} & set(chosen):
        said = f"* p < {SIGNIFICANT} against {first.baseline} · p: {corrected_text(first, tests)}"
        notes = [said, *first.significance.too_few(tests)]
    return [replace(made, notes=[*notes, *made.notes, *(signature_note(table, layout) for table in tables)])]


def _table(tables: Sequence[Comparison], chosen: Sequence[str], layout: Layout, *, starred: bool = False) -> Table:
    """Make a row per system, the best first, with the chosen columns of each metric and notes on coverage."""
    systems = [row.name for row in _ranked(tables[0])]
    columns: dict[tuple[str, ...], list[str]] = {("", "", "system"): systems}
    best, coverages = [], {}
    for table in tables:
        label = _name_in(tables, table)
        rows = sorted(table.comparisons, key=lambda row: systems.index(row.name))
        digits = _decimals(table, layout)
        cells = [_with_intervals(_cells(table, label, row, digits, starred=starred), chosen) for row in rows]
        columns |= {
            (label, name, head if name == "score" or len(tables) == 1 else f"{label} {head}"): [
                row[name][head] for row in cells
            ]
            for name in cells[0]
            for head in cells[0][name]
        }
        places = best_places([row.score for row in rows], digits, higher=table.higher_is_better)
        best += [(place, (label, "score")) for place in places]
        coverages[label] = [row.coverage for row in rows]
    covered, notes = coverage_columns(coverages)
    if "vectors" not in chosen:
        shares = [_by_system(head, systems, cells) for head, cells in covered.items()]
        covered, notes = {}, [] if layout.columns else [*shares, *notes]
    notes += [_MARGIN] * ("margin" in chosen)
    if len(tables) > 1:
        # Metrics with the same coverage share a column.
        columns = {key: cells_of for key, cells_of in columns.items() if key[1] != "vectors"}
        columns |= {("", "", head): cells_of for head, cells_of in covered.items()}
    scores = {key[:2]: place for place, key in enumerate(columns)}
    marked = [(place, scores[key]) for place, key in best if key in scores]
    shown = list(zip(*columns.values(), strict=True))
    return Table([head for *_, head in columns], shown, notes=notes, text_columns=1, marked=marked)


def summary_and_matrices(tables: Sequence[Comparison], layout: Layout) -> list[Table]:
    """Make the table of `summary_tables`, followed by a matrix of all pairs for each metric."""
    return [*summary_tables(tables, layout), *(_matrix(table, layout) for table in tables)]


def _decimals(table: Comparison, layout: Layout) -> int:
    """Choose the decimals for scores and differences."""
    return layout.decimals((row.score for row in table.comparisons), in_percent=table.in_percent)


def _ranked(table: Comparison) -> list[Row]:
    return sorted(table.comparisons, key=lambda row: row.rank)


def _cells(
    table: Comparison, label: str, row: Row, digits: int, *, starred: bool = False
) -> dict[str, dict[str, str]]:
    """Format a system's cells by head, by the names of `COMPARISON_COLUMNS`."""
    pair, (best, worst) = row.beside, row.ranks
    mean, lower, upper = (f"{number:z.{digits}f}" for number in (row.mean, *row.interval))
    gated = gate_columns([one.gated for one in table.comparisons])
    star, beside, apart = "", {"difference": "baseline"}, ""
    if pair is not None:
        difference, low, high = (f"{number:+z.{digits}f}" for number in (pair.difference, *pair.interval))
        floor = pair.p_value <= table.significance.floor
        beside = {"difference": difference, "d": f"{pair.effect:+z.2f}", "p": p_cell(pair.corrected, at_floor=floor)}
        beside["segments"], apart = f"{pair.wins}/{pair.ties}/{pair.losses}", f"[{low}, {high}]"
        star = "*" if starred and pair.corrected < SIGNIFICANT else ""
    return {
        "rank": {"rank": str(row.rank)},
        "ranks": {"ranks": f"{best}–{worst}"},
        "score": {label: f"{row.score:z.{digits}f}{star}"},
        "mean": {"mean": mean},
        "interval": {"95% CI": f"[{lower}, {upper}]"},
        "margin": {"± 95% CI": f"± {(row.interval[1] - row.interval[0]) / 2:.{digits}f}"},
        "difference": {"diff": beside["difference"]},
        "difference-interval": {"diff 95% CI": apart},
        "effect": {"d": beside.get("d", "")},
        "segments": {"+/=/−": beside.get("segments", "")},
        "p": {"p": beside.get("p", "")},
        "vectors": {head: cell for head, (cell,) in coverage_columns({"": [row.coverage]})[0].items()},
        "gated": {head: cells[table.comparisons.index(row)] for head, cells in gated.items()},
    }


def _with_intervals(cells: dict[str, dict[str, str]], chosen: Sequence[str]) -> dict[str, dict[str, str]]:
    """Choose cells; an interval joins the number before it."""
    made: dict[str, dict[str, str]] = {}
    for before, name in zip(["", *chosen], chosen, strict=False):
        if (before, name) in _JOINED:
            ((head, number),), (interval,) = made[before].items(), cells[name].values()
            made[before] = {f"{head} {_JOINED[before, name]}": f"{number} {interval}".rstrip()}
        else:
            made[name] = cells[name]
    return made


def p_cell(p_value: float, *, at_floor: bool = False) -> str:
    """Format a p-value, with a star if it is significant, and a sign if no draw could have made it less.

    >>> p_cell(0.0099, at_floor=True), p_cell(0.2)
    ('≤ 0.0099*', '0.2000 ')
    """
    sign = "≤ " if at_floor and p_value >= LEAST_P else ""
    return sign + p_text(p_value) + ("*" if p_value < SIGNIFICANT else " ")


def _baseline_notes(table: Comparison, chosen: Sequence[str]) -> list[str]:
    """Explain the columns that are shown."""
    tests = len(table.comparisons) - 1
    if not tests:
        return []
    short = {
        "p": f"p: {corrected_text(table, tests)}",
        "effect": "d: Cohen's d over segments",
        "segments": "+/=/−: segments won, tied, lost",
        "ranks": "ranks: 95% range",
    }
    return [
        *[f"* p < {SIGNIFICANT} against {table.baseline}"] * ("p" in chosen),
        *filter(None, [" · ".join(text for name, text in short.items() if name in chosen)]),
        *[_DISAGREE] * ("effect" in chosen and _turns(table)),
        *table.significance.too_few(tests) * ("p" in chosen),
    ]


def _turns(table: Comparison) -> bool:
    """Whether the mean difference of segments has another sign than the corpus difference, for some system."""
    pairs = [row.beside for row in table.comparisons if row.beside is not None]
    return any(pair.difference * pair.effect < 0 for pair in pairs)


def note_few(significance: SignificanceSettings, systems: int, output_format: str) -> None:
    """Print a note that nothing can be significant, for formats without notes of their own."""
    if is_for_readers(output_format):
        return
    tests = systems * (systems - 1) // 2 if significance.all_pairs else systems - 1
    for said in significance.settled(systems).too_few(tests) if tests else ():
        note(said)


def corrected_text(table: Comparison, tests: int) -> str:
    """Name the correction of so many tests."""
    how = _CORRECTIONS.get(table.significance.correction)
    return "not corrected" if how is None else f"{how}, {tests} test{'s' * (tests > 1)}"


def _matrix(table: Comparison, layout: Layout) -> Table:
    """Make a matrix of all pairs by rank: p above the diagonal, below it the difference of row and column."""
    names, digits = [row.name for row in _ranked(table)], _decimals(table, layout)
    rows = []
    for number, name in enumerate(names):
        pairs = [None if other == name else table.pair(name, other) for other in names]
        cells = [
            ""
            if pair is None
            else f"{pair.difference:+z.{digits}f}"
            if index < number
            else p_cell(pair.corrected, at_floor=pair.p_value <= table.significance.floor)
            for index, pair in enumerate(pairs)
        ]
        rows.append([f"{number + 1} {name}", *cells])
    tests = len(table.pairs)
    said = f"above the diagonal: p ({corrected_text(table, tests)}; * p < {SIGNIFICANT}) · below: differences"
    notes = [said, *table.significance.too_few(tests), signature_note(table, layout)]
    return Table([table.label, *map(str, range(1, len(names) + 1))], rows, notes=notes, text_columns=1)


def comparison_records(tables: Sequence[Comparison], layout: Layout) -> Table:
    """Make a row per system (and metric) with all numbers, in the given order."""
    columns = ["system", "score", "mean", "lower", "upper", "p_value", "rank", "best_rank", "worst_rank"]
    columns += ["difference", "difference_lower", "difference_upper", "corrected", *_COUNTED]
    covered = any(row.coverage for table in tables for row in table.comparisons)
    rows = []
    for table in tables:
        for row in table.comparisons:
            counts = coverage_counts(row.coverage) if covered else {}
            counts |= {} if row.gated is None else row.gated.cells()
            rows.append([*_named(tables, table), *(row[name] for name in columns), *counts.values()])
    columns += COVERAGE_COUNTS if covered else ()
    first = tables[0].comparisons[0].gated
    columns += () if first is None else first.cells()
    return _chosen(Table([*["metric"] * (len(tables) > 1), *columns], rows), layout, COMPARISON_COLUMNS)


def pair_records(tables: Sequence[Comparison], layout: Layout) -> Table:
    """Make a row per pair of systems (and metric) with all numbers."""
    paired = [(table, pair) for table in tables for pair in table.pairs]
    rows = [[*_named(tables, table), *(pair[name] for name in _OF_PAIRS)] for table, pair in paired]
    names = [name.removeprefix("difference_") for name in _OF_PAIRS]
    table = Table([*["metric"] * (len(tables) > 1), *names], rows)
    no_scores = dict.fromkeys(("interval", "margin"), ())
    return _chosen(table, layout, {**COMPARISON_COLUMNS, **no_scores, "difference-interval": ("lower", "upper")})


def _chosen(records: Table, layout: Layout, named: Mapping[str, Sequence[str]]) -> Table:
    """Select the columns that name a row, and the chosen columns, in this order."""
    if not layout.columns:
        return records
    names = ["metric", "system", "other", *(name for column in layout.columns for name in named[column])]
    return with_columns(records, [records.columns.index(name) for name in names if name in records.columns])


def _named(tables: Sequence[Comparison], table: Comparison) -> list[str]:
    return [table.metric] if len(tables) > 1 else []


def compare_json(tables: Sequence[Comparison], layout: Layout) -> Iterator[str]:
    """Write one JSON object, one system or pair of systems per line, with its metric if there are several."""
    several = len(tables) > 1
    signature = {} if several else {"signature": tables[0].signature}
    systems = (
        {"metric": table.metric, "signature": table.signature, **row} if several else row
        for table in tables
        for row in (
            comparison_records([table], layout).records() if layout.columns else map(_system, table.comparisons)
        )
    )
    pairs = (
        {"metric": table.metric, **row} if several else row
        for table in tables
        for row in (pair_records([table], layout).records() if layout.columns else map(nested_pair, table.pairs))
    )
    how = {"baseline": tables[0].baseline, "correction": tables[0].significance.correction}
    return json_document(signature | how, systems=systems, pairs=pairs)


def _system(row: Row) -> dict[str, object]:
    names = ("name", "score", "mean", "interval", "p_value", "rank", "ranks")
    gated = {} if row.gated is None else {"gated": row.gated.as_dict()}
    made = {**{name: getattr(row, name) for name in names}, "beside": row.beside and nested_pair(row.beside)}
    return {**made, "vector_coverage": None if row.coverage is None else row.coverage.as_dict(), **gated}


def nested_pair(pair: Row) -> dict[str, object]:
    """Name the numbers of a pair as JSON and pages do: the interval in one cell."""
    names = ("name", "other", "difference", "interval", "p_value", "corrected", *_COUNTED)
    return {name: getattr(pair, name) for name in names}


def write_distribution(tables: Sequence[Comparison]) -> Iterator[str]:
    """Write the bootstrap scores as tab-separated values, a column per system (and metric)."""
    names = [
        f"{table.metric}: {row.name}" if len(tables) > 1 else row.name
        for table in tables
        for row in table.comparisons
    ]
    samples = zip(*(scores for table in tables for scores in table.resampled.tolist()), strict=True)
    return write_tsv(Table(names, list(samples)), Layout())


def draw_pairs(tables: Sequence[Comparison], picture_format: str) -> bytes:
    """Draw the ranked scores by each metric with their intervals; rings do not differ from the baseline."""
    panels = []
    for table in tables:
        ranked, base = _ranked(table), table.baseline
        filled = [row.beside is None or row.beside.corrected < SIGNIFICANT for row in ranked]
        note = f"● differs from {base}, ○ not (p < {SIGNIFICANT}, {corrected_text(table, len(ranked) - 1)})"
        note = _nothing_marked(table) or (note if len(ranked) > 1 else "")
        panels.append(
            report.plots.IntervalRows(
                f"{table.label}, 95% intervals",
                f"{table.label}, {'higher' if table.higher_is_better else 'lower'} is better",
                [row.name for row in ranked],
                [row.score for row in ranked],
                [row.interval for row in ranked],
                filled,
                [base],
                note,
            )
        )
    return report.plots.draw(report.plots.in_rows(panels, 2), picture_format)


def draw_latencies(tables: Sequence[Sequence[Comparison]], picture_format: str) -> bytes:
    """Draw quality against latency with intervals, a panel per metric and latency; `tables` has both kinds."""
    qualities, latencies = tables
    return report.plots.draw(
        [[_trade(quality, latency) for latency in latencies] for quality in qualities], picture_format
    )


def _trade(quality: Comparison, latency: Comparison) -> Scatter:
    """Make the panel of a metric and a latency."""
    systems = [*zip(latency.comparisons, quality.comparisons, strict=True)]
    points = [(x.score, y.score) for x, y in systems]
    intervals = [(x.interval, y.interval) for x, y in systems]
    names = [row.name for row, _ in systems]
    return report.plots.Scatter("", latency.label, quality.label, points, names, intervals=intervals)


def _nothing_marked(table: Comparison) -> str:
    """Explain why no pair is significant, if none is."""
    if not table.pairs or any(pair.corrected < SIGNIFICANT for pair in table.pairs):
        return ""
    how, tests = table.significance, len(table.pairs)
    after = {"holm": " after Holm correction", "fdr": " after Benjamini-Hochberg correction"}
    drawn = f"{how.drawn():,} {'samples' if how.test == 'bootstrap' else 'trials'}"
    return (
        f"no difference is significant at {SIGNIFICANT}{after.get(how.correction, '')}: "
        f"{tests} test{'s' * (tests > 1)}, {drawn}, smallest attainable p = {how.least_p(tests):.4f}"
    )


COMPARERS: Writers[Sequence[Comparison]] = table_writers(
    comparison_records, readers=comparison_tables, paper=summary_tables, json=compare_json
)
MATRIX_WRITERS: Writers[Sequence[Comparison]] = table_writers(
    pair_records, readers=matrix_tables, paper=summary_and_matrices, json=compare_json
)
"""Formats of comparisons of all pairs of systems."""


def difference_records(difference: RunDifference, lines: int | None = None) -> Table:
    """Make a row per change, with at most `lines` changed lines of each metric."""
    rows, shown, left = [], Counter[str](), 0
    for change in difference.changes:
        shown[change.metric] += change.kind == "line"
        if lines is not None and change.kind == "line" and shown[change.metric] > lines:
            left += 1
            continue
        rows.append([getattr(change, name) for name in _OF_RUNS])
    notes = [f"{left:,} more lines changed; this table has {lines:,} per metric"] if left else []
    return Table(_OF_RUNS, rows, difference.described(), "nothing differs", notes=notes, text_columns=4)
