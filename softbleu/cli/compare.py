"""`softbleu compare`: several systems, their intervals and tests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import comb
from typing import Any, Literal, cast, get_args

from softbleu import report, results
from softbleu.analysis import bucket_scores, choose_lines, compare_buckets, compare_corrections, ngram_differences
from softbleu.analysis.corrections import By
from softbleu.cli.command import command
from softbleu.cli.inputs import SystemScores
from softbleu.cli.output import Target
from softbleu.cli.settings import SettingOption
from softbleu.config.declare import setting
from softbleu.engine.prefixes import AtFractions
from softbleu.engine.runner import RunOptions
from softbleu.errors import InputError, known_name
from softbleu.formats import TABLE_WRITERS, Writers
from softbleu.io.platform import tell
from softbleu.meta.reading import read_marks
from softbleu.report import COMPARERS
from softbleu.report.comparisons import (
    COMPARISON_COLUMNS,
    note_few,
    rank_panels,
    trades,
    worse_text,
    write_distribution,
)
from softbleu.report.corrections import kind_panels
from softbleu.report.explanations import LINE_WRITERS
from softbleu.report.pages import make_comparison_page
from softbleu.resample import Correction
from softbleu.results.api import compare_corpus
from softbleu.results.comparison import Comparison
from softbleu.results.significance import SignificanceSettings, Test
from softbleu.results.slices import compare_runs

_OF_WHOLE = ("all_pairs", "columns", "distribution", "resume", "fail_if_worse", "margin")
_PARTS = ("length", "errors", "rarity", "coverage", "order", "document", "runs", *get_args(By))


class CompareOptions(SystemScores):
    """Options of `compare`.

    Attributes
    ----------
    baseline
        Compare with this; the others are tested against it
    test
        Test of differences: randomization (approximate) or bootstrap (paired)
    samples
        Bootstrap samples, for the intervals or the test
    compatible
        p-values as sacrebleu counts them, of the bootstrap unless --test says otherwise
    trials
        Trials of the randomization test
    seed
        Seed of all random draws
    correction
        Correct p-values for the number of tests: holm, fdr (Benjamini and Hochberg) or none
    all_pairs
        All pairs of systems: a matrix of tests below each table, or a row per pair
    distribution
        Write the bootstrap scores of every system to this TSV file
    show
        Show single lines instead: the worst, the most different (two systems) or disagreeing ones (two metrics); or
        n-grams that one system matches and another misses (ngrams)
    top
        How many lines or n-grams --show shows
    by
        Score parts instead, as long lines: by length, errors (sentences with and without), rarity or coverage (of
        words), order (of n-grams), document (of --documents), runs (NAME.1 NAME.2 … of a system: how much they and
        segments vary), by a file with a label per segment (FILE:COLUMN of a table; the number of the column where it
        has no header). Or compare the edits of M2, ERRANT, CLEME by type, category, operation, form (any language),
        errant or rules (the same without spaCy); also of the lines of --show
    fractions
        Test unfinished outputs, cut after these shares of their tokens, beside whole ones (--partial alone: after
        each quarter)
    fail_if_worse
        Leave with exit code 1 if a system is significantly worse than the baseline (default: the first) by any of
        the metrics
    margin
        With --fail-if-worse: fail instead if a system is not shown to be worse by no more than this, by the 95%
        interval of the difference
    columns
        Columns of the table, in this order: {names}
    plot
        Also draw the scores into this file: .svg, .png or .pdf (needs softbleu[plots]), ranked, with intervals, and
        which differ from the baseline; with metrics and latencies of --log, quality against latency; with
        --fractions, scores by fraction; with --by type and the like, what the kinds of edits add
    """

    baseline: str | None = setting(
        None, metavar="NAME", unset="the first of two; the best of more", panel="Significance", common=True
    )
    test: Test | None = setting(None, unset="randomization", panel="Significance", common=True)
    samples: int | None = setting(None, unset="1000; a test of over 5 systems takes more", panel="Significance")
    compatible: Literal["sacrebleu"] | None = setting(None, panel="Significance")
    trials: int | None = setting(None, unset="10000, more for all pairs of over 14 systems", panel="Significance")
    seed: int | None = setting(
        None, unset="12345 for tests; 0 for GLEU's samples", earlier=("--test-seed",), panel="Significance"
    )
    correction: Correction | None = setting(
        None, unset="holm; with --compatible sacrebleu none", panel="Significance"
    )
    all_pairs: bool = setting(False, panel="Significance")
    distribution: str | None = setting(None, file="written", panel="Significance")
    fail_if_worse: bool = setting(False, panel="Significance")
    margin: float | None = setting(None, least=0, metavar="POINTS", panel="Significance")
    show: Literal["worst", "different", "disagreeing", "ngrams"] | None = setting(
        None, panel="Differences", common=True
    )
    top: int | None = setting(None, unset="20", panel="Differences")
    by: str | None = setting(
        None, metavar="NAME|FILE", file="read", complete=lambda: _PARTS, panel="Differences", common=True
    )
    fractions: tuple[float, ...] = setting((), panel="Differences")
    columns: tuple[str, ...] = setting((), unset="all that the format shows", complete=lambda: COMPARISON_COLUMNS)
    plot: str | None = setting(None, file="written", common=True)

    @classmethod
    def takes(cls, option: SettingOption) -> bool:
        """Return whether the command has the option of a setting."""
        return option.setting.name != "segment_smoothing"

    @property
    def shares(self) -> tuple[float, ...]:
        """Shares of outputs at which these are tested; none without --fractions and --partial."""
        signed = self.signed.get("test-fractions", "")
        asked = ("partial", True), ("partial_by", "characters")
        partial = any((option.setting.name, value) in asked for option, value in self.chosen)
        return (
            self.fractions
            or (AtFractions.of(signed.split("+")).fractions if signed else ())
            or (results.fractions.FRACTIONS if partial else ())
        )

    def significance(self, **more: object) -> tuple[SignificanceSettings, str | None]:
        """Return how differences are tested, and the baseline that is named, by the signature if not else."""
        names = ("samples", "seed", "correction", "test", "compatible", "trials")
        asked = {"documents": self.labels()} | {name: getattr(self, name) for name in names} | more
        how, signed = SignificanceSettings.from_signature(self.signature, **asked)
        return how, self.baseline or signed


@command
def compare(options: CompareOptions) -> None:
    """Compare systems by any metrics: scores, 95% intervals, ranks, differences and their tests."""
    kinds = None if options.show or options.by not in get_args(By) else cast("By", options.by)
    if kinds and not options.page_wanted:
        _compare_kinds(options, kinds)
    elif options.show or (options.by and not kinds):
        _write_view(options)
    elif options.shares and not kinds:
        _compare_fractions(options)
    else:
        _compare_systems(options, kinds)


def _compare_systems(options: CompareOptions, kinds: By | None) -> None:
    """Test systems; a page also has `kinds` of edits."""
    if options.top is not None:
        raise InputError("--top says how many lines or n-grams --show shows: name one of its tables")
    for column in options.columns:
        known_name("column", column, COMPARISON_COLUMNS)
    output = options.open_output(COMPARERS, ".compare", columns=options.columns, pages=True)
    drawn = options.distribution
    resampled = None if drawn is None else Target.of(drawn, options.input_files())
    picture = options.open_picture(options.plot)
    plan = options.plan(also=["seed"])
    latencies = [metric.requires.delays for metric in plan.metrics]
    how, baseline = options.significance(all_pairs=options.all_pairs)
    run: dict[str, Any] = {"baseline": baseline, "significance": how, "jobs": options.jobs}
    if options.spans and not options.page_wanted:
        raise InputError("--spans are marked on a page: add --format html")
    if options.page_wanted and (resampled or options.plot or options.resume or options.columns):
        raise InputError("a page has no --plot, --distribution, --columns and --resume: these need another format")
    compared: Any
    with options.open_corpus(plan, by_document=True) as corpus, options.progress() as progress:
        _check_gate(options, how.settled(len(corpus.systems)), len(corpus.systems), len(corpus))
        progress.begin(len(corpus), slow=plan.compares_words)
        if options.page_wanted:
            run |= {"title": options.title, "spans": read_marks(options.spans, corpus, options.encoding)}
            run |= {"by": kinds, "language": options.language}
            compared = make_comparison_page(corpus, plan, progress=progress, **run)
        else:
            compared = compare_corpus(corpus, plan, checkpoint=output.checkpoint, progress=progress, **run)
        note_few(how, len(corpus.systems), len(corpus), options.output_format)
    if resampled is not None:
        resampled.write(write_distribution(compared))
    mixed = any(latencies) and not all(latencies)
    picture(partial(trades, delays=latencies) if mixed else rank_panels, compared)
    output.write(compared)
    _fail_if_worse(options, compared.compared if options.page_wanted else compared)


def _check_gate(options: CompareOptions, how: SignificanceSettings, systems: int, lines: int) -> None:
    """Refuse a gate that nothing could fail."""
    if not options.fail_if_worse:
        if options.margin is not None:
            raise InputError("--margin says when to fail: add --fail-if-worse")
        return
    if systems < 2:
        raise InputError("--fail-if-worse compares systems with the first: give the baseline and another to -c")
    if options.margin is not None:
        return
    if few := how.few_lines(lines):
        raise InputError(f"--fail-if-worse: {few}; --margin POINTS asks the interval of the difference instead")
    if none := how.too_few(comb(systems, 2) if options.all_pairs else systems - 1):
        raise InputError(f"--fail-if-worse: {none[0]}")


def _fail_if_worse(options: CompareOptions, compared: Comparison) -> None:
    """Leave with exit code 1 where the gate asks for it."""
    if options.fail_if_worse and (worse := compared.worse(options.margin)):
        tell(f"softbleu: {worse_text(worse, options.margin)}")
        raise SystemExit(1)


def _refuse(options: CompareOptions, names: Sequence[str], said: str) -> None:
    """Refuse options that a table has no use for."""
    if other := next((name.replace("_", "-") for name in names if getattr(options, name)), None):
        raise InputError(f"--{other} {said}")


def _compare_fractions(options: CompareOptions) -> None:
    """Test systems at fractions of their outputs."""
    names = [*_OF_WHOLE, "spans", "gate", "top"]
    _refuse(options, names, "goes with whole outputs: leave it out, or --partial and --fractions")
    output = options.open_output(COMPARERS, pages=True)
    picture = options.open_picture(options.plot)
    plan = results.prefixes.partial_plan(options.plan(also=["seed"]), language=options.language)
    how, baseline = options.significance()
    with options.open_corpus(plan, by_document=True) as corpus, options.progress() as progress:
        run = RunOptions(progress=progress, jobs=options.jobs)
        tests = results.fractions.compare_fractions(
            corpus, plan, options.shares, baseline=baseline, significance=how, options=run
        )
        picture(report.curves.fraction_lines, tests)
        tokenizer, make_curve_page = plan.metrics[0].tokenizer, report.curve_page.make_curve_page
        output.write(make_curve_page(corpus, tests, tokenizer, options.title) if options.page_wanted else tests)


def _compare_kinds(options: CompareOptions, by: By) -> None:
    """Compare the edits of systems by kind."""
    _refuse(options, [*_OF_WHOLE, "compatible", "fractions", "top"], "goes with another table: leave it out, or --by")
    output = options.open_output(COMPARERS, pages=True)
    picture = options.open_picture(options.plot)
    plan = options.plan(also=["seed"])
    how, baseline = options.significance()
    with options.open_corpus(plan, by_document=True) as corpus:
        compared = compare_corrections(
            corpus, plan, by, language=options.language, baseline=baseline, significance=how
        )
    picture(kind_panels, compared)
    output.write(compared)


def _write_view(options: CompareOptions) -> None:
    """Show lines, n-grams or parts of the corpus instead of the comparison."""
    show, by, kinds = options.show, options.by, get_args(By)
    lines = show not in (None, "ngrams")
    tested = show is None and by not in ("rarity", "coverage", "order", "document", "runs")
    names = [*_OF_WHOLE, "plot", "fractions"]
    names += ["test", "trials", "compatible"] * (not tested) + ["samples", "correction"] * (
        not tested and by != "runs"
    )
    names += ["by"] * (show is not None and not (lines and by in kinds))
    _refuse(options, names, "goes with another table: leave it out, or --show and --by")
    writers: Writers[Any] = LINE_WRITERS if lines else COMPARERS if tested else TABLE_WRITERS
    output = options.open_output(writers)
    plan = options.plan(also=["seed"])
    top = 20 if options.top is None else options.top
    view: object
    by_document = tested or by in ("document", "runs")
    with options.open_corpus(plan, by_document=by_document) as corpus, options.progress() as progress:
        run: dict[str, Any] = {"jobs": options.jobs, "progress": progress}
        baseline = options.baseline
        if show == "ngrams":
            view = ngram_differences(corpus, baseline=baseline, top=top, tokenizer=plan.metrics[0].tokenizer)
        elif show:
            run |= {"top": top, "baseline": baseline, "by": by, "language": options.language}
            view = choose_lines(corpus, plan, show, **run)
        elif by == "runs":
            view = compare_runs(
                corpus, plan, options.significance(documents=corpus.documents)[0], baseline=baseline, **run
            )
        elif tested:
            how, baseline = options.significance()
            run |= {"baseline": baseline, "significance": how, "encoding": options.encoding}
            view = compare_buckets(corpus, plan, by=by or "", **run)
        else:
            view = bucket_scores(corpus, plan, by=by or "", encoding=options.encoding, **run)
    output.write(view)
