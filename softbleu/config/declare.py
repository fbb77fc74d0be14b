"""Values declared once: options, keywords, checks, expressions, signatures and docs come from their fields.

Settings are text in two forms: signatures, which can be published and read back, ``metric:bleu|matcher:vleu|…``, and
expressions, which users write, ``bleu(matcher=vleu, threshold=0.8)``.
"""

from __future__ import annotations

import ast
import json
import math
import re
import sys
import warnings
from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cache
from importlib import import_module
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    overload,
)
from urllib.parse import quote, unquote

from softbleu.errors import REMOVED, InputError, Parameter, UnknownNameError, known_name
from softbleu.io.arguments import read_number
from softbleu.io.progress import note
from softbleu.version import __version__

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_Default = TypeVar("_Default")
_KEY = "setting"
_KINDS: dict[object, str] = {bool: "yes or no", int: "a whole number", float: "a number", str: "text"}
_ESCAPE = re.compile(r"(?:%[0-9A-F]{2})+")
_NUMBERS: dict[type, type] = {float: Real, int: Integral}
_TOKEN = re.compile(r"""\s*(?:([(),=])|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([^\s(),="']+)|$)""", re.DOTALL)
_UNWRITTEN = re.compile("[%|]|[^ -~]")  # May end an entry of a signature, or be shown by no line
_BARE = re.compile(r"[^\s(),=\"'\\]+")


@dataclass(frozen=True)
class Setting:
    """One field of a declared value, and all that others need to know of it."""

    name: str  # Of the keyword, in expressions; with dashes the option and the key of the signature
    default: Any
    field: str = ""  # Of the class, which has another name where it holds a value that the setting names
    help: str = ""  # What it does, for the option and the reference page
    optional: bool = False  # None is one of its values
    choices: tuple[str, ...] = ()  # Empty where it may be anything of its kind
    least: float | None = None  # Itself allowed, as is the greatest
    most: float | None = None
    metavar: str = ""
    flags: tuple[str, ...] = ()  # Further spellings of the option, such as `-n`
    earlier: tuple[str, ...] = ()  # Keys that signatures of earlier versions have for it
    unset: str = ""  # What None, or the default, stands for, in words
    always_signed: bool = False  # Short signatures have it, too
    signed_if_set: bool = False  # No signature has its default: earlier versions did not know it
    signed: bool = True  # False: no number depends on it, so neither signatures nor expressions name it
    read: Callable[[str], object] | None = None  # Makes the value of a text, where that is more than its kind says
    hashed: bool = False  # Signatures name a file with its hash
    common: bool = False  # Help shows it where no metric and no matcher is named
    part: type[Declared] | None = None  # Class of the declared value that it holds, whose settings join the owner's
    types: tuple[type, ...] = ()  # Of its values, where several kinds will do; empty where anything may
    shared: bool = False  # All classes of the kind have it: it is keyword-only
    several: bool = False  # A tuple of values
    # Of options alone
    panel: str = ""  # Where the help has it, unless that is said of its class
    file: Literal["", "read", "named", "system", "written"] = ""  # Names files: read, maybe as NAME=FILE, or written
    complete: Callable[[], Iterable[str]] | None = None  # Names that complete its value, beside the choices
    argument: bool = False  # An argument, which has no spelling
    hidden: bool = False  # Only the help of all options has it

    @property
    def key(self) -> str:
        """Key of the setting in signatures, and name of its option."""
        return self.name.replace("_", "-")

    @property
    def kind(self) -> str:
        """Kind of its values, in words."""
        single = self.types[0] if len(self.types) == 1 and (self.types == (str,) or not self.choices) else None
        return _KINDS.get(single, "anything")

    @property
    def names(self) -> tuple[str, ...]:
        """Choices of the setting; for a part the names of possible parts."""
        named = self.part is not None and self.part.kind in _REGISTRIES
        return tuple(_REGISTRIES[self.part.kind].names()) if self.part and named else self.choices

    @property
    def hint(self) -> str:
        """Kind of its values, in the words of Python's annotations."""
        kinds = [f"Literal{list(self.names)}"] if self.names else [kind.__name__ for kind in self.types]
        if self.read is not None and "str" not in kinds:
            kinds.append("str")
        return " | ".join([*(kinds or ["Any"]), *(["None"] if self.optional else [])])

    def widened(self, other: Setting) -> Setting:
        """Return the setting with the values that either allows."""
        least = None if self.least is None or other.least is None else min(self.least, other.least)
        most = None if self.most is None or other.most is None else max(self.most, other.most)
        choices = tuple(dict.fromkeys(other.choices + self.choices)) if self.choices and other.choices else ()
        return replace(self, least=least, most=most, choices=choices)

    def check(self, value: object) -> object:
        """Return a value in the kind of the setting, read from text if necessary; raise InputError if invalid."""
        as_text = bool(self.choices) or str not in self.types
        if self.read is not None and self.types and isinstance(value, str) and as_text:
            value = self.read(value)
        if (value is None and self.optional) or value in self.choices:
            return value
        if self.choices and isinstance(value, str):
            return known_name(self.name, value, self.choices)
        # Whole numbers are numbers, and neither is a truth value.
        truth = isinstance(value, bool)
        kinds = [bool] if truth and bool in self.types else [_NUMBERS.get(kind, kind) for kind in self.types]
        if self.types and (not isinstance(value, tuple(kinds)) or (truth and bool not in kinds)):
            raise self._refusal(value)
        if not isinstance(value, Real) or truth:
            return value
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        least, most = (
            (-math.inf if self.least is None else self.least),
            (math.inf if self.most is None else self.most),
        )
        if not (least <= number <= most and math.isfinite(number)):
            allowed = f"lie between {least:g} and {most:.10g}"
            if math.isinf(most):
                allowed = f"be a number from {least:g}" if math.isfinite(least) else "be a finite number"
            raise InputError(Parameter(self.name), f" must {allowed}, not {number:g}")
        if self.types == (int,) and not self.choices:
            return int(value)  # type: ignore[call-overload]  # of NumPy, too
        return number if float in self.types else value

    def _refusal(self, value: object) -> InputError:
        """Make the error for a value of another type."""
        kind = f"one of {', '.join(self.choices)}" if self.choices else self.kind
        if self.types == (bool,):
            kind = "True or False"  # Text is read by `parse`
        elif self.kind == "anything":
            kind = " or ".join(dict.fromkeys(_KINDS.get(each, each.__name__) for each in self.types))
        return InputError(Parameter(self.name), f" must be {kind}, not {value!r}")

    def parse(self, text: str) -> object:
        """Read the value from text."""
        if self.read is not None:
            return self.read(text)
        if text == "none" and self.optional and "none" not in self.choices:
            return None
        try:
            if self.kind == "yes or no":
                return {"yes": True, "no": False, "true": True, "false": False}[text.lower()]
            if self.kind == "a whole number":
                return read_number(int, text)
            return read_number(float, text) if self.kind == "a number" else text
        except (KeyError, ValueError):
            raise InputError(f"{self.name} must be {self.kind}, not {text!r}") from None

    def parse_signed(self, text: str) -> object:
        """Read the value from a signature, which knows of a file its name and content, not where it lies."""
        if not self.hashed:
            return self.parse(text)
        try:
            return self.parse(text.rpartition("#")[0] or text)
        except InputError as error:
            if self.name == "table" or "#" not in text:  # Scores, and what is no file
                raise
            raise InputError(*error.args, "; where it lies elsewhere, name it with ", Parameter(self.name)) from None


@overload
def setting(default: _Default, help: str = ..., **more: object) -> _Default: ...
@overload
def setting(*, factory: Callable[[], _Default] = ..., help: str = ..., **more: object) -> _Default: ...
def setting(
    default: object = MISSING,
    help: str = "",
    *,
    factory: Any = MISSING,
    kw_only: Any = MISSING,
    **more: object,
) -> object:
    """Declare a field of a declared value; `more` are fields of `Setting`, its `name` if not that of the field.

    Keyword-only fields stand last.
    """
    metadata = {_KEY: {"help": help, **more}}
    # Values that give the same numbers are equal.
    compare = bool(more.get("signed", True))
    return field(default=default, default_factory=factory, metadata=metadata, kw_only=kw_only, compare=compare)


class Declared(metaclass=ABCMeta):
    """Base of frozen dataclasses whose fields are settings: they are checked when a value is made."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    kind: ClassVar[str] = ""  # What such values are, which is their key in signatures: `metric`, `matcher`
    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Check every field and how they fit together; make attributes of the settings of parts."""
        for setting in own_settings(type(self)):
            value = getattr(self, setting.field)
            checked = setting.check(value)
            if checked is not value:
                object.__setattr__(self, setting.field, checked)
        self.check()
        self.complete()
        own = vars(self)
        if any(isinstance(value, Declared) for value in own.values()):
            for setting, value in self.settings():
                if getattr(type(self), setting.name, None) is None:
                    own.setdefault(setting.name, value)

    def complete(self) -> None:  # noqa: B027
        """Derive values from checked settings."""

    def check(self) -> None:  # noqa: B027
        """Raise an InputError if settings do not go together."""

    def settings(self, without: str = "") -> list[tuple[Setting, object]]:
        """List all settings and their values, with the settings of parts in their place.

        `without` names a field to leave out.
        """
        found: list[tuple[Setting, object]] = []
        for setting in own_settings(type(self)):
            value = getattr(self, setting.field)
            if setting.name == without:
                continue
            if not isinstance(value, Declared):
                found.append((setting, value))
                continue
            if value.name:
                found.append((setting, value.name))
            found += value.settings()
        return found

    def replaced(self, **settings: object) -> Self:
        """Return the value with other settings, its own or its parts'."""
        return self.revised(settings)

    def revised(self, settings: Mapping[str, object]) -> Self:
        """Return the value with other settings by name; a part may be a value or a name, and keeps common ones."""
        changes: dict[str, object] = {}
        for setting in own_settings(type(self)):
            wanted, present = settings.get(setting.name), getattr(self, setting.field)
            if not isinstance(present, Declared):
                if setting.read is not None and isinstance(wanted, str):
                    wanted = setting.read(wanted)
                if setting.name in settings:
                    changes[setting.field] = wanted
                continue
            if isinstance(wanted, Declared):
                present = wanted
            elif wanted is not None and present.kind in _REGISTRIES:
                if not isinstance(wanted, str):
                    raise InputError(Parameter(setting.name), f" must be a name or a value, not {wanted!r}")
                kind = _REGISTRIES[present.kind].find(wanted)
                if kind is not type(present):
                    present = kind().revised({common.name: value for common, value in present.settings()})
                if ":" in wanted:
                    settings = {kind.argument: wanted.partition(":")[2], **settings}
            changes[setting.field] = present.revised(settings)
        return replace(self, **changes) if changes else self


def check_given(setting: Setting, value: object) -> None:
    """Check that `value` is valid for `setting`; part names and unparsed text are accepted."""
    if setting.part is not None and isinstance(value, str):
        _REGISTRIES[setting.part.kind].find(value)
    elif setting.read is None or not isinstance(value, str):
        setting.check(value)
    elif not setting.hashed:
        # Files are not read for nothing.
        setting.check(setting.read(value))


@cache
def own_settings(kind: type[Declared]) -> tuple[Setting, ...]:
    """Return the settings of a class, which are made once, parts not spread; a field its repr leaves out is none."""
    chosen = [field for field in fields(kind) if field.repr]
    return tuple(_setting_of(kind, field) for field in sorted(chosen, key=lambda field: field.kw_only is True))


def all_settings(
    kind: type[Declared], settings: Mapping[str, object] | None = None, *, shared: bool = False
) -> Iterator[Setting]:
    """Settings of a class and of the parts that `settings` name or it has by default; `shared` ones if asked for."""
    for setting in own_settings(kind):
        if setting.shared and not shared:
            continue
        if setting.part is None:
            yield setting
            continue
        chosen = (settings or {}).get(setting.name)
        part: type[Declared] = setting.part
        if isinstance(chosen, Declared) or setting.default is not None:
            part = type(chosen if isinstance(chosen, Declared) else setting.default)
        if setting.part.kind in _REGISTRIES:
            yield setting
            part = _REGISTRIES[setting.part.kind].find(chosen) if isinstance(chosen, str) else part
        yield from all_settings(part, settings, shared=True)


def _setting_of(owner: type, declared: Field[Any]) -> Setting:
    hint: Any = declared.type
    if isinstance(hint, str):
        # Resolve the annotation in the module that wrote it; an unknown name allows any value.
        home = next(base for base in owner.__mro__ if declared.name in vars(base).get("__annotations__", {}))
        try:
            hint = eval(hint, vars(sys.modules[home.__module__]))
        except NameError:
            hint = Any
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    plain = [option for option in options if option is not NoneType and get_origin(option) is not Literal]
    named = tuple(str(name) for option in options if get_origin(option) is Literal for name in get_args(option))
    known = all(isinstance(option, type) and option is not Any for option in plain)
    more = {"name": declared.name, "choices": named, "shared": declared.kw_only is True} | declared.metadata.get(
        _KEY, {}
    )
    choices = more.pop("choices")
    return Setting(
        default=declared.default_factory() if declared.default_factory is not MISSING else declared.default,
        field=declared.name,
        optional=NoneType in options,
        choices=tuple(choices() if callable(choices) else choices),
        part=next((option for option in plain if isinstance(option, type) and issubclass(option, Declared)), None),
        types=tuple(plain or ([str] if named else [])) if known else (),
        several=any(get_origin(option) is tuple for option in options),
        **more,
    )


_Kind = TypeVar("_Kind", bound=Declared)


class Registry(Generic[_Kind]):
    """Declared classes by name: of a package of ours, and of other packages' entry points."""

    def __init__(
        self,
        kind: str,
        package: str,
        base: type[_Kind],
        elsewhere: Mapping[str, tuple[str | Parameter, ...]] | None = None,
    ) -> None:
        self.kind, self._package, self._base = kind, package, base
        self._elsewhere = elsewhere or {}  # Patterns of names that other tools have, and what to do here
        self.group = f"softbleu.{kind}s"
        _REGISTRIES[kind] = self

    @property
    def built_in(self) -> dict[str, type[_Kind]]:
        """Our own, by name."""
        return _declared_in(self._package, self._base)

    def names(self) -> list[str]:
        """Names of all, our own first."""
        return [*self.built_in, *sorted(entry_points_of(self.group).keys() - self.built_in)]

    def get(self, name: str, *, elsewhere: bool = True) -> type[_Kind] | None:
        """Find a class by its name, in any case; None if there is none of that name, or none of ours."""
        wanted = name.lower()
        head, colon, _ = wanted.partition(":")
        # In the module of its name first: a start loads no other.
        for place in (f"{self._package}.{head}", self._package):
            own = _declared_in(place, self._base).get(head)
            if own is not None and (not colon or getattr(own, "argument", False)):
                return own
        entry = entry_points_of(self.group).get(wanted) if elsewhere else None
        return None if entry is None else self._load(entry)

    def find(self, name: str) -> type[_Kind]:
        """Find a class as `get` does; the error for an unknown name lists valid ones, or says what to take."""
        found = self.get(name)
        if found is None:
            raise self.unknown(name)
        return found

    def unknown(self, name: str, others: Sequence[str] = ()) -> InputError:
        """Make the error for an unknown name; `others` are valid names beside the registry's."""
        valid = [*self.names(), *others]
        spelt = name.lower().replace("_", "-")
        for pattern, advice in self._elsewhere.items():
            if re.fullmatch(pattern, spelt):
                return InputError(f"{self.kind} {name!r}: ", *advice)
        return UnknownNameError(self.kind, name, valid)

    def make(self, name: str, **options: object) -> _Kind:
        """Make a value from its name and its options; options that are None keep their defaults."""
        kind = self.find(name)
        known = [setting.name for setting in own_settings(kind)]
        for key in options:
            if options[key] is not None and key not in known:
                raise InputError(f"{self.kind} {name!r} has no option {key!r}; it has: {', '.join(known) or 'none'}")
        return kind(**{key: value for key, value in options.items() if value is not None})

    def classes(self) -> list[type[_Kind]]:
        """Return all that can be used, our own first."""
        usable = list(self.built_in.values())
        for name, entry in entry_points_of(self.group).items():
            if name not in self.built_in:
                try:
                    usable.append(self._load(entry))
                except InputError as error:
                    note(f"{error}; it is left out")
        return usable

    def _load(self, entry: EntryPoint) -> type[_Kind]:
        try:
            loaded: type[_Kind] = entry.load()
            usable = issubclass(loaded, self._base) and loaded.name == entry.name
            if usable and all(setting.default is not MISSING for setting in own_settings(loaded)):
                loaded()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # A package may even end the program
            said = f"{type(error).__name__}: {error}"
            raise InputError(f"{self.kind} {entry.name!r} of {entry.value} cannot be loaded: {said}") from error
        if not usable:
            raise InputError(f"{self.kind} {entry.name!r} of {entry.value} is no {self._base.__name__} of that name")
        return loaded


_REGISTRIES: dict[str, Registry[Any]] = {}


def registry(kind: str) -> Registry[Any]:
    """Return the registry of a kind of declared values: `metric`, `matcher` or `tokenizer`."""
    return _REGISTRIES[kind]


@cache
def entry_points_of(group: str) -> dict[str, EntryPoint]:
    """Entry points that packages offer to a group, by name; of two of one name the first counts."""
    from importlib.metadata import distributions, entry_points

    entries: list[EntryPoint] = []
    try:
        entries += entry_points(group=group)
    except Exception:
        # What one package says of itself is damaged, in any way: those of the others count.
        for distribution in distributions():
            with suppress(Exception):
                entries += distribution.entry_points.select(group=group)
    return {entry.name: entry for entry in reversed(entries)}


@cache
def _declared_in(place: str, base: type[_Kind]) -> dict[str, type[_Kind]]:
    """Concrete classes of a kind that a module declares, or the modules of a package, by name; none of no module."""
    from pkgutil import iter_modules

    try:
        within = iter_modules(getattr(import_module(place), "__path__", ()), f"{place}.")
    except ModuleNotFoundError as error:
        if error.name is None or not place.startswith(error.name):
            raise
        return {}
    declared = {
        vars(kind).get("name", ""): kind
        for module in (place, *(info.name for info in within))
        for kind in vars(import_module(module)).values()
        if isinstance(kind, type) and issubclass(kind, base) and kind.__module__.startswith(place)
    }
    declared.pop("", None)
    return dict(sorted(declared.items()))


def signature_of(
    value: Declared, *, short: bool = False, without: str = "", more: Mapping[str, object] | None = None
) -> str:
    """Write all settings of a declared value, and further ones, as ``key:value|key:value|…``.

    It is written as the kind of thing it is and its name (`metric:bleu`, `matcher:vleu`), then its settings; the
    settings of its parts in their place. The version comes last. Characters that would end an entry, or that no
    line can show, are written as ``%7C``. Short signatures leave out defaults, but for settings that are always
    signed; `without` names a field to leave out; `more` are further settings, which override settings of the value.

    >>> from softbleu.text.tokens import Tokenizer13a
    >>> signature_of(Tokenizer13a(), short=True).rpartition("|")[0]
    'tokenizer:13a|lowercase:no'
    """
    pairs: dict[str, object] = {value.kind: value.name} if value.name else {}
    for setting, entry in value.settings(without):
        needed = setting.part or setting.always_signed or not (short or setting.signed_if_set)
        if setting.signed and (needed or entry != setting.default):
            pairs[setting.key] = entry
    pairs |= {key.replace("_", "-"): entry for key, entry in (more or {}).items()} | {"version": __version__}
    return "|".join(f"{key}:{_UNWRITTEN.sub(_escape, format_value(entry))}" for key, entry in pairs.items())


def format_value(value: object) -> str:
    """Write the value of a setting.

    >>> format_value(True), format_value(None), format_value(0.8), format_value("exp")
    ('yes', 'none', '0.8', 'exp')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value) if isinstance(value, float) else str(value)


def parse_signature(signature: str) -> dict[str, str]:
    """Read a signature back into its keys and values, without settings that are gone and changed nothing.

    >>> parse_signature("metric:bleu|matcher:vleu|threshold:0.8|idf:a%7Cb.txt#0|version:0.1.0")["idf"]
    'a|b.txt#0'
    """
    pairs: dict[str, str] = {}
    for part in signature.strip().split("|"):
        key, colon, value = part.partition(":")
        if not colon or not key or key in pairs:
            raise InputError(f"not a signature at {part!r}: parts like 'matcher:vleu' joined by '|' are expected")
        try:
            value = _ESCAPE.sub(lambda match: unquote(match[0], errors="surrogatepass"), value)
        except UnicodeDecodeError:
            raise InputError(f"not a signature at {part!r}: %XX are no bytes of UTF-8; write a '%' as %25") from None
        if key not in REMOVED or value != REMOVED[key]:
            pairs[key] = value
    return pairs


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    return quote(char, safe="", errors="surrogatepass") if char in "%|" or not char.isprintable() else char


def format_expression(head: str, settings: Mapping[str, object]) -> str:
    """Write a name and settings as users do.

    >>> format_expression("vleu", {"threshold": 0.8, "vectors": "my vectors"})
    'vleu(threshold=0.8, vectors="my vectors")'
    """
    written = [f"{name}={_quoted(format_value(value))}" for name, value in settings.items()]
    return f"{head}({', '.join(written)})" if written else head


def parse_expression(text: str) -> tuple[str, dict[str, str]]:
    """Read a name and settings, as text; settings of a part join the others.

    >>> parse_expression("gleu(matcher=vleu(threshold=0.8), order = 3)")
    ('gleu', {'matcher': 'vleu', 'threshold': '0.8', 'order': '3'})
    """
    if _BARE.fullmatch(text):
        return text, {}
    tokens = list(_tokens(text))
    settings: dict[str, str] = {}
    try:
        head, end = _read_call(text, tokens, 0, settings)
    except RecursionError:
        raise InputError(f"an expression of {len(text)} characters has too many parentheses within others") from None
    if tokens[end][0]:
        raise _unexpected(text, tokens[end])
    return head, settings


_Token = tuple[str, str, int]  # Its mark, `text`, or nothing at the end; what it says; where it stands


def split_name(text: str) -> tuple[str | None, str]:
    """Split off a name that is given before an equals sign.

    >>> split_name("GLEU=scores.tsv"), split_name("scores.tsv"), split_name("metric:bleu|vectors:a=b")
    (('GLEU', 'scores.tsv'), (None, 'scores.tsv'), (None, 'metric:bleu|vectors:a=b'))
    >>> split_name("soft=vleu(threshold=0.8)"), split_name("vleu(threshold=0.8)")
    (('soft', 'vleu(threshold=0.8)'), (None, 'vleu(threshold=0.8)'))
    """
    name, equals, rest = text.partition("=")
    if not equals or not name or not rest or set(name) & set("|/\\") or name.count("(") != name.count(")"):
        return None, text
    return name, rest


def _tokens(text: str) -> list[_Token]:
    read: list[_Token] = []
    place = 0
    while True:
        match = _TOKEN.match(text, place)
        if match is None:
            raise InputError(f"expression {text!r}: a quotation mark at character {place + 1} is never closed")
        mark, quoted, bare = match.groups()
        said = _unquoted(text, quoted) if quoted else bare or mark or ""
        read.append(
            (mark or ("text" if quoted or bare else ""), said, match.end() - len(quoted or bare or mark or ""))
        )
        if not read[-1][0]:
            return read
        place = match.end()


def _unquoted(text: str, quoted: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return str(ast.literal_eval(quoted))
        except (SyntaxError, ValueError, Warning):
            raise InputError(f"expression {text!r}: cannot read {quoted!r}; write a backslash twice") from None


def _read_call(text: str, tokens: list[_Token], place: int, settings: dict[str, str]) -> tuple[str, int]:
    """Read `name` or `name(key=value, …)` from the token at that place on; return the name and the place after it."""
    kind, name, _ = tokens[place]
    if kind != "text":
        raise _unexpected(text, tokens[place])
    place += 1
    if tokens[place][0] != "(":
        return name, place
    place += 1
    while tokens[place][0] != ")":
        key = tokens[place]
        if key[0] != "text" or tokens[place + 1][0] != "=":
            raise _unexpected(text, key if key[0] != "text" else tokens[place + 1])
        if key[1].replace("-", "_") in settings:
            raise InputError(f"expression {text!r}: {key[1]!r} is given twice")
        settings[key[1].replace("-", "_")] = ""
        value, place = _read_call(text, tokens, place + 2, settings)
        settings[key[1].replace("-", "_")] = value
        if tokens[place][0] not in (",", ")"):
            raise _unexpected(text, tokens[place])
        place += tokens[place][0] == ","
    return name, place + 1


def _unexpected(text: str, token: _Token) -> InputError:
    where = f"{token[1]!r} at character {token[2] + 1}" if token[0] else "end"
    return InputError(f"expression {text!r}: unexpected {where}; write it like vleu(threshold=0.8, order=4)")


def _quoted(text: str) -> str:
    if not text.isprintable():
        return ascii(text)
    return text if _BARE.fullmatch(text) else json.dumps(text, ensure_ascii=False)
