"""`softbleu embeddings list`: known vector sets, and how to get them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from softbleu.cli import options as opt

if TYPE_CHECKING:
    from softbleu.embeddings.catalogue import CatalogueEntry
    from softbleu.report import Records

Name = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="Only this set, and how to get it.", show_default=False)
]


def list_sets(
    name: Name = None,
    output_format: opt.RecordFormat = "text",
    output: opt.Output = None,
    debug: opt.Debug = False,
) -> None:
    """List known vector sets: bundled, installed, or for download."""
    from softbleu.cli.output import Output
    from softbleu.embeddings.catalogue import find_entry, read_catalogue
    from softbleu.report import RECORD_WRITERS, Layout, Records

    write = RECORD_WRITERS.find(output_format)
    target = Output.of(output)
    columns = ("name", "state", "licence", "words", "dimension", "download_MB")
    records = (
        Records(columns, [_row(entry) for entry in read_catalogue()]) if name is None else _one(find_entry(name))
    )
    target.write(write(records, Layout(0, target.colours)))


def _row(entry: CatalogueEntry) -> tuple[str | int | float | None, ...]:
    return (entry.name, entry.state, entry.licence, entry.words, entry.dimension, entry.download_megabytes)


def _one(entry: CatalogueEntry) -> Records:
    """All that is known about a set; what is not known is left out."""
    from dataclasses import asdict

    from softbleu.report import Records

    known = {field: value for field, value in asdict(entry).items() if field != "get" and value is not None}
    steps = {f"step_{number}": command for number, command in enumerate(entry.get, start=1)}
    return Records((), (), {**known, "state": entry.state, **steps})
