"""A measure as text: expression and signature say all of it, and no text does harm."""

import pytest
from complete import complete
from declarations import NAMES, measures, refusal
from hypothesis import example, given, settings
from hypothesis import strategies as st

from softbleu.config.signature import format_expression, parse_expression
from softbleu.matching import make_matcher
from softbleu.metrics import METRICS, Bleu, Chrf, Gleu, Metric
from softbleu.metrics.making import make_metric, metric_from_signature, read_metric
from softbleu.text.tokenizers import Tokenizer13a, Whitespace


@given(measure=measures(), short=st.booleans(), level=st.sampled_from(["corpus", "segment"]))
@settings(max_examples=60)
def test_an_expression_and_a_signature_are_read_back(measure: Metric, short: bool, level: str) -> None:
    assert read_metric(str(measure)) == measure
    assert "\n" not in str(measure)
    vectors = f"{measure.vector_choice.vectors}#0123456789ab" if measure.requires.vectors else None
    signature = measure.signature(short=short, vectors=vectors, level=level, nrefs=2)
    assert metric_from_signature(signature) == measure
    assert signature.isprintable()


@given(measure=measures())
@settings(max_examples=40)
def test_a_measure_is_what_its_parts_make(measure: Metric) -> None:
    assert make_metric(measure) == measure
    assert make_metric(measure) == complete(measure)
    values = {each.name: value for each, value in measure.settings() if each.name != "metric"}
    assert make_metric(measure.name, **values) == measure


@given(settings=st.dictionaries(st.from_regex(r"\A[a-z_]+\Z"), st.text() | NAMES))
@settings(max_examples=60)
def test_any_value_can_be_written(settings: dict[str, str]) -> None:
    assert parse_expression(format_expression("name", settings)) == ("name", settings)


MARKS = st.lists(
    st.sampled_from(["bleu", "vleu", "gleu", "(", ")", "=", ",", " ", '"', "'", "\\", "\\x", "\\N{", "\n", "\0"])
    | st.sampled_from(["order", "matcher", "threshold", "4", "0.5", "none", "nan", "p99", "\ud800", "%7C"])
).map("".join)


@given(text=st.text() | MARKS)
@example("'\\x'")
@example('bleu(order="\\N{nothing}")')
@example('bleu(vectors="a\nb")')
@example('vleu(vectors="C:\\data")')
@example("bleu(order=²)")
@example("bleu(order=" + "9" * 5000 + ")")
@example("a(b=" * 3000)
@example("".join(f"a(k{number}=" for number in range(3000)))
@settings(max_examples=150)
def test_no_text_does_harm(text: str) -> None:
    said = refusal(lambda: read_metric(text))
    assert "\n" not in said
    if not said:
        measure = read_metric(text)
        assert read_metric(str(measure)) == measure


PIECES = ("metric:", "bleu", "|", ":", "order", "4", "%", "7C", "%7C", "%ff", "vectors", "\n")


@given(text=st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
@settings(max_examples=100)
def test_no_signature_does_harm(text: str) -> None:
    assert "\n" not in refusal(lambda: metric_from_signature(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bleu", Bleu()),
        ("BLEU", Bleu()),
        ("bleu()", Bleu()),
        ("  bleu ( order = 2 , ) ", complete(Bleu(order=2))),
        ("vleu", complete(Bleu(make_matcher("vleu")))),
        ("vleu(threshold=0.8)", complete(Bleu(make_matcher("vleu", threshold=0.8)))),
        ("bleu(matcher=vleu, threshold=0.8)", complete(Bleu(make_matcher("vleu", threshold=0.8)))),
        ("bleu(matcher=vleu(threshold=0.8), order=2)", complete(Bleu(make_matcher("vleu", threshold=0.8), 2))),
        ("gleu(segment-smoothing=yes)", complete(Gleu(segment_smoothing=True))),
        ("gleu(segment_smoothing=true)", complete(Gleu(segment_smoothing=True))),
        ("vleu(threshold=p99.9)", complete(Bleu(make_matcher("vleu", threshold="p99.9")))),
        ("bleu(smooth=\"floor\", smooth_value='0.5')", complete(Bleu(smooth="floor", smooth_value=0.5))),
        ("bleu(preset=morgan2014)", complete(Bleu(smooth="none", denominator="reference"), Whitespace())),
        ("chrf(tokenize=13a)", complete(Chrf(), Tokenizer13a())),
        ("bleu(tokenize=none)", complete(Bleu(), Whitespace())),
        ("bleu(lowercase=yes)", complete(Bleu(), Tokenizer13a(lowercase=True))),
    ],
)
def test_people_write_it_so(text: str, expected: Metric) -> None:
    assert read_metric(text) == expected


@pytest.mark.parametrize(
    "text", ["softbleu(similarity=spelling, credit=both)", "softbleu(vectors=minilm-l6, power=0.7)"]
)
def test_a_default_that_the_vectors_would_change_is_written(text: str) -> None:
    measure = read_metric(text)
    assert read_metric(str(measure)) == measure


def test_settings_that_are_given_go_before_those_written() -> None:
    assert read_metric("vleu(threshold=0.8, order=2)", order=3) == make_metric("vleu", threshold=0.8, order=3)
    assert metric_from_signature(Chrf(beta=3.0).signature(), beta=1.0) == make_metric("chrf", beta=1.0)
    assert [str(make_metric(name)) for name in METRICS.names()] == METRICS.names()
