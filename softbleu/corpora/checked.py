"""Outputs with their sources and references, and what is ordinary in a corpus of them, as detectors see them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from math import log

import numpy as np

from softbleu.config.languages import UNSPACED
from softbleu.corpora.corpus import Corpus
from softbleu.corpora.foreign import ForeignLines
from softbleu.corpora.forms import FORMS, MARKUP, WayToWrite, WordWeights, only_in, rare_words
from softbleu.corpora.localised import blanks, placeholders
from softbleu.io.platform import cached_property

NEAR = 0.5  # Share of words of the source in a reference from which it is near to it, as corrections are
NEIGHBOURS = 3  # Distance, in segments, up to which shifted outputs are found
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u0670\u0900-\u0963\u0970-\u0df3"  # Within words: vowels of India
)
_WORD = rf"(?=[^\W\d_])[{UNSPACED}]|(?:(?![{UNSPACED}\d])(?:[^\W_]|[{_MARKS}]))+"
_NUMBER = r"\d+(?:[ .,:\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]\d+)*"
_ADDRESS = r"https?://\S+|www\.\S+|(?<!\S)[@#]\w[\w.-]*|(?<!\S)[^\s@]+@\S+"
_DATE = (
    r"(?<![\d.,/-])(?:\d{4}(?P<mark>[./-]) ?[01]?\d(?P=mark) ?[0-3]?\d"
    r"|[0-3]?\d(?P<sign>[./-]) ?[0-3]?\d(?P=sign) ?(?:\d\d){1,2})(?![.,/-]?\d)"
)
_MIXED = r"\b(?=\w*\d)(?=\w*[A-Za-z])\w+\b"
_START = r"^[^:\uff1a]{2,40}[:\uff1a](?=\s*\S)"


@lru_cache(maxsize=1 << 16)
def _script(letter: str) -> str:
    """Return the script of a letter, the first word of its Unicode name; the scripts of Japanese count as one."""
    script = unicodedata.name(letter, "?").partition(" ")[0]
    return {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK"}.get(script, script)


def _digits(number: str) -> str:
    return re.sub(r"\D", "", number)


@dataclass(frozen=True)
class CheckedText:
    """A text with cached properties."""

    text: str

    @cached_property
    def plain(self) -> str:
        """The text, with single blanks."""
        return " ".join(self.text.split())

    @cached_property
    def words(self) -> list[str]:
        """Lower-case words without addresses and tags; characters for scripts without blanks."""
        text = re.sub(_ADDRESS, " ", re.sub(MARKUP["tag"], " ", self.text))
        return [word.lower() for word in re.findall(_WORD, text)]

    @cached_property
    def all_words(self) -> set[str]:
        """Words, also of addresses and tags."""
        return {word.lower() for word in re.findall(_WORD, self.text)}

    @cached_property
    def rare(self) -> set[str]:
        """Words that distinguish segments."""
        return rare_words(self.text)

    @cached_property
    def scripts(self) -> Counter[str]:
        """Number of letters by script."""
        return Counter(_script(char) for char in self.text if char.isalpha())

    @cached_property
    def running_scripts(self) -> Counter[str]:
        """Number of letters by script, but for the Latin ones of addresses and tags, which all languages have."""
        text = re.sub(f"{_ADDRESS}|{MARKUP['tag']}", lambda part: re.sub("[A-Za-z]", "", part[0]), self.text)
        return self.scripts if text == self.text else CheckedText(text).scripts

    @cached_property
    def digits(self) -> str:
        """All digits, concatenated."""
        return _digits(self.text)

    @cached_property
    def untranslatable(self) -> set[str]:
        """Numbers of two digits or more, addresses, and names with digits: translations keep them.

        Parts of a date change places, and what may be a month becomes a word.
        """
        text = re.sub(_ADDRESS, " ", self.text)
        text = re.sub(_DATE, lambda date: "; ".join(n for n in re.findall(r"\d+", date[0]) if int(n) > 12), text)
        text = re.sub(r"(?<!\d)1[0-2](?=\s?[月월])", " ", text)
        numbers = {_digits(number) for number in re.findall(_NUMBER, text)}
        numbers = {number for number in numbers if len(number) > 1 and number.strip("0")}
        return numbers.union(re.findall(_ADDRESS, self.text), re.findall(_MIXED, text))

    @cached_property
    def placeholders(self) -> Counter[str]:
        """Number of placeholders, tags, escapes and marks of Markdown, by their text."""
        return Counter(placeholders(self.text))

    @cached_property
    def repeated(self) -> tuple[int, str]:
        """Number of words covered by the most frequent three consecutive words, and these words."""
        words = self.words
        runs = Counter(zip(words, words[1:], words[2:], strict=False))
        if not runs:
            return 0, ""
        run, count = runs.most_common(1)[0]
        return 3 * count, " ".join(run)

    def has(self, part: str) -> bool:
        """Whether the text contains a number or name; separators between digits are ignored."""
        return part in (self.digits if part.isdecimal() else self.text)


@dataclass(frozen=True)
class CheckedSegment:
    """An output of one system with its source, references and context."""

    system: str
    number: int  # From 1
    output: CheckedText
    source: CheckedText | None
    references: Sequence[CheckedText]
    others: Mapping[str, CheckedText]  # Outputs of the other systems
    before: Sequence[CheckedSegment] = ()  # Up to six previous segments of the system, the nearest first
    agreements: dict[int, float] = field(default_factory=dict)  # Cache of `Ordinary.agreement` by segment number

    @property
    def models(self) -> list[CheckedText]:
        """Ordinary texts of the same language: references, or else the other systems' outputs."""
        return list(self.references or self.others.values())

    @cached_property
    def inputs(self) -> list[CheckedText]:
        """Source and references."""
        return [*([] if self.source is None else [self.source]), *self.references]

    @cached_property
    def given(self) -> list[str]:
        """Source and references as they are written."""
        return [text.text for text in self.inputs]

    @property
    def start(self) -> str | None:
        """Words before the first colon, unless source or references have them, too."""
        return self.says(_START)

    def says(self, pattern: str) -> str | None:
        """Return the match of a pattern in the output, unless an input matches, too."""
        return only_in(pattern, self.output.text, self.given)


@dataclass
class Ordinary:
    """Counts over a corpus that define ordinary outputs."""

    segments: int = 0
    near: int = 0  # Segments whose reference is near to the source
    languages: ForeignLines = field(default_factory=ForeignLines)
    ratios: dict[str, list[float]] = field(default_factory=dict)  # Log ratios of lengths to "source" and "reference"
    starts: dict[str, Counter[str]] = field(
        default_factory=partial(defaultdict, Counter[str])
    )  # Texts before the first colon, by system
    texts: dict[str, Counter[str]] = field(default_factory=partial(defaultdict, Counter[str]))  # Outputs by system
    padded: Counter[str] = field(default_factory=Counter)  # Outputs with blanks around them, by system
    inputs: Counter[str] = field(default_factory=Counter)  # Sources and references
    rare: Counter[str] = field(default_factory=Counter)  # Segments whose models have a rare word
    language: str = ""  # Code of the language of the outputs
    terms: Mapping[str, Sequence[str]] = field(default_factory=dict)  # Allowed translations of the source's terms
    forms: Counter[WayToWrite] = field(default_factory=Counter)  # Segments whose models all have a form
    least_deviation: float = 0.1  # Of the log ratios

    def learn(self, segment: CheckedSegment) -> None:
        """Count an output."""
        for name, ratio in length_ratios(segment):
            self.ratios.setdefault(name, []).append(ratio)
        self.texts[segment.system][segment.output.plain] += 1
        self.padded[segment.system] += bool(blanks(segment.output.text))
        if start := segment.start:
            self.starts[segment.system][start] += 1

    def learn_references(self, source: CheckedText | None, references: Sequence[CheckedText]) -> None:
        """Count the references of a segment as ordinary outputs: their languages, and their lengths."""
        self.languages.learn(source, references)
        for place, text in enumerate(references):
            segment = CheckedSegment("", 0, text, source, references[: min(place, 1)], {})
            for name, ratio in length_ratios(segment):
                self.ratios.setdefault(name, []).append(ratio)

    def learn_models(self, source: CheckedText | None, models: Sequence[CheckedText]) -> None:
        """Count the source and the ordinary texts of a segment."""
        self.segments += 1
        self.languages.learn(source, models)
        self.inputs.update({text.plain for text in (source, *models) if text})
        self.rare.update({word for text in models for word in text.rare})
        self.learn_forms(models)

    def learn_near(self, source: CheckedText | None, references: Iterable[CheckedText]) -> None:
        """Count a segment whose reference is near to its source, as corrections are."""
        self.near += source is not None and any(shared_words(source, text) >= NEAR for text in references)

    def learn_forms(self, models: Iterable[CheckedText], forms: Iterable[WayToWrite] = FORMS) -> None:
        """Count the forms that all ordinary texts of a segment have."""
        self.forms.update(form for form in forms if all(form.found(text.text) for text in models))

    @cached_property
    def weights(self) -> WordWeights:
        """Weights of the words of the models, greater for rarer words."""
        return WordWeights(self.rare, self.segments)

    def agreement(self, one: CheckedSegment, other: CheckedSegment) -> float:
        """Compute the weighted share of the words of an output that a model of another segment contains."""
        if (known := one.agreements.get(other.number)) is not None:
            return known
        weigh, words = self.weights.__getitem__, one.output.rare
        found = max((sum(map(weigh, words & text.rare)) for text in other.models or other.inputs), default=0.0)
        whole = sum(map(weigh, words)) or 1.0
        return one.agreements.setdefault(other.number, found / whole)

    @cached_property
    def spread(self) -> dict[str, tuple[float, float]]:
        """Median of the log ratios of lengths, and a robust standard deviation (from the median deviation)."""
        spread = dict.fromkeys(("source", "reference"), (0.0, self.least_deviation))
        for name, ratios in self.ratios.items():
            middle = float(np.median(ratios))
            deviation = 1.4826 * float(np.median(np.abs(np.subtract(ratios, middle))))
            spread[name] = middle, max(deviation, self.least_deviation)
        return spread


def length_ratios(segment: CheckedSegment) -> Iterator[tuple[str, float]]:
    """Yield the log ratios of the length of an output, in characters, to its source and first reference."""
    compared = {"source": segment.source, "reference": segment.references[0] if segment.references else None}
    for name, text in compared.items():
        if text is not None:
            yield name, log((len(segment.output.plain) + 10) / (len(text.plain) + 10))


def shared_words(one: CheckedText, other: CheckedText) -> float:
    """Compute the share of the words of the longer text that both have; 1 of equal texts."""
    if one.plain == other.plain:
        return 1
    words, others = set(one.text.lower().split()), set(other.text.lower().split())
    if len(words) > 3 and 3 * len(words & others) < len(words):
        return 0  # Most pairs, quickly
    return len(one.rare & other.rare) / max(len(one.rare), len(other.rare), 1)


def texts_by_segment(corpus: Corpus) -> Iterator[tuple[dict[str, str], Sequence[str], str | None]]:
    """Yield the outputs by system, the references and the source of each segment."""
    for block in corpus.blocks():
        texts = block.load()
        for row, references in enumerate(texts.references):
            outputs = {system: lines[row] for system, lines in texts.candidates.items()}
            yield outputs, references, None if texts.source is None else texts.source[row]


def checked_segments(corpus: Corpus) -> Iterator[tuple[int, list[CheckedSegment]]]:
    """Yield the number of each segment, and the outputs of all systems for it."""
    before: dict[str, tuple[CheckedSegment, ...]] = dict.fromkeys(corpus.systems, ())
    for number, (texts, references, text) in enumerate(texts_by_segment(corpus), start=1):
        source, models = None if text is None else CheckedText(text), list(map(CheckedText, references))
        outputs = {system: CheckedText(output) for system, output in texts.items()}
        segments = []
        for system, output in outputs.items():
            others = {name: text for name, text in outputs.items() if name != system}
            segment = CheckedSegment(system, number, output, source, models, others, before[system])
            before[system] = (replace(segment, before=()), *before[system][: 2 * NEIGHBOURS - 1])
            segments.append(segment)
        yield number, segments
