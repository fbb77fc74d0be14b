"""Metrics as text, defaults, presets, thresholds, what is refused, notes on text; single ones: test_declare.py."""

from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
import pytest
from complete import complete
from declarations import NAMES, measures, refusal
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st
from refusing import refused
from shared_data import shared
from tables import each_row
from vector_files import write_store

import softbleu
from softbleu import InputError, Segments, compare, explain, score, sweep
from softbleu.config.declare import format_expression, parse_expression
from softbleu.embeddings.function_words import LEAST_ENGLISH, english_share
from softbleu.engine.notes import text_notes
from softbleu.engine.plan import resolve_metric, threshold_of
from softbleu.errors import VectorError, spelt
from softbleu.matching import make_matcher
from softbleu.metrics import METRICS, Metric
from softbleu.metrics.bleu import Bleu
from softbleu.metrics.chrf import Chrf
from softbleu.metrics.declared import fitted
from softbleu.metrics.reading import fit_metric, read_metric
from softbleu.metrics.signatures import metric_from_signature


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
    assert measure.replaced() == measure == complete(measure)
    values = {each.name: value for each, value in measure.settings()}
    try:
        again = read_metric(measure.name, **values)
    except VectorError:
        # A tokenizer's own language, when it is named, is compared with that of vectors, which are not there.
        reject()
    assert again == measure


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


@each_row("results/expressions.toml", "text", "metric")
def test_an_expression_is_read_and_written_in_one_form(text: str, metric: str) -> None:
    measure = read_metric(text)
    assert str(measure) == metric
    assert measure == read_metric(metric)


def test_settings_that_are_given_go_before_those_written() -> None:
    assert read_metric("vleu(threshold=0.8, order=2)", order=3) == read_metric("vleu", threshold=0.8, order=3)
    assert metric_from_signature(Chrf(beta=3.0).signature(), beta=1.0) == read_metric("chrf", beta=1.0)
    assert [str(read_metric(name)) for name in METRICS.names()] == METRICS.names()


VECTORS = {"cat": [1.0, 0.0], "dog": [0.6, 0.8]}


@pytest.mark.parametrize("matcher", ["sleu", "vleu", "xleu"])
def test_the_threshold_unless_given(matcher: str) -> None:
    measure = read_metric(matcher, order=1, vectors=VECTORS)
    assert threshold_of(measure) is None
    assert resolve_metric(measure) == read_metric(matcher, order=1, vectors=VECTORS, threshold=0.8)
    # "cat" and "dog" are 0.6 alike.
    default, lower = (measure.corpus_score(["dog"], ["cat"]), score(["dog"], ["cat"], metrics=measure, threshold=0.5))
    assert (default.score, lower.score) == (0, pytest.approx(60, abs=1e-4))
    for signature in (default.signature, default.short_signature):
        assert "|threshold:0.8|" in signature


@pytest.mark.parametrize("recommended", [0.5, 0])
def test_vectors_may_recommend_a_threshold(tmp_path: Path, recommended: float) -> None:
    rows, place = np.array(list(VECTORS.values()), np.float32), tmp_path / "store"
    write_store(place, VECTORS, rows, extra={"threshold": recommended})
    soft: dict[str, Any] = {"order": 1, "vectors": place}
    measure = read_metric("vleu", **soft)
    assert resolve_metric(measure).threshold == recommended
    found = score(["dog"], ["cat"], metrics="vleu", **soft)
    assert found.score == pytest.approx(60, abs=1e-4)
    assert found.score == float(measure.sentence_score("dog", "cat"))
    assert f"|threshold:{float(recommended)}|" in found.short_signature
    assert compare({"A": ["dog"]}, ["cat"], metrics=measure).comparisons[0].score == found.score
    swept = sweep(["dog"], ["cat"], metrics=measure, vary={"lowercase": [False, True]})
    assert [(row.score, row.threshold) for row in swept] == [(found.score, recommended)] * 2
    (explained,) = explain(["dog"], ["cat"], metrics=measure)
    assert explained.matches[0].similarity == pytest.approx(0.6, abs=1e-4)
    assert score(["dog"], ["cat"], metrics="vleu", threshold=0.8, **soft).score == 0


def test_a_preset_sets_what_is_not_given() -> None:
    measure = read_metric(matcher="xleu", threshold=0.5, preset="morgan2014")
    matcher = make_matcher("xleu", threshold=0.5, assignment="sequential")
    assert measure == Bleu(matcher, smooth="none", denominator="reference", tokenize="none", vector_case="exact")
    in_context = read_metric(matcher="vleu", preset="morgan2014", vectors="minilm-l6")
    assert {each.name: value for each, value in in_context.settings()}["vector_case"] == "fallback"
    assert read_metric(matcher="xleu", preset="morgan2014").threshold == 0.0
    assert read_metric(preset="morgan2014").matcher == make_matcher("exact")
    # What is given goes before the preset.
    given: dict[str, Any] = {"assignment": "optimal", "vector_case": "fallback", "smooth": "exp"}
    metric = read_metric(matcher="vleu", preset="morgan2014", **given)
    assert isinstance(metric, Bleu)
    assert metric.matcher == make_matcher("vleu", threshold=0.0, assignment="optimal")
    assert (metric.smooth, metric.denominator) == ("exp", "reference")


OF_SOFTBLEU = {"order": 3, "beta": 2.0, "power": 0.5, "rarity": 1.0, "characters": 0.25, "idf": "references"}
IDLE: list[tuple[dict[str, Any], list[str]]] = [
    ({"threshold": 0.5, "assignment": "optimal"}, ["threshold", "assignment"]),
    ({"matcher": "vleu", "threshold": 0.5, "assignment": "optimal"}, []),
    ({"preset": "morgan2014"}, []),
    ({"metric": "gleu", "preset": "morgan2014"}, ["preset"]),
    ({"metric": "softbleu", **OF_SOFTBLEU}, []),
    ({"metric": "bleu", **OF_SOFTBLEU}, ["beta", "power", "rarity", "characters", "idf"]),
    ({"metric": "softbleu", "smooth": "exp", "variant": "gleu0"}, ["smooth", "variant"]),
    ({"metric": "softbleu", "matcher": "vleu", "preset": "morgan2014"}, ["matcher", "preset"]),
]


def test_idle_settings_are_named_and_checked() -> None:
    for chosen, idle in IDLE:
        settings = {"metric": "bleu", **chosen}
        metric = read_metric(settings.pop("metric"))
        assert fitted(metric, settings)[1] == {*idle}, chosen
    for name, value in (("threshold", 7.0), ("matcher", "mleu"), ("matcher", 5), ("multi", "most")):
        refused(InputError, name, fit_metric, "softbleu", {name: value})
    message = "^bleu over 'exact' has no setting 'threshold'; it has: matcher, order, "
    refused(InputError, message, score, ["a cat"], ["a dog"], threshold=0.5)


ENGLISH = ["The cat sat on the mat and it was not at all what they had been told about"] * 6
JAPANESE = ["猫はマットの上に座っていたが、言われていたものとは違った"] * 6
GERMAN = ["Die Katze saß auf der Matte und war gar nicht das, wovon man ihnen erzählt hatte"] * 6


def notes_on(corpus: Segments, metrics: list[Any]) -> list[str]:
    return list(map(spelt, text_notes(corpus, metrics)))


TEXTS = {"English": ENGLISH, "Japanese": JAPANESE, "German": GERMAN, "German line": GERMAN[:1], "blank": [" "] * 6}
TEXTS |= {"empty": [""] * 6, "decomposed German": [normalize("NFD", line) for line in GERMAN]}


@each_row("results/notes.toml", "metric", "output", "references", says=())
def test_text_of_another_language_is_noted(metric: str, output: str, references: str, says: list[str]) -> None:
    notes = notes_on(Segments.of({"sys": TEXTS[output]}, TEXTS[references]), [read_metric(metric)])
    assert len(notes) == bool(says)
    assert all(part in note for note in notes for part in says)


def test_metrics_that_split_at_blanks_are_named_beside_those_whose_data_is_english() -> None:
    foreign, unspaced = notes_on(Segments.of({"sys": JAPANESE}, JAPANESE), [read_metric("bleu"), softbleu.Softbleu()])
    assert "data of softbleu is English" in foreign
    assert "at which BLEU would split" in unspaced


@each_row("results/languages.toml", "metric", "language", "made")
def test_a_language_sets_what_is_not_named(
    metric: str, language: str, made: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cs.vec").write_text("pes 1 0\n", encoding="utf-8")
    assert str(read_metric(metric, language=language)) == made
    if metric.isalpha():
        assert read_metric(f"{metric}(language={language})") == read_metric(metric, language=language)


@pytest.mark.usefixtures("few_lines_tested")
def test_low_coverage_is_noted_once(capsys: pytest.CaptureFixture[str]) -> None:
    vectors = {word: [1.0, 0.5] for word in ENGLISH[0].split()}
    systems, metric = {"one": GERMAN, "two": GERMAN[:1] * 6}, softbleu.Vleu(threshold=0.8, vectors=vectors)
    said = "one, VLEU: 0% of the candidate's tokens have a vector (below 80% in 1 more)"
    score({"one": ENGLISH}, ENGLISH, metrics=metric, progress=True)
    score(systems, ENGLISH, metrics=metric)
    assert not capsys.readouterr().err
    asked: dict[str, Any] = {"metrics": metric, "progress": True}
    swept = asked | {"vary": {"threshold": [0.5, 0.8]}}
    for call, how in ((score, {"metrics": metric, "progress": True}), (compare, asked), (sweep, swept)):
        call(systems, ENGLISH, **how)
        error = capsys.readouterr().err
        assert error.lower().count(said.lower()) == error.count("note:") == 1


def shares(*parts: str) -> list[float]:
    lines = shared("data", *parts).read_text(encoding="utf-8").splitlines()
    return [english_share(lines[start : start + 20])[0] for start in range(0, len(lines) - 19, 20)]


@pytest.mark.parametrize("language", ["cs", "de", "zh"])
def test_real_text_of_other_languages_is_recognised(language: str) -> None:
    pair = f"{language}-en"
    assert min(shares("wmt21-into-en", pair, "reference-A.en")) > LEAST_ENGLISH
    assert max(shares("wmt21-into-en", pair, f"source.{language}")) < LEAST_ENGLISH
    # That of learners is English.
    assert min(shares("conll14", "source.txt")) > LEAST_ENGLISH
