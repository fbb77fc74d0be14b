"""The metric without references: grammaticality, fluency, and the meaning of the source."""

from __future__ import annotations

import math
import re
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from softbleu.config.declare import setting
from softbleu.embeddings.function_words import is_function_word, is_negation
from softbleu.encoders.opened import encoded_lines
from softbleu.errors import InputError, Parameter
from softbleu.io.arguments import Limit
from softbleu.io.files import Content, find_resource
from softbleu.io.reading import parse_score, read_json
from softbleu.language.values import (
    DEFAULT_LANGUAGE,
    ERROR_DETECTORS,
    VALUES,
    Finding,
    LanguageSet,
    ModelChoice,
    open_language,
)
from softbleu.matching.ngrams import Chunk, WordTable
from softbleu.metrics.base import WholeMetric
from softbleu.metrics.meteor import STAGES, Meteor, MeteorWords
from softbleu.metrics.protocols import CANDIDATE, SOURCE, Mark
from softbleu.metrics.requirements import Requirements, needed
from softbleu.metrics.score import Score, ScoreColumns, column
from softbleu.metrics.settings import DEFAULT_ENCODER
from softbleu.text.coded import Tokens
from softbleu.text.meteor import MeteorData, needed_data
from softbleu.text.tokens import data_setting

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.types import Array, Floats, Integers

_MOST_LINES = 1 << 17  # Lines whose judgements are remembered
_AT_ONCE = 1 << 11


@dataclass(frozen=True)
class Coefficients:
    """Coefficients by which values of lines become grammaticality and fluency, from 0 to 1."""

    constant: float
    weights: Floats  # Of each of `softbleu.language.VALUES`
    bounds: tuple[float, float]  # Fluency that is taken for 0 and for 1: percentiles of learners' lines

    @classmethod
    def read(cls, path: Path) -> Coefficients:
        """Read a file as `experiments/gug-grammaticality/fit.py` writes it."""
        content = read_json(path)
        try:
            weights = np.array([parse_score(content["coefficients"][name]) for name in VALUES])
            least, most = map(parse_score, content["fluency"])
            constant = parse_score(content["constant"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{path}: no coefficients of grammaticality ({type(error).__name__}: {error}); "
                "make them by experiments/gug-grammaticality/fit.py"
            ) from error
        if not least < most:
            raise InputError(f"{path}: fluency must have two bounds, the lower one first")
        return cls(constant, weights, (least, most))

    def judge(self, values: Floats) -> Floats:
        """Grammaticality and fluency of each line: (lines, 2)."""
        logits = np.full(len(values), self.constant)
        # One after the other, so that a line has the same digits in any company.
        for weight, value in zip(self.weights, values.T, strict=True):
            logits += weight * value
        grammar = [1 / (1 + math.exp(-logit)) for logit in logits.clip(-500, 500).tolist()]
        least, most = self.bounds
        fluency = (values[:, VALUES.index("fluency")] - least) / (most - least)
        return np.column_stack((grammar, fluency.clip(0, 1)))


class LineJudge:
    """Judges lines, and remembers them."""

    def __init__(self, language: LanguageSet, coefficients: Coefficients) -> None:
        self.language = language
        self._coefficients = coefficients
        self._known: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def judge(self, lines: Sequence[str]) -> Floats:
        """Grammaticality and fluency of each line, 0 of empty ones: (lines, 2)."""
        # Other threads may let lines go meanwhile.
        by_line = {line: known for line in dict.fromkeys(lines) if (known := self._known.get(line)) is not None}
        new = [line for line in dict.fromkeys(lines) if line not in by_line]
        for start in range(0, len(new), _AT_ONCE):
            some = new[start : start + _AT_ONCE]
            judged = self._coefficients.judge(self.language.values(some))
            for line, (grammar, fluency) in zip(some, judged.tolist(), strict=True):
                by_line[line] = (grammar, fluency) if line.strip() else (0.0, 0.0)
        self._known.update(by_line)
        with suppress(KeyError):
            while len(self._known) > _MOST_LINES:
                self._known.popitem(last=False)
        return np.array([by_line[line] for line in lines], np.float64).reshape(-1, 2)


class CoefficientsFile(Content):
    """A file of coefficients of one's own; `none` stands for the coefficients of softbleu."""

    @classmethod
    def parse(cls, text: str) -> CoefficientsFile | None:
        """Read the name of a file."""
        try:
            return None if text == "none" else cls.of(text)
        except InputError as error:
            raise InputError(Parameter("coefficients"), ": ", *error.args) from error


@lru_cache(4)
def line_judge(model: ModelChoice, detector: str, coefficients: CoefficientsFile | None) -> LineJudge:
    """Judge by a model and a detector, with the coefficients that go with them unless there are others."""
    path = Path(coefficients.location) if coefficients else _fitted(model, detector)
    return LineJudge(open_language(model, detector), Coefficients.read(path))


def _fitted(model: ModelChoice, detector: str) -> Path:
    """Coefficients that come with softbleu."""
    file = "grammar.json" if detector == "spelling" else f"grammar-{detector}.json"
    path = find_resource("language", model.name, file) if model.name else None
    if path is None:
        raise InputError(
            f"no coefficients of grammaticality come with {model.location} and detector {detector!r}: fit them by "
            "experiments/gug-grammaticality/fit.py, and name the file with ",
            Parameter("coefficients"),
        )
    return path


def content_words(words: Sequence[str]) -> Counter[str]:
    """Words that carry meaning, in lower case: neither function words nor tokens without letters."""
    return Counter(word for word in map(str.lower, words) if not is_function_word(word))


def meaning(candidate: Sequence[str], source: Sequence[str], t: float) -> float:
    """F of content words of candidate and source, P R / (t P + (1 - t) R): equal words match first, then stems.

    Two lines without any content words mean the same.

    >>> round(meaning("He wants big dogs .".split(), "he want dogs and cats".split(), 0.5), 3)
    0.667
    """
    proposed, wanted = content_words(candidate), content_words(source)
    if not proposed or not wanted:
        return float(proposed == wanted)
    equal = proposed & wanted
    matched = equal.total() + _shared_stems(proposed - equal, wanted - equal).total()
    precision, recall = matched / proposed.total(), matched / wanted.total()
    return precision * recall / (t * precision + (1 - t) * recall) if matched else 0.0


def encoded_meaning(candidates: Sequence[Sequence[str]], sources: Sequence[Sequence[str]]) -> Floats:
    """Compute the cosine of the mean hidden states of each candidate and its source, by `minilm-l6`.

    It is halved where one side has more negations, or other numbers in digits, and 0 where a line is empty.

    >>> pairs = ["I can not swim .", "I am no swimmer .", "I can swim ."], ["I can n't swim ."] * 3
    >>> encoded_meaning(*([line.split() for line in side] for side in pairs)).round(2).tolist()
    [0.9, 0.69, 0.42]
    """
    states = encoded_lines(DEFAULT_ENCODER, (6,)).means([*candidates, *sources])
    unit = states / np.linalg.norm(states, axis=1, keepdims=True)
    pairs = zip(candidates, sources, strict=True)
    shares = [bool(text and source) * (1 + (_stated(text) == _stated(source))) / 2 for text, source in pairs]
    return np.asarray((unit[: len(candidates)] * unit[len(candidates) :]).sum(axis=1).clip(0, 1) * shares)


def _stated(words: Sequence[str]) -> tuple[int, list[str]]:
    """Count the negations of a line, and list its numbers, part by part."""
    return sum(map(is_negation, words)), sorted(re.findall(r"\d+", " ".join(words)))


def unmatched(candidate: Sequence[str], source: Sequence[str]) -> tuple[list[str], list[str]]:
    """Content words of a candidate without an equal word or stem in its source, and of the source, likewise.

    >>> unmatched("He wants big dogs .".split(), "he want dogs and cats".split())
    (['big'], ['cats'])
    """
    proposed, wanted = content_words(candidate), content_words(source)
    left = proposed - wanted, wanted - proposed
    shared = _shared_stems(*left)
    new, gone = (_without(words, shared.copy()) for words in left)
    return new, gone


def _without(words: Counter[str], stems: Counter[str]) -> list[str]:
    kept = []
    for word in words.elements():
        if stems[_stem(word)]:
            stems[_stem(word)] -= 1
        else:
            kept.append(word)
    return kept


def _shared_stems(proposed: Counter[str], wanted: Counter[str]) -> Counter[str]:
    one, other = (Counter(map(_stem, words.elements())) for words in (proposed, wanted))
    return one & other


@lru_cache(1 << 16)
def _stem(word: str) -> str:
    # Imported here, for it takes as long as a short run.
    from nltk.stem.porter import PorterStemmer

    return str(PorterStemmer().stem(word))


_LIMIT = Limit("refless", "words", 1 << 17, "a document of 3,000 words: 6,000")  # With its source
_PARTS = 10**6  # Segments have whole numbers of such parts, which add up to the same digits anywhere
_SMALL_WEIGHTS, _WEIGHTS = (0.65, 0.1, 0.25), (0.2, 0.6, 0.2)  # With the small model, and with others
_EARLIER_WEIGHTS = (0.5, 0.2, 0.3)  # With the small model, where no meaning is the least
_ANY = "surrogatepass"  # Characters that are none, as they stand in broken text, are kept as they are
_LEAST_SHOWN = 0.005  # Points
_MOST_UNLIKELY = 5  # Words that are named, the least likely first
_CRITERIA = ("grammaticality", "fluency", "meaning", "little meaning")
_MARKED = {"misspelt": "wrong", "error": "wrong", "unlikely": "minor"}  # Kinds of marks of findings
Aggregate = Literal["mean", "share"]
Matched = Literal["stems", "meteor", "minilm-l6"]


def _weight(criterion: str, index: int) -> float | None:
    small, other, earlier = (str(weights[index]) for weights in (_SMALL_WEIGHTS, _WEIGHTS, _EARLIER_WEIGHTS))
    unset = f"{small} with {DEFAULT_LANGUAGE}, {earlier} there with least_meaning 0, {other} with other models"
    return setting(None, f"Weight of {criterion}", least=0, most=1, unset=unset)


@dataclass(frozen=True)
class SurfaceForms:
    """Surface forms of words: their bytes, and where each begins."""

    def of(self, words: Sequence[str]) -> Mapping[str, Array]:
        """Bytes of all words in UTF-8, and their bounds."""
        parts = [word.encode(errors=_ANY) for word in words]
        bounds = np.cumsum([0, *map(len, parts)])
        return {"bytes": np.frombuffer(b"".join(parts), np.uint8), "bytes_bounds": bounds}


@dataclass(frozen=True)
class ReflessScore(Score):
    """The score and its parts, in per cent."""

    grammar: float = column("G", "grammaticality %", "per cent")
    fluency: float = column("F", "fluency %", "per cent")
    meaning: float = column("M", "meaning %", "per cent")
    better: float = column("better", "better than the source %", "per cent")


@dataclass(frozen=True, repr=False)
class Refless(WholeMetric):
    """Grammaticality, fluency and meaning of corrections, without references (Asano, Mizumoto and Inui 2017).

    The score is alpha G + beta F + gamma M, divided by the sum of the weights, and times M / `least_meaning` where M
    is less. G: logistic regression of misspellings, other errors, fluency and marks. F: (log P(line) - log P(its
    words by themselves)) / words by a language model and unigrams, between fixed percentiles of learners' lines. M: F
    of the content words that the line shares with its source, equal or of equal stems, or aligned by METEOR; or the
    likeness of both lines to an encoder. Of an empty line all three are 0.

    Parameters
    ----------
    alpha, beta, gamma
        Weights.
    least_meaning
        Meaning below which a segment's score falls in proportion, so that a fluent sentence about something else has
        next to nothing. With 0 the sum counts alone, with the weights of version 0.7.
    t
        Of precision in M's mean, P R / (t P + (1 - t) R): much weight of precision makes M follow recall.
    matched
        Content words that M counts: of equal `stems`, or aligned by `meteor`, synonyms and paraphrases too. With
        `minilm-l6` M is the likeness of both lines: `encoded_meaning`.
    meteor_data
        Where these are from.
    aggregate
        A corpus has the mean of its segments' scores, or the `share` of segments above their source.
    language_model
        Model of how likely lines are: `en-small`, `smollm2-135m`, or a model of one's own.
    detector
        Detector of errors: the word list alone, or Harper beside it.
    coefficients
        Coefficients of G and bounds of F, as `experiments/gug-grammaticality/fit.py` makes them.

    Examples
    --------
    >>> Refless().score(np.array([1, 500_000, 1_000_000, 750_000, 1, 0])).score
    61.25
    """

    alpha: float | None = _weight("grammaticality", 0)
    beta: float | None = _weight("fluency", 1)
    gamma: float | None = _weight("meaning", 2)
    least_meaning: float = setting(
        0.5, "Meaning below which the score falls in proportion", least=0, most=1, always_signed=True
    )
    t: float = setting(0.85, "Weight of precision in the score of meaning", least=0, most=1)
    matched: Matched = setting(
        "stems", "Meaning by content words of equal stems or METEOR's matches, or by an encoder of lines"
    )
    meteor_data: MeteorData | None = data_setting()
    aggregate: Aggregate = setting("mean", "Mean of segments, or share of those better than their source")
    language_model: ModelChoice | None = setting(
        None,
        "Language model: a name, a GGUF file, a folder for ctranslate2, or an ARPA file",
        read=ModelChoice.read,
        hashed=True,
        metavar="NAME|PATH",
        unset=f"{DEFAULT_LANGUAGE}, the small bundled one",
    )
    detector: str | None = setting(
        None,
        "Error detector: spelling alone, or spelling and harper",
        choices=ERROR_DETECTORS,
        unset=f"spelling with {DEFAULT_LANGUAGE}, harper with other models",
    )
    coefficients: CoefficientsFile | None = setting(
        None,
        "Coefficients of grammaticality, from experiments/gug-grammaticality/fit.py",
        read=CoefficientsFile.parse,
        hashed=True,
        metavar="FILE",
        unset="those that come with the model",
    )
    name: ClassVar[str] = "refless"
    also_rewards: ClassVar[str] = "errors added to the source (up to 15% of sentences)"
    language: ClassVar[str] = "en"  # type: ignore[misc]  # it has no other
    label: ClassVar[str] = "Refless"

    @property
    def requires(self) -> Requirements:
        """The source, surface forms of words, and the needs of METEOR if it matches them."""
        more = (MeteorWords(STAGES, self.meteor_data, lowercase=True),) if self.matched == "meteor" else ()
        return Requirements(references=False, source=True, parts=(SurfaceForms(), *more))

    def resolved(self) -> Self:
        """Return the metric with the bundled model by default, and the detector that belongs to it."""
        alpha, beta, gamma = self._weights
        model, detector = self.language_model or ModelChoice.of(DEFAULT_LANGUAGE), self._detector
        whole = replace(self, alpha=alpha, beta=beta, gamma=gamma, language_model=model, detector=detector)
        return replace(whole, meteor_data=needed_data(STAGES if self.matched == "meteor" else (), self.meteor_data))

    @property
    def _is_small(self) -> bool:
        return self.language_model is None or self.language_model.name == DEFAULT_LANGUAGE

    @property
    def _detector(self) -> str:
        return self.detector or ("spelling" if self._is_small else "harper")

    @property
    def _weights(self) -> tuple[float, ...]:
        small = _SMALL_WEIGHTS if self.least_meaning else _EARLIER_WEIGHTS
        usual = small if self._is_small else _WEIGHTS
        weights = (self.alpha, self.beta, self.gamma)
        return tuple(default if weight is None else weight for weight, default in zip(weights, usual, strict=True))

    def _judge(self) -> LineJudge:
        model = self.language_model or ModelChoice.of(DEFAULT_LANGUAGE)
        return line_judge(model, self._detector, self.coefficients)

    def find(self, line: str) -> tuple[Finding, ...]:
        """Marks that the spelling, the error detector and the language model make in a candidate."""
        return self._judge().language.find(line)

    def faults(self, line: str, source: str, row: Integers) -> tuple[Finding, ...]:
        """Name the costs of a candidate, in points and the greatest first, with their causes; then each fault."""
        found, said = self.find(line), ("empty line",) * len(_CRITERIA)
        if line.strip():
            by_kind = {kind: [each.text for each in found if each.kind == kind] for kind in _MARKED}
            values = dict(zip(VALUES, self._judge().language.values([line])[0].tolist(), strict=True))
            surface = {
                "no capital at the start": not values["capital"],
                "no mark at the end": not values["end"],
                "a single i": values["small_i"],
            }
            grammar = [_named("misspelt", by_kind["misspelt"]), _named("errors", by_kind["error"])]
            grammar += [fault for fault, is_there in surface.items() if is_there]
            new, gone = self._unmatched(line.split(), source.split())
            differ = self.matched == "minilm-l6" and _stated(line.split()) != _stated(source.split())
            changed = ("other negations or numbers than the source",) if differ else ()
            likely = sorted((each.value or 0, each.text) for each in found if each.kind == "unlikely")
            unlikely = [text for _, text in likely[:_MOST_UNLIKELY]]
            said = (
                "; ".join(filter(None, grammar)) or "no fault found: length and fluency",
                _named("unlikely here", unlikely) or "no word is unlikely here",
                "; ".join(filter(None, (*changed, _named("not in the source", new), _named("gone", gone)))),
                f"meaning below {100 * self.least_meaning:g}%",
            )
        weights = np.array(self._weights) / (sum(self._weights) or 1)
        lost = np.append(weights * (1 - row[1:4] / _PARTS), row[5] / _PARTS)
        ranked = sorted(zip((100 * lost).tolist(), _CRITERIA, said, strict=True), reverse=True)
        causes = [Finding("lost", name, points, why) for points, name, why in ranked if points > _LEAST_SHOWN]
        return (*causes, *found)

    def _unmatched(self, candidate: Sequence[str], source: Sequence[str]) -> tuple[list[str], list[str]]:
        """Content words that only one side has; none are known where stems are not compared."""
        return unmatched(candidate, source) if self.matched == "stems" else ([], [])

    def marks(self, chunk: Chunk, words: WordTable | None) -> Iterator[list[Mark]]:
        """The faults of each candidate; words of the source that it lacks, and words that the source lacks."""
        words, original = needed(words, self.name, "words"), needed(chunk.source, self.name, "source")
        sides = (surface_forms(text, words) for text in (chunk.candidates, original))
        for candidate, source in zip(*sides, strict=True):
            new, gone = self._unmatched(candidate, source)
            wanted = [
                *(
                    (CANDIDATE, each.text, _MARKED[each.kind], each.message or each.kind)
                    for each in self.find(" ".join(candidate))
                ),
                *((CANDIDATE, word, "over", "not in the source") for word in new),
                *((SOURCE, word, "missed", "gone") for word in gone),
            ]
            marks: dict[tuple[int, int], Mark] = {}
            for text, phrase, kind, fault in wanted:
                line, size = (source if text == SOURCE else candidate), len(phrase.split())
                spans = (" ".join(line[place : place + size]).lower() for place in range(len(line)))
                places = [place for place, span in enumerate(spans) if span == phrase.lower()]
                # Which of several is unlikely is not known.
                if len(places) > 1 and kind == "minor":
                    continue
                for place in places:
                    marks.setdefault((text, place), Mark(text, place, size, kind, len(marks), fault))
            yield list(marks.values())

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """1, grammaticality, fluency, meaning, 1 if better, loss by little meaning: (segments, 6), in millionths."""
        original, words = needed(chunk.source, self.name, "source"), needed(words, self.name, "words")
        _LIMIT.check_sum(candidate=chunk.candidates.lengths, source=original.lengths)
        candidates, sources = (surface_forms(text, words) for text in (chunk.candidates, original))
        rows = np.zeros((len(candidates), 2, 6), np.int64)
        rows[:, :, 0] = 1
        # Both sides at once: the more lines, the more of one length.
        judged = self._judge().judge([" ".join(line) for side in (candidates, sources) for line in side])
        rows[:, :, 1:3] = np.rint(_PARTS * judged).reshape(2, len(candidates), 2).swapaxes(0, 1)
        if self.matched == "meteor":
            rows[:, :, 3] = np.rint(_PARTS * self._aligned_meaning(chunk, words, kernels))
        elif self.matched == "minilm-l6":
            rows[:, 0, 3] = np.rint(_PARTS * encoded_meaning(candidates, sources))
            rows[:, 1, 3] = _PARTS * np.array([*map(bool, sources)])
        else:
            for row, candidate, source in zip(rows, candidates, sources, strict=True):
                meanings = (meaning(text, source, self.t) if text else 0.0 for text in (candidate, source))
                row[:, 3] = [round(_PARTS * share) for share in meanings]
        if self.least_meaning:
            kept = np.minimum(rows[:, :, 3] / (_PARTS * self.least_meaning), 1)
            rows[:, :, 5] = np.floor(_PARTS / 100 * (1 - kept) * self._means(rows))
        scores = self._means(rows)
        rows[:, 0, 4] = scores[:, 0] > scores[:, 1]
        return rows[:, 0]

    def _aligned_meaning(self, chunk: Chunk, words: WordTable, kernels: Kernels) -> Floats:
        """Meaning of each candidate and of its source, by METEOR's matches of content words: (segments, 2)."""
        rows = np.zeros((len(chunk), 2))
        source: Any = chunk.source
        for side, text in enumerate((chunk.candidates, source)):
            single = Chunk(text, source, np.arange(len(chunk) + 1))
            counts = Meteor(meteor_data=self.meteor_data).statistics(single, words, kernels)
            content = counts[:, :2] - counts[:, 2:4]
            matched = counts[:, 4:-4].reshape(len(counts), -1, 2, 2)[:, :, 0].sum(axis=1)
            precision, recall = (matched / np.maximum(content, 1)).T
            below = self.t * precision + (1 - self.t) * recall
            shares = np.divide(precision * recall, below, out=np.zeros(len(below)), where=below > 0)
            rows[:, side] = np.where(content.any(axis=1), shares, 1.0) * (text.lengths > 0)
        return rows

    def _means(self, rows: Integers | Floats) -> Floats:
        """Compute weighted means of the criteria of rows (…, 6), less what was lost, in per cent."""
        weights, segments = self._weights, np.maximum(rows[..., 0], 1)
        total = np.zeros(rows.shape[:-1])
        for place, weight in enumerate(weights, start=1):
            total += weight * rows[..., place]
        means = 100 * total / (_PARTS * segments * (sum(weights) or 1))
        return np.asarray(means - 100 * rows[..., 5] / (_PARTS * segments))

    def columns(self, rows: Integers | Floats) -> ScoreColumns[ReflessScore]:
        """Score rows of statistics, or sums of rows."""
        numbers = np.asarray(rows, np.float64)
        segments = np.maximum(numbers[:, 0], 1)
        grammar, fluency, meaning = (100 * total / segments / _PARTS for total in numbers.T[1:4])
        better = 100 * numbers[:, 4] / segments
        scores = better if self.aggregate == "share" else self._means(numbers)
        return ScoreColumns(ReflessScore, scores, grammar=grammar, fluency=fluency, meaning=meaning, better=better)


def _named(label: str, words: Sequence[str]) -> str:
    """Write words behind a label, each once; empty without words.

    >>> _named("gone", ["dogs", "cats", "dogs"]), _named("gone", [])
    ('gone: dogs, cats', '')
    """
    return f"{label}: {', '.join(dict.fromkeys(words))}" if words else ""


def surface_forms(tokens: Tokens, words: WordTable) -> list[list[str]]:
    """Write coded tokens, line by line, in the surface forms that `words` has."""
    text, bounds = words.feature("bytes"), words.feature("bytes_bounds")
    codes = np.unique(tokens.codes).tolist()
    known = {code: text[bounds[code] : bounds[code + 1]].tobytes().decode(errors=_ANY) for code in codes}
    return tokens.surface_forms(known)
