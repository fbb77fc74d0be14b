"""Text to coded lines: a corpus, or lists of texts, cut into batches, and blocks as workers code them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, count, repeat
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from softbleu.corpora.corpus import BLOCK, Corpus, FileBlock, Segments
from softbleu.corpora.edits import UNJUDGED, Annotation, CodedGold, EditedSegment, GoldSegment, TextEdit
from softbleu.corpora.records import TextList
from softbleu.io.platform import count_workers
from softbleu.kernels import KernelName, WordCoder, choose_kernels
from softbleu.matching.ngrams import Chunk, TokenVectors, WordTable
from softbleu.metrics.edits import extract_edits
from softbleu.text.coded import (
    LinesInText,
    TextLines,
    Tokens,
    Vocabulary,
    WordParts,
    WrittenLines,
    chosen_places,
)
from softbleu.text.parts import WORD_PARTS
from softbleu.text.tokens import TextTokenizer, Tokenizer, Tokenizer13a

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Preceding
    from softbleu.metrics.chinese import Merging
    from softbleu.metrics.requirements import Requirements
    from softbleu.types import Array, Integers

    Split = Callable[[str], Sequence[str]]

_Made = TypeVar("_Made")

MOST_KEPT = 1 << 18  # Tokens of distinct lines that are known at once; beyond it they are forgotten
MOST_WORDS = 1 << 18  # The same of words
PAIRS_TOGETHER = 1024  # Pairs of small lists, or candidates of a large one, that are compared at once
_SHARE, _LEAST_SHARE = 2, 64
"""Each worker is given this part of its share of what is left, and of the whole at least that: all end at about the
same time, after few tasks."""
_LINES = 4 * BLOCK  # Of all texts together, that are given at once
_SLOW = 8  # The same, in steps, where segments take long
_NO_PARTS = WordParts(np.zeros(0, np.int32), np.zeros(1, np.int64))


@dataclass(frozen=True)
class ListCorpus:
    """Lists whose texts are compared: a corpus of no systems, whose segments are lists, or a block of it."""

    lists: Sequence[TextList]
    systems: ClassVar[tuple[str, ...]] = ()
    source: ClassVar[None] = None
    gold: ClassVar[None] = None
    documents: ClassVar[None] = None
    has_references: ClassVar[bool] = True
    blank: ClassVar[int] = 0  # No segment has two references
    bytes: ClassVar[int] = 0

    def __len__(self) -> int:
        return len(self.lists)

    @property
    def candidates(self) -> list[str]:
        """Candidates of all lists, one list after the other."""
        return list(chain.from_iterable(texts.candidates for texts in self.lists))

    @property
    def references(self) -> list[str]:
        """References of all lists."""
        return list(chain.from_iterable(texts.references for texts in self.lists))

    @property
    def bounds(self) -> tuple[Integers, Integers]:
        """Bounds of the candidates of each list, and of the references."""
        return _ends(texts.candidates for texts in self.lists), _ends(texts.references for texts in self.lists)

    def blocks(self) -> Iterator[ListCorpus]:
        """Small lists together, a large one alone."""
        some, pairs = list[TextList](), 0
        for texts in self.lists:
            some.append(texts)
            pairs += len(texts.candidates) * len(texts.references)
            if pairs >= PAIRS_TOGETHER:
                yield ListCorpus(some)
                some, pairs = [], 0
        if some:
            yield ListCorpus(some)


def in_parts(lines: Tokens) -> Iterator[Tokens]:
    """Yield parts of lines."""
    return (lines.lines(start, start + PAIRS_TOGETHER) for start in range(0, len(lines.lengths), PAIRS_TOGETHER))


def _ends(texts: Iterable[Sequence[str]]) -> Integers:
    return np.cumsum([0, *map(len, texts)])


@dataclass
class _KnownLines:
    """Lines that a coder has coded."""

    numbers: dict[str, int] = field(default_factory=dict)
    tokens: Tokens = Tokens(_NO_PARTS.codes, _NO_PARTS.bounds)
    made: dict[str, Any] = field(default_factory=dict)  # What else was made of them, such as networks


class Coder:
    """Codes text by a tokenizer, each distinct word and line once; it forgets them when there are too many.

    Files are coded as they stand where kernels can do it, which know the words alone. Tokens get the codes of
    `vocabulary` where one is given, maybe `KnownWords`, else codes of their own, which change when it forgets.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        needed: Requirements,
        kernels: KernelName = "numpy",
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self.tokenizer, self._needed, self._given = tokenizer, needed, vocabulary
        self.split = tokenizer.splitter
        self._by_word = tokenizer.by_word and not tokenizer.splits_at_whitespace
        self._marks = tokenizer == Tokenizer13a()
        plain = tokenizer.by_word and not (needed.context or needed.by_annotator or needed.written)
        self._kernels: KernelName | None = kernels if plain else None
        self._forget()

    _last: tuple[object, CodedBlock | None]  # The block that was asked for last, where it may be again

    def _forget(self, words: WordCoder | None = None) -> None:
        """Begin anew, with `words` as a compiled coder numbers them."""
        self.vocabulary = Vocabulary() if self._given is None else self._given
        self._compiled, self._words = words, Vocabulary()
        self._parts = _NO_PARTS  # Tokens of words
        self._features: dict[str, tuple[WordParts, Vocabulary]] = {}
        self._lines, self._last = _KnownLines(), (None, None)

    def code(self, block: Segments | FileBlock | ListCorpus, *, again: bool = False) -> CodedBlock:
        """Code a block; with `again`, one that is asked for several times in a row is coded once."""
        if again and self._last[1] is not None and self._last[0] == block:
            return self._last[1]
        compiled = None
        if self._kernels is not None and isinstance(block, FileBlock) and block.gold is None:
            compiled = choose_kernels(self._kernels).coder
        # Words of the text are known to one of the two.
        size = len(self._words) if self._compiled is None else len(self._compiled)
        if size > MOST_WORDS or (self._compiled is None) != (compiled is None):
            self._forget(compiled and compiled(marks=self._marks))
        if isinstance(block, FileBlock) and self._compiled is not None:
            coded = CodedBlock.of_texts(block, self, self._needed)
        elif isinstance(block, ListCorpus):
            # Candidates first: arcs of networks get the codes of words that are known.
            lines, (bounds, offsets) = self.encode(block.candidates), block.bounds
            references = self.tokenizer.coded_references(block.references, self)
            coded = CodedBlock((lines,), references, offsets, bounds=bounds)
        else:
            coded = CodedBlock.of(block.load(), self, self._needed)
        if len(self._lines.tokens.codes) + sum(map(len, self._lines.made.values())) > MOST_KEPT:
            self._lines = _KnownLines()
        self._last = (block, coded) if again else (None, None)
        return coded

    def encode(self, texts: Sequence[str]) -> Tokens:
        """Code lines, beside their text where that is needed or the tokenizer keeps it."""
        lines, known = self._lines, self._lines.numbers
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            if self._by_word:
                tokens = self._spread(self._words.encode([self.tokenizer.words(text) for text in new]))
            else:
                tokens = self.vocabulary.encode([*map(self.split, new)])
            known.update(zip(new, count(len(known)), strict=False))
            lines.tokens = Tokens.joined((lines.tokens, tokens))
        tokens = lines.tokens.chosen(np.fromiter(map(known.__getitem__, texts), np.int64, len(texts)))
        as_text = isinstance(self.tokenizer, TextTokenizer)
        if not (as_text or self._needed.written):
            return tokens
        forms = [self.tokenizer.fold(text) for text in texts] if self.tokenizer.folds else texts
        return (TextLines if as_text else WrittenLines)(tokens.codes, tokens.offsets, np.array(forms, object))

    def text(self, text: bytes) -> Tokens:
        """Code UTF-8 text, whose lines all end with a newline, by the compiled coder."""
        assert self._compiled is not None
        words = self._compiled.code(text)
        return words if self._given is None and not self._splits else self._spread(words)

    @property
    def _splits(self) -> bool:
        """Whether words of the compiled coder are no tokens."""
        return self._by_word and not self._marks

    def _spread(self, words: Tokens) -> Tokens:
        """Replace words by their tokens, of which only those of new words are made."""
        known = len(self._parts.bounds) - 1
        new = self._words.since(known) if self._compiled is None else self._compiled.words(known)
        if new:
            whole = self._compiled is not None and not self._splits
            split = (lambda word: (word,)) if whole else self.tokenizer.line_splitter
            self._parts = WordParts.of(new, split, self.vocabulary, behind=self._parts)
        return words.spread(self._parts)

    def table(self, kinds: Iterable[str]) -> WordTable:
        """Make the table of the words so far, with parts of them, by names of `softbleu.text.parts.WORD_PARTS`."""
        whole = self._compiled is not None and self._given is None and not self._splits
        found: dict[str, Array] = {}
        for part in kinds:
            parts, codes = self._features.get(part, (_NO_PARTS, Vocabulary()))
            known = len(parts.bounds) - 1
            new = self._compiled.words(known) if whole and self._compiled else self.vocabulary.since(known)
            if new:
                parts = WordParts.of(new, WORD_PARTS[part], codes, behind=parts)
                self._features[part] = parts, codes
            found |= {part: parts.codes, f"{part}_bounds": parts.bounds}
        return WordTable(TokenVectors(np.zeros((0, 0), np.float32), np.zeros(0)), found)

    def once(self, text: str, make: Callable[[str], _Made]) -> _Made:
        """Return the result of `make` for a text, such as a network, made once for as long as lines are known."""
        made = self._lines.made
        if text not in made:
            made[text] = make(text)
        found: _Made = made[text]
        return found

    def words(self, text: str) -> tuple[int, ...]:
        """Codes of the words of a short text that is no line."""
        return tuple(map(self.vocabulary.__getitem__, self.split(text)))

    def renumber(self, codes: NDArray[np.int32], vocabulary: Vocabulary) -> None:
        """Take another vocabulary of the same words, whose codes are given by the present ones."""
        self._given = self.vocabulary = vocabulary
        self._parts = replace(self._parts, codes=codes[self._parts.codes])
        self._features = {}
        lines = self._lines.tokens
        self._lines.tokens, self._last = replace(lines, codes=codes[lines.codes]), (None, None)


def edits_of(
    segments: Segments, split: Split, language: str | None, merging: Merging | None
) -> tuple[Sequence[EditedSegment], ...]:
    """Edits of each system of some segments, and of the references, in the words that `split` makes of a text.

    Edits that are not given are found by the rules of a `language` (None: English) and of `merging`.
    """
    sources = [tuple(split(text)) for text in segments.source or ()]
    texts = [] if segments.gold is not None else segments.present()
    lines = segments.source or ()
    references = [
        tuple(_extracted(line, text, split, language, merging) for text in many)
        for line, many in zip(lines, texts, strict=False)
    ]
    edited = []
    for system, candidates in segments.candidates.items():
        given = segments.edits.get(system) or repeat(None)
        parts = zip(lines, sources, candidates, given, segments.gold or repeat(None), strict=False)
        found = [
            _edits_of_one(line, words, text, own, gold, split, language, merging)
            for line, words, text, own, gold in parts
        ]
        if segments.gold is None:
            found = [
                replace(one, references=many, clean=not any(many))
                for one, many in zip(found, references, strict=True)
            ]
        edited.append(found)
    return tuple(edited)


def _edits_of_one(
    source: str,
    words: tuple[str, ...],
    text: str,
    given: Annotation | None,
    segment: GoldSegment | None,
    split: Split,
    language: str | None,
    merging: Merging | None,
) -> EditedSegment:
    """Edits of a candidate, given or found in its text, and of the annotators, if any.

    A text that is an annotator's, as the file writes it, has the edits that the file has for it.
    """
    joined, gold = "".join(text.split()), segment.annotations if segment else ()
    known = given or next((one for one in gold if one.text and "".join(one.text.split()) == joined), None)
    known = gold[0] if gold and gold[0].unjudged else known
    candidate = _extracted(source, text, split, language, merging) if known is None else known.in_words(split)
    texts = [candidate, *(one.in_words(split, candidate, words) for one in gold)]
    sides = [Annotation(0, ()) if one is None else one for one in (known, *gold)]
    blanks = given is not None and any(one.blanks for one in sides)
    if blanks:
        added = ([(edit.start, edit.end, ()) for edit in one.blanks] for one in sides)
        texts = [(*edits, *more) for edits, more in zip(texts, added, strict=True)]
    variants = tuple(one.in_words(split, edits=one.variants) for one in sides)
    kinds = tuple(
        tuple(edit.kind for edit in (*one.edits, *(one.blanks if blanks else ()), *one.variants))
        or (UNJUDGED,) * one.unjudged
        for one in sides
    )
    made = variants if any(variants) else ()
    return EditedSegment(words, texts[0], tuple(texts[1:]), made, kinds, segment is not None and segment.clean)


@lru_cache(1 << 14)
def _extracted(
    source: str, text: str, split: Split, language: str | None, merging: Merging | None
) -> tuple[TextEdit, ...]:
    # A corpus is read several times.
    edits = extract_edits(split(source), split(text), language, merging)
    return tuple((edit.start, edit.end, tuple(edit.corrections[0].split())) for edit in edits)


@dataclass(frozen=True)
class CodedBlock:
    """A block of segments as coded lines."""

    candidates: tuple[Tokens, ...]  # Of each system one line per segment
    references: Tokens
    offsets: Integers  # Segment s has the references ``offsets[s]`` to ``offsets[s + 1]``
    source: Tokens | None = None
    gold: Sequence[CodedGold] | None = None
    edits: tuple[Sequence[EditedSegment], ...] = ()  # Of each system, where they are needed
    bounds: Integers | None = None  # Of lists of texts: list s has the candidates ``bounds[s]`` to ``bounds[s + 1]``
    words: Sequence[str] = ()  # Of the codes, where the block is shown

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(cls, segments: Segments, coder: Coder, needed: Requirements) -> CodedBlock:
        """Code the texts of a block that are needed."""
        references = segments.present() if needed.references else [()] * len(segments)
        offsets = np.zeros(len(segments) + 1, np.int64)
        np.cumsum([len(texts) for texts in references], out=offsets[1:])
        gold = segments.gold if needed.gold else None
        coded = cls(
            tuple(coder.encode(texts) for texts in segments.candidates.values()),
            coder.tokenizer.coded_references(list(chain.from_iterable(references)), coder),
            offsets,
            coder.encode(segments.source) if needed.source and segments.source is not None else None,
            None if gold is None else [edits.coded(coder.words) for edits in gold],
            edits_of(segments, coder.split, needed.language, needed.merging) if needed.edits else (),
        )
        if segments.before is None or not needed.context:
            return coded
        return coded._in_documents(segments, segments.before, coder, needed)

    def _in_documents(
        self, segments: Segments, before: Preceding[Segments], coder: Coder, needed: Requirements
    ) -> CodedBlock:
        """Put lines behind as many lines of their documents as are `needed`."""
        earlier, together = None, [segments]
        if before.block is not None:
            last = before.block.part(max(len(before.block) - needed.context, 0), len(before.block))
            earlier = CodedBlock.of(replace(last, before=None), coder, replace(needed, edits=False))
            together = [last, segments]
        present = [_present(part) if needed.references else [()] * len(part) for part in together]
        kept = list(chain.from_iterable(present))
        numbers = [np.arange(len(kept) + 1), np.cumsum([0, *map(len, kept)])]
        of_each, of_references = (_numbers_before(ends, before.lines, needed.context) for ends in numbers)
        of_references = _of_present(of_references, np.fromiter(chain.from_iterable(kept), bool))
        texts = (
            self.lines
            if earlier is None
            else [Tokens.joined(pair) for pair in zip(earlier.lines, self.lines, strict=True)]
        )
        places = [of_each] * len(self.candidates) + [of_references] + [of_each] * (self.source is not None)
        # Networks, and lines that are looked at as strings, have no context.
        return self.with_lines(
            [
                LinesInText(line.codes, line.offsets, text, numbers, getattr(line, "texts", None))
                if type(line) is (WrittenLines if needed.written else Tokens)
                else line
                for line, text, numbers in zip(self.lines, texts, places, strict=True)
            ]
        )

    @classmethod
    def of_texts(cls, block: FileBlock, coder: Coder, needed: Requirements) -> CodedBlock:
        """Code the text of a block of files by `coder`; references and source only where they are `needed`."""
        references, candidates = block.references if needed.references else (), block.candidates
        source = block.source if needed.source else None
        tokens = coder.text(b"".join((*references, *candidates, source or b"")))
        count, segments = len(references), len(block)

        def text(number: int) -> Tokens:
            return tokens.lines(number * segments, (number + 1) * segments)

        # The files stand one behind the other; the references of a segment must.
        lines = np.arange(count * segments).reshape(count, segments).T
        present = np.ones(lines.shape, bool)
        if count > 1 and block.blank and block.blank_references == "missing":
            written = (reference.decode().removesuffix("\n").split("\n") for reference in references)
            blank = np.array([[not line.strip() for line in of_one] for of_one in written]).T
            present = ~blank | blank.all(axis=1, keepdims=True)
        by_segment = text(0) if count == 1 else tokens.chosen(lines[present])
        systems = tuple(text(count + number) for number in range(len(candidates)))
        source_tokens = None if source is None else text(count + len(candidates))
        offsets = np.concatenate(([0], np.cumsum(present.sum(axis=1))))
        return cls(systems, by_segment, offsets, source_tokens)

    @classmethod
    def joined(cls, blocks: Sequence[CodedBlock]) -> CodedBlock:
        """Put consecutive blocks together, without their edits."""
        lines = [Tokens.joined(texts) for texts in zip(*(block.lines for block in blocks), strict=True)]
        counts = np.concatenate([np.diff(block.offsets) for block in blocks])
        offsets = np.concatenate(([0], np.cumsum(counts)))
        return replace(blocks[0].with_lines(lines), offsets=offsets, gold=None, edits=())

    @property
    def lines(self) -> list[Tokens]:
        """All texts: of each system, the references, and the source if any."""
        return [*self.candidates, self.references, *([] if self.source is None else [self.source])]

    def with_lines(self, lines: Sequence[Tokens]) -> CodedBlock:
        """Return the block with other texts, in the order of `lines`."""
        systems = len(lines) - 1 - (self.source is not None)
        source = None if self.source is None else lines[-1]
        return replace(self, candidates=tuple(lines[:systems]), references=lines[systems], source=source)

    def part(self, start: int, end: int) -> CodedBlock:
        """Take the segments from `start` up to `end`, or to the last."""
        bounds = self.offsets[start : end + 1]
        segments = start, start + len(bounds) - 1
        references = int(bounds[0]), int(bounds[-1])
        ranges = [*([segments] * len(self.candidates)), references, *([] if self.source is None else [segments])]
        lines = [tokens.lines(*bounds) for tokens, bounds in zip(self.lines, ranges, strict=True)]
        edits = tuple(edited[start:end] for edited in self.edits)
        gold = self.gold and self.gold[start:end]
        return replace(self.with_lines(lines), offsets=bounds - bounds[0], gold=gold, edits=edits)

    def chosen(self, segments: Integers) -> CodedBlock:
        """Take the segments of these numbers, in this order, without their edits."""
        references, offsets = chosen_places(self.offsets, segments)
        systems = [tokens.chosen(segments) for tokens in self.candidates]
        source = [] if self.source is None else [self.source.chosen(segments)]
        lines = [*systems, self.references.chosen(references), *source]
        return replace(self.with_lines(lines), offsets=offsets, gold=None, edits=())

    @property
    def _ends(self) -> Integers:
        """Bounds of the candidates of each list; a block of segments has one system of them."""
        return np.arange(len(self) + 1) if self.bounds is None else self.bounds

    @property
    def sizes(self) -> tuple[Integers, Integers]:
        """Numbers of candidates and of references of each list."""
        return np.diff(self._ends), np.diff(self.offsets)

    def texts(self, place: int) -> tuple[Tokens, Tokens]:
        """Candidates and references of a list; the same object where they are the same."""
        candidates = self.candidates[0].lines(*self._ends[place : place + 2].tolist())
        references = self.references.lines(*self.offsets[place : place + 2].tolist())
        same = type(candidates) is type(references) and np.array_equal(candidates.codes, references.codes)
        same = same and np.array_equal(candidates.offsets, references.offsets)
        return candidates, candidates if same else references

    def pairs(self, chosen: Integers) -> Chunk:
        """All pairs of texts of some lists, each pair a segment."""
        candidates, references = (sizes[chosen] for sizes in self.sizes)
        owner = np.repeat(np.arange(len(chosen)), candidates * references)
        within = np.arange(len(owner)) - (np.cumsum(candidates * references) - candidates * references)[owner]
        one = self._ends[chosen][owner] + within // references[owner]
        other = self.offsets[chosen][owner] + within % references[owner]
        return Chunk(self.candidates[0].chosen(one), self.references.chosen(other), np.arange(len(owner) + 1))

    def cuts(self, segments: int, tokens: int) -> Iterator[tuple[int, int]]:
        """Bounds of pieces of at most so many segments, and of so many tokens unless one segment has more."""
        others = [*self.candidates, *([] if self.source is None else [self.source])]
        before = sum((text.offsets for text in others), self.references.offsets[self.offsets])
        start = 0
        while start < len(self):
            fitting = int(np.searchsorted(before, before[start] + tokens, side="right")) - 1
            end = min(max(fitting, start + 1), start + segments)
            yield start, end
            start = end

    def chunks(self, start: int = 0, end: int | None = None, *, gold: bool = False) -> Iterator[Chunk]:
        """Segments from `start` up to `end`, a chunk for each system.

        With `gold`, of gold edits or other edits, each annotator has an empty reference.
        """
        references, offsets, edits = self.references, self.offsets, None
        end = len(self) if end is None else end
        if gold and (self.gold is not None or self.edits):
            edits = self.gold
            annotators = [len(segment.references) for segment in self.edits[0]] if self.edits else []
            annotators = [len(segment.annotators) for segment in edits] if edits is not None else annotators
            offsets = np.concatenate(([0], np.cumsum(annotators)))
            references = Tokens(np.zeros(0, np.int32), np.zeros(int(offsets[-1]) + 1, np.int64))
        bounds = offsets[start : end + 1]
        references = references.lines(int(bounds[0]), int(bounds[-1]))
        source = self.source and self.source.lines(start, end)
        coded = edits and edits[start:end]
        for number, tokens in enumerate(self.candidates):
            words = self.edits[number][start:end] if gold and self.edits else None
            yield Chunk(tokens.lines(start, end), references, bounds - bounds[0], source, coded, words)


def _numbers_before(ends: Integers, counts: Sequence[int], most: int) -> Integers:
    """Number up to so many lines before the lines of the last segments, nearest last: (lines, most), -1 for none.

    Segment s has the lines ``ends[s]`` to ``ends[s + 1]``, and the last segments so many segments before them. Before
    the n-th line of a segment stand the n-th lines of segments before it, or their last.
    """
    first = len(ends) - 1 - len(counts)
    sizes = np.diff(ends)
    segments = np.repeat(np.arange(first, len(sizes)), sizes[first:])
    ranks = np.arange(ends[first], ends[-1]) - ends[segments]
    left = np.minimum(np.repeat(counts, sizes[first:]), most)[:, None]
    steps = np.arange(most, 0, -1)
    earlier = np.maximum(segments[:, None] - steps, 0)
    places: Integers = ends[earlier] + np.minimum(ranks[:, None], np.maximum(sizes[earlier], 1) - 1)
    return np.where((steps <= left) & (sizes[earlier] > 0), places, -1)


def _present(segments: Segments) -> list[tuple[bool, ...]]:
    """Tell for each segment which references are not missing."""
    missing = segments.leaves_out
    found = ([bool(not missing or text.strip()) for text in texts] for texts in segments.references)
    return [tuple(texts) if any(texts) else (True,) * len(texts) for texts in found]


def _of_present(numbers: Integers, present: NDArray[np.bool_]) -> Integers:
    """Renumber lines among present ones, -1 for missing ones; `numbers` are of the last of all."""
    places = np.append(np.where(present, np.cumsum(present) - 1, -1), -1)
    return places[numbers[present[len(present) - len(numbers) :]]]


@dataclass(frozen=True)
class TaskBatch:
    """Work that a worker is given at once: consecutive segments, some of them, or some lists."""

    block: Segments | FileBlock | ListCorpus
    part: tuple[int, int] | None = None  # First and last segment of the block
    first: int = 0  # Segments of the corpus before

    def __len__(self) -> int:
        return len(self.block) if self.part is None else self.part[1] - self.part[0]

    def coded(self, coder: Coder) -> CodedBlock:
        """Code the texts."""
        return coder.code(self.block) if self.part is None else coder.code(self.block, again=True).part(*self.part)


def task_batches(
    corpus: Corpus | ListCorpus, executor: Executor | None = None, step: int | None = None, skip: int = 0
) -> Iterator[TaskBatch]:
    """Cut a corpus into batches for the workers of an executor; without one, and for lists, a block each.

    A batch has at least `step` segments, where less than a block is enough; the first `skip` segments, whole steps of
    them, are done already.
    """
    if isinstance(corpus, ListCorpus):
        yield from map(TaskBatch, corpus.blocks())
        return
    start, total, workers = skip, len(corpus), 0 if executor is None else count_workers(executor)
    most, block, first = _LINES // (len(corpus.systems) + 1), None, 0  # `first`: segments before the block
    while start < total:
        size = 1
        if workers:
            size = max(1, min(most, max((total - start) // _SHARE, total // _LEAST_SHARE) // workers))
        if step is None:
            block = corpus.block(start, -(-size // BLOCK))
            yield TaskBatch(block, first=start)
            start += len(block)
            continue
        if block is None or start == first + len(block):
            first = start - start % BLOCK if block is None else start
            block = corpus.block(first)
        stop = min(start + step * max(1, min(size // step, _SLOW)), first + len(block))
        yield TaskBatch(block, (start - first, stop - first), start)
        start = stop
