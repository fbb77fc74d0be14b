"""Maps of vectors: their gradients, their files, and what metrics make of vectors under a map."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_encoder import MadeUpEncoder
from oracles.maps import lacks
from oracles.strings import string_distances
from refusing import refused

import softbleu
from softbleu import InputError
from softbleu.embeddings import open_vectors
from softbleu.embeddings.catalogue import describe_set
from softbleu.embeddings.choice import VectorChoice
from softbleu.embeddings.learning import JudgedStates, MapParameters, batch_gradient, learn, predict, split_segments
from softbleu.embeddings.maps import TERMS, VectorMap, low_rank, map_names
from softbleu.embeddings.neighbours import nearest_words
from softbleu.metrics.trained import Trained, TrainedHead

TEXTS = ["a cat sat on the mat", "dogs bark", "it did not rain"], ["the cat sat", "a dog barks", "it rained not"]
NAMES = ["a", "cat", "sat", "the", "dog"]
WORDS = {word: np.random.default_rng(n).normal(size=4).tolist() for n, word in enumerate(NAMES)}


def made_up_map(seed: int = 0, dimension: int = 4, **facts: Any) -> VectorMap:
    """A map of vectors of four dimensions."""
    draw = np.random.default_rng(seed)
    left, right = low_rank(draw.normal(scale=0.3, size=(dimension, dimension)))
    direction = draw.normal(scale=0.5, size=dimension).astype(np.float32)
    known = {"vectors": "made up", "fingerprints": [], "layers": "2", "tokenize": "none", **facts}
    return VectorMap("made", "f" * 64, left, right, direction, 0.25, (0.2, 0.3, 0.5, 0.1), known)


def judged_pairs(seed: int, *, words: bool) -> JudgedStates:
    """Four lines of tokens, three judged pairs of them in two sets; one token has no vector."""
    draw = np.random.default_rng(seed)
    lengths = draw.integers(2, 6, 4)
    rows = draw.normal(size=(int(lengths.sum()), 5))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    rows[1] = 0
    inner = np.ones(len(rows), bool)
    offsets = np.cumsum([0, *lengths])
    inner[offsets[:-1]] = words
    codes = draw.integers(0, len(rows), len(rows)) if words else None
    pairs = np.array([0, 2, 0]), np.array([1, 3, 3])
    return JudgedStates(rows, inner, codes, offsets, *pairs, draw.normal(size=3), np.array([0, 1, 1]))


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_gradients_are_those_of_differences(seed: int, words: bool) -> None:
    judged, draw = judged_pairs(seed, words=words), np.random.default_rng(seed)
    parameters = MapParameters.start(5, 2, np.float64)
    for part in parameters.parts():
        part[:] = draw.normal(scale=0.3, size=part.shape)
    parameters.prices[:] = 1, 2, 3
    pairs, gradient = np.arange(3), parameters.zeros()
    batch_gradient(judged, pairs, parameters, gradient)

    def loss() -> float:
        errors = batch_gradient(judged, pairs, parameters, parameters.zeros())[:, 3]
        return float(errors @ errors) / 2 / len(errors)

    for part, found in zip(parameters.parts(), gradient.parts(), strict=True):
        for place in np.ndindex(part.shape):
            losses = []
            for step in (1e-6, -2e-6):
                part[place] += step
                losses.append(loss())
            part[place] += 1e-6
            assert found[place] == pytest.approx((losses[0] - losses[1]) / 2e-6, abs=1e-7)


lines = st.lists(st.sampled_from(["cat", "sat", "mats", "rained", "x"]), min_size=1, max_size=5)


@given(lines, lines, st.integers(0, 20))
def test_trained_under_a_map_is_the_oracle(candidate: list[str], reference: list[str], seed: int) -> None:
    encoder, learned = MadeUpEncoder(), made_up_map(seed)
    metric = Trained(vectors=encoder, map=learned)
    found = metric.sentence_score(" ".join(candidate), [" ".join(reference)])
    pieces = encoder.tokenize([candidate, reference])
    states = encoder.encode(pieces, (2,)).astype(np.float64)
    (start, middle, end) = pieces.offsets.tolist()
    sides = slice(start, middle), slice(middle, end)
    inner: Any = tuple((pieces.words[side] >= 0).tolist() for side in sides)
    expected = np.array(
        lacks(*(states[side] for side in sides), inner, learned.matrix, learned.direction, learned.constant)
    )
    lost = 100 * expected * learned.prices
    assert found.lost == pytest.approx(lost, abs=1e-3)
    assert found.score == pytest.approx(max(0, 100 - lost.sum()), abs=1e-3)
    assert metric.sentence_score(" ".join(reference), [" ".join(reference)]).score == 100


written = st.lists(
    st.sampled_from(["cat", "Cat", "sat", "on\u200bmats", "o\u200dn", "mats", "x", "好天", "好天气"]),
    min_size=1,
    max_size=9,
)


@given(written, written, st.integers(0, 20))
def test_a_head_over_a_map_prices_strings_as_the_oracle(
    candidate: list[str], reference: list[str], seed: int
) -> None:
    one, other = " ".join(candidate), " ".join(reference)
    head, learned = TrainedHead.of("multilingual-e5-small"), made_up_map(seed)
    head = replace(head, metrics=(*head.metrics, "ter"), prices=(*head.prices, (0.0, 5.0, 0.0)))
    metric = Trained(vectors=MadeUpEncoder(), map=learned, head=head)
    assert metric.cause_names[:3] == ("precision of tokens", "recall of tokens", "f of tokens")
    assert metric.cause_names[len(TERMS) :] == head.names[len(TERMS) :]
    found = dict(zip(head.names, metric.sentence_score(one, [other]).lost, strict=True))
    alone = Trained(vectors=MadeUpEncoder(), map=learned).sentence_score(one, [other]).lost
    expected = dict(zip(TERMS, np.array(alone) / learned.prices / 100, strict=True)) | string_distances(one, other)
    expected["chrf(word_order=2)"] = 1 - softbleu.Chrf(word_order=2).sentence_score(one, [other]).score / 100
    expected["ter"] = softbleu.Ter(tokenizer=metric.tokenizer).sentence_score(one, [other]).score / 100
    size = len("".join(reference)) - other.count("\u200b") - other.count("\u200d")
    factor = ((size + 5) / 100) ** head.length_power
    for name, (_, price, _) in zip(head.names, head.prices, strict=True):
        assert found[name] == pytest.approx(factor * price * expected[name], abs=1e-3), name
    assert metric.sentence_score(other, [other]).score == 100


def test_trained_takes_the_head_over_the_map_of_its_vectors() -> None:
    name, own = "multilingual-e5-small", made_up_map(2)
    for metric in (Trained(vectors=name), Trained(language="cs"), Trained(language="cs", vectors=name)):
        assert (metric.vector_choice.vectors, metric.vector_choice.map) == (name, VectorMap.of(name))
        assert metric.head == TrainedHead.of(name)
    # The map alone, as signatures of version 0.8 name it.
    assert Trained(map=name).head is None
    for metric in (
        Trained(),
        Trained(language="en"),
        Trained(vectors="minilm-l6"),
        Trained(head="minilm-l6", vectors=name),
    ):
        assert metric.vector_choice.map is None
    assert Trained(vectors=name, map=own).vector_choice.map == own
    # The prices of the head in the box are English; whoever names a head chose it.
    said = "trained: its data are English, and the text is Czech: learn a map of vectors of this language"
    refused(InputError, said, Trained, vectors=MadeUpEncoder(), language="cs")
    assert Trained(vectors=MadeUpEncoder(), head="minilm-l6", language="cs").head is not None


def test_words_under_a_map_match_by_mapped_cosines_and_equal_ones_by_1() -> None:
    learned = made_up_map(3, vectors="mapping", layers=None)
    scored = softbleu.score(["a cat"], ["the dog x"], metrics=Trained(vectors=WORDS, map=learned)).numbers
    vectors = [[WORDS[word] for word in line.split() if word in WORDS] for line in ("a cat", "the dog")]
    nothing = [0.0] * 4
    found = lacks(
        vectors[0],
        [*vectors[1], nothing],
        ([True] * 2, [True] * 3),
        *(learned.matrix, learned.direction, learned.constant),
    )
    assert scored.lost == pytest.approx(100 * np.array(found) * learned.prices, abs=1e-4)
    assert softbleu.score(["x cat"], ["x cat"], metrics=Trained(vectors=WORDS, map=learned)).score == 100


def test_all_that_compares_vectors_sees_mapped_ones() -> None:
    """Metrics over mapped vectors are those over a set that holds the mapped vectors."""
    learned = made_up_map(5, vectors="mapping", layers=None)
    rows = np.array([*WORDS.values()], np.float32)
    moved = dict(zip(WORDS, (rows + rows @ learned.matrix).tolist(), strict=True))
    for metric in (softbleu.Vleu(threshold=0.2), softbleu.Softbleu(), softbleu.Vleu(threshold="p60", neighbours=2)):
        under, over = metric.replaced(vectors=WORDS, map=learned), metric.replaced(vectors=moved)
        found, expected = (softbleu.score(*TEXTS, metrics=each).score for each in (under, over))
        assert found == pytest.approx(expected, abs=1e-4), metric
        assert found != softbleu.score(*TEXTS, metrics=metric.replaced(vectors=WORDS)).score
    near = [
        nearest_words(each, ["cat"], 4) for each in (VectorChoice(WORDS, map=learned).source, open_vectors(moved))
    ]
    assert [row[2] for row in near[0]] == [row[2] for row in near[1]]


def test_bertscore_under_a_map_weighs_pieces_alike() -> None:
    encoder, learned = MadeUpEncoder(), made_up_map(6)
    flat = replace(learned, direction=np.zeros(4, np.float32), prices=(0.0, 0.0, 1.0, 0.0))
    metrics = [softbleu.BertScore(vectors=encoder, map=learned), Trained(vectors=encoder, map=flat)]
    bertscore, trained = (softbleu.score(*TEXTS, metrics=metric).score for metric in metrics)
    assert bertscore == pytest.approx(trained, abs=1e-4)
    assert bertscore != softbleu.score(*TEXTS, metrics=softbleu.BertScore(vectors=encoder)).score


def test_a_map_is_signed_and_read_again(tmp_path: Path) -> None:
    place = tmp_path / "own.npz"
    place.write_bytes(made_up_map(7, vectors="minilm-l6", dimension=384, layers="4,6").content())
    metric = softbleu.BertScore(map=str(place))
    result = softbleu.score(*TEXTS, metrics=metric)
    assert f"map:own.npz#{VectorMap.of(str(place)).fingerprint[:12]}" in result.signature
    assert "map:" not in softbleu.score(*TEXTS, metrics=softbleu.BertScore()).signature
    content = made_up_map(8).content()
    place.write_bytes(content)
    assert VectorMap.of(str(place)).content() == content


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"left": np.zeros((3, 4), np.float16)}, "other shapes"),
        ({"left": np.zeros(4, np.float16)}, "no map of vectors"),
        ({"right": np.full((4, 4), np.nan, np.float16)}, "not finite"),
        ({"numbers": np.array([0.0, 0.5, 0.5, 0.5, 0.0])}, "add up to 1"),
        ({"numbers": np.array([0.0, 0.5, 0.5, 0.0, -0.1])}, "prices are from 0"),
        ({"facts": np.frombuffer(b"[", np.uint8)}, "no map of vectors"),
        ({"facts": np.frombuffer(b'{"format": 9}', np.uint8)}, "format 9, not 1"),
        ({"facts": np.array(["x", None], object)}, "no map of vectors"),
    ],
)
def test_damaged_maps_are_refused(tmp_path: Path, changed: dict[str, Any], says: str) -> None:
    with np.load(io.BytesIO(made_up_map().content())) as arrays:
        content = {**arrays, **changed}
    np.savez(tmp_path / "map.npz", **content)
    refused(
        InputError,
        f"map.npz: no map of vectors .*{says}" if says[0] != "n" else says,
        VectorMap.of,
        str(tmp_path / "map.npz"),
    )


def test_maps_of_other_vectors_are_refused(tmp_path: Path) -> None:
    refused(InputError, "no such file, and no map in the box", VectorMap.of, "nowhere.npz")
    (tmp_path / "text.npz").write_text("no map")
    refused(InputError, "text.npz: no map of vectors", VectorMap.of, str(tmp_path / "text.npz"))
    learned = made_up_map()
    text = softbleu.score
    refused(
        InputError,
        "learned with made up .4 dimensions., not mapping .2",
        text,
        *TEXTS,
        metrics=softbleu.Vleu(vectors={"a": [1.0, 0.0], "b": [0.0, 1.0]}, map=learned),
    )
    refused(InputError, "learned with made up", text, *TEXTS, metrics=softbleu.Vleu(vectors=WORDS, map=learned))
    refused(InputError, "no use for map", text, *TEXTS, metrics=softbleu.Vleu(similarity="spelling", map=learned))


def synthetic(size: int = 300) -> JudgedStates:
    """Judged pairs in whose vectors half of the dimensions are noise that judges do not mind."""
    draw = np.random.default_rng(1)
    meaning = draw.normal(size=(size, 4, 4))
    good = draw.random(size)
    kept = draw.random((size, 4)) < good[:, None]
    other = np.where(kept[:, :, None], meaning, draw.normal(size=meaning.shape))
    sides = [np.concatenate([side, 1.5 * draw.normal(size=side.shape)], axis=2) for side in (meaning, other)]
    rows = np.concatenate(sides).reshape(-1, 8)
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    shares = kept.mean(axis=1)
    numbers = np.arange(size)
    return JudgedStates(
        *(rows.astype(np.float16), np.ones(len(rows), bool), None, np.arange(0, 8 * size + 1, 4)),
        *(numbers, numbers + size, (shares - shares.mean()) / shares.std(), numbers % 2),
    )


def test_learning_finds_what_judges_look_at_and_repeats_digit_for_digit() -> None:
    judged = synthetic()
    held = split_segments(judged.references)
    rest, out = np.flatnonzero(~held), np.flatnonzero(held)
    learned = [learn(judged, rest, passes=15, rate=1e-2) for _ in range(2)]
    for one, other in zip(*(each.parts() for each in learned), strict=True):
        assert (one == other).all()
    plain = MapParameters.start(8, 2)
    plain.prices[:] = 0, 0, 1
    before, after = (
        np.corrcoef(predict(judged, out, each), judged.scores[out])[0, 1] for each in (plain, learned[0])
    )
    assert after > before + 0.1
    size = np.abs(learned[0].matrix)
    assert size[:4, :4].mean() > size[:4, 4:].mean()


def test_bundled_maps_are_small_and_fit_their_vectors() -> None:
    for name in map_names():
        found = VectorMap.of(name)
        assert found.vectors == name
        assert len(found.content()) <= 300_000
        assert all(part in found.facts for part in ("sets", "licence"))
    facts = describe_set("minilm-l6").facts
    assert (facts["map"], facts["map_licence"]) == (VectorMap.of("minilm-l6").fingerprint[:12], "Apache-2.0")
    assert facts["map_outputs"] == 11279
