"""Corrections of systems by kind: edits that are gold edits or wrong, and gold edits that are missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np

from softbleu.config.languages import find_language
from softbleu.corpora.edits import apply_edits
from softbleu.engine.plan import GivenMetric, Plan, make_plan
from softbleu.errors import InputError, MissingExtraError, Parameter, UnknownNameError
from softbleu.io.progress import note
from softbleu.kernels import SCALE
from softbleu.metrics.edits import Classify, JudgedEdit, JudgedEdits, errant_types, form_types
from softbleu.metrics.m2 import M2
from softbleu.results.explain import OTHER, check_edits, judge_corpus, operation
from softbleu.tables import ResultList

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.corpora.labels import Documents
    from softbleu.engine.statistics import Statistics
    from softbleu.types import Floats, Integers

By = Literal["type", "category", "operation", "form", "errant", "rules"]
ALL = "all"
_LETTERS = {"M:": "missing", "U:": "unnecessary", "R:": "replacement"}
F_COUNTS = ("correct", "proposed", "gold")  # Counts that F is made of
_COUNTS = (*F_COUNTS, "hits", "wrong", "missed", "over")


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


def correction_kinds(
    corpus: Corpus, metric: GivenMetric | Plan, by: By = "type", language: str | None = None
) -> ResultList[KindScore]:
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
        2 and 1. `form`: the form of the change, in any language, see `form_types`. `errant`: ERRANT's types, by
        ERRANT or, with a note, by rules where it is not installed. `rules`: by rules in any case, see `rule_types`.
    language
        Code of the language of the stems for `form`.

    Raises
    ------
    InputError, MissingExtraError
        A metric that judges no edits, no gold edits or references, or no ERRANT.
    """
    plan = make_plan(metric)
    counts = KindCounts(judge_kinds(corpus, plan, KindNaming.of(by, language))[0])
    note_untyped(counts, by)
    scores = ResultList[KindScore]()
    for system, name in enumerate(corpus.systems):
        own = [
            score
            for score in counts.scores(system, name, beta_of(plan))
            if score.kind == ALL or score.proposed or score.gold
        ]
        scores += sorted(own, key=lambda score: (score.kind != ALL, -score.gold - score.proposed, score.kind))
    return scores


def beta_of(plan: Plan) -> float:
    """Return the weight of recall of the only metric; 0.5 if it has none."""
    return float(getattr(plan.only, "beta", 0.5))


def note_untyped(counts: KindCounts, by: By) -> None:
    """Note how many edits of outputs have no type."""
    untyped = counts.totals[:, counts.kinds[OTHER], _COUNTS.index("proposed")].sum() if OTHER in counts.kinds else 0
    if untyped and by in ("type", "category"):
        note(
            f"{untyped:,} edits where no annotator has one are {OTHER!r}, so precision by type leaves them out: "
            "give a .m2 file of the system's edits, which has their types, or ask for kinds by errant"
        )


def find_corrections(
    corpus: Corpus, metric: GivenMetric | Plan, by: By = "type", language: str | None = None
) -> list[list[JudgedEdits]]:
    """Find the edits that `metric` judges, with their kinds: a list of segments for each system of `corpus`.

    Kinds go `by` type, operation, form (of a `language`) or ERRANT's types; see `correction_kinds`, also for the
    errors.
    """
    return judge_kinds(corpus, make_plan(metric), KindNaming.of(by, language))[0]


def judge_kinds(corpus: Corpus, plan: Plan, naming: KindNaming) -> tuple[list[list[JudgedEdits]], Statistics]:
    """Judge edits, name their kinds, and return the statistics of the metric."""
    check_edits(plan.only)
    judged, statistics = judge_corpus(corpus, plan)
    if naming.by != "type":
        judged = [[_with_kinds(line, naming) for line in lines] for lines in judged]
    return judged, statistics


@dataclass(frozen=True)
class KindNaming:
    """Names of kinds of edits."""

    by: By
    classify: Classify | None  # Names types of edits; None where the edits have them
    types: str = ""  # Who names them, for signatures: `errant` or `rules`

    @classmethod
    def of(cls, by: By, language: str | None) -> Self:
        """Choose the function that names kinds. Where ERRANT is not installed, rules name its types, with a note."""
        if by not in get_args(By):
            raise UnknownNameError("grouping of edits", by, get_args(By))
        if by not in ("errant", "rules"):
            return cls(by, form_types(language) if by == "form" else None)
        if language is not None and find_language(language).code != "en":
            raise InputError("ERRANT's types are for English; for other languages take ", Parameter("by", "form"))
        if by == "errant":
            try:
                return cls(by, errant_types(), "errant")
            except (InputError, MissingExtraError) as error:
                note(f"types are by rules, which differ from ERRANT in about 1 edit of 20 (types:rules); {error}")
        from softbleu.metrics.edit_types import rule_types

        return cls(by, rule_types(), "rules")


def _with_kinds(line: JudgedEdits, naming: KindNaming) -> JudgedEdits:
    """Rename the kinds by ERRANT, by operation, or without the part before a colon."""
    sides = []
    for side in (line.edits, line.gold):
        if naming.classify is None:
            kinds = [_tier(edit, naming.by) for edit in side]
        else:
            text = apply_edits(line.source, [(*edit.spans[:2], edit.text) for edit in side])
            kinds = naming.classify(line.source, text, [edit.spans for edit in side])
        sides.append(tuple(replace(edit, kind=kind) for edit, kind in zip(side, kinds, strict=True)))
    return replace(line, edits=sides[0], gold=sides[1])


def _tier(edit: JudgedEdit, by: By) -> str:
    """Return the operation of an edit, or the last part of its kind."""
    letter, colon, rest = edit.kind.partition(":")
    if by == "operation":
        return _LETTERS.get(letter + colon) or operation(edit)
    return rest or letter


class KindCounts:
    """Counts of edits by system, kind and segment; `correct` in units of `SCALE`. See `DrawnSums`."""

    in_blocks: ClassVar[bool] = False

    def __init__(self, judged: Sequence[Sequence[JudgedEdits]]) -> None:
        from scipy.sparse import csr_array

        self.kinds: dict[str, int] = {}
        entries = [
            (system, segment, *counted)
            for system, lines in enumerate(judged)
            for segment, line in enumerate(lines)
            for counted in self._counted(line)
        ]
        system, segment, kind, count, amount = np.array(entries, np.int64).reshape(-1, 5).T
        self._shape = len(judged), len(self.kinds), len(F_COUNTS)
        self.segments = len(judged[0])
        self.totals = np.zeros((*self._shape[:2], len(_COUNTS)), np.int64)
        np.add.at(self.totals, (system, kind, count), amount)
        scored = count < len(F_COUNTS)
        cells = np.ravel_multi_index((system[scored], kind[scored], count[scored]), self._shape)
        size = int(np.prod(self._shape)), self.segments
        self._by_cell = csr_array((amount[scored].astype(np.float64), (cells, segment[scored])), shape=size)
        width = size[0] // len(judged)
        self._by_system = [self._by_cell[number * width : (number + 1) * width] for number in range(len(judged))]

    def _counted(self, line: JudgedEdits) -> Iterator[tuple[int, int, int]]:
        """Yield the number of a kind and of a count, and what a line adds to it."""
        added = [
            (edit.kind, name, 1) for edit in line.edits for name in ("proposed", edit.verdict) if name in _OF_EDITS
        ]
        added += [(edit.kind, _OF_GOLD.get(name, name), 1) for edit in line.gold for name in ("gold", edit.verdict)]
        added += [(line.gold[number].kind, "correct", round(SCALE * share)) for _, number, share in line.links]
        for kind, name, amount in added:
            yield self.kinds.setdefault(kind, len(self.kinds)), _COUNTS.index(name), amount

    def scores(self, system: int, name: str, beta: float) -> list[KindScore]:
        """Score the kinds of a system, all together first."""
        rows = [self.totals[system].sum(axis=0), *self.totals[system]]
        return [
            _kind_score(name, kind, row.tolist(), beta) for kind, row in zip((ALL, *self.kinds), rows, strict=True)
        ]

    def plain(self, start: int, stop: int) -> Floats:
        """Add up all segments: (systems, draws, kinds, 3), the same in each draw."""
        whole: Floats = self.totals[:, None, :, : len(F_COUNTS)].astype(np.float64)
        return np.broadcast_to(whole, (whole.shape[0], stop - start, *whole.shape[2:]))

    def weighted(self, weights: Integers, start: int) -> Floats:
        """Add up segments times weights, (draws, segments): (systems, draws, kinds, 3)."""
        sums: Floats = self._by_cell @ weights.T.astype(np.float64)
        return np.moveaxis(sums.reshape(*self._shape, len(weights)), -1, 1)

    def differing(self, one: int, other: int, documents: Documents | None) -> Integers:
        """Count the segments, or documents, in which two systems differ: all kinds together, then each."""
        of_one, of_other = (self._by_system[system] for system in (one, other))
        return self._units(of_one - of_other, documents)

    def units(self, systems: Sequence[int], documents: Documents | None) -> Integers:
        """Count the segments, or documents, in which any of some systems has edits: all kinds together, then each."""
        return self._units(sum(self._by_system[system] for system in systems), documents)

    def _units(self, counts: Any, documents: Documents | None) -> Integers:
        """Count segments or documents with entries that are not 0: all kinds together, then each."""
        cells, segments = counts.nonzero()
        places = segments if documents is None else documents.fitting(self.segments)[segments]
        kinds, held = np.unique(np.stack([cells // len(F_COUNTS), places]), axis=1)
        return np.append(len(np.unique(held)), np.bincount(kinds, minlength=len(self.kinds)))


_OF_EDITS = ("proposed", "over")
_OF_GOLD = {"hit": "hits"}


def _kind_score(system: str, kind: str, counts: Sequence[int], beta: float) -> KindScore:
    shares, proposed, gold, *verdicts = counts
    whole, part = divmod(shares, SCALE)
    correct = whole + part / SCALE if part else whole
    precision, recall = (100 * (correct / number if number else 1.0) for number in (proposed, gold))
    f = float(M2(beta=beta).columns(np.array([[correct, proposed, gold]])).score[0])
    return KindScore(system, kind, correct, proposed, gold, precision, recall, f, *verdicts)
