"""ERRANT (Bryant, Felice & Briscoe 2017), if it is installed: its edits, and its types, such as `R:VERB:TENSE`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from softbleu.corpora.edits import Edit
from softbleu.errors import InputError, MissingExtraError

Spans = tuple[int, int, int, int]
"""Words of the source, and those of the text that they become, from 0, ends left out."""
Classify = Callable[[Sequence[str], Sequence[str], Sequence[Spans]], list[str]]
"""Names the types of edits that make one text of another."""


def load_errant() -> Any:
    """Load ERRANT for English; `MissingExtraError` or `InputError` says what to install."""
    try:
        from errant import load
    except ImportError:
        raise MissingExtraError("ERRANT is another package: pip install 'softbleu[errant]'") from None
    try:
        return load("en")
    except OSError as error:
        raise InputError(
            f"ERRANT needs spaCy's English model ({' '.join(str(error).split())[:80]}): "
            "python -m spacy download en_core_web_sm"
        ) from None


def errant_types() -> Classify:
    """Make a function that names the types of edits."""
    annotator = load_errant()

    def classify(source: Sequence[str], corrected: Sequence[str], edits: Sequence[Spans]) -> list[str]:
        if not edits:
            return []
        one, other = (annotator.parse(" ".join(words)) for words in (source, corrected))
        return [annotator.import_edit(one, other, list(edit), min=False).type for edit in edits]

    return classify


def errant_edits() -> Callable[[Sequence[str], Sequence[str]], tuple[Edit, ...]]:
    """Make a function that finds the edits that make a text of its source, as `extract_edits` does."""
    annotator = load_errant()

    def find(source: Sequence[str], output: Sequence[str]) -> tuple[Edit, ...]:
        annotated = annotator.annotate(*(annotator.parse(" ".join(words)) for words in (source, output)))
        return tuple(Edit(edit.o_start, edit.o_end, edit.type, (edit.c_str,)) for edit in annotated)

    return find
