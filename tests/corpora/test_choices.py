"""Choice among outputs: by risk, references and given scores, beside literal loops; n-best lists; the command."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import command
from refusing import refused

import softbleu
from softbleu.corpora.records import read_lists
from softbleu.errors import InputError

__all__ = ["command"]

WORDS = ["the", "a", "cat", "dog", "sat", "lay", "on", "under", "mat", "rug", "here", "there"]


def made_lists(count: int, seed: int) -> list[list[str]]:
    """Lists of 1 to 7 texts, some of them equal."""
    draw = random.Random(seed)
    return [
        [" ".join(draw.choices(WORDS, k=draw.randint(4, 9))) for _ in range(draw.randint(1, 5))]
        * draw.choice((1, 1, 2))
        for _ in range(count)
    ]


def first_best(scores: list[float], metric: softbleu.Metric) -> int:
    """Return the place of the best score, the first of those that are equal."""
    best = max(scores) if metric.higher_is_better else min(scores)
    return scores.index(best)


@pytest.mark.parametrize("name", ["chrf", "bleu", "ter", "vleu(threshold=0.5)", "bertscore"])
def test_choices_by_risk_and_references_are_those_of_literal_loops(name: str) -> None:
    metric, lists = softbleu.read_metric(name), made_lists(6, seed=len(name))
    references = [random.Random(place).sample(WORDS, 6) for place in range(len(lists))]
    models = [[" ".join(words), " ".join(words[:4])] for words in references]
    by_risk, oracle = softbleu.select(lists, name), softbleu.select(lists, name, by="references", references=models)
    for place, (texts, given) in enumerate(zip(lists, models, strict=True)):
        means = [sum(metric.sentence_score(text, [one]).score for one in texts) / len(texts) for text in texts]
        singles = [metric.sentence_score(text, given).score for text in texts]
        for chosen, scores in ((by_risk, means), (oracle, singles)):
            assert chosen.scores[place] == pytest.approx(scores[first_best(scores, metric)], abs=1e-9)
            assert scores[chosen.places[place]] == pytest.approx(chosen.scores[place], abs=1e-9)
            assert chosen.texts[place] == texts[chosen.places[place]]


def test_rarity_is_that_of_all_lists_in_a_choice_by_risk() -> None:
    lists = made_lists(4, seed=3)
    together = [text for texts in lists for text in texts]
    matrix = softbleu.pairwise(together, metrics="softbleu").scores
    chosen, start = softbleu.select(lists, "softbleu"), 0
    for place, texts in enumerate(lists):
        block = matrix[start : start + len(texts), start : start + len(texts)].mean(axis=1)
        start += len(texts)
        assert block[chosen.places[place]] == pytest.approx(block.max(), abs=1e-9)


def test_the_first_of_equal_candidates_is_chosen_by_any_rule() -> None:
    lists = [["a cat", "a cat"], ["a dog", "the dog", "the dog", "a dog"]]
    assert softbleu.select(lists).places == [0, 1]
    assert softbleu.select(lists, by="references", references=["a cat", ["the dog", "x"]]).places == [0, 1]
    assert softbleu.select(lists, by="scores", scores=[[-2.0, -2.0], [-9, -3.5, -3.5, -4]]).places == [0, 1]


def test_lists_of_moses_and_of_json_are_read_with_their_scores(tmp_path: Path) -> None:
    moses, lines = tmp_path / "moses.nbest", tmp_path / "lists.jsonl"
    moses.write_text(
        "0 ||| a cat ||| LM= -3 TM= 2 ||| -4.5\n0 ||| the cat ||| LM= -2 ||| -3.5\n1 ||| a dog ||| ||| 1e-3\n"
    )
    lists = [
        {"candidates": ["a cat", "the cat"], "scores": [-4.5, -3.5]},
        {"candidates": ["a dog"], "scores": [0.001]},
    ]
    lines.write_text("\n".join(map(json.dumps, lists)))
    assert read_lists(str(moses)) == read_lists(str(lines))
    assert softbleu.select(read_lists(str(moses)), by="scores").texts == ["the cat", "a dog"]


def test_features_alone_are_no_scores_of_a_list(tmp_path: Path) -> None:
    moses = tmp_path / "moses.nbest"
    moses.write_text("1 ||| a cat ||| LM= -3\n1 ||| the cat ||| LM= -2\n")
    lists = read_lists(str(moses))
    assert [one.scores for one in lists] == [None]
    assert len(softbleu.select(lists)) == 1


def test_the_command_writes_texts_or_rows_with_scores(command: Any, written: Any) -> None:
    lists = [[f"{words} {number}" for words in ("a cat", "the cat", "the bat")] for number in range(3)]
    files = [written(lines, name) for name, lines in zip("abc", zip(*lists, strict=True), strict=True)]
    chosen = softbleu.select(lists)
    assert command("select", "-c", *files).out.splitlines() == list(chosen.texts)
    rows = [json.loads(line) for line in command("select", "-c", *files, "-f", "jsonl").out.splitlines()]
    assert rows == chosen.records()
    nbest = written([f"{number} ||| {text}" for number, texts in enumerate(lists) for text in texts], "nbest")
    assert command("select", "--lists", nbest, "-m", "chrf", "--jobs", "2").out.splitlines() == list(chosen.texts)
    best = softbleu.select(lists, "ter", by="references", references=["the bat 0", "a cat 1", "the cat 2"])
    reference = written(["the bat 0", "a cat 1", "the cat 2"], "r")
    for given in (("-c", *files), ("--lists", nbest)):
        out = command("select", *given, "-r", reference, "-m", "ter").out
        assert out.splitlines() == list(best.texts) == ["the bat 0", "a cat 1", "the cat 2"]


def test_lists_that_lack_what_a_rule_needs_are_refused() -> None:
    given: Any = ["x"]
    refused(
        InputError,
        "list 2 needs a score for each of its 2",
        softbleu.select,
        [["a"], ["a", "b"]],
        by="scores",
        scores=[[1], [1]],
    )
    for wrong in (given, [True], [float("nan")], 3, {"a": 1.0}):
        refused(InputError, "list 1 needs a score", softbleu.select, [["a"]], by="scores", scores=[wrong])
    refused(InputError, "list 1 has no references", softbleu.select, [["a"]], by="references")
    refused(InputError, "1 list of candidates, but references for 2", softbleu.select, [["a"]], references=["a", "b"])
    refused(InputError, "no candidates", softbleu.select, [[]])
    refused(InputError, "rule of choice", softbleu.select, [["a"]], by=given[0])
