"""`softbleu directions`: systems in many directions of translation, one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from softbleu.cli.command import Given, command

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.corpora.directions import Direction
    from softbleu.engine.plan import Plan
    from softbleu.metrics.result import Result


@command(
    "directions",
    "folders against=references metric scores lower language encoding page_format title digits output pages jobs",
)
def directions(given: Given) -> None:
    """Score many directions at once, by metrics and by files of other programs: one table, with macro averages.

    --scores takes {direction} for the name of a direction, as in 'comet/{direction}.json'.
    """
    from functools import partial
    from urllib.parse import quote

    from softbleu.analysis.directions import score_directions
    from softbleu.cli.output import Output
    from softbleu.corpora.directions import read_directions
    from softbleu.errors import InputError, one_line
    from softbleu.report.html import DIRECTION_WRITERS, directions_page, write_html
    from softbleu.report.pages import make_page

    name = given.output_format.lower()
    write = None if name == "html" else DIRECTION_WRITERS.find(name, ["html"])
    read = read_directions(given.folders)
    files = [file for one in read for file in (*one.candidates.values(), *one.references, *one.scores)]
    links: dict[str, str] = {}
    whole = partial(directions_page, pages=links, title=given.title or "")
    output = given.open_output(files, write or whole)
    with_pages = name == "html" and given.pages
    path = output.target.path if with_pages else None
    if with_pages and path is None:
        raise InputError("pages of directions stand beside that of the table: name a file with --output")

    def score_and_write(direction: Direction, corpus: Corpus, plan: Plan) -> list[Result]:
        page = make_page(corpus, plan, jobs=given.jobs, title=direction.name)
        if direction.candidates and path is not None:
            named = one_line(direction.name).translate(dict.fromkeys(map(ord, "/\\"), "-"))
            beside = path.with_name(f"{path.stem}.{named}.html")
            Output.of(str(beside), files).write(write_html(page, output.layout))
            links[direction.name] = quote(beside.name)
        return [result for results in (page.scores.results, *page.scores.others) for result in results]

    run: dict[str, Any] = {**given.values("against language encoding jobs")}
    score = None if path is None else score_and_write
    with given.progress("directions", many=1) as progress:
        table = score_directions(read, given.metric, given.scores, given.lower, progress=progress, score=score, **run)
    output.write(table)
