"""Self-contained HTML pages: scores, odd segments, and systems in several directions.

The page of scores has every segment with its matches, and a slider for the threshold. The page of odd segments lists
them by failed check; the page of directions is a sortable table.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from html import escape
from importlib.resources import files
from itertools import chain, groupby
from typing import TYPE_CHECKING

import numpy as np

from softbleu import report
from softbleu.corpora.checks import Oddities, Oddity
from softbleu.corpora.detectors import DETECTORS
from softbleu.errors import counted, one_line
from softbleu.formats import NUMBER, Layout, as_html, dump
from softbleu.metrics.protocols import BleuFormula, in_percent
from softbleu.report.credit import shown_parts
from softbleu.results.verdicts import headline, join_names, make_verdicts
from softbleu.tables import Table, TableColumn, Value
from softbleu.version import __version__

if TYPE_CHECKING:
    from softbleu.analysis.credit import SoftGain
    from softbleu.analysis.directions import DirectionTable
    from softbleu.analysis.marks import LineMarks, Similarities
    from softbleu.metrics.result import Result
    from softbleu.report.pages import Page, PageTable
    from softbleu.types import Fields, Integers


_SCRIPTS = ("score.js", "data.js", "tables.js", "lines.js", "overview.js", "report.js")
_PART_DIGITS = 4
_LEVEL = 6  # Of compression; level 9 takes four times as long and saves 1%
_TEXT = ("words", "glue", "scores", "parts")  # Data that are text of the corpus, or numbers
_ESCAPES = {char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def write_html(page: Page, layout: Layout) -> Iterator[str]:
    """Write a page that needs no other file and no network.

    Text and names are data of the page's script, which shows them as text only. A content security policy forbids
    other scripts and any loading. The same page gives the same bytes.
    """
    data = f'{escape_json(dump(page_data(page, layout)))[:-1]}, "packed": {pack(_columns(page))}}}'
    drawn = [piece for chart in page.charts for piece in report.charts.draw_chart(chart)]
    charts = page_section("Quality and latency", drawn) if drawn else ""
    return _filled("report.html", _SCRIPTS, {"data": data, "charts": charts})


def _filled(template: str, names: Sequence[str], parts: Mapping[str, str | Iterable[str]]) -> Iterator[str]:
    """Fill a template with parts, the style, scripts of these names, and a policy that allows them.

    Parts are not escaped. All are made before the first is given: a page is written whole or not at all.
    """
    style, scripts = _read_part("report.css"), list(map(_read_part, names))
    allowed = f"script-src {' '.join(map(_content_hash, scripts))}; " if scripts else ""
    allowed += f"style-src {_content_hash(style)}"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    shown = "".join(f"<script>{script}</script>\n" for script in scripts)
    parts = {"style": style, "policy": policy, "scripts": shown, **parts}
    # Odd pieces are names of parts.
    pieces = enumerate(re.split(r"\{\{(\w+)\}\}", _read_part(template)))
    filled = [parts[piece] if number % 2 else piece for number, piece in pieces]
    return iter([piece for part in filled for piece in ([part] if isinstance(part, str) else part)])


def escape_json(text: str) -> str:
    r"""Escape JSON so that HTML parsers see no tag, comment or end of line in it.

    >>> print(escape_json('"</script> & \u2028"'))
    "\u003c/script\u003e \u0026 \u2028"
    """
    return re.sub("[<>&\u2028\u2029]", lambda match: _ESCAPES[match[0]], text)


def page_data(page: Page, layout: Layout) -> dict[str, object]:
    """Return the data of the page's script as JSON values; `pack` writes the columns."""
    scores, text = page.scores, page.text
    result, swept, digits = scores.results[0], page.matches.thresholds, _decimals(page, layout)
    made = {
        "version": __version__,
        "label": result.label,
        "signature": result.signature,
        "segment_signature": scores.segment_signature,
        "title": page.title,
        "pair": page.pair,
        "higher": scores.metric.higher_is_better,
        "metric": _metric_of(page),
        "digits": digits,
        "thresholds": [_name(threshold) for threshold in swept.values],
        "run": swept.run,
        "slider": _slider_note(page),
        "significance": {"samples": scores.significance.samples, "seed": scores.significance.seed},
        "systems": [_system(page, number, result) for number, result in enumerate(scores.results)],
        "gated": _gated_text(scores.results),
        "segments": text.segments,
        "shown": len(text),
        "numbers": None if len(text) == text.segments else (text.numbers + 1).tolist(),
        "verdict": _verdict_data(page, layout),
        "too_long": page.matches.too_long,
        "glue": scores.metric.tokenizer.glue,
        "language": text.language,
        "plain": text.plain,
        "words": text.tokens.words,
        "scores": [[_shown(score) for score in row] for row in scores.segments],
        "parts": {
            name: [[_shown(round(value, _PART_DIGITS)) for value in row] for row in values]
            for name, values in scores.parts.items()
        },
        "marks": _named(page.marks, "kinds", "labels", "title", "pairs"),
        "heat": _named(page.similarities, "labels", "steps"),
        "gains": [None if gain is None else _gain(gain, digits) for gain in page.gains],
        "tables": [_table(table, digits) for table in page.tables],
        "labels": {first.metric: first.label for first, *_ in (scores.results, *scores.others)},
    }
    return {name: value if name in _TEXT else _visible(value) for name, value in made.items()}


def _gated_text(results: Sequence[Result]) -> str:
    """Count the outputs of each system that a gate changed; empty without a gate."""
    gated = [(one.name, one.gated.lines) for one in results if one.gated is not None]
    changed = [f"{lines:,} of {name}" for name, lines in gated if lines]
    return join_names(changed) if changed else "none" * bool(gated)


def _verdict_data(page: Page, layout: Layout) -> dict[str, object] | None:
    """Return what a comparison found, by number of the system; None for pages without tests."""
    if not page.compared:
        return None
    swept, names = page.matches.thresholds, [result.name for result in page.scores.results]
    at = _name(swept.values[swept.run]) if swept.values else ""
    verdicts = make_verdicts(page.compared, layout, at)
    shown = [None if verdict is None else asdict(verdict) for verdict in map(verdicts.get, names)]
    first, lines = page.compared[0], page.differences
    return {
        "baseline": names.index(first.baseline),
        "headline": headline(page.compared, layout, at),
        "systems": shown,
        "step": None if lines is None else lines.step,
        "counts": [] if lines is None else lines.counts.tolist(),
        "effects": [] if lines is None else lines.effects.round(6).tolist(),
    }


def _gain(gain: SoftGain, digits: int) -> dict[str, object]:
    """Return the soft gain of a system, as `score` prints it."""
    added, parts = shown_parts(gain, digits)
    examples = [pair and f"{pair.candidate} ~ {pair.reference}" for pair in (part.example for part in parts)]
    shown = [[part.kind, part.points, example] for part, example in zip(parts, examples, strict=True)]
    return {"exact": gain.exact, "added": added, "parts": shown, "segments": gain.segments, "of": gain.of}


def _named(value: LineMarks | Similarities | None, *names: str) -> dict[str, object] | None:
    return None if value is None else {name: getattr(value, name) for name in names}


def _visible(value: object) -> object:
    """Make all characters of names visible, and missing numbers None."""
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, float):
        return _shown(value)
    if isinstance(value, dict):
        return {key: _visible(part) for key, part in value.items()}
    return [*map(_visible, value)] if isinstance(value, list | tuple) else value


def _decimals(page: Page, layout: Layout) -> int:
    scores = (result.score for result in page.scores.results)
    return layout.decimals(scores, in_percent=in_percent(page.scores.metric))


def _shown(score: float) -> float | None:
    """Return the score, None for NaN."""
    return score if score == score else None


def pack(columns: Mapping[str, Integers]) -> str:
    """Write columns of whole numbers from 0 as JSON: in the smallest type, compressed, as base64.

    >>> pack({"row": np.array([0, 1]), "mass": np.array([1_000_000, 7])})[:54]
    '{"columns": [["row", 1, 2], ["mass", 4, 2]], "data": "'
    """
    widths = [next(n for n in (1, 2, 4) if column.max(initial=0) < 1 << 8 * n) for column in columns.values()]
    entries = [[name, width, len(column)] for width, (name, column) in zip(widths, columns.items(), strict=True)]
    parts = [column.astype(f"<u{width}").tobytes() for width, column in zip(widths, columns.values(), strict=True)]
    data = base64.b64encode(zlib.compress(b"".join(parts), _LEVEL)).decode("ascii")
    return f'{{"columns": {escape_json(dump(entries))}, "data": "{data}"}}'


def _columns(page: Page) -> dict[str, Integers]:
    text, order, matches = page.text.tokens, page.matches.order, page.matches.found
    lines = [*text.candidates, text.references, *([] if text.source is None else [text.source])]
    rows = len(text) * len(text.candidates)
    groups = matches.row.astype(np.int64) * order + matches.order - 1
    return {
        "words": np.concatenate([tokens.codes for tokens in lines]),
        "blanks": page.text.blanks,
        "lengths": np.concatenate([tokens.lengths for tokens in lines]),
        "references": np.diff(text.offsets),
        # Lengths and totals; the page sums the matches.
        "statistics": page.scores.rows.reshape(-1),
        "counts": np.bincount(groups, minlength=rows * order),
        "start": matches.start,
        "mass": matches.matched,
        "partner": matches.partner,
        "partner_order": matches.partner_order,
        "first": matches.first,
        "end": matches.end,
        **_mark_columns(page, rows),
    }


def _mark_columns(page: Page, rows: int) -> dict[str, Integers]:
    columns: dict[str, Integers] = {}
    if (marks := page.marks) is not None:
        columns["marks"] = np.bincount(marks.row, minlength=rows)
        for name in ("side", "start", "length", "kind", "link", "label", "share"):
            columns[f"mark_{name}"] = getattr(marks, name)
    if (heat := page.similarities) is not None:
        for name in ("heights", "widths", "names", "values"):
            columns[f"heat_{name}"] = getattr(heat, name)
    return columns


def _table(table: PageTable, digits: int) -> dict[str, object]:
    """Format the cells of a table."""
    columns = [name for name in dict.fromkeys(name for row in table.rows for name in row) if name != "floor"]
    cells = [[TableColumn(name, missing="–").cell(row, digits) for name in columns] for row in table.rows]
    numeric = [not any(isinstance(row.get(name), str) for row in table.rows) for name in columns]
    values = [[_exact(row.get(name)) for name in columns] for row in table.rows]
    shown = {"columns": columns, "numeric": numeric, "rows": cells, "values": values, "why": table.why}
    return {"title": table.title, "notes": table.note.splitlines(), **shown}


def _exact(value: object) -> str:
    """Return a value in full, for files."""
    if isinstance(value, tuple):
        return " ".join(map(_exact, value))
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _metric_of(page: Page) -> dict[str, object]:
    metric, segment_metric = page.scores.metric, page.scores.segment_metric
    credit = np.sum([gain.by_order for gain in page.gains if gain is not None] or [[0]], axis=0)
    opens = 1 + int(credit.argmax())  # The order that earns most of the soft credit
    named = {"name": metric.name, "order": page.matches.order, "opens": opens}
    if not isinstance(metric, BleuFormula) or not isinstance(segment_metric, BleuFormula):
        return named
    return {
        **named,
        "smooth": metric.smooth,
        "smooth_value": metric.smooth_value,
        "effective": metric.effective_order,
        "segment_effective": segment_metric.effective_order,
    }


def _slider_note(page: Page) -> str:
    """Return a note on the matches of a metric whose score does not follow from them; empty for others."""
    if page.matches.thresholds.values or not page.matches.order or isinstance(page.scores.metric, BleuFormula):
        return ""
    return "Matches are against all references together; scores are computed by the metric's own rules."


def _name(threshold: float) -> str:
    """Format hundredths with two digits, other thresholds in full.

    >>> _name(0.8), _name(0.53125)
    ('0.80', '0.53125')
    """
    return max(f"{threshold:.2f}", repr(threshold), key=len)


def _system(page: Page, number: int, result: Result) -> dict[str, object]:
    score, coverage = result.numbers, result.coverage
    if page.matches.order:
        names = ("precisions", "brevity_penalty", "candidate_length", "reference_length", "totals")
        numbers = {name: getattr(score, name) for name in names} | {"masses": page.matches.clipped[number].tolist()}
    else:
        numbers = {
            "parts": [[name, value] for name, value in score.shown().items() if isinstance(value, int | float)]
        }
    return {
        "name": result.name,
        "score": score.score,
        "interval": page.scores.intervals[number],
        "ranks": page.scores.ranks[number] if page.scores.ranks else None,
        "coverage": None if coverage is None else [coverage.candidate_known, coverage.candidate_tokens],
        **numbers,
    }


def _read_part(name: str) -> str:
    """Read a script, a style or a template."""
    return files("softbleu.report").joinpath("page", name).read_text(encoding="utf-8")


def _content_hash(text: str) -> str:
    """Return the hash of a script or style for a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def static_page(
    title: str,
    summary: str,
    content: Iterable[str],
    *scripts: str,
    verdict: str | None = None,
    notes: Iterable[str] = (),
) -> Iterator[str]:
    """Make a page of HTML content below a verdict and above notes; it loads nothing and runs only these scripts."""
    said = [] if verdict is None else [f'<p id="verdict">{visible_html(verdict)}</p>\n']
    parts = {
        "title": visible_html(title),
        "summary": visible_html(summary),
        "version": __version__,
        "content": chain(said, content, page_notes(notes)),
    }
    return _filled("static.html", scripts, parts)


def write_odd_segments(odd: Oddities, layout: Layout) -> Iterator[str]:
    """Write a page without scripts that needs no other file and no network."""
    systems = counted(len(odd.systems), "system")
    found = f"{odd.segments:,} segments each, {len(odd.oddities):,} oddities"
    return static_page(f"Odd segments of {systems}", found, _odd_content(odd))


def _odd_content(odd: Oddities) -> Iterator[str]:
    table = Table.of(odd)
    yield from page_section("Systems", page_table(table))
    meanings = {"odd": "lines that fail one check or more"}
    meanings |= {name: DETECTORS[name].meaning for name in table.columns[3:]}
    yield from page_section("Columns", explained(meanings))
    by_check = {name: [entry for entry in odd.oddities if entry.check == name] for name in table.columns[3:]}
    for name, entries in by_check.items():
        yield from page_section(name, _details(entries))


def page_notes(notes: Iterable[str]) -> Iterator[str]:
    """Write notes in paragraphs of their own."""
    return (f'<p class="note">{visible_html(note)}</p>\n' for note in notes)


def page_fold(summary: str, content: Iterable[str], *, opened: bool = False) -> Iterator[str]:
    """Fold HTML content below a summary."""
    yield f"<details{' open' * opened}><summary>{visible_html(summary)}</summary>\n"
    yield from content
    yield "</details>\n"


def explained(meanings: Mapping[str, str]) -> Iterator[str]:
    """List names with their meanings."""
    yield "<dl>\n"
    yield from (f"<dt>{visible_html(name)}</dt><dd>{visible_html(text)}</dd>\n" for name, text in meanings.items())
    yield "</dl>\n"


def visible_html(text: str) -> str:
    """Escape a text for HTML, with all characters visible."""
    return escape(one_line(text))


def page_section(title: str, content: Iterable[str]) -> Iterator[str]:
    """Make a section of a page from HTML content."""
    yield f"<section>\n<h2>{visible_html(title)}</h2>\n"
    yield from content
    yield "</section>\n"


def _details(entries: Sequence[Oddity]) -> Iterator[str]:
    """List the odd segments of each system, collapsed."""
    ranked = sorted(entries, key=lambda entry: entry.system)
    for system, group in groupby(ranked, key=lambda entry: entry.system):
        found = Table.of(map(vars, group), ("segment", "detail", "output"))
        yield from page_fold(f"{system}: {len(found.rows):,}", page_table(found))


def page_table(table: Table, layout: Layout | None = None) -> Iterator[str]:
    """Make a scrolling table of a page."""
    yield '<div class="scroll" tabindex="0">'
    yield from as_html(replace(table, facts={}, notes=[]), layout or Layout())
    yield "</div>\n"


def sortable_table(table: Table, label: str, cell: Callable[[TableColumn, Fields], tuple[str, str]]) -> Iterator[str]:
    """Make a table that is sorted by a click on a head; `cell` gives the class and the HTML of a number."""
    heads = "".join(
        f'<th scope="col"{NUMBER * (number > 0)}><button type="button">{visible_html(column.title)}</button></th>'
        for number, column in enumerate(table.seen)
    )
    yield f'<div class="scroll wide" role="region" aria-label="{label}" tabindex="0"><table>\n'
    yield f"<thead><tr>{heads}</tr></thead>\n<tbody>\n"
    first, *others = table.seen
    for row in table.named_rows():
        name = visible_html(str(row[first.name]))
        cells = [f'<th scope="row" data-value="{name}"><bdi>{name}</bdi></th>']
        for column in others:
            value = row[column.name]
            if value is None or value != value:
                cells.append('<td class="number" data-value="">–</td>')
            else:
                kind, shown = cell(column, row)
                cells.append(f'<td class="number{kind}" data-value="{value!r}">{shown}</td>')
        yield f"<tr>{''.join(cells)}</tr>\n"
    yield "</tbody>\n</table></div>\n"


def direction_records(table: DirectionTable, layout: Layout) -> Table:
    """Make a row per system and a column per metric and direction, with macro averages; the best are highlighted."""
    columns, rows = [TableColumn("system")], [dict[str, Value](system=system) for system in table.systems]
    for metric in table.results:
        scores = [dict(table.scores(metric, system)) for system in table.systems]
        known = (score for row in scores for score in row.values())
        digits = layout.decimals(known, in_percent=table.in_percent(metric))
        better = 1 if table.higher(metric) else -1
        columns += [TableColumn(f"{metric} {name}", digits=digits, better=better) for name in scores[0]]
        for row, of_system in zip(rows, scores, strict=True):
            row |= {f"{metric} {name}": score for name, score in of_system.items()}
    return Table.of(rows, shown=columns, notes=_notes(table), text_columns=1)


def _notes(table: DirectionTable) -> list[str]:
    several = len(table.directions) > 1
    said = [f"macro, {metric}: {table.averaged(metric)}" for metric in table.results if several]
    signatures = {
        f"{metric} {direction} signature: {next(iter(systems.values())).short_signature}": None
        for metric, by_direction in table.results.items()
        for direction, systems in by_direction.items()
    }
    return [*said, *signatures]


def directions_page(
    table: DirectionTable, layout: Layout, pages: Mapping[str, str], title: str = ""
) -> Iterator[str]:
    """Write a page that needs no other file: a row per system, sorted by a click on a head.

    Parameters
    ----------
    table
        Scores of the systems.
    layout
        Its digits are the decimals of the scores.
    pages
        File names of the pages of single directions, for links.
    title
        Title of the page.
    """
    counted = f"{len(table.systems)} systems, {len(table.directions)} directions"
    made = direction_records(table, layout)
    content = _direction_content(made, pages, several=len(table.directions) > 1)
    return static_page(title or counted, "", content, "sort.js", notes=made.notes)


def _direction_content(made: Table, pages: Mapping[str, str], *, several: bool) -> Iterator[str]:
    best, places = made.highlighted(), [column.name for column in made.seen]

    def cell(column: TableColumn, row: Fields) -> tuple[str, str]:
        shown, page = column.cell(row), pages.get(column.name.rpartition(" ")[2])
        at = made.rows.index([*row.values()]), places.index(column.name)
        return " best" * (at in best), shown if page is None else f'<a href="{escape(page)}">{shown}</a>'

    yield from sortable_table(made, "Scores", cell)
    meanings = {"metric, direction": "the score by the metric; a link leads to the page of the direction"}
    if several:
        meanings["macro"] = "the mean over all directions in which the system takes part"
    meanings["bold"] = "the best score of the column"
    meanings["–"] = "the system has no output for the direction"
    yield from page_section("Columns", explained(meanings))
