"""Options that commands share and that are no settings of metrics. None stands for "not given"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from softbleu.cli import completion

INPUT, MATCHING, METRIC, OUTPUT, TEST = "Input", "Matching", "Score", "Output", "Significance"
_TABLE = """
Input
  --candidate -c FILE…: Text to score, a segment a line, of one system or several; - is standard input, NAME=FILE
    names a system, a folder stands for all files in it.
  --reference -r FILE…: Reference text, line by line the same segments, or several.
  --source -s FILE: Text that was to be corrected, line by line the same segments (for metrics that need it).
  --gold FILE: Gold edits (.m2), in the place of references and source, which M2 needs and others may take.
  --pairs FILE: Instead: whole segments in one file, as 'candidate ||| reference' lines, .tsv or .jsonl.
  --input-format NAME: Format of the --pairs file: pairs, tsv or jsonl (default: by its suffix).
  --encoding NAME: Encoding of the text files (default: utf-8); .gz is recognised.
Score
  --metric -m NAME…: What to compute: a metric, a matcher (BLEU over it), or either with settings, as
    'vleu(threshold=0.8)' (default: bleu).
  --preset NAME: Settings of a paper: morgan2014. Options given beside it go before it.
  --signature TEXT: Run again what a signature (long or short) describes; options given beside it go before it.
  --level NAME: corpus; segment or reference: each of them, too; macro: mean of segments (default: corpus).
  --tokenize NAME: Tokenizer: none (at whitespace), char, or sacrebleu's 13a, intl, zh, … (default: none).
  --lowercase: Fold the text to lower case first.
Matching
  --vectors PATH|NAME: Word vectors: a store, a word2vec, GloVe or fastText file, or a known set; ONE+OTHER joins two
    (default: glove-6b-100d).
  --vector-case NAME: Look words up as written only (exact), or also in lower case (default: fallback).
Significance
  --baseline NAME: System the others are tested against (default: the first).
  --test NAME: bootstrap (paired) or randomization (approximate) (default: bootstrap).
  --samples N: Bootstrap samples, also for the intervals (default: 1000, more for over 5 systems).
  --trials N: Trials of the randomization test (default: 10000, more for over 14 systems).
  --seed N: Seed of all that is drawn at random (default: 12345 for tests; what GLEU draws has its own).
  --correction NAME: Of p-values for the number of tests: holm, fdr (Benjamini and Hochberg) or none (default: holm).
  --all-pairs: All pairs of systems: a matrix of tests below each table, or a row a pair (json has them anyway).
  --distribution FILE: Write the bootstrap scores of every system to this TSV file.
Differences
  --show NAME: Instead: lines that are worst, different (two systems) or disagreeing (two metrics); or ngrams that one
    system gets and another misses.
  --top N: So many of them (default: 20).
  --by NAME|FILE: Instead: scores of parts: by length, rarity or coverage (of words), order (of n-grams), by a file
    with a label a segment (FILE:COLUMN of a table with a header); of M2's edits by type, operation or errant.
Output
  --score-only -b: Print scores alone: a line a system (or a segment), on it one number a metric.
  --long/--short: Signatures in full, with what has its default, in text, markdown and latex; other formats do.
  --title TEXT: Of an html page.
  --digits N: Decimals in text, markdown and latex (default: 2); other formats have them all.
  --output -o FILE: Write to this file, complete or not at all (default: standard output).
  --plot FILE: Also draw score against threshold into this .svg, .png or .pdf file (needs softbleu[plots]).
  --jobs -j N: Processes to use (default: 1); the numbers do not depend on it.
  --cluster ADDRESS: Work on the Dask cluster whose scheduler has this address, or local:N: N workers here (needs
    softbleu[dask]); the numbers do not depend on it.
  --kernels NAME: Compute with numpy or numba; auto takes numba, if installed, for large text (default: auto).
  --resume: Note what is done beside the --output file, and go on where an earlier run of the same was interrupted.
  --limits N: Allow N times as much where work is limited, for it grows faster than what is read (default: 1).
  --quiet -q: No notes and no progress on standard error.
  --debug: Show where an error came from.
"""
Completion = Sequence[str] | Callable[[], list[str]] | None


def option(
    text: str, *names: str, panel: str | None = None, metavar: str | None = None, complete: Completion = None
) -> Any:
    """Make an option; what completes it is a list of names, or a function that finds them.

    The text is plain: markup would take `softbleu[plots]` for a style.
    """
    found = complete if complete is None or callable(complete) else lambda: list(complete)
    plain = text.replace("[", "\\[")
    return typer.Option(
        *names, help=plain, metavar=metavar, autocompletion=found, rich_help_panel=panel, show_default=False
    )


class OptionTable:
    """Options as text: a line has names, what their value is, and help; one without a colon begins a panel."""

    def __init__(self, text: str) -> None:
        self._found: dict[str, tuple[list[str], str | None, str, str | None]] = {}
        panel = None
        for entry in text.strip().replace("\n    ", " ").splitlines():
            head, colon, what = entry.strip().partition(": ")
            if not colon:
                panel = head or None
                continue
            names = [word for word in head.split() if word.startswith("-")]
            value = next((word for word in head.split() if word not in names), None)
            self._found[names[0].partition("/")[0]] = (names, value, what, panel)

    def __call__(self, name: str, complete: Completion = None) -> Any:
        """Make the option of that name."""
        names, metavar, text, panel = self._found[name]
        return option(text, *names, metavar=metavar, panel=panel, complete=complete)


_of = OptionTable(_TABLE)


def format_option(formats: str, complete: Completion = None) -> Any:
    """Make an option for the format of what is written."""
    return option(formats, "--format", "-f", panel=OUTPUT, metavar="NAME", complete=complete)


Candidates = Annotated[list[str] | None, _of("--candidate")]
References = Annotated[list[str] | None, _of("--reference")]
Pairs = Annotated[str | None, _of("--pairs")]
InputFormat = Annotated[str | None, _of("--input-format", ("pairs", "tsv", "jsonl"))]
Source = Annotated[str | None, _of("--source")]
Gold = Annotated[str | None, _of("--gold")]
Encoding = Annotated[str, _of("--encoding")]

Metrics = Annotated[list[str] | None, _of("--metric", completion.metrics)]
Preset = Annotated[str | None, _of("--preset", completion.presets)]
Signature = Annotated[str | None, _of("--signature")]
Level = Annotated[str | None, _of("--level", completion.levels)]

# Settings of vectors and tokens, for commands without a metric.
Vectors = Annotated[str | None, _of("--vectors", completion.vectors)]
WordLookup = Annotated[str | None, _of("--vector-case", ("exact", "fallback"))]
Tokenize = Annotated[str | None, _of("--tokenize", completion.tokenizers)]
Lowercase = Annotated[bool | None, _of("--lowercase")]

Baseline = Annotated[str | None, _of("--baseline")]
Test = Annotated[str | None, _of("--test", ("bootstrap", "randomization"))]
Samples = Annotated[int | None, _of("--samples")]
Trials = Annotated[int | None, _of("--trials")]
Correction = Annotated[str | None, _of("--correction", ("holm", "fdr", "none"))]
AllPairs = Annotated[bool, _of("--all-pairs")]
Seed = Annotated[int | None, _of("--seed")]
Distribution = Annotated[str | None, _of("--distribution")]

Show = Annotated[str | None, _of("--show", ("worst", "different", "disagreeing", "ngrams"))]
Top = Annotated[int | None, _of("--top")]
By = Annotated[str | None, _of("--by", ("length", "rarity", "coverage", "order", "type", "operation", "errant"))]

FORMATS = "Output format: text, json, jsonl, tsv, csv, markdown (or md), latex (or tex) or parquet (to a file)"
_PAGE = f"{FORMATS}, or html, a page to look at (default: text)."
Format = Annotated[str, format_option(_PAGE, completion.score_formats)]
RecordFormat = Annotated[str, format_option(f"{FORMATS} (default: text).", completion.formats)]
_BY_SUFFIX = f"{FORMATS} (default: by the suffix of --output, else text)."
TableFormat = Annotated[str | None, format_option(_BY_SUFFIX, completion.formats)]
ScoreOnly = Annotated[bool, _of("--score-only")]
LongSignature = Annotated[bool, _of("--long")]
Title = Annotated[str | None, _of("--title")]
Digits = Annotated[int, _of("--digits")]
Output = Annotated[str | None, _of("--output")]
Plot = Annotated[str | None, _of("--plot")]
Jobs = Annotated[int, _of("--jobs")]
Resume = Annotated[bool, _of("--resume")]
Cluster = Annotated[str | None, _of("--cluster")]
Kernels = Annotated[str, _of("--kernels", ("auto", "numpy", "numba"))]
Quiet = Annotated[bool, _of("--quiet")]
Debug = Annotated[bool, _of("--debug")]
Limits = Annotated[str | None, _of("--limits")]
