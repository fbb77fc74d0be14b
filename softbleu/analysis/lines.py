"""Lines chosen for a reader: the worst, the ones whose scores differ most, and the ones that metrics disagree on."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from softbleu.analysis.corrections import By, find_corrections
from softbleu.corpora.corpus import Corpus, pick_segments
from softbleu.engine.plan import GivenMetrics, make_plan
from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.errors import InputError, UnknownNameError
from softbleu.metrics.edits import JudgedEdits
from softbleu.metrics.protocols import ShowsEdits
from softbleu.results.slices import segment_numbers
from softbleu.tables import ResultList

if TYPE_CHECKING:
    from softbleu.types import Cells, Floats, Progress

_VERDICTS = ("hit", "wrong", "missed", "over")
LineKind = Literal["worst", "different", "disagreeing"]


@dataclass(frozen=True)
class ChosenLine:
    """A segment of one system, or of two that differ."""

    segment: int  # From 1
    systems: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]  # Of each system, one a metric
    by: float
    """Reason of the choice: the score; the second system's minus the first's; or how much higher the second metric
    ranks the candidate among all than the first, from -1 to 1."""
    candidates: tuple[str, ...]
    references: tuple[str, ...]
    source: str | None
    kinds: tuple[str, ...] = ()
    """Edits of each system by verdict and kind, if asked for; see `choose_lines`."""
    kind: LineKind = "different"  # Reason of the choice
    metrics: tuple[str, ...] = ()  # Whose scores the systems have

    def records(self) -> list[Cells]:
        """A row for the line."""
        row: Cells = {"segment": self.segment, self.kind: self.by}
        for number, system in enumerate(self.systems):
            mark = f"_{number + 1}" if len(self.systems) > 1 else ""
            scores = dict(zip(self.metrics, self.scores[number], strict=True))
            told = {"system": system, **scores, "candidate": self.candidates[number]}
            told |= {"edits": self.kinds[number]} if self.kinds else {}
            row |= {f"{name}{mark}": value for name, value in told.items()}
        row["reference"] = " ||| ".join(self.references)
        return [row if self.source is None else {**row, "source": self.source}]


def choose_lines(
    corpus: Corpus,
    metrics: GivenMetrics = "bleu",
    kind: LineKind = "different",
    *,
    top: int = 20,
    baseline: str | None = None,
    by: By | None = None,
    language: str | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> ResultList[ChosenLine]:
    """Choose lines by the scores of segments.

    Parameters
    ----------
    corpus
        Outputs of one system or more; `different` needs two.
    metrics
        Metrics whose segment scores decide; `disagreeing` takes two.
    kind
        `worst`: the worst scores by the first metric. `different`: where another system's score is furthest from the
        baseline's. `disagreeing`: where two metrics differ most about the rank of a candidate among all candidates.
    top
        Number of lines.
    baseline
        Name of the baseline (default: the first system).
    by
        List the edits of each line that are hits, wrong, missed or over, by their kinds as in `correction_kinds`, and
        as judged by the first metric that judges edits.
    language
        Code of the language of the stems for kinds by form.
    jobs, executor, progress
        As for `softbleu.score_corpus`.

    Raises
    ------
    InputError, VectorError
        Text that cannot be scored, or too few systems or metrics.

    Examples
    --------
    >>> from softbleu.corpora import Segments
    >>> corpus = Segments.of({"A": ["a cat", "x y"], "B": ["a dog", "x y"]}, ["a cat", "x y"])
    >>> [(line.segment, round(line.by)) for line in choose_lines(corpus, "chrf", top=1)]
    [(1, -94)]
    """
    plan = make_plan(metrics)
    baseline = corpus.systems[0] if baseline is None else baseline
    _check(corpus, kind, len(plan.metrics), top, baseline)
    judging = next((metric for metric in plan.metrics if isinstance(metric, ShowsEdits)), plan.metrics[0])
    judged = None if by is None else find_corrections(corpus, replace(plan, metrics=(judging,)), by, language)
    statistics = collect_statistics(corpus, plan, RunOptions(jobs, executor, progress=progress), keep_rows=True)
    scores = np.stack([segment_numbers(scored) for scored in statistics], axis=-1)
    upward = np.array([1 if scored.metric.higher_is_better else -1 for scored in statistics])
    index = corpus.systems.index(baseline)
    if kind == "different":
        values = scores[:, :, 0] - scores[index, :, 0]
        keys = -np.abs(values)
        keys[index] = np.inf
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
    lines, named = ResultList[ChosenLine](), tuple(str(scored.metric) for scored in statistics)
    for at, (system, segment) in enumerate(chosen):
        shown = (index, system) if kind == "different" else (system,)
        lines.append(
            ChosenLine(
                segment + 1,
                tuple(corpus.systems[number] for number in shown),
                tuple(tuple(scores[number, segment].tolist()) for number in shown),
                float(values[system, segment]),
                tuple(texts.candidates[corpus.systems[number]][at] for number in shown),
                tuple(texts.references[at]),
                None if texts.source is None else texts.source[at],
                () if judged is None else tuple(_edit_kinds(judged[number][segment]) for number in shown),
                kind,
                named,
            )
        )
    return lines


def _edit_kinds(line: JudgedEdits) -> str:
    """Count the edits of a line by verdict and kind: `hit R:VERB; over R:NOUN ×2`."""
    edits = [*line.edits, *(edit for edit in line.gold if edit.verdict == "missed")]
    counts = Counter((_VERDICTS.index(edit.verdict), edit.kind) for edit in edits)
    said = {verdict: list[str]() for verdict in _VERDICTS}
    for (verdict, kind), count in sorted(counts.items()):
        said[_VERDICTS[verdict]].append(f"{kind} ×{count}" if count > 1 else kind)
    return "; ".join(f"{verdict} {', '.join(kinds)}" for verdict, kinds in said.items() if kinds) or "no edits"


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

    ranked = rankdata(values, axis=None, nan_policy="omit").reshape(values.shape)
    ranks: Floats = (ranked - 1) / max(np.isfinite(values).sum() - 1, 1)
    return ranks
