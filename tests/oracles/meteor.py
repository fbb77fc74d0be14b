"""The alignment of METEOR 1.5 as its description reads: loops over words and phrases, paths as plain objects.

Imports nothing from softbleu. Words are alike as the caller says.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

Alike = Callable[[str, str], bool]


@dataclass(frozen=True)
class Match:
    """Words of the reference and of the candidate, as ranges of places, and the number of the stage."""

    reference: range
    candidate: range
    stage: int


@dataclass
class Path:
    matches: list[Match] = field(default_factory=list)
    candidate_words: int = 0
    reference_words: int = 0
    chunks: int = 0
    distance: int = 0
    open: bool = False

    @property
    def rank(self) -> tuple[int, int, int]:
        return -self.candidate_words - self.reference_words, self.chunks, self.distance

    def with_match(self, match: Match) -> "Path":
        ends = [(last.reference.stop, last.candidate.stop) for last in self.matches[-1:]]
        follows = self.open and ends == [(match.reference.start, match.candidate.start)]
        weight = 1 if match.stage == 0 else 0.5
        return replace(
            self,
            matches=[*self.matches, match],
            candidate_words=int(self.candidate_words + weight * len(match.candidate)),
            reference_words=int(self.reference_words + weight * len(match.reference)),
            chunks=self.chunks + (self.open and not follows),
            open=True,
        )

    def left(self) -> "Path":
        return replace(self, chunks=self.chunks + self.open, open=False)


def possible(
    candidate: Sequence[str], reference: Sequence[str], alike: Sequence[Alike], table: Sequence[tuple[str, str]]
) -> list[Match]:
    """All matches, in the order in which the search tries those that start at one word of the reference.

    `alike` says by stage (exact, stem, synonym) whether words match; exact comes first.
    """
    same = list(candidate) == list(reference)
    found = []
    for stage, are_alike in enumerate(alike[:1] if same else alike):
        for j, i in product(range(len(reference)), range(len(candidate))):
            if are_alike(candidate[i], reference[j]) and (stage == 0 or candidate[i] != reference[j]):
                found.append(Match(range(j, j + 1), range(i, i + 1), stage))
    if same:
        return found
    ours, theirs = phrases(candidate), phrases(reference)
    for place, (phrase, other) in product(theirs, table):
        if phrase == text(reference, place):
            found += [Match(place, mine, 3) for mine in ours if text(candidate, mine) == other]
    for mine, (phrase, other) in product(ours, table):
        if phrase == text(candidate, mine):
            found += [Match(place, mine, 3) for place in theirs if text(reference, place) == other]
    return found


def phrases(words: Sequence[str]) -> list[range]:
    return [range(i, k) for i in range(len(words)) for k in range(i + 1, len(words) + 1)]


def text(words: Sequence[str], place: range) -> str:
    return " ".join(words[place.start : place.stop])


def chosen(reference: Sequence[str], matches: Sequence[Match], beam: int = 40) -> list[Match]:
    """The matches that hold: those that no other overlaps, and the best path through the others."""
    alone = [one for one in matches if not any(overlap(one, other) for other in matches if other is not one)]
    paths = [Path()]
    for place in range(len(reference)):
        new: list[Path] = []
        here = [match for match in matches if match.reference.start == place]
        for path in paths:
            if any(place in match.reference for match in path.matches):
                new.append(path)
            elif here and here[0] in alone:
                new.append(path.with_match(here[0]))
            else:
                for match in here:
                    if not any(set(match.candidate) & set(taken.candidate) for taken in path.matches):
                        new.append(path.with_match(match))
                        # Of the path that was left, not of the one that was made: so the program has it.
                        path.distance += abs(place - match.candidate.start)
                new.append(path.left())
        paths = sorted(new, key=lambda path: path.rank)[:beam]
    return min((path.left() for path in paths), key=lambda path: path.rank).matches


def overlap(one: Match, other: Match) -> bool:
    return bool(set(one.reference) & set(other.reference) or set(one.candidate) & set(other.candidate))


def statistics(
    candidate: Sequence[str], reference: Sequence[str], matches: Sequence[Match], function: Callable[[str], bool]
) -> list[int]:
    """The 23 numbers of the program."""
    counts = [len(candidate), len(reference), sum(map(function, candidate)), sum(map(function, reference))]
    for stage, wanted in product(range(4), (False, True)):
        own = [match for match in matches if match.stage == stage]
        counts.append(sum(function(candidate[i]) == wanted for match in own for i in match.candidate))
        counts.append(sum(function(reference[j]) == wanted for match in own for j in match.reference))
    ends = {(match.reference.stop, match.candidate.stop) for match in matches}
    counts.append(sum((match.reference.start, match.candidate.start) not in ends for match in matches))
    counts.append(sum(len(match.candidate) for match in matches))
    counts.append(sum(len(match.reference) for match in matches))
    return counts
