"""What the swapped brevity penalty of 2015 does to the ranking of "GLEU Without Tuning" (2016): intervals.csv.

`python experiments/papers/intervals.py SHARED`: SHARED is the folder of the test data. People's ranking is the
printed one, and fixed. Segments are drawn with replacement (each time a reference of each at random), or systems are.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
from scipy.stats import rankdata, spearmanr

from softbleu.corpora.edits import GoldReferences, read_m2
from softbleu.kernels import choose_kernels
from softbleu.matching.ngrams import Chunk
from softbleu.metrics.gleu import Gleu
from softbleu.text.coded import Vocabulary

HERE = Path(__file__).resolve().parent
PEOPLE = ["CAMB", "AMU", "RAC", "CUUI", "INPUT", "POST", "UFC", "SJTU", "IITB", "PKU", "UMC", "NTHU", "IPN"]
PRINTED = ["CAMB", "CUUI", "AMU", "UMC", "PKU", "POST", "SJTU", "NTHU", "UFC", "IITB", "INPUT", "RAC", "IPN"]
SAMPLES, SEED = 1000, 0


def statistics(shared: Path) -> tuple[np.ndarray, np.ndarray]:
    """Rows of every system, segment and reference: (systems, rows, numbers), and the first row of each segment."""
    data = shared / "data" / "conll14"
    gold = read_m2(str(data / "gold.m2"))
    references = [[text.split() for text in several] for several in GoldReferences(gold)]
    words = Vocabulary()
    together = words.encode([line for several in references for line in several])
    offsets = np.cumsum([0, *map(len, references)])
    source = words.encode([segment.source.split() for segment in gold])
    rows = []
    for system in PEOPLE:
        lines = (data / "systems" / f"{system}.txt").read_text(encoding="utf-8").splitlines()
        candidates = words.encode([line.split() for line in lines])
        rows.append(Gleu().statistics(Chunk(candidates, together, offsets, source), None, choose_kernels("numpy")))
    return np.array(rows), offsets


def draws(offsets: np.ndarray, segments: np.ndarray, rng: np.random.Generator, samples: int) -> np.ndarray:
    """How often each row is taken, if each segment takes one of its references at random: (samples, rows)."""
    counts = np.zeros((samples, offsets[-1]), np.float32)
    for count in counts:
        chosen = offsets[segments] + rng.integers(0, np.diff(offsets)[segments])
        np.add.at(count, chosen, 1)
    return counts


def scores(rows: np.ndarray, counts: np.ndarray) -> dict[bool, np.ndarray]:
    """Mean GLEU of each system, with and without the exchange of lengths."""
    sums = np.array([counts.astype(np.float64) @ system for system in rows])
    return {
        swapped: np.array([Gleu(swapped_bp=swapped).columns(one).score.mean() for one in sums])
        for swapped in (False, True)
    }


def agreement(found: np.ndarray) -> tuple[float, float]:
    """Spearman's rho with people's ranking, and the mean displacement from it."""
    ranks = rankdata(-found)
    return float(spearmanr(-ranks, -np.arange(len(found)))[0]), float(
        np.abs(ranks - np.arange(1, len(found) + 1)).mean()
    )


def main(shared: Path) -> None:
    """Write the table."""
    rows, offsets = statistics(shared)
    rng = np.random.default_rng(SEED)
    whole = scores(rows, draws(offsets, np.arange(len(offsets) - 1), rng, 500))
    samples = []
    for _ in range(SAMPLES):
        segments = rng.integers(0, len(offsets) - 1, len(offsets) - 1)
        found = scores(rows, draws(offsets, segments, rng, 4))
        samples.append([(*agreement(found[True]), *agreement(found[False]))])
    by_segment = np.array(samples)[:, 0]
    by_system = []
    for _ in range(SAMPLES):
        chosen = rng.integers(0, len(PEOPLE), len(PEOPLE))
        if len(set(chosen)) > 2:
            rhos = [float(spearmanr(whole[swapped][chosen], -chosen)[0]) for swapped in (True, False)]
            by_system.append((rhos[0], np.nan, rhos[1], np.nan))
    drawn = np.array(by_system)
    printed = np.array([-PRINTED.index(system) for system in PEOPLE])
    points = (*agreement(whole[True]), *agreement(whole[False]))
    printed_points = agreement(printed)

    def cell(of: int, samples: np.ndarray, point: float, less: int | None = None) -> str:
        values = samples[:, of] - (0 if less is None else samples[:, less])
        low, high = np.nanpercentile(values, [2.5, 97.5])
        return f"{point:.3f} ({low:.3f} to {high:.3f})"

    table = [("ranking", "ρ, segments drawn", "ρ, systems drawn", "mean displacement")]
    table.append(("as printed", f"{printed_points[0]:.3f}", "", f"{printed_points[1]:.2f}"))
    for name, of in (("ours, lengths exchanged", 0), ("ours, brevity penalty as defined", 2)):
        point = points[of]
        table.append((name, cell(of, by_segment, point), cell(of, drawn, point), f"{points[of + 1]:.2f}"))
    change = points[0] - points[2]
    by = f"{points[1] - points[3]:.2f}"
    table.append(("difference", cell(0, by_segment, change, 2), cell(0, drawn, change, 2), by))
    with (HERE / "intervals.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([[text.replace("0.", ".").replace("-", "−") for text in line] for line in table])
    for swapped, found in whole.items():
        order = [PEOPLE[place] for place in np.argsort(-found)]
        sys.stdout.write(f"exchanged: {swapped}: {' '.join(order)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
