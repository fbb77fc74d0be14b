"""The Python interface: scores and comparisons in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, overload

from softbleu.corpora.segments import Segments
from softbleu.errors import InputError
from softbleu.metrics.base import Metric
from softbleu.scoring.measure import Measure
from softbleu.scoring.results import Result, all_results, check_level
from softbleu.scoring.run import collect_statistics
from softbleu.scoring.significance import ComparisonTable, SignificanceSettings, compare_systems

if TYPE_CHECKING:
    from softbleu.corpora.m2 import GoldSegment
    from softbleu.kernels import KernelName
    from softbleu.metrics.base import Level
    from softbleu.scoring.run import Corpus
    from softbleu.types import Progress

Texts = Sequence[str] | Mapping[str, Sequence[str]]
"""One candidate a segment, or a mapping from system names to such lists."""
Measures = str | Metric | Measure | Sequence[str | Metric | Measure]
"""A metric's name, an expression or a value, or several."""


def measures_of(metrics: Measures, **settings: Any) -> list[Measure]:
    """Make measures; a setting goes to those that have it, and some must.

    Raises
    ------
    InputError
        No metric, or a setting that none of them has.
    """
    several = [metrics] if isinstance(metrics, str | Metric | Measure) else list(metrics)
    if not several:
        raise InputError("no metric: name one, such as 'bleu' or 'vleu(threshold=0.8)'")
    if len(several) == 1:
        return [Measure.of(several[0], **settings)]
    idle: list[list[str]] = [[] for _ in several]
    made = [Measure.of(each, idle=names, **settings) for each, names in zip(several, idle, strict=True)]
    for name in settings:
        if all(name in names for names in idle):
            raise InputError(f"none of these metrics has a setting {name!r}")
    return made


def score_corpus(
    corpus: Corpus,
    metrics: Measures = "bleu",
    *,
    level: Level = "corpus",
    jobs: int = 1,
    executor: Executor | None = None,
    kernels: KernelName = "auto",
    progress: Progress | None = None,
) -> list[Result]:
    """Score every system of a corpus.

    Parameters
    ----------
    corpus
        `Segments`, or files opened by `ParallelFiles.open`.
    metrics
        What to compute; several share one pass over the corpus.
    level
        `segment` gives the score of each segment, too; `macro` averages the segment scores; `reference` gives the
        score against each reference.
    jobs
        Processes to use (threads, where compiled kernels do the work); the digits do not depend on it.
    executor
        Any other executor to use instead, e.g. that of a cluster.
    kernels
        `numpy`, `numba`, or `auto`: whichever is faster for the size of the text.
    progress
        Called with the number of segments done and of all.

    Returns
    -------
    list of Result
        One result a system, in the order of the corpus; of several metrics those by the first come first.

    Raises
    ------
    InputError, VectorError
        What cannot be scored, and vectors that cannot be read.
    """
    check_level(level)
    measures = [measure.resolved() for measure in measures_of(metrics)]
    statistics = collect_statistics(
        corpus,
        measures,
        keep_rows=level != "corpus",
        jobs=jobs,
        executor=executor,
        kernels=kernels,
        progress=progress,
    )
    return all_results(statistics, level)


def compare_corpus(
    corpus: Corpus,
    metric: str | Metric | Measure = "bleu",
    *,
    baseline: str | None = None,
    significance: SignificanceSettings | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> ComparisonTable:
    """Score every system of a corpus and test the differences; the first is the baseline unless one is named."""
    (measure,) = measures_of(metric)
    (statistics,) = collect_statistics(
        corpus, [measure.resolved()], keep_rows=True, jobs=jobs, executor=executor, progress=progress
    )
    return compare_systems(statistics, baseline or statistics.systems[0], significance or SignificanceSettings())


@overload
def score(
    candidates: Sequence[str],
    references: Sequence[str | Sequence[str]] | None = None,
    source: Sequence[str] | None = None,
    *,
    metric: str | Metric | Measure = "bleu",
    gold: Sequence[GoldSegment] | None = None,
    level: Level = "corpus",
    jobs: int = 1,
    executor: Executor | None = None,
    **settings: Any,
) -> Result: ...


@overload
def score(
    candidates: Texts,
    references: Sequence[str | Sequence[str]] | None = None,
    source: Sequence[str] | None = None,
    *,
    metric: Measures = "bleu",
    gold: Sequence[GoldSegment] | None = None,
    level: Level = "corpus",
    jobs: int = 1,
    executor: Executor | None = None,
    **settings: Any,
) -> list[Result]: ...


def score(
    candidates: Texts,
    references: Sequence[str | Sequence[str]] | None = None,
    source: Sequence[str] | None = None,
    *,
    metric: Measures = "bleu",
    gold: Sequence[GoldSegment] | None = None,
    level: Level = "corpus",
    jobs: int = 1,
    executor: Executor | None = None,
    **settings: Any,
) -> Result | list[Result]:
    """Score candidates against references.

    Parameters
    ----------
    candidates
        One candidate a segment, or a mapping from system names to such lists.
    references
        Of each segment its references (segment-major), or just one reference.
    source
        Of each segment the text that was to be corrected, for GLEU and the I-measure.
    metric
        A name, an expression such as ``vleu(threshold=0.8)``, a value, or several of these.
    gold
        Of each segment its source and the edits of its annotators (`softbleu.corpora.read_m2`), which M2 needs; for
        other metrics they make the references.
    level
        `segment` gives the score of each segment, too; `reference` that against each reference (GLEU); `macro`
        averages the segment scores.
    jobs
        Processes to use.
    executor
        Any other executor to use instead.
    settings
        Those of the metric, its matcher, the tokenizer and the vectors by name, as ``matcher="vleu"`` and
        ``threshold=0.8``; the reference page lists them all.

    Returns
    -------
    Result or list of Result
        One result, or for a mapping or several metrics a list of them.

    Raises
    ------
    InputError, VectorError
        What cannot be scored, and vectors that cannot be read.

    Examples
    --------
    >>> result = score(["the cat sat on the mat"], [["the cat sat on a mat", "a cat sat down"]])
    >>> round(result.score.score, 2)
    53.73
    >>> vectors = {"cat": [1.0, 0.2], "dog": [0.9, 0.3], "mat": [0.0, 1.0]}
    >>> soft = score(["a dog sat on a mat"], ["a cat sat on a mat"], metric="vleu", threshold=0.8, vectors=vectors)
    >>> round(soft.score.score, 2)
    99.86
    """
    corpus = make_corpus(candidates, references, source, gold)
    measures = measures_of(metric, **settings)
    results = score_corpus(corpus, measures, level=level, jobs=jobs, executor=executor)
    return results if isinstance(candidates, Mapping) or len(measures) > 1 else results[0]


def compare(
    candidates: Mapping[str, Sequence[str]],
    references: Sequence[str | Sequence[str]] | None = None,
    source: Sequence[str] | None = None,
    *,
    metric: str | Metric | Measure = "bleu",
    gold: Sequence[GoldSegment] | None = None,
    baseline: str | None = None,
    significance: SignificanceSettings | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    **settings: Any,
) -> ComparisonTable:
    """Score several systems, with intervals, and test their differences from a baseline, the first unless named.

    The other parameters are those of `score`.

    Examples
    --------
    >>> systems = {"one": ["a cat sat", "it is"], "two": ["a dog sat", "it is"]}
    >>> table = compare(systems, ["a cat sat", "it is"], order=2)
    >>> [(each.name, round(each.score, 2), each.rank) for each in table.comparisons]
    [('one', 100.0, 1), ('two', 51.64, 2)]
    """
    corpus = make_corpus(candidates, references, source, gold)
    (measure,) = measures_of(metric, **settings)
    return compare_corpus(corpus, measure, baseline=baseline, significance=significance, jobs=jobs, executor=executor)


def make_corpus(
    candidates: Texts,
    references: Sequence[str | Sequence[str]] | None,
    source: Sequence[str] | None = None,
    gold: Sequence[GoldSegment] | None = None,
) -> Segments:
    """Put texts together; gold edits make the references.

    Raises
    ------
    InputError
        They do not go together; see `Segments.of`.
    """
    if gold is None:
        return Segments.of(candidates, references, source)  # type: ignore[arg-type]  # None is refused there
    if references is not None:
        raise InputError("gold edits make the references: leave out either references or gold")
    return Segments.of_gold(candidates, gold, source)
