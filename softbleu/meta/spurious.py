"""Deserved and spurious soft credit of matchers and their variants, over aligned text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from softbleu.corpora.corpus import Corpus, Segments
from softbleu.corpora.generate import AlignedPair, GenerationSettings, check_alignment, generate, read_aligned
from softbleu.engine.plan import make_plan, threshold_of, with_threshold
from softbleu.engine.prepare import Broadcast, broadcast, prepare_corpus, whole_chunk
from softbleu.engine.runner import MINI_BATCH
from softbleu.errors import InputError, Parameter, known_name
from softbleu.io.arguments import check_run, several
from softbleu.io.executors import chosen_executor, run_in_order, single_threaded_blas
from softbleu.io.tabular import Records, Tabular
from softbleu.matching.matchers import SoftMatcher
from softbleu.matching.ngrams import Chunk, check_order
from softbleu.matching.sweep import MatchIntervals, match_intervals
from softbleu.meta.credit import DESERVED, CreditTally, Judge, approximate
from softbleu.meta.credit_tables import Analysis, credit_table
from softbleu.meta.matcher_variants import PLAIN, MatcherVariant, make_variants
from softbleu.meta.sweep import read_thresholds
from softbleu.metrics.base import Requirements
from softbleu.text.tokens import Tokenizer, Whitespace
from softbleu.types import Progress

if TYPE_CHECKING:
    from softbleu.metrics.keywords import MatchSettings
    from softbleu.types import Integers


GRAMMAR = "modifiers"
COUNT = 2000
PAIRINGS = ("paraphrase", "halves")


@dataclass(frozen=True, eq=False, repr=False)
class SpuriousCredit(Tabular):
    """Analyses of a text, one for each matcher and variant."""

    analyses: list[Analysis]
    facts: dict[str, str]

    def records(self) -> list[dict[str, Any]]:
        """Rows of the summary."""
        return self.table().records()

    def described(self) -> dict[str, str]:
        """Describe the text, and name the vectors."""
        return self.facts

    def table(self, name: str = "summary") -> Records:
        """Make a table of `CREDIT_TABLES`; see `credit_table`."""
        return credit_table(name, self.analyses, self.facts)


def spurious(
    *,
    grammar: str | None = None,
    pairing: str | None = None,
    count: int | None = None,
    seed: int | None = None,
    pairs: str | Sequence[AlignedPair] | None = None,
    encoding: str = "utf-8",
    matchers: Sequence[str] = ("vleu", "xleu"),
    variants: Sequence[str] = (PLAIN,),
    thresholds: Sequence[float | str] = ("0:0.95:0.05",),
    at: float = 0.8,
    order: int = 4,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **settings: Unpack[MatchSettings],
) -> SpuriousCredit:
    """Separate deserved from spurious credit, for each matcher, variant and threshold.

    Parameters
    ----------
    grammar
        Grammar that generates aligned pairs.
    pairing
        How its sentences are paired: `paraphrase` or `halves`.
    count
        Number of pairs.
    seed
        Seed of the draws.
    pairs
        Aligned pairs, or a file of them.
    matchers
        Each of them is tried with every variant.
    variants
        Names of settings against spurious matches, such as `aligned`.
    thresholds
        Numbers, ranges such as ``0:1:0.02`` and quantiles such as ``p99.9``.
    at
        Threshold that is reported.
    order
        Greatest n-gram order.
    jobs
        Processes to use; the digits do not depend on it.
    executor
        Any other executor to use instead.
    settings
        Those of the matchers and the vectors.
    encoding
        Of the files.
    progress
        True for a bar, in notebooks too; or a function of the pairs done and of all.

    Raises
    ------
    InputError, VectorError
        Not exactly one text, or an unknown or invalid setting.

    Examples
    --------
    >>> credit = spurious(grammar="alternations", count=20, matchers=["vleu"])
    >>> credit.facts["text"], credit.table("orders").columns[:4]
    ('alternations, paraphrase, seed 0', ['matcher', 'variant', 'order', 'threshold'])
    """
    check_run(jobs, executor, progress)
    made = make_variants({**settings, "order": order}, several(matchers), several(variants))
    grid = read_thresholds([f"{threshold}" for threshold in several(thresholds)])
    generated = {"grammar": grammar, "pairing": pairing, "count": count, "seed": seed}
    text, facts = read_matched_text(generated, pairs, encoding)
    analyses = find_spurious(text, made, grid, at=at, order=order, jobs=jobs, executor=executor, progress=progress)
    return SpuriousCredit(analyses, {**facts, "vectors": analyses[0].vectors})


@dataclass(frozen=True)
class MatchedText:
    """Text of one system, and the gold alignments of its candidates to their references; `of_pairs` makes it."""

    corpus: Corpus
    tokenizer: Tokenizer
    aligned: Integers
    """For each candidate token the place of the reference token that it is aligned to, or -1."""

    @classmethod
    def of_pairs(cls, pairs: Iterable[AlignedPair]) -> MatchedText:
        """Take aligned pairs. InputError: there are none, or a pair, which is named, is not possible."""
        candidates, references, aligned = [], [], []
        for number, pair in enumerate(pairs, start=1):
            candidates.append(" ".join(pair.candidate))
            references.append(" ".join(pair.reference))
            if (candidates[-1].split(), references[-1].split()) != (list(pair.candidate), list(pair.reference)):
                raise InputError(f"pair {number} has a token with a blank in it, or an empty one")
            aligned.append(_places(number, pair))
        if not candidates:
            raise InputError("there are no aligned pairs: nothing to analyse")
        return cls(Segments.of(candidates, references), Whitespace(), np.concatenate(aligned))


def _places(number: int, pair: AlignedPair) -> Integers:
    places = np.full(len(pair.candidate), -1)
    for left, right in check_alignment(f"pair {number}", pair.candidate, pair.reference, pair.alignment):
        places[left] = right
    return places


def read_matched_text(
    generated: Mapping[str, Any], pairs: str | Iterable[AlignedPair] | None, encoding: str
) -> tuple[MatchedText, dict[str, str]]:
    """Read aligned pairs from a file, take those that are there, or generate them by a grammar; say what they are.

    `generated` has `grammar`, `pairing`, `count` and `seed` of what is generated, None where they are not chosen:
    `count` pairs, of halves all by default.
    """
    if pairs is None:
        grammar, pairing, count, seed = (generated[name] for name in ("grammar", "pairing", "count", "seed"))
        chosen: Any = known_name("pairing", pairing or "paraphrase", PAIRINGS)
        count = COUNT if count is None and chosen == "paraphrase" else count
        settings = GenerationSettings(grammar or GRAMMAR, chosen, seed or 0, count, encoding=encoding)
        text = MatchedText.of_pairs(generate(settings).pairs())
        said = f"{settings.grammar}, {settings.pairing}, seed {settings.seed}"
    elif any(value is not None for value in generated.values()):
        raise InputError("one text at a time: ", Parameter("pairs"), ", or what ", Parameter("grammar"), " generates")
    else:
        said = pairs if isinstance(pairs, str) else "aligned pairs"
        text = MatchedText.of_pairs(read_aligned(pairs, encoding) if isinstance(pairs, str) else pairs)
    return text, {"text": said, "pairs": f"{len(text.corpus):,}"}


def find_spurious(
    text: MatchedText,
    variants: Sequence[MatcherVariant],
    thresholds: Sequence[float | str],
    *,
    at: float = 0.8,
    order: int = 4,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[Analysis]:
    """Match aligned text in several ways, and judge what was matched approximately, at all thresholds at once.

    Quantiles among the thresholds are looked up for each variant. In memory are the coded text and the vectors of its
    words.

    Parameters
    ----------
    text
        Text of one system, aligned to its reference.
    variants
        Ways to match it.
    thresholds
        Numbers from 0 to 1, and quantiles such as `p99.9`.
    at
        Threshold that is reported.
    order
        Greatest n-gram order.
    jobs, executor
        Processes, or what runs the work instead; the digits do not depend on them.
    progress
        Told how much is done.

    Examples
    --------
    >>> from softbleu.corpora.generate import AlignedPair
    >>> from softbleu.meta.matcher_variants import make_variants
    >>> pair = AlignedPair(("small", "dog"), ("little", "cat"), ((0, 0),), "related")
    >>> vectors = {"small": [1.0, 0.1], "little": [1.0, 0.2], "dog": [0.1, 1.0], "cat": [0.2, 1.0]}
    >>> variants = make_variants({"vectors": vectors}, ["vleu"], ["plain"])
    >>> credit = find_spurious(MatchedText.of_pairs([pair]), variants, [0.5])[0].curve[0]
    >>> credit.matches, round(credit.deserved, 2), round(credit.spurious, 2), credit.recall
    (3, 1.0, 2.0, 1.0)
    """
    check_order(order)
    plan = make_plan([variant.metric for variant in variants])
    if plan.context:
        raise InputError("spurious matches are looked for in single lines: leave out ", Parameter("context"))
    grids = _read_grids(variants, [at, *thresholds])
    prepared = prepare_corpus(text.corpus, text.tokenizer, Requirements())
    chunk = whole_chunk(prepared)
    needed = Requirements(vectors=True, frequency=True)
    tables = [prepared.table(metric.vector_choice, needed) for metric in plan.metrics]
    analyses = [
        Analysis(variant, grid, grid.index(float(at)), CreditTally(len(grid), order), table.identity)
        for variant, grid, table in zip(variants, grids, tables, strict=True)
    ]
    starts = range(0, len(chunk), MINI_BATCH)
    with ExitStack() as stack:
        stack.enter_context(single_threaded_blas())
        workers = stack.enter_context(chosen_executor(executor, jobs, len(starts)))
        distinct = {id(table): table.words for table in tables}
        sent = {key: stack.enter_context(broadcast(words, workers)) for key, words in distinct.items()}
        tasks = [
            _Task(analysis.variant.make_matcher(), sent[id(table)][0], analysis.thresholds)
            for analysis, table in zip(analyses, tables, strict=True)
        ]
        contents = {key: content for _, named in sent.values() for key, content in named.items()}
        batches = (_mini_batch(text, chunk, start) for start in starts)
        matched = run_in_order(partial(_match, tasks, order), batches, workers, contents)
        for start, results in zip(starts, matched, strict=True):
            for analysis, tally in zip(analyses, results, strict=True):
                analysis.tally.merge(tally)
            if progress is not None:
                progress(min(start + MINI_BATCH, len(chunk)), len(chunk))
    return analyses


def _read_grids(variants: Sequence[MatcherVariant], thresholds: Sequence[float | str]) -> list[tuple[float, ...]]:
    """Thresholds of each variant, ascending."""
    asked = [with_threshold(variant.metric, threshold) for variant in variants for threshold in thresholds]
    known = iter([float(threshold_of(metric) or 0.0) for metric in make_plan(asked).metrics])
    return [tuple(sorted({*islice(known, len(thresholds))})) for _ in variants]


def _mini_batch(text: MatchedText, chunk: Chunk, start: int) -> tuple[Chunk, Integers]:
    end = min(start + MINI_BATCH, len(chunk))
    offsets = chunk.candidates.offsets
    return chunk.part(start, end), text.aligned[offsets[start] : offsets[end]]


class _Task(NamedTuple):
    """What a worker needs to know to match in one way."""

    matcher: SoftMatcher
    table: Broadcast
    thresholds: tuple[float, ...]


def _match(tasks: Sequence[_Task], max_order: int, batch: tuple[Chunk, Integers]) -> list[CreditTally]:
    """Match a mini-batch in every way."""
    chunk, aligned = batch
    judge = Judge(chunk, aligned, max_order)
    deserving = judge.deserving()
    tallies = []
    for task in tasks:
        tally = CreditTally(len(task.thresholds), max_order)
        intervals = match_intervals(task.matcher, task.thresholds, chunk, task.table.load().vectors, max_order)
        which = approximate(chunk, intervals) & (intervals.matched > 0)
        intervals = MatchIntervals(*(column[which] for column in vars(intervals).values()))
        classes = judge.classes(intervals)
        # Which matches reward a deserving n-gram.
        rewarded = np.zeros(len(intervals.order), bool)
        for order, starts in enumerate(deserving, start=1):
            tally.deserving[order - 1] += len(starts)
            rewarded |= (classes == DESERVED) & (intervals.order == order) & np.isin(intervals.starts, starts)
        tally.add(intervals, classes, rewarded)
        tallies.append(tally)
    return tallies
