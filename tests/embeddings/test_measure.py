"""Quantiles of random pairs, what is kept with a store, and where scopes end."""

import json
import re

import numpy as np
import pytest
from oracles import measure as oracle
from refusing import refused
from vector_files import write_store

from softbleu import InputError, score
from softbleu.embeddings import function_words, measure, open_vectors
from softbleu.embeddings.catalogue import describe_vectors
from softbleu.embeddings.function_words import FUNCTION_WORDS, is_function_word
from softbleu.embeddings.measure import SCOPE, Postprocess, WordMeasure, measure_words, similarity_quantile
from softbleu.embeddings.vectors import PERCENTILES, QUANTILES
from softbleu.engine.prepare import compare_words
from softbleu.errors import UnknownNameError, VectorError


def random_vectors(count, dimension=6, seed=7):
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32) + np.float32(0.4)
    return {f"w{number}": row.tolist() for number, row in enumerate(rows)}


VECTORS = random_vectors(25, 5, 5)
VARIANTS = [
    ({}, WordMeasure()),
    ({"mean": True, "components": 1}, WordMeasure(vectors_postprocess="mean,pc:1")),
    ({"neighbours": 3}, WordMeasure(neighbours=3)),
]


@pytest.mark.parametrize("percentile", [0.0, 50.0, 97.5, 100.0])
@pytest.mark.parametrize(("same", "way"), [*VARIANTS[:2], ({}, WordMeasure(neighbours=2))])
def test_quantiles_are_those_of_all_pairs(percentile, same, way, monkeypatch):
    """So many pairs of forty words are each of their 1560 pairs many times; neighbours do not count here."""
    monkeypatch.setattr("softbleu.embeddings.measure.PAIRS", 200_000)
    vectors = {**random_vectors(40), "nothing": [0.0] * 6}
    words = oracle.Measure(vectors, "exact", **same)
    found = similarity_quantile(open_vectors(vectors), percentile, way)
    # So many percent either way are beyond any sampling error; the least and the greatest pair are hit for certain.
    least, most = (words.every_quantile(min(max(percentile + shift, 0), 100)) for shift in (-0.3, 0.3))
    if percentile in (0, 100):
        least = most = words.every_quantile(percentile)
    assert least - 2e-6 <= max(found, -1.0) <= most + 2e-6
    assert found == round(found, 6)
    assert found == similarity_quantile(open_vectors(dict(vectors)), percentile, way)


def test_scope_ends_where_it_says(monkeypatch):
    vectors = random_vectors(60)
    head = dict(list(vectors.items())[:20])
    monkeypatch.setattr("softbleu.embeddings.measure.SCOPE", 20)
    monkeypatch.setattr("softbleu.embeddings.measure.PAIRS", 10_000)
    for way in (WordMeasure(), WordMeasure(vectors_postprocess="mean")):
        whole, first = (similarity_quantile(open_vectors(each), 95.0, way) for each in (vectors, head))
        assert whole == first
    assert SCOPE == 50_000


def test_a_zero_vector_does_not_spoil_what_is_cached(monkeypatch):
    """`The`, found as written beyond the scope, has a zero vector; `the` has another."""
    vectors = {"the": [1.0, 2.0, 3.0], "cat": [1.0, 2.0, 2.0], "dog": [3.0, 1.0, 0.0], "The": [0.0, 0.0, 0.0]}
    monkeypatch.setattr("softbleu.embeddings.measure.SCOPE", 3)
    for words in (["The", "cat"], ["the", "cat"]):
        found = measure_words(open_vectors(vectors), words, "fallback", WordMeasure(neighbours=1))
        met = oracle.Measure(vectors, neighbours=1, scope=3).may_meet(*words)
        assert found.allowed_pairs.tolist() == ([0, 1, 2, 3] if met else [0, 3])


def test_bundled_quantiles_are_those_of_the_set():
    source = open_vectors("glove-6b-100d")
    similarities = measure.random_similarities(source, WordMeasure())
    expected = np.percentile(similarities, PERCENTILES).round(6).tolist()
    assert measure.kept_quantiles(source) == dict(zip((f"p{each:g}" for each in PERCENTILES), expected, strict=True))
    vectors = random_vectors(30)
    assert similarity_quantile(open_vectors(vectors), 1.0) < 0
    found = score(["w1 w2"], ["w1 w3"], matcher="vleu", vectors=vectors, threshold="p1")
    assert "|threshold:0.0|" in found.signature
    assert "|quantile:p1|" in found.signature


def test_kept_quantiles_are_used_and_only_if_found_as_now(tmp_path):
    folder, vectors = tmp_path / "store", random_vectors(50)
    write_store(folder, vectors, np.array(list(vectors.values()), np.float32))
    source = open_vectors(str(folder))
    computed = similarity_quantile(source, 99.0)
    kept = measure.measure_quantiles(source)[QUANTILES]
    assert kept["cosine"]["p99"] == computed
    kept["cosine"]["p99"] = 0.123
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    for changed, expected in ((kept, 0.123), ({**kept, "seed": 1}, computed), ({**kept, "scope": 5}, computed)):
        (folder / "meta.json").write_text(json.dumps({**meta, QUANTILES: changed}), encoding="utf-8")
        again = open_vectors(str(folder))
        assert similarity_quantile(again, 99.0) == expected
        assert similarity_quantile(again, 99.0, WordMeasure(vectors_postprocess="mean")) != 0.123
    for changed in ({}, {QUANTILES: None}, {QUANTILES: {"pairs": 5}}, {QUANTILES: []}):
        (folder / "meta.json").write_text(json.dumps({**meta, **changed}), encoding="utf-8")
        assert measure.kept_quantiles(open_vectors(str(folder))) == {}


def test_quantiles_need_a_percentile_and_enough_words():
    for text in ("", "p", "px", "p101", "pnan", "pinf", "P50", "50", "p 50", "p5_0", "p\u0665\u0660", "p-0", "p1e1"):
        assert repr(text) in refused(InputError, r"such as p99\.9", measure.parse_percentile, text)
    assert [measure.parse_percentile(text) for text in ("p0", "p100", "p99.95")] == [0, 100, 99.95]
    for vectors in ({"a": [1.0, 2.0]}, {"a": [1.0, 2.0], "b": [0.0, 0.0]}):
        refused(VectorError, "too few words", similarity_quantile, open_vectors(vectors), 50.0)


def treated(rows, postprocess):
    words = [f"w{number}" for number in range(len(rows))]
    source = open_vectors(dict(zip(words, rows, strict=True)))
    return measure_words(source, words, "exact", WordMeasure(vectors_postprocess=postprocess)).rows


def test_a_vector_of_which_nothing_is_left_is_none():
    """Rounding errors scaled to length 1 would be a direction out of nowhere."""
    assert not treated(np.array([[1.0, 2.0, 3.0]] * 6), "mean").any()
    assert not treated(np.outer(range(1, 7), [0.1, 0.3, 0.7]), "pc:1").any()
    # Without their mean two words are opposite: both together have no norm, hence no similarity.
    own = {"vectors": {"a": [1.0, 2.0], "b": [3.0, 1.0]}, "vectors_postprocess": "mean", "smooth": "none"}
    assert score(["a b"], ["b a"], matcher="vleu", order=2, **own).numbers.as_dict()["matches"] == [2, 0]


@pytest.mark.parametrize("text", ["none", "mean", "pc:1", "mean,pc:2", "pc:7", "mean,pc:12"])
def test_postprocessing_is_written_as_it_was_read(text):
    postprocess = Postprocess.parse(text)
    assert str(postprocess) == text
    assert WordMeasure(text).removes == (text != "none")
    if postprocess.components > 6:
        rows = np.random.default_rng(3).normal(size=(30, 7)) + 0.5
        refused(InputError, "7 dimensions", treated, rows, text)
    else:
        # No rows have nothing in common. Warnings are errors here: a mean of nothing is one.
        assert not postprocess.estimate(np.zeros((0, 3))).remove_from(np.zeros((2, 3))).any()
    none = "|pc|pc:|pc:0|pc:-1|pc:1.5|pc:02|pc:100|mean,|,pc:1|pc:1,mean|none,mean|Mean|mean pc:1|meanpc:2|mean,mean"
    for other in (*none.split("|"), f"{text},none", "mean\n", "pc:\u0661"):
        refused(InputError, "vectors-postprocess must be", Postprocess.parse, other)


LONE = ("the", "The", "THE", "a", "n't", "'s", ",", "12", "--", "¿")
FREE = ("cat", "Cat", "dog", "house", "mat", "oov", "café", "x2", "thee")


def test_which_words_are_lone():
    assert all(map(is_function_word, (*LONE, "")))
    often_something_else = ("little", "past", "mine", "like2", "will-o'-the-wisp")
    assert not any(map(is_function_word, (*FREE, *often_something_else)))
    for own in function_words._CLASSES.values():
        assert len(own.split()) == len(set(own.split()))
    assert 200 < len(FUNCTION_WORDS) < 400
    assert all(word == word.lower() and re.fullmatch(r"[a-z']+", word) for word in FUNCTION_WORDS)
    assert {word for words in function_words._CLASSES.values() for word in words.split()} == FUNCTION_WORDS
    words, source = [*LONE, *FREE], open_vectors({"cat": [1.0, 2.0]})
    assert measure_words(source, words, "fallback", WordMeasure()).self_only is None
    lone = measure_words(source, words, "fallback", WordMeasure(function_words="exact")).self_only
    assert lone.tolist() == [word in LONE for word in words]
    refused(
        UnknownNameError,
        "unknown function_words 'hard'; valid: soft, exact",
        WordMeasure,
        function_words="hard",
    )


@pytest.mark.parametrize(("remedy", "way"), VARIANTS)
def test_similarity_is_the_token_product_and_its_percentile_the_share_of_pairs_less_alike(remedy, way):
    source, words = open_vectors(VECTORS), oracle.Measure(VECTORS, **remedy)
    for one, other in [("w0", "w1"), ("w3", "w9"), ("W4", "w4"), ("w7", "w7"), ("w20", "W2")]:
        found = compare_words(source, one, other, way)
        assert (found.one, found.other) == (one, other)
        assert found.similarity == pytest.approx(words.product(one, other), abs=1e-6)
    if way.neighbours:
        return
    own = words.product("w3", "w9")
    pairs = [words.product(a, b) for a in VECTORS for b in VECTORS if a != b and {a, b} != {"w3", "w9"}]
    less = 100 * sum(product < own for product in pairs) / (len(pairs) + 2)
    found = compare_words(open_vectors(VECTORS), "w3", "w9", way)
    # The pair itself, one in three hundred, may be above or below itself by a rounding error.
    assert less - 0.3 <= found.percentile <= less + 100 / 300 + 0.3


def test_words_without_a_vector_cannot_be_compared():
    source = open_vectors({**VECTORS, "nothing": [0.0] * 5})
    for one, other, missing in [("w1", "xyz", "xyz"), ("xyz", "w1", "xyz"), ("w1", "nothing", "nothing")]:
        refused(VectorError, f"no vector for the word '{missing}'", compare_words, source, one, other)
    refused(VectorError, "'W1'", compare_words, source, "W1", "w2", case="exact")


def test_facts_of_a_store_and_a_file(tmp_path):
    store = tmp_path / "store"
    write_store(store, VECTORS, np.array(list(VECTORS.values()), np.float32))
    source = open_vectors(str(store))
    facts = describe_vectors(source)
    size = sum(path.stat().st_size for path in store.iterdir())
    assert (facts["kind"], facts["words"], facts["dimension"], facts["bytes"]) == ("store", 25, 5, size)
    assert (facts["sha256"], facts["verified"]) == (source.fingerprint, "no")
    assert not [name for name in facts if "random pairs" in name]
    assert describe_vectors(source, verify=True) == {**facts, "verified": "yes"}
    # Quantiles that are kept are shown.
    kept = measure.measure_quantiles(source)[QUANTILES]
    meta = json.loads((store / "meta.json").read_text(encoding="utf-8"))
    (store / "meta.json").write_text(json.dumps({**meta, QUANTILES: kept}), encoding="utf-8")
    facts = describe_vectors(open_vectors(str(store)))
    shown = {name.split()[1]: value for name, value in facts.items() if "random pairs" in name}
    assert len(shown) == 10
    assert shown == kept["cosine"]
    rows = max(store.iterdir(), key=lambda path: path.stat().st_size)
    content = bytearray(rows.read_bytes())
    content[-1] ^= 1
    rows.write_bytes(content)
    assert describe_vectors(open_vectors(str(store)))["verified"] == "no"
    said = refused(VectorError, "damaged or edited", describe_vectors, open_vectors(str(store)), verify=True)
    assert str(store) in said
    path = tmp_path / "words.txt"
    path.write_text("the 1 2\ncat 2 3\n", encoding="utf-8")
    facts = describe_vectors(open_vectors(str(path)))
    assert (facts["dimension"], facts["bytes"], facts["verified"]) == (2, 16, "no")
    assert str(facts["kind"]).endswith(" file")
    assert "sha256" not in facts
    assert describe_vectors(open_vectors(str(path)), verify=True)["sha256"] == open_vectors(str(path)).fingerprint
    facts = describe_vectors(open_vectors({"a": [1.0, 2.0, 3.0]}))
    assert (facts["name"], facts["dimension"]) == ("mapping", 3)
