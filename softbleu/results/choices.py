"""Choice among several outputs of each segment: by minimum Bayes risk, by references, or by given scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from math import fsum
from numbers import Real
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

import numpy as np

from softbleu.corpora.records import TextList
from softbleu.engine.plan import GivenMetric, Plan, make_plan
from softbleu.errors import InputError, counted, known_name
from softbleu.results.api import score
from softbleu.results.pairs import score_pairs
from softbleu.tables import Tabular

if TYPE_CHECKING:
    from softbleu.types import Cells, Floats, Progress

ChoiceRule = Literal["risk", "references", "scores"]
CandidateList = TextList | Sequence[str]
_Value = TypeVar("_Value")


@dataclass(frozen=True, eq=False, repr=False)
class Choices(Tabular):
    """The candidate chosen of each list: its place, from 0, its text, and the score for which it was chosen."""

    places: Sequence[int]
    texts: Sequence[str]
    scores: Sequence[float]
    rule: ChoiceRule
    metric: str = ""  # As an expression; none of given scores
    signature: str = ""

    def __len__(self) -> int:
        return len(self.texts)

    def records(self) -> list[Cells]:
        """Return a row per list; segments and candidates are counted from 1."""
        rows = zip(self.places, self.scores, self.texts, strict=True)
        return [
            {"segment": number, "candidate": place + 1, "score": score, "text": text}
            for number, (place, score, text) in enumerate(rows, start=1)
        ]

    def described(self) -> dict[str, str]:
        """Return the rule, the metric and the signature."""
        facts = {"rule": self.rule, "metric": self.metric, "signature": self.signature}
        return {name: value for name, value in facts.items() if value}


def select(
    lists: Iterable[CandidateList],
    metrics: GivenMetric | Plan = "chrf",
    *,
    by: ChoiceRule = "risk",
    references: Iterable[str | Sequence[str]] | None = None,
    scores: Iterable[Sequence[float]] | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **settings: object,
) -> Choices:
    """Choose one of several outputs of each segment.

    By `risk` the choice has the least Bayes risk: the best mean score with the outputs of its list, itself among
    them, as references (Kumar and Byrne 2004; Eikema and Aziz 2022). An output that is listed twice counts twice. By
    `references` it has the best sentence score with the references of its segment, which is the oracle. By `scores`
    it has the highest given score. Of equal ones the first is chosen.

    Parameters
    ----------
    lists
        Lists of texts, one per segment.
    metrics
        A name, an expression or a value, of a metric that compares two texts.
    by
        ``"risk"``, ``"references"`` or ``"scores"``.
    references
        A text, or several, for each list; by default those that lists read from a file have.
    scores
        Scores of the candidates of each list, such as log-probabilities.
    jobs, executor, progress, settings
        As in `softbleu.score`.

    Returns
    -------
    Choices
        ``places``, ``texts`` and ``scores`` have an entry per list.

    Raises
    ------
    InputError, VectorError
        As `softbleu.score`; or a list lacks references or scores that the rule needs.

    Examples
    --------
    >>> lists = [["a cat sat", "the cat sat", "the dog sat"], ["it rains"]]
    >>> select(lists, "chrf").texts
    ['the cat sat', 'it rains']
    >>> select(lists, "chrf", by="references", references=["the dog sat down", "it rains"]).places
    [2, 0]
    """
    known_name("rule of choice", by, get_args(ChoiceRule))
    given = [each if isinstance(each, TextList) else TextList.of(each) for each in lists]
    if references is not None:
        models = [[each] if isinstance(each, str) else each for each in references]
        given = [TextList.of(one.candidates, other) for one, other in _together(given, models, "references")]
    if scores is not None:
        given = [replace(one, scores=other) for one, other in _together(given, [*scores], "scores")]
    if by == "scores":
        return _chosen(by, given, [_checked(one, number) for number, one in enumerate(given, start=1)])
    plan = make_plan(metrics, **settings)
    if by == "risk":
        alone = [TextList(one.candidates, one.candidates) for one in given]
        found = list(score_pairs(alone, plan, jobs=jobs, executor=executor, progress=progress))
        # Exact sums: of candidates with the same scores in another order none is ahead.
        means = [np.array([fsum(row) / len(row) for row in matrix.scores.tolist()]) for matrix in found]
        return _chosen(by, given, means, plan, found[0].short_signature if found else "")
    for number, one in enumerate(given, start=1):
        if not one.has_references:
            raise InputError(f"list {number} has no references, which the choice by references needs")
    texts = [text for one in given for text in one.candidates]
    models = [one.references for one in given for _ in one.candidates]
    result = score(texts, models, metrics=plan.only, level="segment", jobs=jobs, executor=executor, progress=progress)
    ends = np.cumsum([len(one.candidates) for one in given])[:-1]
    by_list = np.split(np.array([each.score for each in result.segments or ()]), ends)
    return _chosen(by, given, by_list, plan, result.short_signature)


def _together(lists: Sequence[TextList], values: Sequence[_Value], what: str) -> Iterator[tuple[TextList, _Value]]:
    if len(lists) != len(values):
        raise InputError(f"{counted(len(lists), 'list')} of candidates, but {what} for {len(values)}")
    return zip(lists, values, strict=True)


def _checked(one: TextList, number: int) -> Floats:
    """Return the given scores of a list."""
    scores = one.scores if isinstance(one.scores, Sequence | np.ndarray) else ()
    numbers = [each for each in scores if isinstance(each, Real) and not isinstance(each, bool) and each == each]
    if not len(numbers) == len(scores) == len(one.candidates):
        raise InputError(f"list {number} needs a score for each of its {counted(len(one.candidates), 'candidate')}")
    return np.array(numbers, float)


def _chosen(
    by: ChoiceRule, lists: Sequence[TextList], scores: Sequence[Floats], plan: Plan | None = None, signature: str = ""
) -> Choices:
    best = np.argmin if plan is not None and not plan.only.higher_is_better else np.argmax
    places = [int(best(each)) for each in scores]
    texts = [one.candidates[place] for one, place in zip(lists, places, strict=True)]
    values = [float(each[place]) for each, place in zip(scores, places, strict=True)]
    return Choices(places, texts, values, by, "" if plan is None else str(plan.only), signature)
