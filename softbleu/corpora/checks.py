"""Oddities of outputs, before anybody scores them: empty lines, copies, chatter, other languages, lost numbers."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from functools import lru_cache
from itertools import pairwise
from math import exp, log
from typing import Any

import numpy as np

from softbleu.config.languages import UNSPACED
from softbleu.corpora.corpus import Corpus, ParallelFiles, Segments, has_edits
from softbleu.corpora.files import STDIN, open_text
from softbleu.io.platform import cached_property
from softbleu.io.tabular import Records, Tabular
from softbleu.types import Progress

LINE_COUNT = "line-count"  # The check of the number of lines
_FARTHER = 0.1  # Mean share of the words of four lines that fit their neighbours better
TWIN_WORDS = 20  # Words from which an equal text is no accident
_WORD = rf"(?=[^\W\d_])[{UNSPACED}]|(?:(?![{UNSPACED}])[^\W\d_])+"
_NUMBER = r"\d+(?:[ .,:\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]\d+)*"
_ADDRESS = r"https?://\S+|www\.\S+|(?<!\S)[@#]\w[\w.-]*|(?<!\S)[^\s@]+@\S+"
_MIXED = r"\b(?=\w*\d)(?=\w*[A-Za-z])\w+\b"
_MARKUP = {
    "code fence": "```",
    "heading": r"^\s*#{1,6} ",
    "bold": r"\*\*[^*\s][^*]*\*\*|__[^_\s][^_]*__",
    "tag": r"</?[a-zA-Z][\w-]*(?: [^<>]*)?/?>",
    "quotes around all": r"^\s*[\"“„«「『][^\"“”„«»「」『』]*[\"”“»」』]\s*$",
}
_CHATTER = (
    r"(?i)^\W*(?:(?:sure|certainly|of course|okay|ok)\b[,.!:]\W*(?:here|i(?:'ll| will| can| have)|let me)\b"
    r"|here(?:'s| is| are)\b.{0,60}(?:translat|correct|version|text)\w*"
    r"|(?:the |my )?(?:corrected |final )?"
    r"(?:translation|translated text|correction|corrected (?:text|sentence)|output|answer)\W*:)"
    r"|[(\[]?\b(?:translator'?s note|note that i|note: (?:i|the|this))\b|let me know if|hope this helps"
)
_REFUSAL = (
    r"(?i)\bas an ai\b"
    r"|\bi(?:'m| am) (?:sorry|unable|not able)\b.{0,80}\b(?:translat|assist|help|provid|cannot|can't|text)"
    r"|\bi (?:can(?:'|no)t|cannot|won't|am not able to) (?:translate|assist|help with|provide|fulfil)"
)
_ENCODINGS = {
    "entity": r"(?i)&(?:[a-z]{2,8}|#\d{2,5}|#x[0-9a-f]{2,5});",
    "mojibake": "[\u00c2-\u00c5][\u0080-\u00bf]|\u00e2\u20ac.|\ufffd",
    "control character": r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]",
}
_START = r"^[^:\uff1a]{2,40}[:\uff1a](?=\s*\S)"


@lru_cache(maxsize=1 << 16)
def _script(letter: str) -> str:
    """Name the script of a letter by the first word of its name; those of Japanese are one."""
    script = unicodedata.name(letter, "?").partition(" ")[0]
    return {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK"}.get(script, script)


def _digits(number: str) -> str:
    return re.sub(r"\D", "", number)


def only_in(pattern: str, text: str, others: Iterable[str]) -> str | None:
    """Find a pattern in a text, unless one of the others has it, too."""
    match = re.search(pattern, text)
    return None if match is None or any(re.search(pattern, other) for other in others) else match[0]


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
        text = re.sub(_ADDRESS, " ", re.sub(_MARKUP["tag"], " ", self.text))
        return [word.lower() for word in re.findall(_WORD, text)]

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
class CheckedLine:
    """An output of one system, and what stands beside it."""

    system: str
    output: CheckedText
    source: CheckedText | None
    references: Sequence[CheckedText]
    others: Mapping[str, CheckedText]  # Outputs of the other systems
    before: Sequence[CheckedLine] = ()  # Up to three lines of the system, the nearest first

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

    lines: int = 0
    source_lines: Counter[str] = field(default_factory=Counter)  # Lines of the source that have a word
    target_lines: Counter[str] = field(default_factory=Counter)  # Lines in the language of the outputs
    scripts: Counter[str] = field(default_factory=Counter)
    ratios: dict[str, list[float]] = field(default_factory=dict)  # Logarithms, by what lengths are compared with
    starts: dict[str, Counter[str]] = field(default_factory=dict)  # By system: what stands before a first colon
    texts: dict[str, Counter[str]] = field(default_factory=dict)  # By system: outputs
    inputs: Counter[str] = field(default_factory=Counter)  # Texts that no system made

    def learn(self, line: CheckedLine) -> None:
        """Take an output into account."""
        for name, ratio in _ratios(line):
            self.ratios.setdefault(name, []).append(ratio)
        self.texts.setdefault(line.system, Counter())[line.output.plain] += 1
        if start := line.start:
            self.starts.setdefault(line.system, Counter())[start] += 1

    def learn_models(self, source: CheckedText | None, models: Iterable[CheckedText]) -> None:
        """Take the texts of a segment into account that say what is ordinary."""
        self.lines += 1
        self.source_lines.update(set(source.words if source else ()))
        self.inputs.update({text.plain for text in (source, *models) if text})
        for text in models:
            self.scripts.update(text.scripts)
        self.target_lines.update({word for text in models for word in text.words})

    @cached_property
    def foreign(self) -> set[str]:
        """Words of the source that the language of the outputs does not have, though they are frequent."""
        least = max(2.0, 0.005 * self.lines)
        return {word for word, n in self.source_lines.items() if n >= least and 10 * self.target_lines[word] <= n}

    @cached_property
    def usual(self) -> set[str]:
        """Words that many lines in the language of the outputs have, and the source has not."""
        least = max(2.0, 0.02 * self.lines)
        return {word for word, n in self.target_lines.items() if n >= least and 10 * self.source_lines[word] <= n}

    @cached_property
    def spread(self) -> dict[str, tuple[float, float]]:
        """Median of the logarithms of ratios of lengths, and their median deviation as a standard deviation."""
        spread = {}
        for name, ratios in self.ratios.items():
            middle = float(np.median(ratios))
            spread[name] = middle, max(1.4826 * float(np.median(np.abs(np.subtract(ratios, middle)))), 0.1)
        return spread


def _ratios(line: CheckedLine) -> Iterator[tuple[str, float]]:
    """Compare the length of an output, in letters and the like, with its source's and its first reference's."""
    compared = {"source": line.source, "reference": line.references[0] if line.references else None}
    for name, text in compared.items():
        if text is not None:
            yield name, log((len(line.output.plain) + 10) / (len(text.plain) + 10))


def _empty(line: CheckedLine, _: Ordinary) -> str | None:
    texts = line.inputs
    return "" if not line.output.plain and any(text.plain for text in texts) else None


def _source(line: CheckedLine, _: Ordinary) -> str | None:
    """A copy of a source whose words are in every translation (a name, a formula) is none."""
    if line.source is None or line.output.plain != line.source.plain or len(line.source.words) < 4:
        return None
    return None if any(text.plain == line.source.plain for text in line.references) else ""


def _twin(line: CheckedLine, _: Ordinary) -> str | None:
    if len(line.output.words) < TWIN_WORDS:
        return None
    return next((name for name, text in line.others.items() if text.plain == line.output.plain), None)


def _above(line: CheckedLine, _: Ordinary) -> str | None:
    if not line.before or not line.output.plain or line.output.plain != line.before[0].output.plain:
        return None
    pairs = zip(line.inputs, line.before[0].inputs, strict=True)
    return "" if all(text.plain != other.plain for text, other in pairs) else None


def _overlap(output: CheckedText, line: CheckedLine) -> float:
    """Share of the words of an output that the models of a line have."""
    words = set(output.words)
    return max((len(words.intersection(text.words)) for text in line.models), default=0) / (len(words) or 1)


def _shift(line: CheckedLine, _: Ordinary) -> str | None:
    lines = [line, *line.before]
    if len(lines) < 4:
        return None
    pairs = list(pairwise(lines))
    down = sum(_overlap(low.output, high) - _overlap(low.output, low) for low, high in pairs)
    up = sum(_overlap(high.output, low) - _overlap(high.output, high) for low, high in pairs)
    if max(down, up) <= _FARTHER * len(pairs):
        return None
    return "fits the line above" if down > _FARTHER * len(pairs) else "those above fit the line below"


def _script_of(line: CheckedLine, ordinary: Ordinary) -> str | None:
    letters = line.output.scripts
    if letters.total() < 5 or not ordinary.scripts:
        return None
    script, count = letters.most_common(1)[0]
    rare = ordinary.scripts[script] < 0.05 * ordinary.scripts.total()
    common = any(2 * text.scripts[script] > text.scripts.total() for text in line.models)
    return script.capitalize() if rare and 2 * count > letters.total() and not common else None


def _language(line: CheckedLine, ordinary: Ordinary) -> str | None:
    words = line.output.words
    if len(words) < 5:
        return None
    foreign = sum(word in ordinary.foreign for word in words)
    usual = sum(word in ordinary.usual for word in words)
    if foreign > usual and 10 * foreign >= len(words):
        return "the source's"
    expected = [sum(word in ordinary.usual for word in text.words) / (len(text.words) or 1) for text in line.models]
    # With so many words of the language, chance leaves out all of them once in thousands of lines.
    return "another" if expected and not usual and min(expected) * len(words) >= 8 else None


def _length(line: CheckedLine, ordinary: Ordinary) -> str | None:
    if not line.output.plain:
        return None
    far = []
    for name, ratio in _ratios(line):
        middle, deviation = ordinary.spread[name]
        far.append(((ratio - middle) / deviation, name, ratio))
    if not far or min(abs(z) for z, _, _ in far) < 6 or len({z > 0 for z, _, _ in far}) > 1:
        return None
    z, name, ratio = min(far, key=lambda one: abs(one[0]))
    return f"{exp(ratio):.2f} times its {name}, z {z:+.1f}"


def _repetition(line: CheckedLine, _: Ordinary) -> str | None:
    covered, run = line.output.repeated
    ordinary = max((text.repeated[0] for text in (*line.inputs, *line.models)), default=0)
    return run if covered >= 18 and covered >= 3 * ordinary and 4 * covered >= len(line.output.words) else None


def _markup(line: CheckedLine, _: Ordinary) -> str | None:
    return next((name for name, pattern in _MARKUP.items() if line.says(pattern) is not None), None)


def _chatter(line: CheckedLine, ordinary: Ordinary) -> str | None:
    often = max(3.0, 0.01 * ordinary.lines)
    if (said := line.says(_CHATTER)) is not None:
        return said
    return line.start if line.start and ordinary.starts[line.system][line.start] >= often else None


def _refusal(line: CheckedLine, ordinary: Ordinary) -> str | None:
    if (said := line.says(_REFUSAL)) is not None:
        return said
    again = ordinary.texts[line.system][line.output.plain]
    usual = max((ordinary.inputs[text.plain] for text in line.inputs or line.models), default=0)
    return f"given {again} times" if again >= max(3, 2 * usual) and len(line.output.words) >= 4 else None


def _lost(line: CheckedLine, _: Ordinary) -> str | None:
    """Find what the output alone has lost: all references and nearly all other systems have it."""
    if line.source is None or not line.output.plain or not line.models:
        return None

    def usual(part: str) -> bool:
        others = sum(text.has(part) for text in line.others.values())
        return all(text.has(part) for text in line.references) and others >= 0.9 * len(line.others)

    lost = (part for part in sorted(line.source.untranslatable) if not line.output.has(part) and usual(part))
    return ", ".join(lost) or None


def _encoding(line: CheckedLine, _: Ordinary) -> str | None:
    for name, pattern in _ENCODINGS.items():
        if (odd := line.says(pattern)) is not None:
            return f"{name} {ascii(odd)[1:-1]}"
    return None


def _normal_form(line: CheckedLine, _: Ordinary) -> str | None:
    text = line.output.text
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return None
    return None if any(not unicodedata.is_normalized("NFC", other.text) for other in line.inputs) else "not NFC"


CHECKS: dict[str, Callable[[CheckedLine, Ordinary], str | None]] = {
    "empty": _empty,
    "source": _source,
    "twin": _twin,
    "above": _above,
    "shift": _shift,
    "script": _script_of,
    "language": _language,
    "length": _length,
    "repetition": _repetition,
    "markup": _markup,
    "chatter": _chatter,
    "refusal": _refusal,
    "lost": _lost,
    "encoding": _encoding,
    "normal-form": _normal_form,
}


def count_oddities(segments: Segments) -> dict[str, Counter[str]]:
    """Count by system what a glance shows: empty lines, the line above once more, chatter and refusals.

    >>> from softbleu.corpora.corpus import Segments
    >>> segments = Segments.of({"A": ["", "Sure! Here is the translation: a cat"]}, ["a dog", "a cat"])
    >>> count_oddities(segments)
    {'A': Counter({'empty': 1, 'chatter': 1})}
    """
    counts: dict[str, Counter[str]] = {}
    references = segments.references
    for system, texts in segments.candidates.items():
        count = counts[system] = Counter[str]()
        last = ""
        for row, text in enumerate(texts):
            if not text or text.isspace():
                count["empty"] += any(map(str.strip, references[row]))
            elif text == last and references[row] != references[row - 1]:
                count["above"] += 1
            else:
                for check, pattern in (("chatter", _CHATTER), ("refusal", _REFUSAL)):
                    count[check] += only_in(pattern, text, references[row]) is not None
            last = text
    return {system: +count for system, count in counts.items()}


def find_parting(output: Sequence[str], model: Sequence[str]) -> int:
    """Find the line, from 1, at which a text with more or fewer lines than another parts from it.

    The lines before it fit those of the same number, the lines behind it those so many before or behind.

    >>> find_parting(["a cat", "the dog", "a bird sings"], ["a cat", "it rains", "one dog", "the bird"])
    2
    """
    left, right = [[set(CheckedText(text).words) for text in texts] for texts in (output, model)]
    missing = len(right) - len(left)

    def fits(row: int, other: int) -> float:
        return len(left[row] & right[other]) / (len(left[row] | right[other]) or 1)

    rows = min(len(left), len(right))
    start = max(0, -missing)  # With more lines, those that are too many stand behind the parting
    behind = [fits(row, row + missing) for row in range(start, len(left))]
    gains = [0.0]
    for row in range(rows):
        gains.append(gains[-1] + fits(row, row) - behind[row])
    return max(range(len(gains)), key=gains.__getitem__) + 1


@dataclass(frozen=True)
class Oddity:
    """A check that one output fails, and the detail."""

    system: str
    line: int  # From 1
    check: str
    detail: str
    output: str


@dataclass(frozen=True)
class Oddities(Tabular):
    """All that is odd in the outputs of systems."""

    lines: int  # Of each system
    systems: tuple[str, ...]
    oddities: Sequence[Oddity]  # By line, then by system

    def records(self) -> list[dict[str, Any]]:
        """A row per system: how many of its lines are odd, and how many in each way that occurs."""
        counts = {name: Counter(odd.check for odd in self.oddities if odd.system == name) for name in self.systems}
        occurring = [name for name in (*CHECKS, LINE_COUNT) if any(count[name] for count in counts.values())]
        flagged = Counter(system for system, _ in {(odd.system, odd.line) for odd in self.oddities})
        return [
            {
                "system": system,
                "lines": self.lines,
                "odd": flagged[system],
                **{name: count[name] for name in occurring},
            }
            for system, count in counts.items()
        ]

    def lines_table(self) -> Records:
        """A row per oddity, with the output."""
        return Records([item.name for item in fields(Oddity)], [astuple(odd) for odd in self.oddities])


def _lines(corpus: Corpus) -> Iterator[tuple[int, list[CheckedLine]]]:
    """Number the segments, and put the outputs of each beside what belongs to them."""
    before: dict[str, tuple[CheckedLine, ...]] = dict.fromkeys(corpus.systems, ())
    number = 0
    for block in corpus.blocks():
        segments = block.load()
        for row, references in enumerate(segments.references):
            number += 1
            source = None if segments.source is None else CheckedText(segments.source[row])
            models = [CheckedText(text) for text in references]
            outputs = {system: CheckedText(texts[row]) for system, texts in segments.candidates.items()}
            lines = []
            for system, output in outputs.items():
                others = {name: text for name, text in outputs.items() if name != system}
                line = CheckedLine(system, output, source, models, others, before[system])
                before[system] = (replace(line, before=()), *before[system][:2])
                lines.append(line)
            yield number, lines


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
    [{'system': 'A', 'lines': 2, 'odd': 1, 'empty': 1}]
    """
    ordinary, total = Ordinary(), 2 * len(corpus)
    for number, lines in _lines(corpus):
        first = lines[0]
        ordinary.learn_models(first.source, first.references or [line.output for line in lines])
        for line in lines:
            ordinary.learn(line)
        if progress:
            progress(number, total)
    oddities = []
    for number, lines in _lines(corpus):
        for line in lines:
            for name, check in CHECKS.items():
                if (detail := check(line, ordinary)) is not None:
                    oddities.append(Oddity(line.system, number, name, detail, line.output.text))
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

    A file with more or fewer lines than the first reference, or the source, is checked for that alone: the line at
    which the two part is found.

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
        lines = list(open_text(model[0], encoding))
        texts = {name: path for name, path in systems.items() if path != STDIN and not has_edits(path)}
        for name, path in texts.items():
            count = sum(1 for _ in open_text(path, encoding))
            if count and count != len(lines):
                output = list(open_text(path, encoding))
                place = find_parting(output, lines)
                detail = f"{count} lines, {model[0]} has {len(lines)}; they part here"
                parted[name] = Oddity(name, place, LINE_COUNT, detail, output[min(place, count) - 1])
    rest = {name: path for name, path in systems.items() if name not in parted}
    if parted and not rest:
        return Oddities(len(lines), tuple(systems), list(parted.values()))
    with ParallelFiles.open(rest, references, source, encoding=encoding) as corpus:
        odd = check_outputs(corpus, progress)
    return replace(odd, systems=tuple(systems), oddities=[*parted.values(), *odd.oddities])
