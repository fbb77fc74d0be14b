"""The backend in plain Python: for a segment or two, where arrays cost more than they save."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from softbleu.kernels.numpy_backend import PAIRS_AT_ONCE as PAIRS_AT_ONCE
from softbleu.kernels.numpy_backend import coder as coder
from softbleu.kernels.numpy_backend import matched_weights as matched_weights
from softbleu.kernels.numpy_backend import multiply_pairs as multiply_pairs
from softbleu.kernels.numpy_backend import raise_to_spellings as raise_to_spellings
from softbleu.kernels.numpy_backend import sum_matches as sum_matches
from softbleu.kernels.numpy_backend import sweep_greedily as sweep_greedily

if TYPE_CHECKING:
    from softbleu.text.tokens import Tokens
    from softbleu.types import Integers

NAME: Final = "numpy"


def clipped_counts(candidates: Tokens, references: Tokens, segment_offsets: Integers, order: int) -> Integers:
    """Do what `softbleu.kernels.numpy_backend.clipped_counts` does, with the same digits."""
    counts = np.zeros((len(candidates.lengths), order), np.int64)
    lines, codes, bounds = candidates.codes.tolist(), references.codes.tolist(), references.offsets.tolist()
    own = candidates.offsets.tolist()
    for segment, (first, last) in enumerate(pairwise(segment_offsets.tolist())):
        words = lines[own[segment] : own[segment + 1]]
        others = [codes[start:stop] for start, stop in pairwise(bounds[first : last + 1])]
        for n in range(1, order + 1):
            found = _ngrams(words, n)
            best: Counter[tuple[int, ...]] = Counter()
            for other in others:
                best |= _ngrams(other, n)
            counts[segment, n - 1] = (found & best).total()
    return counts


def _ngrams(words: list[int], order: int) -> Counter[tuple[int, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))
