"""Lines of WMT24's systems that a gate changes, and what becomes of the systems' ranks; see plan.toml.

    python experiments/gates/make.py ../shared/data/wmt24-esa

It writes lines.csv (a row per system, with and without the source) and ranks.csv (a row per direction and metric).
Line 1 of the set is no text, and is left out. Systems that were not judged have lines only.
"""

from __future__ import annotations

import csv
import sys
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau, rankdata

import softbleu
from softbleu.corpora import Segments
from softbleu.corpora.gates import gated

HERE = Path(__file__).resolve().parent
Rows = list[dict[str, object]]


def read_lines(path: Path) -> list[str]:
    """Read the lines of a text without the first."""
    return path.read_text(encoding="utf-8").split("\n")[1:-1]


def read_judgements(path: Path) -> dict[str, float]:
    """Read the mean of the ESA scores of each system."""
    scores = defaultdict(list)
    with path.open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            scores[row["system"]].append(float(row["esa"]))
    return {system: float(np.mean(values)) for system, values in scores.items()}


def measure(folder: Path, metrics: Sequence[str]) -> tuple[Rows, Rows]:
    """Return the rows of lines.csv and ranks.csv of a direction."""
    language = folder.name[-2:]
    reference, source = read_lines(folder / f"reference-A.{language}"), read_lines(folder / "source.en")
    outputs = {path.stem: read_lines(path) for path in sorted(folder.glob(f"system-outputs/*.{language}"))}
    outputs["reference"] = reference
    human = read_judgements(folder / "esa-segments.tsv")
    judged = [system for system in outputs if system in human]
    lines: Rows = []
    for what, given in (("references", None), ("references and source", source)):
        corpus = gated(Segments.of(outputs, reference, given), "all")
        for system in outputs:
            changed = corpus.gating.of(system)
            row = {
                "direction": folder.name,
                "gate": what,
                "system": system,
                "esa": f"{human.get(system, np.nan):.2f}",
            }
            lines.append({**row, "lines": changed.segments, "gated": changed.lines, **changed.counts})
    scores = {}
    texts = {system: outputs[system] for system in judged}
    for what, given in (("none", texts), ("all", {system: corpus.candidates[system] for system in judged})):
        found = softbleu.score(given, reference, metrics=[*metrics])
        for number, metric in enumerate(metrics):
            part = found[number * len(judged) : (number + 1) * len(judged)]
            scores[what, metric] = [result.score if result.higher_is_better else -result.score for result in part]
    ranks: Rows = []
    truth = [human[system] for system in judged]
    for (what, metric), values in scores.items():
        before, after = (rankdata(-np.array(one)) for one in (scores["none", metric], values))
        moved = np.abs(after - before)
        row = {"direction": folder.name, "metric": metric, "gate": what, "systems": len(judged)}
        tau = f"{kendalltau(truth, values).statistic:.4f}"
        ranks.append({**row, "tau": tau, "moved": int((moved > 0).sum()), "farthest": int(moved.max())})
    return lines, ranks


def main() -> None:
    """Write both tables."""
    data, plan = Path(sys.argv[1]), tomllib.loads((HERE / "plan.toml").read_text(encoding="utf-8"))
    made = [measure(data / direction, plan["metrics"][direction]) for direction in plan["directions"]]
    for name, place in (("lines", 0), ("ranks", 1)):
        rows = [row for tables in made for row in tables[place]]
        with (HERE / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
            table = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    main()
