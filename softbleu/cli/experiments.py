"""`softbleu experiments`: what a TOML file defines, and deserved and spurious soft credit."""

from softbleu.cli.command import Given, command
from softbleu.cli.options import about_matches


@command("experiments run", "definition output_folder format=csv picture picture_format jobs cluster")
def run_experiment(given: Given) -> None:
    """Run an experiment, and write its table, picture and manifest, named after its file.

    The manifest has the SHA-256 of every input, the signatures, the version and the time. An interrupted run goes on
    where it was when it is run again.
    """
    import json
    from pathlib import Path

    from softbleu.cli.output import Output
    from softbleu.engine.checkpoint import check_checkpoint, remove_checkpoint
    from softbleu.errors import known_name
    from softbleu.io.progress import note
    from softbleu.meta.experiments import Definition, outcome_tables, output_names, run_definition
    from softbleu.report import RECORD_WRITERS, Layout
    from softbleu.report.plots import PICTURE_FORMATS, check_plots, outcome_pictures
    from softbleu.report.records import suffix_of

    write = RECORD_WRITERS.find(given.format)
    suffix = suffix_of(given.format)
    drawn = known_name("picture format", given.picture_format, PICTURE_FORMATS)
    if given.picture:
        check_plots()
    path = Path(given.definition)
    read = Definition.read(path)
    inputs = read.files()
    folder = Path(given.output_folder or path.parent)
    folder.mkdir(parents=True, exist_ok=True)
    base = str(folder / path.stem)
    pictures = [f".{drawn}", f".ranks.{drawn}"] if given.picture and read.kind == "sweep" else []
    for name in [*output_names(read.kind, suffix), *pictures]:
        Output.of(f"{base}{name}", inputs)
    manifest = Output.of(f"{base}.manifest.json", inputs)
    checkpoint = Path(f"{base}.unfinished")
    check_checkpoint(checkpoint)
    with given.progress(path.stem, many=1) as progress:
        outcome = run_definition(read, checkpoint=checkpoint, progress=progress, **given.values("jobs executor"))
    files = {f"{base}{name}.{suffix}": write(records, Layout()) for name, records in outcome_tables(outcome)}
    if given.picture:
        files |= {f"{base}{name}.{drawn}": content for name, content in outcome_pictures(outcome, drawn)}
    for target, content in [(Output.of(name, inputs), content) for name, content in files.items()]:
        target.write(content)
    manifest.write([json.dumps(outcome.manifest(), indent=2, ensure_ascii=False), "\n"])
    remove_checkpoint(checkpoint)
    note(f"{len(files)} files beside {base}.manifest.json, {outcome.seconds:.0f} s")


@command(
    "experiments spurious",
    "pairs encoding grammar pairing count seed matcher variant all_variants threshold thresholds table table_format "
    "digits output plot jobs cluster",
    settings=lambda option: about_matches(option) and option.setting.name not in ("matcher", "threshold"),
)
def spurious(given: Given) -> None:
    """Separate deserved from spurious credit by gold alignments, for each matcher, variant and threshold.

    Give aligned pairs, or a grammar to generate them from.
    """
    from softbleu.errors import known_name
    from softbleu.io.progress import note
    from softbleu.meta.spurious import COMBINATIONS, CREDIT_TABLES, GRAMMAR, PLAIN, VARIANTS
    from softbleu.meta.spurious import spurious as analyse
    from softbleu.report.plots import draw_spurious

    table = known_name("table", given.table, CREDIT_TABLES)
    inputs = given.files("pairs", "grammar")
    output = given.open_output(inputs)
    picture = given.open_picture("plot", inputs)
    every = (*VARIANTS, *COMBINATIONS) if given.all_variants else ()
    matchers = given.matcher or ["vleu", "xleu"]
    with given.progress("matching") as progress:
        credit = analyse(
            matchers=matchers,
            variants=[*given.variant, *every] or [PLAIN],
            thresholds=given.thresholds or ("0:0.95:0.05",),
            at=given.threshold,
            progress=progress,
            **given.values("grammar pairing count seed pairs encoding jobs executor"),
            **given.settings_of(("bleu", *matchers)),
        )
    inputs_given = given.values("pairs grammar pairing count seed").values()
    if all(value is None for value in inputs_given):
        note(f"no input given (see --help), so this generates pairs of the grammar {GRAMMAR}")
    if all(analysis.is_empty for analysis in credit.analyses):
        note("no approximate matches at any threshold: there is no credit to judge")
    output.write(credit.table(table))
    picture(draw_spurious, credit.analyses)
