"""`softbleu diff`: differences between two runs."""

from __future__ import annotations

from softbleu.cli.command import command, setting
from softbleu.cli.options import Common
from softbleu.report.comparisons import difference_records
from softbleu.results.runs import diff_files


class DiffOptions(Common, shared="encoding output format digits"):
    """Options of `diff`.

    Attributes
    ----------
    one
        Output of softbleu score --format json
    two
        Output of another day, version or setting
    lines
        Lines of each metric to show in text, the most changed first; other formats have all
    """

    one: str = setting(argument=True, metavar="ONE", file="read")
    two: str = setting(argument=True, metavar="TWO", file="read")
    lines: int = setting(10)


@command
def diff(options: DiffOptions) -> None:
    """Show the differences between two runs of 'softbleu score': settings, resources, scores, lines.

    Scores that were made with other settings cannot be compared; then it says so.
    """
    output = options.open_output()
    difference = diff_files(options.one, options.two, options.encoding)
    lines = None if options.output_format != "text" or options.output else options.lines
    output.write(difference_records(difference, lines))
