"""softbleu with METEOR's synonyms and paraphrases: what is known to be alike counts, and by how much."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meteor_data import PARAPHRASES, SYNSETS, write_meteor_data
from oracles import softbleu as oracle

import softbleu
from softbleu.metrics.base import make_metric

PLAIN: dict[str, Any] = {"order": 1, "power": 1.0, "rarity": 0.0, "position": 0.0, "characters": 0.0}
PLAIN |= {"credit": "greedy", "tokenize": "none", "vectors": {"unknown": [1.0]}}
WORDS = ["small", "little", "tiny", "cat", "feline", "kitten", "a", "the"]
WORDS += ["run", "jump", "mouse", "rodent", "in", "of", "Small", "TINY"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_meteor_data(tmp_path_factory.mktemp("alike") / "data"))


def spans(line: list[str]) -> list[tuple[int, int]]:
    return [(start, end) for start in range(len(line)) for end in range(start + 1, len(line) + 1)]


def alike_places(candidate: list[str], reference: list[str], synonyms: float, paraphrases: float) -> Any:
    """Similarity of two places as the description reads, where no word has a vector."""
    pairs = {*PARAPHRASES, *((other, phrase) for phrase, other in PARAPHRASES)}
    rephrased = {
        (i, j)
        for start, end in spans(candidate)
        for first, last in spans(reference)
        if (" ".join(candidate[start:end]).lower(), " ".join(reference[first:last]).lower()) in pairs
        for i in range(start, end)
        for j in range(first, last)
    }

    def alike(one: str, other: str) -> float:
        (word, i), (met, j) = ((text, int(place[2:])) for text, place in (each.split("@") for each in (one, other)))
        if word == met:
            return 1.0
        if candidate == reference:
            return 0.0
        synonymous = not {*SYNSETS.get(word.lower(), ())}.isdisjoint(SYNSETS.get(met.lower(), ()))
        return max(synonyms * synonymous, paraphrases * ((i, j) in rephrased))

    return alike


LINES = st.lists(st.sampled_from(WORDS), max_size=6)
SHARES = st.tuples(st.sampled_from([0.0, 0.5, 0.8]), st.sampled_from([0.0, 0.6, 0.8]))


@given(candidate=LINES, reference=LINES, shares=SHARES, order=st.integers(1, 2), power=st.sampled_from([1.0, 0.5]))
@settings(max_examples=60)
def test_as_the_oracle(candidate, reference, shares, order, power, data):
    given = {**dict(zip(("synonyms", "paraphrases"), shares, strict=True)), "order": order, "power": power}
    own = {**PLAIN, **given, "position": 0.2, "rarity": 1.0, "credit": "both"}
    measure = make_metric("softbleu", meteor_data=data, **own)
    found = measure.sentence_score(" ".join(candidate), " ".join(reference))
    options = oracle.Options(order=order, power=power, rarity=1, characters=0)
    weigh = oracle.weights_from([reference], options)
    sides = ([f"{word}@{x}.{n}" for n, word in enumerate(line)] for x, line in (("c", candidate), ("r", reference)))
    alike = alike_places(candidate, reference, *shares)
    scores = oracle.scores(*sides, alike, lambda place: weigh(place.partition("@")[0]), options)
    assert any(float(found) == pytest.approx(score, abs=2e-4) for score in scores)


@pytest.mark.parametrize(
    ("candidate", "reference"),
    [("a tiny cat ran", "a small cat ran"), ("tiny tiny cat", "small cat tiny"), ("tiny", "small"), ("", "small")],
)
def test_soft_meteor_matches_by_vectors_as_by_synonyms(candidate: str, reference: str, data: str) -> None:
    vectors = {"tiny": [1.0, 0.1], "small": [1.0, 0.0], "cat": [0.0, 1.0]}
    given = {"metric": "meteor", "stages": "exact+stem", "vectors": vectors, "soft_weight": 0.8}
    soft = softbleu.score([candidate], [reference], soft=0.9, **given).numbers
    hard = softbleu.score([candidate], [reference], soft=0.999, **given).numbers
    known = {"metric": "meteor", "stages": "exact+stem+synonym", "meteor_data": data}
    assert softbleu.score([candidate], [reference], **known).numbers == soft
    assert (hard.score == soft.score) == (not candidate)
