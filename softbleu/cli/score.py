"""`softbleu score`: corpora in, scores out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast

from softbleu import report, results
from softbleu.cli.command import command
from softbleu.cli.inputs import SystemScores
from softbleu.cli.output import Form
from softbleu.config.declare import setting
from softbleu.engine.runner import RunOptions
from softbleu.errors import InputError
from softbleu.formats import is_for_readers
from softbleu.io.progress import note
from softbleu.kernels import KernelName
from softbleu.metrics.base import Level
from softbleu.metrics.protocols import exact_twin
from softbleu.report import WRITERS
from softbleu.report.scores import SoftScores, write_numbers, write_soft_json, write_soft_text
from softbleu.results.api import score_corpus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.plan import Plan
    from softbleu.metrics.result import Result

_MORE = "softbleu explain --show pairs"
_SOFT = {"text": write_soft_text, "json": write_soft_json}


class ScoreOptions(SystemScores):
    """Options of `score`.

    Attributes
    ----------
    level
        Level of scores: corpus; segment, document or reference (each of them, too); macro (mean of segments); prefix
        (cut outputs, each against the beginning of the reference that it has come to)
    every
        With --level prefix: cut outputs after every so many tokens
    fractions
        With --level prefix: cut outputs after these shares of their tokens
    score_only
        Print scores alone: a line per system (or a segment), on it one number per metric
    kernels
        Compute with numpy or numba; auto takes numba, if installed, for large text
    """

    level: Level | Literal["prefix"] | None = setting(None, unset="corpus", panel="Score", common=True)
    every: int | None = setting(None, panel="Score")
    fractions: tuple[float, ...] = setting((), unset="0.25 0.5 0.75 1", panel="Score")
    score_only: bool = setting(False, flags=("-b",))
    kernels: KernelName = setting("auto")


@command
def score(options: ScoreOptions) -> None:
    """Score text against references (BLEU, chrF, TER, soft variants of BLEU), or corrections (GLEU, M2, I-measure).

    Systems follow -c, references -r, metrics -m: softbleu score -c A B C -r REFERENCE -m bleu chrf ter.
    """
    if options.level == "prefix":
        _score_prefixes(options)
        return
    _check_format(options)
    output = options.open_output(write_numbers if options.score_only else WRITERS, ".score", pages=True)
    level = options.level or cast("Level", options.signed.get("level", "corpus").lower())
    shown: object
    plan = options.plan()
    if options.annotators_as("each"):
        corpora = options.each_annotator()
        note("each is scored by the others: scores say how well annotators agree, not who is best")
        output = replace(output, layout=replace(output.layout, verdicts=False))
        output.write([one for each in corpora for one in score_corpus(each, plan, level=level, jobs=options.jobs)])
        return
    soft = None if options.score_only or level != "corpus" else _SOFT.get(options.output_format)
    twin = exact_twin(plan.only) if soft and len(plan.metrics) == 1 else None
    with options.progress() as progress, options.open_corpus(plan, by_document=level == "document") as corpus:
        progress.begin(len(corpus), slow=plan.compares_words)
        if options.page_wanted:
            # Pages load language models, and more.
            from softbleu.meta.reading import read_marks
            from softbleu.report.pages import make_page

            page = make_page(
                corpus,
                plan,
                level=level,
                kernels=options.kernels,
                progress=progress,
                title=options.title,
                spans=read_marks(options.spans, corpus, options.encoding),
                jobs=options.jobs,
            )
            shown, found = page, page.scores.results
            if len(page.text) < page.text.segments:
                segments = f"{len(page.text):,} of {page.text.segments:,} segments"
                kept = "differ most" if len(found) > 1 else "score worst"
                note(f"the page shows {segments}, those that {kept}; its scores are of all")
        else:
            shown = found = score_corpus(
                corpus,
                plan if twin is None else replace(plan, metrics=(plan.only, twin)),
                level=level,
                kernels=options.kernels,
                checkpoint=output.checkpoint,
                progress=progress,
                jobs=options.jobs,
            )
        if twin is not None:
            shown = _with_exact(corpus, plan, found)
            output = replace(output, form=cast("Form", soft))
    if options.signature is not None:
        from softbleu.results.runs import broken_promises

        for broken in broken_promises(options.signed, found[0].signature):
            note(broken)
    output.write(shown)


def _check_format(options: ScoreOptions) -> None:
    """Check that options fit the format of scores."""
    if options.every is not None or options.fractions:
        raise InputError("--every and --fractions cut outputs: add --level prefix")
    if options.page_wanted and options.resume:
        raise InputError("--resume goes with scores, not with a page: leave out one")
    if options.spans and not options.page_wanted:
        raise InputError("--spans are marked on a page: add --format html")
    if options.score_only and options.output_format != "text":
        raise InputError("--score-only prints numbers alone: leave out --format")


def _with_exact(corpus: Corpus, plan: Plan, found: Sequence[Result]) -> SoftScores:
    """Divide the scores of systems by a soft metric and by its exact twin; for one system, find its soft gain."""
    from softbleu.analysis.credit import soft_gains

    count = len(corpus.systems)
    results, exact = found[:count], found[count:]
    gains = soft_gains(corpus, plan.only, results, exact) if count == 1 else []
    return SoftScores(results, exact, next(iter(gains), None), _MORE)


def _score_prefixes(options: ScoreOptions) -> None:
    """Score unfinished outputs: a table of curves for readers, a row for each prefix for programs."""
    if options.every is not None and options.fractions:
        raise InputError("--every and --fractions both say where outputs are cut: leave out one")
    if options.resume or options.score_only or options.spans or options.gate:
        raise InputError("--level prefix has no --resume, --score-only, --spans and --gate: leave them out")
    cuts = results.prefixes.make_cuts(options.every, options.fractions or None)
    if options.page_wanted and options.every is not None:
        raise InputError("a page shows outputs by fraction: leave out --every")
    output = options.open_output(pages=True)
    plan = results.prefixes.partial_plan(options.plan(), language=options.language)
    with options.progress() as progress, options.open_corpus(plan) as corpus:
        run = RunOptions(kernels=options.kernels, progress=progress, jobs=options.jobs)
        if options.page_wanted:
            shares = options.fractions or results.prefixes.QUARTERS
            tests = results.fractions.compare_fractions(corpus, plan, shares, options=run)
            output.write(report.curve_page.make_curve_page(corpus, tests, plan.metrics[0].tokenizer, options.title))
        elif is_for_readers(options.output_format):
            curves = results.prefixes.curves_of(corpus, plan, cuts, run)
            output.write(report.curve_records(curves, output.layout))
        else:
            output.write(report.prefix_records(results.prefixes.score_prefixes(corpus, plan, cuts, run)))
