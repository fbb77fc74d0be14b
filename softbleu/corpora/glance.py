"""A quick check, on a sample of segments, that outputs belong to their references or source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import sqrt
from random import Random
from typing import TYPE_CHECKING

from softbleu.corpora.checked import CheckedSegment, CheckedText, Ordinary
from softbleu.corpora.detectors import DETECTORS, IN_REFERENCE, SHARE, odd_checks
from softbleu.corpora.forms import FORMS, WordWeights, rare_words
from softbleu.io.platform import cached_property

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus, Segments

LEAST_SEGMENTS = 20  # Fewer segments are not checked
_BLOCKS = 3  # Blocks to read, spread evenly over the corpus
_WRITTEN, _COMPARED = 128, 64  # Segments to search for forms, and to compare by words
_PART = 8  # Consecutive compared segments that are tested for a shift together
_NEIGHBOURS = (-1, 1, -2, 2, -3, 3)
_SURE = 3.6  # Standard deviations of a sign test from which neighbours fit better
_WRITTEN_FORMS = {form.check for form in FORMS}
_SAID = {"source": "copies of the source"}
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
    def inputs(self) -> tuple[CheckedText | None, list[CheckedText]]:
        """Source and references, or the source of gold edits as the reference."""
        row, texts = self.row, self.texts
        if texts.gold is not None:
            return None, [CheckedText(texts.gold[row].source)]
        source = None if texts.source is None else CheckedText(texts.source[row])
        return source, list(map(CheckedText, texts.references[row]))

    def checked(self, system: str) -> CheckedSegment:
        """Return the output of a system with its texts, and the output before it if that is the same."""
        outputs, before = self.texts.candidates[system], list[CheckedSegment]()
        if self.row and outputs[self.row] == outputs[self.row - 1]:
            earlier = Place(self.texts, self.row - 1, self.number - 1)
            before = [CheckedSegment(system, earlier.number, CheckedText(outputs[earlier.row]), *earlier.inputs, {})]
        return CheckedSegment(system, self.number, CheckedText(outputs[self.row]), *self.inputs, {}, before)


class Glance:
    """Findings on a sample of a corpus."""

    def __init__(self, corpus: Corpus, blocks: Sequence[tuple[int, Segments]], *, at_blanks: bool) -> None:
        self.systems, self.gating = corpus.systems, corpus.gating
        # A source in another language shares only names and numbers with outputs.
        self.same_language = corpus.gold is not None or (corpus.has_references and corpus.against == "references")
        left_out = () if at_blanks and self.same_language else ("tokens",)
        noted = (name for name, each in DETECTORS.items() if each.noted and name not in left_out)
        self.checks = sorted(noted, key=lambda name: DETECTORS[name].noted)
        self.beside = "references" if corpus.gold is None else "source"
        self.blocks, self.segments = blocks, len(corpus)
        self.size = sum(len(texts) for _, texts in blocks)
        self.sample, self.compared = (self._spread(most) for most in (_WRITTEN, _COMPARED))

    def _spread(self, most: int) -> list[Place]:
        """Draw at most `most` segments, one of each part, so that no regular distance between odd ones hides them."""
        step = -(-self.size // most)
        draw = Random(0)  # The same segments in each run
        chosen = {start + draw.randrange(step) for start in range(0, self.size, step)}
        rows = [(texts, row, start + row + 1) for start, texts in self.blocks for row in range(len(texts))]
        return [Place(*each) for number, each in enumerate(rows) if number in chosen]

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
        by_part = (signs[part.start : part.stop] for part in parts)
        shifted = [sign for some in by_part for sign in some if 2 * sum(some) >= len(some)]
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
        emptied = {} if self.gating is None else self.gating.found[system]
        whole, counts = "".join(place.texts.candidates[system][place.row] for place in self.sample), Counter[str]()
        possible = {form.check for form in FORMS if form.possible(whole) or self.ordinary.forms[form]} | {"columns"}
        checks = [name for name in self.checks if name in possible or name not in _WRITTEN_FORMS]
        for place in self.sample:
            if place.number - 1 not in emptied:
                for check, detail in odd_checks(place.checked(system), self.ordinary, checks):
                    counts[f"{check} in the {self.beside}" if detail.endswith(IN_REFERENCE) else check] += 1
        for check, count in counts.items():
            share = DETECTORS[check.removesuffix(f" in the {self.beside}")].noted
            if count >= max(3 * (share > SHARE), share * len(self.sample)):
                about = "about " * (len(self.sample) < self.size or self.size < self.segments)
                yield f"{about}{count / len(self.sample):.0%} {_SAID.get(check, check)}"

    @cached_property
    def ordinary(self) -> Ordinary:
        """Forms of the references or sources of the sample."""
        ordinary = Ordinary(segments=len(self.sample))
        whole = "".join(text for place in self.sample for text in place.models())
        forms = [form for form in FORMS if form.possible(whole)]
        for place in self.sample if self.same_language else ():
            ordinary.learn_near(*place.inputs)
            ordinary.learn_forms(place.inputs[1], forms)
        return ordinary


def _words_of(texts: Sequence[str]) -> set[str]:
    return set().union(*map(rare_words, texts))


def _sign_test(more: int, less: int) -> float:
    """Compute how many standard deviations `more` lies above chance."""
    return (more - less) / sqrt(more + less or 1)


def spread_blocks(corpus: Corpus) -> list[tuple[int, Segments]]:
    """Read up to three blocks, spread evenly over a corpus, each with the number of segments before it."""
    from softbleu.corpora.corpus import BLOCK

    last = (len(corpus) - 1) // BLOCK
    starts = sorted({round(number * last / (_BLOCKS - 1)) * BLOCK for number in range(_BLOCKS)})
    return [(start, corpus.block(start).load()) for start in starts]


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
