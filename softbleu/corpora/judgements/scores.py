"""Scores of systems and segments by metrics or judges: tables, and their readers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

import numpy as np

from softbleu.config.declare import parse_signature
from softbleu.config.languages import find_direction
from softbleu.corpora.judgements import converters
from softbleu.corpora.judgements.formats import rows_in_format
from softbleu.corpora.judgements.tables import (
    PLACES,
    SCORED,
    LinesOrRows,
    ParquetRows,
    TableRow,
    content_of,
    first_segment,
    head_of,
    meanings,
    of_direction,
    plain_names,
    score_of,
    segment_number,
    table_rows,
    with_direction,
)
from softbleu.errors import InputError, Parameter, UnknownNameError, counted
from softbleu.io.platform import cached_property
from softbleu.io.progress import note
from softbleu.io.reading import parse_score, without_packing

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.types import Fields, Floats, Integers, Json, Keywords, OfAnnotators

_COLUMNS = {
    2: ("system", "score"),
    3: ("system", "segment", "score"),
    5: ("metric", "lp", "testset", "system", "score"),
    6: ("metric", "lp", "testset", "system", "segment", "score"),
}
"""Meanings of columns in a table without column names, by their number."""
_OF_PEOPLE = ("human", "z", "z.scr", "esa", "da", "raw", "raw.scr")  # Columns of scores of which more is better
_BY_SIGN = "by sign"  # Less is better where scores of errors are above 0
_FAR = 3  # Outputs that a note names
_OTHER = 0.1  # Share of texts beside scores that may be other than the candidates


def score_rows(
    name: str, content: LinesOrRows, column: str | None = None, metrics: Sequence[str] = ()
) -> Iterator[TableRow]:
    """Read a table of scores by the columns `system`, `score`, `segment`, `lp`, `metric`, …; see `read_scores`.

    Parameters
    ----------
    name
        Name of the file, which may say that segments are in order.
    content
        Content of the file.
    column
        Column of the scores; None: the first of `SCORED`.
    metrics
        Columns of a wide table, each of which has the scores of the metric that it names.
    """
    scored: list[str] = []
    better = ""

    def columns_of(cells: Sequence[str]) -> tuple[Sequence[str], bool]:
        names, columns = _score_columns(name, cells, [*metrics] or [column] * (column is not None))
        scored.extend(columns)
        first = scored[0].lower() if scored and not metrics else ""
        if first:
            nonlocal better
            better = _BY_SIGN if first in ("mqm", "mqm_avg_score") else "higher" if first in _OF_PEOPLE else ""
            names = ["score" if header == first else "" if header == "score" else header for header in names]
        return names, bool(columns)

    _, rows = table_rows(name, content, columns_of, "#", [metric.lower() for metric in metrics])
    counts: Counter[str] = Counter()  # Segments of each system, where they are not numbered
    in_order = without_packing(name).endswith(".seg.score")
    for where, said in rows:
        row = with_direction({"better": better, "judged": True, **said} if better else said)
        if in_order:
            yield where, {**row, "segment": str(counts[row["system"]])}
            counts[row["system"]] += 1
        elif metrics:
            place = {key: row[key] for key in PLACES if key in row}
            yield from ((where, {**place, "metric": metric, "score": row[metric.lower()]}) for metric in scored)
        else:
            yield where, row


def _score_columns(name: str, cells: Sequence[str], wanted: Sequence[Any]) -> tuple[Sequence[str], Sequence[str]]:
    """Find the names of columns for the first line's cells, and which of them have scores; none without names."""
    names = meanings(cells, wanted)
    lacking = [header for header in wanted if header.lower() not in names]
    scored = [*wanted] or [header for header in SCORED if header in names][:1]
    if "system" in names and scored and not lacking:
        return names, scored
    if wanted:
        raise InputError(f"no columns 'system' and {(lacking or wanted)[0]!r}")
    if "system" in names:
        said = f"name the columns of scores, as in {name}:{cells[-1]}; this file has {' '.join(cells)}"
        raise InputError(f"no column 'score': {said}")
    if cells and len(cells) not in _COLUMNS:
        raise InputError(f"{len(cells)} columns and no names of columns: 'system' and 'score' needed")
    return _COLUMNS.get(len(cells), ()), ()


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of every system, by a metric or by judges."""

    name: str
    systems: Mapping[str, float]  # Score of each system; empty where only segments were scored
    segments: Mapping[str, Floats] = field(default_factory=dict)
    """Scores of each system's segments, in order, NaN if not scored; empty if only systems were scored."""
    metric: str = ""  # Signature or name of the metric, where a file has it; empty where greater is better
    better: str = ""  # `higher` or `lower`, if the file says so
    documents: Sequence[str] = ()  # Document of each segment, if the file has it
    location: str = ""  # File, and behind a colon the metric or column where the file has several; joined by `+`
    statistics: Mapping[str, Integers | Floats] = field(default_factory=dict)
    """A row per segment of each system; `made_by` computes the score from their sum. Empty if a row is missing."""
    made_by: str = ""  # The metric as an expression, where the file is our own
    segment_names: Sequence[str] = ()  # Names of the segments, if the file does not number them
    first: int | None = None  # Number of the first segment, 0 or 1, if the file numbers them
    texts: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """Texts that the file has beside the scores, by system and segment, from 0."""
    judged: bool = False  # Whether judges gave them, perhaps not all outputs

    @cached_property
    def fingerprint(self) -> str:
        """Hex SHA-256 of the scores, independent of the file."""
        digest = sha256(repr(sorted(self.systems.items())).encode("utf-8", "surrogatepass"))
        for system, scores in sorted(self.segments.items()):
            digest.update(system.encode("utf-8", "surrogatepass") + scores.astype("<f8").tobytes())
        return digest.hexdigest()

    def need_segments(self, what: str = "") -> Mapping[str, Floats]:
        """Return the scores of segments. Raises InputError, with their purpose `what`, if the table has none."""
        if not self.segments:
            raise InputError(f"{self.name} has scores of systems only: {what}give those of segments, too")
        return self.segments

    def means(self) -> dict[str, float]:
        """Return the mean score of each system's scored segments."""
        return {name: float(np.nanmean(scores)) for name, scores in self.segments.items() if (scores == scores).any()}

    def without(self, missing: float | None) -> ScoreTable:
        """Take a value, such as -1, for a missing score."""
        if missing is None:
            return self
        segments = {name: np.where(scores == missing, np.nan, scores) for name, scores in self.segments.items()}
        systems = {name: score for name, score in self.systems.items() if score != missing}
        return replace(self, segments=segments, systems=systems)

    def check_numbers(self, place: str, first: int | None, count: int) -> None:
        """Check that segments go by the same numbers in another file, whose `first` is 0 or 1.

        InputError: one file counts from 0, the other from 1, and they end at other segments.
        """
        own = max(map(len, self.segments.values()), default=0)
        if {first, self.first} == {0, 1} and own != count:
            ends = [
                f"{where} has segments {start} to {start + size - 1}"
                for where, start, size in (
                    (place, first or 0, count),
                    (self.location or self.name, self.first or 0, own),
                )
            ]
            raise InputError(f"{', '.join(ends)}: count from 0 in both, or from 1")

    def check_texts(self, corpus: Corpus) -> None:
        """Compare the texts beside the scores with the candidates of a corpus; blank candidates are left out.

        A note names texts that differ. InputError: more than a tenth of those of a system do.
        """
        texts = {system: lines for system, lines in self.texts.items() if system in corpus.systems}
        if not texts:
            return
        candidates: dict[str, list[str]] = {system: [] for system in texts}
        for block in corpus.blocks():
            loaded = block.load().candidates
            for system, lines in candidates.items():
                lines.extend(loaded[system])
        for system, lines in candidates.items():
            pairs = {n: (text, lines[n]) for n, text in texts[system].items() if n < len(lines) and lines[n].strip()}
            other = [n for n, (text, line) in pairs.items() if _folded(text) != _folded(line)]
            if other:
                one, two = (text.strip()[:40] for text in pairs[other[0]])
                said = f"{len(other):,} of {len(pairs):,} texts of {system} are not those given"
                said = f"{self.location or self.name}: {said} (segment {other[0] + 1}: {one!r}, {two!r})"
                if len(other) > _OTHER * len(pairs):
                    raise InputError(f"{said}: give the outputs that were scored, in the same order")
                note(said)

    def of_documents(self, numbers: Integers) -> ScoreTable:
        """Replace segments by means of their documents, whose `numbers` are given.

        Raises InputError for another number of segments.
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
        return replace(self, segments=means, documents=(), statistics={}, first=None, texts={})

    def __str__(self) -> str:
        """Format the files and a hash of the scores, for signatures."""
        whole = [self.location] if Path(self.location).exists() else self.location.split("+")
        return f"{'+'.join(Path(part).name for part in whole) or self.name}#{self.fingerprint[:12]}"


def _folded(text: str) -> str:
    """Return the visible part of a text."""
    return " ".join(normalize("NFKC", text).split())


def sentinel_of(scores: Iterable[Floats]) -> tuple[int, str] | None:
    """Find a whole number that may stand for a missing score, and what to say about it.

    It is the only negative number, or of nines (999), and far from all others unless these go beyond 1.

    >>> sentinel_of([np.array([85.0, -1.0]), np.array([70.0, 92.0])])
    (-1, '1 score is -1 among scores from 70 to 92')
    >>> sentinel_of([np.array([0.7, 0.9, -999.0])]), sentinel_of([np.array([0.0, 1.0, -1.0])])
    ((-999, '1 score is -999 among scores from 0.7 to 0.9'), None)
    """
    values = np.concatenate([np.zeros(0), *scores])
    values = values[np.isfinite(values)]
    for one in (values.min(initial=0), values.max(initial=0)):
        others = values[values != one]
        if not len(others) or one != int(one):
            continue
        least, most = float(min(others)), float(max(others))
        far = 2 * (most - least) < max(least - one, one - most) and most > least
        nines = one > 5 * most and re.fullmatch("99+", f"{one:.0f}")
        if (far and nines) or (one < 0 <= least and (far or most > 1)):
            said = counted(len(values) - len(others), "score is", "scores are")
            return int(one), f"{said} {int(one)} among scores from {least:g} to {most:g}"
    return None


def are_penalties(scores: Floats) -> bool:
    """Tell whether scores called MQM are penalties: none is below 0, and the greatest is no more frequent.

    >>> are_penalties(np.array([0.0, 5.0, 0.0])), are_penalties(np.array([-5.0, 0.0]))
    (True, False)
    """
    known = scores[~np.isnan(scores)]
    if not len(known):
        return False
    most, least = (int((known == end(known)).sum()) for end in (np.max, np.min))
    return bool((known >= 0).all()) and most <= max(1, least)


class _Entry(NamedTuple):
    where: str
    table: str  # Name of the table that it belongs to
    metric: str  # Signature or name of the metric; empty where the row has none
    better: str
    system: str
    segment: Json  # Number or name, as in the file; None for the score of a system
    score: float
    document: str
    statistics: Sequence[float] | None  # Statistics behind the score of the segment
    made_by: str
    text: object  # The scored text, if the file has it
    annotator: str | None  # The judge, if the file names them
    judged: bool  # Whether a judge gave it


def read_scores(
    name: str,
    *,
    label: str | None = None,
    direction: str | None = None,
    column: str | None = None,
    names: Sequence[str] | None = None,
    encoding: str = "utf-8",
    annotators: OfAnnotators = "mean",
) -> list[ScoreTable]:
    """Read scores of systems, of segments, or of both: a table per metric.

    Read are JSON, JSON lines and TSV as `softbleu score` writes them; tables (tabs, blanks, CSV or Parquet) with the
    column names `system`, `score` (or another of `SCORED`), `segment` (or `sid`), `lp`, `metric`; wide ones, whose
    columns of scores are named behind a colon, as in ``scores.tsv:COMET,MetricX``; without column names as by WMT:
    metric, direction, test set, system, (segment,) score; or system, (segment,) score; ``.sys.score`` and
    ``.seg.score`` of mt-metrics-eval, the segments of a system in order; and JSON of other programs
    (`formats.toml` beside this module). Human judgements are scores, too: tables with a column `annotator`, and
    ESA and MQM as published. ``None``, empty and missing values were not scored.

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
    names
        Names of the systems of a file of numbers alone, in order. A file that is named as one of them, or any such
        file for None, has the scores of its segments; the table is then called `label`, or as the folder.
    encoding
        Of the file.
    annotators
        `mean` of several annotators of an output, or a table of each, `apart`.

    Raises
    ------
    InputError
        There are no scores, or a row is not valid.
    """
    file, metrics = split_metrics(name)
    content = content_of(file, encoding)
    published = without_packing(file).endswith((".seg.score", ".sys.score"))
    stem = file_stem(file, direction)
    found, rows = None, list[TableRow]()
    if not isinstance(content, ParquetRows) and converters.are_numbers(content):
        folder = Path(file).absolute().parent.name
        rows = list(converters.number_rows(file, content, names, stem, label or folder))
    elif (found := rows_in_format(file, content, label or stem)) is not None:
        rows = list(found.rows)
    else:
        rows = _split_systems(head_of(file, content), score_rows(file, content, column, metrics))
    label = None if found is not None and found.unnamed else label
    entries = _entries(file, rows, label or stem, direction, annotators)
    entries, documents, segment_names, first = _numbered(file, entries)
    # Lists are in order, and so are the scores of mt-metrics-eval: only tables number segments.
    first = first if found is None and not published else None
    plain = plain_names({entry.system for entry in entries})
    groups: dict[str, list[_Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.table, []).append(entry)
    if unknown := [metric for metric in metrics if metric not in groups]:
        raise UnknownNameError("metric", unknown[0], groups, place=file)
    tables = []
    for group, members in groups.items():
        if metrics and group not in metrics:
            continue
        # In mt-metrics-eval greater scores are always better.
        metric, better = ("", "") if published else (members[0].metric or stem, members[0].better)
        called = label if label and len(metrics or groups) == 1 else group
        location = f"{file}:{group}" if metrics or len(groups) > 1 else file
        systems, segments, statistics = _gather(file, members, plain)
        if better == _BY_SIGN:
            penalties = are_penalties(np.concatenate([[*systems.values()], *segments.values()]))
            better = "lower" if penalties else "higher"
        made = ScoreTable(called, systems, segments, metric, better, documents, location, statistics)
        more: Keywords = {"made_by": members[0].made_by, "segment_names": segment_names, "first": first}
        more["judged"] = members[0].judged
        tables.append(replace(made, texts=_texts_by_system(members, plain), **more))
    return merge_scores(tables)


def _split_systems(head: Sequence[str], rows: Iterable[TableRow]) -> list[TableRow]:
    """Give each system of `a+b`, which had the same output in WMT17, a row of its own."""
    if not {"lp", "system", "sid", "human"} <= {name.lower() for name in head}:
        return list(rows)
    return [(where, {**row, "system": one}) for where, row in rows for one in row["system"].split("+")]


def _entries(
    file: str, rows: Iterable[TableRow], name: str, direction: str | None, annotators: OfAnnotators
) -> list[_Entry]:
    """Take the rows of a direction, which must be named where judges saw several."""
    # Skip scores of single references, which are numbered; where they are not, they are texts beside the scores.
    rows = [(where, with_direction(row)) for where, row in rows]
    numbered = all(str(row.get("reference", 1)).isdigit() for _, row in rows)
    taken = [(where, row) for where, row in rows if not numbered or "reference" not in row]
    named = bool(taken) and "annotator" in taken[0][1]
    if named:
        taken = of_direction(file, taken, direction)
    elif direction is not None:
        chosen = find_direction(direction, (row["lp"] for _, row in taken if "lp" in row))
        taken = [(where, row) for where, row in taken if row.get("lp", chosen) == chosen]
    if not taken:
        wanted = f" of direction {direction}" if direction else ""
        raise InputError(f"{file}: there are no scores{wanted}")
    entries = [_entry(where, row, name) for where, row in taken]
    if annotators == "mean":
        return entries
    if not named:
        said = "who made a judgement is not said, so there is no "
        raise InputError(f"{file}: {said}", Parameter("annotators", annotators))
    return [entry._replace(table=f"{entry.table} by {entry.annotator}") for entry in entries]


def file_stem(name: str, direction: str | None = None) -> str:
    """Return the name of a file without suffixes and direction; else the name of its folder.

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
    """Join tables of one name: systems and segments, or different systems."""
    merged: dict[str, ScoreTable] = {}
    for table in tables:
        known = merged.get(table.name)
        if known is None:
            merged[table.name] = table
            continue
        if known.systems.keys() & table.systems.keys() or known.segments.keys() & table.segments.keys():
            raise InputError(f"two tables of scores are called {table.name!r}: name one by NAME=FILE")
        _check_settings(known, table)
        known.check_numbers(table.location, table.first, max(map(len, table.segments.values()), default=0))
        table = in_order_of(known, table)
        merged[table.name] = replace(
            known,
            systems={**known.systems, **table.systems},
            segments={**known.segments, **table.segments},
            statistics={**known.statistics, **table.statistics} if known.statistics and table.statistics else {},
            location="+".join(filter(None, (known.location, table.location))),
            texts={**known.texts, **table.texts},
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
    """Sort the segments of a table as in another, if both name the segments or their documents.

    Segments of a document are in order in both. InputError: they are of other documents, or of more segments.

    >>> one = ScoreTable("m", {}, {"A": np.array([1.0, 2.0, 3.0])}, documents=["x", "y", "y"])
    >>> other = ScoreTable("m", {}, {"B": np.array([2.0, 3.0, 1.0])}, documents=["y", "y", "x"])
    >>> in_order_of(one, other).segments["B"].tolist()
    [1.0, 2.0, 3.0]
    """
    named = bool(first.segment_names and table.segment_names)
    orders: list[Sequence[Any]] = [
        one.segment_names if named else _in_documents(one.documents) for one in (first, table)
    ]
    if not all(orders) or list(orders[0]) == list(orders[1]):
        return table
    if odd := {*orders[0]} ^ {*orders[1]}:
        one = min(odd)
        said = f"segment {one!r} is" if named else f"document {one[0]!r} has a segment {one[1] + 1}"
        where = f"{first.location or first.name} and {table.location or table.name}"
        raise InputError(f"{where}: {said} in one, and not in the other")
    places = {key: place for place, key in enumerate(orders[1])}
    order = [places[key] for key in orders[0]]
    segments = {system: scores[order] for system, scores in table.segments.items()}
    statistics = {system: rows[order] for system, rows in table.statistics.items()}
    texts = {
        system: {now: lines[then] for now, then in enumerate(order) if then in lines}
        for system, lines in table.texts.items()
    }
    same: Keywords = {"documents": first.documents, "segment_names": first.segment_names}
    return replace(table, segments=segments, statistics=statistics, texts=texts, **same)


def _in_documents(documents: Sequence[str]) -> list[tuple[str, int]]:
    """Documents of segments, with the number of the segment in its document."""
    counts: Counter[str] = Counter()
    numbered = []
    for document in documents:
        numbered.append((document, counts[document]))
        counts[document] += 1
    return numbered


def _entry(where: str, row: Fields, name: str) -> _Entry:
    segment, system = row.get("segment"), row.get("system")
    signature = str(row.get("signature") or "")
    metric = row.get("metric") or _signed_metric(signature)
    if not isinstance(system, str):
        raise InputError(f"{where}: a system's name is needed, not {system!r}")
    segment = None if isinstance(segment, str) and not segment.strip() else segment
    system = f"{system}.{row['run']}" if row.get("run") not in (None, "") else system
    better = row.get("better", "")
    return _Entry(
        where,
        str(metric or name),
        signature or str(metric or ""),
        better if better in ("higher", "lower", _BY_SIGN) else "",
        system,
        segment,
        score_of(where, row["score"]),
        str(row.get("document", "")),
        None if segment is None else _statistics(where, row.get("statistics")),
        str(row.get("metric") or "") if "statistics" in row or signature else "",
        row.get("translation"),
        str(row["annotator"]) if "annotator" in row else None,
        "annotator" in row or "judged" in row,
    )


def _signed_metric(signature: str) -> str:
    """Name the metric of our signature, or the matcher that BLEU has then; empty for other signatures.

    >>> _signed_metric("metric:bleu|matcher:vleu|threshold:0.8"), _signed_metric("nrefs:1|case:mixed")
    ('vleu', '')
    """
    signed = parse_signature(signature) if signature.startswith("metric:") else {}
    matcher = signed.get("matcher", "exact")
    return signed.get("metric", "") if matcher == "exact" or signed.get("metric") != "bleu" else matcher


def _statistics(where: str, cell: Json) -> Sequence[float] | None:
    """Read a row of statistics, a list or a text of numbers; None without one."""
    numbers = cell.split() if isinstance(cell, str) else cell
    if not numbers:
        return None
    try:
        return [int(number) if str(number).isdigit() else parse_score(number) for number in numbers]
    except (TypeError, ValueError):
        raise InputError(f"{where}: statistics are a list of numbers, not {str(cell)[:30]!r}") from None


def _numbered(file: str, entries: Sequence[_Entry]) -> tuple[list[_Entry], Sequence[str], Sequence[str], int | None]:
    """Number the segments of all entries; also return their documents, names and first number, if the file has them.

    Segments have numbers from 0 or 1; numbers that begin again in each document, which then follow one another as
    they first appear; or names, which do so, too. InputError: there are numbers as well as names.
    """
    placed = [entry for entry in entries if entry.segment is not None]
    named = [entry for entry in placed if not _is_number(entry.segment)]
    if len(named) not in (0, len(placed)):
        other = next(entry for entry in placed if _is_number(entry.segment))
        said = f"segment {named[0].segment!r} is no number, segment {other.segment!r} is one"
        raise InputError(f"{named[0].where}: {said}: number all segments, or none")
    keys: list[Any] = [str(entry.segment) for entry in placed]
    if not named:
        keys = [segment_number(entry.where, entry.segment) for entry in placed]
    distinct = {(entry.table, entry.system, key) for entry, key in zip(placed, keys, strict=True)}
    several = len(distinct) < len(placed)
    if any(entry.annotator is not None for entry in placed):  # An output may be judged several times
        several = len({(entry.document, key) for entry, key in zip(placed, keys, strict=True)}) > len({*keys})
    if all(entry.document for entry in placed) and several:
        keys = [(entry.document, key) for entry, key in zip(placed, keys, strict=True)]
    start = None
    if named or (keys and isinstance(keys[0], tuple)):
        order = list(dict.fromkeys(keys))
        if not named:  # Sort segments of a document by number.
            documents = {document: number for number, document in enumerate(dict.fromkeys(key[0] for key in order))}
            order.sort(key=lambda key: (documents[key[0]], key[1]))
        numbers = {key: number for number, key in enumerate(order)}
        numbered = [numbers[key] for key in keys]
        names = ["\t".join(key) if isinstance(key, tuple) else key for key in order] if named else []
    else:
        start = first_segment(file, keys)
        numbered, names = [key - start for key in keys], []
    known = iter(numbered)
    made = [entry if entry.segment is None else entry._replace(segment=next(known)) for entry in entries]
    return made, _documents(made), names, start


def _is_number(segment: object) -> bool:
    return isinstance(segment, int | float) or re.fullmatch(r"\s*-?\d+(\.0+)?\s*", str(segment)) is not None


def _documents(entries: Iterable[_Entry]) -> Sequence[str]:
    """Documents of the segments in order, where every segment has one."""
    documents = {entry.segment: entry.document for entry in entries if entry.segment is not None and entry.document}
    whole = range(len(documents))
    return [documents[number] for number in whole] if whole and all(map(documents.__contains__, whole)) else ()


def _gather(
    file: str, entries: Sequence[_Entry], names: Mapping[str, str]
) -> tuple[dict[str, float], dict[str, Floats], dict[str, Integers | Floats]]:
    """Collect the scores of one metric: systems, segments, and the statistics of segments."""
    systems: dict[str, float] = {}
    parts: dict[str, dict[int, float]] = {}
    counts: dict[str, dict[int, Sequence[float]]] = {}
    again: dict[tuple[str, int], list[float]] = {}
    for entry in entries:
        system = names[entry.system]
        scores: dict[Any, float] = systems if entry.segment is None else parts.setdefault(system, {})
        key = system if entry.segment is None else entry.segment
        if key in scores and entry.annotator is not None and entry.segment is not None:
            again.setdefault((system, entry.segment), [scores[key]]).append(entry.score)
            continue
        if key in scores:
            said = (
                f"{entry.where}: a second score of {system!r}: leave one out, or name one of several directions with "
            )
            raise InputError(said, Parameter("direction"))
        if entry.segment is not None or not np.isnan(entry.score):
            scores[key] = entry.score
            if entry.segment is not None and entry.statistics is not None:
                counts.setdefault(system, {})[entry.segment] = entry.statistics
    _take_means(file, parts, again)
    if parts and (lost := [system for system in systems if system not in parts]):
        place = next(entry.where for entry in entries if names[entry.system] in lost)
        said = f"{', '.join(lost)} {'have' if lost[1:] else 'has'} no scores of segments, {next(iter(parts))} has"
        raise InputError(f"{place}: {said}: give those of every system, or of none")
    count = 1 + max(chain.from_iterable(parts.values()), default=0)
    segments = {system: np.full(count, np.nan) for system in parts}
    for system, scored in parts.items():
        segments[system][[*scored]] = [*scored.values()]
    return systems, segments, _rows_by_system(segments, counts)


def _take_means(
    file: str, parts: Mapping[str, dict[int, float]], again: Mapping[tuple[str, int], Sequence[float]]
) -> None:
    """Take the means of outputs with several judgements; a note names those that are farthest apart."""
    ranges = {}
    for (system, segment), judged in again.items():
        known = [score for score in judged if not np.isnan(score)]
        parts[system][segment] = float(np.mean(known)) if known else np.nan
        if known and min(known) < max(known):
            ranges[f"{system} segment {segment + 1}"] = min(known), max(known)
    if again:
        farthest = sorted(ranges, key=lambda output: ranges[output][0] - ranges[output][1])[:_FAR]
        shown = ", ".join(f"{output} ({ranges[output][0]:g} and {ranges[output][1]:g})" for output in farthest)
        said = f"{len(again):,} of {sum(map(len, parts.values())):,} outputs have several judgements"
        note(f"{file}: {said}: the mean of each is taken{'; farthest apart are ' * bool(shown)}{shown}")


def _texts_by_system(entries: Sequence[_Entry], names: Mapping[str, str]) -> dict[str, dict[int, str]]:
    """Collect the texts beside the scores of segments."""
    texts: dict[str, dict[int, str]] = {}
    for entry in entries:
        if isinstance(entry.segment, int) and isinstance(entry.text, str) and entry.text.strip():
            texts.setdefault(names[entry.system], {})[entry.segment] = entry.text
    return texts


def _rows_by_system(
    segments: Mapping[str, Floats], counts: Mapping[str, Mapping[int, Sequence[float]]]
) -> dict[str, Integers | Floats]:
    """Make an array of rows per system, 0 for segments without scores; empty if a scored segment has no row."""
    sizes = {len(row) for rows in counts.values() for row in rows.values()}
    missing = any((~np.isnan(scores)).sum() != len(counts.get(name, ())) for name, scores in segments.items())
    if len(sizes) != 1 or missing:
        return {}
    made: dict[str, Integers | Floats] = {}
    for system, scores in segments.items():
        listed = np.array([*counts[system].values()])
        made[system] = np.zeros((len(scores), listed.shape[1]), listed.dtype)
        made[system][[*counts[system]]] = listed
    return made
