"""Scores of systems in buckets: segments by length or label, words by rarity or coverage, n-grams by order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import numpy as np

from softbleu.analysis.corrections import By
from softbleu.corpora.labels import read_labels
from softbleu.engine.encode import CodedBlock
from softbleu.engine.plan import GivenMetrics, make_plan
from softbleu.engine.prepare import PreparedCorpus, prepare_corpus
from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.errors import InputError, Parameter
from softbleu.io.progress import note
from softbleu.matching.ngrams import Chunk
from softbleu.metrics.base import Metric
from softbleu.metrics.protocols import at_level
from softbleu.metrics.requirements import Requirements
from softbleu.results.comparison import SCORES, Comparison, SliceFamily, compare_slices
from softbleu.results.significance import SignificanceSettings
from softbleu.results.slices import outputs_family
from softbleu.tables import Table, Value

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.statistics import Statistics
    from softbleu.types import Integers, Progress

LENGTHS = (0, 10, 20, 30, 40, 50, 60)  # Tokens of a segment from which each bucket starts
FREQUENCIES = (0, 1, 2, 3, 5, 10, 100, 1000)  # Occurrences of a word in the references from which each bucket starts
MOST_LABELS = 200  # Most buckets of a table
_PARTS, _CLEAN = ("length", "document", "errors"), "without errors"
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
) -> Table:
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
        documents of the corpus. `errors`: sentences that a reference or annotator changes, and the others.
        Otherwise a file with a label per line, or ``FILE:COLUMN``.
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
    options = RunOptions(jobs, executor, progress=progress)
    if by == "order":
        scored = collect_statistics(corpus, plan, options, keep_rows=True)
        return _table(["metric", by], corpus.systems, (row for each in scored for row in _orders(each)))
    name, buckets, names = _buckets(corpus, first, by, encoding)
    return _scores_by(name, collect_statistics(corpus, plan, options, keep_rows=True), buckets, names)


_COLUMNS = {name: name for name in ("segments", *SCORES)}


def compare_buckets(
    corpus: Corpus,
    metrics: GivenMetrics = "bleu",
    *,
    by: str = "length",
    baseline: str | None = None,
    significance: SignificanceSettings | None = None,
    encoding: str = "utf-8",
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare systems in parts of a corpus, each as a corpus of its own: intervals, ranks and tests.

    Parts of fewer than 10 segments, or documents, have scores alone; with fewer than 20 there is no interval of a
    difference, and where fewer than 10 differ, no test. The tests by a metric are corrected together.

    Parameters
    ----------
    corpus, metrics, encoding, jobs, executor, progress
        As in `bucket_scores`.
    by
        `length`: segments by the tokens of their (first) reference, or source; `errors`: as in `bucket_scores`; or a
        file with a label per line, or ``FILE:COLUMN``.
    baseline
        System the others are tested against; the first unless named.
    significance
        How to test, as for `softbleu.compare`.

    Raises
    ------
    InputError, UnknownNameError
        As `bucket_scores`, or no system has the name of the baseline.

    Examples
    --------
    >>> from softbleu.corpora import Segments
    >>> systems = {"A": ["a cat"] * 20 + ["x y"], "B": ["a dog"] * 20 + ["x y"]}
    >>> table = compare_buckets(Segments.of(systems, ["a cat"] * 20 + ["x y"]), "chrf")
    >>> [(row.bucket, row.segments, row.system, round(row.score, 1), row.rank) for row in table.rows]
    [('0–9', 21, 'A', 100.0, 1), ('0–9', 21, 'B', 7.1, 2)]
    """
    plan, first = make_plan(metrics), corpus.systems[0] if baseline is None else baseline
    name, buckets, names = _buckets(corpus, plan.metrics[0], by, encoding)
    scored = collect_statistics(corpus, plan, RunOptions(jobs, executor, progress=progress), keep_rows=True)
    how = (significance or SignificanceSettings()).settled(len(corpus.systems), len(np.unique(buckets)))
    families = (
        _family(part, first, how, names[number], buckets == number, by if by in _PARTS else "label")
        for statistics in scored
        for number, part in statistics.parts(buckets)
    )
    named = "bucket" if name in _COLUMNS else name
    table = compare_slices(families, columns={"metric": "metric", named: "bucket", **_COLUMNS})
    return replace(table, facts={"baseline": first, **{f"signature of {one.metric}": one.signature for one in table}})


def _family(
    part: Statistics, baseline: str, how: SignificanceSettings, bucket: str, chosen: Integers, by: str
) -> SliceFamily:
    """Make the family of a part, the `chosen` segments."""
    family = outputs_family(part, baseline, how, {"bucket": bucket, "segments": len(part.counts)}, by=by)
    if by == "errors" and bucket == _CLEAN and part.metric.needs_errors:
        note(f"{family.label} is blank {bucket}: F is 0 there with any edit; see false alarms (score -m errant m2)")
        none = np.full_like(family.observed, np.nan)
        family = replace(
            family, observed=none, score=lambda sums: np.full((*sums.shape[:-1], 1), np.nan), segments=None
        )
    owner = np.repeat(np.arange(family.size), part.counts)
    if how.documents is not None:
        numbers = np.unique(how.documents.fitting(len(chosen))[chosen], return_inverse=True)[1]
        how, owner = replace(how, documents=replace(how.documents, numbers=numbers)), numbers[owner]
    units = np.array([len(np.unique(owner))])

    def differing(one: int, other: int) -> Integers:
        return np.array([len(np.unique(owner[(part.rows[one] != part.rows[other]).any(axis=-1)]))])

    return replace(family, how=how, units=lambda systems: units, differing=differing)


def _buckets(corpus: Corpus, metric: Metric, by: str, encoding: str) -> tuple[str, Integers, Sequence[str]]:
    """Name the parts of a corpus, number the part of each segment, and name each."""
    if by == "length":
        needed = Requirements(references=corpus.has_references, source=not corpus.has_references)
        return by, *_by_length(prepare_corpus(corpus, metric.tokenizer, needed))
    if by == "document":
        if corpus.documents is None:
            raise InputError("to score documents, name them with ", Parameter("documents"))
        return by, corpus.documents.fitting(len(corpus)), corpus.documents.names
    if by == "errors":
        if corpus.source is None and corpus.gold is None:
            raise InputError(
                "to find sentences without errors, give ",
                Parameter("gold"),
                ", or ",
                Parameter("source"),
                " and references",
            )
        if corpus.gold is not None:
            clean = [segment.clean for segment in corpus.gold]
        else:
            loaded = (block.load() for block in corpus.blocks())
            rows = (row for part in loaded for row in zip(part.source or (), part.present(), strict=True))
            clean = [all(text.split() == line.split() for text in texts) for line, texts in rows]
        return by, np.array(clean, np.int64), ["with errors", _CLEAN]
    if not Path(by).exists() and ":" not in by:
        parts = f"length, errors, rarity, coverage, order, document, nor a kind of edits ({', '.join(get_args(By))})"
        raise InputError(f"{by}: no such file, nor one of {parts}")
    labels = read_labels(by, len(corpus), encoding)
    if len(set(labels)) > MOST_LABELS:
        raise InputError(f"{by} has {len(set(labels))} different labels: at most {MOST_LABELS} make a table")
    names, buckets = np.unique(np.array(labels, object), return_inverse=True)
    return by.rpartition(":")[2].rpartition("/")[2], buckets, names.tolist()


def _table(columns: Sequence[str], systems: Sequence[str], rows: Iterable[tuple[_Naming, _Scores]]) -> Table:
    """Make a table of names and a score per system, with the difference of two systems."""
    cells: list[list[Value]] = []
    for named, scores in rows:
        known = [score for score in scores if score is not None]
        apart = [known[1] - known[0] if len(known) == 2 else None] if len(systems) == 2 else []
        cells.append([*named, *scores, *apart])
    return Table([*columns, *systems, *["difference"] * (len(systems) == 2)], cells, verbatim=systems)


def scores_by_length(prepared: PreparedCorpus, statistics: Sequence[Statistics]) -> Table:
    """Score segments in buckets of length, as `bucket_scores` does, from statistics.

    `prepared` is the corpus, `statistics` has the rows of all segments for each metric. Raises `InputError` if
    segments have neither references nor a source.
    """
    return _scores_by("length", statistics, *_by_length(prepared))


def _by_length(prepared: PreparedCorpus) -> tuple[Integers, list[str]]:
    text = shown_text(prepared, len(prepared))
    source_only = not len(text.references.lengths)
    if source_only and text.source is None:
        raise InputError("segments without references and source have no length: give ", Parameter("references"))
    lengths = text.source.lengths if text.source and source_only else text.references.lengths[text.offsets[:-1]]
    return numbered(lengths, LENGTHS)


def _scores_by(by: str, statistics: Sequence[Statistics], buckets: Integers, names: Sequence[str]) -> Table:
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


def scores_by_word(prepared: PreparedCorpus, metric: Metric, by: str) -> Table:
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
