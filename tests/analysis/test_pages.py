from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_encoder import MadeUpEncoder

import softbleu
from softbleu.analysis import page_matches
from softbleu.analysis.page_matches import shown_text
from softbleu.analysis.pages import make_page
from softbleu.corpora import Segments
from softbleu.engine.plan import resolve_metric
from softbleu.engine.prepare import prepare_corpus
from softbleu.metrics import Requirements
from softbleu.metrics.making import make_metric

ROWS = [[1.0, 0.0, 0.1], [0.9, 0.4, 0.0], [0.7, 0.7, 0.0], [0.0, 1.0, 0.3], [0.1, 0.2, 1.0]]
VECTORS = dict(zip("abcde", ROWS, strict=True))
LINES = st.lists(st.sampled_from([*VECTORS, "unknown"]), max_size=7).map(" ".join)
CORPORA = st.lists(st.tuples(LINES, LINES, st.lists(LINES, min_size=1, max_size=3)), min_size=1, max_size=4)
KINDS: list[dict[str, Any]] = [{"matcher": name} for name in ("vleu", "xleu", "sleu")]
KINDS += [{"matcher": "vleu", "assignment": "optimal"}, {"matcher": "xleu", "preset": "morgan2014"}]
KINDS += [{"matcher": "xleu", "vectors": MadeUpEncoder()}]
KINDS += [{"matcher": "vleu", "vectors": MadeUpEncoder(), "exact_words": "one"}]


def corpus_of(segments) -> Segments:
    one, two, references = zip(*segments, strict=True)
    return Segments.of({"one": one, "two": two}, references)


def made_at(page, number):
    columns = [getattr(page.matches, field.name) for field in fields(page.matches)]
    alive = (page.matches.first <= number) & (number < page.matches.end)
    return sorted(zip(*(column[alive].tolist() for column in columns[:6]), strict=True))


def literal_matches(page, corpus, chosen, threshold):
    """What the matcher says at one threshold, line by line."""
    prepared = prepare_corpus(corpus, chosen.tokenizer, Requirements())
    # The slider goes below a run's threshold of 1, at which nothing asks for vectors.
    vectors = prepared.table(chosen.vector_choice, replace(chosen.requires, vectors=True)).words.vectors
    matcher = replace(page.metric.matcher, threshold=threshold)
    found = []
    for system, chunk in enumerate(shown_text(prepared, len(page.text)).chunks()):
        for segment in range(len(chunk)):
            alone = chunk.part(segment, segment + 1)
            for order, matches in enumerate(matcher.matches(alone, vectors, page.metric.order), start=1):
                columns = (matches.starts, matches.matched, matches.partner_starts, matches.partner_orders)
                for start, mass, partner, partner_order in zip(*columns, strict=True):
                    if mass:
                        place = partner - len(alone.candidates.codes)
                        found.append((system * len(chunk) + segment, order, start, mass, place, partner_order))
    return sorted(tuple(map(int, entry)) for entry in found)


@pytest.mark.parametrize("kind", KINDS)
@given(segments=CORPORA, threshold=st.sampled_from([0.0, 0.777, 0.8, 1.0]))
@settings(max_examples=6)
def test_matches_at_a_threshold_are_those_of_the_matcher(kind, segments, threshold):
    corpus = corpus_of(segments)
    chosen = resolve_metric(make_metric(**{"threshold": threshold, "vectors": VECTORS, **kind}))
    page = make_page(corpus, chosen)
    assert page.thresholds[page.run] == threshold
    numbers = {0, len(page.thresholds) // 2, page.run, len(page.thresholds) - 1}
    if chosen.vector_choice.in_context:
        # Where nothing is soft no vectors are looked at, and equal n-grams share their first place.
        numbers = {number for number in numbers if page.thresholds[number] < 1}
    for number in numbers:
        assert made_at(page, number) == literal_matches(page, corpus, chosen, page.thresholds[number])


@pytest.mark.parametrize("kind", KINDS)
@given(segments=CORPORA, threshold=st.sampled_from([0.8, 1.0]))
@settings(max_examples=5)
def test_matches_add_up_to_the_masses_at_every_threshold(kind, segments, threshold):
    """Two ways to the same sums: the matches one by one, and the statistics of the corpus."""
    page = make_page(corpus_of(segments), make_metric(**{"threshold": threshold, "vectors": VECTORS, **kind}))
    for number in range(len(page.thresholds)):
        sums = np.zeros(page.clipped_matches[:, number].shape, np.int64)
        for row, order, _, mass, *_ in made_at(page, number):
            sums[row // len(page.text), order - 1] += mass
        assert sums.tolist() == page.clipped_matches[:, number].tolist()


SEGMENTS = [("a b c", "d e", ["b b c", "a c"]), ("", "a", ["e"]), ("c d e a b", "c", ["d d e a b c"])]
CORPUS = corpus_of(SEGMENTS)
VLEU = make_metric(matcher="vleu", threshold=0.8, vectors=VECTORS)


@pytest.mark.parametrize("level", ["corpus", "segment"])
def test_scores_and_intervals_are_those_of_the_commands(level):
    page = make_page(CORPUS, VLEU, level=level)
    expected = softbleu.score_corpus(CORPUS, VLEU, level=level)
    assert [result.score for result in page.results] == [result.score for result in expected]
    assert page.results[0].signature == expected[0].signature
    by_segment = softbleu.score_corpus(CORPUS, VLEU, level="segment")
    assert page.segment_scores == [[score.score for score in result.segments] for result in by_segment]
    assert page.segment_signature == by_segment[0].signature
    if level == "corpus":
        table = softbleu.compare_corpus(CORPUS, VLEU)
        assert page.intervals == [comparison.interval for comparison in table.comparisons]


def test_thresholds():
    page = make_page(CORPUS, VLEU)
    assert len(page.thresholds) == 101
    assert (page.thresholds[0], page.thresholds[page.run], page.thresholds[-1]) == (0.0, 0.8, 1.0)
    page = make_page(CORPUS, replace(VLEU, matcher=replace(VLEU.matcher, threshold=0.123456)))
    assert len(page.thresholds) == 102
    assert page.thresholds[page.run] == 0.123456
    preset = make_metric(matcher="vleu", preset="morgan2014", consumption="similarity", vectors=VECTORS)
    assert make_page(CORPUS, preset).thresholds == tuple(step / 20 for step in range(21))
    page = make_page(CORPUS, make_metric())
    assert page.thresholds == ()
    # "b c" of the first candidate; the second system's third candidate, "c".
    exact = {(row, order, start) for row, order, start, *_ in made_at(page, page.run)}
    assert [each in exact for each in [(0, 1, 1), (0, 1, 2), (0, 2, 1), (5, 1, 0), (3, 1, 0)]] == [True] * 4 + [False]


def test_gleu_has_matches_and_no_slider():
    corpus = Segments.of(["a b d"], [["a c d", "b d"]], ["a a d"])
    page = make_page(corpus, make_metric("gleu", matcher="vleu", threshold=0.8, vectors=VECTORS))
    assert page.thresholds == ()
    assert page.text.source is not None
    assert {(0, 1, 0), (0, 1, 2)} <= {(row, order, start) for row, order, start, *_ in made_at(page, page.run)}
    assert page.intervals[0] is not None
    # Where it scores no corpus there is none.
    assert make_page(corpus, make_metric("gleu", multi="mean"), level="segment").intervals == [None]


def test_a_long_segment_is_matched_at_the_run_s_threshold(monkeypatch):
    whole = make_page(CORPUS, VLEU)
    monkeypatch.setattr(page_matches, "LONG_CELLS", 20)
    page = make_page(CORPUS, VLEU)
    # Only the first system's last candidate has 5 tokens, against 6.
    assert page.too_long == [2]
    assert made_at(page, page.run) == made_at(whole, page.run)
    for number in (0, 50, 100):
        assert made_at(page, number) == [entry for entry in made_at(whole, number) if entry[0] != 2]


WRITTEN = [
    'It\'s the Cat, "Tom" — 3.5%!',
    "西索对土地，ABC 123。",
    "これは猫です。Really?",
    "แมวนั่งบนเสื่อ",
    "a  b\u3000c",
    "",
    "AT&amp;T",
    "مرحبا، كيف",
]


@pytest.mark.parametrize("tokenize", ["none", "13a", "intl", "zh", "char", "char+space"])
@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_text_stands_as_it_was_written(metric: str, tokenize: str) -> None:
    """Words and blanks of a page put together give the lines; only entities are those of the tokens."""
    corpus = Segments.of({"A": WRITTEN, "B": WRITTEN[::-1]}, [[line, line[::-1]] for line in WRITTEN], WRITTEN)
    page = make_page(corpus, make_metric(metric, tokenize=tokenize, lowercase=True))
    lines = [[page.text.words[code] for code in text.codes] for text in page.text.lines]
    words, blanks = [word for text in lines for word in text], iter(page.blanks.tolist())
    written = [f"{' ' * bool(next(blanks))}{word}" for word in words]
    sizes = np.concatenate([text.lengths for text in page.text.lines])
    found = [" ".join("".join(part).split()) for part in np.split(np.array(written, object), np.cumsum(sizes)[:-1])]
    both = [text for line in WRITTEN for text in (line, line[::-1])]
    expected = [" ".join(line.split()) for line in (*WRITTEN, *WRITTEN[::-1], *both, *WRITTEN)]
    entities = ["AT&T" if tokenize in ("13a",) and metric == "bleu" else "AT&amp;T"]
    assert [line for line in found if "AT&" not in line] == [line for line in expected if "AT&" not in line]
    assert {line for line in found if line.startswith("AT&")} == set(entities)


@pytest.mark.parametrize(
    ("lines", "tokenize", "language"),
    [(["西索对土地"], "none", "zh"), (["これは猫"], "none", "ja"), (["a cat"], "zh", "zh"), (["the cat"], "13a", "")],
)
def test_a_page_has_a_language(lines: list[str], tokenize: str, language: str) -> None:
    page = make_page(
        Segments.of({"A": lines}, lines, ["a source in English"]), make_metric("chrf", tokenize=tokenize)
    )
    assert (page.language, page.plain) == (language, True)
