"""`softbleu align`: an output cut into the segments of its reference, or lines of texts that belong together."""

from softbleu.cli.command import Given, command


@command(
    "candidate reference source encoding groups table_format output",
    """
Input
  --candidate -c FILE !: An output whose line breaks are others than the reference's; - is standard input.
Output
  --groups: Cut no lines: show which lines of source, references and output belong together, with a row for each of
    the smallest groups; sentences that one text splits or merges are in one.
""",
)
def align(given: Given) -> None:
    """Cut an output with other line breaks, or none, into the segments of its references, by least edit distance.

    'softbleu score --resegment' does the same on the way; this shows what comes of it.
    """
    from softbleu.corpora.files import open_text
    from softbleu.corpora.parallel import read_segments_of
    from softbleu.corpora.resegment import resegment
    from softbleu.errors import InputError

    inputs = [given.candidate, *given.files("reference", "source")]
    if given.groups:
        _show_groups(given, inputs)
        return
    if given.source or given.output_format != "text":
        raise InputError("--source and --format go with --groups: an output is cut by its references")
    place = given.open_place(inputs)
    segments = read_segments_of(given.reference or [], given.encoding)
    with given.progress("cutting"):
        cut = resegment(list(open_text(given.candidate, given.encoding)), segments)
        place.write("".join(f"{line}\n" for line in cut.texts))


def _show_groups(given: Given, inputs: list[str]) -> None:
    from softbleu.corpora.files import STDIN, open_text
    from softbleu.corpora.resegment import align_lines
    from softbleu.errors import InputError
    from softbleu.io.tabular import Records

    if inputs.count(STDIN) > 1:
        raise InputError("standard input (-) can be read once only")
    output = given.open_output(inputs)
    # Lines are aligned with those of the source, else of the first reference.
    names = [*given.files("source", "reference"), given.candidate]
    with given.progress("aligning"):
        texts = [list(open_text(name, given.encoding)) for name in names]
        groups = align_lines(texts)
    rows = []
    for group in groups:
        numbers = (f"{lines.start + 1}-{lines.stop}" if len(lines) > 1 else str(lines.stop) for lines in group)
        joined = (" ".join(text[line] for line in lines) for text, lines in zip(texts, group, strict=True))
        rows.append([*(number if lines else "" for number, lines in zip(numbers, group, strict=True)), *joined])
    output.write(Records([*(f"lines of {name}" for name in names), *names], rows, text_columns=2 * len(names)))
