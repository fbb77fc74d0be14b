"""Scores for a grid of settings, in one similarity pass for each system and choice of vectors."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softbleu import version
from softbleu.corpora.segments import make_corpus
from softbleu.errors import InputError
from softbleu.io.data_files import parse_json
from softbleu.io.files import write_whole
from softbleu.io.progress import shown
from softbleu.io.urls import find_urls, is_url, open_url, remove_urls, write_url
from softbleu.matchers.base import SoftMatcher
from softbleu.metrics.base import Metric
from softbleu.metrics.making import make_metric
from softbleu.metrics.optional import matcher_of
from softbleu.scoring import make_results, running
from softbleu.scoring.plan import key_of, resolve_metric, threshold_of, with_threshold
from softbleu.signature import format_value
from softbleu.tabular import Tabular

if TYPE_CHECKING:
    from typing import Unpack

    from softbleu.corpora.m2 import GoldSegment
    from softbleu.corpora.segments import References, Texts
    from softbleu.metrics.keywords import Settings
    from softbleu.scoring import Corpus, Result
    from softbleu.scoring.api import Measures
    from softbleu.types import Progress

_IN_TABLE = ("metric", "matcher", "threshold", "quantile")
"""Settings with a column of their own in every table; others have one where they vary."""
_MARK = b'{"sweep": "'
"""What a journal begins with."""


@dataclass(frozen=True)
class SweepPoint:
    """One way to score."""

    label: str
    """What tells it from others with the same settings; may be empty."""
    measure: Metric
    """All of it."""


@dataclass(frozen=True)
class SweepRow:
    """The score of one system in one way."""

    system: str
    """Its name."""
    label: str
    """That of the point."""
    varied: dict[str, str | float | None]
    """Settings that differ between points, by name."""
    threshold: float | None
    """As a number, also where a quantile was asked for."""
    score: float
    """0 to 100."""
    numbers: dict[str, Any]
    """Precisions, lengths and so on, as the metric has them."""
    signature: str
    """Everything the score depends on."""
    higher_is_better: bool = True
    """Of the metric."""


class SweepRows(list[SweepRow], Tabular):
    """The rows of a sweep: a list that can be looked at as a table."""

    def records(self) -> list[dict[str, Any]]:
        """A row a system and point; signatures are left out."""
        columns, rows = table_of(self)
        kept = columns.index("signature") if self else 0
        return [dict(zip(columns[:kept], row, strict=False)) for row in rows]


def sweep_points(
    base: Mapping[str, Any],
    vary: Mapping[str, Sequence[Any]],
    variants: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[SweepPoint]:
    """Make a grid: every variant with every combination of what varies; a measure without a setting once for it.

    Parameters
    ----------
    base
        What all points have in common: settings by name, the metric's name or expression among them.
    vary
        Values by the name of the setting, as `metric`, `matcher` or `threshold` (numbers, or quantiles such as
        `p99.9`).
    variants
        Further settings by label; one unnamed variant without any if None.

    Examples
    --------
    >>> points = sweep_points({}, {"matcher": ["exact", "vleu"], "threshold": [0.7, 0.8]})
    >>> [str(point.measure) for point in points]
    ['bleu', 'vleu(threshold=0.7)', 'vleu(threshold=0.8)']

    Raises
    ------
    InputError, UnknownNameError
        Nothing to sweep, or settings that are not valid.
    """
    if any(not values for values in vary.values()):
        raise InputError("a sweep needs at least one value of everything that varies")
    points: dict[object, SweepPoint] = {}
    for label, options in (variants or {"": {}}).items():
        for values in product(*map(dict.fromkeys, vary.values())):
            settings = {"metric": "bleu", **base, **options, **dict(zip(vary, values, strict=True))}
            measure = make_metric(settings.pop("metric"), idle=[], **settings)
            # Vectors in memory cannot be hashed, nor always compared.
            points[label, key_of(measure)] = SweepPoint(label, measure)
    return list(points.values())


def sweep(
    candidates: Texts,
    references: References | None = None,
    source: Iterable[str] | None = None,
    *,
    metrics: Measures = "bleu",
    vary: Mapping[str, Sequence[Any]],
    gold: Sequence[GoldSegment] | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
    **settings: Unpack[Settings],
) -> SweepRows:
    """Score every system with every combination of the settings that vary, in one pass over the similarities.

    Parameters
    ----------
    vary
        Values by the name of the setting; see `sweep_points`.
    settings
        What does not vary. The other parameters are those of `softbleu.score`.

    Examples
    --------
    >>> vectors = {"cat": [1.0, 0.0], "dog": [0.6, 0.8]}
    >>> vary = {"threshold": [0.5, 0.7]}
    >>> found = sweep(["a cat"], ["a dog"], metrics="vleu", order=1, vectors=vectors, vary=vary)
    >>> [(row.threshold, round(row.score)) for row in found]
    [(0.5, 80), (0.7, 50)]
    """
    corpus = make_corpus(candidates, references, source, gold)
    several = metrics if isinstance(metrics, list | tuple) else [metrics]
    points = [point for each in several for point in sweep_points({"metric": each, **settings}, vary)]
    with shown(progress) as shower:
        return sweep_corpus(corpus, points, jobs=jobs, executor=executor, progress=shower)


def sweep_corpus(
    corpus: Corpus,
    points: Sequence[SweepPoint],
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    journal: str | Path | None = None,
    progress: Progress | None = None,
) -> SweepRows:
    """Score every system of a corpus at every point.

    The corpus is prepared once. Points with the same vectors and tokens are computed together: the products of words
    once for all of them, and similarities and assignment once for all thresholds. Every score equals that of a run
    for itself.

    Parameters
    ----------
    corpus
        What to score.
    points
        How; see `sweep_points`.
    jobs, executor
        Where the work is done; the digits do not depend on it.
    journal
        A file, by path or URL, that what is done is noted in, system by system, so that an interrupted sweep goes on
        where it was; the caller removes it when all is written.
    progress
        Called with the number of systems done and of all.

    Raises
    ------
    InputError, VectorError
        What cannot be scored.
    """
    measures = _resolve([point.measure for point in points])
    varied = _varied(points)
    log = _Journal(journal, _identity(corpus, points))
    with running(corpus, measures, jobs=jobs, executor=executor) as runner:
        for number, system in enumerate(corpus.systems):
            if system not in log.done:
                for measure in measures:
                    runner.prepared(measure.tokenizer)
                statistics = runner.collect(measures, system=system)
                found = zip(points, measures, statistics, strict=True)
                log.note(
                    system,
                    [_row(point, measure, make_results(each)[0], varied) for point, measure, each in found],
                )
            if progress is not None:
                progress(number + 1, len(corpus.systems))
    return SweepRows(row for system in corpus.systems for row in log.done[system])


def _resolve(measures: Sequence[Metric]) -> list[Metric]:
    """Put numbers in the place of quantiles, of thresholds that are not given, and of layers, each found once."""
    known: dict[object, Any] = {}
    resolved = []
    for measure in measures:
        if measure.requires.vectors:
            if measure.vector_choice.key not in known:
                known[measure.vector_choice.key] = measure.vector_choice.resolved()
            measure = replace(measure, vectors=known[measure.vector_choice.key])
        given = threshold_of(measure)
        if isinstance(matcher_of(measure), SoftMatcher) and not isinstance(given, float):
            key = (measure.vector_choice.key, given)
            if key not in known:
                known[key] = threshold_of(resolve_metric(measure))
            measure = with_threshold(measure, known[key], given)
        resolved.append(measure)
    return resolved


def _varied(points: Sequence[SweepPoint]) -> list[str]:
    """Names of the settings that are not the same at all points that have them, or that not all have."""
    settings = [{each.name: repr(value) for each, value in point.measure.settings()} for point in points]
    names = dict.fromkeys(name for each in settings for name in each if name not in _IN_TABLE)
    return [name for name in names if len({each.get(name) for each in settings if name in each}) > 1]


def _plain(name: str, value: Any) -> str | float | None:
    if name == "vectors":
        # Where they lie does not matter; what they are stands in the signature.
        return Path(value).name if isinstance(value, str | Path) else type(value).__name__
    return value if value is None or isinstance(value, float) else format_value(value)


def _row(point: SweepPoint, measure: Metric, result: Result, varied: Sequence[str]) -> SweepRow:
    settings = {"metric": measure.name, **{each.name: value for each, value in measure.settings()}}
    numbers = result.numbers.as_dict()
    shown: dict[str, Any] = {name: settings[name] for name in ("metric", "matcher") if name in settings}
    if measure.vector_choice.quantile:
        shown["quantile"] = measure.vector_choice.quantile
    shown |= {name: _plain(name, settings.get(name)) for name in varied}
    given = threshold_of(measure)
    threshold = given if isinstance(given, float) else None
    score = numbers.pop("score")
    return SweepRow(
        result.name, point.label, shown, threshold, score, numbers, result.signature, result.higher_is_better
    )


def _identity(corpus: Corpus, points: Sequence[SweepPoint]) -> str:
    """Hex SHA-256 of what a sweep computes: text, settings, version."""
    digest = hashlib.sha256(version.__version__.encode())
    for point in points:
        measure = point.measure
        parts = repr((point.label, measure, measure.tokenizer, measure.vector_choice))
        digest.update(parts.encode("utf-8", "surrogatepass"))
    places = dict.fromkeys(point.measure.vector_choice.key for point in points)
    for place in dict.fromkeys(place for place, _ in places if isinstance(place, str)):
        digest.update(repr(_state(Path(place))).encode("utf-8", "surrogatepass"))
    for block in corpus.blocks():
        segments = block.load()
        text = repr((dict(segments.candidates), segments.references, segments.source))
        digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _state(path: Path) -> list[tuple[str, int, int]]:
    """Names, sizes and times of the files of a set of vectors, which may have changed since; nothing of a name."""
    files = sorted(path.iterdir()) if path.is_dir() else [path] if path.is_file() else []
    return [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]


class _Journal:
    """Rows of the systems that are done, kept in a file if there is one: a line with what it is, a line a system."""

    def __init__(self, place: str | Path | None, identity: str) -> None:
        self.done: dict[str, list[SweepRow]] = {}
        self._place = place
        self._identity = identity
        self._begun = False
        if place is not None:
            check_journal(place)
            if (content := _content(place)) is not None:
                self._read(content, str(place), identity)

    def _read(self, content: bytes, name: str, identity: str) -> None:
        try:
            lines = content.decode().split("\n")
            if parse_json(lines[0], name).get("sweep") != identity:
                return
            # The last line may be cut off; it is computed anew.
            for line in lines[1:-1]:
                entry = parse_json(line, name)
                if entry["sum"] != _sum_of(entry["system"], entry["rows"]):
                    raise ValueError
                self.done[entry["system"]] = [_read_row(row) for row in entry["rows"]]
        except (ValueError, KeyError, TypeError, AttributeError):
            self.done.clear()

    def note(self, system: str, rows: list[SweepRow]) -> None:
        """Note a system that is done."""
        self.done[system] = rows
        if self._place is None:
            return
        # At first written anew: the last line of an interrupted sweep may be cut off.
        lines: list[dict[str, Any]] = [_entry(system, rows)]
        if not self._begun or is_url(self._place):
            lines = [{"sweep": self._identity}, *(_entry(name, each) for name, each in self.done.items())]
        texts = [json.dumps(line) + "\n" for line in lines]
        if is_url(self._place):
            write_url(self._place, "".join(texts).encode())
        elif self._begun:
            # Another sweep that writes the same may be done and have removed it: nothing is begun anew.
            with suppress(FileNotFoundError), Path(self._place).open("r+", encoding="utf-8") as handle:
                handle.seek(0, os.SEEK_END)
                handle.writelines(texts)
        else:
            write_whole(Path(self._place), texts)
        self._begun = True


def check_journal(place: str | Path) -> None:
    """See that a journal may lie there: what is there already is one.

    Raises
    ------
    InputError
        It is something else, which is not ours to replace.
    """
    there = find_urls(place) if is_url(place) else os.path.lexists(place)
    if there and not _is_journal(place):
        raise InputError(f"{place}: no journal of an interrupted sweep, which would lie there: move it away")


def remove_journal(place: str | Path) -> None:
    """Remove the journal of a sweep, once what it notes is kept elsewhere; anything else stays."""
    if not _is_journal(place):
        return
    if is_url(place):
        remove_urls([place])
    else:
        Path(place).unlink()


def _is_journal(place: str | Path) -> bool:
    # Of one that a power cut emptied nothing is lost.
    return _content(place, len(_MARK)) in (_MARK, b"")


def _content(place: str | Path, most: int = -1) -> bytes | None:
    """What a file begins with, or all of it; None where there is no plain one."""
    if is_url(place):
        if not find_urls(place):
            return None
        with open_url(place) as stream:
            return stream.read(most)
    path = Path(place)
    if path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as handle:
        return handle.read(most)


def _read_row(noted: Mapping[str, Any]) -> SweepRow:
    """Make a row of what was noted; ValueError or TypeError where it cannot have been one."""
    row = SweepRow(**noted)
    texts, tables = (row.system, row.label, row.signature), (row.varied, row.numbers)
    numbers = (row.score, 0.0 if row.threshold is None else row.threshold)
    if not all(
        isinstance(value, kind)
        for kind, values in ((str, texts), (dict, tables), (float, numbers))
        for value in values
    ):
        raise TypeError(f"no row of a sweep: {row}")
    return row


def _entry(system: str, rows: Sequence[SweepRow]) -> dict[str, Any]:
    noted = [asdict(row) for row in rows]
    return {"system": system, "rows": noted, "sum": _sum_of(system, noted)}


def _sum_of(*noted: object) -> int:
    """A checksum, for what was damaged may still look like rows."""
    return zlib.crc32(json.dumps(noted).encode())


def rank_by_score(rows: Sequence[SweepRow]) -> dict[str, int]:
    """Rank systems by their scores at one point: 1 is the best, and equal scores share the better rank.

    >>> scores = {"A": 20.0, "B": 30.0, "C": 20.0}
    >>> rank_by_score([SweepRow(system, "", {}, 0.8, score, {}, "") for system, score in scores.items()])
    {'A': 2, 'B': 1, 'C': 2}
    """
    from scipy.stats import rankdata

    # A number and a quantile may be one threshold: then a system has its score there twice.
    scores = {row.system: -row.score if row.higher_is_better else row.score for row in rows}
    ranks = rankdata(list(scores.values()), method="min")
    return {system: int(rank) for system, rank in zip(scores, ranks, strict=True)}


def table_of(rows: Sequence[SweepRow]) -> tuple[list[str], list[list[str | float | None]]]:
    """Columns and cells of a tidy table: one row a system and point."""
    varied = dict.fromkeys(name for row in rows for name in row.varied)
    labels = ["variant"] if any(row.label for row in rows) else []
    columns = ["system", *labels, *varied, "threshold", "score", "signature"]
    named = [{**asdict(row), "variant": row.label, **row.varied} for row in rows]
    return columns, [[row.get(name) for name in columns] for row in named]
