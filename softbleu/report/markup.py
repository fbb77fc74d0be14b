r"""Tables for papers and pages: Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from softbleu.report.layout import one_line
from softbleu.report.table import Table, shown_signature, table_of

if TYPE_CHECKING:
    from softbleu.report.layout import Layout
    from softbleu.scoring import Result

_MARKDOWN = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>|~"})
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        **{char: f"\\{char}" for char in "&%$#_{}"},
    }
)


def escape_markdown(text: str) -> str:
    r"""Escape what Markdown would read as markup.

    >>> print(escape_markdown("a|b_c"))
    a\|b\_c
    """
    return one_line(text).translate(_MARKDOWN)


def escape_latex(text: str) -> str:
    r"""Escape what LaTeX would read as a command.

    >>> print(escape_latex("50% of a_b"))
    50\% of a\_b
    """
    return one_line(text).translate(_LATEX)


def write_markdown(results: Sequence[Result], layout: Layout) -> Iterator[str]:
    """Write a Markdown table and the signature under it."""
    if results:
        yield from markdown_table(table_of(results, layout.digits), shown_signature(results[0], layout))


def markdown_table(table: Table, signature: str) -> Iterator[str]:
    """Write a table with the signature under it."""
    rules = ["---" if number < table.text_columns else "---:" for number in range(len(table.header))]
    yield _markdown_row([escape_markdown(name) for name in table.header])
    yield _markdown_row(rules)
    for row in table.rows:
        yield _markdown_row([escape_markdown(cell) for cell in row])
    yield f"\nSignature: {escape_markdown(signature)}\n"


def write_latex(results: Sequence[Result], layout: Layout) -> Iterator[str]:
    """Write a LaTeX tabular, for which the document must load booktabs, and the signature as a comment."""
    if results:
        yield from latex_table(table_of(results, layout.digits), shown_signature(results[0], layout))


def latex_table(table: Table, signature: str) -> Iterator[str]:
    """Write a tabular with the signature before it."""
    columns = "l" * table.text_columns + "r" * (len(table.header) - table.text_columns)
    yield f"% {one_line(signature)}\n% needs \\usepackage{{booktabs}}\n"
    yield f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n"
    yield _latex_row(table.header) + "\\midrule\n"
    for row in table.rows:
        yield _latex_row(row)
    yield "\\bottomrule\n\\end{tabular}\n"


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _latex_row(cells: Sequence[str]) -> str:
    return f"{' & '.join(map(escape_latex, cells))} \\\\\n"
