"""Plan of a run: metrics whose thresholds, layers and data are known, and the inputs that they need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

from softbleu.config.declare import all_settings
from softbleu.config.languages import language_of_data
from softbleu.embeddings.choice import VectorChoice, open_vectors
from softbleu.engine.encode import ListCorpus
from softbleu.errors import InputError, Parameter, UnknownNameError
from softbleu.io.progress import note
from softbleu.matching.matchers import SoftMatcher
from softbleu.metrics.base import Level, Metric
from softbleu.metrics.declared import fitted
from softbleu.metrics.protocols import ReadsData, ReadsRows, matcher_of
from softbleu.metrics.reading import Chosen, ReadMetric, read_given
from softbleu.metrics.requirements import Requirements, lacking
from softbleu.metrics.settings import DEFAULT_ENCODER

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus

M = TypeVar("M", bound="Metric")
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Plan:
    """Metrics of a run and the inputs that they need: made once by `make_plan`, then fitted to a corpus by `over`."""

    metrics: tuple[Metric, ...]  # Resolved: thresholds are numbers, layers and data are named
    recommended: tuple[float, ...] = ()  # Thresholds that were taken where none was given
    level: Level = "corpus"  # Of the scores that will be made where rows are not kept
    keep_rows: bool = False
    """Whether the rows of all segments are kept, not only the sums for scores of the level."""
    small_rows: bool = False
    """Whether kept rows of whole numbers may have 16 or 32 bits: for readers that add them up, or take them as 64."""
    prepared: Requirements | None = None  # What is prepared beside what the metrics need

    @property
    def context(self) -> int:
        """Number of lines before each, in its document, that the metrics use."""
        return max((m.vector_choice.context for m in self.metrics if m.requires.vectors), default=0)

    @property
    def compares_words(self) -> bool:
        """Whether a metric compares words by vectors, which takes long."""
        return any(metric.requires.vectors for metric in self.metrics)

    @property
    def only(self) -> Metric:
        """The only metric. Raises InputError if the plan has several."""
        if len(self.metrics) > 1:
            raise InputError(f"one metric at a time here, not {len(self.metrics)}: name one by ", Parameter("metric"))
        return self.metrics[0]

    def over(
        self, corpus: Corpus | ListCorpus, *, level: Level = "corpus", keep_rows: bool = False, whole: bool = False
    ) -> Plan:
        """Check that a corpus has the inputs of the metrics, and plan the level of scores and whether rows are kept.

        `level` is that of `softbleu.score`; `keep_rows` holds the statistics of every segment, for intervals and
        scores of segments.

        With `whole`, references and source of the corpus are prepared even where no metric needs them. Words of edits
        that are given override the tokenizer that a language chose.
        """
        if level not in get_args(Level):
            raise UnknownNameError("level", level, get_args(Level))
        if level == "document" and corpus.documents is None:
            raise InputError("scores of documents need these: name them with ", Parameter("documents"))
        metrics = tuple(
            _in_words_given(metric) if metric.requires.language and _has_edits(corpus) else metric
            for metric in self.metrics
        )
        for metric in metrics:
            check_requirements(corpus, metric)
        languages = sorted({each.requires.language or "en" for each in metrics if each.requires.edits})
        if len(languages) > 1:
            said = f"a run finds edits by the rules of one language, not of {' and '.join(languages)}: give all one "
            raise InputError(said, Parameter("language"))
        ways = sorted({each.requires.merging for each in metrics if each.requires.merging})
        if len(ways) > 1:
            raise InputError(
                f"a run merges edits in one way, not as {' and '.join(ways)}: give all one ", Parameter("merging")
            )
        source = corpus.source is not None or corpus.gold is not None
        prepared = Requirements(references=corpus.has_references, source=source) if whole else None
        return replace(self, metrics=metrics, level=level, keep_rows=keep_rows, prepared=prepared)


GivenMetric = str | Metric  # A metric's name, an expression or a value
GivenMetrics = GivenMetric | Sequence[GivenMetric] | Plan  # One, several, or a plan of them


def make_metrics(metrics: GivenMetrics, /, **settings: object) -> list[Metric]:
    """Make metrics; a setting goes to the metrics that have it, at least one."""
    several: list[Any] = [*metrics] if isinstance(metrics, list | tuple) else [metrics]
    if not several:
        raise InputError("no metric: name one, such as 'bleu' or 'vleu(threshold=0.8)'")
    if not settings and all(isinstance(metric, Metric) for metric in several):
        return several
    return fit_metrics(several, lambda *_: settings, needed=settings)[0]


def make_metric(metric: GivenMetric, /, **settings: object) -> Metric:
    """Make one metric with these settings. Raises `InputError` where a list of several is given."""
    if isinstance(metric, list | tuple):
        raise InputError(f"one metric is needed here, not a list of {len(metric)}")
    (made,) = make_metrics(metric, **settings)
    return made


def fit_metrics(
    metrics: Sequence[GivenMetric | ReadMetric], chosen: Chosen, needed: Collection[str] | None = None
) -> tuple[list[Metric], set[str]]:
    """Make metrics with settings `chosen` for each, and name the settings that none of them uses.

    Some metric must have each of those that are `needed`; without `needed`, vectors without effect are unused, too.
    """
    made: list[Metric] = []
    unused: list[set[str]] = []
    whole: list[str] = []  # Metrics of whole outputs that were asked for unfinished ones
    for wanted in metrics:
        metric, settings = read_given(wanted, chosen)
        if metric is wanted and "threshold" in settings and threshold_of(metric) is not None:
            # What is given is no quantile of the signature's.
            metric = with_threshold(metric, 0.0)
        idle: set[str] = set()
        if settings:
            metric, idle = fitted(metric, settings, whole=needed is not None and len(metrics) == 1)
        if metric.partial and settings.get("partial") is False:
            raise InputError("whole outputs are not aligned by characters: leave out ", Parameter("partial_by"))
        whole += [metric.called or metric.name] * bool("partial" in idle and settings["partial"])
        if needed is None and not metric.requires.vectors:
            idle |= {setting.name for setting in all_settings(VectorChoice)}
        made.append(metric)
        unused.append(idle)
    of_none = set.intersection(*unused)
    for name in needed or () if len(made) > 1 else ():
        if name in of_none:
            raise InputError(f"none of these metrics has a setting {name!r}")
    if 0 < len(whole) < len(made):
        note(Parameter("partial"), f" has no effect on {', '.join(whole)}: such a metric scores whole outputs only")
    return made, of_none


def make_plan(metrics: GivenMetrics, /, **settings: object) -> Plan:
    """Make metrics with these settings, see `make_metrics`, and resolve them; a plan stays as it is."""
    if isinstance(metrics, Plan):
        return metrics
    known: dict[object, object] = {}
    wanted = make_metrics(metrics, **settings)
    ready = tuple(resolve_metric(metric, known) for metric in wanted)
    names = [metric.called for metric in ready if metric.called]
    if len(set(names)) < len(names) and len(set(names)) < sum(bool(metric.called) for metric in distinct(ready)):
        raise InputError("two metrics have one name: name them apart, by NAME=METRIC")
    pairs = ((threshold_of(metric), threshold_of(other)) for metric, other in zip(wanted, ready, strict=True))
    recommended = dict.fromkeys(float(usual) for asked, usual in pairs if asked is None and usual is not None)
    return Plan(ready, tuple(recommended))


def resolve_metric(metric: Metric, known: dict[object, object] | None = None) -> Metric:
    """Resolve a metric: a threshold that is a quantile, or not given, becomes a number; layers and data get names.

    Known properties of vectors are not looked up again, and new entries are added to it.
    """
    known = {} if known is None else known
    metric = metric.resolved() if isinstance(metric, ReadsData) else metric
    matcher = matcher_of(metric)
    if metric.requires.vectors or isinstance(matcher, SoftMatcher):
        choice = metric.vector_choice
        found = once(known, ("choice", choice.key), choice.resolved)
        more = {name: getattr(found, name) for name in ("layers", "exact_words", "reads")}
        if metric.requires.by_annotator and found.in_context:
            # Texts of edits are made of words.
            if choice.reads == "line":
                raise InputError(f"metric {metric.name!r} reads words of edits: leave out ", Parameter("reads"))
            more["reads"] = "tokens"
        if any(getattr(choice, name) != value for name, value in more.items()):
            metric = replace(metric, vector_choice=replace(choice, **more))
    choice, asked = metric.vector_choice, threshold_of(metric)
    if isinstance(matcher, SoftMatcher) and asked is None:
        recommended = once(known, ("recommended", choice.key), choice.recommended_threshold)
        return with_threshold(metric, matcher.least_similarity if recommended is None else float(recommended))
    if not isinstance(asked, str):
        return metric
    threshold = once(known, ("quantile", asked, choice.key), lambda: choice.threshold_at(asked))
    return with_threshold(metric, threshold, asked)


def once(known: dict[object, Any], key: object, find: Callable[[], _Found]) -> _Found:
    """Return the value of a key, which is found when it is first asked for."""
    if key not in known:
        known[key] = find()
    found: _Found = known[key]
    return found


def check_requirements(corpus: Corpus | ListCorpus, metric: Metric) -> None:
    """Check that a corpus has the inputs of a metric."""
    requires = metric.requires
    if isinstance(metric, ReadsRows):
        metric.read_rows(cast("Corpus", corpus), corpus.systems)
    lists = isinstance(corpus, ListCorpus)
    if lists and (requires.source or requires.by_annotator or not requires.references):
        with_source = ", or, of files, the source (softbleu matrix -s)" * (not requires.gold)
        said = f"metric {metric.name!r} does not compare two texts: name one that does, such as chrf{with_source}"
        raise InputError(said)
    if requires.gold and corpus.gold is None:
        raise lacking(metric.name, "gold")
    if (requires.references or requires.edits) and not corpus.has_references:
        raise lacking(metric.name, "references")
    if requires.source and corpus.source is None and corpus.gold is None:
        raise lacking(metric.name, "source")
    if requires.pieces and not metric.vector_choice.in_context:
        if not metric.vector_choice.without_vectors:
            open_vectors(metric.vector_choice.vectors)  # Says it if the name is unknown
        raise InputError(
            f"metric {metric.name!r} needs vectors in context: name an encoder, such as {DEFAULT_ENCODER}"
        )
    if requires.vectors and metric.vector_choice.context and (lists or requires.by_annotator):
        # Lines must stand in a text, and are looked at as they are.
        what = "lists of texts have" if lists else f"metric {metric.name!r} looks at edits of single lines and has"
        raise InputError(f"{what} no context: leave out ", Parameter("context"))
    if requires.by_annotator and _has_edits(corpus) and metric.tokenizer.name != "none":
        said = f"metric {metric.name!r} counts words as the gold file does: leave out "
        raise InputError(said, Parameter("tokenize"))


def _has_edits(corpus: Corpus | ListCorpus) -> bool:
    """Whether edits are given, of references or of systems."""
    return corpus.gold is not None or bool(getattr(corpus, "edits", None))


def _in_words_given(metric: Metric) -> Metric:
    """Return the metric without the tokenizer that its language chooses."""
    chosen = language_of_data(metric.requires.language or "en").tokenize
    return metric.replaced(tokenize="none") if chosen and metric.tokenizer.name == chosen else metric


def requirements_of(metric: Metric) -> Requirements:
    """Return the inputs of a metric, with lines as they are written if its encoder reads these."""
    requires = metric.requires
    return replace(requires, written=True) if requires.vectors and metric.vector_choice.reads == "line" else requires


def threshold_of(metric: Metric) -> float | str | None:
    """Return the threshold of the metric or its matcher; None if neither has one."""
    return getattr(metric, "threshold", None)


def with_threshold(metric: M, threshold: float | str, quantile: str | None = None) -> M:
    """Return the metric with another threshold, which may be the similarity at a quantile."""
    choice = replace(metric.vector_choice, quantile=quantile)
    return replace(metric.replaced(threshold=threshold), vector_choice=choice)


def distinct(metrics: Iterable[Metric]) -> list[Metric]:
    """Metrics of which one that is named twice is computed once."""
    several = list(metrics)
    return list({key_of(metric): metric for metric in several}.values()) if len(several) > 1 else several


def key_of(metric: Metric) -> tuple[object, ...]:
    """Make a key that is different for different metrics; vectors in memory compare by object identity."""
    where, choice = metric.vector_choice.key
    return replace(metric, vector_choice=choice), where, metric.called
