"""TER: edits and shifts that make a reference of the candidate, per reference word."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from softbleu.config.declare import setting
from softbleu.metrics.base import Metric, tokenizer_setting
from softbleu.metrics.score import Score, column
from softbleu.metrics.ter.search import fewest_edits
from softbleu.metrics.ter.tokens import TercomTokenizer
from softbleu.text.tokens import Tokenizer

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.similarity import WordTable
    from softbleu.types import Integers

_SHARES = math.lcm(*range(1, 17))  # Of a reference word: the mean length of up to 16 references is whole


@dataclass(frozen=True)
class TerScore(Score):
    """Edits per reference word, in per cent; less is better."""

    edits: int = column("edits", "edits", "count")
    reference_length: float = column("ref. length", "references", "tokens")


@dataclass(frozen=True, repr=False)
class Ter(Metric):
    """Translation edit rate (Snover et al. 2006), by sacrebleu's search for shifts, over the tokens of the tokenizer.

    Of several references the fewest edits count, and their mean length. As sacrebleu does by default, words are those
    between white space, in lower case.

    Parameters
    ----------
    normalized, no_punct, asian_support, case_sensitive
        As sacrebleu has them.

    Examples
    --------
    >>> Ter().score(np.array([1, 4 * _SHARES]))
    TerScore(score=25.0, edits=1, reference_length=4.0)
    """

    normalized: bool = setting(False, "Split punctuation off words, and read entities such as &amp;, as Tercom does")
    no_punct: bool = setting(False, "Leave punctuation out")
    asian_support: bool = setting(
        False, "With normalized: CJK characters are words of their own; with no-punct: leave their punctuation out"
    )
    case_sensitive: bool = setting(False, "Leave capitals as they are, whatever lowercase says")
    tokenizer: Tokenizer = tokenizer_setting("none", lowercase=True)
    name: ClassVar[str] = "ter"
    higher_is_better: ClassVar[bool] = False

    def complete(self) -> None:
        """Take words of the text as settings change it."""
        given = self.tokenizer.tokenize, self.tokenizer.lowercase and not self.case_sensitive
        made = Tokenizer(*given)
        if self.normalized or self.no_punct:
            made = TercomTokenizer(*given, self.normalized, self.no_punct, self.asian_support)
        object.__setattr__(self, "tokenizer", made)

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Fewest edits of each segment, and the mean length of its references: (segments, 2)."""
        texts = (np.split(tokens.codes, tokens.offsets[1:-1]) for tokens in (chunk.candidates, chunk.references))
        candidates, references = ([line.tolist() for line in text] for text in texts)
        rows = []
        for candidate, (start, stop) in zip(candidates, pairwise(chunk.segment_offsets.tolist()), strict=True):
            own = references[start:stop]
            words_in_all = sum(map(len, own))
            edits = min(fewest_edits(candidate, reference) for reference in own)
            rows.append((edits, round(_SHARES * words_in_all / len(own))))
        return np.array(rows, np.int64)

    def score(self, row: Integers) -> TerScore:
        """Score one row of statistics, or a sum of rows."""
        edits, shares = (int(number) for number in row)
        length = shares / _SHARES
        rate = edits / length if shares else float(edits > 0)
        return TerScore(100 * rate, edits, length)
