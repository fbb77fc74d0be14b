"""`softbleu score`: corpora in, scores out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from softbleu.cli import options as opt


def score(
    ctx: typer.Context,
    candidate: opt.Candidates = None,
    reference: opt.References = None,
    source: opt.Source = None,
    gold: opt.Gold = None,
    pairs: opt.Pairs = None,
    input_format: opt.InputFormat = None,
    encoding: opt.Encoding = "utf-8",
    metric: opt.Metric = None,
    signature: opt.Signature = None,
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
    segment_smoothing: opt.SegmentSmoothing = None,
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
    level: opt.Level = None,
    output_format: opt.Format = "text",
    digits: opt.Digits = 2,
    output: opt.Output = None,
    jobs: opt.Jobs = 1,
    kernels: opt.Kernels = "auto",
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Score candidates against references with BLEU, GLEU or their soft kin, or corrections with M2 or I-measure."""
    from softbleu.cli.inputs import (
        check_kernels,
        check_level,
        check_signature,
        input_files,
        make_settings,
        open_corpus,
    )
    from softbleu.cli.output import Output
    from softbleu.cli.progress import ProgressBar
    from softbleu.report import PAGES, WRITERS, Layout
    from softbleu.scoring import score_with

    if output_format in PAGES:
        _write_page(ctx.params)
        return
    write = WRITERS.find(output_format, PAGES)
    target = Output.of(output, input_files(ctx.params))
    layout = Layout(digits, target.colours)
    checked_level = check_level(level, signature)
    settings = make_settings(ctx.params)
    with (
        open_corpus(ctx.params, needs_source=settings.metric != "bleu") as corpus,
        ProgressBar(quiet=quiet) as progress,
    ):
        results = score_with(
            corpus,
            settings,
            level=checked_level,
            jobs=jobs,
            kernels=check_kernels(kernels),
            progress=progress,
        )
    if signature is not None:
        check_signature(signature, results[0].signature, quiet=quiet)
    target.write(write(results, layout))


def _write_page(options: Mapping[str, Any]) -> None:
    """Score, and write a page that shows every match."""
    from softbleu.cli.errors import say
    from softbleu.cli.inputs import (
        check_kernels,
        check_level,
        check_signature,
        input_files,
        make_settings,
        open_corpus,
    )
    from softbleu.cli.output import Output
    from softbleu.cli.progress import ProgressBar
    from softbleu.report import PAGES, Layout
    from softbleu.scoring.pages import make_page

    quiet, signature = options["quiet"], options["signature"]
    target = Output.of(options["output"], input_files(options))
    layout = Layout(options["digits"])
    checked_level = check_level(options["level"], signature)
    settings = make_settings(options)
    with (
        open_corpus(options, needs_source=settings.metric != "bleu") as corpus,
        ProgressBar(quiet=quiet) as progress,
    ):
        page = make_page(
            corpus,
            settings,
            level=checked_level,
            jobs=options["jobs"],
            kernels=check_kernels(options["kernels"]),
            progress=progress,
        )
    if signature is not None:
        check_signature(signature, page.results[0].signature, quiet=quiet)
    if len(page.text) < page.segments and not quiet:
        say(f"note: the page shows the first {len(page.text):,} of {page.segments:,} segments; its scores are of all")
    target.write(PAGES[options["output_format"]](page, layout))
