"""Networks by enumeration: every path, every order of the candidate's words."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache

from softbleu.lattices import NetworkArc, WordNetwork


def all_paths(network: WordNetwork) -> Iterator[tuple[NetworkArc, ...]]:
    """Arcs of every path."""
    by_state: dict[int, list[NetworkArc]] = {}
    for arc in network.arcs():
        by_state.setdefault(arc.source, []).append(arc)

    def onward(state: int) -> Iterator[tuple[NetworkArc, ...]]:
        if state == network.states - 1:
            yield ()
        for arc in by_state.get(state, ()):
            for rest in onward(arc.target):
                yield arc, *rest

    yield from onward(0)


def words_of(path: Sequence[NetworkArc]) -> tuple[str, ...]:
    """The reference that a path spells."""
    return tuple(arc.word for arc in path if arc.word)


def all_texts(network: WordNetwork) -> set[tuple[str, ...]]:
    """Every different reference."""
    return {words_of(path) for path in all_paths(network)}


def edit_cost(
    candidate: Sequence[str],
    reference: Sequence[str],
    weights: dict[str, Fraction],
    *,
    extra: Fraction = Fraction(1),
    both: bool = False,
) -> Fraction:
    """Least cost of edits."""

    @cache
    def cost(place: int, taken: int) -> Fraction:
        ways = []
        if taken == len(candidate) and place == len(reference):
            return Fraction(0)
        if taken < len(candidate):
            superfluous = extra * weights[candidate[taken]]
            ways.append(superfluous + cost(place, taken + 1))
        if place < len(reference):
            lost = weights[reference[place]]
            ways.append(lost + cost(place + 1, taken))
            if taken < len(candidate):
                same = candidate[taken] == reference[place]
                price = Fraction(0) if same else (superfluous + lost if both else max(superfluous, lost))
                ways.append(price + cost(place + 1, taken + 1))
        return min(ways)

    return cost(0, 0)


def best_ratio(
    candidate: Sequence[str], network: WordNetwork, weights: dict[str, Fraction], **prices: object
) -> Fraction | None:
    """Least cost of a path over its weight; None if no path has a word."""
    ratios = []
    for path in all_paths(network):
        length = sum((weights[word] for word in words_of(path)), Fraction(0))
        own = sum((_hundredths(arc.cost) * (weights[arc.word] if arc.word else 1) for arc in path), Fraction(0))
        if length:
            ratios.append((own + edit_cost(candidate, words_of(path), weights, **prices)) / length)  # type: ignore[arg-type]
    return min(ratios, default=None)


def _hundredths(cost: float) -> Fraction:
    return Fraction(round(100 * cost), 100)
