"""Edits of the segments of a block: those that are given, or else those that are found in the texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING

from softbleu.corpora.edits import EditedSegment, TextEdit
from softbleu.metrics.edits.extract import extract_edits

if TYPE_CHECKING:
    from softbleu.corpora.edits import Annotation, GoldSegment
    from softbleu.corpora.segments import Segments

    Split = Callable[[str], Sequence[str]]


def edits_of(segments: Segments, split: Split) -> tuple[Sequence[EditedSegment], ...]:
    """Edits of each system and of the references, in the words that `split` makes of a text."""
    sources = [tuple(split(text)) for text in segments.source or ()]
    references = list(_references(segments, sources, split))
    return tuple(list(_edited(segments, system, sources, references, split)) for system in segments.systems)


def _references(
    segments: Segments, sources: Sequence[tuple[str, ...]], split: Split
) -> Iterator[tuple[tuple[TextEdit, ...], ...]]:
    if segments.gold is not None:
        yield from (tuple(each.in_words(split) for each in gold.annotations) for gold in segments.gold)
        return
    for source, texts in zip(sources, segments.references, strict=True):
        yield tuple(_found(source, text, split) for text in texts)


def _edited(
    segments: Segments,
    system: str,
    sources: Sequence[tuple[str, ...]],
    references: Sequence[tuple[tuple[TextEdit, ...], ...]],
    split: Split,
) -> Iterator[EditedSegment]:
    given: Sequence[Annotation | None] = segments.edits.get(system) or [None] * len(sources)
    gold = repeat(None, len(sources)) if segments.gold is None else segments.gold
    for source, text, own, others, alternatives in zip(
        sources, segments.candidates[system], given, references, gold, strict=True
    ):
        edits = _found(source, text, split) if own is None else own.in_words(split)
        if alternatives is not None:
            others = _nearest(edits, others, alternatives, split)
        yield EditedSegment(source, edits, others)


def _found(source: tuple[str, ...], text: str, split: Split) -> tuple[TextEdit, ...]:
    edits = extract_edits(source, tuple(split(text)))
    return tuple((edit.start, edit.end, tuple(edit.corrections[0].split())) for edit in edits)


def _nearest(
    candidate: tuple[TextEdit, ...], references: tuple[tuple[TextEdit, ...], ...], gold: GoldSegment, split: Split
) -> tuple[tuple[TextEdit, ...], ...]:
    """Take of several corrections that an edit may have the candidate's, if it is one; references have the first."""
    if all(len(edit.corrections) < 2 for annotation in gold.annotations for edit in annotation.edits):
        return references
    taken = {(start, end): words for start, end, words in candidate}
    return tuple(
        tuple(
            (start, end, own)
            if (own := taken.get((start, end))) is not None and own in map(tuple, map(split, edit.corrections))
            else (start, end, words)
            for (start, end, words), edit in zip(others, annotation.edits, strict=True)
        )
        for others, annotation in zip(references, gold.annotations, strict=True)
    )
