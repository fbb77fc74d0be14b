"""A segment that is too much work is refused by a line that names what allows it."""

from __future__ import annotations

import pytest

import softbleu
from softbleu import InputError

TEXTS = ["a b c d"], ["b a d x"]
CASES = {
    "softbleu": ("softbleu.metrics.softbleu.MOST_SIMILARITIES", 8, {"vectors": {"a": [1.0], "b": [2.0]}}),
    "meteor": ("softbleu.metrics.meteor.metric._MOST_PAIRS", 8, {"stages": "exact"}),
    "imeasure": ("softbleu.metrics.imeasure.bands._MOST_CELLS", 100, {"source": ["a d x"]}),
}


@pytest.mark.parametrize("metric", CASES)
def test_a_long_segment_is_refused_until_more_is_allowed(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limit, cells, options = CASES[metric]
    monkeypatch.setattr("softbleu.metrics.imeasure.search.MOST_PAIRS", 0)
    whole = softbleu.score(*TEXTS, metric=metric, **options)
    monkeypatch.setattr(limit, cells)
    with pytest.raises(
        InputError, match=rf"^a segment of .* is too long for {metric}: split it, or set SOFTBLEU_LIMITS"
    ):
        softbleu.score(*TEXTS, metric=metric, **options)
    monkeypatch.setenv("SOFTBLEU_LIMITS", "2")
    assert softbleu.score(*TEXTS, metric=metric, **options) == whole


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "x", "9999999", "٣"])
def test_what_allows_more_is_a_number(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTBLEU_LIMITS", text)
    with pytest.raises(InputError, match="SOFTBLEU_LIMITS must be a whole number from 1 to 1000000"):
        softbleu.score(*TEXTS, metric="meteor", stages="exact")
