"""A few made-up vectors, and files of them as word2vec and GloVe have them."""

import numpy as np

WORDS = ["the", "The", "Ärger", "naïve", "日本", "two_words", "x" * 40, "end"]
ROWS = np.random.default_rng(7).normal(size=(len(WORDS), 5)).astype(np.float32)


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
