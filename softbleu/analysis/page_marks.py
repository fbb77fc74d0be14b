"""Marks of a page in the lines of metrics without single n-gram matches: edits, alignments, similarities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Self

import numpy as np

from softbleu.analysis.corrections import find_corrections
from softbleu.corpora.judgements.spans import SpanTable
from softbleu.engine.plan import Plan
from softbleu.metrics.protocols import CANDIDATE, SOURCE, Mark, ShowsEdits, ShowsMarks, ShowsSimilarities
from softbleu.text.tokens import token_places

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.encode import CodedBlock
    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.similarity import WordTable
    from softbleu.metrics.base import Metric
    from softbleu.metrics.edits import JudgedEdits
    from softbleu.types import Integers

HEAT_STEPS = 50  # Similarities of a page are so many to 1
LEAST_HEAT = 0.2  # Lower ones are left blank
_SEGMENTS, _PAIRS = 64, 1 << 20
"""Segments, and pairs of their tokens, whose similarities are looked at together, unless one segment has more."""


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
    title: str = field(default="word edits", kw_only=True)  # What they are called where a page shows n-grams, too

    @classmethod
    def of(cls, lines: Iterable[Iterable[Mark]], title: str = "word edits") -> Self:
        """Put the marks of all rows together."""
        rows, kinds, labels = list[tuple[int, ...]](), dict[str, int](), dict[str, int]()
        for row, marks in enumerate(lines):
            for mark in marks:
                kind, label = kinds.setdefault(mark.kind, len(kinds)), labels.setdefault(mark.said, len(labels))
                rows.append((row, mark.text, mark.start, mark.length, kind, mark.link, label))
        columns = np.array(rows, np.int64).reshape(-1, 7).T
        return cls(list(kinds), list(labels), *columns, title=title)


@dataclass(frozen=True)
class ShownHeat:
    """Similarities of the tokens of each candidate and of its best reference, row by row."""

    labels: list[str]
    heights: Integers  # Tokens of the candidate, of each row
    widths: Integers
    names: Integers  # Numbers of labels: of each row those of the candidate's tokens, then those of the reference's
    values: Integers  # In steps of 1 / `HEAT_STEPS`, from left to right and down


def find_marks(corpus: Corpus, metric: Metric, text: CodedBlock, words: WordTable | None) -> ShownMarks | None:
    """Find the marks that `metric` makes in the lines of a page; None if it makes none.

    `text` has the first segments of `corpus`, which are shown; `words` is the table of its words, if the metric needs
    one.
    """
    if isinstance(metric, ShowsEdits):
        systems = find_corrections(corpus, Plan((metric,)))
        return ShownMarks.of(_edit_marks(line) for system in systems for line in system[: len(text)])
    if isinstance(metric, ShowsMarks):
        return ShownMarks.of(chain.from_iterable(metric.marks(chunk, words) for chunk in text.chunks()))
    return None


def mark_spans(
    tables: Sequence[SpanTable], systems: Sequence[str], raw: Sequence[Sequence[str]], text: CodedBlock
) -> ShownMarks:
    """Mark the words that lie in spans, whole words where a span begins or ends within one.

    Parameters
    ----------
    tables
        Spans of judges or metrics.
    systems
        Names of the systems of the page.
    raw
        Lines of each system, as its file has them.
    text
        The same as the page shows them.
    """

    def marks() -> Iterator[Iterator[Mark]]:
        for system, lines, tokens in zip(systems, raw, text.candidates, strict=True):
            for number, (line, codes) in enumerate(zip(lines, tokens.by_line(), strict=True)):
                places = list(token_places([text.words[code] for code in codes], line))
                yield _marks_in(tables, system, number, places)

    return ShownMarks.of(marks(), "marked spans")


def _marks_in(
    tables: Sequence[SpanTable], system: str, segment: int, places: Sequence[tuple[int, int]]
) -> Iterator[Mark]:
    link = 0
    for table in tables:
        for output in table.outputs.get(system, {}).get(segment, ()):
            for start, end, severity in output.spans:
                end = max(end, start + 1)
                covered = [n for n, (first, last) in enumerate(places) if first < end and start < last]
                if covered:
                    size = covered[-1] - covered[0] + 1
                    kind = severity or "marked"
                    yield Mark(CANDIDATE, covered[0], size, kind, link, f"{kind}, by {table.name}")
                    link += 1


def find_heat(metric: Metric, text: CodedBlock, words: WordTable | None) -> ShownHeat | None:
    """Find the similarities of tokens in the lines of a page; None if `metric` does not compare tokens so.

    `text` has the segments that are shown; `words` is the table of its words, None without vectors.
    """
    if words is None or not isinstance(metric, ShowsSimilarities):
        return None
    heights, widths, names, values = [], [], [], []
    labels: dict[str, int] = {}
    for piece in (piece for chunk in text.chunks() for piece in _small_pieces(chunk)):
        candidates, references = (side.surface_forms(text.words) for side in (piece.candidates, piece.references))
        firsts = piece.segment_offsets[:-1].tolist()
        for candidate, first, table in zip(candidates, firsts, metric.tables(piece, words), strict=True):
            heights.append(len(table.candidate_words))
            widths.append(len(table.reference_words))
            sides = (candidate, table.candidate_words), (references[first + table.reference], table.reference_words)
            names += [labels.setdefault(word, len(labels)) for side in sides for word in _names(*side)]
            shown = np.rint(HEAT_STEPS * np.clip(table.values, 0, 1)).astype(np.uint8)
            shown[table.values < LEAST_HEAT] = 0
            values.append(shown.reshape(-1))
    tall, wide, named = (np.array(numbers, np.int64) for numbers in (heights, widths, names))
    return ShownHeat(list(labels), tall, wide, named, np.concatenate(values))


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


def _edit_marks(line: JudgedEdits) -> Iterator[Mark]:
    """Edits, and missed gold edits where they should be; of edits that are like gold edits, how much."""
    for link, edit in enumerate(line.edits):
        start, end, first, last = edit.spans
        said = f"{edit.verdict}, {edit.kind}: {end - start} words become “{' '.join(edit.text)}”"
        for one, other, share in line.links:
            if one == link and share < 1:
                said += f"; {share:.2f} of “{' '.join(line.gold[other].text)}”"
        yield Mark(CANDIDATE, first, last - first, edit.verdict, link, said)
        yield Mark(SOURCE, start, end - start, edit.verdict, link, said)
    missed = (edit for edit in line.gold if edit.verdict == "missed")
    for link, edit in enumerate(missed, start=len(line.edits)):
        start, end, _, _ = edit.spans
        said = f"missed, {edit.kind}: {end - start} words should become “{' '.join(edit.text)}”"
        yield Mark(SOURCE, start, end - start, "missed", link, said)
