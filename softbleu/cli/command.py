"""A command: its options as it declares them, parsed, and what they give it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from softbleu.cli.errors import say
from softbleu.cli.options import OptionLine, choose_options, find
from softbleu.cli.settings import FindOptions, Options, SettingOption, declared_options
from softbleu.errors import InputError, Parameter, SoftbleuError
from softbleu.io.forks import cached_property
from softbleu.io.limits import allow

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from softbleu.cli.output import Destination, Form, Output
    from softbleu.config.declare import Declared
    from softbleu.io.progress import ProgressBar
    from softbleu.text.tokenizers import Tokenizer

_Kind = TypeVar("_Kind", bound="Declared")
HELP = ("-h", "--help")
EARLIER = {"--long-signature": "--long", "--test-seed": "--seed", "--remedy": "--variant"}
"""Spellings of earlier versions, which help does not show."""
_KINDS: dict[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "yes or no"}


class Given:
    """Values that the command line gives a command, by the name of their option; None where it is absent."""

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
        from softbleu.report import format_by_suffix

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
        return [file for each in values if each for file in ([each] if isinstance(each, str) else each)]

    def chosen_settings(self) -> Iterator[tuple[SettingOption, Any]]:
        """Options of settings that are given, and their values."""
        named = ((each, self._values.get(name)) for name, each in self._settings.items())
        return ((each, value) for each, value in named if value is not None)

    def settings_of(self, names: Iterable[str | None]) -> dict[str, Any]:
        """Settings given to what has one of these names; what a plug-in has of its own is for it alone."""
        # What a plug-in has of its own comes last.
        chosen, owners = self.chosen_settings(), {"", self.get("tokenize"), *names}
        given = {each.setting.name: value for each, value in chosen if each.plug_in in owners}
        return given if self.get("preset") is None else {**given, "preset": self.preset}

    def declared(self, kind: type[_Kind]) -> _Kind:
        """A declared value with the settings that are given."""
        return kind().revised({name: value for name, value in self._values.items() if value is not None})

    def tokenizer(self, default: str = "none") -> Tokenizer:
        """The tokenizer of a command without a metric."""
        from softbleu.text.tokenizers import make_tokenizer

        return make_tokenizer(self.tokenize or default, lowercase=self.lowercase)

    def note(self, text: str) -> None:
        """Tell the user something, unless quiet is asked for."""
        if not self.quiet:
            say(f"note: {text}")

    def progress(self, what: str = "scoring", **more: Any) -> ProgressBar:
        """A bar of what is done."""
        from softbleu.io.progress import ProgressBar

        return ProgressBar(quiet=self.quiet, what=what, **more)

    def open_place(self, inputs: Iterable[str | None]) -> Output:
        """Where to write: what --output names, which must be none of the inputs."""
        from softbleu.cli.output import Output

        return Output.of(self.output, inputs)

    def open_output(self, inputs: Iterable[str | None] | None = None, form: Form | None = None) -> Destination:
        """Where and how to write, unless said otherwise a table; without `inputs` to standard output.

        Before any work is done it is seen that this can be done.
        """
        from softbleu.cli.output import Destination, Output
        from softbleu.io.files import check_different
        from softbleu.report import RECORD_WRITERS

        check_different(map(self.get, ("output", "plot", "plot_ranks", "distribution")))
        place = Output.of(None if inputs is None else self.output, inputs or ())
        form = form or RECORD_WRITERS.find(self.output_format)
        place.check_format(self.output_format)
        columns = tuple(dict.fromkeys(self.get("columns") or ()))
        more = {"long_signature": self.get("long", False), "columns": columns}
        return Destination(place, form, place.layout(self.get("digits", 2), **more))

    def open_picture(self, name: str, inputs: Iterable[str | None]) -> Output | None:
        """Where to draw a picture, if that option names a file."""
        from softbleu.cli.output import Output

        return Output.of_picture(self.get(name), inputs)

    @cached_property
    def executor(self) -> Executor | None:
        """That of the cluster, open as long as the command runs; None without one."""
        from softbleu.io.executors import cluster_executor

        return self._context.with_resource(cluster_executor(self.cluster, self.jobs))


@dataclass(frozen=True)
class Declaration:
    """A command as it is declared: what it does, and its options."""

    work: Callable[[Given], None]
    options: Sequence[OptionLine]
    settings: Callable[[FindOptions], Options]
    of_metrics: bool = False

    def callback(self, found: FindOptions | None) -> Callable[..., None]:
        """Make the function of which typer makes the command, with the options of the settings that are found."""
        settings = {} if found is None else self.settings(found)
        own = [each.name for each in self.options]
        # What reads the variable of the environment reads this, too.
        lines = [*self.options, replace(*choose_options("limits"), kind=str)]
        place = own.index("preset") + 1 if "preset" in own else len(own)
        lines[place:place] = [each.line for name, each in settings.items() if name not in own]
        parameters = [each.parameter for each in lines]

        def call(context: typer.Context, **values: Any) -> None:
            if values["limits"] is not None:
                allow(values["limits"])
            for each in lines:
                named = values.get(each.name)
                # It would stand for this folder, or for no option at all.
                empty = "" in (named if isinstance(named, list) else [named])
                if empty and any(place in (each.metavar or "") for place in ("FILE", "FOLDER", "PATH")):
                    raise InputError(f"{(each.flags or [each.name])[0]}: the name of a file or folder is empty")
            given = Given(context, values, settings)
            try:
                self.work(given)
            except SoftbleuError as error:
                # What a plug-in has of its own is set by an option of its own.
                own = {each.setting.name: each.name for each, _ in given.chosen_settings() if each.plug_in}
                error.args = tuple(
                    replace(part, name=own.get(part.name, part.name)) if isinstance(part, Parameter) else part
                    for part in error.args
                )
                raise

        parameters.insert(0, inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context))
        call.__name__, call.__doc__ = self.work.__name__, self.work.__doc__
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        return call


DECLARATIONS: dict[str, Declaration] = {}  # Commands by the name of their module


def command(
    options: str,
    own: str = "",
    *,
    settings: Callable[[SettingOption], bool] | None = None,
    settings_of: str = "",
    panel: str | None = None,
    without: Sequence[str] = (),
) -> Callable[[Callable[[Given], None]], Callable[[Given], None]]:
    """Declare that a function does the work of a command.

    `options` names its options, in the order of the help; quiet and debug, which all have, are left out. `own` is a
    table of those that are its own, see `read_options`. `settings` says which options of settings of metrics and
    matchers it takes, too. `settings_of` takes those of one declared class, by its place, such as
    `lattices.rules:NetworkRules`; `panel` is where the help has these, `without` which it does not take.
    """

    def of_settings(found: FindOptions) -> Options:
        if settings_of:
            return declared_options(find(settings_of), panel, without)
        return {} if settings is None else {name: each for name, each in found().items() if settings(each)}

    def declare(work: Callable[[Given], None]) -> Callable[[Given], None]:
        chosen = choose_options(f"{options} quiet debug", own)
        DECLARATIONS[work.__module__] = Declaration(work, chosen, of_settings, settings is not None)
        return work

    return declare


@dataclass(frozen=True)
class PlainValues:
    """Converter of the values of one option.

    Newer versions of typer have pydantic do this, whose import takes longer than scoring a small corpus. The options
    here are texts, numbers and flags only.
    """

    kind: Any

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert what the command line has, or one of several."""
        # Options that are repeated, and arguments of any number.
        if getattr(param, "multiple", False) or param.nargs == -1:
            return [self._convert(entry, param, ctx) for entry in value or ()]
        return None if value is None else self._convert(value, param, ctx)

    def _convert(self, value: Any, param: Any, ctx: Any) -> Any:
        try:
            return value if isinstance(value, self.kind) else self.kind(value)
        except ValueError:
            raise typer.BadParameter(f"{value!r} is not {_KINDS[self.kind]}", ctx=ctx, param=param) from None


def _convert_plainly(params: list[Any]) -> list[Any]:
    for each in params:
        kind = getattr(getattr(each, "type_descriptor", None), "annotation", None)
        kind = get_args(kind)[0] if get_origin(kind) is list else kind
        if kind in _KINDS:
            each.get_runtime_param = partial(PlainValues, kind)
    return params


class Group(TyperGroup):
    """Commands that stand together under one name."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Options, which convert their values themselves."""
        return _convert_plainly(super().get_params(ctx))


class Command(TyperCommand):
    """A command whose options may take several values: to the parser `-c A B C` is `-c A -c B -c C`."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, which convert their values themselves."""
        return _convert_plainly(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words behind the name of the command."""
        return super().parse_args(ctx, list(spread_values(self.params, args)))


def spread_values(params: Iterable[Any], words: Sequence[str]) -> Iterator[str]:
    """Repeat an option before each of its values, which go up to the next option, if it takes several.

    `--` ends it all. A number below 0 is a value, and so is `-`, standard input. A word behind no option, where a
    system or a reference may be meant, is an `InputError`.
    """
    flags = [each for each in params if hasattr(each, "is_flag")]
    options = {name: each for each in flags for name in (*each.opts, *each.secondary_opts)}
    behind, awaited = "", False
    for place, word in enumerate(words):
        if awaited:
            # The parser takes whatever stands there.
            awaited = False
            yield word
        elif _is_value(word):
            if not behind and "--candidate" in options:
                raise InputError(
                    f"{word!r} is behind no option: systems go behind -c and references behind -r, as in "
                    "-c SYSTEM1 SYSTEM2 -r REFERENCE"
                )
            yield from (behind, word) if behind else (word,)
        else:
            name, equals, value = word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])
            name = EARLIER.get(name, name) if EARLIER.get(name, name) in options else name
            option = options.get(name)
            if option is None:
                # The end, or the parser names it; what is behind it is not looked at.
                yield from words[place:]
                return
            behind = name if option.multiple else ""
            awaited = not option.is_flag and not equals
            yield f"{name}={value}" if equals and word.startswith("--") else name + value


def _is_value(word: str) -> bool:
    if not word.startswith("-") or word == "-":
        return True
    try:
        float(word)
    except ValueError:
        return False
    return True
