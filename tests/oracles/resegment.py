"""The cheapest cuts of an output, by trying all pieces of it for each segment, compared by plain edit distance."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement

from softbleu.corpora.resegment import GAP, OTHER, RELATED, SPOKEN, UNBEGUN, UNENDED, UNLIKE


def is_mark(token: str) -> bool:
    return not token[0].isalnum()


def substitution(one: str, other: str, spoken: bool) -> int:
    if one == other:
        return 0
    if one.casefold()[:4] == other.casefold()[:4]:
        return RELATED
    return SPOKEN * spoken + (OTHER if is_mark(one) == is_mark(other) else UNLIKE)


@cache
def distance(one: tuple[str, ...], other: tuple[str, ...], spoken: bool = False) -> int:
    @cache
    def rest(i: int, j: int) -> int:
        if i == len(one) or j == len(other):
            return GAP * (len(one) - i + len(other) - j)
        return min(
            substitution(one[i], other[j], spoken) + rest(i + 1, j + 1), GAP + rest(i + 1, j), GAP + rest(i, j + 1)
        )

    return rest(0, 0)


def joint(output: Sequence[str], cut: int, before: Sequence[Sequence[str]], behind: Sequence[Sequence[str]]) -> int:
    cost = 0
    if cut and all(text and is_mark(text[-1]) for text in before) and not is_mark(output[cut - 1]):
        cost += UNENDED
    small = any(text and text[0][0].islower() for text in behind)
    if cut < len(output) and behind and not small and output[cut][0].islower():
        cost += UNBEGUN
    return cost


def cost_of(
    output: Sequence[str],
    cuts: Sequence[int],
    references: Sequence[Sequence[tuple[str, ...]]],
    spoken: bool = False,
) -> int:
    """The cost of cuts: places before tokens, from 0 to the end."""
    total = 0
    for number, texts in enumerate(references):
        piece = tuple(output[cuts[number] : cuts[number + 1]])
        behind = references[number + 1] if number + 1 < len(references) else ()
        total += min(distance(piece, text, spoken) for text in texts) + joint(output, cuts[number + 1], texts, behind)
    return total


def least_cost(output: Sequence[str], references: Sequence[Sequence[tuple[str, ...]]]) -> int:
    """The least cost of all cuts."""
    size = len(output)
    inner = combinations_with_replacement(range(size + 1), len(references) - 1)
    return min(cost_of(output, (0, *cuts, size), references) for cuts in inner)


def spoken_cuts(
    output: Sequence[str], references: Sequence[Sequence[tuple[str, ...]]], floors: Sequence[int]
) -> tuple[int, ...]:
    """The cheapest cuts of speech, the latest of them; no segment has words that were given before it began."""
    size = len(output)
    every = combinations_with_replacement(range(size + 1), len(references) - 1)
    allowed = [
        (0, *cuts, size) for cuts in every if all(cut >= least for cut, least in zip(cuts, floors[1:], strict=True))
    ]
    costs = [cost_of(output, cuts, references, True) for cuts in allowed]
    best = [cuts[::-1] for cuts, cost in zip(allowed, costs, strict=True) if cost == min(costs)]
    return max(best)[::-1]
