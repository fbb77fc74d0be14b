"""`softbleu embeddings index`: an approximate index, saved beside its vectors."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt

Store = Annotated[
    str, typer.Argument(metavar="STORE", help="Folder of the vectors; see 'softbleu embeddings convert'.")
]
Kind = Annotated[
    str,
    typer.Option(
        "--kind",
        metavar="NAME",
        help="hnsw, fast and nearly exact, or ivfpq, small (default: hnsw).",
        show_default=False,
        autocompletion=lambda: ["hnsw", "ivfpq"],
    ),
]


def index(
    store: Store,
    kind: Kind = "hnsw",
    output_format: opt.RecordFormat = "text",
    output: opt.Output = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Build an index of a store's words and save it there, for 'neighbours --index' to use."""
    from pathlib import Path

    from softbleu.cli.output import Output, find_table_format
    from softbleu.embeddings.neighbours import index_store
    from softbleu.errors import UnknownNameError
    from softbleu.report import Layout, Records
    from softbleu.report.records import Value

    target = Output.of(output, [store])
    write = find_table_format(output_format, target)
    if kind not in ("hnsw", "ivfpq"):
        raise UnknownNameError("index", kind, ("hnsw", "ivfpq"))
    path, count = index_store(Path(store), kind)  # type: ignore[arg-type]
    facts: dict[str, Value] = {"index": str(path), "kind": kind, "words": count, "bytes": path.stat().st_size}
    target.write(write(Records([], [], facts), Layout(colour=target.colours)))
