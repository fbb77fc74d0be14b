"""A measure: a metric and everything else that its number depends on, tokens and vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, overload

from softbleu.declare import Declared, Setting, all_settings, check_given, setting
from softbleu.embeddings.choice import VectorChoice
from softbleu.embeddings.encoders import is_encoder
from softbleu.errors import InputError, UnknownNameError
from softbleu.matchers.base import MATCHERS, Matcher, SoftMatcher
from softbleu.metrics.base import METRICS, Level, Metric
from softbleu.metrics.bleu import Bleu
from softbleu.signature import format_expression, parse_expression, parse_signature, signature_of
from softbleu.tokens import Tokenizer

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from softbleu.corpora.m2 import GoldSegment
    from softbleu.corpora.segments import References, Texts
    from softbleu.metrics.base import Score
    from softbleu.scoring.results import Result, Results
    from softbleu.scoring.sentences import SentenceScorer
    from softbleu.types import Progress

_NOT_SETTINGS = ("version", "level", "nrefs")
"""What a signature says of a run, not of the measure."""


@dataclass(frozen=True, repr=False)
class Measure(Declared):
    """A metric with its tokenizer and its vectors; its text is the expression that makes it again.

    Examples
    --------
    >>> measure = Measure.of("vleu", threshold=0.8)
    >>> measure.metric.matcher.threshold, str(measure)
    (0.8, 'vleu(threshold=0.8)')
    >>> read_measure("bleu(matcher=vleu, threshold=0.8)") == measure
    True
    """

    metric: Metric = setting(factory=Bleu)
    tokenizer: Tokenizer = setting(None)
    """That of the metric unless given."""
    vectors: VectorChoice = setting(None)
    """Those of the metric unless given."""
    kind: ClassVar[str] = "measure"

    def __post_init__(self) -> None:
        """Take the metric's tokenizer, as it would have it, and its vectors, unless there are others."""
        given = self.metric.default_tokenizer if self.tokenizer is None else self.tokenizer
        object.__setattr__(self, "tokenizer", self.metric.tokens(given))
        if self.vectors is None:
            object.__setattr__(self, "vectors", VectorChoice(self.metric.default_vectors))
        super().__post_init__()

    @classmethod
    def of(
        cls,
        metric: str | Metric | Measure = "bleu",
        *,
        idle: list[str] | None = None,
        plain: bool = False,
        **given: Any,
    ) -> Measure:
        """Make a measure from a name and settings, of whatever part.

        Parameters
        ----------
        metric
            The name of a metric, of a matcher (which stands for BLEU over it), an expression, or a value.
        idle
            Takes the names of settings that this measure does not have; without it they are refused.
        plain
            Leave out what the metric takes for vectors in context (`Metric.in_context`).
        given
            Settings by name, and `preset`, the settings of a paper, before which go those that are given.

        Raises
        ------
        UnknownNameError, InputError
            Names or values that are not valid.
        """
        start, given = _start(metric, given)
        preset = given.pop("preset", None)
        if preset is not None and preset not in preset_names():
            raise UnknownNameError("preset", preset, preset_names())
        if preset is not None and preset not in start.metric.presets and idle is not None:
            idle.append("preset")
        # A preset says nothing about what a metric or matcher does not have.
        usual = start.metric.in_context if plain is False and is_encoder(given.get("vectors")) else {}
        chosen = {**usual, **start.metric.presets.get(preset or "", {}), **given}
        parts = {"metric": start.metric, "matcher": start.matcher, **given}
        known = [each.name for each in settings_of(parts)]
        for name in given:
            if name in known:
                continue
            every = every_setting()
            if name not in every:
                raise UnknownNameError("setting", name, sorted(every))
            # What does nothing here must be right all the same.
            check_given(every[name], given[name])
            if idle is None:
                raise InputError(f"{_named(parts)} has no setting {name!r}; it has: {', '.join(known[1:])}")
            idle.append(name)
        return start.revised(chosen)

    @classmethod
    def from_signature(cls, signature: str, **given: Any) -> Measure:
        """Make the measure of a published signature, with other settings where they are given.

        Examples
        --------
        >>> str(Measure.from_signature("metric:bleu|matcher:vleu|threshold:0.8|tok:13a|level:corpus"))
        'vleu(threshold=0.8)'

        Raises
        ------
        InputError
            The signature cannot be read, or names what this version does not know.
        """
        pairs = {
            key: value
            for key, value in parse_signature(signature).items()
            if key not in _NOT_SETTINGS and not key.startswith("test-")
        }
        metric = METRICS.find(pairs.pop("metric", "bleu"))
        known = {"metric": metric.name, **({"matcher": pairs["matcher"]} if "matcher" in pairs else {})}
        by_key = {key: each for each in settings_of(known) for key in (each.key, *each.earlier)}
        # Short signatures of earlier versions left these out where they had the defaults of then.
        found: dict[str, Any] = {"tokenize": "none", **({"threshold": 0.0} if "threshold" in by_key else {})}
        for key, value in pairs.items():
            if key not in by_key:
                raise UnknownNameError("signature key", key, sorted(by_key))
            each = by_key[key]
            if each.name not in given:
                found[each.name] = each.parse((value.rpartition("#")[0] or value) if each.hashed else value)
        return cls.of(metric.name, plain=True, **{**found, **given})

    def __str__(self) -> str:
        soft = type(self.metric) is Bleu and self.metric.matcher.name != "exact"
        head = self.metric.matcher.name if soft else self.metric.name  # type: ignore[attr-defined]
        parts: list[Declared] = [
            self.metric,
            self.tokenizer,
            *([self.vectors] if self.metric.requires.vectors else []),
        ]
        written = {}
        for part in parts:
            for each, value in part.settings():
                default = getattr(self.metric.default_tokenizer, each.name, each.default)
                default = self.metric.default_vectors if each.name == "vectors" else default
                if each.part is not None:
                    default = each.default.name if not soft else value
                if value != default:
                    written[each.name] = _written(value)
        return format_expression(head, written)

    def __repr__(self) -> str:
        return str(self)

    @overload
    def corpus_score(  # type: ignore[overload-overlap]  # a mapping of texts is no text
        self,
        candidates: Mapping[str, Iterable[str]],
        references: References | None = None,
        source: Iterable[str] | None = None,
        *,
        gold: Sequence[GoldSegment] | None = None,
        level: Level = "corpus",
        jobs: int = 1,
        executor: Executor | None = None,
        progress: Progress | bool | None = None,
    ) -> Results: ...

    @overload
    def corpus_score(
        self,
        candidates: Iterable[str],
        references: References | None = None,
        source: Iterable[str] | None = None,
        *,
        gold: Sequence[GoldSegment] | None = None,
        level: Level = "corpus",
        jobs: int = 1,
        executor: Executor | None = None,
        progress: Progress | bool | None = None,
    ) -> Result: ...

    def corpus_score(
        self,
        candidates: Texts,
        references: References | None = None,
        source: Iterable[str] | None = None,
        *,
        gold: Sequence[GoldSegment] | None = None,
        level: Level = "corpus",
        jobs: int = 1,
        executor: Executor | None = None,
        progress: Progress | bool | None = None,
    ) -> Result | Results:
        """Score candidates against references; the parameters are those of `softbleu.score`.

        Examples
        --------
        >>> metric = read_measure("chrf")
        >>> round(float(metric.corpus_score(["the cat"], ["the cats"])), 1)
        77.6
        """
        from softbleu.corpora.segments import make_corpus
        from softbleu.io.progress import shown
        from softbleu.scoring.run import score_measures

        corpus = make_corpus(candidates, references, source, gold)
        with shown(progress) as shower:
            results = score_measures(corpus, [self], level, jobs=jobs, executor=executor, progress=shower)
        return results if isinstance(candidates, Mapping) else results[0]

    def sentence_score(self, candidate: str, references: str | Sequence[str], source: str | None = None) -> Score:
        """Score one segment, as a corpus of it alone is scored at segment level; vectors stay open between calls.

        Returns
        -------
        Score
            The score and what it is made of; ``float(…)`` is the score.

        Raises
        ------
        InputError, VectorError
            As `corpus_score`.

        Examples
        --------
        >>> round(float(read_measure("bleu(order=2)").sentence_score("a dog barks", ["the dog barks"])), 2)
        57.74
        """
        from softbleu.scoring.sentences import check_segment

        texts = check_segment(self, candidate, references, source)
        return self._sentences.score(candidate, texts, source)

    @cached_property
    def _sentences(self) -> SentenceScorer:
        from softbleu.scoring.sentences import SentenceScorer

        return SentenceScorer(self)

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what is kept for sentences."""
        return {name: value for name, value in vars(self).items() if name != "_sentences"}

    def at_level(self, level: Level) -> Measure:
        """The same as it scores at a level."""
        metric = self.metric.at_level(level)
        return self if metric is self.metric else replace(self, metric=metric)

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from other measures; vectors in memory by which they are."""
        return self.metric, self.tokenizer, self.vectors.key

    @property
    def matcher(self) -> Matcher | None:
        """What counts as a match; None for metrics without single matches."""
        return self.metric.matching

    @property
    def threshold(self) -> float | str | None:
        """That of the matcher, if it has one."""
        return self.matcher.threshold if isinstance(self.matcher, SoftMatcher) else None

    def with_threshold(self, threshold: float | str, quantile: str | None = None) -> Measure:
        """The same over its matcher with another threshold, which may have been found as a quantile."""
        own: Any = self.metric
        metric = replace(own, matcher=replace(own.matcher, threshold=threshold))
        return replace(self, metric=metric, vectors=replace(self.vectors, quantile=quantile))

    def resolved(self) -> Measure:
        """Put numbers in the place of a threshold that is given as a quantile, or not at all, and of layers.

        And what `Metric.resolved` says.

        Raises
        ------
        VectorError
            The vectors cannot be read.
        """
        metric = self.metric.resolved()
        if metric is not self.metric:
            return replace(self, metric=metric).resolved()
        if self.metric.requires.vectors or isinstance(self.matcher, SoftMatcher):
            vectors = self.vectors.resolved()
            if vectors is not self.vectors:
                return replace(self, vectors=vectors)._with_number()
        return self._with_number()

    def _with_number(self) -> Measure:
        if not isinstance(self.matcher, SoftMatcher) or isinstance(self.threshold, float):
            return self
        if self.threshold is None:
            recommended = self.vectors.recommended_threshold()
            return self.with_threshold(self.matcher.least_similarity if recommended is None else float(recommended))
        return self.with_threshold(self.vectors.threshold_at(self.threshold), self.threshold)

    def signature(self, *, short: bool = False, vectors: str | None = None, **more: object) -> str:
        """Everything that a number depends on; `vectors` names the set and its content."""
        parts: list[Declared] = [self.metric, self.tokenizer]
        if vectors is None:
            return signature_of(*parts, short=short, **more)
        return signature_of(*parts, replace(self.vectors, vectors=vectors), short=short, **more)


def read_measure(text: str, **given: Any) -> Measure:
    """Read an expression, such as ``vleu(threshold=0.8)``; settings that are given go before those in it.

    Raises
    ------
    InputError
        It cannot be read, or names what there is not.
    """
    head, settings = read_settings(text)
    return Measure.of(head, **{**settings, **given})


def read_settings(text: str) -> tuple[str, dict[str, Any]]:
    """Read the name of the metric and the settings of an expression, or of a signature's first words.

    >>> read_settings("xleu(threshold=0.5, lowercase=yes)")
    ('bleu', {'matcher': 'xleu', 'threshold': 0.5, 'lowercase': True})
    """
    head, texts = parse_expression(text)
    if MATCHERS.has_module(head) or (not METRICS.has_module(head) and MATCHERS.has(head)):
        head, texts = "bleu", {"matcher": head.lower(), **texts}
    elif not METRICS.has(head):
        raise UnknownNameError("metric", head, [*METRICS.names(), *MATCHERS.names()])
    known = {each.name: each for each in settings_of({"metric": head, **texts})}
    settings: dict[str, Any] = {}
    for name, value in texts.items():
        if name not in known and name != "preset":
            valid = [*list(known)[1:], "preset"]
            raise UnknownNameError("setting", name, valid)
        settings[name] = known[name].parse(value) if name in known else value
    return head.lower(), settings


def settings_of(given: Mapping[str, Any]) -> list[Setting]:
    """All settings of the measure that is named there, the metric's name first."""
    return list(all_settings(Measure, given))


def preset_names() -> list[str]:
    """Names of the settings of papers, those of other packages' metrics too."""
    return [name for owner in METRICS.classes() for name in owner.presets]  # type: ignore[attr-defined]


def every_setting() -> dict[str, Setting]:
    """The settings of all metrics and matchers that there are, of tokenizers and of vectors, by name."""
    owners: list[type[Declared]] = [*MATCHERS.classes(), *METRICS.classes(), Measure]
    return {each.name: each for owner in owners for each in all_settings(owner)}


def _start(metric: str | Metric | Measure, given: dict[str, Any]) -> tuple[Measure, dict[str, Any]]:
    """Take a metric as it is, and what is to change in it."""
    if isinstance(metric, Measure):
        return metric, given
    if isinstance(metric, str):
        name, settings = read_settings(metric)
        metric, given = METRICS.find(name)(), {**settings, **given}
    if not isinstance(metric, Metric):
        raise InputError(f"a metric is a name, an expression or a value, not {type(metric).__name__}")
    return Measure(metric), given


def _written(value: Any) -> Any:
    """What stands for a value in an expression: a file by its path, vectors in memory by what they are."""
    if value is None or isinstance(value, str | int | float):
        return value
    return getattr(value, "location", None) or (str(value) if isinstance(value, Path) else type(value).__name__)


def _named(given: Mapping[str, Any]) -> str:
    metric, matcher = (
        each.name if isinstance(each, Declared) else each for each in (given["metric"], given.get("matcher"))
    )
    return f"{metric} over {matcher!r}" if matcher else str(metric)
