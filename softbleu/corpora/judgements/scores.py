"""Scores of systems and segments as files: what `softbleu score` writes, and the tables of WMT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from softbleu.corpora.files import open_text
from softbleu.corpora.judgements.comparisons import plain_names
from softbleu.errors import InputError
from softbleu.io.data_files import NotJsonError, parse_json, parse_score, parse_whole

if TYPE_CHECKING:
    from softbleu.types import Floats

_COLUMNS = {
    2: ("system", "score"),
    3: ("system", "segment", "score"),
    5: ("metric", "lp", "testset", "system", "score"),
    6: ("metric", "lp", "testset", "system", "segment", "score"),
}
"""Meaning of the columns of a table without column names, by how many there are."""
_ALIASES = {"name": "system", "sid": "segment"}
SCORED = ("score", "human", "z", "mqm", "raw")  # Columns of scores, of which the first that a table has is read
_GAP = ("None", None)  # Where something was not scored, as mt-metrics-eval writes it
_MOST_GAPS, _MOST_SEGMENTS = 1000, 100_000  # Segments a score, or in all: with more it is numbered by something else


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of every system, by a metric or by judges."""

    name: str
    systems: Mapping[str, float]  # Score of each system; empty where only segments were scored
    segments: Mapping[str, Floats] = field(default_factory=dict)
    """Of each system its segments' scores, in order, NaN for what was not scored; empty where only systems were."""
    metric: str = ""  # Signature or name of the metric, where a file has it; empty where greater is better
    better: str = ""  # `higher` or `lower`, where the file says it


class _Entry(NamedTuple):
    where: str
    table: str  # Name of the table that it belongs to
    metric: str  # Signature or name of the metric; empty where the row has none
    better: str
    system: str
    segment: int | None
    score: float


TableRow = tuple[str, Mapping[str, Any]]
"""Where a row stands, and its values by the names of columns."""


def read_scores(
    name: str,
    *,
    label: str | None = None,
    direction: str | None = None,
    column: str | None = None,
    encoding: str = "utf-8",
) -> list[ScoreTable]:
    """Read scores of systems, of segments, or of both: a table per metric.

    Read are JSON, JSON lines and TSV as `softbleu score` writes them; tables (tabs or blanks) with the column names
    `system`, `score` (or another of `SCORED`), `segment` (or `sid`), `lp`, `metric`; without column names those of
    WMT: metric, direction, test set, system, (segment,) score; or system, (segment,) score; and ``.sys.score`` and
    ``.seg.score`` of mt-metrics-eval, the segments of a system in order. What is ``None`` or missing was not scored.

    Parameters
    ----------
    name
        The file, packed or not.
    label
        Name of the table (default: that of its metric, where columns or several metrics have one, or of the file).
    direction
        Take rows of this direction (column `lp`) only.
    column
        Column of the scores (default: the first of `SCORED` that the table has).

    Raises
    ------
    InputError
        There are no scores, or a row is not valid.
    """
    with closing(open_text(name, encoding)) as lines:
        text = list(lines)
    path = Path(name.removesuffix(".gz"))
    published = path.name.endswith((".seg.score", ".sys.score"))
    stem = Path(path.stem).stem if published else path.stem
    json = next((line for line in text if line.strip()), "").lstrip().startswith("{")
    rows = scored_rows(name, text) if json else score_rows(name, text, column)
    # Scores with single references are not those of segments.
    entries = [
        _entry(where, row, label or stem)
        for where, row in rows
        if "reference" not in row and (direction is None or row.get("lp", direction) == direction)
    ]
    if not entries:
        wanted = f" of direction {direction}" if direction else ""
        raise InputError(f"{name}: there are no scores{wanted}")
    names = plain_names({entry.system for entry in entries})
    tables = []
    for group in dict.fromkeys(entry.table for entry in entries):
        members = [entry for entry in entries if entry.table == group]
        # Scores of mt-metrics-eval are greater for better, whatever their metric is.
        metric, better = ("", "") if published else (members[0].metric or stem, members[0].better)
        tables.append(ScoreTable(label or group, *_gather(name, members, names), metric, better))
    return merge_scores(tables)


def merge_scores(tables: Iterable[ScoreTable]) -> list[ScoreTable]:
    """Join tables of one name, of which one has the systems and the other the segments."""
    merged: dict[str, ScoreTable] = {}
    for table in tables:
        known = merged.get(table.name, replace(table, systems={}, segments={}))
        if (known.systems and table.systems) or (known.segments and table.segments):
            raise InputError(f"two tables of scores are called {table.name!r}: name one by NAME=FILE")
        systems, segments = known.systems or table.systems, known.segments or table.segments
        merged[table.name] = replace(known, systems=systems, segments=segments)
    return list(merged.values())


def scored_rows(name: str, text: Sequence[str]) -> Iterator[TableRow]:
    """Read what `softbleu score` writes as JSON or JSON lines: systems, each with its segments or references.

    InputError: the text is no JSON, or has no scores.
    """
    try:
        rows: Iterable[tuple[str, Any]] = [(name, row) for row in _flat(name, parse_json("\n".join(text), name))]
    except NotJsonError:
        places = [(f"{name}, line {number}", line) for number, line in enumerate(text, start=1) if line.strip()]
        rows = [(where, parse_json(line, where)) for where, line in places]
    for where, row in rows:
        if not isinstance(row, dict) or not {"system", "score"} <= row.keys():
            raise InputError(f"{where}: no scores; JSON is read as softbleu's scores are written in json or jsonl")
        yield where, row


def _flat(name: str, whole: Any) -> Iterator[Any]:
    if not isinstance(whole, dict) or not isinstance(whole.get("systems"), list):
        yield whole
        return
    for entry in whole["systems"]:
        system = entry if isinstance(entry, dict) else {}
        labels = {key: value for key, value in {**whole, **system}.items() if key in ("metric", "signature")}
        labels |= {"system": system["name"]} if "name" in system else {}
        yield {**system, **labels}
        parts = system.get("segments") or system.get("references") or []
        if not isinstance(parts, list):
            raise InputError(f"{name}: segments and references of a system are lists, not {str(parts)[:30]!r}")
        yield from ({**part, **labels} if isinstance(part, dict) else {} for part in parts)


def table_rows(
    name: str,
    text: Iterable[str],
    columns_of: Callable[[Sequence[str]], tuple[Sequence[str], bool]],
    comment: str = "",
) -> tuple[Sequence[str], Iterator[TableRow]]:
    """Read a table of lines, its cells apart by tabs where the first line has any, or else by blanks.

    `columns_of` finds the names of columns for the cells of the first line, and whether they are these cells. Lines
    that begin with the comment are passed over. InputError: another number of cells than of columns.

    Parameters
    ----------
    name
        Name of the file, for errors.
    text
        Its lines.
    columns_of
        Finds the names of columns for the first line's cells.
    comment
        How lines begin that are passed over.
    """
    lines = (
        (f"{name}, line {number}", line)
        for number, line in enumerate(text, start=1)
        if line.strip() and not (comment and line.startswith(comment))
    )
    place, first = next(lines, (f"{name}, line 1", ""))
    mark = "\t" if "\t" in first else None
    try:
        columns, named = columns_of(first.split(mark) if first else [])
    except InputError as error:
        raise InputError(f"{place}: {error}") from None

    def rows() -> Iterator[TableRow]:
        for where, line in lines if named or not first else chain([(place, first)], lines):
            cells = line.split(mark)
            if len(cells) != len(columns):
                names = " ".join(columns[:6])
                raise InputError(f"{where}: {len(cells)} cells under {len(columns)} column names: {names}")
            yield where, dict(zip(columns, cells, strict=True))

    return columns, rows()


def score_rows(name: str, text: Iterable[str], column: str | None) -> Iterator[TableRow]:
    """Read a table of scores by the columns `system`, `score`, `segment`, `lp`, `metric`, …; see `read_scores`.

    Parameters
    ----------
    name
        Name of the file, which may say that segments are in order.
    text
        Its lines.
    column
        Column of the scores; None: the first of `SCORED`.
    """

    def columns_of(cells: Sequence[str]) -> tuple[Sequence[str], bool]:
        names = [_ALIASES.get(cell.lower(), cell.lower()) for cell in cells]
        scored = next((name for name in (SCORED if column is None else (column.lower(),)) if name in names), None)
        if scored is not None and "system" in names:
            return ["score" if name == scored else name.replace("score", "") for name in names], True
        if column is not None:
            raise InputError(f"no columns 'system' and {column!r}")
        if cells and len(cells) not in _COLUMNS:
            raise InputError(f"{len(cells)} columns and no names of columns: 'system' and 'score' needed")
        return _COLUMNS.get(len(cells), ()), False

    _, rows = table_rows(name, text, columns_of, "#")
    if not name.removesuffix(".gz").endswith(".seg.score"):
        yield from rows
        return
    counts: Counter[str] = Counter()  # Segments of each system, which are not numbered
    for where, row in rows:
        yield where, {**row, "segment": str(counts[row["system"]])}
        counts[row["system"]] += 1


def _entry(where: str, row: Mapping[str, Any], name: str) -> _Entry:
    segment, system, metric = row.get("segment"), row.get("system"), row.get("metric")
    if not isinstance(system, str):
        raise InputError(f"{where}: a system's name is needed, not {system!r}")
    number = None if segment is None else segment_number(where, segment)
    better = row.get("better", "")
    return _Entry(
        where,
        str(metric or name),
        str(row.get("signature") or metric or ""),
        better if better in ("higher", "lower") else "",
        system,
        number,
        score_of(where, row["score"]),
    )


def segment_number(where: str, text: object) -> int:
    """Read the number of a segment. InputError: it is no whole number from 0."""
    try:
        number = parse_whole(str(text))
    except ValueError:
        number = -1
    if number < 0:
        raise InputError(f"{where}: the number of a segment is needed, not {text!r}")
    return number


def score_of(where: str, value: object) -> float:
    """Read a score, NaN where there is none. InputError: it is no number of reasonable size."""
    try:
        return np.nan if value in _GAP else parse_score(value)
    except ValueError as error:
        raise InputError(f"{where}: {value!r} is no score: {error}") from None


def first_segment(name: str, numbers: Iterable[int]) -> int:
    """Find out whether segments are numbered from 0 or from 1. InputError: the numbers cannot be of segments."""
    known = list(numbers)
    if known and max(known) > max(_MOST_GAPS * len(known), _MOST_SEGMENTS):
        raise InputError(
            f"{name}: {len(known)} scores cannot be of {max(known):,} segments: are these their numbers?"
        )
    return int(min(known, default=0) > 0)


def _gather(
    name: str, entries: Sequence[_Entry], names: Mapping[str, str]
) -> tuple[dict[str, float], dict[str, Floats]]:
    """Put the scores of one metric together: of systems, and of their segments."""
    systems: dict[str, float] = {}
    parts: dict[str, dict[int, float]] = {}
    for entry in entries:
        system = names[entry.system]
        scores: dict[Any, float] = systems if entry.segment is None else parts.setdefault(system, {})
        key = system if entry.segment is None else entry.segment
        if key in scores:
            raise InputError(f"{entry.where}: a second score of {system!r} (several directions? name one)")
        if entry.segment is not None or not np.isnan(entry.score):
            scores[key] = entry.score
    start = first_segment(name, chain.from_iterable(parts.values()))
    segments = {system: np.full(max(map(max, parts.values())) + 1 - start, np.nan) for system in parts}
    for system, scored in parts.items():
        segments[system][np.array([*scored]) - start] = [*scored.values()]
    return systems, segments
