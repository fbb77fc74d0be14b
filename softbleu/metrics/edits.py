"""Edits that make a text of its source: how they are found, of which types they are, and which are gold edits.

Words are aligned by a linguistic cost, then rules merge steps into edits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import accumulate, combinations, pairwise
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np

from softbleu.config.languages import find_language
from softbleu.corpora.blanks import cut_as_gold
from softbleu.corpora.edits import (
    UNCLEAR,
    Annotation,
    CodedEdit,
    Edit,
    GoldSegment,
    TextEdit,
    annotator_texts,
    apply_edits,
)
from softbleu.corpora.validation import Blank
from softbleu.embeddings.function_words import WORD_CLASSES
from softbleu.errors import InputError, Parameter, counted, known_name, optional
from softbleu.io.arguments import check_texts, listed
from softbleu.metrics.chinese import AlignmentStep, Merging, merge_steps, merging_of
from softbleu.thesaurus.resources import stem, stem_in

if TYPE_CHECKING:
    from numpy.typing import NDArray


Extraction = Literal["own", "errant"]
_Pair = tuple[tuple[str, ...], tuple[str, ...]]
"""Source and output, in words."""
_CELLS = 1 << 14  # Of an alignment, 128 words by 128: what differs in longer parts is aligned piece by piece
_RUN = 40  # Steps in a row up to which rules look at parts; longer ones are one edit
_BACK = 4  # Equal words before the first change that are aligned, too
_ANCHOR = 3  # Words that two texts must have in common for a cut there
_LETTERS = 1000  # Of a word that are compared; no word of a language is longer
_ROUNDING = 1e-6  # Of costs that are added up
_ALIKE = 0.75  # Likeness of letters from which two words are one word, changed
_DIFFERENT_BASE, _OTHER_CLASS, _OTHER_CONTENT = 0.499, 0.5, 0.25


def extract_edits(
    source: Sequence[str], output: Sequence[str], language: str | None = None, merging: Merging | None = None
) -> tuple[Edit, ...]:
    """Find the edits that make a text of its source.

    Words are aligned at the least cost: 1 for a deletion or an insertion, for n words in another order n − 1, for a
    substitution up to 2: .499 unless both have the same base, .5 if they are of different classes (.25 if both
    carry content), and what the letters differ (Felice, Bryant & Briscoe, COLING 2016, "Automatic Extraction of
    Learner Errors in ESL Sentences Using Linguistically Enhanced Alignments"). Steps in a row are then merged into
    edits, or stay apart, by rules as in that paper. Where these ask a tagger, lists of English function words,
    irregular forms and endings answer. In another language every word with a letter carries content, bases are
    Snowball's stems, where it has the language, and there is no possessive. In Chinese steps are merged as in
    ChERRANT (see `softbleu.metrics.chinese`), unless `merging` says otherwise. With `spelling` each step is an edit,
    and texts with as many words are compared word by word, as in SIGHAN's evaluation of spelling correction (Tseng et
    al. 2015). Texts of any length: long ones are cut where both have the same words.

    Parameters
    ----------
    source, output
        Words.
    language
        Code of their language; None: English.
    merging
        Rules by which steps become edits: `errant`, `cherrant` or `spelling`; None: ChERRANT's in Chinese, else
        ERRANT's.

    Returns
    -------
    tuple of Edit
        In order. Their kinds are `missing`, `unnecessary` and `replacement`.

    Examples
    --------
    >>> found = extract_edits("he go to shops now a days".split(), "he goes to the shops nowadays".split())
    >>> [(edit.start, edit.end, edit.corrections[0]) for edit in found]
    [(1, 2, 'goes'), (3, 3, 'the'), (4, 7, 'nowadays')]
    """
    return _extracted(tuple(source), tuple(output), rules_of(language, merging))


def edit_texts(
    source: Iterable[str] | Sequence[GoldSegment],
    *outputs: Iterable[str],
    extraction: Extraction | None = None,
    language: str | None = None,
    split: Callable[[str], Sequence[str]] = str.split,
    types: Classify | None = None,
    merging: Merging | None = None,
    blank_outputs: Blank = "empty",
) -> list[GoldSegment]:
    """Find the edits of texts, as in a `.m2` file: the edits of each output are an annotator's.

    Parameters
    ----------
    source, outputs
        Tokenised lines, as many of each. The source may be the segments of a `.m2` file. Without outputs they keep
        their edits, or get other types, unless an `extraction` finds edits anew. An output whose every line is the
        text of one annotator (see `annotator_texts`), first of the same number, has the edits of that annotator.
    extraction
        `own` (see `extract_edits`), the default, or `errant`, which needs `softbleu[errant]`.
    language
        Code of the language of the lines, whose edits get types by their form (see `form_types`); None: of English,
        without types.
    split
        Makes words of a line, at blanks unless given.
    types
        Names the types of edits, such as `rule_types()`, in the place of types by form; ERRANT names its own.
    merging
        As in `extract_edits`.
    blank_outputs
        Whether a blank output deletes the sentence (`empty`), or is `missing`.

    Returns
    -------
    list of GoldSegment
        The source sentences and their edits, for `write_m2`.

    Raises
    ------
    InputError, MissingExtraError
        Another extraction, or no ERRANT.

    Examples
    --------
    >>> (segment,) = edit_texts(["he eat apple"], ["he eats apple"], ["he eats an apple"])
    >>> [len(annotation.edits) for annotation in segment.annotations]
    [1, 2]
    """
    find = _finder(extraction, language, types, merging)
    by_form = None if language is None or extraction == "errant" else form_types(language)
    classify = types or by_form
    lines = listed("source lines", source)
    gold = [one for one in lines if isinstance(one, GoldSegment)]
    if gold and not outputs and extraction is None:
        return [_with_types(one, one.annotations, classify) for one in gold]
    texts = [lines, *(listed("output lines", output) for output in outputs)]
    numbers, known = [*range(len(outputs))], dict[int, list[str]]()
    if gold and len(gold) == len(lines):
        known = annotator_texts(gold)
        texts = [[one.source for one in gold], *(texts[1:] or known.values())]
        texts[1:] = [cut_as_gold(f"output {number}", each, gold) for number, each in enumerate(texts[1:], start=1)]
        numbers = [*known] if len(known) == len(texts) - 1 else numbers
    for number, each in enumerate(texts):
        check_texts(f"output {number}" if number else "source", each)
        if len(each) != len(texts[0]):
            raise InputError(f"the source has {counted(len(texts[0]), 'line')}, output {number} has {len(each)}")
    known = known if extraction is None else {}
    parts = zip(numbers, texts[1:], strict=True)
    given = [_given(number, made, known, gold, blank_outputs) for number, made in parts]
    segments = list[GoldSegment]()
    for place, (text, *others) in enumerate(zip(*texts, strict=True)):
        words, annotations = split(text), list[Annotation]()
        for number, made, its_own in zip(numbers, others, given, strict=True):
            if its_own:
                annotations += its_own[place]
            elif blank_outputs == "empty" or made.strip():
                annotations.append(Annotation(number, find(words, split(made))))
        segments.append(_with_types(GoldSegment(" ".join(words), ()), annotations, classify))
    return segments


def _finder(
    extraction: Extraction | None, language: str | None, types: Classify | None, merging: Merging | None
) -> Callable[[Sequence[str], Sequence[str]], tuple[Edit, ...]]:
    """Make the function that finds edits; refuses settings that exclude one another."""
    known_name("extraction", extraction or "own", get_args(Extraction))
    if extraction == "errant" and language not in (None, "en"):
        raise InputError("ERRANT is for English: leave out ", Parameter("extraction"))
    if extraction == "errant" and types is not None:
        raise InputError("ERRANT names the types of its edits: leave out ", Parameter("types"))
    rules_of(language, merging)  # Refuses what does not go together, also where there are no lines
    if extraction == "errant":
        return errant_edits()
    return partial(extract_edits, language=language, merging=merging)


def _given(
    number: int, text: Sequence[str], known: Mapping[int, Sequence[str]], gold: Sequence[GoldSegment], blank: Blank
) -> list[list[Annotation]]:
    """Return the annotations of whom the whole text is, first of the same `number`, who may be absent; else none."""
    lines = [" ".join(line.split()) for line in text]
    for owner in sorted(known, key=lambda one: one != number):
        given = [
            [replace(one, annotator=number) for one in each.annotations if one.annotator == owner] for each in gold
        ]
        parts = zip(lines, known[owner], given, strict=True)
        if all(line == own or not (line or here or blank == "empty") for line, own, here in parts):
            return given
    return []


def _with_types(segment: GoldSegment, annotations: Iterable[Annotation], classify: Classify | None) -> GoldSegment:
    """Annotate a segment with edits, whose types are named unless they are unclear."""
    made, words = list[Annotation](), segment.source.split()
    for one in annotations:
        changes = one.in_words()
        # Edits that overlap make no text together.
        apart = any(edit[1] > other[0] or edit == other for edit, other in pairwise(changes))
        parts = [[change] for change in changes] if apart else [changes] if changes else []
        kinds = [
            kind for part in parts if classify for kind in classify(words, apply_edits(words, part), [*placed(part)])
        ]
        typed = (
            edit if edit.kind in UNCLEAR else replace(edit, kind=kind)
            for edit, kind in zip(one.edits, kinds, strict=True)
        )
        made.append(replace(one, edits=tuple(typed)) if classify else one)
    return replace(segment, annotations=tuple(made))


@lru_cache(1 << 14)
def _extracted(source: tuple[str, ...], output: tuple[str, ...], rules: WordRules) -> tuple[Edit, ...]:
    texts, edits = (source, output), list[Edit]()
    if rules.merging == "spelling" and len(source) == len(output):
        places = (place for place, (one, other) in enumerate(zip(source, output, strict=True)) if one != other)
        runs = [[("S", place, place + 1, place, place + 1)] for place in places]
    else:
        runs = _runs(_steps(texts, rules, 0, len(source), 0, len(output)))
    apart = rules.merging == "spelling"
    steps = (
        merge_steps(runs, texts)
        if rules.merging == "cherrant"
        else [step for run in runs for step in (run if apart else _merged(run, texts, rules))]
    )
    for _, start, end, first, last in steps:
        kind = "missing" if start == end else "replacement" if first < last else "unnecessary"
        edits.append(Edit(start, end, kind, (" ".join(output[first:last]),)))
    return tuple(edits)


def _runs(steps: Iterator[AlignmentStep]) -> list[list[AlignmentStep]]:
    """Group steps that follow one another without an equal word between; steps of order stand alone."""
    runs: list[list[AlignmentStep]] = []
    for step in steps:
        last = runs[-1][-1] if runs else None
        if last is None or "T" in (step[0], last[0]) or (step[1], step[3]) != last[2::2]:
            runs.append([])
        runs[-1].append(step)
    return runs


def _steps(texts: _Pair, rules: WordRules, start: int, end: int, first: int, last: int) -> Iterator[AlignmentStep]:
    """Align a part of both texts, cut into two where it is too long."""
    source, output = texts
    behind, same = common_ends(source[start:end][::-1], output[first:last][::-1])
    end, last = end - behind, last - behind
    # An insertion may as well stand some words earlier, after words that it ends with: the alignment has it there.
    start, first = (place + max(0, same - _BACK) for place in (start, first))
    if (end - start) * (last - first) > _CELLS:
        here, there = _cut(source[start:end], output[first:last])
        yield from _steps(texts, rules, start, start + here, first, first + there)
        yield from _steps(texts, rules, start + here, end, first + there, last)
        return
    for kind, *places in alignment_steps(source[start:end], output[first:last], rules):
        yield kind, start + places[0], start + places[1], first + places[2], first + places[3]


def _cut(source: tuple[str, ...], output: tuple[str, ...]) -> tuple[int, int]:
    """Find where to cut two texts: near the middle, where words stand that each text has once; else in the middle."""
    places: list[dict[tuple[str, ...], int]] = []
    for words in (source, output):
        ngrams = list(zip(*(words[shift:] for shift in range(_ANCHOR)), strict=False))
        counts = Counter(ngrams)
        places.append({ngram: place for place, ngram in enumerate(ngrams) if counts[ngram] == 1})
    size, other = len(source), len(output)
    common = ((place, places[1][ngram]) for ngram, place in places[0].items() if ngram in places[1])
    # The source is cut into parts of a quarter at least, so that there are few cuts of cuts.
    anchors = (pair for pair in common if size <= 4 * pair[0] <= 3 * size)
    middle = size // 2, other // 2
    return min(anchors, key=lambda pair: abs(pair[0] / size - 0.5) + abs(pair[1] / other - 0.5), default=middle)


def alignment_steps(source: tuple[str, ...], output: tuple[str, ...], rules: WordRules) -> list[AlignmentStep]:
    """Steps of the cheapest alignment of the words of a source and an output.

    Of equally cheap alignments order comes first, then substitution, then insertion. No other alignment has words in
    another order as steps, nor costs by letters and stems.
    """
    reorder, substituted = _Reordering.of(source, output), substitution_costs(source, output, rules)
    first, last = _diagonals(source, output)
    size, none = len(output), float("inf")
    costs, ways = [list(map(float, range(size + 1)))], [[-1] * (size + 1)]
    for row, word in enumerate(source):
        above, cost, way, here = costs[-1], [none] * (size + 1), [0] * (size + 1), substituted[row]
        cost[0], way[0] = row + 1.0, -2
        costs.append(cost)
        ways.append(way)
        moves = reorder.source[row] >= 0
        for column in range(max(0, row + first), min(size, row + last + 1)):
            if word == output[column]:
                cost[column + 1] = above[column]
                continue
            # 1 substitutes, -1 inserts, -2 deletes, more is the number of words in another order.
            least, chosen = above[column] + here[column], 1
            if cost[column] + 1 < least:
                least, chosen = cost[column] + 1, -1
            if above[column + 1] + 1 < least:
                least, chosen = above[column + 1] + 1, -2
            # What stands before n words in another order costs no less than the words that one text is ahead.
            room = least - abs(row - column)
            if moves and room >= 1 - _ROUNDING and reorder.output[column] >= 0:
                moved = reorder.size(costs, row, column, int(room + _ROUNDING) + 1)
                if moved and (there := costs[row + 1 - moved][column + 1 - moved] + moved - 1) <= least:
                    least, chosen = there, moved
            cost[column + 1], way[column + 1] = least, chosen
    return _traced(ways)


def _diagonals(source: Sequence[str], output: Sequence[str]) -> tuple[int, int]:
    """Bound the words by which a cheapest alignment may run ahead in the output.

    Each word that it runs ahead, or behind, is an insertion or a deletion. No alignment need cost more than that
    without substitutions; three times as much allows for all that words in another order are compared with.
    """
    from rapidfuzz.distance.Indel import distance

    longer = len(output) - len(source)
    slack = (3 * distance(source, output) - abs(longer)) // 2
    return min(0, longer) - slack, max(0, longer) + slack


@dataclass(frozen=True)
class _Reordering:
    """Words of two texts as numbers, whatever their case, -1 of words that only one has; sums of their squares."""

    source: list[int]
    output: list[int]
    sums: tuple[list[int], list[int]]

    @classmethod
    def of(cls, source: Sequence[str], output: Sequence[str]) -> Self:
        """Number the words."""
        low, lower = ([word.lower() for word in text] for text in (source, output))
        numbers = {word: number for number, word in enumerate(sorted({*low} & {*lower}), start=1)}
        one, other = ([numbers.get(word, -1) for word in text] for text in (low, lower))
        first, second = ([0, *accumulate(number * number for number in text)] for text in (one, other))
        return cls(one, other, (first, second))

    def size(self, costs: Sequence[Sequence[float]], row: int, column: int, most: int) -> int:
        """Number of words, 2 to `most`, that end here and are the same in another order; 0 without them.

        Both texts have the words that stand here. Order is looked for back to where equal words stand in order.
        """
        source, output = self.source, self.output
        one, other = self.sums
        gap = one[row + 1] - other[column + 1]
        for here, there in zip(range(row - 1, max(row - most, -1), -1), range(column - 1, -1, -1), strict=False):
            if source[here] < 0 or output[there] < 0 or costs[here + 1][there + 1] == costs[here][there]:
                return 0
            # Only words whose squares have the same sum can be the same.
            if one[here] - other[there] == gap and sorted(source[here : row + 1]) == sorted(
                output[there : column + 1]
            ):
                return row + 1 - here
        return 0


def _traced(ways: Sequence[Sequence[int]]) -> list[AlignmentStep]:
    """Follow the ways from the end; equal words are left out."""
    steps: list[AlignmentStep] = []
    row, column = len(ways) - 1, len(ways[0]) - 1
    while row or column:
        way = ways[row][column] if row and column else -1 if column else -2
        here, there = row - (way != -1) * max(way, 1), column - (way != -2) * max(way, 1)
        if way:
            steps.append(({1: "S", -1: "I", -2: "D"}.get(way, "T"), here, row, there, column))
        row, column = here, there
    return steps[::-1]


def substitution_costs(source: Sequence[str], output: Sequence[str], rules: WordRules) -> list[list[float]]:
    """Costs of writing the words of one text in the place of another's: a row for each of the first.

    They are 0 if only case differs, else below 2.

    >>> costs = substitution_costs(["goes"], ["Goes", "go", "went", "house", "the"], rules_of(None))
    >>> [round(cost, 2) for cost in costs[0]]
    [0.0, 0.33, 0.75, 1.05, 1.71]
    """
    from rapidfuzz.distance.Indel import normalized_similarity
    from rapidfuzz.process import cdist

    sides = [{word: number for number, word in enumerate(dict.fromkeys(text))} for text in (source, output)]
    cut = ([word[:_LETTERS] for word in side] for side in sides)
    likeness = cdist(next(cut), next(cut), scorer=normalized_similarity, dtype=np.float64)

    def numbers(of: Callable[[str], str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        known: dict[str, int] = {}
        one, other = (np.array([known.setdefault(of(word), len(known)) for word in side], np.int64) for side in sides)
        return one[:, None], other[None, :]

    content = [np.array([rules.word_class(word) in CONTENT for word in side], bool) for side in sides]
    base = np.where(np.equal(*numbers(lambda word: rules.base_form(word.lower()))), 0, _DIFFERENT_BASE)
    other = np.where(content[0][:, None] & content[1], _OTHER_CONTENT, _OTHER_CLASS)
    costs = base + np.where(np.equal(*numbers(rules.word_class)), 0, other) + 1 - likeness
    costs[np.equal(*numbers(str.lower))] = 0
    places = ([side[word] for word in text] for side, text in zip(sides, (source, output), strict=True))
    table: list[list[float]] = costs[np.ix_(*places)].tolist()
    return table


@lru_cache(1 << 16)
def likeness(word: str, other: str) -> float:
    """Compute the similarity of the letters of two words: twice the common ones, over all.

    >>> likeness("then", "than"), likeness("see", "watch")
    (0.75, 0.0)
    """
    from rapidfuzz.distance.Indel import normalized_similarity

    return float(normalized_similarity(word[:_LETTERS], other[:_LETTERS]))


def _merged(steps: list[AlignmentStep], texts: _Pair, rules: WordRules) -> list[AlignmentStep]:
    """Merge steps in a row into edits, by the first rule that fits the longest part that it fits."""
    kinds = {step[0] for step in steps}
    if len(steps) < 2:
        return steps
    if kinds <= {"D"} or kinds <= {"I"} or len(steps) > _RUN:
        return _joined(steps)
    content = False
    for start, end in sorted(combinations(range(len(steps)), 2), key=lambda pair: pair[0] - pair[1]):
        part = steps[start : end + 1]
        if all(step[0] != "S" for step in part):
            continue
        source, output = texts[0][part[0][1] : part[-1][2]], texts[1][part[0][3] : part[-1][4]]
        merged = _merging(source, output, rules, first=start == 0)
        if merged:
            begin = start if merged == "whole" else end - 1
            before, after = steps[:begin], steps[end + 1 :]
            joined = _joined(steps[begin : end + 1])
            return [*_merged(before, texts, rules), *joined, *_merged(after, texts, rules)]
        if end - start == 1 and (place := _splitting(part, source, output, rules, last=end == len(steps) - 1)):
            sides = steps[: start + place], steps[start + place :]
            return [step for side in sides for step in _merged(side, texts, rules)]
        content |= not CONTENT.isdisjoint(map(rules.word_class, source + output))
    return _joined(steps) if content else steps


def _merging(source: tuple[str, ...], output: tuple[str, ...], rules: WordRules, *, first: bool) -> str:
    """Part of a run of steps that is one edit: its `whole`, its last `two` steps, or nothing."""
    if source[-1] in rules.possessive or output[-1] in rules.possessive:
        return "two"
    if source[-1].lower() == output[-1].lower():
        # A word is written small since others come before it, or the other way round.
        if first and ((len(source) == 1 and output[0][0].isupper()) or (len(output) == 1 and source[0][0].isupper())):
            return "whole"
        if any(len(text) > 1 and rules.word_class(text[-2]) == "mark" for text in (source, output)):
            return "two"
    # The same letters, with other blanks, hyphens or apostrophes.
    left_out = str.maketrans("", "", rules.joints)
    one, other = ("".join(text).lower().translate(left_out) for text in (source, output))
    if one == other:
        return "whole"
    if len(source) == len(output):
        return ""
    classes = set(map(rules.word_class, source + output))
    mergeable = (len(classes) == 1 and classes != {"content"}) or classes <= VERBAL
    return "whole" if mergeable or _same_verb(source, output, rules) else ""


def _same_verb(source: tuple[str, ...], output: tuple[str, ...], rules: WordRules) -> bool:
    """Whether both are forms of one verb, with auxiliaries: `will depend`, `depends`."""
    helping = all(rules.word_class(word) in ("auxiliary", "infinitive") for word in source[:-1] + output[:-1])
    one, other = (rules.base_form(text[-1].lower()) for text in (source, output))
    return helping and one == other and rules.word_class(source[-1]) not in ("auxiliary", "infinitive", "determiner")


def _splitting(
    part: Sequence[AlignmentStep], source: tuple[str, ...], output: tuple[str, ...], rules: WordRules, *, last: bool
) -> int:
    """Count the steps of two that stand apart from the rest: 1 where they are two edits, else 0."""
    if len(source) == len(output) == 2:
        return 1
    if part[0][0] == "S" and likeness(source[0], output[0]) > _ALIKE:
        return 1
    if part[1][0] == "S" and likeness(source[-1], output[-1]) > _ALIKE:
        return 1
    # What ends with a determiner is one edit without it.
    ends = [text[-1] for text, kinds in ((source, "DS"), (output, "IS")) if part[1][0] in kinds]
    return int(last and any(rules.word_class(word) == "determiner" for word in ends))


def _joined(steps: Sequence[AlignmentStep]) -> list[AlignmentStep]:
    return [("X", steps[0][1], steps[-1][2], steps[0][3], steps[-1][4])]


def common_ends(*texts: Sequence[object]) -> tuple[int, int]:
    """Count the words that all texts begin with, and the words that the rest of all ends with.

    >>> common_ends((1, 2, 3, 4), (1, 2, 4))
    (2, 1)
    """
    start = _equal(zip(*texts, strict=False))
    return start, _equal(zip(*(reversed(text[start:]) for text in texts), strict=False))


def _equal(columns: Iterable[tuple[object, ...]]) -> int:
    """Count the columns before the first whose words differ."""
    count = 0
    for column in columns:
        if column.count(column[0]) < len(column):
            break
        count += 1
    return count


CONTENT = frozenset(("content", "verb", "adverb", "auxiliary", "quantifier"))
"""Classes whose words carry content; auxiliaries do, since treebanks count most of them as verbs."""
VERBAL = frozenset(("auxiliary", "infinitive", "verb"))
_VERB, _ADVERB = re.compile(r"..(?:ed|ing|i[sz]e|ify|ate)$"), re.compile("..ly$")
# Base first. Pronouns and what compares are left out: there, a change of form is a change of word.
IRREGULAR = """
be am is are was were been being 's 're 'm|have has had having 've|do does did done|go goes went gone
will would 'll 'd wo|can could ca|shall should sha|may might|say said|get got gotten|make made|know knew known
think thought|take took taken|see saw seen|come came|give gave given|find found|tell told|become became|leave left
feel felt|bring brought|begin began begun|keep kept|hold held|write wrote written|stand stood|hear heard|mean meant
meet met|pay paid|sit sat|speak spoke spoken|lie lay lain lying|lead led|grow grew grown|lose lost|fall fell fallen
send sent|build built|understand understood|draw drew drawn|break broke broken|spend spent|drive drove driven
buy bought|wear wore worn|choose chose chosen|seek sought|throw threw thrown|catch caught|deal dealt|win won
teach taught|eat ate eaten|sell sold|fight fought|arise arose arisen|rise rose risen|sleep slept|hide hid hidden
forget forgot forgotten|show showed shown|fly flew flown|sing sang sung|swim swam swum|drink drank drunk
ride rode ridden|bear bore born borne|die dying|shake shook shaken|steal stole stolen|wake woke woken|feed fed
strike struck|stick stuck|swear swore sworn|bind bound|hang hung|shoot shot|slide slid|blow blew blown|lend lent
man men|woman women|child children|person people|foot feet|tooth teeth|mouse mice|life lives|wife wives|leaf leaves
phenomenon phenomena|criterion criteria|analysis analyses|datum data|medium media|a an|not n't|good better best
bad worse worst|far further farther
"""


@lru_cache(1 << 17)
def base_form(word: str) -> str:
    """Base of an inflected English word in lower case: of irregular forms as listed, else the stem.

    >>> [base_form(word) for word in ("went", "diseases", "is")]
    ['go', 'diseas', 'be']
    """
    return stem(_irregular_forms().get(word, word))


@cache
def _irregular_forms() -> dict[str, str]:
    """Bases of irregular forms."""
    listed = IRREGULAR.strip().replace("\n", "|").split("|")
    return {form: forms.split()[0] for forms in listed for form in forms.split()}


@lru_cache(1 << 17)
def word_class(word: str) -> str:
    """Class of an English word: of function words as listed, else by its ending or its characters.

    >>> [word_class(word) for word in ("The", "deciding", "slowly", "house", ",", "3.5")]
    ['determiner', 'verb', 'adverb', 'content', 'mark', 'number']
    """
    word = word.lower()
    if word in WORD_CLASSES:
        return WORD_CLASSES[word]
    by_letters = class_by_letters(word)
    if by_letters != "content":
        return by_letters
    return "verb" if _VERB.search(word) else "adverb" if _ADVERB.search(word) else "content"


def class_by_letters(word: str) -> str:
    """Class of a word of any language: one with letters carries content.

    >>> [class_by_letters(word) for word in ("der", "的", "。", "3.5")]
    ['content', 'content', 'mark', 'number']
    """
    if any(map(str.isalpha, word)):
        return "content"
    return "number" if any(map(str.isdigit, word)) else "mark"


@dataclass(frozen=True)
class WordRules:
    """Properties of words for the extraction of edits: by English lists, or for any language."""

    base_form: Callable[[str], str]  # Of a word in lower case
    word_class: Callable[[str], str]
    possessive: tuple[str, ...] = ()  # Words that belong to the word before
    joints: str = "-'’"  # Left out where only blanks may differ
    merging: Merging | None = None  # How steps are merged; None: as in ERRANT


@cache
def rules_of(language: str | None, merging: Merging | None = None) -> WordRules:
    """Rules for a language, by its code, None being English; `merging` as in `extract_edits`.

    >>> rules_of("de").base_form("häuser"), rules_of("cs").base_form("psi"), rules_of("de").word_class("the")
    ('haus', 'psi', 'content')
    """
    known = find_language(language or "en")
    merging = merging_of(merging, known.code)
    if known.code == "en":
        return WordRules(base_form, word_class, ("'s", "'"), "-'", merging)
    stems = partial(stem_in, language=known.code) if known.stemmer else str
    return WordRules(stems, class_by_letters, merging=merging)


_JOINED = str.maketrans("", "", "-'’")


def form_types(language: str | None = None) -> Classify:
    """Make a function that names the types of edits of a language.

    `M`, `U` and `R` stand for missing, unnecessary and replaced words, as in ERRANT's types. Behind them: `PUNCT`,
    only marks are changed; `CASE`, only capital letters; `SPACE`, only blanks, hyphens and apostrophes; `ORDER`, only
    the order of the words; `STEM`, only endings, where Snowball has the language; else `OTHER`.

    >>> spans = [(1, 2, 1, 2), (2, 3, 2, 3), (3, 4, 3, 4)]
    >>> form_types("de")("Die häuser stehe .".split(), "Die Häuser stehen !".split(), spans)
    ['R:CASE', 'R:STEM', 'R:PUNCT']
    """
    known = None if language is None else find_language(language)
    stems = partial(stem_in, language=known.code) if known is not None and known.stemmer else None

    def classify(source: Sequence[str], corrected: Sequence[str], edits: Sequence[Spans]) -> list[str]:
        return [_type_of(source[a:b], corrected[c:d], stems) for a, b, c, d in edits]

    return classify


def _type_of(source: Sequence[str], corrected: Sequence[str], stems: Callable[[str], str] | None) -> str:
    letter = "M" if not source else "R" if corrected else "U"
    sides = [[word.lower() for word in words] for words in (source, corrected)]

    def same(of: Callable[[list[str]], object]) -> bool:
        return of(sides[0]) == of(sides[1])

    if same(lambda words: [word for word in words if any(map(str.isalnum, word))]) and not same(list):
        return f"{letter}:PUNCT"
    if letter != "R":
        return f"{letter}:OTHER"
    if same(list):
        return "R:CASE"
    if same(lambda words: "".join(words).translate(_JOINED)):
        return "R:SPACE"
    if same(sorted):
        return "R:ORDER"
    if stems is not None and same(lambda words: list(map(stems, words))):
        return "R:STEM"
    return "R:OTHER"


Spans = tuple[int, int, int, int]
"""Words of the source, and the words of the text that they become, from 0, ends left out."""
Classify = Callable[[Sequence[str], Sequence[str], Sequence[Spans]], list[str]]
"""Names the types of edits that make one text of another."""


def load_errant() -> Any:
    """Load ERRANT for English; `MissingExtraError` or `InputError` names the package to install."""
    with optional("errant", "ERRANT"):
        from errant import load
    try:
        return load("en")
    except OSError as error:
        raise InputError(
            f"ERRANT needs spaCy's English model ({' '.join(str(error).split())[:80]}): "
            "python -m spacy download en_core_web_sm"
        ) from None


def errant_types() -> Classify:
    """Make a function that names the types of edits."""
    annotator = load_errant()

    def classify(source: Sequence[str], corrected: Sequence[str], edits: Sequence[Spans]) -> list[str]:
        if not edits:
            return []
        one, other = (annotator.parse(" ".join(words)) for words in (source, corrected))
        return [annotator.import_edit(one, other, list(edit), min=False).type for edit in edits]

    return classify


def errant_edits() -> Callable[[Sequence[str], Sequence[str]], tuple[Edit, ...]]:
    """Make a function that finds the edits that make a text of its source, as `extract_edits` does."""
    annotator = load_errant()

    def find(source: Sequence[str], output: Sequence[str]) -> tuple[Edit, ...]:
        annotated = annotator.annotate(*(annotator.parse(" ".join(words)) for words in (source, output)))
        return tuple(Edit(edit.o_start, edit.o_end, edit.type, (edit.c_str,)) for edit in annotated)

    return find


SAME_EDIT = 0.5  # Share of gold edits from which an edit is a hit
Verdict = Literal["hit", "wrong", "missed", "over"]


@dataclass(frozen=True)
class JudgedEdit:
    """An edit of a candidate, or a gold edit."""

    spans: Spans  # Source words, and those of the candidate that they became; of a gold edit, of the annotator's text
    text: tuple[str, ...]
    verdict: Verdict
    """Kind of a candidate's edit: `hit`, `wrong` (another gold edit is there) or `over`; of a gold edit: `hit`,
    `wrong` (the candidate has another edit there) or `missed`."""
    kind: str = ""
    origin: tuple[int, int] = (0, 0)  # Of a gold edit: its annotator and its number, the first if it has several


@dataclass(frozen=True)
class JudgedEdits:
    """Judged edits of a segment of a system, beside the gold edits of its score."""

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
    made: Sequence[Sequence[TextEdit]] = (),
) -> JudgedEdits:
    """Judge edits by which of them are gold edits, at least by half; others are wrong where they touch one.

    `source` has the words, `gold` the edits of that `annotator`; each of `links` has the number of an edit, that of a
    gold edit, and the share of the one that is the other. `origins` say of which annotator each gold edit is, and its
    number there, where `gold` has not all edits of that annotator as they are. `made` has the edits that make both
    texts, where others count.

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
        places = _placed_among(judging, made[side]) if made else placed(judging)
        for number, (edit, spans) in enumerate(zip(judging, places, strict=True)):
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


def _placed_among(edits: Sequence[TextEdit], made: Sequence[TextEdit]) -> Iterator[Spans]:
    """Place edits, as `placed` does, in the text that other edits have `made`."""
    for start, end, text in edits:
        before = (one for one in made if one[1] <= start and one[:2] < (start, end))
        shift = sum(len(words) - (last - first) for first, last, words in before)
        yield start, end, start + shift, start + shift + len(text)


def touch(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two edits, start and end first, have a source word in common, or one inserts where the other is."""
    start, end = max(int(one[0]), int(other[0])), min(int(one[1]), int(other[1]))
    return start < end or (start == end and bool(one[0] == one[1] or other[0] == other[1]))
