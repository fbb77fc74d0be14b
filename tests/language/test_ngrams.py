import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kneser_ney import train_ngrams, write_arpa
from oracles.kneser_ney import KneserNey
from refusing import refused

from softbleu.errors import InputError
from softbleu.io.resources import find_resource
from softbleu.language import read_arpa

WORDS = st.sampled_from(["a", "b", "c", "d", "e"])
LINES = st.lists(st.lists(WORDS, max_size=8), min_size=1, max_size=40)
GOLDEN = Path(__file__).parents[1] / "golden" / "kenlm.json"
SMALL = """\\data\\
ngram 1=4
ngram 2=2

\\1-grams:
-1\t<unk>
-99\t<s>\t-0.5
-0.5\t</s>
-0.25\ta\t-0.125

\\2-grams:
-0.0625\t<s> a
-0.75\ta a

\\end\\
"""


def sample():
    return [line.split() for line in (find_resource("corpora", "samples") / "reference.en").read_text().splitlines()]


@given(LINES, st.integers(1, 5), st.integers(1, 3), st.lists(WORDS | st.just("new"), max_size=8))
# One discount would be 0 here: no word may be impossible after another.
@example([["d"], ["c", "f", "d"], ["f", "d"]], 2, 1, ["d", "c"])
def test_as_kneser_and_ney_have_it(lines, order, least, asked):
    model, oracle = train_ngrams(lines, order, least_ngram=least), KneserNey(lines, order, least)
    found = model.token_log_probabilities(model.codes(asked), np.array([0, len(asked)]))
    assert found == pytest.approx(np.log10(oracle.line(asked)), abs=1e-5)


def test_real_text_needs_no_fallback():
    lines = sample() * 2 + sample()[:20]
    oracle = KneserNey(lines, 2)
    assert oracle.discounts[1][1] != 0.5
    found = train_ngrams(lines, 2).judge(sample()[:5]).log_probabilities
    expected = [sum(map(math.log10, oracle.line(line))) for line in sample()[:5]]
    assert found == pytest.approx(expected, abs=1e-4)


def test_what_cannot_be_trained():
    for wrong in ({"order": 0}, {"order": 6}, {"least_word": 0}, {"least_ngram": 0}):
        refused(InputError, "", train_ngrams, [["a"]], **wrong)
    refused(InputError, "no text to train on", train_ngrams, [])


def test_rare_words_become_unknown():
    lines = [["a", "a", "b"], ["a", "<s>", "c"]]
    model = train_ngrams(lines, 2, least_word=2)
    assert list(model.words) == ["<unk>", "<s>", "</s>", "a"]
    assert model.judge([["a", "b", "<s>"]]).unknown.tolist() == [2]
    same = train_ngrams([["a", "a", "<unk>"], ["a", "<unk>", "<unk>"]], 2)
    assert same.judge([["a", "c"]]).log_probabilities == model.judge([["a", "c"]]).log_probabilities


@pytest.mark.parametrize("name", ["m.arpa", "m.arpa.gz"])
def test_written_and_read_again(tmp_path, name):
    model = train_ngrams(sample(), 3)
    write_arpa(model, tmp_path / name)
    again = read_arpa(tmp_path / name)
    assert list(again.words) == list(model.words)
    for one, other in zip(model.tables, again.tables, strict=True):
        assert (one.keys == other.keys).all()
        assert one.log_probabilities == pytest.approx(other.log_probabilities, abs=1e-6)
        assert one.backoffs == pytest.approx(other.backoffs, abs=1e-6)
    packed = (tmp_path / name).read_bytes()[:2] == b"\x1f\x8b"
    assert packed == name.endswith(".gz")


def test_kenlm_reads_the_same(tmp_path):
    golden = json.loads(GOLDEN.read_text())
    model = train_ngrams(sample(), golden["order"])
    write_arpa(model, tmp_path / "m.arpa")
    judged = read_arpa(tmp_path / "m.arpa").judge([line["text"].split() for line in golden["lines"]])
    assert judged.log_probabilities == pytest.approx([line["log10"] for line in golden["lines"]], abs=1e-4)
    assert judged.unknown.tolist() == [line["unknown"] for line in golden["lines"]]


def test_back_off(tmp_path):
    path = tmp_path / "small.arpa"
    path.write_bytes(gzip.compress(SMALL.encode()))
    judged = read_arpa(path).judge([["a", "a"], ["b", "a"], []])
    assert judged.log_probabilities.tolist() == [-0.0625 - 0.75 - 0.125 - 0.5, -1.5 - 0.25 - 0.125 - 0.5, -1.0]
    assert judged.unknown.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\\data\\", "data", "line 1: an n-gram model in ARPA form begins with"),
        ("ngram 1=4", "ngram 3=4", "line 2: ngram 1=… was expected"),
        ("ngram 1=4", "ngram 1=" + "9" * 30, "digits"),
        ("ngram 1=4\nngram 2=2", "", "after \\data\\ come the numbers"),
        ("ngram 2=2", "ngram 2=3", "line 15: a logarithm, 2 words"),
        ("ngram 2=2", "ngram 2=1", "line 13: \\end\\ was expected"),
        ("\\2-grams:", "\\3-grams:", "line 11: \\2-grams: was expected"),
        ("-0.75", "much", "line 13: 'much' is no logarithm"),
        ("-0.75", "nan", "line 13: 'nan' is no logarithm"),
        ("-0.75", "0.75", "line 13: 0.75 is no logarithm of a probability"),
        ("-0.75\ta a", "-0.75\ta b", "line 13: the word 'b' is not among"),
        ("-0.75\ta a", "-0.75\t<s> a", "2 words stands there twice"),
        ("-1\t<unk>", "-1\ta", "line 9: the word 'a' stands there twice"),
        ("<s>\t-0.5", "b\t-0.5", "the mark <s> is not among the words"),
        ("\\end\\", "", "it is cut short"),
        ("-0.75\ta a", "-0.75\t\udcff a", "line 13, byte 7: not UTF-8"),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path, old, new, said):
    path = tmp_path / "bad.arpa"
    path.write_bytes(SMALL.replace(old, new, 1).encode("utf-8", "surrogateescape"))
    assert said in refused(InputError, "", read_arpa, path)


def test_an_ngram_begins_with_one_that_is_there(tmp_path):
    path = tmp_path / "bad.arpa"
    more = SMALL.replace("ngram 2=2\n", "ngram 2=2\nngram 3=1\n")
    path.write_text(more.replace("\\end", "\\3-grams:\n-1\t</s> a a\n\n\\end"))
    refused(InputError, "'</s> a a' is there, but not what it begins with", read_arpa, path)
