"""Vectors of tokens where they stand, by an encoder that reads their lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.vectors import unit_rows
from softbleu.encoders.base import PlacedLine
from softbleu.encoders.opened import encoded_lines
from softbleu.encoders.pieces import word_rows
from softbleu.matching.ngrams import Chunk, DeviceTokens, PieceVectors, UnitVectors, Vectors, frequency_weights
from softbleu.text.coded import Tokens, chosen_places, lines_before, written_before, written_lines

if TYPE_CHECKING:
    from softbleu.embeddings.maps import VectorMap
    from softbleu.encoders import Encoder, Pieces
    from softbleu.encoders.device import Device
    from softbleu.encoders.torch_rows import DeviceRows
    from softbleu.types import Flags, Floats, Integers

    States = NDArray[np.float32] | DeviceRows

TextBefore = tuple[tuple[int, ...], ...]  # Codes of the words of some lines


@dataclass(frozen=True)
class ContextVectors(Vectors):
    """Vectors of the tokens of lines, by an encoder that reads each line alone, or after the lines before.

    The encoder reads a line as it is written, or its tokens with one space between them. A token shares
    characters with one or more pieces; its vector is the mean of their hidden states over the chosen layers.
    """

    words: Sequence[str]  # The surface form of each word
    encoder: str | Encoder  # Its place, or the encoder itself
    layers: tuple[int, ...]
    known_words: Flags  # Words that the encoder makes anything of
    equal_is_one: bool  # Whether equal words are as alike as can be, wherever they stand
    self_only: Flags | None = None  # Words that meet nothing but themselves, whatever their vectors
    frequencies: Floats | None = None
    """Share of each word among the references' tokens, for compositions that weigh by it."""
    lines: int = 0  # How many lines before each, of its document, the encoder reads
    map: VectorMap | None = None  # Under which vectors are compared
    as_written: bool = False  # Whether lines are read as they are written, or as their tokens
    device: Device | None = None  # Where lines are encoded and compared; None: in NumPy

    in_context: ClassVar[bool] = True

    def known(self, tokens: Tokens) -> Flags:
        """Tell which tokens have a vector."""
        return self.known_words[tokens.codes]

    def unit(self, chunk: Chunk, *, by_frequency: bool) -> tuple[UnitVectors, Integers]:
        """Unit vectors of the tokens of the distinct lines of a chunk, and the row of each position."""
        tokens = Tokens.joined((chunk.candidates, chunk.references))
        numbers, lines, pieces, states = self._encoded(tokens)
        starts, count = lines.offsets[:-1], len(lines.codes)
        places, _ = chosen_places(lines.offsets, numbers)
        words = lines.codes
        weights = frequency_weights(self.frequencies)[words] if by_frequency else None
        self_only = None if self.self_only is None else self.self_only[words]
        if not isinstance(states, np.ndarray):
            found = states.of_words(pieces, starts, count)
            none, one = np.zeros((count, 0)), self.equal_is_one
            return DeviceTokens(none, words, weights, self_only, equal_is_one=one, source=found), places
        rows = word_rows(pieces, states, starts, count)
        return UnitVectors(rows, words, weights, self_only, equal_is_one=self.equal_is_one), places

    def pieces(self, tokens: Tokens) -> PieceVectors:
        """Unit vectors of the pieces of lines."""
        numbers, _, pieces, states = self._encoded(tokens)
        return self._chosen(numbers, pieces, states)

    def pieces_of(self, lines: Sequence[Sequence[str]]) -> PieceVectors:
        """Unit vectors of the pieces of lines that are given as words; the corpus need not have them."""
        known: dict[tuple[str, ...], int] = {}
        numbers = np.array([known.setdefault(tuple(line), len(known)) for line in lines], np.int64)
        lines_of_words = [PlacedLine.of_words(line) for line in known]
        rows = encoded_lines(self.encoder, self.layers, self.device).rows(lines_of_words)
        return self._chosen(numbers, *self._mapped(*rows))

    def weigh(self, pieces: PieceVectors) -> PieceVectors:
        """Give pieces the weights of the map."""
        return pieces if self.map is None else replace(pieces, weights=self.map.weights(pieces.rows))

    def _mapped(self, pieces: Pieces, states: States) -> tuple[Pieces, States]:
        """Return pieces, and their states under the map if one is given."""
        if self.map is None:
            return pieces, states
        if isinstance(states, np.ndarray):
            return pieces, self.map.of_lines(states, pieces.offsets)
        return pieces, states.mapped(self.map.matrix)

    def _chosen(self, numbers: Integers, pieces: Pieces, states: States) -> PieceVectors:
        """Vectors of the lines with these numbers, in that order."""
        places, offsets = chosen_places(pieces.offsets, numbers)
        ids, words = (part[places].astype(np.int64) for part in (pieces.ids, pieces.words))
        rows = unit_rows(states)[places] if isinstance(states, np.ndarray) else states.unit().chosen(places)
        return PieceVectors(rows, ids, words, offsets)

    def means_of(self, lines: Sequence[Sequence[str]]) -> Floats:
        """Mean of the hidden states of all pieces of each distinct line, as words: (lines, dimension)."""
        return encoded_lines(self.encoder, self.layers, self.device).means(lines)

    def _encoded(self, tokens: Tokens) -> tuple[Integers, Tokens, Pieces, States]:
        """Encode distinct lines: the number of each line, and the lines, their pieces and these pieces' states."""
        before = lines_before(tokens, self.lines)
        texts: Sequence[str | None] = [None] * len(before)
        earlier_texts: Sequence[Sequence[str | None]] = [[None] * len(lines) for lines in before]
        if self.as_written:
            texts, earlier_texts = written_lines(tokens), written_before(tokens, self.lines)
        numbers, first = _distinct(tokens, before, list(zip(texts, map(tuple, earlier_texts), strict=True)))
        lines = tokens.chosen(first)
        placed = [
            self._placed(line, texts[place]) for line, place in zip(lines.by_line(), first.tolist(), strict=True)
        ]
        earlier = [
            [self._placed(*pair) for pair in zip(before[place], earlier_texts[place], strict=True)]
            for place in first.tolist()
        ]
        encoded = encoded_lines(self.encoder, self.layers, self.device)
        rows = encoded.rows(placed, earlier if any(earlier) else ())
        return numbers, lines, *self._mapped(*rows)

    def _placed(self, line: Sequence[int], text: str | None) -> PlacedLine:
        words = [self.words[code] for code in line]
        return PlacedLine.of_words(words) if text is None else PlacedLine.as_written(text, words)


def _distinct(tokens: Tokens, before: Sequence[TextBefore], texts: Sequence[object]) -> tuple[Integers, Integers]:
    """Number lines by content, including lines before them: the number of each line, and the first lines."""
    known: dict[object, int] = {}
    lines = zip(pairwise(tokens.offsets.tolist()), before, texts, strict=True)
    numbers = [
        known.setdefault((tokens.codes[slice(*ends)].tobytes(), earlier, text), len(known))
        for ends, earlier, text in lines
    ]
    distinct = np.array(numbers, np.int64)
    return distinct, np.unique(distinct, return_index=True)[1]
