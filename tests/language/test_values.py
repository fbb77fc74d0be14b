import gzip
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused

from softbleu.errors import InputError, MissingExtraError
from softbleu.language import (
    DEFAULT_LANGUAGE,
    VALUES,
    LanguageSet,
    ModelChoice,
    WordList,
    as_written,
    open_language,
    split_words,
)
from softbleu.language.detector import FoundError, Harper

LINES = ["I do n't think so .", "i dont thnik so", "", "The U.S. is big!", "The behaviour, or behavior, of Mr Xyzzy."]


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
    values = dict(zip(VALUES, own.values(LINES).T, strict=True))
    assert values["misspelt"].tolist() == [0, 2, 0, 0, 0]
    assert values["misspelt_share"].tolist() == [0, 0.5, 0, 0, 0]
    assert np.exp(values["length"]).round().tolist() == [6, 4, 1, 6, 10]
    assert values["capital"].tolist() == [1, 0, 0, 1, 1]
    assert values["end"].tolist() == [1, 0, 0, 1, 1]
    assert values["small_i"].tolist() == [0, 1, 0, 0, 0]
    model, unigrams = own.model, own.unigrams
    line = [[word.lower() for word in split_words(LINES[0])]]
    alone = [own.values([each])[0].tolist() for each in LINES]
    assert own.values(LINES).tolist() == alone
    assert own.values([]).shape == (0, len(VALUES))
    gain = model.judge(line).log_probabilities[0] - unigrams.judge(line).log_probabilities[0]
    assert values["fluency"][0] == gain / 7
    assert values["fluency"][0] > values["fluency"][1]


def test_errors_are_found_in_lines_as_they_are_written(own):
    class Detector:
        def errors(self, lines):
            return [tuple(FoundError(0, 1, "", "") for _ in range(line.count("n't"))) for line in lines]

    found = LanguageSet(own.model, own.unigrams, own.spelling, Detector()).values(["I do n't and don't .", "It is ."])
    assert found[:, VALUES.index("errors")].tolist() == [2, 0]
    assert (own.values(LINES)[:, VALUES.index("errors")] == 0).all()


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
    end = alone.log_probabilities[1]
    assert values[0].tolist() == values[2].tolist()
    assert values[0, 0] == pytest.approx((log.log_probabilities[0] - alone.log_probabilities[0] + end) / 5)


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
    monkeypatch.setattr("softbleu.language.detector._PACKAGE", "no-such-package")
    said = r"needs no-such-package.*pip install 'softbleu\[refless\]'"
    refused(MissingExtraError, said, Harper().errors, FAULTY)
