"""Options that are made of declarations: those of metrics, matchers, tokenizers and vectors, plug-ins among them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from softbleu.cli.completion import vectors
from softbleu.cli.options import MATCHING, METRIC, Limits, option
from softbleu.errors import InputError
from softbleu.limits import allow

if TYPE_CHECKING:
    import typer

    from softbleu.declare import Declared, Setting

Command = Callable[..., Any]
_TYPES = {"yes or no": bool, "a whole number": int, "a number": float}
_LETTERS = {"yes or no": None, "a whole number": "N", "a number": "X"}
_HIDDEN = ("quantile", "metric")
_COMPLETIONS: dict[str, Any] = {"vectors": vectors, "vectors_postprocess": ("none", "mean", "pc:2", "mean,pc:2")}
_MARK = "settings_option"
FindOptions = Callable[[], "dict[str, SettingOption]"]


@dataclass
class SettingOption:
    """The option of all settings of one name; those of a plug-in have one of their own.

    Attributes
    ----------
    setting
        The first of them.
    panel
        Where the help has it.
    plug_in
        Name of the metric or matcher whose own it is; empty for all others.
    owners
        All of them, by the name of what has them.
    kinds
        What kinds of things have them: metrics, matchers, …
    """

    setting: Setting
    panel: str | None
    plug_in: str = ""
    owners: dict[str, Setting] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """Name of the option without dashes before it."""
        return f"{self.plug_in}-{self.setting.key}" if self.plug_in else self.setting.key

    @property
    def parameter(self) -> inspect.Parameter:
        """The parameter of a command."""
        first = self.setting
        names = [f"--{self.name}/--no-{self.name}" if first.kind == "yes or no" else f"--{self.name}"]
        if not self.plug_in:
            names += dict.fromkeys(flag for each in self.owners.values() for flag in each.flags)
        choices = self._choices()
        letter = _LETTERS.get(first.kind, "NAME" if choices else "TEXT")
        complete = _COMPLETIONS.get(first.name) or choices or None
        made = option(self.help, *names, panel=self.panel, metavar=first.metavar or letter, complete=complete)
        kind = _TYPES.get(first.kind, str)
        return inspect.Parameter(
            identifier(self.name),
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[kind | None, made],
        )

    @property
    def help(self) -> str:
        """What it does, and its defaults."""
        texts: dict[str, dict[str, str]] = {}
        for owner, each in self.owners.items():
            texts.setdefault(self.setting.help if each.part else each.help, {})[owner] = _default(each)
        parts = [_with_default(text, defaults) for text, defaults in texts.items()]
        if len(parts) > 1:
            parts = [
                f"{', '.join(defaults)}: {part[:1].lower()}{part[1:]}"
                for part, defaults in zip(parts, texts.values(), strict=True)
            ]
        said = "; ".join(parts)
        choices = self._choices()
        if not all(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said) for name in choices):
            said += f"; one of {', '.join(choices)}"
        return f"{said}."

    def _choices(self) -> list[str]:
        return list(dict.fromkeys(name for each in self.owners.values() for name in each.names))

    def check(self, value: Any) -> None:
        """See that one of the settings can have the value, or say why the first cannot."""
        from softbleu.declare import check_given

        errors = []
        for each in self.owners.values():
            try:
                check_given(each, value)
                return
            except InputError as error:
                errors.append(error)
        raise errors[0]


def identifier(name: str) -> str:
    """Name of the parameter for an option."""
    return re.sub(r"\W", "_", name)


def _default(setting: Setting) -> str:
    from softbleu.signature import format_value

    value = setting.default
    if setting.unset or value is None or value is False:
        return setting.unset
    return value.name if setting.part else f"{value:g}" if isinstance(value, float) else format_value(value)


def _with_default(text: str, defaults: Mapping[str, str]) -> str:
    """Put the defaults after a text, the most common one first."""
    values = [value for value in defaults.values() if value]
    if not values:
        return text
    common = max(values, key=values.count)
    said = [f"{owner} {value}" for owner, value in defaults.items() if value and value != common]
    named = values.count(common) == 1 < len(defaults)
    first = next(owner for owner, value in defaults.items() if value == common)
    return f"{text} (default: {'; '.join([f'{first} {common}' if named else common, *said])})"


@cache
def setting_options(*, plug_ins: bool = True, bleu_only: bool = False) -> dict[str, SettingOption]:
    """Options of all settings that there are, by the name of the parameter; first what has to do with matching.

    Those of BLEU and its matchers alone take a fraction of the time: nothing of other metrics is loaded.
    """
    from softbleu.embeddings.choice import VectorChoice
    from softbleu.matchers import MATCHERS
    from softbleu.metrics.base import METRICS

    made: dict[str, SettingOption] = {}
    metrics: list[Any] = [METRICS.find("bleu")] if bleu_only else list(METRICS.built_in.values())
    for each in metrics:
        _add(made, each, MATCHING, parts=True)
    matchers: list[Any] = list(MATCHERS.built_in.values())
    for kind in (*matchers, VectorChoice):
        _add(made, kind, MATCHING)
    _add(made, METRICS.find("bleu"), METRIC)
    for each in metrics:
        _add_tokenizer(made, each)
    for each in metrics:
        _add(made, each, each().label)
    if plug_ins and not bleu_only:
        for registry in (METRICS, MATCHERS):
            plugged: list[type[Declared]] = [
                each for each in registry.classes() if each.name not in registry.built_in
            ]
            for each in plugged:
                _add(made, each, each.name, plug_in=True)
    return made


def _add(
    made: dict[str, SettingOption],
    owner: type[Declared],
    panel: str | None,
    *,
    parts: bool = False,
    plug_in: bool = False,
) -> None:
    from softbleu.declare import all_settings

    for each in all_settings(owner):
        name = identifier(each.name)
        if each.name in _HIDDEN or (parts and each.part is None):
            continue
        if plug_in and (name not in made or made[name].setting.kind != each.kind):
            own = SettingOption(each, panel, owner.name)
            name = identifier(own.name)
            made[name] = own
        shared = made.setdefault(name, SettingOption(each, panel))
        shared.owners.setdefault(owner.name or owner.kind, each)
        shared.kinds.add(owner.kind)


def _add_tokenizer(made: dict[str, SettingOption], metric: Any) -> None:
    """Add the settings of tokens, whose defaults are the metric's."""
    tokenizer = metric.default_tokenizer
    for each, default in tokenizer.settings():
        shared = made.setdefault(identifier(each.name), SettingOption(each, METRIC))
        shared.owners[metric.name] = replace(each, default=default)
        shared.kinds.add(tokenizer.kind)


def options_of(named: Sequence[str], matchers: Sequence[str]) -> dict[str, SettingOption]:
    """Options of what metrics and matchers of these names have; of none the common ones.

    Raises
    ------
    InputError, UnknownNameError
        An expression that cannot be read, or a name that nothing has.
    """
    if not named and not matchers:
        return {name: each for name, each in setting_options(bleu_only=True).items() if each.setting.common}
    from softbleu.matchers import MATCHERS
    from softbleu.metrics.base import METRICS
    from softbleu.metrics.making import read_settings

    read = [read_settings(each) for each in named or ["bleu"]]
    owners = {head for head, _ in read}
    chosen = [*matchers, *(own["matcher"] for _, own in read if "matcher" in own)]
    metrics = [METRICS.find(head)() for head in owners]
    owners |= {MATCHERS.find(name).name for name in chosen}
    if not chosen and any(hasattr(metric, "matcher") for metric in metrics):
        owners |= set(MATCHERS.names())
    if len(owners) > len(metrics) or any(metric.requires.vectors for metric in metrics):
        owners.add("vectors")
    return {
        name: replace(each, owners=own)
        for name, each in setting_options().items()
        if (own := {owner: setting for owner, setting in each.owners.items() if owner in owners})
    }


_found: FindOptions = setting_options
"""Settings of which the commands that are run have options."""


def given_settings(
    options: Mapping[str, Any],
    names: Iterable[str | None],
    wanted: Callable[[SettingOption], bool] = lambda each: True,
) -> dict[str, Any]:
    """Settings that options give to what has one of these names; what a plug-in has of its own is for it alone.

    A command that has other options by the name of a setting says which settings are `wanted`.
    """
    given: dict[str, Any] = {}
    for each, value in chosen_options(options):
        if wanted(each) and each.plug_in in ("", *names):
            # What a plug-in has of its own comes last.
            given[each.setting.name] = value
    if options.get("preset") is not None:
        given["preset"] = options["preset"]
    return given


def chosen_options(options: Mapping[str, Any]) -> Iterator[tuple[SettingOption, Any]]:
    """Those that are given, and their values."""
    return ((each, options[name]) for name, each in _found().items() if options.get(name) is not None)


def takes_settings(wanted: Callable[[SettingOption], bool] = lambda each: True) -> Callable[[Command], Command]:
    """Mark a command that takes the options of all settings, or of those that it wants.

    It finds them in the parameters of its context. They are made when the command is run, not before.
    """
    return _marked(lambda found: {name: each for name, each in found().items() if wanted(each)}, of_metrics=True)


def about_matches(option: SettingOption) -> bool:
    """Whether it says how n-grams are matched, or which, or what judges lines; not how a metric counts."""
    judges = ("language_model", "detector", "coefficients")
    return option.kinds != {"metric"} or option.setting.name in ("matcher", "order", *judges)


def takes_settings_of(
    find: Callable[[], type[Declared]], panel: str | None = None, *, without: Sequence[str] = ()
) -> Callable[[Command], Command]:
    """Mark a command that takes the options of one declared class, which is found when the command is run."""

    def options(found: FindOptions) -> dict[str, SettingOption]:
        made: dict[str, SettingOption] = {}
        _add(made, find(), panel)
        return {name: each for name, each in made.items() if name not in without}

    return _marked(options)


def _marked(
    options: Callable[[FindOptions], dict[str, SettingOption]], *, of_metrics: bool = False
) -> Callable[[Command], Command]:
    def mark(command: Command) -> Command:
        setattr(command, _MARK, (options, of_metrics))
        return command

    return mark


def _no_options(found: FindOptions) -> dict[str, SettingOption]:
    return {}


def has_settings(command: Command | None) -> bool:
    """Whether it takes settings of metrics and matchers, of which help shows a part."""
    return bool(getattr(command, _MARK, (None, False))[1])


def with_settings(command: Command, found: FindOptions = setting_options) -> Command:
    """Give a command the option that all have, and one that is so marked its own, behind that for the preset.

    Where settings of metrics are wanted, they are those that are `found`.
    """
    # One that has its options already is given others.
    command = getattr(command, "plain", command)
    options, of_metrics = getattr(command, _MARK, (_no_options, False))
    own = inspect.signature(command, eval_str=True)
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own.parameters.values()]
    place = next((n for n, each in enumerate(parameters, start=1) if each.name == "preset"), len(parameters))
    parameters[place:place] = [each.parameter for name, each in options(found).items() if name not in own.parameters]
    parameters.append(inspect.Parameter("limits", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Limits))

    def call(**values: Any) -> Any:
        if values["limits"] is not None:
            allow(values["limits"])
        return command(**{name: values[name] for name in own.parameters})

    call.__name__, call.__doc__ = command.__name__, command.__doc__
    setattr(call, _MARK, (options, of_metrics))
    call.plain = command  # type: ignore[attr-defined]
    call.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return call


def spread_settings(app: typer.Typer, wanted: Callable[[str], bool], found: FindOptions = setting_options) -> None:
    """Give those commands of an application that are wanted the options of settings that are found."""
    global _found
    _found = found
    for info in app.registered_commands:
        if info.callback is not None and wanted(info.name or info.callback.__name__):
            info.callback = with_settings(info.callback, found)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            spread_settings(group.typer_instance, wanted, found)
