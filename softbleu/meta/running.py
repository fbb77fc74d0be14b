"""Experiments run from their definitions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from softbleu.errors import InputError
from softbleu.meta.calibration import Calibration, calibrate
from softbleu.meta.definition import Definition
from softbleu.meta.grids import read_thresholds
from softbleu.meta.metaeval import MetaEvaluation, metaeval
from softbleu.meta.spurious import find_spurious
from softbleu.meta.sweep import SweepRow, sweep_corpus, sweep_points
from softbleu.meta.variants import COMBINATIONS, REMEDIES, make_variants
from softbleu.version import __version__

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from softbleu.meta.credit_tables import Analysis
    from softbleu.types import Progress


@dataclass(frozen=True)
class Outcome:
    """What an experiment found; what is not of its kind is empty."""

    definition: Definition
    started: datetime  # In UTC
    seconds: float
    sweep: list[SweepRow] = field(default_factory=list)
    analyses: dict[str, list[Analysis]] = field(default_factory=dict)  # Analyses of matches, by the name of the text
    answers: dict[str, dict[str, MetaEvaluation]] = field(default_factory=dict)
    """How metrics agree with people, by question and the name of the data."""
    calibration: Calibration | None = None  # Settings chosen on all data but one

    def manifest(self) -> dict[str, Any]:
        """What the numbers were made from, and when."""
        # The table has the signature of each score; here thresholds, which vary most, are left open.
        signatures = dict.fromkeys(re.sub(r"\|threshold:[^|]*", "|threshold:*", row.signature) for row in self.sweep)
        signatures |= dict.fromkeys(self.calibration.signatures if self.calibration else ())
        answers = (answer for by_data in self.answers.values() for answer in by_data.values())
        metrics = {name: signature for answer in answers for name, signature in answer.signatures.items()}
        vectors = dict.fromkeys(each.vectors for found in self.analyses.values() for each in found)
        return {
            "experiment": self.definition.name,
            "title": self.definition.title,
            "kind": self.definition.kind,
            "softbleu": __version__,
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 1),
            "inputs": self.definition.inputs(),
            **({"signatures": list(signatures)} if signatures else {}),
            **({"metrics": metrics} if metrics else {}),
            **({"vectors": list(vectors)} if vectors else {}),
        }


def run_definition(
    definition: Path | Definition,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run the experiment that a TOML file defines; `checkpoint` is as of `sweep_corpus`."""
    definition = definition if isinstance(definition, Definition) else Definition.read(definition)
    started, clock = datetime.now(UTC), perf_counter()
    run: dict[str, Any] = {"jobs": jobs, "executor": executor, "progress": progress}
    run |= {"checkpoint": checkpoint} if definition.kind == "sweep" else {}
    found = _RUNNERS[definition.kind](definition, **run)
    return Outcome(definition, started, perf_counter() - clock, **found)


def _run_sweep(definition: Definition, **run: Any) -> dict[str, list[SweepRow]]:
    table = definition.table("sweep", {"metrics", "matchers", "thresholds", "vary"})
    vary = {"metric": table.get("metrics"), "matcher": table.get("matchers"), **table.get("vary", {})}
    if "thresholds" in table:
        vary["threshold"] = read_thresholds([str(entry) for entry in table["thresholds"]])
    varied = {name: values for name, values in vary.items() if values is not None}
    if not varied:
        raise InputError(f"{definition.path}: [sweep] needs 'matchers', 'thresholds', 'metrics' or 'vary'")
    points = sweep_points(definition.settings(), varied, definition.variants())
    with definition.corpus() as corpus:
        return {"sweep": sweep_corpus(corpus, points, **run)}


def _run_spurious(definition: Definition, **run: Any) -> dict[str, dict[str, list[Analysis]]]:
    table = definition.table("spurious", {"matchers", "remedies", "thresholds", "at"}, {"matchers", "thresholds"})
    base = definition.settings()
    remedies = table.get("remedies", [*REMEDIES, *COMBINATIONS])
    variants = make_variants(base, table["matchers"], remedies)
    thresholds = read_thresholds([str(entry) for entry in table["thresholds"]])
    order = base.get("order", 4)
    return {
        "analyses": {
            name: find_spurious(text, variants, thresholds, at=table.get("at", 0.8), order=order, **run)
            for name, text in definition.texts()
        }
    }


def _run_metaeval(
    definition: Definition, progress: Progress | None, **run: Any
) -> dict[str, dict[str, dict[str, MetaEvaluation]]]:
    table = definition.table("metaeval", {"questions", "against", "samples", "runs", "seed"})
    questions, metrics, data = table.pop("questions", [None]), definition.metrics(), definition.data()
    answers: dict[str, dict[str, MetaEvaluation]] = {}
    for number, (name, given) in enumerate(data.items(), start=1):
        for question in questions:
            answer = metaeval(question, metrics=metrics, **given, **table, **run)
            answers.setdefault(answer.question, {})[name] = answer
        if progress is not None:
            progress(number, len(data))
    return {"answers": answers}


def _run_calibration(definition: Definition, **run: Any) -> dict[str, Calibration]:
    table = definition.table("calibration", {"vary", "coefficient", "question"}, {"vary"})
    return {"calibration": calibrate(definition.settings(), table.pop("vary"), definition.data(), **table, **run)}


_RUNNERS: dict[str, Callable[..., dict[str, Any]]] = {
    "sweep": _run_sweep,
    "spurious": _run_spurious,
    "metaeval": _run_metaeval,
    "calibration": _run_calibration,
}
