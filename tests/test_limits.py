"""What is too much work is refused by a line that names what allows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import softbleu
from softbleu import InputError
from softbleu.analysis.pages import make_page
from softbleu.corpora import Segments
from softbleu.limits import Limit

TEXTS, SOURCE = (["a b c d"], ["b a d x"]), ["a d x y"]
VECTORS = {"a": [1.0, 0.0], "b": [0.5, 0.5], "c": [0.0, 1.0]}


def scored(metric: str, **options: Any) -> Callable[[], object]:
    return lambda: softbleu.score(*TEXTS, metric=metric, **options)


CASES: dict[str, tuple[str, int, Callable[[], object]]] = {
    "softbleu": ("metrics.softbleu._LIMIT", 8, scored("softbleu", vectors=VECTORS)),
    "meteor": ("metrics.meteor.metric._LIMIT", 8, scored("meteor", stages="exact")),
    "imeasure": ("metrics.imeasure.bands._LIMIT", 100, scored("imeasure", source=SOURCE)),
    "ter": ("metrics.ter.search._LIMIT", 1, scored("ter")),
    "words, vleu": ("matchers.soft.MATCHED_WORDS", 7, scored("vleu", vectors=VECTORS)),
    "n-grams, vleu": ("matchers.long._LIMIT", 8, scored("vleu", vectors=VECTORS)),
    "words, gleu over vleu": (
        "matchers.soft.MATCHED_WORDS",
        7,
        scored("gleu", matcher="vleu", vectors=VECTORS, source=SOURCE),
    ),
    "gleu": ("metrics.gleu._LIMIT", 11, scored("gleu", source=SOURCE)),
    "green": ("metrics.green._LIMIT", 11, scored("green", source=SOURCE)),
    "hyter": ("metrics.hyter._LIMIT", 15, scored("hyter")),
    "hyter, other orders": ("metrics.hyter._LIMIT", 31, scored("hyter", window=2)),
    "netbleu": ("networks.pools._LIMIT", 3, scored("netbleu")),
    "netgleu": ("networks.pools._LIMIT", 3, scored("netgleu", source=SOURCE)),
    "refless": ("metrics.refless.metric._LIMIT", 7, lambda: softbleu.score(TEXTS[0], None, SOURCE, metric="refless")),
    "explain": ("scoring.explain._LIMIT", 7, lambda: softbleu.explain(*TEXTS)),
    "page": ("analysis.page_matches._LIMIT", 7, lambda: make_page(Segments.of(*TEXTS)).results),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_too_much_is_refused_until_more_is_allowed(
    case: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place, most, work = CASES[case]
    module, name = f"softbleu.{place}".rsplit(".", 1)
    limit = getattr(import_module(module), name)
    # What is kept of an encoder would not be encoded again.
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path))
    monkeypatch.setattr("softbleu.metrics.imeasure.search.MOST_PAIRS", 0)
    monkeypatch.setattr("softbleu.metrics.ter.search._LONG", 1)
    if module.endswith(".long"):
        monkeypatch.setattr("softbleu.matchers.batches.LONG_CELLS", 1)
    monkeypatch.setattr(f"{module}.{name}", replace(limit, most=most))
    counted = rf"\([\d,]+ {limit.counted}, {most} are allowed\)"
    remedy = rf"{limit.remedy}, or allow more by --limits (\d+) \(or SOFTBLEU_LIMITS=\1\)"
    with pytest.raises(InputError, match=rf"^[^\n]+ is too much for {limit.user} {counted}: {remedy}$"):
        work()
    monkeypatch.setenv("SOFTBLEU_LIMITS", "10000")
    allowed = work()
    monkeypatch.setattr(f"{module}.{name}", limit)
    assert allowed == work()


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "x", "9999999", "٣"])
def test_what_allows_more_is_a_number(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTBLEU_LIMITS", text)
    monkeypatch.setattr("softbleu.metrics.meteor.metric._LIMIT", Limit("meteor", "pairs of words", 8))
    with pytest.raises(InputError, match="SOFTBLEU_LIMITS must be a whole number from 1 to 1000000"):
        softbleu.score(*TEXTS, metric="meteor", stages="exact")
