"""Chunks: a source, a candidate and references cut at the same places."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from operator import itemgetter

from softbleu.corpora.edits import EditedSegment, TextEdit, apply_edits

Text = tuple[str, ...]
KINDS = HIT, WRONG, OVER, UNDER, KEPT = (0, 1, 2, 3, 4)
"""Of chunks: corrected as in a reference; otherwise, where something is to be changed; where nothing is; not
corrected; rightly left."""


@dataclass(frozen=True)
class EditChunk:
    """Some words of a source, from `start` up to `end`, and what each text has in their place."""

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
        """Judge what the candidate has, by one reference or by all."""
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
    spans: list[tuple[int, int]] = []
    for start, end, _ in sorted({edit for text in texts for edit in text}, key=itemgetter(0)):
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], end)
        else:
            spans.append((start, end))
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
