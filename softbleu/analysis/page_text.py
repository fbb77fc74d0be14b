"""The text of a page as it was written: words with the blanks that stand between them, and its language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from softbleu.text.tokens import Tokens, token_places

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus, Segments
    from softbleu.engine.encode import CodedBlock
    from softbleu.text.tokens import Tokenizer
    from softbleu.types import Integers

# Scripts without blanks between words, of which each character is shown alone, with its marks
_THAI = r"[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46][\u0e31\u0e34-\u0e4e]*"
_ALONE = rf"[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\uff9f]|{_THAI}"
_MARKS = r"\u0300-\u036f\u0591-\u05c7\u064b-\u0655\u0900-\u0dff"
_WORD = re.compile(rf"{_ALONE}|(?:(?!{_ALONE})[\w{_MARKS}])+(?:['’-](?:(?!{_ALONE})[\w{_MARKS}])+)*|[^\w\s]")
_SCRIPTS = {
    "ja": "\u3040-\u30ff",
    "ko": "\uac00-\ud7af",
    "zh": "\u3400-\u9fff",
    "th": "\u0e00-\u0e7f",
    "ar": "\u0600-\u06ff",
    "he": "\u0590-\u05ff",
    "hi": "\u0900-\u097f",
    "el": "\u0370-\u03ff",
}
"""Languages that their script tells, well enough for fonts and line breaks; Japanese has some Chinese characters."""
_LEAST = 0.2  # Share of the letters that are of the script


def written_text(
    raw: Sequence[Sequence[str]], text: CodedBlock, tokenizer: Tokenizer, *, words: bool
) -> tuple[CodedBlock, Integers]:
    """Take the text of a page as its files have it, and whether a blank stands before each token.

    Tokens are those of the tokenizer, as the text spells them; what a text does not have, such as networks, stands as
    it is. With `words`, lines are cut into words and punctuation marks instead, and texts without blanks
    between words into characters.

    Parameters
    ----------
    raw
        Lines of each system, the references of all segments, and the source.
    text
        The tokens of these.
    tokenizer
        What made them.
    words
        Whether lines are cut anew.
    """
    codes: dict[str, int] = {}
    lines, blanks = [], list[int]()
    for tokens, written in zip(text.lines, raw, strict=True):
        plain = type(tokens) is Tokens
        sizes = [0]
        places: list[int] = []
        for (start, stop), line in zip(pairwise(tokens.offsets.tolist()), written, strict=True):
            forms = [text.words[code] for code in tokens.codes[start:stop].tolist()]
            shown = _cut(line) if words and plain else _spelled(forms, line, bool(tokenizer.glue))
            for form, blank in shown:
                places.append(codes.setdefault(form, len(codes)))
                blanks.append(blank)
            sizes.append(len(places))
        lines.append(Tokens(np.array(places, np.int32), np.array(sizes, np.int64)))
    return replace(text.with_lines(lines), words=list(codes)), np.array(blanks, np.int64)


def raw_lines(corpus: Corpus, segments: int, text: CodedBlock) -> Iterator[Sequence[str]]:
    """Lines of the first segments: of each system, the references of all segments, and the source."""
    parts: list[Segments] = []
    for block in corpus.blocks():
        parts.append(block.load())
        if sum(map(len, parts)) >= segments:
            break
    for system in corpus.systems:
        yield list(chain.from_iterable(part.candidates[system] for part in parts))[:segments]
    counts = np.diff(text.offsets).tolist()
    by_segment: Iterable[Sequence[str]] = chain.from_iterable(part.references for part in parts)
    # Of gold edits the text may have fewer references than there are annotators.
    yield [line for count, lines in zip(counts, by_segment, strict=False) for line in [*lines, *[""] * count][:count]]
    if text.source is not None:
        yield list(chain.from_iterable(part.source or () for part in parts))[:segments]


def _cut(line: str) -> Iterator[tuple[str, bool]]:
    """Cut a line into words, marks and characters, each with whether a blank stands before it.

    >>> list(_cut("It's 西索。"))
    [("It's", False), ('西', True), ('索', False), ('。', False)]
    """
    end = 0
    for match in _WORD.finditer(line):
        yield match[0], match.start() > end
        end = match.end()


def _spelled(tokens: Sequence[str], line: str, glue: bool) -> Iterator[tuple[str, bool]]:
    """Find tokens in the line that they were made of: how they are spelled there, and whether a blank stands before.

    >>> list(_spelled(["it", "'s", "&"], "It's &amp;", True))
    [('It', False), ("'s", False), ('&', True)]
    """
    before = 0
    for number, (token, (start, end)) in enumerate(zip(tokens, token_places(tokens, line), strict=True)):
        if start == end:
            yield token, number > 0 and (line[end : end + 1].isspace() or (glue and end >= len(line)))
            before = end + line[end : end + 1].isspace()
            continue
        yield line[start:end], number > 0 and any(map(str.isspace, line[before:start]))
        before = end


def language_of_text(lines: Iterable[str]) -> str:
    """Tell the language of lines where their script tells it; nothing for others.

    >>> language_of_text(["西索对土地"]), language_of_text(["これは猫です"]), language_of_text(["a cat"])
    ('zh', 'ja', '')
    """
    text = "".join(lines)
    letters = max(1, sum(map(str.isalpha, text)))
    return next((name for name, of in _SCRIPTS.items() if len(re.findall(f"[{of}]", text)) >= _LEAST * letters), "")
