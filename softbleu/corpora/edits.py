"""Edits: what is to be changed in a sentence, as annotators, systems or alignments have it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import overload

from softbleu.types import Words

NO_CORRECTION = "-NONE-"  # Stands in the place of a correction where only an error was marked
# Words that the tokenizer of the I-measure's converter is known to leave alone: most corrections need no tokenizer.
_WHOLE = re.compile(r"(?!(?:cannot|gimme|gonna|gotta|lemme|wanna)$)[a-z0-9]+(?:-[a-z0-9]+)*|[,;:?!.]", re.IGNORECASE)

CodedEdit = tuple[int, int, Words]
"""An edit as numbers: source words start up to end become these words."""
TextEdit = tuple[int, int, tuple[str, ...]]
"""An edit in words."""
Coded = tuple[tuple[int, int, tuple[tuple[int, ...], ...]], ...]
"""Edits of one annotator as numbers: start, end and, as codes of words, the corrections that are right."""


@dataclass(frozen=True)
class Edit:
    """The words that an annotator would write in the place of others.

    Source words `start` up to `end`, from 0, are to be replaced; where both are equal something is to be inserted.
    """

    start: int
    end: int
    kind: str  # Type of the error, as the file has it
    corrections: tuple[str, ...]
    """Any of these is right; an empty one deletes. None at all: the error was marked, not corrected."""
    required: str = "REQUIRED"
    comment: str = NO_CORRECTION


@dataclass(frozen=True)
class Annotation:
    """The edits of one annotator, in the order of the file; none where the sentence is right as it is."""

    annotator: int
    edits: tuple[Edit, ...]

    def in_words(
        self, split: Callable[[str], Sequence[str]] = str.split, others: Sequence[TextEdit] = ()
    ) -> tuple[TextEdit, ...]:
        """Each edit as words, with that of its corrections that others have for the same words, or else the first.

        A mark without correction counts as a deletion, as for M2.
        """
        taken = {(start, end): words for start, end, words in others}
        edits = []
        for edit in self.edits:
            texts = [tuple(split(text)) for text in edit.corrections or ("",)]
            shared = taken.get((edit.start, edit.end))
            edits.append((edit.start, edit.end, shared if shared is not None and shared in texts else texts[0]))
        return tuple(edits)


@dataclass(frozen=True)
class EditedSegment:
    """Edits of a source sentence, in words: of a candidate, and of each annotator (or reference).

    Edits stand in order.
    """

    source: tuple[str, ...]
    candidate: tuple[TextEdit, ...]
    references: tuple[tuple[TextEdit, ...], ...]


def apply_edits(source: Sequence[str], edits: Sequence[TextEdit]) -> tuple[str, ...]:
    """Write what edits make of the words of a source; several insertions at one place follow one another.

    >>> apply_edits("he eat apple".split(), [(1, 2, ("eats",)), (2, 2, ("an",))])
    ('he', 'eats', 'an', 'apple')
    """
    words, place = list[str](), 0
    for start, end, replacement in sorted(edits, key=itemgetter(0, 1)):
        words += [*source[place:start], *replacement]
        place = max(place, end)
    return (*words, *source[place:])


@dataclass(frozen=True)
class GoldSegment:
    """A source sentence and what annotators made of it.

    >>> edits = (Edit(1, 2, "Vform", ("eats",)), Edit(2, 2, "ArtOrDet", ("an",)))
    >>> gold = GoldSegment("he eat apple", (Annotation(0, edits), Annotation(1, ())))
    >>> gold.references()
    ('he eats an apple', 'he eat apple')
    """

    source: str
    annotations: tuple[Annotation, ...]  # One or more, by annotator

    def references(self) -> tuple[str, ...]:
        """Write each annotator's text, with the first of several corrections, as the official I-measure does.

        Its converter tokenizes corrections (NLTK), leaves a marked error without correction as the word `-NONE-`,
        and passes over an edit that would delete the whole sentence.
        """
        words = self.source.split()
        return tuple(" ".join(_corrected(words, annotation.edits)) for annotation in self.annotations)

    def coded(self, code: Callable[[str], tuple[int, ...]]) -> CodedGold:
        """Put numbers in the place of words; a mark without correction counts as a deletion, as for M2."""
        edits = tuple(
            tuple((edit.start, edit.end, tuple(map(code, edit.corrections or ("",)))) for edit in annotation.edits)
            for annotation in self.annotations
        )
        return CodedGold(tuple(annotation.annotator for annotation in self.annotations), edits)


@dataclass(frozen=True)
class CodedGold:
    """The annotations of a segment as numbers."""

    annotators: tuple[int, ...]
    edits: tuple[Coded, ...]  # Of each annotator


@dataclass(frozen=True)
class GoldReferences(Sequence[tuple[str, ...]]):
    """The references that annotators' edits make, of each segment; written when they are asked for."""

    segments: Sequence[GoldSegment]

    def __len__(self) -> int:
        return len(self.segments)

    @overload
    def __getitem__(self, place: int) -> tuple[str, ...]: ...

    @overload
    def __getitem__(self, place: slice) -> GoldReferences: ...

    def __getitem__(self, place: int | slice) -> tuple[str, ...] | GoldReferences:
        if isinstance(place, slice):
            return GoldReferences(self.segments[place])
        return self.segments[place].references()


def _corrected(words: list[str], edits: tuple[Edit, ...]) -> list[str]:
    replacements: dict[tuple[int, int], list[str]] = {}
    for edit in edits:
        # Several insertions at one place follow one another as in the file.
        replacements.setdefault((edit.start, edit.end), []).extend(_tokenized((*edit.corrections, NO_CORRECTION)[0]))
    ahead, behind = list(words), list[list[str]]()
    # From the end to the start, so that earlier places stay where they are.
    for (start, end), replacement in sorted(replacements.items(), key=lambda entry: entry[0], reverse=True):
        if end > len(ahead):
            # It overlaps with the one before.
            ahead, behind = [*ahead, *chain.from_iterable(reversed(behind))], []
        if start or replacement or end < len(ahead) or any(behind):
            behind += [ahead[end:], replacement]
            del ahead[start:]
    return [*ahead, *chain.from_iterable(reversed(behind))]


def _tokenized(text: str) -> list[str]:
    words = text.split()
    return words if all(map(_WHOLE.fullmatch, words)) or text == NO_CORRECTION else list(_nltk_words(text))


@cache
def _nltk_words(text: str) -> tuple[str, ...]:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return tuple(NLTKWordTokenizer().tokenize(text))
