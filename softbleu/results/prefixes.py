"""Partial scores of all prefixes of outputs, in one pass over a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from softbleu.corpora.corpus import make_corpus
from softbleu.engine.plan import GivenMetric, Plan, make_plan
from softbleu.engine.runner import MINI_BATCH, running
from softbleu.engine.streams import check_partial
from softbleu.errors import InputError
from softbleu.io.arguments import is_whole_number
from softbleu.io.platform import single_threaded_blas
from softbleu.kernels import choose_kernels
from softbleu.matching.partial import prefixes
from softbleu.metrics.guards import checked_rows
from softbleu.metrics.protocols import at_level

if TYPE_CHECKING:
    from typing import Unpack

    from softbleu.corpora.corpus import Corpus, References, Texts
    from softbleu.metrics.base import Metric
    from softbleu.metrics.keywords import Settings
    from softbleu.types import Floats, Integers

Cuts = Callable[["Integers"], tuple["Integers", "Integers"]]
"""Function from lengths of candidates to prefixes: the number of the candidate of each, and its tokens."""


@dataclass(frozen=True)
class PrefixScore:
    """The partial score of a prefix of an output, as a segment of its own."""

    system: str
    segment: int  # From 1
    tokens: int  # Tokens of the prefix
    length: int  # Tokens of the whole output
    score: float


@dataclass(frozen=True)
class PrefixRows:
    """Statistics of prefixes of some segments of a system."""

    system: str
    first: int  # Segments of the corpus before these
    owner: Integers  # Number of the segment of each prefix, from 0
    tokens: Integers  # Tokens of each prefix
    lengths: Integers  # Tokens of the whole candidate of each prefix
    rows: Integers  # (prefixes, k), or a row for each reference of each prefix
    offsets: Integers  # Prefix p has the rows ``offsets[p]`` to ``offsets[p + 1]``


def every_tokens(step: int) -> Cuts:
    """Cut candidates after every so many tokens, and at their ends."""
    if not is_whole_number(step) or step < 1:
        raise InputError(f"prefixes end after a whole number of tokens, at least 1, not {step!r}")

    def cuts(lengths: Integers) -> tuple[Integers, Integers]:
        counts = -(-lengths // step)
        owner = np.repeat(np.arange(len(lengths)), counts)
        numbers = np.arange(1, len(owner) + 1) - np.repeat(np.cumsum(counts) - counts, counts)
        return owner, np.minimum(step * numbers, lengths[owner])

    return cuts


def at_fractions(fractions: Sequence[float]) -> Cuts:
    """Cut candidates after shares of their tokens, rounded up."""
    shares = np.array(fractions, float)
    if not len(shares) or not ((shares > 0) & (shares <= 1)).all():
        raise InputError(f"fractions of outputs are greater than 0 and at most 1, not {list(fractions)}")

    def cuts(lengths: Integers) -> tuple[Integers, Integers]:
        owner = np.repeat(np.arange(len(lengths)), len(shares))
        return owner, np.ceil(np.multiply.outer(lengths, shares)).astype(np.int64).reshape(-1)

    return cuts


def prefix_rows(corpus: Corpus, plan: Plan, cuts: Cuts) -> Iterator[PrefixRows]:
    """Compute the statistics of prefixes of all outputs, some segments at a time, by the one metric of a plan.

    All prefixes of an output are aligned in one pass; memory does not grow with the corpus.
    """
    check_partial(plan.only)
    plan = plan.over(corpus, keep_rows=True)
    metric, kernels = plan.only, choose_kernels("numpy")
    plain = replace(metric, partial=False)  # Its references are cut here
    with running(corpus, plan) as runner, single_threaded_blas():
        prepared = runner.prepared(metric)
        words = prepared.table(metric.vector_choice, metric.requires).words if metric.requires.table else None
        first = 0
        for block in prepared.blocks():
            for system, chunk in zip(prepared.systems, block.chunks(), strict=True):
                for start in range(0, len(chunk), MINI_BATCH // 8):
                    piece = chunk.part(start, min(start + MINI_BATCH // 8, len(chunk)))
                    owner, tokens = cuts(piece.candidates.lengths)
                    some = prefixes(piece, owner, tokens, metric.tokenizer)
                    rows = checked_rows(plain, some, words, kernels)
                    offsets = np.arange(len(some) + 1) if len(rows) == len(some) else some.segment_offsets
                    lengths = piece.candidates.lengths[owner]
                    yield PrefixRows(system, first + start, owner, tokens, lengths, rows, offsets)
            first += len(block)


def prefix_scores(
    candidates: Texts,
    references: References | None = None,
    source: Iterable[str] | None = None,
    *,
    metrics: GivenMetric = "bleu",
    every: int = 1,
    fractions: Sequence[float] | None = None,
    **settings: Unpack[Settings],
) -> Iterator[PrefixScore]:
    """Score the prefixes of outputs against the beginnings of references that they have come to.

    Each prefix has the score that `ScoredStream.score` and a sentence score with ``partial=True`` have.

    Parameters
    ----------
    candidates, references, source
        Texts as for `softbleu.score`.
    metrics
        A name, an expression or a value, of a metric that compares two texts.
    every
        Score prefixes of every so many tokens, and the whole output.
    fractions
        Score prefixes of these shares of an output's tokens instead, rounded up.
    settings
        Settings of the metric.

    Yields
    ------
    PrefixScore
        Yield some segments at a time, one system after the other.

    Raises
    ------
    InputError, VectorError
        As `softbleu.score`; also for a metric of whole outputs.

    Examples
    --------
    >>> scores = prefix_scores(["the cat sat here"], ["the cat lay there"], metrics="chrf", every=2)
    >>> [(prefix.tokens, round(prefix.score, 1)) for prefix in scores]
    [(2, 100.0), (4, 50.8)]
    """
    plan = make_plan(metrics, **settings)
    cuts = every_tokens(every) if fractions is None else at_fractions(fractions)
    for part in prefix_rows(make_corpus(candidates, references, source), plan, cuts):
        columns = (part.first + part.owner + 1, part.tokens, part.lengths, _scores(plan.only, part))
        for segment, tokens, length, score in zip(*(column.tolist() for column in columns), strict=True):
            yield PrefixScore(part.system, segment, tokens, length, score)


def _scores(metric: Metric, part: PrefixRows) -> Floats:
    """Score each prefix as a corpus of one segment."""
    aggregation = at_level(metric, "segment").aggregation
    if aggregation.sum_is_enough:
        return aggregation.segment_numbers(part.rows, part.offsets)
    # Random samples of references depend on the number of a segment.
    rows = np.split(part.rows, part.offsets[1:-1])
    return np.concatenate([aggregation.segment_numbers(some, np.array([0, len(some)])) for some in rows])
