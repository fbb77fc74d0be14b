import gzip
import json
import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kneser_ney import train_ngrams, write_arpa
from oracles.kneser_ney import KneserNey
from refusing import refused
from tables import each_row

from softbleu.errors import InputError, MissingExtraError
from softbleu.io.files import find_resource
from softbleu.language import DEFAULT_LANGUAGE, VALUES, ModelChoice, open_language, read_arpa, split_words
from softbleu.language.ngrams import NgramModel, NgramTable
from softbleu.language.packed import read_packed, write_packed
from softbleu.language.values import FoundError, Harper, LanguageSet, WordList, as_written

TEXTS = ["I do n't think so .", "i dont thnik so", "", "The U.S. is big!", "The behaviour, or behavior, of Mr Xyzzy."]
REFUSED = Path(__file__).parents[1] / "corpora" / "refusals.toml"


@pytest.fixture(scope="module")
def own():
    """What travels with softbleu."""
    return open_language(ModelChoice.of(DEFAULT_LANGUAGE))


class Detector:
    """Finds an error in each "n't" of a line, and in the letter after it."""

    def errors(self, lines):
        places = ([found.start() for found in re.finditer("n't", line)] for line in lines)
        return [tuple(FoundError(start, start + 5, "Kind", "Wrong.") for start in starts) for starts in places]


class Capitals:
    """Reads capitals, and keeps what it was asked."""

    cased, ends = True, False

    def __init__(self, model):
        self.model = model

    def judge(self, lines):
        self.seen = lines
        return self.model.judge(lines)

    def judge_words(self, line):
        return [0.0 if word == "It" else -99.0 for word in line]


@each_row("language/lines.toml", "line", "words", "written")
def test_words_of_a_line_and_the_line_as_people_write_it(line, words, written):
    assert " ".join(split_words(line)) == words
    assert as_written(line) == as_written(as_written(line)) == written


@given(st.text(max_size=40))
def test_nothing_of_a_line_is_lost(line):
    plain = line.translate(str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"'}))
    assert "".join(split_words(line)) == "".join(plain.split())
    assert "".join(as_written(line).split()) == "".join(plain.replace("''", '"').split())


def test_values_of_lines_are_counts_and_shares(own):
    assert split_words("  ") == []
    values = dict(zip(VALUES, own.values(TEXTS).T, strict=True))
    assert values["misspelt"].tolist() == [0, 2, 0, 0, 0]
    assert values["misspelt_share"].tolist() == [0, 0.5, 0, 0, 0]
    assert np.exp(values["length"]).round().tolist() == [6, 4, 1, 6, 10]
    assert values["capital"].tolist() == [1, 0, 0, 1, 1]
    assert values["end"].tolist() == [1, 0, 0, 1, 1]
    assert values["small_i"].tolist() == [0, 1, 0, 0, 0]
    assert (values["errors"] == 0).all()
    line = [[word.lower() for word in split_words(TEXTS[0])]]
    assert own.values(TEXTS).tolist() == [own.values([each])[0].tolist() for each in TEXTS]
    assert own.values([]).shape == (0, len(VALUES))
    assert values["fluency"][0] == (own.model.judge(line)[0] - own.unigrams.judge(line)[0]) / 7
    assert values["fluency"][0] > values["fluency"][1]


def test_models_that_read_capitals_read_lines_as_people_write_them(own):
    model = Capitals(own.model)
    language = LanguageSet(model, own.unigrams, own.spelling)
    values = language.values(["I do n’t  know .", "", "I don't know."])
    assert model.seen == [["I", "don't", "know."], [], ["I", "don't", "know."]]
    log, (alone, end) = own.model.judge(model.seen), own.unigrams.judge([["i", "do", "n't", "know", "."], []])
    assert values[0].tolist() == values[2].tolist()
    assert values[0, 0] == pytest.approx((log[0] - alone + end) / 5)
    found = language.find("It do n't .")
    assert [(each.kind, each.text) for each in found] == [("unlikely", "don't.")]
    assert found[0].value == pytest.approx(-99 - sum(own.unigrams.judge_words(["do", "n't", "."])))


def test_word_lists_are_read_or_refused(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(gzip.compress(b"Good\n\nhouse\n"))
    assert WordList.read(path).words == {"good", "house"}
    path.write_bytes(b"\xff\n")
    refused(InputError, "not UTF-8", WordList.read, path)


def test_errors_and_unlikely_words_of_a_line_are_found(own):
    language = LanguageSet(own.model, own.unigrams, own.spelling, Detector())
    # Lines are looked at as they are written.
    assert language.values(["I do n't and don't .", "It is ."])[:, VALUES.index("errors")].tolist() == [2, 0]
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
    said = r"needs no-such-package.*pip install '\.\[refless\]' in a clone"
    refused(MissingExtraError, said, Harper().errors, FAULTY)


#


WORDS = st.sampled_from(["a", "b", "c", "d", "e"])
TRAINED = st.lists(st.lists(WORDS, max_size=8), min_size=1, max_size=40)
GOLDEN = Path(__file__).parents[1] / "golden" / "kenlm.json"


@given(TRAINED, st.integers(1, 5), st.integers(1, 3), st.lists(WORDS | st.just("new"), max_size=8))
# One discount would be 0 here: no word may be impossible after another.
@example([["d"], ["c", "f", "d"], ["f", "d"]], 2, 1, ["d", "c"])
def test_as_kneser_and_ney_have_it(lines, order, least, asked):
    model, oracle = train_ngrams(lines, order, least_ngram=least), KneserNey(lines, order, least)
    found = model.token_log_probabilities(model.codes(asked), np.array([0, len(asked)]))
    assert found == pytest.approx(np.log10(oracle.line(asked)), abs=1e-5)


def test_rare_words_become_unknown_and_what_cannot_be_trained():
    lines = [["a", "a", "b"], ["a", "<s>", "c"]]
    model = train_ngrams(lines, 2, least_word=2)
    assert list(model.words) == ["<unk>", "<s>", "</s>", "a"]
    assert (model.codes(["a", "b", "<s>"]) == model.codes(["<unk>"])).tolist() == [False, True, True]
    same = train_ngrams([["a", "a", "<unk>"], ["a", "<unk>", "<unk>"]], 2)
    assert same.judge([["a", "c"]]) == model.judge([["a", "c"]])
    for wrong in ({"order": 0}, {"order": 6}, {"least_word": 0}, {"least_ngram": 0}):
        refused(InputError, "", train_ngrams, [["a"]], **wrong)
    refused(InputError, "no text to train on", train_ngrams, [])


@pytest.mark.parametrize("name", ["m.arpa", "m.arpa.gz"])
def test_written_and_read_again_as_kenlm_reads_it(tmp_path, name):
    golden = json.loads(GOLDEN.read_text())
    text = (find_resource("corpora", "samples") / "reference.en").read_text()
    model = train_ngrams(map(str.split, text.splitlines()), golden["order"])
    write_arpa(model, tmp_path / name)
    assert ((tmp_path / name).read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    again = read_arpa(tmp_path / name)
    assert list(again.words) == list(model.words)
    for one, other in zip(model.tables, again.tables, strict=True):
        assert (one.keys == other.keys).all()
        assert one.log_probabilities == pytest.approx(other.log_probabilities, abs=1e-6)
        assert one.backoffs == pytest.approx(other.backoffs, abs=1e-6)
    lines = [line["text"].split() for line in golden["lines"]]
    assert again.judge(lines) == pytest.approx([line["log10"] for line in golden["lines"]], abs=1e-4)
    unknown = [(again.codes(words) == again.codes(["<unk>"])).sum() for words in lines]
    assert unknown == [line["unknown"] for line in golden["lines"]]


def hundredths(model):
    """Round the logarithms of a model."""
    tables = [
        NgramTable(
            table.keys,
            *(np.float32(logs.astype(float).round(2)) for logs in (table.log_probabilities, table.backoffs)),
        )
        for table in model.tables
    ]
    return NgramModel(model.words, tables)


@given(TRAINED, st.integers(1, 4), st.lists(st.lists(WORDS | st.just("new"), max_size=8), max_size=3))
def test_packed_models_judge_as_before(tmp_path_factory, lines, order, asked):
    path = tmp_path_factory.mktemp("packed") / "models.npz"
    models = [hundredths(train_ngrams(lines, n)) for n in (order, 1)]
    write_packed(models, path)
    for model, again in zip(models, read_packed(path), strict=True):
        assert again.judge(asked).tolist() == model.judge(asked).tolist()
        assert [len(table.keys) for table in again.tables] == [len(table.keys) for table in model.tables]


def test_packing_refuses_decimals_and_reading_refuses_damage(tmp_path):
    path = tmp_path / "models.npz"
    one, other = train_ngrams([["a", "b"]], 2), hundredths(train_ngrams([["c"]], 1))
    refused(InputError, "more than two decimals", write_packed, [one], path)
    refused(InputError, "models of different words", write_packed, [hundredths(one), other], path)
    assert not path.exists()
    refused(InputError, "models.npz: damaged .No such file.*install softbleu again", read_packed, path)
    write_packed([other], path)
    content = path.read_bytes()
    for broken in (
        b"",
        content[:100],
        content.replace(b"0/logs1", b"7/logs1"),
        content.replace(b"0/logs1", b"0/logs2"),
    ):
        path.write_bytes(broken)
        refused(InputError, "models.npz: damaged", read_packed, path)


def test_bytes_and_contexts_that_a_model_must_not_have(tmp_path):
    path = tmp_path / "bad.arpa"
    small = tomllib.loads(REFUSED.read_text("utf-8"))["texts"]["arpa"]
    path.write_bytes(small.encode().replace(b"a a", b"\xff a"))
    refused(InputError, "bad.arpa, line 13, byte 7: not UTF-8", read_arpa, path)
    more = small.replace("ngram 2=2\n", "ngram 2=2\nngram 3=1\n")
    path.write_text(more.replace("\\end", "\\3-grams:\n-1\t</s> a a\n\n\\end"))
    refused(InputError, "'</s> a a' lacks its first words", read_arpa, path)
