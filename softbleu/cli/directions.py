"""`softbleu directions`: systems in many directions of translation, one table."""

from __future__ import annotations

from functools import partial
from urllib.parse import quote

from softbleu.analysis.directions import score_directions
from softbleu.cli.command import command, setting
from softbleu.cli.inputs import TextOptions
from softbleu.cli.options import page_format
from softbleu.cli.output import Form, Target
from softbleu.corpora.corpus import Against, Corpus
from softbleu.corpora.directions import Direction, read_directions
from softbleu.engine.plan import Plan
from softbleu.errors import InputError, one_line
from softbleu.formats import TABLE_WRITERS, is_for_readers
from softbleu.metrics.result import Result
from softbleu.report.html import direction_records, directions_page, write_html
from softbleu.report.pages import make_page
from softbleu.tables import Table


class DirectionsOptions(TextOptions, shared="encoding metrics scores lower language output format title digits jobs"):
    """Options of `directions`.

    Attributes
    ----------
    folders
        Folders in WMT's layout (system-outputs, reference…, source…), folders of these, or TOML files with tables
        such as [directions.en-cs]
    against
        Compare candidates with the references, or with the source instead, by vectors or an encoder that have both
        languages
    pages
        With an html page, also write a page of each direction beside it, to which cells lead
    """

    folders: tuple[str, ...] = setting(metavar="PLACE", panel="Input", common=True)
    against: Against = setting("references", panel="Input")
    format: str | None = page_format()
    pages: bool = setting(True, unset="yes", common=True)


@command
def directions(options: DirectionsOptions) -> None:
    """Score many language pairs at once, by metrics and by files of other programs: one table, with macro averages.

    --scores takes {direction} for the name of a direction, as in 'comet/{direction}.json'.
    """
    links: dict[str, str] = {}
    form: Form = partial(directions_page, pages=links, title=options.title)
    read = read_directions(options.folders)
    files = [file for one in read for file in (*one.candidates.values(), *one.references, *one.scores)]
    output = options.open_output(form if options.page_wanted else TABLE_WRITERS, also=files, pages=True)
    linked = options.page_wanted and options.pages
    path = output.target.path if linked else None
    if linked and path is None:
        raise InputError("pages of directions stand beside that of the table: name a file with --output")

    def score_and_write(direction: Direction, corpus: Corpus, plan: Plan) -> list[Result]:
        page = make_page(corpus, plan, jobs=options.jobs, title=direction.name)
        if direction.candidates and path is not None:
            named = one_line(direction.name).translate(dict.fromkeys(map(ord, "/\\"), "-"))
            beside = path.with_name(f"{path.stem}.{named}.html")
            Target.of(str(beside), files).write(write_html(page, output.layout))
            links[direction.name] = quote(beside.name)
        return [result for results in (page.scores.results, *page.scores.others) for result in results]

    with options.progress("directions", many=1) as progress:
        table = score_directions(
            read,
            options.metrics,
            options.scores,
            options.lower,
            against=options.against,
            language=options.language,
            encoding=options.encoding,
            jobs=options.jobs,
            progress=progress,
            score=None if path is None else score_and_write,
        )
    if is_for_readers(options.output_format):
        output.write(direction_records(table, output.layout))
    else:
        output.write(table if options.page_wanted else Table.of(table.records()))
