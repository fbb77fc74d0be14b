"""What will be computed: metrics whose thresholds, layers and resources are found, each once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from softbleu.embeddings.choice import VectorChoice
from softbleu.matching.base import SoftMatcher
from softbleu.metrics.optional import NeedsData, matcher_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from softbleu.metrics.base import Metric

M = TypeVar("M", bound="Metric")


def resolve_metric(metric: Metric) -> Metric:
    """Put numbers in the place of a threshold that is a quantile, or not given, and name layers and data."""
    if isinstance(metric, NeedsData):
        metric = metric.resolved()
    if metric.requires.vectors or isinstance(matcher_of(metric), SoftMatcher):
        choice = metric.vector_choice.resolved()
        if choice is not metric.vector_choice:
            metric = replace(metric, vector_choice=choice)
    matcher, choice = matcher_of(metric), metric.vector_choice
    if not isinstance(matcher, SoftMatcher) or isinstance(matcher.threshold, float):
        return metric
    if matcher.threshold is None:
        recommended = choice.recommended_threshold()
        return with_threshold(metric, matcher.least_similarity if recommended is None else float(recommended))
    return with_threshold(metric, choice.threshold_at(matcher.threshold), matcher.threshold)


def threshold_of(metric: Metric) -> float | str | None:
    """That of the matcher, if it has one."""
    matcher = matcher_of(metric)
    return matcher.threshold if isinstance(matcher, SoftMatcher) else None


def with_threshold(metric: M, threshold: float | str, quantile: str | None = None) -> M:
    """The same over its matcher with another threshold, which may have been found as a quantile."""
    own: Any = metric
    matcher = replace(own.matcher, threshold=threshold)
    made: M = replace(own, matcher=matcher, vector_choice=replace(metric.vector_choice, quantile=quantile))
    return made


def distinct(metrics: Iterable[Metric]) -> list[Metric]:
    """Metrics of which one that is named twice is computed once."""
    return list({key_of(each): each for each in metrics}.values())


def key_of(metric: Metric) -> tuple[object, ...]:
    """What tells a metric from others; vectors in memory by which they are."""
    where, choice = metric.vector_choice.key
    return replace(metric, vector_choice=choice), where


def without_vectors(metric: Metric) -> Metric:
    """The same for workers, who are given tables of vectors: those of the metric need not travel."""
    return replace(metric, vector_choice=VectorChoice())
