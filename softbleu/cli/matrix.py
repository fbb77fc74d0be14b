"""`softbleu matrix`: every candidate with every reference."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt
from softbleu.cli.settings import takes_settings
from softbleu.errors import InputError

_of = opt.OptionTable("""
Input
  --lists FILE: Instead: lists of texts, as 'softbleu select' takes them.
Score
  --level NAME: corpus, a table of scores of corpora, or segment, a row a pair of each segment (default: corpus; of
    --lists segment).
""")


@takes_settings()
def matrix(
    ctx: typer.Context,
    candidate: opt.Candidates = None,
    reference: opt.References = None,
    lists: Annotated[str | None, _of("--lists")] = None,
    encoding: opt.Encoding = "utf-8",
    metric: opt.Metrics = None,
    preset: opt.Preset = None,
    level: Annotated[str | None, _of("--level", ("corpus", "segment"))] = None,
    output_format: opt.TableFormat = None,
    digits: opt.Digits = 2,
    output: opt.Output = None,
    jobs: opt.Jobs = 1,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Score every candidate with every reference, or with every other one, each text prepared once."""
    from softbleu.cli.inputs import measure_from, system_files
    from softbleu.cli.output import table_output
    from softbleu.corpora import ParallelFiles, name_files
    from softbleu.corpora.records import read_lists
    from softbleu.errors import known_name
    from softbleu.io.progress import ProgressBar
    from softbleu.report.pairs import matrix_records, text_pair_records
    from softbleu.scoring.pairs import pair_systems, score_pairs, score_systems

    if bool(lists) == bool(candidate) or (lists and reference):
        raise InputError("either -c (and -r) or --lists says what is compared: give one of them")
    by_segment = known_name("level", level or ("segment" if lists else "corpus"), ("corpus", "segment")) == "segment"
    if lists and not by_segment:
        raise InputError("lists of texts are no corpora: leave out --level, or name files with -c and -r")
    systems, references = system_files(ctx.params), reference or ()
    write = table_output(output_format, output, [*systems.values(), *references, lists], digits)
    measure = measure_from(ctx.params)
    names = [list(systems), list(name_files(references) if references else systems)]
    if lists:
        given = read_lists(lists, encoding)
    else:
        with ParallelFiles.open(systems, references or list(systems.values()), encoding=encoding) as corpus:
            given = pair_systems(corpus)
    with ProgressBar(quiet=quiet) as progress:
        if by_segment:
            found = score_pairs(given, measure, jobs=jobs, progress=progress, names=None if lists else names)
            write(text_pair_records(found))
        else:
            write(matrix_records(score_systems(given, names, measure, jobs=jobs, progress=progress)))
