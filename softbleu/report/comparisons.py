"""Comparisons of systems: a table of the best first for readers, rows in the order given for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from softbleu.io.progress import note
from softbleu.io.tabular import Records
from softbleu.report.records import (
    DATA_FORMATS,
    Formats,
    Layout,
    Writers,
    json_document,
    p_text,
    records_tsv,
    table_writers,
    with_columns,
)
from softbleu.report.scores import COVERAGE_COUNTS, best_places, coverage_columns, coverage_counts, signature_note

if TYPE_CHECKING:
    from softbleu.results.runs import RunDifference
    from softbleu.results.significance import Comparison, ComparisonTable, Pair, SignificanceSettings

SIGNIFICANT = 0.05
_OTHER_WAY = "for some systems segments and corpus disagree: d has the opposite sign of the difference"
_OF_RUNS = ("kind", "metric", "system", "name", "one", "two", "difference")
_CORRECTIONS = {"holm": "corrected after Holm", "fdr": "corrected after Benjamini and Hochberg"}
_OF_PAIRS = ("difference", "lower", "upper", "p_value", "corrected", "effect", "wins", "ties", "losses")
COMPARISON_COLUMNS: dict[str, Sequence[str]] = {
    "rank": ["rank"],
    "ranks": ["best_rank", "worst_rank"],
    "score": ["score"],
    "mean": ["mean"],
    "interval": ["lower", "upper"],
    "difference": ["difference"],
    "difference-interval": ["difference_lower", "difference_upper"],
    "effect": ["effect"],
    "segments": ["wins", "ties", "losses"],
    "p": ["p_value", "corrected"],
    "vectors": list(COVERAGE_COUNTS),
}
"""Columns that a user may choose by name, and theirs in formats for programs."""


def comparison_tables(tables: Sequence[ComparisonTable], layout: Layout) -> list[Records]:
    """Make a table per metric: a row per system, the best first; a star marks a difference from the baseline."""
    return [_comparison_table(table, layout, [signature_note(table, layout)]) for table in tables]


def matrix_tables(tables: Sequence[ComparisonTable], layout: Layout) -> list[Records]:
    """Make the same, each followed by a matrix of all pairs."""
    return [made for table in tables for made in (_comparison_table(table, layout), _matrix(table, layout))]


def _comparison_table(table: ComparisonTable, layout: Layout, notes: Sequence[str] = ()) -> Records:
    chosen = layout.columns or [name for name in COMPARISON_COLUMNS if name != "mean"]
    made = _table([table], chosen, layout)
    marked = [*made.marked, *((row, 0) for row, _ in made.marked)]
    return replace(made, notes=[*_baseline_notes(table, chosen), *made.notes, *notes], marked=marked)


def summary_tables(tables: Sequence[ComparisonTable], layout: Layout) -> list[Records]:
    """Make one table for a paper: systems × metrics, the best of each metric marked, a star for significance."""
    first, chosen = tables[0], layout.columns or ("score", "vectors")
    made, notes = _table(tables, chosen, layout, starred="p" not in chosen), list[str]()
    tests = len(first.comparisons) - 1
    if tests and {"score", "p"} & set(chosen):
        said = f"* p < {SIGNIFICANT} against {first.baseline}; p {_corrected(first, tests)}"
        notes = [said, *_too_few(first.significance, tests)]
    return [replace(made, notes=[*notes, *made.notes, *(signature_note(table, layout) for table in tables)])]


def _table(
    tables: Sequence[ComparisonTable], chosen: Sequence[str], layout: Layout, *, starred: bool = False
) -> Records:
    """Make a row per system, the best first: of each metric the chosen columns, with notes on coverage."""
    labels, systems = [table.label for table in tables], [row.name for row in _ranked(tables[0])]
    columns: dict[tuple[str, ...], list[str]] = {("", "", "system"): systems}
    best, coverages = [], {}
    for table in tables:
        label = table.label if labels.count(table.label) == 1 else table.metric
        rows = sorted(table.comparisons, key=lambda row: systems.index(row.name))
        digits = _decimals(table, layout)
        cells = [_cells(table, row, digits, starred=starred) for row in rows]
        columns |= {
            (label, name, label if name == "score" else f"{label} {head}" if len(tables) > 1 else head): [
                row[name][head] for row in cells
            ]
            for name in chosen
            for head in cells[0][name]
        }
        places = best_places([row.score for row in rows], digits, higher=table.higher_is_better)
        best += [(place, (label, "score", label)) for place in places]
        coverages[label] = [row.coverage for row in rows]
    covered, notes = coverage_columns(coverages) if "vectors" in chosen else ({}, [])
    if len(tables) > 1:
        # Metrics that look at the same vectors share a column.
        columns = {key: cells_of for key, cells_of in columns.items() if key[1] != "vectors"}
        columns |= {("", "", head): cells_of for head, cells_of in covered.items()}
    marked = [(place, list(columns).index(key)) for place, key in best if key in columns]
    shown = list(zip(*columns.values(), strict=True))
    return Records([head for *_, head in columns], shown, notes=notes, text_columns=1, marked=marked)


def summary_and_matrices(tables: Sequence[ComparisonTable], layout: Layout) -> list[Records]:
    """Make the same, followed by a matrix of all pairs for each metric."""
    return [*summary_tables(tables, layout), *(_matrix(table, layout) for table in tables)]


def _decimals(table: ComparisonTable, layout: Layout) -> int:
    """Decimals of the scores, and of all that is on their scale."""
    return layout.decimals((row.score for row in table.comparisons), in_percent=table.in_percent)


def _ranked(table: ComparisonTable) -> list[Comparison]:
    return sorted(table.comparisons, key=lambda row: row.rank)


def _cells(
    table: ComparisonTable, row: Comparison, digits: int, *, starred: bool = False
) -> dict[str, dict[str, str]]:
    """Show a system: by the names of `COMPARISON_COLUMNS` cells by their heads."""
    pair, (best, worst) = row.beside, row.ranks
    mean, lower, upper = (f"{number:z.{digits}f}" for number in (row.mean, *row.interval))
    star, beside = "", {"difference": "baseline"}
    if pair is not None:
        signed = [f"{number:+z.{digits}f}" for number in (pair.difference, *pair.interval)]
        beside = dict(zip(("difference", "from", "to"), signed, strict=True))
        beside |= {"d": f"{pair.effect:+z.2f}", "+/=/−": f"{pair.wins}/{pair.ties}/{pair.losses}"}
        beside["p"] = _p(pair.corrected)
        star = "*" if starred and pair.corrected < SIGNIFICANT else ""
    return {
        "rank": {"rank": str(row.rank)},
        "ranks": {"ranks": f"{best}–{worst}"},
        "score": {table.label: f"{row.score:z.{digits}f}{star}"},
        "mean": {"mean": mean},
        "interval": {"95% from": lower, "to": upper},
        "difference": {"difference": beside["difference"]},
        "difference-interval": {end: beside.get(end, "") for end in ("from", "to")},
        "effect": {"d": beside.get("d", "")},
        "segments": {"+/=/−": beside.get("+/=/−", "")},
        "p": {"p": beside.get("p", "")},
        "vectors": {head: cell for head, (cell,) in coverage_columns({"": [row.coverage]})[0].items()},
    }


def _p(p_value: float) -> str:
    return p_text(p_value) + ("*" if p_value < SIGNIFICANT else " ")


def _baseline_notes(table: ComparisonTable, chosen: Sequence[str]) -> list[str]:
    """Explain the columns that are shown."""
    tests = len(table.comparisons) - 1
    if not tests:
        return []
    short = {
        "p": f"p: {_corrected(table, tests)}",
        "effect": "d: Cohen's, of segments",
        "segments": "+/=/−: segments better, equal, worse",
        "ranks": "ranks: 95%",
    }
    return [
        *[f"* p < {SIGNIFICANT} against {table.baseline}"] * ("p" in chosen),
        *filter(None, ["; ".join(text for name, text in short.items() if name in chosen)]),
        *[_OTHER_WAY] * ("effect" in chosen and _turns(table)),
        *_too_few(table.significance, tests) * ("p" in chosen),
    ]


def _turns(table: ComparisonTable) -> bool:
    """Whether the segments' scores differ on average the other way than those of the corpus, for some system."""
    pairs = [row.beside for row in table.comparisons if row.beside is not None]
    return any(pair.difference * pair.effect < 0 for pair in pairs)


def _too_few(significance: SignificanceSettings, tests: int) -> list[str]:
    """Say so if none of so many tests can be significant."""
    least = significance.least_p(tests)
    if least < SIGNIFICANT:
        return []
    return [f"no p can be below {least:.4f} here: draw more samples or trials, or correct by fdr"]


def note_few(significance: SignificanceSettings, systems: int, output_format: str) -> None:
    """Note, for formats without notes of their own, that nothing can be significant."""
    if output_format.lower() not in (*DATA_FORMATS, "html"):
        return
    tests = systems * (systems - 1) // 2 if significance.all_pairs else systems - 1
    for said in _too_few(significance.settled(systems), tests) if tests else ():
        note(said)


def _corrected(table: ComparisonTable, tests: int) -> str:
    how = _CORRECTIONS.get(table.significance.correction)
    return "not corrected" if how is None else f"{how} for {tests} test{'s' * (tests > 1)}"


def _matrix(table: ComparisonTable, layout: Layout) -> Records:
    """All pairs, the systems by rank: above the diagonal p, below it the difference of the row from the column."""
    names, digits = [row.name for row in _ranked(table)], _decimals(table, layout)
    rows = []
    for number, name in enumerate(names):
        pairs = [None if other == name else table.pair(name, other) for other in names]
        cells = [
            "" if pair is None else f"{pair.difference:+z.{digits}f}" if index < number else _p(pair.corrected)
            for index, pair in enumerate(pairs)
        ]
        rows.append([f"{number + 1} {name}", *cells])
    tests = len(table.pairs)
    said = f"above the diagonal p, {_corrected(table, tests)}, * p < {SIGNIFICANT}; below it differences"
    notes = [said, *_too_few(table.significance, tests), signature_note(table, layout)]
    return Records([table.label, *map(str, range(1, len(names) + 1))], rows, notes=notes, text_columns=1)


def comparison_records(tables: Sequence[ComparisonTable], layout: Layout) -> Records:
    """Make a row per system (and metric) with all numbers, in the order given."""
    columns = ["system", "score", "mean", "lower", "upper", "p_value", "rank", "best_rank", "worst_rank"]
    columns += ["difference", "difference_lower", "difference_upper", *_OF_PAIRS[4:]]
    covered = any(row.coverage for table in tables for row in table.comparisons)
    rows = []
    for table in tables:
        for row in table.comparisons:
            beside = [None] * len(_OF_PAIRS) if row.beside is None else _pair_cells(row.beside)
            cells = [row.name, row.score, row.mean, *row.interval, row.p_value, row.rank, *row.ranks]
            counts = coverage_counts(row.coverage) if covered else {}
            rows.append([*_named(tables, table), *cells, *beside[:3], *beside[4:], *counts.values()])
    columns += COVERAGE_COUNTS if covered else ()
    return _chosen(Records([*["metric"] * (len(tables) > 1), *columns], rows), layout, COMPARISON_COLUMNS)


def pair_records(tables: Sequence[ComparisonTable], layout: Layout) -> Records:
    """Make a row per pair of systems (and metric) with all numbers."""
    paired = [(table, pair) for table in tables for pair in table.pairs]
    rows = [[*_named(tables, table), pair.name, pair.other, *_pair_cells(pair)] for table, pair in paired]
    table = Records([*["metric"] * (len(tables) > 1), "system", "other", *_OF_PAIRS], rows)
    return _chosen(table, layout, {**COMPARISON_COLUMNS, "interval": (), "difference-interval": ("lower", "upper")})


def _chosen(records: Records, layout: Layout, named: Mapping[str, Sequence[str]]) -> Records:
    """Keep what names a row, and the columns that were chosen, in that order."""
    if not layout.columns:
        return records
    names = ["metric", "system", "other", *(name for column in layout.columns for name in named[column])]
    return with_columns(records, [records.columns.index(name) for name in names if name in records.columns])


def _pair_cells(pair: Pair) -> list[float | str | None]:
    numbers = [pair.difference, *pair.interval, pair.p_value, pair.corrected, pair.effect]
    return [*numbers, pair.wins, pair.ties, pair.losses]


def _named(tables: Sequence[ComparisonTable], table: ComparisonTable) -> list[str]:
    return [table.metric] if len(tables) > 1 else []


def compare_json(tables: Sequence[ComparisonTable], layout: Layout) -> Iterator[str]:
    """Write one JSON object, a system or a pair of systems a line; of several metrics each says which."""
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
        for row in (pair_records([table], layout).records() if layout.columns else map(asdict, table.pairs))
    )
    how = {"baseline": tables[0].baseline, "correction": tables[0].significance.correction}
    return json_document(signature | how, systems=systems, pairs=pairs)


def _system(row: Comparison) -> dict[str, Any]:
    named = {name: value for name, value in asdict(row).items() if name != "coverage"}
    return {**named, "vector_coverage": None if row.coverage is None else row.coverage.as_dict()}


def write_distribution(tables: Sequence[ComparisonTable]) -> Iterator[str]:
    """Write the bootstrap scores as tab-separated values, a column per system (and metric)."""
    names = [
        f"{table.metric}: {row.name}" if len(tables) > 1 else row.name
        for table in tables
        for row in table.comparisons
    ]
    samples = zip(*(scores for table in tables for scores in table.resampled.tolist()), strict=True)
    return records_tsv(Records(names, list(samples)), Layout())


def draw_pairs(tables: Sequence[ComparisonTable], picture_format: str) -> bytes:
    """Draw the p-values of all pairs by each metric, the systems by rank."""
    from softbleu.report.plots import HeatMap, draw, in_rows

    panels = []
    for table in tables:
        names = [row.name for row in _ranked(table)]
        values = [[None if one == other else table.pair(one, other).corrected for other in names] for one in names]
        title = f"{table.label}: p of differences, {_corrected(table, len(table.pairs))}"
        panels.append(HeatMap(title, names, values, note=_nothing_marked(table)))
    return draw(in_rows(panels, 2), picture_format)


def _nothing_marked(table: ComparisonTable) -> str:
    """Why no pair stands out, where none does."""
    if not table.pairs or any(pair.corrected < SIGNIFICANT for pair in table.pairs):
        return ""
    how, tests = table.significance, len(table.pairs)
    after = {"holm": " after Holm's correction", "fdr": " after Benjamini and Hochberg's correction"}
    drawn = f"{how.drawn():,} {'samples' if how.test == 'bootstrap' else 'trials'}"
    return (
        f"no difference is significant at {SIGNIFICANT}{after.get(how.correction, '')}: "
        f"{tests} test{'s' * (tests > 1)}, {drawn}, smallest attainable p = {how.least_p(tests):.4f}"
    )


COMPARERS: Writers[Sequence[ComparisonTable]] = Formats(
    {
        **table_writers(comparison_records),
        **table_writers(comparison_tables, ("text", "markdown")),
        **table_writers(summary_tables, ("latex",)),
        "json": compare_json,
    }
)
MATRIX_WRITERS: Writers[Sequence[ComparisonTable]] = Formats(
    {
        **table_writers(pair_records),
        **table_writers(matrix_tables, ("text", "markdown")),
        **table_writers(summary_and_matrices, ("latex",)),
        "json": compare_json,
    }
)
"""Formats of comparisons of all pairs of systems."""


def difference_records(difference: RunDifference, lines: int | None = None) -> Records:
    """Make a row a change; of each metric so many lines, if there is a limit."""
    rows, shown, left = [], Counter[str](), 0
    for change in difference.changes:
        shown[change.metric] += change.kind == "line"
        if lines is not None and change.kind == "line" and shown[change.metric] > lines:
            left += 1
            continue
        rows.append([getattr(change, name) for name in _OF_RUNS])
    notes = [f"{left:,} further lines changed, here are {lines:,} of each metric"] if left else []
    return Records(_OF_RUNS, rows, difference.described(), "nothing differs", notes=notes, text_columns=4)
