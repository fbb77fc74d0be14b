"""The segments of a corpus that a page can show: those that differ most, their text as written, and language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from softbleu.engine.encode import CodedBlock
from softbleu.io.arguments import Limit
from softbleu.text.coded import Tokens
from softbleu.text.tokens import Tokenizer, token_places

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus, Segments
    from softbleu.engine.prepare import PreparedCorpus
    from softbleu.engine.statistics import Statistics
    from softbleu.types import Floats, Integers

# Scripts without blanks between words: each character is a token, with its marks
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
"""Languages that their script identifies, for fonts and line breaks; Japanese has some Chinese characters."""
_LEAST = 0.2  # Share of letters in the script that identifies a language


def written_text(
    raw: Sequence[Sequence[str]], text: CodedBlock, tokenizer: Tokenizer, *, words: bool
) -> tuple[CodedBlock, Integers]:
    """Return the tokens of an excerpt as its files spell them, and for each token whether a blank precedes it.

    With `words`, lines are cut into words and punctuation marks instead of the tokenizer's tokens; scripts without
    blanks between words into characters. Tokens that are not in the text, such as arcs of networks, are unchanged.

    Parameters
    ----------
    raw
        Lines of each system, then the references of all segments, then the source.
    text
        Tokens of these lines.
    tokenizer
        Tokenizer that made the tokens.
    words
        Whether lines are cut again.
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


def excerpt_lines(corpus: Corpus, segments: Integers, text: CodedBlock) -> Iterator[Sequence[str]]:
    """Yield the lines of chosen segments: of each system, then the references of all segments, then the source.

    `segments` are ascending numbers, from 0.
    """
    parts, start = list["Segments"](), 0
    for block in corpus.blocks():
        here = segments[(start <= segments) & (segments < start + len(block))] - start
        start += len(block)
        if len(here):
            parts.append(_picked(block.load(), here.tolist()))
    for system in corpus.systems:
        yield list(chain.from_iterable(part.candidates[system] for part in parts))
    counts = np.diff(text.offsets).tolist()
    by_segment: Iterable[Sequence[str]] = chain.from_iterable(part.references for part in parts)
    # A text with gold edits may have fewer references than annotators.
    yield [line for count, lines in zip(counts, by_segment, strict=False) for line in [*lines, *[""] * count][:count]]
    if text.source is not None:
        yield list(chain.from_iterable(part.source or () for part in parts))


def _picked(block: Segments, numbers: Sequence[int]) -> Segments:
    """Take the texts of chosen segments of a block."""
    return replace(
        block,
        references=[block.references[number] for number in numbers],
        candidates={name: [lines[number] for number in numbers] for name, lines in block.candidates.items()},
        source=None if block.source is None else [block.source[number] for number in numbers],
        gold=None,
        edits={},
        before=None,
    )


def _cut(line: str) -> Iterator[tuple[str, bool]]:
    """Cut a line into words, marks and characters, each with whether a blank precedes it.

    >>> list(_cut("It's 西索。"))
    [("It's", False), ('西', True), ('索', False), ('。', False)]
    """
    end = 0
    for match in _WORD.finditer(line):
        yield match[0], match.start() > end
        end = match.end()


def _spelled(tokens: Sequence[str], line: str, glue: bool) -> Iterator[tuple[str, bool]]:
    """Find tokens in their original line: yield their spelling there, and whether a blank precedes.

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
    """Return the language that the script of the lines identifies; empty if it does not.

    >>> language_of_text(["西索对土地"]), language_of_text(["これは猫です"]), language_of_text(["a cat"])
    ('zh', 'ja', '')
    """
    text = "".join(lines)
    letters = max(1, sum(map(str.isalpha, text)))
    return next((name for name, of in _SCRIPTS.items() if len(re.findall(f"[{of}]", text)) >= _LEAST * letters), "")


_LIMIT = Limit(  # Of all texts together (0.7 GB); further segments are left out
    "a page",
    "words",
    1 << 21,
    "a segment of 3,000 words with 20 references: 63,000",
    "score shorter segments, or fewer systems",
)


_MOST_PAIRS = 1 << 26  # Pairs of words with similarities, a byte each


def choose_segments(
    prepared: PreparedCorpus, differences: Iterable[Floats], most: int, *, tables: bool = False
) -> Integers:
    """Return the ascending numbers of the segments that a page shows: all, or `most` that differ most.

    Parameters
    ----------
    prepared
        The corpus.
    differences
        How much the segments differ, (segments,), in one way or several: of each way, segments are taken in turn.
    most
        Number of segments, fewer if their texts are long.
    tables
        Whether pairs of words are limited, too, for pages with similarities of words.

    Raises `InputError` if the first of the chosen segments alone is too long.
    """
    sizes, cells = (np.concatenate(each) for each in zip(*map(_sizes, prepared.blocks()), strict=True))
    order = np.arange(len(sizes))
    fits = len(sizes) <= most and sizes.sum() <= _LIMIT.allowed and not (tables and cells.sum() > _MOST_PAIRS)
    if not fits:
        places = [np.argsort(np.argsort(-np.nan_to_num(one), kind="stable")) for one in differences]
        order = np.argsort(np.min(places, axis=0), kind="stable")[:most]
    _LIMIT.check(int(sizes[order[0]]), f"segment {order[0] + 1}")
    within = np.cumsum(sizes[order]) <= _LIMIT.allowed
    if tables:
        within &= np.cumsum(cells[order]) <= _MOST_PAIRS
    within[0] = True
    return np.sort(order[within])


def _sizes(block: CodedBlock) -> tuple[Integers, Integers]:
    """Words of each segment of a block, and pairs of words of its candidates with its mean reference."""
    references = np.diff(block.references.offsets[block.offsets])
    proposed = np.sum([text.lengths for text in block.candidates], axis=0)
    source = 0 if block.source is None else block.source.lengths
    return references + proposed + source, proposed * (references // np.maximum(np.diff(block.offsets), 1))


def chosen_text(prepared: PreparedCorpus, segments: Integers) -> CodedBlock:
    """Take the texts of chosen segments, by ascending numbers from 0, with the words of the whole corpus."""
    parts, start = list[CodedBlock](), 0
    for block in prepared.blocks():
        here = segments[(start <= segments) & (segments < start + len(block))] - start
        start += len(block)
        if len(here):
            parts.append(block.chosen(here))
    return replace(CodedBlock.joined(parts), words=prepared.words)


_SAMPLED = 10_000  # Words that identify the language


def language_of_excerpt(tokenizer: Tokenizer, text: CodedBlock) -> str:
    """Return the language of the tokenizer, or else of the candidates' script; empty if neither identifies one."""
    if tokenizer.language and tokenizer.language != "en":
        return tokenizer.language
    return language_of_text(text.words[code] for code in text.candidates[0].codes[:_SAMPLED].tolist())


def first_statistics(statistics: Statistics, segments: int) -> Statistics:
    """Keep the statistics of the first `segments` segments; no segment's score depends on later rows."""
    counts = statistics.counts[:segments]
    return replace(statistics, counts=counts, rows=statistics.rows[:, : int(counts.sum())])
