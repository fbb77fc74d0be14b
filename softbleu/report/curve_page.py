"""A page of partial scores: curves by fraction of the outputs, tests, and where the outputs of two systems part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from softbleu.errors import counted
from softbleu.formats import Layout
from softbleu.report.charts import draw_chart
from softbleu.report.comparisons import share_name, slice_tables
from softbleu.report.curves import fraction_lines
from softbleu.report.html import page_fold, page_notes, page_section, page_table, static_page
from softbleu.results.comparison import Comparison
from softbleu.results.fractions import Parting, find_partings
from softbleu.results.prefixes import QUARTERS
from softbleu.tables import Table, is_significant

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.text.tokens import Tokenizer

_MOST_LINES = 2000  # Lines of a pair of systems on the page
_SHOWN = 8  # Tokens of each output from where they part


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
    title = page.title or f"Unfinished outputs of {counted(len(page.partings) + 1, 'system')}"
    return static_page(title, f"{page.segments:,} segments", _content(page, layout), verdict=_verdict(page))


def _content(page: CurvePage, layout: Layout) -> Iterator[str]:
    tests = page.tests
    for own, chart, table in zip(tests, chain(*fraction_lines(tests)), slice_tables(tests, layout), strict=True):
        tested = [*draw_chart(chart), *page_table(table), *page_notes(table.notes)]
        yield from page_section(f"{own.label} by fraction of the output", tested)
    for other, partings in page.partings.items():
        yield from page_section(f"Where {other} parts from {tests.baseline}", _partings(page, other, partings))


def _verdict(page: CurvePage) -> str:
    """Name the systems that differ from the baseline by the first metric, and at which shares of the output."""
    tests, found = page.tests[0], dict[str, list[str]]()
    for row in tests.rows:
        if row.fraction is not None and is_significant(row):
            better = (row.difference > 0) == tests.higher_is_better
            said = f"{row.system} is {'better' if better else 'worse'} than {tests.baseline}"
            found.setdefault(said, []).append(share_name(row.fraction))
    if found:
        return "; ".join(f"{said} at {', '.join(shares)} of the output" for said, shares in found.items()) + "."
    return f"No system can be told apart from {tests.baseline} before the outputs are whole." * bool(page.partings)


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
    rows = [
        [one.segment, one.shared, one.length, _words(one.one), _words(one.other)] for one in partings[:_MOST_LINES]
    ]
    heads = ["segment", "tokens shared", f"tokens of {page.tests.baseline}", page.tests.baseline, other]
    yield from page_fold(f"Lines: {len(rows):,} of {len(partings):,}", page_table(Table(heads, rows, verbatim=heads)))


def _words(tokens: Sequence[str]) -> str:
    return " ".join(tokens[:_SHOWN]) + " …" * (len(tokens) > _SHOWN) if tokens else "(ends here)"
