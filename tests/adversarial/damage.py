"""Files as accidents and enemies leave them: the same seed does the same damage."""

import random
from collections.abc import Callable

HOSTILE = [
    *(b"", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\x1b]0;x\x07\x1b[31m", b"\x85", b"\r", b"\t"),
    *(b"\n\n", b'"', b"'", b"\\", b"|||", b"nan", b"-inf", b"1e999", b"1e999999", b"-1", b"-0.0", b"1e-320"),
    *(b"9" * 40, b"9" * 5000, b"9223372036854775808", b"null", b"true", b"[" * 2000, b'{"a":' * 2000, b"[[a]]\n" * 3),
    *(b"../../x", b"/dev/stdin", b"=1+1", b"<script>", b"&#x1F600;", b"1979-05-27", b"a" * 70000),
    " \u200b\u2028".encode(),
]
"""What stands in a file for something else, or between two things."""

Damage = Callable[[bytes, random.Random], bytes]


def flip(content: bytes, draw: random.Random) -> bytes:
    """Other bits in a few bytes."""
    changed = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 8])):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def cut(content: bytes, draw: random.Random) -> bytes:
    """The beginning only."""
    return content[: draw.randrange(len(content))]


def lose(content: bytes, draw: random.Random) -> bytes:
    """A stretch missing."""
    start, end = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    return content[:start] + content[end:]


def repeat(content: bytes, draw: random.Random) -> bytes:
    """A stretch twice."""
    start, end = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    return content[:end] + content[start:end] + content[end:]


def insert(content: bytes, draw: random.Random) -> bytes:
    """Something hostile between two bytes."""
    at = draw.randrange(len(content) + 1)
    return content[:at] + draw.choice(HOSTILE) + content[at:]


def replace(content: bytes, draw: random.Random) -> bytes:
    """Something hostile in the place of a word."""
    words = content.split(b" ") if draw.random() < 0.5 else content.split(b"\n")
    separator = b" " if words == content.split(b" ") else b"\n"
    words[draw.randrange(len(words))] = draw.choice(HOSTILE)
    return separator.join(words)


def shuffle(content: bytes, draw: random.Random) -> bytes:
    """The lines in another order."""
    lines = content.splitlines(keepends=True)
    draw.shuffle(lines)
    return b"".join(lines)


DAMAGES: list[Damage] = [flip, cut, lose, repeat, insert, insert, replace, replace, shuffle]


def damaged(content: bytes, draw: random.Random) -> bytes:
    """The content after one or two mishaps."""
    for _ in range(draw.choice([1, 1, 2])):
        content = draw.choice(DAMAGES)(content, draw) or b"\n"
    return content
