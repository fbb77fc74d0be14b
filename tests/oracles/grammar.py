"""Grammars as they read: NLTK enumerates the sentences, places in trees align them, labels are counted out.

Imports nothing from softbleu, so that agreement between the two means something.
"""

from collections.abc import Sequence
from typing import Any

Path = tuple[tuple[str, int], ...]


def sentences(text: str, depth: int) -> list[str]:
    """Sentences of all derivations up to a depth, in NLTK's order."""
    from nltk import CFG
    from nltk.parse.generate import generate

    return [" ".join(words) for words in generate(CFG.fromstring(text), depth=depth)]


def is_sentence(parser: Any, words: Sequence[str]) -> bool:
    return next(iter(parser.parse(list(words))), None) is not None


def leaves(tree: Any, path: Path = ()) -> list[tuple[Path, str]]:
    """Words of an NLTK tree, each with the symbols above it and how many of that name stand to its left."""
    found: list[tuple[Path, str]] = []
    names = [child if isinstance(child, str) else child.label() for child in tree]
    for place, child in enumerate(tree):
        step = (names[place], names[:place].count(names[place]))
        if isinstance(child, str):
            found.append((path, child))
        else:
            found += leaves(child, (*path, step))
    return found


def align(candidate: Any, reference: Any, classes: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """Align words in the same place that are equal or of a class; for grammars of one word or only symbols a rule."""
    return [
        (place, other)
        for place, (path, word) in enumerate(leaves(candidate))
        for other, (other_path, counterpart) in enumerate(leaves(reference))
        if path == other_path
        and (word == counterpart or any(word in words and counterpart in words for words in classes))
    ]


def label(
    candidate: Sequence[str], reference: Sequence[str], alignment: Sequence[tuple[int, int]], function: set[str]
) -> str:
    if list(candidate) == list(reference):
        return "identical"
    left = {place for place, word in enumerate(candidate) if word not in function}
    right = {place for place, word in enumerate(reference) if word not in function}
    left_met = left & {place for place, _ in alignment}
    right_met = right & {place for _, place in alignment}
    if not left_met and not right_met:
        return "unrelated"
    return "paraphrase" if left_met == left and right_met == right else "related"
