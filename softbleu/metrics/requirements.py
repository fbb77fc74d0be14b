"""Requirements: the inputs that a metric must have, and the errors where one is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from softbleu.errors import InputError, Parameter

if TYPE_CHECKING:
    from softbleu.metrics.chinese import Merging
    from softbleu.text.parts import WordFeature

_Given = TypeVar("_Given")


@dataclass(frozen=True)
class Requirements:
    """Inputs that a metric must have."""

    references: bool = True
    source: bool = False  # The uncorrected text
    gold: bool = False  # The edits of a gold file, not only the references that they make
    edits: bool = False  # Edits of candidates and references: given, or else found in the texts
    language: str | None = None  # Code of that by whose rules edits are found; None: English
    merging: Merging | None = None  # How steps are merged into edits in that language, if there are several ways
    vectors: bool = False  # Of words, whose similarity is looked at
    pieces: bool = False  # Vectors of the pieces that an encoder cuts lines into, in context
    weights: bool = False  # Weights of words by a map of vectors, if one is given
    frequency: bool = False  # How frequent words are among the references' tokens
    idf: object = None  # Source of the rarity of words (or pieces): `references`, or another text
    words: bool = True  # Tokens of whole outputs are words, so that a language chooses the tokenizer
    parts: tuple[str | WordFeature, ...] = ()  # Names of `softbleu.text.parts.WORD_PARTS`, and other properties
    context: int = 0  # Lines before each line, in its document
    delays: bool = False  # When each word was given, from a log
    written: bool = False  # Lines as they are written, beside their tokens

    @property
    def table(self) -> bool:
        """Whether the metric looks at properties of single words."""
        return self.vectors or self.idf is not None or bool(self.parts)

    @property
    def all_words(self) -> bool:
        """Whether it looks at properties that are made of all words of the corpus at once."""
        return self.vectors or self.idf is not None or not all(isinstance(part, str) for part in self.parts)

    @property
    def by_annotator(self) -> bool:
        """Whether the metric looks at each annotator's edits, not at the text of references."""
        return self.gold or self.edits

    def __or__(self, other: Requirements) -> Requirements:
        """Combine the inputs of two metrics, field by field."""
        pairs = {part.name: (getattr(self, part.name), getattr(other, part.name)) for part in fields(self)}
        return Requirements(**{name: _together(*pair) for name, pair in pairs.items()})


_LACKING: Mapping[str, tuple[str | Parameter, ...]] = {
    "gold": ("gold edits, a .m2 file: give ", Parameter("gold", python="gold=read_m2(…)")),
    "references": ("references: name them with ", Parameter("references", python="references=[…]")),
    "source": (
        "the source text: name it with ",
        Parameter("source", python="source=[…]"),
        ", or a file of edits with ",
        Parameter("gold"),
        " (in files of pairs: a 'source' column or key)",
    ),
    "edits": ("the source, and gold edits or references",),
    "delays": ("delays of words: name logs with ", Parameter("log", python="softbleu.read_logs(…)")),
    "words": ("a table of words, with the vectors and features that it looks at",),
}


def lacking(metric: str, what: str) -> InputError:
    """Make the error of a metric without an input that it needs, by a name of `_LACKING`."""
    return InputError(f"metric {metric!r} needs ", *_LACKING[what])


def needed(given: _Given | None, metric: str, what: str) -> _Given:
    """Return `given`; raise `lacking(metric, what)` if it is None."""
    if given is None:
        raise lacking(metric, what)
    return given


def _together(one: Any, other: Any) -> Any:
    if isinstance(one, tuple):
        return tuple(dict.fromkeys((*one, *other)))
    if isinstance(one, int):
        return max(one, other)
    # Of texts for idf the references are counted beforehand; others are read when they are looked at. A run finds
    # edits by the rules of one language.
    return other if not one or other == "references" else one
