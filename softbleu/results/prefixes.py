"""Partial scores of prefixes of outputs: of each segment, and of all outputs cut at the same place."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from softbleu.corpora.corpus import Corpus, References, Segments, Texts, make_corpus
from softbleu.corpora.validation import check_lengths
from softbleu.engine.plan import GivenMetric, GivenMetrics, Plan, distinct, make_plan
from softbleu.engine.prefixes import AtFractions, Cuts, EveryTokens, PrefixRows, prefix_rows
from softbleu.engine.runner import Runner, RunOptions, part_of, running
from softbleu.engine.scorer import check_partial
from softbleu.engine.statistics import Statistics
from softbleu.io.arguments import listed
from softbleu.metrics.protocols import at_level
from softbleu.tables import Tabular

if TYPE_CHECKING:
    from softbleu.metrics.aggregation import RowStream
    from softbleu.metrics.base import Metric
    from softbleu.metrics.keywords import Settings
    from softbleu.types import Floats, Integers

QUARTERS = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class PrefixScore:
    """The partial score of a prefix of an output, as a segment of its own."""

    system: str
    segment: int  # From 1
    tokens: int  # Tokens of the prefix
    length: int  # Tokens of the whole output
    score: float
    metric: str = ""
    prefix: int = 1  # Place among the prefixes of the output, from 1
    signature: str = ""
    hypothesis: int = 1  # Place among the outputs of the segment, from 1


@dataclass(frozen=True)
class Curve:
    """Partial scores of a system by a metric: of all outputs, cut after each share or number of their tokens."""

    system: str
    metric: str
    label: str  # Usual name of the score
    scores: Mapping[float, float]  # By share of the tokens, or number of tokens (shorter outputs are whole)
    whole: float  # Score of the whole outputs against whole references
    signature: str
    short_signature: str
    higher_is_better: bool = True
    in_percent: bool = True  # Whether scores are known to be on a scale to 100


@dataclass(frozen=True, repr=False)
class Curves(Tabular):
    """Curves of systems by metrics."""

    curves: Sequence[Curve]
    unit: str  # `fraction` or `tokens`: what outputs were cut after

    def records(self) -> list[dict[str, Any]]:
        """Make a row per metric, system and place of the cut."""
        return [
            {"system": one.system, "metric": one.metric, self.unit: place, "score": score, "whole": one.whole}
            for one in self.curves
            for place, score in one.scores.items()
        ]

    def described(self) -> Mapping[str, Any]:
        """Signatures by metric."""
        return {f"signature of {one.metric}": one.short_signature for one in self.curves}


def make_cuts(every: int | None = None, fractions: Sequence[float] | None = None) -> Cuts:
    """Return where outputs are cut: after shares of their tokens, or else every so many tokens."""
    if every is not None:
        return EveryTokens(every)
    return AtFractions.of(QUARTERS if fractions is None else fractions)


def partial_plan(metrics: GivenMetrics, **settings: Any) -> Plan:
    """Plan metrics that score unfinished outputs; InputError for a metric of whole outputs.

    A `language` without blanks gives chrF, whose whole outputs need none, a tokenizer.
    """
    plan, spoken = make_plan(metrics, **settings), {"language": settings.get("language")}
    for metric in plan.metrics:
        check_partial(metric)
    made = (one.replaced(partial=True, **({} if one.requires.words else spoken)) for one in plan.metrics)
    return replace(plan, metrics=tuple(distinct(made)))


def score_prefixes(corpus: Corpus, metrics: GivenMetrics, cuts: Cuts, options: RunOptions) -> Iterator[PrefixScore]:
    """Score prefixes of all outputs by metrics, one metric after the other, some segments at a time.

    Memory does not grow with the corpus. For `cuts` see `make_cuts`; `options` are those of a run.
    """
    plan = partial_plan(metrics).over(corpus)
    with running(corpus, plan, replace(options, progress=None)) as runner:
        statistics = runner.collect(plan.metrics, keep_rows=False)
        for number, scored in enumerate(statistics):
            runner.progress = part_of(options.progress, number, len(statistics))
            metric, signature = scored.metric, scored.signature("segment")
            for part in chain.from_iterable(prefix_rows(runner, metric, cuts)):
                owner = part.owner
                numbers = np.arange(len(owner)) - np.searchsorted(owner, owner) + 1
                columns = (part.first + owner + 1, part.tokens, part.lengths, _scores(metric, part), numbers)
                system, name = corpus.systems[part.system], str(metric)
                for segment, tokens, length, score, prefix in zip(*(c.tolist() for c in columns), strict=True):
                    yield PrefixScore(system, segment, tokens, length, score, name, prefix, signature)


def curves_of(corpus: Corpus, metrics: GivenMetrics, cuts: Cuts, options: RunOptions) -> Curves:
    """Score all outputs cut at the same places as corpora, by each metric; parameters are as in `score_prefixes`."""
    plan = partial_plan(metrics)
    whole = [metric.whole for metric in plan.metrics]
    plan = replace(plan, metrics=(*plan.metrics, *whole)).over(corpus)
    curves: list[Curve] = []
    with running(corpus, plan, replace(options, progress=None)) as runner:
        collected = runner.collect(plan.metrics)
        middle = len(whole)
        for number, (scored, plain) in enumerate(zip(collected[:middle], collected[middle:], strict=True)):
            runner.progress = part_of(options.progress, number, middle)
            curves += _curves(runner, scored, plain, cuts)
    return Curves(curves, "fraction" if isinstance(cuts, AtFractions) else "tokens")


def _curves(runner: Runner, scored: Statistics, plain: Statistics, cuts: Cuts) -> Iterator[Curve]:
    """Yield the curve of each system by a metric."""
    aggregation = at_level(scored.metric, "corpus").aggregation
    sums = _Sums(aggregation.stream())
    for parts in prefix_rows(runner, scored.metric, cuts):
        sums.add(parts, len(scored.systems))
    scores = [[score.score for score in stream.scores()] for stream in sums.streams]
    places: Sequence[float]
    if isinstance(cuts, AtFractions):
        places = cuts.fractions
    else:
        places = [cuts.step * number for number in range(1, len(scores) + 1)]
    signature, short = scored.signature(), scored.signature(short=True)
    for system, (name, whole) in enumerate(zip(scored.systems, plain.results(), strict=True)):
        by_place = {place: row[system] for place, row in zip(places, scores, strict=True)}
        higher, label = scored.metric.higher_is_better, scored.metric.called or scored.metric.label
        shown = signature, short, higher, whole.in_percent
        yield Curve(name, str(scored.metric), label, by_place, whole.score, *shown)


class _Sums:
    """Statistics of corpora of prefixes: of the first prefix of each output, the second, and so on.

    An output that has no further prefix is whole.
    """

    def __init__(self, stream: RowStream) -> None:
        self.streams: list[RowStream] = [stream]

    def add(self, parts: Sequence[PrefixRows], systems: int) -> None:
        """Add the next segments of all systems."""
        for start in range(0, len(parts), systems):
            together = parts[start : start + systems]
            last = [np.flatnonzero(np.diff(part.owner, append=-1)) for part in together]
            first = [np.append(0, ends[:-1] + 1) for ends in last]
            most = max(int((ends - begins).max()) + 1 for ends, begins in zip(last, first, strict=True))
            # Outputs so far have no prefix of these numbers: they are whole.
            self.streams += [copy.deepcopy(self.streams[-1]) for _ in range(most - len(self.streams))]
            for number, stream in enumerate(self.streams):
                chosen = [np.minimum(begins + number, ends) for begins, ends in zip(first, last, strict=True)]
                rows = [chosen_rows(part, places)[0] for part, places in zip(together, chosen, strict=True)]
                stream.add(np.stack(rows), chosen_rows(together[0], chosen[0])[1])


def chosen_rows(part: PrefixRows, places: Integers) -> tuple[Integers, Integers]:
    """Return the rows of some prefixes, and how many rows each has."""
    counts = np.diff(part.offsets)[places]
    starts = part.offsets[:-1][places]
    before = np.cumsum(counts) - counts
    return part.rows[np.repeat(starts - before, counts) + np.arange(int(counts.sum()))], counts


def prefix_scores(
    candidates: Texts | Sequence[Sequence[str]],
    references: References | None = None,
    source: Iterable[str] | None = None,
    *,
    metrics: GivenMetric | Sequence[GivenMetric] = "bleu",
    every: int = 1,
    fractions: Sequence[float] | None = None,
    **settings: Unpack[Settings],
) -> Iterator[PrefixScore]:
    """Score the prefixes of outputs against the beginnings of references that they have come to.

    Each prefix has the score that `ScoredStream.score` and a sentence score with ``partial=True`` have, unless words
    weigh by how rare they are: among all references of a corpus, or, in lists of several outputs, among the segment's
    own.

    Parameters
    ----------
    candidates, references, source
        Texts as for `softbleu.score`; or for each segment a list of outputs, such as the hypotheses of a beam.
    metrics
        A name, an expression or a value, of a metric that compares two texts; or several of these.
    every
        Score prefixes of every so many tokens, and the whole output.
    fractions
        Score prefixes of these shares of an output's tokens instead, rounded up.
    settings
        Settings of the metrics.

    Yields
    ------
    PrefixScore
        Yield some segments at a time, one system after the other, by one metric after the other.

    Raises
    ------
    InputError, VectorError
        As `softbleu.score`; also for a metric of whole outputs.

    Examples
    --------
    >>> scores = prefix_scores(["the cat sat here"], ["the cat lay there"], metrics="chrf", every=2)
    >>> [(prefix.tokens, round(prefix.score, 1)) for prefix in scores]
    [(2, 100.0), (4, 50.8)]
    >>> beam = prefix_scores([["the cat", "a cat"]], ["the cat sat"], metrics="chrf", fractions=[1])
    >>> [(prefix.hypothesis, round(prefix.score, 1)) for prefix in beam]
    [(1, 100.0), (2, 31.2)]
    """
    plan = partial_plan(metrics, **settings)
    cuts = make_cuts(every if fractions is None else None, fractions)
    given: Any = candidates if isinstance(candidates, Mapping) else listed("candidates", candidates)
    if isinstance(given, Mapping) or not all(isinstance(texts, list | tuple) for texts in given):
        yield from score_prefixes(make_corpus(given, references, source), plan, cuts, RunOptions())
    else:
        yield from _score_lists(given, (references, source), plan, cuts)


def _score_lists(lists: Sequence[Any], beside: Sequence[Any], plan: Plan, cuts: Cuts) -> Iterator[PrefixScore]:
    """Score prefixes of several outputs of each segment, each as a segment alone; `beside`: references and source."""
    places = [(segment, place) for segment, outputs in enumerate(lists, 1) for place in range(1, len(outputs) + 1)]
    texts = [listed("texts", given) if given is not None else lists for given in beside]
    for given in texts:
        check_lengths("", len(lists), given, "")
    lines = (None if given is lists else [given[segment - 1] for segment, _ in places] for given in texts)
    corpus = Segments.of([*chain.from_iterable(lists)], *lines)
    (outputs,) = corpus.candidates.values()
    plan, sizes = plan.over(corpus), [*map(len, corpus.references)]
    with running(corpus.part(0, 1), plan, RunOptions()) as runner:
        signed = runner.collect(plan.metrics, keep_rows=False)
    for metric, one in zip(plan.metrics, signed, strict=True):
        blank = corpus.blank > 0 and metric.requires.source  # Each segment is a corpus of its own
        signature = replace(one, references=(min(sizes), max(sizes)), without_blank=blank).signature("segment")
        found, name = metric._scorer.prefix_scores(outputs, corpus.references, corpus.source, cuts), str(metric)
        for (segment, place), columns in zip(places, found, strict=True):
            rows = zip(*(column.tolist() for column in columns), strict=True)
            for number, (tokens, length, score) in enumerate(rows, 1):
                yield PrefixScore("candidate", segment, tokens, length, score, name, number, signature, place)


def score_curves(
    candidates: Texts,
    references: References | None = None,
    source: Iterable[str] | None = None,
    *,
    metrics: GivenMetric | Sequence[GivenMetric] = "bleu",
    every: int | None = None,
    fractions: Sequence[float] | None = None,
    jobs: int = 1,
    **settings: Unpack[Settings],
) -> Curves:
    """Score all outputs cut after the same shares of their tokens, each system as a corpus.

    Parameters are as in `prefix_scores`; without `every` and `fractions` outputs are cut after each quarter. With
    `every`, an output of fewer tokens is whole.

    Examples
    --------
    >>> curves = score_curves(["the cat sat here"], ["the cat lay there"], metrics="chrf", fractions=[0.5, 1])
    >>> [(row["fraction"], round(row["score"], 1)) for row in curves.records()]
    [(0.5, 100.0), (1.0, 50.8)]
    """
    plan, cuts = partial_plan(metrics, **settings), make_cuts(every, fractions)
    return curves_of(make_corpus(candidates, references, source), plan, cuts, RunOptions(jobs))


def _scores(metric: Metric, part: PrefixRows) -> Floats:
    """Score each prefix as a corpus of one segment."""
    aggregation = at_level(metric, "segment").aggregation
    if aggregation.sum_is_enough:
        return aggregation.segment_numbers(part.rows, part.offsets)
    # Random samples of references depend on the number of a segment.
    rows = np.split(part.rows, part.offsets[1:-1])
    return np.concatenate([aggregation.segment_numbers(some, np.array([0, len(some)])) for some in rows])
