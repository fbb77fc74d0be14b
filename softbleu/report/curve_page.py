"""A page of partial scores: curves by fraction of the outputs, tests, and where the outputs of two systems part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from softbleu.formats import Layout
from softbleu.report.comparisons import slice_tables
from softbleu.report.html import page_section, page_table, static_page, visible_html
from softbleu.report.plots import COLOURS
from softbleu.results.comparison import ComparedRow, Comparison
from softbleu.results.fractions import Parting, find_partings
from softbleu.results.prefixes import QUARTERS
from softbleu.tables import Table

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.text.tokens import Tokenizer

_MOST_LINES = 2000  # Lines of a pair of systems on the page
_SHOWN = 8  # Tokens of each output from where they part
_DASHES = ("", "6 3", "2 3", "8 3 2 3")
_WIDTH, _HEIGHT, _MARGIN = 640, 300, 48


@dataclass(frozen=True)
class CurvePage:
    """Content of a page of partial scores."""

    tests: Comparison
    partings: Mapping[str, Sequence[Parting]]  # By the system beside the baseline
    segments: int
    title: str = ""


def make_curve_page(corpus: Corpus, tests: Comparison, tokenizer: Tokenizer, title: str = "") -> CurvePage:
    """Make the page of tests by fraction, with the tokens at which each system parts from the baseline."""
    others = [system for system in corpus.systems if system != tests.baseline]
    partings = {other: [*find_partings(corpus, tests.baseline, other, tokenizer)] for other in others}
    return CurvePage(tests, partings, len(corpus), title)


def write_curve_page(page: CurvePage, layout: Layout) -> Iterator[str]:
    """Write a page without scripts that needs no other file and no network."""
    systems = len(page.partings) + 1
    title = page.title or f"Unfinished outputs of {systems} system{'s' * (systems > 1)}"
    return static_page(title, f"{page.segments:,} segments", _content(page, layout))


def _content(page: CurvePage, layout: Layout) -> Iterator[str]:
    tests = page.tests
    for own, table in zip(tests, slice_tables(tests, layout), strict=True):
        curve = _curve(own.label, own.rows)
        yield from page_section(f"{own.label} by fraction of the output", [*curve, *_tested(table)])
    for other, partings in page.partings.items():
        yield from page_section(f"Where {other} parts from {tests.baseline}", _partings(page, other, partings))


def _tested(table: Table) -> Iterator[str]:
    yield from page_table(table)
    yield from (f'<p class="note">{visible_html(note)}</p>\n' for note in table.notes)


def _curve(label: str, rows: Sequence[ComparedRow]) -> Iterator[str]:
    """Draw the scores of systems by fraction, with their intervals."""
    shown = [row for row in rows if row.fraction is not None]
    low, high = min(row.lower for row in shown), max(row.upper for row in shown)
    span = high - low or 1.0
    systems = list(dict.fromkeys(row.system for row in shown))

    def place(fraction: float, score: float, shift: float = 0.0) -> str:
        x = _MARGIN + fraction * (_WIDTH - 2 * _MARGIN) + shift
        return f"{x:.1f} {_HEIGHT - _MARGIN - (score - low) / span * (_HEIGHT - 2 * _MARGIN):.1f}"

    said = visible_html(f"{label} by fraction of the output: the table below has the numbers")
    yield f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img" aria-label="{said}">\n'
    for score in (low, (low + high) / 2, high):
        x, y = place(0, score).split()
        yield f'<path d="M{x} {y}H{_WIDTH - _MARGIN}" stroke="currentColor" opacity="0.2"/>'
        yield f'<text x="4" y="{y}" font-size="12" fill="currentColor">{score:.1f}</text>\n'
    for fraction in dict.fromkeys(row.fraction for row in shown if row.fraction is not None):
        x, _ = place(fraction, low).split()
        text = f"{fraction * 100:.4g}%"
        where = f'x="{x}" y="{_HEIGHT - 20}" text-anchor="middle"'
        yield f'<text {where} font-size="12" fill="currentColor">{text}</text>\n'
    for number, system in enumerate(systems):
        shift = 5 * (number - (len(systems) - 1) / 2)
        look = f'stroke="{COLOURS[number % len(COLOURS)]}" fill="none" stroke-width="2"'
        dashes = f'stroke-dasharray="{_DASHES[number // len(COLOURS) % len(_DASHES)]}"'
        mine = [(row.fraction or 0, row) for row in shown if row.system == system]
        mine.sort(key=lambda pair: pair[0])
        points = [place(share, row.score, shift) for share, row in mine]
        bars = "".join(f"M{place(share, row.lower, shift)}L{place(share, row.upper, shift)}" for share, row in mine)
        name = visible_html(system)
        yield f'<path d="M{"L".join(points)}" {look} {dashes}><title>{name}</title></path>'
        yield f'<path d="{bars}" {look} opacity="0.5"><title>{name}: 95% intervals</title></path>\n'
    yield "</svg>\n<p>"
    for number, system in enumerate(systems):
        mark = f'<path d="M0 6H20" stroke="{COLOURS[number % len(COLOURS)]}" stroke-width="3"/>'
        yield f'<svg width="20" height="12" aria-hidden="true">{mark}</svg> {visible_html(system)} '
    yield "</p>\n"


def _partings(page: CurvePage, other: str, partings: Sequence[Parting]) -> Iterator[str]:
    """Count the outputs that part in each quarter, and list the lines."""
    same = page.segments - len(partings)
    yield f"<p>{same:,} of {page.segments:,} outputs are the same.</p>\n"
    if not partings:
        return
    shares = [parting.shared / max(parting.length, 1) for parting in partings]
    below = [0, *(sum(share < quarter for share in shares) for quarter in QUARTERS[:-1]), len(shares)]
    counts = [after - before for before, after in pairwise(below)]
    quarters = ["first quarter", "second", "third", "last"]
    yield from page_table(Table([f"parts in: {quarters[0]}", *quarters[1:]], [counts]))
    yield f"<details><summary>Lines: {min(len(partings), _MOST_LINES):,} of {len(partings):,}</summary>\n"
    rows = [
        [one.segment, one.shared, one.length, _words(one.one), _words(one.other)] for one in partings[:_MOST_LINES]
    ]
    heads = ["segment", "tokens shared", f"tokens of {page.tests.baseline}", page.tests.baseline, other]
    yield from page_table(Table(heads, rows, verbatim=heads))
    yield "</details>\n"


def _words(tokens: Sequence[str]) -> str:
    return " ".join(tokens[:_SHOWN]) + " …" * (len(tokens) > _SHOWN) if tokens else "(ends here)"
