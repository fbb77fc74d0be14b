"""Collect the content of a page about a run: scores, intervals, and what stands in each line.

Of metrics over n-grams a line has every match with the thresholds at which it is made; of others it has marks: edits,
alignments, similarities.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from softbleu.analysis.differences import (
    correction_kinds,
    differences_in,
    find_corrections,
    scores_by_length,
    scores_by_word,
    shown_text,
)
from softbleu.corpora.judgements.spans import SpanTable
from softbleu.engine.encode import CodedBlock
from softbleu.engine.plan import GivenMetrics, Plan, make_plan
from softbleu.engine.runner import MINI_BATCH, Runner, RunOptions, Statistics, running
from softbleu.errors import InputError, Parameter, counted
from softbleu.io.arguments import Limit
from softbleu.io.platform import single_threaded_blas
from softbleu.kernels import KernelName, choose_kernels
from softbleu.matching.matchers import LONG_CELLS, SoftMatcher
from softbleu.matching.ngrams import Chunk
from softbleu.matching.sweep import MatchIntervals, match_each, match_intervals
from softbleu.metrics.protocols import (
    CANDIDATE,
    SOURCE,
    BleuFormula,
    Mark,
    ShowsEdits,
    ShowsMarks,
    ShowsSimilarities,
    matcher_of,
)
from softbleu.results.significance import (
    SAMPLES,
    ComparisonTable,
    SignificanceSettings,
    bootstrap_scores,
    compare_systems,
    segment_numbers,
)
from softbleu.text.coded import Tokens
from softbleu.text.tokens import Tokenizer, token_places

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus, Segments
    from softbleu.corpora.labels import Documents
    from softbleu.engine.prepare import CorpusWords, PreparedCorpus
    from softbleu.matching import Matcher
    from softbleu.matching.ngrams import Vectors, WordTable
    from softbleu.metrics.base import Level, Metric
    from softbleu.metrics.edits import JudgedEdits
    from softbleu.metrics.result import Result, Score
    from softbleu.types import Integers, Progress

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
    values: Integers  # In steps, from left to right and down
    steps: ClassVar[int] = 50  # So many to a similarity of 1


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
            shown = np.rint(ShownHeat.steps * np.clip(table.values, 0, 1)).astype(np.uint8)
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


ROWS = 15_000  # Candidates that a page shows; its scores are of all
STEPS = 100  # Thresholds of a page lie so many to 1 apart
COARSE_STEPS = 20  # The same for matchers that must match anew at every threshold
_SLOWNESS = 16  # How much longer it takes to match at every threshold than to score by exact matches
_NO_ROWS = np.zeros((0, 0, 0), np.int64)
_LOOKED_AT = 10_000  # Words whose script says the language
_NGRAMS = 10  # N-grams of each pair and direction that a page of a comparison shows


@dataclass(frozen=True)
class Page:
    """Everything that a page about a run shows."""

    metric: Metric
    segment_metric: Metric
    order: int  # Greatest n of the n-grams whose matches are shown; 0 where there are none
    results: list[Result]  # Of the run's own threshold; one a system
    segment_signature: str
    segment_scores: list[list[float]]  # Of the segments shown, system by system
    parts: dict[str, list[list[float]]]
    """What the segments' scores are made of, by how tables call it, and scores by other metrics; likewise."""
    intervals: list[tuple[float, float] | None]
    """95% of the bootstrap scores, one a system; None where the metric has no score of a corpus."""
    significance: SignificanceSettings
    thresholds: tuple[float, ...]
    """Ascending; empty for a metric whose score cannot be taken anew at another threshold."""
    run: int  # Which of them is the run's own
    clipped_matches: Integers  # In millionths: (systems, thresholds, orders); empty without thresholds
    rows: Integers
    """Lengths and totals of the segments shown, (systems, segments, k), for the formula of BLEU; none for others."""
    segments: int  # Segments of the corpus; `text` has the first of them
    text: CodedBlock
    matches: ShownMatches
    too_long: list[int]  # Rows whose matches are known at the run's threshold only
    blanks: Integers  # Whether a blank stands before each token of `text`, in the order of its lines
    language: str  # Of candidates and references, by BCP 47; empty where it is not known
    plain: bool  # Whether the metric marks nothing: words are marked that one system has right and another has not
    marks: ShownMarks | None
    heat: ShownHeat | None
    title: str = ""
    more: tuple[Result, ...] = ()  # Of the other metrics
    pair: tuple[int, int] | None = None  # Systems that are shown side by side at first
    tables: list[PageTable] = field(default_factory=list)


@dataclass(frozen=True)
class PageTable:
    """A table that a page shows as it is."""

    title: str
    rows: list[dict[str, Any]]  # By the names of the columns, the same in each
    note: str = ""


def make_page(
    corpus: Corpus,
    metrics: GivenMetrics = "bleu",
    *,
    level: Level = "corpus",
    jobs: int = 1,
    executor: Executor | None = None,
    kernels: KernelName = "auto",
    progress: Progress | None = None,
    title: str = "",
    spans: Sequence[SpanTable] = (),
) -> Page:
    """Score a corpus and collect what a page shows of it.

    `level` is `corpus` or `segment`; `title` is that of the page; `spans` are marked in its lines. The other
    parameters are those of `softbleu.score_corpus`.

    BLEU over a soft matcher is scored at every threshold from 0 to 1 in hundredths, and at the run's own; where each
    threshold needs a matching of its own (assignment `optimal`, consumption `similarity`), in twentieths.
    At level `segment` the corpus is scored as segments are (BLEU: with effective order). The page is about the first
    metric; lines show scores by the others, too.
    """
    if level in ("macro", "reference", "document"):
        said = f"an HTML page shows scores of corpus and segments, not level {level!r}: leave out "
        raise InputError(said, Parameter("level"))
    options = RunOptions(jobs, executor, kernels, progress=progress)
    with _collected(corpus, metrics, options, level) as collected:
        return _page_of(*collected, level, title, spans=spans)


@contextmanager
def _collected(
    corpus: Corpus, wanted: GivenMetrics, options: RunOptions, level: Level = "corpus"
) -> Iterator[tuple[Runner, list[Statistics]]]:
    """Run the metrics of a page, of which the first may be swept."""
    plan = make_plan(wanted)
    metrics, (thresholds, _) = plan.metrics, _slider(plan.metrics[0])
    swept = [metrics[0].revised({"threshold": threshold}) for threshold in thresholds[:1]]
    if swept:
        # Sweeping takes longer still than scoring once: being compiled pays for less text.
        kernels = choose_kernels(options.kernels, _SLOWNESS * corpus.bytes).NAME
        options = replace(options, kernels=kernels)
    plan = replace(plan, metrics=(*metrics, *swept)).over(corpus, level=level, keep_rows=True, whole=True)
    metrics = plan.metrics[: len(metrics)]
    with running(corpus, plan, options) as runner, single_threaded_blas():
        # Lines that are prepared first are known to what scores them.
        runner.prepared(metrics[0])
        yield runner, runner.collect(metrics)


def _page_of(
    runner: Runner,
    collected: Sequence[Statistics],
    level: Level,
    title: str,
    documents: Documents | None = None,
    spans: Sequence[SpanTable] = (),
) -> Page:
    """Make the page of the first statistics; lines show scores by the others, too."""
    statistics, *more = collected
    others = [scored.results(level) for scored in more]
    corpus, metric = runner.corpus, statistics.metric
    prepared = runner.prepared(metric)
    results = statistics.results(level)
    most = min(len(corpus), max(1, ROWS // len(results)))
    shown = shown_segments(prepared, most, tables=isinstance(metric, ShowsSimilarities))
    by_segment = results if level == "segment" else _first(statistics, shown).results("segment")
    # Whoever is shown at a level is scored as at that level; the rows are the same.
    shown_metric: Any = metric.at_level(level)
    order: int = 0 if matcher_of(metric) is None else shown_metric.order
    text = shown_text(prepared, shown)
    thresholds, run = _slider(metric)
    table = _table_of(prepared, metric, thresholds)
    words = None if table is None else table.words
    matches, clipped, too_long = _matched(runner, metric, order, text, table)
    marks, heat = find_marks(corpus, metric, text, words), find_heat(metric, text, words)
    plain = not order and marks is None and heat is None
    raw = list(raw_lines(corpus, shown, text))
    written, blanks = written_text(raw, text, metric.tokenizer, words=plain)
    for marked in spans:
        marked.check(dict(zip(corpus.systems, raw, strict=False)), shown)
    marks = mark_spans(spans, corpus.systems, raw[: len(corpus.systems)], written) if spans else marks
    significance = SignificanceSettings(documents=documents).settled(len(results))
    segments = [(result.segments or ())[:shown] for result in by_segment]
    parts = {} if isinstance(shown_metric, BleuFormula) else _parts(segments)
    parts |= {str(scored.metric): segment_numbers(scored)[:, :shown].tolist() for scored in more}
    return Page(
        metric=shown_metric,
        segment_metric=metric.at_level("segment"),
        order=order,
        results=results,
        segment_signature=by_segment[0].signature,
        segment_scores=[[score.score for score in scores] for scores in segments],
        parts=parts,
        intervals=_intervals(statistics, shown_metric, significance),
        significance=significance,
        thresholds=thresholds,
        run=run,
        clipped_matches=clipped,
        rows=metric.parts_of(statistics.rows[:, :shown])[1] if isinstance(metric, BleuFormula) else _NO_ROWS,
        segments=len(corpus),
        text=written,
        blanks=blanks,
        language=_language(metric.tokenizer, written),
        plain=plain and not spans,
        matches=matches,
        too_long=too_long,
        marks=marks,
        heat=heat,
        title=title,
        tables=[_scores_by_all([results, *others])] if others else [],
        more=tuple(result for scored in others for result in scored),
    )


def _scores_by_all(results: Sequence[Sequence[Result]]) -> PageTable:
    """Make a table of the scores of all metrics, a row per system."""
    rows = [
        {"system": row[0].name} | {result.metric: result.score for result in row}
        for row in zip(*results, strict=True)
    ]
    return PageTable("Scores by all metrics", rows, "\n".join(of_metric[0].signature for of_metric in results))


def _language(tokenizer: Tokenizer, text: CodedBlock) -> str:
    """Language of the candidates and references; empty where neither tokenizer nor script tells it."""
    told = tokenizer.language
    if told and told != "en":
        return told
    return language_of_text(text.words[code] for code in text.candidates[0].codes[:_LOOKED_AT].tolist())


def _first(statistics: Statistics, segments: int) -> Statistics:
    """Those of the first segments: whatever a segment's score depends on lies before it."""
    counts = statistics.counts[:segments]
    return replace(statistics, counts=counts, rows=statistics.rows[:, : int(counts.sum())])


def _table_of(prepared: PreparedCorpus, metric: Metric, thresholds: Sequence[float]) -> CorpusWords | None:
    """Make the table of the words, if the metric or the slider uses their vectors or features."""
    requires = metric.requires
    if not requires.table and not thresholds:
        return None
    return prepared.table(metric.vector_choice, replace(requires, vectors=requires.vectors or bool(thresholds)))


def _matched(
    runner: Runner, metric: Metric, order: int, text: CodedBlock, table: CorpusWords | None
) -> tuple[ShownMatches, Integers, list[int]]:
    """Match what is shown at every threshold, and add up the matches of the whole corpus."""
    matcher, (thresholds, run) = matcher_of(metric), _slider(metric)
    if matcher is None:
        return ShownMatches.joined([]), np.zeros((len(text.candidates), 0, order), np.int64), []
    vectors = None if table is None else table.words.vectors
    matches, clipped, too_long = match_text(text, matcher, order, thresholds, run, vectors, runner.kernels)
    if isinstance(metric, BleuFormula) and thresholds and (too_long or len(text) < len(runner.corpus)):
        swept = runner.collect([metric.revised({"threshold": each}) for each in thresholds], keep_rows=False)
        clipped = np.stack([metric.parts_of(statistics.rows[:, 0])[0] for statistics in swept], axis=1)
    return matches, clipped, too_long


def _parts(segments: Sequence[Sequence[Score]]) -> dict[str, list[list[float]]]:
    """Numbers that tables show of each segment's score, lists an entry an order."""
    shown = [[score.shown() for score in scores] for scores in segments]
    names = shown[0][0] if shown[0] else ()
    numeric = (name for name in names if all(isinstance(part[name], int | float) for row in shown for part in row))
    return {name: [[part[name] for part in row] for row in shown] for name in numeric}


def _slider(metric: Metric) -> tuple[tuple[float, ...], int]:
    """Thresholds of the slider, ascending, and which is the run's own; none where there is nothing to slide."""
    matcher = matcher_of(metric)
    if not isinstance(metric, BleuFormula) or not isinstance(matcher, SoftMatcher):
        return (), 0
    if not metric.revised({"threshold": 0.0}).requires.vectors:
        return (), 0
    steps = STEPS if matcher.assignment != "optimal" and matcher.consumption == "unit" else COARSE_STEPS
    thresholds = tuple(sorted({*(step / steps for step in range(steps + 1)), matcher.least_similarity}))
    return thresholds, thresholds.index(matcher.least_similarity)


def _intervals(
    statistics: Statistics, metric: Metric, significance: SignificanceSettings
) -> list[tuple[float, float] | None]:
    if not metric.aggregation.has_corpus_score:
        return [None] * len(statistics.systems)
    samples, documents = significance.samples or SAMPLES, significance.documents
    resampled = bootstrap_scores(statistics, metric, samples, significance.seed, documents=documents)
    return [(low, high) for low, high in np.percentile(resampled, [2.5, 97.5], axis=1).T.tolist()]


def make_comparison_page(
    corpus: Corpus,
    metrics: GivenMetrics,
    *,
    baseline: str | None = None,
    significance: SignificanceSettings | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    title: str = "",
    spans: Sequence[SpanTable] = (),
) -> Page:
    """Make the page of a comparison: the baseline beside the best other system, and tables of where they differ.

    The page is about the first metric; lines show scores by the others, too. `title` is that of the page,
    `spans` are marked in its lines, and the other parameters are those of `compare_corpus`.
    """
    options = RunOptions(jobs, executor, progress=progress)
    with _collected(corpus, metrics, options) as (runner, statistics):
        baseline = baseline or corpus.systems[0]
        settings = significance or SignificanceSettings()
        tables = [compare_systems(scored, baseline, settings, progress) for scored in statistics]
        page = _page_of(runner, statistics, "corpus", title, settings.documents, spans)
        others = [row for row in tables[0].comparisons if row.name != baseline]
        best = min(others, key=lambda row: row.rank, default=None)
        pair = None if best is None else (corpus.systems.index(baseline), corpus.systems.index(best.name))
        return replace(page, pair=pair, tables=[*_tables(runner, statistics, tables), *page.tables])


def _tables(runner: Runner, statistics: Sequence[Statistics], tables: Sequence[ComparisonTable]) -> list[PageTable]:
    """Make the tables that `compare` shows, and those of its views."""
    corpus, metric = runner.corpus, statistics[0].metric
    shown = [
        PageTable(f"{table.label}: differences of pairs", [vars(pair) for pair in table.pairs], table.signature)
        for table in tables
        if table.pairs
    ]
    if isinstance(metric, ShowsEdits):
        shown.append(PageTable("Corrections by kind", correction_kinds(corpus, Plan((metric,))).records()))
    if not corpus.has_references:
        return shown
    prepared = runner.prepared(metric)
    shown += [
        PageTable("Scores by length of the segment", scores_by_length(prepared, statistics).records()),
        PageTable(
            "Words by how often the references have them", scores_by_word(prepared, metric, "rarity").records()
        ),
    ]
    if len(corpus.systems) > 1:
        differences = differences_in(prepared, tables[0].baseline, top=_NGRAMS)
        shown.append(PageTable("N-grams that one system gets and another misses", differences.records()))
    return shown
