"""TER: edits and shifts that make a reference of the candidate, per reference word."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

import numpy as np

from softbleu.config.declare import setting
from softbleu.errors import Parameter
from softbleu.io.arguments import Limit
from softbleu.io.platform import cached_property
from softbleu.io.progress import note
from softbleu.metrics.base import SpelledMetric
from softbleu.metrics.protocols import WordPair
from softbleu.metrics.requirements import Requirements
from softbleu.metrics.score import Score, ScoreColumns, column
from softbleu.metrics.settings import UNCORRECTED, tokenizer_setting
from softbleu.text.tokens import ChangedTokenizer, Split, Tokenizer, Whitespace

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk, WordTable
    from softbleu.types import Floats, Integers, Words

_SHARES = math.lcm(*range(1, 17))  # Of a reference word: the mean length of up to 16 references is whole


@dataclass(frozen=True)
class TerScore(Score):
    """Edits per reference word, in per cent; less is better."""

    edits: int = column("edits", "edits", "count")
    reference_length: float = column("ref. length", "references", "tokens")


@dataclass(frozen=True, repr=False)
class Ter(SpelledMetric):
    """Translation edit rate (Snover et al. 2006), by sacrebleu's search for shifts, over the tokens of the tokenizer.

    The score is 100 times the edits per word of the reference: insertions, deletions and substitutions of a word, and
    shifts of words in a row. Of several references the fewest edits count, and their mean length. As sacrebleu does
    by default, words are those between white space, in lower case.

    Parameters
    ----------
    normalized, no_punct, asian_support, case_sensitive
        As in sacrebleu.

    Examples
    --------
    >>> Ter().score(np.array([1, 4 * _SHARES]))
    TerScore(score=25.0, edits=1, reference_length=4.0)
    """

    normalized: bool = setting(False, "Split punctuation off words, and read entities such as &amp;, as Tercom does")
    no_punct: bool = setting(False, "Leave punctuation out")
    asian_support: bool = setting(
        False, "With normalized: split CJK text into characters; with no-punct: remove CJK punctuation"
    )
    case_sensitive: bool = setting(False, "Keep capitals, even where lowercase is set")
    tokenizer: Tokenizer = tokenizer_setting(Whitespace(lowercase=True))
    name: ClassVar[str] = "ter"
    also_rewards: ClassVar[str] = UNCORRECTED
    higher_is_better: ClassVar[bool] = False
    spelled: ClassVar[str] = "spaced"

    @cached_property
    def requires(self) -> Requirements:
        """The characters of words, where these are aligned."""
        return Requirements(parts=(self.spelled,) * (self.aligned_parts is not None))

    def complete(self) -> None:
        """Take words of the text as settings change it."""
        super().complete()
        if self.asian_support and not (self.normalized or self.no_punct):
            # As in sacrebleu; the signature says what is computed.
            either = Parameter("normalized"), " or ", Parameter("no_punct")
            note(Parameter("asian_support"), " has no effect without ", *either)
            object.__setattr__(self, "asian_support", False)
        plain = self.tokenizer.plain
        made = replace(plain, lowercase=plain.lowercase and not self.case_sensitive)
        if self.normalized or self.no_punct:
            made = TercomTokenizer(made, self.normalized, self.no_punct, self.asian_support)
        object.__setattr__(self, "tokenizer", made)

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Fewest edits of each segment, and the mean length of its references: (segments, 2)."""
        return np.array([_row(references, costs) for _, references, costs in _compared(chunk)], np.int64)

    @property
    def counts_texts(self) -> bool:
        """Always."""
        return True

    def known_texts(self, references: Sequence[Sequence[str]], source: Sequence[str]) -> Sequence[Sequence[str]]:
        """Return the references."""
        return references

    def text_rows(self, candidate: Sequence[str], known: Sequence[Sequence[str]]) -> list[list[int]]:
        """Count edits and words; see `statistics`."""
        return [_row(known, [fewest_edits(candidate, reference) for reference in known])]

    def score(self, row: Integers | Floats | Sequence[int]) -> TerScore:
        """Score one row, by the steps of `columns`."""
        edits, shares = row.tolist() if isinstance(row, np.ndarray) else row
        length = shares / _SHARES
        return TerScore(100 * (edits / length if shares else 1.0 if edits else self._nothing), edits, length)

    @property
    def _nothing(self) -> float:
        """The rate of no edits without words of references; an output that has not begun has none."""
        return np.nan if self.partial else 0.0

    def pairs(self, chunk: Chunk, words: WordTable | None) -> Iterator[tuple[WordPair, ...]]:
        """The fewest edits and shifts that make a reference of each candidate, and the words that stay."""
        for candidate, references, costs in _compared(chunk):
            number = costs.index(min(costs))
            aligned = aligned_words(candidate, references[number])
            yield tuple(WordPair(kind, at, size, number, *other) for at, size, *other, kind in aligned)

    def columns(self, rows: Integers | Floats) -> ScoreColumns[TerScore]:
        """Score rows of statistics, or sums of rows."""
        edits, shares = np.asarray(rows).T
        lengths = shares / _SHARES
        rates = np.divide(edits, lengths, out=np.where(edits > 0, 1.0, self._nothing), where=shares > 0)
        return ScoreColumns(TerScore, 100 * rates, edits=edits.astype(np.int64), reference_length=lengths)


def _row(references: Sequence[Sequence[Hashable]], costs: Sequence[int]) -> list[int]:
    """Return the fewest edits, and the mean length of references."""
    return [min(costs), round(_SHARES * sum(map(len, references)) / len(references))]


def _compared(chunk: Chunk) -> Iterator[tuple[Words, list[Words], list[int]]]:
    """Candidate and references of each segment, and the fewest edits that each reference takes."""
    lines, bounds = chunk.references.by_line(), pairwise(chunk.segment_offsets.tolist())
    for candidate, (start, stop) in zip(chunk.candidates.by_line(), bounds, strict=True):
        yield candidate, lines[start:stop], [fewest_edits(candidate, line) for line in lines[start:stop]]


_ENTITIES = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
_APART = str.maketrans({mark: f" {mark} " for mark in '!"#$%&()*+/:;<=>?@[\\]^_`{|}~'})
_POINTS = (
    # Unless a digit stands before, or behind it.
    (re.compile("([^0-9])([.,])"), r"\1 \2 "),
    (re.compile("([.,])([^0-9])"), r" \1 \2"),
    (re.compile("([0-9])(-)"), r"\1 \2 "),
)
_PUNCTUATION = str.maketrans(dict.fromkeys('.,?:;!"()'))
_ASIAN_MARKS = (
    "\u3001\u3002\u3008-\u3011\u3014-\u301f\u30fb\uff01\uff02\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f\uff61-\uff65"
)
_ASIAN_PUNCTUATION = re.compile(f"[{_ASIAN_MARKS}]")
# CJK radicals, strokes, enclosed and compatibility forms, ideographs; not kana within words.
_ASIAN = re.compile(
    f"([\u2e80-\u2eff\u31c0-\u31ef\u3200-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f{_ASIAN_MARKS}])"
)


@dataclass(frozen=True)
class TercomTokenizer(ChangedTokenizer):
    """Words of text that is changed first.

    >>> TercomTokenizer(Whitespace(lowercase=True), normalized=True).split("It's 1,000 -- or so.")
    ['it', "'s", '1,000', '--', 'or', 'so', '.']
    >>> TercomTokenizer(no_punct=True).split("No, I did not (yet).")
    ['No', 'I', 'did', 'not', 'yet']
    """

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False

    @property
    def splitter(self) -> Split:
        """The function that splits a line."""
        split = self.inner.tokens
        return lambda line: split(self._changed(line))

    def reference(self, line: str) -> str:
        """A line that is changed already: sacrebleu changes references twice, and the second time splits more."""
        return " ".join(self._changed(line).split())

    def _changed(self, line: str) -> str:
        line = line.rstrip()
        if self.lowercase:
            line = line.lower()
        if self.normalized:
            line = _normalized(line)
            if self.asian_support:
                line = _ASIAN.sub(r" \1 ", line)
        if self.no_punct:
            line = line.translate(_PUNCTUATION)
            if self.asian_support:
                line = _ASIAN_PUNCTUATION.sub("", line)
        return line


def _normalized(line: str) -> str:
    line = line.replace("\n-", "").replace("\n", " ")
    for entity, character in _ENTITIES.items():
        line = line.replace(entity, character)
    line = f" {line} ".translate(_APART).replace("'s ", " 's ")
    for pattern, apart in _POINTS:
        line = pattern.sub(apart, line)
    return line


_LONG = 500  # Words from which a table has the cells about its diagonal only, for it is smaller
_LONGEST, _FARTHEST, _MOST_TRIED = 10, 50, 1000
"""Words of a shift, distance between the indices of equal words, and shifts that are tried for a segment."""
_LIMIT = Limit("ter", "pairs of words", 1 << 28, "a document of 3,000 words: 9,000,000")  # Of a segment

Shift = tuple[int, int, int]
"""Number of words, and negated their start and their target: of equally good shifts the greatest is made."""
_Words = TypeVar("_Words", str, list[int])


def fewest_edits(candidate: Sequence[Hashable], reference: Sequence[Hashable]) -> int:
    """Count edits and shifts from candidate to reference; the shift that saves most edits is made until none does.

    >>> fewest_edits([3, 4, 1, 2], [1, 2, 3, 4]), fewest_edits([1, 5], [1, 2, 3])
    (1, 2)
    """
    if not candidate or not reference or candidate == reference:
        return abs(len(candidate) - len(reference))
    return _searched(candidate, reference).cost


def aligned_words(candidate: Sequence[int], reference: Sequence[int]) -> list[tuple[int, int, int, int, str]]:
    """List words of the candidate and the words of the reference that they become, by the edits of `fewest_edits`.

    Each entry has the start and the number of words on both sides, and says whether words are `exact` or shifted as
    they are (`shifted`, all of one shift that are together), or a word is `substituted`, `deleted` or `inserted`.

    >>> aligned_words([3, 4, 1, 5], [1, 2, 3, 4])
    [(0, 2, 2, 2, 'shifted'), (2, 1, 0, 1, 'exact'), (3, 1, 1, 1, 'substituted')]
    """
    order, behind, moved = list(range(len(candidate))), [0] * (len(reference) + 1), [0] * len(candidate)
    if candidate and reference:
        search = _searched(candidate, reference)
        behind = search.alignment.behind
        for number, shift in enumerate(search.made, 1):
            for word in order[-shift[1] : shift[0] - shift[1]]:
                moved[word] = number
            order = _shifted(order, shift)
    runs: list[tuple[int, int, int, int, str]] = []
    last = -1  # Word of the candidate that an inserted one is to follow
    for place, (before, after) in enumerate(pairwise(behind)):
        if before == after:
            runs.append((last + 1, 0, place, 1, "inserted"))
            continue
        runs += [(word, 1, place, 0, "deleted") for word in order[before : after - 1]]
        last = order[after - 1]
        kind = "exact" if candidate[last] == reference[place] else "substituted"
        if moved[last] and kind == "exact":
            kind = "shifted"
            start, size, other, _, before_kind = runs[-1] if runs else (0, 0, 0, 0, "")
            if before_kind == kind and moved[start] == moved[last] and start + size == last and other + size == place:
                runs[-1] = start, size + 1, other, size + 1, kind
                continue
        runs.append((last, 1, place, 1, kind))
    runs += [(word, 1, len(reference), 0, "deleted") for word in order[behind[-1] :]]
    return sorted(runs)


def _searched(candidate: Sequence[Hashable], reference: Sequence[Hashable]) -> _Search:
    """Search for the edits of texts that have words."""
    if max(len(candidate), len(reference)) > _LONG:
        words = f"a segment of {len(candidate):,} candidate and {len(reference):,} reference words"
        _LIMIT.check(len(candidate) * len(reference), words)
    # A letter per word; those that the reference does not have share one.
    letters = {word: chr(number) for number, word in enumerate(dict.fromkeys(reference), 2)}
    ours, theirs = ("".join([letters.get(word, "\0") for word in text]) for text in (candidate, reference))
    # No order of the candidate's words costs less.
    shared = sum(map(min, map(ours.count, letters.values()), map(theirs.count, letters.values())))
    least = max(len(ours), len(theirs)) - shared
    return _Search(len(ours), theirs).run(ours, least)


class _Search:
    """Shifts in candidates of one length, to come nearer to a reference, whose words are letters."""

    def __init__(self, length: int, reference: str) -> None:
        from rapidfuzz.distance.Levenshtein import distance

        self._length, self._reference = length, reference
        self._plain = distance
        # Edit distance up to which all cheapest paths lie within the table.
        self._within = 2 * (_HALF_WIDTH - 2) - abs(length - len(reference))
        self._whole = len(reference) <= _LONG
        self.made: list[Shift] = []
        self.cost = 0  # Edits and shifts
        self._arranged = ""  # The candidate after the shifts

    @property
    def alignment(self) -> Edits:
        """The edits after all shifts."""
        return self._table.alignment(self._arranged)

    @cached_property
    def _table(self) -> _Table:
        return _Table(self._length, self._reference, whole=self._whole)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """List the places of each word of the reference."""
        indices: dict[str, list[int]] = {word: [] for word in self._reference}
        for index, word in enumerate(self._reference):
            indices[word].append(index)
        return indices

    def _distance(self, candidate: str, most: int) -> int:
        """Edit distance of the table, if the plain one, which is never greater, is at most so much."""
        distance = self._plain(candidate, self._reference, score_cutoff=most)
        return self._table.distance(candidate) if self._within < distance <= most else distance

    def run(self, candidate: str, least: int) -> _Search:
        """Find the shifts, and return itself; there are at least so many edits."""
        tried = 0
        cost = self._plain(candidate, self._reference)
        if cost > self._within:
            self._whole = False
            cost = self._table.distance(candidate)
        while cost > least:
            shifts, more = self._shifts(candidate, _MOST_TRIED - tried)
            tried += more
            if tried >= _MOST_TRIED:
                break
            best, chosen = None, (0, 0, 0)
            for shift in sorted(shifts, reverse=True):
                shifted = _shifted(candidate, shift)
                edits = self._distance(shifted, cost - 1)
                if edits < cost:
                    best, chosen, cost = shifted, shift, edits
                if cost == least:
                    break
            if best is None:
                break
            candidate = best
            self.made.append(chosen)
        self._arranged, self.cost = candidate, len(self.made) + cost
        return self

    def _shifts(self, candidate: str, most: int) -> tuple[Iterable[Shift], int]:
        """Find shifts of words to where they are missed, and how many there were to try; from `most` on it stops."""
        behind, wrong, missed = self._table.alignment(candidate)
        indices = self._places
        # What ends a text is equal to nothing.
        ours, theirs = candidate + "\0", self._reference + "\1"
        shifts: set[Shift] = set()
        tried = 0
        long = len(self._reference) > _FARTHEST
        for start, word in enumerate(candidate):
            equal = indices.get(word)
            if equal is None:
                continue
            if long or start > _FARTHEST:
                equal = equal[bisect_left(equal, start - _FARTHEST) : bisect_right(equal, start + _FARTHEST)]
            for index in equal:
                length, ahead = 1, behind[index + 1] - start
                # Words that are to go within themselves stay.
                while length != ahead:
                    end, stop = start + length, index + length
                    if wrong[end] > wrong[start] and missed[stop] > missed[index]:
                        targets = {*behind[index : stop + 1]}
                        tried += len(targets)
                        for target in targets:
                            shifts.add((length, -start, -target))
                    if length == _LONGEST or ours[end] != theirs[stop]:
                        break
                    length += 1
                if tried >= most:
                    return shifts, tried
        return shifts, tried


def _shifted(words: _Words, shift: Shift) -> _Words:
    """Move words to a target; one among themselves counts from their end."""
    length, start, target = shift[0], -shift[1], -shift[2]
    end = start + length
    if target < start:
        return words[:target] + words[start:end] + words[target:start] + words[end:]
    if target <= end:
        target += length
    return words[:start] + words[end:target] + words[start:end] + words[target:]


_HALF_WIDTH = 25  # Cells of a row on each side of the diagonal; others are not looked at


class Edits(NamedTuple):
    """Find the cheapest edits from a candidate to a reference."""

    behind: list[int]  # How many words of the candidate lie before the end of the reference's first 0, 1, 2, … words
    wrong: list[int]  # How many of the candidate's first 0, 1, 2, … words meet no equal word
    missed: list[int]  # How many of the reference's do not


class _Row(NamedTuple):
    """A row from `low` to `high`: bits are differences of neighbours, that of `base` and `base` + 1 the lowest."""

    low: int
    high: int
    base: int
    step: int  # How much further its base is than that of the row above
    new: int  # Bits beyond the row above
    bits: int
    meeting: int  # Bits of cells with a cell of the row above on their left: where words can meet


@lru_cache(maxsize=1 << 12)
def _rows(candidate: int, reference: int) -> list[_Row]:
    """Rows about the diagonal of a table of so many words, from the row of no word, which has all cells."""
    slope = reference / candidate
    half = math.ceil(slope / 2 + _HALF_WIDTH) if slope / 2 > _HALF_WIDTH else _HALF_WIDTH
    rows = [_Row(0, reference, max(0, math.floor(slope) - half - 1), 0, 0, 0, 0)]
    for number in range(1, candidate + 1):
        above, centre = rows[-1], math.floor(number * slope)
        low = max(0, centre - half)
        high = reference if number == candidate else min(reference, centre + half - 1)
        base = max(0, low - 1)
        bits = (1 << (high - base)) - 1
        new = bits >> (above.high - base) << (above.high - base)
        last = min(high, above.high + 1)
        meeting = (1 << (last - base)) - (1 << max(low - 1, above.low) - base)
        rows.append(_Row(low, high, base, base - above.base, new, bits, meeting))
    return rows


class _Table:
    """Edit distances from candidates of one length to a reference, whose words are letters.

    Unless it is whole, a table has the cells about its diagonal only. It is TER's own: these bounds, and the choice
    among equally cheap edits, decide which shifts are tried, and both are tercom's.
    Cells are bits (Myers 1999; Hyyrö 2003). Beyond the ends of a row, where there are no cells, words never match:
    then no path outside is cheaper than the one along the border.
    """

    def __init__(self, length: int, reference: str, *, whole: bool) -> None:
        self._reference = reference
        if whole:
            bits = (1 << len(reference)) - 1
            self._rows = [_Row(0, len(reference), 0, 0, 0, bits, bits)] * (length + 1)
        else:
            self._rows = _rows(length, len(reference))
        self._masks = dict.fromkeys(reference, 0)
        for index, letter in enumerate(reference):
            self._masks[letter] |= 1 << index

    def distance(self, candidate: str) -> int:
        """Edit distance of a candidate."""
        return self._filled(candidate)[0]

    def _filled(self, candidate: str) -> tuple[int, list[int], list[int]]:
        """Edit distance; of each row the cells equal to the one above on the left, and those above the one above."""
        masks = self._masks
        row = self._rows[1]
        _, _, base, _, _, bits, meeting = row
        corner, more, less = base, bits, 0
        same, raised = [0], [0]
        for letter, here in zip(candidate, self._rows[1:], strict=True):
            if here is not row:
                row = here
                _, _, base, step, new, bits, meeting = row
                gone = (1 << step) - 1
                corner += (more & gone).bit_count() - (less & gone).bit_count()
                more = more >> step | new
                less >>= step
            corner += 1
            meets = masks.get(letter, 0) >> base & meeting
            equal = (((meets & more) + more) ^ more | meets | less) & bits
            up = less | bits & ~(equal | more)
            same.append(equal)
            raised.append(up)
            down = (equal & more) << 1
            up = up << 1 | 1
            more = (down | ~(equal | up)) & bits
            less = up & equal
        return corner + more.bit_count() - less.bit_count(), same, raised

    def alignment(self, candidate: str) -> Edits:
        """Find the cheapest edits; of equal ones, from the end, matched words go first, then words left out."""
        _, same, raised = self._filled(candidate)
        rows, reference = self._rows, self._reference
        i, j = len(candidate), len(reference)
        behind, wrong, missed = [0] * (j + 1), [1] * (i + 1), [1] * (j + 1)
        wrong[0] = missed[0] = 0
        while i and j:
            low, high = rows[i - 1][:2]
            cell = j - 1 - rows[i].base
            equal = candidate[i - 1] == reference[j - 1]
            if low < j <= high + 1 and (equal or not same[i] >> cell & 1):
                behind[j] = i
                if equal:
                    wrong[i] = missed[j] = 0
                i -= 1
                j -= 1
            elif j <= high and raised[i] >> cell & 1:
                i -= 1
            else:
                behind[j] = i
                j -= 1
        return Edits(behind, list(accumulate(wrong)), list(accumulate(missed)))
