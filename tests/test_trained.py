"""The trained metric: its distances, its heads and how they are fitted."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_encoder import MadeUpEncoder
from oracles.trained import distances_of, fitted
from refusing import refused
from shared_data import shared
from train import MARGIN, WEIGHT, JudgedDistances, Measured, fit_prices, fit_severity, read_judged, train

import softbleu
from softbleu import InputError, Segments
from softbleu.corpora.judgements import Assessments
from softbleu.metrics.trained import FEATURES, POWERS, Trained, TrainedHead

WORDS = ["cat", "Cat", "cats", "dog", "not", "12", "1,200", "sat"]
VECTORS = {word: np.random.default_rng(number).normal(size=4).tolist() for number, word in enumerate(WORDS[:5])}
UNIT = TrainedHead("unit", "", "glove-6b-100d", prices=((0.0, 1.0, 0.0),) * len(FEATURES))
HEADS = Path(__file__).parents[1] / "heads"
HEAD_SETTINGS: dict[str, dict[str, Any]] = {
    "minilm-l6": {},
    "static": {"vectors": "glove-6b-100d", "tokenize": "13a", "metrics": ["softbleu", "chrf"]},
}
GOLDEN = Path(__file__).parent / "golden"
FEW = 31
"""Lines of each file, its head among them, on which the head of golden/head-in-context.json was fitted."""
lines = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)


@given(lines, lines)
def test_distances_are_those_of_the_oracle(candidate: str, reference: str) -> None:
    found = softbleu.score([candidate], [reference], metrics=Trained(head=UNIT, vectors=VECTORS)).numbers.lost
    assert found == pytest.approx(distances_of(candidate.split(), reference.split(), VECTORS), abs=1e-6)


@given(st.integers(0, 99), st.floats(0.1, 100))
def test_prices_are_those_of_the_oracle(seed: int, penalty: float) -> None:
    draw = np.random.default_rng(seed)
    distances, scores, groups = draw.random((40, 3)), draw.normal(size=40), draw.integers(0, 3, 40)
    own, spoilt = (Measured(each, draw.normal(size=(40, 2)) / 5) for each in (distances, distances + 0.1))
    judged = JudgedDistances(own, spoilt, scores, groups, np.arange(40), ("a", "b", "c"))
    head = TrainedHead("", "", prices=((0.0, 1.0, 0.0),) * 3, severity=(1.0, 0.5, -0.5))
    powers, others = (
        np.hstack([each.distances**power for power in POWERS]) * head.severities(each.directions)[:, None]
        for each in (own, spoilt)
    )
    more = np.sqrt(WEIGHT) * (others - powers), -np.sqrt(WEIGHT) * np.full(40, MARGIN)
    prices = fit_prices(judged, penalty, head).reshape(-1)
    assert prices == pytest.approx(fitted(powers, scores, groups, penalty, more), abs=2e-3)
    about, beside = (each.directions - own.directions.mean(axis=0) for each in (own, spoilt))
    points, worse = distances.sum(axis=1), spoilt.distances.sum(axis=1)
    constant, *weights = fit_severity(judged, replace(head, severity=()), penalty)
    columns, others = points[:, None] * about, worse[:, None] * beside
    more = np.sqrt(WEIGHT) * (others - columns), np.sqrt(WEIGHT) * (worse - points - MARGIN)
    wanted = fitted(columns, scores + points, groups, penalty, more, signed=True)
    assert weights == pytest.approx(wanted, abs=2e-3)
    assert constant + own.directions.mean(axis=0) @ weights == pytest.approx(1)


def test_severities_change_what_distances_cost_and_nothing_else() -> None:
    """They are of the candidate's mean vector, lie between two bounds, and leave the reference itself at 100."""
    head = replace(UNIT, severity=(1.0, *np.random.default_rng(3).normal(scale=0.1, size=100).tolist()))
    texts = ["a cat sat", "the dog is not here", "prices rose"], ["a dog sat", "the dog is here", "prices rose"]
    metrics = [Trained(head=each) for each in (UNIT, head)]
    plain, severe = (softbleu.score(*texts, metrics=each, level="segment").segments for each in metrics)
    ratios = [sum(one.lost) / sum(other.lost) for one, other in zip(severe[:2], plain[:2], strict=True)]
    assert ratios[0] != pytest.approx(ratios[1], abs=1e-3)
    assert all(0.75 <= each <= 4 / 3 for each in ratios)
    assert severe[2].score == 100
    narrow = Trained(head=replace(head, severity=head.severity[:-1]))
    refused(InputError, "for vectors of 99 dimensions, not 100", softbleu.score, *texts, metrics=narrow)


@pytest.mark.parametrize("head", HEAD_SETTINGS)
def test_a_sentence_a_segment_and_a_corpus_of_one_have_the_same_digits(head: str) -> None:
    """Workers know no vectors of the metric, so severities are decided on before."""
    candidate, reference = "The minister denied that 3 ships had not left.", "The minister said three ships had left."
    metric = Trained(head=TrainedHead.read(head))
    one = softbleu.score([candidate], [reference], metrics=metric, level="segment")
    added = softbleu.Accumulator(metric)
    added.update([candidate], [reference])
    sentence = metric.sentence_score(candidate, reference)
    assert sentence.score == one.segments[0].score == one.score == added.compute().score


def test_a_head_whose_metrics_weigh_words_refuses_an_encoder() -> None:
    wrong = "head static is of vectors of words, not of an encoder: leave out vectors and map"
    metric = Trained(head=TrainedHead.read("static"), vectors=MadeUpEncoder())
    refused(InputError, wrong, softbleu.score, ["a cat"], ["a cat"], metrics=metric)


ODD = ["", "   ", "…", "!!! ??? ###", "\ufffd\u200b", "a" * 500, "政府将于星期四向议会提交新预算 。"]
ODD += ["Die Regierung wird ihren neuen Haushalt am Donnerstag dem Parlament vorlegen ."]  # A German source
ODD += ["Two of the old recipes call for more butter than flour ."]  # Another sentence


@pytest.mark.parametrize(
    ("head", "words"), [("static", 2000), ("minilm-l6", 200), pytest.param("minilm-l6", 2000, marks=pytest.mark.slow)]
)
def test_odd_candidates_lie_from_0_to_100_and_below_honest_ones(head: str, words: int) -> None:
    """Beside the first outputs of the sample corpus, and their references."""
    files = [HEADS.with_name("corpora") / "samples" / f"{name}.en" for name in ("candidate", "reference")]
    honest, references = (path.read_text().splitlines()[:4] for path in files)
    odd = [*ODD, "cat dog sat not " * (words // 4)]
    texts = {f"{number}": [text] * 4 for number, text in enumerate(odd)} | {"honest": honest, "reference": references}
    found = softbleu.score(texts, references, metrics=f"trained(head={head})", level="segment")
    *scores, of_honest, same = (np.array([segment.score for segment in each.segments]) for each in found)
    assert (same == 100).all()
    wrong = [text for text, each in zip(odd, scores, strict=True) if np.any((each >= of_honest) | (each < 0))]
    assert wrong == []
    assert of_honest.max() < 100
    assert not np.any(scores[:2])


def test_a_segment_takes_the_best_reference_and_a_corpus_the_mean() -> None:
    metric = Trained(head=replace(UNIT, prices=((0.0, 9.0, 0.0),) * len(FEATURES)), vectors=VECTORS)
    several = (["dog sat not"], ["cats sat"], ["dog sat not", "cats sat"], ["dog", "cat sat"])
    one, other, best, same = (softbleu.score(["cat sat"], [each], metrics=metric).score for each in several)
    assert (best, same) == (max(one, other), 100)
    both = softbleu.score(["cat sat"] * 2, ["dog sat not", "cats sat"], metrics=metric)
    assert both.score == pytest.approx((one + other) / 2)


def test_in_context_it_reads_pieces_of_any_encoder() -> None:
    metric = Trained(head=UNIT, vectors=MadeUpEncoder())
    bertscore = softbleu.score(["a cat sat"], ["a dog sat"], metrics="bertscore", vectors=MadeUpEncoder()).numbers
    lost = softbleu.score(["a cat sat"], ["a dog sat"], metrics=metric).numbers.lost
    assert 1 - lost[0] <= bertscore.precision / 100 + 1e-6  # Boundary pieces can be matched there


def judged(count: int, seed: int, *, shuffled: bool = False) -> Assessments:
    """Candidates that lack the more words of their reference the lower their score is."""
    draw = np.random.default_rng(seed)
    references = [" ".join(draw.choice(WORDS, 12)) for _ in range(count)]
    lost = draw.integers(0, 10, count)
    texts = [" ".join(line.split()[int(many) :]) for line, many in zip(references, lost, strict=True)]
    scores = -lost + draw.normal(size=count)
    return Assessments(draw.permutation(scores) if shuffled else scores, texts=Segments.of({"A": texts}, references))


def test_training_learns_what_there_is_and_nothing_from_shuffled_judgements() -> None:
    groups = [{f"{seed}": judged(100, seed, shuffled=shuffled) for seed in (1, 2)} for shuffled in (False, True)]
    learned, noise = (train(each, vectors="glove-6b-100d").card() for each in groups)
    assert learned["held_out"][0] > 0.9
    _, low, high = noise["held_out"]
    assert low < 0 < high


def assert_nearly(found: dict[str, Any], expected: dict[str, Any], within: float) -> None:
    """Prices, severities and what the card says are those of a head that was kept."""
    for key in ("prices", "card"):
        assert list(found[key]) == list(expected[key])
    for name, powers in expected["prices"].items():
        assert found["prices"][name] == pytest.approx(powers, rel=within, abs=within)
    assert found["severity"] == pytest.approx(expected["severity"], rel=within, abs=within)
    for name, value in expected["card"].items():
        assert found["card"][name] == (pytest.approx(value, abs=1e-3) if "." in str(value) else value)


def test_training_gives_the_digits_of_version_0_4(tmp_path: Path) -> None:
    """Of `softbleu train` before it left the package; the head that is written scores, and signatures name it."""
    groups = {"a": judged(60, 1), "b": judged(40, 2)}
    for name, group in groups.items():
        lines = zip(group.scores.tolist(), group.texts.candidates["A"], group.texts.references, strict=True)
        rows = [("human", "candidate", "reference"), *((score, text, *refs) for score, text, refs in lines)]
        (tmp_path / f"{name}.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    read = {name: read_judged(tmp_path / f"{name}.tsv") for name in groups}
    found = train(read, vectors="glove-6b-100d", tokenize="13a", metrics=["chrf"]).content()
    expected = json.loads((GOLDEN / "head.json").read_text())
    assert_nearly(found, expected, 1e-4)
    (place := tmp_path / "head.json").write_text(json.dumps(found))
    texts = groups["a"].texts
    scored = softbleu.score(texts.candidates["A"], texts.references, metrics="trained", head=str(place))
    assert 0 < scored.score < 100
    assert f"head:head.json#{TrainedHead.of(str(place)).fingerprint[:12]}" in scored.signature


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 3}, "format 3"),
        ({"prices": {"precision": [-1, 0, 0]}}, "3 prices"),
        ({"prices": {"spelling": [1, 0, 0]}}, "no such distance: 'spelling'"),
        ({"prices": [1]}, "no head"),
        ({"vectors": None}, "are texts"),
        ({"metrics": 3}, "no head"),
        ({"map": "none such"}, "a map one of minilm-l6, multilingual-e5-small"),
        ({"length_power": 2}, "length_power is from 0 to 1"),
        ({"length_power": 0.5}, "length_power goes with a map"),
    ],
)
def test_a_damaged_head_is_refused(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    place = tmp_path / "head.json"
    place.write_text(json.dumps(json.loads((HEADS / "static" / "head.json").read_text()) | change))
    refused(InputError, said, TrainedHead.of, str(place))


@pytest.mark.slow
@pytest.mark.parametrize("name", HEAD_SETTINGS)
def test_a_head_is_that_of_its_recipe(name: str, tmp_path: Path) -> None:
    """Fitted on WMT15 and WMT16 into English; in context on few lines of each, and on all by `just heads`."""
    few = FEW if name == "minilm-l6" and not os.environ.get("SOFTBLEU_HEADS") else None
    read = {}
    for file in sorted(Path(shared("data", "wmt15-16-da")).glob("*-en.tsv")):
        place = tmp_path / file.name
        place.write_text("".join(file.read_text(encoding="utf-8").splitlines(keepends=True)[:few]), encoding="utf-8")
        read[file.stem] = read_judged(place)
    found = train(read, **HEAD_SETTINGS[name]).content()
    if few:
        assert_nearly(found, json.loads((GOLDEN / "head-in-context.json").read_text()), 1e-3)
    else:
        assert found == json.loads((HEADS / name / "head.json").read_text())
