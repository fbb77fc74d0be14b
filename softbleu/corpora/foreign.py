"""Lines in another language than a text: found by the words and letters that are usual in the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import log, log10, sqrt
from typing import TYPE_CHECKING, Protocol

import numpy as np

from softbleu.io.platform import cached_property

if TYPE_CHECKING:
    from softbleu.types import Floats

LEAST_LINES = 40  # Fewer lines do not show what is usual
_MOST_LINES = 2000  # Lines to learn from: 1000 or more of longer texts, spread evenly
_LEAST_WORDS = 5  # Of a line
_LEAST_UNLIKE = 3  # Of these, words that are frequent in the source and missing in the other language
_SHARE = 5  # One word in so many of a line in the source's language is frequent there, and missing in the other
_HALF = 0.5  # Share of a text that its usual words make up
_LEAST_USES = 3  # Lines in which a usual word occurs
_LEAST_SPREAD = 0.01  # Overdispersion of the share of usual words, at least
_SURE = -4.0  # Decimal logarithm of the probability of so few usual words that decides alone
_DOUBTFUL = -2.0  # The same, where spellings are as unusual as the next number says
_ODD = -3.0  # Standard deviations of the mean log-probability of letters


_Words = Sequence[str]  # Of a line, in lower case


class WrittenLine(Protocol):
    """A line of text."""

    @property
    def words(self) -> _Words:
        """Words in lower case."""

    @property
    def scripts(self) -> Counter[str]:
        """Number of letters by script."""


class ForeignLines:
    """Finds lines in another language than the references, or the other systems' outputs, of a corpus."""

    def __init__(self) -> None:
        self._kept: list[tuple[_Words, list[_Words], Counter[str]]] = []
        self._seen, self._step = 0, 1

    def learn(self, source: WrittenLine | None, models: Iterable[WrittenLine]) -> None:
        """Take the source of a segment, if it is known, and its ordinary texts."""
        if self._seen % self._step == 0:
            texts = list(models)
            scripts = sum((text.scripts for text in texts), Counter())
            self._kept.append((source.words if source else (), [text.words for text in texts], scripts))
            if len(self._kept) == _MOST_LINES:
                del self._kept[1::2]
                self._step *= 2
        self._seen += 1

    def find(self, words: _Words, own: Collection[str] = ()) -> str | None:
        """Name the language of a line, the source's or another; None if it may be that of its references.

        `own` are words of its references: where these are not usual, they say nothing about the language.
        """
        words = [word for word in dict.fromkeys(words) if word in self._usual or word not in own]
        if len(words) < _LEAST_WORDS:
            return None
        theirs, ours = self._apart
        unlike, like = sum(word in theirs and word not in own for word in words), sum(word in ours for word in words)
        if unlike > like and unlike >= max(_LEAST_UNLIKE, len(words) / _SHARE):
            return "the source's"
        return "another" if self.language is not None and self.language.is_foreign(words) else None

    @cached_property
    def language(self) -> UsualLanguage | None:
        """Learn what is usual in the ordinary texts; None of too few."""
        return UsualLanguage.learn([words for _, models, _ in self._kept for words in models])

    @cached_property
    def scripts(self) -> Counter[str]:
        """Number of letters of the ordinary texts by script."""
        return sum((scripts for *_, scripts in self._kept), Counter())

    @cached_property
    def _usual(self) -> Collection[str]:
        return self._apart[1] | (self.language.usual if self.language else frozenset())

    @cached_property
    def _apart(self) -> tuple[set[str], set[str]]:
        """Frequent words of the sources that ordinary texts lack, and of ordinary texts that the sources lack."""
        source = Counter(word for words, *_ in self._kept for word in set(words))
        target = Counter(word for _, models, _ in self._kept for word in {word for words in models for word in words})
        if not source:
            return set(), set()
        count = len(self._kept)
        theirs = _missing(source, target, max(2.0, 0.005 * count))
        return theirs, _missing(target, source, max(2.0, 0.02 * count))


def _missing(counts: Counter[str], other: Counter[str], least: float) -> set[str]:
    """Choose words of at least so many lines that the other text has in a tenth as many at most."""
    return {word for word, count in counts.items() if count >= least and 10 * other[word] <= count}


@dataclass(frozen=True)
class UsualLanguage:
    """Usual words and letters of a text of one language, and the odds that another line is of this language.

    A word is usual if it is among the most frequent ones that make up half of the text. The number of usual words in
    a line has a beta-binomial distribution, fitted to the lines of the text; spellings have the probabilities of
    letters after two letters, fitted to the words of the other half of the lines.

    Examples
    --------
    >>> lines = [["the", "cat", "of", "the", "house", "is", "in", "the", word] for word in ("garden", "barn") * 30]
    >>> english = UsualLanguage.learn(lines)
    >>> english.is_foreign("le chat est assis dans un jardin avec la souris qui ne dort pas".split())
    True
    >>> english.is_foreign("the cat is in a garden of the barn with the mouse that is in the house".split())
    False
    """

    usual: frozenset[str]
    share: float  # Of usual words in a line
    spread: float  # Correlation of two words of a line in being usual
    letters: Letters

    @classmethod
    def learn(cls, lines: Sequence[_Words]) -> UsualLanguage | None:
        """Learn from the words of lines; None of fewer than 40 lines with words, or without usual words."""
        lines = [list(dict.fromkeys(line)) for line in lines if line]
        if len(lines) < LEAST_LINES:
            return None
        usual = _usual_words(lines)
        if not usual:
            return None
        counts = np.array([(len(line), sum(word in usual for word in line)) for line in lines], float)
        share = float(counts[:, 1].sum() / counts[:, 0].sum())
        return cls(usual, share, _overdispersion(counts, share), Letters.fit(lines))

    def is_foreign(self, words: _Words) -> bool:
        """Whether the different words of a line are of another language."""
        count = sum(word in self.usual for word in words)
        if 2 * count >= self.share * len(words):
            return False
        odds = self._log_odds(count, len(words))
        return odds < _SURE or (odds < _DOUBTFUL and self.letters.deviation(words) < _ODD)

    def _log_odds(self, count: int, words: int) -> float:
        """Compute the decimal logarithm of the probability of at most `count` usual words in a line."""
        from scipy.special import betaln, gammaln

        others = 1 / self.spread - 1
        a, b, k = self.share * others, (1 - self.share) * others, np.arange(count + 1)
        ways = gammaln(words + 1) - gammaln(k + 1) - gammaln(words - k + 1)
        chances = np.exp(ways + betaln(k + a, words - k + b) - betaln(a, b))
        return log10(max(float(chances.sum()), 1e-300))


def _usual_words(lines: Sequence[_Words]) -> frozenset[str]:
    """Choose the most frequent words that make up half of a text, without words of fewer than three lines."""
    counts = Counter(word for line in lines for word in line)
    uses = Counter(word for line in lines for word in set(line))
    left, usual = _HALF * counts.total(), set()
    for word, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
        if left <= 0:
            break
        if uses[word] >= _LEAST_USES:
            usual.add(word)
            left -= count
    return frozenset(usual)


def _overdispersion(counts: Floats, share: float) -> float:
    """Estimate by moments how far the shares of lines vary more than by chance; rows are words and usual words."""
    words, usual = counts[counts[:, 0] > 1].T
    chance = share * (1 - share)
    if not len(words) or not chance:
        return _LEAST_SPREAD
    excess = ((usual - words * share) ** 2).sum() / chance - words.sum()
    return float(np.clip(excess / (words * (words - 1)).sum(), _LEAST_SPREAD, 0.5))


class Letters:
    """Probabilities of the letters of words after one and two letters, and their usual mean in a line."""

    def __init__(self, words: Counter[str]) -> None:
        self._counts, self._before = Counter[str](), Counter[str]()
        for word, count in words.items():
            for before, letters in _trigrams(word):
                for start in range(3):
                    self._counts[letters[start:]] += count
                    self._before[before[start:]] += count
        self._kinds = sum(len(letters) == 1 for letters in self._counts) + 50  # And those that are still unseen
        self._known: dict[str, float] = {}
        self.mean, self.variance, self.between = 0.0, 1.0, 0.0

    @classmethod
    def fit(cls, lines: Sequence[_Words]) -> Letters:
        """Learn probabilities from all lines; learn the usual mean by scoring each half by the other half."""
        halves = lines[::2], lines[1::2]
        models = [cls(Counter(word for line in half for word in line)) for half in halves]
        scored = [
            [list(map(model.log_probability, line)) for line in half]
            for model, half in zip(models, reversed(halves), strict=True)
        ]
        rows = [np.array(row) for part in scored for row in part]
        made = cls(Counter(word for line in lines for word in line))
        every = np.concatenate(rows)
        made.mean, made.variance = float(every.mean()), float(every.var()) or 1.0
        far = [(row.mean() - made.mean) ** 2 - made.variance / len(row) for row in rows]
        made.between = max(float(np.mean(far)), 0.0)
        return made

    def log_probability(self, word: str) -> float:
        """Compute the mean log-probability of the letters of a word and of its end."""
        if (known := self._known.get(word)) is not None:
            return known
        total, trigrams = 0.0, list(_trigrams(word))
        for before, letters in trigrams:
            chance = (self._counts[letters[2:]] + 0.01) / (self._before[""] + 0.2 * self._kinds)
            for start in (1, 0):
                chance = (self._counts[letters[start:]] + 4 * chance) / (self._before[before[start:]] + 4)
            total += log(chance)
        self._known[word] = total / len(trigrams)
        return self._known[word]

    def deviation(self, words: Sequence[str]) -> float:
        """Compute how far the mean of some words lies from the usual one, in deviations of lines of this length."""
        mean = sum(map(self.log_probability, words)) / len(words)
        return (mean - self.mean) / sqrt(self.variance / len(words) + self.between)


def _trigrams(word: str) -> Iterable[tuple[str, str]]:
    """Yield each letter of a word, and its end, with the two letters before it: these alone, and all three."""
    padded = f"\n\n{word}\n"
    return ((padded[end - 2 : end], padded[end - 2 : end + 1]) for end in range(2, len(padded)))
