"""`softbleu diff`: what differs between two runs."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt

_of = opt.OptionTable("""
Output
  --lines N: Lines of each metric to show in text, the most changed first (default: 10; other formats have all).
""")


def diff(
    one: Annotated[str, typer.Argument(metavar="ONE", help="What softbleu score --format json wrote.")],
    two: Annotated[str, typer.Argument(metavar="TWO", help="The same of another day, version or setting.")],
    lines: Annotated[int, _of("--lines")] = 10,
    encoding: opt.Encoding = "utf-8",
    output_format: opt.TableFormat = None,
    digits: opt.Digits = 2,
    output: opt.Output = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Say what differs between two runs of 'softbleu score': settings, resources, scores, lines.

    Scores that were made with other settings cannot be compared; then it says so.
    """
    from softbleu.cli.output import table_output
    from softbleu.report.runs import difference_records
    from softbleu.scoring.runs import diff_files

    write = table_output(output_format, output, [one, two], digits)
    write(
        difference_records(
            diff_files(one, two, encoding), None if output_format not in (None, "text") or output else lines
        )
    )
