"""Settings as text: signatures, which can be published and read back, and expressions, which users write.

A signature is ``metric:bleu|matcher:vleu|threshold:0.8|…``, an expression ``bleu(matcher=vleu, threshold=0.8)``.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from softbleu.config.declare import Declared
from softbleu.errors import REMOVED, InputError
from softbleu.version import __version__

_ESCAPE = re.compile(r"(?:%[0-9A-F]{2})+")
_TOKEN = re.compile(r"""\s*(?:([(),=])|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([^\s(),="']+)|$)""", re.DOTALL)
_BARE = re.compile(r"[^\s(),=\"'\\]+")


def signature_of(
    *values: Declared, short: bool = False, without: str = "", more: Mapping[str, object] | None = None
) -> str:
    """Write all settings of declared values, and further ones, as ``key:value|key:value|…``.

    A value is written as the kind of thing it is and its name (`metric:bleu`, `matcher:vleu`), then its settings;
    those of its parts in their place. The version comes last. What would end an entry, and what no line can show, is
    written as ``%7C``. Short signatures leave out defaults, but for what is always signed; `without` names a field
    that is left out; `more` are further settings, which go before those of the values.

    >>> from softbleu.text.tokens import Tokenizer13a
    >>> signature_of(Tokenizer13a(), short=True).rpartition("|")[0]
    'tokenizer:13a|lowercase:no'
    """
    pairs: dict[str, str] = {}
    for value in values:
        if value.name:
            pairs[value.kind] = value.name
        for setting, entry in value.settings(without):
            needed = setting.part or setting.always_signed or not (short or setting.signed_if_set)
            if needed or entry != setting.default:
                pairs[setting.key] = format_value(entry)
    for key, entry in (more or {}).items():
        pairs[key.replace("_", "-")] = format_value(entry)
    pairs["version"] = __version__
    return "|".join(f"{key}:{_escape(value)}" for key, value in pairs.items())


def format_value(value: object) -> str:
    """Write the value of a setting.

    >>> format_value(True), format_value(None), format_value(0.8), format_value("exp")
    ('yes', 'none', '0.8', 'exp')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value) if isinstance(value, float) else str(value)


def parse_signature(signature: str) -> dict[str, str]:
    """Read a signature back into its keys and values, without settings that are gone and changed nothing.

    >>> parse_signature("metric:bleu|matcher:vleu|threshold:0.8|idf:a%7Cb.txt#0|version:0.1.0")["idf"]
    'a|b.txt#0'
    """
    pairs: dict[str, str] = {}
    for part in signature.strip().split("|"):
        key, colon, value = part.partition(":")
        if not colon or not key or key in pairs:
            raise InputError(f"not a signature at {part!r}: parts like 'matcher:vleu' joined by '|' are expected")
        try:
            value = _ESCAPE.sub(lambda match: unquote(match[0], errors="surrogatepass"), value)
        except UnicodeDecodeError:
            raise InputError(f"not a signature at {part!r}: %XX are no bytes of UTF-8; write a '%' as %25") from None
        if key not in REMOVED or value != REMOVED[key]:
            pairs[key] = value
    return pairs


def _escape(text: str) -> str:
    return "".join(
        quote(char, safe="", errors="surrogatepass") if char in "%|" or not char.isprintable() else char
        for char in text
    )


def format_expression(head: str, settings: Mapping[str, Any]) -> str:
    """Write a name and settings as users do.

    >>> format_expression("vleu", {"threshold": 0.8, "vectors": "my vectors"})
    'vleu(threshold=0.8, vectors="my vectors")'
    """
    written = [f"{name}={_quoted(format_value(value))}" for name, value in settings.items()]
    return f"{head}({', '.join(written)})" if written else head


def parse_expression(text: str) -> tuple[str, dict[str, str]]:
    """Read a name and settings, as text; those of a part that has settings of its own join the others.

    >>> parse_expression("gleu(matcher=vleu(threshold=0.8), order = 3)")
    ('gleu', {'matcher': 'vleu', 'threshold': '0.8', 'order': '3'})
    """
    tokens = list(_tokens(text))
    settings: dict[str, str] = {}
    try:
        head, end = _read_call(text, tokens, 0, settings)
    except RecursionError:
        raise InputError(f"an expression of {len(text)} characters has too many parentheses within others") from None
    if tokens[end][0]:
        raise _unexpected(text, tokens[end])
    return head, settings


_Token = tuple[str, str, int]  # Its mark, `text`, or nothing at the end; what it says; where it stands


def split_name(text: str) -> tuple[str | None, str]:
    """Split off a name that is given before an equals sign.

    >>> split_name("GLEU=scores.tsv"), split_name("scores.tsv"), split_name("metric:bleu|vectors:a=b")
    (('GLEU', 'scores.tsv'), (None, 'scores.tsv'), (None, 'metric:bleu|vectors:a=b'))
    >>> split_name("soft=vleu(threshold=0.8)"), split_name("vleu(threshold=0.8)")
    (('soft', 'vleu(threshold=0.8)'), (None, 'vleu(threshold=0.8)'))
    """
    name, equals, rest = text.partition("=")
    if not equals or not name or not rest or set(name) & set("|/\\") or name.count("(") != name.count(")"):
        return None, text
    return name, rest


def _tokens(text: str) -> list[_Token]:
    read: list[_Token] = []
    place = 0
    while True:
        match = _TOKEN.match(text, place)
        if match is None:
            raise InputError(f"expression {text!r}: a quotation mark at character {place + 1} is never closed")
        mark, quoted, bare = match.groups()
        said = _unquoted(text, quoted) if quoted else bare or mark or ""
        read.append(
            (mark or ("text" if quoted or bare else ""), said, match.end() - len(quoted or bare or mark or ""))
        )
        if not read[-1][0]:
            return read
        place = match.end()


def _unquoted(text: str, quoted: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return str(ast.literal_eval(quoted))
        except (SyntaxError, ValueError, Warning):
            raise InputError(f"expression {text!r}: cannot read {quoted!r}; write a backslash twice") from None


def _read_call(text: str, tokens: list[_Token], place: int, settings: dict[str, str]) -> tuple[str, int]:
    """Read `name` or `name(key=value, …)` from the token at that place on; return the name and the place after it."""
    kind, name, _ = tokens[place]
    if kind != "text":
        raise _unexpected(text, tokens[place])
    place += 1
    if tokens[place][0] != "(":
        return name, place
    place += 1
    while tokens[place][0] != ")":
        key = tokens[place]
        if key[0] != "text" or tokens[place + 1][0] != "=":
            raise _unexpected(text, key if key[0] != "text" else tokens[place + 1])
        if key[1].replace("-", "_") in settings:
            raise InputError(f"expression {text!r}: {key[1]!r} is given twice")
        settings[key[1].replace("-", "_")] = ""
        value, place = _read_call(text, tokens, place + 2, settings)
        settings[key[1].replace("-", "_")] = value
        if tokens[place][0] not in (",", ")"):
            raise _unexpected(text, tokens[place])
        place += tokens[place][0] == ","
    return name, place + 1


def _unexpected(text: str, token: _Token) -> InputError:
    where = f"{token[1]!r} at character {token[2] + 1}" if token[0] else "end"
    return InputError(f"expression {text!r}: unexpected {where}; write it like vleu(threshold=0.8, order=4)")


def _quoted(text: str) -> str:
    if not text.isprintable():
        return ascii(text)
    return text if _BARE.fullmatch(text) else json.dumps(text, ensure_ascii=False)
