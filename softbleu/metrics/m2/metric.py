"""M2 (MaxMatch): F-measure of the edits that make a candidate of its source, against gold edits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from softbleu.config.declare import setting
from softbleu.errors import InputError
from softbleu.io.arguments import Limit
from softbleu.kernels import SCALE, Kernels, choose_kernels
from softbleu.matching.matchers import threshold_setting
from softbleu.matching.ngrams import Chunk, WordTable, products_of_pairs, threshold_in_millionths
from softbleu.metrics.aggregation import BestReference, running_choice
from softbleu.metrics.base import WholeMetric
from softbleu.metrics.edits import JudgedEdits, judge_by_links, placed
from softbleu.metrics.m2.lattice import EditCredit, EditTables, Excerpt, LatticeTooLargeError, Span, match_edits
from softbleu.metrics.requirements import Requirements, needed
from softbleu.metrics.score import Score, ScoreColumns, column, share_of
from softbleu.text.coded import TokenPairs, Tokens

if TYPE_CHECKING:
    from softbleu.corpora.edits import Coded, CodedEdit, CodedGold
    from softbleu.types import Floats, Integers, Words

AnnotatorChoice = Literal["running", "best", "last"]
MOST_UNCHANGED = 16
_LIMIT = Limit("m2", "pairs of words", 1 << 25, "a document of 3,000 words: 9,000,000")  # More needs over 2 GB


@dataclass(frozen=True)
class M2Score(Score):
    """An M2 score and its parts."""

    correct: float = column("correct", "correct edits", "count")
    """Edits of the candidate that are gold edits; where similar ones have credit, their sum."""
    proposed: int = column("proposed", "proposed edits", "count")  # Edits of the candidate
    gold: int = column("gold", "gold edits", "count")  # Gold edits of the chosen annotators
    precision: float = column("P", "precision", "per cent")  # 100 where nothing is proposed
    recall: float = column("R", "recall", "per cent")  # 100 where nothing must be corrected
    correct_sentences: float = column("acc", "correct sentences", "per cent", default=0.0)
    """Sentences that have the gold edits, and no others."""
    false_alarms: float | None = column("FA", "false alarms", "per cent", default=None)
    """Changed ones of the sentences that no annotator changes; None without one."""
    annotator: int | None = column("annotator", "", "text", default=None)  # Of a single segment


@dataclass(frozen=True, repr=False)
class M2(WholeMetric):
    """MaxMatch (Dahlmeier & Ng 2012), with the numbers of the official scorer, version 3.2.

    The score is 100 (1 + beta²) P R / (beta² P + R). P is the share of the candidate's edits that are gold edits, R
    the share of the gold edits that the candidate has. Changes are divided into the edits that are most often gold.

    Parameters
    ----------
    beta
        Weight of recall in F; below 1 precision weighs more.
    max_unchanged_words
        Most unchanged words within an edit.
    annotators
        Choice of each segment's annotator: the one with the greatest F of the segment and all before it (`running`,
        as the official scorer; it depends on the order of the segments), or of the segment alone (`best`). For equal
        F: the one with more correct edits; then with fewer edits, gold ones weighing beta squared; then the one
        with the lower number. Or the last annotator (`last`), as in the segment scores of
        Chollampatt & Ng (2018).
    threshold
        Soft M2 (metrics page): edits that are similar to a gold edit have part credit, the similarity of both
        corrections, if it exceeds the threshold, times the share of replaced words that both have. The path through
        the lattice is the one with the greatest credit, and each gold edit counts once. None: only equal edits count.
    characters
        Weight of the similarity of spellings, where that is greater than the one of vectors.
    """

    beta: float = setting(0.5, "Weight of recall beside precision", least=1e-6, most=1e6)
    max_unchanged_words: int = setting(
        2, "Unchanged words that an edit may have within it", least=0, most=MOST_UNCHANGED
    )
    annotators: AnnotatorChoice = setting(
        "running",
        "Each segment's annotator: best for the F of all so far (running, as the official scorer), for its own "
        "(best), or the last",
    )
    threshold: float | str | None = threshold_setting(
        "Edits whose corrections are more similar than this, or than X percent of random pairs of words, have part "
        "credit",
        "equal edits only",
    )
    characters: float = setting(0.0, "Weight of the similarity of spellings", least=0, most=1, metavar="0..1")
    name: ClassVar[str] = "m2"
    needs_errors: ClassVar[bool] = True

    @property
    def requires(self) -> Requirements:
        """Gold edits, and the needs of similarities if edits need not be equal."""
        spelling = ("spelling",) if self.soft and self.characters else ()
        return Requirements(references=False, source=True, gold=True, vectors=self.soft, parts=spelling)

    @property
    def soft(self) -> bool:
        """Whether similar edits have credit: correct edits are then counted in millionths."""
        threshold = self.threshold
        return threshold is not None and (isinstance(threshold, str) or threshold_in_millionths(threshold) < SCALE)

    def check(self) -> None:
        """Check that the settings are compatible."""
        if self.characters and self.threshold is None:
            raise InputError("spellings are compared where edits need not be equal: give a threshold")

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Count edits and sentences: a row for each annotator of each segment.

        Edits are correct, proposed and gold ones; then comes the annotator's number. Sentences are all, those without
        errors, these that are changed, and those with all gold edits and no others.
        """
        unit, rows = SCALE if self.soft else 1, list[tuple[int, ...]]()
        for gold, towards in self._linked(chunk, words, kernels):
            for annotator, gold_edits, (edits, links) in zip(gold.annotators, gold.edits, towards, strict=True):
                credit, proposed, wanted = sum(link[2] for link in links), len(edits), len(gold_edits)
                sentence = 1, gold.clean, gold.clean and proposed > 0, credit == proposed * SCALE == wanted * SCALE
                rows.append((credit * unit // SCALE, proposed, wanted, annotator, *sentence))
        return np.array(rows, np.int64).reshape(-1, 8)

    def _linked(
        self, chunk: Chunk, words: WordTable | None, kernels: Kernels
    ) -> Iterator[tuple[CodedGold, list[tuple[list[CodedEdit], list[tuple[int, int, int]]]]]]:
        """Edits of each segment towards each annotator, and which of them are gold edits, with their credit."""
        annotated, sources = needed(chunk.gold, self.name, "gold"), needed(chunk.source, self.name, "gold")
        texts = list(zip(sources.by_line(), chunk.candidates.by_line(), strict=True))
        similar: Iterable[Sequence[SimilarEdits] | None] = repeat(None, len(annotated))
        if self.soft:
            words = needed(words, self.name, "words")
            # Before words are compared, which takes as long.
            for segment in texts:
                _check_length(*segment)
            threshold = threshold_in_millionths(self.threshold or 0.0)
            similar = similar_edits(chunk, words, kernels, threshold, self.characters)
        for gold, (source, candidate), near in zip(annotated, texts, similar, strict=True):
            credits = None if near is None else [edits.credit for edits in near]
            towards = find_edits(source, candidate, gold.edits, self.max_unchanged_words, credits)
            linked = []
            for number, edits in enumerate(towards):
                hits = match_edits(edits, gold.edits[number])
                links = [(*pair, SCALE) for pair in hits] if near is None else near[number].links(edits, hits)
                linked.append((edits, links))
            yield gold, linked

    def judge_edits(
        self, chunk: Chunk, chosen: Sequence[int], words: WordTable | None, forms: Sequence[str]
    ) -> list[JudgedEdits]:
        """Edits of each segment towards the annotator who counts."""

        def spelt(codes: Sequence[int]) -> tuple[str, ...]:
            return tuple(forms[code] for code in codes)

        judged = list[JudgedEdits]()
        sources = () if chunk.source is None else chunk.source.by_line()
        for (gold, towards), number in zip(self._linked(chunk, words, choose_kernels("numpy")), chosen, strict=True):
            edits, links = towards[number]
            proposed = [(start, end, spelt(codes)) for start, end, codes in edits]
            others = [(start, end, spelt(texts[0])) for start, end, texts in gold.edits[number]]
            shares = [(one, other, credit / SCALE) for one, other, credit in links]
            judged.append(judge_by_links(spelt(sources[len(judged)]), proposed, others, shares, number))
        return judged

    def columns(self, rows: Integers | Floats) -> ScoreColumns[M2Score]:
        """Score rows of counts, or sums of rows."""
        counts, proposed, gold = np.asarray(rows)[:, :3].astype(np.int64).T
        correct = counts / SCALE if self.soft else counts
        precision, recall = (
            np.where(every == 0, 1, correct / np.where(every == 0, 1, every)) for every in (proposed, gold)
        )
        weight = self.beta**2
        below = weight * precision + recall
        scores = 100 * (1 + weight) * precision * recall / np.where(below == 0, 1, below)
        shares: dict[str, Any] = {"precision": 100 * precision, "recall": 100 * recall}
        if np.shape(rows)[1] > 4:
            every, clean, alarms, right = np.asarray(rows)[:, 4:].T
            shares["correct_sentences"] = list(map(share_of, right, every))
            shares["false_alarms"] = list(map(share_of, alarms, clean, repeat(None)))
        return ScoreColumns(M2Score, scores, correct=correct, proposed=proposed, gold=gold, **shares)

    @property
    def aggregation(self) -> BestReference:
        """The chosen annotators."""
        return _ChosenAnnotators(self)


@dataclass(frozen=True)
class _ChosenAnnotators(BestReference):
    metric: M2

    @property
    def by_segment(self) -> bool:
        """Whether the choice is independent of the segments before."""
        return self.metric.annotators != "running"

    def singles(self, rows: Integers) -> list[M2Score]:
        """Score single rows, with their annotators."""
        scores = self.metric.columns(rows)
        return [replace(score, annotator=int(row[3])) for score, row in zip(scores, rows, strict=True)]

    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """Choose the row of one annotator for each segment."""
        if self.metric.annotators == "last":
            return offsets[1:] - 1
        weight, unit = self.metric.beta**2, SCALE if self.metric.soft else 1

        def key(_: Sequence[float], total: Sequence[float]) -> tuple[float, ...]:
            correct, proposed, gold = total
            below = weight * gold + proposed
            # What the official scorer compares, in the same order of operations.
            return (1 + weight) * correct / (unit * below) if below else float(not correct), correct, -below

        return running_choice(rows[:, :3].tolist(), offsets, key, running=self.metric.annotators == "running")


def find_edits(
    source: tuple[int, ...],
    candidate: tuple[int, ...],
    gold: Sequence[Coded],
    most_unchanged: int = 2,
    credits: Sequence[EditCredit] | None = None,
) -> list[list[CodedEdit]]:
    """Find the edits of a candidate that are most similar to the edits of each annotator, in order.

    `credits` has the weights of similar edits for each annotator.

    Words are integers. `gold` has of each annotator the edits: start and end in `source`, and their corrections. An
    edit has at most `most_unchanged` words that stay as they are.

    As with the official scorer, an edit may reach over words that stay as they are, here the last one. The source
    `he eat a apple` is numbered, and so is the candidate `he eats an apple`.

    >>> find_edits((0, 1, 2, 3), (0, 4, 5, 3), [((1, 2, ((4,),)),), ()])
    [[(1, 2, (4,)), (2, 4, (5, 3))], [(1, 4, (4, 5, 3))]]
    """
    if source == candidate:
        return [[] for _ in gold]
    _check_length(source, candidate)
    try:
        # An edit that changes nothing may be of words that would be left out.
        unused = any(source[start:end] in texts for edits in gold for start, end, texts in edits if start < end)
        make = Excerpt.whole if unused else Excerpt.of
        graph: Excerpt | EditTables = make(source, candidate, most_unchanged)
    except LatticeTooLargeError:
        graph = EditTables(source, candidate, most_unchanged)
    return [
        graph.edits_towards(edits, credit)
        for edits, credit in zip(gold, credits or repeat(None, len(gold)), strict=True)
    ]


def _check_length(source: Sequence[int], candidate: Sequence[int]) -> None:
    if source != candidate:
        thing = f"a segment of {len(source):,} source and {len(candidate):,} candidate words"
        _LIMIT.check(len(source) * len(candidate), thing)


@dataclass(frozen=True)
class SimilarEdits:
    """Similarities of the edits of a candidate to the edits of an annotator."""

    candidate: Words
    gold: Coded
    places: Sequence[Sequence[Span]]  # Where each correction of each gold edit stands in the line of corrections
    after: Sequence[Sequence[float]]  # Similarities of the candidate's words with those of that line
    before: Sequence[Sequence[float]]  # Of the source's words
    threshold: int  # In millionths; a similarity must exceed it

    def credit(self, number: int, replaced: Span, words: Span) -> int:
        """Similarity of the corrections times the share of replaced words that both edits have; see `EditCredit`.

        The correction must be nearer to the gold one than the words that it replaces.

        `number` is that of the gold edit, `replaced` the span of source words, `words` that of candidate words.
        """
        start, end, corrections = self.gold[number]
        shared = min(end, replaced[1]) - max(start, replaced[0])
        if (start, end) != replaced and shared <= 0:
            return 0
        best = 0
        for text, place in zip(corrections, self.places[number], strict=True):
            if self.candidate[slice(*words)] == text:
                best = SCALE
            elif (similarity := align_words(self.after, words, place)) > max(self.threshold, best):
                best = similarity if similarity > align_words(self.before, replaced, place) else best
        return (
            best if (start, end) == replaced else best * shared // (max(end, replaced[1]) - min(start, replaced[0]))
        )

    def links(self, edits: Sequence[CodedEdit], hits: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
        """Numbers of edits and gold edits that belong together, and credit.

        Equal edits (`hits`) come first; the others are assigned one to one.
        """
        taken = [{pair[side] for pair in hits} for side in (0, 1)]
        left = [number for number in range(len(self.gold)) if number not in taken[1]]
        others = [(place, spans) for place, spans in enumerate(placed(edits)) if place not in taken[0]]
        table = [[self.credit(number, spans[:2], spans[2:]) for number in left] for _, spans in others]
        more = [(others[row][0], left[column], table[row][column]) for row, column in assigned(table)]
        return [*((*pair, SCALE) for pair in hits), *more]


def assigned(table: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Places above 0, no two in a row or a column, whose entries have the greatest sum.

    >>> assigned([[5, 4], [4, 0]]), assigned([[]]), assigned([])
    ([(0, 1), (1, 0)], [], [])
    """
    if not any(map(any, table)):
        return []
    from scipy.optimize import linear_sum_assignment

    values = np.array(table, np.int64)
    pairs = zip(*(side.tolist() for side in linear_sum_assignment(values, maximize=True)), strict=True)
    return [(row, column) for row, column in pairs if table[row][column]]


def align_words(table: Sequence[Sequence[float]], rows: Span, columns: Span) -> int:
    """Similarity of two texts: twice the greatest sum of words paired in order, by the words of both.

    `table` has the similarities of words; the texts are its `rows` and `columns` from the first number up to the
    second.

    In millionths, rounded; 0 where one is empty.

    >>> align_words([[1.0, 0.5], [0.5, 0.0]], (0, 2), (0, 2)), align_words([[0.9]], (0, 1), (0, 0))
    (500000, 0)
    """
    best = [0.0] * (columns[1] - columns[0] + 1)
    for row in table[slice(*rows)]:
        diagonal = 0.0
        for place, value in enumerate(row[slice(*columns)], start=1):
            above = best[place]
            best[place] = max(above, best[place - 1], diagonal + value)
            diagonal = above
    return round(2 * SCALE * best[-1] / max(rows[1] - rows[0] + columns[1] - columns[0], 1))


def similar_edits(
    chunk: Chunk, words: WordTable, kernels: Kernels, threshold: int, characters: float
) -> Iterator[list[SimilarEdits]]:
    """Compare the words of each candidate of a chunk, and of its source, with each annotator's corrections.

    Yields for each candidate the edits towards each annotator. Vectors are as in `words`, products are made by
    `kernels`; similarities must exceed the `threshold`, in millionths; `characters` is the weight of spellings.
    """
    context = words.vectors.in_context
    texts = [text.by_line() for text in (chunk.candidates, chunk.source) if text is not None]
    segments = list(zip(*texts, [annotated.edits for annotated in chunk.gold or ()], strict=True))
    lines = [
        (candidate, source, *corrections_of(source, edits, whole=context))
        for candidate, source, gold in segments
        for edits in (gold if candidate != source else ())
        if edits
    ]
    ours = _tokens([*(line[0] for line in lines), *(line[1] for line in lines)])
    theirs = _tokens([line[2] for line in lines] * 2)
    pairs = TokenPairs(ours.offsets, theirs.offsets)
    both = Chunk(ours, theirs, np.arange(2 * len(lines) + 1))
    similarities = np.clip(products_of_pairs(words.vectors, both, pairs, kernels), 0, 1)
    if characters > 0:
        kernels.raise_to_spellings(similarities, pairs, ours.codes, theirs.codes, words.parts("spelling"), characters)
    tables = [pairs.block(similarities, line).tolist() for line in range(2 * len(lines))]
    compared = iter(zip(lines, tables[: len(lines)], tables[len(lines) :], strict=True))
    for candidate, source, gold in segments:
        similar = []
        for edits in gold:
            differs = edits and candidate != source
            line, after, before = next(compared) if differs else ((None, None, None, []), [], [])
            similar.append(SimilarEdits(candidate, edits, line[3], after, before, threshold))
        yield similar


def corrections_of(source: Words, edits: Coded, *, whole: bool) -> tuple[list[int], list[list[Span]]]:
    """Write the corrections of all edits in a line, with the place of each.

    In a `whole` line they stand where they are made, between the other words of the source; of several for one edit
    the first does, and others follow at the end.

    >>> corrections_of((1, 2, 3), ((1, 2, ((7, 8), (9,))),), whole=True)
    ([1, 7, 8, 3, 9], [[(1, 3), (4, 5)]])
    """
    line: list[int] = []
    places: list[list[Span]] = [[] for _ in edits]
    between, done = source if whole else (), 0
    for rank in (slice(1), slice(1, None)):
        for place, (start, end, texts) in zip(places, edits, strict=True):
            line += between[done:start]
            done = max(done, end)
            for text in texts[rank]:
                place.append((len(line), len(line) + len(text)))
                line += text
        line += between[done:]
        between = ()
    return line, places


def _tokens(lines: Sequence[Sequence[int]]) -> Tokens:
    return Tokens(np.fromiter(chain.from_iterable(lines), np.int32), np.array([0, *accumulate(map(len, lines))]))
