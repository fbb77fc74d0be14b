"""Options of commands: as `options.txt` and settings declare them, and as the words of a command line name them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache, partial
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from softbleu.errors import InputError

if TYPE_CHECKING:
    from softbleu.config.declare import Declared, Registry, Setting

HELP = ("-h", "--help")
EARLIER = {"--long-signature": "--long", "--test-seed": "--seed", "--remedy": "--variant"}
"""Spellings of earlier versions, which help does not show."""
MATCHING, METRIC = "Matching", "Score"
Complete = Callable[[], list[str]]
Options = dict[str, "SettingOption"]
_NAMING = {"-m": "metrics", "--metric": "metrics", "--matcher": "matchers", "--tokenize": "tokenizers"}
_KINDS = {None: bool, "N": int, "0|1": int, "X": float, "0..1": float}
_NUMBERS = {int: "a whole number", float: "a number"}
_OF_SETTINGS: Mapping[str, tuple[type, str | None]]
_OF_SETTINGS = {"yes or no": (bool, None), "a whole number": (int, "N"), "a number": (float, "X")}
_DEFAULT = "(default: ="
_HIDDEN = ("quantile", "metric", "table")


def find(place: str) -> Any:
    """Find what a module of the package has: `report:WRITERS`."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"softbleu.{module}"), name)


def completion_of(what: str) -> Callable[[], list[str]]:
    """Find names that complete an option: `a,b,c`, or by place a table, a registry, a function or a literal type."""

    def names() -> list[str]:
        if ":" not in what:
            return what.split(",")
        table = getattr(find(what), "names", find(what))
        return list(get_args(table) or (table() if callable(table) else table))

    return names


def score_formats() -> list[str]:
    """Names of the formats of scores."""
    from softbleu.report import PAGES, WRITERS

    return [*WRITERS, *PAGES]


def metric_names() -> list[str]:
    """Names of metrics and matchers, those of plug-ins too."""
    from softbleu.matching import MATCHERS
    from softbleu.metrics.base import METRICS

    return [*METRICS.names(), *MATCHERS.names()]


@dataclass(frozen=True)
class OptionLine:
    """An option or an argument, as a line of a table declares it."""

    name: str  # Of the value in a command
    flags: Sequence[str]  # Spellings; an argument has none
    metavar: str | None  # What the value is: text, a number or a list, unless `kind` says more; a flag has none
    help: str
    panel: str | None = None
    default: str | None = None  # As text
    complete: Complete | None = None
    required: bool = False
    kind: type | None = None

    @property
    def parameter(self) -> inspect.Parameter:
        """The parameter of a command."""
        several = (self.metavar or "").endswith("…")
        kind: Any = self.kind or (list[str] if several else _KINDS.get(self.metavar, str))
        default: Any = None if self.default is None else kind(self.default)
        if several:
            default = []
        elif kind is bool and self.kind is None:
            default = self.default == "yes"
        # The text is plain: markup would take `softbleu[plots]` for a style.
        text = self.help.replace(_DEFAULT, f"{_DEFAULT[:-1]}{self.default}").replace("[", "\\[")
        made: Any = typer.Argument(metavar=self.metavar, help=text)
        if self.flags:
            more: dict[str, Any] = {"metavar": self.metavar, "autocompletion": self.complete}
            if kind in _NUMBERS:
                more["parser"] = partial(_number, kind)
            made = typer.Option(*self.flags, help=text, rich_help_panel=self.panel, show_default=False, **more)
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if self.required else default,
            annotation=Annotated[kind if self.required or default is not None else kind | None, made],
        )

    def check(self, value: Any) -> None:
        """See that no name of a file or folder is empty: it would stand for this folder, or for no option at all."""
        named = any(place in (self.metavar or "") for place in ("FILE", "FOLDER", "PATH"))
        if named and "" in (value if isinstance(value, list) else [value]):
            raise InputError(f"{(self.flags or [self.name])[0]}: the name of a file or folder is empty")


def _number(kind: type, value: Any) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise InputError(f"{value!r} is not {_NUMBERS[kind]}") from None


def read_options(text: str) -> dict[str, OptionLine]:
    """Read options that a table of `options.txt` declares, by the name under which commands ask for them.

    Its first table has what commands share, the others what a command has of its own, whose name stands above. A line
    says what the option is, and its help; one without a colon begins a panel. Before the colon stand its
    spellings; what its value is; `=` and the default, which `(default: =)` in the help repeats; what completes it,
    between angle brackets (see `completion_of`); `!` if it must be given. An argument has a name instead of
    spellings. An option may have one as well, by which commands ask for it.
    """
    lines, panel = {}, None
    for entry in text.splitlines():
        head, colon, what = entry.strip().partition(": ")
        if not colon:
            panel = head
            continue
        words = head.split()
        marked = {word[0]: word[1:].removesuffix(">") for word in words if word[0] in "=<!"}
        flags = tuple(word for word in words if word.startswith("-"))
        rest = [word for word in words if word[0] not in "-=<!"]
        name = flags[0].partition("/")[0].strip("-").replace("-", "_") if flags else rest[0]
        asked = rest.pop(0) if rest and rest[0].isidentifier() and rest[0].islower() else name
        metavar = rest[0] if rest else None
        complete = completion_of(marked["<"]) if "<" in marked else None
        lines[asked] = OptionLine(name, flags, metavar, what, panel, marked.get("="), complete, "!" in marked)
    return lines


def choose_options(names: str, command: str) -> list[OptionLine]:
    """Find options by name among a command's own, else among those of all; `name=default` gives another default."""
    known = _SHARED | read_options(_OWN.get(command, ""))
    chosen = []
    for asked in names.split():
        name, equals, default = asked.partition("=")
        chosen.append(replace(known[name], default=default) if equals else known[name])
    return chosen


@dataclass
class CommandLine:
    """Metrics, options and settings that the words of a command line name, before they are parsed."""

    metrics: list[str] = field(default_factory=list)
    matchers: list[str] = field(default_factory=list)
    tokenizers: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)  # As they are spelt now

    @classmethod
    def of(cls, words: Iterable[str]) -> CommandLine:
        """Look through the words: values go up to the next option.

        >>> CommandLine.of(["-m", "bleu", "vleu(threshold=0.8)", "--order=2", "-1"]).metrics
        ['bleu', 'vleu(threshold=0.8)']
        """
        line, values = cls(), list[str]()
        for word in takewhile(lambda word: word != "--", words):
            if is_value(word):
                values.append(word)
                continue
            name, value = split_option(word)
            line.options.append(EARLIER.get(name, name))
            values = getattr(line, _NAMING[name]) if name in _NAMING else []
            values += [value.removeprefix("=")] if value else []
        return line

    @property
    def ask_for_help(self) -> bool:
        """Whether help is wanted."""
        return any(name in HELP for name in self.options)


def split_option(word: str) -> tuple[str, str]:
    """Split a word into the option and what stands in one word with it.

    >>> split_option("--order=2"), split_option("-n2"), split_option("--order")
    (('--order', '=2'), ('-n', '2'), ('--order', ''))
    """
    name, equals, value = word.partition("=")
    return (name, equals + value) if word.startswith("--") else (word[:2], word[2:])


@cache
def _habits() -> dict[str, str]:
    rows = (line.partition(": ") for line in Path(__file__).with_name("habits.txt").read_text("utf-8").splitlines())
    said = {names: f"{'write ' * what.startswith(('-', 'softbleu'))}{what}" for names, _, what in rows if what}
    return {name: what for names, what in said.items() for name in names.split(", ")}


def habit(option: str, value: str | None = None) -> str:
    """Say what to write for an option of other programs, or its use with this value; empty if it is not known.

    >>> habit("--num_workers"), habit("-s", "exp"), habit("-s")
    ('write --jobs N (-j)', 'write --smooth NAME', '')
    """
    if value is None:
        spelt = option.lower().replace("_", "-") if option.startswith("--") else option
        return _habits().get(spelt, "")
    there = Path(value).is_file()
    uses = (spelling.partition(" ")[::2] for spelling in _habits() if spelling.startswith(f"{option} "))
    fits = (use for _, use in uses if (there if use == "FILE" else not there and fnmatchcase(value, use)))
    return next((_habits()[f"{option} {use}"] for use in fits), "")


def _check_habits(words: Sequence[str]) -> None:
    """Check that the first of these words is not another program's: `-tok`, or `-s exp`, with the value behind it."""
    letters, _, _ = words[0].partition("=")
    if letters.startswith("--"):
        return
    if len(letters) > 2 and (hint := habit(letters)) and not Path(letters[2:]).exists():
        raise InputError(f"No such option: {letters}; {hint}")
    if len(letters) == 2 and len(words) > 1 and (hint := habit(letters, words[1])):
        raise InputError(f"{letters} {words[1]} means something else here; {hint}")


def meant(option: str, flags: Iterable[str]) -> list[str]:
    """Find the option that is meant by an unknown spelling: the only one it begins, or the most similar; else none.

    >>> flags = ["--reference", "--metric", "--multi", "--order"]
    >>> meant("--ref", flags), meant("--metrics", flags), meant("--xyz", flags)
    (['--reference'], ['--metric'], [])
    """
    name = option.lower().replace("_", "-")
    there = sorted({flag for flag in flags if flag.startswith("--")})
    for stem in (name, name.removesuffix("s")):
        begun = [flag for flag in there if flag.startswith(stem)]
        if len(begun) == 1 or stem in begun:
            return [stem if stem in begun else begun[0]]
    return [*get_close_matches(name, there, n=1, cutoff=0.75)]


def is_value(word: str) -> bool:
    """Whether a word is no option: a number below 0 is a value, and so is `-`, standard input."""
    if not word.startswith("-") or word == "-":
        return True
    try:
        float(word)
    except ValueError:
        return False
    return True


def spread_values(params: Collection[Any], words: Sequence[str]) -> Iterator[str]:
    """Repeat an option before each of its values, which go up to the next option, if it takes several.

    To the parser `-c A B C` is `-c A -c B -c C`. `--` ends it all. A word behind no option, where a system or a
    reference may be meant, is an `InputError`.
    """
    flags = [param for param in params if hasattr(param, "is_flag")]
    options = {name: param for param in flags for name in (*param.opts, *param.secondary_opts)}
    behind, awaited = "", False
    for place, word in enumerate(words):
        if awaited:
            # The parser takes whatever stands there.
            awaited = False
            yield word
        elif is_value(word):
            if not behind and "--candidate" in options:
                raise InputError(
                    f"unexpected argument {word!r}: name systems with -c and references with -r, as in "
                    "-c SYSTEM1 SYSTEM2 -r REFERENCE"
                )
            yield from (behind, word) if behind else (word,)
        else:
            _check_habits(words[place : place + 2])
            name, value = split_option(word)
            name = EARLIER.get(name, name) if EARLIER.get(name, name) in options else name
            option = options.get(name)
            if option is None:
                # The end, or the parser names it; what is behind it is not looked at.
                yield from words[place:]
                return
            behind = name if option.multiple else ""
            awaited = not option.is_flag and not value
            yield name + value


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
    def line(self) -> OptionLine:
        """The option, as a table would declare it."""
        first, choices = self.setting, self._choices()
        kind, letter = _OF_SETTINGS.get(first.kind, (str, "NAME" if choices else "TEXT"))
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
            texts.setdefault(self.setting.help if setting.part else setting.help, {})[owner] = _default_of(setting)
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


def spellings(options: Iterable[OptionLine | SettingOption]) -> set[str]:
    """Each spelling of these options, those that say no among them."""
    return {spelling for option in options for flag in option.flags for spelling in flag.split("/")}


def identifier(name: str) -> str:
    """Name of the parameter for an option."""
    return re.sub(r"\W", "_", name)


def _default_of(setting: Setting) -> str:
    from softbleu.config.declare import format_value

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
    from softbleu.text.tokens import TOKENIZERS

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
    from softbleu.metrics.reading import read_settings
    from softbleu.text.tokens import TOKENIZERS

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


def options_named(words: CommandLine, known: Sequence[OptionLine]) -> Options:
    """Options that the words name beside those that are known, of BLEU and the metrics named, or else of any metric.

    If one of them is there nowhere, all options that there are.
    """
    wanted = {*words.options} - spellings(known)
    if not wanted:
        return {}
    from softbleu.metrics.reading import read_settings

    heads = [read_settings(expression)[0] for expression in words.metrics]
    for find in (partial(_options_with, heads), setting_options):
        options: Options = find()
        named = {name: option for name, option in options.items() if wanted & spellings([option])}
        if wanted <= spellings(named.values()):
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


def declared_options(place: str, panel: str | None = None, without: Sequence[str] = ()) -> Options:
    """Options of the declared class at a place such as `lattices.rules:NetworkRules`, but for some."""
    made: Options = {}
    _add(made, find(place), panel)
    return {name: option for name, option in made.items() if name not in without}


_FORMATS = "Output format: text, json, jsonl, tsv, csv, markdown (or md), latex (or tex) or parquet (to a file)"
_TABLES = Path(__file__).with_suffix(".txt").read_text("utf-8").replace("{formats}", _FORMATS).split("\n\n[")
_SHARED = read_options(_TABLES[0])
_SHARED["limits"] = replace(_SHARED["limits"], kind=str)  # What reads the variable of the environment reads them
_OWN = dict(table.split("]\n", 1) for table in _TABLES[1:])  # Tables of commands by their names
_COMPLETIONS: dict[str, Complete] = {
    "vectors": completion_of("embeddings:bundled_names"),
    "vectors_postprocess": lambda: ["none", "mean", "pc:2", "mean,pc:2"],
}
