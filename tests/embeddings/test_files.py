"""word2vec and GloVe files: the same rows from every kind of file, at every block size."""

import gzip
import hashlib
import io
import json
import os
import pickle
import re
import shlex
import struct
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused
from tables import each_row
from vector_files import CONTENTS, ROWS, WORDS, binary, keyed_vectors, text, write_store

from softbleu.embeddings import bundled_names, open_vectors
from softbleu.embeddings.catalogue import find_entry, read_catalogue
from softbleu.embeddings.choice import JoinedSource
from softbleu.embeddings.convert import convert_vectors
from softbleu.embeddings.files import read_decimals
from softbleu.embeddings.vectors import KeptVectors
from softbleu.encoders import encoder_names
from softbleu.errors import VectorError


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
    raw, path = pack(content), tmp_path / "vectors.any"
    path.write_bytes(raw)
    source = open_vectors(path)
    assert open_vectors(path).fingerprint == hashlib.sha256(raw).hexdigest()
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
    def test_words_are_found_in_each_spelling(self, words, asked, case, found, kind, tmp_path):
        assert two_words(tmp_path, words, kind).select(asked, case).rows[:, 0].tolist() == found

    def test_none_many_and_words_that_no_file_can_hold(self, kind, tmp_path):
        source = two_words(tmp_path, ["word9999", "word5"], kind)
        vectors = source.select([])
        assert vectors.rows.shape == (0, 2)
        assert (vectors.norms.size, vectors.zero_words) == (0, 0)
        vectors = source.select([f"word{i}" for i in range(10_000)])
        assert np.flatnonzero(vectors.known).tolist() == [5, 9999]
        assert vectors.rows[9999].tolist() == [1, 2]
        # Nor do words in a bad encoding match anything.
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


BAD = [
    (BINARY[:-1], "truncated at word 3 ('three'), byte 28: 2 of 3 vectors read; download"),
    (HEADER + ONE + b"\ntw", "truncated at word 2, byte 16: 1 of 3 vectors read"),
    (HEADER + ONE + TWO, "truncated at word 3, byte 28: 2 of 3 vectors"),
    (HEADER, "truncated at word 1, byte 4: 0 of 3 vectors read"),
    (gzip.compress(BINARY[:-1], mtime=0), "truncated at word 3 ('three')"),
    (b"2 2\n" + ONE + TWO + THREE, "more data after the 2 vectors of the header, at byte 28"),
    (gzip.compress(b"", mtime=0), "the file is empty; download or convert it again"),
    (b"\x89PNG\r\n\x1a\n" + bytes(99), "neither word2vec (header 'vectors dimension') nor Gl"),
    (saved(np.save, np.ones((2, 2))), "NumPy array without its words is not a vector file; load it with gensim"),
    (saved(np.savez, np.ones((2, 2))), "zip or npz archive is not a vector file"),
    (gzip.compress(b"\xba\x16\x4f\x2f" + bytes(100), mtime=0), "packed model of fastText is not read; unpack it"),
    (HEADER + ONE + b"\x01" * 100_000, "word 2, byte 16, has no end within 65536 bytes; the header is wrong"),
    *(
        (header + b"\n" + ONE, f"header '{header.decode()}' (vectors, dimension) is impossible")
        for header in (b"0 5", b"5 0", b"-3 4", b"3 -4", b"9999999999 3", b"3 99999")
    ),
    (b"9" * 5000 + b" 3\n" + ONE, "999 3' (vectors, dimension) is impossible"),
    *(
        (lines % value, f"line {number}: NaN or infinite value for word '{word}'; mend or drop that vector")
        for value in (b"nan", b"NaN", b"inf", b"-Infinity")
        for lines, number, word in ((b"a 1 2\nb 1 %s\n", 2, "b"), (b"2 2\na 1 2\n\xff %s 1\n", 3, "\ufffd"))
    ),
]


@pytest.mark.parametrize("_blocks", [1, 5, 1 << 20], indirect=True)
@each_row("embeddings/refusals.toml", "text", "says", table="lines")
def test_damaged_lines_of_vectors_are_refused(path, text, says):
    assert says in refusal(path, text.encode())


@pytest.mark.parametrize("_blocks", [1, 5, 1 << 20], indirect=True)
@pytest.mark.parametrize(("content", "message"), BAD)
def test_damaged_files_of_vectors_are_refused(path, content, message):
    assert message in refusal(path, content)
    # A line break may stand behind the last vector.
    path.write_bytes(b"2 2\n" + ONE + TWO + b"\n")
    assert open_vectors(path).select(["two"]).known.all()


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


def test_pickles_are_refused_by_content(path):
    for protocol in (2, 3, 4, 5):
        content = pickle.dumps({"word": [1.0]}, protocol=protocol)
        for message in (refusal(path, content), refusal(path, gzip.compress(content))):
            assert "a pickle, which can run any code, is not opened" in message
            assert "save it with KeyedVectors.save_word2vec_format" in message


def test_damaged_packed_vectors_are_refused(path):
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


def test_values_that_cannot_be_kept_and_special_files(path, tmp_path):
    for value in ("1e999", "1e39", "1-2", "1e"):
        path.write_text(f"a 1 2\nb {value} 2\n")
        refused(VectorError, r"line 2: .*for word 'b'", lambda: open_vectors(path).select(["b"]))
    os.mkfifo(tmp_path / "pipe")
    refused(VectorError, r"pipe: not a regular file", open_vectors, tmp_path / "pipe")
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


# Vectors already in memory: KeyedVectors and plain mappings.


SMALL_WORDS = ["the", "Cat", "cat"]
SMALL_ROWS = np.array([[3, 4], [1, 0], [0, 0]], dtype=np.float32)
FINGERPRINT = hashlib.sha256(b"the\nCat\ncat\n" + SMALL_ROWS.astype("<f4").tobytes()).hexdigest()


def keyed(words, rows):
    return SimpleNamespace(key_to_index={word: i for i, word in enumerate(words)}, vectors=rows)


@pytest.mark.parametrize(
    "location",
    [
        dict(zip(SMALL_WORDS, SMALL_ROWS, strict=True)),
        dict(zip(SMALL_WORDS, SMALL_ROWS.astype(float).tolist(), strict=True)),
        keyed(SMALL_WORDS, SMALL_ROWS),
        keyed(SMALL_WORDS, np.asfortranarray(SMALL_ROWS.astype(np.float64))),
        keyed_vectors(SMALL_WORDS, SMALL_ROWS),
    ],
)
def test_same_rows_and_fingerprint(location):
    source = open_vectors(location)
    vectors = source.select(["THE", "Cat", "CAT", "dog", "the"])
    assert vectors.rows.tolist() == [[3, 4], [1, 0], [0, 0], [0, 0], [3, 4]]
    assert vectors.norms.tolist() == [5, 1, 0, 0, 5]
    assert vectors.zero_words == 1
    assert vectors.fingerprint == source.fingerprint == FINGERPRINT
    assert source.select(["THE", "Cat"], "exact").known.tolist() == [False, True]


@pytest.mark.parametrize("row", [0, 4095, 4096, 5000])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e39])
def test_values_not_finite(row, value):
    rows = np.ones((5001, 2))
    rows[row, 1] = value
    source = open_vectors(keyed([f"w{i}" for i in range(5001)], rows))
    refused(VectorError, f"NaN or infinite value for word 'w{row}'", source.select, ["unrelated"])


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ({1: [1, 2]}, "word 1 is not a string"),
        (keyed(["a", "b"], np.ones((1, 2))), "2 words with vectors of shape"),
        (SimpleNamespace(key_to_index={"a": 0, "b": 2}, vectors=np.ones((3, 2))), "do not fit together"),
        (object(), "object: not word vectors; give a name, a path, a mapping or KeyedVectors"),
        (None, "NoneType: not word vectors"),
    ],
)
def test_locations_without_vectors_are_refused(location, message):
    refused(VectorError, message, open_vectors, location)


@each_row("embeddings/refusals.toml", "of", "says", table="mappings")
def test_mappings_without_vectors_are_refused(of, says):
    refused(VectorError, says, open_vectors, of)


SPELLINGS = {"cat": [1.0, 0.5], "Cat": [0.25, 2.0], "dog": [-1.0, 3.0], "nil": [0.0, 0.0], "éa": [4.0, 4.0]}
ASKED = [["cat", "CAT", "Cat"], ["dog"], ["none", "cat", "nil"], [], ["DOG", "éa", "cat", "cat"], ["Cat", "dog"]]


@pytest.mark.parametrize("case", ["exact", "fallback"])
@pytest.mark.parametrize("memory", [True, False])
@pytest.mark.parametrize("most", [0, 2, 100])
def test_rows_are_those_of_a_selection(tmp_path, monkeypatch, case, memory, most):
    """Read whole from memory, and word by word from a file, however many words are kept."""
    monkeypatch.setattr("softbleu.embeddings.vectors._MOST", most)
    file = tmp_path / "words.txt"
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in SPELLINGS.items()]
    # Of a word that comes twice the first counts.
    file.write_text("".join([*lines, "cat 9 9\n"]), encoding="utf-8")
    source = open_vectors(SPELLINGS if memory else file)
    vectors = KeptVectors(source, case)
    for words in ASKED:
        expected = source.select(words, case).rows if words else np.zeros((0, 2), np.float32)
        assert vectors.select(words, case).rows.tolist() == expected.tolist()


# Names and paths: a path first, then a bundled name, else an error that lists the names.


def test_a_path_comes_before_a_name_and_unknown_names_are_refused(tmp_path, monkeypatch):
    """A room of bundled sets has two stores and an unfinished one."""

    def make_store(place, value):
        write_store(place, ["word"], np.full((1, 2), value))

    def values(location):
        return open_vectors(location).select(["word"]).rows.tolist()

    make_store(tmp_path / "embeddings" / "small", 1.0)
    make_store(tmp_path / "embeddings" / "other", 2.0)
    (tmp_path / "embeddings" / "unfinished").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.setattr("softbleu.io.files._ROOTS", (tmp_path,))
    monkeypatch.chdir(tmp_path / "work")
    for name in ("smal", "unfinished", "", "no/such.bin", "../embeddings/nothing", "x" * 5000, "a\0b"):
        message = refused(VectorError, "", open_vectors, name)
        assert message.startswith(repr(name)[:900])
        assert "no such vector file, store or set; installed: other, small;" in message
    assert bundled_names() == ("other", "small")
    assert (open_vectors("small").name, values("small")) == ("small", [[1.0, 1.0]])
    # Path objects are no names.
    refused(VectorError, "'small': no such vector file", open_vectors, Path("small"))
    with monkeypatch.context() as patch:
        patch.setattr("softbleu.io.files._ROOTS", (tmp_path / "work",))
        assert bundled_names() == ()
        refused(VectorError, r"'small': .*installed: ;", open_vectors, "small")
    make_store(tmp_path / "work" / "small", 3.0)
    Path("other").write_text("word 4 4\n")
    assert (values("small"), values("other")) == ([[3.0, 3.0]], [[4.0, 4.0]])
    assert open_vectors(str(tmp_path / "embeddings" / "other" / ".." / "small")).name == "small"


FIRST_SET = {"cat": [1.0, 0.0], "dog": [3.0, 4.0], "Sun": [0.0, 1.0]}
OTHER_SET = {"cat": [0.0, 2.0, 0.0], "dog": [0.0, 1.0, 1.0], "moon": [1.0, 0.0, 0.0]}


def test_cosines_are_weighted_means_and_a_word_of_one_set_has_the_other_part_zero():
    one, other = open_vectors(FIRST_SET), open_vectors(OTHER_SET)
    for weights in ((1.0, 1.0), (2.0, 0.5), (0.25, 3.0)):
        rows = JoinedSource((one, other), weights).select(["cat", "dog"]).rows.astype(float)
        units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        mean = (weights[0] * 0.6 + weights[1] * 2**-0.5) / sum(weights)
        assert units[0] @ units[1] == pytest.approx(mean, abs=1e-6)
    found = JoinedSource((one, other), (1.0, 4.0)).select(["moon", "sun", "SUN", "Sun", "stone"])
    assert found.rows.tolist() == [[0, 0, 2, 0, 0], [0] * 5, [0] * 5, [0, 1, 0, 0, 0], [0] * 5]
    assert found.known.tolist() == [True, False, False, True, False]
    # The first set says which words come first.
    words, rows = JoinedSource((other, one), (1.0, 1.0)).head(2)
    assert words == ["cat", "dog"]
    np.testing.assert_allclose(rows[0], [0, 1, 0, 1, 0])


def test_names_weights_and_content_are_its_identity(tmp_path):
    rows = np.eye(2, dtype=np.float32)
    for name in ("one", "other"):
        write_store(tmp_path / name, ["a", "b"], rows, name=name)
    joined = open_vectors(f"{tmp_path}/one*2+{tmp_path}/other")
    assert joined.name == "one*2+other"
    assert joined.dimension == 4
    assert open_vectors(f"{tmp_path}/one+{tmp_path}/other").fingerprint != joined.fingerprint
    assert open_vectors(f"{tmp_path}/one*2.0+{tmp_path}/other").fingerprint == joined.fingerprint
    # Where there is a file of that name, the plus is part of it.
    (tmp_path / "a+b.txt").write_text("cat 1 2\ndog 3 4\n")
    assert open_vectors(str(tmp_path / "a+b.txt")).dimension == 2
    for name in ("glove-6b-100d+", "+glove-6b-100d", "glove-6b-100d+no"):
        refused(VectorError, "", open_vectors, name)
    for weight in ("0", "0.00", "9" * 400):
        refused(VectorError, "weights above 0", open_vectors, f"glove-6b-100d*{weight}+glove-6b-100d")


#


def test_entries_of_the_catalogue_are_plausible():
    entries = read_catalogue()
    assert len({entry.name for entry in entries}) == len(entries) >= 12
    for entry in entries:
        assert re.fullmatch(r"[a-z0-9.-]+", entry.name)
        assert entry.dimension in {"words": {50, 100, 200, 300}, "encoder": {384, 768}}[entry.kind]
        assert entry.words is None or 50_000 < entry.words <= 3_000_000
        assert entry.download_megabytes is None or 50 < entry.download_megabytes < 3000
        assert entry.address.startswith("https://")
        assert entry.licence
        assert 1 <= len(entry.get) <= 2
        assert all("\n" not in command for command in entry.get)
        # What is converted is what was fetched, and lies where the name says.
        *fetch, last = entry.get
        words = shlex.split(last)
        if words[:3] == ["softbleu", "embeddings", "convert"]:
            assert words[4] == entry.name
            assert not fetch or words[3] in fetch[0] or words[3].removesuffix(".txt") in fetch[0]
            assert "--licence" not in words or words[words.index("--licence") + 1] == entry.licence
        else:
            assert entry.name in last
    names = {entry.name for entry in read_catalogue()}
    assert set(bundled_names()) | set(encoder_names()) <= names
    entry, source = find_entry("glove-6b-100d"), open_vectors("glove-6b-100d")
    assert (entry.words, entry.dimension) == (source.count, source.dimension)
    assert (entry.state, find_entry("glove-840b-300d").state) == ("bundled", "download")
