"""The hot loops, on arrays only.

Loops that gain from compilation have two backends behind one interface, `Kernels`: `numpy`, always available, and
`numba` (extra ``fast``) for large input. Both give the same digits; tests run every assertion on both. Other loops
have one implementation in NumPy, in `numpy_backend`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, cast

from softbleu.errors import InputError, MissingExtraError, Parameter, UnknownNameError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from softbleu.text.coded import TokenPairs, Tokens, WordParts
    from softbleu.types import Flags, Floats, Integers


SCALE = 1_000_000
"""One, in millionths: similarities and matches are integers in this unit, so that sums are exact in any order."""
ZERO_NORM = 1e-12  # Squared norms up to this count as 0
KernelName = Literal["auto", "numpy", "numba"]
LARGE = 1 << 24  # Bytes of text from which numba's start-up pays off (measured: docs/reference/performance.md)


class WordCoder(Protocol):
    """Encodes words; equal words get the same code in every text."""

    def __len__(self) -> int: ...

    def words(self, start: int = 0) -> list[str]:
        """Return the words with code `start` and above."""

    def code(self, text: bytes) -> Tokens:
        """Encode UTF-8 text in which every line ends with a newline."""


class WordArrays(NamedTuple):
    """Vectors and weights of words; see `softbleu.matching.ngrams.TokenVectors`."""

    rows: NDArray[np.float32]
    norms: Floats
    weights: Floats | None
    self_only: Flags | None


class Intervals(NamedTuple):
    """Matches, each with the interval of ascending thresholds at which it is made; one entry per match."""

    segment: Integers
    row: Integers
    column: Integers
    value: Integers  # Similarity in millionths; above 1 for an exact match
    first: Integers  # Number of the lowest threshold at which the match is made
    end: Integers  # Number of the first higher threshold at which it is not made


class Kernels(Protocol):
    """Interface of both backends; see `softbleu.kernels.numpy_backend` for the loops."""

    NAME: KernelName
    PAIRS_AT_ONCE: int  # Pairs of words to compare together: few enough for the cache

    @property
    def coder(self) -> Callable[..., WordCoder] | None:
        """Class of coders of words between white space or, with `marks`, of 13a's tokens; None: `engine.encode`."""

    @property
    def sum_matches(
        self,
    ) -> Callable[[Tokens, Tokens, Integers, WordArrays, Flags, int, int], Integers | None] | None:
        """Sum of the matches of similar n-grams (`numba_backend`); None: `softbleu.matching` computes it."""

    @property
    def multiply_pairs(self) -> Callable[..., Floats] | None:
        """Products of pairs of words (`numba_backend`); None: `softbleu.matching.ngrams` computes them."""

    @property
    def sweep_greedily(self) -> Callable[[NDArray[np.int32], Integers, Integers], Intervals]:
        """Matching at every threshold; see `softbleu.kernels.numpy_backend`."""

    def clipped_counts(
        self, candidates: Tokens, references: Tokens, segment_offsets: Integers, order: int
    ) -> Integers:
        """Count the candidate n-grams found in the references, clipped: (segments, order)."""

    @property
    def raise_to_spellings(
        self,
    ) -> Callable[[Floats, TokenPairs, NDArray[np.int32], NDArray[np.int32], WordParts, float], None]:
        """Update of similarities, in place, by spellings; see `softbleu.kernels.numpy_backend`."""

    def matched_weights(
        self, similarities: Floats, pairs: TokenPairs, candidate: Floats, reference: Floats, order: int, greedy: float
    ) -> Integers:
        """Sum the weights of matched n-grams and of all n-grams, in millionths: (segments, order, 4)."""


def choose_kernels(name: KernelName = "auto", size: int = 0) -> Kernels:
    """Return a backend by name; `auto` is numba, if installed, for large text (`size` in bytes), or else NumPy.

    >>> choose_kernels(size=1000).NAME
    'numpy'
    """
    if name not in ("auto", "numpy", "numba"):
        raise UnknownNameError("kernels", name, ("auto", "numpy", "numba"))
    # Compiled kernels need little-endian numbers.
    fits = sys.byteorder == "little"
    if name == "numba" and not fits:
        raise InputError(Parameter("kernels", "numba"), " does not work on this machine (big-endian): leave it out")
    installed = fits and name != "numpy" and find_spec("numba") is not None
    if name == "numba" and not installed:
        raise MissingExtraError("kernels 'numba' need another package: pip install '.[fast]' in a clone")
    numba = name == "numba" or (name == "auto" and installed and size >= LARGE)
    return cast("Kernels", import_module(f"softbleu.kernels.{'numba' if numba else 'numpy'}_backend"))
