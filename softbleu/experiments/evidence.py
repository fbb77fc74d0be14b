"""What people said and what metrics said of the same systems, put side by side."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from softbleu.corpora import Segments, name_systems
from softbleu.corpora.judgements import ScoreTable, plain_names
from softbleu.errors import InputError, UnknownNameError
from softbleu.experiments.metaeval import Columns, join_assessments, join_systems
from softbleu.experiments.rankings import RankedSystem, rank_by_wins
from softbleu.experiments.skill import SkillSettings, rank_by_skill
from softbleu.scoring import Measure, make_results, read_measure, running

if TYPE_CHECKING:
    from softbleu.corpora.judgements import Assessments, Comparisons
    from softbleu.corpora.parallel import ParallelFiles
    from softbleu.scoring.run import Corpus
    from softbleu.types import Progress

ASSESSMENT = "direct assessment"


@dataclass(frozen=True)
class Sampling:
    """How intervals are made.

    Attributes
    ----------
    samples
        Of the bootstrap.
    runs
        Of TrueSkill.
    seed
        Of NumPy's generator.
    """

    samples: int = 1000
    runs: int = 100
    seed: int = 12345


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that is known of the systems; what is not is empty or None.

    Attributes
    ----------
    metrics
        Scores by metrics.
    human
        Scores of the systems by people, by the name of these scores.
    comparisons, assessments
        Judgements by people.
    rankings
        The systems as ranked by the comparisons, by the name of the way.
    """

    metrics: Sequence[ScoreTable] = ()
    human: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    comparisons: Comparisons | None = None
    assessments: Assessments | None = None
    rankings: Mapping[str, Sequence[RankedSystem]] = field(default_factory=dict)

    def of_systems(self) -> list[Columns]:
        """Join metrics with each kind of human scores of systems.

        Raises
        ------
        InputError
            There are no metrics or no such scores; see `join_systems`.
        """
        self._need_metrics()
        ranked = {by: {each.name: each.score for each in found} for by, found in self.rankings.items()}
        sides = {**self.human, **ranked}
        if not sides:
            raise InputError("there are no human scores of systems: give them, or rankings to make them from")
        return [join_systems(self.metrics, name, scores) for name, scores in sides.items()]

    def of_outputs(self) -> list[Columns]:
        """Join metrics with direct assessment of single outputs.

        Raises
        ------
        InputError
            There are no metrics or no assessments; see `join_assessments`.
        """
        self._need_metrics()
        if self.assessments is None:
            raise InputError("there is no direct assessment of single outputs: give a file of it")
        return [join_assessments(self.metrics, ASSESSMENT, self.assessments)]

    def columns(self) -> list[Columns]:
        """Join metrics with what there is: scores of systems, or else of single outputs."""
        return self.of_systems() if self.human or self.rankings or self.assessments is None else self.of_outputs()

    def _need_metrics(self) -> None:
        if not self.metrics:
            raise InputError("there is no metric: give files of scores, or settings and a corpus to score")


def rank_systems(
    comparisons: Comparisons, ways: Sequence[str], sampling: Sampling, progress: Progress | None = None
) -> dict[str, list[RankedSystem]]:
    """Rank systems in each of the named `WAYS`.

    Raises
    ------
    UnknownNameError
        There is no such way.
    """
    for way in ways:
        if way not in WAYS:
            raise UnknownNameError("way of ranking", way, WAYS)
    return {way: WAYS[way](comparisons, sampling, progress) for way in ways}


def _by_skill(comparisons: Comparisons, sampling: Sampling, progress: Progress | None) -> list[RankedSystem]:
    return rank_by_skill(comparisons, SkillSettings(runs=sampling.runs, seed=sampling.seed), progress)


WAYS: dict[str, Callable[[Comparisons, Sampling, Progress | None], list[RankedSystem]]] = {
    "expected-wins": lambda comparisons, sampling, _: rank_by_wins(comparisons, sampling.samples, sampling.seed),
    "trueskill": _by_skill,
}
"""How systems are ranked by people's comparisons."""


def score_metrics(
    corpus: Corpus, metrics: Mapping[str, Measure], *, segments: bool, jobs: int = 1
) -> tuple[list[ScoreTable], dict[str, str]]:
    """Score a corpus with several metrics.

    Parameters
    ----------
    corpus
        Of one or more systems.
    metrics
        Settings by the name of the metric.
    segments
        Whether segments are scored; else systems.
    jobs
        Processes to use.

    Returns
    -------
    A table a metric, and the signatures by the names.
    """
    tables, signatures = [], {}
    measures = [measure.resolved() for measure in metrics.values()]
    with running(corpus, measures, jobs=jobs) as runner:
        statistics = runner.collect(measures, keep_rows=segments)
    for name, each in zip(metrics, statistics, strict=True):
        results = make_results(each, "segment" if segments else "corpus")
        signatures[name] = results[0].signature
        if segments:
            parts = {each.name: np.array([part.score for part in each.segments or ()]) for each in results}
            tables.append(ScoreTable(name, {}, parts))
        else:
            tables.append(ScoreTable(name, {each.name: each.score.score for each in results}))
    return tables, signatures


def read_metrics(texts: Sequence[str]) -> dict[str, Measure]:
    """Read names and settings of metrics: a metric's name, or a signature, either after ``NAME=`` or not.

    Raises
    ------
    InputError
        No settings, or two of the same name.

    Examples
    --------
    >>> read = read_metrics(["gleu", "soft=metric:bleu|matcher:vleu|threshold:0.8"])
    >>> list(read), read["soft"].threshold
    (['gleu', 'soft'], 0.8)
    """
    found: dict[str, Measure] = {}
    for text in texts:
        name, signature = split_name(text)
        signed = ":" in signature.partition("(")[0]
        measure = Measure.from_signature(signature) if signed else read_measure(signature)
        matcher = measure.matcher
        soft = f" {matcher.name}" if matcher is not None and matcher.name != "exact" else ""
        name = name or f"{measure.metric.name}{soft}"
        if name in found:
            raise InputError(f"two metrics are called {name!r}: name one by NAME=SETTINGS")
        found[name] = measure
    return found


def split_name(text: str) -> tuple[str | None, str]:
    """Split off a name that is given before an equals sign.

    >>> split_name("GLEU=scores.tsv"), split_name("scores.tsv"), split_name("metric:bleu|vectors:a=b")
    (('GLEU', 'scores.tsv'), (None, 'scores.tsv'), (None, 'metric:bleu|vectors:a=b'))
    """
    name, equals, rest = text.partition("=")
    if not equals or not name or not rest or set(name) & set(":|/\\"):
        return None, text
    return name, rest


def name_outputs(paths: Sequence[str]) -> dict[str, str]:
    """Name systems after their files, without test set and direction where all have both.

    >>> name_outputs(["out/newstest2017.PJATK.4760.cs-en", "out/newstest2017.online-A.0.cs-en"])
    {'PJATK.4760': 'out/newstest2017.PJATK.4760.cs-en', 'online-A.0': 'out/newstest2017.online-A.0.cs-en'}
    >>> name_outputs(["out/AMU.txt"])
    {'AMU': 'out/AMU.txt'}
    """
    files = [Path(path).name for path in paths]
    plain = plain_names(files)
    named = {plain[file]: path for file, path in zip(files, paths, strict=True)}
    if len(named) == len(paths) and not set(named) & set(files):
        return named
    return name_systems(paths)


def unescaped(corpus: ParallelFiles) -> Segments:
    """Read a corpus into memory, with characters in the place of entities such as ``&apos;``."""

    def lines(texts: Iterator[Sequence[str]]) -> list[str]:
        return [html.unescape(line) for text in texts for line in text]

    blocks = [block.load() for block in corpus.blocks()]
    candidates = {name: lines(iter([block.candidates[name] for block in blocks])) for name in corpus.systems}
    references = [tuple(map(html.unescape, each)) for block in blocks for each in block.references]
    source = None if corpus.source is None else lines(iter([block.source or () for block in blocks]))
    return replace(Segments.of(candidates, references), source=source)
