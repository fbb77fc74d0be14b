"""Spellings of options, and options of settings: a metric, matcher, tokenizer or set of vectors has one for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from softbleu.config.declare import Setting, check_given, format_value
from softbleu.errors import InputError

# By the types of an option without choices: what its number is called, and how help shows it.
NUMBERS: dict[tuple[type, ...], tuple[str, str]] = {(int,): ("a whole number", "N"), (float,): ("a number", "X")}


def metavar_of(option: Setting) -> str:
    """Return the word that help shows for a value; nothing for a flag."""
    if option.types == (bool,):
        return ""
    named = option.choices or (option.complete and option.types not in NUMBERS)
    usual = "NAME" if named else NUMBERS.get(option.types, ("", "TEXT"))[1]
    return (option.metavar or ("FILE" if option.file else usual)) + "…" * option.several


def flags_of(option: Setting) -> list[str]:
    """Spell an option, with its negation."""
    if option.argument:
        return []
    if any("/" in flag for flag in option.flags):
        return [*option.flags]
    name = option.name.replace("_", "-")
    negated = f"/--no-{name}" if option.types == (bool,) and option.default is not False else ""
    return [f"--{name}{negated}", *option.flags]


def by_spelling(options: Iterable[Setting]) -> dict[str, Setting]:
    """Find options by each of their spellings, earlier ones among them."""
    found = {}
    for option in options:
        spelt = [flag.strip() for flags in flags_of(option) for flag in flags.split("/")]
        found.update(dict.fromkeys([flag for flag in (*spelt, *option.earlier) if flag], option))
    return found


def identifier(name: str) -> str:
    """Return a name for Python of an option."""
    return re.sub(r"\W", "_", name)


@dataclass
class SettingOption:
    """The option of all settings of one name; a plug-in's own setting has an option of its own."""

    setting: Setting  # The first of them
    panel: str  # Where the help has it
    plug_in: str = ""  # Name of the metric, matcher or tokenizer whose own it is; empty for all others
    owners: dict[str, Setting] = field(default_factory=dict)  # All settings, by the name of the metric or part
    kinds: set[str] = field(default_factory=set)  # Kinds of the owners: metric, matcher, …
    complete: Callable[[], Iterable[str]] | None = None  # Names that complete its value, beside the choices

    @property
    def name(self) -> str:
        """Name of the option without dashes before it."""
        return f"{self.plug_in}-{self.setting.key}" if self.plug_in else self.setting.key

    @property
    def spellings(self) -> set[str]:
        """All spellings of the option."""
        return {*by_spelling([self._spelt])}

    @property
    def _spelt(self) -> Setting:
        more = [] if self.plug_in else [flag for setting in self.owners.values() for flag in setting.flags]
        return replace(self.setting, name=self.name, flags=tuple(dict.fromkeys(more)), earlier=(), default=None)

    @property
    def shown(self) -> Setting:
        """The option as commands declare theirs: it has no default, as the settings have their own."""
        return replace(
            self._spelt,
            field=identifier(self.name),
            unset="",
            help=self.help,
            panel=self.panel,
            choices=tuple(self._choices()),
            complete=self.complete,
            several=False,
        )

    @property
    def help(self) -> str:
        """Text for the help, with the defaults."""
        texts: dict[str, dict[str, str]] = {}
        for owner, setting in self.owners.items():
            texts.setdefault(self.setting.help if setting.part else setting.help, {})[owner] = _default_of(setting)
        parts = [_with_default(text, defaults) for text, defaults in texts.items()]
        if len(parts) > 1:
            named = map(", ".join, texts.values())
            parts = [f"{name}: {part[:1].lower()}{part[1:]}" for name, part in zip(named, parts, strict=True)]
        said = "; ".join(parts)
        choices = self._choices()
        if not all(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said) for name in choices):
            said += f"; one of {', '.join(choices)}"
        return said

    def _choices(self) -> list[str]:
        return list(dict.fromkeys(name for setting in self.owners.values() for name in setting.names))

    def check(self, value: object) -> None:
        """Check that one of the settings can have the value; the error is that of the first."""
        errors = []
        for setting in self.owners.values():
            try:
                check_given(setting, value)
                return
            except InputError as error:
                errors.append(error)
        raise errors[0]


def _default_of(setting: Setting) -> str:
    value = setting.default
    if setting.unset or value is None or value is False:
        return setting.unset
    return value.name if setting.part else f"{value:g}" if isinstance(value, float) else format_value(value)


def _with_default(text: str, defaults: Mapping[str, str]) -> str:
    """Add the defaults to a text, the most common one first."""
    values = [value for value in defaults.values() if value]
    if not values:
        return text
    common = max(values, key=values.count)
    said = [f"{owner} {value}" for owner, value in defaults.items() if value and value != common]
    named = values.count(common) == 1 < len(defaults)
    first = next(owner for owner, value in defaults.items() if value == common)
    return f"{text} (default: {'; '.join([f'{first} {common}' if named else common, *said])})"
