"""Direct assessment: human scores of single outputs, on a scale."""

from __future__ import annotations

import html
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.corpora.corpus import Segments
from softbleu.corpora.judgements.formats import rows_in_format
from softbleu.corpora.judgements.numbering import KnownOutputs, find_start
from softbleu.corpora.judgements.scores import are_penalties, score_rows, sentinel_of
from softbleu.corpora.judgements.tables import (
    SCORED,
    TableRow,
    content_of,
    meanings,
    of_direction,
    place_rows,
    plain_names,
    score_of,
    table_rows,
)
from softbleu.corpora.labels import Documents
from softbleu.errors import InputError, Parameter, counted, known_name
from softbleu.io.progress import note

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

_Means = Callable[[Iterable[tuple[Hashable, float, str | None]]], tuple[list[Any], "Floats", "Annotations | None"]]
_BY_NUMBER = ("lp", "system", "sid", "human")
_BY_TEXT = ("source", "translation", "reference", "human_score")
_TEXTS = {"source": ("src",), "translation": ("mt", "hypothesis", "candidate"), "reference": ("ref",)}
"""Other names of columns of texts, as in the data that COMET is trained on."""


@dataclass(frozen=True, eq=False)
class Annotations:
    """Single judgements, each of an annotator."""

    outputs: Integers  # Of each judgement the number of its output
    annotators: Integers  # And of its annotator
    scores: Floats
    names: tuple[str, ...]  # Of the annotators

    def pairs(self) -> tuple[Floats, Floats, Integers]:
        """Scores of every two annotators of an output, both ways round, and the number of the output."""
        pairs = [(one, other) for group in self._by_output() for one, other in permutations(group, 2)]
        one, other = np.array(pairs, np.int64).reshape(-1, 2).T
        return self.scores[one], self.scores[other], self.outputs[one]

    def beside_others(self) -> tuple[Integers, Floats]:
        """Find judgements of outputs that others judged, too; return their places, and the others' mean scores."""
        scores, several = self.scores.tolist(), [group for group in self._by_output() if len(group) > 1]
        # Exact sums: of the same scores in another order the mean is the same.
        means = {one: fmean(scores[other] for other in group if other != one) for group in several for one in group}
        return np.array([*means], np.int64), np.array([*means.values()], np.float64)

    def _by_output(self) -> list[list[int]]:
        """List the places of the judgements of each output, which have one annotator each."""
        order = np.argsort(self.outputs, kind="stable")
        return [group.tolist() for group in np.split(order, np.flatnonzero(np.diff(self.outputs[order])) + 1)]


@dataclass(frozen=True, eq=False)
class Assessments:
    """Assessed outputs, either by system and segment, or as texts of their own."""

    scores: Floats  # Of people, of shape (outputs,)
    systems: Sequence[Sequence[str]] = ()
    """Systems that produced each output, all with the same text; empty for texts without systems."""
    segments: Sequence[int] = ()  # Of each output its segment, from 0; empty with texts
    texts: Segments | None = None  # The outputs themselves with their references, as a corpus of one system
    documents: Integers | None = None  # Document of each segment, if samples draw documents
    annotations: Annotations | None = None  # Judgements behind the scores, if the annotators are named
    first: int | None = None  # Number of the first segment, 0 or 1, if only the file's own numbers tell it

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def numbers(self) -> Integers:
        """Segment of each output, from 0; texts of the same source are of one."""
        if self.texts is None:
            return np.array(self.segments, np.int64)
        return np.unique(self.texts.source or (), return_inverse=True)[1]

    def pick(self, scored: Mapping[str, Floats], metric: str) -> tuple[Floats, Floats, Integers]:
        """Select the outputs that a metric scored: human scores, metric scores, and segments.

        Texts of the same source count as one segment.

        Parameters
        ----------
        scored
            Scores of the segments of each system, in order.
        metric
            Name of their metric, for errors.
        """
        if self.texts is not None:
            values = next(iter(scored.values()), np.zeros(0))
            if len(values) != len(self):
                assessed = counted(len(self), "text was", "texts were")
                raise InputError(f"{metric} has {counted(len(values), 'segment')}, {assessed} assessed")
            return self.scores, values, self.numbers
        outputs = self._outputs(scored, metric)
        rows = [(score, next(iter(values.values())), segment) for score, values, segment in outputs if values]
        if not rows:
            raise InputError(f"{metric} has scores of none of the assessed systems")
        judges, values, segments = np.array(rows).T
        known = ~np.isnan(values)
        return judges[known], values[known], segments[known].astype(np.int64)

    def tables(self, scored: Mapping[str, Floats], metric: str) -> tuple[Floats, Floats]:
        """Put the scores of judges and of a metric into tables (systems, segments), NaN where either has none.

        Assessed texts are of no systems.

        Parameters
        ----------
        scored
            Scores of the segments of each system, in order.
        metric
            Name of their metric, for errors.
        """
        assessed = {name for systems in self.systems for name in systems}
        places = {name: number for number, name in enumerate(name for name in scored if name in assessed)}
        judges = np.full((len(places), 1 + max(self.segments, default=0)), np.nan)
        values = judges.copy()
        for score, by_system, segment in self._outputs(scored, metric):
            for name, value in by_system.items():
                judges[places[name], segment] = score
                values[places[name], segment] = value
        judges[np.isnan(values)] = np.nan
        return judges, values

    def of_documents(self, documents: Integers) -> Assessments:
        """Replace the judged segments by means of each document and system.

        InputError: they are of texts of their own, or of a segment that has no document.
        """
        if self.texts is not None:
            raise InputError("these judgements have texts of their own, which are of no document")
        numbers = drawn_with(np.array(self.segments, np.int64), documents).tolist()
        scores: dict[tuple[tuple[str, ...], int], list[float]] = {}
        for score, systems, number in zip(self.scores.tolist(), self.systems, numbers, strict=True):
            scores.setdefault((tuple(systems), number), []).append(score)
        means = np.array([np.mean(some) for some in scores.values()])
        return Assessments(means, [systems for systems, _ in scores], [number for _, number in scores])

    def of_systems(self) -> tuple[dict[str, float], bool]:
        """Mean score of each system's assessed outputs, and whether all systems were assessed on the same segments.

        InputError: the outputs are of no system.
        """
        if self.texts is not None:
            raise InputError("these judgements have texts of their own, which are of no system: ask about outputs")
        scores: dict[str, list[float]] = {}
        places: dict[str, set[int]] = {}
        for score, systems, segment in zip(self.scores.tolist(), self.systems, self.segments, strict=True):
            for name in systems:
                scores.setdefault(name, []).append(score)
                places.setdefault(name, set()).add(segment)
        same = len({frozenset(segments) for segments in places.values()}) == 1
        return {name: float(np.mean(some)) for name, some in scores.items()}, same

    def drawn_with(self, segments: Integers) -> Integers:
        """Return the units with which outputs are drawn: their segments, or documents."""
        return drawn_with(segments, self.documents)

    def counts(self) -> dict[str, int]:
        """Count outputs, segments and annotators, as far as known."""
        found = {"outputs": len(self)}
        if self.texts is None:
            found["segments"] = len(set(self.segments))
        if self.annotations is not None:
            found |= {"judgements": len(self.annotations.scores), "annotators": len(self.annotations.names)}
        return found

    def one_sided(self, scored: Collection[str]) -> tuple[list[str], list[str]]:
        """List systems that were assessed but not scored (nor any with the same output), and systems only scored."""
        unscored = {name for systems in self.systems if not set(systems) & set(scored) for name in systems}
        assessed = {name for systems in self.systems for name in systems}
        return sorted(unscored), [name for name in scored if self.systems and name not in assessed]

    def _outputs(self, scored: Mapping[str, Floats], metric: str) -> Iterator[tuple[float, Mapping[str, float], int]]:
        """Yield the human score, the metric's score and the segment of assessed outputs that are no texts."""
        if self.texts is not None:
            return
        for score, systems, segment in zip(self.scores.tolist(), self.systems, self.segments, strict=True):
            there = [name for name in systems if name in scored]
            for name in there:
                if segment >= len(scored[name]):
                    said = f"name segment {segment + 1}, {metric} has {len(scored[name])} of {name}"
                    raise InputError(f"the assessments {said}")
            yield score, {name: float(scored[name][segment]) for name in there}, segment


def drawn_with(segments: Integers, documents: Integers | None) -> Integers:
    """Return the documents of segments, if samples draw them, or the segments. Raises InputError for others."""
    if documents is None:
        return segments
    if len(segments) and segments.max() >= len(documents):
        raise InputError(f"the judgements name segment {segments.max() + 1}, {len(documents)} have a document")
    return documents[segments]


def read_assessments(
    name: str,
    *,
    direction: str | None = None,
    column: str | None = None,
    unescape: bool = False,
    standardise: str | None = None,
    encoding: str = "utf-8",
    texts: KnownOutputs | None = None,
    documents: Documents | None = None,
    missing_value: float | None = None,
) -> Assessments:
    """Read direct assessment as published for WMT17, or any other scores of segments.

    Formats are columns `LP SYSTEM SID HUMAN` (SID from 1; `a+b`: systems with the same output); in tabs or CSV `LP
    source translation reference HUMAN_score` (or `lp src mt ref score`, as in COMET's data); tables of scores of
    segments as for `read_scores`, also with a column `annotator`, or with `document` instead of `segment`; and the
    formats of `formats.toml`: Error Span Annotation of WMT24 and Pearmut, and MQM. One of several directions
    must be given. Scores of an output by several annotators are averaged, with a note; in tables of texts
    only if they have a column `annotator`. `unescape` replaces entities such as ``&apos;`` in texts by characters.

    Parameters
    ----------
    name
        The file, packed or not; `-` is standard input.
    direction
        Direction whose rows are read (column `lp`).
    column
        Column of scores of segments; None: the first of `SCORED`.
    unescape
        Whether entities such as ``&apos;`` in texts become characters.
    standardise
        `annotator`: take of each judgement how many standard deviations it lies above the mean of its annotator.
    encoding
        Of the file.
    texts
        Lines of the systems, among which outputs are looked for that the file does not number, or scores of segments;
        they tell from which number a table counts its segments, see `find_start`.
    documents
        Documents that scores of whole ones are of; each stands at the first segment of its document.
    missing_value
        A number that stands for a missing score.
    """
    if standardise is not None:
        known_name("way to standardise", standardise, ("annotator",))
    text = content_of(name, encoding)
    found_rows = rows_in_format(name, text, texts=texts if callable(texts) else None, judged=True)
    judged = None if found_rows is None else found_rows.rows
    by_system, of_whole, numbered, scored = True, False, judged is not None, ""
    means = partial(_means, name, standardise, missing_value)
    if judged is None:
        columns, rows = table_rows(name, text, wanted=[] if column is None else [column.lower()])
        known = set(columns)
        if (texts_in := _columns_of_texts(name, columns, column)) is not None:
            renamed = [(where, {texts_in.get(key, key): cell for key, cell in row.items()}) for where, row in rows]
            taken = of_direction(name, renamed, direction)
            scored = next(key for key, meaning in texts_in.items() if meaning == "human_score")
            return _judged_texts(name, taken, unescape, partial(means, scored))
        by_system = not set(_BY_NUMBER) <= known
        known = {*meanings(columns)}
        of_whole = by_system and not {"system", "segment"} <= known and ".seg.score" not in name
        if of_whole and not {"system", "document"} <= known:
            needed = f"system segment score, or {' '.join(_BY_NUMBER)}, or {' '.join(_BY_TEXT)}"
            raise InputError(f"{name}, line 1: assessments need columns {needed}; this file has {' '.join(columns)}")
        if by_system and column is None and "system" in known and not known & {*SCORED}:
            said = f"no scores among the columns {' '.join(columns)}: name theirs with "
            raise InputError(f"{name}, line 1: {said}", Parameter("column"))
        scored = column or next((one for one in SCORED if one in known), "")
        judged = score_rows(name, text, column if by_system else "human")
    taken = of_direction(name, judged, direction)
    if of_whole:
        taken, numbered = _of_documents(name, taken, documents), True
    found = _numbered(name, taken, by_system, None if numbered else texts, partial(means, scored))
    return found if by_system and not (numbered or callable(texts)) else replace(found, first=None)


def _columns_of_texts(name: str, columns: Sequence[str], column: str | None) -> dict[str, str] | None:
    """Find the meanings of columns with texts and human scores; None if outputs are numbered, or there is no text.

    The score is in `column`, or else in `human_score` or the first of `SCORED`. InputError: there is no such column.
    """
    found = {}
    for meaning, others in _TEXTS.items():
        spelled = next((one for one in (meaning, *others) if one in columns), None)
        if spelled is None:
            return None
        found[spelled] = meaning
    if {"segment", "sid", "seg_id", "segment_id"} & {*columns} and "human_score" not in columns:
        return None
    wanted = [column.lower()] if column is not None else ["human_score", *SCORED]
    scored = next((one for one in wanted if one in columns), None)
    if scored is None:
        raise InputError(f"{name}, line 1: no column {', '.join(wanted)}; this file has {' '.join(columns)}")
    return {**found, scored: "human_score"}


def _of_documents(name: str, rows: Iterable[TableRow], documents: Documents | None) -> list[TableRow]:
    """Number scores of whole documents as their first segments, from 1."""
    if documents is None:
        needed = Parameter("level", "document"), " and the documents of the segments with ", Parameter("documents")
        raise InputError(f"{name}: these scores are of whole documents: give ", *needed)
    firsts = dict(zip(documents.names, np.unique(documents.numbers, return_index=True)[1].tolist(), strict=True))
    found: list[TableRow] = []
    for where, row in rows:
        if row["document"] not in firsts:
            raise InputError(
                f"{where}: no segment is of document {row['document']!r}, but of {documents.names[0]!r}, …"
            )
        found.append((where, {**row, "segment": str(1 + firsts[row["document"]])}))
    return found


def _means(
    name: str,
    standardise: str | None,
    missing_value: float | None,
    column: str,
    judged: Iterable[tuple[Hashable, float, str | None]],
) -> tuple[list[Any], Floats, Annotations | None]:
    """Average the scores of each output, with a note if there are several; missing ones are skipped.

    Scores of a column called MQM are negated, with a note, if they are penalties.
    """
    kept = [one for one in judged if not np.isnan(one[1]) and one[1] != missing_value]
    outputs = {output: place for place, output in enumerate(dict.fromkeys(output for output, *_ in kept))}
    places = np.array([outputs[output] for output, *_ in kept], np.int64)
    scores = np.array([score for _, score, _ in kept], np.float64)
    if missing_value is None and (odd := sentinel_of([scores])):
        note(f"{name}: {odd[1]}: ", Parameter("missing_value", odd[0]), " leaves them out")
    if "mqm" in column.lower() and are_penalties(scores):
        note(f"{name}: {column}: penalties, of which lower is better, so they are negated")
        scores = -scores
    annotations = None
    if kept and kept[0][2] is not None:
        names = {str(annotator): None for *_, annotator in kept}
        numbers = {annotator: number for number, annotator in enumerate(names)}
        said = np.array([numbers[str(annotator)] for *_, annotator in kept])
        scores = _standardised(scores, said) if standardise else scores
        # Who judged an output twice is one annotator.
        once, which, times = np.unique([places, said], axis=1, return_inverse=True, return_counts=True)
        judged_once = places, said, scores
        if (times > 1).any():
            judged_once = *once, np.bincount(which.ravel(), scores) / times
        annotations = Annotations(*judged_once, tuple(names))
    elif standardise:
        raise InputError(f"{name}: who made a judgement is not said, so there is no ", Parameter("standardise"))
    counts = np.bincount(places)
    if repeated := int((counts > 1).sum()):
        note(f"{name}: {repeated:,} of {len(outputs):,} outputs have several judgements: the mean of each is taken")
    return list(outputs), np.bincount(places, scores) / counts, annotations


def _standardised(scores: Floats, annotators: Integers) -> Floats:
    """Take the mean of each annotator from its scores, and divide by its standard deviation."""
    counts = np.bincount(annotators)
    apart = scores - (np.bincount(annotators, scores) / counts)[annotators]
    spread = np.sqrt(np.bincount(annotators, apart**2) / counts)[annotators]
    return np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)


def _judged_texts(name: str, rows: Sequence[TableRow], unescape: bool, means: _Means) -> Assessments:
    clean = html.unescape if unescape else str
    names = ("source", "translation", "reference")
    # Equal texts are separate outputs, unless the annotators are named.
    annotated = "annotator" in rows[0][1]
    texts = (
        (
            (*(clean(row[column]) for column in names), "" if annotated else where),
            score_of(where, row["human_score"]),
            row.get("annotator"),
        )
        for where, row in rows
    )
    outputs, scores, annotations = means(texts)
    if not outputs:
        raise InputError(f"{name}: there are no judgements")
    source, candidate, reference, _ = map(list, zip(*outputs, strict=True))
    corpus = Segments.of({"translation": candidate}, reference, source)
    return Assessments(scores, texts=corpus, annotations=annotations)


def _numbered(
    name: str, rows: Sequence[TableRow], by_system: bool, outputs: KnownOutputs | None, means: _Means
) -> Assessments:
    """Read outputs by system and segment, as for WMT17 or one system after the other.

    `outputs` are given where the format does not say from which number segments count.
    """
    places, start = place_rows(name, rows)
    if not by_system and not start:
        where = next(where for (where, _), (_, segment) in zip(rows, places, strict=True) if not segment)
        raise InputError(f"{where}: SID is the number of a segment, from 1, not '0'")
    if outputs is not None and start:
        names = plain_names({one for system, _ in places for one in _produced_by(system, by_system)})
        groups = [(n + start, [([names[one] for one in _produced_by(by, by_system)], 0)]) for by, n in places]
        shift = start - find_start(name, groups, outputs, usual=start, sure=not by_system)
        places = [(system, segment + shift) for system, segment in places]
    judged = (
        (place, score_of(where, row["score"]), row.get("annotator"))
        for (where, row), place in zip(rows, places, strict=True)
    )
    found, scores, annotations = means(judged)
    if not found:
        raise InputError(f"{name}: there are no assessments")
    order = np.arange(len(found))
    if by_system:
        ranks = {system: rank for rank, system in enumerate(dict.fromkeys(system for system, _ in places))}
        order = np.lexsort(([segment for _, segment in found], [ranks[system] for system, _ in found]))
    produced = [_produced_by(found[number][0], by_system) for number in order.tolist()]
    names = plain_names({system for group in produced for system in group})
    segments = [found[number][1] for number in order.tolist()]
    systems = [[names[system] for system in group] for group in produced]
    if annotations is not None:
        annotations = replace(annotations, outputs=np.argsort(order)[annotations.outputs])
    return Assessments(scores[order], systems, segments, annotations=annotations, first=start)


def _produced_by(system: str, by_system: bool) -> list[str]:
    """Return the systems of a name: `a+b` stands for two with the same output, as in WMT17."""
    return [system] if by_system else system.split("+")
