"""All pairs of texts: each line prepared once, whoever it is compared with; and the best of n-best lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.corpora.nbest import TextList
from softbleu.errors import InputError
from softbleu.executors import chosen_executor, run_in_order, single_threaded_blas
from softbleu.kernels import KernelName, choose_kernels
from softbleu.progress import shown
from softbleu.scoring.api import measures_of
from softbleu.scoring.coding import CodedBlock, LineCoder
from softbleu.scoring.prepare import PreparedCorpus, WordCounts
from softbleu.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.metrics.base import Level, Metric
    from softbleu.scoring.api import OneMeasure
    from softbleu.scoring.measure import Measure
    from softbleu.scoring.run import Corpus
    from softbleu.scoring.vectors import CorpusWords, PlacedWords
    from softbleu.types import Floats, Integers, Progress


@dataclass(frozen=True, eq=False, repr=False)
class PairScores(Tabular):
    """Scores of candidates, each with each of the references; NumPy takes it for the array of `scores`."""

    scores: Floats
    """(candidates, references)."""
    metric: str
    """The measure, as an expression."""
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
    """The measure, as an expression."""
    signature: str

    def records(self) -> list[dict[str, Any]]:
        """A row a list."""
        return [vars(each) for each in self.choices]

    def described(self) -> dict[str, str]:
        """The metric and the signature."""
        return {"metric": self.metric, "signature": self.signature}


@dataclass(frozen=True)
class _PairWork:
    """What a worker does: the lines of one list in, statistics of their pairs out."""

    metric: Metric
    table: PlacedWords | None
    kernels: KernelName
    mean_reference: bool

    def __call__(self, block: CodedBlock) -> NDArray[Any]:
        (candidates,), references = block.candidates, block.references
        same = np.array_equal(candidates.codes, references.codes)
        if same and np.array_equal(candidates.offsets, references.offsets):
            references = candidates
        words = None if self.table is None else self.table.load()
        if self.mean_reference:
            return self.metric.average_statistics(candidates, references, words)
        return self.metric.pair_statistics(candidates, references, words, choose_kernels(self.kernels))


@dataclass(frozen=True)
class _Pairs:
    """Lists that were prepared, and how their pairs are scored: as segments with one reference."""

    measure: Measure
    metric: Metric
    prepared: PreparedCorpus
    table: CorpusWords | None
    level: Level

    @classmethod
    def of(cls, lists: Sequence[TextList], measure: Measure, level: Level = "segment") -> _Pairs:
        measure = measure.resolved()
        metric = measure.metric.at_level(level)
        requires = metric.requires
        if requires.source or requires.gold or not requires.references:
            raise InputError(f"metric {metric.name!r} does not compare two texts: name one that does, such as chrf")
        if requires.pieces and not measure.vectors.in_context:
            raise InputError(f"metric {metric.name!r} needs vectors in context: name an encoder, such as minilm-l6")
        words = WordCounts()
        coder, blocks = LineCoder(measure.tokenizer, words.vocabulary), list[CodedBlock]()
        for each in lists:
            references = coder.encode([*map(coder.tokenizer.reference, each.references)])
            blocks.append(
                CodedBlock((coder.encode(each.candidates),), references, np.array([0, len(each.references)]))
            )
        words.count(blocks, requires)
        codes = words.sort()
        coded = [block.recoded(codes) for block in blocks]
        prepared = PreparedCorpus((), measure.tokenizer, len(lists), words, coded)
        table = prepared.table(measure.vectors, requires) if requires.table else None
        return cls(measure, metric, prepared, table, level)

    @property
    def signature(self) -> str:
        identity = self.table.identity if self.table is not None and self.metric.requires.vectors else None
        return self.measure.at_level(self.level).signature(vectors=identity, level=self.level, nrefs=1)

    def statistics(
        self,
        *,
        mean_reference: bool = False,
        jobs: int = 1,
        executor: Executor | None = None,
        progress: Progress | None = None,
    ) -> Iterator[NDArray[Any]]:
        """Of each list statistics, (candidates, references, k); with the mean of the references (candidates, k)."""
        total = len(self.prepared)
        table: PlacedWords | None = None
        contents: Mapping[str, bytes] = {}
        with ExitStack() as stack:
            chosen = stack.enter_context(chosen_executor(executor, jobs, total))
            stack.enter_context(single_threaded_blas())
            if self.table is not None:
                table, contents = stack.enter_context(self.table.placed(chosen))
            work = _PairWork(self.metric, table, "auto", mean_reference)
            for done, rows in enumerate(run_in_order(work, self.prepared.blocks(), chosen, contents), start=1):
                yield rows
                if progress is not None:
                    progress(done, total)

    def scores(self, rows: Integers | Floats) -> Floats:
        """Score statistics, whatever their shape but for the last axis."""
        return self.metric.scores(rows.reshape(-1, rows.shape[-1])).reshape(rows.shape[:-1])


def score_pairs(
    lists: Sequence[TextList],
    measure: Measure,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    names: Sequence[Sequence[str]] | None = None,
) -> Iterator[PairScores]:
    """Score every candidate of each list with every reference of it, all lines prepared once.

    What a metric asks of all references, such as rarity, it finds in those of all lists. Candidates and references
    are numbered from 1, unless they have names.

    Raises
    ------
    InputError, VectorError
        The metric does not compare two texts; vectors cannot be read.
    """
    pairs = _Pairs.of(lists, measure)
    for each, rows in zip(lists, pairs.statistics(jobs=jobs, executor=executor, progress=progress), strict=True):
        called = names or [_numbers(each.candidates), _numbers(each.references)]
        yield PairScores(pairs.scores(rows), str(measure), pairs.signature, *called)


def _numbers(texts: Sequence[str]) -> list[str]:
    return [str(number) for number in range(1, len(texts) + 1)]


def pairwise(
    candidates: Iterable[str],
    references: Iterable[str] | None = None,
    metric: OneMeasure = "bleu",
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
    (measure,) = measures_of(metric, **settings)
    (found,) = score_pairs([TextList.of(candidates, references)], measure, jobs=jobs, executor=executor)
    return found


def pair_systems(corpus: Corpus) -> list[TextList]:
    """Of each segment the candidates of all systems, and the references.

    Raises
    ------
    InputError
        Segments have different numbers of references.
    """
    blocks = [block.load() for block in corpus.blocks()]
    candidates = [texts for block in blocks for texts in zip(*block.candidates.values(), strict=True)]
    references = [texts for block in blocks for texts in block.references]
    if len({len(texts) for texts in references}) > 1:
        raise InputError("segments have different numbers of references: a matrix needs as many of each")
    return [TextList(*each) for each in zip(candidates, references, strict=True)]


def score_systems(
    lists: Sequence[TextList],
    names: Sequence[Sequence[str]],
    measure: Measure,
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

    Raises
    ------
    InputError, VectorError
        As `score_pairs`.
    """
    pairs = _Pairs.of(lists, measure, "corpus")
    found = pairs.statistics(jobs=jobs, executor=executor, progress=progress)
    rows = np.stack([*found], axis=2)
    offsets = np.arange(len(lists) + 1)
    scores = np.array([[pairs.metric.summarise(each, offsets).score for each in row] for row in rows])
    return PairScores(scores, str(measure), pairs.signature, *names)


def select(
    lists: Iterable[TextList | Iterable[str]],
    metric: OneMeasure = "bleu",
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
    (measure,) = measures_of(metric, **settings)
    # Equal texts are compared once, and those of the references count as often as they are there.
    distinct = listed
    if not mean_reference:
        distinct = [TextList(*(list(dict.fromkeys(texts)) for texts in vars(each).values())) for each in listed]
    pairs = _Pairs.of(distinct, measure)
    choices = []
    with shown(progress) as shower:
        found = pairs.statistics(mean_reference=mean_reference, jobs=jobs, executor=executor, progress=shower)
        for number, (each, own, rows) in enumerate(zip(listed, distinct, found, strict=True), start=1):
            scores = pairs.scores(rows)
            if not mean_reference:
                counts = [each.references.count(text) for text in own.references]
                scores = scores @ np.array(counts, np.float64) / len(each.references)
            # Rounded, so that what is equal but for its last bits goes by its place.
            ranked = scores.round(9) if pairs.metric.higher_is_better else -scores.round(9)
            best = int(ranked.argmax())
            text = own.candidates[best]
            place = each.candidates.index(text) + 1
            choices.append(Choice(number, place, text, float(scores[best]), len(each.candidates)))
    signature = pairs.signature + ("|references:averaged" if mean_reference else "")
    return Choices(choices, str(measure), signature)
