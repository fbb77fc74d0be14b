"""Errors a user can cause and mend: one line that names the fault, its place and the way out."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TypeVar
from unicodedata import bidirectional, category, combining

_VIRAMA = 9  # Canonical combining class
_SCHEME = r"((?<![\w+.-])[A-Za-z][\w+.-]+:/{1,2})"  # Paths have one slash less
_USER = re.compile(_SCHEME + r"(?:[^\s/?#:@]*:(?!\d*(?:[/?#\s]|$))\S*@|[^\s/?#]*@)")
_QUERY = re.compile(_SCHEME + r"([^\s?]*\?)(\S*?)(?=[:,'\")\]]*(?:\s|$))")
_VALUE = re.compile(r"(^|[&;])([^=&;]*=)?[^&;]+")
_Name = TypeVar("_Name", bound=str)
_LONGEST = 2000  # Characters of a message; a list of all settings has half as many


def one_line(text: str) -> str:
    r"""Write invisible characters as escapes: control characters, line ends, tabs, marks of direction.

    Names come from outside and may hold anything. Joiners stay where scripts and emoji need them.

    >>> print(one_line("two\twords\x1b[1m and\na line"), one_line("a\u202eb"))
    two\twords\x1b[1m and\na line a\u202eb
    >>> names = "\u06cc\u200c\u062e", "\u0915\u094d\u200d\u0937", "👩\u200d💻", "a\u200cb"
    >>> [one_line(name) == name for name in names]
    [True, True, True, False]
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or _joins(text, place) else char.encode("unicode_escape").decode("ascii")
        for place, char in enumerate(text)
    )


def _joins(text: str, place: int) -> bool:
    """Return whether a character is a joiner that changes how its neighbours look.

    These are letters of the Arabic script or another that joins, a virama (RFC 5892, A.1 and A.2), or emoji.
    """
    if text[place] not in "\u200c\u200d" or not place:
        return False
    before, after = text[place - 1], text[place + 1 : place + 2] or " "
    if _VIRAMA in (combining(before), combining(after)):
        return True
    arabic = {bidirectional(before), bidirectional(after)} <= {"AL", "NSM"} and category(after)[0] == "L"
    emoji = category(after) == "So" and (category(before) in ("So", "Sk") or before == "\ufe0f")
    return arabic or (emoji and text[place] == "\u200d")


def counted(count: int, unit: str, several: str = "") -> str:
    """Write a number with its unit, in the plural where it is not 1: with `s`, or as named.

    >>> counted(1, "line"), counted(1200, "line"), counted(0, "entry", "entries")
    ('1 line', '1,200 lines', '0 entries')
    """
    return f"{count:,} {unit if count == 1 else several or f'{unit}s'}"


def without_secrets(text: str) -> str:
    """Remove names of users, passwords and values of queries from the URLs in a text.

    >>> print(without_secrets("http://me:pw@host/x.txt?X-Amz-Signature=ab12&v=2: cannot be read"))
    http://host/x.txt?X-Amz-Signature=…&v=…: cannot be read
    """
    if ":/" not in text:
        return text
    return _QUERY.sub(lambda query: query[1] + query[2] + _VALUE.sub(r"\1\2…", query[3]), _USER.sub(r"\1", text))


@dataclass(frozen=True)
class Parameter:
    """A parameter that a message names, maybe with a value; Python and the command line spell it in their ways.

    >>> print(Parameter("max_depth"), Parameter("tokenize", "none"))
    max_depth tokenize='none'
    """

    name: str  # Name in the functions of the package
    value: object = None
    python: str = ""  # Spelling in Python, unless it is the name and the value

    def shown(self) -> Parameter:
        """Return the parameter without secrets in its value."""
        return replace(self, value=without_secrets(self.value)) if isinstance(self.value, str) else self

    def __str__(self) -> str:
        """Spell the parameter for Python."""
        return self.python or (self.name if self.value is None else f"{self.name}={self.value!r}")


def spelt(parts: Iterable[str | Parameter], spell: Callable[[Parameter], str] = str) -> str:
    r"""Join texts and parameters to a message of one line, without secrets; `spell` writes a parameter.

    A message that quotes much loses its middle.

    >>> spelt(["no such file: \x1b[1m"]) == "no such file: \\x1b[1m", len(spelt(["x" * 100_000]))
    (True, 2003)
    """
    said = "".join(spell(part) if isinstance(part, Parameter) else str(part) for part in parts)
    text, half = one_line(without_secrets(said)), _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} … {text[-half:]}"


class SoftbleuError(Exception):
    """Base of every error that softbleu raises on purpose; the command line turns it into exit code 2.

    Its message has parts: texts and parameters. Worker processes send it unchanged.

    Examples
    --------
    >>> error = InputError(Parameter("count"), " is at most 9: lower ", Parameter("count", 20))
    >>> print(error)
    count is at most 9: lower count=20
    >>> error.spelt(lambda parameter: f"--{parameter.name}")
    '--count is at most 9: lower --count'

    >>> import pickle
    >>> pickle.loads(pickle.dumps(error)).parameters == error.parameters
    True
    """

    args: tuple[str | Parameter, ...]

    def __init__(self, *parts: str | Parameter) -> None:
        super().__init__(*(part.shown() if isinstance(part, Parameter) else without_secrets(part) for part in parts))

    def __str__(self) -> str:
        """Return the message for Python."""
        return self.spelt(str)

    def spelt(self, spell: Callable[[Parameter], str]) -> str:
        """Return the message with its parameters as `spell` writes them."""
        return spelt(self.args, spell)

    @property
    def parameters(self) -> list[Parameter]:
        """Parameters in the message."""
        return [part for part in self.args if isinstance(part, Parameter)]


class SoftbleuWarning(UserWarning):
    """A note on texts, scores or settings that matters to a number; the command line prints it."""


class InputError(SoftbleuError, ValueError):
    """Text, references or options that cannot be scored."""


class VectorError(SoftbleuError, ValueError):
    """A word-vector file that cannot be read or trusted."""


class MissingExtraError(SoftbleuError, ImportError):
    """A feature whose optional dependency is not installed; the message names the extra."""


_WITHOUT_WHEELS = {"train": ("gensim", (3, 14))}
"""Extras whose package has no wheels from a version of Python on: the package and that version."""


@contextmanager
def optional(extra: str, purpose: str) -> Iterator[None]:
    """Import packages of an extra; where one is not installed, raise an error with the command that installs it.

    Parameters
    ----------
    extra
        The name of the extra in ``pyproject.toml``.
    purpose
        Purpose of the packages, as the subject of the message.

    Examples
    --------
    >>> with optional("plots", "A picture"):
    ...     raise ModuleNotFoundError("No module named 'matplotlib'")
    Traceback (most recent call last):
    softbleu.errors.MissingExtraError: A picture needs another package: pip install '.[plots]' in a clone
    """
    try:
        yield
    except ImportError as error:
        package, version = _WITHOUT_WHEELS.get(extra, ("", (4, 0)))
        if sys.version_info >= version:
            said = f"{package}, which has no wheels for Python {version[0]}.{version[1]}: use an earlier Python"
        else:
            said = f"another package: pip install '.[{extra}]' in a clone"
        raise MissingExtraError(f"{purpose} needs {said}") from error


class WorkerError(SoftbleuError, RuntimeError):
    """A process or machine that did part of the work is gone."""


REMOVED = {
    **{"similarity": "cosine", "csls": None, "mutual": "no", "mutual-neighbours": "no", "inflection": "no"},
    **{"window": "1", "move": "0.0"},
    **dict.fromkeys(("calibration", "partners", "offenders", "att", "smaller", "netbleu")),
}
"""Names of metrics, settings, variants and tables that version 0.4 removed; for settings the value without effect."""
_HAD_OTHERS = ("metric", "setting", "signature key", "variant", "table", "notation", "format", "kind of experiment")
REMOVAL = "was removed in 0.4; softbleu 0.3.0 has it"


class UnknownNameError(InputError):
    """A name that no registry knows; the message lists valid names, or says that the name was removed.

    >>> raise UnknownNameError("matcher", "vlue", ["exact", "vleu"])
    Traceback (most recent call last):
    softbleu.errors.UnknownNameError: unknown matcher 'vlue' (did you mean 'vleu'?); valid: exact, vleu

    The place of the name, such as a file, comes first.

    >>> print(UnknownNameError("key", "count", ["kind"], place="small.toml, [sweep]"))
    small.toml, [sweep]: unknown key 'count'; valid: kind
    """

    def __init__(self, kind: str, name: str, valid: Iterable[str], place: str = "") -> None:
        choices = list(valid)
        said = f"unknown {kind} {name!r}{did_you_mean(name, choices)}; valid: {', '.join(choices)}"
        if kind in _HAD_OTHERS and name.replace("_", "-") in REMOVED:
            said = f"{kind} {name!r} {REMOVAL}"
        super().__init__(f"{place}: {said}" if place else said)
        self._arguments = (kind, name, choices, place)

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, str, list[str], str]]:
        # Errors come back from worker processes pickled.
        return type(self), self._arguments


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Suggest the most similar choice, as an addition to a message about an unknown name; empty if none is similar.

    >>> did_you_mean("vlue", ["exact", "vleu"])
    " (did you mean 'vleu'?)"
    """
    near = get_close_matches(name, list(choices), n=1) if isinstance(name, str) else []
    return f" (did you mean {near[0]!r}?)" if near else ""


@contextmanager
def keys_named(place: Callable[[SoftbleuError], str]) -> Iterator[None]:
    """Spell parameters in errors as keys, for settings that were read from text at a `place`.

    >>> with keys_named(lambda error: "small.toml, [settings]"):
    ...     raise InputError(Parameter("order"), " must lie between 1 and 16, not 0")
    Traceback (most recent call last):
    softbleu.errors.InputError: small.toml, [settings]: order must lie between 1 and 16, not 0
    """
    try:
        yield
    except SoftbleuError as error:
        if not error.parameters:
            raise
        raise type(error)(f"{place(error)}: {error}") from error


def known_name(kind: str, name: str, valid: Iterable[_Name]) -> _Name:
    """Find a name among the valid ones, in upper or lower case.

    Raises `UnknownNameError`: it is none of them.

    >>> known_name("tokenizer", "13A", ["none", "13a"])
    '13a'
    """
    choices = list(valid)
    if name in choices:
        return choices[choices.index(name)]
    for choice in choices if isinstance(name, str) else ():
        if choice.lower() == name.lower():
            return choice
    raise UnknownNameError(kind, name, choices)
