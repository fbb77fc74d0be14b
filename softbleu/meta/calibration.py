"""Settings chosen by how well they agree with judges on some data, and what they give on the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.config.signature import format_value
from softbleu.errors import InputError, known_name
from softbleu.io.tabular import Records, Tabular, Value
from softbleu.meta.correlation import COEFFICIENTS
from softbleu.meta.metaeval import metaeval
from softbleu.meta.sweep import sweep_points

if TYPE_CHECKING:
    from softbleu.metrics.base import Metric
    from softbleu.types import Floats, Progress


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Tabular):
    """Every point of a grid on every set of data."""

    coefficient: str
    varied: tuple[str, ...]  # Names of the settings of the grid
    points: tuple[Metric, ...]
    data: tuple[str, ...]
    values: Floats  # Agreement, (points, data)
    signatures: tuple[str, ...]  # Of the points chosen

    def records(self) -> list[dict[str, Any]]:
        """Rows of `held_out`."""
        return self.held_out().records()

    def described(self) -> dict[str, Any]:
        """Signatures of the settings chosen."""
        return {"signatures": list(self.signatures)}

    def chosen(self, held_out: int) -> tuple[int, float]:
        """Choose the point that is best in the mean of all other sets, the first of equals; and that mean."""
        others = np.delete(self.values, held_out, axis=1).mean(axis=1)
        best = int(others.argmax())
        return best, float(others[best])

    def held_out(self) -> Records:
        """Make a row a set of data: what the settings chosen on the others give on it; and the mean of these."""
        rows: list[list[Value]] = []
        for index, name in enumerate(self.data):
            best, others = self.chosen(index)
            rows.append([name, float(self.values[best, index]), others, *self._settings(best)])
        mean = float(np.mean([row[1] for row in rows]))
        rows.append(["mean", mean, *[None] * (1 + len(self.varied))])
        return Records(["held out", self.coefficient, "mean of the others", *self.varied], rows)

    def grid(self) -> Records:
        """Make a row a point: its agreement on every set."""
        rows = [
            [*self._settings(number), *values, float(np.mean(values))]
            for number, values in enumerate(self.values.tolist())
        ]
        return Records([*self.varied, *self.data, "mean"], rows)

    def _settings(self, number: int) -> list[Value]:
        known = {setting.name: value for setting, value in self.points[number].settings()}
        return [format_value(known[name]) if name in known else None for name in self.varied]


def calibrate(
    base: Mapping[str, Any],
    vary: Mapping[str, Sequence[Any]],
    data: Mapping[str, Mapping[str, Any]],
    *,
    question: str | None = None,
    coefficient: str = "pearson",
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Calibration:
    """Choose settings by cross-validation over sets of data: on all but one, for that one.

    `base` and `vary` are as of `sweep_points`, `data` by name what `softbleu.metaeval` takes, with one kind of human
    scores each, `question` is `systems` or `outputs`.

    `coefficient` is what is made greatest, a name of `COEFFICIENTS`. `jobs`, `executor` and `progress` are those of
    `softbleu.score`.

    >>> texts = {"A": ["a b c", "d e"], "B": ["a b x", "d x"], "C": ["a x y", "d e"], "D": ["x y z", "x y"]}
    >>> judged = {"judges": {"A": 4.0, "B": 3.0, "C": 1.0, "D": 2.0}}
    >>> one = {"candidates": texts, "references": ["a b c", "d e"], "human": judged}
    >>> two = {**one, "references": ["a x y", "d x"]}
    >>> calibration = calibrate({"metric": "bleu"}, {"order": [1, 2]}, {"one": one, "two": two})
    >>> calibration.values.shape, calibration.held_out().columns
    ((2, 2), ['held out', 'pearson', 'mean of the others', 'order'])
    """
    coefficient = known_name("coefficient", coefficient, COEFFICIENTS)
    if len(data) < 2:
        raise InputError(f"cross-validation needs two sets of data or more, here are {len(data)}")
    points = [point.metric for point in sweep_points(base, vary)]
    metrics = {str(number): metric for number, metric in enumerate(points)}
    columns: list[list[float]] = []
    signatures: Mapping[str, str] = {}
    for number, (name, sources) in enumerate(data.items(), start=1):
        answer = metaeval(question, metrics=metrics, samples=0, jobs=jobs, executor=executor, **sources)
        table = answer.table
        if coefficient not in table.columns or len(table.rows) != len(points):
            raise InputError(f"{name}: settings are chosen by one kind of human scores, of systems or of outputs")
        agreed = [row[list(table.columns).index(coefficient)] for row in table.rows]
        # What gives all points the same score agrees with nobody.
        columns.append([value if isinstance(value, float) else -1.0 for value in agreed])
        signatures = answer.signatures
        if progress is not None:
            progress(number, len(data))
    values = np.array(columns).T
    made = Calibration(coefficient, tuple(vary), tuple(points), tuple(data), values, ())
    best = dict.fromkeys(made.chosen(index)[0] for index in range(len(data)))
    return replace(made, signatures=tuple(signatures[str(number)] for number in best))
