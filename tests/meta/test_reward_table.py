"""The table of texts that metrics reward: some of its rows made again, and what its texts are."""

import csv
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from shared_data import shared

import softbleu

HERE = Path(__file__).resolve().parents[2] / "experiments" / "rewards"
MADE = run_path(str(HERE / "make.py"))
with (HERE / "rewards.csv").open(encoding="utf-8", newline="") as stream:
    ROWS = {(row["metric"], row["text"]): row for row in csv.DictReader(stream)}
STRICT = [row for row in ROWS.values() if row["metric"] == "chrf|strict" and row["text"] not in ("system", "human")]


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["bleu", "chrf", "chrf|strict"])
def test_rows_of_the_table_are_made_again_to_the_digit(metric: str) -> None:
    given = {"folder": "wmt21-into-en/de-en", "reference": "reference-A.en", "human": "reference-B.en"}
    texts = MADE["texts_of"](shared("data"), given | {"system": "system-outputs/Facebook-AI.txt"})
    found = {row["text"]: row for row in MADE["rows_of"](metric, texts, climbed=8, rounds=3)}
    assert found.keys() == {text for name, text in ROWS if name == metric}
    del found["hill climbing"]  # For CPU seconds; see below
    for text, row in found.items():
        assert {name: str(value) for name, value in row.items()} == ROWS[metric, text]


def test_strict_rewards_of_manipulated_texts_hardly_beat_the_system():
    shares = {row["text"]: float(row["beats_system"]) for row in STRICT}
    assert len(shares) == 14
    assert shares.pop("hill climbing") <= 0.03
    assert max(shares.values()) <= 0.01


def test_climbing_gains_and_keeps_clear_of_the_reference():
    references = ["the old cat sat on the new mat today", "one two three four five six seven"]
    reward = MADE["reward_of"]("chrf", references)
    start, _ = MADE["climb"](references, reward, rounds=0)
    found, count = MADE["climb"](references, reward, rounds=40)
    assert count == 40
    assert (reward(found) >= reward(start)).all()
    assert reward(found).sum() > reward(start).sum()
    for text, reference in zip(found, references, strict=True):
        assert not MADE["runs"](text.split()) & MADE["runs"](reference.split())
        assert {*text.split()} <= {*reference.split()}


REFERENCE = "The old cat has not been on the new mat in this house since last May."
CHANGED = {
    name: change(REFERENCE.split(), MADE["random"].Random(1)) for name, change in MADE["MANIPULATIONS"].items()
}
LOWERED = [
    *CHANGED.values(),
    "The old cat hasn't been on the new mat in this house since last May. " * 2,
    "The old cat has been on the new mat in this house since last May.",
    "Das ist die alte Katze.",
]
ORDINARY = [
    REFERENCE,
    "Since last May, the old cat has not been on this house's new mat.",
    "The old cat hasn't been on the new mat in this house since last May.",
    "This old tomcat was never on our new mat since May of last year.",
]


@pytest.mark.parametrize("text", LOWERED)
def test_strict_rewards_of_manipulated_texts_are_next_to_nothing(text: str) -> None:
    assert softbleu.Reward("chrf", strict=True)([text], [REFERENCE])[0] < 0.11


@pytest.mark.parametrize("text", ORDINARY)
def test_strict_rewards_of_ordinary_texts_are_plain_rewards(text: str) -> None:
    for others in ([], ["A cat.", "Old cats are not on mats."]):
        rewards = [softbleu.Reward("chrf", strict=each)([text], [[REFERENCE, *others]]) for each in (True, False)]
        assert rewards[0] == rewards[1] != [0.0]


def test_dense_strict_rewards_add_up_and_say_so_in_their_name():
    reward, dense = (softbleu.Reward("chrf", strict=True, dense=dense) for dense in (False, True))
    (due,) = dense(["The old cat"], [REFERENCE])
    assert np.isclose(due.sum(), reward(["The old cat"], [REFERENCE])[0], atol=1e-12)
    assert reward.__name__ == "chrf|strict:True"
    with pytest.raises(softbleu.InputError, match="compares with references"):
        softbleu.Reward("refless", strict=True)
