"""The interface of encoders: one cuts lines into pieces, and gives each piece a vector that depends on its line."""

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
    """The pieces of some lines, line after line."""

    ids: NDArray[np.int32]
    """Shape (pieces,): numbers in the encoder's vocabulary; boundary pieces ([CLS], <s>) of each line included."""
    words: NDArray[np.int32]
    """Shape (pieces,): number of the word of its line that each belongs to; -1 for boundary pieces."""
    offsets: NDArray[np.int64]  # Shape (lines + 1,): where each line starts, and the end

    def chosen(self, lines: Sequence[int]) -> Pieces:
        """Lines with these numbers, in that order."""
        bounds = [(int(self.offsets[line]), int(self.offsets[line + 1])) for line in lines]
        places = np.concatenate([np.arange(0), *(np.arange(*bound) for bound in bounds)])
        offsets = np.cumsum([0, *(end - start for start, end in bounds)])
        return Pieces(self.ids[places], self.words[places], offsets)


class Encoder(Protocol):
    """Text lines to hidden states of their pieces."""

    name: str  # What was asked for
    dimension: int  # Length of a hidden state
    depth: int  # How many layers there are
    vocabulary: int  # How many different pieces it knows
    layers: tuple[int, ...]  # Recommended layers, ascending, whose mean is taken
    threshold: float | None  # Threshold that is recommended for matching; None if there is none
    quantiles: Mapping[str, float]
    """Quantiles, such as p99.9, of the cosines of random pairs of words in context; empty if not measured."""

    @property
    def fingerprint(self) -> str:
        """Hex SHA-256 of all that the hidden states depend on."""

    def tokenize(self, lines: Sequence[Sequence[str]]) -> Pieces:
        """Cut lines, which are sequences of words, into pieces.

        Words are joined by one space. A piece belongs to the word in which it starts; a word may have none.
        """

    def encode(self, pieces: Pieces, layers: tuple[int, ...]) -> NDArray[np.float32]:
        """Compute the hidden state of each piece at a layer (0: the embeddings), or the mean direction at several.

        Of several layers each state is divided by its length before the mean is taken. The states have shape (pieces,
        dimension) and are not normalised. What a line gets does not depend on the lines beside it.
        """


def check_layers(layers: Sequence[int], depth: int, name: str) -> tuple[int, ...]:
    """Sort the numbers of layers.

    >>> check_layers([6, 4], 6, "minilm-l6")
    (4, 6)
    >>> check_layers([7], 6, "minilm-l6")
    Traceback (most recent call last):
    softbleu.errors.InputError: minilm-l6: no layer 7: give different ones from 0 (embeddings) to 6
    """
    wrong = [layer for layer in layers if not 0 <= layer <= depth or list(layers).count(layer) > 1]
    if wrong or not layers:
        what = f"no layer {wrong[0]}" if wrong else "no layer is named"
        raise InputError(f"{name}: {what}: give different ones from 0 (embeddings) to {depth}")
    return tuple(sorted(layers))


def parse_layers(text: str) -> tuple[int, ...]:
    """Read numbers of layers, ascending.

    >>> parse_layers("6, 4")
    (4, 6)
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) < 4 for part in parts) or len({*parts}) < len(parts):
        raise InputError(f"layers are different whole numbers from 0, such as 4,6, not {text[:40]!r}")
    return tuple(sorted(map(int, parts)))


def default_layers(depth: int) -> tuple[int, ...]:
    """Choose the layer at three quarters of the depth, where nothing better is known.

    >>> default_layers(12), default_layers(6), default_layers(1)
    ((9,), (5,), (1,))
    """
    return (-(-3 * depth // 4),)
