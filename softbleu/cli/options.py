"""Options that several commands have: each is declared once, and a command takes those it names as `shared`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable
from typing import Any

from softbleu.cli.command import Options, offered_options
from softbleu.cli.output import Destination, Form, Target
from softbleu.config.declare import setting
from softbleu.errors import InputError, UnknownNameError
from softbleu.formats import BINARY_FORMATS, TABLE_WRITERS, Formats, Writers, format_by_suffix
from softbleu.io.files import check_different
from softbleu.io.platform import cached_property
from softbleu.report import PAGES, WRITERS


class Common(Options, shared=None):
    """Options of a run and its output.

    Attributes
    ----------
    encoding
        Encoding of the text files; .gz, .bz2, .xz and .zst are recognised
    output
        Write to this file, atomically
    format
        Output format, such as json or latex: {names}
    title
        Title of an html page
    digits
        Decimals in text, markdown and latex; other formats have all digits
    long
        Print signatures with all settings, defaults included, in text, markdown and latex (others: always)
    signatures
        Show the signatures of the scores below text on a terminal, too (files, pipes and other formats: always)
    jobs
        Processes to use; the numbers do not depend on it
    resume
        Keep a checkpoint beside the --output file, and continue an interrupted run from it
    """

    encoding: str = setting("utf-8", metavar="NAME", panel="Input")
    output: str | None = setting(None, unset="standard output", flags=("-o",), file="written", common=True)
    format: str | None = setting(
        None, unset="by the suffix of --output, else text", flags=("-f",), complete=lambda: WRITERS, common=True
    )
    title: str = setting("", metavar="TEXT")
    digits: int | None = setting(
        None, unset="2, of scores of other programs 4 where these lie between -1 and 1 or within 1 of one another"
    )
    long: bool = setting(False, flags=("--long/--short",), earlier=("--long-signature",))
    signatures: bool = setting(False)
    jobs: int = setting(1, flags=("-j",), common=True)
    resume: bool | None = setting(False)

    def open_target(self) -> Target:
        """Open the file that --output names, which must be none of the inputs."""
        return Target.of(self.output, self.input_files())

    def open_picture(self, name: str | None) -> Callable[[Callable[[Any], Any], object], None]:
        """Return a function that draws the panels of a subject into a file, if one is named, in its format."""
        if name is None:
            return lambda panels, subject: None
        from softbleu.report.plots import PICTURE_FORMATS, check_plots, draw

        target = Target.of(name, self.input_files())
        if target.is_printed or target.suffix not in PICTURE_FORMATS:
            raise UnknownNameError("picture format", target.suffix, PICTURE_FORMATS)
        check_plots()
        return lambda panels, subject: target.write(draw(panels(subject), target.suffix))

    @cached_property
    def output_format(self) -> str:
        """Format of the output: as named, or by the suffix of the file."""
        return (self.format or format_by_suffix(self.output)).lower()

    @property
    def page_wanted(self) -> bool:
        """Whether the output is a page."""
        return self.output_format in PAGES

    def open_output(
        self,
        form: Form | Writers[Any] = TABLE_WRITERS,
        checkpoint: str = "",
        also: Collection[str] = (),
        columns: Iterable[str] = (),
        *,
        always: bool = False,
        pages: bool = False,
    ) -> Destination:
        """Open the output for results in a form, or in one of several; --resume keeps a checkpoint beside it.

        With `always`, runs keep one wherever that is possible. With `pages`, the wanted form may be a page.

        Raises `InputError`: it cannot be written, or is one of the inputs, `also` among them.
        """
        options = offered_options(type(self)).values()
        written = [getattr(self, option.field) for option in options if option.file == "written"]
        check_different(written)
        target = Target.of(self.output, [*self.input_files(), *also])
        if isinstance(form, Formats):
            writers = PAGES if pages and self.page_wanted else form
            form = writers.find(self.output_format, PAGES if pages else ())
        if self.output_format in BINARY_FORMATS and target.is_printed:
            raise InputError(f"{self.output_format} is not for standard output: name a file with --output")
        kept = target.beside(checkpoint) if checkpoint and (always or self.resume) else None
        if kept is None and self.resume:
            raise InputError("--resume keeps a checkpoint beside the --output file: name one")
        read = target.is_printed and sys.stdout.isatty()  # By somebody: what goes to a file or a program is signed
        asked = self.signatures or self.long or self.output_format != "text" or "signatures" not in self.offered
        unsigned = "signatures: --signatures" * (read and not asked)
        signed = {"unsigned": unsigned, "long_signature": self.long}
        layout = target.layout(self.digits, columns=tuple(dict.fromkeys(columns)), **signed)
        return Destination(target, form, layout, kept)


def page_format() -> str | None:
    """Declare the format of a table that may be a page."""
    usual = Common.__dataclass_fields__["format"].metadata["setting"]
    return setting(None, **usual | {"complete": lambda: [*WRITERS, *PAGES]})
