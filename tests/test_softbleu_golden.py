"""softbleu on WMT17, segment by segment: its correlation with direct assessment, and that of chrF beside it."""

from __future__ import annotations

import csv
import html

import numpy as np
import pytest
from shared_data import shared

from softbleu import score

CHRF = {"cs-en": 0.513, "de-en": 0.523, "fi-en": 0.669}
"""Correlations of sacrebleu's chrF2 with its defaults, on the same text."""
MEASURED = {
    "none": {"cs-en": 0.565, "de-en": 0.559, "fi-en": 0.723},
    "13a": {"cs-en": 0.570, "de-en": 0.562, "fi-en": 0.722},
}
SEGMENTS = 560


@pytest.mark.parametrize("tokenize", MEASURED)
@pytest.mark.parametrize("pair", CHRF)
def test_correlation_with_direct_assessment(pair: str, tokenize: str) -> None:
    path = shared("data", "wmt17-into-en", f"testset_{pair}.tsv")
    with path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == SEGMENTS
    candidates, references = ([html.unescape(row[name]) for row in rows] for name in ("translation", "reference"))
    result = score(candidates, references, metric="softbleu", tokenize=tokenize, level="segment")
    assert result.segments is not None
    found = [segment.score for segment in result.segments]
    correlation = np.corrcoef(found, [float(row["HUMAN_score"]) for row in rows])[0, 1]
    assert correlation > CHRF[pair]
    assert correlation == pytest.approx(MEASURED[tokenize][pair], abs=0.002)
