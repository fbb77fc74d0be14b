"""Fewest edits and shifts that make a reference of a candidate, as sacrebleu (after Tercom) looks for them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from softbleu.io.limits import Limit
from softbleu.metrics.ter.table import Table, surely_within

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LONG = 500  # Words from which a table has the cells about its diagonal only, for it is smaller
_LONGEST, _FARTHEST, _MOST_TRIED = 10, 50, 1000
"""Words of a shift, distance between the places that are alike, and shifts that are tried for a segment."""
_LIMIT = Limit("ter", "pairs of words", 1 << 28, "a document of 3,000 words: 9,000,000")  # Of a segment

Shift = tuple[int, int, int]
"""How many words, and less than nothing their start and their target: of equally good shifts the greatest is made."""


def fewest_edits(candidate: Sequence[int], reference: Sequence[int]) -> int:
    """Count the edits and shifts of a greedy search, which makes the shift that saves most edits until none does.

    >>> fewest_edits([3, 4, 1, 2], [1, 2, 3, 4]), fewest_edits([1, 5], [1, 2, 3])
    (1, 2)
    """
    if not candidate or not reference or candidate == reference:
        return abs(len(candidate) - len(reference))
    if max(len(candidate), len(reference)) > _LONG:
        words = f"a segment of {len(candidate):,} candidate and {len(reference):,} reference words"
        _LIMIT.check(len(candidate) * len(reference), words)
    # A letter a word; those that the reference does not have are all alike.
    letters = {word: chr(number) for number, word in enumerate(dict.fromkeys(reference), 2)}
    ours, theirs = ("".join([letters.get(word, "\0") for word in text]) for text in (candidate, reference))
    # No order of the candidate's words costs less.
    least = max(len(ours), len(theirs)) - (Counter(ours) & Counter(theirs)).total()
    return _Search(len(ours), theirs).edits(ours, least)


class _Search:
    """Shifts in candidates of one length, to come nearer to a reference, whose words are letters."""

    def __init__(self, length: int, reference: str) -> None:
        from rapidfuzz.distance.Levenshtein import distance

        self._length, self._reference = length, reference
        self._plain = distance
        self._within = surely_within(length, len(reference))
        self._whole = len(reference) <= _LONG

    @cached_property
    def _table(self) -> Table:
        return Table(self._length, self._reference, whole=self._whole)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Where each word of the reference stands."""
        places: dict[str, list[int]] = {word: [] for word in self._reference}
        for place, word in enumerate(self._reference):
            places[word].append(place)
        return places

    def _distance(self, candidate: str, most: int) -> int:
        """Edit distance of the table, if the plain one, which is never greater, is at most so much."""
        distance = self._plain(candidate, self._reference, score_cutoff=most)
        return self._table.distance(candidate) if self._within < distance <= most else distance

    def edits(self, candidate: str, least: int) -> int:
        """Count edits and shifts; there are at least so many edits."""
        shifts = tried = 0
        cost = self._plain(candidate, self._reference)
        if cost > self._within:
            self._whole = False
            cost = self._table.distance(candidate)
        while cost > least:
            found, more = self._shifts(candidate, _MOST_TRIED - tried)
            tried += more
            if tried >= _MOST_TRIED:
                break
            best = None
            for shift in sorted(found, reverse=True):
                shifted = _shifted(candidate, shift)
                edits = self._distance(shifted, cost - 1)
                if edits < cost:
                    best, cost = shifted, edits
                if cost == least:
                    break
            if best is None:
                break
            candidate = best
            shifts += 1
        return shifts + cost

    def _shifts(self, candidate: str, most: int) -> tuple[Iterable[Shift], int]:
        """Find shifts of words to where they are missed, and how many there were to try; from `most` on it stops."""
        behind, wrong, missed = self._table.alignment(candidate)
        places = self._places
        # What ends a text is equal to nothing.
        ours, theirs = candidate + "\0", self._reference + "\1"
        found: set[Shift] = set()
        tried = 0
        long = len(self._reference) > _FARTHEST
        for start, word in enumerate(candidate):
            alike = places.get(word, [])
            if long or start > _FARTHEST:
                alike = alike[bisect_left(alike, start - _FARTHEST) : bisect_right(alike, start + _FARTHEST)]
            for place in alike:
                # Words that are to go within themselves stay.
                ahead = behind[place + 1] - start
                if ahead == 1:
                    continue
                longest = min(_LONGEST, ahead - 1) if ahead > 1 else _LONGEST
                length = 1
                while length <= longest:
                    if wrong[start + length] > wrong[start] and missed[place + length] > missed[place]:
                        targets = dict.fromkeys(behind[place : place + length + 1])
                        tried += len(targets)
                        found.update([(length, -start, -target) for target in targets])
                    if ours[start + length] != theirs[place + length]:
                        break
                    length += 1
                if tried >= most:
                    return found, tried
        return found, tried


def _shifted(words: str, shift: Shift) -> str:
    """Move words to a target; one among themselves counts from their end."""
    length, start, target = shift[0], -shift[1], -shift[2]
    end = start + length
    if target < start:
        return words[:target] + words[start:end] + words[target:start] + words[end:]
    if target <= end:
        target += length
    return words[:start] + words[end:target] + words[start:end] + words[target:]
