"""`softbleu align`: an output cut into the segments of its reference, or lines of texts that belong together."""

from softbleu.cli.command import Given, command


@command("align", "candidate reference source encoding groups table_format output")
def align(given: Given) -> None:
    """Cut an output with other line breaks, or none, into the segments of its references, by least edit distance.

    'softbleu score --resegment' does the same on the way; this shows what comes of it.
    """
    from softbleu.corpora.corpus import cut_file
    from softbleu.corpora.resegment import group_lines
    from softbleu.errors import InputError

    inputs = [given.candidate, *given.files("reference", "source")]
    if given.groups:
        output = given.open_output(inputs)
        output.write(group_lines(given.candidate, given.files("reference"), given.source, given.encoding))
        return
    if given.source or given.output_format != "text":
        raise InputError("--source and --format go with --groups: an output is cut by its references")
    place = given.open_place(inputs)
    place.write(f"{line}\n" for line in cut_file(given.candidate, given.reference, given.encoding))
