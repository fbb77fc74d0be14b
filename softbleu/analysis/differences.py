"""Differences between systems: scores in parts of a corpus, corrections by kind, chosen lines, n-grams.

Parts are segments by length or label, words by rarity or coverage, and n-grams by order. Edits of
corrections are gold edits or wrong, and gold edits may be missed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from softbleu.corpora.corpus import pick_segments
from softbleu.corpora.edits import apply_edits
from softbleu.corpora.labels import read_labels
from softbleu.engine.encode import CodedBlock
from softbleu.engine.plan import GivenMetric, GivenMetrics, Plan, make_plan
from softbleu.engine.prepare import PreparedCorpus, prepare_corpus
from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.errors import InputError, Parameter, UnknownNameError
from softbleu.io.progress import note
from softbleu.kernels import SCALE
from softbleu.matching.ngrams import Chunk, check_order
from softbleu.metrics.base import Metric
from softbleu.metrics.edits import Classify, JudgedEdit, JudgedEdits, errant_types, form_types
from softbleu.metrics.m2 import M2
from softbleu.metrics.protocols import ShowsEdits, at_level
from softbleu.metrics.requirements import Requirements
from softbleu.results.explain import OTHER, check_edits, judge_corpus, operation
from softbleu.results.significance import segment_numbers
from softbleu.tables import Records, Tabular, Value
from softbleu.text.tokens import Tokenizer, Tokenizer13a

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.runner import Statistics
    from softbleu.types import Cells, Floats, Integers, Progress

LENGTHS = (0, 10, 20, 30, 40, 50, 60)  # Tokens of a segment from which each bucket starts
FREQUENCIES = (0, 1, 2, 3, 5, 10, 100, 1000)  # Occurrences of a word in the references from which each bucket starts
MOST_LABELS = 200  # Most buckets of a table
_Naming = tuple[Value, ...]  # Metric, bucket and, if counted, the size of the bucket
_Scores = Sequence[float | None]


def bucket_scores(
    corpus: Corpus,
    metrics: GivenMetrics = "bleu",
    *,
    by: str = "length",
    encoding: str = "utf-8",
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Records:
    """Score every system in parts of a corpus.

    Parameters
    ----------
    corpus
        Outputs of one system or more.
    metrics
        Metrics to compute (see `softbleu.score_corpus`); `rarity` and `coverage` use only the first.
    by
        `length`: segments by the tokens of their (first) reference, or source. `rarity`: words by their frequency
        in the references, and `coverage`: by whether they have a vector (of the first metric); values are precision,
        recall and F1 of words, clipped as in BLEU. `order`: scores of each order of n-grams. `document`: the
        documents of the corpus. Otherwise a file with a label per line, or ``FILE:COLUMN``.
    encoding
        Encoding of that file.
    jobs, executor, progress
        As for `softbleu.score_corpus`.

    Raises
    ------
    InputError, VectorError
        Text that cannot be scored, or labels that cannot be read.

    Examples
    --------
    >>> from softbleu.corpora import Segments
    >>> corpus = Segments.of({"A": ["a cat", "x y"], "B": ["a dog", "x y"]}, ["a cat", "x y"])
    >>> bucket_scores(corpus, by="rarity").records()[4]
    {'metric': 'recall', 'rarity': '1', 'words': 4, 'A': 100.0, 'B': 75.0, 'difference': -25.0}
    """
    plan = make_plan(metrics)
    first = plan.metrics[0]
    if by in ("rarity", "coverage"):
        if not corpus.has_references:
            raise InputError(
                f"words by {by} need references: ",
                Parameter("by", "length"),
                " takes a source",
            )
        return scores_by_word(prepare_corpus(corpus, first.tokenizer, Requirements()), first, by)
    if by == "document" and corpus.documents is None:
        raise InputError("to score documents, name them with ", Parameter("documents"))
    labels: list[str] | None = None
    if by not in ("length", "order", "document"):
        if not Path(by).is_file() and ":" not in by:
            raise InputError(f"{by}: no such file, nor one of length, rarity, coverage, order, document")
        labels = read_labels(by, len(corpus), encoding)
        if len(set(labels)) > MOST_LABELS:
            raise InputError(f"{by} has {len(set(labels))} different labels: at most {MOST_LABELS} make a table")
    statistics = collect_statistics(corpus, plan, RunOptions(jobs, executor, progress=progress), keep_rows=True)
    if by == "order":
        return _table(["metric", by], corpus.systems, (row for scored in statistics for row in _orders(scored)))
    if by == "document" and corpus.documents is not None:
        names, buckets = corpus.documents.names, corpus.documents.fitting(len(corpus))
    elif labels is None:
        needed = Requirements(references=corpus.has_references, source=not corpus.has_references)
        return scores_by_length(prepare_corpus(corpus, first.tokenizer, needed), statistics)
    else:
        names = tuple(sorted(set(labels)))
        buckets = np.array([names.index(label) for label in labels])
    return _scores_by(by.rpartition(":")[2].rpartition("/")[2], statistics, buckets, names)


def _table(columns: Sequence[str], systems: Sequence[str], rows: Iterable[tuple[_Naming, _Scores]]) -> Records:
    """Make a table of names and a score per system, with the difference of two systems."""
    cells: list[list[Value]] = []
    for named, scores in rows:
        known = [score for score in scores if score is not None]
        apart = [known[1] - known[0] if len(known) == 2 else None] if len(systems) == 2 else []
        cells.append([*named, *scores, *apart])
    return Records([*columns, *systems, *["difference"] * (len(systems) == 2)], cells, verbatim=systems)


def scores_by_length(prepared: PreparedCorpus, statistics: Sequence[Statistics]) -> Records:
    """Score segments in buckets of length, as `bucket_scores` does, from statistics.

    `prepared` is the corpus, `statistics` has the rows of all segments for each metric. Raises `InputError` if
    segments have neither references nor a source.
    """
    text = shown_text(prepared, len(prepared))
    source_only = not len(text.references.lengths)
    if source_only and text.source is None:
        raise InputError("segments without references and source have no length: give ", Parameter("references"))
    lengths = text.source.lengths if text.source and source_only else text.references.lengths[text.offsets[:-1]]
    return _scores_by("length", statistics, *numbered(lengths, LENGTHS))


def _scores_by(by: str, statistics: Sequence[Statistics], buckets: Integers, names: Sequence[str]) -> Records:
    """Score the segments of each bucket that has any."""
    rows = (
        ((str(scored.metric), names[number], size), [score.score for score in scores])
        for scored in statistics
        for number, size, scores in scored.scores_of_parts(buckets)
    )
    return _table(["metric", by, "segments"], statistics[0].systems, rows)


def _orders(statistics: Statistics) -> Iterator[tuple[_Naming, _Scores]]:
    """Score each order of n-grams: a row per order for each list of numbers that tables show."""
    metric = at_level(statistics.metric, "corpus")
    scores = [metric.aggregation.score(rows, statistics.offsets) for rows in statistics.rows]
    for column in scores[0].columns():
        values = [getattr(score, column.name) for score in scores]
        if column.short and isinstance(values[0], list):
            for order in range(len(values[0])):
                name = f"{statistics.metric} {column.short}"
                yield (name, str(order + 1)), [by_order[order] for by_order in values]


def scores_by_word(prepared: PreparedCorpus, metric: Metric, by: str) -> Records:
    """Score words in buckets of `rarity` or `coverage`, as `bucket_scores` does.

    `prepared` is the corpus in the tokens of the tokenizer of `metric`, whose vectors determine `coverage`.
    """
    text = shown_text(prepared, len(prepared))
    if by == "coverage":
        vectors = prepared.table(metric.vector_choice, Requirements(vectors=True)).words.vectors
        known = np.zeros(len(prepared.words), np.int64)
        for tokens in (*text.candidates, text.references):
            known[tokens.codes] = vectors.known(tokens)
        bucket_of_word, names = 1 - known, ["with a vector", "without"]
    else:
        counts = np.bincount(text.references.codes, minlength=len(prepared.words))
        bucket_of_word, names = numbered(counts, FREQUENCIES)
    counted = np.stack([_word_counts(chunk, bucket_of_word, len(names)) for chunk in text.chunks()])
    rows: list[tuple[_Naming, _Scores]] = []
    for name, of_bucket in zip(names, np.moveaxis(counted, -1, 0).tolist(), strict=True):
        shares = zip(*(_shares(*counts) for counts in of_bucket), strict=True)
        if any(proposed or offered for _, proposed, offered in of_bucket):
            kinds = zip(("precision", "recall", "F1"), shares, strict=True)
            rows += [((kind, name, of_bucket[0][2]), values) for kind, values in kinds]
    return _table(["metric", by, "words"], prepared.systems, rows)


def _word_counts(chunk: Chunk, bucket_of_word: Integers, buckets: int) -> tuple[Integers, Integers, Integers]:
    """Words of each bucket that are matched, that the candidates have, and that the references offer."""
    (ngrams,) = chunk.ngrams(1)
    codes = chunk.positions.codes
    proposed, offered = bucket_of_word[codes[ngrams.starts]], bucket_of_word[codes[ngrams.pool_starts]]
    return (
        np.bincount(proposed[ngrams.exact], minlength=buckets),
        np.bincount(proposed, minlength=buckets),
        np.bincount(offered, ngrams.capacity, minlength=buckets).astype(np.int64),
    )


def _shares(matched: int, proposed: int, offered: int) -> list[float | None]:
    """Precision, recall and F1 in per cent."""
    parts = (matched, proposed), (matched, offered), (2 * matched, proposed + offered)
    return [100 * part / whole if whole else None for part, whole in parts]


def numbered(values: Integers, starts: Sequence[int]) -> tuple[Integers, list[str]]:
    """Number the bucket of each of some values, and name the buckets, which begin at the ascending `starts`.

    >>> buckets, names = numbered(np.array([0, 9, 10, 75]), LENGTHS)
    >>> buckets.tolist(), names[0], names[1], names[-1]
    ([0, 0, 1, 6], '0–9', '10–19', '60+')
    """
    names = [str(low) if high == low + 1 else f"{low}–{high - 1}" for low, high in pairwise(starts)]
    return np.searchsorted(starts, values, side="right") - 1, [*names, f"{starts[-1]}+"]


def shown_text(prepared: PreparedCorpus, shown: int) -> CodedBlock:
    """Take the texts of the first `shown` segments of a `prepared` corpus, with the words of the whole corpus."""
    parts: list[CodedBlock] = []
    left = shown
    for block in prepared.blocks():
        parts.append(block.part(0, min(left, len(block))))
        left -= len(parts[-1])
        if not left:
            break
    return replace(CodedBlock.joined(parts), words=prepared.words)


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


class ChosenLines(Tabular, list[ChosenLine]):
    """Chosen lines, the most important first: a list with table methods."""

    def __init__(self, lines: Sequence[ChosenLine], kind: LineKind, metrics: Sequence[str]) -> None:
        super().__init__(lines)
        self.kind: LineKind = kind
        self.metrics = list(metrics)

    def records(self) -> list[Cells]:
        """A row per line."""
        rows = []
        for line in self:
            row: Cells = {"segment": line.segment, self.kind: line.by}
            for number, system in enumerate(line.systems):
                mark = f"_{number + 1}" if len(line.systems) > 1 else ""
                scores = dict(zip(self.metrics, line.scores[number], strict=True))
                told = {"system": system, **scores, "candidate": line.candidates[number]}
                told |= {"edits": line.kinds[number]} if line.kinds else {}
                row |= {f"{name}{mark}": value for name, value in told.items()}
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
    by: By | None = None,
    language: str | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> ChosenLines:
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
    lines = []
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
            )
        )
    return ChosenLines(lines, kind, [str(scored.metric) for scored in statistics])


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


LONGEST_SHOWN = 4  # Greatest order of n-grams by default
_AT_ONCE = 256  # Segments whose n-grams are counted at once


@dataclass(frozen=True)
class NgramDifference:
    """An n-gram that one system matches more often than another, clipped as in BLEU."""

    better: str
    worse: str
    ngram: tuple[str, ...]
    matches: int  # Matches of the better system
    other_matches: int
    offered: int  # Occurrences in the references


class NgramDifferences(Tabular, list[NgramDifference]):
    """N-grams of pairs of systems: a list that can be looked at as a table."""

    def records(self) -> list[Cells]:
        """A row an n-gram."""
        return [{**vars(row), "ngram": " ".join(row.ngram), "order": len(row.ngram)} for row in self]


def ngram_differences(
    corpus: Corpus,
    *,
    baseline: str | None = None,
    order: int = LONGEST_SHOWN,
    top: int = 20,
    tokenizer: Tokenizer | None = None,
) -> NgramDifferences:
    """Find the n-grams that the baseline matches and another system misses, and vice versa.

    Parameters
    ----------
    baseline
        System with which every other is compared (default: the first).
    order
        Greatest order of n-grams.
    top
        Number of n-grams each way, the greatest difference first.
    tokenizer
        Tokenizer of the text (default: as for BLEU).

    Raises
    ------
    InputError
        Only one system, or an unknown baseline.

    Examples
    --------
    >>> from softbleu.corpora import Segments
    >>> corpus = Segments.of({"A": ["a cat sat"], "B": ["the cat slept"]}, ["the cat sat"])
    >>> [(each.better, " ".join(each.ngram)) for each in ngram_differences(corpus, order=2)]
    [('A', 'cat sat'), ('A', 'sat'), ('B', 'the'), ('B', 'the cat')]
    """
    if len(corpus.systems) < 2:
        raise InputError("one system has nothing to differ from: name two or more")
    if not corpus.has_references:
        raise InputError("n-grams are compared with references: give some")
    baseline = corpus.systems[0] if baseline is None else baseline
    if baseline not in corpus.systems:
        raise UnknownNameError("system", baseline, corpus.systems)
    check_order(order)
    prepared = prepare_corpus(corpus, tokenizer or Tokenizer13a(), Requirements())
    return differences_in(prepared, baseline, order=order, top=top)


def differences_in(
    prepared: PreparedCorpus, baseline: str, *, order: int = LONGEST_SHOWN, top: int = 20
) -> NgramDifferences:
    """Find the n-grams that distinguish systems from a baseline, as `ngram_differences` does.

    N-grams have orders 1 to `order`; for each other system than `baseline` there are `top` each way, by the
    difference of clipped counts.
    """
    matched: list[Counter[tuple[int, ...]]] = [Counter() for _ in prepared.systems]
    offered: Counter[tuple[int, ...]] = Counter()
    for block in prepared.blocks():
        for number, chunk in enumerate(block.chunks()):
            for piece in chunk.pieces(_AT_ONCE):
                _count(piece, order, matched[number], None if number else offered)
    index = prepared.systems.index(baseline)
    differences = NgramDifferences()
    for other, name in enumerate(prepared.systems):
        for one, two in ((index, other), (other, index)) if name != baseline else ():
            gains = (matched[one] - matched[two]).items()
            texts = [(-gain, tuple(prepared.words[code] for code in ngram), ngram) for ngram, gain in gains]
            for _, ngram, codes in sorted(texts)[:top]:
                counts = matched[one][codes], matched[two][codes], offered[codes]
                differences.append(NgramDifference(prepared.systems[one], prepared.systems[two], ngram, *counts))
    return differences


def _count(
    chunk: Chunk, order: int, matched: Counter[tuple[int, ...]], offered: Counter[tuple[int, ...]] | None
) -> None:
    """Add the matches of each n-gram, and its occurrences in the references."""
    for n, ngrams in enumerate(chunk.ngrams(order), start=1):
        starts = ngrams.starts[ngrams.exact], np.repeat(ngrams.pool_starts, ngrams.capacity)
        for counts, places in zip((matched, offered), starts, strict=True):
            if counts is not None:
                counts.update(map(tuple, chunk.positions.codes[places[:, None] + np.arange(n)].tolist()))
