"""Edits judged: which of a candidate's are gold edits, which are wrong, which gold edits are missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from softbleu.metrics.edits.errant import Spans

if TYPE_CHECKING:
    from softbleu.corpora.edits import TextEdit

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
) -> JudgedEdits:
    """Judge edits of which it is known which are gold edits; others are wrong where they touch, in the source.

    >>> found = judge_by_links(["he", "eat", "a"], [(1, 2, ("ate",)), (2, 3, ())], [(1, 2, ("eats",))], [], 0)
    >>> [edit.verdict for edit in (*found.edits, *found.gold)]
    ['wrong', 'over', 'wrong']
    """
    ours, theirs = ({link[side] for link in links} for side in (0, 1))
    left = [edit for number, edit in enumerate(gold) if number not in theirs]
    proposed = []
    for number, (spans, text) in enumerate(placed(edits)):
        verdict: Verdict = (
            "hit" if number in ours else "wrong" if any(touch(spans, each) for each in left) else "over"
        )
        proposed.append(JudgedEdit(spans, text, verdict))
    left = [edit for number, edit in enumerate(edits) if number not in ours]
    wanted = []
    for number, (spans, text) in enumerate(placed(gold)):
        verdict = "hit" if number in theirs else "wrong" if any(touch(spans, each) for each in left) else "missed"
        wanted.append(JudgedEdit(spans, text, verdict, origin=(annotator, number)))
    return JudgedEdits(annotator, tuple(source), tuple(proposed), tuple(wanted), tuple(links))


def placed(edits: Sequence[TextEdit]) -> Iterator[tuple[Spans, tuple[str, ...]]]:
    """Where edits are in the text that they make, those before them made."""
    shift = 0
    for start, end, text in edits:
        yield (start, end, start + shift, start + shift + len(text)), text
        shift += len(text) - (end - start)


def touch(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two edits, start and end first, have a source word in common, or one inserts where the other is."""
    start, end = max(int(one[0]), int(other[0])), min(int(one[1]), int(other[1]))
    return start < end or (start == end and bool(one[0] == one[1] or other[0] == other[1]))
