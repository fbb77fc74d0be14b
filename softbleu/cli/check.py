"""`softbleu check`: what is odd in outputs, before anybody scores them."""

from softbleu.cli.command import Given, command


@command("check", "candidate reference source encoding show page_format output strict")
def check(given: Given) -> None:
    """Find bad outputs before you score them: empty segments, copies, chatter, refusals, lost numbers.

    It needs references, a source, or both, and no metric. Files with other numbers of segments, or none, are checked
    for that alone.
    """
    import typer

    from softbleu.corpora.checks import check_files
    from softbleu.errors import known_name
    from softbleu.report import CHECK_WRITERS, PAGES
    from softbleu.tables import Records

    show = known_name("show", given.show, ("systems", "segments"))
    systems = given.systems()
    writer = CHECK_WRITERS.find(given.output_format)
    output = given.open_output([*systems.values(), *given.files("reference", "source")], writer)
    with given.progress("checking") as progress:
        odd = check_files(systems, given.reference, given.source, encoding=given.encoding, progress=progress)
    table = Records.of(odd) if show == "systems" else odd.segments_table()
    output.write(odd if given.output_format.lower() in PAGES else table)
    if given.strict and odd.oddities:
        raise typer.Exit(1)
