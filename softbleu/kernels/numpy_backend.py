"""The backend in NumPy: always there, best on small and middling input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from softbleu.kernels.assignment import sweep_greedily as sweep_greedily
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
SHORT = 1 << 9  # Tokens of one segment up to which arrays cost more than they save
LONG = 1 << 20  # Tokens that are not counted at once, but segment by segment, in less memory
# Entries of a table of all n-grams that there may be, at most, and for each that there is; else these are sorted.
_TABLE, _ENTRIES = 1 << 26, 8


def clipped_counts(candidates: Tokens, references: Tokens, segment_offsets: Integers, order: int) -> Integers:
    """Count the candidate n-grams that are found in the references, clipped (Papineni et al. 2002, section 2.1).

    Segment s has the reference lines ``segment_offsets[s]`` to ``segment_offsets[s + 1]``. Returns (segments, order).
    """
    segments = len(candidates.lengths)
    counts = np.zeros((segments, order), np.int64)
    if segments == 1 and len(candidates.codes) + len(references.codes) < SHORT:
        counts[0] = clipped_counts_of_short(candidates.codes.tolist(), references, order)
        return counts
    for start in range(0, segments, SEGMENTS_AT_ONCE):
        stop = min(start + SEGMENTS_AT_ONCE, segments)
        lines = segment_offsets[start : stop + 1]
        ours, others = candidates.lines(start, stop), references.lines(lines[0], lines[-1])
        if len(ours.codes) + len(others.codes) > LONG:
            for segment in range(start, stop):
                text = candidates.lines(segment, segment + 1).codes
                bounds = pairwise(references.offsets[segment_offsets[segment] : segment_offsets[segment + 1] + 1])
                texts = [references.codes[first:end] for first, end in bounds]
                counts[segment] = clipped_counts_of_long(text, texts, order)
            continue
        positions = Positions.of(ours.codes, ours.lengths, others.codes, others.lengths, np.diff(lines))
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


def clipped_counts_of_short(candidate: list[int], references: Tokens, order: int) -> list[int]:
    """Count the n-grams of one short candidate that are in its references, clipped, of each order.

    >>> from softbleu.text.tokens import Tokens
    >>> clipped_counts_of_short([1, 1, 2, 1], Tokens(np.array([1, 2, 1, 2]), np.array([0, 4])), 3)
    [3, 2, 1]
    """
    codes = references.codes.tolist()
    texts = [codes[start:stop] for start, stop in pairwise(references.offsets.tolist())]
    counts = []
    for n in range(1, order + 1):
        greatest: Counter[tuple[int, ...]] = Counter()
        for text in texts:
            greatest |= Counter(zip(*(text[start:] for start in range(n)), strict=False))
        counts.append((Counter(zip(*(candidate[start:] for start in range(n)), strict=False)) & greatest).total())
    return counts


def clipped_counts_of_long(
    candidate: NDArray[np.int32], references: Sequence[NDArray[np.int32]], order: int
) -> list[int]:
    """Count the n-grams of a candidate that are found in its references, clipped, of each order.

    The digits are those of `softbleu.kernels.numpy_backend.clipped_counts`. N-grams that the candidate lacks are
    forgotten at once.

    >>> clipped_counts_of_long(np.array([1, 1, 2, 1], np.int32), [np.array([1, 2, 1, 2], np.int32)], 3)
    [3, 2, 1]
    """
    texts = [candidate, *references]
    numbers: list[NDArray[Any]] = _numbered(texts, 1 + max(int(text.max(initial=0)) for text in texts))
    # Beyond the end of a text nothing is known.
    words = [np.append(text, np.int32(-1)) for text in numbers]
    width = 1 + int(numbers[0].max(initial=0))
    starts = [np.arange(len(text), dtype=np.int32) for text in texts]
    counts = []
    for n in range(1, order + 1):
        if n > 1:
            bound = (1 + int(numbers[0].max(initial=0))) * width
            for place, text in enumerate(words):
                last = text[starts[place] + (n - 1)]
                starts[place], numbers[place], last = _known(last >= 0, starts[place], numbers[place], last)
                numbers[place] = numbers[place].astype(np.int64)
                numbers[place] *= width
                numbers[place] += last
            numbers = _numbered(numbers, bound)
        for place, number in enumerate(numbers):
            starts[place], numbers[place] = _known(number >= 0, starts[place], number)
        counted = np.bincount(numbers[0])
        best = np.zeros(len(counted), np.int64)
        for number in numbers[1:]:
            np.maximum(best, np.bincount(number, minlength=len(counted)), out=best)
        counts.append(int(np.minimum(counted, best).sum()))
    return counts


def _known(known: NDArray[np.bool_], *arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    return arrays if known.all() else tuple(array[known] for array in arrays)


def _numbered(keys: Sequence[NDArray[Any]], bound: int) -> list[NDArray[Any]]:
    """Number the keys, all below a bound, that the first text has; -1 stands for others."""
    if bound > min(_TABLE, _ENTRIES * sum(map(len, keys))):
        distinct, numbered = np.unique(np.concatenate(keys), return_inverse=True)
        keys, bound = np.split(numbered, np.cumsum([len(key) for key in keys])[:-1]), len(distinct)
    there = np.zeros(bound, bool)
    there[keys[0]] = True
    table = np.cumsum(there, dtype=np.int32)
    table[~there] = 0
    table -= 1
    return [table[key] for key in keys]
