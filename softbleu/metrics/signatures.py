"""Signatures read back into metrics; the error for a signature of sacrebleu names the metric."""

from __future__ import annotations

import re
from collections.abc import Mapping

from softbleu.config.declare import all_settings, format_expression, own_settings, parse_signature
from softbleu.errors import InputError, UnknownNameError
from softbleu.metrics.base import METRICS, Metric
from softbleu.metrics.declared import changed
from softbleu.metrics.reading import class_of

_NOT_SETTINGS = (
    "version",
    "level",
    "nrefs",
    "blank",
    "against",
    "resegment",
    "gate",
    "gate-source",
    "documents",
    "corpus",
    "edits",
    "absent",
    "kept-annotators",
    "unit",
    "types",
)
"""Keys of a signature that describe the run, not the metric."""


def read_signature(signature: str) -> dict[str, str]:
    """Read a signature as `parse_signature` does; the error for a signature of sacrebleu names the metric."""
    if (same := _of_sacrebleu(signature)) is not None:
        raise InputError(f"that is a signature of sacrebleu, which does not say enough; its metric is '{same}' here")
    return parse_signature(signature)


def metric_from_signature(signature: str, **settings: object) -> Metric:
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
    names = {key: one.name for one in own_settings(metric) for key in (one.key, *one.earlier)}
    parts = {names[key]: value for key, value in pairs.items() if key in names}
    by_key = {key: one for one in all_settings(metric, parts, shared=True) for key in (one.key, *one.earlier)}
    # Short signatures of earlier versions left these out where they had the defaults of then.
    earlier = {"tokenize": "none", "threshold": 0.0, "penalty": "exact", "least-meaning": 0.0}
    if pairs.get("language") == "zh":
        earlier["merging"] = "errant"
    if "none" not in (pairs.get("layers", "none"), pairs.get("exact-words", "none")):
        earlier["reads"] = "tokens"
    signed: dict[str, object] = {by_key[key].name: value for key, value in earlier.items() if key in by_key}
    for key, value in pairs.items():
        if key not in by_key:
            raise UnknownNameError("signature key", key, sorted(by_key))
        declared = by_key[key]
        if declared.name not in settings:
            signed[declared.name] = declared.parse_signed(value)
    settings = signed | settings
    made = class_of(metric.name, settings)()
    # Earlier versions signed settings that no score depends on.
    read = {name: value for name, value in settings.items() if name not in made.unread(settings)}
    return changed(made, read, plain=True)


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
