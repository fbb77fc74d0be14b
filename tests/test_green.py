"""GREEN has the numbers of gec-metrics, and those of the literal oracle for any text."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.green import green
from strategies import spoken

import softbleu

GOLDEN = json.loads((Path(__file__).parent / "golden" / "green.json").read_text(encoding="utf-8"))
LINES = st.lists(st.sampled_from(["a", "a", "b", "c"]), max_size=6)
SEGMENTS = st.lists(st.tuples(LINES, LINES, st.lists(LINES, min_size=1, max_size=3)), min_size=1, max_size=4)


@settings(max_examples=30, deadline=None)
@given(SEGMENTS, st.integers(1, 4), st.sampled_from([0.0, 0.5, 2.0]))
def test_any_text(segments: list[tuple[list[str], list[str], list[list[str]]]], order: int, beta: float) -> None:
    sources, candidates, references = (list(texts) for texts in zip(*segments, strict=True))
    corpus, metric = spoken(candidates, references, sources), softbleu.Green(order=order, beta=beta)
    (result,) = softbleu.score_corpus(corpus, metric, level="segment")
    whole, each = green(segments, order, beta)
    assert result.score == pytest.approx(whole, abs=1e-9)
    assert [one.score for one in result.segments or ()] == pytest.approx(each, abs=1e-9)


def test_small_texts_as_gec_metrics_has_them() -> None:
    texts = [GOLDEN["texts"][name] for name in ("candidate", "references", "source")]
    for case in GOLDEN["cases"]:
        result = softbleu.Green(order=case["order"], beta=case["beta"]).corpus_score(*texts, level="segment")
        assert result.score == pytest.approx(case["score"], abs=1e-12)
        assert [one.score for one in result.segments or ()] == pytest.approx(case["segments"], abs=1e-12)


def test_the_classes() -> None:
    numbers = softbleu.Green(order=1).sentence_score("a b x y", ["a c x z"], "a b c d").as_dict()
    counts = {name: count[0] for name, count in numbers.items() if name.endswith(("ed", "kept"))}
    names = "kept inserted deleted overinserted overdeleted underinserted underdeleted"
    assert counts == dict.fromkeys(names.split(), 1)
