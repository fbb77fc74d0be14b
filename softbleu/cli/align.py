"""`softbleu align`: an output cut into the segments of its reference, or lines of texts that belong together."""

from __future__ import annotations

from softbleu.cli.command import command, setting
from softbleu.cli.inputs import TextOptions
from softbleu.corpora.parallel import cut_file
from softbleu.corpora.resegment import group_lines
from softbleu.errors import InputError


class AlignOptions(TextOptions, shared="references source encoding output format"):
    """Options of `align`.

    Attributes
    ----------
    candidate
        An output whose line breaks are others than the reference's; - is standard input
    groups
        Cut no lines: show which lines of source, references and output belong together, with a row for each of the
        smallest groups; sentences that one text splits or merges are in one. Essays, below headings "### essay_id =
        …", are aligned one by one
    """

    candidate: str = setting(flags=("-c",), file="read", panel="Input")
    groups: bool = setting(False)


@command
def align(options: AlignOptions) -> None:
    """Cut an output with other line breaks, or none, into the segments of its references, by least edit distance.

    'softbleu score --resegment' does the same on the way; this shows the outcome.
    """
    if options.groups:
        output = options.open_output()
        output.write(group_lines(options.candidate, options.references, options.source, options.encoding))
        return
    if options.source or options.output_format != "text":
        raise InputError("--source and --format go with --groups: an output is cut by its references")
    target = options.open_target()
    target.write(f"{line}\n" for line in cut_file(options.candidate, options.references, options.encoding))
