"""What kind of vector file this is, told from its first bytes and never from its name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from softbleu.errors import VectorError
from softbleu.streams import open_stream

_HEAD_SIZE = 1 << 16
_LARGEST_COUNT = 1 << 31
_LARGEST_DIMENSION = 1 << 16
_HEADER = re.compile(rb"\s*([+-]?\d+)[ \t]+([+-]?\d+)[ \t\r]*\n")
_RESAVE = "load it with gensim and save it with KeyedVectors.save_word2vec_format"
_REFUSED = (
    (re.compile(rb"\x80[\x00-\x05]"), f"a pickle, which can run any code, is not opened; {_RESAVE}"),
    (re.compile(rb"\x93NUMPY"), f"a NumPy array without its words is no vector file; {_RESAVE}"),
    (re.compile(rb"PK\x03\x04"), f"a zip or npz archive is no vector file; unpack it, or {_RESAVE}"),
    (re.compile(rb"\xba\x16\x4f\x2f"), "a fastText model is no vector file; use its .vec file instead"),
)


@dataclass(frozen=True)
class FileLayout:
    """How a vector file is laid out."""

    kind: Literal["binary", "text"]
    """word2vec's ``binary``, or ``text`` as word2vec and GloVe write it."""
    dimension: int
    """Values of each vector."""
    count: int | None
    """Vectors that the header announces; None without a header."""
    start: int
    """Bytes of the header."""


def detect_layout(path: Path) -> FileLayout:
    r"""Tell the layout of a vector file, packed with gzip or not.

    Raises `VectorError`: the file is none of the known kinds, or announces impossible sizes.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tiny.txt"
    >>> _ = path.write_text("2 3\nyes 1 0 0\nno 0 1 0\n")
    >>> detect_layout(path)
    FileLayout(kind='text', dimension=3, count=2, start=4)
    """
    with open_stream(path, _HEAD_SIZE) as stream:
        head = stream.content.read(_HEAD_SIZE)
    if not head.strip():
        raise VectorError(f"{path}: the file is empty; download or convert it again")
    for magic, advice in _REFUSED:
        if magic.match(head):
            raise VectorError(f"{path}: {advice}")
    header = _HEADER.match(head)
    if header is None:
        return FileLayout("text", _count_values(path, head), None, 0)
    count, dimension = (int(number[:20]) for number in header.groups())
    if not (0 < count <= _LARGEST_COUNT and 0 < dimension <= _LARGEST_DIMENSION):
        text = header[0].strip().decode("ascii")
        raise VectorError(f"{path}: header {text!r} (vectors, dimension) is impossible; the file is damaged")
    kind: Literal["binary", "text"] = "text" if _looks_like_text(head[header.end() :]) else "binary"
    return FileLayout(kind, dimension, count, header.end())


def is_number(field: bytes) -> bool:
    """Whether a field of a line reads as a number, NaN and infinity included."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def _count_values(path: Path, head: bytes) -> int:
    """Values of the first line of a file without header: the numbers at its end, save for the word."""
    fields = head.lstrip().split(b"\n", 1)[0].split()
    numbers = next((i for i, field in enumerate(reversed(fields)) if not is_number(field)), len(fields) - 1)
    if numbers == 0:
        raise VectorError(
            f"{path}: neither word2vec (header 'vectors dimension') nor GloVe text (a word, then numbers); {_RESAVE}"
        )
    return numbers


def _looks_like_text(body: bytes) -> bool:
    """Whether numbers as text follow the words, not float32 values, which hold control bytes early on."""
    sample = body[:1024]
    if any(byte < 32 and byte not in b"\t\r\n" for byte in sample):
        return False
    return len(sample) >= 256 or any(is_number(field) for field in body.partition(b"\n")[0].split()[1:])
