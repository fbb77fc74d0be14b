"""What is computed."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli.completion import denominators, presets, smoothings, tokenizers
from softbleu.cli.options.panels import GLEU, M2, METRIC, SOFTBLEU

Metric = Annotated[
    str | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="What to compute: bleu or gleu, with any matcher; softbleu, m2 or imeasure (default: bleu).",
        autocompletion=lambda: ["bleu", "gleu", "softbleu", "m2", "imeasure"],
        rich_help_panel=METRIC,
    ),
]
Signature = Annotated[
    str | None,
    typer.Option(
        "--signature",
        metavar="TEXT",
        help="Run again what a signature (long or short) describes; options given beside it go before it.",
        rich_help_panel=METRIC,
    ),
]
Order = Annotated[
    int | None,
    typer.Option(
        "--order", "-n", metavar="N", help="Longest n-grams to look at (default: 4).", rich_help_panel=METRIC
    ),
]
Tokenize = Annotated[
    str | None,
    typer.Option(
        "--tokenize",
        metavar="NAME",
        help="Tokenizer: none (at whitespace), char, or sacrebleu's 13a, intl, zh, … (default: none).",
        autocompletion=tokenizers,
        rich_help_panel=METRIC,
    ),
]
Lowercase = Annotated[
    bool | None,
    typer.Option(
        "--lowercase", help="Fold the text to lower case first.", show_default=False, rich_help_panel=METRIC
    ),
]
Smooth = Annotated[
    str | None,
    typer.Option(
        "--smooth",
        metavar="NAME",
        help="Smoothing: none, floor, add-k or exp (default: exp).",
        autocompletion=smoothings,
        rich_help_panel=METRIC,
    ),
]
SmoothValue = Annotated[
    float | None,
    typer.Option(
        "--smooth-value",
        metavar="X",
        help="Value of the smoothing (default: 0.1 for floor, 1 for add-k).",
        rich_help_panel=METRIC,
    ),
]
EffectiveOrder = Annotated[
    bool | None,
    typer.Option(
        "--effective-order/--no-effective-order",
        help="Leave out orders that the text is too short for (default: for segments only).",
        show_default=False,
        rich_help_panel=METRIC,
    ),
]
Denominator = Annotated[
    str | None,
    typer.Option(
        "--denominator",
        metavar="NAME",
        help="Precision over the n-grams of the order, of all orders, or of the reference (default: order).",
        autocompletion=denominators,
        rich_help_panel=METRIC,
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="Settings of a paper: morgan2014. Options given beside it go before it.",
        autocompletion=presets,
        rich_help_panel=METRIC,
    ),
]
Level = Annotated[
    str | None,
    typer.Option(
        "--level",
        metavar="NAME",
        help="corpus; segment or reference: each of them, too; macro: mean of segments (default: corpus).",
        show_default=False,
        autocompletion=lambda: ["corpus", "segment", "macro", "reference"],
        rich_help_panel=METRIC,
    ),
]
Variant = Annotated[
    str | None,
    typer.Option(
        "--variant",
        metavar="NAME",
        help="gleu+ (the official program), gleu+paper (its paper) or gleu0 (2015) (default: gleu+).",
        autocompletion=lambda: ["gleu+", "gleu+paper", "gleu0"],
        rich_help_panel=GLEU,
    ),
]
Penalty = Annotated[
    str | None,
    typer.Option(
        "--penalty",
        metavar="NAME",
        help="Excuse an uncorrected n-gram by equal ones only (exact), or by similar ones (soft) (default: exact).",
        autocompletion=lambda: ["exact", "soft"],
        rich_help_panel=GLEU,
    ),
]
Weight = Annotated[
    float | None,
    typer.Option(
        "--weight",
        "--lambda",
        metavar="X",
        help="How often gleu0 subtracts source n-grams (default: 1); how much changes weigh in the I-measure "
        "(default: 2).",
        rich_help_panel=GLEU,
    ),
]
SwappedBp = Annotated[
    bool | None,
    typer.Option(
        "--swapped-bp",
        help="Exchange the lengths in the brevity penalty, as the program of 2015.",
        show_default=False,
        rich_help_panel=GLEU,
    ),
]
Multi = Annotated[
    str | None,
    typer.Option(
        "--multi",
        metavar="NAME",
        help="Several references: sample (drawn at random), max (the best) or mean (default: sample).",
        autocompletion=lambda: ["sample", "max", "mean"],
        rich_help_panel=GLEU,
    ),
]
Iterations = Annotated[
    int | None,
    typer.Option("--iterations", metavar="N", help="Random samples (default: 500).", rich_help_panel=GLEU),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        help="Sample k is seeded with this + 101 k (default: 0, the official seeds).",
        rich_help_panel=GLEU,
    ),
]
SegmentSmoothing = Annotated[
    bool | None,
    typer.Option(
        "--segment-smoothing",
        help="In segment scores, 1 for every zero statistic, as the official -d.",
        show_default=False,
        rich_help_panel=GLEU,
    ),
]
Beta = Annotated[
    float | None,
    typer.Option(
        "--beta",
        metavar="X",
        help="Weight of recall beside precision, in softbleu (default: 1) and m2 (default: 0.5).",
        rich_help_panel=SOFTBLEU,
    ),
]
Power = Annotated[
    float | None,
    typer.Option(
        "--power",
        metavar="X",
        help="Power of similarities; below 1 weak ones count more (default: 0.7).",
        rich_help_panel=SOFTBLEU,
    ),
]
Rarity = Annotated[
    float | None,
    typer.Option(
        "--rarity",
        metavar="X",
        help="Power of the words' idf weights; 0 weighs all alike (default: 1.5).",
        rich_help_panel=SOFTBLEU,
    ),
]
Position = Annotated[
    float | None,
    typer.Option(
        "--position",
        metavar="X",
        help="How fast similarity decays with distance in the segment (default: 0.2).",
        rich_help_panel=SOFTBLEU,
    ),
]
Characters = Annotated[
    float | None,
    typer.Option(
        "--characters",
        metavar="0..1",
        help="Weight of the similarity of spellings (default: 0.8).",
        rich_help_panel=SOFTBLEU,
    ),
]
Credit = Annotated[
    str | None,
    typer.Option(
        "--credit",
        metavar="NAME",
        help="Match the best of the other side (greedy), one to one (clipped), or the mean of both (default: both).",
        autocompletion=lambda: ["greedy", "clipped", "both"],
        rich_help_panel=SOFTBLEU,
    ),
]
Idf = Annotated[
    str | None,
    typer.Option(
        "--idf",
        metavar="FILE",
        help="Text whose lines say how rare words are (default: the references).",
        rich_help_panel=SOFTBLEU,
    ),
]
MaxUnchangedWords = Annotated[
    int | None,
    typer.Option(
        "--max-unchanged-words",
        metavar="N",
        help="Unchanged words that an edit may have within it (default: 2).",
        rich_help_panel=M2,
    ),
]
Annotators = Annotated[
    str | None,
    typer.Option(
        "--annotators",
        metavar="NAME",
        help="Each segment's annotator: best for the F of all so far (running, as the official scorer), for its own "
        "(best), or the last (default: running).",
        autocompletion=lambda: ["running", "best", "last"],
        rich_help_panel=M2,
    ),
]
