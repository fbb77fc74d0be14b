"""The trained metric: costs of distances between a candidate and its reference, learned from judgements.

A head, a small file, says how many points each distance costs. A map of vectors says it of precision, recall and F
of tokens that are matched under it (`softbleu.embeddings.maps`). A head over a map prices these and strings.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, reduce
from itertools import pairwise
from operator import or_
from pathlib import Path
from string import punctuation
from typing import TYPE_CHECKING, ClassVar, Self
from unicodedata import category

import numpy as np

from softbleu.config.declare import setting
from softbleu.config.languages import UNSPACED
from softbleu.embeddings.choice import DEFAULT_VECTORS, VectorChoice
from softbleu.embeddings.function_words import is_negation
from softbleu.embeddings.learning import lengths_apart
from softbleu.embeddings.maps import TERMS, VectorMap, map_names
from softbleu.errors import InputError, Parameter
from softbleu.io.arguments import Limit
from softbleu.io.files import Content, required_resource, resource_names
from softbleu.io.reading import parse_score, read_json
from softbleu.language import DEFAULT_LANGUAGE, Finding
from softbleu.language.values import WordList, split_words
from softbleu.matching.ngrams import Chunk, WordTable
from softbleu.metrics.aggregation import best_rows
from softbleu.metrics.base import Metric, WholeMetric
from softbleu.metrics.bertscore import PARTS, agreement, match_lines
from softbleu.metrics.meteor import equal_lines
from softbleu.metrics.protocols import ReadsData
from softbleu.metrics.reading import read_metric
from softbleu.metrics.requirements import Requirements, needed
from softbleu.metrics.score import Score, ScoreColumns, column
from softbleu.metrics.settings import DEFAULT_ENCODER, tokenizer_setting
from softbleu.text.coded import Tokens
from softbleu.text.tokens import Tokenizer, Whitespace, make_tokenizer

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.types import Array, Fields, Flags, Floats, Integers

DEFAULT_HEAD = "minilm-l6"
_FOLDER, _FILE, _FORMAT = "heads", "head.json", 2
_EARLIER = 1  # Had no severity
FEATURES = {
    "precision": "1 - mean similarity of a candidate's word or piece with the most similar one of the reference",
    "recall": "the same of the reference's words or pieces",
    "precision_squared": "mean square of what these similarities lack, of the candidate's",
    "recall_squared": "mean square of what these similarities lack, of the reference's",
    "worst_candidate": "what the worst match of the candidate lacks",
    "worst_reference": "what the worst match of the reference lacks",
    "mean_vector": "1 - cosine of the mean vectors",
    "start": "1 - cosine of the pieces before the first word, in context",
    "unpaired_candidate": "share of the candidate's words or pieces whose best match has a better one",
    "unpaired_reference": "share of the reference's words or pieces whose best match has a better one",
    "breaks": "how often neighbours among the paired are none in the reference, per word or piece",
    "order": "how far the paired are from the reference's order, 1 where it is reversed",
    "shorter": "logarithm of how many times as long the reference is",
    "longer": "logarithm of how many times as long the candidate is",
    "negations": "1 where one side has more negations",
    "numbers": "share of the numbers of both sides that the other lacks",
    "capitals_missed": "capitalised words of the reference that the candidate lacks, per word of the reference",
    "capitals_added": "capitalised words of the candidate that the reference lacks, per word of the reference",
    "unknown": "words of the candidate that neither English nor the reference has, per word of the reference",
}
"""Distances between a candidate and its reference, 0 where they are equal: name and meaning."""
STRINGS = {
    "longer": "logarithm of how many times as long the candidate is, in characters, beyond 1.5 times the reference",
    "joined": "logarithm of how many times as long its words are, beyond twice the length of the reference's",
    "invisible": "characters without a width that the reference lacks, per character, beyond 0.01, joiners 0.05",
    "repeated": "share of the candidate's words that repeat, more often than in the reference, beyond 0.3",
    "order": "how far shared words are from the reference's order, times their share, beyond 0.6",
    "case": "share of the reference's words that the candidate has with other capitals alone",
}
"""Distances of strings that a head over a map has prices for, beside `TERMS` and metrics: name and meaning.

A character of a script without blanks is a word by itself. All are 0 of most honest outputs.
"""
POWERS = (0.5, 1.0, 2.0)
"""A distance d costs a * d**0.5 + b * d + c * d**2 points, none of its three prices negative."""
SEVERITIES = (0.75, 4 / 3)
"""The least and the greatest severity: how many times as much distances cost, by the content of the candidate."""


@dataclass(frozen=True)
class TrainedHead(Content):
    """Points that each distance costs, and the vectors and tokens that the distances are of."""

    vectors: str = ""
    layers: str | None = None
    tokenize: str = "none"
    lowercase: bool = False
    metrics: tuple[str, ...] = ()  # Metrics whose scores are distances, too: what they lack of 100, in hundredths
    prices: tuple[tuple[float, ...], ...] = ()  # Of each of `names` those of the powers
    severity: tuple[float, ...] = ()  # A constant, and a weight of each component of the candidate's mean vector
    map: str = ""  # Name of the map under which tokens are matched, if any
    length_power: float = 0.0  # Over a map, all costs are times the reference's length to this power

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the distances: `FEATURES`, or `TERMS` and `STRINGS` over a map; then the metrics."""
        return (*_distances_of(self.map), *self.metrics)

    def lost(self, distances: Floats, directions: Floats) -> Floats:
        """Points that distances cost, of the same shape (pairs, distances).

        `directions` are mean vectors of the candidates, of length 1: (pairs, dimensions).

        >>> head = TrainedHead("", "", prices=((2.0, 0.0, 1.0),), severity=(1.0, 0.25))
        >>> head.lost(np.array([[4.0], [4.0], [0.0]]), np.array([[0.0], [1.0], [1.0]])).tolist()
        [[20.0], [25.0], [0.0]]
        """
        parts = np.array(self.prices).T
        losses: Floats = sum(part * distances**power for part, power in zip(parts, POWERS, strict=True))
        return losses * self.severities(directions)[:, None]

    def severities(self, directions: Floats) -> Floats:
        """Compute the factor of the costs of distances: (pairs,)."""
        if not self.severity:
            return np.ones(len(directions))
        constant, *weights = self.severity
        if len(weights) != directions.shape[1]:
            raise InputError(
                f"head {self.location}: for vectors of {len(weights)} dimensions, not {directions.shape[1]}: "
                "name those that it was trained with"
            )
        factors: Floats = np.clip(constant + directions @ np.array(weights), *SEVERITIES)
        return factors

    @classmethod
    def of(cls, location: str) -> TrainedHead:
        """Read a head: one in the box by its name, else a file as `heads/recipe/train.py` writes it.

        Raises `InputError`: the file is missing, or its content is no head.
        """
        names = resource_names(_FOLDER, _FILE)
        if location in names:
            return bundled_head(location)
        if not Path(location).exists():
            raise InputError(f"head {location!r}: no such file, and no head in the box: {', '.join(names)}")
        return cls.of_file(Path(location), location)

    @classmethod
    def of_file(cls, path: Path, location: str) -> Self:
        """Read the file of a head, whose `location` names it in errors."""
        content = read_json(path)
        try:
            if content["format"] not in (_EARLIER, _FORMAT):
                raise ValueError(f"format {content['format']!r}, not {_FORMAT}")
            metrics = tuple(map(str, content["metrics"]))
            priced: Fields = content["prices"]
            over, power = str(content.get("map", "")), parse_score(content.get("length_power", 0))
            if not 0 <= power <= 1 or (over and over not in map_names()):
                raise ValueError(f"length_power is from 0 to 1, and a map one of {', '.join(map_names())}")
            names = (*_distances_of(over), *metrics)
            wrong = [name for name in priced if name not in names]
            none = [0.0] * len(POWERS)
            prices = tuple(tuple(map(parse_score, priced.get(name, none))) for name in names)
            if wrong or not all(len(one) == len(POWERS) and 0 <= min(one) <= max(one) <= 1e6 for one in prices):
                raise ValueError(
                    f"no such distance: {wrong[0]!r}" if wrong else "a distance has 3 prices, 0 to 1,000,000"
                )
            severity = tuple(map(parse_score, content.get("severity", ())))
            if severity if over else power:
                raise ValueError("length_power goes with a map, severity with none")
            texts = content["vectors"], content["tokenize"]
            layers, lowercase = content["layers"], content["lowercase"]
            if not all(isinstance(text, str) for text in (*texts, layers or "")) or not isinstance(lowercase, bool):
                raise ValueError("vectors, tokenize and layers are texts, lowercase is true or false")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{location}: no head of a trained metric ({type(error).__name__}: {error}): make one by "
                "heads/recipe/train.py"
            ) from error
        fingerprint = Content.of(str(path)).fingerprint
        return cls(
            location, fingerprint, texts[0], layers, texts[1], lowercase, metrics, prices, severity, over, power
        )


@cache
def bundled_map(name: str) -> VectorMap:
    """Read a map in the box, once."""
    return VectorMap.of(name)


def _distances_of(over: str) -> tuple[str, ...]:
    """Names of the distances of a head, of one over a map if that is named."""
    return (*TERMS, *STRINGS) if over else tuple(FEATURES)


@cache
def _heads_over_maps() -> frozenset[str]:
    """Names of heads in the box that are over a map."""
    return frozenset(name for name in resource_names(_FOLDER, _FILE) if bundled_head(name).map)


@cache
def bundled_head(name: str) -> TrainedHead:
    """Read a head in the box, once."""
    return TrainedHead.of_file(required_resource(_FOLDER, name, _FILE), name)


POINT_PARTS = 10**6  # Segments have whole numbers of such parts of a point, which add up to the same digits anywhere
_LIMIT = Limit("trained", "pairs of words or pieces", 1 << 28, "a document of 3,000 words: 16,000,000")
"""Limit for a candidate and a reference (2 GB)."""
_TIE = 1e-7  # Of equal similarities that of the nearer place is taken
_WORD_COLUMNS = ("negations", "numbers", "capitals", "unknown")
_ALIGNED = 12  # Of `FEATURES` those of aligned words or pieces, which come first


@dataclass(frozen=True)
class PairWords:
    """Features of words: `pair_negations`, `pair_numbers`, `pair_capitals`, `pair_unknown`: number of a form or 0."""

    def of(self, words: Sequence[str]) -> Mapping[str, Array]:
        """Compute the features of these words."""
        forms: dict[str, int] = {}
        known = _word_list()
        rows = []
        for word in words:
            bare = word.strip(punctuation).replace("’", "'")
            lower, number = bare.lower(), forms.setdefault(bare.replace(",", ""), len(forms) + 1)
            # What has a capital is a name, and most words are known as they are.
            unknown = bare == lower and bare not in known.words and any(known.misspelt(["", *split_words(bare)])[1:])
            numeral = number * any(map(str.isdecimal, bare))
            # Negations count by presence, the others by form.
            negated = is_negation(lower)
            rows.append((negated, numeral, number * bare[:1].isupper(), number * unknown))
        columns = np.array(rows, np.int64).reshape(-1, len(_WORD_COLUMNS)).T
        return dict(zip((f"pair_{name}" for name in _WORD_COLUMNS), columns, strict=True))


@dataclass(frozen=True)
class _StringWords:
    """Features of words: `string_size` and other numbers of characters.

    `string_small` is the number of the word without capitals, from 1.
    """

    def of(self, words: Sequence[str]) -> Mapping[str, Array]:
        """Compute the features of these words."""
        odd = [(0, 0, 0) if word.isascii() else _odd_characters(word) for word in words]
        unspaced, invisible, marks = np.array(odd, np.int64).reshape(-1, 3).T
        sizes = np.fromiter(map(len, words), np.int64, len(words)) - invisible - marks
        small: dict[str, int] = {}
        numbers = [small.setdefault(word.lower(), len(small) + 1) for word in words]
        columns = dict(zip(_STRING_COLUMNS, (sizes, unspaced, invisible, marks), strict=True))
        return columns | {"string_small": np.array(numbers, np.int64)}


_STRING_COLUMNS = ("string_size", "string_unspaced", "string_invisible", "string_marks")
_UNSPACED = re.compile(f"[{UNSPACED}]")


_MARK = re.compile(r"[\u00ad\u061c\u200c-\u200f\u202a-\u202e\u2066-\u2069]")
"""Soft hyphens, joiners and marks of direction: honest text has some."""
_BETWEEN_WORDS = re.compile(r"(?<=[\u0e00-\u109f\u1780-\u17ff])\u200b")  # As Thai, Khmer and others may have it


def _odd_characters(word: str) -> tuple[int, int, int]:
    marks, invisible = len(_MARK.findall(word)), sum(category(character) == "Cf" for character in word)
    return len(_UNSPACED.findall(word)), invisible - marks - len(_BETWEEN_WORDS.findall(word)), marks


@cache
def _word_list() -> WordList:
    """English words."""
    return WordList.read(required_resource("language", DEFAULT_LANGUAGE, "words.txt.gz"))


@dataclass(frozen=True)
class TrainedScore(Score):
    """The score, and the points that each distance cost."""

    lost: list[float] = column("", "points lost", each="distance")


@dataclass(frozen=True, repr=False)
class Trained(WholeMetric):
    """Distances between candidate and reference, each at a price learned from human judgements (`heads/recipe/`).

    A segment has 100 points minus the costs of its distances (`softbleu.metrics.trained`: `FEATURES`, `POWERS`), at
    least 0. Every distance is 0 where the texts are equal and no price is negative: 100 is the reference itself, and
    of two references a candidate has no higher score with the one that is farther in all respects. With the head
    `static` all distances cost up to a third more or a quarter less by the candidate's mean vector (`SEVERITIES`);
    over an encoder, as with the default head, they do not. 0 is the median of unrelated pairs. A corpus has the mean
    of its segments; of several references each segment takes the best. A side without any text has 0.

    A head over a map, such as `multilingual-e5-small`, prices what precision, recall, F and lengths of tokens lack
    under the map, what the scores of its metrics lack, and strings that few honest outputs have (`STRINGS`). Long
    references make all costs greater, since judges count errors. Vectors of the name of such a head take it by
    themselves, as vectors of a `language` other than English do.

    With a `map` and no head, each token is matched greedily with the most similar one under the map, as in BERTScore,
    and weighs as the map says. What precision, recall and F of these lack costs points, and so do lengths that differ
    (logarithms of ratios of tokens), at the prices of the map, which also names vectors, layers and tokens, unless
    others are given. The scale is that of BERTScore: unrelated pairs have more than 0.

    Parameters
    ----------
    head
        `minilm-l6` (pieces in context by the bundled encoder), `multilingual-e5-small` (over its map), `static`
        (vectors of words), or a file. Its tokens, vectors and map are taken unless others are given.

    Examples
    --------
    >>> Trained().score(np.array([140_000_000, 2, 40_000_000, 20_000_000])).score
    70.0
    """

    head: TrainedHead | None = setting(
        None,
        "Head of the trained metric: a name, or a file as heads/recipe/train.py writes it",
        read=TrainedHead.read,
        hashed=True,
        metavar="NAME|FILE",
        unset=DEFAULT_HEAD,
    )
    tokenizer: Tokenizer = tokenizer_setting(Whitespace())
    vector_choice: VectorChoice = setting(VectorChoice(DEFAULT_ENCODER), kw_only=True)
    learned: VectorMap | None = field(default=None, repr=False)  # The map of the vectors, for workers
    name: ClassVar[str] = "trained"
    label: ClassVar[str] = "trained"

    def complete(self) -> None:
        """Take tokens and vectors of the head or of the map, unless others are given.

        Without either, vectors with the name of a head over a map take it.
        """
        head, learned, vectors = self.head, self.vector_choice.map, self.vector_choice.vectors
        if head is None and learned is None and isinstance(vectors, str) and vectors in _heads_over_maps():
            head = bundled_head(vectors)
            object.__setattr__(self, "head", head)
        if head is not None and head.map and learned is None:
            learned = bundled_map(head.map)
            object.__setattr__(self, "vector_choice", replace(self.vector_choice, map=learned))
        asked = replace(self.vector_choice, precision="float32")
        if learned is not None and (head is None or head.map):
            if asked == VectorChoice(DEFAULT_ENCODER, map=learned):
                object.__setattr__(self, "vector_choice", replace(self.vector_choice, vectors=learned.vectors))
            if self.tokenizer == Whitespace() and learned.facts["tokenize"] != "none":
                lowercase = learned.facts.get("lowercase") is True
                object.__setattr__(self, "tokenizer", make_tokenizer(learned.facts["tokenize"], lowercase=lowercase))
        if head is not None and self.tokenizer == Whitespace():
            object.__setattr__(self, "tokenizer", make_tokenizer(head.tokenize, lowercase=head.lowercase))
        if head is not None and asked == VectorChoice(DEFAULT_ENCODER):
            found = replace(self.vector_choice, vectors=head.vectors, layers=head.layers)
            object.__setattr__(self, "vector_choice", found)

    def resolved(self) -> Self:
        """Return the metric with the bundled head by default, or with the map of its vectors.

        Severities of a head count over the bundled vectors of words alone, if it was trained with them; over an
        encoder and over other vectors they are left out.
        """
        if self._over_map:
            return replace(self, learned=self.vector_choice.map)
        head, vectors = self.used, self.vector_choice.vectors
        if self.vector_choice.in_context and any(metric.requires.idf is not None for metric in self._metrics):
            said = f"head {head.location or DEFAULT_HEAD} is of vectors of words, not of an encoder: leave out "
            raise InputError(said, Parameter("vectors"), " and ", Parameter("map"))
        return replace(self, head=head if vectors == head.vectors == DEFAULT_VECTORS else replace(head, severity=()))

    @property  # type: ignore[misc]
    def language(self) -> str | None:
        """Language of the head that is taken by default; None for others, and for maps."""
        return "en" if self.head is None and self.vector_choice.map is None else None

    @property
    def _over_map(self) -> bool:
        """Whether tokens are matched under a map, by its own prices or by the prices of a head over it."""
        return self.vector_choice.map is not None and (self.head is None or bool(self.head.map))

    @property
    def used(self) -> TrainedHead:
        """The head, that in the box where none is named."""
        return self.head or bundled_head(DEFAULT_HEAD)

    @property
    def requires(self) -> Requirements:
        """Vectors of pieces or words, features of words, and the needs of the head's metrics."""
        needed = Requirements(vectors=True, pieces=self.vector_choice.in_context, weights=self._over_map)
        if self._over_map and self.head is None:
            return needed
        needed = replace(needed, parts=(_StringWords() if self._over_map else PairWords(),))
        return reduce(or_, (metric.requires for metric in self._metrics), needed)

    @property
    def _metrics(self) -> tuple[Metric, ...]:
        """Metrics of the head, over its tokens."""
        return tuple(_column_metric(metric, self.tokenizer) for metric in self.used.metrics)

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Points, 1, and points that each distance cost, in millionths: (segments, 2 + distances)."""
        words = needed(words, self.name, "words")
        single = chunk.by_reference()
        _LIMIT.check_pairs(candidate=single.candidates.lengths, reference=single.references.lengths)
        if self.learned is None:
            distances, directions, known = self.measure(single, words, kernels)
            losses = self.used.lost(distances, directions)
        else:
            found = (_matched_pieces if words.vectors.in_context else _matched_words)(single, words)
            own, known = self.head is None, found[:, 2] < 1
            losses = self.learned.losses(found) if own else self._lost_over_map(found, single, words, kernels)
        rows = _as_rows(losses, known)
        return rows[best_rows(chunk.segment_offsets, rows[:, 0])]

    def _lost_over_map(self, found: Floats, single: Chunk, words: WordTable, kernels: Kernels) -> Floats:
        """Points that the distances of a head over a map cost, `found` under the map: (pairs, distances)."""
        distances, sizes = _strings(single, words)
        columns = np.column_stack((found, distances, *self._by_metrics(single, words, kernels)))
        factors = ((sizes + _SHORT) / _USUAL) ** self.used.length_power
        return self.used.lost(columns, np.zeros((len(single), 0))) * factors[:, None]

    def _by_metrics(self, single: Chunk, words: WordTable, kernels: Kernels) -> Iterator[Floats]:
        """Distances by the metrics of the head: (pairs,) each."""
        for metric in self._metrics:
            scores = metric.columns(metric.statistics(single, words, kernels)).score / 100
            yield np.clip(1 - scores if metric.higher_is_better else scores, 0, None)

    def measure(self, single: Chunk, words: WordTable, kernels: Kernels) -> tuple[Floats, Floats, Flags]:
        """Measure pairs of a candidate and one reference, and see whether both sides have any text.

        `single` has one reference for each candidate; `words` and `kernels` are as in `Metric.statistics`.
        Distances, (pairs, distances), are 0 of equal lines. Their prices depend on directions, mean vectors of the
        candidates of length 1: (pairs, dimensions).
        """
        distances = np.zeros((len(single), len(self.used.names)))
        known = (single.candidates.lengths > 0) & (single.references.lengths > 0)
        directions = []
        pairs = (_pieces if words.vectors.in_context else _words)(single, words)
        for line, (similarities, mean, other, start) in enumerate(pairs):
            if similarities.size:
                distances[line, :_ALIGNED] = _align(similarities, mean, other, start)
            known[line] &= similarities.size > 0
            directions.append(mean / (math.sqrt(mean @ mean) or 1.0))
        distances[:, _ALIGNED : len(FEATURES)] = _surface(single, words)
        for place, lacks in enumerate(self._by_metrics(single, words, kernels), start=len(FEATURES)):
            distances[:, place] = lacks
        equal = equal_lines(single.candidates, single.references)
        distances[equal | ~known] = 0
        size = len(directions[0]) if directions else 0
        known |= equal & (single.candidates.lengths > 0)
        return distances, np.array(directions).reshape(len(single), size), known

    def columns(self, rows: Integers | Floats) -> ScoreColumns[TrainedScore]:
        """Score rows of statistics, or sums of rows."""
        points, segments, *lost = np.asarray(rows, np.float64).T
        counts = POINT_PARTS * np.maximum(segments, 1)
        return ScoreColumns(TrainedScore, points / counts, lost=np.column_stack(lost) / counts[:, None])

    @property
    def cause_names(self) -> tuple[str, ...]:
        """Names of the distances; under a map the first are of tokens."""
        if not self._over_map:
            return self.used.names
        names = TERMS if self.head is None else self.used.names
        return (*(f"{name} of tokens" for name in TERMS), *names[len(TERMS) :])

    def causes(self, row: Integers) -> tuple[Finding, ...]:
        """Distances that cost points, the most expensive first."""
        lost = zip(self.cause_names, self.columns(row[None])[0].lost, strict=True)
        ranked = sorted(((points, name) for name, points in lost if points > 0), reverse=True)
        return tuple(Finding("lost", name, points) for points, name in ranked)


def _as_rows(losses: Floats, known: Flags) -> Integers:
    """Make rows of statistics, in millionths: points, 1, points lost; pairs that are not `known` have 0 points."""
    lost = np.rint(POINT_PARTS * losses).astype(np.int64)
    points = np.where(known, np.maximum(100 * POINT_PARTS - lost.sum(axis=1), 0), 0)
    return np.column_stack((points, np.ones_like(points), lost))


def _matched_pieces(single: Chunk, words: WordTable) -> Floats:
    """Match the pieces of each pair, weighed by a map; see `VectorMap.losses` for the columns: (pairs, 4)."""
    vectors = words.vectors
    one, other = (vectors.weigh(vectors.pieces(text)) for text in (single.candidates, single.references))
    lines = np.arange(len(single))
    lacks = 1 - match_lines(one, other, lines, lines)[:, :3] / PARTS
    lengths = (np.diff(np.concatenate(([0], np.cumsum(side.inner)))[side.offsets]) for side in (one, other))
    return np.column_stack((lacks, lengths_apart(*lengths)))


def _matched_words(single: Chunk, words: WordTable) -> Floats:
    """Match the words of each pair, as in `_matched_pieces`."""
    weights = words.feature("map_weights")
    found = []
    texts = (pairwise(text.offsets.tolist()) for text in (single.candidates, single.references))
    for (similarities, *_), ours, others in zip(_words(single, words), *texts, strict=True):
        sums = [0.0] * 4
        if similarities.size:
            one = weights[single.candidates.codes[slice(*ours)]]
            other = weights[single.references.codes[slice(*others)]]
            met, missed = similarities.max(axis=1), similarities.max(axis=0)
            sums = [float(met @ one), float(one.sum()), float(missed @ other), float(other.sum())]
        found.append(agreement(sums))
    lengths = lengths_apart(single.candidates.lengths, single.references.lengths)
    return np.column_stack((1 - np.array(found).reshape(-1, 3), lengths))


_LONG, _JOINED, _UNSEEN, _MARKED, _REPEATED, _DISORDER = math.log(1.5), math.log(2), 0.01, 0.05, 0.3, 0.6
"""Differences without a price, in the order of `STRINGS`; 0.05 is for soft hyphens and the like."""
_SHORT, _USUAL = 5, 100
"""Characters that each reference has in addition, and those of a reference at which costs are as priced."""


def _strings(single: Chunk, words: WordTable) -> tuple[Floats, Floats]:
    """Compute the distances `STRINGS` of each pair, (pairs, distances), and lengths of references in characters."""
    (size, number, unseen, marks), (other, others, shown, expected) = (
        _string_sums(text, words) for text in (single.candidates, single.references)
    )
    longer = np.log(np.maximum(size, 1) / np.maximum(other, 1))
    joined = longer - np.log(np.maximum(number, 1) / np.maximum(others, 1))
    pairs = zip(single.candidates.by_line(), single.references.by_line(), strict=True)
    repeated, disorder = np.array([(_repeated(*pair), _disorder(*pair)) for pair in pairs]).reshape(-1, 2).T
    small = words.feature("string_small")
    missed, missed_small = (
        _beyond(single.candidates, single.references, forms)[0] for forms in (np.arange(1, len(small) + 1), small)
    )
    columns = (
        longer - _LONG,
        joined - _JOINED,
        (np.maximum(unseen - shown - _UNSEEN * size, 0) + np.maximum(marks - expected - _MARKED * size, 0))
        / np.maximum(size, 1),
        repeated - _REPEATED,
        (disorder - _DISORDER) / (1 - _DISORDER),
        (missed - missed_small) / np.maximum(single.references.lengths, 1),
    )
    return np.maximum(np.column_stack(columns), 0), other


def _string_sums(text: Tokens, words: WordTable) -> tuple[Floats, Floats, Floats, Floats]:
    """Count characters, words, characters without a width, and soft hyphens and the like in each line."""
    sums = (np.concatenate(([0], np.cumsum(words.feature(name)[text.codes]))) for name in _STRING_COLUMNS)
    size, unspaced, invisible, marks = (np.diff(each[text.offsets]).astype(np.float64) for each in sums)
    return size, text.lengths + unspaced, invisible, marks


def _repeated(candidate: Sequence[int], reference: Sequence[int]) -> float:
    """Compute the share of the candidate's words that repeat, more often than in the reference; 0 up to 0.3.

    >>> _repeated([1, 2, 1, 2, 1, 2], [1, 2]), _repeated([1, 2, 3, 3], [3, 3])
    (0.6666666666666666, 0.0)
    """
    if len(candidate) - len(set(candidate)) <= _REPEATED * len(candidate):
        return 0.0  # As in most lines, which this spares the count: no share beyond the one without a price
    there = Counter(reference)
    more = sum(max(0, count - max(1, there[code])) for code, count in Counter(candidate).items())
    return more / max(len(candidate), 1)


def _disorder(candidate: Sequence[int], reference: Sequence[int]) -> float:
    """Measure how far the words that two lines share are from the reference's order, times their share.

    >>> _disorder([3, 2, 1], [1, 2, 3]), _disorder([1, 2, 3, 4], [1, 2, 3])
    (0.8888888888888888, 0.0)
    """
    places: dict[int, list[int]] = {}
    for place in range(len(reference) - 1, -1, -1):
        places.setdefault(reference[place], []).append(place)
    paired = [places[code].pop() for code in candidate if places.get(code)]
    if paired == sorted(paired):
        return 0.0
    return _displaced(np.array(paired)) * len(paired) / max(len(candidate), len(reference))


def _displaced(paired: Integers) -> float:
    """Average by how many places paired words are away from the reference's order; 1 is the reverse."""
    count = len(paired)
    return 2 * float(np.abs(paired.argsort() - np.arange(count)).sum()) / count**2 if count > 1 else 0.0


@lru_cache(64)
def _column_metric(expression: str, tokenizer: Tokenizer) -> Metric:
    metric = replace(read_metric(expression), tokenizer=tokenizer)
    return metric.resolved() if isinstance(metric, ReadsData) else metric


def _pieces(single: Chunk, words: WordTable) -> Iterator[tuple[Floats, Floats, Floats, float]]:
    """Similarities of the pieces of each pair, the mean vectors, and the cosine of the pieces at the start."""
    candidates, references = (words.vectors.pieces(text) for text in (single.candidates, single.references))
    lines = zip(pairwise(candidates.offsets.tolist()), pairwise(references.offsets.tolist()), strict=True)
    for (start, end), (first, last) in lines:
        one, other = candidates.rows[start:end], references.rows[first:last]
        start_cosine = float(one[0] @ other[0]) if len(one) and len(other) else 1.0
        one, other = one[candidates.inner[start:end]], other[references.inner[first:last]]
        yield one @ other.T, one.sum(axis=0), other.sum(axis=0), start_cosine


def _words(single: Chunk, words: WordTable) -> Iterator[tuple[Floats, Floats, Floats, float]]:
    """Similarities of the words of each pair, 1 of equal ones, and the mean vectors."""
    vectors, places = words.vectors.unit(single, by_frequency=False)
    rows, codes = vectors.rows[places], single.positions.codes
    split = len(single.candidates.codes)
    bounds = pairwise(single.candidates.offsets.tolist()), pairwise((single.references.offsets + split).tolist())
    for (start, end), (first, last) in zip(*bounds, strict=True):
        one, other = rows[start:end], rows[first:last]
        similarities = one @ other.T
        similarities[codes[start:end, None] == codes[first:last]] = 1
        yield similarities, one.sum(axis=0), other.sum(axis=0), 1.0


def _align(similarities: Floats, mean: Floats, other: Floats, start: float) -> list[float]:
    """Compute the distances of aligned words or pieces of a pair."""
    size, others = similarities.shape
    places, other_places = np.arange(size), np.arange(others)
    ranked = similarities - _TIE * np.abs(places[:, None] / size - other_places / others)
    best, back = ranked.argmax(axis=1), ranked.argmax(axis=0)
    lacks = np.maximum(1 - similarities[places, best], 0)
    missing = np.maximum(1 - similarities[back, other_places], 0)
    length = math.sqrt((mean @ mean) * (other @ other))
    paired = best[back[best] == places]
    count = len(paired)
    steps = paired[1:] - paired[:-1]
    return [
        lacks.sum() / size,
        missing.sum() / others,
        lacks @ lacks / size,
        missing @ missing / others,
        lacks.max(),
        missing.max(),
        max(0.0, 1 - float(mean @ other) / length) if length else 1.0,
        max(0.0, 1 - start),
        1 - count / size,
        1 - count / others,
        np.count_nonzero(steps != 1) / size,
        _displaced(paired),
    ]


def _surface(single: Chunk, words: WordTable) -> Floats:
    """Compute the distances of lengths, negations, numbers, capitals and unknown words: (pairs, distances)."""
    candidates, references = single.candidates, single.references
    ratio = np.log((references.lengths + 1) / (candidates.lengths + 1))
    length = np.maximum(references.lengths, 1)
    (few, more, _), (missed, added, numbers), (lost, gained, _), (_, unknown, _) = (
        _beyond(candidates, references, words.feature(f"pair_{name}")) for name in _WORD_COLUMNS
    )
    return np.column_stack(
        (
            np.maximum(ratio, 0),
            np.maximum(-ratio, 0),
            (few + more) > 0,
            (missed + added) / np.maximum(numbers, 1),
            lost / length,
            gained / length,
            unknown / length,
        )
    )


def _beyond(candidates: Tokens, references: Tokens, forms: Integers) -> tuple[Floats, Floats, Floats]:
    """Count the forms of each line that the candidate lacks, has beyond the reference, and shares: three columns."""
    lines, most = len(candidates.lengths), int(forms.max(initial=0)) + 1
    keys, signs = [], []
    for text, sign in ((references, 1), (candidates, -1)):
        there = forms[text.codes]
        key = np.repeat(np.arange(lines), text.lengths) * most + there
        keys.append(key[there > 0])
        signs.append(np.full(len(keys[-1]), sign))
    distinct, places = np.unique(np.concatenate(keys), return_inverse=True)
    counted = np.bincount(places, np.concatenate(signs), len(distinct))
    owner = distinct // most
    missed, added = (np.bincount(owner, np.maximum(signed, 0.0), lines) for signed in (counted, -counted))
    total = np.bincount(np.concatenate(keys) // most, minlength=lines)
    return missed.astype(np.float64), added.astype(np.float64), total.astype(np.float64)
