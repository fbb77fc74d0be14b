"""Facts about a set, and two words compared as the matchers compare them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from oracles import measure as oracle
from refusing import refused

from softbleu.embeddings import open_vectors, write_store
from softbleu.embeddings.inspection import describe_vectors
from softbleu.embeddings.measure import QUANTILES, WordMeasure, measure_quantiles
from softbleu.engine.vectors import compare_words
from softbleu.errors import VectorError

ROWS = np.random.default_rng(5).normal(size=(25, 5)).astype(np.float32) + np.float32(0.3)
VECTORS = {f"w{number}": row.tolist() for number, row in enumerate(ROWS)}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"similarity": "csls"},
    {"mean": True, "components": 1},
    {"neighbours": 3},
    {"neighbours": 3, "mutual": True},
    {"similarity": "csls", "mean": True, "neighbours": 6},
]


@pytest.fixture
def store(tmp_path):
    write_store(
        tmp_path / "store", list(VECTORS), ROWS, dtype="float32", name="random", source="here", licence="none"
    )
    return tmp_path / "store"


def measure_of(remedy):
    kept = {name: value for name, value in remedy.items() if name not in ("mean", "components")}
    components = remedy.get("components", 0)
    parts = ["mean"] * ("mean" in remedy) + [f"pc:{components}"] * (components > 0)
    return WordMeasure(**kept, vectors_postprocess=",".join(parts) or "none")


@pytest.mark.parametrize("remedy", VARIANTS, ids=str)
def test_similarity_is_the_token_product(remedy):
    source, words = open_vectors(VECTORS), oracle.Measure(VECTORS, **remedy)
    for one, other in [("w0", "w1"), ("w3", "w9"), ("W4", "w4"), ("w7", "w7"), ("w20", "W2")]:
        found = compare_words(source, one, other, measure_of(remedy))
        assert (found.one, found.other) == (one, other)
        assert found.similarity == pytest.approx(words.product(one, other), abs=1e-6)


@pytest.mark.parametrize("remedy", VARIANTS[:3], ids=str)
def test_percentile_is_the_share_of_pairs_that_are_less_alike(remedy):
    words = oracle.Measure(VECTORS, **remedy)
    own = words.product("w3", "w9")
    pairs = [words.product(a, b) for a in VECTORS for b in VECTORS if a != b and {a, b} != {"w3", "w9"}]
    less = 100 * sum(product < own for product in pairs) / (len(pairs) + 2)
    found = compare_words(open_vectors(VECTORS), "w3", "w9", measure_of(remedy))
    # The pair itself, one in three hundred, may be above or below itself by a rounding error.
    assert less - 0.3 <= found.percentile <= less + 100 / 300 + 0.3


def test_words_without_a_vector_cannot_be_compared():
    source = open_vectors({**VECTORS, "nothing": [0.0] * 5})
    for one, other, missing in [("w1", "xyz", "xyz"), ("xyz", "w1", "xyz"), ("w1", "nothing", "nothing")]:
        refused(VectorError, f"no vector for the word '{missing}'", compare_words, source, one, other)
    refused(VectorError, "'W1'", compare_words, source, "W1", "w2", case="exact")


def test_facts_of_a_store(store):
    source = open_vectors(str(store))
    facts = describe_vectors(source)
    size = sum(path.stat().st_size for path in store.iterdir())
    assert (facts["kind"], facts["words"], facts["dimension"], facts["bytes"]) == ("store", 25, 5, size)
    assert (facts["sha256"], facts["indexes"], facts["verified"]) == (source.fingerprint, "none", "no")
    assert not [name for name in facts if "random pairs" in name]
    assert describe_vectors(source, verify=True) == {**facts, "verified": "yes"}


def test_quantiles_kept_with_a_store_are_shown(store):
    source = open_vectors(str(store))
    kept = measure_quantiles(source)
    path = store / "meta.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), QUANTILES: kept}), encoding="utf-8")
    facts = describe_vectors(open_vectors(str(store)))
    shown = {name.split()[1]: value for name, value in facts.items() if "random pairs" in name}
    assert shown == kept["cosine"]
    assert len(shown) == 10


def test_damage_is_found_when_asked_for(store):
    rows = max(store.iterdir(), key=lambda path: path.stat().st_size)
    content = bytearray(rows.read_bytes())
    content[-1] ^= 1
    rows.write_bytes(content)
    assert describe_vectors(open_vectors(str(store)))["verified"] == "no"
    with pytest.raises(VectorError, match=r"damaged or edited") as caught:
        describe_vectors(open_vectors(str(store)), verify=True)
    assert "\n" not in str(caught.value)
    assert str(store) in str(caught.value)


def test_facts_of_a_file(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("the 1 2\ncat 2 3\n", encoding="utf-8")
    facts = describe_vectors(open_vectors(str(path)))
    assert (facts["dimension"], facts["bytes"], facts["verified"]) == (2, 16, "no")
    assert str(facts["kind"]).endswith(" file")
    assert "sha256" not in facts
    assert describe_vectors(open_vectors(str(path)), verify=True)["sha256"] == open_vectors(str(path)).fingerprint
    facts = describe_vectors(open_vectors({"a": [1.0, 2.0, 3.0]}))
    assert (facts["name"], facts["dimension"]) == ("mapping", 3)
