"""A few made-up vectors, and files of them as word2vec and GloVe have them."""

import numpy as np
import pytest

from softbleu.embeddings.vectors import open_writer

WORDS = ["the", "The", "Ärger", "naïve", "日本", "two_words", "x" * 40, "end"]
ROWS = np.random.default_rng(7).normal(size=(len(WORDS), 5)).astype(np.float32)


def write_store(place, words, rows, dtype="float32", **said):
    """Write rows as they are, and say so much of them."""
    with open_writer(place, rows.shape[1], dtype) as writer, np.errstate(over="ignore"):
        writer.add([word.encode() for word in words], rows.astype(np.float32))
        return writer.finish(**{"name": "set", "source": "made up", "licence": "CC0-1.0", **said})


def binary(words, rows, ending=b"\n"):
    records = (_coded(word) + b" " + row.astype("<f4").tobytes() for word, row in zip(words, rows, strict=True))
    return b"%d %d\n" % rows.shape + b"".join(record + ending for record in records)


def text(words, rows, header=False, separator=b" "):
    pairs = (
        (_coded(word), [repr(float(value)).encode() for value in row]) for word, row in zip(words, rows, strict=True)
    )
    lines = [separator.join([word, *values]) + b"\n" for word, values in pairs]
    return (b"%d %d\n" % rows.shape if header else b"") + b"".join(lines)


def _coded(word):
    return word if isinstance(word, bytes) else word.encode()


def keyed_vectors(words, rows):
    """The same as gensim has them."""
    keyed = pytest.importorskip("gensim.models").KeyedVectors(rows.shape[1])
    keyed.add_vectors(words, rows)
    return keyed


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
