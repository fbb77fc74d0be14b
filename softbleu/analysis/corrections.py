"""Corrections of systems by kind: edits that are gold edits or wrong, and gold edits that are missed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from softbleu.corpora.edits import apply_edits
from softbleu.engine.plan import GivenMetric, Plan, make_plan
from softbleu.errors import UnknownNameError
from softbleu.io.progress import note
from softbleu.kernels import SCALE
from softbleu.metrics.edits import Classify, JudgedEdit, JudgedEdits, errant_types, form_types
from softbleu.metrics.m2 import M2
from softbleu.results.explain import OTHER, check_edits, judge_corpus, operation
from softbleu.tables import Tabular

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.types import Cells

By = Literal["type", "category", "operation", "form", "errant"]
ALL = "all"
_LETTERS = {"M:": "missing", "U:": "unnecessary", "R:": "replacement"}


@dataclass(frozen=True)
class KindScore:
    """Precision, recall and F for edits of one kind."""

    system: str
    kind: str
    correct: float  # Sum of the edits' similarity to gold edits; a whole number if only equal edits count
    proposed: int
    gold: int
    precision: float  # In per cent, as recall and F; 100 where nothing is proposed, as for M2
    recall: float
    f: float
    hits: int  # Gold edits that the candidate has
    wrong: int  # Gold edits where the candidate has another edit
    missed: int  # Gold edits where the candidate has none: under-corrections
    over: int  # Over-corrections: edits without a gold edit


class KindScores(Tabular, list[KindScore]):
    """Scores by kind of each system, all kinds together first: a list that can be looked at as a table."""

    def records(self) -> list[Cells]:
        """A row per system and kind."""
        return [vars(score) for score in self]


def correction_kinds(
    corpus: Corpus, metric: GivenMetric | Plan, by: By = "type", language: str | None = None
) -> KindScores:
    """Score the edits of every system by kind, as judged by a metric with its choice of references.

    Parameters
    ----------
    corpus
        Outputs with gold edits, or with source and references.
    metric
        A metric that judges edits, such as M2, or CLEME, whose chunks count as edits here.
    by
        `type`: types of the gold file; another edit has its type in the system's `.m2` file, else the type of the
        gold edit that it touches, else `other` (so precision by type leaves out over-corrections of texts).
        `category`: these types without a prefix such as `R:`. `operation`: `missing`, `unnecessary` or
        `replacement`, by the first letter of ERRANT's types, if the file has these. The three are ERRANT's `-cat` 3,
        2 and 1. `form`: the form of the change, in any language, see `form_types`. `errant`: ERRANT's types.
    language
        Code of the language of the stems for `form`.

    Raises
    ------
    InputError, MissingExtraError
        A metric that judges no edits, no gold edits or references, or no ERRANT.
    """
    plan = make_plan(metric)
    lines = [list(system) for system in find_corrections(corpus, plan, by, language)]
    beta: float = getattr(plan.only, "beta", 0.5)
    untyped = sum(edit.kind == OTHER for texts in lines for line in texts for edit in line.edits)
    if untyped and by in ("type", "category"):
        note(
            f"{untyped:,} edits where no annotator has one are {OTHER!r}, so precision by type leaves them out: "
            "give a .m2 file of the system's edits, which has their types, or ask for kinds by errant"
        )
    return KindScores(
        score for name, texts in zip(corpus.systems, lines, strict=True) for score in _kind_scores(name, texts, beta)
    )


def find_corrections(
    corpus: Corpus, metric: GivenMetric | Plan, by: By = "type", language: str | None = None
) -> list[list[JudgedEdits]]:
    """Find the edits that `metric` judges, with their kinds: a list of segments for each system of `corpus`.

    Kinds go `by` type, operation, form (of a `language`) or ERRANT's types; see `correction_kinds`, also for the
    errors.
    """
    plan = make_plan(metric)
    check_edits(plan.only)
    if by not in get_args(By):
        raise UnknownNameError("kind of kinds", by, get_args(By))
    classify = errant_types() if by == "errant" else form_types(language) if by == "form" else None
    judged, _ = judge_corpus(corpus, plan)
    return judged if by == "type" else [[_with_kinds(line, by, classify) for line in lines] for lines in judged]


def _with_kinds(line: JudgedEdits, by: By, classify: Classify | None) -> JudgedEdits:
    """Rename the kinds by ERRANT, by operation, or without the part before a colon."""
    sides = []
    for side in (line.edits, line.gold):
        if classify is None:
            kinds = [_tier(edit, by) for edit in side]
        else:
            text = apply_edits(line.source, [(*edit.spans[:2], edit.text) for edit in side])
            kinds = classify(line.source, text, [edit.spans for edit in side])
        sides.append(tuple(replace(edit, kind=kind) for edit, kind in zip(side, kinds, strict=True)))
    return replace(line, edits=sides[0], gold=sides[1])


def _tier(edit: JudgedEdit, by: By) -> str:
    """Return the operation of an edit, or the last part of its kind."""
    letter, colon, rest = edit.kind.partition(":")
    if by == "operation":
        return _LETTERS.get(letter + colon) or operation(edit)
    return rest or letter


def _kind_scores(system: str, lines: Sequence[JudgedEdits], beta: float) -> Iterator[KindScore]:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter, {ALL: Counter()})
    for line in lines:
        told = [(edit.kind, {"proposed": 1, "over": int(edit.verdict == "over")}) for edit in line.edits]
        told += [(edit.kind, {"gold": 1, {"hit": "hits"}.get(edit.verdict, edit.verdict): 1}) for edit in line.gold]
        told += [(line.gold[number].kind, {"correct": round(SCALE * share)}) for _, number, share in line.links]
        for kind, counted in told:
            counts[ALL].update(counted)
            counts[kind].update(counted)
    for kind in sorted(
        counts, key=lambda name: (name != ALL, -counts[name]["gold"] - counts[name]["proposed"], name)
    ):
        yield _kind_score(system, kind, counts[kind], beta)


def _kind_score(system: str, kind: str, counts: Counter[str], beta: float) -> KindScore:
    whole, part = divmod(counts["correct"], SCALE)
    correct = whole + part / SCALE if part else whole
    proposed, gold = counts["proposed"], counts["gold"]
    precision, recall = (100 * (correct / number if number else 1.0) for number in (proposed, gold))
    f = float(M2(beta=beta).columns(np.array([[correct, proposed, gold]])).score[0])
    told = {name: counts[name] for name in ("hits", "wrong", "missed", "over")}
    return KindScore(system, kind, correct, proposed, gold, precision, recall, f, **told)
