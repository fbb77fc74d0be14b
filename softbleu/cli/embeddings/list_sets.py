"""`softbleu embeddings list`: known vector sets and encoders, and how to get them."""

from softbleu.cli.command import Given, command

_LISTED = ("name", "kind", "language", "state", "licence", "words", "dimension", "download_megabytes")


@command("name table_format output")
def list_sets(given: Given) -> None:
    """List known sets of word vectors, and encoders: bundled, or for download."""
    from dataclasses import asdict

    from softbleu.embeddings.catalogue import find_entry, read_catalogue

    output = given.open_output()
    if given.name is None:
        rows = [[getattr(entry, field) for field in _LISTED] for entry in read_catalogue()]
        output.write_table((*_LISTED[:-1], "download_MB"), rows, digits=0)
        return
    entry = find_entry(given.name)
    known = {field: value for field, value in asdict(entry).items() if field != "get" and value is not None}
    steps = {f"step_{number}": command for number, command in enumerate(entry.get, start=1)}
    output.write_table((), (), {**known, "state": entry.state, **steps}, digits=0)
