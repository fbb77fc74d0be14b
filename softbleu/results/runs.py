"""Runs that were kept: promises of a signature, differences between two runs, and the history of several."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from softbleu.config.declare import all_settings, parse_signature
from softbleu.corpora.files import open_text
from softbleu.corpora.judgements.converters import own_rows
from softbleu.corpora.judgements.tables import json_values
from softbleu.errors import InputError, Parameter
from softbleu.io.reading import parse_score
from softbleu.metrics.base import METRICS
from softbleu.tables import Table, Tabular, Value
from softbleu.types import Cells


def broken_promises(promised: Mapping[str, str], made: str, but: Collection[str] = ()) -> Iterator[str]:
    """Yield the entries of a run's signature that differ from the `promised` ones, `but` for some keys."""
    signed = parse_signature(made)
    settings = all_settings(METRICS.find(signed.get("metric", "bleu")), signed, shared=True)
    earlier = {key: setting.key for setting in settings for key in setting.earlier}
    promised = {earlier.get(key, key): value for key, value in promised.items()}
    for named in (Parameter("vectors"), Parameter("map")):
        if (key := named.name) in promised and promised[key] != signed.get(key):
            here = signed.get(key, "none")
            raise InputError(f"the signature is of {key} {promised[key]}, here is {here}: name the same with ", named)
    for key, value in promised.items():
        if signed.get(key) != value and key not in but:
            here = f"{signed[key]} here" if key in signed else "not said here"
            yield f"{key} is {here}, {value} in the signature"


_RESOURCES = ("vectors", "idf", "language", "meteor-data")  # Keys of signatures that name inputs other than the text
_SAME = 1e-9  # Scores that differ by no more are the same


@dataclass(frozen=True)
class RunOfMetric:
    """Signature and scores of one metric in a run."""

    signature: Mapping[str, str]  # Its entries; empty where the file has none
    systems: dict[str, float] = field(default_factory=dict)
    lines: dict[tuple[str, str], float] = field(default_factory=dict)
    """Scores by system and line: a segment, or a segment and its reference."""


@dataclass(frozen=True)
class Change:
    """A value that differs between two runs."""

    kind: str  # `setting`, `resource`, `version`, `system`, `score` or `line`
    metric: str
    system: str
    name: str  # The key of the signature, or the line
    one: str | float | None
    two: str | float | None  # Value of either run; None where it has none
    difference: float | None = None  # The second less the first, where they can be compared


@dataclass(frozen=True, repr=False)
class RunDifference(Tabular):
    """The differences of two runs, and whether their scores can be compared."""

    changes: list[Change]
    incomparable: dict[str, str]  # Of metrics whose scores cannot be compared, why
    compared: int  # Scores of systems and lines that both have

    def records(self) -> list[Cells]:
        """A row a change."""
        return [vars(change) for change in self.changes]

    def described(self) -> Cells:
        """Number of scores that both have, and metrics that cannot be compared."""
        reasons = [f"{metric}: {why}" for metric, why in self.incomparable.items()]
        return {"scores in both": self.compared, "cannot be compared": reasons or "none"}


def read_run(name: str, encoding: str = "utf-8") -> dict[str, RunOfMetric]:
    """Read a file that `softbleu score --format json` (or jsonl, which has no signatures) wrote: runs by metric.

    `name` is that of the file, `encoding` its encoding.
    """
    with closing(open_text(name, encoding)) as text:
        lines = list(text)
    runs: dict[str, RunOfMetric] = {}
    for where, row in own_rows(name, json_values(name, lines)) if lines else ():
        signature, system = row.get("signature"), row["system"]
        if not isinstance(system, str):
            raise InputError(f"{where}: a system's name is needed, not {system!r}")
        pairs = parse_signature(signature) if isinstance(signature, str) and signature else {}
        metric = str(row.get("metric", pairs.get("metric", "score")))
        run = runs.setdefault(metric, RunOfMetric(pairs))
        try:
            score = parse_score(row["score"])
        except ValueError as error:
            raise InputError(f"{where}: no score: {error}") from None
        if "segment" in row:
            reference = f" reference {row['reference']}" if "reference" in row else ""
            run.lines[system, f"{row['segment']}{reference}"] = score
        else:
            run.systems[system] = score
    if not runs:
        raise InputError(f"{name}: there are no scores")
    return runs


def diff_runs(one: Mapping[str, RunOfMetric], two: Mapping[str, RunOfMetric]) -> RunDifference:
    """Find differences between two runs: the settings, then scores of systems, then lines, the most changed first.

    Scores of other settings, or made with other resources, cannot be compared: they are shown, but no difference.
    Digits of another version can.

    >>> old, new = (
    ...     {"bleu": RunOfMetric({"metric": "bleu", "order": order}, {"A": score})}
    ...     for order, score in (("4", 20.0), ("3", 25.0))
    ... )
    >>> diff_runs(old, new).incomparable
    {'bleu': 'order is 4 in one, 3 in the other'}
    """
    changes: list[Change] = []
    incomparable: dict[str, str] = {}
    compared = 0
    for metric, first, second in _paired(one, two):
        settings = list(_settings(metric, first, second))
        if (why := _incomparable(first, second, settings)) is not None:
            incomparable[metric] = why
        comparable = metric not in incomparable
        changes += settings
        changes += _scores("score", metric, _keyed(first.systems), _keyed(second.systems), comparable)
        changes += _scores("line", metric, first.lines, second.lines, comparable)
        compared += len(first.systems.keys() & second.systems.keys()) + len(first.lines.keys() & second.lines.keys())
    return RunDifference(changes, incomparable, compared)


def _paired(
    one: Mapping[str, RunOfMetric], two: Mapping[str, RunOfMetric]
) -> Iterator[tuple[str, RunOfMetric, RunOfMetric]]:
    """Metrics of the same name, and the others in order; a single one with the single other."""
    names = [name for name in one if name in two]
    left = [name for name in one if name not in two], [name for name in two if name not in one]
    yield from ((name, one[name], two[name]) for name in names)
    nothing = RunOfMetric({})
    for first, second in zip_longest(*left):
        yield " / ".join(filter(None, (first, second))), one.get(first, nothing), two.get(second, nothing)


def _settings(metric: str, one: RunOfMetric, two: RunOfMetric) -> Iterator[Change]:
    for key in dict.fromkeys((*one.signature, *two.signature)):
        before, after = one.signature.get(key), two.signature.get(key)
        if before != after:
            kind = "version" if key == "version" else "resource" if key in _RESOURCES else "setting"
            yield Change(kind, metric, "", key, before, after)


def _incomparable(one: RunOfMetric, two: RunOfMetric, changes: Sequence[Change]) -> str | None:
    """Return why scores of two runs cannot be compared; None if they can."""
    if not one.signature or not two.signature:
        return "a run has no signature (json has it)"
    told = (
        f"{change.name} is {change.one or 'missing'} in one, {change.two or 'missing'} in the other"
        for change in changes
        if change.kind != "version"
    )
    return "; ".join(told) or None


def _keyed(systems: Mapping[str, float]) -> dict[tuple[str, str], float]:
    return {(name, ""): score for name, score in systems.items()}


def _scores(
    kind: str,
    metric: str,
    one: Mapping[tuple[str, str], float],
    two: Mapping[tuple[str, str], float],
    comparable: bool,
) -> list[Change]:
    """List scores that one run lacks or that changed, the greatest change first."""
    changes = []
    for key in dict.fromkeys((*one, *two)):
        before, after = one.get(key), two.get(key)
        if before is None or after is None:
            changes.append(Change(kind, metric, *key, before, after))
        elif abs(after - before) > _SAME:
            changes.append(Change(kind, metric, *key, before, after, after - before if comparable else None))
    return sorted(changes, key=lambda change: -abs(change.difference or 0.0))


def run_history(runs: Mapping[str, Mapping[str, RunOfMetric]]) -> Table:
    """Follow the scores of systems over runs, by the name of each, in their order: a row per run, metric and system.

    The difference is that from the run before which has the system by this metric; there is none where settings or
    resources changed, and `changed` says which.

    >>> mon, tue = ({"bleu": RunOfMetric({"metric": "bleu"}, {"A": score})} for score in (20.0, 21.5))
    >>> run_history({"mon": mon, "tue": tue}).records()[1]
    {'run': 'tue', 'metric': 'bleu', 'system': 'A', 'score': 21.5, 'difference': 1.5, 'changed': ''}
    """
    one_each = all(len(by_metric) == 1 for by_metric in runs.values())
    joined = " / ".join(dict.fromkeys(name for by_metric in runs.values() for name in by_metric))
    before: dict[tuple[str, str], tuple[RunOfMetric, float]] = {}
    rows: list[list[Value]] = []
    for run, by_metric in runs.items():
        for name, found in by_metric.items():
            metric = joined if one_each else name
            for system, score in found.systems.items():
                last, earlier = before.get((metric, system), (found, score))
                changes = list(_settings(metric, last, found))
                difference = score - earlier if _incomparable(last, found, changes) is None else None
                told = "; ".join(f"{each.name} {each.one or 'none'} → {each.two or 'none'}" for each in changes)
                if (metric, system) not in before:
                    difference = None
                before[metric, system] = found, score
                rows.append([run, metric, system, score, difference, told])
    return Table(["run", "metric", "system", "score", "difference", "changed"], rows)


def read_history(names: Sequence[str], encoding: str = "utf-8") -> Table:
    """Read files of scores, in an encoding, and follow them in the order of their `names`; see `run_history`."""
    stems = [Path(name).stem for name in names]
    shown = [stem if stems.count(stem) == 1 else name for stem, name in zip(stems, names, strict=True)]
    if len(set(shown)) < len(shown):
        raise InputError(f"{next(name for name in shown if shown.count(name) > 1)} is named twice")
    return run_history({name: read_run(file, encoding) for name, file in zip(shown, names, strict=True)})


def diff_files(one: str | Path, two: str | Path, encoding: str = "utf-8") -> RunDifference:
    """Find the differences of two files of scores, `one` and `two`, in an encoding; see `diff_runs`."""
    return diff_runs(read_run(str(one), encoding), read_run(str(two), encoding))
