"""A quick check, on a sample of segments, that outputs belong to their references or source."""

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

LEAST_SEGMENTS = 20  # Fewer segments are not checked
SHARE = 0.01  # Share of odd segments from which a note is printed
WRITTEN_SHARE = 0.05  # The same for segments written in another form
_BLOCKS = 3  # Blocks to read, spread evenly over the corpus
_WRITTEN, _COMPARED = 128, 64  # Segments to search for forms, and to compare by words
_PART = 8  # Consecutive compared segments that are tested for a shift together
_NEIGHBOURS = (-1, 1, -2, 2, -3, 3)
_SURE = 3.6  # Standard deviations of a sign test from which neighbours fit better
_CONTENT = ("empty", "above", "chatter", "refusal")
_NUMERIC = frozenset('0123456789([{"')  # First characters of segment numbers and JSON
_NONE = 0.05  # Share of outputs that share a word with their segment, below which outputs are unrelated
_DOUBTFUL = 2.0  # Standard deviations of a sign test below which outputs may be unrelated


@dataclass(frozen=True)
class Place:
    """A segment of a sample."""

    texts: Segments  # Block of the segment
    row: int
    number: int  # Number in the corpus, from 1

    def models(self, beside: int = 0) -> Sequence[str]:
        """Return the references, or else the source, of this segment or a neighbour; empty outside the block."""
        row, texts = self.row + beside, self.texts
        if not 0 <= row < len(texts):
            return ()
        if texts.gold is not None:
            return (texts.gold[row].source,)
        return texts.references[row] or (() if texts.source is None else (texts.source[row],))

    @cached_property
    def inputs(self) -> list[str]:
        """Source and references."""
        texts = self.texts
        source = [] if texts.source is None or texts.gold is not None else [texts.source[self.row]]
        return [*source, *self.models()]


class Glance:
    """Findings on a sample of a corpus."""

    def __init__(self, corpus: Corpus, blocks: Sequence[tuple[int, Segments]], *, at_blanks: bool) -> None:
        self.systems, self.gating = corpus.systems, corpus.gating
        # A source in another language shares only names and numbers with outputs.
        self.same_language = corpus.gold is not None or (corpus.has_references and corpus.against == "references")
        self.at_blanks = at_blanks and self.same_language
        self.beside = "references" if corpus.gold is None else "source"
        self.blocks = blocks
        self.size = sum(len(texts) for _, texts in blocks)
        self.sample, self.compared = (self._spread(most) for most in (_WRITTEN, _COMPARED))

    def _spread(self, most: int) -> list[Place]:
        """Sample at most `most` segments of the blocks at equal distances."""
        step = -(-self.size // most)
        places, passed = list[Place](), 0
        for start, texts in self.blocks:
            places += [Place(texts, row, start + row + 1) for row in range(-passed % step, len(texts), step)]
            passed += len(texts)
        return places

    @cached_property
    def models(self) -> list[set[str]]:
        """Rare words of the references, or else the source, of each compared segment."""
        return [_words_of(place.models()) for place in self.compared]

    @cached_property
    def weights(self) -> WordWeights:
        """Weights of these words."""
        counts = Counter(word for words in self.models for word in words)
        return WordWeights(counts, len(self.models))

    def findings(self) -> dict[str, str]:
        """Return the findings by system, if any: misplaced outputs first, then odd forms."""
        found = {}
        for system in self.systems:
            findings = [*self._relation(system), *self._counts(system)]
            if findings:
                found[system] = ", ".join(findings)
        return found

    def _relation(self, system: str) -> Iterator[str]:
        """Report outputs that fit neighbouring segments better than their own, or fit none."""
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
        """Test, over parts where most outputs do, whether they fit neighbours better; return standard deviations."""
        signs = self._better(words, own, offset)
        shifted = [sign for part in parts for sign in signs[part.start : part.stop] if _mostly(signs, part)]
        return _sign_test(shifted.count(1), shifted.count(-1))

    def _better(self, words: Sequence[set[str]], own: Sequence[float], offset: int) -> Sequence[int]:
        """Compare the fit of each output to a neighbour and to its own segment: 1 better, 0 equal, -1 worse."""
        signs = []
        for place, each, fit in zip(self.compared, words, own, strict=True):
            beside = place.models(offset)
            near = self._shared(each, _words_of(beside)) if beside else fit
            signs.append((near > fit) - (near < fit))
        return signs

    def _start(self, words: Sequence[set[str]], own: Sequence[float], offset: int) -> int:
        """Find the segment from which outputs fit neighbours better, by the greatest sum of signs."""
        sums = list(accumulate(reversed(self._better(words, own, offset))))
        return len(sums) - 1 - max(range(len(sums)), key=sums.__getitem__)

    def _unrelated(self, words: Sequence[set[str]], own: Sequence[float], far: Sequence[float]) -> bool:
        """Whether outputs share no words with their own segments, or no more than with others."""
        more = sum(one > other for one, other in zip(own, far, strict=True))
        less = sum(one < other for one, other in zip(own, far, strict=True))
        telling = 4 * (more + less) >= 3 * len(words) and _sign_test(more, less) < _DOUBTFUL
        written = [(one, other) for one, other in zip(words, self.models, strict=True) if one and other]
        shared = sum(not one.isdisjoint(other) for one, other in written)
        return telling or (2 * len(written) > len(words) and shared < _NONE * len(written))

    def _shared(self, words: set[str], others: set[str]) -> float:
        return sum(map(self.weights.__getitem__, words & others))

    def _counts(self, system: str) -> Iterator[str]:
        """Report the percentage of outputs of a system with each oddity."""
        counts = self._content(system) | self._written(system)
        for check, count in counts.items():
            least = SHARE * len(self.sample) if check in _CONTENT else max(3, WRITTEN_SHARE * len(self.sample))
            if count >= least:
                yield f"{count / len(self.sample):.0%} {check}"

    def _content(self, system: str) -> Counter[str]:
        """Count outputs that are empty, repeated, chatter or refusals."""
        texts = self._texts(system)
        whole, counts = " ".join(texts).lower(), Counter[str]()
        hints = [hint for hint in HINTS if hint in whole]
        emptied = {} if self.gating is None else self.gating.found[system]
        for place, text in zip(self.sample, texts, strict=True):
            if not text or text.isspace():
                counts["empty"] += place.number - 1 not in emptied and any(map(str.strip, place.models()))
            elif place.row and text == place.texts.candidates[system][place.row - 1]:
                counts["above"] += place.models() != place.models(-1)
            elif may_chat(text, hints):
                counts["chatter"] += only_in(CHATTER, text, place.inputs) is not None
                counts["refusal"] += only_in(REFUSAL, text, place.inputs) is not None
        return counts

    def _written(self, system: str) -> Counter[str]:
        """Count outputs written in another form than their references or source."""
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
        """Forms of at least a twentieth of the references or sources: name of the check, rows of the sample, rule."""
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
    """Whether the signs of a part sum to half its size or more."""
    return 2 * sum(signs[part.start : part.stop]) >= len(part)


def _sign_test(more: int, less: int) -> float:
    """Compute how many standard deviations `more` lies above chance."""
    return (more - less) / sqrt(more + less or 1)


def spread_blocks(corpus: Corpus) -> list[tuple[int, Segments]]:
    """Read up to three blocks, spread evenly over a corpus, each with the number of segments before it."""
    blocks: list[Any] = list(corpus.blocks())
    places = sorted({round(number * (len(blocks) - 1) / (_BLOCKS - 1)) for number in range(_BLOCKS)})
    return [(sum(map(len, blocks[:place])), blocks[place].load()) for place in places]


def find_mismatches(corpus: Corpus, read: Sequence[tuple[int, Segments]], *, at_blanks: bool) -> dict[str, str]:
    """Describe, by system, outputs that are odd or do not belong to their references or source.

    Parameters
    ----------
    corpus
        Outputs of systems, with references, gold edits or a source.
    read
        Result of `spread_blocks`.
    at_blanks
        Whether a metric splits texts at blanks, so that all texts must be tokenised in the same way.

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
