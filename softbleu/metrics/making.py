"""Metrics from text: names, expressions such as ``vleu(threshold=0.8)``, and published signatures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from softbleu.config.declare import Setting, all_settings, check_given
from softbleu.config.signature import format_expression, parse_expression, parse_signature, split_name
from softbleu.errors import InputError, Parameter, UnknownNameError, keys_named
from softbleu.matching.matchers import MATCHERS
from softbleu.metrics.base import METRICS, Metric, with_settings

_NOT_SETTINGS = ("version", "level", "nrefs", "blank", "against", "resegment", "documents")
"""What a signature says of a run, not of the metric."""


def make_metric(
    metric: str | Metric = "bleu", *, unused: list[str] | None = None, plain: bool = False, **changed: Any
) -> Metric:
    """Make a metric from a name (of a matcher: BLEU over it), an expression or a value, and settings of any part.

    Settings in `changed` go before those of the expression.

    `unused` and `plain` are those of `softbleu.metrics.base.with_settings`.

    >>> metric = make_metric("vleu", threshold=0.8)
    >>> metric.matcher.threshold, str(metric)
    (0.8, 'vleu(threshold=0.8)')
    >>> read_metric("bleu(matcher=vleu, threshold=0.8)") == metric
    True
    """
    if isinstance(metric, str):
        name, settings = read_settings(metric)
        metric, changed = METRICS.find(name)(called=split_name(metric)[0] or ""), {**settings, **changed}
    if not isinstance(metric, Metric):
        raise InputError(f"a metric is a name, an expression or a value, not {type(metric).__name__}")
    return with_settings(metric, changed, unused, plain=plain)


def read_metric(text: str, **settings: Any) -> Metric:
    """Read the text of an expression, such as ``vleu(threshold=0.8)``; `settings` go before those in it.

    Raises
    ------
    InputError, UnknownNameError
        The expression cannot be read, or names no metric or setting.

    Examples
    --------
    >>> read_metric("vleu(threshold=0.8)", order=2)
    vleu(threshold=0.8, order=2)
    """
    return make_metric(text, **settings)


def read_signature(signature: str) -> dict[str, str]:
    """Read a signature that is to be run again as `parse_signature`; of one of sacrebleu an error says the metric."""
    if (same := _of_sacrebleu(signature)) is not None:
        raise InputError(f"that is a signature of sacrebleu, which does not say enough; its metric is '{same}' here")
    return parse_signature(signature)


def metric_from_signature(signature: str, **settings: Any) -> Metric:
    """Make the metric of a published signature, with other settings where they are given.

    Raises `InputError`: also for a signature of sacrebleu, which says less than is needed, with the metric.

    >>> str(metric_from_signature("metric:bleu|matcher:vleu|threshold:0.8|tok:13a|level:corpus"))
    'vleu(threshold=0.8)'
    """
    pairs = {
        key: value
        for key, value in read_signature(signature).items()
        if key not in _NOT_SETTINGS and not key.startswith("test-")
    }
    metric = METRICS.find(pairs.pop("metric", "bleu"))
    by_key = {key: one for one in settings_of({**pairs, "metric": metric.name}) for key in (one.key, *one.earlier)}
    # Short signatures of earlier versions left these out where they had the defaults of then.
    earlier = {"tokenize": "none", "threshold": 0.0, "penalty": "exact"}
    signed: dict[str, Any] = {name: value for name, value in earlier.items() if name in by_key}
    for key, value in pairs.items():
        if key not in by_key:
            raise UnknownNameError("signature key", key, sorted(by_key))
        declared = by_key[key]
        if declared.name not in settings:
            signed[declared.name] = _signed(declared, value)
    return make_metric(metric.name, plain=True, **{**signed, **settings})


def _of_sacrebleu(signature: str) -> str | None:
    """Write the metric of a signature of sacrebleu as an expression; None of another signature.

    >>> _of_sacrebleu("nrefs:1|case:lc|eff:no|tok:13a|smooth:floor[0.50]|version:2.6.0")
    'bleu(tokenize=13a, smooth=floor, smooth_value=0.50, lowercase=yes)'
    >>> _of_sacrebleu("nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.6.0")
    'chrf(char_order=6, word_order=2)'
    """
    pairs = dict(part.partition(":")[::2] for part in signature.strip().split("|"))
    if pairs.get("case") not in ("mixed", "lc") or "metric" in pairs:
        return None
    lower = {"lowercase": "yes"} if pairs["case"] == "lc" else {}
    if "nc" in pairs:
        orders = {"char_order": pairs["nc"], "word_order": pairs.get("nw", "0")}
        said = _said(pairs, {("space", "yes"): "whitespace", ("eff", "no"): "eps_smoothing"})
        return format_expression("chrf", orders | said | lower)
    if "punct" in pairs:
        named = {("norm", "yes"): "normalized", ("punct", "no"): "no_punct", ("asian", "yes"): "asian_support"}
        return format_expression("ter", _said(pairs, named) | (lower or {"lowercase": "no"}))
    way, value = re.findall(r"^(.*?)(?:\[(.*)\])?$", pairs.get("smooth", "exp"))[0]
    split = {"tokenize": pairs.get("tok", "13a"), "smooth": way, **({"smooth_value": value} if value else {})}
    return format_expression("bleu", split | _said(pairs, {("eff", "yes"): "effective_order"}) | lower)


def _said(pairs: Mapping[str, str], settings: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """Settings that are chosen by entries of a signature."""
    return {setting: "yes" for entry, setting in settings.items() if entry in pairs.items()}


def _signed(declared: Setting, value: str) -> Any:
    """Read the value of a setting from a signature, which knows of a file its name and content, not where it lies."""
    if not declared.hashed:
        return declared.parse(value)
    try:
        return declared.parse(value.rpartition("#")[0] or value)
    except InputError as error:
        if declared.name == "table" or "#" not in value:  # Scores, and what is no file
            raise
        raise InputError(*error.args, "; where it lies elsewhere, name it with ", Parameter(declared.name)) from None


def read_settings(text: str) -> tuple[str, dict[str, Any]]:
    """Read the name of the metric and the settings of an expression, maybe behind a name: `NAME=METRIC`.

    >>> read_settings("xleu(threshold=0.5, lowercase=yes)")
    ('bleu', {'matcher': 'xleu', 'threshold': 0.5, 'lowercase': True})
    """
    head, texts = parse_expression(split_name(text)[1])
    if MATCHERS.has_module(head) or (not METRICS.has_module(head) and MATCHERS.has(head)):
        head, texts = "bleu", {"matcher": head.lower(), **texts}
    elif not METRICS.has(head):
        raise METRICS.unknown(head, MATCHERS.names())
    known = {setting.name: setting for setting in settings_of({"metric": head, **texts})}
    settings: dict[str, Any] = {}
    for name, value in texts.items():
        if name not in known and name not in ("preset", "language"):
            valid = [*known, "preset", "language"]
            raise UnknownNameError("setting", name, valid)
        settings[name] = value
        if name in known:
            with keys_named(lambda error: f"expression {text!r}"):
                settings[name] = known[name].parse(value)
                check_given(known[name], settings[name])
    return head.lower(), settings


def settings_of(named: Mapping[str, Any]) -> list[Setting]:
    """All settings of the metric that is named there, over the matcher and tokenizer that are named there."""
    return list(all_settings(METRICS.find(named.get("metric", "bleu")), named, shared=True))
