"""`softbleu explain`: matched n-grams, closest paths of networks, or errors in lines."""

from __future__ import annotations

from softbleu.analysis import choose_lines
from softbleu.analysis.differences import LineKind
from softbleu.cli.command import command, setting
from softbleu.cli.inputs import Annotated, ByDocument, Marked, Resegment
from softbleu.cli.options import Digits, TableFormat
from softbleu.errors import InputError
from softbleu.meta.reading import read_marks
from softbleu.report.explanations import EXPLAINERS
from softbleu.results.explain import explain_corpus, parse_segments


class ExplainOptions(Annotated, Resegment, ByDocument, TableFormat, Marked, Digits):
    """Options of `explain`.

    Attributes
    ----------
    segments
        Numbers of segments, from 1, or ranges
    show
        Choose segments instead: the worst, the most different (two systems) or disagreeing ones (two metrics)
    top
        How many segments --show chooses
    """

    segments: tuple[str, ...] = setting(
        (), name="segment", unset="the first 3", flags=("-l",), metavar="N|N-M", panel="Input", common=True
    )
    show: LineKind | None = setting(None, panel="Input", common=True)
    top: int | None = setting(None, unset="20", panel="Input", common=True)


@command
def explain(options: ExplainOptions) -> None:
    """Show the matched n-grams of chosen segments; for hyter the closest paths, for refless the errors found.

    For meteor, ter, softbleu and bertscore it shows words that stand for each other: matched, edited or most similar.
    For m2, cleme and uot it shows edits: which are gold edits, which are wrong, and which gold edits are missed.
    For other metrics it shows the numbers that the score of a segment is made of.
    """
    output = options.open_output(EXPLAINERS.find(options.output_format))
    if (options.show and options.segments) or (options.top is not None and not options.show):
        raise InputError("--show chooses --top segments, and --segment names them: give one of these")
    plan = options.plan(one=options.show != "disagreeing")
    with options.open_corpus(plan) as corpus:
        if options.show:
            lines = choose_lines(corpus, plan, options.show, top=20 if options.top is None else options.top)
            chosen = list(dict.fromkeys(line.segment for line in lines))
        else:
            chosen = parse_segments(options.segments or [f"1-{min(3, len(corpus))}"], len(corpus))
        marks = read_marks(options.spans, corpus, options.encoding)
        explanations = explain_corpus(corpus, plan.metrics[0], chosen, spans=marks)
    output.write(explanations)
