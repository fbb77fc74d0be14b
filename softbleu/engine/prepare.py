"""A prepared corpus: its words, each looked up once, whatever is computed from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softbleu.corpora.files import open_text
from softbleu.engine.encode import BlockCoder, CodedBlock, KnownLines, KnownWords, LineCoder
from softbleu.engine.vectors import CorpusWords
from softbleu.engine.worker import TaskBatch, task_batches
from softbleu.errors import InputError
from softbleu.io.executors import run_in_order
from softbleu.io.platform import cached_property
from softbleu.kernels import KernelName
from softbleu.matching.ngrams import Chunk
from softbleu.matching.similarity import TokenVectors, WordTable
from softbleu.metrics.base import IdfCorpus, Requirements, rarity_of
from softbleu.text.tokens import Tokenizer, Tokens, Vocabulary, sorted_once, word_features

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus, Segments
    from softbleu.embeddings.choice import VectorChoice
    from softbleu.embeddings.vectors import VectorSource
    from softbleu.encoders import Encoder
    from softbleu.engine.lists import ListCorpus
    from softbleu.types import Floats, Integers


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
            self._grow(self.counts.shape[1])
            np.add.at(self.counts[0], block.references.codes, 1)
            if needed.idf == "references":
                np.add.at(self.counts[1], _once_a_line(block.references, len(self.vocabulary)), 1)
            self.references += len(block.references.lengths)
        self.counts = self.counts[:, : len(self.vocabulary)]

    def sort(self) -> NDArray[np.int32]:
        """Sort the words, those of the references first, and give their new codes by the old ones."""
        words, referred = list(self.vocabulary), self.counts[0] > 0
        parts = np.flatnonzero(referred).tolist(), np.flatnonzero(~referred).tolist()
        order = [code for part in parts for code in sorted(part, key=words.__getitem__)]
        codes = np.zeros(len(words), np.int32)
        codes[order] = np.arange(len(words))
        self.counts = self.counts[:, order]
        self.vocabulary = KnownWords((words[code], place) for place, code in enumerate(order))
        return codes

    def add(self, other: WordCounts) -> None:
        """Add what was counted elsewhere."""
        codes = np.fromiter(map(self.vocabulary.__getitem__, other.vocabulary), np.int64, len(other.vocabulary))
        self._grow()
        self.counts[:, codes] += other.counts
        self.references += other.references

    def _grow(self, room: int = 0) -> None:
        new = len(self.vocabulary) - self.counts.shape[1]
        if new > 0:
            self.counts = np.concatenate((self.counts, np.zeros((2, new + room), np.int64)), axis=1)


@dataclass
class PreparedCorpus:
    """A corpus whose words are known, and how it is coded.

    Its words are sorted, those of the references first: what is taken from them does not depend on the systems.
    """

    corpus: Corpus | ListCorpus
    tokenizer: Tokenizer
    counts: WordCounts = field(repr=False)
    coder: BlockCoder = field(repr=False)  # Knows lines and words that it coded before
    vectors: VectorSource | None = field(default=None, repr=False)  # Those of words, where they are open already
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
        features: dict[str, Any] = {}
        if requires.idf is not None and requires.pieces:
            features["piece_idf"] = self._once(
                ("pieces", requires.idf, choice.key), lambda: self._piece_idf(requires.idf, choice.encoder)
            )
        elif requires.idf is not None:
            features["rarity"] = self._once(("rarity", requires.idf), lambda: self._rarity(requires.idf))
        for part in requires.parts:
            features |= self._once(("parts", part), partial(word_features, part, self.words))
        where = choice.key if requires.vectors else None
        asked = requires.frequency, requires.pieces, requires.idf, requires.parts
        made: CorpusWords = self._once(
            ("table", where, *asked), lambda: self._compared(choice, requires).with_features(features)
        )
        return made

    def _compared(self, choice: VectorChoice, requires: Requirements) -> CorpusWords:
        """Make of the words what they are compared by."""
        if not requires.vectors:
            nothing = np.zeros(len(self.words))
            return CorpusWords(WordTable(TokenVectors(np.zeros((len(nothing), 0), np.float32), nothing)))
        tokens = self.counts.counts[0]
        # Share of each word among the tokens of the references.
        frequencies = tokens / max(int(tokens.sum()), 1) if requires.frequency else None
        if choice.without_vectors:
            return CorpusWords.without_vectors(choice, self.words, frequencies=frequencies)
        if choice.in_context:
            return CorpusWords.in_context(choice, self.words, frequencies=frequencies)
        measured = self._once(("vectors", choice.key), lambda: choice.select(self.words, self.vectors))
        return CorpusWords.of(measured, int((tokens > 0).sum()), normalize=choice.normalize, frequencies=frequencies)

    def _once(self, key: object, make: Callable[[], Any]) -> Any:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def _piece_idf(self, idf: object, encoder: Encoder) -> Floats:
        """Weight of each piece of an encoder: ln((D + 1) / (d + 1)), d of D lines having it."""
        counts, lines = np.zeros(encoder.vocabulary, np.int64), 0
        texts = (block.references.surface_forms(self.words) for block in self.blocks())
        if isinstance(idf, IdfCorpus):
            texts = ([self.tokenizer.splitter(line)] for line in _lines_of(idf))
        for some in texts:
            pieces = encoder.tokenize(some)
            np.add.at(counts, _once_a_line(Tokens(pieces.ids, pieces.offsets), len(counts)), 1)
            lines += len(some)
        weights: Floats = np.log((lines + 1) / (counts + 1))
        return weights

    def _rarity(self, idf: object) -> Floats:
        if not isinstance(idf, IdfCorpus):
            return rarity_of(self.counts.counts[1], self.counts.references)
        texts = _lines_of(idf)
        words = WordCounts()
        lines = KnownLines(self.tokenizer, words.vocabulary).encode(texts)
        words.count([CodedBlock((), lines, np.arange(len(texts) + 1))], Requirements(idf="references"))
        lines_with = dict(zip(words.vocabulary, words.counts[1].tolist(), strict=True))
        return rarity_of(np.array([lines_with.get(word, 0) for word in self.words], np.int64), words.references)


def _once_a_line(lines: Tokens, size: int) -> Integers:
    """Codes of lines, each below `size`, and once for each line that has it."""
    owner = np.repeat(np.arange(len(lines.lengths)), lines.lengths)
    codes: Integers = sorted_once(owner * size + lines.codes) % max(size, 1)
    return codes


def _lines_of(idf: IdfCorpus) -> list[str]:
    texts = list(open_text(idf.location))
    if not texts:
        raise InputError(f"{idf.location}: an empty text cannot say how rare words are")
    return texts


def _count_words(batch: TaskBatch, tokenizer: Tokenizer, needed: Requirements, kernels: KernelName) -> WordCounts:
    """Count the words of some blocks, in a worker; nothing else travels back."""
    words = WordCounts()
    words.count(batch.coded(BlockCoder(tokenizer, needed, kernels, words.vocabulary)), needed)
    return words


def prepare_corpus(
    corpus: Corpus | ListCorpus,
    tokenizer: Tokenizer,
    needed: Requirements,
    executor: Executor | None = None,
    kernels: KernelName = "numpy",
) -> PreparedCorpus:
    """Find the words of a corpus as a tokenizer splits them, in one pass over it.

    Texts and word counts are those that are `needed`. An `executor` shares the work; `kernels` names the backend that
    codes text.
    """
    words = WordCounts()
    coder = BlockCoder(tokenizer, needed, kernels, words.vocabulary)
    if executor is None:
        words.count((coder.code(block) for block in corpus.blocks()), needed)
    else:
        work = partial(_count_words, tokenizer=tokenizer, needed=needed, kernels=kernels)
        for counted in run_in_order(work, task_batches(corpus, executor), executor, together=False):
            words.add(counted)
    coder.renumber(words.sort(), words.vocabulary)
    return PreparedCorpus(corpus, tokenizer, words, coder)


def prepare_segment(
    segment: Segments, tokenizer: Tokenizer, needed: Requirements, vectors: VectorSource | None
) -> tuple[PreparedCorpus, CodedBlock]:
    """Prepare a corpus of one segment, split by `tokenizer`, and code what is `needed`; `vectors` are open."""
    words = WordCounts()
    block = CodedBlock.of(segment, LineCoder(tokenizer, words.vocabulary), needed)
    words.count([block], needed)
    codes = words.sort()
    coder = BlockCoder(tokenizer, needed, "numpy", words.vocabulary)
    plain = type(block.references) is Tokens and not needed.by_annotator
    lines = [Tokens(codes[line.codes], line.offsets) for line in block.lines] if plain else []
    block = block.with_lines(lines) if plain else coder.code(segment)
    return PreparedCorpus(segment, tokenizer, words, coder, vectors), block


def whole_chunk(prepared: PreparedCorpus) -> Chunk:
    """All segments of a corpus of one system at once."""
    return next(CodedBlock.joined(list(prepared.blocks())).chunks())
