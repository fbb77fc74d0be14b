"""Scores and judgements in files: tables of lines, CSV, Parquet and JSON as rows; scores of systems and segments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from softbleu.config.declare import parse_signature
from softbleu.config.languages import find_direction
from softbleu.corpora.files import name_files, open_text
from softbleu.errors import InputError, MissingExtraError, UnknownNameError
from softbleu.io.platform import cached_property
from softbleu.io.reading import (
    NotJsonError,
    check_columns,
    parse_json,
    parse_score,
    read_rows,
    whole_number,
    without_packing,
)

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

_COLUMNS = {
    2: ("system", "score"),
    3: ("system", "segment", "score"),
    5: ("metric", "lp", "testset", "system", "score"),
    6: ("metric", "lp", "testset", "system", "segment", "score"),
}
"""Meaning of the columns of a table without column names, by how many there are."""
_ALIASES = {"name": "system", "sid": "segment", "doc": "document", "document_id": "document"}
SCORED = ("score", "human", "z", "z.scr", "mqm", "mqm_avg_score", "esa", "da", "raw", "raw.scr")
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
_DIRECTION = re.compile(r"[a-z]{2,3}-[a-z]{2,3}")
_GAP = ("None", "", None)  # Where something was not scored
_MOST_GAPS, _MOST_SEGMENTS = 1000, 100_000  # Segments a score, or in all: with more it is numbered by something else


def first_line(text: Iterable[str]) -> str:
    """The first line that is not blank; empty without one."""
    return next((line for line in text if line.strip()), "")


def is_json(text: Iterable[str]) -> bool:
    """Whether a text begins as JSON of objects or lists does."""
    return first_line(text).lstrip()[:1] in ("{", "[")


def text_of(name: str, encoding: str = "utf-8") -> list[str]:
    """Read the lines of a file; rows of CSV and of Parquet become lines with tabs, at the same places."""
    suffix = Path(without_packing(name)).suffix.lower()
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


def _numbered_lines(name: str, text: Iterable[str]) -> Iterator[tuple[str, str]]:
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
    lines = (entry for entry in _numbered_lines(name, text) if not (comment and entry[1].startswith(comment)))
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
    in_order = without_packing(name).endswith(".seg.score")
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
    """Read JSON, the entries of a list one by one, or else JSON lines. InputError: the text is neither."""
    try:
        whole = parse_json("\n".join(text), name)
    except NotJsonError:
        return [(where, parse_json(line, where)) for where, line in _numbered_lines(name, text)]
    if not isinstance(whole, list) or not whole:
        return [(name, whole)]
    return [(f"{name}, entry {number}", value) for number, value in enumerate(whole, start=1)]


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
    if isinstance(first, dict) and "metric_scores" in first:
        return _document_rows(values, system), True
    if all(isinstance(row, dict) and any(keys <= row.keys() for keys in _OF_SEGMENTS) for _, row in values):
        return _segment_rows(values, system), True
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


def of_direction(name: str, rows: Iterable[TableRow], direction: str | None) -> list[TableRow]:
    """Take the rows of one direction. InputError: there are none, or several directions and none is named."""
    listed = list(rows)
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


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of every system, by a metric or by judges."""

    name: str
    systems: Mapping[str, float]  # Score of each system; empty where only segments were scored
    segments: Mapping[str, Floats] = field(default_factory=dict)
    """Of each system its segments' scores, in order, NaN for what was not scored; empty where only systems were."""
    metric: str = ""  # Signature or name of the metric, where a file has it; empty where greater is better
    better: str = ""  # `higher` or `lower`, where the file says it
    documents: Sequence[str] = ()  # Of each segment, where the file says it
    location: str = ""  # File, and behind a colon the metric or column where the file has several; joined by `+`
    statistics: Mapping[str, Integers | Floats] = field(default_factory=dict)
    """Of each system a row per segment, of whose sum `made_by` makes its score; empty where one lacks its row."""
    made_by: str = ""  # The metric as an expression, where the file is our own

    @cached_property
    def fingerprint(self) -> str:
        """Hex SHA-256 of the scores, whatever file has them."""
        digest = sha256(repr(sorted(self.systems.items())).encode("utf-8", "surrogatepass"))
        for system, scores in sorted(self.segments.items()):
            digest.update(system.encode("utf-8", "surrogatepass") + scores.astype("<f8").tobytes())
        return digest.hexdigest()

    def need_segments(self, what: str = "") -> Mapping[str, Floats]:
        """The scores of segments; InputError, which says what they are needed for: there are none."""
        if not self.segments:
            raise InputError(f"{self.name} has scores of systems only: {what}give those of segments, too")
        return self.segments

    def means(self) -> dict[str, float]:
        """Mean score of each system's segments, of those that have one."""
        return {name: float(np.nanmean(scores)) for name, scores in self.segments.items() if (scores == scores).any()}

    def of_documents(self, numbers: Integers) -> ScoreTable:
        """Means of the segments of each document, in the place of segments; these have the `numbers`.

        InputError: there are other segments than those.
        """
        means = {}
        for system, scores in self.segments.items():
            if len(scores) != len(numbers):
                raise InputError(
                    f"{self.name} has {len(scores)} segments of {system}, {len(numbers)} have a document"
                )
            known = ~np.isnan(scores)
            sums, counts = (np.bincount(numbers[known], of, 1 + max(numbers)) for of in (scores[known], None))
            means[system] = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
        return replace(self, segments=means, documents=(), statistics={})

    def __str__(self) -> str:
        """The file, or all of them, and the content, as signatures have them."""
        whole = [self.location] if Path(self.location).exists() else self.location.split("+")
        return f"{'+'.join(Path(part).name for part in whole) or self.name}#{self.fingerprint[:12]}"


class _Entry(NamedTuple):
    where: str
    table: str  # Name of the table that it belongs to
    metric: str  # Signature or name of the metric; empty where the row has none
    better: str
    system: str
    segment: int | None
    score: float
    document: str
    statistics: Sequence[float] | None  # What the score of the segment is made of
    made_by: str


def read_scores(
    name: str,
    *,
    label: str | None = None,
    direction: str | None = None,
    column: str | None = None,
    encoding: str = "utf-8",
) -> list[ScoreTable]:
    """Read scores of systems, of segments, or of both: a table per metric.

    Read are JSON, JSON lines and TSV as `softbleu score` writes them; tables (tabs, blanks, CSV or Parquet) with the
    column names `system`, `score` (or another of `SCORED`), `segment` (or `sid`), `lp`, `metric`; wide ones, whose
    columns of scores are named behind a colon, as in ``scores.tsv:COMET,MetricX``; without column names those of WMT:
    metric, direction, test set, system, (segment,) score; or system, (segment,) score; ``.sys.score`` and
    ``.seg.score`` of mt-metrics-eval, the segments of a system in order; and JSON of other programs
    (`softbleu.corpora.judgements.scores.outside_rows`). What is ``None``, empty or missing was not scored.

    Parameters
    ----------
    name
        The file, packed or not; behind a colon the metrics that are wanted of it, apart by commas.
    label
        Name of the table (default: that of its metric, where columns or several metrics have one, or of the file); of
        JSON that has scores of one system by several metrics the name of the system.
    direction
        Take rows of this direction (column `lp`) only.
    column
        Column of the scores (default: the first of `SCORED` that the table has).

    Raises
    ------
    InputError
        There are no scores, or a row is not valid.
    """
    file, metrics = split_metrics(name)
    text = text_of(file, encoding)
    published = without_packing(file).endswith((".seg.score", ".sys.score"))
    stem = file_stem(file, direction)
    if is_json(text):
        rows, unnamed = outside_rows(file, text, label or stem)
        label = None if unnamed else label
    else:
        rows = score_rows(file, text, column, metrics)
    # Scores with single references are not those of segments.
    taken: Iterable[TableRow] = ((where, row) for where, row in rows if "reference" not in row)
    if direction is not None:
        there = list(taken)
        chosen = find_direction(direction, (row["lp"] for _, row in there if "lp" in row))
        taken = ((where, row) for where, row in there if row.get("lp", chosen) == chosen)
    entries = [_entry(where, row, label or stem) for where, row in taken]
    if not entries:
        wanted = f" of direction {direction}" if direction else ""
        raise InputError(f"{file}: there are no scores{wanted}")
    names = plain_names({entry.system for entry in entries})
    groups: dict[str, list[_Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.table, []).append(entry)
    if unknown := [metric for metric in metrics if metric not in groups]:
        raise UnknownNameError("metric", unknown[0], groups, place=file)
    documents = _documents(entries)
    tables = []
    for group, members in groups.items():
        if metrics and group not in metrics:
            continue
        # Scores of mt-metrics-eval are greater for better, whatever their metric is.
        metric, better = ("", "") if published else (members[0].metric or stem, members[0].better)
        called = label if label and len(metrics or groups) == 1 else group
        location = f"{file}:{group}" if metrics or len(groups) > 1 else file
        systems, segments, statistics = _gather(file, members, names)
        made = ScoreTable(called, systems, segments, metric, better, documents, location, statistics)
        tables.append(replace(made, made_by=members[0].made_by))
    return merge_scores(tables)


def file_stem(name: str, direction: str | None = None) -> str:
    """Name of a file without suffixes and without the direction that it names; else that of its folder.

    >>> file_stem("BLEU.seg.score.gz"), file_stem("judge-en-cs.tsv", "en-cs"), file_stem("comet/en-cs.json", "en-cs")
    ('BLEU', 'judge', 'comet')
    """
    path = Path(without_packing(name))
    stem = Path(path.stem).stem if path.name.endswith((".seg.score", ".sys.score")) else path.stem
    if not direction or direction not in stem:
        return stem
    return stem.replace(direction, "").strip("-._") or path.parent.name or stem


def split_metrics(name: str) -> tuple[str, list[str]]:
    """Split off the metrics that are named behind a file, where no file has the whole name.

    >>> split_metrics("scores.tsv:COMET,MetricX"), split_metrics("http://host/scores.tsv")
    (('scores.tsv', ['COMET', 'MetricX']), ('http://host/scores.tsv', []))
    """
    file, colon, metrics = name.rpartition(":")
    if not colon or "/" in metrics or "\\" in metrics or not metrics or Path(name).exists():
        return name, []
    return file, [metric for metric in metrics.split(",") if metric]


def merge_scores(tables: Iterable[ScoreTable]) -> list[ScoreTable]:
    """Join tables of one name, of which one has the systems and the other the segments, or each has other systems."""
    merged: dict[str, ScoreTable] = {}
    for table in tables:
        known = merged.get(table.name)
        if known is None:
            merged[table.name] = table
            continue
        if known.systems.keys() & table.systems.keys() or known.segments.keys() & table.segments.keys():
            raise InputError(f"two tables of scores are called {table.name!r}: name one by NAME=FILE")
        _check_settings(known, table)
        table = in_order_of(known, table)
        merged[table.name] = replace(
            known,
            systems={**known.systems, **table.systems},
            segments={**known.segments, **table.segments},
            statistics={**known.statistics, **table.statistics} if known.statistics and table.statistics else {},
            location="+".join(filter(None, (known.location, table.location))),
        )
    return list(merged.values())


_OF_RUNS = ("version", "level")  # Entries of signatures that may differ where scores are compared


def _check_settings(known: ScoreTable, table: ScoreTable) -> None:
    """Check that the signatures of scores that go together, if they have any, differ in nothing that counts."""
    signatures = known.metric, table.metric
    if not all("|" in signature for signature in signatures):
        return
    one, two = map(parse_signature, signatures)
    for key in dict.fromkeys((*one, *two)):
        if one.get(key) != two.get(key) and key not in _OF_RUNS:
            said = f"{key} is {one.get(key, 'missing')} in one, {two.get(key, 'missing')} in the other"
            where = f"{known.location or known.name} and {table.location or table.name}"
            raise InputError(
                f"{where}: {known.name} with other settings ({said}): score them by the same settings, or apart"
            )


def in_order_of(first: ScoreTable, table: ScoreTable) -> ScoreTable:
    """Put the segments of a table in the order of those of another, where both say of which document each is.

    Segments of a document are in order in both. InputError: they are of other documents, or of more segments.

    >>> one = ScoreTable("m", {}, {"A": np.array([1.0, 2.0, 3.0])}, documents=["x", "y", "y"])
    >>> other = ScoreTable("m", {}, {"B": np.array([2.0, 3.0, 1.0])}, documents=["y", "y", "x"])
    >>> in_order_of(one, other).segments["B"].tolist()
    [1.0, 2.0, 3.0]
    """
    if not first.documents or not table.documents or list(first.documents) == list(table.documents):
        return table
    orders = [_in_documents(one.documents) for one in (first, table)]
    if sorted(orders[0]) != sorted(orders[1]):
        (document, number) = min({*orders[0]} ^ {*orders[1]})
        said = f"document {document!r} has a segment {number + 1} in one, and not in the other"
        raise InputError(f"{first.location or first.name} and {table.location or table.name}: {said}")
    places = {key: place for place, key in enumerate(orders[1])}
    order = [places[key] for key in orders[0]]
    segments = {system: scores[order] for system, scores in table.segments.items()}
    statistics = {system: rows[order] for system, rows in table.statistics.items()}
    return replace(table, segments=segments, documents=first.documents, statistics=statistics)


def _in_documents(documents: Sequence[str]) -> list[tuple[str, int]]:
    """Documents of segments, with the number of the segment in its document."""
    counts: Counter[str] = Counter()
    numbered = []
    for document in documents:
        numbered.append((document, counts[document]))
        counts[document] += 1
    return numbered


def _entry(where: str, row: Mapping[str, Any], name: str) -> _Entry:
    segment, system = row.get("segment"), row.get("system")
    signature = str(row.get("signature") or "")
    metric = row.get("metric") or _signed_metric(signature)
    if not isinstance(system, str):
        raise InputError(f"{where}: a system's name is needed, not {system!r}")
    number = None if segment is None else segment_number(where, segment)
    system = f"{system}.{row['run']}" if row.get("run") not in (None, "") else system
    better = row.get("better", "")
    return _Entry(
        where,
        str(metric or name),
        signature or str(metric or ""),
        better if better in ("higher", "lower") else "",
        system,
        number,
        score_of(where, row["score"]),
        str(row.get("document", "")),
        None if number is None else _statistics(where, row.get("statistics")),
        str(row.get("metric") or "") if "statistics" in row or signature else "",
    )


def _signed_metric(signature: str) -> str:
    """Name the metric of our signature, or the matcher that BLEU has then; empty for other signatures.

    >>> _signed_metric("metric:bleu|matcher:vleu|threshold:0.8"), _signed_metric("nrefs:1|case:mixed")
    ('vleu', '')
    """
    signed = parse_signature(signature) if signature.startswith("metric:") else {}
    matcher = signed.get("matcher", "exact")
    return signed.get("metric", "") if matcher == "exact" or signed.get("metric") != "bleu" else matcher


def _statistics(where: str, cell: Any) -> Sequence[float] | None:
    """Read a row of statistics, a list or a text of numbers; None where there is none."""
    numbers = cell.split() if isinstance(cell, str) else cell
    if not numbers:
        return None
    try:
        return [int(number) if str(number).isdigit() else parse_score(number) for number in numbers]
    except (TypeError, ValueError):
        raise InputError(f"{where}: statistics are a list of numbers, not {str(cell)[:30]!r}") from None


def _documents(entries: Sequence[_Entry]) -> Sequence[str]:
    """Documents of the segments in order, where every segment has one."""
    documents = {entry.segment: entry.document for entry in entries if entry.segment is not None and entry.document}
    first = min(documents, default=0)
    whole = range(first, first + len(documents))
    return [documents[number] for number in whole] if whole and all(map(documents.__contains__, whole)) else ()


def segment_number(where: str, text: object) -> int:
    """Read the number of a segment. InputError: it is no whole number from 0."""
    number = whole_number(where, what := "the number of a segment", text)
    if number < 0:
        raise InputError(f"{where}: {what} is needed, not {text!r}")
    return number


def place_rows(name: str, rows: Iterable[TableRow]) -> tuple[list[tuple[str, int]], int]:
    """System and segment, from 0, of each row; and the number of the first segment in the file, 0 or 1."""
    places = [(row["system"], segment_number(where, row["segment"])) for where, row in rows]
    start = first_segment(name, (segment for _, segment in places))
    return [(system, segment - start) for system, segment in places], start


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
) -> tuple[dict[str, float], dict[str, Floats], dict[str, Integers | Floats]]:
    """Put the scores of one metric together: of systems, of their segments, and what these are made of."""
    systems: dict[str, float] = {}
    parts: dict[str, dict[int, float]] = {}
    counts: dict[str, dict[int, Sequence[float]]] = {}
    for entry in entries:
        system = names[entry.system]
        scores: dict[Any, float] = systems if entry.segment is None else parts.setdefault(system, {})
        key = system if entry.segment is None else entry.segment
        if key in scores:
            raise InputError(f"{entry.where}: a second score of {system!r} (several directions? name one)")
        if entry.segment is not None or not np.isnan(entry.score):
            scores[key] = entry.score
            if entry.segment is not None and entry.statistics is not None:
                counts.setdefault(system, {})[entry.segment] = entry.statistics
    start = first_segment(name, chain.from_iterable(parts.values()))
    segments = {system: np.full(max(map(max, parts.values())) + 1 - start, np.nan) for system in parts}
    for system, scored in parts.items():
        segments[system][np.array([*scored]) - start] = [*scored.values()]
    return systems, segments, _rows_by_system(segments, counts, start)


def _rows_by_system(
    segments: Mapping[str, Floats], counts: Mapping[str, Mapping[int, Sequence[float]]], start: int
) -> dict[str, Integers | Floats]:
    """Make an array of the rows of each system, 0 for what was not scored; none where a scored segment has no row."""
    sizes = {len(row) for rows in counts.values() for row in rows.values()}
    missing = any((~np.isnan(scores)).sum() != len(counts.get(name, ())) for name, scores in segments.items())
    if len(sizes) != 1 or missing:
        return {}
    made: dict[str, Integers | Floats] = {}
    for system, scores in segments.items():
        listed = np.array([*counts[system].values()])
        made[system] = np.zeros((len(scores), sizes.pop() if not made else listed.shape[1]), listed.dtype)
        made[system][np.array([*counts[system]]) - start] = listed
    return made
