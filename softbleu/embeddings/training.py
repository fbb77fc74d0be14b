"""Word vectors of your own: word2vec or fastText, trained by gensim, converted as any others."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from softbleu.config.declare import Declared, setting
from softbleu.embeddings.convert import convert_vectors
from softbleu.embeddings.vectors import StoreType, check_target, new_place
from softbleu.errors import InputError, Parameter
from softbleu.io.files import TemporaryFolder
from softbleu.types import Progress

MOST_TOKENS = 10_000  # Tokens after which gensim drops the rest of a line; longer segments become several
_INTEGER = 2**31 - 1


@dataclass(frozen=True)
class TrainingSettings(Declared):
    """How vectors are trained, by word2vec (Mikolov et al. 2013) or fastText (Bojanowski et al. 2017).

    But for the architecture the defaults are gensim's. fastText takes 4 × bucket × dimension bytes of memory.

    >>> TrainingSettings(negative=0)
    Traceback (most recent call last):
    softbleu.errors.InputError: nothing to learn from: give negative samples, or hierarchical softmax
    """

    algorithm: Literal["word2vec", "fasttext"] = setting(
        "word2vec", "word2vec, or fasttext, which adds vectors of character n-grams"
    )
    architecture: Literal["skipgram", "cbow"] = setting(
        "skipgram", "skipgram, the better one for small corpora, or cbow, the faster"
    )
    dimension: int = setting(100, "Length of each vector", least=1, most=10_000)
    window: int = setting(5, "Greatest distance between word and context, in tokens", least=1, most=MOST_TOKENS)
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

    def model(self) -> Any:
        """Make a model of gensim's that is not trained yet."""
        from gensim.models import FastText, Word2Vec

        same = "window min_count epochs negative sample alpha min_alpha seed workers"
        common: dict[str, Any] = {name: getattr(self, name) for name in same.split()}
        common |= {"vector_size": self.dimension, "sg": int(self.architecture == "skipgram")}
        # The words come in order already, and gensim's sort leaves open how ties are resolved.
        common |= {"hs": int(self.hierarchical_softmax), "sorted_vocab": 0}
        if self.algorithm == "word2vec":
            return Word2Vec(**common)
        return FastText(min_n=self.min_ngram, max_n=self.max_ngram, bucket=self.bucket, **common)


@dataclass(frozen=True)
class Training:
    """Result of a training: how large the corpus and the vocabulary are."""

    words: int  # Words with a vector
    rare_words: int  # Words without one, for they are rarer than `min_count`
    segments: int
    tokens: int  # Size of the corpus
    trained_tokens: int  # How many of its tokens have a vector


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

    Rows have unit length; equally frequent words come in the order of their code points. The corpus is gone through
    once; its tokens lie in a temporary file from which gensim reads them for each epoch.

    Parameters
    ----------
    corpus
        Segments as sequences of tokens, without blanks in them.
    directory
        Folder of the store.
    settings
        How the vectors are trained.
    dtype, name, source, licence, force
        As those of `softbleu.embeddings.convert.convert_vectors`.
    facts
        What ``meta.json`` says of the training besides settings, sizes and gensim's version.
    progress
        Called with the epochs that are done, and how many there are.

    Raises
    ------
    InputError
        The corpus is empty, has text in the place of tokens, tokens with a blank, or no word that is frequent enough.
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
    # Found before hours of training.
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
    convert_vectors(
        model.wv,
        directory,
        dtype=dtype,
        name=name,
        source=source or "not stated",
        licence=licence,
        force=force,
        extra={
            "training": {
                "settings": asdict(settings),
                **asdict(trained),
                "gensim": version("gensim"),
                **(facts or {}),
            }
        },
    )
    return trained


def _write_lines(
    corpus: Iterable[Sequence[str]], counts: Counter[str], write: Callable[[str], object]
) -> tuple[int, int]:
    """Count the words of segments and write these as lines that gensim reads whole; returns how many of each."""
    segments = lines = 0
    for segments, segment in enumerate(corpus, start=1):
        if isinstance(segment, str):
            raise InputError(f"segment {segments} is text, not a list of tokens: split it")
        counts.update(segment)
        for start in range(0, len(segment), MOST_TOKENS):
            try:
                write(" ".join(segment[start : start + MOST_TOKENS]) + "\n")
            except UnicodeEncodeError as error:
                raise InputError(f"segment {segments}: a token is no valid Unicode ({error.reason})") from error
            lines += 1
    return segments, lines


@dataclass(frozen=True)
class _Lines:
    """Tokens of a file, line by line, as often as they are asked for; gensim's own way drops the end."""

    path: Path

    def __iter__(self) -> Iterator[list[str]]:
        with self.path.open(encoding="utf-8", newline="\n") as file:
            for line in file:
                yield line[:-1].split(" ")


def _frequencies(counts: Counter[str], min_count: int) -> dict[str, int]:
    """Frequent words, the most frequent first, checked before time is spent on them."""
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


def _epochs_shown(progress: Progress, epochs: int) -> Any:
    """What tells how many epochs are done, as gensim takes it."""
    from gensim.models.callbacks import CallbackAny2Vec

    class Shown(CallbackAny2Vec):  # type: ignore[misc]
        done = 0

        def on_epoch_end(self, model: Any) -> None:
            self.done += 1
            progress(self.done, epochs)

    return Shown()
