"""Options that commands share: how tables declare them, and what completes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Annotated, Any, get_args

import typer

from softbleu.errors import InputError


def find(place: str) -> Any:
    """Find what a module of the package has: `report:WRITERS`."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"softbleu.{module}"), name)


def completion_of(what: str) -> Callable[[], list[str]]:
    """Find names that complete an option: `a,b,c`, or by place a table, a registry, a function or a literal type."""

    def names() -> list[str]:
        if ":" not in what:
            return what.split(",")
        table = getattr(find(what), "names", find(what))
        return list(get_args(table) or (table() if callable(table) else table))

    return names


def score_formats() -> list[str]:
    """Names of the formats of scores."""
    from softbleu.report import PAGES, WRITERS

    return [*WRITERS, *PAGES]


def metric_names() -> list[str]:
    """Names of metrics and matchers, those of plug-ins too."""
    from softbleu.matching import MATCHERS
    from softbleu.metrics.base import METRICS

    return [*METRICS.names(), *MATCHERS.names()]


MATCHING, METRIC = "Matching", "Score"
_KINDS = {None: bool, "N": int, "0|1": int, "X": float, "0..1": float}
_NUMBERS = {int: "a whole number", float: "a number"}
_DEFAULT = "(default: ="
Complete = Callable[[], list[str]]


@dataclass(frozen=True)
class OptionLine:
    """An option or an argument, as a line of a table declares it."""

    name: str  # Of the value in a command
    flags: Sequence[str]  # Spellings; an argument has none
    metavar: str | None  # What the value is: text, a number or a list, unless `kind` says more; a flag has none
    help: str
    panel: str | None = None
    default: str | None = None  # As text
    complete: Complete | None = None
    required: bool = False
    kind: type | None = None

    @property
    def parameter(self) -> inspect.Parameter:
        """The parameter of a command."""
        several = (self.metavar or "").endswith(("…", "..."))
        kind: Any = self.kind or (list[str] if several else _KINDS.get(self.metavar, str))
        default: Any = self.default if self.default is None or kind is bool else kind(self.default)
        if kind is bool and self.kind is None:
            default = self.default == "yes"
        # The text is plain: markup would take `softbleu[plots]` for a style.
        text = self.help.replace(_DEFAULT, f"{_DEFAULT[:-1]}{self.default}").replace("[", "\\[")
        made: Any = typer.Argument(metavar=self.metavar, help=text)
        if self.flags:
            more: dict[str, Any] = {"metavar": self.metavar, "autocompletion": self.complete}
            if kind in _NUMBERS:
                more["parser"] = partial(_number, kind)
            made = typer.Option(*self.flags, help=text, rich_help_panel=self.panel, show_default=False, **more)
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if self.required else default,
            annotation=Annotated[kind if self.required or default is not None else kind | None, made],
        )

    def check(self, value: Any) -> None:
        """See that no name of a file or folder is empty: it would stand for this folder, or for no option at all."""
        named = any(place in (self.metavar or "") for place in ("FILE", "FOLDER", "PATH"))
        if named and "" in (value if isinstance(value, list) else [value]):
            raise InputError(f"{(self.flags or [self.name])[0]}: the name of a file or folder is empty")


def _number(kind: type, value: Any) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise InputError(f"{value!r} is not {_NUMBERS[kind]}") from None


def read_options(text: str) -> dict[str, OptionLine]:
    """Read options that a table declares, by the name under which commands ask for them.

    A line says what the option is, and its help; one without a colon begins a panel. Before the colon stand its
    spellings; what its value is; `=` and the default, which `(default: =)` in the help repeats; what completes it,
    between angle brackets (see `completion_of`); `!` if it must be given. An argument has a name instead of
    spellings. An option may have one as well, by which commands ask for it.
    """
    lines, panel = {}, None
    for entry in text.strip().replace("\n    ", " ").splitlines():
        head, colon, what = entry.strip().partition(": ")
        if not colon:
            panel = head
            continue
        words = head.split()
        marked = {word[0]: word[1:].removesuffix(">") for word in words if word[0] in "=<!"}
        flags = tuple(word for word in words if word.startswith("-"))
        rest = [word for word in words if word[0] not in "-=<!"]
        name = flags[0].partition("/")[0].strip("-").replace("-", "_") if flags else rest[0]
        asked = rest.pop(0) if rest and rest[0].isidentifier() and rest[0].islower() else name
        metavar = rest[0] if rest else None
        complete = completion_of(marked["<"]) if "<" in marked else None
        lines[asked] = OptionLine(name, flags, metavar, what, panel, marked.get("="), complete, "!" in marked)
    return lines


def choose_options(names: str, declared: str = "") -> list[OptionLine]:
    """Find options by name in a command's own table, else in that of all; `name=default` gives another default."""
    known = SHARED_OPTIONS | read_options(declared)
    chosen = []
    for asked in names.split():
        name, equals, default = asked.partition("=")
        chosen.append(replace(known[name], default=default) if equals else known[name])
    return chosen


_FORMATS = "Output format: text, json, jsonl, tsv, csv, markdown (or md), latex (or tex) or parquet (to a file)"
SHARED_OPTIONS = read_options(f"""
Input
  --candidate -c FILE…: Text to score, a segment per line, of one system or several; - is standard input, NAME=FILE
    names a system, a folder stands for all files in it, a .m2 file has edits of the source.
  --reference -r FILE…: Reference text with the same segments, line by line; or several such files.
  --source -s FILE: Text before correction, with the same segments, line by line (for metrics that need it).
  --gold FILE: Gold edits (.m2) instead of references and source; M2 needs them, other metrics can use them.
  --pairs FILE: Candidates and references in one file instead: lines 'candidate ||| reference', .tsv or .jsonl.
  --input-format NAME <corpora.records:PAIR_FORMATS>: Format of the --pairs file: pairs, tsv or jsonl
    (default: by its suffix).
  --blank-references NAME <corpora.segments:Blank>: Blank lines of references, beside references with text, are empty
    texts, or missing (default: missing where a source is given and over 1% of the segments have one).
  --against NAME <corpora.segments:Against>: Compare candidates with the references, or with the source instead, by
    vectors or an encoder that have both languages (default: references).
  --resegment: Candidates have other line breaks than the references: cut them where they fit the segments best.
  --encoding NAME =utf-8: Encoding of the text files (default: =); .gz is recognised.
Score
  --metric -m NAME… <cli.options:metric_names>: What to compute: a metric, a matcher (BLEU over it), or either with
    settings, as 'vleu(threshold=0.8)' (default: bleu).
  --scores [NAME=]FILE…: Scores of other programs, by system and segment, each as a metric; FILE:A,B takes columns (or
    metrics) A and B. No text is needed.
  --lower NAME…: Scores of --scores of which less is better; files of softbleu say it themselves.
  --preset NAME <metrics.base:preset_names>: Settings of a paper: morgan2014. Other options override it.
  --language CODE: Language of the text, such as cs, de or zh (BCP 47): chooses tokenizer, similarity of words and
    other defaults, and refuses data of other languages (see `softbleu metrics --language CODE`).
  --signature TEXT: Run the settings of a signature (long or short) again; other options override them.
  --level NAME <metrics.base:Level>: corpus; segment, document or reference: each of them, too; macro: mean of
    segments (default: corpus).
  --tokenize NAME <text.tokenizers:TOKENIZERS>: How lines are split into tokens (see `softbleu tokenizers`)
    (default: none).
  --lowercase: Fold the text to lower case first.
Matching
  --vectors PATH|NAME <embeddings:bundled_names>: Word vectors: a store, a word2vec, GloVe or fastText file, or a
    known set; ONE+OTHER joins two (default: glove-6b-100d).
  --vector-case NAME <exact,fallback>: Look words up as written only (exact), or also in lower case (default:
    fallback).
Human judgements
  --rankings-start 0|1: Number of the first segment in the rankings (default: 0 in XML and CSV of pairs, 1 in CSV of
    five).
  --direction NAME: Take rows of this direction (column LP) only, e.g. cs-en.
  --standardise NAME <annotator>: Take of each judgement how far it lies above the mean of its annotator, in standard
    deviations.
  --column NAME: Human scores of this column (default: the first of score, human, z, mqm, esa and raw).
Significance
  --baseline NAME: System the others are tested against (default: the first).
  --test NAME <randomization,bootstrap>: randomization (approximate) or bootstrap (paired) (default: randomization).
  --samples N: Bootstrap samples, for the intervals or the test (default: 1000; a test of over 5 systems takes more).
  --compatible NAME <sacrebleu>: p-values as sacrebleu counts them, of the bootstrap unless --test says otherwise.
  --trials N: Trials of the randomization test (default: 10000, more for all pairs of over 14 systems).
  --seed N: Seed of all random draws (default: 12345 for tests; 0 for GLEU's samples).
  --correction NAME <holm,fdr,none>: Correct p-values for the number of tests: holm, fdr (Benjamini and Hochberg) or
    none (default: holm).
  --documents FILE: Documents of the segments, a label per line or FILE:COLUMN of a table: samples and trials draw
    whole documents, levels and buckets score them, and a --context does not leave them.
  --all-pairs: All pairs of systems: a matrix of tests below each table, or a row per pair.
  --distribution FILE: Write the bootstrap scores of every system to this TSV file.
Differences
  --show NAME <worst,different,disagreeing,ngrams>: Show lines instead: the worst, the most different (two systems) or
    disagreeing ones (two metrics); or n-grams that one system matches and another misses (ngrams).
  --top N: How many lines or n-grams --show shows (default: 20).
  --by NAME|FILE <length,rarity,coverage,order,document,runs,type,category,operation,form,errant>: Score parts
    instead: by length, rarity or coverage (of words), order (of n-grams), document (of --documents), runs (NAME.1
    NAME.2 … of a system: how much they and segments vary), by a file with a label per
    segment (FILE:COLUMN of a table; the number of the column where it has no header); of the edits of M2, ERRANT,
    CLEME by type, category, operation, form (any language) or errant, also of the lines that --show shows.
Output
  page_format --format -f NAME <cli.options:score_formats>: {_FORMATS}, or html, a page to look at (default: by the
    suffix of --output, else text).
  --format -f NAME =text <report:WRITERS>: {_FORMATS} (default: =).
  table_format --format -f NAME <report:WRITERS>: {_FORMATS} (default: by the suffix of --output, else text).
  --score-only -b: Print scores alone: a line per system (or a segment), on it one number per metric.
  --long/--short: Print signatures with all settings, defaults included, in text, markdown and latex (others: always).
  --columns NAME… <report.comparisons:COMPARISON_COLUMNS>: Columns of the table, in this order: rank, ranks, score,
    mean, interval, difference, difference-interval, effect, segments, p, vectors (default: those of the format).
  --spans [NAME=]FILE…: Mark in the text what judges or programs mark: spans of ESA, MQM, xCOMET, `softbleu spans`.
  --title TEXT: Title of an html page.
  --digits N =2: Decimals in text, markdown and latex (default: =); other formats print all digits.
  --output -o FILE: Write to this file, atomically (default: standard output).
  --plot FILE: Also draw score against threshold into this .svg, .png or .pdf file (needs softbleu[plots]).
  --jobs -j N =1: Processes to use (default: =); the numbers do not depend on it.
  --cluster ADDRESS: Work on the Dask cluster whose scheduler has this address, or local:N: N workers here (needs
    softbleu[dask]); the numbers do not depend on it.
  --kernels NAME =auto <auto,numpy,numba>: Compute with numpy or numba; auto takes numba, if installed, for large text
    (default: =).
  --resume: Keep a checkpoint beside the --output file, and continue an interrupted run from it.
  --limits N: Multiply by N the limits on inputs whose cost grows superlinearly (default: 1).
  --quiet -q: No notes and no progress on standard error.
  --debug: Show where an error came from.
""")
