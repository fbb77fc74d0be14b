"""Heads fitted on one year of WMT's judgements, measured on the other. Needs softbleu.

python experiments/trained-heads/transfer.py ../shared/data/wmt15-16-da
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from softbleu import train
from softbleu.meta.training import held_out

HEADS: dict[str, dict[str, Any]] = {
    "minilm-l6": {},
    "static": {"vectors": "glove-6b-100d", "tokenize": "13a", "metrics": ["softbleu", "chrf"]},
}


def main(data: Annotated[Path, typer.Argument(help="newstest201*.*-en.tsv")]) -> None:
    """Show the mean r of the directions of each year, by prices of the other year and untrained."""
    files = sorted(map(str, data.glob("*-en.tsv")))
    for name, settings in HEADS.items():
        found = train(files, **settings)
        judged = found.judged
        is_later = np.array(["2016" in group for group in judged.names])[judged.groups]
        # What is held out together is a year, not a direction.
        vars(judged)["folds"] = is_later.astype(int)
        trained = judged.agreement(held_out(found.head, judged, found.penalties), 1, 1)
        untrained = judged.agreement(found.untrained, 1, 1)
        for year, later in (("2016 to 2015", False), ("2015 to 2016", True)):
            own = [number for number, group in enumerate(judged.names) if ("2016" in group) == later]
            means = [np.mean([each[number].value for number in own]) for each in (trained, untrained)]
            typer.echo(f"{name}\t{year}\t{means[0]:.3f}\t{means[1]:.3f}")


if __name__ == "__main__":
    typer.run(main)
