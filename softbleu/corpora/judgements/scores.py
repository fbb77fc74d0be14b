"""Scores of systems and segments as files: what `softbleu score` writes, and the tables of WMT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from softbleu.corpora.files import open_text
from softbleu.corpora.judgements.comparisons import plain_names
from softbleu.errors import InputError
from softbleu.io.data_files import NotJsonError, parse_json, parse_score, parse_whole
from softbleu.io.progress import note

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
_MOST_GAPS = 1000  # Segments a score: a table with more is numbered by something else


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


_Row = tuple[str, Mapping[str, Any]]  # Where it stands, and its values by the names of columns


def read_scores(
    name: str,
    *,
    label: str | None = None,
    direction: str | None = None,
    column: str | None = None,
    repeated: bool = False,
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
    repeated
        Whether segments may have several scores, such as those of several annotators. Their mean is taken.

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
    if next((line for line in text if line.strip()), "").lstrip().startswith("{"):
        rows = _read_json(name, text)
    else:
        rows = _read_table(name, text, column, in_order=path.name.endswith(".seg.score"))
    entries: list[_Entry] = []
    directions = set()
    for where, row in rows:
        directions.add(row.get("lp", direction))
        if direction in (None, row.get("lp", direction)):
            entries.append(_entry(where, row, label or stem))
    if repeated and direction is None and len(directions) > 1:
        raise InputError(f"{name}: name one direction of {', '.join(sorted(map(str, directions)))}")
    if not entries:
        wanted = f" of direction {direction}" if direction else ""
        raise InputError(f"{name}: there are no scores{wanted}")
    names = plain_names({entry.system for entry in entries})
    tables = []
    for group in dict.fromkeys(entry.table for entry in entries):
        members = [entry for entry in entries if entry.table == group]
        systems, segments = _gather(name, members, names, repeated=repeated)
        # Scores of mt-metrics-eval are greater for better, whatever their metric is.
        metric, better = ("", "") if published else (members[0].metric or stem, members[0].better)
        tables.append(ScoreTable(label or group, systems, segments, metric, better))
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


def _read_json(name: str, text: Sequence[str]) -> Iterator[_Row]:
    try:
        whole = parse_json("\n".join(text), name)
        rows: Iterable[tuple[str, Any]] = [(name, row) for row in _flat(whole)]
    except NotJsonError:
        places = [(f"{name}, line {number}", line) for number, line in enumerate(text, start=1) if line.strip()]
        rows = [(where, parse_json(line, where)) for where, line in places]
    for where, row in rows:
        if not isinstance(row, dict) or not {"system", "score"} <= row.keys():
            raise InputError(f"{where}: no scores; JSON is read as softbleu's scores are written in json or jsonl")
        yield where, row


def _flat(whole: Any) -> Iterator[Any]:
    """Go through what `softbleu score` writes as JSON: systems, each with its segments."""
    if not isinstance(whole, dict) or not isinstance(whole.get("systems"), list):
        yield whole
        return
    for system in whole["systems"]:
        labels = {key: whole[key] for key in ("signature",) if key in whole}
        if isinstance(system, dict):
            labels |= {key: system[key] for key in ("metric", "signature") if key in system}
            labels["system"] = system.get("name")
        else:
            system = {}
        yield {**system, **labels}
        parts = system.get("segments", [])
        for part in parts if isinstance(parts, list) else [parts]:
            yield {**part, **labels} if isinstance(part, dict) else {}


def _read_table(name: str, text: Sequence[str], column: str | None, *, in_order: bool) -> Iterator[_Row]:
    columns: Sequence[str] | None = None
    counts: Counter[str] = Counter()  # Segments of each system, where they are not numbered
    for number, line in enumerate(text, start=1):
        where = f"{name}, line {number}"
        cells = line.split("\t") if "\t" in line else line.split()
        if not line.strip() or line.startswith("#"):
            continue
        if columns is None:
            named = _named_columns(cells, column)
            if named is None and column is not None:
                raise InputError(f"{where}: no columns 'system' and {column!r}")
            if named is None and len(cells) not in _COLUMNS:
                raise InputError(
                    f"{where}: {len(cells)} columns and no names of columns: 'system' and 'score' needed"
                )
            columns = named or _COLUMNS[len(cells)]
            if named is not None:
                continue
        if len(cells) != len(columns):
            raise InputError(f"{where}: {len(cells)} cells, where {len(columns)} are needed: {' '.join(columns[:6])}")
        row = dict(zip(columns, cells, strict=True))
        if in_order:
            row["segment"] = str(counts[row["system"]])
            counts[row["system"]] += 1
        yield where, row


def _named_columns(cells: Sequence[str], column: str | None) -> list[str] | None:
    """Names of columns, the chosen one as `score`; None where the cells name no system and no score."""
    columns = [_ALIASES.get(cell.lower(), cell.lower()) for cell in cells]
    scored = next((name for name in (SCORED if column is None else (column.lower(),)) if name in columns), None)
    if scored is None or "system" not in columns:
        return None
    return ["score" if name == scored else name.replace("score", "") for name in columns]


def _entry(where: str, row: Mapping[str, Any], name: str) -> _Entry:
    segment, score, system, metric = (row.get(key) for key in ("segment", "score", "system", "metric"))
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
    better, signature = row.get("better"), row.get("signature")
    known = better if better in ("higher", "lower") else ""
    return _Entry(where, str(metric or name), str(signature or metric or ""), known, system, number, value)


def _gather(
    name: str, entries: Sequence[_Entry], names: Mapping[str, str], *, repeated: bool
) -> tuple[dict[str, float], dict[str, Floats]]:
    """Put the scores of one metric together: of systems, and of their segments."""
    systems: dict[str, float] = {}
    parts: dict[str, dict[int, float]] = {}
    counts: dict[tuple[str, int], int] = {}  # Scores of segments that have several
    for where, *_, system, segment, score in entries:
        system = names[system]
        scores = None if segment is None else parts.setdefault(system, {})
        if system in systems if scores is None else segment in scores and not repeated:
            raise InputError(f"{where}: a second score of {system!r} (several directions? name one)")
        if scores is None or segment is None:
            if not np.isnan(score):
                systems[system] = score
        elif np.isnan(scores.get(segment, np.nan)):
            scores[segment] = score
        elif not np.isnan(score):
            scores[segment] += score
            counts[system, segment] = counts.get((system, segment), 1) + 1
    for (system, segment), count in counts.items():
        parts[system][segment] /= count
    note_repeated(name, len(counts), sum(map(len, parts.values())))
    start = 1 if parts and all(0 not in scored for scored in parts.values()) else 0
    length = max((max(scored) + 1 - start for scored in parts.values()), default=0)
    if length > _MOST_GAPS * len(entries):
        raise InputError(f"{name}: {len(entries)} scores cannot be of {length:,} segments: are these their numbers?")
    segments = {system: np.full(length, np.nan) for system in parts}
    for system, scored in parts.items():
        segments[system][np.array([*scored]) - start] = [*scored.values()]
    return systems, segments


def note_repeated(name: str, repeated: int, outputs: int) -> None:
    """Say of how many outputs there are several judgements, of which the mean is taken."""
    if repeated:
        note(f"{name}: {repeated:,} of {outputs:,} outputs have several judgements: the mean of each is taken")
