"""Word vectors of your own: word2vec or fastText, trained by gensim on text that is read again for each epoch."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from softbleu.config.declare import Declared, setting
from softbleu.embeddings.evaluation import Evaluation, evaluate_vectors, evaluation_card
from softbleu.embeddings.store import StoreType, StoreWriter, is_storable, measure_store, new_place, open_store
from softbleu.errors import InputError, Parameter, SoftbleuError, VectorError
from softbleu.io.files import write_whole
from softbleu.io.streams import TextCorpus
from softbleu.types import Progress

LONGEST_SEGMENT = 10_000
"""Tokens after which gensim would drop the rest of a segment; longer ones are cut into parts instead."""
_REPORT_EVERY = 10_000
_COUNTED_AT_ONCE = 10_000
Algorithm = Literal["word2vec", "fasttext"]
Architecture = Literal["skipgram", "cbow"]
CARD = "card.md"  # What a set is and how good it is, for people
_INTEGER = 2**31 - 1


class Passes:
    """A corpus as gensim goes through it; keeps what goes wrong, for gensim's threads would wait for ever."""

    def __init__(self, corpus: Iterable[Sequence[str]], epochs: int, progress: Progress | None) -> None:
        if isinstance(corpus, Iterator):
            raise InputError("the corpus can be gone through once only: give a list, or an object that starts anew")
        self.corpus = corpus
        self.segments = self.tokens = self.parts = 0
        self.error: Exception | None = None
        self._epochs = epochs
        self._progress = progress
        self._done = 0

    def count_words(self) -> Counter[str]:
        """Go through the corpus for the first time."""
        counts: Counter[str] = Counter()
        waiting: list[str] = []
        try:
            for segment in self.corpus:
                if isinstance(segment, str):
                    raise InputError(f"segment {self.segments + 1} is text, not a list of tokens: split it")
                waiting += segment
                if len(waiting) > _COUNTED_AT_ONCE:
                    counts.update(waiting)
                    waiting.clear()
                self.segments += 1
                self.tokens += len(segment)
                self.parts += -(-len(segment) // LONGEST_SEGMENT)
        except OSError as error:
            raise InputError(f"the corpus cannot be read ({error})") from error
        counts.update(waiting)
        return counts

    def __iter__(self) -> Iterator[list[str]]:
        """Go through the corpus once more, in parts that gensim does not cut short."""
        try:
            if self.error is None:
                yield from self._epoch()
        except Exception as error:
            self.error = error

    def _epoch(self) -> Iterator[list[str]]:
        before, reported = self._done, self._done
        for segment in self.corpus:
            for start in range(0, len(segment), LONGEST_SEGMENT):
                yield list(segment[start : start + LONGEST_SEGMENT])
            self._done += len(segment)
            if self._progress is not None and self._done >= reported + _REPORT_EVERY:
                reported = self._done
                self._progress(self._done, self.tokens * self._epochs)
        if self._done - before != self.tokens:
            raise InputError(
                f"the corpus had {self.tokens} tokens at first and {self._done - before} later; "
                "give one that is the same each time"
            )

    def file_names(self) -> list[str]:
        """Files of the corpus, if it comes from files."""
        return [str(path) for path in self.corpus.files] if isinstance(self.corpus, TextCorpus) else []


@dataclass(frozen=True)
class TrainingSettings(Declared):
    """How vectors are trained, by word2vec (Mikolov et al. 2013) or fastText (Bojanowski et al. 2017).

    But for the architecture the defaults are gensim's. fastText takes 4 × bucket × dimension bytes of memory.

    >>> TrainingSettings(negative=0)
    Traceback (most recent call last):
    softbleu.errors.InputError: nothing to learn from: give negative samples, or hierarchical softmax
    """

    algorithm: Algorithm = setting("word2vec", "word2vec, or fasttext, which adds vectors of character n-grams")
    architecture: Architecture = setting(
        "skipgram", "skipgram, the better one for small corpora, or cbow, the faster"
    )
    dimension: int = setting(100, "Length of each vector", least=1, most=10_000)
    window: int = setting(5, "Greatest distance between word and context, in tokens", least=1, most=LONGEST_SEGMENT)
    min_count: int = setting(5, "Least count of a word that gets a vector", least=1, most=_INTEGER)
    epochs: int = setting(5, "Passes over the text", least=1, most=10_000)
    negative: int = setting(5, "Negative samples per word; 0: none", least=0, most=1000)
    hierarchical_softmax: bool = setting(False, "Also train by hierarchical softmax")
    sample: float = setting(1e-3, "Leave out words above this frequency at random; 0: none", least=0, most=1)
    # Beyond 1 weights overflow, and gensim looks a NaN up in a table.
    alpha: float = setting(0.025, "First learning rate", least=0, most=1)
    min_alpha: float = setting(1e-4, "Last learning rate", least=0, most=1)
    min_ngram: int = setting(3, "fasttext: shortest character n-gram", least=1, most=1000)
    max_ngram: int = setting(6, "fasttext: longest character n-gram", least=1, most=1000)
    bucket: int = setting(2_000_000, "fasttext: vectors that n-grams share, 4 N D bytes", least=1, most=10**9)
    seed: int = setting(1, "Seed; results repeat exactly with one worker", least=0, most=2**32 - 1)
    workers: int = setting(1, "Threads; with more than one, results vary", least=1, most=256)

    def check(self) -> None:
        """See that the settings go together."""
        if not 0 < self.min_alpha <= self.alpha:
            raise InputError(f"learning rates must fall from above 0, not go from {self.alpha} to {self.min_alpha}")
        if self.max_ngram < self.min_ngram:
            raise InputError(f"the longest n-gram ({self.max_ngram}) is shorter than the shortest ({self.min_ngram})")
        if not (self.negative or self.hierarchical_softmax):
            raise InputError("nothing to learn from: give negative samples, or hierarchical softmax")


@dataclass(frozen=True)
class Training:
    """Result of a training: how large the corpus and the vocabulary are, and where the store lies."""

    words: int  # Words with a vector
    rare_words: int  # Words without one, for they are rarer than `min_count`
    segments: int
    tokens: int  # Size of the corpus
    trained_tokens: int  # How many of its tokens have a vector
    fingerprint: str = ""  # Of the store, see `write_store`
    evaluation: Evaluation | None = None  # Of the vectors, where it was asked for

    def counts(self) -> dict[str, int]:
        """All numbers."""
        named = ("words", "rare_words", "segments", "tokens", "trained_tokens")
        return {name: getattr(self, name) for name in named}


def train_vectors(
    corpus: Iterable[Sequence[str]],
    directory: str | os.PathLike[str],
    settings: TrainingSettings | None = None,
    *,
    dtype: StoreType = "float16",
    name: str | None = None,
    source: str | None = None,
    licence: str = "not stated",
    tokenization: Mapping[str, object] | None = None,
    force: bool = False,
    progress: Progress | None = None,
    card: Mapping[str, object] | None = None,
) -> Training:
    """Train vectors on tokenized segments and write them as a store, the most frequent word first.

    Rows have unit length; equally frequent words come in the order of their code points. The corpus is gone through
    once more than there are epochs, and never held in memory.

    Parameters
    ----------
    corpus
        Segments as lists of tokens, that start anew each time: a list, or a `TextCorpus`, of which ``meta.json``
        has the hex SHA-256 of each file.
    directory
        Folder of the store.
    settings
        How the vectors are trained.
    dtype
        How values are kept: float16, float32 or int8.
    name, source, licence
        What ``meta.json`` says of the set; by default the name of the folder and those of the files.
    tokenization
        What ``meta.json`` says of how the corpus was tokenized.
    force
        Replace a store that is there.
    progress
        Called, from another thread, with the tokens read in all epochs so far, and how many that will be.
    card
        Facts that ``card.md`` says first; with them the vectors are measured (`evaluate_vectors`).

    Raises
    ------
    InputError
        The corpus lies in the folder that is to be replaced, is empty, can be gone through once only, changes, or has
        no word that is frequent enough.
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
    passes = Passes(corpus, settings.epochs, progress)
    target = new_place(directory, passes.file_names(), force=force)
    # Opened first, so that a place that cannot be written is found before hours of training.
    with StoreWriter(target, settings.dimension, dtype) as writer:
        counts = passes.count_words()
        frequencies = _frequencies(counts, settings.min_count)
        writer.add([word.encode() for word in frequencies], _train(passes, frequencies, settings))
        words = len(frequencies), len(counts) - len(frequencies)
        training = Training(*words, passes.segments, passes.tokens, sum(frequencies.values()))

        def described(draft: Path) -> Mapping[str, object]:
            nonlocal training
            if card is not None:
                evaluation = evaluate_vectors(open_store(draft, str(directory)))
                training = replace(training, evaluation=evaluation)
                facts = {**card, **training.counts(), **(tokenization or {}), **asdict(settings)}
                shown = {key.replace("_", " "): value for key, value in facts.items()}
                write_whole(draft / CARD, [evaluation_card(evaluation, shown)])
            return measure_store(draft) if len(frequencies) > 1 else {}

        fingerprint = writer.finish(
            name=name or target.resolve().name,
            source=source or ", ".join(passes.file_names()) or "not stated",
            licence=licence,
            extra={"normalisation": "unit", "training": {**_describe(passes, settings), **(tokenization or {})}},
            measure=described,
        )
    return replace(training, fingerprint=fingerprint)


def _frequencies(counts: Counter[str], min_count: int) -> dict[str, int]:
    """Frequent words, the most frequent first, checked before time is spent on them."""
    if not counts:
        raise InputError("nothing to train on: the corpus has no tokens")
    frequent = sorted((-count, word) for word, count in counts.items() if count >= min_count)
    if not frequent:
        word, most = counts.most_common(1)[0]
        raise InputError(
            f"no word occurs {min_count} times ({word[:40]!r} comes next, {most}): lower ",
            Parameter("min_count"),
            " or give more text",
        )
    for _, word in frequent:
        if not is_storable(word.encode("utf-8", "surrogatepass")):
            raise InputError(f"word {word!r} is empty, holds a line break or is not valid Unicode: leave it out")
    return {word: -count for count, word in frequent}


def _train(passes: Passes, frequencies: dict[str, int], settings: TrainingSettings) -> NDArray[np.float32]:
    """Unit vectors of the words, shape (words, dimension)."""
    from softbleu.embeddings.measure import unit_rows

    model = _make_model(settings)
    model.build_vocab_from_freq(frequencies, corpus_count=passes.parts)
    model.train(passes, total_examples=passes.parts, total_words=passes.tokens, epochs=settings.epochs)
    if passes.error is not None:
        if isinstance(passes.error, SoftbleuError):
            raise passes.error
        raise InputError(f"the corpus cannot be read ({passes.error})") from passes.error
    if model.wv.index_to_key != list(frequencies):
        raise VectorError("gensim put the words in another order; report this as a fault of softbleu")
    return unit_rows(model.wv.vectors).astype(np.float32)


def _make_model(settings: TrainingSettings) -> Any:
    from gensim.models import FastText, Word2Vec

    common = {
        "vector_size": settings.dimension,
        "sg": int(settings.architecture == "skipgram"),
        "hs": int(settings.hierarchical_softmax),
        # The words come in order already, and gensim's sort leaves open how ties are resolved.
        "sorted_vocab": 0,
        **{name: getattr(settings, name) for name in ("window", "min_count", "epochs", "negative", "sample")},
        **{name: getattr(settings, name) for name in ("alpha", "min_alpha", "seed", "workers")},
    }
    if settings.algorithm == "word2vec":
        return Word2Vec(**common)
    return FastText(min_n=settings.min_ngram, max_n=settings.max_ngram, bucket=settings.bucket, **common)


def _describe(passes: Passes, settings: TrainingSettings) -> dict[str, object]:
    """Facts about the training for ``meta.json``."""
    from gensim import __version__

    digests = passes.corpus.digests if isinstance(passes.corpus, TextCorpus) else {}
    return {
        "settings": asdict(settings),
        "segments": passes.segments,
        "tokens": passes.tokens,
        "corpus": [{"file": file, "sha256": digest} for file, digest in digests.items()],
        "gensim": __version__,
    }
