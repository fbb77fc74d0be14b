"""Prepared corpora: their words, each counted and looked up once with its vector."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softbleu.corpora.files import open_text
from softbleu.embeddings.choice import NO_VECTORS, VectorChoice
from softbleu.embeddings.measure import WordMeasure, measure_words, random_similarities
from softbleu.embeddings.vectors import MeasuredWords, unit_rows
from softbleu.encoders.base import PlacedLine, parse_layers
from softbleu.encoders.opened import encoded_lines
from softbleu.engine.encode import CodedBlock, Coder, ListCorpus, TaskBatch, task_batches
from softbleu.engine.plan import once
from softbleu.errors import InputError, VectorError
from softbleu.io.executors import run_in_order
from softbleu.io.platform import cached_property
from softbleu.kernels import KernelName
from softbleu.matching.context import ContextVectors
from softbleu.matching.ngrams import Chunk, ComparedWords, TokenVectors, WordTable
from softbleu.metrics.requirements import Requirements
from softbleu.metrics.result import Coverage
from softbleu.metrics.settings import IdfCorpus, rarity_of
from softbleu.text.coded import Tokens, Vocabulary, sorted_once, written_lines
from softbleu.text.parts import word_features
from softbleu.text.tokens import Tokenizer

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus, Segments
    from softbleu.embeddings import VectorCase, VectorSource
    from softbleu.encoders import Encoder
    from softbleu.encoders.torch_rows import DeviceRows
    from softbleu.types import Array, Floats, Integers, Keywords

    States = NDArray[np.float32] | DeviceRows

_WORDS_AT_ONCE = 1 << 12  # Words whose pieces are looked for together: few enough for the memory


class KnownWords(Vocabulary):
    """The words of a corpus, by their codes: there are no others."""

    def __missing__(self, word: str) -> int:
        """Raise InputError: the text has changed."""
        raise InputError(f"the text has changed while it was read, for {word!r} was not there before: run again")


@dataclass
class WordCounts:
    """The words of a text in the order in which they appear, and how often references have them."""

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    counts: Integers = field(default_factory=lambda: np.zeros((2, 0), np.int64))
    """(2, words): tokens, and lines that have the word, where these are counted."""
    references: int = 0  # Lines of references

    def count(self, blocks: Iterable[CodedBlock], needed: Requirements) -> None:
        """Count the words of references in blocks, which this vocabulary codes; lines with each, too, if `needed`."""
        for block in blocks:
            # With room for more: most blocks bring some new words.
            known, room = self.counts.shape[1], len(self.vocabulary)
            if room > known:
                self.counts = np.concatenate((self.counts, np.zeros((2, room), np.int64)), axis=1)
            np.add.at(self.counts[0], block.references.codes, 1)
            if needed.idf == "references":
                np.add.at(self.counts[1], once_a_line(block.references, len(self.vocabulary)), 1)
            self.references += len(block.references.lengths)
        self.counts = self.counts[:, : len(self.vocabulary)]

    def sort(self) -> NDArray[np.int32]:
        """Sort the words, words of references first, and give their new codes by the old ones."""
        words, referred = list(self.vocabulary), self.counts[0] > 0
        parts = np.flatnonzero(referred).tolist(), np.flatnonzero(~referred).tolist()
        order = [code for part in parts for code in sorted(part, key=words.__getitem__)]
        codes = np.zeros(len(words), np.int32)
        codes[order] = np.arange(len(words))
        self.counts = self.counts[:, order]
        self.vocabulary = KnownWords((words[code], place) for place, code in enumerate(order))
        return codes

    def add(self, other: WordCounts) -> None:
        """Add counts from elsewhere."""
        codes = np.fromiter(map(self.vocabulary.__getitem__, other.vocabulary), np.int64, len(other.vocabulary))
        counts = np.zeros((2, len(self.vocabulary)), np.int64)
        counts[:, : self.counts.shape[1]] = self.counts
        counts[:, codes] += other.counts
        self.counts, self.references = counts, self.references + other.references


def count_words(batch: TaskBatch, tokenizer: Tokenizer, needed: Requirements, kernels: KernelName) -> WordCounts:
    """Count the words of some blocks, in a worker; nothing else travels back."""
    words = WordCounts()
    words.count([batch.coded(Coder(tokenizer, needed, kernels, words.vocabulary))], needed)
    return words


def once_a_line(lines: Tokens, size: int) -> Integers:
    """Codes of lines, each below `size`, and once for each line that has it."""
    owner = np.repeat(np.arange(len(lines.lengths)), lines.lengths)
    return sorted_once(owner * size + lines.codes) % max(size, 1)


@dataclass(frozen=True)
class CorpusWords:
    """The table of a corpus's words, in memory."""

    words: WordTable
    """Vectors of words are arrays, which workers map; vectors in context are made where they are needed."""
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
        location = _encoder_of(choice)
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
            choice.map,
            choice.reads == "line",
            choice.computes_on,
        )
        return cls(WordTable(vectors), f"{encoder.name}#{encoder.fingerprint[:12]}")

    @classmethod
    def without_vectors(
        cls, choice: VectorChoice, words: Sequence[str], *, frequencies: Floats | None = None
    ) -> CorpusWords:
        """Prepare words that `choice` compares by spellings, stems or a list of similar ones.

        `frequencies` are relative ones, (words,).
        """
        from softbleu.thesaurus.resources import lemma_of, read_similar_words, stem_in

        assert choice.similarity is not None
        more: Keywords = {}
        if "spelling" in choice.similarity.kinds:
            more["parts"], more["bounds"] = word_features("letters", words).values()
        if (roots := choice.similarity.roots) is not None:
            root_of = lemma_of if roots[0] == "lemmas" else stem_in
            more["stems"] = Vocabulary().encode([[root_of(word.lower(), roots[1]) for word in words]]).codes
        if (path := choice.similarity.pairs) is not None:
            more["listed"], more["similarities"] = read_similar_words(path, words)
        return cls(WordTable(ComparedWords(len(words), frequencies=frequencies, **more)), NO_VECTORS)

    def covered(self, known: Integers) -> tuple[str, tuple[Coverage, ...] | None]:
        """Name the vectors, and count tokens of each system that are `known`, see `Rows`; None without vectors."""
        counts = (Coverage(a, b, c, d, self.zero_words) for a, b, c, d in known.tolist())
        return self.identity, None if self.identity == NO_VECTORS else tuple(counts)


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
    codes = Vocabulary()
    chunk = Chunk(codes.encode([[one]]), codes.encode([[other]]), np.array([0, 1]))
    words = list(codes)
    measured = measure_words(source, words, case, measure)
    for word, known in zip(words, measured.selected.known, strict=True):
        if not known:
            raise VectorError(f"{source.name}: no vector for the word {word!r}; try another spelling")
    vectors: Any = CorpusWords.of(measured, len(words), normalize=True).words.vectors
    unit, rows = vectors.unit(chunk, by_frequency=False)
    _, products = unit.products(rows[None, :1], rows[None, 1:])
    similarity = float(products[0, 0, 0])
    random = random_similarities(source, measure)
    return WordSimilarity(one, other, similarity, float((random < similarity).mean() * 100))


@dataclass
class PreparedCorpus:
    """A corpus whose words are known, and how it is coded.

    Its words are sorted, words of the references first: any choice among them does not depend on the systems.
    """

    corpus: Corpus | ListCorpus
    tokenizer: Tokenizer
    counts: WordCounts = field(repr=False)
    coder: Coder = field(repr=False)  # Knows lines and words that it coded before
    select: Callable[[list[str]], MeasuredWords] | None = field(default=None, repr=False)
    """Takes the vectors of words, where these are open already."""
    _made: dict[object, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def words(self) -> list[str]:
        """All words, by their codes."""
        return list(self.counts.vocabulary)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return self.corpus.systems

    def __len__(self) -> int:
        return len(self.corpus)

    def blocks(self) -> Iterator[CodedBlock]:
        """The blocks as coded lines."""
        return map(self.coder.code, self.corpus.blocks())

    def table(self, choice: VectorChoice, requires: Requirements) -> CorpusWords:
        """Make the table of the words: vectors by `choice` and features that `requires` names, each made once."""
        features: dict[str, Array] = {}
        if requires.idf is not None and requires.pieces:
            features["piece_idf"] = once(
                self._made,
                ("pieces", requires.idf, choice.key),
                lambda: self._piece_idf(requires.idf, choice),
            )
        elif requires.idf is not None:
            features["rarity"] = once(self._made, ("rarity", requires.idf), lambda: self._rarity(requires.idf))
        for part in requires.parts:
            features |= once(self._made, ("parts", part), partial(word_features, part, self.words))
        where = choice.key if requires.vectors else None
        if requires.weights and choice.map is not None and not choice.in_context:
            features["map_weights"] = once(self._made, ("map", choice.key), lambda: self._map_weights(choice))
        key = "table", where, requires.frequency, requires.pieces, requires.idf, requires.parts, requires.weights
        if key not in self._made:
            made = self._compared(choice, requires)
            self._made[key] = replace(made, words=replace(made.words, features=features))
        table: CorpusWords = self._made[key]
        return table

    def _compared(self, choice: VectorChoice, requires: Requirements) -> CorpusWords:
        """Make the values by which words are compared."""
        if not requires.vectors:
            nothing = np.zeros(len(self.words))
            return CorpusWords(WordTable(TokenVectors(np.zeros((len(nothing), 0), np.float32), nothing)))
        tokens = self.counts.counts[0]
        # Share of each word among the tokens of the references.
        frequencies = tokens / max(int(tokens.sum()), 1) if requires.frequency else None
        if self.select is None and choice.without_vectors:
            return CorpusWords.without_vectors(choice, self.words, frequencies=frequencies)
        if self.select is None and choice.in_context:
            return CorpusWords.in_context(choice, self.words, frequencies=frequencies)
        measured = once(self._made, ("vectors", choice.key), partial(self.select or choice.select, self.words))
        return CorpusWords.of(measured, int((tokens > 0).sum()), normalize=choice.normalize, frequencies=frequencies)

    def _map_weights(self, choice: VectorChoice) -> Floats:
        """Compute the weight of each word by a map of vectors of words."""
        assert choice.map is not None
        measured = once(self._made, ("vectors", choice.key), partial(self.select or choice.select, self.words))
        return choice.map.weights(unit_rows(measured.rows))

    def _piece_idf(self, idf: object, choice: VectorChoice) -> Floats:
        """Weight of each piece of an encoder: ln((D + 1) / (d + 1)), d of D lines having it."""
        encoded = encoded_lines(_encoder_of(choice), parse_layers(choice.layers or ""))
        counts, lines = np.zeros(encoded.encoder.vocabulary, np.int64), 0
        as_written = choice.reads == "line"
        if isinstance(idf, IdfCorpus):
            split = self.tokenizer.splitter
            texts = (([split(line)], [self.tokenizer.fold(line)]) for line in _lines_of(idf))
        else:
            references = (block.references for block in self.blocks())
            texts = (
                (text.surface_forms(self.words), written_lines(text) if as_written else []) for text in references
            )
        for words, written in texts:
            some = (
                [PlacedLine.as_written(*pair) for pair in zip(written, words, strict=True)]
                if as_written
                else [PlacedLine.of_words(line) for line in words]
            )
            pieces = encoded.cut(some)
            np.add.at(counts, once_a_line(Tokens(pieces.ids, pieces.offsets), len(counts)), 1)
            lines += len(some)
        return np.log((lines + 1) / (counts + 1))

    def _rarity(self, idf: object) -> Floats:
        if not isinstance(idf, IdfCorpus):
            return rarity_of(self.counts.counts[1], self.counts.references)
        texts = _lines_of(idf)
        words = WordCounts()
        lines = Coder(self.tokenizer, Requirements(), vocabulary=words.vocabulary).encode(texts)
        words.count([CodedBlock((), lines, np.arange(len(texts) + 1))], Requirements(idf="references"))
        lines_with = dict(zip(words.vocabulary, words.counts[1].tolist(), strict=True))
        return rarity_of(np.array([lines_with.get(word, 0) for word in self.words], np.int64), words.references)


def _encoder_of(choice: VectorChoice) -> str | Encoder:
    """Return the name of an encoder, or the encoder itself where it has none."""
    return str(choice.vectors) if isinstance(choice.vectors, str | os.PathLike) else choice.encoder


def _lines_of(idf: IdfCorpus) -> list[str]:
    texts = list(open_text(idf.location))
    if not texts:
        raise InputError(f"{idf.location}: an empty text cannot say how rare words are")
    return texts


def prepare_corpus(
    corpus: Corpus | ListCorpus,
    tokenizer: Tokenizer,
    needed: Requirements,
    executor: Executor | None = None,
    kernels: KernelName = "numpy",
    select: Callable[[list[str]], MeasuredWords] | None = None,
) -> PreparedCorpus:
    """Find the words of a corpus as a tokenizer splits them, in one pass over it.

    Texts and word counts are prepared as `needed`. An `executor` shares the work; `kernels` names the backend that
    codes text; `select` takes the vectors of words, where these are open.
    """
    words = WordCounts()
    coder = Coder(tokenizer, needed, kernels, words.vocabulary)
    if executor is None:
        words.count((coder.code(block) for block in corpus.blocks()), needed)
    else:
        work = partial(count_words, tokenizer=tokenizer, needed=needed, kernels=kernels)
        for counted in run_in_order(work, task_batches(corpus, executor), executor):
            words.add(counted)
    coder.renumber(words.sort(), words.vocabulary)
    return PreparedCorpus(corpus, tokenizer, words, coder, select)


def prepare_apart(
    corpus: Segments,
    tokenizer: Tokenizer,
    needed: Requirements,
    select: Callable[[list[str]], MeasuredWords] | None,
) -> tuple[PreparedCorpus, CodedBlock]:
    """Find the words of segments each of which is a corpus of its own: a word that two have is two words.

    They are sorted within a segment as those of a corpus are. For parameters see `prepare_corpus`.
    """
    vocabulary = Vocabulary()
    coder = Coder(tokenizer, needed, vocabulary=vocabulary)
    block = coder.code(corpus)
    words, size, side = sorted(vocabulary), len(vocabulary), len(block.candidates)
    ranks = np.argsort([vocabulary[word] for word in words])
    segments = [np.arange(len(block))] * len(block.lines)
    segments[side] = np.repeat(segments[0], np.diff(block.offsets))
    owner = np.concatenate(
        [np.repeat(*pair) for pair in zip(segments, (x.lengths for x in block.lines), strict=True)]
    )
    keys = owner * size + ranks[np.concatenate([text.codes for text in block.lines])]
    ends = np.cumsum([len(text.codes) for text in block.lines])
    # The second half of a segment's keys is for the words that its references lack.
    lacked = ~np.isin(keys, keys[ends[side - 1] : ends[side]])
    distinct, codes = np.unique(keys + (owner + lacked) * size, return_inverse=True)
    parts = zip(block.lines, np.split(codes.astype(np.int32), ends[:-1]), strict=True)
    lines = [replace(text, codes=part) for text, part in parts]
    documents = np.bincount(once_a_line(lines[side], len(distinct)), minlength=len(distinct))
    by_segment = np.split(documents, np.searchsorted(distinct, 2 * size * np.arange(1, len(block))))
    rarity = np.concatenate([*map(rarity_of, by_segment, np.diff(block.offsets).tolist())])
    counts = np.array([np.bincount(lines[side].codes, minlength=len(distinct)), documents])
    made: dict[object, Any] = {("rarity", "references"): rarity}
    prepared = PreparedCorpus(corpus, tokenizer, WordCounts(vocabulary, counts), coder, select, made)
    prepared.words = [words[key] for key in (distinct % max(size, 1)).tolist()]
    return prepared, block.with_lines(lines)


def whole_chunk(prepared: PreparedCorpus) -> Chunk:
    """All segments of a corpus of one system at once."""
    return next(CodedBlock.joined(list(prepared.blocks())).chunks())
