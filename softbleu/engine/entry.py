"""What a metric is run by when it is asked itself for scores; see `softbleu.config.hook`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from softbleu.corpora.segments import make_corpus
from softbleu.engine.runner import RunOptions, score_metrics
from softbleu.engine.sentences import SentenceScorer
from softbleu.io.progress import shown

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from softbleu.corpora.m2 import GoldSegment
    from softbleu.corpora.segments import References, Texts
    from softbleu.metrics.base import Level, Metric
    from softbleu.metrics.result import Result, Results
    from softbleu.types import Progress

__all__ = ["SentenceScorer", "score_texts"]


def score_texts(
    metric: Metric,
    candidates: Texts,
    references: References | None = None,
    source: Iterable[str] | None = None,
    *,
    gold: Sequence[GoldSegment] | None = None,
    level: Level = "corpus",
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
) -> Result | Results:
    """Score candidates against references; see `Metric.corpus_score`."""
    corpus = make_corpus(candidates, references, source, gold)
    with shown(progress) as shower:
        results = score_metrics(corpus, [metric], level, RunOptions(jobs, executor, progress=shower))
    return results if isinstance(candidates, Mapping) else results[0]
