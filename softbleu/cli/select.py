"""`softbleu select`: the candidate of an n-best list that is most like all others."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt
from softbleu.cli.completion import formats
from softbleu.cli.settings import takes_settings

_of = opt.OptionTable("""
Input
  --lists FILE: JSONL, a segment a line: {"candidates": [text, …]}, maybe with "references", or a list of texts; - is
    standard input.
  --mean-reference: Compare with the mean of the references' n-gram counts, once, not with each (bleu, chrf).
""")
JsonFormat = Annotated[str, opt.format_option(f"{opt.FORMATS} (default: jsonl).", formats)]


@takes_settings(lambda each: each.setting.name != "segment_smoothing")
def select(
    ctx: typer.Context,
    lists: Annotated[str, _of("--lists")],
    mean_reference: Annotated[bool, _of("--mean-reference")] = False,
    encoding: opt.Encoding = "utf-8",
    metric: opt.Metrics = None,
    preset: opt.Preset = None,
    output_format: JsonFormat = "jsonl",
    digits: opt.Digits = 2,
    output: opt.Output = None,
    jobs: opt.Jobs = 1,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Choose from each n-best list the candidate with the best expected score: minimum Bayes risk."""
    from softbleu.cli.inputs import measure_from
    from softbleu.cli.output import table_output
    from softbleu.corpora.records import read_lists
    from softbleu.io.progress import ProgressBar
    from softbleu.scoring.pairs import select as choose
    from softbleu.tabular import Records

    write = table_output(output_format, output, [lists], digits)
    measure = measure_from(ctx.params)
    with ProgressBar(quiet=quiet, many=1) as progress:
        found = choose(
            read_lists(lists, encoding), measure, mean_reference=mean_reference, jobs=jobs, progress=progress
        )
    write(Records.of(found))
