"""A table of paraphrases as arrays: a trie of its phrases, and what each may be rendered as."""

from __future__ import annotations

import gzip
import zlib
from array import array
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.data_files import bounded_lines
from softbleu.errors import InputError
from softbleu.tokens import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_ENTRIES, _PHRASES = 1 << 16, 1 << 19
"""Entries of the table that are read at a time, and phrases whose nodes are looked for together."""
_END = "\n"
LONGEST = 32
"""Words of a paraphrase; that of the program has 7 at most."""


def joined_words(words: Iterable[str]) -> NDArray[np.uint8]:
    """Words as an array, one a line."""
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def read_table(path: Path) -> dict[str, NDArray[Any]]:
    """Read a table of paraphrases, three lines an entry: a probability, a phrase, and what it may be rendered as."""
    words = Vocabulary({_END: 0})
    # Buffers that grow: the table is large, and is never held twice.
    codes, lengths, sources, renderings = array("i"), array("B"), array("i"), array("i")
    for phrase, rendering in _entries(path):
        distinct = {text: number for number, text in enumerate(dict.fromkeys(phrase), start=len(lengths))}
        sources.extend(map(distinct.__getitem__, phrase))
        renderings.extend(range(len(lengths) + len(distinct), len(lengths) + len(distinct) + len(rendering)))
        coded, counts = _coded([*distinct, *rendering], words)
        if counts.max() > LONGEST:
            raise InputError(f"{path}: a phrase of more than {LONGEST} words: take it out")
        codes.frombytes(coded.tobytes())
        lengths.frombytes(counts.astype(np.uint8).tobytes())
    if not lengths:
        raise InputError(f"{path}: no paraphrases are in it")
    nodes, edges = _nodes(np.frombuffer(codes, np.int32), np.frombuffer(lengths, np.uint8), len(words))
    del codes, lengths
    owners, targets = nodes[np.frombuffer(sources, np.int32)], nodes[np.frombuffer(renderings, np.int32)]
    bounds = np.zeros(len(edges) + 2, np.int32)
    np.cumsum(np.bincount(owners, minlength=len(edges) + 1), out=bounds[1:])
    return {
        # Number 0 is no word, but the end of a phrase.
        "phrase_words": joined_words(list(words)[1:]),
        "phrase_word_count": np.array([len(words)]),
        "phrase_edges": edges,
        "phrase_bounds": bounds,
        "phrase_targets": targets[np.argsort(owners, kind="stable")],
    }


def _entries(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    try:
        with gzip.open(path) as stream:
            texts = (line.decode().removesuffix("\n") for line in bounded_lines(stream, str(path)))
            while lines := list(islice(texts, 3 * _ENTRIES)):
                if len(lines) % 3:
                    raise InputError(f"{path}: ends within an entry: get the file again")
                # What has slipped by a line is noticed: phrases are no numbers.
                list(map(float, lines[::3]))
                yield lines[1::3], lines[2::3]
    except (OSError, EOFError, zlib.error, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: no table of paraphrases ({error}): get the file again") from error


def _coded(phrases: list[str], words: Vocabulary) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Words of phrases as numbers, one phrase after the other, and how many each has."""
    tokens = f"{f' {_END} '.join(phrases)} {_END}".split(" ")
    codes = np.fromiter(map(words.__getitem__, tokens), np.int32, len(tokens))
    ends = np.flatnonzero(codes == 0)
    return codes[codes > 0], (np.diff(ends, prepend=-1) - 1).astype(np.int32)


def _nodes(
    codes: NDArray[np.int32], lengths: NDArray[np.uint8], words: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Find the node of each phrase, and all edges of the trie, a level after the other."""
    nodes = np.zeros(len(lengths), np.int32)
    starts = np.zeros(len(lengths), np.int32)
    np.cumsum(lengths[:-1], out=starts[1:])
    levels: list[NDArray[np.int64]] = []
    known = 0
    for level in range(int(lengths.max())):
        here = np.flatnonzero(lengths > level).astype(np.int32)
        parts = [here[start : start + _PHRASES] for start in range(0, len(here), _PHRASES)]

        def keys(part: NDArray[np.int32], level: int = level) -> NDArray[np.int64]:
            return nodes[part] * np.int64(words) + codes[starts[part] + level]

        edges = np.zeros(0, np.int64)
        for part in parts:
            edges = np.union1d(edges, keys(part))
        for part in parts:
            nodes[part] = known + 1 + np.searchsorted(edges, keys(part))
        levels.append(edges)
        known += len(edges)
    return nodes, np.concatenate(levels)
