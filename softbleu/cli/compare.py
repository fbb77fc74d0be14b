"""`softbleu compare`: several systems, their intervals and tests."""

from __future__ import annotations

import typer

from softbleu.cli import options as opt


def compare(
    ctx: typer.Context,
    candidate: opt.Candidates = None,
    reference: opt.References = None,
    source: opt.Source = None,
    gold: opt.Gold = None,
    pairs: opt.Pairs = None,
    input_format: opt.InputFormat = None,
    encoding: opt.Encoding = "utf-8",
    metric: opt.Metric = None,
    matcher: opt.Matcher = None,
    threshold: opt.Threshold = None,
    vectors: opt.Vectors = None,
    vector_case: opt.VectorCase = None,
    similarity: opt.Similarity = None,
    vectors_postprocess: opt.Postprocess = None,
    neighbours: opt.Neighbours = None,
    mutual: opt.Mutual = None,
    function_words: opt.FunctionWords = None,
    assignment: opt.Assignment = None,
    consumption: opt.Consumption = None,
    composition: opt.Composition = None,
    order: opt.Order = None,
    tokenize: opt.Tokenize = None,
    lowercase: opt.Lowercase = None,
    smooth: opt.Smooth = None,
    smooth_value: opt.SmoothValue = None,
    effective_order: opt.EffectiveOrder = None,
    denominator: opt.Denominator = None,
    variant: opt.Variant = None,
    penalty: opt.Penalty = None,
    weight: opt.Weight = None,
    swapped_bp: opt.SwappedBp = None,
    multi: opt.Multi = None,
    iterations: opt.Iterations = None,
    seed: opt.Seed = None,
    beta: opt.Beta = None,
    power: opt.Power = None,
    rarity: opt.Rarity = None,
    position: opt.Position = None,
    characters: opt.Characters = None,
    credit: opt.Credit = None,
    idf: opt.Idf = None,
    max_unchanged_words: opt.MaxUnchangedWords = None,
    annotators: opt.Annotators = None,
    preset: opt.Preset = None,
    baseline: opt.Baseline = None,
    test: opt.Test = "bootstrap",
    samples: opt.Samples = 1000,
    trials: opt.Trials = 10_000,
    test_seed: opt.TestSeed = 12345,
    distribution: opt.Distribution = None,
    output_format: opt.CompareFormat = "text",
    digits: opt.Digits = 2,
    output: opt.Output = None,
    jobs: opt.Jobs = 1,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Compare systems: scores, 95% intervals, p-values against a baseline, ranks."""
    from softbleu.cli.inputs import input_files, make_settings, open_corpus
    from softbleu.cli.output import Output
    from softbleu.cli.progress import ProgressBar
    from softbleu.errors import InputError
    from softbleu.report import COMPARERS, Layout, write_distribution
    from softbleu.scoring import SignificanceSettings, compare_with

    write = COMPARERS.find(output_format)
    inputs = input_files(ctx.params)
    target = Output.of(output, inputs)
    resampled = None if distribution is None else Output.of(distribution, inputs)
    if resampled == target:
        raise InputError("--distribution and --output would write to the same place: name another file")
    layout = Layout(digits, target.colours)
    settings = make_settings(ctx.params)
    how = SignificanceSettings(test, samples, trials, test_seed)  # type: ignore[arg-type]
    with (
        open_corpus(ctx.params, needs_source=settings.metric != "bleu") as corpus,
        ProgressBar(quiet=quiet) as progress,
    ):
        table = compare_with(corpus, settings, baseline, how, jobs=jobs, progress=progress)
    if resampled is not None:
        resampled.write(write_distribution(table))
    target.write(write(table, layout))
