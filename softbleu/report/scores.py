"""Scores: for readers a card or a table per metric, by the metric's columns; for programs every number in full."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from softbleu.errors import counted, one_line
from softbleu.formats import (
    BOLD,
    DIM,
    SCHEMA,
    TABLE_FORMATS,
    Layout,
    Writers,
    dump,
    json_rows,
    lay_out,
    table_writers,
)
from softbleu.report.credit import shown_parts
from softbleu.results.verdicts import best_scores_text, distinct_labels
from softbleu.tables import CELL_FORMS, Table, TableColumn, Value, spread

if TYPE_CHECKING:
    from softbleu.analysis.credit import SoftGain
    from softbleu.corpora.gating import GatedLines
    from softbleu.metrics import Score
    from softbleu.metrics.result import Coverage, Result
    from softbleu.metrics.score import Unit
    from softbleu.results.comparison import Comparison
    from softbleu.results.pairs import PairScores
    from softbleu.results.prefixes import Curve

_STARS = {True: "*", False: ""}
COVERAGE_COUNTS = {
    "candidate_tokens": "candidate_tokens",
    "candidate_tokens_with_vector": "candidate_known",
    "reference_tokens": "reference_tokens",
    "reference_tokens_with_vector": "reference_known",
}
"""Columns of coverage in formats for programs, and their fields."""
_SUFFIXES = {"per cent": "%", "tokens": " tokens"}


def write_text(results: Sequence[Result], layout: Layout) -> Iterator[str]:
    """Write one system as a card, several systems or metrics as one table; first a row per segment at that level."""
    groups = _by_metric(results)
    if len(groups) > 1 and not any(result.parts_of for result in results):
        yield from _table_text(replace(_metric_table(groups, layout), lead=best_scores_text(groups, layout)), layout)
        return
    for number, group in enumerate(groups):
        yield "\n" if number else ""
        if group[0].parts_of:
            yield from _table_text(_part_table(group, layout), layout)
            yield "\nAll segments together:\n\n"
        if len(group) == 1:
            yield from _card(group[0], layout)
            yield from _signed_below(group[0], layout)
        else:
            yield from _table_text(
                replace(_system_table(group, layout), lead=best_scores_text([group], layout)), layout
            )


@dataclass(frozen=True)
class SoftScores:
    """Results by a soft metric, with those by exact matches alone, and the soft gain of a single system."""

    results: Sequence[Result]
    exact: Sequence[Result]
    gain: SoftGain | None = None
    more: str = ""  # Command that shows more about soft matches


def write_soft_text(scores: SoftScores, layout: Layout) -> Iterator[str]:
    """Write scores as `write_text` does, with the scores by exact matches beside them."""
    if len(scores.results) > 1:
        table, first, name = _system_table(scores.results, layout), scores.exact[0], "exact matches"
        beside = TableColumn(name, first.label, "score", _decimals(scores.exact, layout))
        rows = [[*row, result.score] for row, result in zip(table.rows, scores.exact, strict=True)]
        shown = [*table.shown[:2], beside, *table.shown[2:]]
        lead = best_scores_text([scores.results], layout)
        table = replace(table, columns=[*table.columns, name], rows=rows, shown=shown, lead=lead)
        yield from _table_text(table, layout)
        return
    (result,), (exact,) = scores.results, scores.exact
    digits = layout.decimals([exact.score], in_percent=exact.in_percent)
    below = f"{exact.label} {_show(exact.score, 'score', digits)}  with exact matches only\n"
    if scores.gain is None:
        yield from _card(result, layout, below)
    else:
        added, parts = shown_parts(scores.gain, digits)
        yield from _card(result, layout, f"{below}{added} = {' · '.join(map(str, parts))}\n")
        yield f"\nSoft credit by kind{_sampled(scores.gain)}{scores.more and f' (more: {scores.more})'}\n"
        rows = [
            [part.kind, f"{part.share:.1f}%", *map(one_line, (pair.candidate, "~", pair.reference))]
            for part in parts
            if (pair := part.example)
        ]
        yield from (f"{line}\n" for line in lay_out(rows, [False, True, False, False, False]))
    yield from _signed_below(result, layout)


def _signed_below(result: Result, layout: Layout) -> Iterator[str]:
    yield from (f"\n{layout.styled(one_line(note), DIM)}\n" for note in signature_notes([("", result)], layout))


def _sampled(gain: SoftGain) -> str:
    return "" if gain.segments == gain.of else f", in {gain.segments:,} of {gain.of:,} segments"


def write_soft_json(scores: SoftScores, layout: Layout) -> Iterator[str]:
    """Write scores as `write_json` does, with the soft gain of a single system."""
    more: dict[str, object] = {}
    if (gain := scores.gain) is not None:
        kinds = [
            {"kind": part.kind, "points": part.points, "share": part.share}
            | {name: getattr(part.example, name) for name in ("candidate", "reference", "matches", "credit")}
            for part in gain.parts
        ]
        counted = {"exact_score": gain.exact, "added": gain.added, "counted_segments": gain.segments}
        more = {"soft_matches": {**counted, "kinds": kinds}}
    yield from write_json(scores.results, layout, more)


def _table_text(table: Table, layout: Layout) -> Iterator[str]:
    yield from cast("Iterator[str]", TABLE_FORMATS["text"].write(table, layout))


def write_numbers(results: Sequence[Result], layout: Layout) -> Iterator[str]:
    """Write only scores: a line per system with a column per metric, or per segment with a column per result."""
    columns: list[tuple[Result, list[float]]]
    if results[0].parts_of:
        columns = [(result, [score.score for _, score in result.parts()]) for result in results]
    else:
        columns = [(group[0], [result.score for result in group]) for group in _by_metric(results)]
    shown = [
        [f"{score:.{digits}f}" for score in scores]
        for first, scores in columns
        for digits in [layout.decimals(scores, in_percent=first.in_percent)]
    ]
    yield from ("\t".join(row) + "\n" for row in zip(*shown, strict=True))


def write_json(
    results: Sequence[Result], layout: Layout, more: Mapping[str, object] = MappingProxyType({})
) -> Iterator[str]:
    """Write one JSON object, one system or segment per line; `more` is added to each system."""
    several = len(_by_metric(results)) > 1
    signature = {} if several else {"signature": results[0].signature if results else ""}
    yield dump({"schema": SCHEMA, **signature}).removesuffix("}") + ', "systems": ['
    for number, result in enumerate(results):
        yield ",\n" if number else "\n"
        named = {"metric": result.metric} if several or result.parts_of == "segments" else {}
        signed = {"signature": result.signature} if several else {}
        system = dump({"name": result.name, **named, **signed, **_numbers_of(result), **more})
        if not result.parts_of:
            yield system
            continue
        yield system.removesuffix("}") + f', "{result.parts_of}": '
        yield from json_rows(
            {**labels, **score.as_dict(), **counts} for labels, score, counts in result.counted_parts()
        )
        yield "}"
    yield "\n]}\n"


def write_jsonl(results: Sequence[Result], layout: Layout) -> Iterator[str]:
    """Write one JSON object per system, or per segment and system."""
    yield from (f"{dump(row)}\n" for row in _data_rows(results, _numbers_of))


def score_records(results: Sequence[Result], layout: Layout) -> Table:
    """Make a row per system, or per segment and system, with every number; lists have a column per entry."""
    rows = [spread(_in_a_cell(row)) for row in _data_rows(results, _signed_numbers_of)]
    columns = sorted(dict.fromkeys(name for row in rows for name in row), key="signature".__eq__)
    return Table(columns, [[row.get(name) for name in columns] for row in rows])


def _in_a_cell(row: dict[str, object]) -> dict[str, object]:
    """Join the statistics of a segment into one text."""
    numbers = row.get("statistics")
    return {**row, "statistics": " ".join(map(str, numbers))} if isinstance(numbers, Sequence) else row


def _by_metric(results: Sequence[Result]) -> list[list[Result]]:
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.metric, result.label), []).append(result)
    return list(groups.values())


def _rows_of(results: Sequence[Result]) -> Iterator[tuple[dict[str, object], Score, dict[str, object]]]:
    """Yield the parts of all results, part by part."""
    for row in zip(*(result.counted_parts() for result in results), strict=True):
        for result, (labels, score, counts) in zip(results, row, strict=True):
            yield {"system": result.name, **labels}, score, counts


def score_tables(results: Sequence[Result], layout: Layout) -> list[Table]:
    """Make a table per metric with its signature, or one table of several metrics of systems."""
    groups = _by_metric(results)
    if len(groups) > 1 and not any(result.parts_of for result in results):
        return [_metric_table(groups, layout)]
    made = ((group[0], (_part_table if group[0].parts_of else _system_table)(group, layout)) for group in groups)
    return [replace(table, notes=signature_notes([("", first)], layout)) for first, table in made]


def _metric_table(groups: Sequence[Sequence[Result]], layout: Layout) -> Table:
    """Make a row per system and a column per metric; the best scores are highlighted, signatures are notes."""
    by_name = dict(zip(distinct_labels(group[0] for group in groups), groups, strict=True))
    columns, notes = coverage_columns({name: [one.coverage for one in group] for name, group in by_name.items()})
    columns |= gate_columns([result.gated for result in groups[0]])
    empty = next(([f"{one.empty:,}" for one in group] for group in groups if any(one.empty for one in group)), None)
    columns |= {"empty": empty} if empty else {}
    rows = [
        [systems[0].name, *(result.score for result in systems), *(cells[place] for cells in columns.values())]
        for place, systems in enumerate(zip(*groups, strict=True))
    ]
    notes += signature_notes([(name, group[0]) for name, group in by_name.items()], layout)
    shown = [TableColumn("system"), *(_score_column(name, group, layout) for name, group in by_name.items())]
    shown += [TableColumn(name, name) for name in columns]
    return Table(["system", *by_name, *columns], rows, notes=notes, text_columns=1, shown=shown)


def coverage_columns(covered: Mapping[str, Sequence[Coverage | None]]) -> tuple[dict[str, list[str]], list[str]]:
    """Return columns of coverage by metric (shared if the coverage is the same), and notes on the references."""
    distinct: dict[tuple[Coverage, ...], str] = {}
    for name, coverages in covered.items():
        known = tuple(coverage for coverage in coverages if coverage is not None)
        if known:
            distinct.setdefault(known, name)
    names = {coverage: "" if len(distinct) == 1 else f"{name} " for coverage, name in distinct.items()}
    columns = {
        f"{names[known]}vectors": [_percent(one.candidate_known, one.candidate_tokens) for one in known]
        for known in distinct
    }
    # Metrics of edits have no text of references.
    noted = [known for known in distinct if known[0].reference_tokens]
    return columns, [f"{names[known]}with a vector: {_reference_coverage(known[0])}" for known in noted]


def gate_columns(gated: Sequence[GatedLines | None]) -> dict[str, list[str]]:
    """Return columns of the share of lines that a gate changed: in all, and by each rule that changed any."""
    known = [lines for lines in gated if lines is not None]
    rules = [rule for rule in (known[0].counts if known else ()) if any(lines.counts[rule] for lines in known)]
    shares = {"gated": [_percent(lines.lines, lines.segments) for lines in known]} if known else {}
    return shares | {rule: [_percent(lines.counts[rule], lines.segments) for lines in known] for rule in rules}


def _decimals(results: Sequence[Result], layout: Layout) -> int:
    """Choose the decimals for the scores of systems, or of their parts, by one metric."""
    scores = (score.score for result in results for _, score in result.parts())
    whole = [result.score for result in results]
    return layout.decimals(scores if results[0].parts_of else whole, in_percent=results[0].in_percent)


def _score_column(name: str, results: Sequence[Result], layout: Layout) -> TableColumn:
    """Make the column of scores by one metric, the best of several systems highlighted."""
    better = 0 if len(results) == 1 or results[0].parts_of else 1 if results[0].higher_is_better else -1
    return TableColumn(name, name, "score", _decimals(results, layout), better=better)


def _part_table(results: Sequence[Result], layout: Layout) -> Table:
    """Make a row per segment and system, or per reference, segment and system."""
    rows = []
    for labels, score, counts in _rows_of(results):
        shown = {name: _STARS[value] if isinstance(value, bool) else str(value) for name, value in labels.items()}
        rows.append((shown, score, {"gated": counts.get("gated")}))
    return _laid_out(rows, results, layout)


def _system_table(results: Sequence[Result], layout: Layout) -> Table:
    """Make a row per system; the best is highlighted."""
    rows = []
    gated = gate_columns([result.gated for result in results])
    for number, result in enumerate(results):
        covered = {head: cell for head, (cell,) in coverage_columns({"": [result.coverage]})[0].items()}
        covered |= {head: cells[number] for head, cells in gated.items()}
        covered |= {"empty": f"{result.empty:,}"} if result.empty else {}
        rows.append(({"system": result.name}, result.numbers, covered))
    _, notes = coverage_columns({"": [results[0].coverage]})
    notes = [*notes, *signature_notes([("", results[0])], layout)]
    return replace(_laid_out(rows, results, layout), notes=notes, also="system")


def _laid_out(
    rows: Iterable[tuple[Mapping[str, object], Score, Mapping[str, object]]],
    results: Sequence[Result],
    layout: Layout,
) -> Table:
    """Make a row per score, between its labels and further cells; empty columns are left out."""
    label, made, columns = results[0].label, list[dict[str, object]](), dict[str, TableColumn]()
    for labels, score, more in rows:
        forms, values = _values(score)
        made.append({**labels, label: score.score, **values, **more})
        for name, value in made[-1].items():
            if value is not None and name not in columns:
                columns[name] = TableColumn(name, name, forms.get(name, ""))
    columns[label] = _score_column(label, results, layout)
    digits = columns[label].digits
    return Table.of(made, [*columns], shown=[*columns.values()], text_columns=1, digits=digits)


def _values(score: Score) -> tuple[dict[str, Unit], dict[str, object]]:
    """Return the units and values of the columns by their heads; lists first, order by order."""
    units: dict[str, Unit] = {}
    orders: dict[int, dict[str, object]] = {}
    others: dict[str, object] = {}
    for column in score.columns():
        value = getattr(score, column.name)
        if column.short and isinstance(value, list):
            for n, entry in enumerate(value, start=1):
                orders.setdefault(n, {})[f"{column.short}{n}"] = entry
                units[f"{column.short}{n}"] = column.unit
        elif column.short:
            others[column.short], units[column.short] = value, column.unit
    return units, {name: value for entries in orders.values() for name, value in entries.items()} | others


def _card(result: Result, layout: Layout, beside: str = "") -> Iterator[str]:
    """Write everything about one system; `beside` stands below the score."""
    score, digits = result.numbers, layout.decimals([result.score], in_percent=result.in_percent)
    head = f"{result.label} {_show(score.score, 'score', digits)}"
    yield f"{layout.styled(one_line(head), BOLD)}  {one_line(result.name)}\n{beside}\n"
    shown = [(column, getattr(score, column.name)) for column in score.columns() if column.title]
    lists = [
        [column.title, *(_show(entry, column.unit, digits) for entry in value)]
        for column, value in shown
        if isinstance(value, list)
    ]
    if lists:
        if result.label.endswith("(macro)"):
            yield "The score is the mean of the segments' scores; the numbers below are of all segments together:\n\n"
        width = max(map(len, lists))
        (each, *_) = [column.each for column, value in shown if isinstance(value, list)]
        rows = [
            [each, *(result.causes or map(str, range(1, width)))],
            *(row + [""] * (width - len(row)) for row in lists),
        ]
        rows = [*map(list, zip(*rows, strict=True))] if result.causes else rows  # Names are long
        yield from (f"{line}\n" for line in lay_out(rows, [False] + [True] * (len(rows[0]) - 1), gap="   "))
        yield "\n"
    entries = [
        [column.title, _show(value, column.unit, digits) + _SUFFIXES.get(column.unit, "")]
        for column, value in shown
        if value is not None and not isinstance(value, list)
    ]
    coverage = result.coverage
    if coverage is not None:
        candidate = _share(coverage.candidate_known, coverage.candidate_tokens)
        references = [_reference_coverage(coverage)] if coverage.reference_tokens else []
        entries.append(["with a vector", ", ".join((candidate, *references))])
    if result.gated is not None:
        entries.append(["gated", str(result.gated)])
    if result.empty:
        entries.append(["empty", counted(result.empty, "output")])
    yield from (f"{line}\n" for line in lay_out([list(map(one_line, entry)) for entry in entries], [False, False]))


def _show(value: object, unit: Unit, digits: int) -> str:
    """Format a number by its unit; exact matches are whole numbers.

    >>> _show(0.5, "per cent", 2), _show(1234.0, "count", 2), _show(0.5, "ratio", 2), _show(7.5, "tokens", 2)
    ('0.50', '1,234', '0.5000', '7.5')
    """
    return CELL_FORMS[unit](value, digits, {})


def signature_notes(named: Iterable[tuple[str, Result | Comparison | Curve]], layout: Layout) -> list[str]:
    """Format the short or the long signature of each result behind its name, or the note in their place."""
    if layout.unsigned:
        return [layout.unsigned]
    signed = ((name, one.signature if layout.long_signature else one.short_signature) for name, one in named)
    return [f"{name} signature: {signature}".lstrip() for name, signature in signed]


def _reference_coverage(coverage: Coverage) -> str:
    """Format the share of reference tokens with a vector, and the number of words whose vector is zero."""
    zero = f"; words whose vector is zero: {coverage.zero_words:,}" if coverage.zero_words else ""
    return f"references {_share(coverage.reference_known, coverage.reference_tokens)}{zero}"


def _percent(part: int, whole: int) -> str:
    """Format a share."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def _share(part: int, whole: int) -> str:
    """Format a share with its counts.

    >>> _share(588, 1200)
    '588 of 1,200 tokens (49.0%)'
    """
    return f"{part:,} of {whole:,} tokens ({_percent(part, whole)})"


def _data_rows(
    results: Sequence[Result], numbers_of: Callable[[Result], dict[str, object]]
) -> Iterator[dict[str, object]]:
    """Yield rows of systems, or of segments and systems, with the metric's name if there are several.

    `better` is added where lower is better.
    """
    groups = _by_metric(results)
    for group in groups:
        named = {"metric": group[0].metric} if len(groups) > 1 or group[0].parts_of == "segments" else {}
        better = {} if group[0].higher_is_better else {"better": "lower"}
        if group[0].parts_of:
            parts = _rows_of(group)
            yield from ({**labels, **named, **score.as_dict(), **better, **counts} for labels, score, counts in parts)
        else:
            yield from ({"system": result.name, **named, **numbers_of(result), **better} for result in group)


def _numbers_of(result: Result) -> dict[str, object]:
    coverage = None if result.coverage is None else result.coverage.as_dict()
    gated = {} if result.gated is None else {"gated": result.gated.as_dict()}
    return {**result.numbers.as_dict(), "vector_coverage": coverage, **gated, **_empty_of(result)}


def _empty_of(result: Result) -> dict[str, object]:
    return {} if result.empty is None else {"empty": result.empty}


def _signed_numbers_of(result: Result) -> dict[str, object]:
    counts = coverage_counts(result.coverage) if result.coverage is not None else {}
    gated = {} if result.gated is None else result.gated.cells()
    return result.numbers.as_dict() | counts | gated | _empty_of(result) | {"signature": result.signature}


def coverage_counts(coverage: Coverage | None) -> dict[str, int | None]:
    """Return the columns of `COVERAGE_COUNTS`."""
    return {name: getattr(coverage, field, None) for name, field in COVERAGE_COUNTS.items()}


WRITERS: Writers[Sequence[Result]] = table_writers(
    score_records, readers=score_tables, text=write_text, json=write_json, jsonl=write_jsonl
)


def matrix_records(scores: PairScores) -> Table:
    """Make a row per candidate and a column per reference."""
    return _signed(replace(Table.of(scores), verbatim=scores.references), scores)


def text_pair_records(lists: Iterable[PairScores]) -> Table:
    """Make a row per pair in each list."""
    listed = list(lists)
    columns = ["segment", "candidate", "reference", "score"]
    return _signed(Table(columns, _PairRows(listed), listed[0].described()), listed[0])


@dataclass(frozen=True)
class _PairRows(Sequence[Sequence[Value]]):
    """Rows that are made when they are read; they take many times the memory of their scores."""

    lists: Sequence[PairScores]

    def __len__(self) -> int:
        return sum(scored.scores.size for scored in self.lists)

    def __iter__(self) -> Iterator[Sequence[Value]]:
        for number, scored in enumerate(self.lists, start=1):
            for one, row in zip(scored.candidates, scored.scores.tolist(), strict=True):
                for other, score in zip(scored.references, row, strict=True):
                    yield number, one, other, score

    def __getitem__(self, place: Any) -> Any:
        return list(self)[place]


def _signed(table: Table, scores: PairScores) -> Table:
    return replace(table, background=["signature"], notes=[f"signature: {scores.short_signature}"])
