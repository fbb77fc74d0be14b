"""What METEOR asks of single words, each once for all the words of a corpus: stems, synonyms, function words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.thesaurus.resources import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.thesaurus.resources import MeteorData

_WORDS = """
    's 't a about after all also an and are as at be been but by can could first for from had has have he her his i if
    in into is it its last more new no not of on one or other out over people s said she so some than that the their
    there they this time to two up was we were what when which who will with would year years you
    , . " ' ’ ” “ : ? $ ( ) - -- — -lrb- -rrb-
"""
METEOR_FUNCTION_WORDS = frozenset(_WORDS.split())  # In any case; what METEOR 1.5 was seen to take for such


@dataclass(frozen=True)
class MeteorWords:
    """Features of words: `meteor_word`, `meteor_function`, `meteor_stem`, `meteor_synsets`, `meteor_phrase_word`."""

    stages: tuple[str, ...]
    data: MeteorData | None
    lowercase: bool = False  # Whether words are looked up in lower case, not as they are written

    def of(self, words: Sequence[str]) -> Mapping[str, NDArray[Any]]:
        """Compute the features of these words."""
        words = [word.lower() for word in words] if self.lowercase else words
        found: dict[str, NDArray[Any]] = {
            "meteor_function": np.array([w.lower() in METEOR_FUNCTION_WORDS for w in words], bool)
        }
        found["meteor_word"] = np.array([code(word) for word in words], np.int64)
        if "stem" in self.stages:
            found["meteor_stem"] = np.array([code(stem(word)) for word in words], np.int64)
        if self.data is None:
            return found
        tables = self.data.open()
        if "synonym" in self.stages:
            parts = tables.synsets(words)
            found["meteor_synsets"] = np.concatenate([np.zeros(0, np.int64), *parts])
            found["meteor_synsets_bounds"] = np.cumsum([0, *map(len, parts)])
        if "paraphrase" in self.stages:
            found["meteor_phrase_word"] = tables.word_numbers(words)
        return found


def code(word: str) -> int:
    """Hash of a word as Java has it: to the program words, and stems, of equal hashes are equal, such as d' and be.

    >>> code("d'") == code("be"), code("cat") == code("act")
    (True, False)
    """
    found = 0
    units = word.encode("utf-16-le", "surrogatepass")
    for low, high in zip(units[::2], units[1::2], strict=True):
        found = (31 * found + low + 256 * high) & 0xFFFFFFFF
    return found
