"""Options that several commands have, in groups: a command's options derive from the groups it has."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, TypedDict, cast

from softbleu.cli.command import Options
from softbleu.cli.output import Destination, Form, Target
from softbleu.config.declare import own_settings, setting
from softbleu.config.languages import find_language
from softbleu.errors import InputError, UnknownNameError
from softbleu.io.files import check_different
from softbleu.io.platform import cached_property
from softbleu.report import PAGES, RECORD_WRITERS, WRITERS
from softbleu.report.records import BINARY_FORMATS, format_by_suffix

if TYPE_CHECKING:
    from concurrent.futures import Executor


class Workers(TypedDict):
    """Processes or cluster of a run."""

    jobs: int
    executor: Executor | None


class Defaults(Options):
    """Values of options that methods of a group ask for, in commands without these options."""

    # No fields: a group that has the option declares it.
    source = gold = documents = signature = direction = cluster = segmentation = cast("str | None", None)
    output = format = preset = language = cast("str | None", None)
    metrics = scores = lower = columns = logs = moments = cast("tuple[str, ...]", ())
    resegment = lowercase = long = False
    encoding = "utf-8"
    jobs = 1
    digits = cast("int | None", None)
    resume = cast("bool | None", None)  # None keeps a checkpoint where that is possible

    @property
    def workers(self) -> Workers:
        """Processes or cluster, as library functions take them."""
        return {"jobs": self.jobs, "executor": self.executor}

    @cached_property
    def executor(self) -> Executor | None:
        """Executor of the cluster, open until the command ends; None without a cluster."""
        if self.cluster is None:
            return None
        from softbleu.io.executors import cluster_executor

        return self.resources.enter_context(cluster_executor(self.cluster, self.jobs))


class Encoded(Defaults, panel="Input"):
    """Encoding of text files.

    Attributes
    ----------
    encoding
        Encoding of the text files; .gz, .bz2, .xz and .zst are recognised
    """

    encoding: str = setting("utf-8", metavar="NAME")


class LanguageCode(Defaults, panel="Score"):
    """Language of the text.

    Attributes
    ----------
    language
        Language of the text (any usual code, such as cs, zho_Hans or en-zh, the target): chooses tokenizer,
        similarity of words and other defaults, and refuses data of other languages (see `softbleu metrics --language
        CODE`)
    """

    language: str | None = setting(None, metavar="CODE", common=True)

    def begin(self) -> None:
        """Check the language, even where no metric asks for it."""
        super().begin()
        if self.language is not None:
            find_language(self.language)


class Output(Defaults):
    """Name of the output file.

    Attributes
    ----------
    output
        Write to this file, atomically
    """

    output: str | None = setting(None, unset="standard output", flags=("-o",), file="written", common=True)

    def open_target(self) -> Target:
        """Open the file that --output names, which must be none of the inputs."""
        return Target.of(self.output, self.input_files())

    def open_picture(
        self, name: str | None, inputs: Iterable[str]
    ) -> Callable[[Callable[[Any, str], bytes], Any], None]:
        """Return a function that draws a subject into a file, if one is named; its suffix says the format."""
        if name is None:
            return lambda draw, subject: None
        from softbleu.report.plots import PICTURE_FORMATS, check_plots

        target = Target.of(name, inputs)
        if target.is_printed or target.suffix not in PICTURE_FORMATS:
            raise UnknownNameError("picture format", target.suffix, PICTURE_FORMATS)
        check_plots()
        return lambda draw, subject: target.write(draw(subject, target.suffix))


class AnyFormat(Defaults):
    """Results in a format."""

    @cached_property
    def output_format(self) -> str:
        """Format of the output: as named, or by the suffix of the file."""
        return (self.format or format_by_suffix(self.output)).lower()

    def open_output(self, form: Form | None = None, checkpoint: str = "", also: Collection[str] = ()) -> Destination:
        """Open the output for results in a `form`, by default a table; runs that go on keep a checkpoint beside it.

        Raises `InputError`: it cannot be written, or is one of the inputs, `also` among them.
        """
        written = [getattr(self, each.field) for each in own_settings(type(self)) if each.file == "written"]
        check_different(written)
        target = Target.of(self.output, [*self.input_files(), *also])
        form = form or RECORD_WRITERS.find(self.output_format)
        if self.output_format in BINARY_FORMATS and target.is_printed:
            raise InputError(f"{self.output_format} is not for standard output: name a file with --output")
        kept = target.beside(checkpoint) if checkpoint and self.resume is not False else None
        if kept is None and self.resume:
            raise InputError("--resume keeps a checkpoint beside the --output file: name one")
        columns = tuple(dict.fromkeys(self.columns))
        layout = target.layout(self.digits, long_signature=self.long, columns=columns)
        return Destination(target, form, layout, kept)


class TableFormat(Output, AnyFormat):
    """Format of a table, and the file that it is written to.

    Attributes
    ----------
    format
        Output format, such as json or latex: {names}
    """

    format: str | None = setting(
        None, unset="by the suffix of --output, else text", flags=("-f",), complete=lambda: WRITERS, common=True
    )


class Digits(Defaults):
    """Decimals of a table.

    Attributes
    ----------
    digits
        Decimals in text, markdown and latex; other formats have all digits
    """

    digits: int | None = setting(
        None, unset="2, of scores of other programs 4 where these lie between -1 and 1 or within 1 of one another"
    )


class Long(Defaults):
    """Length of signatures.

    Attributes
    ----------
    long
        Print signatures with all settings, defaults included, in text, markdown and latex (others: always)
    """

    long: bool = setting(False, flags=("--long/--short",), earlier=("--long-signature",))


class PageFormat(TableFormat):
    """Format of a table that may be a page.

    Attributes
    ----------
    format
        Output format, such as json or latex: {names}
    """

    format: str | None = setting(
        None,
        unset="by the suffix of --output, else text",
        flags=("-f",),
        complete=lambda: [*WRITERS, *PAGES],
        common=True,
    )


class TitledPage(PageFormat):
    """Title of a page.

    Attributes
    ----------
    title
        Title of an html page
    """

    title: str = setting("", metavar="TEXT")


class Jobs(Defaults):
    """Number of processes.

    Attributes
    ----------
    jobs
        Processes to use; the numbers do not depend on it
    """

    jobs: int = setting(1, flags=("-j",), common=True)


class Run(Jobs):
    """Processes, of this machine or a cluster.

    Attributes
    ----------
    cluster
        Work on the Dask cluster whose scheduler has this address, or local:N: N workers here (needs softbleu[dask]);
        the numbers do not depend on it
    """

    cluster: str | None = setting(None, metavar="ADDRESS")


class Resumed(Defaults):
    """Continuation of an interrupted run.

    Attributes
    ----------
    resume
        Keep a checkpoint beside the --output file, and continue an interrupted run from it
    """

    resume: bool | None = setting(False)
