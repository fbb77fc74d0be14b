"""`softbleu compare`: several systems, their intervals and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from softbleu.cli import options as opt
from softbleu.cli.settings import takes_settings

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from softbleu.cli.inputs import Options

_of = opt.OptionTable("""
Output
  --plot FILE: Also draw the tests of all pairs into this .svg, .png or .pdf file (needs softbleu[plots]).
""")


@takes_settings(lambda each: each.setting.name != "segment_smoothing")
def compare(
    ctx: typer.Context,
    candidate: opt.Candidates = None,
    reference: opt.References = None,
    source: opt.Source = None,
    gold: opt.Gold = None,
    pairs: opt.Pairs = None,
    input_format: opt.InputFormat = None,
    encoding: opt.Encoding = "utf-8",
    metric: opt.Metrics = None,
    signature: opt.Signature = None,
    preset: opt.Preset = None,
    baseline: opt.Baseline = None,
    test: opt.Test = None,
    samples: opt.Samples = None,
    trials: opt.Trials = None,
    seed: opt.Seed = None,
    correction: opt.Correction = None,
    all_pairs: opt.AllPairs = False,
    show: opt.Show = None,
    top: opt.Top = None,
    by: opt.By = None,
    distribution: opt.Distribution = None,
    output_format: opt.Format = "text",
    long_signature: opt.LongSignature = False,
    title: opt.Title = None,
    digits: opt.Digits = 2,
    output: opt.Output = None,
    plot: Annotated[str | None, _of("--plot")] = None,
    jobs: opt.Jobs = 1,
    cluster: opt.Cluster = None,
    resume: opt.Resume = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Compare systems by any metrics: scores, 95% intervals, ranks, differences and their tests."""
    from softbleu.cli.inputs import input_files, measures_from, open_corpus
    from softbleu.cli.output import Output
    from softbleu.errors import InputError
    from softbleu.io.executors import cluster_executor
    from softbleu.io.progress import ProgressBar
    from softbleu.report import COMPARERS, MATRIX_WRITERS, PAGES, draw_pairs, note_few, write_distribution
    from softbleu.report.plots import check_plots
    from softbleu.scoring import SignificanceSettings, compare_corpus

    if show or by:
        _write_view(ctx.params, ctx.with_resource(cluster_executor(cluster, jobs)))
        return
    if top is not None:
        raise InputError("--top says how many lines or n-grams --show shows: name what to show")
    page_wanted = output_format.lower() in PAGES
    write: Any = (PAGES if page_wanted else MATRIX_WRITERS if all_pairs else COMPARERS).find(output_format)
    inputs = input_files(ctx.params)
    target = Output.of(output, inputs)
    target.check_format(output_format)
    resampled = None if distribution is None else Output.of(distribution, inputs)
    if resampled == target:
        raise InputError("--distribution and --output would write to the same place: name another file")
    picture = None if plot is None else Output.of_picture(plot, inputs)
    if picture is not None:
        check_plots()
    layout = target.layout(digits, long_signature=long_signature)
    measures = measures_from(ctx.params, also=["seed"])
    chosen: dict[str, Any] = {"test": test and test.lower(), "correction": correction and correction.lower()}
    chosen |= {"samples": samples, "trials": trials, "seed": seed}
    how, signed_baseline = SignificanceSettings.from_signature(signature, **chosen)
    run: dict[str, Any] = {"baseline": baseline or signed_baseline, "significance": how, "jobs": jobs}
    journal = target.journal(".compare") if resume else None
    run["executor"] = ctx.with_resource(cluster_executor(cluster, jobs))
    # One that is named twice is computed once.
    from softbleu.scoring.plan import key_of

    distinct = list({key_of(each): each for each in measures}.values())
    if page_wanted and (resampled or picture or resume):
        raise InputError("a page has no --plot, --distribution and --resume: use these with another format")
    found: Any
    with open_corpus(ctx.params, measures, run["executor"]) as corpus, ProgressBar(quiet=quiet) as progress:
        note_few(how, len(corpus.systems), output_format, all_pairs=all_pairs)
        if page_wanted:
            from softbleu.analysis.pages import make_comparison_page

            found = make_comparison_page(corpus, distinct, progress=progress, title=title or "", **run)
        else:
            found = compare_corpus(corpus, distinct, journal=journal, progress=progress, **run)
    if resampled is not None:
        resampled.write(write_distribution(found))
    if picture is not None:
        picture.write(draw_pairs(found, picture.suffix))
    target.write(write(found, layout))
    target.drop(journal)


def _write_view(options: Options, executor: Executor | None) -> None:
    """Show lines, n-grams or parts of the corpus instead of the comparison."""
    from softbleu.analysis import bucket_scores, choose_lines, correction_kinds, ngram_differences
    from softbleu.cli.inputs import input_files, measures_from, open_corpus
    from softbleu.cli.output import Output
    from softbleu.errors import InputError
    from softbleu.io.progress import ProgressBar
    from softbleu.report import LINE_WRITERS, VIEWS

    idle = ("distribution", "plot", "all_pairs", "test", "samples", "trials", "correction", "resume")
    other = next((name for name in idle if options[name]), "by" if options["show"] and options["by"] else None)
    if other is not None:
        raise InputError(f"--{other.replace('_', '-')} goes with another table: leave it out, or --show and --by")
    show, name, baseline = options["show"], options["output_format"], options["baseline"]
    lines = show not in (None, "ngrams")
    write: Any = (LINE_WRITERS if lines else VIEWS).find(name)
    target = Output.of(options["output"], [*input_files(options), options["by"]])
    target.check_format(name)
    measures = measures_from(options, also=["seed"])
    top = 20 if options["top"] is None else options["top"]
    found: Any
    with open_corpus(options, measures, executor) as corpus, ProgressBar(quiet=options["quiet"]) as progress:
        run: dict[str, Any] = {"jobs": options["jobs"], "executor": executor, "progress": progress}
        if lines:
            found = choose_lines(corpus, measures, show.lower(), top=top, baseline=baseline, **run)
        elif show:
            found = ngram_differences(corpus, baseline=baseline, top=top, tokenizer=measures[0].tokenizer)
        elif options["by"] in ("type", "operation", "errant"):
            found = correction_kinds(corpus, measures[0], options["by"])
        else:
            found = bucket_scores(corpus, measures, by=options["by"], encoding=options["encoding"], **run)
    target.write(write(found, target.layout(options["digits"])))
