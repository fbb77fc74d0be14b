"""Vectors of tokens where they stand: what answers a chunk by the places of its tokens in their lines."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from softbleu.embeddings.measure import unit_rows
from softbleu.encoders.kept import encoded_lines
from softbleu.encoders.pieces import word_rows
from softbleu.matching.similarity import PieceVectors, Relation, UnitVectors, frequency_weights
from softbleu.text.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from softbleu.encoders import Encoder, Pieces
    from softbleu.matching.ngrams import Chunk
    from softbleu.types import Flags, Floats, Integers


@dataclass(frozen=True)
class ContextVectors:
    """Vectors of the tokens of lines, by an encoder that reads each line by itself.

    The encoder reads the tokens of a line with one space between them. A token's vector is the mean of those of its
    pieces, each the mean of the chosen layers' hidden states.
    """

    words: Sequence[str]
    """The surface form of each word."""
    encoder: str | Encoder
    """Its place, or the encoder itself."""
    layers: tuple[int, ...]
    known_words: Flags
    """Words that the encoder makes anything of."""
    equal_is_one: bool
    """Whether equal words are as alike as can be, wherever they stand."""
    self_only: Flags | None = None
    """Words that meet nothing but themselves, whatever their vectors."""
    frequencies: Floats | None = None
    """Share of each word among the references' tokens, for compositions that weigh by it."""

    in_context: ClassVar[bool] = True

    def known(self, tokens: Tokens) -> Flags:
        """Which tokens have a vector."""
        known: Flags = self.known_words[tokens.codes]
        return known

    def unit(self, chunk: Chunk, *, by_frequency: bool) -> tuple[UnitVectors, Integers]:
        """Unit vectors of the tokens of the distinct lines of a chunk, and the row of each position."""
        tokens = Tokens.joined((chunk.candidates, chunk.references))
        numbers, lines = _distinct(tokens)
        pieces, states = self._states(lines)
        rows = word_rows(pieces, states, lines.offsets[:-1], len(lines.codes))
        places = np.arange(len(tokens.codes)) + np.repeat(
            lines.offsets[numbers] - tokens.offsets[:-1], tokens.lengths
        )
        words = lines.codes
        weights = frequency_weights(self.frequencies)[words] if by_frequency else None
        relation = None
        if self.self_only is not None:
            known = self.known_words[words]
            relation = Relation(words.astype(np.int64), 0, known, None, None, self.self_only[words])
        return UnitVectors(rows, words, weights, relation, self.equal_is_one, in_context=True), places

    def pieces(self, tokens: Tokens) -> PieceVectors:
        """Unit vectors of the pieces of lines."""
        numbers, lines = _distinct(tokens)
        pieces, states = self._states(lines)
        chosen = pieces.chosen(numbers.tolist())
        places = pieces.offsets[numbers].repeat(np.diff(chosen.offsets)) + np.arange(len(chosen.ids))
        places -= np.repeat(chosen.offsets[:-1], np.diff(chosen.offsets))
        rows = unit_rows(states)[places]
        return PieceVectors(rows, chosen.ids.astype(np.int64), chosen.words >= 0, chosen.offsets)

    def _states(self, lines: Tokens) -> tuple[Pieces, NDArray[np.float32]]:
        return encoded_lines(self.encoder, self.layers).rows(surface_forms(lines, self.words))


def surface_forms(lines: Tokens, words: Sequence[str]) -> list[list[str]]:
    """Lines as the surface forms of their words."""
    every = [words[code] for code in lines.codes.tolist()]
    bounds = lines.offsets.tolist()
    return [every[start:end] for start, end in pairwise(bounds)]


def _distinct(tokens: Tokens) -> tuple[Integers, Tokens]:
    """Number equal lines alike; return the number of each, and the distinct lines."""
    known: dict[bytes, int] = {}
    bounds = tokens.offsets.tolist()
    numbers = [known.setdefault(tokens.codes[start:end].tobytes(), len(known)) for start, end in pairwise(bounds)]
    found = np.array(numbers, np.int64)
    first = np.unique(found, return_index=True)[1]
    return found, tokens.chosen(first)
