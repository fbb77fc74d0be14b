"""All pairs of texts: each line prepared once, whoever it is compared with; and the best of n-best lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.corpora.records import TextList
from softbleu.engine.encode import CodedBlock, LineCoder
from softbleu.engine.plan import resolve_metric
from softbleu.engine.prepare import PreparedCorpus, WordCounts
from softbleu.engine.runner import RunOptions
from softbleu.errors import InputError
from softbleu.io.executors import chosen_executor, run_in_order, single_threaded_blas
from softbleu.io.limits import Limit
from softbleu.io.progress import shown
from softbleu.io.tabular import Tabular
from softbleu.kernels import KernelName, choose_kernels
from softbleu.matching.ngrams import Chunk
from softbleu.metrics.optional import average_statistics, pair_statistics
from softbleu.results.api import make_metrics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.vectors import BroadcastWords, CorpusWords
    from softbleu.kernels import Kernels
    from softbleu.matching.similarity import WordTable
    from softbleu.metrics.base import Level, Metric
    from softbleu.results.api import GivenMetric
    from softbleu.text.tokens import Tokens
    from softbleu.types import Floats, Integers, Progress

_LIMIT = Limit(
    "comparing all", "pairs of texts", 10_000_000, "1,000 candidates with one another: 1,000,000", "make it shorter"
)
_LENGTH = 1000
"""Characters of a text; so many more count as another."""
_AT_ONCE = 1024
"""Pairs of small lists, or candidates of a large one, that are compared at once."""
_SMALL = 32
"""Pairs of a small list."""


@dataclass(frozen=True, eq=False, repr=False)
class PairScores(Tabular):
    """Scores of candidates, each with each of the references; NumPy takes it for the array of `scores`."""

    scores: Floats
    """(candidates, references)."""
    metric: str
    """The metric, as an expression."""
    signature: str
    candidates: Sequence[str]
    references: Sequence[str]
    """What they are called; numbers, unless they have names."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.scores, dtype)

    def records(self) -> list[dict[str, Any]]:
        """A row a candidate, a column a reference."""
        return [
            {"candidate": name, **dict(zip(self.references, row, strict=True))}
            for name, row in zip(self.candidates, self.scores.tolist(), strict=True)
        ]

    def described(self) -> dict[str, str]:
        """The metric and the signature."""
        return {"metric": self.metric, "signature": self.signature}


@dataclass(frozen=True)
class Choice:
    """The candidate of a list that is most like all its references."""

    segment: int
    """From 1."""
    candidate: int
    """Its place in the list, from 1; the first of equals."""
    text: str
    score: float
    """Mean over the references, or the score with their mean."""
    of: int
    """Candidates of the list."""


@dataclass(frozen=True, eq=False, repr=False)
class Choices(Tabular):
    """What was chosen from lists."""

    choices: Sequence[Choice]
    metric: str
    """The metric, as an expression."""
    signature: str

    def records(self) -> list[dict[str, Any]]:
        """A row a list."""
        return [vars(each) for each in self.choices]

    def described(self) -> dict[str, str]:
        """The metric and the signature."""
        return {"metric": self.metric, "signature": self.signature}


@dataclass(frozen=True)
class _Lists:
    """Some lists as coded lines, one list behind the other."""

    block: CodedBlock
    """Segments are lists, but with any number of candidates."""
    bounds: Integers
    """List s has the candidates ``bounds[s]`` to ``bounds[s + 1]``."""

    @property
    def sizes(self) -> tuple[Integers, Integers]:
        """How many candidates and how many references each list has."""
        return np.diff(self.bounds), np.diff(self.block.offsets)

    def texts(self, place: int) -> tuple[Tokens, Tokens]:
        """Candidates and references of a list; the same object where they are the same."""
        candidates = self.block.candidates[0].lines(*self.bounds[place : place + 2].tolist())
        references = self.block.references.lines(*self.block.offsets[place : place + 2].tolist())
        same = type(candidates) is type(references) and np.array_equal(candidates.codes, references.codes)
        same = same and np.array_equal(candidates.offsets, references.offsets)
        return candidates, candidates if same else references

    def pairs(self, chosen: Integers) -> Chunk:
        """All pairs of texts of some lists, each pair a segment."""
        candidates, references = (each[chosen] for each in self.sizes)
        owner = np.repeat(np.arange(len(chosen)), candidates * references)
        within = np.arange(len(owner)) - (np.cumsum(candidates * references) - candidates * references)[owner]
        one = self.bounds[chosen][owner] + within // references[owner]
        other = self.block.offsets[chosen][owner] + within % references[owner]
        each = np.arange(len(owner) + 1)
        return Chunk(self.block.candidates[0].chosen(one), self.block.references.chosen(other), each)


@dataclass(frozen=True)
class _PairWork:
    """What a worker does: the lines of some lists in, statistics of the pairs of each out."""

    metric: Metric
    table: BroadcastWords | None
    kernels: KernelName
    mean_reference: bool

    def __call__(self, lists: _Lists) -> list[NDArray[Any]]:
        words = None if self.table is None else self.table.load()
        if self.mean_reference:
            texts = map(lists.texts, range(len(lists.block)))
            return [average_statistics(self.metric, *each, words) for each in texts]
        kernels = choose_kernels(self.kernels)
        candidates, references = lists.sizes
        found: dict[int, NDArray[Any]] = {}
        # In small lists little is shared by the pairs, and much time goes by for each list.
        small = np.flatnonzero(candidates * references <= _SMALL)
        if len(small):
            rows = self.metric.statistics(lists.pairs(small), words, kernels)
            ends = np.cumsum((candidates * references)[small])[:-1]
            for place, own in zip(small.tolist(), np.split(rows, ends), strict=True):
                found[place] = own.reshape(candidates[place], references[place], -1)
        for place in np.flatnonzero(candidates * references > _SMALL).tolist():
            found[place] = self._statistics(*lists.texts(place), words, kernels)
        return [found[place] for place in range(len(lists.block))]

    def _statistics(
        self, candidates: Tokens, references: Tokens, words: WordTable | None, kernels: Kernels
    ) -> NDArray[Any]:
        """Statistics of the pairs of a list; of many candidates only some at a time."""
        if candidates is references or len(candidates.lengths) <= _AT_ONCE:
            return pair_statistics(self.metric, candidates, references, words, kernels)
        starts = range(0, len(candidates.lengths), _AT_ONCE)
        parts = (candidates.lines(start, start + _AT_ONCE) for start in starts)
        return np.concatenate([pair_statistics(self.metric, part, references, words, kernels) for part in parts])


@dataclass(frozen=True)
class _Pairs:
    """Lists that were prepared, and how their pairs are scored: as segments with one reference."""

    complete: Metric
    metric: Metric
    prepared: PreparedCorpus
    bounds: Sequence[Integers]
    """Of the candidates of the lists of each block."""
    table: CorpusWords | None
    level: Level

    @classmethod
    def of(cls, lists: Sequence[TextList], metric: Metric, level: Level = "segment") -> _Pairs:
        complete = resolve_metric(metric)
        metric = complete.at_level(level)
        requires = metric.requires
        if requires.source or requires.gold or not requires.references:
            raise InputError(f"metric {metric.name!r} does not compare two texts: name one that does, such as chrf")
        if requires.pieces and not metric.vector_choice.in_context:
            raise InputError(f"metric {metric.name!r} needs vectors in context: name an encoder, such as minilm-l6")
        words = WordCounts()
        coder = LineCoder(metric.tokenizer, words.vocabulary)
        for number, each in enumerate(lists, start=1):
            _LIMIT.check(_size(each.candidates) * _size(each.references), f"list {number}")
        together = list(_together(lists))
        bounds = [_ends(each.candidates for each in some) for some in together]
        words.count((_coded(some, coder) for some in together), requires)
        coder.renumber(words.sort(), words.vocabulary)
        coded = [_coded(some, coder) for some in together]
        prepared = PreparedCorpus((), metric.tokenizer, len(lists), words, coded)
        table = prepared.table(metric.vector_choice, requires) if requires.table else None
        return cls(complete, metric, prepared, bounds, table, level)

    @property
    def signature(self) -> str:
        identity = self.table.identity if self.table is not None and self.metric.requires.vectors else None
        return self.complete.at_level(self.level).signature(vectors=identity, level=self.level, nrefs=1)

    def statistics(self, options: RunOptions, *, mean_reference: bool = False) -> Iterator[list[NDArray[Any]]]:
        """Of some lists at a time statistics, (candidates, references, k); with mean references (candidates, k)."""
        total, done = len(self.prepared), 0
        table: BroadcastWords | None = None
        contents: Mapping[str, bytes] = {}
        with ExitStack() as stack:
            chosen = stack.enter_context(chosen_executor(options.executor, options.jobs, total))
            stack.enter_context(single_threaded_blas())
            if self.table is not None:
                table, contents = stack.enter_context(self.table.broadcast(chosen))
            work = _PairWork(self.metric, table, options.kernels, mean_reference)
            lists = map(_Lists, self.prepared.blocks(), self.bounds)
            for found in run_in_order(work, lists, chosen, contents):
                yield found
                done += len(found)
                if options.progress is not None:
                    options.progress(done, total)

    def scores(self, found: Sequence[NDArray[Any]]) -> Iterator[Floats]:
        """Scores of statistics of lists, whatever their shape but for the last axis."""
        scores = self.metric.scores(np.concatenate([rows.reshape(-1, rows.shape[-1]) for rows in found]))
        ends = np.cumsum([rows[..., 0].size for rows in found])
        for rows, own in zip(found, np.split(scores, ends[:-1]), strict=True):
            yield own.reshape(rows.shape[:-1])


def _coded(lists: Sequence[TextList], coder: LineCoder) -> CodedBlock:
    references = coder.references([text for each in lists for text in each.references])
    candidates = coder.encode([text for each in lists for text in each.candidates])
    return CodedBlock((candidates,), references, _ends(each.references for each in lists))


def _size(texts: Sequence[str]) -> int:
    return len(texts) + sum(map(len, texts)) // _LENGTH


def _together(lists: Sequence[TextList]) -> Iterator[list[TextList]]:
    """Put small lists together."""
    some, pairs = list[TextList](), 0
    for each in lists:
        some.append(each)
        pairs += len(each.candidates) * len(each.references)
        if pairs >= _AT_ONCE:
            yield some
            some, pairs = [], 0
    if some:
        yield some


def _ends(texts: Iterable[Sequence[str]]) -> Integers:
    """Where the texts of each list begin and end, if the lists stand one behind the other."""
    return np.cumsum([0, *map(len, texts)])


def score_pairs(
    lists: Sequence[TextList],
    metric: Metric,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    names: Sequence[Sequence[str]] | None = None,
) -> Iterator[PairScores]:
    """Score every candidate of each list with every reference of it, all lines prepared once.

    What a metric asks of all references, such as rarity, it finds in those of all lists. Candidates and references
    are numbered from 1, unless they have names.
    """
    pairs = _Pairs.of(lists, metric)
    signature = pairs.signature
    statistics = pairs.statistics(RunOptions(jobs, executor, progress=progress))
    found = chain.from_iterable(map(pairs.scores, statistics))
    for each, scores in zip(lists, found, strict=True):
        called = names or [_numbers(each.candidates), _numbers(each.references)]
        yield PairScores(scores, str(metric), signature, *called)


def _numbers(texts: Sequence[str]) -> list[str]:
    return [str(number) for number in range(1, len(texts) + 1)]


def pairwise(
    candidates: Iterable[str],
    references: Iterable[str] | None = None,
    metric: GivenMetric = "bleu",
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    **settings: Any,
) -> PairScores:
    """Score every candidate with every reference, as segments with one reference each; every text is prepared once.

    Parameters
    ----------
    candidates
        Texts.
    references
        Texts; unless given the candidates themselves.
    metric
        A name, an expression or a value, of a metric that compares two texts.
    jobs, executor, settings
        As those of `softbleu.score`.

    Returns
    -------
    PairScores
        ``scores`` has the shape (candidates, references).

    Raises
    ------
    InputError, VectorError
        As `softbleu.score`.

    Examples
    --------
    >>> pairwise(["the cat sat", "a dog"], ["the cat", "a dog"], "chrf").scores.round(1).tolist()
    [[83.5, 5.0], [4.5, 100.0]]
    """
    (made,) = make_metrics(metric, **settings)
    (found,) = score_pairs([TextList.of(candidates, references)], made, jobs=jobs, executor=executor)
    return found


def pair_systems(corpus: Corpus) -> list[TextList]:
    """Of each segment the candidates of all systems, and the references."""
    blocks = [block.load() for block in corpus.blocks()]
    candidates = [texts for block in blocks for texts in zip(*block.candidates.values(), strict=True)]
    references = [texts for block in blocks for texts in block.references]
    if len({len(texts) for texts in references}) > 1:
        raise InputError("segments have different numbers of references: a matrix needs as many of each")
    return [TextList(*each) for each in zip(candidates, references, strict=True)]


def score_systems(
    lists: Sequence[TextList],
    names: Sequence[Sequence[str]],
    metric: Metric,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> PairScores:
    """Score the corpus of every candidate with that of every reference.

    Parameters
    ----------
    lists
        Of each segment as many candidates and as many references; see `pair_systems`.
    names
        Of the candidates, and of the references.
    """
    pairs = _Pairs.of(lists, metric, "corpus")
    found = pairs.statistics(RunOptions(jobs, executor, progress=progress))
    rows = np.stack([*chain.from_iterable(found)], axis=2)
    offsets = np.arange(len(lists) + 1)
    scores = np.array([[pairs.metric.aggregation.score(each, offsets).score for each in row] for row in rows])
    return PairScores(scores, str(metric), pairs.signature, *names)


def select(
    lists: Iterable[TextList | Iterable[str]],
    metric: GivenMetric = "bleu",
    *,
    mean_reference: bool = False,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
    **settings: Any,
) -> Choices:
    """Choose from each list the candidate with the best expected score: minimum Bayes risk (Kumar and Byrne 2004).

    The references stand for what may be right: unless a list has its own they are its candidates, each with itself,
    too. What a metric asks of all references, such as rarity, it finds in those of all lists.

    Parameters
    ----------
    lists
        Candidates of each segment.
    metric
        A name, an expression or a value, of a metric that compares two texts.
    mean_reference
        Compare candidates once, with the mean of the references' n-gram counts (Vamvas and Sennrich 2024), not with
        every reference: for BLEU over exact matches, and chrF.
    jobs, executor, progress, settings
        As those of `softbleu.score`.

    Raises
    ------
    InputError, VectorError
        As `softbleu.score`; a metric whose references have no mean.

    Examples
    --------
    >>> [choice.text for choice in select([["a cat sat", "the cat sat", "the dog sat"]], "chrf").choices]
    ['the cat sat']
    """
    listed = [each if isinstance(each, TextList) else TextList.of(each) for each in lists]
    if not listed:
        raise InputError("there are no lists of candidates")
    (made,) = make_metrics(metric, **settings)
    # Equal texts are compared once, and those of the references count as often as they are there.
    distinct = listed
    if not mean_reference:
        distinct = [TextList(*(list(dict.fromkeys(texts)) for texts in vars(each).values())) for each in listed]
    pairs = _Pairs.of(distinct, made)
    choices = []
    with shown(progress) as shower:
        options = RunOptions(jobs, executor, progress=shower)
        statistics = pairs.statistics(options, mean_reference=mean_reference)
        found = chain.from_iterable(map(pairs.scores, statistics))
        for number, (each, own, scores) in enumerate(zip(listed, distinct, found, strict=True), start=1):
            if not mean_reference:
                counts = Counter(each.references)
                weights = np.array([counts[text] for text in own.references], np.float64)
                scores = scores @ weights / len(each.references)
            # Rounded, so that what is equal but for its last bits goes by its place.
            ranked = scores.round(9) if pairs.metric.higher_is_better else -scores.round(9)
            best = int(ranked.argmax())
            text = own.candidates[best]
            place = each.candidates.index(text) + 1
            choices.append(Choice(number, place, text, float(scores[best]), len(each.candidates)))
    signature = pairs.signature + ("|references:averaged" if mean_reference else "")
    return Choices(choices, str(made), signature)
