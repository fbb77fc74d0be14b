"""Measure maps of vectors on sets of judgements that took no part in learning them, a family at a time.

python experiments/map/judgements.py ../shared/data TABLES --outputs 800
python experiments/map/study.py TABLES --vectors multilingual-e5-small --layers 9 --kept STATES -o lofo.csv

Each family of sets is left out in turn. A map is learned from the other sets whose licence lets it be given away, and
scores the family's outputs. Beside it stand F of the same tokens without a map, as
BERTScore has it, and chrF. MLQE-PE is never measured: its references are post-edits of the outputs themselves.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
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
)
from softbleu.embeddings.maps import VectorMap
from softbleu.embeddings.vectors import unit_rows
from softbleu.encoders import open_encoder
from softbleu.encoders.base import PlacedLine, parse_layers
from softbleu.encoders.opened import encoded_lines
from softbleu.meta.mapping import JudgedFile, finish_map, mapped_scores
from softbleu.meta.measures import correlate_within

FAMILIES = {
    "WMT15–16": "wmt1[56]",
    "WMT17": "wmt17",
    "TED": "ted",
    "WMT21": "wmt21",
    "WMT22": "wmt22",
    "WMT24": "wmt24",
    "IndicMT": "indicmt",
    "AfriMTE": "afrimte",
    "chats": "chat",
    "medicine": "bio",
    "WMT23": "wmt23",
    "Swiss German": "gsw",
    "WMT20": "wmt20",
}
VISITS = {"MLQE-PE": 16_500, "WMT17": 13_400, "TED": 9_000, "WMT21": 11_000}
"""Outputs that the descent visits, of each kind that is learned from apart."""
FACTOR = 1.8  # Of the average of kinds: the best of 1.2, 1.8 and 3, each kind scored by a map of the others
Place = tuple[str, str, Path]
COLUMNS = ("vectors", "layers", "family", "set", "outputs", "measure", "chrf", "plain", "map")


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
        placed = [PlacedLine.as_written(line, line.split()) for line in lines]
        pieces, rows = encoded_lines(choice.encoder, parse_layers(layers)).rows(placed)
        folder.mkdir(parents=True, exist_ok=True)
        np.save(states, unit_rows(rows).astype(np.float16))
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


def kind_of(path: Path) -> str:
    """Name of the family of a set that is learned from, MLQE-PE among them."""
    return family_of(path.stem) or "MLQE-PE"


def learn_apart(paths: Sequence[Path], place: Place, known: dict[tuple[Path, ...], MapParameters]) -> MapParameters:
    """Learn from each kind of judgement apart, and average; `known` keeps what was learned."""
    for kind in {kind_of(path): None for path in paths}:
        some = tuple(path for path in paths if kind_of(path) == kind)
        if some not in known:
            judged = joined(some, *place)
            passes = max(1, round(VISITS[kind] / len(judged)))
            known[some] = learn(judged, np.arange(len(judged)), passes=passes)
    return MapParameters.averaged([known[some] for some in known if {*some} <= {*paths}], FACTOR)


def main() -> None:
    """Leave out each family, and write the agreement on its sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path)
    parser.add_argument("--vectors", required=True)
    parser.add_argument("--layers", required=True)
    parser.add_argument("--kept", type=Path, required=True, help="folder for states")
    parser.add_argument("--sets", default="", help="pattern of the names of sets")
    parser.add_argument("--families", nargs="*", default=[*FAMILIES])
    parser.add_argument("--passes", type=int, default=PASSES)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--apart", action="store_true", help="learn from each kind of judgement apart, and average")
    parser.add_argument("--map", type=Path, help="also write the map of all sets with a licence")
    parser.add_argument("--licence", default="MIT", help="of that map")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    place = given.vectors, given.layers, given.kept
    paths = sorted(path for path in given.tables.glob("*.tsv") if re.search(given.sets, path.stem))
    usable = [path for path in paths if path.stem.startswith(LICENSED)]
    known: dict[tuple[Path, ...], MapParameters] = {}
    maps: dict[tuple[Path, ...], VectorMap] = {}

    def map_of(used: tuple[Path, ...]) -> VectorMap:
        if used not in maps:
            if given.apart:
                found = learn_apart(used, place, known)
            else:
                judged = joined(used, *place)
                found = learn(judged, np.arange(len(judged)), passes=given.passes, rate=given.rate)
            maps[used] = finish_map(found, {})
        return maps[used]

    new = not given.output.exists()
    with given.output.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        for family in given.families:
            left_out = [path for path in paths if family_of(path.stem) == family]
            for path in left_out:
                made = map_of(tuple(path for path in usable if path not in left_out))
                judged = joined([path], *place)
                scores = mapped_scores(judged, np.arange(len(judged)), made)
                columns = [chrf_scores(path), plain_scores(judged), scores]
                found = [measures(judged.scores, column, judged.references) for column in columns]
                for measure in found[0]:
                    cells = [f"{each[measure]:.4f}" for each in found]
                    head = given.vectors, given.layers, family
                    writer.writerow((*head, path.stem, len(judged), measure, *cells))
                    print(*head, path.stem, measure, *cells, file=sys.stderr, flush=True)  # noqa: T201
                stream.flush()
    if given.map is not None:
        encoder, judged = open_encoder(given.vectors), [JudgedFile.read(str(path)) for path in usable]
        facts = {
            "vectors": given.vectors,
            "fingerprints": [encoder.fingerprint],
            "layers": given.layers,
            "tokenize": "none",
            "lowercase": False,
            "licence": given.licence,
            "sets": [{"name": file.name, "sha256": file.sha256, "outputs": len(file.scores)} for file in judged],
        }
        given.map.write_bytes(replace(map_of(tuple(usable)), facts=facts).content())


if __name__ == "__main__":
    main()
