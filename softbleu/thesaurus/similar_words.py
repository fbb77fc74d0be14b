"""A user's list of similar words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.io.reading import bounded_lines

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers


def read_similar_words(path: Path, words: Sequence[str]) -> tuple[Integers, Floats]:
    """Read which of these words are similar: ascending `one * words + other`, either way round, and similarities.

    A line has two words and maybe their similarity, which is 1 otherwise, between tabs. Words are looked up as they
    are written, and in lower case. Raises `InputError`: a line is something else.
    """
    numbers: dict[str, list[int]] = {}
    for number, word in enumerate(words):
        for form in dict.fromkeys((word, word.lower())):
            numbers.setdefault(form, []).append(number)
    pairs: dict[int, float] = {}
    for one, other, similarity in _pairs(path):
        for left in numbers.get(one, ()):
            for right in numbers.get(other, ()):
                for key in (left * len(words) + right, right * len(words) + left):
                    pairs[key] = max(similarity, pairs.get(key, 0.0))
    keys = np.array(sorted(pairs), np.int64)
    return keys, np.array([pairs[key] for key in keys.tolist()], np.float64)


def _pairs(path: Path) -> Iterator[tuple[str, str, float]]:
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(bounded_lines(stream, str(path)), start=1):
                if not line.isspace():
                    yield _pair(line.decode().rstrip("\r\n"), f"{path}, line {number}")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: no list of similar words ({error})") from error


def _pair(line: str, place: str) -> tuple[str, str, float]:
    parts = line.split("\t")
    one, other, written = (*parts, "1")[:3] if len(parts) in (2, 3) else ("", "", "")
    try:
        similarity = float(written)
    except ValueError:
        similarity = -1.0
    if not (one and other and 0 <= similarity <= 1):
        raise InputError(
            f"{place}: two words and maybe a similarity from 0 to 1 between tabs are needed: {line[:40]!r}"
        )
    return one, other, similarity
