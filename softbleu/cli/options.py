"""Options that commands share and that are no settings of metrics. None stands for "not given"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from softbleu.cli import completion

INPUT, MATCHING, METRIC, OUTPUT, TEST = "Input", "Matching", "Score", "Output", "Significance"


def option(
    text: str,
    *names: str,
    panel: str | None = None,
    metavar: str | None = None,
    complete: Sequence[str] | Callable[[], list[str]] | None = None,
) -> Any:
    """Make an option; what completes it is a list of names, or a function that finds them."""
    found = complete if complete is None or callable(complete) else lambda: list(complete)
    return typer.Option(
        *names, help=text, metavar=metavar, autocompletion=found, rich_help_panel=panel, show_default=False
    )


def read_option(text: str, *names: str, metavar: str = "FILE", **more: Any) -> Any:
    """Make an option about what is read."""
    return option(text, *names, panel=INPUT, metavar=metavar, **more)


def written_option(text: str, *names: str, **more: Any) -> Any:
    """Make an option about what is written."""
    return option(text, *names, panel=OUTPUT, **more)


def format_option(text: str, complete: Any) -> Any:
    """Make an option for the format of what is written."""
    return written_option(text, "--format", "-f", metavar="NAME", complete=complete)


Candidates = Annotated[
    list[str] | None,
    read_option(
        "Text to score, a segment a line; - is standard input. Repeat it for several systems.", "--candidate", "-c"
    ),
]
References = Annotated[
    list[str] | None,
    read_option(
        "Reference text, line by line the same segments. Repeat it for several references.", "--reference", "-r"
    ),
]
Pairs = Annotated[
    str | None,
    read_option(
        "Instead: whole segments in one file, as 'candidate ||| reference' lines, .tsv or .jsonl.", "--pairs"
    ),
]
InputFormat = Annotated[
    str | None,
    read_option(
        "Format of the --pairs file: pairs, tsv or jsonl (default: by its suffix).",
        "--input-format",
        metavar="NAME",
        complete=("pairs", "tsv", "jsonl"),
    ),
]
Source = Annotated[
    str | None,
    read_option(
        "Text that was to be corrected, line by line the same segments (for GLEU and the I-measure).", "--source"
    ),
]
Gold = Annotated[
    str | None,
    read_option(
        "Gold edits (.m2), in the place of references and source; for m2 and imeasure, and others too.", "--gold"
    ),
]
Encoding = Annotated[
    str,
    read_option("Encoding of the text files (default: utf-8); .gz is recognised.", "--encoding", metavar="NAME"),
]

Metric = Annotated[
    list[str] | None,
    option(
        "What to compute: a metric, a matcher (BLEU over it), or either with settings, as 'vleu(threshold=0.8)' "
        "(default: bleu). Repeat it for several.",
        "--metric",
        metavar="NAME",
        complete=completion.metrics,
        panel=METRIC,
    ),
]
Preset = Annotated[
    str | None,
    option(
        "Settings of a paper: morgan2014. Options given beside it go before it.",
        "--preset",
        metavar="NAME",
        complete=completion.presets,
        panel=METRIC,
    ),
]
Signature = Annotated[
    str | None,
    option(
        "Run again what a signature (long or short) describes; options given beside it go before it.",
        "--signature",
        metavar="TEXT",
        panel=METRIC,
    ),
]
Level = Annotated[
    str | None,
    option(
        "corpus; segment or reference: each of them, too; macro: mean of segments (default: corpus).",
        "--level",
        metavar="NAME",
        complete=completion.levels,
        panel=METRIC,
    ),
]

# Settings of vectors and tokens, for commands without a metric.
Vectors = Annotated[
    str | None,
    option(
        "Word vectors: a store, a word2vec, GloVe or fastText file, or a known set; ONE+OTHER joins two "
        "(default: glove-6b-100d).",
        "--vectors",
        metavar="PATH|NAME",
        complete=completion.vectors,
        panel=MATCHING,
    ),
]
VectorCase = Annotated[
    str | None,
    option(
        "Look words up as written only (exact), or also in lower case (default: fallback).",
        "--vector-case",
        metavar="NAME",
        complete=("exact", "fallback"),
        panel=MATCHING,
    ),
]
Similarity = Annotated[
    str | None,
    option(
        "Compare words by cosine, or by csls, which takes from words that are near to everything (default: cosine).",
        "--similarity",
        metavar="NAME",
        complete=("cosine", "csls"),
        panel=MATCHING,
    ),
]
Postprocess = Annotated[
    str | None,
    option(
        "Remove from the vectors what they have in common: mean, pc:N (N components) or mean,pc:N (default: none).",
        "--vectors-postprocess",
        metavar="LIST",
        complete=("none", "mean", "pc:2", "mean,pc:2"),
        panel=MATCHING,
    ),
]
Neighbours = Annotated[
    int | None,
    option(
        "Let a word meet only words that are among its K nearest, or it among theirs (default: any).",
        "--neighbours",
        metavar="K",
        panel=MATCHING,
    ),
]
Mutual = Annotated[
    bool | None,
    option("With --neighbours: only if each is among the K nearest of the other.", "--mutual", panel=MATCHING),
]
FunctionWords = Annotated[
    str | None,
    option(
        "Let English function words match others (soft), or only themselves (exact) (default: soft).",
        "--function-words",
        metavar="NAME",
        complete=("soft", "exact"),
        panel=MATCHING,
    ),
]
Order = Annotated[
    int | None, option("Longest n-grams to look at (default: 4).", "--order", "-n", metavar="N", panel=METRIC)
]
Tokenize = Annotated[
    str | None,
    option(
        "Tokenizer: none (at whitespace), char, or sacrebleu's 13a, intl, zh, … (default: none).",
        "--tokenize",
        metavar="NAME",
        complete=completion.tokenizers,
        panel=METRIC,
    ),
]
Lowercase = Annotated[bool | None, option("Fold the text to lower case first.", "--lowercase", panel=METRIC)]

Baseline = Annotated[
    str | None,
    option("System the others are tested against (default: the first).", "--baseline", metavar="NAME", panel=TEST),
]
Test = Annotated[
    str,
    option(
        "bootstrap (paired) or randomization (approximate) (default: bootstrap).",
        "--test",
        metavar="NAME",
        complete=("bootstrap", "randomization"),
        panel=TEST,
    ),
]
Samples = Annotated[
    int,
    option("Bootstrap samples, also for the intervals (default: 1000).", "--samples", metavar="N", panel=TEST),
]
Trials = Annotated[
    int, option("Trials of the randomization test (default: 10000).", "--trials", metavar="N", panel=TEST)
]
TestSeed = Annotated[int, option("Seed of the test (default: 12345).", "--test-seed", metavar="N", panel=TEST)]
Distribution = Annotated[
    str | None,
    option(
        "Write the bootstrap scores of every system to this TSV file.", "--distribution", metavar="FILE", panel=TEST
    ),
]

Format = Annotated[
    str,
    format_option(
        "Output format: text, json, jsonl, tsv, markdown, latex or html (default: text).", completion.score_formats
    ),
]
ExplainFormat = Annotated[
    str, format_option("Output format: text, json or jsonl (default: text).", completion.explain_formats)
]
CompareFormat = Annotated[
    str,
    format_option("Output format: text, json, tsv, markdown or latex (default: text).", completion.compare_formats),
]
RecordFormat = Annotated[
    str,
    format_option("Output format: text, json, jsonl, tsv, markdown or latex (default: text).", completion.formats),
]
TableFormat = Annotated[
    str | None,
    format_option(
        "csv, tsv, json, jsonl, parquet (with --output), text, markdown or latex (default: by the suffix of --output, "
        "else text).",
        None,
    ),
]
LongSignature = Annotated[
    bool,
    written_option("Show the whole signature in text, markdown and latex; other formats do.", "--long-signature"),
]
Digits = Annotated[
    int,
    written_option(
        "Decimals in text, markdown and latex (default: 2); other formats have them all.", "--digits", metavar="N"
    ),
]
Output = Annotated[
    str | None,
    written_option(
        "Write to this file, complete or not at all (default: standard output).", "--output", "-o", metavar="FILE"
    ),
]
Plot = Annotated[
    str | None,
    written_option(
        "Also draw score against threshold into this .svg or .png file (needs softbleu[plots]).",
        "--plot",
        metavar="FILE",
    ),
]
Jobs = Annotated[
    int,
    written_option("Processes to use (default: 1); the numbers do not depend on it.", "--jobs", "-j", metavar="N"),
]
Kernels = Annotated[
    str,
    written_option(
        "Compute with numpy or numba; auto takes numba, if installed, for large text (default: auto).",
        "--kernels",
        metavar="NAME",
        complete=("auto", "numpy", "numba"),
    ),
]
Quiet = Annotated[bool, written_option("No notes and no progress on standard error.", "--quiet", "-q")]
Debug = Annotated[bool, written_option("Show where an error came from.", "--debug")]
