"""Oddities of outputs, before anybody scores them: empty segments, copies, chatter, other languages, lost numbers."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from functools import lru_cache
from math import exp, log
from typing import Any

import numpy as np

from softbleu.config.languages import UNSPACED
from softbleu.corpora.corpus import Corpus, ParallelFiles, has_edits
from softbleu.corpora.files import STDIN, open_text
from softbleu.corpora.forms import (
    CHATTER,
    FORMS,
    MARKUP,
    REFUSAL,
    WayToWrite,
    WordWeights,
    find_form,
    is_columns,
    only_in,
    rare_words,
    repeats,
    tokenised_otherwise,
)
from softbleu.io.platform import cached_property
from softbleu.io.tabular import Records, Tabular
from softbleu.types import Progress

SEGMENT_COUNT = "segment-count"  # The check of the number of segments
_FARTHER = 0.1  # Mean share of the words of four segments, by their weights, that fit their neighbours better
_NO_BETTER = 1.2  # How much more of outputs their own segments must have than those beside them
_OFTEN = 0.05  # Share of the segments whose references are written in a way that is more than an accident
_NEIGHBOURS = 3  # Segments above and below in which outputs of others are looked for
TWIN_WORDS = 20  # Words from which an equal text is no accident
_WORD = rf"(?=[^\W\d_])[{UNSPACED}]|(?:(?![{UNSPACED}])[^\W\d_])+"
_NUMBER = r"\d+(?:[ .,:\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]\d+)*"
_ADDRESS = r"https?://\S+|www\.\S+|(?<!\S)[@#]\w[\w.-]*|(?<!\S)[^\s@]+@\S+"
_MIXED = r"\b(?=\w*\d)(?=\w*[A-Za-z])\w+\b"
_START = r"^[^:\uff1a]{2,40}[:\uff1a](?=\s*\S)"


@lru_cache(maxsize=1 << 16)
def _script(letter: str) -> str:
    """Name the script of a letter by the first word of its name; those of Japanese are one."""
    script = unicodedata.name(letter, "?").partition(" ")[0]
    return {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK"}.get(script, script)


def _digits(number: str) -> str:
    return re.sub(r"\D", "", number)


@dataclass(frozen=True)
class CheckedText:
    """A text, and what is asked of it more than once."""

    text: str

    @cached_property
    def plain(self) -> str:
        """The text, with single blanks."""
        return " ".join(self.text.split())

    @cached_property
    def words(self) -> list[str]:
        """Its words in lower case, without addresses and tags; in scripts without blanks its characters."""
        text = re.sub(_ADDRESS, " ", re.sub(MARKUP["tag"], " ", self.text))
        return [word.lower() for word in re.findall(_WORD, text)]

    @cached_property
    def rare(self) -> set[str]:
        """Its words by which segments are told apart."""
        return rare_words(self.text)

    @cached_property
    def scripts(self) -> Counter[str]:
        """How many letters it has of each script."""
        return Counter(_script(char) for char in self.text if char.isalpha())

    @cached_property
    def digits(self) -> str:
        """All its digits, one after the other."""
        return _digits(self.text)

    @cached_property
    def untranslatable(self) -> set[str]:
        """Numbers of two digits or more, addresses, and names with digits: translations leave them as they are."""
        text = re.sub(_ADDRESS, " ", self.text)
        numbers = {_digits(number) for number in re.findall(_NUMBER, text)}
        numbers = {number for number in numbers if len(number) > 1 and number.strip("0")}
        return numbers.union(re.findall(_ADDRESS, self.text), re.findall(_MIXED, text))

    @cached_property
    def repeated(self) -> tuple[int, str]:
        """How many words the most frequent three consecutive words cover, and these."""
        words = self.words
        runs = Counter(zip(words, words[1:], words[2:], strict=False))
        if not runs:
            return 0, ""
        run, count = runs.most_common(1)[0]
        return 3 * count, " ".join(run)

    def has(self, part: str) -> bool:
        """Whether a number or name stands in the text, whatever groups the digits."""
        return part in (self.digits if part.isdecimal() else self.text)


@dataclass(frozen=True)
class CheckedSegment:
    """An output of one system, and what stands beside it."""

    system: str
    number: int  # From 1
    output: CheckedText
    source: CheckedText | None
    references: Sequence[CheckedText]
    others: Mapping[str, CheckedText]  # Outputs of the other systems
    before: Sequence[CheckedSegment] = ()  # Up to six segments of the system, the nearest first

    agreements: dict[int, float] = field(default_factory=dict)  # With segments of these numbers

    @property
    def models(self) -> list[CheckedText]:
        """Texts of its language that say what is ordinary: references, or else the other systems' outputs."""
        return list(self.references or self.others.values())

    @property
    def inputs(self) -> list[CheckedText]:
        """Texts that no system made."""
        return [*([] if self.source is None else [self.source]), *self.references]

    @property
    def start(self) -> str | None:
        """Words before a first colon, if source and references have none."""
        return self.says(_START)

    def says(self, pattern: str) -> str | None:
        """Find a pattern in the output that no text given has."""
        return only_in(pattern, self.output.text, [text.text for text in self.inputs])


@dataclass
class Ordinary:
    """Counts of a corpus that say which outputs are ordinary."""

    segments: int = 0
    source_segments: Counter[str] = field(default_factory=Counter)  # Segments whose source has a word
    target_segments: Counter[str] = field(
        default_factory=Counter
    )  # Segments that have it in the language of the outputs
    scripts: Counter[str] = field(default_factory=Counter)
    ratios: dict[str, list[float]] = field(default_factory=dict)  # Logarithms, by what lengths are compared with
    starts: dict[str, Counter[str]] = field(default_factory=dict)  # By system: what stands before a first colon
    texts: dict[str, Counter[str]] = field(default_factory=dict)  # By system: outputs
    inputs: Counter[str] = field(default_factory=Counter)  # Texts that no system made
    rare: Counter[str] = field(default_factory=Counter)  # Segments whose models have a word
    forms: Counter[WayToWrite] = field(default_factory=Counter)  # Segments of which all models have a form

    def learn(self, segment: CheckedSegment) -> None:
        """Take an output into account."""
        for name, ratio in _ratios(segment):
            self.ratios.setdefault(name, []).append(ratio)
        self.texts.setdefault(segment.system, Counter())[segment.output.plain] += 1
        if start := segment.start:
            self.starts.setdefault(segment.system, Counter())[start] += 1

    def learn_models(self, source: CheckedText | None, models: Sequence[CheckedText]) -> None:
        """Take the texts of a segment into account that say what is ordinary."""
        self.segments += 1
        self.source_segments.update(set(source.words if source else ()))
        self.inputs.update({text.plain for text in (source, *models) if text})
        for text in models:
            self.scripts.update(text.scripts)
        self.target_segments.update({word for text in models for word in text.words})
        self.rare.update({word for text in models for word in text.rare})
        self.forms.update(form for form in FORMS if all(form.found(text.text) for text in models))

    @cached_property
    def weights(self) -> WordWeights:
        """WordWeights of the words of the models, the greater the rarer."""
        return WordWeights(self.rare, self.segments)

    def agreement(self, one: CheckedSegment, other: CheckedSegment) -> float:
        """Share of the words of an output, by their weights, that the models of another segment have."""
        if (known := one.agreements.get(other.number)) is not None:
            return known
        weigh, words = self.weights.__getitem__, one.output.rare
        found = max((sum(map(weigh, words & text.rare)) for text in other.models or other.inputs), default=0.0)
        whole = sum(map(weigh, words)) or 1.0
        return one.agreements.setdefault(other.number, found / whole)

    @cached_property
    def foreign(self) -> set[str]:
        """Words of the source that the language of the outputs does not have, though they are frequent."""
        least = max(2.0, 0.005 * self.segments)
        return {
            word for word, n in self.source_segments.items() if n >= least and 10 * self.target_segments[word] <= n
        }

    @cached_property
    def usual(self) -> set[str]:
        """Words that many segments in the language of the outputs have, and the source has not."""
        least = max(2.0, 0.02 * self.segments)
        return {
            word for word, n in self.target_segments.items() if n >= least and 10 * self.source_segments[word] <= n
        }

    @cached_property
    def spread(self) -> dict[str, tuple[float, float]]:
        """Median of the logarithms of ratios of lengths, and their median deviation as a standard deviation."""
        spread = {}
        for name, ratios in self.ratios.items():
            middle = float(np.median(ratios))
            spread[name] = middle, max(1.4826 * float(np.median(np.abs(np.subtract(ratios, middle)))), 0.1)
        return spread


def _ratios(segment: CheckedSegment) -> Iterator[tuple[str, float]]:
    """Compare the length of an output, in letters and the like, with its source's and its first reference's."""
    compared = {"source": segment.source, "reference": segment.references[0] if segment.references else None}
    for name, text in compared.items():
        if text is not None:
            yield name, log((len(segment.output.plain) + 10) / (len(text.plain) + 10))


def _empty(segment: CheckedSegment, _: Ordinary) -> str | None:
    texts = segment.inputs
    return "" if not segment.output.plain and any(text.plain for text in texts) else None


def _source(segment: CheckedSegment, _: Ordinary) -> str | None:
    """A copy of a source whose words are in every translation (a name, a formula) is none."""
    if segment.source is None or segment.output.plain != segment.source.plain or len(segment.source.words) < 4:
        return None
    return None if any(text.plain == segment.source.plain for text in segment.references) else ""


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
    """Compare how outputs fit the segments so many above or below with how they fit their own, four at once."""
    segments = [segment, *segment.before]
    found, most = None, _FARTHER
    for distance in range(1, _NEIGHBOURS + 1):
        pairs = [*zip(segments, segments[distance:], strict=False)][:4]
        for down in (True, False) if len(pairs) > 2 else ():
            gains = [
                ordinary.agreement(low, high) - ordinary.agreement(low, low)
                if down
                else ordinary.agreement(high, low) - ordinary.agreement(high, high)
                for low, high in pairs
            ]
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
    letters = segment.output.scripts
    if letters.total() < 5 or not ordinary.scripts:
        return None
    script, count = letters.most_common(1)[0]
    rare = ordinary.scripts[script] < 0.05 * ordinary.scripts.total()
    common = any(2 * text.scripts[script] > text.scripts.total() for text in segment.models)
    return script.capitalize() if rare and 2 * count > letters.total() and not common else None


def _language(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    words = segment.output.words
    if len(words) < 5:
        return None
    foreign = sum(word in ordinary.foreign for word in words)
    usual = sum(word in ordinary.usual for word in words)
    if foreign > usual and 10 * foreign >= len(words):
        return "the source's"
    expected = [
        sum(word in ordinary.usual for word in text.words) / (len(text.words) or 1) for text in segment.models
    ]
    # With so many words of the language, chance leaves out all of them once in thousands of segments.
    return "another" if expected and not usual and min(expected) * len(words) >= 8 else None


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
    if repeats(segment.output.text) and not any(repeats(text.text) for text in (*segment.inputs, *segment.models)):
        return "the whole text twice"
    covered, run = segment.output.repeated
    ordinary = max((text.repeated[0] for text in (*segment.inputs, *segment.models)), default=0)
    return run if covered >= 18 and covered >= 3 * ordinary and 4 * covered >= len(segment.output.words) else None


def _markup(segment: CheckedSegment, _: Ordinary) -> str | None:
    return next((name for name, pattern in MARKUP.items() if segment.says(pattern) is not None), None)


def _chatter(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    often = max(3.0, 0.01 * ordinary.segments)
    if (said := segment.says(CHATTER)) is not None:
        return said
    return segment.start if segment.start and ordinary.starts[segment.system][segment.start] >= often else None


def _refusal(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    if (said := segment.says(REFUSAL)) is not None:
        return said
    again = ordinary.texts[segment.system][segment.output.plain]
    usual = max((ordinary.inputs[text.plain] for text in segment.inputs or segment.models), default=0)
    return f"given {again} times" if again >= max(3, 2 * usual) and len(segment.output.words) >= 4 else None


def _lost(segment: CheckedSegment, _: Ordinary) -> str | None:
    """Find what the output alone has lost: all references and nearly all other systems have it."""
    if segment.source is None or not segment.output.plain or not segment.models:
        return None

    def usual(part: str) -> bool:
        others = sum(text.has(part) for text in segment.others.values())
        return all(text.has(part) for text in segment.references) and others >= 0.9 * len(segment.others)

    lost = (part for part in sorted(segment.source.untranslatable) if not segment.output.has(part) and usual(part))
    return ", ".join(lost) or None


def _written(check: str) -> Callable[[CheckedSegment, Ordinary], str | None]:
    """Make the check of the forms of this name."""
    forms = [form for form in FORMS if form.check == check]

    def find(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
        inputs, text = [each.text for each in segment.inputs], segment.output.text
        for form in forms:
            if (odd := find_form(form, text, inputs)) is not None:
                return f"{form.name} {ascii(odd)[1:-1]}".strip()
            often = ordinary.forms[form] >= max(3, _OFTEN * ordinary.segments)
            if often and segment.references and text.strip() and not form.found(text) and form.found(inputs[-1]):
                return f"{form.name} in its reference".strip()
        return None

    return find


def _columns(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    text, inputs = segment.output.text, [each.text for each in segment.inputs]
    if (odd := is_columns(text, segment.number, inputs)) is not None:
        return odd
    if segment.references and text.strip() and not is_columns(text, segment.number):
        made = [is_columns(each.text, segment.number) for each in segment.references]
        if all(made):
            return f"{made[0]} in its reference"
    return _TABULAR(segment, ordinary)


def _tokens(segment: CheckedSegment, _: Ordinary) -> str | None:
    return tokenised_otherwise(segment.output.text, [text.text for text in segment.references])


def _normal_form(segment: CheckedSegment, _: Ordinary) -> str | None:
    text = segment.output.text
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return None
    return None if any(not unicodedata.is_normalized("NFC", other.text) for other in segment.inputs) else "not NFC"


_TABULAR = _written("columns")
CHECKS: dict[str, Callable[[CheckedSegment, Ordinary], str | None]] = {
    "empty": _empty,
    "source": _source,
    "twin": _twin,
    "above": _above,
    "shift": _shift,
    "unrelated": _unrelated,
    "script": _script_of,
    "language": _language,
    "length": _length,
    "repetition": _repetition,
    "markup": _markup,
    "chatter": _chatter,
    "refusal": _refusal,
    "lost": _lost,
    "encoding": _written("encoding"),
    "pieces": _written("pieces"),
    "columns": _columns,
    "tokens": _tokens,
    "invisible": _written("invisible"),
    "normal-form": _normal_form,
}


def find_parting(output: Sequence[str], model: Sequence[str]) -> int:
    """Find the segment, from 1, at which a text with more or fewer segments than another parts from it.

    The segments before it fit those of the same number, the segments behind it those so many before or behind.

    >>> find_parting(["a cat", "the dog", "a bird sings"], ["a cat", "it rains", "one dog", "the bird"])
    2
    """
    left, right = [[set(CheckedText(text).words) for text in texts] for texts in (output, model)]
    missing = len(right) - len(left)

    def fits(row: int, other: int) -> float:
        return len(left[row] & right[other]) / (len(left[row] | right[other]) or 1)

    rows = min(len(left), len(right))
    start = max(0, -missing)  # With more segments, those that are too many stand behind the parting
    behind = [fits(row, row + missing) for row in range(start, len(left))]
    gains = [0.0]
    for row in range(rows):
        gains.append(gains[-1] + fits(row, row) - behind[row])
    return max(range(len(gains)), key=gains.__getitem__) + 1


@dataclass(frozen=True)
class Oddity:
    """A check that one output fails, and the detail."""

    system: str
    segment: int  # From 1
    check: str
    detail: str
    output: str


@dataclass(frozen=True)
class Oddities(Tabular):
    """All that is odd in the outputs of systems."""

    segments: int  # Of each system
    systems: tuple[str, ...]
    oddities: Sequence[Oddity]  # By segment, then by system

    def records(self) -> list[dict[str, Any]]:
        """A row per system: how many of its segments are odd, and how many in each way that occurs."""
        counts = {name: Counter(odd.check for odd in self.oddities if odd.system == name) for name in self.systems}
        occurring = [name for name in (*CHECKS, SEGMENT_COUNT) if any(count[name] for count in counts.values())]
        flagged = Counter(system for system, _ in {(odd.system, odd.segment) for odd in self.oddities})
        return [
            {
                "system": system,
                "segments": self.segments,
                "odd": flagged[system],
                **{name: count[name] for name in occurring},
            }
            for system, count in counts.items()
        ]

    def segments_table(self) -> Records:
        """A row per oddity, with the output."""
        return Records([item.name for item in fields(Oddity)], [astuple(odd) for odd in self.oddities])


def _segments(corpus: Corpus) -> Iterator[tuple[int, list[CheckedSegment]]]:
    """Number the segments, and put the outputs of each beside what belongs to them."""
    before: dict[str, tuple[CheckedSegment, ...]] = dict.fromkeys(corpus.systems, ())
    number = 0
    for block in corpus.blocks():
        block_texts = block.load()
        for row, references in enumerate(block_texts.references):
            number += 1
            source = None if block_texts.source is None else CheckedText(block_texts.source[row])
            models = [CheckedText(text) for text in references]
            outputs = {system: CheckedText(texts[row]) for system, texts in block_texts.candidates.items()}
            segments = []
            for system, output in outputs.items():
                others = {name: text for name, text in outputs.items() if name != system}
                segment = CheckedSegment(system, number, output, source, models, others, before[system])
                before[system] = (replace(segment, before=()), *before[system][: 2 * _NEIGHBOURS - 1])
                segments.append(segment)
            yield number, segments


def check_outputs(corpus: Corpus, progress: Progress | None = None) -> Oddities:
    """Find what is odd in outputs: see `CHECKS`, whose names are those of the columns.

    It needs no metric and no model. What is ordinary is learnt from the references; without them from the other
    systems' outputs. A text that is in the source or a reference as well is never odd.

    Parameters
    ----------
    corpus
        Outputs of one system or several, with references, a source, or both.
    progress
        It is told how many of all segments are read; they are read twice.

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
        for segment in segments:
            ordinary.learn(segment)
        if progress:
            progress(number, total)
    oddities = []
    for number, segments in _segments(corpus):
        for segment in segments:
            for name, check in CHECKS.items():
                if (detail := check(segment, ordinary)) is not None:
                    oddities.append(Oddity(segment.system, number, name, detail, segment.output.text))
        if progress:
            progress(len(corpus) + number, total)
    return Oddities(len(corpus), corpus.systems, oddities)


def check_files(
    systems: Mapping[str, str],
    references: Sequence[str],
    source: str | None = None,
    *,
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> Oddities:
    """Find what is odd in files of outputs; see `check_outputs`.

    A file with more or fewer segments than the first reference, or the source, or with none, is checked for that
    alone: the segment at which the two part is found.

    Parameters
    ----------
    systems
        Paths by the names of the systems.
    references
        Paths of the references.
    source
        Path of the source.
    encoding
        Of all texts.
    progress
        It is told how many of all segments are read.
    """
    model = [*references, *([] if source is None else [source])][:1]
    parted: dict[str, Oddity] = {}
    if model and model[0] != STDIN:
        segments = list(open_text(model[0], encoding))
        texts = {name: path for name, path in systems.items() if path != STDIN and not has_edits(path)}
        for name, path in texts.items():
            count = sum(1 for _ in open_text(path, encoding))
            if count != len(segments):
                output = list(open_text(path, encoding))
                place = find_parting(output, segments)
                detail = f"{count} segments, {model[0]} has {len(segments)}; they part here"
                parted[name] = Oddity(
                    name, place, SEGMENT_COUNT, detail, output[min(place, count) - 1] if output else ""
                )
    rest = {name: path for name, path in systems.items() if name not in parted}
    if parted and not rest:
        return Oddities(len(segments), tuple(systems), list(parted.values()))
    with ParallelFiles.open(rest, references, source, encoding=encoding) as corpus:
        odd = check_outputs(corpus, progress)
    return replace(odd, systems=tuple(systems), oddities=[*parted.values(), *odd.oddities])
