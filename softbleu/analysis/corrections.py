"""Corrections by kind: which edits of a candidate are gold edits, which are wrong, which gold edits are missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from softbleu.engine.plan import make_plan
from softbleu.engine.prepare import prepare_corpus
from softbleu.errors import InputError, UnknownNameError
from softbleu.io.tabular import Tabular
from softbleu.metrics.edits.errant import Classify, Spans, errant_types
from softbleu.metrics.m2 import M2, find_edits
from softbleu.metrics.m2.lattice import match_edits

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.corpora.edits import CodedEdit, CodedGold, GoldSegment
    from softbleu.matching.ngrams import Chunk
    from softbleu.metrics.base import Metric

By = Literal["type", "operation", "errant"]
Verdict = Literal["hit", "wrong", "missed", "over"]
OTHER = "other"  # Of edits where no annotator has any, whose type the gold file does not say
ALL = "all"


@dataclass(frozen=True)
class JudgedEdit:
    """An edit of a candidate, or a gold edit."""

    spans: Spans  # Source words, and those of the candidate that they became; of a gold edit, of the annotator's text
    text: tuple[str, ...]
    verdict: Verdict
    """Of a candidate's: `hit`, `wrong` (a gold edit is there, another one) or `over`. Of a gold edit: `hit`, `wrong`
    (the candidate has another edit there) or `missed`."""
    kind: str


@dataclass(frozen=True)
class LineCorrections:
    """Those of one segment of one system, beside those of the annotator that its score goes by."""

    annotator: int
    edits: tuple[JudgedEdit, ...]
    gold: tuple[JudgedEdit, ...]
    hits: tuple[tuple[int, int], ...]  # Numbers of the edits that are gold edits, and of these


@dataclass(frozen=True)
class KindScore:
    """How well edits of one kind are made."""

    system: str
    kind: str
    correct: int
    proposed: int
    gold: int
    precision: float  # In per cent, as recall and F; 100 where nothing is proposed, as for M2
    recall: float
    f: float
    hits: int  # Gold edits that the candidate has
    wrong: int  # Gold edits where the candidate has another edit
    missed: int  # Gold edits where the candidate has none: under-corrections
    over: int  # Edits of the candidate where there is no gold edit: over-corrections


class KindScores(list[KindScore], Tabular):
    """Scores by kind of each system, all kinds together first: a list that can be looked at as a table."""

    def records(self) -> list[dict[str, Any]]:
        """A row per system and kind."""
        return [vars(each) for each in self]


def correction_kinds(corpus: Corpus, metric: Metric, by: By = "type") -> KindScores:
    """Score the edits of every system kind by kind, as M2 finds them, with its choice of annotators.

    Parameters
    ----------
    metric
        M2 with its settings.
    by
        `type`: of the gold file; an edit that is no gold edit has the type of the one that it touches, else `other`
        (so that precision by type leaves over-corrections out). `operation`: `missing`, `unnecessary` or
        `replacement`. `errant`: ERRANT's types, of all edits.

    Raises
    ------
    InputError, MissingExtraError
        Another metric, no gold edits, or no ERRANT.
    """
    lines = [list(system) for system in find_corrections(corpus, metric, by)]
    beta = metric.beta  # type: ignore[attr-defined]  # it is M2
    return KindScores(
        score for name, own in zip(corpus.systems, lines, strict=True) for score in _kind_scores(name, own, beta)
    )


def has_corrections(metric: Metric) -> bool:
    """Whether a metric finds edits."""
    return isinstance(metric, M2)


def find_corrections(corpus: Corpus, metric: Metric, by: By = "type") -> list[list[LineCorrections]]:
    """Find the edits of every segment of every system; see `correction_kinds`."""
    if not isinstance(metric, M2):
        raise InputError(f"metric {metric.name!r} finds no edits to tell kinds of: take m2, with --gold")
    if by not in get_args(By):
        raise UnknownNameError("kind of kinds", by, get_args(By))
    needed = make_plan([metric], corpus).needed[metric.tokenizer]
    classify = errant_types() if by == "errant" else None
    prepared = prepare_corpus(corpus, metric.tokenizer, needed)
    segments: list[GoldSegment] = [each for block in corpus.blocks() for each in block.load().gold or ()]
    found: list[list[LineCorrections]] = []
    for system in range(len(prepared.systems)):
        start, lines = 0, list[_Line]()
        for block in prepared.blocks([system]):
            (chunk,) = block.chunks(0, len(block), gold=True)
            lines += _lines_of(chunk, segments[start : start + len(block)], metric)
            start += len(block)
        found.append(
            [_told(line, annotator, prepared.words, by, classify) for line, annotator in _choose(lines, metric)]
        )
    return found


@dataclass(frozen=True)
class _Line:
    source: tuple[int, ...]
    candidate: tuple[int, ...]
    coded: CodedGold
    segment: GoldSegment
    edits: list[list[CodedEdit]]  # Towards each annotator


def _lines_of(chunk: Chunk, segments: Sequence[GoldSegment], metric: M2) -> Iterator[_Line]:
    if chunk.gold is None or chunk.source is None:
        raise InputError("edits are told from gold edits: name a .m2 file with --gold, or gold=read_m2(…)")
    texts = chunk.source.by_line(), chunk.candidates.by_line()
    for source, candidate, coded, segment in zip(*texts, chunk.gold, segments, strict=True):
        edits = find_edits(source, candidate, coded.edits, metric.max_unchanged_words)
        yield _Line(source, candidate, coded, segment, edits)


def _choose(lines: Sequence[_Line], metric: M2) -> Iterator[tuple[_Line, int]]:
    """The annotator of each segment whose edits count, as the score has it."""
    rows, counts = [], []
    for line in lines:
        counts.append(len(line.edits))
        for edits, gold in zip(line.edits, line.coded.edits, strict=True):
            rows.append((len(match_edits(edits, gold)), len(edits), len(gold), 0))
    offsets = np.array([0, *accumulate(counts)])
    chosen = metric.aggregation.chosen(np.array(rows, np.int64).reshape(-1, 4), offsets)
    for line, index, start in zip(lines, chosen.tolist(), offsets.tolist(), strict=False):
        yield line, index - start


def _told(line: _Line, annotator: int, words: Sequence[str], by: By, classify: Classify | None) -> LineCorrections:
    """Say of each edit what it is."""
    edits, gold = line.edits[annotator], line.coded.edits[annotator]
    kinds = line.segment.annotations[annotator].edits
    hits = match_edits(edits, gold)
    ours, theirs = ({pair[side] for pair in hits} for side in (0, 1))
    proposed, wanted = [], []
    for number, (spans, text) in enumerate(_placed(edits)):
        near = [other for other, each in enumerate(gold) if other not in theirs and _touch(spans, each)]
        own = next((other for index, other in hits if index == number), next(iter(near), None))
        verdict: Verdict = "hit" if number in ours else "wrong" if near else "over"
        kind = OTHER if own is None else kinds[own].kind
        proposed.append(JudgedEdit(spans, _spell(text, words), verdict, kind))
    for number, (spans, text) in enumerate(_placed([(start, end, texts[0]) for start, end, texts in gold])):
        touched = any(index not in ours and _touch(spans, each) for index, each in enumerate(edits))
        verdict = "hit" if number in theirs else "wrong" if touched else "missed"
        wanted.append(JudgedEdit(spans, _spell(text, words), verdict, kinds[number].kind))
    if by == "operation":
        proposed, wanted = ([replace(each, kind=_operation(each)) for each in side] for side in (proposed, wanted))
    elif classify is not None:
        source = _spell(line.source, words)
        proposed = _classified(proposed, source, _spell(line.candidate, words), classify)
        wanted = _classified(wanted, source, _corrected(source, wanted), classify)
    return LineCorrections(line.coded.annotators[annotator], tuple(proposed), tuple(wanted), tuple(hits))


def _placed(edits: Sequence[CodedEdit]) -> Iterator[tuple[Spans, tuple[int, ...]]]:
    """Where edits are in the text that they make, those before them made."""
    shift = 0
    for start, end, text in edits:
        yield (start, end, start + shift, start + shift + len(text)), text
        shift += len(text) - (end - start)


def _touch(spans: Spans, edit: Any) -> bool:
    """Whether two edits have a source word in common, or one inserts where the other is."""
    start, end = max(spans[0], edit[0]), min(spans[1], edit[1])
    return start < end or (start == end and (spans[0] == spans[1] or edit[0] == edit[1]))


def _operation(edit: JudgedEdit) -> str:
    start, end, _, _ = edit.spans
    return "missing" if start == end else "replacement" if edit.text else "unnecessary"


def _spell(codes: Sequence[int], words: Sequence[str]) -> tuple[str, ...]:
    return tuple(words[code] for code in codes)


def _corrected(source: Sequence[str], edits: Sequence[JudgedEdit]) -> list[str]:
    text: list[str] = []
    done = 0
    for edit in edits:
        text += [*source[done : edit.spans[0]], *edit.text]
        done = max(done, edit.spans[1])
    return [*text, *source[done:]]


def _classified(
    edits: Sequence[JudgedEdit], source: Sequence[str], corrected: Sequence[str], classify: Classify
) -> list[JudgedEdit]:
    kinds = classify(source, corrected, [edit.spans for edit in edits])
    return [replace(edit, kind=kind) for edit, kind in zip(edits, kinds, strict=True)]


def _kind_scores(system: str, lines: Sequence[LineCorrections], beta: float) -> Iterator[KindScore]:
    counts: dict[str, Counter[str]] = {}

    def count(kind: str, *names: str) -> None:
        for each in (ALL, kind):
            counts.setdefault(each, Counter()).update(names)

    counts[ALL] = Counter()
    for line in lines:
        for edit in line.edits:
            count(edit.kind, "proposed", *(["over"] if edit.verdict == "over" else []))
        for edit in line.gold:
            count(edit.kind, "gold", {"hit": "hits"}.get(edit.verdict, edit.verdict))
        for _, number in line.hits:
            count(line.gold[number].kind, "correct")
    for kind in sorted(
        counts, key=lambda name: (name != ALL, -counts[name]["gold"] - counts[name]["proposed"], name)
    ):
        yield _kind_score(system, kind, counts[kind], beta)


def _kind_score(system: str, kind: str, counts: Counter[str], beta: float) -> KindScore:
    score = M2(beta=beta).score(np.array([counts["correct"], counts["proposed"], counts["gold"]]))
    names = ("correct", "proposed", "gold", "hits", "wrong", "missed", "over")
    told = {name: counts[name] for name in names}
    return KindScore(system, kind, precision=score.precision, recall=score.recall, f=score.score, **told)
