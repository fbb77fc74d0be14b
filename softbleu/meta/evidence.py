"""Evidence about metrics: judgements and scores of the same systems, side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from softbleu.corpora.judgements import Assessments, Comparisons, ScoreTable, drawn_with
from softbleu.corpora.labels import Documents
from softbleu.errors import InputError, Parameter, UnknownNameError, known_name
from softbleu.io.arguments import several
from softbleu.meta.agreement import JudgedPoints, Marks, join_assessments, join_systems
from softbleu.meta.measures import FEWEST_POINTS
from softbleu.meta.rankings import RankedSystem, play_matches, rank_by_skill, rank_by_wins, win_shares
from softbleu.metrics.result import Result
from softbleu.resample import check_samples
from softbleu.tables import Value
from softbleu.types import Progress

ASSESSMENT = "direct assessment"
EXCHANGED = ("outputs", "segments")
"""Units of permutations: two metrics' scores of single outputs are exchanged, as by WMT, or of whole segments."""
BY_OUTPUT = ("outputs", "preferences", "accuracy", "differences", "metrics", "metric-pairs")
"""Questions that need scores of segments."""
OF_SYSTEMS = ("systems", "left-out", "windows")  # Questions that need human scores of systems

RANKED = ("ranking", "systems", "williams", "left-out", "windows", "accuracy", "metrics", "metric-pairs")
"""Questions that need a ranking."""


@dataclass(frozen=True)
class IntervalSettings:
    """Settings of intervals and tests."""

    samples: int = 1000  # Bootstrap samples
    runs: int = 100  # Runs of TrueSkill
    seed: int = 12345
    against: str | None = None  # Metric that the others are tested against; None: all pairs
    window: int = 4  # Systems in a window
    tasks: Sequence[str] = ()  # Measures by which metrics are ranked, see `softbleu.meta.campaign.TASK_MEASURES`
    weights: Sequence[str] | Mapping[str, float] = ()  # Weights of tasks by measure or set, also as ``NAME=WEIGHT``
    exchange: str = "outputs"  # What permutations exchange, one of `EXCHANGED`

    def __post_init__(self) -> None:
        # Without samples there are no intervals.
        check_samples(self.samples or 1, self.seed)
        check_samples(self.runs, self.seed)
        known_name("exchange", self.exchange, EXCHANGED)
        for name in ("tasks", "weights"):
            object.__setattr__(self, name, several(getattr(self, name)))

    def facts(self) -> dict[str, Value]:
        """Return the number of samples and their seed."""
        return {"samples": self.samples, "seed": self.seed}


@dataclass(frozen=True, eq=False)
class Evidence:
    """Scores of metrics and human judgements; None or empty if missing."""

    metrics: Sequence[ScoreTable] = ()
    human: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Human scores of the systems, by the name of these scores."""
    comparisons: Comparisons | None = None
    assessments: Assessments | None = None
    rankings: Mapping[str, Sequence[RankedSystem]] = field(default_factory=dict)
    """Systems ranked by the comparisons, by the name of the way."""
    marks: Marks | None = None  # Spans, if the question is about these
    computed: Mapping[str, Result] = field(default_factory=dict)  # First result of each computed metric
    notes: Sequence[str] = ()  # Notes of reading and scoring
    facts: Mapping[str, Value] = field(default_factory=dict)  # Facts that hold for every answer
    direction: str = ""  # Direction of translation, if it is known
    progress: Progress | None = None  # Called with the steps of an answer that are done and all

    @property
    def of_judges(self) -> list[tuple[str, Comparisons | Assessments]]:
        """Judgements of single outputs by name."""
        sides = (("rankings", self.comparisons), (ASSESSMENT, self.assessments))
        return [(human, judged) for human, judged in sides if judged is not None]

    @property
    def scored(self) -> set[str]:
        """Systems of which a metric scored the segments."""
        return {name for table in self.metrics for name in table.segments}

    def asks_of_outputs(self, question: str) -> bool:
        """Whether a question is about single outputs, and needs scores of segments."""
        unranked = self.assessments is not None and not (self.human or self.comparisons)
        return question in BY_OUTPUT or (question == "williams" and unranked)

    def turned(self, names: Collection[str]) -> Evidence:
        """Negate the human scores of these names. Raises UnknownNameError for names of no scores at all."""
        assessed = [ASSESSMENT] * (self.assessments is not None)
        known = [*self.human, *assessed, *(table.name for table in self.metrics)]
        if unknown := [name for name in names if name not in known]:
            raise UnknownNameError("scores", unknown[0], known)
        human = {
            by: {name: -score if by in names else score for name, score in scores.items()}
            for by, scores in self.human.items()
        }
        assessments = self.assessments
        if assessments is not None and ASSESSMENT in names:
            assessments = replace(assessments, scores=-assessments.scores)
        return replace(self, human=human, assessments=assessments)

    def by_document(self, documents: Documents | None, *, whole: bool) -> Evidence:
        """Let samples draw the documents of segments; `whole` documents replace segments by their means.

        Raises InputError without judgements of single outputs, or for whole documents without assessments.
        """
        comparisons, assessments = self.comparisons, self.assessments
        if documents is not None and not self.of_judges:
            said = " are of segments, but no segment is judged: give "
            raise InputError(Parameter("documents"), said, Parameter("rankings"), " or ", Parameter("assessments"))
        if whole and (documents is None or assessments is None):
            said = "to judge whole documents, name these and human scores of their segments: give "
            raise InputError(said, Parameter("documents"), " and ", Parameter("assessments"))
        if documents is None:
            return self
        numbers = documents.numbers
        if comparisons is not None:
            drawn = drawn_with(comparisons.segment, numbers)
            comparisons = replace(comparisons, cluster=drawn, documents=numbers)
        if assessments is not None:
            assessments = assessments.of_documents(numbers) if whole else replace(assessments, documents=numbers)
        metrics = [table.of_documents(numbers) for table in self.metrics] if whole else self.metrics
        return replace(self, metrics=metrics, comparisons=comparisons, assessments=assessments)

    def with_means(self, question: str) -> tuple[Evidence, list[str]]:
        """Use means of assessed outputs as human scores of systems, if a question needs these and has none.

        Also return a note.
        """
        if question not in OF_SYSTEMS or self.assessments is None or self.human or self.comparisons is not None:
            return self, []
        means, same = self.assessments.of_systems()
        on = "" if same else ", which are not the same segments for every system"
        return replace(self, human={ASSESSMENT: means}), [
            f"human scores of systems are means of assessed outputs{on}"
        ]

    def of_systems(self, fewest: int = FEWEST_POINTS) -> list[JudgedPoints]:
        """Join metrics with each kind of human scores of systems. Raises InputError for too few."""
        metrics = self.need_metrics()
        ranked = {by: {system.name: system.score for system in ranks} for by, ranks in self.rankings.items()}
        sides = {**self.human, **ranked}
        if not sides:
            needed = (Parameter("human"), " or ", Parameter("rankings"))
            raise InputError("no human scores of systems: give them with ", *needed)
        return [join_systems(metrics, name, scores, fewest) for name, scores in sides.items()]

    def of_outputs(self) -> list[JudgedPoints]:
        """Join metrics with direct assessment of single outputs. Raises InputError if either is missing."""
        metrics = self.need_metrics()
        if self.assessments is None:
            raise InputError(
                "no direct assessment of single outputs: give a file of it with ", Parameter("assessments")
            )
        return [join_assessments(metrics, ASSESSMENT, self.assessments)]

    def need_metrics(self) -> Sequence[ScoreTable]:
        """Return the metrics. Raises InputError without metrics."""
        if not self.metrics:
            raise InputError("no metric: give files of scores, or metrics and a corpus to score")
        return self.metrics

    def need_comparisons(self) -> Comparisons:
        """Return the comparisons. Raises InputError without comparisons."""
        if self.comparisons is None:
            raise InputError("no comparisons by judges: give them with ", Parameter("rankings"))
        return self.comparisons


# Ways to rank systems by judges' comparisons
WAYS: dict[str, Callable[[Comparisons, IntervalSettings, Progress | None], list[RankedSystem]]] = {
    "expected-wins": lambda comparisons, settings, _: rank_by_wins(comparisons, settings.samples, settings.seed),
    "trueskill": lambda comparisons, settings, progress: rank_by_skill(
        comparisons, settings.runs, settings.seed, progress
    ),
}


def aggregate_scores(
    table: ScoreTable, way: str, settings: IntervalSettings, progress: Progress | None = None
) -> ScoreTable:
    """Score a metric's systems by the pairwise wins of their segments, as for judges (Goto et al. 2025).

    Raises InputError if the table has no segments of two systems.

    Parameters
    ----------
    table
        Scores of segments by a metric.
    way
        One of `WAYS`.
    settings
        Runs of TrueSkill and their seed.
    progress
        Called with the number of matches that are played.

    Examples
    --------
    >>> table = ScoreTable("m", {}, {"A": np.array([3.0, 2.0, 1.0]), "B": np.array([2.0, 1.0, 24.0])})
    >>> aggregate_scores(table, "expected-wins", IntervalSettings()).systems
    {'A': 0.6666666666666666, 'B': 0.3333333333333333}
    """
    compared = Comparisons.of_scores(table.need_segments("to aggregate wins, "), table.name)
    if not len(compared):
        raise InputError(f"{table.name} scored no segment of two systems: there are no wins to aggregate")
    if known_name("way of ranking", way, WAYS) == "trueskill":
        scores = play_matches(compared, settings.runs, settings.seed, progress).mean(axis=0)
    else:
        scores = win_shares(compared.tallies().astype(np.float64))
    return replace(table, systems=dict(zip(compared.systems, scores.tolist(), strict=True)))
