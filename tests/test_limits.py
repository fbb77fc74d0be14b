"""A segment that is too much work is refused by a line that names what allows it."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

import softbleu
from softbleu import InputError
from softbleu.limits import Limit

TEXTS = ["a b c d"], ["b a d x"]
CASES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "softbleu": ("softbleu", 8, {"vectors": {"a": [1.0], "b": [2.0]}}),
    "meteor": ("meteor.metric", 8, {"stages": "exact"}),
    "imeasure": ("imeasure.bands", 100, {"source": ["a d x"]}),
}


@pytest.mark.parametrize("metric", CASES)
def test_a_long_segment_is_refused_until_more_is_allowed(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, most, options = CASES[metric]
    limit = import_module(f"softbleu.metrics.{module}")._LIMIT
    monkeypatch.setattr("softbleu.metrics.imeasure.search.MOST_PAIRS", 0)
    whole = softbleu.score(*TEXTS, metric=metric, **options)
    monkeypatch.setattr(f"softbleu.metrics.{module}._LIMIT", replace(limit, most=most))
    line = rf"^a segment of .*4 .*words.* is too much for {metric} \(\d+ {limit.counted}, {most} are allowed\): split"
    with pytest.raises(InputError, match=rf"{line} it, or allow more by --limits 2 \(or SOFTBLEU_LIMITS=2\)$"):
        softbleu.score(*TEXTS, metric=metric, **options)
    monkeypatch.setenv("SOFTBLEU_LIMITS", "2")
    assert softbleu.score(*TEXTS, metric=metric, **options) == whole


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "x", "9999999", "٣"])
def test_what_allows_more_is_a_number(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTBLEU_LIMITS", text)
    monkeypatch.setattr("softbleu.metrics.meteor.metric._LIMIT", Limit("meteor", "pairs of words", 8))
    with pytest.raises(InputError, match="SOFTBLEU_LIMITS must be a whole number from 1 to 1000000"):
        softbleu.score(*TEXTS, metric="meteor", stages="exact")
