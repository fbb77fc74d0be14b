"""Tokenizers of unigram models with large vocabularies, of which only the pieces that a text can have are loaded.

The library `tokenizers` builds a trie of a vocabulary: of 250,000 pieces in half a second and 250 MB. The pieces of a
text are among its substrings, so the model of these gives the same pieces. It grows with the texts; once that takes
as long as to load all pieces, all are loaded.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softbleu.embeddings.vectors import advised
from softbleu.encoders.pieces import CutsText, check_tokenizer, read_tokenizer
from softbleu.errors import VectorError
from softbleu.io.platform import cached_property
from softbleu.io.reading import no_panic, read_json

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from softbleu.encoders.store import Tensor
    from softbleu.types import JsonObject

PIECES, SCORES = "pieces", "pieces.scores"  # Arrays of a store: the pieces as UTF-8, a line each, and their scores
_MARKED = "\n"
_MOST = 100_000  # Characters of distinct words that are looked through, which takes as long as to load all pieces


@dataclass(frozen=True)
class Unigram:
    """A tokenizer of a unigram model: its ``tokenizer.json`` without the vocabulary, and the vocabulary."""

    shell: JsonObject = field(repr=False)
    pieces: Sequence[str] = field(repr=False)
    scores: NDArray[np.float64] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> Unigram | None:
        """Take the vocabulary out of a ``tokenizer.json``; None if it is of another model."""
        shell = json.loads(text)
        model = shell.get("model") or {}
        if model.get("type") != "Unigram" or model.get("byte_fallback") or not model["vocab"]:
            return None
        pieces, scores = zip(*model["vocab"], strict=True)
        if any(_MARKED in piece for piece in pieces) or len(set(pieces)) < len(pieces):
            return None
        return cls({**shell, "model": {**model, "vocab": []}}, pieces, np.array(scores, np.float64))

    @classmethod
    def stored(cls, shell: JsonObject, tensors: Mapping[str, Tensor]) -> Unigram:
        """Read a tokenizer from its shell and the arrays of a store."""
        pieces = bytes(tensors[PIECES].values).decode().split(_MARKED)
        scores = np.array(tensors[SCORES].values, np.float64)
        if scores.shape != (len(pieces),):
            raise ValueError(f"{len(pieces)} pieces and {scores.size} scores")
        return cls(shell, pieces, scores)

    def arrays(self) -> Iterator[tuple[str, NDArray[np.uint8] | NDArray[np.float64]]]:
        """Yield the arrays of a store."""
        yield PIECES, np.frombuffer(_MARKED.join(self.pieces).encode(), np.uint8)
        yield SCORES, self.scores

    def occurring(self, words: Iterable[str]) -> set[int]:
        """Find the numbers of the pieces among the substrings of words."""
        numbers, longest = self.numbers, self._longest
        found = set()
        for word in words:
            for start in range(len(word)):
                for end in range(start + 1, min(start + longest, len(word)) + 1):
                    if (number := numbers.get(word[start:end])) is not None:
                        found.add(number)
        return found

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Numbers of pieces."""
        return dict(zip(self.pieces, range(len(self.pieces)), strict=True))

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.pieces))

    def tokenizer(self) -> Tokenizer:
        """Make the tokenizer with the pieces that every text needs."""
        from tokenizers import Tokenizer

        vocabulary, unknown = self._part(self.needed([]))
        model = {**self.shell["model"], "unk_id": unknown, "vocab": vocabulary}
        return Tokenizer.from_str(json.dumps({**self.shell, "model": model}, ensure_ascii=False))

    def needed(self, chosen: Iterable[int]) -> list[int]:
        """Return the numbers, ascending, of some pieces and of the pieces that every text needs."""
        unknown = self.shell["model"]["unk_id"]
        # The least score of all is that of an unknown character, less 10.
        return sorted({*chosen, int(self.scores.argmin()), *([] if unknown is None else [unknown])})

    def load(self, tokenizer: Tokenizer, numbers: Sequence[int]) -> None:
        """Give a tokenizer the model of some pieces, which it numbers from 0."""
        from tokenizers.models import Unigram as Model

        tokenizer.model = Model(*self._part(numbers), byte_fallback=False)

    def _part(self, numbers: Sequence[int]) -> tuple[list[tuple[str, float]], int | None]:
        """List pieces and their scores, and the place of the unknown piece among them."""
        unknown = self.shell["model"]["unk_id"]
        scores = self.scores[numbers].tolist()
        vocabulary = [(self.pieces[number], score) for number, score in zip(numbers, scores, strict=True)]
        return vocabulary, None if unknown is None else bisect_left(numbers, unknown)


class CutText(NamedTuple):
    """The pieces of a text."""

    ids: list[int]
    offsets: list[tuple[int, int]]
    special_tokens_mask: list[int]


class PartialTokenizer:
    """Splits texts into pieces as the whole tokenizer does, and loads only the pieces that they can have."""

    def __init__(self, unigram: Unigram) -> None:
        self._unigram = unigram
        self._added = {token["content"] for token in unigram.shell.get("added_tokens") or ()}
        self._chosen: set[int] = set()
        self._numbers: Sequence[int] = unigram.needed([])  # Of the pieces of the model
        self._seen: set[str] = set()
        self._looked = 0  # Characters that were looked through
        self._loaded = 0  # Pieces that were loaded, each time counted
        self._whole = False
        self.tokenizer = unigram.tokenizer()

    def prepare(self, texts: Sequence[str]) -> None:
        """Load the pieces that texts can have."""
        if self._whole:
            return
        words = self._words(texts) - self._seen
        self._seen |= words
        self._looked += sum(map(len, words))
        # Text beside an added token is normalised by itself.
        self._whole = self._looked > _MOST or any(added in text for added in self._added for text in texts)
        before = len(self._chosen)
        if not self._whole:
            self._chosen |= self._unigram.occurring(words)
            self._loaded += len(self._chosen) if len(self._chosen) > before else 0
            self._whole = self._loaded > len(self._unigram.scores)
        if self._whole:
            self._chosen, self._seen = set(range(len(self._unigram.scores))), set()
        if len(self._chosen) > before:
            self._numbers = self._unigram.needed(self._chosen)
            self._unigram.load(self.tokenizer, self._numbers)

    def encode(self, text: str) -> CutText:
        """Split a text, for whose pieces `prepare` has been called."""
        encoding = self.tokenizer.encode(text)
        boundary = encoding.special_tokens_mask
        unknown = self._unigram.shell["model"]["unk_id"]
        # The tokenizer numbers boundary and added pieces differently from the model.
        numbers = [
            self._unigram.numbers.get(piece, unknown) if outside or piece in self._added else self._numbers[number]
            for number, piece, outside in zip(encoding.ids, encoding.tokens, boundary, strict=True)
        ]
        return CutText(numbers, encoding.offsets, boundary)

    def _words(self, texts: Sequence[str]) -> set[str]:
        """Normalise texts and split them into the words that the model is given."""
        normalizer, splitter = self.tokenizer.normalizer, self.tokenizer.pre_tokenizer
        words: set[str] = set()
        for text in texts:
            normal = text if normalizer is None else normalizer.normalize_str(text)
            words.update([normal] if splitter is None else (word for word, _ in splitter.pre_tokenize_str(normal)))
        return words


def open_tokenizer(path: Path, tensors: Mapping[str, Tensor]) -> CutsText:
    """Open the tokenizer of a store, given its ``tokenizer.json`` and its arrays; raise VectorError if damaged."""
    if PIECES not in tensors:
        return read_tokenizer(path)
    with advised("an encoder needs its tokenizer.json"):
        shell = read_json(path)
    try:
        with no_panic():
            partial = PartialTokenizer(Unigram.stored(shell, tensors))
    except Exception as error:
        # The library raises nothing more specific.
        raise VectorError(f"{path}: no tokenizer that can be read ({error}); convert the model again") from error
    check_tokenizer(partial.tokenizer, path)
    return partial
