"""Edits of Chinese texts: how steps of an alignment are merged, after ChERRANT (Zhang et al., NAACL 2022, MuCGEC)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Literal, get_args

from softbleu.errors import InputError, Parameter, known_name

Merging = Literal["errant", "cherrant", "spelling"]
AlignmentStep = tuple[str, int, int, int, int]
"""`D` deletes, `I` inserts, `S` substitutes, `T` brings words into another order, `X` is merged: source words
from and up to, and of the output."""
_Pair = tuple[tuple[str, ...], tuple[str, ...]]


def merging_of(merging: Merging | None, language: str) -> Merging | None:
    """Return how steps are merged in a language, by its code: as named, or in Chinese as in ChERRANT.

    Raises `InputError` for ChERRANT's way in another language, and for a way that is none.

    >>> merging_of(None, "zh"), merging_of("errant", "zh"), merging_of(None, "de")
    ('cherrant', 'errant', None)
    """
    if merging is not None:
        merging = known_name("merging", merging, get_args(Merging))
    if merging is None and language == "zh":
        return "cherrant"
    if merging == "cherrant" and language != "zh":
        raise InputError(
            Parameter("merging", merging), " is for Chinese: leave it out, or give ", Parameter("language", "zh")
        )
    return merging


def merge_steps(runs: Iterable[Sequence[AlignmentStep]], texts: _Pair) -> list[AlignmentStep]:
    """Merge steps into edits; `runs` are steps in a row without an equal word between, `texts` source and output.

    Steps in a row are one edit, but for insertions beside deletions, and substitutions of words, which stay apart;
    substituted characters are one edit. What is deleted here and inserted there is one edit of order, up to one
    character, and so are two parts that change places. What both sides of an edit begin or end with is left out.

    >>> texts = tuple("我 昨 天 去 学 校 了".split()), tuple("昨 天 我 去 了 大 学".split())
    >>> runs = [[("D", 0, 1, 0, 0)], [("I", 3, 3, 2, 3)], [("S", 4, 5, 4, 5), ("S", 5, 6, 5, 6)]]
    >>> [step[1:] for step in merge_steps(runs, texts)]
    [(0, 3, 0, 3), (4, 6, 4, 6)]
    """
    edits = [edit for run in runs for edit in _joined(run, texts)]
    found, place = list[AlignmentStep](), 0
    while place < len(edits):
        moves = place + 1 < len(edits) and _changes_order(edits[place], edits[place + 1], texts)
        last = edits[place + moves]
        found.append((edits[place][0], edits[place][1], last[2], edits[place][3], last[4]))
        place += 1 + moves
    return [kept for edit in found if (kept := _trimmed(edit, texts)) is not None]


def _joined(run: Sequence[AlignmentStep], texts: _Pair) -> list[AlignmentStep]:
    """Join steps in a row, or leave them apart."""
    kinds = {step[0] for step in run}
    words = texts[0][run[0][1] : run[-1][2]] + texts[1][run[0][3] : run[-1][4]]
    if len(run) == 1 or kinds == {"D", "I"} or (kinds == {"S"} and any(len(word) > 1 for word in words)):
        return list(run)
    return [("X", run[0][1], run[-1][2], run[0][3], run[-1][4])]


def _changes_order(one: AlignmentStep, other: AlignmentStep, texts: _Pair) -> bool:
    """Whether two edits with equal words between them move a part, or let two parts change places."""
    if "T" in (one[0], other[0]) or one[2] == other[1]:
        return False
    (gone, come), (left, made) = (
        ("".join(texts[0][step[1] : step[2]]), "".join(texts[1][step[3] : step[4]])) for step in (one, other)
    )
    if gone and come and left and made:
        single = min(map(len, (gone, come, left, made))) == 1
        return (gone, come) == (made, left) if single else _near(gone, made) and _near(come, left)
    if not (come or left):
        moved, back = gone, made
    elif not (gone or made):
        moved, back = left, come
    else:
        return False
    if not any(map(str.isalnum, moved)) or not any(map(str.isalnum, back)):
        return False
    single = min(len(moved), len(back)) == 1
    turned = len(moved) == len(back) and back in moved + moved
    return moved == back if single else _near(moved, back) or turned


def _near(one: str, other: str) -> bool:
    """Whether two texts differ in one character at most."""
    from rapidfuzz.distance.Levenshtein import distance

    return distance(one, other, score_cutoff=1) <= 1


def _trimmed(edit: AlignmentStep, texts: _Pair) -> AlignmentStep | None:
    """Leave out the text that both sides begin and end with, as far as words end there; None if nothing is left."""
    kind, start, end, first, last = edit
    sides = texts[0][start:end], texts[1][first:last]
    if "".join(sides[0]) == "".join(sides[1]):
        return None
    if kind == "T" or not all(sides) or sorted("".join(sides[0])) == sorted("".join(sides[1])):
        return edit
    before = _common(*sides)
    start, first = start + before[0], first + before[1]
    sides = texts[0][start:end], texts[1][first:last]
    behind = _common(*(tuple(word[::-1] for word in reversed(side)) for side in sides))
    return kind, start, end - behind[0], first, last - behind[1]


def _common(source: Sequence[str], output: Sequence[str]) -> tuple[int, int]:
    """Count the words at the beginning of both that make the longest common text."""
    lengths = (accumulate(map(len, side)) for side in (source, output))
    sides = [{size: number for number, size in enumerate(side, start=1)} for side in lengths]
    one, other = "".join(source), "".join(output)
    size = max((size for size in sides[0].keys() & sides[1].keys() if one[:size] == other[:size]), default=0)
    return sides[0].get(size, 0), sides[1].get(size, 0)
