"""Scores of systems and segments as files: what `softbleu score` writes, and the tables of WMT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from softbleu.corpora.judgements.scores import is_json, outside_rows, plain_names, score_rows, text_of
from softbleu.errors import InputError, UnknownNameError
from softbleu.io.platform import cached_property
from softbleu.io.reading import parse_score, whole_number

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

_GAP = ("None", "", None)  # Where something was not scored
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
    documents: Sequence[str] = ()  # Of each segment, where the file says it
    location: str = ""  # File, and behind a colon the metric or column where the file has several; joined by `+`

    @cached_property
    def fingerprint(self) -> str:
        """Hex SHA-256 of the scores, whatever file has them."""
        digest = sha256(repr(sorted(self.systems.items())).encode("utf-8", "surrogatepass"))
        for system, scores in sorted(self.segments.items()):
            digest.update(system.encode("utf-8", "surrogatepass") + scores.astype("<f8").tobytes())
        return digest.hexdigest()

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
            sums, counts = np.bincount(numbers[known], scores[known], 1 + max(numbers)), np.bincount(numbers[known])
            counts = np.pad(counts, (0, len(sums) - len(counts)))
            means[system] = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
        return replace(self, segments=means, documents=())

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
    published = file.removesuffix(".gz").endswith((".seg.score", ".sys.score"))
    stem = file_stem(file, direction)
    if is_json(text):
        rows, unnamed = outside_rows(file, text, label or stem)
        label = None if unnamed else label
    else:
        rows = score_rows(file, text, column, metrics)
    # Scores with single references are not those of segments.
    entries = [
        _entry(where, row, label or stem)
        for where, row in rows
        if "reference" not in row and (direction is None or row.get("lp", direction) == direction)
    ]
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
        tables.append(ScoreTable(called, *_gather(file, members, names), metric, better, documents, location))
    return merge_scores(tables)


def file_stem(name: str, direction: str | None = None) -> str:
    """Name of a file without suffixes and without the direction that it names; else that of its folder.

    >>> file_stem("BLEU.seg.score.gz"), file_stem("judge-en-cs.tsv", "en-cs"), file_stem("comet/en-cs.json", "en-cs")
    ('BLEU', 'judge', 'comet')
    """
    path = Path(name.removesuffix(".gz"))
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
        table = in_order_of(known, table)
        merged[table.name] = replace(
            known,
            systems={**known.systems, **table.systems},
            segments={**known.segments, **table.segments},
            location="+".join(filter(None, (known.location, table.location))),
        )
    return list(merged.values())


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
    orders = [_numbered(one.documents) for one in (first, table)]
    if sorted(orders[0]) != sorted(orders[1]):
        (document, number) = min({*orders[0]} ^ {*orders[1]})
        said = f"document {document!r} has a segment {number + 1} in one, and not in the other"
        raise InputError(f"{first.location or first.name} and {table.location or table.name}: {said}")
    places = {key: place for place, key in enumerate(orders[1])}
    order = [places[key] for key in orders[0]]
    segments = {system: scores[order] for system, scores in table.segments.items()}
    return replace(table, segments=segments, documents=first.documents)


def _numbered(documents: Sequence[str]) -> list[tuple[str, int]]:
    """Documents of segments, with the number of the segment in its document."""
    counts: Counter[str] = Counter()
    numbered = []
    for document in documents:
        numbered.append((document, counts[document]))
        counts[document] += 1
    return numbered


def _entry(where: str, row: Mapping[str, Any], name: str) -> _Entry:
    segment, system, metric = row.get("segment"), row.get("system"), row.get("metric")
    if not isinstance(system, str):
        raise InputError(f"{where}: a system's name is needed, not {system!r}")
    number = None if segment is None else segment_number(where, segment)
    system = f"{system}.{row['run']}" if row.get("run") not in (None, "") else system
    better = row.get("better", "")
    return _Entry(
        where,
        str(metric or name),
        str(row.get("signature") or metric or ""),
        better if better in ("higher", "lower") else "",
        system,
        number,
        score_of(where, row["score"]),
        str(row.get("document", "")),
    )


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
