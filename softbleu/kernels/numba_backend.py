"""The backend compiled by numba (``pip install 'softbleu[fast]'``): worth their start-up on large input."""

from __future__ import annotations

from typing import Final

from softbleu.kernels.numba_matching import multiply_pairs as multiply_pairs
from softbleu.kernels.numba_matching import sum_matches as sum_matches
from softbleu.kernels.numba_ngrams import clipped_counts as clipped_counts
from softbleu.kernels.numba_soft import matched_weights as matched_weights
from softbleu.kernels.numba_soft import raise_to_spellings as raise_to_spellings
from softbleu.kernels.numba_sweep import sweep_greedily as sweep_greedily
from softbleu.kernels.numba_words import CompiledCoder

NAME: Final = "numba"
PAIRS_AT_ONCE: Final = 1 << 16
coder: Final = CompiledCoder
