"""Metrics read from text: expressions and names, with settings that some of them may not have."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import NamedTuple

from softbleu.config.declare import all_settings, check_given, parse_expression, split_name
from softbleu.errors import InputError, Parameter, UnknownNameError, keys_named
from softbleu.matching.matchers import MATCHERS
from softbleu.metrics.base import METRICS, Metric
from softbleu.metrics.declared import changed, fitted, known_settings
from softbleu.metrics.protocols import matcher_of
from softbleu.types import Keywords

Chosen = Callable[[str, str | None, str | None], Keywords]
"""Settings for a metric, by its name and those of its matcher and its tokenizer, as far as they are given."""
_BETWEEN = re.compile(r"[,;|&](?![^(]*\))|(?<=\w)\+(?=\w)")


def read_metric(text: str | Metric = "bleu", **settings: object) -> Metric:
    """Read a metric from an expression, such as ``vleu(threshold=0.8)``; `settings` override its settings.

    The name of a matcher means BLEU over this matcher.

    Raises
    ------
    InputError, UnknownNameError
        The expression cannot be read, or names no metric or setting.

    Examples
    --------
    >>> read_metric("vleu(threshold=0.8)", order=2)
    vleu(threshold=0.8, order=2)
    >>> read_metric("bleu(matcher=vleu, threshold=0.8)") == read_metric("vleu", threshold=0.8)
    True
    """
    return changed(*read_given(text, lambda *_: settings))


class ReadMetric(NamedTuple):
    """Name and settings of an expression."""

    name: str
    settings: Keywords


def fit_metric(metric: str | Metric, settings: Keywords) -> Metric:
    """Make a metric from an expression or a value with the settings in `settings` that it has.

    >>> fit_metric("chrf", {"char_order": 4, "threshold": 0.8})
    chrf(char_order=4)
    """
    made, _ = fitted(*read_given(metric, lambda *_: settings))
    return made


def read_given(metric: str | ReadMetric | Metric, chosen: Chosen) -> tuple[Metric, Keywords]:
    """Make the metric of an expression, whose settings join those `chosen`; a value stays as it is."""
    if isinstance(metric, str):
        metric = read_settings(metric)
    if isinstance(metric, ReadMetric):
        name, read = metric
        settings = read | chosen(name, read.get("matcher"), read.get("tokenize"))
        made = class_of(name, settings)()
        if unread := [each for each in made.unread(settings) if each in read]:
            valid = [each for each in known_settings(made, {}) if each not in unread]
            raise UnknownNameError("setting", unread[0], valid)
        return made, settings
    if not isinstance(metric, Metric):
        raise InputError(f"a metric is a name, an expression or a value, not {type(metric).__name__}")
    over = matcher_of(metric)
    return metric, chosen(metric.name, over.name if over else None, metric.tokenizer.name)


def class_of(name: str, settings: Mapping[str, object]) -> type[Metric]:
    """Find the class of a metric by its name: BLEU over some matchers, which `settings` may name, has its own."""
    kind = METRICS.find(name)
    matcher = settings.get("matcher")
    named = (own for own in kind.__subclasses__() if own.__module__ == kind.__module__ and own.name == kind.name)
    return next((own for own in named if matcher == own.__name__.lower()), kind)


def _check_single(expression: str) -> None:
    """Check that an unreadable expression is not several metrics with a mark between them: `bleu,chrf`."""
    parts = [part.strip() for part in _BETWEEN.split(expression)]
    heads = [part.partition("(")[0] for part in parts]
    if len(parts) > 1 and any(METRICS.get(head) or MATCHERS.get(head) for head in heads if head):
        parts = [*filter(None, parts)]
        several = Parameter("metrics", " ".join(map(shlex.quote, parts)), python=f"metrics={parts}")
        raise InputError(f"{expression!r}: separate metrics by spaces, as in ", several)


def read_settings(text: str) -> ReadMetric:
    """Read the name of the metric and the settings of an expression, and the name it is `called` by: `NAME=METRIC`.

    >>> read_settings("soft=xleu(threshold=0.5, lowercase=yes)")
    ReadMetric(name='bleu', settings={'called': 'soft', 'matcher': 'xleu', 'threshold': 0.5, 'lowercase': True})
    """
    called, expression = split_name(text)
    try:
        head, texts = parse_expression(expression)
    except InputError:
        _check_single(expression)
        raise
    own = MATCHERS.get(head, elsewhere=False)
    if own is None and METRICS.get(head) is None:
        own = MATCHERS.get(head)
        if own is None:
            _check_single(expression)
            raise METRICS.unknown(head, MATCHERS.names())
    if own is not None:
        head, texts = "bleu", {"matcher": head.lower(), **texts}
    known = {setting.name: setting for setting in all_settings(METRICS.find(head), texts, shared=True)}
    settings: dict[str, object] = {} if called is None else {"called": called}
    for name, value in texts.items():
        if name not in known and name not in ("preset", "language"):
            valid = [*known, "preset", "language"]
            raise UnknownNameError("setting", name, valid)
        settings[name] = value
        if name in known:
            with keys_named(lambda error: f"expression {text!r}"):
                settings[name] = known[name].parse(value)
                check_given(known[name], settings[name])
    return ReadMetric(head.lower(), settings)
