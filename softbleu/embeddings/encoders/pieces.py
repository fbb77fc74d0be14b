"""Words of lines to pieces, by a tokenizer of the `tokenizers` library."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.data_files import check_plain
from softbleu.embeddings.encoders.base import Pieces
from softbleu.errors import InputError, VectorError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_SURROGATE = re.compile("[\ud800-\udfff]")


def read_tokenizer(path: Path) -> Tokenizer:
    """Read a ``tokenizer.json``; what it says of cutting and padding is switched off."""
    from tokenizers import Tokenizer

    try:
        check_plain(path)
        tokenizer = Tokenizer.from_file(str(path))
    except InputError as error:
        raise VectorError(f"{error}; an encoder needs its tokenizer.json") from error
    except Exception as error:
        # The library raises nothing more specific.
        raise VectorError(f"{path}: no tokenizer that can be read ({' '.join(str(error).split())})") from error
    if tokenizer.post_processor is not None:
        for mark in _unknown_marks(json.loads(tokenizer.post_processor.__getstate__())):
            # The library would panic.
            raise VectorError(f"{path}: no tokenizer that can be used (its post_processor lacks {mark!r})")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _unknown_marks(processor: Mapping[str, Any]) -> Iterator[str]:
    """What templates put into lines, but do not say what it is."""
    for each in processor.get("processors", ()):
        yield from _unknown_marks(each)
    for piece in (*processor.get("single", ()), *processor.get("pair", ())):
        if "SpecialToken" in piece and piece["SpecialToken"]["id"] not in processor.get("special_tokens", ()):
            yield piece["SpecialToken"]["id"]


def cut_lines(tokenizer: Tokenizer, lines: Sequence[Sequence[str]], vocabulary: int, name: str) -> Pieces:
    """Cut lines into pieces; see `Encoder.tokenize`.

    Raises `VectorError`: the tokenizer fails, or gives a piece that the encoder does not know.
    """
    ids: list[int] = []
    words: list[int] = []
    offsets = np.zeros(len(lines) + 1, np.int64)
    for number, line in enumerate(lines):
        # A line at a time: many at once would start threads, after which the process cannot fork in peace.
        text = _SURROGATE.sub("\ufffd", " ".join(line))
        try:
            found = tokenizer.encode(text)
        except Exception as error:
            # The library raises nothing more specific.
            raise VectorError(f"{name}: its tokenizer cannot cut {text[:40]!r} ({error})") from error
        ids += found.ids
        words += _words_of(line, [start for start, _ in found.offsets], found.special_tokens_mask)
        offsets[number + 1] = len(ids)
    pieces = Pieces(np.array(ids, np.int32), np.array(words, np.int32), offsets)
    if len(ids) and (most := int(pieces.ids.max())) >= vocabulary:
        raise VectorError(f"{name}: its tokenizer gives piece {most}, of {vocabulary} that it knows: it does not fit")
    return pieces


def _words_of(line: Sequence[str], starts: Sequence[int], boundary: Sequence[int]) -> list[int]:
    """Give each piece the number of the word that it starts in, or before which space; -1 to boundary pieces.

    >>> _words_of(["a", "bc"], [0, 0, 2, 3, 0], [1, 0, 0, 0, 1])
    [-1, 0, 1, 1, -1]
    >>> _words_of(["a", "bc"], [0, 1], [0, 0])
    [0, 1]
    """
    words = []
    word, end = 0, len(line[0]) if line else 0
    for start, outside in zip(starts, boundary, strict=True):
        if outside:
            words.append(-1)
            continue
        while start >= end and word + 1 < len(line):
            word += 1
            end += 1 + len(line[word])
        words.append(word if line else -1)
    return words
