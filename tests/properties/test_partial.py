"""Unfinished outputs: references end where candidates have come to, and what must hold for every metric."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import prefixes as oracle

import softbleu
from softbleu import Segments, read_metric
from softbleu.config.declare import own_settings
from softbleu.declare import StringMetric
from softbleu.errors import InputError
from softbleu.kernels import numpy_backend
from softbleu.kernels.prefixes import counts_of_prefixes, reached
from softbleu.metrics.base import METRICS
from softbleu.report.pages import make_page
from softbleu.text.coded import Tokens, Vocabulary, WordParts
from softbleu.text.parts import WORD_PARTS

WORDS = ("the", "cat", "dog", "sat", "on", "a", "mat", "red")
COMPARED = (
    "bleu",
    "sleu",
    "vleu",
    "xleu",
    "chrf",
    "chrf++",
    "chrf(partial_by=characters)",
    "ter",
    "ter(partial_by=characters)",
    "gleu",
    "green",
    "meteor(stages=exact)",
    "softbleu",
)
MANY = ("bleu", "vleu", "chrf", "ter", "gleu(multi=max)", "meteor(stages=exact)", "softbleu")
codes = st.lists(st.integers(0, 3), max_size=7)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9)


def coded(lines):
    return Tokens(np.array([*chain.from_iterable(lines)], np.int32), np.cumsum([0, *map(len, lines)]))


def partial_score(name, candidate, references, source=None):
    metric = read_metric(name, partial=True)
    return metric.sentence_score(candidate, references, source if metric.requires.source else None).score


def best(name):
    return 0 if name.startswith("ter") else 100


@given(st.lists(st.tuples(codes, codes), max_size=5))
@example([([], []), ([0], []), ([], [0])])
def test_prefix_reached_equals_the_literal_oracle(pairs):
    candidates, references = ([pair[side] for pair in pairs] for side in (0, 1))
    expected = [[oracle.reached(one[:end], other) for end in range(1, len(one) + 1)] for one, other in pairs]
    assert reached(coded(candidates), coded(references), every=True).tolist() == [*chain.from_iterable(expected)]
    wholes = [ends[-1] if ends else 0 for ends in expected]
    assert reached(coded(candidates), coded(references)).tolist() == wholes


spelt = st.lists(st.text("ab", min_size=1, max_size=3), max_size=4)


@given(st.lists(st.tuples(spelt, spelt), min_size=1, max_size=4))
@example([(["a"], []), ([], ["ab"]), (["ab", "b"], ["a", "bb", "a"])])
def test_prefix_reached_by_characters_equals_the_literal_oracle(pairs):
    tokens = Vocabulary()
    one, other = tokens.encode([pair[0] for pair in pairs]), tokens.encode([pair[1] for pair in pairs])
    for name, behind in (("characters", ""), ("spaced", " ")):
        expected = [
            [oracle.reached_by_characters(words[:end], beside, behind) for end in range(1, len(words) + 1)]
            for words, beside in pairs
        ]
        parts = WordParts.of(tokens, WORD_PARTS[name])
        assert reached(one, other, parts, every=True).tolist() == [*chain.from_iterable(expected)]
        assert reached(one, other, parts).tolist() == [ends[-1] if ends else 0 for ends in expected]


@given(st.lists(st.tuples(codes, codes), min_size=1, max_size=4), st.data())
def test_counts_of_prefixes_are_those_of_cut_texts(pairs, data):
    one, other = (coded([pair[side] for pair in pairs]) for side in (0, 1))
    cuts = [(line, size) for line, pair in enumerate(pairs) for size in range(len(pair[0]) + 1)]
    lines, sizes = np.array(data.draw(st.permutations(cuts))).T
    ends = np.array([data.draw(st.integers(0, len(pairs[line][1]))) for line in lines])
    bounds = np.arange(len(lines) + 1)
    expected = numpy_backend.clipped_counts(
        one.chosen(lines).first_tokens(sizes), other.chosen(lines).first_tokens(ends), bounds, 3
    )
    assert counts_of_prefixes(one, other, lines, sizes, ends, 3).tolist() == expected.tolist()


@given(codes, codes)
def test_unknown_word_moves_the_beginning_on_by_one_word(candidate, reference):
    """Of several prefixes the longest counts; another rule would hold back an output that says it in other words."""
    before, after = oracle.reached(candidate, reference), oracle.reached([*candidate, -1], reference)
    assert after == min(before + 1, len(reference))
    assert reached(coded([[*candidate, -1]]), coded([reference])).tolist() == [after]


@pytest.mark.parametrize("name", COMPARED)
@given(texts, st.data())
@settings(max_examples=10)
def test_prefix_of_the_reference_scores_best(name, words, data):
    prefix = " ".join(words[: data.draw(st.integers(1, len(words)))])
    assert partial_score(name, prefix, " ".join(words), "the red cats sit") == pytest.approx(best(name), abs=1e-9)


@pytest.mark.parametrize("name", MANY)
@given(st.lists(texts, min_size=2, max_size=3), st.data())
@settings(max_examples=10)
def test_prefix_of_any_reference_scores_best(name, references, data):
    words = data.draw(st.sampled_from(references))
    prefix = " ".join(words[: data.draw(st.integers(1, len(words)))])
    score = partial_score(name, prefix, [" ".join(text) for text in references], "the red cats sit")
    assert score == pytest.approx(best(name), abs=1e-9)


def test_prefix_of_the_reference_scores_best_in_context():
    score = partial_score("bertscore", "the cat sat", "the cat sat on the mat")
    assert score == pytest.approx(100, abs=1e-4)


@pytest.mark.parametrize("name", [*COMPARED, "bertscore"])
def test_corpus_is_scored_against_the_beginnings_of_its_references(name):
    """As if they had been cut by hand; but rarity is that of words in whole references."""
    candidates = ["the dog sat on", "a red cat", "mat"]
    references = ["the cat sat on the red mat", "a red dog sat on a mat", "the cat sat"]
    begun = ["the cat sat on", "a red dog", "the"]
    source, begun_source = ["the dog sits on it", "red cats were", "mats"], ["the dog sits on", "red cats", "mats"]
    plain = read_metric(name, **({"rarity": 0} if name == "softbleu" else {}))
    sources = (source, begun_source) if plain.requires.source else (None, None)
    score = read_metric(str(plain), partial=True).corpus_score(candidates, references, sources[0])
    assert score.score == plain.corpus_score(candidates, begun, sources[1]).score
    assert "partial:yes" in score.signature


def test_text_of_references_ends_with_the_words_that_are_reached():
    class Seen(StringMetric):
        def evaluate(self, candidate, references, source):
            seen.append(references)
            return 0.0

    seen = []
    Seen(partial=True).sentence_score("It's  a", ["It's a  mat.", "A cat"])
    assert seen[-1] == ["It's a", "A cat"]


def test_metrics_of_whole_outputs_have_no_partial_scores():
    whole = {
        kind.name for kind in METRICS.built_in.values() if "partial" not in {one.name for one in own_settings(kind)}
    }
    of_text = {"cleme", "cleme2", "errant", "hyter", "imeasure", "m2", "refless", "trained", "uot"}
    latencies = {"al", "laal", "ap", "dal", "yaal", "atd", "startoffset", "endoffset", "erasure"}
    assert whole == {*of_text, *latencies, "scores"}
    with pytest.raises(InputError, match="m2 has no setting 'partial'"):
        read_metric("m2", partial=True)


CANDIDATES = ["the cat sat on", "a red dog", "mat", "the the cat", "on a mat sat", "dog", "red"]
LONGER = ["the cat sat on the red mat", "a red cat on a mat", "the mat", "the dog on the cat", "a cat", "a dog sat"]


@pytest.mark.parametrize("name", ["bleu", "vleu", "chrf", "softbleu(rarity=0)", "meteor(stages=exact)"])
def test_all_pairs_are_compared_as_single_ones(name):
    """More of them than a small list has."""
    partial = read_metric(name, partial=True)
    expected = [[partial.sentence_score(one, other).score for other in LONGER] for one in CANDIDATES]
    assert softbleu.pairwise(CANDIDATES, LONGER, partial).scores.tolist() == expected


def test_metrics_of_one_family_are_scored_as_alone():
    """Matches at several thresholds are found together, but not in references of other lengths."""
    names = (
        "vleu(threshold=0.5, partial=yes)",
        "vleu(threshold=0.8, partial=yes)",
        "vleu(threshold=0.8)",
        "sleu(partial=yes)",
    )
    together = softbleu.score(CANDIDATES[:6], LONGER, metrics=[read_metric(name) for name in names])
    alone = [read_metric(name).corpus_score(CANDIDATES[:6], LONGER).score for name in names]
    assert [result.score for result in together] == alone
    assert len({*alone}) == 4


def test_explanation_shows_the_beginning_that_counts():
    (shown,) = softbleu.explain(["the cat sat"], ["the cat lay on the mat"], metrics="bleu", partial=True)
    assert shown.references == (("the", "cat", "lay"),)


def test_pages_of_partial_scores_are_refused():
    with pytest.raises(InputError, match="this page marks matches in whole outputs"):
        make_page(Segments.of(["a cat"], ["a cat sat"]), [read_metric("chrf", partial=True)])
