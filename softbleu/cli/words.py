"""Words of a command line before they are parsed: options and their values, habits of other programs, spellings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from softbleu.errors import InputError

if TYPE_CHECKING:
    from softbleu.config.declare import Setting

HELP_ALL = "--help-all"
HELP = ("-h", "--help", HELP_ALL)
NAMING = ("-m", "--metric", "--matcher")  # Options whose values have settings of their own
OptionValues = Mapping[str, Sequence[str]]  # Of a command line, by the spelling of the option


def is_value(word: str) -> bool:
    """Return whether a word is a value and no option: so are a number below 0, and `-`, standard input."""
    if not word.startswith("-") or word == "-":
        return True
    try:
        float(word)
    except ValueError:
        return False
    return True


def split_option(word: str) -> tuple[str, str]:
    """Split a word into an option and the value in the same word.

    >>> split_option("--order=2"), split_option("-n2"), split_option("--order")
    (('--order', '=2'), ('-n', '2'), ('--order', ''))
    """
    name, equals, value = word.partition("=")
    return (name, equals + value) if word.startswith("--") else (word[:2], word[2:])


def values_of(words: Iterable[str]) -> dict[str, list[str]]:
    """Find options and their values, which go up to the next option.

    >>> values_of(["-m", "bleu", "vleu(threshold=0.8)", "--order=2", "-1"])
    {'-m': ['bleu', 'vleu(threshold=0.8)'], '--order': ['2', '-1']}
    """
    found: dict[str, list[str]] = {}
    values: list[str] = []
    for word in takewhile(lambda word: word != "--", words):
        if is_value(word):
            values.append(word)
            continue
        name, value = split_option(word)
        values = found.setdefault(name, [])
        values += [value.removeprefix("=")] if value else []
    return found


@cache
def _habits() -> dict[str, str]:
    rows = (line.partition(": ") for line in Path(__file__).with_name("habits.txt").read_text("utf-8").splitlines())
    said = {names: f"{'write ' * what.startswith(('-', 'softbleu'))}{what}" for names, _, what in rows if what}
    return {name: what for names, what in said.items() for name in names.split(", ")}


def habit(option: str, value: str | None = None) -> str:
    """Return the option to write for one of another program, optionally with its value; empty if it is unknown.

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
    """Check that the first of two words is no option of another program: `-tok`, or `-s exp`, with its value."""
    letters, _, _ = words[0].partition("=")
    if letters.startswith("--"):
        return
    if len(letters) > 2 and (hint := habit(letters)) and not Path(letters[2:]).exists():
        raise InputError(f"No such option: {letters}; {hint}")
    if len(letters) == 2 and len(words) > 1 and (hint := habit(letters, words[1])):
        raise InputError(f"{letters} {words[1]} means something else here; {hint}")


def meant(option: str, flags: Iterable[str]) -> list[str]:
    """Find the option that an unknown spelling stands for: the only one it begins, or the most similar; else none.

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


def spread_values(
    options: Mapping[str, Setting], words: Sequence[str], unknown: Callable[[str], Exception]
) -> Iterator[str]:
    """Repeat an option before each of its values, which go up to the next option, if it takes several.

    To the parser `-c A B C` is `-c A -c B -c C`; letters of flags are taken apart, and earlier spellings replaced.
    `options` are found by spelling; `unknown` makes the error for a spelling that none has; `--` ends the options.
    Raises `InputError`: a word behind no option, where a system or a reference may be meant.
    """
    behind, awaited, rest = "", False, [*words]
    while rest:
        word = rest[0]
        if awaited:
            # The parser takes any word here.
            awaited = False
            yield word
        elif is_value(word):
            if not behind and "--candidate" in options:
                raise InputError(
                    f"unexpected argument {word!r}: name systems with -c and references with -r, as in "
                    "-c SYSTEM1 SYSTEM2 -r REFERENCE"
                )
            yield from (behind, word) if behind else (word,)
        elif word == "--":
            yield from rest
            return
        else:
            _check_habits(rest[:2])
            name, value = split_option(word)
            option = options.get(name)
            if option is None:
                raise unknown(name)
            if name in option.earlier:
                name = f"--{option.name.replace('_', '-')}"
            flag = option.types == (bool,)
            if flag and len(word) > 2 and not word.startswith("--"):
                rest[0:1] = [name, f"-{value}"]
                continue
            behind = name if option.several else ""
            awaited = not flag and not value
            yield name + value
        del rest[0]
