"""Vectors in context behind every matcher: against the oracles, against vectors of words, in any order and number."""

import math
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_up_encoder import MadeUpEncoder, whole
from oracles import context, soft
from oracles import softbleu as softbleu_oracle
from shared_data import judged_lines, shared
from strategies import GREEDY, PATHS, SOFT, limits, lines

import softbleu
from softbleu.corpora import ParallelFiles, Segments
from softbleu.corpora.labels import Documents
from softbleu.encoders import kept, opened
from softbleu.engine.plan import resolve_metric, threshold_of
from softbleu.metrics import Metric
from softbleu.metrics.reading import read_metric
from softbleu.metrics.signatures import metric_from_signature
from softbleu.results.api import score_corpus
from softbleu.results.explain import explain_corpus, unmatched_spans


class StaticEncoder(MadeUpEncoder):
    """Rows follow from the pieces alone."""

    def encode(self, pieces: Any, layers: tuple[int, ...]) -> np.ndarray:
        rows = [whole(np.random.default_rng(int(number)).normal(size=self.dimension)) for number in pieces.ids]
        return np.array(rows, np.float32).reshape(-1, self.dimension)


@pytest.fixture(autouse=True)
def _nothing_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", "0")
    opened._OPEN.clear()
    yield
    opened._OPEN.clear()


def encoded(line: list[str], encoder: MadeUpEncoder) -> tuple[Any, list[context.Vector]]:
    """Pieces of a line, and their vectors."""
    pieces = encoder.tokenize([line])
    return pieces, encoder.encode(pieces, encoder.layers).astype(float).tolist()


def product_of(**sides: list[str]) -> soft.TokenProduct:
    """By the vectors of the tokens of lines by their places, as the encoder has them and float16 keeps them."""
    vectors: dict[str, context.Vector] = {}
    for side, line in sides.items():
        pieces, rows = encoded(line, MadeUpEncoder())
        found = context.word_vectors(pieces.words.tolist(), rows)
        vectors |= {f"{line[number]}@{side}.{number}": vector for number, vector in found.items()}
    return soft.token_product_from(vectors)


def inner_pieces(line: list[str]) -> int:
    return int((MadeUpEncoder().tokenize([line]).words >= 0).sum())


def places(line: list[str], side: str) -> list[str]:
    return [f"{word}@{side}.{number}" for number, word in enumerate(line)]


RULES = st.tuples(st.sampled_from(SOFT), st.integers(1, 3), st.sampled_from([0.0, 0.3, 0.7]), st.sampled_from(GREEDY))


@pytest.mark.parametrize("composition", ["mean", "aligned"])
@pytest.mark.parametrize("path", PATHS)
@given(candidate=lines(6), reference=lines(6), rules=RULES)
@settings(max_examples=12)
def test_matches_are_those_of_the_oracle(composition, path, candidate, reference, rules):
    matcher, order, threshold, (assignment, consumption) = rules
    options: dict[str, Any] = {"threshold": threshold, "assignment": assignment, "composition": composition}
    options["consumption"] = consumption
    measure = read_metric(matcher, order=order, effective_order=True, vectors=MadeUpEncoder(), **options)
    with limits(PATHS[path]):
        found: Any = measure.sentence_score(" ".join(candidate), " ".join(reference))
    given_ = {"matcher": matcher, "order": order, "token_product": product_of(c=candidate, r=reference)}
    expected = soft.bleu_statistics(places(candidate, "c"), [places(reference, "r")], **given_, **options)
    # Orders above 1 of SLEU match exactly, which places do not.
    compared = 1 if matcher == "sleu" else order
    assert found.matches[:compared] == pytest.approx(expected.matches[:compared], abs=2e-6)
    assert found.totals == expected.totals


@given(candidate=lines(6), reference=lines(6), function_words=st.sampled_from(["soft", "exact"]))
def test_softbleu_is_that_of_the_oracle(candidate: list[str], reference: list[str], function_words: str) -> None:
    measure = read_metric("softbleu", vectors=MadeUpEncoder(), function_words=function_words, tokenize="none")
    assert (measure.power, measure.characters) == (1, 0)  # type: ignore[attr-defined]
    found = measure.sentence_score(" ".join(candidate), " ".join(reference))
    product = product_of(c=candidate, r=reference)

    def alike(one: str, other: str) -> float:
        words = one.partition("@")[0], other.partition("@")[0]
        alone = function_words == "exact" and {word.lower() for word in words} & {"the"} and words[0] != words[1]
        return 0.0 if alone else max(product(one, other), 0.0)

    options = softbleu_oracle.Options(power=1, characters=0)
    weigh = softbleu_oracle.weights_from([reference], options)
    scores = softbleu_oracle.scores(
        places(candidate, "c"), places(reference, "r"), alike, lambda place: weigh(place.partition("@")[0]), options
    )
    assert any(float(found) == pytest.approx(score, abs=2e-4) for score in scores)


SHARED = {
    "threshold": st.just(0.2),
    "composition": st.sampled_from(["mean", "aligned", "sif"]),
    "assignment": st.sampled_from(["exact-first", "sequential", "optimal"]),
    "function_words": st.sampled_from(["soft", "exact"]),
}
TEXTS = st.lists(lines(7), min_size=1, max_size=3)


@pytest.mark.filterwarnings("ignore:.*look transposed")
@given(candidates=TEXTS, references=TEXTS, matcher=st.sampled_from(SOFT), shared=st.fixed_dictionaries(SHARED))
def test_words_that_are_everywhere_the_same_match_as_vectors_of_words_do(candidates, references, matcher, shared):
    encoder = StaticEncoder(fingerprint="2" * 64)
    words = sorted({word for line in [*candidates, *references] for word in line})
    pieces = encoder.tokenize([[word] for word in words])
    rows, inner = encoder.encode(pieces, (1,)), pieces.words >= 0
    owner = np.repeat(np.arange(len(words)), np.diff(pieces.offsets))
    vectors = {word: rows[inner & (owner == number)].mean(axis=0) for number, word in enumerate(words)}
    corpus = Segments.of([*map(" ".join, candidates)], [[*map(" ".join, references)]] * len(candidates))
    static = read_metric(matcher, vectors=vectors or {"a": [1.0]}, vector_case="exact", **shared)
    in_context = read_metric(matcher, vectors=encoder, exact_words="one", **shared)
    one, other = (score_corpus(corpus, each, level="segment")[0].segments for each in (static, in_context))
    for expected, found in zip(one or (), other or (), strict=True):
        assert found.matches == pytest.approx(expected.matches, abs=3e-6)


@given(candidate=lines(6), reference=lines(6), idf=st.booleans(), others=st.lists(lines(4), max_size=3))
def test_bertscore_is_that_of_the_oracle(candidate, reference, idf, others):
    encoder = MadeUpEncoder()
    texts = [reference, *others]
    documents = Counter(number for text in texts for number in {*encoder.tokenize([text]).ids.tolist()})

    def weighed(line: list[str]) -> list[tuple[context.Vector, float]]:
        pieces, rows = encoded(line, encoder)
        rare = [math.log((len(texts) + 1) / (1 + documents[n])) if idf else 1.0 for n in pieces.ids.tolist()]
        return [*zip(rows, (pieces.words >= 0) * rare, strict=True)]

    corpus = Segments.of([" ".join(candidate)] * len(texts), [[" ".join(text)] for text in texts])
    measure = read_metric("bertscore", vectors=encoder, **({"idf": "references"} if idf else {}))
    found = (score_corpus(corpus, measure, level="segment")[0].segments or ())[0]
    expected = context.bertscore(weighed(candidate), weighed(reference))
    if not (inner_pieces(candidate) and inner_pieces(reference)):
        expected = 0.0, 0.0, 0.0
    assert (found.precision, found.recall, found.score) == pytest.approx([100 * part for part in expected], abs=2e-6)


@given(
    texts=st.lists(st.tuples(lines(4), lines(4), lines(4)), min_size=1, max_size=6),
    documents=st.lists(st.integers(0, 1), min_size=6, max_size=6),
    most=st.integers(0, 3),
    blank=st.sampled_from(["empty", "missing"]),
)
@example([(["a"], ["b"], ["c", "d"]), (["a"], [], ["d"]), (["a"], ["d"], ["a", "c"])], [0] * 6, 2, "missing")
@settings(max_examples=30)
def test_lines_are_encoded_behind_those_before_them(texts: Any, documents: list[int], most: int, blank: str) -> None:
    """The pieces of earlier lines of the document and text are read, and do not count."""
    encoder = MadeUpEncoder()
    columns, labels = list(zip(*texts, strict=True)), documents[: len(texts)]

    def weighed(column: int, segment: int) -> list[tuple[context.Vector, float]]:
        pieces = [encoder.tokenize([line]).ids.tolist()[1:] for line in columns[column]]
        first = segment
        while first and segment - first < most and labels[first - 1] == labels[segment]:
            first -= 1
        before = [piece for line in pieces[first:segment] for piece in line] if pieces[segment] else []
        every = np.array([0, *before, *pieces[segment]], np.int32)
        words, offsets = np.full(len(every), -1), np.array([0, len(every)])
        together = replace(encoder.tokenize([[]]), ids=every, words=words, offsets=offsets)
        rows = encoder.encode(together, encoder.layers).astype(float).tolist()
        return [(row, float(place > 0)) for place, row in enumerate([rows[0], *rows[1 + len(before) :]])]

    joined = [[" ".join(line) for line in column] for column in columns]
    corpus = Segments.of(joined[0], list(zip(*joined[1:], strict=True)))
    placed = replace(corpus, documents=Documents.of(labels), blank_references=blank)
    measure = read_metric("bertscore", vectors=encoder, context=most)
    parts = score_corpus(placed, measure, level="segment")[0].segments or ()
    for number, part in enumerate(parts):
        scores = []
        for column in (1, 2):
            text = inner_pieces(columns[0][number]) and inner_pieces(columns[column][number])
            pair = weighed(0, number), weighed(column, number)
            if columns[column][number] or blank == "empty" or not (columns[1][number] or columns[2][number]):
                scores.append(100 * context.bertscore(*pair)[2] if text else 0)
        assert part.score == pytest.approx(max(scores), abs=2e-6)


def test_bertscore_of_a_corpus_is_the_mean_of_its_segments_or_that_of_all_pieces():
    candidates, references = ["the cat sat", "a", ""], ["the dog sat down there", "the cat", "mat"]
    encoder = MadeUpEncoder()
    segments = softbleu.score(candidates, references, metrics="bertscore", vectors=encoder, level="segment").segments
    found = softbleu.score(candidates, references, metrics="bertscore", vectors=encoder)
    assert found.score == pytest.approx(np.mean([each.score for each in segments]), abs=1e-6)
    assert segments[2].score == 0
    pieces = softbleu.score(candidates, references, metrics="bertscore", vectors=encoder, average="pieces").numbers
    weights = [inner_pieces(text.split()) for text in candidates]
    precision = sum(each.precision * weight for each, weight in zip(segments, weights, strict=True)) / sum(weights)
    # The empty candidate's reference is missed.
    assert pieces.precision == pytest.approx(precision, abs=1e-4)
    assert pieces.recall < np.mean([each.recall for each in segments[:2]])


def test_bertscore_shows_the_word_that_the_most_similar_piece_matches():
    rows = {"ab": [1, 0, 0, 0], "cd": [0, 1, 0, 0], "gh": [0, 1, 0, 0], "ef": [0.8, 0.6, 0, 0], "yy": [0, 0, 0.6, 1]}
    known = {int(MadeUpEncoder().tokenize([[piece]]).ids[1]): row for piece, row in rows.items()}

    class Literal(MadeUpEncoder):
        def encode(self, pieces: Any, layers: tuple[int, ...]) -> np.ndarray:
            # `zz` has the vector of the end pieces, which are no words.
            found = [whole(np.array(known.get(one, [0, 0, 1, 0]))) for one in pieces.ids.tolist()]
            return np.array(found, np.float32)

    corpus = Segments.of(["~ abcd zz gh"], [["ef", "gh ef yy"]])
    (found,) = explain_corpus(corpus, read_metric("bertscore", vectors=Literal()))
    assert [tuple(vars(pair).values()) for pair in found.word_pairs()] == [
        ("similar", "abcd", "gh", 1, 1, 0, pytest.approx(0.9, abs=1e-4)),
        ("similar", "zz", "yy", 2, 1, 2, pytest.approx(0.6 / 1.36**0.5, abs=1e-4)),
        ("exact", "gh", "gh", 3, 1, 0, 1.0),
    ]


SHAPES = {"A": "the cat {} down", "B": "{} dog sat"}
CORPUS = Segments.of(
    {name: [text.format(word) for word in "abcdefghij" * 5] for name, text in SHAPES.items()},
    [[f"a cat {word} there", "down"] for word in "jihgfedcba" * 5],
)


def measures(encoder: Any) -> list[Metric]:
    return [
        read_metric("vleu", threshold=0.3, vectors=encoder),
        read_metric("xleu", threshold=0.3, composition="sif", vectors=encoder),
        read_metric("softbleu", vectors=encoder, tokenize="none"),
        read_metric("bertscore", vectors=encoder, idf="references"),
    ]


def test_the_digits_depend_on_nothing_but_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = MadeUpEncoder()
    expected = score_all(CORPUS, measures(encoder))
    # Each line is encoded once.
    distinct = {text for texts in (*CORPUS.candidates.values(), *CORPUS.references) for text in texts}
    assert sum(encoder.encoded) == len(distinct)
    turned = replace(CORPUS, candidates=dict(reversed(CORPUS.candidates.items())))
    assert score_all(turned, measures(encoder)) == expected
    alone = replace(CORPUS, candidates={"B": CORPUS.candidates["B"]})
    for measure in measures(encoder):
        assert score_all(alone, [measure]).items() <= expected.items()
    monkeypatch.setattr("softbleu.engine.runner.SLOW_BLOCK", 7)
    monkeypatch.setattr("softbleu.engine.worker.LEAST", 3)
    monkeypatch.setattr("softbleu.engine.worker.MINI_BATCH", 3)
    with ThreadPoolExecutor(2) as executor:
        for given_ in (None, executor):
            assert score_all(CORPUS, measures(encoder), executor=given_) == expected


def test_the_lines_before_a_line_are_found_in_any_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In files and in memory, whoever does the work, with missing references; without documents the text is one."""
    texts = [("" if number % 3 == 0 else one, other) for number, (one, other) in enumerate(CORPUS.references)]
    segments = replace(Segments.of(CORPUS.candidates, texts), blank_references="missing")
    labels = [number // 9 for number in range(len(CORPUS))]
    wanted = [read_metric(name, vectors=MadeUpEncoder(), context=3) for name in ("bertscore", "vleu", "softbleu")]
    whole, apart = (score_all(segments, wanted, documents=documents) for documents in (None, labels))
    assert (list(whole) == list(apart), whole == apart) == (True, False)
    files = [str(tmp_path / name) for name in ("A", "B", "r0", "r1")]
    for path, column in zip(files, [*CORPUS.candidates.values(), *zip(*texts, strict=True)], strict=True):
        Path(path).write_text("".join(f"{text}\n" for text in column))
    monkeypatch.setattr("softbleu.corpora.corpus.BLOCK", 8)
    monkeypatch.setattr("softbleu.engine.runner.SLOW_BLOCK", 3)
    systems = dict(zip("AB", files[:2], strict=True))
    with (
        ParallelFiles.open(systems, files[2:], blank_references="missing") as corpus,
        ThreadPoolExecutor(2) as executor,
    ):
        for one, how in product((corpus, segments), ({}, {"executor": executor})):
            assert score_all(one, wanted, **how) == whole
            assert score_all(one, wanted, documents=labels, **how) == apart


def score_all(corpus: Any, wanted: list[Metric], **run: Any) -> dict[Any, Any]:
    if (labels := run.pop("documents", None)) is not None:
        corpus = replace(corpus, documents=Documents.of(labels))
    return {(each.metric, each.name): each.numbers for each in score_corpus(corpus, wanted, **run)}


def test_encoded_lines_are_kept_for_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By each encoder, and for each context, for itself."""
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path))
    monkeypatch.delenv("SOFTBLEU_CACHE_LIMIT")

    def run(**named: Any) -> tuple[dict[Any, Any], bool]:
        opened._OPEN.clear()
        encoder = MadeUpEncoder(**named)
        return score_all(CORPUS, measures(encoder)), bool(encoder.encoded)

    first, encoded = run()
    assert encoded
    assert run() == (first, False)
    assert run(fingerprint="1" * 64)[1]
    for lines_before, encodes in ((2, True), (0, True), (1, True), (2, False)):
        opened._OPEN.clear()
        encoder = MadeUpEncoder()
        texts = ["a b", "c d", "e f"], ["a", "c", "e"]
        result = softbleu.score(*texts, metrics="bertscore", vectors=encoder, context=lines_before)
        assert bool(encoder.encoded) is encodes
        assert (f"|context:{lines_before}|" in result.signature) is (lines_before > 0)


def test_kept_states_are_near_to_encoded_ones() -> None:
    states = np.random.default_rng(0).normal(size=(50, 384)).astype(np.float32)
    states[3] = 0
    states[4] *= 1e-30
    states[5] *= 1e30
    found = kept._unpacked(kept._packed(states))
    scales = np.abs(states).max(axis=1, keepdims=True)
    assert (np.abs(found - states) <= scales / 32767 * 0.51).all()
    assert (kept._unpacked(kept._packed(found)) == found).mean() > 0.9


def test_words_and_credit_are_shown_of_lines_as_they_are_written():
    corpus = Segments.of(["the cat, it sat"], [["the cat; it lay"]])
    vleu = read_metric("vleu", vectors=MadeUpEncoder(), threshold=0.2)
    found = unmatched_spans(corpus, read_metric("bertscore", vectors=MadeUpEncoder()), least_similarity=1)
    assert found.records()
    credit = softbleu.soft_credit(corpus.candidates, corpus.references, metric=vleu)
    assert credit.exact.sum() + credit.soft[credit.run].sum() > credit.exact.sum() > 0


def test_the_signature_says_what_was_looked_at_and_is_run_again() -> None:
    found = softbleu.score(["the cat sat"], ["a cat sat"], metrics="softbleu", vectors="minilm-l6")
    assert "|vectors:minilm-l6#" in found.signature
    assert "|layers:4,6|reads:line|exact-words:cosine|" in found.signature
    assert "|power:1.0|" in found.short_signature
    again = metric_from_signature(found.short_signature)
    assert again.corpus_score(["the cat sat"], ["a cat sat"]).score == found.score
    changed = read_metric("softbleu", vectors="minilm-l6", power=0.7)
    assert changed.power == 0.7  # type: ignore[attr-defined]


def test_a_quantile_of_random_pairs_in_context_is_a_threshold() -> None:
    encoder = MadeUpEncoder()
    encoder.quantiles["p99"] = 0.4321
    measure = resolve_metric(read_metric("vleu", threshold="p99", vectors=encoder))
    assert threshold_of(measure) == 0.4321
    other = resolve_metric(read_metric("vleu", threshold="p99", vectors=encoder, layers="1"))
    assert isinstance(other.threshold, float)
    assert 0.4321 != other.threshold < 1


# BERTScore by the bundled encoder, beside bert_score 0.3.13 with the same model in float32.


@pytest.mark.parametrize(
    ("direction", "kind", "rows"),
    [
        *(("cs-en", kind, 10) for kind in ("plain", "idf")),
        *(pytest.param(direction, "plain", 30, marks=pytest.mark.slow) for direction in ("de-en", "fi-en")),
    ],
)
def test_precision_recall_and_f(direction: str, kind: str, rows: int, tmp_path: Path) -> None:
    expected = np.loadtxt(shared("expected", "bertscore", f"minilm-l6-{direction}-{kind}.tsv"), skiprows=1)[:rows]
    lines = judged_lines(direction)
    # Rare among the references of all segments.
    rare = tmp_path / "references.txt"
    rare.write_text("".join(f"{reference}\n" for _, reference in lines), encoding="utf-8")
    candidates, references = zip(*lines[:rows], strict=True)
    settings = {"metrics": "bertscore", "level": "segment", **({"idf": str(rare)} if kind == "idf" else {})}
    found = [
        [[each.precision, each.recall, each.score] for each in result.segments]
        for result in (softbleu.score(candidates, references, layers=layer, **settings) for layer in "46")
    ]
    wanted = np.stack([expected[:, :3], expected[:, 3:]])
    np.testing.assert_allclose(np.array(found) / 100, wanted, atol=0.003)
    assert np.abs(np.array(found) / 100 - wanted).mean() < 5e-4
