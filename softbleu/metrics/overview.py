"""Tables of metrics, matchers, tokenizers, and of the settings of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from inspect import getdoc
from itertools import takewhile

from softbleu.config.declare import Declared, Setting, format_value, own_settings
from softbleu.embeddings.choice import VectorChoice
from softbleu.encoders.packaged import is_ready
from softbleu.errors import InputError
from softbleu.matching.matchers import MATCHERS, Exact
from softbleu.metrics.base import METRICS, Metric
from softbleu.metrics.declared import data_language
from softbleu.metrics.protocols import ReadsRows, matcher_of
from softbleu.metrics.reading import read_metric
from softbleu.tables import Table, TableColumn
from softbleu.text.tokens import TOKENIZERS, Tokenizer


def describe_metrics(language: str | None = None) -> Table:
    """Make a table of metrics: measure, needs, better direction, language, and other rewarded outputs.

    With a language, metrics that work in it by default, and the settings that it implies; outside English a fact says
    which to take first.

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
    taught = next((row[-1] for row in rows if row[0] == "trained"), "")
    facts = {} if taught == "trained" else {"take first": _FIRST if taught else _FIRST_ALONE}
    return Table((*columns[:-2], "as"), rows, facts)


_FIRST = "trained, with chrf++ beside it"
"""Metrics to take first in other languages than English; see docs/study/map.md, strings beside the map."""
_FIRST_ALONE = "softbleu and chrf; trained needs pip install '.[multilingual]'"


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
    return [Table((name, "better", "measures"), rows, wrapped=True) for name, rows in groups.items() if rows]


_GROUPS: dict[str, Callable[[Metric], bool]] = {  # The first that fits
    "exact matches": lambda metric: not _is_other(metric) and not metric.requires.vectors,
    "similar words": lambda metric: not _is_other(metric),
    "corrections": lambda metric: not isinstance(metric, ReadsRows),
    "latency": lambda metric: metric.requires.delays,
    "other programs": lambda metric: True,
}
_SECTION = re.compile(r">>>|.*\n-+(\n|$)")  # Of a docstring
_CITED = re.compile(r" \([^()]*\d{4}[^()]*\)")


def _is_other(metric: Metric) -> bool:
    requires = metric.requires
    return isinstance(metric, ReadsRows) or requires.source or requires.gold or requires.edits


def _short(declared: object) -> str:
    """Return the line about a metric without citations."""
    return _CITED.sub("", _about(declared)).rstrip(".")


def describe_matchers() -> Table:
    """Table of matchers.

    >>> next(row for row in describe_matchers().rows if row[0] == "exact")
    ('exact', 'Only equal n-grams match (BLEU: Papineni et al. 2002).')
    """
    return Table(("name", "matches"), [(kind.name, _about(kind)) for kind in MATCHERS.classes()], wrapped=True)


def describe_tokenizers() -> Table:
    """Make a table of tokenizers: their tokens, and their language.

    >>> next(row for row in describe_tokenizers().rows if row[0] == "zh")
    ('zh', 'Chinese characters; other text as 13a (by sacrebleu).', 'zh')
    """
    rows = [(kind.name, _about(kind), kind.language or "any") for kind in TOKENIZERS.classes()]
    shown = [TableColumn(name) for name in ("name", "language", "tokens")]
    return Table(("name", "tokens", "language"), rows, shown=shown, wrapped=True)


def describe_metric(metric: Metric) -> Table:
    """Make a table of the settings of a metric and of its matcher; facts are its measure, formula and needs.

    Examples
    --------
    >>> describe_metric(read_metric("ter")).facts["also rewards"]
    'in corrections, the source left as it is'
    >>> [row[:2] for row in describe_metric(read_metric("chrf++")).rows][:3]
    [('char_order', '6'), ('word_order', '2'), ('beta', '2.0')]
    """
    needs, better, language, rewards = _metric_row(metric)[2:]
    # A latency has a function; other metrics describe themselves, or the metric does of which they are a variant.
    described_by = [kind for kind in type(metric).__mro__ if vars(kind).get("name")]
    how = next(filter(None, map(_paragraphs, [getattr(metric, "formula", metric), *described_by])), [])
    facts = {"metric": str(metric), "measures": _about(metric), "how": " ".join(how), "needs": needs}
    facts |= {"better": better, "language": language, "also rewards": rewards}
    matcher = matcher_of(metric)
    return _settings_table([metric] if matcher is None else [metric, matcher], facts)


def describe_part(kind: type[Declared]) -> Table:
    """Make a table of the settings of a matcher or tokenizer; facts are its description.

    Examples
    --------
    >>> describe_part(TOKENIZERS.find("zh")).facts["does"]
    'Chinese characters; other text as 13a (by sacrebleu).'
    """
    facts = {kind.kind: kind.name, "does": _about(kind), "how": " ".join(_paragraphs(kind))}
    return _settings_table([kind], facts)


def _settings_table(described: Sequence[Declared | type[Declared]], facts: Mapping[str, str | None]) -> Table:
    rows = [
        (setting.name, default, values, setting.help)
        for declared in described
        for setting, values, default in setting_rows(declared)
    ]
    known = {name: fact for name, fact in facts.items() if fact}
    shown = [TableColumn(name) for name in ("setting", "default", "meaning")]
    columns = ("setting", "default", "values", "meaning")
    return Table(columns, rows, known, empty="no settings", shown=shown, wrapped=True)


def setting_rows(declared: Declared | type[Declared]) -> Iterator[tuple[Setting, str, str]]:
    """Yield the settings of a class or value with their possible values, and their defaults or values, in words.

    Settings that all have, of tokens and vectors, are left out, but those of the base class itself.

    Examples
    --------
    >>> [(setting.name, *words) for setting, *words in setting_rows(METRICS.find("chrf"))][2]
    ('beta', 'a number, 0 to 1,000,000', '2.0')
    """
    kind = declared if isinstance(declared, type) else type(declared)
    for setting in own_settings(kind):
        if setting.part is VectorChoice or (kind.kind == "tokenizer" and kind.name and setting.shared):
            continue
        value = setting.default if declared is kind else getattr(declared, setting.field)
        if setting.part is not None and not setting.names:
            yield from setting_rows(setting.part)
        elif setting.name != "quantile":
            default = value.name if setting.part else setting.unset if value == setting.default else ""
            yield setting, _values_of(setting), default or format_value(value)


def _values_of(setting: Setting) -> str:
    """Name the possible values of a setting."""
    if setting.part is Tokenizer:
        return "a tokenizer"
    if setting.names:
        return ", ".join(setting.names)
    least, most = ("" if bound is None else f"{bound:,.10g}" for bound in (setting.least, setting.most))
    kind = setting.metavar if setting.kind == "anything" else setting.kind
    if least and most:
        return f"{kind}, {least} to {most}"
    return f"{kind}, {least} or more" if least else kind


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
            ("vectors", requires.vectors and not requires.pieces and not metric.vector_choice.without_vectors),
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
    return _paragraphs_of(declared)[0]


def _paragraphs(declared: object) -> list[str]:
    """Return the paragraphs of a docstring below its first line, before its sections and examples."""
    described = takewhile(lambda text: not _SECTION.match(text), _paragraphs_of(declared)[1:])
    return [" ".join(text.split()) for text in described]


def _paragraphs_of(declared: object) -> list[str]:
    described = declared if isinstance(declared, type) or callable(declared) else type(declared)
    return str(getdoc(described)).split("\n\n")
