"""Names by which a package outside declares its metrics, matchers and tokenizers."""

from softbleu.config.declare import setting
from softbleu.metrics import Score, ScoreColumns, column
from softbleu.metrics.base import StringMetric

__all__ = ["Score", "ScoreColumns", "StringMetric", "column", "setting"]
