"""Clipped counts of the n-grams of short texts, as strings with a letter for each word."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain, count, repeat

_UNKNOWN, _BETWEEN, _FIRST = "\0", "\1", 2  # A word of no reference, what stands between references, the first letter


class LetteredTexts:
    """Short references, and maybe a source, to which candidates are compared one after the other.

    Examples
    --------
    >>> texts = LetteredTexts(["abab"], source="aac")
    >>> texts.clipped_counts("aaba", 3), texts.uncorrected("aaba", 3)
    ([3, 2, 1], [0, 1, 0])
    """

    def __init__(self, references: Sequence[Sequence[Hashable]], source: Sequence[Hashable] = ()) -> None:
        words = dict.fromkeys(chain(*references, source))
        self._letters = dict(zip(words, map(chr, count(_FIRST)), strict=False))
        *self._texts, self._source = ["".join(map(self._letters.__getitem__, text)) for text in (*references, source)]
        self._all = _BETWEEN.join(self._texts)
        self.lengths = [*map(len, references)]

    def clipped_counts(self, candidate: Sequence[Hashable], order: int) -> list[int]:
        """Count the n-grams of a candidate found in the references, clipped, for each order."""
        return self._counts(candidate, order, self._all, self._texts)

    def uncorrected(self, candidate: Sequence[Hashable], order: int) -> list[int]:
        """Count the n-grams of a candidate found in the source, clipped, and in no reference, for each order."""
        return self._counts(candidate, order, self._source, [self._source], without=self._all)

    def _counts(
        self, candidate: Sequence[Hashable], order: int, known: str, texts: Sequence[str], without: str | None = None
    ) -> list[int]:
        # The mark at the end is in no text.
        text = "".join(map(self._letters.get, candidate, repeat(_UNKNOWN))) + _UNKNOWN
        counts, places = [0] * order, [*range(len(candidate))]
        for n in range(order):
            # An n-gram is there only where the one without its last word is.
            places = [place for place in places if text[place : place + n + 1] in known]
            if not places:
                break
            hits = [text[place : place + n + 1] for place in places]
            if without is not None:
                hits = [ngram for ngram in hits if ngram not in without]
            counts[n], distinct = len(hits), set(hits)
            if len(distinct) < len(hits):
                for ngram in distinct:
                    times = hits.count(ngram)
                    if times > 1:
                        counts[n] -= max(times - max([_occurrences(other, ngram) for other in texts]), 0)
        return counts


def _occurrences(text: str, ngram: str) -> int:
    """Count the places where an n-gram begins; `str.count` leaves out those within another.

    >>> _occurrences("aaaba", "aa")
    2
    """
    if len(ngram) == 1:
        return text.count(ngram)
    number, place = 0, text.find(ngram)
    while place >= 0:
        number, place = number + 1, text.find(ngram, place + 1)
    return number
