"""Vectors for a corpus: of its words, ready for workers; or of tokens where they stand, from an encoder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.choice import NO_VECTORS, VectorChoice
from softbleu.embeddings.measure import MeasuredWords, WordMeasure, measure_words, random_similarities, unit_rows
from softbleu.encoders.base import parse_layers
from softbleu.encoders.kept import encoded_lines
from softbleu.encoders.pieces import word_rows
from softbleu.engine.encode import KnownWords
from softbleu.errors import VectorError
from softbleu.io.executors import Held, hold, shares_memory
from softbleu.io.files import TemporaryFolder
from softbleu.matching.similarity import (
    ComparedWords,
    PieceVectors,
    Relation,
    TokenVectors,
    UnitVectors,
    WordTable,
    frequency_weights,
)
from softbleu.text.tokens import Tokens, Vocabulary, chosen_places, lines_before, word_features

if TYPE_CHECKING:
    from softbleu.embeddings import VectorCase, VectorSource
    from softbleu.encoders import Encoder, Pieces
    from softbleu.matching.ngrams import Chunk
    from softbleu.types import Flags, Floats, Integers


TextBefore = tuple[tuple[int, ...], ...]  # Codes of the words of some lines
_WORDS = "words.json"
_WORDS_AT_ONCE = 1 << 10  # Words whose pieces are looked for together: few enough for the memory


@dataclass(frozen=True)
class ContextVectors:
    """Vectors of the tokens of lines, by an encoder that reads each line by itself, or after those before it.

    The encoder reads the tokens of a line with one space between them. A token's vector is the mean of those of its
    pieces, each the mean of the chosen layers' hidden states.
    """

    words: Sequence[str]  # The surface form of each word
    encoder: str | Encoder  # Its place, or the encoder itself
    layers: tuple[int, ...]
    known_words: Flags  # Words that the encoder makes anything of
    equal_is_one: bool  # Whether equal words are as alike as can be, wherever they stand
    self_only: Flags | None = None  # Words that meet nothing but themselves, whatever their vectors
    frequencies: Floats | None = None
    """Share of each word among the references' tokens, for compositions that weigh by it."""
    lines: int = 0  # How many lines before each, of its document, the encoder reads

    in_context: ClassVar[bool] = True

    def known(self, tokens: Tokens) -> Flags:
        """Which tokens have a vector."""
        known: Flags = self.known_words[tokens.codes]
        return known

    def unit(self, chunk: Chunk, *, by_frequency: bool) -> tuple[UnitVectors, Integers]:
        """Unit vectors of the tokens of the distinct lines of a chunk, and the row of each position."""
        tokens = Tokens.joined((chunk.candidates, chunk.references))
        numbers, lines, pieces, states = self._encoded(tokens)
        rows = word_rows(pieces, states, lines.offsets[:-1], len(lines.codes))
        places, _ = chosen_places(lines.offsets, numbers)
        words = lines.codes
        weights = frequency_weights(self.frequencies)[words] if by_frequency else None
        relation = None
        if self.self_only is not None:
            relation = Relation(words.astype(np.int64), 0, None, self.self_only[words])
        return UnitVectors(rows, words, weights, relation, self.equal_is_one, in_context=True), places

    def pieces(self, tokens: Tokens) -> PieceVectors:
        """Unit vectors of the pieces of lines."""
        numbers, _, pieces, states = self._encoded(tokens)
        return self._chosen(numbers, pieces, states)

    def pieces_of(self, lines: Sequence[Sequence[str]]) -> PieceVectors:
        """Unit vectors of the pieces of lines that are given as words; the corpus need not have them."""
        known: dict[tuple[str, ...], int] = {}
        numbers = np.array([known.setdefault(tuple(line), len(known)) for line in lines], np.int64)
        return self._chosen(numbers, *encoded_lines(self.encoder, self.layers).rows(list(known)))

    def _chosen(self, numbers: Integers, pieces: Pieces, states: NDArray[np.float32]) -> PieceVectors:
        """Vectors of the lines with these numbers, in that order."""
        places, offsets = chosen_places(pieces.offsets, numbers)
        ids, words = (part[places].astype(np.int64) for part in (pieces.ids, pieces.words))
        return PieceVectors(unit_rows(states)[places], ids, words, offsets)

    def means_of(self, lines: Sequence[Sequence[str]]) -> Floats:
        """Mean of the hidden states of all pieces of each distinct line, as words: (lines, dimension)."""
        return encoded_lines(self.encoder, self.layers).means(lines)

    def _encoded(self, tokens: Tokens) -> tuple[Integers, Tokens, Pieces, NDArray[np.float32]]:
        """Encode distinct lines: the number of each line, and the lines, their pieces and these pieces' states."""
        before = lines_before(tokens, self.lines)
        numbers, first = _distinct(tokens, before)
        lines = tokens.chosen(first)
        earlier = [[[self.words[code] for code in line] for line in before[place]] for place in first.tolist()]
        encoded = encoded_lines(self.encoder, self.layers)
        return numbers, lines, *encoded.rows(lines.surface_forms(self.words), earlier if any(earlier) else ())


def _distinct(tokens: Tokens, before: Sequence[TextBefore]) -> tuple[Integers, Integers]:
    """Give lines that are equal with those before them one number: the number of each line, and the first lines."""
    known: dict[object, int] = {}
    lines = zip(pairwise(tokens.offsets.tolist()), before, strict=True)
    numbers = [known.setdefault((tokens.codes[slice(*ends)].tobytes(), text), len(known)) for ends, text in lines]
    distinct = np.array(numbers, np.int64)
    return distinct, np.unique(distinct, return_index=True)[1]


@dataclass(frozen=True)
class CorpusWords:
    """The table of a corpus's words, in memory."""

    words: WordTable
    """Vectors of words are arrays, which workers map; those in context are made where they are needed."""
    identity: str = ""  # Name and content of the set that the vectors are from
    zero_words: int = 0  # Words whose vector is zero, which counts as none

    @classmethod
    def of(
        cls, measured: MeasuredWords, reference_words: int, *, normalize: bool, frequencies: Floats | None = None
    ) -> CorpusWords:
        """Put selected vectors of words together, the references' words first."""
        selected, weights = measured.selected, None
        if not normalize:
            norms = selected.norms[:reference_words]
            mean = float(norms[norms > 0].mean()) if (norms > 0).any() else 1.0
            weights = np.where(selected.known, selected.norms, mean)
        norms = selected.norms
        if measured.rows is not selected.rows:
            norms = np.linalg.norm(measured.rows.astype(np.float64), axis=1)
        pairs, self_only = measured.allowed_pairs, measured.self_only
        vectors = TokenVectors(measured.rows, norms, weights, pairs, self_only, frequencies)
        return cls(WordTable(vectors), f"{selected.name}#{selected.fingerprint[:12]}", selected.zero_words)

    @classmethod
    def in_context(
        cls, choice: VectorChoice, words: Sequence[str], *, frequencies: Floats | None = None
    ) -> CorpusWords:
        """Make vectors of tokens where they stand; the choice is resolved."""
        location: Any = str(choice.vectors) if isinstance(choice.vectors, str | os.PathLike) else choice.encoder
        layers = parse_layers(choice.layers or "")
        encoder = encoded_lines(location, layers).encoder
        known = np.zeros(len(words), bool)
        for start in range(0, len(words), _WORDS_AT_ONCE):
            pieces = encoder.tokenize([words[start : start + _WORDS_AT_ONCE]])
            known[start + pieces.words[pieces.words >= 0]] = True
        vectors = ContextVectors(
            words,
            location,
            layers,
            known,
            choice.exact_words == "one",
            choice.measure.self_only(words),
            frequencies,
            choice.context,
        )
        return cls(WordTable(vectors), f"{encoder.name}#{encoder.fingerprint[:12]}")

    @classmethod
    def without_vectors(
        cls, choice: VectorChoice, words: Sequence[str], *, frequencies: Floats | None = None
    ) -> CorpusWords:
        """Prepare words that `choice` compares by spellings, stems or a list of similar ones.

        `frequencies` are relative ones, (words,).
        """
        from softbleu.thesaurus.similar_words import read_similar_words
        from softbleu.thesaurus.stems import lemma_of, stem_in

        assert choice.similarity is not None
        more: dict[str, Any] = {}
        if "spelling" in choice.similarity.kinds:
            more["parts"], more["bounds"] = word_features("letters", words).values()
        if (roots := choice.similarity.roots) is not None:
            root_of = lemma_of if roots[0] == "lemmas" else stem_in
            more["stems"] = Vocabulary().encode([[root_of(word.lower(), roots[1]) for word in words]]).codes
        if (path := choice.similarity.pairs) is not None:
            more["listed"], more["similarities"] = read_similar_words(path, words)
        return cls(WordTable(ComparedWords(len(words), frequencies=frequencies, **more)), NO_VECTORS)

    def with_features(self, features: Mapping[str, NDArray[Any]]) -> CorpusWords:
        """Return the words with what else is known of them: arrays by name, for `WordTable.feature`."""
        return replace(self, words=replace(self.words, features=features))


@dataclass(frozen=True)
class Broadcast:
    """A table of words, or the words of a corpus by their codes; or where workers find them."""

    value: WordTable | Vocabulary | None = None
    folder: str = ""  # On this machine, whose files every worker maps once
    sent: Held | None = None  # What is sent once to every worker that has none of this machine's files

    def load(self) -> Any:
        """Return the table, or the words."""
        if self.sent is not None:
            return self.sent.value()
        return _read(self.folder) if self.value is None else self.value


@contextmanager
def broadcast(
    value: WordTable | Vocabulary, executor: Executor | None
) -> Iterator[tuple[Broadcast, dict[str, bytes]]]:
    """Make a table or a vocabulary available to the workers of an executor, once each.

    Yields what tasks hold in the place of `value`, and the bytes that must be sent to workers without shared memory,
    by key.
    """
    in_context = isinstance(value, WordTable) and not isinstance(value.vectors, TokenVectors | ComparedWords)
    if executor is not None and not shares_memory(executor):
        sent, content = hold(value)
        yield Broadcast(sent=sent), {sent.key: content}
    elif executor is None or in_context:
        yield Broadcast(value), {}
    else:
        with TemporaryFolder() as name:
            _write(value, Path(name))
            yield Broadcast(folder=name), {}


def _write(value: WordTable | Vocabulary, folder: Path) -> None:
    if isinstance(value, Vocabulary):
        Path(folder, _WORDS).write_text(json.dumps(list(value)))
        return
    arrays_of = {field.name: getattr(value.vectors, field.name) for field in fields(value.vectors)}  # type: ignore[arg-type]
    for kind, arrays in ((type(value.vectors).__name__, arrays_of), ("features", value.features)):
        Path(folder, kind).mkdir()
        for key, array in arrays.items():
            if array is not None:
                np.save(Path(folder, kind, f"{key}.npy"), array)


_KINDS = {kind.__name__: kind for kind in (TokenVectors, ComparedWords)}


@lru_cache(maxsize=8)
def _read(folder: str) -> WordTable | KnownWords:
    if (place := Path(folder, _WORDS)).exists():
        words = json.loads(place.read_bytes())
        return KnownWords(zip(words, range(len(words)), strict=True))
    # Arrays that could be written to, as those in memory: kernels are compiled for one kind of them.
    (kind,) = (name for name in _KINDS if Path(folder, name).is_dir())
    vectors, features = (
        {path.stem: np.load(path, mmap_mode="c") for path in Path(folder, name).glob("*.npy")}
        for name in (kind, "features")
    )
    # What is a single number is no array.
    vectors = {name: array if array.ndim else array.item() for name, array in vectors.items()}
    return WordTable(_KINDS[kind](**vectors), features)


@dataclass(frozen=True)
class WordSimilarity:
    """Similarity of two words."""

    one: str
    other: str
    similarity: float  # 0 if they may not meet
    percentile: float  # Percentage of random pairs of words of the set that are less alike


def compare_words(
    source: VectorSource,
    one: str,
    other: str,
    measure: WordMeasure | None = None,
    case: VectorCase = "fallback",
) -> WordSimilarity:
    """Compare two words, `one` and the `other`, as matchers do: their similarity, and its percentile among words.

    `source` are vectors, `measure` says how products of vectors become similarities, `case` how words of other case
    are looked up. Raises `VectorError` for a word without a vector.

    >>> from softbleu.embeddings import open_vectors
    >>> pair = compare_words(open_vectors("glove-6b-100d"), "car", "truck")
    >>> round(pair.similarity, 2), pair.percentile > 99.9
    (0.83, True)
    """
    measure = measure or WordMeasure()
    words = list(dict.fromkeys((one, other)))
    measured = measure_words(source, words, case, measure)
    for word, known in zip(words, measured.selected.known, strict=True):
        if not known:
            raise VectorError(f"{source.name}: no vector for the word {word!r}; try another spelling")
    vectors: Any = CorpusWords.of(measured, len(words), normalize=True).words.vectors
    unit, codes = vectors.of_words(np.arange(len(words), dtype=np.int32))
    _, products = unit.products(codes[None, :1], codes[None, -1:])
    similarity = float(products[0, 0, 0])
    random = random_similarities(source, measure)
    return WordSimilarity(one, other, similarity, float((random < similarity).mean() * 100))
