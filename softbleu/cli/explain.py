"""`softbleu explain`: which n-gram met which, which path is closest, or what was found in lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from softbleu.cli import options as opt
from softbleu.cli.settings import SettingOption, about_matches, takes_settings
from softbleu.errors import InputError

FIRST_SEGMENTS = 3
MOST_DIGITS = 19


def about_explained(option: SettingOption) -> bool:
    """Whether it says what is matched, or what paths are closest."""
    return about_matches(option) or "hyter" in option.owners


@takes_settings(about_explained)
def explain(
    ctx: typer.Context,
    segment: Annotated[
        list[str] | None,
        opt.option(
            "Numbers of segments, from 1, or ranges (default: the first 3).",
            "--segment",
            "-l",
            metavar="N|N-M…",
            panel=opt.INPUT,
        ),
    ] = None,
    show: opt.Show = None,
    top: opt.Top = None,
    candidate: opt.Candidates = None,
    reference: opt.References = None,
    source: opt.Source = None,
    gold: opt.Gold = None,
    pairs: opt.Pairs = None,
    input_format: opt.InputFormat = None,
    encoding: opt.Encoding = "utf-8",
    metric: opt.Metrics = None,
    preset: opt.Preset = None,
    output_format: opt.RecordFormat = "text",
    digits: opt.Digits = 2,
    output: opt.Output = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Show which n-grams of chosen segments met which; of hyter closest paths, of refless what was found."""
    from softbleu.analysis import choose_lines
    from softbleu.cli.inputs import input_files, measure_from, measures_from, open_corpus
    from softbleu.cli.output import Output
    from softbleu.io.progress import ProgressBar
    from softbleu.report import EXPLAINERS
    from softbleu.scoring import explain_corpus

    write = EXPLAINERS.find(output_format)
    target = Output.of(output, input_files(ctx.params))
    target.check_format(output_format)
    layout = target.layout(digits)
    if (show and segment) or (top is not None and not show):
        raise InputError("--show chooses --top segments, and --segment names them: give one of these")
    measures = measures_from(ctx.params) if show == "disagreeing" else [measure_from(ctx.params)]
    with open_corpus(ctx.params, measures) as corpus, ProgressBar(quiet=quiet):
        if show:
            kind: Any = show.lower()
            lines = choose_lines(corpus, measures, kind, top=20 if top is None else top)
            chosen = list(dict.fromkeys(line.segment for line in lines))
        else:
            chosen = parse_segments(segment or [f"1-{min(FIRST_SEGMENTS, len(corpus))}"], len(corpus))
        explanations = explain_corpus(corpus, measures[0], chosen)
    target.write(write(explanations, layout))


def parse_segments(texts: Sequence[str], total: int) -> list[int]:
    """Read numbers and ranges of segments, each segment once, in the order given.

    Raises
    ------
    InputError
        Anything else, or a segment that the corpus does not have.

    Examples
    --------
    >>> parse_segments(["7", "1-3", "2"], 10)
    [7, 1, 2, 3]
    """
    numbers: dict[int, None] = {}
    for text in texts:
        first, dash, last = text.partition("-")
        ends = (first, last if dash else first)
        if not all(end.isascii() and end.isdigit() and len(end) < MOST_DIGITS for end in ends):
            raise InputError(f"--segment takes a number from 1, or a range such as 4-9, not {text!r}")
        start, stop = map(int, ends)
        if start > stop:
            raise InputError(f"--segment {text}: the range ends before it starts")
        for number in (start, stop):
            if not 1 <= number <= total:
                raise InputError(f"no segment {number}: the corpus has segments 1 to {total}")
        numbers.update(dict.fromkeys(range(start, stop + 1)))
    return list(numbers)
