"""Words of a command line: options and their values, habits of other programs, spellings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softbleu.cli.settings import NUMBERS, flags_of, metavar_of
from softbleu.errors import InputError
from softbleu.io.arguments import read_number

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


def habit(option: str) -> str:
    """Return the option to write for one of another program; empty if it is unknown.

    >>> habit("--num_workers"), habit("-s")
    ('write --jobs N (-j)', '')
    """
    return _habits().get(option.lower().replace("_", "-") if option.startswith("--") else option, "")


def _check_habits(words: Sequence[str]) -> None:
    """Check that the first of two words is no option of another program: `-tok`, or `-s exp`, with its value."""
    letters, _, _ = words[0].partition("=")
    if letters.startswith("--"):
        return
    if len(letters) > 2 and (hint := habit(letters)) and not Path(letters[2:]).exists():
        raise InputError(f"No such option: {letters}; {hint}")
    if len(letters) != 2 or len(words) == 1:
        return
    for use in [each.removeprefix(f"{letters} ") for each in _habits() if each.startswith(f"{letters} ")]:
        there = Path(words[1]).is_file()
        if there if use == "FILE" else not there and fnmatchcase(words[1], use):
            raise InputError(f"{letters} {words[1]} means something else here; {habit(f'{letters} {use}')}")


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


def parse_words(
    options: Mapping[str, Setting], words: Sequence[str], find: Callable[[str], Setting] | None = None
) -> Iterator[tuple[str, Setting | None, str]]:
    """Read options, each with one value (of a flag: nothing), and other words, which have no option.

    Values of an option that takes several go up to the next option; `--` ends the options. `options` are found by
    spelling, or else `find` finds them. Raises `InputError`: a word behind no option, where a
    system or a reference may be meant.
    """
    behind, rest = "", [*words]
    while rest:
        word = rest.pop(0)
        if is_value(word):
            if not behind and "--candidate" in options:
                raise InputError(
                    f"unexpected argument {word!r}: name systems with -c and references with -r, as in "
                    "-c SYSTEM1 SYSTEM2 -r REFERENCE"
                )
            yield behind, options[behind] if behind else None, word
            continue
        if word == "--":
            yield from (("", None, word) for word in rest)
            return
        _check_habits([word, *rest[:1]])
        name, value = split_option(word)
        option = options[name] if name in options or find is None else find(name)
        behind = name if option.several else ""
        if option.types == (bool,):
            if word.startswith("--") and value:
                raise InputError(f"Option {name!r} does not take a value.")
            rest[:0] = [f"-{value}"] if value else []
            yield name, option, ""
            continue
        if not value and not rest:
            raise InputError(f"Option {name!r} requires an argument.")
        # Any word is the value of an option that lacks one.
        yield name, option, (value.removeprefix("=") if word.startswith("--") else value) if value else rest.pop(0)


def _value_of(option: Setting, spelling: str, word: str, see: str) -> object:
    """Make the value of an option of a word."""
    if option.types == (bool,):
        return not any(spelling in flag.split("/")[1:] for flag in flags_of(option))
    if option.choices or option.types not in NUMBERS:
        return word
    try:
        return read_number(option.types[0], word)
    except ValueError:
        said = f"{' / '.join(map(repr, flags_of(option)))}: {word!r} is not {NUMBERS[option.types][0]}"
        raise InputError(f"Invalid value for {said}{see}") from None


def option_values(
    declared: Collection[Setting], read: Iterable[tuple[str, Setting | None, str]], see: str
) -> dict[str, object]:
    """Make values of options by field, words without an option being the arguments.

    Raises `InputError`: a value is no number, or an option or argument is missing; `see` says where help is.
    """
    given: dict[str, Any] = {}
    empty: Setting | None = None
    arguments = [option for option in declared if option.argument]
    left: list[str] = []
    for spelling, named, word in read:
        option = named or (arguments[0] if arguments else None)
        if option is None:
            left.append(word)
            continue
        value = _value_of(option, spelling, word, see)
        empty = option if option.file and not word else empty
        given[option.field] = (*given.get(option.field, ()), value) if option.several else value
        if named is None and not option.several:
            del arguments[0]
    for option in sorted(declared, key=lambda option: not option.argument):
        if option.default is MISSING and option.field not in given:
            spelt = repr(metavar_of(option)) if option.argument else " / ".join(map(repr, flags_of(option)))
            raise InputError(f"Missing {'argument' if option.argument else 'option'} {spelt}.{see}")
    if left:
        raise InputError(f"Got unexpected extra argument(s) ({' '.join(left)}){see}")
    if empty is not None:
        # It would stand for this folder, or for no option at all.
        raise InputError(
            f"{empty.name if empty.argument else f'--{empty.key}'}: the name of a file or folder is empty"
        )
    return given
