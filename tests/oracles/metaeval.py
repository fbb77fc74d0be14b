"""Literal versions of what people and metrics are compared by: one comparison at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Row = tuple[int, str, str, int, str]


def expected_wins(rows: Sequence[Row]) -> dict[str, float]:
    names = sorted({name for row in rows for name in row[1:3]})
    scores = {}
    for name in names:
        shares = []
        for other in names:
            wins = losses = 0
            for _, one, two, outcome, _ in rows:
                if {one, two} != {name, other} or outcome == 0 or name == other:
                    continue
                won = outcome if one == name else -outcome
                wins += won == 1
                losses += won == -1
            if wins + losses:
                shares.append(wins / (wins + losses))
        scores[name] = sum(shares) / len(shares) if shares else float("nan")
    return scores


def tau(rows: Sequence[Row], segments: Mapping[str, Sequence[float]], variant: str) -> float | None:
    above = below = 0
    for segment, one, two, outcome, _ in rows:
        mine, theirs = segments[one][segment], segments[two][segment]
        said = 1 if mine > theirs else -1 if mine < theirs else 0
        if outcome == 0:
            if variant == "noties":
                continue
            above += said == 0
        elif said:
            above += 1 if said == outcome else -1
        below += 1
    return above / below if below else None


def kappa(rows: Sequence[Row], one: str, other: str) -> tuple[float, float] | None:
    """Share of equal outcomes, and that of chance, of all that both said of the same two outputs."""
    same = total = 0
    said: list[int] = []
    for segment, a, b in sorted({(row[0], *sorted(row[1:3])) for row in rows}):
        outcomes: dict[str, list[int]] = {one: [], other: []}
        for number, first, second, outcome, who in rows:
            if number == segment and {first, second} == {a, b} and who in outcomes:
                outcomes[who].append(outcome if first == a else -outcome)
        if one == other:
            pairs = [(x, y) for place, x in enumerate(outcomes[one]) for y in outcomes[one][place + 1 :]]
        else:
            pairs = [(x, y) for x in outcomes[one] for y in outcomes[other]]
        same += sum(x == y for x, y in pairs)
        total += len(pairs)
        if pairs:
            said += outcomes[one] + (outcomes[other] if one != other else [])
    if not total:
        return None
    return same / total, sum((said.count(outcome) / len(said)) ** 2 for outcome in (-1, 0, 1))
