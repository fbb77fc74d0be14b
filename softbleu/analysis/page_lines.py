"""What stands in the lines of a page: their text as it was written, and its matches at every threshold.

For metrics without single n-gram matches these are marks instead: edits, alignments, similarities.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Self

import numpy as np

from softbleu.analysis.differences import find_corrections
from softbleu.corpora.judgements.spans import SpanTable
from softbleu.engine.encode import CodedBlock
from softbleu.engine.plan import Plan
from softbleu.engine.runner import MINI_BATCH
from softbleu.io.arguments import Limit
from softbleu.kernels import KernelName, choose_kernels
from softbleu.matching.matchers import LONG_CELLS, SoftMatcher
from softbleu.matching.ngrams import Chunk
from softbleu.matching.sweep import MatchIntervals, match_each, match_intervals
from softbleu.metrics.protocols import CANDIDATE, SOURCE, Mark, ShowsEdits, ShowsMarks, ShowsSimilarities
from softbleu.text.tokens import Tokenizer, Tokens, token_places

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus, Segments
    from softbleu.engine.prepare import PreparedCorpus
    from softbleu.matching import Matcher
    from softbleu.matching.ngrams import Vectors, WordTable
    from softbleu.metrics.base import Metric
    from softbleu.metrics.edits import JudgedEdits
    from softbleu.types import Integers

# Scripts without blanks between words, of which each character is shown alone, with its marks
_THAI = r"[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46][\u0e31\u0e34-\u0e4e]*"
_ALONE = rf"[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\uff9f]|{_THAI}"
_MARKS = r"\u0300-\u036f\u0591-\u05c7\u064b-\u0655\u0900-\u0dff"
_WORD = re.compile(rf"{_ALONE}|(?:(?!{_ALONE})[\w{_MARKS}])+(?:['’-](?:(?!{_ALONE})[\w{_MARKS}])+)*|[^\w\s]")
_SCRIPTS = {
    "ja": "\u3040-\u30ff",
    "ko": "\uac00-\ud7af",
    "zh": "\u3400-\u9fff",
    "th": "\u0e00-\u0e7f",
    "ar": "\u0600-\u06ff",
    "he": "\u0590-\u05ff",
    "hi": "\u0900-\u097f",
    "el": "\u0370-\u03ff",
}
"""Languages that their script tells, well enough for fonts and line breaks; Japanese has some Chinese characters."""
_LEAST = 0.2  # Share of the letters that are of the script


def written_text(
    raw: Sequence[Sequence[str]], text: CodedBlock, tokenizer: Tokenizer, *, words: bool
) -> tuple[CodedBlock, Integers]:
    """Take the text of a page as its files have it, and whether a blank stands before each token.

    Tokens are those of the tokenizer, as the text spells them; what a text does not have, such as networks, stands as
    it is. With `words`, lines are cut into words and punctuation marks instead, and texts without blanks
    between words into characters.

    Parameters
    ----------
    raw
        Lines of each system, the references of all segments, and the source.
    text
        The tokens of these.
    tokenizer
        What made them.
    words
        Whether lines are cut anew.
    """
    codes: dict[str, int] = {}
    lines, blanks = [], list[int]()
    for tokens, written in zip(text.lines, raw, strict=True):
        plain = type(tokens) is Tokens
        sizes = [0]
        places: list[int] = []
        for (start, stop), line in zip(pairwise(tokens.offsets.tolist()), written, strict=True):
            forms = [text.words[code] for code in tokens.codes[start:stop].tolist()]
            shown = _cut(line) if words and plain else _spelled(forms, line, bool(tokenizer.glue))
            for form, blank in shown:
                places.append(codes.setdefault(form, len(codes)))
                blanks.append(blank)
            sizes.append(len(places))
        lines.append(Tokens(np.array(places, np.int32), np.array(sizes, np.int64)))
    return replace(text.with_lines(lines), words=list(codes)), np.array(blanks, np.int64)


def raw_lines(corpus: Corpus, segments: int, text: CodedBlock) -> Iterator[Sequence[str]]:
    """Lines of the first segments: of each system, the references of all segments, and the source."""
    parts: list[Segments] = []
    for block in corpus.blocks():
        parts.append(block.load())
        if sum(map(len, parts)) >= segments:
            break
    for system in corpus.systems:
        yield list(chain.from_iterable(part.candidates[system] for part in parts))[:segments]
    counts = np.diff(text.offsets).tolist()
    by_segment: Iterable[Sequence[str]] = chain.from_iterable(part.references for part in parts)
    # Of gold edits the text may have fewer references than there are annotators.
    yield [line for count, lines in zip(counts, by_segment, strict=False) for line in [*lines, *[""] * count][:count]]
    if text.source is not None:
        yield list(chain.from_iterable(part.source or () for part in parts))[:segments]


def _cut(line: str) -> Iterator[tuple[str, bool]]:
    """Cut a line into words, marks and characters, each with whether a blank stands before it.

    >>> list(_cut("It's 西索。"))
    [("It's", False), ('西', True), ('索', False), ('。', False)]
    """
    end = 0
    for match in _WORD.finditer(line):
        yield match[0], match.start() > end
        end = match.end()


def _spelled(tokens: Sequence[str], line: str, glue: bool) -> Iterator[tuple[str, bool]]:
    """Find tokens in the line that they were made of: how they are spelled there, and whether a blank stands before.

    >>> list(_spelled(["it", "'s", "&"], "It's &amp;", True))
    [('It', False), ("'s", False), ('&', True)]
    """
    before = 0
    for number, (token, (start, end)) in enumerate(zip(tokens, token_places(tokens, line), strict=True)):
        if start == end:
            yield token, number > 0 and (line[end : end + 1].isspace() or (glue and end >= len(line)))
            before = end + line[end : end + 1].isspace()
            continue
        yield line[start:end], number > 0 and any(map(str.isspace, line[before:start]))
        before = end


def language_of_text(lines: Iterable[str]) -> str:
    """Tell the language of lines where their script tells it; nothing for others.

    >>> language_of_text(["西索对土地"]), language_of_text(["これは猫です"]), language_of_text(["a cat"])
    ('zh', 'ja', '')
    """
    text = "".join(lines)
    letters = max(1, sum(map(str.isalpha, text)))
    return next((name for name, of in _SCRIPTS.items() if len(re.findall(f"[{of}]", text)) >= _LEAST * letters), "")


_LIMIT = Limit(  # That are shown, of all texts (0.7 GB): more segments are not shown
    "a page",
    "words",
    1 << 21,
    "a segment of 3,000 words with 20 references: 63,000",
    "score shorter segments, or fewer systems",
)
_MOST_PAIRS = 1 << 26  # Of words whose similarities are shown, a byte each


def narrowed(column: Integers) -> Integers:
    """Return whole numbers from 0 in as few bytes as hold them.

    >>> narrowed(np.array([1, 256])).dtype
    dtype('uint16')
    """
    return column.astype(np.min_scalar_type(int(column.max(initial=0))))


@dataclass(frozen=True)
class ShownMatches:
    """The matches of the candidates shown, sorted by row, order, start and threshold; one entry a match each."""

    row: Integers  # Number of the candidate: system * segments shown + segment
    order: Integers
    start: Integers  # Token of the candidate at which the n-gram starts
    matched: Integers  # The clipped matches of it, in millionths
    partner: Integers  # Token at which the reference n-gram starts; the references of a segment count as one text
    partner_order: Integers
    first: Integers  # Number of the lowest threshold at which the match is made
    end: Integers  # Number of the first threshold above it at which it is not

    @classmethod
    def joined(cls, parts: Sequence[Sequence[Integers]]) -> ShownMatches:
        """Put columns of consecutive rows together; there may be none."""
        none = [narrowed(np.zeros(0, np.int64)) for _ in fields(cls)]
        return cls(*(np.concatenate(columns) for columns in zip(*(parts or [none]), strict=True)))


def shown_segments(prepared: PreparedCorpus, most: int, *, tables: bool = False) -> int:
    """Count the first segments that a page shows: at least one and at most `most`, fewer if their texts are long.

    With `tables` of the similarities of words, the pairs of words of the `prepared` corpus are limited, too. Raises
    `InputError` if the first segment alone is too long.
    """
    shown = words = pairs = 0
    for block in prepared.blocks():
        references = sizes = np.diff(block.references.offsets[block.offsets])
        for text in (*block.candidates, *([] if block.source is None else [block.source])):
            sizes = sizes + text.lengths
        proposed = sum(text.lengths for text in block.candidates) if tables else np.zeros(len(block), np.int64)
        cells = proposed * (references // np.maximum(np.diff(block.offsets), 1))
        for size, more in zip(sizes[: most - shown].tolist(), cells.tolist(), strict=False):
            words += size
            pairs += more
            if not shown:
                _LIMIT.check(words, "the first segment")
            elif words > _LIMIT.allowed or pairs > _MOST_PAIRS:
                return shown
            shown += 1
        if shown == most:
            break
    return shown


def match_text(
    text: CodedBlock,
    matcher: Matcher,
    order: int,
    thresholds: tuple[float, ...],
    run: int,
    vectors: Vectors | None,
    kernels: KernelName,
) -> tuple[ShownMatches, Integers, list[int]]:
    """Match all rows of the text of a page at every threshold, of which `run` is the number of the run's own.

    Also their sums at every threshold, in millionths, (systems, thresholds, orders), and which rows are too long
    for more than the run's threshold; these are not in the sums.
    """
    parts: list[list[Integers]] = []
    clipped = np.zeros((len(text.candidates), len(thresholds), order), np.int64)
    too_long: list[int] = []
    for system, chunk in enumerate(text.chunks()):
        for start, stop, long in _pieces(chunk):
            row, piece = system * len(text) + start, chunk.part(start, stop)
            if long or not thresholds or vectors is None or not isinstance(matcher, SoftMatcher):
                intervals = MatchIntervals.joined(match_each([matcher], piece, vectors, order, run))
            else:
                intervals = match_intervals(matcher, thresholds, piece, vectors, order, choose_kernels(kernels))
            parts.append([narrowed(column) for column in _merged(_by_row(intervals, piece, row))])
            if long and thresholds:
                too_long.append(row)
            elif thresholds:
                # What begins at each threshold, less what has ended before.
                changes = np.zeros((len(thresholds) + 1, order), np.int64)
                np.add.at(changes, (intervals.first, intervals.order - 1), intervals.matched)
                np.subtract.at(changes, (intervals.end, intervals.order - 1), intervals.matched)
                clipped[system] += np.cumsum(changes[:-1], axis=0)
    return ShownMatches.joined(parts), clipped, too_long


def _pieces(chunk: Chunk) -> Iterator[tuple[int, int, bool]]:
    """Bounds of the pieces to match; a segment that is too long for a sweep comes alone, and is marked."""
    pairs = chunk.candidates.lengths * np.diff(chunk.reference_positions)
    start = 0
    for long in [*np.flatnonzero(pairs > LONG_CELLS).tolist(), len(chunk)]:
        for first in range(start, long, MINI_BATCH):
            yield first, min(first + MINI_BATCH, long), False
        if long < len(chunk):
            yield long, long + 1, True
        start = long + 1


def _by_row(intervals: MatchIntervals, piece: Chunk, row: int) -> tuple[Integers, ...]:
    """Columns of `ShownMatches`, places counted within the row's texts."""
    segment = piece.positions.segment[intervals.starts]
    return (
        row + segment,
        intervals.order,
        intervals.starts - piece.candidates.offsets[segment],
        intervals.matched,
        intervals.partner_starts - piece.reference_positions[segment],
        intervals.partner_orders,
        intervals.first,
        intervals.end,
    )


def _merged(columns: Sequence[Integers]) -> Integers:
    """Sort, and make one match of those that go on at the next threshold."""
    # Six columns say what is matched; then come the first threshold, by number, and the end.
    made = np.stack(columns)
    made = made[:, np.lexsort(made[6::-1])]
    goes_on = (made[:6, 1:] == made[:6, :-1]).all(axis=0) & (made[6, 1:] == made[7, :-1])
    begins = np.flatnonzero(np.append(True, ~goes_on)[: made.shape[1]])
    last = np.append(begins[1:], made.shape[1])[: len(begins)] - 1
    merged = np.concatenate([made[:7, begins], made[7:, last]])
    return merged[:, np.lexsort(merged[[6, 2, 1, 0]])]


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
