"""`softbleu directions`: systems in many directions of translation, one table."""

from typing import Any

from softbleu.cli.command import Given, command


@command(
    "folders metric scores lower language encoding page_format title digits output pages jobs",
    """
Input
  --folders PLACE… !: Folders as WMT has them (system-outputs, reference…, source…, or folders of such), or TOML
    files with tables such as [directions.en-cs].
Output
  --pages/--no-pages =yes: With an html page, also write a page of each direction beside it, to which cells lead
    (default: =).
""",
)
def directions(given: Given) -> None:
    """Score systems in many directions by metrics, and by files of other programs: one table, with macro averages.

    --scores takes {direction} for the name of a direction, as in 'comet/{direction}.json'.
    """
    from functools import partial
    from pathlib import Path
    from urllib.parse import quote

    from softbleu.analysis.directions import DirectionTable, pages_of, score_directions
    from softbleu.cli.output import Output
    from softbleu.corpora.directions import read_directions
    from softbleu.errors import InputError
    from softbleu.report import RECORD_WRITERS
    from softbleu.report.directions import directions_page, write_directions
    from softbleu.report.html import write_html

    name = given.output_format.lower()
    if name != "html":
        RECORD_WRITERS.find(name, {"html": None})
    read = read_directions(given.folders)
    files = [file for one in read for file in (*one.candidates.values(), *one.references, *one.scores)]
    links: dict[str, str] = {}
    write: Any = partial(write_directions, name)
    if name == "html":
        write = partial(directions_page, pages=links, title=given.title or "")
    output = given.open_output(files, write)
    run: dict[str, Any] = given.values("language encoding jobs")
    how = read, given.metric or (), given.scores or (), given.lower or ()
    table: DirectionTable | None = None
    with given.progress("directions", many=1) as progress:
        if name != "html" or not given.pages:
            table = score_directions(*how, **run, progress=progress)
        else:
            if given.output is None or output.target.path is None:
                raise InputError("pages of directions stand beside that of the table: name a file with --output")
            for direction, (page, scored) in zip(read, pages_of(*how, **run, progress=progress), strict=True):
                table = scored
                if direction.candidates:
                    path = output.target.path
                    beside = path.with_name(f"{path.stem}.{Path(direction.name).name}.html")
                    Output.of(str(beside), files).write(write_html(page, output.layout))
                    links[direction.name] = quote(beside.name)
    output.write(table)
