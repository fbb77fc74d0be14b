"""Base of metrics: statistics of segments, which add up, and a score of their sum; metrics made from text."""

from __future__ import annotations

import math
import re
import shlex
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from inspect import Parameter as Argument
from inspect import Signature
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypedDict, TypeVar, Unpack, overload

import numpy as np

from softbleu.config.declare import (
    Declared,
    Registry,
    Setting,
    all_settings,
    check_given,
    format_expression,
    is_whole,
    own_settings,
    parse_expression,
    parse_signature,
    setting,
    signature_of,
    split_name,
)
from softbleu.config.interface import interface
from softbleu.config.languages import Language, find_language, language_of_data
from softbleu.embeddings.choice import NO_VECTORS, VectorChoice
from softbleu.encoders import is_encoder
from softbleu.errors import InputError, Parameter, SoftbleuError, UnknownNameError, keys_named
from softbleu.io.files import Content
from softbleu.io.platform import cached_property
from softbleu.matching.matchers import MATCHERS, Matcher
from softbleu.matching.ngrams import Chunk
from softbleu.matching.partial import begun
from softbleu.metrics.result import Score, SumOfRows, failure_of, is_ours, scored
from softbleu.text.coded import texts_of
from softbleu.text.tokens import TOKENIZERS, TextTokenizer, Tokenizer, Whitespace

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from softbleu.corpora.corpus import References, Texts
    from softbleu.corpora.edits import GoldSegment
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import WordTable
    from softbleu.metrics.keywords import MatcherFields, PartFields
    from softbleu.metrics.result import Aggregation, Result, Results
    from softbleu.text.coded import Tokens
    from softbleu.text.parts import WordFeature
    from softbleu.types import Floats, Integers, Progress

    GivenMatcher = Matcher | str
else:
    # Settings of parts may be given, too; only type checkers need fields for them.
    GivenMatcher, PartFields, MatcherFields = Matcher, Declared, object

DEFAULT_ENCODER = "minilm-l6"  # Bundled encoder for vectors in context
Level = Literal["corpus", "segment", "macro", "reference", "document"]
MAX_ORDER = 16
UNCORRECTED = "in corrections, the source left as it is"
IN_CONTEXT, WITHOUT_VECTORS = "in context", "without vectors"
"""Presets that are taken by themselves where vectors are those of tokens in context, and where there are none."""
_NOT_SETTINGS = (
    "version",
    "level",
    "nrefs",
    "blank",
    "against",
    "resegment",
    "documents",
    "corpus",
    "edits",
    "absent",
)
"""What a signature says of a run, not of the metric."""
_Given = TypeVar("_Given")
_MOST = float(1 << 63)  # Of numbers in rows, which add up
_PARTS = 10**8  # Of a point: scores are added up as whole numbers, so that no order of adding changes a digit


@dataclass(frozen=True)
class Requirements:
    """Inputs that a metric must have."""

    references: bool = True
    source: bool = False  # The text that was to be corrected
    gold: bool = False  # The edits of a gold file, not only the references that they make
    edits: bool = False  # Edits of candidates and references: those that are given, or else found in the texts
    language: str | None = None  # Code of that by whose rules edits are found; None: English
    vectors: bool = False  # Of words, whose similarity is looked at
    pieces: bool = False  # Vectors of the pieces that an encoder cuts lines into, in context
    frequency: bool = False  # How frequent words are among the references' tokens
    idf: object = None  # What says how rare words (or pieces) are: `references`, or another text
    parts: tuple[str | WordFeature, ...] = ()  # Names of `softbleu.text.parts.WORD_PARTS`, and what else is known
    context: int = 0  # Lines before each line, in its document

    @property
    def table(self) -> bool:
        """Whether anything is to be known of single words."""
        return self.vectors or self.idf is not None or bool(self.parts)

    @property
    def by_annotator(self) -> bool:
        """Whether each annotator's edits are looked at, in the place of a reference's text."""
        return self.gold or self.edits

    def __or__(self, other: Requirements) -> Requirements:
        """Inputs that two metrics need together, field by field."""
        pairs = {part.name: (getattr(self, part.name), getattr(other, part.name)) for part in fields(self)}
        return Requirements(**{name: _together(*pair) for name, pair in pairs.items()})


_LACKING: Mapping[str, tuple[str | Parameter, ...]] = {
    "gold": ("gold edits, a .m2 file: give ", Parameter("gold", python="gold=read_m2(…)")),
    "references": ("references: name them with ", Parameter("references", python="references=[…]")),
    "source": (
        "the source text: name it with ",
        Parameter("source", python="source=[…]"),
        ", or a file of edits with ",
        Parameter("gold"),
        " (in files of pairs: a 'source' column or key)",
    ),
    "edits": ("the source, and gold edits or references",),
    "words": ("a table of words, with the vectors and features that it looks at",),
}


def lacking(metric: str, what: str) -> InputError:
    """Make the error of a metric that lacks what it needs: `gold`, `references`, `source`, `edits` or `words`."""
    return InputError(f"metric {metric!r} needs ", *_LACKING[what])


def needed(given: _Given | None, metric: str, what: str) -> _Given:
    """What a metric is given and needs; where there is none the error is that of `lacking`."""
    if given is None:
        raise lacking(metric, what)
    return given


def _together(one: Any, other: Any) -> Any:
    if isinstance(one, tuple):
        return tuple(dict.fromkeys((*one, *other)))
    if isinstance(one, int):
        return max(one, other)
    # Of texts for idf the references are counted beforehand; others are read when they are looked at. A run finds
    # edits by the rules of one language.
    return other if not one or other == "references" else one


def order_setting(default: int) -> Any:
    """Declare the greatest n."""
    return setting(default, "Greatest n-gram order", least=1, most=MAX_ORDER, flags=("-n",), common=True)


def tokenizer_setting(tokenizer: Tokenizer) -> Any:
    """Declare the tokenizer that a metric has unless another is given; settings name it in `tokenize`."""
    more: dict[str, Any] = {"earlier": ("tok",), "always_signed": True, "common": True, "kw_only": True}
    return setting(tokenizer, "How lines are split into tokens (see `softbleu tokenizers`)", name="tokenize", **more)


def edit_language() -> Any:
    """Declare the language of a metric of edits."""
    return setting(None, "Language by whose rules edits are found", unset="English", signed_if_set=True)


class IdfCorpus(Content):
    """A text whose lines, a segment each, say how rare words are."""


def read_idf(text: str) -> IdfCorpus | Literal["references"]:
    """Read where rarity comes from: `references`, or a file, which is hashed."""
    return "references" if text == "references" else IdfCorpus.of(text)


def idf_setting(weighed: str) -> Any:
    """Declare what says how rare `words`, or `pieces`, are: nothing unless given, the references, or a text."""
    return setting(
        None,
        f"Weigh {weighed} by inverse document frequency in the lines of a text, or in the `references`",
        metavar="FILE",
        unset=f"{weighed} have equal weight",
        read=lambda text: None if text == "none" else read_idf(text),
        hashed=True,
    )


def rarity_of(documents: Integers, total: int) -> Floats:
    """Compute the rarity of words, log((N + 2) / (d + 1)): d `documents`, (words,), of a `total` of N have the word.

    >>> rarity_of(np.array([0, 9]), 9).round(3).tolist()
    [2.398, 0.095]
    """
    # Above 0 even for a word that all have: a corpus of one segment has no other words.
    rarity: Floats = math.log(total + 2) - np.log(documents + 1)
    return rarity


class SettingsSignature(Signature):
    """Settings of a metric as `help` shows them."""

    def format(self, **_: Any) -> str:
        """Write one setting per line, by group."""
        groups = {"matcher": "matching", "tokenize": "text", "preset": "papers"}
        kinds: dict[str, list[type[Declared]]]
        kinds = {"matching": MATCHERS.classes(), "text": TOKENIZERS.classes(), "vectors": [VectorChoice]}
        for title, owners in kinds.items():
            groups |= {setting.name: title for owner in owners for setting in all_settings(owner, shared=True)}
        text, last = "(\n    *,", ""
        for name, argument in self.parameters.items():
            group = groups.get(name, "the metric's own")
            text += "" if group == last else f"\n    # {group}"
            text, last = f"{text}\n    {name}: {argument.annotation} = {argument.default!r},", group
        return f"{text}\n)"

    __str__ = format


class MetricClass(ABCMeta):
    """Lets a metric be made from the settings of all its parts: `Vleu(threshold=0.8, tokenize="none")`."""

    def __call__(cls, *values: object, **settings: Any) -> Any:
        """Make a value; see `Metric`."""
        known = {setting.field: setting for setting in own_settings(cls)}
        # A language chooses the tokenizer where none is given, also if it is a setting of the metric itself.
        spoken = "language" in settings and "tokenizer" not in settings
        # Fields that are no settings, such as what it is called in tables.
        plain = [one.name for one in fields(cls) if one.init and not one.repr]  # type: ignore[arg-type]
        others = {name: settings.pop(name) for name in plain if name in settings}
        if not spoken and all(name in known and is_whole(known[name], value) for name, value in settings.items()):
            return super().__call__(*values, **settings, **others)
        return with_settings(cls(*values, **others), settings)

    @property
    def __signature__(cls) -> Signature:
        """All settings by name, with their defaults, for `help` and completion."""
        value: Metric = cls()
        arguments = {one.name: (default, one.hint) for one, default in value.settings() if one.name != "quantile"}
        if {*value.presets} - {IN_CONTEXT, WITHOUT_VECTORS}:
            arguments["preset"] = None, "str | None"
        arguments.setdefault("language", (None, "str | None"))
        described = ((name, {"default": default, "annotation": hint}) for name, (default, hint) in arguments.items())
        return SettingsSignature([Argument(name, Argument.KEYWORD_ONLY, **more) for name, more in described])


class _Run(TypedDict, total=False):
    """What `Metric.corpus_score` may be given by name."""

    gold: Sequence[GoldSegment] | None
    level: Level
    jobs: int
    executor: Executor | None
    progress: Progress | bool | None


@dataclass(frozen=True, kw_only=True, repr=False)
class Metric(PartFields, metaclass=MetricClass):
    """A metric: two pure functions, and everything else that its number depends on, tokens and vectors.

    Metrics are frozen dataclasses: their fields are their identity and their settings. Settings of parts (matcher,
    tokenizer, vectors) are given by name, as the metric's own. `str` of a metric is the expression that makes it.
    What else a metric may offer stands in `softbleu.metrics.protocols`.

    Raises
    ------
    InputError, UnknownNameError
        A setting that there is not, or a value that it cannot have.
    """

    tokenizer: Tokenizer = tokenizer_setting(Whitespace())
    vector_choice: VectorChoice = setting(VectorChoice())
    partial: bool = setting(
        False,
        "Score unfinished outputs: references count as far as candidates have come",
        signed_if_set=True,
        shared=False,
    )
    called: str = field(default="", repr=False)  # In tables, instead of its usual name; no score depends on it

    kind: ClassVar[str] = "metric"
    higher_is_better: ClassVar[bool] = True
    also_rewards: ClassVar[str] = ""
    """Outputs that score beside or above honest systems, or in many sentences above the source (CoNLL-2014, GMEG)."""
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}
    """Settings of papers, by name; `IN_CONTEXT` and `WITHOUT_VECTORS` have what is taken by itself, unless given."""

    @property
    def in_percent(self) -> bool:
        """Whether scores are known to be on a scale to 100: those of this package are, and no one else's."""
        return is_ours(self)

    def __str__(self) -> str:
        written = {}
        head = self._head
        shared = [setting.default for setting in own_settings(type(self)) if setting.shared]
        usual = {setting.name: value for part in shared for setting, value in part.settings()}
        # What the kind of vectors chooses is written: who reads it would take that, not the default.
        taken = _taken(self, self.vector_choice.in_context, self.vector_choice.without_vectors)
        for declared, value in self.settings("" if self.requires.vectors else "vector_choice"):
            default = usual.get(declared.name, declared.default)
            if declared.part is not None:
                default = value if declared.name == "matcher" and head != self.name else declared.default.name
            if value != default or declared.name in taken:
                written[declared.name] = _written(value)
        return format_expression(head, written)

    def __repr__(self) -> str:
        return str(self)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Settings of parts are read as the metric's own."""
            for declared, value in () if name.startswith("_") else self.settings():
                if declared.name == name:
                    return value
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what is kept for sentences."""
        return {name: value for name, value in vars(self).items() if name != "_sentences"}

    @overload
    def corpus_score(  # type: ignore[overload-overlap]  # a mapping of texts is no text
        self,
        candidates: Mapping[str, Iterable[str | GoldSegment]],
        references: References | None = ...,
        source: Iterable[str] | None = ...,
        **run: Unpack[_Run],
    ) -> Results: ...

    @overload
    def corpus_score(
        self,
        candidates: Iterable[str | GoldSegment],
        references: References | None = ...,
        source: Iterable[str] | None = ...,
        **run: Unpack[_Run],
    ) -> Result: ...

    def corpus_score(
        self, candidates: Texts, references: References | None = None, source: Iterable[str] | None = None, **run: Any
    ) -> Result | Results:
        """Score candidates against references; the parameters are those of `softbleu.score`.

        Those are candidates, references and source, and by name, in `run`, the level, the number of jobs and so on.

        Examples
        --------
        >>> from softbleu.metrics import Chrf
        >>> round(float(Chrf().corpus_score(["the cat"], ["the cats"])), 1)
        77.6
        """
        scored: Result | Results = interface().score(candidates, references, source, metric=self, **run)
        return scored

    def sentence_score(
        self,
        candidate: str,
        references: str | Sequence[str] | None = None,
        source: str | None = None,
        *,
        gold: GoldSegment | None = None,
    ) -> Score:
        """Score one segment, as a corpus of it alone is scored at segment level; vectors stay open between calls.

        `candidate` and `source` are texts, `references` is one text or several; `gold` has the source and edits.
        Raises `InputError` where the metric needs what is missing.

        Examples
        --------
        >>> from softbleu.metrics import Bleu
        >>> round(float(Bleu(order=2).sentence_score("a dog barks", ["the dog barks"])), 2)
        57.74
        """
        score: Score = self._sentences.score(candidate, references, source, gold)
        return score

    @cached_property
    def _sentences(self) -> Any:
        return interface().SentenceScorer(self)

    def signature(self, *, short: bool = False, vectors: str | None = None, **more: object) -> str:
        """Write everything that a number depends on, the short or the long way, and `more` keys with their values.

        `vectors` names the set and its content, where one is looked at.
        """
        metric, without = self, "vector_choice"
        if vectors is not None:
            metric, without = replace(self, vector_choice=replace(self.vector_choice, vectors=vectors)), ""
        return signature_of(metric, short=short, without=without, more=more)

    @property
    def _head(self) -> str:
        """First word of its expression."""
        return self.name

    @property
    def label(self) -> str:
        """Usual name of the score."""
        return self.name.upper()

    @property
    def data_language(self) -> str | None:
        """Language of the data and vectors that it stands on; None where there are none, or they do not say.

        Examples
        --------
        >>> import softbleu
        >>> [m.data_language for m in (softbleu.Bleu(), softbleu.Meteor(stages="exact"), softbleu.Vleu())]
        [None, 'en', 'en']
        """
        of_vectors = self.vector_choice.language if self.requires.vectors else None
        # Some metrics stand on data or rules of one language, beside vectors.
        return getattr(self, "language", None) if of_vectors is None else of_vectors

    @property
    def requires(self) -> Requirements:
        """Inputs that it must have."""
        return Requirements()

    def at_level(self, level: Level) -> Self:
        """The metric as it scores at a level, where that makes a difference."""
        return self

    def resolved(self) -> Self:
        """The metric with all data named that it reads, also those that stand for settings that are not given."""
        return self

    @abstractmethod
    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Count what each segment scores (or reference, where the aggregation is over these): (segments, k).

        `chunk` has the coded tokens of candidates and references, maybe source and edits. `words` is the table of its
        words, with the vectors and features that `requires` names; None if it names none. `kernels` is the backend of
        the hot loops; digits do not depend on it. Numbers add up: the score of a corpus is made of the sum of its
        rows, unless the aggregation is another one.
        """

    def pair_statistics(
        self, candidates: Tokens, references: Tokens, words: WordTable | None, kernels: Kernels
    ) -> Integers:
        """Compute the statistics of every candidate with every reference, as segments: (candidates, references, k).

        Both may be the same object, if the lines are the same. `words` and `kernels` are those of `statistics`. A
        metric that is faster than one candidate after the other has a way of its own.
        """
        bounds = np.arange(len(references.lengths) + 1)
        again = np.zeros(len(bounds) - 1, np.int64)
        chunks = (
            Chunk(candidates.chosen(again + line), references, bounds) for line in range(len(candidates.lengths))
        )
        return np.stack([checked_rows(self, chunk, words, kernels) for chunk in chunks])

    @abstractmethod
    def score(self, row: Integers) -> Score:
        """Score the statistics of one segment, or the sum of the statistics of many."""

    def score_rows(self, rows: Integers | Floats) -> Sequence[Score]:
        """Score each row, or sum of rows, as `score` does."""
        return [scored(self, row) for row in rows]

    def scores(self, rows: Integers | Floats) -> Floats:
        """Scores of many rows, or sums of rows, at once, as numbers."""
        return np.array([score.score for score in self.score_rows(rows)], np.float64)

    @property
    def aggregation(self) -> Aggregation:
        """How rows reduce to scores of segments and of a corpus: by their sum, unless the metric has another way."""
        return SumOfRows(self)


@dataclass(frozen=True, kw_only=True, repr=False)
class MatcherMetric(Metric, MatcherFields):
    """A metric over a matcher, in its field `matcher`: settings of the matcher are given as the metric's own."""

    @property
    def matching(self) -> Matcher:
        """Matcher, which says what counts as a match."""
        matcher: Matcher = self.matcher  # type: ignore[attr-defined]  # subclasses have it
        return matcher

    @property
    def requires(self) -> Requirements:
        """Inputs that the matcher looks at."""
        order: int = self.order  # type: ignore[attr-defined]  # subclasses have it
        needs = self.matching.needs_vectors(order), self.matching.needs_frequencies(order)
        return Requirements(vectors=needs[0], frequency=needs[1])


class EditMetric(Metric):
    """A metric of edits, which are given, or else found in the texts by the rules of its `language`."""

    language: str | None
    by_bounds: ClassVar[bool] = True  # Whether an edit counts for less if another one makes the same text

    def check(self) -> None:
        """Take the code of the language; English is what is taken without one."""
        code = None if self.language is None else find_language(self.language).code
        object.__setattr__(self, "language", None if code == "en" else code)

    @property
    def requires(self) -> Requirements:
        """The source, and edits."""
        return Requirements(references=False, source=True, edits=True, language=self.language)


@dataclass(frozen=True, repr=False)
class StringMetric(Metric):
    """A metric of the strings of a segment; a subclass says by `evaluate` how they compare.

    Lines come as they stand in the text, in lower case where that is set; ``self.tokenizer.split`` splits them.

    Examples
    --------
    >>> @dataclass(frozen=True, repr=False)
    ... class Exact(StringMetric):
    ...     def evaluate(self, candidate, references, source):
    ...         return 100.0 if candidate in references else 0.0
    >>> Exact().corpus_score(["a cat", "a dog"], ["a cat", "the dog"]).score
    50.0
    """

    @abstractmethod
    def evaluate(self, candidate: str, references: Sequence[str], source: str | None) -> float | Sequence[int]:
        """Compare a candidate with its references, and with the source where `requires` asks for it.

        Returns
        -------
        float or sequence of int
            A score between 0 and 100, of which a corpus has the mean; or counts, of which a corpus has the sums. Of
            counts the score is 100 times the first over the second, unless the metric has its own `score`.
        """

    def complete(self) -> None:
        """Take a tokenizer that keeps the text of lines."""
        object.__setattr__(self, "tokenizer", TextTokenizer(self.tokenizer.plain))

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Counts of each segment, a score being counts, too: (segments, k)."""
        candidates, references = texts_of(chunk.candidates), texts_of(chunk.references)
        sources: Sequence[str | None] = [None] * len(chunk) if chunk.source is None else texts_of(chunk.source)
        bounds = pairwise(chunk.segment_offsets.tolist())
        return np.array(
            [
                self._counts(self.evaluate(candidate, references[start:stop], source))
                for candidate, (start, stop), source in zip(candidates, bounds, sources, strict=True)
            ]
        )

    def _counts(self, value: Any) -> Any:
        if isinstance(value, tuple | list | np.ndarray):
            return value
        if not isinstance(value, float | int | np.number):
            raise TypeError(f"evaluate must return a score or counts, not {value!r}")
        if not 0 <= value <= 100:
            raise ValueError(f"{value} is no score between 0 and 100")
        return round(value * _PARTS), 100 * _PARTS

    def score(self, row: Integers) -> Score:
        """Score a row of counts, or a sum of rows: 100 times the first over the second."""
        return Score(100 * int(row[0]) / max(int(row[1]), 1))


_BETWEEN = re.compile(r"[,;|&](?![^(]*\))|(?<=\w)\+(?=\w)")
_SCORES = Parameter("scores", "FILE", python="softbleu.Scores")
_ELSEWHERE = {  # By names that others have, spelt in small letters and with hyphens
    r"sp-?bleu": ("it is bleu with the tokenizer flores200: bleu(tokenize=flores200)",),
    r"(sacre|corpus)-?bleu": ("it is bleu, whose defaults are those of sacrebleu",),
    r"(sent(ence)?|segment)-?(bleu|chrf.*|gleu)": ("take the metric, and the level segment",),
    r"bleu-?[1-9]": ("bleu has orders 1 to 4, and others by a setting, such as bleu(order=2)",),
    r"chrf-?[1-9]?(\+\+|pp)": ("it is chrf++",),
    r"chrf-?[1-9]": ("it is chrf, or with another weight of recall chrf(beta=3)",),
    r"bert-?score.*|bert": ("it is bertscore, whose setting vectors names the model",),
    r".*(comet|kiwi|metric-?x|bleurt|gemba|bart-?score|prism|yisi|unite|mover-?score|gpt|llm|mqm).*"
    r"|da|esa|sentinel.*|matese.*|impara|scribendi|some|gec-?score"
    r"|rouge.*|[wc]er|nist|ribes|sari|cider|spice|eed|character": (
        "it is not computed here: bring its scores by ",
        _SCORES,
        " (docs/guide/scores.md)",
    ),
}
METRICS = Registry("metric", "softbleu.metrics", Metric, _ELSEWHERE)


def make_metric(
    metric: str | Metric = "bleu", *, unused: list[str] | None = None, plain: bool = False, **changed: Any
) -> Metric:
    """Make a metric from a name (of a matcher: BLEU over it), an expression or a value, and settings of any part.

    Settings in `changed` go before those of the expression.

    `unused` and `plain` are those of `softbleu.metrics.base.with_settings`.

    >>> metric = make_metric("vleu", threshold=0.8)
    >>> metric.matcher.threshold, str(metric)
    (0.8, 'vleu(threshold=0.8)')
    >>> read_metric("bleu(matcher=vleu, threshold=0.8)") == metric
    True
    """
    if isinstance(metric, str):
        name, settings = read_settings(metric)
        metric, changed = METRICS.find(name)(), {**settings, **changed}
    if not isinstance(metric, Metric):
        raise InputError(f"a metric is a name, an expression or a value, not {type(metric).__name__}")
    return with_settings(metric, changed, unused, plain=plain)


def read_metric(text: str, **settings: Any) -> Metric:
    """Read the text of an expression, such as ``vleu(threshold=0.8)``; `settings` go before those in it.

    Raises
    ------
    InputError, UnknownNameError
        The expression cannot be read, or names no metric or setting.

    Examples
    --------
    >>> read_metric("vleu(threshold=0.8)", order=2)
    vleu(threshold=0.8, order=2)
    """
    return make_metric(text, **settings)


def _check_single(expression: str) -> None:
    """Check that what cannot be read is not several metrics with something between them: `bleu,chrf`."""
    parts = [part.strip() for part in _BETWEEN.split(expression)]
    heads = [part.partition("(")[0] for part in parts]
    if len(parts) > 1 and any(METRICS.has(head) or MATCHERS.has(head) for head in heads if head):
        parts = [*filter(None, parts)]
        several = Parameter("metrics", " ".join(map(shlex.quote, parts)), python=f"metrics={parts}")
        raise InputError(f"{expression!r}: separate metrics by spaces, as in ", several)


def read_settings(text: str) -> tuple[str, dict[str, Any]]:
    """Read the name of the metric and the settings of an expression, and what it is `called`: `NAME=METRIC`.

    >>> read_settings("soft=xleu(threshold=0.5, lowercase=yes)")
    ('bleu', {'called': 'soft', 'matcher': 'xleu', 'threshold': 0.5, 'lowercase': True})
    """
    called, expression = split_name(text)
    try:
        head, texts = parse_expression(expression)
    except InputError:
        _check_single(expression)
        raise
    if head.lower() in MATCHERS.built_in or (not METRICS.has(head) and MATCHERS.has(head)):
        head, texts = "bleu", {"matcher": head.lower(), **texts}
    elif not METRICS.has(head):
        _check_single(expression)
        raise METRICS.unknown(head, MATCHERS.names())
    known = {setting.name: setting for setting in settings_of({"metric": head, **texts})}
    settings: dict[str, Any] = {} if called is None else {"called": called}
    for name, value in texts.items():
        if name not in known and name not in ("preset", "language"):
            valid = [*known, "preset", "language"]
            raise UnknownNameError("setting", name, valid)
        settings[name] = value
        if name in known:
            with keys_named(lambda error: f"expression {text!r}"):
                settings[name] = known[name].parse(value)
                check_given(known[name], settings[name])
    return head.lower(), settings


def settings_of(named: Mapping[str, Any]) -> list[Setting]:
    """All settings of the metric that is named there, over the matcher and tokenizer that are named there."""
    return list(all_settings(METRICS.find(named.get("metric", "bleu")), named, shared=True))


def with_settings(
    metric: Metric, settings: Mapping[str, Any], unused: list[str] | None = None, *, plain: bool = False
) -> Metric:
    """Change settings of a metric, of whatever part; those that are given go before those of a `preset`.

    A `language` chooses tokenizer and similarity. Names of settings that the metric does not have are added to
    `unused`, or refused without it. `plain` leaves out what the metric takes for vectors in context.
    """
    settings = dict(settings)
    if "called" in settings:
        metric = replace(metric, called=settings.pop("called"))
    preset = settings.pop("preset", None)
    if preset is not None and preset not in preset_names():
        raise UnknownNameError("preset", preset, preset_names())
    if preset is not None and preset not in metric.presets and unused is not None:
        unused.append("preset")
    tag = settings.pop("language", None)
    language = None if tag is None else find_language(tag)
    parts = {"matcher": getattr(metric, "matcher", None), "tokenize": metric.tokenizer, **settings}
    spoken = {} if language is None else _language_settings(metric, settings, parts, language, plain=plain)
    known = [setting.name for setting in all_settings(type(metric), parts, shared=True)]
    for name in settings:
        if name in known:
            continue
        every = every_setting()
        if name not in every:
            soft = {**parts, "matcher": "vleu"} if "matcher" in known else parts
            valid = [setting.name for setting in all_settings(type(metric), soft, shared=True)]
            raise UnknownNameError("setting", name, valid if unused is None else sorted(every))
        # What does nothing here must be right all the same.
        check_given(every[name], settings[name])
        if unused is None:
            raise InputError(f"{_named(metric, parts)} has no setting {name!r}; it has: {', '.join(known)}")
        unused.append(name)
    # A preset says nothing about what a metric or matcher does not have.
    encoder = is_encoder(settings.get("vectors"))
    similarity = {**spoken, **settings}.get("similarity")
    compared = similarity not in (None, "none") or str(settings.get("vectors")) == NO_VECTORS
    usual = {} if plain else _taken(metric, encoder, compared)
    chosen = dict(metric.presets.get(preset or "", {}))
    if encoder or "threshold" not in known:
        chosen.pop("vector_case", None)
    made = metric.revised({**usual, **chosen, **spoken, **settings})
    if language is not None:
        _check_language(made, language)
    return made


def _taken(metric: Metric, in_context: bool, without_vectors: bool) -> Mapping[str, object]:
    """Settings that the kind of vectors chooses."""
    return metric.presets.get(IN_CONTEXT if in_context else WITHOUT_VECTORS if without_vectors else "", {})


def _language_settings(
    metric: Metric, settings: Mapping[str, Any], parts: Mapping[str, Any], language: Language, *, plain: bool
) -> dict[str, Any]:
    """Settings that a language implies, where there are such: itself, and unless `plain` tokens and similarity."""
    names = [setting.name for setting in all_settings(type(metric), parts, shared=True)]
    spoken: dict[str, Any] = {"language": language.code} if "language" in names else {}
    if plain:
        return spoken
    requires = metric.revised({**spoken, **settings}).requires
    counted = requires.edits or not (requires.gold or requires.pieces or "char_order" in names)
    if language.tokenize and counted and metric.tokenizer == type(metric)().tokenizer:
        spoken["tokenize"] = language.tokenize
    named = settings.get("vectors", NO_VECTORS) != NO_VECTORS or metric.vector_choice != VectorChoice()
    if language.code != "en" and requires.vectors and not named:
        spoken["similarity"] = language.similarity
    return {name: value for name, value in spoken.items() if name not in settings}


def _check_language(metric: Metric, language: Language) -> None:
    """See that what a metric stands on is of a language."""
    code, function_words = metric.data_language, metric.vector_choice.measure.function_words
    if code is None and metric.requires.vectors and function_words == "exact" and language.code != "en":
        code = "en"
    if code is not None and language_of_data(code).code != language.code:
        of_vectors = metric.requires.vectors and metric.vector_choice.language == code
        data = f"vectors ({metric.vector_choice.vectors})" if of_vectors else "data"
        said = f"{metric.label}: its {data} are {language_of_data(code).name}, and the text is {language.name}: "
        pieces = metric.requires.pieces or metric.vector_choice.in_context
        there = "name an encoder of this language" if pieces else "name vectors of this language, or none"
        raise InputError(said, there if of_vectors else "take a metric for any language, such as softbleu or chrf")


def preset_names() -> list[str]:
    """Names of the settings of papers, those of other packages' metrics too."""
    named = (name for owner in METRICS.classes() for name in owner.presets)  # type: ignore[attr-defined]
    return [name for name in named if name not in (IN_CONTEXT, WITHOUT_VECTORS)]


def every_setting() -> dict[str, Setting]:
    """The settings of all metrics and matchers that there are, of tokenizers and of vectors, by name.

    Of several with one name the bounds and choices are what any of them allows.
    """
    return _widened((*MATCHERS.classes(), *TOKENIZERS.classes(), *METRICS.classes()))


@cache
def _widened(owners: tuple[type[Declared], ...]) -> dict[str, Setting]:
    """Settings of classes, kept: points of a sweep ask for them thousands of times."""
    widened: dict[str, Setting] = {}
    for owner in owners:
        for declared in all_settings(owner, shared=True):
            widened[declared.name] = declared.widened(widened.get(declared.name, declared))
    return widened


def _written(value: Any) -> Any:
    """Write a value for an expression: a file by its path, what is in memory by its name or its kind."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Path):
        return str(value)
    return getattr(value, "location", None) or getattr(value, "name", None) or type(value).__name__


def _named(metric: Metric, settings: Mapping[str, Any]) -> str:
    matcher = settings.get("matcher")
    matcher = matcher.name if isinstance(matcher, Declared) else matcher
    return f"{metric.name} over {matcher!r}" if matcher else metric.name


def read_signature(signature: str) -> dict[str, str]:
    """Read a signature that is to be run again as `parse_signature`; of one of sacrebleu an error says the metric."""
    if (same := _of_sacrebleu(signature)) is not None:
        raise InputError(f"that is a signature of sacrebleu, which does not say enough; its metric is '{same}' here")
    return parse_signature(signature)


def metric_from_signature(signature: str, **settings: Any) -> Metric:
    """Make the metric of a published signature, with other settings where they are given.

    Raises `InputError`: also for a signature of sacrebleu, which says less than is needed, with the metric.

    >>> str(metric_from_signature("metric:bleu|matcher:vleu|threshold:0.8|tok:13a|level:corpus"))
    'vleu(threshold=0.8)'
    """
    pairs = {
        key: value
        for key, value in read_signature(signature).items()
        if key not in _NOT_SETTINGS and not key.startswith("test-")
    }
    metric: type[Metric] = METRICS.find(pairs.pop("metric", "bleu"))
    names = {key: one.name for one in own_settings(metric) for key in (one.key, *one.earlier)}
    parts = {names[key]: value for key, value in pairs.items() if key in names}
    by_key = {key: one for one in all_settings(metric, parts, shared=True) for key in (one.key, *one.earlier)}
    # Short signatures of earlier versions left these out where they had the defaults of then.
    earlier = {"tokenize": "none", "threshold": 0.0, "penalty": "exact"}
    signed: dict[str, Any] = {name: value for name, value in earlier.items() if name in by_key}
    for key, value in pairs.items():
        if key not in by_key:
            raise UnknownNameError("signature key", key, sorted(by_key))
        declared = by_key[key]
        if declared.name not in settings:
            signed[declared.name] = declared.parse_signed(value)
    return make_metric(metric.name, plain=True, **{**signed, **settings})


def _of_sacrebleu(signature: str) -> str | None:
    """Write the metric of a signature of sacrebleu as an expression; None of another signature.

    >>> _of_sacrebleu("nrefs:1|case:lc|eff:no|tok:13a|smooth:floor[0.50]|version:2.6.0")
    'bleu(tokenize=13a, smooth=floor, smooth_value=0.50, lowercase=yes)'
    >>> _of_sacrebleu("nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.6.0")
    'chrf(char_order=6, word_order=2)'
    """
    pairs = dict(part.partition(":")[::2] for part in signature.strip().split("|"))
    if pairs.get("case") not in ("mixed", "lc") or "metric" in pairs:
        return None
    lower = {"lowercase": "yes"} if pairs["case"] == "lc" else {}
    if "nc" in pairs:
        orders = {"char_order": pairs["nc"], "word_order": pairs.get("nw", "0")}
        said = _said(pairs, {("space", "yes"): "whitespace", ("eff", "no"): "eps_smoothing"})
        return format_expression("chrf", orders | said | lower)
    if "punct" in pairs:
        named = {("norm", "yes"): "normalized", ("punct", "no"): "no_punct", ("asian", "yes"): "asian_support"}
        return format_expression("ter", _said(pairs, named) | (lower or {"lowercase": "no"}))
    way, value = re.findall(r"^(.*?)(?:\[(.*)\])?$", pairs.get("smooth", "exp"))[0]
    split = {"tokenize": pairs.get("tok", "13a"), "smooth": way, **({"smooth_value": value} if value else {})}
    return format_expression("bleu", split | _said(pairs, {("eff", "yes"): "effective_order"}) | lower)


def _said(pairs: Mapping[str, str], settings: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """Settings that are chosen by entries of a signature."""
    return {setting: "yes" for entry, setting in settings.items() if entry in pairs.items()}


def compared(metric: Metric, chunk: Chunk) -> Chunk:
    """Return the chunk that `metric` compares: with `partial` references end where candidates have come to."""
    return begun(chunk, metric.tokenizer) if metric.partial else chunk


def checked_rows(
    metric: Any,
    chunk: Chunk,
    words: WordTable | None,
    kernels: Kernels,
    *,
    matched: Integers | None = None,
    first: int | None = None,
) -> Integers:
    """Compute the rows of a chunk, and see that there is one for each segment or reference, of numbers that add up.

    Parameters
    ----------
    metric
        Gives the rows; asked again for single segments where those of all are wrong.
    chunk, words, kernels
        What `Metric.statistics` is given.
    matched
        The matches of the chunk, where these are known.
    first
        Segments of the corpus before the chunk; None where segments have no numbers.

    Raises
    ------
    InputError
        The rows are others, or a metric of another package fails: the message says where.
    """

    def compute(some: Chunk) -> Integers:
        known = some is chunk and matched is not None
        some = some if known else compared(metric, some)
        rows: Integers = metric.statistics_of(some, matched) if known else metric.statistics(some, words, kernels)
        return rows

    rows, wrong, cause = _tried(metric, chunk, compute)
    if not wrong:
        return rows
    where = ""
    if first is not None:
        where = f" in segments {first + 1} to {first + len(chunk)}"
        for place in range(len(chunk)):
            _, alone, error = _tried(metric, chunk.part(place, place + 1), compute)
            if alone:
                where, wrong, cause = f" in segment {first + 1 + place}", alone, error
                break
    raise failure_of(metric, wrong, where) from cause


def _tried(
    metric: Metric, chunk: Chunk, compute: Callable[[Chunk], Integers]
) -> tuple[Integers, str, Exception | None]:
    """Rows of a chunk, what is wrong with them, and what made them fail."""
    try:
        rows = compute(chunk)
    except (SoftbleuError, MemoryError):
        raise
    except Exception as error:
        if is_ours(metric):
            raise
        return np.zeros((0, 0), np.int64), f"{type(error).__name__}: {error}", error
    return rows, _wrong(rows, chunk), None


def _wrong(rows: Any, chunk: Chunk) -> str:
    """Say what is wrong with rows; nothing if they are as they must be."""
    if not isinstance(rows, np.ndarray) or rows.ndim != 2:
        shape = f"an array of shape {rows.shape}" if isinstance(rows, np.ndarray) else type(rows).__name__
        return f"statistics must be an array (segments, numbers), not {shape}"
    if len(rows) not in (len(chunk), int(chunk.segment_offsets[-1])):
        return f"{len(rows):,} rows of statistics for {len(chunk):,} segments"
    kind = rows.dtype.kind
    if kind in "iub" or (kind == "f" and np.abs(rows).max(initial=0) < _MOST):
        return ""
    value = next(value for value in rows.ravel().tolist() if not _is_number(value))
    return f"statistics must be numbers that add up, not {value!r}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < _MOST
