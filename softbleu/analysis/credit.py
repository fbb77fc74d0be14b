"""Soft credit: which pairs of n-grams earn it, and how their words differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from softbleu.config.earlier import also_named
from softbleu.corpora.corpus import Against, Corpus, References, Texts, make_corpus, pick_segments
from softbleu.engine.notes import note_corpus
from softbleu.engine.plan import GivenMetric, Plan, make_plan, requirements_of
from softbleu.engine.prepare import PreparedCorpus, prepare_corpus
from softbleu.engine.worker import MINI_BATCH, MOST_TOGETHER
from softbleu.errors import InputError
from softbleu.io.arguments import several
from softbleu.io.platform import single_threaded_blas
from softbleu.kernels import SCALE
from softbleu.matching.kinds import MATCH_KINDS, KindFinder, equal_in_place
from softbleu.matching.matchers import SoftMatcher
from softbleu.matching.sweep import match_intervals, sums_at_thresholds
from softbleu.metrics.declared import data_language
from softbleu.metrics.guards import seen_chunk
from softbleu.metrics.protocols import BleuFormula
from softbleu.metrics.settings import MAX_ORDER
from softbleu.tables import Table, Tabular, Value

if TYPE_CHECKING:
    from softbleu.metrics.base import Metric
    from softbleu.metrics.keywords import Settings
    from softbleu.metrics.result import Result
    from softbleu.types import Cells, Fields, Integers, Progress

SHOWN_THRESHOLDS = tuple(number / 20 for number in range(10, 21))
"""Thresholds of the picture: below .5 nearly everything matches."""
EQUAL_WORDS = tuple(f"{words or 'no'} word{'s' * (words > 1)} equal in place" for words in range(MAX_ORDER))
SAMPLE = 300  # Segments whose soft credit is counted beside a score, in 0.15 s
_SOME = 2000  # Pairs after which progress is shown
_Pair = tuple[tuple[int, ...], tuple[int, ...]]  # Codes of a candidate n-gram and of its partner


@dataclass(frozen=True)
class SoftPair:
    """A candidate n-gram and a reference n-gram that it matches, though they differ; sums over a corpus."""

    system: str
    order: int
    candidate: str
    reference: str
    kind: str
    equal: int  # Words that both have in the same places
    matches: int
    millionths: int  # Credit: clipped similarities, in millionths of an n-gram

    @property
    def credit(self) -> float:
        """Credit in n-grams; an exact match has 1."""
        return self.millionths / SCALE


@dataclass(frozen=True)
class KindPoints:
    """Part of one kind of soft matches in the points that all of them add to a score."""

    kind: str
    share: float  # Per cent of the soft credit
    points: float
    example: SoftPair  # The pair of the kind that earns most


@dataclass(frozen=True, eq=False)
class SoftCredit(Tabular):
    """Matches of n-grams that differ, by system, threshold, order and kind, in millionths of an n-gram."""

    metric: str
    systems: tuple[str, ...]
    thresholds: tuple[float, ...]
    run: int  # Number of the metric's own threshold
    exact: Integers  # Credit of equal n-grams: (systems, thresholds, orders)
    soft: Integers  # Credit of others: (systems, thresholds, orders, kinds)
    pairs: list[SoftPair]  # At the metric's own threshold; those that earn most come first

    @property
    def orders(self) -> range:
        """The orders of n-grams."""
        return range(1, self.exact.shape[-1] + 1)

    def by_kind(self, system: str) -> Integers:
        """Sum the soft credit of a system, in millionths: (kinds of `MATCH_KINDS`, orders)."""
        sums: Integers = self.soft[self.systems.index(system), self.run].T
        return sums

    def by_place(self, system: str) -> Integers:
        """Sum the soft credit of a system by how many words are equal in place, in millionths: (words, orders)."""
        sums = np.zeros((len(self.orders), len(self.orders)), np.int64)
        for pair in self.pairs:
            if pair.system == system:
                sums[pair.equal, pair.order - 1] += pair.millionths
        return sums

    def points_by_kind(self, system: str, added: float) -> list[KindPoints]:
        """Divide the points that soft matches add to a score among their kinds, the greatest part first.

        The points of a kind are its share of the system's soft credit, in n-grams of all orders, times `added`. So
        they add up to `added`. BLEU is no sum: without the matches of one kind it would fall by more or less than
        these points.

        Parameters
        ----------
        system
            Name of the system.
        added
            The score less the score by exact matches alone.

        Examples
        --------
        >>> vectors = {"dog": [0.9, 0.3], "dogs": [1.0, 0.2], "cat": [0.0, 1.0]}
        >>> found = soft_credit(["a dog"], ["a dogs"], metrics="vleu", order=1, vectors=vectors)
        >>> [(part.kind, part.points, part.example.reference) for part in found.points_by_kind("candidate", 49.6)]
        [('inflection', 49.6, 'dogs')]
        """
        examples: dict[str, SoftPair] = {}
        for pair in self.of(system):
            examples.setdefault(pair.kind, pair)
        sums = dict(zip(MATCH_KINDS, self.by_kind(system).sum(axis=1).tolist(), strict=True))
        whole = sum(sums.values())
        return [
            KindPoints(kind, 100 * sums[kind] / whole, added * sums[kind] / whole, examples[kind])
            for kind in sorted(examples, key=sums.__getitem__, reverse=True)
        ]

    def records(self) -> list[Cells]:
        """A row per system, order and kind, and one per number of words that are equal in place.

        `credit` is in n-grams, `share` in per cent of the order's soft credit: of all kinds, and of all numbers, it
        is 100.
        """
        rows: list[Cells] = []
        for system in self.systems:
            parts = {
                "kind": (tuple(MATCH_KINDS), self.by_kind(system)),
                "equal words": (EQUAL_WORDS, self.by_place(system)),
            }
            for order in self.orders:
                for by, (names, sums) in parts.items():
                    column = sums[:, order - 1].tolist()
                    shares = _shares(column, [sum(column)] * len(column))
                    rows += [
                        {
                            "system": system,
                            "order": order,
                            "by": by,
                            "kind": name,
                            "credit": value / SCALE,
                            "share": share,
                        }
                        for name, value, share in zip(names, column, shares, strict=False)
                    ]
        return rows

    def described(self) -> Fields:
        """Name the metric."""
        return {"metric": self.metric}

    def kinds_table(self) -> Table:
        """Make a table of shares by kind and by words equal in place, with a column per order and one for all."""
        rows: list[list[Value]] = []
        for number, system in enumerate(self.systems):
            exact = self.exact[number, self.run]
            kinds, places = self.by_kind(system), self.by_place(system)
            soft, every = _with_all(kinds.sum(axis=0)), _with_all(kinds.sum(axis=0) + exact)
            named = [(kind, row) for kind, row in zip(MATCH_KINDS, kinds, strict=True) if row.any()]
            named += [(name, row) for name, row in zip(EQUAL_WORDS, places, strict=False) if row.any()]
            rows += [[system, name, *_shares(_with_all(row), soft)] for name, row in named]
            rows += [[system, "soft credit, n-grams", *(value / SCALE for value in soft)]]
            rows += [[system, "of all matches", *_shares(soft, every)]]
        columns = ["system", "% of soft credit", *(f"{order}-grams" for order in self.orders), "all"]
        return Table(columns, rows, self.described(), text_columns=2, notes=(), verbatim=columns)

    def pairs_table(self, top: int | None = None) -> Table:
        """Make a table of the pairs that earn most, `top` of each system (default: all)."""
        columns = ("system", "order", "candidate", "reference", "kind", "matches", "credit", "share")
        rows: list[list[Value]] = []
        for system in self.systems:
            whole = int(self.by_kind(system).sum())
            rows += [
                [
                    *(system, pair.order, pair.candidate, pair.reference, pair.kind),
                    *(pair.matches, pair.credit, 100 * pair.millionths / whole),
                ]
                for pair in self.of(system, top)
            ]
        return Table(columns, rows, self.described())

    def of(self, system: str, top: int | None = None) -> list[SoftPair]:
        """Return the pairs of a system that earn most."""
        return [pair for pair in self.pairs if pair.system == system][:top]


def _with_all(sums: Integers) -> list[int]:
    values: list[int] = sums.tolist()
    return [*values, sum(values)]


def _shares(part: Sequence[int], whole: Sequence[int]) -> list[float | None]:
    return [100 * one / other if other else None for one, other in zip(part, whole, strict=True)]


@also_named(metric="metrics")
def soft_credit(
    candidates: Texts,
    references: References | None = None,
    source: Iterable[str] | None = None,
    *,
    metrics: GivenMetric = "vleu",
    against: Against = "references",
    thresholds: float | Sequence[float] = (),
    **settings: Unpack[Settings],
) -> SoftCredit:
    """Find where the soft credit of a metric comes from: pairs of n-grams that differ and still match, by kind.

    The matches of an order are whole millionths of an n-gram. Those of equal n-grams and those of all kinds add up to
    the metric's own, exactly. Under the default assignment the former are BLEU's. Texts and settings are given as in
    `score`.

    Parameters
    ----------
    metrics
        One metric over a soft matcher, such as `vleu`.
    thresholds
        Further thresholds at which credit is summed by kind.

    Raises
    ------
    InputError
        The metric has no soft matches.

    Examples
    --------
    >>> vectors = {"dog": [0.9, 0.3], "dogs": [1.0, 0.2], "cat": [0.0, 1.0]}
    >>> found = soft_credit(["a dog"], ["a dogs"], metrics="vleu", order=1, vectors=vectors)
    >>> [(pair.candidate, pair.reference, pair.kind, pair.credit) for pair in found.pairs]
    [('dog', 'dogs', 'inflection', 0.992278)]
    """
    corpus = make_corpus(candidates, references, source, against=against)
    return credit_of_corpus(
        corpus, make_plan(metrics, **settings), several(thresholds), language=settings.get("language")
    )


def credit_of_corpus(
    corpus: Corpus,
    metrics: GivenMetric | Plan = "vleu",
    thresholds: Sequence[float] = (),
    progress: Progress | None = None,
    language: str | None = None,
) -> SoftCredit:
    """Find where the soft credit of a corpus comes from; see `soft_credit`.

    `language` is that of stems and function words: by default that of the vectors, or English.
    """
    plan = make_plan(metrics)
    metric = plan.only
    matcher, _ = _soft_matching(metric)
    note_corpus(corpus, plan)
    lowest = metric.replaced(threshold=min([*thresholds, matcher.least_similarity]))
    prepared = prepare_corpus(corpus, metric.tokenizer, requirements_of(lowest))
    return credit_of_prepared(prepared, metric, thresholds, progress, language)


def _soft_matching(metric: Metric) -> tuple[SoftMatcher, int]:
    """Return the soft matcher of a metric, and its greatest order; raise InputError if it has no soft matches."""
    if isinstance(metric, BleuFormula) and isinstance(metric.matching, SoftMatcher):
        return metric.matching, metric.order
    raise InputError(f"metric {str(metric)!r} has no soft matches: take one that has, such as sleu, vleu or xleu")


def credit_of_prepared(
    prepared: PreparedCorpus,
    metric: Metric,
    thresholds: Sequence[float] = (),
    progress: Progress | None = None,
    language: str | None = None,
) -> SoftCredit:
    """Find where the soft credit of a corpus comes from that is prepared for a metric; see `soft_credit`."""
    matcher, order = _soft_matching(metric)
    grid = tuple(sorted({*map(float, thresholds), matcher.least_similarity}))
    tallies = _match(prepared, metric, grid, progress)
    finder = KindFinder(prepared.words, language or data_language(metric) or "en")
    run = grid.index(matcher.least_similarity)
    pairs: list[SoftPair] = []
    kinds = {kind: number for number, kind in enumerate(MATCH_KINDS)}
    done, count = 0, sum(len(tally.pairs) for tally in tallies)
    soft = np.zeros((len(tallies), len(grid), order, len(MATCH_KINDS)), np.int64)
    for number, (system, tally) in enumerate(zip(prepared.systems, tallies, strict=True)):
        for codes, (matches, credit) in tally.pairs.items():
            done += 1
            if progress is not None and done % _SOME == 0:
                progress(done, count)
            one, other = ([prepared.words[code] for code in side] for side in codes)
            kind = finder.kind(one, other)
            soft[number, :, len(one) - 1, kinds[kind]] += credit
            if matches[run]:
                texts = (len(one), " ".join(one), " ".join(other), kind, equal_in_place(one, other))
                pairs.append(SoftPair(system, *texts, int(matches[run]), int(credit[run])))
    pairs.sort(key=lambda pair: (-pair.millionths, pair.order, pair.candidate, pair.reference, pair.system))
    exact = np.stack([tally.exact for tally in tallies])
    return SoftCredit(str(metric), tuple(prepared.systems), grid, run, exact, soft, pairs)


def _match(
    prepared: PreparedCorpus, metric: Metric, grid: Sequence[float], progress: Progress | None
) -> list[_Tally]:
    """Match a corpus at every threshold of a grid; return the sums of each system."""
    (matcher, order), done = _soft_matching(metric), 0
    words = prepared.table(metric.vector_choice, metric.replaced(threshold=grid[0]).requires).words
    tallies = [
        _Tally(np.zeros((len(grid), order), np.int64), defaultdict(lambda: np.zeros((2, len(grid)), np.int64)))
        for _ in prepared.systems
    ]
    with single_threaded_blas():
        for block in prepared.blocks():
            for start, end in block.cuts(MINI_BATCH, MOST_TOGETHER):
                for tally, chunk in zip(tallies, block.chunks(start, end), strict=True):
                    part = seen_chunk(metric, chunk, words)
                    matches = match_intervals(matcher, grid, part, words.vectors, order)
                    differ = matches.differ(part)
                    equal, some = matches.chosen(~differ), matches.chosen(differ)
                    tally.exact += sums_at_thresholds(equal, equal.order - 1, equal.matched, tally.exact.shape)
                    columns = (some.first.tolist(), some.end.tolist(), some.matched.tolist())
                    for pair, first, end, value in zip(some.pairs(part.positions.codes), *columns, strict=True):
                        sums = tally.pairs[pair]
                        sums[0, first:end] += 1
                        sums[1, first:end] += value
            done += len(block)
            if progress is not None:
                progress(done, len(prepared))
    return tallies


@dataclass(frozen=True)
class SoftGain:
    """Points that soft matches add to the score of a system, by their kinds in some of its segments."""

    exact: float  # Score by exact matches alone
    added: float  # The score less that
    parts: Sequence[KindPoints]
    segments: int  # Segments whose soft credit was counted
    of: int  # All segments
    by_order: Sequence[int] = ()  # Soft credit by order of n-grams, in millionths


def soft_gains(
    corpus: Corpus,
    metric: Metric,
    results: Sequence[Result],
    exact: Sequence[Result],
    prepared: Callable[[Metric], PreparedCorpus] | None = None,
) -> list[SoftGain | None]:
    """Divide the points that soft matches add to systems' scores among their kinds; see `SoftCredit.points_by_kind`.

    Credit is counted in `SAMPLE` segments, evenly spread, so that time and memory do not grow with the corpus.

    Parameters
    ----------
    corpus
        The scored corpus.
    metric
        The metric of the scores.
    results, exact
        Scores of the systems, in the order of the corpus, by `metric` and by exact matches alone.
    prepared
        Returns the whole corpus, prepared for a metric, where the caller has it; it is asked for short corpora.

    Returns
    -------
    list[SoftGain | None]
        An entry per system, None where soft matches add nothing. Empty without soft matches, and in context, where
        counting would take longer than the score.
    """
    soft = isinstance(metric, BleuFormula) and isinstance(metric.matching, SoftMatcher)
    if not soft or metric.vector_choice.in_context:
        return []
    # np.unique would import numpy.ma.
    numbers = sorted({*np.linspace(1, len(corpus), min(SAMPLE, len(corpus))).round().astype(int).tolist()})
    if prepared is not None and len(numbers) == len(corpus):
        credit = credit_of_prepared(prepared(metric), metric)
    else:
        picked = prepare_corpus(pick_segments(corpus, numbers), metric.tokenizer, requirements_of(metric))
        credit = credit_of_prepared(picked, metric)
    gains: list[SoftGain | None] = []
    for system, result, alone in zip(corpus.systems, results, exact, strict=True):
        added = result.score - alone.score
        parts, by_order = credit.points_by_kind(system, added), credit.by_kind(system).sum(axis=0).tolist()
        gain = SoftGain(alone.score, added, parts, len(numbers), len(corpus), by_order)
        gains.append(gain if parts and added > 0 else None)
    return gains


@dataclass
class _Tally:
    """Sums of the matches of one system."""

    exact: Integers  # Of equal n-grams: (thresholds, orders)
    pairs: defaultdict[_Pair, Integers]
    """Number of matches of each pair of n-grams that differ, and their credit, at each threshold."""
