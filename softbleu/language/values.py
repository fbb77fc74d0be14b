"""Values of a line by itself: its fluency, and the features of its grammaticality."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from softbleu.language.detector import Harper
from softbleu.language.ngrams import LineJudgements
from softbleu.language.spelling import WordList, as_written, split_words

if TYPE_CHECKING:
    from softbleu.types import Floats

VALUES = ("fluency", "length", "misspelt", "misspelt_share", "capital", "end", "small_i", "errors")
"""Values of a line: how much likelier the model finds it than its words by themselves, by token (base 10);
logarithm of its number of words; how many are misspelt, and what share; 1 for a line that begins with a capital, ends
with a mark, has an `i` by itself; how many other errors were found."""
_ENDS = tuple(".?!\"')…")


@dataclass(frozen=True)
class Finding:
    """A fault of a line, a distance that cost it points, or a number that its score is made of."""

    kind: Literal["misspelt", "error", "unlikely", "lost", "total"]
    text: str  # The words that it is about; the name of a total
    value: float | None = None
    """Of an unlikely word: logarithm (base 10) of how much likelier the model finds it here than it is by itself;
    of a distance the points that were lost by it."""
    message: str = ""  # What the error detector says


class LanguageModel(Protocol):
    """A model of the probability of lines."""

    @property
    def cased(self) -> bool:
        """Whether it reads words as they are, not in lower case."""

    @property
    def ends(self) -> bool:
        """Whether it judges that a line ends where it does."""

    def judge(self, lines: Sequence[Sequence[str]]) -> LineJudgements:
        """Judge lines of words; a line's digits do not depend on the others."""

    def judge_words(self, line: Sequence[str]) -> list[float]:
        """Logarithm (base 10) of the probability of each word of a line after those before it."""


@dataclass(frozen=True)
class LanguageSet:
    """A language model, the unigrams (of words in lower case) that it is compared with, a spelling, a detector."""

    model: LanguageModel
    unigrams: LanguageModel
    spelling: WordList
    detector: Harper | None = None

    def values(self, lines: Sequence[str]) -> Floats:
        """Values of each line, in the order of `VALUES`: (lines, values).

        >>> from softbleu.language import ModelChoice, open_language
        >>> language = open_language(ModelChoice.of("en-small"))
        >>> found = language.values(["This is a good house .", "this is good a hous"])
        >>> found[:, 0].argmax(), found[:, 2].tolist()
        (np.int64(0), [0.0, 1.0])
        """
        # Each distinct word once: a long line has many that are equal.
        known: dict[str, str] = {}
        words = [[known.setdefault(word, word) for word in split_words(line)] for line in lines]
        lowered = {word: word.lower() for word in known}
        lower = [list(map(lowered.__getitem__, line)) for line in words]
        written = [as_written(line) for line in lines]
        # What reads words as they are reads text, as what it learnt from has it: without blanks before marks.
        judged = self.model.judge([line.split() for line in written] if self.model.cased else lower)
        alone = self.unigrams.judge(lower)
        tokens = alone.tokens
        # What the model does not judge, the unigrams need not either.
        end = 0.0 if self.model.ends else float(self.unigrams.judge([[]]).log_probabilities[0])
        gain = judged.log_probabilities - (alone.log_probabilities - end)
        errors: Sequence[Sized] = self.detector.errors(written) if self.detector is not None else [()] * len(lines)
        misspelt = np.array([sum(self.spelling.misspelt(line)) for line in words], np.float64)
        return np.column_stack(
            (
                gain / np.maximum(tokens + self.model.ends, 1),
                np.log(np.maximum(tokens, 1)),
                misspelt,
                misspelt / np.maximum(tokens, 1),
                [line[:1].isupper() for line in lines],
                [line.rstrip().endswith(_ENDS) for line in lines],
                ["i" in line for line in words],
                [len(findings) for findings in errors],
            )
        ).reshape(len(lines), len(VALUES))

    def find(self, line: str) -> tuple[Finding, ...]:
        """Find the faults of a line: misspelt words, errors, words likelier by themselves than after the others.

        >>> from softbleu.language import ModelChoice, open_language
        >>> found = open_language(ModelChoice.of("en-small")).find("He want to recieve it .")
        >>> [(each.kind, each.text) for each in found]
        [('misspelt', 'recieve'), ('unlikely', 'want'), ('unlikely', 'recieve')]
        """
        words, written = split_words(line), as_written(line)
        wrong = zip(words, self.spelling.misspelt(words), strict=True)
        findings = [Finding("misspelt", word) for word, is_wrong in wrong if is_wrong]
        if self.detector is not None:
            (errors,) = self.detector.errors([written])
            findings += [
                Finding("error", written[error.start : error.end], message=f"{error.kind}: {error.message}")
                for error in errors
            ]
        read = written.split() if self.model.cased else [word.lower() for word in words]
        alone = [sum(self.unigrams.judge_words([part.lower() for part in split_words(word)])) for word in read]
        gains = [log - by_itself for log, by_itself in zip(self.model.judge_words(read), alone, strict=True)]
        findings += [Finding("unlikely", word, gain) for word, gain in zip(read, gains, strict=True) if gain < 0]
        return tuple(findings)
