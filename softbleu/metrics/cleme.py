"""CLEME and CLEME2.0: corrections judged by chunks that the source, a candidate and all references share."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from softbleu.config.declare import setting
from softbleu.corpora.edits import EditedSegment, TextEdit, apply_edits, chunk_spans
from softbleu.embeddings.choice import VectorChoice
from softbleu.metrics.aggregation import BestReference, running_choice
from softbleu.metrics.base import EditMetric, Level
from softbleu.metrics.bertscore import PARTS, match_lines
from softbleu.metrics.chinese import Merging
from softbleu.metrics.edits import JudgedEdits, judge_by_links
from softbleu.metrics.requirements import Requirements, needed
from softbleu.metrics.score import ReferenceScore, Score, ScoreColumns, column, shares_of
from softbleu.metrics.settings import DEFAULT_ENCODER, edit_language, edit_merging

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk, Vectors, WordTable
    from softbleu.types import Floats, Integers

Text = tuple[str, ...]
KINDS = HIT, WRONG, OVER, UNDER, KEPT = (0, 1, 2, 3, 4)
"""Kinds of chunks: corrected as in a reference; corrected otherwise; changed though right; not corrected; rightly
left."""


@dataclass(frozen=True)
class EditChunk:
    """Words of a source, from `start` up to `end`, and the words of each text in their place."""

    start: int
    end: int
    source: Text
    candidate: Text
    references: tuple[Text, ...]

    @property
    def length(self) -> int:
        """Words of the source or of the candidate, whichever are more."""
        return max(len(self.source), len(self.candidate))

    def kind(self, reference: int | None = None) -> int:
        """Judge the words of the candidate, by one reference or by all."""
        others = self.references if reference is None else self.references[reference : reference + 1]
        if self.candidate == self.source:
            return KEPT if self.source in others else UNDER
        if self.candidate in others:
            return HIT
        return WRONG if any(text != self.source for text in others) else OVER


def partition(segment: EditedSegment) -> tuple[list[EditChunk], int]:
    """Cut the texts of a segment into chunks (Ye et al. 2023, section 3.1).

    Edits that overlap or touch, whichever texts they are of, lie in one chunk. Given are the chunks with an edit, in
    order, and how many there are between them.

    >>> from softbleu.corpora.edits import EditedSegment
    >>> source = tuple("he eat a apple".split())
    >>> chunks, unchanged = partition(EditedSegment(source, ((1, 2, ("eats",)),), (((1, 2, ("ate",)), (2, 3, ())),)))
    >>> chunks
    [EditChunk(start=1, end=3, source=('eat', 'a'), candidate=('eats', 'a'), references=(('ate',),))]
    >>> unchanged
    2
    """
    source, texts = segment.source, (segment.candidate, *segment.references)
    spans = chunk_spans({edit for text in texts for edit in text})
    starts = [start for start, _ in spans]
    merged: list[list[list[TextEdit]]] = [[[] for _ in texts] for _ in spans]
    for number, text in enumerate(texts):
        for start, end, words in text:
            place = bisect_right(starts, start) - 1
            merged[place][number].append((start - starts[place], end - starts[place], words))
    chunks, done, unchanged = list[EditChunk](), 0, 0
    for (start, end), edits in zip(spans, merged, strict=True):
        words = source[start:end]
        candidate, *references = (apply_edits(words, edit) if edit else words for edit in edits)
        chunks.append(EditChunk(start, end, words, candidate, tuple(references)))
        unchanged += done < start
        done = end
    return chunks, unchanged + (done < len(source))


Assumption = Literal["dependent", "independent"]
Weights = Literal["none", "length", "similarity"]
ReferenceChoice = Literal["running", "best"]
_LENGTHS = 32  # Chunks of more words than this, less one, weigh as if they had these
_BOUNDS = 0.75, 1.25  # Of weights by length


@dataclass(frozen=True)
class ClemeScore(Score):
    """F of corrections, and its parts; sums of weights where chunks have weights."""

    true_positives: float = column("TP", "corrected", "count")
    false_positives: float = column("FP", "wrong or over-corrected", "count")
    false_negatives: float = column("FN", "not corrected", "count")
    true_negatives: float = column("TN", "rightly left", "count")
    precision: float = column("P", "precision", "per cent")  # 100 where nothing is changed
    recall: float = column("R", "recall", "per cent")  # 100 where nothing must be changed
    accuracy: float = column("acc", "accuracy", "per cent")


@dataclass(frozen=True)
class Cleme2Score(Score):
    """A weighted sum of four shares, and these."""

    hit: float = column("hit", "hits", "per cent")  # Of the chunks that must be changed
    wrong: float = column("wrong", "wrong corrections", "per cent")
    under: float = column("under", "under-corrections", "per cent")
    over: float = column("over", "over-corrections", "per cent")  # Of the chunks that the candidate changes
    hits: float = column("", "hit", "count")  # Sums of weights where chunks have weights
    wrong_corrections: float = column("", "wrong", "count")
    over_corrections: float = column("", "over-corrected", "count")
    under_corrections: float = column("", "under-corrected", "count")
    left: float = column("", "rightly left", "count")


class KindMetric(EditMetric):
    """Base of metrics whose rows count edits by the kinds of `KINDS`, and of which one reference counts."""

    annotators: ReferenceChoice

    def at_level(self, level: Level) -> Self:
        """Segments that are scored by themselves choose by themselves."""
        if level == "corpus":
            return self
        return self.replaced(annotators="best")

    @property
    def aggregation(self) -> BestReference:
        """The chosen references."""
        return ChosenReferences(self)

    def weighed(self, rows: Integers | Floats, mean: float | None = None) -> Floats:
        """Sums of weights by kind, (rows, 5), which are the counts where all weigh the same."""
        return np.asarray(rows, np.float64)

    def columns(self, rows: Integers | Floats) -> ScoreColumns[Score]:
        """Score rows of counts, or sums of rows."""
        sums = self.weighed(rows).tolist()
        scores = [100 * self.shares(of_row)[0] for of_row in sums]
        return ScoreColumns(lambda _, row: self.scored(sums[row]), scores, row=np.arange(len(sums)))

    def ranked(self, sums: Sequence[float]) -> tuple[float, ...]:
        """Values by which the best reference is chosen: the score, then values that decide between equal ones."""
        return self.shares(sums)

    @abstractmethod
    def shares(self, sums: Sequence[float]) -> tuple[float, ...]:
        """Compute the score and its parts, 0 to 1, in the order of operations of the authors' program."""

    @abstractmethod
    def scored(self, sums: Sequence[float], *, rounded: bool = False) -> Score:
        """Score sums of weights by kind, if `rounded` as the authors' program rounds scores of sentences."""


@dataclass(frozen=True, repr=False)
class ChunkMetric(KindMetric):
    """Base of CLEME and CLEME2.0: chunks, and which reference counts."""

    assumption: Assumption = setting(
        "dependent",
        "Chunks are judged by one reference, the best (dependent), or each by all references (independent)",
    )
    weights: Weights = setting("none", "Weights of chunks: equal, by length, or by what they change in BERTScore")
    annotators: ReferenceChoice = setting(
        "running", "Each segment's reference: best for the score of all so far (running), or for its own (best)"
    )
    vector_choice: VectorChoice = setting(VectorChoice(DEFAULT_ENCODER), kw_only=True)
    by_bounds: ClassVar[bool] = False
    also_rewards: ClassVar[str] = "all edits of all systems"

    @property
    def requires(self) -> Requirements:
        """The source, and edits; vectors of pieces for weights by similarity."""
        needed = self.weights == "similarity"
        return replace(super().requires, vectors=needed, pieces=needed)

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Count chunks by kind, a row for each reference of each segment, or one where all are looked at together.

        With weights by length a row has, of each kind, counts by length, and then the sum of the lengths of all
        chunks that references change, and their number. With weights by similarity it has the sums of these, in
        billionths, and then counts; and always one row for each reference.
        """
        segments = needed(chunk.edits, self.name, "edits")
        if self.weights == "similarity":
            rows = _weigh(segments, self.assumption, needed(words, self.name, "words").vectors)
        else:
            size = 1 if self.weights == "none" else _LENGTHS
            rows = [row for segment in segments for row in _count(segment, self.assumption, size)]
        return np.array(rows, np.int64).reshape(len(rows), -1)

    def weighed(self, rows: Integers | Floats, mean: float | None = None) -> Floats:
        """Sums of weights by kind, (rows, 5); lengths are compared with their mean in each row, or that given."""
        counts = super().weighed(rows)
        if counts.shape[1] == len(KINDS):
            return counts
        if self.weights == "similarity":
            return counts[:, : len(KINDS)] / PARTS
        lengths, number = counts[:, -2:].T
        means = lengths / np.maximum(number, 1) if mean is None else np.full(len(counts), mean)
        longer = np.arange(_LENGTHS) - np.minimum(means, _LENGTHS - 2)[:, None]
        heavy, light = (np.clip(2 / (1 + np.exp(sign * longer)), *_BOUNDS) for sign in (-1, 1))
        by_kind = np.stack((heavy, light, light, heavy, np.ones_like(heavy)), axis=1)
        sums: Floats = (counts[:, :-2].reshape(by_kind.shape) * by_kind).sum(axis=2)
        return sums

    def judge_edits(
        self, chunk: Chunk, chosen: Sequence[int], words: WordTable | None, forms: Sequence[str]
    ) -> list[JudgedEdits]:
        """Chunks that the candidate changes, and that the counted reference changes, or that all change."""
        independent = self.assumption == "independent"
        return [_judge(edited, number, independent) for edited, number in zip(chunk.edits or (), chosen, strict=True)]


@dataclass(frozen=True, repr=False)
class Cleme(ChunkMetric):
    """CLEME (Ye et al. 2023): F of corrections, judged by chunks that source, candidate and references share.

    Edits that overlap or touch, whichever texts they are of, lie in one chunk, so that no edit is right by one
    reference's bounds and wrong by another's. The numbers equal the authors' program, which does not
    look at references without words, and rounds F to four digits before it compares references.

    Parameters
    ----------
    assumption
        `dependent`: all chunks are judged by one reference, the best. `independent`: a chunk is right if it is as
        in any reference, and missed if every reference changes it.
    weights
        Weights of chunks: equal, or by length. A chunk of n words (of source or candidate, whichever are more)
        that is right or missed weighs 2 / (1 + exp(m - n)), m being the mean length of chunks that references
        change; a wrong one 2 / (1 + exp(n - m)); all between 0.75 and 1.25. Beyond 31 words length adds no weight.
        `similarity`: by how much the BERTScore of the source towards the reference changes with only this
        chunk of the candidate (for a missed one: of the reference); chunks that are rightly left weigh 1.
    annotators
        Choice of each segment's reference, where chunks are judged by one: the one with the greatest F of the
        segment and all before it (`running`; it depends on the order of the segments), or of the segment alone
        (`best`, which scores of segments always take).
    beta
        Weight of recall in F; below 1 precision weighs more.
    language
        Code of the language by whose rules edits are found where none are given; None: English.
    merging
        Rules by which changes in a row are one edit: ERRANT's, or in Chinese ChERRANT's, the default there.

    Examples
    --------
    >>> Cleme().score(np.array([3, 1, 0, 2, 10])).recall
    60.0
    """

    beta: float = setting(0.5, "Weight of recall beside precision", least=1e-6, most=1e6)
    language: str | None = edit_language()
    merging: Merging | None = edit_merging()
    name: ClassVar[str] = "cleme"
    needs_errors: ClassVar[bool] = True

    def scored(self, sums: Sequence[float], *, rounded: bool = False) -> ClemeScore:
        """Score sums of weights by kind."""
        f, *others = (100 * share for share in (self.ranked(sums) if rounded else self.shares(sums)))
        return ClemeScore(f, sums[HIT], sums[WRONG] + sums[OVER], sums[UNDER], sums[KEPT], *others)

    def ranked(self, sums: Sequence[float]) -> tuple[float, ...]:
        """F, precision, recall and accuracy, to four digits."""
        return tuple(round(share, 4) for share in self.shares(sums))

    def shares(self, sums: Sequence[float]) -> tuple[float, ...]:
        """F, precision, recall and accuracy."""
        hits, wrong, missed, kept = sums[HIT], sums[WRONG] + sums[OVER], sums[UNDER], sums[KEPT]
        every = hits + wrong + missed + kept
        return *shares_of(hits, wrong, missed, self.beta), (hits + kept) / every if every else 0.0


@dataclass(frozen=True, repr=False)
class Cleme2(ChunkMetric):
    """CLEME2.0 (Ye et al. 2025): a sum of hits and of shares that are not wrong, not under- and not over-corrected.

    Of the chunks that must be changed some are hit, some changed in another way (wrong), others left (under); of
    those that the candidate changes some should have been left (over). The score is 0.45 hit + 0.35 (1 - wrong) +
    0.15 (1 - under) + 0.05 (1 - over), so that a source that is copied has 40. Chunks, references and the other
    settings are as in `Cleme`; the best reference has the greatest score.

    Examples
    --------
    >>> round(Cleme2().score(np.array([3, 1, 0, 2, 10])).score, 2)
    66.67
    """

    language: str | None = edit_language()
    merging: Merging | None = edit_merging()
    name: ClassVar[str] = "cleme2"

    def scored(self, sums: Sequence[float], *, rounded: bool = False) -> Cleme2Score:
        """Score sums of weights by kind."""
        return Cleme2Score(*(100 * share for share in self.shares(sums)), *sums)

    def ranked(self, sums: Sequence[float]) -> tuple[float, ...]:
        """The score, hits, and little of the others."""
        score, hit, *others = self.shares(sums)
        return score, hit, *(-share for share in others)

    def shares(self, sums: Sequence[float]) -> tuple[float, ...]:
        """The score, hits, and wrong, under- and over-corrections."""
        hits, wrong, over, missed, _ = sums
        necessary, proposed = hits + wrong + missed, hits + (wrong + over)
        hit, error, under = ((count / necessary if necessary else 0.0) for count in (hits, wrong, missed))
        excess = over / proposed if proposed else 0.0
        score = 0.45 * hit + 0.35 * (1 - error) + 0.15 * (1 - under) + 0.05 * (1 - excess)
        return score, hit, error, under, excess


@dataclass(frozen=True)
class ChosenReferences(BestReference):
    """The reference of each segment that is best for the score of all so far, or for its own."""

    metric: KindMetric

    @property
    def by_segment(self) -> bool:
        """Whether neither the choice nor the weights depend on other segments."""
        alone = self.metric.annotators == "best" or getattr(self.metric, "assumption", "") == "independent"
        return alone and getattr(self.metric, "weights", "") != "length"

    @property
    def adds_up(self) -> bool:
        """Whether weights are independent of the mean length in all segments."""
        return getattr(self.metric, "weights", "") != "length"

    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """Choose the row of one reference for each segment."""
        if len(rows) == len(offsets) - 1:
            return np.arange(len(rows))
        running, ranked = self.metric.annotators == "running", self.metric.ranked

        def key(row: Sequence[float], total: Sequence[float]) -> tuple[float, ...]:
            if not running:
                return ranked(row)
            return ranked(total)[0], row[HIT], -(row[WRONG] + row[OVER]), -row[UNDER], row[KEPT]

        return running_choice(self._weighed(rows, offsets).tolist(), offsets, key, running=running)

    def _weighed(self, rows: Integers, offsets: Integers) -> Any:
        """Sums of weights; lengths are compared with their mean in all segments."""
        lengths, number = rows[offsets[:-1], -2:].sum(axis=0).tolist()
        return self.metric.weighed(rows, lengths / max(number, 1))

    def singles(self, rows: Integers) -> list[Score]:
        """Score single rows, as the authors' program rounds them."""
        return [self.metric.scored(weighed, rounded=True) for weighed in self.metric.weighed(rows).tolist()]

    def segment_scores(self, rows: Integers, offsets: Integers) -> Sequence[Score]:
        """Score each segment."""
        return super().segment_scores(self._weighed(rows, offsets), offsets)

    def segment_numbers(self, rows: Integers, offsets: Integers) -> Floats:
        """Scores of the segments alone."""
        return np.array([score.score for score in self.segment_scores(rows, offsets)], np.float64)

    def reference_scores(self, rows: Integers, offsets: Integers) -> list[ReferenceScore]:
        """Score each candidate against each of its references."""
        return super().reference_scores(self._weighed(rows, offsets), offsets)


def _with_words(segment: EditedSegment) -> tuple[EditedSegment, list[int]]:
    """Replace references without words by the first with words; also number references with words (at least one)."""
    references = segment.references
    numbers = [
        number
        for number, edits in enumerate(references)
        if any(words for *_, words in edits) or apply_edits(segment.source, edits)
    ] or [0]
    taken = tuple(edits if number in numbers else references[numbers[0]] for number, edits in enumerate(references))
    return replace(segment, references=taken), numbers


def _judge(edited: EditedSegment, counted: int, independent: bool) -> JudgedEdits:
    """Judge the chunks of a segment as edits; a gold edit is the change of a chunk in a reference."""
    segment, _ = _with_words(edited)
    edits, gold = list[TextEdit](), list[TextEdit]()
    links, origins = list[tuple[int, int, float]](), list[tuple[int, int]]()
    for chunk in partition(segment)[0]:
        kind = chunk.kind(None if independent else counted)
        if kind in (HIT, WRONG, OVER):
            edits.append((chunk.start, chunk.end, chunk.candidate))
        if kind in (HIT, WRONG, UNDER):
            numbers = range(len(chunk.references)) if independent else [counted]
            fitting = [one for one in numbers if chunk.references[one] != chunk.source]
            fitted = next((one for one in fitting if chunk.references[one] == chunk.candidate), fitting[0])
            gold.append((chunk.start, chunk.end, chunk.references[fitted]))
            reference = edited.references.index(segment.references[fitted])
            spans = [chunk.start <= start and end <= chunk.end for start, end, _ in edited.references[reference]]
            origins.append((reference, spans.index(True)))
        if kind == HIT:
            links.append((len(edits) - 1, len(gold) - 1, 1.0))
    taken = edited.references.index(segment.references[counted])
    return judge_by_links(segment.source, edits, gold, links, taken, origins)


def _count(segment: EditedSegment, assumption: Assumption, lengths: int) -> list[list[int]]:
    """Count the chunks of a segment by kind and length; see `ChunkMetric.statistics`."""
    segment, numbers = _with_words(segment)
    chunks, unchanged = partition(segment)
    pairs = [(chunk.source, chunk.references[number]) for chunk in chunks for number in numbers if lengths > 1]
    changed = [max(len(source), len(text)) for source, text in pairs if source != text]
    rows = []
    for number in range(len(segment.references)) if assumption == "dependent" else [None]:
        row = [0] * (len(KINDS) * lengths)
        row[KEPT * lengths] = unchanged
        for chunk in chunks:
            row[chunk.kind(number) * lengths + min(chunk.length, lengths - 1)] += 1
        rows.append([*row, *((sum(changed), len(changed)) if lengths > 1 else ())])
    return rows


def _weigh(segments: Sequence[EditedSegment], assumption: Assumption, vectors: Vectors) -> list[list[int]]:
    """Sum up the changes of BERTScore by chunks, in billionths by kind, and count them; a row for each reference."""
    lines: dict[Text, int] = {}
    rows, asked = list[list[int]](), list[tuple[list[int], int, int, int, int]]()
    for segment, _ in map(_with_words, segments):
        chunks, unchanged = partition(segment)
        source = lines.setdefault(segment.source, len(lines))
        for number, edits in enumerate(segment.references):
            reference = lines.setdefault(apply_edits(segment.source, edits), len(lines))
            rows.append([0] * (2 * len(KINDS) - 1) + [unchanged])
            for chunk in chunks:
                kind = chunk.kind(number if assumption == "dependent" else None)
                rows[-1][len(KINDS) + kind] += 1
                words = chunk.references[number] if kind == UNDER else chunk.candidate
                text = (*segment.source[: chunk.start], *words, *segment.source[chunk.end :])
                asked.append((rows[-1], kind, source, lines.setdefault(text, len(lines)), reference))
            rows[-1][KEPT] = rows[-1][-1] * PARTS
    pieces = vectors.pieces_of(list(lines))
    both = (pair for *_, source, changed, last in asked for pair in ((changed, last), (source, last)))
    pairs = list(dict.fromkeys(both))
    ours, others = np.array(pairs, np.int64).reshape(-1, 2).T
    matched = match_lines(pieces, pieces, ours, others)
    f_of = dict(zip(pairs, matched[:, 2].tolist(), strict=True))
    for row, kind, source, changed, reference in asked:
        row[kind] += abs(f_of[changed, reference] - f_of[source, reference])
    return rows
