"""The hot loops: nothing but arrays in and out.

What pays for being compiled has two backends behind one interface, `Kernels`: `numpy` always, `numba` (extra
``fast``) for large input. Both give the same digits; tests run every assertion on both. The rest is written once, in
NumPy, and imported from where it stands, `numpy_backend`.
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
"""One, in millionths: similarities and matches are whole numbers of them, so that sums are exact in any order."""
ZERO_NORM = 1e-12  # Squares of norms up to it count as 0
KernelName = Literal["auto", "numpy", "numba"]
LARGE = 1 << 24  # Bytes of text from which numba's start-up is repaid (measured: docs/reference/performance.md)


class WordCoder(Protocol):
    """Codes the words of texts, the same from text to text."""

    def __len__(self) -> int: ...

    def words(self, start: int = 0) -> list[str]:
        """The words from a code on."""

    def code(self, text: bytes) -> Tokens:
        """Code UTF-8 text whose lines all end with a newline."""


class WordArrays(NamedTuple):
    """Vectors and weights of words that n-grams are compared by; see `softbleu.matching.ngrams.TokenVectors`."""

    rows: NDArray[np.float32]
    norms: Floats
    weights: Floats | None
    self_only: Flags | None


class Intervals(NamedTuple):
    """Matches, and between which of some ascending thresholds each is made; one entry a match in every array."""

    segment: Integers
    row: Integers
    column: Integers
    value: Integers  # Similarity in millionths; more than 1 for an exact match
    first: Integers  # Number of the lowest threshold at which the match is made
    end: Integers  # Number of the first threshold above it at which it is not


class Kernels(Protocol):
    """The loops that both backends offer; `softbleu.kernels.numpy_backend` says what each computes."""

    NAME: KernelName
    PAIRS_AT_ONCE: int  # Pairs of words that are best compared together: few enough for the cache

    @property
    def coder(self) -> Callable[..., WordCoder] | None:
        """Make a coder of words between white space, or of 13a's with `marks`; None: `engine.encode` has one."""

    @property
    def sum_matches(
        self,
    ) -> Callable[[Tokens, Tokens, Integers, WordArrays, Flags, int, int], Integers | None] | None:
        """Sum the matches of similar n-grams (`numba_backend`); None: `softbleu.matching` does, on arrays."""

    @property
    def multiply_pairs(self) -> Callable[..., Floats] | None:
        """Multiply the words of pairs (`numba_backend`); None: `softbleu.matching.ngrams` does, by BLAS."""

    @property
    def sweep_greedily(self) -> Callable[[NDArray[np.int32], Integers, Integers], Intervals]:
        """Match at every threshold; see `softbleu.kernels.numpy_backend`."""

    def clipped_counts(
        self, candidates: Tokens, references: Tokens, segment_offsets: Integers, order: int
    ) -> Integers:
        """Count the candidate n-grams found in the references, clipped: (segments, order)."""

    @property
    def raise_to_spellings(
        self,
    ) -> Callable[[Floats, TokenPairs, NDArray[np.int32], NDArray[np.int32], WordParts, float], None]:
        """Raise the similarity of each pair of words, in place, to that of their spellings."""

    def matched_weights(
        self, similarities: Floats, pairs: TokenPairs, candidate: Floats, reference: Floats, order: int, greedy: float
    ) -> Integers:
        """Weights of matched n-grams, and of all, in millionths: (segments, order, 4)."""


def choose_kernels(name: KernelName = "auto", size: int = 0) -> Kernels:
    """Return the backend of that name; `auto` takes numba for large text (`size` in bytes) where it is installed.

    >>> choose_kernels(size=1000).NAME
    'numpy'
    """
    if name not in ("auto", "numpy", "numba"):
        raise UnknownNameError("kernels", name, ("auto", "numpy", "numba"))
    # Compiled kernels take the first byte of a number for its lowest.
    fits = sys.byteorder == "little"
    if name == "numba" and not fits:
        raise InputError(Parameter("kernels", "numba"), " does not work on this machine (big-endian): leave it out")
    installed = fits and name != "numpy" and find_spec("numba") is not None
    if name == "numba" and not installed:
        raise MissingExtraError("kernels 'numba' need another package: pip install 'softbleu[fast]'")
    numba = name == "numba" or (name == "auto" and installed and size >= LARGE)
    return cast("Kernels", import_module(f"softbleu.kernels.{'numba' if numba else 'numpy'}_backend"))
