"""Checks of outputs before scoring: empty segments, copies, chatter, other languages, lost numbers."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from functools import lru_cache, partial, reduce
from math import exp, log
from operator import and_, or_

import numpy as np

from softbleu.config.languages import UNSPACED
from softbleu.corpora.corpus import Corpus, ParallelFiles, References, Texts, make_corpus
from softbleu.corpora.files import open_text
from softbleu.corpora.foreign import LEAST_LINES, ForeignLines
from softbleu.corpora.forms import (
    FORMS,
    MARKUP,
    WayToWrite,
    WordWeights,
    chatters,
    find_form,
    is_columns,
    only_in,
    placeholders,
    rare_words,
    refuses,
    repeats,
    tokenised_otherwise,
)
from softbleu.corpora.parallel import has_edits
from softbleu.io.platform import cached_property
from softbleu.io.progress import shown
from softbleu.io.reading import STDIN
from softbleu.tables import Table, Tabular
from softbleu.types import Cells, Progress

SEGMENT_COUNT = "segment-count"  # Name of the check of the number of segments
_FARTHER = 0.1  # Least gain in weighted word overlap, mean of four segments, by which outputs fit their neighbours
_NO_BETTER = 1.2  # Ratio of overlap with the own segment to overlap with others up to which outputs are unrelated
_COPY, _NEAR = 0.9, 0.5  # Shares of words of the source in an output that copies it, and in a reference near to it
_OFTEN = 0.05  # Share of segments from which a form of the references is no accident
_NEIGHBOURS = 3  # Distance, in segments, up to which shifted outputs are found
IN_REFERENCE = "in its reference"  # End of the details of a form that the output lacks
TWIN_WORDS = 20  # Words from which equal outputs of two systems are no accident
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
        return placeholders(self.text)

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

    @property
    def start(self) -> str | None:
        """Words before the first colon, unless source or references have them, too."""
        return self.says(_START)

    def says(self, pattern: str) -> str | None:
        """Return the match of a pattern in the output, unless an input matches, too."""
        return only_in(pattern, self.output.text, (text.text for text in self.inputs))


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
    inputs: Counter[str] = field(default_factory=Counter)  # Sources and references
    rare: Counter[str] = field(default_factory=Counter)  # Segments whose models have a rare word
    forms: Counter[WayToWrite] = field(default_factory=Counter)  # Segments whose models all have a form

    def learn(self, segment: CheckedSegment) -> None:
        """Count an output."""
        for name, ratio in _ratios(segment):
            self.ratios.setdefault(name, []).append(ratio)
        self.texts[segment.system][segment.output.plain] += 1
        if start := segment.start:
            self.starts[segment.system][start] += 1

    def learn_models(self, source: CheckedText | None, models: Sequence[CheckedText]) -> None:
        """Count the source and the ordinary texts of a segment."""
        self.segments += 1
        self.languages.learn(source, models)
        self.inputs.update({text.plain for text in (source, *models) if text})
        self.rare.update({word for text in models for word in text.rare})
        self.learn_forms(models)

    def learn_near(self, source: CheckedText | None, references: Iterable[CheckedText]) -> None:
        """Count a segment whose reference is near to its source, as corrections are."""
        self.near += source is not None and any(_shared(source, text) >= _NEAR for text in references)

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
        spread = {}
        for name, ratios in self.ratios.items():
            middle = float(np.median(ratios))
            spread[name] = middle, max(1.4826 * float(np.median(np.abs(np.subtract(ratios, middle)))), 0.1)
        return spread


def _ratios(segment: CheckedSegment) -> Iterator[tuple[str, float]]:
    """Yield the log ratios of the length of an output, in characters, to its source and first reference."""
    compared = {"source": segment.source, "reference": segment.references[0] if segment.references else None}
    for name, text in compared.items():
        if text is not None:
            yield name, log((len(segment.output.plain) + 10) / (len(text.plain) + 10))


def _empty(segment: CheckedSegment, _: Ordinary) -> str | None:
    texts = segment.references or segment.inputs
    return "" if not segment.output.plain and any(text.plain for text in texts) else None


def _source(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    """Find copies of the source, but not of names or formulas, which a reference has, nor of corrected texts."""
    source, output, references = segment.source, segment.output, segment.references
    if source is None or 2 * ordinary.near > ordinary.segments or _shared(source, output) < _COPY:
        return None
    most = 1 if output.plain == source.plain else _NEAR
    copied = len(source.words) >= 4 and all(_shared(source, text) < most for text in references)
    return "" if copied else None


def _shared(one: CheckedText, other: CheckedText) -> float:
    """Compute the share of the words of the longer text that both have; 1 of equal texts."""
    if one.plain == other.plain:
        return 1
    words, others = set(one.text.lower().split()), set(other.text.lower().split())
    if len(words) > 3 and 3 * len(words & others) < len(words):
        return 0  # Most pairs, quickly
    return len(one.rare & other.rare) / max(len(one.rare), len(other.rare), 1)


def _twin(segment: CheckedSegment, _: Ordinary) -> str | None:
    if len(segment.output.words) < TWIN_WORDS:
        return None
    return next((name for name, text in segment.others.items() if text.plain == segment.output.plain), None)


def _above(segment: CheckedSegment, _: Ordinary) -> str | None:
    if not segment.before or not segment.output.plain or segment.output.plain != segment.before[0].output.plain:
        return None
    pairs = zip(segment.inputs, segment.before[0].inputs, strict=True)
    return "" if all(text.plain != other.plain for text, other in pairs) else None


def _shift(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    """Find outputs that fit segments above or below better than their own, four consecutive ones at a time."""
    segments = [segment, *segment.before]
    found, most = None, _FARTHER
    for distance in range(1, _NEIGHBOURS + 1):
        pairs = [*zip(segments, segments[distance:], strict=False)][:4]
        for down in (True, False) if len(pairs) > 2 else ():
            sides = pairs if down else [(high, low) for low, high in pairs]
            gains = [ordinary.agreement(one, other) - ordinary.agreement(one, one) for one, other in sides]
            if (gain := sum(gains) / len(pairs)) > most:
                where = "the segment" if distance == 1 else f"{distance} segments"
                found, most = f"fits {where} above" if down else f"those above fit {where} below", gain
    return found


def _unrelated(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    segments = [segment, *segment.before]
    if len(segments) <= 2 * _NEIGHBOURS or not segment.references:
        return None
    own = sum(ordinary.agreement(each, each) for each in segments)
    others = sum(ordinary.agreement(one, other) for one in segments for other in segments if one is not other) / (
        len(segments) - 1
    )
    return "fits its segments no better than others" if own <= _NO_BETTER * others else None


def _script_of(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    """Name the script of most letters of an output if it is rare in the corpus and in its models; else None."""
    letters, usual = segment.output.scripts, ordinary.languages.scripts
    if letters.total() < 5 or not usual:
        return None
    script, count = letters.most_common(1)[0]
    rare = usual[script] < 0.05 * usual.total()
    common = any(2 * model.scripts[script] > model.scripts.total() for model in segment.models)
    return script.capitalize() if rare and 2 * count > letters.total() and not common else None


def _language(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    return ordinary.languages.find(
        segment.output.words, {word for text in segment.references for word in text.all_words}
    )


def _length(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    if not segment.output.plain:
        return None
    far = []
    for name, ratio in _ratios(segment):
        middle, deviation = ordinary.spread[name]
        far.append(((ratio - middle) / deviation, name, ratio))
    if not far or min(abs(z) for z, _, _ in far) < 6 or len({z > 0 for z, _, _ in far}) > 1:
        return None
    z, name, ratio = min(far, key=lambda one: abs(one[0]))
    return f"{exp(ratio):.2f} times its {name}, z {z:+.1f}"


def _repetition(segment: CheckedSegment, _: Ordinary) -> str | None:
    models, output = [text.plain for text in (*segment.inputs, *segment.models)], segment.output
    if (count := repeats(output.text, models)) and not any(map(repeats, models)):
        return f"the whole text {'twice' if count == 2 else f'{count} times'}"
    lower = output.text.lower()
    if max(Counter(lower if re.search(f"[{UNSPACED}]", lower) else lower.split()).values(), default=0) < 6:
        return None  # 18 words are six times the same three
    covered, run = output.repeated
    ordinary = max((text.repeated[0] for text in (*segment.inputs, *segment.models)), default=0)
    return run if covered >= 18 and covered >= 3 * ordinary and 4 * covered >= len(output.words) else None


def _markup(segment: CheckedSegment, _: Ordinary) -> str | None:
    return next((name for name, pattern in MARKUP.items() if segment.says(pattern) is not None), None)


def _chatter(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    often = max(3.0, 0.01 * ordinary.segments)
    if (match := chatters(segment.output.text, (text.text for text in segment.inputs))) is not None:
        return match
    return segment.start if segment.start and ordinary.starts[segment.system][segment.start] >= often else None


def _refusal(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    if (match := refuses(segment.output.text, (text.text for text in segment.inputs))) is not None:
        return match
    again = ordinary.texts[segment.system][segment.output.plain]
    usual = max((ordinary.inputs[text.plain] for text in segment.inputs or segment.models), default=0)
    return f"given {again} times" if again >= max(3, 2 * usual) and len(segment.output.words) >= 4 else None


def _lost(segment: CheckedSegment, _: Ordinary) -> str | None:
    """Find parts of the source that only this output lacks: all references and nearly all systems have them."""
    if segment.source is None or not segment.output.plain or not segment.models:
        return None

    def usual(part: str) -> bool:
        others = sum(text.has(part) for text in segment.others.values())
        return all(text.has(part) for text in segment.references) and others >= 0.9 * len(segment.others)

    lost = (part for part in sorted(segment.source.untranslatable) if not segment.output.has(part) and usual(part))
    return ", ".join(lost) or None


def _placeholders(segment: CheckedSegment, _: Ordinary) -> str | None:
    """Find placeholders that all inputs have more often, or, beside others, less often; and brackets left open."""
    output, inputs = segment.output, [text.placeholders for text in segment.inputs]
    if not output.plain or not any(inputs):
        return None
    lost = reduce(and_, inputs) - output.placeholders
    more = Counter({part: count for part, count in output.placeholders.items() if len(part) > 2 or part[0] == "%"})
    added = more - reduce(or_, inputs)
    found = [f"{sign}{part}" for sign, parts in (("-", lost), ("+", added)) for part in sorted(parts)]
    return " ".join(found) or None


def _written(check: str) -> Callable[[CheckedSegment, Ordinary], str | None]:
    """Make the check for all forms of this name."""
    forms = [form for form in FORMS if form.check == check]

    def find(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
        text = segment.output.text
        for form in forms:
            if (odd := find_form(form, text, (each.text for each in segment.inputs))) is not None:
                return f"{form.name} {ascii(odd)[1:-1]}".strip()
            often = ordinary.forms[form] >= max(3, _OFTEN * ordinary.segments)
            lacks = often and text.strip() and segment.references and not form.found(text)
            if lacks and all(form.found(each.text) for each in segment.references):
                return f"{form.name} {IN_REFERENCE}".strip()
        return None

    return find


def _columns(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    text, inputs = segment.output.text, [each.text for each in segment.inputs]
    if (odd := is_columns(text, segment.number, inputs)) is not None:
        return odd
    if segment.references and text.strip() and not is_columns(text, segment.number):
        made = [is_columns(each.text, segment.number) for each in segment.references]
        if all(made):
            return f"{made[0]} {IN_REFERENCE}"
    return _TABULAR(segment, ordinary)


def _tokens(segment: CheckedSegment, _: Ordinary) -> str | None:
    return tokenised_otherwise(segment.output.text, [text.text for text in segment.references])


def _normal_form(segment: CheckedSegment, _: Ordinary) -> str | None:
    text = segment.output.text
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return None
    return None if any(not unicodedata.is_normalized("NFC", other.text) for other in segment.inputs) else "not NFC"


_TABULAR = _written("columns")


_LANGUAGE = f"a source or {LEAST_LINES} segments"


@dataclass(frozen=True)
class Detector:
    """A way to be odd: a check, its meaning to readers, and its inputs."""

    find: Callable[[CheckedSegment, Ordinary], str | None]  # Details, or None of an output that is not odd
    meaning: str
    needs: str = ""


CHECKS: dict[str, Detector] = {
    "empty": Detector(_empty, "no text, although its source or reference has some"),
    "source": Detector(_source, "a copy of its source, or nearly so", "a source"),
    "twin": Detector(_twin, "the same long output as another system's"),
    "above": Detector(_above, "the output of the line above again"),
    "shift": Detector(_shift, "fits the lines above or below better than its own"),
    "unrelated": Detector(_unrelated, "fits its reference no better than those of other lines", "references"),
    "script": Detector(_script_of, "mostly in a script that the references do not use"),
    "language": Detector(_language, "has more words of the source's language than of the references'", _LANGUAGE),
    "length": Detector(_length, "far too long or too short for its source and reference"),
    "repetition": Detector(_repetition, "repeats the same words over and over"),
    "markup": Detector(_markup, "has code fences, headings, bold type or quotes that its inputs lack"),
    "chatter": Detector(_chatter, "says that a translation follows, or begins with a label"),
    "refusal": Detector(_refusal, "says that it cannot do the task"),
    "lost": Detector(_lost, "lacks a number, an address or a name that its inputs have", "a source"),
    "placeholders": Detector(_placeholders, "loses or adds a placeholder, tag, escape or mark of bold type"),
    "encoding": Detector(_written("encoding"), "has entities, broken UTF-8 or control characters"),
    "pieces": Detector(_written("pieces"), "has pieces of words or tokens of a model"),
    "columns": Detector(_columns, "has columns, line numbers or JSON"),
    "tokens": Detector(_tokens, "is tokenised and its references are not, or the other way round", "references"),
    "invisible": Detector(_written("invisible"), "has zero-width marks or marks of direction that its inputs lack"),
    "normal-form": Detector(_normal_form, "is not in Unicode's form NFC"),
    SEGMENT_COUNT: Detector(
        lambda *_: None, "the file has more or fewer lines than the reference"
    ),  # By `check_files`
}


def odd_checks(
    segment: CheckedSegment, ordinary: Ordinary, checks: Iterable[str] = tuple(CHECKS)
) -> Iterator[tuple[str, str]]:
    """Yield the checks that find an output odd, with details; an output that is a reference is not odd."""
    if not any(segment.output.text == text.text for text in segment.references):
        for name in checks:
            if (detail := CHECKS[name].find(segment, ordinary)) is not None:
                yield name, detail


def find_parting(output: Sequence[str], model: Sequence[str]) -> int:
    """Find the segment, from 1, at which a text with more or fewer segments than another diverges from it.

    Segments before it fit the same number in the other text; segments after it fit the number shifted by the
    difference of lengths.

    >>> find_parting(["a cat", "the dog", "a bird sings"], ["a cat", "it rains", "one dog", "the bird"])
    2
    """
    left, right = [[set(CheckedText(text).words) for text in texts] for texts in (output, model)]
    missing = len(right) - len(left)

    def fits(row: int, other: int) -> float:
        return len(left[row] & right[other]) / (len(left[row] | right[other]) or 1)

    rows = min(len(left), len(right))
    start = max(0, -missing)  # Extra segments of a longer text come after the divergence
    behind = [fits(row, row + missing) for row in range(start, len(left))]
    gains = [0.0]
    for row in range(rows):
        gains.append(gains[-1] + fits(row, row) - behind[row])
    return max(range(len(gains)), key=gains.__getitem__) + 1


@dataclass(frozen=True)
class Oddity:
    """A failed check of one output, with details."""

    system: str
    segment: int  # From 1
    check: str
    detail: str
    output: str


@dataclass(frozen=True)
class Oddities(Tabular):
    """All failed checks of the outputs of systems."""

    segments: int  # Per system
    systems: tuple[str, ...]
    oddities: Sequence[Oddity]  # By segment, then by system
    lacking: Mapping[str, str] = field(default_factory=dict)  # Checks that did not run: what they need

    @property
    def unchecked(self) -> str:
        """Name the checks that did not run, and their inputs; empty if all ran."""
        needs = dict.fromkeys(self.lacking.values())
        return "; ".join(
            f"{', '.join(name for name, need in self.lacking.items() if need == each)} (without {each})"
            for each in needs
        )

    def records(self) -> list[Cells]:
        """Return a row per system: number of odd segments, in total and by check, None if it did not run."""
        counts = {name: Counter(odd.check for odd in self.oddities if odd.system == name) for name in self.systems}
        occurring = [name for name in CHECKS if any(count[name] for count in counts.values())]
        flagged = Counter(system for system, _ in {(odd.system, odd.segment) for odd in self.oddities})
        return [
            {
                "system": system,
                "segments": self.segments,
                "odd": flagged[system],
                **{name: count[name] or (None if count[SEGMENT_COUNT] else 0) for name in occurring},
            }
            for system, count in counts.items()
        ]

    def segments_table(self) -> Table:
        """Return a row per failed check, with the output."""
        empty = "nothing found" + f"; not checked: {self.unchecked}" * bool(self.lacking)
        return Table([item.name for item in fields(Oddity)], [astuple(odd) for odd in self.oddities], empty=empty)


def texts_by_segment(corpus: Corpus) -> Iterator[tuple[dict[str, str], Sequence[str], str | None]]:
    """Yield the outputs by system, the references and the source of each segment."""
    for block in corpus.blocks():
        texts = block.load()
        for row, references in enumerate(texts.references):
            outputs = {system: lines[row] for system, lines in texts.candidates.items()}
            yield outputs, references, None if texts.source is None else texts.source[row]


def _segments(corpus: Corpus) -> Iterator[tuple[int, list[CheckedSegment]]]:
    """Yield the number of each segment, and the outputs of all systems for it."""
    before: dict[str, tuple[CheckedSegment, ...]] = dict.fromkeys(corpus.systems, ())
    for number, (texts, references, text) in enumerate(texts_by_segment(corpus), start=1):
        source, models = None if text is None else CheckedText(text), list(map(CheckedText, references))
        outputs = {system: CheckedText(output) for system, output in texts.items()}
        segments = []
        for system, output in outputs.items():
            others = {name: text for name, text in outputs.items() if name != system}
            segment = CheckedSegment(system, number, output, source, models, others, before[system])
            before[system] = (replace(segment, before=()), *before[system][: 2 * _NEIGHBOURS - 1])
            segments.append(segment)
        yield number, segments


def check_outputs(corpus: Corpus, progress: Progress | None = None) -> Oddities:
    """Check outputs for oddities; the names of `CHECKS` are the columns of the result.

    Needs no metric and no model. Ordinary outputs are defined by the references, or else by the other systems'
    outputs. Text that also appears in the source or a reference is never odd.

    Parameters
    ----------
    corpus
        Outputs of one system or several, with references, a source, or both.
    progress
        Called with the number of segments read and the total; segments are read twice.

    Examples
    --------
    >>> from softbleu.corpora import Segments
    >>> source = ["Dobrý den", "Mám 120 korun"]
    >>> odd = check_outputs(Segments.of({"A": ["Good day", ""]}, ["Good day", "I have 120 crowns"], source))
    >>> odd.records()
    [{'system': 'A', 'segments': 2, 'odd': 1, 'empty': 1}]
    """
    ordinary, total = Ordinary(), 2 * len(corpus)
    for number, segments in _segments(corpus):
        first = segments[0]
        ordinary.learn_models(first.source, first.references or [segment.output for segment in segments])
        ordinary.learn_near(first.source, first.references)
        for segment in segments:
            ordinary.learn(segment)
        if progress:
            progress(number, total)
    oddities = []
    for number, segments in _segments(corpus):
        for segment in segments:
            oddities += [
                Oddity(segment.system, number, name, detail, segment.output.text)
                for name, detail in odd_checks(segment, ordinary)
            ]
        if progress:
            progress(len(corpus) + number, total)
    given = {
        "": True,
        "a source": corpus.source is not None,
        "references": corpus.against == "references",
        _LANGUAGE: corpus.source is not None or len(corpus) >= LEAST_LINES,
    }
    lacking = {name: each.needs for name, each in CHECKS.items() if not given[each.needs]}
    return Oddities(len(corpus), corpus.systems, oddities, lacking)


def check(
    candidates: Texts,
    references: References | None = None,
    source: Iterable[str] | None = None,
    *,
    progress: Progress | bool | None = None,
) -> Oddities:
    """Check outputs for oddities, as `softbleu check` does: see `check_outputs`.

    Parameters
    ----------
    candidates, references, source
        Texts as for `softbleu.score`; references, a source, or both.
    progress
        True for a bar; or a function of the segments done and of all segments.

    Returns
    -------
    Oddities
        A table with a row per system; its `oddities` has an entry for each failed check of an output.

    Raises
    ------
    InputError
        The texts do not go together.

    Examples
    --------
    >>> found = check(["The dog barks.", "I cannot translate this."], ["A dog barks.", "The cat sat."])
    >>> [(odd.segment, odd.check, odd.detail) for odd in found.oddities]
    [(2, 'refusal', 'I cannot translate')]
    """
    with shown(progress) as shower:
        return check_outputs(make_corpus(candidates, references, source), shower)


def check_files(
    systems: Mapping[str, str],
    references: Sequence[str],
    source: str | None = None,
    *,
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> Oddities:
    """Check files of outputs for oddities; see `check_outputs`.

    For a file with more or fewer segments than the first reference, or else the source, only the segment at which
    the two diverge is reported.

    Parameters
    ----------
    systems
        Paths by the names of the systems.
    references
        Paths of the references.
    source
        Path of the source.
    encoding
        Encoding of all texts.
    progress
        Called with the number of segments read and the total.
    """
    model = [*references, *([] if source is None else [source])][:1]
    parted: dict[str, Oddity] = {}
    if model and model[0] != STDIN:
        segments = list(open_text(model[0], encoding, "reference"))
        texts = {name: path for name, path in systems.items() if path != STDIN and not has_edits(path)}
        for name, path in texts.items():
            output = list(open_text(path, encoding, "candidate"))
            if len(output) != len(segments):
                place = find_parting(output, segments)
                detail = f"{len(output)} segments, {model[0]} has {len(segments)}; they part here"
                odd_text = output[min(place, len(output)) - 1] if output else ""
                parted[name] = Oddity(name, place, SEGMENT_COUNT, detail, odd_text)
    rest = {name: path for name, path in systems.items() if name not in parted}
    if parted and not rest:
        others = {name: "as many lines as the reference" for name in CHECKS if name != SEGMENT_COUNT}
        return Oddities(len(segments), tuple(systems), list(parted.values()), others)
    with ParallelFiles.open(rest, references, source, encoding=encoding) as corpus:
        odd = check_outputs(corpus, progress)
    return replace(odd, systems=tuple(systems), oddities=[*parted.values(), *odd.oddities])
