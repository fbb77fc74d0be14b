"""Tables of figures in pages."""

from __future__ import annotations

from collections.abc import Mapping


def fill(page: str, made: Mapping[str, str]) -> str:
    r"""Put tables between their marks.

    >>> fill("a\n<!-- made: one -->\n?\n<!-- end: one -->\nb", {"one": "| 1 |"})
    'a\n<!-- made: one -->\n\n| 1 |\n\n<!-- end: one -->\nb'
    """
    for name, text in made.items():
        start, end = f"<!-- made: {name} -->\n", f"<!-- end: {name} -->"
        before, mark, rest = page.partition(start)
        if not mark:
            raise SystemExit(f"the page has no place for the table {name!r}")
        page = f"{before}{start}\n{text}\n\n{end}{rest.partition(end)[2]}"
    return page
