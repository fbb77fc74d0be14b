"""Word vectors for a corpus: those of its vocabulary, ready for workers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.encoders.base import parse_layers
from softbleu.engine.context import ContextVectors
from softbleu.engine.encode import KnownWords
from softbleu.io.executors import Held, hold, shares_memory
from softbleu.io.files import TemporaryFolder
from softbleu.matching.similarity import TokenVectors, WordTable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from softbleu.embeddings.choice import VectorChoice
    from softbleu.embeddings.measure import MeasuredWords
    from softbleu.types import Floats


@dataclass(frozen=True)
class CorpusWords:
    """The table of a corpus's words, in memory."""

    words: WordTable
    """Vectors of words are arrays, which workers map; those in context are made where they are needed."""
    identity: str = ""
    """Name and content of the set that the vectors are from."""
    zero_words: int = 0
    """Words whose vector is zero, which counts as none."""

    @classmethod
    def of(
        cls,
        measured: MeasuredWords,
        reference_words: int,
        *,
        normalize: bool,
        frequencies: Floats | None = None,
        features: Mapping[str, NDArray[Any]] | None = None,
    ) -> CorpusWords:
        """Put selected vectors and features of the same words together, the references' words first."""
        selected, weights = measured.selected, None
        if not normalize:
            norms = selected.norms[:reference_words]
            mean = float(norms[norms > 0].mean()) if (norms > 0).any() else 1.0
            weights = np.where(selected.known, selected.norms, mean)
        norms = selected.norms
        if measured.rows is not selected.rows:
            norms = np.linalg.norm(measured.rows.astype(np.float64), axis=1)
        means, pairs, alone = measured.mean_neighbour_similarity, measured.allowed_pairs, measured.self_only
        vectors = TokenVectors(measured.rows, norms, weights, means, pairs, alone, frequencies)
        table = WordTable(vectors, features or {})
        return cls(table, f"{selected.name}#{selected.fingerprint[:12]}", selected.zero_words)

    @classmethod
    def in_context(
        cls,
        choice: VectorChoice,
        words: Sequence[str],
        *,
        frequencies: Floats | None = None,
        features: Mapping[str, NDArray[Any]] | None = None,
    ) -> CorpusWords:
        """Make vectors of tokens where they stand; the choice is resolved."""
        encoder = choice.encoder
        pieces = encoder.tokenize([words])
        known = np.bincount(pieces.words[pieces.words >= 0], minlength=len(words)) > 0
        vectors = ContextVectors(
            words,
            str(choice.vectors) if isinstance(choice.vectors, str | os.PathLike) else encoder,
            parse_layers(choice.layers or ""),
            known,
            choice.exact_words == "one",
            choice.measure.self_only(words),
            frequencies,
        )
        return cls(WordTable(vectors, features or {}), f"{encoder.name}#{encoder.fingerprint[:12]}")

    @classmethod
    def of_features(cls, words: int, features: Mapping[str, NDArray[Any]]) -> CorpusWords:
        """Put features together; no word has a vector."""
        return cls(WordTable(TokenVectors(np.zeros((words, 0), np.float32), np.zeros(words)), features))

    def load(self) -> WordTable:
        """Return the table: it is in memory already."""
        return self.words

    @contextmanager
    def broadcast(self, executor: Executor | None) -> Iterator[tuple[BroadcastWords, dict[str, bytes]]]:
        """Put the table where the workers of an executor find it; what they must be sent comes with it."""
        if executor is None:
            yield self, {}
        elif shares_memory(executor):
            with self._stored() as stored:
                yield stored, {}
        else:
            held, sent = hold(self)
            yield SentWords(held), {held.key: sent}

    @contextmanager
    def _stored(self) -> Iterator[CorpusWords | StoredWords]:
        """Lay the table down in files, for other processes to map."""
        if not isinstance(self.words.vectors, TokenVectors):
            yield self
            return
        own = {field.name: getattr(self.words.vectors, field.name) for field in fields(TokenVectors)}
        with TemporaryFolder() as name:
            for folder, arrays in (("vectors", own), ("features", self.words.features)):
                Path(name, folder).mkdir()
                for key, array in arrays.items():
                    if array is not None:
                        np.save(Path(name, folder, f"{key}.npy"), array)
            yield StoredWords(name)


@dataclass(frozen=True)
class StoredWords:
    """The same in files that every worker maps once."""

    folder: str

    def load(self) -> WordTable:
        """Map the files."""
        return _load(self.folder)


@dataclass(frozen=True)
class SentWords:
    """The same, sent once to every worker that has none of this machine's files."""

    held: Held

    def load(self) -> WordTable:
        """Return the table that has arrived."""
        words: CorpusWords = self.held.value()
        return words.load()


BroadcastWords = CorpusWords | StoredWords | SentWords
"""A table of words, or where it is found."""


@lru_cache(maxsize=4)
def _load(folder: str) -> WordTable:
    # Arrays that could be written to, as those in memory: kernels are compiled for one kind of them.
    vectors, features = (
        {path.stem: np.load(path, mmap_mode="c") for path in Path(folder, kind).glob("*.npy")}
        for kind in ("vectors", "features")
    )
    return WordTable(TokenVectors(**vectors), features)


@dataclass(frozen=True)
class BroadcastVocabulary:
    """The words of a corpus, or where they are found: in a file of this machine, or sent once to every worker."""

    place: str | Held

    def load(self) -> KnownWords:
        """Return them, by their codes."""
        if isinstance(self.place, str):
            return _load_words(self.place)
        words: KnownWords = self.place.value()
        return words


@lru_cache(maxsize=4)
def _load_words(place: str) -> KnownWords:
    words = json.loads(Path(place).read_bytes())
    return KnownWords(zip(words, range(len(words)), strict=True))


@contextmanager
def broadcast_words(words: KnownWords, executor: Executor) -> Iterator[tuple[BroadcastVocabulary, dict[str, bytes]]]:
    """Put words where the workers of an executor find them; what they must be sent comes with them."""
    if not shares_memory(executor):
        held, sent = hold(words)
        yield BroadcastVocabulary(held), {held.key: sent}
        return
    with TemporaryFolder() as name:
        place = Path(name, "words.json")
        place.write_text(json.dumps(list(words)))
        yield BroadcastVocabulary(str(place)), {}
