"""`softbleu check`: odd outputs, found before anybody scores them."""

from __future__ import annotations

from typing import Literal

from softbleu.cli.command import command, setting
from softbleu.cli.inputs import TextOptions
from softbleu.cli.options import page_format
from softbleu.corpora.checks import check_files
from softbleu.io.progress import note
from softbleu.metrics.latency import Laal
from softbleu.tables import Table


class CheckOptions(
    TextOptions, shared="candidates references source logs segmentation unit resegment encoding output format"
):
    """Options of `check`.

    Attributes
    ----------
    show
        A row per system, with a column for each way to be odd, or a row for each segment that is odd
    terms
        Glossary, lines of 'source term TAB target term' with | between allowed targets: find outputs
        that have none of the targets of a term of their source
    strict
        Leave with exit code 1 if anything is odd
    language
        Language of the outputs (any usual code, such as de or en-de, the target): its point and comma in numbers, and
        whether it doubles words
    """

    show: Literal["systems", "segments"] = setting("systems")
    terms: str | None = setting(None, metavar="FILE", file="read")
    strict: bool = setting(False)
    language: str | None = setting(None, metavar="CODE", panel="Input", common=True)
    format: str | None = page_format()


@command
def check(options: CheckOptions) -> None:
    """Find bad outputs before you score: empty lines, refusals, chatter, copies, wrong language, lost numbers.

    It needs references, a source, or both, and no metric. Files with other numbers of segments, or none, are checked
    for that alone, unless --resegment cuts them. Of logs, delays are checked, too.
    """
    output = options.open_output(pages=True)
    systems = {name: look.name for name, look in options.systems.items()}
    logs = options.read_logs(options.unit)
    odd_delays = [] if logs is None else [*Laal().odd_delays(logs)]
    for system, said in odd_delays:
        note(f"{system}: {said}")
    with options.progress("checking") as progress:
        odd = check_files(
            *(systems, options.references, options.source),
            encoding=options.encoding,
            language=options.language,
            terms=options.terms,
            progress=progress,
            resegment=options.resegment,
            logs=logs,
            odd_delays=odd_delays,
        )
        if odd.lacking:
            note(f"not checked: {odd.unchecked}")
    table = Table.of(odd) if options.show == "systems" else odd.segments_table()
    output.write(odd if options.page_wanted else table)
    if options.strict and odd.oddities:
        raise SystemExit(1)
