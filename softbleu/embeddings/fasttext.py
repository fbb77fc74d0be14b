"""Models of fastText (`.bin`): vectors of their words, and of other words by their subwords."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from struct import Struct, error
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.vectors import VectorCase, WordVectors
from softbleu.errors import VectorError
from softbleu.io.platform import cached_property
from softbleu.io.reading import open_stream

_MAGIC = b"\xba\x16\x4f\x2f"
_HEADER = Struct("<4s13id3i2q")
_SIZES = Struct("<?2q")
_AFTER_WORD = 9  # Bytes of its count and kind
_AT_ONCE = 2048
_END = "</s>"  # Stands at the end of lines, and has no n-grams


def is_fasttext(path: Path) -> bool:
    """Whether a file is a model of fastText, which is not packed."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


class FastTextSource:
    """A model of fastText, of which rows are read where they stand (Bojanowski et al. 2017, section 3.2).

    The vector of a word is the mean of its own row and those of its character n-grams; that of a word that the model
    does not list, of these alone. Raises `VectorError`: the file is damaged, compressed, or of a classifier.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.name
        with path.open("rb") as file:
            self._content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            self._read_layout()
        except VectorError:
            raise
        except (error, ValueError):
            self._refuse("is damaged or cut off; download it again")

    def _read_layout(self) -> None:
        _, _, self.dimension, *settings, _, count, _, labels, _, pruned = _HEADER.unpack_from(self._content)
        self._buckets, self._shortest, self._longest = settings[-4:-1]
        if labels > 0 or pruned > 0:
            self._refuse("is of a classifier, or compressed; give the .bin of vectors")
        self._count, self._places, place = count, dict[bytes, int](), _HEADER.size
        for number in range(count):
            if (end := self._content.find(b"\0", place)) < 0:
                raise ValueError
            self._places.setdefault(self._content[place:end], number)
            place = end + 1 + _AFTER_WORD
        quantised, rows, dimension = _SIZES.unpack_from(self._content, place)
        if quantised:
            self._refuse("is compressed; give the .bin of vectors")
        expected = count + self._buckets, self.dimension
        if (rows, dimension) != expected or min(count, dimension, self._buckets + 1) < 1:
            raise ValueError
        # Bytes, as values need not stand where the processor wants them.
        size = rows * dimension * 4
        self._rows = np.frombuffer(self._content, np.uint8, size, place + _SIZES.size).reshape(rows, -1)

    def _refuse(self, what: str) -> NoReturn:
        raise VectorError(f"{self.path}: this model of fastText {what}")

    @property
    def words(self) -> list[str]:
        """Words that the model lists."""
        return [word.decode("utf-8", "surrogateescape") for word in self._places]

    def _lists(self, word: str) -> bool:
        return word.encode("utf-8", "replace") in self._places

    @cached_property
    def fingerprint(self) -> str:
        """Hex SHA-256 of the file."""
        with open_stream(self.path) as stream:
            return stream.fingerprint()

    def batches(self, words: Sequence[str]) -> Iterator[tuple[Sequence[str], NDArray[np.float32]]]:
        """Go through some words and their rows; a word of which nothing is known has zeros."""
        for start in range(0, len(words), _AT_ONCE):
            some = words[start : start + _AT_ONCE]
            yield some, self._rows_of(some)

    def _rows_of(self, words: Sequence[str]) -> NDArray[np.float32]:
        from gensim.models.fasttext import ft_ngram_hashes

        places, counts = [], []
        for word in words:
            text = word.encode("utf-8", "replace").decode()
            chosen = [self._places[text.encode()]] if self._lists(text) else []
            if self._buckets and text != _END:
                grams = ft_ngram_hashes(text, self._shortest, self._longest, self._buckets)
                chosen += [self._count + gram for gram in grams]
            places += chosen
            counts.append(len(chosen))
        sizes = np.array(counts)
        rows = np.zeros((len(words), self.dimension), np.float32)
        if places:
            values = self._rows[places].view("<f4")
            starts = np.cumsum(sizes) - sizes
            rows[sizes > 0] = np.add.reduceat(values, starts[sizes > 0]) / sizes[sizes > 0, None]
        return rows

    def head(self, count: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
        """Take the first words and their rows; see `VectorSource.head`."""
        words = self.words[:count]
        return words, self._all(words)

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Take the vectors of these words; see `VectorSource.select`. Those of words not listed are of subwords."""
        if case == "fallback":
            words = [word.lower() if not self._lists(word) and self._lists(word.lower()) else word for word in words]
        return WordVectors(self._all(words), self.name, self.fingerprint, 0)

    def _all(self, words: Sequence[str]) -> NDArray[np.float32]:
        rows = [rows for _, rows in self.batches(words)] or [np.zeros((0, self.dimension), np.float32)]
        made = np.concatenate(rows)
        if not (finite := np.isfinite(made).all(axis=1)).all():
            self._refuse(f"has a value that is not finite for {words[int(np.argmin(finite))]!r}; download it again")
        return made
