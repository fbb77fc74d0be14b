"""Outputs scored while they are written, and the prefixes of a corpus: the same as sentences that end there."""

import copy
import pickle
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import softbleu
from softbleu import ScoredStream, read_metric
from softbleu.errors import InputError

METEOR = "meteor(stages=exact)"  # Without its data
WORDS = ("bleu", "vleu", "chrf", "ter", "gleu", "green", METEOR, "softbleu(rarity=0)", "bleu(tokenize=intl)")
METRICS = (*WORDS, "bleu(tokenize=char)", "ter(partial_by=characters)", "chrf++(partial_by=characters)")
read = cache(read_metric)  # Vectors stay open
REFERENCES = ["The cat sat on a red mat, all day long.", "A dog's mat"]
SOURCE = "Cat sit on red mat all the day"
TEXTS = st.text("abcat T's,.-\n3", max_size=30) | st.lists(st.sampled_from(REFERENCES[0].split())).map(" ".join)


def opened(name):
    metric = read(name)
    return metric, ScoredStream(metric, REFERENCES, SOURCE if metric.requires.source else None)


def sentence(metric, text):
    return metric.sentence_score(text, REFERENCES, SOURCE if metric.requires.source else None)


@pytest.mark.parametrize("name", METRICS)
@given(TEXTS, st.data())
@settings(max_examples=6)
@example("The cat\nsat-\non", None)
@example("3 \n", None)
def test_stream_scores_as_the_sentence_so_far(name, text, data):
    """In whatever pieces the text comes; half a word waits for its end."""
    metric, stream = opened(name)
    cuts = [] if data is None else sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        stream.add(text[start:end])
    whole, by_character = opened(name)[1], opened(name)[1]
    whole.add(text)
    for character in text:
        by_character.add(character)
    partial = read(name, partial=True)
    last = "" if not partial.tokenizer.by_word or "\n" in text or text[-1:].isspace() else "".join(text.split()[-1:])
    expected = sentence(partial, text[: len(text) - len(last)])
    for one in (stream, whole, by_character):
        assert one.score.as_dict() == expected.as_dict()  # None for TER of nothing
    assert stream.reached == whole.reached == by_character.reached
    assert stream.finish() == whole.finish() == by_character.finish() == sentence(metric.whole, text)


def test_copies_and_pickles_of_a_stream_go_on_by_themselves():
    _, stream = opened("chrf")
    stream.add("The cat ")
    beam, sent = copy.copy(stream), pickle.loads(pickle.dumps(stream))
    beam.add("lay ")
    assert sent.score == stream.score != beam.score
    stream.add("lay ")
    assert (stream.score, stream.reached) == (beam.score, beam.reached)


def test_stream_shows_its_text_and_refuses_what_is_none():
    _, stream = opened("chrf")
    stream.add("The cat")
    assert repr(stream) == "<stream of chrf: 'The cat'>"
    with pytest.raises(InputError, match="a stream takes pieces of text, not 3"):
        stream.add(3)


def test_stream_of_a_metric_of_whole_outputs_is_refused():
    with (
        pytest.raises(InputError, match="'m2' scores whole outputs only"),
        pytest.warns(DeprecationWarning, match=r"method stream is now softbleu\.ScoredStream"),
    ):
        read_metric("m2").stream("a cat")


@pytest.mark.parametrize("name", [*WORDS, "gleu(multi=max)", "bertscore"])
def test_prefixes_score_as_sentences_that_end_there(name):
    candidates = {"one": ["The cat lay on", "a dog"], "other": ["", "The dog's red mat is here"]}
    references = [REFERENCES, ["The dog has a mat", "That is a red mat"]]
    partial = read(name, partial=True)
    sources = [SOURCE, "dog mat red"] if partial.requires.source else None
    prefixes = list(softbleu.prefix_scores(candidates, references, sources, metrics=name))
    every = {(system, number) for system in candidates for number in (1, 2)}
    assert {(prefix.system, prefix.segment) for prefix in prefixes} == every
    for prefix in prefixes:
        number = prefix.segment - 1
        tokens = partial.tokenizer.split(candidates[prefix.system][number])
        text = " ".join(tokens[: prefix.tokens])
        expected = partial.sentence_score(text, references[number], sources and sources[number]).score
        assert prefix.score == pytest.approx(expected, abs=1e-4 if name == "bertscore" else 1e-9, nan_ok=True)
        assert prefix.length == len(tokens)


def test_prefixes_end_after_every_so_many_tokens_or_at_shares():
    lines = ["a b c d e f g", "h"], ["a b c d e f g", "h"]
    assert [prefix.tokens for prefix in softbleu.prefix_scores(*lines, every=3)] == [3, 6, 7, 1]
    assert [prefix.tokens for prefix in softbleu.prefix_scores(*lines, every=2**63)] == [7, 1]
    assert [prefix.tokens for prefix in softbleu.prefix_scores(*lines, fractions=[0.25, 1])] == [2, 7, 1, 1]
    for wrong in ({"every": 0}, {"every": 1.5}, {"fractions": [0.5, 2]}, {"fractions": []}):
        with pytest.raises(InputError, match=r"prefixes end after|fractions of outputs"):
            list(softbleu.prefix_scores(*lines, **wrong))
