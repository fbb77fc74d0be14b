"""`softbleu explain`: matched n-grams, closest paths of networks, or errors in lines."""

from collections.abc import Sequence

from softbleu.cli.command import Given, command
from softbleu.errors import InputError


@command(
    "explain",
    "segment show top candidate reference source gold absent_annotators pairs input_format against "
    "blank_references resegment documents encoding metric preset language spans table_format digits output",
    settings=lambda option: True,
)
def explain(given: Given) -> None:
    """Show the matched n-grams of chosen segments; for hyter the closest paths, for refless the errors found.

    For meteor, ter, softbleu and bertscore it shows words that stand for each other: matched, edited or most similar.
    For m2, cleme and uot it shows edits: which are gold edits, which are wrong, and which gold edits are missed.
    For other metrics it shows the numbers that the score of a segment is made of.
    """
    from softbleu.analysis import choose_lines
    from softbleu.meta.reading import read_marks
    from softbleu.report.explanations import EXPLAINERS
    from softbleu.results.explain import explain_corpus

    output = given.open_output(given.input_files(), EXPLAINERS.find(given.output_format))
    if (given.show and given.segment) or (given.top is not None and not given.show):
        raise InputError("--show chooses --top segments, and --segment names them: give one of these")
    plan = given.plan(one=given.show != "disagreeing")
    with given.open_corpus(plan) as corpus:
        if given.show:
            lines = choose_lines(corpus, plan, given.show.lower(), top=20 if given.top is None else given.top)
            chosen = list(dict.fromkeys(line.segment for line in lines))
        else:
            chosen = parse_segments(given.segment or [f"1-{min(3, len(corpus))}"], len(corpus))
        marks = read_marks(given.spans, corpus, given.encoding)
        explanations = explain_corpus(corpus, plan.metrics[0], chosen, spans=marks)
    output.write(explanations)


def parse_segments(texts: Sequence[str], total: int) -> list[int]:
    """Read numbers and ranges of segments of the corpus, each segment once, in the order given.

    >>> parse_segments(["7", "1-3", "2", "10"], 10)
    [7, 1, 2, 3, 10]
    """
    numbers: dict[int, None] = {}
    for text in texts:
        first, dash, last = text.partition("-")
        ends = (first, last if dash else first)
        if not all(end.isascii() and end.isdigit() and len(end) < 19 for end in ends):
            raise InputError(f"--segment takes a number from 1, or a range such as 4-9, not {text!r}")
        start, stop = map(int, ends)
        if start > stop:
            raise InputError(f"--segment {text}: the range ends before it starts")
        for number in (start, stop):
            if not 1 <= number <= total:
                raise InputError(f"no segment {number}: the corpus has segments 1 to {total}")
        numbers.update(dict.fromkeys(range(start, stop + 1)))
    return list(numbers)
