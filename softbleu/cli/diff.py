"""`softbleu diff`: differences between two runs, and the history of several."""

from __future__ import annotations

from softbleu.cli.command import command, setting
from softbleu.cli.options import Common
from softbleu.errors import InputError
from softbleu.formats import is_for_readers
from softbleu.report.comparisons import difference_records
from softbleu.report.history import history_lines, history_table
from softbleu.results.runs import diff_files, read_history


class DiffOptions(Common, shared="encoding output format digits"):
    """Options of `diff`.

    Attributes
    ----------
    runs
        Outputs of softbleu score --format json, of several days, versions or settings, in their order
    lines
        Lines of each metric to show in text, the most changed first; other formats have all
    plot
        Also draw the scores over the runs into this file: .svg, .png or .pdf (needs softbleu[plots])
    """

    runs: tuple[str, ...] = setting(argument=True, metavar="RUN", file="read")
    lines: int = setting(10)
    plot: str | None = setting(None, file="written")


@command
def diff(options: DiffOptions) -> None:
    """Show the differences between two runs of 'softbleu score': settings, resources, scores, lines.

    Of more than two runs it shows the history of the scores, a row per run. Scores that were made with other settings
    cannot be compared; then it says so.
    """
    if len(options.runs) < 2:
        raise InputError("one run has no difference: name two, or more for a history")
    several = len(options.runs) > 2
    output = options.open_output()
    picture = options.open_picture(options.plot)
    if several or options.plot:
        history = read_history(options.runs, options.encoding)
        picture(history_lines, history)
    if several:
        for_readers = is_for_readers(options.output_format)
        output.write(history_table(history, output.layout) if for_readers else history)
        return
    one, two = options.runs
    lines = None if options.output_format != "text" or options.output else options.lines
    output.write(difference_records(diff_files(one, two, options.encoding), lines))
