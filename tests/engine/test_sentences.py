"""One segment at a time gives the digits of a corpus of that segment alone."""

import pickle
from typing import Any

import pytest
from declarations import every_measure
from hypothesis import example, given, settings
from hypothesis import strategies as st
from refusing import refused

from softbleu import InputError, pairwise, read_metric
from softbleu.corpora.edits import Annotation, Edit, GoldSegment
from softbleu.embeddings import choice
from softbleu.metrics import METRICS

VECTORS = {"cat": [1.0, 0.2, 0.0], "cats": [2.0, 0.5, 0.1], "dog": [0.9, 0.3, 0.1], "the": [0.1, 1.0, 0.3]}
VECTORS |= {"a": [0.2, 1.0, 0.2], "mat": [0.0, 0.1, 3.0], "not": [-1.0, 0.0, 0.0], "zero": [0.0, 0.0, 0.0]}
WORDS = [*VECTORS, "Cat", "The", "oov", "dog,", "(cat)", "it's", "日本", "&amp;"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)


MEASURES = {str(each): each for each in every_measure(VECTORS) if not each.requires.gold}


@pytest.mark.parametrize("title", MEASURES)
@given(candidate=TEXTS, references=st.lists(TEXTS, min_size=1, max_size=3), source=TEXTS)
@example(candidate="", references=[""], source="")
@example(candidate="", references=["the cat", ""], source="oov")
@example(candidate="The oov dog, a (cat)", references=["", "a cat the dog", "the Cat oov it's"], source="a dog cat")
@settings(max_examples=8)
def test_a_sentence_scores_as_a_corpus_of_it(title: str, candidate: str, references: list[str], source: str) -> None:
    # Kept between the examples: what is remembered of one segment changes nothing in the next.
    measure = MEASURES[title]
    needed = source if measure.requires.source else None
    found = measure.sentence_score(candidate, references, needed)
    alone = measure.corpus_score([candidate], [references], None if needed is None else [needed], level="segment")
    assert [found] == list(alone.segments or ())
    assert float(found) == found.score


def is_of_two_texts(metric: Any) -> bool:
    """Whether a score hangs on nothing but a candidate and a reference: no source, no counts in all references."""
    needed, choice = metric.requires, metric.vector_choice
    return not (needed.source or needed.edits or needed.idf or needed.frequency or not choice.normalize)


PAIRED = [title for title, each in MEASURES.items() if is_of_two_texts(each)]


@pytest.mark.parametrize("title", PAIRED)
@given(candidates=st.lists(TEXTS, min_size=1, max_size=3), references=st.lists(TEXTS, min_size=1, max_size=3))
@example(candidates=["a b c d e", "the cat"], references=["a b c d x e", ""])
@settings(max_examples=5)
def test_a_pair_scores_as_a_sentence_to_the_last_bit(
    title: str, candidates: list[str], references: list[str]
) -> None:
    measure = MEASURES[title]
    found = pairwise(candidates, references, measure).scores.tolist()
    sentences = [[measure.sentence_score(one, [other]).score for other in references] for one in candidates]
    assert found == sentences


def test_a_metric_that_scored_sentences_is_what_it_was_and_opens_vectors_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened, real = [], choice.open_vectors
    monkeypatch.setattr(choice, "open_vectors", lambda where: opened.append(where) or real(where))
    metric = read_metric("vleu", threshold=0.3, vectors=VECTORS)
    metric.sentence_score("a dog", "the cat")
    opened.clear()
    score, *_ = [metric.sentence_score(candidate, "the cat") for candidate in ("a dog", "a cat", "a dog")]
    assert opened == []
    again = pickle.loads(pickle.dumps(metric))
    assert again == metric == read_metric("vleu", threshold=0.3, vectors=VECTORS)
    assert ("_scorer" in vars(metric), "_scorer" in vars(again)) == (True, False)
    assert again.sentence_score("a dog", "the cat") == score
    bleu = read_metric("bleu", order=2)
    bleu.sentence_score("a", "a")
    assert (repr(bleu), hash(bleu)) == ("bleu(order=2)", hash(read_metric("bleu(order=2)")))


def test_sentences_that_are_no_text_are_refused() -> None:
    bad: list[tuple[str, Any, Any]] = [("text is needed, not NoneType", None, ["a"])]
    bad += [("text is needed, not int", *texts) for texts in ((3, ["a"]), ("a", [3]))]
    bad += [("references of segment 1 are text, or a list of texts, not int", "a", 3)]
    bad += [("segment 1 has no reference", "a", references) for references in ([], None)]
    for message, candidate, references in bad:
        refused(InputError, message, read_metric("bleu").sentence_score, candidate, references)
    for name, needed in (("gleu", "the source text"), ("cleme", "the source text"), ("m2", "gold edits")):
        refused(InputError, f"metric '{name}' needs {needed}", read_metric(name).sentence_score, "a cat", "a dog")


def test_one_reference_may_be_a_text_and_gold_edits_need_none() -> None:
    measure = read_metric("bleu(order=1)")
    assert measure.sentence_score("a cat", "a dog") == measure.sentence_score("a cat", ["a dog"])
    assert float(measure.sentence_score("a cat", "a dog")) == pytest.approx(50)
    gold = [GoldSegment("a dog", (Annotation(0, (Edit(1, 2, "Noun", ("cat",)),)),))]
    assert read_metric("m2").corpus_score(["a cat"], gold=gold).score == 100.0
    for metric in map(read_metric, ("m2", "imeasure")):
        alone = metric.corpus_score(["a cat"], gold=gold, level="segment").segments
        assert [metric.sentence_score("a cat", gold=gold[0])] == list(alone or ())
    # Every other metric of texts is tried above.
    others = {*METRICS.names()} - {made.name for made in MEASURES.values()} - {"m2", "scores"}
    assert all(read_metric(name).requires.delays for name in others)
