"""`softbleu experiments run`: what a TOML file defines, and its results beside it."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt
from softbleu.cli.completion import formats, names

_of = opt.OptionTable("""
Output
  --output-folder -o DIR: Where table, picture and manifest go (default: beside the file).
  --picture/--no-picture: Draw a picture, which needs softbleu[plots] (default: yes).
  --picture-format NAME: Format of the picture: svg, png or pdf (default: svg).
""")


def run_experiment(
    ctx: typer.Context,
    definition: Annotated[str, typer.Argument(metavar="FILE", help="A TOML file that defines an experiment.")],
    output_folder: Annotated[str | None, _of("--output-folder")] = None,
    output_format: Annotated[str, opt.format_option(f"{opt.FORMATS} (default: csv).", formats)] = "csv",
    picture: Annotated[bool, _of("--picture")] = True,
    picture_format: Annotated[str, _of("--picture-format", names("report.plots", "PICTURE_FORMATS"))] = "svg",
    jobs: opt.Jobs = 1,
    cluster: opt.Cluster = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Run an experiment and write its table, its picture and a manifest, named after the file.

    The manifest has the SHA-256 of every input, the signatures, the version and the time. An interrupted run goes on
    where it was when it is run again.
    """
    from pathlib import Path

    from softbleu.cli.errors import say
    from softbleu.cli.output import Output
    from softbleu.errors import known_name
    from softbleu.experiments.definition import Definition
    from softbleu.experiments.running import run_definition
    from softbleu.io.executors import cluster_executor
    from softbleu.io.progress import ProgressBar
    from softbleu.report import RECORD_WRITERS, SUFFIXES, Layout
    from softbleu.report.experiments import manifest_json, outcome_pictures, outcome_tables, output_names
    from softbleu.report.plots import PICTURE_FORMATS, check_plots
    from softbleu.scoring.checkpoint import check_checkpoint, remove_checkpoint

    write = RECORD_WRITERS.find(output_format)
    suffix = SUFFIXES.get(output_format.lower(), output_format.lower())
    picture_format = known_name("picture format", picture_format, PICTURE_FORMATS)
    if picture:
        check_plots()
    path = Path(definition)
    read = Definition.read(path)
    inputs = read.files()
    if output_folder:
        Path(output_folder).mkdir(parents=True, exist_ok=True)
    base = str((Path(output_folder) if output_folder else path.parent) / path.stem)
    pictures = [f".{picture_format}", f".ranks.{picture_format}"] if picture and read.kind == "sweep" else []
    for name in [*output_names(read.kind, suffix), *pictures]:
        Output.of(f"{base}{name}", inputs)
    manifest = Output.of(f"{base}.manifest.json", inputs)
    journal = Path(f"{base}.unfinished")
    check_checkpoint(journal)
    with ProgressBar(quiet=quiet, what=path.stem, many=1) as progress:
        executor = ctx.with_resource(cluster_executor(cluster, jobs))
        outcome = run_definition(read, jobs=jobs, executor=executor, journal=journal, progress=progress)
    files = {f"{base}{name}.{suffix}": write(records, Layout()) for name, records in outcome_tables(outcome)}
    if picture:
        drawn = outcome_pictures(outcome, picture_format)
        files |= {f"{base}{name}.{picture_format}": content for name, content in drawn}
    targets = {name: Output.of(name, inputs) for name in files}
    for name, content in files.items():
        targets[name].write(content)
    manifest.write(manifest_json(outcome))
    remove_checkpoint(journal)
    if not quiet:
        say(f"note: {len(files)} files beside {base}.manifest.json, {outcome.seconds:.0f} s")
