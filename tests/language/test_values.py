import gzip
import json
import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kneser_ney import train_ngrams, write_arpa
from oracles.kneser_ney import KneserNey
from refusing import refused

from softbleu.errors import InputError, MissingExtraError
from softbleu.io.files import find_resource
from softbleu.language import (
    DEFAULT_LANGUAGE,
    VALUES,
    ModelChoice,
    open_language,
    read_arpa,
    split_words,
)
from softbleu.language.values import FoundError, Harper, LanguageSet, WordList, as_written

TEXTS = ["I do n't think so .", "i dont thnik so", "", "The U.S. is big!", "The behaviour, or behavior, of Mr Xyzzy."]


@pytest.fixture
def own():
    """What travels with softbleu."""
    return open_language(ModelChoice.of(DEFAULT_LANGUAGE))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("It's John's, isn't it?", ["It", "'s", "John", "'s", ",", "is", "n't", "it", "?"]),
        ("It 's John 's , is n't it ?", ["It", "'s", "John", "'s", ",", "is", "n't", "it", "?"]),
        ("They’ll co-operate at 3.30 o’clock…", ["They", "'ll", "co-operate", "at", "3.30", "o'clock", "…"]),
        ("-- 'a' _ 'sure' -", ["-", "-", "'", "a", "'", "_", "'", "sure", "'", "-"]),
        ("  ", []),
    ],
)
def test_words(line, words):
    assert split_words(line) == words


@given(st.text(max_size=40))
def test_nothing_of_a_line_is_lost(line):
    plain = line.translate(str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"'}))
    assert "".join(split_words(line)) == "".join(plain.split())
    assert "".join(as_written(line).split()) == "".join(plain.replace("''", '"').split())


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("It 's John 's , is n't it ?", "It's John's, isn't it?"),
        ('The " new " ( old ) boys \' rule , " said he .', 'The "new" (old) boys\' rule, " said he.'),
        ("Can not we ? The toucan nothing costs $ 5 , and 3 % .", "Cannot we? The toucan nothing costs $5, and 3%."),
        ("Well-known names, e.g. and/or.", "Well-known names, e.g. and/or."),
    ],
)
def test_lines_as_people_write_them(line, written):
    assert as_written(line) == written
    assert as_written(as_written(line)) == as_written(line)


def test_values(own):
    values = dict(zip(VALUES, own.values(TEXTS).T, strict=True))
    assert values["misspelt"].tolist() == [0, 2, 0, 0, 0]
    assert values["misspelt_share"].tolist() == [0, 0.5, 0, 0, 0]
    assert np.exp(values["length"]).round().tolist() == [6, 4, 1, 6, 10]
    assert values["capital"].tolist() == [1, 0, 0, 1, 1]
    assert values["end"].tolist() == [1, 0, 0, 1, 1]
    assert values["small_i"].tolist() == [0, 1, 0, 0, 0]
    model, unigrams = own.model, own.unigrams
    line = [[word.lower() for word in split_words(TEXTS[0])]]
    alone = [own.values([each])[0].tolist() for each in TEXTS]
    assert own.values(TEXTS).tolist() == alone
    assert own.values([]).shape == (0, len(VALUES))
    gain = model.judge(line)[0] - unigrams.judge(line)[0]
    assert values["fluency"][0] == gain / 7
    assert values["fluency"][0] > values["fluency"][1]


def test_errors_are_found_in_lines_as_they_are_written(own):
    class Detector:
        def errors(self, lines):
            return [tuple(FoundError(0, 1, "", "") for _ in range(line.count("n't"))) for line in lines]

    found = LanguageSet(own.model, own.unigrams, own.spelling, Detector()).values(["I do n't and don't .", "It is ."])
    assert found[:, VALUES.index("errors")].tolist() == [2, 0]
    assert (own.values(TEXTS)[:, VALUES.index("errors")] == 0).all()


def test_models_that_read_capitals_read_lines_as_people_write_them(own):
    class Model:
        cased, ends = True, False

        def judge(self, lines):
            self.seen = lines
            return own.model.judge(lines)

    model = Model()
    values = LanguageSet(model, own.unigrams, own.spelling).values(["I do n’t  know .", "", "I don't know."])
    assert model.seen == [["I", "don't", "know."], [], ["I", "don't", "know."]]
    log, alone = own.model.judge(model.seen), own.unigrams.judge([["i", "do", "n't", "know", "."], []])
    end = alone[1]
    assert values[0].tolist() == values[2].tolist()
    assert values[0, 0] == pytest.approx((log[0] - alone[0] + end) / 5)


def test_word_lists(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(gzip.compress(b"Good\n\nhouse\n"))
    assert WordList.read(path).words == {"good", "house"}
    path.write_bytes(b"\xff\n")
    refused(InputError, "not UTF-8", WordList.read, path)
    path.write_bytes(b"\n")
    refused(InputError, "without words", WordList.read, path)


def test_what_speaks_against_a_line(own):
    class Detector:
        def errors(self, lines):
            return [(FoundError(4, 9, "Kind", "Wrong."),) for _ in lines]

    language = LanguageSet(own.model, own.unigrams, own.spelling, Detector())
    found = language.find("I do n't recieve a the it .")
    assert [(each.kind, each.text) for each in found[:2]] == [("misspelt", "recieve"), ("error", "n't r")]
    assert found[1].message == "Kind: Wrong."
    words = ["i", "do", "n't", "recieve", "a", "the", "it", "."]
    gains = np.array(own.model.judge_words(words)) - own.unigrams.judge_words(words)
    unlikely = {each.text: each.value for each in found[2:]}
    assert {each.kind for each in found[2:]} == {"unlikely"}
    assert unlikely == {word: gain for word, gain in zip(words, gains.tolist(), strict=True) if gain < 0}
    assert "the" in unlikely
    assert own.find("") == ()


def test_words_are_found_unlikely_as_models_that_read_capitals_read_them(own):
    class Model:
        cased, ends = True, False

        def judge_words(self, line):
            return [0.0 if word == "It" else -99.0 for word in line]

    found = LanguageSet(Model(), own.unigrams, own.spelling).find("It do n't .")
    assert [(each.kind, each.text) for each in found] == [("unlikely", "don't.")]
    assert found[0].value == pytest.approx(-99 - sum(own.unigrams.judge_words(["do", "n't", "."])))


FAULTY = ["This is an test of the the linter.", "It is the behaviour of colours.", "It is a good test.", ""]


needs_harper = pytest.mark.skipif(find_spec("harper") is None, reason="needs harper-py, of the extra refless")


@needs_harper
def test_errors_are_found_and_kept(monkeypatch, tmp_path, capfd):
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path))
    found = Harper().errors(FAULTY)
    assert [FAULTY[0][error.start : error.end] for error in found[0]] == ["an", "the the"]
    assert all(error.kind and error.message for error in found[0])
    # How words are spelt, the word list says: spellings of all countries are right.
    assert found[1:] == [(), (), ()]
    (looking,) = Harper().errors(["I am looking forward to hear from you."])
    assert (len(looking), capfd.readouterr()) == (1, ("", ""))
    monkeypatch.setattr(Harper, "_check", lambda self, line: pytest.fail("checked again"))
    assert Harper().errors(FAULTY[::-1]) == found[::-1]
    monkeypatch.undo()
    (broken,) = Harper().errors(["an test \ud800 b"])
    assert broken[0].start == 0
    monkeypatch.setattr("softbleu.language.values._PACKAGE", "no-such-package")
    said = r"needs no-such-package.*pip install 'softbleu\[refless\]'"
    refused(MissingExtraError, said, Harper().errors, FAULTY)


#


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
    found = train_ngrams(lines, 2).judge(sample()[:5])
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
    assert (model.codes(["a", "b", "<s>"]) == model.codes(["<unk>"])).tolist() == [False, True, True]
    same = train_ngrams([["a", "a", "<unk>"], ["a", "<unk>", "<unk>"]], 2)
    assert same.judge([["a", "c"]]) == model.judge([["a", "c"]])


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
    again, lines = read_arpa(tmp_path / "m.arpa"), [line["text"].split() for line in golden["lines"]]
    assert again.judge(lines) == pytest.approx([line["log10"] for line in golden["lines"]], abs=1e-4)
    unknown = [(again.codes(words) == again.codes(["<unk>"])).sum() for words in lines]
    assert unknown == [line["unknown"] for line in golden["lines"]]


def test_back_off(tmp_path):
    path = tmp_path / "small.arpa"
    path.write_bytes(gzip.compress(SMALL.encode()))
    model = read_arpa(path)
    judged = model.judge([["a", "a"], ["b", "a"], []])
    assert judged.tolist() == [-0.0625 - 0.75 - 0.125 - 0.5, -1.5 - 0.25 - 0.125 - 0.5, -1.0]
    assert (model.codes(["a", "b"]) == model.codes(["<unk>"])).tolist() == [False, True]


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
