"""Scores for a grid of settings, in one similarity pass for each system and choice of vectors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softbleu.errors import InputError
from softbleu.metrics.bleu import Bleu
from softbleu.metrics.grid import Grid
from softbleu.scoring import Settings, collect_statistics, make_results
from softbleu.signature import format_value

if TYPE_CHECKING:
    from softbleu.metrics import Metric
    from softbleu.scoring import Result, Statistics
    from softbleu.scoring.run import Corpus
    from softbleu.types import Progress

_IN_TABLE = ("metric", "matcher", "threshold", "quantile")
"""Settings with a column of their own in every table; others have one where they vary."""


@dataclass(frozen=True)
class SweepPoint:
    """One way to score.

    Attributes
    ----------
    label
        What tells it from others with the same matcher and threshold; may be empty.
    settings
        All of it.
    """

    label: str
    settings: Settings


@dataclass(frozen=True)
class SweepRow:
    """The score of one system in one way.

    Attributes
    ----------
    system
        Its name.
    label
        That of the point.
    varied
        Settings that differ between points, by name.
    threshold
        As a number, also where a quantile was asked for.
    score
        0 to 100.
    numbers
        Precisions, lengths and so on, as the metric has them.
    signature
        Everything the score depends on.
    """

    system: str
    label: str
    varied: dict[str, str | float | None]
    threshold: float | None
    score: float
    numbers: dict[str, Any]
    signature: str


def sweep_points(
    base: Settings,
    matchers: Sequence[str],
    thresholds: Sequence[float | str],
    variants: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[SweepPoint]:
    """Make a grid: every variant with every matcher at every threshold; matchers without a threshold once each.

    Parameters
    ----------
    base
        What all points have in common.
    matchers
        Names.
    thresholds
        Numbers, or quantiles such as `p99.9`.
    variants
        Further settings by label; one unnamed variant without any if None.

    Examples
    --------
    >>> [point.settings.threshold for point in sweep_points(Settings(), ["exact", "vleu"], [0.7, 0.8])]
    [None, 0.7, 0.8]

    Raises
    ------
    InputError, UnknownNameError
        Nothing to sweep, or settings that are not valid.
    """
    if not matchers or not thresholds:
        raise InputError("a sweep needs at least one matcher and one threshold")
    points: dict[object, SweepPoint] = {}
    for label, options in (variants or {"": {}}).items():
        _check_options(options)
        for matcher in dict.fromkeys(matchers):
            for threshold in dict.fromkeys(thresholds):
                settings = replace(base, **options, matcher=matcher)
                if settings.metric == "softbleu":
                    # It has no matcher: one point, whatever matchers and thresholds the others have.
                    settings = replace(settings, matcher="exact")
                elif "threshold" in settings.matcher_fields():
                    settings = replace(settings, threshold=threshold)
                settings.make_metric() if not isinstance(threshold, str) else settings.vector_choice()
                # Vectors in memory cannot be hashed, nor always compared.
                key = (label, replace(settings, vectors=""), _where(settings))
                points[key] = SweepPoint(label, settings)
    return list(points.values())


def _check_options(options: Mapping[str, Any]) -> None:
    known = {field.name for field in fields(Settings)}
    if strange := sorted(set(options) - known):
        raise InputError(f"unknown setting {strange[0]!r}; valid: {', '.join(sorted(known))}")


def sweep_corpus(
    corpus: Corpus,
    points: Sequence[SweepPoint],
    *,
    jobs: int = 1,
    journal: Path | None = None,
    progress: Progress | None = None,
) -> list[SweepRow]:
    """Score every system of a corpus at every point.

    Points with the same vectors and tokens are computed together: the products of words once for all of them, and
    similarities and assignment once for all thresholds. Every score equals that of a run for itself.

    Parameters
    ----------
    corpus
        What to score.
    points
        How; see `sweep_points`.
    jobs
        Processes to use; the digits do not depend on it.
    journal
        A file that what is done is noted in, system by system, so that an interrupted sweep goes on where it was;
        the caller removes it when all is written.
    progress
        Called with the number of systems done and of all.

    Raises
    ------
    InputError, VectorError
        What cannot be scored.
    """
    resolved = _resolve(points)
    varied = _varied([point.settings for point in points])
    log = _Journal(journal, _identity(corpus, points))
    for number, system in enumerate(corpus.systems):
        if system not in log.done:
            results = _score_system(corpus.only(system), [point.settings for point in resolved], jobs)
            log.note(
                system,
                [
                    _row(system, point, result, {name: _plain(name, point.settings) for name in varied})
                    for point, result in zip(resolved, results, strict=True)
                ],
            )
        if progress is not None:
            progress(number + 1, len(corpus.systems))
    return [row for system in corpus.systems for row in log.done[system]]


def _resolve(points: Sequence[SweepPoint]) -> list[SweepPoint]:
    """Put numbers in the place of quantiles, each found once."""
    known: dict[object, Settings] = {}
    resolved = []
    for point in points:
        settings = point.settings
        if isinstance(settings.threshold, str):
            key = (replace(settings.vector_choice(), location=""), _where(settings), settings.threshold)
            if key not in known:
                known[key] = settings.resolved()
            settings = replace(settings, threshold=known[key].threshold, quantile=known[key].quantile)
        resolved.append(SweepPoint(point.label, settings))
    return resolved


def _where(settings: Settings) -> object:
    """Which vectors, as something that can be compared: vectors in memory by which object they are."""
    return settings.vectors if isinstance(settings.vectors, str | Path) else id(settings.vectors)


def _varied(settings: Sequence[Settings]) -> list[str]:
    """Names of the settings that are not the same at all points."""
    names = [field.name for field in fields(Settings) if field.name not in _IN_TABLE]
    return [name for name in names if len({repr(getattr(each, name)) for each in settings}) > 1]


def _plain(name: str, settings: Settings) -> str | float | None:
    value = getattr(settings, name)
    if name == "vectors":
        # Where they lie does not matter; what they are stands in the signature.
        return Path(value).name if isinstance(value, str | Path) else type(value).__name__
    return value if value is None or isinstance(value, float) else format_value(value)


def _score_system(corpus: Corpus, settings: Sequence[Settings], jobs: int) -> list[Result]:
    """Score one system in all ways, those together that share tokens, vectors and order."""
    families: dict[object, list[int]] = {}
    metrics = [each.make_metric() for each in settings]
    for number, (each, metric) in enumerate(zip(settings, metrics, strict=True)):
        choice = replace(each.vector_choice(), location="", quantile=None)
        shared = metric.order if isinstance(metric, Bleu) else f"alone {number}"
        families.setdefault((each.tokenizer(), choice, _where(each), shared), []).append(number)
    found: dict[int, Result] = {}
    for members in families.values():
        found |= _score_family(corpus, [(number, settings[number], metrics[number]) for number in members], jobs)
    return [found[number] for number in range(len(settings))]


def _score_family(corpus: Corpus, members: Sequence[tuple[int, Settings, Metric]], jobs: int) -> dict[int, Result]:
    _, first, metric = members[0]
    bleus = [metric for _, _, metric in members if isinstance(metric, Bleu)]
    grid = Grid(tuple(bleus)) if len(bleus) == len(members) else None
    statistics = collect_statistics(corpus, grid or metric, first.tokenizer(), first.vector_choice(), jobs=jobs)
    parts = list(grid.split(statistics.rows)) if grid else [statistics.rows]
    found = {}
    for (number, settings, each), rows in zip(members, parts, strict=True):
        own = _of_one(replace(statistics, rows=rows), each, settings)
        found[number] = make_results(own, each)[0]
    return found


def _of_one(statistics: Statistics, metric: Metric, settings: Settings) -> Statistics:
    """Statistics as a run of that metric alone would have them: without vectors if it looks at none."""
    if not metric.needs_vectors:
        return replace(statistics, vectors={}, coverage=None)
    return replace(statistics, vectors={**statistics.vectors, "quantile": settings.quantile})


def _row(system: str, point: SweepPoint, result: Result, varied: dict[str, str | float | None]) -> SweepRow:
    settings, numbers = point.settings, result.score.as_dict()
    shown = {
        "metric": settings.metric,
        "matcher": settings.matcher,
        **({"quantile": settings.quantile} if settings.quantile else {}),
        **varied,
    }
    threshold = settings.threshold if isinstance(settings.threshold, float | int) else None
    return SweepRow(system, point.label, shown, threshold, numbers.pop("score"), numbers, result.signature)


def _identity(corpus: Corpus, points: Sequence[SweepPoint]) -> str:
    """Hex SHA-256 of what a sweep computes: text, settings, version."""
    from softbleu.version import __version__

    digest = hashlib.sha256(__version__.encode())
    for point in points:
        digest.update(repr((point.label, point.settings)).encode("utf-8", "surrogatepass"))
    for place in dict.fromkeys(str(_where(point.settings)) for point in points):
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

    def __init__(self, path: Path | None, identity: str) -> None:
        self.done: dict[str, list[SweepRow]] = {}
        self._path = path
        self._identity = identity
        self._begun = False
        if path is not None and path.exists():
            self._read(path, identity)

    def _read(self, path: Path, identity: str) -> None:
        try:
            lines = path.read_text(encoding="utf-8").split("\n")
            if json.loads(lines[0]).get("sweep") != identity:
                return
            # The last line may be cut off; it is computed anew.
            for line in lines[1:-1]:
                entry = json.loads(line)
                self.done[entry["system"]] = [SweepRow(**row) for row in entry["rows"]]
        except (ValueError, KeyError, TypeError, AttributeError):
            self.done.clear()

    def note(self, system: str, rows: list[SweepRow]) -> None:
        """Note a system that is done."""
        self.done[system] = rows
        if self._path is None:
            return
        # At first written anew: the last line of an interrupted sweep may be cut off.
        lines: list[dict[str, Any]] = [_entry(system, rows)]
        if not self._begun:
            lines = [{"sweep": self._identity}, *(_entry(name, each) for name, each in self.done.items())]
        with self._path.open("a" if self._begun else "w", encoding="utf-8") as handle:
            handle.writelines(json.dumps(line) + "\n" for line in lines)
        self._begun = True


def _entry(system: str, rows: Sequence[SweepRow]) -> dict[str, Any]:
    return {"system": system, "rows": [asdict(row) for row in rows]}


def columns_of(rows: Sequence[SweepRow]) -> Iterator[str]:
    """Names of the columns of a tidy table of these rows."""
    yield "system"
    if any(row.label for row in rows):
        yield "variant"
    names: dict[str, None] = {}
    for row in rows:
        names |= dict.fromkeys(row.varied)
    yield from names
    yield from ("threshold", "score", "signature")


def table_of(rows: Sequence[SweepRow]) -> tuple[list[str], list[list[str | float | None]]]:
    """Columns and cells of a tidy table: one row a system and point."""
    columns = list(columns_of(rows))
    cells = []
    for row in rows:
        own = {
            "system": row.system,
            "variant": row.label,
            **row.varied,
            "threshold": row.threshold,
            "score": row.score,
            "signature": row.signature,
        }
        cells.append([own.get(name) for name in columns])
    return columns, cells
