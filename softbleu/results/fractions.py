"""Systems compared by fraction of their outputs: intervals and tests of partial scores, and where outputs part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from softbleu.corpora.corpus import Corpus, References, Texts, make_corpus
from softbleu.engine.plan import GivenMetric, GivenMetrics
from softbleu.engine.prefixes import AtFractions, prefix_rows
from softbleu.engine.runner import Runner, RunOptions, part_of, running
from softbleu.engine.statistics import Statistics
from softbleu.results.comparison import Comparison, SliceFamily, compare_slices
from softbleu.results.prefixes import QUARTERS, chosen_rows, partial_plan
from softbleu.results.significance import SignificanceSettings
from softbleu.results.slices import outputs_family

if TYPE_CHECKING:
    from softbleu.metrics.keywords import Settings
    from softbleu.text.tokens import Tokenizer

FRACTIONS = QUARTERS[:-1]


_COLUMNS = (
    *("metric", "fraction", "system", "outputs", "score", "lower", "upper"),
    *("difference", "difference_lower", "difference_upper", "p_value", "corrected", "signature"),
)


def compare_fractions(
    corpus: Corpus,
    metrics: GivenMetrics = "bleu",
    fractions: Sequence[float] = FRACTIONS,
    *,
    baseline: str | None = None,
    significance: SignificanceSettings | None = None,
    options: RunOptions | None = None,
) -> Comparison:
    """Test systems by partial scores of their outputs, cut after shares of their tokens, and by whole outputs.

    All tests of a metric draw the same segments, and their p-values are corrected together.

    Parameters
    ----------
    corpus
        Outputs and references.
    metrics
        Metrics that compare two texts.
    fractions
        Shares of an output's tokens, rounded up.
    baseline
        System the others are tested against; the first unless named.
    significance
        How to test, as for `softbleu.compare`.
    options
        Workers and progress of the run.
    """
    how, options, families = significance or SignificanceSettings(), options or RunOptions(), list[SliceFamily]()
    cuts = AtFractions.of(fractions)
    plan = partial_plan(metrics)
    partial, count = plan.metrics, len(plan.metrics)
    plan = replace(plan, metrics=(*partial, *(metric.whole for metric in partial)))
    plan = plan.over(corpus, keep_rows=True)
    first = corpus.systems[0] if baseline is None else baseline
    signed = {"test-fractions": "+".join(map(repr, cuts.fractions))}
    with running(corpus, plan, replace(options, progress=None)) as runner:
        collected = runner.collect(plan.metrics)
        for number, (scored, whole) in enumerate(zip(collected[:count], collected[count:], strict=True)):
            runner.progress = part_of(options.progress, number, count)
            cut = [*_cut_statistics(runner, scored, cuts), replace(whole, empty=scored.empty)]
            for fraction, each in zip([*cuts.fractions, None], cut, strict=True):
                each = replace(each, edits={**each.edits, **signed})
                family = outputs_family(each, first, how, {"fraction": fraction})
                facts = [[{**cells, "signature": family.signatures[0]} for cells in of] for of in family.facts]
                families.append(replace(family, name=str(whole.metric), facts=facts))
    return replace(compare_slices(families, columns={name: name for name in _COLUMNS}), facts={"baseline": first})


def _cut_statistics(runner: Runner, scored: Statistics, cuts: AtFractions) -> list[Statistics]:
    """Collect the statistics of all outputs at each fraction."""
    systems, shares = range(len(scored.systems)), range(len(cuts.fractions))
    rows: list[list[list[Any]]] = [[[] for _ in systems] for _ in shares]
    counts: list[Any] = []
    for parts in prefix_rows(runner, scored.metric, cuts):
        for part in parts:
            for share in shares:
                chosen, each = chosen_rows(part, np.arange(share, len(part.owner), len(cuts.fractions)))
                rows[share][part.system].append(chosen)
                counts += [each] * (share == part.system == 0)
    joined = np.concatenate(counts)
    return [
        replace(scored, rows=np.stack([np.concatenate(some) for some in by_system]), counts=joined)
        for by_system in rows
    ]


def compare_partial(
    candidates: Texts,
    references: References | None = None,
    source: Sequence[str] | None = None,
    *,
    metrics: GivenMetric | Sequence[GivenMetric] = "bleu",
    fractions: Sequence[float] = FRACTIONS,
    baseline: str | None = None,
    significance: SignificanceSettings | None = None,
    jobs: int = 1,
    **settings: Unpack[Settings],
) -> Comparison:
    """Test systems at fractions of their outputs, each against the beginnings of references that it has come to.

    Texts and settings are as for `softbleu.score`, the other parameters as in `compare_fractions`.

    Examples
    --------
    >>> systems = {"one": ["the cat sat here", "it is"], "two": ["a cat lay here", "it is"]}
    >>> tests = compare_partial(systems, ["the cat sat there", "it is"], metrics="chrf", fractions=[0.5])
    >>> [(row.system, row.fraction, round(row.score, 1)) for row in tests.rows]
    [('one', 0.5, 100.0), ('two', 0.5, 36.9), ('one', None, 76.7), ('two', None, 29.3)]
    """
    plan = partial_plan(metrics, **settings)
    run: dict[str, Any] = {"baseline": baseline, "significance": significance, "options": RunOptions(jobs)}
    return compare_fractions(make_corpus(candidates, references, source), plan, fractions, **run)


@dataclass(frozen=True)
class Parting:
    """Place where the outputs of two systems part: tokens that they share at the beginning, and those that follow."""

    segment: int  # From 1
    shared: int
    length: int  # Tokens of the first system's output
    one: tuple[str, ...]  # Further tokens of the first system
    other: tuple[str, ...]


def find_partings(corpus: Corpus, one: str, other: str, tokenizer: Tokenizer) -> Iterator[Parting]:
    """Find the first token at which the outputs of two systems differ, line by line; equal outputs are left out."""
    segment = 0
    for block in corpus.blocks():
        texts = block.load().candidates
        for pair in zip(texts[one], texts[other], strict=True):
            segment += 1
            first, second = (tuple(tokenizer.split(text)) for text in pair)
            if first != second:
                shared = common_beginning(first, second)
                yield Parting(segment, shared, len(first), first[shared:], second[shared:])


def common_beginning(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the tokens that two texts share at their beginning.

    >>> common_beginning(["a", "cat", "sat"], ["a", "cat", "lay"])
    2
    """
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
