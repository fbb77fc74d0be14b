"""Effects on several sets as draws of one distribution: their mean, how much sets differ, and a new set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.errors import InputError, Parameter, known_name
from softbleu.io.tabular import Records, Value
from softbleu.meta.metaeval import MetaEvaluation, default_question, metaeval
from softbleu.metrics.result import normal_interval

if TYPE_CHECKING:
    from softbleu.corpora.directions import Direction
    from softbleu.types import Floats, Progress

POOLED = ("systems", "outputs", "preferences", "accuracy", "differences", "spans")
"""Questions whose estimates are pooled over directions."""
_HALF = normal_interval(0.0, 1.0)[1]  # Of an interval of 95%, in standard deviations
_NAMING = ("human", "metric", "of", "variant")  # Columns that say what an estimate is of
_HOW = "mean of directions by random effects (Paule and Mandel), interval after Hartung and Knapp"


@dataclass(frozen=True)
class Pooled:
    """Mean over sets with its interval of 95%, and the interval of the value that is measured on a new set."""

    sets: int
    mean: float
    low: float
    high: float
    between: float  # Standard deviation of the sets' true effects
    new_low: float
    new_high: float


def pool(values: Sequence[float], deviations: Sequence[float]) -> Pooled:
    """Pool effects of sets by random effects (Paule and Mandel 1982; Hartung and Knapp 2001).

    A set weighs 1 / (between² + deviation²); `between` is such that the weighted squares sum to k - 1, or 0. Both
    intervals have k - 1 degrees of freedom. The new set has the median sampling deviation of these.

    Parameters
    ----------
    values
        Effect of each set, k of them, two at least.
    deviations
        Standard deviation of each value by sampling.

    Raises
    ------
    InputError
        There is one set only.

    Examples
    --------
    >>> pooled = pool([0.01, 0.03, 0.05], [0.01, 0.01, 0.01])
    >>> round(pooled.mean, 4), round(pooled.between, 4)
    (0.03, 0.0173)
    """
    from scipy.optimize import brentq
    from scipy.stats import t

    effects, variances = np.asarray(values, float), np.square(np.asarray(deviations, float)).clip(1e-18)
    degrees = len(effects) - 1
    if degrees < 1:
        raise InputError("sets differ by what two of them or more show")

    def weighed(between: float) -> tuple[Floats, float, float]:
        weights = 1 / (between + variances)
        mean = float(weights @ effects / weights.sum())
        return weights, mean, float(weights @ (effects - mean) ** 2)

    between = 0.0
    if weighed(0.0)[2] > degrees:
        most = float(np.var(effects) * len(effects) + variances.max())
        between = float(brentq(lambda value: weighed(value)[2] - degrees, 0.0, most, xtol=1e-15))
    weights, mean, squares = weighed(between)
    scale = squares / degrees
    error = scale / float(weights.sum())
    quantile = float(t.ppf(0.975, degrees))
    half = quantile * error**0.5
    new = quantile * (error + scale * (between + float(np.median(variances)))) ** 0.5
    return Pooled(len(effects), mean, mean - half, mean + half, between**0.5, mean - new, mean + new)


def pooled_table(question: str, tables: Mapping[str, Records]) -> Records:
    """Pool what tables of several directions estimate, by random effects: a row per estimate, with each direction's.

    An estimate is a column that is followed by the ends of its interval, whose width says how it varies by sampling.
    Estimates that a direction lacks are not pooled. Differences of two metrics have the sign of the first direction.

    Parameters
    ----------
    question
        What the tables answer.
    tables
        By the name of the direction; all have the same columns.
    """
    estimates: dict[tuple[Value, ...], dict[str, tuple[float, float]]] = {}
    for direction, table in tables.items():
        for key, value, low, high in _estimates(table):
            turned = (*key[:-2], _turned(key[-2]), key[-1])
            sign = -1 if turned != key and turned in estimates else 1
            row = estimates.setdefault(turned if sign < 0 else key, {})
            row[direction] = (sign * value, (high - low) / 2 / _HALF)
    rows: list[list[Value]] = []
    for key, by_direction in estimates.items():
        pooled: Sequence[Value] = [None] * 6
        if len(by_direction) == len(tables) > 1:
            pooled = astuple(pool(*zip(*by_direction.values(), strict=True)))[1:]
        values = (by_direction[name][0] if name in by_direction else None for name in tables)
        rows.append([question, *key, *values, *pooled])
    names = [name for name in next(iter(tables.values())).columns if name in _NAMING]
    names = ["human", "metric"] if question == "differences" else names
    return Records(
        ["question", *names, "measure", *tables, "mean", "low", "high", "between", "new_low", "new_high"], rows
    )


def _estimates(table: Records) -> Iterator[tuple[tuple[Value, ...], float, float, float]]:
    """Estimates of a table, each with what it is of (its measure comes last) and the ends of its interval."""
    columns = table.columns
    named = [place for place, name in enumerate(columns) if name in _NAMING]
    for row in table.rows:
        for place in range(len(columns) - 2):
            value, low, high = row[place : place + 3]
            if not (columns[place + 1].endswith("low") and columns[place + 2].endswith("high")):
                continue
            if isinstance(value, float) and isinstance(low, float) and isinstance(high, float):
                key = (*(row[name] for name in named), columns[place])
                if "worse" in columns:
                    human, measure, better, worse = row[:4]
                    key = (human, f"{better} − {worse}", measure)
                yield key, value, low, high


def _turned(name: Value) -> Value:
    """The difference of two metrics the other way round; another name as it is."""
    one, minus, other = str(name).partition(" − ")
    return f"{other} − {one}" if minus else name


def metaeval_directions(
    directions: Sequence[Direction],
    question: str | None = None,
    *,
    progress: Progress | None = None,
    **settings: Any,
) -> MetaEvaluation:
    """Measure in several directions of translation how well metrics agree with judges, and pool the estimates.

    A row has an estimate in each direction, and its mean over directions with an interval that takes in how much
    directions differ.

    Parameters
    ----------
    directions
        As `softbleu.corpora.directions.read_directions` finds them.
    question
        One of `POOLED` (default: as `softbleu.metaeval` chooses it).
    progress
        Told how many directions are done.
    settings
        Those of `softbleu.metaeval`. In names of files ``{direction}`` stands for the name of the direction; of files
        of several directions (column `lp`) its rows are read.

    Raises
    ------
    InputError
        There is one direction only, or an input is not valid.
    """
    of_systems = settings.get("human") or settings.get("rankings")
    asked = question or default_question(directions, of_systems, settings.get("assessments"))
    question = known_name("table of several directions", asked, POOLED)
    if len(directions) < 2:
        raise InputError(f"to pool takes two directions or more, here is {directions[0].name} only")
    answers: dict[str, MetaEvaluation] = {}
    for number, direction in enumerate(directions, start=1):
        here = {name: _named(value, direction.name) for name, value in settings.items()}
        here["scores"] = [*direction.scores, *here.get("scores", ())]
        if here.get("metrics") or question == "spans":
            candidates = [f"{name}={file}" for name, file in direction.candidates.items()]
            here |= {"candidates": candidates, "references": direction.references, "source": direction.source}
        here["language"] = here.get("language") or direction.language
        try:
            answers[direction.name] = metaeval(question, direction=direction.name, **here)
        except InputError as error:
            raise InputError(f"{direction.name}: ", *error.args) from error
        if progress is not None:
            progress(number, len(directions))
    return _together(question, answers)


def _named(value: Any, direction: str) -> Any:
    """Put the name of a direction into names of files."""
    if isinstance(value, str):
        return value.replace("{direction}", direction)
    return [_named(part, direction) for part in value] if isinstance(value, list | tuple) else value


def _together(question: str, answers: Mapping[str, MetaEvaluation]) -> MetaEvaluation:
    table = pooled_table(question, {name: answer.table for name, answer in answers.items()})
    if not table.rows:
        raise InputError("to pool takes how much estimates vary: ask for ", Parameter("samples"))
    told: dict[str, list[str]] = {}
    for name, answer in answers.items():
        for note in answer.notes:
            told.setdefault(note, []).append(name)
    notes = [note if len(names) == len(answers) else f"{', '.join(names)}: {note}" for note, names in told.items()]
    lacking = {str(row["metric"]): None for row in table.named_rows() if row["mean"] is None}
    if lacking:
        notes.append(f"{', '.join(lacking)}: not pooled where a direction has no estimate with an interval")
    signatures = {
        f"{metric} {name}": text for name, one in answers.items() for metric, text in one.signatures.items()
    }
    facts = {"pooled": _HOW, **signatures}
    columns = [name for name in table.columns if name != "question"]
    rows = [row[1:] for row in table.rows]
    shown = Records(columns, rows, facts, background=list(signatures))
    return MetaEvaluation(question, shown, notes=tuple(notes), signatures=signatures)
