"""Options of the settings of metrics, matchers, tokenizers and vectors, also of plug-ins."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from softbleu.cli.settings import SettingOption, identifier
from softbleu.cli.words import OptionValues
from softbleu.config.declare import Declared, Registry, all_settings, own_settings
from softbleu.embeddings import bundled_names
from softbleu.embeddings.choice import VectorChoice
from softbleu.embeddings.installed import installed_names
from softbleu.encoders import encoder_names
from softbleu.encoders.packaged import PACKAGED
from softbleu.matching import MATCHERS
from softbleu.metrics.base import METRICS, Metric
from softbleu.metrics.reading import read_settings
from softbleu.text.tokens import TOKENIZERS

MATCHING, METRIC = "Matching", "Score"  # Panels of the help
SettingOptions = dict[str, "SettingOption"]
_HIDDEN = ("quantile", "metric", "table")
_COMPLETIONS = {
    "vectors": lambda: [*bundled_names(), *encoder_names(), *PACKAGED, *installed_names()],
    "vectors_postprocess": lambda: ["none", "mean", "pc:2", "mean,pc:2"],
}


@cache
def setting_options(names: tuple[str, ...] | None = None, *, plug_ins: bool = True) -> SettingOptions:
    """Make the options of all settings by the name of the parameter, first about matching.

    With `names`, only of BLEU and of our own metrics of these names: no other metric is loaded.
    """
    made: SettingOptions = {}
    bleu: type[Metric] = METRICS.find("bleu")
    metrics: list[type[Any]] = [*METRICS.built_in.values()] if names is None else [bleu, *map(METRICS.find, names)]
    for metric in metrics:
        _add(made, metric, MATCHING, parts=True)
    kinds: list[type[Declared]] = [*MATCHERS.built_in.values(), VectorChoice]
    for kind in kinds:
        _add(made, kind, MATCHING)
    _add(made, bleu, METRIC)
    for metric in metrics:
        _add_tokenizer(made, metric)
    for kind in TOKENIZERS.built_in.values():
        _add(made, kind, METRIC)
    for metric in metrics:
        _add(made, metric, metric().label)
    registries: tuple[Registry[Any], ...] = (METRICS, MATCHERS, TOKENIZERS)
    for registry in registries if plug_ins and names is None else ():
        for kind in registry.classes():
            if kind.name not in registry.built_in:
                _add(made, kind, kind.name, plug_in=True)
    return made


def _add(
    made: SettingOptions, owner: type[Declared], panel: str, *, parts: bool = False, plug_in: bool = False
) -> None:
    for setting in all_settings(owner):
        name = identifier(setting.name)
        if setting.name in _HIDDEN or (parts and setting.part is None):
            continue
        if plug_in and (name not in made or made[name].setting.kind != setting.kind):
            option = SettingOption(setting, panel, owner.name)
            name = identifier(option.name)
            made[name] = option
        shared = made.setdefault(name, SettingOption(setting, panel, complete=_COMPLETIONS.get(setting.name)))
        shared.owners.setdefault(owner.name or owner.kind, setting)
        shared.kinds.add(owner.kind)


def _add_tokenizer(made: SettingOptions, metric: type[Metric]) -> None:
    """Add the settings of tokens, with the metric's defaults."""
    (named,) = (setting for setting in own_settings(metric) if setting.name == "tokenize")
    for declared, default in ((named, named.default), *named.default.settings()):
        shared = made.setdefault(identifier(declared.name), SettingOption(declared, METRIC))
        shared.owners[metric.name] = replace(declared, default=default)
        shared.kinds.add(named.default.kind)


def _metrics_in(values: OptionValues) -> list[tuple[str, dict[str, Any]]]:
    """Read the metrics that a command line names, and their settings."""
    return [read_settings(text) for flag in ("-m", "--metric") for text in values.get(flag, ())]


def options_of(values: OptionValues) -> list[SettingOption]:
    """Find the options of the metrics, matchers and tokenizers that are named; common ones where none is."""
    named = {*values} & {"-m", "--metric", "--matcher", "--tokenize"}
    if not named:
        return [option for option in setting_options(()).values() if option.setting.common]
    read = _metrics_in(values) or [read_settings("bleu")]
    kinds: dict[str, type[Any]] = {head: METRICS.find(head) for head, _ in read}
    metrics = [kind() for kind in kinds.values()]
    matchers = {*values.get("--matcher", ()), *(texts["matcher"] for _, texts in read if "matcher" in texts)}
    if not matchers and any(hasattr(metric, "matcher") for metric in metrics):
        matchers = {*MATCHERS.names()}
    tokenizers = {*values.get("--tokenize", ()), *(texts["tokenize"] for _, texts in read if "tokenize" in texts)}
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
        taken["vectors"] = replace(
            first, owners={name: replace(first.setting, default=default) for name, default in defaults.items()}
        )
    return [*taken.values()]


def options_named(values: OptionValues, wanted: Collection[str]) -> list[SettingOption]:
    """Find the options with these spellings, of BLEU and of the metrics that are named, or else of any metric."""
    heads = [head for head, _ in _metrics_in(values)]
    near = [option for option in _options_with(heads).values() if option.spellings & {*wanted}]
    if {*wanted} <= {spelling for option in near for spelling in option.spellings}:
        return near
    return [option for option in setting_options().values() if option.spellings & {*wanted}]


def _options_with(names: Iterable[str]) -> SettingOptions:
    """Make the options of BLEU and of our own metrics with these names."""
    ours = sorted({name for name in names if METRICS.find(name).__module__.startswith("softbleu.")} - {"bleu"})
    return setting_options(tuple(ours))


def about_matches(option: SettingOption) -> bool:
    """Return whether it is about matches of n-grams or judges of lines, not about how a metric counts."""
    judges = ("language_model", "detector", "coefficients")
    return option.kinds != {"metric"} or option.setting.name in ("matcher", "order", *judges)


def options_for(kind: type[Declared], panel: str, *names: str, without: Sequence[str] = ()) -> list[SettingOption]:
    """Make the options of a declared class: of the settings with these names, or all but some."""
    made: SettingOptions = {}
    _add(made, kind, panel)
    return [option for name, option in made.items() if name not in without and (not names or name in names)]
