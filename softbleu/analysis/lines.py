"""The lines that matter: the worst, those in which systems differ, those about which metrics disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.errors import InputError, UnknownNameError
from softbleu.io.tabular import Tabular
from softbleu.results.api import GivenMetrics, make_metrics
from softbleu.results.explain import pick_segments
from softbleu.results.significance import segment_numbers

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from softbleu.corpora.corpus import Corpus
    from softbleu.types import Floats, Progress

LineKind = Literal["worst", "different", "disagreeing"]


@dataclass(frozen=True)
class ChosenLine:
    """A segment of one system, or of two that differ."""

    segment: int  # From 1
    systems: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]  # Of each system, one a metric
    by: float
    """What it was chosen by: the score; the second system's less the first's; or how much higher the second metric
    ranks the candidate among all than the first, from -1 to 1."""
    candidates: tuple[str, ...]
    references: tuple[str, ...]
    source: str | None


class ChosenLines(list[ChosenLine], Tabular):
    """Lines, those that matter most first: a list that can be looked at as a table."""

    def __init__(self, lines: Sequence[ChosenLine], kind: LineKind, metrics: Sequence[str]) -> None:
        super().__init__(lines)
        self.kind: LineKind = kind
        self.metrics = list(metrics)

    def records(self) -> list[dict[str, Any]]:
        """A row a line."""
        rows = []
        for line in self:
            row: dict[str, Any] = {"segment": line.segment, self.kind: line.by}
            for number, system in enumerate(line.systems, start=1):
                mark = f"_{number}" if len(line.systems) > 1 else ""
                row |= {f"system{mark}": system}
                row |= {
                    f"{metric}{mark}": score
                    for metric, score in zip(self.metrics, line.scores[number - 1], strict=True)
                }
                row |= {f"candidate{mark}": line.candidates[number - 1]}
            row["reference"] = " ||| ".join(line.references)
            rows.append(row if line.source is None else {**row, "source": line.source})
        return rows


def choose_lines(
    corpus: Corpus,
    metrics: GivenMetrics = "bleu",
    kind: LineKind = "different",
    *,
    top: int = 20,
    baseline: str | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> ChosenLines:
    """Choose lines by the scores of the segments, as level `segment` has them.

    Parameters
    ----------
    kind
        `worst`: the worst scores by the first metric. `different`: where another system's score is furthest from the
        baseline's. `disagreeing`: where two metrics differ most about the rank of a candidate among all candidates,
        as what is softly right and exactly wrong.
    top
        How many.
    baseline
        The first system unless named.

    Raises
    ------
    InputError, VectorError
        What cannot be scored, or too few systems or metrics.

    Examples
    --------
    >>> from softbleu.corpora import Segments
    >>> corpus = Segments.of({"A": ["a cat", "x y"], "B": ["a dog", "x y"]}, ["a cat", "x y"])
    >>> [(line.segment, round(line.by)) for line in choose_lines(corpus, "chrf", top=1)]
    [(1, -94)]
    """
    scorers = make_metrics(metrics)
    baseline = corpus.systems[0] if baseline is None else baseline
    _check(corpus, kind, len(scorers), top, baseline)
    statistics = collect_statistics(corpus, scorers, RunOptions(jobs, executor, progress=progress), keep_rows=True)
    scores = np.stack([segment_numbers(each) for each in statistics], axis=-1)
    upward = np.array([1 if each.metric.higher_is_better else -1 for each in statistics])
    place = corpus.systems.index(baseline)
    if kind == "different":
        values = scores[:, :, 0] - scores[place, :, 0]
        keys = -np.abs(values)
        keys[place] = np.inf
    elif kind == "worst":
        values = scores[:, :, 0]
        keys = values * upward[0]
    else:
        one, other = (_ranks(scores[:, :, number] * upward[number]) for number in (0, 1))
        values = other - one
        keys = -np.abs(values)
    order = [number for number in np.argsort(keys, axis=None, kind="stable")[:top] if np.isfinite(keys.flat[number])]
    chosen = [divmod(int(number), len(corpus)) for number in order]
    texts = pick_segments(corpus, [segment + 1 for _, segment in chosen])
    lines = []
    for at, (system, segment) in enumerate(chosen):
        shown = (place, system) if kind == "different" else (system,)
        lines.append(
            ChosenLine(
                segment + 1,
                tuple(corpus.systems[number] for number in shown),
                tuple(tuple(scores[number, segment].tolist()) for number in shown),
                float(values[system, segment]),
                tuple(texts.candidates[corpus.systems[number]][at] for number in shown),
                tuple(texts.references[at]),
                None if texts.source is None else texts.source[at],
            )
        )
    return ChosenLines(lines, kind, [str(each.metric) for each in statistics])


def _check(corpus: Corpus, kind: str, metrics: int, top: int, baseline: str) -> None:
    if kind not in get_args(LineKind):
        raise UnknownNameError("kind of lines", kind, get_args(LineKind))
    if baseline not in corpus.systems:
        raise UnknownNameError("system", baseline, corpus.systems)
    if top < 1:
        raise InputError(f"at least one line must be asked for, not {top}")
    if kind == "different" and len(corpus.systems) < 2:
        raise InputError("one system has nothing to differ from: name two or more")
    if kind == "disagreeing" and metrics != 2:
        raise InputError(f"two metrics disagree: name two, not {metrics}, such as bleu and vleu")


def _ranks(values: Floats) -> Floats:
    """Rank of each value among all, from 0, the least, to 1; equal values share their mean rank."""
    from scipy.stats import rankdata

    ranks: Floats = (rankdata(values, axis=None).reshape(values.shape) - 1) / max(values.size - 1, 1)
    return ranks
