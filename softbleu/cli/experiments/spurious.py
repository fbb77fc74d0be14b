"""`softbleu experiments spurious`: which soft credit is deserved, which is not, and what helps."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt
from softbleu.cli.completion import grammars, names
from softbleu.cli.completion import matchers as complete_matchers
from softbleu.cli.settings import SettingOption, about_matches, chosen_options, given_settings, takes_settings

_of = opt.OptionTable("""
Input
  --pairs FILE: Aligned pairs, as 'softbleu corpora generate' writes them in jsonl.
Artificial text
  --grammar -g NAME|FILE: Generate aligned pairs from this grammar (default, without any input: modifiers).
  --pairing NAME: paraphrase, or halves: random sentences in pairs (default: paraphrase).
  --count N: How many pairs (default: 2000; halves: all).
  --seed N: Seed of the generator (default: 0).
Matching
  --matcher NAME…: Matchers with approximate matches (default: vleu and xleu).
  --remedy NAME…: plain, optimal, aligned, sif, neighbours, mutual, csls, centred, function-words, or several joined
    by + (default: plain).
  --all-remedies: Every remedy, and some combinations.
  --threshold -t 0..1: Threshold at which to report, and to collect partners (default: 0.8).
  --thresholds LIST…: Thresholds to find the best among: 0.7,0.8 or 0:1:0.02 or quantiles such as p99.9 (default:
    0:0.95:0.05).
Output
  --table NAME: summary, thresholds, orders, partners or offenders (default: summary).
  --most N: Partners or offenders to list of each matcher and remedy (default: 20).
  --plot FILE: Also draw spurious shares and precision against recall (without alignments: a histogram of partners)
    into this .svg, .png or .pdf file (needs softbleu[plots]).
""")
_tables = names("experiments.credit_tables", "CREDIT_TABLES")


def _not_varied(option: SettingOption) -> bool:
    return about_matches(option) and option.setting.name not in ("matcher", "threshold")


@takes_settings(_not_varied)
def spurious(
    ctx: typer.Context,
    pairs: Annotated[str | None, _of("--pairs")] = None,
    candidate: opt.Candidates = None,
    reference: opt.References = None,
    encoding: opt.Encoding = "utf-8",
    grammar: Annotated[str | None, _of("--grammar", grammars)] = None,
    pairing: Annotated[str | None, _of("--pairing", ("paraphrase", "halves"))] = None,
    count: Annotated[int | None, _of("--count")] = None,
    seed: Annotated[int | None, _of("--seed")] = None,
    matchers: Annotated[list[str] | None, _of("--matcher", complete_matchers)] = None,
    remedies: Annotated[list[str] | None, _of("--remedy", names("experiments.remedies", "REMEDIES"))] = None,
    all_remedies: Annotated[bool, _of("--all-remedies")] = False,
    threshold: Annotated[float, _of("--threshold")] = 0.8,
    thresholds: Annotated[list[str] | None, _of("--thresholds")] = None,
    table: Annotated[str, _of("--table", _tables)] = "summary",
    most: Annotated[int, _of("--most")] = 20,
    output_format: opt.TableFormat = None,
    digits: opt.Digits = 2,
    output: opt.Output = None,
    plot: Annotated[str | None, _of("--plot")] = None,
    jobs: opt.Jobs = 1,
    cluster: opt.Cluster = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Tell deserved from spurious credit by gold alignments, for each matcher, remedy and threshold.

    Give aligned pairs, or a grammar to generate them from. Of text without alignments (-c and -r) it counts the
    partners of approximate matches and lists the worst.
    """
    from softbleu.cli.errors import say
    from softbleu.cli.inputs import system_files
    from softbleu.cli.output import Output, find_table_format
    from softbleu.errors import InputError, known_name
    from softbleu.experiments.remedies import COMBINATIONS, PLAIN, REMEDIES
    from softbleu.experiments.spurious import spurious as analyse
    from softbleu.experiments.text import GRAMMAR
    from softbleu.io.executors import cluster_executor
    from softbleu.io.progress import ProgressBar
    from softbleu.report.plots import check_plots
    from softbleu.report.spurious import draw_spurious

    table = known_name("table", table, _tables())
    if most < 1:
        raise InputError(f"--most is 1 or greater, not {most}")
    hashed = [value for each, value in chosen_options(ctx.params) if each.setting.hashed]
    inputs = [
        name for name in (pairs, grammar, *hashed, *system_files(ctx.params).values(), *(reference or ())) if name
    ]
    target = Output.of(output, inputs)
    write = find_table_format(output_format, target)
    picture = None if plot is None else Output.of_picture(plot, inputs)
    names = [*(remedies or ()), *((*REMEDIES, *COMBINATIONS) if all_remedies else ())] or [PLAIN]
    if picture is not None:
        check_plots()
    matchers = matchers or ["vleu", "xleu"]
    with ProgressBar(quiet=quiet, what="matching") as progress:
        found = analyse(
            grammar=grammar,
            pairing=pairing,
            count=count,
            seed=seed,
            pairs=pairs,
            candidates=candidate or (),
            references=reference or (),
            encoding=encoding,
            matchers=matchers,
            remedies=names,
            thresholds=thresholds or ("0:0.95:0.05",),
            at=threshold,
            jobs=jobs,
            executor=ctx.with_resource(cluster_executor(cluster, jobs)),
            progress=progress,
            **given_settings(ctx.params, ("bleu", *matchers), _not_varied),
        )
    given = (pairs, candidate, reference, grammar, pairing, count, seed)
    if not quiet and not any(value is not None for value in given):
        say(f"note: no input given (see --help), so this generates pairs of the grammar {GRAMMAR}")
    if not quiet and all(each.is_empty for each in found.analyses):
        say("note: no approximate matches at any threshold: there is no credit to judge")
    target.write(write(found.table(table, most), target.layout(digits)))
    if picture is not None:
        picture.write(draw_spurious(found.analyses, picture.suffix))
