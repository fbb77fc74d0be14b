"""softbleu for Hugging Face evaluate: every metric of the package, by its expression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

import softbleu

DESCRIPTION = """\
BLEU, GLEU and their soft kin, which count n-grams that mean alike; chrF, TER, and the metric softbleu. An expression
such as "vleu(threshold=0.8)" says what is computed, and a signature names all that the score depends on.
"""

INPUTS = """\
Args:
    predictions (`list` of `str`): of each segment the text to score.
    references (`list` of `str`, or of `list` of `str`): of each segment its reference, or its references.
    metric (`str`): a metric of softbleu with its settings. Defaults to "softbleu".
    source (`list` of `str`): of each segment the text that was to be corrected, for GLEU and the I-measure.
    level (`str`): "corpus" (the default), "segment" (scores of segments, too) or "macro" (their mean).
    details (`bool`): return the metric, the signature, lists and scores of segments, too. Defaults to False.
    Further arguments are settings of the metric, such as threshold=0.5.

Returns:
    score (`float`), and the numbers that it is made of, such as precisions: nothing but numbers.
"""


class Softbleu(evaluate.Metric):
    """Calls ``softbleu.read_metric(metric).corpus_score``; the digits are the same."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation="",
            inputs_description=INPUTS,
            features=[
                datasets.Features({"predictions": text, "references": references})
                for references in (datasets.Sequence(text), text)
            ],
        )

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[str | Sequence[str]],
        metric: str = "softbleu",
        source: Sequence[str] | None = None,
        level: str = "corpus",
        details: bool = False,
        **settings: Any,
    ) -> dict[str, Any]:
        """Score what has come in."""
        result = softbleu.read_metric(metric, **settings).corpus_score(predictions, references, source, level=level)
        found = {name: value for name, value in result.to_dict().items() if name != "system"}
        if details or level == "segment":
            return found
        lists = {name: values for name, values in found.items() if isinstance(values, list)}
        found |= {f"{name}_{place}": each for name, values in lists.items() for place, each in enumerate(values, 1)}
        return {name: value for name, value in found.items() if type(value) in (int, float)}
