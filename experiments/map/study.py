"""Measure maps of vectors on sets of judgements that took no part in learning them, a family at a time.

python experiments/map/judgements.py ../shared/data TABLES --outputs 800
python experiments/map/study.py TABLES --vectors multilingual-e5-small --layers 9 --kept STATES -o lofo.csv

Each family of sets is left out in turn. A map is learned from the other sets whose licence lets it be given away, or
from all others (`--all`), and scores the family's outputs. Beside it stand F of the same tokens without a map, as
BERTScore has it, and chrF. MLQE-PE is never measured: its references are post-edits of the outputs themselves.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from judgements import LICENSED

import softbleu
from softbleu.embeddings.choice import VectorChoice
from softbleu.embeddings.learning import (
    PASSES,
    RATE,
    JudgedStates,
    MapParameters,
    batch_gradient,
    in_batches,
    learn,
    predict,
)
from softbleu.encoders.base import parse_layers
from softbleu.encoders.opened import encoded_lines
from softbleu.meta.agreement import correlate_within
from softbleu.meta.mapping import JudgedFile

FAMILIES = {
    "WMT15–16": "wmt1[56]",
    "WMT17": "wmt17",
    "TED": "ted",
    "WMT21": "wmt21",
    "WMT22": "wmt22",
    "WMT24": "wmt24",
    "IndicMT": "indicmt",
    "AfriMTE": "afrimte",
}
COLUMNS = ("vectors", "layers", "learned_from", "family", "set", "outputs", "measure", "chrf", "plain", "map")


def family_of(name: str) -> str:
    """Name of the family of a set; MLQE-PE is of none."""
    return next((family for family, start in FAMILIES.items() if re.match(start, name)), "")


def kept_states(path: Path, vectors: str, layers: str, folder: Path) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """States of the lines of a table, and of its pairs the lines; made once, and kept in a folder."""
    name, spec = path.stem, layers.replace(",", "+")
    states, places = folder / f"{name}.{spec}.npy", folder / f"{name}.npz"
    if not (states.exists() and places.exists()):
        judged, lines = JudgedFile.read(str(path)), dict[str, int]()
        sides = [
            [lines.setdefault(text, len(lines)) for text in side] for side in (judged.candidates, judged.references)
        ]
        choice = VectorChoice(vectors, layers=layers).resolved()
        pieces, rows = encoded_lines(choice.encoder, parse_layers(layers)).rows([line.split() for line in lines])
        folder.mkdir(parents=True, exist_ok=True)
        np.save(states, rows.astype(np.float16))
        cand, ref = map(np.array, sides)
        np.savez(places, offsets=pieces.offsets, words=pieces.words, cand=cand, ref=ref, human=judged.scores)
    with np.load(places) as arrays:
        return np.load(states, mmap_mode="r"), {key: arrays[key] for key in arrays.files if key != "system"}


def joined(paths: Sequence[Path], vectors: str, layers: str, folder: Path) -> JudgedStates:
    """States of several sets."""
    rows, inner, offsets, sides, scores, sets = [], [], [np.zeros(1, np.int64)], [], [], []
    tokens = lines = 0
    for number, path in enumerate(paths):
        states, found = kept_states(path, vectors, layers, folder)
        rows.append(states)
        inner.append(found["words"] >= 0)
        offsets.append(found["offsets"][1:] + tokens)
        sides.append(np.stack([found["cand"], found["ref"]]) + lines)
        scores.append((found["human"] - found["human"].mean()) / found["human"].std())
        sets.append(np.full(len(scores[-1]), number))
        tokens, lines = tokens + len(states), lines + len(found["offsets"]) - 1
    pairs = np.concatenate(sides, axis=1)
    parts = np.concatenate(rows), np.concatenate(inner), None, np.concatenate(offsets), *pairs
    return JudgedStates(*parts, np.concatenate(scores), np.concatenate(sets))


def plain_scores(judged: JudgedStates) -> np.ndarray:
    """F without a map."""
    start = MapParameters.start(judged.rows.shape[1], 1)
    every = np.arange(len(judged))
    return np.concatenate([batch_gradient(judged, some, start)[:, 2] for some in in_batches(every, 32)])


def chrf_scores(path: Path) -> np.ndarray:
    """ChrF of the outputs of a table."""
    judged = JudgedFile.read(str(path))
    result = softbleu.score(judged.candidates, judged.references, metrics="chrf", level="segment")
    return np.array([segment.score for segment in result.segments])


def measures(judges: np.ndarray, scores: np.ndarray, segments: np.ndarray) -> dict[str, float]:
    """Pearson's r over outputs, and within segments where these have several outputs."""
    found = {"r": float(np.corrcoef(judges, scores)[0, 1])}
    if len(np.unique(segments)) < 0.7 * len(segments):
        within = correlate_within(judges, scores.astype(np.float64), 0, 1, segments).value
        found |= {} if within is None else {"r within": within}
    return found


def main() -> None:
    """Leave out each family, and write the agreement on its sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path)
    parser.add_argument("--vectors", required=True)
    parser.add_argument("--layers", required=True)
    parser.add_argument("--kept", type=Path, required=True, help="folder for states")
    parser.add_argument("--all", action="store_true", help="learn from sets without a licence, too")
    parser.add_argument("--sets", default="", help="pattern of the names of sets")
    parser.add_argument("--families", nargs="*", default=[*FAMILIES])
    parser.add_argument("--passes", type=int, default=PASSES)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--called", default="", help="name of the vectors in the table")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    place = given.vectors, given.layers, given.kept
    paths = sorted(path for path in given.tables.glob("*.tsv") if re.search(given.sets, path.stem))
    usable = [path for path in paths if given.all or path.stem.startswith(LICENSED)]
    maps: dict[tuple[Path, ...], MapParameters] = {}
    new = not given.output.exists()
    with given.output.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        for family in given.families:
            left_out = [path for path in paths if family_of(path.stem) == family]
            used = tuple(path for path in usable if path not in left_out)
            if not left_out:
                continue
            if used not in maps:
                judged = joined(used, *place)
                maps[used] = learn(judged, np.arange(len(judged)), passes=given.passes, rate=given.rate)
            for path in left_out:
                judged = joined([path], *place)
                scores = predict(judged, np.arange(len(judged)), maps[used])
                columns = [chrf_scores(path), plain_scores(judged), scores]
                found = [measures(judged.scores, column, judged.references) for column in columns]
                for measure in found[0]:
                    cells = [f"{each[measure]:.4f}" for each in found]
                    head = given.called or given.vectors, given.layers, "all" if given.all else "licensed", family
                    writer.writerow((*head, path.stem, len(judged), measure, *cells))
                    print(*head, path.stem, measure, *cells, file=sys.stderr, flush=True)  # noqa: T201
                stream.flush()


if __name__ == "__main__":
    main()
