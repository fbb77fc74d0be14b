"""Files of scores and judgements as rows: tables of lines, CSV and Parquet, and JSON as other programs write it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from softbleu.corpora.files import name_files, open_text
from softbleu.errors import InputError, MissingExtraError
from softbleu.io.reading import NotJsonError, check_columns, parse_json, read_rows

_COLUMNS = {
    2: ("system", "score"),
    3: ("system", "segment", "score"),
    5: ("metric", "lp", "testset", "system", "score"),
    6: ("metric", "lp", "testset", "system", "segment", "score"),
}
"""Meaning of the columns of a table without column names, by how many there are."""
_ALIASES = {"name": "system", "sid": "segment", "doc": "document", "document_id": "document"}
SCORED = ("score", "human", "z", "mqm", "esa", "raw")
"""Columns of scores, of which the first that a table has is read."""
_PLACES = ("system", "segment", "lp", "document", "run")  # Columns that say what a score is of
_READ = {
    *(*_PLACES, *SCORED, *_COLUMNS[6], "annotator", "better", "group", "signature", "human_score", "translation"),
    *("source", "reference", "start", "end", "severity", "spans"),
    *("category", "target", "rater", "seg_id", "doc", "sid"),
}
"""Columns that mean something in a table of judgements; of others there may be several of one name."""

TableRow = tuple[str, Mapping[str, Any]]
"""Where a row stands, and its values by the names of columns."""
Values = Sequence[tuple[str, Any]]
"""Values of JSON, each with where it stands: the whole file, or its lines."""


def first_line(text: Iterable[str]) -> str:
    """The first line that is not blank; empty without one."""
    return next((line for line in text if line.strip()), "")


def is_json(text: Iterable[str]) -> bool:
    """Whether a text begins as JSON of objects or lists does."""
    return first_line(text).lstrip()[:1] in ("{", "[")


def text_of(name: str, encoding: str = "utf-8") -> list[str]:
    """Read the lines of a file; rows of CSV and of Parquet become lines with tabs, at the same places."""
    suffix = Path(name.removesuffix(".gz")).suffix.lower()
    if suffix == ".parquet":
        return _parquet_lines(name)
    lines = list(open_text(name, encoding))
    if suffix != ".csv" or any("\t" in line for line in lines[:1]):
        return lines
    return csv_lines(name, lines)


def csv_lines(name: str, lines: Iterable[str]) -> list[str]:
    """Put tabs between the cells of CSV; rows stay at their places."""
    text: list[str] = []
    for number, cells in read_rows(lines, name):
        text += [""] * (number - 1 - len(text)) + [_tabbed(cells)]
    return text


def _tabbed(cells: Iterable[object]) -> str:
    return "\t".join("" if cell is None else " ".join(str(cell).split()) for cell in cells)


def _parquet_lines(name: str) -> list[str]:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("Parquet needs another package: pip install 'softbleu[parquet]'") from None
    try:
        table = pyarrow.parquet.read_table(name)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{name}: no Parquet that can be read ({str(error).splitlines()[0][:80]})") from None
    columns = [column.to_pylist() for column in table.columns]
    return [_tabbed(table.column_names), *map(_tabbed, zip(*columns, strict=True))]


def _numbered(name: str, text: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Lines that are not blank, each behind what says where it stands."""
    return ((f"{name}, line {number}", line) for number, line in enumerate(text, start=1) if line.strip())


def _lower_names(cells: Sequence[str]) -> tuple[Sequence[str], bool]:
    """Names of columns in lower case, whatever the first line's cells are."""
    return [cell.lower() for cell in cells], True


def table_rows(
    name: str,
    text: Iterable[str],
    columns_of: Callable[[Sequence[str]], tuple[Sequence[str], bool]] = _lower_names,
    comment: str = "",
    wanted: Collection[str] = (),
) -> tuple[Sequence[str], Iterator[TableRow]]:
    """Read a table of lines, its cells apart by tabs where the first line has any, or else by blanks.

    `columns_of` finds the names of columns for the cells of the first line, and whether they are these cells. Lines
    that begin with the comment are passed over. InputError: another number of cells than of columns, or two
    columns of one name that is read.

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
    wanted
        Columns that are read beside those that mean something in any such table.
    """
    lines = (entry for entry in _numbered(name, text) if not (comment and entry[1].startswith(comment)))
    place, first = next(lines, (f"{name}, line 1", ""))
    mark = "\t" if "\t" in first else None
    try:
        cells = first.split(mark) if first else []
        columns, named = columns_of(cells)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    if named:
        check_columns(place, [column if column in {*_READ, *wanted} else "" for column in columns], cells)

    def rows() -> Iterator[TableRow]:
        for where, line in lines if named or not first else chain([(place, first)], lines):
            cells = line.split(mark)
            if len(cells) != len(columns):
                names = " ".join(columns[:6])
                raise InputError(f"{where}: {len(cells)} cells under {len(columns)} column names: {names}")
            yield where, dict(zip(columns, cells, strict=True))

    return columns, rows()


def score_rows(
    name: str, text: Iterable[str], column: str | None = None, metrics: Sequence[str] = ()
) -> Iterator[TableRow]:
    """Read a table of scores by the columns `system`, `score`, `segment`, `lp`, `metric`, …; see `read_scores`.

    Parameters
    ----------
    name
        Name of the file, which may say that segments are in order.
    text
        Its lines.
    column
        Column of the scores; None: the first of `SCORED`.
    metrics
        Columns of a wide table, each of which has the scores of the metric that it names.
    """
    scored: list[str] = []

    def columns_of(cells: Sequence[str]) -> tuple[Sequence[str], bool]:
        names, columns = _score_columns(name, cells, [*metrics] or [column] * (column is not None))
        scored.extend(columns)
        first = scored[0].lower() if scored and not metrics else ""
        if first:
            names = ["score" if header == first else "" if header == "score" else header for header in names]
        return names, bool(columns)

    _, rows = table_rows(name, text, columns_of, "#", [metric.lower() for metric in metrics])
    counts: Counter[str] = Counter()  # Segments of each system, where they are not numbered
    in_order = name.removesuffix(".gz").endswith(".seg.score")
    for where, row in rows:
        if in_order:
            yield where, {**row, "segment": str(counts[row["system"]])}
            counts[row["system"]] += 1
        elif metrics:
            place = {key: row[key] for key in _PLACES if key in row}
            yield from ((where, {**place, "metric": metric, "score": row[metric.lower()]}) for metric in scored)
        else:
            yield where, row


def _score_columns(name: str, cells: Sequence[str], wanted: Sequence[Any]) -> tuple[Sequence[str], Sequence[str]]:
    """Find the names of columns for the first line's cells, and which of them have scores; none without names."""
    lower = [cell.lower() for cell in cells]
    names = [cell if _ALIASES.get(cell, cell) in lower else _ALIASES[cell] for cell in lower]
    lacking = [header for header in wanted if header.lower() not in names]
    scored = [*wanted] or [header for header in SCORED if header in names][:1]
    if "system" in names and scored and not lacking:
        return names, scored
    if wanted:
        raise InputError(f"no columns 'system' and {(lacking or wanted)[0]!r}")
    if "system" in names:
        said = f"name those that have scores, as in {name}:{cells[-1]}; there are {' '.join(cells)}"
        raise InputError(f"no column 'score': {said}")
    if cells and len(cells) not in _COLUMNS:
        raise InputError(f"{len(cells)} columns and no names of columns: 'system' and 'score' needed")
    return _COLUMNS.get(len(cells), ()), ()


def json_values(name: str, text: Sequence[str]) -> Values:
    """Read JSON, or else JSON lines. InputError: the text is neither."""
    try:
        return [(name, parse_json("\n".join(text), name))]
    except NotJsonError:
        return [(where, parse_json(line, where)) for where, line in _numbered(name, text)]


def scored_rows(name: str, text: Sequence[str]) -> Iterator[TableRow]:
    """Read what `softbleu score` writes as JSON or JSON lines: systems, each with its segments or references.

    InputError: the text is no JSON, or has no scores.
    """
    return _softbleu_rows(name, json_values(name, text))


def _softbleu_rows(name: str, values: Values) -> Iterator[TableRow]:
    for where, row in ((where, row) for where, value in values for row in _flat(name, value)):
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


def outside_rows(name: str, text: Sequence[str], system: str) -> tuple[Iterator[TableRow], bool]:
    """Read JSON with scores, as softbleu or another program writes it; and whether it is of one system, not named.

    COMET (`--to_json`): lists of segments by the file of the system; WMT25: a document per line, with lists of scores
    by metric; lm-evaluation-harness (`--log_samples`), MetricX and sacrebleu (`--sentence-level`): a segment each.

    Parameters
    ----------
    name
        Name of the file, for errors.
    text
        Its lines.
    system
        Name of the system where the file does not say it.
    """
    values = json_values(name, text)
    first = values[0][1]
    segments = first if isinstance(first, list) and len(values) == 1 else [value for _, value in values]
    if isinstance(first, dict) and "metric_scores" in first:
        return _document_rows(values, system), True
    if all(isinstance(row, dict) and any(keys <= row.keys() for keys in _OF_SEGMENTS) for row in segments):
        places = [name] * len(segments) if first is segments else [where for where, _ in values]
        return _segment_rows(list(zip(places, segments, strict=True)), system), True
    lists = len(values) == 1 and isinstance(first, dict) and "systems" not in first
    if lists and all(isinstance(rows, list) and rows and {*map(type, rows)} == {dict} for rows in first.values()):
        return _comet_rows(name, first), False
    return _softbleu_rows(name, values), False


_OF_SEGMENTS = ({"doc_id", "target"}, {"prediction", "hypothesis"}, {"name", "score", "signature"})
"""Keys of a segment: of lm-evaluation-harness, of MetricX, of sacrebleu."""
_NUMBERED = ("doc_id", "doc", "filter", "version")


def _numbers(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if isinstance(value, int | float) and key not in _NUMBERED}


def _document_rows(values: Values, system: str) -> Iterator[TableRow]:
    """WMT25: `metric_scores` of each document have a list of its segments' scores by metric."""
    counts: Counter[str] = Counter()
    for where, value in values:
        scores = value.get("metric_scores") if isinstance(value, dict) else None
        if not isinstance(scores, dict) or not all(isinstance(listed, list) for listed in scores.values()):
            raise InputError(f"{where}: no 'metric_scores' with a list of scores by metric")
        direction = str(value.get("language_pair", ""))
        named = {"system": system.removeprefix(f"{direction}."), "document": value.get("document_id", "")}
        named |= {"lp": direction} if direction else {}
        for metric, listed in scores.items():
            for score in listed:
                yield where, {**named, "metric": metric, "segment": counts[metric], "score": score}
                counts[metric] += 1


def _segment_rows(values: Values, system: str) -> Iterator[TableRow]:
    """lm-evaluation-harness, MetricX, sacrebleu: a segment each, with scores by the names of keys or by `name`."""
    for number, (where, value) in enumerate(values):
        if "prediction" in value:
            scores = {"MetricX": value["prediction"]}
        elif "signature" in value:
            scores = {str(value.get("name", "score")): value.get("score")}
        else:
            scores = _numbers(value)
        chosen = value.get("filter") not in (None, "none")
        for metric, score in scores.items():
            better = {"better": "lower"} if "prediction" in value else {}
            named = f"{metric},{value['filter']}" if chosen else metric
            segment = value.get("doc_id", number)
            yield where, {"system": system, "metric": named, "segment": segment, "score": score, **better}


def _comet_rows(name: str, files: Mapping[str, Any]) -> Iterator[TableRow]:
    """COMET: of each system's file a list of segments, whose numbers are scores by the name of the metric."""
    systems = {path: system for system, path in name_files(list(files)).items()}
    for path, segments in files.items():
        metrics = list(dict.fromkeys(chain.from_iterable(map(_numbers, segments))))
        if not metrics:
            raise InputError(f"{name}: segments of {path!r} have no score")
        for number, segment in enumerate(segments):
            where = f"{name}, {path}, segment {number + 1}"
            for metric in metrics:
                score = segment.get(metric)
                yield where, {"system": systems[path], "metric": metric, "segment": number, "score": score}
