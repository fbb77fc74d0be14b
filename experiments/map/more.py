"""Try a map: which similarities move, thresholds of VLEU under it, and candidates that should not score well.

python experiments/map/more.py moves -o moves.csv
python experiments/map/more.py thresholds TABLES --vectors multilingual-e5-small -o thresholds.csv
python experiments/map/more.py gaming --vectors multilingual-e5-small --data ../shared/data -o gaming.csv
python experiments/map/more.py corrections --outputs 300 --data ../shared/data -o corrections.csv
python experiments/map/more.py rankings -o rankings.csv
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from judgements import rows_of

import softbleu
from softbleu.embeddings.maps import VectorMap
from softbleu.embeddings.vectors import unit_rows
from softbleu.encoders import open_encoder
from softbleu.encoders.pieces import word_rows
from softbleu.encoders.stored import context_similarities
from softbleu.meta.mapping import JudgedFile

PAIRS = {
    "inflections": "walked/walks house/houses bought/buys cars/car spoke/speaks largest/large",
    "function words": "the/a in/at of/from and/or this/that will/would",
    "numbers": "12/13 1990/1991 three/four million/billion first/second 5/500",
    "negation": "is/isn't did/didn't never/always not/also can/cannot no/some",
    "synonyms": "big/large buy/purchase begin/start car/automobile doctor/physician quick/fast",
    "opposites": "big/small buy/sell begin/end hot/cold rich/poor won/lost",
    "names": "Berlin/Paris Obama/Merkel Monday/Tuesday Google/Microsoft Peter/Anna Spain/Italy",
    "unrelated": "walked/house the/doctor 12/rich not/car Berlin/buy cold/Monday",
}
FRAMES = ("he said {} yesterday", "they said that {} was mentioned in the report")
THRESHOLDS = (0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
SETS = ("wmt24-en-cs", "wmt24-en-zh", "wmt21-en-de", "wmt24-en-hi", "indicmt-en-mr", "wmt16-en-ru", "wmt17-fi-en")
TOKENS = {"wmt24-en-zh": "zh"}
CORRECTORS = ("amu", "marian", "nus", "lstm", "lstm-r", "transformer")


def moves() -> Iterator[tuple[object, ...]]:
    """Mean cosine of words of pairs in equal contexts, and its percentile of random pairs, without and with a map."""
    encoder, learned = open_encoder("minilm-l6"), VectorMap.of("minilm-l6")
    random = [np.sort(context_similarities(encoder, encoder.layers, each)) for each in (None, learned)]
    yield "kind", "plain", "map", "plain_percentile", "map_percentile"
    for kind, text in PAIRS.items():
        pairs = [pair.split("/") for pair in text.split()]
        lines = [[*frame.format(word).split()] for pair in pairs for frame in FRAMES for word in pair]
        places = [
            line.index(word) for line, word in zip(lines, (w for p in pairs for _ in FRAMES for w in p), strict=True)
        ]
        pieces = encoder.tokenize(lines)
        starts = np.cumsum([0, *map(len, lines)])
        states = encoder.encode(pieces, encoder.layers)
        found = []
        for rows in (states, learned.of_lines(states, pieces.offsets)):
            words = unit_rows(word_rows(pieces, rows, starts[:-1], int(starts[-1])))[starts[:-1] + places]
            found.append(float((words[::2] * words[1::2]).sum(axis=1).mean()))
        percents = [f"{100 * np.mean(drawn < value):.1f}" for drawn, value in zip(random, found, strict=True)]
        yield kind, *(f"{value:.3f}" for value in found), *percents


def segment_scores(
    candidates: Sequence[str], references: Sequence[str], metric: str, **settings: object
) -> np.ndarray:
    """Scores of all segments."""
    result = softbleu.score(candidates, references, metrics=metric, level="segment", **settings)
    return np.array([segment.score for segment in result.segments])


def thresholds(tables: Path, vectors: str, outputs: int) -> Iterator[tuple[object, ...]]:
    """Pearson's r of VLEU with judges at each threshold, without and with the map of these vectors."""
    yield "set", "outputs", "map", *THRESHOLDS
    for name in SETS:
        judged = JudgedFile.read(str(tables / f"{name}.tsv"))
        texts = judged.candidates[:outputs], judged.references[:outputs]
        shared = {"vectors": vectors, "tokenize": TOKENS.get(name, "13a"), "effective_order": True}
        for vector_map in (None, vectors):
            metrics = [softbleu.Vleu(threshold=threshold, map=vector_map, **shared) for threshold in THRESHOLDS]
            scores = np.array(
                [
                    [segment.score for segment in result.segments]
                    for result in softbleu.score(*texts, metrics=metrics, level="segment")
                ]
            )
            found = [f"{np.corrcoef(judged.scores[:outputs], row)[0, 1]:.3f}" for row in scores]
            yield name, len(texts[0]), "no" if vector_map is None else "yes", *found


def gaming(data: Path, vectors: str, segments: int) -> Iterator[tuple[object, ...]]:
    """Mean scores of candidates that are wrong by design, and the share of outputs that they beat."""
    yield "set", "candidate", "metric", "mean", "beats_outputs"
    metrics = {"chrf": {}, "bertscore": {"vectors": vectors}, "trained": {"map": vectors}}
    for pair in ("de-en", "en-ru"):
        rows = [*rows_of(data / f"wmt15-16-da/newstest2016.{pair}.tsv")][:segments]
        references = [row["reference"] for row in rows]
        half = len(rows) // 2
        kinds = {
            "output": [row["candidate"] for row in rows],
            "another reference": references[half:] + references[:half],
            "source": [row["source"] for row in rows],
            "reference, words twice": [
                " ".join(w for word in text.split() for w in (word, word)) for text in references
            ],
            "reference, reversed": [" ".join(text.split()[::-1]) for text in references],
            "half the reference": [" ".join(text.split()[: (len(text.split()) + 1) // 2]) for text in references],
        }
        for metric, settings in metrics.items():
            outputs = segment_scores(kinds["output"], references, metric, **settings)
            for kind, texts in kinds.items():
                scores = segment_scores(texts, references, metric, **settings)
                yield pair, kind, metric, f"{scores.mean():.2f}", f"{(scores > outputs).mean():.3f}"


def corrections(data: Path, sentences: int) -> Iterator[tuple[object, ...]]:
    """Pearson's r with judges of corrections in both halves of GMEG, over outputs and within sentences."""
    yield "part", "metric", "r", "r within"
    for part in ("fce", "wiki"):
        folder = data / "gmeg-dev"
        with (folder / f"{part}-segment-scores.csv").open(encoding="utf-8", newline="") as stream:
            judged = [*csv.DictReader(stream)][:sentences]
        texts = {
            name: (folder / part / name).read_text(encoding="utf-8").split("\n")[:sentences]
            for name in (*CORRECTORS, *(f"ref{number}" for number in range(4)))
        }
        references = [list(each) for each in zip(*(texts[f"ref{number}"] for number in range(4)), strict=True)]
        judges = np.array([[float(row[name] or "nan") for row in judged] for name in CORRECTORS])
        known = ~np.isnan(judges).any(axis=0)
        for metric in ("chrf", "bertscore", "bertscore(map=minilm-l6)", "trained", "trained(map=minilm-l6)"):
            results = softbleu.score(
                {name: texts[name] for name in CORRECTORS}, references, metrics=metric, level="segment"
            )
            scores = np.array([[segment.score for segment in result.segments] for result in results])
            sides = judges[:, known], scores[:, known]
            apart = [side - side.mean(axis=0) for side in sides]
            yield part, metric, *(f"{np.corrcoef(*map(np.ravel, pair))[0, 1]:.3f}" for pair in (sides, apart))


def rankings() -> Iterator[tuple[object, ...]]:
    """Tau with rankings of corrections, SEEDA's by sentence and those of CoNLL-2014, with 95% intervals."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "corrections"))
    from make import conll14, only, scores_of, seeda, subsets

    from softbleu.meta.measures import preference_taus

    yield "data", "metric", "pairs", "tau", "low", "high"
    metrics = dict.fromkeys(("chrf", "bertscore", "bertscore(map=minilm-l6)", "trained", "trained(map=minilm-l6)"))
    for given in (seeda("sent"), conll14()):
        tables = scores_of(given, [*metrics], {name: name for name in metrics})
        for data, systems in subsets(given):
            chosen = given.comparisons.only(systems)
            for table in only(tables, systems):
                tau = preference_taus(chosen, table)["noties"]
                yield (
                    data,
                    table.name,
                    tau.facts["pairs"],
                    *(f"{each:.3f}" for each in (tau.value, *(tau.interval or ()))),
                )


def main() -> None:
    """Run one of the five, and write its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("moves", "thresholds", "gaming", "corrections", "rankings"))
    parser.add_argument("tables", type=Path, nargs="?", default=Path())
    parser.add_argument("--vectors", default="multilingual-e5-small")
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--outputs", type=int, default=200)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    rows = {
        "moves": moves,
        "thresholds": lambda: thresholds(given.tables, given.vectors, given.outputs),
        "gaming": lambda: gaming(given.data, given.vectors, given.outputs),
        "corrections": lambda: corrections(given.data, given.outputs),
        "rankings": rankings,
    }[given.what]()
    with given.output.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        for row in rows:
            writer.writerow(row)
            stream.flush()


if __name__ == "__main__":
    main()
