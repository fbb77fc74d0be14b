"""A glance at a corpus: whether outputs belong to what they are compared with, by segments spread over it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from math import sqrt
from typing import TYPE_CHECKING, Any

from softbleu.corpora.forms import (
    CHATTER,
    FORMS,
    HINTS,
    MARKUP,
    REFUSAL,
    WayToWrite,
    WordWeights,
    find_form,
    is_columns,
    may_chat,
    only_in,
    rare_words,
    repeats,
    tokenised_otherwise,
)
from softbleu.io.platform import cached_property

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus, Segments

LEAST_SEGMENTS = 20  # Fewer segments show nothing
SHARE = 0.01  # Of segments that are odd, from which it is worth a note
WRITTEN_SHARE = 0.05  # The same of segments that are written in another way
_BLOCKS = 3  # Blocks that are read, spread evenly over the corpus
_WRITTEN, _COMPARED = 128, 64  # Segments that are searched, and compared by their words
_PART = 8  # Compared segments that follow one another, which may be shifted where others are not
_NEIGHBOURS = (-1, 1, -2, 2, -3, 3)
_SURE = 3.6  # Standard deviations of a sign test from which segments beside fit better
_SAID = ("empty", "above", "chatter", "refusal")
_NUMERIC = frozenset('0123456789([{"')  # What numbers of segments and JSON begin with
_NONE = 0.05  # Share of outputs with a word of their segments below which they are said to have none
_DOUBTFUL = 2.0  # The same below which nothing shows that a text belongs to the other


@dataclass(frozen=True)
class Place:
    """A segment of a sample."""

    texts: Segments  # The block that has it
    row: int
    number: int  # In the corpus, from 1

    def models(self, beside: int = 0) -> Sequence[str]:
        """Texts in the place of references, of this segment or one beside it; none beyond the block."""
        row, texts = self.row + beside, self.texts
        if not 0 <= row < len(texts):
            return ()
        if texts.gold is not None:
            return (texts.gold[row].source,)
        return texts.references[row] or (() if texts.source is None else (texts.source[row],))

    @cached_property
    def inputs(self) -> list[str]:
        """All texts that no system made."""
        texts = self.texts
        source = [] if texts.source is None or texts.gold is not None else [texts.source[self.row]]
        return [*source, *self.models()]


class Glance:
    """What a sample of a corpus shows of each system, as words by its name."""

    def __init__(self, corpus: Corpus, blocks: Sequence[tuple[int, Segments]], *, at_blanks: bool) -> None:
        self.systems = corpus.systems
        # Sources in another language share names and numbers only.
        self.same_language = corpus.gold is not None or (corpus.has_references and corpus.against == "references")
        self.at_blanks = at_blanks and self.same_language
        self.beside = "references" if corpus.gold is None else "source"
        self.blocks = blocks
        self.size = sum(len(texts) for _, texts in blocks)
        self.sample, self.compared = (self._spread(most) for most in (_WRITTEN, _COMPARED))

    def _spread(self, most: int) -> list[Place]:
        """Take so many segments of the blocks, at equal distances."""
        step = -(-self.size // most)
        places, passed = list[Place](), 0
        for start, texts in self.blocks:
            places += [Place(texts, row, start + row + 1) for row in range(-passed % step, len(texts), step)]
            passed += len(texts)
        return places

    @cached_property
    def models(self) -> list[set[str]]:
        """Rare words of what each compared segment is compared with."""
        return [_words_of(place.models()) for place in self.compared]

    @cached_property
    def weights(self) -> WordWeights:
        """WordWeights of these words."""
        counts = Counter(word for words in self.models for word in words)
        return WordWeights(counts, len(self.models))

    def findings(self) -> dict[str, str]:
        """Say by system what is odd, if anything is: where it does not belong first, then how it is written."""
        found = {}
        for system in self.systems:
            said = [*self._relation(system), *self._counts(system)]
            if said:
                found[system] = ", ".join(said)
        return found

    def _relation(self, system: str) -> Iterator[str]:
        """Say where outputs fit other segments better than their own, or none."""
        words = [rare_words(place.texts.candidates[system][place.row]) for place in self.compared]
        half = len(words) // 2
        own = [self._shared(each, model) for each, model in zip(words, self.models, strict=True)]
        far = [self._shared(each, self.models[number - half]) for number, each in enumerate(words)]
        parts = [range(start, min(start + _PART, len(words))) for start in range(0, len(words), _PART)]
        if all(4 * sum(own[row] > far[row] for row in part) > 3 * len(part) for part in parts):
            return
        sure, beside = max((self._sure(parts, words, own, offset), offset) for offset in _NEIGHBOURS)
        if sure >= _SURE:
            where = f"{abs(beside)} segments" if abs(beside) > 1 else "the segment"
            first = self._start(words, own, beside)
            since = f" from about segment {self.compared[first].number:,} on" if first > 2 else ""
            yield f"fits {where} {'above' if beside < 0 else 'below'}{since}"
        elif self.same_language and self._unrelated(words, own, far):
            yield "fits its segments no better than others"

    def _sure(self, parts: Sequence[range], words: Sequence[set[str]], own: Sequence[float], offset: int) -> float:
        """Test whether outputs fit the segments beside better, in parts where most do: standard deviations."""
        signs = self._better(words, own, offset)
        shifted = [sign for part in parts for sign in signs[part.start : part.stop] if _mostly(signs, part)]
        return _sign_test(shifted.count(1), shifted.count(-1))

    def _better(self, words: Sequence[set[str]], own: Sequence[float], offset: int) -> Sequence[int]:
        """Whether each output fits the segment beside its own better, 1, as well, 0, or worse, -1."""
        signs = []
        for place, each, fit in zip(self.compared, words, own, strict=True):
            beside = place.models(offset)
            near = self._shared(each, _words_of(beside)) if beside else fit
            signs.append((near > fit) - (near < fit))
        return signs

    def _start(self, words: Sequence[set[str]], own: Sequence[float], offset: int) -> int:
        """Find the place from which outputs fit the segments beside better: the sum of signs is greatest."""
        sums = list(accumulate(reversed(self._better(words, own, offset))))
        return len(sums) - 1 - max(range(len(sums)), key=sums.__getitem__)

    def _unrelated(self, words: Sequence[set[str]], own: Sequence[float], far: Sequence[float]) -> bool:
        """Whether outputs share no more words with their own segments than with others, or none at all."""
        more = sum(one > other for one, other in zip(own, far, strict=True))
        less = sum(one < other for one, other in zip(own, far, strict=True))
        telling = 4 * (more + less) >= 3 * len(words) and _sign_test(more, less) < _DOUBTFUL
        written = [(one, other) for one, other in zip(words, self.models, strict=True) if one and other]
        shared = sum(not one.isdisjoint(other) for one, other in written)
        return telling or (2 * len(written) > len(words) and shared < _NONE * len(written))

    def _shared(self, words: set[str], others: set[str]) -> float:
        return sum(map(self.weights.__getitem__, words & others))

    def _counts(self, system: str) -> Iterator[str]:
        """Count what is odd in the outputs of a system, and say how many of a hundred."""
        counts = self._said(system) | self._written(system)
        for check, count in counts.items():
            least = SHARE * len(self.sample) if check in _SAID else max(3, WRITTEN_SHARE * len(self.sample))
            if count >= least:
                yield f"{count / len(self.sample):.0%} {check}"

    def _said(self, system: str) -> Counter[str]:
        """Count outputs that are no answer."""
        texts = self._texts(system)
        whole, counts = " ".join(texts).lower(), Counter[str]()
        hints = [hint for hint in HINTS if hint in whole]
        for place, text in zip(self.sample, texts, strict=True):
            if not text or text.isspace():
                counts["empty"] += any(map(str.strip, place.models()))
            elif place.row and text == place.texts.candidates[system][place.row - 1]:
                counts["above"] += place.models() != place.models(-1)
            elif may_chat(text, hints):
                counts["chatter"] += only_in(CHATTER, text, place.inputs) is not None
                counts["refusal"] += only_in(REFUSAL, text, place.inputs) is not None
        return counts

    def _written(self, system: str) -> Counter[str]:
        """Count texts that are written otherwise than what stands beside them."""
        texts, rows = self._texts(system), dict[str, set[int]]()
        whole, places = " ".join(texts), list(zip(range(len(texts)), self.sample, texts, strict=True))
        for form in (form for form in FORMS if form.possible(whole)):
            found = {
                row for row, place, text in places if form.possible(text) and find_form(form, text, place.inputs)
            }
            rows[form.check] = rows.get(form.check, set()) | found
        rows["columns"] = rows.get("columns", set()) | {
            row
            for row, place, text in places
            if text.lstrip()[:1] in _NUMERIC and is_columns(text, place.number, place.inputs)
        }
        rows["repetition"] = {
            row for row, place, text in places if repeats(text) and not any(map(repeats, place.inputs))
        }
        for name, mark in (("tag", "<"), ("quotes around all", '"')):
            if mark in whole:
                quoted = {
                    row for row, place, text in places if mark in text and only_in(MARKUP[name], text, place.inputs)
                }
                rows["markup"] = rows.get("markup", set()) | quoted
        if self.at_blanks:
            rows["tokens"] = {row for row, place, text in places if tokenised_otherwise(text, place.models())}
        for check, having, rule in self.forms:
            missed = {row for row in having if texts[row].strip() and not rule(texts[row], self.sample[row].number)}
            if len(rows.get(check, ())) < len(missed):
                rows[f"{check} in the {self.beside}"] = missed
        return Counter({check: len(found) for check, found in rows.items()})

    def _texts(self, system: str) -> list[str]:
        return [place.texts.candidates[system][place.row] for place in self.sample]

    @cached_property
    def forms(self) -> list[tuple[str, set[int], Callable[[str, int], object]]]:
        """Find forms of a twentieth of what outputs are compared with: the check, places of the sample, the rule."""
        if not self.same_language:
            return []
        models = [(place.number, place.models()) for place in self.sample]
        whole = " ".join(text for _, texts in models for text in texts)
        rules: list[tuple[str, Callable[[str, int], object]]] = [
            (form.check, partial(_has, form)) for form in FORMS if form.possible(whole)
        ]
        rules.append(("columns", is_columns))
        made = [
            (
                check,
                {row for row, (number, texts) in enumerate(models) if all(rule(text, number) for text in texts)},
                rule,
            )
            for check, rule in rules
        ]
        return [each for each in made if len(each[1]) >= max(3, WRITTEN_SHARE * len(models))]


def _has(form: WayToWrite, text: str, _: int) -> str | None:
    return form.found(text)


def _words_of(texts: Sequence[str]) -> set[str]:
    return set().union(*map(rare_words, texts))


def _mostly(signs: Sequence[int], part: range) -> bool:
    """Whether three of four signs of a part are 1, and the others -1."""
    return 2 * sum(signs[part.start : part.stop]) >= len(part)


def _sign_test(more: int, less: int) -> float:
    """Standard deviations by which one of two is more frequent than by chance."""
    return (more - less) / sqrt(more + less or 1)


def spread_blocks(corpus: Corpus) -> list[tuple[int, Segments]]:
    """Read up to three blocks, spread evenly over a corpus, and say how many segments stand before each."""
    blocks: list[Any] = list(corpus.blocks())
    places = sorted({round(number * (len(blocks) - 1) / (_BLOCKS - 1)) for number in range(_BLOCKS)})
    return [(sum(map(len, blocks[:place])), blocks[place].load()) for place in places]


def find_mismatches(corpus: Corpus, read: Sequence[tuple[int, Segments]], *, at_blanks: bool) -> dict[str, str]:
    """Say by system what a glance shows to be odd in outputs, or not to belong to what they are compared with.

    Parameters
    ----------
    corpus
        Outputs of systems, with references, gold edits or a source.
    read
        What `spread_blocks` reads of it.
    at_blanks
        Whether a metric splits texts at blanks, so that both must be tokenised in one way.

    Examples
    --------
    >>> from softbleu.corpora import Segments
    >>> lines = [f"the cat number {number} sat on mat {number}" for number in range(40)]
    >>> corpus = Segments.of({"A": lines, "B": ["", *lines[:-1]]}, lines)
    >>> find_mismatches(corpus, spread_blocks(corpus), at_blanks=True)
    {'B': 'fits the segment above, 2% empty'}
    """
    if sum(len(texts) for _, texts in read) < LEAST_SEGMENTS:
        return {}
    return Glance(corpus, read, at_blanks=at_blanks).findings()
