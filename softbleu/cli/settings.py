"""Options that are made of declarations: those of metrics, matchers, tokenizers and vectors, plug-ins among them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from softbleu.cli.options import MATCHING, METRIC, OptionLine, completion_of
from softbleu.errors import InputError

if TYPE_CHECKING:
    from softbleu.config.declare import Declared, Setting

_KINDS: Mapping[str, tuple[type, str | None]]
_KINDS = {"yes or no": (bool, None), "a whole number": (int, "N"), "a number": (float, "X")}
_HIDDEN = ("quantile", "metric", "table")
_COMPLETIONS: dict[str, Callable[[], list[str]]] = {
    "vectors": completion_of("embeddings:bundled_names"),
    "vectors_postprocess": lambda: ["none", "mean", "pc:2", "mean,pc:2"],
}
Options = dict[str, "SettingOption"]
FindOptions = Callable[[], Options]


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
    def line(self) -> OptionLine:
        """The option, as a table would declare it."""
        first, choices = self.setting, self._choices()
        flags = [f"--{self.name}/--no-{self.name}" if first.kind == "yes or no" else f"--{self.name}"]
        if not self.plug_in:
            flags += dict.fromkeys(flag for each in self.owners.values() for flag in each.flags)
        kind, letter = _KINDS.get(first.kind, (str, "NAME" if choices else "TEXT"))
        complete = _COMPLETIONS.get(first.name) or (choices.copy if choices else None)
        metavar = first.metavar or letter
        return OptionLine(identifier(self.name), flags, metavar, self.help, self.panel, None, complete, kind=kind)

    @property
    def help(self) -> str:
        """Say what the setting does, and its defaults."""
        texts: dict[str, dict[str, str]] = {}
        for owner, each in self.owners.items():
            texts.setdefault(self.setting.help if each.part else each.help, {})[owner] = _default(each)
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
        return list(dict.fromkeys(name for each in self.owners.values() for name in each.names))

    def check(self, value: Any) -> None:
        """See that one of the settings can have the value, or say why the first cannot."""
        from softbleu.config.declare import check_given

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
def setting_options(*, plug_ins: bool = True, bleu_only: bool = False) -> Options:
    """Options of all settings that there are, by the name of the parameter; first what has to do with matching.

    Those of BLEU and its matchers alone take a fraction of the time: nothing of other metrics is loaded.
    """
    from softbleu.embeddings.choice import VectorChoice
    from softbleu.matching import MATCHERS
    from softbleu.metrics.base import METRICS
    from softbleu.text.tokenizers import TOKENIZERS

    made: Options = {}
    metrics: list[Any] = [METRICS.find("bleu")] if bleu_only else list(METRICS.built_in.values())
    for each in metrics:
        _add(made, each, MATCHING, parts=True)
    matchers: list[Any] = list(MATCHERS.built_in.values())
    for kind in (*matchers, VectorChoice):
        _add(made, kind, MATCHING)
    _add(made, METRICS.find("bleu"), METRIC)
    for each in metrics:
        _add_tokenizer(made, each)
    for kind in () if bleu_only else TOKENIZERS.built_in.values():
        _add(made, kind, METRIC)
    for each in metrics:
        _add(made, each, each().label)
    if plug_ins and not bleu_only:
        for registry in (METRICS, MATCHERS, TOKENIZERS):
            for each in registry.classes():
                if each.name not in registry.built_in:
                    _add(made, each, each.name, plug_in=True)
    return made


def _add(
    made: Options, owner: type[Declared], panel: str | None, *, parts: bool = False, plug_in: bool = False
) -> None:
    from softbleu.config.declare import all_settings

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


def _add_tokenizer(made: Options, metric: Any) -> None:
    """Add the settings of tokens, whose defaults are the metric's."""
    from softbleu.config.declare import own_settings

    (named,) = (each for each in own_settings(metric) if each.name == "tokenize")
    for each, default in ((named, named.default), *named.default.settings()):
        shared = made.setdefault(identifier(each.name), SettingOption(each, METRIC))
        shared.owners[metric.name] = replace(each, default=default)
        shared.kinds.add(named.default.kind)


def options_of(named: Sequence[str], matchers: Sequence[str], tokenizers: Sequence[str]) -> Options:
    """Options of metrics, matchers and tokenizers of these names; without a metric or matcher the common ones."""
    if not named and not matchers and not tokenizers:
        return {name: each for name, each in setting_options(bleu_only=True).items() if each.setting.common}
    from softbleu.matching import MATCHERS
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
    owners |= {*tokenizers, *(own["tokenize"] for _, own in read if "tokenize" in own)}
    found = {
        name: replace(each, owners=own)
        for name, each in setting_options().items()
        if (own := {owner: setting for owner, setting in each.owners.items() if owner in owners})
    }
    if "vectors" in found:
        first = found["vectors"]
        own = {each.name: replace(first.setting, default=each.vector_choice.vectors) for each in metrics}
        found["vectors"] = replace(first, owners=own)
    return found


def about_matches(option: SettingOption) -> bool:
    """Whether it says how n-grams are matched, or which, or what judges lines; not how a metric counts."""
    judges = ("language_model", "detector", "coefficients")
    return option.kinds != {"metric"} or option.setting.name in ("matcher", "order", *judges)


def declared_options(kind: type[Declared], panel: str | None, without: Sequence[str]) -> Options:
    """Options of one declared class, but for some."""
    made: Options = {}
    _add(made, kind, panel)
    return {name: each for name, each in made.items() if name not in without}
