"""The words behind the name of a command: what they name, and how they are spread for the parser."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from softbleu.errors import InputError

HELP = ("-h", "--help")
EARLIER = {"--long-signature": "--long", "--test-seed": "--seed", "--remedy": "--variant"}
"""Spellings of earlier versions, which help does not show."""
_NAMING = {"-m": "metrics", "--metric": "metrics", "--matcher": "matchers", "--tokenize": "tokenizers"}


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
                    f"{word!r} is behind no option: systems go behind -c and references behind -r, as in "
                    "-c SYSTEM1 SYSTEM2 -r REFERENCE"
                )
            yield from (behind, word) if behind else (word,)
        else:
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
