"""The Python interface: scores in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, overload

from softbleu.corpora.segments import Segments
from softbleu.errors import InputError, UnknownNameError
from softbleu.scoring.run import Result, collect_statistics, score_corpus
from softbleu.scoring.settings import Settings
from softbleu.scoring.significance import ComparisonTable, SignificanceSettings, compare_systems

if TYPE_CHECKING:
    from softbleu.corpora.m2 import GoldSegment
    from softbleu.kernels import KernelName
    from softbleu.scoring.blocks import Level
    from softbleu.scoring.run import Corpus
    from softbleu.types import Progress


def score_with(
    corpus: Corpus,
    settings: Settings,
    *,
    level: Level = "corpus",
    jobs: int = 1,
    executor: Executor | None = None,
    kernels: KernelName = "auto",
    progress: Progress | None = None,
) -> list[Result]:
    """Score every system of a corpus; see `softbleu.scoring.score_corpus`."""
    settings = settings.resolved()
    return score_corpus(
        corpus,
        settings.make_metric(),
        settings.tokenizer(),
        settings.vector_choice(),
        level=level,
        segment_metric=settings.make_metric("segment"),
        jobs=jobs,
        executor=executor,
        kernels=kernels,
        progress=progress,
    )


def compare_with(
    corpus: Corpus,
    settings: Settings,
    baseline: str | None = None,
    significance: SignificanceSettings | None = None,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> ComparisonTable:
    """Score every system of a corpus and test the differences; the first is the baseline unless one is named."""
    settings = settings.resolved()
    metric = settings.make_metric()
    statistics = collect_statistics(
        corpus,
        metric,
        settings.tokenizer(),
        settings.vector_choice(),
        keep_rows=True,
        jobs=jobs,
        progress=progress,
    )
    return compare_systems(
        statistics, metric, baseline or statistics.systems[0], significance or SignificanceSettings()
    )


@overload
def score(
    candidates: Sequence[str],
    references: Sequence[str | Sequence[str]] | None = None,
    source: Sequence[str] | None = None,
    *,
    gold: Sequence[GoldSegment] | None = None,
    level: Level = "corpus",
    jobs: int = 1,
    **settings: Any,
) -> Result: ...


@overload
def score(
    candidates: Mapping[str, Sequence[str]],
    references: Sequence[str | Sequence[str]] | None = None,
    source: Sequence[str] | None = None,
    *,
    gold: Sequence[GoldSegment] | None = None,
    level: Level = "corpus",
    jobs: int = 1,
    **settings: Any,
) -> list[Result]: ...


def score(
    candidates: Sequence[str] | Mapping[str, Sequence[str]],
    references: Sequence[str | Sequence[str]] | None = None,
    source: Sequence[str] | None = None,
    *,
    gold: Sequence[GoldSegment] | None = None,
    level: Level = "corpus",
    jobs: int = 1,
    **settings: Any,
) -> Result | list[Result]:
    """Score candidates against references.

    Parameters
    ----------
    candidates : one candidate a segment, or a mapping from system names to such lists
    references : of each segment its references (segment-major), or just one reference
    source : of each segment the text that was to be corrected, for GLEU and the I-measure
    gold : of each segment its source and the edits of its annotators (`softbleu.corpora.read_m2`), which M2 needs;
        for other metrics they make the references
    level : `segment` gives the score of each segment, too; `reference` that against each reference (GLEU); `macro`
        averages the segment scores
    jobs : processes to use
    settings : the fields of `Settings`, e.g. ``matcher="vleu", threshold=0.8``: metric, matcher, threshold,
        assignment, consumption, composition, order, smooth, smooth_value, effective_order, denominator, variant,
        penalty, weight, swapped_bp, multi, iterations, seed, segment_smoothing, beta, power, rarity, position,
        characters, credit, idf, max_unchanged_words, annotators, preset, tokenize, lowercase, vectors, vector_case,
        normalize, similarity, vectors_postprocess, neighbours, mutual, function_words

    Returns
    -------
    One result, or for a mapping a list of them.

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
    >>> soft = score(["a dog sat on a mat"], ["a cat sat on a mat"], matcher="vleu", threshold=0.8, vectors=vectors)
    >>> round(soft.score.score, 2)
    99.86
    """
    names = {field.name for field in fields(Settings)}
    for name in settings:
        if name not in names:
            raise UnknownNameError("setting", name, sorted(names))
    if gold is not None:
        if references is not None:
            raise InputError("gold edits make the references: leave out either references or gold")
        corpus = Segments.of_gold(candidates, gold, source)
    else:
        corpus = Segments.of(candidates, references, source)  # type: ignore[arg-type]  # None is refused there
    results = score_with(corpus, replace(Settings(), **settings), level=level, jobs=jobs)
    return results if isinstance(candidates, Mapping) else results[0]
