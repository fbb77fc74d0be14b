"""Literal versions of what people and metrics are compared by: one comparison at a time."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

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
    apart = ((segments[one][segment] - segments[two][segment], outcome) for segment, one, two, outcome, _ in rows)
    return tau_of_signs([(sign(difference), outcome) for difference, outcome in apart], variant)


def sign(number: float) -> int:
    return int(number > 0) - int(number < 0)


def beside_others(rows: Sequence[Row], judge: str | None) -> list[tuple[int, int]]:
    """List the outcomes of one judge, or of each, for two outputs, and the others' majority."""
    found = []
    for segment, one, two, outcome, who in rows:
        others = [
            said if a == one else -said
            for number, a, b, said, other in rows
            if number == segment and {a, b} == {one, two} and other != who
        ]
        if others and judge in (None, who):
            found.append((outcome, sign(sum(others))))
    return found


def tau_of_signs(signs: Sequence[tuple[int, int]], variant: str) -> float | None:
    above = below = 0
    for said, outcome in signs:
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


def calibrated_accuracy(groups: Sequence[Sequence[tuple[int, float]]]) -> tuple[float, float]:
    """Greatest mean accuracy of groups of pairs (people's outcome, the metric's difference), and the tie threshold.

    As `tau_optimization` with `acc_23`: the thresholds are 0 and every absolute difference, the first of equals but
    for the last bits of sums.
    """
    best, chosen = -1.0, 0.0
    for epsilon in sorted({0.0} | {abs(difference) for group in groups for _, difference in group}):
        shares = []
        for group in groups:
            right = 0
            for people, difference in group:
                said = 0 if abs(difference) <= epsilon else 1 if difference > 0 else -1
                right += said == people
            shares.append(right / len(group))
        accuracy = sum(shares) / len(shares)
        if accuracy > best + 1e-12:
            best, chosen = accuracy, epsilon
    return best, chosen


def optimized_accuracy(rows: Sequence[Sequence[tuple[float, float]]]) -> tuple[float, float]:
    """The same averaged by item: of each item its outputs' scores by people and a metric."""
    groups = []
    for outputs in rows:
        pairs = combinations(outputs, 2)
        groups.append([(int(np.sign(one[0] - other[0])), one[1] - other[1]) for one, other in pairs])
    return calibrated_accuracy([group for group in groups if group])


def flip_p_value(one: Sequence[float], other: Sequence[float], flips: Sequence[Sequence[bool]]) -> float:
    """Share of exchanges of some segments after which the first leads by more, and half of those by as much."""
    lead = sum(one) - sum(other)
    greater = 0.0
    for flip in flips:
        first = [b if exchanged else a for a, b, exchanged in zip(one, other, flip, strict=True)]
        second = [a if exchanged else b for a, b, exchanged in zip(one, other, flip, strict=True)]
        apart = sum(first) - sum(second) - lead
        greater += (apart > 1e-9) + (abs(apart) <= 1e-9) / 2
    return greater / len(flips)


def soft_pairwise_accuracy(
    people: Sequence[Sequence[float]], metric: Sequence[Sequence[float]], flips: Sequence[Sequence[bool]]
) -> float:
    """1 - mean |p of people - p of the metric| over all pairs of systems; scores are (systems, segments)."""
    errors = []
    for one, other in combinations(range(len(people)), 2):
        said = flip_p_value(people[one], people[other], flips)
        errors.append(abs(said - flip_p_value(metric[one], metric[other], flips)))
    return 1 - sum(errors) / len(errors)


def span_scores(outputs: Sequence[tuple[int, Sequence[Any], Sequence[Any]]]) -> tuple[float, float, float]:
    """Precision, recall and F1 of spans in characters, as WMT's task of error spans has them (program of Tower).

    Of each output its length, the spans of a judge, and those predicted: start, end behind the last, severity.
    """
    right = predicted = marked = 0.0
    for length, judged, guessed in outputs:
        labels: list[dict[str, list[int]]] = [{name: [0] * (length + 1) for name in ("major", "minor")} for _ in "ab"]
        for label, spans in zip(labels, (judged, guessed), strict=True):
            for start, end, severity in spans:
                end = min(end, length)
                for place in range(start, end) if start != end else [start]:
                    label[severity][place] += 1
        ours, theirs = labels
        for place in range(length + 1):
            major, minor = ours["major"][place], ours["minor"][place]
            guessed_major, guessed_minor = theirs["major"][place], theirs["minor"][place]
            marked += bool(major or minor)
            predicted += bool(guessed_major or guessed_minor)
            if major and minor:
                right += bool(guessed_major or guessed_minor)
            elif major:
                right += 1 if guessed_major else 0.5 if guessed_minor else 0
            elif minor:
                right += 1 if guessed_minor else 0.5 if guessed_major else 0
    precision, recall = right / predicted if predicted else np.nan, right / marked if marked else np.nan
    return precision, recall, 2 * right / (predicted + marked) if predicted + marked else np.nan


def make_rating(beta: float, draws: float) -> Any:
    """TrueSkill by the package trueskill, a match at a time."""
    import trueskill

    world = trueskill.TrueSkill(mu=0.0, sigma=0.5, beta=beta, tau=0.0, draw_probability=draws)

    def rate(mean: Any, variance: Any, one: Any, other: Any, outcome: Any) -> None:
        for run, a, b, won in zip(one[0], one[1], other[1], outcome, strict=True):
            players = [(world.create_rating(mean[run, k], np.sqrt(variance[run, k])),) for k in (a, b)]
            rated = world.rate(players, ranks=[0, int(won)])
            for k, (rating,) in zip((a, b), rated, strict=True):
                mean[run, k], variance[run, k] = rating.mu, rating.sigma**2

    return rate
