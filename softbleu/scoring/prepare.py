"""A prepared corpus: each distinct line tokenised once, each word looked up once, whatever is computed from it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any
from weakref import finalize

import numpy as np

from softbleu.corpora.files import open_text
from softbleu.errors import InputError
from softbleu.executors import run_in_order, shares_files
from softbleu.metrics.base import Requirements
from softbleu.metrics.softbleu import IdfCorpus, rarity_of
from softbleu.ngrams import Chunk
from softbleu.scoring.context import spelt
from softbleu.scoring.vectors import CorpusWords
from softbleu.tokens import Tokenizer, Tokens, Vocabulary, WordParts, word_features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.corpora.m2 import CodedGold
    from softbleu.corpora.parallel import FileBlock
    from softbleu.corpora.segments import Segments
    from softbleu.embeddings.choice import VectorChoice
    from softbleu.embeddings.encoders import Encoder
    from softbleu.embeddings.measure import MeasuredWords
    from softbleu.scoring.run import Corpus
    from softbleu.types import Floats, Integers

MOST_KEPT = 1 << 22
"""Tokens of distinct lines that are kept in memory; beyond it they go to a file, and lines are forgotten."""


class LineCoder:
    """Numbers lines, and tokenises and codes each distinct one once."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._split, self._split_word = tokenizer.splitter, tokenizer.word_splitter
        self._whole = not tokenizer.by_word or tokenizer.splits_at_whitespace
        self.start_over()

    def start_over(self) -> None:
        """Forget the lines and the words."""
        self.vocabulary = Vocabulary()
        self._words = Vocabulary()
        self._parts = WordParts(np.zeros(0, np.int32), np.zeros(1, np.int64))
        self.forget()

    def forget(self) -> None:
        """Forget the lines; the words stay known."""
        self._codes = np.empty(1 << 12, np.int32)
        self._offsets = np.zeros(1 << 8, np.int64)
        self._numbers: dict[str, int] = {}

    @property
    def size(self) -> int:
        """Tokens of the lines that are known."""
        return int(self._offsets[len(self._numbers)])

    def number(self, texts: Sequence[str]) -> Integers:
        """Numbers of lines, learning those that are new."""
        known = self._numbers
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            start, first = self.size, len(known)
            tokens = self._tokens(new)
            self._codes = _with_room(self._codes, start + len(tokens.codes))
            self._offsets = _with_room(self._offsets, first + len(new) + 1)
            self._codes[start : start + len(tokens.codes)] = tokens.codes
            self._offsets[first : first + len(new) + 1] = tokens.offsets + start
            known.update(zip(new, range(first, first + len(new)), strict=True))
        return np.fromiter(map(known.__getitem__, texts), np.int64, len(texts))

    def _tokens(self, texts: Sequence[str]) -> Tokens:
        """Tokenise and code lines; where words are tokenised by themselves, each distinct one once."""
        if self._whole:
            return self.vocabulary.encode([self._split(text) for text in texts])
        words = self._words.encode([self.tokenizer.words(text) for text in texts])
        new = list(islice(self._words, len(self._parts.bounds) - 1, None))
        self._parts = self._parts.followed_by(WordParts.of(new, self._split_word, self.vocabulary))
        return words.spread(self._parts)

    def lines(self, numbers: Integers) -> Tokens:
        """Lines with these numbers, as codes of the vocabulary."""
        return Tokens(self._codes, self._offsets[: len(self._numbers) + 1]).chosen(numbers)

    def encode(self, texts: Sequence[str]) -> Tokens:
        """Code lines."""
        return self.lines(self.number(texts))

    def words(self, text: str) -> tuple[int, ...]:
        """Codes of the words of a short text that is no line."""
        return tuple(map(self.vocabulary.__getitem__, self._split(text)))


def _with_room(array: Any, size: int) -> Any:
    if size <= len(array):
        return array
    grown = np.empty(max(size, 2 * len(array)), array.dtype)
    grown[: len(array)] = array
    return grown


@dataclass(frozen=True)
class CodedBlock:
    """A block of segments as coded lines: what travels to workers."""

    candidates: tuple[Tokens, ...]
    """Of each system one line a segment."""
    references: Tokens
    offsets: Integers
    """Segment s has the references ``offsets[s]`` to ``offsets[s + 1]``."""
    source: Tokens | None = None
    gold: Sequence[CodedGold] | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(cls, segments: Segments, coder: LineCoder, needed: Requirements) -> CodedBlock:
        """Code those texts of a block that are needed."""
        references = segments.references if needed.references else [()] * len(segments)
        offsets = np.zeros(len(segments) + 1, np.int64)
        np.cumsum([len(texts) for texts in references], out=offsets[1:])
        gold = segments.gold if needed.gold else None
        return cls(
            tuple(coder.encode(texts) for texts in segments.candidates.values()),
            coder.encode(list(map(coder.tokenizer.reference, chain.from_iterable(references)))),
            offsets,
            coder.encode(segments.source) if needed.source and segments.source is not None else None,
            None if gold is None else [each.coded(coder.words) for each in gold],
        )

    @property
    def lines(self) -> list[Tokens]:
        """All texts: of each system, the references, the source if there is one."""
        return [*self.candidates, self.references, *([] if self.source is None else [self.source])]

    def with_lines(self, lines: Sequence[Tokens]) -> CodedBlock:
        """The same with other texts, in the order of `lines`."""
        systems = len(lines) - 1 - (self.source is not None)
        source = None if self.source is None else lines[-1]
        return replace(self, candidates=tuple(lines[:systems]), references=lines[systems], source=source)

    def recoded(self, codes: NDArray[np.int32]) -> CodedBlock:
        """The same with other codes, by the present ones."""
        made = self.with_lines([Tokens(codes[tokens.codes], tokens.offsets) for tokens in self.lines])
        if made.gold is None:
            return made
        listed = codes.tolist()
        return replace(made, gold=[each.recoded(listed) for each in made.gold])

    def only(self, systems: Sequence[int]) -> CodedBlock:
        """The same with the systems of these numbers."""
        return replace(self, candidates=tuple(self.candidates[number] for number in systems))

    def part(self, start: int, end: int) -> CodedBlock:
        """Take the segments from `start` up to `end`, or to the last."""
        bounds = self.offsets[start : end + 1]
        segments = start, start + len(bounds) - 1
        references = int(bounds[0]), int(bounds[-1])
        ranges = [*([segments] * len(self.candidates)), references, *([] if self.source is None else [segments])]
        lines = [tokens.lines(*each) for tokens, each in zip(self.lines, ranges, strict=True)]
        return replace(self.with_lines(lines), offsets=bounds - bounds[0], gold=self.gold and self.gold[start:end])

    def first(self, count: int) -> CodedBlock:
        """The first segments, or all if there are no more."""
        return self.part(0, count)

    def chunks(self, start: int, end: int, *, gold: bool = False) -> Iterator[Chunk]:
        """Some segments of each system; with `gold` edits they have an empty reference for each annotator."""
        references, offsets, edits = self.references, self.offsets, None
        if gold and self.gold is not None:
            edits = self.gold
            offsets = np.zeros(len(edits) + 1, np.int64)
            np.cumsum([len(segment.annotators) for segment in edits], out=offsets[1:])
            references = Tokens(np.zeros(0, np.int32), np.zeros(int(offsets[-1]) + 1, np.int64))
        bounds = offsets[start : end + 1]
        references = references.lines(int(bounds[0]), int(bounds[-1]))
        source = self.source and self.source.lines(start, end)
        for tokens in self.candidates:
            yield Chunk(tokens.lines(start, end), references, bounds - bounds[0], source, edits and edits[start:end])


@dataclass(frozen=True)
class CodingWork:
    """What a worker does beforehand: tokenise and code a block."""

    tokenizer: Tokenizer
    needed: Requirements

    def __call__(self, block: Segments | FileBlock) -> tuple[CodedBlock, list[str]]:
        """Code a block, in the codes of its own words, which come with it."""
        coder = LineCoder(self.tokenizer)
        return CodedBlock.of(block.load(), coder, self.needed), list(coder.vocabulary)


class BlockStore:
    """Coded blocks, in memory up to `MOST_KEPT` tokens, from then on in a file that goes with the store."""

    def __init__(self) -> None:
        self._kept: list[CodedBlock | tuple[int, CodedBlock]] = []
        self._tokens = 0
        self._file: IO[bytes] | None = None

    def add(self, block: CodedBlock) -> None:
        """Add a block."""
        self._tokens += sum(len(tokens.codes) for tokens in block.lines)
        if self._tokens <= MOST_KEPT:
            self._kept.append(block)
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="softbleu-")  # noqa: SIM115
            finalize(self, self._file.close)
        position = self._file.seek(0, 2)
        for tokens in block.lines:
            for array in (tokens.codes, tokens.offsets):
                np.save(self._file, array, allow_pickle=False)
        nothing = Tokens(np.zeros(0, np.int32), np.zeros(1, np.int64))
        self._kept.append((position, block.with_lines([nothing] * len(block.lines))))

    def __iter__(self) -> Iterator[CodedBlock]:
        for entry in self._kept:
            if isinstance(entry, CodedBlock):
                yield entry
            elif self._file is not None:
                position, block = entry
                self._file.seek(position)
                arrays = [np.load(self._file, allow_pickle=False) for _ in range(2 * len(block.lines))]
                yield block.with_lines([Tokens(*pair) for pair in zip(arrays[::2], arrays[1::2], strict=True)])


@dataclass
class PreparedCorpus:
    """A corpus that was read and tokenised; what is computed from it looks at no text again.

    Its words are sorted, those of the references first: what is taken from them does not depend on the systems.
    """

    systems: tuple[str, ...]
    tokenizer: Tokenizer
    words: list[str]
    reference_words: int
    """How many of the words are of references."""
    segments: int
    _store: BlockStore = field(repr=False)
    _codes: NDArray[np.int32] = field(repr=False)
    """Place among `words` of each word in order of its appearance, in which the store counts them."""
    _made: dict[object, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return self.segments

    def blocks(self, systems: Sequence[int] | None = None) -> Iterator[CodedBlock]:
        """The blocks, of all systems or of those with these numbers."""
        for block in self._store:
            yield (block if systems is None else block.only(systems)).recoded(self._codes)

    def table(self, choice: VectorChoice, requires: Requirements) -> CorpusWords:
        """Vectors of the words and what else a metric asks of them; each made once."""
        features: dict[str, Any] = {}
        frequencies = self._once("frequencies", self._frequencies) if requires.frequency else None
        if requires.idf is not None and requires.pieces:
            features["piece_idf"] = self._once(
                ("pieces", requires.idf, choice.key), lambda: self._piece_idf(requires.idf, choice.encoder)
            )
        elif requires.idf is not None:
            features["rarity"] = self._once(("rarity", requires.idf), lambda: self._rarity(requires.idf))
        for part in requires.parts:
            features |= self._once(("parts", part), partial(word_features, part, self.words))
        if not requires.vectors:
            bare: CorpusWords = self._once(
                ("table", requires), lambda: CorpusWords.of_features(len(self.words), features)
            )
            return bare
        key = ("table", choice.key, requires.frequency, requires.pieces, requires.idf, requires.parts)
        if choice.in_context:
            in_context: CorpusWords = self._once(
                key,
                lambda: CorpusWords.in_context(choice, self.words, frequencies=frequencies, features=features),
            )
            return in_context
        measured: MeasuredWords = self._once(("vectors", choice.key), lambda: choice.select(self.words))
        table: CorpusWords = self._once(
            key,
            lambda: CorpusWords.of(
                measured,
                self.reference_words,
                normalize=choice.normalize,
                frequencies=frequencies,
                features=features,
            ),
        )
        return table

    def _once(self, key: object, make: Callable[[], Any]) -> Any:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def _frequencies(self) -> Floats:
        """Share of each word among the tokens of the references."""
        counts = np.zeros(len(self.words), np.int64)
        for block in self._store:
            counts += np.bincount(self._codes[block.references.codes], minlength=len(counts))
        return counts / max(int(counts.sum()), 1)

    def documents(self) -> tuple[Integers, int]:
        """How many lines of the references have each word, and how many there are."""
        counts, lines = np.zeros(len(self.words), np.int64), 0
        for block in self._store:
            counts += _lines_with(self._codes[block.references.codes], block.references.lengths, len(counts))
            lines += len(block.references.lengths)
        return counts, lines

    def _piece_idf(self, idf: object, encoder: Encoder) -> Floats:
        """Weight of each piece of an encoder: ln((D + 1) / (d + 1)), d of D lines having it."""
        counts, lines = np.zeros(encoder.vocabulary, np.int64), 0
        texts = (spelt(block.recoded(self._codes).references, self.words) for block in self._store)
        if isinstance(idf, IdfCorpus):
            texts = ([self.tokenizer.splitter(line)] for line in _lines_of(idf))
        for some in texts:
            pieces = encoder.tokenize(some)
            counts += _lines_with(pieces.ids, np.diff(pieces.offsets), len(counts))
            lines += len(some)
        weights: Floats = np.log((lines + 1) / (counts + 1))
        return weights

    def _rarity(self, idf: object) -> Floats:
        if not isinstance(idf, IdfCorpus):
            return rarity_of(*self.documents())
        texts = _lines_of(idf)
        coder, store = LineCoder(self.tokenizer), BlockStore()
        store.add(CodedBlock((), coder.encode(texts), np.arange(len(texts) + 1)))
        other = finished((), self.tokenizer, store, coder.vocabulary, 0)
        counts, lines = other.documents()
        found = dict(zip(other.words, counts.tolist(), strict=True))
        return rarity_of(np.array([found.get(word, 0) for word in self.words], np.int64), lines)


def _lines_with(codes: NDArray[np.int32], lengths: Integers, size: int) -> Integers:
    """How many lines of such lengths, one after the other, have each code below `size`."""
    owner = np.repeat(np.arange(len(lengths)), lengths)
    pairs = np.unique(owner * size + codes)
    counts: Integers = np.bincount(pairs % max(size, 1), minlength=size)
    return counts


def _lines_of(idf: IdfCorpus) -> list[str]:
    texts = list(open_text(idf.location))
    if not texts:
        raise InputError(f"{idf.location}: an empty text cannot say how rare words are")
    return texts


def prepare_corpus(
    corpus: Corpus, tokenizer: Tokenizer, needed: Requirements, executor: Executor | None = None
) -> PreparedCorpus:
    """Read a corpus, and tokenise and code what is needed of it, in one pass over it."""
    coder, store = LineCoder(tokenizer), BlockStore()
    if executor is None:
        for block in corpus.blocks():
            store.add(CodedBlock.of(block.load(), coder, needed))
            if coder.size > MOST_KEPT:
                coder.forget()
    else:
        for coded, words in run_in_order(CodingWork(tokenizer, needed), blocks_for(corpus, executor), executor):
            codes = np.fromiter(map(coder.vocabulary.__getitem__, words), np.int32, len(words))
            store.add(coded.recoded(codes))
    return finished(corpus.systems, tokenizer, store, coder.vocabulary, len(corpus))


def blocks_for(corpus: Corpus, executor: Executor | None) -> Iterator[Segments | FileBlock]:
    """The blocks of a corpus as the workers of an executor can read them."""
    if executor is None or shares_files(executor):
        return corpus.blocks()
    return (block.carried() for block in corpus.blocks())


def whole_chunk(prepared: PreparedCorpus) -> Chunk:
    """All segments of a corpus of one system at once."""
    blocks = list(prepared.blocks())
    lines = [Tokens.joined(each) for each in zip(*(block.lines for block in blocks), strict=True)]
    offsets = np.concatenate(([0], np.cumsum(np.concatenate([np.diff(block.offsets) for block in blocks]))))
    whole = replace(blocks[0].with_lines(lines), offsets=offsets, gold=None)
    return next(whole.chunks(0, len(whole)))


def finished(
    systems: tuple[str, ...], tokenizer: Tokenizer, store: BlockStore, vocabulary: Mapping[str, int], segments: int
) -> PreparedCorpus:
    """Sort the words of what was coded, those of the references first."""
    referred = np.zeros(len(vocabulary), bool)
    for block in store:
        referred[block.references.codes] = True
    spelt = list(vocabulary)
    words = sorted(spelt[code] for code in np.flatnonzero(referred))
    reference_words = len(words)
    words += sorted(spelt[code] for code in np.flatnonzero(~referred))
    codes = np.zeros(len(words), np.int32)
    codes[[vocabulary[word] for word in words]] = np.arange(len(words))
    return PreparedCorpus(systems, tokenizer, words, reference_words, segments, store, codes)
