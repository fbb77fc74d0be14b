"""What `softbleu check` finds in the systems of WMT24, and how judges scored it.

    python experiments/checks/make.py ../shared/data/wmt24-esa

An effect is the mean, over outputs that a check flags, of their ESA score less the mean score of the other systems'
outputs of the segment. Intervals are of 1,000 bootstrap samples of documents.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from softbleu.corpora.checks import check_files

HERE = Path(__file__).resolve().parent
SAMPLES, SEED = 1000, 12345


def effects(folder: Path) -> list[dict[str, object]]:
    """Rows of a direction: a check, the segments that it flags, how many are judged, and the effect."""
    language = folder.name[-2:]
    systems = {path.stem: str(path) for path in sorted(folder.glob(f"system-outputs/*.{language}"))}
    odd = check_files(systems, [str(folder / f"reference-A.{language}")], str(folder / "source.en"))
    documents = (folder / "documents.tsv").read_text(encoding="utf-8").splitlines()
    scores: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with (folder / "esa-segments.tsv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            scores[int(row["segment"])][row["system"]].append(float(row["esa"]))
    flagged: dict[str, set[tuple[int, str]]] = defaultdict(set)
    for entry in odd.oddities:
        flagged[entry.check].add((entry.segment, entry.system))
        flagged["any"].add((entry.segment, entry.system))
    rows: list[dict[str, object]] = []
    for check, places in sorted(flagged.items()):
        lower: dict[str, list[float]] = defaultdict(list)
        for line, system in sorted(places):
            judged = {name: np.mean(values) for name, values in scores[line].items()}
            others = [score for name, score in judged.items() if name != system and (line, name) not in places]
            if system in judged and others:
                lower[documents[line - 1]].append(float(judged[system] - np.mean(others)))
        count = sum(map(len, lower.values()))
        rows.append({"direction": folder.name, "check": check, "segments": len(places), "judged": count})
        rows[-1] |= {"documents": len(lower), "effect": "", "low": "", "high": ""}
        if count >= 5 and len(lower) >= 3:
            sums = np.array([[sum(values), len(values)] for values in lower.values()])
            drawn = np.random.default_rng(SEED).integers(len(sums), size=(SAMPLES, len(sums)))
            means = sums[drawn].sum(axis=1)
            low, high = np.quantile(means[:, 0] / means[:, 1], [0.025, 0.975])
            rows[-1] |= {"effect": f"{sums[:, 0].sum() / count:.2f}", "low": f"{low:.2f}", "high": f"{high:.2f}"}
    return rows


def main() -> None:
    """Write the table."""
    data = Path(sys.argv[1])
    rows = [row for direction in ("en-cs", "en-zh") for row in effects(data / direction)]
    with (HERE / "checks.csv").open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
