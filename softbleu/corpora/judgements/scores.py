"""Scores of systems and segments as files: what `softbleu score` writes, and the tables of WMT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
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
"""What the columns of a table without column names mean, by how many there are."""
_ALIASES = {"name": "system", "sid": "segment"}
SCORED = ("score", "human", "z", "mqm", "raw")  # Columns of scores, of which the first that a table has is read
_GAP = ("None", None)  # Where something was not scored, as mt-metrics-eval writes it
_MOST_GAPS = 1000  # Segments a score: a table with more is numbered by something else


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of every system, by a metric or by judges."""

    name: str
    systems: Mapping[str, float]  # Score of each system; empty where only segments were scored
    segments: Mapping[str, Floats] = field(default_factory=dict)
    """Of each system its segments' scores, in order, NaN for what was not scored; empty where only systems were."""


class _Entry(NamedTuple):
    where: str
    metric: str
    system: str
    segment: int | None
    score: float


def read_scores(
    name: str,
    *,
    label: str | None = None,
    direction: str | None = None,
    column: str | None = None,
    encoding: str = "utf-8",
) -> list[ScoreTable]:
    """Read scores of systems, of segments, or of both.

    Understood are JSON, JSON lines and TSV as `softbleu score` writes them, tables (tabs or blanks) with the column
    names `system`, `score` (or another of `SCORED`; `column` names one), `segment` (or `sid`), `lp`, `metric`, and
    without column names those of WMT: metric, direction, test set, system, (segment,) score; or system, (segment,)
    score; or ``.sys.score`` and ``.seg.score`` of mt-metrics-eval, the segments of a system in order. Gives a table
    per metric. The label names the metric, unless the table says its name or that of the file will do; `direction`
    takes the rows of this direction (column `lp`) only. What is ``None`` or missing was not scored.
    """
    with closing(open_text(name, encoding)) as lines:
        text = list(lines)
    first = next((line for line in text if line.strip()), "")
    whole = Path(name.removesuffix(".gz").removesuffix(".score"))
    in_order = name.removesuffix(".gz").endswith(".seg.score")
    plain = label or (whole.stem if whole.suffix in (".seg", ".sys") else Path(name.removesuffix(".gz")).stem)
    if first.lstrip().startswith("{"):
        entries = list(_read_json(name, text, plain))
    else:
        entries = list(_read_table(name, text, plain, direction, column, in_order=in_order))
    if not entries:
        wanted = f" of direction {direction}" if direction else ""
        raise InputError(f"{name}: there are no scores{wanted}")
    names = plain_names({entry.system for entry in entries})
    tables = []
    for metric in dict.fromkeys(entry.metric for entry in entries):
        own = [entry for entry in entries if entry.metric == metric]
        tables.append(_table(name, label or metric, own, names))
    return merge_scores(tables)


def merge_scores(tables: Iterable[ScoreTable]) -> list[ScoreTable]:
    """Join tables of one name, of which one has the systems and the other the segments."""
    merged: dict[str, ScoreTable] = {}
    for table in tables:
        known = merged.get(table.name, ScoreTable(table.name, {}))
        if (known.systems and table.systems) or (known.segments and table.segments):
            raise InputError(f"two tables of scores are called {table.name!r}: name one by NAME=FILE")
        merged[table.name] = ScoreTable(table.name, known.systems or table.systems, known.segments or table.segments)
    return list(merged.values())


def _read_json(name: str, text: Sequence[str], metric: str) -> Iterator[_Entry]:
    try:
        whole = parse_json("\n".join(text), name)
        lines: list[tuple[str, Any]] = [(name, entry) for entry in _flat(whole)]
    except NotJsonError:
        places = [(f"{name}, line {number}", line) for number, line in enumerate(text, start=1) if line.strip()]
        lines = [(where, parse_json(line, where)) for where, line in places]
    for where, entry in lines:
        if not isinstance(entry, dict) or not {"system", "score"} <= entry.keys():
            raise InputError(f"{where}: no scores; JSON is read as softbleu's scores are written in json or jsonl")
        segment = entry.get("segment")
        yield _entry(where, metric, entry["system"], segment, entry["score"])


def _flat(whole: Any) -> Iterator[dict[str, Any]]:
    """Go through what `softbleu score` writes as JSON: systems, each with its segments."""
    if not isinstance(whole, dict) or not isinstance(whole.get("systems"), list):
        yield whole
        return
    for system in whole["systems"]:
        named = {**system, "system": system.get("name")} if isinstance(system, dict) else {}
        yield named
        parts = named.get("segments", [])
        for part in parts if isinstance(parts, list) else [parts]:
            yield {**part, "system": named["system"]} if isinstance(part, dict) else {}


def _read_table(
    name: str, text: Sequence[str], metric: str, direction: str | None, column: str | None, *, in_order: bool
) -> Iterator[_Entry]:
    columns: Sequence[str] | None = None
    met: Counter[str] = Counter()  # Segments of each system, where they are not numbered
    for number, line in enumerate(text, start=1):
        where = f"{name}, line {number}"
        cells = line.split("\t") if "\t" in line else line.split()
        if not line.strip() or line.startswith("#"):
            continue
        if columns is None:
            named = [_ALIASES.get(cell.lower(), cell.lower()) for cell in cells]
            scored = [cell for cell in (SCORED if column is None else (column.lower(),)) if cell in named]
            if "system" in named and scored:
                columns = ["score" if cell == scored[0] else cell.replace("score", "") for cell in named]
                continue
            if column is not None:
                raise InputError(f"{where}: no columns 'system' and {column!r}")
            if len(cells) not in _COLUMNS:
                raise InputError(
                    f"{where}: {len(cells)} columns and no names of columns: 'system' and 'score' needed"
                )
            columns = _COLUMNS[len(cells)]
        if len(cells) != len(columns):
            raise InputError(f"{where}: {len(cells)} cells, where {len(columns)} are needed: {' '.join(columns[:6])}")
        row = dict(zip(columns, cells, strict=True))
        if in_order:
            row["segment"] = str(met[row["system"]])
            met[row["system"]] += 1
        if direction is None or row.get("lp", direction) == direction:
            yield _entry(where, row.get("metric", metric), row["system"], row.get("segment"), row["score"])


def _entry(where: str, metric: str, system: object, segment: object, score: object) -> _Entry:
    try:
        number = None if segment is None else parse_whole(str(segment))
        if number is not None and number < 0:
            raise ValueError(number)
    except ValueError:
        raise InputError(f"{where}: the number of a segment is needed, not {segment!r}") from None
    try:
        value = np.nan if score in _GAP else parse_score(score)
    except ValueError as error:
        raise InputError(f"{where}: {score!r} is no score: {error}") from None
    if not isinstance(system, str):
        raise InputError(f"{where}: a system's name is needed, not {system!r}")
    return _Entry(where, metric, system, number, value)


def _table(name: str, metric: str, entries: Sequence[_Entry], names: Mapping[str, str]) -> ScoreTable:
    systems: dict[str, float] = {}
    parts: dict[str, dict[int, float]] = {}
    for entry in entries:
        system = names[entry.system]
        found: dict[int, float] | None = None if entry.segment is None else parts.setdefault(system, {})
        if system in systems if found is None else entry.segment in found:
            raise InputError(f"{entry.where}: a second score of {system!r} (several directions? name one)")
        if found is not None and entry.segment is not None:
            found[entry.segment] = entry.score
        elif not np.isnan(entry.score):
            systems[system] = entry.score
    start = 1 if parts and all(0 not in scored for scored in parts.values()) else 0
    length = max((max(scored) + 1 - start for scored in parts.values()), default=0)
    if length > _MOST_GAPS * len(entries):
        raise InputError(f"{name}: {len(entries)} scores cannot be of {length:,} segments: are these their numbers?")
    segments = {system: np.full(length, np.nan) for system in parts}
    for system, scored in parts.items():
        segments[system][np.array([*scored]) - start] = [*scored.values()]
    return ScoreTable(metric, systems, segments)
