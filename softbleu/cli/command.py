"""A command: its options as it declares them, parsed, and what they give it: values, a corpus, metrics, places."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import typer
import typer.main

from softbleu.cli.options import (
    CommandLine,
    OptionLine,
    Options,
    SettingOption,
    choose_options,
    options_named,
    options_of,
    setting_options,
)
from softbleu.errors import InputError, Parameter, SoftbleuError, UnknownNameError
from softbleu.io.arguments import allow
from softbleu.io.platform import cached_property

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from softbleu.cli.output import Destination, Form, Output
    from softbleu.config.declare import Declared
    from softbleu.corpora import ParallelFiles
    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.plan import Plan
    from softbleu.io.progress import ProgressBar
    from softbleu.metrics.base import Metric
    from softbleu.text.tokens import Tokenizer

_Kind = TypeVar("_Kind", bound="Declared")
# Options whose name is not that of the parameter
_OPTIONS = {
    "assessments": "da",
    "candidates": "candidate",
    "every": "all",
    "expand": "unexpanded",
    "metrics": "metric",
    "references": "reference",
}


def option_of(parameter: Parameter) -> str:
    """Spell a parameter as the option of a command.

    >>> [*map(option_of, (Parameter("references"), Parameter("max_depth", 200), Parameter("normalize", False)))]
    ['--reference', '--max-depth 200', '--no-normalize']
    """
    name = _OPTIONS.get(parameter.name, parameter.name).replace("_", "-")
    if parameter.value is None or isinstance(parameter.value, bool):
        return f"--{'no-' * (parameter.value is False)}{name}"
    return f"--{name} {parameter.value}"


def open_sample(metrics: Sequence[Metric] = ()) -> ParallelFiles:
    """Open the sample that has what all metrics need."""
    from softbleu.corpora import ParallelFiles
    from softbleu.io.files import find_resource

    folder = find_resource("corpora", "samples")
    if folder is None:
        raise InputError(
            "no input given, and this installation lacks the sample corpus: give ",
            Parameter("candidates"),
            " and ",
            Parameter("references"),
        )
    if any(metric.requires.source or metric.requires.gold for metric in metrics):
        return ParallelFiles.open([str(folder / "corrected.en")], [], gold=str(folder / "gold.m2"))
    references = [str(folder / name) for name in ("reference.en", "reference2.en")]
    return ParallelFiles.open([str(folder / "candidate.en")], references)


class Given:
    """Values that the command line gives a command, by the name of their option; None, or no values, if absent."""

    def __init__(self, context: typer.Context, values: Mapping[str, Any], settings: Options) -> None:
        self._context, self._values, self._settings = context, values, settings

    def __getattr__(self, name: str) -> Any:
        """The value of an option."""
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"the command has no option {name}") from None

    @cached_property
    def output_format(self) -> str:
        """The format of the output: as named, or by the suffix of the file."""
        from softbleu.report.records import format_by_suffix

        return self._values["format"] or format_by_suffix(self.output)

    def get(self, name: str, missing: Any = None) -> Any:
        """The value of an option that the command may lack."""
        return self._values.get(name, missing)

    def values(self, names: str) -> dict[str, Any]:
        """Values of these options by name."""
        return {name: getattr(self, name) for name in names.split()}

    def files(self, *names: str) -> list[str]:
        """Files that these options name."""
        values = (self._values.get(name) for name in names)
        return [file for value in values if value for file in ([value] if isinstance(value, str) else value)]

    def chosen_settings(self) -> Iterator[tuple[SettingOption, Any]]:
        """Options of settings that are given, and their values."""
        named = ((option, self._values.get(name)) for name, option in self._settings.items())
        return ((option, value) for option, value in named if value is not None)

    def settings_of(self, names: Iterable[str | None]) -> dict[str, Any]:
        """Settings given to what has one of these names; what a plug-in has of its own is for it alone."""
        # What a plug-in has of its own comes last.
        chosen, owners = self.chosen_settings(), {"", self.get("tokenize"), *names}
        given = {option.setting.name: value for option, value in chosen if option.plug_in in owners}
        return given | {name: value for name in ("preset", "language") if (value := self.get(name)) is not None}

    def declared(self, kind: type[_Kind]) -> _Kind:
        """A declared value with the settings that are given."""
        return kind().revised({name: value for name, value in self._values.items() if value is not None})

    def tokenizer(self, default: str = "none") -> Tokenizer:
        """The tokenizer of a command without a metric."""
        from softbleu.text.tokens import make_tokenizer

        return make_tokenizer(self.tokenize or default, lowercase=bool(self.get("lowercase")))

    def check_language(self) -> None:
        """Check the language that is named, even where no metric asks for it."""
        from softbleu.config.languages import find_language

        if self.get("language") is not None:
            find_language(self.language)

    def input_files(self) -> list[str]:
        """Files that will be read, and what else text in the settings may name."""
        from softbleu.corpora import split_file
        from softbleu.metrics.reading import read_settings

        read = [read_settings(expression)[1] for expression in self.get("metric", ())]
        settings = [value for option, value in self.chosen_settings() if option.setting.hashed]
        settings += [text for each in read for text in (each | {"called": None}).values() if isinstance(text, str)]
        return [
            *self.files("pairs"),
            *(split_file(text)[1] for text in self.files("scores", "spans")),
            *self.systems().values(),
            *self.files("reference", "source", "gold", "documents"),
            *settings,
        ]

    def systems(self) -> dict[str, str]:
        """Files of systems by their names; see `name_systems`."""
        from softbleu.corpora import name_systems

        return name_systems(self.candidate, self.reference, self.files("source", "gold"), encoding=self.encoding)

    @cached_property
    def signed(self) -> dict[str, str]:
        """Keys and values of the signature that is run again, if one is."""
        from softbleu.metrics.signatures import read_signature

        return {} if self.get("signature") is None else read_signature(self.signature)

    @contextmanager
    def open_corpus(self, plan: Plan, *, by_document: bool = False) -> Iterator[Corpus]:
        """Open the corpus that the options name, or else the bundled sample that has what the plan's metrics need.

        Once all is done it notes thresholds that were recommended, as nobody chose one, and documents that nothing
        looked at: neither a context nor what is done `by_document`. Options that contradict one another are an
        InputError.
        """
        from softbleu.corpora.corpus import compared_with
        from softbleu.corpora.labels import Documents
        from softbleu.engine.notes import note_choices
        from softbleu.io.progress import note

        against: Any = self.get("against") or self.signed.get("against", "references")
        with self._named_corpus(plan.metrics) as corpus:
            corpus = compared_with(corpus, against)
            if named := self.get("documents"):
                documents = Documents.read(named, self.encoding)
                documents.fitting(len(corpus))
                corpus = replace(corpus, documents=documents)
            yield corpus
        in_context = any(metric.requires.vectors and metric.vector_choice.context for metric in plan.metrics)
        compared = any(metric.requires.references or metric.requires.edits for metric in plan.metrics)
        if self.get("absent_annotators") and not self.gold:
            note("--absent-annotators has no effect here")
        instead = ["gold", *["reference"] * (not self.get("resegment"))] if against == "source" else []
        for name in filter(self.get, instead if compared else ["against"]):
            note(f"--{name} has no effect here")
        if self.get("documents") and not (by_document or in_context):
            note("--documents has no effect here")
        note_choices(corpus, plan)

    def _named_corpus(self, measures: Sequence[Metric]) -> AbstractContextManager[Any]:
        """The corpus that the options name, to be opened."""
        from softbleu.corpora import ParallelFiles, read_segments
        from softbleu.io.progress import note

        references, source, gold = self.reference, self.source, self.gold
        blank: Any = self.get("blank_references")
        absent: Any = self.get("absent_annotators")
        if self.get("signature"):
            blank, absent = blank or self.signed.get("blank", "empty"), absent or self.signed.get("absent")
        if self.input_format and not self.pairs:
            raise InputError("--input-format says how to read a --pairs file: name one, or leave it out")
        if self.get("resegment") and not self.candidate:
            note("--resegment has no effect here")
        if self.pairs:
            if self.candidate or references or source or gold:
                raise InputError(
                    "--pairs has candidates and references in one file: leave out -c, -r, --source, --gold"
                )
            segments = read_segments(self.pairs, file_format=self.input_format, encoding=self.encoding)
            return nullcontext(replace(segments, blank_references=blank or segments.blank_references))
        if not self.candidate and not references and not gold:
            from softbleu.metrics.protocols import ReadsRows
            from softbleu.metrics.scores import corpus_of

            if not any(isinstance(metric, ReadsRows) for metric in measures):
                sample = open_sample(measures)
                note("no input given (see --help), so this scores the bundled sample corpus")
                return replace(sample, is_sample=True)
            return nullcontext(corpus_of(measures))
        if not self.candidate:
            said = f"all {len(references)} files are references of -r: " if len(references) > 1 else ""
            raise InputError(f"no candidate file: {said}name systems with --candidate (-c), - for standard input")
        read: Any = {"executor": self.executor, "jobs": self.jobs} if self.get("jobs") is not None else {}
        return ParallelFiles.open(
            self.systems(),
            references,
            source,
            gold=gold,
            absent_annotators=absent or "left-out",
            encoding=self.encoding,
            resegment=bool(self.get("resegment")),
            blank_references=blank,
            **read,
        )

    def plan(self, *, one: bool = False, also: Collection[str] = ()) -> Plan:
        """Plan the metrics that the options describe, or the `one` that there may be.

        Options without effect are noted, unless `also` names them.
        """
        from softbleu.engine.plan import distinct, make_given, make_plan
        from softbleu.io.progress import note
        from softbleu.metrics.signatures import metric_from_signature

        def chosen(metric: str, matcher: str | None, tokenizer: str | None) -> dict[str, Any]:
            return self.settings_of((metric, self.get("matcher") or matcher, tokenizer))

        keys = self.signed
        if self.get("signature") is not None:
            if self.metric:
                raise InputError("--signature says what to compute: leave out --metric")
            named = ((option.setting, value) for option, value in self.chosen_settings())
            # Files that are named are not looked for where the signature has them.
            files = {setting.name: value for setting, value in named if setting.hashed and setting.key in keys}
            metrics: list[str | Metric] = [metric_from_signature(self.signature, **files)]
        else:
            metrics = list(self.get("metric") or ["bleu"] * (not self.get("scores")))
        if self.get("scores"):
            from softbleu.metrics.scores import read_outside

            metrics = [*read_outside(self.scores, self.lower, self.encoding, self.get("direction")), *metrics]
        elif self.get("direction"):
            note("--direction has no effect here, without --scores")
        measures, idle = make_given(metrics, chosen)
        plan = make_plan(measures)
        plan = replace(plan, metrics=tuple(distinct(plan.metrics)))
        self._check_idle(measures, idle - set(also))
        return replace(plan, metrics=(plan.only,)) if one else plan

    def _check_idle(self, measures: Sequence[Metric], idle: set[str]) -> None:
        """See that settings without effect are valid, and note them."""
        from softbleu.io.progress import note
        from softbleu.metrics.protocols import matcher_of

        matchers = [matcher_of(measure) for measure in measures]
        what = f"these metrics: {', '.join(map(str, measures))}"
        if len(measures) == 1:
            what = f"--metric {measures[0].name}" + "".join(f" --matcher {over.name}" for over in matchers if over)
        what += f", --tokenize {' and '.join(dict.fromkeys(metric.tokenizer.name for metric in measures))}"
        names = {part.name for metric in measures for part in (metric, metric.tokenizer, matcher_of(metric)) if part}
        for option, value in self.chosen_settings():
            if option.plug_in not in ("", *names) or (not option.plug_in and option.setting.name in idle):
                option.check(value)
                note(f"--{option.name} has no effect here, with {what}")
        if "preset" in idle and self.get("preset"):
            note(f"--preset has no effect here, with {what}")

    def progress(self, what: str = "scoring", **more: Any) -> ProgressBar:
        """A bar of what is done; as long as it is open, notes are shown, unless quiet is asked for."""
        from softbleu.io.progress import ProgressBar

        return ProgressBar(quiet=self.quiet, what=what, spell=self.spell, **more)

    def spell(self, parameter: Parameter) -> str:
        """Spell a parameter as the option of this command; one that it lacks as a key, or as Python has it."""
        name = _OPTIONS.get(parameter.name, parameter.name)
        there = name in self._values or name in self._settings or "preset" in self._values
        return option_of(parameter) if there else str(parameter)

    def open_place(self, inputs: Iterable[str | None]) -> Output:
        """Where to write: what --output names, which must be none of the inputs."""
        from softbleu.cli.output import Output

        return Output.of(self.output, inputs)

    def open_output(
        self, inputs: Iterable[str | None] = (), form: Form | None = None, checkpoint: str = ""
    ) -> Destination:
        """Where and how to write, unless said otherwise a table; and where a run that can go on keeps what is done.

        Before any work is done it is seen that this can be done.
        """
        from softbleu.cli.output import Destination, Output
        from softbleu.io.files import check_different
        from softbleu.report import RECORD_WRITERS
        from softbleu.report.records import BINARY_FORMATS

        check_different(map(self.get, ("output", "plot", "plot_ranks", "distribution")))
        place = Output.of(self.get("output"), inputs)
        form = form or RECORD_WRITERS.find(self.output_format)
        if self.output_format.lower() in BINARY_FORMATS and place.is_printed:
            raise InputError(f"{self.output_format} is not for standard output: name a file with --output")
        kept = place.beside(checkpoint) if checkpoint and self.get("resume", True) else None
        if kept is None and self.get("resume"):
            raise InputError("--resume notes what is done beside the --output file: name one")
        columns = tuple(dict.fromkeys(self.get("columns", ())))
        more = {"long_signature": self.get("long", False), "columns": columns}
        return Destination(place, form, place.layout(self.get("digits"), **more), kept)

    def open_picture(
        self, name: str, inputs: Iterable[str | None]
    ) -> Callable[[Callable[[Any, str], bytes], Any], None]:
        """What draws something into the file that an option names, if it names one: its suffix says the format."""
        if self.get(name) is None:
            return lambda draw, subject: None
        from softbleu.cli.output import Output
        from softbleu.report.plots import PICTURE_FORMATS, check_plots

        target = Output.of(self.get(name), inputs)
        if target.is_printed or target.suffix not in PICTURE_FORMATS:
            raise UnknownNameError("picture format", target.suffix, PICTURE_FORMATS)
        check_plots()
        return lambda draw, subject: target.write(draw(subject, target.suffix))

    @cached_property
    def executor(self) -> Executor | None:
        """That of the cluster, open as long as the command runs; None without one."""
        if self.cluster is None:
            return None
        from softbleu.io.executors import cluster_executor

        return self._context.with_resource(cluster_executor(self.cluster, self.jobs))


@dataclass(frozen=True)
class Declaration:
    """A command as it is declared: what it does, its options, and which options of settings it takes."""

    work: Callable[[Given], None]
    options: Sequence[OptionLine]
    takes: Callable[[SettingOption], bool] | None = None  # Of the settings of metrics; None for a command without one
    own_settings: Callable[[], Options] = dict  # Those of one declared class

    def settings(self, words: CommandLine | None = None, *, plug_ins: bool = True) -> Options:
        """Options of settings: those that the words name, or without words all; for help those worth showing."""
        if self.takes is None:
            there = self.own_settings()
        elif words is None:
            there = setting_options(plug_ins=plug_ins)
        elif words.ask_for_help:
            there = options_of(words)
        else:
            there = options_named(words, self.options)
        known, takes = {option.name for option in self.options}, self.takes
        return {
            name: option for name, option in there.items() if name not in known and (takes is None or takes(option))
        }

    def command(self, name: str, settings: Options, epilog: str | None = None) -> Any:
        """Make the command, with the options of these settings."""
        app = typer.Typer(rich_markup_mode="rich", add_completion=False)
        app.command(name, epilog=epilog)(self._callback(settings))
        return typer.main.get_command(app)

    def _callback(self, settings: Options) -> Callable[..., None]:
        """Make the function of which typer makes the command."""
        lines, names = [*self.options], [option.name for option in self.options]
        place = names.index("preset") + 1 if "preset" in names else len(names) - 1
        lines[place:place] = [option.line for option in settings.values()]
        parameters = [line.parameter for line in lines]

        def call(program: typer.Context, **values: Any) -> None:
            if values["limits"] is not None:
                allow(values["limits"])
            for line in lines:
                line.check(values[line.name])
            given = Given(program, values, settings)
            try:
                with given.progress():
                    given.check_language()
                    self.work(given)
            except SoftbleuError as error:
                # What a plug-in has of its own is set by an option of its own.
                chosen = (option for option, _ in given.chosen_settings() if option.plug_in)
                spelled = {option.setting.name: option.name for option in chosen}
                error.args = tuple(
                    replace(part, name=spelled.get(part.name, part.name)) if isinstance(part, Parameter) else part
                    for part in error.args
                )
                raise

        parameters.insert(0, inspect.Parameter("program", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context))
        call.__name__, call.__doc__ = self.work.__name__, self.work.__doc__
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return call


DECLARATIONS: dict[str, Declaration] = {}  # Commands by their names, as `networks make`


def command(
    name: str,
    options: str,
    *,
    settings: Callable[[SettingOption], bool] | None = None,
    own_settings: Callable[[], Options] = dict,
) -> Callable[[Callable[[Given], None]], Callable[[Given], None]]:
    """Declare that a function does the work of the command of that name.

    `options` names its options, in the order of the help; quiet, debug and limits, which all have, are left out.
    `settings` says which options of settings of metrics and matchers it takes, too, `own_settings` makes those of one
    declared class.
    """

    def declare(work: Callable[[Given], None]) -> Callable[[Given], None]:
        chosen = choose_options(f"{options} quiet debug limits", name)
        DECLARATIONS[name] = Declaration(work, chosen, settings, own_settings)
        return work

    return declare
