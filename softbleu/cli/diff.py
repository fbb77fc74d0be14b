"""`softbleu diff`: what differs between two runs."""

from softbleu.cli.command import Given, command


@command("diff", "one two lines encoding table_format digits output")
def diff(given: Given) -> None:
    """Say what differs between two runs of 'softbleu score': settings, resources, scores, lines.

    Scores that were made with other settings cannot be compared; then it says so.
    """
    from softbleu.report.comparisons import difference_records
    from softbleu.results.runs import diff_files

    output = given.open_output([given.one, given.two])
    difference = diff_files(given.one, given.two, given.encoding)
    lines = None if given.output_format != "text" or given.output else given.lines
    output.write(difference_records(difference, lines))
