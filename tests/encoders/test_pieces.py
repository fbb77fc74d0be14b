"""Lines to pieces, and long lines to windows."""

import re
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from softbleu.encoders import Pieces, open_encoder
from softbleu.encoders.pieces import cut_lines, cut_windows, read_tokenizer
from softbleu.errors import InputError, VectorError


@pytest.fixture(scope="module")
def minilm():
    return open_encoder("minilm-l6")


def test_pieces_belong_to_the_words_they_start_in(minilm):
    pieces = minilm.tokenize([["Unbelievable", ",", "n't", "naïve"], [], ["don't"]])
    # Of the first line [CLS] unbelievable , n ' t naive [SEP].
    assert pieces.offsets.tolist() == [0, 8, 10, 15]
    assert pieces.words.tolist() == [-1, 0, 1, 2, 2, 2, 3, -1, -1, -1, -1, 0, 0, 0, -1]
    # Of odd words some have no piece; none moves the words after it.
    cat, dog = (minilm.tokenize([[each]]).ids[1] for each in ("cat", "dog"))
    for word in ("\u200b", "\x00", "", " ", "\ud800", "a\udfffb", "\U0001f600", "[SEP]", "\u2028"):
        pieces = minilm.tokenize([["cat", word, "dog"]])
        ids, words = pieces.ids.tolist(), pieces.words.tolist()
        assert (words[ids.index(cat)], words[ids.index(dog)]) == (0, 2)
        assert words[0] == words[-1] == -1
        assert words[1:-1] == sorted(words[1:-1])


def byte_level():
    codes = {each: code for code, each in enumerate(["<unk>", *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    tokenizer = Tokenizer(models.BPE(codes, [], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def trimmed():
    tokenizer = byte_level()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    return tokenizer


def metaspace():
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), ("▁", -1.0), ("a", -2.0), ("b", -2.0), ("▁a", -1.0)], 0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


@pytest.mark.parametrize("most", [1, 4, 9])
@pytest.mark.parametrize("make", [byte_level, trimmed, metaspace, None])
def test_a_long_line_is_cut_in_parts(make, most, minilm, monkeypatch):
    cut = minilm.tokenize if make is None else lambda lines: cut_lines(make(), lines, 300, "tiny")
    lines = [["a", "ba", "b", "aabb", "a"], ["\u200b", "naïve", "\x00", "dog", "\u200b"], ["abba"], []]
    whole = cut(lines)
    monkeypatch.setattr("softbleu.encoders.pieces._AT_ONCE", most)
    parts = cut(lines)
    for one, other in zip(vars(whole).values(), vars(parts).values(), strict=True):
        assert one.tolist() == other.tolist()


def test_a_word_of_too_many_characters_is_refused(minilm):
    refused(InputError, "a word of 1,000,001 characters .* 1,000,000 are", minilm.tokenize, [["b", "a" * 1_000_001]])


@pytest.mark.parametrize("make", [byte_level, trimmed, metaspace])
def test_a_space_belongs_to_the_word_after_it(make):
    tokenizer: Tokenizer = make()
    pieces = cut_lines(tokenizer, [["a", "ba", "b"]], 300, "tiny")
    texts = [tokenizer.id_to_token(code).replace("Ġ", "▁") for code in pieces.ids.tolist()]
    groups = ["", "", ""]
    for text, word in zip(texts, pieces.words, strict=True):
        groups[word] += text if word >= 0 else ""
    assert [group.lstrip("▁") for group in groups] == ["a", "ba", "b"]
    assert all(group.startswith("▁") for group in groups[1:])


def test_tokenizers_that_do_not_fit(tmp_path):
    said = "tiny: its tokenizer gives piece 65, of 10 that it knows: it does not fit"
    refused(VectorError, said, lambda: cut_lines(byte_level(), [["a"]], 10, "tiny"))
    lacking = Tokenizer(models.WordLevel({"b": 0}, unk_token="?"))
    said = r"tiny: its tokenizer cannot cut 'a b' \(WordLevel error"
    refused(VectorError, said, cut_lines, lacking, [["a", "b"]], 10, "tiny")
    # Cutting and padding are switched off.
    tokenizer = byte_level()
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=9)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert len(read_tokenizer(tmp_path / "tokenizer.json").encode("abcd")) == 4


@pytest.mark.parametrize("within", [0, 1, 2])
def test_a_template_that_lacks_a_token_is_refused(within, tmp_path):
    """The library would panic when it cuts a line, which is no exception."""
    tokenizer = byte_level()
    processor: processors.PostProcessor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    for _ in range(within):
        processor = processors.Sequence([processor])
    tokenizer.post_processor = processor
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    assert len(read_tokenizer(path).encode("ab")) == 3
    path.write_text(re.sub(r'("SpecialToken": {\s*"id": )"<s>"', r'\1"<t>"', path.read_text()))
    refused(VectorError, r"no tokenizer that can be used \(its post_processor lacks '<t>'\)", read_tokenizer, path)


def test_tokenizers_that_make_too_much_or_point_nowhere(tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer = byte_level()
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace("a", "a" * 10)] * 9)
    tokenizer.save(str(path))
    refused(VectorError, r"its normalizer makes text 1000000000 times longer", read_tokenizer, path)
    tokenizer = byte_level()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 2**32 - 1)])
    said = "gives piece 4294967295, of 99 that it knows"
    refused(VectorError, said, cut_lines, tokenizer, [["a"]], 99, "tiny")
    tokenizer.normalizer = normalizers.Precompiled(struct.pack("<I", 4) + b"\xff" * 4 + b"\0")
    refused(VectorError, "cannot cut 'a'", cut_lines, tokenizer, [["a"]], 99, "tiny")


@given(st.lists(st.integers(0, 40), max_size=5), st.integers(3, 12))
def test_windows_take_each_piece_where_it_stands_farthest_from_the_ends(lengths, most):
    inner = [[-1, *range(length), -1] for length in lengths]
    words = np.array([word for line in inner for word in line], np.int32)
    pieces = Pieces(np.zeros_like(words), words, np.cumsum([0, *map(len, inner)]))
    seen = {}
    places = {}
    for window in cut_windows(pieces, most):
        assert len(window) <= most
        assert words[window.places[[0, -1]]].tolist() == [-1, -1]
        for place, each in enumerate(window.places.tolist()):
            if words[each] >= 0:
                places.setdefault(each, []).append(min(place - 1, len(window) - 2 - place))
        for place in range(len(window))[window.taken]:
            each = int(window.places[place])
            assert each not in seen
            seen[each] = min(place - 1, len(window) - 2 - place)
    assert sorted(seen) == list(range(len(words)))
    assert all(max(distances) == seen[each] for each, distances in places.items())


def test_windows_of_nothing_but_boundaries():
    words = np.full(5, -1, np.int32)
    windows = list(cut_windows(Pieces(words, words, np.array([0, 5])), 3))
    assert sorted(place for window in windows for place in window.places[window.taken].tolist()) == list(range(5))
    wide = np.array([-1, -1, 0, -1], np.int32)
    said = "a line needs 3 boundary pieces, and the encoder has 3 positions"
    refused(VectorError, said, lambda: list(cut_windows(Pieces(wide, wide, np.array([0, 4])), 3)))


def test_a_long_line_is_encoded_whole(stored):
    """Rows of its first pieces are those of its first window, a line by itself."""
    encoder = stored()
    letters = [chr(97 + place * place % 26) for place in range(400)]
    pieces = encoder.tokenize([letters, letters[:142]])
    rows = np.split(encoder.encode(pieces, (2,)), pieces.offsets[1:-1])
    assert len(rows[0]) == 402
    np.testing.assert_array_equal(rows[0][:100], rows[1][:100])
    assert np.abs(rows[0][300:] - rows[0][299]).max(axis=1).all()
