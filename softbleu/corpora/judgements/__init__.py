"""Human judgements: rankings, direct assessment, scores of systems, spans; and what metrics said, in files."""

from __future__ import annotations

from softbleu.corpora.judgements.assessments import Assessments, read_assessments
from softbleu.corpora.judgements.assessments import drawn_with as drawn_with
from softbleu.corpora.judgements.comparisons import Comparisons, Ranking, read_rankings
from softbleu.corpora.judgements.scores import (
    ScoreTable,
    file_stem,
    in_order_of,
    merge_scores,
    plain_names,
    read_scores,
)
from softbleu.corpora.judgements.spans import MarkedOutput, MarkedSpan, SpanTable, read_spans

__all__ = [
    "Assessments",
    "Comparisons",
    "MarkedOutput",
    "MarkedSpan",
    "Ranking",
    "ScoreTable",
    "SpanTable",
    "file_stem",
    "in_order_of",
    "merge_scores",
    "plain_names",
    "read_assessments",
    "read_rankings",
    "read_scores",
    "read_spans",
]
