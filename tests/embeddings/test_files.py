"""word2vec and GloVe files: the same rows from every kind of file, at every block size."""

import gzip
import hashlib
import io
import json
import os
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused
from vector_files import ROWS, WORDS, binary, text

from softbleu.embeddings import open_vectors
from softbleu.embeddings.convert import convert_vectors
from softbleu.embeddings.files import read_decimals
from softbleu.errors import VectorError

CONTENTS = {
    "binary": binary(WORDS, ROWS, b""),
    "binary, line breaks": binary(WORDS, ROWS),
    "word2vec text": text(WORDS, ROWS, header=True),
    "word2vec text, spaces at line ends": text(WORDS, ROWS, header=True).replace(b"\n", b" \n"),
    "word2vec text, Windows": text(WORDS, ROWS, header=True).replace(b"\n", b"\r\n"),
    "GloVe": text(WORDS, ROWS, header=False),
    "GloVe, no last line break": text(WORDS, ROWS, header=False)[:-1],
    "GloVe, blank last lines": text(WORDS, ROWS, header=False) + b"\n \n",
    "GloVe, tabs": text(WORDS, ROWS, header=False, separator=b"\t"),
}


@pytest.fixture(autouse=True)
def _blocks(request, monkeypatch):
    """Files are read in blocks of as many bytes as the test says, else of few."""
    monkeypatch.setattr("softbleu.embeddings.files.BLOCK_SIZE", getattr(request, "param", 16))


def in_two_members(content):
    return gzip.compress(content[:50], mtime=0) + gzip.compress(content[50:])


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS.keys())
@pytest.mark.parametrize("_blocks", [1, 7, 24, 1 << 20], indirect=True)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, in_two_members])
def test_rows_are_those_of_the_file(content, pack, tmp_path):
    raw = pack(content)
    (tmp_path / "vectors.any").write_bytes(raw)
    source = open_vectors(tmp_path / "vectors.any")
    assert open_vectors(tmp_path / "vectors.any").fingerprint == hashlib.sha256(raw).hexdigest()
    vectors = source.select(["end", "nowhere", *WORDS, "end"])
    np.testing.assert_array_equal(vectors.rows[[0, *range(2, 10), 10]], ROWS[[7, *range(8), 7]])
    assert vectors.known.tolist() == [True, False] + [True] * 9
    assert not vectors.rows[1].any()
    expected = np.linalg.norm(ROWS.astype(np.float64), axis=1)
    np.testing.assert_allclose(vectors.norms[2:10], expected, rtol=1e-14)
    assert (vectors.name, source.name, source.dimension) == ("vectors.any", "vectors.any", 5)
    assert vectors.fingerprint == source.fingerprint == hashlib.sha256(raw).hexdigest()
    words, rows = source.head(3)
    assert words == WORDS[:3]
    np.testing.assert_array_equal(rows, ROWS[:3])


def two_words(tmp_path, words, kind):
    rows = np.arange(1, 1 + 2 * len(words), dtype=np.float32).reshape(-1, 2)
    path = tmp_path / kind
    path.write_bytes(binary(words, rows) if kind == "binary" else text(words, rows, header=kind == "header"))
    return open_vectors(path)


@pytest.mark.parametrize("kind", ["binary", "header", "no header"])
class TestLookup:
    @pytest.mark.parametrize(
        ("words", "asked", "case", "found"),
        [
            (["the", "Cat", "cat"], ["The", "THE", "the", "Cat", "CAT"], "fallback", [1, 1, 1, 3, 5]),
            (["the", "Cat", "cat"], ["The", "the", "Cat", "CAT"], "exact", [0, 1, 3, 0]),
            (["The", "Cat"], ["the"], "fallback", [0]),
            (["cat", "dog", "cat", "cat"], ["cat", "dog"], "fallback", [1, 3]),
        ],
    )
    def test_spellings(self, words, asked, case, found, kind, tmp_path):
        assert two_words(tmp_path, words, kind).select(asked, case).rows[:, 0].tolist() == found

    def test_none_and_many_words(self, kind, tmp_path):
        source = two_words(tmp_path, ["word9999", "word5"], kind)
        vectors = source.select([])
        assert vectors.rows.shape == (0, 2)
        assert (vectors.norms.size, vectors.zero_words, vectors.mean_norm) == (0, 0, 1.0)
        vectors = source.select([f"word{i}" for i in range(10_000)])
        assert np.flatnonzero(vectors.known).tolist() == [5, 9999]
        assert vectors.rows[9999].tolist() == [1, 2]

    def test_words_that_no_file_can_hold_and_words_in_bad_encoding_match_nothing(self, kind, tmp_path):
        source = two_words(tmp_path, ["a?b", "cat"], kind)
        path = tmp_path / kind
        path.write_bytes(path.read_bytes().replace(b"a?b", b"a\xffb"))
        strange = ["a\ufffdb", "a\udcffb", "a?b", "aÿb", "", " ", "\n", "\udcff", "cat\n"]
        assert source.select([*strange, "cat"]).known.tolist() == [False] * 9 + [True]


SPACED = ["plain", ". . .", "at name@domain.com", "Route 66 north", "no\u00a0break"]


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("words", [SPACED, ["New York", "b"], [".", "b"], ["42", "b"], ["nan", "b"]])
def test_words_with_spaces_and_strange_first_words(words, header, tmp_path):
    rows = np.arange(1, 3 * len(words) + 1, dtype=np.float32).reshape(-1, 3)
    (tmp_path / "v").write_bytes(text(words, rows, header))
    np.testing.assert_array_equal(open_vectors(tmp_path / "v").select(words).rows, rows)
    # Binary, of dimension 1, with values that are spaces and line breaks.
    rows = np.frombuffer(b"    \n\n\n\n \n \n", dtype="<f4").reshape(3, 1)
    (tmp_path / "v").write_bytes(binary(["a", "b", "c"], rows, b""))
    np.testing.assert_array_equal(open_vectors(tmp_path / "v").select(["a", "b", "c"]).rows, rows)


NUMBERS = st.floats(allow_nan=False).map(str) | st.from_regex(r"-?[0-9]{1,4}\.[0-9]{1,14}", fullmatch=True)
ODD = st.sampled_from(["1", "-.5", "5.", "+1.5", "1e-05", "-0.0", "1.2.3", "1..5", "-", ".", "1.5-2", "--1.5", "."])


@given(st.lists(NUMBERS | ODD, min_size=1, max_size=6))
def test_numbers_are_those_of_python(numbers):
    try:
        expected = [float(number) for number in numbers]
    except ValueError:
        with pytest.raises(ValueError, match="could not convert"):
            read_decimals(" ".join(numbers).encode())
        return
    read = read_decimals(" ".join(numbers).encode())
    assert read.view(np.int64).tolist() == np.array(expected).view(np.int64).tolist()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ["binary", "binary, line breaks", "word2vec text"])
def test_files_as_gensim_reads_and_writes_them(kind, tmp_path):
    gensim = pytest.importorskip("gensim.models")
    path = tmp_path / "v"
    path.write_bytes(CONTENTS[kind])
    theirs = gensim.KeyedVectors.load_word2vec_format(path, binary=kind != "word2vec text")
    ours = open_vectors(path).select(theirs.index_to_key, "exact")
    np.testing.assert_array_equal(ours.rows, theirs.vectors)
    theirs.save_word2vec_format(str(path), binary=kind != "word2vec text")
    np.testing.assert_array_equal(open_vectors(path).select(WORDS).rows, ROWS)


HEADER = b"3 2\n"
ONE, TWO, THREE = (word + b" " + struct.pack("<2f", 1, 2) for word in (b"one", b"two", b"three"))
BINARY = HEADER + ONE + TWO + THREE


def refusal(path, content):
    """Message of the error that the file raises for a vocabulary that has nothing to do with it."""
    path.write_bytes(content)
    said = refused(VectorError, "", lambda: open_vectors(path).select(["unrelated"]))
    assert str(path) in said
    return said


@pytest.fixture
def path(tmp_path):
    return tmp_path / "vectors.bin"


def saved(save, *arguments):
    stream = io.BytesIO()
    save(stream, *arguments)
    return stream.getvalue()


EMPTY = "the file is empty; download or convert it again"
UNKNOWN = "neither word2vec (header 'vectors dimension') nor Gl"
PROSE = b"just some prose\nof two lines\n"
REFUSED = [
    (BINARY[:-1], "truncated at word 3 ('three'), byte 28: 2 of 3 vectors read; download"),
    (HEADER + ONE + b"\ntw", "truncated at word 2, byte 16: 1 of 3 vectors read"),
    (HEADER + ONE + TWO, "truncated at word 3, byte 28: 2 of 3 vectors"),
    (HEADER, "truncated at word 1, byte 4: 0 of 3 vectors read"),
    (gzip.compress(BINARY[:-1], mtime=0), "truncated at word 3 ('three')"),
    (b"2 2\n" + ONE + TWO + THREE, "more data after the 2 vectors of the header, at byte 28"),
    *((content, EMPTY) for content in (b"", b"\n \n", gzip.compress(b"", mtime=0))),
    *((content, UNKNOWN) for content in (PROSE, b"\x89PNG\r\n\x1a\n" + bytes(99), b"12\n")),
    (saved(np.save, np.ones((2, 2))), "NumPy array without its words is no vector file; load it with gensim"),
    (saved(np.savez, np.ones((2, 2))), "zip or npz archive is no vector file"),
    (gzip.compress(b"\xba\x16\x4f\x2f" + bytes(100), mtime=0), "packed model of fastText is not read; unpack it"),
    (b"a 1 2 3\nb 1 2 3\nc 1 2\n", "line 3: 2 values found, 3 expected"),
    (b"a 1 2 3\nb 1 2 3 4\n", "line 2: 4 values found, 3 expected"),
    (b"2 3\na 1 2\nb 1 2 3\n", "line 2: 2 values found, 3 expected"),
    (b"a 1 2 3\nb 1  2\n", "line 2: 2 values found, 3 expected"),
    (b"a 1 2 3\nb 1 2\t3 4\n", "line 2: 4 values found, 3 expected"),
    (b"a 1 2 3\n\n\nb\n", "line 4: 0 values found, 3 expected"),
    (b"a 1 2\nb 1 x2\n", "line 2: 'x2' is no number for word 'b'"),
    (b"a 1 2\nb 1 2\r3\n", "line 2: '2\\r3' is no number for word 'b'"),
    (b"3 2\na 1 2\nb 1 2\n", "truncated at line 3: 2 of 3 vectors read"),
    (b"1 2\na 1 2\nb 1 2\n", "damaged at line 3: 2 of 1 vectors read"),
    *(
        (lines % value, f"line {number}: NaN or infinite value for word '{word}'; mend or drop that vector")
        for value in (b"nan", b"NaN", b"inf", b"-Infinity")
        for lines, number, word in ((b"a 1 2\nb 1 %s\n", 2, "b"), (b"2 2\na 1 2\n\xff %s 1\n", 3, "\ufffd"))
    ),
]


@pytest.mark.parametrize("_blocks", [1, 5, 1 << 20], indirect=True)
@pytest.mark.parametrize(("content", "message"), REFUSED)
def test_refused_files(path, content, message):
    assert message in refusal(path, content)


@pytest.mark.parametrize("_blocks", [1, 13, 1 << 20], indirect=True)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_values_not_finite_in_binary(path, value, place):
    rows = np.ones((3, 2), dtype="<f4")
    rows[place, 1] = value
    words = [b"alpha", b"b\xffta", b"gamma"]
    records = [word + b" " + row.tobytes() for word, row in zip(words, rows, strict=True)]
    offset = len(HEADER + b"".join(records[:place]))
    where = f"'{words[place].decode(errors='replace')}' (word {place + 1}, byte {offset})"
    assert f"NaN or infinite value for word {where}" in refusal(path, HEADER + b"".join(records))


def test_headers_and_words_that_cannot_be(path):
    for header in (b"0 5", b"5 0", b"-3 4", b"3 -4", b"9999999999 3", b"3 99999", b"9" * 5000 + b" 3"):
        message = refusal(path, header + b"\n" + ONE)
        assert f"header '{header.decode()}' (vectors, dimension) is impossible" in message
    message = refusal(path, HEADER + ONE + b"\x01" * 100_000)
    assert "word 2, byte 16, has no end within 65536 bytes; the header is wrong" in message
    path.write_bytes(b"2 2\n" + ONE + TWO + b"\n")
    assert open_vectors(path).select(["two"]).known.all()


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_pickles_are_refused_by_content(path, protocol, pack):
    message = refusal(path, pack(pickle.dumps({"word": [1.0]}, protocol=protocol)))
    assert "a pickle, which can run any code, is not opened" in message
    assert "save it with KeyedVectors.save_word2vec_format" in message


def test_damaged_gzip(path):
    noise = np.random.default_rng(3).normal(size=(5000, 2)).astype("<f4")
    content = b"5000 2\n" + b"".join(b"w%d " % i + row.tobytes() for i, row in enumerate(noise))
    packed = gzip.compress(content)
    for damaged, message in (
        (packed[: len(packed) // 2], ""),
        (packed[:-6], ""),
        (packed[:-5] + bytes([packed[-5] ^ 1]) + packed[-4:], " (CRC check failed"),
        (b"\x1f\x8bnonsense", ""),
        (packed[:10] + b"\xff" * 50, " (Error -3"),
    ):
        assert f"damaged packed file{message}" in refusal(path, damaged)


@pytest.mark.parametrize("value", ["1e999", "1e39", "1-2", "1e"])
def test_wanted_values_that_cannot_be_kept(path, value):
    path.write_text(f"a 1 2\nb {value} 2\n")
    refused(VectorError, r"line 2: .*for word 'b'", lambda: open_vectors(path).select(["b"]))


def test_special_and_unreadable_files(path, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    refused(VectorError, r"pipe: no regular file", open_vectors, tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    refused(VectorError, r"link: cannot be read \(No such file", open_vectors, tmp_path / "link")
    path.write_bytes(BINARY)
    source = open_vectors(path)
    path.unlink()
    refused(VectorError, "cannot be read", source.select, ["one"])


GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def test_vectors_of_a_fasttext_model_are_those_of_fasttext(tmp_path):
    """Of its words and of others, by their subwords (tests/golden/make_fasttext.py)."""
    kept = json.loads((GOLDEN / "fasttext.json").read_text(encoding="utf-8"))
    words, wanted = list(kept["vectors"]), np.array(list(kept["vectors"].values()))
    source = open_vectors(GOLDEN / "fasttext.bin")
    found = source.select(words, "exact")
    np.testing.assert_allclose(found.rows / found.norms[:, None], wanted, atol=1e-6)
    listed, rows = source.head()
    assert listed == words[: kept["listed"]]
    np.testing.assert_array_equal(rows, found.rows[: len(rows)])
    # Words that it does not list as written are looked up in lower case first.
    np.testing.assert_array_equal(source.select(["NOC", "\ud800"]).rows[0], found.rows[words.index("noc")])
    others = words[kept["listed"] :]
    assert convert_vectors(source, tmp_path / "all", dtype="float32").words == len(listed)
    assert convert_vectors(source, tmp_path / "some", dtype="float32", vocabulary=others).words == len(others)
    np.testing.assert_allclose(open_vectors(tmp_path / "some").head()[1], wanted[kept["listed"] :], atol=1e-6)


def test_damaged_models_of_fasttext_are_refused(tmp_path):
    content, path = (GOLDEN / "fasttext.bin").read_bytes(), tmp_path / "m.bin"
    for size in (4, 90, 300, 700, 1000):
        path.write_bytes(content[:size])
        refused(VectorError, "is damaged or cut off", open_vectors, path)
    # Dimension, buckets, words, labels and what was pruned.
    for place, form, value, said in (
        (8, "<i", -4, "is damaged"),
        (40, "<i", -17, "is damaged"),
        (64, "<i", 1 << 30, "is damaged"),
        (72, "<i", 1, "of a classifier"),
        (84, "<q", 1, "or compressed"),
    ):
        changed = bytearray(content)
        struct.pack_into(form, changed, place, value)
        path.write_bytes(changed)
        refused(VectorError, said, open_vectors, path)
