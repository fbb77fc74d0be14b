"""Lines of coded tokens as they are spelt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.similarity import WordTable
    from softbleu.tokens import Tokens

_ANY = "surrogatepass"  # Characters that are none, as they stand in broken text, are kept as they are


@dataclass(frozen=True)
class SpeltWords:
    """How words are spelt: their bytes, and where each begins."""

    def of(self, words: Sequence[str]) -> Mapping[str, NDArray[Any]]:
        """Bytes of all words in UTF-8, and their bounds."""
        parts = [word.encode(errors=_ANY) for word in words]
        bounds = np.cumsum([0, *map(len, parts)])
        return {"bytes": np.frombuffer(b"".join(parts), np.uint8), "bytes_bounds": bounds}


def spelt_lines(tokens: Tokens, words: WordTable) -> list[list[str]]:
    """Tokens of lines as they are spelt."""
    codes, places = np.unique(tokens.codes, return_inverse=True)
    text, bounds = words.feature("bytes"), words.feature("bytes_bounds")
    known = [text[bounds[code] : bounds[code + 1]].tobytes().decode(errors=_ANY) for code in codes.tolist()]
    spelt = [known[place] for place in places.tolist()]
    return [spelt[start:end] for start, end in pairwise(tokens.offsets.tolist())]
