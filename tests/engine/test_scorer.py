"""Segments scored by their tokens as they are: the digits of a corpus of one segment, whatever the settings."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier
from typing import Any, ClassVar

import numpy as np
import pytest
from declarations import values_of
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from strategies import HOSTILE_LINES

import softbleu
from softbleu import InputError, read_metric
from softbleu.config.declare import own_settings
from softbleu.engine import scorer
from softbleu.metrics import Metric
from softbleu.text.tokens import Tokenizer

COUNTED = ("bleu", "chrf", "chrf++", "ter", "gleu")
WORDS = st.lists(st.sampled_from(["the", "The", "cat", "a", "it's", ".", "1,000.5", "-"]), max_size=9).map(" ".join)
LINES = st.one_of(WORDS, HOSTILE_LINES)
TOKENIZERS = ("none", "13a", "intl", "zh", "char", "char+space", "unspaced", "blanks")
OF_TOKENIZERS = {each.name: each for each in own_settings(Tokenizer)}


def own_of(name: str) -> dict[str, Any]:
    """Settings of a metric's own, but of its parts."""
    return {each.name: each for each in own_settings(type(read_metric(name))) if each.part is None}


@st.composite
def metrics(draw: st.DrawFn) -> Metric:
    """A metric that counts texts, with any settings."""
    name = draw(st.sampled_from(COUNTED))
    known = {**own_of(name), **OF_TOKENIZERS}
    chosen = draw(st.lists(st.sampled_from(sorted(known)), unique=True, max_size=4))
    given = {key: draw(values_of(known[key])) for key in chosen}
    if draw(st.booleans()):
        given["tokenize"] = draw(st.sampled_from(TOKENIZERS))
    try:
        return read_metric(name, **given)
    except InputError:  # Settings that exclude each other
        assume(False)
        raise


def as_corpus(metric: Metric, candidate: Any, references: Any, source: Any = None) -> Any:
    """The score of a corpus of one segment."""
    scorer = metric._scorer
    return scorer.scored(scorer.rows(*scorer.coded(scorer.segment(candidate, references, source))))


@given(
    metric=metrics(),
    candidates=st.lists(LINES, min_size=1, max_size=2),
    references=st.lists(LINES, min_size=1, max_size=3),
    source=LINES,
)
@example(read_metric("chrf"), ["", "a"], ["", "a"], "")
@example(read_metric("chrf(char_order=12)"), ["abcdefghijklmnopqrstuvwxyz 1234567890"], ["abcdefghij klmnop"], "")
@example(read_metric("gleu"), ["a b", ""], ["a c", " "], "a b c")
@example(read_metric("bleu(smooth=add-k, smooth_value=0)"), ["a b c"], ["a x b y c"], "")
@settings(max_examples=300)
def test_the_digits_are_those_of_a_corpus(
    metric: Metric, candidates: list[str], references: list[str], source: str
) -> None:
    given = source if metric.requires.source else None
    for candidate in candidates:
        # The second candidate meets references that are known.
        found = metric.sentence_score(candidate, references, given)
        assert repr(found) == repr(as_corpus(metric, candidate, references, given))


@given(metric=metrics(), data=st.data())
def test_a_row_scores_as_among_others(metric: Metric, data: st.DataObject) -> None:
    # Rows of soft matchers, too: an order may have matches that lower ones lack.
    chosen: Any = metric
    known = chosen.known_texts([["a", "b"]], ["a"])
    (row,) = chosen.text_rows(["a", "c"], known)
    rows = data.draw(st.lists(st.tuples(*[st.integers(0, 3_000_000)] * len(row)), min_size=1, max_size=4))
    expected = metric.columns(np.array(rows))
    assert [repr(chosen.score(list(row))) for row in rows] == [repr(score) for score in expected]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vleu", "softbleu"])
def test_many_segments_are_compared_by_compiled_kernels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(scorer, "_MANY", 3)
    metric = read_metric(name, vectors={"cat": [1.0, 0.2], "dog": [0.9, 0.3], "the": [0.1, 1.0]})
    scores = [metric.sentence_score("the dog sat", "a cat sat on the mat") for _ in range(5)]
    assert (metric._scorer._kernels.NAME, scores[1:]) == ("numba", scores[:1] * 4)


@pytest.mark.parametrize("name", COUNTED)
def test_ordinary_segments_are_counted_directly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = read_metric(name)
    given = "the cats sat" if metric.requires.source else None
    texts = ["the cat sat", "the cat"]
    expected = [as_corpus(metric, "the cat lay", references, given) for references in (texts[:1], texts)]
    monkeypatch.setattr(metric._scorer, "coded", None)
    assert [metric.sentence_score("the cat lay", references, given) for references in (texts[0], texts)] == expected
    assert metric.sentence_score("the cat lay", tuple(texts), given) == expected[1]


CORPORA: list[tuple[str, Any, Any, Any]] = [
    ("bleu", "a b " * 300, ["a b c"], None),
    ("bleu", "a", ["a b " * 5000], None),
    ("chrf", "a b " * 40000, ["a b c"], None),
    ("gleu", "a b", ["a b c", " "], "a b d"),
    ("gleu(variant=gleu0)", "a b", ["a b c", "b"], "a b d"),
    ("gleu(variant=gleu+paper)", "a b", ["a b c", "b"], "a b d"),
    ("bleu(partial=yes)", "a b", ["a b c", "b"], None),
    ("bleu(matcher=vleu, threshold=1)", "a b", ["a b c", "b"], None),
    ("bleu", "a b", iter(["a b c"]), None),
    ("bleu", "a b", ["a b c", None], None),
]
"""Segments that are scored as corpora."""


@pytest.mark.parametrize(("name", "candidate", "references", "source"), CORPORA, ids=range(len(CORPORA)))
def test_other_segments_are_scored_as_corpora(name: str, candidate: str, references: Any, source: Any) -> None:
    metric = read_metric(name)
    assert metric._scorer.text_rows(candidate, references, source) is None
    again = [each for each in references if each is not None] if isinstance(references, list) else ["a b c"]
    expected = metric.corpus_score([candidate], [again], source and [source], level="segment").segments
    assert [metric.sentence_score(candidate, references, source)] == list(expected or ())


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ((3, ["a"]), "text is needed, not int"),
        (("a", [3]), "text is needed, not int"),
        (("a", [["a"]]), "text is needed, not list"),
        (("a", ["a"], 3), "text is needed, not int"),
        (("a", {"a": 1}), "not dict"),
        (("a", []), "segment 1 has no reference"),
    ],
)
def test_values_that_are_no_text_are_refused_where_references_are_known(texts: Any, message: str) -> None:
    metric = read_metric("chrf")
    metric.sentence_score("a", ["a"])
    with pytest.raises(InputError, match=message):
        metric.sentence_score(*texts)


@dataclass(frozen=True, repr=False, eq=False)
class Halved(softbleu.Bleu):
    """BLEU of another package, half as high."""

    name: ClassVar[str] = "halved"

    def columns(self, rows: Any) -> Any:
        found = super().columns(rows)
        found.score = found.score / 2
        return found


def test_a_metric_that_is_derived_from_ours_has_its_own_score() -> None:
    plain, halved = (metric().sentence_score("a b c", "a b").score for metric in (softbleu.Bleu, Halved))
    assert halved == plain / 2 > 0


def test_a_bounded_number_of_references_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorer, "_MOST_KEPT", 100)
    metric, fresh = read_metric("chrf++"), read_metric("chrf++")
    known = []
    for number in [*range(40), *range(40)]:
        texts = f"a cat {number}", f"the cat {number}"
        assert metric.sentence_score(*texts) == as_corpus(fresh, *texts)
        known.append(sum(len(text) for key in metric._scorer._known for text in key))
    assert 80 < max(known) <= 100


@pytest.mark.parametrize("name", COUNTED)
def test_threads_that_begin_at_once_get_equal_digits(name: str) -> None:
    metric, start = read_metric(name), Barrier(8)
    texts = [(f"the cat {number} sat", f"a cat {number} sat on", f"cat {number}") for number in range(50)]

    def score(_: int) -> list[Any]:
        start.wait()
        return [metric.sentence_score(one, other, last) for one, other, last in texts]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as executor:
            found = list(executor.map(score, range(8)))
    finally:
        sys.setswitchinterval(interval)
    assert found == [[as_corpus(metric, *each) for each in texts]] * 8
