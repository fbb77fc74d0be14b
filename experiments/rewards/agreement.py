"""Measure the agreement of strict rewards with judges, try their constants, and count ordinary lines that lose all.

    python experiments/map/judgements.py ../shared/data TABLES --outputs 800
    python experiments/rewards/agreement.py TABLES
    python experiments/rewards/agreement.py TABLES --constants
    python experiments/rewards/agreement.py ../shared/data --lines

Agreement is Pearson's r of rewards and judgements over the outputs of a set. The 24 sets are those of
experiments/map by `multilingual-e5-small`. In the order of `lofo-multilingual-e5-small.csv` the 1st, 3rd, … chose the
constants, and the 2nd, 4th, … measured them. `agreement.csv` has a row for each metric and set. `lines.csv` counts
outputs of systems and people that lose all of their reward, of WMT13, WMT21 and WMT24.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

import softbleu
from softbleu.corpora import tampering
from softbleu.meta.mapping import JudgedFile

HERE = Path(__file__).resolve().parent
METRICS = ("bleu", "chrf", "chrf++")
CONSTANTS = {"_LENGTH": (0.6, 0.65, 0.7, 0.75), "_ORDER": (0.7, 0.8, 0.9, 1.0), "_POWER": (4, 6, 8)}
TEXTS = {  # Of each folder the reference, and the line from which it counts
    **dict.fromkeys(("wmt13-de-en", "wmt13-fr-en"), ("reference.en", 0)),
    **{f"wmt21-into-en/{pair}": ("reference-A.en", 0) for pair in ("cs-en", "de-en", "zh-en")},
    "wmt21-en-de": ("reference-A.de", 0),
    **{f"wmt24-esa/en-{language}": (f"reference-A.{language}", 1) for language in ("cs", "zh", "hi")},
}


def names() -> list[str]:
    """Names of the sets, in their order."""
    with (HERE.parent / "map" / "lofo-multilingual-e5-small.csv").open(encoding="utf-8", newline="") as stream:
        return list(dict.fromkeys(row["set"] for row in csv.DictReader(stream)))


def rewards(judged: JudgedFile, name: str, metric: str) -> np.ndarray:
    """Rewards of the outputs of a set."""
    settings = {"tokenize": "zh"} if metric == "bleu" and name.endswith("zh") else {}
    return np.array(softbleu.Reward(metric, **settings)(judged.candidates, judged.references), float)


def factors(judged: JudgedFile) -> np.ndarray:
    """Factors of strict rewards."""
    pairs = zip(judged.candidates, judged.references, strict=True)
    return np.array([tampering.strict_factor(text, [reference]) for text, reference in pairs])


def agreement(tables: Path) -> Iterator[dict[str, object]]:
    """Rows of `agreement.csv`."""
    sets = {name: JudgedFile.read(str(tables / f"{name}.tsv")) for name in names()}
    lowered = {name: factors(judged) for name, judged in sets.items()}
    for metric in METRICS:
        for place, (name, judged) in enumerate(sets.items()):
            plain = rewards(judged, name, metric)
            r, strict = (np.corrcoef(judged.scores, each)[0, 1] for each in (plain, plain * lowered[name]))
            part = "measured" if place % 2 else "chosen"
            row = {"metric": metric, "set": name, "part": part, "outputs": len(plain)}
            yield {**row, "r": f"{r:.4f}", "strict": f"{strict:.4f}", "difference": f"{strict - r:.4f}"}


def constants(tables: Path) -> None:
    """Print the mean difference in agreement of chrF by constants, on the sets that choose."""
    sets = {name: JudgedFile.read(str(tables / f"{name}.tsv")) for name in names()[::2]}
    plain = {name: rewards(judged, name, "chrf") for name, judged in sets.items()}
    for values in product(*CONSTANTS.values()):
        vars(tampering).update(zip(CONSTANTS, values, strict=True))
        found = [
            np.corrcoef(judged.scores, plain[name] * factors(judged))[0, 1]
            - np.corrcoef(judged.scores, plain[name])[0, 1]
            for name, judged in sets.items()
        ]
        print(*values, f"{np.mean(found):.4f}", flush=True)  # noqa: T201


def read_lines(path: Path, start: int) -> list[str]:
    """Read the lines of a file from one on."""
    return path.read_text(encoding="utf-8").replace("\r\n", "\n").removesuffix("\n").split("\n")[start:]


def lines(data: Path) -> Iterator[dict[str, object]]:
    """Rows of `lines.csv`."""
    for name, (reference, start) in TEXTS.items():
        folder = data / name
        known = folder / reference
        known = known if known.exists() else data / "wmt13-de-en" / reference
        wanted = read_lines(known, start)
        people = [path for path in sorted(folder.glob("reference-*")) if path != known]
        outputs = [read_lines(path, start) for path in [*people, *sorted((folder / "system-outputs").iterdir())]]
        found = [
            (text, model)
            for output in outputs
            for text, model in zip(output, wanted, strict=True)
            if tampering.strict_factor(text, [model]) == 0 and text.split() and model.split()
        ]
        row = {"set": name, "lines": len(wanted) * len(outputs), "references": len(wanted)}
        yield {**row, "found": len(found), "of_references": len({model for _, model in found})}


def main() -> None:
    """Write a table, or print means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--constants", action="store_true")
    parser.add_argument("--lines", action="store_true")
    given = parser.parse_args()
    if given.constants:
        constants(given.folder)
        return
    rows = [*(lines if given.lines else agreement)(given.folder)]
    with (HERE / ("lines.csv" if given.lines else "agreement.csv")).open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    print(*rows[-3:], sep="\n", file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    main()
