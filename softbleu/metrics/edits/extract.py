"""Edits that make a text of its source."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from softbleu.corpora.edits import Edit


def extract_edits(source: Sequence[str], output: Sequence[str]) -> tuple[Edit, ...]:
    """Find the edits that make a text of its source, by the words that both have.

    >>> extract_edits("he eat a apple".split(), "he eats an apple".split())
    (Edit(start=1, end=3, kind='', corrections=('eats an',), required='REQUIRED', comment='-NONE-'),)
    """
    return _extracted(tuple(source), tuple(output))


@lru_cache(1 << 14)
def _extracted(source: tuple[str, ...], output: tuple[str, ...]) -> tuple[Edit, ...]:
    steps = SequenceMatcher(None, source, output, autojunk=False).get_opcodes()
    return tuple(
        Edit(start, end, "", (" ".join(output[first:last]),))
        for kind, start, end, first, last in steps
        if kind != "equal"
    )
