"""The trained metric: its distances, its heads and how they are fitted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged_pairs import WORDS, judged
from made_up_encoder import MadeUpEncoder
from oracles.trained import distances_of, fitted
from refusing import refused
from shared_data import shared

import softbleu
from softbleu import InputError
from softbleu.meta.training import JudgedDistances, fit_prices, train
from softbleu.metrics.heads import FEATURES, POWERS, TrainedHead, head_names, read_head
from softbleu.metrics.trained import Trained

VECTORS = {word: np.random.default_rng(number).normal(size=4).tolist() for number, word in enumerate(WORDS[:5])}
UNIT = TrainedHead("unit", "", "glove-6b-100d", prices=((0.0, 1.0, 0.0),) * len(FEATURES))
lines = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)


@given(lines, lines)
def test_distances_are_those_of_the_oracle(candidate: str, reference: str) -> None:
    found = softbleu.score([candidate], [reference], metric=Trained(head=UNIT, vectors=VECTORS)).numbers.lost
    assert found == pytest.approx(distances_of(candidate.split(), reference.split(), VECTORS), abs=1e-6)


@given(st.integers(0, 99), st.floats(0.1, 100))
def test_prices_are_those_of_the_oracle(seed: int, penalty: float) -> None:
    draw = np.random.default_rng(seed)
    distances, scores, groups = draw.random((40, 3)), draw.normal(size=40), draw.integers(0, 3, 40)
    judged = JudgedDistances(distances, scores, groups, np.arange(40), ("a", "b", "c"))
    powers = np.hstack([distances**power for power in POWERS])
    assert fit_prices(judged, penalty).reshape(-1) == pytest.approx(fitted(powers, scores, groups, penalty), abs=2e-3)


ODD = [
    "",
    "   ",
    "…",
    "!!! ??? ###",
    "\ufffd\u200b",
    "a" * 500,
    "Das ist kein Englisch , sondern Deutsch .",
    "的是了",
]


@pytest.mark.parametrize("metric", [f"trained(head={name})" for name in head_names()])
def test_odd_candidates_lie_from_0_to_100_and_below_honest_ones(metric: str) -> None:
    reference, honest = (
        "The chairman did not say when talks would resume .",
        "The chairman did not say when talks start again .",
    )
    found = softbleu.score([*ODD, honest, reference], [reference] * (len(ODD) + 2), metric=metric, level="segment")
    scores = [each.score for each in found.segments]
    assert scores[-1] == 100
    assert min(scores) >= 0
    assert max(scores[: len(ODD)]) < scores[-2] < 100
    assert scores[0] == scores[1] == 0


def test_a_segment_takes_the_best_reference_and_a_corpus_the_mean() -> None:
    metric = Trained(head=replace(UNIT, prices=((0.0, 9.0, 0.0),) * len(FEATURES)), vectors=VECTORS)
    one, other, best, same = (
        softbleu.score(["cat sat"], [refs], metric=metric).score
        for refs in (["dog sat not"], ["cats sat"], ["dog sat not", "cats sat"], ["dog", "cat sat"])
    )
    assert (best, same) == (max(one, other), 100)
    assert softbleu.score(["cat sat", "cat sat"], ["dog sat not", "cats sat"], metric=metric).score == pytest.approx(
        (one + other) / 2
    )


def test_in_context_it_reads_pieces_of_any_encoder() -> None:
    metric = Trained(head=UNIT, vectors=MadeUpEncoder())
    bertscore = softbleu.score(["a cat sat"], ["a dog sat"], metric="bertscore", vectors=MadeUpEncoder()).numbers
    lost = softbleu.score(["a cat sat"], ["a dog sat"], metric=metric).numbers.lost
    assert 1 - lost[0] <= bertscore.precision / 100 + 1e-6  # Boundary pieces can be matched there


# heads


def test_training_learns_what_there_is_and_nothing_from_shuffled_judgements() -> None:
    """200 judgements; the same digits from the same seed."""
    given = {"vectors": "glove-6b-100d", "samples": 200}
    found = train({"mine": judged(200, 1)}, **given)
    noise = train({"mine": judged(200, 1, shuffled=True)}, **given)
    assert found.means[0].value > 0.9
    low, high = noise.means[0].interval
    assert low < 0 < high
    assert train({"mine": judged(200, 1)}, **given).head == found.head
    sizes = [row[0] for row in found.table("curve").rows]
    assert sizes == [25, 50, 100, None]
    assert "training" in found.table().notes[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "format 2"),
        ({"prices": {"precision": [-1, 0, 0]}}, "3 prices"),
        ({"prices": {"spelling": [1, 0, 0]}}, "no such distance: 'spelling'"),
        ({"prices": [1]}, "no head"),
        ({"vectors": None}, "are texts"),
        ({"metrics": 3}, "no head"),
    ],
)
def test_what_is_no_head_is_refused(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    place = tmp_path / "head.json"
    place.write_text(json.dumps(UNIT.content({}) | change))
    refused(InputError, said, TrainedHead.parse, str(place))


@pytest.mark.slow
def test_the_heads_in_the_box_are_those_of_their_recipes() -> None:
    """Fitted on the judgements of WMT15 and WMT16 into English."""
    files = sorted(str(path) for path in Path(shared("data", "wmt15-16-da")).glob("*-en.tsv"))
    for name, more in {"minilm-l6": {}, "static": RECIPE}.items():
        found = train(files, samples=10, **more).head
        assert found.prices == read_head(name).prices


RECIPE: dict[str, Any] = {"vectors": "glove-6b-100d", "tokenize": "13a", "metrics": ["softbleu", "chrf"]}
