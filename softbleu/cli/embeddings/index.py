"""`softbleu embeddings index`: an approximate index, saved beside its vectors."""

from softbleu.cli.command import Given, command


@command(
    "store kind table_format output",
    """
  store STORE !: Folder of the vectors; see 'softbleu embeddings convert'.
  --kind NAME =hnsw <hnsw>: hnsw, a graph of neighbours: fast and nearly exact (default: =).
""",
)
def index(given: Given) -> None:
    """Build an index of a store's words and save it there, for 'neighbours --index' to use."""
    from pathlib import Path
    from typing import Any

    from softbleu.embeddings.neighbours import index_store
    from softbleu.errors import known_name

    output = given.open_output([given.store])
    kind: Any = known_name("index", given.kind, ("hnsw",))
    path, count = index_store(Path(given.store), kind)
    output.write_table([], [], {"index": str(path), "kind": kind, "words": count, "bytes": path.stat().st_size})
