"""Human judgements (rankings, direct assessment, scores of systems, spans), and scores of metrics in files."""

from __future__ import annotations

from softbleu.corpora.judgements.assessments import Assessments as Assessments
from softbleu.corpora.judgements.assessments import drawn_with as drawn_with
from softbleu.corpora.judgements.assessments import read_assessments as read_assessments
from softbleu.corpora.judgements.comparisons import Comparisons as Comparisons
from softbleu.corpora.judgements.comparisons import Ranking as Ranking
from softbleu.corpora.judgements.comparisons import read_rankings as read_rankings
from softbleu.corpora.judgements.scores import ScoreTable as ScoreTable
from softbleu.corpora.judgements.scores import file_stem as file_stem
from softbleu.corpora.judgements.scores import in_order_of as in_order_of
from softbleu.corpora.judgements.scores import merge_scores as merge_scores
from softbleu.corpora.judgements.scores import read_scores as read_scores
from softbleu.corpora.judgements.spans import MarkedOutput as MarkedOutput
from softbleu.corpora.judgements.spans import MarkedSpan as MarkedSpan
from softbleu.corpora.judgements.spans import SpanTable as SpanTable
from softbleu.corpora.judgements.spans import read_spans as read_spans
from softbleu.corpora.judgements.tables import plain_names as plain_names
