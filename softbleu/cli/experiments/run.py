"""`softbleu experiments run`: what a TOML file defines, and its results beside it."""

from softbleu.cli.command import Given, command


@command("definition output_folder format=csv picture picture_format jobs cluster")
def run_experiment(given: Given) -> None:
    """Run an experiment, and write its table, picture and manifest, named after its file.

    The manifest has the SHA-256 of every input, the signatures, the version and the time. An interrupted run goes on
    where it was when it is run again.
    """
    from pathlib import Path

    from softbleu.cli.output import Output
    from softbleu.engine.checkpoint import check_checkpoint, remove_checkpoint
    from softbleu.errors import known_name
    from softbleu.io.progress import note
    from softbleu.meta.experiments import Definition, run_definition
    from softbleu.report import RECORD_WRITERS, Layout
    from softbleu.report.experiments import manifest_json, outcome_pictures, outcome_tables, output_names
    from softbleu.report.plots import PICTURE_FORMATS, check_plots
    from softbleu.report.records import SUFFIXES

    write = RECORD_WRITERS.find(given.format)
    suffix = SUFFIXES.get(given.format.lower(), given.format.lower())
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
    manifest.write(manifest_json(outcome))
    remove_checkpoint(checkpoint)
    note(f"{len(files)} files beside {base}.manifest.json, {outcome.seconds:.0f} s")
