"""Tables of metrics, matchers, tokenizers."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from inspect import getdoc
from textwrap import shorten

from softbleu.encoders.packaged import is_ready
from softbleu.errors import InputError
from softbleu.matching.matchers import MATCHERS, Exact
from softbleu.metrics.base import METRICS, Metric
from softbleu.metrics.declared import data_language
from softbleu.metrics.protocols import ReadsRows, matcher_of
from softbleu.metrics.reading import read_metric
from softbleu.tables import Table
from softbleu.text.tokens import TOKENIZERS


def describe_metrics(language: str | None = None) -> Table:
    """Make a table of metrics: measure, needs, better direction, language, and other rewarded outputs.

    With a language, metrics that work in it by default, and the settings that it implies.

    >>> next(row[2:] for row in describe_metrics().rows if row[0] == "ter")
    ('references', 'lower', 'any', 'in corrections, the source left as it is')
    >>> [row[2] for row in describe_metrics().rows if row[0] in ("m2", "uot")]
    ['gold edits', 'source, gold edits or references, vectors in context']
    """
    columns = ("name", "measures", "needs", "better", "language", "also rewards")
    if language is None:
        return Table(columns, [_metric_row(kind()) for kind in METRICS.classes()])
    rows = []
    for name in METRICS.names():
        with suppress(InputError):
            made = read_metric(name, language=language)
            choice = made.vector_choice
            if made.requires.vectors and choice.of_extra and not is_ready(str(choice.vectors)):
                continue
            rows.append((*_metric_row(made)[:-2], str(made)))
    return Table((*columns[:-2], "as"), rows)


def metric_groups() -> list[Table]:
    """Make a table of each group of metrics, with a short line for each and for BLEU over each soft matcher.

    >>> [table.columns[0] for table in metric_groups()][:3]
    ['exact matches', 'similar words', 'corrections']
    >>> [row[0] for row in metric_groups()[1].rows if row[0] in ("sleu", "vleu", "xleu")]
    ['sleu', 'vleu', 'xleu']
    """
    matchers = {kind.name: kind for kind in MATCHERS.classes() if kind.name != Exact.name}
    groups: dict[str, list[tuple[str, str, str]]] = {name: [] for name in _GROUPS}
    groups["similar words"] = [(name, "higher", _short(kind)) for name, kind in matchers.items()]
    for kind in METRICS.classes():
        metric = kind()
        named = (metric.name, "higher" if metric.higher_is_better else "lower", _short(metric))
        groups[next(name for name, fits in _GROUPS.items() if fits(metric))].append(named)
    return [Table((name, "better", "measures"), rows) for name, rows in groups.items() if rows]


_GROUPS: dict[str, Callable[[Metric], bool]] = {  # The first that fits
    "exact matches": lambda metric: not _is_other(metric) and not metric.requires.vectors,
    "similar words": lambda metric: not _is_other(metric),
    "corrections": lambda metric: not isinstance(metric, ReadsRows),
    "latency": lambda metric: metric.requires.delays,
    "other programs": lambda metric: True,
}
_LEAST, _SHORT = 18, 56  # Characters of a line about a metric, in 80 columns
_PART = re.compile(r"[,:;] |,? (?:by|that|who|with|for|at|from|where|such|or|given|judged) ")
_CITED = re.compile(r" \([^()]*\d{4}[^()]*\)")


def _is_other(metric: Metric) -> bool:
    requires = metric.requires
    return isinstance(metric, ReadsRows) or requires.source or requires.gold or requires.edits


def _short(declared: object) -> str:
    """Cut the line about a metric where a part of the sentence begins."""
    text = _CITED.sub("", _about(declared)).rstrip(".")
    ends = [end.start() for end in _PART.finditer(text) if _LEAST < end.start() <= _SHORT]
    return text if len(text) <= _SHORT else text[: ends[-1]] if ends else shorten(text, _SHORT, placeholder=" …")


def describe_matchers() -> Table:
    """Table of matchers.

    >>> next(row for row in describe_matchers().rows if row[0] == "exact")
    ('exact', 'Only equal n-grams match (BLEU: Papineni et al. 2002).')
    """
    return Table(("name", "matches"), [(kind.name, _about(kind)) for kind in MATCHERS.classes()])


def describe_tokenizers() -> Table:
    """Make a table of tokenizers: their tokens, and their language.

    >>> next(row for row in describe_tokenizers().rows if row[0] == "zh")
    ('zh', 'Chinese characters; other text as 13a (by sacrebleu).', 'zh')
    """
    rows = [(kind.name, _about(kind), kind.language or "any") for kind in TOKENIZERS.classes()]
    return Table(("name", "tokens", "language"), rows)


def _metric_row(metric: Metric) -> tuple[str | None, ...]:
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
            ("logs with delays", requires.delays),
            ("scores of segments", isinstance(metric, ReadsRows) and not requires.delays),
        )
        if needed
    ]
    if matcher_of(metric) is not None and not requires.vectors:
        needs.append("vectors for soft matchers")
    better = "higher" if metric.higher_is_better else "lower"
    # A metric may name outputs that score beside or above honest systems (CoNLL-2014, GMEG).
    language, rewards = data_language(metric) or "any", getattr(metric, "also_rewards", None)
    return metric.name, _about(metric), ", ".join(needs), better, language, rewards


def _about(declared: object) -> str:
    return str(getdoc(declared if isinstance(declared, type) else type(declared))).partition("\n")[0]
