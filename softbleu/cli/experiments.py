"""`softbleu experiments`: experiments that a TOML file defines, and deserved and spurious soft credit."""

from __future__ import annotations

import json
from pathlib import Path

from softbleu import report
from softbleu.cli.command import command, setting
from softbleu.cli.inputs import Scoring
from softbleu.cli.options import Common, page_format
from softbleu.cli.output import Target
from softbleu.cli.parts import MATCHING, about_matches
from softbleu.cli.settings import SettingOption
from softbleu.corpora.grammar import grammar_names
from softbleu.engine.checkpoint import check_checkpoint, remove_checkpoint
from softbleu.errors import known_name
from softbleu.formats import TABLE_WRITERS, Layout, suffix_of
from softbleu.io.progress import note
from softbleu.matching import MATCHERS
from softbleu.meta.experiments import Definition, outcome_tables, output_names, run_definition
from softbleu.meta.spurious import COMBINATIONS, CREDIT_TABLES, GRAMMAR, PLAIN, VARIANTS
from softbleu.meta.spurious import spurious as analyse
from softbleu.report.plots import PICTURE_FORMATS, check_plots, outcome_pictures, spurious_lines


class ExperimentOptions(Common, shared="jobs"):
    """Options of `experiments run`.

    Attributes
    ----------
    definition
        A TOML file that defines an experiment
    output_folder
        Where table, picture and manifest go
    format
        Output format: text, json, jsonl, tsv, csv, markdown (or md), latex (or tex), parquet
    picture
        Draw a picture, which needs softbleu[plots]
    picture_format
        Format of the picture: svg, png or pdf
    """

    definition: str = setting(argument=True, metavar="FILE", file="read")
    output_folder: str | None = setting(None, flags=("-o",), metavar="DIR", unset="beside the file", file="written")
    format: str = setting("csv", flags=("-f",), complete=lambda: TABLE_WRITERS)
    picture: bool = setting(True, unset="yes")
    picture_format: str = setting("svg", complete=lambda: PICTURE_FORMATS)


@command
def run_experiment(options: ExperimentOptions) -> None:
    """Run an experiment, and write its table, picture and manifest, named after its file.

    The manifest has the SHA-256 of every input, the signatures, the version and the time. An interrupted run goes on
    where it was when it is run again.
    """
    write = TABLE_WRITERS.find(options.format)
    suffix = suffix_of(options.format)
    drawn = known_name("picture format", options.picture_format, PICTURE_FORMATS)
    if options.picture:
        check_plots()
    path = Path(options.definition)
    read = Definition.read(path)
    inputs = read.files()
    folder = Path(options.output_folder or path.parent)
    folder.mkdir(parents=True, exist_ok=True)
    base = str(folder / path.stem)
    pictures = [f".{drawn}", f".ranks.{drawn}"] if options.picture and read.kind == "sweep" else []
    for name in [*output_names(read.kind, suffix), *pictures]:
        Target.of(f"{base}{name}", inputs)
    manifest = Target.of(f"{base}.manifest.json", inputs)
    checkpoint = Path(f"{base}.unfinished")
    check_checkpoint(checkpoint)
    with options.progress(path.stem, many=1) as progress:
        outcome = run_definition(read, checkpoint=checkpoint, progress=progress, jobs=options.jobs)
    files = {f"{base}{name}.{suffix}": write(records, Layout()) for name, records in outcome_tables(outcome)}
    if options.picture:
        files |= {f"{base}{name}.{drawn}": content for name, content in outcome_pictures(outcome, drawn)}
    for target, content in [(Target.of(name, inputs), content) for name, content in files.items()]:
        target.write(content)
    manifest.write([json.dumps(outcome.manifest(), indent=2, ensure_ascii=False), "\n"])
    remove_checkpoint(checkpoint)
    note(f"{len(files)} files beside {base}.manifest.json, {outcome.seconds:.0f} s")


class SpuriousOptions(Scoring, shared="encoding output format title digits jobs"):
    """Options of `experiments spurious`.

    Attributes
    ----------
    pairs
        Aligned pairs, as 'softbleu corpora generate' writes them in jsonl
    grammar
        Generate aligned pairs from this grammar
    pairing
        paraphrase, or halves: random sentences in pairs
    count
        How many pairs
    seed
        Seed of the generator
    matchers
        Matchers with approximate matches
    variants
        plain, optimal, aligned, sif, neighbours, centred, function-words, or several joined by +
    all_variants
        Every variant, and some combinations
    threshold
        Threshold at which to report
    thresholds
        Thresholds to find the best among: 0.7,0.8 or 0:1:0.02 or quantiles such as p99.9
    table
        summary, thresholds, orders or kinds (how the words of the matches differ)
    plot
        Also draw spurious shares and precision against recall into this .svg, .png or .pdf file (needs
        softbleu[plots])
    """

    pairs: str | None = setting(None, file="read", panel="Input", common=True)
    grammar: str | None = setting(
        None,
        flags=("-g",),
        metavar="NAME|FILE",
        unset="without any input, modifiers",
        file="read",
        complete=grammar_names,
        panel="Artificial text",
        common=True,
    )
    pairing: str | None = setting(
        None, unset="paraphrase", complete=lambda: ("paraphrase", "halves"), panel="Artificial text", common=True
    )
    count: int | None = setting(None, unset="2000; halves: all", panel="Artificial text", common=True)
    seed: int | None = setting(None, unset="0", panel="Artificial text", common=True)
    matchers: tuple[str, ...] = setting(
        ("vleu", "xleu"), name="matcher", unset="vleu and xleu", complete=MATCHERS.names, panel=MATCHING, common=True
    )
    variants: tuple[str, ...] = setting(
        (), name="variant", unset=PLAIN, earlier=("--remedy",), complete=lambda: VARIANTS, panel=MATCHING, common=True
    )
    all_variants: bool = setting(False, panel=MATCHING)
    threshold: float = setting(0.8, flags=("-t",), metavar="0..1", panel=MATCHING, common=True)
    thresholds: tuple[str, ...] = setting(("0:0.95:0.05",), metavar="LIST", unset="0:0.95:0.05", panel=MATCHING)
    table: str = setting("summary", complete=lambda: CREDIT_TABLES, common=True)
    format: str | None = page_format()
    plot: str | None = setting(None, file="written", common=True)
    without = ("matcher", "threshold")

    @classmethod
    def takes(cls, option: SettingOption) -> bool:
        """Return whether the command has the option of a setting."""
        return super().takes(option) and about_matches(option)


@command
def spurious(options: SpuriousOptions) -> None:
    """Separate deserved from spurious credit by gold alignments, for each matcher, variant and threshold.

    Give aligned pairs, or a grammar to generate them from.
    """
    table = known_name("table", options.table, CREDIT_TABLES)
    output = options.open_output(pages=True)
    picture = options.open_picture(options.plot)
    every = (*VARIANTS, *COMBINATIONS) if options.all_variants else ()
    with options.progress("matching") as progress:
        credit = analyse(
            grammar=options.grammar,
            pairing=options.pairing,
            count=options.count,
            seed=options.seed,
            pairs=options.pairs,
            encoding=options.encoding,
            matchers=options.matchers,
            variants=[*options.variants, *every] or [PLAIN],
            thresholds=options.thresholds,
            at=options.threshold,
            progress=progress,
            jobs=options.jobs,
            **options.settings_of(("bleu", *options.matchers)),
        )
    given = (options.pairs, options.grammar, options.pairing, options.count, options.seed)
    if all(value is None for value in given):
        note(f"no input given (see --help), so this generates pairs of the grammar {GRAMMAR}")
    if all(analysis.is_empty for analysis in credit.analyses):
        note("no approximate matches at any threshold: there is no credit to judge")
    output.write(
        report.answers.make_spurious_page(credit, table, options.title)
        if options.page_wanted
        else credit.table(table)
    )
    picture(spurious_lines, credit.analyses)
