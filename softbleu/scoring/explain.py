"""Which candidate n-gram met which reference n-gram, and how alike they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.corpora.segments import Segments
from softbleu.errors import InputError
from softbleu.kernels.scale import SCALE
from softbleu.ngrams import Chunk
from softbleu.scoring.run import NO_VECTORS, prepare_vectors
from softbleu.tokens import Vocabulary

if TYPE_CHECKING:
    from softbleu.matchers import Matcher, Matches
    from softbleu.scoring.run import Corpus
    from softbleu.scoring.vectors import VectorChoice
    from softbleu.similarity import TokenVectors
    from softbleu.tokens import Tokenizer


@dataclass(frozen=True)
class NgramMatch:
    """A candidate n-gram and what it met; without a partner, `similarity` is 0 and `reference` None."""

    order: int
    candidate_start: int
    """Token of the candidate at which the n-gram starts, from 0."""
    candidate: tuple[str, ...]
    reference: tuple[str, ...] | None
    reference_number: int | None
    """Which reference of the segment the partner first appears in, from 0."""
    reference_start: int | None
    """Token of that reference at which the partner starts, from 0."""
    similarity: float
    exact: bool


@dataclass(frozen=True)
class Explanation:
    """All matches of one segment of one system."""

    system: str
    segment: int
    """From 1."""
    candidate: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    matches: tuple[NgramMatch, ...]


def explain_corpus(
    corpus: Corpus,
    matcher: Matcher,
    order: int,
    tokenizer: Tokenizer,
    vectors: VectorChoice | None,
    segments: Sequence[int],
) -> list[Explanation]:
    """Explain the matches of chosen segments (numbered from 1) of every system.

    Raises
    ------
    InputError
        A number beyond the corpus.
    """
    soft = matcher.needs_vectors(order)
    if soft and vectors is None:
        raise InputError(NO_VECTORS)
    chosen = _pick(corpus, segments)
    prepared = None
    if soft and vectors is not None:
        frequencies = matcher.needs_frequencies(order)
        # Frequencies are those of the whole corpus.
        prepared = prepare_vectors(corpus if frequencies else chosen, tokenizer, vectors, frequencies=frequencies)
    vocabulary = prepared.vocabulary if prepared else Vocabulary()
    token_vectors = prepared.vectors if prepared else None
    explained = []
    for number, (segment, references) in enumerate(zip(segments, chosen.references, strict=True)):
        split = [tokenizer.split(text) for text in references]
        for system, texts in chosen.candidates.items():
            candidate = tokenizer.split(texts[number])
            matches = _explain(matcher, order, candidate, split, vocabulary, token_vectors)
            explained.append(Explanation(system, segment, tuple(candidate), tuple(map(tuple, split)), tuple(matches)))
    return explained


def _pick(corpus: Corpus, numbers: Sequence[int]) -> Segments:
    for number in numbers:
        if not 1 <= number <= len(corpus):
            raise InputError(f"no segment {number}: the corpus has segments 1 to {len(corpus)}")
    candidates: dict[str, list[str]] = {system: [""] * len(numbers) for system in corpus.systems}
    references: list[Sequence[str]] = [()] * len(numbers)
    start = 0
    for block in corpus.blocks():
        wanted = [(place, n - 1 - start) for place, n in enumerate(numbers) if start < n <= start + len(block)]
        start += len(block)
        if not wanted:
            continue
        loaded = block.load()
        for place, line in wanted:
            references[place] = loaded.references[line]
            for system, texts in loaded.candidates.items():
                candidates[system][place] = texts[line]
    return Segments(candidates, references)


def _explain(
    matcher: Matcher,
    order: int,
    candidate: list[str],
    references: list[list[str]],
    vocabulary: Vocabulary,
    vectors: TokenVectors | None,
) -> Iterator[NgramMatch]:
    chunk = Chunk(
        vocabulary.encode([candidate]),
        vocabulary.encode(references),
        np.array([0, len(references)], np.int64),
    )
    words = [word for text in (candidate, *references) for word in text]
    places = [(number, start) for number, text in enumerate(references) for start in range(len(text))]
    for n, matches in enumerate(matcher.matches(chunk, vectors, order), start=1):
        for start, mass, partner, partner_order in _rows(matches):
            ngram = tuple(words[start : start + n])
            found = tuple(words[partner : partner + partner_order]) if partner >= 0 else None
            number, place = places[partner - len(candidate)] if partner >= 0 else (None, None)
            yield NgramMatch(n, start, ngram, found, number, place, mass / SCALE, ngram == found)


def _rows(matches: Matches) -> Iterator[tuple[int, ...]]:
    return zip(
        matches.starts.tolist(),
        matches.matched.tolist(),
        matches.partner_starts.tolist(),
        matches.partner_orders.tolist(),
        strict=True,
    )
