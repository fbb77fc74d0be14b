"""`softbleu embeddings list`: known vector sets and encoders, and how to get them."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt

CATALOGUE_COLUMNS = ("name", "kind", "state", "licence", "words", "dimension", "download_MB")


def list_sets(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Only this set, and how to get it.", show_default=False)
    ] = None,
    output_format: opt.RecordFormat = "text",
    output: opt.Output = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """List known sets of word vectors, and encoders: bundled, installed, or for download."""
    from dataclasses import asdict

    from softbleu.cli.output import table_output
    from softbleu.embeddings.catalogue import find_entry, read_catalogue
    from softbleu.report import Records

    write = table_output(output_format, output, digits=0)
    if name is None:
        found = [asdict(each) | {"state": each.state} for each in read_catalogue()]
        fields = [*CATALOGUE_COLUMNS[:-1], "download_megabytes"]
        write(Records(CATALOGUE_COLUMNS, [tuple(each[field] for field in fields) for each in found]))
        return
    entry = find_entry(name)
    known = {field: value for field, value in asdict(entry).items() if field != "get" and value is not None}
    steps = {f"step_{number}": command for number, command in enumerate(entry.get, start=1)}
    write(Records((), (), {**known, "state": entry.state, **steps}))
