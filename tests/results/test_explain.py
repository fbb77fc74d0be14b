"""What is asked beside a score: which n-gram met which, pairs of texts, choices from lists, what changed."""

import json
from collections import Counter
from dataclasses import astuple
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_encoder import MadeUpEncoder
from refusing import refused

import softbleu
from softbleu import VectorError
from softbleu.corpora import Segments
from softbleu.corpora.records import TextList
from softbleu.errors import InputError
from softbleu.matching.ngrams import shared_counts
from softbleu.metrics.reading import read_metric
from softbleu.report import WRITERS, Layout
from softbleu.report.explanations import explain_json, explain_text
from softbleu.results.explain import explain, explain_corpus
from softbleu.results.pairs import pair_systems, score_pairs, score_systems
from softbleu.results.runs import Change, RunOfMetric, diff_files, diff_runs, read_run
from softbleu.text.coded import Vocabulary

# "for" and "there" are 0.6 alike.
VECTORS = {"for": [1.0, 0.0], "there": [0.6, 0.8]}
CORPUS = Segments.of(
    {"A": ["x", "For there Oov", ""], "B": ["y", "there", "z"]}, [["x"], ["is", "there oov"], ["z", "w"]]
)


@pytest.mark.parametrize(("rarity", "told"), [(1.0, [(3, 3)]), (0.0, [])])
def test_progress_is_that_of_the_text_whose_words_are_counted(rarity: float, told: list[tuple[int, int]]) -> None:
    metric, calls = read_metric("softbleu", vectors=VECTORS, rarity=rarity), list[tuple[int, int]]()
    explain_corpus(CORPUS, metric, [2], progress=lambda done, total: calls.append((done, total)))
    assert calls == told


def test_segments_are_explained_in_the_order_asked_for_and_exact_matchers_need_no_vectors() -> None:
    found = explain_corpus(CORPUS, read_metric("vleu", order=1, vectors=VECTORS, threshold=0.0), [3, 1, 3])
    assert [(entry.segment, entry.system) for entry in found] == [(n, name) for n in (3, 1, 3) for name in "AB"]
    assert found[0].matches == ()
    assert found[0] == found[4]
    found = explain_corpus(CORPUS, read_metric(order=1, vectors="no/such.txt"), [2])
    assert [match.exact for match in found[0].matches] == [False, True, False]
    # As for scores: a soft matcher must not turn into an exact one in silence.
    soft = read_metric("vleu", order=1, vectors="no/such.txt")
    refused(VectorError, r"no/such\.txt", explain_corpus, CORPUS, soft, [2])


NETWORKS = Segments.of(
    {"A": ["a big hound barked", "it rains", ""], "B": ["hound", "rain fell it", "the dog"]},
    [["the [big|large] (dog|hound) []barked", "a cat"], ["it (rained|rains) {", "rain falls"], ["the (dog|hound)"]],
)


def test_the_best_path_stands_beside_the_candidate() -> None:
    first, second = explain_corpus(NETWORKS, read_metric("hyter", notation="brackets"), [1])
    assert (first.system, first.references) == ("A", (("the", "big", "hound", "barked"),))
    assert first.path is not None
    met = [("a", "the", 1.0), ("big", "big", 0.0), ("hound", "hound", 0.0), ("barked", "barked", 0.0)]
    steps = [(step.candidate, step.word, step.kind, step.cost) for step in first.path.steps]
    assert steps == [(own, word, "user", cost) for own, word, cost in met]
    assert (first.score, first.path.edits, first.path.length, first.path.kinds) == (25.0, 1.0, 4.0, {"user": 4})
    assert (second.score, second.references) == (50.0, (("the", "hound"),))
    # Words that no candidate has.
    unseen = Segments.of({"A": ["x"]}, [["a (dog|hound)"]])
    (found,) = explain_corpus(unseen, read_metric("hyter", notation="brackets"), [1])
    assert found.references in ((("a", "dog"),), (("a", "hound"),))
    shifting = read_metric("hyter", notation="brackets", shifts=True)
    refused(InputError, "leave out shifts", explain_corpus, NETWORKS, shifting, [1])


@pytest.mark.parametrize("settings", [{}, {"idf": "references", "extra": 0.25, "replacing": "both"}])
def test_costs_of_a_path_are_those_of_the_score(settings: dict[str, Any]) -> None:
    measure = read_metric("hyter", notation="brackets", **settings)
    found = explain_corpus(NETWORKS, measure, [3, 2])
    scored = softbleu.score_corpus(NETWORKS, measure, level="segment")
    for (segment, system), explanation in zip(product((3, 2), (0, 1)), found, strict=True):
        score = scored[system].segments[segment - 1]  # type: ignore[index]
        assert explanation.path is not None
        assert explanation.score == score.score
        assert sum(step.cost for step in explanation.path.steps) == pytest.approx(score.edits)
        words = tuple(step.candidate for step in explanation.path.steps if step.candidate)
        assert words == explanation.candidate


def test_word_pairs_are_those_of_the_best_reference() -> None:
    # The second reference is the better one; `the` stands for its fifth word, `cats` has a stem in common.
    metric, references = read_metric("meteor", stages="exact+stem"), ["no dog", "a cat sat on the"]
    (found,) = explain_corpus(Segments({"A": ["the cats sat"]}, [references]), metric)
    assert [tuple(vars(pair).values()) for pair in found.word_pairs()] == [
        ("exact", "the", "the", 0, 1, 4, None),
        ("stem", "cats", "cat", 1, 1, 1, None),
        ("exact", "sat", "sat", 2, 1, 2, None),
    ]
    assert found.score == pytest.approx(float(metric.sentence_score("the cats sat", references)))
    # Of softbleu each word has the most similar one.
    vectors = {"cat": [1.0, 0.0], "dog": [0.6, 0.8], "ran": [0.0, -1.0]}
    metric = read_metric("softbleu", vectors=vectors, power=1.0, characters=0.0, position=0.0, rarity=0.0)
    (found,) = explain_corpus(Segments({"A": ["dog cat ran"]}, [["no", "cat cat"]]), metric)
    assert [tuple(vars(pair).values()) for pair in found.word_pairs()] == [
        ("similar", "dog", "cat", 0, 1, 0, pytest.approx(0.6)),
        ("exact", "cat", "cat", 1, 1, 0, 1.0),
    ]


FEW = {"cat": [1.0, 0.2], "dog": [0.9, 0.3], "mat": [0.0, 1.0], "rug": [0.2, 0.9]}
TEXTS = ["a cat sat on the mat .", "the dog sat on a rug ,", "the the the cat", "cat", "", "it rains"]
TEXTS.insert(5, TEXTS[0])
METRICS = ["bleu", "bleu(denominator=reference, smooth=floor)", "vleu(threshold=0.6, tokenize=none)", "chrf", "ter"]
METRICS += ["chrf++", "chrf(whitespace=yes)", "softbleu", "softbleu(credit=greedy, order=3)"]
LINES = st.lists(st.lists(st.sampled_from("abc"), max_size=6), min_size=1, max_size=5)


def alone(candidate: str, reference: str, metric: str, **more: Any) -> float:
    scored = softbleu.score([candidate], [reference], metrics=metric, level="segment", **more)
    return scored.segments[0].score  # type: ignore[index]


@pytest.mark.parametrize("metric", METRICS)
def test_each_pair_is_scored_as_a_segment(metric: str) -> None:
    own: dict[str, Any] = {"vectors": FEW} if "vleu" in metric or "softbleu" in metric else {}
    # What is rare hangs on all references, so it comes from elsewhere.
    own |= {"rarity": 0.0} if "softbleu" in metric else {}
    found = softbleu.pairwise(TEXTS, TEXTS, metric, **own).scores
    literal = [[alone(one, other, metric, **own) for other in TEXTS] for one in TEXTS]
    assert np.array(found) == pytest.approx(np.array(literal), abs=1e-9)
    few = softbleu.pairwise(TEXTS, TEXTS[1:4], metric, **own).scores
    assert few.tolist() == pytest.approx(found[:, 1:4], abs=1e-9)
    same = softbleu.pairwise(TEXTS, metrics=metric, **own)
    assert same.scores.tolist() == found.tolist()
    assert [*same.records()[0]] == ["candidate", *map(str, range(1, 8))]


def test_pairs_of_vectors_in_context() -> None:
    for metric in ("bertscore", "softbleu", "bertscore(idf=references)"):
        found = softbleu.pairwise(TEXTS, TEXTS[:3], metric, vectors=MadeUpEncoder())
        for place, candidate in enumerate(TEXTS):
            row = softbleu.score([candidate] * 3, TEXTS[:3], metrics=metric, vectors=MadeUpEncoder(), level="segment")
            assert found.scores[place] == pytest.approx([each.score for each in row.segments or ()], abs=1e-4)


@given(LINES, LINES, st.integers(1, 3), st.sampled_from([0, 1 << 20]))
def test_counts_that_lines_share(one: list[list[str]], other: list[list[str]], order: int, dense: int) -> None:
    """In tables, of which large ones are sparse."""
    vocabulary = Vocabulary()
    candidates, references = vocabulary.encode(one), vocabulary.encode(other)

    def counted(line: list[str], n: int) -> Counter[tuple[str, ...]]:
        return Counter(tuple(line[k : k + n]) for k in range(len(line) - n + 1))

    for left, right, coded, others in ((one, other, candidates, references), (one, one, candidates, candidates)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("softbleu.matching.ngrams._DENSE", dense)
            counts = list(shared_counts(coded, others, order))
        for n, found in enumerate(counts, start=1):
            assert found.tolist() == [[(counted(a, n) & counted(b, n)).total() for b in right] for a in left]


def test_rarity_is_that_of_the_references_of_all_lists() -> None:
    measure, lists = read_metric("softbleu", vectors=FEW), [TEXTS, TEXTS[::-1], TEXTS[2:5]]
    first, *_ = score_pairs([TextList.of(texts) for texts in lists], measure)
    # One list alone has other scores.
    assert not np.allclose(softbleu.pairwise(TEXTS, metrics=measure).scores, first.scores)


def test_small_lists_are_compared_together_and_large_ones_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = [TextList.of(TEXTS[:size], TEXTS[size - 1 :]) for size in (1, 7, 2, 3, 5)] + [TextList.of(TEXTS)]
    found = []
    for together, small in ((1024, 32), (1024, 0), (2, 0), (2, 1000), (7, 8)):
        monkeypatch.setattr("softbleu.engine.encode.PAIRS_TOGETHER", together)
        monkeypatch.setattr("softbleu.engine.worker.SMALL_LIST", small)
        for metric in ("chrf", "ter"):
            found.append([each.scores.tolist() for each in score_pairs(lists, read_metric(metric))])
    assert [np.shape(scores) for scores in found[0]] == [(1, 7), (7, 1), (2, 6), (3, 5), (5, 3), (7, 7)]
    assert all(each == found[number % 2] for number, each in enumerate(found))


@pytest.mark.parametrize("together", [1, 1 << 24])
def test_corpora_of_systems(monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    monkeypatch.setattr("softbleu.results.pairs._AT_ONCE", together)
    systems = {"one": TEXTS[:3], "two": TEXTS[1:4], "three": TEXTS[3:6]}
    corpus = Segments.of(systems, list(zip(*systems.values(), strict=True)))
    found = score_systems(pair_systems(corpus), [[*systems], [*systems]], read_metric("bleu"))
    for row, name in zip(found.records(), systems, strict=True):
        assert row["candidate"] == name
        for other, texts in systems.items():
            assert row[other] == pytest.approx(softbleu.score(systems[name], texts).score)
    assert "level:corpus" in found.signature
    uneven = Segments.of(TEXTS[:2], [["a", "b"], ["c"]])
    refused(InputError, "different numbers of references", pair_systems, uneven)


def test_lists_that_are_none() -> None:
    refused(InputError, "candidates are a list of texts, not one text", softbleu.pairwise, "one text")
    refused(InputError, "references are texts, not 3", TextList.of, ["a"], [3])
    refused(InputError, 'no candidates: give one at least, "" where a segment has no output', softbleu.pairwise, [])


KEPT_REFERENCES = ["a dog sat here", "it rains all day", "so be it then"]
ONE = {"A": ["a cat sat here", "it rains all day", "so be it"], "B": KEPT_REFERENCES}
TWO = {"A": ["a dog sat here", "it rains all day", "so be it"], "B": KEPT_REFERENCES}


def keep(folder: Path, name: str, systems: Any, metric: Any = ("bleu", "chrf"), **settings: Any) -> Path:
    results = softbleu.score(systems, KEPT_REFERENCES, metrics=metric, level="segment", **settings)
    path = folder / name
    path.write_text("".join(WRITERS[path.suffix[1:]](results, Layout())), encoding="utf-8")
    return path


def test_diff_lists_the_changed_scores_and_lines(tmp_path: Path) -> None:
    found = diff_files(keep(tmp_path, "one.json", ONE), keep(tmp_path, "two.json", TWO))
    assert found.incomparable == {}
    changed = [(each.metric, each.kind, each.system, each.name) for each in found.changes]
    kinds = (("score", "A", ""), ("line", "A", "1"))
    assert changed == [(name, *each) for name in ("bleu", "chrf") for each in kinds]
    # Two systems of three lines by two metrics.
    assert found.compared == 2 * (2 + 2 * 3)
    chrf = found.changes[-1]
    scores = [alone(each["A"][0], KEPT_REFERENCES[0], "chrf") for each in (ONE, TWO)]
    assert (chrf.one, chrf.two) == pytest.approx(scores)
    assert chrf.difference == pytest.approx(scores[1] - scores[0])
    assert diff_files(tmp_path / "one.json", tmp_path / "one.json").changes == []
    assert json.loads(json.dumps(found.to_dict()))["scores in both"] == found.compared


def test_other_settings_and_other_systems_cannot_be_compared(tmp_path: Path) -> None:
    one = keep(tmp_path, "one.json", ONE, "chrf")
    found = diff_files(one, keep(tmp_path, "two.json", TWO, "chrf", beta=1.0))
    both = "chrf / chrf(beta=1.0)"
    assert found.incomparable == {both: "beta is 2.0 in one, 1.0 in the other"}
    assert found.changes[0] == Change("setting", both, "", "beta", "2.0", "1.0")
    assert {each.difference for each in found.changes} == {None}
    other = diff_files(one, keep(tmp_path, "three.json", ONE, "bleu"))
    assert "metric is chrf in one, bleu in the other" in other.incomparable["chrf / bleu"]
    # Systems and lines that one run lacks are told as well.
    found = diff_files(one, keep(tmp_path, "four.json", {"A": ONE["A"], "C": KEPT_REFERENCES}, "chrf"))
    lacking = [(each.kind, each.system, each.one is None) for each in found.changes if each.name in ("", "1")]
    assert lacking == [("score", "B", False), ("score", "C", True), ("line", "B", False), ("line", "C", True)]


def test_resources_and_versions_are_distinguished() -> None:
    def run(**signature: str) -> dict[str, RunOfMetric]:
        return {"vleu": RunOfMetric({"metric": "bleu", "vectors": "a#1", "version": "1", **signature}, {"A": 20.0})}

    (change,) = diff_runs(run(), run(version="2")).changes
    assert change.kind == "version"
    assert diff_runs(run(), run(version="2")).incomparable == {}
    found = diff_runs(run(), run(vectors="a#2"))
    assert [each.kind for each in found.changes] == ["resource"]
    assert found.incomparable == {"vleu": "vectors is a#1 in one, a#2 in the other"}


def test_lines_of_json_have_no_signature(tmp_path: Path) -> None:
    one = keep(tmp_path, "one.jsonl", ONE)
    found = diff_files(one, keep(tmp_path, "two.json", TWO))
    assert set(found.incomparable) == {"bleu", "chrf"}
    assert "no signature" in found.incomparable["bleu"]
    both = read_run(str(one))["chrf"].lines, read_run(str(tmp_path / "two.json"))["chrf"].lines
    assert both[0].keys() == both[1].keys()
    assert both[0]["B", "1"] == both[1]["B", "1"]
    # References are lines of their own.
    scored = softbleu.score(["a cat"], [["the cat", "a dog"]], ["a cart"], metrics="gleu", level="reference")
    (tmp_path / "gleu.json").write_text("".join(WRITERS["json"]([scored], Layout())), encoding="utf-8")
    lines = read_run(str(tmp_path / "gleu.json"))["gleu"].lines
    assert list(lines) == [("candidate", "1 reference 1"), ("candidate", "1 reference 2")]


def test_partial_score_says_where_the_output_leaves_the_references() -> None:
    references = [["the cat sat on the mat", "the cats"]] * 3
    outputs = ["the cat lay on", "the", "the cats sat"]
    found = explain(outputs, references, metrics="chrf", partial=True, segments=[1, 2, 3])
    assert [astuple(one.left) for one in found if one.left] == [
        (2, "lay", 0, "sat", (4, 2), (6, 2)),
        (None, None, 0, None, (1, 1), (6, 2)),
        (2, "sat", 1, None, (3, 2), (6, 2)),
    ]
    text = "".join(explain_text(found, Layout()))
    assert "reached      4 of 6 tokens, 2 of 2 tokens" in text
    shown = [line.split(maxsplit=1)[1] for line in text.splitlines() if line.startswith("left")]
    assert shown == [
        "at token 3, 'lay', where reference 1 has 'sat'",
        "nowhere: a beginning of reference 1",
        "at token 3, 'sat', where reference 2 ends before",
    ]
    assert '"left"' not in "".join(explain_json(explain(["a"], ["a"]), Layout()))
    assert '"left": {"place": 2' in "".join(explain_json(found, Layout()))
