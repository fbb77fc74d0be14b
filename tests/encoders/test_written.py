"""Lines that an encoder reads as they are written: which pieces a token has, and what metrics make of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_encoder import MadeUpEncoder
from refusing import refused
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

import softbleu
from softbleu.corpora import Segments
from softbleu.corpora.labels import Documents
from softbleu.encoders import open_encoder, opened
from softbleu.encoders.base import PlacedLine
from softbleu.encoders.convert import convert_encoder
from softbleu.encoders.pieces import cut_lines, word_rows
from softbleu.engine.plan import resolve_metric
from softbleu.errors import InputError
from softbleu.metrics.reading import read_metric
from softbleu.metrics.signatures import metric_from_signature
from softbleu.results.api import score_corpus

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "encoders"
PIECES = ["▁", "a", "b", "c", ",", "ab", "bc", "abc", "▁a", "▁ab", ",a", "cab", "ｂ"]


@pytest.fixture(scope="module")
def tokenizer():
    """A unigram tokenizer whose pieces reach over tokens."""
    made = Tokenizer(models.Unigram([("<unk>", 0.0), *((piece, -2.0 / len(piece)) for piece in PIECES)], 0))
    made.normalizer = normalizers.Replace("c", "c")
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    return made


def overlapping(line, spans):
    """Pieces that share a character with each word; one in a space goes to the word after it, or else the last."""
    found = [[] for _ in line.words]
    for piece, (start, end) in enumerate(spans):
        shared = [word for word, (first, stop) in enumerate(line.places) if max(start, first) < min(end, stop)]
        if not shared:
            later = [word for word, (_, stop) in enumerate(line.places) if stop > start]
            shared = later[:1] or [len(line.words) - 1]
        for word in shared:
            found[word].append(piece)
    return found


TEXTS = st.lists(st.text(st.sampled_from("abc, "), max_size=8).map(lambda text: " ".join(text.split())), max_size=4)


@given(TEXTS, st.data())
@settings(deadline=None)
def test_a_word_has_the_pieces_that_it_shares_characters_with(tokenizer, texts, data):
    lines = []
    for text in texts:
        # Any words, as long as they stand in the text in this order.
        words = [part for word in text.split() for part in split_anywhere(word, data)]
        lines.append(PlacedLine.as_written(text, words))
        assert [text[start:end] for start, end in lines[-1].places] == words
    pieces = cut_lines(tokenizer, lines, 99, "tiny")
    states = np.random.default_rng(0).normal(size=(len(pieces.ids), 5)).astype(np.float32)
    starts = np.cumsum([0, *(len(line.words) for line in lines)])
    rows = word_rows(pieces, states, starts[:-1], int(starts[-1]))
    for number, line in enumerate(lines):
        of_line = states[pieces.offsets[number] : pieces.offsets[number + 1]].astype(float)
        spans = tokenizer.encode(line.text).offsets
        for word, owned in enumerate(overlapping(line, spans) if line.words else ()):
            mean = of_line[owned].mean(axis=0) if owned else np.zeros(5)
            expected = mean / max(np.linalg.norm(mean), 1e-12)
            np.testing.assert_allclose(rows[starts[number] + word], expected, atol=1e-6)
    order = data.draw(st.permutations(range(len(lines))))
    chosen = pieces.chosen(order)
    again = cut_lines(tokenizer, [lines[number] for number in order], 99, "tiny")
    for one, other in zip(vars(chosen).values(), vars(again).values(), strict=True):
        assert one.tolist() == other.tolist()


def split_anywhere(word, data):
    cuts = data.draw(st.lists(st.booleans(), min_size=len(word) - 1, max_size=len(word) - 1))
    parts = [""]
    for character, cut in zip(word, [False, *cuts], strict=True):
        parts = [*parts, character] if cut else [*parts[:-1], parts[-1] + character]
    return parts


@pytest.fixture
def encoded(monkeypatch, tmp_path):
    """Texts that the bundled encoder is given, line by line."""
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path))
    opened._OPEN.clear()
    encoder, texts = open_encoder("minilm-l6"), []
    encode = encoder.encode

    def counted(pieces, layers):
        texts.append(len(pieces.offsets) - 1)
        return encode(pieces, layers)

    monkeypatch.setattr(encoder, "encode", counted)
    monkeypatch.setattr(opened, "open_encoder", lambda location: encoder)
    yield texts
    opened._OPEN.clear()


def test_metrics_of_other_tokenizers_share_encoded_lines(encoded):
    texts = ["It isn't so (yet).", "We'll see, won't we?"], ["It is not so, yet.", "That remains to be seen!"]
    metrics = ["bertscore", "softbleu(vectors=minilm-l6)", "vleu(vectors=minilm-l6, tokenize=intl)"]
    softbleu.score(*texts, metrics=metrics)
    assert sum(encoded) == 4


SPACED = ["the cat , as it sat , saw us", "nobody knew why", ""]


@pytest.mark.parametrize("metric", ["bertscore", "vleu(threshold=0.5)", "softbleu", "bertscore(idf=references)"])
@pytest.mark.parametrize("context", [0, 2])
def test_tokens_between_single_spaces_are_the_line_as_it_is_written(metric, context):
    corpus = Segments.of([*reversed(SPACED)], [[line, "we saw a cat"] for line in SPACED])
    corpus = replace(corpus, documents=Documents.of(["d", "d", "d"]))
    made = [read_metric(metric, vectors="minilm-l6", context=context, reads=reads) for reads in ("line", "tokens")]
    one, other = (score_corpus(corpus, each, level="segment")[0] for each in made)
    assert [score.score for score in one.segments] == [score.score for score in other.segments]


def test_a_line_is_read_as_it_is_written_and_old_signatures_read_tokens(tmp_path, monkeypatch):
    monkeypatch.setattr("softbleu.encoders.stored.PAIRS", 10)
    convert_encoder(GOLDEN / "xlm-roberta", tmp_path / "tiny")
    chosen = {"metrics": "softbleu", "vectors": str(tmp_path / "tiny"), "language": "zh"}
    texts = ["猫没有坐在垫子上"], ["猫坐在垫子上。"]
    found = softbleu.score(*texts, **chosen)
    tokens = softbleu.score(*texts, **chosen, reads="tokens")
    assert "|reads:line|" in found.short_signature
    assert found.score != tokens.score
    earlier = tokens.signature.replace("|reads:tokens", "")
    again = metric_from_signature(earlier, vectors=chosen["vectors"]).corpus_score(*texts)
    assert again.score == tokens.score
    spaced = [[" ".join(line) for line in side] for side in texts]
    assert softbleu.score(*spaced, **chosen).score == tokens.score


def test_an_encoder_that_reads_words_is_given_tokens():
    metric = resolve_metric(read_metric("softbleu", vectors=MadeUpEncoder()))
    assert metric.vector_choice.reads == "tokens"
    asked = read_metric("softbleu", vectors=MadeUpEncoder(), reads="line")
    refused(InputError, "made up: an encoder without a method cut reads tokens", resolve_metric, asked)


def test_metrics_of_edits_read_words():
    metric = resolve_metric(read_metric("cleme(weights=similarity)", vectors="minilm-l6"))
    assert metric.vector_choice.reads == "tokens"
    asked = metric.replaced(reads="line")
    refused(InputError, "metric 'cleme' reads words of edits: leave out reads", resolve_metric, asked)


@pytest.mark.parametrize("metric", ["bertscore", "vleu(vectors=minilm-l6)"])
@pytest.mark.parametrize("other", ["he goes home . ", "he  goes home .", "he goes\u00a0home ."])
def test_lines_that_differ_in_blanks_alone_are_encoded_as_one(metric, other):
    references = ["he goes home .", "he went home ."]
    one, two = (
        softbleu.score(["he goes home .", line], references, metrics=metric) for line in (other, "he goes home .")
    )
    assert one.score == two.score > 0
