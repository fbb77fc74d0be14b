"""Commands: a function whose options are a dataclass, and how typer makes a command of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache, partial
from typing import Annotated, Any, ClassVar, Generic, TypeVar, cast, dataclass_transform, get_type_hints

import typer
import typer.main
from typer.core import TyperCommand, TyperOption

from softbleu.cli.settings import SettingOption, flags_of
from softbleu.cli.words import OptionValues
from softbleu.config.declare import Declared, Setting, format_value, own_settings
from softbleu.config.declare import setting as setting  # Modules of commands take it from here
from softbleu.errors import InputError, Parameter, SoftbleuError
from softbleu.io.arguments import allow, read_number
from softbleu.io.progress import MANY, ProgressBar, note

_NUMBERS: dict[type, tuple[str, str]] = {int: ("a whole number", "N"), float: ("a number", "X")}
_SHORT = 12  # Characters of a default that short help shows
_Kind = TypeVar("_Kind", bound=Declared)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(setting, field))
@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Options(Declared):
    """Options of every command, and the base of the others, each of which is a dataclass.

    A field is an option: its type, default and spellings are declared by `setting`, its help stands in the docstring
    of the class (with `{names}` for the names that complete it), and `panel` is where the help has it.

    Attributes
    ----------
    quiet
        No notes and no progress (on standard error)
    debug
        Show where an error came from
    limits
        Allow inputs N times as large where the cost grows faster than the input
    """

    panel: ClassVar[str] = "Output"  # Stands last
    more: ClassVar[Sequence[SettingOption]] = ()  # Options of the settings of what the command makes

    quiet: bool = setting(False, flags=("-q",), common=True)
    debug: bool = setting(False)
    limits: str | None = setting(None, metavar="N", unset="1", hidden=True)
    # Settings of metrics and their parts, with the values given
    chosen: tuple[tuple[SettingOption, object], ...] = field(default=(), repr=False)
    resources: ExitStack = field(default_factory=ExitStack, repr=False)  # Closed when the command ends

    def __init_subclass__(cls, panel: str = "Output") -> None:
        """Make a dataclass of each group of options."""
        cls.panel = panel
        dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)(cls)

    def __init__(self, **values: Any) -> None:
        # One for all, as dataclasses would compile one for each of many groups.
        for each in fields(self):
            default = each.default if each.default_factory is MISSING else each.default_factory()
            object.__setattr__(self, each.name, values.get(each.name, default))
        self.__post_init__()

    @classmethod
    def setting_options(cls, values: OptionValues, wanted: Collection[str]) -> list[SettingOption]:
        """Find options of settings with these spellings; `values` are all that the command line names."""
        return [*cls.more]

    @classmethod
    def help_options(cls, values: OptionValues | None, *, plug_ins: bool = True) -> list[SettingOption]:
        """Find options of settings that help shows for a command line; without its values, all."""
        return [*cls.more]

    def check(self) -> None:
        """Check that no name of a file is empty, which would stand for this folder, or for no option at all."""
        for option in own_settings(type(self)):
            value = getattr(self, option.field) if option.file else None
            if value == "" or (option.several and value and "" in value):
                spelt = option.name if option.argument else f"--{option.key}"
                raise InputError(f"{spelt}: the name of a file or folder is empty")

    def begin(self) -> None:
        """Apply options that count before any work."""
        if self.limits is not None:
            allow(self.limits)

    def input_files(self) -> list[str]:
        """Return the files that options name as input."""
        found: list[str] = []
        for option in own_settings(type(self)):
            value = getattr(self, option.field) if option.file in ("read", "named") else None
            names = value if option.several and value else [value] if value else []
            if option.file == "named" and names:
                from softbleu.corpora import split_file

                names = [split_file(name)[1] for name in names]
            found += names
        return found

    def declared(self, kind: type[_Kind]) -> _Kind:
        """Make a declared value with the settings that are given."""
        return kind().revised({option.setting.name: value for option, value in self.chosen})

    def progress(self, what: str = "scoring", many: int = MANY) -> ProgressBar:
        """Make a progress bar; while it is open, notes are shown, unless quiet is asked for."""
        return ProgressBar(quiet=self.quiet, what=what, many=many, spell=self._spell_known)

    def _spell_known(self, parameter: Parameter) -> str:
        """Spell a parameter as an option; as Python does if the command lacks it."""
        known = {name for option in declared_options(type(self)) for name in (option.field, option.name)}
        known |= {option.setting.name for option, _ in self.chosen}
        return self.spell(parameter) if known & {parameter.name, "preset"} else str(parameter)

    @classmethod
    def spell(cls, parameter: Parameter, plug_ins: Mapping[str, str] | None = None) -> str:
        """Spell a parameter of a Python function as an option of the command.

        >>> [*map(Options.spell, (Parameter("max_depth", 200), Parameter("normalize", False)))]
        ['--max-depth 200', '--no-normalize']
        """
        names = {option.field: option.name for option in declared_options(cls)} | dict(plug_ins or {})
        name = names.get(parameter.name, parameter.name).replace("_", "-")
        if parameter.value is None or isinstance(parameter.value, bool):
            return f"--{'no-' * (parameter.value is False)}{name}"
        return f"--{name} {parameter.value}"


@cache
def _groups(kind: type) -> tuple[type, ...]:
    """Return a class and its bases, bases first, in the order in which they are named."""
    return tuple(dict.fromkeys([each for base in kind.__bases__ for each in _groups(base)] + [kind]))


@cache
def declared_options(kind: type[Options]) -> tuple[Setting, ...]:
    """Return the options of a class in the order of the help, options of every command last."""
    declared = {option.field: option for option in own_settings(kind)}
    ordered: dict[str, Setting] = {}
    for base in _groups(kind):
        texts = _texts_of(base)
        for name in filter(declared.__contains__, vars(base).get("__annotations__", ())):
            ordered.pop(name, None)
            panel = declared[name].panel or vars(base)["panel"]
            ordered[name] = replace(declared[name], panel=panel, help=texts.get(name, ""))
    common = [ordered.pop(name) for name in ("quiet", "debug", "limits")]
    panels = [*dict.fromkeys(option.panel for option in ordered.values() if option.panel != Options.panel)]
    return (*sorted(ordered.values(), key=lambda option: [*panels, Options.panel].index(option.panel)), *common)


def _texts_of(group: type) -> dict[str, str]:
    """Read the texts of options in the docstring of their class."""
    _, _, listed = inspect.cleandoc(group.__doc__ or "").partition("Attributes\n----------\n")
    texts: dict[str, list[str]] = {}
    name = ""
    for line in listed.splitlines():
        if line.startswith(" "):
            texts[name].append(line.strip())
        else:
            name, texts[line] = line, []
    return {name: " ".join(lines) for name, lines in texts.items()}


def _describe(option: Setting) -> str:
    """Write the help of an option, with its default."""
    default = option.unset
    if not default and not isinstance(option.default, bool) and option.default not in (None, (), MISSING):
        default = format_value(option.default)
    # Plain text: markup would take `softbleu[plots]` for a style.
    text = option.help
    if option.complete is not None and "{names}" in text:
        text = text.replace("{names}", ", ".join(option.complete()))
    return f"{text}{f' (default: {default})' if default else ''}.".replace("[", "\\[")


def _number(kind: type, value: str) -> object:
    try:
        return read_number(kind, value)
    except ValueError:
        raise InputError(f"{value!r} is not {_NUMBERS[kind][0]}") from None


def brief(option: Setting) -> Setting:
    """Return an option as short help shows it: the first clause of its text, and a short default.

    >>> brief(Setting("x", None, help="Text to score, a line each; - is standard input", unset="none")).help
    'Text to score, a line each'
    """
    text = re.split(r"[;:.] | \(", option.help, maxsplit=1)[0]
    return replace(option, help=text, panel="", unset=option.unset if len(option.unset) <= _SHORT else "")


def in_order(options: Iterable[Setting]) -> list[Setting]:
    """Sort options for help: options of the output come last."""
    return sorted(options, key=lambda option: option.panel == Options.panel)


def _parameter(option: Setting) -> inspect.Parameter:
    """Declare an option by typer's means; an option that is not given is None."""
    required = option.default is MISSING
    single = option.types[0] if len(option.types) == 1 and not option.choices else str
    kind: Any = single if single is bool or single in _NUMBERS else str
    metavar = "NAME" if option.choices or option.complete else "TEXT"
    if kind in _NUMBERS:
        metavar = _NUMBERS[kind][1]
    metavar = option.metavar or ("FILE" if option.file else metavar)
    metavar = "" if kind is bool else metavar + "…" * option.several
    made: Any = typer.Argument(metavar=metavar, help=_describe(option))
    if not option.argument:
        complete = option.complete
        made = typer.Option(
            *flags_of(option),
            metavar=metavar,
            help=_describe(option),
            rich_help_panel=option.panel or None,
            show_default=False,
            autocompletion=(lambda: [*complete()]) if complete else (lambda: [*option.choices]),
            parser=partial(_number, kind) if kind in _NUMBERS else None,
        )
    kind = list[kind] if option.several else kind
    return inspect.Parameter(
        option.field,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else None,
        annotation=Annotated[kind if required else kind | None, made],
    )


@contextmanager
def spelt_for(options: type[Options], chosen: Iterable[tuple[SettingOption, object]] = ()) -> Iterator[None]:
    """Spell parameters in errors as options of a command."""
    try:
        yield
    except SoftbleuError as error:
        plug_ins = {option.setting.name: option.name for option, _ in chosen if option.plug_in}
        error.args = (error.spelt(partial(options.spell, plug_ins=plug_ins)),)
        raise


def without_type(flag: TyperOption | None) -> TyperOption | None:
    """Let help show no type for a flag, which takes no value."""
    if flag is not None:
        flag.metavar = ""
    return flag


def named_help(flag: TyperOption | None) -> TyperOption | None:
    """Let the option for help say that there is more of it."""
    if flag is not None:
        flag.opts.sort(key=len)  # Typer keeps them in a set
        flag.help = "Show common options, or all."
    return without_type(flag)


class PlainCommand(TyperCommand):
    """A command whose flag for help has no type."""

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        """Make the option `--help`."""
        return named_help(super().get_help_option(ctx))


_Given = TypeVar("_Given", bound=Options)


@dataclass(frozen=True)
class Command(Generic[_Given]):
    """A function that does the work of a command, and the class of its options."""

    work: Callable[[_Given], None]
    options: type[_Given]

    def __call__(self, options: _Given) -> None:
        """Do the work."""
        self.work(options)

    def typer_command(
        self,
        name: str,
        options: Iterable[Setting],
        settings: Iterable[SettingOption] = (),
        *,
        about: str = "",
        epilog: str | None = None,
        notes: Sequence[str] = (),
    ) -> PlainCommand:
        """Make a command with these options, and options of settings, by typer's public interface.

        `notes` are shown at its end. With `about`, help has this behind the first sentences of the docstring.
        """
        own = {option.name for option in declared_options(self.options)}
        dynamic = {option.shown.field: option for option in settings if option.name not in own}
        listed = in_order((*options, *(option.shown for option in dynamic.values())))

        def call(**values: Any) -> None:
            given: dict[str, Any] = {
                key: tuple(v) if isinstance(v, list) else v for key, v in values.items() if v not in (None, [])
            }
            chosen = tuple((option, given.pop(key)) for key, option in dynamic.items() if key in given)
            with spelt_for(self.options, chosen), ExitStack() as resources:
                options = self.options(**given, chosen=chosen, resources=resources)
                with options.progress():
                    options.begin()
                    self.work(options)
                    for text in notes:
                        note(text)

        # Typer reads the parameters of a function: these are the options.
        parameters = [_parameter(option) for option in listed]
        text = inspect.cleandoc(self.work.__doc__ or "")
        call.__name__ = self.work.__name__
        call.__doc__ = "\n\n".join((text.partition("\n\n")[0], about)) if about else text
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        app = typer.Typer(rich_markup_mode="rich", add_completion=False)
        app.command(name, epilog=epilog, cls=PlainCommand)(call)
        return cast("PlainCommand", typer.main.get_command(app))


def command(work: Callable[[_Given], None]) -> Command[_Given]:
    """Declare that a function does the work of a command; its `options` are annotated with their class."""
    return Command(work, get_type_hints(work)["options"])
