"""Outputs in languages without blanks, split into the words of a gold file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise

from softbleu.config.languages import is_unspaced
from softbleu.corpora.edits import GoldSegment, apply_edits
from softbleu.io.progress import note

_SEEN = 100  # Sentences that decide on the language of a file
_MOST_CELLS = 1 << 30  # Cells of the alignment of two lines, one bit per cell


def needs_cut(gold: Sequence[GoldSegment]) -> bool:
    """Whether the first sentences of a gold file are in a language without blanks between words."""
    return is_unspaced("".join(chain.from_iterable(segment.source.split() for segment in gold[:_SEEN])))


def cut_as_gold(name: str, lines: Sequence[str], gold: Sequence[GoldSegment]) -> Sequence[str]:
    """Split outputs into the words of a gold file whose language has no blanks, where they are split otherwise.

    A text that is the source's or an annotator's has the words of that. Otherwise, words shared with these are kept,
    and the text between them is split into the longest known words of source and corrections, or else into
    characters: all of a line of which fewer than half of the words are known, and else where most of these words are.
    A note counts the lines that changed.

    Parameters
    ----------
    name
        Name of the system, for the note.
    lines
        Its outputs, one per sentence.
    gold
        The sentences of the gold file.

    Examples
    --------
    >>> from softbleu.corpora.edits import Annotation, Edit, GoldSegment
    >>> gold = GoldSegment("我们 去 学校", (Annotation(0, (Edit(2, 2, "M", ("了",)),)),))
    >>> cut_as_gold("A", ["我们去了学校"], [gold])
    ['我们 去 了 学校']
    """
    if len(lines) != len(gold) or not needs_cut(gold):
        return lines
    made = [_cut(line, segment) for line, segment in zip(lines, gold, strict=True)]
    if changed := sum(new is not old for new, old in zip(made, lines, strict=True)):
        note(f"{name}: {changed:,} lines have other blanks than the gold edits, and are cut into the words of these")
    return made if changed else lines


def _cut(line: str, segment: GoldSegment) -> str:
    source, tokens, text = segment.source.split(), line.split(), "".join(line.split())
    whole = [source, *(list(apply_edits(source, one.in_words())) for one in segment.annotations)]
    if same := [words for words in whole if "".join(words) == text]:
        return line if tokens in same else " ".join(same[0])
    corrections = (edit.corrections for annotation in segment.annotations for edit in annotation.edits)
    known = {*source, *chain.from_iterable(map(str.split, chain.from_iterable(corrections)))}
    longest, words, done = max(map(len, known), default=1), list[str](), 0
    shared = dict[int, int]()
    # The nearest text first.
    for spans in sorted(
        (_kept(words, text) for words in whole), key=lambda spans: sum(one - end for one, end in spans)
    ):
        places = {place for span in shared.items() for place in range(*span)}
        shared |= {start: end for start, end in spans if places.isdisjoint(range(start, end))}
    for start, end in [*sorted(shared.items()), (len(text), len(text))]:
        while done < start:
            sizes = range(min(longest, start - done), 0, -1)
            size = next((size for size in sizes if text[done : done + size] in known), 1)
            words.append(text[done : done + size])
            done += size
        words += [text[start:end]] * (start < end)
        done = end
    if 2 * sum(map(known.__contains__, tokens)) >= len(tokens) and (len(tokens) > 1 or line.strip() in known):
        words = _known_words(tokens, words, known)
    return line if words == tokens else " ".join(words)


def _known_words(tokens: Sequence[str], words: Sequence[str], known: set[str]) -> list[str]:
    """Split a text into tokens, or between common bounds into words, where most are known, and more of these.

    >>> _known_words("我昨天 去 了 学 校".split(), "我 昨天 去 了 学校".split(), {"我", "昨天", "去", "了", "学校"})
    ['我', '昨天', '去', '了', '学校']
    >>> _known_words("因为 他".split(), "因 为 他".split(), {"因", "他"})
    ['因为', '他']
    """
    sides, ends = (tokens, words), [[*accumulate(map(len, side))] for side in (tokens, words)]
    made, done = list[str](), [0, 0]
    for end in sorted({*ends[0]} & {*ends[1]}):
        until = [side.index(end) + 1 for side in ends]
        parts = [side[start:stop] for side, start, stop in zip(sides, done, until, strict=True)]
        own, others = (sum(map(known.__contains__, part)) / len(part) for part in parts)
        made += parts[others > max(own, 0.5)]
        done = until
    return made


def _kept(source: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Return the spans of a text that match words of its source, in order."""
    from rapidfuzz.distance.Indel import opcodes

    bounds = [0, *accumulate(map(len, source))]
    if bounds[-1] * len(text) > _MOST_CELLS:
        return []
    places, kept = pairwise(bounds), list[tuple[int, int]]()
    start, end = next(places, (0, 0))
    for block in opcodes("".join(source), text):
        if block.tag != "equal":
            continue
        shift = block.dest_start - block.src_start
        while start < end and end <= block.src_end:
            if start >= block.src_start:
                kept.append((start + shift, end + shift))
            start, end = next(places, (0, 0))
    return kept
