"""Comparisons of systems: a table of the best first for people, rows in the order given for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from softbleu.io.progress import note
from softbleu.io.tabular import Records
from softbleu.report.records import DATA_FORMATS, SCHEMA, dump, json_rows, records_tsv

if TYPE_CHECKING:
    from softbleu.report.layout import Layout
    from softbleu.results import Comparison, ComparisonTable, Pair, SignificanceSettings

SIGNIFICANT = 0.05
_LEAST_SHOWN = 0.001  # Below it people are shown no digits of p, which depend on the number of samples alone
_CORRECTIONS = {"holm": "corrected after Holm", "fdr": "corrected after Benjamini and Hochberg"}
_OF_PAIRS = ("difference", "lower", "upper", "p_value", "corrected", "effect", "wins", "ties", "losses")


def comparison_tables(tables: Sequence[ComparisonTable], layout: Layout) -> list[Records]:
    """Make a table a metric: a row a system, the best first."""
    return [_comparison_table(table, layout) for table in tables]


def matrix_tables(tables: Sequence[ComparisonTable], layout: Layout) -> list[Records]:
    """Make the same, each followed by a matrix of all pairs."""
    found = []
    for table in tables:
        found += [replace(_comparison_table(table, layout), notes=_baseline_notes(table)), _matrix(table, layout)]
    return found


def summary_tables(tables: Sequence[ComparisonTable], layout: Layout) -> list[Records]:
    """Make one table for a paper: systems × metrics, the best of each metric marked, a star for significance."""
    first, names = tables[0], [row.name for row in _ranked(tables[0])]
    by_name = [{row.name: row for row in table.comparisons} for table in tables]
    rows = [[name, *(_starred(rows[name], layout.digits) for rows in by_name)] for name in names]
    best = [(names.index(row.name), n) for n, t in enumerate(tables, 1) for row in t.comparisons if row.rank == 1]
    columns = [each.label if [t.label for t in tables].count(each.label) == 1 else each.metric for each in tables]
    tests = len(first.comparisons) - 1
    said = f"* p < {SIGNIFICANT} against {first.baseline}; p {_corrected(first, tests)}"
    notes = [said, *_too_few(first.significance, tests)] if tests else []
    notes += [_signature(table, layout) for table in tables]
    return [Records(["system", *columns], rows, notes=notes, text_columns=1, marked=best)]


def summary_and_matrices(tables: Sequence[ComparisonTable], layout: Layout) -> list[Records]:
    """Make the same, followed by a matrix of all pairs for each metric."""
    return [*summary_tables(tables, layout), *(_matrix(table, layout) for table in tables)]


def _starred(row: Comparison, digits: int) -> str:
    significant = row.beside is not None and row.beside.corrected < SIGNIFICANT
    return f"{row.score:z.{digits}f}{'*' if significant else ''}"


def _ranked(table: ComparisonTable) -> list[Comparison]:
    return sorted(table.comparisons, key=lambda row: row.rank)


def _comparison_table(table: ComparisonTable, layout: Layout) -> Records:
    """Make a row a system; a star marks a difference from the baseline with p < 0.05."""
    rows = []
    ordered = _ranked(table)
    for row in ordered:
        scores = [f"{number:.{layout.digits}f}" for number in (row.score, *row.interval)]
        best, worst = row.ranks
        rows.append([row.name, str(row.rank), f"{best}–{worst}", *scores, *_beside(row.beside, layout.digits)])
    columns = ["system", "rank", "ranks", table.label, "95% from", "to"]
    return Records(
        [*columns, "difference", "from", "to", "d", "+/=/−", "p"],
        rows,
        notes=[*_baseline_notes(table), _signature(table, layout)],
        text_columns=1,
        marked=[(number, column) for number, row in enumerate(ordered) if row.rank == 1 for column in (0, 3)],
    )


def _beside(pair: Pair | None, digits: int) -> list[str]:
    if pair is None:
        return ["baseline", *[""] * 5]
    numbers = [f"{number:+z.{digits}f}" for number in (pair.difference, *pair.interval)]
    return [*numbers, f"{pair.effect:+z.2f}", f"{pair.wins}/{pair.ties}/{pair.losses}", _p(pair.corrected)]


def _p(p_value: float) -> str:
    return (f"{p_value:.4f}" if p_value >= _LEAST_SHOWN else f"< {_LEAST_SHOWN}") + (
        "*" if p_value < SIGNIFICANT else " "
    )


def _baseline_notes(table: ComparisonTable) -> list[str]:
    tests = len(table.comparisons) - 1
    if not tests:
        return []
    return [
        f"* p < {SIGNIFICANT} against {table.baseline}",
        f"p: {_corrected(table, tests)}; d: Cohen's, of segments; +/=/−: segments better, alike, worse; ranks: 95%",
        *_too_few(table.significance, tests),
    ]


def _too_few(significance: SignificanceSettings, tests: int) -> list[str]:
    """Say so if none of so many tests can be significant."""
    least = significance.least_p(tests)
    if least < SIGNIFICANT:
        return []
    return [f"no p can be below {least:.4f} here: draw more (--samples, --trials), or take --correction fdr"]


def note_few(significance: SignificanceSettings, systems: int, output_format: str, *, all_pairs: bool) -> None:
    """Note, for formats without notes of their own, that nothing can be significant."""
    if output_format.lower() not in (*DATA_FORMATS, "html"):
        return
    tests = systems * (systems - 1) // 2 if all_pairs else systems - 1
    for said in _too_few(significance.settled(systems), tests) if tests else ():
        note(said)


def _corrected(table: ComparisonTable, tests: int) -> str:
    how = _CORRECTIONS.get(table.significance.correction)
    return "not corrected" if how is None else f"{how} for {tests} test{'s' * (tests > 1)}"


def _signature(table: ComparisonTable, layout: Layout) -> str:
    return f"signature: {table.signature if layout.long_signature else table.short_signature}"


def _matrix(table: ComparisonTable, layout: Layout) -> Records:
    """All pairs, the systems by rank: above the diagonal p, below it the difference of the row from the column."""
    names = [row.name for row in _ranked(table)]
    rows = []
    for number, name in enumerate(names):
        pairs = [None if other == name else table.pair(name, other) for other in names]
        cells = [
            "" if pair is None else f"{pair.difference:+z.{layout.digits}f}" if index < number else _p(pair.corrected)
            for index, pair in enumerate(pairs)
        ]
        rows.append([f"{number + 1} {name}", *cells])
    tests = len(table.pairs)
    said = f"above the diagonal p, {_corrected(table, tests)}, * p < {SIGNIFICANT}; below it differences"
    notes = [said, *_too_few(table.significance, tests), _signature(table, layout)]
    return Records([table.label, *map(str, range(1, len(names) + 1))], rows, notes=notes, text_columns=1)


def comparison_records(tables: Sequence[ComparisonTable], layout: Layout) -> Records:
    """Make a row a system (and metric) with all numbers, in the order given."""
    columns = ["system", "score", "mean", "lower", "upper", "p_value", "rank", "best_rank", "worst_rank"]
    more = ["difference", "difference_lower", "difference_upper", *_OF_PAIRS[4:]]
    rows = []
    for table in tables:
        for row in table.comparisons:
            beside = [None] * len(_OF_PAIRS) if row.beside is None else _pair_cells(row.beside)
            cells = [row.name, row.score, row.mean, *row.interval, row.p_value, row.rank, *row.ranks]
            rows.append([*_named(tables, table), *cells, *beside[:3], *beside[4:]])
    return Records([*["metric"] * (len(tables) > 1), *columns, *more], rows)


def pair_records(tables: Sequence[ComparisonTable], layout: Layout) -> Records:
    """Make a row a pair of systems (and metric) with all numbers."""
    found = [(table, pair) for table in tables for pair in table.pairs]
    rows = [[*_named(tables, table), pair.name, pair.other, *_pair_cells(pair)] for table, pair in found]
    return Records([*["metric"] * (len(tables) > 1), "system", "other", *_OF_PAIRS], rows)


def _pair_cells(pair: Pair) -> list[float | str | None]:
    numbers = [pair.difference, *pair.interval, pair.p_value, pair.corrected, pair.effect]
    return [*numbers, pair.wins, pair.ties, pair.losses]


def _named(tables: Sequence[ComparisonTable], table: ComparisonTable) -> list[str]:
    return [table.metric] if len(tables) > 1 else []


def compare_json(tables: Sequence[ComparisonTable], layout: Layout) -> Iterator[str]:
    """Write one JSON object, a system or a pair of systems a line; of several metrics each says which."""
    several = len(tables) > 1
    signature = "" if several else f'"signature": {dump(tables[0].signature)}, '
    yield f'{{"schema": {SCHEMA}, {signature}"baseline": {dump(tables[0].baseline)}, '
    yield f'"correction": {dump(tables[0].significance.correction)}, "systems": '
    yield from json_rows(
        {"metric": table.metric, "signature": table.signature, **asdict(row)} if several else asdict(row)
        for table in tables
        for row in table.comparisons
    )
    yield ', "pairs": '
    yield from json_rows(
        {"metric": table.metric, **asdict(pair)} if several else asdict(pair)
        for table in tables
        for pair in table.pairs
    )
    yield "}\n"


def write_distribution(tables: Sequence[ComparisonTable]) -> Iterator[str]:
    """Write the bootstrap scores as tab-separated values, a column a system (and metric)."""
    from softbleu.report.layout import Layout

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
