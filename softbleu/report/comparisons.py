"""Comparisons of systems: for readers a table with the best first, for programs rows in the given order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress, groupby
from operator import not_
from typing import TYPE_CHECKING, Any, NamedTuple

from softbleu import report
from softbleu.analysis.kind_differences import KIND_DIFFERENCES, macro_averages
from softbleu.corpora.gates import RULES
from softbleu.formats import (
    Audience,
    Layout,
    Made,
    Writers,
    as_tsv,
    is_for_readers,
    json_document,
    table_writers,
    with_columns,
)
from softbleu.io.progress import note
from softbleu.report.scores import COVERAGE_COUNTS, coverage_columns, coverage_counts, gate_columns, signature_notes
from softbleu.results.verdicts import corrected_text, distinct_labels, drawn_text, headline, score_digits
from softbleu.tables import CELL_FORMS, SIGNIFICANT, TOO_FEW, Table, TableColumn, best_places, is_significant, p_text

if TYPE_CHECKING:
    from softbleu.report.plots import IntervalRows, Scatter
    from softbleu.results.comparison import ComparedRow, Comparison
    from softbleu.results.runs import RunDifference
    from softbleu.results.significance import SignificanceSettings
    from softbleu.types import Fields

_DISAGREE = "for some systems the corpus score and the average line disagree (d has the opposite sign)"
_OF_RUNS = ("kind", "metric", "system", "name", "one", "two", "difference")
_ADDED = ("contribution_lower", "contribution_upper")
_COUNTED = ("effect", "wins", "ties", "losses")
_DIFFERENCES = ("difference", "difference_lower", "difference_upper")
_OF_PAIRS = (*_DIFFERENCES, "p_value", "corrected", *_COUNTED)
_SCORES = (
    *("system", "score", "mean", "lower", "upper", "p_value", "rank", "best_rank", "worst_rank"),
    *(*_DIFFERENCES, "corrected", *_COUNTED),
)
_SCHEMA = 2  # Of comparisons
_LAST_NUMBER = re.compile(r"\d+(?=\D*$)")
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
VIEW_COLUMNS = {
    "metric": TableColumn("named", "metric"),
    "kind": TableColumn("kind"),
    "fraction": TableColumn("fraction", "output", text=lambda row, digits: share_name(row["fraction"])),
    "bucket": TableColumn("bucket"),
    "size": TableColumn("segments"),
    "moment": TableColumn(
        "moment", text=lambda row, digits: "whole" if row["moment"] is None else f"{row['moment']:g}"
    ),
    "system": TableColumn("system"),
    "correct": TableColumn("correct", "right"),
    "proposed": TableColumn("proposed"),
    "gold": TableColumn("gold"),
    "precision": TableColumn("precision", "P", missing=""),
    "recall": TableColumn("recall", "R", missing=""),
    "rank": TableColumn("rank"),
    "ranks": TableColumn("ranks", text=lambda row, digits: _ranks(row)),
    "outputs": TableColumn("outputs"),  # With text
    "score": TableColumn("score", better=1, missing=""),
    "mean": TableColumn("mean"),
    "interval": TableColumn("lower", "95% CI", text=lambda row, digits: _ends(row, "", digits)),
    "margin": TableColumn("lower", "± 95% CI", text=lambda row, digits: _margin(row, digits)),
    "difference": TableColumn("difference", "diff", sign="+", text=lambda row, digits: _apart(row, digits)),
    "difference-interval": TableColumn(
        "apart", "diff 95% CI", text=lambda row, digits: _ends(row, "difference_", digits)
    ),
    "effect": TableColumn("effect", "d", digits=2, sign="+", missing=""),
    "segments": TableColumn("wins", "+/=/−", text=lambda row, digits: _won(row)),
    "p": TableColumn("corrected", "p", text=lambda row, digits: _p(row)),
    "adds": TableColumn("contribution", "adds [95% CI]", sign="+", ends=_ADDED, missing=""),
}
"""Columns of comparisons for readers. A view names those that it shows."""
_JOINED = {
    ("score", "interval"): "[95% CI]",
    ("score", "margin"): "± 95% CI",
    ("difference", "difference-interval"): "[95% CI]",
}
"""Columns that join the one before, and what its head then says, too."""
_IF_CHOSEN = ("mean", "margin")  # Columns that tables show only by their names
_NARROW = "intervals of so few lines may be too narrow"
_MARGIN = "±: half the width of the 95% interval"


def _ends(row: Fields, of: str, digits: int) -> str:
    low, high, sign = row[f"{of}lower"], row[f"{of}upper"], "+" if of else ""
    return "" if low is None else f"[{low:{sign}z.{digits}f}, {high:{sign}z.{digits}f}]"


def _margin(row: Fields, digits: int) -> str:
    return f"± {(row['upper'] - row['lower']) / 2:.{digits}f}"


def _apart(row: Fields, digits: int) -> str:
    shown = "" if row["difference"] is None else f"{row['difference']:+z.{digits}f}"
    return row.get("base", "baseline") if row["other"] is None else shown


def _ranks(row: Fields) -> str:
    return "" if row["best_rank"] is None else f"{row['best_rank']}–{row['worst_rank']}"


def _p(row: Fields) -> str:
    if row["corrected"] is None:
        return TOO_FEW if row["other"] is not None and row["floor"] is None else ""
    return CELL_FORMS["p"](row["corrected"], 0, row)


def _won(row: Fields) -> str:
    return "" if row["wins"] is None else f"{row['wins']}/{row['ties']}/{row['losses']}"


def cut_notes(cut: str = "after these shares of their tokens") -> list[str]:
    """Explain scores of outputs that are cut, and of whole ones."""
    beginnings = f"outputs cut {cut}, against the beginnings of references that they have come to"
    return [beginnings, "whole: whole outputs against whole references"]


def share_name(fraction: float | None) -> str:
    """Name a fraction of outputs.

    >>> share_name(0.25), share_name(None)
    ('25%', 'whole')
    """
    return "whole" if fraction is None else f"{fraction * 100:.4g}%"


def _columns(chosen: Sequence[str], label: str, form: str = "") -> dict[str, list[TableColumn]]:
    """Return columns by the names of the chosen; an interval joins the number before it."""
    made: dict[str, list[TableColumn]] = {}
    for before, name in zip(["", *chosen], chosen, strict=False):
        if (before, name) in _JOINED:
            (number,) = made[before]
            made[before] = [_joined(number, VIEW_COLUMNS[name], _JOINED[before, name])]
        elif name in VIEW_COLUMNS:
            made[name] = [
                replace(VIEW_COLUMNS[name], head=label, form=form) if name == "score" else VIEW_COLUMNS[name]
            ]
        else:
            made[name] = []
    return made


def _joined(number: TableColumn, interval: TableColumn, head: str) -> TableColumn:
    text = lambda row, digits: f"{number.cell(row, digits)} {interval.cell(row, digits)}".rstrip()  # noqa: E731
    return replace(number, head=f"{number.title} {head}", text=text)


def _of(key: str, column: TableColumn, head: str, digits: int | None = None) -> TableColumn:
    """Make a column of a wide table, whose rows have `rows` for each metric or system."""
    text = lambda row, decimals: column.cell(row["rows"][key], decimals)  # noqa: E731
    return TableColumn(f"{key} {column.name}", head, text=text, digits=digits)


def _shown_rows(table: Comparison, name: str, layout: Layout) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    """Return the rows of a metric, the best first, with shares of coverage and gates; and the heads of these."""
    heads: dict[str, list[str]] = {"vectors": [], "gated": []}
    better = None if table.higher_is_better else "lower"
    more = {"named": name, "digits": score_digits(table, layout), "better": better}
    gated, rows = gate_columns([one["gated"] for one in table.rows]), []
    for place, row in enumerate(table.rows):
        covered = {head: cell for head, (cell,) in coverage_columns({"": [row["coverage"]]})[0].items()}
        heads |= {"vectors": [*covered], "gated": [*gated]}
        rows.append({**row, **more, **covered, **{head: cells[place] for head, cells in gated.items()}})
    return sorted(rows, key=lambda row: row["rank"]), heads


def comparison_tables(tables: Sequence[Comparison], layout: Layout) -> Table:
    """Make a table: a row per metric and system, the best first; stars mark significant differences."""
    chosen = layout.columns or [name for name in COMPARISON_COLUMNS if name not in _IF_CHOSEN]
    several, rows, notes = len(tables) > 1, [], dict[str, None]()
    shown = _columns(chosen, "score" if several else tables[0].label)
    for table, name in zip(tables, distinct_labels(tables), strict=True):
        of_metric, heads = _shown_rows(table, name, layout)
        rows += of_metric
        for of in heads.keys() & {*chosen}:
            known = {column.name for column in shown[of]}
            shown[of] += [TableColumn(head, head, missing="") for head in heads[of] if head not in known]
        notes |= dict.fromkeys([*_baseline_notes(table, chosen), *_coverage_notes([table], chosen, layout)])
    names = [VIEW_COLUMNS["metric"]] * several + [VIEW_COLUMNS["system"]]
    signed = [(name * several, table) for table, name in zip(tables, distinct_labels(tables), strict=True)]
    return Table.of(
        rows,
        shown=[*names, *(column for columns in shown.values() for column in columns)],
        notes=[*notes, *signature_notes(signed, layout)],
        lead=headline(tables, layout),
        digits=lambda row: row["digits"],
        group=lambda row: row["named"],
        text_columns=len(names),
        also="system",
    )


def _covered(tables: Sequence[Comparison]) -> tuple[dict[str, list[str]], list[str]]:
    """Return columns of coverage by the ranks of the first metric, and notes on the references."""
    systems = [row["system"] for row in _ranked(tables[0])]
    coverages = {}
    for table, name in zip(tables, distinct_labels(tables), strict=True):
        by_system = {row["system"]: row["coverage"] for row in table.rows}
        coverages[name] = [by_system[system] for system in systems]
    return coverage_columns(coverages)


def _coverage_notes(tables: Sequence[Comparison], chosen: Sequence[str], layout: Layout) -> list[str]:
    """Return notes on words with a vector, whose share stands there unless it has a column, and on margins."""
    systems, (covered, notes) = [row["system"] for row in _ranked(tables[0])], _covered(tables)
    if "vectors" not in chosen:
        pairs = {head: map(" ".join, zip(systems, cells, strict=True)) for head, cells in covered.items()}
        notes = [] if layout.columns else [*(f"{head}: {', '.join(cells)}" for head, cells in pairs.items()), *notes]
    return [*notes, *[_MARGIN] * ("margin" in chosen)]


def matrix_tables(tables: Sequence[Comparison], layout: Layout) -> list[Table]:
    """Make the table of each metric, followed by a matrix of all pairs, which has the signature."""
    made = [(comparison_tables([table], layout), _matrix(table, layout)) for table in tables]
    several = [headline(tables, layout), *[""] * (len(tables) - 1)]
    return [
        each
        for (table, matrix), lead in zip(made, several, strict=True)
        for each in (replace(table, notes=table.notes[:-1], lead=lead), matrix)
    ]


def summary_table(tables: Sequence[Comparison], layout: Layout) -> Table:
    """Make one table for a paper: systems × metrics, the best of each metric highlighted, stars for significance."""
    first, chosen, several = tables[0], layout.columns or ("score",), len(tables) > 1
    wide: dict[str, dict[str, Any]] = {}
    columns = [VIEW_COLUMNS["system"]]
    for table, name in zip(tables, distinct_labels(tables), strict=True):
        digits = score_digits(table, layout)
        rows, heads = _shown_rows(table, name, layout)
        for row in rows:
            named = wide.setdefault(row["system"], {"system": row["system"], "rows": {}})
            named[f"{name} score"], named["rows"][name] = row["score"], row
        for of, shown in _columns(chosen, name, "" if "p" in chosen else "starred").items():
            more = () if several and of == "vectors" else heads.get(of, ())
            for column in (*shown, *(TableColumn(head, head, missing="") for head in more)):
                made = _of(name, column, f"{name} " * (several and of != "score") + column.title, digits)
                columns.append(replace(made, better=1 if table.higher_is_better else -1) if of == "score" else made)
    if several and "vectors" in chosen:  # Metrics with the same coverage share a column
        for head, cells in _covered(tables)[0].items():
            columns.append(TableColumn(head, head))
            for row, cell in zip(wide.values(), cells, strict=True):
                row[head] = cell
    notes = _test_notes(first, first.tests) if {"score", "p"} & {*chosen} else []
    notes += [*_coverage_notes(tables, chosen, layout), *signature_notes([("", table) for table in tables], layout)]
    return Table.of(wide.values(), shown=columns, notes=notes, text_columns=1, lead=headline(tables, layout))


def summary_and_matrices(tables: Sequence[Comparison], layout: Layout) -> list[Table]:
    """Make the table of `summary_table`, followed by a matrix of all pairs for each metric."""
    return [summary_table(tables, layout), *(_matrix(table, layout) for table in tables)]


def kind_tables(tables: Comparison, layout: Layout) -> Table:
    """Make a table: a row per kind and system, the kinds that add most first; stars mark significant differences."""
    names = [*["metric"] * (len(tables) > 1), "kind", "system"]
    chosen = [*names, *["correct", "proposed", "gold", "precision", "recall", "score", "interval"]]
    if len(tables.families[0].systems) > 1:
        chosen += ["difference", "difference-interval", "p", "adds"]
    columns = _columns(chosen, f"F{tables.rows[0]['beta']:g}")
    return Table.of(
        [{**row, "named": row["label"]} for row in tables.rows],
        shown=[replace(column, better=0) for some in columns.values() for column in some],
        notes=_kind_notes(tables, layout),
        text_columns=len(names),
    )


def _kind_notes(tables: Comparison, layout: Layout) -> list[str]:
    """Explain the columns."""
    first, beta = tables[0], tables.rows[0]["beta"]
    notes = [*filter(None, [tables.untested]), *_test_notes(first, max(table.tests for table in tables))]
    if any(row["other"] for row in first.rows):
        notes.append(f"adds: points of the difference of F{beta:g} that come from the kind; the kinds add up to all")
    for table in tables:
        digits = score_digits(table, layout)
        means = ", ".join(f"{system} {f:.{digits}f}" for system, f in macro_averages(table.families[0]).items())
        notes += [f"macro F{beta:g} of {table.label}, the mean of kinds with gold edits: {means}"] * bool(means)
    other = [table.label for table in tables if not table.rows[0]["is_score"]]
    if other:
        notes.append(f"F{beta:g} is that of M2, of these counts, and not the score of {', '.join(other)}")
    return [*notes, *signature_notes([("", table) for table in tables], layout)]


def kind_summary(tables: Comparison, layout: Layout) -> Table:
    """Make a table for a paper: kinds × systems with F, stars for significance, and the contributions of kinds."""
    several, systems, digits = len(tables) > 1, tables.families[0].systems, layout.decimals()
    wide, marked = list[dict[str, Any]](), list[tuple[int, int]]()
    for (label, kind), rows in groupby(tables.rows, lambda row: (row["label"], row["kind"])):
        made = {row["system"]: row for row in rows}
        scores = [made[system]["score"] for system in systems]
        best = best_places(scores, digits, higher=True)
        if len(best) < sum(score is not None for score in scores):
            marked += [(len(wide), 1 + several + place) for place in best]
        wide.append({"named": label, "kind": kind, "rows": made})
    score = replace(VIEW_COLUMNS["score"], form="starred")
    adds = replace(VIEW_COLUMNS["adds"], ends=None)
    others = [system for system in systems if system != tables.baseline]
    columns = [*[VIEW_COLUMNS["metric"]] * several, VIEW_COLUMNS["kind"]]
    columns += [_of(system, score, system) for system in systems]
    columns += [_of(system, adds, f"{system} adds") for system in others]
    notes = _kind_notes(tables, layout)
    return Table.of(wide, shown=columns, notes=notes, text_columns=1 + several, marked=marked)


def slice_tables(tests: Comparison, layout: Layout) -> list[Table]:
    """Make a table per metric: a row per slice and system, with intervals, differences and p-values."""
    return [_slice_table(table, layout) for table in tests]


def _slice_table(table: Comparison, layout: Layout) -> Table:
    kind = next(name for name in ("fraction", "bucket", "moment") if name in table.rows[0])
    of_fractions = kind == "fraction"
    notes = [*cut_notes() * of_fractions, *filter(None, [table.untested]), *_test_notes(table, table.tests)]
    chosen = {
        "fraction": ["fraction", "system"],
        "bucket": ["bucket", "size", "system", "ranks"],
        "moment": ["moment", "system", "ranks"],
    }[kind]
    chosen += ["outputs"] * (table.rows[0].get("outputs") is not None)
    chosen += ["score", "interval", "difference", "difference-interval", "p"]
    if len(table.families[0].systems) == 1 and not of_fractions:
        chosen = [*chosen[: chosen.index("system") + 1], "score", "interval"]
    heads = {key: head for head, key in table.columns.items() if key == "bucket"}
    columns = [
        replace(column, better=0, head=heads.get(column.name, column.head))
        for some in _columns(chosen, table.label).values()
        for column in some
    ]
    notes += signature_notes([("", table)], layout)
    names = chosen.index("system") + 1
    return Table.of(table.rows, shown=columns, notes=notes, text_columns=names, digits=score_digits(table, layout))


def _ranked(table: Comparison) -> list[ComparedRow]:
    return sorted(table.rows, key=lambda row: row["rank"])


def _baseline_notes(table: Comparison, chosen: Sequence[str]) -> list[str]:
    """Explain the columns that are shown."""
    tests = len(table.rows) - 1
    if not tests:
        return []
    few = table.untested
    short = {
        "p": f"p: {few or corrected_text(table, tests)}" + " (intervals are not)" * (not few and tests > 1),
        "effect": "d: Cohen's d over segments",
        "segments": "+/=/−: segments won, tied, lost",
        "ranks": "ranks: 95% range",
    }
    return [
        *[f"* p < {SIGNIFICANT} against {_base(table)}"] * ("p" in chosen and not few),
        *filter(None, [" · ".join(text for name, text in short.items() if name in chosen)]),
        *[_NARROW] * bool(few),
        *[_DISAGREE] * ("effect" in chosen and _turns(table)),
        *table.significance.too_few(tests) * ("p" in chosen and not few),
    ]


def _test_notes(table: Comparison, tests: int) -> list[str]:
    """Explain the stars and p-values of so many tests; nothing for none."""
    said = f"* p < {SIGNIFICANT} against {_base(table)} · p: {corrected_text(table, tests)}"
    return [said, *table.significance.too_few(tests)] if tests else []


def _base(table: Comparison) -> str:
    return "the best" if table.best else table.families[-1].baseline


def _turns(table: Comparison) -> bool:
    """Whether the mean difference of segments has another sign than the corpus difference, for some system."""
    pairs = [row.beside for row in table.comparisons if row.beside is not None]
    return any(pair.difference * pair.effect < 0 for pair in pairs)


def note_few(significance: SignificanceSettings, systems: int, lines: int, output_format: str) -> None:
    """Print a note that nothing is tested, or can be significant, for formats without notes of their own."""
    if is_for_readers(output_format) or systems < 2:
        return
    tests = systems * (systems - 1) // 2 if significance.all_pairs else systems - 1
    few = significance.few_lines(lines)
    for said in [f"p is empty: {few}"] if few else significance.settled(systems).too_few(tests):
        note(said)


def worse_text(rows: Sequence[ComparedRow], margin: float | None) -> str:
    """Name the systems that `Comparison.worse` found, in one line."""
    said, than = [], "than" if margin is None else "of"
    for row in rows:
        ends = f"{row.difference_lower:+.4g} to {row.difference_upper:+.4g}"
        reason = f"p {p_text(row.corrected, row)}" if margin is None else ends
        said.append(f"{row.system} {than} {row.other} by {row.label} ({row.difference:+.4g}, {reason})")
    return f"{'worse' if margin is None else f'not shown to be within {margin:g}'}: {'; '.join(said)}"


def _matrix(table: Comparison, layout: Layout) -> Table:
    """Make a matrix of all pairs by rank: p above the diagonal, below it the difference of row and column."""
    names, digits, rows = [row["system"] for row in _ranked(table)], score_digits(table, layout), []
    for number, name in enumerate(names):
        pairs = [None if other == name else table.pair(name, other) for other in names]
        cells = [
            "" if pair is None else VIEW_COLUMNS["difference" if index < number else "p"].cell(pair, digits)
            for index, pair in enumerate(pairs)
        ]
        rows.append([f"{number + 1} {name}", *cells])
    tests = len(table.pairs)
    how = table.untested or f"{corrected_text(table, tests)}; * p < {SIGNIFICANT}"
    notes = [f"above the diagonal: p ({how}) · below: differences"]
    notes += [*([] if table.untested else table.significance.too_few(tests)), *signature_notes([("", table)], layout)]
    return Table([table.label, *map(str, range(1, len(names) + 1))], rows, notes=notes, text_columns=1)


def comparison_records(tables: Sequence[Comparison], layout: Layout) -> Table:
    """Make a row per system (and metric) with all numbers, in the given order."""
    covered = any(row["coverage"] for table in tables for row in table.rows)
    rows = [
        {
            **row,
            **(coverage_counts(row["coverage"]) if covered else {}),
            **({} if row["gated"] is None else row["gated"].cells()),
        }
        for table in tables
        for row in table.rows
    ]
    gated = tables[0].rows[0]["gated"]
    names = [*_SCORES, *["outputs"] * (tables[0].rows[0].get("outputs") is not None)]
    names += [*(COVERAGE_COUNTS if covered else ()), *({} if gated is None else gated.cells())]
    return Table.of(rows, _chosen(tables, names, layout, COMPARISON_COLUMNS))


def pair_records(tables: Sequence[Comparison], layout: Layout) -> Table:
    """Make a row per pair of systems (and metric) with all numbers."""
    own = dict.fromkeys(("interval", "margin"), ())
    names = _chosen(tables, ("system", "other", *_OF_PAIRS), layout, {**COMPARISON_COLUMNS, **own})
    made = Table.of([pair for table in tables for pair in table.pairs], names)
    return replace(made, columns=[name.removeprefix("difference_") for name in names])


def _chosen(
    tables: Sequence[Comparison], names: Sequence[str], layout: Layout, chosen: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return the keys that name a row, then the keys of the chosen columns."""
    if layout.columns:
        wanted = ("system", "other", *(name for column in layout.columns for name in chosen[column]))
        names = [name for name in wanted if name in names]
    return [*["metric"] * (len(tables) > 1), *names]


def kind_records(tables: Comparison, layout: Layout) -> Table:
    """Make a row per metric, kind and system with all numbers; differences only where there are other systems."""
    table = Table.of(tables)
    several = any(row["other"] for row in tables.rows)
    kept = [place for place, name in enumerate(table.columns) if several or name not in KIND_DIFFERENCES]
    return with_columns(table, kept)


def compare_json(tables: Comparison, layout: Layout) -> Iterator[str]:
    """Write one JSON object: `rows`, one per metric, slice and system, and `pairs`; whole outputs also as `systems`.

    `systems`, and `name` and `interval` of pairs, are those of schema 1, and go in the release after this one.
    """
    several, view = len(tables) > 1, _view_of(tables)
    if view is not None:
        yield from json_document(
            {**tables.described(), "schema": _SCHEMA}, rows=view.programs(tables, layout).records()
        )
        return
    signature = {} if several else {"signature": tables[0].signature}
    how = {"baseline": tables[0].baseline, "correction": tables[0].significance.correction}
    how |= {"verdict": headline(tables, layout)}
    rows, pairs = list[dict[str, object]](), list[dict[str, object]]()
    systems = list[dict[str, object]]()
    for table in tables:
        named = {"metric": table.metric} if several else {}
        signed = {"signature": table.signature} if several else {}
        flat = comparison_records([table], layout).records()
        rows += ({"metric": table.metric, "label": table.label, **row} for row in flat)
        systems += ({**named, **signed, **row} for row in (flat if layout.columns else map(_system, table.rows)))
        full = ({**nested_pair(pair), **_numbers(pair)} for pair in table.pairs)
        pairs += ({**named, **pair} for pair in (pair_records([table], layout).records() if layout.columns else full))
    more = {"best": [{"metric": row["metric"], **_numbers(row)} for row in tables.best]} if tables.best else {}
    yield from json_document({"schema": _SCHEMA, **signature, **how}, rows=rows, systems=systems, pairs=pairs, **more)


def _numbers(pair: ComparedRow) -> dict[str, object]:
    return {name: pair[name] for name in ("system", "other", *_OF_PAIRS)}


def _system(row: ComparedRow) -> dict[str, object]:
    names = ("name", "score", "mean", "interval", "p_value", "rank", "ranks")
    gated = {} if row.gated is None else {"gated": row.gated.as_dict()}
    made = {**{name: getattr(row, name) for name in names}, "beside": row.beside and nested_pair(row.beside)}
    return {**made, "vector_coverage": None if row.coverage is None else row.coverage.as_dict(), **gated}


def nested_pair(pair: ComparedRow) -> dict[str, object]:
    """Name the numbers of a pair as pages do: the interval in one cell."""
    return {
        name: getattr(pair, name) for name in ("name", "other", "difference", "interval", *_OF_PAIRS[3:], "floor")
    }


def write_distribution(tables: Sequence[Comparison]) -> Iterator[str]:
    """Write the bootstrap scores as tab-separated values, a column per system (and metric)."""
    names = [
        f"{table.metric}: {row.name}" if len(tables) > 1 else row.name
        for table in tables
        for row in table.comparisons
    ]
    samples = zip(*(scores for table in tables for scores in table.resampled.tolist()), strict=True)
    return as_tsv(Table(names, list(samples)), Layout())


def rank_panels(tables: Sequence[Comparison]) -> list[Sequence[IntervalRows]]:
    """Plot the ranked scores by each metric with their intervals; rings do not differ from the baseline."""
    panels = []
    for table in (each.beside_best() for each in tables):
        ranked, base = _ranked(table), table.baseline
        filled = [row["other"] is None or is_significant(row) for row in ranked]
        note = f"● differs from {base}, ○ not (p < {SIGNIFICANT}, {corrected_text(table, table.tests)})"
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
    return report.plots.in_rows(panels, 2)


def trades(tables: Sequence[Comparison], delays: Sequence[bool]) -> list[list[Scatter]]:
    """Plot quality against latency: a row of panels per metric without `delays`, in it one per metric of them.

    A line joins systems whose names differ in their last number alone, such as wait3 and wait5.
    """
    qualities, latencies = compress(tables, map(not_, delays)), [*compress(tables, delays)]
    return [[_trade(quality, latency) for latency in latencies] for quality in qualities]


def _trade(quality: Comparison, latency: Comparison) -> Scatter:
    """Make the panel of a metric and a latency."""
    systems = [*zip(latency.comparisons, quality.comparisons, strict=True)]
    points = [(x.score, y.score) for x, y in systems]
    intervals = [(x.interval, y.interval) for x, y in systems]
    names = [row.name for row, _ in systems]
    families: dict[str, list[tuple[int, int]]] = {}
    for index, name in enumerate(names):
        if number := _LAST_NUMBER.search(name):
            families.setdefault(_LAST_NUMBER.sub("#", name), []).append((int(number[0]), index))
    joined = [[index for _, index in sorted(family)] for family in families.values() if len(family) > 1]
    title = f"{quality.label} by {latency.label}, 95% intervals"
    label = f"{latency.label}, {'share of the source' if latency.label == 'AP' else 'ms of speech or source words'}"
    return report.plots.Scatter(title, label, quality.label, points, names, intervals=intervals, joined=joined)


def _nothing_marked(table: Comparison) -> str:
    """Explain why no pair is significant, if none is."""
    if table.untested or not table.pairs or any(is_significant(pair) for pair in table.pairs):
        return table.untested
    how, tests = table.significance, len(table.pairs)
    after = {"holm": " after Holm correction", "fdr": " after Benjamini-Hochberg correction"}
    return (
        f"no difference is significant at {SIGNIFICANT}{after.get(how.correction, '')}: "
        f"{tests} test{'s' * (tests > 1)}, {drawn_text(how)}, smallest attainable p = {how.least_p(tests):.4f}"
    )


class View(NamedTuple):
    """The tables of a comparison for each audience."""

    programs: Callable[[Comparison, Layout], Table]
    readers: Callable[[Comparison, Layout], Made]
    paper: Callable[[Comparison, Layout], Made]


_WHOLE = View(comparison_records, comparison_tables, summary_table)
_PAIRS = View(pair_records, matrix_tables, summary_and_matrices)
_SLICES = {
    "kind": View(kind_records, kind_tables, kind_summary),
    **dict.fromkeys(("fraction", "bucket"), View(lambda tests, layout: Table.of(tests), slice_tables, slice_tables)),
}
"""Views by the key that names the slices."""


def _view_of(tables: Comparison) -> View | None:
    return next((view for name, view in _SLICES.items() if name in tables[0].rows[0]), None)


def _views(audience: Audience) -> Callable[[Comparison, Layout], Made]:
    def make(tables: Comparison, layout: Layout) -> Made:
        view = _view_of(tables) or (_PAIRS if tables[0].significance.all_pairs else _WHOLE)
        tables = tables if audience == "programs" else tables.beside_best()
        if "moment" in tables[0].rows[0] and audience != "programs" and view is _PAIRS:
            return matrix_tables(tables.by_family(), layout)
        if "moment" in tables[0].rows[0] and not layout.columns:
            view = view._replace(readers=slice_tables)
        made: Made = getattr(view, audience)(tables, layout)
        return made

    return make


COMPARERS: Writers[Comparison] = table_writers(
    _views("programs"), readers=_views("readers"), paper=_views("paper"), json=compare_json
)
"""Formats of comparisons, by what is compared."""


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
