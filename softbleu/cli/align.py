"""`softbleu align`: an output cut into the segments of its reference, or lines of texts that belong together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from softbleu.cli.command import Given, command


@command("candidate reference source encoding groups table_format output")
def align(given: Given) -> None:
    """Cut an output with other line breaks, or none, into the segments of its references, by least edit distance.

    'softbleu score --resegment' does the same on the way; this shows what comes of it.
    """
    from softbleu.corpora.essays import begins_essay
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
    lines = list(open_text(given.candidate, given.encoding))
    if begins_essay(lines) or begins_essay(next(zip(*segments, strict=True), ())):
        said = "cut them on the way by 'softbleu score --resegment', or see with --groups which lines belong together"
        raise InputError(f"there are essays (### essay_id = …), which are not cut as one text: {said}")
    place.write(f"{line}\n" for line in resegment(lines, segments).texts)


def _show_groups(given: Given, inputs: list[str]) -> None:
    from softbleu.corpora.essays import begins_essay, read_files
    from softbleu.corpora.files import STDIN, open_text
    from softbleu.errors import InputError
    from softbleu.io.tabular import Records

    if inputs.count(STDIN) > 1:
        raise InputError("standard input (-) can be read once only")
    output = given.open_output(inputs)
    # Lines are aligned with those of the source, else of the first reference.
    names = [*given.files("source", "reference"), given.candidate]
    columns = [*(f"lines of {name}" for name in names), *names]
    texts = [list(open_text(name, given.encoding)) for name in names]
    essays = {name: lines for name, lines in zip(names, texts, strict=True) if begins_essay(lines)}
    if essays:
        ordered = [given.candidate, *given.files("reference", "source")]
        read = read_files(ordered, essays, slice(1, 1 + len(given.files("reference"))))
        places = [ordered.index(name) for name in names]
        found = [(essay, [parts[place] or None for place in places]) for essay, parts in read.by_essay()]
        rows = [[essay, *row] for essay, parts in found for row in _rows(parts)]
    else:
        rows = [*_rows(texts)]
    columns = ["essay"] * bool(essays) + columns
    output.write(Records(columns, rows, text_columns=len(columns)))


def _rows(texts: Sequence[list[str] | None]) -> Iterator[list[str]]:
    """Rows of a group each: the numbers of its lines in each text, and these lines; None are none at all."""
    from softbleu.corpora.resegment import align_lines

    there = [lines for lines in texts if lines is not None]
    alone = len(texts) > 1 and len(there) < 2  # Nothing else has the essay
    groups = [[range(n, n + 1)] for n in range(sum(map(len, there)))] if alone else align_lines(there)
    for group in groups:
        found = iter(zip(there, group, strict=True))
        pairs = [(lines or [], range(0) if lines is None else next(found)[1]) for lines in texts]
        numbers = [f"{part.start + 1}-{part.stop}" if len(part) > 1 else str(part.stop) for _, part in pairs]
        joined = [" ".join(lines[number] for number in part) for lines, part in pairs]
        yield [*(number if part else "" for number, (_, part) in zip(numbers, pairs, strict=True)), *joined]
