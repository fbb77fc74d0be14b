"""Deserved and spurious soft credit of matchers and their variants, on aligned text.

An approximate match pairs a candidate n-gram with a reference n-gram of another spelling; its credit is its weight.
It is

- `deserved` if every token of the shorter of the two is aligned to a token inside the other, in the same order (for
  n-grams of one order: position by position),
- an `order` error if every token of the shorter one is aligned inside the other, but not in that order,
- `spurious` otherwise.

A reference n-gram that occurs several times is judged by its kindest occurrence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, cast

import numpy as np

from softbleu.corpora.corpus import Segments
from softbleu.corpora.generate import AlignedPair, GenerationSettings, check_alignment, generate, read_aligned
from softbleu.engine.plan import make_plan, requirements_of, threshold_of, with_threshold
from softbleu.engine.prepare import prepare_corpus, whole_chunk
from softbleu.engine.worker import MINI_BATCH
from softbleu.errors import InputError, Parameter, UnknownNameError, known_name
from softbleu.io.arguments import check_run, several
from softbleu.io.executors import Held, chosen_executor, hold, run_in_order
from softbleu.io.platform import single_threaded_blas
from softbleu.kernels import SCALE
from softbleu.kernels.numpy_backend import ngram_ids
from softbleu.matching.kinds import MATCH_KINDS, KindFinder
from softbleu.matching.matchers import MATCHERS, SoftMatcher
from softbleu.matching.ngrams import Chunk, WordTable, check_order
from softbleu.matching.sweep import MatchIntervals, match_intervals, sums_at_thresholds
from softbleu.meta.sweep import read_thresholds
from softbleu.metrics.base import Metric
from softbleu.metrics.protocols import matcher_of
from softbleu.metrics.reading import read_metric
from softbleu.metrics.requirements import Requirements
from softbleu.metrics.settings import DEFAULT_ENCODER
from softbleu.tables import Table, Tabular, Value
from softbleu.text.tokens import Whitespace

if TYPE_CHECKING:
    from softbleu.metrics.keywords import MatchSettings
    from softbleu.types import Cells, Flags, Integers, Keywords, Progress

GRAMMAR = "modifiers"
COUNT = 2000
PAIRINGS = ("paraphrase", "halves")
PLAIN = "plain"
VARIANTS: dict[str, dict[str, object]] = {  # Settings by the name of the variant; several are joined by `+`
    PLAIN: {},
    "optimal": {"assignment": "optimal"},
    "aligned": {"composition": "aligned"},
    "sif": {"composition": "sif"},
    "neighbours": {"neighbours": 10},
    "centred": {"vectors_postprocess": "mean,pc:2"},
    "function-words": {"function_words": "exact"},
    "context": {"vectors": DEFAULT_ENCODER},
}
COMBINATIONS = ("aligned+function-words", "aligned+function-words+optimal", "aligned+centred")
"""Combinations that are tried with the single variants."""

BINS = 50  # Of the histogram of similarities
VERDICTS = ("deserved", "order", "spurious")  # The kinder first
DESERVED, ORDER, SPURIOUS = range(len(VERDICTS))

CREDIT = ("threshold", "matches", "credit", "precision", "order_errors", "spurious", "recall", "f1")
_Cells = list[Value]


@dataclass(frozen=True)
class MatcherVariant:
    """One way to match."""

    matcher: str
    name: str
    metric: Metric  # All of it; the threshold is left open

    def make_matcher(self) -> SoftMatcher:
        """Make the matcher."""
        return cast("SoftMatcher", matcher_of(self.metric))


def find_variant(name: str) -> Keywords:
    """Find the settings of a variant, or of several joined by `+`.

    >>> find_variant("aligned+neighbours")
    {'composition': 'aligned', 'neighbours': 10}
    """
    settings: Keywords = {}
    for part in name.split("+"):
        if part not in VARIANTS:
            raise UnknownNameError("variant", part, VARIANTS)
        for setting, value in VARIANTS[part].items():
            if settings.setdefault(setting, value) != value:
                raise InputError(f"variant {name!r}: its parts want different values of {setting}")
    return settings


def make_variants(base: Mapping[str, object], matchers: Sequence[str], names: Sequence[str]) -> list[MatcherVariant]:
    """Make every variant of every matcher. InputError: a name that is not valid, or a matcher of exact matches.

    Parameters
    ----------
    base
        Settings that all variants have.
    matchers
        Names of matchers that make approximate matches.
    names
        Names of variants, see `find_variant`.

    Examples
    --------
    >>> variants = make_variants({}, ["vleu", "xleu"], ["plain", "aligned"])
    >>> [(variant.matcher, variant.make_matcher().composition) for variant in variants]
    [('vleu', 'mean'), ('vleu', 'aligned'), ('xleu', 'mean'), ('xleu', 'aligned')]
    """
    for name in matchers:
        if not issubclass(MATCHERS.find(name), SoftMatcher):
            raise InputError(f"matcher {name!r} makes no approximate matches: take sleu, vleu or xleu")
    if not matchers or not names:
        raise InputError("nothing to compare: name a matcher and a variant")
    return [
        MatcherVariant(
            matcher,
            name,
            read_metric(
                **{
                    "text": base.get("metric", "bleu"),
                    **base,
                    "matcher": matcher,
                    "threshold": 0.0,
                    **find_variant(name),
                }
            ),
        )
        for matcher in dict.fromkeys(matchers)
        for name in dict.fromkeys(names)
    ]


@dataclass(frozen=True)
class JudgedCredit:
    """Approximate matches at one threshold, of one order or of all.

    Weights are in n-grams: an exact match weighs 1.

    >>> credit = JudgedCredit(4, weight=3.0, deserved=1.5, misordered=0.5, spurious=1.0, rewarded=2, deserving=5)
    >>> credit.precision, credit.recall, round(credit.f1, 4)
    (0.5, 0.4, 0.4444)
    """

    matches: int
    weight: float
    deserved: float
    misordered: float
    spurious: float  # The weight of each class
    rewarded: int  # Candidate n-grams that deserve credit and have a deserved match
    deserving: int
    """Candidate n-grams that deserve credit: without an exact match by BLEU's counting (the leftmost occurrences
    first), and whose tokens are all aligned, in order, to adjacent tokens of the reference. It depends on the text
    only."""

    @property
    def precision(self) -> float | None:
        """Deserved share of the weight; None if there is no weight."""
        return self._share(self.deserved)

    @property
    def order_share(self) -> float | None:
        """Share of order errors in the weight."""
        return self._share(self.misordered)

    @property
    def spurious_share(self) -> float | None:
        """Spurious share of the weight."""
        return self._share(self.spurious)

    @property
    def recall(self) -> float | None:
        """Share of the deserving n-grams that have a deserved match; None if none is deserving."""
        return self.rewarded / self.deserving if self.deserving else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; 0 if both are 0."""
        precision, recall = self.precision, self.recall
        if precision is None or recall is None:
            return None
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    def _share(self, part: float) -> float | None:
        return part / self.weight if self.weight else None


class CreditTally:
    """Sums of judged matches for ascending thresholds."""

    def __init__(self, thresholds: int, max_order: int) -> None:
        self.deserving = np.zeros(max_order, np.int64)
        self._sums = np.zeros((3, thresholds, max_order, len(VERDICTS)), np.int64)
        """Matches, their weight in millionths, and rewarded n-grams: by threshold, order and class."""
        self.histogram = np.zeros((len(VERDICTS), BINS), np.int64)
        """Matches made at the lowest threshold, by class and by similarity: equal bins from 0 to 1."""
        self.kinds: Counter[tuple[str, int]] = Counter()
        """Weight of the matches at the reported threshold, in millionths, by kind and class."""
        self.spurious_words: Counter[tuple[str, str]] = Counter()
        """The same of spurious matches of words that differ in more than case."""

    def add(self, intervals: MatchIntervals, classes: Integers, rewarded: Flags) -> None:
        """Add approximate matches of these classes; `rewarded` marks the deserved ones of deserving n-grams."""
        cells = (intervals.order - 1) * len(VERDICTS) + classes
        for total, values in zip(self._sums, (np.ones(len(cells)), intervals.matched, rewarded), strict=True):
            total += sums_at_thresholds(intervals, cells, values, total.shape)
        lowest = intervals.first == 0
        bins = np.minimum(intervals.matched[lowest] * BINS // SCALE, BINS - 1)
        self.histogram += np.bincount(classes[lowest] * BINS + bins, minlength=self.histogram.size).reshape(-1, BINS)

    def merge(self, other: CreditTally) -> None:
        """Add the sums of another tally of the same thresholds and orders."""
        self.deserving += other.deserving
        self._sums += other._sums
        self.histogram += other.histogram
        self.kinds.update(other.kinds)
        self.spurious_words.update(other.spurious_words)

    def credit(self, threshold: int, order: int | None = None) -> JudgedCredit:
        """Credit at the threshold of that number, of one order or of all."""
        orders = slice(None) if order is None else slice(order - 1, order)
        counts, weights, rewarded = self._sums[:, threshold, orders].sum(axis=1).tolist()
        deserved, misordered, spurious = (weights[kind] / SCALE for kind in (DESERVED, ORDER, SPURIOUS))
        deserving = int(self.deserving[orders].sum())
        weight = sum(weights) / SCALE
        return JudgedCredit(sum(counts), weight, deserved, misordered, spurious, sum(rewarded), deserving)


class Judge:
    """Judge of the matches in a chunk whose segments have one reference each.

    `aligned` has for each candidate token the place of the token of its reference that it is aligned to, from 0, or
    -1; each place at most once.
    """

    def __init__(self, chunk: Chunk, aligned: Integers, max_order: int) -> None:
        split, segment = chunk.positions.split, chunk.positions.segment
        matched = np.flatnonzero(aligned >= 0)
        other = chunk.reference_positions[segment[matched]] + aligned[matched]
        # The position to which each position is aligned; the additional last one stands for all beyond the end.
        self._link = np.full(len(chunk.positions.codes) + 1, -1)
        self._link[matched] = other
        self._link[other] = matched
        self._occurrences = [_Occurrences(*ngrams, split) for ngrams in ngram_ids(chunk.positions, max_order)]
        self._exact = [(ngrams.starts, ngrams.exact) for ngrams in chunk.ngrams(max_order)]

    def classes(self, intervals: MatchIntervals) -> Integers:
        """Class of each match: an index of `VERDICTS`."""
        kindest = np.full(len(intervals.order), SPURIOUS)
        for order in np.unique(intervals.partner_orders).tolist():
            chosen = np.flatnonzero(intervals.partner_orders == order)
            match, partner = self._occurrences[order - 1].of(intervals.partner_starts[chosen])
            match = chosen[match]
            classes = self._judge(
                intervals.starts[match], intervals.order[match], partner, np.full(len(match), order)
            )
            np.minimum.at(kindest, match, classes)
        return kindest

    def deserving(self) -> list[Integers]:
        """Return the starts of the candidate n-grams that deserve credit, by order; see `JudgedCredit`."""
        starts_by_order = []
        for order, (starts, exact) in enumerate(self._exact, start=1):
            link = self._link[starts]
            adjacent = ~exact & (link >= 0)
            for index in range(1, order):
                adjacent &= self._link[starts + index] == link + index
            starts_by_order.append(starts[adjacent])
        return starts_by_order

    def _judge(self, left: Integers, left_order: Integers, right: Integers, right_order: Integers) -> Integers:
        """Judge n-grams by where they start and their orders."""
        swap = left_order > right_order
        start, other = np.where(swap, right, left), np.where(swap, left, right)
        length, width = np.minimum(left_order, right_order), np.maximum(left_order, right_order)
        inside, ordered = np.ones(len(left), bool), np.ones(len(left), bool)
        before = np.full(len(left), -1)
        for index in range(int(length.max(initial=0))):
            beyond = index >= length
            link = self._link[np.minimum(start + index, len(self._link) - 1)]
            inside &= beyond | ((link >= other) & (link < other + width))
            ordered &= beyond | (link > before)
            before = link
        return np.where(inside, np.where(ordered, DESERVED, ORDER), SPURIOUS)


class _Occurrences:
    """Occurrences of the n-grams of one order in the references."""

    def __init__(self, starts: Integers, cells: Integers, split: int) -> None:
        cut = int(np.searchsorted(starts, split))
        self._starts, self._cells = starts[cut:], cells[cut:]
        ranked = np.argsort(self._cells, kind="stable")
        self._by_cell, self._sorted_cells = self._starts[ranked], self._cells[ranked]

    def of(self, starts: Integers) -> tuple[Integers, Integers]:
        """All occurrences of the n-grams that start there: number of the n-gram, position."""
        cells = self._cells[np.searchsorted(self._starts, starts)]
        low = np.searchsorted(self._sorted_cells, cells)
        many = np.searchsorted(self._sorted_cells, cells, side="right") - low
        number = np.repeat(np.arange(len(starts)), many)
        index = np.arange(len(number)) - np.repeat(np.cumsum(many) - many, many)
        return number, self._by_cell[low[number] + index]


@dataclass(frozen=True)
class Analysis:
    """The approximate matches of one variant in a text."""

    variant: MatcherVariant
    thresholds: tuple[float, ...]  # Ascending
    at: int  # Number of the threshold that is reported
    tally: CreditTally  # Its credit by threshold and order
    vectors: str  # Name and content of the vectors' set

    @property
    def name(self) -> str:
        """Name of the variant."""
        return f"{self.variant.matcher}, {self.variant.name}"

    @property
    def curve(self) -> list[JudgedCredit]:
        """Credit at every threshold."""
        return [self.tally.credit(number) for number in range(len(self.thresholds))]

    def best(self) -> int | None:
        """Find the threshold that separates best: its number, of greatest F1, the highest of equals.

        None if F1 is not defined at any.
        """
        scores = [credit.f1 for credit in self.curve]
        known = [score for score in scores if score is not None]
        return None if not known else max(number for number, score in enumerate(scores) if score == max(known))

    def at_recall(self, recall: float) -> int | None:
        """Find the highest threshold with at least that recall: its number, or None."""
        recalls = enumerate(credit.recall for credit in self.curve)
        return max((number for number, known in recalls if known is not None and known >= recall), default=None)

    @property
    def example(self) -> tuple[str, str] | None:
        """The words that earn most spurious credit at the reported threshold; None if none does."""
        words = self.tally.spurious_words
        return min(words, key=lambda pair: (-words[pair], pair), default=None)

    @property
    def is_empty(self) -> bool:
        """Whether no threshold has an approximate match."""
        return not any(credit.matches for credit in self.curve)


def credit_table(name: str, analyses: Sequence[Analysis], facts: dict[str, str] | None = None) -> Table:
    """Make the table of `CREDIT_TABLES` with that name, of some analyses; `facts` hold for all rows.

    - `summary`: every variant at the given threshold, at the one of its best F1, and at the highest with the recall
      that the plain matcher has at the given one;
    - `thresholds`: every variant at every threshold;
    - `orders`: every variant at the given threshold, order by order;
    - `kinds`: the same by how the words of the matches differ, as in `softbleu.soft_credit`.
    """
    columns, rows_of = CREDIT_TABLES[known_name("table", name, CREDIT_TABLES)]
    rows = [
        [analysis.variant.matcher, analysis.variant.name, *row]
        for analysis in analyses
        for row in rows_of(analysis, analyses)
    ]
    empty = [analysis.name for analysis in analyses if analysis.is_empty]
    said = {"without approximate matches": "; ".join(empty)} if empty else {}
    return Table(["matcher", "variant", *columns], rows, {**(facts or {}), **said})


def _credit(threshold: float, credit: JudgedCredit) -> list[Value]:
    shares = (credit.precision, credit.order_share, credit.spurious_share, credit.recall, credit.f1)
    return [threshold, credit.matches, credit.weight, *(None if share is None else 100 * share for share in shares)]


def _summary(analysis: Analysis, analyses: Sequence[Analysis]) -> Iterator[_Cells]:
    by_name = {(other.variant.matcher, other.variant.name): other for other in analyses}
    plain = by_name.get((analysis.variant.matcher, PLAIN))
    recall = plain.tally.credit(plain.at).recall if plain else None
    thresholds = {
        "given": analysis.at,
        "best F1": analysis.best(),
        "recall of plain": None if recall is None else analysis.at_recall(recall),
    }
    for at, number in thresholds.items():
        if number is not None:
            yield [at, *_credit(analysis.thresholds[number], analysis.tally.credit(number))]


def _thresholds(analysis: Analysis, analyses: Sequence[Analysis]) -> Iterator[_Cells]:
    for threshold, credit in zip(analysis.thresholds, analysis.curve, strict=True):
        yield _credit(threshold, credit)


def _kinds(analysis: Analysis, analyses: Sequence[Analysis]) -> Iterator[_Cells]:
    weights = analysis.tally.kinds
    whole = sum(weights.values())
    for kind in MATCH_KINDS:
        parts = [weights[kind, verdict] for verdict in range(len(VERDICTS))]
        if weight := sum(parts):
            yield [kind, weight / SCALE, 100 * weight / whole, *(100 * part / weight for part in parts)]


def _orders(analysis: Analysis, analyses: Sequence[Analysis]) -> Iterator[_Cells]:
    for order in range(1, len(analysis.tally.deserving) + 1):
        yield [order, *_credit(analysis.thresholds[analysis.at], analysis.tally.credit(analysis.at, order))]


# Columns after matcher and variant, and the rows of one analysis, from it and all analyses
CREDIT_TABLES: dict[str, tuple[Sequence[str], Callable[[Analysis, Sequence[Analysis]], Iterator[_Cells]]]] = {
    "summary": (("at", *CREDIT), _summary),
    "thresholds": (CREDIT, _thresholds),
    "orders": (("order", *CREDIT), _orders),
    "kinds": (("kind", "credit", "share", "precision", "order_errors", "spurious"), _kinds),
}


@dataclass(frozen=True, eq=False, repr=False)
class SpuriousCredit(Tabular):
    """Analyses of a text, one for each matcher and variant."""

    analyses: list[Analysis]
    facts: dict[str, str]

    def records(self) -> list[Cells]:
        """Rows of the summary."""
        return self.table().records()

    def described(self) -> dict[str, str]:
        """Describe the text, and name the vectors."""
        return self.facts

    def table(self, name: str = "summary") -> Table:
        """Make a table of `CREDIT_TABLES`; see `credit_table`."""
        return credit_table(name, self.analyses, self.facts)


def spurious(
    *,
    grammar: str | None = None,
    pairing: str | None = None,
    count: int | None = None,
    seed: int | None = None,
    pairs: str | Sequence[AlignedPair] | None = None,
    encoding: str = "utf-8",
    matchers: Sequence[str] = ("vleu", "xleu"),
    variants: Sequence[str] = (PLAIN,),
    thresholds: Sequence[float | str] = ("0:0.95:0.05",),
    at: float = 0.8,
    order: int = 4,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **settings: Unpack[MatchSettings],
) -> SpuriousCredit:
    """Separate deserved from spurious credit, for each matcher, variant and threshold.

    Parameters
    ----------
    grammar
        Grammar that generates aligned pairs.
    pairing
        `paraphrase` or `halves`.
    count
        Number of pairs.
    seed
        Seed of the draws.
    pairs
        Aligned pairs, or a file of them.
    matchers
        Matchers, each with every variant.
    variants
        Names of settings that reduce spurious matches, such as `aligned`.
    thresholds
        Numbers, ranges such as ``0:1:0.02`` and quantiles such as ``p99.9``.
    at
        Threshold that is reported.
    order
        Greatest n-gram order.
    jobs
        Number of processes; the digits do not depend on it.
    executor
        An executor to use instead.
    settings
        Settings of the matchers and the vectors.
    encoding
        Encoding of the files.
    progress
        True for a progress bar, or a function of the pairs that are done and of all.

    Raises
    ------
    InputError, VectorError
        Not exactly one text, or an unknown or invalid setting.

    Examples
    --------
    >>> credit = spurious(grammar="alternations", count=20, matchers=["vleu"])
    >>> credit.facts["text"], credit.table("orders").columns[:4]
    ('alternations, paraphrase, seed 0', ['matcher', 'variant', 'order', 'threshold'])
    """
    check_run(jobs, executor, progress)
    made = make_variants({**settings, "order": order}, several(matchers), several(variants))
    grid = read_thresholds([f"{threshold}" for threshold in several(thresholds)])
    text, facts = _read_text(pairs, encoding, grammar=grammar, pairing=pairing, count=count, seed=seed)
    analyses = find_spurious(text, made, grid, at=at, order=order, jobs=jobs, executor=executor, progress=progress)
    return SpuriousCredit(analyses, {**facts, "vectors": analyses[0].vectors})


@dataclass(frozen=True)
class MatchedText:
    """Text of one system, and the gold alignments of its candidates to their references; `of_pairs` makes it."""

    corpus: Segments
    aligned: Integers
    """Number of the reference token to which each candidate token is aligned, or -1."""

    @classmethod
    def of_pairs(cls, pairs: Iterable[AlignedPair]) -> MatchedText:
        """Read aligned pairs. Raises InputError for none, or for an invalid pair."""
        candidates, references, aligned = [], [], []
        for number, pair in enumerate(pairs, start=1):
            candidates.append(" ".join(pair.candidate))
            references.append(" ".join(pair.reference))
            if (candidates[-1].split(), references[-1].split()) != (list(pair.candidate), list(pair.reference)):
                raise InputError(f"pair {number} has a token with a blank in it, or an empty one")
            places = np.full(len(pair.candidate), -1)
            for left, right in check_alignment(f"pair {number}", pair.candidate, pair.reference, pair.alignment):
                places[left] = right
            aligned.append(places)
        if not candidates:
            raise InputError("no aligned pairs: nothing to analyse")
        return cls(Segments.of(candidates, references), np.concatenate(aligned))


def _read_text(
    pairs: str | Iterable[AlignedPair] | None, encoding: str, **generated: Any
) -> tuple[MatchedText, dict[str, str]]:
    """Read aligned pairs from a file, use given pairs, or generate them by a grammar; also return a description.

    `generated` has fields of `GenerationSettings`; None: the default, which is all pairs for halves.
    """
    chosen = {name: value for name, value in generated.items() if value is not None}
    if pairs is None:
        pairing = known_name("pairing", chosen.get("pairing", "paraphrase"), PAIRINGS)
        usual = {"grammar": GRAMMAR, "pairing": pairing, "count": COUNT if pairing == "paraphrase" else None}
        settings = GenerationSettings(encoding=encoding, **{**usual, **chosen})
        text = MatchedText.of_pairs(generate(settings).pairs())
        said = f"{settings.grammar}, {settings.pairing}, seed {settings.seed}"
    elif chosen:
        raise InputError("one text at a time: ", Parameter("pairs"), ", or a ", Parameter("grammar"))
    else:
        said = pairs if isinstance(pairs, str) else "aligned pairs"
        text = MatchedText.of_pairs(read_aligned(pairs, encoding) if isinstance(pairs, str) else pairs)
    return text, {"text": said, "pairs": f"{len(text.corpus):,}"}


def find_spurious(
    text: MatchedText,
    variants: Sequence[MatcherVariant],
    thresholds: Sequence[float | str],
    *,
    at: float = 0.8,
    order: int = 4,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[Analysis]:
    """Match aligned text by several variants, and judge approximate matches at all thresholds at once.

    Quantiles become thresholds of each variant. The coded text and the vectors of its words are held in memory.

    Parameters
    ----------
    text
        Text of one system, aligned to its reference.
    variants
        Ways to match it.
    thresholds
        Numbers from 0 to 1, and quantiles such as `p99.9`.
    at
        Threshold that is reported.
    order
        Greatest n-gram order.
    jobs, executor
        Number of processes, or an executor to use instead; the digits do not depend on them.
    progress
        Called with the work that is done.

    Examples
    --------
    >>> from softbleu.corpora.generate import AlignedPair
    >>> from softbleu.meta.spurious import make_variants
    >>> pair = AlignedPair(("small", "dog"), ("little", "cat"), ((0, 0),), "related")
    >>> vectors = {"small": [1.0, 0.1], "little": [1.0, 0.2], "dog": [0.1, 1.0], "cat": [0.2, 1.0]}
    >>> variants = make_variants({"vectors": vectors}, ["vleu"], ["plain"])
    >>> credit = find_spurious(MatchedText.of_pairs([pair]), variants, [0.5])[0].curve[0]
    >>> credit.matches, round(credit.deserved, 2), round(credit.spurious, 2), credit.recall
    (3, 1.0, 2.0, 1.0)
    """
    check_order(order)
    plan = make_plan([variant.metric for variant in variants])
    if plan.context:
        raise InputError("spurious matches are looked for in single lines: leave out ", Parameter("context"))
    grids = _read_grids(variants, [at, *thresholds])
    written = any(requirements_of(metric).written for metric in plan.metrics)
    prepared = prepare_corpus(text.corpus, Whitespace(), Requirements(written=written))
    chunk = whole_chunk(prepared)
    needed = Requirements(vectors=True, frequency=True)
    tables = [prepared.table(metric.vector_choice, needed) for metric in plan.metrics]
    analyses = [
        Analysis(variant, grid, grid.index(float(at)), CreditTally(len(grid), order), table.identity)
        for variant, grid, table in zip(variants, grids, tables, strict=True)
    ]
    starts = range(0, len(chunk), MINI_BATCH)
    with ExitStack() as stack:
        stack.enter_context(single_threaded_blas())
        workers = stack.enter_context(chosen_executor(executor, jobs, len(starts)))
        distinct = {id(table): table.words for table in tables}
        held = {key: stack.enter_context(hold(words, workers)) for key, words in distinct.items()}
        tasks = [
            _Task(analysis.variant.make_matcher(), held[id(table)], analysis.thresholds, analysis.at)
            for analysis, table in zip(analyses, tables, strict=True)
        ]
        ends = [min(start + MINI_BATCH, len(chunk)) for start in starts]
        offsets = chunk.candidates.offsets
        batches = (
            (chunk.part(start, end), text.aligned[offsets[start] : offsets[end]])
            for start, end in zip(starts, ends, strict=True)
        )
        match = partial(_match, tasks, order, prepared.words, KindFinder(prepared.words))
        for end, results in zip(ends, run_in_order(match, batches, workers), strict=True):
            for analysis, tally in zip(analyses, results, strict=True):
                analysis.tally.merge(tally)
            if progress is not None:
                progress(end, len(chunk))
    return analyses


def _read_grids(variants: Sequence[MatcherVariant], thresholds: Sequence[float | str]) -> list[tuple[float, ...]]:
    """Thresholds of each variant, ascending."""
    asked = [with_threshold(variant.metric, threshold) for variant in variants for threshold in thresholds]
    known = iter([float(threshold_of(metric) or 0.0) for metric in make_plan(asked).metrics])
    return [tuple(sorted({*islice(known, len(thresholds))})) for _ in variants]


class _Task(NamedTuple):
    """Settings with which a worker matches."""

    matcher: SoftMatcher
    table: Held[WordTable]
    thresholds: tuple[float, ...]
    at: int  # Number of the threshold that is reported


def _match(
    tasks: Sequence[_Task],
    max_order: int,
    forms: Sequence[str],
    finder: KindFinder,
    batch: tuple[Chunk, Integers],
) -> list[CreditTally]:
    """Match a mini-batch in every way; `forms` has the word of each code."""
    chunk, aligned = batch
    judge = Judge(chunk, aligned, max_order)
    deserving = judge.deserving()
    tallies = []
    for task in tasks:
        tally = CreditTally(len(task.thresholds), max_order)
        intervals = match_intervals(task.matcher, task.thresholds, chunk, task.table.value().vectors, max_order)
        intervals = intervals.chosen(intervals.differ(chunk) & (intervals.matched > 0))
        classes = judge.classes(intervals)
        # Which matches reward a deserving n-gram.
        rewarded = np.zeros(len(intervals.order), bool)
        for order, starts in enumerate(deserving, start=1):
            tally.deserving[order - 1] += len(starts)
            rewarded |= (classes == DESERVED) & (intervals.order == order) & np.isin(intervals.starts, starts)
        tally.add(intervals, classes, rewarded)
        made = (intervals.first <= task.at) & (task.at < intervals.end)
        codes = chunk.positions.codes
        sides = intervals.chosen(made).pairs(codes)
        weights = zip(sides, classes[made].tolist(), intervals.matched[made].tolist(), strict=True)
        for (one, other), verdict, weight in weights:
            words, met = ([forms[code] for code in side] for side in (one, other))
            kind = finder.kind(words, met)
            tally.kinds[kind, verdict] += weight
            if verdict == SPURIOUS and len(words) == len(met) == 1 and kind != "case":
                tally.spurious_words[words[0], met[0]] += weight
        tallies.append(tally)
    return tallies
