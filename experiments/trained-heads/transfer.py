"""Heads fitted on one year of WMT's judgements, measured on the other.

python experiments/trained-heads/transfer.py ../shared/data/wmt15-16-da
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

sys.path.append(str(Path(__file__).resolve().parents[2] / "heads" / "recipe"))
from train import held_out, read_judged, train

HEADS: dict[str, dict[str, Any]] = {
    "minilm-l6": {},
    "static": {"vectors": "glove-6b-100d", "tokenize": "13a", "metrics": ["softbleu", "chrf"]},
}


def main(data: Annotated[Path, typer.Argument(help="newstest201*.*-en.tsv")]) -> None:
    """Show the mean r of the directions of each year, by prices of the other year and untrained."""
    groups = {file.stem: read_judged(file) for file in sorted(data.glob("*-en.tsv"))}
    for name, settings in HEADS.items():
        found = train(groups, **settings)
        judged = found.judged
        # What is held out together is a year, not a direction.
        years = np.array(["2016" in group for group in judged.names])[judged.groups].astype(int)
        trained = judged.agreement(held_out(found.head, judged, found.penalties, years), 1)
        untrained = judged.agreement(found.untrained(), 1)
        for year, later in (("2016 to 2015", False), ("2015 to 2016", True)):
            own = [number for number, group in enumerate(judged.names) if ("2016" in group) == later]
            means = [np.mean([each[number].value for number in own]) for each in (trained, untrained)]
            typer.echo(f"{name}\t{year}\t{means[0]:.3f}\t{means[1]:.3f}")


if __name__ == "__main__":
    typer.run(main)
