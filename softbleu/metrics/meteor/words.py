"""What METEOR asks of single words, each once for all the words of a corpus: stems, synonyms, function words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.tokens import Vocabulary, WordParts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.metrics.meteor.resources import MeteorData

FUNCTION_WORDS = frozenset(
    """
    the of to and a in that is for on was with be he as it said his by at from have are has i an had not they will
    who were which been their we this but one would or there about when out up you she its after if more all people
    two first last so than can her into other what could some no also time new over years year 's 't s
    , . " -- : ) ( ? - ' $ -lrb- -rrb- ’ ” “ —
    """.split()
)
"""English words, in any case, that METEOR 1.5 was seen to weigh as function words."""
_MASK = "\ue000"
"""Stands for a letter that is none to the stemmer."""


@dataclass(frozen=True)
class MeteorWords:
    """Features of words: `meteor_function`, `meteor_stem`, `meteor_synsets` with bounds, `meteor_phrase_word`.

    Attributes
    ----------
    stages
        Which are looked at.
    data
        Where synonyms and paraphrases are from.
    """

    stages: tuple[str, ...]
    data: MeteorData | None

    def of(self, words: Sequence[str]) -> Mapping[str, NDArray[Any]]:
        """Compute the features of these words."""
        found: dict[str, NDArray[Any]] = {"meteor_function": np.array([w.lower() in FUNCTION_WORDS for w in words], bool)}
        if "stem" in self.stages:
            numbers = Vocabulary()
            found["meteor_stem"] = np.fromiter((numbers[stem(word)] for word in words), np.int64, len(words))
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


@lru_cache(1 << 17)
def stem(word: str) -> str:
    """Stem a word as METEOR 1.5 does, by the Snowball stemmer for English of its day.

    >>> stem("geologists"), stem("geology"), stem("Adding")
    ('geologist', 'geolog', 'Ad')
    """
    # That stemmer did not know the ending -ogist yet.
    if "ogist" in word:
        return _stemmer()(word.replace("ogist", f"ogis{_MASK}")).replace(_MASK, "t")
    return _stemmer()(word)


@lru_cache(1)
def _stemmer() -> Callable[[str], str]:
    from snowballstemmer.english_stemmer import EnglishStemmer

    stemmed: Callable[[str], str] = EnglishStemmer().stemWord
    return stemmed
