"""Edits of the segments of a block: those that are given, or else those that are found in the texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from softbleu.corpora.edits import EditedSegment, TextEdit
from softbleu.metrics.edits import extract_edits

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Segments

    Split = Callable[[str], Sequence[str]]


def edits_of(segments: Segments, split: Split, language: str | None) -> tuple[Sequence[EditedSegment], ...]:
    """Edits of each system of some segments, and of the references, in the words that `split` makes of a text.

    Those that are not given are found by the rules of a `language`, None: English.
    """
    sources = [tuple(split(text)) for text in segments.source or ()]
    texts = [] if segments.gold is not None else segments.present()
    lines = segments.source or ()
    references = [
        tuple(_extracted(line, text, split, language) for text in many)
        for line, many in zip(lines, texts, strict=False)
    ]
    edited = []
    for system, candidates in segments.candidates.items():
        annotated = segments.edits.get(system)
        extracted = (_extracted(line, text, split, language) for line, text in zip(lines, candidates, strict=True))
        candidate = list(extracted if annotated is None else (annotation.in_words(split) for annotation in annotated))
        if segments.gold is not None:
            pairs = zip(segments.gold, candidate, strict=True)
            references = [tuple(one.in_words(split, text) for one in gold.annotations) for gold, text in pairs]
        edited.append([EditedSegment(*parts) for parts in zip(sources, candidate, references, strict=True)])
    return tuple(edited)


@lru_cache(1 << 14)
def _extracted(source: str, text: str, split: Split, language: str | None) -> tuple[TextEdit, ...]:
    # A corpus is read several times.
    edits = extract_edits(split(source), split(text), language)
    return tuple((edit.start, edit.end, tuple(edit.corrections[0].split())) for edit in edits)
