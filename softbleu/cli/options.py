"""Options that commands share. Defaults are the library's; None stands for "not given"."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli.completion import (
    compare_formats,
    compositions,
    denominators,
    explain_formats,
    formats,
    matchers,
    presets,
    score_formats,
    smoothings,
    tokenizers,
    vectors,
)

INPUT = "Input"
MATCHING = "Matching"
METRIC = "Score"
OUTPUT = "Output"

GLEU = "GLEU"
SOFTBLEU = "softbleu"
M2 = "M2"
TEST = "Significance"

Candidates = Annotated[
    list[str] | None,
    typer.Option(
        "--candidate",
        "-c",
        metavar="FILE",
        help="Text to score, a segment a line; - is standard input. Repeat it for several systems.",
        rich_help_panel=INPUT,
    ),
]
References = Annotated[
    list[str] | None,
    typer.Option(
        "--reference",
        "-r",
        metavar="FILE",
        help="Reference text, line by line the same segments. Repeat it for several references.",
        rich_help_panel=INPUT,
    ),
]
Pairs = Annotated[
    str | None,
    typer.Option(
        "--pairs",
        metavar="FILE",
        help="Instead: whole segments in one file, as 'candidate ||| reference' lines, .tsv or .jsonl.",
        rich_help_panel=INPUT,
    ),
]
InputFormat = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        metavar="NAME",
        help="Format of the --pairs file: pairs, tsv or jsonl (default: by its suffix).",
        autocompletion=lambda: ["pairs", "tsv", "jsonl"],
        rich_help_panel=INPUT,
    ),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="FILE",
        help="Text that was to be corrected, line by line the same segments (for GLEU and the I-measure).",
        rich_help_panel=INPUT,
    ),
]
Gold = Annotated[
    str | None,
    typer.Option(
        "--gold",
        metavar="FILE",
        help="Gold edits (.m2), in the place of references and source; for m2 and imeasure, and others too.",
        rich_help_panel=INPUT,
    ),
]
Encoding = Annotated[
    str,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Encoding of the text files (default: utf-8); .gz is recognised.",
        show_default=False,
        rich_help_panel=INPUT,
    ),
]
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
Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="NAME",
        help="System the others are tested against (default: the first).",
        rich_help_panel=TEST,
    ),
]
Test = Annotated[
    str,
    typer.Option(
        "--test",
        metavar="NAME",
        help="bootstrap (paired) or randomization (approximate) (default: bootstrap).",
        show_default=False,
        autocompletion=lambda: ["bootstrap", "randomization"],
        rich_help_panel=TEST,
    ),
]
Samples = Annotated[
    int,
    typer.Option(
        "--samples",
        metavar="N",
        help="Bootstrap samples, also for the intervals (default: 1000).",
        show_default=False,
        rich_help_panel=TEST,
    ),
]
Trials = Annotated[
    int,
    typer.Option(
        "--trials",
        metavar="N",
        help="Trials of the randomization test (default: 10000).",
        show_default=False,
        rich_help_panel=TEST,
    ),
]
TestSeed = Annotated[
    int,
    typer.Option(
        "--test-seed",
        metavar="N",
        help="Seed of the test (default: 12345).",
        show_default=False,
        rich_help_panel=TEST,
    ),
]
Distribution = Annotated[
    str | None,
    typer.Option(
        "--distribution",
        metavar="FILE",
        help="Write the bootstrap scores of every system to this TSV file.",
        rich_help_panel=TEST,
    ),
]
Matcher = Annotated[
    str | None,
    typer.Option(
        "--matcher",
        "-m",
        metavar="NAME",
        help="What may match: exact (BLEU), sleu (similar words), vleu (similar n-grams), xleu (n-grams of any "
        "orders), or that of a plug-in (default: exact).",
        autocompletion=matchers,
        rich_help_panel=MATCHING,
    ),
]
Threshold = Annotated[
    str | None,
    typer.Option(
        "--threshold",
        "-t",
        metavar="0..1|pX",
        help="A similarity must be greater than this to count, or than X percent of random pairs of words reach with "
        "these vectors, e.g. p99.9 (default: 0).",
        rich_help_panel=MATCHING,
    ),
]
Vectors = Annotated[
    str | None,
    typer.Option(
        "--vectors",
        metavar="PATH|NAME",
        help="Word vectors: a store, a word2vec, GloVe or fastText file, or a known set; ONE+OTHER joins two "
        "(default: glove-6b-100d).",
        autocompletion=vectors,
        rich_help_panel=MATCHING,
    ),
]
VectorCase = Annotated[
    str | None,
    typer.Option(
        "--vector-case",
        metavar="NAME",
        help="Look words up as written only (exact), or also in lower case (default: fallback).",
        autocompletion=lambda: ["exact", "fallback"],
        rich_help_panel=MATCHING,
    ),
]
Similarity = Annotated[
    str | None,
    typer.Option(
        "--similarity",
        metavar="NAME",
        help="Compare words by cosine, or by csls, which takes from words that are near to everything "
        "(default: cosine).",
        autocompletion=lambda: ["cosine", "csls"],
        rich_help_panel=MATCHING,
    ),
]
Postprocess = Annotated[
    str | None,
    typer.Option(
        "--vectors-postprocess",
        metavar="LIST",
        help="Remove from the vectors what they have in common: mean, pc:N (N components) or mean,pc:N "
        "(default: none).",
        autocompletion=lambda: ["none", "mean", "pc:2", "mean,pc:2"],
        rich_help_panel=MATCHING,
    ),
]
Neighbours = Annotated[
    int | None,
    typer.Option(
        "--neighbours",
        metavar="K",
        help="Let a word meet only words that are among its K nearest, or it among theirs (default: any).",
        rich_help_panel=MATCHING,
    ),
]
Mutual = Annotated[
    bool | None,
    typer.Option(
        "--mutual",
        help="With --neighbours: only if each is among the K nearest of the other.",
        show_default=False,
        rich_help_panel=MATCHING,
    ),
]
FunctionWords = Annotated[
    str | None,
    typer.Option(
        "--function-words",
        metavar="NAME",
        help="Let English function words match others (soft), or only themselves (exact) (default: soft).",
        autocompletion=lambda: ["soft", "exact"],
        rich_help_panel=MATCHING,
    ),
]
Assignment = Annotated[
    str | None,
    typer.Option(
        "--assignment",
        metavar="NAME",
        help="Order in which matches are made: exact-first, sequential or optimal (default: exact-first).",
        autocompletion=lambda: ["exact-first", "sequential", "optimal"],
        rich_help_panel=MATCHING,
    ),
]
Consumption = Annotated[
    str | None,
    typer.Option(
        "--consumption",
        metavar="NAME",
        help="What an approximate match uses up: one instance (unit) or its similarity (default: unit).",
        autocompletion=lambda: ["unit", "similarity"],
        rich_help_panel=MATCHING,
    ),
]
Composition = Annotated[
    str | None,
    typer.Option(
        "--composition",
        metavar="NAME",
        help="How n-grams are compared: by mean vectors (mean), the same with rare words weighing more (sif), or "
        "word by word (aligned) (default: mean).",
        autocompletion=compositions,
        rich_help_panel=MATCHING,
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
Format = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="Output format: text, json, jsonl, tsv, markdown, latex or html (default: text).",
        show_default=False,
        autocompletion=score_formats,
        rich_help_panel=OUTPUT,
    ),
]
ExplainFormat = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="Output format: text, json or jsonl (default: text).",
        show_default=False,
        autocompletion=explain_formats,
        rich_help_panel=OUTPUT,
    ),
]
CompareFormat = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="Output format: text, json, tsv, markdown or latex (default: text).",
        show_default=False,
        autocompletion=compare_formats,
        rich_help_panel=OUTPUT,
    ),
]
Digits = Annotated[
    int,
    typer.Option(
        "--digits",
        metavar="N",
        help="Decimals in text, markdown and latex (default: 2); other formats have them all.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to this file, complete or not at all (default: standard output).",
        rich_help_panel=OUTPUT,
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        help="Processes to use (default: 1); the numbers do not depend on it.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Kernels = Annotated[
    str,
    typer.Option(
        "--kernels",
        metavar="NAME",
        help="Compute with numpy or numba; auto takes numba, if installed, for large text (default: auto).",
        show_default=False,
        autocompletion=lambda: ["auto", "numpy", "numba"],
        rich_help_panel=OUTPUT,
    ),
]
RecordFormat = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="Output format: text, json, jsonl, tsv, markdown or latex (default: text).",
        show_default=False,
        autocompletion=formats,
        rich_help_panel=OUTPUT,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No notes and no progress on standard error.", rich_help_panel=OUTPUT),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error came from.", rich_help_panel=OUTPUT)]
