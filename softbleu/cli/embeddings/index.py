"""`softbleu embeddings index`: an approximate index, saved beside its vectors."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt

APPROXIMATE = ("hnsw",)
_KINDS = "hnsw, a graph of neighbours: fast and nearly exact (default: hnsw)."


def index(
    store: Annotated[
        str, typer.Argument(metavar="STORE", help="Folder of the vectors; see 'softbleu embeddings convert'.")
    ],
    kind: Annotated[str, opt.option(_KINDS, "--kind", metavar="NAME", complete=APPROXIMATE)] = "hnsw",
    output_format: opt.RecordFormat = "text",
    output: opt.Output = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Build an index of a store's words and save it there, for 'neighbours --index' to use."""
    from pathlib import Path

    from softbleu.cli.output import table_output
    from softbleu.embeddings.neighbours import index_store
    from softbleu.errors import known_name
    from softbleu.report import Records

    write = table_output(output_format, output, [store])
    kind = known_name("index", kind, APPROXIMATE)
    path, count = index_store(Path(store), kind)  # type: ignore[arg-type]
    write(Records([], [], {"index": str(path), "kind": kind, "words": count, "bytes": path.stat().st_size}))
