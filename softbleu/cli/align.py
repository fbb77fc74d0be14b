"""`softbleu align`: an output cut into the segments of its reference, or lines of texts that belong together."""

from softbleu.cli.command import Given, command


@command("candidate reference source encoding groups table_format output")
def align(given: Given) -> None:
    """Cut an output with other line breaks, or none, into the segments of its references, by least edit distance.

    'softbleu score --resegment' does the same on the way; this shows what comes of it.
    """
    from softbleu.corpora.essays import begins_essay, group_lines
    from softbleu.corpora.files import open_text
    from softbleu.corpora.parallel import read_segments_of
    from softbleu.corpora.resegment import resegment
    from softbleu.errors import InputError

    inputs = [given.candidate, *given.files("reference", "source")]
    if given.groups:
        output = given.open_output(inputs)
        output.write(group_lines(given.candidate, given.files("reference"), given.source, given.encoding))
        return
    if given.source or given.output_format != "text":
        raise InputError("--source and --format go with --groups: an output is cut by its references")
    place = given.open_place(inputs)
    segments = read_segments_of(given.reference, given.encoding)
    lines = list(open_text(given.candidate, given.encoding))
    if begins_essay(lines) or begins_essay(next(zip(*segments, strict=True), ())):
        said = "cut them on the way by 'softbleu score --resegment', or see with --groups which lines belong together"
        raise InputError(f"there are essays (### essay_id = …), which are not cut as one text: {said}")
    place.write(f"{line}\n" for line in resegment(lines, segments).texts)
