"""Panels of the help, under which options stand together."""

from __future__ import annotations

INPUT = "Input"
MATCHING = "Matching"
METRIC = "Score"
OUTPUT = "Output"
GLEU = "GLEU"
SOFTBLEU = "softbleu"
M2 = "M2"
TEST = "Significance"
