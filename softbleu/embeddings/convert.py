"""From any vectors to a store, in one streaming pass."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.choice import VectorLocation, measure_quantiles, open_vectors, vector_files
from softbleu.embeddings.files import FastTextSource, FileSource
from softbleu.embeddings.vectors import (
    MemorySource,
    StoreSource,
    StoreType,
    StoreWriter,
    VectorSource,
    new_place,
    open_writer,
)
from softbleu.errors import Parameter, VectorError
from softbleu.types import Progress


@dataclass(frozen=True)
class Conversion:
    """Result of a conversion: how many words were kept, and how many left out."""

    words: int  # How many were kept
    duplicates: int  # Words that came again; their first row counts
    zero_rows: int  # Words kept with a row of zeros, which counts as no vector
    damaged_rows: int  # Words left out for values that are not finite
    unusable_words: int  # Words left out that are empty, hold a line break or are not UTF-8
    passed_over: int  # Words left out that were not asked for (`vocabulary`)
    examples: dict[str, str]  # The first of the words of each kind


def convert_vectors(
    location: VectorLocation,
    directory: str | os.PathLike[str],
    *,
    aligned: Sequence[VectorLocation] = (),
    dtype: StoreType = "float16",
    normalize: bool = True,
    limit: int | None = None,
    vocabulary: Collection[str] | None = None,
    name: str | None = None,
    source: str | None = None,
    licence: str = "not stated",
    extra: Mapping[str, object] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Conversion:
    """Write vectors as a store, atomically, in one pass; memory holds the words, but no more than a block of rows.

    Parameters
    ----------
    location
        A word2vec, GloVe or fastText `.vec` file, packed with gzip or bzip2 or not; a fastText `.bin`; or whatever
        `open_vectors` opens.
        A pickle of gensim's is refused, for it can run any code: give the KeyedVectors that gensim has loaded.
    directory
        Folder of the store.
    aligned
        Sets of other languages in the same space, whose words come behind; of equal words the first counts.
    dtype
        float16 has half the size of float32, and changes similarities in the fourth decimal at most; int8 a quarter.
    normalize
        Scale rows to length 1, which changes no cosine.
    limit
        Keep so many words of each set, from the first.
    vocabulary
        Keep only these words; of a model of fastText also words that it does not list, by their subwords.
    name, source, licence
        What ``meta.json`` says of the set; by default the name of the folder and that of the file.
    extra
        What ``meta.json`` says besides.
    force
        Replace a store that is there.
    progress
        Called with the bytes read of a file, and its size.

    Raises
    ------
    VectorError
        A file that cannot be read, by word and byte or line, or a folder that cannot be written; nothing is changed.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "tiny"
    >>> convert_vectors({"yes": [3.0, 4.0], "no": [0.0, 0.0]}, place).zero_rows
    1
    >>> open_vectors(place).select(["yes"]).rows.round(2).tolist()
    [[0.6..., 0.8...]]
    """
    if limit is not None and limit < 1:
        raise VectorError(f"the limit must be at least 1 word, not {limit}")
    # A store may be converted where it lies; nothing else is replaced by what is made of it.
    same = isinstance(location, str | os.PathLike) and os.path.realpath(location) == os.path.realpath(directory)
    files = [file for place in ([] if same else [location], aligned) for each in place for file in vector_files(each)]
    target = new_place(directory, files, force=force)
    opened, *others = sources = [open_vectors(place) for place in (location, *aligned)]
    for other in others:
        if other.dimension != opened.dimension:
            sizes = f"{other.name} has {other.dimension} dimensions, {opened.name} {opened.dimension}"
            raise VectorError(f"{sizes}: they are not aligned")
    _check_room(target, sources, dtype, limit)
    with open_writer(target, opened.dimension, dtype) as writer:
        sink = _StoreSink(writer, normalize, limit, None if vocabulary is None else {w.encode() for w in vocabulary})
        fingerprints = [_pour(each, sink, vocabulary, progress) for each in sources]
        names = "+".join(each.name for each in sources)
        if not writer.count:
            raise VectorError(f"{names}: no word was kept ({sink.describe()}); nothing was written")
        conversion = sink.conversion()
        writer.finish(
            name=name or target.resolve().name,
            source=source or names,
            licence=licence,
            extra={
                "normalisation": "unit" if normalize else "none",
                "source_sha256": "+".join(fingerprints),
                "conversion": {**asdict(conversion), "limit": limit},
                **(extra or {}),
            },
            measure=measure_quantiles if conversion.words - conversion.zero_rows > 1 else None,
        )
    return conversion


class _StoreSink:
    """Passes rows on to a store, and counts those it does not."""

    tolerant = True

    def __init__(
        self, writer: StoreWriter, normalize: bool, limit: int | None, vocabulary: Collection[bytes] | None
    ) -> None:
        self._writer = writer
        self._normalize = normalize
        self._limit = limit
        self._vocabulary = vocabulary
        self._seen: set[bytes] = set()
        self._earlier = 0  # Words of sets before this one
        self._waiting: list[bytes] = []  # Words whose rows come next
        self._counts = dict.fromkeys(("duplicates", "zero_rows", "damaged_rows", "unusable_words", "passed_over"), 0)
        self._examples: dict[str, str] = {}

    @property
    def full(self) -> bool:
        return self._limit is not None and self._kept - self._earlier >= self._limit

    @property
    def _kept(self) -> int:
        return len(self._seen) - self._counts["damaged_rows"]

    def begin(self) -> None:
        """Begin the next set."""
        self._earlier = self._kept

    def take(self, word: bytes, _: None) -> int | None:
        if self.full:
            return None
        if word in self._seen:
            self._count("duplicates", word)
        elif self._vocabulary is not None and word not in self._vocabulary:
            self._counts["passed_over"] += 1
        elif not _is_storable(word):
            self._count("unusable_words", word)
        else:
            self._seen.add(word)
            self._waiting.append(word)
            return len(self._seen)
        return None

    def _count(self, kind: str, word: bytes) -> None:
        self._counts[kind] += 1
        self._examples.setdefault(kind, word.decode("utf-8", "replace"))

    def add(self, slots: Sequence[int], rows: NDArray[np.float32]) -> None:
        """Take the rows of the words that wait."""
        words, self._waiting = self._waiting, []
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        finite = np.isfinite(squares)
        for kind, places in (("damaged_rows", ~finite), ("zero_rows", squares == 0)):
            for place in np.flatnonzero(places).tolist():
                self._count(kind, words[place])
        if not finite.all():
            words = [word for word, keep in zip(words, finite.tolist(), strict=True) if keep]
            rows, squares = rows[finite], squares[finite]
        if self._normalize:
            # In double precision: the length of a tiny row has an inverse that is no float32.
            scales = np.divide(1, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0)
            rows = (rows * scales[:, None]).astype(np.float32)
        self._writer.add(words, rows)

    def conversion(self) -> Conversion:
        """Say what became of the words."""
        return Conversion(self._writer.count, **self._counts, examples=self._examples)

    def describe(self) -> str:
        """Say it in one line."""
        counts = (f"{count:,} {kind.replace('_', ' ')}" for kind, count in self._counts.items() if count)
        return ", ".join(counts) or "the set is empty"


def _is_storable(word: bytes) -> bool:
    """Whether a store can hold a word, given as UTF-8: text, and on one line."""
    try:
        return bool(word) and b"\n" not in word and (word.isascii() or bool(word.decode()))
    except UnicodeDecodeError:
        return False


def _pour(
    opened: VectorSource, sink: _StoreSink, vocabulary: Collection[str] | None, progress: Progress | None
) -> str:
    """Give all words of a source to the sink; returns the hex SHA-256 of what they came from."""
    sink.begin()
    if isinstance(opened, FileSource):
        opened.read(sink, progress=progress)
        return opened.fingerprint
    if isinstance(opened, FastTextSource):
        batches = opened.batches(opened.words if vocabulary is None else list(dict.fromkeys(vocabulary)))
    else:
        batches = opened.batches() if isinstance(opened, StoreSource | MemorySource) else iter([opened.head(None)])
    for words, rows in batches:
        taken = [sink.take(word.encode("utf-8", "surrogatepass"), None) is not None for word in words]
        sink.add((), rows[np.array(taken)])
    return opened.fingerprint


def _check_room(target: Path, sources: Sequence[VectorSource], dtype: StoreType, limit: int | None) -> None:
    """Refuse at once what cannot fit on the disk, as far as the size is known."""
    counts = [each.layout.count or 0 for each in sources if isinstance(each, FileSource)]
    count = sum(min(each, limit or each) for each in counts)
    if not count:
        return
    needed = count * sources[0].dimension * np.dtype(dtype).itemsize
    place = next(path for path in (target.resolve(), *target.resolve().parents) if path.exists())
    if needed > (free := shutil.disk_usage(place).free):
        raise VectorError(
            f"{target}: {needed / 1e6:,.0f} MB are needed for {count:,} words as {dtype}, {free / 1e6:,.0f} MB are "
            "free; free some space, or use ",
            Parameter("limit"),
            " or a smaller ",
            Parameter("dtype"),
        )
