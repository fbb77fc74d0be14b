"""Tables of what there is: metrics, matchers, tokenizers."""

from __future__ import annotations

from inspect import getdoc
from typing import Any

from softbleu.io.tabular import Records
from softbleu.matching.base import MATCHERS
from softbleu.metrics.base import METRICS
from softbleu.metrics.optional import ReadsRows, language_of, matcher_of
from softbleu.text.tokenizers import TOKENIZERS


def describe_metrics() -> Records:
    """Table of metrics: what each measures and needs, which way is better, and the language of its data.

    >>> next(row[2:] for row in describe_metrics().rows if row[0] == "ter")
    ('references', 'lower', 'any')
    """
    return Records(
        ("name", "measures", "needs", "better", "language"), [_metric_row(kind()) for kind in METRICS.classes()]
    )


def describe_matchers() -> Records:
    """Table of matchers.

    >>> describe_matchers().rows[0]
    ('exact', 'Only equal n-grams match (BLEU: Papineni et al. 2002).')
    """
    return Records(("name", "matches"), [(kind.name, _about(kind)) for kind in MATCHERS.classes()])


def describe_tokenizers() -> Records:
    """Table of tokenizers: what they make tokens of, and the language that they are made for.

    >>> describe_tokenizers().rows[-1]
    ('zh', 'Chinese characters; other text as 13a (by sacrebleu).', 'zh')
    """
    classes: list[Any] = TOKENIZERS.classes()
    rows = [(kind.name, _about(kind), kind.language or "any") for kind in classes]
    return Records(("name", "tokens", "language"), rows)


def _metric_row(metric: Any) -> tuple[str, ...]:
    requires = metric.requires
    needs = [
        name
        for name, needed in (
            ("references", requires.references),
            ("source", requires.source and not requires.gold),
            ("gold edits", requires.gold),
            ("gold edits or references", requires.edits),
            ("vectors in context", requires.pieces),
            ("vectors", requires.vectors and not requires.pieces),
            ("scores of segments", isinstance(metric, ReadsRows)),
        )
        if needed
    ]
    if matcher_of(metric) is not None and not requires.vectors:
        needs.append("vectors for soft matchers")
    better = "higher" if metric.higher_is_better else "lower"
    return metric.name, _about(metric), ", ".join(needs), better, language_of(metric) or "any"


def _about(declared: Any) -> str:
    return str(getdoc(declared if isinstance(declared, type) else type(declared))).partition("\n")[0]
