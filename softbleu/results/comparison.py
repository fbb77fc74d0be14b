"""One comparison: metric × system × slice, with intervals, ranks, differences and tests, by families of slices."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.config.earlier import warn_renamed
from softbleu.errors import InputError, Parameter, UnknownNameError
from softbleu.io.platform import cached_property, single_threaded_blas
from softbleu.io.progress import note_wait
from softbleu.resample import (
    ALIKE,
    TOGETHER,
    DrawnSums,
    bootstrap_p_values,
    correct,
    ends,
    exchanged_sums,
    rank_ranges,
    resampled_sums,
)
from softbleu.results.significance import SignificanceSettings
from softbleu.tables import Table, TableColumn, Tabular, decimals_of, is_significant

if TYPE_CHECKING:
    from softbleu.types import Cells, Fields, Floats, Integers, Keywords, Progress

_SCORED_TOGETHER = 8192  # Sums that are scored in one call: few enough for the cache
_MANY = 100_000_000  # Trials times pairs that take some ten seconds
_BOOTSTRAP = Parameter("test", "bootstrap")
_LEAST, _LEAST_APART = 10, 20
"""Units that a part of the corpus needs for an interval of its score or contribution, and of a difference. Fewer give
intervals that have the true value in 80% of samples, or less."""
_LEAST_TESTED = 10  # Units that must differ for a test: after Holm, fewer seldom give p < 0.05
_BASELINE = re.compile(r"\|test-baseline:[^|]*")  # In a signature
_OF_ONE = ("score", "mean", "lower", "upper", "rank", "best_rank", "worst_rank", "coverage", "gated", "outputs")
_BESIDE = (
    *("other", "difference", "difference_lower", "difference_upper", "p_value", "corrected"),
    *("effect", "wins", "ties", "losses", "floor", "contribution", "contribution_lower", "contribution_upper"),
)
SCORES = {name: name for name in ("system", "score", "lower", "upper", "p_value", "rank", "best_rank", "worst_rank")}
SCORES |= {name: name for name in _BESIDE[1:10]}
_NAMES = {"name": "system", "f": "score"}  # Second names of keys


class ComparedRow(dict[str, Any]):
    """A system by a metric in a slice, beside the baseline; or a pair of systems. Keys can be read as attributes.

    The keys are `metric` (an expression), `label`, the keys of the slice (as `fraction` or `kind`), `system`,
    `score`, `mean` (of the bootstrap scores), `lower` and `upper` (ends of the 95% interval), `rank`, `best_rank` and
    `worst_rank` (in 95% of the samples), and, None for the baseline: `other`, `difference` (the score less that of
    the other), `difference_lower`, `difference_upper`, `p_value` (two-sided), `corrected` (for all tests of its
    kind),
    `floor` (the least p-value before correction that the draws allow; None where lines are too few to test),
    `effect` (the mean difference of the segments' scores over their standard deviation, Cohen's d of paired values; 0
    if all are equal), `wins` (segments that score better than the other's), `ties`, `losses`, and `contribution` with
    its ends: the points that a kind of edits adds to the difference of all. Pairs have no scores.
    """

    def __getattr__(self, name: str) -> Any:
        if name == "score" and "kind" in self:
            warn_renamed("score of a row of kinds, which has the counts,", 'the row itself, and row["score"] its F')
            return self
        try:
            return self[_NAMES.get(name, name)]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def interval(self) -> Any:
        """Ends of the 95% interval, for a pair that of the difference; None if it has no interval."""
        name = "" if "score" in self else "difference_"
        ends = self[f"{name}lower"], self[f"{name}upper"]
        return None if ends[0] is None else ends

    @property
    def contribution_interval(self) -> Any:
        """Ends of the 95% interval of the contribution."""
        return (
            None if self["contribution_lower"] is None else (self["contribution_lower"], self["contribution_upper"])
        )

    @property
    def ranks(self) -> Any:
        """Best and worst rank in 95% of the samples."""
        return self["best_rank"], self["worst_rank"]

    @property
    def beside(self) -> ComparedRow | None:
        """The pair of the system and the other, corrected as here; None for the baseline itself."""
        if self["other"] is None:
            return None
        own = {key: value for key, value in self.items() if key not in _OF_ONE}
        return ComparedRow({**own, **{key.removesuffix("_difference"): value for key, value in own.items()}})

    def turned(self) -> ComparedRow:
        """The other of a pair beside this one."""
        low, high = self["difference_lower"], self["difference_upper"]
        named = {"system": self["other"], "other": self["system"], "wins": self["losses"], "losses": self["wins"]}
        apart = {"difference": -self["difference"], "difference_lower": -high, "difference_upper": -low}
        return ComparedRow({**self, **named, **apart, "effect": -self["effect"]})


@dataclass(frozen=True, eq=False)
class SliceFamily:
    """All systems by one metric, in slices that are drawn together: kinds of edits, or the one slice of all."""

    name: str  # The metric, as an expression
    label: str  # What people call the score
    systems: Sequence[str]
    baseline: str
    how: SignificanceSettings  # With the numbers of samples and trials that are drawn
    sums: DrawnSums | Any  # None of results, which keep no statistics
    score: Callable[[Floats], Floats] | Any  # Of sums, such as (draws, k): (draws, slices)
    observed: Floats  # (systems, slices)
    size: int  # Segments
    slices: Sequence[Fields] = ({},)  # What names each slice in a row: {"fraction": 0.25}, {"kind": "R:DET"}
    counted: Integers | None = None  # Segments that are drawn; None: all
    segments: Callable[[], Floats] | None = None  # Scores of segments, (systems, segments), for effects and wins
    higher: bool = True
    in_percent: bool = True  # Whether scores are known to be on a scale to 100
    is_mean: bool = False  # Whether the score is the first sum over the second
    adds: Callable[[Floats, Floats], Floats] | None = None
    """Points of the difference of the first slice (all) that slices add, by sums of systems and of the baseline."""
    units: Callable[[Sequence[int]], Integers] | None = None
    """Count segments, or documents, in which some systems have something to score; for slices that may have few."""
    differing: Callable[[int, int], Integers] | None = None  # Segments, or documents, in which two systems differ
    facts: Sequence[Sequence[Fields]] = ()  # More cells, by system and slice
    signatures: tuple[str, str] = ("", "")  # The long and the short one
    columns: int = 1  # Numbers of the sums of all systems: the more, the fewer samples at a time

    @property
    def base(self) -> int:
        """Place of the baseline. Raises `UnknownNameError`: no system has its name."""
        if self.baseline not in self.systems:
            raise UnknownNameError("system", self.baseline, self.systems)
        return [*self.systems].index(self.baseline)

    @property
    def best(self) -> int:
        """Place of the system with the best score, whatever their order: of equal ones the first by name."""
        sign = -1 if self.higher else 1
        return min(range(len(self.systems)), key=lambda place: (sign * self.observed[place, 0], self.systems[place]))

    @property
    def untested(self) -> str:
        """Reason why nothing is tested; empty where lines suffice, and for slices, which have a rule of their own."""
        return "" if self.units else self.how.few_lines(self.size)

    def named(self, system: int, k: int) -> Cells:
        """Name the metric, a slice and a system."""
        return {"metric": self.name, "label": self.label, **self.slices[k], "system": self.systems[system]}

    def without_sums(self) -> SliceFamily:
        """Keep the fields that a result needs."""
        return replace(
            self, sums=None, score=None, counted=None, segments=None, adds=None, units=None, differing=None
        )

    @property
    def documents(self) -> Integers | None:
        """The document of each segment, where documents are drawn."""
        return None if self.how.documents is None else self.how.documents.fitting(self.size)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Tabular, Sequence["Comparison"]):
    """Rows of a comparison, one per metric, slice and system; by place, the part of each metric."""

    rows: list[ComparedRow]
    pairs: list[ComparedRow]
    """The pairs that were tested, corrected among themselves: all pairs of systems in the order given, the later of
    two first, or every system beside the baseline (see `SignificanceSettings.all_pairs`)."""
    families: Sequence[SliceFamily]
    drawn: Sequence[Floats]  # The bootstrap scores of each family, (systems, slices, samples)
    columns: Mapping[str, str]  # Keys of rows by the names that they have in data frames
    facts: Fields | None = None  # Facts about all rows; None: the metric, the baseline and the signature
    notes: tuple[str, ...] = ()  # Notes of the call on its texts and settings, which it also gave as warnings
    best: Sequence[ComparedRow] = ()
    """Each system beside the best one of the metric, where three systems or more have no baseline that was named,
    corrected among themselves."""
    verdict: str = ""  # The finding in a sentence, which the table begins with

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[number] for number in range(len(self))[place]]
        return self._only(lambda row: row["metric"] == self._names[place])

    def by_family(self) -> list[Comparison]:
        """Return the part of each family: of each metric, and of slices that are drawn apart."""
        found = ({"metric": family.name, **family.slices[0]}.items() for family in self.families)
        return [self._only(partial(lambda own, row: own <= row.items(), own)) for own in found]

    def _only(self, chosen: Callable[[Fields], bool]) -> Comparison:
        rows, pairs, best = ([row for row in table if chosen(row)] for table in (self.rows, self.pairs, self.best))
        both = zip(self.families, self.drawn, strict=True)
        own = [(each, drawn) for each, drawn in both if chosen(each.named(0, 0))]
        columns = {name: key for name, key in self.columns.items() if name != "metric"}
        families, drawn = zip(*own, strict=True)
        own_rows: Keywords = {"rows": rows, "pairs": pairs, "best": best, "facts": None, "verdict": ""}
        return replace(self, families=families, drawn=drawn, columns=columns, **own_rows)

    def beside_best(self) -> Comparison:
        """Return the comparison beside the best system of each metric, or as it is where a baseline was named."""
        if not self.best:
            return self
        keys = "metric", "moment", "system"
        beside = {tuple(map(row.get, keys)): row for row in self.best}
        rows = [
            ComparedRow({**row, **dict.fromkeys(_BESIDE), **beside.get(tuple(map(row.get, keys)), {"base": "best"})})
            for row in self.rows
        ]
        families = []
        for family in self.families:
            long, short = (_BASELINE.sub("", signature) for signature in family.signatures)
            families.append(replace(family, baseline=family.systems[family.best], signatures=(long, short)))
        return replace(self, rows=rows, families=families)

    @cached_property
    def _names(self) -> list[str]:
        return list(dict.fromkeys(family.name for family in self.families))

    @property
    def comparisons(self) -> list[ComparedRow]:
        """The rows."""
        return self.rows

    @property
    def baseline(self) -> str:
        """Name of the system beside which others are shown."""
        return self.families[0].baseline

    @property
    def metric(self) -> str:
        """The metric, as an expression."""
        return self.families[0].name

    @property
    def label(self) -> str:
        """Name of the score."""
        return self.families[0].label

    @property
    def signature(self) -> str:
        """Signature of the scores and the tests."""
        return self.families[0].signatures[0]

    @property
    def short_signature(self) -> str:
        """Signature without settings at their defaults."""
        return self.families[0].signatures[1]

    @property
    def higher_is_better(self) -> bool:
        """Whether greater is better."""
        return self.families[0].higher

    @property
    def in_percent(self) -> bool:
        """Whether scores are known to be on a scale to 100."""
        return self.families[0].in_percent

    @property
    def significance(self) -> SignificanceSettings:
        """Settings of the tests, with the numbers of samples and trials that were drawn."""
        return self.families[0].how

    @property
    def resampled(self) -> Floats:
        """The bootstrap scores, (systems, samples), in the order of rows where slices are drawn apart."""
        return np.concatenate([drawn[:, 0] for drawn in self.drawn])

    @property
    def tests(self) -> int:
        """Number of tests that are corrected together; that of all kinds of edits is not one of them."""
        tested = (row for row in self.rows if row["p_value"] is not None and row.get("kind") != "all")
        return max(Counter(row.get("moment") for row in tested).values(), default=0)

    @property
    def untested(self) -> str:
        """Reason why no system was tested beside another; empty where lines suffice."""
        few = any(row["other"] is not None and row["floor"] is None for row in self.rows)
        return self.significance.few_lines(self.families[0].size) if few else ""

    def pair(self, name: str, other: str) -> ComparedRow:
        """Find the pair of two systems, `name` and `other`, either way round.

        Raises `UnknownNameError`: no system of that name, or twice the same; `InputError`: they were not tested.
        """
        if (name, other) in self._by_names:
            return self._by_names[name, other]
        if (other, name) in self._by_names:
            return self._by_names[other, name].turned()
        names = [system for family in self.families for system in family.systems if system != name]
        if name != other and other in names and any(name in family.systems for family in self.families):
            raise InputError(f"{name} and {other} were not tested: of so many systems set all_pairs=True")
        raise UnknownNameError("system", other if other not in names else name, names)

    def worse(self, margin: float | None = None) -> list[ComparedRow]:
        """Find systems that are significantly worse than the baseline: corrected p below .05.

        With a `margin`, those that are not shown to be worse by that much at most (non-inferiority): the end of the
        95% interval of their difference lies further on the worse side. The margin is in units of the score.
        """
        found = []
        for row in self.rows:
            sign = next(1 if family.higher else -1 for family in self.families if family.name == row["metric"])
            if margin is None:
                found += [row] * (is_significant(row) and sign * row["difference"] < 0)
            elif row["other"] is not None:
                end = row["difference_lower" if sign > 0 else "difference_upper"]
                found += [row] * (end is None or sign * end < -margin)
        return found

    @cached_property
    def _by_names(self) -> dict[tuple[str, str], ComparedRow]:
        return {(pair["system"], pair["other"]): pair for pair in self.pairs}

    def records(self) -> list[Cells]:
        """A row per metric, slice and system."""
        return [{name: row[key] for name, key in self.columns.items()} for row in self.rows]

    def described(self) -> Fields:
        """The baseline, and signatures."""
        own = {"metric": self.metric, "baseline": self.baseline, "signature": self.short_signature}
        return own if self.facts is None else self.facts

    def as_table(self) -> Table:
        """Make the table, below the verdict; the best score of each metric and slice stands out."""
        lower = {family.name: None if family.higher else "lower" for family in self.families}
        digits = {
            one.metric: decimals_of([row["score"] for row in one.rows], in_percent=one.in_percent) for one in self
        }
        slices = "metric", *self.families[0].slices[0]
        rows = [
            {**row, **record, "better": lower[row["metric"]]}
            for row, record in zip(self.rows, self.records(), strict=True)
        ]
        made = Table.of(
            rows,
            lead=self.verdict,
            shown=[TableColumn(name, better=name == "score") for name in self.columns],
            digits=lambda row: digits[row["metric"]],
            group=lambda row: tuple(row[name] for name in slices),
        )
        return made.with_facts_below(self.described())


@single_threaded_blas()
def compare_slices(
    families: Iterable[SliceFamily],
    *,
    all_pairs: bool = False,
    with_best: bool = False,
    together: Callable[[ComparedRow], Hashable] = lambda row: row["metric"],
    columns: Mapping[str, str] = SCORES,
    progress: Progress | None = None,
) -> Comparison:
    """Give every system of families an interval, a rank and its range, and test it against the baseline.

    Parameters
    ----------
    families
        Families to compare: one for each metric, and for slices that are drawn apart.
    all_pairs
        Test all pairs of systems.
    with_best
        Test the best system of each family beside all others, too.
    together
        Names the rows whose p-values are corrected together.
    columns
        Keys of rows by the names that they have in data frames.
    progress
        Called with the number of samples and trials done and of all.

    Raises
    ------
    InputError, UnknownNameError
        Too few segments have a score, the metric has no such test, or no system has the baseline's name.
    """
    rows, pairs, best, kept = list[ComparedRow](), list[ComparedRow](), list[ComparedRow](), list[SliceFamily]()
    resampled = []
    for family in families:
        base, systems = family.base, range(len(family.systems))
        beside = [(one, base) for one in systems if one != base]
        tested = [(one, other) for one in systems for other in range(one)] if all_pairs else beside
        if all_pairs and len(tested) * family.how.drawn() > _MANY:
            said = f"each in {family.how.drawn():,} draws; fewer take less time"
            note_wait(f"{len(tested):,} pairs of systems are tested, {said}")
        # Nothing that would be drawn of parts with so few units is shown.
        small = family.adds is None and family.units is not None and max(family.units([*systems])) < _LEAST
        shape = len(systems), len(family.slices), family.how.samples or 0
        drawn, added = (np.full(shape, np.nan), None) if small else bootstrap_scores(family, progress)
        missing = np.isnan(family.observed).any(axis=1) | np.isnan(drawn).any(axis=(1, 2))
        if family.units is None and missing.any():
            name = family.systems[int(missing.argmax())]
            raise InputError(f"{family.label}: too few segments of {name} have a score for intervals and tests")
        p_values = np.full((shape[0], *shape[:2]), np.nan)
        if not small and not family.untested:
            baselines = [*systems] if all_pairs else [*{base, family.best if with_best else base}]
            p_values = _p_values(family, drawn, baselines, progress)
        segments = None if family.segments is None else family.segments()
        differ = partial(_beside, family, segments, drawn, p_values)
        rows += _rows(family, differ, drawn, added)
        pairs += [
            ComparedRow(family.named(one, k), **differ(one, other, k))
            for one, other in tested
            for k in range(len(family.slices))
        ]
        if with_best:
            best += [
                ComparedRow(family.named(s, 0), **differ(s, family.best, 0)) for s in systems if s != family.best
            ]
        resampled.append(drawn)
        kept.append(family.without_sums())
    for table in (rows, pairs, best):
        _correct_together(table, together, kept[0].how)
    return Comparison(rows, pairs, kept, resampled, columns, best=best)


def _correct_together(
    rows: Iterable[ComparedRow], together: Callable[[ComparedRow], Hashable], how: SignificanceSettings
) -> None:
    """Write the corrected p-values into the rows that were tested."""
    groups: dict[Hashable, list[ComparedRow]] = {}
    for row in rows:
        if row["p_value"] is not None:
            groups.setdefault(together(row), []).append(row)
    for group in groups.values():
        corrected = correct([row["p_value"] for row in group], how.correction)
        for row, value in zip(group, corrected, strict=True):
            row["corrected"] = value


def bootstrap_scores(family: SliceFamily, progress: Progress | None = None) -> tuple[Floats, Floats | None]:
    """Score resampled corpora, the same draws for every system; and compute the contributions of slices.

    Both have shape (systems, slices, samples). `progress` is called with the samples done and all.
    """
    samples = family.how.samples or 0
    shape = len(family.systems), len(family.slices), samples
    scores, added = np.empty(shape), np.empty(shape) if family.adds else None
    drawn = family.size, samples, family.how.seed, family.documents, family.counted, family.columns
    for start, stop, sums in resampled_sums(family.sums, *drawn):
        for system, of_system in enumerate(sums):
            scores[system, :, start:stop] = family.score(of_system).T
        if family.adds is not None and added is not None:
            added[:, 1:, start:stop] = np.moveaxis(family.adds(sums, sums[[family.base]]), 1, -1)
        if progress is not None:
            progress(stop, samples)
    if added is not None:
        added[:, 0] = scores[:, 0] - scores[family.base, 0]
    return scores, added


def _p_values(family: SliceFamily, drawn: Floats, baselines: Sequence[int], progress: Progress | None) -> Floats:
    """Two-sided p-values of systems beside baselines: (systems, systems, slices); NaN where nothing is tested."""
    observed, as_sacrebleu = family.observed, family.how.compatible == "sacrebleu"
    if family.how.test == "randomization":
        p_values = approximate_randomization(family, baselines, progress)
    else:
        p_values = np.full((len(drawn), *observed.shape), np.nan)
        for base in baselines:
            apart, known = observed - observed[base], ~np.isnan(observed - observed[base])
            samples = (drawn - drawn[base])[known]
            p_values[base, known] = bootstrap_p_values(samples, apart[known], as_sacrebleu=as_sacrebleu)
            p_values[:, base] = p_values[base]
    p_values[np.isnan(observed - observed[:, None])] = np.nan
    if family.differing is not None:
        for base in baselines:
            for system in range(len(drawn)):
                few = family.differing(system, base) < _LEAST_TESTED
                p_values[system, base, few] = p_values[base, system, few] = np.nan
    return p_values


def approximate_randomization(
    family: SliceFamily, baselines: Sequence[int] | None = None, progress: Progress | None = None
) -> Floats:
    """Two-sided p-values of the differences of systems by approximate randomisation: (systems, systems, slices).

    In each trial the outputs of two systems are exchanged in about half of the segments, or documents, the same for
    all pairs; p is the share of trials whose difference is as great as the observed one or greater, one added above
    and below; 1 where no difference was observed. As with sacrebleu's ``--paired-ar``, greater ones alone count where
    the settings are compatible with it. Pairs without any of the `baselines` have NaN. Where a slice has no score
    after the exchange, that counts as one that exceeds.

    Raises `InputError` for a metric whose parts do not add up.
    """
    if not getattr(family.sums, "adds_up", True):
        raise InputError(f"{family.label} has no test by randomisation, as parts do not add up: give ", _BOOTSTRAP)
    systems, trials = len(family.systems), family.how.trials or 0
    pairs = _pairs_with(range(systems) if baselines is None else baselines, systems, len(family.slices))
    exceeding = np.full((systems, *family.observed.shape), np.nan)
    for one, others in pairs:
        exceeding[one, others] = 0
    margin = 1e-12 if family.how.compatible == "sacrebleu" else -ALIKE
    for done, *sums in exchanged_sums(family.sums, family.size, trials, family.how.seed, family.documents):
        # Columns first: metrics take whole columns at a time.
        part, whole = (np.ascontiguousarray(np.moveaxis(sides, -1, 0)) for sides in sums)
        left, scores = whole - part, family.score(np.moveaxis(whole, 0, -1))
        means = ((left[0] - part[0]) / whole[1])[..., None] if family.is_mean else None
        for one, others in pairs:
            if means is None:
                exchanged = family.score(np.moveaxis(left[:, [one]] + part[:, others], 0, -1))
                exchanged -= family.score(np.moveaxis(left[:, others] + part[:, [one]], 0, -1))
            else:
                exchanged = means[one] - means[others]
            within = np.abs(exchanged) <= np.abs(scores[one] - scores[others]) + margin
            exceeding[one, others] += (~within).sum(axis=1)
        if progress is not None:
            progress(done, trials)
    exceeding = np.fmax(exceeding, exceeding.swapaxes(0, 1))
    return np.where(family.observed == family.observed[:, None], 1.0, (exceeding + 1) / (trials + 1))


def _pairs_with(baselines: Sequence[int], systems: int, slices: int) -> list[tuple[int, slice]]:
    """Each baseline with all systems, some of them at a time; where all are baselines, with the systems behind it."""
    together = max(1, _SCORED_TOGETHER // TOGETHER // slices)
    return [
        (one, slice(first, min(first + together, systems)))
        for one in baselines
        for first in range(one + 1 if len(baselines) == systems else 0, systems, together)
    ]


def _rows(
    family: SliceFamily, differ: Callable[[int, int, int], Fields], drawn: Floats, added: Floats | None
) -> Iterator[ComparedRow]:
    """Yield a row per slice and system."""
    sign, base = 1 if family.higher else -1, family.base
    upward = sign * family.observed
    if family.adds is not None:
        whole = family.sums.plain(0, 1)
        shares = family.adds(whole, whole[[base]])[:, 0]
        shares = np.concatenate([shares.sum(axis=1, keepdims=True), shares], axis=1)
    for k in range(len(family.slices)):
        best, worst = rank_ranges(sign * drawn[:, k].T)
        for s in range(len(drawn)):
            low, high = _ends(family, drawn[s, k], (s,), k)
            score, mean = _known(family.observed[s, k]), float(drawn[s, k].mean())
            row = ComparedRow(family.named(s, k), score=score, mean=mean, lower=low, upper=high)
            row |= {"rank": None if score is None else 1 + int((upward[:, k] > upward[s, k]).sum())}
            row |= {"best_rank": int(best[s]), "worst_rank": int(worst[s]), **dict.fromkeys(_BESIDE)}
            row |= dict.fromkeys(("mean", "best_rank", "worst_rank")) if low is None else {}
            if s != base:
                row |= differ(s, base, k)
                if added is not None:
                    low, high = _ends(family, added[s, k], (s, base), k)
                    row |= {"contribution": float(shares[s, k])}
                    row |= {"contribution_lower": low, "contribution_upper": high}
            row |= family.facts[s][k] if family.facts else {}
            yield row


def _beside(
    family: SliceFamily, segments: Floats | None, drawn: Floats, p_values: Floats, one: int, other: int, k: int
) -> Cells:
    """Compare a system with another in a slice; nothing is corrected yet."""
    low, high = _ends(family, drawn[one, k] - drawn[other, k], (one, other), k, _LEAST_APART)
    row: Cells = dict.fromkeys(_BESIDE)
    row |= {
        "other": family.systems[other],
        "difference": _known(family.observed[one, k] - family.observed[other, k]),
        "difference_lower": low,
        "difference_upper": high,
        "p_value": _known(p_values[one, other, k]),
        "floor": None if family.untested else family.how.floor,
    }
    if segments is None:
        return row
    apart = segments[one] - segments[other]
    apart = apart[~np.isnan(apart)]
    spread = float(apart.std(ddof=1)) if len(apart) > 1 else 0.0
    better, worse = (int((sign * apart > ALIKE).sum()) for sign in ((1, -1) if family.higher else (-1, 1)))
    row["effect"] = float(apart.mean()) / spread if spread > ALIKE else 0.0
    return row | {"wins": better, "ties": len(apart) - better - worse, "losses": worse}


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _ends(
    family: SliceFamily, drawn: Floats, systems: Sequence[int], k: int, least: int = _LEAST
) -> tuple[float | None, float | None]:
    """Ends of the 95% interval of drawn values; None for fewer than `least` units, or where nothing varies."""
    if family.units is not None:
        drawn = drawn[~np.isnan(drawn)]
        if family.units(systems)[k] < least or not drawn.size or not np.ptp(drawn):
            return None, None
    low, high = ends(drawn)
    return float(low), float(high)
