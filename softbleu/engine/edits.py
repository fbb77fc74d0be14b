"""Edits of the segments of a block: those that are given, or else those that are found in the texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from softbleu.corpora.edits import EditedSegment, TextEdit
from softbleu.metrics.edits.extract import extract_edits

if TYPE_CHECKING:
    from softbleu.corpora.segments import Segments

    Split = Callable[[str], Sequence[str]]


def edits_of(segments: Segments, split: Split) -> tuple[Sequence[EditedSegment], ...]:
    """Edits of each system and of the references, in the words that `split` makes of a text."""
    sources = [tuple(split(text)) for text in segments.source or ()]
    texts = [] if segments.gold is not None else segments.references
    lines = segments.source or ()
    references = [tuple(_found(own, text, split) for text in each) for own, each in zip(lines, texts, strict=False)]
    edited = []
    for system, candidates in segments.candidates.items():
        given = segments.edits.get(system)
        found = (_found(own, text, split) for own, text in zip(lines, candidates, strict=True))
        candidate = list(found if given is None else (each.in_words(split) for each in given))
        if segments.gold is not None:
            pairs = zip(segments.gold, candidate, strict=True)
            references = [tuple(each.in_words(split, own) for each in gold.annotations) for gold, own in pairs]
        edited.append([EditedSegment(*each) for each in zip(sources, candidate, references, strict=True)])
    return tuple(edited)


@lru_cache(1 << 14)
def _found(source: str, text: str, split: Split) -> tuple[TextEdit, ...]:
    # A corpus is read several times.
    edits = extract_edits(split(source), split(text))
    return tuple((edit.start, edit.end, tuple(edit.corrections[0].split())) for edit in edits)
