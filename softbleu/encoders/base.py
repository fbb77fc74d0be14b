"""The interface of encoders, which split lines into pieces and compute a vector in context for each piece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from softbleu.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Pieces:
    """The pieces of several lines, concatenated."""

    ids: NDArray[np.int32]
    """Numbers in the encoder's vocabulary, including boundary pieces ([CLS], <s>) of each line: (pieces,)."""
    words: NDArray[np.int32]
    """Number of each piece's word in its line; -1 for boundary pieces: (pieces,)."""
    offsets: NDArray[np.int64]  # Start of each line, and the end: (lines + 1,)

    def chosen(self, lines: Sequence[int]) -> Pieces:
        """Select lines by number, in the order given."""
        bounds = [(int(self.offsets[line]), int(self.offsets[line + 1])) for line in lines]
        places = np.concatenate([np.arange(0), *(np.arange(*bound) for bound in bounds)])
        offsets = np.cumsum([0, *(end - start for start, end in bounds)])
        return Pieces(self.ids[places], self.words[places], offsets)


class Encoder(Protocol):
    """Interface of encoders: from lines of text to hidden states of their pieces."""

    name: str  # Name as given by the user
    dimension: int  # Length of a hidden state
    depth: int  # Number of layers
    vocabulary: int  # Number of different pieces
    layers: tuple[int, ...]  # Recommended layers, ascending, which are averaged
    threshold: float | None  # Recommended threshold for matching, if any
    quantiles: Mapping[str, float]
    """Quantiles, such as p99.9, of the cosines of random pairs of words in context; empty if not measured."""

    @property
    def fingerprint(self) -> str:
        """Hex SHA-256 of all data that the hidden states depend on."""

    def tokenize(self, lines: Sequence[Sequence[str]]) -> Pieces:
        """Split lines, which are sequences of words, into pieces.

        Words are joined by one space. A piece belongs to the word in which it starts; a word may have no piece.
        """

    def encode(self, pieces: Pieces, layers: tuple[int, ...]) -> NDArray[np.float32]:
        """Compute the hidden state of each piece at a layer (0: the embeddings), or the mean direction of several.

        States of several layers are divided by their lengths before they are averaged. The result has shape (pieces,
        dimension) and is not normalised. Results of a line do not depend on other lines.
        """


def check_layers(layers: Sequence[int], depth: int, name: str) -> tuple[int, ...]:
    """Check and sort the numbers of layers.

    >>> check_layers([6, 4], 6, "minilm-l6")
    (4, 6)
    >>> check_layers([7], 6, "minilm-l6")
    Traceback (most recent call last):
    softbleu.errors.InputError: minilm-l6: no layer 7: give different ones from 0 (embeddings) to 6
    """
    wrong = [layer for layer in layers if not 0 <= layer <= depth or list(layers).count(layer) > 1]
    if wrong or not layers:
        fault = f"no layer {wrong[0]}" if wrong else "no layer is named"
        raise InputError(f"{name}: {fault}: give different ones from 0 (embeddings) to {depth}")
    return tuple(sorted(layers))


def parse_layers(text: str) -> tuple[int, ...]:
    """Parse numbers of layers, and sort them.

    >>> parse_layers("6, 4")
    (4, 6)
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) < 4 for part in parts) or len({*parts}) < len(parts):
        raise InputError(f"layers are different whole numbers from 0, such as 4,6, not {text[:40]!r}")
    return tuple(sorted(map(int, parts)))


def default_layers(depth: int) -> tuple[int, ...]:
    """Choose the layer at three quarters of the depth.

    >>> default_layers(12), default_layers(6), default_layers(1)
    ((9,), (5,), (1,))
    """
    return (-(-3 * depth // 4),)
