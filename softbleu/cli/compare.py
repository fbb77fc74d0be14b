"""`softbleu compare`: several systems, their intervals and tests."""

from __future__ import annotations

from typing import Any

import typer

from softbleu.cli import options as opt
from softbleu.cli.settings import takes_settings


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
    preset: opt.Preset = None,
    baseline: opt.Baseline = None,
    test: opt.Test = "bootstrap",
    samples: opt.Samples = 1000,
    trials: opt.Trials = 10_000,
    seed: opt.Seed = None,
    distribution: opt.Distribution = None,
    output_format: opt.RecordFormat = "text",
    long_signature: opt.LongSignature = False,
    digits: opt.Digits = 2,
    output: opt.Output = None,
    jobs: opt.Jobs = 1,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Compare systems: scores, 95% intervals, p-values against a baseline, ranks."""
    from softbleu.cli.inputs import input_files, measure_from, open_corpus
    from softbleu.cli.output import Output
    from softbleu.errors import InputError
    from softbleu.progress import ProgressBar
    from softbleu.report import COMPARERS, write_distribution
    from softbleu.scoring import SignificanceSettings, compare_corpus

    write = COMPARERS.find(output_format)
    inputs = input_files(ctx.params)
    target = Output.of(output, inputs)
    target.check_format(output_format)
    resampled = None if distribution is None else Output.of(distribution, inputs)
    if resampled == target:
        raise InputError("--distribution and --output would write to the same place: name another file")
    layout = target.layout(digits, long_signature=long_signature)
    measure = measure_from(ctx.params, also=["seed"])
    drawn: dict[str, Any] = {} if seed is None else {"seed": seed}
    how = SignificanceSettings(test.lower(), samples, trials, **drawn)  # type: ignore[arg-type]
    with open_corpus(ctx.params, [measure]) as corpus, ProgressBar(quiet=quiet) as progress:
        table = compare_corpus(corpus, measure, baseline=baseline, significance=how, jobs=jobs, progress=progress)
    if resampled is not None:
        resampled.write(write_distribution(table))
    target.write(write(table, layout))
