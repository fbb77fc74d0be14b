"""chrF, chrF++ and TER equal sacrebleu's, which computes here what they are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from shared_data import shared

import softbleu

WORDS = ["a", "b", "(hi)", "it's", "x.", "…", "Ü", ".", "cat", "Cat,", "3,000", "1-2", "&amp;lt;", "日本!", "カ。ー"]
LINES = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from([" ", " ", "  ", "\u3000", ""])), max_size=9).map(
    lambda pairs: "".join(chain.from_iterable(pairs))
)
TEXTS = st.integers(1, 4).flatmap(
    lambda count: st.tuples(
        st.lists(LINES, min_size=count, max_size=count),
        st.lists(st.lists(LINES, min_size=count, max_size=count), min_size=1, max_size=3),
    )
)
PEERS: dict[str, Any] = {
    "chrf": CHRF(),
    "chrf++": CHRF(word_order=2),
    "chrf(char_order=3, beta=1, lowercase=yes)": CHRF(char_order=3, beta=1, lowercase=True),
    "chrf++(whitespace=yes)": CHRF(word_order=2, whitespace=True),
    "chrf(char_order=2, whitespace=yes, lowercase=yes)": CHRF(char_order=2, whitespace=True, lowercase=True),
    "chrf(word_order=1, eps_smoothing=yes)": CHRF(word_order=1, eps_smoothing=True),
    "ter": TER(),
    "ter(lowercase=no)": TER(case_sensitive=True),
    "ter(normalized=yes, case_sensitive=yes)": TER(normalized=True, case_sensitive=True),
    "ter(no_punct=yes)": TER(no_punct=True),
    "ter(asian_support=yes)": TER(asian_support=True),
    "ter(no_punct=yes, asian_support=yes)": TER(no_punct=True, asian_support=True),
    "ter(normalized=yes, no_punct=yes, asian_support=yes)": TER(normalized=True, no_punct=True, asian_support=True),
}


def check(metric: str, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Corpus and segments are as the peer has them; references stand text by text."""
    result = softbleu.score(candidates, list(zip(*references, strict=True)), metric=metric, level="segment")
    assert result.score == pytest.approx(PEERS[metric].corpus_score(candidates, references).score, abs=1e-10)
    for number, own in enumerate(result.segments or ()):
        theirs = PEERS[metric].sentence_score(candidates[number], [text[number] for text in references])
        assert own.score == pytest.approx(theirs.score, abs=1e-10)


@pytest.mark.parametrize("metric", PEERS)
@settings(max_examples=20)
@given(TEXTS)
def test_any_text_scores_as_with_sacrebleu(metric: str, texts: tuple[list[str], list[list[str]]]) -> None:
    check(metric, *texts)


@pytest.mark.parametrize("metric", PEERS)
def test_real_text_scores_as_with_sacrebleu(metric: str) -> None:
    folder = shared("data/wmt13-de-en")
    outputs = sorted((folder / "system-outputs").iterdir())[:2]
    reference, candidate, other = (
        path.read_text(encoding="utf-8").split("\n")[:20] for path in (folder / "reference.en", *outputs)
    )
    check(metric, candidate, [reference, other])


def test_less_is_better_only_for_ter() -> None:
    both = softbleu.score(["a b c"], ["a b d"], metric=["ter", "chrf"])
    assert [(each.label, each.higher_is_better) for each in both] == [("TER", False), ("chrF", True)]
    assert both[0].score == pytest.approx(100 / 3)
