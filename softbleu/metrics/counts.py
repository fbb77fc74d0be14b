"""Counts of a candidate's n-grams in candidate, reference and source, and the mass that each received."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.kernels.scale import SCALE
from softbleu.ngrams import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from softbleu.matchers.base import Matcher
    from softbleu.similarity import Vectors
    from softbleu.types import Integers


@dataclass(frozen=True)
class NgramCounts:
    """The distinct n-grams of one order of a chunk's candidates; one entry each in every array."""

    units: Integers  # Segment of the n-gram
    candidate: Integers
    reference: Integers  # Greatest count in one of the segment's references
    source: Integers
    matched: Integers  # How much of it is matched, in millionths, over all its occurrences


def count_ngrams(chunk: Chunk, matcher: Matcher, vectors: Vectors | None, order: int) -> Iterator[NgramCounts]:
    """Count the candidates' n-grams of orders 1…order in candidate, references and source."""
    if chunk.source is None:
        raise InputError(
            "GLEU needs the source text: name it with --source (in --pairs files: a 'source' column or key), "
            "or source=[…]"
        )
    sources = Chunk(chunk.candidates, chunk.source, np.arange(len(chunk) + 1))
    soft = vectors is not None and matcher.needs_vectors(order)
    matched = matcher.matches(chunk, vectors, order) if soft else None
    for n, (ngrams, in_source) in enumerate(zip(chunk.ngrams(order), sources.ngrams(order), strict=True)):
        # Candidate positions are the same in both chunks, so starts align and ids can be told by them.
        first = np.flatnonzero(ngrams.occurrence == 0)
        ids = ngrams.ids[first]
        candidate = np.bincount(ngrams.ids, minlength=chunk.size)[ids]
        reference = ngrams.counts[ids]
        if matched is None:
            total = SCALE * np.minimum(candidate, reference)
        else:
            sums = np.bincount(ngrams.ids, matched[n].matched, chunk.size)
            total = sums[ids].astype(np.int64)
        source = in_source.counts[in_source.ids[first]]
        units = chunk.positions.segment[ngrams.starts[first]]
        yield NgramCounts(units, candidate, reference, source, total)
