"""Spans of metrics and of judges: readers, the literal definition, the command."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import metaeval as oracle

import softbleu
from softbleu.corpora.judgements import MarkedOutput, MarkedSpan, SpanTable
from softbleu.corpora.segments import Segments
from softbleu.meta.spans import Marks, span_agreements
from softbleu.results.spans import unmatched_spans

LENGTH = 12
PLACES = st.tuples(st.integers(0, LENGTH), st.integers(0, LENGTH)).map(sorted)
SPANS = st.lists(
    st.tuples(PLACES, st.sampled_from(["minor", "major"])).map(lambda s: MarkedSpan(*s[0], s[1])), max_size=3
)
OUTPUTS = st.lists(st.tuples(st.lists(SPANS, min_size=1, max_size=2), SPANS), min_size=1, max_size=5)


def table(outputs: list[list[list[MarkedSpan]]]) -> SpanTable:
    return SpanTable(
        "m", {"A": {n: [MarkedOutput("", tuple(s)) for s in marked] for n, marked in enumerate(outputs)}}
    )


@given(OUTPUTS)
def test_agreement_is_the_literal_one(outputs: list[tuple[list[list[MarkedSpan]], list[MarkedSpan]]]) -> None:
    """In every sample of segments, with the texts and without; as many random characters are an expectation."""
    judged, predicted = table([judges for judges, _ in outputs]), table([[spans] for _, spans in outputs])
    texts = {"A": ["abcd efgh ij"] * len(outputs)}
    (found,) = span_agreements(Marks(judged, [predicted], texts), samples=5, seed=3)
    rows = [[(LENGTH, spans, said) for spans in judges] for judges, said in outputs]
    expected = oracle.span_scores([row for group in rows for row in group])
    shown = [np.nan if value is None else value for value in (found.precision, found.recall, found.f1.value)]
    assert shown == pytest.approx(expected, nan_ok=True)
    drawn = np.random.default_rng(3).integers(len(rows), size=(5, len(rows)))
    samples = [oracle.span_scores([row for n in numbers for row in rows[n]])[2] for numbers in drawn]
    assert found.f1.drawn == pytest.approx(samples, nan_ok=True)


def test_random_characters_are_expected() -> None:
    """Of the ten that are no blanks, five are predicted; the judge marks four, one of them a blank."""
    judged, predicted = (table([[[MarkedSpan(*places, "minor")]]]) for places in ((3, 7), (0, 6)))
    (found,) = span_agreements(Marks(judged, [predicted], {"A": ["abcd efgh ij"]}), samples=0)
    assert found.random.value == pytest.approx(2 * (3 * 0.5) / (5 + 4))


@pytest.mark.parametrize(
    "metric", ["bleu(tokenize=13a)", "ter", "sleu", "vleu(vectors=none)", "softbleu(vectors=none)"]
)
def test_what_is_unmatched_is_marked(metric: str) -> None:
    corpus = Segments.of({"A": ["the dog  barks xyzzy qwrtp now"]}, ["the dog barks now"])
    made = unmatched_spans(corpus, softbleu.read_metric(metric), severity="major")
    assert made.records() == [
        {"system": "A", "segment": 1, "start": 15, "end": 26, "severity": "major", "text": "xyzzy qwrtp"}
    ]


def test_computed_spans_are_compared_with_those_of_a_file(tmp_path: Path) -> None:
    files = {"a.txt": "a cat sits\nit rains\n", "r.txt": "a cat sat\nit rains\n"}
    files["j.tsv"] = "system\tsegment\tstart\tend\tseverity\na\t1\t6\t10\tmajor\na\t2\t\t\t\n"
    a, r, judged = (str(tmp_path / name) for name in files)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (row,) = softbleu.metaeval(
        "spans", assessments=judged, candidates=[a], references=[r], metrics=["bleu"]
    ).records()
    assert (row["precision"], row["recall"], row["f1"], row["marked"], row["judgements"]) == (0.5, 0.5, 0.5, 4, 2)
