"""`softbleu score`: corpora in, scores out."""

from __future__ import annotations

from typing import Any

import typer

from softbleu.cli import options as opt
from softbleu.cli.settings import takes_settings


@takes_settings()
def score(
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
    level: opt.Level = None,
    output_format: opt.Format = "text",
    long_signature: opt.LongSignature = False,
    digits: opt.Digits = 2,
    output: opt.Output = None,
    jobs: opt.Jobs = 1,
    kernels: opt.Kernels = "auto",
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Score candidates against references with BLEU, GLEU or their soft kin, or corrections with M2 or I-measure."""
    from softbleu.cli.errors import say
    from softbleu.cli.inputs import (
        check_kernels,
        check_signature,
        find_level,
        input_files,
        measure_from,
        measures_from,
        open_corpus,
    )
    from softbleu.cli.output import Output
    from softbleu.cli.progress import ProgressBar
    from softbleu.report import PAGES, WRITERS, Layout
    from softbleu.scoring import score_corpus

    write: Any = PAGES[output_format] if output_format in PAGES else WRITERS.find(output_format, PAGES)
    target = Output.of(output, input_files(ctx.params))
    target.check_format(output_format)
    layout = Layout(digits, target.colours, long_signature)
    run: dict[str, Any] = {"level": find_level(level, signature), "kernels": check_kernels(kernels), "jobs": jobs}
    shown: Any
    measures = [measure_from(ctx.params)] if output_format in PAGES else measures_from(ctx.params)
    with open_corpus(ctx.params, measures) as corpus, ProgressBar(quiet=quiet) as progress:
        if output_format in PAGES:
            from softbleu.scoring.pages import make_page

            page = make_page(corpus, measures[0], progress=progress, **run)
            shown, results = page, page.results
        else:
            shown = results = score_corpus(corpus, measures, progress=progress, **run)
    if signature is not None:
        check_signature(signature, results[0].signature, quiet=quiet)
    if output_format in PAGES and len(page.text) < page.segments and not quiet:
        say(f"note: the page shows the first {len(page.text):,} of {page.segments:,} segments; its scores are of all")
    target.write(write(shown, layout))
