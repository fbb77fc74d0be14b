"""Options that are made of declarations: those of metrics, matchers, tokenizers and vectors, plug-ins among them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from softbleu.cli.options import MATCHING, METRIC, OptionLine, completion_of
from softbleu.errors import InputError

if TYPE_CHECKING:
    from softbleu.cli.words import CommandLine
    from softbleu.config.declare import Declared, Registry, Setting

_KINDS: Mapping[str, tuple[type, str | None]]
_KINDS = {"yes or no": (bool, None), "a whole number": (int, "N"), "a number": (float, "X")}
_HIDDEN = ("quantile", "metric", "table")
_COMPLETIONS: dict[str, Callable[[], list[str]]] = {
    "vectors": completion_of("embeddings:bundled_names"),
    "vectors_postprocess": lambda: ["none", "mean", "pc:2", "mean,pc:2"],
}
Options = dict[str, "SettingOption"]


@dataclass
class SettingOption:
    """The option of all settings of one name; those of a plug-in have one of their own."""

    setting: Setting  # The first of them
    panel: str | None  # Where the help has it
    plug_in: str = ""  # Name of the metric, matcher or tokenizer whose own it is; empty for all others
    owners: dict[str, Setting] = field(default_factory=dict)  # All of them, by the name of what has them
    kinds: set[str] = field(default_factory=set)  # What kinds of things have them: metrics, matchers, …

    @property
    def name(self) -> str:
        """Name of the option without dashes before it."""
        return f"{self.plug_in}-{self.setting.key}" if self.plug_in else self.setting.key

    @property
    def flags(self) -> list[str]:
        """Spellings of the option, as typer takes them."""
        first = f"--{self.name}/--no-{self.name}" if self.setting.kind == "yes or no" else f"--{self.name}"
        more = [] if self.plug_in else [flag for setting in self.owners.values() for flag in setting.flags]
        return [first, *dict.fromkeys(more)]

    @property
    def spellings(self) -> list[str]:
        """Each of them."""
        return [spelling for flag in self.flags for spelling in flag.split("/")]

    @property
    def line(self) -> OptionLine:
        """The option, as a table would declare it."""
        first, choices = self.setting, self._choices()
        kind, letter = _KINDS.get(first.kind, (str, "NAME" if choices else "TEXT"))
        complete = _COMPLETIONS.get(first.name) or (choices.copy if choices else None)
        metavar = first.metavar or letter
        return OptionLine(
            identifier(self.name), self.flags, metavar, self.help, self.panel, None, complete, kind=kind
        )

    @property
    def help(self) -> str:
        """Say what the setting does, and its defaults."""
        texts: dict[str, dict[str, str]] = {}
        for owner, setting in self.owners.items():
            texts.setdefault(self.setting.help if setting.part else setting.help, {})[owner] = _default(setting)
        parts = [_with_default(text, defaults) for text, defaults in texts.items()]
        if len(parts) > 1:
            named = map(", ".join, texts.values())
            parts = [f"{name}: {part[:1].lower()}{part[1:]}" for name, part in zip(named, parts, strict=True)]
        said = "; ".join(parts)
        choices = self._choices()
        if not all(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said) for name in choices):
            said += f"; one of {', '.join(choices)}"
        return f"{said}."

    def _choices(self) -> list[str]:
        return list(dict.fromkeys(name for setting in self.owners.values() for name in setting.names))

    def check(self, value: Any) -> None:
        """See that one of the settings can have the value, or say why the first cannot."""
        from softbleu.config.declare import check_given

        errors = []
        for setting in self.owners.values():
            try:
                check_given(setting, value)
                return
            except InputError as error:
                errors.append(error)
        raise errors[0]


def identifier(name: str) -> str:
    """Name of the parameter for an option."""
    return re.sub(r"\W", "_", name)


def _default(setting: Setting) -> str:
    from softbleu.config.signature import format_value

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
def setting_options(names: tuple[str, ...] | None = None, *, plug_ins: bool = True) -> Options:
    """Options of the settings that there are, by the name of the parameter; first what has to do with matching.

    With `names` those of BLEU and of our own metrics of these names: of other metrics nothing is loaded.
    """
    from softbleu.embeddings.choice import VectorChoice
    from softbleu.matching import MATCHERS
    from softbleu.metrics.base import METRICS
    from softbleu.text.tokenizers import TOKENIZERS

    made: Options = {}
    bleu: Any = METRICS.find("bleu")
    metrics: list[Any] = [*METRICS.built_in.values()] if names is None else [bleu, *map(METRICS.find, names)]
    for metric in metrics:
        _add(made, metric, MATCHING, parts=True)
    kinds: list[Any] = [*MATCHERS.built_in.values(), VectorChoice]
    for kind in kinds:
        _add(made, kind, MATCHING)
    _add(made, bleu, METRIC)
    for metric in metrics:
        _add_tokenizer(made, metric)
    for kind in TOKENIZERS.built_in.values():
        _add(made, kind, METRIC)
    for metric in metrics:
        _add(made, metric, metric().label)
    registries: tuple[Registry, ...] = (METRICS, MATCHERS, TOKENIZERS)
    for registry in registries if plug_ins and names is None else ():
        for kind in registry.classes():
            if kind.name not in registry.built_in:
                _add(made, kind, kind.name, plug_in=True)
    return made


def _add(
    made: Options, owner: type[Declared], panel: str | None, *, parts: bool = False, plug_in: bool = False
) -> None:
    from softbleu.config.declare import all_settings

    for setting in all_settings(owner):
        name = identifier(setting.name)
        if setting.name in _HIDDEN or (parts and setting.part is None):
            continue
        if plug_in and (name not in made or made[name].setting.kind != setting.kind):
            option = SettingOption(setting, panel, owner.name)
            name = identifier(option.name)
            made[name] = option
        shared = made.setdefault(name, SettingOption(setting, panel))
        shared.owners.setdefault(owner.name or owner.kind, setting)
        shared.kinds.add(owner.kind)


def _add_tokenizer(made: Options, metric: Any) -> None:
    """Add the settings of tokens, whose defaults are the metric's."""
    from softbleu.config.declare import own_settings

    (named,) = (setting for setting in own_settings(metric) if setting.name == "tokenize")
    for declared, default in ((named, named.default), *named.default.settings()):
        shared = made.setdefault(identifier(declared.name), SettingOption(declared, METRIC))
        shared.owners[metric.name] = replace(declared, default=default)
        shared.kinds.add(named.default.kind)


def options_of(words: CommandLine) -> Options:
    """Options of the metrics, matchers and tokenizers that are named; without a metric or matcher the common ones."""
    if not words.metrics and not words.matchers and not words.tokenizers:
        return {name: option for name, option in setting_options(()).items() if option.setting.common}
    from softbleu.matching import MATCHERS
    from softbleu.metrics.base import METRICS
    from softbleu.metrics.making import read_settings
    from softbleu.text.tokenizers import TOKENIZERS

    read = [read_settings(expression) for expression in words.metrics or ["bleu"]]
    kinds = {head: METRICS.find(head) for head, _ in read}
    metrics = [kind() for kind in kinds.values()]
    matchers = {*words.matchers, *(texts["matcher"] for _, texts in read if "matcher" in texts)}
    if not matchers and any(hasattr(metric, "matcher") for metric in metrics):
        matchers = {*MATCHERS.names()}
    tokenizers = {*words.tokenizers, *(texts["tokenize"] for _, texts in read if "tokenize" in texts)}
    kinds |= {kind.name: kind for kind in (*map(MATCHERS.find, matchers), *map(TOKENIZERS.find, tokenizers))}
    owners = {*kinds}
    if matchers or tokenizers or any(metric.requires.vectors for metric in metrics):
        owners.add("vectors")
    ours = all(kind.__module__.startswith("softbleu.") for kind in kinds.values())
    options = _options_with(head for head, _ in read) if ours else setting_options()
    taken = {
        name: replace(option, owners=owners_here)
        for name, option in options.items()
        if (owners_here := {owner: setting for owner, setting in option.owners.items() if owner in owners})
    }
    if "vectors" in taken:
        first = taken["vectors"]
        defaults = {metric.name: metric.vector_choice.vectors for metric in metrics}
        made = {name: replace(first.setting, default=default) for name, default in defaults.items()}
        taken["vectors"] = replace(first, owners=made)
    return taken


def options_named(words: CommandLine, known: Collection[str]) -> Options:
    """Options that the words name beside those that are known, of BLEU and the metrics named, or else of any metric.

    If one of them is there nowhere, all options that there are.
    """
    wanted = {*words.options} - {*known}
    if not wanted:
        return {}
    from softbleu.metrics.making import read_settings

    heads = [read_settings(expression)[0] for expression in words.metrics]
    for find in (partial(_options_with, heads), setting_options):
        options: Options = find()
        named = {name: option for name, option in options.items() if wanted & {*option.spellings}}
        if wanted <= {spelling for option in named.values() for spelling in option.spellings}:
            return named
    return options


def _options_with(names: Iterable[str]) -> Options:
    """Options of BLEU and of those metrics among these that are our own."""
    from softbleu.metrics.base import METRICS

    ours = sorted({name for name in names if METRICS.find(name).__module__.startswith("softbleu.")} - {"bleu"})
    return setting_options(tuple(ours))


def about_matches(option: SettingOption) -> bool:
    """Whether it says how n-grams are matched, or which, or what judges lines; not how a metric counts."""
    judges = ("language_model", "detector", "coefficients")
    return option.kinds != {"metric"} or option.setting.name in ("matcher", "order", *judges)


def declared_options(kind: type[Declared], panel: str | None, without: Sequence[str]) -> Options:
    """Options of one declared class, but for some."""
    made: Options = {}
    _add(made, kind, panel)
    return {name: option for name, option in made.items() if name not in without}
