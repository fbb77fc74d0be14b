"""Unfinished candidates: chunks whose references end where the candidates have come to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from softbleu.kernels.prefixes import reached
from softbleu.text.coded import TextLines, Tokens, WordParts, chosen_places
from softbleu.text.tokens import Tokenizer, token_places

if TYPE_CHECKING:
    from softbleu.matching.ngrams import Chunk
    from softbleu.types import Integers

_TIMES = 4  # Times as many tokens in prefixes as in whole texts, from which numbering those of whole texts pays off
_LONG = 1 << 10  # Tokens of a line from which its prefixes are compared one by one, to save memory
_Lines = TypeVar("_Lines", bound=Tokens)


def begun(chunk: Chunk, tokenizer: Tokenizer, parts: WordParts | None = None) -> Chunk:
    """Cut the references of a chunk of one system, and its sources, to the beginnings that candidates have come to.

    Each reference is cut by itself (`softbleu.kernels.prefixes.reached`), in the tokens of `tokenizer`. A source is
    cut in the same way, for metrics that look at sources compare texts of one language.
    """
    owner = np.repeat(np.arange(len(chunk)), chunk.reference_numbers)
    of_source = None if chunk.source is None else reached(chunk.candidates, chunk.source, parts)
    return cut_at(chunk, reached(chunk.candidates.chosen(owner), chunk.references, parts), of_source, tokenizer)


def cut_at(chunk: Chunk, of_references: Integers, of_source: Integers | None, tokenizer: Tokenizer) -> Chunk:
    """Cut the references of a chunk, and its sources, after so many tokens: a number for each line."""
    references, source = beginnings(chunk.references, of_references, tokenizer), chunk.source
    if source is not None and of_source is not None:
        source = beginnings(source, of_source, tokenizer)
    return replace(chunk, references=references, source=source)


def prefixes(
    chunk: Chunk, owner: Integers, sizes: Integers, tokenizer: Tokenizer, parts: WordParts | None = None
) -> Chunk:
    """Make segments of prefixes of a chunk's candidates, beside the beginnings that these have come to.

    All prefixes of a candidate are aligned in one pass.

    Parameters
    ----------
    chunk
        Segments of one system.
    owner, sizes
        Number of the segment in the chunk, and tokens of the candidate, for each prefix.
    tokenizer
        Tokenizer of the chunk's lines.
    parts
        Parts of words that are aligned; None: words.
    """
    single = chunk.by_reference()
    lines, bounds = chosen_places(chunk.segment_offsets, owner)
    numbers = np.repeat(sizes, np.diff(bounds))
    ends = _ends(single.candidates, chunk.references, lines, numbers, parts)
    candidates = beginnings(chunk.candidates.chosen(owner), sizes, tokenizer)
    references, source = chunk.references.chosen(lines), chunk.source
    whole = replace(
        chunk,
        candidates=candidates,
        references=references,
        segment_offsets=bounds,
        source=None if source is None else source.chosen(owner),
    )
    of_source = None if source is None else _ends(chunk.candidates, source, owner, sizes, parts)
    long = max(single.candidates.lengths.max(initial=0), chunk.references.lengths.max(initial=0)) > _LONG
    few = int(numbers.sum()) < _TIMES * len(single.candidates.codes)
    known = None if long or few else (single.candidates, chunk.references, lines)
    return replace(cut_at(whole, ends, of_source, tokenizer), whole=known)


def _ends(
    candidates: Tokens, references: Tokens, lines: Integers, sizes: Integers, parts: WordParts | None
) -> Integers:
    """Count the tokens that the first `sizes` tokens of candidates, of these lines, have come to."""
    # Before the first token of a text stands a 0.
    ends = np.append(reached(candidates, references, parts, every=True), 0)
    found: Integers = ends[np.where(sizes > 0, candidates.offsets[lines] + sizes - 1, -1)]
    return found


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
