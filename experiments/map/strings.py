"""Measure a map with strings beside it, families of sets left out in turn, and what the score can be made to reward.

python experiments/map/strings.py agreement TABLES --kept STATES --distances FOLDER -o strings.csv
python experiments/map/strings.py kinds TABLES --kept STATES --distances FOLDER -o strings-kinds.csv
python experiments/map/strings.py why TABLES --kept STATES --distances FOLDER -o strings-why.csv
python experiments/map/strings.py gaming TABLES -o strings-gaming.csv

TABLES are those of `judgements.py`. A family that the map is learned from has a map of the others. `learned` has
prices of ridge regression, none negative, on the families of other sets; `head` has the bundled prices.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from judgements import LICENSED, rows_of
from scipy.optimize import nnls
from study import family_of, learn_apart, measures

import softbleu
from softbleu.config.languages import is_unspaced
from softbleu.embeddings.maps import TERMS, VectorMap
from softbleu.encoders import open_encoder
from softbleu.meta.mapping import finish_map
from softbleu.meta.pooling import pool
from softbleu.metrics.trained import TrainedHead

VECTORS, LAYERS = "multilingual-e5-small", "9"
PENALTY = 0.5  # Of the ridge, beside a diagonal of 1
METRICS = ("chrf++", "softbleu", "bertscore", "map", "learned", "head")
CONTRASTS = (("head", "chrf++"), ("head", "bertscore"), ("head", "map"), ("bertscore", "softbleu"))
KINDS = {
    "news": ("WMT15–16", "WMT17", "WMT20", "WMT21", "WMT22", "WMT23", "WMT24"),
    "talks": ("TED",),
    "chats": ("chats",),
    "medicine": ("medicine",),
    "others": ("AfriMTE", "IndicMT", "Swiss German"),
    "all": (),
}
SAMPLES = 200
CLASSES = {
    "numbers": r"\d+",
    "names and nouns": r"(?<=\s)[^\W\d_a-z][\w-]+",
    "punctuation": r"[^\w\s]",
    "words": r"\w+",
}
"""Classes of tokens by pattern; the second is of words with a capital behind a blank."""
MOST, SEED = 150, 3  # References of a set that are spoilt, and the draw
SPOILT = {
    "reversed": lambda text: " ".join(text.split()[::-1]),
    "three times": lambda text: " ".join([text] * 3),
    "without blanks": lambda text: text.replace(" ", ""),
    "zero-width in words": lambda text: re.sub(r"(\S\S)(?=\S)", "\\1\u200b", text),
    "twice": lambda text: f"{text} {text}",
    "first half": lambda text: " ".join(text.split()[: (len(text.split()) + 1) // 2]),
}


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances of the outputs of a set, and their judgements."""

    values: np.ndarray  # (outputs, distances)
    sizes: np.ndarray  # Characters of each reference
    softbleu: np.ndarray  # Scores of `softbleu --language`
    bertscore: np.ndarray  # Scores of BERTScore by these vectors
    human: np.ndarray
    segments: np.ndarray

    def lost(self, prices: np.ndarray, power: float) -> np.ndarray:
        """Points that the distances cost."""
        return self.values @ prices * ((self.sizes + 5) / 100) ** power


def read_distances(path: Path, vector_map: str, folder: Path) -> Distances:
    """Measure the distances of a table by a head whose prices are 1; kept in a folder."""
    place = folder / f"{path.stem}.npz"
    if not place.exists():
        rows = [*rows_of(path)]
        texts = [row["candidate"] for row in rows], [row["reference"] for row in rows]
        content = json.loads(Path("heads", VECTORS, "head.json").read_text(encoding="utf-8"))
        prices = {name: [0, 1, 0] for name in TrainedHead.of(VECTORS).names}
        unit = folder / "unit.json"
        folder.mkdir(parents=True, exist_ok=True)
        unit.write_text(json.dumps(content | {"prices": prices, "length_power": 0}), encoding="utf-8")
        shared = {"level": "segment", "vectors": VECTORS}
        result = softbleu.score(*texts, metrics="trained", head=str(unit), map=vector_map, **shared)
        language = None if path.stem.startswith("gsw") else path.stem.removesuffix("-esa").rpartition("-")[2]
        settings = {"language": language} if language else {"vectors": "none"}
        others = (
            softbleu.score(*texts, metrics="softbleu", level="segment", **settings),
            softbleu.score(*texts, metrics="bertscore", **shared),
        )
        by_words, by_pieces = (np.array([segment.score for segment in other.segments]) for other in others)
        np.savez(
            place,
            values=np.array([segment.lost for segment in result.segments]),
            softbleu=by_words,
            bertscore=by_pieces,
            sizes=np.array([len("".join(text.split())) for text in texts[1]]),
            human=np.array([float(row["human"]) for row in rows]),
            segments=np.unique(texts[1], return_inverse=True)[1],
        )
    return Distances(**np.load(place))


def fit(sets: Mapping[str, Distances], power: float) -> np.ndarray:
    """Prices of the distances by ridge regression of standardised judgements, each set with a constant."""
    square, product = 0.0, 0.0
    for each in sets.values():
        factor = ((each.sizes + 5) / 100) ** power
        columns = each.values * factor[:, None]
        columns = columns - columns.mean(axis=0)
        human = (each.human.mean() - each.human) / each.human.std()
        square, product = square + columns.T @ columns / len(human), product + columns.T @ human / len(human)
    scale = np.sqrt(np.maximum(np.diag(square), 1e-12))
    lower = np.linalg.cholesky(square / np.outer(scale, scale) + PENALTY * np.eye(len(scale)))
    return nnls(lower.T, np.linalg.solve(lower, product / scale))[0] / scale


def left_out_maps(paths: list[Path], kept: Path, folder: Path) -> dict[str, str]:
    """Files of maps that are learned without each family that the bundled one is learned from."""
    usable, known, files = [path for path in paths if path.stem.startswith(LICENSED)], {}, {}
    for family in {family_of(path.stem) for path in usable} - {""}:
        files[family] = str(folder / f"without {family}.npz")
        if not Path(files[family]).exists():
            used = [path for path in usable if family_of(path.stem) != family]
            facts = {"vectors": VECTORS, "fingerprints": [open_encoder(VECTORS).fingerprint], "layers": LAYERS}
            facts |= {"tokenize": "none", "lowercase": False, "licence": "not stated", "sets": []}
            folder.mkdir(parents=True, exist_ok=True)
            made = finish_map(learn_apart(used, (VECTORS, LAYERS, kept), known), facts)
            Path(files[family]).write_bytes(made.content())
    return files


def read_sets(tables: Path, kept: Path, folder: Path) -> dict[str, Distances]:
    """Distances of the sets that are measured, by name."""
    paths = sorted(tables.glob("*.tsv"))
    maps = left_out_maps(paths, kept, folder)
    measured = [path for path in paths if family_of(path.stem)]
    return {path.stem: read_distances(path, maps.get(family_of(path.stem), VECTORS), folder) for path in measured}


def columns_of(each: Distances, learned: np.ndarray) -> dict[str, np.ndarray]:
    """Scores of all metrics, up to a constant; `learned` are prices that were learned elsewhere."""
    head = TrainedHead.of(VECTORS)
    chrf = np.array([name.startswith("chrf") for name in head.names], float)
    by_map = np.array([*VectorMap.of(VECTORS).prices, *[0.0] * (len(head.names) - len(TERMS))])
    return {
        "chrf++": -each.lost(chrf, 0),
        "softbleu": each.softbleu,
        "bertscore": each.bertscore,
        "map": -each.lost(by_map, 0),
        "learned": -each.lost(learned, head.length_power),
        "head": -each.lost(np.array(head.prices)[:, 1], head.length_power),
    }


def agreement(sets: Mapping[str, Distances]) -> Iterator[tuple[object, ...]]:
    """Pearson's r of each set, without and with the length held constant, and within its segments."""
    head = TrainedHead.of(VECTORS)
    yield "family", "set", "outputs", "measure", *METRICS
    for name, each in sets.items():
        others = {one: found for one, found in sets.items() if family_of(one) != family_of(name)}
        columns = columns_of(each, fit(others, head.length_power))
        found = [
            measures(each.human, column, each.segments)
            | {"partial r": partial(each.human, column, np.log(each.sizes + 1))}
            for column in columns.values()
        ]
        for measure in found[0]:
            yield family_of(name), name, len(each.human), measure, *(f"{one[measure]:.4f}" for one in found)
    prices = zip(head.names, fit(sets, head.length_power), strict=True)
    yield "all", "prices", "", "learned from all", *(f"{name} {price:.3f}" for name, price in prices)


def partial(human: np.ndarray, scores: np.ndarray, held: np.ndarray) -> float:
    """Correlation of two columns with a third held constant."""
    r, one, other = (np.corrcoef(*pair)[0, 1] for pair in ((human, scores), (human, held), (scores, held)))
    return float((r - one * other) / np.sqrt((1 - one**2) * (1 - other**2)))


def kinds(sets: Mapping[str, Distances]) -> Iterator[tuple[object, ...]]:
    """Mean differences in r by kind of text, with the interval of a new set."""
    none = np.zeros(len(TrainedHead.of(VECTORS).names))
    drawn = {}
    for name, each in sets.items():
        columns = columns_of(each, none)
        draw, members = (
            np.random.default_rng(SEED),
            [np.flatnonzero(each.segments == one) for one in set(each.segments)],
        )
        samples = [np.arange(len(each.human))]
        samples += [
            np.concatenate([members[one] for one in draw.integers(len(members), size=len(members))])
            for _ in range(SAMPLES)
        ]
        drawn[name] = {
            key: np.array([np.corrcoef(each.human[some], column[some])[0, 1] for some in samples])
            for key, column in columns.items()
            if key != "learned"
        }
    yield "kind", "difference", "sets", "mean", "low", "high", "new_low", "new_high"
    for kind, families in KINDS.items():
        members = [name for name in sets if family_of(name) in families or not families]
        for one, other in CONTRASTS:
            found = [drawn[name][one] - drawn[name][other] for name in members]
            pooled = pool([each[0] for each in found], [each[1:].std() for each in found])
            ends = pooled.mean, pooled.low, pooled.high, pooled.new_low, pooled.new_high
            yield kind, f"{one} − {other}", len(members), *("" if end is None else f"{end:.3f}" for end in ends)


def why(sets: Mapping[str, Distances], tables: Path) -> Iterator[tuple[object, ...]]:
    """Pearson's r in thirds by length, and of classes of tokens with what map and length leave of judgements."""
    yield "set", "what", *(name for name in METRICS if name != "learned"), "r with the rest"
    none = np.zeros(len(TrainedHead.of(VECTORS).names))
    for name, each in sets.items():
        columns = columns_of(each, none)
        third = np.digitize(each.sizes, np.quantile(each.sizes, (1 / 3, 2 / 3)))
        for number in range(3):
            members = third == number
            found = [
                np.corrcoef(each.human[members], columns[key][members])[0, 1] for key in METRICS if key != "learned"
            ]
            yield (
                name,
                f"third {number + 1}, {np.median(each.sizes[members]):.0f} characters",
                *(f"{r:.3f}" for r in found),
                "",
            )
        known = np.column_stack((columns["map"], np.log(each.sizes + 1), np.ones(len(each.human))))
        rest = each.human - known @ np.linalg.lstsq(known, each.human, rcond=None)[0]
        rows = [*rows_of(tables / f"{name}.tsv")]
        for kind, lost in CLASSES.items():
            values = np.array([missed(lost, row["candidate"], row["reference"]) for row in rows])
            if values.std() > 0:
                yield name, f"lost {kind}", *[""] * 5, f"{np.corrcoef(rest, values)[0, 1]:.3f}"


def missed(pattern: str, candidate: str, reference: str) -> float:
    """Share of the tokens of a class in the reference that the candidate lacks; 0 without any."""
    wanted, there = (Counter(re.findall(pattern, text)) for text in (reference, candidate))
    return (wanted - there).total() / max(wanted.total(), 1)


def gaming(tables: Path) -> Iterator[tuple[object, ...]]:
    """Shares of spoilt references that score above the output of their segment, one drawn."""
    yield "set", "spoilt", "lines", "above the output", "mean", "mean of outputs"
    for path in sorted(tables.glob("*.tsv")):
        outputs: dict[str, list[str]] = {}
        for row in rows_of(path):
            outputs.setdefault(row["reference"], []).append(row["candidate"])
        draw = np.random.default_rng(SEED)
        chosen = [[*outputs][number] for number in draw.permutation(len(outputs))[:MOST]]
        systems = {"output": [outputs[text][draw.integers(len(outputs[text]))] for text in chosen]}
        systems |= {name: [spoil(text) for text in chosen] for name, spoil in SPOILT.items()}
        results = softbleu.score(systems, chosen, metrics="trained", level="segment", vectors=VECTORS)
        scores = [np.array([segment.score for segment in result.segments]) for result in results]
        for name, found in zip(SPOILT, scores[1:], strict=True):
            # A reference of one word is the same text in reverse; text of scripts without blanks needs none.
            changed = np.array([text != spoilt for text, spoilt in zip(chosen, systems[name], strict=True)])
            changed &= [not is_unspaced(text) or name != "without blanks" for text in chosen]
            above = (found > scores[0])[changed]
            if not len(above):
                continue
            means = (f"{each[changed].mean():.1f}" for each in (found, scores[0]))
            yield path.stem, name, len(above), f"{above.mean():.3f}", *means


def main() -> None:
    """Run one of the four, and write its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("agreement", "kinds", "why", "gaming"))
    parser.add_argument("tables", type=Path)
    parser.add_argument("--kept", type=Path, default=Path(), help="folder for states")
    parser.add_argument("--distances", type=Path, default=Path(), help="folder for distances and maps")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    if given.what == "gaming":
        rows = gaming(given.tables)
    else:
        sets = read_sets(given.tables, given.kept, given.distances)
        runs = {
            "agreement": lambda: agreement(sets),
            "kinds": lambda: kinds(sets),
            "why": lambda: why(sets, given.tables),
        }
        rows = runs[given.what]()
    with given.output.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        for row in rows:
            writer.writerow(row)
            stream.flush()
            print(*row, file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    main()
