"""Edits judged: which of a candidate's are gold edits, which are wrong, which gold edits are missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from softbleu.metrics.edits.errant import Spans

if TYPE_CHECKING:
    from softbleu.corpora.edits import CodedEdit, TextEdit

SAME_EDIT = 0.5  # Share of gold edits from which an edit is a hit
Verdict = Literal["hit", "wrong", "missed", "over"]


@dataclass(frozen=True)
class JudgedEdit:
    """An edit of a candidate, or a gold edit."""

    spans: Spans  # Source words, and those of the candidate that they became; of a gold edit, of the annotator's text
    text: tuple[str, ...]
    verdict: Verdict
    """Of a candidate's: `hit`, `wrong` (a gold edit is there, another one) or `over`. Of a gold edit: `hit`, `wrong`
    (the candidate has another edit there) or `missed`."""
    kind: str = ""
    origin: tuple[int, int] = (0, 0)  # Of a gold edit: its annotator and its number, the first if it has several


@dataclass(frozen=True)
class JudgedEdits:
    """Those of one segment of one system, beside the gold edits that its score goes by."""

    annotator: int
    """Number of the annotator whose edits count, or of the reference, from 0."""
    source: tuple[str, ...]
    edits: tuple[JudgedEdit, ...]
    gold: tuple[JudgedEdit, ...]
    links: tuple[tuple[int, int, float], ...]
    """Numbers of an edit and of a gold edit, and how much of the one is the other: 1 if they are the same."""


def judge_by_links(
    source: Sequence[str],
    edits: Sequence[TextEdit],
    gold: Sequence[TextEdit],
    links: Sequence[tuple[int, int, float]],
    annotator: int,
    origins: Sequence[tuple[int, int]] | None = None,
) -> JudgedEdits:
    """Judge edits by which of them are gold edits, at least by half; others are wrong where they touch one.

    `source` has the words, `gold` the edits of that `annotator`; each of `links` has the number of an edit, that of a
    gold edit, and the share of the one that is the other. `origins` say of which annotator each gold edit is, and its
    number there, where `gold` has not all of those of that annotator as they are.

    >>> found = judge_by_links(["he", "eat", "a"], [(1, 2, ("ate",)), (2, 3, ())], [(1, 2, ("eats",))], [], 0)
    >>> [edit.verdict for edit in (*found.edits, *found.gold)]
    ['wrong', 'over', 'wrong']
    """
    sides: list[list[JudgedEdit]] = []
    origins = [(annotator, number) for number in range(len(gold))] if origins is None else origins
    same = [
        [sum(link[2] for link in links if link[side] == number) >= SAME_EDIT for number in range(len(texts))]
        for side, texts in enumerate((edits, gold))
    ]
    for side, (judging, others) in enumerate(((edits, gold), (gold, edits))):
        left = [edit for edit, hit in zip(others, same[1 - side], strict=True) if not hit]
        judged = []
        for number, (edit, spans) in enumerate(zip(judging, placed(judging), strict=True)):
            alone: Verdict = "missed" if side else "over"
            wrong: Verdict = "wrong" if any(touch(spans, other) for other in left) else alone
            origin = origins[number] if side else (0, 0)
            judged.append(JudgedEdit(spans, edit[2], "hit" if same[side][number] else wrong, origin=origin))
        sides.append(judged)
    return JudgedEdits(annotator, tuple(source), tuple(sides[0]), tuple(sides[1]), tuple(links))


def placed(edits: Sequence[CodedEdit | TextEdit]) -> Iterator[Spans]:
    """Source words that edits replace, and words that they make, in the text in which all are made.

    >>> list(placed([(1, 1, (7,)), (3, 5, ())]))
    [(1, 1, 1, 2), (3, 5, 4, 4)]
    """
    shift = 0
    for start, end, text in edits:
        yield start, end, start + shift, start + shift + len(text)
        shift += len(text) - (end - start)


def touch(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two edits, start and end first, have a source word in common, or one inserts where the other is."""
    start, end = max(int(one[0]), int(other[0])), min(int(one[1]), int(other[1]))
    return start < end or (start == end and bool(one[0] == one[1] or other[0] == other[1]))
