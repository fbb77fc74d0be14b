"""What a page about a run shows: scores, intervals, and every match with the thresholds at which it is made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.matchers.base import SoftMatcher
from softbleu.matchers.soft import LONG_CELLS
from softbleu.matchers.sweep import MatchLives, match_lives
from softbleu.metrics.bleu import Bleu
from softbleu.metrics.grid import Grid
from softbleu.ngrams import Chunk
from softbleu.scoring.blocks import PIECE
from softbleu.scoring.run import collect_statistics, make_results, prepare_vectors
from softbleu.scoring.significance import SignificanceSettings, compare_systems
from softbleu.tokens import Tokens, Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.kernels import KernelName
    from softbleu.matchers import Matcher
    from softbleu.metrics.gleu import Gleu
    from softbleu.scoring.api import Settings
    from softbleu.scoring.blocks import Level
    from softbleu.scoring.run import Corpus, Progress, Result, Statistics
    from softbleu.scoring.vectors import CorpusVectors
    from softbleu.similarity import TokenVectors

    Integers = NDArray[np.int64]

ROWS = 3000
"""Candidates that a page shows; its scores are of all."""
STEPS = 100
"""Thresholds of a page lie so many to 1 apart."""
COARSE_STEPS = 20
"""The same for matchers that must match anew at every threshold."""


@dataclass(frozen=True)
class ShownText:
    """The tokens of the segments that a page shows, as codes of `words`."""

    words: list[str]
    candidates: tuple[Tokens, ...]
    """Of each system, one line a segment."""
    references: Tokens
    offsets: Integers
    """Segment s has the references ``offsets[s]`` to ``offsets[s + 1]``."""
    source: Tokens | None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def chunks(self, vocabulary: Vocabulary | None) -> Iterator[Chunk]:
        """The segments of each system, their words coded by a vocabulary that has them all."""
        codes = np.arange(len(self.words), dtype=np.int32)
        if vocabulary is not None:
            codes = np.fromiter((vocabulary[word] for word in self.words), np.int32, len(self.words))
        references = Tokens(codes[self.references.codes], self.references.offsets)
        for tokens in self.candidates:
            yield Chunk(Tokens(codes[tokens.codes], tokens.offsets), references, self.offsets)


@dataclass(frozen=True)
class ShownMatches:
    """The matches of the candidates shown, sorted by row, order, start and threshold; one entry a match each."""

    row: Integers
    """Number of the candidate: system * segments shown + segment."""
    order: Integers
    start: Integers
    """Token of the candidate at which the n-gram starts."""
    mass: Integers
    """How much of it is matched, in millionths."""
    partner: Integers
    """Token at which the reference n-gram starts; the references of a segment count as one text."""
    partner_order: Integers
    first: Integers
    """Number of the lowest threshold at which the match is made."""
    end: Integers
    """Number of the first threshold above it at which it is not."""


@dataclass(frozen=True)
class Page:
    """Everything that a page about a run shows."""

    metric: Bleu | Gleu
    """Scores corpora."""
    segment_metric: Bleu | Gleu
    """Scores segments."""
    results: list[Result]
    """Of the run's own threshold; one a system."""
    segment_signature: str
    segment_scores: list[list[float]]
    """Of the segments shown, system by system."""
    intervals: list[tuple[float, float] | None]
    """95% of the bootstrap scores, one a system; None where the metric has no score of a corpus."""
    significance: SignificanceSettings
    """How the intervals were made."""
    thresholds: tuple[float, ...]
    """Ascending; empty for a metric whose score cannot be taken anew at another threshold."""
    run: int
    """Which of them is the run's own."""
    masses: Integers
    """Matches in millionths: (systems, thresholds, orders); empty without thresholds."""
    rows: Integers
    """Statistics of the segments shown: (systems, segments, k); no segments where there is not one row for each."""
    segments: int
    """Segments of the corpus; `text` has the first of them."""
    text: ShownText
    matches: ShownMatches
    too_long: list[int]
    """Rows whose matches are known at the run's threshold only."""


def make_page(
    corpus: Corpus,
    settings: Settings,
    *,
    level: Level = "corpus",
    jobs: int = 1,
    kernels: KernelName = "auto",
    progress: Progress | None = None,
) -> Page:
    """Score a corpus and collect what a page shows of it.

    BLEU over a soft matcher is scored at every threshold from 0 to 1 in hundredths, and at the run's own; where each
    threshold needs a matching of its own (assignment `optimal`, consumption `similarity`), in twentieths.

    Parameters
    ----------
    level : at level `segment` the corpus is scored as segments are (BLEU: with effective order)

    Raises
    ------
    InputError, VectorError
        What cannot be scored, vectors that cannot be read, and levels that a page does not show.
    """
    if level not in ("corpus", "segment"):
        raise InputError(f"an HTML page shows scores of corpus and segments, not level {level!r}: leave out --level")
    settings = settings.resolved()
    tokenizer, choice = settings.tokenizer(), settings.vector_choice()
    segment_metric = settings.make_metric("segment")
    metric = segment_metric if level == "segment" else settings.make_metric()
    thresholds = _thresholds(metric)
    statistics = collect_statistics(
        corpus,
        metric,
        tokenizer,
        choice,
        keep_rows=True,
        jobs=jobs,
        kernels=kernels,
        progress=None if thresholds else progress,
    )
    results = make_results(statistics, metric, level, segment_metric)
    by_segment = results if level == "segment" else make_results(statistics, metric, "segment", segment_metric)
    masses = np.zeros((len(results), 0, metric.order), np.int64)
    if thresholds and isinstance(metric, Bleu):
        grid = Grid(tuple(_at(metric, threshold) for threshold in thresholds))
        summed = collect_statistics(corpus, grid, tokenizer, choice, jobs=jobs, kernels=kernels, progress=progress)
        columns = summed.rows.reshape(len(results), len(thresholds), -1)
        masses = columns[:, :, 2 : 2 + metric.order]
    shown = min(len(corpus), max(1, ROWS // len(results)))
    text = _shown_text(corpus, shown, settings)
    soft = bool(thresholds) or metric.needs_vectors
    prepared = prepare_vectors(corpus, tokenizer, choice) if soft else None
    run = thresholds.index(_own_threshold(metric.matcher)) if thresholds else 0
    matches, too_long = _Matching(metric.matcher, metric.order, thresholds, run, prepared).of(text)
    significance = SignificanceSettings()
    return Page(
        metric=metric,
        segment_metric=segment_metric,
        results=results,
        segment_signature=by_segment[0].signature,
        segment_scores=[[score.score for score in (result.segments or ())[:shown]] for result in by_segment],
        intervals=_intervals(statistics, metric, significance),
        significance=significance,
        thresholds=thresholds,
        run=run,
        masses=masses,
        rows=statistics.rows[:, : shown if isinstance(metric, Bleu) else 0],
        segments=len(corpus),
        text=text,
        matches=matches,
        too_long=too_long,
    )


def _at(metric: Bleu, threshold: float) -> Bleu:
    # Only soft matchers come here, and their threshold is a field.
    return replace(metric, matcher=replace(metric.matcher, threshold=threshold))  # type: ignore[call-arg]


def _own_threshold(matcher: Matcher) -> float:
    return matcher.threshold if isinstance(matcher, SoftMatcher) else 0.0


def _thresholds(metric: Bleu | Gleu) -> tuple[float, ...]:
    """Thresholds of the slider, ascending; none where there is nothing to slide."""
    if not isinstance(metric, Bleu) or not isinstance(metric.matcher, SoftMatcher):
        return ()
    if not _at(metric, 0.0).needs_vectors:
        return ()
    quick = metric.matcher.assignment != "optimal" and metric.matcher.consumption == "unit"
    steps = STEPS if quick else COARSE_STEPS
    return tuple(sorted({*(step / steps for step in range(steps + 1)), metric.matcher.threshold}))


def _intervals(
    statistics: Statistics, metric: Bleu | Gleu, significance: SignificanceSettings
) -> list[tuple[float, float] | None]:
    if not metric.has_corpus_score:
        return [None] * len(statistics.systems)
    table = compare_systems(statistics, metric, statistics.systems[0], significance)
    return [comparison.interval for comparison in table.comparisons]


def _shown_text(corpus: Corpus, shown: int, settings: Settings) -> ShownText:
    """Split the first segments into tokens."""
    split = settings.tokenizer().splitter
    candidates: list[list[list[str]]] = [[] for _ in corpus.systems]
    references: list[list[str]] = []
    source: list[list[str]] = []
    counts: list[int] = []
    for block in corpus.blocks():
        segments = block.load()
        wanted = slice(0, shown - len(counts))
        for lines, texts in zip(candidates, segments.candidates.values(), strict=True):
            lines.extend(map(split, texts[wanted]))
        source.extend(map(split, (segments.source or ())[wanted]))
        for entry in segments.references[wanted]:
            counts.append(len(entry))
            references.extend(map(split, entry))
        if len(counts) == shown:
            break
    vocabulary = Vocabulary()
    coded = tuple(map(vocabulary.encode, candidates))
    return ShownText(
        candidates=coded,
        references=vocabulary.encode(references),
        offsets=np.concatenate(([0], np.cumsum(counts, dtype=np.int64))),
        source=vocabulary.encode(source) if source else None,
        words=list(vocabulary),
    )


@dataclass(frozen=True)
class _Matching:
    """How the text of a page is matched."""

    matcher: Matcher
    order: int
    thresholds: tuple[float, ...]
    run: int
    prepared: CorpusVectors | None

    def of(self, text: ShownText) -> tuple[ShownMatches, list[int]]:
        """Match all rows; the second part says which were too long for more than the run's threshold."""
        found: list[tuple[Integers, ...]] = []
        too_long: list[int] = []
        vectors = self.prepared and self.prepared.vectors
        for system, chunk in enumerate(text.chunks(self.prepared and self.prepared.vocabulary)):
            for start, stop, long in _pieces(chunk):
                row = system * len(text) + start
                too_long += [row] if long and self.thresholds else []
                piece = chunk.part(start, stop)
                lives = self._once(piece, vectors) if long else self._lives(piece, vectors)
                found.append(_by_row(lives, piece, row))
        merged = ShownMatches(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
        return _merged(merged), too_long

    def _lives(self, piece: Chunk, vectors: TokenVectors | None) -> MatchLives:
        if not self.thresholds or vectors is None or not isinstance(self.matcher, SoftMatcher):
            return self._once(piece, vectors)
        return match_lives(self.matcher, self.thresholds, piece, vectors, self.order)

    def _once(self, piece: Chunk, vectors: TokenVectors | None) -> MatchLives:
        """Match at the run's own threshold."""
        parts: list[tuple[Integers, ...]] = []
        for order, matches in enumerate(self.matcher.matches(piece, vectors, self.order), start=1):
            made = matches.masses > 0
            one = np.ones(int(made.sum()), np.int64)
            columns = (matches.starts, matches.masses, matches.partner_starts, matches.partner_orders)
            parts.append(
                (order * one, *(column[made] for column in columns), self.run * one, (self.run + 1) * one)
            )
        return MatchLives(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _pieces(chunk: Chunk) -> Iterator[tuple[int, int, bool]]:
    """Bounds of the pieces to match; a segment that is too long for a sweep comes alone, and is marked."""
    cells = chunk.candidates.lengths * np.diff(chunk.reference_positions)
    start = 0
    for long in [*np.flatnonzero(cells > LONG_CELLS).tolist(), len(chunk)]:
        for first in range(start, long, PIECE):
            yield first, min(first + PIECE, long), False
        if long < len(chunk):
            yield long, long + 1, True
        start = long + 1


def _by_row(lives: MatchLives, piece: Chunk, row: int) -> tuple[Integers, ...]:
    """Columns of `ShownMatches`, places counted within the row's texts."""
    segment = piece.layout.segment[lives.starts]
    return (
        row + segment,
        lives.order,
        lives.starts - piece.candidate_positions[segment],
        lives.masses,
        lives.partner_starts - piece.reference_positions[segment],
        lives.partner_orders,
        lives.first,
        lives.end,
    )


def _merged(matches: ShownMatches) -> ShownMatches:
    """Sort, and make one match of those that go on at the next threshold."""
    columns = [getattr(matches, field.name) for field in fields(matches)]
    row, order, start, mass, partner, partner_order, first, end = columns
    ranked = np.lexsort((first, partner_order, partner, mass, start, order, row))
    same = np.ones(max(len(ranked) - 1, 0), bool)
    for column in (row, order, start, mass, partner, partner_order):
        same &= column[ranked][1:] == column[ranked][:-1]
    goes_on = same & (first[ranked][1:] == end[ranked][:-1])
    begins = np.flatnonzero(np.concatenate(([True] * bool(len(ranked)), ~goes_on)))
    last = np.append(begins[1:], len(ranked)) - 1
    kept = [column[ranked][begins] for column in columns[:-1]]
    kept.append(end[ranked][last] if len(ranked) else end)
    again = np.lexsort((kept[6], kept[2], kept[1], kept[0]))
    return ShownMatches(*(column[again] for column in kept))
