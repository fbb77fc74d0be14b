"""All pairs of texts: each line prepared once, whoever it is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from softbleu.config.earlier import also_named
from softbleu.corpora.records import TextList
from softbleu.engine.encode import ListCorpus
from softbleu.engine.notes import note_coverage
from softbleu.engine.plan import GivenMetric, Plan, make_plan
from softbleu.engine.runner import RunOptions, collect_statistics, running
from softbleu.errors import InputError
from softbleu.io.arguments import Limit
from softbleu.metrics.protocols import at_level
from softbleu.tables import Tabular

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from softbleu.corpora.corpus import Corpus, ParallelFiles
    from softbleu.metrics.base import Level, Metric
    from softbleu.metrics.result import Coverage
    from softbleu.types import Array, Cells, Floats, Progress

_LIMIT = Limit(
    "comparing all", "pairs of texts", 10_000_000, "1,000 candidates with one another: 1,000,000", "make it shorter"
)
_AT_ONCE = 1 << 24  # Numbers of statistics that are held
_LENGTH = 1000  # Characters of a text; so many more count as another


@dataclass(frozen=True, eq=False, repr=False)
class PairScores(Tabular):
    """Scores of candidates, each with each of the references; NumPy takes it for the array of `scores`."""

    scores: Floats  # (candidates, references)
    metric: str  # The metric, as an expression
    signature: str
    short_signature: str  # Without what has its default
    candidates: Sequence[str]
    references: Sequence[str]  # What they are called; numbers, unless they have names
    coverage: Coverage | None = None  # Of all texts together; None when no similarity was looked at

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.array(self.scores, dtype)

    def records(self) -> list[Cells]:
        """A row per candidate, a column per reference; the name of the row stands in `candidate`, or `candidate_`."""
        column = "candidate"
        while column in self.references:
            column += "_"
        return [
            {column: name, **dict(zip(self.references, row, strict=True))}
            for name, row in zip(self.candidates, self.scores.tolist(), strict=True)
        ]

    def described(self) -> dict[str, str]:
        """The metric and the signature."""
        return {"metric": self.metric, "signature": self.signature}


@contextmanager
def _comparing(
    lists: Sequence[TextList], plan: Plan, options: RunOptions, level: Level = "segment"
) -> Iterator[tuple[Metric, tuple[str, str], Coverage | None, Iterator[list[Array]]]]:
    """Compare texts of lists: the metric at the level, signatures, coverage, and statistics, some at a time.

    The statistics of a list are of the shape (candidates, references, k).
    """
    for number, texts in enumerate(lists, start=1):
        _LIMIT.check(_size(texts.candidates) * _size(texts.references), f"list {number}")
    corpus = ListCorpus(lists)
    with running(corpus, plan.over(corpus, level=level), options) as runner:
        statistics, rows = runner.compare()
        (coverage,) = statistics.coverage or (None,)
        signatures = statistics.signature(level), statistics.signature(level, short=True)
        yield at_level(statistics.metric, level), signatures, coverage, rows


def _size(texts: Sequence[str]) -> int:
    return len(texts) + sum(map(len, texts)) // _LENGTH


def score_pairs(
    lists: Sequence[TextList],
    metric: GivenMetric | Plan,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    names: Sequence[Sequence[str]] | None = None,
) -> Iterator[PairScores]:
    """Score every candidate of each list with every reference of it, all lines prepared once.

    Properties of all references, such as rarity, are taken from all lists. Candidates and references
    are numbered from 1, unless they have names.

    `jobs`, `executor` and `progress` are as in `softbleu.score`.
    """
    options, plan = RunOptions(jobs, executor, progress=progress), make_plan(metric)
    with _comparing(lists, plan, options) as (scorer, signatures, coverage, compared):
        for some in compared:
            every = np.concatenate([rows.reshape(-1, rows.shape[-1]) for rows in some])
            scores = scorer.columns(every).score
            shapes = [rows.shape[:2] for rows in some]
            by_list = np.split(scores, np.cumsum([one * other for one, other in shapes])[:-1])
            for shape, matrix in zip(shapes, by_list, strict=True):
                called = names or [[str(place) for place in range(1, size + 1)] for size in shape]
                yield PairScores(matrix.reshape(shape), str(plan.only), *signatures, called[0], called[1], coverage)


@also_named(metric="metrics")
def pairwise(
    candidates: Iterable[str],
    references: Iterable[str] | None = None,
    metrics: GivenMetric = "bleu",
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    **settings: object,
) -> PairScores:
    """Score every candidate with every reference, as segments with one reference each; every text is prepared once.

    Parameters
    ----------
    candidates
        Texts.
    references
        Texts; unless given the candidates themselves.
    metrics
        A name, an expression or a value, of a metric that compares two texts.
    jobs, executor, settings
        As in `softbleu.score`.

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
    lists = [TextList.of(candidates, references)]
    (scores,) = score_pairs(lists, make_plan(metrics, **settings), jobs=jobs, executor=executor)
    return scores


def pair_systems(corpus: Corpus) -> list[TextList]:
    """List for each segment the candidates of all systems, and the references."""
    blocks = [block.load() for block in corpus.blocks()]
    candidates = [texts for block in blocks for texts in zip(*block.candidates.values(), strict=True)]
    references = [texts for block in blocks for texts in block.references]
    if len({len(texts) for texts in references}) > 1:
        raise InputError("segments have different numbers of references: a matrix needs as many of each")
    return [TextList(*texts) for texts in zip(candidates, references, strict=True)]


def _stacked(compared: Iterable[Array]) -> Iterator[Array]:
    """Statistics of lists as (pairs, lists, k), of so many lists together that they take little memory."""
    held: list[Array] = []
    for rows in compared:
        held.append(rows.reshape(-1, rows.shape[-1]))
        if len(held) * rows.size >= _AT_ONCE:
            yield np.stack(held, axis=1)
            held = []
    if held:
        yield np.stack(held, axis=1)


def score_systems(
    lists: Sequence[TextList],
    names: Sequence[Sequence[str]],
    metric: GivenMetric | Plan,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> PairScores:
    """Score the corpus of every candidate with that of every reference.

    `lists` have of each segment as many candidates and as many references, see `pair_systems`; `names` are those of
    the candidates, and of the references.

    `metric`, `jobs`, `executor` and `progress` are as in `softbleu.score`.
    """
    options, plan = RunOptions(jobs, executor, progress=progress), make_plan(metric)
    with _comparing(lists, plan, options, "corpus") as (scorer, signatures, coverage, compared):
        stream = scorer.aggregation.stream()
        for rows in _stacked(chain.from_iterable(compared)):
            stream.add(rows, np.ones(rows.shape[1], np.int64))
        scores = np.array([score.score for score in stream.scores()]).reshape(len(names[0]), len(names[1]))
        note_coverage([("all texts", scorer.label, coverage)])
        return PairScores(scores, str(plan.only), *signatures, names[0], names[1], coverage)


def score_with_source(
    corpus: ParallelFiles,
    names: Sequence[Sequence[str]],
    metric: GivenMetric | Plan,
    level: Level,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[PairScores]:
    """Score every candidate with every reference by a metric that looks at the source, too.

    Of the `level` corpus there is one table, of segments there is one each. `names` are as in `score_systems`, `jobs`
    and `progress` as in `softbleu.score`.
    """
    plan, options = make_plan(metric), RunOptions(jobs, progress=progress, notes=False)
    columns = [
        collect_statistics(replace(corpus, references=(file,), blank=0), [plan.only], options, level=level)[0]
        for file in corpus.references
    ]
    results = [column.results(level) for column in columns]
    signed = str(plan.only), results[0][0].signature, results[0][0].short_signature
    rows = [[one.segments or (one.numbers,) for one in scored] for scored in zip(*results, strict=True)]
    tables = np.array([[[score.score for score in cell] for cell in row] for row in rows])
    return [PairScores(table, *signed, names[0], names[1]) for table in np.moveaxis(tables, -1, 0)]
