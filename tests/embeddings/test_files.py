"""word2vec and GloVe files: the same rows from every kind of file, at every block size."""

from __future__ import annotations

import gzip
import hashlib

import numpy as np
import pytest

from softbleu.embeddings import open_vectors

WORDS = ["the", "The", "Ärger", "naïve", "日本", "two_words", "x" * 40, "end"]
ROWS = np.random.default_rng(7).normal(size=(len(WORDS), 5)).astype(np.float32)


def binary(words, rows, ending=b""):
    records = (
        word.encode() + b" " + row.astype("<f4").tobytes() + ending for word, row in zip(words, rows, strict=True)
    )
    return b"%d %d\n" % rows.shape + b"".join(records)


def text(words, rows, header, separator=" "):
    lines = [
        separator.join([word, *(repr(float(value)) for value in row)]) for word, row in zip(words, rows, strict=True)
    ]
    first = [f"{rows.shape[0]} {rows.shape[1]}"] if header else []
    return "".join(line + "\n" for line in first + lines).encode()


CONTENTS = {
    "binary": binary(WORDS, ROWS),
    "binary, line breaks": binary(WORDS, ROWS, b"\n"),
    "word2vec text": text(WORDS, ROWS, header=True),
    "word2vec text, spaces at line ends": text(WORDS, ROWS, header=True).replace(b"\n", b" \n"),
    "word2vec text, Windows": text(WORDS, ROWS, header=True).replace(b"\n", b"\r\n"),
    "GloVe": text(WORDS, ROWS, header=False),
    "GloVe, no last line break": text(WORDS, ROWS, header=False)[:-1],
    "GloVe, blank last lines": text(WORDS, ROWS, header=False) + b"\n \n",
    "GloVe, tabs": text(WORDS, ROWS, header=False, separator="\t"),
}


@pytest.fixture(params=CONTENTS.values(), ids=CONTENTS.keys())
def content(request):
    result: bytes = request.param
    return result


@pytest.mark.parametrize("block_size", [1, 7, 24, 1 << 20])
@pytest.mark.parametrize("packed", [False, True])
def test_rows_are_those_of_the_file(content, packed, block_size, tmp_path):
    raw = gzip.compress(content) if packed else content
    (tmp_path / "vectors.any").write_bytes(raw)
    source = open_vectors(tmp_path / "vectors.any", block_size=block_size)
    assert open_vectors(tmp_path / "vectors.any").fingerprint == hashlib.sha256(raw).hexdigest()
    vectors = source.select(["end", "nowhere", *WORDS, "end"])
    np.testing.assert_array_equal(vectors.rows[[0, *range(2, 10), 10]], ROWS[[7, *range(8), 7]])
    assert vectors.known.tolist() == [True, False] + [True] * 9
    assert not vectors.rows[1].any()
    expected = np.linalg.norm(ROWS.astype(np.float64), axis=1)
    np.testing.assert_allclose(vectors.norms[2:10], expected, rtol=1e-14)
    assert (vectors.name, source.name, source.dimension) == ("vectors.any", "vectors.any", 5)
    assert vectors.fingerprint == source.fingerprint == hashlib.sha256(raw).hexdigest()


def test_gzip_in_several_members(tmp_path):
    content = CONTENTS["binary"]
    (tmp_path / "v").write_bytes(gzip.compress(content[:50]) + gzip.compress(content[50:]))
    np.testing.assert_array_equal(open_vectors(tmp_path / "v").select(WORDS).rows, ROWS)


def two_words(tmp_path, words, kind):
    rows = np.arange(1, 1 + 2 * len(words), dtype=np.float32).reshape(-1, 2)
    path = tmp_path / kind
    path.write_bytes(binary(words, rows) if kind == "binary" else text(words, rows, header=kind == "header"))
    return open_vectors(path, block_size=16)


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

    def test_words_that_no_file_can_hold(self, kind, tmp_path):
        vectors = two_words(tmp_path, ["cat"], kind).select(["", " ", "\n", "\udcff", "cat\n", "cat"])
        assert vectors.known.tolist() == [False] * 5 + [True]

    def test_words_in_bad_encoding_match_nothing(self, kind, tmp_path):
        source = two_words(tmp_path, ["a?b", "cat"], kind)
        path = tmp_path / kind
        path.write_bytes(path.read_bytes().replace(b"a?b", b"a\xffb"))
        assert source.select(["a\ufffdb", "a\udcffb", "a?b", "aÿb", "cat"]).known.tolist() == [False] * 4 + [True]


@pytest.mark.parametrize("kind", ["binary", "text"])
def test_zero_rows_are_no_vectors_and_counted(kind, tmp_path):
    rows = np.array([[0, 0], [3, 4], [0, 0], [1e-30, 0], [0, 0]], dtype=np.float32)
    words = ["Nil", "nil", "nought", "tiny", "unwanted"]
    content = binary(words, rows) if kind == "binary" else text(words, rows, header=False)
    (tmp_path / "v").write_bytes(content)
    vectors = open_vectors(tmp_path / "v").select(["Nil", "nil", "nought", "NOUGHT", "tiny", "absent"])
    assert vectors.known.tolist() == [False, True, False, False, True, False]
    assert vectors.norms[4] == pytest.approx(1e-30, rel=1e-6)
    assert vectors.zero_words == 3
    assert vectors.mean_norm == pytest.approx(2.5)


@pytest.mark.parametrize("header", [True, False])
def test_words_with_spaces(header, tmp_path):
    words = ["plain", ". . .", "at name@domain.com", "Route 66 north", "no\u00a0break"]
    rows = np.arange(1, 16, dtype=np.float32).reshape(5, 3)
    (tmp_path / "v").write_bytes(text(words, rows, header))
    np.testing.assert_array_equal(open_vectors(tmp_path / "v").select(words).rows, rows)


@pytest.mark.parametrize("first", ["New York", ".", "42", "nan"])
def test_strange_first_words_do_not_hide_the_dimension(first, tmp_path):
    rows = np.ones((2, 3), dtype=np.float32)
    for header in (True, False):
        (tmp_path / "v").write_bytes(text([first, "b"], rows, header))
        vectors = open_vectors(tmp_path / "v").select([first, "b"])
        assert vectors.dimension == 3
        assert vectors.known.all()


def test_binary_dimension_one_and_values_that_hold_spaces_and_line_breaks(tmp_path):
    rows = np.frombuffer(b"    \n\n\n\n \n \n", dtype="<f4").reshape(3, 1)
    (tmp_path / "v").write_bytes(binary(["a", "b", "c"], rows))
    np.testing.assert_array_equal(open_vectors(tmp_path / "v").select(["a", "b", "c"]).rows, rows)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ["binary", "binary, line breaks", "word2vec text"])
def test_small_files_as_gensim_reads_them(kind, tmp_path):
    gensim = pytest.importorskip("gensim.models")
    path = tmp_path / "v"
    path.write_bytes(CONTENTS[kind])
    theirs = gensim.KeyedVectors.load_word2vec_format(path, binary=kind != "word2vec text")
    ours = open_vectors(path, block_size=11).select(theirs.index_to_key, "exact")
    np.testing.assert_array_equal(ours.rows, theirs.vectors)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("binary_file", [True, False])
def test_files_that_gensim_writes(binary_file, tmp_path):
    gensim = pytest.importorskip("gensim.models")
    keyed = gensim.KeyedVectors(5)
    keyed.add_vectors(WORDS, ROWS)
    keyed.save_word2vec_format(str(tmp_path / "v"), binary=binary_file)
    np.testing.assert_array_equal(open_vectors(tmp_path / "v").select(WORDS).rows, ROWS)
