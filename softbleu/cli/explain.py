"""`softbleu explain`: matched n-grams, closest paths of networks, or errors in lines."""

from __future__ import annotations

from typing import Literal

from softbleu.analysis import choose_lines
from softbleu.analysis.credit import SHOWN_THRESHOLDS, credit_of_corpus
from softbleu.analysis.lines import LineKind
from softbleu.cli.command import command, setting
from softbleu.cli.inputs import Scoring
from softbleu.cli.options import page_format
from softbleu.errors import InputError
from softbleu.formats import is_for_readers
from softbleu.meta.reading import read_marks
from softbleu.report.answers import make_credit_page
from softbleu.report.credit import credit_lines, credit_view
from softbleu.report.explanations import EXPLAINERS
from softbleu.results.explain import explain_corpus, parse_segments


class ExplainOptions(
    Scoring,
    shared="candidates references source gold metrics language preset encoding pairs input_format against "
    "absent_annotators blank_references resegment documents output format spans digits",
):
    """Options of `explain`.

    Attributes
    ----------
    segments
        Numbers of segments, from 1, or ranges
    show
        Choose segments instead: the worst, the most different (two systems) or disagreeing ones (two metrics); or
        show of all segments which pairs of n-grams earn soft credit (pairs), and how their words differ (kinds)
    top
        How many segments or pairs --show shows
    plot
        With --show pairs or kinds, also draw soft credit by kind and threshold into this .svg, .png or .pdf file
        (needs softbleu[plots])
    """

    segments: tuple[str, ...] = setting(
        (), name="segment", unset="the first 3", flags=("-l",), metavar="N|N-M", panel="Input", common=True
    )
    show: LineKind | Literal["pairs", "kinds"] | None = setting(None, panel="Input", common=True)
    top: int | None = setting(None, unset="20", panel="Input", common=True)
    format: str | None = page_format()
    plot: str | None = setting(None, file="written")


@command
def explain(options: ExplainOptions) -> None:
    """Show the matched n-grams of chosen segments; for hyter the closest paths, for refless the errors found.

    For meteor, ter, softbleu and bertscore it shows words that stand for each other: matched, edited or most similar.
    For m2, cleme and uot it shows edits: which are gold edits, which are wrong, and which gold edits are missed.
    For other metrics it shows the numbers that the score of a segment is made of.
    """
    show = options.show
    if show == "pairs" or show == "kinds":
        _show_credit(options, show)
        return
    if options.plot:
        raise InputError("--plot draws soft credit: add --show pairs or kinds")
    output = options.open_output(EXPLAINERS)
    if (options.show and options.segments) or (options.top is not None and not options.show):
        raise InputError("--show chooses --top segments, and --segment names them: give one of these")
    plan = options.plan(one=options.show != "disagreeing")
    rare = plan.metrics[0].requires.idf == "references"  # All lines say how rare words are
    with options.open_corpus(plan) as corpus, options.progress() as progress:
        progress.begin(len(corpus), slow=plan.compares_words and (rare or show is not None))
        if show:
            top = 20 if options.top is None else options.top
            lines = choose_lines(corpus, plan, show, top=top, progress=progress)
            chosen = list(dict.fromkeys(line.segment for line in lines))
        else:
            chosen = parse_segments(options.segments or [f"1-{min(3, len(corpus))}"], len(corpus))
        marks = read_marks(options.spans, corpus, options.encoding)
        explanations = explain_corpus(corpus, plan.metrics[0], chosen, spans=marks, progress=progress)
    output.write(explanations)


def _show_credit(options: ExplainOptions, show: str) -> None:
    """Show where the soft credit of a metric comes from."""
    if options.segments or options.spans:
        raise InputError(f"--show {show} is of all segments: leave out --segment and --spans")
    top = 20 if options.top is None else options.top
    if top < 1:
        raise InputError(f"at least one pair must be asked for, not {top}")
    output = options.open_output(pages=True)
    picture = options.open_picture(options.plot)
    plan = options.plan(one=True)
    thresholds = SHOWN_THRESHOLDS if options.plot or options.page_wanted else ()
    with options.open_corpus(plan) as corpus, options.progress() as progress:
        progress.begin(len(corpus))
        credit = credit_of_corpus(corpus, plan, thresholds, progress, options.language)
    picture(credit_lines, credit)
    if options.page_wanted:
        output.write(make_credit_page(credit, top if show == "pairs" else None))
    else:
        output.write(credit_view(credit, show, top, readers=is_for_readers(options.output_format)))
