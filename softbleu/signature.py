"""Signatures: everything a score depends on, in one line that can be published and read back."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from softbleu.version import __version__


def signature_of(*values: object, **more: object) -> str:
    """Write all fields of frozen dataclasses, and further settings, as ``key:value|key:value|…``.

    Values that have a `name` are written under their class's kind (metric, matcher, tok); fields that are
    such values themselves are written in their place. The version comes last.

    >>> from softbleu.tokens import Tokenizer
    >>> signature_of(Tokenizer("13a"), vectors=None).rpartition("|")[0]
    'tok:13a|lowercase:no|vectors:none'
    """
    pairs: dict[str, str] = {}
    for value in values:
        _add(value, pairs)
    for key, value in more.items():
        pairs[key] = format_value(value)
    pairs["version"] = __version__
    return "|".join(f"{key}:{value}" for key, value in pairs.items())


def _add(value: Any, pairs: dict[str, str]) -> None:
    pairs[value.signature_key] = value.name
    for field in fields(value):
        entry = getattr(value, field.name)
        if is_dataclass(entry):
            _add(entry, pairs)
        elif field.name != "name":
            pairs[field.name.replace("_", "-")] = format_value(entry)


def format_value(value: object) -> str:
    """Write a setting.

    >>> format_value(True), format_value(None), format_value(0.8), format_value("exp")
    ('yes', 'none', '0.8', 'exp')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value) if isinstance(value, float) else str(value)
