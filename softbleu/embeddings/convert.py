"""Making stores of vectors: from any vectors in one streaming pass, or by training on text with gensim."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from softbleu.config.declare import Declared, setting
from softbleu.embeddings.choice import VectorLocation, open_vectors, vector_files
from softbleu.embeddings.files import FastTextSource, FileSource
from softbleu.embeddings.measure import measure_quantiles
from softbleu.embeddings.vectors import (
    MemorySource,
    StoreSource,
    StoreType,
    StoreWriter,
    VectorSource,
    check_target,
    new_place,
    open_writer,
)
from softbleu.encoders.base import parse_layers
from softbleu.encoders.convert import convert_encoder, is_model
from softbleu.errors import InputError, Parameter, VectorError, optional
from softbleu.io.files import TemporaryFolder
from softbleu.tables import Table
from softbleu.types import Keywords, Progress

MOST_TOKENS = 10_000  # Tokens after which gensim drops the rest of a line; longer segments are split
_INTEGER = 2**31 - 1


@dataclass(frozen=True)
class Conversion:
    """Result of a conversion: numbers of words kept and left out."""

    words: int  # Words kept
    duplicates: int  # Repetitions of words; the first row counts
    zero_rows: int  # Words kept with a row of zeros, which counts as no vector
    damaged_rows: int  # Words left out for values that are not finite
    unusable_words: int  # Words left out that are empty, contain a line break or are not UTF-8
    passed_over: int  # Words left out because they are not in `vocabulary`
    examples: dict[str, str]  # First word of each kind


def convert_to_store(
    location: str,
    directory: str,
    *,
    layers: str | None = None,
    aligned: str | None = None,
    limit: int | None = None,
    vocabulary: Collection[str] | None = None,
    keep_lengths: bool = False,
    dtype: StoreType = "float16",
    name: str | None = None,
    source: str | None = None,
    licence: str = "not stated",
    force: bool = False,
    progress: Progress | None = None,
) -> Table:
    """Convert vectors, or a model into an encoder, and count what is kept; see `convert_vectors`, `convert_encoder`.

    Raises `InputError`: an argument that has no effect on vectors, or on a model.
    """
    facts = {"store": directory, "dtype": dtype}
    same: Keywords = {"dtype": dtype, "name": name, "source": source, "licence": licence, "force": force}
    if not is_model(location):
        _refuse("word vectors", layers=layers)
        done = convert_vectors(
            location,
            directory,
            aligned=[aligned] if aligned else [],
            normalize=not keep_lengths,
            limit=limit,
            vocabulary=vocabulary,
            progress=progress,
            **same,
        )
        counts = asdict(done)
        first = counts.pop("examples")
        rows = [
            ("kept" if kind == "words" else kind.replace("_", " "), counts[kind], first.get(kind)) for kind in counts
        ]
        return Table(("what", "words", "first"), rows, facts)
    _refuse("encoders", aligned=aligned, limit=limit, vocabulary=vocabulary, keep_lengths=keep_lengths or None)
    chosen = None if layers is None else parse_layers(layers)
    encoder = convert_encoder(location, directory, layers=chosen, **same)
    depths = [("kept", encoder.architecture.depth), ("left out", encoder.left_out)]
    return Table(("what", "layers"), depths, facts | {"recommended": ",".join(map(str, encoder.layers))})


def _refuse(kind: str, **given: object) -> None:
    """Refuse arguments that have no effect on the conversion."""
    for name, value in given.items():
        if value is not None:
            raise InputError(Parameter(name), f" means nothing for {kind}: leave it out")


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
    """Convert vectors into a store, atomically, in one pass; memory holds all words, but only a block of rows.

    Parameters
    ----------
    location
        A word2vec, GloVe or fastText `.vec` file, plain or packed with gzip or bzip2; a fastText `.bin`; or any other
        argument of `open_vectors`. A gensim pickle, which can run any code, is refused: pass the loaded KeyedVectors.
    directory
        Folder of the store.
    aligned
        Sets of other languages in the same space, whose words are appended; the first of equal words counts.
    dtype
        float16 has half the size of float32, and changes similarities in the fourth decimal at most; int8 a quarter.
    normalize
        Scale rows to length 1, which changes no cosine.
    limit
        Number of words to keep of each set, from the first.
    vocabulary
        Words to keep; for a model of fastText also words that it does not list, by their subwords.
    name, source, licence
        Entries of ``meta.json``; by default the names of the folder and of the file.
    extra
        Further entries of ``meta.json``.
    force
        Replace an existing store.
    progress
        Called with the bytes read of a file, and its size.

    Raises
    ------
    VectorError
        A file that cannot be read (names the word and byte or line), or a folder that cannot be written.

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
    # A store may be converted in place; other inputs must not be overwritten.
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
    """Passes rows on to a store, and counts the rest."""

    tolerant = True

    def __init__(
        self, writer: StoreWriter, normalize: bool, limit: int | None, vocabulary: Collection[bytes] | None
    ) -> None:
        self._writer = writer
        self._normalize = normalize
        self._limit = limit
        self._vocabulary = vocabulary
        self._seen: set[bytes] = set()
        self._earlier = 0  # Words of earlier sets
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
        """Store the rows of the waiting words."""
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
            # Double precision, since 1 / length of a tiny row exceeds float32.
            scales = np.divide(1, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0)
            rows = (rows * scales[:, None]).astype(np.float32)
        self._writer.add(words, rows)

    def conversion(self) -> Conversion:
        """Return the result."""
        return Conversion(self._writer.count, **self._counts, examples=self._examples)

    def describe(self) -> str:
        """Describe the result in one line."""
        counts = (f"{count:,} {kind.replace('_', ' ')}" for kind, count in self._counts.items() if count)
        return ", ".join(counts) or "the set is empty"


def _is_storable(word: bytes) -> bool:
    """Whether a store can hold a word, given in UTF-8: valid, not empty, and without line breaks."""
    try:
        return bool(word) and b"\n" not in word and (word.isascii() or bool(word.decode()))
    except UnicodeDecodeError:
        return False


def _pour(
    opened: VectorSource, sink: _StoreSink, vocabulary: Collection[str] | None, progress: Progress | None
) -> str:
    """Pass all words of a source to the sink; return the fingerprint of the source."""
    sink.begin()
    if isinstance(opened, FileSource):
        opened.read(sink, progress=progress)
        return opened.fingerprint
    if isinstance(opened, FastTextSource):
        batches = opened.batches(opened.words if vocabulary is None else list(dict.fromkeys(vocabulary)))
    else:
        batches = opened.batches() if isinstance(opened, StoreSource | MemorySource) else iter([opened.head(None)])
    for words, rows in batches:
        wanted = [sink.take(word.encode("utf-8", "surrogatepass"), None) is not None for word in words]
        sink.add((), rows[np.array(wanted)])
    return opened.fingerprint


def _check_room(target: Path, sources: Sequence[VectorSource], dtype: StoreType, limit: int | None) -> None:
    """Raise VectorError if the store cannot fit on the disk, as far as its size is known."""
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


@dataclass(frozen=True)
class TrainingSettings(Declared):
    """Settings of training by word2vec (Mikolov et al. 2013) or fastText (Bojanowski et al. 2017).

    Except for the architecture, defaults are gensim's. fastText takes 4 × bucket × dimension bytes of memory.

    >>> TrainingSettings(negative=0)
    Traceback (most recent call last):
    softbleu.errors.InputError: nothing to learn from: give negative samples, or hierarchical softmax
    """

    algorithm: Literal["word2vec", "fasttext"] = setting(
        "word2vec", "word2vec, or fasttext, which adds vectors of character n-grams", common=True
    )
    architecture: Literal["skipgram", "cbow"] = setting(
        "skipgram", "skipgram, better for small corpora, or cbow, faster", common=True
    )
    dimension: int = setting(100, "Length of each vector", least=1, most=10_000, common=True)
    window: int = setting(
        5, "Greatest distance between word and context, in tokens", least=1, most=MOST_TOKENS, common=True
    )
    min_count: int = setting(5, "Least count of a word that gets a vector", least=1, most=_INTEGER, common=True)
    epochs: int = setting(5, "Passes over the text", least=1, most=10_000, common=True)
    negative: int = setting(5, "Negative samples per word; 0: none", least=0, most=1000)
    hierarchical_softmax: bool = setting(False, "Also train by hierarchical softmax")
    sample: float = setting(1e-3, "Leave out words above this frequency at random; 0: none", least=0, most=1)
    # Above 1, weights overflow, and gensim uses NaN as an index.
    alpha: float = setting(0.025, "First learning rate", least=0, most=1)
    min_alpha: float = setting(1e-4, "Last learning rate", least=0, most=1)
    min_ngram: int = setting(3, "fasttext: shortest character n-gram", least=1, most=1000)
    max_ngram: int = setting(6, "fasttext: longest character n-gram", least=1, most=1000)
    bucket: int = setting(2_000_000, "fasttext: vectors that n-grams share, 4 N D bytes", least=1, most=10**9)
    seed: int = setting(1, "Seed; results repeat exactly with one worker", least=0, most=2**32 - 1, common=True)
    workers: int = setting(1, "Threads; with more than one, results vary", least=1, most=256, common=True)

    def check(self) -> None:
        """Check that the settings are compatible."""
        if not 0 < self.min_alpha <= self.alpha:
            raise InputError(f"learning rates must fall from above 0, not go from {self.alpha} to {self.min_alpha}")
        if self.max_ngram < self.min_ngram:
            raise InputError(f"the longest n-gram ({self.max_ngram}) is shorter than the shortest ({self.min_ngram})")
        if not (self.negative or self.hierarchical_softmax):
            raise InputError("nothing to learn from: give negative samples, or hierarchical softmax")

    def model(self) -> Any:
        """Make an untrained gensim model."""
        with optional("train", "Training word vectors"):
            from gensim.models import FastText, Word2Vec

        same = "window min_count epochs negative sample alpha min_alpha seed workers"
        common: dict[str, object] = {name: getattr(self, name) for name in same.split()}
        common |= {"vector_size": self.dimension, "sg": int(self.architecture == "skipgram")}
        # Words are sorted already, and gensim's sort does not define the order of ties.
        common |= {"hs": int(self.hierarchical_softmax), "sorted_vocab": 0}
        if self.algorithm == "word2vec":
            return Word2Vec(**common)
        return FastText(min_n=self.min_ngram, max_n=self.max_ngram, bucket=self.bucket, **common)


@dataclass(frozen=True)
class Training:
    """Result of training: sizes of the corpus and the vocabulary."""

    words: int  # Words with a vector
    rare_words: int  # Words rarer than `min_count`, without a vector
    segments: int
    tokens: int  # Tokens of the corpus
    trained_tokens: int  # Tokens with a vector


def train_vectors(
    corpus: Iterable[Sequence[str]],
    directory: str | os.PathLike[str],
    settings: TrainingSettings | None = None,
    *,
    dtype: StoreType = "float16",
    name: str | None = None,
    source: str | None = None,
    licence: str = "not stated",
    facts: Mapping[str, object] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Training:
    """Train vectors on tokenized segments and write them as a store, the most frequent word first.

    Rows have unit length; equally frequent words are sorted by code points. The corpus is read once; gensim reads its
    tokens from a temporary file in each epoch.

    Parameters
    ----------
    corpus
        Segments as sequences of tokens, without blanks in them.
    directory
        Folder of the store.
    settings
        Settings of training.
    dtype, name, source, licence, force
        See `convert_vectors`.
    facts
        Facts about the training for ``meta.json``, in addition to settings, sizes and gensim's version.
    progress
        Called with the number of finished epochs, and the total.

    Raises
    ------
    InputError
        The corpus is empty, has text instead of tokens, tokens with a blank, or no word that is frequent enough.
    VectorError
        The store cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from softbleu.embeddings import open_vectors
    >>> place = Path(tempfile.mkdtemp()) / "tiny"
    >>> corpus = [["a", "rose", "is", "a", "rose"]] * 10
    >>> training = train_vectors(corpus, place, TrainingSettings(dimension=4, min_count=20))
    >>> training.words, training.rare_words, open_vectors(place).head()[0]
    (2, 1, ['a', 'rose'])
    """
    settings = settings or TrainingSettings()
    # Checked before hours of training.
    check_target(new_place(directory, (), force=force), dtype)
    counts: Counter[str] = Counter()
    with TemporaryFolder() as folder:
        text = Path(folder, "text")
        with text.open("w", encoding="utf-8", newline="\n") as file:
            segments, lines = _write_lines(corpus, counts, file.write)
        frequencies = _frequencies(counts, settings.min_count)
        model = settings.model()
        model.build_vocab_from_freq(frequencies, corpus_count=lines)
        epochs = settings.epochs
        shown = [] if progress is None else [_epochs_shown(progress, epochs)]
        sizes = {"total_examples": lines, "total_words": counts.total(), "epochs": epochs}
        model.train(_Lines(text), callbacks=shown, **sizes)
    trained = Training(
        len(frequencies), len(counts) - len(frequencies), segments, counts.total(), sum(frequencies.values())
    )
    training = {"settings": asdict(settings), **asdict(trained), "gensim": version("gensim"), **(facts or {})}
    source = source or "not stated"
    extra = {"training": training}
    convert_vectors(
        model.wv, directory, dtype=dtype, name=name, source=source, licence=licence, force=force, extra=extra
    )
    return trained


def _write_lines(
    corpus: Iterable[Sequence[str]], counts: Counter[str], write: Callable[[str], object]
) -> tuple[int, int]:
    """Count the words of segments, and write segments as lines short enough for gensim; return both numbers."""
    segments = lines = 0
    for segments, segment in enumerate(corpus, start=1):
        if isinstance(segment, str):
            raise InputError(f"segment {segments} is text, not a list of tokens: split it")
        counts.update(segment)
        for start in range(0, len(segment), MOST_TOKENS):
            try:
                write(" ".join(segment[start : start + MOST_TOKENS]) + "\n")
            except UnicodeEncodeError as error:
                raise InputError(f"segment {segments}: a token is not valid Unicode ({error.reason})") from error
            lines += 1
    return segments, lines


@dataclass(frozen=True)
class _Lines:
    """Iterable over the tokens of the lines of a file; gensim's own reader drops the end."""

    path: Path

    def __iter__(self) -> Iterator[list[str]]:
        with self.path.open(encoding="utf-8", newline="\n") as file:
            for line in file:
                yield line[:-1].split(" ")


def _frequencies(counts: Counter[str], min_count: int) -> dict[str, int]:
    """Return the counts of frequent words, the most frequent first; check the words before training."""
    if not counts:
        raise InputError("nothing to train on: the corpus has no tokens")
    for word in counts:
        if not word or " " in word or "\n" in word:
            raise InputError(f"word {word!r} is empty or has a blank in it: split the text at blanks, too")
    frequent = sorted((-count, word) for word, count in counts.items() if count >= min_count)
    if not frequent:
        word, most = counts.most_common(1)[0]
        raise InputError(
            f"no word occurs {min_count} times ({word[:40]!r} comes next, {most}): lower ",
            Parameter("min_count"),
            " or give more text",
        )
    return {word: -count for count, word in frequent}


def _epochs_shown(progress: Progress, epochs: int) -> object:
    """Make a gensim callback that reports finished epochs."""
    from gensim.models.callbacks import CallbackAny2Vec

    class Shown(CallbackAny2Vec):  # type: ignore[misc]
        done = 0

        def on_epoch_end(self, model: object) -> None:
            self.done += 1
            progress(self.done, epochs)

    return Shown()
