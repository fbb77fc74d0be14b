"""Unfinished candidates: chunks whose references end where the candidates have come to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from softbleu.kernels.prefixes import reached
from softbleu.text.coded import TextLines, Tokens
from softbleu.text.tokens import Tokenizer, token_places

if TYPE_CHECKING:
    from softbleu.matching.ngrams import Chunk
    from softbleu.types import Integers

_Lines = TypeVar("_Lines", bound=Tokens)


def begun(chunk: Chunk, tokenizer: Tokenizer) -> Chunk:
    """Cut the references of a chunk of one system, and its sources, to the beginnings that candidates have come to.

    Each reference is cut by itself (`softbleu.kernels.prefixes.reached`), in the tokens of `tokenizer`. A source is
    cut in the same way, for metrics that look at sources compare texts of one language.
    """
    owner = np.repeat(np.arange(len(chunk)), chunk.reference_numbers)
    reached_of_each = reached(chunk.candidates.chosen(owner), chunk.references)
    source = chunk.source
    return replace(
        chunk,
        references=beginnings(chunk.references, reached_of_each, tokenizer),
        source=source and beginnings(source, reached(chunk.candidates, source), tokenizer),
    )


def beginnings(lines: _Lines, sizes: Integers, tokenizer: Tokenizer) -> _Lines:
    """Keep the first tokens of each line, (lines,) numbers of them, and the text as far as these go."""
    cut = lines.first_tokens(sizes)
    if isinstance(cut, TextLines):
        texts = [
            text if size == length else _first_words(text, size, tokenizer)
            for text, size, length in zip(cut.texts.tolist(), sizes.tolist(), lines.lengths.tolist(), strict=True)
        ]
        return replace(cut, texts=np.array(texts, object))
    return cut


def _first_words(text: str, size: int, tokenizer: Tokenizer) -> str:
    """Keep the text up to the end of so many tokens."""
    ends = [end for _, end in token_places(tokenizer.split(text), text)]
    return text[: ends[size - 1]] if size else ""
