"""Edits from two texts: an alignment by a linguistic cost, then rules that say which changes are one edit.

The costs and the order of the rules are those of ERRANT (Bryant et al. 2017; Felice et al. 2016). It asks a parser for
lemmas and parts of speech; here stems, suffixes and the closed classes of English stand in their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate, chain, groupby

from softbleu.corpora.edits import Edit
from softbleu.embeddings.function_words import function_class
from softbleu.metrics.m2.lattice import common_ends

_OPEN = frozenset({"noun", "verb", "auxiliary", "adjective", "adverb"})
_OTHER_LEMMA, _OTHER_CONTENT, _OTHER_CLASS = 0.499, 0.25, 0.5
_SIMILAR = 0.75
_AT_ONCE, _RUN = 1 << 14, 3  # Pairs of words that are aligned at once; equal words that part longer texts
_LONGEST = 16  # Words that may stand in another order

_INSERT, _DELETE, _SUBSTITUTE = -1, -2, -3  # Ways to a cell; others are as many words, kept or in another order
_NAMES = {_INSERT: "I", _DELETE: "D", _SUBSTITUTE: "S", 1: "M"}

Step = tuple[str, int, int, int, int]
"""What is done (M keep, S substitute, D delete, I insert, T transpose) to which words: start, end of both texts."""


def extract_edits(source: Sequence[str], output: Sequence[str]) -> tuple[Edit, ...]:
    """Find the edits that make an output of its source."""
    edits = []
    steps = [_align(source, output, *bounds) for bounds in _parts(source, output)]
    for start, end, first, last in chain.from_iterable(_merged(source, output, each) for each in steps):
        while start < end and first < last and source[start] == output[first]:
            start, first = start + 1, first + 1
        while start < end and first < last and source[end - 1] == output[last - 1]:
            end, last = end - 1, last - 1
        if start < end or first < last:
            edits.append(Edit(start, end, _kind(start, end, first, last), (" ".join(output[first:last]),)))
    return tuple(edits)


def _kind(start: int, end: int, first: int, last: int) -> str:
    return "M" if start == end else "U" if first == last else "R"


def _parts(source: Sequence[str], output: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """What is aligned, as start and end in both: all but common ends; of long texts what runs of equal words part."""
    prefix, suffix = common_ends(source, output)
    start, end, first, last = prefix, len(source) - suffix, prefix, len(output) - suffix
    if (end - start) * (last - first) > _AT_ONCE:
        from rapidfuzz.distance import Levenshtein

        for code in Levenshtein.opcodes(source[start:end], output[first:last]):
            if code.tag == "equal" and code.src_end - code.src_start >= _RUN:
                yield start, prefix + code.src_start, first, prefix + code.dest_start
                start, first = prefix + code.src_end, prefix + code.dest_end
    yield start, end, first, last


def _align(source: Sequence[str], output: Sequence[str], start: int, end: int, first: int, last: int) -> list[Step]:
    """Cheapest alignment of source words start up to end and output words first up to last."""
    ours, theirs = source[start:end], output[first:last]
    sums, their_sums = _summed(ours), _summed(theirs)
    columns = len(theirs)
    costs = [[float(column) for column in range(columns + 1)]]
    back: list[list[int]] = [[_INSERT] * (columns + 1)]
    for i, word in enumerate(ours):
        above, row, ways = costs[-1], [i + 1.0], [_DELETE]
        left = row[0]
        for j, other in enumerate(theirs):
            if word == other:
                left, way = above[j], 1
            else:
                best, way = above[j] + _substitution(word, other), _SUBSTITUTE
                # As many words on both sides, in another order.
                for width in range(2, min(i, j, _LONGEST) + 2):
                    up, across = i + 1 - width, j + 1 - width
                    if costs[up + 1][across + 1] == costs[up][across]:
                        break
                    if sums[i + 1] - sums[up] == their_sums[j + 1] - their_sums[across]:
                        if costs[up][across] + width - 1 <= best:
                            best, way = costs[up][across] + width - 1, width
                        break
                if left + 1 < best:
                    best, way = left + 1, _INSERT
                if above[j + 1] + 1 < best:
                    best, way = above[j + 1] + 1, _DELETE
                left = best
            row.append(left)
            ways.append(way)
        costs.append(row)
        back.append(ways)
    return _trace(back, start, first)


def _summed(words: Sequence[str]) -> list[int]:
    """Sums of numbers of the first 0, 1, 2, … words: texts of the same words, in whatever order, have the same."""
    return list(accumulate((_number(word.lower()) for word in words), initial=0))


@lru_cache(1 << 16)
def _number(word: str) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")


def _trace(back: list[list[int]], start: int, first: int) -> list[Step]:
    """Steps of a table of ways, whose first cell lies behind so many words of the texts."""
    steps: list[Step] = []
    i, j = len(back) - 1, len(back[0]) - 1
    while i or j:
        way = back[i][j]
        down, across = {_INSERT: (0, 1), _DELETE: (1, 0), _SUBSTITUTE: (1, 1)}.get(way, (way, way))
        kind = _NAMES.get(way, "T")
        steps.append((kind, start + i - down, start + i, first + j - across, first + j))
        i, j = i - down, j - across
    return steps[::-1]


def _merged(source: Sequence[str], output: Sequence[str], steps: list[Step]) -> Iterator[tuple[int, int, int, int]]:
    for kind, group in groupby(steps, lambda step: step[0] if step[0] in "MT" else ""):
        if kind == "T":
            yield from (step[1:] for step in group)
        elif kind == "":
            yield from (_span(part) for part in _split(source, output, list(group)))


def _span(steps: Sequence[Step]) -> tuple[int, int, int, int]:
    return steps[0][1], steps[-1][2], steps[0][3], steps[-1][4]


def _split(source: Sequence[str], output: Sequence[str], steps: list[Step]) -> list[list[Step]]:
    """Cut neighbouring steps into edits."""
    if len(steps) <= 1:
        return [steps] if steps else []
    ops = [step[0] for step in steps]
    if {*ops} in ({"D"}, {"I"}):
        return [steps]

    def parts(start: int, end: int) -> list[list[Step]]:
        before, after = steps[:start], steps[end:]
        return [*_split(source, output, before), steps[start:end], *_split(source, output, after)]

    content = False
    size = len(steps)
    windows = sorted(((a, b) for a in range(size) for b in range(a + 2, size + 1)), key=lambda w: w[0] - w[1])
    for start, end in windows:
        if "S" not in ops[start:end]:
            continue
        first, last, left, right = _span(steps[start:end])
        ours, theirs = source[first:last], output[left:right]
        if ours[-1].lower() == theirs[-1].lower():
            if start == 0 and (
                (len(ours) == 1 and theirs[0][0].isupper()) or (len(theirs) == 1 and ours[0][0].isupper())
            ):
                return parts(start, end)
            if (len(ours) > 1 and _is_punctuation(ours[-2])) or (len(theirs) > 1 and _is_punctuation(theirs[-2])):
                return parts(end - 2, end)
        if _letters(ours) == _letters(theirs):
            return parts(start, end)
        classes = {*map(_word_class, ours), *map(_word_class, theirs)}
        # Forms of one verb: all but auxiliaries and `to` has the same stem.
        others = {word.lower() for word in (*ours, *theirs) if _word_class(word) != "auxiliary"} - {"to"}
        verbs = {*map(_word_class, others)} <= _OPEN and len({*map(_lemma, others)}) == 1
        if len(ours) != len(theirs) and (verbs or len(classes) == 1):
            return parts(start, end)
        if end - start < 3:
            if len(ours) == len(theirs) == 2:
                return _split(source, output, steps[: start + 1]) + _split(source, output, steps[start + 1 :])
            if (ops[start] == "S" and _similarity(ours[0], theirs[0]) > _SIMILAR) or (
                ops[end - 1] == "S" and _similarity(ours[-1], theirs[-1]) > _SIMILAR
            ):
                return _split(source, output, steps[: start + 1]) + _split(source, output, steps[start + 1 :])
            if end == size and (
                (ops[-1] in "DS" and _word_class(ours[-1]) == "determiner")
                or (ops[-1] in "IS" and _word_class(theirs[-1]) == "determiner")
            ):
                return [*_split(source, output, steps[:-1]), [steps[-1]]]
        content = content or not classes.isdisjoint(_OPEN)
    return [steps] if content else [[step] for step in steps]


def _letters(words: Sequence[str]) -> str:
    return "".join(words).lower().replace("'", "").replace("-", "")


def _is_punctuation(word: str) -> bool:
    return not any(map(str.isalnum, word))


@lru_cache(1 << 16)
def _similarity(one: str, other: str) -> float:
    from rapidfuzz.distance.Indel import normalized_similarity

    return float(normalized_similarity(one, other))


@lru_cache(1 << 16)
def _substitution(one: str, other: str) -> float:
    if one.lower() == other.lower():
        return 0.0
    first, second = _word_class(one), _word_class(other)
    cost = 0.0 if _lemma(one) == _lemma(other) else _OTHER_LEMMA
    if first != second:
        cost += _OTHER_CONTENT if {first, second} <= _OPEN else _OTHER_CLASS
    return cost + 1 - _similarity(one, other)


@lru_cache(1 << 16)
def _lemma(word: str) -> str:
    from nltk.stem.porter import PorterStemmer

    lower = word.lower()
    return _IRREGULAR.get(lower) or PorterStemmer().stem(lower)


_FORMS = """be am is are was were been being 's 're 'm|have has had having 've|do does did done doing|go goes went gone|
a an|this these|that those|will would 'll|can could ca|i me|he him|she her|we us|they them|who whom|
take took taken|make made|give gave given|get got gotten|know knew known|think thought|see saw seen|come came|
become became|find found|tell told|say said|feel felt|leave left|bring brought|begin began begun|keep kept|hold held|
write wrote written|stand stood|hear heard|let|mean meant|set|meet met|pay paid|sit sat|speak spoke spoken|
lie lay lain|lead led|read|grow grew grown|lose lost|fall fell fallen|send sent|build built|understand understood|
draw drew drawn|break broke broken|spend spent|cut|rise rose risen|drive drove driven|buy bought|wear wore worn|
choose chose chosen|seek sought|throw threw thrown|catch caught|deal dealt|win won|forget forgot forgotten|
child children|man men|woman women|person people|foot feet|tooth teeth|good better best|bad worse worst"""
_IRREGULAR = {form: forms.split()[0] for forms in _FORMS.replace("\n", "").split("|") for form in forms.split()}
_SUFFIXES = (
    ("adverb", ("ly",)),
    ("adjective", ("ous", "ful", "ive", "able", "ible", "al", "ic", "less", "ary")),
    ("noun", ("tion", "sion", "ment", "ness", "ity", "ance", "ence", "ism", "ist", "ship", "ology", "er", "or")),
    ("verb", ("ing", "ed", "ize", "ise", "ify", "ate", "en")),
)


@lru_cache(1 << 16)
def _word_class(word: str) -> str:
    """Part of speech, guessed."""
    lower = word.lower()
    if _is_punctuation(lower):
        return "punctuation"
    known = function_class(lower)
    if known:
        return known
    if any(map(str.isdigit, lower)):
        return "number"
    return next((kind for kind, endings in _SUFFIXES if lower.endswith(endings) and len(lower) > 4), "noun")
