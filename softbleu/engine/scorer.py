"""Single segments, and batches of them, scored each as a corpus of its own; vectors stay open between calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from softbleu.config.declare import own_settings
from softbleu.corpora.corpus import Segments
from softbleu.corpora.validation import count_blank, usual_blank
from softbleu.embeddings.measure import WordMeasure
from softbleu.embeddings.vectors import KeptVectors, MeasuredWords
from softbleu.engine.encode import CodedBlock, Coder
from softbleu.engine.plan import check_requirements, make_plan, requirements_of
from softbleu.engine.prefixes import Cuts, EveryTokens
from softbleu.engine.prepare import PreparedCorpus, prepare_apart, prepare_corpus
from softbleu.engine.worker import MINI_BATCH, MOST_TOGETHER
from softbleu.errors import InputError
from softbleu.io.platform import single_threaded_blas
from softbleu.kernels import LARGE, choose_kernels
from softbleu.matching.partial import prefixes
from softbleu.metrics.guards import aligned_parts, checked_rows, is_ours, seen_chunk
from softbleu.metrics.protocols import CountsTexts, at_level
from softbleu.text.tokens import Tokenizer

if TYPE_CHECKING:
    from softbleu.corpora.edits import GoldSegment
    from softbleu.matching.ngrams import Chunk, WordTable
    from softbleu.metrics.base import Level, Metric
    from softbleu.metrics.score import Score
    from softbleu.types import Floats, Integers

_MOST_KEPT = 1 << 17  # Characters of references that are kept, of 20 bytes each; beyond it they are forgotten
_LONGEST = 1 << 13  # Characters of the references of a segment
_MANY = 1 << 14  # Segments whose words are compared from which numba's start-up pays off
_EVERY = EveryTokens(1)
_PREFIXES = 1 << 18  # Tokens of prefixes that are compared together, unless an output alone has more


def check_partial(metric: Metric) -> None:
    """Raise InputError for a metric of whole outputs."""
    if all(setting.name != "partial" for setting in own_settings(type(metric))):
        raise InputError(f"metric {metric.name!r} scores whole outputs only: take one that compares two texts")


class SegmentScorer:
    """Scores segments by a metric, each as a corpus of its own; plans it and opens vectors once.

    Ordinary segments are scored by their tokens as they are, where the metric counts these (see
    `softbleu.metrics.protocols.CountsTexts`): nothing is coded then. References are kept for the next candidates, of
    candidates no more than the tokens of their words, in the cache that all tokenizers have. Digits are always those
    of a corpus of the segment alone.
    """

    def __init__(self, metric: Metric, level: Level = "segment") -> None:
        (metric,) = make_plan([metric]).metrics
        self.metric = cast("Any", at_level(metric, level))
        self._aggregation, self._requires = self.metric.aggregation, requirements_of(self.metric)
        # References are cut here.
        self._whole = self.metric.whole
        self._kernels = choose_kernels("numpy")
        self._coders: list[Coder] = []  # Each used by one thread at a time
        choice = metric.vector_choice
        self._words = self._requires.vectors and not (choice.in_context or choice.without_vectors)
        self._select: Callable[[list[str]], MeasuredWords] | None = None
        self._checked: set[tuple[bool, ...]] = set()  # Which inputs together have been seen to do
        self._compared = 0  # Segments whose words were compared
        tokenizer, requires = self.metric.tokenizer, self._requires
        self._split, self._reference = tokenizer.line_splitter, tokenizer.reference
        # A metric of another package may count otherwise than the one that it is derived from.
        counts = isinstance(self.metric, CountsTexts) and is_ours(type(metric))
        as_lines = type(tokenizer).coded_references is Tokenizer.coded_references
        # Words of several segments are looked up together where no vector depends on the other words.
        plain = self._words and choice.measure == WordMeasure() and choice.normalize and as_lines
        self._apart = plain and requires.idf == "references" and not requires.frequency
        self._counts = bool(counts and self.metric.counts_texts and as_lines)
        self._scores_rows = counts or self._aggregation.sum_is_enough  # A single row is the sum of all
        self._known: dict[object, object] = {}
        self._size = 0  # Characters of what is known

    def score(
        self,
        candidate: str,
        references: str | Sequence[str] | None,
        source: str | None = None,
        gold: GoldSegment | None = None,
    ) -> Score:
        """Score a segment."""
        rows = None if gold is not None else self.text_rows(candidate, references, source)
        if rows is not None:
            return self.scored(rows)
        return self.scored(self.rows(*self.coded(self.segment(candidate, references, source, gold))))

    def scores(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        source: Sequence[str] | None = None,
    ) -> list[float]:
        """Score a batch of segments of checked texts; those that must be coded are compared together."""
        found: list[float] = []
        for texts in zip(candidates, references, repeat(None) if source is None else source, strict=False):
            rows = self.text_rows(*texts)
            if rows is None:
                break
            found.append(self.scored(rows).score)
        start = len(found)
        if start < len(candidates):
            rest = candidates[start:], references[start:], source and source[start:]
            for chunk, words in self._chunks(*rest):
                found += self._numbers(chunk, words).tolist()
        return found

    def prefix_scores(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        source: Sequence[str] | None = None,
        cuts: Cuts = _EVERY,
    ) -> Iterator[tuple[Integers, Integers, Floats]]:
        """Score the prefixes of each output by `partial` scores.

        Yields for each output the tokens of its prefixes and of the whole output, and the scores.
        """
        check_partial(self.metric)
        for chunk, words in self._chunks(candidates, references, source):
            owner, sizes = cuts.cut(chunk.candidates.lengths)
            cut = _prefixes(self.metric, words, chunk, owner, sizes)
            numbers = [self._numbers(part, words, cut=True) for part in cut]
            bounds = np.searchsorted(owner, np.arange(1, len(chunk)))
            columns = sizes, chunk.candidates.lengths[owner], np.concatenate(numbers)
            yield from zip(*(np.split(column, bounds) for column in columns), strict=True)

    def text_rows(self, candidate: object, references: object, source: object = None) -> list[list[int]] | None:
        """Count the numbers of a segment by its tokens as they are: a row, or one of each reference.

        None for a metric or a segment that must be scored as a corpus: with a value that is no text, a source that is
        missing, blank references that may be left out, or very long texts.
        """
        # The references of partial scores are cut.
        if not self._counts or self.metric.partial:
            return None
        if not (isinstance(candidate, str) and (source is None or isinstance(source, str))):
            return None
        texts = (references,) if isinstance(references, str) else references
        texts = tuple(texts) if type(texts) is list else texts
        key = (texts, source) if self._requires.source else texts
        try:
            known = self._known.get(key)
        except TypeError:  # What cannot be a key is no text.
            return None
        if known is None:
            if not (type(texts) is tuple and texts and self._are_plain(texts, source)):
                return None
            known = self._learn(key, texts, source or "")
        rows: list[list[int]] | None = None
        return rows if known is None else self.metric.text_rows(self._split(candidate), known)

    def _are_plain(self, references: tuple[object, ...], source: object) -> bool:
        """Whether these are texts, and their source, if any, leaves none of them out."""
        blank = [not text.strip() for text in references if isinstance(text, str)]
        if len(blank) < len(references):
            return False
        return not self._requires.source or (source is not None and (len(references) == 1 or not any(blank)))

    def _learn(self, key: object, references: tuple[str, ...], source: str) -> object:
        """Prepare references and source, and keep them; None if they are too long."""
        size = len(source) + sum(map(len, references))
        if size > _LONGEST:
            return None
        if self._size + size > _MOST_KEPT:
            self._known, self._size = {}, 0
        lines = [self._split(self._reference(text)) for text in references]
        known = self.metric.known_texts(lines, self._split(source) if self._requires.source else ())
        self._known[key] = known
        self._size += size
        return known

    def token_rows(
        self, candidate: Sequence[str], references: Sequence[Sequence[str]], source: Sequence[str]
    ) -> list[list[int]] | None:
        """Count the numbers of a segment of tokens, beginnings of references being given as such; see `text_rows`."""
        if not (self._counts and references):
            return None
        rows: list[list[int]] | None = self.metric.text_rows(candidate, self.metric.known_texts(references, source))
        return rows

    def segment(
        self,
        candidate: str,
        references: str | Sequence[str] | None,
        source: str | None = None,
        gold: GoldSegment | None = None,
    ) -> Segments:
        """Make a corpus of one segment, and check that it has the inputs that the metric needs."""
        sources = None if source is None else [source]
        if gold is None:
            referred: Any = None if references is None and source is not None else [references]
            corpus = Segments.of([candidate], referred, sources)
            if corpus.blank:
                corpus = replace(corpus, blank_references=usual_blank(corpus.blank, 1, source=self._requires.source))
        else:
            corpus = Segments.of_gold([candidate], [gold], sources)
        inputs = corpus.source is None, corpus.gold is None, corpus.has_references
        if inputs not in self._checked:
            check_requirements(corpus, self.metric)
            self._checked.add(inputs)
        return corpus

    def coded(self, corpus: Segments) -> tuple[Chunk, WordTable | None]:
        """Code a corpus of one segment, with the table of its words if the metric needs one."""
        block, words = self._block(corpus)
        (chunk,) = block.chunks(gold=self._requires.by_annotator)
        return chunk, words

    def prepared(self, corpus: Segments) -> tuple[PreparedCorpus | None, CodedBlock, WordTable | None]:
        """Code a corpus of a few segments; prepare all its words, or make a table of their parts, where needed."""
        metric, requires = self.metric, self._requires
        if self._words and self._select is None:
            choice = metric.vector_choice
            kept = KeptVectors(choice.source, choice.vector_case)
            plain = choice.measure == WordMeasure()
            self._select = kept.measured if plain else partial(choice.select, source=kept)
        if self._apart:
            return *prepare_apart(corpus, metric.tokenizer, requires, self._select), None
        if requires.all_words:
            prepared = prepare_corpus(corpus, metric.tokenizer, requires, select=self._select)
            return prepared, prepared.coder.code(corpus), None
        try:
            coder = self._coders.pop()
        except IndexError:
            coder = Coder(metric.tokenizer, requires)
        parts: Any = requires.parts
        block, words = coder.code(corpus), coder.table(parts) if parts else None
        self._coders.append(coder)
        return None, block, words

    def _block(self, corpus: Segments) -> tuple[CodedBlock, WordTable | None]:
        """Code a corpus of a few segments, with the table of its words if the metric needs one."""
        prepared, block, words = self.prepared(corpus)
        if prepared is None:
            return block, words
        return block, prepared.table(self.metric.vector_choice, self._requires).words

    def _chunks(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], source: Sequence[str] | None
    ) -> Iterator[tuple[Chunk, WordTable | None]]:
        """Code segments: chunks of those that are compared together, with the table of their words.

        Blank references count as in a corpus of one segment, which each is where words weigh by how rare they are.
        """
        requires = self._requires
        alone = requires.frequency or requires.idf == "references" or requires.by_annotator
        step = 1 if alone and not self._apart else MINI_BATCH
        for start in range(0, len(candidates), step):
            some = slice(start, start + step)
            blank = count_blank(references[some])
            way = usual_blank(1, 1, source=requires.source) if blank else None
            texts = {"": candidates[some]}, references[some], source and source[some]
            block, words = self._block(Segments(*texts, blank=blank, blank_references=way))
            for first, end in block.cuts(step, MOST_TOGETHER):
                for chunk in block.chunks(first, end, gold=requires.by_annotator):
                    yield chunk, words

    def rows(self, chunk: Chunk, words: WordTable | None, *, cut: bool = False) -> Integers:
        """Compute the rows of a chunk; `words` is the table of its words, `cut` says that its references are cut."""
        chunk = chunk if cut else seen_chunk(self.metric, chunk, words)
        # Several threads of a library may round otherwise than those of a corpus, and do not bear forks.
        with nullcontext() if words is None else single_threaded_blas():
            rows = checked_rows(self._whole, chunk, words, self._kernels)
        self._compared += words is not None
        if self._compared == _MANY:
            self._kernels = choose_kernels("auto", LARGE)
        return rows

    def scored(self, rows: Integers | list[list[int]]) -> Score:
        """Score the segment that has these rows."""
        score: Score
        if len(rows) == 1 and self._scores_rows:
            score = self.metric.score(rows[0])
        else:
            score = self._aggregation.segment_scores(np.asarray(rows), np.array([0, len(rows)]))[0]
        return score

    def _numbers(self, chunk: Chunk, words: WordTable | None, *, cut: bool = False) -> Floats:
        """Score the segments of a chunk as numbers; for parameters see `rows`."""
        rows = self.rows(chunk, words, cut=cut)
        offsets = np.arange(len(chunk) + 1) if len(rows) == len(chunk) else chunk.segment_offsets
        numbers: Floats = self._aggregation.segment_numbers(rows, offsets)
        return numbers


def _prefixes(
    metric: Metric, words: WordTable | None, chunk: Chunk, owner: Integers, sizes: Integers
) -> Iterator[Chunk]:
    """Make segments of prefixes, see `softbleu.matching.partial.prefixes`: few enough at once for the memory."""
    of_references = chunk.references.offsets[chunk.segment_offsets]
    before = np.cumsum(sizes + np.diff(of_references)[owner])
    start, cut = 0, partial(prefixes, tokenizer=metric.tokenizer, parts=aligned_parts(metric, words))
    while start < len(owner):
        fitting = int(np.searchsorted(before, _PREFIXES + (before[start - 1] if start else 0), side="right"))
        stop = max(fitting, start + 1)
        first, last = int(owner[start]), int(owner[stop - 1]) + 1
        yield cut(chunk.part(first, last), owner[start:stop] - first, sizes[start:stop])
        start = stop
