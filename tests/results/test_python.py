"""The Python door: metrics by keywords, results that are numbers and tables, any texts, and texts in batches."""

import inspect
import json
import math
import pickle
import pydoc
import random
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refused

import softbleu
from softbleu import InputError, Results, compare, explain, score
from softbleu.errors import UnknownNameError
from softbleu.metrics import Metric
from softbleu.metrics.bleu import BleuScore

METRICS = {
    name: value
    for name in softbleu.__all__
    if isinstance(value := getattr(softbleu, name), type) and issubclass(value, Metric) and value is not Metric
}

CANDIDATES = {"A": ["the cat sat on a mat", "it is"], "B": ["a dog sat", "it was"]}
REFERENCES = [["the cat sat on the mat", "a cat sat"], ["it is"]]
HOSTILE = "<script>alert('x')</script>&\"|\n"


@pytest.mark.parametrize("name", METRICS)
def test_help_knows_every_setting(name: str) -> None:
    """Those that the metric has, over the matcher that it has unless another is given."""
    parameters = dict(inspect.signature(METRICS[name]).parameters)
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in parameters.values())
    made = METRICS[name]()
    plain = {each.name: value for each, value in made.settings() if each.name != "quantile"}
    for chosen in {"preset", "language"}.difference(plain):  # They choose settings
        parameters.pop(chosen, None)
    assert {each.name: each.default for each in parameters.values()} == plain
    assert all(getattr(made, name) == value for name, value in plain.items() if name not in ("matcher", "vectors"))
    shown = pydoc.plain(pydoc.render_doc(METRICS[name]))
    assert max(map(len, re.split(r"\n \| *\n", shown)[0].splitlines())) < 250
    assert shown.index("# text") < shown.index(" tokenize: ") < shown.index("# vectors") < shown.index(" vectors: ")


def results(**options: Any) -> Results:
    found = score(CANDIDATES, REFERENCES, effective_order=True, **options)
    assert isinstance(found, Results)
    return found


def test_a_result_is_a_number_and_results_are_a_list_and_a_table() -> None:
    found = results()
    result = found["A"]
    assert type(result.score) is float
    assert float(result) == result.score == result.numbers.score
    other = found["B"]
    assert result - other == result.score - other.score == -(other - result)
    assert (int(result), -result, abs(result)) == (int(result.score), -result.score, result.score)
    assert (result + other) / 2 == sum(found) / 2 == (result.score + other.score) / 2
    assert (3 * result, result * 3, 1 - result) == (3 * result.score, 3 * result.score, 1 - result.score)
    assert isinstance(result.numbers, BleuScore)
    assert result.numbers.precisions == [100 * 8 / 8, 100 * 4 / 6, 100 * 2 / 4, 100 * 1 / 3]
    assert str(result) == f"BLEU = {result.score:.2f} | {result.short_signature}"
    assert [each.name for each in found] == ["A", "B"]
    assert found["B"] is found[1]
    assert found[:1] == [result]
    refused(UnknownNameError, "unknown system 'C'; valid: A, B", found.__getitem__, "C")
    head, _, *rows, _, notes = str(found).splitlines()
    scores = [[each.name, f"{each.score:.2f}"] for each in found]
    assert [row.split() for row in (head, *rows)] == [["system", "bleu(effective_order=yes)"], *scores]
    assert notes == f"signature of {result.metric}: {result.short_signature}"
    assert str(Results([])) == "nothing found"
    several = score(CANDIDATES, REFERENCES, metrics=["bleu(order=1)", "chrf"])
    lines = [line.split() for line in str(several).splitlines()]
    assert lines[0] == ["system", "bleu(order=1)", "chrf"]
    assert (lines[2], len(lines)) == (["A", f"{several[0].score:.2f}", f"{several[2].score:.2f}"], 7)


@pytest.mark.parametrize("level", ["corpus", "segment", "macro"])
def test_json_can_write_results(level: Any) -> None:
    found = results(level=level)
    again = json.loads(json.dumps(found.to_dict()))
    assert [each["score"] for each in again["systems"]] == [each.score for each in found]
    one = json.loads(json.dumps(found["A"].to_dict()))
    assert one == again["systems"][0]
    assert one["signature"] == found["A"].signature
    assert one["precisions"] == found["A"].numbers.as_dict()["precisions"]
    segments = [each.score for each in found["A"].segments or ()]
    assert [each["score"] for each in one.get("segments", [])] == (segments if level == "segment" else [])
    table = compare(CANDIDATES, REFERENCES, effective_order=True)
    rows = json.loads(json.dumps(table.to_dict()))["rows"]
    assert [(row["system"], row["score"]) for row in rows] == [(row.name, row.score) for row in table.comparisons]


def test_results_become_frames_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    found = results()
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["system"].tolist() == ["A", "B"]
    assert frame["score"].tolist() == [each.score for each in found]
    assert frame["precisions_1"].tolist() == [each.numbers.as_dict()["precisions"][0] for each in found]
    assert "precisions" not in frame.columns
    segments = results(level="segment").to_frame()
    assert segments[["system", "segment"]].to_numpy().tolist() == [["A", 1], ["A", 2], ["B", 1], ["B", 2]]
    assert segments["score"].notna().all()


def test_names_do_no_harm_in_a_notebook() -> None:
    texts = {HOSTILE: ["a cat"], "B": ["a"]}, ["a dog"]
    found = score(*texts, effective_order=True)
    for shown in (found, found[0], compare(*texts, effective_order=True)):
        page = shown._repr_html_()
        assert "<script" not in page
        assert "&lt;script&gt;alert" in page
        assert page.count("<table") == 1


def test_scores_of_sentences_are_numbers() -> None:
    one, other = (softbleu.Chrf().sentence_score(text, ["the cat sat"]) for text in ("the cat sat", "the cat"))
    assert [f"{one:.2f}", f"{one:6.1f}", round(one, 1), round(one)] == ["100.00", " 100.0", 100.0, 100]
    assert one > 99 > other < one
    assert sorted([one, other]) == [other, one]
    assert float(np.mean([one, other])) == (one + other) / 2 == (one.score + other.score) / 2
    assert json.loads(json.dumps(other.to_dict()))["score"] == other.score == 100 - (one - other)
    assert f"{other}" == str(other)


def test_notebooks_show_two_decimals_and_the_best_in_bold() -> None:
    systems, references = {"A": ["a cat sat down", "b c"], "B": ["a cat sat", "b d"]}, ["a cat sat down", "b c"]
    found = score(systems, references, metrics=["chrf", "ter"])
    page, text = found._repr_html_(), str(found)
    assert re.findall(r"<b>(.*?)</b>", page) == ["100.00", "0.00"]
    assert re.findall(r"\d+\.\d+(?=<)", page.partition("<p>")[0]) == re.findall(
        r"(?<= )\d+\.\d\d\b", text.partition("\nsig")[0]
    )
    assert "<b>" not in score({"A": ["a"]}, ["a"], metrics="chrf")._repr_html_()
    tables = compare(systems, references, metrics=["chrf", "ter"])
    assert re.findall(r"<b>(.*?)</b>", tables._repr_html_()) == ["100.00", "0.00"]
    assert re.findall(r"<b>(.*?)</b>", tables[1]._repr_html_()) == ["0.00"]
    assert len(set(re.findall(r"\.\d{3,}", tables._repr_html_()))) <= 2  # p-values


def test_explanations_are_tables_in_colours() -> None:
    found = explain(["the cat sat here"], ["the dog sat"], metrics="vleu(threshold=0.5, order=1)")
    (shown,) = found
    page = shown._repr_html_()
    colours = {text: colour for colour, text in re.findall(r'<span style="color: (.*?)">(\w+)</span>', page)}
    assert len({colours["the"], colours["dog"], colours["here"]}) == 3
    assert colours["the"] == colours["sat"]
    assert str(shown).split()[:4] == ["system", "segment", "order", "candidate"]
    assert shown.to_dict()["score"] == shown.score
    assert "candidate: the cat sat here" in repr(shown)
    assert shown.records() == found.records()


def test_generators_and_columns_are_texts() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    candidates, references = CANDIDATES["A"], ["the cat sat on the mat", "it is"]
    expected = score(candidates, references, effective_order=True)
    assert not math.isclose(expected.score, 100)
    frame = pandas.DataFrame({"ours": candidates, "theirs": references}, index=[7, 3])
    ways: list[tuple[Iterable[str], Iterable[Any]]] = [
        *((iter(candidates), (text for text in references)), (tuple(candidates), ([text] for text in references))),
        *((frame["ours"], frame["theirs"]), (frame["ours"].to_numpy(), frame["theirs"].to_numpy())),
        (map(str, candidates), (iter([text]) for text in references)),
        (pyarrow.array(candidates), pyarrow.chunked_array([[text] for text in references])),
        (pyarrow.table(frame)["ours"], pyarrow.array([[text] for text in references])),
    ]
    for ours, theirs in ways:
        assert score(ours, theirs, effective_order=True) == expected
    systems = score({"A": frame["ours"], "B": iter(CANDIDATES["B"])}, frame["theirs"], effective_order=True)
    assert systems["A"].score == expected.score
    known = score(candidates, references, candidates, metrics="gleu")
    assert score(candidates, references, (text for text in candidates), metrics="gleu") == known
    said = "candidates are a list with an entry per segment, or a column"
    refused(InputError, said, score, pandas.DataFrame({"text": ["a"]}), ["a"])
    named = compare({1: candidates, 2.5: references}, dict.fromkeys(references).keys(), baseline=2.5)  # type: ignore
    assert named.baseline == "2.5"


HUMAN = {"judges": {"A": 1.0, "B": 2.0}}
CALLS: dict[str, Callable[..., Any]] = {
    "score": partial(score, ["a"], ["a"]),
    "corpus_score": partial(softbleu.Bleu().corpus_score, ["a"], ["a"]),
    "compare": partial(compare, {"A": ["a"]}, ["a"]),
    "explain": partial(softbleu.explain, ["a"], ["a"]),
    "sweep": partial(softbleu.sweep, ["a"], ["a"], vary={"order": [1]}),
    "metaeval": partial(softbleu.metaeval, human=HUMAN, metrics="bleu", candidates={"A": ["a"]}, references=["a"]),
    "pairwise": partial(softbleu.pairwise, ["a"], ["a"]),
    "spurious": partial(softbleu.spurious, count=1),
}
WRONG = {
    "jobs": ("2", 1.5, None, True, 0, "score corpus_score compare sweep metaeval pairwise spurious"),
    "executor": ("x", ThreadPoolExecutor, "score corpus_score compare sweep metaeval pairwise spurious"),
    "progress": ("x", 3, "score compare sweep metaeval spurious"),
    "level": (None, 3, "line", "score corpus_score"),
    "significance": ("x", "compare"),
    "segments": (None, 1, "1", [1.5], ["1"], [2], [True], "explain"),
}


@pytest.mark.parametrize(
    ("call", "name", "value"),
    [(call, name, value) for name, (*values, calls) in WRONG.items() for call in calls.split() for value in values],
)
def test_arguments_are_checked_in_one_way(call: str, name: str, value: Any) -> None:
    refused(InputError, rf"\b{name.rstrip('s')}", CALLS[call], **{name: value})


def test_a_wrong_keyword_is_named() -> None:
    said = r"unknown setting 'treshold' \(did you mean 'threshold'\?\)"
    refused(UnknownNameError, said, softbleu.Vleu, treshold=0.8)
    refused(InputError, "matcher must be Matcher, not 0.8", softbleu.Vleu, 0.8)
    refused(AttributeError, "Mleu", getattr, softbleu, "Mleu")


@pytest.mark.parametrize("call", [score, compare, explain])
def test_metrics_are_named_in_the_singular_too(call: Any) -> None:
    texts = ({"A": ["a cat"]}, ["a cat"])
    assert str(call(*texts, metric="chrf")) == str(call(*texts, metrics="chrf"))
    refused(InputError, "metric and metrics are one parameter", call, *texts, metric="x", metrics="y")


TEXTS = st.text("ab .", max_size=12)
SEGMENTS = st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=2), TEXTS), min_size=1, max_size=8)
# Metrics by what is kept of segments: sums, and rows or text where these do not add up.
SUMS = [
    "bleu",
    "chrf",
    "ter",
    "sleu(vectors=glove-6b-100d)",
    "softbleu(rarity=0)",
    "green",
    "errant(annotators=best)",
]
KINDS = [*SUMS, "gleu", "cleme", "cleme(weights=length)", "softbleu"]


@pytest.mark.parametrize("metric", KINDS)
@given(rows=SEGMENTS, data=st.data())
@settings(max_examples=8)
def test_any_batches_give_the_same_result(
    metric: str, rows: list[tuple[str, list[str], str]], data: st.DataObject
) -> None:
    cuts = data.draw(st.sets(st.integers(1, len(rows)), max_size=3))
    bounds = [0, *sorted(cuts - {len(rows)}), len(rows)]
    merged = data.draw(st.integers(0, len(bounds) - 1))
    first, second = softbleu.Accumulator(metric), softbleu.Accumulator(metric)
    for number, (start, stop) in enumerate(pairwise(bounds)):
        (first if number < merged else second).update(*zip(*rows[start:stop], strict=True))
    first.merge(pickle.loads(pickle.dumps(second)))
    assert len(first) == len(rows)
    assert first.compute() == softbleu.read_metric(metric).corpus_score(*zip(*rows, strict=True))
    assert (first.kept == "sums") >= (metric in SUMS)


@pytest.mark.parametrize("metric", SUMS)
@given(rows=SEGMENTS, order=st.randoms(use_true_random=False))
@settings(max_examples=4)
def test_any_order_gives_the_same_sums(
    metric: str, rows: list[tuple[str, list[str], str]], order: random.Random
) -> None:
    shuffled = order.sample(rows, len(rows))
    made = softbleu.Accumulator(metric)
    for text, references, source in shuffled:
        made.update([text], [references], [source])
    assert made.compute() == softbleu.read_metric(metric).corpus_score(*zip(*rows, strict=True))


def test_sums_are_small_whatever_was_added_and_rows_and_texts_say_why_they_are_kept() -> None:
    lines = [f"{'ab ' * (number % 7)}c" for number in range(3000)]
    for metric in SUMS[:5]:
        made = softbleu.Accumulator(metric)
        made.update(lines, lines[::-1])
        assert len(pickle.dumps(made)) <= 1000
    for metric, kept, why in (
        ("gleu", "rows", "references are drawn"),
        ("softbleu", "text", "rarity of a word depends on all references"),
        ("vleu(normalize=no)", "text", "words without a vector"),
        ("vleu(vectors=minilm-l6, context=1)", "text", "lines before each line"),
    ):
        made = softbleu.Accumulator(metric)
        made.update(["a cat"], [["a dog", "a cat"]], ["cats"])
        assert (made.kept, why in str(made.why)) == (kept, True)
        assert kept in repr(made)


def test_segments_and_intervals_need_rows_which_are_kept_if_asked_for() -> None:
    texts = ["the cat", "a dog", "it rains"], ["the cats", "a dog", "it rained"]
    plain, full = softbleu.Accumulator("chrf"), softbleu.Accumulator("chrf", keep_rows=True)
    for made in (plain, full):
        made.update(*texts)
        made.update(*texts)
    assert (plain.kept, full.kept, full.why) == ("sums", "rows", "rows were asked for")
    twice = [[*each, *each] for each in texts]
    for level in ("segment", "macro"):
        assert full.compute(level=level) == softbleu.Chrf().corpus_score(*twice, level=level)
        refused(InputError, f"level '{level}' needs the statistics", plain.compute, level=level)
    expected = compare({"A": twice[0]}, twice[1], metrics="chrf").comparisons[0].interval
    assert full.interval() == expected
    rare = softbleu.Accumulator("softbleu")
    rare.update(*twice)
    assert rare.interval() == compare({"A": twice[0]}, twice[1], metrics="softbleu").comparisons[0].interval
    refused(InputError, "an interval needs the statistics", plain.interval)
    refused(InputError, "no text to score yet", softbleu.Accumulator(keep_rows=True).interval)
    refused(InputError, "only one of the two was made with keep_rows=True", plain.merge, full)
    refused(UnknownNameError, "unknown level", plain.compute, level="line")
    refused(InputError, "scores of documents", plain.compute, level="document")


def test_blank_references_count_by_their_share_in_all_batches() -> None:
    """Of metrics that take the source they are missing in more than a hundredth of the segments, else empty."""
    blank, plain = (["a cat sat"], [["a cat sat", " "]], ["a cat sit"]), (["a dog"], [["a dog", "a cat"]], ["a dog"])
    for metric in ("gleu", "green"):
        made = softbleu.Accumulator(metric)
        batches = [plain, blank, *[plain] * 120]
        for number, batch in enumerate(batches, start=1):
            made.update(*batch)
            if number in (1, 2, 90, 122):
                whole = [[each for one in batches[:number] for each in one[part]] for part in range(3)]
                assert made.compute() == softbleu.read_metric(metric).corpus_score(*whole)


def test_reset_forgets_all_and_merge_leaves_the_other_alone_also_with_vectors_in_memory() -> None:
    metric = softbleu.Vleu(vectors={"cat": [1.0, 0.0], "dog": [0.9, 0.1]}, order=1)
    one, other = softbleu.Accumulator(metric), softbleu.Accumulator(metric)
    one.update(["cat"], ["dog"])
    other.update(["dog"], ["dog"])
    one.merge(other)
    assert one.compute() == metric.corpus_score(["cat", "dog"], ["dog", "dog"])
    one, other = softbleu.Accumulator("chrf"), softbleu.Accumulator(softbleu.Chrf())
    one.update(["a cat"], ["a dog"])
    other.update(["x"], ["y"])
    one.merge(other)
    assert (len(one), len(other)) == (2, 1)
    refused(InputError, "another accumulator is needed, not NoneType", one.merge, None)
    refused(InputError, "one metric is needed here, not a list of 2", softbleu.Accumulator, ["chrf", "bleu"])
    one.reset()
    one.update(["a dog"], ["a dog"])
    assert one.compute().score == pytest.approx(100)


def test_a_batch_that_does_not_fit_is_refused_and_adds_nothing() -> None:
    one = softbleu.Accumulator()
    refused(InputError, "no text to score yet", one.compute)
    one.update(["a"], ["a"])
    for texts, said in (
        ((["a"], ["a"], ["a"]), "some batches have sources and some have none"),
        ((["a", "b"], ["a"]), "2 candidates but references for 1 segment"),
        (({"A": ["a"]}, ["a"]), "one system"),
    ):
        refused(InputError, said, one.update, *texts)
    refused(InputError, "cannot merge", one.merge, softbleu.Accumulator("chrf"))
    assert len(one) == 1


def test_segments_have_effective_order_unless_set() -> None:
    assert score(["a cat"], ["a cat"]).score == 0
    found = score(["a cat"], ["a cat"], level="segment")
    assert [found.score, *(each.score for each in found.segments or ())] == pytest.approx([100, 100])


def test_results_format_round_order_and_average_as_numbers() -> None:
    first, second = score(CANDIDATES, REFERENCES, metrics="bleu")
    assert f"{first:.2f}" == f"{first.score:.2f}"
    assert f"{first}" == str(first)
    assert (round(first, 1), round(first)) == (round(first.score, 1), round(first.score))
    assert [first > second, first >= 101, second < first, first <= 0] == [True, False, True, False]
    assert sorted([first, second]) == [second, first]
    assert np.mean([first, second]) == (first.score + second.score) / 2
    assert json.loads(json.dumps(first.to_dict()))["score"] == first.score


def test_results_show_themselves_as_tables_at_a_prompt() -> None:
    results = score(CANDIDATES, REFERENCES, metrics=["bleu", "chrf"])
    assert repr(results) == str(results)
    assert repr(results).splitlines()[0].split() == ["system", "bleu", "chrf"]
    assert f"{results[0]:.2f}" in repr(results).splitlines()[2]
    assert repr(results[0]) == str(results[0])
    table = compare(CANDIDATES, REFERENCES, metrics="chrf")
    assert repr(table) == str(table)
    frame = score(CANDIDATES, REFERENCES, metrics=["bleu", "ter"]).to_frame()
    assert not frame.isna().all().any()
