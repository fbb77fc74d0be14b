"""Marks in lines: edits, aligned words and given spans; and similarities of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, starmap
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from softbleu.analysis.corrections import find_corrections
from softbleu.corpora.judgements.spans import SpanTable
from softbleu.engine.encode import CodedBlock
from softbleu.engine.plan import Plan
from softbleu.errors import counted
from softbleu.matching.ngrams import Chunk, WordTable
from softbleu.metrics.protocols import (
    CANDIDATE,
    SOURCE,
    Mark,
    NamesEditJudge,
    ShowsEdits,
    ShowsMarks,
    ShowsPairs,
    ShowsSimilarities,
    SimilarityTable,
    WordPair,
    marks_of_pairs,
    pairs_of,
)
from softbleu.text.tokens import token_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.corpora.corpus import Corpus
    from softbleu.metrics.base import Metric
    from softbleu.metrics.edits import JudgedEdits
    from softbleu.types import Integers

LEAST_SHOWN = 0.2  # Lower similarities are left blank
LEAST_MATCH = 0.5  # Similarity of words from which their marks say that they match
_SEGMENTS, _PAIRS = 64, 1 << 20  # Segments, and pairs of their tokens, that are compared at once


@dataclass(frozen=True)
class LineMarks:
    """Marks of an excerpt by row, an entry per mark in each array."""

    kinds: list[str]
    labels: list[str]
    row: Integers  # system * segments of the excerpt + segment
    side: Integers
    start: Integers
    length: Integers
    kind: Integers
    link: Integers
    label: Integers
    share: Integers  # How much of a match it is, in per cent
    title: str = field(default="word edits", kw_only=True)  # Name on pages that also show n-grams
    pairs: bool = field(default=False, kw_only=True)  # Whether marks of one link are words that match

    @classmethod
    def of(cls, lines: Iterable[Iterable[Mark]], title: str = "word edits", *, pairs: bool = False) -> Self:
        """Collect the marks of all rows."""
        rows, kinds, labels = list[tuple[int, ...]](), dict[str, int](), dict[str, int]()
        for row, marks in enumerate(lines):
            for mark in marks:
                kind, label = kinds.setdefault(mark.kind, len(kinds)), labels.setdefault(mark.said, len(labels))
                share = round(100 * mark.share)
                rows.append((row, mark.text, mark.start, mark.length, kind, mark.link, label, share))
        columns = np.array(rows, np.int64).reshape(-1, 8).T
        return cls(list(kinds), list(labels), *columns, title=title, pairs=pairs)


@dataclass(frozen=True)
class Similarities:
    """Similarities of the tokens of each candidate and its best reference, row by row."""

    labels: list[str]
    heights: Integers  # Tokens of the candidate in each row
    widths: Integers  # Tokens of the reference
    names: Integers  # Label numbers of each row: first the candidate's tokens, then the reference's
    values: Integers  # In steps, row by row
    steps: ClassVar[int] = 50  # Value of a similarity of 1


def find_marks(
    corpus: Corpus, metric: Metric, text: CodedBlock, segments: Integers, words: WordTable | None
) -> tuple[LineMarks | None, Similarities | None]:
    """Find the marks of `metric` in an excerpt, and the similarities of its tokens; None for what it has none of.

    Metrics that score corrections by n-grams show edits as another metric judges them. Where words are compared one
    by one, they are compared once, and paired by the same similarities.

    Parameters
    ----------
    corpus
        The whole corpus.
    metric
        Metric of the page.
    text
        The excerpt.
    segments
        Its numbers in `corpus`, from 0.
    words
        The table of its words, if the metric needs one.
    """
    judge = metric.edit_judge if isinstance(metric, NamesEditJudge) else metric
    if isinstance(judge, ShowsEdits):
        systems = find_corrections(corpus, Plan((judge,)))
        title = "edits" if judge is metric else f"edits, as {judge.label} judges them"
        return LineMarks.of((_edit_marks(system[number]) for system in systems for number in segments), title), None
    pieces = chain.from_iterable(map(_small_pieces, text.chunks()))
    if words is not None and isinstance(metric, ShowsSimilarities):
        return _marks_by_similarity(metric, text.words, pieces, words)
    if isinstance(metric, ShowsPairs):
        lines = ((piece, metric.pairs(piece, words)) for piece in pieces)
        return LineMarks.of(chain.from_iterable(starmap(_pair_marks, lines)), "word pairs", pairs=True), None
    if isinstance(metric, ShowsMarks):
        return LineMarks.of(chain.from_iterable(metric.marks(chunk, words) for chunk in text.chunks())), None
    return None, None


def _marks_by_similarity(
    metric: ShowsSimilarities, forms: Sequence[str], pieces: Iterable[Chunk], words: WordTable
) -> tuple[LineMarks, Similarities]:
    """Mark the words of all pieces, whose codes have these forms, as their similarities pair them."""
    found = _FoundSimilarities(forms)

    def lines() -> Iterator[list[Mark]]:
        for piece in pieces:
            tables = list(metric.tables(piece, words))
            found.add(piece, tables)
            yield from _pair_marks(piece, pairs_of(piece, tables))

    marks = LineMarks.of(lines(), "word pairs", pairs=True)
    return marks, found.joined()


def _pair_marks(chunk: Chunk, pairs: Iterator[tuple[WordPair, ...]]) -> Iterator[list[Mark]]:
    """Mark aligned words, and how similar they are; pairs that are hardly similar are no match."""
    yield from marks_of_pairs(chunk, map(_similar, pairs))


def _similar(pairs: Iterable[WordPair]) -> Iterator[WordPair]:
    return (pair for pair in pairs if pair.similarity is None or pair.similarity >= LEAST_MATCH)


def mark_spans(
    tables: Sequence[SpanTable],
    systems: Sequence[str],
    raw: Sequence[Sequence[str]],
    text: CodedBlock,
    segments: Integers,
) -> LineMarks:
    """Mark the words in spans; a span that begins or ends within a word marks the whole word.

    Parameters
    ----------
    tables
        Spans of judges or metrics.
    systems
        Names of the systems.
    raw
        Lines of each system as in its file.
    text
        The same lines as on the page.
    segments
        Their numbers in the corpus, from 0.

    Raises `InputError` for a span beyond its line.
    """

    def marks() -> Iterator[Iterator[Mark]]:
        for system, lines, tokens in zip(systems, raw, text.candidates, strict=True):
            for number, line, codes in zip(segments.tolist(), lines, tokens.by_line(), strict=True):
                for table in tables:
                    for output in table.outputs.get(system, {}).get(number, ()):
                        table.check_output(output, line, system, number + 1)
                places = list(token_places([text.words[code] for code in codes], line))
                yield _marks_in(tables, system, number, places)

    return LineMarks.of(marks(), "marked spans")


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


class _FoundSimilarities:
    """Similarities, collected row by row."""

    def __init__(self, forms: Sequence[str]) -> None:
        self.forms = forms
        self.labels: dict[str, int] = {}
        self.heights: list[int] = []
        self.widths: list[int] = []
        self.names: list[int] = []
        self.values: list[NDArray[np.uint8]] = []

    def add(self, piece: Chunk, tables: Iterable[SimilarityTable]) -> None:
        """Add the tables of the rows of a piece."""
        candidates, references = (side.surface_forms(self.forms) for side in (piece.candidates, piece.references))
        firsts, labels = piece.segment_offsets[:-1].tolist(), self.labels
        for candidate, first, table in zip(candidates, firsts, tables, strict=True):
            self.heights.append(len(table.candidate_words))
            self.widths.append(len(table.reference_words))
            sides = (candidate, table.candidate_words), (references[first + table.reference], table.reference_words)
            self.names += [labels.setdefault(word, len(labels)) for side in sides for word in _names(*side)]
            shown = np.rint(Similarities.steps * np.clip(table.values, 0, 1)).astype(np.uint8)
            shown[table.values < LEAST_SHOWN] = 0
            self.values.append(shown.reshape(-1))

    def joined(self) -> Similarities:
        """Return all rows."""
        tall, wide, named = (np.array(numbers, np.int64) for numbers in (self.heights, self.widths, self.names))
        return Similarities(list(self.labels), tall, wide, named, np.concatenate(self.values))


def _names(words: Sequence[str], numbers: Integers) -> list[str]:
    """Name each row or column by its word; an ellipsis if it continues the word of the one before."""
    pairs = pairwise([-1, *numbers.tolist()])
    return [words[number] if number >= 0 and number != before else "…" for before, number in pairs]


def _small_pieces(chunk: Chunk) -> Iterator[Chunk]:
    """Cut a chunk into pieces that are compared at once: fewer segments where they are long."""
    pairs = np.cumsum(chunk.candidates.lengths * np.diff(chunk.reference_positions))
    start = 0
    while start < len(chunk):
        before = int(pairs[start - 1]) if start else 0
        fitting = int(np.searchsorted(pairs, before + _PAIRS, side="right"))
        end = max(start + 1, min(fitting, start + _SEGMENTS))
        yield chunk.part(start, end)
        start = end


def _edit_marks(line: JudgedEdits) -> Iterator[Mark]:
    """Yield marks of edits and of missed gold edits; partly correct edits have their similarity."""
    for link, edit in enumerate(line.edits):
        start, end, first, last = edit.spans
        words = counted(end - start, "word becomes", "words become")
        said = f"{edit.verdict}, {edit.kind}: {words} “{' '.join(edit.text)}”"
        for one, other, share in line.links:
            if one == link and share < 1:
                said += f"; {share:.2f} of “{' '.join(line.gold[other].text)}”"
        yield Mark(CANDIDATE, first, last - first, edit.verdict, link, said)
        yield Mark(SOURCE, start, end - start, edit.verdict, link, said)
    missed = (edit for edit in line.gold if edit.verdict == "missed")
    for link, edit in enumerate(missed, start=len(line.edits)):
        start, end, _, _ = edit.spans
        said = f"missed, {edit.kind}: {counted(end - start, 'word')} should become “{' '.join(edit.text)}”"
        yield Mark(SOURCE, start, end - start, "missed", link, said)
