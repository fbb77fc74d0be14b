"""Edits of a corpus, judged one by one as the score of a metric has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.corpora.edits import Annotation, GoldSegment
from softbleu.engine.runner import Statistics, running
from softbleu.errors import InputError, Parameter
from softbleu.metrics.edits import SAME_EDIT, JudgedEdit, JudgedEdits, touch
from softbleu.metrics.protocols import EditPlan, PlansEdits, ShowsEdits
from softbleu.results.significance import segment_numbers

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.plan import Plan
    from softbleu.engine.prepare import PreparedCorpus
    from softbleu.matching.similarity import Vectors
    from softbleu.metrics.base import Metric
    from softbleu.types import Floats

OPERATIONS = ("missing", "unnecessary", "replacement", "")
OTHER = "other"  # Of edits where no annotator has any, whose type the gold file does not say


def judge_corpus(corpus: Corpus, plan: Plan) -> tuple[list[list[JudgedEdits]], Floats]:
    """Judge the edits of every segment of every system by the metric of a plan; and score the segments.

    The scores have the shape (systems of the corpus, segments).

    Kinds are the types of the gold file. Those of other edits are what a file of the system's edits says, else of the
    gold edit that they touch, or `other`.
    Without gold edits kinds are operations. Raises `InputError` for a metric that shows no edits.
    """
    check_edits(plan.only)
    plan = plan.over(corpus, keep_rows=True)
    metric = plan.only
    shower: Any = metric
    blocks = [block.load() for block in corpus.blocks()]
    gold = [edits for block in blocks for edits in block.gold or ()]
    carried = [[edits for block in blocks for edits in block.edits.get(name, ())] for name in corpus.systems]
    with running(corpus, plan) as runner:
        prepared = runner.prepared(metric.tokenizer)
        words = prepared.table(metric.vector_choice, metric.requires).words if metric.requires.vectors else None
        plans: list[list[list[EditPlan]]] | None = None
        if isinstance(metric, PlansEdits) and words is not None:
            statistics, plans = _planned(prepared, metric, words.vectors)
        else:
            (statistics,) = runner.collect(plan.metrics)
        first = statistics.offsets[:-1]
        chosen = [metric.aggregation.chosen(rows, statistics.offsets) - first for rows in statistics.rows]
        judged: list[list[JudgedEdits]] = [[] for _ in chosen]
        for block in prepared.blocks():
            for number, chunk in enumerate(block.chunks(gold=True)):
                counted = chosen[number][len(judged[number]) : len(judged[number]) + len(block)].tolist()
                if plans is None:
                    judged[number] += shower.judge_edits(chunk, counted, words, prepared.words)
                else:
                    judged[number] += shower.judged_by(plans[number].pop(0), chunk.edits, counted)
    nothing = Annotation(0, ())
    named = [
        [
            _named(line, segment, edits)
            for line, segment, edits in zip(lines, gold or repeat(None), edited or repeat(nothing), strict=False)
        ]
        for lines, edited in zip(judged, carried, strict=True)
    ]
    return named, segment_numbers(statistics)


def _planned(
    prepared: PreparedCorpus, metric: Any, vectors: Vectors
) -> tuple[Statistics, list[list[list[EditPlan]]]]:
    """Statistics of a corpus, and the plans that they follow from, of each system and block."""
    plans: list[list[list[EditPlan]]] = [[] for _ in prepared.systems]
    counts = []
    for block in prepared.blocks():
        for number, chunk in enumerate(block.chunks(gold=True)):
            plans[number].append(metric.plans(chunk.edits or (), vectors))
        counts.append(np.diff(chunk.segment_offsets))
    rows = np.stack([np.concatenate(list(map(metric.rows_of, by_block))) for by_block in plans])
    return Statistics(prepared.systems, metric, rows, np.concatenate(counts), (0, 0)), plans


def check_edits(metric: Metric) -> None:
    """See that a metric judges edits, before data is asked for."""
    if not isinstance(metric, ShowsEdits):
        said = f"metric {metric.name!r} finds no edits to tell kinds of: take m2 or cleme, with "
        raise InputError(said, Parameter("gold"))


def operation(edit: JudgedEdit) -> str:
    """Name the operation of an edit: `missing` inserts words, `unnecessary` deletes them, `replacement` does both."""
    start, end, _, _ = edit.spans
    return "missing" if start == end else "replacement" if edit.text else "unnecessary"


def _named(line: JudgedEdits, segment: GoldSegment | None, carried: Annotation) -> JudgedEdits:
    if segment is None:
        edits, gold = (
            tuple(replace(edit, kind=operation(edit)) for edit in side) for side in (line.edits, line.gold)
        )
        return replace(line, edits=edits, gold=gold)
    annotations = segment.annotations
    gold = tuple(replace(edit, kind=annotations[edit.origin[0]].edits[edit.origin[1]].kind) for edit in line.gold)
    edits = tuple(replace(edit, kind=_kind(number, line, gold, carried)) for number, edit in enumerate(line.edits))
    return replace(line, annotator=annotations[line.annotator].annotator, edits=edits, gold=gold)


def _kind(number: int, line: JudgedEdits, gold: Sequence[JudgedEdit], carried: Annotation) -> str:
    """Kind of the gold edit that an edit is, at least by half; else its own; else of a gold edit that it touches."""
    linked = sorted((-share, other) for one, other, share in line.links if one == number and share >= SAME_EDIT)
    gold_kinds = [gold[other].kind for _, other in linked]
    spans = line.edits[number].spans
    exact_first = sorted(carried.edits, key=lambda edit: (edit.start, edit.end) != spans[:2])
    own = [edit.kind for edit in exact_first if touch(spans, (edit.start, edit.end)) and edit.kind not in OPERATIONS]
    near = (edit.kind for edit in gold if edit.verdict != "hit" and touch(spans, edit.spans))
    return next(iter((*gold_kinds, *own, *near)), OTHER)
