"""Types of edits as ERRANT has them, by its own package (extra ``errant``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from softbleu.errors import InputError, MissingExtraError

Spans = tuple[int, int, int, int]
"""Words of the source, and those of the text that they become, from 0, ends left out."""
Classify = Callable[[Sequence[str], Sequence[str], Sequence[Spans]], list[str]]
"""Names the types of edits that make one text of another."""


def load_errant() -> Classify:
    """Make a function that names the types of edits (Bryant, Felice & Briscoe 2017), such as `R:VERB:TENSE`.

    Raises
    ------
    MissingExtraError
        errant is not installed.
    InputError
        It lacks its spaCy model.
    """
    try:
        import errant
    except ImportError:
        raise MissingExtraError("ERRANT's types need another package: pip install 'softbleu[errant]'") from None
    try:
        annotator: Any = errant.load("en")
    except OSError as error:
        raise InputError(
            f"ERRANT needs spaCy's English model ({' '.join(str(error).split())[:80]}): "
            "python -m spacy download en_core_web_sm"
        ) from None

    def classify(source: Sequence[str], corrected: Sequence[str], edits: Sequence[Spans]) -> list[str]:
        if not edits:
            return []
        one, other = (annotator.parse(" ".join(words)) for words in (source, corrected))
        return [annotator.import_edit(one, other, list(edit), min=False).type for edit in edits]

    return classify
