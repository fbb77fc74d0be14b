"""Scores of systems by direction and metric: one table, with a macro average."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain

from softbleu.corpora.corpus import Against, Corpus, ParallelFiles, compared_with
from softbleu.corpora.directions import Direction
from softbleu.engine.plan import Plan, make_plan
from softbleu.errors import InputError, Parameter
from softbleu.io.progress import note, notes_about
from softbleu.metrics.reading import fit_metric
from softbleu.metrics.result import Result
from softbleu.metrics.scores import corpus_of, read_outside
from softbleu.results.api import score_corpus
from softbleu.tables import Tabular
from softbleu.types import Cells, Fields, Keywords, Progress

MACRO = "macro"
ScoreDirection = Callable[[Direction, Corpus, Plan], Sequence[Result]]


@dataclass(frozen=True)
class DirectionTable(Tabular):
    """Scores of systems in several directions, by several metrics."""

    directions: tuple[str, ...]
    results: Mapping[str, Mapping[str, Mapping[str, Result]]]  # By the name of the metric, direction and system

    @property
    def systems(self) -> list[str]:
        """Names of the systems, sorted by the macro average of the first metric; systems without one are last."""
        first = next(iter(self.results))
        names = dict.fromkeys(name for by_direction in self.results[first].values() for name in by_direction)
        down = -1 if self.higher(first) else 1
        scores = {name: self.macro(first, name) for name in names}
        return sorted(names, key=lambda name: (scores[name] is None, down * (scores[name] or 0.0)))

    def higher(self, metric: str) -> bool:
        """Whether greater is better."""
        return self._any(metric).higher_is_better

    def in_percent(self, metric: str) -> bool:
        """Whether scores are on a scale to 100."""
        return self._any(metric).in_percent

    def _any(self, metric: str) -> Result:
        return next(result for one in self.results[metric].values() for result in one.values())

    def score(self, metric: str, direction: str, system: str) -> float | None:
        """Return the score of a system in a direction; None if it has none."""
        result = self.results[metric].get(direction, {}).get(system)
        return None if result is None else result.score

    def averaged(self, metric: str) -> str:
        """Describe which directions and systems the macro average is over."""
        names, there = self.common(metric), self.results[metric]
        every = {*chain(*there.values())}
        if all(self.macro(metric, system) is None for system in self.systems):
            return "none, no direction has all systems, and no system all directions"
        shared = all(there.get(name, {}).keys() == every for name in names)
        return f"mean over {', '.join(names)}" + ", of systems that have all" * (not shared)

    def common(self, metric: str) -> tuple[str, ...]:
        """Return the directions that all systems have, or else all directions."""
        by_direction = self.results[metric]
        every = {name for systems in by_direction.values() for name in systems}
        shared = tuple(name for name in self.directions if by_direction.get(name, {}).keys() == every)
        return shared or self.directions

    def macro(self, metric: str, system: str) -> float | None:
        """Return the mean over the `common` directions; None if the system lacks one of them."""
        scores = [self.score(metric, direction, system) for direction in self.common(metric)]
        known = [score for score in scores if score is not None]
        return sum(known) / len(known) if len(known) == len(scores) else None

    def records(self) -> list[Cells]:
        """Return a row per system, metric and direction, and one for each macro average."""
        return [
            {"system": system, "metric": metric, "direction": direction, "score": score}
            for metric in self.results
            for system in self.systems
            for direction, score in self.scores(metric, system)
            if score is not None
        ]

    def scores(self, metric: str, system: str) -> list[tuple[str, float | None]]:
        """Return the scores of a system by direction, and the macro average."""
        listed = [(direction, self.score(metric, direction, system)) for direction in self.directions]
        return [*listed, (MACRO, self.macro(metric, system))]

    def described(self) -> Fields:
        """Signatures by metric and direction."""
        return {
            f"{metric} {direction}": next(iter(systems.values())).signature
            for metric, by_direction in self.results.items()
            for direction, systems in by_direction.items()
        }


def score_directions(
    directions: Sequence[Direction],
    metrics: Sequence[str] = (),
    scores: Sequence[str] = (),
    lower: Sequence[str] = (),
    *,
    against: Against = "references",
    language: str | None = None,
    encoding: str = "utf-8",
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    score: ScoreDirection | None = None,
) -> DirectionTable:
    """Score all systems in all directions, by computed metrics and by scores of other programs.

    Parameters
    ----------
    directions
        Directions as from `softbleu.corpora.directions.read_directions`.
    metrics
        Metrics to compute, as expressions; the target language of each direction chooses their defaults.
    scores
        Files of scores; ``{direction}`` in a file name is replaced by the name of the direction. Rows of other
        directions (column `lp`) are skipped.
    lower
        Metrics of `scores` for which lower is better.
    against
        Compare outputs with `references` or with the `source`.
    language
        Code of the language of all outputs; None: the target language of each direction.
    encoding
        Encoding of the files.
    jobs, executor
        Number of processes, or an executor to use instead.
    progress
        Called with the number of directions that are done.
    score
        Scores a direction in the place of `softbleu.score_corpus`, for example to write a page of it.

    Raises
    ------
    InputError
        Nothing to score, or an invalid file.
    """
    results: dict[str, dict[str, dict[str, Result]]] = {}
    _note_unnamed(directions, language)
    for number, direction in enumerate(directions, start=1):
        with _planned(direction, metrics, scores, lower, against, language, encoding) as (corpus, plan):
            scored = (
                score_corpus(corpus, plan, jobs=jobs, executor=executor)
                if score is None
                else score(direction, corpus, plan)
            )
        for result in scored:
            results.setdefault(result.label, {}).setdefault(direction.name, {})[result.name] = result
        if progress is not None:
            progress(number, len(directions))
    return DirectionTable(tuple(direction.name for direction in directions), results)


@contextmanager
def _planned(
    direction: Direction,
    metrics: Sequence[str],
    scores: Sequence[str],
    lower: Sequence[str],
    against: Against,
    language: str | None,
    encoding: str,
) -> Iterator[tuple[Corpus, Plan]]:
    """Open the texts of a direction and plan its metrics."""
    files = [*direction.scores, *(file.replace("{direction}", direction.name) for file in scores)]
    spoken = language or direction.language
    named: Keywords = {"language": spoken} if spoken else {}
    computed = [fit_metric(metric, named) for metric in metrics or ([] if files else ["bleu"])]
    outside = read_outside(files, (), encoding, direction.name)
    known = {metric.called for metric in outside}
    outside = [replace(metric, lower=True) if metric.called in lower else metric for metric in outside]
    if unknown := [name for name in lower if name not in known]:
        raise InputError(f"{direction.name}: there are no scores called {unknown[0]!r}")
    labels = Counter(metric.called or metric.label for metric in (*computed, *outside))
    computed = [
        metric if labels[metric.called or metric.label] == 1 else replace(metric, called=text)
        for metric, text in zip(computed, metrics or ["bleu"], strict=False)
    ]
    plan = make_plan([*computed, *outside])
    if not direction.candidates or (not computed and not direction.references):
        yield corpus_of(plan.metrics), plan
        return
    if not (direction.source if against == "source" else direction.references or direction.source):
        kind = "source" if against == "source" else "reference"
        where = f"put a file whose name begins with {kind!r} beside system-outputs, or name it in a TOML file"
        raise InputError(f"{direction.name}: no {kind}: {where}")
    texts = direction.candidates, direction.references, direction.source
    with notes_about(direction.name), ParallelFiles.open(*texts, encoding=encoding) as corpus:
        yield compared_with(corpus, against), plan


def _note_unnamed(directions: Sequence[Direction], language: str | None) -> None:
    """Print a note about directions of texts without a language."""
    unnamed = [one.name for one in directions if one.candidates and language is None and one.language is None]
    if unnamed:
        note(
            f"no language in the name of {', '.join(unnamed)}; using the language-independent defaults: write names "
            "such as en-cs, or name it (",
            Parameter("language"),
            ")",
        )
