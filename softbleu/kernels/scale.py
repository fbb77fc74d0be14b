"""Millionths: similarities and matches are whole numbers of them, so that sums are exact in any order."""

from __future__ import annotations

SCALE = 1_000_000  # One, in millionths
ZERO_NORM = 1e-12  # Squares of norms up to it count as 0
