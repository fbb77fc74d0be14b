"""Whole corpora through the commands that people type (``pytest tests/real --all``): the tables' figures come out."""

import pytest
from real.rows import Row, faults, output_of, read_rows

ROWS = [*read_rows("corpora.toml"), *(row for row in read_rows("headlines.toml") if row.fast)]


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=row.name, marks=pytest.mark.xdist_group(row.group or row.name)) for row in ROWS]
)
def test_figures_come_out(row: Row) -> None:
    assert row.expect or row.contains
    assert list(faults(row, output_of(row))) == []
