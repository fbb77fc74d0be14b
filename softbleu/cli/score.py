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
    score_only: opt.ScoreOnly = False,
    long_signature: opt.LongSignature = False,
    title: opt.Title = None,
    digits: opt.Digits = 2,
    output: opt.Output = None,
    jobs: opt.Jobs = 1,
    cluster: opt.Cluster = None,
    resume: opt.Resume = False,
    kernels: opt.Kernels = "auto",
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Score text against references (BLEU, chrF, TER and soft kin of BLEU), or corrections (GLEU, M2, I-measure).

    Systems go behind -c, references behind -r: softbleu score -c A B C -r REFERENCE -m bleu chrf ter.
    """
    from softbleu.cli.errors import say
    from softbleu.cli.inputs import input_files, measure_from, measures_from, open_corpus
    from softbleu.cli.output import Output
    from softbleu.errors import InputError
    from softbleu.io.executors import cluster_executor
    from softbleu.io.progress import ProgressBar
    from softbleu.report import PAGES, WRITERS, write_numbers
    from softbleu.scoring import score_corpus
    from softbleu.scoring.published import broken_promises, find_level

    page_wanted = output_format.lower() in PAGES
    write: Any = PAGES.find(output_format) if page_wanted else WRITERS.find(output_format, PAGES)
    if page_wanted and resume:
        raise InputError("--resume goes with scores, not with a page: leave out one")
    if score_only:
        if output_format != "text":
            raise InputError("--score-only prints numbers alone: leave out --format")
        write = write_numbers
    target = Output.of(output, input_files(ctx.params))
    target.check_format(output_format)
    layout = target.layout(digits, long_signature=long_signature)
    run: dict[str, Any] = {"level": find_level(level, signature), "kernels": kernels.lower(), "jobs": jobs}
    journal = target.journal(".score") if resume else None
    run["executor"] = ctx.with_resource(cluster_executor(cluster, jobs))
    shown: Any
    measures = [measure_from(ctx.params)] if page_wanted else measures_from(ctx.params)
    # One that is named twice is computed once.
    from softbleu.scoring.plan import key_of

    distinct = list({key_of(each): each for each in measures}.values())
    with open_corpus(ctx.params, measures, run["executor"]) as corpus, ProgressBar(quiet=quiet) as progress:
        if page_wanted:
            from softbleu.analysis.pages import make_page

            page = make_page(corpus, measures[0], progress=progress, title=title or "", **run)
            shown, results = page, page.results
        else:
            shown = results = score_corpus(corpus, distinct, journal=journal, progress=progress, **run)
    for broken in () if signature is None else broken_promises(signature, results[0].signature):
        if not quiet:
            say(f"note: {broken}")
    if page_wanted and len(page.text) < page.segments and not quiet:
        say(f"note: the page shows the first {len(page.text):,} of {page.segments:,} segments; its scores are of all")
    target.write(write(shown, layout))
    target.drop(journal)
