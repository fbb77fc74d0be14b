"""Measure what was predicted of sets.

python predict.py [--sets FILE …] [--predictions FILE] [--data FOLDER] [--set NAME …]

Writes found.csv beside the predictions, and prints it: the value, its interval of 95% and the verdict. Of a set that
is not defined, or whose files are not there, it says so.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np
from cells import contrast
from measures import judge, measured
from sets import DATA, HERE, KEPT, Definition, Set, read_definitions, read_set

from softbleu.errors import MissingExtraError

FILES = ("sets", "languages", "kept-aside")
FOUND = ("found", "found_low", "found_high", "verdict", "why")


@dataclass(frozen=True)
class Prediction:
    """An interval for the effect on one set, or for its mean over several."""

    sets: Sequence[str]
    effect: str
    measure: str
    sign: str
    low: float
    high: float
    made: object  # The day

    def __post_init__(self) -> None:
        if self.sign not in ("+", "-", "0") or not self.low <= self.high:
            raise ValueError(f"prediction of {self.effect}: sign is +, - or 0, and low is at most high")

    def verdict(self, value: float) -> tuple[str, str]:
        """Say whether a measured value refutes, and by what.

        >>> Prediction(["a"], "b", "r", "+", -0.1, 0.2, "today").verdict(-0.05)
        ('refuted', 'the other sign')
        """
        if not self.low <= value <= self.high:
            return "refuted", "outside"
        if (self.sign == "+" and value <= 0) or (self.sign == "-" and value >= 0):
            return "refuted", "the other sign"
        return "holds", ""


def read_predictions(path: Path) -> list[Prediction]:
    """All predictions of a file."""
    return [Prediction(**row) for row in tomllib.loads(path.read_text(encoding="utf-8"))["prediction"]]


def measure_prediction(prediction: Prediction, sets: Sequence[Set]) -> np.ndarray:
    """Measure the effect on each set, and return the mean: 1 + samples."""
    effect = contrast(prediction.effect)
    values = [effect.weights @ measured(data, prediction.measure, effect.metrics) for data in sets]
    mean: np.ndarray = np.mean(values, axis=0)
    return mean


def outcome(
    prediction: Prediction, definitions: Mapping[str, Definition], opened: Callable[[str], Set]
) -> tuple[object, ...]:
    """Found value, interval, verdict and the reason; without data empty cells and the reason."""
    unknown = [name for name in prediction.sets if name not in definitions]
    if unknown:
        return "", "", "", "not measured", f"no set {', '.join(unknown)} is defined"
    try:
        sets = [opened(name) for name in prediction.sets]
    except OSError as error:
        return "", "", "", "not measured", f"no file {Path(str(error.filename)).name}"
    except ValueError as error:  # No outputs
        return "", "", "", "not measured", str(error)
    try:
        value, low, high, _ = judge(measure_prediction(prediction, sets))
    except MissingExtraError as error:
        return "", "", "", "not measured", str(error)
    return value, low, high, *prediction.verdict(value)


def main() -> None:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=Path, nargs="+", default=[HERE / f"{name}.toml" for name in FILES])
    parser.add_argument("--predictions", type=Path, default=HERE / "predictions.toml")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--set", nargs="*", help="predictions of these sets only; nothing is written")
    given = parser.parse_args()
    os.environ.setdefault("SOFTBLEU_CACHE", str(KEPT / "lines"))
    definitions = {name: one for path in given.sets for name, one in read_definitions(path).items()}
    opened = cache(lambda name: read_set(definitions[name], given.data))
    rows = []
    for prediction in read_predictions(given.predictions):
        if given.set is None or set(prediction.sets) & set(given.set):
            said = [" + ".join(prediction.sets), prediction.effect, prediction.measure, prediction.sign]
            bounds = [prediction.low, prediction.high, prediction.made]
            cells = [
                f"{cell:.5f}" if isinstance(cell, float) else cell
                for cell in outcome(prediction, definitions, opened)
            ]
            rows.append([*said, *bounds, *cells])
    table = [[*(one.name for one in fields(Prediction)), *FOUND], *rows]
    csv.writer(sys.stdout, lineterminator="\n").writerows(table)
    if given.set is None:
        with (given.predictions.parent / "found.csv").open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(table)


if __name__ == "__main__":
    main()
