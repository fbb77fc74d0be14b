"""The backend in NumPy: always there, best on small and middling input."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from softbleu.kernels.assignment import sweep_greedily as sweep_greedily
from softbleu.kernels.long_texts import clipped_counts_of_long
from softbleu.kernels.numpy_soft import matched_weights as matched_weights
from softbleu.kernels.numpy_soft import raise_to_spellings as raise_to_spellings
from softbleu.kernels.positions import Positions, ngram_ids, reference_counts

if TYPE_CHECKING:
    from softbleu.text.tokens import Tokens
    from softbleu.types import Integers


NAME: Final = "numpy"
PAIRS_AT_ONCE: Final = 1 << 14
# Where there is none of these, the layers above work on whole arrays, or line by line.
coder: Final = None
sum_matches: Final = None
multiply_pairs: Final = None

SEGMENTS_AT_ONCE = 256
LONG = 1 << 20  # Tokens that are not counted at once, but segment by segment, in less memory


def clipped_counts(candidates: Tokens, references: Tokens, segment_offsets: Integers, order: int) -> Integers:
    """Count the candidate n-grams that are found in the references, clipped (Papineni et al. 2002, section 2.1).

    Segment s has the reference lines ``segment_offsets[s]`` to ``segment_offsets[s + 1]``. Returns (segments, order).
    """
    segments = len(candidates.lengths)
    counts = np.zeros((segments, order), np.int64)
    for start in range(0, segments, SEGMENTS_AT_ONCE):
        stop = min(start + SEGMENTS_AT_ONCE, segments)
        lines = segment_offsets[start : stop + 1]
        own, others = candidates.lines(start, stop), references.lines(lines[0], lines[-1])
        if len(own.codes) + len(others.codes) > LONG:
            for segment in range(start, stop):
                text = candidates.lines(segment, segment + 1).codes
                bounds = pairwise(references.offsets[segment_offsets[segment] : segment_offsets[segment + 1] + 1])
                texts = [references.codes[first:end] for first, end in bounds]
                counts[segment] = clipped_counts_of_long(text, texts, order)
            continue
        positions = Positions.of(own.codes, own.lengths, others.codes, others.lengths, np.diff(lines))
        counts[start:stop] = _clipped_counts_of_batch(positions, order)
    return counts


def _clipped_counts_of_batch(positions: Positions, order: int) -> Integers:
    segments, total = len(positions.sizes), len(positions.codes)
    counts = np.zeros((segments, order), np.int64)
    owner = np.repeat(np.arange(segments), positions.sizes)
    for n, (starts, ids) in enumerate(ngram_ids(positions, order, shared=True)):
        cut = int(np.searchsorted(starts, positions.split))
        in_candidate = np.bincount(ids[:cut], minlength=total)
        in_reference = reference_counts(positions, starts[cut:], ids[cut:])
        counts[:, n] = np.bincount(owner, np.minimum(in_candidate, in_reference), segments)
    return counts
