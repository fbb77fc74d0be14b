"""What a page marks in the lines of metrics without single n-gram matches: edits, alignments, similarities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.analysis.corrections import find_corrections
from softbleu.matching.ngrams import Chunk
from softbleu.metrics.gleu import Gleu
from softbleu.metrics.imeasure import FALSE_NEGATIVE, FALSE_POSITIVE, TRUE_POSITIVE, IMeasure, align_columns
from softbleu.metrics.meteor import Meteor
from softbleu.metrics.optional import ShowsEdits, ShowsSimilarities

if TYPE_CHECKING:
    from softbleu.analysis.page_matches import ShownText
    from softbleu.corpora.corpus import Corpus
    from softbleu.matching.similarity import WordTable
    from softbleu.metrics.base import Metric
    from softbleu.metrics.edits.judged import JudgedEdits
    from softbleu.types import Integers

CANDIDATE, REFERENCE, SOURCE = range(3)
HEAT_STEPS = 50  # Similarities of a page are so many to 1
LEAST_HEAT = 0.2  # Lower ones are left blank
_SEGMENTS, _PAIRS = 64, 1 << 20
"""Segments, and pairs of their tokens, whose similarities are looked at together, unless one segment has more."""

Mark = tuple[int, int, int, str, int, str]
"""Which text (the references of a segment count as one), its first token, how many, the kind, a number that those
which belong together share, and what is said of it."""


@dataclass(frozen=True)
class ShownMarks:
    """The marks of the candidates shown, by row; one entry a mark in each array."""

    kinds: list[str]
    labels: list[str]
    row: Integers  # Number of the candidate: system * segments shown + segment
    side: Integers
    start: Integers
    length: Integers
    kind: Integers
    link: Integers
    label: Integers


@dataclass(frozen=True)
class ShownHeat:
    """Similarities of the tokens of each candidate and of its best reference, row by row."""

    labels: list[str]
    heights: Integers  # Tokens of the candidate, of each row
    widths: Integers
    names: Integers  # Numbers of labels: of each row those of the candidate's tokens, then those of the reference's
    values: Integers  # In steps of 1 / `HEAT_STEPS`, from left to right and down


def find_marks(corpus: Corpus, metric: Metric, text: ShownText, words: WordTable | None) -> ShownMarks | None:
    """Find the marks of a metric that has any."""
    maker = _judged_marks if isinstance(metric, ShowsEdits) else _MARKERS.get(type(metric))
    if maker is None:
        return None
    rows, kinds, labels = list[tuple[int, ...]](), dict[str, int](), dict[str, int]()
    for row, marks in enumerate(maker(corpus, metric, text, words)):
        for side, start, length, kind, link, label in marks:
            numbers = kinds.setdefault(kind, len(kinds)), link, labels.setdefault(label, len(labels))
            rows.append((row, side, start, length, *numbers))
    columns = np.array(rows, np.int64).reshape(-1, 7).T
    return ShownMarks(list(kinds), list(labels), *columns)


def find_heat(metric: Metric, text: ShownText, words: WordTable | None) -> ShownHeat | None:
    """Find the similarities of tokens, for a metric that goes by them."""
    if words is None or not isinstance(metric, ShowsSimilarities):
        return None
    heights, widths, names, values = [], [], [], []
    labels: dict[str, int] = {}
    for piece in (piece for chunk in text.chunks() for piece in _small_pieces(chunk)):
        candidates, references = (side.surface_forms(text.words) for side in (piece.candidates, piece.references))
        firsts = piece.segment_offsets[:-1].tolist()
        for own, first, table in zip(candidates, firsts, metric.tables(piece, words), strict=True):
            heights.append(len(table.own))
            widths.append(len(table.other))
            sides = (own, table.own), (references[first + table.reference], table.other)
            names += [labels.setdefault(word, len(labels)) for side in sides for word in _names(*side)]
            shown = np.rint(HEAT_STEPS * np.clip(table.values, 0, 1)).astype(np.uint8)
            shown[table.values < LEAST_HEAT] = 0
            values.append(shown.reshape(-1))
    return ShownHeat(
        list(labels),
        np.array(heights, np.int64),
        np.array(widths, np.int64),
        np.array(names, np.int64),
        np.concatenate(values),
    )


def _names(words: Sequence[str], numbers: Integers) -> list[str]:
    """The word of each row or column where it is the first of its word; an ellipsis for others."""
    pairs = pairwise([-1, *numbers.tolist()])
    return [words[number] if number >= 0 and number != before else "…" for before, number in pairs]


def _small_pieces(chunk: Chunk) -> Iterator[Chunk]:
    """Segments that are looked at together: few, and fewer where they are long."""
    pairs = np.cumsum(chunk.candidates.lengths * np.diff(chunk.reference_positions))
    start = 0
    while start < len(chunk):
        before = int(pairs[start - 1]) if start else 0
        fitting = int(np.searchsorted(pairs, before + _PAIRS, side="right"))
        end = max(start + 1, min(fitting, start + _SEGMENTS))
        yield chunk.part(start, end)
        start = end


def _judged_marks(corpus: Corpus, metric: Metric, text: ShownText, words: object) -> Iterator[list[Mark]]:
    """Edits, and missed gold edits where they should be; of edits that are like gold edits, how much."""
    for lines in find_corrections(corpus, metric):
        yield from (list(_edit_marks(line)) for line in lines[: len(text)])


def _edit_marks(line: JudgedEdits) -> Iterator[Mark]:
    link = 0
    for number, edit in enumerate(line.edits):
        start, end, first, last = edit.spans
        said = f"{edit.verdict}, {edit.kind}: {end - start} words become “{' '.join(edit.text)}”"
        for one, other, share in line.links:
            if one == number and share < 1:
                said += f"; {share:.2f} of “{' '.join(line.gold[other].text)}”"
        yield CANDIDATE, first, last - first, edit.verdict, link, said
        yield SOURCE, start, end - start, edit.verdict, link, said
        link += 1
    for edit in line.gold:
        start, end, _, _ = edit.spans
        if edit.verdict == "missed":
            said = f"missed, {edit.kind}: {end - start} words should become “{' '.join(edit.text)}”"
            yield SOURCE, start, end - start, "missed", link, said
            link += 1


def _imeasure_marks(corpus: Corpus, metric: Any, text: ShownText, words: object) -> Iterator[list[Mark]]:
    """Columns of the alignment with the reference that counts."""
    for chunk in text.chunks():
        rows = metric.statistics(chunk, None, None)
        chosen = metric.aggregation.chosen(rows, chunk.segment_offsets).tolist()
        sources, candidates, references = (
            tokens.by_line() for tokens in (chunk.source or chunk.candidates, chunk.candidates, chunk.references)
        )
        starts = chunk.references.offsets[chunk.segment_offsets[:-1]]
        for segment, line in enumerate(chosen):
            shift = int(chunk.references.offsets[line] - starts[segment])
            columns = align_columns((sources[segment], candidates[segment], references[line]))
            yield list(_column_marks(columns, shift))


def _column_marks(columns: Sequence[Any], shift: int) -> Iterator[Mark]:
    said = {"right": "changed as in the reference", "wrong": "changed wrongly", "missed": "should be changed"}
    for link, ((source, candidate, reference), kinds) in enumerate(columns):
        if FALSE_POSITIVE in kinds:
            kind = "wrong"
        elif TRUE_POSITIVE in kinds:
            kind = "right"
        elif FALSE_NEGATIVE in kinds:
            kind = "missed"
        else:
            continue
        sides = ((CANDIDATE, candidate, 0), (REFERENCE, reference, shift), (SOURCE, source, 0))
        yield from ((side, at + more, 1, kind, link, said[kind]) for side, at, more in sides if at is not None)


def _meteor_marks(corpus: Corpus, metric: Any, text: ShownText, words: Any) -> Iterator[list[Mark]]:
    """The alignment with the best reference, and the stage at which words matched."""
    for chunk in text.chunks():
        for first, pairs in zip(chunk.segment_offsets.tolist(), metric.pairs(chunk, words), strict=False):
            marks: list[Mark] = []
            for link, pair in enumerate(pairs):
                offsets = chunk.references.offsets
                other = int(offsets[first + pair.reference] - offsets[first]) + pair.reference_start
                marks.append((CANDIDATE, pair.start, pair.length, pair.kind, link, pair.kind))
                marks.append((REFERENCE, other, pair.reference_length, pair.kind, link, pair.kind))
            yield marks


def _gleu_marks(corpus: Corpus, metric: Metric, text: ShownText, words: object) -> Iterator[list[Mark]]:
    """What became of each word: clipped counts of source and of the references together."""
    said = {
        "kept": "kept: in source and reference",
        "corrected": "corrected: in the reference, not in the source",
        "missed": "missed: left as in the source, not in the reference",
        "spoiled": "spoiled: in neither",
    }
    names = [["spoiled", "missed"], ["corrected", "kept"]]
    for chunk in text.chunks():
        (right,) = chunk.ngrams(1)
        (left,) = Chunk(chunk.candidates, chunk.source or chunk.candidates, np.arange(len(chunk) + 1)).ngrams(1)
        offsets = chunk.candidates.offsets
        # Every candidate token starts a 1-gram, in both.
        kinds = [names[good][old] for good, old in zip(right.exact.tolist(), left.exact.tolist(), strict=True)]
        for start, stop in pairwise(offsets.tolist()):
            own = kinds[start:stop]
            yield [(CANDIDATE, index, 1, kind, index, said[kind]) for index, kind in enumerate(own)]


_MARKERS: dict[type, Callable[..., Iterator[list[Mark]]]] = {
    IMeasure: _imeasure_marks,
    Meteor: _meteor_marks,
    Gleu: _gleu_marks,
}
