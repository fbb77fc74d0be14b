"""Challenge sets: texts in which one change by rule makes another meaning, beside a text that says what is meant.

The rules know English: `english.toml` has their words. They know no grammar. `make.py` measures metrics by such sets;
the recipe of the heads of `trained` (`heads/recipe/`) spoils candidates by the same rules.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from softbleu.corpora.grammar import Chance

Rewrite = tuple[int, int, Sequence[str]]  # First word, the word behind the last one, and what stands there then
_WORD = re.compile(r"([^\w$€£%]*)(.*?)((?:['’]s)?[^\w$€£%]*)")
_NUMBER = re.compile(r"[$€£]?\d[\d.,:]*%?")
_APART, _NAMES_APART = 6, 50  # So many places are words, and names, apart that change places, at most


class Challenge(NamedTuple):
    """A text that says what the reference says, and one that does not."""

    change: str
    reference: str
    good: str
    bad: str


@cache
def _tables() -> Mapping[str, Any]:
    tables = tomllib.loads(Path(__file__).with_name("english.toml").read_text(encoding="utf-8"))
    return tables | {name: frozenset(tables[name].split()) for name in ("function", "titles")}


@cache
def _groups(kind: str) -> Mapping[str, list[str]]:
    """Words of a kind, and signs before numbers, and of each one those that replace it."""
    others: dict[str, list[str]] = {}
    for group in _tables()[kind]["groups"]:
        for word in group:
            others.setdefault(word, []).extend(group)
    return others


@dataclass(frozen=True)
class SplitText:
    """A text as words, each with the signs before and behind it."""

    words: tuple[str, ...]
    parts: tuple[tuple[str, str, str], ...]
    cores: tuple[str, ...]  # Words without signs
    small: frozenset[str]  # The same in lower case
    behind: tuple[str, ...]  # Signs behind each word; of signs alone themselves

    @classmethod
    def of(cls, text: str) -> SplitText:
        """Split a text at whitespace, and signs off its words.

        >>> SplitText.of('He said: "No."').parts
        (('', 'He', ''), ('', 'said', ':'), ('"', 'No', '."'))
        """
        words = tuple(text.split())
        parts = tuple((split[1], split[2], split[3]) for split in map(_WORD.fullmatch, words) if split is not None)
        cores = tuple(core for _, core, _ in parts)
        behind = tuple(after if core else before for before, core, after in parts)
        return cls(words, parts, cores, frozenset(map(str.lower, cores)), behind)

    @cached_property
    def starts(self) -> frozenset[int]:
        """Places of first words of sentences."""
        return frozenset({0} | {place + 1 for place, signs in enumerate(self.behind) if set(signs) & set(".!?:")})

    def joined(self, place: int, other: int) -> bool:
        """Whether nothing parts two words: no end of a sentence, comma, "and" or "or"."""
        between = {core.lower() for core in self.cores[place:other]}
        return not (between & {"and", "or", "&"} or set("".join(self.behind[place:other])) & set(".!?:,;"))

    def signed(self, core: str, place: int) -> str:
        """Write a word with the signs of the one that stands there."""
        before, _, after = self.parts[place]
        return f"{before}{core}{after}"


@dataclass(frozen=True)
class WordPool:
    """Words of which one is drawn."""

    words: Sequence[str]

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """Where each word stands, in lower case."""
        places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            places.setdefault(word.lower(), []).append(place)
        return places

    def drawn(self, chance: Chance, taken: frozenset[str]) -> Iterator[str]:
        """Draw one that is none of these, if there is one; the names of a corpus are many, those taken few."""
        skipped = sorted(place for word in self.places.keys() & taken for place in self.places[word])
        if free := len(self.words) - len(skipped):
            at = chance.below(free)
            for place in skipped:
                at += place <= at
            yield self.words[at]


@dataclass(frozen=True)
class Spoiler:
    """A text to be changed, the one beside it, names of the corpus, and chance: all that a rule may look at."""

    line: SplitText
    beside: SplitText
    known: Mapping[str, WordPool]  # Names, and of each one those that are written alike
    chance: Chance

    @cached_property
    def names(self) -> list[int]:
        """Places of names."""
        return [place for place, core in enumerate(self.line.cores) if core in self.known]

    @cached_property
    def content(self) -> list[int]:
        """Places of small words that have a meaning of their own."""
        cores, small = enumerate(self.line.cores), _tables()["function"]
        return [place for place, core in cores if core.isalpha() and core.islower() and core not in small]

    @cached_property
    def taken(self) -> frozenset[str]:
        """Words of both texts, in lower case."""
        return self.line.small | self.beside.small

    def pick(self, options: WordPool) -> Iterator[str]:
        """Draw one whose words are not in both texts already: it would come nearer to what is meant."""
        return options.drawn(self.chance, self.taken)

    def put(self, place: int, core: str) -> Rewrite:
        """Replace a word."""
        return place, place + 1, [self.line.signed(core, place)]

    def replace(self, place: int, options: WordPool) -> Iterator[Rewrite]:
        """Replace a word by one of these, if there is one that neither text has."""
        yield from (self.put(place, core) for core in self.pick(options))

    def in_group(self, groups: Mapping[str, Sequence[str]]) -> Iterator[Rewrite]:
        """Replace a word by another one of its group."""
        for place, core in enumerate(self.line.cores):
            others = groups.get(core) or [cased(word, core) for word in groups.get(core.lower(), ())]
            if others := others or [sign + core[1:] for sign in groups.get(core[:1], ())]:
                yield from self.replace(place, WordPool(others))

    def exchange(self, places: Sequence[int], most: int) -> Iterator[Rewrite]:
        """Let two words change places that are no neighbours; their signs stay."""
        line = self.line
        for at, place in enumerate(places):
            for other in places[at + 1 : at + 1 + most]:
                one, two = line.cores[place], line.cores[other]
                if 1 < other - place <= most and one.lower() != two.lower() and line.joined(place, other):
                    yield (
                        place,
                        other + 1,
                        (line.signed(two, place), *line.words[place + 1 : other], line.signed(one, other)),
                    )

    def changed(self, rewrites: Sequence[Rewrite]) -> str | None:
        """The text with one of these, drawn; None without any, or if it would be the text beside it, or as it was."""
        if not rewrites:
            return None
        start, end, told = rewrites[self.chance.below(len(rewrites))]
        words = *self.line.words[:start], *told, *self.line.words[end:]
        return None if words in (self.line.words, self.beside.words) else " ".join(words)


def cased(word: str, like: str) -> str:
    """Write a word as another one is: with a capital, in capitals, or small."""
    return word.upper() if like.isupper() and len(like) > 1 else word.capitalize() if like[:1].isupper() else word


def _negation(spoiler: Spoiler) -> Iterator[Rewrite]:
    """Deny what is said, or say what is denied."""
    line, table = spoiler.line, _tables()["negation"]
    verbs, perfect, participles = table["verbs"], table["perfect"], tuple(table["participles"])
    others = table["others"] | {contracted: verb for verb, contracted in verbs.items() if contracted}
    cores = [*(core.replace("’", "'").lower() for core in line.cores), ""]
    for place, (core, after) in enumerate(pairwise(cores)):
        if core in others:
            yield spoiler.put(place, cased(others[core], line.cores[place]))
        elif after == "not":
            yield place, place + 2, [line.words[place] + line.behind[place + 1]]
        elif place in line.starts or line.words[place] != core or not after:
            continue
        elif core in verbs and (core not in perfect or after.endswith(participles)):
            contracted = spoiler.chance.below(2) and verbs[core]
            yield place, place + 1, [contracted] if contracted else [core, "not"]


def _numbers(spoiler: Spoiler) -> Iterator[Rewrite]:
    """Change a digit, or a number in words."""
    yield from spoiler.in_group(_groups("numbers"))
    for place, core in enumerate(spoiler.line.cores):
        if _NUMBER.fullmatch(core):
            digits = [at for at, sign in enumerate(core) if sign.isdecimal()]
            at = digits[spoiler.chance.below(len(digits))]
            yield from spoiler.replace(
                place, WordPool([f"{core[:at]}{digit}{core[at + 1 :]}" for digit in range(1, 10)])
            )


def _dropped(spoiler: Spoiler) -> Iterator[Rewrite]:
    """Leave out a word, or what follows a comma; the other text has it, or half of its words."""
    line = spoiler.line
    content = [place for place in spoiler.content if line.cores[place] in spoiler.beside.small]
    yield from ((place, place + 1, ()) for place in content if line.words[place] == line.cores[place])
    for place in (comma for comma, signs in enumerate(line.behind) if "," in signs):
        end = min((later for later in line.starts if later > place), default=len(line.words))
        said = [later for later in spoiler.content if place < later < end]
        if said and 2 * len({*said} & {*content}) >= len(said):
            before, core, _ = line.parts[place]
            yield place, end, f"{before if core else ''}{core}{line.behind[end - 1]}".split()


def _added(spoiler: Spoiler) -> Iterator[Rewrite]:
    """Say something more at the end of a sentence."""
    for place, (before, core, after) in enumerate(spoiler.line.parts):
        if "." in spoiler.line.behind[place]:
            for phrase in spoiler.pick(WordPool(_tables()["added"]["phrases"].strip().splitlines())):
                told = f"{before}{core} {phrase}{after}" if core else f"{phrase} {before}"
                yield place, place + 1, told.split()


CHANGES: dict[str, Callable[[Spoiler], Iterator[Rewrite]]] = {
    "negation": _negation,
    "numbers": _numbers,
    "units": lambda spoiler: spoiler.in_group(_groups("units")),
    "names": lambda spoiler: (
        rewrite
        for place in spoiler.names
        for rewrite in spoiler.replace(place, spoiler.known[spoiler.line.cores[place]])
    ),
    "roles": lambda spoiler: spoiler.exchange(spoiler.names, _NAMES_APART),
    "antonyms": lambda spoiler: spoiler.in_group(_groups("antonyms")),
    "pronouns": lambda spoiler: spoiler.in_group(_groups("pronouns")),
    "order": lambda spoiler: spoiler.exchange(spoiler.content, _APART),
    "dropped": _dropped,
    "added": _added,
    "case": lambda spoiler: (spoiler.put(place, spoiler.line.cores[place].lower()) for place in spoiler.names),
}
"""Ways to change what a text says: each yields edits, of which one is drawn."""


def make_challenges(
    candidates: Sequence[str],
    references: Sequence[str],
    changes: Iterable[str] = tuple(CHANGES),
    *,
    count: int = 500,
    seed: int = 0,
    spoil: str = "candidate",
) -> Iterator[Challenge]:
    """Make sets of pairs, change by change, of lines in a drawn order; the same seed gives the same sets.

    Passed over are lines of which both texts are the same, or one is empty, and a reference that was there before.

    Parameters
    ----------
    candidates, references
        Texts that say the same in other words, line by line.
    changes
        Names of `CHANGES`.
    count
        Pairs of each set, if as many lines allow the change.
    seed
        Seed of the draws.
    spoil
        `candidate`, or `reference`: the text that is changed. A changed reference is nearer to it in spelling.

    Examples
    --------
    >>> good, reference = ["Ann saw 12 of the old ships ."], ["Ann has seen 12 old ships ."]
    >>> [challenge.bad for challenge in make_challenges(good, reference, ("antonyms", "dropped"))]
    ['Ann saw 12 of the young ships .', 'Ann saw 12 of the old .']
    """
    texts = {
        SplitText.of(reference): SplitText.of(good) for good, reference in zip(candidates, references, strict=True)
    }
    usable = [both for both in texts.items() if all(line.parts for line in both) and both[0] != both[1]]
    known, draw = _names_of(line for both in usable for line in both), Chance(seed)
    usable.sort(key=lambda _: draw.next())
    for change in changes:
        chance, made = Chance(seed), 0
        for reference, good in usable:
            line, beside = (good, reference) if spoil == "candidate" else (reference, good)
            spoiler = Spoiler(line, beside, known, chance)
            if made == count:
                break
            if (bad := spoiler.changed(list(CHANGES[change](spoiler)))) is not None:
                made += 1
                yield Challenge(change, " ".join(reference.words), " ".join(good.words), bad)


def spoil_each(candidates: Sequence[str], references: Sequence[str], seed: int = 0) -> Iterator[str]:
    """Change each candidate once, by the rule of those that fit it which was used least; where none fits, it stays.

    Parameters
    ----------
    candidates
        Texts to be changed.
    references
        The text beside each, whose words are not put in.
    seed
        Seed of the draws.

    Examples
    --------
    >>> list(spoil_each(["He saw 12 old ships ."], ["He has seen 12 old ships ."]))
    ['He saw 14 old ships .']
    """
    pairs = [(SplitText.of(line), SplitText.of(beside)) for line, beside in zip(candidates, references, strict=True)]
    known, chance = _names_of(line for both in pairs for line in both), Chance(seed)
    used = dict.fromkeys(CHANGES, 0)
    for text, (line, beside) in zip(candidates, pairs, strict=True):
        spoiler = Spoiler(line, beside, known, chance)
        fitting = {name: rewrites for name, rule in CHANGES.items() if (rewrites := list(rule(spoiler)))}
        name = min(fitting, key=used.__getitem__, default=None)
        bad = None if name is None else spoiler.changed(fitting[name])
        if name is not None and bad is not None:
            used[name] += 1
        yield text if bad is None else bad


def _names_of(lines: Iterable[SplitText]) -> Mapping[str, WordPool]:
    """Words with a capital inside a sentence that are never small; by word those with as many of them."""
    small, inner = set(_tables()["function"]), set[str]()
    for line in lines:
        small.update(filter(str.islower, line.cores))
        inner.update(core for place, core in enumerate(line.cores) if place not in line.starts and core[:1].isupper())
    names = [core for core in sorted(inner - _tables()["titles"]) if core.isalpha() and len(core) > 1]
    names = [core for core in names if core.lower() not in small]
    pools = {capitals: WordPool([core for core in names if core.isupper() == capitals]) for capitals in (False, True)}
    return {core: pools[core.isupper()] for core in names}


def write_challenges(challenges: Iterable[Challenge]) -> Iterator[str]:
    """Write lines of direct assessment: of each pair the good text with 1, and the bad one with 0.

    The set is the direction, and the reference stands for the source: both texts of a pair are of one segment.
    """
    yield "LP\tsource\ttranslation\treference\tHUMAN_score\n"
    for change, reference, good, bad in challenges:
        for text, score in ((good, 1), (bad, 0)):
            yield "\t".join([change, reference, text, reference, f"{score}\n"])
