"""Tidy tables as files: CSV, TSV, JSON, JSON lines, Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator

from softbleu.errors import MissingExtraError, UnknownNameError
from softbleu.report.data import dump
from softbleu.report.layout import Layout
from softbleu.report.records import Records, records_json, records_jsonl, records_tsv


def table_csv(records: Records) -> Iterator[str]:
    r"""Write comma-separated values as RFC 4180 has them, numbers in full.

    >>> list(table_csv(Records(["system", "score"], [["a, b", 12.5], ["c", None]])))
    ['system,score\n', '"a, b",12.5\n', 'c,\n']
    """
    yield _csv_line(records.columns)
    for row in records.rows:
        yield _csv_line(["" if value is None else value if isinstance(value, str) else dump(value) for value in row])


def _csv_line(cells: object) -> str:
    line = io.StringIO()
    # With this end of line the writer quotes cells that hold either of its characters.
    csv.writer(line, lineterminator="\r\n").writerow(cells)  # type: ignore[arg-type]
    return line.getvalue().removesuffix("\r\n") + "\n"


def table_parquet(records: Records) -> bytes:
    """Write Parquet.

    Raises
    ------
    MissingExtraError
        pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("Parquet needs another package: pip install 'softbleu[parquet]'") from None
    cells = zip(*records.rows, strict=True) if records.rows else ([] for _ in records.columns)
    columns = dict(zip(records.columns, map(list, cells), strict=True))
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


TABLES: dict[str, Callable[[Records], Iterator[str] | bytes]] = {
    "csv": table_csv,
    "tsv": lambda records: records_tsv(records, Layout()),
    "json": lambda records: records_json(records, Layout()),
    "jsonl": lambda records: records_jsonl(records, Layout()),
    "parquet": table_parquet,
}
"""Writers by the suffix of the file."""
BINARY = ("parquet",)
"""Those that write bytes, not text."""


def find_table(name: str) -> Callable[[Records], Iterator[str] | bytes]:
    """Find the writer of tables of that name.

    Raises
    ------
    UnknownNameError
        No such format.
    """
    if name not in TABLES:
        raise UnknownNameError("table format", name, TABLES)
    return TABLES[name]
