"""Mixtures of metrics of corrections: chosen on FCE, or on all sets but one, and tried on the others.

python experiments/corrections/ensemble.py

`ensemble.toml` has the metrics that are mixed, how a mixture is chosen, and predictions. Writes ensemble.csv: a row
per mixture, set and measure, with 95% intervals of 1,000 samples of the segments. `way` is `pair`, `mean`, `ridge`,
or, for single metrics, `alone`. tau and `r within` are of single outputs within sentences. `errors win` is in per
cent of the sentences of GMEG. CoNLL-2014 has scores of outputs that no honest system writes, less that of the best
system, in standard deviations of the systems (one reference, as in gaming.csv). `pooled` takes sets as draws. Rows
named by a member are its weights.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product

import numpy as np
from controls import SOURCE as COPIED
from controls import Honest, all_edits, make_controls, with_noise
from make import (
    FLUENT,
    HERE,
    Set,
    conll14,
    conll_with_errors,
    counts_of,
    gmeg_judged,
    gmeg_with_errors,
    scores_of,
    seeda,
    write_rows,
)
from scipy.optimize import nnls

from softbleu.corpora.judgements import Comparisons
from softbleu.meta.pooling import bounds_of, pool

sys.path.insert(0, str(HERE.parent / "softness"))
from measures import tau, within

PLAN = tomllib.loads((HERE / "ensemble.toml").read_text(encoding="utf-8"))
EDITS, SOURCE = "number of edits", "source"
POOLS = {"bundled": [*PLAN["members"], EDITS, SOURCE]}
POOLS["SmolLM2"] = [*POOLS["bundled"], *PLAN["outside"]]
NAMES = POOLS["SmolLM2"]
GLEU = NAMES.index("gleu")
CONTROLS = ("union", "noise")
WIN_AT_MOST, ENOUGH, STEPS = 4.0, 0.002, 20
WORTH = (0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)
RATIOS = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1))


@dataclass(frozen=True, eq=False)
class Judged:
    """Scores of all members, and what judges said."""

    name: str
    systems: Sequence[str]  # Honest ones, and controls that are no one's
    scores: np.ndarray  # (members, systems, segments)
    honest: Sequence[str]
    comparisons: Comparisons
    values: np.ndarray | None = None  # What judges gave to the outputs of honest systems, where it is a number

    def of(self, *names: str) -> np.ndarray:
        """Scores of some systems: (members, systems, segments)."""
        return self.scores[:, [self.systems.index(name) for name in names]]

    @cached_property
    def spread(self) -> np.ndarray:
        """Standard deviation within sentences: (members,)."""
        honest = self.of(*self.honest)
        return np.asarray((honest - honest.mean(axis=1, keepdims=True)).std(axis=(1, 2)))

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Differences of members, (pairs, members), and their signs by judges; without judges' ties."""
        taken = self.comparisons.only(self.honest)
        taken = taken.at(taken.outcome != 0)
        scores = self.of(*taken.systems)
        return (scores[:, taken.first, taken.segment] - scores[:, taken.second, taken.segment]).T, taken.outcome

    @cached_property
    def spoilt(self) -> np.ndarray:
        """By how much the source exceeds that with errors: (segments, members)."""
        clean, spoilt = self.of("source", "source+error").transpose(1, 2, 0)
        return np.asarray(clean - spoilt)

    def errors_win(self, weights: np.ndarray) -> float:
        """In how many sentences the source with errors beats the source, in per cent."""
        return 100 * float(np.mean(self.spoilt @ weights < -1e-9))

    def keeps(self, weights: np.ndarray) -> bool:
        """Whether the controls of a half of GMEG are kept."""
        if "source+error" not in self.systems:
            return True
        means = dict(zip(self.systems, weights @ self.scores.mean(axis=2), strict=True))
        best = max(means[name] for name in self.honest)
        return self.errors_win(weights) <= WIN_AT_MOST and all(means[name] < best for name in CONTROLS)


def gmeg(kind: str) -> Judged:
    """One half of GMEG."""
    given, spoilt = gmeg_with_errors(kind)
    judged, honest, source = gmeg_judged(kind), given.honest, given.systems[COPIED]
    edited = zip(source, *(given.systems[name] for name in honest), strict=True)
    union = [all_edits(*lines) for lines in edited]
    noise = list(map(with_noise, range(len(source)), source))
    texts = given.with_systems({**given.systems, "source+error": spoilt, "union": union, "noise": noise})
    return judged_by(texts, honest, np.stack([judged[name] for name in honest]))


def judged_by(texts: Set, honest: Sequence[str], values: np.ndarray | None = None) -> Judged:
    """Score a set by all members."""
    metrics = PLAN["members"] | PLAN["outside"]
    tables = {table.name: table for table in scores_of(texts, [*metrics], metrics)}
    tables[EDITS] = counts_of(texts)[0]
    (tables[SOURCE],) = scores_of(replace(texts, references=(texts.source,)), ["bertscore"], metrics)
    scores = np.stack([np.stack([tables[name].segments[system] for system in texts.systems]) for name in NAMES])
    return Judged(texts.name, [*texts.systems], scores, honest, texts.comparisons, values)


def mean(sets: Sequence[Judged], members: Sequence[int]) -> np.ndarray:
    """Add members one by one, as `ensemble.toml` says: weights of all members."""
    spread = np.mean([one.spread for one in sets], axis=0)
    steps: list[tuple[float, np.ndarray]] = []
    total = np.zeros(len(NAMES))
    for _ in range(STEPS):
        tried = []
        for member in members:
            weights = total.copy()
            weights[member] += 1 / spread[member]
            if all(one.keeps(weights) for one in sets):
                tried.append((agreement(sets, weights), weights))
        if not tried:
            break
        steps.append(max(tried, key=lambda pair: pair[0]))
        total = steps[-1][1]
    best = max(agreed for agreed, _ in steps)
    return next(weights for agreed, weights in steps if agreed >= best - ENOUGH)


def pair(sets: Sequence[Judged], members: Sequence[int]) -> np.ndarray:
    """Take two members, as `ensemble.toml` says: weights of all members."""
    spread = np.mean([one.spread for one in sets], axis=0)
    best, agreed = np.zeros(len(NAMES)), -1.0
    for (one, other), (first, second) in product(combinations(members, 2), RATIOS):
        weights = np.zeros(len(NAMES))
        weights[[one, other]] = first / spread[one], second / spread[other]
        found = agreement(sets, weights)
        if found > agreed and all(judged.keeps(weights) for judged in sets):
            best, agreed = weights, found
    return best


def agreement(sets: Sequence[Judged], weights: np.ndarray) -> float:
    """Mean of tau over sets."""
    return float(np.mean([np.mean(np.sign(apart @ weights) * said) for apart, said in (one.pairs for one in sets)]))


def ridge(sets: Sequence[Judged], members: Sequence[int]) -> np.ndarray:
    """Fit weights to what judges said, as `ensemble.toml` says: weights of all members."""
    spread = np.mean([one.spread for one in sets], axis=0)[members]
    for worth in WORTH:
        square, right = 0.01 * np.eye(len(members)), np.zeros(len(members))
        for one in sets:
            apart, said = one.pairs
            parts = [(apart, said.astype(float), 1.0)]
            if "source+error" in one.systems:
                parts.append((one.spoilt, np.ones(len(one.spoilt)), worth))
            for columns, wanted, weight in parts:
                scaled = columns[:, members] / spread
                square += weight / len(sets) * scaled.T @ scaled / len(scaled)
                right += weight / len(sets) * scaled.T @ wanted / len(scaled)
        root = np.linalg.cholesky(square)
        weights = np.zeros(len(NAMES))
        weights[members] = nnls(root.T, np.linalg.solve(root, right))[0] / spread
        if all(one.keeps(weights) for one in sets):
            break
    return weights


@dataclass(frozen=True, eq=False)
class Mixture:
    """Weights, and the sets that they were chosen on."""

    pool: str
    way: str
    chosen_on: str
    weights: np.ndarray
    chosen: frozenset[str]


def mixtures(sets: Sequence[Judged]) -> Iterator[Mixture]:
    """Single metrics, and what is chosen on FCE or on all sets but one."""
    for place, name in enumerate(NAMES):
        yield Mixture("", "alone", name, np.eye(len(NAMES))[place], frozenset())
    choices = {
        "FCE": [sets[0]],
        **{f"all but {one.name}": [other for other in sets if other is not one] for one in sets},
    }
    for (kind, names), (title, chosen), choose in (
        (members, choice, way)
        for members in POOLS.items()
        for choice in choices.items()
        for way in (pair, mean, ridge)
    ):
        weights = choose(chosen, [NAMES.index(name) for name in names])
        yield Mixture(kind, choose.__name__, title, weights, frozenset(one.name for one in chosen))


def rows_of(made: Sequence[Mixture], one: Judged) -> Iterator[list[object]]:
    """Measure mixtures on a set that they were not chosen on."""
    made = [mixture for mixture in made if one.name not in mixture.chosen]
    mixed = np.stack([np.tensordot(mixture.weights, one.of(*one.honest), 1) for mixture in made])
    known = {"tau": tau(mixed, one.honest, one.comparisons.only(one.honest))}
    if one.values is not None:
        known["r within"] = within(mixed, one.values)
    for measure, sampled in known.items():
        for mixture, row in zip(made, sampled, strict=True):
            yield labelled(mixture, one.name, measure, row)
            yield labelled(mixture, one.name, f"{measure} less gleu", row - sampled[GLEU])
    if "source+error" in one.systems:
        for mixture in made:
            yield labelled(mixture, one.name, "errors win", np.array([one.errors_win(mixture.weights)]))


def labelled(mixture: Mixture, data: str, measure: str, sampled: np.ndarray) -> list[object]:
    """Return a row of a value and its interval."""
    ends = np.quantile(sampled[1:], [0.025, 0.975]).tolist() if len(sampled) > 1 else ["", ""]
    return [mixture.pool, mixture.way, mixture.chosen_on, data, measure, float(sampled[0]), *ends]


def controls(made: Sequence[Mixture], one: Judged) -> Iterator[list[object]]:
    """What outputs that no honest system writes have more than the best system."""
    for mixture in made:
        means = dict(zip(one.systems, mixture.weights @ one.scores.mean(axis=2), strict=True))
        honest = [means[name] for name in one.honest]
        for name in one.systems:
            if name not in one.honest:
                more = (means[name] - max(honest)) / np.std(honest)
                yield labelled(mixture, "CoNLL-2014", name, np.array([more]))


def pooled(rows: Sequence[Sequence[object]]) -> Iterator[list[object]]:
    """Differences from gleu over sets, which are draws; of mixtures, each chosen without the set."""
    found: dict[tuple[object, ...], list[tuple[float, float]]] = {}
    for kind, way, chosen_on, _, measure, value, low, high in rows:
        if measure == "tau less gleu" and chosen_on not in ("FCE", "gleu"):
            key = (kind, way, "others" if str(chosen_on).startswith("all but") else chosen_on)
            found.setdefault(key, []).append((float(str(value)), (float(str(high)) - float(str(low))) / 3.92))
    for key, values in found.items():
        made = pool(*zip(*values, strict=True), bounds_of("tau", difference=True))
        ends = ("" if end is None else end for end in (made.low, made.high))
        yield [*key, "pooled", "tau less gleu", made.mean, *ends]


def main() -> None:
    """Choose, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", action="store_true", help="score only")
    scored = vars(parser.parse_args())["scores"]
    conll, base = conll14(), seeda("sent")
    honest = {name: lines for name, lines in conll.systems.items() if name != "INPUT"}
    ((_, spoilt_source), _) = conll_with_errors()
    people = next(iter(conll.people.values()))
    made_up = make_controls(
        Honest(conll.texts.source or (), honest, max(honest, key=lambda n: people[n]), spoilt_source)
    )
    controls_of = {f"{name} {way}".strip(): lines for name, ways in made_up.items() for way, lines in ways.items()}
    gaming = replace(conll, references=("conll14/ref0.txt",), systems={**honest, **controls_of})
    sets = [gmeg("fce"), gmeg("wiki")]
    sets.append(replace(judged_by(base, [n for n in base.systems if n not in (*FLUENT, "INPUT")]), name="SEEDA"))
    sets.append(judged_by(conll, [*conll.systems]))
    spoilt = judged_by(gaming, [*honest])
    if scored:
        return
    made = [*mixtures(sets)]
    rows = [row for one in sets for row in rows_of(made, one)]
    rows += [*controls(made, spoilt), *pooled(rows)]
    rows += [
        labelled(mixture, "", name, np.array([weight]))
        for mixture in made
        if mixture.way != "alone"
        for name, weight in zip(NAMES, mixture.weights.tolist(), strict=True)
        if weight
    ]
    write_rows("ensemble", [["pool", "way", "chosen_on", "set", "measure", "value", "low", "high"], *rows])


if __name__ == "__main__":
    main()
