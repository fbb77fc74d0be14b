"""Tables of tests: TOML files whose rows become parameters, named by their file and line.

A table is an array of rows, called `rows` unless a test asks for another. A row is an inline table on a line of its
own, or begins with ``[[rows]]``. Rows that share keys stand in a group, which has these keys first:

    [[groups]]
    run = "score -c candidate.txt"
    rows = [
        { more = "--order 0", says = ["order"] },
    ]
"""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parent
# Where a row begins: keys follow, so that braces and brackets in the texts of rows are none.
_START = re.compile(r"(?:\[\[\w+\]\]|    \{)(?=$| ?\w+ = )")


def read_rows(file: str, table: str = "rows") -> list[dict[str, Any]]:
    """Read the rows of a file in `tests/`, with the keys of their groups; the key `place` has file and line."""
    numbered = []
    for number, line in enumerate((TESTS / file).read_text(encoding="utf-8").splitlines(), start=1):
        place = f'place = "{file}:{number}"'
        start = _START.match(line)
        rest = "" if start is None else line[start.end() :]
        numbered.append(line if start is None else f"{start[0]} {place},{rest}" if rest else f"{line}\n{place}")
    document = tomllib.loads("\n".join(numbered))
    if table in document:
        return list(document[table])
    groups = document["groups"]
    return [{**group, **row} for group in groups for row in group.pop(table)]


def each_row(file: str, *keys: str, table: str = "rows", **defaults: Any) -> pytest.MarkDecorator:
    """Run a test with each row of a file in `tests/`; rows may leave out the keys that have defaults.

    A row with the key `slow` belongs to the second tier. A `name` that the test does not ask for is for readers.
    """
    names = (*keys, *defaults)
    parameters = []
    for row in read_rows(file, table):
        place, slow = row.pop("place"), row.pop("slow", False)
        if "name" not in names and "name" in row:
            place += f" {row.pop('name')}"
        assert {*keys} <= row.keys() <= {*names}, f"{place} has the keys {', '.join(row)}; the test has {names}"
        assert row.get("says") not in ([], [""]), f"{place} says nothing, which any message does"
        values = ({**defaults, **row}[name] for name in names)
        parameters.append(pytest.param(*values, id=place, marks=[pytest.mark.slow] if slow else []))
    return pytest.mark.parametrize(names, parameters)
