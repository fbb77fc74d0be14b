"""Files of judgements and scores as rows: text tables, CSV, Parquet and JSON, with the meanings of their columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from softbleu.config.languages import find_direction
from softbleu.corpora.files import open_text
from softbleu.corpora.judgements.written import plain_numbers
from softbleu.corpora.rows import SPELLINGS, json_entries
from softbleu.errors import InputError, MissingExtraError
from softbleu.io.progress import note
from softbleu.io.reading import (
    check_columns,
    longest_line,
    parse_score,
    read_rows,
    refuse_line,
    whole_number,
    without_packing,
)
from softbleu.types import Fields, Json

if TYPE_CHECKING:
    from pyarrow import ChunkedArray
    from pyarrow.parquet import ParquetFile

SCORED = ("score", "human", "z", "z.scr", "mqm", "mqm_avg_score", "esa", "da", "raw", "raw.scr", "overall")
"""Columns of scores; the first in a table is read."""
PLACES = ("system", "segment", "lp", "document", "run")  # Columns that place a score
_LANGUAGES = (("source_lang", "target_lang"), ("src_lang", "tgt_lang"), ("srclang", "trglang"))
_READ = {
    *(*PLACES, *SCORED, "metric", "testset", "annotator", "better", "group", "signature", "statistics"),
    *("human_score", "translation", "source", "reference", "start", "end", "severity", "spans", "category", "target"),
    *("rater", "seg_id", "doc", "sid", *chain.from_iterable(_LANGUAGES)),
}
"""Columns that mean something in a table of judgements; of others there may be several of one name."""
TableRow = tuple[str, Fields]
"""Place of a row, and its values by column name."""
Values = Sequence[tuple[str, Json]]
"""Values of JSON with their places: the whole file, or its lines."""
ColumnsOf = Callable[[Sequence[str]], tuple[Sequence[str], bool]]
_DIRECTION = re.compile(r"[a-z]{2,3}-[a-z]{2,3}")
# Where something was not scored; the last are those of spreadsheets and pandas
_GAPS = ("", "none", "nan", "null", "na", "n/a", "#n/a", "#na", "#nv", "<na>")
_NUMBERS = {*SCORED, "human_score", "segment"}  # Columns of numbers, however a spreadsheet writes them
_SEPARATOR = re.compile(r"""["']?sep=.["']?[,;\t]*""")  # First line of CSV that names its delimiter, as in Excel
_TOP = 10  # Lines among which the column names are looked for
_TRUTH = {"true": 1.0, "false": 0.0}
_MOST_GAPS, _MOST_SEGMENTS = 1000, 100_000  # Segments a score, or in all: with more it is numbered by something else
_BATCH = 1024  # Rows of Parquet that are held at once
_MOST_PACKED = 1000  # Greatest ratio of the unpacked to the packed size of a large column


def meanings(columns: Sequence[str], kept: Collection[str] = ()) -> list[str]:
    """Find the meanings of columns by all known names; other columns, and `kept` ones, keep their names.

    Of two columns that mean the same the first of `SPELLINGS` is taken.

    >>> meanings(["doc", "seg_id", "sysid", "COMET"])
    ['document', 'segment', 'system', 'comet']
    >>> meanings(["system", "model", "id", "idx"])
    ['system', 'model', 'id', 'segment']
    """
    lower = [column.lower() for column in columns]
    known = {*lower} - {name.lower() for name in kept}
    taken = {
        next((spelling for spelling in spellings.split() if spelling in known), None): meaning
        for meaning, spellings in SPELLINGS.items()
    }
    return [taken.get(column, column) for column in lower]


def with_direction(row: Fields) -> Fields:
    """Add the direction to a row that has both languages in separate columns."""
    if row.get("lp") not in (None, ""):
        return row
    for source, target in _LANGUAGES:
        if row.get(source) and row.get(target):
            return {**row, "lp": f"{row[source]}-{row[target]}"}
    return row


@dataclass(frozen=True)
class ParquetRows:
    """A Parquet file, whose wanted columns are read in batches."""

    name: str
    file: ParquetFile

    @classmethod
    def of(cls, name: str) -> ParquetRows:
        """Open a file. InputError: it is no Parquet."""
        try:
            import pyarrow.parquet
        except ImportError:
            raise MissingExtraError("Parquet needs another package: pip install '.[parquet]' in a clone") from None
        try:
            file = pyarrow.parquet.ParquetFile(name)
            text = [field.name for field in file.schema_arrow if "string" in str(field.type)]
            # A text that many rows share is held once.
            return cls(name, pyarrow.parquet.ParquetFile(name, read_dictionary=text))
        except (OSError, pyarrow.ArrowException) as error:
            raise cls._refusal(name, error) from None

    @staticmethod
    def _refusal(name: str, error: Exception) -> InputError:
        return InputError(f"{name}: no Parquet that can be read ({str(error).splitlines()[0][:80]})")

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.file.schema_arrow.names)

    def rows(self, places: Sequence[int]) -> Iterator[tuple[str, list[str]]]:
        """Yield rows of these columns with their places; cells have the same limit as lines."""
        import pyarrow

        columns = self.columns
        self._check_sizes({columns[place] for place in places})
        number = 1
        try:
            for batch in self.file.iter_batches(_BATCH, columns=[columns[place] for place in places]):
                for cells in zip(*(self._texts(column, number) for column in batch.columns), strict=True):
                    number += 1
                    yield f"{self.name}, line {number}", list(cells)
        except (OSError, pyarrow.ArrowException) as error:
            raise self._refusal(self.name, error) from None

    def _check_sizes(self, wanted: Collection[str]) -> None:
        """Check, before anything is unpacked, that no cell is longer than a line may be, as far as sizes show."""
        longest, metadata = longest_line(), self.file.metadata
        for group in range(metadata.num_row_groups):
            for place in range(metadata.num_columns):
                part = metadata.row_group(group).column(place)
                unpacked, packed = part.total_uncompressed_size, part.total_compressed_size
                most = min(longest * max(part.num_values, 1), max(longest, _MOST_PACKED * packed))
                if part.path_in_schema.partition(".")[0] in wanted and unpacked > most:
                    refuse_line(f"{self.name}, column {part.path_in_schema}", longest)

    def _texts(self, column: ChunkedArray, number: int) -> list[str]:
        longest = longest_line()
        if hasattr(column, "dictionary"):
            values = [_text(value) for value in column.dictionary.to_pylist()]
            texts = ["" if place is None else values[place] for place in column.indices.to_pylist()]
        else:
            texts = [_text(value) for value in column.to_pylist()]
        if max(map(len, texts), default=0) > longest:
            refuse_line(f"{self.name}, lines {number + 1} to {number + len(texts)}", longest)
        return texts


LinesOrRows = Sequence[str] | ParquetRows
"""Content of a file: its lines, or rows of Parquet."""


def _text(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())


def content_of(name: str, encoding: str = "utf-8") -> LinesOrRows:
    """Open a file of judgements or scores; lines above the column names become blank, with a note."""
    if Path(without_packing(name)).suffix.lower() == ".parquet":
        return ParquetRows.of(name)
    lines = list(open_text(name, encoding))
    top = _lines_above_names(lines)
    if titles := [line for line in lines[:top] if line.strip(" \t,;") and not _SEPARATOR.fullmatch(line.strip())]:
        note(f"{name}: skipped above the column names: {titles[0][:40]!r}{', …' * (len(titles) > 1)}")
    lines[:top] = [""] * top
    return lines


def _lines_above_names(lines: Sequence[str]) -> int:
    """Count the lines above column names: `sep=;`, and titles, which have fewer cells.

    >>> _lines_above_names(["sep=;", "system;score"]), _lines_above_names(["Campaign,,", "", "system,score"])
    (1, 2)
    """
    above, widest = 0, 0
    for number, line in enumerate(lines[:_TOP]):
        if _SEPARATOR.fullmatch(line.strip()):
            above = number + 1
            continue
        mark = delimiter_of(".csv", [line])
        cells = [cell.strip(' "').lower() for cell in line.split(mark)] if mark else [line.strip()]
        width = sum(map(bool, cells))
        if width > max(widest, 1) and len(_READ.intersection(meanings(cells))) > 1:
            return number
        widest = max(widest, width)
    return above


def first_line(text: Iterable[str]) -> str:
    """The first line that is not blank; empty without one."""
    return next((line for line in text if line.strip()), "")


def is_json(content: LinesOrRows) -> bool:
    """Whether a text begins as JSON of objects or lists does."""
    return not isinstance(content, ParquetRows) and first_line(content).lstrip()[:1] in ("{", "[")


def delimiter_of(name: str, content: Sequence[str]) -> str | None:
    """Find the delimiter of a table by its first line; None for blanks.

    CSV has commas or, as spreadsheets write it where commas stand in numbers, semicolons.

    >>> delimiter_of("x.csv", ["system;score", "A;0,85"]), delimiter_of("x.txt", ["system score"])
    (';', None)
    """
    first = first_line(content)
    if "\t" in first:
        return "\t"
    mark = max(",;", key=first.count)
    spaced = len(first.split()) > 1 and Path(without_packing(name)).suffix.lower() != ".csv"
    return mark if mark in first and not spaced else None


def _cells_of(
    name: str, content: Sequence[str], delimiter: str | None, comment: str
) -> Iterator[tuple[str, list[str]]]:
    """Split lines into cells with their places; blank lines and comments are skipped."""
    if delimiter not in (",", ";"):
        for number, line in enumerate(content, start=1):
            if line.strip() and not (comment and line.startswith(comment)):
                yield f"{name}, line {number}", line.split(delimiter)
        return
    for number, cells in read_rows(content, name, delimiter):
        cells = [_text(cell) for cell in cells]
        if any(cells) and not (comment and cells[0].startswith(comment)):
            yield f"{name}, line {number}", cells


def head_of(name: str, content: LinesOrRows) -> list[str]:
    """Cells of the first row of a table."""
    if isinstance(content, ParquetRows):
        return content.columns
    return next(_cells_of(name, content, delimiter_of(name, content), ""), ("", [""]))[1]


def _lower_names(cells: Sequence[str]) -> tuple[Sequence[str], bool]:
    """Return the names of columns in lower case."""
    return [cell.lower() for cell in cells], True


def table_rows(
    name: str,
    content: LinesOrRows,
    columns_of: ColumnsOf = _lower_names,
    comment: str = "",
    wanted: Collection[str] = (),
    delimiter: str | None = "",
) -> tuple[Sequence[str], Iterator[TableRow]]:
    """Read a table with cells separated by tabs if the first line has any, by commas or semicolons, or by blanks.

    Blank cells beyond the named columns are left out. Raises InputError for rows with too few or too many cells, for
    two read columns of the same name, and for columns of numbers of which nobody knows what their commas mean.

    Parameters
    ----------
    name
        Name of the file, for errors.
    content
        Content of the file.
    columns_of
        Returns the names of columns for the first line's cells, and whether the line has names.
    comment
        Prefix of lines that are skipped.
    wanted
        Columns that are read in addition to the known ones.
    delimiter
        Delimiter of cells; empty: by the first line.
    """
    if isinstance(content, ParquetRows):
        place, first = f"{name}, line 1", content.columns
        lines: Iterator[tuple[str, list[str]]] = iter(())
    else:
        mark = delimiter_of(name, content) if delimiter == "" else delimiter
        lines = _cells_of(name, content, mark, comment)
        place, first = next(lines, (f"{name}, line 1", []))
    try:
        columns, named = columns_of(first)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    read = [column if column in {*_READ, *wanted} else "" for column in columns]
    if named:
        check_columns(place, read, first)
    if isinstance(content, ParquetRows):
        places = [number for number, column in enumerate(read) if column or not named or columns_of is _lower_names]
        columns = [columns[number] for number in places]
        lines = content.rows(places)

    def rows() -> Iterator[TableRow]:
        headless = not named and first and not isinstance(content, ParquetRows)
        for where, cells in chain([(place, first)], lines) if headless else lines:
            # Spreadsheets write, or leave out, blank cells behind the last column.
            if named and not any(columns[len(cells) :]) and not any(map(str.strip, cells[len(columns) :])):
                cells = [*cells, *[""] * (len(columns) - len(cells))][: len(columns)]
            if len(cells) != len(columns):
                names = " ".join(columns[:6])
                raise InputError(f"{where}: {len(cells)} cells under {len(columns)} column names: {names}")
            yield where, dict(zip(columns, cells, strict=True))

    if isinstance(content, ParquetRows):
        return columns, rows()
    numbers = [column for column in dict.fromkeys(columns) if column in {*_NUMBERS, *wanted}]
    return columns, _plain_rows(rows(), numbers, decimal_comma=mark == ";")


def _plain_rows(rows: Iterator[TableRow], columns: Sequence[str], *, decimal_comma: bool) -> Iterator[TableRow]:
    """Write the numbers of these columns as `plain_numbers` does."""
    listed = [(where, dict(row)) for where, row in rows]
    for column in columns:
        places, cells = [where for where, _ in listed], [row[column] for _, row in listed]
        plain = plain_numbers(column, places, cells, decimal_comma=decimal_comma or column == "segment")
        for (_, row), cell in zip(listed, plain, strict=True):
            row[column] = cell
    yield from listed


def json_values(name: str, content: LinesOrRows) -> Values:
    """Read JSON, the entries of a list one by one, or else JSON lines. InputError: the text is neither."""
    return json_entries(name, () if isinstance(content, ParquetRows) else content)


def of_direction(name: str, rows: Iterable[TableRow], direction: str | None) -> list[TableRow]:
    """Select the rows of one direction. Raises InputError for none, or for several directions if none is named."""
    listed = [(where, with_direction(row)) for where, row in rows]
    there = sorted({row["lp"] for _, row in listed if "lp" in row})
    if not listed:
        raise InputError(f"{name}: there are no assessments")
    chosen = None if direction is None else find_direction(direction, there)
    if (direction is None and len(there) > 1) or (direction is not None and there and chosen is None):
        raise InputError(f"{name}: name one direction of {', '.join(there)}")
    return [(where, row) for where, row in listed if chosen in (None, row.get("lp", chosen))]


def plain_names(names: Iterable[str]) -> dict[str, str]:
    """Find the plain name of each: without test set and direction, where all names have both.

    >>> plain_names(["newstest2013.fr-en.online-B", "newstest2013.fr-en.cu-zeman.2738"])
    {'newstest2013.fr-en.online-B': 'online-B', 'newstest2013.fr-en.cu-zeman.2738': 'cu-zeman.2738'}
    >>> plain_names(["conll14st-test.AMU.src-trg", "conll14st-test.PKU.src-trg"])["conll14st-test.AMU.src-trg"]
    'AMU'
    >>> plain_names(["umd.2922", "uu-nmt.1"])
    {'umd.2922': 'umd.2922', 'uu-nmt.1': 'uu-nmt.1'}
    """
    parts = {name: name.split(".") for name in names}
    common = set(next(iter(parts.values()), ()))
    for pieces in parts.values():
        common.intersection_update(pieces)
    direction = next((part for part in sorted(common) if _DIRECTION.fullmatch(part)), None)
    if direction is None or any(len(pieces) < 3 or pieces[0] not in common for pieces in parts.values()):
        return {name: name for name in parts}
    return {name: ".".join(part for part in pieces[1:] if part != direction) for name, pieces in parts.items()}


def segment_number(where: str, text: object) -> int:
    """Read the number of a segment. InputError: it is no whole number from 0.

    >>> segment_number("x.tsv, line 2", "3.0")
    3
    """
    what = "the number of a segment"
    number = whole_number(where, what, re.sub(r"\.0+$", "", str(text)))
    if number < 0:
        raise InputError(f"{where}: {what} is needed, not {text!r}")
    return number


def place_rows(name: str, rows: Iterable[TableRow]) -> tuple[list[tuple[str, int]], int]:
    """System and segment, from 0, of each row; and the number of the first segment in the file, 0 or 1."""
    places = []
    for where, row in rows:
        if not isinstance(row["system"], str):
            raise InputError(f"{where}: a system's name is needed, not {row['system']!r}")
        places.append((row["system"], segment_number(where, row["segment"])))
    start = first_segment(name, (segment for _, segment in places))
    return [(system, segment - start) for system, segment in places], start


def score_of(where: str, value: object) -> float:
    """Read a score, NaN if it is missing; true is 1. Raises InputError for other values."""
    said = str(value).strip().lower() if isinstance(value, str | bool | None) else ""
    if said in _TRUTH:
        return _TRUTH[said]
    if value is None or value != value or (isinstance(value, str) and said in _GAPS):
        return np.nan
    try:
        return parse_score(value)
    except ValueError as error:
        raise InputError(f"{where}: {value!r} is no score: {error}") from None


def may_be_score(value: object) -> bool:
    """Whether a value is a score, or says that it is missing."""
    try:
        score_of("", value)
    except InputError:
        return False
    return True


def first_segment(name: str, numbers: Iterable[int]) -> int:
    """Find out whether segments are numbered from 0 or from 1. InputError: the numbers cannot be of segments."""
    known = list(numbers)
    if known and max(known) > max(_MOST_GAPS * len(known), _MOST_SEGMENTS):
        raise InputError(
            f"{name}: {len(known)} scores cannot be of {max(known):,} segments: are these their numbers?"
        )
    return int(min(known, default=0) > 0)
