"""Signatures: everything a score depends on, in one line that can be published and read back."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from softbleu.errors import InputError
from softbleu.version import __version__


def signature_of(*values: object, short: bool = False, **more: object) -> str:
    """Write all fields of frozen dataclasses, and further settings, as ``key:value|key:value|…``.

    A dataclass is written as the kind of thing it is and its name (`metric:bleu`, `matcher:vleu`, `tok:13a`), then
    its fields; fields that are such values themselves are written in their place. The version comes last.

    Parameters
    ----------
    values : frozen dataclasses with a `name` and a `signature_key`
    short : leave out fields that have their defaults, but for those whose metadata say ``always_signed``
    more : further settings, by key

    Examples
    --------
    >>> from softbleu.tokens import Tokenizer
    >>> signature_of(Tokenizer("13a"), vectors=None).rpartition("|")[0]
    'tok:13a|lowercase:no|vectors:none'
    >>> signature_of(Tokenizer("13a"), short=True).rpartition("|")[0]
    'tok:13a'
    """
    pairs: dict[str, str] = {}
    for value in values:
        _add(value, pairs, short)
    for key, value in more.items():
        pairs[key.replace("_", "-")] = format_value(value)
    pairs["version"] = __version__
    return "|".join(f"{key}:{value}" for key, value in pairs.items())


def _add(value: Any, pairs: dict[str, str], short: bool) -> None:
    pairs[value.signature_key] = value.name
    for field in fields(value):
        entry = getattr(value, field.name)
        if is_dataclass(entry) and hasattr(entry, "signature_key"):
            _add(entry, pairs, short)
        elif field.name != "name" and (not short or "always_signed" in field.metadata or entry != _default(field)):
            pairs[field.name.replace("_", "-")] = format_value(entry)


def _default(field: Field[Any]) -> object:
    return field.default_factory() if field.default_factory is not MISSING else field.default


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


def parse_signature(signature: str) -> dict[str, str]:
    """Read a signature back into its keys and values.

    >>> parse_signature("metric:bleu|matcher:vleu|threshold:0.8|version:0.1.0")["threshold"]
    '0.8'

    Raises
    ------
    InputError
        A part without a colon, or a key that comes twice.
    """
    pairs: dict[str, str] = {}
    for part in signature.strip().split("|"):
        key, colon, value = part.partition(":")
        if not colon or not key or key in pairs:
            raise InputError(f"not a signature at {part!r}: parts like 'matcher:vleu' joined by '|' are expected")
        pairs[key] = value
    return pairs
