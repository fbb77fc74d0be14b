"""The interface of encoders, which split lines into pieces and compute a vector in context for each piece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from softbleu.errors import InputError, VectorError

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST = 32767  # Greatest integer of a row of states, which are rounded before use
_FARTHEST = 20  # Characters that a tokenizer may have removed between two words


@dataclass(frozen=True)
class Pieces:
    """The pieces of several lines, concatenated."""

    ids: NDArray[np.int32]
    """Numbers in the encoder's vocabulary, including boundary pieces ([CLS], <s>) of each line: (pieces,)."""
    words: NDArray[np.int32]
    """Number of each piece's word in its line; -1 for boundary pieces: (pieces,)."""
    offsets: NDArray[np.int64]  # Start of each line, and the end: (lines + 1,)
    also: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    """Further words of pieces that reach over several: position of the piece, ascending, and number of the word."""

    def __post_init__(self) -> None:
        """Check that the arrays fit together; encoders of other packages make them, too."""
        count, bounds = np.shape(self.ids), np.asarray(self.offsets)
        fit = len(count) == 1 and np.shape(self.words) == count and np.shape(self.also)[1:] == (2,)
        if not fit or bounds.ndim != 1 or [*bounds[:1], *bounds[-1:]] != [0, *count] or (np.diff(bounds) < 0).any():
            shapes = ", ".join(
                f"{name} {np.shape(getattr(self, name))}" for name in ("ids", "words", "offsets", "also")
            )
            raise VectorError(
                f"pieces of lines do not fit together ({shapes}): ids and words have a number a piece, "
                "offsets rise from 0 to the number of pieces, also has two columns"
            )

    def chosen(self, lines: Sequence[int]) -> Pieces:
        """Select lines by number, in the order given."""
        bounds = [(int(self.offsets[line]), int(self.offsets[line + 1])) for line in lines]
        places = np.concatenate([np.arange(0), *(np.arange(*bound) for bound in bounds)])
        offsets = np.cumsum([0, *(end - start for start, end in bounds)])
        return Pieces(self.ids[places], self.words[places], offsets, self.also_at(places))

    def also_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the further words of pieces that are taken from `places`, in this order."""
        if not len(self.also):
            return self.also
        first, end = (np.searchsorted(self.also[:, 0], places, side) for side in ("left", "right"))
        counts = end - first
        owner = np.repeat(np.arange(len(places)), counts)
        rank = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.column_stack((owner, self.also[first[owner] + rank, 1]))


@dataclass(frozen=True)
class PlacedLine:
    """A line as an encoder reads it, and where its words stand in it.

    >>> PlacedLine.of_words(["so", "it"])
    PlacedLine(text='so it', words=('so', 'it'), places=((0, 2), (3, 5)))
    """

    text: str
    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]  # First character and end of each word, ascending

    @classmethod
    def of_words(cls, words: Sequence[str]) -> PlacedLine:
        """Join words by one space."""
        places, start = [], 0
        for word in words:
            places.append((start, start + len(word)))
            start += len(word) + 1
        return cls(" ".join(words), tuple(words), tuple(places))

    @classmethod
    def as_written(cls, text: str, words: Sequence[str]) -> PlacedLine:
        """Find words in a text, in which blanks are made single; join them by one space if one is not found.

        >>> PlacedLine.as_written("so  it's, ", ["so", "it's", ","])
        PlacedLine(text="so it's,", words=('so', "it's", ','), places=((0, 2), (3, 7), (7, 8)))
        >>> PlacedLine.as_written("so &lt; so", ["so", "<", "so"]).text
        'so < so'
        """
        written = " ".join(text.split()) if words else ""
        places, end = [], 0
        for word in words:
            start = written.find(word, end, end + len(word) + _FARTHEST)
            if start < 0 or not word:
                return cls.of_words(words)
            end = start + len(word)
            places.append((start, end))
        return cls(written, tuple(words), tuple(places))


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
        An encoder with a method `cut`, which takes `PlacedLine` values, reads lines as they are written.
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
