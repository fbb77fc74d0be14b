"""Metrics: rows of statistics of segments, which add up, and the scores of rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal, Self, TypedDict, Unpack, cast, overload

import numpy as np

from softbleu import results
from softbleu.config.declare import Registry, setting
from softbleu.config.earlier import moved_methods, moved_names
from softbleu.config.languages import find_language
from softbleu.errors import Parameter
from softbleu.io.platform import cached_property
from softbleu.matching.matchers import Matcher
from softbleu.metrics.aggregation import Aggregation, SumOfRows
from softbleu.metrics.chinese import Merging, merging_of
from softbleu.metrics.declared import DeclaredMetric
from softbleu.metrics.guards import checked, is_ours, scored_by_row
from softbleu.metrics.requirements import Requirements
from softbleu.metrics.score import Score, ScoreColumns
from softbleu.text.coded import texts_of
from softbleu.text.tokens import TextTokenizer

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from softbleu.corpora.corpus import References, Texts
    from softbleu.corpora.edits import GoldSegment
    from softbleu.corpora.gates import GivenGate
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk, WordTable
    from softbleu.metrics.keywords import MatcherFields
    from softbleu.metrics.result import Result, Results
    from softbleu.types import Floats, Integers, Progress

    GivenMatcher = Matcher | str
else:
    # Settings of parts may be given, too; only type checkers need fields for them.
    GivenMatcher, MatcherFields = Matcher, object

Level = Literal["corpus", "segment", "macro", "reference", "document"]
_PARTS = 10**8  # Of a point: scores are added up as whole numbers, so that no order of adding changes a digit


class _Run(TypedDict, total=False):
    """Parameters of `Metric.corpus_score` by name."""

    gold: Sequence[GoldSegment] | None
    gate: GivenGate | None
    level: Level
    jobs: int
    executor: Executor | None
    progress: Progress | bool | None


@dataclass(frozen=True, kw_only=True, repr=False)
class Metric(DeclaredMetric):
    """A metric: rows of statistics of segments (`statistics`), and the scores of rows and of their sums (`columns`).

    Metrics are frozen dataclasses, whose fields are their settings. Settings of parts (matcher, tokenizer, vectors)
    are given by name, as the metric's own. `softbleu.metrics.protocols` has what else a metric may offer.
    """

    higher_is_better: ClassVar[bool] = True
    needs_errors: ClassVar[bool] = False  # Whether a score says nothing of sentences without errors, as F of edits

    def __init_subclass__(cls, **more: object) -> None:
        """Accept a method `score` of single rows in the place of `columns`, and name other packages in errors."""
        super().__init_subclass__(**more)
        own = () if is_ours(cls) else {"score", "columns"} & vars(cls).keys()
        for name in own:
            setattr(cls, name, checked(vars(cls)[name]))
        if own == {"score"}:
            cls.columns = scored_by_row(cls.score)  # type: ignore[method-assign]
        elif own == {"columns"}:
            cls.score = Metric.score  # type: ignore[method-assign]

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
        self,
        candidates: Texts,
        references: References | None = None,
        source: Iterable[str] | None = None,
        **run: Unpack[_Run],
    ) -> Result | Results:
        """Score candidates against references.

        `softbleu.score` explains candidates, references and source, and the level, number of jobs and so on in `run`.

        Examples
        --------
        >>> from softbleu.metrics import Chrf
        >>> round(float(Chrf().corpus_score(["the cat"], ["the cats"])), 1)
        77.6
        """
        return results.score(candidates, references, source, metrics=self, **run)

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
        return self._scorer.score(candidate, references, source, gold)

    if not TYPE_CHECKING:
        __getattr__ = moved_methods("0.9", {"stream": "softbleu.ScoredStream"})

    @cached_property
    def _scorer(self) -> results.SegmentScorer:
        return results.SegmentScorer(self)

    @cached_property
    def _unfinished(self) -> Self:
        """The metric of outputs that are being written."""
        return self if self.partial else self.replaced(partial=True)

    @cached_property
    def whole(self) -> Self:
        """The metric of whole outputs."""
        words = {} if self.aligned_parts is None else {"partial_by": "tokens"}
        return self.replaced(partial=False, **words) if self.partial else self

    @property
    def aligned_parts(self) -> str | None:
        """Parts of words that are aligned for unfinished outputs, of those that `requires` names; None: words."""
        return None

    @abstractmethod
    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Count the numbers of each segment (or of each reference, if the aggregation needs these): (segments, k).

        `chunk` has the coded tokens of candidates and references, maybe source and edits. `words` is the table of its
        words, with the vectors and features that `requires` names; None if it names none. `kernels` is the backend of
        the hot loops; digits do not depend on it. Numbers add up: the score of a corpus is made of the sum of its
        rows, unless the aggregation is another one.
        """

    @abstractmethod
    def columns(self, rows: Integers | Floats) -> ScoreColumns[Score]:
        """Score rows of statistics, or sums of rows, (rows, k), as columns by the names of the numbers of a score."""

    def score(self, row: Integers | Floats | Sequence[int]) -> Score:
        """Score the statistics of one segment, or the sum of the statistics of many, with the digits of `columns`."""
        return self.columns(np.asarray(row)[None])[0]

    @property
    def aggregation(self) -> Aggregation:
        """Way in which rows reduce to scores of segments and of a corpus: their sum, unless overridden."""
        return SumOfRows(self)


@dataclass(frozen=True, kw_only=True, repr=False)
class MatcherMetric(Metric, MatcherFields):
    """A metric over a matcher, in its field `matcher`: settings of the matcher are given as the metric's own."""

    if TYPE_CHECKING:
        matcher: GivenMatcher  # Fields of all subclasses
        order: int

    @property
    def matching(self) -> Matcher:
        """Matcher, which decides which words or n-grams match."""
        return cast("Matcher", self.matcher)

    @cached_property
    def requires(self) -> Requirements:
        """Inputs that the matcher looks at."""
        needs = self.matching.needs_vectors(self.order), self.matching.needs_frequencies(self.order)
        return Requirements(vectors=needs[0], frequency=needs[1])


@dataclass(frozen=True, kw_only=True, repr=False)
class SpelledMetric(Metric):
    """A metric that can align unfinished outputs by characters, which makes it `partial`."""

    partial_by: Literal["tokens", "characters"] = setting(
        "tokens",
        "Align unfinished outputs with references by tokens or characters",
        signed_if_set=True,
        shared=False,
    )
    spelled: ClassVar[str] = "characters"  # Parts that are the characters of a word

    def complete(self) -> None:
        """Score unfinished outputs where the alignment of these is chosen."""
        if self.partial_by != "tokens":
            object.__setattr__(self, "partial", True)

    @property
    def aligned_parts(self) -> str | None:
        """The characters of words, where these are aligned."""
        return None if self.partial_by == "tokens" else self.spelled


@dataclass(frozen=True, kw_only=True, repr=False)
class WholeMetric(Metric):
    """A metric of whole outputs, or of no text: it has no setting `partial`."""

    partial: bool = field(default=False, init=False, repr=False)


class EditMetric(WholeMetric):
    """A metric of edits, which are given, or else found in the texts by the rules of its `language`."""

    language: str | None
    merging: Merging | None
    by_bounds: ClassVar[bool] = True  # Whether an edit counts for less if another one makes the same text

    def check(self) -> None:
        """Replace the language by its code, English being the default, and choose how edits are merged."""
        code = None if self.language is None else find_language(self.language).code
        object.__setattr__(self, "language", None if code == "en" else code)
        object.__setattr__(self, "merging", merging_of(self.merging, code or "en"))

    @property
    def requires(self) -> Requirements:
        """The source, and edits."""
        return Requirements(references=False, source=True, edits=True, language=self.language, merging=self.merging)


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

    def _counts(self, value: object) -> object:
        if isinstance(value, tuple | list | np.ndarray):
            return value
        if not isinstance(value, float | int | np.number):
            raise TypeError(f"evaluate must return a score or counts, not {value!r}")
        if not 0 <= value <= 100:
            raise ValueError(f"{value} is no score between 0 and 100")
        return round(value * _PARTS), 100 * _PARTS

    def columns(self, rows: Integers | Floats) -> ScoreColumns[Score]:
        """Score rows of counts, or sums of rows: 100 times the first over the second."""
        # By whole numbers, which are exact beyond 2**53.
        return ScoreColumns(Score, [100 * int(first) / max(int(second), 1) for first, second, *_ in rows.tolist()])


_SCORES = Parameter("scores", "FILE", python="softbleu.Scores")
_ELSEWHERE = {  # By names that others have, spelt in small letters and with hyphens
    r"sp-?bleu": ("it is bleu with the tokenizer flores200: bleu(tokenize=flores200)",),
    r"(sacre|corpus)-?bleu": ("it is bleu, whose defaults are those of sacrebleu",),
    r"(sent(ence)?|segment)-?(bleu|chrf.*|gleu)": ("take the metric, and the level segment",),
    r"bleu-?[1-9]": ("bleu has orders 1 to 4, and others by a setting, such as bleu(order=2)",),
    r"chrf-?[1-9]?(\+\+|pp)": ("it is chrf++",),
    r"(stream|long)-?(yaal|laal|d?al|ap)": ("it is that latency, such as laal, of recordings cut by a segmentation",),
    r"(?:normali[sz]ed-?erasure|ne|flicker)": ("it is erasure",),
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
METRICS = Registry("metric", "softbleu.metrics", Metric, _ELSEWHERE)  # type: ignore[type-abstract]  # none is made of it

_READING, _SETTINGS = "softbleu.metrics.reading", "softbleu.metrics.settings"
__getattr__ = moved_names(
    "0.6",
    __name__,
    {
        "make_metric": f"{_READING}:read_metric",
        "read_metric": _READING,
        "metric_from_signature": "softbleu.metrics.signatures",
        "Requirements": "softbleu.metrics.requirements",
        "order_setting": _SETTINGS,
        "tokenizer_setting": _SETTINGS,
    },
)
