"""Subwords of lines by the `tokenizers` library; windows of long lines; vectors of words."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.vectors import advised, unit_rows
from softbleu.encoders.base import Pieces, PlacedLine
from softbleu.errors import VectorError
from softbleu.io.arguments import Limit
from softbleu.io.reading import load_tokenizer, no_panic

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from softbleu.types import Fields

_MOST_GROWTH = 1000  # Factor by which a normalizer may lengthen a text; normalizers of known models do not
_SURROGATE = re.compile("[\ud800-\udfff]")
_AT_ONCE = 100_000  # Characters to split at once, or a longer word: the library takes up to 1 KB for each
_LIMIT = Limit("the tokenizer of an encoder", "characters", 1_000_000, "a paragraph without blanks: 10,000")
"""Limit per word."""


def read_tokenizer(path: Path) -> Tokenizer:
    """Read a ``tokenizer.json`` with complete templates; see `load_tokenizer`."""
    with advised("an encoder needs its tokenizer.json"):
        tokenizer = load_tokenizer(path)
    check_tokenizer(tokenizer, path)
    return tokenizer


def check_tokenizer(tokenizer: Tokenizer, path: Path) -> None:
    """Check that templates are complete and that the normalizer keeps texts at a reasonable length."""
    if tokenizer.post_processor is not None:
        for mark in _unknown_marks(json.loads(tokenizer.post_processor.__getstate__())):
            # The library would panic.
            raise VectorError(f"{path}: unusable tokenizer (its post_processor lacks {mark!r})")
    if tokenizer.normalizer is not None:
        growth = _growth(json.loads(tokenizer.normalizer.__getstate__()))
        if growth > _MOST_GROWTH:
            raise VectorError(f"{path}: unusable tokenizer (its normalizer makes text {growth} times longer)")


def _unknown_marks(processor: Fields) -> Iterator[str]:
    """Yield marks that templates use but do not define."""
    for inner in processor.get("processors", ()):
        yield from _unknown_marks(inner)
    for piece in (*processor.get("single", ()), *processor.get("pair", ())):
        if "SpecialToken" in piece and piece["SpecialToken"]["id"] not in processor.get("special_tokens", ()):
            yield piece["SpecialToken"]["id"]


def _growth(normalizer: Fields) -> int:
    """Compute the factor by which a text may grow; consecutive replacements multiply."""
    charsmap = base64.b64decode(normalizer.get("precompiled_charsmap") or "")
    replacements = charsmap[4 + int.from_bytes(charsmap[:4], "little") :].split(b"\0")
    inserted = normalizer.get("content", ""), normalizer.get("prepend", ""), *replacements
    return max(1, *map(len, inserted)) * prod(_growth(inner) for inner in normalizer.get("normalizers", ()))


class CutsText(Protocol):
    """A tokenizer of the library, or `PartialTokenizer`."""

    def encode(self, text: str) -> Any:
        """Split a text; the result has the `ids`, `offsets` and `special_tokens_mask` of its pieces."""


def cut_lines(tokenizer: CutsText, lines: Sequence[PlacedLine], vocabulary: int, name: str) -> Pieces:
    """Split lines into pieces; see `Encoder.tokenize`.

    A piece belongs to the word in which it starts, or before it in a space, and to the further words that it reaches.
    Raises `VectorError`: the tokenizer fails, or returns a piece unknown to the encoder.
    """
    ids: list[int] = []
    words: list[int] = []
    also: list[tuple[int, int]] = []
    offsets = np.zeros(len(lines) + 1, np.int64)
    parts = [list(_parts_of(line)) for line in lines]
    if (prepare := getattr(tokenizer, "prepare", None)) is not None:
        prepare([text for several in parts for text, *_ in several])
    for number, several in enumerate(parts):
        # One line at a time: a batch would start threads, after which the process cannot fork safely.
        for numbers, owners, further in _joined([_cut(tokenizer, part, name) for part in several]):
            also += [(len(ids) + place, word) for place, word in further]
            ids += numbers
            words += owners
        offsets[number + 1] = len(ids)
    if (most := max(ids, default=-1)) >= vocabulary:
        raise VectorError(
            f"{name}: its tokenizer gives piece {most}, but the encoder has {vocabulary} pieces: it does not fit"
        )
    return Pieces(
        np.array(ids, np.int32), np.array(words, np.int32), offsets, np.array(also, np.int64).reshape(-1, 2)
    )


_Part = tuple[str, list[tuple[int, int]], int]
"""Part of a line: its text, the places of its words, and the number of the first of them."""
_Cut = tuple[list[int], list[int], list[tuple[int, int]]]
"""Ids of pieces, their words, and further words of pieces: position of the piece and number of the word."""


def _cut(tokenizer: CutsText, part: _Part, name: str) -> _Cut:
    """Split a part of a line into pieces with the numbers of their words."""
    text, places, first = part
    try:
        with no_panic():
            encoding = tokenizer.encode(text)
    except Exception as error:
        # The library raises no specific exceptions.
        raise VectorError(f"{name}: its tokenizer cannot cut {text[:40]!r} ({error})") from error
    owners, also = _words_of(places, encoding.offsets, encoding.special_tokens_mask)
    return (
        encoding.ids,
        [word + first if word >= 0 else word for word in owners],
        [(at, word + first) for at, word in also],
    )


def _parts_of(line: PlacedLine) -> Iterator[_Part]:
    """Yield the parts of a line, cut before words; a short line has one part."""
    bounds, size = [0], 0
    if len(line.text) > _AT_ONCE:
        for number, (start, end) in enumerate(line.places):
            if end - start > _AT_ONCE:
                _LIMIT.check(end - start, f"a word of {end - start:,} characters")
            size = end - line.places[bounds[-1]][0] + 1
            if size > _AT_ONCE and number > bounds[-1]:
                bounds.append(number)
    for low, high in pairwise([*bounds, len(line.words)]):
        # Parts after the first begin with the blank before them, if any.
        start = line.places[low - 1][1] if low else 0
        stop = line.places[high - 1][1] if high < len(line.words) else len(line.text)
        text = _SURROGATE.sub("\ufffd", line.text[start:stop])
        yield text, [(first - start, end - start) for first, end in line.places[low:high]], low


def _joined(parts: Sequence[_Cut]) -> Iterator[_Cut]:
    """Yield the parts of a line, keeping boundary pieces only at its ends.

    >>> list(_joined([([1, 5, 2], [-1, 0, -1], []), ([1, 2], [-1, -1], []), ([1, 6, 2], [-1, 2, -1], [(1, 3)])]))
    [([1, 5], [-1, 0], []), ([6, 2], [2, -1], [(0, 3)])]
    """
    inner = [part for part in parts if max(part[1], default=-1) >= 0] or parts[:1]
    for number, (ids, owners, also) in enumerate(inner):
        places = [place for place, word in enumerate(owners) if word >= 0]
        low = places[0] if number else 0
        high = places[-1] + 1 if number < len(inner) - 1 else len(ids)
        yield ids[low:high], owners[low:high], [(place - low, word) for place, word in also]


def _words_of(
    places: Sequence[tuple[int, int]], pieces: Sequence[tuple[int, int]], boundary: Sequence[int]
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the number of the word in which each piece starts, or before it in a space; -1 for boundary pieces.

    Also return the position of each piece that reaches further words, once with each of these.

    >>> _words_of([(0, 1), (2, 4)], [(0, 0), (0, 1), (2, 3), (3, 4), (0, 0)], [1, 0, 0, 0, 1])
    ([-1, 0, 1, 1, -1], [])
    >>> _words_of([(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 3)], [0, 0])
    ([0, 1], [(1, 2)])
    """
    words: list[int] = []
    also: list[tuple[int, int]] = []
    word = 0
    for place, ((start, end), outside) in enumerate(zip(pieces, boundary, strict=True)):
        if outside:
            words.append(-1)
            continue
        while word + 1 < len(places) and start >= places[word][1]:
            word += 1
        words.append(word if places else -1)
        further = word + 1
        while further < len(places) and places[further][0] < end:
            also.append((place, further))
            further += 1
    return words, also


def in_texts(pieces: Pieces, texts: Sequence[Sequence[int]]) -> tuple[Pieces, list[NDArray[np.int64]]]:
    """Join lines of texts, given by number; also return the positions of the last line of each text.

    Boundary pieces at the beginning of lines are kept once, before the text; boundary pieces at the end of a line
    separate it from the next (Vernikos et al. 2022, section 3). A line without words gets no context.

    >>> pieces = Pieces(np.array([1, 5, 2, 1, 6, 7, 2]), np.array([-1, 0, -1, -1, 0, 1, -1]), np.array([0, 3, 7]))
    >>> together, places = in_texts(pieces, [(0, 1)])
    >>> together.ids.tolist(), places[0].tolist()
    ([1, 5, 2, 6, 7, 2], [0, 3, 4, 5])
    """
    bounds = list(pairwise(pieces.offsets.tolist()))
    inner = pieces.words >= 0
    parts, offsets, places = [np.arange(0)], [0], []
    for text in texts:
        heads = {
            line: int(inner[slice(*bounds[line])].argmax()) for line in text if inner[slice(*bounds[line])].any()
        }
        *earlier, last = text
        start, end = bounds[last]
        head = heads.get(last, 0)
        before = [line for line in earlier if line in heads and last in heads]
        inside = [np.arange(bounds[line][0] + heads[line], bounds[line][1]) for line in before]
        parts += [np.arange(start, start + head), *inside, np.arange(start + head, end)]
        first, stop = offsets[-1], offsets[-1] + end - start + sum(map(len, inside))
        places.append(np.append(np.arange(first, first + head), np.arange(stop - (end - start - head), stop)))
        offsets.append(stop)
    chosen = np.concatenate(parts)
    return Pieces(pieces.ids[chosen], pieces.words[chosen], np.array(offsets), pieces.also_at(chosen)), places


@dataclass(frozen=True)
class Window:
    """Pieces that are encoded together: a line, or a part of a long line."""

    places: NDArray[np.int64]  # Positions of the pieces
    taken: slice  # Pieces that take their vectors from this window

    def __len__(self) -> int:
        return len(self.places)


def cut_windows(pieces: Pieces, most: int) -> Iterator[Window]:
    """Yield lines as windows; a line of more than `most` pieces is split into windows that overlap by half.

    Each window has the boundary pieces of its line at its ends. A piece takes its vector from the window in which it
    is farthest from the ends, the first of several; boundary pieces from the first and the last window. Raises
    `VectorError` if the boundary pieces alone fill a window.
    """
    for start, end in zip(pieces.offsets[:-1].tolist(), pieces.offsets[1:].tolist(), strict=True):
        places = np.arange(start, end)
        if len(places) <= most:
            yield Window(places, slice(0, len(places)))
        else:
            yield from _overlapping(places, pieces.words[start:end] < 0, most)


def _overlapping(places: NDArray[np.int64], boundary: NDArray[np.bool_], most: int) -> Iterator[Window]:
    inner = np.flatnonzero(~boundary)
    # If all pieces are boundary pieces, treat them as inner ones.
    first, last = (int(inner[0]), int(inner[-1]) + 1) if len(inner) else (0, len(places))
    head, body, tail = places[:first], places[first:last], places[last:]
    room = most - len(head) - len(tail)
    if room < 1:
        raise VectorError(
            f"a line needs {len(head) + len(tail)} boundary pieces, and the encoder has {most} positions"
        )
    step = max(1, room // 2)
    starts = np.append(np.arange(0, len(body) - room, step), len(body) - room)
    # Bounds between neighbours: the middle of their overlap
    bounds = np.concatenate(([0], (starts[:-1] + room + starts[1:] + 1) // 2, [len(body)]))
    for number, start in enumerate(starts.tolist()):
        low, high = (bounds[number : number + 2] - start + len(head)).tolist()
        taken = slice(0 if number == 0 else low, most if number == len(starts) - 1 else high)
        yield Window(np.concatenate([head, body[start : start + room], tail]), taken)


def word_rows(
    pieces: Pieces, states: NDArray[np.float32], starts: NDArray[np.int64], words: int
) -> NDArray[np.float64]:
    """Compute the direction of the mean of each word's pieces, 0 for a word without any: (words, dimension).

    `starts` holds the number of the first word of each line, counted over all lines; `words` is the total.
    """
    rows = np.zeros((words, states.shape[1]))
    # The direction of a sum is that of the mean.
    for numbers, places in pieces_by_rank(pieces, starts):
        rows[numbers] += states[places]
    return unit_rows(rows)


def pieces_by_rank(
    pieces: Pieces, starts: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield numbers of words, and places of their first pieces; then of their second pieces, and so on.

    So sums over the pieces of a word are rounded in one order. `starts` is as for `word_rows`.
    """
    firsts = np.repeat(starts, np.diff(pieces.offsets))
    inner = np.flatnonzero(pieces.words >= 0)
    owner = firsts[inner] + pieces.words[inner]
    if len(pieces.also):
        further = firsts[pieces.also[:, 0]] + pieces.also[:, 1]
        inner, owner = np.append(inner, pieces.also[:, 0]), np.append(owner, further)
        order = np.lexsort((inner, owner))
        inner, owner = inner[order], owner[order]
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    for number in range(int(rank.max(initial=-1)) + 1):
        some = rank == number
        yield owner[some], inner[some]
