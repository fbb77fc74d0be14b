"""`softbleu align`: an output cut into the segments of its reference."""

from softbleu.cli.command import Given, command


@command(
    "candidate reference encoding output",
    """
Input
  --candidate -c FILE !: An output whose line breaks are others than the reference's; - is standard input.
""",
)
def align(given: Given) -> None:
    """Cut an output with other line breaks, or none, into the segments of its references, by least edit distance.

    'softbleu score --resegment' does the same on the way; this shows what comes of it.
    """
    from softbleu.corpora.files import open_text
    from softbleu.corpora.parallel import read_segments_of
    from softbleu.corpora.resegment import resegment

    place = given.open_place([given.candidate, *given.files("reference")])
    segments = read_segments_of(given.reference or [], given.encoding)
    with given.progress("cutting"):
        cut = resegment(list(open_text(given.candidate, given.encoding)), segments)
        place.write("".join(f"{line}\n" for line in cut.texts))
