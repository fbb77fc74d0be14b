"""Commands: a function whose options are a dataclass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, partial
from typing import ClassVar, Generic, TypeVar, dataclass_transform, get_type_hints

from softbleu.cli.settings import SettingOption
from softbleu.cli.words import OptionValues
from softbleu.config.declare import Declared, Setting, own_settings
from softbleu.config.declare import setting as setting  # Modules of commands take it from here
from softbleu.config.languages import find_language
from softbleu.errors import Parameter, SoftbleuError
from softbleu.io.arguments import allow
from softbleu.io.progress import MANY, ProgressBar, note

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
    language
        Language of the text (any usual code, such as cs, zho_Hans or en-zh, the target): chooses tokenizer,
        similarity of words and other defaults, and refuses data of other languages (see `softbleu metrics --language
        CODE`)
    """

    panel: ClassVar[str] = "Output"  # Stands last
    more: ClassVar[Sequence[SettingOption]] = ()  # Options of the settings of what the command makes
    like: ClassVar[str] = ""  # Command with options that messages name and this one lacks
    offered: ClassVar[tuple[str, ...]] = ("quiet", "debug", "limits")  # Fields that are options of the command

    quiet: bool = setting(False, flags=("-q",), common=True)
    debug: bool = setting(False)
    limits: str | None = setting(None, metavar="N", unset="1", hidden=True)
    language: str | None = setting(None, metavar="CODE", panel="Score", common=True)
    # Settings of metrics and their parts, with the values given
    chosen: tuple[tuple[SettingOption, object], ...] = field(default=(), repr=False)
    resources: ExitStack = field(default_factory=ExitStack, repr=False)  # Closed when the command ends

    def __init_subclass__(cls, panel: str = "Output", shared: str | None = "") -> None:
        """Make a dataclass of options: its own, and those that it takes of a base that has them to share (None)."""
        cls.panel = panel
        if shared is not None:
            own = [name for name in vars(cls).get("__annotations__", ()) if name in vars(cls)]
            cls.offered = tuple(dict.fromkeys([*shared.split(), *cls.offered, *own]))
        dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)(cls)

    def __init__(self, **values: object) -> None:
        # One for all, as dataclasses would compile one for each class.
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

    def begin(self) -> None:
        """Apply limits, and check the language, even where no metric asks for it."""
        if self.limits is not None:
            allow(self.limits)
        # A command with a language of its own looks for it itself.
        if self.language is not None and "language" not in vars(type(self)):
            find_language(self.language)

    def input_files(self) -> list[str]:
        """Return the files that options name as input."""
        found: list[str] = []
        for option in offered_options(type(self)).values():
            value = getattr(self, option.field) if option.file in ("read", "named") else None
            names = value if option.several and value else [value] if value else []
            if option.file == "named" and names:
                from softbleu.corpora import split_file

                names = [split_file(name)[1] for name in names]
            found += names
        return found

    def declared(self, kind: type[_Kind]) -> _Kind:
        """Make a declared value with the settings that are given."""
        return kind().replaced(**{option.setting.name: value for option, value in self.chosen})

    def progress(self, what: str = "scoring", many: int = MANY) -> ProgressBar:
        """Make a progress bar; while it is open, notes are shown, unless quiet is asked for."""
        return ProgressBar(quiet=self.quiet, what=what, many=many, spell=self._spell_known)

    def _spell_known(self, parameter: Parameter) -> str:
        """Spell a parameter as an option; if the command lacks it, of a metric, a command like it, or in Python."""
        known = {name for option in offered_options(type(self)).values() for name in (option.field, option.name)}
        known |= {option.setting.name for option, _ in self.chosen}
        if known & {parameter.name, "preset"}:
            return self.spell(parameter)
        metric = next((text.partition("(")[0] for text in getattr(self, "metrics", ())), None)
        value = "…" if parameter.value is None else parameter.value
        if metric is None:
            return f"{self.like} {self.spell(parameter)}" if self.like else str(parameter)
        return f"-m '{metric}({parameter.name}={value})'"

    @classmethod
    def spell(cls, parameter: Parameter, plug_ins: Mapping[str, str] | None = None) -> str:
        """Spell a parameter of a Python function as an option of the command.

        >>> [*map(Options.spell, (Parameter("max_depth", 200), Parameter("normalize", False)))]
        ['--max-depth 200', '--no-normalize']
        """
        names = {option.field: option.name for option in offered_options(cls).values()} | dict(plug_ins or {})
        name = names.get(parameter.name, parameter.name).replace("_", "-")
        if parameter.value is None or isinstance(parameter.value, bool):
            return f"--{'no-' * (parameter.value is False)}{name}"
        return f"--{name} {parameter.value}"


@cache
def offered_options(kind: type[Options]) -> dict[str, Setting]:
    """Return the options of a command by field: those that it shares with others, then its own; made once."""
    made = {option.field: option for option in own_settings(kind)}
    return {name: made[name] for name in kind.offered}


@contextmanager
def spelt_for(options: type[Options], chosen: Iterable[tuple[SettingOption, object]] = ()) -> Iterator[None]:
    """Spell parameters in errors as options of a command."""
    try:
        yield
    except SoftbleuError as error:
        plug_ins = {option.setting.name: option.name for option, _ in chosen if option.plug_in}
        error.args = (error.spelt(partial(options.spell, plug_ins=plug_ins)),)
        raise


_Given = TypeVar("_Given", bound=Options)


@dataclass(frozen=True)
class Command(Generic[_Given]):
    """A function that does the work of a command, and the class of its options."""

    work: Callable[[_Given], None]
    options: type[_Given]

    def run(
        self, given: Mapping[str, object], chosen: Sequence[tuple[SettingOption, object]], notes: Iterable[str]
    ) -> None:
        """Do the work with the options that are given and the settings that are chosen; show notes at its end."""
        with spelt_for(self.options, chosen), ExitStack() as resources:
            options = self.options(**given, chosen=tuple(chosen), resources=resources)
            with options.progress():
                options.begin()
                self.work(options)
                for text in notes:
                    note(text)


def command(work: Callable[[_Given], None]) -> Command[_Given]:
    """Declare that a function does the work of a command; its `options` are annotated with their class."""
    return Command(work, get_type_hints(work)["options"])
